//! Instructions as text, one by one.

use std::convert::Infallible;
use visakit_isa::object::{Object, RoutineId};
use visakit_text::{LineKind, Options, Output, Printer};

/// Keeps the text of instructions by their place in the code.
#[derive(Default)]
struct Lines(Vec<String>);

impl Output for Lines {
    type Error = Infallible;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Infallible> {
        let (LineKind::Instruction(index) | LineKind::Undecoded(index)) = kind else {
            return Ok(());
        };
        if index == self.0.len() {
            self.0.push(plain(&String::from_utf8_lossy(text)));
        }
        Ok(())
    }
}

/// The line without its number, and of several lines the last.
fn plain(text: &str) -> String {
    let text = text.trim_end();
    let text = text.rsplit('\n').next().unwrap_or(text);
    let end = text.rfind(" /// $").unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim().to_owned()
}

/// The text of every instruction of a routine.
pub(crate) fn of(object: &Object<'_>, id: RoutineId) -> Vec<String> {
    let mut lines = Lines::default();
    let Ok(()) = Printer::new(object, Options::default()).routine(id, &mut lines);
    lines.0
}
