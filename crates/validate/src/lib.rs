//! Validator for Intel's binary vISA objects (`.isa`, magic `CISA`).
//!
//! [`object`] checks an object of `visakit-isa`, however it was created; [`bytes`] reads a file
//! leniently and checks everything that can be read, so that a damaged one is checked as far as
//! possible. All findings are returned, not only the first: each names the [`Rule`] that is broken,
//! the routine, the entry or instruction, the field, and, if the object came from bytes, the offset in
//! the file.
//!
//! Every rule is declared in [`rules`], with its severity, what it requires, what to do, and its
//! origin. What an instruction accepts (classes, types, codes, platforms) is taken from the
//! instruction table in `visakit-isa`; instructions are not listed again here.
//!
//! **Errors** are violations that the verifier of the reference implementation rejects, or that no
//! reader could interpret. No object that is known to run has one. **Warnings** are rules of the
//! specification that real objects break.
//!
//! Time and memory are linear in the size of the object; the number of findings that are kept has
//! a limit, the number that is counted has none.
//!
//! ```
//! use visakit_validate::{Options, rules};
//!
//! let text = b".version 4.1
//! .kernel \"copy\"
//! .decl V32 v_type=G type=d num_elts=16 align=GRF
//!     mov (M1, 16) V32(0,0)<0> 0x2a:d
//!     ret (M1, 1)
//! ";
//! let object = visakit_text::asm::assemble(text, &Default::default()).unwrap();
//! let report = visakit_validate::object(&object, &Options::default());
//! assert_eq!(report.errors, 1);
//! assert_eq!(report.findings[0].rule, &rules::DESTINATION_STRIDE);
//! assert_eq!(
//!     report.findings[0].to_string(),
//!     "error[V0223-destination-stride] kernel 0, instruction 0 (mov), dst: \
//!      horizontal stride 0: all lanes write to the same element"
//! );
//! ```
//!
//! # How it is built
//!
//! A rule is declared once, in `validate/src/rules/`: number, severity, requirement, advice, source. Reports,
//! `visakit explain`, `docs/rules.md` and SARIF use these declarations. What an instruction accepts is taken from its row
//! (`FieldDef` classes, types, codes; `InstructionDef` modifiers, saturation, memory, traits, platforms); only what rows
//! cannot express is code, one file for each kind of instruction. `checker.rs` makes one pass over the fields of an
//! instruction and notes changes of control flow; group, traits, memory and conversions of the row select the rules. A
//! finding names locations, not bytes. Offsets are determined afterwards (`locate.rs`), by reading only what has findings
//! again; lines of a text come from `text::asm::SourceMap`.
//!
//! `examples.rs` has lines that break each rule and lines that do not; tests and `visakit explain` share them.
//!
//! What real objects do is not an error, and what Intel's verifier refuses is: tests enforce both (`docs/validation.md`).

#![no_std]

extern crate alloc;

mod blocks;
mod checker;
mod declarations;
pub mod examples;
mod flow;
mod locate;
mod lsc;
mod messages;
mod operands;
mod page;
mod payload;
mod platform;
mod region;
mod report;
mod rule;
pub mod rules;
mod special;
mod storage;
mod structure;
mod systolic;
mod types;

pub use page::page;
pub use report::{Cause, FieldLocation, Finding, Location, Report, Scope};
pub use rule::{Area, Rule, RuleId, Severity};
pub use visakit_isa::Platform;

use report::Sink;
use visakit_isa::Dialect;
use visakit_isa::object::Object;
use visakit_parse::{Decoded, Error, ReadOptions};

/// By default at most this many findings of one object are kept.
pub const DEFAULT_LIMIT: usize = 4096;

/// What to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The platform that the object is meant for; texts of compilers state it (`//Platform:`). If none is given the
    /// object may be for any platform that it has native code for, or, without native code, for any at all: what
    /// differs by platform is refused only if none of these accepts it together with the rest of the instruction.
    pub platform: Option<Platform>,
    /// Maximum number of findings to keep.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            platform: None,
            limit: DEFAULT_LIMIT,
        }
    }
}

/// Checks an object.
#[must_use]
pub fn object(object: &Object<'_>, options: &Options) -> Report {
    let mut sink = Sink::new(options.limit);
    checker::object(object, options, true, &mut sink);
    sink.report
}

/// Reads an object leniently and checks it. What does not decode is a finding, and the rest is
/// checked.
///
/// # Errors
/// Nothing can be read: another kind of file, an unknown version, a header that ends early.
pub fn bytes(bytes: &[u8], dialect: Option<Dialect>, options: &Options) -> Result<Report, Error> {
    let read = ReadOptions {
        lenient: true,
        dialect,
    };
    let decoded = visakit_parse::read_with(bytes, read)?;
    Ok(decoded_from(bytes, &decoded, options))
}

/// Checks an object that was read from `bytes`, for callers that need the object themselves.
#[must_use]
pub fn decoded_from(bytes: &[u8], decoded: &Decoded<'_>, options: &Options) -> Report {
    let mut sink = Sink::new(options.limit);
    structure::faults(&decoded.errors, &mut sink);
    checker::object(&decoded.object, options, false, &mut sink);
    let mut report = sink.report;
    locate::locate(bytes, &decoded.object, &mut report.findings);
    report
}
