//! Programs that change modules of SPIR-V without changing what they compute, on the way to the compiler.

use crate::process::{Limits, ended};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A program such as `spirv-opt -O`: it is called with a module, `-o`, and the file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Through {
    /// The program.
    pub program: PathBuf,
    /// What it is given before the files.
    pub arguments: Vec<String>,
    /// Limits of a call.
    pub limits: Limits,
}

impl Through {
    /// The name, the program and its arguments, of a text `[NAME=]PROGRAM [ARGUMENT]...`. `None` if it is empty.
    #[must_use]
    pub fn parse(text: &str, limits: Limits) -> Option<(String, Self)> {
        let (name, command) = match text.split_once('=') {
            // An argument may have such a sign, too.
            Some((name, command)) if !name.contains([' ', '/']) => (name, command),
            _ => (text, text),
        };
        let mut words = command.split_whitespace().map(str::to_owned);
        let through = Self {
            program: PathBuf::from(words.next()?),
            arguments: words.collect(),
            limits,
        };
        Some((name.to_owned(), through))
    }

    /// Changes a module; whether there is one then.
    pub(crate) fn change(&self, from: &Path, to: &Path, programs: usize) -> io::Result<bool> {
        let mut command = self.limits.command(&self.program, programs);
        command
            .args(&self.arguments)
            .arg(from)
            .arg("-o")
            .arg(to)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = ended(command, self.limits.time(programs))?;
        Ok(status.is_some_and(|status| status.success()) && to.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_names() {
        let parsed = |text| Through::parse(text, Limits::default());
        let of = |text| {
            let (name, through) = parsed(text)?;
            Some((
                name,
                through.program.display().to_string(),
                through.arguments,
            ))
        };
        let expected = |name: &str, program: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(|a| (*a).to_owned()).collect();
            Some((name.to_owned(), program.to_owned(), arguments))
        };
        assert_eq!(
            of("spirv-opt -O"),
            expected("spirv-opt -O", "spirv-opt", &["-O"])
        );
        assert_eq!(
            of("small=spirv-opt --scalar-replacement=100"),
            expected("small", "spirv-opt", &["--scalar-replacement=100"])
        );
        assert_eq!(
            of("/opt/a=b/tool"),
            expected("/opt/a=b/tool", "/opt/a=b/tool", &[])
        );
        assert_eq!(parsed(""), None);
        assert_eq!(parsed("a="), None);
    }
}
