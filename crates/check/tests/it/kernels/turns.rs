//! Groups that take turns: what is found does not depend on it, and groups may wait for each other.

use super::{argument, metadata, report, specs, texts};
use std::collections::BTreeSet;
use visakit_check::{Checks, Report, Verdict, check, config};
use visakit_launch::{Config, End, Kernel, NdRange, Reason, Source, Turn, ZeInfo};

/// Groups that switch all the time.
const SHORT: Turn = Turn {
    patience: 64,
    steps: 16,
};

/// Every planted fault is found, and nothing else, however groups take turns.
#[test]
fn turns_make_no_difference() {
    let mut runs = 0;
    let mut wrong = Vec::new();
    for (name, device, grf_bytes) in [
        ("pairs", "dg2", 32),
        ("more", "skl", 32),
        ("users", "dg2", 32),
        ("exchange", "pvc", 64),
    ] {
        let specs = specs(name);
        for form in ["clean", "fault"] {
            let texts = texts(name, device, form);
            let zeinfo = metadata(name, device, form);
            for spec in &specs {
                let other = spec.only.as_ref().is_some_and(|only| only != device);
                let Some(source) = texts.get(&spec.name).filter(|_| !other) else {
                    continue;
                };
                let words = if form == "clean" {
                    &spec.clean
                } else {
                    &spec.fault
                };
                let report = report(source, grf_bytes, &zeinfo, spec, words, Some(SHORT));
                runs += 1;
                if !spec.is_right(form, &report) {
                    let Report { findings, end, .. } = report;
                    wrong.push(format!(
                        "{} {device} {form}: {findings:#?}, {end:?}",
                        spec.name
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(runs > 300, "{runs}");
}

/// `turns_of_groups` of that many groups, each of which waits for the one after it.
fn chain(zeinfo: &ZeInfo, source: &Source, groups: u32, max_steps: u64) -> Report {
    let object = Source::link(std::slice::from_ref(source), 32).unwrap();
    let mut kernel = Kernel::new(&object, "turns_of_groups", zeinfo).unwrap();
    kernel.grf_bytes = 32;
    let range = NdRange::new(&[16 * groups], &[16], &[]).unwrap();
    let arguments = [argument("zeros:4"), argument("zeros:4")];
    let config = config(Config {
        max_steps,
        turn: Some(Turn {
            patience: 1 << 10,
            steps: 1 << 8,
        }),
        ..Config::default()
    });
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    let report = check(&kernel, launch, &config, Checks::ALL, &[]).unwrap();
    if report.end.is_complete() {
        let last = report.outcome.memory(1).unwrap();
        let wanted = (0..groups).fold(0u32, |x, g| x.wrapping_mul(3).wrapping_add(g));
        assert_eq!(last, wanted.to_le_bytes());
    }
    report
}

/// As many groups as a device runs at the same time may wait for each other; more are stopped by the limit.
#[test]
fn groups_wait_for_others() {
    let zeinfo = metadata("exchange", "dg2", "clean");
    let texts = texts("exchange", "dg2", "clean");
    let source = &texts["turns_of_groups"];
    for groups in [1, 2, 3, 100, 1000] {
        let report = chain(&zeinfo, source, groups, 50_000_000);
        let verdict = report.verdict(|_| true);
        assert_eq!(verdict, Verdict::Clean, "{groups}: {:#?}", report.end);
    }
    let report = chain(&zeinfo, source, 10_000, 5_000_000);
    assert_eq!(report.findings, []);
    assert_eq!(report.verdict(|_| true), Verdict::Unfinished);
    let End::Stopped(stopped) = &report.end else {
        panic!("{:?}", report.end);
    };
    assert!(matches!(stopped.reason, Reason::Steps(5_000_000)));
    assert_eq!((stopped.ended, stopped.groups), (0, 10_000));
    // All wait in the same loop.
    let lines = report.stays.iter().filter_map(|stay| stay.place.line);
    let line = lines.collect::<BTreeSet<_>>();
    assert_eq!(line.len(), 1, "{:?}", report.stays);
    let threads: u64 = report.stays.iter().map(|stay| stay.threads).sum();
    assert!(threads > 500, "{threads}");
}

/// Launches without anybody who watches, by one host thread.
#[test]
fn groups_that_run_wait_for_others() {
    let zeinfo = metadata("exchange", "dg2", "clean");
    let texts = texts("exchange", "dg2", "clean");
    let object = Source::link(std::slice::from_ref(&texts["turns_of_groups"]), 32).unwrap();
    let mut kernel = Kernel::new(&object, "turns_of_groups", &zeinfo).unwrap();
    kernel.grf_bytes = 32;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.unwrap();
    for groups in [2, 500] {
        let range = NdRange::new(&[16 * groups], &[16], &[]).unwrap();
        let arguments = [argument("zeros:4"), argument("zeros:4")];
        let config = Config {
            max_steps: 50_000_000,
            turn: Some(Turn {
                patience: 1 << 10,
                steps: 1 << 8,
            }),
            ..Config::default()
        };
        let outcome = pool.install(|| kernel.run(&range, &arguments, &config));
        let outcome = outcome.unwrap();
        assert!(outcome.end.is_complete());
        assert_eq!(outcome.groups, u64::from(groups));
        assert_eq!(outcome.memory(0).unwrap(), groups.to_le_bytes());
    }
}
