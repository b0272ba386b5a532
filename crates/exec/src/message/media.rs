//! Rectangles of images.

use super::block::{Edge, block_event, in_register};
use super::data::Data;
use super::reach::{Reach, plane};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::machine::Registers;
use crate::memory::space::Space as _;
use crate::memory::{Memory, Texels};
use crate::observe::{MemoryAccess, Observer, Space};

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

/// The rows of an image that a message may use, and the rectangle in them.
struct Rectangle {
    /// Left edge in bytes.
    left: i64,
    /// Top row.
    top: i64,
    /// Bytes of a row.
    row_bytes: i64,
    /// Bytes of a texel.
    texel: i64,
    /// Rows.
    height: i64,
    /// The first row in the buffer, and rows from one to the next.
    first: i64,
    step: i64,
    /// Where the plane begins, and bytes from row to row of the buffer.
    start: u64,
    pitch: u64,
    /// Bytes of the buffer.
    len: usize,
    clamps: bool,
}

impl Rectangle {
    fn has_row(&self, y: i64) -> bool {
        (0..self.height).contains(&y)
    }

    fn has(&self, x: i64, y: i64) -> bool {
        (0..self.row_bytes).contains(&x) && self.has_row(y)
    }

    /// The place of a byte, if it is in the image and in the buffer.
    fn place(&self, x: i64, y: i64) -> Option<usize> {
        let (x, y) = if self.has(x, y) {
            (x, y)
        } else if self.clamps && self.row_bytes > 0 && self.height > 0 {
            let inside = x.clamp(0, self.row_bytes - 1);
            let x = if inside == x {
                x
            } else {
                inside - inside.rem_euclid(self.texel) + x.rem_euclid(self.texel)
            };
            (x, y.clamp(0, self.height - 1))
        } else {
            return None;
        };
        let row = u64::try_from(y * self.step + self.first).ok()?;
        let at = self
            .start
            .checked_add(row.checked_mul(self.pitch)?)?
            .checked_add(u64::try_from(x).ok()?)?;
        usize::try_from(at).ok().filter(|at| *at < self.len)
    }

    /// The place of a row of so many bytes, if all of them are in the image and in the buffer.
    fn row(&self, y: i64, bytes: usize) -> Option<usize> {
        let last = self.left + bytes as i64 - 1;
        let (first, last) = (self.place(self.left, y)?, self.place(last, y)?);
        // Fewer are between clamped ends.
        (last.checked_sub(first)? + 1 == bytes).then_some(first)
    }
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
        let edges = (self.x.read(registers), self.y.read(registers));
        let (mut texels, surface) = self.reach.image(registers, memory)?;
        let rectangle = self.rectangle(edges, &texels, surface)?;
        if O::MEMORY {
            self.report(
                observer,
                (registers, memory),
                (&texels, surface),
                &rectangle,
            );
        }
        let rows = (rectangle.top..).take(self.height);
        if self.store {
            let from = data.read(registers)?;
            for (y, row) in rows.zip(from.chunks(self.pitch)) {
                let row = row.get(..self.width).unwrap_or(row);
                // Nothing outside is written.
                if let Some(at) = rectangle
                    .row(y, self.width)
                    .filter(|_| rectangle.has_row(y))
                {
                    texels.space.write(at, row);
                    continue;
                }
                for (x, byte) in (rectangle.left..).zip(row) {
                    if rectangle.has(x, y)
                        && let Some(at) = rectangle.place(x, y)
                    {
                        texels.space.write(at, &[*byte]);
                    }
                }
            }
        } else {
            let out = data.write(registers)?;
            for (y, row) in rows.zip(out.chunks_mut(self.pitch)) {
                let width = self.width.min(row.len());
                let row = row.get_mut(..width).unwrap_or_default();
                if let Some(at) = rectangle.row(y, self.width) {
                    texels.space.read(at, row);
                    continue;
                }
                for (x, byte) in (rectangle.left..).zip(row) {
                    *byte = 0;
                    if let Some(at) = rectangle.place(x, y) {
                        texels.space.read(at, std::slice::from_mut(byte));
                    }
                }
            }
        }
        Ok(())
    }

    fn rectangle(
        &self,
        (left, top): (i64, i64),
        texels: &Texels<'_>,
        surface: u32,
    ) -> Result<Rectangle, Box<Trap>> {
        let image = &texels.image;
        let Some((start, height)) = plane(image, self.plane) else {
            return Err(Trap::new(FaultKind::WrongSurface {
                surface,
                wanted: "an image with that plane",
            }));
        };
        // Interleaved U and V are texels of two bytes.
        let (texel, row_bytes) = if self.plane == 0 {
            let texel = image.format.bytes() as i64;
            (texel, i64::from(image.width) * texel)
        } else {
            (2, i64::from(image.width.next_multiple_of(2)))
        };
        let (step, first, height) = match self.rows {
            FieldRows::All => (1, 0, i64::from(height)),
            FieldRows::Top => (2, 0, i64::from(height.div_ceil(2))),
            FieldRows::Bottom => (2, 1, i64::from(height / 2)),
        };
        Ok(Rectangle {
            left,
            top,
            row_bytes,
            texel,
            height,
            first,
            step,
            start,
            pitch: u64::from(image.pitch),
            len: texels.space.len(),
            clamps: self.clamps,
        })
    }

    /// Reports each row to an observer.
    #[cold]
    fn report<O: Observer>(
        &self,
        observer: &mut O,
        (registers, memory): (&Registers, &Memory),
        (texels, surface): (&Texels<'_>, u32),
        rectangle: &Rectangle,
    ) {
        let left = rectangle.left;
        for (row, y) in (rectangle.top..).take(self.height).enumerate() {
            let clipped = left.max(0)..rectangle.row_bytes.min(left + self.width as i64);
            let bytes = usize::try_from(clipped.end - clipped.start).unwrap_or(0);
            let inside = bytes > 0 && rectangle.has_row(y);
            let at = rectangle.place(if inside { clipped.start } else { left }, y);
            let skipped = usize::try_from(clipped.start - left).unwrap_or(0);
            let whole = self.data.as_ref().and_then(Data::place);
            let whole = whole.map(|d| d + row * self.pitch + skipped);
            let access = MemoryAccess {
                extent: texels.extent(memory),
                texel: true,
                data: in_register(whole.filter(|_| inside), bytes),
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
}
