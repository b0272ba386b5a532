//! Kernels in numbers.

use crate::live::Liveness;
use crate::pressure::Pressure;
use std::collections::BTreeMap;
use std::ops::AddAssign;
use visakit_isa::object::{Body, Item, Object, RoutineId};
use visakit_isa::semantics::{Action, AddressSpace, Flow};
use visakit_isa::table::Group;
use visakit_isa::{AnyInstruction, ExecSize, Instruction, Op, SurfaceId};

/// A routine in numbers that can be compared with those of other code for the same source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Lanes of a thread: the attribute `SimdSize`.
    pub simd: Option<u64>,
    /// Instructions, without labels and remarks.
    pub instructions: usize,
    /// Numbers of instructions by group of the instruction reference.
    pub groups: BTreeMap<Group, usize>,
    /// Instructions by execution size.
    pub exec_sizes: BTreeMap<u8, usize>,
    /// Memory messages by what they do and where.
    pub messages: BTreeMap<(&'static str, &'static str), Traffic>,
    /// Jumps within the routine, and those of them that lanes may take one by one.
    pub jumps: usize,
    /// See `jumps`.
    pub divergent: usize,
    /// Calls of subroutines and functions.
    pub calls: usize,
    /// Barriers.
    pub barriers: usize,
    /// Most registers in use at one instruction, as [`Pressure`] estimates it.
    pub registers: usize,
}

/// Messages of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Instructions.
    pub count: usize,
    /// Upper bound of the bytes that all of them transfer when each runs once, if instructions state it.
    pub bytes: u64,
}

impl Profile {
    /// Counts the content of a routine for registers of this size, 32 or 64.
    #[must_use]
    pub fn of(object: &Object<'_>, body: &Body<'_>, grf_bytes: u32) -> Self {
        let liveness = Liveness::of(object, body, grf_bytes);
        let peak = Pressure::of(&liveness, grf_bytes).peak();
        let simd = body
            .attributes
            .iter()
            .find(|attribute| body.string(attribute.name) == Some(b"SimdSize".as_slice()));
        let mut profile = Self {
            simd: simd.and_then(visakit_isa::object::Attribute::number),
            registers: peak.map_or(0, |(_, point)| point.registers),
            ..Self::default()
        };
        for item in &body.code {
            if let Item::Instruction(instruction) = item {
                profile.count(instruction);
            }
        }
        profile
    }

    /// Instructions that reach scratch memory, where finalizers and compilers spill registers to.
    #[must_use]
    pub fn spills(&self) -> usize {
        let scratch = self
            .messages
            .iter()
            .filter(|((_, space), _)| *space == SCRATCH);
        scratch.map(|(_, traffic)| traffic.count).sum()
    }

    fn count(&mut self, instruction: &Instruction) {
        let def = instruction.def();
        let control = instruction.flow();
        match def.flow {
            Flow::Label { .. } | Flow::Marker => return,
            Flow::Jump { .. } | Flow::Switch | Flow::Structured(_) => {
                self.jumps += 1;
                self.divergent += usize::from(control.diverges);
            }
            Flow::Call(_) => self.calls += 1,
            _ => {}
        }
        self.instructions += 1;
        *self.groups.entry(def.group).or_default() += 1;
        if let Some(lanes) = instruction.exec_size().and_then(ExecSize::lanes) {
            *self.exec_sizes.entry(lanes).or_default() += 1;
        }
        self.barriers += usize::from(matches!(
            instruction.op,
            Op::BARRIER | Op::SBARRIER | Op::NBARRIER
        ));
        if let Some(memory) = instruction.memory() {
            let key = (action(memory.action), space(memory.space));
            let traffic = self.messages.entry(key).or_default();
            traffic.count += 1;
            traffic.bytes += u64::from(memory.bytes().unwrap_or(0));
        }
    }
}

impl AddAssign<&Self> for Profile {
    /// Another routine of the same program. Registers are those of the routine that needs most.
    fn add_assign(&mut self, other: &Self) {
        self.simd = self.simd.or(other.simd);
        self.instructions += other.instructions;
        for (group, count) in &other.groups {
            *self.groups.entry(*group).or_default() += count;
        }
        for (lanes, count) in &other.exec_sizes {
            *self.exec_sizes.entry(*lanes).or_default() += count;
        }
        for (kind, traffic) in &other.messages {
            let own = self.messages.entry(*kind).or_default();
            own.count += traffic.count;
            own.bytes += traffic.bytes;
        }
        self.jumps += other.jumps;
        self.divergent += other.divergent;
        self.calls += other.calls;
        self.barriers += other.barriers;
        self.registers = self.registers.max(other.registers);
    }
}

const SCRATCH: &str = "scratch";
/// Index of the predefined surface of scratch memory.
const SCRATCH_SURFACE: SurfaceId = SurfaceId(5);

const fn action(action: Action) -> &'static str {
    match action {
        Action::Load | Action::Prefetch => "load",
        Action::Store => "store",
        Action::Atomic(_) | Action::AtomicCode => "atomic",
        Action::Status | Action::Query => "query",
        Action::CacheControl | Action::Compression | Action::Fence => "control",
    }
}

fn space(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Flat => "global",
        AddressSpace::Slm => "slm",
        AddressSpace::Surface(SCRATCH_SURFACE) => SCRATCH,
        AddressSpace::Surface(_) | AddressSpace::AnySurface => "surface",
        AddressSpace::Arguments => "arguments",
        AddressSpace::RenderTarget => "render target",
        AddressSpace::Urb => "urb",
        AddressSpace::All | AddressSpace::Unknown => "memory",
    }
}

/// Pairs the kernels of two lists: those with the same name, or the only ones of both. Followed by those that only the
/// first has, then those that only the second has.
#[must_use]
pub fn match_kernels(
    one: &[(RoutineId, String)],
    two: &[(RoutineId, String)],
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut pairs = Vec::new();
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, (_, name)) in two.iter().enumerate() {
        left.entry(name).or_insert(n);
    }
    let mut alone = Vec::new();
    for (n, (_, name)) in one.iter().enumerate() {
        match left.remove(name.as_str()) {
            Some(other) => pairs.push((Some(n), Some(other))),
            None => alone.push(n),
        }
    }
    let mut rest: Vec<usize> = left.into_values().collect();
    rest.sort_unstable();
    if let ([only], [other]) = (&*alone, &*rest) {
        pairs.push((Some(*only), Some(*other)));
        return pairs;
    }
    pairs.extend(alone.into_iter().map(|n| (Some(n), None)));
    pairs.extend(rest.into_iter().map(|n| (None, Some(n))));
    pairs
}
