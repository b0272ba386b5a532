//! Machine code for comparisons and for logic on predicate variables.

use crate::Features;
use crate::compute::masked;
use crate::exits::TAKEN;
use crate::fused::{Branch, Outcome};
use crate::masks::Enabled;
use crate::path::Path;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::{ECX, EDX, Mask, Number, ops};
use visakit_exec::code::{Compute, Destination, Lane, Modify, Operation, Region, Relation};

impl Writer {
    pub(crate) fn compare(
        &mut self,
        c: Chunks,
        lanes: usize,
        compute: &Compute,
        relation: Relation,
        enabled: Enabled,
    ) -> Done {
        let float = matches!(compute.lane, Lane::F32 | Lane::F64);
        if self.branch == Some(Branch::Jump) && self.compare_numbers(compute, relation).is_ok() {
            return Ok(());
        }
        let target = compute.sets.as_ref().filter(|_| self.branch.is_none());
        let target = target.and_then(|flag| self.flag_target(flag, masked(enabled)));
        let bits = target.unwrap_or(TAKEN);
        // Where all lanes have the same outcome one vector of them is enough.
        let uniform = c.count > 1 && compute.is_uniform();
        for vector in 0..if uniform { 1 } else { self.vectors(c) } {
            let (chunk, compute) = self.of_vector(vector, compute);
            let [a, b, ..] = &compute.sources;
            let a = self.load(c, chunk, 0, a, float)?;
            let b = self.load(c, chunk, 1, b, float)?;
            let part = if vector == 0 { bits } else { ECX };
            self.relate(c, compute.lane, relation, [a, b], part);
            self.release(a);
            self.release(b);
            if vector != 0 {
                let shift = u32::try_from(vector * c.lanes).map_err(|_| NoTemplate)?;
                self.asm.shl(part, shift);
                self.asm.or(bits, part);
            }
        }
        if uniform {
            self.asm.neg(bits);
            self.asm.sbb(bits, bits);
        }
        let negated = relation == Relation::NotEqual;
        if negated {
            self.asm.not(bits);
        }
        let Some(flag) = &compute.sets else {
            return self.set_lanes(lanes, &compute.destination, bits, enabled);
        };
        if self.branch.is_some() {
            self.outcome = Some(Outcome::Bits);
            self.takes(Path::FusedLanes);
            return Ok(());
        }
        let whole = c.lanes * c.lane == if c.zmm { 64 } else { 32 };
        let lanes = lanes * self.vectors(c) / c.count;
        let narrow = !negated && !uniform && whole && c.lanes * self.vectors(c) == lanes;
        self.set_flag(flag, bits, masked(enabled), narrow)
    }

    /// A predicate variable from the bits of a number.
    pub(crate) fn flag_from_bits(&mut self, compute: &Compute, enabled: Enabled) -> Done {
        let [source, ..] = &compute.sources;
        let flag = compute.sets.as_ref().ok_or(NoTemplate)?;
        let whole = source.data_type.size() == 4 && !source.data_type.is_float();
        if source.region != Region::Scalar
            || source.modify != Modify::None
            || !whole && source.constant.is_none()
        {
            return Err(NoTemplate);
        }
        let from = self.file(source.offset, 4)?;
        self.asm.mov(EDX, from);
        self.set_flag(flag, EDX, masked(enabled), false)
    }

    /// All ones in the lanes whose bits are set, zeros in the others.
    fn set_lanes(
        &mut self,
        lanes: usize,
        destination: &Destination,
        bits: Number,
        enabled: Enabled,
    ) -> Done {
        let ty = destination.data_type;
        if ty.is_float() || destination.saturate {
            return Err(NoTemplate);
        }
        let c = Chunks::new(self.features, usize::from(ty.size()).max(4), lanes);
        let mut results = [0; 8];
        let results = results.get_mut(..c.count).ok_or(NoTemplate)?;
        self.with_scratch(|own, [none, all]| -> Done {
            own.v3(c, ops::XOR, none, none, none);
            let ones = own.dwords(u32::MAX);
            own.v2(c, ops::MOVE, all, ones);
            for (chunk, to) in results.iter_mut().enumerate() {
                *to = own.take(c)?;
                own.blend_by(c, chunk, *to, none, all, bits);
            }
            Ok(())
        })?;
        for (chunk, from) in results.iter().enumerate() {
            self.store(c, chunk, *from, destination, false, enabled)?;
        }
        Ok(())
    }

    /// The lanes of a vector, as bits, in which a relation holds; of `NotEqual` those in which it does
    /// not.
    pub(crate) fn relate(
        &mut self,
        c: Chunks,
        lane: Lane,
        relation: Relation,
        [mut a, mut b]: [u32; 2],
        to: Number,
    ) {
        self.with_scratch(|own, [holds, x, y]| {
            let float = matches!(lane, Lane::F32 | Lane::F64);
            let signed = matches!(lane, Lane::I32 | Lane::I64);
            if own.features == Features::Avx512 {
                let op = match (float, signed) {
                    (true, _) => c.of(ops::MASK_OF_PS, ops::MASK_OF_PD),
                    (_, true) => c.of(ops::MASK_OF_D, ops::MASK_OF_Q),
                    (_, false) => c.of(ops::MASK_OF_UD, ops::MASK_OF_UQ),
                };
                let predicate = match (relation, float) {
                    (Relation::Equal | Relation::NotEqual, _) => 0,
                    (Relation::Less, true) => 0x11,
                    (Relation::LessEqual, true) => 0x12,
                    (Relation::Less, false) => 1,
                    (Relation::LessEqual, false) => 2,
                };
                let (a, b) = (c.register(a), c.register(b));
                own.asm.v3i(op, Mask::K2, a, b, predicate);
                own.asm.mask_to(to, Mask::K2);
                return;
            }
            if float {
                let predicate = match relation {
                    Relation::Equal | Relation::NotEqual => 0,
                    Relation::Less => 0x11,
                    Relation::LessEqual => 0x12,
                };
                own.float_mask(c, holds, a, b, predicate);
            } else {
                if !signed && matches!(relation, Relation::Less | Relation::LessEqual) {
                    let sign = own.every(c, 1 << 31, 1 << 63);
                    own.v3m(c, ops::XOR, x, a, sign);
                    own.v3m(c, ops::XOR, y, b, sign);
                    (a, b) = (x, y);
                }
                let equal = c.of(ops::EQUAL_D, ops::EQUAL_Q);
                let greater = c.of(ops::GREATER_D, ops::GREATER_Q);
                let [a, b, r] = [a, b, holds].map(|n| c.register(n));
                match relation {
                    Relation::Equal | Relation::NotEqual => own.asm.v3(equal, r, a, b),
                    Relation::Less => own.asm.v3(greater, r, b, a),
                    Relation::LessEqual => {
                        own.asm.v3(greater, r, a, b);
                        let ones = own.dwords(u32::MAX);
                        own.v3m(c, ops::XOR, holds, holds, ones);
                    }
                }
            }
            own.asm
                .v2(c.of(ops::SIGNS_PS, ops::SIGNS_PD), to, c.register(holds));
        });
    }

    /// Logic on predicate variables.
    pub(crate) fn flags(&mut self, compute: &Compute, enabled: Enabled) -> Done {
        let Some(flag) = &compute.sets else {
            return Err(NoTemplate);
        };
        let [mut a, mut b] = compute.flags;
        let is_binary = compute.operation != Operation::FlagNot;
        let in_a = self.flag_at(a.offset as usize);
        let in_b = self.flag_at(b.offset as usize).filter(|_| is_binary);
        let target = self.flag_target(flag, masked(enabled));
        // Not where both sources are.
        let target = target.filter(|_| in_a.is_none() || in_a != in_b);
        let bits = target.unwrap_or(EDX);
        if in_b == Some(bits) {
            // All of them are commutative.
            std::mem::swap(&mut a, &mut b);
        }
        let other = self.held_flag(&b).filter(|_| !b.invert);
        self.flag(&a, bits, u32::MAX)?;
        if !is_binary {
            self.asm.not(bits);
            return self.set_flag(flag, bits, masked(enabled), false);
        }
        if other.is_none() {
            self.flag(&b, ECX, u32::MAX)?;
        }
        let other = other.unwrap_or(ECX);
        match compute.operation {
            Operation::FlagAnd => self.asm.and(bits, other),
            Operation::FlagOr => self.asm.or(bits, other),
            _ => self.asm.xor(bits, other),
        }
        let narrow = (a.window | b.window) & !flag.window == 0;
        self.set_flag(flag, bits, masked(enabled), narrow)
    }
}
