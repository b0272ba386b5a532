//! Columns, patterns, fingerprints and files of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)] // helpers of tests

#[cfg(feature = "files")]
mod files;
#[cfg(feature = "parquet")]
mod shards;
mod tables;
