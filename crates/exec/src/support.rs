//! Which instructions run, and why others do not.

use visakit_isa::Op;
use visakit_isa::table::{self, Group};

const SEND: &str = "a raw message to a shared function of the hardware";
const VIDEO: &str = "needs the video motion estimation or video analytics unit";
const PIPELINE: &str = "needs the 3D pipeline (render targets, URB)";
const UNDEFINED: &str = "its semantics are not published";

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

/// Why an instruction does not run; `None` if it does, as far as this table knows: single forms of an
/// instruction may still be refused.
#[must_use]
pub fn reason(op: Op) -> Option<&'static str> {
    match op {
        Op::RAW_SEND | Op::RAW_SENDS | Op::RAW_SENDG => Some(SEND),
        Op::LFSR | Op::SHFL_IDX4 | Op::DNSCL | Op::BDPAS | Op::PBARRIER => Some(UNDEFINED),
        Op::RT_WRITE_3D | Op::URB_WRITE_3D | Op::RT_READ => Some(PIPELINE),
        Op::AVS => Some("needs the adaptive video scaler of the media sampler"),
        _ if op.def().group == Group::Video => Some(VIDEO),
        _ => None,
    }
}
