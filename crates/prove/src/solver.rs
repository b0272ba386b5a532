//! What solvers answer, and solvers outside: commands that read SMT-LIB.

use crate::term::{Model, Question};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a solver answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The terms are equal for all values.
    Never,
    /// They differ for these values.
    Sometimes(Model),
    /// Nothing, with the reason.
    Nothing(String),
}

/// Time between looks at a solver.
const LOOK: Duration = Duration::from_millis(5);

/// Asks a command, which is stopped at the deadline.
pub(crate) fn ask(command: &str, question: &Question, deadline: Option<Instant>) -> Answer {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return Answer::Nothing("no command of a solver".to_owned());
    };
    let started = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Answer::Nothing(format!("the solver `{program}`: {error}")),
    };
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let script = question.text.clone();
    let writer = std::thread::spawn(move || {
        if let Some(mut input) = input {
            // A solver that ends early does not read everything.
            let _ = input.write_all(script.as_bytes());
        }
    });
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut output) = output {
            let _ = output.read_to_string(&mut text);
        }
        text
    });
    let mut late = false;
    while matches!(child.try_wait(), Ok(None)) {
        if deadline.is_some_and(|end| Instant::now() > end) {
            late = true;
            let _ = child.kill();
        }
        std::thread::sleep(LOOK);
    }
    let _ = writer.join();
    let text = reader.join().unwrap_or_default();
    if late {
        return Answer::Nothing("the solver needs more time".to_owned());
    }
    match text.split_whitespace().next() {
        Some("unsat") => Answer::Never,
        Some("sat") => Answer::Sometimes(question.model(&text)),
        _ => Answer::Nothing("the solver does not know".to_owned()),
    }
}
