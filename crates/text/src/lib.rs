//! vISA text, the assembly language of Intel's binary vISA objects.
//!
//! [`asm`] assembles text, using the same descriptions in the other direction.
//!
//! [`Printer`] prints routines in the form of Intel's own printer, byte for byte as GenX_IR
//! 1.0.12504.6 writes them with `-dumpcommonisa`. How an instruction is written is in its row
//! of the instruction table ([`visakit_isa::table::Syntax`]); this crate only knows how to print the
//! [`Part`](visakit_isa::table::Part)s of such a description.
//!
//! Text is passed line by line to an [`Output`], `Vec<u8>` being the simplest. All lines share one
//! buffer: printing a line does not allocate.
//!
//! ```
//! use visakit_text::{Form, Options, Printer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
//! let object = visakit_parse::read(file)?;
//! let options = Options { form: Form::Intel, ..Options::default() };
//! let printer = Printer::new(&object, options);
//! let mut text = Vec::new();
//! for (id, _) in object.routines() {
//!     printer.routine(id, &mut text)?;
//! }
//! assert!(text.starts_with(b".version 3.6\n.kernel \"subgroups\"\n"));
//! # Ok(())
//! # }
//! ```
//!
//! # How it is built
//!
//! * **Text**: a row's `Syntax` (`isa/src/table/syntax.rs`) lists the parts of its line in text order. The printer
//!   (`text/src/print/instruction.rs`) and the assembler (`text/src/asm/`) walk the same list; there is one lexer
//!   (`text/src/lexer/`). The assembler can also record which piece of text each part came from (`asm/pieces.rs`): the
//!   formatter (`text/src/format.rs`) puts those pieces together with the spacing of the list, and fragments return the
//!   places of fields. Forms that only newer compilers write are further lists of a row (`Syntax::also`).
//! * **What text leaves out**: `text/src/language/` holds what assembler and printer have to agree on (defaults, names,
//!   pools of strings), each fact once. `print/reading.rs` notes what the assembler reads in a line while the printer
//!   writes it; `print/plan.rs` decides on labels and string pools before a routine; `print/declarations.rs` and
//!   `print/code.rs` write the lines of plain and exact text, `print/parts.rs` the rarer parts; `print/exact.rs` writes
//!   what the line does not express. Each form is printed in one pass; round trips are tests.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod asm;
mod format;
mod language;
mod lexer;
mod print;
pub mod vocabulary;

pub use format::{Style, format, format_as};
pub use lexer::{LexState, Token, Tokens, tokens, tokens_from};
pub use print::{Form, LineKind, Options, Output, Printer, Utf8, file_name};
