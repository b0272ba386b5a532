//! Random messages on small memories.

mod lsc;
mod typed;

use super::pool::{Known, Pool, immediate};
use super::{Case, edges};
use crate::memory::{Binding, Memory};
use crate::rows::{Execution, execution};
use visakit_isa::object::Declaration;
use visakit_isa::operand::{Modifier, StateClass, StateOperand};
use visakit_isa::semantics::{
    Action, AddressUnit, AtomicOp, DataLayout, ElementSize, Memory as RowMemory, Storage,
};
use visakit_isa::table::{self, FieldKind};
use visakit_isa::{
    DataType, ElementCount, ExecSize, FieldName as F, Instruction, InstructionDef, Op, RawOperand,
    SurfaceId, Value, VarId, VectorOperand, enums,
};

/// Buffers of a case: bytes, an image of 64 bytes a row, counters.
const BUFFERS: [usize; 3] = [2048, 2048, 64];
/// Bytes of local memory.
const LOCAL: usize = 4096;
/// Binding-table index of the bytes and of the image.
const TABLE: u32 = 7;
const IMAGE: u32 = 9;
/// The surface's bytes as an image of texels.
const TEXELS: u32 = 11;
const HANDLE: u32 = 0x1240;
const STATE: u32 = 0x80;

/// Rows that are messages with a definition.
pub fn messages() -> impl Iterator<Item = &'static InstructionDef> {
    table::rows().filter(|row| matches!(execution(row.op), Execution::Message(_)))
}

/// The plan of a message under construction.
#[derive(Clone, Copy, Debug)]
struct Plan {
    row: &'static InstructionDef,
    exec: ExecSize,
    lanes: usize,
    /// Bytes of memory that a lane touches.
    span: usize,
    /// Bytes that addresses are multiples of.
    align: usize,
    /// Bytes of an address element.
    address: usize,
    /// Flat addresses of the first buffer.
    flat: bool,
    /// Local memory.
    local: bool,
    base: u64,
}

impl Case {
    /// Gives a case the memory that random messages act on.
    #[must_use]
    pub fn with_memory(mut self, buffers: Vec<Vec<u8>>) -> Self {
        self.addresses = Pool::addresses(&buffers);
        self.buffers = buffers;
        self.local_bytes = LOCAL;
        self.bindings = vec![
            (Binding::Table(TABLE), 0),
            (Binding::Table(IMAGE), 1),
            (Binding::Table(TEXELS), 1),
            (Binding::Handle(HANDLE), 0),
            (Binding::State(STATE), 0),
        ];
        self.images = vec![(IMAGE, 1), (TEXELS, crate::typed::TEXEL)];
        self.counters = vec![(TABLE, (2, 8))];
        self
    }
}

impl Pool {
    /// First content of the buffers.
    pub fn random_buffers(&mut self) -> Vec<Vec<u8>> {
        BUFFERS
            .iter()
            .map(|size| {
                if self.gentle {
                    edges::gentle(&mut self.rng, *size)
                } else {
                    edges::fill(&mut self.rng, DataType::F, *size)
                }
            })
            .collect()
    }

    /// Flat addresses that buffers of these sizes have in the fast machine.
    #[must_use]
    pub fn addresses(buffers: &[Vec<u8>]) -> Vec<u64> {
        let mut memory = visakit_exec::Memory::new(1 << 30);
        buffers
            .iter()
            .map(|bytes| memory.add_buffer(bytes).map_or(0, |id| memory.address(id)))
            .collect()
    }

    /// Appends a random message of a row, and what it needs before it.
    pub fn random_message(&mut self, row: &'static InstructionDef, base: u64) -> Option<usize> {
        let memory = row.memory?;
        let instruction = match (memory.storage, memory.layout) {
            (Storage::Lsc, DataLayout::Rectangle) => self.random_block2d(row, base)?,
            (_, DataLayout::Rectangle) => self.random_media(row)?,
            (Storage::Flat, DataLayout::Block) => self.random_svm_block(row, base)?,
            (_, DataLayout::Block) => self.random_owords(row)?,
            (_, DataLayout::Texels) => self.random_typed(row)?,
            (Storage::Lsc, _) => {
                let instruction = self.random_lsc(row, base)?;
                self.overlay(&instruction);
                instruction
            }
            _ => self.random_legacy(row, memory, base)?,
        };
        self.push(instruction);
        Some(self.body.code.len() - 1)
    }

    /// Puts the addresses of a message into what it writes, now and then: all of them are read before.
    fn overlay(&mut self, instruction: &Instruction) {
        let (Some(Value::Raw(to)), Some(Value::Raw(from))) =
            (instruction.get(F::Dst), instruction.get(F::Src0Addrs))
        else {
            return;
        };
        let (to, from) = (to.variable, from.variable);
        let (Some(into), Some(addresses)) = (self.set_of(to), self.set_of(from)) else {
            return;
        };
        let bytes = self.sets[addresses].1.clone();
        let Some(room) = self.sets[into].1.len().checked_sub(bytes.len()) else {
            return;
        };
        if self.rng.bool() {
            return;
        }
        let at = self.rng.usize(..=room / self.grf) * self.grf;
        self.sets[into].1[at..at + bytes.len()].copy_from_slice(&bytes);
        self.sets.remove(addresses);
        let index = from.0 - self.format.predefined_variable_count();
        let variable = &mut self.body.variables[index as usize];
        variable.alias = to;
        variable.alias_offset = u16::try_from(at).unwrap_or(0);
    }

    /// The place of the first content of a variable.
    fn set_of(&self, id: VarId) -> Option<usize> {
        let index = id.0.checked_sub(self.format.predefined_variable_count())?;
        let name = format!("V{}", index + 32);
        self.sets.iter().position(|(own, _)| *own == name)
    }

    /// A surface variable with that binding-table index.
    fn surface(&mut self, index: u32) -> SurfaceId {
        let count = self.body.surfaces.len();
        let id = usize::from(self.format.predefined_surface_count()) + count;
        let name = self.body.add_string(format!("T{id}").into_bytes());
        self.body.surfaces.push(Declaration {
            name,
            elements: 1,
            attributes: Vec::new(),
        });
        let state = StateOperand {
            modifier: Modifier::NONE,
            class: StateClass::SURFACE,
            index: u16::try_from(id).unwrap_or(0),
            offset: 0,
        };
        let exec = self.no_mask(1);
        self.push(
            Instruction::new(Op::MOVS)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Dst, Value::Vector(VectorOperand::State(state)))
                .with(
                    F::Src0,
                    Value::Vector(immediate(DataType::Ud, index.into())),
                ),
        );
        SurfaceId(u8::try_from(id).unwrap_or(0))
    }

    fn scalar_of(&mut self, ty: DataType, bits: u64) -> VectorOperand {
        if self.rng.bool() {
            return immediate(ty, bits);
        }
        let size = usize::from(ty.size());
        let known = self.variable(ty, &bits.to_le_bytes()[..size]);
        self.at(known, 0, visakit_isa::Region::SCALAR).into()
    }

    fn whole(known: Known) -> Value {
        Value::Raw(RawOperand {
            variable: known.id,
            offset: 0,
        })
    }

    /// A data operand of this size, sometimes not at the start of its variable.
    fn data(&mut self, bytes: usize) -> Value {
        let skip = if self.rng.u8(..5) == 0 { self.grf } else { 0 };
        let ty = *self
            .rng
            .choice(&[DataType::Ud, DataType::F, DataType::D])
            .unwrap_or(&DataType::Ud);
        let bytes = (bytes + skip).div_ceil(4) * 4;
        let known = if self.gentle {
            let content = edges::gentle(&mut self.rng, bytes);
            self.variable(ty, &content)
        } else {
            self.fresh(ty, bytes)
        };
        Value::Raw(RawOperand {
            variable: known.id,
            offset: u16::try_from(skip).unwrap_or(0),
        })
    }

    /// Distinct places for lanes, in units of the plan's span; a few may lie far outside.
    fn slots(&mut self, plan: Plan, from: usize) -> Vec<u64> {
        let room = (if plan.local { LOCAL } else { BUFFERS[0] } / plan.span).max(1);
        let mut all: Vec<u64> = (from..room).map(|s| s as u64).collect();
        if self.rng.bool() {
            self.rng.shuffle(&mut all);
        } else {
            let skip = self.rng.usize(..=all.len().saturating_sub(plan.lanes));
            all.drain(..skip);
        }
        all.truncate(plan.lanes);
        let dropping = !plan.flat && !plan.local && !is_atomic(plan.row);
        if dropping && self.rng.u8(..4) == 0 {
            for (lane, slot) in all.iter_mut().enumerate() {
                if self.rng.bool() {
                    *slot = 1_000_000 + lane as u64;
                }
            }
        }
        while all.len() < plan.lanes {
            all.push(all.len() as u64 % room as u64);
        }
        all
    }

    /// The address operand: lanes access `scale * address + offset`.
    fn lane_addresses(&mut self, plan: Plan, from: usize) -> Value {
        let slots = self.slots(plan, from);
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

    fn random_legacy(
        &mut self,
        row: &'static InstructionDef,
        memory: RowMemory,
        base: u64,
    ) -> Option<Instruction> {
        let qword = memory.element == ElementSize::Bytes(8);
        let flat = memory.storage == Storage::Flat;
        let in_elements = memory.unit == AddressUnit::Element;
        let local = !flat && self.rng.u8(..3) == 0;
        let mut exec = self.random_exec(1, if qword { 16 } else { 32 });
        let (mut lanes, mut count) = (usize::from(exec.lanes()?), None);
        if in_elements {
            let code = self.rng.u8(..3);
            let first = *self.rng.choice(&[0u8, 2])?;
            let chosen = ElementCount::from_bits(code | if code == 0 { first } else { 0 } << 4);
            lanes = usize::from(chosen.lanes()?);
            count = Some(chosen);
        }
        let mut instruction = Instruction::new(row.op);
        // The numbers first: they determine the amount of data.
        let blocks = self.rng.u8(..if qword { 4 } else { 3 });
        let block_size = self.rng.u8(..3);
        let element = self.rng.u8(..3);
        let channels = self.rng.u8(1..16);
        let operation = self.atomic_code();
        let operands = AtomicOp::from_code(operation)?.operands();
        let wide_atomic = if flat {
            self.rng.u8(..3)
        } else {
            self.rng.u8(..2)
        };
        let width = [4usize, 2, 8][usize::from(wide_atomic)];
        let (span, align, data) = match memory.element {
            ElementSize::Log2 => (1 << element, 1, lanes * 4),
            ElementSize::Bytes(8) => (8usize << blocks, 8, (8 << blocks) * lanes),
            ElementSize::BlockSize if !flat => (1 << blocks, 1, lanes * 4),
            ElementSize::BlockSize => {
                let size = 1usize << [0, 2, 3][usize::from(block_size)];
                let bytes = size << blocks;
                if blocks > 0 && lanes < 8 {
                    exec = self.random_exec(8, 16);
                    lanes = usize::from(exec.lanes()?);
                }
                (bytes, size, bytes.max(4) * lanes)
            }
            ElementSize::AtomicCode => (width, width, width.max(4) * lanes),
            _ => (16, 4, 4 * lanes.max(self.grf / 4) * 4),
        };
        let plan = Plan {
            row,
            exec,
            lanes,
            span,
            align,
            address: if flat { 8 } else { 4 },
            flat,
            local,
            base,
        };
        for field in row.fields_in(self.format) {
            let value = match (field.name, field.kind) {
                (_, FieldKind::ExecSize) => Value::ExecSize(plan.exec),
                (_, FieldKind::Predicate) => Value::Predicate(self.random_predicate(false)),
                (_, FieldKind::ElementCount) => Value::ElementCount(count?),
                (_, FieldKind::Surface) if local => Value::Surface(SurfaceId(0)),
                (_, FieldKind::Surface) => Value::Surface(self.surface(TABLE)),
                (F::EltSize, _) => Value::U8(element),
                (F::NumBlocks, _) => Value::U8(blocks),
                (F::BlockSize, _) if flat => Value::U8(block_size),
                (F::Channels, _) => Value::U8(channels),
                (F::Op, _) => Value::U8(operation | wide_atomic << 5),
                (_, FieldKind::U8) => Value::U8(0),
                (_, FieldKind::U16) => Value::U16(0),
                (F::GlobalOffset, _) => {
                    let units = if in_elements {
                        1
                    } else {
                        plan.align.max(4) as u64
                    };
                    let offset = if self.rng.bool() && !local {
                        self.rng.u64(..9)
                    } else {
                        0
                    };
                    Value::Vector(self.scalar_of(DataType::Ud, offset * units))
                }
                (F::Address, _) => Value::Vector(self.scalar_of(DataType::Uq, base)),
                (F::ElementOffset | F::Addresses, _) => {
                    let plan = Plan {
                        flat: plan.flat && field.name == F::Addresses,
                        ..plan
                    };
                    if in_elements {
                        // Places in elements; those of a byte fit for every size.
                        let room = if local { LOCAL } else { BUFFERS[0] + 256 } >> element;
                        let mut all: Vec<u32> = (0..u32::try_from(room).ok()?).collect();
                        self.rng.shuffle(&mut all);
                        all.truncate(lanes);
                        let bytes: Vec<u8> = all.iter().flat_map(|v| v.to_le_bytes()).collect();
                        Self::whole(self.variable(DataType::Ud, &bytes))
                    } else if flat && memory.layout == DataLayout::Channels {
                        let inside = Plan {
                            local: false,
                            flat: false,
                            ..plan
                        };
                        self.inside_addresses(inside)
                    } else {
                        self.lane_addresses(plan, 0)
                    }
                }
                (F::Src1, _) if operands < 2 => Value::Raw(RawOperand::NULL),
                (F::Src0, _) if operands < 1 => Value::Raw(RawOperand::NULL),
                (F::Dst, _) if is_atomic(row) && self.rng.u8(..3) == 0 => {
                    Value::Raw(RawOperand::NULL)
                }
                (_, FieldKind::Raw) => self.data(data),
                _ => return None,
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }

    /// Offsets that are all inside of the buffer.
    fn inside_addresses(&mut self, plan: Plan) -> Value {
        let plan = Plan {
            flat: true,
            base: 0,
            ..plan
        };
        self.lane_addresses(plan, 0)
    }

    fn atomic_code(&mut self) -> u8 {
        use enums::atomic_op as is;
        *self
            .rng
            .choice(&[
                is::ADD,
                is::SUB,
                is::INC,
                is::DEC,
                is::MIN,
                is::MAX,
                is::XCHG,
                is::CMPXCHG,
                is::AND,
                is::OR,
                is::XOR,
                is::MINSINT,
                is::MAXSINT,
                is::PREDEC,
                is::FMAX,
                is::FMIN,
                is::FCMPWR,
            ])
            .unwrap_or(&0)
    }

    fn random_owords(&mut self, row: &'static InstructionDef) -> Option<Instruction> {
        let local = self.rng.u8(..3) == 0;
        let size = self.rng.u8(..4);
        let bytes = 16usize << size;
        let unaligned = row.memory?.unit == AddressUnit::Bytes(1);
        let unit = if unaligned { 4 } else { 16 };
        let room = if local {
            LOCAL - bytes
        } else {
            BUFFERS[0] + 64
        };
        let place = self.rng.usize(..room / unit) as u64;
        let offset = if unit == 4 { place * 4 } else { place };
        let mut instruction = Instruction::new(row.op);
        for field in row.fields {
            let value = match field.name {
                F::Size => Value::U8(size),
                F::IsModified => Value::U8(0),
                F::Surface if local => Value::Surface(SurfaceId(0)),
                F::Surface => Value::Surface(self.surface(TABLE)),
                F::Offset => Value::Vector(self.scalar_of(DataType::Ud, offset)),
                _ => self.data(bytes),
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }

    fn random_svm_block(&mut self, row: &'static InstructionDef, base: u64) -> Option<Instruction> {
        let size = self.rng.u8(..4);
        let bytes = 16usize << size;
        let loads = row.memory?.action == Action::Load;
        let unaligned = loads && self.rng.bool();
        let unit = if unaligned { 4 } else { 16 };
        let place = self.rng.usize(..=(BUFFERS[0] - bytes) / unit) * unit;
        let address = self.scalar_of(DataType::Uq, base + place as u64);
        let data = self.data(bytes);
        let last = if loads { F::Dst } else { F::Src };
        Some(
            Instruction::new(row.op)
                .with(F::Properties, Value::U8(size | u8::from(unaligned) << 3))
                .with(F::Address, Value::Vector(address))
                .with(last, data),
        )
    }

    fn random_media(&mut self, row: &'static InstructionDef) -> Option<Instruction> {
        let loads = row.memory?.action == Action::Load;
        let width = self.rng.usize(1..=64);
        let width = if loads { width } else { width.div_ceil(4) * 4 };
        let pitch = width.next_power_of_two().max(4);
        let rows = BUFFERS[1] / Memory::ROW;
        let height = self.rng.usize(1..=(256 / pitch).min(rows));
        let x = self.rng.usize(..=64 - width);
        let x = if loads { x } else { x / 4 * 4 };
        let slack = if loads { 0 } else { 2 };
        let y = self.rng.usize(..=rows - height + slack);
        let surface = self.surface(IMAGE);
        let (x, y) = (
            self.scalar_of(DataType::Ud, x as u64),
            self.scalar_of(DataType::Ud, y as u64),
        );
        let data = self.data(pitch * height);
        let last = if loads { F::Dst } else { F::Src };
        Some(
            Instruction::new(row.op)
                .with(F::Modifier, Value::U8(0))
                .with(F::Surface, Value::Surface(surface))
                .with(F::Plane, Value::U8(0))
                .with(F::BlockWidth, Value::U8(u8::try_from(width).ok()?))
                .with(F::BlockHeight, Value::U8(u8::try_from(height).ok()?))
                .with(F::XOffset, Value::Vector(x))
                .with(F::YOffset, Value::Vector(y))
                .with(last, data),
        )
    }
}

fn is_atomic(row: &InstructionDef) -> bool {
    row.memory.is_some_and(|memory| memory.action.is_atomic())
}
