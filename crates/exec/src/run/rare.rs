//! Steps that do not happen often.

use super::mask::{condition, enabled, taken};
use super::thread::{Pause, Thread, World};
use crate::code::{Action, Code, Step, Systolic};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::lanes::dpas::MOST_ACTIVATIONS;
use crate::machine::Registers;
use crate::program::Masking;

/// Runs a step that the loop of a thread has no code for.
#[inline(never)]
pub(super) fn rare(
    thread: &mut Thread,
    world: &mut World<'_>,
    step: &Step,
    masking: &Masking,
    clock: u64,
) -> Outcome {
    let next = thread.pc + 1;
    match &step.action {
        Action::Nothing => thread.pc = next,
        Action::ExecutionMask(place) => {
            let running = thread.running;
            thread.registers.write_u32(*place, running);
            thread.pc = next;
        }
        Action::Clock(place) => {
            // Deterministic: a count of instructions.
            thread.registers.set_element(*place, clock);
            thread.pc = next;
        }
        Action::Systolic(systolic) => {
            if systolic.fused {
                thread.pause = Pause::Fused(clock.saturating_sub(1));
                return Ok(());
            }
            let mask = enabled(masking, thread.running, &thread.registers.file);
            multiply(&mut thread.registers, systolic, mask);
            thread.pc = next;
        }
        Action::Switch { index, targets } => {
            let index = index.read(&thread.registers);
            let target = usize::try_from(index).ok().and_then(|i| targets.get(i));
            let Some(target) = target else {
                return Err(Trap::new(FaultKind::SwitchIndex(index)));
            };
            let running = thread.running;
            thread.settle(*target, running);
        }
        Action::Call {
            target,
            function,
            uniform,
        } => {
            let entered = entering(thread, masking, *uniform);
            thread.call(world, *target, *function, entered)?;
        }
        Action::CallAddress { address, uniform } => {
            let entered = entering(thread, masking, *uniform);
            if entered == 0 {
                thread.pc = next;
                return Ok(());
            }
            let address = address.read(&thread.registers);
            let function = Code::function_at(address);
            let routine = function.and_then(|f| world.program.code().routines.get(f));
            let Some(routine) = routine else {
                let mut trap = Trap::new(FaultKind::NoFunction);
                trap.address = Some(address);
                return Err(trap);
            };
            let entry = routine.entry;
            thread.call(world, entry, function, entered)?;
        }
        Action::Return { uniform } => {
            let lanes = if *uniform {
                if condition(masking, &thread.registers.file) {
                    thread.running
                } else {
                    0
                }
            } else {
                taken(masking, thread.running, &thread.registers.file, false)
            };
            thread.give_back(world, lanes);
        }
        Action::Barrier => {
            thread.pc = next;
            thread.pause = Pause::Barrier;
        }
        Action::Signal => {
            thread.signals += 1;
            thread.pc = next;
        }
        Action::Wait => {
            thread.pc = next;
            thread.pause = Pause::Split;
        }
        Action::NamedSignal(operands) => {
            let operands =
                operands.map(|o| u32::try_from(o.read(&thread.registers)).unwrap_or(u32::MAX));
            thread.pc = next;
            thread.pause = Pause::NamedSignal(operands);
        }
        Action::NamedWait(number) => {
            let number = u32::try_from(number.read(&thread.registers)).unwrap_or(u32::MAX);
            thread.pc = next;
            thread.pause = Pause::Named(number);
        }
        Action::Fault(kind) => return Err(Trap::new((**kind).clone())),
        Action::Compute(_)
        | Action::Message(_)
        | Action::Join
        | Action::Count(_)
        | Action::UpdateMode(_)
        | Action::Jump { .. }
        | Action::Goto { .. } => {}
    }
    Ok(())
}

/// Runs a systolic product that needs no other thread.
pub(super) fn multiply(registers: &mut Registers, systolic: &Systolic, mask: u32) {
    // A copy, as the result may be written over them.
    let mut copy = [0; MOST_ACTIVATIONS];
    let size = systolic.plan.sizes().activations;
    let bytes = registers.bytes(systolic.activations, size);
    for (to, from) in copy.iter_mut().zip(bytes.unwrap_or(&[])) {
        *to = *from;
    }
    let (plan, places) = (systolic.plan, systolic.places);
    plan.run(registers.simd, &mut registers.file, &copy, places, mask);
}

/// Lanes that a call takes along.
fn entering(thread: &Thread, masking: &Masking, uniform: bool) -> u32 {
    if !uniform {
        taken(masking, thread.running, &thread.registers.file, false)
    } else if condition(masking, &thread.registers.file) {
        thread.running
    } else {
        0
    }
}
