//! Values that are the same in all lanes.
//!
//! Compilers copy a number to all lanes of a vector, and then compute with the vector. What reads the vector in the same
//! block, while number and vector last, reads the number: of a computation on nothing but numbers all lanes have the same
//! result, and code for it need compute it only once ([`Compute::is_uniform`](crate::code::Compute::is_uniform)).

use super::values::{Value, Values};
use crate::code::{Action, Code, Region};
use std::sync::Arc;

/// Makes sources that read a copy of one element for each lane read that element.
pub(super) fn scalars(code: &mut Code) {
    let mut values = Values::default();
    for block in code.blocks() {
        values.clear();
        for place in block.steps {
            if let Some(step) = code.steps.get_mut(place)
                && let Action::Compute(compute) = &mut step.action
                && compute.operation.is_by_lane()
            {
                for number in 0..compute.operation.sources() {
                    let source = compute.sources.get(number);
                    if let Some(source) = source
                        && source.region != Region::Scalar
                        && let Some(Value::Element(offset)) = values.of(source, step.lanes)
                        && let Some(source) = Arc::make_mut(compute).sources.get_mut(number)
                    {
                        (source.offset, source.region) = (offset, Region::Scalar);
                    }
                }
            }
            if let Some(step) = code.steps.get(place) {
                values.follow(code, step);
            }
        }
    }
}
