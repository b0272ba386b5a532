//! Moves, selections, comparisons, addresses.

use super::arith::two;
use super::compute::Builder;
use super::context::Context;
use super::fields;
use super::operand::Problem;
use super::special;
use super::types::{self, modular, of_sums, of_values};
use crate::code::{
    Destination, Lane, Modify, Operation, Precision, Region, Relation, Source, Step, raw,
};
use visakit_isa::operand::PredicateCombine;
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, PredicateId, VectorOperand, enums};

type Translated = Result<Step, Problem>;

pub(super) fn mov(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let Some(operand) = fields::predicate(instruction, F::Src0)? else {
        let b = Builder::new(cx, instruction, &[F::Src0])?;
        let small = |ty: DataType| ty.is_text_only();
        if small(b.source(0).data_type) || small(b.destination.data_type) {
            return special::small_float(b);
        }
        return Ok(copy(b));
    };
    let mut b = Builder::new(cx, instruction, &[])?;
    let flag = cx.flag_of(operand.predicate.id(), b.lanes)?;
    let elements = cx
        .routine
        .predicates
        .get(usize::from(operand.predicate.id().0).saturating_sub(1))
        .map_or(32, |p| p.elements as usize);
    b.flags[0] = flag;
    let elements = u8::try_from(elements).unwrap_or(32).min(32);
    Ok(b.step(Operation::FlagToNumber(elements), Lane::U32))
}

/// Consecutive elements on both sides, whatever the regions.
pub(super) fn movs(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[F::Src0])?;
    let lanes = b.count();
    let operand = fields::vector(instruction, F::Src0)?;
    if matches!(operand, VectorOperand::General(_)) && b.source(0).region != Region::Scalar {
        b.sources = vec![cx.packed_source(operand, lanes)?];
    }
    b.destination.saturate = false;
    Ok(b.step(Operation::Copy, Lane::U32))
}

pub(super) fn addr_add(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::new(cx, instruction, &[])?;
    let lanes = b.count();
    b.sources = vec![
        cx.address_of(fields::vector(instruction, F::Src0)?, lanes)?,
        cx.source(fields::vector(instruction, F::Src1)?, lanes)?,
    ];
    Ok(b.step(Operation::Add, Lane::U16))
}

/// A copy, with conversion where the types differ.
fn copy(mut b: Builder) -> Step {
    let source = b.source(0);
    let (from, to) = (source.data_type, b.destination.data_type);
    let plain = source.modify == Modify::None && !b.destination.saturate;
    let integers = !from.is_float() && !to.is_float();
    if plain && (from == to || integers && from.size() == to.size()) {
        b.take_bits();
        return b.step(Operation::Copy, Lane::of_bits(from));
    }
    if integers {
        return integer_mov(b);
    }
    b.precision = match from {
        DataType::Df => Precision::Double,
        _ => Precision::Float,
    };
    let convert = |b: Builder, from, to| b.step(Operation::Convert(to), from);
    match (from.is_float(), from, to) {
        (true, DataType::Df, DataType::F) => convert(b, Lane::F64, Lane::F32),
        (true, DataType::Df, _) => convert(b, Lane::F64, Lane::F64),
        (true, _, DataType::Df) => convert(b, Lane::F32, Lane::F64),
        (true, _, DataType::D) if plain => convert(b, Lane::F32, Lane::I32),
        (true, _, DataType::Ud) if plain => convert(b, Lane::F32, Lane::U32),
        (true, _, _) => convert(b, Lane::F32, Lane::F32),
        // Negation and absolute value are taken of the exact number.
        (
            false,
            DataType::D | DataType::W | DataType::Uw | DataType::B | DataType::Ub,
            DataType::F,
        ) if source.modify == Modify::None => convert(b, Lane::I32, Lane::F32),
        (false, DataType::Ud, DataType::F) if plain => convert(b, Lane::U32, Lane::F32),
        (false, _, _) => {
            let lane = match of_values(&b.sources) {
                lane @ (Lane::I128 | Lane::U64) => lane,
                _ => Lane::I64,
            };
            b.step(Operation::IntegerToFloat, lane)
        }
    }
}

/// Integers to integers.
fn integer_mov(b: Builder) -> Step {
    let lane = if !b.destination.saturate {
        modular(&b.destination, &b.sources)
    } else if matches!(of_values(&b.sources), Lane::U64 | Lane::I128) {
        of_sums(&b.sources)
    } else {
        Lane::I64
    };
    b.step(Operation::Copy, lane)
}

pub(super) fn select(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = two(cx, instruction)?;
    let word = instruction.predicate().unwrap_or_default();
    if word.id() == PredicateId(0) || word.combine() == PredicateCombine::Reserved {
        return Err(Problem::form("a selection without a predicate"));
    }
    // The predicate chooses; it does not enable.
    let chooser = b.predicate.take().unwrap_or_default();
    b.flags[0] = chooser;
    let (x, y) = (b.source(0), b.source(1));
    let to = b.destination.data_type;
    let plain = !b.destination.saturate && x.modify == Modify::None && y.modify == Modify::None;
    let alike = |s: &Source, to: DataType| {
        s.data_type == to
            || !s.data_type.is_float() && !to.is_float() && s.data_type.size() == to.size()
    };
    if plain && alike(&x, to) && alike(&y, to) {
        b.take_bits();
        return Ok(b.step(Operation::Select, Lane::of_bits(to)));
    }
    let lane = if b.is_float() || to.is_float() {
        match b.set_precision() {
            Precision::Double => Lane::F64,
            _ => Lane::F32,
        }
    } else if b.destination.saturate {
        of_sums(&b.sources)
    } else {
        modular(&b.destination, &b.sources)
    };
    Ok(b.step(Operation::Select, lane))
}

pub(super) fn setp(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::without_destination(cx, instruction, &[F::Src0])?;
    let operand = fields::predicate(instruction, F::Dst)?
        .ok_or_else(|| Problem::form("setp with a destination that is no predicate"))?;
    b.sets = Some(cx.flag_operand(operand, b.lanes)?);
    b.take_unsigned();
    let operation = match b.source(0).region {
        Region::Scalar => Operation::FlagFromBits,
        _ => Operation::FlagFromLanes,
    };
    Ok(b.step(operation, Lane::U32))
}

pub(super) fn compare(cx: &Context<'_>, instruction: &Instruction) -> Translated {
    let mut b = Builder::without_destination(cx, instruction, &[F::Src0, F::Src1])?;
    match fields::predicate(instruction, F::Dst)? {
        Some(operand) => {
            b.sets = Some(cx.flag_operand(operand, b.lanes)?);
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
    let relation = match relation {
        x if x == code(r::EQ) => Relation::Equal,
        x if x == code(r::NE) => Relation::NotEqual,
        x if x == code(r::LT) || x == code(r::GT) => Relation::Less,
        x if x == code(r::LE) || x == code(r::GE) => Relation::LessEqual,
        _ => return Err(Problem::form("a relation that means nothing")),
    };
    let lane = if b.is_float() {
        b.precision = types::precision(&Destination::default(), &b.sources);
        match b.precision {
            Precision::Double => Lane::F64,
            _ => Lane::F32,
        }
    } else {
        of_values(&b.sources)
    };
    Ok(b.step(Operation::Compare(relation), lane))
}
