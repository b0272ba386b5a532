//! The validator has no findings in generated objects.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use visakit_smith::{Config, from_seed};

#[test]
fn a_thousand_seeds_are_valid() {
    let platforms = visakit_smith::PLATFORMS;
    let mut refused = Vec::new();
    for seed in 0..1000u64 {
        let platform = platforms[usize::try_from(seed).unwrap() % platforms.len()];
        let object = from_seed(seed, &Config::for_platform(platform));
        let options = visakit_validate::Options {
            platform: Some(platform),
            ..visakit_validate::Options::default()
        };
        assert!(options.platform.is_some(), "{}", platform.name());
        let report = visakit_validate::object(&object, &options);
        for finding in &report.findings {
            refused.push(format!("seed {seed} for {}: {finding}", platform.name()));
        }
    }
    refused.truncate(40);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn objects_of_old_versions_are_valid() {
    let mut refused = Vec::new();
    for seed in 0..300u64 {
        let versions = &visakit_isa::Version::SUPPORTED[1..];
        let mut config = Config::default();
        config.version = versions[usize::try_from(seed).unwrap() % versions.len()];
        let report = visakit_validate::object(&from_seed(seed, &config), &Default::default());
        for finding in &report.findings {
            refused.push(format!("seed {seed} of {}: {finding}", config.version));
        }
    }
    refused.truncate(40);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
