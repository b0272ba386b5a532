//! Writes `fixtures/layouts`: objects of one instruction for every row of the table in every format that changes its
//! layout.
//!
//! The result depends only on the table. `intel.txt` is rewritten only if `../shared/corpus/synth` exists.

#![allow(
    clippy::cast_possible_truncation,
    reason = "values of fixtures, spread over their ranges"
)]

use crate::Done;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use visakit_encode as encode;
use visakit_isa::object::{Body, Declaration, Input, InputKind, Label, Object, Routine, Variable};
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, OperandClass,
    OperandClasses, PredicateCombine, PredicateOperand, PropertyByte, SamplerOpFlags, StateClass,
    StateOperand, VectorOperand,
};
use visakit_isa::table::{self, FieldDef, FieldKind, Role};
use visakit_isa::{
    AddressId, DataType, Dialect, ElementCount, ExecSize, FieldName, Format, Instruction,
    InstructionDef, LabelId, Op, Predicate, PredicateId, RawOperand, Region, SamplerId, SamplerOp,
    StringId, SurfaceId, Value, VarId, Version,
};
use visakit_parse::{self as parse, ReadOptions};
use visakit_testing::layouts::{Case, key_of, keys, layout, list_of, subject};

pub(crate) fn run(_: &[String]) -> Done {
    let folder = visakit_testing::fixtures().join("layouts");
    std::fs::create_dir_all(&folder)?;
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut count = 0;
    for (number, def) in table::rows().filter(|def| def.has_layout()).enumerate() {
        let file = files.entry(def.group.name()).or_insert_with(|| {
            "# row, version, dialect, variant, object; written by `cargo xtask fixtures`\n"
                .to_owned()
        });
        for case in cases_of(def, number) {
            file.push_str(&case.line());
            count += 1;
        }
    }
    for (name, text) in &files {
        std::fs::write(folder.join(format!("{name}.txt")), text)?;
    }
    println!("{count} generated cases in {} files", files.len());

    let synth = visakit_testing::reference().join("corpus/synth");
    if synth.is_dir() {
        let cases = independent(&synth);
        let mut text =
            "# row, version, dialect, name, object; accepted by Intel's own readers, see ../README.md\n"
                .to_owned();
        text.extend(cases.iter().map(Case::line));
        std::fs::write(folder.join("intel.txt"), text)?;
        println!("{} independent cases", cases.len());
    }
    Ok(())
}

/// The formats on both sides of every change of the row's layout; one where it never changes.
fn formats_of(def: &InstructionDef) -> Vec<Format> {
    let mut chosen = Vec::new();
    for (rank, dialect) in Dialect::ALL.into_iter().enumerate() {
        let versions: Vec<Version> = Version::SUPPORTED
            .into_iter()
            .filter(|version| dialect.applies_to(*version))
            .collect();
        let at = |version: Version, d: Dialect| layout(def, Format::new(version, d), None);
        // What an earlier dialect of the same version already has is not a separate case.
        let fresh = |version: Version| {
            at(version, dialect).is_some()
                && Dialect::ALL[..rank].iter().all(|earlier| {
                    !earlier.applies_to(version) || at(version, *earlier) != at(version, dialect)
                })
        };
        let before = chosen.len();
        for (i, version) in versions.iter().enumerate() {
            let differs = |other: Option<&Version>| {
                other.is_some_and(|other| at(*other, dialect) != at(*version, dialect))
            };
            let previous = i.checked_sub(1).and_then(|i| versions.get(i));
            let edge = differs(previous) || differs(versions.get(i + 1));
            // One row represents the container in every version.
            let sweep = def.op == Op::MOV && rank == 0;
            if fresh(*version) && (edge || sweep) {
                chosen.push(Format::new(*version, dialect));
            }
        }
        if chosen.len() == before
            && let Some(last) = versions.into_iter().rev().find(|version| fresh(*version))
        {
            chosen.push(Format::new(last, dialect));
        }
    }
    chosen
}

/// The particularity of a case.
#[derive(Clone, Default)]
struct Variant {
    tag: String,
    key: u16,
    entries: usize,
    /// Shifts the choice of operand classes and values.
    shift: usize,
    /// Type of the immediates, where the variant is about them.
    immediate: Option<DataType>,
}

fn variants(def: &InstructionDef) -> Vec<Variant> {
    let mut variants = Vec::new();
    let has_key = def.fields.iter().any(|f| f.is_key);
    let lengths: &[usize] = if list_of(def).is_some() {
        &[0, 3]
    } else {
        &[0]
    };
    for key in keys(def) {
        for &entries in lengths {
            let mut tag = String::new();
            if has_key {
                tag = format!("key={key:#x}");
            }
            if lengths.len() > 1 {
                tag = format!("entries={entries}");
            }
            variants.push(Variant {
                tag: if tag.is_empty() { "-".to_owned() } else { tag },
                key,
                entries,
                ..Variant::default()
            });
        }
    }
    if [Op::MOV, Op::MOVS, Op::ADDR_ADD, Op::SETP, Op::CMP].contains(&def.op) {
        variants.extend((1..5).map(|shift| Variant {
            tag: format!("operands={shift}"),
            shift,
            ..Variant::default()
        }));
    }
    if def.op == Op::MOV {
        let types = DataType::ALL.into_iter().filter(|t| *t != DataType::Bool);
        variants.extend(types.map(|ty| Variant {
            tag: format!("immediate={ty}"),
            immediate: Some(ty),
            ..Variant::default()
        }));
    }
    variants
}

fn cases_of(def: &'static InstructionDef, number: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for format in formats_of(def) {
        for variant in variants(def) {
            let edge = [Version::V3_3, Version::V3_4].contains(&format.version());
            if def.op == Op::MOV && variant.tag != "-" && !edge {
                continue;
            }
            let instruction = instruction(def, format, &variant, number);
            let object = object(format, instruction);
            let bytes = encode::write(&object)
                .unwrap_or_else(|e| panic!("{} {:?} {}: {e}", def.name, format, variant.tag));
            cases.push(Case {
                place: String::new(),
                def,
                format,
                variant: variant.tag,
                bytes,
                independent: false,
            });
        }
    }
    cases
}

/// A kernel with two entries in each table, the instruction, and what it requires around it.
fn object(format: Format, instruction: Instruction) -> Object<'static> {
    let mut body = Body::default();
    body.name = body.add_string(&b"k"[..]);
    let name = body.add_string(&b"v"[..]);
    let own = format.predefined_variable_count();
    for properties in [0x50, 0x57] {
        body.variables.push(Variable {
            name,
            properties: visakit_isa::object::VariableProperties(properties),
            elements: 64,
            ..Variable::default()
        });
    }
    let declaration = |elements| Declaration {
        name,
        elements,
        ..Declaration::default()
    };
    body.addresses = vec![declaration(8), declaration(8)];
    body.predicates = vec![declaration(32), declaration(32)];
    body.samplers = vec![declaration(1), declaration(1)];
    body.surfaces = vec![declaration(1), declaration(1)];
    body.labels = vec![
        Label {
            name,
            ..Label::default()
        };
        3
    ];
    body.inputs.push(Input {
        kind: InputKind::GENERAL,
        index: own,
        offset: 32,
        size: 32,
    });
    let bare = |op| {
        Instruction::new(op)
            .with(FieldName::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
    };
    let ends = instruction.op == Op::RET;
    body.code.push(instruction.into());
    if !ends {
        body.code.push(bare(Op::RET).into());
    }
    let mut object = Object::new(format.version(), format.dialect());
    let mut kernel = Routine::new(&b"k"[..], body);
    if format.version() == Version::V2_4 {
        kernel
            .binaries
            .push(visakit_isa::object::NativeBinary::default());
    }
    object.kernels.push(kernel);
    object
}

fn instruction(
    def: &'static InstructionDef,
    format: Format,
    variant: &Variant,
    number: usize,
) -> Instruction {
    let mut instruction = Instruction::new(def.op);
    for (place, field) in def.fields_in(format).enumerate() {
        if field.only_if.is_some_and(|test| !test.holds(variant.key)) {
            continue;
        }
        // Spread so that every class and code occurs somewhere.
        let n = number * 3 + place * 5 + variant.shift;
        match field.kind {
            FieldKind::Count => {}
            FieldKind::Labels | FieldKind::Raws => {
                for entry in 0..variant.entries {
                    instruction =
                        instruction.with(field.name, value(field, format, variant, n + entry));
                }
            }
            _ => instruction = instruction.with(field.name, value(field, format, variant, n)),
        }
    }
    instruction
}

fn value(field: &FieldDef, format: Format, variant: &Variant, n: usize) -> Value {
    let own = format.predefined_variable_count();
    let small = (n % 200) as u8;
    match field.kind {
        FieldKind::ExecSize => {
            Value::ExecSize(ExecSize::from_bits((n % 6) as u8 | ((n % 8) as u8) << 4))
        }
        FieldKind::Predicate => Value::Predicate(predicate(n)),
        FieldKind::Vector => Value::Vector(vector(field, format, variant, n)),
        FieldKind::Raw | FieldKind::Raws => Value::Raw(RawOperand {
            variable: VarId(own + n as u32 % 2),
            offset: 0x0101u16.wrapping_mul(u16::from(small)),
        }),
        FieldKind::U8 if field.is_key => Value::U8(variant.key as u8),
        FieldKind::U16 if field.is_key => Value::U16(variant.key),
        FieldKind::U8 => Value::U8(field.enumeration.map_or(small, |e| {
            let (code, _) = e.entries[n % e.entries.len()];
            code << e.mask.trailing_zeros()
        })),
        FieldKind::U16 => Value::U16(0x0100 + n as u16),
        FieldKind::U32 => Value::U32(0x0201_0000 + n as u32),
        FieldKind::I32 => Value::I32(-1 - n as i32),
        FieldKind::Label | FieldKind::Labels => Value::Label(LabelId(n as u16 % 3)),
        FieldKind::StringIndex | FieldKind::StringIndex16 => Value::String(StringId(n as u32 % 2)),
        FieldKind::Surface => Value::Surface(SurfaceId((n % 8) as u8)),
        FieldKind::Sampler => Value::Sampler(SamplerId([0, 1, 31][n % 3])),
        FieldKind::Lifetime => Value::Lifetime(VarId(match variant.key >> 4 {
            0 => own + 1,
            _ => 1,
        })),
        FieldKind::ElementCount => Value::ElementCount(ElementCount::from_bits(
            (n % 3) as u8 | ((n % 8) as u8) << 4,
        )),
        FieldKind::SamplerOp => Value::SamplerOp(SamplerOp::new(
            (n % 30) as u8,
            SamplerOpFlags::from_bits_truncate((n % 8) as u8),
        )),
        FieldKind::Count => unreachable!("counts follow from lists"),
    }
}

fn predicate(n: usize) -> Predicate {
    let combine = [
        PredicateCombine::PerLane,
        PredicateCombine::Any,
        PredicateCombine::All,
    ];
    match n % 4 {
        0 => Predicate::NONE,
        _ => Predicate::new(PredicateId(1 + n as u16 % 2), combine[n % 3], n % 5 < 2).unwrap(),
    }
}

fn vector(field: &FieldDef, format: Format, variant: &Variant, n: usize) -> VectorOperand {
    let destination = field.role == Role::Destination;
    let classes: Vec<OperandClass> = match field.classes {
        OperandClasses { .. } if field.classes.is_empty() => vec![OperandClass::General],
        classes => classes.classes().collect(),
    };
    let mut class = classes[n % classes.len()];
    if variant.immediate.is_some() && classes.contains(&OperandClass::Immediate) {
        class = OperandClass::Immediate;
    }
    let region = if destination {
        Region::destination(1 << (n % 3)).unwrap()
    } else {
        [
            Region::SCALAR,
            Region::source(8, 8, 1).unwrap(),
            Region::source(16, 8, 2).unwrap(),
        ][n % 3]
    };
    let modifier = match (destination, n % 4) {
        (true, 3) => Modifier::SAT,
        (false, 1) => Modifier::NEG,
        (false, 2) => Modifier::ABS,
        _ => Modifier::NONE,
    };
    let small = (n % 200) as u8;
    match class {
        OperandClass::General => GeneralOperand {
            modifier,
            variable: VarId(format.predefined_variable_count() + n as u32 % 2),
            row: small % 8,
            column: small % 16,
            region,
        }
        .into(),
        OperandClass::Address => AddressOperand {
            address: AddressId(n as u16 % 2),
            offset: small % 8,
            width: small % 4,
            ..AddressOperand::default()
        }
        .into(),
        OperandClass::Predicate => PredicateOperand {
            predicate: Predicate::from_bits(1 + n as u16 % 2),
            ..PredicateOperand::default()
        }
        .into(),
        OperandClass::Indirect => IndirectOperand {
            modifier,
            address: AddressId(n as u16 % 2),
            address_offset: small % 8,
            offset: 4 - i16::from(small),
            property: PropertyByte::from_bits(small % 8),
            region,
        }
        .into(),
        OperandClass::Immediate => {
            let ty = variant.immediate.unwrap_or(DataType::ALL[n % 10]);
            let bits = 0x8877_6655_4433_2211 ^ n as u64;
            let wide = ImmediateOperand::wire_size(ty) == Some(8);
            let bits = if wide { bits } else { bits & 0xffff_ffff };
            ImmediateOperand::new(ty.into(), bits).into()
        }
        OperandClass::State => StateOperand {
            class: StateClass((n % 2) as u8),
            index: n as u16 % 2,
            offset: small % 2,
            ..StateOperand::default()
        }
        .into(),
    }
}

/// One object for each row and layout, of those that Intel's readers have accepted.
fn independent(synth: &Path) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    let mut seen = BTreeSet::new();
    for (folder, dialect) in [
        ("igc-1.0.12504", Dialect::Writer2018),
        ("igc-2026-08", Dialect::Reader2026_04),
    ] {
        let mut paths: Vec<_> = std::fs::read_dir(synth.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let bytes = std::fs::read(&path).unwrap();
            let options = ReadOptions {
                dialect: Some(dialect),
                ..ReadOptions::default()
            };
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let object = match parse::read_with(&bytes, options) {
                Ok(decoded) => decoded.object,
                Err(error) => {
                    println!("left out: {folder}/{name}: {error}");
                    continue;
                }
            };
            let format = object.format();
            let body = object.kernels[0].body().unwrap();
            let frame = [
                ("LABEL_", Op::LABEL),
                ("RET_", Op::RET),
                ("SUBROUTINE_", Op::SUBROUTINE),
            ];
            let about = frame.iter().find(|(prefix, _)| name.starts_with(prefix));
            let Some(subject) = subject(body, about.map(|(_, op)| *op)) else {
                println!("left out: {folder}/{name}: not about one instruction");
                continue;
            };
            let def = subject.def();
            let key = key_of(&subject);
            let entries = list_of(def).map_or(0, |list| subject.all(list.name).count());
            let layout = format!("{:?}", layout(def, format, Some(key)));
            if seen.insert((def.name, layout, entries)) {
                found.push(Case {
                    place: String::new(),
                    def,
                    format,
                    variant: format!("{folder}/{name}"),
                    bytes,
                    independent: true,
                });
            }
        }
    }
    found.sort_by_key(|case| (case.def.op, case.format.version(), case.variant.clone()));
    found
}
