//! Which function runs a computation.

use super::arithmetic as a;
use super::choice::{self as c, Relation as Holds};
use super::{Alu, CHUNK, Function, Hot, Place, special};
use crate::code::{Compute, Lane, Modify, Operation, Precision, Region, Relation, Target};
use crate::fault::{FaultKind, Outcome, Trap, Unsupported};
use crate::lanes::convert::{Compute as Lanes, Convert, Element};
use crate::lanes::float::{self, InMode, Real};
use crate::lanes::int::{self, Binary, Ternary, Unary};
use crate::machine::Registers;
use crate::machine::registers::{Destinations, Sources, is_element, is_lane};
use std::sync::Arc;
use visakit_isa::DataType;

/// A computation with the function that runs it.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    function: Function,
    hot: Hot,
    compute: Arc<Compute>,
}

/// The function that runs a computation, and what hot kernels need to know.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    function: Function,
    hot: Hot,
}

/// A hot kernel for one lane, and for many.
macro_rules! pair {
    ($($path:tt)::+ < $($param:ty),* >) => {
        Some::<[Function; 2]>([$($path)::+::<$($param,)* 1>, $($path)::+::<$($param,)* CHUNK>])
    };
}

/// Calls a generic method with the type of a lane, of those that are named.
macro_rules! lane {
    ($lane:expr, $($name:ident $ty:ident)|+ => |$c:ident| $body:expr) => {
        match $lane {
            $(Lane::$name => { type $c = $ty; $body })+
            _ => Chosen::refused(),
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

impl Bound {
    /// Chooses the function for a computation of so many lanes.
    pub(crate) fn new(compute: &Arc<Compute>, lanes: usize) -> Self {
        let Chosen { function, hot } = choose(compute, lanes);
        Self {
            function,
            hot,
            compute: Arc::clone(compute),
        }
    }

    /// Runs the computation that it was made for, of so many lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run(&self, lanes: u8, registers: &mut Registers, mask: u32) -> Outcome {
        let alu = Alu {
            hot: &self.hot,
            lanes: lanes.into(),
            compute: &self.compute,
        };
        (self.function)(&alu, registers, mask)
    }
}

impl Chosen {
    fn any(function: Function) -> Self {
        Self {
            function,
            hot: Hot::default(),
        }
    }

    /// For an operation in lanes of a type that it does not have. The translation makes none.
    fn refused() -> Self {
        Self::any(|alu, _, _| {
            let why = format!("in lanes of {:?}", alu.lane);
            let unsupported = Unsupported::new(alu.operation.name(), why);
            Err(Trap::new(FaultKind::Unsupported(unsupported)))
        })
    }
}

/// Chooses the function for a computation of so many lanes.
fn choose(compute: &Compute, lanes: usize) -> Chosen {
    let b = Binder { compute, lanes };
    let lane = compute.lane;
    match compute.operation {
        Operation::Copy => b.copy(),
        Operation::Convert(to) => b.conversion(to),
        Operation::IntegerToFloat => {
            wide!(lane, |C| b.choose::<C, C>(None, c::integers_to_float::<C>))
        }
        Operation::Not => wide!(lane, |C| b.unary::<int::Not, C>()),
        Operation::CountBits => lane!(lane, U32 u32 | U64 u64 => |C| b.unary::<int::Cbit, C>()),
        Operation::LeadingZeros => b.unary::<int::Lzd, u32>(),
        Operation::FirstBitLow => b.unary::<int::Fbl, u32>(),
        Operation::FirstBitHighSigned => b.unary::<int::FbhSigned, u32>(),
        Operation::FirstBitHighUnsigned => b.unary::<int::FbhUnsigned, u32>(),
        Operation::ReverseBits => b.unary::<int::Bfrev, u32>(),
        Operation::Exp => b.real_unary::<float::Exp>(),
        Operation::Log => b.real_unary::<float::Log>(),
        Operation::Sin => b.real_unary::<float::Sin>(),
        Operation::Cos => b.real_unary::<float::Cos>(),
        Operation::Tanh => b.real_unary::<float::Tanh>(),
        Operation::Sigmoid => b.real_unary::<float::Sigmoid>(),
        Operation::Inv => b.real_unary::<float::Inv>(),
        Operation::Sqrt => b.real_unary::<float::Sqrt>(),
        Operation::Rsqrt => b.real_unary::<float::Rsqrt>(),
        Operation::Frc => b.real_unary::<float::Frc>(),
        Operation::Rndd => b.real_unary::<float::Rndd>(),
        Operation::Rndu => b.real_unary::<float::Rndu>(),
        Operation::Rnde => b.real_unary::<float::Rnde>(),
        Operation::Rndz => b.real_unary::<float::Rndz>(),
        // Addresses are words.
        Operation::Add if lane == Lane::U16 => b.binary::<int::Add, u16>(),
        Operation::Add => b.number::<float::Add, int::Add>(),
        Operation::Mul => b.number::<float::Mul, int::Mul>(),
        Operation::Div => b.number::<float::Div, int::Div>(),
        Operation::Min => b.number::<float::Min, int::Min>(),
        Operation::Max => b.number::<float::Max, int::Max>(),
        Operation::Pow => b.real_binary::<float::Pow>(),
        Operation::Mod => wide!(lane, |C| b.binary::<int::Mod, C>()),
        Operation::Avg => wide!(lane, |C| b.binary::<int::Avg, C>()),
        Operation::MulHigh => b.binary::<int::Mulh, u64>(),
        Operation::And => wide!(lane, |C| b.binary::<int::And, C>()),
        Operation::Or => wide!(lane, |C| b.binary::<int::Or, C>()),
        Operation::Xor => wide!(lane, |C| b.binary::<int::Xor, C>()),
        Operation::Shl => wide!(lane, |C| b.binary::<int::Shl, C>()),
        Operation::Shr => wide!(lane, |C| b.binary::<int::Shr, C>()),
        Operation::Rol => bits!(lane, |C| b.binary::<int::Rol, C>()),
        Operation::Ror => bits!(lane, |C| b.binary::<int::Ror, C>()),
        Operation::Mad if matches!(lane, Lane::F32 | Lane::F64) => b.mad(),
        Operation::Mad => wide!(lane, |C| b.ternary::<int::Mad, C>()),
        Operation::Add3 => wide!(lane, |C| b.ternary::<int::Add3, C>()),
        Operation::Lrp => b.real_ternary::<float::Lrp>(),
        Operation::ExtractSigned => b.ternary::<int::BfeSigned, u32>(),
        Operation::ExtractUnsigned => b.ternary::<int::BfeUnsigned, u32>(),
        Operation::Boolean(_) => {
            b.choose::<u32, u32>(Some([a::boolean::<1>, a::boolean::<CHUNK>]), a::boolean_any)
        }
        Operation::Compare(relation) => match relation {
            Relation::Equal | Relation::NotEqual => b.compare::<c::Equal>(),
            Relation::Less => b.compare::<c::Less>(),
            Relation::LessEqual => b.compare::<c::LessEqual>(),
        },
        Operation::Select => lane!(lane,
            U8 u8 | U16 u16 | U32 u32 | U64 u64 | I64 i64 | I128 i128 | F32 f32 | F64 f64
                => |C| b.choose::<C, C>(pair!(c::select<C>), c::select_any::<C>)),
        Operation::Insert => Chosen::any(special::insert),
        Operation::AddCarry | Operation::SubBorrow => Chosen::any(special::carried),
        Operation::Add3Overflow => Chosen::any(special::overflow_of_three),
        Operation::MadWide => Chosen::any(special::mad_wide),
        Operation::DotBytes => Chosen::any(special::dot_bytes),
        Operation::Differences | Operation::DifferencesAdd => Chosen::any(special::differences),
        Operation::DotProduct(_) => Chosen::any(special::sum_of_products),
        Operation::Line | Operation::Plane => Chosen::any(special::equation),
        Operation::QuotientStep | Operation::RsqrtStep => Chosen::any(special::early_out),
        Operation::Narrow(_) | Operation::NarrowByChance(_) => Chosen::any(special::narrow),
        Operation::ShuffleNibbles(_) => Chosen::any(special::shuffle),
        Operation::ScaleDown(_) => Chosen::any(special::scale_down),
        Operation::FlagAnd | Operation::FlagOr | Operation::FlagXor | Operation::FlagNot => {
            Chosen::any(special::flags)
        }
        Operation::FlagToNumber(_) => Chosen::any(special::predicate_to_number),
        Operation::FlagFromBits => Chosen::any(special::setp_bits),
        Operation::FlagFromLanes => Chosen::any(special::setp_lanes),
    }
}

#[derive(Clone, Copy)]
struct Binder<'a> {
    compute: &'a Compute,
    lanes: usize,
}

impl Binder<'_> {
    /// The operands as hot kernels take them, if they can: sources of `from` bytes a lane, a
    /// destination of `to` bytes or (0) none in the register file.
    fn hot(&self, from: usize, to: usize, float: bool) -> Option<Hot> {
        let (lanes, destination) = (self.lanes, &self.compute.destination);
        let mut hot = Hot {
            to: u32::try_from(destination.offset).ok()?,
            lanes: u8::try_from(lanes).ok()?,
            ..Hot::default()
        };
        if to != 0 && destination.target != Target::Packed {
            return None;
        }
        let used = self.compute.operation.sources();
        for (place, source) in hot.sources.iter_mut().zip(&self.compute.sources).take(used) {
            let scalar = match source.region {
                Region::Scalar => true,
                Region::Packed => false,
                _ => return None,
            };
            if !float && matches!(source.modify, Modify::Abs | Modify::NegAbs) {
                return None;
            }
            // What the first chunk writes must not be what the second reads.
            let written = destination.offset..destination.offset + CHUNK * to;
            let read = source.offset + CHUNK * from..source.offset + lanes * from;
            let overlap = written.start < read.end && read.start < written.end;
            if !scalar && lanes > CHUNK && overlap {
                return None;
            }
            *place = Place {
                offset: u32::try_from(source.offset).ok()?,
                scalar: scalar || lanes == 1,
                modify: source.modify,
            };
            hot.modified |= source.modify != Modify::None;
        }
        Some(hot)
    }

    fn used(&self) -> impl Iterator<Item = &crate::code::Source> {
        let used = self.compute.operation.sources();
        self.compute.sources.iter().take(used)
    }

    /// One of the hot kernels if the operands stand as they take them, else the other one.
    fn hot_or(&self, hot: Option<Hot>, kernels: Option<[Function; 2]>, any: Function) -> Chosen {
        match (hot, kernels) {
            (Some(hot), Some([one, _])) if hot.lanes == 1 => Chosen { function: one, hot },
            (Some(hot), Some([_, many])) => Chosen {
                function: many,
                hot,
            },
            _ => Chosen::any(any),
        }
    }

    /// A computation in lanes of type `C`, with results of type `D`.
    fn choose<C: Lanes, D: Lanes>(self, kernels: Option<[Function; 2]>, any: Function) -> Chosen {
        let same = is_element::<D>(&self.compute.destination) && self.used().all(is_lane::<C>);
        let hot = same.then(|| self.hot(size_of::<C>(), size_of::<D>(), C::FLOAT));
        self.hot_or(hot.flatten(), kernels, any)
    }

    fn unary<O: Unary<C>, C: Lanes>(self) -> Chosen
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT { pair!(a::unary<O, C>) } else { None };
        self.choose::<C, C>(hot, a::unary_any::<O, C>)
    }

    fn binary<O: Binary<C>, C: Lanes>(self) -> Chosen
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT { pair!(a::binary<O, C>) } else { None };
        self.choose::<C, C>(hot, a::binary_any::<O, C>)
    }

    fn ternary<O: Ternary<C>, C: Lanes>(self) -> Chosen
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            pair!(a::ternary<O, C>)
        } else {
            None
        };
        self.choose::<C, C>(hot, a::ternary_any::<O, C>)
    }

    fn real_unary<O: Unary<f32> + Unary<f64> + InMode>(self) -> Chosen {
        fn of<O: Unary<C> + InMode, C: Real>(b: Binder<'_>) -> Chosen
        where
            Registers: Sources<C> + Destinations<C>,
        {
            let hot = if O::HOT {
                pair!(a::real_unary<O, C>)
            } else {
                None
            };
            b.choose::<C, C>(hot, a::real_unary_any::<O, C>)
        }
        lane!(self.compute.lane, F32 f32 | F64 f64 => |C| of::<O, C>(self))
    }

    fn real_binary<O: Binary<f32> + Binary<f64> + InMode>(self) -> Chosen {
        fn of<O: Binary<C> + InMode, C: Real>(b: Binder<'_>) -> Chosen
        where
            Registers: Sources<C> + Destinations<C>,
        {
            let hot = if O::HOT {
                pair!(a::real_binary<O, C>)
            } else {
                None
            };
            b.choose::<C, C>(hot, a::real_binary_any::<O, C>)
        }
        lane!(self.compute.lane, F32 f32 | F64 f64 => |C| of::<O, C>(self))
    }

    /// Rounded once: narrow formats are not computed in single precision, which would round twice.
    fn real_ternary<O: Ternary<f32> + Ternary<f64> + InMode>(self) -> Chosen {
        fn of<O: Ternary<C> + InMode, C: Real>(b: Binder<'_>) -> Chosen
        where
            Registers: Sources<C> + Destinations<C>,
        {
            let hot = if O::HOT {
                pair!(a::real_ternary<O, C>)
            } else {
                None
            };
            b.choose::<C, C>(hot, a::real_ternary_any::<O, C>)
        }
        match self.compute.precision {
            Precision::Half | Precision::BFloat => Chosen::any(a::in_mode::<O>),
            Precision::Float | Precision::Double => {
                lane!(self.compute.lane, F32 f32 | F64 f64 => |C| of::<O, C>(self))
            }
        }
    }

    fn mad(self) -> Chosen {
        match self.compute.precision {
            // Exact in double.
            Precision::Half => {
                let any = a::real_ternary_any::<float::HalfMad, f64>;
                self.choose::<f64, f64>(None, any)
            }
            _ => self.real_ternary::<float::Mad>(),
        }
    }

    /// Two floats or two integers.
    fn number<R, I>(self) -> Chosen
    where
        R: Binary<f32> + Binary<f64> + InMode,
        I: Binary<u32> + Binary<i32> + Binary<u64> + Binary<i64> + Binary<i128>,
    {
        match self.compute.lane {
            Lane::F32 | Lane::F64 => self.real_binary::<R>(),
            lane => wide!(lane, |C| self.binary::<I, C>()),
        }
    }

    fn compare<R: Holds>(self) -> Chosen {
        fn of<R: Holds, C: Lanes>(b: Binder<'_>) -> Chosen
        where
            Registers: Sources<C>,
        {
            // Nothing is written to a variable, so that the sources alone decide.
            let same = b.compute.sets.is_some() && b.used().all(is_lane::<C>);
            let hot = same.then(|| b.hot(size_of::<C>(), 0, C::FLOAT));
            b.hot_or(
                hot.flatten(),
                pair!(c::compare<R, C>),
                c::compare_any::<R, C>,
            )
        }
        lane!(self.compute.lane,
            U32 u32 | I32 i32 | U64 u64 | I64 i64 | I128 i128 | F32 f32 | F64 f64
                => |C| of::<R, C>(self))
    }

    fn conversion(self, to: Lane) -> Chosen {
        fn of<S, D>(b: Binder<'_>) -> Chosen
        where
            S: Lanes + Element + Convert<D>,
            D: Lanes + Element,
            Registers: Sources<S> + Destinations<D>,
        {
            let plain = b.used().all(|s| s.modify == Modify::None);
            let hot = if plain { pair!(c::convert<S, D>) } else { None };
            b.choose::<S, D>(hot, c::convert_any::<S, D>)
        }
        match (self.compute.lane, to) {
            (Lane::F64, Lane::F32) => of::<f64, f32>(self),
            (Lane::F64, Lane::F64) => of::<f64, f64>(self),
            (Lane::F32, Lane::F64) => of::<f32, f64>(self),
            (Lane::F32, Lane::I32) => of::<f32, i32>(self),
            (Lane::F32, Lane::U32) => of::<f32, u32>(self),
            (Lane::F32, Lane::F32) => of::<f32, f32>(self),
            (Lane::I32, Lane::F32) => of::<i32, f32>(self),
            (Lane::U32, Lane::F32) => of::<u32, f32>(self),
            _ => Chosen::refused(),
        }
    }

    /// A copy of bits, or of integers to integers of another size.
    fn copy(self) -> Chosen {
        let any = lane!(self.compute.lane,
            U8 u8 | U16 u16 | U32 u32 | U64 u64 | I64 i64 | I128 i128
                => |C| self.unary::<int::Copy, C>());
        let (source, destination) = (&self.compute.sources[0], &self.compute.destination);
        let resized = source.data_type.size() != destination.data_type.size();
        if !resized || destination.saturate || source.modify != Modify::None {
            return any;
        }
        let kernels = resize(source.data_type, destination.data_type);
        let (from, to) = (source.data_type.size(), destination.data_type.size());
        match (self.hot(from.into(), to.into(), false), kernels) {
            (Some(hot), Some(_)) => self.hot_or(Some(hot), kernels, any.function),
            _ => any,
        }
    }
}

/// Integers to integers of another size.
fn resize(from: DataType, to: DataType) -> Option<[Function; 2]> {
    if from.is_float() || to.is_float() {
        return None;
    }
    match (from.size(), from.is_signed(), to.size()) {
        (1, true, 2) => pair!(c::convert<i8, u16>),
        (1, true, 4) => pair!(c::convert<i8, u32>),
        (1, true, 8) => pair!(c::convert<i8, u64>),
        (1, false, 2) => pair!(c::convert<u8, u16>),
        (1, false, 4) => pair!(c::convert<u8, u32>),
        (1, false, 8) => pair!(c::convert<u8, u64>),
        (2, true, 4) => pair!(c::convert<i16, u32>),
        (2, true, 8) => pair!(c::convert<i16, u64>),
        (2, false, 4) => pair!(c::convert<u16, u32>),
        (2, false, 8) => pair!(c::convert<u16, u64>),
        (4, true, 8) => pair!(c::convert<i32, u64>),
        (4, false, 8) => pair!(c::convert<u32, u64>),
        (2, _, 1) => pair!(c::convert<u16, u8>),
        (4, _, 1) => pair!(c::convert<u32, u8>),
        (4, _, 2) => pair!(c::convert<u32, u16>),
        (8, _, 1) => pair!(c::convert<u64, u8>),
        (8, _, 2) => pair!(c::convert<u64, u16>),
        (8, _, 4) => pair!(c::convert<u64, u32>),
        _ => None,
    }
}
