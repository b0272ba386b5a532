//! Intel's finalizer as a process, with limits. It reads vISA and writes machine code, which nothing here runs: only its crashes
//! and its calls without an end are faults.

use crate::process::{Limits, ended};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use visakit_isa::Platform;

/// A finalizer: `GenX_IR` of a release of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalizer {
    /// The program, or a script that runs one.
    pub path: PathBuf,
    /// Limits of a call.
    pub limits: Limits,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finalized {
    /// It wrote machine code.
    Done,
    /// It refused the text, with its first complaint.
    Refused(String),
    /// It crashed, with its first complaint.
    Crashed(String),
    /// It was stopped after its time.
    Endless,
}

impl Finalized {
    /// The kind of fault, if it is one.
    pub(crate) const fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Refused(_) => None,
            Self::Crashed(_) => Some("crash"),
            Self::Endless => Some("endless"),
        }
    }
}

impl Finalizer {
    /// Finalizes a text.
    ///
    /// # Errors
    /// The finalizer cannot be run, or files cannot be written.
    pub(crate) fn run(&self, text: &[u8], platform: Platform) -> io::Result<Finalized> {
        let folder = tempfile::Builder::new().prefix("visakit-hunt-").tempdir()?;
        let at = |name: &str| folder.path().join(name);
        visakit_files::scratch(&at("program.visaasm"), text)?;
        visakit_files::scratch(&at("said"), "")?;
        let said = fs::File::options().write(true).open(at("said"))?;
        let mut command = self.limits.command(&self.path, 1);
        command
            .args(["program.visaasm", "-platform", platform.name(), "-binary"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said);
        let Some(status) = ended(command, self.limits.time(1))? else {
            return Ok(Finalized::Endless);
        };
        let said = fs::read(at("said"))?;
        if matches!(status.code(), Some(126 | 127)) {
            let (path, said) = (self.path.display(), String::from_utf8_lossy(&said));
            let said = said.trim();
            return Err(io::Error::other(format!(
                "{path} cannot be run: {said} ({status})"
            )));
        }
        Ok(judged(status, &String::from_utf8_lossy(&said)))
    }
}

/// A program that a signal ended crashed, itself or as a child of a shell; so did one that finds its own state impossible. The
/// message is its first complaint, with the place in its source if it names one.
fn judged(status: ExitStatus, said: &str) -> Finalized {
    const SIGNAL: i32 = 128;
    let complaint = |line: &&str| {
        let line = line.to_lowercase();
        let words = [".cpp:", ".h:", "error", "assert", "what():"];
        words.iter().any(|word| line.contains(word))
    };
    let complaint = said.lines().map(str::trim).find(complaint);
    if complaint.is_some_and(|line| line.to_lowercase().contains("assert")) {
        return Finalized::Crashed(complaint.unwrap_or_default().to_owned());
    }
    match (status.code(), complaint) {
        (Some(0), None) => Finalized::Done,
        (Some(code), complaint) if code < SIGNAL => {
            Finalized::Refused(complaint.unwrap_or_default().to_owned())
        }
        (_, None) => Finalized::Crashed(status.to_string()),
        (_, Some(complaint)) => Finalized::Crashed(format!("{complaint} ({status})")),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    #[test]
    fn ends_are_told_apart() {
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        let crashed = |said: &str| Finalized::Crashed(said.to_owned());
        let refused = |said: &str| Finalized::Refused(said.to_owned());
        assert_eq!(judged(code(0), "GenX_IR p.visaasm\n"), Finalized::Done);
        assert_eq!(judged(code(0), "1 error\n"), refused("1 error"));
        assert_eq!(
            judged(code(1), "line 3: syntax error\n"),
            refused("line 3: syntax error")
        );
        let signal = ExitStatus::from_raw(11);
        assert_eq!(judged(signal, ""), crashed("signal: 11 (SIGSEGV)"));
        assert_eq!(
            judged(signal, "./visa/G4.cpp:7 no mask\n./visa/G4.cpp:7 no mask\n"),
            crashed("./visa/G4.cpp:7 no mask (signal: 11 (SIGSEGV))")
        );
        // A shell that ran it tells of the signal so.
        assert_eq!(judged(code(139), ""), crashed("exit status: 139"));
        let assertion = "a.h:3: Assertion `n < size()' failed.";
        assert_eq!(judged(code(1), assertion), crashed(assertion));
    }
}
