//! Translation of instructions that send messages to memory.
//!
//! [`translate`] turns an instruction into a [`Message`]: which storage it accesses, how the addresses of its lanes are
//! computed, and where its elements are in registers. Ambiguities of the written definitions and their resolution are
//! described in `docs/memory-messages.md`.

mod dataport;
mod fields;
mod lsc;
mod sampling;
#[cfg(test)]
mod tests;

use crate::fault::Unsupported;
use crate::message::Message;
use crate::translate::Context;
use fields::Fields;
use visakit_isa::Instruction;
use visakit_isa::semantics::{Action, DataLayout, Payload, Storage};

/// Translates a message, by the memory column of its row.
///
/// # Errors
/// Instructions that are no memory message, that need hardware that is not modelled, or that have
/// field values without a meaning.
pub(crate) fn translate(
    instruction: &Instruction,
    cx: &Context<'_>,
) -> Result<Message, Unsupported> {
    let payload = Payload::of(instruction, cx.grf_bytes);
    let f = Fields {
        instruction,
        cx,
        payload,
    };
    let Some(memory) = instruction.def().memory else {
        return Err(f.refuse("it is no memory message"));
    };
    let store = memory.action == Action::Store;
    match (memory.action, memory.storage, memory.layout) {
        (Action::Fence, ..) => Ok(f.fence()),
        (Action::CacheControl | Action::Compression, ..) => Ok(Message::Nothing),
        (Action::Load | Action::Store, Storage::Lsc, layout) => match layout {
            DataLayout::PerLane | DataLayout::Channels => f.lsc_access(layout, store),
            DataLayout::Strided => f.lsc_strided(store),
            DataLayout::Rectangle => f.lsc_block2d(store),
            _ => Err(f.unknown()),
        },
        (Action::Load | Action::Store, Storage::LscImage, DataLayout::Texels) => f.lsc_typed(store),
        (Action::Load | Action::Store, Storage::LscImage, DataLayout::Rectangle) => {
            f.lsc_typed_block2d(store)
        }
        (Action::Atomic(op), Storage::Lsc, DataLayout::PerLane) => f.lsc_atomic(op),
        (Action::Atomic(op), Storage::Lsc, DataLayout::Counter) => f.lsc_counter(op),
        (Action::Atomic(op), Storage::LscImage, _) => f.lsc_typed_atomic(op),
        (Action::Status, Storage::Lsc, _) => f.lsc_status(),
        (Action::Status, Storage::LscImage, _) => f.lsc_typed_status(),
        (Action::Load, Storage::Image, DataLayout::Sampled)
        | (Action::Query, Storage::Image, _) => f.texture(),
        (Action::Load | Action::Store, Storage::Image, DataLayout::Rectangle) => f.media(store),
        (Action::Load | Action::Store, Storage::Image, DataLayout::Texels) => f.typed(store),
        (Action::AtomicCode, Storage::Image, _) => f.typed_atomic(),
        (Action::AtomicCode, Storage::Surface | Storage::Flat, _) => f.atomic(&memory),
        (Action::Load | Action::Store, Storage::Surface | Storage::Flat, layout) => match layout {
            DataLayout::PerLane => f.elements(&memory, store),
            DataLayout::Channels => f.channels(&memory, store),
            DataLayout::Block => f.block(&memory, store),
            _ => Err(f.unknown()),
        },
        _ => Err(f.unknown()),
    }
}
