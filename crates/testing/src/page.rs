//! Pages and snapshots that tests generate and compare with the committed ones.
//!
//! `cargo xtask bless` sets [`BLESS`] and runs the tests that compare: they then write what they
//! generated.

#![allow(clippy::disallowed_methods, reason = "helpers of tests")]

use std::path::Path;

/// The environment variable that makes tests overwrite what is committed.
pub const BLESS: &str = "VISAKIT_BLESS";

/// Whether generated content is written instead of compared.
#[must_use]
pub fn blesses() -> bool {
    std::env::var_os(BLESS).is_some()
}

/// A committed file holds exactly this text, or is made to hold it.
///
/// # Panics
/// If it holds something else, with the first line that differs.
pub fn holds(path: &Path, made: &str) {
    if blesses() {
        std::fs::write(path, made).unwrap();
        return;
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    if page == made {
        return;
    }
    let (at, line) = (1..)
        .zip(made.lines())
        .zip(page.lines().chain(std::iter::repeat("")))
        .find(|((_, made), page)| made != page)
        .map_or((0, ""), |((at, made), _)| (at, made));
    panic!(
        "{} is out of date, first in line {at}, which is now:\n{line}\nif that is right, run `cargo xtask bless`\n\
         the whole text:\n{made}",
        path.display()
    );
}
