//! What has no effect, names nothing or has no end is refused, with 2 and a reason.

use crate::{command, file, text, visakit};
use rayon::prelude::*;
use std::fs;
use std::process::Output;

/// Launches of every kind under every command that takes them.
const LAUNCHES: &[(&str, &str)] = &[
    ("case", "--case ../cases/call_sub/dg2"),
    (
        "kernel",
        "../check/write_before.dg2.visaasm --zeinfo ../check/faults.dg2.zeinfo --global 256 --local 64 --arg zeros:1024",
    ),
    (
        "media",
        "../programs/prefix_sum_2d.visaasm --media 8x9 --dependency wavefront26 --surface 0:zeros:40x10 --input 1:0,1,1,1",
    ),
    ("bare", "../programs/loops.visaasm --bare --set N=27"),
];

const VERBS: &[&str] = &[
    "run",
    "run --check memory",
    "check",
    "check --symbolic",
    "profile",
    "prove",
    "debug --ex continue",
];

/// Options whose effect shows in what is printed, written, or in how the command ends.
const OPTIONS: &[&str] = &[
    "--out 0:{}",
    "--show 0:u16",
    "--trace",
    "--stats",
    "--show-code",
    "--show-machine-code=avx2",
    "--sarif {}",
    "--suppress no-such-file",
    "--fail-on note,race-same-value",
    "--format github",
    "--arg zeros:8",
    "--zeinfo ../check/faults.dg2.zeinfo",
    "--zebin no-such-file",
    "--global 1",
    "--local 1",
    "--offset 7",
    "--surface bti1:no-such-file",
    "--input 9:1",
    "--group 3x1",
    "--set NOTHING=1",
    "--print NOTHING",
    "--max-steps 1",
    "--max-memory 1",
    "--from-text",
    "--allow-outside",
    "--routine nothing",
    "--simd 8",
    "--known 9",
    "--any-value 9",
    "--witness {}",
    "--new-zeinfo no-such-file",
    "--threads 1",
    "--lenient",
    "--dialect writer-2018",
];

/// Those that may have an effect that does not show.
const SILENT: &[&str] = &[
    "--threads",
    "--from-text",
    "--allow-outside",
    "--lenient",
    "--dialect",
    "--fail-on",
    "--format",
    "--witness",
    "--new-zeinfo",
    "--local",
    "--zeinfo",
    "--max-memory",
    "--simd",
    "--offset",
    "--global",
    "--arg",
    "--max-steps",
];

fn run(line: &str) -> Output {
    visakit(&line.split(' ').collect::<Vec<_>>())
}

/// Where the table of `run/effect.rs` says that an option has none, it is refused; elsewhere it changes something.
#[test]
fn options_have_an_effect_or_are_refused() {
    let all: Vec<_> = VERBS
        .iter()
        .flat_map(|verb| LAUNCHES.iter().map(move |launch| (verb, launch)))
        .collect();
    let silent = all.par_iter().flat_map_iter(|(verb, (mode, launch))| {
        let mut silent = Vec::new();
        let twice = match (*verb, *mode) {
            (&"prove", "case") => format!("{launch} ../cases/call_sub/dg2"),
            (&"prove", _) => {
                launch.replacen(' ', &format!(" {} ", launch.split(' ').next().unwrap()), 1)
            }
            _ => (*launch).to_owned(),
        };
        let base = run(&format!("{verb} {twice}"));
        let refused = |done: &Output| text(&done.stderr).contains("has no effect");
        for option in OPTIONS {
            let name = option.split([' ', '=']).next().unwrap();
            let place = file(&format!("effect-{mode}-{}{name}", verb.replace(' ', "-")));
            let _ = fs::remove_file(&place);
            let _ = fs::remove_dir_all(&place);
            let option = option.replace("{}", place.to_str().unwrap());
            let line = format!("{verb} {twice} {option}");
            let done = run(&line);
            let said = text(&done.stderr);
            if refused(&done) || said.contains("Usage: ") {
                assert_eq!(done.status.code(), Some(2), "{line}: {said}");
                continue;
            }
            assert!(!refused(&base), "{line}: {said}");
            let shows = SILENT.contains(&name)
                || place.exists()
                || (done.status, &done.stdout, &done.stderr)
                    != (base.status, &base.stdout, &base.stderr);
            silent.extend((!shows).then_some(line));
        }
        silent
    });
    let silent: Vec<String> = silent.collect();
    assert!(silent.is_empty(), "without effect: {silent:#?}");
}

#[test]
fn what_has_no_effect_is_named() {
    let cases = [
        (
            "run",
            "case",
            "--surface 0:x",
            "--surface has no effect with --case",
        ),
        (
            "run",
            "case",
            "--input 0:1",
            "--input has no effect with --case",
        ),
        (
            "run",
            "case",
            "--group 1x1",
            "--group has no effect with --case",
        ),
        (
            "run",
            "case",
            "--out 0:x",
            "--out has no effect with --case",
        ),
        (
            "run",
            "case",
            "--arg zeros:4",
            "--arg has no effect with --case",
        ),
        (
            "run",
            "case",
            "--sarif x",
            "--sarif has no effect without --check",
        ),
        (
            "run",
            "kernel",
            "--fail-on note",
            "--fail-on has no effect without --check",
        ),
        ("run", "kernel", "--from-text", "--case"),
        ("run", "kernel", "--surface 0:x", "--media"),
        (
            "run",
            "kernel",
            "--fail-on nonsense",
            "is no level and no kind",
        ),
        (
            "run",
            "bare",
            "--global 4",
            "--global has no effect with --bare",
        ),
        (
            "run",
            "bare",
            "--out 0:x",
            "--out has no effect with --bare",
        ),
        (
            "run",
            "bare",
            "--zeinfo x",
            "--zeinfo has no effect with --bare",
        ),
        (
            "check",
            "kernel",
            "--show 0:u8",
            "--show has no effect under checks",
        ),
        (
            "check",
            "case",
            "--stats",
            "--stats has no effect under checks",
        ),
        (
            "check --symbolic",
            "kernel",
            "--any-value 9",
            "there is no argument 9",
        ),
        (
            "check --symbolic",
            "kernel",
            "--any-value 0",
            "argument 0 is not a value",
        ),
        (
            "profile",
            "kernel",
            "--sarif x",
            "--sarif has no effect on a profile",
        ),
        (
            "prove",
            "kernel",
            "--check race",
            "--check has no effect on a proof",
        ),
        ("prove", "kernel", "--known 9", "there is no argument 9"),
        ("prove", "bare", "", "--bare has no effect on a proof"),
        (
            "debug --ex help",
            "kernel",
            "--timeout 1",
            "--timeout has no effect on a session",
        ),
    ];
    for (verb, mode, option, said) in cases {
        let (_, launch) = LAUNCHES.iter().find(|(name, _)| *name == mode).unwrap();
        let second = if verb == "prove" {
            launch.split(' ').next().unwrap()
        } else {
            ""
        };
        let line = format!("{verb} {second} {launch} {option}");
        let words: Vec<_> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let done = visakit(&words);
        assert_eq!(done.status.code(), Some(2), "{line}: {done:?}");
        assert!(text(&done.stderr).contains(said), "{line}: {done:?}");
        let json = visakit(&[&words[..], &["--json"]].concat());
        assert_eq!(json.status.code(), Some(2), "{line}: {json:?}");
    }
}

#[test]
fn routines_that_do_not_exist_are_refused_alike() {
    const OBJECT: &str = "call_stack_pvc_v41.isa";
    let output = file("no-routine.isa").display().to_string();
    for line in [
        "info {} --routine nope",
        "dis {} --routine nope",
        "dump {} --routine nope",
        "cfg {} --routine nope",
        "callgraph {} --routine nope",
        "stats {} --routine nope",
        "pressure {} --routine nope",
        "diff {} {} --routine nope",
        "compare-compilers {} {} --routine nope",
        "extract {} --routine nope -o OUT",
        "rename {} nope=a -o OUT",
        "rename {} --symbol variable --routine nope a=b -o OUT",
    ] {
        let line = line.replace("{}", OBJECT).replace("OUT", &output);
        let done = run(&line);
        assert_eq!(done.status.code(), Some(2), "{line}: {done:?}");
        let said = text(&done.stderr);
        assert!(
            said.contains(" \"nope\"; there are: call_stack"),
            "{line}: {said}"
        );
    }
    let done = run(&format!(
        "rename {OBJECT} --symbol variable --routine 0 nope=b -o {output}"
    ));
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}

/// Devices are without end: nothing is read of them, so that memory does not matter.
#[test]
#[cfg(unix)]
fn devices_are_no_files() {
    const KERNEL: &str =
        "../check/write_before.dg2.visaasm --zeinfo ../check/faults.dg2.zeinfo --global 256";
    let output = file("of-device").display().to_string();
    for line in [
        "info /dev/zero".to_owned(),
        "dis /dev/zero".to_owned(),
        "validate /dev/zero".to_owned(),
        format!("compile /dev/zero -o {output}"),
        "profile diff /dev/zero /dev/zero".to_owned(),
        format!("check {KERNEL} --suppress /dev/zero"),
        format!("debug {KERNEL} --batch /dev/zero"),
        format!("run {KERNEL} --arg buffer:/dev/zero"),
        "opencl report /dev/zero".to_owned(),
    ] {
        let done = run(&line);
        assert_eq!(done.status.code(), Some(2), "{line}: {done:?}");
        let all = text(&done.stdout) + &text(&done.stderr);
        assert!(
            all.contains("is a device, expected a file"),
            "{line}: {all}"
        );
    }
}

/// A pipe can be read once.
#[test]
#[cfg(unix)]
fn pipes_are_read_once() {
    use std::process::Command;
    let shell = |line: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).current_dir(crate::OBJECTS);
        shell.output().unwrap()
    };
    let tool = env!("CARGO_BIN_EXE_visakit");
    for name in [
        "call_stack_pvc_v41.isa",
        "../kernels/lookup.pvc.zebin",
        "../kernels/blur.dg2.zeinfo",
    ] {
        let direct = visakit(&["info", name, "--json"]);
        let piped = shell(&format!("{tool} info <(cat {name}) --json"));
        let clean = |done: &Output| {
            let lines = text(&done.stdout);
            let lines = lines.lines().filter(|line| !line.contains("\"file\":"));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        assert_eq!(clean(&piped), clean(&direct), "{name}: {piped:?}");
        assert_eq!(piped.status, direct.status);
    }
}

/// One of each: the exit code does not depend on how results are told.
#[test]
fn documents_end_as_texts_do() {
    for (line, code) in [
        (
            "compare-compilers ../kernels/blur.dg2.visaasm subgroups_skl_v36.isa --run",
            2,
        ),
        ("search mov no-such-file", 2),
        ("similar subgroups_skl_v36.isa no-such-file", 2),
        ("debug ../programs/loops.visaasm --bare --ex nonsense", 2),
        ("run --case no-such-folder", 2),
        ("check --case no-such-folder", 2),
        ("isa bfi --html", 0),
    ] {
        let plain = run(line);
        assert_eq!(plain.status.code(), Some(code), "{line}: {plain:?}");
        let json = run(&format!("{line} --json"));
        assert_eq!(json.status.code(), Some(code), "{line}: {json:?}");
        let said = text(&plain.stderr);
        assert!(
            !said.contains("no-such-folder: no-such-folder"),
            "{line}: {said}"
        );
        let document: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        let problems = document["problems"].as_array().unwrap();
        assert_eq!(problems.is_empty(), said.is_empty(), "{line}: {document}");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let folder = file("seeds").display().to_string();
    for line in [
        &format!("smith --seed 18446744073709551615 --count 2 --output-dir {folder}"),
        &format!("smith --seed 1 --count 0 --output-dir {folder}"),
        "similar subgroups_skl_v36.isa . --threshold nan",
        "similar subgroups_skl_v36.isa . --threshold 2",
    ] {
        let done = run(line);
        assert_eq!(done.status.code(), Some(2), "{line}: {done:?}");
    }
    let done = run(&format!(
        "smith --seed 18446744073709551615 --count 1 --output-dir {folder}"
    ));
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}

#[test]
fn a_source_without_a_kernel_says_so() {
    for (name, content) in [
        ("int", "int twice(int x)\n"),
        ("empty", ""),
        ("comment", "// nothing\n"),
    ] {
        let path = file(&format!("without-{name}.cl"));
        fs::write(&path, content).unwrap();
        for verb in ["check", "run", "info", "stats"] {
            let path = path.to_str().unwrap();
            let done = visakit(&[verb, path]);
            let all = text(&done.stdout) + &text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{verb} {name}: {all}");
            assert!(all.contains("without a kernel"), "{verb} {name}: {all}");
        }
    }
}

/// Words that are no text are refused as others are, with a document where one is asked for.
#[test]
#[cfg(unix)]
fn words_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let name = std::ffi::OsStr::from_bytes(b"b\xff.isa");
    for words in [&["info"][..], &["info", "--frob"], &["rename", "X"], &[]] {
        for json in [false, true] {
            let mut command = command(words);
            command.arg(name);
            command.args(json.then_some("--json"));
            let done = command.output().unwrap();
            assert_eq!(done.status.code(), Some(2), "{words:?} {done:?}");
            if json {
                let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
                assert_eq!(document["problems"][0]["severity"], "error", "{document}");
            }
        }
    }
}
