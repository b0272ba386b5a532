//! Smaller still: a reducer of text, such as C-Reduce, goes on where the reducer of programs stopped.

use crate::configuration::{Bench, Configuration, Made};
use crate::fault::Fault;
use crate::machine::{Launching, Memory};
use crate::process::ended;
use crate::replay::Replay;
use crate::report::table;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use visakit_launch::Element;

/// Where C-Reduce finds the declarations of the language, `clc/clc.h`, if they are installed.
const INCLUDE: &str = "/usr/include";

/// A reducer of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smaller {
    /// C-Reduce or C-Vise: it is called with `--n`, a script and a file, and changes the file as long as the script ends
    /// with 0 in a folder with the changed file.
    pub reducer: PathBuf,
    /// The command that tells whether a file shows a bug: the folder of the bug and the file are added. See [`shows`].
    ///
    /// [`shows`]: crate::shows
    pub shows: Vec<OsString>,
    /// The time that it gets.
    pub time: Duration,
}

impl Smaller {
    /// The smaller source, if it makes one: `folder` is that of the bug.
    fn go_on(&self, source: &str, folder: &Path) -> io::Result<Option<String>> {
        let scratch = tempfile::Builder::new().prefix("visakit-hunt-").tempdir()?;
        let at = |name: &str| scratch.path().join(name);
        visakit_files::scratch(&at("program.cl"), source)?;
        visakit_files::scratch(&at("shows"), self.script(folder)?)?;
        executable(&at("shows"))?;
        let threads = rayon::current_num_threads().to_string();
        let mut command = Command::new(&self.reducer);
        command
            .args(["--n", &threads, "./shows", "program.cl"])
            .current_dir(scratch.path())
            // What it leaves behind goes with the folder.
            .env("TMPDIR", scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if Path::new(INCLUDE).join("clc/clc.h").is_file() {
            command.env("CREDUCE_LIBCLC_INCLUDE_PATH", INCLUDE);
        }
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.process_group(0);
        }
        // The script says no after the time, so that it ends by itself soon. One that does not run makes nothing smaller.
        let ran = ended(command, self.time.saturating_mul(2));
        let smaller = ran.and_then(|_| std::fs::read_to_string(at("program.cl")));
        Ok(smaller.ok().filter(|smaller| smaller.len() < source.len()))
    }

    fn script(&self, folder: &Path) -> io::Result<String> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let end = now.saturating_add(self.time).as_secs();
        let folder = std::path::absolute(folder)?.into_os_string();
        let words = self.shows.iter().chain([&folder]);
        let words =
            words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''")));
        let words: Vec<String> = words.collect();
        let words = words.join(" ");
        Ok(format!(
            "#!/bin/sh\n[ \"$(date +%s)\" -lt {end} ] || exit 1\nexec {words} program.cl\n"
        ))
    }
}

fn executable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    let _ = path;
    Ok(())
}

/// A bug whose folder is being written: its cases are there.
pub(crate) struct Bug<'b> {
    pub(crate) kernel: &'b str,
    pub(crate) source: &'b str,
    pub(crate) launching: &'b Launching,
    pub(crate) elements: &'b [Element],
    pub(crate) made: &'b [(Configuration, Made)],
    /// The folders of the cases of what was made.
    pub(crate) cases: &'b [Option<String>],
    /// A configuration that is wrong, and which are right.
    pub(crate) wrong: &'b Configuration,
    pub(crate) is_right: &'b dyn Fn(&Configuration, &Made) -> bool,
}

impl Bug<'_> {
    /// Writes what shows the bug into its folder; what a reducer of text makes of it is added to the report, with cases of
    /// its own.
    pub(crate) fn write(
        &self,
        bench: &Bench,
        folder: &Path,
        report: &mut String,
    ) -> io::Result<()> {
        let fault = Fault::of(
            self.kernel,
            self.made,
            self.cases,
            self.wrong,
            self.is_right,
            self.launching,
        );
        let Some(fault) = fault else { return Ok(()) };
        let mut shown = None;
        for strict in [true, false] {
            let fault = fault.clone().with_strict(strict);
            if fault.is_shown_by(self.source, folder, bench)? {
                shown = Some(fault);
                break;
            }
        }
        let Some(fault) = shown else { return Ok(()) };
        fault.write(folder)?;
        let Some(smaller) = &bench.smaller else {
            return Ok(());
        };
        let Some(source) = smaller.go_on(self.source, folder)? else {
            return Ok(());
        };
        if fault.is_shown_by(&source, folder, bench)? {
            self.add(&source, bench, folder, report)?;
        }
        Ok(())
    }

    /// Adds a smaller source, if all that was right still agrees: of something undefined it would not.
    fn add(
        &self,
        source: &str,
        bench: &Bench,
        folder: &Path,
        report: &mut String,
    ) -> io::Result<()> {
        // The size of sub-groups is in the text.
        let direct = |c: &Configuration| {
            c.is_tested() && c.through.is_none() && (c.sub_group.is_none() || c == self.wrong)
        };
        let mut all = Vec::new();
        for (configuration, before) in self.made.iter().filter(|(c, _)| direct(c)) {
            let made = bench.run_one(configuration, source, self.kernel, self.launching)?;
            let was_right = (self.is_right)(configuration, before);
            all.push((configuration.clone(), made, was_right));
        }
        let right = all.iter().filter(|(.., was_right)| *was_right);
        let results: Vec<_> = right.map(|(_, made, _)| made.memory()).collect();
        let count = results.len();
        let expected = match results.split_first() {
            Some((Some(first), others)) if others.iter().all(|other| *other == Some(*first)) => {
                (*first).clone()
            }
            // Nothing is right with a compiler that crashes everywhere.
            None => Memory::new(),
            Some(_) => return Ok(()),
        };
        let made: Vec<_> = all.into_iter().map(|(c, made, _)| (c, made)).collect();
        let _ = write!(
            report,
            "\n## Smaller still\n\nA reducer of text made this of it, in `smaller/`. No evaluation tells what is right here: it is what all \
             configurations compute that are right above ({count}), one of which has no findings of `visakit check`.\n\n\
             ```c\n{}\n```\n\n",
            source.trim_end()
        );
        table(report, &made, &|_| &expected, self.elements);
        let at = folder.join("smaller");
        std::fs::create_dir(&at)?;
        visakit_files::scratch(&at.join("program.cl"), source)?;
        let replay = Replay {
            name: "smaller".to_owned(),
            launching: self.launching,
            expected: &expected,
            elements: self.elements,
        };
        replay.write(&made, &at)?;
        Ok(())
    }
}
