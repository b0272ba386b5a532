//! Answers to single queries.

use crate::at;
use visakit_isa::Platform;
use visakit_language::{CannotRename, Document, FoldKind, Settings, Severity, SymbolKind};

const TEXT: &str = "\
.version 4.1
.kernel \"main\"
.decl A v_type=G type=ud num_elts=16 align=GRF
.decl B v_type=G type=d num_elts=16 alias=<A, 0>
.decl P1 v_type=P num_elts=16
.input A offset=32 size=64
.kernel_attr SimdSize=16
    add (M1, 16) A(0,0)<1> B(0,0)<1;1,0> %r0(0,0)<0;1,0>
AGAIN:
    cmp.lt (M1, 16) P1 A(0,0)<1;1,0> 0x10:ud
    (P1) goto (M1, 16) AGAIN
{
    .decl A v_type=G type=f num_elts=8
    mov (M1, 8) A(0,0)<1> 0x0:f
}
    call (M1, 16) SUB
    ret (M1, 1)
.function \"SUB\"
SUB:
    ret (M1, 1)
";

fn lines(document: &Document, offset: usize) -> Vec<usize> {
    document
        .references(offset)
        .into_iter()
        .map(|r| document.line_at(r.start))
        .collect()
}

#[test]
fn names_are_found_in_their_scopes() {
    let document = Document::new(TEXT);
    assert_eq!(document.problems(), []);
    assert_eq!(lines(&document, at(TEXT, "A(0,0)<1;1", 0)), [2, 3, 5, 7, 9]);
    assert_eq!(lines(&document, at(TEXT, "A(0,0)<1> 0x0", 0)), [12, 13]);
    assert_eq!(lines(&document, at(TEXT, "AGAIN", 1)), [8, 10]);
    assert_eq!(lines(&document, at(TEXT, "P1", 1)), [4, 9, 10]);
    assert_eq!(lines(&document, at(TEXT, "SUB", 0)), [15, 17, 18]);
    let inner = document.definition(at(TEXT, "A(0,0)<1> 0x0", 0)).unwrap();
    assert_eq!((inner.line, inner.kind), (12, SymbolKind::Variable));
    assert!(document.definition(at(TEXT, "%r0", 0)).is_none());
}

#[test]
fn renaming_takes_every_place_and_no_other() {
    let mut document = Document::new(TEXT);
    let offset = at(TEXT, "AGAIN", 0);
    assert_eq!(document.rename(0, "x"), Err(CannotRename::NoName));
    assert_eq!(
        document.rename(offset, "1x"),
        Err(CannotRename::NotAName(SymbolKind::Label))
    );
    let variable = at(TEXT, "A v_type", 0);
    assert!(matches!(
        document.rename(variable, "B"),
        Err(CannotRename::Taken(_))
    ));
    assert!(matches!(
        document.rename(variable, "V7"),
        Err(CannotRename::Taken(_))
    ));
    let mut edits = document.rename(variable, "DATA").unwrap();
    assert_eq!(edits.len(), 5);
    edits.reverse();
    for edit in edits {
        document.edit(edit.range, &edit.text).unwrap();
    }
    assert_eq!(document.problems(), []);
    assert!(document.text().contains("add (M1, 16) DATA(0,0)<1> B(0,0)"));
    assert!(document.text().contains("mov (M1, 8) A(0,0)<1>"));
}

#[test]
fn hovers_tell_what_a_thing_is() {
    let document = Document::with_settings(
        TEXT,
        Settings {
            platform: Some(Platform::Pvc),
        },
    );
    let of = |what: &str, nth| {
        document
            .hover(at(TEXT, what, nth))
            .map(|h| h.markdown)
            .unwrap_or_default()
    };
    let add = of("add", 0);
    assert!(
        add.contains("### ADD") && add.contains("`src1`") && add.contains("Offset `0x0`"),
        "{add}"
    );
    let variable = of("A(0,0)<1> B", 0);
    assert!(
        variable.contains(".decl A v_type=G type=ud num_elts=16 align=GRF"),
        "{variable}"
    );
    assert!(
        variable.contains("64 bytes, 1 register of 64"),
        "{variable}"
    );
    assert!(
        variable.contains(
            "Written by 1 instruction and read by 1 instruction, live from line 8 to line 11"
        ),
        "{variable}"
    );
    assert!(
        variable.contains("1 more variable with the same storage"),
        "{variable}"
    );
    assert!(of("%r0", 0).contains("predefined variable, 8 elements of type `ud`"));
    assert!(of("AGAIN", 1).contains("Label, line 9, used 1 time"));
    assert!(of(":ud", 0).contains("4 bytes an element"));
    assert!(of(".kernel_attr", 0).contains("attribute"));
    assert!(of("M1, 16", 0).contains("that the exec mask enables"));
    assert!(of("num_elts", 0).contains("Number of elements"));
}

#[test]
fn completions_follow_the_place() {
    let has = |before: &str, label: &str| {
        let text = format!("{TEXT}{before}");
        let document = Document::new(text.as_str());
        let (range, list) = document.complete(text.len());
        assert_eq!(range.end, text.len());
        list.iter().any(|c| c.label == label)
    };
    assert!(has("    lsc_l", "lsc_load"));
    assert!(has("    (P1) mo", "mov"));
    assert!(!has("    lsc_l", "mov"));
    assert!(has("    (", "P1") && !has("    (", "A"));
    assert!(has("    (P1.", "any"));
    assert!(has("    add.", "sat"));
    assert!(has("    cmp.", "lt"));
    assert!(has("    add (", "M1_NM"));
    assert!(has("    add (M1, 8) ", "A") && has("    add (M1, 8) ", "%r0"));
    assert!(has("    add (M1, 8) A(0,0)<1> 0x1:", "uw"));
    assert!(has("    goto (M1, 8) ", "AGAIN") && !has("    add (M1, 8) ", "AGAIN"));
    assert!(has(".dec", ".decl"));
    assert!(has(".decl X ", "num_elts="));
    assert!(has(".decl X v_type=", "G") && has(".decl X v_type=G type=u", "ud"));
    assert!(has(".decl X v_type=G type=ud align=", "GRF"));
    assert!(has(".decl X attrs={", "Output"));
    assert!(has(".kernel_attr Sim", "SimdSize"));
    assert!(!has("// lsc_l", "lsc_load"));
}

#[test]
fn faults_do_not_take_symbols_away() {
    let text = TEXT
        .replace("0x10:ud", "")
        .replace(".decl P1 v_type=P num_elts=16", ".decl P1 v_type=P");
    let document = Document::new(text.as_str());
    assert!(
        document
            .problems()
            .iter()
            .all(|p| p.severity == Severity::Error && p.rule.is_none())
    );
    assert!(!document.analysis().assembles() && document.analysis().encoded().is_empty());
    assert_eq!(lines(&document, at(&text, "P1", 1)), [4, 9, 10]);
    assert!(document.hover(at(&text, "add", 0)).is_some());
    // What was assembled nevertheless has a live range.
    let a = document.definition(at(&text, "A v_type", 0)).unwrap();
    assert_eq!(document.life(&a).unwrap().writes, 1);
}

#[test]
fn fixes_come_from_what_may_be_meant() {
    let text = TEXT.replace("goto (M1, 16) AGAIN", "gotoo (M1, 16) AGAIN");
    let mut document = Document::new(text.as_str());
    let (problem, fix) = document.fixes(0..text.len())[0];
    assert_eq!(problem.help.as_deref(), Some("did you mean `goto`?"));
    let edit = fix.edit.clone();
    document.edit(edit.range, &edit.text).unwrap();
    assert_eq!(document.text(), TEXT);
}

#[test]
fn findings_are_those_of_the_platform_that_the_text_names() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=uq num_elts=8 align=GRF\n    lsc_load.ugm (M1, 8) A:d32 flat[A]:a64\n    ret (M1, 1)\n\n//Platform: TGLLP\n//Build option: \"-output\"\n";
    let mut document = Document::new(text);
    assert_eq!(document.platform(), Some(Platform::Tgllp));
    let problem = &document.problems()[0];
    assert!(
        problem.rule.is_some() && problem.help.is_some(),
        "{problem:?}"
    );
    assert_eq!(document.line_at(problem.span.start), 3);
    let at = at(text, "TGLLP", 0);
    document.edit(at..at + 5, "PVC").unwrap();
    assert_eq!(document.problems(), []);
    document.edit(at..at + 3, "what").unwrap();
    document.set_settings(Settings {
        platform: Some(Platform::Dg2),
    });
    assert_eq!(document.platform(), Some(Platform::Dg2));
}

#[test]
fn values_that_a_loop_carries_live_as_long_as_the_loop() {
    let text = "\
.version 4.1
.kernel \"k\"
.decl SUM v_type=G type=ud num_elts=16
.decl BEFORE v_type=G type=ud num_elts=16
.decl FRESH v_type=G type=ud num_elts=16
.decl P1 v_type=P num_elts=16
    mov (M1, 16) BEFORE(0,0)<1> 0x1:ud
L:
    add (M1, 16) SUM(0,0)<1> SUM(0,0)<1;1,0> BEFORE(0,0)<1;1,0>
    mov (M1, 16) FRESH(0,0)<1> SUM(0,0)<1;1,0>
    cmp.lt (M1, 16) P1 FRESH(0,0)<1;1,0> 0x10:ud
    (P1) goto (M1, 16) L
    ret (M1, 1)
";
    let document = Document::new(text);
    let life = |name: &str| {
        let definition = document.definition(at(text, name, 0)).unwrap();
        document.life(&definition).unwrap().lines.unwrap()
    };
    assert_eq!(life("SUM"), 7..12);
    assert_eq!(life("BEFORE"), 6..12);
    assert_eq!(life("FRESH"), 9..11);
}

#[test]
fn outlines_folds_and_lenses() {
    let document = Document::new(TEXT);
    let outline = document.outline();
    assert_eq!(outline.len(), 1);
    assert_eq!(document.name_of(&outline[0].definition), "main");
    let names: Vec<_> = outline[0]
        .children
        .iter()
        .map(|c| document.name_of(&c.definition))
        .collect();
    assert_eq!(names, ["A", "B", "P1", "AGAIN", "A", "SUB", "SUB"]);
    let folds: Vec<_> = document
        .folds()
        .into_iter()
        .map(|f| (f.lines.start, f.lines.end, f.kind))
        .collect();
    assert!(folds.contains(&(1, 20, FoldKind::Routine)), "{folds:?}");
    assert!(folds.contains(&(2, 5, FoldKind::Declarations)), "{folds:?}");
    assert!(folds.contains(&(11, 15, FoldKind::Scope)), "{folds:?}");
    let lenses = document.lenses();
    assert_eq!(
        (lenses.len(), lenses[0].name.as_str(), lenses[0].kernel),
        (1, "main", true)
    );
}

#[test]
fn hints_tell_offsets_and_bytes() {
    let document = Document::new(TEXT);
    let line = document.line_start(7)..document.line_start(8);
    let [hint] = document.hints(line.clone()).try_into().unwrap();
    assert_eq!(hint.at, line.end - 1);
    assert_eq!(hint.label, "0x0000: 01 04 00 00 00 20 00 00 …");
    assert!(
        hint.detail
            .starts_with("offset 0x0 in the routine's instructions, 31 bytes: 01 04"),
        "{hint:?}"
    );
    // Each begins where the previous one ends; text between routines and declarations has none.
    let all = document.hints(0..TEXT.len());
    assert!(all[1].label.starts_with("0x001f: "), "{:?}", all[1]);
    assert_eq!(document.hints(0..document.line_start(7) - 1), []);
    let faulty = Document::new(TEXT.replace("0x10:ud", ""));
    assert_eq!(faulty.hints(0..usize::MAX), []);
}

/// Names in scopes: a name that referred to one variable never refers to another afterwards.
#[test]
fn renaming_respects_scopes() {
    let text = "\
.version 4.1
.kernel \"k\"
.decl A v_type=G type=ud num_elts=16
.decl B v_type=G type=ud num_elts=16
{
.decl B v_type=G type=ud num_elts=8
    mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>
}
L:
    mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>
    ret (M1, 1)
.global_function \"f\"
.decl A v_type=G type=ud num_elts=16
L:
    mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>
    fret (M1, 1)
";
    let mut document = Document::new(text);
    let outer = at(text, "A v_type", 0);
    let inner = at(text, "B v_type", 1);
    let label = at(text, "L:", 0);
    for (offset, name) in [
        // Hidden by the inner one, hides the outer one, predefined.
        (outer, "B"),
        (inner, "A"),
        (outer, "V7"),
        (label, "L2:"),
        (label, ""),
        (label, "\u{e9}"),
    ] {
        assert!(document.rename(offset, name).is_err(), "{name}");
    }
    let renamed = |document: &mut Document, offset: usize, name: &str| {
        let mut edits = document.rename(offset, name).unwrap();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
        for edit in &edits {
            document.edit(edit.range.clone(), &edit.text).unwrap();
        }
        edits.len()
    };
    // The function's own names are others.
    assert_eq!(renamed(&mut document, label, "AGAIN"), 1);
    assert_eq!(renamed(&mut document, outer, "DATA"), 3);
    let inner = at(document.text(), "B v_type", 1);
    assert_eq!(renamed(&mut document, inner, "OWN"), 2);
    assert!(
        document
            .problems()
            .iter()
            .all(|p| p.severity == Severity::Warning)
    );
    assert!(document.text().contains(
        "mov (M1, 8) OWN(0,0)<1> DATA(0,0)<1;1,0>\n}\nAGAIN:\n    mov (M1, 8) B(0,0)<1> DATA"
    ));
    assert!(
        document
            .text()
            .contains("L:\n    mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>\n    fret")
    );
}
