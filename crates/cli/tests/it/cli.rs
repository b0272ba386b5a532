//! What holds for all commands: streams, colours, readers that leave, help for shells.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use crate::{command, file, text, visakit};
use std::io::Read;
use std::process::Stdio;

const CALLS: &str = "call_stack_pvc_v41.isa";
const SUBGROUPS: &str = "subgroups_skl_v36.isa";

/// Pages show both streams as one: what was asked for goes to standard output, what is said of it to the other.
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

#[test]
fn completions_and_manual_pages_name_every_command() {
    let pages = file("pages");
    let script = text(&visakit(&["completions", "bash"]).stdout);
    assert!(visakit(&["man", pages.to_str().unwrap()]).status.success());
    let help = text(&visakit(&["help"]).stdout);
    let commands = help
        .split("Commands:")
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
