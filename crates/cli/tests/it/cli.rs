//! Properties of all commands: streams, colours, readers that disappear, help for shells.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use crate::{command, file, text, visakit};
use std::io::Read;
use std::process::Stdio;

const CALLS: &str = "call_stack_pvc_v41.isa";
const SUBGROUPS: &str = "subgroups_skl_v36.isa";

/// Pages show both streams as one: results go to standard output, messages to standard error.
#[test]
fn results_and_messages_have_streams_of_their_own() {
    for args in [
        &["info", CALLS][..],
        &["info", "--json", CALLS],
        &["stats", SUBGROUPS],
        &["dis", "--intel", CALLS],
        &["isa", "bfi"],
        &["dump", SUBGROUPS],
        &["roundtrip", CALLS],
        &["validate", SUBGROUPS],
        &["diff", SUBGROUPS, SUBGROUPS],
        &["convert", SUBGROUPS, "--to", "4.1"],
        &["cfg", SUBGROUPS],
        &["fmt", "../texts/call_stack_pvc_v41.visaasm"],
        &["run", "--case", "../cases/call_sub/dg2"],
    ] {
        let done = visakit(args);
        assert!(!done.stdout.is_empty(), "{args:?}");
        assert_eq!(
            (done.status.code(), text(&done.stderr)),
            (Some(0), String::new()),
            "{args:?}"
        );
    }
    let never = file("never.isa").display().to_string();
    for (args, code) in [
        (&["info", "no-such-file.isa"][..], 2),
        (&["info", "--lenient", "."], 2),
        (&["dis", "../bench/visakit.wasm"], 2),
        (&["dis", CALLS, "--routine", "nothing"], 2),
        (&["isa", "bfx"], 2),
        (&["explain", "nothing"], 2),
        (
            &["convert", "uniform_switch_tgllp_v36.isa", "--to", "3.0"],
            1,
        ),
        (&["asm", "no-such-file.visaasm"], 2),
        (&["asm", CALLS, "-o", &never], 2),
        (&["merge", CALLS, SUBGROUPS, "-o", &never], 1),
        (
            &[
                "run",
                "../programs/loops.visaasm",
                "--bare",
                "--set",
                "N=27",
                "--max-steps",
                "50",
            ],
            1,
        ),
    ] {
        let done = visakit(args);
        assert!(!done.stderr.is_empty(), "{args:?}");
        assert_eq!(
            (done.status.code(), text(&done.stdout)),
            (Some(code), String::new()),
            "{args:?}"
        );
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    assert!(!visakit(&["isa", "bfi"]).stdout.contains(&0x1b));
    let colourful = visakit(&["isa", "bfi", "--color", "always"]).stdout;
    assert!(colourful.contains(&0x1b));
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

/// Whether somebody reads the results does not change what they are: a finding is one, as is what cannot be used.
#[test]
fn verdicts_do_not_depend_on_a_reader() {
    let broken = file("cut.isa");
    let whole = std::fs::read(visakit_testing::root().join("fixtures/objects").join(CALLS));
    std::fs::write(&broken, &whole.unwrap()[..2000]).unwrap();
    let broken = broken.to_str().unwrap();
    let before = "../check/write_before.dg2.visaasm";
    let metadata = "--zeinfo=../check/faults.dg2.zeinfo";
    for args in [
        &["check", before, metadata, "--global=256", "--local=64"][..],
        &["diff", CALLS, SUBGROUPS],
        &["roundtrip", ".", broken],
        &["validate", broken],
        &["validate", CALLS, "no-such-file.isa"],
        &["search", "no_such_instruction", CALLS],
        &["stats", broken],
    ] {
        for json in [false, true] {
            let ended = |reader: bool| {
                let mut command = command(args);
                command.args(json.then_some("--json"));
                command.stdout(Stdio::piped()).stderr(Stdio::null());
                let mut child = command.spawn().unwrap();
                let mut out = child.stdout.take();
                if let Some(out) = out.as_mut().filter(|_| reader) {
                    out.read_to_end(&mut Vec::new()).unwrap();
                }
                drop(out);
                child.wait().unwrap().code()
            };
            let code = ended(true);
            assert!(matches!(code, Some(1 | 2)), "{args:?}: {code:?}");
            assert_eq!(ended(false), code, "{args:?}, which nobody reads");
        }
    }
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let pages = file("pages");
    let script = text(&visakit(&["completions", "bash"]).stdout);
    assert!(visakit(&["man", pages.to_str().unwrap()]).status.success());
    let help = text(&visakit(&["help"]).stdout);
    let commands = help
        .split("Look:")
        .nth(1)
        .and_then(|rest| rest.split("Options:").next())
        .unwrap();
    let names = commands
        .lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut count = 0;
    for name in names {
        assert!(script.contains(name), "{name}");
        assert!(pages.join(format!("visakit-{name}.1")).exists(), "{name}");
        count += 1;
    }
    assert!(count > 8);
}

/// A bare routine runs in machine code where that is asked for and the host has what it needs, to the same end.
#[test]
fn bare_routines_are_compiled() {
    let run = |how: &[&str]| {
        let program = [
            "run",
            "../programs/loops.visaasm",
            "--bare",
            "--set",
            "N=27",
        ];
        let done = visakit(&[&program[..], how].concat());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let interpreted = run(&["--no-jit"]);
    assert!(!interpreted.is_empty());
    assert_eq!(run(&["--jit=always"]), interpreted);
    assert!(run(&["--no-jit", "--stats"]).contains("ran in           interpreter"));
    let host = visakit_jit::Jit::host().is_some();
    let compiled = run(&["--jit=always", "--stats"]).contains("ran in           machine code");
    assert_eq!(compiled, host);
}

/// A loop without end, as a text beside the fixtures.
fn endless(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text = ".version 4.1\n.kernel \"k\"\n.decl D v_type=G type=d num_elts=8 align=GRF\n\
        .kernel_attr SimdSize=8\nmov (M1, 8) D(0,0)<1> 0x7:d\nspin:\njmp (M1, 1) spin\nret (M1, 1)\n";
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A run that is stopped is not clean, says so, and shows what was computed.
#[test]
fn runs_stop_in_time() {
    let file = endless("endless_time.visaasm");
    let brief = crate::brief();
    let done = visakit(&["run", &file, "--bare", "--print", "D", "--timeout", &brief]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains(&format!("stopped after {brief} seconds")),
        "{said}"
    );
    assert!(text(&done.stdout).contains("7 7 7 7"));
    let line = [
        "run",
        &file,
        "--media",
        "64x64",
        "--timeout",
        &brief,
        "--json",
    ];
    let done = visakit(&line);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stdout).contains("\"stopped\": true"));
    // A run that ends in time is the same as without the option.
    let program = [
        "run",
        "../programs/loops.visaasm",
        "--bare",
        "--set",
        "N=27",
    ];
    let timed = visakit(&[&program[..], &["--timeout", "1000"]].concat());
    assert_eq!(timed.status.code(), Some(0));
    assert_eq!(timed.stdout, visakit(&program).stdout);
    assert_eq!(
        visakit(&["run", &file, "--bare", "--timeout", "-1"])
            .status
            .code(),
        Some(2)
    );
}

/// Ctrl-C is the same.
#[cfg(unix)]
#[test]
fn runs_stop_by_a_signal() {
    let file = endless("endless_signal.visaasm");
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_visakit"))
        .args(["run", &file, "--bare", "--print", "D"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    crate::until_it_runs(child.id());
    let mut kill = std::process::Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("stopped by a signal"), "{said}");
    assert!(text(&done.stdout).contains("7 7 7 7"));
}

/// Metadata that require more memory than the host has are an error, also when memory is short.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_cannot_be_had() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = endless("endless_memory.visaasm");
    for (kind, more) in [("scratch", ""), ("global", ", is_simt_thread: true")] {
        let zeinfo = folder.join(format!("{kind}.zeinfo"));
        let text_of = format!(
            "kernels:\n  - name: k\n    execution_env:\n      simd_size: 8\n    payload_arguments:\n      \
             - {{arg_type: private_base_stateless, offset: 0, size: 8}}\n    per_thread_memory_buffers:\n      \
             - {{type: {kind}, usage: x, size: 536870912{more}}}\n"
        );
        std::fs::write(&zeinfo, text_of).unwrap();
        let line = format!(
            "ulimit -v 3000000; exec {} run {file} --kernel k --zeinfo {} --global 64 --local 64 --max-group-memory \
             1000000000000 --threads 1",
            env!("CARGO_BIN_EXE_visakit"),
            zeinfo.display()
        );
        let done = std::process::Command::new("sh")
            .args(["-c", &line])
            .output()
            .unwrap();
        let said = text(&done.stderr);
        assert!(
            matches!(done.status.code(), Some(1 | 2)),
            "{:?}: {said}",
            done.status
        );
        assert!(said.contains("bytes"), "{said}");
    }
}

/// Each crate is published separately, and a package without the text of its licences may not be redistributed.
#[test]
fn published_crates_carry_their_licences() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let mut folders: Vec<_> = crates.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        !manifest.is_empty() && !manifest.contains("publish = false")
    });
    assert!(folders.len() > 20);
    // The Python package is published separately.
    folders.push(root.join("python"));
    for folder in folders {
        for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = std::fs::read(folder.join(name)).unwrap_or_default();
            let same = own == std::fs::read(root.join(name)).unwrap();
            assert!(same, "{} has no {name} of the project", folder.display());
        }
    }
}

/// A killed process leaves complete shards and a folder that nobody reads; the same command resumes.
#[cfg(feature = "table")]
#[test]
fn a_table_that_was_killed_is_gone_on_with() {
    const COUNT: u64 = 60;
    let objects = file("killed/objects").display().to_string();
    let tables = file("killed/tables");
    let _ = std::fs::remove_dir_all(&tables);
    let folder = tables.display().to_string();
    let made = visakit(&[
        "smith",
        "--seed=1",
        "--count=60",
        "--statements=400",
        "--output-dir",
        &objects,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    // Shards of a megabyte.
    let args = [
        "table",
        &objects,
        "-o",
        &folder,
        "--shard-size",
        "1",
        "--json",
    ];
    let mut child = command(&args).stdout(Stdio::null()).spawn().unwrap();
    let is_shard = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.unwrap().file_name();
        name.to_string_lossy().starts_with("part-")
    };
    let begun = std::time::Instant::now();
    loop {
        let shards = std::fs::read_dir(&tables).map(|mut found| found.any(is_shard));
        if shards.unwrap_or(false) || begun.elapsed().as_secs() > 120 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let counts = |done: std::process::Output| -> (u64, u64) {
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let count = |name: &str| document[name].as_u64().unwrap();
        (count("written"), count("skipped"))
    };
    let (written, skipped) = counts(visakit(&args));
    assert_eq!(written + skipped, COUNT);
    assert!(skipped > 0, "a shard was whole before the end");
    assert_eq!(counts(visakit(&args)), (0, COUNT));
}
