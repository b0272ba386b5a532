//! Changes to vISA objects.
//!
//! * [`Editor`]: inserts, removes and changes instructions and declarations of a routine. All
//!   numbers are adjusted; an edit that would leave something dangling is an error.
//! * [`convert()`]: the same object in another version.
//! * [`strip()`], [`extract()`], [`merge()`], [`rename_routine`], [`rename_symbol`]: passes.
//! * [`diff()`]: the differences between two objects. [`graph`]: control flow and calls, drawn.
//! * [`visit::Visitor`] and [`rewrite::Rewriter`]: one overridable method for each construct.

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
pub use rename::{find_routine, rename_routine, rename_symbol};
pub use strip::{Strip, Stripped, strip};
pub use traverse::{rewrite, visit};
