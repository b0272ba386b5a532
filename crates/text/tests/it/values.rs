//! Every row, in every format that has it, with fields of any value: exact text carries all of it, and
//! plain text is assembled and prints the same again.
//!
//! `VISAKIT_ROUNDS` says how often each row comes in a format.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of a test

use visakit_isa::object::{
    Attribute, Body, Declaration, Item, Label, LabelKind, Object, Routine, Variable,
};
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, PredicateOperand,
    PropertyByte, StateClass, StateOperand,
};
use visakit_isa::table::{FieldDef, FieldKind, rows};
use visakit_isa::{
    AddressId, Dialect, ElementCount, ExecSize, Format, Instruction, LabelId, Predicate,
    RawOperand, Region, SamplerId, SamplerOp, StringId, SurfaceId, Value, VarId, VectorOperand,
    Version,
};
use visakit_testing::corpus::{Corpus, objects};
use visakit_text::{Form, asm};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    #[allow(clippy::cast_possible_truncation)]
    fn byte(&mut self) -> u8 {
        match self.below(4) {
            0 => self.below(4) as u8,
            1 => self.below(20) as u8,
            _ => self.next() as u8,
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn word(&mut self) -> u16 {
        match self.below(4) {
            0 => self.below(4) as u16,
            1 => u16::from(self.byte()) << 8 | u16::from(self.byte()),
            2 => 0x8000 | self.byte() as u16,
            _ => self.next() as u16,
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn dword(&mut self) -> u32 {
        match self.below(5) {
            0 => self.below(4) as u32,
            1 => self.byte().into(),
            2 => u32::MAX - self.below(300) as u32,
            _ => self.next() as u32,
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn variable(&mut self, format: Format) -> VarId {
        let first = format.predefined_variable_count();
        VarId(match self.below(4) {
            0 => 0,
            1 => self.below(u64::from(first)) as u32,
            2 => first + self.below(8) as u32,
            _ => first + self.below(3) as u32,
        })
    }

    fn region(&mut self) -> Region {
        match self.below(4) {
            0 => Region::source(8, 8, 1).unwrap(),
            1 => Region::SCALAR,
            2 => Region::destination(1).unwrap(),
            _ => Region::from_bits(self.word()),
        }
    }

    fn modifier(&mut self) -> Modifier {
        match self.below(3) {
            0 => Modifier::from_tag(self.byte() & 0xf8),
            1 => Modifier::SAT,
            _ => Modifier::NONE,
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    fn vector(&mut self, format: Format) -> VectorOperand {
        let modifier = self.modifier();
        match self.below(9) {
            0 => AddressOperand {
                modifier,
                address: AddressId(self.below(3) as u16),
                offset: self.byte(),
                width: self.byte() & 0x17,
            }
            .into(),
            1 => PredicateOperand {
                modifier,
                predicate: Predicate::from_bits(self.word()),
            }
            .into(),
            2 => IndirectOperand {
                modifier,
                address: AddressId(self.below(3) as u16),
                address_offset: self.byte(),
                offset: (self.word() as i16) >> self.below(8),
                property: PropertyByte::from_bits(self.byte()),
                region: self.region(),
            }
            .into(),
            3 | 4 => {
                let property = PropertyByte::from_bits(self.byte());
                let operand = ImmediateOperand::new(property, self.next() >> self.below(64));
                if ImmediateOperand::wire_size(operand.data_type()).is_none() {
                    return self.vector(format);
                }
                // Only wide types have an upper half.
                let bits = if ImmediateOperand::wire_size(operand.data_type()) == Some(8) {
                    operand.bits()
                } else {
                    operand.bits() & 0xffff_ffff
                };
                let mut operand = ImmediateOperand::new(property, bits);
                operand.modifier = modifier;
                operand.into()
            }
            5 => StateOperand {
                modifier,
                class: StateClass(self.byte() & 3),
                index: self.word() >> self.below(12),
                offset: self.byte(),
            }
            .into(),
            _ => GeneralOperand {
                modifier,
                variable: self.variable(format),
                row: self.byte() >> 3,
                column: self.byte(),
                region: self.region(),
            }
            .into(),
        }
    }

    fn raw(&mut self, format: Format) -> RawOperand {
        RawOperand {
            variable: self.variable(format),
            offset: if self.below(2) == 0 { 0 } else { self.word() },
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    fn value(&mut self, field: &FieldDef, format: Format) -> Value {
        match field.kind {
            FieldKind::Vector => Value::Vector(self.vector(format)),
            FieldKind::Raw | FieldKind::Raws => Value::Raw(self.raw(format)),
            FieldKind::ExecSize => Value::ExecSize(ExecSize::from_bits(match self.below(3) {
                0 => self.next() as u8,
                _ => self.byte() & 0x93,
            })),
            FieldKind::Predicate => Value::Predicate(Predicate::from_bits(match self.below(3) {
                0 => self.word(),
                1 => 0xa001,
                _ => 0,
            })),
            FieldKind::U8 | FieldKind::Count => Value::U8(self.byte()),
            FieldKind::U16 => Value::U16(self.word()),
            FieldKind::U32 => Value::U32(self.dword()),
            FieldKind::I32 => Value::I32(self.dword() as i32),
            FieldKind::Label | FieldKind::Labels => Value::Label(LabelId(self.below(9) as u16)),
            FieldKind::StringIndex | FieldKind::StringIndex16 => {
                Value::String(StringId(self.below(12) as u32))
            }
            FieldKind::Surface => Value::Surface(SurfaceId(self.byte())),
            FieldKind::Sampler => Value::Sampler(SamplerId(self.byte() & 0x3f)),
            FieldKind::Lifetime => Value::Lifetime(VarId(match self.below(2) {
                0 => self.word().into(),
                _ => self.below(40) as u32,
            })),
            FieldKind::ElementCount => Value::ElementCount(ElementCount::from_bits(self.byte())),
            FieldKind::SamplerOp => {
                let narrow = SamplerOp::from_narrow(self.next() as u8);
                Value::SamplerOp(
                    match Version::at_least(format.version(), Version::new(4, 0)) {
                        true => SamplerOp::from_bits(self.word() & 0x17ff),
                        false => narrow,
                    },
                )
            }
        }
    }

    fn instruction(
        &mut self,
        row: &'static visakit_isa::table::InstructionDef,
        format: Format,
    ) -> Instruction {
        let mut built = Instruction::new(row.op);
        let mut key = 0;
        for field in row.fields {
            let present =
                field.when.holds(format) && field.only_if.is_none_or(|test| test.holds(key));
            if !present || field.kind == FieldKind::Count {
                continue;
            }
            let count = if field.kind.is_list() {
                self.below(4)
            } else {
                1
            };
            for _ in 0..count {
                let value = self.value(field, format);
                if field.is_key {
                    key = value.key();
                }
                built = built.with(field.name, value);
            }
        }
        built
    }

    /// Declarations with names that are taken, reserved or none.
    #[allow(clippy::cast_possible_truncation)]
    fn body(&mut self) -> Body<'static> {
        let mut body = Body::default();
        let names = [
            "routine", "a.b", "V5", "r", "add", "x", "x", "", "SLMSize", "Output", "Target", "T3",
            "L1",
        ];
        for name in names {
            body.add_string(name.as_bytes());
        }
        let count = names.len() as u64 + 1;
        let name = |random: &mut Self| StringId(random.below(count) as u32);
        body.name = name(self);
        let attributes = |random: &mut Self| {
            (0..random.below(3))
                .map(|_| Attribute {
                    name: name(random),
                    value: (0..random.below(6))
                        .map(|_| random.byte())
                        .collect::<Vec<_>>()
                        .into(),
                })
                .collect::<Vec<_>>()
        };
        for _ in 0..3 {
            body.variables.push(Variable {
                name: StringId(self.below(count) as u32),
                properties: visakit_isa::object::VariableProperties(u16::from(self.byte()) & 0xef),
                elements: self.word(),
                alias: VarId(if self.below(2) == 0 {
                    0
                } else {
                    self.below(40) as u32
                }),
                alias_offset: self.word(),
                attributes: attributes(self),
                ..Variable::default()
            });
        }
        for list in [
            &mut body.addresses,
            &mut body.predicates,
            &mut body.samplers,
            &mut body.surfaces,
        ] {
            for _ in 0..2 {
                list.push(Declaration {
                    name: StringId(self.below(count) as u32),
                    elements: self.word(),
                    attributes: attributes(self),
                });
            }
        }
        for _ in 0..8 {
            let attributes = if self.below(4) == 0 {
                attributes(self)
            } else {
                Vec::new()
            };
            body.labels.push(Label {
                name: StringId(self.below(count) as u32),
                kind: LabelKind(self.below(4) as u8),
                attributes,
            });
        }
        body.attributes = attributes(self);
        body.input_size = self.byte();
        body
    }
}

/// The lines that the assembler rejects.
fn refused(text: &[u8], faults: &[asm::Diagnostic]) -> String {
    let show = |fault: &asm::Diagnostic| {
        let (line, _) = fault.span.place(text);
        let line = text.split(|c| *c == b'\n').nth(line - 1).unwrap();
        format!("{fault}: {}\n", String::from_utf8_lossy(line))
    };
    faults.iter().take(12).map(show).collect()
}

fn check_exact(object: &Object<'_>) -> Result<(), String> {
    let text = crate::text_of(object, Form::Exact);
    let made = match asm::assemble(&text, &asm::Options::default()) {
        Ok(made) => made,
        Err(faults) => return Err(refused(&text, &faults)),
    };
    // The reason why bytes are not decoded is worded differently.
    let written = [object, &made].map(visakit_encode::write);
    if made == *object || matches!(&written, [Ok(a), Ok(b)] if a == b) {
        return Ok(());
    }
    let bodies = made.routines().zip(object.routines());
    let mut different = String::new();
    for ((_, a), (_, b)) in bodies {
        let (Some(a), Some(b)) = (a.body(), b.body()) else {
            continue;
        };
        for (a, b) in a.code.iter().zip(&b.code).filter(|(a, b)| a != b).take(4) {
            different.push_str(&format!("made   {a:?}\nwanted {b:?}\n"));
        }
        if a.strings != b.strings {
            different.push_str(&format!("made   {:?}\nwanted {:?}\n", a.strings, b.strings));
        }
        if a.variables != b.variables {
            different.push_str(&format!(
                "made   {:?}\nwanted {:?}\n",
                a.variables, b.variables
            ));
        }
        if a.labels != b.labels {
            different.push_str(&format!("made   {:?}\nwanted {:?}\n", a.labels, b.labels));
        }
    }
    let lines = String::from_utf8_lossy(&text);
    let few: String = lines.lines().take(60).map(|l| format!("{l}\n")).collect();
    Err(format!(
        "exact text makes another object:\n{different}{few}"
    ))
}

fn check_plain(object: &Object<'_>) -> Result<(), String> {
    let text = crate::text_of(object, Form::Plain);
    let made = match asm::assemble(&text, &asm::Options::default()) {
        Ok(made) => made,
        Err(faults) => return Err(refused(&text, &faults)),
    };
    let again = crate::text_of(&made, Form::Plain);
    let (a, b) = (
        String::from_utf8_lossy(&text),
        String::from_utf8_lossy(&again),
    );
    match a.lines().zip(b.lines()).find(|(a, b)| a != b) {
        None if a == b => Ok(()),
        None => Err("other numbers of lines".into()),
        Some((a, b)) => Err(format!("plain text is another one again:\n{a}\n{b}")),
    }
}

fn formats() -> impl Iterator<Item = Format> {
    Version::SUPPORTED.into_iter().flat_map(|version| {
        Dialect::ALL
            .into_iter()
            .filter(move |d| d.applies_to(version))
            .map(move |dialect| Format::new(version, dialect))
    })
}

fn rounds(usual: u64) -> u64 {
    let said = std::env::var("VISAKIT_ROUNDS").ok();
    said.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn every_row_is_carried_with_any_values() {
    let mut failures = Vec::new();
    for (turn, format) in formats().enumerate() {
        for round in 0..rounds(6) {
            let mut random = Random(0x9e37_79b9 + (turn as u64) * 1_000_003 + round);
            let mut body = random.body();
            for row in rows().filter(|row| row.exists_in(format) && row.has_layout()) {
                body.code
                    .push(Item::Instruction(random.instruction(row, format)));
            }
            let mut object = Object::new(format.version(), format.dialect());
            object.kernels.push(Routine::new(&b"routine"[..], body));
            if visakit_isa::wire::Width::BinaryCount.bytes(format) == 0 {
                object.kernels[0]
                    .binaries
                    .push(visakit_isa::object::NativeBinary::default());
            }
            object.arrangement = object.usual_arrangement();
            for (form, result) in [
                ("exact", check_exact(&object)),
                ("plain", check_plain(&object)),
            ] {
                if let Err(what) = result {
                    failures.push(format!(
                        "{} {form}, round {round}: {what}",
                        format.version()
                    ));
                }
            }
        }
    }
    for failure in failures.iter().take(6) {
        eprintln!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
}

/// Damaged copies of small objects, with a few bytes changed.
#[test]
fn damaged_objects_are_carried() {
    let options = visakit_parse::ReadOptions {
        lenient: true,
        dialect: None,
    };
    let mut random = Random(0x1234_5678);
    let (mut count, mut failures) = (0, Vec::new());
    objects(Corpus::Real, |name, bytes| {
        if bytes.len() > 6000 {
            return;
        }
        for _ in 0..rounds(6) {
            let mut bytes = bytes.to_vec();
            for _ in 0..=random.below(4) {
                let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
                bytes[at] = random.byte();
            }
            let Ok(decoded) = visakit_parse::read_with(&bytes, options) else {
                continue;
            };
            count += 1;
            if let Err(what) = check_exact(&decoded.object) {
                failures.push(format!("{name}: {what}"));
            }
            if decoded.errors.is_empty()
                && let Err(what) = check_plain(&decoded.object)
            {
                failures.push(format!("{name}: {what}"));
            }
        }
    });
    println!("{count} damaged objects");
    for failure in failures.iter().take(6) {
        eprintln!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
}
