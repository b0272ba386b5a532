//! Statistics count everything once.

#![allow(clippy::unwrap_used)] // helpers of tests

use visakit::isa::Op;
use visakit::parse::Container;
use visakit::stats::{Sizes, Stats};

fn stats(file: &[u8]) -> Stats {
    let sizes = Sizes::of(&Container::parse(file).unwrap());
    Stats::of(&visakit::parse::read(file).unwrap(), sizes)
}

#[test]
fn every_byte_and_every_instruction_is_counted() {
    let file = include_bytes!("../../../../fixtures/objects/call_stack_pvc_v41.isa");
    let stats = stats(file);
    let counts = visakit::verify::Counts::of(&visakit::parse::read(file).unwrap(), 0);
    assert_eq!(stats.instructions(), counts.instructions);
    assert_eq!(stats.kernels + stats.functions, counts.routines);
    assert_eq!(stats.sizes.other(), 0);
    let groups: u64 = stats.groups().iter().map(|(_, n)| n).sum();
    assert_eq!(groups, counts.instructions);
    assert!(stats.destinations.total() > 0 && stats.sources.total() > 0);
}

#[test]
fn sums() {
    let one = stats(include_bytes!(
        "../../../../fixtures/objects/vecadd_f32_skl_v41.isa"
    ));
    let other = stats(include_bytes!(
        "../../../../fixtures/objects/subgroups_skl_v36.isa"
    ));
    let mut sum = Stats::default();
    sum += one.clone();
    sum += other.clone();
    assert_eq!(sum.objects, 2);
    assert_eq!(sum.versions.len(), 2);
    assert_eq!(
        sum.instructions(),
        one.instructions() + other.instructions()
    );
    assert_eq!(sum.ops[&Op::MOV], one.ops[&Op::MOV] + other.ops[&Op::MOV]);
    assert_eq!(sum.sizes.code, one.sizes.code + other.sizes.code);
    let counts: Vec<u64> = sum.by_count().iter().map(|(_, n)| *n).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b));
}
