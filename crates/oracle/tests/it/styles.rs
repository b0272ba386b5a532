//! What programs of each style are, and some that were written by hand.

#![allow(clippy::unwrap_used)] // tests

use visakit_oracle::compare::{STEPS, Verdict, compare, run_slow};
use visakit_oracle::generate::{Case, Pool, Start, Style, object, program};

/// Rows that follow each other: the addresses of a dword for each lane.
fn each_lane() -> (String, Vec<u8>) {
    ("A".into(), words((0..32).map(|n| 4 * n)))
}

fn words(all: impl Iterator<Item = u32>) -> Vec<u8> {
    all.flat_map(u32::to_le_bytes).collect()
}

/// Programs are valid, and the same after they are written and read.
#[test]
fn programs_are_valid() {
    for style in Style::ALL {
        for seed in 0..40 {
            let case = program(seed, style);
            let bytes = visakit_encode::write(&case.object).unwrap();
            assert_eq!(
                visakit_parse::read(&bytes).unwrap(),
                case.object,
                "{style:?}, {seed}"
            );
            let report = visakit_validate::object(&case.object, &Default::default());
            assert_eq!(report.errors, 0, "{style:?}, {seed}: {:?}", report.findings);
        }
    }
}

/// The definitions say what many programs do.
#[test]
fn programs_are_defined() {
    for style in Style::ALL {
        let defined = (0..60).filter(|seed| {
            let case = program(*seed, style);
            run_slow(&case, STEPS).is_ok()
        });
        let defined = defined.count();
        assert!(defined >= 8, "{style:?}: {defined}");
    }
}

/// Addresses are inside of memory in some launches, and outside in others.
#[test]
fn addresses_are_inside_and_outside() {
    let (mut all, mut inside) = (0, 0);
    for seed in 0..40 {
        let case = program(seed, Style::Addresses);
        for launch in &case.launches {
            let alone = Case {
                launches: vec![launch.clone()],
                ..case.clone()
            };
            all += 1;
            inside += usize::from(run_slow(&alone, STEPS).is_ok());
        }
    }
    assert!(
        (all / 10..all * 9 / 10).contains(&inside),
        "{inside} of {all}"
    );
}

/// A vector that is not computed, of which a lane is added to all; and a vector of addresses that only an address reads,
/// before it is overwritten.
#[test]
fn vectors_that_addresses_come_from() {
    let declarations = ".version 4.1
.kernel \"k\"
.decl L v_type=G type=uw num_elts=16 align=GRF
.decl N v_type=G type=ud num_elts=4 align=GRF
.decl B v_type=G type=uq num_elts=4 align=GRF
.decl D v_type=G type=ud num_elts=16 align=GRF
.decl E v_type=G type=ud num_elts=16 align=GRF
.decl V0 v_type=G type=ud num_elts=16 align=GRF
.decl V1 v_type=G type=ud num_elts=16 align=GRF
.decl Q v_type=G type=uq num_elts=16 align=GRF
.decl R v_type=G type=uq num_elts=16 align=GRF
.decl A0 v_type=A num_elts=1
.kernel_attr SimdSize=16
mov (M1, 16) V0(0,0)<1> L(0,0)<1;1,0>";
    let addresses = "mov (M1, 16) Q(0,0)<1> V1(0,0)<1;1,0>
shl (M1, 16) Q(0,0)<1> Q(0,0)<1;1,0> 0x2:uq
add (M1, 16) R(0,0)<1> Q(0,0)<1;1,0> B(0,0)<0;1,0>
lsc_load.ugm (M1, 16) D:d32 flat[R]:a64";
    let added = format!(
        "{declarations}
add (M1, 16) V1(0,0)<1> V0(0,0)<1;1,0> V0(0,2)<0;1,0>
{addresses}
add (M1, 16) R(0,0)<1> Q(0,0)<1;1,0> B(0,1)<0;1,0>
lsc_store.ugm (M1, 16) flat[R]:a64 D:d32
ret (M1, 1)\n"
    );
    let read = format!(
        "{declarations}
addr_add (M1_NM, 1) A0(0)<1> &V1 0x0:uw
add (M1, 16) V1(0,0)<1> V0(0,0)<1;1,0> N(0,1)<0;1,0>
{addresses}
mov (M1, 16) E(0,0)<1> r[A0(0),0]<0;1,0>:ud
mov (M1, 16) V1(0,0)<1> 0x0:ud
lsc_store.ugm (M1, 16) flat[R]:a64 E:d32
ret (M1, 1)\n"
    );
    for text in [added, read] {
        let buffers = vec![(0..=255).cycle().take(4096).collect::<Vec<u8>>()];
        let addresses = Pool::addresses(&buffers);
        let base = addresses[0] + 0x100;
        let lanes = (0..16u16).flat_map(u16::to_le_bytes).collect();
        let bases = [base, base + 0x200].into_iter().flat_map(u64::to_le_bytes);
        let sets = vec![
            ("L".to_owned(), lanes),
            ("N".to_owned(), words([0, 3, 5, 2].into_iter())),
            ("B".to_owned(), bases.collect()),
        ];
        let case = Case {
            buffers,
            addresses,
            ..Case::of_thread(object(&text), 0xffff, sets)
        };
        assert_eq!(compare(&case), Verdict::Agree, "{text}");
    }
}

/// A variable that only an address reads, before all of it is overwritten.
#[test]
fn read_by_address_alone() {
    let text = ".version 4.1\n.kernel \"k\"\n\
        .decl A v_type=G type=ud num_elts=32 align=GRF\n\
        .decl V v_type=G type=ud num_elts=16 align=GRF\n\
        .decl W v_type=G type=ud num_elts=16 align=GRF\n\
        .decl A0 v_type=A num_elts=1\n.kernel_attr SimdSize=16\n\
        addr_add (M1_NM, 1) A0(0)<1> &V 0xc:uw\n\
        add (M1, 16) V(0,0)<1> A(0,0)<1;1,0> 0x7:ud\n\
        mov (M1, 16) W(0,0)<1> r[A0(0),0]<0;1,0>:ud\n\
        mov (M1_NM, 16) V(0,0)<1> 0x0:ud\n\
        lsc_store.slm (M1, 16) flat[A]:a32 W:d32\nret (M1, 1)\n";
    let case = Case {
        local_bytes: 64,
        ..Case::of_thread(object(text), 0xffff, vec![each_lane()])
    };
    assert_eq!(compare(&case), Verdict::Agree);
    let machine = run_slow(&case, STEPS).unwrap();
    assert_eq!(machine.memory.local[..4], 19u32.to_le_bytes());
}

/// Operands that a turn finds in registers, when the interpreter has run a step of the turn before, after they were used.
#[test]
fn after_a_detour() {
    let mut text = ".version 4.1\n.kernel \"k\"\n".to_owned();
    for name in ["V0", "V1", "V8"] {
        text += &format!(".decl {name} v_type=G type=ud num_elts=32 align=GRF\n");
    }
    for name in ["F0", "F1"] {
        text += &format!(".decl {name} v_type=G type=f num_elts=16 align=GRF\n");
    }
    text += ".decl I v_type=G type=ud num_elts=1\n.decl P1 v_type=P num_elts=16\n\
             .kernel_attr SimdSize=16\nmov (M1_NM, 1) I(0,0)<1> 0x0:ud\nTURN:\n";
    for n in 0..80 {
        let of = n % 2;
        text += &format!("add (M1, 16) V8(0,0)<1> V8(0,0)<1;1,0> V{of}(0,0)<1;1,0>\n");
    }
    // Of a very large number, which its template leaves to the interpreter.
    text += "mov (M1, 16) F0(0,0)<1> 0x7149f2ca:f\n\
             sin (M1, 16) F1(0,0)<1> F0(0,0)<1;1,0>\n\
             add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
             cmp.lt (M1_NM, 16) P1 I(0,0)<0;1,0> 0x9:ud\n\
             (P1) goto (M1, 16) TURN\n\
             ret (M1, 1)\n";
    let sets = ["V0", "V1", "V8"].map(|name| (name.to_owned(), each_lane().1));
    let start = Start {
        mask: 0xffff,
        sets: sets.into(),
    };
    let case = Case {
        launches: vec![vec![start]; 3],
        ..Case::of(object(&text))
    };
    assert_eq!(compare(&case), Verdict::Agree);
}
