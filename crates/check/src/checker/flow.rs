//! Definedness between registers and memory.

use super::messages::{Located, Reached};
use super::origins::{Origins, Unwritten};
use super::{Checker, Thread};
use crate::finding::Space;
use crate::objects::Known;
use crate::shadow::{OriginId, Pages, Shadow, Source, low_bytes};
use visakit_exec::MemoryAccess;

/// Memory that an access reaches, and what is known about it.
struct Reach<'a> {
    pages: &'a mut Pages,
    origins: &'a mut Origins,
    known: Option<&'a Known>,
    /// Bytes that nobody has written are undefined.
    fresh: bool,
    /// Undefined bits may be written to it.
    shadowed: bool,
    from: Unwritten,
    /// First byte.
    address: u64,
    /// Bytes of the access that are inside.
    bytes: usize,
}

/// Undefined bits that are written where they must not be: their place in the register file.
type Output = Option<(usize, OriginId)>;

/// The one to report of two.
fn worse(one: Output, other: Output) -> Output {
    match (one, other) {
        (Some((_, first)), Some((at, second))) if first.or(second) != first => Some((at, second)),
        (None, other) => other,
        (one, _) => one,
    }
}

impl Checker {
    /// Carries definedness between registers and memory.
    pub(super) fn move_definedness(&mut self, access: &MemoryAccess, located: &Located) {
        let (object, space) = match located.reached {
            Reached::Local => (None, Space::Local),
            Reached::Scratch => (None, Space::Private),
            Reached::Flat(index, _) => match self.objects.get(index) {
                Some(known) => (Some((index, known)), known.space()),
                None => return,
            },
        };
        let Some(Some(thread)) = self.group.threads.get_mut(self.current.1) else {
            return;
        };
        let known = object.map(|(_, known)| known);
        let own = known.is_none_or(Known::is_private);
        let fresh = own || known.is_some_and(|known| known.uninitialized);
        let Thread {
            shadow, scratch, ..
        } = thread;
        let mut reach = Reach {
            pages: match located.reached {
                Reached::Local => &mut self.group.local,
                Reached::Scratch => scratch,
                Reached::Flat(..) if own => &mut self.group.private,
                Reached::Flat(..) => &mut self.flat,
            },
            origins: &mut self.origins,
            known,
            fresh: fresh && self.checks.uninitialized,
            shadowed: own,
            from: Unwritten {
                space,
                step: self.current.0,
                object: object.map(|(index, _)| index),
            },
            address: located.address,
            bytes: located.inside.min(access.bytes as usize),
        };
        let output = if reach.is_plain() && !access.write {
            if let Some(data) = access.data.filter(|_| reach.bytes == access.bytes as usize) {
                shadow.define(data.whole, data.whole_bytes);
            }
            None
        } else {
            reach.transfer(access, shadow)
        };
        if let Some((at, origin)) = output {
            self.undefined("an output", origin, access.lane, at);
        }
    }
}

impl Reach<'_> {
    /// Whether it is a buffer that is defined, and into which nobody has written anything else.
    fn is_plain(&self) -> bool {
        self.known.is_some() && !self.fresh && self.pages.is_empty()
    }

    fn transfer(&mut self, access: &MemoryAccess, shadow: &mut Shadow) -> Output {
        if access.read {
            self.load(access, shadow);
        }
        if access.atomic {
            self.change(access, shadow)
        } else if access.write {
            self.store(access, shadow)
        } else {
            None
        }
    }

    /// Undefined bits of a byte, and their origin.
    fn byte(&mut self, number: usize) -> (u64, OriginId) {
        let address = self.address + number as u64;
        let (bits, origin) = self.pages.element(address, 1, self.fresh);
        if bits == 0 || origin != OriginId::ITSELF {
            return (bits, origin);
        }
        let place = OriginId::memory(self.from.step, address).filter(|_| self.known.is_some());
        (
            bits,
            place.unwrap_or_else(|| self.origins.unwritten(self.from)),
        )
    }

    fn load(&mut self, access: &MemoryAccess, shadow: &mut Shadow) {
        let whole = self.bytes == access.bytes as usize;
        if let Some(data) = access.data.filter(|_| whole) {
            shadow.define(data.whole, data.whole_bytes);
        }
        for done in (0..self.bytes).step_by(8) {
            let count = (self.bytes - done).min(8);
            let address = self.address + done as u64;
            if self.pages.element(address, count, self.fresh).0 == 0 {
                continue;
            }
            for number in done..done + count {
                let (bits, origin) = self.byte(number);
                if bits == 0 {
                    continue;
                }
                if let Some(data) = access.data {
                    shadow.set_element(data.offset + number, 1, bits, origin);
                } else if access.texel && !access.atomic {
                    // Channels are converted.
                    for at in access.operands.iter().flatten() {
                        let bytes = access.element as usize;
                        shadow.set_element(*at, bytes, u64::MAX, origin.changed());
                    }
                }
            }
        }
    }

    /// An atomic operation.
    fn change(&mut self, access: &MemoryAccess, shadow: &Shadow) -> Output {
        let size = self.bytes.min(8);
        let (mut bits, mut output) = (0, None);
        for at in access.operands.iter().flatten() {
            let part = shadow.element(*at, size);
            if part != 0 {
                output = worse(output, Some((*at, shadow.origin(*at, size))));
                bits |= part;
            }
        }
        if !self.shadowed {
            // The result depends on what was there: if nobody uses it, memory still does.
            let before = (0..size)
                .map(|byte| self.byte(byte))
                .find(|(bits, _)| *bits != 0);
            let kept = before.filter(|_| self.fresh && !access.overwrites && access.data.is_none());
            if self.fresh && (access.overwrites || kept.is_some()) {
                self.pages
                    .set(self.address, size, 0, OriginId::ITSELF, self.fresh);
            }
            return worse(output, kept.map(|(_, origin)| (0, origin)));
        }
        let origin = output.map_or(OriginId::ITSELF, |(_, origin)| origin);
        let (before, from) = self.pages.element(self.address, size, self.fresh);
        let (bits, origin) = if !access.overwrites && before != 0 {
            (before | bits, from.or(origin))
        } else {
            (bits, origin)
        };
        self.pages
            .set(self.address, size, bits, origin.changed(), self.fresh);
        None
    }

    fn store(&mut self, access: &MemoryAccess, shadow: &Shadow) -> Output {
        let Some(data) = access.data else {
            let channels = access.operands.iter().flatten().filter(|_| access.texel);
            let wrong = channels.filter(|at| !shadow.is_defined(**at, 4));
            let wrong = wrong.map(|at| Some((*at, shadow.origin(*at, 4))));
            return wrong.fold(None, worse);
        };
        let plain = self.is_plain();
        if plain && shadow.is_defined(data.offset, self.bytes) {
            return None;
        }
        let mut output = None;
        for done in (0..self.bytes).step_by(8) {
            let count = (self.bytes - done).min(8);
            let (at, address) = (data.offset + done, self.address + done as u64);
            let bits = shadow.element(at, count);
            if bits == 0 {
                if !plain {
                    self.pages
                        .set(address, count, 0, OriginId::ITSELF, self.fresh);
                }
                continue;
            }
            let wrong = self.changed(bits, count, |byte| shadow.origin_of(at + byte), address);
            let filler = self
                .known
                .is_some_and(|k| k.is_filler(address.wrapping_sub(k.object.address)));
            let structure = self.known.is_some_and(|known| known.structure);
            let is_output =
                wrong != 0 && !(self.shadowed || filler || structure && is_padding(wrong, count));
            if is_output {
                output = worse(output, Some((at, shadow.origin(at, count))));
            }
            for byte in 0..count {
                let (bits, wrong) = (bits >> (8 * byte) & 0xff, wrong >> (8 * byte) & 0xff);
                let (bits, origin) = match (is_output, wrong) {
                    // It is reported once.
                    (true, _) => (bits & !wrong, OriginId::ITSELF),
                    (false, 0) => (bits, OriginId::ITSELF),
                    (false, _) => (bits, shadow.origin_of(at + byte)),
                };
                self.pages
                    .set(address + byte as u64, 1, bits, origin, self.fresh);
            }
        }
        output
    }

    /// Those undefined bits that memory does not have: what is written back to where it was read is no output.
    fn changed(
        &self,
        bits: u64,
        count: usize,
        origin: impl Fn(usize) -> OriginId,
        address: u64,
    ) -> u64 {
        let mut wrong = bits;
        for (byte, address) in (0..count).zip(address..) {
            let there = self.pages.element(address, 1, self.fresh).0;
            let back = matches!(
                origin(byte).source(),
                Source::Memory { address: from, unchanged: true, .. } if from == address
            );
            if back {
                wrong &= !(there << (8 * byte));
            }
        }
        wrong
    }
}

/// Some whole bytes of an element are undefined, but not all of any four bytes.
fn is_padding(bits: u64, bytes: usize) -> bool {
    (0..bytes.div_ceil(4)).all(|dword| {
        let size = (bytes - 4 * dword).min(4);
        let part = bits >> (32 * dword) & low_bytes(size);
        part != low_bytes(size)
    })
}
