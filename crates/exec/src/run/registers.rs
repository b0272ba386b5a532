//! The register file of a thread, and how operands read and write it.

#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_lossless,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use crate::fault::{FaultKind, Outcome, Trap};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::exact::{self, Narrow, Rounding};
use crate::lanes::mode::FloatMode;
use crate::program::operand::{Destination, Modify, Shape, Source, Target};
use crate::run::simd::Simd;
use half::{bf16, f16};
use std::ops::Range;
use std::sync::Arc;
use visakit_isa::DataType;

/// The register file of a thread: every variable at its place, little-endian.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    /// The bytes.
    pub(crate) file: Vec<u8>,
    /// What `%cr0` says.
    pub(crate) mode: FloatMode,
    /// Variables that indirect operands may reach, ascending.
    pub(crate) taken: Arc<[Range<usize>]>,
    /// What the host can do.
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

    /// Writes a 32-bit word, nothing outside of the file.
    #[inline]
    pub(crate) fn write_u32(&mut self, offset: usize, value: u32) {
        self.set_element(offset, value);
    }

    /// An element, 0 outside of the file.
    #[inline(always)]
    pub(crate) fn element<E: bytemuck::Pod>(&self, offset: usize) -> E {
        match self.bytes(offset, size_of::<E>()) {
            Some(bytes) => bytemuck::pod_read_unaligned(bytes),
            None => E::zeroed(),
        }
    }

    /// Writes an element, nothing outside of the file.
    #[inline(always)]
    pub(crate) fn set_element<E: bytemuck::Pod>(&mut self, offset: usize, value: E) {
        if let Some(bytes) = self.bytes_mut(offset, size_of::<E>()) {
            bytes.copy_from_slice(bytemuck::bytes_of(&value));
        }
    }

    /// N consecutive elements. The file has a tail, so that reads of fixed width stay inside.
    #[inline(always)]
    fn array<E: bytemuck::Pod, const N: usize>(&self, offset: usize) -> [E; N] {
        match self.bytes(offset, size_of::<[E; N]>()) {
            Some(bytes) => bytemuck::pod_read_unaligned(bytes),
            None => [E::zeroed(); N],
        }
    }

    /// Place of an element that an address points at; checks that it is inside of a variable.
    fn pointed(&self, address: i64, size: usize, lane: usize) -> Result<usize, Box<Trap>> {
        let place = usize::try_from(address).unwrap_or(usize::MAX);
        let after = self.taken.partition_point(|range| range.start <= place);
        let inside = after
            .checked_sub(1)
            .and_then(|i| self.taken.get(i))
            .is_some_and(|range| place.saturating_add(size) <= range.end);
        if inside {
            return Ok(place);
        }
        let address = u64::try_from(address).unwrap_or(0);
        Err(Trap::at(
            FaultKind::IndirectOutOfBounds,
            lane as u8,
            address,
        ))
    }

    /// The value of a source in the lanes below `lanes`. Lanes above have any value.
    #[inline(always)]
    pub(crate) fn load<C: Compute, const N: usize>(
        &self,
        source: &Source,
        lanes: usize,
        mask: u32,
    ) -> Result<[C; N], Box<Trap>>
    where
        Registers: Sources<C>,
    {
        let mut values: [C; N];
        match (&source.shape, source.same) {
            (Shape::Packed, true) => values = self.array(source.offset),
            (Shape::Scalar, true) => values = [self.element(source.offset); N],
            _ => {
                values = [C::default(); N];
                self.load_any(source, &mut values[..lanes.min(N)], mask)?;
            }
        }
        match source.modify {
            Modify::None => {}
            Modify::Neg => values.iter_mut().for_each(|v| *v = v.neg()),
            Modify::Abs => values.iter_mut().for_each(|v| *v = v.abs()),
            Modify::NegAbs => values.iter_mut().for_each(|v| *v = v.abs().neg()),
            Modify::Not => values.iter_mut().for_each(|v| *v = v.not()),
        }
        Ok(values)
    }

    /// Reads elements of any shape and converts them.
    fn gather<E: Element + Convert<C>, C: Compute>(
        &self,
        source: &Source,
        values: &mut [C],
        mask: u32,
    ) -> Outcome {
        match &source.shape {
            Shape::Scalar => {
                let value = self.element::<E>(source.offset).convert();
                values.fill(value);
            }
            Shape::Packed => {
                let bytes = self
                    .bytes(source.offset, values.len() * E::SIZE)
                    .unwrap_or(&[]);
                for (value, element) in values.iter_mut().zip(bytes.chunks_exact(E::SIZE)) {
                    *value = bytemuck::pod_read_unaligned::<E>(element).convert();
                }
            }
            Shape::Strided(stride) => {
                let stride = usize::from(*stride).max(E::SIZE);
                let size = (values.len().saturating_sub(1)) * stride + E::SIZE;
                let bytes = self.bytes(source.offset, size).unwrap_or(&[]);
                for (value, chunk) in values.iter_mut().zip(bytes.chunks(stride)) {
                    if let Some(element) = chunk.get(..E::SIZE) {
                        *value = bytemuck::pod_read_unaligned::<E>(element).convert();
                    }
                }
            }
            Shape::Region(offsets) => {
                for (value, offset) in values.iter_mut().zip(offsets.iter()) {
                    let place = source.offset + usize::from(*offset);
                    *value = self.element::<E>(place).convert();
                }
            }
            Shape::Indirect { immediate, offsets } => {
                let base = i64::from(self.element::<u16>(source.offset)) + i64::from(*immediate);
                for (lane, (value, offset)) in values.iter_mut().zip(offsets.iter()).enumerate() {
                    if mask >> lane & 1 != 0 {
                        let place = self.pointed(base + i64::from(*offset), E::SIZE, lane)?;
                        *value = self.element::<E>(place).convert();
                    }
                }
            }
            Shape::Rows {
                immediate,
                width,
                stride,
            } => {
                let width = usize::from(*width).max(1);
                for (lane, value) in values.iter_mut().enumerate() {
                    if mask >> lane & 1 != 0 {
                        let row: u16 = self.element(source.offset + lane / width * 2);
                        let column = lane % width * usize::from(*stride);
                        let address = i64::from(row) + i64::from(*immediate) + column as i64;
                        let place = self.pointed(address, E::SIZE, lane)?;
                        *value = self.element::<E>(place).convert();
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the enabled lanes.
    #[inline(always)]
    pub(crate) fn store<C: Compute, const N: usize>(
        &mut self,
        destination: &Destination,
        lanes: usize,
        mask: u32,
        values: &[C; N],
    ) -> Outcome
    where
        Registers: Destinations<C>,
    {
        if destination.same && destination.target == Target::Packed && lanes == N {
            let size = size_of::<[C; N]>();
            let Some(bytes) = self.bytes_mut(destination.offset, size) else {
                return Ok(());
            };
            if mask == full(N) {
                bytes.copy_from_slice(bytemuck::bytes_of(values));
            } else {
                let mut old: [C; N] = bytemuck::pod_read_unaligned(bytes);
                for lane in 0..N {
                    if mask >> lane & 1 != 0 {
                        old[lane] = values[lane];
                    }
                }
                bytes.copy_from_slice(bytemuck::bytes_of(&old));
            }
            return Ok(());
        }
        let lanes = lanes.min(N);
        if destination.same && destination.target == Target::Packed && mask == full(lanes) {
            let bytes = bytemuck::cast_slice(&values[..lanes]);
            if let Some(to) = self.bytes_mut(destination.offset, bytes.len()) {
                to.copy_from_slice(bytes);
            }
            return Ok(());
        }
        self.store_any(destination, &values[..lanes], mask)
    }

    /// Converts lanes and writes them to any target.
    fn scatter<C: Compute + Convert<E>, E: Element>(
        &mut self,
        destination: &Destination,
        values: &[C],
        mask: u32,
    ) -> Outcome {
        let convert = |value: C| -> E {
            if !destination.saturate {
                return value.convert();
            }
            match E::RANGE {
                Some((low, high)) => E::from_int(value.saturate_int(low, high)),
                None => E::from_unit(value.saturate_float()),
            }
        };
        let (base, stride, indirect) = match destination.target {
            Target::Null => return Ok(()),
            Target::Packed => (destination.offset as i64, E::SIZE, false),
            Target::Strided(stride) => (destination.offset as i64, usize::from(stride), false),
            Target::Indirect { immediate, stride } => {
                let address: u16 = self.element(destination.offset);
                let base = i64::from(address) + i64::from(immediate);
                (base, usize::from(stride), true)
            }
        };
        if indirect {
            // Nothing is written if any lane is outside.
            for lane in (0..values.len()).filter(|lane| mask >> lane & 1 != 0) {
                self.pointed(base + (lane * stride) as i64, E::SIZE, lane)?;
            }
        }
        for (lane, value) in values.iter().enumerate() {
            if mask >> lane & 1 != 0 {
                let place = usize::try_from(base + (lane * stride) as i64).unwrap_or(usize::MAX);
                self.set_element(place, convert(*value));
            }
        }
        Ok(())
    }
}

/// The mask of `lanes` lanes.
#[inline(always)]
pub(crate) const fn full(lanes: usize) -> u32 {
    if lanes >= 32 {
        u32::MAX
    } else {
        (1 << lanes) - 1
    }
}

/// Reading sources of every type into lanes of one type.
pub(crate) trait Sources<C: Compute> {
    fn load_any(&self, source: &Source, values: &mut [C], mask: u32) -> Outcome;
}

/// Writing lanes of one type to destinations of every type.
pub(crate) trait Destinations<C: Compute> {
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
            DataType::Ub | DataType::Bool => {
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
            DataType::F | DataType::Vf => {
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
                if <$ty as Compute>::FLOAT && self.mode.is_slow() {
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
    /// Writes floats in the mode of the thread. The values are exact or rounded to odd, so that one
    /// more rounding gives the result.
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
            *to = match (destination.data_type, rounding) {
                (DataType::Df, _) => exact::int_to_double(*from, rounding),
                (_, Rounding::NearestEven) if from.unsigned_abs() < 1 << 53 => *from as f64,
                _ => exact::int_to_odd(*from),
            };
        }
        self.store_exact(destination, &exact[..values.len().min(32)], mask)
    }
}
