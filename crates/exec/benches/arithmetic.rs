//! Lane operations of loops on registers, and translation.
//!
//! `cargo bench -p visakit-internal-exec`. The item of the loops is a lane operation (an instruction times
//! its enabled lanes), the item of the translation an instruction.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a bench stops at the first surprise

use divan::Bencher;
use divan::counter::ItemsCount;
use std::fmt::Write;
use visakit_exec::{Group, Limits, Memory, Options, Program, ThreadStart};
use visakit_isa::object::{Object, RoutineId, RoutineKind};

const ROUNDS: usize = 2_000;

fn main() {
    divan::main();
}

/// A loop over `body`, in which `{n}` is the number of lanes.
fn kernel(lanes: usize, body: &str) -> Object<'static> {
    let mut text = String::from(".version 4.1\n.kernel \"bench\"\n");
    for name in ["A", "B", "C", "D"] {
        for (prefix, ty) in [
            ("F", "f"),
            ("I", "d"),
            ("U", "ud"),
            ("W", "w"),
            ("H", "hf"),
            ("D", "df"),
        ] {
            writeln!(
                text,
                ".decl {prefix}{name} v_type=G type={ty} num_elts={lanes} align=GRF"
            )
            .unwrap();
        }
    }
    text.push_str(".decl R v_type=G type=f num_elts=128 align=GRF\n");
    text.push_str(".decl S v_type=G type=d num_elts=128 align=GRF\n");
    text.push_str(".decl M v_type=G type=ud num_elts=1024 align=GRF\n");
    text.push_str(".decl N v_type=G type=ud num_elts=1 align=dword\n");
    text.push_str(".decl P1 v_type=P num_elts=1\n.decl P2 v_type=P num_elts=32\n");
    writeln!(text, ".kernel_attr SimdSize={lanes}").unwrap();
    text.push_str("    or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n");
    writeln!(text, "    mov (M1_NM, 1) N(0,0)<1> {ROUNDS}:ud\nAGAIN:").unwrap();
    for line in body.lines() {
        writeln!(text, "    {}", line.replace("{n}", &lanes.to_string())).unwrap();
    }
    text.push_str("    add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> -1:d\n");
    text.push_str("    cmp.ne (M1_NM, 1) P1 N(0,0)<0;1,0> 0x0:ud\n");
    text.push_str("    (P1) jmp (M1, 1) AGAIN\n    ret (M1, 1)\n");
    visakit_text::asm::assemble(text.as_bytes(), &Default::default())
        .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message))
        .into_owned()
}

fn run(bencher: Bencher<'_, '_>, lanes: usize, body: &str) {
    let object = kernel(lanes, body);
    let id = RoutineId::new(RoutineKind::Kernel, 0);
    let program = Program::new(&object, id, &Options::default()).unwrap();
    let start = ThreadStart {
        mask: u32::MAX >> (32 - lanes),
        ..ThreadStart::default()
    };
    let memory = Memory::new(1 << 20);
    let mut group = Group::new(
        &program,
        0,
        std::slice::from_ref(&start),
        &Limits::default(),
    )
    .unwrap();
    let counters = group
        .run(&program, &memory, &Limits::default(), &mut ())
        .unwrap();
    bencher
        .counter(ItemsCount::new(counters.lane_operations))
        .bench_local(|| {
            group
                .reset(
                    &program,
                    0,
                    std::slice::from_ref(&start),
                    &Limits::default(),
                )
                .unwrap();
            group
                .run(&program, &memory, &Limits::default(), &mut ())
                .unwrap()
        });
}

/// Numbers stay between -4 and 4: those that are none, and denormals, are another matter.
const FLOATS: &str = "\
mul (M1, {n}) FB(0,0)<1> FA(0,0)<1;1,0> 0x3f000000:f
add (M1, {n}) FA(0,0)<1> FB(0,0)<1;1,0> 0x3f800000:f
mad (M1, {n}) FC(0,0)<1> FA(0,0)<1;1,0> FB(0,0)<1;1,0> FA(0,0)<1;1,0>
mad (M1, {n}) FD(0,0)<1> FA(0,0)<1;1,0> (-)FB(0,0)<1;1,0> FC(0,0)<1;1,0>
mul (M1, {n}) FC(0,0)<1> FD(0,0)<1;1,0> 0x3f000000:f
add (M1, {n}) FB(0,0)<1> FC(0,0)<1;1,0> (-)FA(0,0)<1;1,0>
mad (M1, {n}) FD(0,0)<1> FA(0,0)<1;1,0> FB(0,0)<1;1,0> FC(0,0)<1;1,0>
min (M1, {n}) FD(0,0)<1> FA(0,0)<1;1,0> FB(0,0)<1;1,0>";

/// As compilers write them: between vectors are steps of one lane.
const MIXED: &str = "\
mul (M1, {n}) FB(0,0)<1> FA(0,0)<1;1,0> 0x3f000000:f
add (M1_NM, 1) IC(0,0)<1> IC(0,0)<0;1,0> 0x1:w
add (M1, {n}) FA(0,0)<1> FB(0,0)<1;1,0> 0x3f800000:f
add (M1_NM, 1) IC(0,0)<1> IC(0,0)<0;1,0> 0x1:w
mad (M1, {n}) FC(0,0)<1> FA(0,0)<1;1,0> FB(0,0)<1;1,0> FA(0,0)<1;1,0>
add (M1_NM, 1) IC(0,0)<1> IC(0,0)<0;1,0> 0x1:w
mul (M1, {n}) FC(0,0)<1> FC(0,0)<1;1,0> 0x3f000000:f
add (M1_NM, 1) IC(0,0)<1> IC(0,0)<0;1,0> 0x1:w
add (M1, {n}) FB(0,0)<1> FC(0,0)<1;1,0> (-)FA(0,0)<1;1,0>";

/// Likewise.
const HALVES: &str = "\
mul (M1, {n}) HB(0,0)<1> HA(0,0)<1;1,0> 0x3800:hf
add (M1, {n}) HA(0,0)<1> HB(0,0)<1;1,0> 0x3c00:hf
mad (M1, {n}) HC(0,0)<1> HA(0,0)<1;1,0> HB(0,0)<1;1,0> HA(0,0)<1;1,0>
max (M1, {n}) HD(0,0)<1> HA(0,0)<1;1,0> HB(0,0)<1;1,0>
mov (M1, {n}) FA(0,0)<1> HD(0,0)<1;1,0>
mov (M1, {n}) HC(0,0)<1> FA(0,0)<1;1,0>";

const INTEGERS: &str = "\
add (M1, {n}) UA(0,0)<1> UA(0,0)<1;1,0> UB(0,0)<1;1,0>
shl (M1, {n}) UB(0,0)<1> UA(0,0)<1;1,0> 0xd:ud
xor (M1, {n}) UA(0,0)<1> UA(0,0)<1;1,0> UB(0,0)<1;1,0>
shr (M1, {n}) UB(0,0)<1> UA(0,0)<1;1,0> 0x11:ud
xor (M1, {n}) UA(0,0)<1> UA(0,0)<1;1,0> UB(0,0)<1;1,0>
mul (M1, {n}) UC(0,0)<1> UA(0,0)<1;1,0> UB(0,0)<1;1,0>
and (M1, {n}) UD(0,0)<1> UC(0,0)<1;1,0> 0xffff:ud
add (M1, {n}) IA(0,0)<1> IA(0,0)<1;1,0> (-)IB(0,0)<1;1,0>";

const COMPARES: &str = "\
cmp.lt (M1, {n}) P2 IA(0,0)<1;1,0> IB(0,0)<1;1,0>
(P2) sel (M1, {n}) IC(0,0)<1> IA(0,0)<1;1,0> IB(0,0)<1;1,0>
(P2) mov (M1, {n}) ID(0,0)<1> IC(0,0)<1;1,0>
max (M1, {n}) IA(0,0)<1> IA(0,0)<1;1,0> IC(0,0)<1;1,0>";

const CONVERSIONS: &str = "\
mov (M1, {n}) FA(0,0)<1> IA(0,0)<1;1,0>
mov (M1, {n}) IB(0,0)<1> FA(0,0)<1;1,0>
add (M1, {n}) IC(0,0)<1> IB(0,0)<1;1,0> WA(0,0)<1;1,0>
mov (M1, {n}) WB(0,0)<1> IC(0,0)<1;1,0>";

/// A division of integers as compilers write it for devices with doubles: most of it is rounded towards zero.
const DIVISION: &str = "\
mov (M1, {n}) DA(0,0)<1> UA(0,0)<1;1,0>
xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud
mul (M1, {n}) DB(0,0)<1> DA(0,0)<1;1,0> 0x3fd5555555555555:df
mad (M1, {n}) DC(0,0)<1> DB(0,0)<1;1,0> 0x3fd5555555555555:df DB(0,0)<1;1,0>
xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud
mov (M1, {n}) UB(0,0)<1> DC(0,0)<1;1,0>
add (M1, {n}) UA(0,0)<1> UB(0,0)<1;1,0> 0x3039:ud";

/// Integer division as compilers write it for devices without doubles.
const SINGLE_DIVISION: &str = "\
mov (M1, {n}) FA(0,0)<1> UA(0,0)<1;1,0>
xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud
mul (M1, {n}) FB(0,0)<1> FA(0,0)<1;1,0> 0x3eaaaaaa:f
mad (M1, {n}) FC(0,0)<1> FB(0,0)<1;1,0> 0x3eaaaaaa:f FB(0,0)<1;1,0>
add (M1, {n}) FD(0,0)<1> FC(0,0)<1;1,0> (-)FB(0,0)<1;1,0>
xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud
mov (M1, {n}) UB(0,0)<1> FD(0,0)<1;1,0>
add (M1, {n}) UA(0,0)<1> UB(0,0)<1;1,0> 0x3039:ud";

/// A division by a constant, and integers of 64 bits by halves, as compilers write both.
const HALVES_OF_LONGS: &str = "\
mulh (M1, {n}) UB(0,0)<1> UA(0,0)<1;1,0> 0x92492493:ud
shr (M1, {n}) UB(0,0)<1> UB(0,0)<1;1,0> 0x2:ud
addc (M1, {n}) UA(0,0)<1> UC(0,0)<1> UA(0,0)<1;1,0> UB(0,0)<1;1,0>
addc (M1, {n}) UA(0,0)<1> UD(0,0)<1> UA(0,0)<1;1,0> 0x9e3779b9:ud
subb (M1, {n}) UB(0,0)<1> UD(0,0)<1> UA(0,0)<1;1,0> UC(0,0)<1;1,0>
add (M1, {n}) UA(0,0)<1> UB(0,0)<1;1,0> UD(0,0)<1;1,0>";

/// Products of eight rows, sixteen lanes and eight steps of depth. Divide by 128 for an item of a lane and a step.
#[divan::bench(args = ["bf.bf", "hf.hf", "tf32.tf32", "s8.u8", "s4.u4"])]
fn systolic(bencher: Bencher<'_, '_>, precisions: &str) {
    let sums = if precisions.starts_with('s') {
        "S"
    } else {
        "R"
    };
    let line = format!("dpas.{precisions}.8.8 (M1, 16) {sums}.0 {sums}.0 M.0 M(16,0)\n");
    run(bencher, 16, &line.repeat(4));
}

#[divan::bench(args = [8, 16, 32])]
fn floats(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, FLOATS);
}

#[divan::bench(args = [16, 32])]
fn mixed(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, MIXED);
}

/// Sums and products of what is no number.
#[divan::bench(args = [8, 16, 32])]
fn no_numbers(bencher: Bencher<'_, '_>, lanes: usize) {
    let body = format!("mov (M1, {{n}}) FB(0,0)<1> 0x7fc00000:f\n{FLOATS}");
    run(
        bencher,
        lanes,
        &body.replace("FB(0,0)<1> FA", "FC(0,0)<1> FB"),
    );
}

#[divan::bench(args = [8, 16, 32])]
fn halves(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, HALVES);
}

#[divan::bench(args = [8, 16, 32])]
fn integers(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, INTEGERS);
}

#[divan::bench(args = [16, 32])]
fn compares(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, COMPARES);
}

#[divan::bench(args = [16, 32])]
fn conversions(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, CONVERSIONS);
}

#[divan::bench(args = [16, 32])]
fn division(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, DIVISION);
}

#[divan::bench(args = [16, 32])]
fn single_division(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, SINGLE_DIVISION);
}

#[divan::bench(args = [16, 32])]
fn halves_of_longs(bencher: Bencher<'_, '_>, lanes: usize) {
    run(bencher, lanes, HALVES_OF_LONGS);
}

#[divan::bench(args = [1_000])]
fn translation(bencher: Bencher<'_, '_>, lines: usize) {
    let mut body = String::new();
    while body.lines().count() < lines {
        body.push_str(FLOATS);
        body.push('\n');
        body.push_str(INTEGERS);
        body.push('\n');
    }
    let object = kernel(16, &body);
    let id = RoutineId::new(RoutineKind::Kernel, 0);
    let program = Program::new(&object, id, &Options::default()).unwrap();
    bencher
        .counter(ItemsCount::new(program.instruction_count()))
        .bench_local(|| Program::new(&object, id, &Options::default()).unwrap());
}
