//! What a format cannot express is rejected, with the place; nothing is truncated silently.

use std::borrow::Cow;
use visakit_encode::{Error, ErrorKind};
use visakit_isa::object::{
    Arrangement, Attribute, Body, Declaration, FileVariable, Input, Label, Linkage, NativeBinary,
    NativeCode, NativePlatform, Object, Piece, Relocation, Routine, RoutineId, RoutineKind,
    Variable,
};
use visakit_isa::operand::{
    GeneralOperand, ImmediateOperand, PropertyByte, SamplerOpFlags, VectorOperand,
};
use visakit_isa::{
    DataType, Dialect, ExecSize, FieldName as F, Format, Instruction, LabelId, Op, Predicate,
    PredicateId, RawOperand, SamplerId, SamplerOp, StringId, SurfaceId, Value, VarId, Version,
};

fn bare(op: Op) -> Instruction {
    Instruction::new(op)
        .with(F::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
        .with(F::Pred, Value::Predicate(Predicate::NONE))
}

fn routine(name: &'static [u8]) -> Routine<'static> {
    let mut body = Body::default();
    body.name = body.add_string(name);
    body.code.push(bare(Op::RET).into());
    Routine::new(name, body)
}

/// A kernel `k` that ends at once, and a function `f` where the version has functions.
fn object(version: Version) -> Object<'static> {
    let mut object = Object::new(version, Dialect::Writer2018);
    object.kernels.push(routine(b"k"));
    if version == Version::V2_4 {
        object.kernels[0].binaries.push(NativeBinary::default());
    } else {
        object.functions.push(routine(b"f"));
    }
    object
}

fn body<'o>(object: &'o mut Object<'static>) -> &'o mut Body<'static> {
    object.kernels[0].body_mut().unwrap()
}

fn refusal(object: &Object<'_>) -> Error {
    let error = visakit_encode::write(object).unwrap_err();
    // Every error says what can be done, and in which version the object could be written.
    assert!(!error.help().is_empty());
    assert_eq!(error.format(), object.format());
    let version = format!("writing version {}", object.version);
    assert!(error.to_string().contains(&version), "{error}");
    error
}

/// The change is rejected in one version, with this kind and place, and accepted in another one.
fn refused(
    before: Version,
    since: Version,
    change: impl Fn(&mut Object<'static>),
    kind: ErrorKind,
    place: &str,
) {
    let mut old = object(before);
    assert!(visakit_encode::write(&old).is_ok());
    change(&mut old);
    let error = refusal(&old);
    assert_eq!(error.kind(), kind);
    assert_eq!(error.context().to_string(), place);
    let mut new = object(since);
    change(&mut new);
    let written = visakit_encode::write(&new).unwrap();
    let read = visakit_parse::read_with(
        &written,
        visakit_parse::ReadOptions {
            lenient: true,
            dialect: Some(Dialect::Writer2018),
        },
    );
    assert_eq!(read.unwrap().object, new);
}

fn too_large(value: u64, bits: u8) -> ErrorKind {
    ErrorKind::TooLarge { value, bits }
}

#[test]
#[cfg_attr(miri, ignore)] // tables of 65,536 entries take minutes there
fn indices_beyond_16_bits_before_3_4() {
    let raw = |variable, offset| {
        Value::Raw(RawOperand {
            variable: VarId(variable),
            offset,
        })
    };
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| {
            let load = Instruction::new(Op::OWORD_ST)
                .with(F::Size, Value::U8(0))
                .with(F::Surface, Value::Surface(SurfaceId(0)))
                .with(
                    F::Offset,
                    Value::Vector(ImmediateOperand::new(DataType::Ud.into(), 0).into()),
                )
                .with(F::Src, raw(0x1_0000, 0));
            body(o).code.insert(0, load.into());
        },
        too_large(0x1_0000, 16),
        "kernel 0 \"k\", instruction 0 (oword_st), field src, variable",
    );
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| {
            let operand = VectorOperand::from(GeneralOperand {
                variable: VarId(u32::MAX),
                ..GeneralOperand::default()
            });
            let mov = bare(Op::MOV)
                .with(F::Dst, Value::Vector(operand))
                .with(F::Src0, Value::Vector(operand));
            body(o).code.push(mov.into());
        },
        too_large(u32::MAX.into(), 16),
        "kernel 0 \"k\", instruction 1 (mov), field dst, variable",
    );
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| body(o).name = StringId(0x1_0000),
        too_large(0x1_0000, 16),
        "kernel 0 \"k\", field name",
    );
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| {
            body(o).variables.push(Variable::default());
            body(o).variables.push(Variable {
                alias: VarId(0x1_2345),
                ..Variable::default()
            });
        },
        too_large(0x1_2345, 16),
        "kernel 0 \"k\", variables[1], field alias",
    );
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| {
            body(o).labels.push(Label {
                attributes: vec![Attribute {
                    name: StringId(0x1_0000),
                    value: Cow::Borrowed(b""),
                }],
                ..Label::default()
            });
        },
        too_large(0x1_0000, 16),
        "kernel 0 \"k\", labels[0], attributes[0], field name",
    );
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| {
            body(o).inputs.push(Input {
                index: 0x1_0000,
                ..Input::default()
            });
        },
        too_large(0x1_0000, 16),
        "kernel 0 \"k\", inputs[0], field index",
    );
    refused(
        Version::V3_3,
        Version::V3_4,
        |o| body(o).strings = vec![Cow::Borrowed(b"k"); 0x1_0000],
        too_large(0x1_0000, 16),
        "kernel 0 \"k\", strings, field count",
    );
}

#[test]
#[cfg_attr(miri, ignore = "writes tables of 65536 entries")]
fn counts_and_lengths() {
    refused(
        Version::V3_6,
        Version::V3_7,
        |o| o.kernels[0].name = Cow::Owned(vec![b'n'; 300]),
        too_large(300, 8),
        "kernels[0], field name_length",
    );
    refused(
        Version::V3_6,
        Version::V3_7,
        |o| o.functions[0].name = Cow::Owned(vec![b'n'; 256]),
        too_large(256, 8),
        "functions[0], field name_length",
    );
    refused(
        Version::V3_4,
        Version::V3_5,
        |o| body(o).inputs = vec![Input::default(); 256],
        too_large(256, 8),
        "kernel 0 \"k\", inputs, field count",
    );
    let never = |change: &dyn Fn(&mut Object<'static>), kind: ErrorKind, place: &str| {
        let mut object = object(Version::V4_1);
        change(&mut object);
        let error = refusal(&object);
        assert_eq!(
            (error.kind(), error.context().to_string()),
            (kind, place.to_owned())
        );
    };
    never(
        &|o| o.functions[0].name = Cow::Owned(vec![b'n'; 0x1_0000]),
        too_large(0x1_0000, 16),
        "functions[0], field name_length",
    );
    never(
        &|o| body(o).surfaces = vec![Declaration::default(); 256],
        too_large(256, 8),
        "kernel 0 \"k\", surfaces, field count",
    );
    never(
        &|o| {
            body(o).attributes.push(Attribute {
                name: StringId(0),
                value: Cow::Owned(vec![0; 256]),
            });
        },
        too_large(256, 8),
        "kernel 0 \"k\", attributes[0], field value_length",
    );
    never(
        &|o| o.kernels[0].binaries = vec![NativeBinary::default(); 256],
        too_large(256, 8),
        "kernels[0], binaries, field count",
    );
    never(
        &|o| body(o).labels = vec![Label::default(); 0x1_0000],
        too_large(0x1_0000, 16),
        "kernel 0 \"k\", labels, field count",
    );
    never(
        &|o| body(o).strings[0] = Cow::Borrowed(b"a\0b"),
        ErrorKind::NulInString,
        "kernel 0 \"k\", strings[0], field text",
    );
    never(
        &|o| body(o).strings.push(Cow::Borrowed(b"\0")),
        ErrorKind::NulInString,
        "kernel 0 \"k\", strings[1], field text",
    );
    let mut many = Object::new(Version::V4_1, Dialect::Writer2018);
    many.kernels = vec![Routine::default(); 0x1_0000];
    let error = refusal(&many);
    assert_eq!(error.kind(), too_large(0x1_0000, 16));
    assert_eq!(error.context().to_string(), "kernels, field count");
}

#[test]
fn parts_of_the_other_kind_of_routine() {
    let wrong = |change: &dyn Fn(&mut Object<'static>), kind: &'static str, place: &str| {
        let mut object = object(Version::V4_1);
        change(&mut object);
        let error = refusal(&object);
        assert_eq!(error.kind(), ErrorKind::WrongRoutineKind(kind));
        assert_eq!(error.context().to_string(), place);
    };
    wrong(
        &|o| o.kernels[0].linkage = Linkage(1),
        "kernel",
        "kernel 0 \"k\", field linkage",
    );
    wrong(
        &|o| body(o).input_size = 1,
        "kernel",
        "kernel 0 \"k\", field input_size",
    );
    wrong(
        &|o| body(o).return_value_size = 1,
        "kernel",
        "kernel 0 \"k\", field return_value_size",
    );
    wrong(
        &|o| o.functions[0].binaries.push(NativeBinary::default()),
        "function",
        "function 0 \"f\", field binaries",
    );
    wrong(
        &|o| {
            let inputs = &mut o.functions[0].body_mut().unwrap().inputs;
            inputs.push(Input::default());
        },
        "function",
        "function 0 \"f\", field inputs",
    );
}

#[test]
fn parts_that_came_with_3_0() {
    let pair = Relocation {
        symbolic: 0,
        resolved: 0,
    };
    let wrong = |change: &dyn Fn(&mut Object<'static>), kind: ErrorKind, place: &str| {
        let mut object = object(Version::V2_4);
        assert!(visakit_encode::write(&object).is_ok());
        change(&mut object);
        let error = refusal(&object);
        assert_eq!(
            (error.kind(), error.context().to_string()),
            (kind, place.to_owned())
        );
    };
    let count = |found| ErrorKind::ExactCount { found, expected: 1 };
    wrong(
        &|o| o.kernels[0].binaries.push(NativeBinary::default()),
        count(2),
        "kernels[0], binaries, field count",
    );
    wrong(
        &|o| o.kernels[0].binaries.clear(),
        count(0),
        "kernels[0], binaries, field count",
    );
    wrong(
        &|o| o.kernels[0].binaries[0].platform = NativePlatform(5),
        ErrorKind::NoPlace,
        "kernels[0], binaries[0], field platform",
    );
    wrong(
        &|o| o.file_variables.push(FileVariable::default()),
        ErrorKind::NoPlace,
        "field file_variables",
    );
    wrong(
        &|o| o.functions.push(routine(b"f")),
        ErrorKind::NoPlace,
        "field functions",
    );
    wrong(
        &|o| o.kernels[0].variable_relocations.push(pair),
        ErrorKind::NoPlace,
        "kernels[0], field variable_relocations",
    );
    wrong(
        &|o| o.kernels[0].function_relocations.push(pair),
        ErrorKind::NoPlace,
        "kernels[0], field function_relocations",
    );
    wrong(
        &|o| {
            body(o).variables.push(Variable {
                alias_scope: 1,
                ..Variable::default()
            });
        },
        ErrorKind::NoPlace,
        "kernel 0 \"k\", variables[0], field alias_scope",
    );
}

#[test]
fn versions_without_a_binary_form() {
    for version in [
        Version::V4_2,
        Version::new(2, 3),
        Version::new(3, 9),
        Version::new(0, 0),
        Version::new(255, 255),
    ] {
        let error = refusal(&object(version));
        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion(version));
        assert_eq!(error.context().to_string(), "");
    }
}

#[test]
fn instructions_that_the_format_lacks() {
    let byte = |v| Value::Vector(ImmediateOperand::new(DataType::Ub.into(), v).into());
    refused(
        Version::V3_6,
        Version::V3_8,
        |o| {
            let barrier = Instruction::new(Op::NBARRIER)
                .with(F::Mode, Value::U8(1))
                .with(F::BarrierId, byte(3))
                .with(F::NumThreads, byte(8));
            body(o).code.insert(0, barrier.into());
        },
        ErrorKind::NoSuchInstruction(Op::NBARRIER),
        "kernel 0 \"k\", instruction 0 (nbarrier.wait), field opcode",
    );
    refused(
        Version::V3_8,
        Version::V3_7,
        |o| body(o).code.insert(0, bare(Op::IF).into()),
        ErrorKind::NoSuchInstruction(Op::IF),
        "kernel 0 \"k\", instruction 0 (if), field opcode",
    );
    let text_only = Format::new(Version::V4_1, Dialect::Reader2026_04);
    for op in [Op::BREAKPOINT, Op::RT_READ, Op::LFSR] {
        let error = visakit_encode::instruction(&Instruction::new(op), text_only).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchInstruction(op));
    }
}

fn sample(op: SamplerOp) -> Instruction {
    Instruction::new(Op::SAMPLE_3D)
        .with(F::Op, Value::SamplerOp(op))
        .with(F::ExecSize, Value::ExecSize(ExecSize::from_bits(3)))
        .with(F::Pred, Value::Predicate(Predicate::NONE))
        .with(F::Channels, Value::U8(15))
        .with(
            F::Aoffimmi,
            Value::Vector(ImmediateOperand::new(DataType::Uw.into(), 0).into()),
        )
        .with(F::Sampler, Value::Sampler(SamplerId(0)))
        .with(F::Surface, Value::Surface(SurfaceId(6)))
        .with(F::Dst, Value::Raw(RawOperand::NULL))
}

#[test]
fn sampler_codes_beyond_5_bits_before_4_0() {
    for (before, since) in [
        (Version::V3_8, Version::V4_0),
        (Version::V3_4, Version::V4_1),
    ] {
        let op = SamplerOp::new(40, SamplerOpFlags::empty());
        let error =
            visakit_encode::instruction(&sample(op), Format::new(before, Dialect::Writer2018));
        let error = error.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { bits: 8, .. }));
        assert_eq!(error.context().field, Some("sampler_op"));
        let written =
            visakit_encode::instruction(&sample(op), Format::new(since, Dialect::Writer2018));
        assert_eq!(written.unwrap()[1..3], [40, 0]);
        let op = SamplerOp::new(31, SamplerOpFlags::all());
        let written =
            visakit_encode::instruction(&sample(op), Format::new(before, Dialect::Writer2018));
        assert_eq!(written.unwrap()[1], 0xff);
        // Reserved bits beside the code do not fit either.
        let op = SamplerOp::from_bits(0x0800);
        assert!(
            visakit_encode::instruction(&sample(op), Format::new(before, Dialect::Writer2018))
                .is_err()
        );
    }
}

#[test]
fn fields_of_another_layout() {
    let format = Format::new(Version::V4_1, Dialect::Writer2018);
    let refusal = |i: &Instruction| {
        let error = visakit_encode::instruction(i, format).unwrap_err();
        (error.kind(), error.context().field.unwrap())
    };
    let order = |expected, found| ErrorKind::FieldOrder { expected, found };
    let exec = Value::ExecSize(ExecSize::from_bits(0));
    let pred = Value::Predicate(Predicate::NONE);
    let jump = bare(Op::JMP);
    assert_eq!(refusal(&jump), (order(F::Label, None), "label"));
    assert_eq!(
        refusal(&Instruction::new(Op::JMP)),
        (order(F::ExecSize, None), "exec_size")
    );
    let misordered = Instruction::new(Op::JMP)
        .with(F::Pred, pred)
        .with(F::ExecSize, exec)
        .with(F::Label, Value::Label(LabelId(0)));
    assert_eq!(
        refusal(&misordered),
        (order(F::ExecSize, Some(F::Pred)), "exec_size")
    );
    let whole = jump.clone().with(F::Label, Value::Label(LabelId(0)));
    assert!(visakit_encode::instruction(&whole, format).is_ok());
    let extra = whole.clone().with(F::Label, Value::Label(LabelId(1)));
    assert_eq!(refusal(&extra), (ErrorKind::ExtraField(F::Label), "label"));
    let extra = whole.with(F::Dst, Value::U8(0));
    assert_eq!(refusal(&extra), (ErrorKind::ExtraField(F::Dst), "dst"));
    let kind = jump.with(F::Label, Value::U16(0));
    assert_eq!(refusal(&kind), (ErrorKind::WrongKind, "label"));
    // A field of another version or dialect.
    let with_flags = |dialect| {
        let call = bare(Op::IFCALL)
            .with(F::Flags, Value::U8(0))
            .with(
                F::FuncAddr,
                Value::Vector(ImmediateOperand::new(DataType::Ud.into(), 0).into()),
            )
            .with(F::ArgSize, Value::U8(0))
            .with(F::RetSize, Value::U8(0));
        visakit_encode::instruction(&call, Format::new(Version::V4_1, dialect))
    };
    assert!(with_flags(Dialect::Writer2023_08).is_ok());
    let error = with_flags(Dialect::Writer2023_07).unwrap_err();
    assert_eq!(error.kind(), order(F::FuncAddr, Some(F::Flags)));
    // Entries of a list must be together at the end.
    let switch = Instruction::new(Op::SWITCHJMP)
        .with(F::ExecSize, exec)
        .with(F::Labels, Value::Label(LabelId(0)));
    assert_eq!(
        refusal(&switch),
        (order(F::Index, Some(F::Labels)), "index")
    );
    // A count is not a separate field.
    let counted = Instruction::new(Op::SWITCHJMP)
        .with(F::ExecSize, exec)
        .with(F::NumLabels, Value::U8(0));
    assert_eq!(
        refusal(&counted),
        (order(F::Index, Some(F::NumLabels)), "index")
    );
}

#[test]
fn predicates_beyond_12_bits() {
    let format = Format::new(Version::V4_1, Dialect::Writer2018);
    let ret = |id| {
        let predicate = Predicate::of(PredicateId(id));
        assert_eq!(predicate.id(), PredicateId(id));
        let ret = Instruction::new(Op::RET)
            .with(F::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
            .with(F::Pred, Value::Predicate(predicate));
        visakit_encode::instruction(&ret, format)
    };
    assert!(ret(0xfff).is_ok());
    for id in [0x1000, u16::MAX] {
        let error = ret(id).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { bits: 16, .. }));
    }
}

#[test]
fn immediates_that_have_no_bytes() {
    let format = Format::new(Version::V4_1, Dialect::Writer2018);
    let mov = |immediate: ImmediateOperand| {
        bare(Op::MOV)
            .with(F::Dst, Value::Vector(GeneralOperand::default().into()))
            .with(F::Src0, Value::Vector(immediate.into()))
    };
    let wide = ImmediateOperand::new(DataType::Ud.into(), 1 << 32);
    let error = visakit_encode::instruction(&mov(wide), format).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoPlace);
    assert_eq!(error.context().field, Some("high"));
    // A `bool` immediate has no size that a reader could assume.
    let boolean = ImmediateOperand::new(PropertyByte::from(DataType::Bool), 1);
    let error = visakit_encode::instruction(&mov(boolean), format).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoPlace);
    assert_eq!(error.context().field, Some("property"));
}

#[test]
fn arrangements_of_other_pieces() {
    let kernel = RoutineId::new(RoutineKind::Kernel, 0);
    let piece = |id| Piece::Routine(id);
    let of = |pieces| {
        let mut object = object(Version::V4_1);
        object.arrangement = Arrangement::Custom(pieces);
        visakit_encode::write(&object).map_err(|e| e.kind())
    };
    assert!(of(vec![piece(kernel)]).is_ok());
    let bad = Err(ErrorKind::BadArrangement);
    assert_eq!(of(vec![piece(kernel), piece(kernel)]), bad);
    assert_eq!(
        of(vec![piece(RoutineId::new(RoutineKind::Function, 1))]),
        bad
    );
    let binary = Piece::Binary {
        kernel: 0,
        index: 0,
    };
    assert_eq!(of(vec![binary.clone()]), bad);
    let mut object = object(Version::V4_1);
    object.arrangement = Arrangement::Custom(vec![binary]);
    object.kernels[0].binaries.push(NativeBinary {
        platform: NativePlatform(5),
        code: NativeCode::Bytes(Cow::Borrowed(b"code")),
    });
    assert!(visakit_encode::write(&object).is_ok());
}

/// Nonexistent version numbers are ordered like all others, and nothing overflows.
#[test]
fn versions_of_any_number_can_be_compared() {
    let far = Version::new(255, 255);
    assert!(far.at_least(Version::V4_1) && far.at_least(far));
    assert!(Version::new(66, 0).at_least(Version::new(65, 255)));
    assert!(!Version::new(3, 255).at_least(Version::V4_0));
    assert!(Version::V4_8.at_least(Version::V4_0) && !Version::V4_8.at_least(Version::V4_1));
}
