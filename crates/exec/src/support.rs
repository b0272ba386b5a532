//! Which instructions run, and why others do not.

use visakit_isa::{Op, table};

/// Whether and how an instruction runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Support {
    /// The operation.
    pub op: Op,
    /// Why it does not run; `None` if it does.
    pub reason: Option<&'static str>,
}

/// Every instruction of the table, in its order.
pub fn table() -> impl Iterator<Item = Support> {
    table::rows().map(|row| Support {
        op: row.op,
        reason: reason(row.op),
    })
}

/// Why an instruction does not run, as its row tells; `None` if it does. Single forms of an
/// instruction may still be refused.
#[must_use]
pub fn reason(op: Op) -> Option<&'static str> {
    let reason = op.def().unsupported;
    (!reason.is_empty()).then_some(reason)
}
