//! The instruction that computes a wrong value: the first one, of those that the value is computed from, whose result
//! is none of the results of a build that is right.

use crate::ast::{OWN, Program};
use crate::machine::{self, Launching, Memory};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use visakit_exec::{InstructionEvent, Observer};
use visakit_isa::object::RoutineKind;
use visakit_launch::{Config, DumpedKernel, Kernel, LaunchError, Tracer};

/// Instructions of a launch beyond which nothing is searched.
const MOST: usize = 400_000;

/// An instruction by what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// The opcode, and the types of destination and sources.
    pub(crate) form: String,
    /// Its place in the kernel.
    pub(crate) at: usize,
    /// The line of the vISA text.
    pub(crate) line: String,
    /// The value of the first element that is wrong, in hexadecimal.
    pub(crate) value: String,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction {}: `{}`", self.at, self.line)
    }
}

/// An element of a buffer that is wrong, and the work-item that wrote it.
#[derive(Clone, Copy, Debug)]
struct Wrong {
    item: usize,
    bits: u64,
    bytes: usize,
}

/// The first element that differs, if one work-item wrote it.
fn wrong(program: &Program, expected: &Memory, got: &Memory) -> Option<Wrong> {
    let outputs = program.outputs.iter().map(|o| (o.ty, 1));
    let own = program.own.iter().map(|b| (b.ty, OWN));
    let buffers = outputs.chain(own).zip(expected.iter().zip(got));
    buffers
        .into_iter()
        .find_map(|((ty, of_item), (expected, got))| {
            let bytes = ty.scalar.bytes();
            let elements = expected.chunks(bytes).zip(got.chunks(bytes));
            let element = elements.into_iter().position(|(a, b)| a != b)?;
            let bits = number(got.get(element * bytes..(element + 1) * bytes)?);
            Some(Wrong {
                item: element / (ty.count() * of_item),
                bits,
                bytes,
            })
        })
}

fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8).rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A variable of the kernel, in the register file.
struct Variable {
    ty: String,
    bytes: Range<usize>,
}

type Variables = HashMap<String, Variable>;

/// What a build did for a work-item.
struct Watched {
    steps: Vec<Step>,
    values: HashSet<u64>,
    variables: Variables,
}

/// What an instruction did for the work-item.
struct Step {
    at: (RoutineKind, usize, usize),
    writes: String,
    reads: Vec<String>,
    value: Option<(u64, usize)>,
}

struct Watch<'w> {
    tracer: Tracer,
    /// The group, its thread and its lane of the work-item.
    group: u32,
    thread: usize,
    lane: u32,
    /// The group whose turn it is.
    now: u32,
    parsed: &'w mut HashMap<(RoutineKind, usize, usize), Line>,
    steps: Vec<Step>,
    /// Results of any kind, as they are extended to 64 bits.
    values: HashSet<u64>,
}

impl Observer for Watch<'_> {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn group(&mut self, [x, ..]: [u32; 3], _: [u32; 3]) {
        self.now = x;
    }

    fn turn(&mut self, [x, ..]: [u32; 3]) {
        self.now = x;
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        if self.now != self.group || event.thread != self.thread || self.steps.len() >= MOST {
            return;
        }
        let at = (event.routine.kind, event.routine.index, event.instruction);
        let text = self.tracer.line(event.routine, event.instruction);
        let line = self.parsed.entry(at).or_insert_with(|| Line::of(text));
        let lane = match line.lanes {
            1 => Some(0),
            _ => self.lane.checked_sub(line.first),
        };
        let enabled = lane.is_some_and(|lane| lane < 32 && event.mask >> lane & 1 != 0);
        if !enabled {
            return;
        }
        let value = self.tracer.written(event).and_then(|(ty, lanes)| {
            let bytes = lanes.get(usize::try_from(lane?).ok()?).copied().flatten()?;
            Some((number(bytes), usize::from(ty.size())))
        });
        if let Some((value, bytes)) = value {
            self.values.extend(extended(value, bytes));
        }
        self.steps.push(Step {
            at,
            writes: line.operands.first().cloned().unwrap_or_default(),
            reads: line.operands.iter().skip(1).cloned().collect(),
            value,
        });
    }
}

/// A number of some bytes without and with its sign.
fn extended(value: u64, bytes: usize) -> [u64; 2] {
    let unused = 64 - 8 * u32::try_from(bytes.clamp(1, 8)).unwrap_or(8);
    let signed = (value << unused).cast_signed() >> unused;
    [value, signed.cast_unsigned()]
}

/// A line of vISA text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    opcode: String,
    /// The first lane, and the number of lanes.
    first: u32,
    lanes: u32,
    /// Names of the variables, that of the destination first; then a predicate.
    operands: Vec<String>,
    /// The types of immediate operands.
    immediates: Vec<String>,
}

impl Line {
    /// `(P1) sel (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0> 0x3:d`
    fn of(text: &str) -> Self {
        let trimmed = text.trim_start();
        let (predicate, rest) = match trimmed.strip_prefix('(').and_then(|t| t.split_once(')')) {
            Some((predicate, rest)) => (predicate, rest),
            None => ("", trimmed),
        };
        let (opcode, rest) = rest
            .trim_start()
            .split_once(' ')
            .unwrap_or((rest.trim(), ""));
        let (size, rest) = match rest
            .trim_start()
            .strip_prefix('(')
            .and_then(|t| t.split_once(')'))
        {
            Some((size, rest)) if size.starts_with('M') => (size, rest),
            _ => ("M1, 1", rest),
        };
        let (mask, lanes) = size.split_once(',').unwrap_or((size, "1"));
        let nibble = mask
            .trim_start_matches('M')
            .split('_')
            .next()
            .unwrap_or("1");
        let nibble: u32 = nibble.parse().unwrap_or(1);
        let mut operands = Vec::new();
        let mut immediates = Vec::new();
        for word in rest.split_whitespace() {
            let bare = word.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            // Modifiers stand before the name.
            let bare = bare
                .rsplit_once(')')
                .filter(|(m, n)| is_modifier(m) && !n.is_empty())
                .map_or(bare, |(_, n)| n);
            let name: String = bare
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            match word.rsplit_once(':') {
                Some((_, ty)) if name.starts_with(|c: char| c.is_ascii_digit()) => {
                    immediates.push(ty.to_owned());
                }
                _ if name.starts_with(|c: char| c.is_ascii_alphabetic()) => operands.push(name),
                _ => {}
            }
        }
        operands.extend(
            predicate
                .split(|c: char| !c.is_ascii_alphanumeric())
                .find(|word| word.starts_with('P'))
                .map(str::to_owned),
        );
        Self {
            text: text.to_owned(),
            opcode: opcode.to_owned(),
            first: nibble.saturating_sub(1) * 4,
            lanes: lanes.trim().parse().unwrap_or(1),
            operands,
            immediates,
        }
    }

    fn moves(&self) -> bool {
        ["mov", "movs"].contains(&self.opcode.as_str())
    }
}

fn is_modifier(text: &str) -> bool {
    ["-", "abs", "-abs", "~"].contains(&text.trim_start_matches('('))
}

/// What a build does for a work-item.
fn watched(
    kernel: &DumpedKernel,
    program: &Program,
    wrong: Wrong,
    parsed: &mut HashMap<(RoutineKind, usize, usize), Line>,
) -> Option<Watched> {
    // Passes leave out instructions, and results that nothing reads.
    let config = Config {
        compile: None,
        passes: &[],
        ..machine::config()
    };
    let local = usize::try_from(program.local.max(1)).ok()?;
    let launching = Launching::of(program).ok()?;
    let mut seen = || {
        let kernel = Kernel::from_dump(kernel)?;
        let launch = kernel.prepare(&launching.range, &launching.arguments, &config)?;
        let simd = usize::try_from(launch.simd()).unwrap_or(1).max(1);
        let inside = wrong.item % local;
        let small = |n: usize| u32::try_from(n).unwrap_or(0);
        let tracer = Tracer::new(kernel.object(), kernel.grf_bytes, launch.program());
        let bodies = kernel.object().routines();
        let bodies = bodies.filter_map(|(_, routine)| routine.body());
        let names = bodies.flat_map(|body| body.variables.iter().map(|v| body.string(v.name)));
        let variables = names.flatten().filter_map(|name| {
            let name = String::from_utf8_lossy(name).into_owned();
            let slot = launch.program().variable(&name)?;
            let variable = Variable {
                ty: slot.data_type.to_string(),
                bytes: slot.offset..slot.offset + slot.bytes,
            };
            Some((name, variable))
        });
        let variables: Variables = variables.collect();
        let mut watch = Watch {
            tracer,
            group: small(wrong.item / local),
            thread: inside / simd,
            lane: small(inside % simd),
            now: 0,
            parsed,
            steps: Vec::new(),
            values: HashSet::new(),
        };
        // What ran before a fault counts.
        match launch.run_observed(&config, &mut watch) {
            Ok(_) | Err(LaunchError::Fault { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Watched {
            steps: watch.steps,
            values: watch.values,
            variables,
        })
    };
    let seen: Result<_, LaunchError> = seen();
    seen.ok().filter(|watched| watched.steps.len() < MOST)
}

/// The steps that the last one of that value depends on, in their order.
fn slice(watched: &Watched, wrong: Wrong) -> Vec<&Step> {
    let is_wrong = |step: &Step| match step.value {
        Some((value, bytes)) => bytes >= wrong.bytes && value & mask(wrong.bytes) == wrong.bits,
        None => false,
    };
    let variables = &watched.variables;
    let mut needed: Vec<Place<'_>> = Vec::new();
    let mut slice: Vec<&Step> = Vec::new();
    for step in watched.steps.iter().rev() {
        let writes = Place::of(&step.writes, variables);
        let starts = slice.is_empty() && is_wrong(step);
        if starts || needed.iter().any(|place| place.meets(&writes)) {
            needed.retain(|place| !place.is_within(&writes));
            needed.extend(step.reads.iter().map(|name| Place::of(name, variables)));
            slice.push(step);
        }
    }
    slice.reverse();
    slice
}

/// Where a value is: variables may share registers, and predicates have names alone.
#[derive(Clone, PartialEq, Eq)]
enum Place<'n> {
    Bytes(Range<usize>),
    Name(&'n str),
}

impl<'n> Place<'n> {
    fn of(name: &'n str, variables: &Variables) -> Self {
        let variable = variables.get(name);
        variable.map_or(Self::Name(name), |v| Self::Bytes(v.bytes.clone()))
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a.start < b.end && b.start < a.end,
            _ => self == other,
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => b.start <= a.start && a.end <= b.end,
            _ => self == other,
        }
    }
}

const fn mask(bytes: usize) -> u64 {
    if bytes >= 8 {
        u64::MAX
    } else {
        (1 << (8 * bytes)) - 1
    }
}

/// The instruction of a wrong build that computes the first wrong value.
pub(crate) fn first_wrong(
    program: &Program,
    (expected, got): (&Memory, &Memory),
    kernel: &DumpedKernel,
    right: Option<&DumpedKernel>,
) -> Option<Instruction> {
    let wrong = wrong(program, expected, got)?;
    let right = right.and_then(|right| watched(right, program, wrong, &mut HashMap::new()));
    let mut parsed = HashMap::new();
    let watched = watched(kernel, program, wrong, &mut parsed)?;
    let slice = slice(&watched, wrong);
    let is_new = |step: &&&Step| match (&right, step.value) {
        (Some(right), Some((value, bytes))) => {
            let mut all = extended(value, bytes).into_iter();
            all.all(|value| !right.values.contains(&value))
        }
        _ => false,
    };
    let computes = |step: &&&Step| parsed.get(&step.at).is_some_and(|line| !line.moves());
    let step = slice.iter().find(is_new);
    let step = step.or_else(|| slice.iter().rev().find(computes))?;
    let line = parsed.get(&step.at)?;
    let of = line.operands.iter();
    let of = of.filter_map(|name| Some(&watched.variables.get(name)?.ty));
    let words = std::iter::once(&line.opcode)
        .chain(of)
        .chain(&line.immediates);
    Some(Instruction {
        form: words.cloned().collect::<Vec<_>>().join(" "),
        at: step.at.2,
        line: line.text.clone(),
        value: step
            .value
            .map_or_else(String::new, |(value, _)| format!("{value:#x}")),
    })
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::print_stdout,
        reason = "helpers of tests"
    )]

    use super::*;
    use crate::ast::{Binary, Expr, Id, Node};
    use crate::configuration::Made;
    use crate::machine::Ran;
    use crate::types::{Scalar, Type, Value};

    /// An operation that is another one in a wrong build is found behind the copies of its result.
    #[test]
    fn planted_operations_are_found() {
        let Some((bench, configuration)) = crate::configuration::of_this_machine() else {
            println!("NOT RUN: needs ocloc");
            return;
        };
        let ty = Type::scalar(Scalar::Ushort);
        let boxed = |ty, node| Box::new(Expr { ty, node });
        let id = boxed(Type::UINT, Node::Id(Id::Global));
        let id = boxed(ty, Node::Convert(false, id));
        let five = Box::new(Expr::constant(Value::splat(ty, 5)));
        let xor = boxed(ty, Node::Binary(Binary::Xor, id, five));
        let output = Node::Binary(Binary::Mul, xor.clone(), xor);
        let program = Program {
            groups: 2,
            local: 32,
            outputs: vec![Expr { ty, node: output }],
            ..Program::default()
        };
        let made = bench
            .make(&configuration, &[&program])
            .unwrap()
            .pop()
            .unwrap();
        let Made::Memory(expected, right) = made else {
            panic!("{made:?}");
        };
        let mut wrong = (*right).clone();
        let text = String::from_utf8(wrong.sources[0].bytes.clone()).unwrap();
        assert!(text.contains("    mul (M"), "{text}");
        wrong.sources[0].bytes = text.replace("    mul (M", "    add (M").into_bytes();
        let Ran::Ended(got) = machine::run(&wrong, &Launching::of(&program).unwrap()) else {
            panic!("it does not run");
        };
        let found = first_wrong(&program, (&expected, &got), &wrong, Some(&right)).unwrap();
        assert!(found.form.starts_with("add "), "{found:?}");
        assert!(found.line.contains("add (M"), "{found:?}");
        // Without a build that is right, it is the last one that computes.
        let found = first_wrong(&program, (&expected, &got), &wrong, None).unwrap();
        assert!(found.form.starts_with("add "), "{found:?}");
        assert_eq!(
            first_wrong(&program, (&expected, &expected), &right, None),
            None
        );
    }

    #[test]
    fn lines_are_read() {
        let line = Line::of("(!P12) sel (M5, 16) V40(0,0)<1> (-)V41(0,0)<1;1,0> 0x3:w");
        assert_eq!(
            (line.opcode.as_str(), line.first, line.lanes),
            ("sel", 16, 16)
        );
        assert_eq!(line.operands, ["V40", "V41", "P12"]);
        assert_eq!(line.immediates, ["w"]);
        let line = Line::of("cmp.lt (M1_NM, 1) P3 V0042(0,0)<0;1,0> V7(0,0)<0;1,0>");
        assert_eq!((line.first, line.lanes), (0, 1));
        assert_eq!(line.operands, ["P3", "V0042", "V7"]);
        for odd in [
            "",
            "(",
            "ret",
            "(P1",
            "mov (M1, x) V1",
            "barrier",
            "add (M99, 16) (abs)V1(0,0)<1> ((",
        ] {
            let _ = Line::of(odd);
        }
    }

    #[test]
    fn numbers_are_extended() {
        assert_eq!(extended(0xff, 1), [0xff, u64::MAX]);
        assert_eq!(extended(u64::MAX, 8), [u64::MAX; 2]);
        assert_eq!(number(&[1, 2]), 0x201);
    }
}
