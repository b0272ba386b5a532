//! From operands to specialised code.

use super::code::{Kind, Step};
use super::context::{Context, Lanes};
use super::operand::{Destination, Modify, Problem, Shape, Source, Target};
use super::types::{Class, raw};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::float::{InMode, Precision, Real};
use crate::lanes::int::{Binary, Ternary, Unary};
use crate::run::Registers;
use crate::run::alu::{self, Alu, AluFn, CHUNK, Extra, Flag, Hot, Operands, Place};
use crate::run::choice::{self, Relation};
use crate::run::registers::{Destinations, Sources, full};
use visakit_isa::table::FieldName;
use visakit_isa::{DataType, Instruction};

/// A hot kernel for one lane, and for many.
macro_rules! pair {
    ($($path:tt)::+ < $($param:ty),* >) => {
        [$($path)::+::<$($param,)* 1>, $($path)::+::<$($param,)* CHUNK>]
    };
}

/// An operation of two sources in every class of integers.
pub(crate) trait IntegerBinary:
    Binary<u32> + Binary<i32> + Binary<u64> + Binary<i64> + Binary<i128>
{
}

impl<O> IntegerBinary for O where
    O: Binary<u32> + Binary<i32> + Binary<u64> + Binary<i64> + Binary<i128>
{
}

/// The types whose bits are those of a lane of this type.
pub(crate) trait Lane: Compute {
    /// Whether an element of the type can be taken as it is.
    fn is_same(data_type: DataType) -> bool;
}

macro_rules! lanes {
    ($($ty:ty: $($data_type:ident)|*;)*) => {$(
        impl Lane for $ty {
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
    fn is_same(data_type: DataType) -> bool {
        data_type == DataType::D
    }
}

impl Lane for i64 {
    fn is_same(data_type: DataType) -> bool {
        data_type == DataType::Q
    }
}

impl Lane for i128 {
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
        extended: None,
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

    /// Marks the operands whose elements are lanes of type `C` (sources) or `D` as they are.
    fn mark<C: Lane, D: Lane>(&mut self) {
        for source in &mut self.sources {
            let constant = source.extended == Some(source.data_type.is_signed())
                && !source.data_type.is_float();
            source.same =
                C::is_same(source.data_type) || constant && !C::FLOAT && size_of::<C>() <= 8;
        }
        let destination = &mut self.destination;
        destination.same = !destination.saturate
            && (D::is_same(destination.data_type)
                || D::default().is_signed_lane(destination.data_type));
    }

    /// The operands as hot kernels take them, if they can: sources of `from` bytes a lane, a destination of `to` bytes or
    /// (0) none in the register file.
    fn hot(&self, from: usize, to: usize, float: bool) -> Option<Hot> {
        let lanes = self.count();
        let destination = &self.destination;
        let mut hot = Hot {
            to: u32::try_from(destination.offset).ok()?,
            lanes: u8::try_from(lanes).ok()?,
            ..Hot::default()
        };
        if to != 0 && destination.target != Target::Packed {
            return None;
        }
        for (place, source) in hot.sources.iter_mut().zip(&self.sources) {
            let scalar = match source.shape {
                Shape::Scalar => true,
                Shape::Packed => false,
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

    /// The step with this code for operands of any kind.
    pub(crate) fn step(self, run: AluFn) -> Step {
        self.step_with(Hot::default(), run)
    }

    fn step_with(self, hot: Hot, run: AluFn) -> Step {
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
                hot,
                operands: Box::new(Operands {
                    lanes,
                    negate: self.negate,
                    precision: self.precision,
                    destination: self.destination,
                    sources: [next(), next(), next()],
                    extra: self.extra,
                }),
            }),
        }
    }

    /// The step of an instruction on lanes of type `C`, with results of type `D`: with one of the hot kernels if its
    /// operands allow it, else with the other one.
    fn choose<C: Lane, D: Lane>(mut self, hot: Option<[AluFn; 2]>, any: AluFn) -> Step {
        self.mark::<C, D>();
        if let Some(kernels) = hot
            && self.destination.same
        {
            return self.with_same(size_of::<C>(), size_of::<D>(), C::FLOAT, kernels, any);
        }
        self.step(any)
    }

    /// The same where only the sources decide: nothing is written to a variable.
    fn choose_for_sources<C: Lane>(mut self, hot: [AluFn; 2], any: AluFn) -> Step {
        self.mark::<C, C>();
        if self.extra.is_none() {
            return self.step(any);
        }
        self.with_same(size_of::<C>(), 0, C::FLOAT, hot, any)
    }

    fn with_same(
        self,
        from: usize,
        to: usize,
        float: bool,
        [one, many]: [AluFn; 2],
        any: AluFn,
    ) -> Step {
        let same = self.sources.iter().all(|source| source.same);
        match self.hot(from, to, float).filter(|_| same) {
            Some(hot) if hot.lanes == 1 => self.step_with(hot, one),
            Some(hot) => self.step_with(hot, many),
            None => self.step(any),
        }
    }

    fn unary_of<O: Unary<C>, C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            Some::<[AluFn; 2]>(pair!(alu::unary<O, C>))
        } else {
            None
        };
        self.choose::<C, C>(hot, alu::unary_any::<O, C>)
    }

    fn binary_of<O: Binary<C>, C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            Some::<[AluFn; 2]>(pair!(alu::binary<O, C>))
        } else {
            None
        };
        self.choose::<C, C>(hot, alu::binary_any::<O, C>)
    }

    fn ternary_of<O: Ternary<C>, C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            Some::<[AluFn; 2]>(pair!(alu::ternary<O, C>))
        } else {
            None
        };
        self.choose::<C, C>(hot, alu::ternary_any::<O, C>)
    }

    /// A bitwise function of three sources; `extra.numbers` begins with its table.
    pub(crate) fn boolean(self) -> Step {
        self.choose::<u32, u32>(
            Some([alu::boolean::<1>, alu::boolean::<CHUNK>]),
            alu::boolean_any,
        )
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
    pub(crate) fn binary<O: IntegerBinary>(self, class: Class) -> Step {
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

    fn real_unary_of<O: Unary<C> + InMode, C: Lane + Real>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            Some::<[AluFn; 2]>(pair!(alu::real_unary<O, C>))
        } else {
            None
        };
        self.choose::<C, C>(hot, alu::real_unary_any::<O, C>)
    }

    fn real_binary_of<O: Binary<C> + InMode, C: Lane + Real>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            Some::<[AluFn; 2]>(pair!(alu::real_binary<O, C>))
        } else {
            None
        };
        self.choose::<C, C>(hot, alu::real_binary_any::<O, C>)
    }

    fn real_ternary_of<O: Ternary<C> + InMode, C: Lane + Real>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        let hot = if O::HOT {
            Some::<[AluFn; 2]>(pair!(alu::real_ternary<O, C>))
        } else {
            None
        };
        self.choose::<C, C>(hot, alu::real_ternary_any::<O, C>)
    }

    /// An operation of one float source.
    pub(crate) fn real_unary<O: Unary<f32> + Unary<f64> + InMode>(mut self) -> Step {
        match self.set_precision() {
            Precision::Double => self.real_unary_of::<O, f64>(),
            _ => self.real_unary_of::<O, f32>(),
        }
    }

    /// An operation of two float sources.
    pub(crate) fn real_binary<O: Binary<f32> + Binary<f64> + InMode>(mut self) -> Step {
        match self.set_precision() {
            Precision::Double => self.real_binary_of::<O, f64>(),
            _ => self.real_binary_of::<O, f32>(),
        }
    }

    /// An operation of three float sources, rounded once.
    pub(crate) fn real_ternary<O: Ternary<f32> + Ternary<f64> + InMode>(mut self) -> Step {
        match self.set_precision() {
            Precision::Double => self.real_ternary_of::<O, f64>(),
            Precision::Float => self.real_ternary_of::<O, f32>(),
            // Rounding to float first would round twice.
            Precision::Half | Precision::BFloat => self.step(alu::in_mode::<O>),
        }
    }

    /// An operation of three sources of a narrow type that is exact in double.
    pub(crate) fn real_ternary_in_double<O: Ternary<f64> + InMode>(self) -> Step {
        self.choose::<f64, f64>(None, alu::real_ternary_any::<O, f64>)
    }

    fn compare_of<R: Relation, C: Lane>(self) -> Step
    where
        Registers: Sources<C>,
    {
        self.choose_for_sources::<C>(pair!(choice::compare<R, C>), choice::compare_any::<R, C>)
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
    pub(crate) fn select<C: Lane>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.choose::<C, C>(Some(pair!(choice::select<C>)), choice::select_any::<C>)
    }

    /// A conversion between lanes of two types.
    pub(crate) fn convert<S, D>(self) -> Step
    where
        S: Lane + Element + Convert<D>,
        D: Lane + Element,
        Registers: Sources<S> + Destinations<D>,
    {
        let plain = self.sources.iter().all(|s| s.modify == Modify::None);
        let hot = plain.then_some(pair!(choice::convert<S, D>));
        self.choose::<S, D>(hot, choice::convert_any::<S, D>)
    }

    /// A plain copy of integers to integers of another size: elements of type `S` become elements of type `D`. `any` is
    /// the code for operands that hot kernels do not take.
    pub(crate) fn resize<S, D>(self, any: impl FnOnce(Self) -> Step) -> Step
    where
        S: Element + Convert<D>,
        D: Element,
    {
        let [one, many]: [AluFn; 2] = pair!(choice::convert<S, D>);
        match self.hot(S::SIZE, D::SIZE, false) {
            Some(hot) if hot.modified => any(self),
            Some(hot) if hot.lanes == 1 => self.step_with(hot, one),
            Some(hot) => self.step_with(hot, many),
            None => any(self),
        }
    }

    /// Integers of a class to a float destination.
    pub(crate) fn integers_to_float<C: Lane + crate::lanes::int::Int>(self) -> Step
    where
        Registers: Sources<C> + Destinations<C>,
    {
        self.choose::<C, C>(None, choice::integers_to_float::<C>)
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
