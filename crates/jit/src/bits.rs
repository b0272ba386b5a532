//! Machine code that counts and reverses the bits of dwords.
//!
//! No host has all of these instructions for vectors, so they are made of shifts, sums and the exponent of a float.

use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::ops;
use visakit_exec::code::Operation;

/// Where the exponent of a single begins.
const EXPONENT: u32 = 23;

/// The exponent of 1.
const BIAS: u32 = 127;

impl Writer {
    /// The result of an operation on bits.
    pub(crate) fn bits(&mut self, c: Chunks, to: u32, a: u32, operation: Operation) -> Done {
        if c.lane != 4 {
            return Err(NoTemplate);
        }
        match operation {
            Operation::CountBits => self.count_bits(c, to, a),
            Operation::ReverseBits => self.reverse_bits(c, to, a),
            Operation::LeadingZeros => self.leading_zeros(c, to, a),
            Operation::FirstBitHighUnsigned => {
                self.leading_zeros(c, to, a);
                self.none_is_ones(c, to);
            }
            Operation::FirstBitHighSigned => {
                self.with_scratch(|own, [magnitude]| {
                    own.v2i(c, ops::SAR_D_IMM, magnitude, c.register(a), 31);
                    own.v3(c, ops::XOR, magnitude, magnitude, a);
                    own.leading_zeros(c, to, magnitude);
                });
                self.none_is_ones(c, to);
            }
            Operation::FirstBitLow => {
                self.first_bit_low(c, to, a);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// The place of the lowest bit that is set; all ones if there is none.
    fn first_bit_low(&mut self, c: Chunks, to: u32, a: u32) {
        self.with_scratch(|own, [t]| {
            // The lowest bit alone is exact in a single; the highest one is negative.
            own.v3(c, ops::XOR, t, t, t);
            own.v3(c, ops::SUB_D, t, t, a);
            own.v3(c, ops::AND, t, t, a);
            own.v2(c, ops::FROM_D_PS, t, c.register(t));
            own.v2i(c, ops::SHR_D_IMM, t, c.register(t), EXPONENT);
            let exponent = own.dwords(0xff);
            own.v3m(c, ops::AND, t, t, exponent);
            let bias = own.dwords(BIAS.wrapping_neg());
            own.v3m(c, ops::ADD_D, t, t, bias);
            // None: all ones.
            let none = own.dwords(u32::MAX);
            own.v3m(c, ops::MAX_SD, to, t, none);
        });
    }

    /// Leading zeros; of zero, 32.
    fn leading_zeros(&mut self, c: Chunks, to: u32, a: u32) {
        self.with_scratch(|own, [t, u]| {
            // Without the bit below the highest, no mode rounds up to a further power of two. Above `i32::MAX` the sign
            // makes the difference negative.
            own.v2i(c, ops::SHR_D_IMM, t, c.register(a), 1);
            own.v3(c, ops::ANDN, t, t, a);
            own.v2(c, ops::FROM_D_PS, t, c.register(t));
            own.v2i(c, ops::SHR_D_IMM, t, c.register(t), EXPONENT);
            let highest = own.dwords(BIAS + 31);
            own.v2(c, ops::MOVE, u, highest);
            own.v3(c, ops::SUB_D, u, u, t);
            own.v3(c, ops::XOR, t, t, t);
            own.v3(c, ops::MAX_SD, u, u, t);
            let none = own.dwords(32);
            own.v3m(c, ops::MIN_SD, to, u, none);
        });
    }

    /// Turns 32 into all ones.
    fn none_is_ones(&mut self, c: Chunks, to: u32) {
        self.with_scratch(|own, [t, u]| {
            own.v2i(c, ops::SHR_D_IMM, u, c.register(to), 5);
            own.v3(c, ops::XOR, t, t, t);
            own.v3(c, ops::SUB_D, t, t, u);
            own.v3(c, ops::OR, to, to, t);
        });
    }

    /// Sums of pairs, of fours, of bytes.
    fn count_bits(&mut self, c: Chunks, to: u32, a: u32) {
        self.with_scratch(|own, [t, u]| {
            let odd = own.dwords(0x5555_5555);
            own.v2i(c, ops::SHR_D_IMM, t, c.register(a), 1);
            own.v3m(c, ops::AND, t, t, odd);
            own.v3(c, ops::SUB_D, t, a, t);
            let pairs = own.dwords(0x3333_3333);
            own.v2i(c, ops::SHR_D_IMM, u, c.register(t), 2);
            own.v3m(c, ops::AND, u, u, pairs);
            own.v3m(c, ops::AND, t, t, pairs);
            own.v3(c, ops::ADD_D, t, t, u);
            let fours = own.dwords(0x0f0f_0f0f);
            own.v2i(c, ops::SHR_D_IMM, u, c.register(t), 4);
            own.v3(c, ops::ADD_D, t, t, u);
            own.v3m(c, ops::AND, t, t, fours);
            // The highest byte of the product is the sum of all bytes.
            let bytes = own.dwords(0x0101_0101);
            own.v3m(c, ops::MUL_D, t, t, bytes);
            own.v2i(c, ops::SHR_D_IMM, to, c.register(t), 24);
        });
    }

    /// Exchanges neighbours: bits, pairs, fours, bytes, words.
    fn reverse_bits(&mut self, c: Chunks, to: u32, a: u32) {
        self.with_scratch(|own, [t, u, v]| {
            let masks = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff];
            let mut from = a;
            for (mask, by) in masks.into_iter().zip([1, 2, 4, 8]) {
                let mask = own.dwords(mask);
                own.v2i(c, ops::SHR_D_IMM, t, c.register(from), by);
                own.v3m(c, ops::AND, t, t, mask);
                own.v3m(c, ops::AND, u, from, mask);
                own.v2i(c, ops::SHL_D_IMM, u, c.register(u), by);
                own.v3(c, ops::OR, v, t, u);
                from = v;
            }
            own.v2i(c, ops::SHR_D_IMM, t, c.register(from), 16);
            own.v2i(c, ops::SHL_D_IMM, u, c.register(from), 16);
            own.v3(c, ops::OR, to, t, u);
        });
    }
}
