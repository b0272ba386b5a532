//! Translated code as plain data: steps with resolved operands, routines, basic blocks.
//!
//! Nothing here runs anything: when a program is loaded, the interpreter binds each step to the
//! function that runs it. Code that prints, checks, rewrites or compiles a program reads the same
//! steps.

mod assigned;
mod blocks;
mod count;
mod display;
mod effects;
mod live;
mod modes;
mod nameless;
mod relocate;
pub(crate) mod uses;
mod verify;

pub(crate) use assigned::{exposed, lanes};
pub use blocks::{Block, Edge};
pub(crate) use count::Tallies;
pub use count::{Count, StepCounts};
pub use live::{Dwords, Liveness, Walk};
pub use modes::Modes;
pub use nameless::Nameless;
pub use verify::Violation;

pub use crate::message::plain::{
    Element, LaneAtomic, LaneMessage, LaneOperand, LaneSpace, MessageOperands,
};
pub use crate::operands::{
    Combine, Destination, DotTerms, Extension, Flag, FourBits, Lane, Lanes, Modify, Narrowing,
    Offsets, Operation, Precision, RawPlace, Region, Relation, Scalar, Source, StatePlace, Target,
};
pub(crate) use crate::operands::{extend, full, raw};

use crate::fault::FaultKind;
pub use crate::lanes::dpas::{Bits, ProductFormat};
use crate::lanes::dpas::{Places, Plan};
use crate::message;
use std::ops::Range;
use std::sync::Arc;
use visakit_isa::object::RoutineId;
pub use visakit_isa::semantics::AtomicOp;
use visakit_isa::{DataType, Op};

/// The alignment of a variable of this size in the register file: that of the host's widest vectors if it fills one, so
/// that no access crosses a cache line.
pub(crate) const fn alignment(size: usize) -> usize {
    if size < 64 { 32 } else { 64 }
}

/// Bytes at the end of the register file that wide reads and writes may touch: 32 elements of 8 bytes.
pub(crate) const TAIL: usize = 256;

/// An entry of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Lanes and execution mask.
    pub lanes: Lanes,
    /// Predication.
    pub predicate: Option<Flag>,
    /// The action.
    pub action: Action,
    /// The instruction it was translated from.
    pub origin: Origin,
    /// Whether it is a comparison on whose outcome the next step branches, for those who run the two as one.
    pub fused: bool,
}

/// The origin of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Place of the routine in [`Code::routines`].
    pub routine: u32,
    /// Place of the instruction in the routine's code.
    pub instruction: u32,
    /// The operation; `None` for bytes that could not be decoded and for the end of a routine.
    pub op: Option<Op>,
}

impl Origin {
    /// Before the step is put into the code.
    pub(crate) const NONE: Self = Self {
        routine: 0,
        instruction: 0,
        op: None,
    };
}

impl Step {
    /// A step that does not depend on lanes.
    pub(crate) const fn plain(action: Action) -> Self {
        Self {
            lanes: Lanes::ONE,
            predicate: None,
            action,
            origin: Origin::NONE,
            fused: false,
        }
    }
}

impl Step {
    /// Whether it is a comparison on whose outcome the next step branches.
    pub(crate) fn is_tested_by(&self, next: &Self) -> bool {
        let sets = match &self.action {
            Action::Compute(compute) if matches!(compute.operation, Operation::Compare(_)) => {
                compute.sets
            }
            _ => None,
        };
        let tests = match next.action {
            Action::Jump { .. } | Action::Goto { .. } => next.predicate,
            _ => None,
        };
        let (sets, tests) = (sets.map(|f| f.offset), tests.map(|f| f.offset));
        sets.is_some() && sets == tests
    }
}

/// The action of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Arithmetic, logic, moves.
    Compute(Arc<Compute>),
    /// A systolic dot product.
    Systolic(Box<Systolic>),
    /// A memory message.
    Message(Arc<Message>),
    /// Waiting lanes may join here. Not an instruction.
    Join,
    /// An instruction without effect.
    Nothing,
    /// `%cr0` was written, the word at this place. Not an instruction.
    UpdateMode(usize),
    /// `%ce0`, at this place, is about to be read. Not an instruction.
    ExecutionMask(usize),
    /// `%tsc`, at this place, is about to be read. Not an instruction.
    Clock(usize),
    /// Counts for a profile. Not an instruction.
    Count(Box<Count>),
    /// All running lanes jump if the first lane of the predicate is set (or clear).
    Jump {
        /// Step to continue with.
        target: usize,
        /// Whether a clear predicate jumps.
        inverted: bool,
    },
    /// Enabled lanes jump.
    Goto {
        /// Step to continue with.
        target: usize,
        /// Whether the lanes that the predicate disables jump instead.
        inverted: bool,
    },
    /// All running lanes jump to one of the targets.
    Switch {
        /// The index.
        index: Scalar,
        /// Steps to continue with.
        targets: Box<[usize]>,
    },
    /// Call of a subroutine or a function of the program.
    Call {
        /// First step of the callee.
        target: usize,
        /// Place of the function in [`Code::routines`]; `None` for a subroutine.
        function: Option<usize>,
        /// Whether all running lanes call, or none.
        uniform: bool,
    },
    /// Call of a function by address.
    CallAddress {
        /// The address.
        address: Scalar,
        /// Whether all running lanes call, or none.
        uniform: bool,
    },
    /// Return from a subroutine, a function or the kernel.
    Return {
        /// Whether all running lanes return, or none.
        uniform: bool,
    },
    /// Waits for the other threads of the group.
    Barrier,
    /// First half of a split barrier.
    Signal,
    /// Second half of a split barrier.
    Wait,
    /// Signal to a named barrier: number, kind of thread (0 both, 1 producer, 2 consumer), producers,
    /// consumers.
    NamedSignal(Box<[Scalar; 4]>),
    /// Waits for a named barrier.
    NamedWait(Scalar),
    /// A fault when it is reached.
    Fault(Box<FaultKind>),
}

impl Action {
    /// Whether it represents an instruction of the routine.
    #[must_use]
    pub const fn is_instruction(&self) -> bool {
        !matches!(
            self,
            Self::Join
                | Self::UpdateMode(_)
                | Self::ExecutionMask(_)
                | Self::Clock(_)
                | Self::Count(_)
        )
    }

    /// Whether it only computes or accesses memory, so that the next step always follows.
    #[must_use]
    pub fn is_straight(&self) -> bool {
        match self {
            Self::Compute(_) | Self::Message(_) | Self::Nothing => true,
            Self::Systolic(systolic) => !systolic.fused,
            _ => false,
        }
    }
}

/// A computation on registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compute {
    /// The operation.
    pub operation: Operation,
    /// In which type.
    pub lane: Lane,
    /// Whose rounding and denormals floats follow.
    pub precision: Precision,
    /// The destination of the result.
    pub destination: Destination,
    /// The destination of the second result, which few operations have.
    pub second: Option<Destination>,
    /// The predicate variable that is written.
    pub sets: Option<Flag>,
    /// As many as the operation has; the others are not used.
    pub sources: [Source; 4],
    /// Predicate variables that are read as data.
    pub flags: [Flag; 2],
}

impl Compute {
    /// Whether all lanes have the same result, because each source is one element for all of them.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        let used = self.operation.sources();
        let mut sources = self.sources.iter().take(used);
        self.operation.is_by_lane()
            && self.operation.flags() == 0
            && sources.all(|source| source.region == Region::Scalar)
    }
}

/// A systolic dot product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Systolic {
    pub(crate) plan: Plan,
    pub(crate) places: Places,
    /// Place of the activations.
    pub(crate) activations: usize,
    /// Bytes to the end of their variable.
    pub(crate) available: usize,
    /// Whether two fused threads share the activations.
    pub(crate) fused: bool,
}

/// A systolic product for machine code: [`Systolic::product`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// Places of result, accumulator, weights and activations; without an accumulator sums begin with zero.
    pub result: usize,
    /// See above.
    pub accumulator: Option<usize>,
    /// See above.
    pub weights: usize,
    /// See above.
    pub activations: usize,
    /// The format of weights and of activations.
    pub formats: [ProductFormat; 2],
    /// The types of result and accumulator.
    pub types: [DataType; 2],
    /// Rows of the result, and elements of a row.
    pub rows: usize,
    /// See above.
    pub lanes: usize,
    /// Steps of depth: words of weights for each lane.
    pub depth: usize,
}

impl Systolic {
    /// What it computes; `None` if a fused thread has a part of its activations, if factors have scales, or another format.
    #[must_use]
    pub fn product(&self) -> Option<Product> {
        let (plan, places) = (self.plan, self.places);
        let scaled = places.weight_scales.is_some() || places.activation_scales.is_some();
        if self.fused || scaled {
            return None;
        }
        let [Some(weights), Some(activations)] = plan.formats() else {
            return None;
        };
        let (result, accumulator) = plan.types();
        Some(Product {
            result: places.result,
            accumulator: places.accumulator,
            weights: places.weights,
            activations: self.activations,
            formats: [weights, activations],
            types: [result, accumulator],
            rows: plan.rows(),
            lanes: plan.lanes(),
            depth: plan.depth(),
        })
    }

    /// First byte of the result in the register file.
    #[must_use]
    pub const fn result(&self) -> usize {
        self.places.result
    }

    /// Bytes of the result.
    #[must_use]
    pub fn result_bytes(&self) -> usize {
        self.plan.sizes().result
    }

    /// Rows of the result, each with an element for each lane.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.plan.rows()
    }

    /// An element of the result and of the accumulator, if there is one.
    #[must_use]
    pub fn element(&self, row: usize, lane: usize) -> (Range<usize>, Option<Range<usize>>) {
        let number = row * self.plan.lanes() + lane;
        let of = |place: usize, bytes: usize| place + number * bytes..place + (number + 1) * bytes;
        let accumulator = self.places.accumulator;
        (
            of(self.places.result, self.plan.result_bytes()),
            accumulator.map(|place| of(place, self.plan.accumulator_bytes())),
        )
    }

    /// The factors of the products of an element of the result: a weight and an activation each. Activations that the
    /// other one of two fused threads has are left out.
    pub fn products(&self, row: usize, lane: usize) -> impl Iterator<Item = [Bits; 2]> {
        let (weights, activations) = (8 * self.places.weights, 8 * self.activations);
        let available = 8 * self.available;
        let products = self.plan.products(row, lane);
        let own = products.filter(move |[_, activation]| activation.first < available);
        own.map(move |[weight, activation]| [weight.after(weights), activation.after(activations)])
    }

    /// The scales of weights and activations.
    pub fn scales(&self) -> impl Iterator<Item = Range<usize>> {
        let (places, sizes) = (self.places, self.plan.sizes());
        let all = [
            (places.weight_scales, sizes.weight_scales),
            (places.activation_scales, sizes.activation_scales),
        ];
        let range = |(place, bytes): (Option<usize>, usize)| place.map(|at| at..at + bytes);
        all.into_iter().filter_map(range)
    }

    /// Parts of the register file that it reads.
    pub fn reads(&self) -> impl Iterator<Item = Range<usize>> {
        let (places, sizes) = (self.places, self.plan.sizes());
        let all = [
            (places.accumulator, sizes.accumulator),
            (Some(places.weights), sizes.weights),
            (Some(self.activations), sizes.activations),
            (places.weight_scales, sizes.weight_scales),
            (places.activation_scales, sizes.activation_scales),
        ];
        let range = |(place, bytes): (Option<usize>, usize)| place.map(|at| at..at + bytes);
        all.into_iter().filter_map(range)
    }
}

/// A message to memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message(pub(crate) message::Message);

impl Message {
    /// A one-word description.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The parts of the register file that it reads and writes.
    #[must_use]
    pub fn operands(&self) -> MessageOperands {
        self.0.operands()
    }

    /// Whether it only orders the accesses before and after it.
    #[must_use]
    pub const fn is_fence(&self) -> bool {
        matches!(self.0, message::Message::Fence { .. })
    }

    /// Whether it is a fence whose order other groups see.
    #[must_use]
    pub const fn orders_groups(&self) -> bool {
        matches!(
            self.0,
            message::Message::Fence {
                beyond_group: true,
                ..
            }
        )
    }

    /// Of a fence, whether it orders accesses to shared local memory; global ones otherwise. Nothing of other messages.
    #[must_use]
    pub const fn fences_local(&self) -> Option<bool> {
        match self.0 {
            message::Message::Fence { local, .. } => Some(local),
            _ => None,
        }
    }

    /// The message as a plain access of each lane, if it is one.
    #[must_use]
    pub fn lanes(&self) -> Option<LaneMessage> {
        self.0.plain()
    }

    /// The message as a plain access of each lane, whatever memory it reaches, such as a surface that a handle names:
    /// [`LaneMessage::space`] says nothing here.
    #[must_use]
    pub fn by_lane(&self) -> Option<LaneMessage> {
        self.0.plain_in(LaneSpace::Global)
    }
}

/// A routine of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routine {
    /// Its id in the object.
    pub id: RoutineId,
    /// Its name.
    pub name: String,
    /// First step.
    pub entry: usize,
    /// Parts of the register file that a recursive call saves.
    pub own: [Range<usize>; 2],
}

/// The code of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// All steps of all routines, one routine after the other.
    pub steps: Vec<Step>,
    /// The kernel, then the functions it may call.
    pub routines: Vec<Routine>,
    /// Instructions of all routines.
    pub instructions: usize,
    /// Largest execution size of control flow.
    pub largest: u32,
    /// Constants: their place in the register file and their bytes, ascending.
    pub constants: Vec<(usize, Vec<u8>)>,
    /// Bytes of the register file.
    pub register_bytes: usize,
}

impl Code {
    /// The first 64 bits of the constant at a place of the register file.
    #[must_use]
    pub fn constant(&self, offset: usize) -> Option<u64> {
        let after = self
            .constants
            .partition_point(|(place, _)| *place <= offset);
        let (place, bytes) = after.checked_sub(1).and_then(|i| self.constants.get(i))?;
        let bytes = bytes.get(offset - place..).filter(|b| !b.is_empty())?;
        let mut word = [0; 8];
        word.get_mut(..bytes.len().min(8))?
            .copy_from_slice(bytes.get(..bytes.len().min(8))?);
        Some(u64::from_le_bytes(word))
    }

    /// The place of a constant of 64 bits. A new one follows the others, at the end of the register file.
    pub(crate) fn add_constant(&mut self, bits: u64) -> usize {
        let bytes = bits.to_le_bytes();
        if let Some(place) = place_of(&self.constants, &bytes) {
            return place;
        }
        let end = self.register_bytes.saturating_sub(TAIL);
        let last = self.constants.last().map(|(place, own)| place + own.len());
        let place = last.unwrap_or(end).next_multiple_of(8);
        self.register_bytes = (place + 8).next_multiple_of(64).max(end) + TAIL;
        self.constants.push((place, bytes.to_vec()));
        place
    }
}

/// The place of a constant that there is. Programs have thousands of them, and use one again soon: only the last are looked at.
pub(crate) fn place_of(constants: &[(usize, Vec<u8>)], bytes: &[u8]) -> Option<usize> {
    let mut last = constants.iter().rev().take(64);
    let (place, _) = last.find(|(_, content)| content == bytes)?;
    Some(*place)
}

/// The addresses of functions, for `faddr` and calls by address.
const FUNCTIONS: u64 = 0x4000_0000;

impl Code {
    /// The address of a function, by its place among the routines.
    #[must_use]
    pub fn function_address(routine: usize) -> u64 {
        FUNCTIONS + 64 * u64::try_from(routine).unwrap_or(0)
    }

    /// The place of the function at an address.
    #[must_use]
    pub fn function_at(address: u64) -> Option<usize> {
        let offset = address.checked_sub(FUNCTIONS)?;
        if offset % 64 != 0 || offset == 0 {
            return None;
        }
        usize::try_from(offset / 64).ok()
    }
}
