//! Kernels that are right: nothing is found in them but what is true.

#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test")]

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
fn findings() {
    let only = std::env::var("VISAKIT_ONLY").unwrap_or_default();
    for root in ["cases", "cases240"] {
        let Some(root) = visakit_testing::shared("findings in cases", root) else {
            continue;
        };
        for folder in folders(&root) {
            let case = Case::open(&folder).unwrap();
            if !case.name().contains(&only) {
                continue;
            }
            match check_case(&case, false, &Config::default(), Checks::ALL) {
                Ok(report) => {
                    for f in report.findings {
                        eprintln!(
                            "{} {} {} {}x #{} `{}` {:?}: {} [{:?}] other {:?}",
                            case.name(),
                            f.kind.name(),
                            f.space.name(),
                            f.count,
                            f.place.instruction,
                            f.place.text,
                            f.place.line,
                            f.message,
                            f.item.map(|i| i.to_string()),
                            f.other
                        );
                    }
                }
                Err(error) => eprintln!("{}: {error}", case.name()),
            }
        }
    }
}
