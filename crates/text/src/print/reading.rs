//! What the assembler reads in a line, noted while the line is written. It shows the printer whether
//! the text states all of an instruction, without running the assembler.

use crate::language::fields::{self, Fields};
use crate::language::index::Index;
use crate::language::operand::{self, Paired};
use alloc::vec::Vec;
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, PredicateOperand,
    PropertyByte, StateClass, StateOperand,
};
use visakit_isa::table::{Choice, FieldDef, FieldName, InstructionDef, Role, Test};
use visakit_isa::{
    ExecMask, Format, Instruction, LabelId, Predicate, RawOperand, StringId, Value, VectorOperand,
};

/// How a line compares with the instruction it was printed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// It states the whole instruction.
    Same,
    /// The assembler reads another instruction.
    Other,
    /// The assembler rejects it, or reads it as another kind of line.
    Refused,
}

/// A label or a string named by a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mention {
    Label(LabelId),
    String(StringId),
}

/// Places in a line where the following text decides how the assembler continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ahead {
    /// A number that is 0: followed by an `x` it would be hexadecimal.
    Zero,
    /// No channels: a letter must not follow.
    NoChannels,
    /// No paired surface where one is allowed: a null operand would be taken for it.
    Unpaired,
    /// No scale of an address where one is allowed: a number would be taken for it.
    NoScale,
}

/// What the assembler reads in the line that is being written.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) fields: Fields,
    /// Labels and strings, in text order.
    pub(crate) mentions: Vec<Mention>,
    /// The code of M1 in versions that have two.
    pub(crate) m1_code: u8,
    index: &'static Index,
    format: Format,
    refused: bool,
    saturates: bool,
    ahead: Vec<(usize, Ahead)>,
}

impl Reading {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            fields: Fields::default(),
            mentions: Vec::new(),
            m1_code: 0,
            index: Index::get(),
            format,
            refused: false,
            saturates: false,
            ahead: Vec::new(),
        }
    }

    /// Begins a line.
    #[inline]
    pub(crate) fn begin(&mut self, def: &'static InstructionDef) {
        self.fields.begin(def, self.format);
        self.mentions.clear();
        self.refused = false;
        self.saturates = false;
        self.ahead.clear();
    }

    /// The assembler rejects the line.
    pub(crate) const fn refuse(&mut self) {
        self.refused = true;
    }

    /// What the complete line states.
    #[inline]
    pub(crate) fn meaning(&self, instruction: &Instruction, line: &[u8]) -> Meaning {
        let misread = |(at, ahead): &(usize, Ahead)| {
            let rest = line.get(*at..).unwrap_or_default();
            is_misread(*ahead, rest)
        };
        if self.refused
            || self.ahead.iter().any(misread)
            || !self.index.is_first(self.fields.def(), line)
        {
            return Meaning::Refused;
        }
        let mut fields = instruction.fields.iter();
        let mut same = true;
        let in_step = self.fields.each(|_, def, value| match fields.next() {
            Some(field) => {
                same &= field.value == value;
                field.name == def.name
            }
            None => false,
        });
        match (in_step && fields.next().is_none(), same) {
            (false, _) => Meaning::Refused,
            (true, true) => Meaning::Same,
            (true, false) => Meaning::Other,
        }
    }

    /// Notes a whole value, or that it has no text.
    #[inline]
    pub(crate) fn put(&mut self, name: FieldName, value: Option<Value>) {
        match value {
            Some(value) => self.fields.put_named(name, value),
            None => self.refused = true,
        }
    }

    /// Notes a whole number.
    pub(crate) fn number(&mut self, name: FieldName, number: Option<u64>) {
        match number.map(u32::try_from) {
            Some(Ok(bits)) => self.fields.set(name, u32::MAX, bits),
            Some(Err(_)) => self.refused = true,
            None => self.absent(name),
        }
    }

    /// The instruction has no such field: the text must not need it.
    pub(crate) fn absent(&mut self, name: FieldName) {
        self.refused |= self.fields.present(name).is_some();
    }

    /// A decimal number ends here.
    pub(crate) fn decimal(&mut self, at: usize, number: i64) {
        if number == 0 {
            self.ahead.push((at, Ahead::Zero));
        }
    }

    /// Letters of channels end here.
    pub(crate) fn channels(&mut self, at: usize, mask: u32) {
        if mask == 0 {
            self.ahead.push((at, Ahead::NoChannels));
        }
    }

    /// The form has a part for a field that the instruction lacks.
    pub(crate) fn lacks_operand(&mut self, at: usize, name: FieldName) {
        if name == FieldName::PairedSurface
            && Paired::of(Some(self.format.version())) != Paired::Never
            && self.fields.present(name).is_none()
        {
            self.ahead.push((at, Ahead::Unpaired));
        }
    }

    pub(crate) fn predicate(&mut self, predicate: Option<Predicate>) {
        let read = match predicate {
            Some(p) if !p.is_none() => {
                use visakit_isa::operand::PredicateCombine::{PerLane, Reserved};
                let combine = match p.combine() {
                    Reserved => PerLane,
                    known => known,
                };
                // An absent predicate has no text.
                Predicate::new(p.id(), combine, p.is_inverted()).filter(|read| !read.is_none())
            }
            _ => Some(Predicate::NONE),
        };
        self.put(FieldName::Pred, read.map(Value::Predicate));
    }

    pub(crate) fn saturation(&mut self, is_written: bool) {
        self.saturates = is_written;
        self.refused |= is_written && !self.fields.can_saturate();
    }

    /// An execution size or element count as it is written; `None` if there is none.
    pub(crate) fn lanes(
        &mut self,
        name: FieldName,
        fixed: Option<u8>,
        written: Option<(ExecMask, u8)>,
    ) {
        let kind = self.fields.field(name).map(|(_, f)| f.kind);
        let value = written.zip(kind).and_then(|(written, kind)| {
            fields::lanes(kind, fixed, written, self.m1_code, self.format)
        });
        self.put(name, value);
    }

    /// A test whose parts are written or omitted.
    pub(crate) fn test(&mut self, test: Test, is_written: bool, at: usize) {
        match self.fields.decided(test) {
            Some(decided) => self.refused |= decided != is_written,
            None if is_written => self.fields.entered(test),
            None => {
                if let Test::Above(FieldName::AddrScale, _) = test {
                    self.ahead.push((at, Ahead::NoScale));
                }
            }
        }
    }

    /// The text of some bits of a number.
    pub(crate) fn choice(&mut self, choice: &Choice, text: Option<&str>) {
        let wanted = text.unwrap_or("");
        let read = fields::choice_texts(choice).find(|(_, text)| *text == wanted);
        match read {
            Some((value, _)) => self.fields.set(choice.field, choice.mask.into(), value),
            None => self.refused = true,
        }
    }

    /// The name of a value among those whose codes the form accepts.
    pub(crate) fn named(&mut self, name: FieldName, codes: u64, text: &str) {
        let names = self.fields.field(name).and_then(|(_, f)| f.enumeration);
        let read = names.and_then(|names| {
            let taken = |code: u8| code >= 64 || codes >> code & 1 == 1;
            let mut entries = names.entries.iter();
            let found = entries.find(|(code, t)| taken(*code) && t.eq_ignore_ascii_case(text))?;
            Some((
                u32::from(names.mask),
                u32::from(found.0) << names.mask.trailing_zeros(),
            ))
        });
        match read {
            Some((mask, bits)) => self.fields.set(name, mask, bits),
            None => self.refused = true,
        }
    }

    /// A vector operand, written as a source or as a destination.
    #[inline]
    pub(crate) fn vector(&mut self, index: usize, field: &FieldDef, operand: &VectorOperand) {
        let read = self.vector_value(field, operand);
        let def = self.fields.def();
        match read {
            Some(read) if operand::class_is_taken(def, field, &read) => {
                self.fields.put(index, Value::Vector(read));
            }
            _ => self.refused = true,
        }
    }

    /// What the text of an operand means.
    #[inline]
    fn vector_value(&self, field: &FieldDef, operand: &VectorOperand) -> Option<VectorOperand> {
        let destination = field.role == Role::Destination;
        let modifier = if destination {
            if self.saturates {
                Modifier::SAT
            } else {
                Modifier::NONE
            }
        } else {
            written(operand.modifier())
        };
        Some(match operand {
            VectorOperand::General(o) => GeneralOperand {
                modifier,
                region: operand::region(o.region, destination)?,
                ..*o
            }
            .into(),
            VectorOperand::Address(o) => address(o, modifier)?,
            VectorOperand::Predicate(o) => PredicateOperand {
                modifier,
                predicate: Predicate::of(o.predicate.id()),
            }
            .into(),
            VectorOperand::Indirect(o) => {
                if !operand::INDIRECT_OFFSETS.contains(&o.offset.into()) {
                    return None;
                }
                IndirectOperand {
                    modifier,
                    property: PropertyByte::from(o.property.data_type()),
                    region: operand::region(o.region, destination)?,
                    ..*o
                }
                .into()
            }
            VectorOperand::Immediate(o) => {
                let ty = o.data_type();
                if modifier != Modifier::NONE || !operand::takes_constant(field, ty) {
                    return None;
                }
                let shown = operand::shown_constant(*o);
                let bits = operand::constant_bits(shown.into(), ty, false).ok()?;
                ImmediateOperand::new(PropertyByte::from(ty), bits).into()
            }
            VectorOperand::State(o) => state(o, modifier)?,
        })
    }

    /// An operand of a message, without a region.
    pub(crate) fn bare_vector(&mut self, name: FieldName, operand: &VectorOperand) {
        let unmodified = written(operand.modifier()) == Modifier::NONE;
        let read = match operand {
            VectorOperand::Immediate(o) => {
                let model = self.fields.slot(FieldName::AddrType).bits;
                let (ty, range) = operand::bare_constant(name, model);
                let shown = operand::shown_constant(*o).cast_signed();
                let fits = range.contains(&shown);
                fits.then(|| operand::bare_constant_operand(ty, shown).into())
            }
            VectorOperand::General(o) => {
                Some(operand::one_element(o.variable, o.row, o.column).into())
            }
            VectorOperand::State(o) if unmodified => state(o, Modifier::NONE),
            VectorOperand::Address(o) if unmodified => address(o, Modifier::NONE),
            _ => None,
        };
        self.put(name, read.map(Value::Vector));
    }

    /// A general variable with a place but no region; another operand unchanged.
    pub(crate) fn no_region(&mut self, index: usize, field: &FieldDef, operand: &VectorOperand) {
        match operand {
            VectorOperand::General(o) => {
                let read = operand::all_elements(o.variable, o.row, o.column);
                self.fields.put(index, Value::Vector(read.into()));
            }
            _ => self.as_source(index, field, operand),
        }
    }

    /// The address of a variable: with `by_row` its place is given by row and column, otherwise as an
    /// offset in bytes, which the assembler splits again.
    pub(crate) fn address_of(
        &mut self,
        index: usize,
        field: &FieldDef,
        operand: &VectorOperand,
        offset: u32,
    ) {
        let read = match operand {
            VectorOperand::General(o) => {
                let plain = written(o.modifier) == Modifier::NONE;
                let fits = operand::address_offsets(true).contains(&offset.into());
                (plain && fits).then(|| operand::one_element(o.variable, o.row, o.column).into())
            }
            VectorOperand::State(o) => state(o, Modifier::NONE),
            _ => return self.as_source(index, field, operand),
        };
        match read {
            Some(read) if operand::class_is_taken(self.fields.def(), field, &read) => {
                self.fields.put(index, Value::Vector(read));
            }
            _ => self.refused = true,
        }
    }

    /// An operand written like a source.
    fn as_source(&mut self, index: usize, field: &FieldDef, operand: &VectorOperand) {
        self.refused |= field.role == Role::Destination;
        self.vector(index, field, operand);
    }

    /// A raw operand.
    #[inline]
    pub(crate) fn raw(&mut self, index: usize, field: &FieldDef, operand: RawOperand) {
        self.refused |= !operand::raw_is_written(operand);
        if field.kind.is_list() {
            self.fields.list.push(Value::Raw(operand));
        } else {
            self.fields.put(index, Value::Raw(operand));
        }
    }

    /// A label.
    pub(crate) fn label(&mut self, name: FieldName, id: LabelId) {
        self.mentions.push(Mention::Label(id));
        match self.fields.field(name) {
            Some((_, field)) if field.kind.is_list() => {
                self.fields.list.push(Value::Label(id));
            }
            Some((index, _)) => self.fields.put(index, Value::Label(id)),
            None => self.refused = true,
        }
    }

    /// A string.
    pub(crate) fn string(&mut self, name: FieldName, id: StringId) {
        self.mentions.push(Mention::String(id));
        self.put(name, Some(Value::String(id)));
    }
}

/// The modifier that the text of a source states.
fn written(modifier: Modifier) -> Modifier {
    if operand::modifier_text(modifier).is_empty() {
        Modifier::NONE
    } else {
        modifier
    }
}

fn address(operand: &AddressOperand, modifier: Modifier) -> Option<VectorOperand> {
    let width = operand.width & 0xf;
    (width <= 5).then(|| {
        AddressOperand {
            modifier,
            width,
            ..*operand
        }
        .into()
    })
}

fn state(operand: &StateOperand, modifier: Modifier) -> Option<VectorOperand> {
    let class = match operand.class {
        StateClass::SURFACE => StateClass::SURFACE,
        _ => StateClass::SAMPLER,
    };
    (operand.index <= 0xff).then(|| {
        StateOperand {
            modifier,
            class,
            ..*operand
        }
        .into()
    })
}

fn is_misread(ahead: Ahead, rest: &[u8]) -> bool {
    let blanks = rest.iter().take_while(|c| **c == b' ').count();
    let text = rest.get(blanks..).unwrap_or_default();
    match ahead {
        Ahead::Zero => matches!(rest, [b'x' | b'X', c, ..] if c.is_ascii_hexdigit()),
        Ahead::NoChannels => text.first().is_some_and(|c| crate::lexer::is_word(*c)),
        Ahead::Unpaired => text.starts_with(b"%null.0"),
        Ahead::NoScale => text.first().is_some_and(u8::is_ascii_digit),
    }
}
