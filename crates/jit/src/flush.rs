//! Float modes in which denormals count as zero.
//!
//! The host's own switch for results asks whether a result is tiny before it is rounded to the smallest normal number,
//! this machine's after that. So sources and results are flushed by instructions of their own, below a limit that
//! stands in the context: the smallest normal number, or zero where denormals of the type are kept.

use crate::Features;
use crate::ops;
use crate::pages::place as fields;
use crate::vector::{Chunks, Writer, field};
use iced_x86::{Code, Register};
use std::collections::BTreeSet;
use visakit_exec::USUAL_MODE;
use visakit_exec::code::{Action, Block, Code as Program, Operation, Region, Step};

impl Writer {
    /// Lanes of floats whose magnitude is below the limit become zero of the same sign. Registers 6 and 7 are lost.
    pub(crate) fn flush(&mut self, c: Chunks, n: u32) {
        let limit = field(if c.lane == 4 {
            fields::FLUSHED_F
        } else {
            fields::FLUSHED_DF
        });
        let rest = self.every(c, !(1 << 31), !(1 << 63));
        self.v3m(c, ops::AND, 6, n, rest);
        if self.features == Features::Avx512 {
            let (code, and) = match (c.zmm, c.lane) {
                (true, 4) => (
                    Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
                    Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
                ),
                (true, _) => (
                    Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
                    Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
                ),
                (false, 4) => (
                    Code::EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8,
                    Code::EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
                ),
                (false, _) => (
                    Code::EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8,
                    Code::EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64,
                ),
            };
            self.asm.op3i(code, Register::K2, c.register(6), limit, 1);
            let sign = self.every(c, 1 << 31, 1 << 63);
            self.asm.op3(and, c.register(n), c.register(n), sign);
            self.asm.mask(Register::K2);
        } else {
            let greater = if c.lane == 4 {
                Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256
            } else {
                Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256
            };
            self.v2(c, ops::MOVE, 7, limit);
            self.asm
                .op3(greater, c.register(7), c.register(7), c.register(6));
            // All but the sign goes.
            self.v3(c, ops::AND, 7, 7, 6);
            self.v3(c, ops::ANDN, n, 7, n);
        }
    }

    /// What is no number signals no more; every other number stays.
    pub(crate) fn quiet(&mut self, c: Chunks, n: u32) {
        let zero = self.every(c, 1 << 31, 1 << 63);
        let add = if c.lane == 4 {
            ops::ADD_PS
        } else {
            ops::ADD_PD
        };
        self.v3m(c, add, n, n, zero);
    }
}

/// The blocks, by their first steps, that threads may come to in a mode that flushes: those that some path reaches on
/// which the last write of `%cr0` may have cleared a bit that keeps denormals, or on which there is none.
pub(crate) fn may_flush(code: &Program) -> BTreeSet<usize> {
    let blocks = code.blocks();
    let steps = |block: &Block| code.steps.get(block.steps.clone()).unwrap_or(&[]);
    // Whether it flushes after a block: yes, no, or as before it.
    let after = |block: &Block| {
        let all = steps(block);
        let last = all
            .iter()
            .rposition(|s| matches!(s.action, Action::UpdateMode(_)))?;
        Some(!keeps(code, all.get(..=last).unwrap_or(&[])))
    };
    let entries = code.routines.iter().map(|r| r.entry);
    let mut todo: Vec<usize> = entries
        .filter_map(|entry| blocks.iter().position(|b| b.steps.start == entry))
        .collect();
    // A callee may have written it.
    for (number, block) in blocks.iter().enumerate() {
        let last = steps(block).last();
        let calls = last
            .is_some_and(|s| matches!(s.action, Action::Call { .. } | Action::CallAddress { .. }));
        if calls {
            todo.push(number + 1);
        }
        if after(block) == Some(true) {
            todo.extend(block.edges.iter().map(|edge| edge.block()));
        }
    }
    let mut found = BTreeSet::new();
    let mut seen = vec![false; blocks.len()];
    while let Some(number) = todo.pop() {
        let (Some(block), Some(seen)) = (blocks.get(number), seen.get_mut(number)) else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        found.insert(block.steps.start);
        if after(block).is_none() {
            todo.extend(block.edges.iter().map(|edge| edge.block()));
        }
    }
    found
}

/// Whether the last step, which reports a write to `%cr0`, follows one that sets all bits that keep denormals.
fn keeps(code: &Program, steps: &[Step]) -> bool {
    let [.., before, last] = steps else {
        return false;
    };
    let (Action::Compute(compute), Action::UpdateMode(place)) = (&before.action, &last.action)
    else {
        return false;
    };
    let constant = match (compute.operation, &compute.sources) {
        (Operation::Copy, [a, ..]) => Some(a),
        (Operation::Or, [a, b, ..]) => [a, b].into_iter().find(|s| s.constant.is_some()),
        _ => None,
    };
    let Some(constant) = constant.filter(|s| s.constant.is_some()) else {
        return false;
    };
    let plain = constant.region == Region::Scalar
        && constant.modify == visakit_exec::code::Modify::None
        && constant.data_type.size() == 4
        && compute.destination.data_type.size() == 4
        && !compute.destination.saturate
        && compute.destination.offset == *place
        && compute.destination.target == visakit_exec::code::Target::Packed
        && before.predicate.is_none()
        && before.lanes.no_mask;
    let value = code.constant(constant.offset).unwrap_or(0);
    plain && value & u64::from(USUAL_MODE) == u64::from(USUAL_MODE)
}
