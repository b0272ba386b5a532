//! The role of a program's steps in the checks, and what is known about its registers without running it.

use crate::definedness;
use crate::finding::Checks;
use std::ops::Range;
use std::sync::Arc;
use visakit_exec::code::{
    Action, Code, Compute, MessageOperands, Operation, Region, Scalar, Step, Systolic, Target,
};
use visakit_isa::Op;

/// The role of a step in the checks.
#[derive(Debug)]
pub(super) enum Role {
    Nothing,
    Compute {
        compute: Arc<Compute>,
        /// Parts of the register file that are read, unless addresses determine that.
        reads: Option<Vec<Range<usize>>>,
        /// Variables that an address operand may refer to come from these sources.
        address: bool,
        indirect: bool,
    },
    Message {
        operands: Box<MessageOperands>,
        /// Loads are reported access by access.
        by_access: bool,
    },
    Systolic(Box<Systolic>),
    /// For local memory, or for global, and for other groups, too.
    Fence {
        local: bool,
        beyond_group: bool,
    },
    Barrier {
        signals: bool,
        waits: bool,
    },
    NamedSignal([Scalar; 4]),
    NamedWait(Scalar),
    Branch,
}

#[derive(Debug)]
pub(super) struct StepInfo {
    pub(super) role: Role,
    pub(super) no_mask: bool,
    pub(super) lanes: usize,
    pub(super) first: u8,
}

pub(super) fn role(step: &Step) -> Role {
    match &step.action {
        Action::Compute(compute) => {
            let used = compute.operation.sources();
            let lanes = usize::from(step.lanes.count);
            let sources = compute.sources.iter().take(used);
            let mut reads = Some(Vec::new());
            for (number, source) in sources.clone().enumerate() {
                let lanes = compute.operation.elements(number, lanes);
                match (definedness::bounds(source, lanes), &mut reads) {
                    (Some(range), Some(reads)) if !range.is_empty() => reads.push(range),
                    (Some(_), _) => {}
                    (None, _) => reads = None,
                }
            }
            let flags = compute.flags.iter().take(compute.operation.flags());
            if let Some(reads) = &mut reads {
                reads.extend(flags.map(visakit_exec::code::Flag::word_range));
            }
            let indirect = sources.clone().any(|s| s.region.is_indirect());
            let target = matches!(compute.destination.target, Target::Indirect { .. });
            Role::Compute {
                address: step.origin.op == Some(Op::ADDR_ADD),
                indirect: indirect || target,
                reads: reads.filter(|_| !target),
                compute: Arc::clone(compute),
            }
        }
        Action::Message(message) => match message.fences_local() {
            Some(local) => Role::Fence {
                local,
                beyond_group: message.orders_groups(),
            },
            None => Role::Message {
                operands: Box::new(message.operands()),
                by_access: matches!(message.name(), "load" | "block" | "atomic" | "counter"),
            },
        },
        Action::Systolic(systolic) => Role::Systolic(systolic.clone()),
        Action::Barrier => Role::Barrier {
            signals: true,
            waits: true,
        },
        Action::Signal => Role::Barrier {
            signals: true,
            waits: false,
        },
        Action::Wait => Role::Barrier {
            signals: false,
            waits: true,
        },
        Action::NamedSignal(operands) => Role::NamedSignal(**operands),
        Action::NamedWait(number) => Role::NamedWait(*number),
        Action::Jump { .. }
        | Action::Switch { .. }
        | Action::Goto { .. }
        | Action::Call { .. }
        | Action::CallAddress { .. }
        | Action::Return { .. } => Role::Branch,
        _ => Role::Nothing,
    }
}

/// Which steps the checks must observe when definedness is not tracked.
pub(super) fn watched(code: &Code, steps: &[StepInfo], checks: Checks) -> Vec<bool> {
    let accesses = checks.memory || checks.uninitialized || checks.race;
    let watched = steps.iter().map(|step| match &step.role {
        Role::Nothing | Role::Systolic(_) => false,
        Role::Compute {
            address, indirect, ..
        } => checks.memory && (*address || *indirect),
        Role::Message { .. } => accesses,
        Role::Branch => checks.uninitialized,
        Role::Fence { .. } | Role::Barrier { .. } => true,
        Role::NamedSignal(_) | Role::NamedWait(_) => true,
    });
    let mut watched: Vec<bool> = watched.collect();
    // The first instruction of a thread shows which lanes exist, the one after a wait shows that it is over.
    let waits = steps.iter().enumerate();
    let waits = waits.filter(|(_, s)| matches!(s.role, Role::Barrier { .. } | Role::NamedWait(_)));
    let after: Vec<_> = waits.map(|(place, _)| place + 1).collect();
    for from in after
        .into_iter()
        .chain(code.routines.first().map(|r| r.entry))
    {
        let next = code.steps.iter().zip(&mut watched).skip(from);
        for (step, watched) in next {
            *watched = true;
            if step.action.is_instruction() {
                break;
            }
        }
    }
    watched
}

/// Which bytes of the register file any step may read.
pub(super) fn ever_read(code: &Code, addressed: &[Range<usize>]) -> Vec<bool> {
    let mut read = vec![false; code.register_bytes];
    let mut mark = |at: usize, bytes: usize| {
        if let Some(to) = read.get_mut(at..at.saturating_add(bytes)) {
            to.fill(true);
        }
    };
    let mut everything = false;
    for step in &code.steps {
        match &step.action {
            Action::Compute(compute) => {
                for source in compute.sources.iter().take(compute.operation.sources()) {
                    // Some operations read elements beside those of their lanes.
                    match definedness::bounds(source, usize::from(step.lanes.count)) {
                        Some(range) if source.constant.is_none() => {
                            mark(range.start, range.len().max(64));
                        }
                        Some(_) => {}
                        None => {
                            for range in addressed {
                                mark(range.start, range.len());
                            }
                            mark(source.offset, 64);
                        }
                    }
                }
                if matches!(compute.destination.target, Target::Indirect { .. }) {
                    mark(compute.destination.offset, 2);
                }
            }
            Action::Message(message) => {
                let operands = message.operands();
                for operand in &operands.addresses {
                    mark(operand.offset, operand.bytes * operand.lanes);
                }
                let ranges = operands
                    .scalars
                    .iter()
                    .chain(&operands.stored)
                    .chain(&operands.sources);
                for range in ranges {
                    mark(range.start, range.len());
                }
            }
            Action::Systolic(_) => everything = true,
            Action::Switch { index, .. } => read_scalar(*index, &mut mark),
            Action::CallAddress { address, .. } => read_scalar(*address, &mut mark),
            _ => {}
        }
    }
    if everything {
        read.fill(true);
    }
    read
}

fn read_scalar(scalar: Scalar, mark: &mut impl FnMut(usize, usize)) {
    if let Scalar::Register { offset, .. } = scalar {
        mark(offset, 8);
    }
}

/// The width of elements, for each byte of the register file: what is read or written as elements of one, two or four
/// bytes, and what is a number of two, four or eight bytes.
#[derive(Debug)]
pub(super) struct Widths(Vec<u8>);

const ONE: u8 = 1;
const TWO: u8 = 2;
const FOUR: u8 = 4;
const NUMBER4: u8 = 8;
const NUMBER8: u8 = 16;
const NUMBER2: u8 = 32;

impl Widths {
    pub(super) fn new(code: &Code) -> Self {
        let mut widths = Self(vec![0; code.register_bytes]);
        let mut copies = Vec::new();
        let mut words = Vec::new();
        for step in &code.steps {
            let Action::Compute(compute) = &step.action else {
                continue;
            };
            let lanes = usize::from(step.lanes.count);
            // Moves and bitwise operations split what was combined.
            let counts = !matches!(
                compute.operation,
                Operation::Copy
                    | Operation::Select
                    | Operation::And
                    | Operation::Or
                    | Operation::Xor
                    | Operation::Not
                    | Operation::Boolean(_)
                    | Operation::Shl
                    | Operation::Shr
                    | Operation::ExtractSigned
                    | Operation::ExtractUnsigned
                    | Operation::Insert
            );
            for source in compute.sources.iter().take(compute.operation.sources()) {
                if let Some(range) = definedness::bounds(source, lanes) {
                    let size = source.data_type.size().into();
                    widths.mark(range.start, range.len(), flags(size, counts));
                }
            }
            let to = &compute.destination;
            let size = usize::from(to.data_type.size());
            let written = to.range(lanes).unwrap_or_default();
            let (at, bytes) = (written.start, written.len());
            widths.mark(at, bytes, flags(size, counts));
            let [from, ..] = &compute.sources;
            if !matches!(compute.operation, Operation::Copy) || from.constant.is_some() {
                continue;
            }
            if from.data_type.size() == 2
                && matches!(size, 2 | 4)
                && let Some(range) = definedness::bounds(from, lanes)
            {
                words.push((range, written));
            }
            if from.data_type.size() == to.data_type.size()
                && matches!((&from.region, to.target), (Region::Packed, Target::Packed))
            {
                copies.push((from.offset, to.offset, bytes));
            }
        }
        // What holds for a copy holds for the original. Copies of copies of copies are rare.
        for (from, to, bytes) in (0..3).flat_map(|_| &copies) {
            let of = widths.of(*from, *bytes) | widths.of(*to, *bytes);
            widths.mark(*from, *bytes, of);
            widths.mark(*to, *bytes, of);
        }
        // Messages move words in dwords, and programs compute with them in dwords.
        for (from, to) in (0..3).flat_map(|_| words.iter().rev()) {
            let of = widths.of(to.start, to.len());
            let number = match of & (NUMBER2 | NUMBER4) {
                0 => 0,
                _ => NUMBER2,
            };
            widths.mark(from.start, from.len(), of & ONE | number);
        }
        widths
    }

    fn of(&self, at: usize, bytes: usize) -> u8 {
        let range = self.0.get(at..at.saturating_add(bytes));
        range.unwrap_or_default().iter().fold(0, |all, f| all | f)
    }

    fn mark(&mut self, at: usize, bytes: usize, flags: u8) {
        for to in self
            .0
            .get_mut(at..at.saturating_add(bytes))
            .unwrap_or_default()
        {
            *to |= flags;
        }
    }

    /// These bytes were loaded from or stored to a buffer of numbers of this many bytes.
    pub(super) fn moved(&mut self, at: usize, bytes: usize, element: u32) {
        match element {
            4 => self.mark(at, bytes, NUMBER4),
            8 => self.mark(at, bytes, NUMBER8),
            _ => {}
        }
    }

    /// Whether the program uses each element of this size as one number, not as several packed ones.
    pub(super) fn is_number(&self, range: &Range<usize>, element: u32) -> bool {
        let of = self.of(range.start, range.len());
        match element {
            2 => of & ONE == 0 && of & (NUMBER2 | NUMBER4) != 0,
            4 => of & (ONE | TWO) == 0 && of & NUMBER4 != 0,
            8 => of & (ONE | TWO | FOUR) == 0 && of & NUMBER8 != 0,
            _ => false,
        }
    }
}

const fn flags(size: usize, computed: bool) -> u8 {
    match (size, computed) {
        (1, _) => ONE,
        (2, true) => TWO | NUMBER2,
        (2, false) => TWO,
        (4, true) => FOUR | NUMBER4,
        (4, false) => FOUR,
        (8, true) => NUMBER8,
        _ => 0,
    }
}
