//! One pass over the instructions of a routine.

use super::hash::{Hash, pair};
use super::{counts, operand_type, own};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::LazyLock;
use visakit_isa::object::Body;
use visakit_isa::operand::StateClass;
use visakit_isa::semantics::{Action, Flow, Structure};
use visakit_isa::{
    AnyInstruction, ExecSize, FieldName, Format, Instruction, Op, Value, VarId, VectorOperand,
};

/// What [`Scan`] derives from instructions alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) instructions: i32,
    pub(crate) exec_size: i32,
    pub(crate) barriers: i32,
    pub(crate) messages: i32,
    pub(crate) calls: i32,
    pub(crate) loops: i32,
}

/// What is known about an operation before its fields are examined.
#[derive(Clone, Copy)]
struct Kind {
    flow: Flow,
    /// Hashes of what it does, independent of the device: one, or two of operations that only some devices have as one.
    words: [Option<u64>; 2],
    /// It accesses memory.
    message: bool,
    /// A load, which is a different operation if it has no destination.
    load: bool,
    barrier: bool,
}

/// The kinds of all operations, and for each operation's number its index among them, to avoid hashing for each
/// instruction.
static KINDS: LazyLock<(Vec<Kind>, Vec<u16>)> = LazyLock::new(|| {
    let kinds = Op::ALL.iter().map(|op| Kind::of(*op)).collect();
    let last = Op::ALL.iter().map(|op| usize::from(*op as u16)).max();
    let mut places = vec![0; last.unwrap_or(0) + 1];
    for (place, op) in (0..).zip(Op::ALL) {
        if let Some(entry) = places.get_mut(usize::from(*op as u16)) {
            *entry = place;
        }
    }
    (kinds, places)
});

fn kind(op: Op) -> Option<&'static Kind> {
    let (kinds, places) = &*KINDS;
    kinds.get(usize::from(*places.get(usize::from(op as u16))?))
}

fn hash_of(text: &str) -> u64 {
    let mut hash = Hash::NEW;
    hash.bytes(text.as_bytes());
    hash.finish()
}

static PREFETCH: LazyLock<u64> = LazyLock::new(|| hash_of(crate::names::action(Action::Prefetch)));

impl Kind {
    fn of(op: Op) -> Self {
        let def = op.def();
        let words = match (op, def.memory, def.flow) {
            (Op::MAD, ..) => [
                Some(Op::MUL.def().mnemonic()),
                Some(Op::ADD.def().mnemonic()),
            ],
            (Op::ADD3, ..) => [Some(Op::ADD.def().mnemonic()), None],
            (_, Some(memory), _) => [Some(crate::names::action(memory.action)), None],
            (_, None, Flow::Next) => [Some(def.mnemonic()), None],
            (_, None, flow) => [Some(kind_of_flow(flow)), None],
        };
        Self {
            flow: def.flow,
            words: words.map(|word| word.map(hash_of)),
            message: def.memory.is_some(),
            load: def.memory.is_some_and(|m| m.action == Action::Load),
            barrier: matches!(op, Op::BARRIER | Op::NBARRIER | Op::SBARRIER),
        }
    }
}

/// Compilers choose between jumps of a thread and of lanes by device.
const fn kind_of_flow(flow: Flow) -> &'static str {
    match flow {
        Flow::Jump { .. } => "jump",
        Flow::Return { .. } => "return",
        other => crate::names::flow(other),
    }
}

/// Numbers in order of first use, which replace those of the tables.
#[derive(Clone, Debug, Default)]
struct Renumber {
    /// For each table the numbers of its entries plus one, 0 for those that were not met.
    tables: [Vec<u32>; TABLES],
    /// Entries that no table of the routine has: of damaged objects.
    others: HashMap<(usize, u32), u32>,
    /// The entries found, in order.
    order: Vec<(usize, u32)>,
}

const VARIABLES: usize = 0;
const ADDRESSES: usize = 1;
const PREDICATES: usize = 2;
const LABELS: usize = 3;
const TABLES: usize = 4;

impl Renumber {
    fn begin(&mut self, sizes: [usize; TABLES]) {
        for (table, size) in self.tables.iter_mut().zip(sizes) {
            table.clear();
            table.resize(size, 0);
        }
        self.others.clear();
        self.order.clear();
    }

    /// The number, and whether it is new.
    #[inline]
    fn of(&mut self, table: usize, index: u32) -> (u64, bool) {
        let place = usize::try_from(index).ok();
        let known = self.tables.get_mut(table);
        let known = known.and_then(|table| table.get_mut(place?));
        let number = match known {
            Some(number) => number,
            None => self.others.entry((table, index)).or_insert(0),
        };
        let new = *number == 0;
        if new {
            self.order.push((table, index));
            *number = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        }
        (u64::from(*number), new)
    }
}

/// The end of a block.
#[derive(Clone, Debug)]
struct End {
    block: u32,
    kind: u64,
    falls_through: bool,
    /// Which of the labels it may go to.
    labels: Range<usize>,
}

/// The graph of blocks, as far as it is known.
#[derive(Clone, Debug, Default)]
struct Blocks {
    block: u32,
    filled: bool,
    /// For each label the block that it begins plus one, 0 for those that have no place yet.
    places: Vec<u32>,
    ends: Vec<End>,
    labels: Vec<u16>,
}

impl Blocks {
    fn begin(&mut self, labels: usize) {
        self.block = 0;
        self.filled = false;
        self.places.clear();
        self.places.resize(labels, 0);
        self.ends.clear();
        self.labels.clear();
    }

    /// The block that a label begins, if it was placed.
    fn place(&self, label: u16) -> Option<u32> {
        let place = self.places.get(usize::from(label))?;
        place.checked_sub(1)
    }

    fn put(&mut self, label: u16) {
        let index = usize::from(label);
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        if let Some(place) = self.places.get_mut(index).filter(|place| **place == 0) {
            *place = self.block.saturating_add(1);
        }
    }

    fn hash(&self) -> u64 {
        let mut hash = Hash::NEW;
        for end in &self.ends {
            hash.add_two(
                u64::from(end.block) << 1 | u64::from(end.falls_through),
                end.kind,
            );
            for label in self.labels.get(end.labels.clone()).unwrap_or_default() {
                hash.add(self.place(*label).map_or(u64::MAX, u64::from));
            }
        }
        hash.finish()
    }
}

/// Scans the instructions of one routine after the other. Its buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    text: Option<Hash>,
    renumber: Renumber,
    blocks: Blocks,
    words: Vec<u64>,
    counts: Counts,
}

/// What has been found in the current instruction.
#[derive(Default)]
struct Seen {
    exec_size: Option<ExecSize>,
    label: Option<u16>,
    /// The type of the destination, if any.
    types: u64,
    /// The last immediate operand.
    constant: u64,
    no_destination: bool,
}

impl Scan {
    /// Resets the scan; the instructions that follow belong to a routine with these tables.
    pub(crate) fn begin(&mut self, body: &Body<'_>, format: Format) {
        self.text = Some(Hash::NEW);
        let predefined = usize::try_from(format.predefined_variable_count()).unwrap_or(0);
        self.renumber.begin([
            body.variables.len() + predefined,
            body.addresses.len(),
            body.predicates.len() + 1,
            body.labels.len(),
        ]);
        self.blocks.begin(body.labels.len());
        self.words.clear();
        self.counts = Counts::default();
    }

    /// The next instruction.
    pub(crate) fn instruction(
        &mut self,
        instruction: &Instruction,
        body: &Body<'_>,
        format: Format,
    ) {
        self.counts.instructions = self.counts.instructions.saturating_add(1);
        let Some(kind) = kind(instruction.op) else {
            return;
        };
        if kind.flow == Flow::Marker {
            return;
        }
        let mut hash = self.text.unwrap_or(Hash::NEW);
        hash.add(instruction.op as u64);
        let mut seen = Seen::default();
        for field in &instruction.fields {
            self.field(field.name, &field.value, &mut hash, &mut seen, body, format);
        }
        self.text = Some(hash);
        let lanes = seen
            .exec_size
            .and_then(ExecSize::lanes)
            .map_or(0, i32::from);
        self.counts.exec_size = self.counts.exec_size.max(lanes);
        self.counts.messages += i32::from(kind.message);
        self.counts.barriers += i32::from(kind.barrier);
        // A device with narrower instructions has a copy for each part of the lanes, after that for the first one.
        let mask = seen.exec_size.and_then(|size| size.mask(format));
        if counts(kind.flow) && mask.is_none_or(|mask| mask.first_lane == 0) {
            let words = kind.words.into_iter().flatten().map(|word| {
                if !kind.message {
                    pair(word ^ seen.types, seen.constant)
                } else if kind.load && seen.no_destination {
                    *PREFETCH
                } else {
                    word
                }
            });
            self.words.extend(words);
        }
        match kind.flow {
            Flow::Next => self.blocks.filled = true,
            flow => self.turn(flow, seen.label, instruction),
        }
    }

    /// Handles an instruction that places a label or does not simply fall through.
    fn turn(&mut self, flow: Flow, label: Option<u16>, instruction: &Instruction) {
        let blocks = &mut self.blocks;
        match (flow, label) {
            (Flow::Label { .. }, _) => {
                // A label between two instructions that follow each other begins a block.
                blocks.block += u32::from(blocks.filled);
                blocks.filled = false;
                if let Some(label) = label {
                    blocks.put(label);
                }
                return;
            }
            (Flow::Jump { .. }, Some(label)) => {
                self.counts.loops += i32::from(blocks.place(label).is_some());
            }
            (Flow::Structured(Structure::While), _) => self.counts.loops += 1,
            (Flow::Call(_), _) => self.counts.calls += 1,
            _ => {}
        }
        let first = blocks.labels.len();
        let labels = instruction.all(FieldName::Labels);
        for value in labels.chain(instruction.all(FieldName::Label)) {
            if let Value::Label(label) = value {
                blocks.labels.push(label.0);
            }
        }
        blocks.ends.push(End {
            block: blocks.block,
            kind: hash_of(kind_of_flow(flow)),
            falls_through: instruction.flow().falls_through,
            labels: first..blocks.labels.len(),
        });
        blocks.block += 1;
        blocks.filled = false;
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn field(
        &mut self,
        name: FieldName,
        value: &Value,
        hash: &mut Hash,
        seen: &mut Seen,
        body: &Body<'_>,
        format: Format,
    ) {
        match value {
            Value::Vector(operand) => {
                if name.is_destination()
                    && let Some(ty) = operand_type(body, format, operand)
                {
                    // Compilers differ in the signs and widths of integers.
                    let ty = if ty.is_float() {
                        u64::from(ty.code())
                    } else {
                        0xff
                    };
                    seen.types = seen.types << 8 | ty;
                }
                self.vector(operand, hash, seen, body, format);
            }
            Value::Raw(o) => {
                seen.no_destination |= name == FieldName::Dst && o.is_null();
                self.variable(o.variable, o.offset.into(), hash, body, format);
            }
            Value::Predicate(predicate) if !predicate.is_none() => {
                let (number, _) = self.renumber.of(PREDICATES, predicate.id().0.into());
                hash.add_two(number, (predicate.bits() >> 12 & 0xf).into());
            }
            Value::Predicate(_) => hash.add(0),
            Value::ExecSize(size) => {
                seen.exec_size = seen.exec_size.or(Some(*size));
                hash.add(size.bits().into());
            }
            Value::U8(n) => hash.add((*n).into()),
            Value::U16(n) => hash.add((*n).into()),
            Value::U32(n) => hash.add((*n).into()),
            Value::I32(n) => hash.add(n.cast_unsigned().into()),
            Value::Label(id) => {
                if name == FieldName::Label {
                    seen.label = seen.label.or(Some(id.0));
                }
                hash.add(self.renumber.of(LABELS, id.0.into()).0);
            }
            // Names are ignored.
            Value::String(_) => hash.add(1),
            Value::Surface(id) => hash.add(id.0.into()),
            Value::Sampler(id) => hash.add(id.0.into()),
            Value::Lifetime(id) => hash.add(self.renumber.of(VARIABLES, id.0).0),
            Value::ElementCount(count) => hash.add(count.bits().into()),
            Value::SamplerOp(op) => hash.add(op.bits().into()),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn vector(
        &mut self,
        operand: &VectorOperand,
        hash: &mut Hash,
        seen: &mut Seen,
        body: &Body<'_>,
        format: Format,
    ) {
        let tag = u64::from(operand.tag()) << 48;
        match operand {
            VectorOperand::General(o) => {
                let place =
                    u64::from(o.row) << 32 | u64::from(o.column) << 16 | u64::from(o.region.bits());
                self.variable(o.variable, tag | place, hash, body, format);
            }
            VectorOperand::Address(o) => {
                let (number, _) = self.renumber.of(ADDRESSES, o.address.0.into());
                hash.add_two(number, tag | u64::from(o.offset) << 8 | u64::from(o.width));
            }
            VectorOperand::Predicate(o) => {
                let (number, _) = self.renumber.of(PREDICATES, o.predicate.id().0.into());
                hash.add_two(number, tag);
            }
            VectorOperand::Indirect(o) => {
                let (number, _) = self.renumber.of(ADDRESSES, o.address.0.into());
                hash.add_two(number, tag | u64::from(o.region.bits()));
                hash.add_two(
                    u64::from(o.address_offset) << 16 | u64::from(o.offset.cast_unsigned()),
                    o.property.data_type().code().into(),
                );
            }
            VectorOperand::Immediate(o) => {
                let o = o.normalized();
                seen.constant = o.bits();
                hash.add_two(tag | u64::from(o.data_type().code()), o.bits());
            }
            VectorOperand::State(o) => {
                let surface = u64::from(o.class == StateClass::SURFACE);
                hash.add_two(
                    tag | surface << 32,
                    u64::from(o.index) << 8 | u64::from(o.offset),
                );
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn variable(
        &mut self,
        id: VarId,
        place: u64,
        hash: &mut Hash,
        body: &Body<'_>,
        format: Format,
    ) {
        // Predefined variables, and there are few, have numbers that depend on the version; their names do not.
        if id.0 < format.predefined_variable_count()
            && let Some(predefined) = format.predefined_variable(id)
        {
            hash.add(place);
            hash.bytes(predefined.name.as_bytes());
            return;
        }
        let (number, new) = self.renumber.of(VARIABLES, id.0);
        hash.add_two(number, place);
        if new && let Some(variable) = own(body, format, id) {
            hash.add_two(variable.properties.0.into(), variable.elements.into());
            if variable.is_alias() {
                let (number, _) = self.renumber.of(VARIABLES, variable.alias.0);
                hash.add_two(variable.alias_offset.into(), number);
            }
        }
    }

    /// What was counted.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// [`Fingerprint::text`](super::Fingerprint::text)
    pub(crate) fn text(&self) -> u64 {
        self.text.unwrap_or(Hash::NEW).finish()
    }

    /// [`Fingerprint::flow`](super::Fingerprint::flow)
    pub(crate) fn flow(&self) -> u64 {
        self.blocks.hash()
    }

    /// [`Fingerprint::exact`](super::Fingerprint::exact)
    pub(super) fn exact(&self, body: &Body<'_>) -> u64 {
        let mut hash = self.text.unwrap_or(Hash::NEW);
        // The numbers in order of use are a permutation; the rest consists of names and numbers.
        for (table, index) in &self.renumber.order {
            hash.add_two(*table as u64, (*index).into());
        }
        let variables = body.variables.iter().map(|v| v.name);
        let others = [
            &body.addresses,
            &body.predicates,
            &body.surfaces,
            &body.samplers,
        ];
        let others = others.into_iter().flatten().map(|d| d.name);
        let labels = body.labels.iter().map(|l| l.name);
        for name in variables.chain(others).chain(labels) {
            hash.bytes(body.string(name).unwrap_or_default());
        }
        hash.finish()
    }

    /// Single instructions and pairs, in no order, some more than once.
    pub(crate) fn features(&self) -> impl Iterator<Item = u64> {
        let mut before = None;
        self.words.iter().flat_map(move |word| {
            let two = before.replace(*word).map(|before| pair(before, *word));
            [Some(*word), two].into_iter().flatten()
        })
    }
}
