//! The messages of the load/store cache.

use crate::memory::{Binding, Memory, Space};
use crate::message::{is_load, read, write};
use crate::operand::{Lanes, number, raw, vector};
use crate::run::message_lanes;
use crate::state::{Halt, Result, View};
use crate::value::Precision;
use visakit_isa::semantics::{Action, AtomicOp};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, enums};

/// The atomic operation of a row.
fn operation(i: &Instruction) -> Result<AtomicOp> {
    match i.def().memory.map(|memory| memory.action) {
        Some(Action::Atomic(op)) => Ok(op),
        _ => Err(Halt::Unknown("atomic operation")),
    }
}

/// A datum: bytes in memory, bytes in a register, bits that it is shifted left there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Datum {
    memory: usize,
    register: usize,
    shift: u32,
}

fn datum(i: &Instruction) -> Result<Datum> {
    use enums::lsc_data_size as is;
    let of = |memory, register, shift| {
        Ok(Datum {
            memory,
            register,
            shift,
        })
    };
    match u8::try_from(number(i, F::DataSize)?).unwrap_or(0) {
        is::D8 => of(1, 1, 0),
        is::D16 => of(2, 2, 0),
        is::D32 => of(4, 4, 0),
        is::D64 => of(8, 8, 0),
        is::D8C32 => of(1, 4, 0),
        is::D16C32 => of(2, 4, 0),
        is::D16C32H => of(2, 4, 16),
        _ => Err(Halt::Undefined("data size")),
    }
}

fn elements(i: &Instruction) -> Result<usize> {
    let code = usize::try_from(number(i, F::DataElems)?).unwrap_or(0);
    [0, 1, 2, 3, 4, 8, 16, 32, 64]
        .get(code)
        .copied()
        .filter(|n| *n != 0)
        .ok_or(Halt::Undefined("elements of an address"))
}

fn space(memory: &Memory, view: &View<'_, '_>, i: &Instruction) -> Result<Space> {
    use enums::lsc_addr_type as is;
    let local = number(i, F::Sfid)? == i64::from(enums::lsc_sfid::SLM);
    let kind = u8::try_from(number(i, F::AddrType)?).unwrap_or(0);
    let surface = vector(i, F::Surface)?;
    let index = view.scalar_integer(&surface)?;
    let index = u32::try_from(index).map_err(|_| Halt::Undefined("surface"))?;
    Ok(match kind {
        is::FLAT if index != 0 => return Err(Halt::Unknown("base of a flat address")),
        is::FLAT if local => Space::Local,
        is::FLAT => Space::Flat,
        is::BTI => Space::Surface(memory.surface(Binding::Table(index))?),
        is::SS => Space::Surface(memory.surface(Binding::State(index))?),
        is::BSS => Space::Surface(memory.surface(Binding::Handle(index))?),
        _ => return Err(Halt::Unknown("address type")),
    })
}

fn address_bytes(i: &Instruction) -> Result<usize> {
    use enums::lsc_addr_size as is;
    match u8::try_from(number(i, F::AddrSize)?).unwrap_or(0) {
        is::A16 => Ok(2),
        is::A32 => Ok(4),
        is::A64 => Ok(8),
        _ => Err(Halt::Undefined("address size")),
    }
}

/// The lanes, and their addresses: all are read before anything is written.
fn addresses(view: &View<'_, '_>, i: &Instruction, lanes: Lanes) -> Result<Vec<(usize, i128)>> {
    let enabled = (0..lanes.count).filter(|lane| lanes.has(*lane));
    enabled
        .map(|lane| Ok((lane, address(view, i, lane)?)))
        .collect()
}

/// The address of a lane.
fn address(view: &View<'_, '_>, i: &Instruction, lane: usize) -> Result<i128> {
    let size = address_bytes(i)?;
    let scale = i128::from(number(i, F::AddrScale)?);
    let offset = i128::from(number(i, F::AddrOffset)?);
    if i.get(F::Src0AddrBase).is_some() {
        let base = read(view, raw(i, F::Src0AddrBase)?, 0, size)?;
        let pitch = view.scalar_integer(&vector(i, F::Src0AddrPitch)?)?;
        let lane = i128::try_from(lane).unwrap_or(0);
        return Ok(scale * i128::from(base) + lane * pitch + offset);
    }
    let base = read(view, raw(i, F::Src0Addrs)?, lane, size)?;
    Ok(scale * i128::from(base) + offset)
}

fn transposed(i: &Instruction) -> Result<bool> {
    match u8::try_from(number(i, F::DataOrder)?).unwrap_or(0) {
        enums::lsc_data_order::NONTRANSPOSE => Ok(false),
        enums::lsc_data_order::TRANSPOSE => Ok(true),
        _ => Err(Halt::Undefined("data order")),
    }
}

/// Byte of a raw operand that holds element `v` of a lane.
fn place(grf: usize, lanes: Lanes, datum: Datum, lane: usize, v: usize, transposed: bool) -> usize {
    if transposed {
        return v * datum.register;
    }
    let component = (lanes.count * datum.register).div_ceil(grf) * grf;
    v * component + lane * datum.register
}

/// Moves a datum between a place of a raw operand and memory.
fn transfer(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    data: visakit_isa::RawOperand,
    byte: usize,
    datum: Datum,
    (space, address): (Space, i128),
    loads: bool,
) -> Result<()> {
    if address % i128::try_from(datum.memory).unwrap_or(1) != 0 {
        return Err(Halt::Undefined("address that is not aligned"));
    }
    if loads {
        if data.is_null() {
            return Ok(());
        }
        let bits = memory.load(space, address, datum.memory)? << datum.shift;
        let at = view.raw_place(data, byte)?;
        let ty = view.scope.type_of(data.variable)?;
        return view.write_sized(at, bits, datum.register, ty, Precision::Exact);
    }
    let at = view.raw_place(data, byte)?;
    let (bits, defined) = view.read(at, datum.register)?;
    if !defined {
        return Err(Halt::Undefined("message with undefined data"));
    }
    memory.store(space, address, datum.memory, bits >> datum.shift)
}

/// Elements that follow each other, of each lane.
pub(crate) fn vectors(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let (count, order) = (elements(i)?, transposed(i)?);
    let slots: Vec<_> = (0..count).map(|v| (v, v)).collect();
    scattered(memory, view, i, running, (&slots, order))
}

/// The channels of a mask, of each lane.
pub(crate) fn quads(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let mask = number(i, F::ChMask)?;
    let channels = (0..4).filter(|v| mask >> v & 1 != 0);
    let slots: Vec<_> = channels.enumerate().collect();
    scattered(memory, view, i, running, (&slots, false))
}

/// Elements of each lane: where they are in its operand and in memory, and whether the operand has them lane by lane.
fn scattered(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
    (slots, order): (&[(usize, usize)], bool),
) -> Result<()> {
    let loads = is_load(i);
    let lanes = message_lanes(view, i, running)?;
    let datum = datum(i)?;
    if order && (lanes.count != 1 || datum.register < 4) {
        return Err(Halt::Undefined("transposed message of several lanes"));
    }
    if !order && (datum.register < 4 || slots.len() > 4) {
        return Err(Halt::Undefined("packed data of several lanes"));
    }
    let where_to = space(memory, view, i)?;
    let data = raw(i, if loads { F::Dst } else { F::Src1Data })?;
    let grf = view.scope.grf;
    for (lane, first) in addresses(view, i, lanes)? {
        for &(slot, v) in slots {
            let at = first + i128::try_from(v * datum.memory).unwrap_or(0);
            let byte = place(grf, lanes, datum, lane, slot, order);
            transfer(memory, view, data, byte, datum, (where_to, at), loads)?;
        }
    }
    Ok(())
}

/// Bit n is set where the address of lane n is valid: any address inside of the memory.
pub(crate) fn status(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let lanes = message_lanes(view, i, running)?;
    let (datum, count) = (datum(i)?, elements(i)?);
    let where_to = space(memory, view, i)?;
    for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
        let at = address(view, i, lane)?;
        for v in 0..count {
            let at = at + i128::try_from(v * datum.memory).unwrap_or(0);
            memory.check(where_to, at, datum.memory)?;
        }
    }
    write(view, raw(i, F::Dst)?, 0, 4, lanes.mask.into())
}

pub(crate) fn atomic(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let operation = operation(i)?;
    let lanes = message_lanes(view, i, running)?;
    let datum = datum(i)?;
    if datum.register < 4 || datum.shift != 0 || datum.memory == 1 || elements(i)? != 1 {
        return Err(Halt::Undefined("data of an atomic operation"));
    }
    let where_to = space(memory, view, i)?;
    let (src1, src2, dst) = (raw(i, F::Src1Data)?, raw(i, F::Src2Data)?, raw(i, F::Dst)?);
    let width = datum.memory;
    let mask = if width == 8 {
        u64::MAX
    } else {
        (1 << (width * 8)) - 1
    };
    for (lane, at) in addresses(view, i, lanes)? {
        let get = |view: &View<'_, '_>, operand: visakit_isa::RawOperand| {
            if operand.is_null() {
                Ok(0)
            } else {
                read(view, operand, lane, datum.register).map(|v| v & mask)
            }
        };
        let (a, b) = (get(view, src1)?, get(view, src2)?);
        let (new, expected) = match operation {
            AtomicOp::CompareExchange | AtomicOp::FloatCompareExchange => (b, a),
            _ => (a, b),
        };
        memory.one_atomic(
            view,
            operation,
            (where_to, at),
            (new, expected),
            dst,
            lane,
            width,
        )?;
    }
    Ok(())
}

pub(crate) fn counter(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let lanes = message_lanes(view, i, running)?;
    let datum = datum(i)?;
    if datum.memory != datum.register || datum.memory < 4 {
        return Err(Halt::Undefined("data of a counter"));
    }
    if number(i, F::AddrType)? != i64::from(enums::lsc_addr_type::BTI) {
        return Err(Halt::Unknown("address type"));
    }
    let index = view.scalar_integer(&vector(i, F::Surface)?)?;
    let index = u32::try_from(index).map_err(|_| Halt::Undefined("surface"))?;
    let (buffer, offset) = *memory
        .counters
        .get(&index)
        .ok_or(Halt::Undefined("surface without a counter"))?;
    let operation = operation(i)?;
    let (data, dst) = (raw(i, F::Src0Data)?, raw(i, F::Dst)?);
    for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
        let value = read(view, data, lane, datum.register)?;
        let at = (Space::Surface(buffer), i128::from(offset));
        memory.one_atomic(view, operation, at, (value, 0), dst, lane, datum.memory)?;
    }
    Ok(())
}

/// The parameters of a block message.
struct Block {
    base: i128,
    width: i128,
    height: i128,
    pitch: i128,
    x: i128,
    y: i128,
    columns: usize,
    rows: usize,
    size: usize,
}

impl Block {
    fn of(view: &View<'_, '_>, i: &Instruction) -> Result<Self> {
        let scalar = |name| view.scalar_integer(&vector(i, name)?);
        let datum = datum(i)?;
        if datum.memory != datum.register {
            return Err(Halt::Undefined("data size of a block"));
        }
        let signed = |v: i128| {
            // Coordinates are signed.
            if v > i128::from(i32::MAX) {
                v - (1 << 32)
            } else {
                v
            }
        };
        Ok(Self {
            base: scalar(F::SurfaceBase)?,
            width: scalar(F::SurfaceWidth)? + 1,
            height: scalar(F::SurfaceHeight)? + 1,
            pitch: scalar(F::SurfacePitch)?,
            x: signed(scalar(F::X)?),
            y: signed(scalar(F::Y)?),
            columns: usize::try_from(number(i, F::BlockWidth)?).unwrap_or(0),
            rows: usize::try_from(number(i, F::BlockHeight)?).unwrap_or(0),
            size: datum.memory,
        })
    }

    /// Address of an element; `None` outside of the surface.
    fn element(&self, x: usize, y: usize) -> Option<i128> {
        let x = (self.x + i128::try_from(x).ok()?) * i128::try_from(self.size).ok()?;
        let y = self.y + i128::try_from(y).ok()?;
        let last = x + i128::try_from(self.size).ok()? - 1;
        let inside = (0..self.width).contains(&x)
            && (0..self.width).contains(&last)
            && (0..self.height).contains(&y);
        inside.then(|| self.base + y * self.pitch + x)
    }
}

pub(crate) fn load_block(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let lanes = message_lanes(view, i, running)?;
    if lanes.mask == 0 {
        return Ok(());
    }
    let block = Block::of(view, i)?;
    let data = raw(i, F::Dst)?;
    if data.is_null() {
        return Ok(());
    }
    let blocks = usize::try_from(number(i, F::Blocks)?).unwrap_or(0);
    let (transpose, transform) = (transposed(i)?, number(i, F::Vnni)? != 0);
    let (w, h) = (block.columns, block.rows);
    if w == 0 || h == 0 || blocks == 0 || (transform && block.size > 2) {
        return Err(Halt::Undefined("form of a block"));
    }
    let packed = 4 / block.size.min(4);
    let (across, down) = if transpose { (h, w) } else { (w, h) };
    if transform && down % packed != 0 {
        return Err(Halt::Undefined("rows of a transformed block"));
    }
    let pitch = across.next_power_of_two();
    let register = view.scope.grf / block.size;
    let whole = (pitch * down).div_ceil(register) * register;
    let ty = view.scope.type_of(data.variable)?;
    // All zeroes first: bytes that are not part of an element of a block are padding.
    for element in 0..whole * blocks {
        let at = view.raw_place(data, element * block.size)?;
        view.write_sized(at, 0, block.size, ty, Precision::Exact)?;
    }
    for b in 0..blocks {
        for y in 0..h {
            for x in 0..w {
                let (column, row) = if transpose { (y, x) } else { (x, y) };
                let place = if transform {
                    // Groups of rows are interleaved.
                    row / packed * packed * pitch + column * packed + row % packed
                } else {
                    row * pitch + column
                };
                let bits = match block.element(b * w + x, y) {
                    Some(address) => memory.load(Space::Flat, address, block.size)?,
                    None => 0,
                };
                let at = view.raw_place(data, (b * whole + place) * block.size)?;
                view.write_sized(at, bits, block.size, ty, Precision::Exact)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn store_block(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let lanes = message_lanes(view, i, running)?;
    if lanes.mask == 0 {
        return Ok(());
    }
    let block = Block::of(view, i)?;
    if transposed(i)? || number(i, F::Vnni)? != 0 || number(i, F::Blocks)? != 1 {
        return Err(Halt::Undefined("form of a stored block"));
    }
    let data = raw(i, F::Src1Data)?;
    let pitch = block.columns.next_power_of_two();
    for y in 0..block.rows {
        for x in 0..block.columns {
            let bits = read(view, data, y * pitch + x, block.size)?;
            if let Some(address) = block.element(x, y) {
                memory.store(Space::Flat, address, block.size, bits)?;
            }
        }
    }
    Ok(())
}
