//! Rectangles of surfaces that the message itself describes.

use super::block::{Edge, block_event, in_register};
use super::data::Data;
use super::lanes::outside;
use crate::fault::Outcome;
use crate::machine::Registers;
use crate::memory::Memory;
use crate::memory::space::Space as _;
use crate::memory::target::{Flat, Target as _};
use crate::observe::{MemoryAccess, Observer, Space};
use crate::operands::Scalar;
use visakit_isa::semantics::BlockShape;

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

/// The surface of a message, and the rectangles in it.
struct Surface {
    base: u64,
    row_bytes: i128,
    rows: i128,
    /// Bytes from row to row.
    pitch: u64,
    /// Left edge in elements.
    left: i128,
    /// Top row.
    top: i128,
    shape: BlockShape,
}

impl Surface {
    /// The address of an element inside of the surface.
    fn address(&self, block: usize, y: usize, x: usize) -> Option<u64> {
        let element = self.shape.element as i128;
        let row = self.top + y as i128;
        let column = (self.left + (block * self.shape.width + x) as i128) * element;
        let inside =
            (0..self.rows).contains(&row) && column >= 0 && column + element <= self.row_bytes;
        let offset = u64::try_from(row * i128::from(self.pitch) + column).ok()?;
        inside.then(|| self.base.wrapping_add(offset))
    }

    /// The elements inside of the surface: their places in the data operand, and their addresses.
    fn elements(&self) -> impl Iterator<Item = (usize, u64)> {
        let shape = self.shape;
        let rows =
            (0..shape.blocks).flat_map(move |block| (0..shape.height).map(move |y| (block, y)));
        let places = rows.flat_map(move |(block, y)| (0..shape.width).map(move |x| (block, y, x)));
        places.filter_map(move |(block, y, x)| {
            let address = self.address(block, y, x)?;
            Some((shape.slot(block, y, x) * shape.element, address))
        })
    }
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
        let number = |scalar: &Scalar| scalar.read(registers) & 0xffff_ffff;
        let surface = Surface {
            base: self.base.read(registers),
            row_bytes: i128::from(number(&self.surface_width)) + 1,
            rows: i128::from(number(&self.surface_height)) + 1,
            pitch: surface_pitch(number(&self.surface_pitch)),
            left: i128::from(self.x.read(registers)),
            top: i128::from(self.y.read(registers)),
            shape: self.shape,
        };
        if O::MEMORY {
            self.report(observer, registers, &surface);
        }
        let mut target = Flat::new(memory, surface.base);
        let drops = target.drops();
        let element = self.shape.element;
        if self.store {
            let from = data.read(registers)?;
            for (slot, address) in surface.elements() {
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
            for (slot, address) in surface.elements() {
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

    /// Reports each row to an observer. Elements that are neighbours in memory and in registers are one access.
    #[cold]
    fn report<O: Observer>(&self, observer: &mut O, registers: &Registers, surface: &Surface) {
        let shape = self.shape;
        let data = self.data.as_ref().and_then(Data::place);
        let plain = !shape.transpose && shape.packed() == 1;
        let step = if plain { shape.width } else { 1 };
        let rows = (0..shape.blocks).flat_map(|block| (0..shape.height).map(move |y| (block, y)));
        for (block, y) in rows {
            let inside = |x: &usize| surface.address(block, y, *x).is_some();
            let mut dropped = 0;
            for start in (0..shape.width).step_by(step.max(1)) {
                let elements = start..start + step;
                let count = elements.clone().filter(inside).count();
                dropped += step - count;
                let Some(first) = elements.clone().find(inside) else {
                    continue;
                };
                let bytes = count * shape.element;
                let address = surface.address(block, y, first).unwrap_or(surface.base);
                let access = MemoryAccess {
                    data: in_register(
                        data.map(|d| d + shape.slot(block, y, first) * shape.element),
                        bytes,
                    ),
                    ..block_event(Space::Global, address, bytes, self.store)
                };
                observer.memory(&access, &registers.file);
            }
            if dropped > 0 {
                let bytes = dropped * shape.element;
                let access = MemoryAccess {
                    texel: true,
                    ..block_event(Space::Global, surface.base, bytes, self.store)
                };
                observer.dropped(&access);
            }
        }
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
