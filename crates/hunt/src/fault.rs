//! Faults that a source shows: what each build of a source must do for it to be an example of a bug. `fault.json` in the
//! folder of a bug says it, so that people and reducers of text can change the source and ask again.

use crate::compiler::Compiler;
use crate::configuration::{Bench, Configuration, Made, Maker};
use crate::find::steady;
use crate::kernels::Parsed;
use crate::machine::{self, Launching};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use visakit_launch::Case;

/// The name of its file.
const FILE: &str = "fault.json";

/// An option: warnings are errors.
const STRICT: &str = " -Werror";

/// Bytes of a source or a description at most.
const LARGEST: u64 = 1 << 24;

/// A fault: one build is wrong, and another one is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    kind: String,
    kernel: String,
    wrong: Build,
    /// A build that is right, and its case, which has the arguments; crashes need none.
    #[serde(default)]
    right: Option<(Build, String)>,
    /// What a compiler says that crashes, without digits.
    #[serde(default)]
    said: String,
}

/// A call of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Build {
    compiler: String,
    device: String,
    options: String,
}

impl Build {
    /// That of a configuration, whose source may demand more: the size of sub-groups is in its text.
    fn of(configuration: &Configuration) -> Self {
        Self {
            compiler: configuration.release.clone(),
            device: configuration.device.clone(),
            options: configuration.all_options(),
        }
    }

    fn configuration(&self, bench: &Bench) -> io::Result<Configuration> {
        let number = bench
            .compilers
            .iter()
            .position(|(name, _)| *name == self.compiler);
        let number = number.ok_or_else(|| {
            let name = &self.compiler;
            io::Error::other(format!(
                "the bug is one of the compiler {name}: name it with --compiler {name}=OCLOC"
            ))
        })?;
        Ok(Configuration {
            standard: "",
            options: self.options.clone(),
            ..Configuration::of(Maker::Compiler(number), &self.compiler, &self.device)
        })
    }
}

impl Fault {
    /// That of a bug that `wrong` has: `made` is what configurations make of its source, each with the folder of its case.
    /// `None` if no build that is right passes the checks; crashes need none.
    pub(crate) fn of(
        kernel: &str,
        made: &[(Configuration, Made)],
        cases: &[Option<String>],
        wrong: &Configuration,
        is_right: &dyn Fn(&Configuration, &Made) -> bool,
        launching: &Launching,
    ) -> Option<Self> {
        let direct = |c: &Configuration| c.is_tested() && c.through.is_none();
        let (wrong, failed) = made.iter().find(|(c, _)| c == wrong && direct(c))?;
        let right = made.iter().zip(cases).filter_map(|((c, made), case)| {
            let fits = direct(c) && is_right(c, made);
            Some((c, made.kernel().filter(|_| fits)?, case.as_ref()?))
        });
        let mut right: Vec<_> = right.collect();
        // Without optimisation most of what the source says is done, and seen by the checks.
        right.sort_by_key(|(c, ..)| {
            (
                !c.is_plain(),
                c.maker != wrong.maker,
                c.device != wrong.device,
            )
        });
        let clean = |kernel| machine::check(kernel, launching).is_ok_and(|f| f.is_empty());
        let right = right.into_iter().find(|(_, kernel, _)| clean(kernel));
        let right = right.map(|(c, _, case)| (Build::of(c), case.clone()));
        let (kind, said) = match failed {
            Made::Crash(said) => ("crash", steady(said)),
            Made::Endless => ("endless", String::new()),
            Made::Fault(..) => ("fault", String::new()),
            _ => ("miscompile", String::new()),
        };
        let needs_right = matches!(kind, "fault" | "miscompile");
        (right.is_some() || !needs_right).then(|| Self {
            kind: kind.to_owned(),
            kernel: kernel.to_owned(),
            wrong: Build::of(wrong),
            right,
            said,
        })
    }

    /// The fault of a folder.
    ///
    /// # Errors
    /// There is none, or it is not understood.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        let failed = |error: &dyn std::fmt::Display| {
            let path = path.display();
            io::Error::other(format!(
                "{path}: {error}: name the folder of a bug of `visakit hunt`"
            ))
        };
        let text = visakit_files::read(&path, LARGEST).map_err(|error| failed(&error))?;
        serde_json::from_slice(&text).map_err(|error| failed(&error))
    }

    /// Writes it into the folder of the bug, beside the cases.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        visakit_files::scratch(&folder.join(FILE), format!("{text}\n"))
    }

    /// Whether warnings of the front end are errors for the build that is right: a missing `return`, a shift that is too far.
    pub(crate) fn with_strict(mut self, strict: bool) -> Self {
        if let Some((right, _)) = &mut self.right {
            let options = right.options.trim_end_matches(STRICT).to_owned();
            right.options = if strict { options + STRICT } else { options };
        }
        self
    }

    /// Whether a source shows it: the build that is wrong is still wrong in that way, and the one that is right has no
    /// findings. Arguments are those of the case in the folder.
    pub(crate) fn is_shown_by(
        &self,
        source: &str,
        folder: &Path,
        bench: &Bench,
    ) -> io::Result<bool> {
        let wrong = self.wrong.configuration(bench)?;
        let Some((right, case)) = &self.right else {
            // A crash everywhere: nothing else tells whether it is still a program.
            if !Parsed::new(source).is_some_and(|parsed| parsed.defines(&self.kernel)) {
                return Ok(false);
            }
            return Ok(match bench.run(&wrong, source, &[])? {
                Err(Made::Crash(said)) => self.kind == "crash" && steady(&said) == self.said,
                Err(Made::Endless) => self.kind == "endless",
                _ => false,
            });
        };
        let right = right.configuration(bench)?;
        let case = Case::open(&folder.join(case)).map_err(io::Error::other)?;
        let mut launching = Launching::of_case(&case).map_err(io::Error::other)?;
        launching.compared = case.outputs();
        // What is refused, as most changes are, is refused at once.
        let failed = bench.run_one(&wrong, source, &self.kernel, &launching)?;
        if matches!(failed, Made::Refused(_) | Made::Not(_)) {
            return Ok(false);
        }
        let made = bench.run_one(&right, source, &self.kernel, &launching)?;
        let (Some(expected), Some(kernel)) = (made.memory(), made.kernel()) else {
            return Ok(false);
        };
        let same_complaint = match &failed {
            Made::Crash(said) => steady(said) == self.said,
            _ => true,
        };
        let wrong = failed.wrong(expected) == Some(self.kind.as_str()) && same_complaint;
        Ok(wrong && machine::check(kernel, &launching).is_ok_and(|f| f.is_empty()))
    }
}

/// Whether a source shows the bug of a folder that a campaign wrote: one build of it is wrong in that way, and another one right
/// and without findings of the checks.
///
/// # Errors
/// The folder has no bug, its compilers are not among these, or they cannot be run.
pub fn shows(folder: &Path, source: &Path, compilers: Vec<(String, Compiler)>) -> io::Result<bool> {
    let text = visakit_files::read(source, LARGEST)?;
    let text = String::from_utf8_lossy(&text);
    let bench = Bench {
        compilers,
        ..Bench::default()
    };
    Fault::open(folder)?.is_shown_by(&text, folder, &bench)
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;
    use crate::process::Limits;
    use std::os::unix::fs::PermissionsExt as _;

    /// What crashes a compiler is a program, and crashes it in that way.
    #[test]
    fn crashes_are_those_of_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ocloc");
        let script = "#!/bin/sh\nsource=$(echo \"$@\" | sed 's/.*-file //; s/ -out_dir.*//')\n\
                      if grep -q switch $source; then echo \"at 0x$$: no $(grep -o '[a-z]*flow' $source)\"; exit 134; fi";
        visakit_files::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let compiler = Compiler {
            path,
            limits: Limits::default(),
        };
        let bench = Bench {
            compilers: vec![("one".to_owned(), compiler)],
            ..Bench::default()
        };
        let fault = Fault {
            kind: "crash".to_owned(),
            kernel: "k0".to_owned(),
            wrong: Build {
                compiler: "one".to_owned(),
                device: "dg2".to_owned(),
                options: String::new(),
            },
            right: None,
            said: "at x: no overflow".to_owned(),
        };
        let shows = |source: &str| fault.is_shown_by(source, folder.path(), &bench).unwrap();
        assert!(shows(
            "__kernel void k0(__global int *overflow) { switch (0) {} }"
        ));
        // Another crash, no crash, no program, another kernel.
        assert!(!shows(
            "__kernel void k0(__global int *flow) { switch (0) {} }"
        ));
        assert!(!shows("__kernel void k0(__global int *overflow) {}"));
        assert!(!shows("switch overflow"));
        assert!(!shows("__kernel void k0( { switch overflow }"));
        assert!(!shows(
            "__kernel void k1(__global int *overflow) { switch (0) {} }"
        ));
    }
}
