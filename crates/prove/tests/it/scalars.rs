//! Scalar arguments of any value.

use crate::pairs::{grf_bytes, object, pair, text};
use visakit_isa::object::Object;
use visakit_launch::{Argument, Case};
use visakit_prove::{Options, Verdict};

/// A product with the scalar argument, and what takes its place.
const PRODUCT: &str = "V0037(0,1)<0;1,0> V0035(0,0)<0;1,0>";

fn verdict(symbolic: bool, by_steps: bool, product: &str) -> Verdict {
    let path = visakit_testing::fixtures().join("cases/partial_groups/pvc");
    let case = Case::open(&path).unwrap();
    let options = Options {
        symbolic: if symbolic { vec![1] } else { Vec::new() },
        by_steps,
        ..Options::default()
    };
    let grf = grf_bytes(&case);
    let change = |from: Object<'static>| {
        let text = text(&from, grf);
        assert!(text.contains(PRODUCT));
        object(&text.replace(PRODUCT, product), grf).unwrap()
    };
    pair(&case, &case, &options, change).unwrap().verdict
}

#[test]
fn a_scalar_of_any_value_is_unknown_to_both() {
    for by_steps in [true, false] {
        assert_eq!(verdict(true, by_steps, PRODUCT), Verdict::Proven);
    }
    let exchanged = "V0035(0,0)<0;1,0> V0037(0,1)<0;1,0>";
    assert_eq!(verdict(true, true, exchanged), Verdict::Proven);
}

#[test]
fn a_kernel_for_one_value_is_refuted_by_another_one() {
    let constant = "V0037(0,1)<0;1,0> 0x186a0:d";
    assert_eq!(verdict(false, true, constant), Verdict::Proven);
    match verdict(true, true, constant) {
        Verdict::Refuted(found) => match &found.arguments[1] {
            Argument::Value(bytes) => assert_ne!(bytes[..], 0x186a0_u32.to_le_bytes()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
