//! Steps that do not happen often.

use super::mask::{condition, enabled, taken};
use super::thread::{Pause, Thread, World};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::program::code::{Kind, Step};
use crate::program::translate::function_at;

/// Runs a step for which the loop of a thread has no code of its own.
#[inline(never)]
pub(super) fn rare(thread: &mut Thread, world: &mut World<'_>, step: &Step, clock: u64) -> Outcome {
    let next = thread.pc + 1;
    match &step.kind {
        Kind::Nothing => thread.pc = next,
        Kind::UpdateMode(place) => {
            let cr0 = thread.registers.read_u32(*place);
            thread.registers.mode = crate::lanes::mode::FloatMode::from_cr0(cr0);
            thread.pc = next;
        }
        Kind::ExecutionMask(place) => {
            let running = thread.running;
            thread.registers.write_u32(*place, running);
            thread.pc = next;
        }
        Kind::Clock(place) => {
            // Deterministic: a count of instructions.
            thread.registers.set_element(*place, clock);
            thread.pc = next;
        }
        Kind::Systolic(systolic) => {
            if systolic.fused {
                thread.pause = Pause::Fused;
                return Ok(());
            }
            let mask = enabled(step, thread.running, &thread.registers);
            let size = systolic.plan.sizes().activations;
            let activations = thread
                .registers
                .bytes(systolic.activations, size)
                .unwrap_or(&[])
                .to_vec();
            systolic.plan.run(
                &mut thread.registers.file,
                &activations,
                systolic.places,
                mask,
            );
            thread.pc = next;
        }
        Kind::Switch { index, targets } => {
            let index = index.read(&thread.registers);
            let target = usize::try_from(index).ok().and_then(|i| targets.get(i));
            let Some(target) = target else {
                return Err(Trap::new(FaultKind::SwitchIndex(index)));
            };
            let running = thread.running;
            thread.settle(*target, running);
        }
        Kind::Call {
            target,
            function,
            uniform,
        } => {
            let entered = entering(thread, step, *uniform);
            thread.call(world, *target, *function, entered)?;
        }
        Kind::CallAddress { address, uniform } => {
            let entered = entering(thread, step, *uniform);
            if entered == 0 {
                thread.pc = next;
                return Ok(());
            }
            let address = address.read(&thread.registers);
            let function = function_at(address);
            let routine = function.and_then(|f| world.program.code.routines.get(f));
            let Some(routine) = routine else {
                let mut trap = Trap::new(FaultKind::NoFunction);
                trap.address = Some(address);
                return Err(trap);
            };
            let entry = routine.entry;
            thread.call(world, entry, function, entered)?;
        }
        Kind::Return { uniform } => {
            let lanes = if *uniform {
                if condition(step, &thread.registers) {
                    thread.running
                } else {
                    0
                }
            } else {
                taken(step, thread.running, &thread.registers, false)
            };
            thread.give_back(world, lanes);
        }
        Kind::Barrier => {
            thread.pc = next;
            thread.pause = Pause::Barrier;
        }
        Kind::Signal => {
            thread.signals += 1;
            thread.pc = next;
        }
        Kind::Wait => {
            thread.pc = next;
            thread.pause = Pause::Split;
        }
        Kind::NamedSignal(operands) => {
            let operands =
                operands.map(|o| u32::try_from(o.read(&thread.registers)).unwrap_or(u32::MAX));
            thread.pc = next;
            thread.pause = Pause::NamedSignal(operands);
        }
        Kind::NamedWait(number) => {
            let number = u32::try_from(number.read(&thread.registers)).unwrap_or(u32::MAX);
            thread.pc = next;
            thread.pause = Pause::Named(number);
        }
        Kind::Fault(kind) => return Err(Trap::new((**kind).clone())),
        Kind::Alu(_) | Kind::Message(_) | Kind::Join | Kind::Jump { .. } | Kind::Goto { .. } => {}
    }
    Ok(())
}

/// Lanes that a call takes along.
fn entering(thread: &Thread, step: &Step, uniform: bool) -> u32 {
    if !uniform {
        taken(step, thread.running, &thread.registers, false)
    } else if condition(step, &thread.registers) {
        thread.running
    } else {
        0
    }
}
