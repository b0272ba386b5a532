//! Selects the function that runs a computation.

use super::arithmetic as a;
use super::choice::{self as c, Relation as Holds};
use super::{Alu, Function, special};
use crate::code::{Compute, Lane, Operation, Precision, Relation};
use crate::fault::{FaultKind, Outcome, Trap, Unsupported};
use crate::lanes::float;
use crate::lanes::int;
use crate::machine::Registers;
use std::sync::Arc;

/// A computation with the function that runs it.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    function: Function,
    compute: Arc<Compute>,
}

/// Calls a generic method with the type of a lane, of those that are named.
macro_rules! lane {
    ($lane:expr, $($name:ident $ty:ident)|+ => |$c:ident| $body:expr) => {
        match $lane {
            $(Lane::$name => { type $c = $ty; $body })+
            _ => refused,
        }
    };
}

/// Numbers of 32 bits and more.
macro_rules! wide {
    ($lane:expr, |$c:ident| $body:expr) => {
        lane!($lane, U32 u32 | I32 i32 | U64 u64 | I64 i64 | I128 i128 => |$c| $body)
    };
}

/// Bits of every size.
macro_rules! bits {
    ($lane:expr, |$c:ident| $body:expr) => {
        lane!($lane, U8 u8 | U16 u16 | U32 u32 | U64 u64 => |$c| $body)
    };
}

/// A kernel of floats.
macro_rules! real {
    ($lane:expr, $kernel:ident, $operation:ty) => {
        lane!($lane, F32 f32 | F64 f64 => |C| a::$kernel::<$operation, C>)
    };
}

/// Rounded once: narrow formats are not computed in single precision, which would round twice.
macro_rules! real_ternary {
    ($lane:expr, $precision:expr, $operation:ty) => {
        match $precision {
            Precision::Half | Precision::BFloat => a::in_mode::<$operation>,
            Precision::Float | Precision::Double => real!($lane, real_ternary, $operation),
        }
    };
}

/// Two floats or two integers.
macro_rules! number {
    ($lane:expr, $real:ty, $integer:ty) => {
        match $lane {
            Lane::F32 | Lane::F64 => real!($lane, real_binary, $real),
            lane => wide!(lane, |C| a::binary::<$integer, C>),
        }
    };
}

impl Bound {
    /// Chooses the function for a computation.
    pub(crate) fn new(compute: &Arc<Compute>) -> Self {
        Self {
            function: choose(compute),
            compute: Arc::clone(compute),
        }
    }

    /// Runs the computation it was bound for, on this many lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run(&self, lanes: u8, registers: &mut Registers, mask: u32) -> Outcome {
        let alu = Alu {
            lanes: lanes.into(),
            compute: &self.compute,
        };
        (self.function)(&alu, registers, mask)
    }
}

/// For an operation in lanes of a type that it does not have. The translation makes none.
fn refused(alu: &Alu<'_>, _: &mut Registers, _: u32) -> Outcome {
    let why = format!("in lanes of {:?}", alu.lane);
    let unsupported = Unsupported::new(alu.operation.name(), why);
    Err(Trap::new(FaultKind::Unsupported(unsupported)))
}

/// Chooses the function for a computation.
fn choose(compute: &Compute) -> Function {
    let lane = compute.lane;
    match compute.operation {
        Operation::Copy => lane!(lane,
            U8 u8 | U16 u16 | U32 u32 | U64 u64 | I64 i64 | I128 i128
                => |C| a::unary::<int::Copy, C>),
        Operation::Convert(to) => conversion(lane, to),
        Operation::IntegerToFloat => {
            wide!(lane, |C| c::integers_to_float::<C>)
        }
        Operation::Not => wide!(lane, |C| a::unary::<int::Not, C>),
        Operation::CountBits => lane!(lane, U32 u32 | U64 u64 => |C| a::unary::<int::Cbit, C>),
        Operation::LeadingZeros => a::unary::<int::Lzd, u32>,
        Operation::FirstBitLow => a::unary::<int::Fbl, u32>,
        Operation::FirstBitHighSigned => a::unary::<int::FbhSigned, u32>,
        Operation::FirstBitHighUnsigned => a::unary::<int::FbhUnsigned, u32>,
        Operation::ReverseBits => a::unary::<int::Bfrev, u32>,
        Operation::Exp => real!(lane, vector_unary, float::Exp),
        Operation::Log => real!(lane, vector_unary, float::Log),
        Operation::Sin => real!(lane, vector_unary, float::Sin),
        Operation::Cos => real!(lane, vector_unary, float::Cos),
        Operation::Tanh => real!(lane, real_unary, float::Tanh),
        Operation::Sigmoid => real!(lane, real_unary, float::Sigmoid),
        Operation::Inv => real!(lane, real_unary, float::Inv),
        Operation::Sqrt => real!(lane, real_unary, float::Sqrt),
        Operation::Rsqrt => real!(lane, real_unary, float::Rsqrt),
        Operation::Frc => real!(lane, real_unary, float::Frc),
        Operation::Rndd => real!(lane, real_unary, float::Rndd),
        Operation::Rndu => real!(lane, real_unary, float::Rndu),
        Operation::Rnde => real!(lane, real_unary, float::Rnde),
        Operation::Rndz => real!(lane, real_unary, float::Rndz),
        // Addresses are words.
        Operation::Add if lane == Lane::U16 => a::binary::<int::Add, u16>,
        Operation::Add => number!(lane, float::Add, int::Add),
        Operation::Mul => number!(lane, float::Mul, int::Mul),
        Operation::Div => number!(lane, float::Div, int::Div),
        Operation::Min => number!(lane, float::Min, int::Min),
        Operation::Max => number!(lane, float::Max, int::Max),
        Operation::Pow => real!(lane, real_binary, float::Pow),
        Operation::Mod => wide!(lane, |C| a::binary::<int::Mod, C>),
        Operation::Avg => wide!(lane, |C| a::binary::<int::Avg, C>),
        Operation::MulHigh => a::binary::<int::Mulh, u64>,
        Operation::And => wide!(lane, |C| a::binary::<int::And, C>),
        Operation::Or => wide!(lane, |C| a::binary::<int::Or, C>),
        Operation::Xor => wide!(lane, |C| a::binary::<int::Xor, C>),
        Operation::Shl => wide!(lane, |C| a::binary::<int::Shl, C>),
        Operation::Shr => wide!(lane, |C| a::binary::<int::Shr, C>),
        Operation::Rol => bits!(lane, |C| a::binary::<int::Rol, C>),
        Operation::Ror => bits!(lane, |C| a::binary::<int::Ror, C>),
        Operation::Mad if matches!(lane, Lane::F32 | Lane::F64) => match compute.precision {
            Precision::Half => a::real_ternary::<float::HalfMad, f32>,
            precision => real_ternary!(lane, precision, float::Mad),
        },
        Operation::Mad => wide!(lane, |C| a::ternary::<int::Mad, C>),
        Operation::Add3 => wide!(lane, |C| a::ternary::<int::Add3, C>),
        Operation::Lrp => real_ternary!(lane, compute.precision, float::Lrp),
        Operation::ExtractSigned => a::ternary::<int::BfeSigned, u32>,
        Operation::ExtractUnsigned => a::ternary::<int::BfeUnsigned, u32>,
        Operation::Boolean(_) => a::boolean,
        Operation::Compare(relation) => match relation {
            Relation::Equal | Relation::NotEqual => compare::<c::Equal>(lane),
            Relation::Less => compare::<c::Less>(lane),
            Relation::LessEqual => compare::<c::LessEqual>(lane),
        },
        Operation::Select => lane!(lane,
            U8 u8 | U16 u16 | U32 u32 | U64 u64 | I64 i64 | I128 i128 | F32 f32 | F64 f64
                => |C| c::select::<C>),
        Operation::Insert => special::insert,
        Operation::AddCarry => special::carried::<int::AddCarry>,
        Operation::SubBorrow => special::carried::<int::SubBorrow>,
        Operation::Add3Overflow => special::overflow_of_three,
        Operation::MadWide => special::mad_wide,
        Operation::DotBytes => special::dot_bytes,
        Operation::Differences | Operation::DifferencesAdd => special::differences,
        Operation::DotProduct(_) => special::sum_of_products,
        Operation::Line | Operation::Plane => special::equation,
        Operation::QuotientStep | Operation::RsqrtStep => special::early_out,
        Operation::Narrow(_) | Operation::NarrowByChance(_) => special::narrow,
        Operation::ShuffleNibbles(_) => special::shuffle,
        Operation::ScaleDown(_) => special::scale_down,
        Operation::FlagAnd | Operation::FlagOr | Operation::FlagXor | Operation::FlagNot => {
            special::flags
        }
        Operation::FlagToNumber(_) => special::predicate_to_number,
        Operation::FlagFromBits => special::setp_bits,
        Operation::FlagFromLanes => special::setp_lanes,
    }
}

fn compare<R: Holds>(lane: Lane) -> Function {
    lane!(lane,
        U32 u32 | I32 i32 | U64 u64 | I64 i64 | I128 i128 | F32 f32 | F64 f64
            => |C| c::compare::<R, C>)
}

fn conversion(from: Lane, to: Lane) -> Function {
    match (from, to) {
        (Lane::F64, Lane::F32) => c::convert::<f64, f32>,
        (Lane::F64, Lane::F64) => c::convert::<f64, f64>,
        (Lane::F32, Lane::F64) => c::convert::<f32, f64>,
        (Lane::F32, Lane::I32) => c::convert::<f32, i32>,
        (Lane::F32, Lane::U32) => c::convert::<f32, u32>,
        (Lane::F32, Lane::F32) => c::convert::<f32, f32>,
        (Lane::I32, Lane::F32) => c::convert::<i32, f32>,
        (Lane::U32, Lane::F32) => c::convert::<u32, f32>,
        _ => refused,
    }
}
