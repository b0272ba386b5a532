//! Kernels on slices and numbers: run, checked, profiled, and wrong arguments refused.

use visakit::check::{Checks, Verdict};
use visakit::launch::{Argument, Kernel, LaunchError};
use visakit::{Launch, launch};

/// Reads `which`, looks it up in the program's constants, adds a number.
fn lookup() -> Kernel<'static> {
    let folder = visakit_testing::fixtures().join("kernels");
    let text = folder.join("lookup.pvc.visaasm");
    Kernel::from_files(&[&text], &folder.join("lookup.pvc.zebin"), None).unwrap()
}

#[test]
fn one_launch_is_run_checked_and_profiled() {
    let kernel = lookup();
    let which: Vec<i32> = (0..8).collect();
    let launch = Launch::new(&kernel)
        .global(8)
        .arg(&[0; 8])
        .arg(&which)
        .arg(1000);
    let expected = Some(vec![1000, 1001, 1004, 1027, 1016, 1125, 1036, 1343]);
    // The contents that were given are those of each run.
    for _ in 0..2 {
        assert_eq!(launch.run().unwrap().array::<i32>(0), expected);
    }
    let report = launch.check(Checks::ALL).unwrap();
    assert_eq!(
        report.verdict(|_| true),
        Verdict::Clean,
        "{:?}",
        report.findings
    );
    assert_eq!(report.outcome.array::<i32>(0), expected);
    let (profile, outcome) = launch.profile(None).unwrap();
    assert_eq!(outcome.array::<i32>(0), expected);
    assert_eq!((profile.groups, profile.kernel.as_str()), (1, "lookup"));
    // In groups of four, and from another first id on.
    let outcome = launch.clone().local(4).run().unwrap();
    assert_eq!((outcome.groups, outcome.array::<i32>(0)), (2, expected));
    let halves = launch.clone().global([4]).offset(4).run().unwrap();
    let expected = vec![0, 0, 0, 0, 1016, 1125, 1036, 1343];
    assert_eq!(halves.array::<i32>(0), Some(expected));
}

#[test]
fn findings_are_told_in_a_few_lines() {
    let kernel = lookup();
    let launch = Launch::new(&kernel).global(8).arg(&[0_i32; 7]).arg(&[1; 8]);
    let report = launch.arg(1000).check(Checks::ALL).unwrap();
    let told: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let kernel = lookup();
    let launch = Launch::new(&kernel).global(8);
    let wrong: [(Launch<'_>, &str); 5] = [
        (
            launch.clone().arg(&[0.0_f32; 8]).arg(&[0; 8]).arg(1),
            "argument 0: ",
        ),
        (
            launch.clone().arg(&[0; 8]).arg(&[0; 8]).arg(1.0_f32),
            "argument 2: ",
        ),
        (
            launch.clone().arg(&[0; 8]).arg(&[0; 8]),
            "the kernel takes 3 arguments",
        ),
        (
            launch.clone().local(0).arg(&[0; 8]).arg(&[0; 8]).arg(1),
            "grid: ",
        ),
        (
            launch
                .global(&[1, 1, 1, 1][..])
                .arg(&[0; 8])
                .arg(&[0; 8])
                .arg(1),
            "grid: ",
        ),
    ];
    for (launch, message) in wrong {
        let error: LaunchError = launch.run().unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn what_is_passed_by_reference_is_a_buffer() {
    use launch::{Passed, Vector};
    let floats = [1.0_f32, 2.0, 3.0];
    let bytes = |numbers: &[f32]| {
        numbers
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let buffer = Argument::Buffer(bytes(&floats));
    assert_eq!((&floats).argument(), buffer);
    assert_eq!(floats[..].argument(), buffer);
    assert_eq!((&floats.to_vec()).argument(), buffer);
    // A vector of three has the size of four.
    assert_eq!(
        Vector(floats).argument(),
        Argument::Value(bytes(&[1.0, 2.0, 3.0, 0.0]))
    );
    assert_eq!(1.0_f32.argument(), Argument::Value(bytes(&[1.0])));
    assert_eq!(Argument::Null.argument(), Argument::Null);
}
