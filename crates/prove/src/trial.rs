//! Runs of both kernels on the executor: they refute in milliseconds, and have the last word.

use crate::prove::{Refutation, Side};
use crate::term::{Model, Variable};
use hashbrown::HashSet;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::Instant;
use visakit_launch::{Argument, Config, LaunchError};

/// How two kernels differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// A byte of a buffer.
    Byte {
        /// The argument.
        argument: usize,
        /// Place in the buffer.
        offset: usize,
        /// What the old kernel leaves there.
        old: u8,
        /// What the new kernel leaves there.
        new: u8,
    },
    /// Only the new kernel has a fault.
    Fault(String),
}

/// Both kernels and their arguments.
pub(crate) struct Trials<'a> {
    pub(crate) sides: [Side<'a>; 2],
    pub(crate) arguments: &'a [Argument],
    pub(crate) config: Config<'a>,
    /// Arguments whose content is given.
    pub(crate) known: &'a HashSet<usize>,
}

/// What is in each argument after a run.
type Contents = Vec<Option<Vec<u8>>>;

/// Instructions of a run; a kernel that needs more tells nothing.
const MOST_STEPS: u64 = 5_000_000;

/// Runs to make a refutation smaller.
const MOST_SHRINKS: usize = 200;

impl Trials<'_> {
    /// Runs both on that many generated contents, the first being the given one.
    pub(crate) fn run(
        &self,
        count: u64,
        deadline: Option<Instant>,
    ) -> Result<Option<Refutation>, LaunchError> {
        for seed in 0..count {
            if deadline.is_some_and(|end| Instant::now() > end) {
                break;
            }
            let arguments = self.generated(seed);
            if let Some(found) = self.compare(&arguments)? {
                return Ok(Some(self.smaller(arguments, found)?));
            }
        }
        Ok(None)
    }

    /// Runs both on these contents of buffers.
    pub(crate) fn replay(&self, chosen: &Model) -> Result<Option<Refutation>, LaunchError> {
        let arguments = self.filled(chosen);
        match self.compare(&arguments)? {
            Some(found) => Ok(Some(self.smaller(arguments, found)?)),
            None => Ok(None),
        }
    }

    /// The arguments, their buffers with these contents.
    pub(crate) fn filled(&self, chosen: &Model) -> Vec<Argument> {
        let mut arguments = self.arguments.to_vec();
        for (variable, value) in chosen {
            if let Variable::Input { argument, offset } = variable
                && let Some(bytes) = arguments.get_mut(*argument as usize).and_then(content)
                && let Ok(offset) = usize::try_from(*offset)
            {
                let whole = bytes.len().saturating_sub(offset) >= 4 && offset.is_multiple_of(4);
                let count = if whole { 4 } else { 1 };
                for (to, from) in bytes
                    .iter_mut()
                    .skip(offset)
                    .zip(value.to_le_bytes())
                    .take(count)
                {
                    *to = from;
                }
            }
        }
        arguments
    }

    fn generated(&self, seed: u64) -> Vec<Argument> {
        generated(self.arguments, self.known, seed)
    }

    /// The first difference, and what the old kernel leaves.
    fn compare(
        &self,
        arguments: &[Argument],
    ) -> Result<Option<(Difference, Contents)>, LaunchError> {
        let [old, new] = &self.sides;
        let run = |side: &Side<'_>| -> Result<Result<Contents, String>, LaunchError> {
            let config = Config {
                max_steps: MOST_STEPS,
                ..self.config
            };
            let launch = side.kernel.prepare(&side.range, arguments, &config)?;
            Ok(match launch.run(&config) {
                Ok(outcome) => {
                    let contents =
                        (0..arguments.len()).map(|n| outcome.memory(n).map(<[u8]>::to_vec));
                    Ok(contents.collect())
                }
                Err(error) => Err(error.to_string()),
            })
        };
        // Where the old kernel has a fault, the new one may do anything.
        let Ok(expected) = run(old)? else {
            return Ok(None);
        };
        let found = match run(new)? {
            Ok(found) => found,
            Err(fault) => return Ok(Some((Difference::Fault(fault), expected))),
        };
        let pairs = expected.iter().zip(&found).enumerate();
        for (argument, (old, new)) in pairs {
            let (Some(old), Some(new)) = (old, new) else {
                continue;
            };
            let at = old.iter().zip(new).position(|(old, new)| old != new);
            if let Some(offset) = at
                && let (Some(old), Some(new)) = (old.get(offset), new.get(offset))
            {
                let difference = Difference::Byte {
                    argument,
                    offset,
                    old: *old,
                    new: *new,
                };
                return Ok(Some((difference, expected)));
            }
        }
        Ok(None)
    }

    /// Zeroes as much of the buffers as still tells the kernels apart.
    fn smaller(
        &self,
        mut arguments: Vec<Argument>,
        mut found: (Difference, Contents),
    ) -> Result<Refutation, LaunchError> {
        let mut left = MOST_SHRINKS;
        for number in 0..arguments.len() {
            if self.known.contains(&number) {
                continue;
            }
            let bytes = arguments.get_mut(number).and_then(content);
            let length = bytes.map_or(0, |bytes| bytes.len());
            let mut part = length;
            while part > 0 && left > 0 {
                let mut start = 0;
                while start < length && left > 0 {
                    let mut tried = arguments.clone();
                    let range = start..(start + part).min(length);
                    start += part;
                    let Some(zeroed) = tried
                        .get_mut(number)
                        .and_then(content)
                        .and_then(|bytes| bytes.get_mut(range))
                    else {
                        continue;
                    };
                    if zeroed.iter().all(|byte| *byte == 0) {
                        continue;
                    }
                    zeroed.fill(0);
                    left -= 1;
                    if let Some(again) = self.compare(&tried)? {
                        (arguments, found) = (tried, again);
                    }
                }
                part /= 2;
            }
        }
        let (difference, expected) = found;
        Ok(Refutation {
            arguments,
            difference,
            expected,
        })
    }
}

/// The arguments with generated contents, the first being the given ones.
pub(crate) fn generated(
    arguments: &[Argument],
    known: &HashSet<usize>,
    seed: u64,
) -> Vec<Argument> {
    let mut arguments = arguments.to_vec();
    let mut random = SplitMix64::seed_from_u64(seed);
    for (number, argument) in arguments.iter_mut().enumerate() {
        if seed == 0 || known.contains(&number) {
            continue;
        }
        if let Some(bytes) = content(argument) {
            generate(bytes, seed, &mut random);
        }
    }
    arguments
}

/// The content of a buffer or image.
fn content(argument: &mut Argument) -> Option<&mut Vec<u8>> {
    match argument {
        Argument::Buffer(bytes) => Some(bytes),
        Argument::Image(image) => Some(&mut image.bytes),
        _ => None,
    }
}

/// Contents of several kinds: kernels look at numbers of different sizes.
fn generate(bytes: &mut [u8], seed: u64, random: &mut SplitMix64) {
    let (words, _) = bytes.as_chunks_mut::<4>();
    match seed % 6 {
        0 => random.fill_bytes(bytes),
        1 => {
            for word in words {
                *word = (random.next_u32() % 64).to_le_bytes();
            }
        }
        2 => {
            for word in words {
                let number = (random.next_u32() >> 8).cast_signed() - (1 << 23);
                *word = (number as f32 / 4096.0).to_le_bytes();
            }
        }
        3 => bytes.fill(if seed.is_multiple_of(4) { 0xff } else { 0 }),
        4 => {
            // What is given, with other bits here and there.
            for word in words {
                if random.next_u64().is_multiple_of(4) {
                    *word = random.next_u32().to_le_bytes();
                }
            }
        }
        _ => {
            const CORNERS: [u32; 12] = [
                0,
                1,
                0xffff_ffff,
                0x8000_0000,
                0x7fff_ffff,
                0x3f80_0000,
                0xbf80_0000,
                0x7f80_0000,
                0x7fc0_0000,
                0x0000_0001,
                0x0080_0000,
                0x4000_0000,
            ];
            for word in words {
                let pick = usize::try_from(random.next_u32()).unwrap_or(0) % CORNERS.len();
                *word = CORNERS.get(pick).copied().unwrap_or(0).to_le_bytes();
            }
        }
    }
}
