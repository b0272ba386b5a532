//! Random instructions, after the rows of the table.

mod special;

use super::edges;
use super::pool::{
    Known, Pool, READ_PREDICATES, immediate, modified, multi_address, predicate_operand,
};
use super::typing;
use crate::rows::{Execution, execution};
use visakit_isa::operand::{GeneralOperand, Modifier, OperandClass, PredicateCombine};
use visakit_isa::semantics::Traits;
use visakit_isa::table::{self, FieldDef, FieldKind, Group, Role, Saturation, SourceModifiers};
use visakit_isa::{
    DataType, ExecMask, ExecSize, FieldName as F, Instruction, InstructionDef, Op, Predicate,
    PredicateId, Region, Value, VectorOperand,
};

/// Why the generator has no instructions of a row.
pub type Undefined = &'static str;

/// Rows that compute on registers and are generated.
pub fn generated() -> impl Iterator<Item = &'static InstructionDef> {
    table::rows()
        .filter(|row| matches!(execution(row.op), Execution::Lane(_) | Execution::Whole(_)))
}

/// Rows that are not generated, and why.
pub fn undefined() -> impl Iterator<Item = (&'static InstructionDef, Undefined)> {
    table::rows().filter_map(|row| match execution(row.op) {
        Execution::Undefined(why) => Some((row, why)),
        _ => None,
    })
}

impl Pool {
    /// Appends a random instruction of a row, and what it needs before it. Variables that it writes
    /// are used by nothing else.
    ///
    /// Returns its index; `None` if no operands were found.
    pub fn random(&mut self, row: &'static InstructionDef) -> Option<usize> {
        let instruction = match row.op {
            Op::SETP => self.random_setp()?,
            Op::MOVS => self.random_movs(),
            Op::ADDR_ADD => self.random_addr_add()?,
            Op::DPAS | Op::BDPAS => self.random_dpas(row.op)?,
            Op::SHFL_IDX4 => self.random_shuffle()?,
            Op::DNSCL => self.random_scale_down()?,
            Op::MOV if self.rng.u8(..10) == 0 => self.random_small_float()?,
            Op::MOV if self.rng.u8(..20) == 0 => self.random_mov_of_predicate(),
            Op::AND | Op::OR | Op::XOR | Op::NOT if self.rng.u8(..8) == 0 => {
                self.random_predicate_logic(row)
            }
            _ => self.random_by_fields(row)?,
        };
        self.push(instruction);
        Some(self.body.code.len() - 1)
    }

    /// A random execution size of at most this many lanes, with a random mask.
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
        if row.conversions.iter().any(|conversion| conversion.unmasked) {
            exec = self.no_mask(exec.lanes()?);
        }
        let lanes = usize::from(exec.lanes()?);
        let mut instruction = Instruction::new(row.op);
        let mut types = types.into_iter();
        let mut first_dst = None;
        for field in row.fields_in(self.format) {
            let value = match (field.kind, field.role) {
                (FieldKind::ExecSize, _) => Value::ExecSize(exec),
                (FieldKind::Predicate, _) if row.traits.contains(Traits::WRITES_PREDICATE) => {
                    let id = self.predicate();
                    let bits = self.rng.u32(..);
                    self.set_predicate(id, bits);
                    Value::Predicate(Predicate::of(id))
                }
                (FieldKind::Predicate, _) => {
                    let selects = row.traits.contains(Traits::SELECTS);
                    Value::Predicate(self.random_predicate(selects))
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
                            if !row
                                .traits
                                .intersects(Traits::WIDE_RESULT.union(Traits::ACROSS_LANES)) =>
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

    /// A new variable with edge values, of at least this size.
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
        if row.group == Group::Compare && to_predicate && self.rng.u8(..4) != 0 {
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
        let strides: &[u8] = if row.traits.contains(Traits::WIDE_RESULT) {
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
        let first = if row.traits.contains(Traits::WIDE_RESULT) || self.rng.bool() {
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
        if field.classes.has(OperandClass::Indirect)
            && !row.traits.contains(Traits::WIDE_RESULT)
            && self.rng.u8(..8) == 0
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
