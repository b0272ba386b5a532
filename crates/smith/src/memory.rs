//! Loads, stores and atomics at places that are different for each lane.

use crate::choice::Choices;
use crate::kernel::{Kernel, immediate, raw};
use visakit_isa::enums::{
    atomic_op, lsc_addr_size, lsc_addr_type, lsc_data_elems, lsc_data_order, lsc_data_size,
    lsc_sfid,
};
use visakit_isa::{
    DataType, FieldName, Instruction, Op, Predicate, RawOperand, SurfaceId, Value, VarId,
};

/// Index of the surface in the binding table.
pub(crate) const BINDING: u64 = 1;

/// The group's shared memory.
const SLM: SurfaceId = SurfaceId(0);

const NULL: Value = Value::Raw(RawOperand::NULL);

/// What a message has in its fields; the row of the table says which of them it takes.
struct Message {
    op: Op,
    lanes: u8,
    no_mask: bool,
    predicate: Predicate,
    surface: SurfaceId,
    /// Number of an atomic operation, or count code of a block.
    code: u8,
    /// Channels or blocks.
    channels: u8,
    offset: Value,
    places: Value,
    data: Value,
    /// Sources of an atomic operation.
    sources: [Value; 2],
    elements: u8,
    order: u8,
}

impl Kernel<'_> {
    pub(crate) fn memory(&mut self, choices: &mut Choices<'_>) {
        let Some(surface) = self.surface else { return };
        let platform = self.config.platform;
        let surface = choices.of_or(&[surface, surface, SLM], surface);
        let message = if platform.has_lsc() && (!platform.has_data_port() || choices.once_in(2)) {
            self.cached(surface, choices)
        } else {
            self.data_port(surface, choices)
        };
        if let Some(message) = message {
            let instruction = self.message(&message);
            self.push(instruction);
        }
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
                let instruction = Instruction::new(op)
                    .with(FieldName::ExecSize, self.no_mask(count))
                    .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
                    .with(FieldName::Dst, self.destination(places, ud, at))
                    .with(FieldName::Src0, self.packed(from, ud, at, count))
                    .with(FieldName::Src1, immediate(ud, by));
                self.push(instruction);
            }
        }
    }

    /// A variable of 32-bit elements.
    fn data(&self, choices: &mut Choices<'_>) -> VarId {
        let ty = choices.of_or(&[DataType::Ud, DataType::D, DataType::F], DataType::Ud);
        self.of_type(ty, choices).unwrap_or(self.places)
    }

    fn data_port(&mut self, surface: SurfaceId, choices: &mut Choices<'_>) -> Option<Message> {
        let lanes = self.simd.min(16);
        let data = self.data(choices);
        let mut message = self.plain(lanes, surface, data, choices);
        match choices.below(7) {
            kind @ (0 | 1) => {
                // As many channels as four registers hold.
                message.channels = choices.of_or(&[1, 3], 1);
                message.op = if kind == 0 {
                    Op::GATHER4_SCALED
                } else {
                    Op::SCATTER4_SCALED
                };
                self.set_places(8, choices);
            }
            kind @ (2 | 3) => {
                message.channels = u8::try_from(choices.below(3)).unwrap_or(0);
                message.op = if kind == 2 {
                    Op::GATHER_SCALED
                } else {
                    Op::SCATTER_SCALED
                };
                self.set_places(4, choices);
            }
            kind @ (4 | 5) if surface != SLM => {
                message.code = u8::try_from(choices.below(4)).unwrap_or(0);
                message.offset = immediate(DataType::Ud, u64::from(choices.u8() & 63));
                message.op = if kind == 4 {
                    Op::OWORD_LD
                } else {
                    Op::OWORD_ST
                };
            }
            _ => {
                message.op = Op::DWORD_ATOMIC;
                self.set_places(4, choices);
                let (code, sources) = choices.of_or(
                    &[
                        (atomic_op::ADD, 1),
                        (atomic_op::SUB, 1),
                        (atomic_op::INC, 0),
                        (atomic_op::DEC, 0),
                        (atomic_op::MIN, 1),
                        (atomic_op::MAX, 1),
                        (atomic_op::XCHG, 1),
                        (atomic_op::CMPXCHG, 2),
                        (atomic_op::AND, 1),
                        (atomic_op::OR, 1),
                        (atomic_op::XOR, 1),
                        (atomic_op::MINSINT, 1),
                        (atomic_op::MAXSINT, 1),
                    ],
                    (atomic_op::INC, 0),
                );
                message.code = code;
                self.give_sources(&mut message, sources, choices);
            }
        }
        Some(message)
    }

    fn cached(&mut self, surface: SurfaceId, choices: &mut Choices<'_>) -> Option<Message> {
        let lanes = self.simd;
        let data = self.data(choices);
        let mut message = self.plain(lanes, surface, data, choices);
        match choices.below(6) {
            kind @ (0 | 1) => {
                let elements = [lsc_data_elems::N1, lsc_data_elems::N2];
                message.elements = choices.of_or(&elements, lsc_data_elems::N1);
                message.op = if kind == 0 {
                    Op::LSC_LOAD
                } else {
                    Op::LSC_STORE
                };
                self.set_places(8, choices);
            }
            kind @ (2 | 3) => {
                // One lane's place, consecutive elements.
                message.lanes = 1;
                message.no_mask = true;
                message.predicate = Predicate::NONE;
                message.order = lsc_data_order::TRANSPOSE;
                let elements = [lsc_data_elems::N4, lsc_data_elems::N8, lsc_data_elems::N16];
                message.elements = choices.of_or(&elements, lsc_data_elems::N8);
                message.op = if kind == 2 {
                    Op::LSC_LOAD
                } else {
                    Op::LSC_STORE
                };
                self.set_places(16, choices);
            }
            _ => {
                let (op, sources) = choices.of_or(
                    &[
                        (Op::LSC_ATOMIC_IINC, 0),
                        (Op::LSC_ATOMIC_IDEC, 0),
                        (Op::LSC_ATOMIC_LOAD, 0),
                        (Op::LSC_ATOMIC_IADD, 1),
                        (Op::LSC_ATOMIC_ISUB, 1),
                        (Op::LSC_ATOMIC_SMIN, 1),
                        (Op::LSC_ATOMIC_SMAX, 1),
                        (Op::LSC_ATOMIC_UMIN, 1),
                        (Op::LSC_ATOMIC_UMAX, 1),
                        (Op::LSC_ATOMIC_ICAS, 2),
                        (Op::LSC_ATOMIC_AND, 1),
                        (Op::LSC_ATOMIC_OR, 1),
                        (Op::LSC_ATOMIC_XOR, 1),
                    ],
                    (Op::LSC_ATOMIC_IINC, 0),
                );
                message.op = op;
                self.set_places(4, choices);
                self.give_sources(&mut message, sources, choices);
            }
        }
        Some(message)
    }

    fn plain(
        &self,
        lanes: u8,
        surface: SurfaceId,
        data: VarId,
        choices: &mut Choices<'_>,
    ) -> Message {
        Message {
            op: Op::LSC_LOAD,
            lanes,
            no_mask: choices.once_in(3),
            predicate: self.predicate(false, choices),
            surface,
            code: 0,
            channels: 0,
            offset: immediate(DataType::Ud, 0),
            places: raw(self.places, 0),
            data: raw(data, 0),
            sources: [NULL, NULL],
            elements: lsc_data_elems::N1,
            order: lsc_data_order::NONTRANSPOSE,
        }
    }

    fn give_sources(&self, message: &mut Message, count: usize, choices: &mut Choices<'_>) {
        let signed = matches!(message.code, atomic_op::MINSINT | atomic_op::MAXSINT);
        let ty = if signed { DataType::D } else { DataType::Ud };
        let mut variable = || raw(self.of_type(ty, choices).unwrap_or(self.places), 0);
        message.data = variable();
        for source in message.sources.iter_mut().take(count) {
            *source = variable();
        }
        if choices.once_in(4) && message.op == Op::DWORD_ATOMIC {
            message.data = NULL;
        }
    }

    /// The fields that the row has, filled from the message.
    fn message(&self, message: &Message) -> Instruction {
        let lsc = message.op.def().group == visakit_isa::table::Group::Lsc;
        let stores = matches!(message.op, Op::LSC_STORE);
        let slm = message.surface == SLM;
        let mut instruction = Instruction::new(message.op);
        for field in message.op.def().fields_in(self.format) {
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
                FieldName::ElementOffset | FieldName::Src0Addrs => message.places,
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
            self.push(Instruction::new(Op::BARRIER));
            return;
        }
        if self.config.platform.has_data_port() && !self.config.platform.has_lsc() {
            // Commit; on local memory or not.
            let mask = choices.of_or(&[0x01, 0x21], 0x01);
            self.push(Instruction::new(Op::FENCE).with(FieldName::Mask, Value::U8(mask)));
        }
    }
}
