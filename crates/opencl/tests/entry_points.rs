//! Separate programs on the device: one in C using most entry points, one in Python. If what they need (a C compiler,
//! OpenCL's headers and loader, `ocloc`, pyopencl) is missing, the test says so.

#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use visakit_testing::driver::{self, has, has_ocloc, shown};
use visakit_testing::say;

/// A command that sees only the device, with a separate cache.
fn on_device(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Option<Command> {
    let library = driver::library("libvisakit_opencl.so")?;
    std::fs::write(
        folder.join("visakit.icd"),
        format!("{}\n", library.display()),
    )
    .ok()?;
    let mut command = driver::on_device(program, folder);
    command.env("OCL_ICD_VENDORS", folder);
    Some(command)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// Builds a program of these tests, or says why it cannot be run.
fn built(name: &str, folder: &Path) -> Option<PathBuf> {
    let libraries = ["-lOpenCL", "-lm", "-pthread"];
    let program = driver::built(
        &source(&format!("{name}.c")),
        &folder.join(name),
        &libraries,
    );
    if program.is_none() || !has_ocloc() {
        say("NOT RUN: OpenCL in C needs a C compiler, OpenCL's headers, its loader and ocloc");
        return None;
    }
    program
}

#[test]
fn in_c() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("entry_points", folder.path()) else {
        return;
    };
    for device in ["acm-g10", "pvc", "tgllp"] {
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command.env("VISAKIT_DEVICE", device).output().unwrap();
        assert!(done.status.success(), "{device}: {}", shown(&done));
    }
    let mut command = on_device(&program, folder.path()).unwrap();
    let done = command.env("VISAKIT_TIME", "host").output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    // Launches are kept as cases, which run again.
    let dump = folder.path().join("dump");
    let mut command = on_device(&program, folder.path()).unwrap();
    let done = command.env("VISAKIT_DUMP", &dump).output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    let mut cases = 0;
    for entry in std::fs::read_dir(&dump).unwrap() {
        let case = visakit_launch::Case::open(&entry.unwrap().path()).unwrap();
        // Memory accessed through pointers inside buffers is not in any case.
        if case.name().starts_with("chain") {
            continue;
        }
        let verdict = case.run(true, &visakit_launch::Config::default()).unwrap();
        assert!(verdict.difference.is_none(), "{}", case.name());
        cases += 1;
    }
    assert!(cases >= 3, "{cases}");
}

#[test]
fn values() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("values", folder.path()) else {
        return;
    };
    for device in ["acm-g10", "skl"] {
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command.env("VISAKIT_DEVICE", device).output().unwrap();
        assert!(done.status.success(), "{device}: {}", shown(&done));
    }
}

/// Devices differ in what they announce.
#[test]
fn announced_extensions() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("extensions", folder.path()) else {
        return;
    };
    for device in ["acm-g10", "pvc", "tgllp", "skl"] {
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command.env("VISAKIT_DEVICE", device).output().unwrap();
        assert!(done.status.success(), "{device}: {}", shown(&done));
    }
}

/// Programs as users write them, each about one thing.
#[test]
fn further_programs() {
    for name in [
        "arguments",
        "formats",
        "globals",
        "pointers",
        "queues",
        "recorded",
        "regions",
        "threads",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = built(name, folder.path()) else {
            return;
        };
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command.output().unwrap();
        assert!(done.status.success(), "{name}: {}", shown(&done));
        if name == "arguments" {
            let said = "7|    7|7    |7|-3.14|big|c%|1,-2,3,7|60129542144||word\n".repeat(2);
            assert!(shown(&done).starts_with(&said), "{}", shown(&done));
        }
    }
}

/// Commands run beside the program: both see each other's atomics, and a program may end, fork and be interrupted while
/// commands run.
#[test]
fn beside_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("beside", folder.path()) else {
        return;
    };
    for device in ["acm-g10", "pvc"] {
        for jit in ["", "never"] {
            let mut command = on_device(&program, folder.path()).unwrap();
            command
                .env("VISAKIT_DEVICE", device)
                .env("VISAKIT_JIT", jit);
            let done = command.output().unwrap();
            assert!(done.status.success(), "{device}, {jit}: {}", shown(&done));
        }
    }
    for (how, checks, parts) in [
        ("forked", "", &[][..]),
        ("endless", "", &[]),
        (
            "endless",
            "memory",
            &[
                "not ended[interrupted]",
                "1 launch checked, 0 findings; 1 launch did not run to the end",
            ],
        ),
        (
            "outside",
            "memory",
            &["error[out-of-bounds]", "10 launches checked, 1 finding"],
        ),
    ] {
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command
            .arg(how)
            .env("VISAKIT_CHECK", checks)
            .output()
            .unwrap();
        assert!(done.status.success(), "{how}: {}", shown(&done));
        for part in parts {
            let said = shown(&done);
            assert!(said.contains(part), "{how}: `{part}` is not in {said}");
        }
    }
}

/// A failed assertion ends the program abnormally; who checks says what was found before.
#[test]
fn assertions() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("assert", folder.path()) else {
        return;
    };
    let run = |arguments: &[&str], checks: &str| {
        let mut command = on_device(&program, folder.path()).unwrap();
        command.args(arguments).env("VISAKIT_CHECK", checks);
        command.output().unwrap()
    };
    let done = run(&[], "");
    if shown(&done).contains("\"__devicelib_assert_fail\" is not known") {
        return say("NOT RUN: assertions in OpenCL C, which compilers before IGC 2 do not know");
    }
    assert!(done.status.success(), "{}", shown(&done));
    for (checks, checked) in [("", ""), ("memory", "1 launch checked")] {
        let done = run(&["fails"], checks);
        assert_eq!(done.status.signal(), Some(6), "{}", shown(&done));
        for part in [
            "an assertion failed: assert.c:9: positive: global id: [5,0,0], local id: [5,0,0] Assertion `x >= 0` failed.",
            "3 is looked at",
            checked,
        ] {
            assert!(shown(&done).contains(part), "{}", shown(&done));
        }
    }
}

/// A program that waits for something that does not end can be interrupted.
#[test]
fn waiting_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("beside", folder.path()) else {
        return;
    };
    let mut command = on_device(&program, folder.path()).unwrap();
    let command = command.arg("interrupted").stdout(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut said = [0; 6];
    running
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut said)
        .unwrap();
    assert_eq!(&said, b"waits\n");
    let number = running.id().to_string();
    assert!(has("sh", &["-c", &format!("kill -INT {number}")]));
    assert_eq!(running.wait().unwrap().signal(), Some(2));
}

/// Pointers in memory, and what the specification leaves open: on devices that access buffers through surfaces, and by
/// address.
#[test]
fn addresses() {
    for name in ["lives", "beyond"] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = built(name, folder.path()) else {
            return;
        };
        for device in ["acm-g10", "tgllp", "pvc"] {
            for jit in ["", "always", "never"] {
                let mut command = on_device(&program, folder.path()).unwrap();
                command
                    .env("VISAKIT_DEVICE", device)
                    .env("VISAKIT_JIT", jit);
                let done = command.output().unwrap();
                assert!(
                    done.status.success(),
                    "{name}, {device}, {jit}: {}",
                    shown(&done)
                );
            }
        }
    }
}

/// Checkers have the exact ends, and know what was released.
#[test]
fn addresses_checked() {
    for (name, argument, parts) in [
        ("lives", None, &["launches checked, 0 findings"][..]),
        (
            "lives",
            Some("released"),
            &[
                "error[dangling]: read of 4 bytes through a pointer to buffer 2 of 16 bytes, which was released",
                "line 4 of the program",
                "2 launches checked, 1 finding",
            ],
        ),
        (
            "beyond",
            Some("reported"),
            &[
                "error[out-of-bounds]: write of 4 bytes just past the end of `y` (36 bytes)",
                "in kernel `turn`",
            ],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = built(name, folder.path()) else {
            return;
        };
        let mut command = on_device(&program, folder.path()).unwrap();
        command.env("VISAKIT_CHECK", "memory").args(argument);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{name}: {}", shown(&done));
        for part in parts {
            assert!(
                shown(&done).contains(part),
                "`{part}` is not in {}",
                shown(&done)
            );
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("lives", folder.path()) else {
        return;
    };
    // Without checkers it is a fault, which names the buffer.
    let mut command = on_device(&program, folder.path()).unwrap();
    let done = command.arg("released").output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    let said = "buffer 2 of 16 bytes, which was released";
    assert!(shown(&done).contains(said), "{}", shown(&done));
}

/// An access outside of every buffer is a fault that says what to do, or is dropped, by machine code as by the interpreter.
#[test]
fn accesses_outside() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("beyond", folder.path()) else {
        return;
    };
    for jit in ["", "always", "never"] {
        for (outside, argument) in [("ignore", "ignored"), ("fault", "a fault"), ("", "a fault")] {
            let mut command = on_device(&program, folder.path()).unwrap();
            command
                .env("VISAKIT_JIT", jit)
                .env("VISAKIT_OUTSIDE", outside);
            let dump = tempfile::tempdir().unwrap();
            command.env("VISAKIT_DUMP", dump.path());
            let done = command.arg(argument).output().unwrap();
            let all = shown(&done);
            assert!(done.status.success(), "{outside}, {jit}: {all}");
            let advice = "of 4 bytes outside of every buffer; on hardware this may do nothing, as with VISAKIT_OUTSIDE=ignore";
            assert_eq!(all.contains(advice), outside != "ignore", "{all}");
            // The case of a launch ends as the launch did.
            let mut cases = 0;
            for entry in std::fs::read_dir(dump.path()).unwrap() {
                let case = visakit_launch::Case::open(&entry.unwrap().path()).unwrap();
                if case.name().starts_with("stray/") {
                    let verdict = case.run(true, &visakit_launch::Config::default());
                    assert_eq!(verdict.is_ok(), outside == "ignore", "{verdict:?}");
                    cases += 1;
                }
            }
            assert!(cases > 0);
        }
    }
}

#[test]
fn in_python() {
    let python = ["/usr/bin/python3", "python3"]
        .into_iter()
        .find(|p| has(p, &["-c", "import pyopencl"]));
    let Some(python) = python.filter(|_| has_ocloc()) else {
        return say("NOT RUN: OpenCL in Python needs pyopencl and ocloc");
    };
    let folder = tempfile::tempdir().unwrap();
    for jit in ["", "always", "never"] {
        let mut command = on_device(python, folder.path()).unwrap();
        command.env("VISAKIT_JIT", jit);
        let done = command.arg(source("programs.py")).output().unwrap();
        assert!(done.status.success(), "{jit}: {}", shown(&done));
        assert!(shown(&done).contains("12 programs"), "{}", shown(&done));
    }
}

#[test]
fn checked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("watched", folder.path()) else {
        return;
    };
    let mut command = on_device(&program, folder.path()).unwrap();
    command.env("VISAKIT_CHECK", "all");
    // A vote is made of writes of one value to a variable of the compiler's.
    let done = command.args(["right", "voted"]).output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    let said = "2 launches checked, 0 findings";
    assert!(shown(&done).contains(said), "{}", shown(&done));
    // Texels of one byte at the end of an image are inside of it.
    let Some(formats) = built("formats", folder.path()) else {
        return;
    };
    let mut command = on_device(formats, folder.path()).unwrap();
    command.env("VISAKIT_CHECK", "all");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    let said = "launches checked, 0 findings";
    assert!(shown(&done).contains(said), "{}", shown(&done));
    let mut command = on_device(&program, folder.path()).unwrap();
    command.env("VISAKIT_CHECK", "race,uninitialized");
    let done = command.args(["racy", "racy", "fresh"]).output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    let said = shown(&done);
    for part in [
        "error[race]",
        "in kernel `racy`, launch 1",
        "in 2 launches",
        "line 13 of the program: a[i] = l[(i + 40) % 64]; }",
        "error[uninitialized]",
        "in kernel `fresh`, launch 3",
        "3 launches checked",
    ] {
        assert!(said.contains(part), "`{part}` is not in {said}");
    }
}

#[test]
fn profiled() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("watched", folder.path()) else {
        return;
    };
    for (file, parts) in [
        (
            "page.html",
            &[
                "<!DOCTYPE html>",
                ">right<",
                ">racy<",
                "a[i] = l[(i + 40) % 64]; }",
            ][..],
        ),
        (
            "profile.json",
            &[
                "\"kernel\":\"right\"",
                "\"launches\":2",
                "\"file\":\"program 1\"",
            ],
        ),
    ] {
        let path = folder.path().join(file);
        let mut command = on_device(&program, folder.path()).unwrap();
        command.env("VISAKIT_PROFILE", &path);
        let done = command.args(["right", "right", "racy"]).output().unwrap();
        assert!(done.status.success(), "{}", shown(&done));
        let said = "3 launches of 2 kernels profiled";
        assert!(shown(&done).contains(said), "{}", shown(&done));
        let text = std::fs::read_to_string(path).unwrap();
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
    }
    let mut command = on_device(&program, folder.path()).unwrap();
    command.env("VISAKIT_PROFILE", folder.path().join("none/page.html"));
    let done = command.arg("right").output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    assert!(
        shown(&done).contains("cannot be written"),
        "{}",
        shown(&done)
    );
}

/// Programs that include files are cached as well, and compiled again when a file changes.
#[test]
fn included_files_decide() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("included", folder.path()) else {
        return;
    };
    let headers = folder.path().join("headers");
    std::fs::create_dir(&headers).unwrap();
    let kept = || {
        std::fs::read_dir(folder.path().join("cache"))
            .unwrap()
            .count()
    };
    for (value, files) in [(41, 1), (42, 2), (41, 2)] {
        std::fs::write(headers.join("value.h"), format!("#define VALUE {value}\n")).unwrap();
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command.arg(&headers).output().unwrap();
        assert!(done.status.success(), "{}", shown(&done));
        assert_eq!(shown(&done), format!("{value}\n"));
        assert_eq!(kept(), files, "{value}");
    }
}

/// The library of pocl, where it is installed.
fn pocl() -> Option<String> {
    let file = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd").ok()?;
    Some(file.trim().to_owned())
}

#[test]
fn compared() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("watched", folder.path()) else {
        return;
    };
    let Some(pocl) = pocl() else {
        return say("NOT RUN: comparing needs pocl");
    };
    let run = |kernels: &[&str]| {
        let report = folder.path().join("report");
        let cases = folder.path().join("cases");
        let mut command = on_device(&program, folder.path()).unwrap();
        command
            .env("VISAKIT_COMPARE", &pocl)
            .env("VISAKIT_COMPARE_REPORT", &report)
            .env("VISAKIT_COMPARE_CASES", &cases);
        let done = command.args(kernels).output().unwrap();
        assert!(done.status.success(), "{}", shown(&done));
        let text = std::fs::read_to_string(&report).unwrap();
        std::fs::remove_file(report).unwrap();
        (
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            cases,
        )
    };
    let (report, cases) = run(&["right", "right"]);
    assert_eq!(report["compared"], 2, "{report}");
    assert_eq!(report["different"], 0, "{report}");
    assert_eq!(std::fs::read_dir(&cases).unwrap().count(), 0);
    let (report, _) = run(&["right", "planted"]);
    assert_eq!(report["compared"], 2, "{report}");
    assert_eq!(report["different"], 1, "{report}");
    let first = &report["first"];
    assert_eq!(first["kernel"], "planted");
    assert_eq!((&first["element"], &first["wrong"]), (&7.into(), &1.into()));
    assert_eq!(
        (&first["expected"], &first["got"]),
        (&"49".into(), &"50".into())
    );
    // The case shows the difference again.
    let case = visakit_launch::Case::open(Path::new(first["case"].as_str().unwrap())).unwrap();
    let verdict = case.run(true, &visakit_launch::Config::default()).unwrap();
    let (argument, difference) = verdict.difference.unwrap();
    assert_eq!((argument, difference.element), (0, Some(7)));
}

/// Intel's compiler makes 64-bit floats of whole numbers for devices that have none.
#[test]
fn doubles_of_whole_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let python = ["/usr/bin/python3", "python3"];
    let mut python = python
        .into_iter()
        .filter(|p| has(p, &["-c", "import pyopencl"]));
    let Some(python) = python.next().filter(|_| has_ocloc()) else {
        return say("NOT RUN: OpenCL in Python needs pyopencl and ocloc");
    };
    let mut command = on_device(python, folder.path()).unwrap();
    command
        .env("OverrideDefaultFP64Settings", "1")
        .env("IGC_EnableDPEmulation", "1");
    let done = command.arg(source("doubles.py")).output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
}
