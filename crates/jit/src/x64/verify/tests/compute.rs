//! What instructions compute.

use super::super::tables::low;
use super::machine::{CODE, Machine, Named, Step, Stop, bad, lane_of};
use super::*;
use iced_x86::{Instruction, Mnemonic};

/// The first bytes of a vector.
fn filled(bytes: impl Iterator<Item = u8>) -> [u8; 64] {
    let mut to = [0; 64];
    to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    to
}

impl Machine<'_> {
    fn lanes(
        &mut self,
        i: &Instruction,
        lane: usize,
        op: impl Fn(u64, u64) -> u64,
    ) -> Step<[u8; 64]> {
        let (a, b) = (self.vector(i, 1)?, self.vector(i, 2)?);
        let mut to = [0; 64];
        for n in 0..64 / lane {
            let own = n * lane..(n + 1) * lane;
            let [a, b] = [a, b].map(|of| lane_of(&of, n, lane));
            to[own].copy_from_slice(&op(a, b).to_le_bytes()[..lane]);
        }
        Ok(to)
    }

    pub(super) fn arithmetic(&mut self, i: &Instruction) -> Step<()> {
        let size = Self::size(i);
        let a = self.number(i, 0)?;
        let b = if i.op_count() > 1 {
            self.number(i, 1)?
        } else {
            1
        };
        let by = (b % (8 * size as u64)) as u32;
        let result = match i.mnemonic() {
            Mnemonic::Sub | Mnemonic::Cmp | Mnemonic::Dec => self.subtract(a, b, size),
            Mnemonic::Sbb => {
                let borrowed = u64::from(self.carry);
                let result = self.subtract(a, b, size);
                let carry = self.carry;
                let result = self.subtract(result, borrowed, size);
                self.carry |= carry;
                result
            }
            Mnemonic::Neg => self.subtract(0, a, size),
            Mnemonic::Not => !a & low(size),
            other => {
                let result = match other {
                    Mnemonic::Add | Mnemonic::Inc => a.wrapping_add(b),
                    Mnemonic::And | Mnemonic::Test => a & b,
                    Mnemonic::Or => a | b,
                    Mnemonic::Xor => a ^ b,
                    Mnemonic::Shl => a << by,
                    Mnemonic::Shr => (a & low(size)) >> by,
                    _ => return Err(Stop::Unknown),
                } & low(size);
                self.flags(result, size);
                self.carry = matches!(other, Mnemonic::Add) && result < a & low(size);
                result
            }
        };
        match i.mnemonic() {
            Mnemonic::Cmp | Mnemonic::Test => Ok(()),
            _ => self.write(i, result),
        }
    }

    fn gather(&mut self, i: &Instruction) -> Step<()> {
        let scatters = i.op0_kind() == OpKind::Memory;
        let data = i.op_register(if scatters { 1 } else { 0 });
        let (index, element) = match i.mnemonic() {
            Mnemonic::Vpgatherdd | Mnemonic::Vpscatterdd => (4, 4),
            Mnemonic::Vpgatherdq | Mnemonic::Vpscatterdq => (4, 8),
            _ => (8, 4),
        };
        let lanes = (data.size() / element).min(i.memory_index().size() / index);
        let of_vector = i.op_count() == 3;
        for n in 0..lanes {
            let is_on = match of_vector {
                true => self.vectors[i.op_register(2).number()][(n + 1) * element - 1] & 0x80 != 0,
                false => self.enabled(i, n),
            };
            if is_on {
                let at = self.address(i, Some((n, index)))?;
                let there = self.access(at, element, scatters)?.to_vec();
                if !scatters {
                    self.vectors[data.number()][n * element..][..element].copy_from_slice(&there);
                }
            }
        }
        match of_vector {
            true => self.vectors[i.op_register(2).number()] = [0; 64],
            false => self.masks[i.op_mask().number()] = 0,
        }
        if !scatters {
            self.vectors[data.number()][data.size()..].fill(0);
        }
        Ok(())
    }

    /// Lanes of vectors at other places.
    fn other_places(&mut self, i: &Instruction) -> Step<[u8; 64]> {
        let from = self.vector(i, 1)?;
        let part = |of: &[u8; 64], n: usize, size: usize| of[n * size..][..size].to_vec();
        let dword = |of: &[u8; 64], n: usize| part(of, n, 4);
        if i.mnemonic() == Mnemonic::Vpmovqd {
            let low = (0..8).flat_map(|n| dword(&from, 2 * n));
            return Ok(filled(low));
        }
        let number = usize::try_from(i.immediate(i.op_count() - 1)).unwrap();
        let chosen = |n: usize| number >> (2 * n) & 3;
        if i.mnemonic() == Mnemonic::Vpermq {
            return Ok(filled((0..4).flat_map(|n| part(&from, chosen(n), 8))));
        }
        let other = self.vector(i, 2)?;
        if i.mnemonic() == Mnemonic::Vinserti64x4 {
            let mut to = from;
            to[32 * (number & 1)..][..32].copy_from_slice(&other[..32]);
            return Ok(to);
        }
        let lane = |n: usize| {
            let of = if n % 4 < 2 { &from } else { &other };
            dword(of, n / 4 * 4 + chosen(n % 4))
        };
        Ok(filled((0..8).flat_map(lane)))
    }

    pub(super) fn vectors(&mut self, i: &Instruction) -> Step<()> {
        use Mnemonic as M;
        let whole = |bytes: [u8; 64]| bytes;
        match i.mnemonic() {
            M::Vmovdqu | M::Vmovdqu32 => {
                let from = self.vector(i, 1)?;
                self.write_vector(i, 4, whole(from))
            }
            M::Vmovd | M::Vmovq => {
                let size = if i.mnemonic() == M::Vmovd { 4 } else { 8 };
                let is_vector = |n: u32| {
                    i.op_kind(n) == OpKind::Register && i.op_register(n).is_vector_register()
                };
                let number = match is_vector(1) {
                    true => lane_of(&self.vector(i, 1)?, 0, size),
                    false => self.number(i, 1)?,
                };
                if !is_vector(0) {
                    return self.write(i, number);
                }
                let mut to = [0; 64];
                to[..size].copy_from_slice(&number.to_le_bytes()[..size]);
                self.vectors[i.op0_register().number()] = to;
                Ok(())
            }
            M::Vpextrd | M::Vpextrq => {
                let size = if i.mnemonic() == M::Vpextrd { 4 } else { 8 };
                let n = usize::try_from(i.immediate(2)).unwrap() % (16 / size);
                let number = lane_of(&self.vector(i, 1)?, n, size);
                self.write(i, number)
            }
            M::Vpbroadcastd | M::Vpbroadcastq => {
                let size = if i.mnemonic() == M::Vpbroadcastd {
                    4
                } else {
                    8
                };
                let number = match i.op_kind(1) == OpKind::Register && i.op_register(1).is_gpr() {
                    true => self.number(i, 1)?,
                    false => lane_of(&self.vector(i, 1)?, 0, size),
                };
                let mut to = [0; 64];
                for lane in to.chunks_exact_mut(size) {
                    lane.copy_from_slice(&number.to_le_bytes()[..size]);
                }
                self.write_vector(i, size, to)
            }
            M::Vextracti128 | M::Vextracti64x4 => {
                let from = self.vector(i, 1)?;
                let bytes = if i.mnemonic() == M::Vextracti128 {
                    16
                } else {
                    32
                };
                let mut to = [0; 64];
                let half = usize::try_from(i.immediate(2) & 1).unwrap();
                to[..bytes].copy_from_slice(&from[bytes * half..][..bytes]);
                self.write_vector(i, 4, to)
            }
            M::Vpermi2d | M::Vpermi2q => {
                let size = if i.mnemonic() == M::Vpermi2d { 4 } else { 8 };
                let order = self.vector(i, 0)?;
                let [one, two] = [self.vector(i, 1)?, self.vector(i, 2)?];
                let lanes = 64 / size;
                let lane = |n: usize| {
                    let chosen = order[n * size] as usize % (2 * lanes);
                    let of = if chosen < lanes { &one } else { &two };
                    of[chosen % lanes * size..][..size].to_vec()
                };
                self.write_vector(i, size, filled((0..lanes).flat_map(lane)))
            }
            M::Vpmovqd | M::Vpermq | M::Vinserti64x4 | M::Vshufps => {
                let to = self.other_places(i)?;
                self.write_vector(i, 4, to)
            }
            M::Vptestmd | M::Vptestmq | M::Vpcmpuq => {
                let lane = if i.mnemonic() == M::Vptestmd { 4 } else { 8 };
                let (a, b) = (self.vector(i, 1)?, self.vector(i, 2)?);
                let mut mask = 0;
                for n in (0..64 / lane).filter(|n| self.enabled(i, *n)) {
                    let [a, b] = [a, b].map(|of| lane_of(&of, n, lane));
                    let is = match i.mnemonic() {
                        M::Vpcmpuq if i.immediate(3) != 2 => return Err(Stop::Unknown),
                        M::Vpcmpuq => a <= b,
                        _ => a & b != 0,
                    };
                    mask |= u64::from(is) << n;
                }
                self.masks[i.op0_register().number()] = mask;
                Ok(())
            }
            M::Vpsraw => {
                let (from, by) = (self.vector(i, 1)?, i.immediate(2).min(15));
                let mut to = [0; 64];
                for (to, from) in to.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0) {
                    *to = (i16::from_le_bytes(*from) >> by).to_le_bytes();
                }
                self.write_vector(i, 2, to)
            }
            M::Vfmadd231pd => {
                let sum = self.vector(i, 0)?;
                let mut to = self.lanes(i, 8, |a, b| {
                    (f64::from_bits(a) * f64::from_bits(b)).to_bits()
                })?;
                for (to, sum) in to.as_chunks_mut().0.iter_mut().zip(sum.as_chunks().0) {
                    *to = (f64::from_le_bytes(*sum) + f64::from_le_bytes(*to)).to_le_bytes();
                }
                self.write_vector(i, 8, to)
            }
            M::Vptest => {
                let (a, b) = (self.vector(i, 0)?, self.vector(i, 1)?);
                self.zero = a.iter().zip(b).all(|(a, b)| a & b == 0);
                self.carry = a.iter().zip(b).all(|(a, b)| !a & b == 0);
                Ok(())
            }
            M::Vmovmskpd => {
                let from = self.vector(i, 1)?;
                let sign = |n: usize| lane_of(&from, n, 8) >> 63 << n;
                self.write(i, (0..4).map(sign).sum())
            }
            M::Vpgatherdd | M::Vpgatherdq | M::Vpgatherqd => self.gather(i),
            M::Vpscatterdd | M::Vpscatterdq | M::Vpscatterqd => self.gather(i),
            M::Add | M::Sub | M::And | M::Or | M::Xor | M::Cmp | M::Test | M::Shl | M::Shr => {
                self.arithmetic(i)
            }
            M::Inc | M::Dec | M::Neg | M::Not | M::Sbb => self.arithmetic(i),
            other => {
                type Op = fn(u64, u64) -> u64;
                let (lane, op): (usize, Op) = match other {
                    M::Vpor | M::Vpord => (4, |a, b| a | b),
                    M::Vpxor | M::Vpxord => (4, |a, b| a ^ b),
                    M::Vpand | M::Vpandd => (4, |a, b| a & b),
                    M::Vpminud => (4, u64::min),
                    M::Vpmaxud => (4, u64::max),
                    M::Vpmaddwd => (4, |a, b| {
                        let product = |at: u32| {
                            let [a, b] = [a, b].map(|of| i64::from((of >> at) as i16));
                            a * b
                        };
                        (product(0) + product(16)).cast_unsigned()
                    }),
                    M::Vpminuw => (2, u64::min),
                    M::Vpmaxuw => (2, u64::max),
                    M::Vpaddd => (4, u64::wrapping_add),
                    M::Vpsubd => (4, u64::wrapping_sub),
                    M::Vpsubq => (8, u64::wrapping_sub),
                    M::Vpcmpeqd => (4, |a, b| if a == b { u64::MAX } else { 0 }),
                    M::Vpcmpeqq => (8, |a, b| if a == b { u64::MAX } else { 0 }),
                    M::Vpcmpgtq => (8, |a, b| match a.cast_signed() > b.cast_signed() {
                        true => u64::MAX,
                        false => 0,
                    }),
                    _ => return Err(Stop::Unknown),
                };
                let to = self.lanes(i, lane, op)?;
                self.write_vector(i, lane, to)
            }
        }
    }

    /// What an instruction does.
    pub(super) fn instruction(&mut self, i: &Instruction) -> Step<()> {
        use Mnemonic as M;
        let stack = i.op0_register() == Register::RSP;
        match i.mnemonic() {
            M::Push => {
                let number = self.register(i.op0_register())?;
                self.stack.push(number);
                Ok(())
            }
            M::Pop => match self.stack.pop() {
                Some(number) => self.set(i.op0_register(), number),
                None => bad("an empty stack"),
            },
            M::Sub if stack && i.immediate(1) == 8 => {
                self.stack.push(0);
                Ok(())
            }
            M::Add if stack && i.immediate(1) == 8 => match self.stack.pop() {
                Some(_) => Ok(()),
                None => bad("an empty stack"),
            },
            M::Ret => {
                let is_restored = SAVED.iter().all(|n| self.numbers[*n] == self.saved[*n]);
                self.is_settled(false)?;
                match self.stack.is_empty() && is_restored {
                    true => Err(Stop::Ended),
                    false => bad("the caller's registers"),
                }
            }
            M::Ud2 => Err(Stop::Ended),
            M::Jmp => {
                let target = self.number(i, 0)?;
                self.is_settled(false)?;
                match target == CODE && self.is_ready() {
                    true => Err(Stop::Ended),
                    false => bad(format!("a jump to {target:x}")),
                }
            }
            M::Call => {
                let function = self.number(i, 0)?;
                self.call(function)
            }
            M::Mfence | M::Nop => Ok(()),
            M::Vzeroupper => {
                for vector in &mut self.vectors[..16] {
                    vector[16..].fill(0);
                }
                Ok(())
            }
            M::Lea => {
                let at = self.address(i, None)?;
                self.write(i, at)
            }
            M::Mov | M::Movzx => {
                let number = self.number(i, 1)?;
                self.write(i, number)
            }
            M::Bsf => {
                let number = self.number(i, 1)?;
                if number != 0 {
                    self.write(i, number.trailing_zeros().into())?;
                }
                self.flags(number, 4);
                Ok(())
            }
            M::Blsr => {
                let number = self.number(i, 1)?;
                let result = number & number.wrapping_sub(1);
                self.flags(result, 4);
                self.write(i, result)
            }
            M::Andn => {
                let result = !self.number(i, 1)? & self.number(i, 2)?;
                self.flags(result, 4);
                self.write(i, result)
            }
            M::Cmova => {
                let (old, number) = (self.number(i, 0)?, self.number(i, 1)?);
                let is = self.holds(Condition::Above);
                self.write(i, if is { number } else { old })
            }
            M::Cmpxchg => {
                let old = self.number(i, 0)?;
                let size = i.memory_size().size();
                let new = self.number(i, 1)?;
                self.subtract(self.numbers[0], old, size);
                let stored = if self.zero { new } else { old };
                self.numbers[0] = old;
                self.write(i, stored)
            }
            M::Kmovd | M::Kmovw => {
                let number = self.number(i, 1)?;
                self.write(i, number)
            }
            M::Kxnorw | M::Kxorw => {
                let both = self.number(i, 1)? ^ self.number(i, 2)?;
                let result = if i.mnemonic() == M::Kxorw {
                    both
                } else {
                    !both
                };
                self.write(i, result & 0xffff)
            }
            M::Kortestw => {
                let any = self.number(i, 0)? | self.number(i, 1)?;
                self.flags(any & 0xffff, 2);
                self.carry = any & 0xffff == 0xffff;
                Ok(())
            }
            _ => self.vectors(i),
        }
    }
}
