//! Types of the operands of an operation.

use super::pool::TYPES;
use fastrand::Rng;
use visakit_isa::table::{FieldDef, Role};
use visakit_isa::{DataType, InstructionDef, Op, TypeSet};

/// Which types can be combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Integers,
    Float(DataType),
    /// `f` mixed with this type.
    Mixed(DataType),
}

fn set_of(field: &FieldDef) -> TypeSet {
    if field.types.is_empty() {
        TypeSet::ALL_NUMBERS
    } else {
        field.types
    }
}

fn pick(rng: &mut Rng, set: TypeSet, allowed: impl Fn(DataType) -> bool) -> Option<DataType> {
    let all: Vec<DataType> = set
        .types()
        .filter(|t| TYPES.contains(t) && allowed(*t))
        .collect();
    rng.choice(all)
}

fn is_integer(ty: DataType) -> bool {
    TypeSet::INTEGERS.has(ty)
}

/// Types of destination and sources, in the order of the fields.
///
/// What the table allows is narrowed to families that can be combined; cases that the definitions
/// leave open nevertheless are found by the evaluator.
pub(super) fn choose(rng: &mut Rng, def: &InstructionDef) -> Option<(DataType, Vec<DataType>)> {
    let sources: Vec<&FieldDef> = def
        .fields
        .iter()
        .filter(|f| f.role == Role::Source && !f.classes.is_empty())
        .collect();
    let dst = def
        .fields
        .iter()
        .find(|f| f.role == Role::Destination)
        .map_or(TypeSet::ALL_NUMBERS, set_of);
    if let Some(types) = particular(rng, def.op) {
        return Some(types);
    }
    let common = sources
        .iter()
        .map(|f| set_of(f))
        .fold(TypeSet::ALL_NUMBERS, TypeSet::intersection);
    let mut families = Vec::new();
    if common.intersects(TypeSet::INTEGERS) {
        families.push(Family::Integers);
        families.push(Family::Integers);
    }
    for ty in [DataType::F, DataType::Df, DataType::Hf, DataType::Bf] {
        if common.has(ty) {
            families.push(Family::Float(ty));
            if ty != DataType::F && ty != DataType::Df && common.has(DataType::F) {
                families.push(Family::Mixed(ty));
            }
        }
    }
    let family = rng.choice(families)?;
    let float = |rng: &mut Rng| match family {
        Family::Mixed(ty) if rng.bool() => ty,
        Family::Float(ty) => ty,
        _ => DataType::F,
    };
    // Half of the time, all integers have one type.
    let one = pick(rng, common, is_integer).filter(|_| rng.bool());
    let mut types = Vec::new();
    for field in &sources {
        types.push(match family {
            Family::Integers => match one {
                Some(ty) => ty,
                None => pick(rng, set_of(field), is_integer)?,
            },
            _ => float(rng),
        });
    }
    let to = match family {
        _ if def.op == Op::MOV => pick(rng, TypeSet::ALL_NUMBERS, |_| true)?,
        Family::Integers => match one {
            Some(ty) if rng.bool() && dst.has(ty) => ty,
            _ => pick(rng, dst, is_integer)?,
        },
        _ => {
            let ty = if types.contains(&DataType::F) {
                float(rng)
            } else {
                types.first().copied()?
            };
            if !dst.has(ty) {
                return None;
            }
            ty
        }
    };
    Some((to, types))
}

/// Operations whose types the table does not pair.
fn particular(rng: &mut Rng, op: Op) -> Option<(DataType, Vec<DataType>)> {
    use DataType::{B, D, F, Hf, Ub, Ud, Uw, W};
    let heads = rng.bool();
    let either = |a: DataType, b: DataType| if heads { a } else { b };
    Some(match op {
        Op::SHR => {
            let list = [Ud, Uw, Ub, DataType::Uq, Ud, W, D];
            let a = *rng.choice(&list)?;
            let to = if rng.bool() { a } else { *rng.choice(&list)? };
            let count = *rng.choice(&[a, Ud, D, Uw])?;
            (to, vec![a, count])
        }
        Op::ASR => {
            let list = [D, W, B, DataType::Q, D];
            let a = *rng.choice(&list)?;
            let to = if rng.bool() { a } else { *rng.choice(&list)? };
            let count = *rng.choice(&[a, Ud, D, Uw])?;
            (to, vec![a, count])
        }
        Op::SHL => {
            let list = [Ud, D, Uw, W, Ub, B, DataType::Q, DataType::Uq];
            let a = *rng.choice(&list)?;
            let to = if rng.bool() { a } else { *rng.choice(&list)? };
            let count = *rng.choice(&[a, Ud, D, Uw])?;
            (to, vec![a, count])
        }
        Op::AND | Op::OR | Op::XOR if rng.u8(..8) == 0 => {
            let a = *rng.choice(&[F, Hf, DataType::Df])?;
            (a, vec![a, a])
        }
        Op::CBIT => (Ud, vec![*rng.choice(&[Ud, Uw, Ub])?]),
        Op::BFE => {
            let a = either(Ud, D);
            (a, vec![a, a, a])
        }
        Op::ROL | Op::ROR => {
            let a = *rng.choice(&[Ud, D, Uw, W])?;
            (a, vec![a, *rng.choice(&[a, Ud, D])?])
        }
        Op::BFN => {
            let (a, b) = if rng.bool() { (Ud, D) } else { (Uw, W) };
            let mut one = || if rng.bool() { a } else { b };
            (one(), vec![one(), one(), one()])
        }
        Op::MULH | Op::MADW => {
            let a = either(Ud, D);
            (a, vec![a; 3])
        }
        Op::ADD3O => {
            let a = *rng.choice(&[Ud, D, Uw, W])?;
            (a, vec![a; 3])
        }
        Op::FCVT => {
            let list = [(Hf, Ub), (Ub, Hf), (Ud, F), (F, Ud)];
            let (to, from) = *rng.choice(&list)?;
            (to, vec![from])
        }
        Op::SRND => {
            if rng.bool() {
                (Ub, vec![Hf, Ub])
            } else {
                (Hf, vec![F, Uw])
            }
        }
        Op::SAD2 | Op::SAD2ADD => {
            let a = either(Ub, B);
            (
                if rng.bool() { Uw } else { W },
                vec![a, a, if rng.bool() { Uw } else { W }],
            )
        }
        Op::LINE | Op::DP2 | Op::DP3 | Op::DP4 | Op::DPH | Op::LRP | Op::PLANE => (F, vec![F; 3]),
        Op::MAD | Op::MUL | Op::ADD if rng.u8(..4) == 0 => (D, vec![D; 3]),
        Op::MOV if rng.u8(..3) == 0 => {
            let a = *rng.choice(&TYPES)?;
            (a, vec![a])
        }
        _ => return None,
    })
}
