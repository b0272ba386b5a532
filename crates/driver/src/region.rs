//! Boxes of bytes: parts of buffers, of images and of the host's memory that have rows and slices.

use crate::error::{Code, Result, ensure};
use crate::memory::Mem;
use opencl_sys as cl;
use visakit_host::Span;
use visakit_launch::ImageKind;

/// A box of bytes: where it starts, and how far its rows and slices are apart.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The memory.
    pub span: Span,
    /// The first byte of the box.
    pub start: usize,
    /// Bytes from a row to the next.
    pub row: usize,
    /// Bytes from a slice to the next.
    pub slice: usize,
}

/// Copies `size` (bytes of a row, rows, slices) from one box to another; `None` if it does not fit.
pub fn copy(to: &Piece, from: &Piece, size: [usize; 3]) -> Option<()> {
    let [bytes, rows, slices] = size;
    for z in 0..slices {
        for y in 0..rows {
            let at = |p: &Piece| {
                let down = y.checked_mul(p.row)?.checked_add(z.checked_mul(p.slice)?)?;
                p.start.checked_add(down)
            };
            to.span.copy_from(at(to)?, &from.span, at(from)?, bytes)?;
        }
    }
    Some(())
}

/// The last byte that a box has, plus one.
#[must_use]
pub fn extent(start: usize, row: usize, slice: usize, size: [usize; 3]) -> Option<usize> {
    let [bytes, rows, slices] = size;
    let down = row.checked_mul(rows.checked_sub(1)?)?;
    let deep = slice.checked_mul(slices.checked_sub(1)?)?;
    start
        .checked_add(down)?
        .checked_add(deep)?
        .checked_add(bytes)
}

/// How often a byte is copied at most, on the average, where rows reach into each other.
const MOST_TURNS: usize = 4;

/// Whether no row reaches into the next one, and no slice.
#[must_use]
pub const fn are_apart((row, slice): (usize, usize), size: [usize; 3]) -> bool {
    let [bytes, rows, _] = size;
    let pitch = if row == 0 { bytes } else { row };
    match pitch.checked_mul(rows) {
        Some(least) => pitch >= bytes && (slice == 0 || slice >= least),
        None => false,
    }
}

/// A box in memory that has rows and slices; pitches of zero are those of bytes that follow each other.
///
/// # Errors
/// `CL_INVALID_VALUE` for boxes without bytes, or of which rows reach so far into each other that copying them would take
/// much more time than their memory has bytes, and what `make` refuses.
pub fn boxed(
    origin: [usize; 3],
    (row, slice): (usize, usize),
    size: [usize; 3],
    make: impl FnOnce(usize) -> Result<Span>,
) -> Result<Piece> {
    let no = Code(cl::CL_INVALID_VALUE);
    ensure(!size.contains(&0), no.0)?;
    let row = if row == 0 { size[0] } else { row };
    let slice = if slice == 0 {
        row.checked_mul(size[1]).ok_or(no)?
    } else {
        slice
    };
    let start = || {
        let down = origin[1]
            .checked_mul(row)?
            .checked_add(origin[2].checked_mul(slice)?)?;
        down.checked_add(origin[0])
    };
    let start = start().ok_or(no)?;
    let end = extent(start, row, slice, size).ok_or(no)?;
    let total = size[0].checked_mul(size[1]).ok_or(no)?;
    let total = total.checked_mul(size[2]).ok_or(no)?;
    ensure(total / MOST_TURNS <= end, no.0)?;
    Ok(Piece {
        span: make(end)?,
        start,
        row,
        slice,
    })
}

/// The place of a part of an image in its bytes; `region` becomes a size in bytes, rows and slices.
///
/// # Errors
/// Parts that the image does not have.
pub fn of_image(mem: &Mem, origin: [usize; 3], region: [usize; 3]) -> Result<(Piece, [usize; 3])> {
    let shape = mem.shape.as_ref().ok_or(Code(cl::CL_INVALID_MEM_OBJECT))?;
    let most = shape.region();
    let fits = (0..3).all(|d| {
        let (o, r, m) = (origin.get(d), region.get(d), most.get(d));
        matches!((o, r, m), (Some(o), Some(r), Some(m)) if *r > 0 && o.checked_add(*r).is_some_and(|end| end <= *m))
    });
    ensure(fits, cl::CL_INVALID_VALUE)?;
    let texel = shape.format.bytes();
    let [row, slice] = shape.pitches;
    // The second number of an array of lines counts entries.
    let row = if shape.kind == ImageKind::Image1dArray {
        slice
    } else {
        row
    };
    let start = origin[0] * texel + origin[1] * row + origin[2] * slice;
    let size = [region[0] * texel, region[1], region[2]];
    Ok((
        Piece {
            span: mem.span(0, mem.size)?,
            start,
            row,
            slice,
        },
        size,
    ))
}

/// Whether boxes of a size have a byte in common.
#[must_use]
pub fn overlap(a: &Piece, b: &Piece, size: [usize; 3]) -> bool {
    let range = |p: &Piece| {
        let end = extent(p.start, p.row, p.slice, size).unwrap_or(usize::MAX);
        (p.start, end)
    };
    let ((a0, a1), (b0, b1)) = (range(a), range(b));
    if a.span.address() != b.span.address() || a1 <= b0 || b1 <= a0 {
        return false;
    }
    // Boxes may interleave: rows are examined.
    let rows = |p: &Piece| {
        let mut all = Vec::new();
        for z in 0..size[2] {
            for y in 0..size[1] {
                all.push(p.start + y * p.row + z * p.slice);
            }
        }
        all.sort_unstable();
        all
    };
    let (ours, theirs) = (rows(a), rows(b));
    let mut others = theirs.iter().peekable();
    ours.iter().any(|row| {
        while others.next_if(|o| **o + size[0] <= *row).is_some() {}
        others.peek().is_some_and(|o| **o < *row + size[0])
    })
}
