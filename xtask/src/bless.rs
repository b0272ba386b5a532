//! Regenerates everything that is generated and committed: first sources, then the pages and snapshots that tests
//! compare.

use crate::{Done, Run, builders, call, cargo};
use visakit_testing::page::BLESS;

/// Generators of committed sources, in the order in which they run: their names, and the functions that run them.
const SOURCES: [(&str, Run); 1] = [("constructors", constructors)];

/// Packages and those of their tests that write what they compare if [`BLESS`] is set, or that insta compares.
const TESTS: [(&str, &[&str]); 5] = [
    ("visakit-isa", &["the_page_of_the_instructions"]),
    ("visakit-internal-exec", &["support::"]),
    ("visakit-launch", &["zeinfo::"]),
    ("visakit-validate", &["the_page_of_the_rules"]),
    ("visakit-cli", &["pages::", "a_dump"]),
];

pub(crate) fn run(_: &[String]) -> Done {
    for (name, generate) in SOURCES {
        println!("{name}");
        generate(&[])?;
    }
    for (package, tests) in TESTS {
        let mut command = cargo();
        command.args([
            "test",
            "--quiet",
            "--package",
            package,
            "--test",
            "it",
            "--",
        ]);
        command.args(tests).env(BLESS, "1");
        call(command.env("INSTA_UPDATE", "always"))?;
    }
    println!("now read what changed: git diff");
    Ok(())
}

fn constructors(_: &[String]) -> Done {
    let path = visakit_testing::root().join(builders::PATH);
    Ok(std::fs::write(path, builders::source())?)
}
