//! Fields: the contents of an instruction and when they are present.

use super::names::FieldName;
use crate::enums::Enumeration;
use crate::operand::OperandClasses;
use crate::types::TypeSet;
use crate::version::{Condition, Features};

/// How a field is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FieldKind {
    /// Execution size and mask, 8 bits.
    ExecSize,
    /// Predication word, 16 bits.
    Predicate,
    /// Vector operand: a tag byte and the layout of its class.
    Vector,
    /// Raw operand: variable index and 16-bit offset.
    Raw,
    /// Unsigned number, 8 bits.
    U8,
    /// Unsigned number, 16 bits.
    U16,
    /// Unsigned number, 32 bits.
    U32,
    /// Signed number, 32 bits.
    I32,
    /// Label index, 16 bits.
    Label,
    /// String index, 16 bits in every version.
    StringIndex16,
    /// String index, 16 bits before 3.4, 32 since.
    StringIndex,
    /// Surface index, 8 bits.
    Surface,
    /// Sampler index, 8 bits.
    Sampler,
    /// Index of the variable whose lifetime is marked, 16 bits before 3.4, 32 since; bits 4-5 of
    /// the key field determine which table it points into.
    Lifetime,
    /// Lane count and mask of the old gather and scatter messages, 8 bits.
    ElementCount,
    /// 3D sampler operation: 8 bits before 4.0, 16 since.
    SamplerOp,
    /// Number of entries of the list at the end, 8 bits.
    Count,
    /// Label indices; the count field gives their number.
    Labels,
    /// Raw operands; the count field gives their number.
    Raws,
}

impl FieldKind {
    /// Name used in references.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExecSize => "exec_size",
            Self::Predicate => "predicate",
            Self::Vector => "vector",
            Self::Raw => "raw",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::Label => "label",
            Self::StringIndex16 => "string16",
            Self::StringIndex => "string",
            Self::Surface => "surface",
            Self::Sampler => "sampler",
            Self::Lifetime => "variable",
            Self::ElementCount => "element_count",
            Self::SamplerOp => "sampler_op",
            Self::Count => "count",
            Self::Labels => "label list",
            Self::Raws => "raw list",
        }
    }

    /// Whether the field is a list sized by the count field before it.
    #[must_use]
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Labels | Self::Raws)
    }
}

/// Whether an operand is written or read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Neither: a control field.
    Control,
    /// Written.
    Destination,
    /// Read.
    Source,
}

/// A test of the instruction's key field that decides whether another field is present.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyTest {
    /// The key has this value.
    Equals(u16),
    /// This bit of the key is set.
    Bit(u8),
}

impl KeyTest {
    /// Whether a key value passes.
    #[inline]
    #[must_use]
    pub const fn holds(self, key: u16) -> bool {
        match self {
            Self::Equals(value) => key == value,
            Self::Bit(bit) => key >> bit & 1 == 1,
        }
    }
}

/// One field of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct FieldDef {
    /// Name.
    pub name: FieldName,
    /// Layout.
    pub kind: FieldKind,
    /// Formats that have the field.
    pub when: Condition,
    /// Whether other fields depend on the value of this one.
    pub is_key: bool,
    /// The value of the key field that makes this field present.
    pub only_if: Option<KeyTest>,
    /// Whether an operand is written or read.
    pub role: Role,
    /// Whether only one element is used, regardless of the execution size.
    pub scalar: bool,
    /// Types that the reference implementation lists for the operand.
    pub types: TypeSet,
    /// Classes that are allowed, for vector operands.
    pub classes: OperandClasses,
    /// Names of the values.
    pub enumeration: Option<&'static Enumeration>,
    /// Anything particular to this instruction.
    pub note: &'static str,
}

impl FieldDef {
    pub(super) const fn new(name: FieldName, kind: FieldKind) -> Self {
        Self {
            name,
            kind,
            when: Condition::ALWAYS,
            is_key: false,
            only_if: None,
            role: Role::Control,
            scalar: false,
            types: TypeSet::empty(),
            classes: OperandClasses::empty(),
            enumeration: None,
            note: "",
        }
    }

    pub(super) const fn when(mut self, when: Condition) -> Self {
        self.when = when;
        self
    }

    pub(super) const fn key(mut self) -> Self {
        self.is_key = true;
        self
    }

    pub(super) const fn only_if(mut self, test: KeyTest) -> Self {
        self.only_if = Some(test);
        self
    }

    pub(super) const fn scalar(mut self) -> Self {
        self.scalar = true;
        self
    }

    pub(super) const fn named(mut self, enumeration: &'static Enumeration) -> Self {
        self.enumeration = Some(enumeration);
        self
    }

    pub(super) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}

/// Summary of the fields of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldPattern {
    /// Execution size, predicate, then vector operands only.
    Predicated,
    /// Execution size, then vector operands only.
    Unpredicated,
    /// Every field is present in every format, and there is no list.
    Fixed,
    /// Some fields depend on the format or on another field, or there is a list.
    Conditional,
}

impl FieldPattern {
    #[allow(clippy::indexing_slicing)] // bounds that the loops check, in a const fn
    pub(super) const fn of(fields: &[FieldDef]) -> Self {
        let mut i = 0;
        while i < fields.len() {
            let field = &fields[i];
            let fixed = field.when.is_always()
                && field.only_if.is_none()
                && !field.is_key
                && !matches!(field.kind, FieldKind::Count);
            if !fixed {
                return Self::Conditional;
            }
            i += 1;
        }
        if fields.is_empty() || !matches!(fields[0].kind, FieldKind::ExecSize) {
            return Self::Fixed;
        }
        let predicated = fields.len() > 1 && matches!(fields[1].kind, FieldKind::Predicate);
        let mut i = if predicated { 2 } else { 1 };
        while i < fields.len() {
            if !matches!(fields[i].kind, FieldKind::Vector) {
                return Self::Fixed;
            }
            i += 1;
        }
        if predicated {
            Self::Predicated
        } else {
            Self::Unpredicated
        }
    }
}

/// The unmarked features that some fields depend on.
#[allow(clippy::indexing_slicing)] // a bound that the loop checks, in a const fn
pub(super) const fn unmarked(fields: &[FieldDef]) -> Features {
    let mut features = Features::empty();
    let mut i = 0;
    while i < fields.len() {
        features = features.union(fields[i].when.depends_on());
        i += 1;
    }
    features.intersection(Features::UNMARKED)
}

/// Short forms in which the group files write their fields.
pub(super) mod short {
    use super::Role;
    pub(crate) use super::{FieldDef, FieldKind, KeyTest};
    pub(crate) use crate::enums;
    use crate::operand::OperandClasses;
    pub(crate) use crate::platform::{Platform, Platforms};
    pub(crate) use crate::semantics::{
        Action, AddressUnit, AddressWidth, AtomicOp, Callee, Conversion, Count, DataLayout,
        ElementSize, Ending, Flow, Implicit, Memory, Storage, Structure, Traits,
    };
    pub(crate) use crate::table::FieldName as F;
    pub(crate) use crate::table::{Choice, Part, Syntax, Test};
    use crate::table::{Saturation, SourceModifiers};
    pub(crate) use crate::types::TypeSet as T;
    pub(crate) use crate::version::{Condition, Features};

    /// General.
    pub(crate) const G: OperandClasses = OperandClasses::GENERAL;
    /// General, indirect.
    pub(crate) const GI: OperandClasses = G.union(OperandClasses::INDIRECT);
    /// General, immediate.
    pub(crate) const GM: OperandClasses = G.union(OperandClasses::IMMEDIATE);
    /// General, indirect, immediate.
    pub(crate) const GIM: OperandClasses = GI.union(OperandClasses::IMMEDIATE);
    /// Predicate.
    pub(crate) const P: OperandClasses = OperandClasses::PREDICATE;
    /// Address.
    pub(crate) const A: OperandClasses = OperandClasses::ADDRESS;
    /// Surface or sampler.
    pub(crate) const S: OperandClasses = OperandClasses::STATE;

    /// `ud` and `d`.
    pub(crate) const DWORDS: T = T::UD.union(T::D);
    /// 16- and 32-bit integers.
    pub(crate) const WORDS_DWORDS: T = DWORDS.union(T::UW).union(T::W);
    /// Integers of 16 to 64 bits.
    pub(crate) const WORDS_TO_QWORDS: T = WORDS_DWORDS.union(T::UQ).union(T::Q);
    /// 8-bit integers.
    pub(crate) const BYTES: T = T::UB.union(T::B);
    /// `hf`, `bf` and `f`.
    pub(crate) const SINGLE_FLOATS: T = T::HF.union(T::BF).union(T::F);
    /// Integers of 8 to 32 bits.
    pub(crate) const UP_TO_DWORDS: T = WORDS_DWORDS.union(BYTES);
    /// All numbers except integers of 64 bits.
    pub(crate) const NO_QWORDS: T = UP_TO_DWORDS.union(T::ALL_FLOATS);
    /// The types that DPAS reads and writes.
    pub(crate) const DPAS: T = DWORDS.union(T::ALL_FLOATS);
    /// 32-bit data of messages.
    pub(crate) const DATA32: T = DWORDS.union(T::F);
    /// 64-bit data of messages.
    pub(crate) const DATA64: T = T::UQ.union(T::Q).union(T::DF);
    /// No types are listed.
    pub(crate) const ANY: T = T::empty();

    pub(crate) const SAT: Saturation = Saturation::Yes;
    pub(crate) const NO_SAT: Saturation = Saturation::No;
    pub(crate) const UNLISTED_SAT: Saturation = Saturation::Unlisted;
    pub(crate) const FLOAT_ONLY_SAT: Saturation = Saturation::FloatOnly;
    pub(crate) const FLOAT_SAT: Saturation = Saturation::Float;
    pub(crate) const ARITH_MODS: SourceModifiers = SourceModifiers::Arithmetic;
    pub(crate) const LOGIC_MODS: SourceModifiers = SourceModifiers::Logic;
    pub(crate) const NO_MODS: SourceModifiers = SourceModifiers::None;
    pub(crate) const UNKNOWN_SAT: Saturation = Saturation::Unspecified;
    pub(crate) const UNKNOWN_MODS: SourceModifiers = SourceModifiers::Unspecified;
    /// The reason for instructions whose semantics are not published.
    pub(crate) const UNDEFINED: &str = "its semantics are not published";
    /// The specification lists no platform.
    pub(crate) const NONE: Platforms = Platforms::empty();
    /// Platforms of the specification up to Broxton.
    pub(crate) const UP_TO_BXT: Platforms =
        Platforms::BDW.union(Platforms::SKL).union(Platforms::BXT);
    /// Platforms of the specification up to Ice Lake.
    pub(crate) const UP_TO_ICL: Platforms = UP_TO_BXT.union(Platforms::ICLLP);
    /// Platforms of the specification from Ice Lake on.
    pub(crate) const SINCE_ICL: Platforms = Platforms::ICLLP.union(Platforms::TGLLP);
    /// Every platform of the specification.
    pub(crate) const ALL: Platforms = Platforms::SPECIFIED;

    /// Execution size.
    pub(crate) const EXEC: FieldDef = FieldDef::new(F::ExecSize, FieldKind::ExecSize);
    /// Predication word.
    pub(crate) const PRED: FieldDef = FieldDef::new(F::Pred, FieldKind::Predicate);
    /// Surface index.
    pub(crate) const SURFACE: FieldDef = FieldDef::new(F::Surface, FieldKind::Surface);
    /// Sampler index.
    pub(crate) const SAMPLER: FieldDef = FieldDef::new(F::Sampler, FieldKind::Sampler);
    /// Lane count of the old gather and scatter messages.
    pub(crate) const NUM_ELTS: FieldDef = FieldDef::new(F::NumElts, FieldKind::ElementCount);

    const fn operand(
        name: F,
        kind: FieldKind,
        role: Role,
        classes: OperandClasses,
        types: T,
    ) -> FieldDef {
        let mut field = FieldDef::new(name, kind);
        field.role = role;
        field.classes = classes;
        field.types = types;
        field
    }

    /// The destination, a vector operand.
    pub(crate) const fn dst(classes: OperandClasses, types: T) -> FieldDef {
        to(F::Dst, classes, types)
    }

    /// A destination, a vector operand.
    pub(crate) const fn to(name: F, classes: OperandClasses, types: T) -> FieldDef {
        operand(name, FieldKind::Vector, Role::Destination, classes, types)
    }

    /// A source, a vector operand.
    pub(crate) const fn src(name: F, classes: OperandClasses, types: T) -> FieldDef {
        operand(name, FieldKind::Vector, Role::Source, classes, types)
    }

    /// A source of which one element is used, a vector operand.
    pub(crate) const fn scalar(name: F, types: T) -> FieldDef {
        src(name, GIM, types).scalar()
    }

    /// A raw source.
    pub(crate) const fn raw(name: F, types: T) -> FieldDef {
        operand(
            name,
            FieldKind::Raw,
            Role::Source,
            OperandClasses::empty(),
            types,
        )
    }

    /// A raw destination.
    pub(crate) const fn raw_to(name: F, types: T) -> FieldDef {
        operand(
            name,
            FieldKind::Raw,
            Role::Destination,
            OperandClasses::empty(),
            types,
        )
    }

    /// A byte.
    pub(crate) const fn u8(name: F) -> FieldDef {
        FieldDef::new(name, FieldKind::U8)
    }

    /// A 16-bit number.
    pub(crate) const fn u16(name: F) -> FieldDef {
        FieldDef::new(name, FieldKind::U16)
    }

    /// A 32-bit number.
    pub(crate) const fn u32(name: F) -> FieldDef {
        FieldDef::new(name, FieldKind::U32)
    }

    /// A signed 32-bit number.
    pub(crate) const fn i32(name: F) -> FieldDef {
        FieldDef::new(name, FieldKind::I32)
    }

    /// A field of another kind.
    pub(crate) const fn field(name: F, kind: FieldKind) -> FieldDef {
        FieldDef::new(name, kind)
    }

    /// Present since a version.
    pub(crate) const fn since(feature: Features) -> Condition {
        Condition::with(feature)
    }

    /// Present before a version.
    pub(crate) const fn before(feature: Features) -> Condition {
        Condition::without(feature)
    }
}
