//! What is taken for the same computation leaves the same in a run, whatever is in the registers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::{Byte, Local};
use std::sync::Arc;
use visakit_exec::code::{Action, Compute, Step};
use visakit_launch::{Argument, Config, Kernel, Loaded, NdRange, Variables, ZeInfo};
use visakit_testing::layouts::Random;
use visakit_text::asm;

/// Bytes of the sources, of the results before the instruction, and of all that is loaded.
const SOURCES: usize = 128;
const RESULTS: usize = 64;
const LOADED: usize = SOURCES + RESULTS;

/// Bytes of the only buffer: what is loaded, results, and predicates.
const BYTES: usize = LOADED + 4;

/// Contents that are run for a pair of equal computations.
const RUNS: usize = 6;

/// Instructions before the one that is asked about.
const BEFORE: u32 = 7;

const TYPES: [&str; 10] = ["d", "ud", "w", "uw", "b", "ub", "q", "uq", "f", "hf"];

const OPERATIONS: [&str; 22] = [
    "add", "mul", "and", "or", "xor", "shl", "shr", "asr", "min", "max", "mov", "not", "sel",
    "cmp.lt", "cmp.eq", "cmp.ge", "avg", "mulh", "addc", "subb", "rol", "mad",
];

/// A source: an immediate, or registers.
#[derive(Clone)]
struct Source {
    ty: &'static str,
    number: Option<u64>,
    at: [usize; 2],
    region: &'static str,
    modifier: &'static str,
}

/// An instruction.
#[derive(Clone)]
struct Line {
    operation: &'static str,
    saturates: bool,
    ty: &'static str,
    sources: Vec<Source>,
}

fn one<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.below(all.len())]
}

fn number(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => random.word(),
        1 => random.below(70) as u64,
        2 => u64::MAX - random.below(4) as u64,
        _ => 1 << random.below(64),
    }
}

impl Source {
    fn any(random: &mut Random, ty: &'static str) -> Self {
        Self {
            ty,
            number: (random.below(3) == 0).then(|| number(random)),
            at: [random.below(2), random.below(4)],
            region: one(
                random,
                &["<1;1,0>", "<1;1,0>", "<0;1,0>", "<2;1,0>", "<1;2,0>"],
            ),
            modifier: match random.below(5) {
                0 => "(-)",
                1 => "(abs)",
                _ => "",
            },
        }
    }

    fn text(&self) -> String {
        let bits = 8 * size(self.ty);
        match self.number {
            // There are no bytes among immediates.
            Some(number) if bits > 8 => {
                let number = if bits < 64 {
                    number & ((1 << bits) - 1)
                } else {
                    number
                };
                format!("{number:#x}:{}", self.ty)
            }
            _ => {
                let [row, column] = self.at;
                let name = self.ty.to_uppercase();
                format!("{}X{name}({row},{column}){}", self.modifier, self.region)
            }
        }
    }
}

fn size(ty: &str) -> usize {
    match ty {
        "q" | "uq" => 8,
        "b" | "ub" => 1,
        "w" | "uw" | "hf" => 2,
        _ => 4,
    }
}

/// A type of the same size and the other sign.
fn other_sign(ty: &'static str) -> &'static str {
    match ty {
        "d" => "ud",
        "ud" => "d",
        "w" => "uw",
        "uw" => "w",
        "b" => "ub",
        "ub" => "b",
        "q" => "uq",
        "uq" => "q",
        other => other,
    }
}

impl Line {
    fn any(random: &mut Random) -> Self {
        let (operation, ty) = (one(random, &OPERATIONS), one(random, &TYPES));
        let second = if random.below(2) == 0 {
            ty
        } else {
            one(random, &TYPES)
        };
        let count = match operation {
            "mov" | "not" => 1,
            "mad" => 3,
            _ => 2,
        };
        let types = [ty, second, ty].into_iter().take(count);
        Self {
            operation,
            saturates: random.below(5) == 0,
            ty: if random.below(3) == 0 {
                one(random, &TYPES)
            } else {
                ty
            },
            sources: types.map(|ty| Source::any(random, ty)).collect(),
        }
    }

    /// The same in another way, or nearly so.
    fn changed(&self, random: &mut Random) -> Self {
        let mut line = self.clone();
        let which = random.below(line.sources.len());
        let exponent = random.below(32);
        match random.below(10) {
            0 => line.sources.reverse(),
            1 => line.sources[which].ty = other_sign(line.sources[which].ty),
            2 => line.ty = other_sign(line.ty),
            3 => line.saturates = !line.saturates,
            4 => line.operation = one(random, &OPERATIONS),
            5 => {
                line.sources[which].modifier = match line.sources[which].modifier {
                    "" => "(-)",
                    _ => "",
                };
            }
            6 => line.sources[which].ty = one(random, &TYPES),
            // A number, by which one multiplies or shifts.
            7 => {
                let by = [("mul", 1 << exponent), ("shl", exponent as u64)];
                let (operation, number) = one(random, &by);
                line.operation = operation;
                line.sources.truncate(2);
                if let [_, second] = &mut line.sources[..] {
                    second.number = Some(number);
                    second.ty = one(random, &["ud", "d"]);
                }
            }
            8 => {
                let by = [("add", "(-)"), ("add", ""), ("or", ""), ("xor", "")];
                (line.operation, line.sources[which].modifier) = one(random, &by);
            }
            _ => line.sources[which].number = Some(number(random)),
        }
        line
    }

    fn text(&self) -> String {
        let saturates = if self.saturates { ".sat" } else { "" };
        let sources: Vec<String> = self.sources.iter().map(Source::text).collect();
        let (sources, to) = (
            sources.join(" "),
            format!("R{}(0,0)<1>", self.ty.to_uppercase()),
        );
        let operation = self.operation;
        match operation {
            "sel" => format!("(P1) sel{saturates} (M1, 8) {to} {sources}"),
            "addc" | "subb" => format!("{operation} (M1, 8) RUD(0,0)<1> RUD(1,0)<1> {sources}"),
            _ if operation.starts_with("cmp") => format!("{operation} (M1, 8) P2 {sources}"),
            _ => format!("{operation}{saturates} (M1, 8) {to} {sources}"),
        }
    }
}

/// The kernel around an instruction; `BEFORE` instructions come before it.
fn text(line: &str, mode: u32) -> String {
    let mut text =
        ".version 4.1\n.kernel \"k\"\n.decl AT v_type=G type=ud num_elts=8 align=GRF\n".to_owned();
    for (name, bytes) in [("X", SOURCES), ("R", RESULTS)] {
        let dwords = bytes / 4;
        text += &format!(".decl {name} v_type=G type=ud num_elts={dwords} align=GRF\n");
        for ty in TYPES {
            let elements = bytes / size(ty);
            text += &format!(
                ".decl {name}{} v_type=G type={ty} num_elts={elements} align=GRF alias=<{name}, 0>\n",
                ty.to_uppercase()
            );
        }
    }
    text += ".decl P1 v_type=P num_elts=8\n.decl P2 v_type=P num_elts=8\n.kernel_attr SimdSize=8\n";
    text + &format!(
        ".function \"k_0\"\nk_0:\n\
         mov (M1_NM, 8) AT(0,0)<1> 0x0:ud\n\
         and (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0xfffffb0f:ud\n\
         or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {mode:#x}:ud\n\
         lsc_load.ugm (M1_NM, 1) X:d32x32t bti(0x0)[AT]:a32\n\
         lsc_load.ugm (M1_NM, 1) R:d32x16t bti(0x0)[AT+{SOURCES:#x}]:a32\n\
         cmp.lt (M1, 8) P1 XD(0,0)<1;1,0> XD(1,0)<1;1,0>\n\
         cmp.lt (M1, 8) P2 XD(2,0)<1;1,0> XD(3,0)<1;1,0>\n\
         {line}\n\
         lsc_store.ugm (M1_NM, 1) bti(0x0)[AT+{SOURCES:#x}]:a32 R:d32x16t\n\
         mov (M1_NM, 1) X(0,0)<1> P2\n\
         lsc_store.ugm (M1_NM, 1) bti(0x0)[AT+{LOADED:#x}]:a32 X:d32\n\
         ret (M1, 1)\n"
    )
}

/// A kernel that is ready to run; `None` if the instruction is none.
struct Ready(Loaded);

impl Ready {
    fn new(line: &str, mode: u32, metadata: &ZeInfo) -> Option<Self> {
        let text = text(line, mode);
        let object = asm::assemble(text.as_bytes(), &asm::Options::default()).ok()?;
        let kernel = Kernel::new(&object, "k", metadata).ok()?;
        let variables = Arc::new(Variables::new(&[], &kernel.symbols).unwrap());
        kernel.load(&variables, &Config::default()).ok().map(Self)
    }

    /// The step of the instruction.
    fn step(&self) -> Option<(&Step, &Compute)> {
        let steps = &self.0.program().code().steps;
        let mut own = steps
            .iter()
            .filter(|step| step.origin.instruction == BEFORE + 1);
        match (own.next()?, own.next()) {
            (step, None) => match &step.action {
                Action::Compute(compute) => Some((step, compute)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The byte of a constant.
    fn constant(&self, place: usize) -> Option<u8> {
        let mut all = self.0.program().code().constants.iter();
        all.find_map(|(at, bytes)| bytes.get(place.checked_sub(*at)?).copied())
    }

    /// Where the sources begin.
    fn sources(&self) -> usize {
        let declared = self.0.program().declared(0);
        let found = declared.iter().find(|v| v.display_name() == "X").unwrap();
        found.slot.offset
    }

    fn run(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let range = NdRange::new(&[8], &[8], &[]).unwrap();
        let arguments = [Argument::Buffer(bytes.to_vec())];
        let config = Config::default();
        let launch = self.0.launch(&range, &arguments, None, &config).unwrap();
        let outcome = launch.run(&config).ok()?;
        outcome.memory(0).map(<[u8]>::to_vec)
    }
}

fn metadata() -> ZeInfo {
    let text = "---\nversion: '1.20'\nkernels:\n  - name: k\n    execution_env:\n      grf_count: 128\n      \
                simd_size: 8\n    payload_arguments:\n      - arg_type: arg_bypointer\n        offset: 0\n        \
                size: 0\n        arg_index: 0\n        addrmode: stateful\n        addrspace: global\n        \
                access_type: readwrite\n    binding_table_indices:\n      - bti_value: 0\n        arg_index: 0\n";
    ZeInfo::parse(text).unwrap()
}

/// Contents of the buffer: random bytes, or numbers at which results change.
fn contents(random: &mut Random, known: &[Option<u8>]) -> Vec<u8> {
    let corners = [
        0,
        1,
        u64::MAX,
        1 << 63,
        0x7fff_ffff_ffff_ffff,
        0x7fc0_0001_3f80_0000,
        0x8000_7fff_8000_0000,
    ];
    let plain = random.below(2) == 0;
    let mut bytes = Vec::new();
    while bytes.len() < BYTES {
        let word = if plain {
            random.word()
        } else {
            one(random, &corners)
        };
        bytes.extend(word.to_le_bytes());
    }
    bytes.truncate(BYTES);
    for (to, known) in bytes.iter_mut().zip(known) {
        *to = known.unwrap_or(*to);
    }
    bytes
}

/// Computations that are taken for the same, some of whose sources are known, do the same.
#[test]
fn equal_computations_do_the_same() {
    let metadata = metadata();
    let (mut asked, mut equal, mut different, mut floats) = (0, 0, 0, 0);
    for seed in 0..4_000 {
        let mut random = Random::of_seed(seed);
        let old = Line::any(&mut random);
        let mut new = old.changed(&mut random);
        if random.below(3) == 0 {
            new = new.changed(&mut random);
        }
        let texts = [old.text(), new.text()];
        let mode = one(&mut random, &[0, 0x4c0, 0x10, 0x430]);
        let [Some(first), Some(second)] = texts
            .each_ref()
            .map(|line| Ready::new(line, mode, &metadata))
        else {
            continue;
        };
        let (Some((step, a)), Some((_, b))) = (first.step(), second.step()) else {
            continue;
        };
        let base = first.sources();
        assert_eq!(base, second.sources());
        // Some dwords are the same in all runs.
        let known: Vec<Option<u8>> = (0..SOURCES / 4)
            .flat_map(|_| {
                let known = (random.below(4) == 0).then(|| number(&mut random).to_le_bytes());
                (0..4).map(move |n| known.map(|bytes| bytes[n]))
            })
            .collect();
        let byte = |side: usize, place: usize| {
            let side = if side == 0 { &first } else { &second };
            let number = side.constant(place).or_else(|| {
                let known = known.get(place.checked_sub(base)?)?;
                *known
            });
            Some(number.map_or(Byte::At(place), Byte::Known))
        };
        asked += 1;
        let same = Local::new().equal((step, u32::MAX), [a, b], byte, None) == Some(true);
        let mut apart = None;
        for _ in 0..RUNS {
            let bytes = contents(&mut random, &known);
            if first.run(&bytes) != second.run(&bytes) {
                apart = Some(bytes);
                break;
            }
        }
        if same {
            assert_eq!(apart, None, "seed {seed}: {texts:#?}");
            equal += 1;
            floats += u32::from(super::is_float(a));
        } else {
            different += u32::from(apart.is_some());
        }
    }
    assert!(
        asked > 500 && equal > 80 && floats > 5 && different > 250,
        "{asked}: {equal} equal, {floats} of floats, {different} differ"
    );
}
