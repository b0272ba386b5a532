//! Messages whose addresses follow each other because of how they are computed, whether lanes do follow each other or not,
//! inside of memory and outside.

use super::{Writer, bytes, case, named, some_lanes};
use crate::generate::{Case, Pool, Start};
use fastrand::Rng;

/// Bytes of a buffer, and of shared local memory.
const BYTES: usize = 4096;

/// Buffers: an address that is wrong by some 2^32 bytes is in one of these.
const BUFFERS: usize = 10;

const DECLARATIONS: &str = "\
.decl L v_type=G type=uw num_elts=32 align=GRF
.decl R v_type=G type=uw num_elts=32 align=GRF
.decl M v_type=G type=ud num_elts=32 align=GRF
.decl MD v_type=G type=d num_elts=32 align=GRF alias=<M, 0>
.decl N v_type=G type=ud num_elts=4 align=GRF
.decl B v_type=G type=uq num_elts=4 align=GRF
.decl D v_type=G type=ud num_elts=64 align=GRF
.decl E v_type=G type=ud num_elts=64 align=GRF
.decl T v_type=G type=f num_elts=128 align=GRF
.decl F v_type=G type=ud num_elts=128 align=GRF";

fn declare(to: &mut Writer<'_>) {
    to.vectors("ud", named("V", 0..5));
    to.vectors("uq", named("Q", 0..5));
    for n in 0..5 {
        to.line(&format!(
            ".decl W{n} v_type=G type=d num_elts=32 align=GRF alias=<V{n}, 0>"
        ));
    }
    to.line(".decl A v_type=G type=ud num_elts=64 align=GRF alias=<Q2, 0>");
    to.predicates(["P1".into()]);
    to.begin();
}

/// Rows: a vector that may have the same number in all lanes, and products with it.
fn rows(to: &mut Writer<'_>) {
    let lanes = to.lanes;
    let from = to.pick(&["R", "R", "L", "V0"]);
    to.line(&format!("mov (M1, {lanes}) V3(0,0)<1> {from}(0,0)<1;1,0>"));
    if to.once_in(2) {
        to.line(&format!(
            "add3 (M1, {lanes}) V3(0,0)<1> N(0,1)<0;1,0> V3(0,0)<1;1,0> N(0,3)<0;1,0>"
        ));
    }
    let by = to.pick(&["N(0,0)<0;1,0>", "N(0,2)<0;1,0>", "0x20:ud"]);
    to.line(&format!("mul (M1, {lanes}) V4(0,0)<1> V3(0,0)<1;1,0> {by}"));
    if to.once_in(4) {
        to.line(&format!("(P1) mov (M1, {lanes}) V4(0,0)<1> N(0,1)<0;1,0>"));
    }
    if to.once_in(3) {
        to.line(&format!("(P1) goto (M1, {lanes}) ROWS\nROWS:"));
    }
}

/// The vector from which addresses are computed.
fn vector(to: &mut Writer<'_>) {
    let lanes = to.lanes;
    if to.once_in(2) {
        to.line("mul (M1_NM, 1) N(0,1)<1> N(0,2)<0;1,0> N(0,3)<0;1,0>");
    }
    let from = to.pick(&["L", "L", "M", "MD"]);
    if to.once_in(4) {
        to.line(&format!(
            "add (M1, {lanes}) M(0,0)<1> M(0,0)<1;1,0> N(0,0)<0;1,0>"
        ));
    }
    to.line(&format!("mov (M1, {lanes}) V0(0,0)<1> {from}(0,0)<1;1,0>"));
    let has_rows = to.below(3) != 0;
    if has_rows {
        rows(to);
    }
    let number = to.pick(&["N(0,1)<0;1,0>", "(-)N(0,1)<0;1,0>", "0xffffffff:ud"]);
    let sign = to.pick(&["", "(-)"]);
    let kind = match has_rows {
        true => to.pick(&["row", "column"]),
        false => to.pick(&["add", "add", "add3", "add3", "mov", "mul", "lane", "lane"]),
    };
    let line = match kind {
        "row" => format!("add3 (M1, {lanes}) V1(0,0)<1> V4(0,0)<1;1,0> V0(0,0)<1;1,0> {number}"),
        "column" => format!("add3 (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> V4(0,0)<1;1,0> {number}"),
        "add" => format!("add (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> {sign}N(0,1)<0;1,0>"),
        "add3" => {
            format!("add3 (M1, {lanes}) V1(0,0)<1> N(0,0)<0;1,0> V0(0,0)<1;1,0> N(0,1)<0;1,0>")
        }
        "lane" => format!("add (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> V0(0,2)<0;1,0>"),
        // Not one that is known.
        "mul" => format!("mul (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0> N(0,0)<0;1,0>"),
        _ => format!("mov (M1, {lanes}) V1(0,0)<1> V0(0,0)<1;1,0>"),
    };
    to.line(&line);
    let of = to.pick(&["V1", "W1", "W1"]);
    to.line(&format!("mov (M1, {lanes}) Q0(0,0)<1> {of}(0,0)<1;1,0>"));
}

/// What stands between messages: vectors and numbers are used and overwritten.
fn between(to: &mut Writer<'_>) {
    let lanes = to.lanes;
    let line = match to.below(11) {
        0 => format!("add (M1, {lanes}) E(0,0)<1> E(0,0)<1;1,0> V1(0,0)<1;1,0>"),
        1 => format!("add (M1, {lanes}) Q0(0,0)<1> Q1(0,0)<1;1,0> 0x10:uq"),
        2 => "add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x2:ud".into(),
        3 => format!("add (M1, {lanes}) L(0,0)<1> L(0,0)<1;1,0> 0x1:uw"),
        4 => format!("mov (M1, {lanes}) V1(0,0)<1> D(0,0)<1;1,0>"),
        5 => format!("(P1) lsc_load.slm (M1, {lanes}) V1:d32 flat[M]:a32"),
        6 => format!("(P1) mov (M1, {lanes}) V1(0,0)<1> E(0,0)<1;1,0>"),
        // Numbers that the interpreter multiplies, most times, or zeros.
        7 if lanes == 16 => {
            let factors = to.pick(&["D", "E", "F"]);
            format!(
                "mov (M1, 16) F(0,0)<1> {factors}(0,0)<1;1,0>\n\
                 dpas.bf.bf.8.1 (M1, 16) T.0 T.0 F.0 F(0,0)"
            )
        }
        _ => return,
    };
    to.line(&line);
}

/// Addresses computed from one vector, and messages at them.
fn text(rng: &mut Rng, lanes: u32) -> String {
    let mut to = Writer::new(rng, lanes, &[DECLARATIONS]);
    declare(&mut to);
    vector(&mut to);
    let (element, shift) = match to.below(5) {
        0 => ("d8u32", 0),
        1 => ("d16u32", 1),
        2 | 3 => ("d32", 2),
        _ => ("d64", 3),
    };
    // Now and then lanes are further apart than elements are large.
    let shift = shift + u32::from(to.once_in(7));
    to.line(&format!(
        "shl (M1, {lanes}) Q1(0,0)<1> Q0(0,0)<1;1,0> {shift:#x}:uq"
    ));
    for number in 0..3 {
        let base = to.below(3);
        to.line(&format!(
            "add (M1, {lanes}) Q2(0,0)<1> Q1(0,0)<1;1,0> B(0,{base})<0;1,0>"
        ));
        between(&mut to);
        let add = to.pick(&["", "+0x40", "-0x8"]);
        let predicate = to.pick(&["", "", "", "", "", "", "(P1) "]);
        // Of addresses, too.
        let data = to.pick(&["D", "E", "V1", "V1", "A"]);
        let data = if element == "d64" { "D" } else { data };
        let line = match number != 2 && to.once_in(2) {
            true => {
                format!("{predicate}lsc_load.ugm (M1, {lanes}) {data}:{element} flat[Q2{add}]:a64")
            }
            false => {
                format!("{predicate}lsc_store.ugm (M1, {lanes}) flat[Q2{add}]:a64 {data}:{element}")
            }
        };
        to.line(&line);
    }
    // What is left of vectors, in another block.
    to.line(&format!(
        "(P1) goto (M1, {lanes}) NEXT\nmov (M1, {lanes}) E(0,0)<1> 0x7:ud\nNEXT:"
    ));
    for (at, vector) in ["D", "E", "V1", "V0"].into_iter().enumerate() {
        if at < 2 || to.once_in(3) {
            to.line(&format!(
                "lsc_store.slm (M1, {lanes}) flat[M+{:#x}]:a32 {vector}:d32",
                0x100 + at * 0x100
            ));
        }
    }
    to.end()
}

/// The vector that addresses are computed from, the number that is added, bytes added to the base of the buffer, and the
/// row of each lane.
type Shape = (Vec<u32>, u32, i64, Vec<u32>);

fn shapes(rng: &mut Rng) -> [Shape; 14] {
    let row = |first: u32| (0..32).map(|n| first + n).collect::<Vec<u32>>();
    let same = |n: u32| vec![n; 32];
    let first = rng.u32(..64);
    let mut torn = row(0);
    torn[rng.usize(..32)] = 9;
    let mut two = same(1);
    two[16..].fill(2);
    let mut other = same(2);
    other[rng.usize(..32)] = 3;
    [
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
            BYTES as i64 - 0x500 - 8 * i64::from(first),
            same(0),
        ),
        (row(0), rng.u32(..1024), 0x40, same(2)),
        // Not a row.
        (torn.clone(), 0, 0x100, same(1)),
        (torn, 5, 0x100, row(0)),
        (vec![first; 32], 1, 0x100, same(1)),
        ((0..32).map(|_| rng.u32(..64)).collect(), 2, 0x100, same(1)),
    ]
}

fn start(rng: &mut Rng, lanes: u32, shape: &Shape, buffer: u64) -> Start {
    let (root, number, at, rows) = shape;
    let base = buffer.wrapping_add_signed(*at);
    let words = |all: &[u32]| {
        bytes(all.iter().copied())
            .chunks(4)
            .flat_map(|w| [w[0], w[1]])
            .collect()
    };
    let mut any = |count: usize| (0..count).map(|_| rng.u8(..)).collect::<Vec<u8>>();
    let bases = [base, base + 0x200, base + 0x400, 0];
    let sets = [
        ("L", words(root)),
        ("R", words(rows)),
        ("M", bytes(root.iter().map(|n| 4 * n))),
        ("N", bytes([*number, 3, 5, 2])),
        ("B", bases.into_iter().flat_map(u64::to_le_bytes).collect()),
        ("D", any(256)),
        ("E", any(256)),
        ("P1", any(4)),
    ];
    Start {
        mask: some_lanes(rng, lanes),
        sets: sets.map(|(name, bytes)| (name.to_owned(), bytes)).into(),
    }
}

pub(crate) fn program(rng: &mut Rng) -> Case {
    let lanes = *rng.choice(&[16, 32]).unwrap_or(&16);
    let text = text(rng, lanes);
    let buffers: Vec<Vec<u8>> = (0..BUFFERS)
        .map(|_| (0..BYTES).map(|_| rng.u8(..)).collect())
        .collect();
    let addresses = Pool::addresses(&buffers);
    let base = addresses.first().copied().unwrap_or(0);
    let starts = shapes(rng)
        .iter()
        .map(|shape| start(rng, lanes, shape, base))
        .collect();
    Case {
        grf: 32,
        buffers,
        addresses,
        ..case(&text, BYTES, starts)
    }
}
