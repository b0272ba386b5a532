//! Editor support for vISA text: the core of the language server and of the explorer in the browser.
//!
//! A [`Document`] is a text that is edited. It answers questions about places in it: [`hover`](Document::hover),
//! [`complete`](Document::complete), [`definition`](Document::definition), [`references`](Document::references),
//! [`rename`](Document::rename), [`outline`](Document::outline), [`folds`](Document::folds),
//! [`highlights`](Document::highlights), [`hints`](Document::hints), [`problems`](Document::problems),
//! [`format`](Document::format). None of them does I/O, and none knows a protocol; places are offsets in bytes,
//! which [`Document::position`] turns into lines and columns of any [`Encoding`].
//!
//! A text that is being written usually does not assemble. So symbols come from the lexer, line by line, and an edit
//! lexes only the lines that it affects. What only the assembler and the validator know (problems, offsets, bytes, live
//! ranges) is the [`Analysis`], which is computed on the first request and kept until the next edit; for a text with
//! faults it has what the other lines produce.
//!
//! ```
//! use visakit_language::Document;
//!
//! let mut text = Document::new(".version 4.1\n.kernel \"k\"\n.decl DATA v_type=G type=ud num_elts=8\n    mov (M1, 8) DATA(0,0)<1> DATE(0,0)<1;1,0>\n    ret (M1, 1)\n");
//! let problem = &text.problems()[0];
//! assert_eq!(problem.message, "`DATE` is not declared");
//! let fix = problem.fix.as_ref().unwrap();
//! assert_eq!((fix.title.as_str(), fix.edit.text.as_str()), ("Replace with `DATA`", "DATA"));
//! text.edit(fix.edit.range.clone(), "DATA").unwrap();
//! assert!(text.problems().is_empty());
//! ```

#![forbid(unsafe_code)]

mod analysis;
mod complete;
mod document;
mod edits;
mod folds;
mod highlight;
mod hints;
mod hover;
mod line;
mod live;
mod names;
mod place;
mod symbols;

pub use analysis::{Analysis, Encoded, Fix, Problem, Severity};
pub use complete::{Completion, CompletionKind};
pub use document::{Document, NoSuchPlace, Settings};
pub use edits::{CannotRename, Edit};
pub use folds::{Fold, FoldKind};
pub use highlight::{Highlight, Piece};
pub use hints::{Hint, Lens};
pub use hover::Hover;
pub use live::Life;
pub use place::{Encoding, Position};
pub use symbols::{Definition, Name, Outline, SymbolKind};
