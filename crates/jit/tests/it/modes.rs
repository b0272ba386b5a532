//! Float modes: the same bits as the interpreter's, results around the smallest normal number and integers that are too
//! large included, and in machine code.

use super::{Random, compilers, ended, forms, same_registers, translated, words};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use visakit_exec::code::{Code, Liveness};
use visakit_exec::{
    Compiler, Entry, Group, Host, Limits, Memory, Native, NativeFault, NativeThread, Program,
    ThreadStart,
};
use visakit_jit::Jit;

/// A compiler that counts the instructions that run in machine code.
#[derive(Debug)]
struct Counting(Jit, Arc<AtomicU64>);

#[derive(Debug)]
struct Counted(Box<dyn Native>, Arc<AtomicU64>);

impl Compiler for Counting {
    fn compile(&self, code: &Code, live: Option<&Liveness>) -> Option<Box<dyn Native>> {
        let native = self.0.compile(code, live)?;
        Some(Box::new(Counted(native, Arc::clone(&self.1))))
    }
}

impl Native for Counted {
    fn entries(&self) -> &[Entry] {
        self.0.entries()
    }

    fn run(&self, thread: &mut NativeThread, host: &mut dyn Host) -> Result<(), NativeFault> {
        let before = thread.left;
        let ran = self.0.run(thread, host);
        self.1.fetch_add(before - thread.left, Relaxed);
        ran
    }
}

/// A sequence of instructions, each with a separate result, after an optional write of `%cr0`; and their number, with
/// the return, which counts as run by machine code where that comes to it.
fn kernel(lanes: u32, ty: &str, modifier: &str, write: Option<u32>) -> (String, u64) {
    let unary = [
        "sqrt", "inv", "rndd", "rndu", "rnde", "rndz", "frc", "rsqrt", "exp", "log", "sin", "cos",
    ];
    let (a, b, c) = (
        format!("{modifier}A(0,0)<1;1,0>"),
        "B(0,0)<1;1,0>",
        "C(0,0)<1;1,0>",
    );
    // The type of the result, the instruction, its sources.
    let mut lines: Vec<(&str, String, String)> = Vec::new();
    let mut line = |ty: &'static str, name: &str, sources: String| {
        lines.push((ty, name.to_owned(), sources));
    };
    let ty = if ty == "f" { "f" } else { "df" };
    for name in unary {
        // Only what both precisions support.
        if ty == "f" || matches!(name, "sqrt" | "inv") {
            line(ty, name, a.clone());
        }
    }
    for name in ["add", "mul", "div", "min", "max"] {
        line(ty, name, format!("{a} {b}"));
        line(ty, &format!("{name}.sat"), format!("{a} {b}"));
    }
    line(ty, "mad", format!("{a} {b} {c}"));
    // Results of results.
    line(ty, "mad", format!("R00(0,0)<1;1,0> {b} R01(0,0)<1;1,0>"));
    line(ty, "(P1) add", format!("R01(0,0)<1;1,0> {a}"));
    for to in ["f", "df", "d", "ud"] {
        line(to, "mov", a.clone());
        line(to, "(P1) mov", a.clone());
        if to == "f" {
            line(to, "mov.sat", a.clone());
        }
    }
    for from in ["D", "U", "W"] {
        line(ty, "mov", format!("{from}(0,0)<1;1,0>"));
        line(ty, "(P1) mov", format!("{from}(0,0)<1;1,0>"));
        line(ty, "mov", format!("{from}(0,3)<0;1,0>"));
    }
    line("ud", "cmp.lt", format!("{a} {b}"));
    line("ud", "cmp.ne", format!("{a} {c}"));
    let mut text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type={ty} num_elts=32 align=GRF\n\
         .decl B v_type=G type={ty} num_elts=32 align=GRF\n\
         .decl C v_type=G type={ty} num_elts=32 align=GRF\n\
         .decl D v_type=G type=d num_elts=32 align=GRF\n\
         .decl U v_type=G type=ud num_elts=32 align=GRF\n\
         .decl W v_type=G type=w num_elts=32 align=GRF\n\
         .decl X v_type=G type=ud num_elts=64 align=GRF\n\
         .decl Y v_type=G type=ud num_elts=128 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n\
         .decl P3 v_type=P num_elts=32\n.decl P4 v_type=P num_elts=32\n\
         .decl P5 v_type=P num_elts=32\n"
    );
    let mut code = String::new();
    if let Some(bits) = write {
        code += &format!("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits:#x}:ud\n");
    }
    for (number, (ty, name, sources)) in lines.iter().enumerate() {
        text += &format!(".decl R{number:02} v_type=G type={ty} num_elts=32 align=GRF\n");
        code += &format!("{name} (M1, {lanes}) R{number:02}(0,0)<1> {sources}\n");
    }
    code += &format!("cmp.lt (M1, {lanes}) P2 {a} {b}\ncmp.eq (M1, {lanes}) P3 {a} {c}\n");
    // Two results each.
    let pairs = [
        ("addc", "U(0,0)<1;1,0> U(0,3)<0;1,0>"),
        ("(P1) addc", "U(0,0)<1;1,0> U(0,0)<1;1,0>"),
        ("addc", "U(0,0)<1;1,0> 0xfffffffc:ud"),
        ("subb", "U(0,0)<1;1,0> U(0,3)<0;1,0>"),
        ("(P1) subb", "U(0,3)<0;1,0> U(0,0)<1;1,0>"),
    ];
    for (number, (name, sources)) in pairs.into_iter().enumerate() {
        for half in ["L", "H"] {
            text += &format!(".decl {half}{number} v_type=G type=ud num_elts=32 align=GRF\n");
        }
        code += &format!("{name} (M1, {lanes}) L{number}(0,0)<1> H{number}(0,0)<1> {sources}\n");
    }
    // The carry over a source.
    code += &format!("addc (M1, {lanes}) L0(0,0)<1> L1(0,0)<1> L1(0,0)<1;1,0> L0(0,0)<1;1,0>\n");
    code += &format!("setp (M1_NM, {lanes}) P4 0x5a5aa5a5:ud\n");
    code += &format!("setp (M1, {lanes}) P5 U(0,1)<0;1,0>\n");
    // Every second dword.
    code += &format!("mov (M1, {lanes}) X(0,0)<2> D(0,0)<1;1,0>\n");
    code += &format!("(P1) mov (M1, {lanes}) Y(0,1)<2> D(0,0)<1;1,0>\n");
    text += &format!(".kernel_attr SimdSize={lanes}\n{code}ret (M1, 1)\n");
    (text, lines.len() as u64 + 13 + u64::from(write.is_some()))
}

/// Numbers whose sums and products are near the smallest normal number, and special ones.
fn number(wide: bool, random: &mut Random) -> u64 {
    let (bits, exponents) = if wide { (52, 0x7ff) } else { (23, 0xff) };
    let half = exponents / 2;
    let exponent = match random.next() % 9 {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => half,
        4 => half - 1,
        5 => half / 2 + u64::from(random.next() % 3),
        6 => exponents,
        7 => half + 25 + u64::from(random.next() % 12),
        _ => u64::from(random.next()) % exponents,
    };
    let fraction = match random.next() % 4 {
        0 => 0,
        1 => (1 << bits) - 1,
        2 => u64::from(random.next() % 4),
        _ => u64::from(random.next()) << 32 | u64::from(random.next()),
    };
    let sign = u64::from(random.next() & 1) << if wide { 63 } else { 31 };
    sign | exponent << bits | fraction & ((1 << bits) - 1)
}

fn numbers(wide: bool, random: &mut Random) -> Vec<u8> {
    let all = (0..32).flat_map(|_| {
        let bytes = number(wide, random).to_le_bytes();
        bytes[..if wide { 8 } else { 4 }].to_vec()
    });
    all.collect()
}

/// Runs kernels under the interpreter and in machine code, starting with these contents of `%cr0`; `in_code` determines
/// whether all of a kernel is to run in machine code.
fn agree(write: Option<u32>, contents: &[u32], in_code: impl Fn(u32) -> bool) {
    let mut random = Random(7);
    for (ty, modifier) in [
        ("f", ""),
        ("f", "(-)"),
        ("f", "(abs)"),
        ("df", ""),
        ("df", "(-)"),
    ] {
        for lanes in [1, 8, 16, 32] {
            let (text, instructions) = kernel(lanes, ty, modifier, write);
            let program = || translated(&text);
            let interpreted = program();
            let compiled: Vec<_> = compilers()
                .into_iter()
                .map(|jit| {
                    let counter = Arc::new(AtomicU64::new(0));
                    let mut compiled = program();
                    compiled.compile_with(Arc::new(Counting(jit, Arc::clone(&counter))), 0);
                    (compiled, counter, jit)
                })
                .collect();
            let full = u32::MAX >> (32 - lanes);
            for &cr0 in contents {
                for round in 0..12 {
                    let mask = if round % 3 == 0 {
                        full
                    } else {
                        random.next() & full | 1
                    };
                    let set = |name: &str, bytes| (interpreted.variable(name).unwrap(), bytes);
                    let mut values = || numbers(ty == "df", &mut random);
                    let start = ThreadStart {
                        mask,
                        cr0,
                        sets: vec![
                            set("A", values()),
                            set("B", values()),
                            set("C", values()),
                            set("D", integers(&mut random)),
                            set("U", integers(&mut random)),
                            set("W", integers(&mut random)[..64].to_vec()),
                            set("P1", random.next().to_le_bytes().to_vec()),
                        ],
                        ..ThreadStart::default()
                    };
                    let limits = Limits::default();
                    let run = |program: &Program| {
                        let starts = std::slice::from_ref(&start);
                        let mut group = Group::new(program, 0, starts, &limits).unwrap();
                        let memory = Memory::new(0);
                        group.run(program, &memory, &limits, &mut ()).unwrap();
                        group.thread(0).unwrap().registers().to_vec()
                    };
                    let expected = run(&interpreted);
                    for (program, counter, jit) in &compiled {
                        counter.store(0, Relaxed);
                        let left = run(program);
                        let what = format!("{text}\n{cr0:#x} {mask:#x} {:?}", jit.features());
                        same_registers(&interpreted, &left, &expected, &what);
                        let ran = counter.load(Relaxed);
                        assert_eq!(ran == instructions, in_code(cr0), "{cr0:#x} {ran}");
                    }
                }
            }
        }
    }
}

/// Integers of all magnitudes.
fn integers(random: &mut Random) -> Vec<u8> {
    let all = (0..32).flat_map(|_| {
        let shift = random.next() % 33;
        let value = random.next().checked_shr(shift).unwrap_or(0);
        let value = if random.next() & 1 == 0 {
            value
        } else {
            value.wrapping_neg()
        };
        value.to_le_bytes()
    });
    all.collect()
}

#[test]
fn denormals_are_flushed() {
    let contents = [0, 0x40, 0x80, 0x400, 0x440, 0x480, 0x4c0, 0x10];
    agree(None, &contents, |cr0| cr0 != 0x10);
}

/// After a write of `%cr0`, machine code continues if denormals are kept, however results are rounded.
#[test]
fn results_are_rounded_to_one_side() {
    for rounding in [0x10, 0x20, 0x30] {
        agree(Some(rounding), &[0, 0x4c0, 0x4f0, 0x14c0], |cr0| {
            cr0 & 0x14c0 == 0x4c0
        });
    }
}

/// Kernels begin with a write of `%cr0` whose result is foreseen. Where it is another one, as bits that they do not write
/// were set, the interpreter goes on, with the same results.
#[test]
fn contents_that_are_not_the_expected_ones() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=f num_elts=16 align=GRF\n\
                .decl B v_type=G type=f num_elts=16 align=GRF\n.decl D v_type=G type=d num_elts=16 align=GRF\n\
                .kernel_attr SimdSize=16\n\
                or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n\
                mul (M1, 16) B(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0>\n\
                and (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0xffffffcf:ud\n\
                add (M1, 16) B(0,0)<1> B(0,0)<1;1,0> 0x3dcccccd:f\n\
                mov (M1, 16) D(0,0)<1> B(0,0)<1;1,0>\n\
                ret (M1, 1)\n";
    let (interpreted, compiled) = forms(text);
    let mut random = Random(5);
    let slot = interpreted.variable("A").unwrap();
    for cr0 in [0, 0x4c0, 0x40, 0x4d0, 0x30, 0x14c0, 0x1010] {
        let start = ThreadStart {
            mask: 0xffff,
            cr0,
            sets: vec![(slot.clone(), numbers(false, &mut random)[..64].to_vec())],
            ..ThreadStart::default()
        };
        let results = |program: &Program| {
            let group = ended(program, &start);
            ["B", "D"].map(|name| words(program, &group, name))
        };
        let expected = results(&interpreted);
        for program in &compiled {
            assert_eq!(results(program), expected, "{cr0:#x}");
        }
    }
}

/// A limit that a write of `%cr0` reaches is reported at the instruction after it.
#[test]
fn limits_stop_the_same_instruction() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=f num_elts=16 align=GRF\n\
                .kernel_attr SimdSize=16\n\
                xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud\n\
                mul (M1, 16) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0>\n\
                xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud\n\
                add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0>\n\
                ret (M1, 1)\n";
    let program = || translated(text);
    for (max_steps, instruction) in (1..5).zip(1..) {
        let fault = |program: &Program| {
            let limits = Limits {
                max_steps,
                ..Limits::default()
            };
            let start = ThreadStart {
                mask: 0xffff,
                cr0: 0x4c0,
                ..ThreadStart::default()
            };
            let mut group = Group::new(program, 0, &[start], &limits).unwrap();
            let ran = group.run(program, &Memory::new(0), &limits, &mut ());
            ran.unwrap_err().instruction
        };
        assert_eq!(fault(&program()), instruction);
        for jit in compilers() {
            let mut compiled = program();
            compiled.compile_with(Arc::new(jit), 0);
            assert_eq!(fault(&compiled), instruction, "{:?}", jit.features());
        }
    }
}
