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
    /// The result of an operation on bits. Registers 3 to 6 are lost.
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
                self.v2i(c, ops::SAR_D_IMM, 5, c.register(a), 31);
                self.v3(c, ops::XOR, 5, 5, a);
                self.leading_zeros(c, to, 5);
                self.none_is_ones(c, to);
            }
            Operation::FirstBitLow => {
                // The lowest bit alone is exact in a single; the highest one is negative.
                self.v3(c, ops::XOR, 3, 3, 3);
                self.v3(c, ops::SUB_D, 3, 3, a);
                self.v3(c, ops::AND, 3, 3, a);
                self.v2(c, ops::FROM_D_PS, 3, c.register(3));
                self.v2i(c, ops::SHR_D_IMM, 3, c.register(3), EXPONENT);
                let exponent = self.dwords(0xff);
                self.v3m(c, ops::AND, 3, 3, exponent);
                let bias = self.dwords(BIAS.wrapping_neg());
                self.v3m(c, ops::ADD_D, 3, 3, bias);
                // None: all ones.
                let none = self.dwords(u32::MAX);
                self.v3m(c, ops::MAX_SD, to, 3, none);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// Leading zeros; of zero, 32. Registers 3 and 4 are lost.
    fn leading_zeros(&mut self, c: Chunks, to: u32, a: u32) {
        // Without the bit below the highest, no mode rounds up to a further power of two. Above `i32::MAX` the sign
        // makes the difference negative.
        self.v2i(c, ops::SHR_D_IMM, 3, c.register(a), 1);
        self.v3(c, ops::ANDN, 3, 3, a);
        self.v2(c, ops::FROM_D_PS, 3, c.register(3));
        self.v2i(c, ops::SHR_D_IMM, 3, c.register(3), EXPONENT);
        let highest = self.dwords(BIAS + 31);
        self.v2(c, ops::MOVE, 4, highest);
        self.v3(c, ops::SUB_D, 4, 4, 3);
        self.v3(c, ops::XOR, 3, 3, 3);
        self.v3(c, ops::MAX_SD, 4, 4, 3);
        let none = self.dwords(32);
        self.v3m(c, ops::MIN_SD, to, 4, none);
    }

    /// Turns 32 into all ones. Registers 3 and 4 are lost.
    fn none_is_ones(&mut self, c: Chunks, to: u32) {
        self.v2i(c, ops::SHR_D_IMM, 4, c.register(to), 5);
        self.v3(c, ops::XOR, 3, 3, 3);
        self.v3(c, ops::SUB_D, 3, 3, 4);
        self.v3(c, ops::OR, to, to, 3);
    }

    /// Sums of pairs, of fours, of bytes. Registers 3 and 4 are lost.
    fn count_bits(&mut self, c: Chunks, to: u32, a: u32) {
        let odd = self.dwords(0x5555_5555);
        self.v2i(c, ops::SHR_D_IMM, 3, c.register(a), 1);
        self.v3m(c, ops::AND, 3, 3, odd);
        self.v3(c, ops::SUB_D, 3, a, 3);
        let pairs = self.dwords(0x3333_3333);
        self.v2i(c, ops::SHR_D_IMM, 4, c.register(3), 2);
        self.v3m(c, ops::AND, 4, 4, pairs);
        self.v3m(c, ops::AND, 3, 3, pairs);
        self.v3(c, ops::ADD_D, 3, 3, 4);
        let fours = self.dwords(0x0f0f_0f0f);
        self.v2i(c, ops::SHR_D_IMM, 4, c.register(3), 4);
        self.v3(c, ops::ADD_D, 3, 3, 4);
        self.v3m(c, ops::AND, 3, 3, fours);
        // The highest byte of the product is the sum of all bytes.
        let bytes = self.dwords(0x0101_0101);
        self.v3m(c, ops::MUL_D, 3, 3, bytes);
        self.v2i(c, ops::SHR_D_IMM, to, c.register(3), 24);
    }

    /// Exchanges neighbours: bits, pairs, fours, bytes, words. Registers 3 to 5 are lost.
    fn reverse_bits(&mut self, c: Chunks, to: u32, a: u32) {
        let masks = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff];
        let mut from = a;
        for (mask, by) in masks.into_iter().zip([1, 2, 4, 8]) {
            let mask = self.dwords(mask);
            self.v2i(c, ops::SHR_D_IMM, 3, c.register(from), by);
            self.v3m(c, ops::AND, 3, 3, mask);
            self.v3m(c, ops::AND, 4, from, mask);
            self.v2i(c, ops::SHL_D_IMM, 4, c.register(4), by);
            self.v3(c, ops::OR, 5, 3, 4);
            from = 5;
        }
        self.v2i(c, ops::SHR_D_IMM, 3, c.register(from), 16);
        self.v2i(c, ops::SHL_D_IMM, 4, c.register(from), 16);
        self.v3(c, ops::OR, to, 3, 4);
    }
}
