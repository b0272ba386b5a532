//! What the fuzz targets do with their input. `cargo test` replays the same over all fixtures.

mod run;

pub use run::executed;

use crate::text::{Form, Options, Printer, asm};
use crate::verify::{Outcome, roundtrip};
use crate::{ReadOptions, isa, parse};
use isa::Dialect;
use isa::object::{Content, Item, Object};
use parse::{Container, Silent};

/// Reads in every way there is. Nothing panics, strict reading says only what it can stand by,
/// and lenient reading loses no byte of what it accepts.
pub fn decode(data: &[u8]) {
    let lenient = lenient(None);
    match parse::read_with(data, lenient) {
        Ok(decoded) => {
            // What is wrong is said, and where something was not decoded something is wrong.
            for fault in &decoded.faults {
                assert!(!fault.to_string().is_empty());
                assert!(fault.offset() <= data.len() as u64 + u64::from(u32::MAX));
            }
            if decoded.faults.is_empty() {
                assert!(is_whole(&decoded.object), "raw items without a fault");
            }
        }
        // Beyond the header nothing stops lenient reading.
        Err(error) => assert!(Container::parse(data).is_err(), "{error}"),
    }
    loses_nothing(data, lenient);
    let strict = parse::read_with(data, ReadOptions::default());
    if let Ok(decoded) = &strict {
        assert!(is_whole(&decoded.object) && decoded.faults.is_empty());
        assert!(!decoded.candidates.is_empty());
    }
    // The dialects share the first passes over a file; each also stands alone.
    if data.get(4..6) == Some(&[4, 1]) {
        for dialect in Dialect::ALL {
            loses_nothing(data, self::lenient(Some(dialect)));
        }
    }
    lazily(data);
}

/// Validation of any bytes ends, says where, and says the same however much of it is kept; what strict
/// reading accepts has no finding of the file's structure.
pub fn validate(data: &[u8]) {
    use crate::validate::{Area, Options, Platform, Severity, bytes, object};
    let few = Options {
        limit: 8,
        ..Options::default()
    };
    let Ok(report) = bytes(data, None, &Options::default()) else {
        assert!(Container::parse(data).is_err());
        return;
    };
    for finding in &report.findings {
        assert!(!finding.message.is_empty());
        // What the file says of places may lie beyond its end.
        assert!(finding.offset.is_some(), "{finding}");
    }
    let kept = bytes(data, None, &few).map(|r| (r.errors, r.warnings, r.findings.len()));
    let wanted = report.findings.len().min(8);
    assert_eq!(kept.ok(), Some((report.errors, report.warnings, wanted)));
    for name in ["SKL", "PVC"] {
        let options = Options {
            platform: Platform::from_name(name),
            limit: 8,
        };
        assert!(bytes(data, None, &options).is_ok());
    }
    if let Ok(decoded) = parse::read_with(data, ReadOptions::default()) {
        // Of the rules of structure an undamaged file breaks only those about names and numbers in it.
        let damaged = report.findings.iter().find(|f| {
            f.rule.severity == Severity::Error
                && f.rule.area() == Area::Structure
                && f.rule.number < 6
        });
        assert_eq!(damaged, None);
        let owned = object(&decoded.object, &Options::default());
        assert_eq!(
            (owned.errors, owned.warnings),
            (report.errors, report.warnings)
        );
    }
}

/// Whatever strict reading accepts is written identically from values that own all they hold, and
/// lenient reading finds the same in it.
pub fn written(data: &[u8]) {
    for dialect in core::iter::once(None).chain(Dialect::ALL.map(Some)) {
        let options = ReadOptions {
            dialect,
            ..ReadOptions::default()
        };
        match roundtrip(data.to_vec(), options) {
            Outcome::Rejected(_) => {}
            Outcome::Identical(_) => {
                let strict = parse::read_with(data, options).map(|d| d.object).ok();
                let gentle = parse::read_with(data, lenient(dialect)).ok();
                let gentle = gentle.map(|d| {
                    assert!(
                        d.faults.is_empty(),
                        "a fault that strict reading did not see"
                    );
                    d.object
                });
                assert_eq!(strict, gentle);
            }
            other => unreachable!("strict reading accepts what cannot be written: {other:?}"),
        }
    }
}

/// Exact text carries every byte of whatever lenient reading accepts. Plain text of what strict
/// reading accepts is assembled again, and what is made of it has the same text.
pub fn texts(data: &[u8]) {
    for dialect in core::iter::once(None).chain(Dialect::ALL.map(Some)) {
        texts_in(data, dialect);
    }
}

/// The same for one dialect, or for the one that is found out.
pub fn texts_in(data: &[u8], dialect: Option<Dialect>) {
    let Ok(decoded) = parse::read_with(data, lenient(dialect)) else {
        return;
    };
    let exact = printed(&decoded.object, Form::Exact);
    let made = match asm::assemble(&exact, &asm::Options::default()) {
        Ok(made) => crate::encode::write(&made),
        Err(faults) => unreachable!("exact text has faults: {faults:?}"),
    };
    match made {
        Ok(written) => assert!(written == data, "exact text loses something"),
        Err(error) => unreachable!("what exact text makes cannot be written: {error}"),
    }
    if !decoded.faults.is_empty() {
        return;
    }
    let plain = printed(&decoded.object, Form::Plain);
    let made = match asm::assemble(&plain, &asm::Options::default()) {
        Ok(made) => made,
        Err(faults) => unreachable!("plain text has faults: {faults:?}"),
    };
    let again = printed(&made, Form::Plain);
    let (a, b) = (
        String::from_utf8_lossy(&plain),
        String::from_utf8_lossy(&again),
    );
    for (a, b) in a.lines().zip(b.lines()) {
        assert_eq!(a, b, "plain text is not the same again");
    }
    assert_eq!(plain, again);
}

fn printed(object: &Object<'_>, form: Form) -> Vec<u8> {
    let options = Options {
        form,
        ..Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    text
}

const fn lenient(dialect: Option<Dialect>) -> ReadOptions {
    ReadOptions {
        lenient: true,
        dialect,
    }
}

fn loses_nothing(data: &[u8], options: ReadOptions) {
    match roundtrip(data.to_vec(), options) {
        Outcome::Identical(_) | Outcome::Rejected(_) => {}
        other => unreachable!("lenient reading loses something: {other:?}"),
    }
}

fn is_whole(object: &Object<'_>) -> bool {
    object
        .routines()
        .all(|(_, routine)| match &routine.content {
            Content::Body(body) => !body.code.iter().any(|i| matches!(i, Item::Raw(_))),
            _ => false,
        })
}

/// The container, each routine, and each instruction field by field.
fn lazily(data: &[u8]) {
    let Ok(container) = Container::parse(data) else {
        return;
    };
    assert!(container.header_end() <= data.len() as u64);
    // Many entries may point at the same bytes; the first ones will do.
    for (id, _) in container.header().routines().take(64) {
        let Ok(routine) = container.routine_with(id, &mut Silent) else {
            continue;
        };
        let _ = routine.check_tables();
        let mut instructions = routine.instructions();
        let mut at = instructions.offset();
        while let Some(next) = instructions.next() {
            let Ok(instruction) = next else {
                assert!(instructions.next().is_none());
                break;
            };
            assert_eq!(instruction.offset(), at);
            at += instruction.len() as u64;
            assert_eq!(instructions.offset(), at);
            let mut end = 1 + usize::from(instruction.def().sub_op.is_some());
            for field in instruction.fields() {
                assert!(field.start == end && field.end > field.start);
                end = field.end;
            }
            assert_eq!(end, instruction.len());
        }
        // Any bytes may be taken for an instruction.
        if let Some((_, rest)) = routine.code().split_first() {
            let _ = parse::instruction(routine.format())(rest);
        }
    }
}
