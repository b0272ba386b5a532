//! Loads, stores and atomics at places that are different for each lane.

use crate::choice::Choices;
use crate::kernel::{Kernel, immediate, raw};
use crate::rows::is_bare;
use visakit_isa::enums::{
    lsc_addr_size, lsc_addr_type, lsc_data_elems, lsc_data_order, lsc_data_size, lsc_sfid,
};
use visakit_isa::semantics::{Action, AddressUnit, AtomicOp, Count, DataLayout, Storage};
use visakit_isa::table::{Group, InstructionDef};
use visakit_isa::{DataType, FieldName, Instruction, Op, Predicate, RawOperand, SurfaceId, Value};

/// Index of the surface in the binding table.
pub(crate) const BINDING: u64 = 1;

/// The group's shared memory.
const SLM: SurfaceId = SurfaceId(0);

const NULL: Value = Value::Raw(RawOperand::NULL);

/// The fields of a message; the row of the table determines which of them it has.
struct Message {
    def: &'static InstructionDef,
    lanes: u8,
    no_mask: bool,
    predicate: Predicate,
    surface: SurfaceId,
    /// Number of an atomic operation, or count code of a block.
    code: u8,
    /// Channels or blocks.
    channels: u8,
    offset: Value,
    data: Value,
    /// Sources of an atomic operation.
    sources: [Value; 2],
    elements: u8,
    order: u8,
}

/// The kind of memory operation: statements of each kind are equally frequent, however many
/// operations it has.
fn kind(action: Action) -> u8 {
    match action {
        Action::Load => 1,
        Action::Store => 2,
        Action::Atomic(_) | Action::AtomicCode => 3,
        _ => 0,
    }
}

impl Kernel<'_> {
    pub(crate) fn memory(&mut self, choices: &mut Choices<'_>) {
        let Some(surface) = self.surface else { return };
        let surface = choices.of_or(&[surface, surface, SLM], surface);
        let wanted = choices.of_or(&[1, 1, 2, 2, 3], 1);
        let rows = self.rows(|row| {
            row.memory.is_some_and(|memory| {
                kind(memory.action) == wanted
                    && matches!(memory.storage, Storage::Surface | Storage::Lsc)
            })
        });
        let Some(def) = choices.of(&rows) else { return };
        let Some(message) = self.filled(def, surface, choices) else {
            return;
        };
        let instruction = self.message(&message);
        self.push(instruction);
    }

    /// Lane n's place: n times the stride, from a base on.
    fn set_places(&mut self, stride: u32, choices: &mut Choices<'_>) {
        let base = u64::from(choices.u8()) * 4;
        let (lanes, places) = (self.lanes, self.places);
        let ud = DataType::Ud;
        let count = self.simd.min(self.widest(ud));
        for start in (0..self.simd).step_by(usize::from(count)) {
            let at = u16::from(start);
            let shift = u64::from(stride.trailing_zeros());
            for (op, from, by) in [(Op::SHL, lanes, shift), (Op::ADD, places, base)] {
                let to = self.destination(places, ud, at);
                let from = self.packed(from, ud, at, count);
                self.push(self.computed(op, count, to, from, immediate(ud, by)));
            }
        }
    }

    fn filled(
        &mut self,
        def: &'static InstructionDef,
        surface: SurfaceId,
        choices: &mut Choices<'_>,
    ) -> Option<Message> {
        let memory = def.memory?;
        let cached = memory.storage == Storage::Lsc;
        let ty = choices.of_or(&[DataType::Ud, DataType::D, DataType::F], DataType::Ud);
        let data = self.of_type(ty, choices)?;
        let mut message = Message {
            def,
            lanes: if cached { self.simd } else { self.simd.min(16) },
            no_mask: choices.once_in(3),
            predicate: self.predicate(false, choices),
            surface,
            code: 0,
            channels: 0,
            offset: immediate(DataType::Ud, 0),
            data: raw(data, 0),
            sources: [NULL, NULL],
            elements: lsc_data_elems::N1,
            order: lsc_data_order::NONTRANSPOSE,
        };
        let few = [lsc_data_elems::N1, lsc_data_elems::N2];
        match (memory.action, memory.layout) {
            (Action::Atomic(op), _) => {
                self.set_places(4, choices);
                self.give_sources(&mut message, op, choices);
            }
            (Action::AtomicCode, _) => {
                self.set_places(4, choices);
                let known = (0..32).filter_map(AtomicOp::from_code);
                // The last one has no name in the text of the available finalizer.
                let known: Vec<AtomicOp> = known
                    .filter(|op| !op.is_float() && *op != AtomicOp::PreDecrement)
                    .collect();
                let op = choices.of(&known)?;
                message.code = op.code()?;
                self.give_sources(&mut message, op, choices);
            }
            (_, DataLayout::Block) => {
                if surface == SLM {
                    return None;
                }
                message.code = u8::try_from(choices.below(4)).unwrap_or(0);
                // An OWord of the surface.
                let at = u64::from(choices.u8() & 63);
                let unit = match memory.unit {
                    AddressUnit::Bytes(bytes) => bytes.max(1),
                    AddressUnit::Element => 16,
                };
                message.offset = immediate(DataType::Ud, at * 16 / u64::from(unit));
            }
            (_, DataLayout::Channels) => {
                // As many channels as four registers hold.
                message.channels = choices.of_or(&[1, 3], 1);
                message.elements = lsc_data_elems::N4;
                self.set_places(8, choices);
            }
            (_, DataLayout::Strided) => {
                message.elements = choices.of_or(&few, lsc_data_elems::N1);
                self.set_places(8, choices);
            }
            _ if memory.count == Count::DataElems && choices.once_in(2) => {
                // One lane's place, consecutive elements.
                message.lanes = 1;
                message.no_mask = true;
                message.predicate = Predicate::NONE;
                message.order = lsc_data_order::TRANSPOSE;
                let elements = [lsc_data_elems::N4, lsc_data_elems::N8, lsc_data_elems::N16];
                message.elements = choices.of_or(&elements, lsc_data_elems::N8);
                self.set_places(16, choices);
            }
            _ if memory.count == Count::DataElems => {
                message.elements = choices.of_or(&few, lsc_data_elems::N1);
                self.set_places(8, choices);
            }
            _ => {
                message.channels = u8::try_from(choices.below(3)).unwrap_or(0);
                self.set_places(4, choices);
            }
        }
        Some(message)
    }

    fn give_sources(&self, message: &mut Message, op: AtomicOp, choices: &mut Choices<'_>) {
        let signed = matches!(op, AtomicOp::SignedMin | AtomicOp::SignedMax);
        let ty = if signed { DataType::D } else { DataType::Ud };
        let mut variable = || raw(self.of_type(ty, choices).unwrap_or(self.places), 0);
        message.data = variable();
        for source in message.sources.iter_mut().take(op.operands().into()) {
            *source = variable();
        }
        if choices.once_in(4) && message.def.group != Group::Lsc {
            message.data = NULL;
        }
    }

    /// The fields that the row has, filled from the message.
    fn message(&self, message: &Message) -> Instruction {
        let def = message.def;
        let lsc = def.group == Group::Lsc;
        let layout = def.memory.map(|memory| memory.layout);
        let stores = def.memory.is_some_and(|m| m.action == Action::Store);
        let slm = message.surface == SLM;
        let places = raw(self.places, 0);
        let mut instruction = Instruction::new(def.op);
        for field in def.fields_in(self.format) {
            let value = match field.name {
                FieldName::ExecSize if message.no_mask => self.no_mask(message.lanes),
                FieldName::ExecSize => self.masked(message.lanes),
                FieldName::Pred => Value::Predicate(message.predicate),
                FieldName::Surface if lsc => immediate(DataType::Ud, if slm { 0 } else { BINDING }),
                FieldName::Surface => Value::Surface(message.surface),
                FieldName::Size | FieldName::Op => Value::U8(message.code),
                FieldName::Channels | FieldName::NumBlocks => Value::U8(message.channels),
                FieldName::Scale => Value::U16(0),
                FieldName::GlobalOffset | FieldName::Offset => message.offset,
                FieldName::ElementOffset | FieldName::Src0Addrs | FieldName::Src0AddrBase => places,
                // The distance of the lanes' places.
                FieldName::Src0AddrPitch => immediate(DataType::Ud, 8),
                FieldName::Dst if stores => NULL,
                FieldName::Dst | FieldName::Src => message.data,
                FieldName::Src0 => message.sources[0],
                FieldName::Src1 => message.sources[1],
                FieldName::Src1Data if stores => message.data,
                FieldName::Src1Data => message.sources[0],
                FieldName::Src2Data => message.sources[1],
                FieldName::Sfid => Value::U8(if slm { lsc_sfid::SLM } else { lsc_sfid::UGM }),
                FieldName::AddrType => Value::U8(if slm {
                    lsc_addr_type::FLAT
                } else {
                    lsc_addr_type::BTI
                }),
                FieldName::AddrScale => Value::U16(1),
                FieldName::AddrOffset => Value::I32(0),
                FieldName::AddrSize => Value::U8(lsc_addr_size::A32),
                FieldName::DataSize => Value::U8(lsc_data_size::D32),
                FieldName::DataOrder => Value::U8(message.order),
                FieldName::ChMask if layout == Some(DataLayout::Channels) => {
                    Value::U8(message.channels)
                }
                FieldName::ChMask if layout == Some(DataLayout::Strided) => Value::U8(0),
                FieldName::DataElems | FieldName::ChMask => Value::U8(message.elements),
                FieldName::SurfaceIndex => Value::U32(0),
                _ => Value::U8(0),
            };
            instruction = instruction.with(field.name, value);
        }
        instruction
    }

    pub(crate) fn sync(&mut self, choices: &mut Choices<'_>) {
        // Only where all lanes and threads come by.
        if self.blocks.is_empty() && choices.once_in(2) {
            if let Some(def) = choices.of(&self.rows(is_bare)) {
                self.push(Instruction::new(def.op));
            }
            return;
        }
        let fences = self.rows(|row| row.memory.is_some_and(|m| m.action == Action::Fence));
        let Some(def) = choices.of(&fences) else {
            return;
        };
        let mut fence = Instruction::new(def.op);
        for field in def.fields_in(self.format) {
            let value = match field.name {
                FieldName::ExecSize => self.no_mask(1),
                FieldName::Pred => Value::Predicate(Predicate::NONE),
                // Commit; on local memory or not.
                FieldName::Mask => Value::U8(choices.of_or(&[0x01, 0x21], 0x01)),
                FieldName::Sfid => {
                    Value::U8(choices.of_or(&[lsc_sfid::UGM, lsc_sfid::SLM], lsc_sfid::UGM))
                }
                // No flush, and the group's threads.
                _ => Value::U8(0),
            };
            fence = fence.with(field.name, value);
        }
        self.push(fence);
    }
}
