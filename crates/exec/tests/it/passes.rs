//! Each pass over translated code separately.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // a test

use crate::common::program;
use visakit_exec::{Group, Limits, Memory, Options, Pass, Program, ThreadStart};

fn with(text: &str, passes: &[Pass]) -> Program {
    let options = Options {
        passes: passes.to_vec(),
        ..Options::default()
    };
    program(text, &options)
}

/// Variables after a run of a thread of 16 lanes, of which these run.
fn run(program: &Program, lanes: u32, names: &[&str]) -> Vec<Vec<u8>> {
    let start = ThreadStart {
        mask: lanes,
        ..ThreadStart::default()
    };
    let (memory, limits) = (Memory::new(0), Limits::default());
    let mut group = Group::new(program, 0, &[start], &limits).unwrap();
    group.run(program, &memory, &limits, &mut ()).unwrap();
    let thread = &group.threads()[0];
    let slots = names.iter().map(|name| program.variable(name).unwrap());
    slots.map(|slot| thread.read(&slot).to_vec()).collect()
}

const HEAD: &str = "\
.version 4.1
.kernel \"k\"
.decl A v_type=G type=ud num_elts=16 align=GRF
.decl B v_type=G type=ud num_elts=16 align=GRF
.decl C v_type=G type=ud num_elts=16 align=GRF
.decl D v_type=G type=ud num_elts=16 align=GRF
.decl E v_type=G type=ud num_elts=16 align=GRF
.decl F v_type=G type=ud num_elts=16 align=GRF
.decl S v_type=G type=ud num_elts=1 align=dword
.decl T v_type=G type=ud num_elts=1 align=dword
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
";

/// Computations of constants become copies, whatever lanes run; what depends on the float mode, on lanes that did not
/// write, or on a predicate, does not.
#[test]
fn fold() {
    // A third is not the same in all rounding modes; a half is. B is read by other lanes than those that wrote it; C and A
    // by lanes from the fourth on, whose own elements of A are others; D is written only where a predicate is set, S by
    // one lane for others, T for all.
    let text = format!(
        "{HEAD}
.decl H v_type=G type=f num_elts=16 alias=<E, 0>
.decl W v_type=G type=uw num_elts=32 alias=<F, 0>
        mov (M1, 16) A(0,0)<1> 0x6:ud
        shl (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 0x4:ud
        add (M1, 8) B(0,0)<1> B(0,0)<1;1,0> B(0,4)<1;1,0>
        mov (M2, 8) C(0,8)<1> 0x5:ud
        mul (M2, 8) C(0,8)<1> C(0,8)<1;1,0> A(0,8)<1;1,0>
        add (M1, 8) C(0,0)<1> C(0,8)<1;1,0> 0x1:ud
        mov (M1, 16) D(0,0)<1> 0x9:ud
        (P1) mov (M1, 16) D(0,0)<1> 0x8:ud
        add (M1, 16) D(0,0)<1> D(0,0)<1;1,0> 0x1:ud
        mov (M1, 1) S(0,0)<1> 0x7:ud
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> S(0,0)<0;1,0>
        mov (M1_NM, 1) T(0,0)<1> 0x7:ud
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> T(0,0)<0;1,0>
        mov (M1, 16) H(0,0)<1> 0x40400000:f
        inv (M1, 16) H(0,0)<1> H(0,0)<1;1,0>
        mov (M1, 16) H(0,0)<1> 0x40000000:f
        inv (M1, 16) H(0,0)<1> H(0,0)<1;1,0>
        mov (M1_NM, 16) W(0,0)<2> 0xfff0:uw
        add (M1, 16) W(0,1)<2> W(0,0)<2;1,0> 0x20:uw
        goto (M1, 16) NEXT
    NEXT:
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> T(0,0)<0;1,0>
        ret (M1, 1)
        "
    );
    let (plain, folded) = (with(&text, &[]), with(&text, &[Pass::Fold]));
    insta::assert_snapshot!(folded.code());
    let names = ["A", "B", "C", "D", "E", "F", "S", "T"];
    for lanes in [0xffff, 0x5a5a, 0x0002, 0xff00] {
        assert_eq!(run(&plain, lanes, &names), run(&folded, lanes, &names));
    }
}

/// What reads a copy of one number for each lane reads the number, while both last.
#[test]
fn scalars() {
    let text = format!(
        "{HEAD}
.decl W v_type=G type=uw num_elts=32 alias=<F, 0>
.decl L v_type=G type=uw num_elts=32 alias=<A, 0>
.input S offset=32 size=4
.input E offset=64 size=64
        mov (M1, 16) A(0,0)<1> S(0,0)<0;1,0>
        add (M1, 16) B(0,0)<1> A(0,0)<1;1,0> E(0,0)<1;1,0>
        cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x20:ud
        add (M1, 16) C(0,0)<1> A(0,0)<2;2,0> B(0,0)<1;1,0>
        add (M1, 8) C(0,0)<1> A(0,8)<1;1,0> B(0,0)<1;1,0>
        mov (M1, 16) W(0,0)<2> L(0,0)<2;1,0>
        add (M1, 1) S(0,0)<1> S(0,0)<0;1,0> 0x1:ud
        add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> C(0,0)<1;1,0>
        mov (M1_NM, 16) D(0,0)<1> S(0,0)<0;1,0>
        add (M1, 8) C(0,0)<1> D(0,8)<1;1,0> C(0,0)<1;1,0>
        (P1) goto (M1, 16) NEXT
        add (M1, 16) C(0,0)<1> D(0,0)<1;1,0> C(0,0)<1;1,0>
    NEXT:
        ret (M1, 1)
        "
    );
    let (plain, scalar) = (with(&text, &[]), with(&text, &[Pass::Scalars]));
    insta::assert_snapshot!(scalar.code());
    let names = ["A", "B", "C", "D", "F", "S"];
    for lanes in [0xffff, 0x5a5a, 0x0002] {
        assert_eq!(run(&plain, lanes, &names), run(&scalar, lanes, &names));
    }
}

/// Comparisons are fused with the branches on their outcome; not with steps that come later, or that test another
/// predicate.
#[test]
fn fuse() {
    let text = format!(
        "{HEAD}
.decl P2 v_type=P num_elts=16
    AGAIN:
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x3:ud
        cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x10:ud
        (P1) goto (M1, 16) AGAIN
        cmp.lt (M1, 16) P2 A(0,0)<1;1,0> 0x20:ud
        (P1) goto (M1, 16) NEXT
        cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x30:ud
        add (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 0x3:ud
        (P1) goto (M1, 16) NEXT
    NEXT:
        cmp.ne (M1_NM, 16) P2 S(0,0)<0;1,0> 0x0:ud
        (!P2) jmp (M1, 1) END
        add (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 0x5:ud
    END:
        ret (M1, 1)
        "
    );
    let (plain, fused) = (with(&text, &[]), with(&text, &[Pass::Fuse]));
    insta::assert_snapshot!(fused.code());
    let names = ["A", "B", "P1", "P2"];
    for lanes in [0xffff, 0x5a5a, 0x0002] {
        assert_eq!(run(&plain, lanes, &names), run(&fused, lanes, &names));
    }
}

/// Equal functions of sources in other orders have equal tables afterwards, and the same results.
#[test]
fn order() {
    let text = format!(
        "{HEAD}
        mov (M1, 16) A(0,0)<1> 0x0ff0a5c3:ud
        mov (M1, 16) B(0,0)<1> 0x33cc5a96:ud
        mov (M1, 16) C(0,0)<1> 0x5a5af00f:ud
        bfn.xd8 (M1, 16) D(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0> C(0,0)<1;1,0>
        bfn.xca (M1, 16) E(0,0)<1> B(0,0)<1;1,0> C(0,0)<1;1,0> A(0,0)<1;1,0>
        bfn.xe4 (M1, 16) F(0,0)<1> A(0,0)<1;1,0> C(0,0)<1;1,0> B(0,0)<1;1,0>
        ret (M1, 1)
        "
    );
    let (plain, ordered) = (with(&text, &[]), with(&text, &[Pass::Order]));
    insta::assert_snapshot!(ordered.code());
    assert_eq!(with(&text, &[]).code(), plain.code());
    assert_ne!(ordered.code(), plain.code());
    let names = ["A", "B", "C", "D", "E", "F"];
    assert_eq!(run(&plain, 0xffff, &names), run(&ordered, 0xffff, &names));
}

/// Variables that live within a block share places; those that outlive it, that are read where they were not written,
/// or whose lanes are read by others, do not.
#[test]
fn share() {
    // B and D follow each other. C is read in the next block, E where only a predicate has written it, S by all lanes
    // but written by one that may not run, T is a scalar for all.
    let text = format!(
        "{HEAD}
        add (M1, 16) B(0,0)<1> A(0,0)<1;1,0> 0x1:ud
        add (M1, 16) C(0,0)<1> B(0,0)<1;1,0> 0x2:ud
        add (M1, 16) D(0,0)<1> C(0,0)<1;1,0> 0x3:ud
        add (M1, 16) A(0,0)<1> D(0,0)<1;1,0> 0x4:ud
        cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x10:ud
        (P1) add (M1, 16) E(0,0)<1> A(0,0)<1;1,0> 0x5:ud
        add (M1, 16) A(0,0)<1> E(0,0)<1;1,0> 0x6:ud
        mov (M1, 1) S(0,0)<1> 0x7:ud
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> S(0,0)<0;1,0>
        mov (M1_NM, 1) T(0,0)<1> 0x8:ud
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> T(0,0)<0;1,0>
        (P1) goto (M1, 16) NEXT
        add (M1, 16) F(0,0)<1> A(0,0)<1;1,0> 0x9:ud
        add (M1, 16) A(0,0)<1> F(0,0)<1;1,0> A(0,0)<1;1,0>
    NEXT:
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> C(0,0)<1;1,0>
        ret (M1, 1)
        "
    );
    let (plain, shared) = (with(&text, &[]), with(&text, &[Pass::Share]));
    insta::assert_snapshot!(shared.code());
    let names = ["A", "C", "E", "S"];
    for name in ["B", "D", "F", "T"] {
        assert_eq!(shared.variable(name), None, "{name}");
    }
    // B, D, F and T are gone; B with D and F have one place of a pair of registers, T has another of one and, as pairs
    // are aligned, the one after it.
    assert_eq!(plain.register_bytes() - shared.register_bytes(), 64);
    for lanes in [0xffff, 0x5a5a, 0x0002] {
        assert_eq!(run(&plain, lanes, &names), run(&shared, lanes, &names));
    }
}

/// A variable that is written very often before it is read keeps its place: whoever reads it looks at all writes.
#[test]
fn share_with_many_writes() {
    let of = |writes: usize| {
        let lines = "mov (M1_NM, 1) A(0,0)<1> 0x1:ud\n".repeat(writes);
        let text = format!(
            "{HEAD}{lines}mov (M1_NM, 16) B(0,0)<1> A(0,0)<0;1,0>\nmov (M1_NM, 16) C(0,0)<1> B(0,0)<1;1,0>\nret (M1, 1)\n"
        );
        with(&text, &[Pass::Share])
    };
    assert_eq!(of(3).variable("A"), None);
    assert!(of(3000).variable("A").is_some());
}

/// Weights, sums and results of systolic products are of their lanes, activations of all.
#[test]
fn share_with_systolic_products() {
    // X is written by all lanes, Y by those that run: it keeps its place. V is written by other lanes than those that
    // read it, and keeps its place, too. Z is written after R was read last.
    let text = format!(
        "{HEAD}
.decl W v_type=G type=d num_elts=64 align=GRF
.decl V v_type=G type=d num_elts=64 align=GRF
.decl R v_type=G type=d num_elts=8 align=GRF
.decl X v_type=G type=d num_elts=8 align=GRF
.decl Y v_type=G type=d num_elts=8 align=GRF
.decl Z v_type=G type=d num_elts=8 align=GRF
.decl OUT v_type=G type=d num_elts=8 align=GRF
        mov (M1_NM, 16) W(0,0)<1> 0x01020304:d
        mov (M1_NM, 16) W(2,0)<1> 0x05060708:d
        mov (M1_NM, 16) W(4,0)<1> 0x11f23344:d
        mov (M1, 8) W(6,0)<1> 0x51627384:d
        mov (M1, 8) W(7,0)<1> 0x15263748:d
        mov (M1_NM, 8) X(0,0)<1> 0x01ff0203:d
        mov (M1, 8) Y(0,0)<1> 0x02030405:d
        mov (M1, 8) C(0,0)<1> 0x7:d
        mov (M1_NM, 16) V(0,0)<1> 0x1:d
        mov (M1_NM, 16) V(2,0)<1> 0x2:d
        mov (M1_NM, 16) V(4,0)<1> 0x3:d
        mov (M1, 16) V(6,0)<1> 0x4:d
        dpas.s8.s8.8.1 (M1, 8) R.0 C.0 W.0 X(0,0)
        dpas.s8.s8.8.1 (M1, 8) R.0 R.0 V.0 X(0,0)
        dpas.s8.s8.8.1 (M1, 8) OUT.0 R.0 W.0 Y(0,0)
        add (M1, 8) Z(0,0)<1> OUT(0,0)<1;1,0> 0x1:d
        add (M1, 8) OUT(0,0)<1> OUT(0,0)<1;1,0> Z(0,0)<1;1,0>
        goto (M1, 8) NEXT
    NEXT:
        add (M1, 8) OUT(0,0)<1> OUT(0,0)<1;1,0> 0x1:d
        ret (M1, 1)
        "
    );
    let (plain, shared) = (with(&text, &[]), with(&text, &[Pass::Share]));
    insta::assert_snapshot!(shared.code());
    for name in ["W", "R", "X", "Z"] {
        assert_eq!(shared.variable(name), None, "{name}");
    }
    for name in ["V", "Y"] {
        assert!(shared.variable(name).is_some(), "{name}");
    }
    for lanes in [0xff, 0x5a, 0x02] {
        assert_eq!(run(&plain, lanes, &["OUT"]), run(&shared, lanes, &["OUT"]));
    }
}

/// Aliases are part of their variable; inputs keep their places.
#[test]
fn share_with_inputs_and_aliases() {
    let text = format!(
        "{HEAD}
.decl H v_type=G type=uw num_elts=32 alias=<B, 0>
.input A offset=32 size=64
        mov (M1, 16) H(0,0)<2> A(0,0)<1;1,0>
        mov (M1, 16) H(0,1)<2> 0x1:uw
        add (M1, 16) C(0,0)<1> B(0,0)<1;1,0> 0x1:ud
        mov (M1_NM, 16) D(0,0)<1> 0x5:ud
        add (M1, 16) E(0,0)<1> D(0,0)<1;1,0> H(0,0)<2;1,0>
        ret (M1, 1)
        "
    );
    let shared = with(&text, &[Pass::Share]);
    insta::assert_snapshot!(shared.code());
    assert!(shared.variable("A").is_some(), "an input stays");
}

/// The float modes in which steps are reached: each line has the first step of a block, and what may hold there.
#[test]
fn modes() {
    let text = format!(
        "{HEAD}
        or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud
        cmp.lt (M1, 16) P1 A(0,0)<1;1,0> B(0,0)<1;1,0>
        (P1) goto (M1, 16) other
        xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x20:ud
        again:
        add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x1:ud
        cmp.lt (M1, 16) P1 A(0,0)<1;1,0> B(0,0)<1;1,0>
        (P1) goto (M1, 16) again
        xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x20:ud
        goto (M1, 16) end
        other:
        and (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0xffffff7f:ud
        end:
        add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> 0x1:ud
        mov (M1_NM, 1) %cr0(0,0)<1> S(0,0)<0;1,0>
        add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> 0x1:ud
        ret (M1, 1)
        "
    );
    let program = with(&text, &[]);
    let code = program.code();
    let modes = code.modes();
    let blocks = code.blocks();
    let lines = blocks.iter().map(|block| {
        let first = block.steps.start;
        let flushes = if modes[first].may_flush() {
            " flushes"
        } else {
            ""
        };
        let rounds = if modes[first].may_round() {
            " rounds"
        } else {
            ""
        };
        format!("{first}:{flushes}{rounds}\n")
    });
    insta::assert_snapshot!(format!("{}\n{code}", lines.collect::<String>()));
}
