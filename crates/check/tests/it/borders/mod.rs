//! Reads past the borders of what kernels access, found without trusting a checker.
//!
//! An element at the border of an argument is changed. If that changes the results, they depend on it: when the element
//! is taken away, the read must be found. The arguments are those of correct kernels: every case of the reference data.

mod trials;

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trials::{Tally, Verdict};
use visakit_launch::Case;

fn folders(root: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
        found.sort();
        found
    };
    let kernels = inside(root);
    let mut cases: Vec<_> = kernels.iter().flat_map(|kernel| inside(kernel)).collect();
    cases.retain(|folder| folder.join("case.json").exists());
    cases
}

/// Every case with `VISAKIT_BORDERS=all`, those whose path has this word with any other value, else a sample: another
/// device for each kernel, and every third of these.
fn chosen(all: Vec<PathBuf>) -> Vec<PathBuf> {
    match std::env::var("VISAKIT_BORDERS") {
        Ok(word) if word == "all" => all,
        Ok(word) => {
            let has = |path: &PathBuf| path.to_string_lossy().contains(&word);
            all.into_iter().filter(has).collect()
        }
        Err(_) => {
            let mut kernels: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
            for path in all {
                let kernel = path.parent().unwrap().to_owned();
                kernels.entry(kernel).or_default().push(path);
            }
            let number = kernels.into_values().enumerate();
            let of_kernel = number.filter(|(number, _)| number % 3 == 0);
            of_kernel
                .filter_map(|(number, paths)| paths.get(number / 3 % paths.len()).cloned())
                .collect()
        }
    }
}

#[test]
fn what_results_depend_on_is_found() {
    let mut all = Vec::new();
    for folder in ["cases", "cases240"] {
        if let Some(root) = visakit_testing::shared("borders of the arguments of cases", folder) {
            all.extend(folders(&root));
        }
    }
    let cases = chosen(all);
    let tallies = cases.par_iter().map(|folder| {
        let case = Case::open(folder).unwrap();
        let mut tally = Tally::default();
        trials::run(&case, &mut tally);
        tally
    });
    let tally = tallies.reduce(Tally::default, Tally::merge);
    visakit_testing::say(&format!("{} cases\n{tally}", cases.len()));
    let missed = tally.of(Verdict::Missed);
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
}
