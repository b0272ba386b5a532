//! Threads of a group that run side by side in a loop: generated kernels whose results depend on the order in which threads
//! access memory, as the interpreter runs them, wherever fuel runs out, and where a thread has a fault.

use super::{Random, compilers, each_lane, translated};
use std::fmt::Write;
use std::sync::Arc;
use visakit_exec::{Counters, Examined, Group, Limits, Memory, Program, Progress, ThreadStart};

/// Bytes of shared local memory.
const BYTES: usize = 1 << 10;

/// Kernels that are tried.
const ROUNDS: usize = 400;

const VARIABLES: u32 = 6;

fn text(lanes: u32, random: &mut Random) -> String {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl N v_type=G type=ud num_elts=1 align=dword\n\
         .decl I v_type=G type=ud num_elts=1 align=dword\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl E v_type=G type=ud num_elts=32 align=GRF\n\
         .decl M v_type=G type=ud num_elts=32 align=GRF\n\
         .decl C v_type=G type=f num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n",
    );
    for n in 0..VARIABLES {
        let _ = writeln!(
            text,
            ".decl V{n} v_type=G type=ud num_elts=32 align=GRF\n\
             .decl F{n} v_type=G type=f num_elts=32 align=GRF alias=<V{n}, 0>\n\
             .decl W{n} v_type=G type=uw num_elts=64 align=GRF alias=<V{n}, 0>"
        );
    }
    let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
    let mut line = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    let statement = |random: &mut Random| {
        let [a, b, c] = [(); 3].map(|()| random.next() % VARIABLES);
        let head = |name: &str| format!("{name} (M1, {lanes})");
        match random.next() % 24 {
            0 | 1 => format!(
                "{} V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>",
                head("add")
            ),
            2 => format!(
                "{} V{a}(0,0)<1> V{b}(0,0)<1;1,0> I(0,0)<0;1,0>",
                head("xor")
            ),
            3 => format!(
                "{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> F{c}(0,0)<1;1,0> C(0,0)<1;1,0>",
                head("mad")
            ),
            4 => format!(
                "{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> C(0,0)<1;1,0>",
                head("add")
            ),
            5 => format!("{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> 0x40000000:f", head("mul")),
            6 => format!(
                "{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> (-)F{b}(0,0)<1;1,0>",
                head("mul")
            ),
            7 => format!("{} V{a}(0,0)<1> V{b}(0,0)<1;1,0>", head("mov")),
            8 => format!("{} V{a}(0,0)<1> N(0,0)<0;1,0>", head("mov")),
            9 => format!("add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> V{b}(0,2)<0;1,0>"),
            // Operands of other sizes, for which threads run alone.
            10 => format!("mov (M1_NM, 1) W{a}(0,0)<1> W{b}(0,0)<0;1,0>"),
            11 => format!(
                "{} W{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>",
                head("add")
            ),
            12 => format!("cmp.lt (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"),
            13 => format!(
                "cmp.lt (M1_NM, {lanes}) P2 V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>\n\
                 (P2) sel (M1_NM, 1) V{c}(0,0)<1> V{a}(0,1)<0;1,0> V{b}(0,3)<0;1,0>"
            ),
            14..17 => format!(
                "cmp.lt (M1, {lanes}) P2 V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>\n\
                 (P2) sel (M1, {lanes}) V{c}(0,0)<1> V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>"
            ),
            _ => format!("{} V{a}(0,0)<1> V{b}(0,0)<1;1,0> 0x3:ud", head("shl")),
        }
    };
    // Results depend on which thread has accessed memory before.
    let accesses = |n: u32| {
        format!(
            "lsc_load.slm (M1, {lanes}) M:d32 flat[A]:a32\n\
             mul (M1, {lanes}) M(0,0)<1> M(0,0)<1;1,0> 0x3:ud\n\
             add (M1, {lanes}) M(0,0)<1> M(0,0)<1;1,0> V{n}(0,0)<1;1,0>\n\
             lsc_store.slm (M1, {lanes}) flat[A]:a32 M:d32"
        )
    };
    let loops = 1 + random.next() % 2;
    for number in 0..loops {
        for _ in 0..random.next() % 4 {
            line(statement(random));
        }
        match random.next() % 8 {
            // Some threads, or some of their lanes, take another way to the loop.
            0 => line(format!(
                "cmp.lt (M1, {lanes}) P1 E(0,0)<1;1,0> 0x2:ud\n\
                 (P1) goto (M1, {lanes}) OVER{number}\n\
                 add (M1, {lanes}) V1(0,0)<1> V1(0,0)<1;1,0> 0x7:ud\nOVER{number}:"
            )),
            1 => line(format!(
                "cmp.gt (M1_NM, 1) P1 N(0,0)<0;1,0> 0x6:ud\n\
                 (P1) jmp (M1, 1) OUT{number}"
            )),
            2 => line(accesses(random.next() % VARIABLES)),
            3 => line("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud".into()),
            4 => line("barrier".into()),
            5 => line(format!(
                "and (M1, {lanes}) M(0,0)<1> E(0,0)<1;1,0> 0x1:ud\n\
                 cmp.eq (M1, {lanes}) P1 M(0,0)<1;1,0> 0x0:ud\n\
                 (P1) goto (M1, {lanes}) OVER{number}\n\
                 add (M1, {lanes}) V2(0,0)<1> V2(0,0)<1;1,0> 0x5:ud\nOVER{number}:"
            )),
            _ => {}
        }
        line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud".into());
        line(format!("TURN{number}:"));
        for _ in 0..1 + random.next() % 6 {
            line(statement(random));
        }
        line("add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud".into());
        line(format!(
            "cmp.gt (M1, {lanes}) P1 I(0,0)<0;1,0> E(0,0)<1;1,0>"
        ));
        if random.next().is_multiple_of(2) {
            line(format!(
                "cmp.ge (M1_NM, {lanes}) P2 I(0,0)<0;1,0> 0x9:ud\n\
                 or (M1, {lanes}) P1 P1 P2"
            ));
        }
        if random.next().is_multiple_of(3) {
            line(statement(random));
        }
        line(format!("(P1) goto (M1, {lanes}) OUT{number}"));
        for _ in 0..random.next() % 3 {
            line(statement(random));
        }
        if random.next().is_multiple_of(4) {
            line(format!(
                "cmp.eq (M1, {lanes}) P1 V0(0,0)<1;1,0> V1(0,0)<1;1,0>\n\
                 (P1) goto (M1, {lanes}) OUT{number}"
            ));
        }
        line(match random.next() % 2 {
            0 => format!("goto (M1, {lanes}) TURN{number}"),
            _ => format!("jmp (M1, 1) TURN{number}"),
        });
        line(format!("OUT{number}:"));
        line(accesses(random.next() % VARIABLES));
    }
    for n in 0..VARIABLES {
        line(accesses(n));
    }
    line("ret (M1, 1)".into());
    text
}

/// What a group leaves: its counts, its memory, and the fault that it had.
type Left = (Counters, Vec<u8>, Option<String>);

fn run(program: &Program, (lanes, threads, seed): (u32, u32, u32), fault: bool, fuel: u64) -> Left {
    let mut random = Random(seed);
    let full = u32::MAX >> (32 - lanes);
    let mut starts = Vec::new();
    for thread in 0..threads {
        let set = |name: &str, bytes: Vec<u8>| (program.variable(name).unwrap(), bytes);
        let mut sets = vec![
            set("A", each_lane()),
            set("N", (random.next() % 8).to_le_bytes().to_vec()),
        ];
        if fault && thread == threads / 2 {
            // Beyond the end.
            let far = (0..32u32).flat_map(|n| (0x1000 + 4 * n).to_le_bytes());
            sets[0].1 = far.collect();
        }
        let mut each = |value: &dyn Fn(&mut Random) -> u32| -> Vec<u8> {
            (0..32)
                .flat_map(|_| value(&mut random).to_le_bytes())
                .collect()
        };
        sets.push(set(
            "E",
            each(&|r| r.next() % [3, 12, 40][r.next() as usize % 3]),
        ));
        let float = |r: &mut Random| 0x3f00_0000 + r.next() % 0x100_0000;
        sets.push(set("C", each(&float)));
        for n in 0..VARIABLES {
            sets.push(set(&format!("V{n}"), each(&float)));
        }
        let mask = match random.next() % 6 {
            0 => random.next() & full | 1,
            _ => full,
        };
        starts.push(ThreadStart {
            mask,
            cr0: 0x4c0,
            sets,
            ..ThreadStart::default()
        });
    }
    let (memory, limits) = (Memory::new(0), Limits::default());
    let mut group = Group::new(program, BYTES, &starts, &limits).unwrap();
    let fault = loop {
        match group.advance(program, &memory, &limits, fuel, None, &mut ()) {
            Ok(Progress::Ended) => break None,
            Ok(_) => {}
            Err(fault) => break Some(fault.to_string()),
        }
    };
    (group.counters(), group.slm().to_vec(), fault)
}

#[test]
fn as_interpreted() {
    let mut random = Random(0xba1d);
    for round in 0..ROUNDS {
        let lanes = [16, 8, 16, 4][round % 4];
        let text = text(lanes, &mut random);
        let program = translated(&text);
        let compiled: Vec<_> = compilers()
            .into_iter()
            .map(|jit| {
                let mut compiled = translated(&text);
                compiled.examine_registers(Examined::Never);
                compiled.compile_with(Arc::new(jit), 0);
                (compiled, jit.features())
            })
            .collect();
        for threads in [2, 5, 40] {
            let start = (lanes, threads, random.next() | 1);
            let fault = random.next().is_multiple_of(4);
            let expected = run(&program, start, fault, u64::MAX);
            for (compiled, features) in &compiled {
                for fuel in [u64::MAX, 1 + u64::from(random.next() % 300)] {
                    let left = run(compiled, start, fault, fuel);
                    assert!(
                        left == expected,
                        "{text}{features:?} {start:?}, {fuel} at a time: {:?} {:?} is not {:?} {:?}",
                        left.0,
                        left.2,
                        expected.0,
                        expected.2
                    );
                }
            }
        }
    }
}
