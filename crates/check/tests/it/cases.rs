//! Correct kernels: they have no findings.

use std::path::{Path, PathBuf};
use visakit_check::{Checks, check_case};
use visakit_launch::{Case, Config};

fn folders(root: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let kernels = inside(root);
    let mut cases: Vec<_> = kernels.iter().flat_map(|k| inside(k)).collect();
    cases.retain(|folder| folder.join("case.json").exists());
    cases.sort();
    cases
}

#[test]
fn nothing_is_found() {
    let mut roots = vec![visakit_testing::fixtures().join("cases")];
    for folder in ["cases", "cases240"] {
        roots.extend(visakit_testing::shared("checks of cases", folder));
    }
    let mut count = 0;
    for folder in roots.iter().flat_map(|root| folders(root)) {
        let case = Case::open(&folder).unwrap();
        let report = check_case(&case, false, &Config::default(), Checks::ALL).unwrap();
        assert_eq!(report.findings, [], "{}", case.name());
        count += 1;
    }
    assert!(count >= 5, "{count}");
}
