//! Questions over many objects.
//!
//! * [`Tables`]: objects, routines, instructions, operands and more as columns of one documented schema
//!   ([`schema::VERSION`]), filled by [`fill`]. With the feature `arrow` they become Arrow arrays, with `parquet`
//!   files.
//! * [`Pattern`](search::Pattern): patterns of instructions, found in code rather than in lines.
//! * [`similar`]: which kernels are the same, renamed, recompiled, or unrelated.
//!
//! ```
//! use visakit_corpus::{Select, Source, Table, Tables, fill};
//!
//! # fn main() -> Result<(), visakit_parse::Error> {
//! # let bytes = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
//! let mut tables = Tables::default();
//! fill(&Source::new("kernel.isa", bytes), Select::ALL, &mut tables)?;
//! assert_eq!(tables.objects.rows(), 1);
//! assert!(tables.operands.rows() > tables.instructions.rows());
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod column;
mod describe;
#[cfg(feature = "files")]
mod files;
pub mod fingerprint;
mod names;
mod page;
#[cfg(feature = "parquet")]
pub mod parquet;
mod rows;
pub mod schema;
pub mod search;
pub mod similar;

pub use describe::{describe, describe_operand};
#[cfg(feature = "files")]
pub use files::fill_file;
pub use names::resource as resource_name;
pub use page::page;
pub use rows::{Source, fill, fill_text, key_of, sha256_hex, unreadable};
pub use schema::{Select, Table, TableDef, Tables};
