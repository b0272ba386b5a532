//! Hashes of routines that say which of them are alike.
//!
//! They depend on the code alone, and are the same in every release, on every machine.

use hashbrown::HashMap;
use visakit_isa::object::Body;
use visakit_isa::operand::{OperandClass, StateClass};
use visakit_isa::semantics::Flow;
use visakit_isa::{
    AnyInstruction, DataType, FieldName, Format, Instruction, Value, VarId, VectorOperand,
};

/// Numbers of a MinHash.
pub const MINHASH: usize = 64;

/// Instructions of the longest run that counts as one feature.
const LONGEST: usize = 3;

/// What tells a routine from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Equal where code, numbers and names of all declarations are.
    pub exact: u64,
    /// Equal where the code is, whatever names and numbers the declarations have. Debug information does not count.
    pub text: u64,
    /// Equal where the graphs of blocks are.
    pub flow: u64,
    /// Runs of one to three instructions, ascending, each once. Variables, execution sizes and the way
    /// to memory do not count: they change with the device.
    pub features: Vec<u64>,
    /// The smallest values of as many hash functions over the features: of two routines the share
    /// of equal ones estimates what share of their features they have in common.
    pub minhash: [u32; MINHASH],
}

/// A hash of 64 bits that is fed numbers.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    const NEW: Self = Self(0x243f_6a88_85a3_08d3);

    #[inline]
    const fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let number = chunk
                .iter()
                .rev()
                .fold(0, |n, byte| n << 8 | u64::from(*byte));
            self.add(number);
        }
    }

    /// Mixes all bits, as `splitmix64` does.
    #[inline]
    const fn finish(self) -> u64 {
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// Numbers in order of first use, which take the place of those of the tables.
#[derive(Default)]
struct Renumber {
    numbers: HashMap<(u8, u32), u64>,
}

impl Renumber {
    /// The number, and whether it is new.
    fn of(&mut self, table: u8, index: u32) -> (u64, bool) {
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry((table, index)).or_insert(next);
        (number, number == next)
    }
}

/// What [`Fingerprint::of`] and the columns need of a format.
struct Normal<'b> {
    body: &'b Body<'b>,
    format: Format,
    renumber: Renumber,
}

impl Normal<'_> {
    fn variable(&mut self, id: VarId, hash: &mut Hash) {
        if let Some(predefined) = self.format.predefined_variable(id) {
            hash.bytes(predefined.name.as_bytes());
            return;
        }
        let (number, new) = self.renumber.of(0, id.0);
        hash.add(number);
        if new && let Some(variable) = own(self.body, self.format, id) {
            hash.add(variable.properties.0.into());
            hash.add(variable.elements.into());
            if variable.is_alias() {
                hash.add(variable.alias_offset.into());
                hash.add(self.renumber.of(0, variable.alias.0).0);
            }
        }
    }

    fn renumbered(&mut self, table: OperandClass, index: impl Into<u32>, hash: &mut Hash) {
        hash.add(self.renumber.of(table.code(), index.into()).0);
    }

    fn value(&mut self, value: &Value, hash: &mut Hash) {
        match value {
            Value::Vector(operand) => {
                hash.add(operand.tag().into());
                match operand {
                    VectorOperand::General(o) => {
                        self.variable(o.variable, hash);
                        hash.add(
                            u64::from(o.row) << 32
                                | u64::from(o.column) << 16
                                | u64::from(o.region.bits()),
                        );
                    }
                    VectorOperand::Address(o) => {
                        self.renumbered(OperandClass::Address, o.address.0, hash);
                        hash.add(u64::from(o.offset) << 8 | u64::from(o.width));
                    }
                    VectorOperand::Predicate(o) => {
                        self.renumbered(OperandClass::Predicate, o.predicate.id().0, hash);
                    }
                    VectorOperand::Indirect(o) => {
                        self.renumbered(OperandClass::Address, o.address.0, hash);
                        hash.add(
                            u64::from(o.address_offset) << 32
                                | u64::from(o.offset.cast_unsigned()) << 16,
                        );
                        hash.add(
                            u64::from(o.property.data_type().code()) << 16
                                | u64::from(o.region.bits()),
                        );
                    }
                    VectorOperand::Immediate(o) => {
                        let o = o.normalized();
                        hash.add(o.data_type().code().into());
                        hash.add(o.bits());
                    }
                    VectorOperand::State(o) => {
                        hash.add(
                            u64::from(o.class == StateClass::SURFACE) << 32
                                | u64::from(o.index) << 8
                                | u64::from(o.offset),
                        );
                    }
                }
            }
            Value::Raw(o) => {
                self.variable(o.variable, hash);
                hash.add(o.offset.into());
            }
            Value::Predicate(predicate) if !predicate.is_none() => {
                self.renumbered(OperandClass::Predicate, predicate.id().0, hash);
                hash.add((predicate.bits() >> 12).into());
            }
            Value::Predicate(_) => hash.add(0),
            Value::ExecSize(size) => hash.add(size.bits().into()),
            Value::U8(n) => hash.add((*n).into()),
            Value::U16(n) => hash.add((*n).into()),
            Value::U32(n) => hash.add((*n).into()),
            Value::I32(n) => hash.add(n.cast_unsigned().into()),
            Value::Label(id) => hash.add(self.renumber.of(0xff, id.0.into()).0),
            // Names do not count.
            Value::String(_) => hash.add(1),
            Value::Surface(id) => hash.add(id.0.into()),
            Value::Sampler(id) => hash.add(id.0.into()),
            Value::Lifetime(id) => hash.add(self.renumber.of(0, id.0).0),
            Value::ElementCount(count) => hash.add(count.bits().into()),
            Value::SamplerOp(op) => hash.add(op.bits().into()),
        }
    }
}

fn own<'b>(
    body: &'b Body<'_>,
    format: Format,
    id: VarId,
) -> Option<&'b visakit_isa::object::Variable<'b>> {
    let index = id.0.checked_sub(format.predefined_variable_count())?;
    body.variables.get(usize::try_from(index).ok()?)
}

/// The type of a variable.
pub(crate) fn type_of(body: &Body<'_>, format: Format, id: VarId) -> Option<DataType> {
    match format.predefined_variable(id) {
        Some(predefined) => Some(predefined.data_type),
        None => own(body, format, id).map(|variable| variable.properties.data_type()),
    }
}

/// The element type of an operand.
pub(crate) fn operand_type(
    body: &Body<'_>,
    format: Format,
    operand: &VectorOperand,
) -> Option<DataType> {
    match operand {
        VectorOperand::General(o) => type_of(body, format, o.variable),
        VectorOperand::Indirect(o) => Some(o.property.data_type()),
        VectorOperand::Immediate(o) => Some(o.data_type()),
        VectorOperand::Predicate(_) => Some(DataType::Bool),
        VectorOperand::Address(_) => Some(DataType::Uw),
        VectorOperand::State(_) => None,
    }
}

/// Whether a thread does anything for the instruction.
fn counts(flow: Flow) -> bool {
    !matches!(flow, Flow::Marker | Flow::Label { .. })
}

impl Fingerprint {
    /// The fingerprint of a routine.
    #[must_use]
    pub fn of(body: &Body<'_>, format: Format) -> Self {
        let (exact, text) = code(body, format);
        let features = features(body, format);
        Self {
            exact,
            text,
            flow: flow_hash(body),
            minhash: minhash(&features),
            features,
        }
    }
}

/// The hashes [`Fingerprint::exact`] and [`Fingerprint::text`].
#[must_use]
pub fn code(body: &Body<'_>, format: Format) -> (u64, u64) {
    let mut normal = Normal {
        body,
        format,
        renumber: Renumber::default(),
    };
    let mut hash = Hash::NEW;
    for instruction in body.instructions() {
        let flow = instruction.def().flow;
        if flow == Flow::Marker {
            continue;
        }
        hash.add(instruction.op as u64);
        for field in &instruction.fields {
            normal.value(&field.value, &mut hash);
        }
    }
    let text = hash.finish();
    // The numbers in order of use are a permutation; names and numbers make the rest.
    let mut used: Vec<_> = normal.renumber.numbers.into_iter().collect();
    used.sort_unstable_by_key(|(_, number)| *number);
    for ((table, index), _) in used {
        hash.add(u64::from(table) << 32 | u64::from(index));
    }
    let names = body.variables.iter().map(|v| v.name);
    let others = [
        &body.addresses,
        &body.predicates,
        &body.surfaces,
        &body.samplers,
    ];
    let others = others.into_iter().flatten().map(|d| d.name);
    for name in names
        .chain(others)
        .chain(body.labels.iter().map(|l| l.name))
    {
        hash.bytes(body.string(name).unwrap_or_default());
    }
    (hash.finish(), text)
}

/// The hash [`Fingerprint::flow`].
#[must_use]
pub fn flow_hash(body: &Body<'_>) -> u64 {
    let label_of = |instruction: &Instruction| match instruction.get(FieldName::Label) {
        Some(Value::Label(label)) => Some(*label),
        _ => None,
    };
    // Blocks by their number; a label between two instructions that follow each other begins one.
    let mut places = HashMap::new();
    let (mut block, mut filled) = (0u64, false);
    let mut ends = Vec::new();
    for instruction in body.instructions() {
        let def = instruction.def();
        match def.flow {
            Flow::Marker => {}
            Flow::Next => filled = true,
            Flow::Label { .. } => {
                block += u64::from(filled);
                filled = false;
                if let Some(label) = label_of(instruction) {
                    places.entry(label).or_insert(block);
                }
            }
            _ => {
                ends.push((block, instruction));
                block += 1;
                filled = false;
            }
        }
    }
    let mut hash = Hash::NEW;
    for (block, instruction) in ends {
        let flow = instruction.flow();
        hash.add(block);
        // Compilers choose between jumps of a thread and of lanes by device.
        let kind = match flow.flow {
            Flow::Jump { .. } => "jump",
            Flow::Return { .. } => "return",
            other => crate::names::flow(other),
        };
        hash.bytes(kind.as_bytes());
        hash.add(flow.falls_through.into());
        let labels = instruction
            .all(FieldName::Labels)
            .chain(instruction.all(FieldName::Label));
        for value in labels {
            if let Value::Label(label) = value {
                hash.add(places.get(label).copied().unwrap_or(u64::MAX));
            }
        }
    }
    hash.finish()
}

/// What an instruction does, without how the device wants it done.
fn word(body: &Body<'_>, format: Format, instruction: &Instruction) -> u64 {
    let def = instruction.def();
    let mut hash = Hash::NEW;
    if let Some(memory) = instruction.memory() {
        hash.bytes(crate::names::action(memory.action).as_bytes());
        return hash.finish();
    }
    match def.flow {
        Flow::Next => hash.bytes(def.mnemonic().as_bytes()),
        Flow::Jump { .. } => hash.bytes(b"jump"),
        Flow::Return { .. } => hash.bytes(b"return"),
        other => hash.bytes(crate::names::flow(other).as_bytes()),
    }
    let mut constants = 0u64;
    for field in &instruction.fields {
        let Value::Vector(operand) = field.value else {
            continue;
        };
        if field.name.is_destination()
            && let Some(ty) = operand_type(body, format, &operand)
        {
            // Signs and the width of integers are what compilers disagree on.
            hash.add(if ty.is_float() {
                u64::from(ty.code())
            } else {
                0xff
            });
        }
        if let VectorOperand::Immediate(o) = operand {
            constants = o.normalized().bits();
        }
    }
    hash.add(constants);
    hash.finish()
}

/// The features of [`Fingerprint::features`].
#[must_use]
pub fn features(body: &Body<'_>, format: Format) -> Vec<u64> {
    let words: Vec<u64> = body
        .instructions()
        .filter(|instruction| counts(instruction.def().flow))
        .map(|instruction| word(body, format, instruction))
        .collect();
    let mut features = Vec::with_capacity(words.len() * LONGEST);
    for length in 1..=LONGEST {
        for run in words.windows(length) {
            let mut hash = Hash::NEW;
            for word in run {
                hash.add(*word);
            }
            features.push(hash.finish());
        }
    }
    features.sort_unstable();
    features.dedup();
    features
}

/// The MinHash of features.
#[must_use]
pub fn minhash(features: &[u64]) -> [u32; MINHASH] {
    let mut smallest = [u32::MAX; MINHASH];
    let mut factor = Hash::NEW;
    let factors: [u64; MINHASH] = std::array::from_fn(|_| {
        factor.add(1);
        factor.finish() | 1
    });
    for feature in features {
        for (least, factor) in smallest.iter_mut().zip(&factors) {
            #[allow(clippy::cast_possible_truncation)] // the upper half
            let value = (feature.wrapping_mul(*factor) >> 32) as u32;
            *least = value.min(*least);
        }
    }
    smallest
}
