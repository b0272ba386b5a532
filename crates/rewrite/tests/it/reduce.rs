//! What a reduction keeps and what it removes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use visakit_isa::Op;
use visakit_rewrite::{NotInteresting, reduce};
use visakit_smith::{Config, Platform, from_seed};

fn has(bytes: &[u8], op: Op) -> bool {
    visakit_parse::read(bytes).is_ok_and(|object| {
        let mut routines = object.routines();
        routines.any(|(_, r)| {
            r.body()
                .is_some_and(|b| b.instructions().any(|i| i.op == op))
        })
    })
}

#[test]
fn one_instruction_is_left_with_what_it_needs() {
    for (seed, op) in [(1, Op::MOV), (5, Op::ADD), (9, Op::CMP)] {
        let config = Config::for_platform(Platform::Pvc);
        let bytes = visakit_encode::write(&from_seed(seed, &config)).unwrap();
        if !has(&bytes, op) {
            continue;
        }
        let small = reduce(&bytes, &mut |b| has(b, op), &mut |_| {}).unwrap();
        let object = visakit_parse::read(&small).unwrap();
        let body = object.kernels[0].body().unwrap();
        assert_eq!(body.code.len(), 1, "seed {seed}");
        assert!(body.attributes.is_empty() && body.labels.is_empty());
        assert!(
            body.variables.len() <= 3,
            "{} variables",
            body.variables.len()
        );
        // The name of the kernel, and those of what is left.
        assert!(body.strings.len() <= body.variables.len() + body.predicates.len() + 1);
    }
}

#[test]
fn the_property_is_kept_at_every_step() {
    let bytes = visakit_encode::write(&from_seed(11, &Config::default())).unwrap();
    let mut smallest = usize::MAX;
    let mut test = |candidate: &[u8]| {
        let yes = has(candidate, Op::ADD) && has(candidate, Op::MOV);
        if yes {
            smallest = candidate.len();
        }
        yes
    };
    let small = reduce(&bytes, &mut test, &mut |_| {}).unwrap();
    assert!(has(&small, Op::ADD) && has(&small, Op::MOV));
    assert_eq!(small.len(), smallest);
}

#[test]
fn a_damaged_file_loses_bytes() {
    let mut bytes = vec![0u8; 200];
    bytes[150] = 0x5a;
    let small = reduce(&bytes, &mut |b| b.contains(&0x5a), &mut |_| {}).unwrap();
    assert_eq!(small, [0x5a]);
}

#[test]
fn progress_is_told_and_the_uninteresting_refused() {
    let mut tests = 0;
    let refused = reduce(b"CISA", &mut |_| false, &mut |p| tests = p.tests);
    assert_eq!(refused, Err(NotInteresting));
    assert_eq!(tests, 1);
}
