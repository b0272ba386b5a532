//! Campaigns with a second opinion, where `ocloc` and pocl are installed.

use super::{file, text};
use std::path::Path;
use std::process::{Command, Output};

/// Whether a program of that name is in the path.
fn is_installed(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

fn hunt(farm: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    let words = words.iter().filter(|word| !word.is_empty());
    command.arg("hunt").arg("--output").arg(farm).args(words);
    command.output().unwrap()
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
