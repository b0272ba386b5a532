//! For every rule an object that breaks it, and no other.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use crate::common;
use crate::common::edits::EDITS;
use crate::common::texts::faults;
use visakit_isa::object::Object;
use visakit_validate::{Area, rules};

/// Rules about bytes and texts, which no object can break.
const OUTSIDE: [u16; 5] = [2, 3, 5, 16, 514];

#[test]
fn texts_break_their_rule_only() {
    let mut wrong = Vec::new();
    for (rule, platform, declarations, lines) in faults() {
        let text = common::text(declarations, lines);
        let found: Vec<String> = match common::assembled(&text) {
            Ok(object) => {
                let report = common::report(&object, platform);
                report.findings.iter().map(ToString::to_string).collect()
            }
            Err(error) => vec![format!("not assembled: {error}")],
        };
        let id = rule.id().to_string();
        if found.len() != 1 || !found[0].contains(&id) {
            wrong.push(format!("{id}: {lines}\n      {}", found.join("\n      ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn right_examples_break_no_rule() {
    let mut wrong = Vec::new();
    for example in visakit_validate::examples::all() {
        let Some((declarations, lines)) = example.right else {
            continue;
        };
        let found: Vec<String> = match common::assembled(&common::text(declarations, lines)) {
            Ok(object) => {
                // A different platform if the rule requires one.
                let platform = if example.right.is_some_and(|r| r.1 == example.wrong)
                    && !example.platform.is_empty()
                {
                    "tgllp"
                } else {
                    example.platform
                };
                let report = common::report(&object, platform);
                report.findings.iter().map(ToString::to_string).collect()
            }
            Err(error) => vec![format!("not assembled: {error}")],
        };
        if !found.is_empty() {
            let id = example.rule.id();
            wrong.push(format!("{id}: {lines}\n      {}", found.join("\n      ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The findings of an object, unless it is the one that is wanted.
fn unless_only(id: &str, object: &Object<'_>, platform: &str) -> Option<String> {
    let report = common::report(object, platform);
    let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    (found.len() != 1 || !found[0].contains(id)).then(|| found.join("\n      "))
}

#[test]
fn edits_break_their_rule_only() {
    let mut wrong = Vec::new();
    for (n, (rule, lines, edit)) in EDITS.iter().enumerate() {
        let id = rule.id().to_string();
        let mut object = match common::assembled(&common::text("", lines)) {
            Ok(object) => object,
            Err(error) => {
                wrong.push(format!("{id} ({n}): not assembled: {error}"));
                continue;
            }
        };
        if let Some(found) = unless_only("nothing", &object, "").filter(|f| !f.is_empty()) {
            wrong.push(format!("{id} ({n}): not sound: {found}"));
        }
        edit(&mut object);
        if let Some(found) = unless_only(&id, &object, "") {
            wrong.push(format!("{id} ({n})\n      {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_an_object_that_breaks_it() {
    let broken: Vec<u16> = faults()
        .map(|f| f.0.number)
        .chain(EDITS.iter().map(|e| e.0.number))
        .chain(OUTSIDE)
        .collect();
    let missing: Vec<String> = rules::all()
        .filter(|r| !broken.contains(&r.number))
        .map(|r| r.id().to_string())
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn rules_are_declared_soundly() {
    let all: Vec<_> = rules::all().collect();
    assert!(all.windows(2).all(|w| w[0].number < w[1].number));
    for rule in all {
        let id = rule.id().to_string();
        assert!(id.len() <= 40, "{id}");
        assert!(
            rule.what.ends_with(['.', ')']) && rule.action.ends_with('.'),
            "{id}"
        );
        assert!(!rule.source.is_empty(), "{id}");
        assert_eq!(visakit_validate::Rule::find(&id), Some(rule));
        assert_eq!(visakit_validate::Rule::find(rule.name), Some(rule));
        let number = format!("v{}", rule.number);
        assert_eq!(visakit_validate::Rule::find(&number), Some(rule));
        assert!(Area::ALL.contains(&rule.area()));
    }
    assert!(visakit_validate::Rule::find("V9999").is_none());
    for (number, name, _) in rules::RETIRED {
        assert!(rules::all().all(|rule| rule.number != number && rule.name != name));
    }
}

/// Only newer dialects have the field.
#[test]
fn paired_surfaces_are_of_newer_platforms() {
    use visakit_isa::{Dialect, Field, FieldName, RawOperand, Value, VarId};
    let line = "sample_3d.RGBA (M1, 16) 0x0:uw S0 T6 F0.0 F1.0";
    let mut object = common::assembled(&common::text("", line)).unwrap();
    object.dialect = Dialect::Reader2024_02;
    let code = &mut object.kernels[0].body_mut().unwrap().code;
    let Some(visakit_isa::object::Item::Instruction(sample)) = code.first_mut() else {
        unreachable!();
    };
    let dst = sample.fields.iter().position(|f| f.name == FieldName::Dst);
    let paired = RawOperand {
        variable: VarId(32),
        offset: 0,
    };
    let field = Field {
        name: FieldName::PairedSurface,
        value: Value::Raw(paired),
    };
    sample.fields.insert(dst.unwrap() + 1, field);
    let id = rules::PAIRED_SURFACE.id().to_string();
    assert_eq!(unless_only(&id, &object, "dg2"), None);
    assert_eq!(common::report(&object, "xe2").errors, 0);
}

/// Compilers write them for SKL, too, and Intel's verifier accepts them.
#[test]
fn scattered_qwords_are_of_all_platforms() {
    for line in [
        "qw_gather.1 (M1, 8) T6 U0.0 Q0.0",
        "qw_scatter.1 (M1, 8) T6 U0.0 Q0.0",
    ] {
        let object = common::assembled(&common::text("", line)).unwrap();
        assert_eq!(common::report(&object, "skl").errors, 0, "{line}");
    }
}

/// The control flow given by the rows decides whether a routine ends.
#[test]
fn ends_are_told_by_the_rows() {
    let no_return = |line: &str| {
        let text = common::text("", line).replacen("    ret (M1, 1)\n", "", 1);
        let options = visakit_text::asm::Options {
            dialect: Some(visakit_isa::Dialect::Reader2026_04),
            ..visakit_text::asm::Options::default()
        };
        let object = visakit_text::asm::assemble(text.as_bytes(), &options).unwrap();
        let report = common::report(&object, "");
        let mut rules = report.findings.iter().map(|finding| finding.rule);
        rules.any(|rule| rule == &rules::NO_RETURN)
    };
    assert!(no_return("mov (M1, 8) D0(0,0)<1> D1(0,0)<1;1,0>"));
    assert!(!no_return("ifcall.noreturn (M1, 1) U0(0,0)<0;1,0> 0 0"));
    assert!(no_return("ifcall (M1, 1) U0(0,0)<0;1,0> 0 0"));
    // All lanes leave, however many there are.
    assert!(!no_return("one:\ngoto (M1, 16) one"));
    assert!(no_return("one:\n(P1) goto (M1, 16) one"));
}

/// Shipped kernels negate what logic instructions read, and run; elsewhere it is an error.
#[test]
fn logic_takes_negated_sources() {
    let errors = |line: &str| {
        let object = common::assembled(&common::text("", line)).unwrap();
        common::report(&object, "").errors
    };
    for name in ["and", "or", "xor"] {
        let line = format!("{name} (M1, 8) D0(0,0)<1> (-)D0(0,0)<1;1,0> D1(0,0)<1;1,0>");
        assert_eq!(errors(&line), 0, "{line}");
    }
    assert_eq!(errors("not (M1, 8) D0(0,0)<1> (abs)D0(0,0)<1;1,0>"), 0);
    assert_eq!(errors("bfrev (M1, 8) U0(0,0)<1> (-)U0(0,0)<1;1,0>"), 1);
    assert_eq!(
        errors("add (M1, 8) D0(0,0)<1> (~)D0(0,0)<1;1,0> D1(0,0)<1;1,0>"),
        1
    );
}

/// Predicate number 0 means none, and is not an operand.
#[test]
fn predicate_zero_is_no_operand() {
    use visakit_isa::{FieldName, Value, operand::VectorOperand};
    let mut object = common::assembled(&common::text("", "setp (M1_NM, 16) P1 0x1:d")).unwrap();
    let code = &mut object.kernels[0].body_mut().unwrap().code;
    let Some(visakit_isa::object::Item::Instruction(setp)) = code.first_mut() else {
        unreachable!();
    };
    let Some(Value::Vector(VectorOperand::Predicate(dst))) = setp.get_mut(FieldName::Dst) else {
        unreachable!();
    };
    dst.predicate = visakit_isa::Predicate::NONE;
    let id = rules::INDEX.id().to_string();
    assert_eq!(unless_only(&id, &object, ""), None);
}

/// The compiler aliases a variable that fills a register with any type, whatever alignment it declares.
#[test]
fn what_fills_a_register_begins_one() {
    let declared = |elements: u8| {
        format!(
            ".decl VD v_type=G type=d num_elts={elements} align=dword\n\
             .decl VQ v_type=G type=q num_elts=1 align=dword alias=<VD,0>"
        )
    };
    let line = "mov (M1, 1) VQ(0,0)<1> 0x1:q";
    let wide = common::assembled(&common::text(&declared(16), line)).unwrap();
    assert_eq!(common::report(&wide, "pvc").errors, 0);
    let narrow = common::assembled(&common::text(&declared(8), line)).unwrap();
    let id = rules::ALIAS_ALIGNMENT.id().to_string();
    assert_eq!(unless_only(&id, &narrow, "pvc"), None);
}

/// The sources of the block-scaled product may have the types of its precisions.
#[test]
fn block_scaled_products_multiply_floats() {
    let text = ".version 4.2\n.kernel \"k\"\n.decl F v_type=G type=f num_elts=128 align=GRF\n\
        .decl H v_type=G type=hf num_elts=256 align=GRF\n.decl U v_type=G type=ub num_elts=64 align=GRF\n\
        .kernel_attr SimdSize=16\n\
        bdpas.hf.hf.8.8 (M1, 16) F.0 F.0 H.0 H.0 U(0,0) U(0,16)\n";
    let options = visakit_text::asm::Options::default();
    let made = visakit_text::asm::assemble_in_any_dialect(text.as_bytes(), &options).unwrap();
    let report = common::report(&made.object, "cri");
    assert_eq!(report.errors, 0, "{:?}", report.findings);
}
