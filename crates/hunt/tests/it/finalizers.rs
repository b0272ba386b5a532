//! Hunts of finalizers, with one that makes mistakes.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use visakit_hunt::{Campaign, Finalizer, Limits, Settings};

/// A finalizer that does to a text, `program.visaasm`, what a script says.
fn finalizer(folder: &Path, script: &str) -> (String, Finalizer) {
    let path = folder.join("finalizer");
    visakit_files::scratch(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let limits = Limits {
        seconds: 1,
        ..Limits::default()
    };
    ("faulty".to_owned(), Finalizer { path, limits })
}

fn settings(finalizer: (String, Finalizer)) -> Settings {
    Settings {
        compilers: Vec::new(),
        finalizers: vec![finalizer],
        seconds: Vec::new(),
        throughs: Vec::new(),
        kernels: None,
        devices: ["dg2", "skl", "pvc"].map(str::to_owned).into(),
        options: Vec::new(),
        seed: 7,
        features: Vec::new(),
        transformations: 0,
        batch: 12,
        share: (1, 1),
        programs: Some(12),
        time: None,
        reduction: 400,
        smaller: None,
    }
}

/// The bugs that a campaign finds.
fn bugs(settings: Settings) -> (tempfile::TempDir, Vec<PathBuf>) {
    let programs = settings.programs;
    let folder = tempfile::tempdir().unwrap();
    let mut campaign = Campaign::open(folder.path(), settings, false).unwrap();
    campaign.run(&mut |_| true).unwrap();
    assert_eq!(Some(campaign.progress().programs), programs);
    let bugs = fs::read_dir(folder.path().join("bugs"));
    let bugs = bugs.into_iter().flatten().map(|bug| bug.unwrap().path());
    let bugs = bugs.collect();
    (folder, bugs)
}

/// What crashes is reduced to the operation that it depends on, and stays valid.
#[test]
fn crashes_of_finalizers_are_finds() {
    let folder = tempfile::tempdir().unwrap();
    let script = "if grep -q ' goto (' program.visaasm; then echo './visa/G.cpp:17 no way'; kill -SEGV $$; fi";
    let (_farm, bugs) = bugs(settings(finalizer(folder.path(), script)));
    assert!(!bugs.is_empty());
    for bug in bugs {
        let report = fs::read_to_string(bug.join("report.md")).unwrap();
        assert!(report.contains("The finalizer crashes: faulty"), "{report}");
        assert!(
            report.contains("./visa/G.cpp:17 no way (signal: 11"),
            "{report}"
        );
        let text = fs::read_to_string(bug.join("program.visaasm")).unwrap();
        let code = text.lines().filter(|line| line.contains(" (M"));
        assert!(code.count() <= 4, "{text}");
        assert!(
            text.contains(" goto (") && text.contains(" ret ("),
            "{text}"
        );
    }
}

#[test]
fn endless_finalizers_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let script = "if grep -q ' goto (' program.visaasm; then while :; do :; done; fi";
    let mut settings = settings(finalizer(folder.path(), script));
    settings.devices = vec!["skl".to_owned()];
    (settings.batch, settings.programs) = (2, Some(2));
    settings.reduction = 2;
    let (_farm, bugs) = bugs(settings);
    assert!(!bugs.is_empty());
    for bug in bugs {
        let report = fs::read_to_string(bug.join("report.md")).unwrap();
        assert!(report.contains("**does not end**"), "{report}");
    }
}

/// What a finalizer refuses is counted and no find; one that cannot be run ends the campaign.
#[test]
fn refusals_are_no_finds() {
    let folder = tempfile::tempdir().unwrap();
    let refuses = finalizer(folder.path(), "echo 'line 3: error'; exit 1");
    let (_farm, none) = bugs(settings(refuses));
    assert!(none.is_empty(), "{none:?}");
    let mut missing = settings(finalizer(folder.path(), ""));
    missing.finalizers[0].1.path = folder.path().join("no-such-finalizer");
    let farm = folder.path().join("farm");
    let mut campaign = Campaign::open(&farm, missing.clone(), false).unwrap();
    let error = campaign.run(&mut |_| true).unwrap_err().to_string();
    assert!(error.contains("no-such-finalizer cannot be run"), "{error}");
    missing.devices = vec!["no-such-device".to_owned()];
    let error = Campaign::open(&folder.path().join("other"), missing, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no object is generated for any of the devices"
    );
}
