//! The older messages.

use crate::atomic;
use crate::memory::{Binding, Memory, Space};
use crate::operand::{number, raw, vector};
use crate::run::message_lanes;
use crate::state::{Halt, Result, View};
use crate::value::Precision;
use visakit_isa::semantics::{Action, AtomicOp, Storage};
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, RawOperand, Value as Field};

impl Memory {
    fn space(&self, view: &View<'_, '_>, instruction: &Instruction) -> Result<Space> {
        let Some(Field::Surface(surface)) = instruction.get(F::Surface) else {
            return Err(Halt::Unknown("surface"));
        };
        if surface.0 == 0 {
            return Ok(Space::Local);
        }
        if surface.0 < view.scope.format.predefined_surface_count() {
            return Err(Halt::Unknown("predefined surface"));
        }
        let values = view.locals.surfaces.get(&u16::from(surface.0));
        let index = values.and_then(|v| v.first().copied()).unwrap_or(0);
        self.surface(Binding::Table(index)).map(Space::Surface)
    }

    pub(crate) fn channels(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        running: u32,
    ) -> Result<()> {
        let lanes = message_lanes(view, i, running)?;
        let flat = is_flat(i);
        let (space, base) = if flat {
            (Space::Flat, view.scalar_integer(&vector(i, F::Address)?)?)
        } else {
            let base = view.scalar_integer(&vector(i, F::GlobalOffset)?)?;
            (self.space(view, i)?, base)
        };
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let offsets = raw(i, F::ElementOffset)?;
        let mask = number(i, F::Channels)?;
        let pitch = lanes.count.max(view.scope.grf / 4);
        for (slot, channel) in (0..4).filter(|c| mask >> c & 1 != 0).enumerate() {
            let channel = i128::from(channel);
            for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
                let offset = read(view, offsets, lane, if flat { 8 } else { 4 })?;
                let address = base + i128::from(offset) + channel * 4;
                if address % 4 != 0 {
                    return Err(Halt::Undefined("address that is not aligned"));
                }
                let at = slot * pitch + lane;
                self.moves(view, (space, address, 4), (data, at, 4), loads)?;
            }
        }
        Ok(())
    }

    /// Loads an element of that many bytes, or stores it: the element of a register operand by its number and size.
    fn moves(
        &mut self,
        view: &mut View<'_, '_>,
        (space, address, bytes): (Space, i128, usize),
        (data, at, size): (RawOperand, usize, usize),
        loads: bool,
    ) -> Result<()> {
        if loads {
            let bits = self.load(space, address, bytes)?;
            return write(view, data, at, size, bits);
        }
        let bits = read(view, data, at, size)?;
        self.store(space, address, bytes, bits)
    }

    pub(crate) fn bytes_of_lanes(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        running: u32,
    ) -> Result<()> {
        let lanes = message_lanes(view, i, running)?;
        let space = self.space(view, i)?;
        let base = view.scalar_integer(&vector(i, F::GlobalOffset)?)?;
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let offsets = raw(i, F::ElementOffset)?;
        let size = 1usize << (number(i, F::NumBlocks)? & 3);
        if size == 8 {
            return Err(Halt::Undefined("eight blocks"));
        }
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let address = base + i128::from(read(view, offsets, lane, 4)?);
            self.moves(view, (space, address, size), (data, lane, 4), loads)?;
        }
        Ok(())
    }

    pub(crate) fn elements(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        running: u32,
    ) -> Result<()> {
        let Some(Field::ElementCount(count)) = i.get(F::NumElts) else {
            return Err(Halt::Unknown("number of elements"));
        };
        let size = 1usize << (number(i, F::EltSize)? & 3);
        let (Some(lanes), Some(mask)) = (count.lanes(), count.mask(view.scope.format)) else {
            return Err(Halt::Undefined("number of elements"));
        };
        let lanes = view.lanes_of(usize::from(lanes), mask, running)?;
        let space = self.space(view, i)?;
        let base = view.scalar_integer(&vector(i, F::GlobalOffset)?)?;
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let offsets = raw(i, F::ElementOffset)?;
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let offset = base + i128::from(read(view, offsets, lane, 4)?);
            let address = offset * i128::try_from(size).unwrap_or(1);
            if loads {
                let bits = self.load(space, address, size)?;
                write(view, data, lane, 4, bits)?;
                if size < 4 {
                    // The content of the upper bytes is unspecified.
                    let place = view.raw_place(data, lane * 4 + size)?;
                    view.write_sized(place, 0, 4 - size, DataType::Ud, Precision::Undefined)?;
                }
            } else {
                self.store(space, address, size, read(view, data, lane, 4)?)?;
            }
        }
        Ok(())
    }

    pub(crate) fn blocks(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        running: u32,
    ) -> Result<()> {
        let lanes = message_lanes(view, i, running)?;
        let size = match number(i, F::BlockSize)? & 3 {
            0 => 1usize,
            1 => 4,
            2 => 8,
            _ => return Err(Halt::Undefined("block size")),
        };
        let count = 1usize << (number(i, F::NumBlocks)? & 3);
        if count > 1 && lanes.count < 8 || (count == 8 && size == 8) {
            return Err(Halt::Undefined("blocks of few lanes"));
        }
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let addresses = raw(i, F::Addresses)?;
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let address = i128::from(read(view, addresses, lane, 8)?);
            for block in 0..count {
                let address = address + i128::try_from(block * size).unwrap_or(0);
                let at = if size == 1 {
                    lane * count.max(4) + block
                } else {
                    block * lanes.count + lane
                };
                self.moves(view, (Space::Flat, address, size), (data, at, size), loads)?;
            }
            if loads && size == 1 && count < 4 {
                let place = view.raw_place(data, lane * 4 + count)?;
                view.write_sized(place, 0, 4 - count, DataType::Ud, Precision::Undefined)?;
            }
        }
        Ok(())
    }

    pub(crate) fn qwords(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        running: u32,
    ) -> Result<()> {
        let lanes = message_lanes(view, i, running)?;
        let space = self.space(view, i)?;
        let count = 1usize << (number(i, F::NumBlocks)? & 3);
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let offsets = raw(i, F::ElementOffset)?;
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let offset = i128::from(read(view, offsets, lane, 4)?);
            for block in 0..count {
                let address = offset + i128::try_from(block * 8).unwrap_or(0);
                let at = block * lanes.count + lane;
                self.moves(view, (space, address, 8), (data, at, 8), loads)?;
            }
        }
        Ok(())
    }

    pub(crate) fn atomic(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        running: u32,
    ) -> Result<()> {
        let lanes = message_lanes(view, i, running)?;
        let byte = u8::try_from(number(i, F::Op)?).unwrap_or(0);
        let flat = is_flat(i);
        let space = if flat {
            Space::Flat
        } else {
            self.space(view, i)?
        };
        let addresses = raw(i, if flat { F::Addresses } else { F::ElementOffset })?;
        let width = match byte >> 5 & 3 {
            0 => 4,
            1 => 2,
            2 => 8,
            _ => return Err(Halt::Undefined("width of an atomic operation")),
        };
        let operation = AtomicOp::from_code(byte).ok_or(Halt::Undefined("atomic operation"))?;
        let (src0, src1, dst) = (raw(i, F::Src0)?, raw(i, F::Src1)?, raw(i, F::Dst)?);
        // Words are stored in dwords.
        let stride = width.max(4);
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let address = i128::from(read(view, addresses, lane, if flat { 8 } else { 4 })?);
            let get = |view: &View<'_, '_>, operand: RawOperand| -> Result<u64> {
                if operand.is_null() {
                    return Ok(0);
                }
                let place = view.raw_place(operand, lane * stride)?;
                defined(view.read(place, width)?)
            };
            let (a, b) = (get(view, src0)?, get(view, src1)?);
            // A float exchange has the value to compare with first.
            let (new, expected) = match operation {
                AtomicOp::FloatCompareExchange => (b, a),
                _ => (a, b),
            };
            self.one_atomic(
                view,
                operation,
                (space, address),
                (new, expected),
                dst,
                lane,
                width,
            )?;
        }
        Ok(())
    }

    /// One lane of an atomic message.
    #[allow(clippy::too_many_arguments, reason = "the operands of a message")]
    pub(crate) fn one_atomic(
        &mut self,
        view: &mut View<'_, '_>,
        operation: AtomicOp,
        (space, address): (Space, i128),
        (new, expected): (u64, u64),
        dst: RawOperand,
        lane: usize,
        width: usize,
    ) -> Result<()> {
        if address % i128::try_from(width).unwrap_or(1) != 0 {
            return Err(Halt::Undefined("address that is not aligned"));
        }
        let stride = width.max(4);
        if let Space::Surface(index) = space
            && address >= i128::try_from(self.buffer(index).len()).unwrap_or(0)
        {
            return Err(Halt::Undefined("atomic operation outside of a surface"));
        }
        let old = self.load(space, address, width)?;
        let (stored, returned) = atomic::apply(operation, old, new, expected, width)?;
        self.store(space, address, width, stored)?;
        if dst.is_null() {
            return Ok(());
        }
        write(view, dst, lane, stride, returned)?;
        if width == 2 {
            let place = view.raw_place(dst, lane * 4 + 2)?;
            view.write_sized(place, 0, 2, DataType::Uw, Precision::Undefined)?;
        }
        Ok(())
    }

    pub(crate) fn owords(
        &mut self,
        view: &mut View<'_, '_>,
        i: &Instruction,
        unit: i128,
    ) -> Result<()> {
        let flat = is_flat(i);
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let (count, space, address, align) = if flat {
            let properties = number(i, F::Properties)?;
            let align = if properties & 8 != 0 { 4 } else { 16 };
            let address = view.scalar_integer(&vector(i, F::Address)?)?;
            (1usize << (properties & 7), Space::Flat, address, align)
        } else {
            let offset = view.scalar_integer(&vector(i, F::Offset)?)?;
            let space = self.space(view, i)?;
            (1usize << (number(i, F::Size)? & 7), space, offset * unit, 4)
        };
        if address % align != 0 {
            return Err(Halt::Undefined("address that is not aligned"));
        }
        for word in 0..count * 4 {
            let address = address + i128::try_from(word * 4).unwrap_or(0);
            self.moves(view, (space, address, 4), (data, word, 4), loads)?;
        }
        Ok(())
    }

    /// A rectangle of a surface whose rows are as long as the case says.
    pub(crate) fn rectangle(&mut self, view: &mut View<'_, '_>, i: &Instruction) -> Result<()> {
        let Space::Surface(buffer) = self.space(view, i)? else {
            return Err(Halt::Undefined("rectangle of local memory"));
        };
        if number(i, F::Modifier)? != 0 || number(i, F::Plane)? != 0 {
            return Err(Halt::Unknown("fields and planes"));
        }
        let (width, height) = (number(i, F::BlockWidth)?, number(i, F::BlockHeight)?);
        let x = view.scalar_integer(&vector(i, F::XOffset)?)?;
        let y = view.scalar_integer(&vector(i, F::YOffset)?)?;
        let loads = is_load(i);
        let data = raw(i, if loads { F::Dst } else { F::Src })?;
        let (width, height) = (
            usize::try_from(width).unwrap_or(0),
            usize::try_from(height).unwrap_or(0),
        );
        let pitch = if width < 4 {
            4
        } else {
            width.next_power_of_two()
        };
        let rows = self.buffer(buffer).len() / Self::ROW;
        for row in 0..height {
            for column in 0..width {
                let (px, py) = (
                    x + i128::try_from(column).unwrap_or(0),
                    y + i128::try_from(row).unwrap_or(0),
                );
                let row_bytes = i128::try_from(Self::ROW).unwrap_or(1);
                let inside = (0..row_bytes).contains(&px)
                    && (0..i128::try_from(rows).unwrap_or(0)).contains(&py);
                let address = py * row_bytes + px;
                let at = row * pitch + column;
                if loads && !inside {
                    return Err(Halt::Undefined("rectangle outside of the surface"));
                }
                if loads {
                    let bits = self.load(Space::Surface(buffer), address, 1)?;
                    write(view, data, at, 1, bits)?;
                } else if inside {
                    let bits = read(view, data, at, 1)?;
                    self.store(Space::Surface(buffer), address, 1, bits)?;
                }
            }
        }
        Ok(())
    }
}

impl Memory {
    /// Bytes of a row of every buffer that a rectangle message accesses.
    pub const ROW: usize = 64;
}

/// Whether a message fills registers.
pub(crate) fn is_load(instruction: &Instruction) -> bool {
    let memory = instruction.def().memory;
    memory.is_some_and(|memory| memory.action == Action::Load)
}

fn is_flat(instruction: &Instruction) -> bool {
    let memory = instruction.def().memory;
    memory.is_some_and(|memory| memory.storage == Storage::Flat)
}

fn defined((bits, defined): (u64, bool)) -> Result<u64> {
    if defined {
        Ok(bits)
    } else {
        Err(Halt::Undefined("message with undefined data"))
    }
}

/// An element of a raw operand.
pub(crate) fn read(
    view: &View<'_, '_>,
    operand: RawOperand,
    at: usize,
    size: usize,
) -> Result<u64> {
    let place = view.raw_place(operand, at * size)?;
    defined(view.read(place, size)?)
}

/// Writes an element of a raw operand; no effect for the null operand.
pub(crate) fn write(
    view: &mut View<'_, '_>,
    operand: RawOperand,
    at: usize,
    size: usize,
    bits: u64,
) -> Result<()> {
    if operand.is_null() {
        return Ok(());
    }
    let place = view.raw_place(operand, at * size)?;
    let ty = view.scope.type_of(operand.variable)?;
    view.write_sized(place, bits, size, ty, Precision::Exact)
}
