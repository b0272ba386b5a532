//! The register file of a thread, and how operands read and write it.

#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_lossless,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::Aligned;
use super::file::{array, element, set_element};
use crate::fault::{FaultKind, Outcome, Trap};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::exact::{self, Narrow};
use crate::lanes::mode::FloatMode;
use crate::lanes::simd::{Host, Kernel, Simd};
use crate::operands::{
    Combine, Destination, Extension, Flag, Modify, Precision, Region, Scalar, Source, Target,
    extend, full,
};
use bytemuck::Pod;
use half::{bf16, f16};
use std::ops::Range;
use std::sync::Arc;
use visakit_isa::DataType;

/// The register file of a thread: every variable at its place, little-endian.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    /// The bytes.
    pub(crate) file: Aligned,
    /// The mode set by `%cr0`.
    pub(crate) mode: FloatMode,
    /// Variables that indirect operands may reach, ascending.
    pub(crate) taken: Arc<[Range<usize>]>,
    /// Whether reads by an address outside of them return 0 instead of a fault.
    pub(crate) stray_reads: bool,
    /// The capabilities of the host.
    pub(crate) simd: Simd,
}

impl Registers {
    /// Bytes of the file; `None` outside of it.
    #[inline]
    pub(crate) fn bytes(&self, offset: usize, size: usize) -> Option<&[u8]> {
        self.file.get(offset..offset.checked_add(size)?)
    }

    /// Bytes of the file, to be written; `None` outside of it.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, offset: usize, size: usize) -> Option<&mut [u8]> {
        self.file.get_mut(offset..offset.checked_add(size)?)
    }

    /// A 32-bit word, 0 outside of the file.
    #[inline]
    pub(crate) fn read_u32(&self, offset: usize) -> u32 {
        self.element(offset)
    }

    /// Writes a 32-bit word; no effect outside the file.
    #[inline]
    pub(crate) fn write_u32(&mut self, offset: usize, value: u32) {
        self.set_element(offset, value);
    }

    /// An element, 0 outside of the file.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn element<E: Pod>(&self, offset: usize) -> E {
        element(&self.file, offset)
    }

    /// Writes an element; no effect outside the file.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_element<E: Pod>(&mut self, offset: usize, value: E) {
        set_element(&mut self.file, offset, value);
    }

    /// N consecutive elements. The file has a tail, so that reads of fixed width stay inside.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn array<E: Pod, const N: usize>(&self, offset: usize) -> [E; N] {
        array(&self.file, offset)
    }

    /// Place of an element that an address points at; `None` where that is inside of no variable.
    fn reached(&self, address: i64, size: usize) -> Option<usize> {
        let place = usize::try_from(address).ok()?;
        let after = self.taken.partition_point(|range| range.start <= place);
        let range = self.taken.get(after.checked_sub(1)?)?;
        (place.saturating_add(size) <= range.end).then_some(place)
    }

    /// Place of an element that an address points at, or a fault.
    fn pointed(&self, address: i64, size: usize, lane: usize) -> Result<usize, Box<Trap>> {
        self.reached(address, size).ok_or_else(|| {
            let address = u64::try_from(address).unwrap_or(0);
            Trap::at(FaultKind::IndirectOutOfBounds, lane as u8, address)
        })
    }

    /// An element that an address points at.
    fn pointed_element<E: Pod>(&self, address: i64, lane: usize) -> Result<E, Box<Trap>> {
        match self.reached(address, size_of::<E>()) {
            None if self.stray_reads => Ok(E::zeroed()),
            Some(place) => Ok(self.element(place)),
            None => self
                .pointed(address, size_of::<E>(), lane)
                .map(|place| self.element(place)),
        }
    }

    /// The value of a source in the lanes below `lanes`. Lanes above have any value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn load<C: Compute>(
        &self,
        source: &Source,
        lanes: usize,
        mask: u32,
    ) -> Result<[C; 32], Box<Trap>>
    where
        Registers: Sources<C>,
    {
        let mut values = match (&source.region, is_lane::<C>(source)) {
            (Region::Packed, true) => self.array(source.offset),
            (Region::Scalar, true) => [self.element(source.offset); 32],
            _ => {
                let mut values = [C::default(); 32];
                self.load_any(source, &mut values[..lanes.min(32)], mask)?;
                values
            }
        };
        if source.modify != Modify::None {
            source.modify.apply(&mut values);
        }
        Ok(values)
    }

    /// Collects the elements of a source of any shape, one after the other.
    fn collect<E: Pod>(&self, source: &Source, elements: &mut [E], mask: u32) -> Outcome {
        let enabled = |lane: usize| mask >> lane & 1 != 0;
        match &source.region {
            Region::Scalar => elements.fill(self.element(source.offset)),
            Region::Packed => {
                let to: &mut [u8] = bytemuck::cast_slice_mut(elements);
                if let Some(bytes) = self.bytes(source.offset, to.len()) {
                    to.copy_from_slice(bytes);
                }
            }
            Region::Strided(stride) => {
                let stride = usize::from(*stride);
                for (lane, element) in elements.iter_mut().enumerate() {
                    *element = self.element(source.offset + lane * stride);
                }
            }
            Region::Offsets(offsets) => {
                for (element, offset) in elements.iter_mut().zip(offsets.iter()) {
                    *element = self.element(source.offset + usize::from(*offset));
                }
            }
            Region::Indirect { .. } | Region::Rows { .. } => {
                for (lane, element) in elements.iter_mut().enumerate() {
                    if enabled(lane) {
                        let place = source.place(lane, &self.file);
                        let address = place.map_or(-1, |place| place as i64);
                        *element = self.pointed_element(address, lane)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the enabled lanes of at most 32 values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn store<C: Compute>(
        &mut self,
        destination: &Destination,
        values: &[C],
        mask: u32,
    ) -> Outcome
    where
        Registers: Destinations<C>,
    {
        if is_element::<C>(destination)
            && destination.target == Target::Packed
            && mask & full(values.len()) == full(values.len())
        {
            let bytes = bytemuck::cast_slice(values);
            if let Some(to) = self.bytes_mut(destination.offset, bytes.len()) {
                to.copy_from_slice(bytes);
            }
            return Ok(());
        }
        self.store_any(destination, values, mask)
    }

    /// Writes the enabled elements to any target.
    fn spread<E: Pod>(&mut self, destination: &Destination, elements: &[E], mask: u32) -> Outcome {
        let size = size_of::<E>();
        let enabled = |lane: usize| mask >> lane & 1 != 0;
        let (base, stride) = match destination.target {
            Target::Null => return Ok(()),
            Target::Packed => {
                let all = full(elements.len());
                if mask & all == all {
                    let bytes = bytemuck::cast_slice(elements);
                    if let Some(to) = self.bytes_mut(destination.offset, bytes.len()) {
                        to.copy_from_slice(bytes);
                    }
                    return Ok(());
                }
                (destination.offset, size)
            }
            Target::Strided(stride) => (destination.offset, usize::from(stride)),
            Target::Indirect { immediate, stride } => {
                let address: u16 = self.element(destination.offset);
                let base = i64::from(address) + i64::from(immediate);
                let stride = usize::from(stride);
                // Nothing is written if any lane is outside.
                for lane in (0..elements.len()).filter(|lane| enabled(*lane)) {
                    self.pointed(base + (lane * stride) as i64, size, lane)?;
                }
                for (lane, element) in elements.iter().enumerate().filter(|(l, _)| enabled(*l)) {
                    let place = base + (lane * stride) as i64;
                    self.set_element(usize::try_from(place).unwrap_or(usize::MAX), *element);
                }
                return Ok(());
            }
        };
        for (lane, element) in elements.iter().enumerate() {
            if enabled(lane) {
                self.set_element(base + lane * stride, *element);
            }
        }
        Ok(())
    }

    /// Reads elements of any shape and converts them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn gather<E: Element + Convert<C>, C: Compute>(
        &self,
        source: &Source,
        values: &mut [C],
        mask: u32,
    ) -> Outcome {
        if source.region == Region::Scalar {
            values.fill(self.element::<E>(source.offset).convert());
            return Ok(());
        }
        let mut elements = [E::zeroed(); 32];
        let elements = &mut elements[..values.len().min(32)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(elements);
        match E::SIZE {
            1 => self.collect::<u8>(source, bytes, mask)?,
            2 => self.collect::<[u8; 2]>(source, bytemuck::cast_slice_mut(bytes), mask)?,
            4 => self.collect::<[u8; 4]>(source, bytemuck::cast_slice_mut(bytes), mask)?,
            _ => self.collect::<[u8; 8]>(source, bytemuck::cast_slice_mut(bytes), mask)?,
        }
        self.simd.run(ConvertLanes {
            from: elements,
            to: values,
        });
        Ok(())
    }

    /// Converts lanes to elements and writes the enabled ones.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn scatter<C: Compute + Convert<E>, E: Element>(
        &mut self,
        destination: &Destination,
        values: &[C],
        mask: u32,
    ) -> Outcome {
        let mut elements = [E::zeroed(); 32];
        let elements = &mut elements[..values.len().min(32)];
        if destination.saturate {
            for (to, from) in elements.iter_mut().zip(values) {
                *to = match E::RANGE {
                    Some((low, high)) => E::from_int(from.saturate_int(low, high)),
                    None => E::from_unit(from.saturate_float()),
                };
            }
        } else {
            self.simd.run(ConvertLanes {
                from: values,
                to: elements,
            });
        }
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        match E::SIZE {
            1 => self.spread::<u8>(destination, bytes, mask),
            2 => self.spread::<[u8; 2]>(destination, bytemuck::cast_slice(bytes), mask),
            4 => self.spread::<[u8; 4]>(destination, bytemuck::cast_slice(bytes), mask),
            _ => self.spread::<[u8; 8]>(destination, bytemuck::cast_slice(bytes), mask),
        }
    }

    /// The value of a source as doubles, with its modifier.
    pub(crate) fn load_exact(&self, source: &Source, values: &mut [f64], mask: u32) -> Outcome {
        self.load_any(source, values, mask)?;
        source.modify.apply(values);
        Ok(())
    }

    /// The value of a source as integers, with its modifier.
    pub(crate) fn load_integers(&self, source: &Source, values: &mut [i128], mask: u32) -> Outcome {
        self.load_any(source, values, mask)?;
        source.modify.apply(values);
        Ok(())
    }
}

/// Converts each of some values.
struct ConvertLanes<'a, S, D> {
    from: &'a [S],
    to: &'a mut [D],
}

impl<S: Pod + Convert<D>, D> Kernel for ConvertLanes<'_, S, D> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, _: H) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = from.convert();
        }
    }
}

impl Modify {
    /// Changes values that were read.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn apply<C: Compute>(self, values: &mut [C]) {
        for value in values {
            *value = match self {
                Modify::None => *value,
                Modify::Neg => value.neg(),
                Modify::Abs => value.abs(),
                Modify::NegAbs => value.abs().neg(),
                Modify::Not => value.not(),
            };
        }
    }
}

/// Whether the elements of a source can be used as lanes unchanged.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_lane<C: Compute>(source: &Source) -> bool {
    // A constant is stored in 64 bits, extended by the signedness of its own type. If it is read with
    // another signedness, it is extended again.
    let extended = match source.constant {
        Some(Extension::Sign) => source.data_type.is_signed(),
        Some(Extension::Zero) => !source.data_type.is_signed(),
        None => false,
    };
    C::is(source.data_type)
        || extended && !source.data_type.is_float() && !C::FLOAT && size_of::<C>() <= 8
}

/// Whether lanes can be stored as elements of a destination unchanged. The sign of an integer makes no
/// difference.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_element<D: Compute>(destination: &Destination) -> bool {
    let data_type = destination.data_type;
    let size = usize::from(data_type.size());
    !destination.saturate
        && (D::is(data_type) || !D::FLOAT && !data_type.is_float() && size == size_of::<D>())
}

/// Reading sources of every type into lanes of one type.
pub(crate) trait Sources<C: Compute> {
    /// At most 32 lanes, without the modifier.
    fn load_any(&self, source: &Source, values: &mut [C], mask: u32) -> Outcome;
}

/// Writing lanes of one type to destinations of every type.
pub(crate) trait Destinations<C: Compute> {
    /// At most 32 lanes.
    fn store_any(&mut self, destination: &Destination, values: &[C], mask: u32) -> Outcome;
}

macro_rules! all_types {
    ($data_type:expr, $ty:ident => $body:expr) => {
        match $data_type {
            DataType::Ud | DataType::Uv | DataType::V => {
                type $ty = u32;
                $body
            }
            DataType::D => {
                type $ty = i32;
                $body
            }
            DataType::Uw => {
                type $ty = u16;
                $body
            }
            DataType::W => {
                type $ty = i16;
                $body
            }
            // Translation rejects computations with the floats of 4.2.
            DataType::Ub | DataType::Bool | DataType::Hf8 | DataType::Bf8 | DataType::E2m1 => {
                type $ty = u8;
                $body
            }
            DataType::B => {
                type $ty = i8;
                $body
            }
            DataType::Uq => {
                type $ty = u64;
                $body
            }
            DataType::Q => {
                type $ty = i64;
                $body
            }
            DataType::F | DataType::Vf | DataType::Tf32 => {
                type $ty = f32;
                $body
            }
            DataType::Df => {
                type $ty = f64;
                $body
            }
            DataType::Hf => {
                type $ty = f16;
                $body
            }
            DataType::Bf => {
                type $ty = bf16;
                $body
            }
        }
    };
}

macro_rules! sources_and_destinations {
    ($($ty:ty),*) => {$(
        impl Sources<$ty> for Registers {
            #[inline(never)]
            fn load_any(&self, source: &Source, values: &mut [$ty], mask: u32) -> Outcome {
                all_types!(source.data_type, E => self.gather::<E, $ty>(source, values, mask))
            }
        }
        impl Destinations<$ty> for Registers {
            #[inline(never)]
            fn store_any(&mut self, destination: &Destination, values: &[$ty], mask: u32) -> Outcome {
                // Results in their own format are the same in any mode.
                let converted = !is_element::<$ty>(destination);
                if <$ty as Compute>::FLOAT && self.mode.is_slow() && converted {
                    let exact: [f64; 32] = std::array::from_fn(|lane| {
                        values.get(lane).map_or(0.0, |v| (*v).convert())
                    });
                    let count = values.len().min(32);
                    return self.store_exact(destination, &exact[..count], mask);
                }
                all_types!(destination.data_type, E => self.scatter::<$ty, E>(destination, values, mask))
            }
        }
    )*};
}

sources_and_destinations!(u8, u16, u32, i32, u64, i64, i128, f32, f64);

impl Registers {
    /// Writes floats that are already rounded to a format, in the mode of the thread.
    pub(crate) fn store_rounded(
        &mut self,
        destination: &Destination,
        precision: Precision,
        values: &[f64],
        mask: u32,
    ) -> Outcome {
        match precision {
            Precision::Double if is_element::<f64>(destination) => {
                self.store(destination, values, mask)
            }
            Precision::Float if is_element::<f32>(destination) => {
                let mut singles = [0.0; 32];
                let singles = &mut singles[..values.len().min(32)];
                self.simd.run(ConvertLanes {
                    from: values,
                    to: &mut *singles,
                });
                self.store::<f32>(destination, singles, mask)
            }
            _ => self.store_exact(destination, values, mask),
        }
    }

    /// Writes floats in the mode of the thread. The values are exact or rounded to odd, so that one more
    /// rounding gives the result.
    pub(crate) fn store_exact(
        &mut self,
        destination: &Destination,
        values: &[f64],
        mask: u32,
    ) -> Outcome {
        let mode = self.mode;
        let rounding = mode.rounding;
        let narrow = match destination.data_type {
            DataType::Hf => Some((Narrow::HALF, mode.flush_hf)),
            DataType::Bf => Some((Narrow::BFLOAT, mode.flush_f)),
            DataType::F => Some((Narrow::FLOAT, mode.flush_f)),
            _ => None,
        };
        let mut rounded = [0.0; 32];
        for (to, from) in rounded.iter_mut().zip(values) {
            *to = match (narrow, destination.data_type) {
                (Some((narrow, flush)), _) => narrow.round(*from, rounding, flush),
                (None, DataType::Df) if mode.flush_df => exact::flush_double(*from),
                (None, DataType::Df) => *from,
                (None, _) if mode.round_to_int => exact::to_integral(*from, rounding),
                (None, _) => *from,
            };
        }
        let rounded = &rounded[..values.len().min(32)];
        all_types!(destination.data_type, E => self.scatter::<f64, E>(destination, rounded, mask))
    }

    /// Writes integers to a float destination in the mode of the thread.
    pub(crate) fn store_integers(
        &mut self,
        destination: &Destination,
        values: &[i128],
        mask: u32,
    ) -> Outcome {
        let rounding = self.mode.rounding;
        let mut exact = [0.0; 32];
        for (to, from) in exact.iter_mut().zip(values) {
            *to = match i64::try_from(*from) {
                // The host has no instruction for 128 bits.
                Ok(small) if small.unsigned_abs() < 1 << 53 => small as f64,
                _ if destination.data_type == DataType::Df => exact::int_to_double(*from, rounding),
                _ => exact::int_to_odd(*from),
            };
        }
        self.store_exact(destination, &exact[..values.len().min(32)], mask)
    }
}

impl Flag {
    /// The whole word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn word(&self, file: &[u8]) -> u32 {
        element(file, self.offset as usize)
    }

    /// The lanes that it enables.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn read(&self, file: &[u8]) -> u32 {
        let word = self.word(file);
        let set = match self.combine {
            Combine::PerLane => (word >> self.first) & self.window,
            Combine::Any if word & self.tested != 0 => self.window,
            Combine::All if word & self.tested == self.tested => self.window,
            Combine::Any | Combine::All => 0,
        };
        if self.invert { !set & self.window } else { set }
    }

    /// Writes the enabled lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn write(&self, file: &mut [u8], bits: u32, mask: u32) {
        let mask = (mask & self.window) << self.first;
        let old = self.word(file);
        let new = old & !mask | (bits << self.first) & mask;
        set_element(file, self.offset as usize, new);
    }
}

impl Scalar {
    /// The value, sign- or zero-extended by its type to 64 bits; floats as their bits.
    /// Outside of the register file it reads zero.
    pub(crate) fn read(&self, registers: &Registers) -> u64 {
        let (offset, data_type) = match *self {
            Self::Constant(value) => return value,
            Self::Register { offset, data_type } => (offset, data_type),
            Self::Indirect {
                address,
                offset,
                data_type,
            } => {
                let base = registers.read_u32(address) & 0xffff;
                let place = i64::from(base) + i64::from(offset);
                (usize::try_from(place).unwrap_or(usize::MAX), data_type)
            }
        };
        let size = usize::from(data_type.size());
        let bytes = offset
            .checked_add(size)
            .and_then(|end| registers.file.get(offset..end));
        let mut word = [0u8; 8];
        let Some(bytes) = bytes else { return 0 };
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        extend(u64::from_le_bytes(word), data_type)
    }
}
