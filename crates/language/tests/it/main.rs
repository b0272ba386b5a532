//! Tests of the answers to editors.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod answers;
mod edits;
mod texts;

/// The range of the `nth` occurrence of `what`, counting from the first.
fn at(text: &str, what: &str, nth: usize) -> usize {
    let mut found = text.match_indices(what);
    found
        .nth(nth)
        .unwrap_or_else(|| panic!("{what} is not there"))
        .0
}
