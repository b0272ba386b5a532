//! Modes in which denormals count as zero: the same bits as the interpreter's, results around the smallest normal number
//! included, and in machine code.

use super::{Random, compilers};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use visakit_exec::code::Code;
use visakit_exec::{
    Compiler, Entry, Group, Host, Limits, Memory, Native, NativeFault, NativeThread, Options,
    Program, ThreadStart,
};
use visakit_jit::Jit;
use visakit_text::asm;

/// A compiler that counts the instructions that run in machine code.
#[derive(Debug)]
struct Counting(Jit, Arc<AtomicU64>);

#[derive(Debug)]
struct Counted(Box<dyn Native>, Arc<AtomicU64>);

impl Compiler for Counting {
    fn compile(&self, code: &Code) -> Option<Box<dyn Native>> {
        let native = self.0.compile(code)?;
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

/// One instruction after the other, each with a result of its own.
fn kernel(lanes: u32, ty: &str, modifier: &str) -> (String, u64) {
    let unary = ["sqrt", "inv", "rndd", "rndu", "rnde", "rndz", "frc"];
    let (a, b, c) = (
        format!("{modifier}A(0,0)<1;1,0>"),
        "B(0,0)<1;1,0>",
        "C(0,0)<1;1,0>",
    );
    let mut lines = Vec::new();
    for name in unary {
        // Only what both precisions have.
        if ty == "f" || matches!(name, "sqrt" | "inv") {
            lines.push(format!("{name} (M1, {lanes}) R? {a}"));
        }
    }
    for name in ["add", "mul", "div", "min", "max"] {
        lines.push(format!("{name} (M1, {lanes}) R? {a} {b}"));
        lines.push(format!("{name}.sat (M1, {lanes}) R? {a} {b}"));
    }
    lines.push(format!("mad (M1, {lanes}) R? {a} {b} {c}"));
    // Results of results.
    lines.push(format!(
        "mad (M1, {lanes}) R? R00(0,0)<1;1,0> {b} R07(0,0)<1;1,0>"
    ));
    lines.push(format!("(P1) add (M1, {lanes}) R? R01(0,0)<1;1,0> {a}"));
    if ty == "f" {
        lines.push(format!("mov.sat (M1, {lanes}) R? {a}"));
    }
    let mut text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type={ty} num_elts=32 align=GRF\n\
         .decl B v_type=G type={ty} num_elts=32 align=GRF\n\
         .decl C v_type=G type={ty} num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n\
         .decl P3 v_type=P num_elts=32\n"
    );
    let mut code = String::new();
    for (number, line) in lines.iter().enumerate() {
        text += &format!(".decl R{number:02} v_type=G type={ty} num_elts=32 align=GRF\n");
        code += &line.replace("R?", &format!("R{number:02}(0,0)<1>"));
        code.push('\n');
    }
    code += &format!("cmp.lt (M1, {lanes}) P2 {a} {b}\ncmp.eq (M1, {lanes}) P3 {a} {c}\n");
    text += &format!(".kernel_attr SimdSize={lanes}\n{code}ret (M1, 1)\n");
    (text, lines.len() as u64 + 2)
}

/// Numbers whose sums and products lie around the smallest normal number, and special ones. Of two that are no numbers it
/// is not said which one arithmetic hands on; only one source has any.
fn number(wide: bool, nan: bool, random: &mut Random) -> u64 {
    let (bits, exponents) = if wide { (52, 0x7ff) } else { (23, 0xff) };
    let half = exponents / 2;
    let exponent = match random.next() % 8 {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => half,
        4 => half - 1,
        5 => half / 2 + u64::from(random.next() % 3),
        6 => exponents,
        _ => u64::from(random.next()) % exponents,
    };
    let fraction = match random.next() % 4 {
        0 => 0,
        1 => (1 << bits) - 1,
        2 => u64::from(random.next() % 4),
        _ => u64::from(random.next()) << 32 | u64::from(random.next()),
    };
    let infinite = exponent == exponents && !nan;
    let fraction = if infinite { 0 } else { fraction };
    let sign = u64::from(random.next() & 1) << if wide { 63 } else { 31 };
    sign | exponent << bits | fraction & ((1 << bits) - 1)
}

fn numbers(wide: bool, nan: bool, random: &mut Random) -> Vec<u8> {
    let all = (0..32).flat_map(|_| {
        let bytes = number(wide, nan, random).to_le_bytes();
        bytes[..if wide { 8 } else { 4 }].to_vec()
    });
    all.collect()
}

#[test]
fn denormals_are_flushed() {
    let mut random = Random(7);
    for (ty, modifier) in [
        ("f", ""),
        ("f", "(-)"),
        ("f", "(abs)"),
        ("df", ""),
        ("df", "(-)"),
    ] {
        for lanes in [1, 8, 16, 32] {
            if ty == "df" && lanes == 32 {
                continue;
            }
            let (text, instructions) = kernel(lanes, ty, modifier);
            let object = asm::assemble(text.as_bytes(), &asm::Options::default())
                .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message));
            let (routine, _) = visakit_launch::find_kernel(&object, None).unwrap();
            let program = || Program::new(&object, routine, &Options::default()).unwrap();
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
            for cr0 in [0, 0x40, 0x80, 0x400, 0x440, 0x480, 0x4c0, 0x10] {
                for round in 0..12 {
                    let mask = if round % 3 == 0 {
                        full
                    } else {
                        random.next() & full | 1
                    };
                    let set = |name: &str, bytes| (interpreted.variable(name).unwrap(), bytes);
                    let mut values = |nan| numbers(ty == "df", nan, &mut random);
                    let start = ThreadStart {
                        mask,
                        cr0,
                        sets: vec![
                            set("A", values(true)),
                            set("B", values(false)),
                            set("C", values(false)),
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
                        let first = left.iter().zip(&expected).position(|(a, b)| a != b);
                        if let Some(at) = first {
                            let mut all = interpreted.variables();
                            let found =
                                all.find(|(_, v)| (v.offset..v.offset + v.bytes).contains(&at));
                            let word = at & !7..(at & !7) + 8;
                            panic!(
                                "{text}\n{cr0:#x} {mask:#x} {:?}: {:?} {:x?} is not {:x?}",
                                jit.features(),
                                found.map(|(name, v)| (name, at - v.offset)),
                                &left[word.clone()],
                                &expected[word],
                            );
                        }
                        let ran = if cr0 == 0x10 { 0 } else { instructions };
                        assert_eq!(counter.load(Relaxed), ran, "{cr0:#x}");
                    }
                }
            }
        }
    }
}
