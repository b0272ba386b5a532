//! Containers find the dialect, and lazy reading agrees with whole objects.

use visakit_isa::table::FieldDef;
use visakit_isa::{AnyInstruction, Dialect, Value};
use visakit_parse::{Container, ReadOptions, read, read_with};
use visakit_testing::layouts::{cases, objects};

/// Every instruction by way of the container is the one of the whole object.
#[track_caller]
fn agrees(what: &str, bytes: &[u8]) -> Option<Dialect> {
    let Ok(object) = read(bytes) else { return None };
    let container = Container::parse(bytes).unwrap();
    assert_eq!(container.dialect(), object.dialect, "{what}");
    assert_eq!(container.format(), object.format(), "{what}");
    for (id, routine) in object.routines() {
        let reader = container.routine(id).unwrap();
        let mut owned = routine.body().unwrap().instructions();
        for lazy in reader.instructions() {
            let lazy = lazy.unwrap();
            let owned = owned.next().unwrap();
            assert_eq!(lazy.to_instruction(), *owned, "{what}");
            let named = |(def, value): (&FieldDef, Value)| (def.name, value);
            let operands = owned.operands().map(named);
            assert!(lazy.operands().map(named).eq(operands), "{what}");
            assert_eq!(AnyInstruction::op(&lazy), AnyInstruction::op(owned));
            assert_eq!(AnyInstruction::exec_size(&lazy), owned.exec_size());
            assert_eq!(AnyInstruction::predicate(&lazy), owned.predicate());
            for field in &owned.fields {
                assert!(
                    lazy.values(field.name).eq(owned.values(field.name)),
                    "{what}"
                );
            }
        }
        assert!(owned.next().is_none(), "{what}");
    }
    Some(object.dialect)
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn of_every_case() {
    let mut found = Vec::new();
    for case in cases() {
        found.extend(agrees(&case.place, &case.bytes));
        // Routines are read in a forced dialect.
        let dialect = case.format.dialect();
        let options = ReadOptions {
            dialect: Some(dialect),
            ..ReadOptions::default()
        };
        let forced = read_with(&case.bytes, options).unwrap().object;
        let container = Container::parse(&case.bytes).unwrap().with_dialect(dialect);
        assert_eq!(container.dialect(), dialect);
        let (id, routine) = forced.routines().next().unwrap();
        let reader = container.routine(id).unwrap();
        let lazy = reader.instructions().map(|i| i.unwrap().to_instruction());
        let owned = routine.body().unwrap().instructions().cloned();
        assert!(lazy.eq(owned), "{}", case.place);
    }
    for dialect in Dialect::ALL {
        assert!(found.contains(&dialect), "no case is found to be {dialect}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn of_every_object() {
    for (name, bytes) in objects() {
        assert!(agrees(&name, &bytes).is_some(), "{name}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn of_newer_writers() {
    for folder in ["corpus/synth/igc-2026-08", "corpus/asm/v41_2023_07"] {
        let Some(folder) = visakit_testing::shared("of_newer_writers", folder) else {
            continue;
        };
        let mut newer = 0;
        for path in visakit_testing::objects(&folder) {
            let bytes = std::fs::read(&path).unwrap();
            let dialect = agrees(&path.display().to_string(), &bytes);
            newer += usize::from(dialect.is_some_and(|d| d != Dialect::default()));
        }
        assert!(newer > 0, "{}", folder.display());
    }
}

/// An object that damage left without a dialect has the one that read_with chooses.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn of_damaged_objects() {
    let lenient = ReadOptions {
        lenient: true,
        dialect: None,
    };
    for case in cases().iter().step_by(11) {
        for at in (6..case.bytes.len()).step_by(17) {
            let mut bytes = case.bytes.clone();
            bytes[at] ^= 0x81;
            if let Ok(container) = Container::parse(&bytes) {
                let decoded = read_with(&bytes, lenient).unwrap();
                assert_eq!(
                    container.dialect(),
                    decoded.object.dialect,
                    "{}",
                    case.place
                );
            }
        }
    }
}
