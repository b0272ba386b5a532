//! Where accesses go: outside of memory, and to registers whose number depends on data.

use crate::kernels::{Asked, stored, why};
use visakit_prove::{Difference, Verdict};

/// What a load outside of local memory brings is nothing that a kernel may rely on.
#[test]
fn an_access_outside_of_local_memory_refutes() {
    let load = "lsc_load.slm (M1, 8) N:d32 flat[AT+0x10000]:a32
                add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> N(0,0)<1;1,0>\n";
    let store = stored("X(0,0)");
    let asked = Asked::of_threads(1);
    let proof = asked.proof([&store, &format!("{load}{store}")]);
    let Verdict::Refuted(found) = &proof.verdict else {
        panic!("{proof:?}");
    };
    assert!(matches!(found.difference, Difference::Finding(_)));
    // Nothing is said of a kernel that has it, too.
    let proof = asked.proof([&format!("{load}{store}"), &format!("{load}{load}{store}")]);
    assert!(why(&proof).contains("outside of local"), "{proof:?}");
    // A difference of what both store is one, whatever both access besides.
    let other = "add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud\n";
    let proof = asked.proof([&format!("{load}{store}"), &format!("{load}{other}{store}")]);
    let Verdict::Refuted(found) = &proof.verdict else {
        panic!("{proof:?}");
    };
    assert!(matches!(found.difference, Difference::Byte { .. }));
}

/// Registers that a kernel writes by an address that depends on data.
#[test]
fn registers_are_written_by_their_numbers() {
    let written = |index: &str, value: &str| {
        format!(
            "lsc_load.ugm (M1, 8) N:d32 bti(0x0)[AT]:a32
             {index}
             mov (M1_NM, 1) W(0,0)<1> N(0,0)<0;1,0>
             addr_add (M1_NM, 1) A0(0)<1> &Y W(0,0)<0;1,0>
             mov (M1, 8) Y(0,0)<1> 0x5:ud
             mov (M1_NM, 1) r[A0(0),0]<1>:ud {value}
             mul (M1, 8) AT(0,0)<1> Y(0,0)<1;1,0> 0x0:ud
             mov (M1_NM, 1) X(0,0)<1> Y(0,3)<0;1,0>
             lsc_store.ugm (M1_NM, 1) bti(0x0)[AT]:a32 X:d32"
        )
    };
    let mut asked = Asked::of_threads(1);
    asked.options.by_steps = false;
    asked.options.trials = 0;
    let masked = "and (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1c:ud";
    let shifted = "shl (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1b:ud
                   shr (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x1d:ud
                   shl (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x2:ud";
    let [old, same, other] = [(masked, "0x7:ud"), (shifted, "0x7:ud"), (masked, "0x8:ud")]
        .map(|(index, value)| written(index, value));
    assert_eq!(asked.proof([&old, &same]).verdict, Verdict::Proven);
    let proof = asked.proof([&old, &other]);
    assert!(matches!(proof.verdict, Verdict::Refuted(_)), "{proof:?}");
    // Outside of all registers for some contents.
    let far = written("and (M1, 8) N(0,0)<1> N(0,0)<1;1,0> 0x3c:ud", "0x7:ud");
    let proof = asked.proof([&far, &far.replace("0x3c:ud", "0x3d:ud")]);
    assert!(
        why(&proof).contains("outside of all variables"),
        "{proof:?}"
    );
}
