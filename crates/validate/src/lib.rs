//! Validator for Intel's binary vISA objects (`.isa`, magic `CISA`).
//!
//! [`object`] looks at an object of `visakit-isa`, however it came into being; [`bytes`] reads a file
//! leniently and checks all that can be read, so that a damaged one is checked as far as it goes.
//! All findings are given, not the first: each names the [`Rule`] that is broken, the routine,
//! the entry or instruction, the field, and, where the object came from bytes, the offset in the file.
//!
//! Every rule is declared in [`rules`], with its severity, what it demands, what to do, and where it
//! comes from. What an instruction takes (classes, types, codes, platforms) is asked of the
//! instruction table in `visakit-isa`; nothing here lists instructions anew.
//!
//! **Errors** are what the verifier of the reference implementation refuses, and what no reader
//! could make sense of. No object that is known to run has one. **Warnings** are rules of the
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

#![no_std]

extern crate alloc;

mod checker;
mod declarations;
pub mod examples;
mod flow;
mod locate;
mod lsc;
mod messages;
mod operands;
mod page;
mod platform;
mod region;
mod report;
mod rule;
pub mod rules;
mod special;
mod storage;
mod structure;
mod types;

pub use page::page;
pub use report::{Cause, FieldLocation, Finding, Location, Report, Scope};
pub use rule::{Area, Rule, RuleId, Severity};
pub use visakit_isa::Platform;

use report::Sink;
use visakit_isa::Dialect;
use visakit_isa::object::Object;
use visakit_parse::{Decoded, Error, ReadOptions};

/// So many findings are kept of one object unless asked otherwise.
pub const DEFAULT_LIMIT: usize = 4096;

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The platform that the object is meant for. Rules of platforms are applied only where one is
    /// named. Without it the size of a register is that of the object's native code, and where
    /// there is none both sizes are allowed.
    pub platform: Option<Platform>,
    /// How many findings are kept.
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

/// Looks at an object.
#[must_use]
pub fn object(object: &Object<'_>, options: &Options) -> Report {
    let mut sink = Sink::new(options.limit);
    checker::object(object, options, true, &mut sink);
    sink.report
}

/// Reads an object leniently and looks at it. What does not decode is a finding, and what does is
/// examined.
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

/// Looks at an object that was read from `bytes`, for callers that need the object themselves.
#[must_use]
pub fn decoded_from(bytes: &[u8], decoded: &Decoded<'_>, options: &Options) -> Report {
    let mut sink = Sink::new(options.limit);
    structure::faults(&decoded.errors, &mut sink);
    checker::object(&decoded.object, options, false, &mut sink);
    let mut report = sink.report;
    locate::locate(bytes, &decoded.object, &mut report.findings);
    report
}
