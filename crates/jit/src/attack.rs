//! An attack on the proof: code from which one instruction is missing.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::flow::recorded;
use crate::{Features, Jit};
use std::fmt::Write as _;
use visakit_exec::code::Liveness;
use visakit_exec::{Options, Program};
use visakit_text::asm;

/// The code of a message on lanes, or a product, for both hosts: what it is refused without begins with a star.
fn relied_on(message: &str, full: bool) -> String {
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl B v_type=G type=ud num_elts=32 align=GRF\n\
         .decl Q v_type=G type=uq num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n\
         .kernel_attr SimdSize=16\n{message}\nret (M1, 1)\n"
    );
    let object = asm::assemble(text.as_bytes(), &asm::Options::default()).unwrap();
    let (routine, _) = visakit_launch::find_kernel(&object, None).unwrap();
    let program = Program::new(&object, routine, &Options::default()).unwrap();
    let code = program.code();
    let live = Liveness::new(code, program.addressed(), true);
    let mut shown = String::new();
    for features in [Features::Avx2, Features::Avx512] {
        let jit = Jit {
            features,
            traced: false,
        };
        let mut compiler = recorded(code, live.as_ref(), jit).unwrap();
        let _ = writeln!(shown, "{features:?}");
        for (line, is_needed) in compiler.relied_on(0, full) {
            let _ = writeln!(shown, "{} {line}", if is_needed { '*' } else { ' ' });
        }
    }
    shown
}

/// A snapshot of each message: its name, whether all lanes run, its text.
macro_rules! messages {
    ($($name:ident($full:literal) = $message:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::with_settings!({ description => $message, omit_expression => true }, {
                insta::assert_snapshot!(relied_on($message, $full));
            });
        }
    )*};
}

messages! {
    load(true) = "lsc_load.ugm (M1, 16) A:d32 flat[Q]:a64";
    store(true) = "lsc_store.ugm (M1, 16) flat[Q]:a64 A:d32";
    store_masked(false) = "(P1) lsc_store.ugm (M1, 16) flat[Q]:a64 A:d32";
    load_of_bytes(true) = "lsc_load.ugm (M1, 16) A:d8u32 flat[Q]:a64";
    load_of_a_block(true) = "lsc_load.ugm (M1_NM, 1) A:d32x16t flat[Q]:a64";
    load_of_local_memory(true) = "lsc_load.slm (M1, 16) A:d32 flat[B]:a32";
    load_of_a_surface(true) = "lsc_load.ugm (M1, 16) A:d32 bti(0x5)[B]:a32";
    product(true) = "dpas.u8.u8.2.1 (M1, 16) A.0 V0.0 B.0 B(0,0)";
    atomic_add(false) = "(P1) lsc_atomic_iadd.ugm (M1, 16) V0:d32 flat[Q]:a64 A V0";
}
