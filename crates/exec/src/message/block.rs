//! Messages without lanes: consecutive bytes, and rectangles of surfaces.

use super::data::Data;
use super::lanes::outside;
use super::reach::{Reach, plane, with_target};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::machine::Registers;
use crate::memory::space::Space as _;
use crate::memory::target::{Flat, Target};
use crate::memory::{Local, Memory};
use crate::observe::{InRegister, MemoryAccess, Observer, Space};
use crate::operands::Scalar;
use visakit_isa::semantics::BlockShape;

/// A load or store of consecutive bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BlockAccess {
    pub(crate) reach: Reach,
    pub(crate) address: Scalar,
    /// Bytes of a unit of the address.
    pub(crate) scale: u64,
    /// Bits of the scaled address that count.
    pub(crate) mask: u64,
    /// The address must be a multiple of this power of two.
    pub(crate) align: u64,
    /// The smallest unit a load of this kind can transfer. Compilers load smaller data anyway, so bytes past the end of
    /// a buffer in the last unit read as zero.
    pub(crate) unit: usize,
    pub(crate) bytes: usize,
    /// The data operand; a load without one is a prefetch.
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
}

impl BlockAccess {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let address = self.address.read(registers).wrapping_mul(self.scale) & self.mask;
        let misaligned = address & (self.align - 1) != 0;
        if misaligned && !memory.is_lenient() {
            return Err(Trap::at(FaultKind::Misaligned, 0, address));
        }
        let opened = self.reach.open(registers, local, memory, address)?;
        let address = address.wrapping_add(opened.base);
        if O::MEMORY {
            let access = MemoryAccess {
                extent: self.reach.extent(registers, memory),
                data: data.place().map(|offset| InRegister {
                    offset,
                    whole: offset,
                    whole_bytes: self.bytes,
                }),
                misaligned,
                ..block_event(opened.space, address, self.bytes, self.store)
            };
            observer.memory(&access, &registers.file);
        }
        with_target!(opened.target, |target| {
            if self.store {
                store_block(&mut target, address, data.read(registers)?)
            } else {
                load_block(&mut target, address, self.unit, data.write(registers)?)
            }
        })
    }
}

fn block_event(space: Space, address: u64, bytes: usize, store: bool) -> MemoryAccess {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    MemoryAccess::plain(space, address, bytes, store)
}

fn load_block<T: Target>(target: &mut T, address: u64, unit: usize, out: &mut [u8]) -> Outcome {
    if let Some((space, at)) = target.locate(address, out.len() as u64) {
        space.read(at, out);
        return Ok(());
    }
    let drops = target.drops();
    for (i, dword) in out.chunks_mut(4).enumerate() {
        let place = 4 * i;
        let address = address.wrapping_add(place as u64);
        match target.locate(address, dword.len() as u64) {
            Some((space, at)) => space.read(at, dword),
            None if drops || place % unit != 0 => dword.fill(0),
            None => return Err(outside(false, dword.len(), 0, address)),
        }
    }
    Ok(())
}

fn store_block<T: Target>(target: &mut T, address: u64, data: &[u8]) -> Outcome {
    if let Some((space, at)) = target.locate(address, data.len() as u64) {
        space.write(at, data);
        return Ok(());
    }
    let drops = target.drops();
    for (i, dword) in (0u64..).zip(data.chunks(4)) {
        let address = address.wrapping_add(4 * i);
        match target.locate(address, dword.len() as u64) {
            Some((space, at)) => space.write(at, dword),
            None if drops => {}
            None => return Err(outside(true, dword.len(), 0, address)),
        }
    }
    Ok(())
}

/// Which rows of an interlaced surface are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldRows {
    All,
    Top,
    Bottom,
}

/// A load or store of a rectangle of bytes of an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MediaAccess {
    pub(crate) reach: Reach,
    pub(crate) plane: u8,
    pub(crate) rows: FieldRows,
    /// Bytes.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bytes from row to row in the data operand.
    pub(crate) pitch: usize,
    /// Left edge in bytes.
    pub(crate) x: Edge,
    /// Top row.
    pub(crate) y: Edge,
    /// Loads outside the image return the nearest texel; otherwise zero.
    pub(crate) clamps: bool,
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
}

/// A signed 32-bit coordinate, and an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub(crate) at: Scalar,
    pub(crate) add: i64,
}

impl From<Scalar> for Edge {
    fn from(at: Scalar) -> Self {
        Self { at, add: 0 }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "coordinates have 32 bits")]
fn coordinate(edge: &Edge, registers: &Registers) -> i64 {
    let at = (edge.at.read(registers) as u32).cast_signed();
    i64::from(at).saturating_add(edge.add)
}

impl MediaAccess {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        memory: &Memory,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let (left, top) = (
            coordinate(&self.x, registers),
            coordinate(&self.y, registers),
        );
        let (mut texels, surface) = self.reach.image(registers, memory)?;
        let Some((start, height)) = plane(&texels.image, self.plane) else {
            return Err(Trap::new(FaultKind::WrongSurface {
                surface,
                wanted: "an image with that plane",
            }));
        };
        // Interleaved U and V are texels of two bytes.
        let texel = if self.plane == 0 {
            texels.image.format.bytes() as i64
        } else {
            2
        };
        let row_bytes = if self.plane == 0 {
            i64::from(texels.image.width) * texel
        } else {
            i64::from(texels.image.width.next_multiple_of(2))
        };
        let (step, first, height) = match self.rows {
            FieldRows::All => (1, 0, i64::from(height)),
            FieldRows::Top => (2, 0, i64::from(height.div_ceil(2))),
            FieldRows::Bottom => (2, 1, i64::from(height / 2)),
        };
        let pitch = u64::from(texels.image.pitch);
        let len = texels.space.len();
        // The place of a byte, if it is in the image and in the buffer.
        let place = |x: i64, y: i64| {
            let (x, y) = if (0..row_bytes).contains(&x) && (0..height).contains(&y) {
                (x, y)
            } else if self.clamps && row_bytes > 0 && height > 0 {
                let inside = x.clamp(0, row_bytes - 1);
                let x = if inside == x {
                    x
                } else {
                    inside - inside.rem_euclid(texel) + x.rem_euclid(texel)
                };
                (x, y.clamp(0, height - 1))
            } else {
                return None;
            };
            let row = u64::try_from(y * step + first).ok()?;
            let at = start
                .checked_add(row.checked_mul(pitch)?)?
                .checked_add(u64::try_from(x).ok()?)?;
            usize::try_from(at).ok().filter(|at| *at < len)
        };
        if O::MEMORY {
            for (row, y) in (top..).take(self.height).enumerate() {
                let clipped = left.max(0)..row_bytes.min(left + self.width as i64);
                let bytes = usize::try_from(clipped.end - clipped.start).unwrap_or(0);
                let inside = bytes > 0 && (0..height).contains(&y);
                let at = place(if inside { clipped.start } else { left }, y);
                let skipped = usize::try_from(clipped.start - left).unwrap_or(0);
                let whole = data.place().map(|d| d + row * self.pitch + skipped);
                let access = MemoryAccess {
                    extent: texels.extent(memory),
                    texel: true,
                    data: whole.filter(|_| inside).map(|offset| InRegister {
                        offset,
                        whole: offset,
                        whole_bytes: bytes,
                    }),
                    ..block_event(
                        Space::Surface(surface),
                        at.map_or(0, |at| (at as u64).saturating_sub(texels.image.offset)),
                        if inside { bytes } else { self.width },
                        self.store,
                    )
                };
                // Rectangles are clamped at the edges on purpose: only lost data is reported.
                if at.is_some() && (inside || !self.store) {
                    observer.memory(&access, &registers.file);
                }
                if (self.store || !self.clamps) && (!inside || bytes < self.width) {
                    observer.dropped(&access);
                }
            }
        }
        let whole_row = |y: i64| {
            let last = left + self.width as i64 - 1;
            let (first, last) = (place(left, y)?, place(last, y)?);
            let inside = left >= 0 && last.checked_sub(first)? + 1 == self.width;
            inside.then_some(first)
        };
        if self.store {
            let from = data.read(registers)?;
            for (y, row) in (top..).zip(from.chunks(self.pitch)).take(self.height) {
                let row = row.get(..self.width).unwrap_or(row);
                // Nothing outside is written.
                if let Some(at) = whole_row(y).filter(|_| (0..height).contains(&y)) {
                    texels.space.write(at, row);
                    continue;
                }
                for (x, byte) in (left..).zip(row) {
                    if (0..row_bytes).contains(&x)
                        && (0..height).contains(&y)
                        && let Some(at) = place(x, y)
                    {
                        texels.space.write(at, &[*byte]);
                    }
                }
            }
        } else {
            let out = data.write(registers)?;
            for (y, row) in (top..).zip(out.chunks_mut(self.pitch)).take(self.height) {
                let width = self.width.min(row.len());
                let row = row.get_mut(..width).unwrap_or_default();
                if let Some(at) = whole_row(y) {
                    texels.space.read(at, row);
                    continue;
                }
                for (x, byte) in (left..).zip(row) {
                    *byte = 0;
                    if let Some(at) = place(x, y) {
                        texels.space.read(at, std::slice::from_mut(byte));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A load or store of rectangles of a 2D surface that the message itself describes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Block2d {
    pub(crate) base: Scalar,
    /// Bytes of a row, minus one.
    pub(crate) surface_width: Scalar,
    /// Rows, minus one.
    pub(crate) surface_height: Scalar,
    /// Bytes from row to row.
    pub(crate) surface_pitch: Scalar,
    pub(crate) x: Edge,
    pub(crate) y: Edge,
    pub(crate) shape: BlockShape,
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
}

impl Block2d {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        memory: &Memory,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        // A shape that does not fit its variable ends here, before anything counts its elements.
        data.read(registers)?;
        let shape = self.shape;
        let base = self.base.read(registers);
        let number = |scalar: &Scalar| scalar.read(registers) & 0xffff_ffff;
        let row_bytes = i128::from(number(&self.surface_width)) + 1;
        let rows = i128::from(number(&self.surface_height)) + 1;
        let pitch = surface_pitch(number(&self.surface_pitch));
        let left = i128::from(coordinate(&self.x, registers));
        let top = i128::from(coordinate(&self.y, registers));
        let element = shape.element;
        // The address of an element inside of the surface.
        let address = |block: usize, y: usize, x: usize| {
            let row = top + y as i128;
            let column = (left + (block * shape.width + x) as i128) * element as i128;
            let inside =
                (0..rows).contains(&row) && column >= 0 && column + element as i128 <= row_bytes;
            let offset = u64::try_from(row * i128::from(pitch) + column).ok()?;
            inside.then(|| base.wrapping_add(offset))
        };
        let mut target = Flat::new(memory, base);
        let drops = target.drops();
        let places = (0..shape.blocks).flat_map(|block| {
            (0..shape.height).flat_map(move |y| (0..shape.width).map(move |x| (block, y, x)))
        });
        if O::MEMORY {
            let plain = !shape.transpose && shape.packed() == 1;
            // Elements that are neighbours in memory and in registers are one access.
            let (step, most) = if plain {
                (shape.width, shape.width)
            } else {
                (1, 1)
            };
            for block in 0..shape.blocks {
                for y in 0..shape.height {
                    let inside = |x: &usize| address(block, y, *x).is_some();
                    let mut dropped = 0;
                    for start in (0..shape.width).step_by(step.max(1)) {
                        let elements = start..start + most;
                        let count = elements.clone().filter(inside).count();
                        dropped += most - count;
                        let Some(first) = elements.clone().find(inside) else {
                            continue;
                        };
                        let from = data.place();
                        let from = from.map(|d| d + shape.slot(block, y, first) * element);
                        let access = MemoryAccess {
                            data: from.map(|offset| InRegister {
                                offset,
                                whole: offset,
                                whole_bytes: count * element,
                            }),
                            ..block_event(
                                Space::Global,
                                address(block, y, first).unwrap_or(base),
                                count * element,
                                self.store,
                            )
                        };
                        observer.memory(&access, &registers.file);
                    }
                    if dropped > 0 {
                        let access = MemoryAccess {
                            texel: true,
                            ..block_event(Space::Global, base, dropped * element, self.store)
                        };
                        observer.dropped(&access);
                    }
                }
            }
        }
        if self.store {
            let from = data.read(registers)?;
            for (block, y, x) in places {
                let Some(address) = address(block, y, x) else {
                    continue;
                };
                let slot = shape.slot(block, y, x) * element;
                let from = from.get(slot..slot + element).unwrap_or_default();
                match target.locate(address, element as u64) {
                    Some((space, at)) => space.write(at, from),
                    None if drops => {}
                    None => return Err(outside(true, element, 0, address)),
                }
            }
        } else {
            let out = data.write(registers)?;
            out.fill(0);
            for (block, y, x) in places {
                let Some(address) = address(block, y, x) else {
                    continue;
                };
                let slot = shape.slot(block, y, x) * element;
                let out = out.get_mut(slot..slot + element).unwrap_or_default();
                match target.locate(address, element as u64) {
                    Some((space, at)) => space.read(at, out),
                    None if drops => {}
                    None => return Err(outside(false, element, 0, address)),
                }
            }
        }
        Ok(())
    }
}

/// The pitch in bytes. The written form of the operand is bytes, the hardware and the compilers
/// that feed it use bytes minus one; a pitch is a multiple of 8, so the two can be distinguished.
fn surface_pitch(operand: u64) -> u64 {
    if operand % 8 == 7 {
        operand + 1
    } else {
        operand
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: BlockShape = BlockShape {
        element: 2,
        blocks: 2,
        width: 3,
        height: 4,
        transpose: false,
        vnni: false,
        grf: 32,
    };

    #[test]
    fn layouts() {
        // Rows of 4 elements, 4 of them: 16 elements of 2 bytes are one register.
        assert_eq!(PLAIN.bytes(), 64);
        assert_eq!(PLAIN.slot(0, 2, 1), 9);
        assert_eq!(PLAIN.slot(1, 0, 0), 16);
        let vnni = BlockShape {
            vnni: true,
            ..PLAIN
        };
        assert_eq!(vnni.slot(0, 0, 1), 2);
        assert_eq!(vnni.slot(0, 1, 1), 3);
        assert_eq!(vnni.slot(0, 3, 2), 13);
        let transposed = BlockShape {
            transpose: true,
            ..PLAIN
        };
        // 3 columns of 4 elements, rounded up to a register.
        assert_eq!(transposed.bytes(), 64);
        assert_eq!(transposed.slot(0, 1, 2), 9);
        let both = BlockShape {
            transpose: true,
            vnni: true,
            ..PLAIN
        };
        assert_eq!(both.slot(0, 1, 0), 2);
        assert_eq!(both.slot(0, 1, 1), 3);
        assert_eq!(both.slot(0, 1, 2), 10);
    }

    #[test]
    fn odd_heights_are_filled_up() {
        let shape = BlockShape {
            height: 3,
            vnni: true,
            ..PLAIN
        };
        assert_eq!(shape.bytes(), 64);
        assert_eq!(shape.slot(0, 2, 0), 8);
        assert_eq!(shape.slot(0, 2, 2), 12);
    }

    #[test]
    fn huge_shapes_do_not_overflow() {
        let shape = BlockShape {
            element: 8,
            blocks: 255,
            width: 65535,
            height: 65535,
            transpose: false,
            vnni: true,
            grf: 64,
        };
        assert!(shape.bytes() > 1 << 40);
    }

    #[test]
    fn pitches() {
        assert_eq!(surface_pitch(63), 64);
        assert_eq!(surface_pitch(64), 64);
        assert_eq!(surface_pitch(100), 100);
    }
}
