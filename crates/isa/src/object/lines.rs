//! Maps instructions to source lines.

use super::{Body, Item};
use crate::instruction::{Instruction, Value};
use crate::table::{FieldName, Op};
use alloc::string::String;
use alloc::vec::Vec;

/// A line of a source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceLine {
    /// Index of the file in [`SourceFiles::names`], if one was named.
    pub file: Option<usize>,
    /// Line number, from 1.
    pub line: u32,
}

/// Source files named by routines, without duplicates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceFiles(Vec<String>);

impl SourceFiles {
    /// The files, in the order in which they were first named.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The name of a file.
    #[must_use]
    pub fn name(&self, file: usize) -> Option<&str> {
        self.0.get(file).map(String::as_str)
    }

    /// The source line of each entry of a routine's code.
    ///
    /// `FILE` and `LOC` apply to themselves and to what follows in code order, regardless of control flow, until the
    /// next one of the same kind: Intel's finalizer keeps one current file and one current line in the same way. Line 0
    /// means no line, as in DWARF.
    pub fn lines(&mut self, body: &Body<'_>) -> Vec<Option<SourceLine>> {
        let (mut file, mut line) = (None, 0);
        let of = |item: &Item<'_>| {
            if let Item::Instruction(instruction) = item {
                match instruction.op {
                    Op::FILE => file = self.file(body, instruction),
                    Op::LOC => {
                        let number = instruction.get(FieldName::Line).and_then(Value::as_number);
                        line = number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
                    }
                    _ => {}
                }
            }
            (line != 0).then_some(SourceLine { file, line })
        };
        body.code.iter().map(of).collect()
    }

    /// The index of the file that an instruction names.
    fn file(&mut self, body: &Body<'_>, instruction: &Instruction) -> Option<usize> {
        let Some(Value::String(id)) = instruction.get(FieldName::FileName) else {
            return None;
        };
        let name = String::from_utf8_lossy(body.string(*id)?);
        let known = self.0.iter().position(|known| *known == name);
        Some(known.unwrap_or_else(|| {
            self.0.push(name.into_owned());
            self.0.len() - 1
        }))
    }
}
