//! Every row of the instruction table prints, in every format that has it.

use visakit_isa::object::{Body, Declaration, Label, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::operand::{GeneralOperand, ImmediateOperand, Predicate, PropertyByte};
use visakit_isa::table::{FieldDef, FieldKind, LineKind, rows};
use visakit_isa::{
    DataType, Dialect, ElementCount, ExecSize, Format, Instruction, LabelId, RawOperand, Region,
    SamplerId, SamplerOp, StringId, SurfaceId, Value, VarId, VectorOperand, Version,
};
use visakit_text::{Form, Options, Printer};

/// The form of Intel's printer.
fn intel() -> Options {
    Options {
        form: Form::Intel,
        ..Options::default()
    }
}

/// The first variable that a routine declares.
const FIRST: u32 = 32;

/// Some value for a field; `turn` chooses among several.
fn value(field: &FieldDef, turn: u8) -> Option<Value> {
    let general = GeneralOperand {
        variable: VarId(FIRST),
        region: Region::SCALAR,
        ..GeneralOperand::default()
    };
    let constant = ImmediateOperand::new(PropertyByte::from(DataType::Ud), turn.into());
    Some(match field.kind {
        FieldKind::Vector if turn % 2 == 1 => Value::Vector(VectorOperand::Immediate(constant)),
        FieldKind::Vector => Value::Vector(VectorOperand::General(general)),
        FieldKind::Raw | FieldKind::Raws => Value::Raw(RawOperand {
            variable: VarId(FIRST),
            offset: turn.into(),
        }),
        FieldKind::ExecSize => Value::ExecSize(ExecSize::from_bits(0x03)),
        FieldKind::Predicate => Value::Predicate(Predicate::from_bits(0xa001)),
        FieldKind::U8 => Value::U8(turn),
        FieldKind::U16 => Value::U16(turn.into()),
        FieldKind::U32 => Value::U32(turn.into()),
        FieldKind::I32 => Value::I32(-i32::from(turn)),
        FieldKind::Label | FieldKind::Labels => Value::Label(LabelId((turn % 2).into())),
        FieldKind::StringIndex | FieldKind::StringIndex16 => Value::String(StringId(1)),
        FieldKind::Surface => Value::Surface(SurfaceId(turn)),
        FieldKind::Sampler => Value::Sampler(SamplerId(turn)),
        FieldKind::Lifetime => Value::Lifetime(VarId(FIRST)),
        FieldKind::ElementCount => Value::ElementCount(ElementCount::from_bits(1)),
        FieldKind::SamplerOp => Value::SamplerOp(SamplerOp::from_bits(turn.into())),
        FieldKind::Count => return None,
    })
}

fn body() -> Body<'static> {
    let mut body = Body::default();
    body.add_string(&b"routine"[..]);
    body.add_string(&b"a.b"[..]);
    body.variables.push(visakit_isa::object::Variable {
        name: StringId(1),
        elements: 8,
        ..Default::default()
    });
    body.predicates.push(Declaration {
        name: StringId(1),
        elements: 8,
        ..Default::default()
    });
    for kind in 0..2 {
        body.labels.push(Label {
            name: StringId(1),
            kind: visakit_isa::object::LabelKind(kind),
            ..Default::default()
        });
    }
    body
}

#[test]
fn every_row_prints_in_every_format() {
    let formats = Version::SUPPORTED.into_iter().flat_map(|version| {
        Dialect::ALL
            .into_iter()
            .filter(move |d| d.applies_to(version))
            .map(move |dialect| Format::new(version, dialect))
    });
    for format in formats {
        for turn in [0, 1, 2, 7, 255] {
            let mut body = body();
            let mut kinds = Vec::new();
            for row in rows().filter(|row| row.exists_in(format)) {
                let mut instruction = Instruction::new(row.op);
                for field in row.fields_in(format) {
                    if let Some(value) = value(field, turn) {
                        instruction = instruction.with(field.name, value);
                    }
                }
                body.code.push(instruction.into());
                kinds.push(row);
            }
            let mut object = Object::new(format.version(), format.dialect());
            object.kernels.push(Routine::new(&b"routine"[..], body));
            let mut lines = Lines::default();
            let printer = Printer::new(&object, intel());
            let id = RoutineId::new(RoutineKind::Kernel, 0);
            let Ok(()) = printer.routine(id, &mut lines);
            assert_eq!(lines.instructions.len(), kinds.len());
            for (text, row) in lines.instructions.iter().zip(kinds) {
                assert!(text.ends_with('\n'), "{}: {text}", row.name);
                let numbered = text.contains(" /// $");
                assert_eq!(
                    numbered,
                    row.syntax.line == LineKind::Instruction,
                    "{}: {text}",
                    row.name
                );
            }
        }
    }
}

#[derive(Default)]
struct Lines {
    instructions: Vec<String>,
}

impl visakit_text::Output for Lines {
    type Error = std::convert::Infallible;

    fn line(&mut self, kind: visakit_text::LineKind, text: &[u8]) -> Result<(), Self::Error> {
        if let visakit_text::LineKind::Instruction(_) = kind {
            let text = String::from_utf8_lossy(text).into_owned();
            self.instructions.push(text);
        }
        Ok(())
    }
}
