//! Campaigns with the compiler of this machine, and with one that makes mistakes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use visakit_hunt::{Campaign, Compiler, Feature, Limits, Second, Settings, Through};
use visakit_launch::Case;

/// The compiler, if there is one.
fn ocloc() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders)
        .map(|f| f.join("ocloc"))
        .find(|p| p.is_file());
    if found.is_none() {
        println!("NOT RUN: needs ocloc");
    }
    found
}

fn settings(compilers: &[(&str, &Path)], programs: u64) -> Settings {
    let named = compilers.iter().map(|(name, path)| {
        let compiler = Compiler {
            path: path.to_path_buf(),
            limits: Limits::default(),
        };
        ((*name).to_owned(), compiler)
    });
    Settings {
        compilers: named.collect(),
        finalizers: Vec::new(),
        seconds: Vec::new(),
        throughs: Vec::new(),
        kernels: None,
        devices: vec!["dg2".to_owned(), "no-such-device".to_owned()],
        options: Vec::new(),
        seed: 7,
        // Without what a release that is widely installed compiles wrongly.
        features: vec![
            Feature::Longs,
            Feature::Loops,
            Feature::Switches,
            Feature::Conversions,
            Feature::Barriers,
            Feature::Tables,
        ],
        transformations: 2,
        batch: 4,
        share: (1, 1),
        programs: Some(programs),
        time: None,
        reduction: 400,
        smaller: None,
    }
}

/// The log without times.
fn log(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("log-1-of-1.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields = line.as_object_mut().unwrap();
        fields.remove("seconds");
        fields.remove("processor");
        line
    });
    lines.collect()
}

/// What the compiler makes is right, and a campaign that was stopped comes to what one does that was not.
#[test]
fn a_campaign_is_gone_on_with() {
    let Some(ocloc) = ocloc() else { return };
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let settings = settings(&[("ocloc", &ocloc)], 8);
    let open = |folder: &Path, resume| Campaign::open(folder, settings.clone(), resume);
    let mut campaign = open(whole.path(), false).unwrap();
    assert_eq!(campaign.targets().count(), 1);
    campaign.run(&mut |_| true).unwrap();
    let progress = campaign.progress();
    assert_eq!((progress.programs, progress.differences), (8, 0));
    // Without optimisation, with it, and with a size of sub-groups.
    assert_eq!(progress.launches, 24, "{:?}", progress.dropped);
    let mut first = open(parts.path(), false).unwrap();
    first.run(&mut |progress| progress.batches < 1).unwrap();
    assert_eq!(first.progress().batches, 1);
    drop(first);
    // As if it had been killed while it wrote.
    let path = parts.path().join("log-1-of-1.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"batch\":1,\"progr");
    visakit_files::write(&path, text).unwrap();
    assert!(open(parts.path(), false).is_err());
    let mut second = open(parts.path(), true).unwrap();
    assert_eq!(second.progress().batches, 1);
    second.run(&mut |_| true).unwrap();
    assert_eq!(log(whole.path()), log(parts.path()));
}

/// A module that is handed on as it is computes the same; one that is not handed on is no find.
#[test]
fn modules_go_through_other_programs() {
    let Some(ocloc) = ocloc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    visakit_files::write(&copy, "#!/bin/sh\ncp \"$1\" \"$3\"\n").unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let named = ["copy", "nothing=false"].map(|name| {
        let text = match name {
            "copy" => format!("copy={}", copy.display()),
            other => other.to_owned(),
        };
        Through::parse(&text, Limits::default()).unwrap()
    });
    let settings = Settings {
        throughs: named.into(),
        ..settings(&[("ocloc", &ocloc)], 8)
    };
    let mut campaign = Campaign::open(&folder.path().join("farm"), settings, false).unwrap();
    campaign.run(&mut |_| true).unwrap();
    let progress = campaign.progress();
    // They take turns: a batch of four programs each.
    assert_eq!((progress.programs, progress.differences), (8, 0));
    assert_eq!(progress.launches, 28, "{:?}", progress.dropped);
    let not = "not run by ocloc: its SPIR-V is not changed".to_owned();
    assert_eq!(progress.dropped.get(&not), Some(&4));
}

/// A compiler that runs another one and changes what it wrote, where a program is optimised.
fn faulty(folder: &Path, ocloc: &Path, change: &str) -> PathBuf {
    let path = folder.join("faulty");
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" || exit\ncase \"$*\" in *-cl-opt-disable*) ;; *) {change} ;; esac\n",
        ocloc.display()
    );
    visakit_files::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Faults of one release are reduced with it, although another one has them, too, where several programs are compiled at
/// once.
#[test]
fn planted_faults_are_found_and_reduced() {
    let Some(ocloc) = ocloc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let change =
        "sed -i 's/^\\( *\\)xor (\\(M1, .*\\)/\\1or (\\2/' \"$IGC_DumpToCustomDir\"*.visaasm";
    let some = format!("if grep -q 'k1(' \"$IGC_DumpToCustomDir\"../program.cl; then {change}; fi");
    let [beside, faulty] = [("beside", some.as_str()), ("faulty", change)].map(|(name, change)| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).unwrap();
        faulty(&folder, &ocloc, change)
    });
    let farm = folder.path().join("farm");
    let compilers = [("right", &*ocloc), ("beside", &beside), ("faulty", &faulty)];
    let mut settings = settings(&compilers, 12);
    // Two programs at a time: the first find is enough.
    settings.batch = 2;
    let mut campaign = Campaign::open(&farm, settings, false).unwrap();
    // The first finds are enough: a reduction takes a minute.
    campaign.run(&mut |progress| progress.bugs == 0).unwrap();
    assert!(campaign.progress().bugs > 0, "{:?}", campaign.progress());
    let mut named = 0;
    for bug in fs::read_dir(farm.join("bugs")).unwrap() {
        let bug = bug.unwrap().path();
        let program = fs::read_to_string(bug.join("program.cl")).unwrap();
        assert!(program.contains('^'), "{program}");
        assert!(program.lines().count() < 14, "{program}");
        let report = fs::read_to_string(bug.join("report.md")).unwrap();
        assert!(report.contains("# Wrong code: faulty"), "{report}");
        let planted = report.lines().any(|line| {
            line.starts_with("The first wrong value of faulty dg2") && line.contains("`or (")
        });
        // Where it decides a branch, no value tells it.
        named += usize::from(planted);
        // Other switches may make code without the instruction.
        let avoided = "Each of these avoids it for faulty dg2: `-cl-opt-disable`";
        assert!(report.contains(avoided), "{report}");
        // The cases of that compiler fail, all others pass.
        let mut failed = 0;
        for case in fs::read_dir(&bug).unwrap() {
            let case = case.unwrap().path();
            if case.is_dir() {
                let name = case.file_name().unwrap().to_string_lossy().into_owned();
                let verdict = Case::open(&case).unwrap();
                let verdict = verdict.run(false, &visakit_launch::Config::default());
                let wrong = verdict.unwrap().failure().is_some();
                let expected = name.starts_with("faulty") && !name.contains("opt-disable");
                assert!(!wrong || expected, "{name}");
                failed += usize::from(wrong);
            }
        }
        assert!(failed > 0);
    }
    assert!(named > 0);
    assert!(!farm.join("doubts").exists());
}

/// What cannot run a kernel is said, before anything is written.
#[test]
fn second_opinions_have_to_run() {
    let Some(ocloc) = ocloc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let farm = folder.path().join("farm");
    let mut settings = settings(&[("ocloc", &ocloc)], 8);
    let second = Second {
        program: "false".into(),
        arguments: Vec::new(),
        limits: Limits::default(),
    };
    settings.seconds = vec![("nothing".to_owned(), second)];
    let error = Campaign::open(&farm, settings, false).unwrap_err();
    assert_eq!(error.to_string(), "nothing does not run a kernel");
    assert!(!farm.exists());
}

/// Crashes are finds, and what one cause does not explain is looked at again.
#[test]
fn crashes_are_finds() {
    let Some(ocloc) = ocloc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let change = "case \"$*\" in *-DA=1*) word=switch ;; *) word='<<' ;; esac; \
                  if grep -q \"$word\" \"$IGC_DumpToCustomDir\"../program.cl; then \
                  echo \"internal compiler error: $word\"; kill -SEGV $$; fi";
    let faulty = faulty(folder.path(), &ocloc, change);
    let farm = folder.path().join("farm");
    let mut settings = settings(&[("faulty", &faulty)], 4);
    settings.features = vec![Feature::Switches];
    settings.reduction = 20;
    // One that every campaign has, and two whose folders want the same name.
    settings.options = ["-cl-opt-disable", "-DA=1", "-DA=+1"]
        .map(Into::into)
        .into();
    let mut campaign = Campaign::open(&farm, settings, false).unwrap();
    campaign.run(&mut |_| true).unwrap();
    let bugs = fs::read_dir(farm.join("bugs")).unwrap();
    let reports = bugs.map(|bug| fs::read_to_string(bug.unwrap().path().join("report.md")));
    let reports: Vec<String> = reports.collect::<Result<_, _>>().unwrap();
    assert!(reports.iter().all(|r| r.contains("The compiler crashes")));
    for word in ["switch", "<<"] {
        let crash = format!("**crash**: `internal compiler error: {word}`");
        assert!(reports.iter().any(|r| r.contains(&crash)), "{reports:#?}");
    }
}

#[test]
fn endless_compilations_are_stopped() {
    let Some(ocloc) = ocloc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let change =
        "if grep -q 'k1(.*o0' \"$IGC_DumpToCustomDir\"../program.cl; then while :; do :; done; fi";
    let faulty = faulty(folder.path(), &ocloc, change);
    let mut settings = settings(&[("faulty", &faulty)], 2);
    settings.compilers[0].1.limits.seconds = 5;
    settings.batch = 2;
    let mut campaign = Campaign::open(folder.path(), settings, false).unwrap();
    campaign.run(&mut |_| true).unwrap();
    // It ends, and alone the programs compile.
    assert_eq!(campaign.progress().launches, 6);
}
