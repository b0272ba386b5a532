//! What a line states about the fields of its instruction: the assembler notes it while reading a
//! line, the printer while writing one. The final values of all fields, including those the line does
//! not show, are decided here for both.

use alloc::vec::Vec;
use visakit_isa::operand::{ImmediateOperand, PropertyByte};
use visakit_isa::table::{
    Choice, FieldDef, FieldKind, FieldName as F, FieldPattern, InstructionDef, Role, Test,
};
use visakit_isa::{
    DataType, ElementCount, ExecMask, ExecSize, Field, Format, Instruction, Predicate, RawOperand,
    SamplerOp, Value, VarId, enums,
};

/// What is known about a field.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// The whole value.
    pub(crate) value: Option<Value>,
    /// The number of a plain field.
    pub(crate) bits: u32,
    /// The bits of it that the text states.
    pub(crate) known: u32,
}

/// The fields of an instruction as its line states them. Reused from line to line, to avoid
/// allocations.
#[derive(Debug)]
pub(crate) struct Fields {
    def: &'static InstructionDef,
    format: Format,
    /// The field that decides which other fields are present.
    key: Option<usize>,
    slots: Vec<Slot>,
    /// The entries of the list, if the instruction has one.
    pub(crate) list: Vec<Value>,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            def: visakit_isa::Op::MOV.def(),
            format: Format::new(visakit_isa::Version::V4_1, visakit_isa::Dialect::default()),
            key: None,
            slots: Vec::new(),
            list: Vec::new(),
        }
    }
}

impl Fields {
    /// Begins a line of an instruction.
    #[inline]
    pub(crate) fn begin(&mut self, def: &'static InstructionDef, format: Format) {
        self.def = def;
        self.format = format;
        self.slots.clear();
        self.slots.resize(def.fields.len(), Slot::default());
        self.list.clear();
        self.key = match def.pattern {
            FieldPattern::Conditional => def.fields.iter().position(|f| f.is_key),
            _ => None,
        };
    }

    /// The row.
    pub(crate) const fn def(&self) -> &'static InstructionDef {
        self.def
    }

    /// A field of the row and its number.
    #[inline]
    pub(crate) fn field(&self, name: F) -> Option<(usize, &'static FieldDef)> {
        let found = self.def.fields.iter().enumerate();
        found.into_iter().find(|(_, f)| f.name == name)
    }

    /// The field, if the instruction has it in this format.
    #[inline]
    pub(crate) fn present(&self, name: F) -> Option<(usize, &'static FieldDef)> {
        self.field(name).filter(|(_, f)| self.has(f))
    }

    /// Whether the instruction has the field in this format.
    #[inline]
    pub(crate) fn has(&self, field: &FieldDef) -> bool {
        field.when.holds(self.format)
            && field.only_if.is_none_or(|test| {
                let key = self.key.and_then(|i| self.slots.get(i));
                test.holds(key.map_or(0, |slot| (slot.bits & 0xffff) as u16))
            })
    }

    /// What is known about a field so far.
    pub(crate) fn slot(&self, name: F) -> Slot {
        let slot = self.field(name).and_then(|(i, _)| self.slots.get(i));
        slot.copied().unwrap_or_default()
    }

    /// What is known about the field at an index.
    pub(crate) fn at(&self, index: usize) -> Slot {
        self.slots.get(index).copied().unwrap_or_default()
    }

    /// Notes a whole value.
    #[inline]
    pub(crate) fn put(&mut self, index: usize, value: Value) {
        if let Some(slot) = self.slots.get_mut(index) {
            slot.value = Some(value);
        }
    }

    /// Notes the whole value of a field.
    #[inline]
    pub(crate) fn put_named(&mut self, name: F, value: Value) {
        if let Some((index, _)) = self.field(name) {
            self.put(index, value);
        }
    }

    /// Sets some bits of a number.
    pub(crate) fn set(&mut self, name: F, mask: u32, bits: u32) {
        let index = self.field(name).map(|(i, _)| i);
        if let Some(slot) = index.and_then(|i| self.slots.get_mut(i)) {
            slot.bits = slot.bits & !mask | bits & mask;
            slot.known |= mask;
        }
    }

    /// Whether a test holds, judging by the line so far; `None` if only what follows shows whether the
    /// parts of the test are written.
    pub(crate) fn decided(&self, test: Test) -> Option<bool> {
        let bits = |name: F, mask: u32| {
            let slot = self.slot(name);
            (slot.known & mask == mask).then_some(slot.bits & mask != 0)
        };
        match test {
            Test::Present(name) => Some(self.present(name).is_some()),
            Test::Absent(name) => Some(self.present(name).is_none()),
            Test::Bits(name, mask) => bits(name, mask.into()),
            Test::NoBits(name, mask) => bits(name, mask.into()).map(|b| !b),
            Test::OneOf(name, values) => {
                let slot = self.slot(name);
                let value = if slot.known == 0 { 1 } else { slot.bits };
                Some(value < 32 && values >> value & 1 == 1)
            }
            Test::Not(name, value) => {
                let slot = self.slot(name);
                (slot.known != 0).then_some(slot.bits != u32::from(value))
            }
            Test::Above(..) | Test::Null(_) | Test::NotNull(_) | Test::NotZero(_) => None,
        }
    }

    /// Notes what follows from the presence of the parts of a test that was undecided before.
    pub(crate) fn entered(&mut self, test: Test) {
        if let Test::Bits(name, mask) = test
            && mask.is_power_of_two()
        {
            self.set(name, mask.into(), mask.into());
        }
    }

    /// Whether `.sat` can be stored: it is a bit of the destination.
    pub(crate) fn can_saturate(&self) -> bool {
        let mut fields = self.def.fields.iter();
        fields.any(|f| f.kind == FieldKind::Vector && f.role == Role::Destination)
    }

    /// The fields with their values, in stream order; list entries one by one.
    #[inline]
    pub(crate) fn each(
        &self,
        mut see: impl FnMut(usize, &'static FieldDef, Value) -> bool,
    ) -> bool {
        for (index, field) in self.def.fields.iter().enumerate() {
            if !self.has(field) {
                continue;
            }
            let go_on = match field.kind {
                FieldKind::Count => true,
                FieldKind::Labels | FieldKind::Raws => {
                    self.list.iter().all(|value| see(index, field, *value))
                }
                _ => see(index, field, self.value(index, field)),
            };
            if !go_on {
                return false;
            }
        }
        true
    }

    /// The instruction that the line denotes.
    pub(crate) fn instruction(&self) -> Instruction {
        let mut built = Instruction::new(self.def.op);
        self.each(|_, field, value| {
            built.fields.push(Field {
                name: field.name,
                value,
            });
            true
        });
        built
    }

    /// The value of a field: what the line states, or the default if the line does not show it.
    #[inline]
    fn value(&self, index: usize, field: &FieldDef) -> Value {
        let slot = self.at(index);
        slot.value.unwrap_or_else(|| self.unwritten(field, slot))
    }

    /// A plain number, or the value of a field that the text does not show.
    pub(crate) fn unwritten(&self, field: &FieldDef, slot: Slot) -> Value {
        let bits = if slot.known == 0 {
            self.default(field.name)
        } else {
            slot.bits
        };
        #[allow(clippy::cast_possible_truncation)] // checked when it was set
        match field.kind {
            FieldKind::U8 => Value::U8(bits as u8),
            FieldKind::U16 => Value::U16(bits as u16),
            FieldKind::U32 => Value::U32(bits),
            FieldKind::I32 => Value::I32(bits.cast_signed()),
            FieldKind::SamplerOp => Value::SamplerOp(SamplerOp::from_bits(bits as u16)),
            FieldKind::ExecSize => Value::ExecSize(ExecSize::from_bits(bits as u8)),
            FieldKind::Predicate => Value::Predicate(Predicate::NONE),
            FieldKind::Vector => self.unwritten_vector(field.name),
            _ => Value::Raw(RawOperand::NULL),
        }
    }

    /// A plain number that the line does not show.
    fn default(&self, name: F) -> u32 {
        let known = |name| {
            let slot = self.slot(name);
            (slot.known != 0).then_some(slot.bits)
        };
        match name {
            // Forms without an execution size use one lane, whatever the mask.
            F::ExecSize => 0x80,
            F::DataSize => enums::lsc_data_size::D32.into(),
            F::DataOrder => enums::lsc_data_order::NONTRANSPOSE.into(),
            // The assemblers had a single field for both.
            F::DataElems => known(F::ChMask).unwrap_or(enums::lsc_data_elems::N1.into()),
            F::ChMask if self.field(F::Src0AddrPitch).is_some() => 0,
            F::ChMask => known(F::DataElems).unwrap_or(enums::lsc_data_elems::N1.into()),
            F::AddrSize => enums::lsc_addr_size::A32.into(),
            F::AddrType => enums::lsc_addr_type::FLAT.into(),
            F::AddrScale | F::Blocks => 1,
            // No relation, stored as Intel's assemblers do.
            F::RelOp => 6,
            _ => 0,
        }
    }

    /// Bytes of the data at an address.
    fn data_bytes(&self) -> u32 {
        let size = match u8::try_from(self.slot(F::DataSize).bits) {
            Ok(enums::lsc_data_size::D8) => 1,
            Ok(enums::lsc_data_size::D16) => 2,
            Ok(enums::lsc_data_size::D64) => 8,
            _ => 4,
        };
        let elements = self.slot(F::DataElems).bits;
        size * elements.checked_sub(5).map_or(elements, |n| 8 << (n & 3))
    }

    /// A vector operand that the line does not show.
    fn unwritten_vector(&self, name: F) -> Value {
        let constant = |ty, bits: u32| {
            Value::Vector(ImmediateOperand::new(PropertyByte::from(ty), bits.into()).into())
        };
        let repeated = match name {
            // Writers repeat the number of the barrier.
            F::NumThreads => self.slot(F::BarrierId).value,
            F::NumConsumers => self.slot(F::NumProducers).value,
            _ => None,
        };
        repeated.unwrap_or_else(|| match name {
            // Producers and consumers.
            F::Type => constant(DataType::Uw, 0),
            // As if the elements were packed.
            F::Src0AddrPitch => constant(DataType::Ud, self.data_bytes()),
            // One payload holds them all.
            F::SurfaceWidth | F::SurfaceHeight | F::SurfacePitch | F::X | F::Y => {
                Value::Vector(super::operand::one_element(VarId(0), 0, 0).into())
            }
            _ => constant(DataType::Ud, 0),
        })
    }
}

/// An execution size or element count by mask and lanes; `None` if no code has this number of lanes.
///
/// `fixed` is the number of lanes of messages that support only one: their size is not stored, and
/// their code is that of one lane. `m1_code` is the code of M1 in versions that have two.
pub(crate) fn lanes(
    kind: FieldKind,
    fixed: Option<u8>,
    (mask, lanes): (ExecMask, u8),
    m1_code: u8,
    format: Format,
) -> Option<Value> {
    let m1 = if mask == ExecMask::M1 {
        m1_code << 4
    } else {
        0
    };
    if kind == FieldKind::ElementCount {
        let code = match lanes {
            8 => 0,
            16 => 1,
            1 => 2,
            _ => return None,
        };
        let bits = code | mask.code(format)? << 4 | m1;
        return Some(Value::ElementCount(ElementCount::from_bits(bits)));
    }
    if fixed.is_some_and(|fixed| fixed != lanes) {
        return None;
    }
    let stored = if fixed.is_some() { 1 } else { lanes };
    let size = ExecSize::new(stored, mask, format)?;
    Some(Value::ExecSize(ExecSize::from_bits(size.bits() | m1)))
}

/// Texts of a choice with the values they denote: the listed ones, and the first unlisted value for
/// the text of all others.
pub(crate) fn choice_texts(choice: &Choice) -> impl Iterator<Item = (u32, &'static str)> {
    let mask = u32::from(choice.mask);
    let listed = |v: u32| choice.cases.iter().any(|(c, _)| u32::from(*c) == v);
    let means_one = !choice.otherwise.contains("<<") && choice.otherwise != "illegal";
    let unlisted = means_one
        .then(|| (0..=mask).find(|v| v & !mask == 0 && !listed(*v)))
        .flatten();
    let cases = choice.cases.iter().map(|(v, t)| (u32::from(*v), *t));
    cases.chain(unlisted.map(|v| (v, choice.otherwise)))
}
