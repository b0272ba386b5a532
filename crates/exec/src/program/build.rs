//! From operands to specialised code.

use super::code::{Kind, Step};
use super::context::{Context, Lanes};
use super::operand::{Destination, Modify, Problem, Shape, Source, Target};
use super::types::{Class, raw};
use crate::lanes::convert::Compute;
use crate::lanes::float::{InMode, Precision};
use crate::lanes::int::{Binary, Ternary, Unary};
use crate::run::Registers;
use crate::run::alu::{self, Alu, AluFn, Extra, Flag, Relation};
use crate::run::registers::{Destinations, Sources, full};
use visakit_isa::operand::{PredicateCombine, PredicateOperand};
use visakit_isa::table::FieldName;
use visakit_isa::{DataType, Instruction, Predicate, PredicateId};

/// The code for a number of lanes.
macro_rules! sized {
    ($lanes:expr, $($path:tt)::+ < $($param:ty),* >) => {
        match $lanes {
            1 => $($path)::+::<$($param,)* 1>,
            2 | 4 | 8 => $($path)::+::<$($param,)* 8>,
            16 => $($path)::+::<$($param,)* 16>,
            _ => $($path)::+::<$($param,)* 32>,
        }
    };
}

/// The types whose bits are those of a lane of this type.
pub(crate) trait Lane: Compute {
    /// Whether there is code for each number of lanes.
    const HOT: bool;
    /// Whether an element of the type can be taken as it is.
    fn is_same(data_type: DataType) -> bool;
}

macro_rules! lanes {
    ($($ty:ty: $($data_type:ident)|*;)*) => {$(
        impl Lane for $ty {
            const HOT: bool = size_of::<$ty>() == 4;
            fn is_same(data_type: DataType) -> bool {
                matches!(data_type, $(DataType::$data_type)|*)
            }
        }
    )*};
}

lanes! {
    u8: Ub | B;
    u16: Uw | W;
    u32: Ud | D;
    u64: Uq | Q;
    f32: F;
    f64: Df;
}

/// Signed lanes take no unsigned elements: their value would change.
impl Lane for i32 {
    const HOT: bool = true;
    fn is_same(data_type: DataType) -> bool {
        data_type == DataType::D
    }
}

impl Lane for i64 {
    const HOT: bool = false;
    fn is_same(data_type: DataType) -> bool {
        data_type == DataType::Q
    }
}

impl Lane for i128 {
    const HOT: bool = false;
    fn is_same(_: DataType) -> bool {
        false
    }
}

/// A source that is not used.
pub(crate) fn unused() -> Source {
    Source {
        offset: 0,
        data_type: DataType::Ud,
        modify: Modify::None,
        same: true,
        shape: Shape::Scalar,
    }
}

/// A destination that takes nothing.
pub(crate) fn nowhere() -> Destination {
    Destination {
        offset: 0,
        data_type: DataType::Ud,
        saturate: false,
        same: false,
        target: Target::Null,
    }
}

/// An instruction that is being put together.
pub(crate) struct Builder {
    pub(crate) lanes: Lanes,
    pub(crate) destination: Destination,
    pub(crate) sources: Vec<Source>,
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) negate: bool,
    pub(crate) precision: Precision,
    pub(crate) predicate: Option<Flag>,
}

impl Builder {
    /// Takes `dst` and these sources of an instruction, and its predicate.
    pub(crate) fn new(
        cx: &Context<'_>,
        instruction: &Instruction,
        sources: &[FieldName],
    ) -> Result<Self, Problem> {
        let mut builder = Self::without_destination(cx, instruction, sources)?;
        let destination = super::fields::vector(instruction, FieldName::Dst)?;
        builder.destination = cx.destination(destination, usize::from(builder.lanes.count))?;
        Ok(builder)
    }

    /// The same without a destination.
    pub(crate) fn without_destination(
        cx: &Context<'_>,
        instruction: &Instruction,
        sources: &[FieldName],
    ) -> Result<Self, Problem> {
        let lanes = cx.lanes(instruction)?;
        let count = usize::from(lanes.count);
        let sources = sources
            .iter()
            .map(|name| cx.source(super::fields::vector(instruction, *name)?, count))
            .collect::<Result<Vec<_>, _>>()?;
        let predicate = match instruction.predicate() {
            Some(word) => cx.flag(word, lanes)?,
            None => None,
        };
        Ok(Self {
            lanes,
            destination: nowhere(),
            sources,
            extra: None,
            negate: false,
            precision: Precision::Float,
            predicate,
        })
    }

    pub(crate) fn count(&self) -> usize {
        usize::from(self.lanes.count)
    }

    pub(crate) fn source(&self, n: usize) -> Source {
        self.sources.get(n).cloned().unwrap_or_else(unused)
    }

    pub(crate) fn refs(&self) -> Vec<&Source> {
        self.sources.iter().collect()
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// Whether any source is a float.
    pub(crate) fn is_float(&self) -> bool {
        self.sources.iter().any(|s| s.data_type.is_float())
    }

    /// Takes all operands as raw bits.
    pub(crate) fn take_bits(&mut self) {
        // Saturation needs the range of the type.
        if !self.destination.saturate || self.destination.data_type.is_float() {
            self.destination.data_type = raw(self.destination.data_type);
        }
        for source in &mut self.sources {
            if source.data_type.is_float() {
                source.data_type = raw(source.data_type);
            }
        }
    }

    /// Marks the operands whose elements are lanes of type `C` as they are.
    fn mark<C: Lane, D: Lane>(&mut self) {
        for source in &mut self.sources {
            source.same = C::is_same(source.data_type);
        }
        let destination = &mut self.destination;
        destination.same = !destination.saturate
            && (D::is_same(destination.data_type)
                || D::default().is_signed_lane(destination.data_type));
    }

    /// The step with this code.
    pub(crate) fn step(self, run: AluFn) -> Step {
        let (first, no_mask) = (self.lanes.first, self.lanes.no_mask);
        let lanes = self.count();
        let mut sources = self.sources.into_iter();
        let mut next = || sources.next().unwrap_or_else(unused);
        Step {
            first,
            no_mask,
            window: full(lanes),
            predicate: self.predicate,
            kind: Kind::Alu(Alu {
                run,
                lanes,
                negate: self.negate,
                precision: self.precision,
                destination: self.destination,
                sources: [next(), next(), next()],
                extra: self.extra,
            }),
        }
    }

    fn unary_of<O: Unary<C>, C: Lane>(mut self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.mark::<C, C>();
        let run: AluFn = if O::HOT {
            sized!(self.lanes.count, alu::unary<O, C>)
        } else {
            alu::unary_any::<O, C>
        };
        self.step(run)
    }

    fn binary_of<O: Binary<C>, C: Lane>(mut self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.mark::<C, C>();
        let run: AluFn = if O::HOT {
            sized!(self.lanes.count, alu::binary<O, C>)
        } else {
            alu::binary_any::<O, C>
        };
        self.step(run)
    }

    fn ternary_of<O: Ternary<C>, C: Lane>(mut self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.mark::<C, C>();
        let run: AluFn = if O::HOT {
            sized!(self.lanes.count, alu::ternary<O, C>)
        } else {
            alu::ternary_any::<O, C>
        };
        self.step(run)
    }

    /// An operation of one integer source.
    pub(crate) fn unary<O>(self, class: Class) -> Step
    where
        O: Unary<u32> + Unary<i32> + Unary<u64> + Unary<i64> + Unary<i128>,
    {
        match class {
            Class::U32 => self.unary_of::<O, u32>(),
            Class::I32 => self.unary_of::<O, i32>(),
            Class::U64 => self.unary_of::<O, u64>(),
            Class::I64 => self.unary_of::<O, i64>(),
            Class::I128 => self.unary_of::<O, i128>(),
        }
    }

    /// An operation of one source of a fixed type.
    pub(crate) fn unary_fixed<O: Unary<C>, C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.unary_of::<O, C>()
    }

    /// An operation of two sources of a fixed type.
    pub(crate) fn binary_fixed<O: Binary<C>, C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.binary_of::<O, C>()
    }

    /// An operation of three sources of a fixed type.
    pub(crate) fn ternary_fixed<O: Ternary<C>, C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.ternary_of::<O, C>()
    }

    /// An operation of two integer sources.
    pub(crate) fn binary<O>(self, class: Class) -> Step
    where
        O: Binary<u32> + Binary<i32> + Binary<u64> + Binary<i64> + Binary<i128>,
    {
        match class {
            Class::U32 => self.binary_of::<O, u32>(),
            Class::I32 => self.binary_of::<O, i32>(),
            Class::U64 => self.binary_of::<O, u64>(),
            Class::I64 => self.binary_of::<O, i64>(),
            Class::I128 => self.binary_of::<O, i128>(),
        }
    }

    /// An operation of three integer sources.
    pub(crate) fn ternary<O>(self, class: Class) -> Step
    where
        O: Ternary<u32> + Ternary<i32> + Ternary<u64> + Ternary<i64> + Ternary<i128>,
    {
        match class {
            Class::U32 => self.ternary_of::<O, u32>(),
            Class::I32 => self.ternary_of::<O, i32>(),
            Class::U64 => self.ternary_of::<O, u64>(),
            Class::I64 => self.ternary_of::<O, i64>(),
            Class::I128 => self.ternary_of::<O, i128>(),
        }
    }

    /// Sets the precision from the operands.
    pub(crate) fn set_precision(&mut self) -> Precision {
        self.precision = super::types::precision(&self.destination, &self.refs());
        self.precision
    }

    /// An operation of one float source.
    pub(crate) fn real_unary<O>(mut self) -> Step
    where
        O: Unary<f32> + Unary<f64> + InMode,
    {
        if self.set_precision() == Precision::Double {
            self.mark::<f64, f64>();
            let run: AluFn = if <O as Unary<f64>>::HOT {
                sized!(self.lanes.count, alu::real_unary<O, f64>)
            } else {
                alu::real_unary_any::<O, f64>
            };
            self.step(run)
        } else {
            self.mark::<f32, f32>();
            let run: AluFn = if <O as Unary<f32>>::HOT {
                sized!(self.lanes.count, alu::real_unary<O, f32>)
            } else {
                alu::real_unary_any::<O, f32>
            };
            self.step(run)
        }
    }

    /// An operation of two float sources.
    pub(crate) fn real_binary<O>(mut self) -> Step
    where
        O: Binary<f32> + Binary<f64> + InMode,
    {
        if self.set_precision() == Precision::Double {
            self.mark::<f64, f64>();
            let run: AluFn = if <O as Binary<f64>>::HOT {
                sized!(self.lanes.count, alu::real_binary<O, f64>)
            } else {
                alu::real_binary_any::<O, f64>
            };
            self.step(run)
        } else {
            self.mark::<f32, f32>();
            let run: AluFn = if <O as Binary<f32>>::HOT {
                sized!(self.lanes.count, alu::real_binary<O, f32>)
            } else {
                alu::real_binary_any::<O, f32>
            };
            self.step(run)
        }
    }

    /// An operation of three float sources, rounded once.
    pub(crate) fn real_ternary<O>(mut self) -> Step
    where
        O: Ternary<f32> + Ternary<f64> + InMode,
    {
        match self.set_precision() {
            Precision::Double => {
                self.mark::<f64, f64>();
                let run: AluFn = if <O as Ternary<f64>>::HOT {
                    sized!(self.lanes.count, alu::real_ternary<O, f64>)
                } else {
                    alu::real_ternary_any::<O, f64>
                };
                self.step(run)
            }
            Precision::Float => {
                self.mark::<f32, f32>();
                let run: AluFn = if <O as Ternary<f32>>::HOT {
                    sized!(self.lanes.count, alu::real_ternary<O, f32>)
                } else {
                    alu::real_ternary_any::<O, f32>
                };
                self.step(run)
            }
            // Rounding to float first would round twice.
            Precision::Half | Precision::BFloat => self.step(alu::in_mode::<O>),
        }
    }

    fn compare_of<R: Relation, C: Lane>(mut self) -> Step
    where
        Registers: Sources<C>,
    {
        self.mark::<C, C>();
        let run: AluFn = if C::HOT {
            sized!(self.lanes.count, alu::compare<R, C>)
        } else {
            alu::compare::<R, C, 32>
        };
        self.step(run)
    }

    /// A comparison.
    pub(crate) fn compare<R: Relation>(mut self) -> Step {
        if self.is_float() {
            let sources = self.refs();
            let nowhere = nowhere();
            self.precision = super::types::precision(&nowhere, &sources);
            return match self.precision {
                Precision::Double => self.compare_of::<R, f64>(),
                _ => self.compare_of::<R, f32>(),
            };
        }
        match super::types::of_values(&self.refs()) {
            Class::U32 => self.compare_of::<R, u32>(),
            Class::I32 => self.compare_of::<R, i32>(),
            Class::U64 => self.compare_of::<R, u64>(),
            Class::I64 => self.compare_of::<R, i64>(),
            Class::I128 => self.compare_of::<R, i128>(),
        }
    }

    /// A selection by `extra.flags[0]`.
    pub(crate) fn select<C: Lane>(mut self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.mark::<C, C>();
        let run: AluFn = if C::HOT {
            sized!(self.lanes.count, alu::select<C>)
        } else {
            alu::select::<C, 32>
        };
        self.step(run)
    }

    /// A conversion between lanes of two types.
    pub(crate) fn convert<S, D>(mut self) -> Step
    where
        S: Lane + crate::lanes::convert::Convert<D>,
        D: Lane,
        Registers: Sources<S> + Destinations<D>,
    {
        self.mark::<S, D>();
        let run: AluFn = sized!(self.lanes.count, alu::convert<S, D>);
        self.step(run)
    }

    /// Integers of a class to a float destination.
    pub(crate) fn integers_to_float<C: Lane + crate::lanes::int::Int>(mut self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.mark::<C, C>();
        let run: AluFn = alu::integers_to_float::<C>;
        self.step(run)
    }
}

/// Results of signed lanes are stored to unsigned elements of the same size as they are.
trait SignedLane {
    fn is_signed_lane(&self, data_type: DataType) -> bool;
}

impl<C: Lane> SignedLane for C {
    fn is_signed_lane(&self, data_type: DataType) -> bool {
        let size = usize::from(data_type.size());
        !C::FLOAT && !data_type.is_float() && size == size_of::<C>() && size <= 8
    }
}

impl Context<'_> {
    /// The predicate variable of a predication word; `None` for none.
    pub(crate) fn flag(&self, word: Predicate, lanes: Lanes) -> Result<Option<Flag>, Problem> {
        if word.id() == PredicateId(0) {
            return Ok(None);
        }
        let mut flag = self.flag_of(word.id(), lanes)?;
        match word.combine() {
            PredicateCombine::PerLane => {}
            PredicateCombine::Any => flag.any = true,
            PredicateCombine::All => flag.all = true,
            PredicateCombine::Reserved => {
                return Err(Problem::form("a predicate combination that means nothing"));
            }
        }
        flag.invert = word.is_inverted();
        Ok(Some(flag))
    }

    /// A predicate variable as data.
    pub(crate) fn flag_of(&self, id: PredicateId, lanes: Lanes) -> Result<Flag, Problem> {
        let place = usize::from(id.0)
            .checked_sub(1)
            .and_then(|index| self.routine.predicates.get(index))
            .ok_or_else(|| Problem::form(format!("predicate {id}, which is not declared")))?;
        Ok(Flag {
            offset: place.offset,
            first: lanes.first,
            window: full(usize::from(lanes.count)),
            ..Flag::default()
        })
    }

    /// A predicate operand, with its complement.
    pub(crate) fn flag_operand(
        &self,
        operand: &PredicateOperand,
        lanes: Lanes,
    ) -> Result<Flag, Problem> {
        let mut flag = self.flag_of(operand.predicate.id(), lanes)?;
        flag.invert = operand.modifier == visakit_isa::operand::Modifier::NOT;
        Ok(flag)
    }
}
