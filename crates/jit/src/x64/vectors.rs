//! Instructions on vectors and masks.

use super::Assembler;
use super::ops::Op;
use super::registers::{Mask, Number, Operand, Shape, Vector};
use iced_x86::Code;

/// The instruction of an operation for these operands: by the widest vector among them, and by whether AVX2 can name all
/// of them.
fn code(op: Op, operands: &[Operand]) -> Code {
    let shapes = operands.iter().filter_map(|operand| match operand {
        Operand::Vector(vector) => Some(vector.shape),
        Operand::Memory(memory) => memory.shape(),
        _ => None,
    });
    let is_new = |operand: &Operand| match operand {
        Operand::Vector(vector) => vector.is_new(),
        Operand::Memory(memory) => memory.is_new(),
        Operand::Mask(_) => true,
        Operand::Number(_) | Operand::Immediate(_) => false,
    };
    let [short_xmm, short_ymm] = op.short;
    let [xmm, ymm, zmm] = op.long;
    let (short, long) = match shapes.max() {
        Some(Shape::Xmm) => (short_xmm, xmm),
        Some(Shape::Ymm) => (short_ymm, ymm),
        Some(Shape::Zmm) => (Code::INVALID, zmm),
        None => (Code::INVALID, Code::INVALID),
    };
    if short == Code::INVALID || operands.iter().any(is_new) {
        long
    } else {
        short
    }
}

impl Assembler {
    fn vector<const N: usize>(&mut self, op: Op, operands: [Operand; N]) {
        self.emit(code(op, &operands), &operands);
    }

    /// An operation with one source.
    pub(crate) fn v2(&mut self, op: Op, to: impl Into<Operand>, a: impl Into<Operand>) {
        self.vector(op, [to.into(), a.into()]);
    }

    /// An operation with one source and a number.
    pub(crate) fn v2i(
        &mut self,
        op: Op,
        to: impl Into<Operand>,
        a: impl Into<Operand>,
        number: u32,
    ) {
        self.vector(op, [to.into(), a.into(), number.into()]);
    }

    /// An operation with two sources.
    pub(crate) fn v3(
        &mut self,
        op: Op,
        to: impl Into<Operand>,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) {
        self.vector(op, [to.into(), a.into(), b.into()]);
    }

    /// An operation with two sources and a number.
    pub(crate) fn v3i(
        &mut self,
        op: Op,
        to: impl Into<Operand>,
        a: Vector,
        b: impl Into<Operand>,
        number: u32,
    ) {
        self.vector(op, [to.into(), a.into(), b.into(), number.into()]);
    }

    /// An operation with three sources.
    pub(crate) fn v4(&mut self, op: Op, to: Vector, a: Vector, b: Vector, c: Vector) {
        self.vector(op, [to.into(), a.into(), b.into(), c.into()]);
    }

    /// The lanes whose bits a number has.
    pub(crate) fn mask_from(&mut self, to: Mask, bits: Number) {
        self.emit(Code::VEX_Kmovd_kr_r32, &[to.into(), bits.into()]);
    }

    /// The bits of a mask.
    pub(crate) fn mask_to(&mut self, to: Number, mask: Mask) {
        self.emit(Code::VEX_Kmovd_r32_kr, &[to.into(), mask.into()]);
    }

    /// Copies 16 lanes.
    pub(crate) fn mask_copy(&mut self, to: Mask, mask: Mask) {
        self.emit(Code::VEX_Kmovw_kr_km16, &[to.into(), mask.into()]);
    }

    /// Enables 16 lanes.
    pub(crate) fn mask_all(&mut self, to: Mask) {
        self.emit(Code::VEX_Kxnorw_kr_kr_kr, &[to.into(); 3]);
    }

    /// Enables no lane.
    pub(crate) fn mask_none(&mut self, to: Mask) {
        self.emit(Code::VEX_Kxorw_kr_kr_kr, &[to.into(); 3]);
    }

    /// `NotEqual` if any of 16 lanes is enabled.
    pub(crate) fn mask_any(&mut self, mask: Mask) {
        self.emit(Code::VEX_Kortestw_kr_kr, &[mask.into(); 2]);
    }
}
