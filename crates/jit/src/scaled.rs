//! Products by a power of two of sums in loops: `(a + c) * 2` is computed beside `a + c`, not after it.
//!
//! Multiplying by a power of two changes the exponent only, and a sum of floats is exact wherever it is less than the
//! smallest normal number. So `a * 2 + c * 2` in one fused operation is the same as the product of the rounded sum, to the
//! bit: zeros have the same sign, and both overflow for the same sums. Only `c * 2` must not overflow by itself. Where `c` is
//! the same in all turns of a loop this is known before the first one.
//!
//! The product needs the sum no more, so that the steps of a turn that wait for each other are one less. Squares of complex
//! numbers have such products, `2xy + c`, and their `x` goes through copies to the next turn.

use crate::count::Counts;
use crate::exits::Way;
use crate::flow::Compiler;
use crate::kept::Content;
use crate::loops::{Access, Carried};
use crate::pending::meet;
use crate::vector::{Chunks, Done, Writer};
use crate::x64::{Condition, EDX, Memory, ops};
use std::collections::HashMap;
use std::ops::Range;
use visakit_exec::code::{
    Action, Compute, Lane, Modify, Operation, Precision, Region, Relation, Source, Step, Target,
};
use visakit_isa::DataType;

/// What a step has to do with a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Its result is multiplied later. This is the number of the source that stays the same.
    Sum(usize, Factor),
    /// It copies what is multiplied later.
    Copy(Factor),
    /// It multiplies the source of this number.
    Product(usize, Factor),
}

/// A power of two, more than 1, as a float of the size of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Factor {
    bits: u64,
    /// Bytes of a lane.
    lane: usize,
}

/// What is multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scaled {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    /// Whether an element is in every lane of a vector of 256 or 512 bits; otherwise the lanes follow each other.
    each: bool,
    zmm: bool,
    factor: Factor,
}

impl Scaled {
    /// The lanes of a chunk of a source.
    fn source(c: Chunks, chunk: usize, source: &Source, factor: Factor) -> Self {
        match source.region {
            Region::Scalar => Self {
                offset: source.offset,
                bytes: c.lane,
                each: true,
                zmm: c.zmm,
                factor,
            },
            _ => Self::lanes(c, chunk, source.offset, factor),
        }
    }

    /// Those of a chunk of lanes that follow each other.
    const fn lanes(c: Chunks, chunk: usize, offset: usize, factor: Factor) -> Self {
        let bytes = c.lanes * c.lane;
        Self {
            offset: offset + chunk * bytes,
            bytes,
            each: false,
            zmm: c.zmm,
            factor,
        }
    }

    /// The content without the factor.
    const fn content(self) -> Content {
        let Self { offset, bytes, .. } = self;
        match self.each {
            true => Content::Each {
                offset,
                bytes,
                zmm: self.zmm,
            },
            false => Content::Bytes { offset, bytes },
        }
    }

    /// The vector that holds it.
    const fn chunks(self) -> Chunks {
        let lane = self.factor.lane;
        let whole = if self.zmm { 64 } else { 32 };
        Chunks {
            lane,
            lanes: if self.each { whole } else { self.bytes } / lane,
            count: 1,
            zmm: self.zmm,
        }
    }
}

/// The products of a loop.
#[derive(Clone, Default, Debug)]
pub(crate) struct Products {
    roles: HashMap<usize, Role>,
    /// What a turn finds in registers, if there is room: sums of the turn before, and what is added to them.
    carried: Vec<Scaled>,
}

impl Products {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// What a step has to do with them.
    pub(crate) fn role(&self, place: usize) -> Option<Role> {
        self.roles.get(&place).copied()
    }

    /// What a turn reads of them, before anything else, of a thread whose operands begin at a place.
    pub(crate) fn read(&self, begin: usize, accesses: &mut Vec<Access>) {
        let reads = self.carried.iter().map(|scaled| {
            let own = Scaled {
                offset: begin + scaled.offset,
                ..*scaled
            };
            Access::Read(Content::Scaled(own), own.chunks().registers())
        });
        accesses.splice(0..0, reads);
    }
}

/// A computation of floats without conversions, or a copy, for all lanes that run; and the bytes of its result.
fn plain(step: &Step) -> Option<(&Compute, Range<usize>)> {
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let (size, float) = match compute.lane {
        Lane::F32 => (4, Some(DataType::F)),
        Lane::F64 => (8, Some(DataType::Df)),
        Lane::U32 => (4, None),
        Lane::U64 => (8, None),
        _ => return None,
    };
    let same = |ty: DataType| match float {
        Some(float) => ty == float,
        None => usize::from(ty.size()) == size && !ty.is_float(),
    };
    let to = &compute.destination;
    let used = compute.sources.iter().take(compute.operation.sources());
    let exact = matches!(compute.precision, Precision::Float | Precision::Double);
    let is_plain = step.predicate.is_none()
        && step.lanes.count > 1
        && (float.is_none() || exact)
        && compute.second.is_none()
        && compute.sets.is_none()
        && to.target == Target::Packed
        && !to.saturate
        && same(to.data_type)
        && used.map(|source| source.data_type).all(same);
    let bytes = usize::from(step.lanes.count) * size;
    is_plain.then(|| (&**compute, to.offset..to.offset + bytes))
}

/// The bytes of a source whose lanes follow each other, as many as a result has.
fn packed(source: &Source, result: &Range<usize>) -> Option<Range<usize>> {
    let is_packed = source.region == Region::Packed && source.modify == Modify::None;
    is_packed.then(|| source.offset..source.offset + result.len())
}

impl Compiler<'_> {
    /// The products of a loop whose sums can be multiplied before they are known.
    pub(crate) fn products(&self, steps: &Range<usize>) -> Products {
        let mut products = Products::default();
        let all = self.code.steps.get(steps.clone()).unwrap_or(&[]);
        // Where lanes join, they have not computed what the others have.
        if all.iter().any(|step| matches!(step.action, Action::Join)) {
            return products;
        }
        for place in steps.clone() {
            // Each step has one role.
            if let Some(product) = self.product(all, steps.start, place)
                && !product
                    .roles
                    .keys()
                    .any(|at| products.roles.contains_key(at))
            {
                products.roles.extend(product.roles);
                products.carried.extend(product.carried);
            }
        }
        products
    }

    /// The product of a step, if it is one. `all` are the steps of the loop, which begins at `first`.
    fn product(&self, all: &[Step], first: usize, place: usize) -> Option<Products> {
        let own = place - first;
        let step = all.get(own)?;
        let (compute, result) = plain(step)?;
        let [a, b, ..] = &compute.sources;
        let floats = matches!(compute.lane, Lane::F32 | Lane::F64);
        if compute.operation != Operation::Mul || !floats {
            return None;
        }
        let lane = result.len() / usize::from(step.lanes.count);
        let (number, source, factor) = match (self.power(a, lane), self.power(b, lane)) {
            (None, Some(factor)) => (0, a, factor),
            (Some(factor), None) => (1, b, factor),
            _ => return None,
        };
        let c = Chunks::new(self.writer.features, lane, usize::from(step.lanes.count));
        // More vectors do not wait for each other.
        if c.count > 2 {
            return None;
        }
        let mut product = Products::default();
        product.roles.insert(place, Role::Product(number, factor));
        let mut vector = packed(source, &result)?;
        // Backwards: the rest of the turn, then the one before it.
        for at in (0..own).rev().chain((0..all.len()).rev()) {
            let before = all.get(at)?;
            if at + 1 == all.len() {
                let lanes = |n| Scaled::lanes(c, n, vector.start, factor);
                product.carried.extend((0..c.count).map(lanes));
            }
            if !before.written()?.any(|bytes| meet(&bytes, &vector)) {
                continue;
            }
            let (writes, bytes) = plain(before)?;
            if bytes != vector || before.lanes != step.lanes {
                return None;
            }
            let [a, b, ..] = &writes.sources;
            match writes.operation {
                Operation::Copy => {
                    product.roles.insert(first + at, Role::Copy(factor));
                    vector = packed(a, &vector)?;
                }
                Operation::Add if writes.lane == compute.lane => {
                    let stays = |source: &Source| is_constant(all, source, &bytes);
                    let (number, addend) = match (stays(a), stays(b)) {
                        (true, false) => (0, a),
                        (false, true) => (1, b),
                        _ => return None,
                    };
                    product.roles.insert(first + at, Role::Sum(number, factor));
                    let is_one = addend.region == Region::Scalar;
                    let lanes = |n| Scaled::source(c, n, addend, factor);
                    let vectors = 0..if is_one { 1 } else { c.count };
                    product.carried.extend(vectors.map(lanes));
                    return Some(product);
                }
                _ => return None,
            }
        }
        None
    }

    /// The power of two, more than 1, that a source is in all lanes.
    fn power(&self, source: &Source, lane: usize) -> Option<Factor> {
        let bits = self.writer.literal(source)? & u64::MAX >> (64 - 8 * lane);
        let float = match lane {
            4 => f64::from(f32::from_bits(u32::try_from(bits).ok()?)),
            _ => f64::from_bits(bits),
        };
        let fraction = float.to_bits() & (u64::MAX >> 12);
        (float > 1.0 && float.is_finite() && fraction == 0).then_some(Factor { bits, lane })
    }

    /// Goes to the code of the first segment where something that is added, multiplied, is not a finite number.
    pub(crate) fn check_scaled(&mut self, carried: &[Carried], start: usize, version: usize) {
        let Some(segment) = self.segments.get(&start) else {
            return;
        };
        let otherwise = match self.is_for_pairs() {
            true => self.exit(start, Counts::default(), Way::Leave),
            false => segment.label(version),
        };
        for one in carried.iter().filter(|one| !one.changes) {
            let Content::Scaled(scaled) = one.content else {
                continue;
            };
            let c = scaled.chunks();
            let contents = &self.writer.kept.contents;
            let held = contents.iter().position(|own| *own == Some(one.content));
            let Some(n) = held.and_then(|n| u32::try_from(n).ok()) else {
                continue;
            };
            // What is no number or infinite leaves something that is no number.
            let (sub, lane, lanes) = match c.lane {
                4 => (ops::SUB_PS, Lane::F32, if c.zmm { 16 } else { 8 }),
                _ => (ops::SUB_PD, Lane::F64, if c.zmm { 8 } else { 4 }),
            };
            self.writer.v3(c, sub, 0, n, n);
            let bits = EDX;
            self.writer.relate(c, lane, Relation::Equal, [0, 0], bits);
            let asm = &mut self.writer.asm;
            asm.cmp(bits, u32::MAX >> (32 - lanes));
            asm.jump_if(Condition::NotEqual, otherwise);
        }
    }
}

/// Whether a source is an operand of a sum that no step of a loop writes.
fn is_constant(all: &[Step], source: &Source, result: &Range<usize>) -> bool {
    let size = usize::from(source.data_type.size());
    let bytes = match source.region {
        Region::Packed => result.len(),
        Region::Scalar => size,
        _ => return false,
    };
    let bytes = source.offset..source.offset + bytes;
    let writes = |step: &Step| match step.written() {
        Some(mut written) => written.any(|own| meet(&own, &bytes)),
        None => true,
    };
    source.modify == Modify::None && !all.iter().any(writes)
}

impl Writer {
    /// The factor in all lanes.
    fn factor(&mut self, factor: Factor) -> Memory {
        match factor.lane {
            4 => self.dwords(u32::try_from(factor.bits).unwrap_or(0)),
            _ => self.qwords(factor.bits),
        }
    }

    /// Computes a product from the register file.
    pub(crate) fn load_scaled(&mut self, n: u32, scaled: Scaled) -> Done {
        let c = scaled.chunks();
        self.load_kept(n, scaled.content())?;
        let factor = self.factor(scaled.factor);
        let mul = c.of(ops::MUL_PS, ops::MUL_PD);
        self.v3m(c, mul, n, n, factor);
        Ok(())
    }

    /// The register that holds the product of a step, if one does.
    pub(crate) fn product_of(&mut self, c: Chunks, chunk: usize, compute: &Compute) -> Option<u32> {
        let Some(Role::Product(number, factor)) = self.role else {
            return None;
        };
        let source = compute.sources.get(number)?;
        let scaled = Scaled::source(c, chunk, source, factor);
        let n = self.find(c, Content::Scaled(scaled))?;
        self.kept.busy |= 1 << n;
        self.kept.held &= !(1 << n);
        Some(n)
    }

    /// Computes the product of what a step computes from these, if later steps use it.
    pub(crate) fn scale(
        &mut self,
        c: Chunks,
        chunk: usize,
        compute: &Compute,
        from: [u32; 3],
    ) -> Option<u32> {
        let own = |number: usize, factor: Factor| {
            let source = compute.sources.get(number)?;
            Some(Content::Scaled(Scaled::source(c, chunk, source, factor)))
        };
        let (from, sum) = match self.role? {
            Role::Sum(number, factor) => {
                let added = self.find(c, own(number, factor)?)?;
                let [a, b, _] = from;
                (if number == 0 { b } else { a }, Some((added, factor)))
            }
            Role::Copy(factor) => {
                let from = self.find(c, own(0, factor)?)?;
                self.kept.held &= !(1 << from);
                (from, None)
            }
            Role::Product(..) => return None,
        };
        // These are not taken for the product.
        let busy = self.kept.busy;
        self.kept.busy |= 1 << from | sum.map_or(0, |(added, _)| 1 << added);
        let taken = self.take(c);
        self.kept.busy = busy;
        let n = taken.ok()?;
        self.kept.busy |= 1 << n;
        self.v2(c, ops::MOVE, n, c.register(from));
        if let Some((added, factor)) = sum {
            let factor = self.factor(factor);
            let fma = c.of(ops::FMA_BY_PS, ops::FMA_BY_PD);
            self.v3m(c, fma, n, added, factor);
        }
        Some(n)
    }

    /// A register holds the product of a chunk of a result from here on, until the step that uses it.
    pub(crate) fn hold_scaled(&mut self, c: Chunks, chunk: usize, compute: &Compute, n: u32) {
        let Some(Role::Sum(_, factor) | Role::Copy(factor)) = self.role else {
            return;
        };
        let scaled = Scaled::lanes(c, chunk, compute.destination.offset, factor);
        self.set(n, Some(Content::Scaled(scaled)));
        self.kept.held |= 1 << n;
    }
}
