//! Operands: which element a lane reads and writes.

use crate::state::{Halt, Place, Result, View};
use crate::value::{Outcome, Precision, Value, decode, encode, is_signed};
use visakit_isa::operand::{GeneralOperand, IndirectOperand, Modifier, PredicateCombine};
use visakit_isa::table::FieldName;
use visakit_isa::{
    AddressId, DataType, ExecMask, Instruction, PredicateId, RawOperand, Region, Value as Field,
    VectorOperand,
};

/// The value that a lane reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// Type of the operand; packed immediates have the type of their elements.
    pub ty: DataType,
    /// The value, modifiers applied.
    pub value: Value,
    /// The raw bits, before modifiers.
    pub bits: u64,
    /// Whether the bits are defined.
    pub defined: bool,
    /// An unsigned integer was negated: the definitions do not say in which width.
    pub negated_unsigned: bool,
    /// The operand has a modifier.
    pub modified: bool,
}

/// The lanes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Execution size.
    pub count: usize,
    /// First bit of masks and predicates.
    pub first: u32,
    /// Lanes that the execution mask enables, bit 0 for the first lane of the instruction.
    pub mask: u32,
}

impl Lanes {
    /// Whether a lane is enabled.
    #[must_use]
    pub const fn has(&self, lane: usize) -> bool {
        self.mask >> lane & 1 != 0
    }

    /// All bits below the execution size.
    #[must_use]
    pub const fn all(count: usize) -> u32 {
        if count >= 32 {
            u32::MAX
        } else {
            (1 << count) - 1
        }
    }
}

/// A vector operand of an instruction.
///
/// # Errors
/// The field is missing.
pub fn vector(instruction: &Instruction, name: FieldName) -> Result<VectorOperand> {
    match instruction.get(name) {
        Some(Field::Vector(operand)) => Ok(*operand),
        _ => Err(Halt::Unknown("a vector operand is missing")),
    }
}

/// A raw operand of an instruction.
///
/// # Errors
/// The field is missing.
pub fn raw(instruction: &Instruction, name: FieldName) -> Result<RawOperand> {
    match instruction.get(name) {
        Some(Field::Raw(operand)) => Ok(*operand),
        _ => Err(Halt::Unknown("a raw operand is missing")),
    }
}

/// A number of an instruction.
///
/// # Errors
/// The field is missing.
pub fn number(instruction: &Instruction, name: FieldName) -> Result<i64> {
    instruction
        .get(name)
        .and_then(Field::as_number)
        .ok_or(Halt::Unknown("a number is missing"))
}

impl View<'_, '_> {
    /// The lanes of an instruction: execution size and mask, without the predicate.
    ///
    /// # Errors
    /// Codes without meaning, or lanes above the 32nd.
    pub fn lanes(&self, instruction: &Instruction, running: u32) -> Result<Lanes> {
        let exec = instruction
            .exec_size()
            .ok_or(Halt::Unknown("no execution size"))?;
        let count = usize::from(exec.lanes().ok_or(Halt::Undefined("execution size"))?);
        let mask = exec
            .mask(self.scope.format)
            .ok_or(Halt::Undefined("execution mask"))?;
        self.lanes_of(count, mask, running)
    }

    /// The lanes of an execution size and mask.
    ///
    /// # Errors
    /// Lanes above the 32nd.
    pub fn lanes_of(&self, count: usize, mask: ExecMask, running: u32) -> Result<Lanes> {
        let first = u32::from(mask.first_lane);
        if first as usize + count > 32 {
            return Err(Halt::Undefined("lanes beyond the last"));
        }
        let enabled = if mask.no_mask {
            u32::MAX
        } else {
            running >> first
        };
        Ok(Lanes {
            count,
            first,
            mask: enabled & Lanes::all(count),
        })
    }

    /// The elements of a predicate that are combined: of the lanes; for one lane all of the variable.
    fn group_of(&self, id: PredicateId, lanes: Lanes) -> Vec<bool> {
        let word = self.predicate(id);
        let first = lanes.first as usize;
        let size = self.elements_of_predicate(id).next_power_of_two().max(1);
        let group = if lanes.count == 1 {
            let start = first / size * size;
            start..start + size
        } else {
            first..first + lanes.count
        };
        let group = group.filter(|channel| *channel < 32);
        group.map(|channel| word >> channel & 1 != 0).collect()
    }

    /// The bits of the predicate of an instruction, combined and inverted, by lane; all ones
    /// without one.
    ///
    /// # Errors
    /// The reserved combination.
    pub fn predication(&self, instruction: &Instruction, lanes: Lanes) -> Result<u32> {
        let all = Lanes::all(lanes.count);
        let Some(word) = instruction.predicate().filter(|p| !p.is_none()) else {
            return Ok(all);
        };
        let bits = self.predicate(word.id()) >> lanes.first & all;
        let whole = self.group_of(word.id(), lanes);
        let combined = match word.combine() {
            PredicateCombine::PerLane => bits,
            PredicateCombine::Any if whole.contains(&true) => all,
            PredicateCombine::All if !whole.contains(&false) => all,
            PredicateCombine::Any | PredicateCombine::All => 0,
            PredicateCombine::Reserved => return Err(Halt::Undefined("predicate combination")),
        };
        Ok(if word.is_inverted() {
            !combined & all
        } else {
            combined
        })
    }

    fn general(&self, operand: &GeneralOperand, element: i64) -> Result<(Place, DataType)> {
        let ty = self.scope.type_of(operand.variable)?;
        let (root, base) = self.scope.root(operand.variable)?;
        let bytes = (i64::from(operand.column) + element) * i64::from(ty.size());
        let rows = i64::from(operand.row) * i64::try_from(self.scope.grf).unwrap_or(32);
        let offset = i64::try_from(base).unwrap_or(0) + rows + bytes;
        Ok((Place { root, offset }, ty))
    }

    fn address(&self, id: AddressId, element: usize) -> Result<Place> {
        let elements = self.locals.addresses.get(&id);
        elements
            .and_then(|e| e.get(element).copied().flatten())
            .ok_or(Halt::Undefined("address without a value"))
    }

    fn indirect(
        &self,
        operand: &IndirectOperand,
        row: usize,
        element: i64,
    ) -> Result<(Place, DataType)> {
        let ty = operand.property.data_type();
        let mut place = self.address(operand.address, usize::from(operand.address_offset) + row)?;
        place.offset += i64::from(operand.offset) + element * i64::from(ty.size());
        if place.offset % i64::from(ty.size()) != 0 {
            return Err(Halt::Undefined("address that is not aligned"));
        }
        Ok((place, ty))
    }

    /// Place and type of the element that a lane of a source reads.
    ///
    /// # Errors
    /// Regions and addresses without meaning.
    pub fn source_place(&self, operand: &VectorOperand, lane: usize) -> Result<(Place, DataType)> {
        let walk = |region: Region| -> Result<(Option<i64>, usize, i64)> {
            let (Some(width), Some(horizontal)) = (
                region.width().elements().filter(|w| *w != 0),
                region.horizontal_stride().elements(),
            ) else {
                return Err(Halt::Undefined("region"));
            };
            let width = usize::from(width);
            let row = lane / width;
            let column = i64::try_from(lane % width).unwrap_or(0) * i64::from(horizontal);
            let vertical = region.vertical_stride().elements().map(i64::from);
            Ok((vertical, row, column))
        };
        match operand {
            VectorOperand::General(general) => {
                let (vertical, row, column) = walk(general.region)?;
                let vertical = vertical.ok_or(Halt::Undefined("region"))?;
                let element = i64::try_from(row).unwrap_or(0) * vertical + column;
                self.general(general, element)
            }
            VectorOperand::Indirect(indirect) => {
                let (vertical, row, column) = walk(indirect.region)?;
                match vertical {
                    Some(v) => {
                        let element = i64::try_from(row).unwrap_or(0) * v + column;
                        self.indirect(indirect, 0, element)
                    }
                    None => self.indirect(indirect, row, column),
                }
            }
            _ => Err(Halt::Undefined("operand class")),
        }
    }

    /// Place and type of the element of an operand with this index.
    ///
    /// # Errors
    /// Operands of other classes.
    pub fn contiguous(&self, operand: &VectorOperand, element: usize) -> Result<(Place, DataType)> {
        let element = i64::try_from(element).unwrap_or(0);
        match operand {
            VectorOperand::General(general) => self.general(general, element),
            VectorOperand::Indirect(indirect) => self.indirect(indirect, 0, element),
            _ => Err(Halt::Undefined("operand class")),
        }
    }

    /// The element at a place, without modifier.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn element(&self, place: Place, ty: DataType) -> Result<Element> {
        let (bits, defined) = self.read(place, usize::from(ty.size()))?;
        Ok(Element {
            ty,
            value: decode(bits, ty),
            bits,
            defined,
            negated_unsigned: false,
            modified: false,
        })
    }

    /// The value that a lane of a source reads.
    ///
    /// # Errors
    /// Whatever the definitions leave open.
    pub fn source(&self, operand: &VectorOperand, lane: usize) -> Result<Element> {
        let element = if let VectorOperand::Immediate(immediate) = operand {
            immediate_element(immediate.bits(), immediate.data_type(), lane)?
        } else {
            let (place, ty) = self.source_place(operand, lane)?;
            self.element(place, ty)?
        };
        modify(element, operand.modifier())
    }

    /// The value of a scalar source.
    ///
    /// # Errors
    /// Whatever the definitions leave open.
    pub fn scalar(&self, operand: &VectorOperand) -> Result<Element> {
        let element = if let VectorOperand::Immediate(immediate) = operand {
            immediate_element(immediate.bits(), immediate.data_type(), 0)?
        } else {
            let (place, ty) = self.contiguous(operand, 0)?;
            self.element(place, ty)?
        };
        modify(element, operand.modifier())
    }

    /// A scalar source as an integer.
    ///
    /// # Errors
    /// Floating-point operands and undefined values.
    pub fn scalar_integer(&self, operand: &VectorOperand) -> Result<i128> {
        let element = self.scalar(operand)?;
        match element.value {
            Value::Integer(value) if element.defined => Ok(value),
            _ => Err(Halt::Undefined("scalar operand")),
        }
    }

    /// Place and type of the element that a lane of a destination writes.
    ///
    /// # Errors
    /// Regions without meaning, operands of other classes.
    pub fn destination_place(
        &self,
        operand: &VectorOperand,
        lane: usize,
    ) -> Result<(Place, DataType)> {
        let region = match operand {
            VectorOperand::General(o) => o.region,
            VectorOperand::Indirect(o) => o.region,
            _ => return Err(Halt::Undefined("operand class")),
        };
        let stride = region.horizontal_stride().elements().filter(|s| *s != 0);
        let stride = usize::from(stride.ok_or(Halt::Undefined("region"))?);
        self.contiguous(operand, lane * stride)
    }

    /// Writes results of lanes to a destination.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn store(&mut self, operand: &VectorOperand, results: &[(usize, Outcome)]) -> Result<()> {
        if matches!(operand, VectorOperand::General(o) if o.variable.0 == 0) {
            return Ok(());
        }
        let saturate = operand.modifier() == Modifier::SAT;
        let mode = self.mode();
        for (lane, outcome) in results {
            let (place, ty) = self.destination_place(operand, *lane)?;
            let (bits, precision) = encode(*outcome, ty, saturate, mode);
            self.write(place, bits, ty, precision)?;
        }
        Ok(())
    }

    /// Sets the bits of a predicate for the given lanes.
    pub fn store_predicate(
        &mut self,
        id: visakit_isa::PredicateId,
        lanes: Lanes,
        mask: u32,
        bits: u32,
    ) {
        if let Some(word) = self.locals.predicates.get_mut(&id) {
            let mask = mask << lanes.first;
            *word = *word & !mask | bits << lanes.first & mask;
        }
    }

    /// The type of a destination.
    ///
    /// # Errors
    /// Operands of other classes.
    pub fn destination_type(&self, operand: &VectorOperand) -> Result<DataType> {
        match operand {
            VectorOperand::General(o) => self.scope.type_of(o.variable),
            VectorOperand::Indirect(o) => Ok(o.property.data_type()),
            _ => Err(Halt::Undefined("operand class")),
        }
    }

    /// The place of a byte of a raw operand.
    ///
    /// # Errors
    /// Aliases in a circle.
    pub fn raw_place(&self, operand: RawOperand, byte: usize) -> Result<Place> {
        let (root, base) = self.scope.root(operand.variable)?;
        let offset = base + usize::from(operand.offset) + byte;
        Ok(Place {
            root,
            offset: i64::try_from(offset).unwrap_or(i64::MAX),
        })
    }
}

/// The element of an immediate that a lane reads.
fn immediate_element(bits: u64, ty: DataType, lane: usize) -> Result<Element> {
    let field = |width: usize, mask: u64| bits >> (lane * width) & mask;
    let (bits, ty) = match ty {
        DataType::V | DataType::Uv if lane >= 8 => {
            return Err(Halt::Undefined("lane beyond a packed immediate"));
        }
        DataType::Vf if lane >= 4 => {
            return Err(Halt::Undefined("lane beyond a packed immediate"));
        }
        DataType::V => {
            let nibble = field(4, 0xf);
            let extended = if nibble >= 8 { nibble | 0xfff0 } else { nibble };
            (extended, DataType::W)
        }
        DataType::Uv => (field(4, 0xf), DataType::Uw),
        DataType::Vf => {
            let byte = field(8, 0xff);
            let sign = (byte >> 7) << 31;
            let magnitude = if byte & 0x7f == 0 {
                0
            } else {
                // Three bits of exponent around 3, four bits of mantissa.
                ((byte >> 4 & 7) + 127 - 3) << 23 | (byte & 0xf) << 19
            };
            (sign | magnitude, DataType::F)
        }
        DataType::Bool => return Err(Halt::Undefined("immediate of predicate type")),
        other => {
            let size = u32::from(other.size());
            let mask = if size == 8 {
                u64::MAX
            } else {
                (1 << (size * 8)) - 1
            };
            (bits & mask, other)
        }
    };
    Ok(Element {
        ty,
        value: decode(bits, ty),
        bits,
        defined: true,
        negated_unsigned: false,
        modified: false,
    })
}

fn modify(mut element: Element, modifier: Modifier) -> Result<Element> {
    let (abs, neg) = match modifier {
        Modifier::NONE => return Ok(element),
        Modifier::ABS => (true, false),
        Modifier::NEG => (false, true),
        Modifier::NEG_ABS => (true, true),
        Modifier::NOT => {
            element.modified = true;
            return match element.value {
                Value::Integer(value) => {
                    element.value = Value::Integer(!value);
                    Ok(element)
                }
                Value::Real(_) => Err(Halt::Undefined("complement of a float")),
            };
        }
        _ => return Err(Halt::Undefined("modifier")),
    };
    element.modified = true;
    match &mut element.value {
        Value::Integer(value) => {
            if abs {
                *value = value.abs();
            }
            if neg {
                *value = -*value;
                element.negated_unsigned = !is_signed(element.ty) && *value != 0;
            }
        }
        Value::Real(real) => {
            if abs {
                *real = real.abs();
            }
            if neg {
                *real = real.neg();
            }
        }
    }
    Ok(element)
}

/// Marks a result as not defined where one of its sources is not.
#[must_use]
pub fn tainted(outcome: Outcome, sources: &[Element]) -> Outcome {
    if sources.iter().all(|s| s.defined) || outcome.precision == Precision::Undefined {
        outcome
    } else {
        Outcome::undefined()
    }
}
