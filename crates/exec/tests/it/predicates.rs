//! `any` and `all` combine the elements of the predicate variable, not those of the instruction's lanes alone.

#![allow(clippy::unwrap_used, reason = "tests")]

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
fn elements_of_the_variable_are_combined() {
    for elements in [1, 2, 4, 8, 16, 32] {
        let all = u32::MAX >> (32 - elements);
        for lanes in [1, 2, 4, 8, 16, 32]
            .into_iter()
            .filter(|lanes| *lanes <= elements)
        {
            for first in (0..elements).step_by(lanes.max(4)) {
                let selected = |control, bits| selected(control, (elements, bits), (first, lanes));
                for bit in 0..elements {
                    let one = 1 << bit;
                    assert!(selected("P.any", one), "{elements} {first} {lanes} {bit}");
                    assert!(!selected("!P.any", one));
                    let is_all = one == all;
                    assert_eq!(selected("P.all", one), is_all);
                    assert_eq!(selected("P.all", all & !one), all & !one == all);
                    assert_eq!(selected("!P.all", all & !one), all & !one != all);
                }
                assert!(!selected("P.any", 0) && selected("P.all", all));
            }
        }
    }
}
