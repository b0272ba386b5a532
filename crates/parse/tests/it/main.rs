//! The reader on its own: every kind of field, every error with its place, cut and lying files,
//! lenient reading, dialects. Tests without files run under miri, too, for big-endian hosts.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod damaged;
mod dialects;
mod errors;
mod values;

use visakit_isa::object::{Body, Declaration, Label, NativeBinary, NativeCode, Object, Routine};
use visakit_isa::object::{Input, InputKind, Variable};
use visakit_isa::operand::{GeneralOperand, ImmediateOperand};
use visakit_isa::{
    Dialect, ExecSize, FieldName as F, Format, Instruction, LabelId, Op, Predicate, Region, Value,
    VarId, VectorOperand, Version,
};

const NARROW: Format = Format::new(Version::V3_3, Dialect::Writer2018);
const WIDE: Format = Format::new(Version::V4_1, Dialect::Writer2018);

fn bare(op: Op) -> Instruction {
    Instruction::new(op)
        .with(F::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
        .with(F::Pred, Value::Predicate(Predicate::NONE))
}

/// A kernel with an entry in each table, a jump, a move and native code, and a function.
fn object(version: Version) -> Object<'static> {
    let mut body = Body::default();
    body.name = body.add_string(&b"k"[..]);
    body.variables.push(Variable {
        elements: 8,
        ..Variable::default()
    });
    for table in [
        &mut body.addresses,
        &mut body.predicates,
        &mut body.samplers,
        &mut body.surfaces,
    ] {
        table.push(Declaration::default());
    }
    body.labels.push(Label::default());
    body.inputs.push(Input {
        kind: InputKind::GENERAL,
        index: 32,
        offset: 32,
        size: 32,
    });
    let variable = GeneralOperand {
        variable: VarId(32),
        region: Region::destination(1).unwrap(),
        ..GeneralOperand::default()
    };
    body.code = vec![
        bare(Op::MOV)
            .with(F::Dst, Value::Vector(variable.into()))
            .with(
                F::Src0,
                Value::Vector(VectorOperand::Immediate(ImmediateOperand::from_f32(1.5))),
            )
            .into(),
        bare(Op::JMP)
            .with(F::Label, Value::Label(LabelId(0)))
            .into(),
        bare(Op::RET).into(),
    ];
    let mut function = Body::default();
    function.name = function.add_string(&b"f"[..]);
    function.code.push(bare(Op::FRET).into());
    let mut object = Object::new(version, Dialect::Writer2018);
    object.kernels.push(Routine::new(&b"k"[..], body));
    object.kernels[0].binaries.push(NativeBinary {
        code: NativeCode::Bytes(b"native".into()),
        ..NativeBinary::default()
    });
    object.functions.push(Routine::new(&b"f"[..], function));
    object.arrangement = object.usual_arrangement();
    object
}
