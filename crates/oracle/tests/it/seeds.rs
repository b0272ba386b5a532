//! The examples of the written definitions, worked out by hand and run in both machines.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing
)] // tests

use visakit_isa::VarId;
use visakit_oracle::compare::{Verdict, compare, run_slow};
use visakit_oracle::generate::{Case, Start, object};
use visakit_oracle::memory::Binding;

/// First declared variable of a routine.
const FIRST: u32 = 32;

/// A kernel of instructions on these declarations, in the order of their names.
fn case(declarations: &str, code: &str) -> Case {
    let text = format!(".version 4.1\n.kernel \"seed\"\n{declarations}\n{code}\n    ret (M1, 1)\n");
    Case::of_thread(object(&text), u32::MAX, Vec::new())
}

/// Runs a case in both machines and returns the dwords of a variable.
fn dwords(case: &Case, variable: u32) -> Vec<u32> {
    let verdict = compare(case);
    assert_eq!(verdict, Verdict::Agree);
    let machine = run_slow(case, 10_000).unwrap();
    machine.activations[0].general[&VarId(FIRST + variable)]
        .bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

fn start(case: &mut Case) -> &mut Start {
    &mut case.launches[0][0]
}

fn set(case: &mut Case, name: &str, values: impl IntoIterator<Item = u32>) {
    let bytes = values.into_iter().flat_map(u32::to_le_bytes).collect();
    start(case).sets.push((name.to_owned(), bytes));
}

const TWO: &str = ".decl V32 v_type=G type=d num_elts=64 align=GRF
.decl V33 v_type=G type=d num_elts=32 align=GRF";

/// `mov` of a source region of 0, 1, 2 … into consecutive elements.
fn region(lanes: usize, source: &str) -> Vec<u32> {
    let code = format!("    mov (M1_NM, {lanes}) V33(0,0)<1> {source}");
    let mut case = case(TWO, &code);
    set(&mut case, "V32", 0..64);
    dwords(&case, 1)[..lanes].to_vec()
}

#[test]
fn regions() {
    assert_eq!(region(8, "V32(0,0)<8;8,1>"), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(region(4, "V32(0,5)<0;1,0>"), [5, 5, 5, 5]);
    // Rows of two elements, four apart, eight from row to row.
    assert_eq!(region(8, "V32(0,1)<8;2,4>"), [1, 5, 9, 13, 17, 21, 25, 29]);
    // Row 2 of registers of eight elements.
    assert_eq!(region(4, "V32(2,3)<4;4,1>"), [19, 20, 21, 22]);
    // Rows that overlap.
    assert_eq!(region(8, "V32(0,0)<1;4,2>"), [0, 2, 4, 6, 1, 3, 5, 7]);
}

#[test]
fn several_addresses_each_begin_a_row() {
    let declarations = format!(
        "{TWO}\n.decl V34 v_type=G type=uw num_elts=4 align=GRF\n.decl A0 v_type=A num_elts=4 v_name=A0"
    );
    let code = "    addr_add (M1_NM, 4) A0(0)<4> &V32 V34(0,0)<1;1,0>
    mov (M1_NM, 8) V33(0,0)<1> r[A0(0),4]<2,1>:d";
    let mut case = case(&declarations, code);
    set(&mut case, "V32", 0..64);
    // Offsets 40, 0, 80 and 8 in bytes.
    set(&mut case, "V34", [40, 80 | 8 << 16]);
    assert_eq!(dwords(&case, 1)[..8], [11, 12, 1, 2, 21, 22, 3, 4]);
}

#[test]
fn channel_enable() {
    let declarations = format!("{TWO}\n.decl P1 v_type=P num_elts=32");
    let run = |guard: &str, exec: &str, predicate: u32, mask: u32| {
        let code = format!(
            "    setp (M1_NM, 32) P1 {predicate:#x}:ud\n    {guard} mov {exec} V33(0,0)<1> 1:d"
        );
        let mut case = case(&declarations, &code);
        start(&mut case).mask = mask;
        set(&mut case, "V33", [0; 32]);
        let lanes = dwords(&case, 1);
        (0..32).fold(0u32, |bits, lane| bits | lanes[lane] << lane)
    };
    // Lanes 8 to 15 of mask and predicate for the eight lanes of M3.
    assert_eq!(run("(P1)", "(M3, 8)", 0x0000_5500, 0x0000_f000), 0x50);
    assert_eq!(run("(!P1)", "(M3, 8)", 0x0000_5500, 0x0000_f000), 0xa0);
    // NoMask ignores the mask, not the predicate.
    assert_eq!(run("(P1)", "(M3_NM, 8)", 0x0000_5500, 0x0000_f000), 0x55);
    // One bit of these eight, bits of other lanes do not count.
    assert_eq!(run("(P1.any)", "(M3, 8)", 0x0000_0100, 0xffff_ffff), 0xff);
    assert_eq!(run("(P1.any)", "(M3, 8)", 0xffff_00ff, 0xffff_ffff), 0);
    assert_eq!(run("(P1.all)", "(M3, 8)", 0x0000_ff00, 0x0000_0300), 0x03);
    // The combination is inverted after it was made.
    assert_eq!(run("(!P1.all)", "(M3, 8)", 0x0000_fe00, 0xffff_ffff), 0xff);
    assert_eq!(run("(!P1.any)", "(M3, 8)", 0x0000_0100, 0xffff_ffff), 0);
}

#[test]
fn bit_field_insertion() {
    let bfi = |width: u32, offset: u32, value: u32, base: u32| {
        let code = format!(
            "    bfi (M1_NM, 1) V33(0,0)<1> {width:#x}:d {offset:#x}:d {value:#x}:d {base:#x}:d"
        );
        dwords(&case(TWO, &code), 1)[0]
    };
    assert_eq!(bfi(4, 8, 0xa, 0xffff_ffff), 0xffff_faff);
    assert_eq!(bfi(4, 8, 0xff, 0), 0x0000_0f00);
    assert_eq!(bfi(0, 8, 0xff, 0x1234_5678), 0x1234_5678);
    // Width and offset are taken modulo 32; bits that stick out are lost.
    assert_eq!(bfi(36, 40, 0xa, 0xffff_ffff), 0xffff_faff);
    assert_eq!(bfi(8, 28, 0xab, 0), 0xb000_0000);
}

#[test]
fn qword_gather() {
    let declarations = ".decl V32 v_type=G type=uq num_elts=16 align=GRF
.decl V33 v_type=G type=ud num_elts=8 align=GRF
.decl T6 v_type=T num_elts=1 v_name=T006";
    let code = "    movs (M1_NM, 1) T6(0) 0x3:ud
    qw_gather.2 (M1_NM, 8) T6 V33.0 V32.0";
    let mut case = case(declarations, code);
    case.buffers = vec![(0..64u64).flat_map(u64::to_le_bytes).collect()];
    case.addresses = visakit_oracle::generate::Pool::addresses(&case.buffers);
    case.bindings = vec![(Binding::Table(3), 0)];
    // Byte offsets; the last lane reads past the end, where zeroes are.
    set(&mut case, "V33", [0, 8, 80, 16, 504, 24, 32, 512]);
    let values: Vec<u32> = dwords(&case, 0).into_iter().step_by(2).collect();
    // The first block of all lanes, then the second.
    assert_eq!(values[..8], [0, 1, 10, 2, 63, 3, 4, 0]);
    assert_eq!(values[8..], [1, 2, 11, 3, 0, 4, 5, 0]);
}

const FLOW: &str = ".decl V32 v_type=G type=d num_elts=8 align=GRF
.decl V33 v_type=G type=d num_elts=8 align=GRF
.decl V34 v_type=G type=d num_elts=1 align=GRF
.decl P1 v_type=P num_elts=8
.decl P2 v_type=P num_elts=8";

/// The `if` and `else` of the execution-model page: zero goes to `ELSE1`, above one skips the inner
/// block.
#[test]
fn nested_conditional_of_gotos() {
    let code = "
    cmp.ne (M1, 8) P1 V32(0,0)<1;1,0> 0x0:d
    (!P1) goto (M1, 8) ELSE1
    cmp.gt (M1, 8) P2 V32(0,0)<1;1,0> 0x1:d
    (P2) goto (M1, 8) ENDIF2
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x1:d
ENDIF2:
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x10:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x10:d
    goto (M1, 8) ENDIF1
ELSE1:
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x100:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x100:d
ENDIF1:
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x1000:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x1000:d";
    let mut case = case(FLOW, code);
    start(&mut case).mask = 0xff;
    set(&mut case, "V32", [0, 1, 2, 0, 1, 2, 0, 1]);
    let all = [
        0x1100, 0x1011, 0x1010, 0x1100, 0x1011, 0x1010, 0x1100, 0x1011,
    ];
    assert_eq!(dwords(&case, 1), all);
    // Every block ran once, for all lanes that went there together.
    assert_eq!(dwords(&case, 2), [0x1111]);
}

/// Lanes leave a loop of a backward `goto` after different numbers of passes.
#[test]
fn loop_of_a_backward_goto() {
    let code = "
LOOP:
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x1:d
    cmp.lt (M1, 8) P1 V33(0,0)<1;1,0> V32(0,0)<1;1,0>
    (P1) goto (M1, 8) LOOP
    mul (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0xa:d";
    let mut case = case(FLOW, code);
    start(&mut case).mask = 0x7f;
    set(&mut case, "V32", [1, 5, 2, 0, 3, 1, 4, 9]);
    assert_eq!(dwords(&case, 1), [10, 50, 20, 10, 30, 10, 40, 0]);
    // The longest of the live lanes counts; the last one is not.
    assert_eq!(dwords(&case, 2), [5]);
}

/// Some lanes call; the others wait until the call mask is empty.
#[test]
fn divergent_call() {
    let code = "
    cmp.gt (M1, 8) P1 V32(0,0)<1;1,0> 0x1:d
    (P1) call (M1, 8) SUB
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> V34(0,0)<0;1,0>
    ret (M1, 1)
.function \"SUB\"
    cmp.gt (M1, 8) P2 V32(0,0)<1;1,0> 0x2:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x100:d
    (P2) ret (M1, 8)
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x10:d
    add (M1_NM, 1) V34(0,0)<1> V34(0,0)<0;1,0> 0x200:d
    ret (M1, 8)";
    let mut case = case(FLOW, code);
    start(&mut case).mask = 0xff;
    set(&mut case, "V32", [0, 1, 2, 3, 0, 1, 2, 3]);
    // All lanes see both scalar sums: none went on before the others were back.
    let all = [0x301, 0x301, 0x311, 0x301, 0x301, 0x301, 0x311, 0x301];
    assert_eq!(dwords(&case, 1), all);
}

/// A `df` just above the middle between two `hf` is rounded once, up.
#[test]
fn double_to_half_rounds_once() {
    let declarations = ".decl V32 v_type=G type=hf num_elts=8 align=GRF
.decl V33 v_type=G type=df num_elts=4 align=GRF";
    let code = "    mov (M1_NM, 4) V32(0,0)<1> V33(0,0)<1;1,0>";
    let mut case = case(declarations, code);
    let values = [
        0x3ff0_0200_0000_0001u64,
        0x3ff0_0200_0000_0000,
        0xbff0_05ff_ffff_ffff,
        0x40ef_fdff_ffff_ffff,
    ];
    let halves = values
        .into_iter()
        .flat_map(|v| [v as u32, (v >> 32) as u32]);
    set(&mut case, "V33", halves);
    assert_eq!(dwords(&case, 0)[..2], [0x3c00_3c01, 0x7bff_bc01]);
}

/// What `%cr0` flushes is zero, however large the other factor is: 2 to the power of -127 times 2 to the power of 100.
#[test]
fn denormals_of_sums_of_products() {
    const SMALL: u32 = 0x0040_0000;
    const LARGE: u32 = 0x7180_0000;
    let declarations = "\
.decl A v_type=G type=f num_elts=32 align=GRF
.decl X v_type=G type=f num_elts=32 align=GRF
.decl R v_type=G type=f num_elts=32 align=GRF";
    let kept = f32::from_bits(SMALL) * f32::from_bits(LARGE);
    for (code, terms) in [
        ("dp2 (M1, 8) R(0,0)<1> A(0,0)<1;1,0> X(0,0)<1;1,0>", 2.0),
        ("dp4 (M1, 8) R(0,0)<1> A(0,0)<1;1,0> X(0,0)<1;1,0>", 4.0),
        (
            "lrp (M1, 8) R(0,0)<1> A(0,0)<1;1,0> X(0,0)<1;1,0> 0x0:f",
            1.0,
        ),
    ] {
        for (cr0, expected) in [(0x4c0, kept * terms), (0x400, 0.0)] {
            let mut case = case(declarations, code);
            case.cr0 = cr0;
            let fill = |bits: u32| [bits; 32].into_iter().flat_map(u32::to_le_bytes).collect();
            start(&mut case).sets = vec![("A".into(), fill(SMALL)), ("X".into(), fill(LARGE))];
            assert_eq!(compare(&case), Verdict::Agree, "{code}");
            let machine = run_slow(&case, 100).unwrap();
            let result = &machine.activations[0].general[&VarId(FIRST + 2)].bytes;
            let first = f32::from_le_bytes(result[..4].try_into().unwrap());
            assert_eq!(first.to_bits(), expected.to_bits(), "{code}, cr0 {cr0:#x}");
        }
    }
}
