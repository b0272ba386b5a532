//! Campaigns, where `ocloc` is installed: with a second opinion of pocl, and with a reducer of text.

use super::{file, text};
use std::path::Path;
use std::process::{Command, Output};

/// Whether a program of that name is in the path.
fn is_installed(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

fn visakit() -> Command {
    Command::new(env!("CARGO_BIN_EXE_visakit"))
}

fn hunt(farm: &Path, words: &[&str]) -> Output {
    let mut command = visakit();
    let words = words.iter().filter(|word| !word.is_empty());
    command.arg("hunt").arg("--output").arg(farm).args(words);
    command.output().unwrap()
}

/// A program of a few lines of shell.
#[cfg(unix)]
fn script(path: &Path, lines: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A reducer that takes lines away, in the place of C-Reduce.
#[cfg(unix)]
const LINES: &str = r#"test "$3" = ./shows || exit 9
at=1
while [ $at -le $(wc -l < "$4") ]; do
  rm -rf try; mkdir try; sed "${at}d" "$4" > "try/$4"
  if (cd try && ../shows); then cp "try/$4" "$4"; else at=$((at + 1)); fi
done"#;

/// What shows a bug is told from what does not; a reducer of text goes on with that, and what it makes has cases.
#[cfg(unix)]
#[test]
fn reducers_of_text_go_on() {
    if !is_installed("ocloc") || crate::slowness() > 1 {
        println!("NOT RUN: needs ocloc");
        return;
    }
    let folder = file("hunt-smaller");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    // Where a program is optimised, what it wrote is changed.
    let faulty = folder.join("a faulty one");
    script(
        &faulty,
        "ocloc \"$@\" || exit\ncase \"$*\" in *-cl-opt-disable*) exit ;; esac\n\
         sed -i 's/^\\( *\\)xor (\\(M1, .*\\)/\\1or (\\2/' \"$IGC_DumpToCustomDir\"*.visaasm",
    );
    script(&folder.join("bin/creduce"), LINES);
    let path = format!(
        "{}:{}",
        folder.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let compiler = format!("faulty={}", faulty.display());
    let farm = folder.join("farm");
    let words = [
        "--compiler",
        &compiler,
        "--device",
        "dg2",
        "--features",
        "longs,loops",
        "--seed",
        "7",
    ];
    let more = [
        "--programs",
        "1",
        "--batch",
        "1",
        "--reduction",
        "40",
        "--smaller",
        "1",
    ];
    let mut command = visakit();
    command
        .env("PATH", &path)
        .arg("hunt")
        .arg("--output")
        .arg(&farm);
    let output = command.args(words).args(more).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let bugs = std::fs::read_dir(farm.join("bugs")).unwrap();
    let bugs: Vec<_> = bugs.map(|bug| bug.unwrap().path()).collect();
    let smaller = bugs.iter().find(|bug| bug.join("smaller").is_dir());
    let bug = smaller.expect("a bug that became smaller");
    let sources = ["program.cl", "smaller/program.cl"].map(|name| bug.join(name));
    let [reduced, smaller] = sources
        .clone()
        .map(|path| std::fs::read_to_string(path).unwrap());
    assert!(smaller.len() < reduced.len(), "{reduced}{smaller}");
    let report = std::fs::read_to_string(bug.join("report.md")).unwrap();
    assert!(
        report.contains(&format!("```c\n{}\n```", smaller.trim_end())),
        "{report}"
    );
    // The cases of what is smaller: right without optimisation, and wrong with it.
    for (case, code) in [("faulty-dg2-cl-opt-disable", 0), ("faulty-dg2", 1)] {
        let mut command = visakit();
        command
            .arg("run")
            .arg("--case")
            .arg(bug.join("smaller").join(case));
        assert_eq!(
            command.output().unwrap().status.code(),
            Some(code),
            "{case}"
        );
    }
    let shows = |bug: &Path, source: &Path, compiler: &str| {
        let mut command = visakit();
        command
            .args(["hunt", "--compiler", compiler, "--shows"])
            .arg(bug);
        let output = command.arg(source).output().unwrap();
        (output.status.code(), text(&output.stderr).to_string())
    };
    for source in &sources {
        assert_eq!(shows(bug, source, &compiler).0, Some(0));
    }
    let changed = folder.join("changed.cl");
    let body = reduced.rfind('}').unwrap();
    let first = reduced.find("o0[").unwrap();
    for source in [
        reduced.replace('^', "&"),
        reduced.replace("__kernel", "__kernell"),
        String::new(),
        // The optimised build is wrong there, too, but what it should compute is undefined.
        format!(
            "{}uint unset; o0[get_global_id(0)] ^= unset;\n{}",
            &reduced[..body],
            &reduced[body..]
        ),
        format!(
            "{}o0[get_global_id(0) + 100000] = 1;\n{}",
            &reduced[..first],
            &reduced[first..]
        ),
    ] {
        std::fs::write(&changed, &source).unwrap();
        assert_eq!(shows(bug, &changed, &compiler).0, Some(1), "{source}");
    }
    let (code, told) = shows(bug, &sources[0], "other=ocloc");
    assert_eq!(code, Some(2));
    assert!(
        told.contains("name it with --compiler faulty=OCLOC"),
        "{told}"
    );
    let (code, told) = shows(&farm, &sources[0], &compiler);
    assert_eq!(code, Some(2));
    assert!(told.contains("name the folder of a bug"), "{told}");
    // All shares together.
    let total = visakit()
        .args(["hunt", "--json", "--total"])
        .arg(&farm)
        .output()
        .unwrap();
    assert_eq!(total.status.code(), Some(1));
    let total: serde_json::Value = serde_json::from_slice(&total.stdout).unwrap();
    assert_eq!(total["bugs"], bugs.len(), "{total}");
    let none = visakit()
        .args(["hunt", "--total"])
        .arg(bug)
        .output()
        .unwrap();
    assert_eq!(none.status.code(), Some(2));
}

/// What pocl computes is what the evaluator expects, and it is counted as runs; kernels of a folder have variants.
#[test]
fn pocl_joins_the_vote() {
    let vendors = Path::new("/etc/OpenCL/vendors/pocl.icd");
    // Drivers that are installed are those of this machine, and not of one that is imitated.
    if !is_installed("ocloc") || !vendors.is_file() || crate::slowness() > 1 {
        println!("NOT RUN: needs ocloc and pocl");
        return;
    }
    let (farm, kernels) = (file("hunt-with-pocl"), file("hunt-kernels"));
    for folder in [&farm, &kernels] {
        let _ = std::fs::remove_dir_all(folder);
    }
    std::fs::create_dir_all(&kernels).unwrap();
    let kernel = "__kernel void sums(__global uint *o, __global const uint *a, const uint n) {\n\
                  uint sum = a[get_global_id(0)];\nfor (uint j = 0; j < n; j++) sum += j * a[j & 15];\n\
                  o[get_global_id(0)] = sum;\n}\n";
    std::fs::write(kernels.join("sums.cl"), kernel).unwrap();
    let open = "__kernel void f(__global float *p) { p[0] = sin(p[1]); }";
    std::fs::write(kernels.join("none.cl"), open).unwrap();
    let of = kernels.to_str().unwrap();
    let features = "longs,loops,switches,conversions,barriers,tables";
    let words = [
        "--device",
        "dg2",
        "--with",
        "second=pocl",
        "--features",
        features,
        "--kernels",
        of,
        // Programs that the installed release compiles rightly.
        "--seed",
        "7",
        "--transformations",
        "2",
        "--programs",
        "8",
        "--batch",
        "8",
        "--json",
    ];
    let output = hunt(&farm, &words);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let notes = told["problems"].to_string();
    assert!(notes.contains("second: a second opinion"), "{notes}");
    assert!(
        notes.contains("none.cl is left out: its results with floats are open: `sin`"),
        "{notes}"
    );
    assert_eq!(told["differences"], 0, "{told}");
    assert_eq!(told["dropped"], serde_json::json!({}), "{told}");
    // Eight programs in four ways, and two variants in three.
    assert_eq!(
        (&told["programs"], &told["launches"]),
        (&10.into(), &38.into()),
        "{told}"
    );
}

#[test]
fn drivers_that_are_not_there_are_refused() {
    let farm = file("hunt-without");
    let output = hunt(&farm, &["--with", "no-such-driver", "--programs", "1"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(
        told.contains("no file in /etc/OpenCL/vendors has `no-such-driver`"),
        "{told}"
    );
    assert!(!farm.exists());
}

/// Finalizers get objects, which no other switch has a say in.
#[test]
fn finalizers_alone_need_no_kernels() {
    let farm = file("hunt-finalizers");
    for switch in ["--kernels", "--with", "--through", "--options"] {
        let words = ["--finalizer", "true", switch, "fixtures", "--programs", "1"];
        let output = hunt(&farm, &words);
        assert_eq!(output.status.code(), Some(2), "{switch}");
        let told = text(&output.stderr);
        assert!(
            told.contains(&format!("{switch} is for compilers")),
            "{told}"
        );
        assert!(!farm.exists());
    }
}
