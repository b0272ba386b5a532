//! Other legal values for each part of a field's value.

use core::ops::Range;
use visakit::isa::operand::{
    ImmediateOperand, Modifier, OperandClass, PredicateCombine, PropertyByte, SamplerOpFlags,
    StateClass, VectorOperand,
};
use visakit::isa::table::FieldKind;
use visakit::isa::{
    AddressId, DataType, ElementCount, ExecSize, Format, LabelId, Predicate, PredicateId,
    RawOperand, Region, SamplerId, SamplerOp, StringId, SurfaceId, Value, VarId,
};

/// Another value: which part differs, the value, and the bytes of that part, from the start of the
/// field. The fixtures declare two entries in each table, so that an index has a neighbour.
pub(crate) type Alternative = (&'static str, Value, Range<usize>);

fn toggled(index: u32) -> u32 {
    index ^ 1
}

#[allow(clippy::too_many_lines)] // one arm for each kind of value
pub(crate) fn alternatives(kind: FieldKind, value: &Value, format: Format) -> Vec<Alternative> {
    let index = if format.wide_indices() { 4 } else { 2 };
    match *value {
        Value::Vector(operand) => vector(operand, index),
        Value::Raw(raw) => {
            let variable = VarId(toggled(raw.variable.0));
            let offset = raw.offset ^ 0xffff;
            vec![
                (
                    "variable",
                    Value::Raw(RawOperand { variable, ..raw }),
                    0..index,
                ),
                (
                    "offset",
                    Value::Raw(RawOperand { offset, ..raw }),
                    index..index + 2,
                ),
            ]
        }
        Value::ExecSize(v) => {
            let bits = v.bits();
            let lanes = (bits & 0xf0) | (((bits & 0xf) + 1) % 6);
            vec![
                ("lanes", Value::ExecSize(ExecSize::from_bits(lanes)), 0..1),
                (
                    "mask",
                    Value::ExecSize(ExecSize::from_bits(bits ^ 0x10)),
                    0..1,
                ),
            ]
        }
        Value::Predicate(v) => {
            let id = PredicateId(if v.id().0 == 1 { 2 } else { 1 });
            let combine = match v.combine() {
                PredicateCombine::Any => PredicateCombine::All,
                _ => PredicateCombine::Any,
            };
            let of = |id, combine, invert| {
                Value::Predicate(Predicate::new(id, combine, invert).unwrap())
            };
            vec![
                ("predicate", of(id, v.combine(), v.is_inverted()), 0..1),
                ("combine", of(v.id(), combine, v.is_inverted()), 1..2),
                ("invert", of(v.id(), v.combine(), !v.is_inverted()), 1..2),
            ]
        }
        Value::U8(v) => vec![("number", Value::U8(!v), 0..1)],
        Value::U16(v) => vec![
            ("low", Value::U16(v ^ 0xff), 0..1),
            ("high", Value::U16(v ^ 0xff00), 1..2),
        ],
        Value::U32(v) => (0..4)
            .map(|byte| ("number", Value::U32(v ^ 0xff << (8 * byte)), byte..byte + 1))
            .collect(),
        Value::I32(v) => vec![
            ("low", Value::I32(v ^ 1), 0..1),
            ("sign", Value::I32(v ^ i32::MIN), 3..4),
            ("number", Value::I32(i32::MIN), 0..4),
        ],
        Value::Label(v) => vec![("label", Value::Label(LabelId((v.0 + 1) % 3)), 0..2)],
        Value::String(v) => {
            let width = if kind == FieldKind::StringIndex16 {
                2
            } else {
                index
            };
            vec![("string", Value::String(StringId(toggled(v.0))), 0..width)]
        }
        Value::Surface(v) => vec![("surface", Value::Surface(SurfaceId(v.0 ^ 1)), 0..1)],
        Value::Sampler(v) => {
            let other = if v.0 == 0 { 31 } else { 0 };
            vec![("sampler", Value::Sampler(SamplerId(other)), 0..1)]
        }
        Value::Lifetime(v) => {
            // 1 is an address and a predicate, and so is 0; variables come in pairs.
            vec![("variable", Value::Lifetime(VarId(toggled(v.0))), 0..index)]
        }
        Value::ElementCount(v) => {
            let bits = v.bits();
            let of = |bits| Value::ElementCount(ElementCount::from_bits(bits));
            vec![
                ("lanes", of((bits & 0xf0) | (((bits & 0xf) + 1) % 3)), 0..1),
                ("mask", of(bits ^ 0x10), 0..1),
            ]
        }
        Value::SamplerOp(v) => {
            let wide = format
                .features()
                .contains(visakit::isa::Features::SINCE_4_0);
            let flags = v.flags() ^ SamplerOpFlags::CPS;
            let code = Value::SamplerOp(SamplerOp::new(v.code() ^ 1, v.flags()));
            let flags = Value::SamplerOp(SamplerOp::new(v.code(), flags));
            let mut all = vec![("code", code, 0..1)];
            if wide {
                all.push(("flags", flags, 1..2));
                let long = SamplerOp::new(v.code() | 0x20, v.flags());
                all.push(("long code", Value::SamplerOp(long), 0..1));
            } else {
                all.push(("flags", flags, 0..1));
            }
            all
        }
    }
}

/// The parts of a vector operand; byte 0 is the tag.
fn vector(operand: VectorOperand, index: usize) -> Vec<Alternative> {
    let mut all = Vec::new();
    let mut part = |what, range, change: &mut dyn FnMut(&mut VectorOperand)| {
        let mut other = operand;
        change(&mut other);
        all.push((what, Value::Vector(other), range));
    };
    let modifier = |m: Modifier| match m {
        Modifier::NONE => Modifier::NEG,
        _ => Modifier::NONE,
    };
    let region = |r: Region| {
        if r == Region::SCALAR {
            Region::source(32, 16, 2).unwrap()
        } else {
            Region::SCALAR
        }
    };
    macro_rules! parts {
        ($class:ident { $($what:ident $range:expr => $change:expr;)* }) => {{
            $(part(stringify!($what), $range, &mut |o| {
                let VectorOperand::$class(o) = o else { unreachable!() };
                o.$what = $change(o.$what);
            });)*
        }};
    }
    match operand.class() {
        OperandClass::General => parts!(General {
            modifier 0..1 => modifier;
            variable 1..1 + index => |v: VarId| VarId(toggled(v.0));
            row 1 + index..2 + index => |row: u8| !row;
            column 2 + index..3 + index => |column: u8| !column;
            region 3 + index..5 + index => region;
        }),
        OperandClass::Address => parts!(Address {
            modifier 0..1 => modifier;
            address 1..3 => |a: AddressId| AddressId(a.0 ^ 1);
            offset 3..4 => |offset: u8| !offset;
            width 4..5 => |width: u8| !width;
        }),
        OperandClass::Predicate => parts!(Predicate {
            modifier 0..1 => modifier;
            predicate 1..3 => |p: Predicate| p.with_id(PredicateId(p.id().0 ^ 3));
        }),
        OperandClass::Indirect => parts!(Indirect {
            modifier 0..1 => modifier;
            address 1..3 => |a: AddressId| AddressId(a.0 ^ 1);
            address_offset 3..4 => |offset: u8| !offset;
            offset 4..6 => |offset: i16| !offset;
            property 6..7 => |p: PropertyByte| PropertyByte::from_bits(!p.bits());
            region 7..9 => region;
        }),
        OperandClass::Immediate => {
            parts!(Immediate { modifier 0..1 => modifier; });
            let VectorOperand::Immediate(o) = operand else {
                unreachable!()
            };
            let size = ImmediateOperand::wire_size(o.data_type()).unwrap();
            for byte in 0..usize::from(size) {
                part("bits", 2 + byte..3 + byte, &mut |o| {
                    let VectorOperand::Immediate(o) = o else {
                        unreachable!()
                    };
                    o.set_bits(o.bits() ^ 0xff << (8 * byte));
                });
            }
            let same_size = |ty: &DataType| ImmediateOperand::wire_size(*ty) == Some(size);
            let types = DataType::ALL.into_iter().filter(same_size);
            for ty in types.filter(|ty| *ty != o.data_type()) {
                part("type", 1..2, &mut |o| {
                    let VectorOperand::Immediate(o) = o else {
                        unreachable!()
                    };
                    o.property = ty.into();
                });
            }
        }
        OperandClass::State => parts!(State {
            modifier 0..1 => modifier;
            class 1..2 => |class: StateClass| StateClass(class.0 ^ 1);
            index 2..4 => |index: u16| index ^ 1;
            offset 4..5 => |offset: u8| !offset;
        }),
    }
    all
}
