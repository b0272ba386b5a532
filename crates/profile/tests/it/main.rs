//! Profiles, compared with numbers worked out by hand, and with the executor's own counters.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod cases;
mod counts;
mod devices;
mod media;
mod messages;
mod output;
mod support;
mod times;
