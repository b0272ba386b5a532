//! Machine code behaves like the interpreter: on every case, and wherever it is stopped and resumed. The
//! oracle's tests compare both on generated programs of many styles, byte by byte, and wherever they are stopped.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod bits;
mod elementary;
mod groups;
mod large;
mod layers;
mod listings;
mod litmus;
mod media;
mod messages;
mod modes;
mod narrow;
mod products;
mod threads;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use visakit_exec::code::{Code, Liveness};
use visakit_exec::{
    Compiler, Examined, Group, Limits, Memory, Native, Options, Program, ThreadStart,
};
use visakit_jit::{Jit, Verdict, verdict};
use visakit_launch::{Case, Compile, Config};
use visakit_testing::{cases, fixtures, say};
use visakit_text::asm;

/// The compilers that the host supports; prints a notice if there is none.
fn compilers() -> Vec<Jit> {
    let mut all: Vec<Jit> = [Jit::avx2(), Jit::host()].into_iter().flatten().collect();
    all.dedup();
    if all.is_empty() {
        say("NOT RUN: machine code: the host has no AVX2");
    }
    all
}

/// The kernel of a text, translated.
fn translated(text: &str) -> Program {
    let object = asm::assemble(text.as_bytes(), &asm::Options::default())
        .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message));
    let (routine, _) = visakit_launch::find_kernel(&object, None).unwrap();
    Program::new(&object, routine, &Options::default()).unwrap()
}

/// The kernel of a text: for the interpreter, and compiled by each compiler.
fn forms(text: &str) -> (Program, Vec<Program>) {
    let modes = [Examined::Always, Examined::AtEnd];
    let all = compilers()
        .into_iter()
        .flat_map(|jit| modes.map(|m| (jit, m)));
    let compiled = all.map(|(jit, examined)| {
        let mut program = translated(text);
        program.examine_registers(examined);
        program.compile_with(Arc::new(jit), 0);
        program
    });
    (translated(text), compiled.collect())
}

/// A group of one thread, which ran to its end.
fn ended(program: &Program, start: &ThreadStart) -> Group {
    let limits = Limits::default();
    let mut group = Group::new(program, 0, std::slice::from_ref(start), &limits).unwrap();
    group
        .run(program, &Memory::new(0), &limits, &mut ())
        .unwrap();
    group
}

/// The words of a variable of the first thread.
fn words(program: &Program, group: &Group, name: &str) -> Vec<u32> {
    let variable = program.variable(name).unwrap();
    let bytes = group.thread(0).unwrap().read(&variable).as_chunks().0;
    bytes.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

/// Panics where register files differ, with the variable and the place in it.
fn same_registers(program: &Program, left: &[u8], expected: &[u8], what: &str) {
    assert_eq!(left.len(), expected.len(), "{what}");
    let Some(at) = left.iter().zip(expected).position(|(a, b)| a != b) else {
        return;
    };
    let mut all = program.variables();
    let found = all.find(|(_, v)| (v.offset..v.offset + v.bytes).contains(&at));
    let end = left.len().min((at & !7) + 8);
    panic!(
        "{what}: {:?} {:x?} is not {:x?}",
        found.map(|(name, v)| (name, at - v.offset)),
        &left[at & !7..end],
        &expected[at & !7..end],
    );
}

/// Numbers that look random, the same each time.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0.wrapping_mul(0x9e37_79b1)
    }
}

/// A compiler of whose code none is refused.
#[derive(Debug)]
struct Proven(Jit);

impl Compiler for Proven {
    fn compile(&self, code: &Code, live: Option<&Liveness>) -> Option<Box<dyn Native>> {
        let found = verdict(code, live, self.0.features());
        assert!(!matches!(found, Verdict::Refused(_)), "{found:?}");
        self.0.compile(code, live)
    }
}

fn run(folders: &[PathBuf]) {
    for jit in compilers() {
        let compiler: Arc<dyn Compiler> = Arc::new(Proven(jit));
        let config = Config {
            compile: Some(Compile::always(&compiler)),
            ..Config::default()
        };
        for folder in folders {
            let case = Case::open(folder).unwrap();
            let verdict = case.run(false, &config).unwrap();
            let difference = verdict
                .difference
                .map(|(argument, d)| format!("{argument}: {d}"));
            assert_eq!(
                difference,
                None,
                "{} with {:?}",
                case.name(),
                jit.features()
            );
        }
        say(&format!(
            "{} cases in machine code ({:?}) passed",
            folders.len(),
            jit.features()
        ));
    }
}

#[test]
fn committed_cases() {
    let folders = cases(&fixtures().join("cases"));
    assert!(folders.len() >= 5);
    run(&folders);
}

#[test]
fn reference_cases() {
    let Some(root) = visakit_testing::shared("machine code on every case", "cases") else {
        return;
    };
    run(&cases(&root));
}

/// The kernels of the benches, translated.
fn kernels() -> Vec<(String, u32, String)> {
    let folder = fixtures().join("kernels");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".visaasm") {
            let grf_bytes = if name.contains(".pvc.") { 64 } else { 32 };
            found.push((name, grf_bytes, path.to_string_lossy().into_owned()));
        }
    }
    found.sort();
    found
}

/// The state after a single thread: registers, instructions and lane operations. Every kernel runs to its
/// end or to a fault, the same one.
fn left_behind(program: &Program, fuel: u64, cr0: u32) -> (Vec<u8>, u64, u64, String) {
    let memory = Memory::new(1 << 20);
    let lanes = program.simd_size().clamp(1, 32);
    let start = ThreadStart {
        mask: u32::MAX >> (32 - lanes),
        cr0,
        ..ThreadStart::default()
    };
    let limits = Limits {
        max_steps: 100_000,
        ..Limits::default()
    };
    let mut group = Group::new(program, 1 << 12, &[start], &limits).unwrap();
    let fault = loop {
        match group.advance(program, &memory, &limits, fuel, None, &mut ()) {
            Ok(visakit_exec::Progress::Ended) => break String::new(),
            Ok(_) => {}
            Err(fault) => break fault.to_string(),
        }
    };
    let counters = group.counters();
    let registers = group.thread(0).unwrap().registers().to_vec();
    (
        registers,
        counters.instructions,
        counters.lane_operations,
        fault,
    )
}

/// Fuel may run out anywhere: registers, counts and fault are the same as uncompiled and in one go.
#[test]
fn fuel_runs_out_anywhere() {
    for (name, grf_bytes, path) in kernels() {
        let source = visakit_launch::Source::open(path.as_ref()).unwrap();
        let object = source.object(grf_bytes).unwrap();
        let (kernel, _) = visakit_launch::find_kernel(&object, None).unwrap();
        let options = Options {
            grf_bytes,
            ..Options::default()
        };
        let program = || Program::new(&object, kernel, &options).unwrap();
        let expected = left_behind(&program(), 1 << 40, 0x4c0);
        let modes = match expected.3.as_str() {
            "" => &[Examined::Always, Examined::AtEnd][..],
            _ => &[Examined::Always],
        };
        let all = compilers().into_iter();
        for (jit, examined) in all.flat_map(|jit| modes.iter().map(move |m| (jit, *m))) {
            let mut compiled = program();
            compiled.examine_registers(examined);
            compiled.compile_with(Arc::new(jit), 0);
            assert!(compiled.is_compiled(), "{name}");
            for fuel in [1, 3, 977, 1 << 40] {
                assert_eq!(
                    left_behind(&compiled, fuel, 0x4c0),
                    expected,
                    "{name}, {fuel} at a time"
                );
            }
        }
    }
}

/// Floats in every rounding mode, denormals kept and flushed, between steps that depend on no mode.
const MODES: &str = ".version 4.1
.kernel \"modes\"
.decl F v_type=G type=f num_elts=16 align=GRF
.decl FD v_type=G type=d num_elts=16 align=GRF alias=<F, 0>
.decl R v_type=G type=f num_elts=16 align=GRF
.decl RD v_type=G type=d num_elts=16 align=GRF alias=<R, 0>
.decl A v_type=G type=d num_elts=16 align=GRF
.decl I v_type=G type=ud num_elts=1 align=dword
.decl M v_type=G type=ud num_elts=1 align=dword
.decl P1 v_type=P num_elts=1
.kernel_attr SimdSize=16
mov (M1, 16) FD(0,0)<1> 0x7fffff:d
mov (M1_NM, 1) I(0,0)<1> 0x0:ud
L0:
mul (M1, 16) R(0,0)<1> F(0,0)<1;1,0> 0x40400001:f
mul (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x3:d
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> RD(0,0)<1;1,0>
mul (M1, 16) R(0,0)<1> F(0,0)<1;1,0> 0x3f000001:f
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> RD(0,0)<1;1,0>
and (M1_NM, 1) M(0,0)<1> I(0,0)<0;1,0> 0x1c:ud
shl (M1_NM, 1) M(0,0)<1> M(0,0)<0;1,0> 0x2:ud
xor (M1_NM, 1) %cr0(0,0)<1> M(0,0)<0;1,0> 0x4c0:ud
mul (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x5:d
add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud
cmp.lt (M1_NM, 1) P1 I(0,0)<0;1,0> 0x40:ud
(P1) jmp (M1, 1) L0
ret (M1, 1)
";

/// Machine code is left where floats are in a mode that it has no code for, and is entered again after that.
#[test]
fn float_modes() {
    let program = || translated(MODES);
    for cr0 in [0, 0x4c0, 0x4d0, 0x14c0] {
        let expected = left_behind(&program(), 1 << 40, cr0);
        assert_eq!(expected.3, "");
        for jit in compilers() {
            let mut compiled = program();
            compiled.compile_with(Arc::new(jit), 0);
            for fuel in [1, 7, 1 << 40] {
                let left = left_behind(&compiled, fuel, cr0);
                assert!(left == expected, "{cr0:#x}, {fuel} at a time");
            }
        }
    }
}

/// A source that is used as it is and with another sign, when all registers of the host hold something.
#[test]
fn sources_that_are_used_twice() {
    for (ty, lanes) in [("f", 16), ("df", 16), ("df", 8)] {
        let number = |n: usize| 0x3f80_0000 + n * 0x1_3579;
        let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
        let mut lines = String::new();
        for n in 0..40 {
            for name in ["A", "B", "R"] {
                let _ = writeln!(
                    text,
                    ".decl {name}{n} v_type=G type={ty} num_elts={lanes} align=GRF"
                );
            }
            for (name, number) in [("A", number(n)), ("B", number(n * 7 + 3))] {
                let _ = writeln!(lines, "mov (M1, {lanes}) {name}{n}(0,0)<1> {number:#x}:f");
            }
        }
        for n in 0..40 {
            let (a, b) = (n % 3, n * 11 % 40);
            let _ = writeln!(
                lines,
                "mad (M1, {lanes}) R{n}(0,0)<1> A{a}(0,0)<1;1,0> B{b}(0,0)<1;1,0> (-)A{a}(0,0)<1;1,0>"
            );
        }
        let text = format!("{text}.kernel_attr SimdSize=16\n{lines}ret (M1, 1)\n");
        let (program, compiled) = forms(&text);
        let start = ThreadStart {
            mask: 0xffff,
            cr0: 0x4c0,
            ..ThreadStart::default()
        };
        let expected = ended(&program, &start);
        let expected = expected.thread(0).unwrap().registers();
        for other in compiled {
            let group = ended(&other, &start);
            let left = group.thread(0).unwrap().registers();
            same_registers(&program, left, expected, ty);
        }
    }
}

/// Steps without a template are reported.
#[test]
fn steps_without_a_template() {
    let Some(jit) = Jit::host() else {
        say("NOT RUN: machine code: the host has no AVX2");
        return;
    };
    for (name, grf_bytes, path) in kernels() {
        let source = visakit_launch::Source::open(path.as_ref()).unwrap();
        let object = source.object(grf_bytes).unwrap();
        let (kernel, _) = visakit_launch::find_kernel(&object, None).unwrap();
        let options = Options {
            grf_bytes,
            ..Options::default()
        };
        let program = Program::new(&object, kernel, &options).unwrap();
        let calls = jit.calls(program.code()).unwrap();
        // Most steps of compute kernels have one.
        let steps = program.code().steps.len();
        assert!(
            2 * calls.len() <= steps,
            "{name}: {} of {steps}",
            calls.len()
        );
    }
}
