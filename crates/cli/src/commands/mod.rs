//! The subcommands, one file each.

pub(crate) mod asm;
mod change;
pub(crate) mod check;
mod checking;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod convert;
pub(crate) mod debug;
pub(crate) mod diff;
pub(crate) mod dis;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod extract;
pub(crate) mod fmt;
pub(crate) mod graph;
#[cfg(feature = "hunt")]
pub(crate) mod hunt;
pub(crate) mod info;
pub(crate) mod inject;
pub(crate) mod isa;
pub(crate) mod listing;
#[cfg(feature = "lsp")]
pub(crate) mod lsp;
pub(crate) mod merge;
pub(crate) mod opencl;
mod picture;
pub(crate) mod platforms;
pub(crate) mod pressure;
pub(crate) mod profile;
pub(crate) mod prove;
pub(crate) mod reduce;
pub(crate) mod rename;
pub(crate) mod roundtrip;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod shell;
pub(crate) mod similar;
pub(crate) mod smith;
pub(crate) mod stats;
pub(crate) mod strip;
#[cfg(feature = "table")]
pub(crate) mod table;
pub(crate) mod validate;

use visakit::isa::Op;

/// Opcode and, if there is one, sub-operation: `0x47`, `0x89.03`.
fn number(op: Op) -> String {
    match op.sub_op() {
        None => format!("{:#04x}", op.opcode()),
        Some(sub) => format!("{:#04x}.{sub:02x}", op.opcode()),
    }
}
