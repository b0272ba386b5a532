//! Random choices.

use crate::types::{Scalar, Type, Value};
use half::f16;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A source of choices.
#[derive(Clone, Debug)]
pub(crate) struct Choices(Xoshiro256PlusPlus);

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `count`; 0 if that is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let count = count.max(1) as u64;
        usize::try_from(self.bits() % count).unwrap_or(0)
    }

    /// True `percent` times of a hundred.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len());
        all.get(at).copied()
    }

    /// One of the entries, or the default if there is none.
    pub(crate) fn of_or<T: Copy>(&mut self, all: &[T], none: T) -> T {
        self.of(all).unwrap_or(none)
    }

    /// An entry, each as often as its weight says.
    pub(crate) fn weighted<T: Copy>(&mut self, all: &[(T, usize)]) -> Option<T> {
        let sum = all.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(sum);
        for (entry, weight) in all {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return Some(*entry),
            }
        }
        None
    }

    /// A value that is likely to be at an edge.
    pub(crate) fn value(&mut self, ty: Type) -> Value {
        if self.percent(30) {
            let bits = self.element(ty.scalar);
            return Value::splat(ty, bits);
        }
        Value::from_fn(ty, |_| self.element(ty.scalar))
    }

    fn element(&mut self, scalar: Scalar) -> u64 {
        if scalar.is_float() {
            return self.float(scalar);
        }
        let bits = self.bits();
        let power = 1_u64 << (bits % u64::from(scalar.bits()));
        match self.below(10) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => scalar.wrap(scalar.range().0),
            4 => scalar.wrap(scalar.range().1),
            5 => power,
            6 => power - 1,
            7 => !power,
            8 => bits >> 32 & 31,
            _ => bits,
        }
    }

    /// Numbers of moderate size mostly: sums and products of them are rounded, and seldom infinite.
    fn float(&mut self, scalar: Scalar) -> u64 {
        const EDGES: [f64; 12] = [
            0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 255.0, -129.0, 65504.0, 1e-3, 3.0,
        ];
        let bits = self.bits();
        let value = match self.below(8) {
            0 | 1 => self.of_or(&EDGES, 0.0),
            2 => f64::from(u16::try_from(bits & 0xff).unwrap_or(0)) - 128.0,
            3 if self.percent(25) => f64::INFINITY,
            4 if self.percent(25) => f64::NAN,
            _ => {
                let fraction = f64::from(u32::try_from(bits & 0xffff_ffff).unwrap_or(0));
                let scale = f64::from(i16::try_from(bits >> 60).unwrap_or(0) - 8).exp2();
                (fraction / 4_294_967_296.0 - 0.5) * scale
            }
        };
        #[allow(clippy::cast_possible_truncation, reason = "any value will do")]
        match scalar {
            Scalar::Half => f16::from_f64(value).to_bits().into(),
            Scalar::Float => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        }
    }
}
