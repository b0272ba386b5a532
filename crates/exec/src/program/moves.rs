//! Moves, selections, comparisons, addresses.

use super::build::Builder;
use super::code::Step;
use super::context::Context;
use super::fields;
use super::operand::{Destination, Modify, Problem, Shape, Source};
use super::types::{Class, modular, of_sums, of_values, raw};
use crate::fault::Outcome;
use crate::lanes::float::Precision;
use crate::lanes::int;
use crate::run::alu::Alu;
use crate::run::choice::{Equal, Less, LessEqual};
use crate::run::registers::{Destinations, Registers, Sources, full};
use visakit_isa::operand::PredicateCombine;
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, PredicateId, VectorOperand, enums};

type Translated = Result<Step, Problem>;

pub(super) fn mov(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let Some(operand) = fields::predicate(instruction, F::Src0)? else {
        return Ok(copy(Builder::new(cx, instruction, &[F::Src0])?));
    };
    let mut b = Builder::new(cx, instruction, &[])?;
    let flag = cx.flag_of(operand.predicate.id(), b.lanes)?;
    let elements = cx
        .routine
        .predicates
        .get(usize::from(operand.predicate.id().0).saturating_sub(1))
        .map_or(32, |p| p.elements as usize);
    b.extra().flags = [flag, flag, flag];
    if let Some(number) = b.extra().numbers.first_mut() {
        *number = elements.min(32);
    }
    Ok(b.step(predicate_to_number))
}

/// Consecutive elements on both sides, whatever the regions.
pub(super) fn movs(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    let lanes = b.count();
    let operand = fields::vector(instruction, F::Src0)?;
    if matches!(operand, VectorOperand::General(_)) && b.source(0).shape != Shape::Scalar {
        b.sources = vec![cx.packed_source(operand, lanes)?];
    }
    b.destination.saturate = false;
    Ok(b.unary::<int::Copy>(Class::U32))
}

pub(super) fn addr_add(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[])?;
    let lanes = b.count();
    b.sources = vec![
        cx.address_of(fields::vector(instruction, F::Src0)?, lanes)?,
        cx.source(fields::vector(instruction, F::Src1)?, lanes)?,
    ];
    Ok(b.binary_fixed::<int::Add, u16>())
}

/// A copy, with conversion where the types differ.
fn copy(mut b: Builder) -> Step {
    let source = b.source(0);
    let (from, to) = (source.data_type, b.destination.data_type);
    let plain = source.modify == Modify::None && !b.destination.saturate;
    let integers = !from.is_float() && !to.is_float();
    if plain && (from == to || integers && from.size() == to.size()) {
        b.take_bits();
        return match from.size() {
            1 => b.unary_fixed::<int::Copy, u8>(),
            2 => b.unary_fixed::<int::Copy, u16>(),
            4 => b.unary_fixed::<int::Copy, u32>(),
            _ => b.unary_fixed::<int::Copy, u64>(),
        };
    }
    if integers {
        return integer_mov(b);
    }
    b.precision = match from {
        DataType::Df => Precision::Double,
        _ => Precision::Float,
    };
    match (from.is_float(), from, to) {
        (true, DataType::Df, DataType::F) => b.convert::<f64, f32>(),
        (true, DataType::Df, _) => b.convert::<f64, f64>(),
        (true, _, DataType::Df) => b.convert::<f32, f64>(),
        (true, _, DataType::D) if plain => b.convert::<f32, i32>(),
        (true, _, DataType::Ud) if plain => b.convert::<f32, u32>(),
        (true, _, _) => b.convert::<f32, f32>(),
        // Negation and absolute value are taken of the exact number.
        (
            false,
            DataType::D | DataType::W | DataType::Uw | DataType::B | DataType::Ub,
            DataType::F,
        ) if source.modify == Modify::None => b.convert::<i32, f32>(),
        (false, DataType::Ud, DataType::F) if plain => b.convert::<u32, f32>(),
        (false, _, _) => match of_values(&[&source]) {
            Class::I128 => b.integers_to_float::<i128>(),
            Class::U64 => b.integers_to_float::<u64>(),
            _ => b.integers_to_float::<i64>(),
        },
    }
}

/// Integers to integers.
fn integer_mov(b: Builder) -> Step {
    if b.destination.saturate {
        let class = match of_values(&b.refs()) {
            Class::U64 | Class::I128 => of_sums(&b.refs()),
            _ => Class::I64,
        };
        return b.unary::<int::Copy>(class);
    }
    let any = |b: Builder| {
        let class = modular(&b.destination, &b.refs());
        b.unary::<int::Copy>(class)
    };
    let from = b.source(0).data_type;
    match (
        from.size(),
        from.is_signed(),
        b.destination.data_type.size(),
    ) {
        (1, true, 2) => b.resize::<i8, u16>(any),
        (1, true, 4) => b.resize::<i8, u32>(any),
        (1, true, 8) => b.resize::<i8, u64>(any),
        (1, false, 2) => b.resize::<u8, u16>(any),
        (1, false, 4) => b.resize::<u8, u32>(any),
        (1, false, 8) => b.resize::<u8, u64>(any),
        (2, true, 4) => b.resize::<i16, u32>(any),
        (2, true, 8) => b.resize::<i16, u64>(any),
        (2, false, 4) => b.resize::<u16, u32>(any),
        (2, false, 8) => b.resize::<u16, u64>(any),
        (4, true, 8) => b.resize::<i32, u64>(any),
        (4, false, 8) => b.resize::<u32, u64>(any),
        (2, _, 1) => b.resize::<u16, u8>(any),
        (4, _, 1) => b.resize::<u32, u8>(any),
        (4, _, 2) => b.resize::<u32, u16>(any),
        (8, _, 1) => b.resize::<u64, u8>(any),
        (8, _, 2) => b.resize::<u64, u16>(any),
        (8, _, 4) => b.resize::<u64, u32>(any),
        _ => any(b),
    }
}

/// Predicate bits as a number.
fn predicate_to_number(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let Some(extra) = &alu.extra else {
        return Ok(());
    };
    let [flag, ..] = &extra.flags;
    let elements = extra.numbers.first().copied().unwrap_or(32);
    let bits = (flag.word(registers) & full(elements)) >> flag.first;
    let values = [bits; 32];
    registers.store_any(
        &alu.destination,
        values.get(..alu.lanes).unwrap_or_default(),
        mask,
    )
}

pub(super) fn select(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0, F::Src1])?;
    let word = instruction.predicate().unwrap_or_default();
    if word.id() == PredicateId(0) || word.combine() == PredicateCombine::Reserved {
        return Err(Problem::form("a selection without a predicate"));
    }
    // The predicate chooses; it does not enable.
    let chooser = b.predicate.take().unwrap_or_default();
    b.extra().flags = [chooser; 3];
    let (x, y) = (b.source(0), b.source(1));
    let to = b.destination.data_type;
    let plain = !b.destination.saturate && x.modify == Modify::None && y.modify == Modify::None;
    let alike = |s: &Source, to: DataType| {
        s.data_type == to
            || !s.data_type.is_float() && !to.is_float() && s.data_type.size() == to.size()
    };
    if plain && alike(&x, to) && alike(&y, to) {
        b.take_bits();
        return Ok(match to.size() {
            1 => b.select::<u8>(),
            2 => b.select::<u16>(),
            4 => b.select::<u32>(),
            _ => b.select::<u64>(),
        });
    }
    if b.is_float() || to.is_float() {
        return Ok(match b.set_precision() {
            Precision::Double => b.select::<f64>(),
            _ => b.select::<f32>(),
        });
    }
    if b.destination.saturate {
        return Ok(match of_sums(&b.refs()) {
            Class::I128 => b.select::<i128>(),
            _ => b.select::<i64>(),
        });
    }
    Ok(match modular(&b.destination, &b.refs()) {
        Class::U64 => b.select::<u64>(),
        _ => b.select::<u32>(),
    })
}

pub(super) fn setp(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::without_destination(cx, instruction, &[F::Src0])?;
    let operand = fields::predicate(instruction, F::Dst)?
        .ok_or_else(|| Problem::form("setp with a destination that is no predicate"))?;
    let flag = cx.flag_operand(operand, b.lanes)?;
    b.extra().flags = [flag; 3];
    for source in &mut b.sources {
        source.data_type = raw(source.data_type);
    }
    Ok(match b.source(0).shape {
        Shape::Scalar => b.step(setp_bits),
        _ => b.step(setp_lanes),
    })
}

/// Bit n of the source for lane n.
fn setp_bits(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let mut value = [0u32; 1];
    let [source, ..] = &alu.sources;
    registers.load_any(source, &mut value, mask)?;
    let [bits] = value;
    if let Some(extra) = &alu.extra {
        let [flag, ..] = &extra.flags;
        flag.write(registers, bits, mask);
    }
    Ok(())
}

/// The lowest bit of each element.
fn setp_lanes(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let mut values = [0u32; 32];
    let [source, ..] = &alu.sources;
    registers.load_any(
        source,
        values.get_mut(..alu.lanes).unwrap_or_default(),
        mask,
    )?;
    let bits = values.iter().rev().fold(0, |bits, v| bits << 1 | v & 1);
    if let Some(extra) = &alu.extra {
        let [flag, ..] = &extra.flags;
        flag.write(registers, bits, mask);
    }
    Ok(())
}

pub(super) fn compare(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::without_destination(cx, instruction, &[F::Src0, F::Src1])?;
    match fields::predicate(instruction, F::Dst)? {
        Some(operand) => {
            let flag = cx.flag_operand(operand, b.lanes)?;
            b.extra().flags = [flag; 3];
        }
        None => {
            let operand = fields::vector(instruction, F::Dst)?;
            let destination = cx.destination(operand, b.count())?;
            b.destination = Destination {
                data_type: raw(destination.data_type),
                saturate: false,
                ..destination
            };
        }
    }
    let relation = fields::number(instruction, F::RelOp)? & 7;
    let code = |code: u8| u32::from(code);
    use enums::relation as r;
    // Greater is less with the sources exchanged.
    if relation == code(r::GT) || relation == code(r::GE) {
        b.sources.reverse();
    }
    b.negate = relation == code(r::NE);
    Ok(match relation {
        x if x == code(r::EQ) || x == code(r::NE) => b.compare::<Equal>(),
        x if x == code(r::LT) || x == code(r::GT) => b.compare::<Less>(),
        x if x == code(r::LE) || x == code(r::GE) => b.compare::<LessEqual>(),
        _ => return Err(Problem::form("a relation that means nothing")),
    })
}
