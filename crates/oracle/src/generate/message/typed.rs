//! Messages on texels.

use super::TEXELS;
use crate::generate::pool::{Pool, immediate};
use visakit_isa::semantics::{Action, Storage};
use visakit_isa::table::{FieldKind, Role};
use visakit_isa::{
    DataType, FieldName as F, Instruction, InstructionDef, RawOperand, Value, enums,
};

/// Texels of the image: columns and rows.
const SIZE: [u32; 2] = [4, 32];

impl Pool {
    pub(super) fn random_typed(&mut self, row: &'static InstructionDef) -> Option<Instruction> {
        let memory = row.memory?;
        let lsc = memory.storage == Storage::LscImage;
        let loads = memory.action == Action::Load;
        let exec = self.random_exec(1, 16);
        let lanes = usize::from(exec.lanes()?);
        // Distinct texels; some lie outside.
        let outside = !(lsc && loads) && self.rng.u8(..4) == 0;
        let rows = SIZE[1] + if outside { 8 } else { 0 };
        let mut all: Vec<u32> = (0..SIZE[0] * rows).collect();
        self.rng.shuffle(&mut all);
        all.truncate(lanes);
        let axis = |pool: &mut Self, f: &dyn Fn(u32) -> u32| {
            let bytes: Vec<u8> = all.iter().flat_map(|t| f(*t).to_le_bytes()).collect();
            Self::whole(pool.variable(DataType::Ud, &bytes))
        };
        let channels = self.rng.u8(1..16);
        let bytes = 4 * 4 * lanes.max(self.grf / 4);
        let mut instruction = Instruction::new(row.op);
        for field in row.fields_in(self.format) {
            let value = match field.name {
                F::ExecSize => Value::ExecSize(exec),
                F::Pred => Value::Predicate(self.random_predicate(false)),
                F::Channels | F::ChMask => Value::U8(channels),
                F::CacheL1 | F::CacheL3 => Value::U8(0),
                F::AddrType => Value::U8(enums::lsc_addr_type::BTI),
                F::AddrSize => Value::U8(enums::lsc_addr_size::A32),
                F::DataSize => Value::U8(enums::lsc_data_size::D32),
                F::DataOrder => Value::U8(enums::lsc_data_order::NONTRANSPOSE),
                F::DataElems => Value::U8(enums::lsc_data_elems::N4),
                F::Surface if field.kind == FieldKind::Surface => {
                    Value::Surface(self.surface(TEXELS))
                }
                F::Surface => Value::Vector(immediate(DataType::Ud, TEXELS.into())),
                F::SurfaceIndex => Value::U32(0),
                F::U | F::Src0U => axis(self, &|t| t % SIZE[0]),
                F::V | F::Src0V => axis(self, &|t| t / SIZE[0]),
                F::Dst | F::Src | F::Src1Data if (field.role == Role::Destination) == loads => {
                    self.data(bytes)
                }
                _ if field.kind == FieldKind::I32 => Value::I32(0),
                _ => Value::Raw(RawOperand::NULL),
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }
}
