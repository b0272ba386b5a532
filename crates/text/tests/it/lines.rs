//! The code of a routine, one instruction per line.

use visakit_isa::object::{RoutineId, RoutineKind};
use visakit_text::asm::{Options, assemble};
use visakit_text::{Form, Printer};

#[test]
fn lines_have_no_numbers_and_keep_what_looks_like_one() {
    let text = ".version 3.6\n.kernel \"k\"\n\
        .decl V v_type=G type=d num_elts=8 align=GRF\n\
        FILE \"a///b.cl\"\n\
        here:\n\
        mov (M1, 8) V(0,0)<1> 0x1:d\n\
        ret (M1, 1)\n";
    let object = assemble(text.as_bytes(), &Options::default()).unwrap();
    let kernel = RoutineId::new(RoutineKind::Kernel, 0);
    for (form, label) in [(Form::Plain, "here:"), (Form::Intel, "here_28:")] {
        let options = visakit_text::Options {
            form,
            grf_bytes: None,
        };
        let lines = Printer::new(&object, options).code(kernel);
        let code = "mov (M1, 8) V(0,0)<1> 0x1:d";
        let expected = ["FILE \"a///b.cl\"", label, code, "ret (M1, 1)"];
        assert_eq!(lines, expected);
    }
    let missing = RoutineId::new(RoutineKind::Function, 0);
    assert!(
        Printer::new(&object, visakit_text::Options::default())
            .code(missing)
            .is_empty()
    );
}
