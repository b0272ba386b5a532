//! The tool as its users meet it: arguments in; output, messages and exit code out.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects");

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// The tool with its arguments, in the folder of the fixtures.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    command.args(args).current_dir(FIXTURES);
    command
}

fn visakit(args: &[&str]) -> Run {
    visakit_with(args, &[])
}

/// Runs the tool with bytes on its standard input.
fn visakit_with(args: &[&str], stdin: &[u8]) -> Run {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A tool that does not read its input may have gone by now.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(FIXTURES).join(name)).unwrap()
}

/// A file with this content, for one test.
fn temporary(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

const CALLS: &str = "call_stack_pvc_v41.isa";
const SUBGROUPS: &str = "subgroups_skl_v36.isa";
/// Objects of a folder that others may be added to.
const SOME: [&str; 3] = [CALLS, "images_dg2_v41.isa", SUBGROUPS];

/// A folder with some of the fixtures.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for name in SOME {
        std::fs::write(folder.join(name), fixture(name)).unwrap();
    }
    folder
}

#[test]
fn info_of_an_object_with_functions() {
    let run = visakit(&["info", CALLS]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("info_calls", run.stdout);
}

#[test]
fn info_of_an_older_object() {
    let run = visakit(&["info", SUBGROUPS]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("info_subgroups", run.stdout);
}

#[test]
fn info_as_json() {
    let run = visakit(&["info", "--json", CALLS, SUBGROUPS]);
    assert_eq!(run.code, Some(0));
    let json = run.json();
    assert_eq!(json["files"].as_array().unwrap().len(), 2);
    let file = &json["files"][0];
    assert_eq!(file["file"], CALLS);
    assert_eq!(file["version"], "4.1");
    assert_eq!(file["routines"].as_array().unwrap().len(), 4);
    assert_eq!(file["routines"][0]["kind"], "kernel");
    assert_eq!(file["routines"][0]["instructions"], 65);
    assert_eq!(file["routines"][1]["linkage"], "extern");
    assert_eq!(file["faults"], serde_json::json!([]));
    let attributes = file["routines"][0]["attributes"].as_array().unwrap();
    let simd = attributes.iter().find(|a| a["name"] == "SimdSize").unwrap();
    assert_eq!(simd["value"], 16);
}

#[test]
fn info_of_standard_input() {
    let run = visakit_with(&["info", "-"], &fixture(SUBGROUPS));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let of_file = visakit(&["info", SUBGROUPS]).stdout;
    assert_eq!(run.stdout, of_file.replace(SUBGROUPS, "<stdin>"));
}

#[test]
fn info_of_a_truncated_file() {
    let mut bytes = fixture(SUBGROUPS);
    bytes.truncate(5000);
    let strict = visakit_with(&["info", "-"], &bytes);
    assert_eq!((strict.code, strict.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!("info_truncated", strict.stderr);

    let lenient = visakit_with(&["info", "--lenient", "-"], &bytes);
    assert_eq!((lenient.code, lenient.stderr.as_str()), (Some(1), ""));
    insta::assert_snapshot!("info_truncated_lenient", lenient.stdout);

    let json = visakit_with(&["info", "--lenient", "--json", "-"], &bytes);
    assert_eq!(json.code, Some(1));
    let json = json.json();
    assert!(!json["files"][0]["faults"].as_array().unwrap().is_empty());
}

#[test]
fn info_goes_on_after_a_file_that_cannot_be_read() {
    let zeros = temporary("zeros.isa", &[0; 64]);
    let zeros = zeros.to_str().unwrap();
    let run = visakit(&["info", zeros, SUBGROUPS]);
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stdout, visakit(&["info", SUBGROUPS]).stdout);
    assert!(run.stderr.contains("not a vISA object"), "{}", run.stderr);
    assert!(run.stderr.contains(zeros), "{}", run.stderr);

    let json = visakit(&["info", "--json", zeros, SUBGROUPS]);
    assert_eq!(json.code, Some(2));
    let json = json.json();
    assert_eq!(json["files"][0]["offset"], 0);
    assert!(json["files"][0]["error"].is_string());
    assert_eq!(json["files"][1]["version"], "3.6");
}

#[test]
fn unusable_inputs() {
    let empty = temporary("empty.isa", &[]);
    let zeros = temporary("zeros-too.isa", &[0; 4096]);
    for (path, message) in [
        (".", "is a folder"),
        ("no-such-file.isa", "no-such-file.isa"),
        (empty.to_str().unwrap(), "input ends"),
        (zeros.to_str().unwrap(), "not a vISA object"),
    ] {
        for lenient in [&["info"][..], &["info", "--lenient"]] {
            let run = visakit(&[lenient, &[path]].concat());
            assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{path}");
            assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
            assert!(run.stderr.contains(message), "{}", run.stderr);
        }
    }
}

#[test]
fn stats_of_a_folder() {
    let run = visakit(&["stats", folder("stats").to_str().unwrap()]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("stats", run.stdout);
}

#[test]
fn stats_as_json() {
    let run = visakit(&[&["stats", "--json"][..], &SOME].concat());
    assert_eq!(run.code, Some(0));
    let json = run.json();
    let mix = json["mix"].as_array().unwrap();
    let sum: u64 = mix.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(json["instructions"], sum);
    let bytes = &json["bytes"];
    let parts = ["header", "tables", "code", "native", "other"];
    let parts: u64 = parts.iter().map(|p| bytes[p].as_u64().unwrap()).sum();
    assert_eq!(bytes["file"], parts);
    assert_eq!(json["objects"], 3);
}

#[test]
fn stats_tell_what_was_left_out() {
    let mut bytes = fixture(SUBGROUPS);
    bytes.truncate(5000);
    let cut = temporary("cut.isa", &bytes);
    let cut = cut.to_str().unwrap();
    let run = visakit(&["stats", cut, SUBGROUPS]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    assert!(run.stdout.starts_with(cut), "{}", run.stdout);
    assert!(run.stdout.contains("\n1 objects, "), "{}", run.stdout);
    assert!(run.stdout.contains("1 rejected"), "{}", run.stdout);

    let lenient = visakit(&["stats", "--lenient", cut, SUBGROUPS]);
    assert_eq!(lenient.code, Some(1));
    assert!(lenient.stdout.starts_with("2 objects, "));

    let json = visakit(&["stats", "--json", cut, SUBGROUPS]);
    assert_eq!(json.code, Some(1));
    assert_eq!(json.json()["rejected"][0]["file"], cut);

    let missing = visakit(&["stats", "no-such-folder", SUBGROUPS]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("no-such-folder"));
    assert!(missing.stdout.starts_with("1 objects, "));
}

#[test]
fn text_beside_objects_is_skipped() {
    let text = temporary("kernel.visaasm", b".version 4.1\n");
    let text = text.to_str().unwrap();
    for (args, clean) in [
        (["stats", text, SUBGROUPS], "1 objects, 1 kernels"),
        (["roundtrip", text, SUBGROUPS], "1 objects, 1 routines"),
    ] {
        let run = visakit(&args);
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.starts_with(clean), "{}", run.stdout);
        assert_eq!(run.stderr, format!("note: {text}: vISA text, skipped\n"));
    }
}

#[test]
fn reference_of_an_instruction() {
    let run = visakit(&["isa", "bfi"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("isa_bfi", run.stdout);
    for same in ["BFI", "0x47", "71"] {
        assert_eq!(visakit(&["isa", same]).stdout, run.stdout, "{same}");
    }
}

#[test]
fn reference_of_a_sub_operation() {
    let run = visakit(&["isa", "lsc_load_block2d"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("isa_lsc_load_block2d", run.stdout);
}

#[test]
fn reference_of_a_number_with_two_meanings() {
    let run = visakit(&["isa", "0x60"]);
    assert_eq!(run.code, Some(0));
    insta::assert_snapshot!("isa_0x60", run.stdout);
}

#[test]
fn reference_of_everything() {
    let run = visakit(&["isa"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let rows = visakit::isa::table::rows().count();
    assert_eq!(run.stdout.lines().count(), rows + 1);

    let json = visakit(&["isa", "--json"]).json();
    let json = json["instructions"].as_array().unwrap().clone();
    assert_eq!(json.len(), rows);
    let bfi = json.iter().find(|row| row["name"] == "BFI").unwrap();
    assert_eq!(bfi["opcode"], 0x47);
    assert_eq!(bfi["fields"][2]["role"], "destination");
}

#[test]
fn reference_of_nothing() {
    for (query, message) in [
        ("bfx", "did you mean bfe, bfi, bfn?"),
        ("0xff", "opcode 0xff is reserved"),
        ("0x89.44", "sub-operation 0x44 of opcode 0x89 is reserved"),
        ("0x1ff", "is no opcode"),
        ("\u{1b}[31m", "\\u{1b}[31m"),
    ] {
        let run = visakit(&["isa", query]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{query}");
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    assert!(!visakit(&["isa", "bfi"]).stdout.contains('\u{1b}'));
    let colourful = visakit(&["isa", "bfi", "--color", "always"]).stdout;
    assert!(colourful.contains('\u{1b}'));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    // All of them write more than a pipe holds, or at least more than once.
    for args in [&["isa"][..], &["isa", "--json"], &["info", CALLS]] {
        let mut child = command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        let mut pipe = child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        assert_eq!(stderr, "", "{args:?}");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
}

#[test]
fn roundtrip_of_a_folder() {
    let run = visakit(&["roundtrip", folder("roundtrip").to_str().unwrap()]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains("3 identical, 0 different, 0 rejected"));
}

#[test]
fn wrong_usage() {
    for args in [&[][..], &["info"], &["stats"], &["no-such-command"]] {
        assert_eq!(visakit(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn dis_prints_one_routine_or_all() {
    let all = visakit(&["dis", "--intel", CALLS]);
    assert_eq!((all.code, all.stderr.as_str()), (Some(0), ""));
    let text =
        std::fs::read_to_string(Path::new(FIXTURES).join("../texts/call_stack_pvc_v41.visaasm"));
    assert_eq!(all.stdout, text.unwrap());

    let first = visakit(&["dis", "--intel", CALLS, "--routine", "0"]).stdout;
    assert!(all.stdout.starts_with(&first) && first.len() < all.stdout.len());
    let last = visakit(&["dis", "--intel", CALLS, "--routine", "1"]).stdout;
    assert!(
        last.starts_with(".version 4.1\n.global_function "),
        "{last}"
    );

    let none = visakit(&["dis", "--intel", CALLS, "--routine", "nothing"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no routine \"nothing\"; there are: "));
}

#[test]
fn dis_has_three_forms() {
    let text = |args: &[&str]| {
        let run = visakit(args);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{args:?}");
        run.stdout
    };
    for object in [CALLS, SUBGROUPS] {
        let [plain, exact, intel] = [
            text(&["dis", object]),
            text(&["dis", "--exact", object]),
            text(&["dis", "--intel", object]),
        ];
        assert!(!plain.contains("/// $") && intel.contains("/// $1\n"));
        assert!(!plain.contains("//@ native") && exact.contains("//@ native"));
        let source = temporary("dis_exact.visaasm", exact.as_bytes());
        let made = source.with_extension("isa");
        let [source, made] = [&source, &made].map(|path| path.to_str().unwrap());
        assert_eq!(visakit(&["asm", source, "-o", made]).code, Some(0));
        assert_eq!(std::fs::read(made).unwrap(), fixture(object));
    }
    for (other, why) in [
        (&["--intel"][..], "cannot be used with"),
        (&["--routine", "0"], "visakit extract"),
        (&["-o", "x"], "visakit extract"),
    ] {
        let run = visakit(&[&["dis", "--exact", CALLS][..], other].concat());
        assert_eq!(run.code, Some(2), "{other:?}");
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
    // Offsets in bytes say of which registers they are.
    let exact = text(&["dis", "--exact", "--platform", "pvc", CALLS]);
    assert!(exact.contains("//@ grf_bytes 64\n"));
    let source = temporary("dis_exact_pvc.visaasm", exact.as_bytes());
    let made = source.with_extension("isa");
    let [source, made] = [&source, &made].map(|path| path.to_str().unwrap());
    assert_eq!(visakit(&["asm", source, "-o", made]).code, Some(0));
    assert_eq!(std::fs::read(made).unwrap(), fixture(CALLS));
}

#[test]
fn dis_names_files_as_intels_printer_does() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dis_files");
    let _ = std::fs::remove_dir_all(&folder);
    for object in [SUBGROUPS, CALLS] {
        let run = visakit(&["dis", object, "-o", folder.to_str().unwrap()]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""));
    }
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    assert!(
        names
            .iter()
            .all(|n| n.to_str().unwrap().ends_with(".visaasm"))
    );
    assert!(
        names[0].to_str().unwrap().starts_with("OCL_asm"),
        "{names:?}"
    );
}

#[test]
fn dis_takes_a_platform_by_name() {
    for name in ["skl", "PVC", "pvc_xt", "XE2"] {
        assert_eq!(visakit(&["dis", CALLS, "--platform", name]).code, Some(0));
    }
    let run = visakit(&["dis", CALLS, "--platform", "486"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("known platforms: "), "{}", run.stderr);
}

#[test]
fn dis_of_a_damaged_object_goes_on_when_asked() {
    let mut bytes = fixture(SUBGROUPS);
    let whole = visakit(&["dis", "--intel", SUBGROUPS]).stdout;
    // The `ret` of the kernel: opcode, execution size, no predicate.
    let ret = |w: &[u8]| w[0] == 0x34 && w[1] < 6 && w[2..] == [0, 0];
    let place = bytes.windows(4).rposition(ret).unwrap();
    bytes[place] = 0xff;
    let path = temporary("dis_damaged.isa", &bytes);
    let path = path.to_str().unwrap();
    assert_eq!(visakit(&["dis", path]).code, Some(2));
    let lenient = visakit(&["dis", "--intel", path, "--lenient"]);
    assert_eq!(lenient.code, Some(1));
    assert!(
        lenient.stdout.contains("/// undecoded"),
        "{}",
        lenient.stdout
    );
    let same = whole
        .lines()
        .zip(lenient.stdout.lines())
        .filter(|(a, b)| a == b);
    assert!(same.count() > 100);
}
