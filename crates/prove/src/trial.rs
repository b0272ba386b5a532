//! Runs of both kernels on the executor: they refute in milliseconds, and have the last word.

use crate::contents::{KINDS, generate};
use crate::prove::{Refutation, Side, Translated};
use crate::scalars::Inputs;
use crate::term::{Model, Variable};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use visakit_check::{Checks, Kind, check};
use visakit_exec::FaultKind;
use visakit_launch::{Argument, Config, LaunchError, Loaded, Variables, lines_apart};

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
    /// The output of `printf`: its lines, in any order if there are several threads.
    Printed {
        /// What the old kernel prints.
        old: String,
        /// What the new kernel prints.
        new: String,
        /// Whether one thread prints: the order of lines counts.
        in_order: bool,
    },
    /// Only in the new kernel checks find an access outside of all objects, that threads race, or that something depends on
    /// what was never written.
    Finding(String),
}

/// Both kernels and their arguments.
pub(crate) struct Trials<'a> {
    sides: [Side<'a>; 2],
    /// Translated once, where runs leave nothing to later ones.
    loaded: [Option<Loaded>; 2],
    arguments: &'a [Argument],
    config: Config<'a>,
    inputs: Inputs,
    /// Constants of both programs: at such numbers, and beside them, results change.
    numbers: Vec<u32>,
}

/// What is in each argument after a run.
type Contents = Vec<Option<Vec<u8>>>;

/// What a run has printed, and whether it had but one thread.
type Printed = (Vec<u8>, bool);

/// What became of a run.
enum Ran {
    /// It leaves the contents, and what was printed.
    Left(Contents, Printed),
    /// It came to a fault.
    Fault(String),
    /// It came to a bound of the executor, or to what that does not run: nothing is known.
    Unfinished,
}

impl Ran {
    fn failed(error: &LaunchError) -> Self {
        let unfinished = match error {
            LaunchError::Steps(_)
            | LaunchError::Stopped
            | LaunchError::OutOfMemory { .. }
            | LaunchError::TooLarge { .. } => true,
            LaunchError::Fault { fault, .. } => matches!(
                fault.kind,
                FaultKind::StepLimit(_)
                    | FaultKind::MemoryLimit(_)
                    | FaultKind::OutOfMemory(_)
                    | FaultKind::CallDepth(_)
                    | FaultKind::Stopped
                    | FaultKind::Unsupported(_)
            ),
            _ => false,
        };
        match unfinished {
            true => Self::Unfinished,
            false => Self::Fault(error.to_string()),
        }
    }
}

/// Instructions of a run; a kernel that needs more tells nothing.
const MOST_STEPS: u64 = 5_000_000;

/// Runs to make a refutation smaller.
const MOST_SHRINKS: usize = 200;

/// What leaves open what a kernel computes: its runs tell nothing.
const OPEN: [Kind; 2] = [Kind::Race, Kind::Uninitialized];

/// What refutes a new kernel, if the old one does nothing of it.
const WRONG: [Kind; 3] = [Kind::OutOfBounds, Kind::Race, Kind::Uninitialized];

/// Contents that are run under checks: each kind of them.
const CHECKED: u64 = KINDS;

/// Constants of programs that are tried.
const MOST_NUMBERS: usize = 1 << 10;

impl<'a> Trials<'a> {
    pub(crate) fn new(
        sides: [&Translated<'a>; 2],
        arguments: &'a [Argument],
        config: Config<'a>,
        inputs: Inputs,
    ) -> Result<Self, LaunchError> {
        let mut trials = Self {
            sides: sides.map(|of| of.side),
            loaded: [None, None],
            arguments,
            config,
            inputs,
            numbers: Vec::new(),
        };
        for (of, loaded) in sides.iter().zip(&mut trials.loaded) {
            let kernel = of.side.kernel;
            // Variables of a program outlive a run.
            if kernel.data.is_empty() {
                let found = match config.compile {
                    None => of.loaded.clone(),
                    Some(_) => {
                        let variables = Variables::new(&[], &kernel.symbols)?;
                        kernel.load(&Arc::new(variables), &config)?
                    }
                };
                let constants = &found.program().code().constants;
                for (_, bytes) in constants {
                    let (words, _) = bytes.as_chunks::<4>();
                    let words = words.iter().map(|word| u32::from_le_bytes(*word));
                    trials.numbers.extend(words);
                }
                *loaded = Some(found);
            }
        }
        trials.numbers.sort_unstable();
        trials.numbers.dedup();
        trials.numbers.truncate(MOST_NUMBERS);
        Ok(trials)
    }

    /// Runs both on generated contents, of which number 0 is the given one.
    pub(crate) fn run(
        &self,
        numbers: Range<u64>,
        deadline: Option<Instant>,
    ) -> Result<Option<Refutation>, LaunchError> {
        for seed in numbers {
            if deadline.is_some_and(|end| Instant::now() > end) {
                break;
            }
            let arguments = self.generated(seed);
            if let Some(found) = self.refutation(arguments)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Runs both on these contents of buffers.
    pub(crate) fn replay(&self, chosen: &Model) -> Result<Option<Refutation>, LaunchError> {
        self.refutation(self.filled(chosen))
    }

    /// A difference for these contents, made small. What the old kernel computes of what was never written, or in a race,
    /// may be anything: its runs tell nothing. Smaller contents may bring it there where these do not.
    fn refutation(&self, arguments: Vec<Argument>) -> Result<Option<Refutation>, LaunchError> {
        let Some(whole) = self.compare(&arguments)? else {
            return Ok(None);
        };
        let [old, _] = &self.sides;
        let small = self.smaller(arguments.clone(), whole.clone())?;
        if self.checked(old, &small.arguments, &OPEN)?.is_none() {
            return Ok(Some(small));
        }
        let defined =
            small.arguments != arguments && self.checked(old, &arguments, &OPEN)?.is_none();
        let (difference, expected) = whole;
        Ok(defined.then_some(Refutation {
            arguments,
            difference,
            expected,
        }))
    }

    /// The arguments, their buffers with these contents.
    pub(crate) fn filled(&self, chosen: &Model) -> Vec<Argument> {
        let mut arguments = self.arguments.to_vec();
        for (variable, value) in chosen {
            if let Variable::Input { argument, offset } = variable
                && let number = *argument as usize
                && let Some(argument) = arguments.get_mut(number)
                && let Some(bytes) = self.inputs.bytes(number, argument)
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
        generated(self.arguments, &self.inputs, seed, &self.numbers)
    }

    /// Runs one of the two.
    fn ran(&self, side: usize, arguments: &[Argument]) -> Result<Ran, LaunchError> {
        let config = Config {
            max_steps: MOST_STEPS,
            ..self.config
        };
        let [old, new] = &self.sides;
        let Side { kernel, range } = if side == 0 { old } else { new };
        let launch = match self.loaded.get(side) {
            Some(Some(loaded)) => loaded.launch(range, arguments, None, &config)?,
            _ => kernel.prepare(range, arguments, &config)?,
        };
        let one_thread = launch.group_count() == 1 && launch.threads_of_group() == 1;
        Ok(match launch.run(&config) {
            Ok(outcome) if outcome.end.is_complete() => {
                let contents = (0..arguments.len()).map(|n| outcome.memory(n));
                let contents = contents.map(|bytes| bytes.map(<[u8]>::to_vec)).collect();
                Ran::Left(contents, (outcome.printed, one_thread))
            }
            Ok(_) => Ran::Unfinished,
            Err(error) => Ran::failed(&error),
        })
    }

    /// Contents for which checks find something in the new kernel, and nothing in the old one: an access outside of all
    /// objects, that threads race, or that something depends on what was never written. Those given are looked at first.
    pub(crate) fn finding(
        &self,
        suspect: Option<&[Argument]>,
        deadline: Option<Instant>,
    ) -> Result<Option<Refutation>, LaunchError> {
        let [old, new] = &self.sides;
        let given = suspect.map(<[Argument]>::to_vec);
        for arguments in given
            .into_iter()
            .chain((0..CHECKED).map(|n| self.generated(n)))
        {
            if deadline.is_some_and(|end| Instant::now() > end) {
                break;
            }
            let Ran::Left(expected, _) = self.ran(0, &arguments)? else {
                continue;
            };
            let Some(found) = self.checked(new, &arguments, &WRONG)? else {
                continue;
            };
            if self.checked(old, &arguments, &WRONG)?.is_none() {
                return Ok(Some(Refutation {
                    arguments,
                    difference: Difference::Finding(found),
                    expected,
                }));
            }
        }
        Ok(None)
    }

    /// What checks find first, of these kinds.
    fn checked(
        &self,
        side: &Side<'_>,
        arguments: &[Argument],
        kinds: &[Kind],
    ) -> Result<Option<String>, LaunchError> {
        let config = Config {
            max_steps: MOST_STEPS,
            ..visakit_check::config(self.config)
        };
        let checks = Checks {
            memory: kinds.contains(&Kind::OutOfBounds),
            race: true,
            uninitialized: true,
            ..Checks::NONE
        };
        let launch = side.kernel.prepare(&side.range, arguments, &config)?;
        let report = check(side.kernel, launch, &config, checks, &[])?;
        let mut all = report.findings.into_iter();
        let found = all.find(|f| kinds.contains(&f.kind));
        Ok(found.map(|finding| finding.message))
    }

    /// The first difference, and what the old kernel leaves.
    fn compare(
        &self,
        arguments: &[Argument],
    ) -> Result<Option<(Difference, Contents)>, LaunchError> {
        // Where the old kernel has a fault, the new one may do anything.
        let Ran::Left(expected, (printed, one_thread)) = self.ran(0, arguments)? else {
            return Ok(None);
        };
        let (found, other) = match self.ran(1, arguments)? {
            Ran::Left(found, (other, _)) => (found, other),
            Ran::Fault(fault) => return Ok(Some((Difference::Fault(fault), expected))),
            Ran::Unfinished => return Ok(None),
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
        // What one thread prints has an order.
        if lines_apart(&printed, &other, one_thread).is_some() {
            let [old, new] = [printed, other].map(|text| String::from_utf8_lossy(&text).into());
            let difference = Difference::Printed {
                old,
                new,
                in_order: one_thread,
            };
            return Ok(Some((difference, expected)));
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
            let argument = arguments.get_mut(number);
            let bytes = argument.and_then(|argument| self.inputs.bytes(number, argument));
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
                        .and_then(|argument| self.inputs.bytes(number, argument))
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

/// The arguments with generated contents, the first being the given ones. Some contents are made of `numbers`.
pub(crate) fn generated(
    arguments: &[Argument],
    inputs: &Inputs,
    seed: u64,
    numbers: &[u32],
) -> Vec<Argument> {
    let mut arguments = arguments.to_vec();
    let mut random = SplitMix64::seed_from_u64(seed);
    for (number, argument) in arguments.iter_mut().enumerate() {
        if seed != 0
            && let Some(bytes) = inputs.bytes(number, argument)
        {
            // The same kind of contents in all arguments first, then in every other run.
            let kind = match seed < 2 * KINDS || (seed / KINDS).is_multiple_of(2) {
                true => seed,
                false => seed.wrapping_add(random.next_u64() % KINDS),
            };
            generate(bytes, kind, &mut random, numbers);
        }
    }
    arguments
}
