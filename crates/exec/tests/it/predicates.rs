//! `any` and `all` combine the elements of the lanes, or of the whole variable for an instruction with one lane.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use crate::common::program;
use visakit_exec::{Group, Limits, Memory, Options, ThreadStart};

/// What an instruction of so many lanes from this one on selects by a predicate of so many elements, whose bits are
/// given: whether each lane is enabled, the same for all.
fn selected(control: &str, (elements, bits): (usize, u32), (first, lanes): (usize, usize)) -> bool {
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl BITS v_type=G type=ud num_elts=1 align=GRF\n\
         .decl A v_type=G type=d num_elts=32 align=GRF\n\
         .decl P v_type=P num_elts={elements}\n\
         .kernel_attr SimdSize=32\n\
         setp (M1_NM, {elements}) P BITS(0,0)<0;1,0>\n\
         ({control}) sel (M{}_NM, {lanes}) A(0,0)<1> 0x1:d 0x0:d\n\
         ret (M1, 1)\n",
        first / 4 + 1
    );
    let program = program(&text, &Options::default());
    let slot = |name| program.variable(name).unwrap().clone();
    let start = ThreadStart {
        mask: u32::MAX,
        sets: vec![(slot("BITS"), bits.to_le_bytes().to_vec())],
        ..ThreadStart::default()
    };
    let limits = Limits::default();
    let mut group = Group::new(&program, 0, &[start], &limits).unwrap();
    group
        .run(&program, &Memory::new(0), &limits, &mut ())
        .unwrap();
    let found = group.thread(0).unwrap().read(&slot("A"));
    let (found, _) = found.as_chunks::<4>();
    let found: Vec<u32> = found
        .iter()
        .take(lanes)
        .map(|n| u32::from_le_bytes(*n))
        .collect();
    assert!(found.windows(2).all(|two| two[0] == two[1]), "{found:?}");
    found[0] != 0
}

#[test]
fn elements_are_combined() {
    for elements in [1, 2, 4, 8, 16, 32] {
        let sizes = [1, 2, 4, 8, 16, 32].into_iter();
        for lanes in sizes.filter(|lanes| *lanes <= elements) {
            for first in (0..elements).step_by(lanes.max(4)) {
                let selected = |control, bits| selected(control, (elements, bits), (first, lanes));
                let tested = match lanes {
                    1 => 0..elements,
                    _ => first..first + lanes,
                };
                let all = tested.clone().fold(0, |all, bit| all | 1 << bit);
                for bit in 0..elements {
                    let is_tested = tested.contains(&bit);
                    let name =
                        format!("{elements} elements, {lanes} lanes from {first}, bit {bit}");
                    assert_eq!(selected("P.any", 1 << bit), is_tested, "{name}");
                    assert_eq!(selected("!P.any", 1 << bit), !is_tested, "{name}");
                    assert_eq!(selected("P.all", all & !(1 << bit)), !is_tested, "{name}");
                    assert_eq!(selected("!P.all", all & !(1 << bit)), is_tested, "{name}");
                }
                assert!(!selected("P.any", !all) && selected("P.all", all));
            }
        }
    }
}
