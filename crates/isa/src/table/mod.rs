//! The instruction table: every opcode and sub-operation with its fields in stream order.
//!
//! This is the only list of instructions in the project. The reader follows the fields of a row to
//! decode bytes, the writer follows the same fields to encode them, and references, statistics and
//! generators enumerate [`rows`].
//!
//! ```
//! use visakit_isa::{table, Op};
//!
//! let bfi = Op::BFI.def();
//! assert_eq!(bfi.op.opcode(), 0x47);
//! assert_eq!(bfi.mnemonics, ["bfi"]);
//! let fields: Vec<_> = bfi.fields.iter().map(|f| f.name.as_str()).collect();
//! assert_eq!(fields, ["exec_size", "pred", "dst", "src0", "src1", "src2", "src3"]);
//! assert_eq!(table::rows().filter(|row| row.op.opcode() == 0x89).count(), 40);
//! ```

mod field;
mod lookup;
mod lsc_text;
mod month;
mod names;
mod op;
mod page;
mod syntax;
mod va_text;

// The groups of rows, each with a macro that `for_each_op` visits.
mod arith;
mod dataport;
mod flow;
mod logic;
mod lsc;
mod misc;
mod mov;
mod probe;
mod sampler;
mod svm;
mod va;

pub use field::{FieldDef, FieldKind, FieldPattern, KeyTest, Role};
pub use lookup::{Lookup, lookup};
pub use month::Month;
pub use names::FieldName;
pub use op::Op;
pub use page::{entry, page};
pub use syntax::{Choice, LineKind, Part, Syntax, Test};

use crate::enums;
use crate::instruction::Value;
use crate::operand::{ImmediateOperand, Predicate, RawOperand};
use crate::platform::{Platform, Platforms};
use crate::semantics::{Action, Conversion, Ending, Flow, Implicit, Memory, Traits};
use crate::types::DataType;
use crate::version::{Condition, Features, Format};
use alloc::vec::Vec;

/// The category of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Group {
    /// Arithmetic and mathematics.
    Arithmetic,
    /// Bits and shifts.
    Logic,
    /// Moves, selections, conversions.
    Move,
    /// Comparison.
    Compare,
    /// Address arithmetic.
    Address,
    /// Labels, jumps, calls.
    Flow,
    /// Structured and divergent SIMD control flow.
    SimdFlow,
    /// Synchronisation.
    Sync,
    /// Load/store cache messages.
    Lsc,
    /// Shared virtual memory messages.
    Svm,
    /// Data-port messages.
    DataPort,
    /// Media sampler messages.
    Sampler,
    /// 3D sampler, render-target and URB messages.
    ThreeD,
    /// Video motion estimation and video analytics.
    Video,
    /// Everything else.
    Miscellaneous,
}

impl Group {
    /// Name used in references and statistics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Logic => "logic",
            Self::Move => "move",
            Self::Compare => "compare",
            Self::Address => "address",
            Self::Flow => "flow",
            Self::SimdFlow => "simd-flow",
            Self::Sync => "sync",
            Self::Lsc => "lsc",
            Self::Svm => "svm",
            Self::DataPort => "data-port",
            Self::Sampler => "sampler",
            Self::ThreeD => "3d",
            Self::Video => "video",
            Self::Miscellaneous => "miscellaneous",
        }
    }
}

/// Whether an instruction has a binary form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Known to current readers.
    Active,
    /// Known to old readers only.
    Retired,
    /// Known to text tools only: no binary reader or writer ever supported it, so it has no layout,
    /// and no version before 4.2 has it.
    TextOnly,
}

impl Status {
    /// Name used in references.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Retired => "retired",
            Self::TextOnly => "text only",
        }
    }
}

/// Whether a destination may saturate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Saturation {
    /// The specification does not say.
    Unspecified,
    /// Never.
    No,
    /// The specification does not list it, but the reference implementation accepts it.
    Unlisted,
    /// Always allowed.
    Yes,
    /// Listed for floating-point destinations; the reference implementation accepts others, too.
    Float,
    /// Allowed for floating-point destinations only.
    FloatOnly,
}

/// Which modifiers a source may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SourceModifiers {
    /// The specification does not say.
    Unspecified,
    /// None.
    None,
    /// Absolute value and negation.
    Arithmetic,
    /// Complement.
    Logic,
}

/// Why a platform does not have an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lack {
    /// It was introduced later, with this platform.
    NotYet(Platform),
    /// It was removed.
    NoLonger,
    /// The written specification does not list it for the platform.
    NotListed,
}

/// One row of the table.
#[derive(Debug)]
pub struct InstructionDef {
    /// The operation.
    pub op: Op,
    /// Name of the row, the constant of [`Op`].
    pub name: &'static str,
    /// The spellings in vISA text, the usual one first.
    pub mnemonics: &'static [&'static str],
    /// What the instruction does, one sentence.
    pub summary: &'static str,
    /// Its category.
    pub group: Group,
    /// Whether it has a binary form.
    pub status: Status,
    /// The second byte, for opcodes whose layout depends on it.
    pub sub_op: Option<u8>,
    /// Versions in which the opcode means this instruction.
    pub when: Condition,
    /// The fields after opcode and sub-operation, in stream order.
    pub fields: &'static [FieldDef],
    /// What the fields have in common.
    pub pattern: FieldPattern,
    /// Unmarked features that the layout depends on.
    pub unmarked: Features,
    /// How it is written in text.
    pub syntax: Syntax,
    /// Whether a destination may saturate.
    pub saturation: Saturation,
    /// Which modifiers a source may have.
    pub source_modifiers: SourceModifiers,
    /// Where control continues.
    pub flow: Flow,
    /// Whether it may be the last instruction that a thread runs.
    pub ending: Ending,
    /// What it does to memory; `None` if nothing.
    pub memory: Option<Memory>,
    /// Rules of its types and operands.
    pub traits: Traits,
    /// The conversions it performs, if they are restricted to a list.
    pub conversions: &'static [Conversion],
    /// What it reads and writes without an operand naming it.
    pub implicit: Implicit,
    /// Why it cannot be executed without the hardware; empty if it can.
    pub unsupported: &'static str,
    /// Platforms of the written specification that have the instruction; empty if it lists none (it
    /// is newer than all of them, or undocumented).
    pub platforms: Platforms,
    /// First platform that has it according to the sources, if they say so.
    pub since_platform: Option<Platform>,
    /// Platforms that no longer have it.
    pub lacking: Platforms,
    /// First appearance in public sources, if later than the first release.
    pub since: Option<Month>,
    /// Further remarks.
    pub note: &'static str,
}

/// Rows are equal if they have the same operation.
impl PartialEq for InstructionDef {
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op
    }
}

impl Eq for InstructionDef {}

impl InstructionDef {
    /// A row identified by its opcode alone.
    pub(crate) const fn plain(op: Op, group: Group, mnemonics: &'static [&'static str]) -> Self {
        Self {
            op,
            name: "",
            mnemonics,
            summary: "",
            group,
            status: Status::Active,
            sub_op: None,
            when: Condition::ALWAYS,
            fields: &[],
            pattern: FieldPattern::Fixed,
            unmarked: Features::empty(),
            syntax: Syntax::STANDARD,
            saturation: Saturation::Unspecified,
            source_modifiers: SourceModifiers::Unspecified,
            flow: Flow::Next,
            ending: Ending::Never,
            memory: None,
            traits: Traits::empty(),
            conversions: &[],
            implicit: Implicit::empty(),
            unsupported: "",
            platforms: Platforms::empty(),
            since_platform: None,
            lacking: Platforms::empty(),
            since: None,
            note: "",
        }
    }

    pub(crate) const fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    /// A row distinguished from others with the same opcode by a second byte.
    pub(crate) const fn sub(op: Op, group: Group, mnemonics: &'static [&'static str]) -> Self {
        let mut def = Self::plain(op, group, mnemonics);
        def.sub_op = Some((op as u16 & 0xff) as u8);
        def
    }

    /// The older of two rows that share an opcode.
    pub(crate) const fn reused(op: Op, group: Group, mnemonics: &'static [&'static str]) -> Self {
        Self::plain(op, group, mnemonics)
    }

    pub(crate) const fn retired(mut self, when: Condition) -> Self {
        self.status = Status::Retired;
        self.when = when;
        self
    }

    pub(crate) const fn text_only(mut self) -> Self {
        self.status = Status::TextOnly;
        self
    }

    pub(crate) const fn when(mut self, when: Condition) -> Self {
        self.when = when;
        self
    }

    /// The content of the page of the written specification.
    pub(crate) const fn spec(
        mut self,
        saturation: Saturation,
        modifiers: SourceModifiers,
        platforms: Platforms,
    ) -> Self {
        self.saturation = saturation;
        self.source_modifiers = modifiers;
        self.platforms = platforms;
        self
    }

    /// The text form, if it is not the standard one.
    pub(crate) const fn text(mut self, parts: &'static [Part]) -> Self {
        self.syntax = Syntax::of(parts);
        self
    }

    /// The text form, if it is not an ordinary line.
    pub(crate) const fn syntax(mut self, syntax: Syntax) -> Self {
        self.syntax = syntax;
        self
    }

    /// What all LSC rows have in common.
    pub(crate) const fn lsc(self) -> Self {
        self.spec(Saturation::No, SourceModifiers::None, Platforms::empty())
            .since_platform(Platform::Dg2)
            .since("2021-11")
    }

    pub(crate) const fn flow(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }

    pub(crate) const fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    pub(crate) const fn memory(mut self, memory: Memory) -> Self {
        self.memory = Some(memory);
        self
    }

    pub(crate) const fn traits(mut self, traits: Traits) -> Self {
        self.traits = self.traits.union(traits);
        self
    }

    pub(crate) const fn converts(mut self, conversions: &'static [Conversion]) -> Self {
        self.conversions = conversions;
        self
    }

    pub(crate) const fn implicit(mut self, implicit: Implicit) -> Self {
        self.implicit = implicit;
        self
    }

    /// The reason why it cannot be executed without the hardware.
    pub(crate) const fn unsupported(mut self, reason: &'static str) -> Self {
        self.unsupported = reason;
        self
    }

    pub(crate) const fn since_platform(mut self, platform: Platform) -> Self {
        self.since_platform = Some(platform);
        self
    }

    pub(crate) const fn lacking(mut self, platforms: Platforms) -> Self {
        self.lacking = platforms;
        self
    }

    pub(crate) const fn since(mut self, month: &str) -> Self {
        self.since = Some(Month::parse(month));
        self
    }

    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Whether `format` has the instruction.
    #[must_use]
    pub const fn exists_in(&self, format: Format) -> bool {
        let said = self.has_layout() || format.features().contains(Features::SINCE_4_2);
        said && self.when.holds(format)
    }

    /// Whether the instruction has a binary form in any version.
    #[must_use]
    pub const fn has_layout(&self) -> bool {
        !matches!(self.status, Status::TextOnly)
    }

    /// Whether a platform has the instruction. The written specification ends with Tiger Lake; its
    /// last column is used for all later platforms.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn runs_on(&self, platform: Platform) -> Result<(), Lack> {
        if self.lacking.contains(platform.set()) {
            return Err(Lack::NoLonger);
        }
        if let Some(first) = self.since_platform {
            return if platform < first {
                Err(Lack::NotYet(first))
            } else {
                Ok(())
            };
        }
        if self.platforms.is_empty() || self.platforms.contains(platform.column()) {
            Ok(())
        } else {
            Err(Lack::NotListed)
        }
    }

    /// The first field of that name.
    #[must_use]
    pub fn field(&self, name: FieldName) -> Option<&'static FieldDef> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The usual mnemonic.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.mnemonics.first().copied().unwrap_or(self.name)
    }

    /// The words that a line in one of its forms may begin with, after the predicate.
    #[must_use]
    pub fn spellings(&self, parts: &[Part]) -> Vec<&'static str> {
        let first = parts.iter().find(|p| !matches!(p, Part::Predicate));
        match first {
            Some(Part::Mnemonic) => self.mnemonics.to_vec(),
            Some(Part::Text(text)) => Vec::from([*text]),
            Some(Part::Choice(choice)) => {
                let cases = choice.cases.iter().map(|(_, text)| *text);
                cases.chain([choice.otherwise]).collect()
            }
            Some(Part::Operation(name, codes)) => {
                let names = self.field(*name).and_then(|field| field.enumeration);
                let entries = names.map_or(&[][..], |names| names.entries).iter();
                let meant = entries.filter(|(code, _)| codes >> code & 1 == 1);
                meant.map(|(_, text)| *text).collect()
            }
            Some(Part::CallMnemonic(_)) => Vec::from(["call", "fccall"]),
            _ => Vec::new(),
        }
    }

    /// Whether a load/store cache message uses a data operand that its layout has. `true` for every
    /// other operand.
    fn moves(&self, data: FieldName) -> bool {
        let action = self.memory.map(|memory| memory.action);
        match (action, data) {
            (Some(Action::Load), FieldName::Src1Data | FieldName::Src2Data)
            | (Some(Action::Store), FieldName::Dst | FieldName::Src2Data) => false,
            (Some(Action::Atomic(op)), FieldName::Src1Data) => op.operands() > 0,
            (Some(Action::Atomic(op)), FieldName::Src2Data) => op.operands() > 1,
            _ => true,
        }
    }

    /// The neutral value of a field of this instruction: the one that compilers unaware of the field
    /// imply. `None` if the field must be set.
    #[must_use]
    pub fn neutral(&self, field: &FieldDef, format: Format) -> Option<Value> {
        let zero = |ty: DataType| Value::Vector(ImmediateOperand::new(ty.into(), 0).into());
        Some(match (field.name, field.kind) {
            (FieldName::Pred, _) => Value::Predicate(Predicate::NONE),
            (
                FieldName::Lod
                | FieldName::PairedSurface
                | FieldName::SamplerState
                | FieldName::SurfaceState,
                FieldKind::Raw,
            ) => Value::Raw(RawOperand::NULL),
            (_, FieldKind::Raw) if !self.moves(field.name) => Value::Raw(RawOperand::NULL),
            (
                FieldName::Flags
                | FieldName::CacheL1
                | FieldName::CacheL2
                | FieldName::CacheL3
                | FieldName::CacheOp
                | FieldName::CacheSize
                | FieldName::Overfetch
                | FieldName::MultiSampled,
                FieldKind::U8,
            ) => Value::U8(0),
            (FieldName::DataOrder, _) => Value::U8(enums::lsc_data_order::NONTRANSPOSE),
            (FieldName::AddrScale, _) => Value::U16(1),
            (FieldName::Scale | FieldName::Aoffimmi16, _) => Value::U16(0),
            (FieldName::SurfaceIndex | FieldName::SamplerIndex, _) => Value::U32(0),
            (_, FieldKind::I32) => Value::I32(0),
            (FieldName::Aoffimmi | FieldName::Type, FieldKind::Vector) => zero(DataType::Uw),
            (FieldName::Mask, FieldKind::Vector) => {
                // Writers of the early versions used another type for the absent mask than later
                // ones.
                let early = !format.features().contains(Features::SINCE_3_3);
                zero(if early { DataType::Uw } else { DataType::Ub })
            }
            _ => return None,
        })
    }

    /// The fields that are present in `format`, including those that depend on another field's
    /// value.
    pub fn fields_in(&self, format: Format) -> impl Iterator<Item = &'static FieldDef> {
        self.fields.iter().filter(move |f| f.when.holds(format))
    }
}

/// Declares the rows of one group.
macro_rules! instructions {
    (
        $(
            #[doc = $summary:literal]
            $name:ident = $op:ident($($arg:expr),+) $mnemonics:tt $(.$setter:ident($($value:expr),*))*
                => $fields:expr;
        )*
    ) => {
        pub(super) static ROWS: &[$crate::table::InstructionDef] = &[
            $({
                let def = $crate::table::InstructionDef::$op(
                    $crate::table::Op::$name,
                    GROUP,
                    &$mnemonics,
                )$(.$setter($($value),*))*;
                $crate::table::InstructionDef {
                    name: stringify!($name),
                    summary: $summary.trim_ascii(),
                    fields: $fields,
                    pattern: $crate::table::field::FieldPattern::of($fields),
                    unmarked: $crate::table::field::unmarked($fields),
                    ..def
                }
            },)*
        ];
    };
}
use instructions;

/// The groups of rows, in order of their files.
static PARTS: [&[InstructionDef]; 11] = [
    arith::ROWS,
    logic::ROWS,
    mov::ROWS,
    flow::ROWS,
    dataport::ROWS,
    svm::ROWS,
    sampler::ROWS,
    va::ROWS,
    misc::ROWS,
    lsc::ROWS,
    probe::ROWS,
];

/// Every row of the table.
pub fn rows() -> impl Iterator<Item = &'static InstructionDef> {
    PARTS.iter().copied().flatten()
}
