//! Instructions that send messages to memory.
//!
//! [`translate`] makes a [`Message`] of an instruction: which storage it reaches ([`reach`]), how
//! the addresses of its lanes are computed ([`addresses`]) and where its elements are in registers. What
//! the written definitions leave open and how it is resolved is told in `docs/memory-messages.md`.

mod addresses;
mod atomics;
mod block;
mod dataport;
mod fields;
mod lanes;
mod lsc;
mod reach;
mod sampling;
mod status;
#[cfg(test)]
mod tests;
mod texture;
mod typed;
mod unit;

use crate::fault::{Outcome, Unsupported};
use crate::memory::{Local, Memory};
use crate::observe::Observer;
use crate::program::Context;
use crate::run::Registers;
use fields::Fields;
use visakit_isa::{Instruction, Op};

/// A translated message.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// An access for each lane.
    Lanes(Box<lanes::LaneAccess>),
    /// Consecutive bytes.
    Block(Box<block::BlockAccess>),
    /// A rectangle of an image.
    Media(Box<block::MediaAccess>),
    /// Rectangles of a surface that the message describes.
    Block2d(Box<block::Block2d>),
    /// An atomic operation for each lane.
    Atomic(Box<atomics::AtomicAccess>),
    /// Atomic operations on an append counter.
    Counter(Box<atomics::CounterAccess>),
    /// Which lanes have memory behind their addresses.
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
    Fence,
    /// Nothing that can be seen: control of caches and of compression.
    Nothing,
}

/// Translates a message.
///
/// # Errors
/// Instructions that are no memory message, that need hardware that is not modelled, or that have
/// field values without a meaning.
pub(crate) fn translate(
    instruction: &Instruction,
    cx: &Context<'_>,
) -> Result<Message, Unsupported> {
    let f = Fields { instruction, cx };
    if let Some((op, sources)) = lsc::lsc_atomic(instruction.op) {
        return match instruction.op {
            Op::LSC_APNDCTR_ATOMIC_ADD | Op::LSC_APNDCTR_ATOMIC_SUB => f.lsc_counter(op),
            op_name if op_name.opcode() == Op::LSC_TYPED_LOAD_QUAD.opcode() => {
                f.lsc_typed_atomic(op, sources)
            }
            _ => f.lsc_atomic(op, sources),
        };
    }
    match instruction.op {
        Op::OWORD_LD => f.owords(false, false),
        Op::OWORD_LD_UNALIGNED => f.owords(true, false),
        Op::OWORD_ST => f.owords(false, true),
        Op::MEDIA_LD => f.media(false),
        Op::MEDIA_ST => f.media(true),
        Op::GATHER => f.old_gather(false),
        Op::SCATTER => f.old_gather(true),
        Op::GATHER4 => f.old_gather4(false),
        Op::SCATTER4 => f.old_gather4(true),
        Op::UNTYPED_ATOMIC => f.surface_atomic(4),
        Op::DWORD_ATOMIC => f.surface_atomic(1),
        Op::GATHER4_TYPED => f.typed(false),
        Op::SCATTER4_TYPED => f.typed(true),
        Op::TYPED_ATOMIC_3D => f.typed_atomic(),
        Op::GATHER4_SCALED => f.gather4_scaled(false),
        Op::SCATTER4_SCALED => f.gather4_scaled(true),
        Op::GATHER_SCALED => f.gather_scaled(false),
        Op::SCATTER_SCALED => f.gather_scaled(true),
        Op::QW_GATHER => f.qwords(false),
        Op::QW_SCATTER => f.qwords(true),
        Op::TRANSPOSE_LD => Err(f.refuse(
            "the sources of its time disagree about the unit of its offsets, and no program has it",
        )),
        Op::STRBUF_LOAD | Op::STRBUF_STORE => {
            Err(f.refuse("it needs surfaces that are structured buffers, with a stride"))
        }
        Op::SVM_BLOCK_LD => f.svm_owords(false),
        Op::SVM_BLOCK_ST => f.svm_owords(true),
        Op::SVM_GATHER => f.svm_blocks(false),
        Op::SVM_SCATTER => f.svm_blocks(true),
        Op::SVM_ATOMIC => f.svm_atomic(),
        Op::SVM_GATHER4SCALED => f.svm_gather4(false),
        Op::SVM_SCATTER4SCALED => f.svm_gather4(true),
        Op::LSC_LOAD => f.lsc_access(false, false),
        Op::LSC_STORE | Op::LSC_STORE_UNCOMPRESSED => f.lsc_access(false, true),
        Op::LSC_LOAD_QUAD => f.lsc_access(true, false),
        Op::LSC_STORE_QUAD => f.lsc_access(true, true),
        Op::LSC_LOAD_STRIDED => f.lsc_strided(false),
        Op::LSC_STORE_STRIDED => f.lsc_strided(true),
        Op::LSC_LOAD_BLOCK2D => f.lsc_block2d(false),
        Op::LSC_STORE_BLOCK2D => f.lsc_block2d(true),
        Op::LSC_LOAD_STATUS => f.lsc_status(),
        Op::LSC_TYPED_LOAD_QUAD => f.lsc_typed(false),
        Op::LSC_TYPED_STORE_QUAD | Op::LSC_TYPED_STORE_UNCOMPRESSED => f.lsc_typed(true),
        Op::LSC_TYPED_LOAD_BLOCK2D => f.lsc_typed_block2d(false),
        Op::LSC_TYPED_STORE_BLOCK2D => f.lsc_typed_block2d(true),
        Op::LSC_TYPED_LOAD_STATUS => f.lsc_typed_status(),
        Op::LSC_FENCE | Op::FENCE => Ok(Message::Fence),
        Op::LSC_CCS_UPDATE | Op::LSC_TYPED_CCS_UPDATE | Op::LSC_EXTENDED_CACHE_CTRL => {
            Ok(Message::Nothing)
        }
        Op::SAMPLE_3D | Op::LOAD_3D | Op::GATHER4_3D | Op::INFO_3D => f.texture(),
        Op::SAMPLE | Op::LOAD => {
            Err(f.refuse("this old form of a sampler message has no written definition"))
        }
        Op::SAMPLE_UNORM | Op::AVS => Err(f.refuse("it needs the sampler's block filters")),
        Op::RT_WRITE_3D | Op::RT_READ => Err(f.refuse("it needs render targets")),
        Op::URB_WRITE_3D => Err(f.refuse("it needs the unified return buffer")),
        Op::LSC_LOAD_QUAD_STATUS
        | Op::LSC_TYPED_LOAD_QUAD_STATUS
        | Op::LSC_TYPED_LOAD_QUAD_MSRT
        | Op::LSC_TYPED_STORE_QUAD_MSRT
        | Op::LSC_TYPED_READ_STATE_INFO
        | Op::LSC_APNDCTR_ATOMIC_STORE => {
            Err(f.refuse("what it gives and takes is not publicly defined"))
        }
        _ => Err(f.refuse("it is no memory message")),
    }
}

impl Message {
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
            Self::Fence => {
                std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                Ok(())
            }
        }
    }
}
