//! Bytes and texts as they come, taken for objects.

use visakit::verify::{Outcome, roundtrip};
use visakit_encode as encode;
use visakit_isa::Dialect;
use visakit_isa::object::{Content, Item, Object};
use visakit_parse::{self as parse, Container, ReadOptions, Silent};
use visakit_text::{self as text, Form, Options, Printer, asm};

/// Reads in every possible way. Nothing panics, strict reading returns only what can be written again,
/// and lenient reading loses no byte of what it accepts.
pub fn decode(data: &[u8]) {
    let lenient = lenient(None);
    match parse::read_with(data, lenient) {
        Ok(decoded) => {
            // Faults are reported, and if something was not decoded there is a fault.
            for fault in &decoded.errors {
                assert!(!fault.to_string().is_empty());
                assert!(fault.offset() <= data.len() as u64 + u64::from(u32::MAX));
            }
            if decoded.errors.is_empty() {
                assert!(is_whole(&decoded.object), "raw items without a fault");
            }
        }
        // Beyond the header nothing stops lenient reading.
        Err(error) => assert!(Container::parse(data).is_err(), "{error}"),
    }
    loses_nothing(data, lenient);
    let strict = parse::read_with(data, ReadOptions::default());
    if let Ok(decoded) = &strict {
        assert!(is_whole(&decoded.object) && decoded.errors.is_empty());
        assert!(!decoded.candidates.is_empty());
    }
    // The dialects share the first passes over a file; each is also tested alone.
    if data.get(4..6) == Some(&[4, 1]) {
        for dialect in Dialect::ALL {
            loses_nothing(data, self::lenient(Some(dialect)));
        }
    }
    lazily(data);
}

/// Validation of any bytes terminates, states places, and has the same findings however many are kept;
/// what strict reading accepts has no finding about the file's structure.
pub fn validate(data: &[u8]) {
    use visakit_validate::{Area, Options, Platform, Severity, bytes, object};
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
        // Places stated in the file may be past its end.
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
                        d.errors.is_empty(),
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
/// reading accepts can be assembled, and the result has the same text.
pub fn texts(data: &[u8]) {
    for dialect in core::iter::once(None).chain(Dialect::ALL.map(Some)) {
        texts_in(data, dialect);
    }
}

/// Laws of texts in one dialect, or in the one that is found out.
pub fn texts_in(data: &[u8], dialect: Option<Dialect>) {
    let Ok(decoded) = parse::read_with(data, lenient(dialect)) else {
        return;
    };
    let exact = text_of(&decoded.object, Form::Exact);
    carries(&exact, data);
    match text::format(&exact, &asm::Options::default()) {
        Ok(tidy) => carries(&tidy, data),
        Err(faults) => unreachable!("exact text is not formatted: {faults:?}"),
    }
    if !decoded.errors.is_empty() {
        return;
    }
    let plain = text_of(&decoded.object, Form::Plain);
    let made = match asm::assemble(&plain, &asm::Options::default()) {
        Ok(made) => made,
        Err(faults) => unreachable!("plain text has faults: {faults:?}"),
    };
    let again = text_of(&made, Form::Plain);
    let (a, b) = (
        String::from_utf8_lossy(&plain),
        String::from_utf8_lossy(&again),
    );
    for (a, b) in a.lines().zip(b.lines()) {
        assert_eq!(a, b, "plain text is not the same again");
    }
    assert_eq!(plain, again);
}

/// Every byte of the object comes of the text.
fn carries(exact: &[u8], data: &[u8]) {
    let made = match asm::assemble(exact, &asm::Options::default()) {
        Ok(made) => encode::write(&made),
        Err(faults) => unreachable!("exact text has faults: {faults:?}"),
    };
    match made {
        Ok(written) => assert!(
            written == data,
            "exact text loses what is at byte {:?}",
            written.iter().zip(data).position(|(a, b)| a != b)
        ),
        Err(error) => unreachable!("what exact text makes cannot be written: {error}"),
    }
}

pub(crate) fn text_of(object: &Object<'_>, form: Form) -> Vec<u8> {
    let options = Options {
        form,
        ..Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    text
}

/// Prints what can be read, damaged or not, and assembles the text.
pub fn printed(data: &[u8]) {
    for lenient in [true, false] {
        let options = ReadOptions {
            lenient,
            dialect: None,
        };
        if let Ok(decoded) = parse::read_with(data, options) {
            let object = &decoded.object;
            for form in [Form::Intel, Form::Plain, Form::Exact] {
                // It is fine to reject the text of damaged objects.
                let _ = asm::assemble(&text_of(object, form), &options_of(object));
            }
        }
    }
}

/// Assembles a text. The result is written and read again unchanged, and its text yields the same
/// instructions each time.
pub fn assembled(text: &[u8]) {
    let dialect = Dialect::ALL.get(text.len() % Dialect::ALL.len()).copied();
    let options = asm::Options {
        dialect,
        ..asm::Options::default()
    };
    let object = match asm::assemble(text, &options) {
        Ok(object) => object,
        Err(faults) => {
            assert!(!faults.is_empty());
            for fault in faults {
                assert!(fault.span.end() <= text.len() && !fault.message.is_empty());
            }
            return;
        }
    };
    formatted(text, &object, &options);
    let bytes = match encode::write(&object) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("the assembler made what cannot be written: {error}"),
    };
    let reading = ReadOptions {
        lenient: false,
        dialect: Some(object.dialect),
    };
    match parse::read_with(&bytes, reading) {
        Ok(decoded) => assert_eq!(decoded.object, object),
        Err(error) => unreachable!("the assembler made an object that cannot be read: {error}"),
    }
    let printed = text_of(&object, Form::Intel);
    // Names that this form changes may meet.
    let Ok(again) = asm::assemble(&printed, &options_of(&object)) else {
        return;
    };
    let printed = text_of(&again, Form::Intel);
    let Ok(third) = asm::assemble(&printed, &options_of(&again)) else {
        unreachable!("text that was assembled and printed is refused");
    };
    let code = again.routines().zip(third.routines());
    for ((_, a), (_, b)) in code {
        assert_eq!(a.body().map(|a| &a.code), b.body().map(|b| &b.code));
    }
}

/// Formatting preserves the meaning, and formatted text is not changed again.
fn formatted(text: &[u8], object: &Object<'_>, options: &asm::Options) {
    let Ok(tidy) = text::format(text, options) else {
        unreachable!("text that assembles is not formatted");
    };
    match asm::assemble(&tidy, options) {
        Ok(after) => assert!(after == *object, "formatting changed what the text says"),
        Err(faults) => unreachable!("formatted text is refused: {:?}", faults.first()),
    }
    let again = text::format(&tidy, options);
    assert!(
        again.as_ref() == Ok(&tidy),
        "formatting changes what it made"
    );
}

fn options_of(object: &Object<'_>) -> asm::Options {
    asm::Options {
        version: Some(object.version),
        dialect: Some(object.dialect),
        grf_bytes: None,
    }
}

pub(crate) const fn lenient(dialect: Option<Dialect>) -> ReadOptions {
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
