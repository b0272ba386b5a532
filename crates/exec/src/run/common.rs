//! The loop over computations that follow each other, jumps, joins, changes of the float mode, and messages whose accesses
//! are not observed.
//!
//! Everything else, observers and machine code are left to the loop of a thread.

use super::Interrupt;
use super::mask::{condition, enabled, taken};
use super::waiting::Waiting;
use crate::code::{Count, Message};
use crate::fault::Outcome;
use crate::lanes::mode::FloatMode;
use crate::lanes::simd::{Host, Kernel};
use crate::machine::Registers;
use crate::memory::{Local, Memory};
use crate::program::{Loaded, Masking, Program, Work};

/// The lanes of a thread that steps work on.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    /// The running ones; masks and predicates of the steps determine which are enabled.
    Running,
    /// The enabled lanes of each step.
    Enabled(u32),
}

/// How many steps run.
#[derive(Clone, Copy)]
pub(super) enum Extent<'a> {
    /// As many as can.
    All,
    /// Those that an observer does not watch; see [`crate::Observer::unwatched`].
    Unwatched(&'a [u16]),
    /// Computations that follow each other, or one other step.
    Straight,
    /// One.
    One,
}

/// The state that the steps run on, and how far they got.
pub(super) struct Common<'a, 'p> {
    pub(super) program: &'p Program,
    /// Its steps in the float mode of the registers.
    pub(super) steps: &'p [Loaded],
    pub(super) lanes: Lanes,
    pub(super) extent: Extent<'a>,
    /// Whether messages run, too.
    pub(super) messages: bool,
    pub(super) registers: &'a mut Registers,
    pub(super) local: Local<'a>,
    pub(super) memory: &'a Memory,
    pub(super) interrupt: Option<&'a Interrupt>,
    pub(super) waiting: &'a mut Waiting,
    /// Where the waiting lanes of the frame begin.
    pub(super) base: usize,
    /// The step that is next.
    pub(super) place: usize,
    pub(super) running: u32,
    /// Instructions that may run.
    pub(super) left: u64,
    /// Enabled lanes of all instructions.
    pub(super) lane_operations: u64,
}

impl Common<'_, '_> {
    /// Runs steps up to one that is left to others, or that has a fault: that one is the next.
    pub(super) fn run(&mut self) -> Outcome {
        self.registers.simd.run(Steps(self))
    }

    /// Runs a message. It is a call: its code would only make the loop larger.
    #[inline(never)]
    fn message(&mut self, message: &Message, mask: u32) -> Outcome {
        let (registers, local) = (&mut *self.registers, &mut self.local);
        message.0.run(registers, local, self.memory, mask, &mut ())
    }
}

/// The loop itself: one function, so that what it works with stays in registers of the host.
struct Steps<'a, 'c, 'p>(&'a mut Common<'c, 'p>);

impl Kernel for Steps<'_, '_, '_> {
    type Output = Outcome;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, host: H) -> Outcome {
        let Self(common) = self;
        let (lanes, base) = (common.lanes, common.base);
        let (mut place, mut running) = (common.place, common.running);
        let (mut left, mut lane_operations) = (common.left, common.lane_operations);
        let outcome = loop {
            let steps = common.steps;
            let Some(step) = steps.get(place) else {
                break stopped();
            };
            if left == 0 {
                break stopped();
            }
            let of_step = |file: &[u8]| match lanes {
                Lanes::Running => enabled(&step.masking, running, file),
                Lanes::Enabled(mask) => mask,
            };
            match &step.work {
                Work::Hot(_) => {
                    let most = match common.extent {
                        Extent::One => 1,
                        Extent::Unwatched(steps) => unwatched(steps, place),
                        Extent::All | Extent::Straight => u16::MAX,
                    };
                    let most = most.min(u16::try_from(left).unwrap_or(u16::MAX));
                    let count = step.hot.min(most);
                    left -= u64::from(count);
                    let end = place + usize::from(count);
                    let hot = steps.get(place..end).unwrap_or_default();
                    place = end;
                    let file = &mut common.registers.file[..];
                    for step in hot {
                        let mask = match lanes {
                            Lanes::Running => enabled(&step.masking, running, file),
                            Lanes::Enabled(mask) => mask,
                        };
                        lane_operations += u64::from(mask.count_ones());
                        if let Work::Hot(hot) = &step.work
                            && mask != 0
                        {
                            hot.run(host, file, mask);
                        }
                    }
                }
                Work::Compute(bound) => {
                    let mask = of_step(&common.registers.file);
                    left -= 1;
                    lane_operations += u64::from(mask.count_ones());
                    if mask != 0 {
                        // The fault is reported at its step.
                        if let Err(trap) = bound.run(step.masking.count, common.registers, mask) {
                            break Err(trap);
                        }
                    }
                    place += 1;
                }
                Work::Message(message) => {
                    if !common.messages {
                        break stopped();
                    }
                    let mask = of_step(&common.registers.file);
                    left -= 1;
                    lane_operations += u64::from(mask.count_ones());
                    if let Err(trap) = common.message(message, mask) {
                        break Err(trap);
                    }
                    place += 1;
                    if common.interrupt.is_some_and(Interrupt::is_raised) {
                        break stopped();
                    }
                }
                Work::Join => {
                    running = common.waiting.join(base, (place, running));
                    place += 1;
                }
                Work::Count(count) => {
                    tally_all(count, &step.masking, running, common.registers);
                    place += 1;
                }
                Work::UpdateMode(at) => {
                    let cr0 = common.registers.read_u32(*at);
                    common.registers.mode = FloatMode::from_cr0(cr0);
                    common.steps = common.program.steps(common.registers.mode);
                    place += 1;
                }
                Work::Jump { target, inverted } => {
                    left -= 1;
                    lane_operations += 1;
                    let jumps = step.masking.predicate.is_none()
                        || condition(&step.masking, &common.registers.file) != *inverted;
                    if jumps {
                        (place, running) = common.waiting.settle(base, (*target, running));
                    } else {
                        place += 1;
                    }
                }
                Work::Goto { target, inverted } => {
                    left -= 1;
                    lane_operations += u64::from(running.count_ones());
                    let taken = taken(&step.masking, running, &common.registers.file, *inverted);
                    let at = (place, running);
                    (place, running) = common.waiting.branch(base, at, *target, taken);
                }
                Work::Other { .. } => break stopped(),
            }
            match common.extent {
                Extent::All => {}
                Extent::Unwatched(steps) if unwatched(steps, place) != 0 => {}
                Extent::Straight if step.work.computes() => match steps.get(place) {
                    Some(next) if next.work.computes() => {}
                    _ => break stopped(),
                },
                Extent::Unwatched(_) | Extent::Straight | Extent::One => break stopped(),
            }
        };
        (common.place, common.running) = (place, running);
        (common.left, common.lane_operations) = (left, lane_operations);
        outcome
    }
}

/// The end of the loop. As a call, and a cold one, it tells the compiler what the loop is for: otherwise it takes the code of
/// most kinds of steps for cold, as there are so many, and leaves them out of the loop.
#[cold]
#[inline(never)]
fn stopped() -> Outcome {
    Ok(())
}

/// How many steps from this one on are not observed.
pub(super) fn unwatched(steps: &[u16], place: usize) -> u16 {
    steps.get(place).copied().unwrap_or(0)
}

/// Counts a step.
#[inline(never)]
fn tally_all(count: &Count, masking: &Masking, running: u32, registers: &mut Registers) {
    let mask = enabled(masking, running, &registers.file);
    tally(registers, count.times, 1);
    tally(registers, count.lanes, mask.count_ones().into());
    let lanes = mask << masking.first;
    if lanes != 0 && lanes != running {
        tally(registers, count.parts, 1);
    }
}

/// Adds to a counter.
fn tally(registers: &mut Registers, place: Option<usize>, more: u64) {
    if let Some(place) = place {
        let before: u64 = registers.element(place);
        registers.set_element(place, before.wrapping_add(more));
    }
}
