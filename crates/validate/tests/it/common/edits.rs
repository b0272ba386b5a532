//! Faults as edits of a sound object.

#![allow(clippy::semicolon_if_nothing_returned)] // one edit a line

use visakit_isa::object::{
    Attribute, Content, FileVariable, Input, InputKind, Item, Label, LabelKind, NativeBinary,
    NativePlatform, Object, RawItem, Relocation, Routine, Variable, VariableProperties,
};
use visakit_isa::operand::{
    ElementCount, Modifier, PropertyByte, SamplerOp, StateClass, StateOperand,
};
use visakit_isa::{
    DataType, ExecSize, Field, FieldName as F, Instruction, LabelId, Op, Predicate, RawOperand,
    Region, StringId, SurfaceId, Value, VarId, VectorOperand,
};
use visakit_validate::{Rule, rules as r};

type Whole = Object<'static>;
type Body = visakit_isa::object::Body<'static>;
pub(crate) type Edit = (
    &'static Rule,
    // The lines of the sound object.
    &'static str,
    fn(&mut Object<'static>),
);

/// `mov`, `sel` and other shapes that edits start from.
const MOV: &str = "mov (M1, 8) D0(0,0)<1> D1(0,0)<1;1,0>";
const ADD: &str = "add (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>";
const LOGIC: &str = "and (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>";
const IMMEDIATE: &str = "mov (M1, 8) D0(0,0)<1> 0x1:d";
const INDIRECT: &str = "mov (M1, 1) D0(0,0)<1> r[A0(0),0]<0;1,0>:d";
const TO_INDIRECT: &str = "mov (M1, 8) r[A0(0),0]<1>:d D0(0,0)<1;1,0>";
const AND: &str = "and (M1, 16) P1 P1 P1";
const MOVS: &str = "movs (M1_NM, 1) T6(0) 0x0:ud";
const ADDRESS: &str = "addr_add (M1, 2) A0(0)<2> A0(0)<2> 0x4:w";
const GATHER: &str = "gather4_scaled.R (M1, 16) T6 0x0:ud U0.0 D0.0";
const BLOCKS: &str = "gather_scaled.1 (M1, 16) T6 0x0:ud U0.0 D0.0";
const TYPED: &str = "gather4_typed.R (M1, 8) T6 D0.0 %null.0 %null.0 %null.0 D1.0";
const OLD_GATHER: &str = "gather.4 (M1, 16) T6 0x0:ud U0.0 D0.0";
const SAMPLE: &str = "sample_3d.RGBA (M1, 16) 0x0:uw S0 T6 F0.0 F1.0";
const LSC: &str = "lsc_load.ugm (M1, 16) D0:d32 flat[Z0]:a64";
const STRIDED: &str = "lsc_load_strided.ugm (M1, 16) D0:d32 flat[Z0,0x4]:a64";
const BLOCK2D: &str =
    "lsc_load_block2d.ugm (M1, 1) D0:d32.16x8nn flat[O0,0x100,0x100,0x100,0x0,0x0]";
const PAYLOAD2D: &str = "lsc_load_block2d.ugm (M1, 1) D0:d32.16x8nn flat[U0 + (0,0)]";
const TYPED2D: &str = "lsc_load_block2d.tgm (M1, 1) D0:64x2 bti(0x4)[I0,I0]";
const TGM: &str = "lsc_load_quad.tgm (M1, 16) D0:d32.x bti(0x4)[U0]:a32";
const DPAS: &str = "dpas.s8.s8.8.8 (M1, 16) D0.0 D1.0 U0.0 U1(0,0)";
const JUMP: &str = "jmp (M1, 1) on\non:";
const CALL: &str = "call (M1, 1) sub\nret (M1, 1)\n.function \"sub\"\nsub:\nret (M1, 1)";

fn body(object: &mut Whole) -> &mut Body {
    object.kernels[0].body_mut().unwrap()
}

fn first(object: &mut Whole) -> &mut Instruction {
    let item = body(object).code.first_mut().unwrap();
    match item {
        Item::Instruction(instruction) => instruction,
        Item::Raw(_) => unreachable!(),
    }
}

fn set(object: &mut Object<'static>, name: F, value: Value) {
    *first(object).get_mut(name).unwrap() = value;
}

fn vector(object: &mut Whole, name: F) -> &mut VectorOperand {
    match first(object).get_mut(name).unwrap() {
        Value::Vector(operand) => operand,
        other => panic!("{other:?}"),
    }
}

fn variable(object: &mut Whole) -> &mut Variable<'static> {
    // Not referred to by the code of any object here.
    body(object).variables.iter_mut().next_back().unwrap()
}

fn attribute(name: StringId, length: usize) -> Attribute<'static> {
    Attribute {
        name,
        value: vec![0; length].into(),
    }
}

fn input(kind: u8, index: u32, offset: i16, size: u16) -> Input {
    Input {
        kind: InputKind(kind),
        index,
        offset,
        size,
    }
}

fn raw(variable: u32, offset: u16) -> Value {
    Value::Raw(RawOperand {
        variable: VarId(variable),
        offset,
    })
}

fn state(index: u16, class: u8) -> VectorOperand {
    VectorOperand::State(StateOperand {
        class: StateClass(class),
        index,
        ..StateOperand::default()
    })
}

fn code(instructions: &[Op]) -> Vec<Item<'static>> {
    let exec = || Value::ExecSize(ExecSize::from_bits(0x03));
    let instructions = instructions.iter().map(|op| {
        let mut instruction = Instruction::new(*op).with(F::ExecSize, exec());
        if matches!(*op, Op::IF | Op::WHILE | Op::BREAK | Op::CONT | Op::RET) {
            instruction = instruction.with(F::Pred, Value::Predicate(Predicate::NONE));
        }
        Item::Instruction(instruction)
    });
    instructions.collect()
}

/// A label that is declared and not placed.
fn label(object: &mut Object<'static>, kind: LabelKind) -> LabelId {
    let body = body(object);
    let name = body.add_string(&b"label"[..]);
    body.labels.push(Label {
        name,
        kind,
        attributes: Vec::new(),
    });
    LabelId(u16::try_from(body.labels.len() - 1).unwrap())
}

fn place(object: &mut Object<'static>, op: Op, id: LabelId) {
    let placed = Instruction::new(op).with(F::Label, Value::Label(id));
    body(object).code.insert(1, placed.into());
}

pub(crate) static EDITS: &[Edit] = &[
    // Structure.
    (&r::UNDECODABLE, MOV, |o| {
        let raw = RawItem {
            bytes: vec![0].into(),
            reason: "unknown opcode 0x00".to_owned(),
        };
        body(o).code.push(raw.into());
    }),
    (&r::MISPLACED_PIECE, MOV, |o| {
        let mut routine = Routine::new(&b"gone"[..], Body::default());
        routine.content = Content::Missing("outside of the file".to_owned());
        o.functions.push(routine);
    }),
    (&r::INDEX, MOV, |o| {
        if let VectorOperand::General(dst) = vector(o, F::Dst) {
            dst.variable = VarId(1000);
        }
    }),
    (&r::INDEX, GATHER, |o| {
        set(o, F::Surface, Value::Surface(SurfaceId(200)))
    }),
    (&r::INDEX, JUMP, |o| {
        body(o).labels[0].name = StringId(9999);
    }),
    (&r::INDEX, MOV, |o| {
        body(o).inputs.push(input(0, 5000, 32, 4))
    }),
    (&r::INDEX, MOV, |o| {
        body(o).attributes[0].name = StringId(9999)
    }),
    (&r::INDEX, MOV, |o| variable(o).alias = VarId(5000)),
    (&r::FIELDS, MOV, |o| {
        // Execution size, predicate and destination stay.
        first(o).fields.truncate(3);
    }),
    (&r::NOT_IN_VERSION, MOV, |o| first(o).op = Op::STRBUF_LOAD),
    (&r::ROUTINE_NAME, MOV, |o| {
        o.kernels[0].name = b"other".to_vec().into()
    }),
    (&r::DUPLICATE_NAME, MOV, |o| {
        let again = o.kernels[0].clone();
        o.kernels.push(again);
    }),
    (&r::RELOCATION, MOV, |o| {
        o.kernels[0]
            .variable_relocations
            .push(Relocation::default());
    }),
    (&r::ATTRIBUTE_REPEATED, MOV, |o| {
        let name = body(o).add_string(&b"SLMSize"[..]);
        body(o).attributes.push(attribute(name, 1));
        body(o).attributes.push(attribute(name, 1));
    }),
    (&r::ATTRIBUTE_SIZE, MOV, |o| {
        let name = body(o).add_string(&b"SLMSize"[..]);
        body(o).attributes.push(attribute(name, 8));
    }),
    (&r::TABLE_FULL, MOV, |o| {
        let one = body(o).samplers[0].clone();
        body(o).samplers.resize(33, one);
    }),
    (&r::NATIVE_PLATFORM, MOV, |o| {
        o.kernels[0].binaries.push(NativeBinary {
            platform: NativePlatform(99),
            ..NativeBinary::default()
        });
    }),
    // Declarations.
    (&r::VARIABLE_TYPE, MOV, |o| {
        variable(o).properties =
            VariableProperties::new(DataType::V, visakit_isa::object::Alignment(0));
    }),
    (&r::VARIABLE_TYPE, MOV, |o| {
        o.file_variables.push(FileVariable {
            properties: VariableProperties(0x0a),
            elements: 1,
            ..FileVariable::default()
        });
    }),
    (&r::VARIABLE_ELEMENTS, MOV, |o| variable(o).elements = 0),
    (&r::VARIABLE_ELEMENTS, MOV, |o| {
        variable(o).elements = 20_000
    }),
    (&r::ALIGNMENT, MOV, |o| {
        let ty = variable(o).properties.data_type();
        variable(o).properties = VariableProperties::new(ty, visakit_isa::object::Alignment(12));
    }),
    (&r::OFFSET_WITHOUT_ALIAS, MOV, |o| {
        variable(o).alias_offset = 8
    }),
    (&r::ALIAS_CYCLE, MOV, |o| {
        let last = 32 + body(o).variables.len() - 1;
        variable(o).alias = VarId(u32::try_from(last).unwrap());
    }),
    (&r::ALIAS_OFFSET, MOV, |o| {
        variable(o).alias = VarId(32);
        variable(o).alias_offset = 512;
    }),
    (&r::ALIAS_OVERRUN, MOV, |o| {
        variable(o).alias = VarId(32);
        variable(o).alias_offset = 508;
        variable(o).properties = VariableProperties(0x01);
        variable(o).elements = 2;
    }),
    (&r::ALIAS_FORWARD, MOV, |o| {
        let last = 32 + body(o).variables.len() - 1;
        let first = body(o)
            .variables
            .iter_mut()
            .find(|v| v.properties.data_type() == DataType::Uq && v.elements == 1);
        // O0 is the last one: alias an earlier variable of one element onto it.
        assert!(first.is_some());
        let dword = body(o)
            .variables
            .iter_mut()
            .find(|v| v.elements == 1)
            .unwrap();
        dword.alias = VarId(u32::try_from(last).unwrap());
    }),
    (&r::ALIAS_SCOPE, MOV, |o| variable(o).alias_scope = 2),
    (&r::ALIAS_SCOPE, MOV, |o| variable(o).alias_scope = 1),
    (&r::EMPTY_DECLARATION, MOV, |o| {
        body(o).surfaces[0].elements = 0
    }),
    (&r::LABEL_KIND, JUMP, |o| {
        body(o).labels[0].kind = LabelKind(77)
    }),
    (&r::INPUT_CLASS, MOV, |o| {
        body(o).inputs.push(input(3, 40, 32, 4))
    }),
    (&r::INPUT_VARIABLE, MOV, |o| {
        body(o).inputs.push(input(0, 3, 32, 4))
    }),
    (&r::INPUT_UNDECLARED, MOV, |o| {
        body(o).inputs.push(input(2, 30, 32, 4))
    }),
    (&r::INPUT_UNDECLARED, MOV, |o| {
        body(o).inputs.push(input(1, 5, 32, 4))
    }),
    (&r::INPUT_SIZE, MOV, |o| {
        body(o).inputs.push(input(2, 6, 32, 8))
    }),
    (&r::INPUT_OUTSIDE, MOV, |o| {
        body(o).inputs.push(input(2, 6, -32, 4))
    }),
    (&r::INPUT_KIND, MOV, |o| {
        body(o).inputs.push(input(2 | 9 << 3, 6, 32, 4))
    }),
    (&r::SIGNATURE, MOV, |o| {
        let mut function = o.kernels[0].clone();
        function.name = b"f".to_vec().into();
        let body = function.body_mut().unwrap();
        body.name = body.add_string(&b"f"[..]);
        body.input_size = 33;
        o.functions.push(function);
    }),
    // Operands.
    (&r::MODIFIER_CODE, MOV, |o| {
        if let VectorOperand::General(src) = vector(o, F::Src0) {
            src.modifier = Modifier::from_tag(6 << 3);
        }
    }),
    (&r::MODIFIER_PLACE, IMMEDIATE, |o| {
        if let VectorOperand::Immediate(src) = vector(o, F::Src0) {
            src.modifier = Modifier::NEG;
        }
    }),
    (&r::DESTINATION_MODIFIER, MOV, |o| {
        if let VectorOperand::General(dst) = vector(o, F::Dst) {
            dst.modifier = Modifier::NEG;
        }
    }),
    (&r::REGION_CODE, MOV, |o| {
        if let VectorOperand::General(src) = vector(o, F::Src0) {
            src.region = Region::from_bits(0x1222);
        }
    }),
    (&r::REGION_ABSENT, MOV, |o| {
        if let VectorOperand::General(src) = vector(o, F::Src0) {
            src.region = Region::from_bits(0x0220);
        }
    }),
    (&r::EXEC_SIZE_CODE, MOV, |o| {
        set(o, F::ExecSize, Value::ExecSize(ExecSize::from_bits(0x06)));
        // Regions of one lane.
        if let VectorOperand::General(src) = vector(o, F::Src0) {
            src.region = Region::SCALAR;
        }
    }),
    (&r::EXEC_SIZE_CODE, OLD_GATHER, |o| {
        set(
            o,
            F::NumElts,
            Value::ElementCount(ElementCount::from_bits(3)),
        );
    }),
    (&r::PREDICATE_CODE, MOV, |o| {
        set(o, F::Pred, Value::Predicate(Predicate::from_bits(0x6001)));
    }),
    (&r::PREDICATE_OPERAND, AND, |o| {
        if let VectorOperand::Predicate(src) = vector(o, F::Src0) {
            src.predicate = Predicate::from_bits(0x8001);
        }
    }),
    (&r::IMMEDIATE_CODE, IMMEDIATE, |o| {
        if let VectorOperand::Immediate(src) = vector(o, F::Src0) {
            src.property = <PropertyByte as visakit_isa::wire::Number>::from_wire(0x11);
        }
    }),
    (&r::IMMEDIATE_RANGE, IMMEDIATE, |o| {
        if let VectorOperand::Immediate(src) = vector(o, F::Src0) {
            src.property = DataType::W.into();
            src.set_bits(0x12_0001);
        }
    }),
    (&r::STATE_CLASS, MOVS, |o| *vector(o, F::Dst) = state(6, 2)),
    (&r::STATE_COPY, MOVS, |o| {
        *vector(o, F::Src0) = state(0, 1);
    }),
    (&r::INDIRECT_CODE, INDIRECT, |o| {
        if let VectorOperand::Indirect(src) = vector(o, F::Src0) {
            src.property = <PropertyByte as visakit_isa::wire::Number>::from_wire(0x21);
        }
    }),
    (&r::INDIRECT_TYPE, INDIRECT, |o| {
        if let VectorOperand::Indirect(src) = vector(o, F::Src0) {
            src.property = DataType::V.into();
        }
    }),
    (&r::SAMPLER_CODE, SAMPLE, |o| {
        set(o, F::Op, Value::SamplerOp(SamplerOp::from_bits(0x8000)));
    }),
    (&r::SAMPLER_OPERATION, SAMPLE, |o| {
        set(o, F::Op, Value::SamplerOp(SamplerOp::from_bits(0x00f0)));
    }),
    (&r::COARSE_PIXELS, SAMPLE, |o| {
        // Switch 2 on sample_l.
        set(o, F::Op, Value::SamplerOp(SamplerOp::from_bits(0x0202)));
    }),
    (&r::SAMPLER_PARAMETERS, SAMPLE, |o| {
        first(o).fields.retain(|f| f.name != F::Params);
    }),
    (&r::REGION_REGISTERS, ADDRESS, |o| {
        // Words of the second source in every second register.
        let far = visakit_isa::operand::GeneralOperand {
            variable: VarId(36),
            region: Region::from_bits(0x0127),
            ..visakit_isa::operand::GeneralOperand::default()
        };
        set(o, F::ExecSize, Value::ExecSize(ExecSize::from_bits(0x03)));
        if let VectorOperand::Address(dst) = vector(o, F::Dst) {
            dst.width = 3;
        }
        *vector(o, F::Src1) = far.into();
        body(o).variables[4].elements = 256;
    }),
    (&r::MULTI_ADDRESS_DESTINATION, TO_INDIRECT, |o| {
        if let VectorOperand::Indirect(dst) = vector(o, F::Dst) {
            dst.region = Region::from_bits(0x0220);
        }
    }),
    (&r::ADDRESS_WIDTH, ADDRESS, |o| {
        if let VectorOperand::Address(src) = vector(o, F::Src0) {
            src.width = 5;
        }
    }),
    (
        &r::REGION_WIDTH,
        "mov (M1, 32) D0(0,0)<1> D1(0,0)<1;1,0>",
        |o| {
            if let VectorOperand::General(src) = vector(o, F::Src0) {
                src.region = Region::from_bits(0x0277);
            }
        },
    ),
    (&r::REGION_STRIDE, MOV, |o| {
        if let VectorOperand::General(src) = vector(o, F::Src0) {
            src.region = Region::from_bits(0x0542);
        }
    }),
    (&r::INDIRECT_OFFSET, INDIRECT, |o| {
        if let VectorOperand::Indirect(src) = vector(o, F::Src0) {
            src.offset = 512;
        }
    }),
    (&r::NULL_OFFSET, TYPED, |o| set(o, F::V, raw(0, 4))),
    (&r::PREDEFINED_UNKNOWN, MOV, |o| {
        if let VectorOperand::General(src) = vector(o, F::Src0) {
            src.variable = VarId(30);
        }
    }),
    (&r::UNUSUAL_CLASS, LOGIC, |o| {
        *vector(o, F::Src0) = state(6, 0)
    }),
    (&r::OPERAND_CLASS, IMMEDIATE, |o| {
        let source = *vector(o, F::Src0);
        *vector(o, F::Dst) = source;
    }),
    // Instructions.
    (
        &r::ENUMERATION,
        "cmp.eq (M1, 8) P1 D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        |o| {
            set(o, F::RelOp, Value::U8(7));
        },
    ),
    (&r::ENUMERATION, LSC, |o| set(o, F::DataSize, Value::U8(0))),
    (&r::PIXEL_MASK, GATHER, |o| {
        set(o, F::Channels, Value::U8(0))
    }),
    (&r::PIXEL_MASK, TYPED, |o| set(o, F::Channels, Value::U8(0))),
    (&r::LOCAL_SURFACE, TYPED, |o| {
        set(o, F::Surface, Value::Surface(SurfaceId(5)))
    }),
    (&r::BLOCK_SIZE, BLOCKS, |o| {
        set(o, F::BlockSize, Value::U8(1))
    }),
    (&r::SCALE, BLOCKS, |o| set(o, F::Scale, Value::U16(2))),
    (&r::LIFETIME, "lifetime.start D0", |o| {
        set(o, F::Properties, Value::U8(0x30))
    }),
    (&r::PREDICATION, DPAS, |o| {
        // Only the newest dialect has the field.
        o.dialect = visakit_isa::Dialect::Reader2026_04;
        let field = Field {
            name: F::Pred,
            value: Value::Predicate(Predicate::from_bits(1)),
        };
        first(o).fields.insert(1, field);
    }),
    (&r::DPAS_TYPES, DPAS, |o| set(o, F::Src1, raw(38, 0))),
    (&r::DPAS_LANES, DPAS, |o| {
        set(o, F::ExecSize, Value::ExecSize(ExecSize::from_bits(0x05)));
    }),
    (
        &r::SAMPLE_LANES,
        "sample.RGBA (16) S0 T6 F0.0 F0.0 F0.0 F1.0",
        |o| {
            set(o, F::Mode, Value::U8(0x2f));
        },
    ),
    (
        &r::URB_WRITE,
        "urb_write_3d (M1, 8) 1 0 %null.0 U0.0 %null.0 U1.0",
        |o| {
            set(o, F::NumOut, Value::U8(9));
        },
    ),
    (&r::LSC_OPERANDS, LSC, |o| set(o, F::Src1Data, raw(32, 0))),
    (&r::LSC_PITCH, STRIDED, |o| {
        if let VectorOperand::Immediate(src) = vector(o, F::Src0AddrPitch) {
            src.set_bits(0x1_0000);
        }
    }),
    (&r::LSC_BLOCK_ORIGIN, PAYLOAD2D, |o| {
        *vector(o, F::SurfaceBase) = *vector(o, F::SurfaceWidth);
    }),
    (&r::LSC_BLOCK_ORIGIN, TYPED2D, |o| {
        *vector(o, F::Y) = visakit_isa::operand::GeneralOperand {
            region: Region::SCALAR,
            ..visakit_isa::operand::GeneralOperand::default()
        }
        .into();
    }),
    (&r::LSC_BLOCK_ORIGIN, BLOCK2D, |o| {
        *vector(o, F::SurfaceBase) = visakit_isa::operand::GeneralOperand {
            region: Region::SCALAR,
            ..visakit_isa::operand::GeneralOperand::default()
        }
        .into();
    }),
    (&r::LSC_COORDINATES, TGM, |o| set(o, F::Src0U, raw(0, 0))),
    // Control flow.
    (&r::LABEL_MISSING, JUMP, |o| {
        body(o).code.remove(1);
    }),
    (&r::LABEL_REPEATED, JUMP, |o| {
        let again = body(o).code[1].clone();
        body(o).code.insert(1, again);
    }),
    (&r::LABEL_PLACE, CALL, |o| {
        let at = body(o)
            .code
            .iter()
            .position(|i| matches!(i, Item::Instruction(i) if i.op == Op::SUBROUTINE));
        if let Some(Item::Instruction(placed)) = at.and_then(|n| body(o).code.get_mut(n)) {
            placed.op = Op::LABEL;
        }
    }),
    (&r::CALL_TARGET, JUMP, |o| first(o).op = Op::CALL),
    (&r::JUMP_TARGET, CALL, |o| first(o).op = Op::JMP),
    (
        &r::SWITCH_LANES,
        "switchjmp (M1, 1) 0x0:ub (one)\none:",
        |o| {
            set(o, F::ExecSize, Value::ExecSize(ExecSize::from_bits(0x03)));
        },
    ),
    (&r::NESTING, MOV, |o| {
        o.version = visakit_isa::Version::V3_6;
        body(o).code = code(&[Op::ENDIF, Op::RET]);
    }),
    // A label that nothing refers to is harmless.
    (&r::LABEL_REPEATED, MOV, |o| {
        let id = label(o, LabelKind::BLOCK);
        place(o, Op::LABEL, id);
        place(o, Op::LABEL, id);
    }),
];
