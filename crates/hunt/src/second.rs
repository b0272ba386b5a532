//! Second opinions: other implementations of OpenCL, each in a process of its own, whose crash is nothing of ours.
//!
//! A process is given a folder with a [`Request`], and answers it there: a line for each kernel, as it gets there.

use crate::machine::Launching;
use crate::process::{Limits, ended};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use visakit_launch::Argument;

/// Another implementation of OpenCL, behind a program that answers requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Second {
    /// The program.
    pub program: PathBuf,
    /// What it is given before the folder of a request.
    pub arguments: Vec<OsString>,
    /// Limits of a request.
    pub limits: Limits,
}

/// What is to be built and run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// OpenCL C.
    pub source: String,
    /// Options for it.
    pub options: String,
    /// The kernels, none if it is only to be built.
    pub launches: Vec<Launch>,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The kernel.
    pub kernel: String,
    /// Work-items of each dimension.
    pub global: Vec<u32>,
    /// Work-items of a group.
    pub local: Vec<u32>,
    /// The first global id.
    pub offset: Vec<u32>,
    /// The arguments; buffers are answered in their order.
    pub arguments: Vec<Given>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// The content of a buffer.
    Buffer(Vec<u8>),
    /// A value.
    Value(Vec<u8>),
    /// Bytes of local memory.
    Local(usize),
}

/// The answer to a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is built.
    Built,
    /// The source is refused.
    Refused(String),
    /// The contents of the buffers.
    Memory(Vec<Vec<u8>>),
    /// It cannot be run.
    Not(String),
}

const REQUEST: &str = "request.json";
const ANSWERS: &str = "answers.jsonl";

impl Request {
    /// Reads the request of a folder.
    ///
    /// # Errors
    /// There is none.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let text = std::fs::read(folder.join(REQUEST))?;
        Ok(serde_json::from_slice(&text)?)
    }
}

impl Answer {
    /// Adds an answer to the folder.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&self, folder: &Path) -> io::Result<()> {
        visakit_files::append(&folder.join(ANSWERS), &serde_json::to_string(self)?)
    }
}

/// How a request ended.
pub(crate) enum Answered {
    /// An answer to each launch.
    All(Vec<Answer>),
    Refused(String),
    Crashed(String),
    Endless,
}

impl Launch {
    /// The launch of a kernel; `None` if it has arguments that cannot be passed on.
    pub(crate) fn of(kernel: &str, launching: &Launching) -> Option<Self> {
        let arguments = launching.arguments.iter();
        let given = arguments.map(|argument| match argument {
            Argument::Value(bytes) => Some(Given::Value(bytes.clone())),
            Argument::Buffer(bytes) => Some(Given::Buffer(bytes.clone())),
            Argument::Local(bytes) => Some(Given::Local(*bytes)),
            _ => None,
        });
        let range = &launching.range;
        let dimensions = usize::try_from(range.dimensions).ok()?;
        let list = |all: [u32; 3]| all.into_iter().take(dimensions).collect();
        Some(Self {
            kernel: kernel.to_owned(),
            global: list(range.global),
            local: list(range.local),
            offset: list(range.offset),
            arguments: given.collect::<Option<_>>()?,
        })
    }
}

impl Second {
    /// Makes a request.
    ///
    /// # Errors
    /// The program cannot be run, or files cannot be written.
    pub(crate) fn ask(&self, request: &Request) -> io::Result<Answered> {
        let folder = tempfile::Builder::new().prefix("visakit-hunt-").tempdir()?;
        let at = |name: &str| folder.path().join(name);
        visakit_files::scratch(&at(REQUEST), serde_json::to_vec(request)?)?;
        for name in [ANSWERS, "said"] {
            visakit_files::scratch(&at(name), "")?;
        }
        let said = std::fs::File::options().write(true).open(at("said"))?;
        let mut command = self.limits.command(&self.program, request.launches.len());
        command
            .args(&self.arguments)
            .arg(folder.path())
            .stdin(Stdio::null())
            // What pocl keeps of kernels goes with the folder.
            .env("POCL_CACHE_DIR", at("cache"))
            .stdout(said.try_clone()?)
            .stderr(said);
        let time = self.limits.time(request.launches.len());
        let Some(status) = ended(command, time)? else {
            return Ok(Answered::Endless);
        };
        let text = std::fs::read_to_string(at(ANSWERS))?;
        let answers = text.lines().filter_map(|l| serde_json::from_str(l).ok());
        let mut answers: Vec<Answer> = answers.collect();
        if let Some(Answer::Refused(said)) = answers.first() {
            return Ok(Answered::Refused(said.clone()));
        }
        if !status.success() || answers.len() != request.launches.len() + 1 {
            let said = String::from_utf8_lossy(&std::fs::read(at("said"))?).into_owned();
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            let said = last.map_or_else(|| status.to_string(), str::to_owned);
            return Ok(Answered::Crashed(said));
        }
        answers.remove(0);
        Ok(Answered::All(answers))
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)] // helpers of tests

    use super::*;

    /// A shell's script as an implementation; the folder of the request is `$0`.
    fn ask(script: &str) -> Answered {
        let second = Second {
            program: "sh".into(),
            arguments: ["-c", script].map(Into::into).into(),
            limits: Limits {
                seconds: 2,
                ..Limits::default()
            },
        };
        let launch = Launch {
            kernel: "k0".to_owned(),
            global: vec![1],
            local: vec![1],
            offset: vec![0],
            arguments: vec![Given::Buffer(vec![1]), Given::Value(vec![2])],
        };
        let request = Request {
            source: String::new(),
            options: String::new(),
            launches: vec![launch],
        };
        second.ask(&request).unwrap()
    }

    #[test]
    fn processes_answer_or_end() {
        let answer = "printf '\"Built\"\\n{\"Memory\":[[7]]}\\n' > $0/answers.jsonl";
        let all = ask(&format!("grep -q k0 $0/request.json && {answer}"));
        assert!(matches!(all, Answered::All(a) if a == [Answer::Memory(vec![vec![7]])]));
        let crashed = ask(&format!("{answer}; echo Assertion failed; kill -ABRT $$"));
        assert!(matches!(crashed, Answered::Crashed(said) if said == "Assertion failed"));
        // It ends before it has answered everything.
        let short = ask("echo '\"Built\"' > $0/answers.jsonl");
        assert!(matches!(short, Answered::Crashed(_)));
        let refused = ask("echo '{\"Refused\":\"no\"}' > $0/answers.jsonl");
        assert!(matches!(refused, Answered::Refused(said) if said == "no"));
        assert!(matches!(ask("while :; do :; done"), Answered::Endless));
    }
}
