//! Random instructions, after the rows of the table.

use super::edges;
use super::pool::{
    Known, Pool, READ_PREDICATES, immediate, modified, multi_address, predicate_operand,
};
use super::typing;
use visakit_isa::operand::{
    GeneralOperand, Modifier, OperandClass, PredicateCombine, StateClass, StateOperand,
};
use visakit_isa::table::{self, FieldDef, FieldKind, Group, Role, Saturation, SourceModifiers};
use visakit_isa::{
    DataType, ExecMask, ExecSize, FieldName as F, Instruction, InstructionDef, Op, Predicate,
    PredicateId, RawOperand, Region, Value, VectorOperand, enums,
};

/// Why the generator has no instructions of a row.
pub type Undefined = &'static str;

/// Rows of the groups below that have no definition to compare with.
const NOT_DEFINED: &[(Op, Undefined)] = &[
    (
        Op::INVM,
        "gives a first approximation that is not specified",
    ),
    (
        Op::RSQTM,
        "gives a first approximation that is not specified",
    ),
    (Op::TANH, "no written definition"),
    (Op::SIGM, "no written definition"),
    (Op::LFSR, "no written definition"),
    (Op::SHFL_IDX4, "no written definition"),
    (Op::DNSCL, "no written definition"),
    (
        Op::BF_CVT,
        "no written definition, reserved in every release that is known to have files",
    ),
    (Op::DPASW, "needs a second thread"),
    (Op::BDPAS, "no written definition"),
];

/// Rows that compute on registers and are generated.
pub fn generated() -> impl Iterator<Item = &'static InstructionDef> {
    table::rows().filter(|row| computes(row) && !NOT_DEFINED.iter().any(|(op, _)| *op == row.op))
}

/// Rows that compute on registers but are not generated, and why.
pub fn undefined() -> impl Iterator<Item = (&'static InstructionDef, Undefined)> {
    NOT_DEFINED.iter().map(|(op, why)| (op.def(), *why))
}

fn computes(row: &InstructionDef) -> bool {
    matches!(
        row.group,
        Group::Arithmetic | Group::Logic | Group::Move | Group::Compare | Group::Address
    ) || matches!(row.op, Op::DPAS | Op::DPASW | Op::BDPAS)
}

impl Pool {
    /// Appends a random instruction of a row, and what it needs before it. The variables that it
    /// writes belong to it alone.
    ///
    /// Returns where it stands; `None` if no operands were found.
    pub fn random(&mut self, row: &'static InstructionDef) -> Option<usize> {
        let instruction = match row.op {
            Op::SETP => self.random_setp()?,
            Op::MOVS => self.random_movs(),
            Op::ADDR_ADD => self.random_addr_add()?,
            Op::DPAS => self.random_dpas()?,
            Op::MOV if self.rng.u8(..20) == 0 => self.random_mov_of_predicate(),
            Op::AND | Op::OR | Op::XOR | Op::NOT if self.rng.u8(..8) == 0 => {
                self.random_predicate_logic(row)
            }
            _ => self.random_by_fields(row)?,
        };
        self.push(instruction);
        Some(self.body.code.len() - 1)
    }

    /// A random execution size of at most so many lanes, with a random mask.
    pub fn random_exec(&mut self, at_least: u8, at_most: u8) -> ExecSize {
        let sizes: Vec<u8> = [1u8, 2, 4, 8, 16, 32]
            .into_iter()
            .filter(|s| (at_least..=at_most).contains(s))
            .collect();
        let lanes = self.rng.choice(sizes).unwrap_or(1);
        let step = lanes.max(4);
        let first = self.rng.u8(..32 / step) * step;
        let mask = ExecMask {
            first_lane: if self.rng.bool() { 0 } else { first },
            no_mask: self.rng.u8(..4) == 0,
        };
        ExecSize::new(lanes, mask, self.format).unwrap_or_default()
    }

    /// A random predication word.
    pub fn random_predicate(&mut self, required: bool) -> Predicate {
        if !required && self.rng.bool() {
            return Predicate::NONE;
        }
        let id = PredicateId(self.rng.u16(1..=READ_PREDICATES));
        let combine = match self.rng.u8(..8) {
            0 => PredicateCombine::Any,
            1 => PredicateCombine::All,
            _ => PredicateCombine::PerLane,
        };
        Predicate::new(id, combine, self.rng.bool()).unwrap_or(Predicate::NONE)
    }

    fn random_by_fields(&mut self, row: &'static InstructionDef) -> Option<Instruction> {
        let (to, types) = typing::choose(&mut self.rng, row)?;
        let (least, most) = match row.op {
            Op::SAD2 | Op::SAD2ADD => (2, 16),
            Op::PLANE => (8, 16),
            Op::DP2 | Op::DP3 | Op::DP4 | Op::DPH => (4, 32),
            _ => (1, 32),
        };
        let mut exec = self.random_exec(least, most);
        if matches!(row.op, Op::SRND | Op::FCVT) {
            exec = self.no_mask(exec.lanes()?);
        }
        let lanes = usize::from(exec.lanes()?);
        let mut instruction = Instruction::new(row.op);
        let mut types = types.into_iter();
        let mut first_dst = None;
        for field in row.fields_in(self.format) {
            let value = match (field.kind, field.role) {
                (FieldKind::ExecSize, _) => Value::ExecSize(exec),
                (FieldKind::Predicate, _) if row.op == Op::ADD3O => {
                    let id = self.predicate();
                    let bits = self.rng.u32(..);
                    self.set_predicate(id, bits);
                    Value::Predicate(Predicate::from_bits(id.0))
                }
                (FieldKind::Predicate, _) => {
                    Value::Predicate(self.random_predicate(row.op == Op::SEL))
                }
                (FieldKind::U8, _) => Value::U8(self.random_number(field)),
                (FieldKind::Vector, Role::Destination) => {
                    let operand = self.random_destination(row, field, to, lanes)?;
                    first_dst.get_or_insert(operand);
                    Value::Vector(operand)
                }
                (FieldKind::Vector, Role::Source) => {
                    let ty = types.next()?;
                    let in_place = first_dst
                        .filter(|_| field.name == F::Src0 && ty == to && self.rng.u8(..10) == 0);
                    let operand = match in_place.and_then(in_place_source) {
                        Some(operand)
                            if !matches!(
                                row.op,
                                Op::MADW
                                    | Op::DP2
                                    | Op::DP3
                                    | Op::DP4
                                    | Op::DPH
                                    | Op::LINE
                                    | Op::PLANE
                            ) =>
                        {
                            operand
                        }
                        _ => self.random_source(row, field, ty, lanes)?,
                    };
                    Value::Vector(operand)
                }
                _ => return None,
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }

    fn random_number(&mut self, field: &FieldDef) -> u8 {
        match field.name {
            F::RelOp => self.rng.u8(..6),
            F::Op => self.rng.u8(..2),
            _ => self.rng.u8(..),
        }
    }

    /// A fresh variable with edges, of at least so many bytes.
    pub fn fresh(&mut self, ty: DataType, bytes: usize) -> Known {
        let content = edges::fill(&mut self.rng, ty, bytes);
        self.variable(ty, &content)
    }

    fn random_destination(
        &mut self,
        row: &InstructionDef,
        field: &FieldDef,
        ty: DataType,
        lanes: usize,
    ) -> Option<VectorOperand> {
        let to_predicate = field.classes.has(OperandClass::Predicate);
        if row.op == Op::CMP && to_predicate && self.rng.u8(..4) != 0 {
            let id = self.predicate();
            let bits = self.rng.u32(..);
            self.set_predicate(id, bits);
            return Some(predicate_operand(id));
        }
        let mut known = self.fresh(ty, 320);
        if self.rng.u8(..6) == 0 {
            let size = usize::from(ty.size());
            let offset = self.rng.usize(..8) * size;
            known = self.alias(ty, known.id, offset, 320 - offset);
        }
        let strides: &[u8] = if row.op == Op::MADW {
            &[1]
        } else {
            &[1, 1, 1, 2, 4]
        };
        let mut stride = *self.rng.choice(strides)?;
        let span = |stride: u8| (lanes - 1) * usize::from(stride) + 1;
        if span(stride) > known.elements {
            stride = 1;
        }
        let room = known.elements.checked_sub(span(stride))?;
        let first = if row.op == Op::MADW || self.rng.bool() {
            0
        } else {
            self.rng.usize(..=room.min(40))
        };
        let region = Region::destination(stride)?;
        let saturation = match row.saturation {
            Saturation::Yes => true,
            Saturation::Float => TypeSetOf(ty).is_float(),
            _ => false,
        };
        let modifier = if saturation && self.rng.u8(..4) == 0 {
            Modifier::SAT
        } else {
            Modifier::NONE
        };
        if field.classes.has(OperandClass::Indirect) && row.op != Op::MADW && self.rng.u8(..8) == 0
        {
            let size = usize::from(ty.size());
            let bytes = u16::try_from(first * size).ok()?;
            let shift =
                self.rng.u16(..=bytes.min(400)) / u16::from(ty.size()) * u16::from(ty.size());
            let address = self.point(known, &[bytes - shift]);
            let operand = Self::through(address, ty, i16::try_from(shift).ok()?, region);
            return Some(modified(operand, modifier));
        }
        let operand = self.at(known, first, region);
        Some(modified(operand.into(), modifier))
    }

    fn random_source(
        &mut self,
        row: &InstructionDef,
        field: &FieldDef,
        ty: DataType,
        lanes: usize,
    ) -> Option<VectorOperand> {
        let classes = field.classes;
        let roll = self.rng.u8(..20);
        let mut operand = if roll < 5 && classes.has(OperandClass::Immediate) {
            return self.random_immediate(ty, lanes);
        } else if roll < 7 && classes.has(OperandClass::Indirect) {
            self.random_indirect(ty, lanes)?
        } else if roll < 8 && classes.has(OperandClass::Indirect) {
            self.random_multi_address(ty, lanes)?
        } else {
            self.random_general(ty, lanes)?
        };
        if matches!(row.op, Op::PLANE | Op::LINE) && field.name == F::Src0 || row.op == Op::PLANE {
            operand = self.at(self.some_variable(ty)?, 0, Region::SCALAR).into();
        }
        let modifier = match row.source_modifiers {
            SourceModifiers::Arithmetic => *self.rng.choice(&[
                Modifier::NONE,
                Modifier::NONE,
                Modifier::NONE,
                Modifier::NONE,
                Modifier::NEG,
                Modifier::NEG,
                Modifier::ABS,
                Modifier::NEG_ABS,
            ])?,
            SourceModifiers::Logic if self.rng.u8(..4) == 0 && !TypeSetOf(ty).is_float() => {
                Modifier::NOT
            }
            _ => Modifier::NONE,
        };
        Some(modified(operand, modifier))
    }

    fn random_immediate(&mut self, ty: DataType, lanes: usize) -> Option<VectorOperand> {
        let packed = self.rng.u8(..3) == 0;
        let word = u64::from(self.rng.u32(..));
        Some(match ty {
            DataType::W if packed && lanes <= 8 => immediate(DataType::V, word),
            DataType::Uw if packed && lanes <= 8 => immediate(DataType::Uv, word),
            DataType::F if packed && lanes <= 4 => immediate(DataType::Vf, word),
            _ => immediate(ty, edges::bits(&mut self.rng, ty)),
        })
    }

    /// A variable of that type with edges.
    fn some_variable(&self, ty: DataType) -> Option<Known> {
        let all: Vec<Known> = self
            .sources
            .iter()
            .filter(|k| k.ty == ty)
            .copied()
            .collect();
        let index = self.rng.clone().usize(..all.len().max(1));
        all.get(index).copied()
    }

    /// A region, and the number of elements that it spans.
    fn random_region(&mut self, lanes: usize) -> Option<(Region, usize)> {
        let span = |v: u8, w: u8, h: u8| {
            let w = usize::from(w);
            let rows = lanes.div_ceil(w).saturating_sub(1);
            rows * usize::from(v) + (w.min(lanes) - 1) * usize::from(h) + 1
        };
        let (v, w, h) = match self.rng.u8(..10) {
            0..=3 => (1, 1, 0),
            4 | 5 => (0, 1, 0),
            6 if lanes >= 8 => (8, 8, 1),
            7 if lanes >= 16 => (16, 16, 1),
            8 => (*self.rng.choice(&[2, 4])?, 1, 0),
            _ => {
                let widths: Vec<u8> = [1u8, 2, 4, 8, 16]
                    .into_iter()
                    .filter(|w| usize::from(*w) <= lanes)
                    .collect();
                (
                    *self.rng.choice(&[0, 1, 2, 4, 8, 16, 32])?,
                    self.rng.choice(widths)?,
                    *self.rng.choice(&[0, 1, 2, 4])?,
                )
            }
        };
        Some((Region::source(v, w, h)?, span(v, w, h)))
    }

    /// A variable and a first element so that a region fits.
    fn place(&mut self, ty: DataType, lanes: usize) -> Option<(Known, usize, Region)> {
        let _ = self.rng.u8(..);
        let known = self.some_variable(ty)?;
        let (mut region, mut span) = self.random_region(lanes)?;
        if span > known.elements {
            (region, span) = (Region::source(1, 1, 0)?, lanes);
        }
        let room = known.elements.checked_sub(span)?;
        let first = if self.rng.bool() {
            0
        } else {
            self.rng.usize(..=room)
        };
        Some((known, first, region))
    }

    fn random_general(&mut self, ty: DataType, lanes: usize) -> Option<VectorOperand> {
        let (known, first, region) = self.place(ty, lanes)?;
        Some(self.at(known, first, region).into())
    }

    fn random_indirect(&mut self, ty: DataType, lanes: usize) -> Option<VectorOperand> {
        let (known, first, region) = self.place(ty, lanes)?;
        let size = u16::from(ty.size());
        let bytes = u16::try_from(first).ok()? * size;
        let shift = self.rng.u16(..=bytes.min(500)) / size * size;
        let address = self.point(known, &[bytes - shift]);
        Some(Self::through(
            address,
            ty,
            i16::try_from(shift).ok()?,
            region,
        ))
    }

    fn random_multi_address(&mut self, ty: DataType, lanes: usize) -> Option<VectorOperand> {
        let width = if lanes > 16 || self.rng.bool() {
            *self.rng.choice(&[2u8, 4, 8])?
        } else {
            1
        };
        let rows = lanes / usize::from(width);
        if rows == 0 || rows > 16 {
            return None;
        }
        let horizontal = if width == 1 {
            0
        } else {
            *self.rng.choice(&[0u8, 1, 2])?
        };
        let known = self.some_variable(ty)?;
        let span = (usize::from(width) - 1) * usize::from(horizontal) + 1;
        let room = known.elements.checked_sub(span)?;
        let size = u16::from(ty.size());
        let offsets: Vec<u16> = (0..rows)
            .map(|_| u16::try_from(self.rng.usize(..=room)).unwrap_or(0) * size)
            .collect();
        let address = self.point(known, &offsets);
        Some(Self::through(
            address,
            ty,
            0,
            multi_address(width, horizontal),
        ))
    }

    fn random_setp(&mut self) -> Option<Instruction> {
        let id = self.predicate();
        let bits = self.rng.u32(..);
        self.set_predicate(id, bits);
        let ty = *self
            .rng
            .choice(&[DataType::Ud, DataType::Uw, DataType::Ub])?;
        let scalar = self.rng.bool();
        let lanes = if scalar {
            *self.rng.choice(&[16, 32])?
        } else {
            *self.rng.choice(&[1u8, 8, 16, 32])?
        };
        let mask = ExecMask {
            first_lane: if lanes == 16 && self.rng.bool() {
                16
            } else {
                0
            },
            no_mask: true,
        };
        let exec = ExecSize::new(lanes, mask, self.format)?;
        let source = if scalar {
            // A scalar has a bit for every lane.
            let ty = if lanes == 32 { DataType::Ud } else { ty };
            if self.rng.bool() {
                immediate(ty, edges::bits(&mut self.rng, ty))
            } else {
                let known = self.some_variable(ty)?;
                let element = self.rng.usize(..known.elements);
                self.at(known, element, Region::SCALAR).into()
            }
        } else {
            let known = self.some_variable(ty)?;
            self.at(known, 0, Region::source(1, 1, 0)?).into()
        };
        Some(
            Instruction::new(Op::SETP)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Dst, Value::Vector(predicate_operand(id)))
                .with(F::Src0, Value::Vector(source)),
        )
    }

    /// Into a surface variable, and from there into a general one.
    fn random_movs(&mut self) -> Instruction {
        let index = self.body.surfaces.len() + usize::from(self.format.predefined_surface_count());
        let name = self.body.add_string(format!("T{index}").into_bytes());
        self.body.surfaces.push(visakit_isa::object::Declaration {
            name,
            elements: 8,
            attributes: Vec::new(),
        });
        let lanes = 1 << self.rng.u8(..4);
        let state = VectorOperand::State(StateOperand {
            modifier: Modifier::NONE,
            class: StateClass::SURFACE,
            index: u16::try_from(index).unwrap_or(0),
            offset: if lanes == 8 {
                0
            } else {
                self.rng.u8(..=8 - lanes)
            },
        });
        let value: VectorOperand = match self.some_variable(DataType::Ud) {
            Some(known) if self.rng.bool() => {
                let first = self.rng.usize(..8);
                GeneralOperand {
                    region: Region::source(1, 1, 0).unwrap_or(Region::SCALAR),
                    ..self.at(known, first, Region::SCALAR)
                }
                .into()
            }
            _ => immediate(DataType::Ud, u64::from(self.rng.u8(..))),
        };
        let exec = self.no_mask(lanes);
        let movs = |dst, src| {
            Instruction::new(Op::MOVS)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Dst, Value::Vector(dst))
                .with(F::Src0, Value::Vector(src))
        };
        self.push(movs(state, value));
        let known = self.fresh(DataType::Ud, 64);
        let region = Region::destination(1).unwrap_or(Region::SCALAR);
        movs(self.at(known, 0, region).into(), state)
    }

    /// An address from an address, and an element read through it.
    fn random_addr_add(&mut self) -> Option<Instruction> {
        let known = self.some_variable(DataType::Ud)?;
        let offsets: Vec<u16> = (0..8).map(|_| self.rng.u16(..32) * 4).collect();
        let from = self.point(known, &offsets);
        let to = self.address(8);
        let width = self.rng.u8(..4);
        let operand = |address, width| {
            VectorOperand::Address(visakit_isa::operand::AddressOperand {
                address,
                width,
                ..visakit_isa::operand::AddressOperand::default()
            })
        };
        let more = immediate(DataType::Uw, u64::from(self.rng.u16(..32) * 4));
        let exec = self.no_mask(8);
        self.push(
            Instruction::new(Op::ADDR_ADD)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Dst, Value::Vector(operand(to, 3)))
                .with(F::Src0, Value::Vector(operand(from, width)))
                .with(F::Src1, Value::Vector(more)),
        );
        let known = self.fresh(DataType::Ud, 64);
        let dst = self.at(known, 0, Region::destination(1)?);
        let source = Self::through(to, DataType::Ud, 0, multi_address(1, 0));
        Some(
            Instruction::new(Op::MOV)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Pred, Value::Predicate(Predicate::NONE))
                .with(F::Dst, Value::Vector(dst.into()))
                .with(F::Src0, Value::Vector(source)),
        )
    }

    fn random_mov_of_predicate(&mut self) -> Instruction {
        let known = self.fresh(DataType::Ud, 64);
        let region = Region::destination(1).unwrap_or(Region::SCALAR);
        let id = PredicateId(self.rng.u16(1..=READ_PREDICATES));
        Instruction::new(Op::MOV)
            .with(F::ExecSize, Value::ExecSize(self.no_mask(1)))
            .with(F::Pred, Value::Predicate(Predicate::NONE))
            .with(F::Dst, Value::Vector(self.at(known, 3, region).into()))
            .with(F::Src0, Value::Vector(predicate_operand(id)))
    }

    fn random_predicate_logic(&mut self, row: &InstructionDef) -> Instruction {
        let id = self.predicate();
        let bits = self.rng.u32(..);
        self.set_predicate(id, bits);
        let mut exec = self.random_exec(8, 32);
        if exec.mask(self.format).is_none_or(|m| !m.no_mask) {
            exec = self.no_mask(exec.lanes().unwrap_or(8));
        }
        let mut read = || predicate_operand(PredicateId(self.rng.u16(1..=READ_PREDICATES)));
        let instruction = Instruction::new(row.op)
            .with(F::ExecSize, Value::ExecSize(exec))
            .with(F::Pred, Value::Predicate(Predicate::NONE))
            .with(F::Dst, Value::Vector(predicate_operand(id)))
            .with(F::Src0, Value::Vector(read()));
        if row.op == Op::NOT {
            instruction
        } else {
            instruction.with(F::Src1, Value::Vector(read()))
        }
    }

    fn random_dpas(&mut self) -> Option<Instruction> {
        use enums::precision as is;
        let lanes = self.grf / 4;
        let integers = [is::U2, is::S2, is::U4, is::S4, is::U8, is::S8];
        let (w, a, ty) = if self.rng.bool() {
            let ty = *self.rng.choice(&[DataType::D, DataType::Ud])?;
            (
                *self.rng.choice(&integers)?,
                *self.rng.choice(&integers)?,
                ty,
            )
        } else {
            let p = *self.rng.choice(&[is::BF, is::HF, is::TF32])?;
            let narrow = match p {
                is::BF if self.grf == 64 => DataType::Bf,
                is::HF if self.grf == 64 => DataType::Hf,
                _ => DataType::F,
            };
            (p, p, *self.rng.choice(&[narrow, DataType::F])?)
        };
        let repeat = self.rng.u8(1..=8);
        let matrix = |pool: &mut Self, p: u8, bytes: usize| {
            let content: Vec<u8> = (0..bytes / 4)
                .flat_map(|_| {
                    let small = |rng: &mut fastrand::Rng| f32::from(rng.i8(-8..8)) / 4.0;
                    let pair: [f32; 2] = [small(&mut pool.rng), small(&mut pool.rng)];
                    let word = match p {
                        is::BF => (pair[0].to_bits() >> 16) | (pair[1].to_bits() & 0xffff_0000),
                        is::TF32 => pair[0].to_bits(),
                        is::HF => {
                            let half = |v: f32| {
                                crate::float::Real::from_f64(v.into(), crate::float::Format::Half)
                                    .bits
                            };
                            u32::try_from(half(pair[0]) | half(pair[1]) << 16).unwrap_or(0)
                        }
                        _ => pool.rng.u32(..),
                    };
                    word.to_le_bytes()
                })
                .collect();
            pool.variable(DataType::D, &content)
        };
        let rows = usize::from(repeat) * lanes;
        let acc = match ty {
            DataType::D | DataType::Ud => self.fresh(ty, rows * 4),
            _ => {
                let bytes: Vec<u8> = (0..rows)
                    .flat_map(|_| {
                        let value = f64::from(self.rng.i8(-64..64)) / 4.0;
                        let format =
                            crate::value::format_of(ty).unwrap_or(crate::float::Format::Single);
                        let bits = crate::float::Real::from_f64(value, format).bits;
                        bits.to_le_bytes()[..usize::from(ty.size())].to_vec()
                    })
                    .collect();
                self.variable(ty, &bytes)
            }
        };
        let dst = self.fresh(ty, rows * usize::from(ty.size()));
        let src1 = matrix(self, w, 8 * self.grf);
        let src2 = matrix(self, a, 8 * 8 * 4 * 2);
        let info = u32::from_le_bytes([w, a, 8, repeat]);
        let raw = |known: Known| {
            Value::Raw(RawOperand {
                variable: known.id,
                offset: 0,
            })
        };
        let zero = self.rng.u8(..6) == 0;
        let exec = self.no_mask(u8::try_from(lanes).ok()?);
        let mut instruction = Instruction::new(Op::DPAS).with(F::ExecSize, Value::ExecSize(exec));
        if Op::DPAS
            .def()
            .fields_in(self.format)
            .any(|f| f.name == F::Pred)
        {
            instruction = instruction.with(F::Pred, Value::Predicate(Predicate::NONE));
        }
        Some(
            instruction
                .with(F::Dst, raw(dst))
                .with(
                    F::Src0,
                    if zero {
                        Value::Raw(RawOperand::NULL)
                    } else {
                        raw(acc)
                    },
                )
                .with(F::Src1, raw(src1))
                .with(
                    F::Src2,
                    Value::Vector(self.at(src2, 0, Region::SCALAR).into()),
                )
                .with(F::PrecisionInfo, Value::U32(info)),
        )
    }
}

/// The source that reads the elements that a destination writes.
fn in_place_source(dst: VectorOperand) -> Option<VectorOperand> {
    let VectorOperand::General(operand) = dst else {
        return None;
    };
    let stride = operand.region.horizontal_stride().elements()?;
    Some(
        GeneralOperand {
            modifier: Modifier::NONE,
            region: Region::source(stride, 1, 0)?,
            ..operand
        }
        .into(),
    )
}

struct TypeSetOf(DataType);

impl TypeSetOf {
    fn is_float(&self) -> bool {
        crate::value::format_of(self.0).is_some()
    }
}
