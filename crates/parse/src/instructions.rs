//! The iterator over instructions.

use crate::error::{Context, Error, ErrorKind};
use crate::instruction::{
    Each, FieldRef, FieldVisitor, InstructionRef, explain, walk, walk_lazily,
};
use crate::rules::Rules;
use crate::wire::locate;
use visakit_isa::table::FieldName;
use visakit_isa::{Format, Instruction, InstructionDef};

/// Iterates over instructions without decoding more than the next one.
///
/// Ends after the first error; [`Instructions::rest`] then holds the bytes from the faulty
/// instruction on.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    rest: &'a [u8],
    end: u64,
    number: u32,
    failed: bool,
    format: Format,
    rules: Rules,
}

impl<'a> Instructions<'a> {
    /// The instructions of `code`, which begins at `offset` of the file.
    #[must_use]
    pub fn new(code: &'a [u8], offset: u64, format: Format, rules: Rules) -> Self {
        Self {
            rest: code,
            end: offset + code.len() as u64,
            number: 0,
            failed: false,
            format,
            rules,
        }
    }

    /// The bytes that are not decoded yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Offset of the next instruction from the start of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.end - self.rest.len() as u64
    }

    /// Number of instructions so far.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Decodes the next instruction and all its values in one pass.
    ///
    /// `call` receives the fields as [`InstructionRef::fields`] returns them. It is called while the instruction is
    /// being read, so it may have seen fields of an instruction that turns out to be faulty.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn next_with(
        &mut self,
        call: impl FnMut(&FieldRef),
    ) -> Option<Result<InstructionRef<'a>, Error>> {
        self.next_to(&mut Each(call))
    }

    /// Decodes the next instruction into an existing one, whose memory is reused. After an error it holds the fields
    /// before the faulty one.
    #[inline(never)]
    pub fn next_into(
        &mut self,
        instruction: &mut Instruction,
    ) -> Option<Result<InstructionRef<'a>, Error>> {
        instruction.fields.truncate(0);
        let next = self.next_to(&mut instruction.fields);
        if let Some(Ok(next)) = &next {
            instruction.op = next.op();
        }
        next
    }

    /// Decodes the next instruction and shows its fields.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next_to(
        &mut self,
        visitor: &mut impl FieldVisitor,
    ) -> Option<Result<InstructionRef<'a>, Error>> {
        if self.rest.is_empty() || self.failed {
            return None;
        }
        let walked = walk(self.rest, self.format, &self.rules, visitor);
        Some(self.step(walked))
    }

    /// Continues after an instruction that was walked, or stops at one that was rejected.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step(
        &mut self,
        walked: Option<(&'static InstructionDef, usize)>,
    ) -> Result<InstructionRef<'a>, Error> {
        let (offset, format) = (self.offset(), self.format);
        let walked =
            walked.and_then(|(def, length)| Some((def, self.rest.split_at_checked(length)?)));
        let Some((def, (bytes, rest))) = walked else {
            return Err(self.fail());
        };
        self.rest = rest;
        self.number += 1;
        Ok(InstructionRef {
            def,
            bytes,
            offset,
            format,
        })
    }

    #[cold]
    fn fail(&mut self) -> Error {
        self.failed = true;
        let misstep = explain(self.rest, self.format, &self.rules);
        let (kind, offset) = locate(&misstep.error, self.end);
        let kind = match kind {
            ErrorKind::UnexpectedEnd { needed } => ErrorKind::UnexpectedEndOfCode { needed },
            other => other,
        };
        Error::new(
            kind,
            offset,
            Context {
                instruction: Some(self.number),
                def: misstep.def,
                field: misstep.field.map(FieldName::as_str),
                ..Context::default()
            },
        )
    }

    /// Continues after a fault of meaning with the same instruction, unchecked.
    pub(crate) fn retry_unchecked(&mut self) -> Option<Result<InstructionRef<'a>, Error>> {
        self.failed = false;
        let rules = core::mem::replace(&mut self.rules, Rules::LENIENT);
        let next = self.next();
        self.rules = rules;
        next
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<InstructionRef<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.failed {
            return None;
        }
        let walked = walk_lazily(self.rest, self.format, &self.rules);
        Some(self.step(walked))
    }
}

impl core::iter::FusedIterator for Instructions<'_> {}
