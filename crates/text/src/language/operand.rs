//! Which operands text can express, and what their texts mean.

use core::ops::RangeInclusive;
use visakit_isa::enums::lsc_addr_type;
use visakit_isa::object::Body;
use visakit_isa::operand::{
    GeneralOperand, ImmediateOperand, Modifier, OperandClasses, PropertyByte, RegionCode,
};
use visakit_isa::table::{FieldDef, FieldName, InstructionDef, Op, Role};
use visakit_isa::{DataType, Format, RawOperand, Region, TypeSet, VarId, VectorOperand, Version};

/// Modifiers of sources with their texts. Saturation is written with the mnemonic.
pub(crate) const MODIFIERS: [(&str, Modifier); 4] = [
    ("(-)", Modifier::NEG),
    ("(abs)", Modifier::ABS),
    ("(-abs)", Modifier::NEG_ABS),
    ("(~)", Modifier::NOT),
];

/// The text before a source with this modifier.
#[inline]
pub(crate) fn modifier_text(modifier: Modifier) -> &'static str {
    if modifier == Modifier::NONE {
        return "";
    }
    let known = MODIFIERS.iter().find(|(_, m)| *m == modifier);
    known.map_or("", |(text, _)| *text)
}

/// Offsets in bytes that an indirect operand can have.
pub(crate) const INDIRECT_OFFSETS: RangeInclusive<i64> = -512..=511;

/// Offsets in bytes that an address-of operand can have; of states, elements.
pub(crate) const fn address_offsets(general: bool) -> RangeInclusive<i64> {
    if general { 0..=0x7fff } else { 0..=255 }
}

/// Offsets in bytes that a raw operand can have.
pub(crate) const fn raw_offsets(variable: VarId) -> RangeInclusive<i64> {
    if variable.0 == VarId::NULL.0 {
        0..=0
    } else {
        0..=0xffff
    }
}

/// The code of a number of address elements.
pub(crate) fn address_width(elements: u8) -> Option<u8> {
    let fits = elements.is_power_of_two() && elements <= 32;
    fits.then(|| u8::try_from(elements.trailing_zeros()).unwrap_or(0))
}

/// The operand classes that the language accepts: where general variables are read, also their
/// substitutes, which is more than the specification lists but what compilers write.
#[inline]
pub(crate) fn classes(def: &InstructionDef, field: &FieldDef) -> OperandClasses {
    let listed = field.classes;
    if listed.is_empty() {
        return listed;
    }
    let more = match def.op {
        // In three rows Intel's assembler accepts other classes than the specification lists.
        Op::LINE if field.name == FieldName::Src0 => OperandClasses::empty(),
        Op::MOV => OperandClasses::ADDRESS,
        Op::FADDR => OperandClasses::INDIRECT,
        _ if listed.contains(OperandClasses::GENERAL) && field.role == Role::Source => {
            OperandClasses::INDIRECT.union(OperandClasses::IMMEDIATE)
        }
        _ => OperandClasses::empty(),
    };
    listed.union(more)
}

/// The largest values that the parts of a region can have in text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegionPart {
    /// The first number, whatever it means.
    First,
    /// The width, after a vertical stride.
    Width,
    /// The horizontal stride after a width.
    Horizontal,
    /// The horizontal stride of a destination.
    Destination,
}

impl RegionPart {
    /// The largest number of elements.
    pub(crate) const fn most(self) -> u8 {
        match self {
            Self::First => 32,
            Self::Width => 16,
            Self::Horizontal | Self::Destination => 4,
        }
    }
}

/// The region that this one's text is read as; `None` if no text is accepted for it.
#[inline]
pub(crate) fn region(region: Region, destination: bool) -> Option<Region> {
    let absent = RegionCode::ABSENT;
    let (v, w, h) = (
        region.vertical_stride(),
        region.width(),
        region.horizontal_stride(),
    );
    // A stride that is meaningless is printed as -1, and -1 is read as absent.
    let last = h.elements().map_or(absent, |_| h);
    let takes = |part: RegionPart, code: RegionCode| {
        let elements = code.elements();
        elements.is_some_and(|elements| elements <= part.most())
    };
    let takes_last = |part| last == absent || takes(part, last);
    let (taken, v, w) = if destination {
        (takes_last(RegionPart::Destination), absent, absent)
    } else if w == absent {
        (takes_last(RegionPart::First), absent, absent)
    } else if v == absent {
        let taken = takes(RegionPart::First, w) && takes_last(RegionPart::Horizontal);
        (taken, absent, w)
    } else {
        let taken = takes(RegionPart::First, v)
            && takes(RegionPart::Width, w)
            && takes_last(RegionPart::Horizontal);
        (taken, v, w)
    };
    taken.then(|| Region::of_codes(v, w, last))
}

/// Whether a field takes constants of a type.
pub(crate) fn takes_constant(field: &FieldDef, ty: DataType) -> bool {
    let takes = |set: TypeSet| field.types.is_empty() || field.types.intersects(set);
    let float = ty.is_float() && ty != DataType::Vf;
    ImmediateOperand::wire_size(ty).is_some()
        && (!float || takes(TypeSet::ALL_FLOATS))
        && (float || ty.is_packed() || takes(TypeSet::INTEGERS))
}

/// The lowest 64 bits of a number.
#[allow(clippy::cast_possible_truncation)] // that is what it is for
pub(crate) const fn bits(value: i128) -> u64 {
    value.cast_unsigned() as u64
}

/// The stored bits of a whole number of a type, or the accepted range if it is outside. `negative`
/// numbers of floats are bit patterns, negated as floats.
pub(crate) fn constant_bits(
    value: i128,
    ty: DataType,
    negative: bool,
) -> Result<u64, RangeInclusive<i128>> {
    let size = u32::from(ty.size()) * 8;
    let half = 1i128 << (size - 1);
    if ty.is_float() && negative {
        let pattern = value.wrapping_neg();
        if !(0..2 * half).contains(&pattern) {
            return Err(1 - 2 * half..=2 * half - 1);
        }
        return Ok(bits(pattern ^ half));
    }
    let extended = (1i128 << 32) - half..1i128 << 32;
    if (-half..2 * half).contains(&value) || size < 32 && extended.contains(&value) {
        let whole = if size == 64 { u64::MAX } else { 0xffff_ffff };
        return Ok(bits(value) & whole);
    }
    Err(-half..=2 * half - 1)
}

/// The value of a constant as text shows it: 64 bits for the wide types, otherwise 32, with narrow
/// types zero- or sign-extended.
#[inline]
pub(crate) fn shown_constant(operand: ImmediateOperand) -> u64 {
    operand.normalized().bits()
}

/// The type of an untyped constant in a message, and the range of its values: bases of some address
/// models are addresses.
pub(crate) fn bare_constant(name: FieldName, model: u32) -> (DataType, RangeInclusive<i64>) {
    let model = u8::try_from(model).unwrap_or(0);
    let wide =
        name == FieldName::Surface && matches!(model, lsc_addr_type::FLAT | lsc_addr_type::SURF);
    if wide {
        (DataType::Uq, i64::MIN..=i64::MAX)
    } else {
        (DataType::Ud, i64::from(i32::MIN)..=i64::from(u32::MAX))
    }
}

/// A constant of a message by its number.
pub(crate) fn bare_constant_operand(ty: DataType, value: i64) -> ImmediateOperand {
    let bits = value.cast_unsigned();
    let bits = if ty == DataType::Uq {
        bits
    } else {
        bits & 0xffff_ffff
    };
    ImmediateOperand::new(PropertyByte::from(ty), bits)
}

/// A general variable written without a region: one element.
pub(crate) fn one_element(variable: VarId, row: u8, column: u8) -> GeneralOperand {
    GeneralOperand {
        variable,
        row,
        column,
        region: Region::SCALAR,
        ..GeneralOperand::default()
    }
}

/// A general variable written without a region: all elements in a row.
pub(crate) fn all_elements(variable: VarId, row: u8, column: u8) -> GeneralOperand {
    GeneralOperand {
        region: Region::source(1, 1, 0).unwrap_or_default(),
        ..one_element(variable, row, column)
    }
}

/// Type and size in bytes of a general variable.
pub(crate) fn variable(body: &Body<'_>, format: Format, id: VarId) -> Option<(DataType, u32)> {
    let first = format.predefined_variable_count();
    if let Some(index) = id.0.checked_sub(first) {
        let variable = body.variables.get(usize::try_from(index).ok()?)?;
        return Some((variable.properties.data_type(), variable.size()));
    }
    let variable = format.predefined_variable(id)?;
    let bytes = u32::from(variable.elements) * u32::from(variable.data_type.size());
    Some((variable.data_type, bytes))
}

/// Bytes of the element that the offset in an address-of operand counts.
pub(crate) fn element_size(body: &Body<'_>, format: Format, id: VarId) -> u32 {
    variable(body, format, id)
        .map_or(DataType::Ud, |(ty, _)| ty)
        .size()
        .into()
}

/// Whether a raw operand can be written as text.
pub(crate) fn raw_is_written(operand: RawOperand) -> bool {
    raw_offsets(operand.variable).contains(&i64::from(operand.offset))
}

/// Whether the language accepts this operand's class in a field.
#[inline]
pub(crate) fn class_is_taken(
    def: &InstructionDef,
    field: &FieldDef,
    operand: &VectorOperand,
) -> bool {
    let classes = classes(def, field);
    classes.is_empty() || classes.has(operand.class())
}

/// Whether the sampler messages of a text name a paired surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paired {
    /// Texts up to 4.0.
    Never,
    /// Texts of 4.1: those of compilers since 2024-02.
    Perhaps,
    /// Texts of 4.2.
    Always,
}

impl Paired {
    /// What a text of this version does.
    pub(crate) fn of(stated: Option<Version>) -> Self {
        match stated {
            Some(Version::V4_2) => Self::Always,
            Some(version) if !version.at_least(Version::V4_1) => Self::Never,
            _ => Self::Perhaps,
        }
    }
}

/// VA's minimum and maximum operations, by number.
pub(crate) const MIN_MAX_WORDS: [&str; 3] = ["VA_MINMAX_ENABLE", "VA_MAX_ENABLE", "VA_MIN_ENABLE"];

/// The constant that one of these words denotes.
pub(crate) fn min_max_mode(mode: u64) -> ImmediateOperand {
    ImmediateOperand::new(PropertyByte::from(DataType::Ub), mode)
}

/// Depths and repeat counts of systolic instructions.
pub(crate) const SYSTOLIC_COUNTS: RangeInclusive<u8> = 1..=8;
