//! The subcommands, one file each.

pub(crate) mod asm;
mod change;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod dis;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod extract;
pub(crate) mod fmt;
pub(crate) mod graph;
pub(crate) mod info;
pub(crate) mod isa;
pub(crate) mod listing;
pub(crate) mod merge;
pub(crate) mod platforms;
pub(crate) mod reduce;
pub(crate) mod rename;
pub(crate) mod roundtrip;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod smith;
pub(crate) mod stats;
pub(crate) mod strip;
pub(crate) mod validate;

use visakit::isa::{Dialect, Op};
use visakit::parse::ReadOptions;

/// How objects are read, the same in all subcommands.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Reading {
    /// Continue after faults: keep what cannot be decoded as raw bytes.
    #[arg(long)]
    lenient: bool,
    /// Read in this dialect instead of detecting it.
    #[arg(long, value_name = "NAME", value_parser = dialect)]
    dialect: Option<Dialect>,
}

impl Reading {
    pub(crate) fn options(self) -> ReadOptions {
        ReadOptions {
            lenient: self.lenient,
            dialect: self.dialect,
        }
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Dialect::ALL.iter().map(|d| d.name()).collect();
        format!("known dialects: {}", names.join(", "))
    })
}

/// Opcode and, where there is one, sub-operation: `0x47`, `0x89.03`.
fn number(op: Op) -> String {
    match op.sub_op() {
        None => format!("{:#04x}", op.opcode()),
        Some(sub) => format!("{:#04x}.{sub:02x}", op.opcode()),
    }
}
