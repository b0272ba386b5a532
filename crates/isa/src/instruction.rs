//! Instructions as values: an operation and its fields in stream order.

use crate::fields::Fields;
use crate::ids::{LabelId, SamplerId, StringId, SurfaceId, VarId};
use crate::operand::{
    ElementCount, ExecSize, GeneralOperand, Predicate, RawOperand, Region, SamplerOp, VectorOperand,
};
use crate::table::{FieldKind, FieldName, InstructionDef, Op};
use core::fmt;

/// The content of a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A vector operand.
    Vector(VectorOperand),
    /// A raw operand.
    Raw(RawOperand),
    /// Execution size and mask.
    ExecSize(ExecSize),
    /// Predication word.
    Predicate(Predicate),
    /// An 8-bit number.
    U8(u8),
    /// A 16-bit number.
    U16(u16),
    /// A 32-bit number.
    U32(u32),
    /// A signed 32-bit number.
    I32(i32),
    /// A label.
    Label(LabelId),
    /// A string, from a field of 16 bits or of the version's index width.
    String(StringId),
    /// A surface.
    Surface(SurfaceId),
    /// A sampler.
    Sampler(SamplerId),
    /// The variable of a LIFETIME, in the table that its properties select.
    Lifetime(VarId),
    /// Lane count and mask of the old gather and scatter messages.
    ElementCount(ElementCount),
    /// A 3D sampler operation.
    SamplerOp(SamplerOp),
}

impl Value {
    /// The placeholder for a value that has not been read yet; all bytes are zero.
    pub const ZERO: Self = Self::Vector(VectorOperand::General(GeneralOperand::of(
        VarId(0),
        Region::from_bits(0),
    )));

    /// Whether a field of this kind can hold the value. For lists: a single entry.
    #[must_use]
    pub const fn fits(&self, kind: FieldKind) -> bool {
        matches!(
            (self, kind),
            (Self::Vector(_), FieldKind::Vector)
                | (Self::Raw(_), FieldKind::Raw | FieldKind::Raws)
                | (Self::ExecSize(_), FieldKind::ExecSize)
                | (Self::Predicate(_), FieldKind::Predicate)
                | (Self::U8(_), FieldKind::U8)
                | (Self::U16(_), FieldKind::U16)
                | (Self::U32(_), FieldKind::U32)
                | (Self::I32(_), FieldKind::I32)
                | (Self::Label(_), FieldKind::Label | FieldKind::Labels)
                | (
                    Self::String(_),
                    FieldKind::StringIndex | FieldKind::StringIndex16
                )
                | (Self::Surface(_), FieldKind::Surface)
                | (Self::Sampler(_), FieldKind::Sampler)
                | (Self::Lifetime(_), FieldKind::Lifetime)
                | (Self::ElementCount(_), FieldKind::ElementCount)
                | (Self::SamplerOp(_), FieldKind::SamplerOp)
        )
    }

    /// The value that conditions of other fields test, if this is a key field.
    #[must_use]
    pub const fn key(&self) -> u16 {
        match self {
            Self::U8(v) => *v as u16,
            Self::U16(v) => *v,
            _ => 0,
        }
    }

    /// The number, for the plain numeric kinds.
    #[must_use]
    pub fn as_number(&self) -> Option<i64> {
        match self {
            Self::U8(v) => Some(i64::from(*v)),
            Self::U16(v) => Some(i64::from(*v)),
            Self::U32(v) => Some(i64::from(*v)),
            Self::I32(v) => Some(i64::from(*v)),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vector(v) => v.fmt(f),
            Self::Raw(v) => v.fmt(f),
            Self::ExecSize(v) => v.fmt(f),
            Self::Predicate(v) => v.fmt(f),
            Self::U8(v) => v.fmt(f),
            Self::U16(v) => v.fmt(f),
            Self::U32(v) => v.fmt(f),
            Self::I32(v) => v.fmt(f),
            Self::Label(v) => v.fmt(f),
            Self::String(v) => v.fmt(f),
            Self::Surface(v) => v.fmt(f),
            Self::Sampler(v) => v.fmt(f),
            Self::Lifetime(v) => v.0.fmt(f),
            Self::ElementCount(v) => v.fmt(f),
            Self::SamplerOp(v) => write!(f, "{:#x}", v.bits()),
        }
    }
}

/// A named field of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// Name; entries of a list repeat it.
    pub name: FieldName,
    /// Content.
    pub value: Value,
}

/// An instruction that owns its fields and can be edited.
///
/// The fields are in stream order. Opcode, sub-operation and the counts of lists are not included:
/// they are derived from the operation and the fields.
///
/// ```
/// use visakit_isa::{Instruction, Op, Value, LabelId, ExecSize, Predicate};
/// use visakit_isa::table::FieldName;
///
/// let mut jump = Instruction::new(Op::JMP)
///     .with(FieldName::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
///     .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
///     .with(FieldName::Label, Value::Label(LabelId(3)));
/// *jump.get_mut(FieldName::Label).unwrap() = Value::Label(LabelId(4));
/// assert_eq!(jump.get(FieldName::Label), Some(&Value::Label(LabelId(4))));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// The fields that are present, in stream order.
    pub fields: Fields,
}

impl Instruction {
    /// An instruction without fields.
    #[must_use]
    pub const fn new(op: Op) -> Self {
        Self {
            op,
            fields: Fields::new(),
        }
    }

    /// Appends a field; call it in stream order. A [`Builder`](crate::build::Builder) takes fields in
    /// any order.
    #[must_use]
    pub fn with(mut self, name: FieldName, value: Value) -> Self {
        self.fields.push(Field { name, value });
        self
    }

    /// The row of the table.
    #[must_use]
    pub fn def(&self) -> &'static InstructionDef {
        self.op.def()
    }

    /// The first field of that name.
    #[must_use]
    pub fn get(&self, name: FieldName) -> Option<&Value> {
        self.fields
            .iter()
            .find(|f| f.name == name)
            .map(|f| &f.value)
    }

    /// The first field of that name, mutably.
    pub fn get_mut(&mut self, name: FieldName) -> Option<&mut Value> {
        self.fields
            .iter_mut()
            .find(|f| f.name == name)
            .map(|f| &mut f.value)
    }

    /// All fields of that name: the entries of a list.
    pub fn all(&self, name: FieldName) -> impl Iterator<Item = &Value> {
        self.fields
            .iter()
            .filter(move |f| f.name == name)
            .map(|f| &f.value)
    }

    /// Execution size and mask, if the instruction has them.
    #[must_use]
    pub fn exec_size(&self) -> Option<ExecSize> {
        match self.get(FieldName::ExecSize) {
            Some(Value::ExecSize(v)) => Some(*v),
            _ => None,
        }
    }

    /// Predication word, if the instruction has one.
    #[must_use]
    pub fn predicate(&self) -> Option<Predicate> {
        match self.get(FieldName::Pred) {
            Some(Value::Predicate(v)) => Some(*v),
            _ => None,
        }
    }
}
