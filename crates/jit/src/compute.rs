//! Machine code for computations: a template for each operation and type of lanes.
//!
//! Results of all vectors are computed before the first is stored, so that operands may overlap as in the interpreter.

use crate::Features;
use crate::masks::Enabled;
use crate::mode::Form;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::{
    EAX, EDX, Mask, Width,
    ops::{self, Op},
};
use visakit_exec::code::{
    Compute, Destination, Lane, Modify, Operation, Precision, Region, Source, Step, Target,
};

/// Whether [`MASK`] holds the lanes that change.
pub(crate) fn masked(enabled: Enabled) -> bool {
    enabled != Enabled::All
}

/// Whether the low bits of a result of bytes or words depend on the low bits of sources only, so that wider lanes give
/// the same.
fn is_modular(compute: &Compute) -> bool {
    let size = if compute.lane == Lane::U8 { 1 } else { 2 };
    let operation = matches!(
        compute.operation,
        Operation::Copy
            | Operation::Not
            | Operation::And
            | Operation::Or
            | Operation::Xor
            | Operation::Add
            | Operation::Add3
            | Operation::Mul
            | Operation::Mad
            | Operation::Select
    );
    operation && compute.destination.data_type.size() <= size
}

/// Whether the lanes of a source are shorter integers that follow each other.
fn is_widened(c: Chunks, source: &Source) -> bool {
    let ty = source.data_type;
    source.region == Region::Packed
        && source.modify == Modify::None
        && !ty.is_float()
        && usize::from(ty.size()) < c.lane
}

/// Whether a product is that of a float and its negation. Of a NaN the first source decides the sign.
fn is_negated_square(compute: &Compute) -> bool {
    let [a, b, ..] = &compute.sources;
    compute.operation == Operation::Mul
        && a.modify == Modify::None
        && b.modify == Modify::Neg
        && (a.offset, &a.region, a.data_type) == (b.offset, &b.region, b.data_type)
}

impl Writer {
    /// Writes code for a computation.
    pub(crate) fn compute(&mut self, step: &Step, compute: &Compute, enabled: Enabled) -> Done {
        let lanes = usize::from(step.lanes.count);
        let (size, float) = match compute.lane {
            Lane::U32 | Lane::I32 => (4, false),
            Lane::U64 | Lane::I64 => (8, false),
            Lane::F32 => (4, true),
            Lane::F64 => (8, true),
            Lane::U8 | Lane::U16 => {
                if self.bytes(step, compute, enabled).is_ok() {
                    return Ok(());
                }
                if !is_modular(compute) {
                    return Err(NoTemplate);
                }
                (4, false)
            }
            Lane::I128 => return Err(NoTemplate),
        };
        if float && !matches!(compute.precision, Precision::Float | Precision::Double) {
            // Computed in single and rounded once more; sums of products of brain floats are computed in double.
            let fused = compute.operation.sources() == 3;
            let once = compute.precision == Precision::Half && compute.operation == Operation::Mad;
            if self.form != Form::Usual || fused && !once {
                return Err(NoTemplate);
            }
        }
        let c = Chunks::new(self.features, size, lanes);
        if self.pair.is_some() && c.count != 1 {
            return Err(NoTemplate);
        }
        match compute.operation {
            Operation::Compare(relation) => {
                return self.compare(c, lanes, compute, relation, enabled);
            }
            Operation::FlagAnd | Operation::FlagOr | Operation::FlagXor | Operation::FlagNot => {
                return self.flags(compute, enabled);
            }
            Operation::FlagFromBits => return self.flag_from_bits(compute, enabled),
            Operation::AddCarry | Operation::SubBorrow => {
                return self.carried(lanes, compute, enabled);
            }
            Operation::Convert(to) => return self.convert(c, lanes, compute, to, enabled),
            Operation::IntegerToFloat => return self.integers_to_float(compute, lanes, enabled),
            // In these types numbers are exact, not modular; only copies and choices are the same.
            _ if compute.lane == Lane::I64
                && !matches!(
                    compute.operation,
                    Operation::Copy | Operation::Select | Operation::Shr
                ) =>
            {
                return Err(NoTemplate);
            }
            // Choices go through no arithmetic.
            Operation::Select if float && self.form == Form::Flushing => return Err(NoTemplate),
            // In other rounding modes than to nearest, choices convert signalling NaNs to numbers, and inverse roots,
            // powers and logarithms are rounded once.
            Operation::Min
            | Operation::Max
            | Operation::Select
            | Operation::Rsqrt
            | Operation::Exp
            | Operation::Log
            | Operation::Pow
            | Operation::Sin
            | Operation::Cos
                if float && self.form == Form::Directed =>
            {
                return Err(NoTemplate);
            }
            _ => {}
        }
        let sources = compute.operation.sources();
        if compute.operation == Operation::Select {
            let [flag, _] = &compute.flags;
            self.flag(flag, EDX, u32::MAX)?;
        }
        let count = match compute.operation {
            Operation::Shl | Operation::Shr => self.shift_count(c, compute),
            _ => None,
        };
        let mut results = [0; 8];
        let results = results.get_mut(..self.vectors(c)).ok_or(NoTemplate)?;
        let mut scaled = [None; 2];
        for (vector, to) in results.iter_mut().enumerate() {
            let (chunk, compute) = self.of_vector(vector, compute);
            let compute = &*compute;
            let [source, ..] = &compute.sources;
            if let Some(product) = self.product_of(c, chunk, compute) {
                *to = self.take(c)?;
                self.v2(c, ops::MOVE, *to, c.register(product));
                self.release(product);
                continue;
            }
            if compute.operation == Operation::Copy && !float && is_widened(c, source) {
                *to = self.take(c)?;
                self.load(c, chunk, *to, source, float)?;
                continue;
            }
            if let Some((op, count)) = count {
                let from = self.load(c, chunk, 0, source, float)?;
                *to = self.take(c)?;
                self.v2i(c, op, *to, c.register(from), count);
                self.release(from);
                continue;
            }
            if float && self.form == Form::Usual && is_negated_square(compute) {
                let from = self.load(c, chunk, 0, source, float)?;
                *to = self.take(c)?;
                self.negated_square(c, from, *to);
                self.release(from);
                continue;
            }
            let mut from = [0; 3];
            for ((n, from), source) in (0..)
                .zip(&mut from)
                .zip(compute.sources.iter().take(sources))
            {
                *from = self.load(c, chunk, n, source, float)?;
            }
            // First, as later turns wait for it.
            if let Some(scaled) = scaled.get_mut(vector) {
                *scaled = self.scale(c, chunk, compute, from);
            }
            *to = self.take(c)?;
            self.operation(c, vector, compute, from, *to)?;
            if float && self.form == Form::Flushing {
                self.flush(c, *to);
            }
            from.into_iter().for_each(|n| self.release(n));
        }
        self.finish(c, compute.destination.clone(), results, float, enabled)?;
        for (vector, n) in scaled.into_iter().enumerate() {
            if let Some(n) = n {
                let (chunk, compute) = self.of_vector(vector, compute);
                self.hold_scaled(c, chunk, &compute, n);
            }
        }
        Ok(())
    }

    /// The instruction for a shift by a number that is part of the program, and that number.
    fn shift_count(&self, c: Chunks, compute: &Compute) -> Option<(Op, u32)> {
        let [_, count, ..] = &compute.sources;
        let count = self.literal(count)? & if c.lane == 4 { 31 } else { 63 };
        let signed = matches!(compute.lane, Lane::I32 | Lane::I64);
        let op = match (compute.operation, signed) {
            (Operation::Shl, _) => c.of(ops::SHL_D_IMM, ops::SHL_Q_IMM),
            (_, false) => c.of(ops::SHR_D_IMM, ops::SHR_Q_IMM),
            (_, true) if c.lane == 4 => ops::SAR_D_IMM,
            (_, true) => return None,
        };
        Some((op, u32::try_from(count).ok()?))
    }

    /// Stores results.
    pub(crate) fn finish(
        &mut self,
        c: Chunks,
        mut destination: Destination,
        results: &[u32],
        float: bool,
        enabled: Enabled,
    ) -> Done {
        if destination.saturate {
            self.saturate(c, results, float)?;
            destination.saturate = false;
        }
        for (vector, from) in results.iter().enumerate() {
            let mut destination = destination.clone();
            destination.offset += self.distance_to(c, vector);
            self.store(c, vector, *from, &destination, float, enabled)?;
        }
        Ok(())
    }

    /// Results of floats between 0 and 1; NaN becomes 0.
    fn saturate(&mut self, c: Chunks, results: &[u32], float: bool) -> Done {
        self.with_scratch(|own, [t, u, v]| {
            if !float {
                return Err(NoTemplate);
            }
            let one = own.every(c, 1f32.to_bits(), 1f64.to_bits());
            own.v2(c, ops::MOVE, u, one);
            own.v3(c, ops::XOR, t, t, t);
            for &n in results {
                // Not greater or equal to 0: less, or no number. Negative zero stays.
                own.float_mask(c, v, n, t, 0x19);
                own.v3(c, ops::ANDN, n, v, n);
                own.v3(c, c.of(ops::MIN_PS, ops::MIN_PD), n, n, u);
            }
            Ok(())
        })
    }

    /// All ones in the lanes where a relation of floats holds.
    pub(crate) fn float_mask(&mut self, c: Chunks, to: u32, a: u32, b: u32, predicate: u32) {
        if c.zmm {
            let (a, b) = (c.register(a), c.register(b));
            let compare = c.of(ops::MASK_OF_PS, ops::MASK_OF_PD);
            self.asm.v3i(compare, Mask::K2, a, b, predicate);
            let spread = c.of(ops::FROM_MASK_D, ops::FROM_MASK_Q);
            self.asm.v2(spread, c.register(to), Mask::K2);
        } else {
            let (to, a, b) = (c.register(to), c.register(a), c.register(b));
            let compare = c.of(ops::COMPARE_PS, ops::COMPARE_PD);
            self.asm.v3i(compare, to, a, b, predicate);
        }
    }

    /// The result of an operation whose sources are in three registers, which are not changed.
    fn operation(
        &mut self,
        c: Chunks,
        chunk: usize,
        compute: &Compute,
        from: [u32; 3],
        to: u32,
    ) -> Done {
        let [a, b, z] = from;
        let float = matches!(compute.lane, Lane::F32 | Lane::F64);
        let signed = matches!(compute.lane, Lane::I32 | Lane::I64);
        let avx512 = self.features == Features::Avx512;
        let narrow = c.lane == 4;
        match compute.operation {
            Operation::Copy => self.v2(c, ops::MOVE, to, c.register(a)),
            Operation::Not => {
                let ones = self.dwords(u32::MAX);
                self.v3m(c, ops::XOR, to, a, ones);
            }
            Operation::And => self.v3(c, ops::AND, to, a, b),
            Operation::Or => self.v3(c, ops::OR, to, a, b),
            Operation::Xor => self.v3(c, ops::XOR, to, a, b),
            Operation::Add if float => self.v3(c, c.of(ops::ADD_PS, ops::ADD_PD), to, a, b),
            Operation::Add => self.v3(c, c.of(ops::ADD_D, ops::ADD_Q), to, a, b),
            Operation::Mul if float => self.v3(c, c.of(ops::MUL_PS, ops::MUL_PD), to, a, b),
            Operation::Mul => self.product(c, &compute.sources, to, a, b),
            Operation::MulHigh if !narrow => {
                self.product(c, &compute.sources, to, a, b);
                self.v2i(c, ops::SHR_Q_IMM, to, c.register(to), 32);
            }
            Operation::Div if float => self.v3(c, c.of(ops::DIV_PS, ops::DIV_PD), to, a, b),
            Operation::Mad if compute.precision == Precision::Half && float => {
                self.halves_fused(c, to, a, b, z);
            }
            Operation::Mad if float => {
                // Of several NaNs the host keeps the one of the second operand, then of the first.
                self.v2(c, ops::MOVE, to, c.register(b));
                self.v3(c, c.of(ops::FMA_PS, ops::FMA_PD), to, a, z);
            }
            Operation::Mad => {
                self.with_scratch(|own, [product]| {
                    own.product(c, &compute.sources, product, a, b);
                    own.v3(c, c.of(ops::ADD_D, ops::ADD_Q), to, product, z);
                });
            }
            Operation::Add3 => {
                let add = c.of(ops::ADD_D, ops::ADD_Q);
                self.v3(c, add, to, a, b);
                self.v3(c, add, to, to, z);
            }
            Operation::Exp | Operation::Log | Operation::Sin | Operation::Cos => {
                self.elementary(c, to, a, compute.operation)?;
            }
            Operation::Pow => self.power(c, to, a, b)?,
            Operation::Sqrt => self.v2(c, c.of(ops::SQRT_PS, ops::SQRT_PD), to, c.register(a)),
            Operation::Rsqrt => self.inverse_root(c, to, a),
            Operation::Inv => {
                let one = self.every(c, 1f32.to_bits(), 1f64.to_bits());
                self.with_scratch(|own, [dividend]| {
                    own.v2(c, ops::MOVE, dividend, one);
                    own.v3(c, c.of(ops::DIV_PS, ops::DIV_PD), to, dividend, a);
                });
            }
            Operation::Rndd => self.rounded(c, to, a, 9),
            Operation::Rndu => self.rounded(c, to, a, 10),
            Operation::Rnde => self.rounded(c, to, a, 8),
            Operation::Rndz => self.rounded(c, to, a, 11),
            Operation::Frc => {
                self.with_scratch(|own, [whole]| {
                    own.rounded(c, whole, a, 9);
                    own.v3(c, c.of(ops::SUB_PS, ops::SUB_PD), to, a, whole);
                });
            }
            Operation::Min | Operation::Max if float => {
                self.float_choice(c, to, a, b, compute.operation);
            }
            Operation::Min if narrow => {
                self.v3(c, if signed { ops::MIN_SD } else { ops::MIN_UD }, to, a, b);
            }
            Operation::Max if narrow => {
                self.v3(c, if signed { ops::MAX_SD } else { ops::MAX_UD }, to, a, b);
            }
            Operation::Shl | Operation::Shr => {
                let bits = self.every(c, 31, 63);
                let op = match (compute.operation, signed) {
                    (Operation::Shl, _) => c.of(ops::SHL_D, ops::SHL_Q),
                    (_, false) => c.of(ops::SHR_D, ops::SHR_Q),
                    (_, true) if narrow => ops::SAR_D,
                    (_, true) if avx512 => ops::SAR_Q,
                    _ => return Err(NoTemplate),
                };
                self.with_scratch(|own, [count]| {
                    own.v3m(c, ops::AND, count, b, bits);
                    own.v3(c, op, to, a, count);
                });
            }
            Operation::Rol | Operation::Ror => {
                self.rotated(c, to, a, b, compute.operation);
            }
            Operation::CountBits
            | Operation::LeadingZeros
            | Operation::FirstBitLow
            | Operation::FirstBitHighSigned
            | Operation::FirstBitHighUnsigned
            | Operation::ReverseBits => self.bits(c, to, a, compute.operation)?,
            Operation::Boolean(table) if narrow => self.boolean(c, to, from, table),
            Operation::Select => self.blend_by(c, chunk, to, b, a, EDX),
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// `a * -a`, without the instruction that negates: the square is subtracted from the zero that changes no result.
    fn negated_square(&mut self, c: Chunks, a: u32, to: u32) {
        let zero = self.every(c, (-0f32).to_bits(), (-0f64).to_bits());
        self.v2(c, ops::MOVE, to, c.register(a));
        self.v3m(c, c.of(ops::FNMA_PS, ops::FNMA_PD), to, a, zero);
    }

    fn rounded(&mut self, c: Chunks, to: u32, a: u32, how: u32) {
        self.v2i(
            c,
            c.of(ops::ROUND_PS, ops::ROUND_PD),
            to,
            c.register(a),
            how,
        );
    }

    /// Modular product of the first two sources.
    fn product(&mut self, c: Chunks, sources: &[Source], to: u32, a: u32, b: u32) {
        if c.lane == 4 {
            self.v3(c, ops::MUL_D, to, a, b);
            return;
        }
        let is_short = |source: &Source| {
            source.modify == Modify::None
                && source.data_type.size() <= 4
                && !source.data_type.is_signed()
        };
        if sources.iter().take(2).all(is_short) {
            // The upper halves of both are zero.
            self.v3(c, ops::MUL_UDQ, to, a, b);
            return;
        }
        if self.features == Features::Avx512 {
            self.v3(c, ops::MUL_Q, to, a, b);
            return;
        }
        self.long_product(c, to, a, b);
    }

    /// Modular product of 64 bits by halves.
    fn long_product(&mut self, c: Chunks, to: u32, a: u32, b: u32) {
        self.with_scratch(|own, [t, u]| {
            // Low by high halves both ways, above low by low.
            own.v2i(c, ops::SHR_Q_IMM, t, c.register(a), 32);
            own.v3(c, ops::MUL_UDQ, t, t, b);
            own.v2i(c, ops::SHR_Q_IMM, u, c.register(b), 32);
            own.v3(c, ops::MUL_UDQ, u, a, u);
            own.v3(c, ops::ADD_Q, t, t, u);
            own.v2i(c, ops::SHL_Q_IMM, t, c.register(t), 32);
            own.v3(c, ops::MUL_UDQ, u, a, b);
            own.v3(c, ops::ADD_Q, to, t, u);
        });
    }

    /// The smaller or larger number of two: of a number and a NaN, the number; of two NaNs, the second.
    fn float_choice(&mut self, c: Chunks, to: u32, a: u32, b: u32, operation: Operation) {
        self.with_scratch(|own, [t, u, v]| {
            // a < b, or a >= b; neither holds for a NaN.
            let relation = if operation == Operation::Min {
                0x11
            } else {
                0x1d
            };
            own.float_mask(c, t, a, b, relation);
            own.float_mask(c, u, b, b, 3);
            own.float_mask(c, v, a, a, 3);
            own.v3(c, ops::ANDN, u, v, u);
            own.v3(c, ops::OR, t, t, u);
            // a where set, else b.
            own.v3(c, ops::AND, u, a, t);
            own.v3(c, ops::ANDN, t, t, b);
            own.v3(c, ops::OR, to, t, u);
        });
    }

    fn rotated(&mut self, c: Chunks, to: u32, a: u32, b: u32, operation: Operation) {
        self.with_scratch(|own, [t, u, v]| {
            let left = operation == Operation::Rol;
            if c.zmm {
                let op = match left {
                    true => c.of(ops::ROL_D, ops::ROL_Q),
                    false => c.of(ops::ROR_D, ops::ROR_Q),
                };
                own.v3(c, op, to, a, b);
                return;
            }
            let bits = own.every(c, 31, 63);
            let all = own.every(c, 32, 64);
            own.v3m(c, ops::AND, v, b, bits);
            own.v2(c, ops::MOVE, t, all);
            own.v3(c, c.of(ops::SUB_D, ops::SUB_Q), t, t, v);
            let shl = c.of(ops::SHL_D, ops::SHL_Q);
            let shr = c.of(ops::SHR_D, ops::SHR_Q);
            let (one, other) = if left { (shl, shr) } else { (shr, shl) };
            own.v3(c, one, u, a, v);
            own.v3(c, other, t, a, t);
            own.v3(c, ops::OR, to, t, u);
        });
    }

    /// Any bitwise function of three sources. Bit n of the table is the result where the sources' bits,
    /// the first lowest, are n.
    fn boolean(&mut self, c: Chunks, to: u32, from: [u32; 3], table: u8) {
        self.with_scratch(|own, [t]| {
            if own.features == Features::Avx512 {
                // The instruction's first source is the most significant.
                let [a, b, z] = from;
                own.v2(c, ops::MOVE, to, c.register(z));
                let (to, b, a) = (c.register(to), c.register(b), c.register(a));
                own.asm.v3i(ops::TERNARY_D, to, b, a, table.into());
                return;
            }
            // As a sum (exclusive or) of products (and): coefficient n is the sum of the results for all
            // subsets of the bits of n.
            let mut sum = table;
            sum ^= (sum & 0x55) << 1;
            sum ^= (sum & 0x33) << 2;
            sum ^= (sum & 0x0f) << 4;
            own.v3(c, ops::XOR, to, to, to);
            for n in (0..8u32).filter(|n| sum >> n & 1 != 0) {
                let mut factors = (0..)
                    .zip(from)
                    .filter(|(bit, _)| n >> bit & 1 != 0)
                    .map(|(_, r)| r);
                match (factors.next(), factors.next(), factors.next()) {
                    (None, ..) => {
                        let ones = own.dwords(u32::MAX);
                        own.v3m(c, ops::XOR, to, to, ones);
                    }
                    (Some(a), None, _) => own.v3(c, ops::XOR, to, to, a),
                    (Some(a), Some(b), third) => {
                        own.v3(c, ops::AND, t, a, b);
                        if let Some(third) = third {
                            own.v3(c, ops::AND, t, t, third);
                        }
                        own.v3(c, ops::XOR, to, to, t);
                    }
                }
            }
        });
    }

    /// Copies of consecutive bytes and words.
    fn bytes(&mut self, step: &Step, compute: &Compute, enabled: Enabled) -> Done {
        if self.pair.is_some() {
            return Err(NoTemplate);
        }
        let lanes = usize::from(step.lanes.count);
        let size = match (compute.operation, compute.lane) {
            (Operation::Copy, Lane::U8) => 1,
            (Operation::Copy, Lane::U16) => 2,
            _ => return Err(NoTemplate),
        };
        let ([source, ..], destination) = (&compute.sources, &compute.destination);
        let plain = source.modify == Modify::None
            && !destination.saturate
            && destination.target == Target::Packed
            && usize::from(source.data_type.size()) == size
            && usize::from(destination.data_type.size()) == size;
        let packed =
            source.region == Region::Packed || lanes == 1 && source.region == Region::Scalar;
        if !plain || !packed || enabled != Enabled::All && lanes > 1 {
            return Err(NoTemplate);
        }
        let bytes = lanes * size;
        let from = self.file(source.offset, bytes)?;
        let to = self.file(destination.offset, bytes)?;
        self.overwritten(destination.offset, bytes);
        match bytes {
            1 => {
                self.asm.extend(EAX, 1, from);
                self.asm.store(to, EAX.low(Width::Byte));
            }
            2 => {
                self.asm.extend(EAX, 2, from);
                self.asm.store(to, EAX.low(Width::Word));
            }
            64 => {
                // In two halves, for hosts without wider registers.
                let second = self.file(source.offset + 32, 32)?;
                self.load_bytes(0, from, 32)?;
                self.load_bytes(1, second, 32)?;
                let second = self.file(destination.offset + 32, 32)?;
                self.store_bytes(to, 0, 32)?;
                self.store_bytes(second, 1, 32)?;
            }
            _ => {
                self.load_bytes(0, from, bytes)?;
                self.store_bytes(to, 0, bytes)?;
            }
        }
        Ok(())
    }
}
