//! Assembles fragments of text against existing declarations: for callers that embed instructions
//! in another language.

use super::comment;
use super::diagnostic::{Diagnostic, DiagnosticKind, Errors, Fault, Span};
use super::instruction::{self, trailing};
use super::pieces::Record;
use super::routine::Draft;
use super::{Assembler, Options};
use crate::lexer::Cursor;
use alloc::boxed::Box;
use alloc::vec::Vec;
use visakit_isa::object::{Body, Item, Object};
use visakit_isa::table::{FieldName, Op};
use visakit_isa::{Format, Instruction, RawOperand, VectorOperand};

/// A parsed operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// `V32(0,0)<1;1,0>`, `0x2a:d`, `r[A0(0),0]<1>:ud`, …
    Vector(VectorOperand),
    /// `V32.0`
    Raw(RawOperand),
}

/// A parsed instruction, and where its fields are in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// The instruction.
    pub instruction: Instruction,
    /// The fields that the text shows, in text order; a list has one entry for each member.
    pub spans: Vec<(FieldName, Span)>,
}

/// Declarations that instructions and operands may refer to.
///
/// They are given as a text with everything that precedes the first instruction of a routine,
/// handwritten or printed by [`Printer`](crate::Printer); it may contain instructions too. Labels
/// and strings that fragments are the first to name are added to the [`body`](Self::body).
///
/// ```
/// use visakit_text::asm::{Declarations, Operand, Options};
///
/// let text = b".version 4.1\n.kernel \"k\"\n.decl V32 v_type=G type=d num_elts=16\n";
/// let mut known = Declarations::new(text, &Options::default()).unwrap();
///
/// let line = b"add (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> 0x2a:d";
/// let add = known.instruction(line).unwrap();
/// let (name, span) = add.spans.last().unwrap();
/// assert_eq!((name.as_str(), &line[span.start..span.end()]), ("src1", &b"0x2a:d"[..]));
/// let bytes = visakit_encode::instruction(&add.instruction, known.format()).unwrap();
/// assert_eq!(bytes[0], 0x01);
///
/// assert!(matches!(known.source(b"V32(1,0)<0;1,0>"), Ok(Operand::Vector(_))));
/// assert!(matches!(known.source(b"V32.64"), Ok(Operand::Raw(_))));
/// let fault = known.instruction(b"mov (M1, 16) V33(0,0)<1> 0x2a:d").unwrap_err();
/// assert_eq!(fault.to_string(), "`V33` is not declared (did you mean `V32`?)");
/// ```
#[derive(Debug)]
pub struct Declarations<'t> {
    options: Options,
    /// The routine and everything built so far.
    draft: Draft<'t>,
}

impl<'t> Declarations<'t> {
    /// Parses the declarations of a text; if it has several routines, those of the last one.
    ///
    /// # Errors
    /// Everything that is wrong with the text, except labels that are never placed.
    pub fn new(text: &'t [u8], options: &Options) -> Result<Self, Errors> {
        let mut assembler = Assembler::new(text, options);
        assembler.statements();
        let draft = assembler.draft.take();
        assembler.result()?;
        let Some(draft) = draft else {
            let message = "the text has no routine";
            let span = Span::between(text.len(), text.len());
            let fault = Diagnostic::new(DiagnosticKind::Misplaced, span, message);
            let fault = fault.expected("`.kernel \"name\"` before the declarations");
            return Err(Errors::new(Vec::from([*fault]), text));
        };
        Ok(Self {
            options: *options,
            draft,
        })
    }

    /// What was declared, and what fragments have added since.
    #[must_use]
    pub const fn body(&self) -> &Body<'t> {
        &self.draft.body
    }

    /// The format that fragments are parsed for.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.draft.format
    }

    /// Parses one instruction, or the line that places a label, which is an instruction, too.
    ///
    /// # Errors
    /// What is wrong with it; places are those in `text`.
    pub fn instruction(&mut self, text: &'t [u8]) -> Result<Fragment, Box<Diagnostic>> {
        let mut assembler = Assembler::new(text, &self.options);
        // The draft is lent to the assembler for the call.
        let format = self.draft.format;
        let count = self.draft.body.code.len();
        let empty = self.draft.emptied();
        assembler.draft = Some(core::mem::replace(&mut self.draft, empty));
        assembler.object = Object::new(format.version(), format.dialect());
        assembler.scratch.record = Some(Record::default());
        let parsed = one(&mut assembler);
        let record = assembler.scratch.record.take();
        let mut made = None;
        if let Some(mut draft) = assembler.draft.take() {
            if parsed.is_ok() {
                made = draft.body.code.pop();
            }
            draft.body.code.truncate(count);
            self.draft = draft;
        }
        parsed?;
        match made {
            Some(Item::Instruction(instruction)) => Ok(Fragment {
                instruction,
                spans: record.unwrap_or_default().fields,
            }),
            _ => Err(Cursor::new(text).unexpected("an instruction")),
        }
    }

    /// Parses a source operand.
    ///
    /// # Errors
    /// What is wrong with it; places are those in `text`.
    pub fn source(&mut self, text: &'t [u8]) -> Result<Operand, Box<Diagnostic>> {
        self.operand(text, FieldName::Src0)
    }

    /// Parses a destination operand.
    ///
    /// # Errors
    /// What is wrong with it; places are those in `text`.
    pub fn destination(&mut self, text: &'t [u8]) -> Result<Operand, Box<Diagnostic>> {
        self.operand(text, FieldName::Dst)
    }

    fn operand(&mut self, text: &'t [u8], name: FieldName) -> Result<Operand, Box<Diagnostic>> {
        let mut cursor = Cursor::new(text);
        let parsed = instruction::operand_of(&mut cursor, &mut self.draft, Op::MOV, name);
        let operand = parsed?;
        let ends = cursor.ends();
        if let Some(fault) = cursor.unclosed() {
            return Err(fault);
        }
        if ends && cursor.peek().is_none() {
            Ok(operand)
        } else {
            Err(trailing(&cursor, "operand"))
        }
    }
}

/// Exactly one instruction, optionally followed by a directive.
fn one(assembler: &mut Assembler<'_>) -> Result<(), Fault> {
    skip_lines(assembler)?;
    match assembler.label() {
        Some(label) => assembler.place(label)?,
        None => assembler.instruction()?,
    }
    if assembler.cursor.ends() && assembler.cursor.directive.is_some() {
        assembler.trailing_directive();
        if let Some(found) = assembler.faults.pop() {
            return Err(Box::new(found));
        }
    }
    skip_lines(assembler)?;
    match (assembler.cursor.unclosed(), assembler.cursor.peek()) {
        (Some(fault), _) => Err(fault),
        (None, None) => Ok(()),
        (None, Some(_)) => Err(trailing(&assembler.cursor, "instruction")),
    }
}

/// Skips empty lines and comments. Directives on their own lines belong to declarations.
fn skip_lines(assembler: &mut Assembler<'_>) -> Result<(), Fault> {
    let cursor = &mut assembler.cursor;
    while cursor.ends() && cursor.peek().is_some() {
        cursor.at += 1;
    }
    match cursor.directive.take() {
        None => Ok(()),
        Some(start) => {
            let span = Span::between(start, start + "//@".len());
            Err(comment::fault(
                span,
                "there is a directive beside the instruction",
            ))
        }
    }
}
