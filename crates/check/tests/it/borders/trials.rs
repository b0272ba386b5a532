//! One case: the elements at the borders of its arguments are changed, and taken away.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use visakit_check::{Checks, Finding, Kind, check, config};
use visakit_exec::memory::{Addressing, ChannelClass, Storage};
use visakit_exec::{MemoryAccess, Observer, Space};
use visakit_launch::{
    Argument, Case, Config, Image, Kernel, LaunchError, NdRange, Outcome, Prepared, Shared,
};

/// What was taken away.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Border {
    Last,
    First,
    Constant,
    Local,
    Width,
    Height,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Verdict {
    /// The results depend on it, and it was found.
    Found,
    /// The results depend on it, and it was not found.
    Missed,
    /// Nothing depends on it, and nothing was found.
    Unused,
    /// Nothing was seen to depend on it, and it was found.
    Alarm,
}

/// Trials by border and verdict.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<(Border, Verdict), Vec<String>>);

impl Tally {
    fn add(&mut self, border: Border, changes: bool, finding: Option<&Finding>, name: &str) {
        let verdict = match (changes, finding) {
            (true, Some(_)) => Verdict::Found,
            (true, None) => Verdict::Missed,
            (false, None) => Verdict::Unused,
            (false, Some(_)) => Verdict::Alarm,
        };
        let text = finding.map_or_else(String::new, |f| {
            format!(": {} at {}", f.message, f.place.text.trim())
        });
        let line = format!("{border:?} {name}{text}");
        self.0.entry((border, verdict)).or_default().push(line);
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for (key, mut lines) in other.0 {
            self.0.entry(key).or_default().append(&mut lines);
        }
        self
    }

    pub(crate) fn of(&self, wanted: Verdict) -> Vec<String> {
        let of = self.0.iter().filter(|((_, verdict), _)| *verdict == wanted);
        of.flat_map(|(_, lines)| lines.clone()).collect()
    }

    /// Number of findings by the name of the message that they are at.
    fn messages(&self) -> BTreeMap<String, usize> {
        let mut messages = BTreeMap::new();
        for line in self.of(Verdict::Found) {
            let text = line.rsplit(" at ").next().unwrap_or_default();
            let words = text
                .split_whitespace()
                .filter(|word| !word.starts_with('('));
            let name = words.take(1).collect::<String>();
            *messages.entry(name).or_default() += 1;
        }
        messages
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((border, verdict), lines) in &self.0 {
            writeln!(f, "{border:?} {verdict:?}: {}", lines.len())?;
        }
        for (name, count) in self.messages() {
            writeln!(f, "  found at {name}: {count}")?;
        }
        if std::env::var_os("VISAKIT_BORDERS").is_some() {
            for line in self.of(Verdict::Alarm) {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

/// What some bytes are for a launch.
#[derive(Clone, Copy, Default)]
struct Role {
    /// Other results depend on them.
    read: bool,
    /// The launch changes them.
    written: bool,
}

impl Role {
    const fn is_used(self) -> bool {
        self.read || self.written
    }
}

/// A launch of the case with other arguments.
struct Trial<'a> {
    kernel: &'a Kernel<'a>,
    range: NdRange,
    arguments: &'a [Argument],
    /// The results with the arguments as they are.
    before: Option<Vec<Option<Vec<u8>>>>,
    name: String,
}

const STEPS: u64 = 20_000_000;

fn limits() -> Config<'static> {
    config(Config {
        max_steps: STEPS,
        ..Config::default()
    })
}

fn results(outcome: &Outcome, arguments: usize) -> Vec<Option<Vec<u8>>> {
    (0..arguments)
        .map(|index| outcome.memory(index).map(<[u8]>::to_vec))
        .collect()
}

impl Trial<'_> {
    fn launch(&self, kernel: &Kernel<'_>, arguments: &[Argument]) -> Result<Prepared, LaunchError> {
        kernel.prepare(&self.range, arguments, &limits())
    }

    /// The results of a kernel with these arguments. `None` if it does not end.
    fn run(&self, kernel: &Kernel<'_>, arguments: &[Argument]) -> Option<Vec<Option<Vec<u8>>>> {
        let launch = self.launch(kernel, arguments).ok()?;
        let outcome = launch.run(&limits()).ok()?;
        let mut all = results(&outcome, arguments.len());
        all.push(Some(outcome.printf.clone()));
        Some(all)
    }

    /// What these bytes of an argument's content, changed in three ways, are for the launch.
    fn role(&self, index: usize, range: &Range<usize>, with: impl Fn(Vec<u8>) -> Argument) -> Role {
        let mut role = Role::default();
        let (Some(content), Some(before)) = (content(&self.arguments[index]), &self.before) else {
            return role;
        };
        let changes: [fn(u8) -> u8; 3] = [|b| b ^ 0xff, |b| b ^ 1, |b| b.wrapping_add(0x40)];
        for change in changes {
            let mut bytes = content.to_vec();
            for byte in &mut bytes[range.clone()] {
                *byte = change(*byte);
            }
            let mut arguments = self.arguments.to_vec();
            arguments[index] = with(bytes.clone());
            let Some(mut after) = self.run(self.kernel, &arguments) else {
                continue;
            };
            if let (Some(Some(own)), Some(Some(of))) = (after.get_mut(index), before.get(index)) {
                role.written |= own[range.clone()] != bytes[range.clone()];
                own[range.clone()].copy_from_slice(&of[range.clone()]);
            }
            role.read |= after != *before;
        }
        role
    }

    /// The read outside that is found with these arguments.
    fn found(
        &self,
        kernel: &Kernel<'_>,
        arguments: &[Argument],
        of: impl Fn(&Finding) -> bool,
    ) -> Option<Option<Finding>> {
        let launch = self.launch(kernel, arguments).ok()?;
        let report = check(kernel, launch, &limits(), Checks::ALL, &[]).ok()?;
        let wanted =
            |f: &Finding| matches!(f.kind, Kind::OutOfBounds | Kind::Dropped | Kind::Null) && of(f);
        Some(report.findings.into_iter().find(wanted))
    }
}

fn content(argument: &Argument) -> Option<&[u8]> {
    match argument {
        Argument::Buffer(bytes) => Some(bytes),
        Argument::Image(image) => Some(&image.bytes),
        _ => None,
    }
}

/// Bytes of an element of an argument, by its declared type.
fn element(kernel: &Kernel<'_>, index: usize) -> usize {
    let info = kernel
        .args_info()
        .iter()
        .find(|info| usize::try_from(info.index) == Ok(index));
    let name = info.map_or("", |info| info.type_name.as_str());
    let name = name.split(';').next().unwrap_or_default();
    let name = name.trim_end_matches('*');
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "char" | "uchar" | "bool" => 1,
        "short" | "ushort" | "half" => 2,
        "long" | "ulong" | "double" => 8,
        _ => 4,
    }
}

/// Runs all trials of a case.
pub(crate) fn run(case: &Case, tally: &mut Tally) {
    let done = case.launch(
        false,
        &limits(),
        |object| object,
        |kernel, arguments, launch| {
            let mut trial = Trial {
                kernel,
                range: *launch.range(),
                arguments,
                before: None,
                name: case.name(),
            };
            trial.before = trial.run(kernel, arguments);
            for (index, argument) in arguments.iter().enumerate() {
                match argument {
                    Argument::Buffer(_) => trial.buffer(index, tally),
                    Argument::Image(_) => trial.image(index, tally),
                    Argument::Local(bytes) => trial.local(index, *bytes, tally),
                    _ => {}
                }
            }
            trial.constants(tally);
            Ok(())
        },
    );
    done.unwrap_or_else(|error| panic!("{}: {error}", case.name()));
}

impl Trial<'_> {
    fn buffer(&self, index: usize, tally: &mut Tally) {
        let Argument::Buffer(bytes) = &self.arguments[index] else {
            return;
        };
        let size = element(self.kernel, index);
        if bytes.len() <= size {
            return;
        }
        let last = bytes.len() - size..bytes.len();
        let role = self.role(index, &last, Argument::Buffer);
        let own = |f: &Finding| {
            let is_same = f.target.as_ref().is_some_and(|t| t.argument == Some(index));
            is_same && (role.written || !f.message.starts_with("write"))
        };
        let mut arguments = self.arguments.to_vec();
        arguments[index] = Argument::Buffer(bytes[..last.start].to_vec());
        if let Some(found) = self.found(self.kernel, &arguments, own) {
            let name = format!("{} argument {index}", self.name);
            tally.add(Border::Last, role.is_used(), found.as_ref(), &name);
        }
        self.first(index, bytes, size, tally);
    }

    /// The first element is taken away by a pointer that is before the buffer. A surface cannot begin there.
    fn first(&self, index: usize, bytes: &[u8], size: usize, tally: &mut Tally) {
        let info = self.kernel.info();
        let is_it = |n: i64| usize::try_from(n) == Ok(index);
        if info
            .binding_table_indices
            .iter()
            .any(|e| is_it(e.arg_index))
        {
            return;
        }
        let role = self.role(index, &(0..size), Argument::Buffer);
        let rest = &bytes[size..];
        let storage = Storage::new(rest).unwrap();
        let mut arguments = self.arguments.to_vec();
        arguments[index] = Argument::Shared(Shared {
            storage,
            address: None,
            offset: (size as u64).wrapping_neg(),
            size: bytes.len() as u64,
            before: 0,
        });
        let before = |f: &Finding| {
            let outside = f.target.as_ref().is_some_and(|t| t.offset < 0);
            outside && (role.written || !f.message.starts_with("write"))
        };
        if let Some(found) = self.found(self.kernel, &arguments, before) {
            let name = format!("{} argument {index}", self.name);
            tally.add(Border::First, role.is_used(), found.as_ref(), &name);
        }
    }
}

/// Which bytes of local memory a launch accesses.
struct Touches {
    range: Range<u64>,
    writes: bool,
}

impl Observer for Touches {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = true;

    fn memory(&mut self, access: &MemoryAccess, _: &[u8]) {
        let end = access.address + u64::from(access.bytes);
        let there = access.address < self.range.end && end > self.range.start;
        self.writes |= access.space == Space::Local && access.write && there;
    }
}

impl Trial<'_> {
    /// The last four bytes of an argument in local memory: what writes there is seen without a checker.
    fn local(&self, index: usize, bytes: usize, tally: &mut Tally) {
        let Some(less) = bytes.checked_sub(4).filter(|less| *less > 0) else {
            return;
        };
        let launch = self.launch(self.kernel, self.arguments).unwrap();
        let objects = launch.local_objects();
        let object = objects.iter().find(|o| o.argument == Some(index)).unwrap();
        let end = object.start + object.bytes;
        let mut touches = Touches {
            range: end - 4..end,
            writes: false,
        };
        let _ = launch.run_observed(&limits(), &mut touches);
        let mut arguments = self.arguments.to_vec();
        arguments[index] = Argument::Local(less);
        let own = |f: &Finding| f.target.as_ref().is_some_and(|t| t.argument == Some(index));
        if let Some(found) = self.found(self.kernel, &arguments, own) {
            let name = format!("{} argument {index}", self.name);
            tally.add(Border::Local, touches.writes, found.as_ref(), &name);
        }
    }

    /// The last dword of each section of constants.
    fn constants(&self, tally: &mut Tally) {
        for (number, section) in self.kernel.data.iter().enumerate() {
            let Some(start) = section.bytes.len().checked_sub(4).filter(|n| *n > 0) else {
                continue;
            };
            let mut changed = self.kernel.clone();
            for byte in &mut changed.data[number].bytes[start..] {
                *byte ^= 0xff;
            }
            let after = self.run(&changed, self.arguments);
            let changes = after.is_some() && after != self.before;
            let mut short = self.kernel.clone();
            short.data[number].bytes.truncate(start);
            let own = |f: &Finding| f.target.as_ref().is_some_and(|t| t.name == section.name);
            if let Some(found) = self.found(&short, self.arguments, own) {
                let name = format!("{} {}", self.name, section.name);
                tally.add(Border::Constant, changes, found.as_ref(), &name);
            }
        }
    }

    /// The last column and the last row of an image.
    fn image(&self, index: usize, tally: &mut Tally) {
        let Argument::Image(image) = &self.arguments[index] else {
            return;
        };
        let texel = image.format.bytes();
        let (width, height) = (image.width as usize, image.height as usize);
        let row = |y: usize| y * image.row_pitch as usize;
        let of_width: Vec<_> = (0..height).map(|y| row(y) + (width - 1) * texel).collect();
        let of_height: Vec<_> = (0..width).map(|x| row(height - 1) + x * texel).collect();
        for (border, texels) in [(Border::Width, of_width), (Border::Height, of_height)] {
            let mut smaller = image.clone();
            match border {
                Border::Width => smaller.width -= 1,
                _ => smaller.height -= 1,
            }
            if smaller.width == 0 || smaller.height == 0 {
                continue;
            }
            let mut role = Role::default();
            for at in texels {
                let of = self.role(index, &(at..at + texel), |bytes| {
                    Argument::Image(Image {
                        bytes,
                        ..image.clone()
                    })
                });
                role.read |= of.read;
                role.written |= of.written;
            }
            // Integers are read by the same message with a sampler that clamps to a border as without a sampler.
            let integers = image.format.channel.class() != ChannelClass::Float;
            let is_sampled = self.arguments.iter().any(|a| match a {
                Argument::Sampler(sampler) => sampler.addressing != Addressing::Unchecked,
                _ => false,
            });
            let defined = !role.written && (integers || is_sampled);
            let mut arguments = self.arguments.to_vec();
            arguments[index] = Argument::Image(smaller);
            let own = |f: &Finding| f.target.as_ref().is_some_and(|t| t.argument == Some(index));
            if let Some(found) = self.found(self.kernel, &arguments, own) {
                let name = format!("{} argument {index}", self.name);
                tally.add(border, role.is_used() && !defined, found.as_ref(), &name);
            }
        }
    }
}
