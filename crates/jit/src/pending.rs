//! Stores of results that may turn out to be superfluous.
//!
//! The result of a step stays in a vector register, and is stored to the register file at once, so that code which reads
//! it from there need not care. Whether anybody does is known at the end of a segment: stores of values that were only
//! used from registers, and are not live any more, are removed then. Ways out of a segment, and into the interpreter,
//! store what registers hold of them at that point.

use crate::masks::flag_register;
use crate::pair::own_bytes;
use crate::vector::{Done, Writer};
use std::ops::Range;

/// A value in a register, not known to be needed in the register file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pending {
    /// Its number among [`Writer::stores`].
    pub(crate) store: usize,
    pub(crate) register: Holder,
    /// Its place in the register file.
    pub(crate) bytes: Range<usize>,
}

/// Where such a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    /// In the vector register of this number.
    Vector(u32),
    /// In the register of this number of those that hold predicate variables.
    Flag(usize),
}

impl Holder {
    /// The vector register, as a bit of a mask.
    pub(crate) const fn vector(self) -> u32 {
        match self {
            Self::Vector(n) => 1 << n,
            Self::Flag(_) => 0,
        }
    }
}

/// The instructions that store a value: of two ways through a template each has its own.
#[derive(Clone, Debug)]
pub(crate) struct Stores {
    instructions: Vec<usize>,
    /// Whether they stay.
    needed: bool,
}

impl Stores {
    pub(crate) const fn is_needed(&self) -> bool {
        self.needed
    }

    pub(crate) const fn set_needed(&mut self) {
        self.needed = true;
    }
}

impl Writer {
    /// The last instruction, besides others, stored bytes of the file from a register.
    pub(crate) fn stored_by(&mut self, register: Holder, bytes: Range<usize>, stores: Vec<usize>) {
        if self.certain && !stores.is_empty() {
            self.wait_for_store(register, bytes, stores);
        }
    }

    /// The register file may not have what a register holds, unless these instructions stay.
    pub(crate) fn wait_for_store(
        &mut self,
        register: Holder,
        bytes: Range<usize>,
        stores: Vec<usize>,
    ) {
        self.kept.pending.push(Pending {
            store: self.stores.len(),
            register,
            bytes,
        });
        self.stores.push(Stores {
            instructions: stores,
            needed: false,
        });
    }

    /// The stores of some values stay where they are.
    fn need(&mut self, which: impl Fn(&Pending) -> bool) {
        let stores = &mut self.stores;
        self.kept.pending.retain(|pending| {
            let needed = which(pending);
            if needed && let Some(stores) = stores.get_mut(pending.store) {
                stores.needed = true;
            }
            !needed
        });
    }

    /// Bytes of the file are accessed there.
    pub(crate) fn need_bytes(&mut self, bytes: &Range<usize>) {
        self.need(|pending| meet(&pending.bytes, bytes));
    }

    /// A register gets another value.
    pub(crate) fn need_register(&mut self, register: Holder) {
        self.need(|pending| pending.register == register);
    }

    /// All registers that hold predicate variables get other values.
    pub(crate) fn need_flags(&mut self) {
        self.need(|pending| matches!(pending.register, Holder::Flag(_)));
    }

    /// Everything is accessed.
    pub(crate) fn need_all(&mut self) {
        self.need(|_| true);
    }

    /// What is live at a place is needed: code goes on there.
    pub(crate) fn need_live(&mut self, live: impl Fn(&Range<usize>) -> bool) {
        self.need(|pending| live(&pending.bytes));
    }

    /// Bytes of the file get other contents, in place of which nobody sees the ones before.
    pub(crate) fn replaced(&mut self, bytes: &Range<usize>) {
        let certain = self.certain;
        let covered = |own: &Range<usize>| bytes.start <= own.start && own.end <= bytes.end;
        self.need(|pending| meet(&pending.bytes, bytes) && !(certain && covered(&pending.bytes)));
        self.kept
            .pending
            .retain(|pending| !meet(&pending.bytes, bytes));
    }

    /// Values that are not live any more need not be stored, and their registers are free.
    pub(crate) fn retire(&mut self, live: impl Fn(&Range<usize>) -> bool) {
        let second = self.second();
        let contents = &mut self.kept.contents;
        self.kept.pending.retain(|pending| {
            // Predicates are not analysed; these are not live after the segment.
            let Holder::Vector(n) = pending.register else {
                return true;
            };
            let is_live = live(&own_bytes(&pending.bytes, second));
            if !is_live && let Some(content) = contents.get_mut(n as usize) {
                *content = None;
            }
            is_live
        });
    }

    /// What is pending, for a way that leaves from here. Detours before it load these registers again.
    pub(crate) fn pending(&mut self) -> Vec<Pending> {
        let all = self.kept.pending.clone();
        for pending in &all {
            if let Holder::Vector(n) = pending.register {
                self.uses(n);
            }
        }
        all
    }

    /// Stores values on a way out, unless that has happened on the way to it.
    pub(crate) fn store_pending(&mut self, all: &[Pending]) -> Done {
        for pending in all {
            let stores = self.stores.get(pending.store);
            if stores.is_some_and(|stores| !stores.needed) {
                let bytes = pending.bytes.clone();
                let to = self.place(bytes.start, bytes.len())?;
                match pending.register {
                    Holder::Vector(n) => self.store_bytes(to, n, bytes.len())?,
                    Holder::Flag(n) => {
                        self.asm.store(to, flag_register(n));
                        self.store_other_flag(bytes.start, n)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes the superfluous stores of the segment, which is complete.
    pub(crate) fn remove_stores(&mut self) {
        for stores in std::mem::take(&mut self.stores) {
            if !stores.needed {
                for instruction in stores.instructions {
                    self.asm.remove(instruction);
                }
            }
        }
    }
}

/// Whether ranges overlap.
pub(crate) fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
