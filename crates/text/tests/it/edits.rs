//! Exact text edited by hand: only the edit has an effect, and directives never undo it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use visakit_text::Form;
use visakit_text::asm::{DiagnosticKind, Options as AsmOptions, assemble};

const VECADD: &[u8] = include_bytes!("../../../../fixtures/objects/vecadd_f32_skl_v41.isa");
const SUBGROUPS: &[u8] = include_bytes!("../../../../fixtures/objects/subgroups_skl_v36.isa");

/// Exact text without the checksums of routines, so that native code stays whatever is edited.
fn exact(bytes: &[u8]) -> String {
    let text = print(bytes, Form::Exact);
    let lines = text.split_inclusive('\n');
    lines.filter(|l| !l.starts_with("//@ compiled ")).collect()
}

fn print(bytes: &[u8], form: Form) -> String {
    let object = visakit_parse::read(bytes).unwrap();
    String::from_utf8(crate::text_of(&object, form)).unwrap()
}

fn written(text: &str) -> Vec<u8> {
    let object = assemble(text.as_bytes(), &AsmOptions::default()).unwrap();
    visakit_encode::write(&object).unwrap()
}

/// The end of the string pool of the committed object with subgroups.
const LAST_STRINGS: &str = "//@ strings \"V0135\" \"V0136\" \"V0137\" \"V0138\" \"V0139\" \"V0140\" \"V0141\" \"V0142\" \"V0143\" \"Target\"";

/// The faults of a text, each with its line.
fn faults(text: &str) -> Vec<(DiagnosticKind, String, String)> {
    let faults = assemble(text.as_bytes(), &AsmOptions::default()).unwrap_err();
    let line = |span: visakit_text::asm::Span| {
        let (line, _) = span.place(text.as_bytes());
        text.lines().nth(line - 1).unwrap().to_owned()
    };
    let faults = faults.into_iter();
    faults
        .map(|f| (f.kind, f.message.clone(), line(f.span)))
        .collect()
}

/// Lines that only one of the texts has, in order; those of the first are marked with `-`.
fn diff(a: &str, b: &str) -> Vec<String> {
    let (a, b): (Vec<_>, Vec<_>) = (a.lines().collect(), b.lines().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let mut lines = Vec::new();
    let (mut i, mut j) = (head, head);
    while i < a.len() || j < b.len() {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if x == y => (i, j) = (i + 1, j + 1),
            (Some(x), y) => {
                let later = b.iter().skip(j).position(|z| z == x);
                match (later, y) {
                    (Some(n), _) if n < 8 => {
                        lines.extend(b[j..j + n].iter().map(|l| format!("+{l}")));
                        j += n;
                    }
                    _ => {
                        lines.push(format!("-{x}"));
                        i += 1;
                    }
                }
            }
            (None, Some(y)) => {
                lines.push(format!("+{y}"));
                j += 1;
            }
            (None, None) => break,
        }
    }
    lines
}

/// Replaces a text that occurs exactly once.
fn replace_once(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

#[test]
fn only_the_edit_of_a_real_kernel_shows() {
    let before = exact(VECADD);
    assert_eq!(written(&before), VECADD);
    let edited = replace_once(
        &before,
        "%cr0(0,0)<0;1,0> 0x4c0:ud",
        "%cr0(0,0)<0;1,0> 0x440:ud",
    );
    let edited = replace_once(
        &edited,
        "mov (M1, 16) V0048(0,0)<1> V0050(0,0)<1;1,0>",
        "mov (M1, 16) V0048(0,0)<1> V0050(0,0)<0;1,0>",
    );
    let edited = replace_once(
        &edited,
        ".decl S0 ",
        ".decl mine v_type=G type=f num_elts=16 align=GRF\n.decl S0 ",
    );
    let edited = replace_once(
        &edited,
        "    add (M1, 16) V0058(0,0)<1> ",
        "    mul (M1, 16) mine(0,0)<1> V0058(0,0)<1;1,0> 0x40000000:f\n    add (M1, 16) V0058(0,0)<1> ",
    );
    let bytes = written(&edited);
    let after = exact(&bytes);
    assert_eq!(after, edited);
    assert_eq!(
        diff(&before, &after),
        [
            "+.decl mine v_type=G type=f num_elts=16 align=GRF",
            "-    or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud",
            "+    or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x440:ud",
            "-    mov (M1, 16) V0048(0,0)<1> V0050(0,0)<1;1,0>",
            "+    mov (M1, 16) V0048(0,0)<1> V0050(0,0)<0;1,0>",
            "+    mul (M1, 16) mine(0,0)<1> V0058(0,0)<1;1,0> 0x40000000:f",
        ]
    );
    // The native code is still there, after a longer routine.
    let object = visakit_parse::read(&bytes).unwrap();
    let original = visakit_parse::read(VECADD).unwrap();
    assert_eq!(object.kernels[0].binaries, original.kernels[0].binaries);
}

#[test]
fn a_stated_string_pool_takes_new_names() {
    let before = exact(SUBGROUPS);
    assert_eq!(written(&before), SUBGROUPS);
    assert!(before.contains("//@ strings \"subgroups\""));
    let edited = replace_once(
        &before,
        ".decl P01 ",
        ".decl mine v_type=A num_elts=8\n.decl P01 ",
    );
    let edited = replace_once(&edited, "SimdSize=16 //@ value/1", "SimdSize=8 //@ value/1");
    let after = exact(&written(&edited));
    assert_eq!(
        diff(&before, &after),
        [
            format!("-{LAST_STRINGS}"),
            format!("+{LAST_STRINGS} \"mine\""),
            "+.decl mine v_type=A num_elts=8".to_owned(),
            "-.kernel_attr SimdSize=16 //@ value/1".to_owned(),
            "+.kernel_attr SimdSize=8 //@ value/1".to_owned(),
        ]
    );
}

#[test]
fn stale_directives_are_faults() {
    let text = "\
.version 3.0
.kernel \"a\"
//@ strings \"a\" \"x.y\" \"b\"
.decl x_y v_type=G type=w num_elts=8 align=oword //@ name=\"x_y\">1
    mov (M1, 8) x_y(0,0)<1> 0x5:w //@ exec_size+0x90 src0.low+0xffff0000
    ret (M1, 1)
";
    let object = assemble(text.as_bytes(), &AsmOptions::default()).unwrap();
    let body = object.kernels[0].body().unwrap();
    assert_eq!(body.strings.len(), 4, "{:?}", body.strings); // and the name of the target
    assert_eq!(body.variables[0].name.0, 1);

    // What a directive does not change can be edited.
    let edited = text.replace("0x5:w", "0x7:w").replace("(M1, 8)", "(M1, 4)");
    assert!(assemble(edited.as_bytes(), &AsmOptions::default()).is_ok());

    // What it changes cannot silently become something else.
    for (from, to, key) in [
        ("0x5:w", "-5:w", "src0.low"),
        ("0x5:w", "x_y(0,0)<0;1,0>", "src0.low"),
        ("(M1, 8)", "(M1_NM, 8)", "exec_size"),
        ("x_y", "z", "name"),
    ] {
        let faults = faults(&text.replace(from, to).replace("\"z\"", "\"x_y\""));
        assert_eq!(faults.len(), 1, "{faults:?}");
        let (kind, message, _) = &faults[0];
        assert_eq!(*kind, DiagnosticKind::StaleDirective);
        assert!(message.contains(&format!("`{key}`")), "{message}");
    }
}

#[test]
fn directives_that_make_no_sense_are_faults() {
    for (line, expected) in [
        ("//@ nonsense", "no directive is called `nonsense`"),
        ("//@", "the line ends too early"),
        (
            "//@ dialect writer-2018",
            "the dialect must precede the first routine",
        ),
        ("//@ native PDP11", "no platform is called `PDP11`"),
        ("//@ data AAAA", "nothing before this line takes bytes"),
        (
            "//@ strings \"late\"",
            "the strings of a routine precede everything else of it",
        ),
        (
            "//@ place kernel 0",
            "there is no arrangement that this could belong to",
        ),
        ("//@ stored size 5", "no number is called `size`"),
        ("    ret (M1, 1) //@ exec_size", "the line ends too early"),
        (
            "    ret (M1, 1) //@ exec_size=0>1",
            "`exec_size` cannot be changed in this way",
        ),
        (
            "    ret (M1, 1) //@ src0+1",
            "what the line makes has no number `src0`",
        ),
        (
            "    .op NOTHING",
            "this version has no instruction of the name `NOTHING`",
        ),
        ("    .op RET exec_size=0", "the line ends too early"),
        (
            "    .op RET exec_size=0x100 pred=0",
            "256 does not fit into 8 bits",
        ),
        ("    .bytes 0", "unexpected `0`"),
        (
            ".label a unplaced\n.label a unplaced",
            "label `a` is declared twice",
        ),
    ] {
        let text =
            format!(".version 4.1\n.kernel \"a\"\n.decl v v_type=G type=d num_elts=1\n{line}\n");
        let faults = faults(&text);
        let (_, message, _) = &faults[0];
        assert!(message.contains(expected), "{line}: {faults:?}");
    }
}
