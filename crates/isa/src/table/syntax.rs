//! How instructions are written in vISA text: one description for printing and for parsing.
//!
//! A row has a [`Syntax`]: the kind of line it produces and the [`Part`]s of that line in order. Most
//! rows share [`Syntax::STANDARD`]; rows whose text order or spelling differs from the stream state
//! this beside their fields.

use super::names::FieldName;

/// The kind of line an instruction is written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind {
    /// Indented, numbered in a comment at the end.
    Instruction,
    /// Indented, without a number.
    Directive,
    /// A label: not indented, followed by a colon.
    Label,
}

/// The text form of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// The kind of line.
    pub line: LineKind,
    /// The pieces of the line, in order.
    pub parts: &'static [Part],
    /// Other forms that assemblers accept. Printers do not use them.
    pub also: &'static [&'static [Part]],
}

impl Syntax {
    /// Predicate, mnemonic, saturation, execution size, then every operand in stream order.
    pub const STANDARD: Self = Self::of(&[
        Part::Predicate,
        Part::Mnemonic,
        Part::Saturation,
        Part::Text(" "),
        Part::ExecSize,
        Part::Operands,
    ]);

    /// An ordinary line of these parts.
    pub(super) const fn of(parts: &'static [Part]) -> Self {
        Self {
            line: LineKind::Instruction,
            parts,
            also: &[],
        }
    }

    /// This line, with these alternative forms.
    pub(super) const fn or(mut self, also: &'static [&'static [Part]]) -> Self {
        self.also = also;
        self
    }

    /// A line without a number.
    pub(super) const fn directive(parts: &'static [Part]) -> Self {
        Self {
            line: LineKind::Directive,
            parts,
            also: &[],
        }
    }

    /// A label.
    pub(super) const fn label() -> Self {
        Self {
            line: LineKind::Label,
            parts: &[Part::Placed(FieldName::Label)],
            also: &[],
        }
    }

    /// The beginning of a subroutine.
    pub(super) const fn subroutine() -> Self {
        Self {
            line: LineKind::Label,
            parts: &[Part::Subroutine(FieldName::Label)],
            also: &[],
        }
    }
}

/// One piece of an instruction's text.
///
/// Unless noted otherwise, pieces that name a field print nothing if the instruction does not have the
/// field.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// These characters.
    Text(&'static str),
    /// The usual mnemonic of the row.
    Mnemonic,
    /// `(!P1.any) `; nothing if the instruction is not predicated.
    Predicate,
    /// `.sat` if the destination saturates.
    Saturation,
    /// `(M1_NM, 16)`
    ExecSize,
    /// `(M1, 8)`: the mask of the execution size with a fixed number of lanes.
    FixedLanes(u8),
    /// `(M1, 16)` of an element count.
    Lanes(FieldName),
    /// Every vector and raw operand in stream order, each as [`Part::Operand`].
    Operands,
    /// A blank and the operand.
    Operand(FieldName),
    /// Every raw operand of a list, each after a blank.
    List(FieldName),
    /// A blank and a general variable without a region.
    NoRegion(FieldName),
    /// A blank and the address of a variable: `&V32[4]`.
    AddressOf(FieldName),
    /// An operand without a region; its offset only if it is not zero.
    Bare(FieldName),
    /// A surface by its name.
    Surface(FieldName),
    /// A surface by its number, predefined or not.
    SurfaceNumber(FieldName),
    /// A sampler.
    Sampler(FieldName),
    /// A sampler or surface: the name in the first field, or else the variable of the second and the
    /// index of the third: `S31`, `V32`, `(V32, 0x3)`.
    State(FieldName, FieldName, FieldName),
    /// The caching controls of the levels, unless all have the default: `.ca.uc` for the first and the
    /// third, `.ca.ca.uc` for all.
    Caching,
    /// A decimal number.
    Number(FieldName),
    /// Two to the power of these bits of a field.
    PowerOfTwo(FieldName, u8),
    /// A hexadecimal number without prefix.
    HexDigits(FieldName),
    /// A hexadecimal number with `0x`.
    Hex(FieldName),
    /// A hexadecimal number of 64 bits with `0x`, its upper half first.
    HexPair(FieldName, FieldName),
    /// `+0x10` or `-0x10`; nothing for zero.
    SignedHex(FieldName),
    /// The name of the value in the field's enumeration.
    Named(FieldName),
    /// The name of an operation in the field's enumeration. In text only the codes whose bits are set
    /// here denote this instruction.
    Operation(FieldName, u64),
    /// The letters of the channels whose bits are set.
    Channels(FieldName, &'static str),
    /// The letters of the channels whose bits are clear.
    ChannelsInverted(FieldName, &'static str),
    /// The texts of the bits that are set, in this order: bit number, text.
    Flags(FieldName, &'static [(u8, &'static str)]),
    /// A text for each value of some bits of a field.
    Choice(&'static Choice),
    /// A blank and VA's choice of minimum and maximum, as a word if it is a constant.
    MinMaxMode(FieldName),
    /// These parts if the test holds.
    If(Test, &'static [Part]),
    /// These parts, which Intel's printer omits.
    NotIntel(&'static [Part]),
    /// These parts, which hand-written text may omit.
    MayOmit(&'static [Part]),
    /// These parts if a text has them. No printer writes them.
    InputOnly(&'static [Part]),
    /// The four precisions and counts of a systolic instruction: `.s8.u8.8.8`.
    Precision(FieldName),
    /// A label that is placed here, with everything its kind requires.
    Placed(FieldName),
    /// A subroutine that begins here: its directive and its label.
    Subroutine(FieldName),
    /// A label as a target; subroutines carry their number.
    Target(FieldName),
    /// A label by its bare name.
    BareTarget(FieldName),
    /// `call` or `fccall`, depending on the kind of the label; followed by [`Part::CallTarget`].
    CallMnemonic(FieldName),
    /// A label with its number.
    CallTarget(FieldName),
    /// Bare labels of a list, separated by commas.
    Targets(FieldName),
    /// A string of the pool, quoted.
    Quoted(FieldName),
    /// A string of the pool as a name, with illegal characters replaced.
    Name(FieldName),
    /// A string of the pool, quoted unless it is a plain name.
    Symbol(FieldName),
    /// The variable of a LIFETIME.
    Variable(FieldName),
}

impl Part {
    /// The fields of [`Part::Caching`], in text order.
    pub const CACHING: [FieldName; 3] =
        [FieldName::CacheL1, FieldName::CacheL2, FieldName::CacheL3];
}

/// Texts for the values of some bits of a field.
#[derive(Debug)]
pub struct Choice {
    /// The field.
    pub field: FieldName,
    /// Bits that are tested.
    pub mask: u16,
    /// Values of those bits with their texts.
    pub cases: &'static [(u16, &'static str)],
    /// The text of every other value.
    pub otherwise: &'static str,
}

/// A test that decides whether parts are present.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// The field is present.
    Present(FieldName),
    /// The field is absent.
    Absent(FieldName),
    /// The bits of the field selected by the mask are not all zero.
    Bits(FieldName, u16),
    /// The bits of the field selected by the mask are all zero.
    NoBits(FieldName, u16),
    /// The number differs from this one.
    Not(FieldName, u16),
    /// The field's value is one of those whose bits are set here.
    OneOf(FieldName, u32),
    /// The number is greater than this one.
    Above(FieldName, u16),
    /// The operand is not the null operand.
    NotNull(FieldName),
    /// The operand is the null operand.
    Null(FieldName),
    /// The operand is not the constant 0.
    NotZero(FieldName),
}

#[cfg(test)]
mod tests {
    use super::Part;
    use crate::table::{FieldKind, FieldName, InstructionDef, rows};
    use alloc::vec::Vec;

    /// The fields shown by parts; `Operands` shows all of them.
    fn shown(row: &InstructionDef, parts: &[Part], names: &mut Vec<FieldName>) {
        for part in parts {
            match part {
                Part::Operands => names.extend(
                    row.fields
                        .iter()
                        .filter(|f| matches!(f.kind, FieldKind::Vector | FieldKind::Raw))
                        .map(|f| f.name),
                ),
                Part::Predicate => names.push(FieldName::Pred),
                Part::ExecSize | Part::FixedLanes(_) => names.push(FieldName::ExecSize),
                Part::If(_, parts) | Part::NotIntel(parts) | Part::MayOmit(parts) => {
                    shown(row, parts, names);
                }
                Part::Choice(choice) => names.push(choice.field),
                Part::Text(_) | Part::Mnemonic | Part::Saturation | Part::InputOnly(_) => {}
                Part::HexPair(high, low) => names.extend([*high, *low]),
                Part::State(name, state, index) => names.extend([*name, *state, *index]),
                Part::Caching => names.extend(Part::CACHING),
                Part::Lanes(name)
                | Part::Operand(name)
                | Part::List(name)
                | Part::NoRegion(name)
                | Part::AddressOf(name)
                | Part::Bare(name)
                | Part::Surface(name)
                | Part::SurfaceNumber(name)
                | Part::Sampler(name)
                | Part::Number(name)
                | Part::PowerOfTwo(name, _)
                | Part::HexDigits(name)
                | Part::Hex(name)
                | Part::SignedHex(name)
                | Part::Named(name)
                | Part::Operation(name, _)
                | Part::Channels(name, _)
                | Part::ChannelsInverted(name, _)
                | Part::Flags(name, _)
                | Part::MinMaxMode(name)
                | Part::Precision(name)
                | Part::Placed(name)
                | Part::Subroutine(name)
                | Part::Target(name)
                | Part::BareTarget(name)
                | Part::CallMnemonic(name)
                | Part::CallTarget(name)
                | Part::Targets(name)
                | Part::Quoted(name)
                | Part::Name(name)
                | Part::Symbol(name)
                | Part::Variable(name) => names.push(*name),
            }
        }
    }

    /// Fields that text cannot show.
    fn is_silent(row: &InstructionDef, name: FieldName) -> bool {
        use FieldName as F;
        match row.name {
            // One lane, and only the surface is used.
            "LSC_FENCE" => name == F::ExecSize,
            "LSC_TYPED_READ_STATE_INFO" => !matches!(name, F::Pred | F::Surface | F::Dst),
            // Loads have a field for data that they do not send, stores for a result.
            _ if row.name.starts_with("LSC_") => {
                let stores = row.name.contains("STORE") || row.name.contains("CCS");
                let stores =
                    (stores || row.name.contains("CACHE_CTRL")) && !row.name.contains("ATOMIC");
                if stores {
                    matches!(name, F::Dst | F::Src2Data)
                } else {
                    matches!(name, F::Src1Data | F::Src2Data) && row.name.contains("LOAD")
                }
            }
            _ => false,
        }
    }

    #[test]
    fn every_operand_has_a_place_in_text() {
        for row in rows().filter(|row| row.has_layout()) {
            let mut names = Vec::new();
            shown(row, row.syntax.parts, &mut names);
            for field in row.fields {
                let number = matches!(
                    field.kind,
                    FieldKind::U8
                        | FieldKind::U16
                        | FieldKind::U32
                        | FieldKind::I32
                        | FieldKind::Count
                );
                assert!(
                    number || names.contains(&field.name) || is_silent(row, field.name),
                    "{} of {}",
                    field.name,
                    row.name
                );
            }
        }
    }

    #[test]
    fn destinations_are_known_by_their_names() {
        use crate::table::Role;
        for row in rows() {
            for field in row.fields {
                assert_eq!(
                    field.role == Role::Destination,
                    field.name.is_destination(),
                    "{} of {}",
                    field.name,
                    row.name
                );
            }
        }
    }
}
