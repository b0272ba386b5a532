//! Messages of the load/store cache.

use super::{HANDLE, Plan, STATE, TABLE};
use crate::generate::pool::{Pool, immediate};
use visakit_isa::semantics::{Action, DataLayout};
use visakit_isa::table::{FieldKind, Role};
use visakit_isa::{
    DataType, FieldName as F, Instruction, InstructionDef, RawOperand, Value, enums,
};

impl Pool {
    pub(super) fn random_block2d(
        &mut self,
        row: &'static InstructionDef,
        base: u64,
    ) -> Option<Instruction> {
        let loads = row.memory?.action == Action::Load;
        let code = self.rng.u8(1..=4);
        let size = 1usize << (code - 1);
        let transpose = loads && self.rng.bool();
        let vnni = loads && size <= 2 && self.rng.bool();
        let blocks = if loads { self.rng.usize(1..=3) } else { 1 };
        let width = self.rng.usize(1..=(32 / size).min(16));
        let height = self.rng.usize(1..=12);
        let packed = 4 / size.min(4);
        let (width, height) = match (vnni, transpose) {
            (true, true) => (width.div_ceil(packed) * packed, height),
            (true, false) => (width, height.div_ceil(packed) * packed),
            _ => (width, height),
        };
        let pitch = 64u64;
        let surface_width = self.rng.u64(8..=64);
        let surface_height = self.rng.u64(1..=30);
        let x = self.rng.i32(-3..40 / i32::try_from(size).ok()?);
        let y = self.rng.i32(-3..28);
        let (across, down) = if transpose {
            (height, width)
        } else {
            (width, height)
        };
        let whole = across.next_power_of_two() * down * size;
        let bytes = whole.div_ceil(self.grf) * self.grf * blocks;
        let order = if transpose {
            enums::lsc_data_order::TRANSPOSE
        } else {
            enums::lsc_data_order::NONTRANSPOSE
        };
        let exec = self.no_mask(1);
        let mut instruction = Instruction::new(row.op);
        for field in row.fields_in(self.format) {
            let value = match field.name {
                F::ExecSize => Value::ExecSize(exec),
                F::Pred => Value::Predicate(visakit_isa::Predicate::NONE),
                F::Sfid => Value::U8(enums::lsc_sfid::UGM),
                F::CacheL1 | F::CacheL3 => Value::U8(0),
                F::DataSize => Value::U8(code),
                F::DataOrder => Value::U8(order),
                F::Blocks => Value::U8(u8::try_from(blocks).ok()?),
                F::BlockWidth => Value::U16(u16::try_from(width).ok()?),
                F::BlockHeight => Value::U16(u16::try_from(height).ok()?),
                F::Vnni => Value::U8(u8::from(vnni)),
                F::Dst if loads => self.data(bytes),
                F::Src1Data if !loads => self.data(bytes),
                F::SurfaceBase => Value::Vector(self.scalar_of(DataType::Uq, base)),
                F::SurfaceWidth => Value::Vector(self.scalar_of(DataType::Ud, surface_width - 1)),
                F::SurfaceHeight => Value::Vector(self.scalar_of(DataType::Ud, surface_height - 1)),
                F::SurfacePitch => Value::Vector(self.scalar_of(DataType::Ud, pitch)),
                F::X => Value::Vector(self.scalar_of(DataType::D, u64::from(x.cast_unsigned()))),
                F::Y => Value::Vector(self.scalar_of(DataType::D, u64::from(y.cast_unsigned()))),
                _ => Value::Raw(RawOperand::NULL),
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }

    pub(super) fn random_lsc(
        &mut self,
        row: &'static InstructionDef,
        base: u64,
    ) -> Option<Instruction> {
        use enums::{
            lsc_addr_size, lsc_addr_type, lsc_data_order, lsc_data_size as size, lsc_sfid,
        };
        let memory = row.memory?;
        let counter = memory.layout == DataLayout::Counter;
        let atomic = match memory.action {
            Action::Atomic(op) if !counter => Some(op),
            _ => None,
        };
        let quad = memory.layout == DataLayout::Channels;
        let strided = memory.layout == DataLayout::Strided;
        let transpose = !quad && !strided && atomic.is_none() && !counter && self.rng.u8(..4) == 0;
        let code = if counter {
            *self.rng.choice(&[size::D32, size::D64])?
        } else if atomic.is_some() {
            *self
                .rng
                .choice(&[size::D32, size::D32, size::D64, size::D16C32])?
        } else if transpose {
            *self.rng.choice(&[size::D32, size::D64])?
        } else {
            *self.rng.choice(&[
                size::D32,
                size::D32,
                size::D64,
                size::D8C32,
                size::D16C32,
                size::D16C32H,
            ])?
        };
        let (bytes, register) = match code {
            size::D64 => (8usize, 8usize),
            size::D8C32 => (1, 4),
            size::D16C32 | size::D16C32H => (2, 4),
            _ => (4, 4),
        };
        let elements = if transpose {
            self.rng.u8(1..=8)
        } else if quad {
            4
        } else if atomic.is_some() || counter {
            1
        } else {
            self.rng.u8(1..=4)
        };
        let count = [0usize, 1, 2, 3, 4, 8, 16, 32, 64][usize::from(elements)];
        let exec = if transpose {
            self.no_mask(1)
        } else {
            self.random_exec(1, 32)
        };
        let lanes = usize::from(exec.lanes()?);
        // The memory it accesses.
        let kind = if counter { 1 } else { self.rng.u8(..5) };
        let (flat, local) = (kind == 0, kind == 4);
        let (addr_type, surface) = match kind {
            0 | 4 => (lsc_addr_type::FLAT, 0),
            1 => (lsc_addr_type::BTI, TABLE),
            2 => (lsc_addr_type::BSS, HANDLE),
            _ => (lsc_addr_type::SS, STATE),
        };
        let addr_size = match kind {
            0 => lsc_addr_size::A64,
            4 if self.rng.u8(..4) == 0 => lsc_addr_size::A16,
            _ => lsc_addr_size::A32,
        };
        let address = [0, 2, 4, 8][usize::from(addr_size)];
        let scale = if flat {
            1
        } else {
            *self.rng.choice(&[1u16, 1, 1, 2, 4])?
        };
        // Three elements take the room of four, so that no lane's end is not aligned.
        let span = (bytes * count).next_power_of_two();
        let shifted = self.rng.u8(..4) == 0;
        let negative = shifted && self.rng.bool();
        let offset = match (shifted, negative) {
            (false, _) => 0,
            (_, true) => -i32::try_from(span).ok()? * i32::from(scale),
            _ => i32::try_from(span).ok()? * i32::from(scale),
        };
        let plan = Plan {
            row,
            exec,
            lanes,
            span: span * usize::from(scale),
            align: bytes,
            address,
            flat,
            local,
            base,
        };
        let order = if transpose {
            lsc_data_order::TRANSPOSE
        } else {
            lsc_data_order::NONTRANSPOSE
        };
        let channels = self.rng.u8(1..16);
        let component = (lanes * register).div_ceil(self.grf) * self.grf;
        let data = if transpose {
            count * register
        } else {
            component * count
        };
        let loads = matches!(memory.action, Action::Load | Action::Status);
        let stores = memory.action == Action::Store;
        let unary = atomic.is_some_and(|op| op.operands() == 0);
        let ternary = atomic.is_some_and(|op| op.operands() == 2);
        let null = Value::Raw(RawOperand::NULL);
        let mut instruction = Instruction::new(row.op);
        for field in row.fields_in(self.format) {
            let value = match field.name {
                F::ExecSize => Value::ExecSize(exec),
                F::Pred if transpose => Value::Predicate(visakit_isa::Predicate::NONE),
                F::Pred => Value::Predicate(self.random_predicate(false)),
                F::Sfid => Value::U8(if local { lsc_sfid::SLM } else { lsc_sfid::UGM }),
                F::CacheL1 | F::CacheL3 => Value::U8(0),
                F::AddrType => Value::U8(addr_type),
                F::AddrScale => Value::U16(scale),
                F::AddrOffset => Value::I32(offset),
                F::AddrSize => Value::U8(addr_size),
                F::DataSize => Value::U8(code),
                F::DataOrder => Value::U8(order),
                F::DataElems => Value::U8(elements),
                F::ChMask => Value::U8(if quad { channels } else { elements }),
                F::Surface => Value::Vector(if flat || local {
                    immediate(DataType::Ud, 0)
                } else {
                    self.scalar_of(DataType::Ud, surface.into())
                }),
                F::Dst if loads => self.data(data.max(4)),
                F::Dst if stores || self.rng.u8(..3) == 0 => null,
                F::Dst => self.data(data),
                F::Src0Addrs => {
                    let unscaled = Plan { span, ..plan };
                    self.scaled_addresses(
                        unscaled,
                        usize::from(scale),
                        usize::from(negative),
                        shifted,
                    )
                }
                F::Src0AddrBase => {
                    let at = 256 + if flat { base } else { 0 };
                    let bytes = at.to_le_bytes();
                    let ty = match address {
                        2 => DataType::Uw,
                        4 => DataType::Ud,
                        _ => DataType::Uq,
                    };
                    Self::whole(self.variable(ty, &bytes[..address]))
                }
                F::Src0AddrPitch => {
                    let wide = u64::try_from(span).ok()?;
                    let pitch = match self.rng.u8(..4) {
                        0 if loads => 0,
                        1 => wide * 2,
                        _ => wide,
                    };
                    let pitch = if pitch > 40 { wide.min(40) } else { pitch };
                    Value::Vector(self.scalar_of(DataType::Ud, pitch))
                }
                F::Src1Data if loads || unary => null,
                F::Src2Data if !ternary => null,
                _ if field.kind == FieldKind::Raw && field.role == Role::Source => self.data(data),
                F::SurfaceIndex => Value::U32(0),
                _ => return None,
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }

    /// Addresses in units that a scale multiplies; every place stays inside of memory or is far
    /// outside of a surface.
    pub(super) fn scaled_addresses(
        &mut self,
        plan: Plan,
        scale: usize,
        from: usize,
        shifted: bool,
    ) -> Value {
        let room = Plan {
            // Slots are counted in scaled units, one or two are left for the offset.
            span: plan.span * scale * if shifted { 2 } else { 1 },
            ..plan
        };
        let slots = self.slots(room, from);
        let bytes: Vec<u8> = slots
            .into_iter()
            .flat_map(|slot| {
                let at = slot * plan.span as u64 + if plan.flat { plan.base } else { 0 };
                at.to_le_bytes()[..plan.address].to_vec()
            })
            .collect();
        let ty = match plan.address {
            2 => DataType::Uw,
            4 => DataType::Ud,
            _ => DataType::Uq,
        };
        Self::whole(self.variable(ty, &bytes))
    }
}
