//! Fields of an instruction, with typed problems where they are missing.

use super::operand::Problem;
use visakit_isa::operand::PredicateOperand;
use visakit_isa::table::FieldName;
use visakit_isa::{Instruction, LabelId, Value, VectorOperand};

pub(crate) fn vector(
    instruction: &Instruction,
    name: FieldName,
) -> Result<&VectorOperand, Problem> {
    match instruction.get(name) {
        Some(Value::Vector(operand)) => Ok(operand),
        _ => Err(missing(name)),
    }
}

pub(crate) fn predicate(
    instruction: &Instruction,
    name: FieldName,
) -> Result<Option<&PredicateOperand>, Problem> {
    Ok(match vector(instruction, name)? {
        VectorOperand::Predicate(operand) => Some(operand),
        _ => None,
    })
}

pub(crate) fn number(instruction: &Instruction, name: FieldName) -> Result<u32, Problem> {
    instruction
        .get(name)
        .and_then(Value::as_number)
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| missing(name))
}

pub(crate) fn label(instruction: &Instruction) -> Result<LabelId, Problem> {
    match instruction.get(FieldName::Label) {
        Some(Value::Label(label)) => Ok(*label),
        _ => Err(missing(FieldName::Label)),
    }
}

fn missing(name: FieldName) -> Problem {
    Problem::form(format!("an instruction without its field {name}"))
}
