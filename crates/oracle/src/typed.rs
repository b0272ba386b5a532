//! Messages that address texels of an image of four 32-bit unsigned channels.

use crate::memory::{Binding, Memory, Space};
use crate::message::{is_load, read, write};
use crate::operand::{number, raw, vector};
use crate::run::message_lanes;
use crate::state::{Halt, Result, View};
use visakit_isa::table::{FieldName as F, Group};
use visakit_isa::{Instruction, Value as Field, enums};

/// Bytes of a texel.
pub const TEXEL: usize = 16;

pub(crate) fn texels(
    memory: &mut Memory,
    view: &mut View<'_, '_>,
    i: &Instruction,
    running: u32,
) -> Result<()> {
    let loads = is_load(i);
    let lanes = message_lanes(view, i, running)?;
    let lsc = i.def().group == Group::Lsc;
    let (index, mask, names, data) = if lsc {
        let forms = [
            (F::AddrType, enums::lsc_addr_type::BTI),
            (F::AddrSize, enums::lsc_addr_size::A32),
            (F::DataSize, enums::lsc_data_size::D32),
            (F::DataOrder, enums::lsc_data_order::NONTRANSPOSE),
        ];
        for (name, wanted) in forms {
            if number(i, name)? != i64::from(wanted) {
                return Err(Halt::Unknown("form of a typed message"));
            }
        }
        let index = view.scalar_integer(&vector(i, F::Surface)?)?;
        let data = if loads { F::Dst } else { F::Src1Data };
        let names = [F::Src0U, F::Src0V];
        (
            u32::try_from(index).unwrap_or(0),
            number(i, F::ChMask)?,
            names,
            data,
        )
    } else {
        let Some(Field::Surface(surface)) = i.get(F::Surface) else {
            return Err(Halt::Unknown("surface"));
        };
        let values = view.locals.surfaces.get(&u16::from(surface.0));
        let index = values.and_then(|v| v.first().copied()).unwrap_or(0);
        let data = if loads { F::Dst } else { F::Src };
        (index, number(i, F::Channels)?, [F::U, F::V], data)
    };
    let buffer = memory.surface(Binding::Table(index))?;
    let data = raw(i, data)?;
    let (width, height) = (
        (Memory::ROW / TEXEL) as u64,
        (memory.buffer(buffer).len() / Memory::ROW) as u64,
    );
    // A channel begins with a register.
    let pitch = lanes.count.max(view.scope.grf / 4);
    for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
        let x = read(view, raw(i, names[0])?, lane, 4)?;
        let y = read(view, raw(i, names[1])?, lane, 4)?;
        let inside = x < width && y < height;
        if loads && lsc && !inside {
            return Err(Halt::Undefined("texel outside of the image"));
        }
        for (slot, channel) in (0..4u64).filter(|c| mask >> c & 1 != 0).enumerate() {
            let place = y * Memory::ROW as u64 + x * TEXEL as u64 + channel * 4;
            let at = slot * pitch + lane;
            let space = Space::Surface(buffer);
            match (loads, inside) {
                (true, true) => {
                    let bits = memory.load(space, place.into(), 4)?;
                    write(view, data, at, 4, bits)?;
                }
                // Outside is black and opaque.
                (true, false) => write(view, data, at, 4, u64::from(channel == 3))?,
                (false, true) => {
                    let bits = read(view, data, at, 4)?;
                    memory.store(space, place.into(), 4, bits)?;
                }
                (false, false) => {}
            }
        }
    }
    Ok(())
}
