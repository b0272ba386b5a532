//! Messages to memory.
//!
//! A [`Message`] says which storage it accesses ([`reach`]), how the addresses of its lanes are computed ([`addresses`]) and
//! where its elements are in registers ([`data`]). `translate/message/` makes them from instructions.

pub(crate) mod addresses;
mod alone;
pub(crate) mod atomics;
pub(crate) mod block;
pub(crate) mod block2d;
pub(crate) mod data;
mod display;
pub(crate) mod lanes;
pub(crate) mod media;
mod narrow;
mod operands;
pub(crate) mod plain;
pub(crate) mod reach;
mod report;
pub(crate) mod status;
pub(crate) mod texture;
pub(crate) mod typed;
pub(crate) mod unit;

use crate::fault::Outcome;
use crate::machine::Registers;
use crate::memory::{Local, Memory};
use crate::observe::{Accesses, Observer, Told};
use plain::{LaneMessage, LaneSpace};
use reach::Reach;

/// A translated message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// An access for each lane.
    Lanes(Box<lanes::LaneAccess>),
    /// Consecutive bytes.
    Block(Box<block::BlockAccess>),
    /// A rectangle of an image.
    Media(Box<media::MediaAccess>),
    /// Rectangles of a surface that the message describes.
    Block2d(Box<block2d::Block2d>),
    /// An atomic operation for each lane.
    Atomic(Box<atomics::AtomicAccess>),
    /// Atomic operations on an append counter.
    Counter(Box<atomics::CounterAccess>),
    /// Which lanes have memory at their addresses.
    Status(Box<status::Status>),
    /// Texels for each lane.
    Typed(Box<typed::TypedAccess>),
    /// An atomic operation on a texel for each lane.
    TypedAtomic(Box<typed::TypedAtomic>),
    /// Which lanes have a texel.
    TypedStatus(Box<typed::TypedStatus>),
    /// A sampler message.
    Texture(Box<texture::Texture>),
    /// Orders accesses before and after it.
    Fence {
        /// Whether it orders accesses to shared local memory; global ones otherwise.
        local: bool,
        /// Whether other groups see that. Threads of a group take turns on one thread of the host, so that a fence
        /// within the group has nothing to do.
        beyond_group: bool,
    },
    /// No visible effect: control of caches and of compression.
    Nothing,
}

impl Message {
    /// As an access that compilers have code for.
    pub(crate) fn plain(&self) -> Option<LaneMessage> {
        self.plain_in(plain::space(self.reach()?)?)
    }

    /// As an access of that memory that compilers have code for.
    pub(crate) fn plain_in(&self, space: LaneSpace) -> Option<LaneMessage> {
        match self {
            Self::Lanes(m) => m.plain(space),
            Self::Atomic(m) => m.plain(space),
            _ => None,
        }
    }

    /// The memory that each lane reaches.
    pub(crate) const fn reach(&self) -> Option<&Reach> {
        match self {
            Self::Lanes(m) => Some(&m.reach),
            Self::Atomic(m) => Some(&m.reach),
            Self::Block(m) => Some(&m.reach),
            _ => None,
        }
    }

    /// A one-word description.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Lanes(m) => match (&m.data, m.store) {
                (None, _) => "prefetch",
                (_, true) => "store",
                (_, false) => "load",
            },
            Self::Block(_) => "block",
            Self::Media(_) => "media",
            Self::Block2d(_) => "block2d",
            Self::Atomic(_) => "atomic",
            Self::Counter(_) => "counter",
            Self::Status(_) => "status",
            Self::Typed(_) => "typed",
            Self::TypedAtomic(_) => "typed_atomic",
            Self::TypedStatus(_) => "typed_status",
            Self::Texture(_) => "texture",
            Self::Fence { .. } => "fence",
            Self::Nothing => "nothing",
        }
    }

    /// Runs the message and tells an observer what it accesses: see [`Message::run`].
    #[inline(never)]
    pub(crate) fn run_observed(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
        observer: &mut dyn Accesses,
    ) -> Outcome {
        self.run(registers, local, memory, mask, &mut Told(observer))
    }

    /// Runs the message. Bit i of `mask` enables lane i of the instruction (its first lane is bit 0
    /// whatever its mask offset); the bits above the execution size are zero.
    #[inline]
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        local: &mut Local<'_>,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        match self {
            Self::Lanes(m) => m.run(registers, local, memory, mask, observer),
            // Block messages work without lanes.
            Self::Block(m) => m.run(registers, local, memory, observer),
            Self::Media(m) => m.run(registers, memory, observer),
            Self::Block2d(m) if mask != 0 => m.run(registers, memory, observer),
            Self::Block2d(_) | Self::Nothing => Ok(()),
            Self::Atomic(m) => m.run(registers, local, memory, mask, observer),
            Self::Counter(m) => m.run(registers, memory, mask, observer),
            Self::Status(m) => m.run(registers, local, memory, mask),
            Self::Typed(m) => m.run(registers, memory, mask, observer),
            Self::TypedAtomic(m) => m.run(registers, memory, mask, observer),
            Self::TypedStatus(m) => m.run(registers, memory, mask),
            Self::Texture(m) => m.run(registers, memory, mask, observer),
            Self::Fence { beyond_group, .. } => {
                if *beyond_group {
                    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                }
                Ok(())
            }
        }
    }
}
