//! Computations of constants.
//!
//! A step whose sources are constants, or elements that the same block has filled with a constant, becomes a copy of its
//! result. The interpreter's own code computes that, in every float mode: it is a constant if it is the same in all of
//! them. Predicates are not followed.

use super::values::{Value, Values, constant, low};
use crate::code::{
    Action, Code, Compute, Extension, Lane, Modify, Operation, Precision, Region, Source, Target,
    raw,
};
use crate::kernels::Bound;
use crate::lanes::mode::{FloatMode, MODE_BITS};
use crate::machine::Registers;
use std::sync::Arc;

/// Replaces what is known to be a constant: sources, and computations of nothing else by copies.
pub(super) fn fold(code: &mut Code) {
    let mut bench = Bench::new();
    let mut values = Values::default();
    for block in code.blocks() {
        values.clear();
        for place in block.steps {
            let folded = folded(code, place, &values, &mut bench);
            if let Some(step) = code.steps.get_mut(place)
                && let Some(folded) = folded
            {
                step.action = Action::Compute(Arc::new(folded));
            }
            if let Some(step) = code.steps.get(place) {
                values.follow(code, step);
            }
        }
    }
}

/// What a step becomes; `None` if it remains as it is.
fn folded(code: &mut Code, place: usize, values: &Values, bench: &mut Bench) -> Option<Compute> {
    let step = code.steps.get(place)?;
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let operation = compute.operation;
    let used = operation.sources();
    if !operation.is_by_lane() || used == 0 {
        return None;
    }
    let mut constants = [None; 4];
    let mut found = false;
    let sources = compute.sources.iter().take(used);
    for (constant_of, source) in constants.iter_mut().zip(sources) {
        *constant_of = constant(code, source);
        if constant_of.is_none()
            && let Some(Value::Constant(bits)) = values.of(source, step.lanes)
        {
            (*constant_of, found) = (Some(bits), true);
        }
    }
    let all = constants.iter().take(used).all(Option::is_some);
    if !(found || all) || is_copy_of_constant(code, compute) {
        return None;
    }
    let mut compute = Compute::clone(compute);
    if all
        && compute.is_one_element()
        && let Some(bits) = bench.result(&compute, constants)
    {
        compute.become_copy(code, bits);
        return Some(compute);
    }
    if !found {
        return None;
    }
    for (source, bits) in compute.sources.iter_mut().zip(constants) {
        if let Some(bits) = bits
            && constant(code, source).is_none()
        {
            source.become_constant(code, bits);
        }
    }
    Some(compute)
}

fn is_copy_of_constant(code: &Code, compute: &Compute) -> bool {
    let [source, ..] = &compute.sources;
    compute.operation == Operation::Copy
        && !compute.destination.saturate
        && source.modify == Modify::None
        && constant(code, source).is_some()
}

impl Source {
    /// Reads a constant with these bits, of its type.
    fn become_constant(&mut self, code: &mut Code, bits: u64) {
        self.offset = code.add_constant(crate::code::extend(bits, self.data_type));
        self.region = Region::Scalar;
        self.constant = Some(match self.data_type.is_signed() {
            true => Extension::Sign,
            false => Extension::Zero,
        });
    }
}

impl Compute {
    /// Whether it writes one element of each lane and depends on nothing but its sources.
    fn is_one_element(&self) -> bool {
        self.operation.flags() == 0
            && self.sets.is_none()
            && self.second.is_none()
            && matches!(self.destination.target, Target::Packed | Target::Strided(_))
    }

    /// Writes these bits to its destination.
    fn become_copy(&mut self, code: &mut Code, bits: u64) {
        let data_type = raw(self.destination.data_type);
        let mut source = Source {
            data_type,
            ..Source::default()
        };
        source.become_constant(code, bits);
        self.operation = Operation::Copy;
        self.lane = Lane::of_bits(data_type);
        self.precision = Precision::Float;
        self.destination.data_type = data_type;
        self.destination.saturate = false;
        self.sources = std::array::from_fn(|_| Source::default());
        self.sources[0] = source;
    }
}

/// Registers to compute in.
struct Bench(Registers);

impl Bench {
    /// Bytes between sources, behind which the result is.
    const APART: usize = 64;
    const RESULT: usize = 4 * Self::APART;

    fn new() -> Self {
        Self(Registers::default())
    }

    /// The bits of an element of the result for constants, if it is the same in all float modes.
    fn result(&mut self, compute: &Compute, constants: [Option<u64>; 4]) -> Option<u64> {
        let Self(registers) = self;
        let file = &mut registers.file;
        // With as much room as any access of fixed width touches.
        file.zero(2 * Self::RESULT + crate::code::TAIL).ok()?;
        let mut compute = compute.clone();
        let used = compute.operation.sources();
        let sources = compute.sources.iter_mut().take(used).zip(constants);
        for ((source, bits), place) in sources.zip((0..).step_by(Self::APART)) {
            // Of a source that is not a constant of the program no type extends more than its own bytes.
            let bits = crate::code::extend(bits?, source.data_type).to_le_bytes();
            file.get_mut(place..place + bits.len())?
                .copy_from_slice(&bits);
            (source.offset, source.region) = (place, Region::Scalar);
        }
        compute.destination.offset = Self::RESULT;
        compute.destination.target = Target::Packed;
        let bytes = usize::from(compute.destination.data_type.size());
        let compute = Arc::new(compute);
        let bound = Bound::new(&compute);
        let mut result = None;
        let mut mode = 0u32;
        loop {
            registers.mode = FloatMode::from_cr0(mode);
            bound.run(1, registers, 1).ok()?;
            let bits = low(registers.element(Self::RESULT), bytes);
            if *result.get_or_insert(bits) != bits {
                return None;
            }
            // The next combination of these bits.
            mode = mode.wrapping_sub(MODE_BITS) & MODE_BITS;
            if mode == 0 {
                return result;
            }
        }
    }
}
