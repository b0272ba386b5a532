//! Instructions that are built are those that are read: in every layout, and by every constructor.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use visakit::isa::build::{self, Builder, Code, ErrorKind, Lanes, Setting};
use visakit::isa::operand::{AddressOperand, GeneralOperand};
use visakit::isa::table::{self, FieldDef, FieldKind};
use visakit::isa::{
    AddressId, Dialect, ExecMask, FieldName, Format, Instruction, LabelId, Op, Predicate,
    PredicateId, RawOperand, SamplerId, StringId, SurfaceId, Value, VarId, VectorOperand, Version,
};
use visakit::parse::{Instructions, Rules};
use visakit_testing::layouts::{cases, formats};

/// Everything read from the fixtures is built again from its fields, given last to first.
#[test]
fn fields_are_put_into_the_order_of_the_stream() {
    for case in cases() {
        let read = case.subject(&case.read());
        let mut builder = Builder::new(read.op);
        let list = read.def().fields.iter().find(|f| f.kind.is_list());
        let is_entry = |name| list.is_some_and(|list| list.name == name);
        for field in read.fields.iter().rev().filter(|f| !is_entry(f.name)) {
            builder = builder.set(field.name, field.value);
        }
        if let Some(list) = list {
            builder = builder.set_all(list.name, read.all(list.name).copied());
        }
        assert_eq!(builder.finish(case.format), Ok(read), "{}", case.place);
    }
}

/// Something for each parameter of a constructor.
trait Sample {
    fn sample(seed: u8) -> Self;
}

macro_rules! samples {
    ($($ty:ty: |$seed:ident| $value:expr;)*) => {$(
        impl Sample for $ty {
            fn sample($seed: u8) -> Self {
                $value
            }
        }
    )*};
}

samples! {
    Lanes: |_seed| (8, ExecMask::M1).into();
    Code: |seed| Code::from(seed % 2);
    VectorOperand: |seed| match seed % 3 {
        0 => GeneralOperand::src(VarId(seed.into())).into(),
        1 => AddressOperand { address: AddressId(seed.into()), ..AddressOperand::default() }.into(),
        _ => VectorOperand::from(f32::from(seed)),
    };
    RawOperand: |seed| RawOperand { variable: VarId(seed.into()), offset: seed.into() };
    LabelId: |seed| LabelId(seed.into());
    StringId: |seed| StringId(seed.into());
    SurfaceId: |seed| SurfaceId(seed);
    SamplerId: |seed| SamplerId(seed);
    VarId: |seed| VarId(seed.into());
}

/// Something for a field that is set by name.
fn sample(field: &FieldDef, seed: u8) -> Setting {
    match field.kind {
        FieldKind::Vector => VectorOperand::sample(seed).into(),
        FieldKind::Raw => RawOperand::sample(seed).into(),
        FieldKind::Surface => SurfaceId(seed).into(),
        FieldKind::Sampler => SamplerId(seed).into(),
        _ => Code::sample(seed).into(),
    }
}

macro_rules! calls {
    ($(
        $(#[$doc:meta])*
        fn $name:ident = $op:ident(
            $($field:ident $parameter:ident: $ty:ident),*
            $(; $list:ident $entries:ident: [$entry:ident])?
        );
    )*) => {
        /// Every constructor, called, with the fields that it was given.
        #[allow(unused_mut)]
        fn built() -> Vec<(Op, Builder, Vec<FieldName>)> {
            Vec::from([$({
                let mut _seed = 16;
                let builder = build::$name(
                    $({ _seed += 1; <$ty as Sample>::sample(_seed) },)*
                    $([1, 2, 3].map(<$entry as Sample>::sample),)?
                );
                let given = Vec::from([$(FieldName::$field,)* $(FieldName::$list)?]);
                (Op::$op, builder, given)
            }),*])
        }
    };
}

visakit::isa::for_each_constructor!(calls);

/// Each constructor in each format: fields that are not parameters are set by name, and the result
/// is written and read again.
#[test]
fn every_constructor_builds_what_is_read_again() {
    let built = built();
    let rows = table::rows().filter(|def| def.has_layout());
    assert!(rows.map(|def| def.op).eq(built.iter().map(|(op, ..)| *op)));
    for format in formats() {
        for (op, builder, given) in &built {
            let def = op.def();
            assert!(given.len() <= 7, "{}", def.name);
            if !def.exists_in(format) {
                let error = builder.clone().finish(format).unwrap_err();
                assert_eq!(error.kind, ErrorKind::NoSuchInstruction(format));
                continue;
            }
            let instruction = complete(builder.clone(), format);
            let bytes = visakit::encode::instruction(&instruction, format).unwrap();
            let mut read = Instructions::new(&bytes, 0, format, Rules::LENIENT);
            let again = read.next().unwrap().unwrap().to_instruction();
            assert_eq!(again, instruction, "{}", def.name);
            assert!(read.next().is_none(), "{}", def.name);
            for name in given {
                assert!(again.get(*name).is_some(), "{} {name}", def.name);
            }
        }
    }
}

/// Sets the missing fields, one after the other, as the errors name them.
fn complete(mut builder: Builder, format: Format) -> Instruction {
    for seed in 40..80 {
        match builder.clone().finish(format) {
            Ok(instruction) => return instruction,
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Missing, "{error}");
                let name = error.field.unwrap();
                let field = error.op.def().fields.iter().find(|f| f.name == name);
                builder = builder.set(name, sample(field.unwrap(), seed));
            }
        }
    }
    panic!("no end of missing fields: {builder:?}");
}

fn format() -> Format {
    Format::new(Version::V4_1, Dialect::Writer2018)
}

#[test]
fn what_does_not_belong_is_refused() {
    let add = || build::add(8, GeneralOperand::dst(VarId(32)), 1, 2.5);
    let error = |builder: Builder| builder.finish(format()).unwrap_err().to_string();
    assert_eq!(
        error(add().set(FieldName::Sfid, 3)),
        "add: field sfid: the instruction does not have it here"
    );
    assert_eq!(
        error(add().set(FieldName::Src0, RawOperand::NULL)),
        "add: field src0: a value of another kind belongs here"
    );
    assert_eq!(
        error(add().set(FieldName::ExecSize, 7)),
        "add: field exec_size: no such number of lanes or execution mask"
    );
    assert_eq!(
        error(Builder::new(Op::ADD).set(FieldName::Dst, 0)),
        "add: field exec_size: must be set"
    );
    let cmp = |relation: &'static str| build::cmp(8, relation, Predicate::NONE, 1, 2);
    assert_eq!(
        error(cmp("almost")),
        "cmp: field rel_op: no value is named \"almost\""
    );
    assert_eq!(
        error(cmp("lt").set(FieldName::RelOp, 256)),
        "cmp: field rel_op: 256 does not fit"
    );
    let early = Format::new(Version::V3_0, Dialect::Writer2018);
    assert_eq!(
        build::sbarrier(0).finish(early).unwrap_err().to_string(),
        "sbarrier.signal: version 3.0 (writer-2018) has no such instruction"
    );
}

#[test]
fn what_was_set_last_holds() {
    let predicate = Predicate::new(
        PredicateId(1),
        visakit::isa::operand::PredicateCombine::Any,
        true,
    );
    let add = build::add(8, GeneralOperand::dst(VarId(32)), 1, 2)
        .predicated(predicate.unwrap())
        .set(FieldName::ExecSize, (16, ExecMask::M1))
        .set(FieldName::Src1, 3);
    let add = add.finish(format()).unwrap();
    assert_eq!(add.exec_size().unwrap().lanes(), Some(16));
    assert_eq!(add.predicate(), predicate);
    assert_eq!(add.get(FieldName::Src1), Some(&Value::Vector(3.into())));
}
