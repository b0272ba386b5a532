//! The host instructions that the hot loops may use.

/// The capabilities of the host. Queried once for each thread of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd {
    #[cfg(target_arch = "x86_64")]
    v3: Option<pulp::x86::V3>,
}

impl Default for Simd {
    fn default() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            v3: pulp::x86::V3::try_new(),
        }
    }
}

/// Code that is compiled once for the plain host and once for a host with wide registers and fused
/// multiply-add.
pub(crate) trait Kernel {
    type Output;
    /// Must be `inline(always)`.
    fn run<H: Host>(self, host: H) -> Self::Output;
}

/// The host that a [`Kernel`] is compiled for.
pub(crate) trait Host: Copy {
    /// Whether code for 16 and 32 lanes is better than some turns of code for eight.
    const WIDE: bool;
    /// Runs code in the form for this host: where it is called instead of inlined.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;
    /// Bit i is the highest bit of word i.
    fn signs(self, words: [u32; 8]) -> u32;
    /// A sum with a product that is exact in double: rounded once, whether the host fuses the two or not.
    fn add_product(self, sum: f64, x: f64, y: f64) -> f64;
}

/// Any host.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Host for Plain {
    const WIDE: bool = false;

    #[inline]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn signs(self, words: [u32; 8]) -> u32 {
        let bits = words.iter().enumerate();
        bits.fold(0, |all, (lane, word)| all | word >> 31 << lane)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add_product(self, sum: f64, x: f64, y: f64) -> f64 {
        sum + x * y
    }
}

#[cfg(target_arch = "x86_64")]
impl Host for pulp::x86::V3 {
    const WIDE: bool = true;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.vectorize(Inlined { kernel, host: self })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn signs(self, words: [u32; 8]) -> u32 {
        self.avx
            ._mm256_movemask_ps(pulp::cast(words))
            .cast_unsigned()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add_product(self, sum: f64, x: f64, y: f64) -> f64 {
        x.mul_add(y, sum)
    }
}

#[cfg(target_arch = "x86_64")]
struct Inlined<K, H> {
    kernel: K,
    host: H,
}

#[cfg(target_arch = "x86_64")]
impl<K: Kernel, H: Host> pulp::NullaryFnOnce for Inlined<K, H> {
    type Output = K::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(self) -> K::Output {
        self.kernel.run(self.host)
    }
}

impl Simd {
    /// Runs the code in the best form that the host can.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = self.v3 {
            return v3.call(kernel);
        }
        Plain.call(kernel)
    }
}
