//! The validator has no findings in generated objects.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::BTreeSet;
use visakit_isa::object::{Body, Content, Object, RoutineId};
use visakit_isa::{ExecSize, Platform, RawOperand, Value, VectorOperand};
use visakit_smith::{Config, from_seed};
use visakit_validate::{Finding, Scope, Severity};

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

/// Instructions with errors, by routine and number.
fn refused(object: &Object<'_>, platform: Option<Platform>) -> BTreeSet<(RoutineId, u32)> {
    let options = visakit_validate::Options {
        platform,
        limit: usize::MAX,
    };
    let report = visakit_validate::object(object, &options);
    let errors = report.findings.iter();
    let errors = errors.filter(|finding| finding.rule.severity == Severity::Error);
    let place = |finding: &Finding| match finding.location.scope {
        Scope::Instruction { number, .. } => Some((finding.location.routine?, number)),
        _ => None,
    };
    errors.filter_map(place).collect()
}

/// Changes a number or an execution size here and there, so that platforms refuse some instructions.
fn disturb(object: &mut Object<'_>, seed: u64) {
    const NUMBERS: [u16; 12] = [0, 1, 2, 3, 4, 7, 8, 16, 32, 64, 128, 256];
    let mut state = seed;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e);
        usize::try_from(state >> 33).unwrap() % below
    };
    for instruction in bodies_mut(object).flat_map(Body::instructions_mut) {
        if next(2) == 0 || instruction.fields.is_empty() {
            continue;
        }
        let field = next(instruction.fields.len());
        let number = NUMBERS[next(NUMBERS.len())];
        match &mut instruction.fields[field].value {
            Value::U8(value) => *value = u8::try_from(number).unwrap_or(9),
            Value::U16(value) => *value = number,
            Value::ExecSize(size) => *size = ExecSize::from_bits(u8::try_from(next(6)).unwrap()),
            Value::Vector(VectorOperand::Address(address)) => {
                address.offset = u8::try_from(number % 32).unwrap();
            }
            Value::Raw(raw) if next(4) == 0 => *raw = RawOperand::NULL,
            _ => {}
        }
    }
}

fn bodies_mut<'o, 'a>(object: &'o mut Object<'a>) -> impl Iterator<Item = &'o mut Body<'a>> {
    let routines = object.kernels.iter_mut().map(|kernel| &mut kernel.content);
    routines.filter_map(|content| match content {
        Content::Body(body) => Some(body),
        _ => None,
    })
}

/// Without a platform an instruction is refused if, and only if, each platform refuses it.
#[test]
fn general_rules_are_those_of_all_platforms_together() {
    let mut wrong = Vec::new();
    let (mut instructions, mut some, mut all) = (0, 0, 0);
    for seed in 0..240u64 {
        let platform = Platform::ALL[usize::try_from(seed).unwrap() % Platform::ALL.len()];
        let config = if seed % 3 == 0 {
            Config::newest()
        } else {
            Config::for_platform(platform)
        };
        let mut object = from_seed(seed, &config);
        disturb(&mut object, seed);
        let general = refused(&object, None);
        let each: Vec<_> = Platform::ALL
            .iter()
            .map(|p| refused(&object, Some(*p)))
            .collect();
        let by_some: BTreeSet<_> = each.iter().flatten().copied().collect();
        for place in &by_some {
            let by_all = each.iter().all(|refused| refused.contains(place));
            some += 1;
            all += usize::from(by_all);
            if by_all != general.contains(place) {
                let op = operation(&object, *place);
                wrong.push(format!("seed {seed}: {op} refused by all: {by_all}"));
            }
        }
        wrong.extend(
            general
                .difference(&by_some)
                .map(|place| format!("seed {seed}: {} by none", operation(&object, *place))),
        );
        instructions += bodies_mut(&mut object)
            .flat_map(|body| body.instructions())
            .count();
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        instructions > 5000 && some > all && all > 500,
        "{some} {all} of {instructions}"
    );
}

fn operation(object: &Object<'_>, (id, number): (RoutineId, u32)) -> String {
    match &object.kernels[id.index].content {
        Content::Body(body) => format!("{:?}", body.instructions().nth(number as usize)),
        _ => String::new(),
    }
}
