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
    fn run(self) -> Self::Output;
}

struct Inlined<K>(K);

impl<K: Kernel> pulp::NullaryFnOnce for Inlined<K> {
    type Output = K::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(self) -> K::Output {
        self.0.run()
    }
}

impl Simd {
    /// Runs the code in the best form that the host can.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = self.v3 {
            return v3.vectorize(Inlined(kernel));
        }
        Inlined(kernel).0.run()
    }
}
