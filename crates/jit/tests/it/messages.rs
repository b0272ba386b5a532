//! Messages with a template behave as in the interpreter: loads, stores and atomics of every element, with every
//! arrangement of lanes, inside and outside of memory.

use super::{Random, compilers, translated};
use std::sync::Arc;
use visakit_exec::memory::Surface;
use visakit_exec::{Examined, Group, Limits, Memory, Program, ThreadStart};
use visakit_jit::{Features, Jit, Path, taken};

/// Bytes of the buffer and of shared local memory.
const BYTES: u32 = 4096;

fn kernel(lanes: u32, lines: &str) -> Program {
    let text = format!(
        ".version 4.1\n.kernel \"m\"\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl Q v_type=G type=uq num_elts=32 align=GRF\n\
         .decl S v_type=G type=ud num_elts=256 align=GRF\n\
         .decl T v_type=G type=ud num_elts=256 align=GRF\n\
         .decl D v_type=G type=ud num_elts=256 align=GRF\n\
         .decl R v_type=G type=uq num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n\
         .kernel_attr SimdSize={lanes}\n{lines}\nret (M1, 1)\n"
    );
    translated(&text)
}

/// Offsets of lanes with elements of this size.
fn offsets(shape: u32, size: u32, random: &mut Random) -> Vec<u32> {
    let within = |n: u32| n % (BYTES / size / 2) * size;
    let first = within(random.next());
    let place = |lane: u32, random: &mut Random| match shape {
        0 => first + lane * size,
        1 => first,
        2 => within(random.next()),
        3 => lane * size * 3,
        // Few places, so that lanes collide.
        4 => first + random.next() % 4 * size,
        // The last element, then outside.
        5 => BYTES - 8 * size + lane * size,
        6 => BYTES - size,
        // Near each other, the first lane in front.
        10 => first + lane * 5 % 16 * size,
        // Backwards, each next to the one before.
        11 => first + (31 - lane) * size,
        // Not aligned.
        7 => first + lane * size + 1,
        // Five lanes up to the end; the others anywhere.
        8 if lane < 5 => BYTES - (5 - lane) * size,
        _ => random.next(),
    };
    (0..32).map(|lane| place(lane, random)).collect()
}

/// The buffer.
#[derive(Clone, Copy)]
struct Buffer {
    bytes: u32,
    /// Whether accesses outside of it are no faults.
    lenient: bool,
}

/// The state after a run.
#[derive(PartialEq, Eq, Debug)]
struct Left {
    registers: Vec<u8>,
    local: Vec<u8>,
    global: Vec<u8>,
    fault: String,
}

fn run(program: &Program, offsets: &[u32], mask: u32, seed: u32, buffer: Buffer) -> Left {
    let mut random = Random(seed);
    let mut bytes = |count: usize| -> Vec<u8> {
        (0..count / 4)
            .flat_map(|_| random.next().to_le_bytes())
            .collect()
    };
    let mut memory = Memory::new(1 << 20);
    memory.set_lenient(buffer.lenient);
    let buffer_bytes = buffer.bytes;
    let buffer = memory.add_buffer(&bytes(buffer_bytes as usize)).unwrap();
    let base = memory.address(buffer);
    let surface = Surface::Buffer {
        buffer,
        offset: 0,
        size: buffer_bytes.into(),
    };
    memory.bind(5, surface).unwrap();
    let slot = |name: &str| program.variable(name).unwrap();
    let narrow = offsets.iter().flat_map(|o| o.to_le_bytes()).collect();
    let wide = offsets.iter().map(|o| base.wrapping_add((*o).into()));
    let wide = wide.flat_map(u64::to_le_bytes).collect();
    let start = ThreadStart {
        mask,
        cr0: 0x4c0,
        sets: vec![
            (slot("A"), narrow),
            (slot("Q"), wide),
            (slot("S"), bytes(1024)),
            (slot("T"), bytes(1024)),
            (slot("D"), bytes(1024)),
            (slot("P1"), bytes(4)),
        ],
        ..ThreadStart::default()
    };
    let limits = Limits::default();
    let mut group = Group::new(program, BYTES as usize, &[start], &limits).unwrap();
    let fault = group.run(program, &memory, &limits, &mut ());
    let mut global = vec![0; buffer_bytes as usize];
    memory.read_into(buffer, 0, &mut global);
    Left {
        registers: group.thread(0).unwrap().registers().to_vec(),
        local: group.slm().to_vec(),
        global,
        fault: fault.map_or_else(|fault| fault.to_string(), |_| String::new()),
    }
}

/// Compares one message with elements of this size in all shapes, and checks whether it has a template.
fn check(lanes: u32, size: u32, lines: &str, template: bool) {
    let buffer = Buffer {
        bytes: BYTES,
        lenient: false,
    };
    check_in(buffer, lanes, size, lines, template);
}

/// Compares one message on this buffer.
fn check_in(buffer: Buffer, lanes: u32, size: u32, lines: &str, template: bool) {
    check_examined(buffer, Examined::Always, (lanes, size), lines, template);
}

/// Compares one message on this buffer: what is in memory, where registers are never examined.
fn check_examined(
    buffer: Buffer,
    examined: Examined,
    (lanes, size): (u32, u32),
    lines: &str,
    template: bool,
) {
    let program = kernel(lanes, lines);
    let compiled: Vec<_> = compilers()
        .into_iter()
        .map(|jit| {
            let calls = jit.calls(program.code()).unwrap();
            assert_eq!(calls.is_empty(), template, "{lines}, {:?}", jit.features());
            let mut compiled = kernel(lanes, lines);
            compiled.examine_registers(examined);
            compiled.compile_with(Arc::new(jit.traced()), 0);
            (compiled, jit.features())
        })
        .collect();
    let mut random = Random(lanes * 31 + size);
    let full = u32::MAX >> (32 - lanes);
    for shape in 0..12 {
        let offsets = offsets(shape, size, &mut random);
        for mask in [full, random.next() & full | 1, 0x1f & full] {
            let seed = random.next() | 1;
            let run = |program: &Program| {
                let mut left = run(program, &offsets, mask, seed, buffer);
                if examined == Examined::Never {
                    left.registers.clear();
                }
                left
            };
            let expected = run(&program);
            for (compiled, features) in &compiled {
                let left = run(compiled);
                assert!(
                    left == expected,
                    "{lines}, shape {shape}, {features:?}, {mask:#x}: {} {}",
                    left.fault,
                    expected.fault,
                );
            }
        }
    }
}

/// Shared local memory, a buffer, and the same as a surface.
const PLACES: [(&str, &str); 3] = [
    ("slm", "flat[A]:a32"),
    ("ugm", "flat[Q]:a64"),
    ("ugm", "bti(0x5)[A]:a32"),
];

/// Elements of lanes, and their sizes. Several of a lane overlap those of the next.
const ELEMENTS: [(&str, u32); 6] = [
    ("d8u32", 1),
    ("d16u32", 2),
    ("d32", 4),
    ("d32x2", 4),
    ("d32x3", 4),
    ("d64", 8),
];

#[test]
fn blocks() {
    for (memory, address) in PLACES {
        for (element, size) in [("d32x4t", 4), ("d32x8t", 4), ("d64x2t", 8)] {
            let lines = format!(
                "lsc_store.{memory} (M1_NM, 1) {address} S:{element}\n\
                 lsc_load.{memory} (M1_NM, 1) D:{element} {address}"
            );
            check(32, size, &lines, true);
        }
    }
}

#[test]
fn elements() {
    for lanes in [32, 16, 8, 1] {
        for (memory, address) in PLACES {
            for (element, size) in ELEMENTS {
                for predicate in ["", "(P1) "] {
                    // What is stored first is then loaded.
                    let lines = format!(
                        "{predicate}lsc_store.{memory} (M1, {lanes}) {address} S:{element}\n\
                         {predicate}lsc_load.{memory} (M1, {lanes}) D:{element} {address}"
                    );
                    check(lanes, size, &lines, true);
                }
            }
        }
    }
}

/// Lanes of two to four dwords, that overlap each other in part, follow each other, or are further apart.
#[test]
fn several_elements() {
    several(&[
        ("d32x2", [4, 8, 12]),
        ("d32x3", [4, 12, 16]),
        ("d32x4", [8, 16, 32]),
    ]);
}

/// Elements of eight bytes, next to each other or not, that overlap each other in part.
#[test]
fn qwords() {
    several(&[("d64", [8, 4, 24]), ("d64x2", [8, 16, 32])]);
}

/// Stores and loads elements that are so many bytes apart; all ways are taken.
fn several(elements: &[(&str, [u32; 3])]) {
    let ways = [
        Path::Rows,
        Path::Pairs,
        Path::PairsMasked,
        Path::RowsStored,
        Path::PairsStored,
        Path::PairsStoredMasked,
    ];
    let times = || -> Vec<u64> {
        let all = taken();
        let of = |way: &Path| all.iter().find(|(path, _)| path == way).unwrap().1;
        ways.iter().map(of).collect()
    };
    let before = times();
    for lanes in [32, 16, 8] {
        for (memory, address) in PLACES {
            for (element, sizes) in elements {
                for (size, predicate) in sizes.iter().flat_map(|n| [(*n, ""), (*n, "(P1) ")]) {
                    // Values from the file and from registers, to both.
                    let lines = format!(
                        "{predicate}lsc_store.{memory} (M1, {lanes}) {address} S:{element}
                         {predicate}lsc_load.{memory} (M1, {lanes}) D:{element} {address}
                         add (M1, {lanes}) T(0,0)<1> D(0,0)<1;1,0> S(0,0)<1;1,0>
                         {predicate}lsc_store.{memory} (M1, {lanes}) {address} T:{element}
                         {predicate}lsc_load.{memory} (M1, {lanes}) S:{element} {address}
                         add (M1, {lanes}) T(0,0)<1> D(0,0)<1;1,0> S(0,0)<1;1,0>"
                    );
                    check(lanes, size, &lines, true);
                }
            }
        }
    }
    let host = Jit::host().map(|jit| jit.features());
    for ((way, before), after) in ways.iter().zip(before).zip(times()) {
        // AVX2 stores lanes that do not follow each other one by one.
        let needed = match way {
            Path::PairsStored | Path::PairsStoredMasked => host == Some(Features::Avx512),
            _ => host.is_some(),
        };
        assert!(!needed || after > before, "{way:?}");
    }
}

/// Addresses that are computed from numbers that follow each other, as many bytes apart as a lane has.
#[test]
fn several_elements_at_linear_addresses() {
    let times = || {
        let all = taken().into_iter();
        let own = all.filter(|(path, _)| *path == Path::LinearSeveral);
        own.map(|(_, times)| times).sum::<u64>()
    };
    let before = times();
    for lanes in [32, 16] {
        for (element, shift) in [
            ("d32x2", 3),
            ("d32x3", 3),
            ("d32x4", 4),
            ("d32x2", 4),
            ("d32x4", 3),
        ] {
            for bytes in [1 << 14, 3000] {
                let lines = format!(
                    "shr (M1, {lanes}) T(0,0)<1> A(0,0)<1;1,0> 0x2:ud\n\
                     jmp (M1, 1) NEXT\n\
                     NEXT:\n\
                     mov (M1, {lanes}) R(0,0)<1> T(0,0)<1;1,0>\n\
                     shl (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> {shift:#x}:uq\n\
                     add (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> Q(0,0)<0;1,0>\n\
                     lsc_load.ugm (M1, {lanes}) D:{element} flat[R]:a64\n\
                     add (M1, {lanes}) D(0,0)<1> D(0,0)<1;1,0> S(0,0)<1;1,0>\n\
                     lsc_store.ugm (M1, {lanes}) flat[R]:a64 D:{element}\n\
                     lsc_store.ugm (M1, {lanes}) flat[R+0x100]:a64 S:{element}\n\
                     lsc_load.ugm (M1, {lanes}) S:{element} flat[R+0xfc]:a64"
                );
                let buffer = Buffer {
                    bytes,
                    lenient: false,
                };
                check_examined(buffer, Examined::Never, (lanes, 4), &lines, true);
            }
        }
    }
    assert!(compilers().is_empty() || times() > before);
}

/// Vectors that only addresses are computed from are not computed, unless something reads of them what nothing has written
/// over in the meantime.
#[test]
fn addresses_that_are_written_over_in_part() {
    let buffer = Buffer {
        bytes: 1 << 14,
        lenient: false,
    };
    for lanes in [32, 16] {
        for over in [
            "",
            "mov (M1_NM, 4) R(0,4)<1> Q(0,4)<1;1,0>",
            "(P1) mov (M1, LANES) R(0,0)<1> Q(0,0)<1;1,0>",
            "mov (M1, LANES) R(0,0)<1> Q(0,0)<1;1,0>",
            "lsc_load.ugm (M1_NM, 1) R:d64x4t flat[Q]:a64",
            "lsc_load.slm (M1, LANES) R:d32 flat[A]:a32",
            "lsc_load.slm (M1, LANES) R:d64 flat[A]:a32",
        ] {
            let lines = format!(
                "shr (M1, {lanes}) T(0,0)<1> A(0,0)<1;1,0> 0x2:ud\n\
                 jmp (M1, 1) NEXT\n\
                 NEXT:\n\
                 mov (M1, {lanes}) R(0,0)<1> T(0,0)<1;1,0>\n\
                 shl (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> 0x2:uq\n\
                 add (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> Q(0,0)<0;1,0>\n\
                 lsc_load.ugm (M1, {lanes}) D:d32 flat[R]:a64\n\
                 {}\n\
                 lsc_store.slm (M1, {lanes}) flat[A]:a32 R:d64",
                over.replace("LANES", &lanes.to_string())
            );
            check_examined(buffer, Examined::Never, (lanes, 4), &lines, true);
        }
    }
}

/// Registers of the host hold values over messages, also if the interpreter runs these, or if no lane is enabled.
#[test]
fn values_around_messages() {
    for lanes in [32, 16, 8] {
        let half = lanes / 8;
        for (memory, address) in PLACES {
            for (element, size, parts) in [
                ("d32", 4, 1),
                ("d32x2", 4, 2),
                ("d32x4", 4, 4),
                ("d16u32", 2, 1),
            ] {
                for predicate in ["", "(P1) "] {
                    let add = |to: &str, a: &str, b: &str| {
                        format!("add (M1, {lanes}) {to}<1> {a}<1;1,0> {b}<1;1,0>\n")
                    };
                    let last = format!("D({},0)", (parts - 1) * half);
                    let mut lines = add("T(0,0)", "T(8,0)", "S(0,0)");
                    lines += &format!(
                        "{predicate}lsc_load.{memory} (M1, {lanes}) D:{element} {address}\n"
                    );
                    lines += &add("T(8,0)", "D(0,0)", "T(0,0)");
                    lines += &add("T(16,0)", &last, "T(8,0)");
                    lines += &format!(
                        "{predicate}lsc_store.{memory} (M1, {lanes}) {address} T:{element}\n"
                    );
                    lines += &add("T(20,0)", "T(0,0)", "T(16,0)");
                    lines += &format!(
                        "{predicate}lsc_load.{memory} (M1, {lanes}) T:{element} {address}\n"
                    );
                    // Over its own addresses.
                    lines +=
                        &format!("{predicate}lsc_load.{memory} (M1, {lanes}) A:d32 {address}\n");
                    lines += &add("D(0,0)", "A(0,0)", "T(0,0)");
                    lines += &add("D(16,0)", "T(0,0)", &last);
                    check(lanes, size, &lines, true);
                }
            }
        }
    }
}

#[test]
fn atomics() {
    let operations = [
        ("load", "%null %null"),
        ("store", "S %null"),
        ("iinc", "%null %null"),
        ("idec", "%null %null"),
        ("iadd", "S %null"),
        ("isub", "S %null"),
        ("smin", "S %null"),
        ("smax", "S %null"),
        ("umin", "S %null"),
        ("umax", "S %null"),
        ("icas", "S T"),
        ("and", "S %null"),
        ("or", "S %null"),
        ("xor", "S %null"),
        ("fadd", "S %null"),
        ("fsub", "S %null"),
        ("fmin", "S %null"),
        ("fmax", "S %null"),
        ("fcas", "S T"),
    ];
    for lanes in [32, 16, 8, 1] {
        for (memory, address) in PLACES {
            for (element, size) in [("d16u32", 2), ("d32", 4), ("d64", 8)] {
                for (operation, sources) in operations {
                    for (predicate, result) in [("", "D"), ("(P1) ", "D"), ("(P1) ", "%null")] {
                        // Exchanges that succeed in some lanes.
                        let lines = format!(
                            "lsc_store.{memory} (M1, {lanes}) {address} S:{element}\n\
                             {predicate}lsc_atomic_{operation}.{memory} (M1, {lanes}) \
                             {result}:{element} {address} {sources}"
                        );
                        let template = size != 2 || !operation.starts_with('f');
                        check(lanes, size, &lines, template);
                    }
                }
            }
        }
    }
}

/// A lane's result must not be read by a later lane; its address is not read again.
#[test]
fn results_over_operands() {
    for (result, template) in [("S", false), ("A", true)] {
        let lines = format!("lsc_atomic_iadd.slm (M1, 16) {result}:d32 flat[A]:a32 S %null");
        check(16, 4, &lines, template);
    }
}

/// Addresses that differ by something uniform: whether lanes follow each other is determined once for all of them, unless
/// the interpreter ran a message in between, as it does for reads over the end of a buffer.
#[test]
fn addresses_apart_by_something_uniform() {
    for lanes in [16, 32] {
        let same = format!(
            "lsc_load.ugm (M1, {lanes}) D:d32 flat[Q]:a64\n\
             add (M1, {lanes}) R(0,0)<1> Q(0,0)<1;1,0> 0xffffffffffffff00:q\n\
             lsc_store.ugm (M1, {lanes}) flat[R]:a64 D:d32\n\
             add (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> 0x40:q\n\
             lsc_load.ugm (M1, {lanes}) T:d32 flat[R]:a64\n\
             lsc_load.ugm (M1, {lanes}) S:d8c32 flat[Q]:a64\n\
             lsc_store.ugm (M1, {lanes}) flat[R]:a64 S:d32"
        );
        // Some lanes of the second addresses have others than the first, and so have those of the third.
        let other = format!(
            "lsc_load.ugm (M1, {lanes}) D:d32 flat[Q]:a64\n\
             add (M1_NM, 4) Q(0,4)<1> Q(0,4)<1;1,0> 0x8:q\n\
             lsc_load.ugm (M1, {lanes}) T:d32 flat[Q]:a64\n\
             add (M1, {lanes}) R(0,0)<1> Q(0,0)<1;1,0> 0x10:q\n\
             mov (M1_NM, 1) R(0,5)<1> R(0,4)<0;1,0>\n\
             lsc_store.ugm (M1, {lanes}) flat[R]:a64 T:d32\n\
             (P1) add (M1, {lanes}) Q(0,0)<1> R(0,0)<1;1,0> 0x20:q\n\
             lsc_load.ugm (M1, {lanes}) S:d32 flat[Q]:a64"
        );
        // The first access of the second addresses is outside of everything.
        let outside = format!(
            "lsc_load.ugm (M1, {lanes}) D:d32 flat[Q]:a64\n\
             mov (M1, {lanes}) R(0,0)<1> Q(0,0)<1;1,0>\n\
             add (M1_NM, 4) R(0,4)<1> Q(0,4)<1;1,0> 0x8:q\n\
             add (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> 0x10000000000:q\n\
             lsc_load.ugm (M1, {lanes}) T:d32 flat[R]:a64\n\
             add (M1, {lanes}) R(0,0)<1> R(0,0)<1;1,0> 0xffffff0000000000:q\n\
             lsc_store.ugm (M1, {lanes}) flat[R]:a64 D:d32"
        );
        for lines in [same, other, outside] {
            for bytes in [BYTES, BYTES - 20, BYTES - 132, 200] {
                for lenient in [false, true] {
                    check_in(Buffer { bytes, lenient }, lanes, 4, &lines, true);
                }
            }
        }
    }
}
