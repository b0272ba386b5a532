//! Selects the rows of the table to generate, by their columns: a new row with ordinary columns
//! needs no line here.

use crate::kernel::Kernel;
use visakit_isa::operand::OperandClasses;
use visakit_isa::semantics::{
    Action, AddressUnit, Callee, DataLayout, ElementSize, Flow, Memory, Storage, Structure, Traits,
};
use visakit_isa::table::{FieldDef, Group, InstructionDef, Role, Status, rows};
use visakit_isa::{FieldName, Op};

/// Why no statement has an instruction of a row; `None` where some have.
///
/// ```
/// use visakit_isa::Op;
/// use visakit_smith::why_not;
///
/// assert_eq!(why_not(Op::ADD.def()), None);
/// assert_eq!(why_not(Op::LOC.def()), Some("it is not code"));
/// ```
#[must_use]
pub fn why_not(def: &InstructionDef) -> Option<&'static str> {
    if !def.has_layout() {
        return Some("it has no bytes");
    }
    if !def.unsupported.is_empty() {
        return Some(def.unsupported);
    }
    if is_bare(def) {
        return None;
    }
    if let Some(memory) = &def.memory {
        return match def.status {
            // Its columns are those of the ordinary typed store.
            _ if def.op == Op::LSC_TYPED_STORE_UNCOMPRESSED => {
                Some("the finalizer at hand has no text for it")
            }
            Status::Active => message(memory),
            _ => Some("a retired form of message"),
        };
    }
    match def.flow {
        Flow::Next => {}
        Flow::Marker => return Some("it is not code"),
        Flow::Call(Callee::Address) => {
            return Some("an object does not know addresses of functions");
        }
        Flow::Structured(Structure::Break | Structure::Continue) => {
            return Some("loops are left at their end only");
        }
        _ => return None,
    }
    match def.group {
        Group::Arithmetic | Group::Logic | Group::Move | Group::Compare | Group::Address => {
            computation(def)
        }
        Group::Flow => Some("an object does not know addresses of functions"),
        Group::Sync => Some("threads would have to answer each other"),
        _ if def.field(FieldName::PrecisionInfo).is_none() => Some("nothing is like it"),
        _ if def.traits.contains(Traits::FUSED) => Some("a second thread has half of its operands"),
        _ => None,
    }
}

fn computation(def: &InstructionDef) -> Option<&'static str> {
    let has = |traits| def.traits.intersects(traits);
    if def.status != Status::Active {
        Some("retired")
    } else if has(Traits::ACROSS_LANES) {
        Some("its operands are groups of lanes or fixed parts of a register")
    } else if !def.conversions.is_empty() {
        Some("its formats are not data types")
    } else if has(Traits::STEP) {
        Some("a step of a division whose other steps the finalizer makes")
    } else if has(Traits::WRITES_PREDICATE) {
        Some("the finalizer at hand crashes on it")
    } else {
        None
    }
}

fn message(memory: &Memory) -> Option<&'static str> {
    match (memory.action, memory.storage, memory.layout) {
        (Action::Fence, ..) => None,
        (Action::CacheControl | Action::Compression, ..) => Some("nothing can be seen of it"),
        (Action::Status | Action::Query, ..) => Some("its result is the platform's matter"),
        (_, Storage::Flat, _) | (_, Storage::Lsc, DataLayout::Rectangle) => {
            Some("an object does not know addresses of memory")
        }
        (_, _, DataLayout::Counter) => Some("surfaces have counters by agreement only"),
        (_, _, DataLayout::Sampled) => Some("images and samplers are bound by agreement only"),
        (Action::Atomic(op), ..) if op.is_float() => Some("not all bits are numbers"),
        (Action::Atomic(_), Storage::Lsc, DataLayout::PerLane)
        | (Action::AtomicCode, Storage::Surface, DataLayout::PerLane) => None,
        (Action::Atomic(_) | Action::AtomicCode, ..) => Some("texels here have four channels"),
        (_, Storage::LscImage, DataLayout::Rectangle) => Some("no writer is known to make it"),
        _ if memory.element == ElementSize::Bytes(8) => {
            Some("the finalizer at hand refuses it but for one platform")
        }
        _ if memory.unit == AddressUnit::Element => Some("its lanes are counted in the old way"),
        _ => None,
    }
}

/// Whether it is synchronisation determined by the opcode alone.
pub(crate) fn is_bare(def: &InstructionDef) -> bool {
    def.group == Group::Sync && def.fields.is_empty() && def.has_layout()
}

/// The first destination.
pub(crate) fn destination(def: &InstructionDef) -> Option<&'static FieldDef> {
    def.fields.iter().find(|f| f.role == Role::Destination)
}

/// Whether the destination may be of a class.
pub(crate) fn writes(def: &InstructionDef, class: OperandClasses) -> bool {
    destination(def).is_some_and(|field| field.classes.contains(class))
}

/// The operation with this control flow. The table has one for every flow that is requested.
pub(crate) fn of_flow(flow: Flow) -> Op {
    let row = rows().find(|row| row.flow == flow);
    row.map_or(Op::MOV, |row| row.op)
}

impl Kernel<'_> {
    /// The rows of a kind that are generated, for the format and the platform.
    pub(crate) fn rows(
        &self,
        kind: impl Fn(&InstructionDef) -> bool,
    ) -> Vec<&'static InstructionDef> {
        rows()
            .filter(|row| kind(row) && why_not(row).is_none() && self.has(row))
            .collect()
    }

    /// Whether format and platform have the instruction.
    pub(crate) fn has(&self, def: &InstructionDef) -> bool {
        let platform = self.config.platform;
        let reached = match (def.group, def.memory) {
            (Group::Lsc, _) => platform.has_lsc(),
            // Platforms with both have a newer form for messages without data.
            (_, Some(memory)) if memory.action == Action::Fence => {
                platform.has_data_port() && !platform.has_lsc()
            }
            (_, Some(memory)) if memory.layout != DataLayout::Nothing => platform.has_data_port(),
            _ => true,
        };
        reached && def.exists_in(self.format) && def.runs_on(platform).is_ok()
    }
}
