//! Instructions whose operands are not fully described by the table.

use crate::float::{Format, Real};
use crate::generate::edges;
use crate::generate::pool::{
    Known, Pool, READ_PREDICATES, immediate, multi_address, predicate_operand,
};
use visakit_isa::operand::{GeneralOperand, Modifier, StateClass, StateOperand};
use visakit_isa::{
    DataType, ExecMask, ExecSize, FieldName as F, Instruction, InstructionDef, Op, Predicate,
    PredicateId, RawOperand, Region, Value, VectorOperand, enums,
};

impl Pool {
    pub(super) fn random_setp(&mut self) -> Option<Instruction> {
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
    pub(super) fn random_movs(&mut self) -> Instruction {
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
    pub(super) fn random_addr_add(&mut self) -> Option<Instruction> {
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

    pub(super) fn random_mov_of_predicate(&mut self) -> Instruction {
        let known = self.fresh(DataType::Ud, 64);
        let region = Region::destination(1).unwrap_or(Region::SCALAR);
        let id = PredicateId(self.rng.u16(1..=READ_PREDICATES));
        Instruction::new(Op::MOV)
            .with(F::ExecSize, Value::ExecSize(self.no_mask(1)))
            .with(F::Pred, Value::Predicate(Predicate::NONE))
            .with(F::Dst, Value::Vector(self.at(known, 3, region).into()))
            .with(F::Src0, Value::Vector(predicate_operand(id)))
    }

    pub(super) fn random_predicate_logic(&mut self, row: &InstructionDef) -> Instruction {
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

    /// A DPAS or BDPAS of numbers whose sums are exact.
    pub(super) fn random_dpas(&mut self, op: Op) -> Option<Instruction> {
        use enums::precision as is;
        let lanes = self.grf / 4;
        let integers = [is::U2, is::S2, is::U4, is::S4, is::U8, is::S8];
        let scaled = op == Op::BDPAS;
        if scaled && self.grf != 64 {
            return None;
        }
        let (w, a, ty) = if scaled {
            let (w, others, narrow) = *self.rng.choice(&[
                (is::BF, &[is::BF][..], DataType::Bf),
                (is::HF, &[is::HF], DataType::Hf),
                (is::BF8, &[is::BF8, is::HF8], DataType::Bf),
                (is::HF8, &[is::BF8, is::HF8], DataType::Bf),
                (is::E2M1, &[is::E2M1], DataType::Bf),
            ])?;
            let a = *self.rng.choice(others)?;
            (w, a, *self.rng.choice(&[narrow, DataType::F])?)
        } else if self.rng.bool() {
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
        let repeat = if scaled { 8 } else { self.rng.u8(1..=8) };
        let matrix = |pool: &mut Self, p: u8, bytes: usize| {
            let content: Vec<u8> = (0..bytes / 4)
                .flat_map(|_| {
                    let small = |rng: &mut fastrand::Rng| f32::from(rng.i8(-8..8)) / 4.0;
                    let pair: [f32; 2] = [small(&mut pool.rng), small(&mut pool.rng)];
                    let word = match p {
                        is::BF => (pair[0].to_bits() >> 16) | (pair[1].to_bits() & 0xffff_0000),
                        is::TF32 => pair[0].to_bits(),
                        is::HF => {
                            let half = |v: f32| Real::from_f64(v.into(), Format::Half).bits;
                            u32::try_from(half(pair[0]) | half(pair[1]) << 16).unwrap_or(0)
                        }
                        // Most are zero, the others 1, 1.5, 2 or 3 with a sign.
                        is::HF8 | is::BF8 | is::E2M1 => {
                            let (one, step, width) = match p {
                                is::HF8 => (7 << 3, 4, 8),
                                is::BF8 => (15 << 2, 2, 8),
                                _ => (1 << 1, 1, 4),
                            };
                            (0..32 / width).fold(0, |word, n| {
                                let sign = pool.rng.u32(..2) << (width - 1);
                                let number = sign | (one + step * pool.rng.u32(..4));
                                let code = if pool.rng.u8(..4) == 0 { number } else { 0 };
                                word | code << (n * width)
                            })
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
                        let format = crate::value::format_of(ty).unwrap_or(Format::Single);
                        let bits = Real::from_f64(value, format).bits;
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
        let zero = self.rng.u8(..6) == 0;
        let exec = self.no_mask(u8::try_from(lanes).ok()?);
        let mut instruction = Instruction::new(op).with(F::ExecSize, Value::ExecSize(exec));
        if op.def().fields_in(self.format).any(|f| f.name == F::Pred) {
            instruction = instruction.with(F::Pred, Value::Predicate(Predicate::NONE));
        }
        let accumulator = if zero {
            Value::Raw(RawOperand::NULL)
        } else {
            raw(acc)
        };
        let instruction = instruction
            .with(F::Dst, raw(dst))
            .with(F::Src0, accumulator)
            .with(F::Src1, raw(src1));
        let instruction = if scaled {
            // From a quarter to two; those of the second block, which four bits need, lie 32 bytes on.
            let scales = |pool: &mut Self| {
                let content: Vec<u8> = (0..64).map(|_| pool.rng.u8(125..129)).collect();
                let id = pool.variable(DataType::Ub, &content);
                let row = if pool.rng.bool() { 0 } else { 16 };
                Value::Vector(pool.at(id, row, Region::SCALAR).into())
            };
            let (of_weights, of_activations) = (scales(self), scales(self));
            instruction
                .with(F::Src2, raw(src2))
                .with(F::Src3, of_weights)
                .with(F::Src4, of_activations)
        } else {
            let first = Value::Vector(self.at(src2, 0, Region::SCALAR).into());
            instruction.with(F::Src2, first)
        };
        Some(instruction.with(F::PrecisionInfo, Value::U32(info)))
    }
}

/// Conversions to and from numbers of few bits.
impl Pool {
    /// A move between one of the floats of 4.2 and the type that it is converted from.
    pub(super) fn random_small_float(&mut self) -> Option<Instruction> {
        let small = *self.rng.choice(&DataType::TEXT_ONLY)?;
        let wide = match small {
            DataType::Tf32 => DataType::F,
            DataType::E2m1 => small,
            _ => DataType::Hf,
        };
        let (from, to) = *self
            .rng
            .choice(&[(small, wide), (wide, small), (small, small)])?;
        let bytes = edges::fill(&mut self.rng, from, 128);
        let source = self.variable(from, &bytes);
        let exec = self.random_exec(2, 32);
        let lanes = usize::from(exec.lanes()?);
        let dst = self.fresh(to, lanes * usize::from(to.size()));
        let predicate = match from == to {
            true => self.random_predicate(false),
            false => Predicate::NONE,
        };
        let region = Region::source(1, 1, 0)?;
        Some(
            Instruction::new(Op::MOV)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Pred, Value::Predicate(predicate))
                .with(
                    F::Dst,
                    Value::Vector(self.at(dst, 0, Region::SCALAR).into()),
                )
                .with(F::Src0, Value::Vector(self.at(source, 0, region).into())),
        )
    }

    /// Values of a random table.
    pub(super) fn random_shuffle(&mut self) -> Option<Instruction> {
        let exec = self.random_exec(16, 32);
        let lanes = exec.lanes()?;
        let bytes = edges::fill(&mut self.rng, DataType::Ud, 64);
        let table = self.variable(DataType::Ud, &bytes);
        let ty = *self.rng.choice(&[DataType::Uw, DataType::Ub])?;
        let stride = 4 / ty.size();
        let bytes = edges::fill(&mut self.rng, ty, usize::from(lanes) * 4);
        let indices = self.variable(ty, &bytes);
        let dst = self.fresh(DataType::Ud, usize::from(lanes) * 4);
        let of_table = match lanes {
            16 => Region::source(1, 1, 0)?,
            _ => Region::source(0, 16, 1)?,
        };
        let of_indices = Region::source(stride, 1, 0)?;
        let predicate = self.random_predicate(false);
        Some(
            Instruction::new(Op::SHFL_IDX4)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Pred, Value::Predicate(predicate))
                .with(F::Dst, raw(dst))
                .with(F::Src0, Value::Vector(self.at(table, 0, of_table).into()))
                .with(
                    F::Src1,
                    Value::Vector(self.at(indices, 0, of_indices).into()),
                ),
        )
    }

    /// A conversion to four bits that rounds to nearest.
    pub(super) fn random_scale_down(&mut self) -> Option<Instruction> {
        use enums::{dnscl_convert_type as convert, dnscl_mode as mode, dnscl_round_mode as round};
        let exec = self.random_exec(1, 32);
        let lanes = usize::from(exec.lanes()?);
        let kind = *self.rng.choice(&[
            convert::BFTOE2M1,
            convert::BFTOINT4,
            convert::HFTOE2M1,
            convert::HFTOINT4,
        ])?;
        let format = match kind {
            convert::BFTOE2M1 | convert::BFTOINT4 => Format::Brain,
            _ => Format::Half,
        };
        let source = |pool: &mut Self| {
            // Numbers around the sixteen results, ties among them.
            let bytes: Vec<u8> = (0..lanes * 2)
                .flat_map(|_| {
                    let value = f64::from(pool.rng.i16(-80..80)) / 8.0;
                    let low = Real::from_f64(value, format).bits.to_le_bytes();
                    [low[0], low[1]]
                })
                .collect();
            pool.variable(DataType::Ud, &bytes)
        };
        let (low, high) = (source(self), source(self));
        let dst = self.fresh(DataType::Ud, lanes * 4);
        let packing = *self
            .rng
            .choice(&[mode::MODE0, mode::MODE1, mode::MODE2, mode::MODE3])?;
        let predicate = self.random_predicate(false);
        Some(
            Instruction::new(Op::DNSCL)
                .with(F::ExecSize, Value::ExecSize(exec))
                .with(F::Pred, Value::Predicate(predicate))
                .with(F::ConvertType, Value::U8(kind))
                .with(F::Mode, Value::U8(packing))
                .with(F::RoundMode, Value::U8(round::RNE))
                .with(F::Dst, raw(dst))
                .with(F::Src0, raw(low))
                .with(F::Src1, raw(high))
                .with(F::Src2, Value::Raw(RawOperand::NULL)),
        )
    }
}

/// All of a variable as a raw operand.
fn raw(known: Known) -> Value {
    Value::Raw(RawOperand {
        variable: known.id,
        offset: 0,
    })
}
