//! Messages whose addresses follow each other because of how they are computed: generated ones, as the interpreter runs
//! them, whether lanes do follow each other or not, inside of memory and outside.

use super::{Random, compilers, translated};
use std::fmt::Write;
use std::sync::Arc;
use visakit_exec::{Counters, Examined, Group, Limits, Memory, Program, ThreadStart};

/// Bytes of the buffer.
const BYTES: usize = 4096;

/// Kernels that are tried.
const ROUNDS: usize = 300;

/// The variables of a kernel.
fn declarations(lanes: u32) -> String {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl L v_type=G type=uw num_elts=32 align=GRF\n\
         .decl M v_type=G type=ud num_elts=32 align=GRF\n\
         .decl MD v_type=G type=d num_elts=32 align=GRF alias=<M, 0>\n\
         .decl R v_type=G type=uw num_elts=32 align=GRF\n\
         .decl N v_type=G type=ud num_elts=4 align=GRF\n\
         .decl B v_type=G type=uq num_elts=4 align=GRF\n\
         .decl D v_type=G type=ud num_elts=64 align=GRF\n\
         .decl E v_type=G type=ud num_elts=64 align=GRF\n\
         .decl T v_type=G type=f num_elts=128 align=GRF\n\
         .decl F v_type=G type=ud num_elts=128 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n",
    );
    for n in 0..5 {
        let _ = writeln!(
            text,
            ".decl V{n} v_type=G type=ud num_elts=32 align=GRF\n\
             .decl W{n} v_type=G type=d num_elts=32 align=GRF alias=<V{n}, 0>\n\
             .decl Q{n} v_type=G type=uq num_elts=32 align=GRF"
        );
    }
    text += ".decl A v_type=G type=ud num_elts=64 align=GRF alias=<Q2, 0>\n";
    let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
    text
}

/// Addresses computed from one vector, and messages at them; in between vectors and numbers are used and overwritten.
fn text(lanes: u32, random: &mut Random) -> String {
    let text = declarations(lanes);
    let mut one = |all: &[&str]| all[random.next() as usize % all.len()].to_owned();
    let mut lines: Vec<String> = Vec::new();
    let mut line = |line: String| lines.push(line);
    if one(&["", "N"]) == "N" {
        line("mul (M1_NM, 1) N(0,1)<1> N(0,2)<0;1,0> N(0,3)<0;1,0>".into());
    }
    let from = one(&["L", "L", "M", "MD"]);
    if one(&["", "", "", "M"]) == "M" {
        line(format!(
            "add (M1, {lanes}) M(0,0)<1> M(0,0)<1;1,0> N(0,0)<0;1,0>"
        ));
    }
    line(format!("mov (M1, {lanes}) V0(0,0)<1> {from}(0,0)<1;1,0>"));
    // Rows: a vector that may have the same number in all lanes, and products with it.
    let rows = one(&["", "rows", "rows"]) == "rows";
    if rows {
        let from = one(&["R", "R", "L", "V0"]);
        line(format!("mov (M1, {lanes}) V3(0,0)<1> {from}(0,0)<1;1,0>"));
        if one(&["", "on"]) == "on" {
            line(format!(
                "add3 (M1, {lanes}) V3(0,0)<1> N(0,1)<0;1,0> V3(0,0)<1;1,0> N(0,3)<0;1,0>"
            ));
        }
        let by = one(&["N(0,0)<0;1,0>", "N(0,2)<0;1,0>", "0x20:ud"]);
        line(format!("mul (M1, {lanes}) V4(0,0)<1> V3(0,0)<1;1,0> {by}"));
        if one(&["", "", "", "W"]) == "W" {
            line(format!("(P1) mov (M1, {lanes}) V4(0,0)<1> N(0,1)<0;1,0>"));
        }
        if one(&["", "", "block"]) == "block" {
            line(format!("(P1) goto (M1, {lanes}) ROWS\nROWS:"));
        }
    }
    let add = one(&[
        "add", "add", "add3", "add3", "add3", "mov", "mul", "lane", "lane",
    ]);
    let number = one(&["N(0,1)<0;1,0>", "(-)N(0,1)<0;1,0>", "0xffffffff:ud"]);
    let sign = one(&["", "(-)"]);
    line(match add.as_str() {
        _ if rows && one(&["row", "column"]) == "row" => {
            format!("add3 (M1, {lanes}) V1(0,0)<1> V4(0,0)<1;1,0> V0(0,0)<1;1,0> {number}")
        }
        _ if rows => {
            format!("add3 (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> V4(0,0)<1;1,0> {number}")
        }
        "add" => {
            format!("add (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> {sign}N(0,1)<0;1,0>")
        }
        "add3" => {
            format!("add3 (M1, {lanes}) V1(0,0)<1> N(0,0)<0;1,0> V0(0,0)<1;1,0> N(0,1)<0;1,0>")
        }
        "lane" => format!("add (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> V0(0,2)<0;1,0>"),
        // Not one that is known.
        "mul" => format!("mul (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> N(0,0)<0;1,0>"),
        _ => format!("mov (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0>"),
    });
    let kind = one(&["V1", "W1", "W1"]);
    line(format!("mov (M1, {lanes}) Q0(0,0)<1> {kind}(0,0)<1;1,0>"));
    let (element, shift) = match one(&["0", "1", "2", "2", "3"]).as_str() {
        "0" => ("d8u32", 0),
        "1" => ("d16u32", 1),
        "2" => ("d32", 2),
        _ => ("d64", 3),
    };
    // Now and then lanes are further apart than elements are large.
    let shift = shift + u32::from(one(&["", "", "", "", "", "", "apart"]) == "apart");
    line(format!(
        "shl (M1, {lanes}) Q1(0,0)<1> Q0(0,0)<1;1,0> {shift:#x}:uq"
    ));
    for number in 0..3 {
        let base = one(&["B(0,0)", "B(0,1)", "B(0,2)"]);
        line(format!(
            "add (M1, {lanes}) Q2(0,0)<1> Q1(0,0)<1;1,0> {base}<0;1,0>"
        ));
        let all = ["", "", "", "V", "Q", "N", "L", "D", "P", "S", "X"];
        let between = match one(&all).as_str() {
            "V" => format!("add (M1, {lanes}) E(0,0)<1> E(0,0)<1;1,0> V1(0,0)<1;1,0>"),
            "Q" => format!("add (M1, {lanes}) Q0(0,0)<1> Q1(0,0)<1;1,0> 0x10:uq"),
            "N" => "add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x2:ud".into(),
            "L" => format!("add (M1, {lanes}) L(0,0)<1> L(0,0)<1;1,0> 0x1:uw"),
            "D" => format!("mov (M1, {lanes}) V1(0,0)<1> D(0,0)<1;1,0>"),
            "S" => format!("(P1) lsc_load.slm (M1, {lanes}) V1:d32 flat[M]:a32"),
            // Numbers that the interpreter multiplies, most times, or zeros.
            "X" if lanes == 16 => {
                let factors = one(&["D", "E", "F"]);
                format!(
                    "mov (M1, 16) F(0,0)<1> {factors}(0,0)<1;1,0>\n\
                     dpas.bf.bf.8.1 (M1, 16) T.0 T.0 F.0 F(0,0)"
                )
            }
            "P" => format!("(P1) mov (M1, {lanes}) V1(0,0)<1> E(0,0)<1;1,0>"),
            _ => String::new(),
        };
        line(between);
        let add = one(&["", "+0x40", "-0x8"]);
        let predicate = one(&["", "", "", "", "", "", "(P1) "]);
        // Of addresses, too.
        let to = one(&["D", "E", "V1", "V1", "A"]);
        let to = if element == "d64" { "D" } else { to.as_str() };
        line(match one(&["load", "store"]).as_str() {
            "load" if number != 2 => {
                format!("{predicate}lsc_load.ugm (M1, {lanes}) {to}:{element} flat[Q2{add}]:a64")
            }
            _ => format!("{predicate}lsc_store.ugm (M1, {lanes}) flat[Q2{add}]:a64 {to}:{element}"),
        });
    }
    // What is left of vectors, in another block.
    line(format!(
        "(P1) goto (M1, {lanes}) NEXT\nmov (M1, {lanes}) E(0,0)<1> 0x7:ud\nNEXT:"
    ));
    for (at, vector) in ["D", "E", "V1", "V0"].into_iter().enumerate() {
        if at < 2 || one(&["", "", "used"]) == "used" {
            line(format!(
                "lsc_store.slm (M1, {lanes}) flat[M+{:#x}]:a32 {vector}:d32",
                0x100 + at * 0x100
            ));
        }
    }
    line("ret (M1, 1)".into());
    text + &lines.join("\n") + "\n"
}

/// What a thread leaves.
#[derive(PartialEq, Eq, Debug)]
struct Left {
    counters: Counters,
    global: Vec<u8>,
    local: Vec<u8>,
    fault: String,
}

/// The vector that addresses are computed from, the number that is added, bytes added to the base of the buffer, and the
/// row of each lane.
type Shape = (Vec<u32>, u32, i64, Vec<u32>);

fn run(program: &Program, shape: &Shape, mask: u32, seed: u32) -> Left {
    let (root, number, at, rows) = shape;
    let mut random = Random(seed);
    let mut bytes =
        |count: usize| -> Vec<u8> { (0..count).map(|_| random.next().to_le_bytes()[0]).collect() };
    let mut memory = Memory::new(1 << 20);
    let buffer = memory.add_buffer(&bytes(BYTES)).unwrap();
    // An address that is wrong by some 2^32 bytes is in one of these.
    let others: Vec<_> = (0..9)
        .map(|_| memory.add_buffer(&bytes(BYTES)).unwrap())
        .collect();
    let base = memory.address(buffer).wrapping_add_signed(*at);
    let slot = |name: &str| program.variable(name).unwrap();
    let bases = [base, base + 0x200, base + 0x400, 0];
    let start = ThreadStart {
        mask,
        cr0: 0x4c0,
        sets: vec![
            (
                slot("L"),
                root.iter()
                    .flat_map(|n| u16::try_from(*n).unwrap().to_le_bytes())
                    .collect(),
            ),
            (
                slot("R"),
                rows.iter()
                    .flat_map(|n| u16::try_from(*n).unwrap().to_le_bytes())
                    .collect(),
            ),
            (
                slot("M"),
                root.iter().flat_map(|n| (4 * n).to_le_bytes()).collect(),
            ),
            (
                slot("N"),
                [*number, 3, 5, 2]
                    .into_iter()
                    .flat_map(u32::to_le_bytes)
                    .collect(),
            ),
            (
                slot("B"),
                bases.into_iter().flat_map(u64::to_le_bytes).collect(),
            ),
            (slot("D"), bytes(256)),
            (slot("E"), bytes(256)),
            (slot("P1"), bytes(4)),
        ],
        ..ThreadStart::default()
    };
    let limits = Limits::default();
    let mut group = Group::new(program, BYTES, &[start], &limits).unwrap();
    let ran = group.run(program, &memory, &limits, &mut ());
    let mut global = vec![0; BYTES * 10];
    for (to, buffer) in global
        .chunks_mut(BYTES)
        .zip(std::iter::once(buffer).chain(others))
    {
        memory.read_into(buffer, 0, to);
    }
    Left {
        counters: group.counters(),
        global,
        local: group.slm().to_vec(),
        fault: ran.map_or_else(|fault| fault.to_string(), |_| String::new()),
    }
}

#[test]
fn as_interpreted() {
    let mut random = Random(0xadd);
    let mut faults = 0;
    for round in 0..ROUNDS {
        let lanes = [16, 32][round % 2];
        let text = text(lanes, &mut random);
        let program = translated(&text);
        let compiled: Vec<_> = compilers()
            .into_iter()
            .flat_map(|jit| {
                [Examined::Always, Examined::AtEnd, Examined::Never].map(|examined| {
                    let mut compiled = translated(&text);
                    compiled.examine_registers(examined);
                    compiled.compile_with(Arc::new(jit), 0);
                    (compiled, format!("{:?} {examined:?}", jit.features()))
                })
            })
            .collect();
        let row = |first: u32| (0..32).map(|n| first + n).collect::<Vec<u32>>();
        let first = random.next() % 64;
        let mut torn = row(0);
        torn[random.next() as usize % 32] = 9;
        let same = |n: u32| vec![n; 32];
        let mut two = same(1);
        two[16..].fill(2);
        let mut other = same(2);
        other[random.next() as usize % 32] = 3;
        let shapes: [Shape; 14] = [
            (row(0), 0, 0x100, same(1)),
            (row(first), 7, 0x100, same(3)),
            (row(first), 7, 0x100, two),
            (row(first), 7, 0x100, other),
            (row(0), 16, 0x100, row(0)),
            (same(2), 9, 0x100, row(1)),
            // Lanes around zero, and around the largest number.
            (row(0), 5u32.wrapping_neg(), 0x100, same(0)),
            (row(0), 0x7fff_fff0, 0x100, same(0)),
            // Up to the end of the buffer, and over it.
            (
                row(first),
                0,
                BYTES as i64 - 0x400 - 8 * i64::from(first) - 0x100,
                same(0),
            ),
            (row(0), random.next() % 1024, 0x40, same(2)),
            // Not a row.
            (torn.clone(), 0, 0x100, same(1)),
            (torn, 5, 0x100, row(0)),
            (vec![first; 32], 1, 0x100, same(1)),
            (
                (0..32).map(|_| random.next() % 64).collect(),
                2,
                0x100,
                same(1),
            ),
        ];
        let full = u32::MAX >> (32 - lanes);
        for (number, shape) in shapes.iter().enumerate() {
            for mask in [full, random.next() & full | 1] {
                let seed = random.next() | 1;
                let expected = run(&program, shape, mask, seed);
                faults += usize::from(!expected.fault.is_empty());
                for (compiled, what) in &compiled {
                    let left = run(compiled, shape, mask, seed);
                    assert_eq!(left.fault, expected.fault, "{text}{what}, shape {number}");
                    assert!(left == expected, "{text}{what}, shape {number}, {mask:#x}");
                }
            }
        }
    }
    // Of both there are many.
    let all = ROUNDS * 28;
    assert!(
        (all / 10..all * 9 / 10).contains(&faults),
        "{faults} of {all}"
    );
}

/// Runs a program without faults on rows that follow each other.
fn as_interpreted_once(text: &str) {
    let shape = ((0..32).collect(), 0, 0x100, vec![0; 32]);
    let expected = run(&translated(text), &shape, 0xffff, 7);
    assert_eq!(expected.fault, "");
    for jit in compilers() {
        let mut compiled = translated(text);
        compiled.examine_registers(Examined::Never);
        compiled.compile_with(Arc::new(jit), 0);
        let left = run(&compiled, &shape, 0xffff, 7);
        assert!(left == expected, "{:?}", jit.features());
    }
}

/// A vector that is not computed, of which a lane is added to all.
#[test]
fn a_lane_is_added() {
    let text = declarations(16)
        + "mov (M1, 16) V0(0,0)<1> L(0,0)<1;1,0>\n\
           add (M1, 16) V1(0,0)<1> V0(0,0)<1;1,0> V0(0,2)<0;1,0>\n\
           mov (M1, 16) Q0(0,0)<1> V1(0,0)<1;1,0>\n\
           shl (M1, 16) Q1(0,0)<1> Q0(0,0)<1;1,0> 0x2:uq\n\
           add (M1, 16) Q2(0,0)<1> Q1(0,0)<1;1,0> B(0,0)<0;1,0>\n\
           lsc_load.ugm (M1, 16) D:d32 flat[Q2]:a64\n\
           add (M1, 16) Q2(0,0)<1> Q1(0,0)<1;1,0> B(0,1)<0;1,0>\n\
           lsc_store.ugm (M1, 16) flat[Q2]:a64 D:d32\n\
           ret (M1, 1)\n";
    as_interpreted_once(&text);
}

/// A vector of addresses that only an address reads, before it is overwritten.
#[test]
fn read_by_address_alone() {
    let text = declarations(16)
        + ".decl A0 v_type=A num_elts=1\n\
           addr_add (M1_NM, 1) A0(0)<1> &V1 0x0:uw\n\
           mov (M1, 16) V0(0,0)<1> L(0,0)<1;1,0>\n\
           add (M1, 16) V1(0,0)<1> V0(0,0)<1;1,0> N(0,1)<0;1,0>\n\
           mov (M1, 16) Q0(0,0)<1> V1(0,0)<1;1,0>\n\
           shl (M1, 16) Q1(0,0)<1> Q0(0,0)<1;1,0> 0x2:uq\n\
           add (M1, 16) Q2(0,0)<1> Q1(0,0)<1;1,0> B(0,0)<0;1,0>\n\
           lsc_load.ugm (M1, 16) D:d32 flat[Q2]:a64\n\
           mov (M1, 16) E(0,0)<1> r[A0(0),0]<0;1,0>:ud\n\
           mov (M1, 16) V1(0,0)<1> 0x0:ud\n\
           lsc_store.ugm (M1, 16) flat[Q2]:a64 E:d32\n\
           ret (M1, 1)\n";
    as_interpreted_once(&text);
}
