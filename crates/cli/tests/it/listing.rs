//! Text for people: offsets, bytes, source lines, damaged places, colours.

#![allow(clippy::unwrap_used)] // helpers of tests

use crate::{OBJECTS, file as temporary, visakit};
use std::fs;

fn stdout(args: &[&str]) -> String {
    String::from_utf8(visakit(args).stdout).unwrap()
}

fn object(name: &str) -> String {
    format!("{OBJECTS}/{name}.isa")
}

#[test]
fn offsets_are_those_of_the_dump() {
    let path = object("subgroups_skl_v36");
    let listed = stdout(&["dis", &path, "--offsets", "--bytes"]);
    let last = listed
        .lines()
        .rev()
        .find(|l| l.contains(" ret (M1, 1)"))
        .unwrap();
    assert!(last.starts_with("/* 0x0019c9 34 00 00 00 "), "{last}");
    assert!(stdout(&["dump", &path]).contains("0x0019c9"));
    let file = fs::read(&path).unwrap();
    assert_eq!(file.get(0x19c9..0x19cd), Some(&[0x34, 0, 0, 0][..]));
}

#[test]
fn everything_shown_is_a_comment() {
    for name in ["subgroups_skl_v36", "call_stack_pvc_v41"] {
        let plain = stdout(&["dis", &object(name)]);
        let shown = stdout(&[
            "dis",
            &object(name),
            "--offsets",
            "--bytes",
            "--notes",
            "--source",
        ]);
        assert!(shown.len() > plain.len());
        let objects = [plain, shown].map(|text| {
            let path = temporary(&format!("{name}-{}.visaasm", text.len()));
            fs::write(&path, text).unwrap();
            visakit(&["asm", path.to_str().unwrap()]).stdout
        });
        let [plain, shown] = objects;
        assert!(plain.starts_with(b"CISA") && plain == shown);
    }
}

#[test]
fn exact_text_with_comments_is_still_exact() {
    for name in ["subgroups_skl_v36", "call_stack_pvc_v41"] {
        let path = object(name);
        let text = stdout(&["dis", "--exact", &path, "--offsets", "--bytes", "--source"]);
        let calls = text.matches("/* 0x").count();
        assert!(calls > 10, "{text}");
        let listed = temporary(&format!("{name}-exact.visaasm"));
        fs::write(&listed, text).unwrap();
        let made = visakit(&["asm", listed.to_str().unwrap()]).stdout;
        assert!(made == fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn every_routine_has_its_own_places() {
    let path = object("call_stack_pvc_v41");
    for form in ["--intel", "--exact"] {
        let text = stdout(&["dis", form, &path, "--offsets"]);
        let at = |line: &str| usize::from_str_radix(line.get(5..11)?, 16).ok();
        let mut places: Vec<_> = text
            .lines()
            .filter_map(|l| at(l.strip_prefix("/* 0x").map(|_| l)?))
            .collect();
        let count = places.len();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), count, "{form}: no place is shown twice");
        assert!(!places.contains(&0), "{form}");
    }
}

#[test]
fn damaged_places_are_marked_and_passed() {
    let whole = fs::read(object("call_stack_pvc_v41")).unwrap();
    let before = stdout(&["dis", &object("call_stack_pvc_v41"), "--offsets"]);
    // The opcode of an instruction in the middle of the first routine.
    let number = before
        .lines()
        .filter(|l| l.starts_with("/* 0x"))
        .nth(10)
        .unwrap();
    let offset = number
        .get(5..11)
        .and_then(|o| usize::from_str_radix(o, 16).ok())
        .unwrap();
    let mut damaged = whole;
    *damaged.get_mut(offset).unwrap() = 0xff;
    let path = temporary("damaged.isa");
    fs::write(&path, damaged).unwrap();
    let shown = visakit(&["dis", "--lenient", path.to_str().unwrap()]);
    assert_eq!(shown.status.code(), Some(1));
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.contains(&format!("/// damaged from {offset:#x} to ")),
        "{text}"
    );
    assert!(text.contains(".global_function"), "what follows is printed");
    let strict = visakit(&["dis", path.to_str().unwrap()]);
    assert_eq!((strict.status.code(), strict.stdout.len()), (Some(2), 0));
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let path = object("vecadd_f32_skl_v41");
    let plain = stdout(&["dis", &path]);
    assert!(!plain.contains('\x1b'));
    let coloured = stdout(&["dis", &path, "--color", "always"]);
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, code)) = rest.split_once('\x1b') {
        bare.push_str(before);
        rest = code.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert!(coloured.len() > plain.len());
    assert_eq!(bare, plain);
}

#[test]
fn a_dump() {
    insta::assert_snapshot!(stdout(&["dump", "vecadd_f32_skl_v41.isa"]));
}
