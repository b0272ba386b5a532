//! Changes to vISA objects.
//!
//! * [`Editor`]: inserts, removes and changes instructions and declarations of a routine. All
//!   numbers are adjusted; an edit that would leave something dangling is an error.
//! * [`convert()`]: the same object in another version.
//! * [`strip()`], [`extract()`], [`merge()`], [`rename_routine`], [`rename_symbol`]: passes.
//! * [`diff()`]: the differences between two objects. [`graph`]: control flow and calls, drawn.
//! * [`reduce()`]: the smallest object that keeps a property.
//! * [`visit::Visitor`] and [`rewrite::Rewriter`]: one overridable method for each construct.
//!
//! # How it is built
//!
//! `rewrite/src/traverse.rs` describes the parts of an object once; a macro generates from it the trait `Visitor` (reads)
//! and the trait `Rewriter` (changes), with one method for each construct; a change that cannot be made is an error with
//! its location. Which operands an instruction has is derived from the values of its fields, so there is no list of
//! opcodes. Every number into a symbol table, in whatever operand, declaration or input, ends at the method `reference`:
//! finding uses and renumbering are one method each.
//!
//! `Editor` changes one routine. It checks before it changes anything; when an entry is removed, all later numbers and
//! references are adjusted, and dangling references are an error. Passes are functions over whole objects. `convert` looks
//! up in the instruction table which fields the two formats have. A field that is gained gets its neutral value; one that
//! is lost must hold it. Predefined variables are mapped by name. What a version expresses in another way (`files`,
//! `implicit`, `structured` in `convert/`) is stored under marked names, so that it can be converted back.
//!
//! Native code is tied to the code it was compiled from (`isa/src/object/native.rs`; `rewrite/src/native.rs` compares
//! before and after; exact text carries a checksum of each routine, `text/src/language/digest.rs`): edits discard it unless
//! told to keep it, and an edit of a function discards that of all kernels.
//!
//! `diff` gives declarations of both objects common numbers, by aligning their names and then their properties. It numbers
//! instructions by what they do and aligns the numbers with imara-diff, with a limit on work, so that the result depends
//! only on the two objects. Control-flow graphs are petgraph graphs. `graph/layout` places them: every box has a row and a
//! column, and a link past rows gets a vertical line in a column that no box there occupies, so that no arrow passes
//! through a box; `graph/svg.rs` only draws.

mod convert;
mod diff;
mod edit;
mod error;
mod extract;
pub mod graph;
pub mod lines;
mod location;
mod merge;
mod native;
mod reduce;
mod rename;
mod strip;
mod traverse;

pub use convert::{ConvertOptions, convert};
pub use diff::{Change, Diff, RoutineDiff, diff};
pub use edit::{Editor, uses};
pub use error::{Error, ErrorKind, Uses};
pub use extract::extract;
pub use lines::some as instruction_lines;
pub use location::{Location, Reference, Table};
pub use merge::{Merged, Unresolved, UnresolvedUse, merge, unresolved};
pub use reduce::{Answer, NotInteresting, Progress, minimise, reduce, reduce_at_once};
pub use rename::{find_routine, rename_routine, rename_symbol};
pub use strip::{Strip, Stripped, strip};
pub use traverse::{rewrite, visit};
