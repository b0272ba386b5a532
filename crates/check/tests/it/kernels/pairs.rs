//! Kernels in two forms, whose sources (`fixtures/check/pairs.cl`, `more.cl`, `users.cl`, `exchange.cl`, `borders.cl`,
//! `texels.cl` and `scopes.cl`) state how they are launched (`//@`) and where the second form has its fault (`//!`): the
//! faulty form has this finding, the clean one has none.

use super::{argument, metadata, report, specs, texts};
use visakit_check::{Checks, check, config};
use visakit_launch::{Config, Kernel, LocalVariable, NdRange, Source};

#[test]
fn every_fault_of_the_first_kernels_and_no_false_alarm() {
    let runs = program("pairs", [("dg2", 32), ("pvc", 64)]);
    assert!(runs > 200, "{runs}");
}

#[test]
fn every_fault_of_further_kernels_and_no_false_alarm() {
    let runs = program("more", [("dg2", 32), ("skl", 32)]);
    assert!(runs > 150, "{runs}");
}

#[test]
fn kernels_as_users_write_them() {
    let runs = program("users", [("dg2", 32), ("skl", 32)]);
    assert!(runs > 150, "{runs}");
}

/// Sums by compare and exchange, locks, what one work-item does for all, with and without order. Some wait for other
/// groups.
#[test]
fn what_is_compared_and_exchanged() {
    let runs = program("exchange", [("dg2", 32), ("pvc", 64), ("skl", 32)]);
    assert_eq!(runs, 60);
}

/// What a group tells another one, behind fences whose scope is the group or the device.
#[test]
fn scopes_of_fences() {
    let runs = program("scopes", [("dg2", 32), ("pvc", 64), ("bmg", 64)]);
    assert_eq!(runs, 24);
}

/// The threads of a group that find a vote true write so into a variable of the compiler's, which is no race of the program.
/// In a variable with any other name it is one.
#[test]
fn votes() {
    for (device, grf_bytes) in [("dg2", 32), ("pvc", 64), ("bmg", 64)] {
        let texts = texts("scopes", device, "clean");
        let object = Source::link(std::slice::from_ref(&texts["voted"]), grf_bytes).unwrap();
        let zeinfo = metadata("scopes", device, "clean");
        let mut kernel = Kernel::new(&object, "voted", &zeinfo).unwrap();
        kernel.grf_bytes = grf_bytes;
        let found = |name: &str| {
            let mut kernel = kernel.clone();
            kernel.locals.push(LocalVariable {
                kernel: "voted".to_owned(),
                name: name.to_owned(),
                start: 0,
                bytes: 4,
            });
            let range = NdRange::new(&[256], &[128], &[]).unwrap();
            let arguments = ["iota:1024", "zeros:1024"].map(argument);
            let config = config(Config::default());
            let launch = kernel.prepare(&range, &arguments, &config).unwrap();
            let report = check(&kernel, launch, &config, Checks::ALL, &[]).unwrap();
            let kinds = report.findings.iter().map(|f| f.kind.name());
            kinds.collect::<Vec<_>>()
        };
        assert_eq!(found("GenSLM.LocalMemPoolOnGetMemPoolPtr"), [""; 0]);
        assert_eq!(found("seen").first(), Some(&"race-same-value"));
    }
}

/// Pixels that several work-items write, and channels that an image does not store.
#[test]
fn pixels() {
    let runs = program("texels", [("dg2", 32), ("skl", 32)]);
    assert_eq!(runs, 20);
}

#[test]
fn borders_of_buffers_and_images() {
    let runs = program("borders", [("dg2", 32), ("skl", 32)]);
    assert!(runs > 80, "{runs}");
}

/// Checks both forms of all kernels of a source on some devices, and returns the number of launches.
fn program<const N: usize>(name: &str, devices: [(&str, u32); N]) -> usize {
    let specs = specs(name);
    let mut runs = 0;
    let mut wrong = Vec::new();
    for (device, grf_bytes) in devices {
        for form in ["clean", "fault"] {
            let texts = texts(name, device, form);
            let zeinfo = metadata(name, device, form);
            for spec in &specs {
                let other = !spec.runs_on(device);
                // Constants and functions of a program are in separate files: the tests of launches contain them.
                let Some(source) = texts.get(&spec.name).filter(|_| !other) else {
                    continue;
                };
                let words = if form == "clean" {
                    &spec.clean
                } else {
                    &spec.fault
                };
                let report = report(source, grf_bytes, &zeinfo, spec, words, None);
                runs += 1;
                let (right, found) = (spec.is_right(form, &report), report.findings);
                if !right {
                    let told = found.iter().map(|f| {
                        let (kind, line) = (f.kind.name(), f.place.line.unwrap_or(0));
                        format!(
                            "\n    {kind} in line {line}: {} ({})",
                            f.message, f.place.text
                        )
                    });
                    let told: String = told.collect();
                    wrong.push(format!("{} {device} {form}:{told}", spec.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    runs
}
