//! What the machine reports: instructions, accesses, turns of groups.

use super::steps::Role;
use super::{Checker, small};
use crate::definedness::{self, Enabled, follow, follow_systolic, undefined_lanes};
use crate::finding::Access;
use crate::race::NAMED;
use crate::shadow::Shadow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use visakit_exec::code::{Compute, Systolic};
use visakit_exec::{Fault, InstructionEvent, LanesAccess, MemoryAccess, MissedTexel, Observer};

impl Observer for Checker {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = true;
    const ALL_REGISTERS: bool = false;

    fn group(&mut self, place: [u32; 3], size: [u32; 3]) {
        self.begin(place, size);
    }

    fn turn(&mut self, place: [u32; 3]) {
        self.go_on(place);
    }

    fn ended(&mut self) {
        self.end_of_group();
        self.end();
    }

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        self.group.instructions = event.begun.saturating_add(1);
        self.current = (small(event.step), event.thread);
        let running = event.running;
        self.running = running;
        let thread = self.thread(event.thread, running);
        if let Some((barrier, _)) = thread.pending.take() {
            self.order.leave(event.thread, barrier);
            if barrier >= NAMED {
                self.left_named(event.thread, barrier);
            }
        }
        let Some(info) = self.steps.get(event.step) else {
            return ControlFlow::Continue(());
        };
        let lanes = info.lanes;
        match &info.role {
            Role::Nothing => {}
            Role::Systolic(systolic) => {
                if self.tracks
                    && let Some(Some(thread)) = self.group.threads.get_mut(event.thread)
                {
                    let lanes = (lanes, event.mask);
                    systolic_product(systolic, lanes, event.registers, &mut thread.shadow);
                }
            }
            Role::Compute {
                compute,
                reads,
                address,
                indirect,
            } => {
                let mut needs_shadow = self.tracks;
                if (*address || *indirect) && event.mask != 0 {
                    let (compute, address, indirect) = (Arc::clone(compute), *address, *indirect);
                    if address {
                        self.note_address(&compute, lanes, event);
                    }
                    let outside = match indirect && self.checks.memory {
                        true => self.check_indirect(&compute, lanes, event),
                        false => Vec::new(),
                    };
                    self.tracks |= !outside.is_empty();
                    needs_shadow |= self.tracks;
                    if needs_shadow
                        && let Some(Some(thread)) = self.group.threads.get_mut(event.thread)
                    {
                        let enabled = Enabled::all(event.mask);
                        let shadow = &mut thread.shadow;
                        follow(&compute, lanes, enabled, event.registers, shadow);
                        let bytes = usize::from(compute.destination.data_type.size());
                        for (to, origin) in outside {
                            shadow.set_element(to, bytes, u64::MAX, origin);
                        }
                    }
                } else if needs_shadow
                    && let Some(Some(thread)) = self.group.threads.get_mut(event.thread)
                {
                    let predicate = self.code.steps.get(event.step).and_then(|s| s.predicate);
                    let shadow = &mut thread.shadow;
                    let unsure = predicate.map_or(0, |flag| {
                        let running = running.checked_shr(info.first.into()).unwrap_or(0);
                        undefined_lanes(&flag, event.registers, shadow) & running
                    });
                    let defined = |r: &Range<usize>| shadow.is_defined(r.start, r.len());
                    if unsure == 0 && reads.as_ref().is_some_and(|r| r.iter().all(defined)) {
                        define(compute, lanes, event.mask, event.registers, shadow);
                    } else if event.mask | unsure != 0 {
                        let origin = predicate.map(|flag| shadow.origin(flag.offset as usize, 4));
                        let enabled = Enabled {
                            mask: event.mask,
                            unsure,
                            predicate: origin.unwrap_or_default(),
                        };
                        follow(compute, lanes, enabled, event.registers, shadow);
                    }
                }
                if self.checks.arithmetic {
                    self.look_at_arithmetic(event);
                    self.look_at_addresses(event);
                }
            }
            Role::Message { .. } => self.message(event),
            Role::Fence {
                local,
                beyond_group,
            } => {
                let (local, beyond_group) = (*local, *beyond_group);
                self.order.fence(event.thread, local, beyond_group);
            }
            Role::Barrier { signals, waits } => {
                let (signals, waits) = (*signals, *waits);
                self.barrier(event, signals, waits);
            }
            Role::NamedSignal(operands) => {
                let operands = *operands;
                self.named_signal(event, operands);
            }
            Role::NamedWait(number) => {
                let number = *number;
                self.named_wait(event, number);
            }
            Role::Branch => self.branch(event),
        }
        ControlFlow::Continue(())
    }

    fn unwatched(&self) -> &[u16] {
        if self.tracks { &[] } else { &self.unwatched }
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        if !self.reading.is_empty() {
            self.have_read(event.registers);
        }
        if self.checks.arithmetic {
            self.look_at_results(event);
        }
    }

    fn memory(&mut self, access: &MemoryAccess, registers: &[u8]) {
        if !(self.checks.memory || self.checks.uninitialized || self.checks.race) {
            return;
        }
        self.accessing = Some(Access::new(access.write, access.atomic));
        self.access(access, registers);
        self.accessing = None;
    }

    fn lanes(&mut self, access: &LanesAccess, _: &[u8]) -> bool {
        if !(self.checks.memory || self.checks.uninitialized || self.checks.race) {
            return true;
        }
        self.all_lanes(access)
    }

    fn dropped(&mut self, access: &MemoryAccess) {
        self.accessing = Some(Access::new(access.write, access.atomic));
        self.look_at_dropped(access);
        self.accessing = None;
    }

    fn missed(&mut self, texel: &MissedTexel) {
        self.look_at_missed(texel);
    }

    fn fault(&mut self, fault: &Fault) -> ControlFlow<()> {
        self.faulted(fault);
        self.end();
        ControlFlow::Continue(())
    }
}

/// Tracks a systolic product.
fn systolic_product(
    systolic: &Systolic,
    (lanes, mask): (usize, u32),
    registers: &[u8],
    shadow: &mut Shadow,
) {
    let defined = |range: Range<usize>| shadow.is_defined(range.start, range.len());
    let all = u64::from(mask) == (1u64 << lanes) - 1;
    if all && systolic.reads().all(defined) {
        shadow.define(systolic.result(), systolic.result_bytes());
    } else {
        follow_systolic(systolic, (lanes, mask), registers, shadow);
    }
}

/// Marks what a computation writes as defined.
fn define(compute: &Compute, lanes: usize, mask: u32, registers: &[u8], shadow: &mut Shadow) {
    use visakit_exec::code::Target;
    for to in std::iter::once(&compute.destination).chain(&compute.second) {
        let bytes = usize::from(to.data_type.size());
        let whole = u64::from(mask) == (1u64 << lanes) - 1;
        if to.target == Target::Packed && whole {
            shadow.define(to.offset, lanes * bytes);
            continue;
        }
        if to.target == Target::Null {
            continue;
        }
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 != 0) {
            if let Some(at) = to.place(lane, registers) {
                shadow.define(at, bytes);
            }
        }
    }
    if let Some(flag) = &compute.sets {
        let keep = !((mask & flag.window) << flag.first);
        let word = definedness::flag_word(flag, shadow);
        if word & !keep != 0 {
            let origin = shadow.origin(flag.offset as usize, 4);
            shadow.set_element(flag.offset as usize, 4, (word & keep).into(), origin);
        }
    }
}
