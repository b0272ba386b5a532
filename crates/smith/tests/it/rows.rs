//! Every row of the table is generated, or has a reason.

use std::collections::BTreeSet;
use visakit_isa::{Platform, Version, table};
use visakit_smith::{Config, from_seed, why_not};

#[test]
fn rows_are_generated_or_have_a_reason() {
    let mut met = BTreeSet::new();
    for seed in 0..3000u64 {
        let platforms = Platform::ALL;
        let platform = platforms[usize::try_from(seed).unwrap() % platforms.len()];
        let mut config = Config::for_platform(platform);
        if seed % 10 == 0 {
            config.version = Version::V3_6;
        }
        let object = from_seed(seed, &config);
        for (_, routine) in object.routines() {
            met.extend(routine.body().unwrap().instructions().map(|i| i.op));
        }
    }
    let mut wrong = Vec::new();
    for row in table::rows() {
        match (met.contains(&row.op), why_not(row)) {
            (true, Some(why)) => {
                wrong.push(format!("{} is generated in spite of: {why}", row.name));
            }
            (false, None) => wrong.push(format!("{} is not generated, without a reason", row.name)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
