//! Sums of products.

use crate::operand::vector;
use crate::state::{Halt, Result, View};
use crate::value::{Outcome, Precision, Value, format_of};
use rustc_apfloat::Round;
use visakit_isa::operand::Modifier;
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, VectorOperand};

const SOURCES: [F; 3] = [F::Src0, F::Src1, F::Src2];

impl View<'_, '_> {
    /// A finite `f` of consecutive elements.
    pub(super) fn single(
        &self,
        operand: &VectorOperand,
        element: usize,
        spread: bool,
    ) -> Result<f64> {
        let read = match operand {
            _ if spread => self.source(operand, element)?,
            VectorOperand::Immediate(_) => return Err(Halt::Undefined("operand class")),
            _ => {
                let (place, ty) = self.contiguous(operand, element)?;
                self.element(place, ty)?
            }
        };
        match read.value {
            Value::Real(value)
                if read.defined && format_of(read.ty) == Some(crate::float::Format::Single) =>
            {
                // Large factors would bring back what the mode flushes.
                Ok(self.mode().settle(value).to_f64())
            }
            Value::Real(_) => Err(Halt::Undefined("type")),
            Value::Integer(_) => Err(Halt::Undefined("type")),
        }
    }

    pub(crate) fn interpolate(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let mut results = Vec::new();
        // Every lane must lie in its variable, whatever region is written.
        for lane in 0..lanes.count {
            let mut v = [0.0; 3];
            for (to, name) in v.iter_mut().zip(SOURCES) {
                let operand = vector(instruction, name)?;
                if operand.modifier() != Modifier::NONE {
                    return Err(Halt::Undefined("modifier"));
                }
                // Scalars are spread; other regions count as contiguous.
                let spread = match operand {
                    VectorOperand::General(o) if o.region == visakit_isa::Region::SCALAR => true,
                    VectorOperand::General(o) => {
                        let (v, w, h) = (
                            o.region.vertical_stride().elements(),
                            o.region.width().elements(),
                            o.region.horizontal_stride().elements(),
                        );
                        if h == Some(0) && w != Some(1) || v == Some(0) && w == Some(1) {
                            return Err(Halt::Undefined("region of lrp"));
                        }
                        false
                    }
                    VectorOperand::Immediate(_) => true,
                    _ => return Err(Halt::Undefined("operand of lrp")),
                };
                *to = self.single(&operand, lane, spread)?;
            }
            let [a, x, y] = v;
            if lanes.has(lane) {
                results.push((lane, sum_of(&[a * x, y * (1.0 - a)], y.abs(), self.mode())));
            }
        }
        // The destination is contiguous, whatever its region says.
        let VectorOperand::General(mut contiguous) = dst else {
            return Err(Halt::Undefined("operand class"));
        };
        contiguous.region = visakit_isa::Region::destination(1).unwrap_or(contiguous.region);
        self.store(&contiguous.into(), &results)
    }

    pub(crate) fn plane(
        &mut self,
        instruction: &Instruction,
        running: u32,
        plane: bool,
    ) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let (p, xy) = (vector(instruction, F::Src0)?, vector(instruction, F::Src1)?);
        if plane && lanes.count != 8 && lanes.count != 16 {
            return Err(Halt::Undefined("execution size of plane"));
        }
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let terms = if plane {
                let u = lane / 8 * 16 + lane % 8;
                vec![
                    self.single(&p, 0, false)? * self.single(&xy, u, false)?,
                    self.single(&p, 1, false)? * self.single(&xy, u + 8, false)?,
                    self.single(&p, 3, false)?,
                ]
            } else {
                if xy.modifier() != Modifier::NONE {
                    return Err(Halt::Undefined("modifier"));
                }
                vec![
                    self.single(&p, 0, false)? * self.single(&xy, lane, true)?,
                    self.single(&p, 3, false)?,
                ]
            };
            results.push((lane, sum_of(&terms, 0.0, self.mode())));
        }
        self.store(&dst, &results)
    }

    /// Sums of the first products of each four, and the fourth element of the second source.
    pub(crate) fn dot(
        &mut self,
        instruction: &Instruction,
        running: u32,
        terms: usize,
        fourth: bool,
    ) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let (a, b) = (vector(instruction, F::Src0)?, vector(instruction, F::Src1)?);
        if lanes.count < 4 || a.modifier() != Modifier::NONE || b.modifier() != Modifier::NONE {
            return Err(Halt::Undefined("dot product"));
        }
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let group = lane / 4 * 4;
            let mut products = Vec::new();
            for at in group..group + terms {
                products.push(self.single(&a, at, true)? * self.single(&b, at, true)?);
            }
            if fourth {
                products.push(self.single(&b, group + 3, true)?);
            }
            results.push((lane, sum_of(&products, 0.0, self.mode())));
        }
        self.store(&dst, &results)
    }
}

/// A sum of products whose rounding is not defined, as `f`.
fn sum_of(terms: &[f64], extra: f64, mode: crate::value::Mode) -> Outcome {
    let magnitude: f64 = terms.iter().map(|t| t.abs()).sum::<f64>() + extra;
    let sum: f64 = terms.iter().sum();
    let ordinary =
        magnitude.is_finite() && magnitude < 1e37 && mode.round == Round::NearestTiesToEven;
    // Below this, denormals of the terms count.
    if !ordinary || (magnitude != 0.0 && magnitude < 1e-30) {
        return Outcome::undefined();
    }
    let value = Value::Real(crate::float::Real::from_f64(
        sum,
        crate::float::Format::Single,
    ));
    let slack = magnitude * f64::from(2.0f32).powi(-21) + 1e-36;
    Outcome::with(value, Precision::Absolute(slack.to_bits()))
}
