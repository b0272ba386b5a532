//! Texts of several routines.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Write;
use visakit_isa::object::{Object, Routine};
use visakit_testing::effort::is_linear;
use visakit_text::Form;
use visakit_text::asm::{Options, assemble};

fn target(routine: &Routine<'_>) -> u8 {
    routine.body().unwrap().attribute("Target").unwrap().value[0]
}

/// A routine without a target has that of the last function before it, or else of the last kernel.
#[test]
fn targets_are_handed_on() {
    let text = b".version 4.1
.kernel \"a\"
.global_function \"f\"
.kernel \"b\"
.kernel_attr Target=\"cm\"
.global_function \"g\"
.kernel \"c\"
.kernel_attr Target=\"cm\"
.global_function \"h\"
.kernel_attr Target=\"cm\"
.kernel \"d\"
.global_function \"i\"
";
    let object = assemble(text, &Options::default()).unwrap();
    let targets = |routines: &[Routine<'_>]| routines.iter().map(target).collect::<Vec<_>>();
    assert_eq!(targets(&object.kernels), [1, 0, 0, 0]);
    assert_eq!(targets(&object.functions), [1, 1, 0, 0]);
}

/// Examining all routines before each one would take 64 times as long for 8 times as many.
#[test]
fn time_is_linear_in_the_number_of_routines() {
    let assembled = |routines: usize| {
        let mut text = String::from(".version 4.1\n");
        for i in 0..routines {
            writeln!(text, ".kernel \"k{i}\"\n.global_function \"f{i}\"").unwrap();
        }
        move || {
            let object = assemble(text.as_bytes(), &Options::default()).unwrap();
            assert_eq!(object.routines().count(), 2 * routines);
        }
    };
    is_linear(assembled(2000), assembled(16_000));
}

/// Instructions whose text has to be tried must not be tried together with all variables of the
/// file.
#[test]
fn printing_time_is_linear_in_routines_and_variables_of_the_file() {
    let text_of = |routines: usize| {
        let mut text = String::from(".version 3.1\n");
        for i in 0..routines * 5 {
            writeln!(text, ".file_decl \"@n{i}\" type=ud num_elts=8 align=GRF").unwrap();
        }
        for i in 0..routines {
            writeln!(
                text,
                ".kernel \"k{i}\"\n.decl V v_type=G type=ud num_elts=8 alias=<@n{i}, 0>\n\
                 .decl T6 v_type=T num_elts=1\noword_ld (4) T6 0:ud V.0"
            )
            .unwrap();
        }
        text
    };
    let (few, many) = (text_of(150), text_of(1200));
    let object_of = |text| assemble(text, &Options::default()).unwrap();
    let (few, many) = (object_of(few.as_bytes()), object_of(many.as_bytes()));
    let printed = |object: &Object<'_>| {
        let _ = crate::text_of(object, Form::Plain);
    };
    is_linear(|| printed(&few), || printed(&many));
    let text = crate::text_of(&many, Form::Plain);
    assert_eq!(object_of(&text), many);
}
