//! Generator of valid vISA objects.
//!
//! The generator turns arbitrary bytes into an object that readers accept, that obeys the rules of
//! the instruction set, and that can be executed: for fuzzers of readers, printers, executors and
//! finalizers, and for differential tests. The same bytes always produce the same object, and a
//! small change of the bytes is a small change of the object: each statement is derived from its
//! own piece of the input ([`PIECE`] bytes).
//!
//! ```
//! use visakit_smith::{Config, Platform, from_seed};
//!
//! let config = Config::for_platform(Platform::Pvc);
//! let object = from_seed(7, &config);
//! assert_eq!(object, from_seed(7, &config));
//! let bytes = visakit_encode::write(&object)?;
//! assert_eq!(visakit_parse::read(&bytes).unwrap(), object);
//! # Ok::<(), visakit_encode::Error>(())
//! ```

#![forbid(unsafe_code)]

mod arithmetic;
mod choice;
mod config;
mod flow;
mod functions;
mod fuzz_input;
mod indirect;
mod kernel;
mod memory;
mod newest;
mod operand;
mod rows;
mod surfaces;

pub use config::{Classes, Config};
pub use fuzz_input::{FuzzInput, input_of_seed};
pub use kernel::{PIECE, SURFACE_BYTES};
pub use rows::why_not;
pub use surfaces::{ROW_BYTES, SURFACES, SurfaceKind};
pub use visakit_isa::Platform;

/// The platforms that objects are generated for: one of each kind that the binary format knows.
pub const PLATFORMS: [Platform; 6] = [
    Platform::Skl,
    Platform::Icllp,
    Platform::Tgllp,
    Platform::XeHpSdv,
    Platform::Dg2,
    Platform::Pvc,
];

use kernel::Kernel;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_isa::object::Object;

/// The object derived from `data`.
///
/// Any bytes do. The first piece decides on the declarations, each further one on a statement;
/// pieces beyond [`Config::statements`] are ignored.
#[must_use]
pub fn generate(data: &[u8], config: &Config) -> Object<'static> {
    let (head, rest) = data.split_at(data.len().min(PIECE));
    let mut kernel = Kernel::new(head, config);
    for piece in rest.chunks(PIECE).take(config.statements) {
        kernel.statement(piece);
    }
    kernel.finish()
}

/// The object of a seed: as many statements as the configuration allows, of pseudo-random bytes.
#[must_use]
pub fn from_seed(seed: u64, config: &Config) -> Object<'static> {
    generate(&bytes_of_seed(seed, config), config)
}

/// The bytes derived from a seed.
#[must_use]
pub fn bytes_of_seed(seed: u64, config: &Config) -> Vec<u8> {
    // Each seed produces an unrelated stream, the same in every release.
    let mut random = SplitMix64::from_seed(seed.to_le_bytes());
    // Sizes vary: objects of few statements find faults that are easy to understand.
    let most = u64::try_from(config.statements.max(1)).unwrap_or(u64::MAX);
    let statements = usize::try_from(random.next_u64() % most).unwrap_or(0) + 1;
    let mut bytes = vec![0; (statements + 1) * PIECE / 8 * 8];
    random.fill_bytes(&mut bytes);
    bytes
}
