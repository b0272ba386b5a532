//! Random messages on small memories.

use super::pool::{Known, Pool, immediate};
use super::{Case, edges};
use crate::atomic::Atomic;
use crate::memory::{Binding, Memory};
use visakit_isa::object::Declaration;
use visakit_isa::operand::{Modifier, StateClass, StateOperand};
use visakit_isa::table::{self, FieldKind, Role};
use visakit_isa::{
    DataType, ElementCount, ExecSize, FieldName as F, Instruction, InstructionDef, Op, RawOperand,
    SurfaceId, Value, VectorOperand, enums,
};

/// Buffers of a case: bytes, an image of 64 bytes a row, counters.
const BUFFERS: [usize; 3] = [2048, 2048, 64];
/// Bytes of local memory.
const LOCAL: usize = 4096;
/// Binding-table index of the bytes and of the image.
const TABLE: u32 = 7;
const IMAGE: u32 = 9;
const HANDLE: u32 = 0x1240;
const STATE: u32 = 0x80;

/// Rows that are messages with a definition.
pub fn messages() -> impl Iterator<Item = &'static InstructionDef> {
    table::rows().filter(|row| {
        matches!(
            row.op,
            Op::GATHER
                | Op::SCATTER
                | Op::GATHER4_SCALED
                | Op::SCATTER4_SCALED
                | Op::GATHER_SCALED
                | Op::SCATTER_SCALED
                | Op::QW_GATHER
                | Op::QW_SCATTER
                | Op::DWORD_ATOMIC
                | Op::OWORD_LD
                | Op::OWORD_LD_UNALIGNED
                | Op::OWORD_ST
                | Op::MEDIA_LD
                | Op::MEDIA_ST
                | Op::SVM_BLOCK_LD
                | Op::SVM_BLOCK_ST
                | Op::SVM_GATHER
                | Op::SVM_SCATTER
                | Op::SVM_ATOMIC
                | Op::SVM_GATHER4SCALED
                | Op::SVM_SCATTER4SCALED
                | Op::LSC_LOAD
                | Op::LSC_LOAD_STRIDED
                | Op::LSC_LOAD_QUAD
                | Op::LSC_LOAD_BLOCK2D
                | Op::LSC_LOAD_STATUS
                | Op::LSC_STORE
                | Op::LSC_STORE_STRIDED
                | Op::LSC_STORE_QUAD
                | Op::LSC_STORE_BLOCK2D
                | Op::LSC_STORE_UNCOMPRESSED
                | Op::LSC_APNDCTR_ATOMIC_ADD
                | Op::LSC_APNDCTR_ATOMIC_SUB
        ) || Atomic::of_lsc(row.op).is_some()
    })
}

/// What a message under construction is about.
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
            (Binding::Handle(HANDLE), 0),
            (Binding::State(STATE), 0),
        ];
        self.images = vec![(IMAGE, 1)];
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
        let instruction = match row.op {
            Op::LSC_LOAD_BLOCK2D | Op::LSC_STORE_BLOCK2D => self.random_block2d(row, base)?,
            Op::MEDIA_LD | Op::MEDIA_ST => self.random_media(row)?,
            Op::OWORD_LD | Op::OWORD_LD_UNALIGNED | Op::OWORD_ST => self.random_owords(row)?,
            Op::SVM_BLOCK_LD | Op::SVM_BLOCK_ST => self.random_svm_block(row, base)?,
            _ if row.name.starts_with("LSC") => self.random_lsc(row, base)?,
            _ => self.random_legacy(row, base)?,
        };
        self.push(instruction);
        Some(self.body.code.len() - 1)
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

    /// A data operand of so many bytes, sometimes not at the start of its variable.
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

    /// The address operand: `scale * address + offset` is what the lanes access.
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

    fn random_legacy(&mut self, row: &'static InstructionDef, base: u64) -> Option<Instruction> {
        let qword = matches!(row.op, Op::QW_GATHER | Op::QW_SCATTER);
        let flat = row.name.starts_with("SVM");
        let local = !flat && self.rng.u8(..3) == 0;
        let mut exec = self.random_exec(1, if qword { 16 } else { 32 });
        let (mut lanes, mut count) = (usize::from(exec.lanes()?), None);
        if matches!(row.op, Op::GATHER | Op::SCATTER) {
            let code = self.rng.u8(..3);
            let first = *self.rng.choice(&[0u8, 2])?;
            let chosen = ElementCount::from_bits(code | if code == 0 { first } else { 0 } << 4);
            lanes = usize::from(chosen.lanes()?);
            count = Some(chosen);
        }
        let mut instruction = Instruction::new(row.op);
        // The numbers first: they tell how much data there is.
        let blocks = self.rng.u8(..if qword { 4 } else { 3 });
        let block_size = self.rng.u8(..3);
        let element = self.rng.u8(..3);
        let channels = self.rng.u8(1..16);
        let operation = self.atomic_code();
        let wide_atomic = if flat {
            self.rng.u8(..3)
        } else {
            self.rng.u8(..2)
        };
        let width = [4usize, 2, 8][usize::from(wide_atomic)];
        let (span, align, data) = match row.op {
            Op::GATHER | Op::SCATTER => (1 << element, 1, lanes * 4),
            Op::GATHER_SCALED | Op::SCATTER_SCALED => (1 << blocks, 1, lanes * 4),
            Op::QW_GATHER | Op::QW_SCATTER => (8usize << blocks, 8, (8 << blocks) * lanes),
            Op::SVM_GATHER | Op::SVM_SCATTER => {
                let size = 1usize << [0, 2, 3][usize::from(block_size)];
                let bytes = size << blocks;
                if blocks > 0 && lanes < 8 {
                    exec = self.random_exec(8, 16);
                    lanes = usize::from(exec.lanes()?);
                }
                (bytes, size, bytes.max(4) * lanes)
            }
            Op::DWORD_ATOMIC | Op::SVM_ATOMIC => (width, width, width.max(4) * lanes),
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
        let in_elements = matches!(row.op, Op::GATHER | Op::SCATTER);
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
                    } else if row.op == Op::SVM_GATHER4SCALED || row.op == Op::SVM_SCATTER4SCALED {
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
                (F::Src1, _)
                    if !matches!(
                        operation,
                        enums::atomic_op::CMPXCHG | enums::atomic_op::FCMPWR
                    ) =>
                {
                    Value::Raw(RawOperand::NULL)
                }
                (F::Src0, _)
                    if matches!(
                        operation,
                        enums::atomic_op::INC | enums::atomic_op::DEC | enums::atomic_op::PREDEC
                    ) =>
                {
                    Value::Raw(RawOperand::NULL)
                }
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
        let unit = if row.op == Op::OWORD_LD_UNALIGNED {
            4
        } else {
            16
        };
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
        let unaligned = row.op == Op::SVM_BLOCK_LD && self.rng.bool();
        let unit = if unaligned { 4 } else { 16 };
        let place = self.rng.usize(..=(BUFFERS[0] - bytes) / unit) * unit;
        let address = self.scalar_of(DataType::Uq, base + place as u64);
        let data = self.data(bytes);
        let last = if row.op == Op::SVM_BLOCK_LD {
            F::Dst
        } else {
            F::Src
        };
        Some(
            Instruction::new(row.op)
                .with(F::Properties, Value::U8(size | u8::from(unaligned) << 3))
                .with(F::Address, Value::Vector(address))
                .with(last, data),
        )
    }

    fn random_media(&mut self, row: &'static InstructionDef) -> Option<Instruction> {
        let loads = row.op == Op::MEDIA_LD;
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

    fn random_block2d(&mut self, row: &'static InstructionDef, base: u64) -> Option<Instruction> {
        let loads = row.op == Op::LSC_LOAD_BLOCK2D;
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

    fn random_lsc(&mut self, row: &'static InstructionDef, base: u64) -> Option<Instruction> {
        use enums::{
            lsc_addr_size, lsc_addr_type, lsc_data_order, lsc_data_size as size, lsc_sfid,
        };
        let op = row.op;
        let atomic = Atomic::of_lsc(op);
        let counter = matches!(op, Op::LSC_APNDCTR_ATOMIC_ADD | Op::LSC_APNDCTR_ATOMIC_SUB);
        let quad = matches!(op, Op::LSC_LOAD_QUAD | Op::LSC_STORE_QUAD);
        let strided = matches!(op, Op::LSC_LOAD_STRIDED | Op::LSC_STORE_STRIDED);
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
        // Where it goes.
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
        let loads = matches!(
            op,
            Op::LSC_LOAD | Op::LSC_LOAD_STRIDED | Op::LSC_LOAD_QUAD | Op::LSC_LOAD_STATUS
        );
        let stores = op.name().starts_with("LSC_STORE");
        let unary = matches!(atomic, Some(Atomic::Inc | Atomic::Dec | Atomic::Load));
        let ternary = matches!(
            atomic,
            Some(Atomic::CompareExchange | Atomic::FCompareExchange)
        );
        let null = Value::Raw(RawOperand::NULL);
        let mut instruction = Instruction::new(op);
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
    fn scaled_addresses(&mut self, plan: Plan, scale: usize, from: usize, shifted: bool) -> Value {
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

fn is_atomic(row: &InstructionDef) -> bool {
    matches!(row.op, Op::DWORD_ATOMIC | Op::SVM_ATOMIC) || Atomic::of_lsc(row.op).is_some()
}
