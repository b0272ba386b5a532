//! The examples do what they say.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "../../examples/compare.rs"]
#[allow(dead_code, reason = "their main functions")]
mod compare;
#[path = "../../examples/damaged.rs"]
#[allow(dead_code, reason = "their main functions")]
mod damaged;
#[path = "../../examples/fuzz_target.rs"]
#[allow(dead_code, reason = "their main functions")]
mod fuzz_target;
#[path = "../../examples/immediates.rs"]
#[allow(dead_code, reason = "their main functions")]
mod immediates;
#[path = "../../examples/kernels.rs"]
#[allow(dead_code, reason = "their main functions")]
mod kernels;
#[path = "../../examples/opencl.rs"]
#[allow(dead_code, reason = "their main functions")]
mod opencl;
#[path = "../../examples/run.rs"]
#[allow(dead_code, reason = "their main functions")]
mod run;
#[path = "../../examples/validate.rs"]
#[allow(dead_code, reason = "their main functions")]
mod validate;

fn subgroups() -> Vec<u8> {
    std::fs::read(visakit_testing::fixtures().join("objects/subgroups_skl_v36.isa")).unwrap()
}

#[test]
fn kernels_are_listed_with_their_mix() {
    let mix = kernels::mix(&subgroups()).unwrap();
    let mut lines = mix.lines();
    assert_eq!(lines.next(), Some("kernel subgroups"));
    let counts = lines.map(|line| {
        line.split_whitespace()
            .next()
            .unwrap()
            .parse::<u32>()
            .unwrap()
    });
    assert!(counts.is_sorted_by(|a, b| a >= b));
}

#[test]
fn ones_become_twos() {
    let file = subgroups();
    let (twos, changed) = immediates::ones_to_twos(&file).unwrap();
    assert!(changed > 0);
    let (again, none) = immediates::ones_to_twos(&twos).unwrap();
    assert_eq!((again, none), (twos, 0));
}

#[test]
fn what_is_built_is_assembled_and_run() {
    let object = run::square_plus_one().unwrap();
    let text = run::text(&object);
    assert!(
        text.contains("mul (M1, 8) Y(0,0)<1> X(0,0)<1;1,0> X(0,0)<1;1,0>"),
        "{text}"
    );
    assert_eq!(run::run(&text, "1,2,3,-4").unwrap(), "2 5 10 17 1 1 1 1");
}

#[test]
fn damage_is_said_and_the_rest_is_read() {
    let whole = damaged::report(&subgroups()).unwrap();
    assert_eq!(whole.lines().count(), 1, "{whole}");
    let cut = damaged::report(&subgroups()[..4000]).unwrap();
    assert!(cut.lines().count() > 1, "{cut}");
    assert!(damaged::report(b"CISA").is_err());
}

#[test]
fn findings_are_listed() {
    let report = validate::report(&subgroups()).unwrap();
    assert!(report.ends_with("0 errors, 0 warnings\n"), "{report}");
    let cut = validate::report(&subgroups()[..4000]).unwrap();
    assert!(cut.starts_with("error["), "{cut}");
}

#[test]
fn the_fuzz_target_accepts_and_refuses() {
    let accepted = fuzz_target::run(50).unwrap();
    assert!((1..50).contains(&accepted), "{accepted}");
}

#[test]
fn two_kernels_are_compared() {
    let (results, verdict) = compare::compare().unwrap();
    let sums = vec![1000, 1001, 1004, 1027, 1016, 1125, 1036, 1343];
    assert_eq!(results, [sums.clone(), sums]);
    assert_eq!(verdict, visakit::prove::Verdict::Proven);
}

#[test]
fn a_source_is_compiled_run_and_checked() {
    if std::process::Command::new("ocloc").output().is_err() {
        visakit_testing::say("NOT RUN: a kernel of OpenCL C by the library, which needs ocloc");
        return;
    }
    let (results, findings) = opencl::saxpy().unwrap();
    // What the last work-item reads past the end is not known.
    assert_eq!(results[..255], [7.0; 255]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let told = findings[0].to_string();
    assert!(
        told.contains("just past the end of `x` (1024 bytes)"),
        "{told}"
    );
}
