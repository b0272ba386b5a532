//! From the operands of instructions to places in the register file.

use super::context::Context;
use super::layout::Place;
use crate::code::{
    Destination, Extension, Modify, Offsets, Region as Elements, Source, Target, extend,
};
use crate::fault::{FaultKind, Unsupported};
use visakit_isa::operand::{
    GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, StateClass,
};
use visakit_isa::{DataType, Instruction, Region, Value, VectorOperand};

/// Why an operand cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// The machine has no such form.
    Unsupported(Unsupported),
    /// A fault when the instruction is reached.
    Fault(FaultKind),
}

impl From<Unsupported> for Problem {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported)
    }
}

impl Problem {
    /// A form that no instruction has.
    pub(crate) fn form(what: impl Into<String>) -> Self {
        Self::Unsupported(Unsupported::new("this form of operand", what))
    }
}

/// A packed immediate as elements: type, bytes, number of elements.
fn packed(immediate: ImmediateOperand) -> Option<(DataType, Vec<u8>, u8)> {
    let bits = immediate.bits();
    let nibble = |n: u32| (bits >> (4 * n) & 0xf) as u8;
    match immediate.data_type() {
        DataType::V => {
            let words = (0..8).flat_map(|n| {
                let value = i16::from(nibble(n) << 4).wrapping_shl(8) >> 12;
                value.to_le_bytes()
            });
            Some((DataType::W, words.collect(), 8))
        }
        DataType::Uv => {
            let words = (0..8).flat_map(|n| u16::from(nibble(n)).to_le_bytes());
            Some((DataType::Uw, words.collect(), 8))
        }
        DataType::Vf => {
            let floats =
                (0..4).flat_map(|n| restricted_float((bits >> (8 * n) & 0xff) as u8).to_le_bytes());
            Some((DataType::F, floats.collect(), 4))
        }
        _ => None,
    }
}

/// The 8-bit restricted float of VF: sign, three bits of exponent biased by 3, four of mantissa.
fn restricted_float(bits: u8) -> f32 {
    let sign = u32::from(bits >> 7) << 31;
    if bits & 0x7f == 0 {
        return f32::from_bits(sign);
    }
    let exponent = u32::from(bits >> 4 & 7) + 127 - 3;
    let mantissa = u32::from(bits & 0xf) << 19;
    f32::from_bits(sign | exponent << 23 | mantissa)
}

fn modify(modifier: Modifier, data_type: DataType) -> Result<Modify, Problem> {
    let has_sign = data_type.is_signed() || data_type.is_float();
    Ok(match (modifier, has_sign) {
        (Modifier::NONE, _) | (Modifier::ABS, false) => Modify::None,
        (Modifier::ABS, true) => Modify::Abs,
        (Modifier::NEG, _) | (Modifier::NEG_ABS, false) => Modify::Neg,
        (Modifier::NEG_ABS, true) => Modify::NegAbs,
        (Modifier::NOT, _) => Modify::Not,
        _ => {
            return Err(Problem::form(
                "a source with saturation or an unknown modifier",
            ));
        }
    })
}

/// Region parameters in elements: vertical stride (`None`: one address for each row), width,
/// horizontal stride.
#[derive(Clone, Copy)]
struct Rows {
    vertical: Option<usize>,
    width: usize,
    horizontal: usize,
}

impl Rows {
    fn of(region: Region) -> Result<Self, Problem> {
        let elements = |code: visakit_isa::operand::RegionCode| match (code.code(), code.elements())
        {
            (0, _) => Ok(None),
            (_, Some(n)) => Ok(Some(usize::from(n))),
            _ => Err(Problem::form("a region code that means nothing")),
        };
        let vertical = elements(region.vertical_stride())?;
        let width = elements(region.width())?;
        let horizontal = elements(region.horizontal_stride())?;
        Ok(Self {
            vertical,
            width: width.unwrap_or(1).max(1),
            horizontal: horizontal.unwrap_or(0),
        })
    }

    /// Element number of a lane.
    fn element(self, lane: usize) -> usize {
        lane / self.width * self.vertical.unwrap_or(0) + lane % self.width * self.horizontal
    }

    /// The last element of any of these lanes: it is in the last row, or at the end of the row before.
    fn last(self, lanes: usize) -> usize {
        let last = lanes.saturating_sub(1);
        let before = (last / self.width * self.width).saturating_sub(1);
        self.element(last).max(self.element(before))
    }

    fn offsets(self, size: usize) -> Offsets {
        let mut offsets = Box::new([0u16; 32]);
        for (lane, offset) in offsets.iter_mut().enumerate() {
            *offset = u16::try_from(self.element(lane) * size).unwrap_or(u16::MAX);
        }
        offsets
    }

    /// The simplest form of the region of a direct operand.
    fn shape(self, lanes: usize, size: usize) -> Elements {
        let (vertical, width) = (self.vertical.unwrap_or(0), self.width);
        // From lane to lane, if it is the same everywhere: rows have one element, there is one row, or rows follow each
        // other as their elements do.
        let step = match width {
            _ if lanes <= 1 => Some(0),
            1 => Some(vertical),
            _ if lanes <= width || vertical == width * self.horizontal => Some(self.horizontal),
            _ => None,
        };
        match step {
            Some(0) => Elements::Scalar,
            Some(1) => Elements::Packed,
            Some(step) => Elements::Strided(u16::try_from(step * size).unwrap_or(u16::MAX)),
            None => Elements::Offsets(self.offsets(size)),
        }
    }
}

impl Context<'_> {
    /// The place of a general variable.
    pub(crate) fn variable(&self, id: visakit_isa::VarId) -> Result<Place, Problem> {
        self.routine
            .variables
            .get(id.0 as usize)
            .copied()
            .flatten()
            .ok_or_else(|| Problem::form(format!("variable {id}, which has no storage")))
    }

    /// Origin of a general operand, and its variable.
    fn origin(&self, operand: &GeneralOperand) -> Result<(usize, Place), Problem> {
        let place = self.variable(operand.variable)?;
        let size = usize::from(place.data_type.size());
        let origin =
            usize::from(operand.row) * self.grf_bytes as usize + usize::from(operand.column) * size;
        Ok((origin, place))
    }

    /// The floats that came with 4.2 are converted by moves alone; to messages and systolic products they are bits.
    pub(super) fn refuse_small_floats(&self, instruction: &Instruction) -> Result<(), Problem> {
        for field in &instruction.fields {
            if let Value::Vector(VectorOperand::General(operand)) = &field.value
                && operand.variable != visakit_isa::VarId::NULL
                && self.variable(operand.variable)?.data_type.is_text_only()
            {
                return Err(Problem::form("a float of 4.2, which moves alone convert"));
            }
        }
        Ok(())
    }

    /// A source of `lanes` elements.
    pub(crate) fn source(&self, operand: &VectorOperand, lanes: usize) -> Result<Source, Problem> {
        match operand {
            VectorOperand::General(general) => {
                self.general(general, Rows::of(general.region)?, lanes)
            }
            VectorOperand::Indirect(indirect) => self.indirect(indirect, lanes),
            VectorOperand::Immediate(immediate) => self.immediate(*immediate, lanes),
            VectorOperand::Address(address) => {
                let place = self.address(address.address)?;
                let width = 1usize
                    .checked_shl(u32::from(address.width))
                    .unwrap_or(1)
                    .min(32);
                let first = usize::from(address.offset) * 2;
                if first + width.min(lanes) * 2 > place.available {
                    return Err(Problem::Fault(FaultKind::RegisterOutOfBounds));
                }
                // Elements are replicated beyond the width.
                let rows = Rows {
                    vertical: Some(0),
                    width,
                    horizontal: 1,
                };
                Ok(Source {
                    offset: place.offset + first,
                    data_type: DataType::Uw,
                    modify: Modify::None,
                    constant: None,
                    region: rows.shape(lanes, 2),
                })
            }
            VectorOperand::State(state) => {
                let index = usize::from(state.index);
                let place = match state.class {
                    StateClass::SURFACE => self.routine.surfaces.get(index),
                    _ => self.routine.sampler(index),
                };
                let place =
                    place.ok_or_else(|| Problem::form("a state variable that is not declared"))?;
                let first = usize::from(state.offset) * 4;
                if first + lanes * 4 > place.available {
                    return Err(Problem::Fault(FaultKind::RegisterOutOfBounds));
                }
                Ok(Source {
                    offset: place.offset + first,
                    data_type: DataType::Ud,
                    modify: Modify::None,
                    constant: None,
                    region: if lanes == 1 {
                        Elements::Scalar
                    } else {
                        Elements::Packed
                    },
                })
            }
            VectorOperand::Predicate(_) => Err(Problem::form(
                "a predicate beside operands of another class",
            )),
        }
    }

    /// A source of consecutive elements, whatever its region says.
    pub(crate) fn packed_source(
        &self,
        operand: &VectorOperand,
        lanes: usize,
    ) -> Result<Source, Problem> {
        let rows = Rows {
            vertical: Some(1),
            width: 1,
            horizontal: 0,
        };
        match operand {
            VectorOperand::General(general) => self.general(general, rows, lanes),
            other => self.source(other, lanes),
        }
    }

    fn general(
        &self,
        general: &GeneralOperand,
        rows: Rows,
        lanes: usize,
    ) -> Result<Source, Problem> {
        if general.variable == visakit_isa::VarId::NULL {
            return Ok(self.zero());
        }
        let (origin, place) = self.origin(general)?;
        let size = usize::from(place.data_type.size());
        if origin + (rows.last(lanes) + 1) * size > place.available {
            return Err(Problem::Fault(FaultKind::RegisterOutOfBounds));
        }
        Ok(Source {
            offset: place.offset + origin,
            data_type: place.data_type,
            modify: modify(general.modifier, place.data_type)?,
            constant: None,
            region: rows.shape(lanes, size),
        })
    }

    fn indirect(&self, indirect: &IndirectOperand, lanes: usize) -> Result<Source, Problem> {
        let rows = Rows::of(indirect.region)?;
        let data_type = indirect.property.data_type();
        let size = usize::from(data_type.size());
        let addresses = match rows.vertical {
            None => lanes.div_ceil(rows.width),
            Some(_) => 1,
        };
        let offset = self.addresses(indirect, addresses)?;
        let region = match rows.vertical {
            None => Elements::Rows {
                immediate: indirect.offset,
                width: u8::try_from(rows.width).unwrap_or(32),
                stride: u16::try_from(rows.horizontal * size).unwrap_or(u16::MAX),
            },
            Some(_) => Elements::Indirect {
                immediate: indirect.offset,
                offsets: rows.offsets(size),
            },
        };
        Ok(Source {
            offset,
            data_type,
            modify: modify(indirect.modifier, data_type)?,
            constant: None,
            region,
        })
    }

    /// Place of `count` elements of the address variable of an operand.
    fn addresses(&self, indirect: &IndirectOperand, count: usize) -> Result<usize, Problem> {
        let place = self.address(indirect.address)?;
        let first = usize::from(indirect.address_offset) * 2;
        if first + count * 2 > place.available {
            return Err(Problem::Fault(FaultKind::RegisterOutOfBounds));
        }
        Ok(place.offset + first)
    }

    fn address(&self, id: visakit_isa::AddressId) -> Result<Place, Problem> {
        self.routine
            .addresses
            .get(usize::from(id.0))
            .copied()
            .ok_or_else(|| Problem::form(format!("address variable {id}, which is not declared")))
    }

    fn immediate(&self, immediate: ImmediateOperand, lanes: usize) -> Result<Source, Problem> {
        if let Some((data_type, bytes, count)) = packed(immediate) {
            let rows = Rows {
                vertical: Some(0),
                width: usize::from(count),
                horizontal: 1,
            };
            let size = usize::from(data_type.size());
            return Ok(Source {
                offset: self.constant(&bytes),
                data_type,
                modify: Modify::None,
                constant: None,
                region: rows.shape(lanes, size),
            });
        }
        if immediate.data_type() == DataType::Bool {
            return Err(Problem::form("an immediate of type bool"));
        }
        let data_type = immediate.data_type();
        Ok(Source {
            offset: self.constant(&extend(immediate.bits(), data_type).to_le_bytes()),
            data_type,
            modify: Modify::None,
            constant: Some(if data_type.is_signed() {
                Extension::Sign
            } else {
                Extension::Zero
            }),
            region: Elements::Scalar,
        })
    }

    /// Reading the null variable returns zero.
    fn zero(&self) -> Source {
        Source {
            offset: self.constant(&[0; 8]),
            data_type: DataType::Ud,
            modify: Modify::None,
            constant: None,
            region: Elements::Scalar,
        }
    }

    /// A destination of `lanes` elements.
    pub(crate) fn destination(
        &self,
        operand: &VectorOperand,
        lanes: usize,
    ) -> Result<Destination, Problem> {
        let saturate = match operand.modifier() {
            Modifier::NONE => false,
            Modifier::SAT => true,
            _ => return Err(Problem::form("a source modifier on a destination")),
        };
        let destination = |offset, data_type, target| Destination {
            offset,
            data_type,
            saturate,
            target,
        };
        let stride = |region: Region| {
            // If the stride is absent or zero, elements are consecutive.
            let elements = region.horizontal_stride().elements().unwrap_or(1);
            usize::from(elements.max(1))
        };
        match operand {
            VectorOperand::General(general) if general.variable == visakit_isa::VarId::NULL => {
                Ok(destination(0, DataType::Ud, Target::Null))
            }
            VectorOperand::General(general) => {
                let (origin, place) = self.origin(general)?;
                let size = usize::from(place.data_type.size());
                let step = stride(general.region);
                if origin + ((lanes - 1) * step + 1) * size > place.available {
                    return Err(Problem::Fault(FaultKind::RegisterOutOfBounds));
                }
                let target = if step == 1 || lanes == 1 {
                    Target::Packed
                } else {
                    Target::Strided(u16::try_from(step * size).unwrap_or(u16::MAX))
                };
                Ok(destination(place.offset + origin, place.data_type, target))
            }
            VectorOperand::Indirect(indirect) => {
                let data_type = indirect.property.data_type();
                let offset = self.addresses(indirect, 1)?;
                let stride = stride(indirect.region) * usize::from(data_type.size());
                let target = Target::Indirect {
                    immediate: indirect.offset,
                    stride: u16::try_from(stride).unwrap_or(u16::MAX),
                };
                Ok(destination(offset, data_type, target))
            }
            VectorOperand::Address(address) => {
                let place = self.address(address.address)?;
                let first = usize::from(address.offset) * 2;
                if first + lanes * 2 > place.available {
                    return Err(Problem::Fault(FaultKind::RegisterOutOfBounds));
                }
                Ok(destination(
                    place.offset + first,
                    DataType::Uw,
                    Target::Packed,
                ))
            }
            VectorOperand::State(_) => {
                let source = self.source(operand, lanes)?;
                Ok(destination(source.offset, DataType::Ud, Target::Packed))
            }
            VectorOperand::Predicate(_) | VectorOperand::Immediate(_) => Err(Problem::form(
                "a destination that is a predicate or an immediate",
            )),
        }
    }

    /// The address that an address-of operand denotes, as a source.
    pub(crate) fn address_of(
        &self,
        operand: &VectorOperand,
        lanes: usize,
    ) -> Result<Source, Problem> {
        let address = match operand {
            VectorOperand::General(general) => {
                let (origin, place) = self.origin(general)?;
                place.offset + origin
            }
            VectorOperand::State(_) => self.source(operand, 1)?.offset,
            other => return self.source(other, lanes),
        };
        let address = u16::try_from(address)
            .map_err(|_| Problem::form("the address of a variable beyond 64 KiB"))?;
        Ok(Source {
            offset: self.constant(&address.to_le_bytes()),
            data_type: DataType::Uw,
            modify: Modify::None,
            constant: None,
            region: Elements::Scalar,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_immediates() {
        let of = |ty: DataType, bits| packed(ImmediateOperand::new(ty.into(), bits)).unwrap();
        let (ty, bytes, count) = of(DataType::V, 0xf876_5432);
        assert_eq!((ty, count), (DataType::W, 8));
        let words: Vec<i16> = bytes
            .chunks(2)
            .map(|c| i16::from_le_bytes([c[0], c[1]]))
            .collect();
        assert_eq!(words, [2, 3, 4, 5, 6, 7, -8, -1]);
        let (_, bytes, _) = of(DataType::Uv, 0xf876_5432);
        assert_eq!(bytes[14], 15);
        assert_eq!(restricted_float(0x30), 1.0);
        assert_eq!(restricted_float(0xb8), -1.5);
        assert_eq!(restricted_float(0x7f), 31.0);
        assert_eq!(restricted_float(0x00), 0.0);
    }

    /// Shapes and last elements are those of the elements one by one.
    #[test]
    fn shapes() {
        let strides = [0, 1, 2, 3, 4, 8, 16, 32];
        for (vertical, width) in strides.into_iter().flat_map(|v| strides.map(|w| (v, w))) {
            for (horizontal, lanes) in [0, 1, 2, 4]
                .into_iter()
                .flat_map(|h| strides.map(|l| (h, l)))
            {
                let rows = Rows {
                    vertical: Some(vertical),
                    width: width.max(1),
                    horizontal,
                };
                let elements: Vec<usize> = (0..lanes).map(|lane| rows.element(lane)).collect();
                let last = elements.iter().max();
                assert_eq!(rows.last(lanes), last.copied().unwrap_or(0));
                let shape = rows.shape(lanes, 2);
                let step = match &shape {
                    Elements::Scalar => Some(0),
                    Elements::Packed => Some(1),
                    Elements::Strided(bytes) => Some(usize::from(*bytes) / 2),
                    _ => None,
                };
                let even = |step| (0..lanes).map(|lane| lane * step).eq(elements.clone());
                let strided = matches!(shape, Elements::Strided(_));
                match step {
                    Some(step) => assert!(even(step) && (step > 1) == strided),
                    None => assert!(!even(elements[1])),
                }
            }
        }
    }
}
