//! Features that only objects of version 4.2 have: they exist in memory and as text, and are not
//! executable.

use crate::choice::Choices;
use crate::kernel::{Kernel, immediate, raw};
use visakit_isa::enums::{
    self, lsc_addr_size, lsc_addr_type, lsc_data_elems, lsc_data_order, lsc_data_size, lsc_sfid,
    precision, sampler_op,
};
use visakit_isa::operand::{SamplerOp, SamplerOpFlags};
use visakit_isa::semantics::{Action, DataLayout, Storage};
use visakit_isa::table::{FieldDef, FieldKind, InstructionDef, Role, rows};
use visakit_isa::{
    DataType, Features, FieldName, Instruction, Op, RawOperand, SamplerId, SurfaceId, Value,
};

const NULL: Value = Value::Raw(RawOperand::NULL);

/// The surface that texts call by its number in the binding table.
const BINDING: u64 = 1;

/// What the fields of an instruction have in common.
struct Form {
    def: &'static InstructionDef,
    /// The base of the addresses.
    base: Base,
    elements: u8,
    order: u8,
    caching: [u8; 3],
}

/// Surfaces of messages of the load/store cache.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Flat,
    Binding,
    State,
}

impl Kernel<'_> {
    /// Whether there is anything for this file to generate.
    pub(crate) fn has_newest(&self) -> bool {
        !self.config.executable && self.format.features().contains(Features::SINCE_4_2)
    }

    /// An instruction of a row that has more fields in 4.2, or that no older version has.
    pub(crate) fn newest(&mut self, choices: &mut Choices<'_>) {
        if choices.once_in(6) {
            return self.small_float(choices);
        }
        let newer = |field: &FieldDef| field.when.required().contains(Features::SINCE_4_2);
        let rows: Vec<_> = rows()
            .filter(|row| !row.has_layout() && row.since.is_some() || row.fields.iter().any(newer))
            .filter(|row| row.exists_in(self.format) && row.runs_on(self.config.platform).is_ok())
            .collect();
        let Some(def) = choices.of(&rows) else { return };
        let Some(form) = self.form(def, choices) else {
            return;
        };
        let mut instruction = Instruction::new(def.op);
        for field in def.fields_in(self.format) {
            let Some(value) = self.newest_value(&form, field, &instruction, choices) else {
                continue;
            };
            instruction = instruction.with(field.name, value);
        }
        if def.fields.iter().any(|field| field.kind == FieldKind::Raws) {
            for _ in 0..1 + choices.below(3) {
                let Some(parameter) = self.of_type(DataType::F, choices) else {
                    return;
                };
                instruction = instruction.with(FieldName::Params, raw(parameter, 0));
            }
        }
        self.push(instruction);
    }

    /// A move between a float of 4.2 and the type that it is converted from.
    fn small_float(&mut self, choices: &mut Choices<'_>) {
        let small = choices.of_or(&DataType::TEXT_ONLY, DataType::Tf32);
        let wide = match small {
            DataType::Tf32 => DataType::F,
            DataType::E2m1 => small,
            _ => DataType::Hf,
        };
        let [small, wide] = [small, wide].map(|ty| (self.variable(ty, 16), ty));
        let (to, from) = choices.of_or(&[(small, wide), (wide, small)], (small, wide));
        let source = self.packed(from.0, from.1, 0, 16);
        let moved = self.moved(16, to.0, to.1, 0, source);
        self.push(moved);
    }

    fn form(&self, def: &'static InstructionDef, choices: &mut Choices<'_>) -> Option<Form> {
        let image = def.memory.is_some_and(|m| m.storage == Storage::LscImage);
        let flat_only = def.memory.is_some_and(|m| {
            m.action == Action::CacheControl
                || m.layout == DataLayout::Rectangle && m.storage == Storage::Lsc
        });
        let state_only = def
            .memory
            .is_some_and(|memory| memory.layout == DataLayout::Counter);
        let bases: &[Base] = match (image, flat_only, state_only) {
            (_, true, _) => &[Base::Flat],
            (_, _, true) => &[Base::State],
            (true, ..) => &[Base::Binding, Base::State],
            _ => &[Base::Flat, Base::Binding, Base::State],
        };
        let codes: Vec<u8> = enums::LSC_CACHING.entries.iter().map(|e| e.0).collect();
        let mut caching = [(); 3].map(|()| choices.of_or(&codes, 0));
        if choices.once_in(4) {
            caching = [0; 3];
        }
        Some(Form {
            def,
            base: choices.of(bases)?,
            elements: choices.of(&[lsc_data_elems::N1, lsc_data_elems::N2, lsc_data_elems::N4])?,
            order: lsc_data_order::NONTRANSPOSE,
            caching,
        })
    }

    /// The value of a field; `None` for lists and for fields that the instruction does not have.
    fn newest_value(
        &self,
        form: &Form,
        field: &FieldDef,
        instruction: &Instruction,
        choices: &mut Choices<'_>,
    ) -> Option<Value> {
        let def = form.def;
        let memory = def.memory;
        let layout = memory.map(|memory| memory.layout);
        let action = memory.map(|memory| memory.action);
        let rectangle = layout == Some(DataLayout::Rectangle);
        if let Some(test) = field.only_if {
            let key = instruction.get(FieldName::Op).map_or(0, Value::key);
            if !test.holds(key) {
                return None;
            }
        }
        let atomic = match action {
            Some(Action::Atomic(op)) => Some(usize::from(op.operands())),
            _ => None,
        };
        let ud = self.of_type(DataType::Ud, choices).unwrap_or(self.places);
        let scalar = self.element(ud, DataType::Ud, 0);
        Some(match field.name {
            FieldName::ExecSize if rectangle => self.no_mask(1),
            FieldName::ExecSize => self.masked(16),
            FieldName::Pred => Value::Predicate(self.predicate(false, choices)),
            FieldName::Sfid => Value::U8(lsc_sfid::UGM),
            FieldName::CacheL1 => Value::U8(form.caching[0]),
            FieldName::CacheL2 => Value::U8(form.caching[1]),
            FieldName::CacheL3 => Value::U8(form.caching[2]),
            FieldName::Overfetch | FieldName::MultiSampled => {
                Value::U8(u8::from(choices.once_in(2)))
            }
            FieldName::AddrType => Value::U8(match form.base {
                Base::Flat => lsc_addr_type::FLAT,
                Base::Binding => lsc_addr_type::BTI,
                Base::State => lsc_addr_type::SURF,
            }),
            FieldName::AddrScale => Value::U16(1),
            FieldName::AddrOffset => Value::I32(4 * i32::from(choices.u8())),
            FieldName::AddrSize if form.base == Base::Flat => Value::U8(lsc_addr_size::A64),
            FieldName::AddrSize => Value::U8(lsc_addr_size::A32),
            FieldName::DataSize => Value::U8(lsc_data_size::D32),
            FieldName::DataOrder => Value::U8(form.order),
            FieldName::DataElems => Value::U8(form.elements),
            FieldName::ChMask => Value::U8(match layout {
                Some(DataLayout::Channels) => 1 + choices.u8() % 15,
                Some(DataLayout::Strided) => 0,
                _ => form.elements,
            }),
            FieldName::Surface if field.kind == FieldKind::Surface => {
                // Zero where the state of another surface follows.
                let declared = self.surface.unwrap_or(SurfaceId(0));
                Value::Surface(choices.of_or(&[declared, SurfaceId(0)], declared))
            }
            FieldName::Surface => match form.base {
                Base::Flat => immediate(DataType::Ud, 0),
                Base::Binding => immediate(DataType::Ud, BINDING),
                Base::State => self.element(self.states, DataType::Uq, 0),
            },
            FieldName::SurfaceIndex if layout == Some(DataLayout::Sampled) || memory.is_none() => {
                Value::U32(self.index_of(instruction, FieldName::SurfaceState, choices))
            }
            FieldName::SurfaceIndex if form.base == Base::State => {
                Value::U32(u32::from(choices.u8() & 3))
            }
            FieldName::SamplerIndex => {
                Value::U32(self.index_of(instruction, FieldName::SamplerState, choices))
            }
            FieldName::SurfaceState => match instruction.get(FieldName::Surface) {
                Some(Value::Surface(SurfaceId(0))) => raw(self.states, 0),
                _ => NULL,
            },
            FieldName::SamplerState => match choices.once_in(3) {
                true => NULL,
                false => raw(self.states, 0),
            },
            FieldName::Sampler => Value::Sampler(SamplerId(0)),
            FieldName::Op if field.kind == FieldKind::SamplerOp => Value::SamplerOp(
                SamplerOp::new(choices.of(&operations(def.op))?, SamplerOpFlags::empty()),
            ),
            FieldName::Op => Value::U8(choices.of(&[sampler_op::RESINFO, sampler_op::SAMPLEINFO])?),
            FieldName::Channels => Value::U8(1 + choices.u8() % 15),
            FieldName::SrcChannel => Value::U8(choices.u8() & 3),
            FieldName::Aoffimmi => immediate(DataType::Uw, u64::from(choices.u8())),
            FieldName::PairedSurface => NULL,
            FieldName::BlockWidth if memory?.storage == Storage::LscImage => {
                Value::U16(choices.of(&[4, 16, 32])?)
            }
            FieldName::BlockWidth => Value::U16(8),
            FieldName::BlockHeight => Value::U16(choices.of(&[1, 4, 8])?),
            FieldName::Blocks => Value::U8(1),
            FieldName::UOffset | FieldName::VOffset | FieldName::ROffset => {
                Value::I32(i32::from(choices.u8()) - 128)
            }
            FieldName::Src0AddrBase => raw(self.states, 0),
            FieldName::SurfaceBase => self.element(self.states, DataType::Uq, 0),
            FieldName::Src0Addrs if form.base == Base::Flat => raw(self.states, 0),
            FieldName::Dst if field.kind == FieldKind::Raw && action == Some(Action::Store) => NULL,
            FieldName::Src1Data if atomic == Some(0) || action == Some(Action::Load) => NULL,
            FieldName::Src2Data if atomic.is_none_or(|operands| operands < 2) => NULL,
            FieldName::PrecisionInfo => {
                let p = choices.of(&[
                    precision::BF,
                    precision::HF,
                    precision::HF8,
                    precision::E2M1,
                ])?;
                Value::U32(u32::from_le_bytes([p, p, 8, 8]))
            }
            _ => match (field.kind, field.role) {
                (FieldKind::U8, _) => Value::U8(match field.enumeration {
                    Some(known) => choices.of(known.entries)?.0,
                    None => 0,
                }),
                (FieldKind::U16, _) => Value::U16(0),
                (FieldKind::U32, _) => Value::U32(0),
                (FieldKind::I32, _) => Value::I32(0),
                (FieldKind::Vector, Role::Destination) => self.destination(ud, DataType::Ud, 0),
                (FieldKind::Vector, _) if memory.is_none() => self.packed(ud, DataType::Ud, 0, 16),
                (FieldKind::Vector, _) => scalar,
                (FieldKind::Raw, _) => raw(ud, 0),
                _ => return None,
            },
        })
    }

    /// An index into the states that an operand names; none where it names none.
    fn index_of(
        &self,
        instruction: &Instruction,
        state: FieldName,
        choices: &mut Choices<'_>,
    ) -> u32 {
        match instruction.get(state) {
            Some(Value::Raw(operand)) if !operand.is_null() => u32::from(choices.u8() & 3),
            _ => 0,
        }
    }
}

/// The sampler's operations that a row may have.
fn operations(op: Op) -> Vec<u8> {
    let all = enums::SAMPLER_OP.entries;
    let of_row = all.iter().filter(|(_, name)| match op {
        Op::LOAD_3D => name.starts_with("load"),
        Op::GATHER4_3D => name.starts_with("sample4"),
        _ => name.starts_with("sample") && !name.contains(['4', '+']) && *name != "sampleinfo",
    });
    // A text with a name that two operations have means the first.
    of_row
        .filter(|(code, name)| !all.iter().any(|(other, same)| other < code && same == name))
        .map(|(code, _)| *code)
        .collect()
}
