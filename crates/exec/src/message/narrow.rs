//! Loads and stores of dwords at addresses of 32 bits, one for each of 8, 16 or 32 lanes: most accesses to shared local
//! memory and to surfaces. What [`LaneAccess`] does in general is done here with half of the vectors, if all enabled lanes
//! are inside of the storage; everything else, and all that is observed, is left to it.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::addresses::{GROUP, Width};
use super::lanes::LaneAccess;
use super::reach::Reach;
use super::unit::UnitKind;
use crate::lanes::simd::{Host, Kernel};
use crate::machine::Registers;
use crate::machine::file::{array, element, put};
use crate::memory::space::Space;
use crate::memory::target::Window;
use crate::memory::{Local, Memory};
use crate::operands::{Scalar, full};

/// Addresses of a group of lanes, or dwords at them.
type Dwords = [u32; GROUP];

/// The shape of an access that is narrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Narrow {
    /// Place of the addresses in the register file.
    addresses: usize,
    /// Place of the data operand in the register file.
    data: u32,
    /// Added to each address.
    add: u32,
    /// Bits of an address that count.
    mask: u32,
}

impl Narrow {
    /// The shape of an access, if it is narrow.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "compared, or of a sum modulo 2^32"
    )]
    pub(super) fn of(access: &LaneAccess) -> Option<Self> {
        let addresses = &access.addresses;
        let Scalar::Constant(scalar) = addresses.scalar else {
            return None;
        };
        let add = scalar
            .wrapping_mul(addresses.scalar_scale)
            .wrapping_add(addresses.add);
        let dwords = access.unit == UnitKind::D32 && access.lane_pitch == size_of::<u32>();
        let plain = addresses.width == Width::W32
            && addresses.scale == 1
            && addresses.pitch.is_none()
            && access.lanes.is_multiple_of(GROUP);
        let offsets = !matches!(access.reach, Reach::Flat | Reach::Arguments(_));
        // Sums do not need a bit more than the addresses have.
        let fits = addresses.mask <= u32::MAX.into() || add == 0;
        let data = access.data.as_ref()?.range()?;
        u32::try_from(data.end).ok()?;
        (dwords && plain && offsets && fits).then_some(Self {
            addresses: addresses.elements.place()?,
            data: data.start as u32,
            add: add as u32,
            mask: addresses.mask as u32,
        })
    }
}

impl LaneAccess {
    /// Runs a narrow access, and returns whether it did. If not, nothing has happened.
    #[inline]
    pub(super) fn run_narrow(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
    ) -> bool {
        let Some(narrow) = self.narrow else {
            return false;
        };
        if matches!(self.reach, Reach::Local) {
            let window = &mut Window::whole(local.slm());
            return self.run_on(narrow, registers, window, mask);
        }
        match self.reach.buffer(registers, memory) {
            Some(mut window) => self.run_on(narrow, registers, &mut window, mask),
            None => false,
        }
    }

    #[inline]
    fn run_on<S: Space>(
        &self,
        narrow: Narrow,
        registers: &mut Registers,
        window: &mut Window<S>,
        mask: u32,
    ) -> bool {
        let file = &mut registers.file;
        if mask == full(self.lanes) {
            registers.simd.run(Run::<_, true> {
                access: self,
                narrow,
                file,
                window,
                mask,
            })
        } else {
            registers.simd.run(Run::<_, false> {
                access: self,
                narrow,
                file,
                window,
                mask,
            })
        }
    }
}

/// `ALL` says that all lanes are enabled.
struct Run<'a, S, const ALL: bool> {
    access: &'a LaneAccess,
    narrow: Narrow,
    file: &'a mut [u8],
    window: &'a mut Window<S>,
    mask: u32,
}

impl<S: Space, const ALL: bool> Kernel for Run<'_, S, ALL> {
    type Output = bool;

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "places in the data operand, whose end fits"
    )]
    fn run<H: Host>(self, _: H) -> bool {
        let Self {
            access,
            narrow,
            file,
            window,
            mask,
        } = self;
        // Known to the compiler, which leaves out what is only done for some lanes.
        let mask = if ALL { u32::MAX } else { mask };
        let mut all = [[0; GROUP]; 4];
        let groups = &mut all[..(access.lanes / GROUP).min(4)];
        let (mut bits, mut last) = ([0; GROUP], [0; GROUP]);
        // Disabled lanes have the address of the first enabled one, so that what holds for all holds for those enabled.
        let first: u32 = element(file, narrow.addresses + mask.trailing_zeros() as usize * 4);
        for (number, group) in groups.iter_mut().enumerate() {
            let elements: Dwords = array(file, narrow.addresses + number * size_of::<Dwords>());
            let mask = mask >> (number * GROUP);
            for lane in 0..GROUP {
                let enabled = (mask >> lane & 1).wrapping_neg();
                let own = first ^ ((elements[lane] ^ first) & enabled);
                group[lane] = own.wrapping_add(narrow.add) & narrow.mask;
                bits[lane] |= group[lane];
                last[lane] = group[lane].max(last[lane]);
            }
        }
        let bits = bits.iter().fold(0, |all, bits| all | bits);
        let last = last.iter().fold(0, |all, last| *last.max(&all));
        let is_aligned = u64::from(bits) & access.addresses.align.saturating_sub(1) == 0;
        let room = window.bytes.checked_sub(access.span);
        if !is_aligned || room.is_none_or(|room| last as usize > room) {
            return false;
        }
        for part in &access.parts {
            let start = window.start + part.memory;
            let to = narrow.data + part.register as u32;
            for (number, group) in groups.iter().enumerate() {
                let data = to as usize + number * size_of::<Dwords>();
                let enabled = mask >> (number * GROUP) & full(GROUP);
                let first = start + group[0] as usize;
                let at = |address: u32| start + address as usize;
                let is_run = *group == dwords(|lane| group[0].wrapping_add(lane * 4));
                if access.store {
                    let dwords: Dwords = array(file, data);
                    if is_run && enabled == full(GROUP) {
                        window.space.set_element(first, dwords);
                    } else {
                        for lane in (0..GROUP).filter(|lane| enabled >> lane & 1 != 0) {
                            window.space.store32(at(group[lane]), dwords[lane]);
                        }
                    }
                    continue;
                }
                let dwords: Dwords = if is_run {
                    window.space.element(first)
                } else if *group == [group[0]; GROUP] {
                    [window.space.load32(first); GROUP]
                } else {
                    group.map(|address| window.space.load32(at(address)))
                };
                put(file, to, number * GROUP, mask, &dwords);
            }
        }
        true
    }
}

/// A dword for each lane.
#[cfg_attr(not(debug_assertions), inline(always))]
fn dwords(of: impl Fn(u32) -> u32) -> Dwords {
    let mut dwords = [0; GROUP];
    for (lane, dword) in (0..).zip(&mut dwords) {
        *dword = of(lane);
    }
    dwords
}
