//! The round-trip law on generated objects: whatever the table allows is written and read back as
//! the same object and the same bytes.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use proptest::prelude::*;
use proptest::sample::Index;
use std::ops::Range;
use visakit::isa::object::{
    Alignment, Arrangement, Attribute, Body, Declaration, FileVariable, Input, InputKind, Item,
    Label, LabelKind, Linkage, NativeBinary, NativeCode, NativePlatform, Object, Relocation,
    Routine, Variable, VariableProperties,
};
use visakit::isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, PredicateOperand,
    PropertyByte, StateClass, StateOperand,
};
use visakit::isa::table::{self, FieldDef, FieldKind};
use visakit::isa::{
    AddressId, DataType, Dialect, ElementCount, ExecSize, Features, Field, Format, Instruction,
    LabelId, Predicate, RawOperand, Region, SamplerId, SamplerOp, StringId, SurfaceId, Value,
    VarId, VectorOperand, Version,
};

/// Sizes of the tables that every generated body has.
const COUNT: u32 = 4;

/// A source of numbers: a value of the strategy for each decision.
pub(crate) struct Numbers<'a>(pub(crate) std::slice::Iter<'a, u64>);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn flag(&mut self) -> bool {
        self.next() % 2 == 1
    }
}

fn exec_byte(n: &mut Numbers<'_>, format: Format, sizes: u64) -> u8 {
    let masks = if format.final_masks() { 16 } else { 10 };
    (n.below(sizes) | n.below(masks) << 4) as u8
}

fn predicate(n: &mut Numbers<'_>) -> Predicate {
    let combine = n.below(3) << 13;
    Predicate::from_bits((n.below(COUNT.into()) | combine | n.below(2) << 15) as u16)
}

fn region(n: &mut Numbers<'_>) -> Region {
    Region::from_bits((n.below(8) | n.below(8) << 4 | n.below(8) << 8) as u16)
}

fn variable(n: &mut Numbers<'_>, format: Format) -> VarId {
    VarId(n.below(u64::from(format.predefined_variable_count() + COUNT)) as u32)
}

fn vector(n: &mut Numbers<'_>, format: Format) -> VectorOperand {
    let modifier = Modifier::from_tag((n.below(6) << 3) as u8);
    match n.below(6) {
        0 => VectorOperand::General(GeneralOperand {
            modifier,
            variable: variable(n, format),
            row: n.next() as u8,
            column: n.next() as u8,
            region: region(n),
        }),
        1 => VectorOperand::Address(AddressOperand {
            modifier,
            address: AddressId(n.below(COUNT.into()) as u16),
            offset: n.next() as u8,
            width: n.next() as u8,
        }),
        2 => VectorOperand::Predicate(PredicateOperand {
            modifier,
            predicate: predicate(n),
        }),
        3 => VectorOperand::Indirect(IndirectOperand {
            modifier,
            address: AddressId(n.below(COUNT.into()) as u16),
            address_offset: n.next() as u8,
            offset: n.next() as i16,
            property: PropertyByte::from_bits(n.next() as u8),
            region: region(n),
        }),
        4 => {
            let ty = match DataType::from_code(n.next() as u8) {
                DataType::Bool => DataType::Uq,
                ty => ty,
            };
            let mask = match ImmediateOperand::wire_size(ty) {
                Some(8) => u64::MAX,
                _ => u32::MAX.into(),
            };
            let mut immediate = ImmediateOperand::new(ty.into(), n.next() & mask);
            immediate.modifier = modifier;
            VectorOperand::Immediate(immediate)
        }
        _ => VectorOperand::State(StateOperand {
            modifier,
            class: StateClass(n.below(2) as u8),
            index: n.below(COUNT.into()) as u16,
            offset: n.next() as u8,
        }),
    }
}

fn value(n: &mut Numbers<'_>, def: &FieldDef, format: Format) -> Value {
    let count = u64::from(COUNT);
    match def.kind {
        FieldKind::ExecSize => Value::ExecSize(ExecSize::from_bits(exec_byte(n, format, 6))),
        FieldKind::ElementCount => {
            Value::ElementCount(ElementCount::from_bits(exec_byte(n, format, 3)))
        }
        FieldKind::Predicate => Value::Predicate(predicate(n)),
        FieldKind::Vector => Value::Vector(vector(n, format)),
        FieldKind::Raw | FieldKind::Raws => Value::Raw(RawOperand {
            variable: variable(n, format),
            offset: n.next() as u16,
        }),
        FieldKind::U8 | FieldKind::Count => Value::U8(n.next() as u8),
        FieldKind::U16 => Value::U16(n.next() as u16),
        FieldKind::U32 => Value::U32(n.next() as u32),
        FieldKind::I32 => Value::I32(n.next() as i32),
        FieldKind::Label | FieldKind::Labels => Value::Label(LabelId(n.below(count) as u16)),
        FieldKind::StringIndex | FieldKind::StringIndex16 => {
            Value::String(StringId(n.below(count) as u32))
        }
        FieldKind::Surface => Value::Surface(SurfaceId(n.below(count) as u8)),
        FieldKind::Sampler if n.flag() => Value::Sampler(SamplerId::BINDLESS),
        FieldKind::Sampler => Value::Sampler(SamplerId(n.below(count) as u8)),
        FieldKind::Lifetime => Value::Lifetime(VarId(n.below(count) as u32)),
        FieldKind::SamplerOp => {
            let wide = format.features().contains(Features::SINCE_4_0);
            let bits = n.next() as u16 & if wide { 0x07ff } else { 0x071f };
            Value::SamplerOp(SamplerOp::from_bits(bits))
        }
    }
}

fn instruction(n: &mut Numbers<'_>, format: Format) -> Instruction {
    let rows: Vec<_> = table::rows().filter(|row| row.exists_in(format)).collect();
    let row = rows[n.below(rows.len() as u64) as usize];
    let mut instruction = Instruction::new(row.op);
    let mut key = 0;
    for def in row.fields_in(format) {
        if def.only_if.is_some_and(|test| !test.holds(key)) {
            continue;
        }
        let repeat = match def.kind {
            FieldKind::Count => 0,
            kind if kind.is_list() => n.below(6),
            _ => 1,
        };
        for _ in 0..repeat {
            let value = value(n, def, format);
            if def.is_key {
                key = value.key();
            }
            instruction.fields.push(Field {
                name: def.name,
                value,
            });
        }
    }
    instruction
}

fn attributes(n: &mut Numbers<'_>) -> Vec<Attribute<'static>> {
    (0..n.below(3))
        .map(|_| Attribute {
            name: StringId(n.below(COUNT.into()) as u32),
            value: vec![n.next() as u8; n.below(300).min(255) as usize].into(),
        })
        .collect()
}

fn body(n: &mut Numbers<'_>, format: Format, kernel: bool) -> Body<'static> {
    let since = |feature| format.features().contains(feature);
    let name = |n: &mut Numbers<'_>| StringId(n.below(COUNT.into()) as u32);
    let mut body = Body {
        strings: (0..COUNT)
            .map(|_| vec![1 + n.below(255) as u8; n.below(40) as usize].into())
            .collect(),
        name: name(n),
        attributes: attributes(n),
        ..Body::default()
    };
    for _ in 0..COUNT {
        body.variables.push(Variable {
            name: name(n),
            properties: VariableProperties::new(
                DataType::from_code(n.next() as u8),
                Alignment(n.below(16) as u8),
            ),
            elements: n.next() as u16,
            alias: variable(n, format),
            alias_offset: n.next() as u16,
            alias_scope: if since(Features::SINCE_3_0) {
                n.below(2) as u8
            } else {
                0
            },
            attributes: attributes(n),
        });
        let declaration = |n: &mut Numbers<'_>| Declaration {
            name: name(n),
            elements: n.next() as u16,
            attributes: attributes(n),
        };
        body.addresses.push(declaration(n));
        body.predicates.push(declaration(n));
        body.samplers.push(declaration(n));
        body.surfaces.push(declaration(n));
        body.labels.push(Label {
            name: name(n),
            kind: LabelKind(n.below(5) as u8),
            attributes: attributes(n),
        });
        if kernel {
            body.inputs.push(Input {
                kind: InputKind((n.below(3) | n.below(6) << 3) as u8),
                index: n.below(COUNT.into()) as u32,
                offset: n.next() as i16,
                size: n.next() as u16,
            });
        }
    }
    if !kernel {
        body.input_size = n.next() as u8;
        body.return_value_size = n.next() as u8;
    }
    for _ in 0..n.below(12) {
        body.code.push(Item::Instruction(instruction(n, format)));
    }
    body
}

pub(crate) fn object(n: &mut Numbers<'_>, version: Version, dialect: Dialect) -> Object<'static> {
    let mut object = Object::new(version, dialect);
    let format = object.format();
    let has_functions = format.features().contains(Features::SINCE_3_0);
    let relocations = |n: &mut Numbers<'_>| -> Vec<Relocation> {
        let count = if has_functions { n.below(3) } else { 0 };
        (0..count)
            .map(|_| Relocation {
                symbolic: n.next() as u16,
                resolved: n.next() as u16,
            })
            .collect()
    };
    for _ in 0..n.below(3) {
        let mut kernel = Routine::new(vec![b'k'; n.below(20) as usize], body(n, format, true));
        kernel.variable_relocations = relocations(n);
        kernel.function_relocations = relocations(n);
        let binaries = if has_functions { n.below(3) } else { 1 };
        for _ in 0..binaries {
            kernel.binaries.push(NativeBinary {
                platform: NativePlatform(if has_functions { n.next() as u8 } else { 0 }),
                code: if n.below(4) == 0 {
                    NativeCode::Placeholder { offset: 1, size: 1 }
                } else {
                    NativeCode::Bytes(vec![0xaa; 1 + n.below(30) as usize].into())
                },
            });
        }
        object.kernels.push(kernel);
    }
    if has_functions {
        for _ in 0..n.below(3) {
            let mut function = Routine::new(&b"f"[..], body(n, format, false));
            function.linkage = Linkage(n.next() as u8);
            function.variable_relocations = relocations(n);
            object.functions.push(function);
        }
        for _ in 0..n.below(3) {
            object.file_variables.push(FileVariable {
                linkage: Linkage(n.below(3) as u8),
                name: vec![b'@'; n.below(300) as usize].into(),
                properties: VariableProperties((n.next() & 0xff) as u16),
                elements: n.next() as u16,
                attributes: Vec::new(),
            });
        }
    }
    if n.flag() {
        object.arrangement = Arrangement::Grouped;
    }
    object.padded = n.flag();
    object
}

/// Objects made of a number of numbers, with some bytes changed, and possibly truncated.
fn damaged(numbers: Range<usize>, damage: Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    let numbers = proptest::collection::vec(any::<u64>(), numbers);
    let damage = proptest::collection::vec((any::<Index>(), any::<u8>()), damage);
    let cut = proptest::option::of(any::<Index>());
    let parts = (any::<Index>(), numbers, damage, cut);
    parts.prop_map(|(version, numbers, damage, cut)| {
        let version = *version.get(&Version::SUPPORTED);
        let object = object(&mut Numbers(numbers.iter()), version, Dialect::default());
        let mut bytes = visakit::encode::write(&object).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_written_is_read_back(
        version in any::<Index>(),
        dialect in any::<Index>(),
        numbers in proptest::collection::vec(any::<u64>(), 0..3000),
    ) {
        let version = *version.get(&Version::SUPPORTED);
        let dialect = *dialect.get(&Dialect::ALL);
        let object = object(&mut Numbers(numbers.iter()), version, dialect);
        let bytes = visakit::encode::write(&object).unwrap();
        let options = visakit::ReadOptions { lenient: false, dialect: Some(dialect) };
        let mut decoded = visakit::parse::read_with(&bytes, options).unwrap().object;
        prop_assert_eq!(visakit::encode::write(&decoded).unwrap(), bytes.clone());
        // If both arrangements are the same the reader reports the first, and padding that is not there is not found.
        decoded.arrangement = object.arrangement.clone();
        prop_assert!(bytes.len().is_multiple_of(4) || !object.padded);
        prop_assert!(object.padded || !decoded.padded || bytes.ends_with(&[0]));
        decoded.padded = object.padded;
        prop_assert_eq!(decoded, object);
        let options = visakit::ReadOptions { lenient: true, ..options };
        let lenient = visakit::parse::read_with(&bytes, options).unwrap();
        prop_assert!(lenient.errors.is_empty());
    }

    /// Damage is never fatal, and lenient reading keeps every byte of it.
    #[test]
    fn damaged_objects_are_kept(
        bytes in damaged(100..1500, 1..6),
    ) {
        let strict = visakit::ReadOptions::default();
        if let Ok(decoded) = visakit::parse::read_with(&bytes, strict) {
            prop_assert_eq!(visakit::encode::write(&decoded.object).unwrap(), bytes.clone());
        }
        let lenient = visakit::ReadOptions { lenient: true, dialect: None };
        if let Ok(decoded) = visakit::parse::read_with(&bytes, lenient) {
            prop_assert_eq!(visakit::encode::write(&decoded.object).unwrap(), bytes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn text_carries_what_is_written(
        version in any::<Index>(),
        dialect in any::<Index>(),
        numbers in proptest::collection::vec(any::<u64>(), 0..3000),
    ) {
        let version = *version.get(&Version::SUPPORTED);
        let dialect = *dialect.get(&Dialect::ALL);
        let object = object(&mut Numbers(numbers.iter()), version, dialect);
        let bytes = visakit::encode::write(&object).unwrap();
        visakit_fuzzing::texts_in(&bytes, Some(dialect));
    }

    /// Exact text keeps the bytes of damaged objects too.
    #[test]
    fn text_carries_damage(
        bytes in damaged(100..800, 1..4),
    ) {
        visakit_fuzzing::texts_in(&bytes, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Objects in arrays of words or dwords have some zeros behind them, which belong to no part.
    #[test]
    fn zeros_at_the_end_are_kept(
        version in any::<Index>(),
        numbers in proptest::collection::vec(any::<u64>(), 0..3000),
    ) {
        let version = *version.get(&Version::SUPPORTED);
        let mut object = object(&mut Numbers(numbers.iter()), version, Dialect::default());
        object.padded = false;
        let mut bytes = visakit::encode::write(&object).unwrap();
        let options = visakit::ReadOptions { lenient: false, dialect: Some(Dialect::default()) };
        for zeros in 1..=4 {
            bytes.push(0);
            let read = visakit::parse::read_with(&bytes, options);
            if zeros == 4 {
                prop_assert!(read.is_err());
                break;
            }
            let mut read = read.unwrap().object;
            prop_assert_eq!(visakit::encode::write(&read).unwrap(), bytes.clone());
            read.arrangement = object.arrangement.clone();
            read.padded = false;
            prop_assert_eq!(&read, &object);
            visakit_fuzzing::texts(&bytes);
        }
    }
}
