//! Live ranges, pressure and profiles of texts and of the corpora.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::single_range_in_vec_init,
    clippy::unwrap_used
)] // tests

use std::collections::BTreeMap;
use std::ops::Range;
use visakit_analysis::{Liveness, Pressure, Profile, Root, match_kernels};
use visakit_isa::object::{Body, Object, RoutineId, RoutineKind};
use visakit_text::asm;

fn object(lines: &str) -> Object<'static> {
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
    for name in ["A", "B", "C", "D"] {
        text += &format!(".decl {name} v_type=G type=d num_elts=16 align=GRF\n");
    }
    text += ".decl WIDE v_type=G type=d num_elts=64 align=GRF\n";
    text += ".decl BYTES v_type=G type=ub num_elts=64 align=GRF alias=<A, 0>\n";
    text += ".decl N v_type=G type=d num_elts=1 align=dword\n";
    text += ".decl A0 v_type=A num_elts=1\n.decl P1 v_type=P num_elts=16\n";
    text += ".input A offset=32 size=64\n.kernel_attr SimdSize=16\n";
    text += lines;
    asm::assemble(text.as_bytes(), &asm::Options::default())
        .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message))
        .into_owned()
}

fn body<'o>(object: &'o Object<'_>) -> &'o Body<'o> {
    let id = RoutineId::new(RoutineKind::Kernel, 0);
    object.routine(id).unwrap().body().unwrap()
}

/// Live ranges by name.
fn live(lines: &str) -> BTreeMap<String, Vec<Range<usize>>> {
    let object = object(lines);
    let body = body(&object);
    let liveness = Liveness::of(&object, body, 32);
    let named = liveness.ranges.into_iter().map(|range| {
        let Root::Own(index) = range.root else {
            panic!("{range:?}");
        };
        let name = body.string(body.variables[index].name).unwrap();
        (String::from_utf8_lossy(name).into_owned(), range.code)
    });
    named.collect()
}

#[test]
fn from_the_first_write_to_the_last_read() {
    let live = live(
        "\
add (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 0x1:d
mov (M1, 16) C(0,0)<1> 0x2:d
add (M1, 16) D(0,0)<1> B(0,0)<1;1,0> C(0,0)<1;1,0>
mov (M1, 16) C(0,0)<1> D(0,0)<1;1,0>
ret (M1, 1)
",
    );
    // An input holds something from the start; the last write of C is of no use.
    assert_eq!(live["A"], [0..1]);
    assert_eq!(live["B"], [0..3]);
    assert_eq!(live["C"], [1..4]);
    assert_eq!(live["D"], [2..4]);
}

#[test]
fn pieces_begin_with_the_first() {
    let live = live(
        "\
mov (M1, 16) WIDE(0,0)<1> 0x1:d
mov (M1, 16) WIDE(2,0)<1> 0x2:d
mov (M1, 16) WIDE(4,0)<1> 0x3:d
mov (M1, 16) WIDE(6,0)<1> 0x4:d
mov (M1, 1) N(0,0)<1> WIDE(0,0)<0;1,0>
mov (M1, 16) B(0,0)<1> BYTES(0,0)<0;1,0>
add (M1, 16) C(0,0)<1> N(0,0)<0;1,0> WIDE(6,0)<1;1,0>
ret (M1, 1)
",
    );
    assert_eq!(live["WIDE"], [0..7]);
    assert_eq!(live["N"], [4..7]);
    // The alias is a part of A.
    assert_eq!(live["A"], [0..6]);
}

#[test]
fn around_loops_and_over_branches() {
    let live = live(
        "\
mov (M1, 16) B(0,0)<1> 0x1:d
mov (M1, 16) D(0,0)<1> 0x1:d
again:
add (M1, 16) C(0,0)<1> B(0,0)<1;1,0> A(0,0)<1;1,0>
mov (M1, 16) B(0,0)<1> C(0,0)<1;1,0>
cmp.lt (M1, 16) P1 C(0,0)<1;1,0> 0x10:d
(P1) goto (M1, 16) again
add (M1, 16) D(0,0)<1> D(0,0)<1;1,0> B(0,0)<1;1,0>
ret (M1, 1)
",
    );
    assert_eq!(live["A"], [0..7], "what a loop reads matters until it ends");
    assert_eq!(live["B"], [0..8]);
    assert_eq!(live["C"], [3..6]);
    assert_eq!(live["D"], [1..8]);
}

#[test]
fn predicated_writes_keep_what_was() {
    let live = live(
        "\
mov (M1, 16) B(0,0)<1> 0x1:d
mov (M1, 16) C(0,0)<1> 0x1:d
(P1) mov (M1, 16) B(0,0)<1> 0x2:d
mov (M1, 16) C(0,0)<1> B(0,0)<1;1,0>
ret (M1, 1)
",
    );
    assert_eq!(live["B"], [0..4]);
    assert_eq!(live["C"], [1..2, 3..4]);
}

#[test]
fn what_nobody_wrote_begins_where_it_is_written_in_part() {
    let live = live(
        "\
mov (M1, 16) C(0,0)<1> 0x1:d
(P1) mov (M1, 16) B(0,0)<1> 0x2:d
mov (M1, 16) C(0,0)<1> B(0,0)<1;1,0>
lifetime.start D
(P1) mov (M1, 16) D(0,0)<1> C(0,0)<1;1,0>
mov (M1, 16) C(0,0)<1> D(0,0)<1;1,0>
ret (M1, 1)
",
    );
    assert_eq!(live["B"], [1..3]);
    assert_eq!(live["D"].last(), Some(&(4..6)));
}

#[test]
fn through_addresses_and_in_subroutines() {
    let live = live(
        "\
mov (M1, 16) B(0,0)<1> 0x1:d
addr_add (M1, 1) A0(0)<1> &B 0x0:uw
call (M1, 16) MORE
mov (M1, 16) D(0,0)<1> r[A0(0), 0]<1;1,0>:d
ret (M1, 1)
.function \"MORE\"
MORE:
mov (M1, 16) C(0,0)<1> A(0,0)<1;1,0>
ret (M1, 16)
",
    );
    // Live in the subroutine, too, and until something is read through the address.
    assert_eq!(live["B"], [0..4, 5..8]);
    assert_eq!(live["A"], [0..3, 5..7]);
}

#[test]
fn pressure_counts_registers() {
    let object = object(
        "\
mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>
mov (M1, 1) N(0,0)<1> 0x1:d
add (M1, 16) C(0,0)<1> B(0,0)<1;1,0> N(0,0)<0;1,0>
ret (M1, 1)
",
    );
    let body = body(&object);
    let points = |grf_bytes: u32| {
        let liveness = Liveness::of(&object, body, grf_bytes);
        let pressure = Pressure::of(&liveness, grf_bytes);
        assert_eq!(liveness.at(2).count(), pressure.points[2].variables);
        (
            pressure
                .points
                .iter()
                .map(|p| p.registers)
                .collect::<Vec<_>>(),
            pressure.peak().unwrap().0,
        )
    };
    // Variables of 64 bytes, and one of 4.
    assert_eq!(points(32), (vec![4, 3, 5, 0], 2));
    assert_eq!(points(64), (vec![2, 2, 3, 0], 2));
}

#[test]
fn profile_of_a_kernel() {
    let object = object(
        "\
again:
lsc_load.slm (M1, 16) B:d32 flat[A]:a32
(P1) goto (M1, 16) again
barrier
lsc_store.slm (M1, 16) flat[A]:a32 B:d32
ret (M1, 1)
",
    );
    let profile = Profile::of(&object, body(&object), 32);
    assert_eq!(
        (profile.simd, profile.instructions, profile.barriers),
        (Some(16), 5, 1)
    );
    assert_eq!((profile.jumps, profile.divergent, profile.calls), (1, 1, 0));
    assert_eq!(profile.messages[&("load", "slm")].bytes, 64);
    assert_eq!(profile.registers, 4);
    assert_eq!(profile.spills(), 0);
}

#[test]
fn kernels_are_matched() {
    let list = |names: &[&str]| -> Vec<(RoutineId, String)> {
        let all = names.iter().enumerate();
        all.map(|(n, name)| (RoutineId::new(RoutineKind::Kernel, n), (*name).to_owned()))
            .collect()
    };
    let matched = match_kernels(&list(&["a", "b", "c"]), &list(&["c", "a", "x", "y"]));
    assert_eq!(
        matched,
        [
            (Some(0), Some(1)),
            (Some(2), Some(0)),
            (Some(1), None),
            (None, Some(2)),
            (None, Some(3)),
        ]
    );
    assert_eq!(
        match_kernels(&list(&["a"]), &list(&["z"])),
        [(Some(0), Some(0))]
    );
}

/// Every routine of the corpora: ranges are disjoint and in bounds, nothing occupies more than is
/// declared.
#[test]
fn corpora() {
    let mut routines = 0;
    visakit_testing::corpus::objects(visakit_testing::corpus::Corpus::Real, |name, bytes| {
        let Ok(object) = visakit_parse::read(bytes) else {
            return;
        };
        for (_, routine) in object.routines() {
            let Some(body) = routine.body() else { continue };
            routines += 1;
            let liveness = Liveness::of(&object, body, 64);
            let mut declared = 0;
            for range in &liveness.ranges {
                declared += range.bytes.div_ceil(64);
                let ends = range.code.iter().flat_map(|r| [r.start, r.end]);
                assert!(ends.is_sorted_by(|a, b| a < b), "{name}: {range:?}");
                assert!(range.code.last().is_none_or(|r| r.end <= body.code.len()));
            }
            let pressure = Pressure::of(&liveness, 64);
            assert_eq!(pressure.points.len(), body.code.len());
            assert!(
                pressure.peak().is_none_or(|(_, p)| p.registers <= declared),
                "{name}"
            );
        }
    });
    assert!(routines > 10, "{routines}");
}
