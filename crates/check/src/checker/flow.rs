//! Definedness between registers and memory.

use super::messages::{Located, Reached};
use super::{Checker, Origin};
use crate::finding::Space;
use crate::shadow::low_bytes;
use visakit_exec::MemoryAccess;

impl Checker {
    /// Carries definedness between registers and memory.
    pub(super) fn move_definedness(&mut self, access: &MemoryAccess, located: &Located) {
        let (object, fresh, shadowed, structure, space) = match located.reached {
            Reached::Local => (None, true, true, false, Space::Local),
            Reached::Scratch => (None, true, true, false, Space::Private),
            Reached::Flat(index, _) => match self.objects.get(index) {
                Some(known) => (
                    Some(index),
                    known.is_private() || known.uninitialized,
                    known.is_private(),
                    known.structure,
                    known.space(),
                ),
                None => return,
            },
        };
        let fresh = fresh && self.checks.uninitialized;
        let flat = matches!(located.reached, Reached::Flat(..));
        let Some(Some(thread)) = self.group.threads.get_mut(self.current.1) else {
            return;
        };
        let pages = match located.reached {
            Reached::Local => &mut self.group.local,
            Reached::Scratch => &mut thread.scratch,
            Reached::Flat(..) if shadowed => &mut self.group.private,
            Reached::Flat(..) => &mut self.flat,
        };
        // A buffer that is defined, and into which nobody has written anything else.
        let plain = flat && !fresh && pages.is_empty();
        let mut unwritten = None;
        let mut output = None;
        let mut done = 0;
        let total = located.inside.min(access.bytes as usize);
        if access.read
            && let Some(data) = access.data
        {
            if located.inside >= access.bytes as usize {
                thread.shadow.define(data.whole, data.whole_bytes);
            }
            while done < total && !plain {
                let count = (total - done).min(8);
                let (bits, origin) = pages.element(located.address + done as u64, count, fresh);
                if bits != 0 {
                    thread
                        .shadow
                        .set_element(data.offset + done, count, bits, origin);
                    if origin == 0 {
                        unwritten = unwritten.or(Some((data.offset + done, count)));
                    }
                }
                done += count;
            }
        }
        done = 0;
        if access.atomic {
            let mut bits = 0;
            for at in access.operands.iter().flatten() {
                let part = thread.shadow.element(*at, total.min(8));
                if part != 0 {
                    let origin = thread.shadow.origin(*at, total.min(8));
                    output = output.or(Some((*at, origin)));
                    bits |= part;
                }
            }
            if shadowed {
                let origin = output.map_or(0, |(_, origin)| origin);
                output = None;
                let (before, from) = pages.element(located.address, total.min(8), fresh);
                let keeps = !access.overwrites && before != 0;
                let (bits, origin) = if keeps {
                    (before | bits, from)
                } else {
                    (bits, origin)
                };
                pages.set(located.address, total.min(8), bits, origin, fresh);
            } else if fresh && access.overwrites {
                pages.set(located.address, total.min(8), 0, 0, fresh);
            }
        } else if access.write && access.texel && access.data.is_none() {
            for at in access.operands.iter().flatten() {
                if !thread.shadow.is_defined(*at, 4) {
                    output = output.or(Some((*at, thread.shadow.origin(*at, 4))));
                }
            }
        } else if access.write
            && let Some(data) = access.data
        {
            while done < total {
                let count = (total - done).min(8);
                let at = data.offset + done;
                let mut bits = thread.shadow.element(at, count);
                let address = located.address + done as u64;
                if bits == 0 {
                    if !plain {
                        pages.set(address, count, 0, 0, fresh);
                    }
                    done += count;
                    continue;
                }
                let origin = thread.shadow.origin(at, count);
                let filler = object
                    .and_then(|o| self.objects.get(o))
                    .is_some_and(|k| k.is_filler(address.wrapping_sub(k.object.address)));
                if !(shadowed || filler || structure && is_padding(bits, count)) {
                    output = output.or(Some((at, origin)));
                    bits = 0;
                }
                pages.set(address, count, bits, origin, fresh);
                done += count;
            }
        }
        if let Some((at, count)) = unwritten {
            let origin = self.intern(Origin::Memory(space, self.current.0, object));
            if let Some(Some(thread)) = self.group.threads.get_mut(self.current.1) {
                let bytes = count.max(total.min(access.bytes as usize));
                thread.shadow.set_origin(at, bytes, origin);
            }
        }
        if let Some((at, origin)) = output
            && (self.checks.uninitialized
                || matches!(self.origins.get(origin as usize), Some(Origin::Outside(..))))
        {
            self.undefined("an output", space, origin, access.lane, at);
        }
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
