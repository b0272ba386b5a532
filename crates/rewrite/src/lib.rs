//! Changes to vISA objects.
//!
//! * [`Editor`]: inserts, removes and changes instructions and declarations of a routine. All
//!   numbers follow by themselves; an edit that would leave something dangling is an error.
//! * [`convert`]: the same object in another version.
//! * [`visit::Visitor`] and [`rewrite::Rewriter`]: one overridable method for each construct.

mod convert;
mod edit;
mod error;
mod place;
mod traverse;

pub use convert::convert;
pub use edit::{Editor, uses};
pub use error::{Error, ErrorKind, Uses};
pub use place::{Place, Reference, Table};
pub use traverse::{rewrite, visit};
