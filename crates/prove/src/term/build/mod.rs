//! Makes terms in their normal form.

mod bits;
mod choices;
mod joins;
mod order;
mod parts;
mod sums;

/// How deep a term is looked into for a bit that is known.
const DEPTH: u8 = 8;

/// Terms of a sum or of a list; more make a new term.
const MOST_TERMS: usize = 256;
