//! Powers, logarithms to the base of 2, sines and cosines of singles: in double, by the same operations in the same order
//! as the interpreter's functions (`exec/src/lanes/elementary.rs`), so that results are the same bit for bit.

use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::{Condition, Mask, Memory, ops, ymm};
use visakit_exec::code::Operation;
use visakit_exec::elementary::{
    ATANH, COS, EXP2, FAR, FARTHEST, INTEGRAL, LEAST, PER_LOG2, PER_QUARTER, QUARTER, SIN,
};

/// The result of an invalid operation, as the host's arithmetic has it.
const INVALID: f64 = f64::from_bits(0xfff8_0000_0000_0000);

/// Bits of the mantissa of a double.
const MANTISSA: u32 = 52;

/// The registers of such a function, which takes all that are for intermediate values. The lanes of half a chunk as
/// doubles are in the first one; results of both halves are where steps have their second and third source, which
/// these functions have not.
const REGISTERS: [u32; 5] = [3, 4, 5, 6, 7];
const X: u32 = 3;
const RESULTS: [u32; 2] = [1, 2];

/// Whether an operation has a template only near zero.
pub(crate) const fn is_near(operation: Operation) -> bool {
    matches!(operation, Operation::Sin | Operation::Cos)
}

impl Writer {
    /// Such a function of the lanes of a register. Registers 1 and 2 are lost.
    pub(crate) fn elementary(&mut self, c: Chunks, to: u32, a: u32, operation: Operation) -> Done {
        if c.lane != 4 {
            return Err(NoTemplate);
        }
        self.with_registers(|own| {
            if is_near(operation) {
                own.leave_far(c, a);
            }
            let doubles = Chunks { lane: 8, ..c };
            for (half, result) in RESULTS.into_iter().enumerate() {
                own.widen(c, a, half);
                match operation {
                    Operation::Exp => own.exp2(doubles, result),
                    Operation::Log => own.log2(doubles, result),
                    Operation::Sin => own.sin(doubles, result, 0),
                    _ => own.sin(doubles, result, 1),
                }
                own.singles(c, result);
            }
            own.join(c, to);
            Ok(())
        })
    }

    /// One source's lanes, without their signs, to the power of another's. Registers 1 and 2 are lost.
    pub(crate) fn power(&mut self, c: Chunks, to: u32, a: u32, b: u32) -> Done {
        if c.lane != 4 {
            return Err(NoTemplate);
        }
        self.with_registers(|own| {
            // The second source may be where the first result goes.
            let y = own.take(c)?;
            own.v2(c, ops::MOVE, y, c.register(b));
            let exponent = 7;
            let doubles = Chunks { lane: 8, ..c };
            for (half, result) in RESULTS.into_iter().enumerate() {
                own.widen_magnitude(c, a, half);
                own.log2(doubles, result);
                own.widen(c, y, half);
                own.v2(c, ops::MOVE, exponent, c.register(X));
                own.v3(c, ops::MUL_PD, X, X, result);
                own.exp2(doubles, result);
                own.v2(c, ops::MOVE, X, c.register(exponent));
                own.replace_where(doubles, result, 3, None, None);
                own.widen(c, a, half);
                own.replace_where(doubles, result, 3, None, None);
                own.widen_magnitude(c, a, half);
                own.replace_where(doubles, result, 0, Some(1.0), Some(1.0));
                own.v2(c, ops::MOVE, X, c.register(exponent));
                own.replace_where(doubles, result, 0, Some(0.0), Some(1.0));
                own.singles(c, result);
            }
            own.release(y);
            own.join(c, to);
            Ok(())
        })
    }

    /// Runs with all registers for intermediate values, unless somebody has one of them.
    fn with_registers(&mut self, work: impl FnOnce(&mut Self) -> Done) -> Done {
        self.with_scratch(|own, registers| match registers == REGISTERS {
            true => work(own),
            false => Err(NoTemplate),
        })
    }

    /// Half of the lanes of a register as doubles without signs.
    fn widen_magnitude(&mut self, c: Chunks, a: u32, half: usize) {
        self.widen(c, a, half);
        let magnitude = self.qwords(i64::MAX.cast_unsigned());
        self.v3m(c, ops::AND, X, X, magnitude);
    }

    /// Doubles as singles.
    fn singles(&mut self, c: Chunks, n: u32) {
        self.asm.v2(ops::NARROW_DF_F, c.half(n), c.register(n));
    }

    /// Both halves of a result.
    fn join(&mut self, c: Chunks, to: u32) {
        let [low, high] = RESULTS;
        let (to, low) = (c.register(to), c.register(low));
        self.asm.v3i(ops::INSERT_HALF, to, low, c.half(high), 1);
    }

    /// Half of the lanes of a register as doubles.
    fn widen(&mut self, c: Chunks, a: u32, half: usize) {
        let mut from = c.half(a);
        if half != 0 {
            from = c.half(X);
            self.asm.v2i(ops::EXTRACT_HALF, from, c.register(a), 1);
        }
        self.asm.v2(ops::WIDEN_F_DF, c.register(X), from);
    }

    fn double(&mut self, value: f64) -> Memory {
        self.qwords(value.to_bits())
    }

    /// A polynomial in the lanes of another register, by Horner's rule.
    fn polynomial(&mut self, c: Chunks, to: u32, terms: &[f64], x: u32) {
        let mut terms = terms.iter().rev();
        if let Some(first) = terms.next() {
            let first = self.double(*first);
            self.v2(c, ops::MOVE, to, first);
        }
        for term in terms {
            let term = self.double(*term);
            self.v3(c, ops::MUL_PD, to, to, x);
            self.v3m(c, ops::ADD_PD, to, to, term);
        }
    }

    fn exp2(&mut self, c: Chunks, to: u32) {
        let (near, shifted, rest) = (4, 5, 6);
        // The second operand remains where one is no number.
        let most = self.double(FARTHEST);
        self.v2(c, ops::MOVE, near, most);
        self.v3(c, ops::MIN_PD, near, near, X);
        let least = self.double(-FARTHEST);
        self.v2(c, ops::MOVE, shifted, least);
        self.v3(c, ops::MAX_PD, near, shifted, near);
        let integral = self.double(INTEGRAL);
        self.v3m(c, ops::ADD_PD, shifted, near, integral);
        self.v3m(c, ops::SUB_PD, rest, shifted, integral);
        self.v3(c, ops::SUB_PD, rest, near, rest);
        self.polynomial(c, to, &EXP2, rest);
        self.v2i(c, ops::SHL_Q_IMM, shifted, c.register(shifted), MANTISSA);
        let one = self.double(1.0);
        self.v3m(c, ops::ADD_Q, shifted, shifted, one);
        self.v3(c, ops::MUL_PD, to, to, shifted);
        self.replace_where(c, to, 3, None, None);
    }

    fn log2(&mut self, c: Chunks, to: u32) {
        let (exponent, s, m) = (4, 5, 6);
        let least = self.double(LEAST);
        self.v3m(c, ops::SUB_Q, exponent, X, least);
        let upper = self.qwords(u64::MAX << MANTISSA);
        self.v3m(c, ops::AND, m, exponent, upper);
        self.v3(c, ops::SUB_Q, m, X, m);
        // As a number with a sign, then as a double.
        self.v2i(c, ops::SHR_Q_IMM, exponent, c.register(exponent), MANTISSA);
        let sign = self.qwords(1 << (63 - MANTISSA));
        self.v3m(c, ops::XOR, exponent, exponent, sign);
        self.v3m(c, ops::SUB_Q, exponent, exponent, sign);
        let integral = self.double(INTEGRAL);
        self.v3m(c, ops::ADD_Q, exponent, exponent, integral);
        self.v3m(c, ops::SUB_PD, exponent, exponent, integral);
        let one = self.double(1.0);
        self.v3m(c, ops::SUB_PD, s, m, one);
        self.v3m(c, ops::ADD_PD, m, m, one);
        self.v3(c, ops::DIV_PD, s, s, m);
        let square = m;
        self.v3(c, ops::MUL_PD, square, s, s);
        self.polynomial(c, to, &ATANH, square);
        let factor = self.double(PER_LOG2);
        self.v3m(c, ops::MUL_PD, to, to, factor);
        self.v3(c, ops::MUL_PD, to, s, to);
        self.v3(c, ops::ADD_PD, to, exponent, to);
        // Equal, less, equal, no number.
        self.replace_where(c, to, 0, Some(f64::INFINITY), Some(f64::INFINITY));
        self.replace_where(c, to, 0x11, Some(0.0), Some(INVALID));
        self.replace_where(c, to, 0, Some(0.0), Some(f64::NEG_INFINITY));
        self.replace_where(c, to, 3, None, None);
    }

    /// Leaves it to the interpreter if a lane is far from zero, infinite, or no number.
    fn leave_far(&mut self, c: Chunks, a: u32) {
        let slow = *self.beyond.get_or_insert_with(|| self.asm.label());
        let magnitude = self.dwords(i32::MAX.cast_unsigned());
        self.v3m(c, ops::AND, X, a, magnitude);
        let most = self.dwords(FAR.to_bits());
        if c.zmm {
            self.v2(c, ops::MOVE, 4, most);
            // Greater.
            let (x, most) = (c.register(X), c.register(4));
            self.asm.v3i(ops::MASK_OF_UD, Mask::K2, x, most, 6);
            self.asm.mask_any(Mask::K2);
        } else {
            self.asm.v3(ops::GREATER_D, ymm(X), ymm(X), most);
            self.asm.v2(ops::TEST, ymm(X), ymm(X));
        }
        self.asm.jump_if(Condition::NotEqual, slow);
    }

    /// The sine of the sum of a number and some quarters of a turn.
    fn sin(&mut self, c: Chunks, to: u32, quarters: u64) {
        let (rest, shifted, square, other) = (4, 5, 6, 7);
        let per_quarter = self.double(PER_QUARTER);
        self.v3m(c, ops::MUL_PD, shifted, X, per_quarter);
        let integral = self.double(INTEGRAL);
        self.v3m(c, ops::ADD_PD, shifted, shifted, integral);
        let n = square;
        self.v3m(c, ops::SUB_PD, n, shifted, integral);
        let mut from = X;
        for part in QUARTER {
            let part = self.double(part);
            self.v3m(c, ops::MUL_PD, other, n, part);
            self.v3(c, ops::SUB_PD, rest, from, other);
            from = rest;
        }
        self.v3(c, ops::MUL_PD, square, rest, rest);
        self.polynomial(c, to, &SIN, square);
        self.v3(c, ops::MUL_PD, to, to, rest);
        self.polynomial(c, other, &COS, square);
        if quarters != 0 {
            let quarters = self.qwords(quarters);
            self.v3m(c, ops::ADD_Q, shifted, shifted, quarters);
        }
        // Odd quarters exchange the two.
        let one = self.qwords(1);
        self.v3m(c, ops::AND, rest, shifted, one);
        self.v3(c, ops::XOR, square, square, square);
        self.v3(c, ops::SUB_Q, rest, square, rest);
        self.v3(c, ops::XOR, other, other, to);
        self.v3(c, ops::AND, other, other, rest);
        self.v3(c, ops::XOR, to, to, other);
        // The second half of a turn has the other sign.
        self.v2i(c, ops::SHR_Q_IMM, shifted, c.register(shifted), 1);
        self.v2i(c, ops::SHL_Q_IMM, shifted, c.register(shifted), 63);
        self.v3(c, ops::XOR, to, to, shifted);
    }

    /// Where a relation between x and a number holds (or x and itself), a value takes the place of the result, or x.
    fn replace_where(
        &mut self,
        c: Chunks,
        to: u32,
        relation: u32,
        number: Option<f64>,
        value: Option<f64>,
    ) {
        let (mask, other) = (4, 5);
        let mut with = X;
        if let Some(number) = number {
            let number = self.double(number);
            self.v2(c, ops::MOVE, other, number);
            with = other;
        }
        self.float_mask(c, mask, X, with, relation);
        match value {
            Some(value) => {
                let value = self.double(value);
                self.v3m(c, ops::AND, other, mask, value);
            }
            None => self.v3(c, ops::AND, other, mask, X),
        }
        self.v3(c, ops::ANDN, to, mask, to);
        self.v3(c, ops::OR, to, to, other);
    }
}
