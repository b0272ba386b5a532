//! Runs that do not come to their end: whatever the verb and the reason, they are not clean, and it is said.

#![allow(clippy::indexing_slicing)] // members of documents

use crate::json::{schema, valid};
use crate::{file, text, visakit};
use serde_json::Value;

/// A loop without end.
const ENDLESS: &str = ".version 4.1
.kernel \"k\"
.decl D v_type=G type=d num_elts=8 align=GRF
.kernel_attr SimdSize=8
    mov (M1, 8) D(0,0)<1> 0x7:d
spin:
    jmp (M1, 1) spin
    ret (M1, 1)
";

/// Half of the threads come to a barrier.
const DEADLOCK: &str = ".version 4.1
.kernel \"k\"
.decl P1 v_type=P num_elts=1
    cmp.gt (M1_NM, 1) P1 %thread_x(0,0)<0;1,0> 0x1:uw
    (P1) jmp (M1, 1) over
    barrier
over:
    ret (M1, 1)
";

/// A text of that name.
fn program(name: &str, content: &str) -> String {
    let path = file(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Verbs that run programs.
const VERBS: [&str; 3] = ["run", "profile", "check"];

/// A case of a document of checks, which says why it was stopped.
fn stopped(document: &Value, reason: &str) {
    let case = &document["cases"][0];
    let stopped = &case["stopped"];
    assert_eq!(stopped["reason"], reason, "{document:#}");
    assert!(stopped["groups_ended"].as_u64() < stopped["groups"].as_u64());
}

#[test]
fn no_verb_is_clean_of_what_did_not_end() {
    let schema = schema();
    let endless = program("stops_endless.visaasm", ENDLESS);
    let deadlock = program("stops_deadlock.visaasm", DEADLOCK);
    let group = ["--media", "4x1", "--group", "4x1"];
    let brief = crate::brief();
    let time = ["--timeout", &brief];
    let rows: [(&str, &[&str], &[&str], &str); 6] = [
        (&endless, &["--bare"], &time, "interrupted"),
        (&endless, &["--bare"], &["--max-steps", "100000"], "steps"),
        (&endless, &["--media", "8x8"], &time, "interrupted"),
        (
            &endless,
            &["--media", "8x8"],
            &["--max-steps", "10000"],
            "steps",
        ),
        (
            &endless,
            &["--media", "8x8"],
            &["--max-launch-steps", "100000"],
            "steps",
        ),
        (&deadlock, &group, &[], "deadlock"),
    ];
    for (path, mode, limit, reason) in rows {
        for verb in VERBS {
            let args = [&[verb, path], mode, limit].concat();
            let (code, document) = valid(&schema, &[&args[..], &["--json"]].concat());
            assert_eq!(code, Some(1), "{args:?}: {document:#}");
            if verb == "check" {
                stopped(&document, reason);
                let places = document["cases"][0]["stopped"]["places"].as_array();
                let none = mode == ["--bare"] && reason == "steps";
                assert_eq!(places.unwrap().is_empty(), none, "{document:#}");
            }
            // The document of a profile has `stopped`.
            let told = document["problems"][0]["message"].as_str().is_some()
                || document["kernels"][0]["stopped"] == true;
            assert!(told, "{args:?}: {document:#}");
            let done = visakit(&args);
            assert_eq!(done.status.code(), Some(1), "{args:?}");
            let said = text(&done.stdout) + &text(&done.stderr);
            assert!(!said.contains("nothing found\n"), "{args:?}: {said}");
            let words = ["stopped", "more than", "barrier"];
            assert!(
                words.iter().any(|word| said.contains(word)),
                "{args:?}: {said}"
            );
        }
    }
}

/// Whatever is looked for, by either verb.
#[test]
fn kinds_of_checks() {
    let schema = schema();
    let case = ["--case", "../cases/lreduce/acm-g10"];
    for verb in ["check", "run"] {
        for kind in ["memory", "sync", "race"] {
            let line = [&[verb, "--check", kind, "--json"], &case[..]].concat();
            let (code, _) = valid(&schema, &line);
            assert_eq!(code, Some(0));
            let (code, document) = valid(
                &schema,
                &[&line[..], &["--max-launch-steps", "100"]].concat(),
            );
            assert_eq!(code, Some(1), "{document:#}");
            stopped(&document, "steps");
        }
    }
}

/// That findings are suppressed, or do not count, does not make a launch clean that did not end.
#[test]
fn what_is_suppressed_is_not_clean() {
    let deadlock = program("stops_suppressed.visaasm", DEADLOCK);
    let rules = program("stops_rules.txt", "routine=*\n");
    let line = ["check", &deadlock, "--media", "4x1", "--group", "4x1"];
    for more in [["--suppress", &rules], ["--fail-on", "null"]] {
        let done = visakit(&[&line[..], &more[..]].concat());
        assert_eq!(done.status.code(), Some(1), "{}", text(&done.stdout));
    }
}

#[test]
fn logs_say_that_a_launch_was_stopped() {
    let endless = program("stops_log.visaasm", ENDLESS);
    let log = file("stops.sarif");
    let path = log.to_str().unwrap();
    let brief = crate::brief();
    let done = visakit(&[
        "check",
        &endless,
        "--bare",
        "--timeout",
        &brief,
        "--sarif",
        path,
    ]);
    assert_eq!(done.status.code(), Some(1));
    let log: Value = serde_json::from_slice(&std::fs::read(&log).unwrap()).unwrap();
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = &invocation["toolExecutionNotifications"][0];
    let message = told["message"]["text"].as_str().unwrap();
    assert!(
        message.contains(&format!("stopped after {brief} seconds")),
        "{message}"
    );
    let place = &told["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
    assert!(
        place.as_str().unwrap().starts_with("k instruction"),
        "{told}"
    );
}

/// One of several cases is stopped: the others are told of, and the command is not clean.
#[test]
fn one_of_several_cases() {
    let case = |name: &str| format!("../cases/{name}");
    let (short, long) = (case("lreduce/acm-g10"), case("partial_groups/pvc"));
    let steps = |case: &str| -> u64 {
        let done = visakit(&["run", "--case", case, "--stats", "--json"]);
        let all: Value = serde_json::from_slice(&done.stdout).unwrap();
        all["statistics"]["instructions"].as_u64().unwrap()
    };
    let (a, b) = (steps(&short), steps(&long));
    let most = u64::midpoint(a, b).to_string();
    let line = [
        "check",
        "--case",
        &short,
        &long,
        "--max-launch-steps",
        &most,
    ];
    let done = visakit(&line);
    let said = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{a} {b} {said}");
    assert!(
        said.contains("2 launches checked: 1 stopped before the end; nothing found so far"),
        "{said}"
    );
    assert_eq!(visakit(&line[..4]).status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn checks_are_stopped_by_signals() {
    let endless = program("stops_signal.visaasm", ENDLESS);
    for signal in ["-INT", "-TERM"] {
        let child = crate::command(&["check", &endless, "--media", "8x8"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        crate::until_it_runs(child.id());
        let mut kill = std::process::Command::new("kill");
        kill.args([signal, &child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        let done = child.wait_with_output().unwrap();
        let said = text(&done.stdout);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("stopped by a signal"), "{said}");
    }
}
