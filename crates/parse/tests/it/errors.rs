//! Every error, with its offset, its field and its message.

use crate::{NARROW, WIDE, object};
use visakit_isa::{Format, Version};
use visakit_parse::{
    Container, Error, ErrorKind as E, Instructions, ReadOptions, Rules, read, read_with,
};

/// The error of code that begins at offset 0x100 of a file.
#[track_caller]
fn code(format: Format, rules: Rules, bytes: &[u8]) -> Error {
    let mut all = Instructions::new(bytes, 0x100, format, rules);
    let error = all.by_ref().find_map(Result::err).unwrap();
    assert!(all.next().is_none(), "nothing follows a fault");
    assert!(!error.help().is_empty());
    error
}

#[track_caller]
fn is(bytes: &[u8], kind: E, offset: u64, number: u32, field: Option<&str>) {
    let error = code(WIDE, Rules::CODES_ONLY, bytes);
    let context = error.context();
    assert_eq!(
        (
            error.kind(),
            error.offset(),
            context.instruction,
            context.field
        ),
        (kind, offset, Some(number), field)
    );
}

const RET: [u8; 4] = [0x34, 0, 0, 0];

#[test]
fn instructions() {
    let is_after_ret = |bytes: &[u8], kind, offset: u64, field| {
        let bytes = [&RET[..], bytes].concat();
        is(&bytes, kind, 0x104 + offset, 1, field);
    };
    is_after_ret(
        &[0xff],
        E::UnknownOpcode {
            opcode: 0xff,
            elsewhere: None,
        },
        0,
        None,
    );
    is_after_ret(
        &[0x89, 0x3f],
        E::UnknownSubOp {
            opcode: 0x89,
            sub_op: 0x3f,
        },
        1,
        None,
    );
    is_after_ret(&[0x34, 0x06, 0, 0], E::ExecSize(0x06), 1, Some("exec_size"));
    is_after_ret(&[0x34, 0, 0, 0x10], E::Predicate(0x1000), 2, Some("pred"));
    is_after_ret(
        &[0x34, 0, 0],
        E::UnexpectedEndOfCode { needed: 1 },
        3,
        Some("pred"),
    );
    // mov (M1, 1) dst src0
    let mov = |operand: &[u8]| [&[0x29, 0, 0, 0][..], operand].concat();
    is_after_ret(&mov(&[0x04]), E::OperandClass(0x04), 4, Some("dst"));
    is_after_ret(
        &mov(&[0x05, 10, 0, 0, 0, 0]),
        E::BoolImmediate,
        4,
        Some("dst"),
    );
    is_after_ret(
        &mov(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0]),
        E::Modifier(0x80),
        4,
        Some("dst"),
    );
    is_after_ret(
        &mov(&[0, 0, 0, 0, 0, 0, 0, 0x08, 0]),
        E::Region(0x0008),
        4,
        Some("dst"),
    );
    is_after_ret(
        &mov(&[0x05, 0x17, 0, 0, 0, 0]),
        E::ImmediateType(0x17),
        4,
        Some("dst"),
    );
    is_after_ret(&mov(&[0x06, 2, 0, 0, 0]), E::StateClass(2), 4, Some("dst"));
}

#[test]
fn codes_that_only_some_instructions_have() {
    let kinds = |wanted| {
        let row = visakit_isa::table::rows().find(|row| {
            let first = row.fields.first();
            row.exists_in(WIDE) && row.sub_op.is_none() && first.is_some_and(|f| f.kind == wanted)
        });
        row.map(|row| row.op.opcode())
    };
    if let Some(opcode) = kinds(visakit_isa::table::FieldKind::ElementCount) {
        let error = code(WIDE, Rules::CODES_ONLY, &[opcode, 0x03]);
        assert_eq!((error.kind(), error.offset()), (E::ElementCount(3), 0x101));
    }
    if let Some(opcode) = kinds(visakit_isa::table::FieldKind::SamplerOp) {
        let error = code(WIDE, Rules::CODES_ONLY, &[opcode, 0x03, 0x08]);
        assert_eq!(
            (error.kind(), error.offset()),
            (E::SamplerOp(0x0803), 0x101)
        );
    }
    // Masks above 9 were introduced in 3.1.
    let old = Format::new(Version::V3_0, visakit_isa::Dialect::Writer2018);
    let error = code(old, Rules::CODES_ONLY, &[0x34, 0xa0, 0, 0]);
    assert_eq!((error.kind(), error.offset()), (E::ExecSize(0xa0), 0x101));
}

#[test]
fn indices_end_with_their_tables() {
    for format in [NARROW, WIDE] {
        let object = object(format.version());
        let rules = Rules::of_body(object.kernels[0].body().unwrap(), format);
        let index = |low: u8| {
            let mut bytes = vec![low, 0];
            bytes.resize(if format == WIDE { 4 } else { 2 }, 0);
            bytes
        };
        let general = |low| [&[0x29, 0, 0, 0, 0x00][..], &index(low), &[0, 0, 0, 2]].concat();
        for (bytes, table, wrong, end) in [
            (general(33), "variable", 33, 33),
            (vec![0x32, 0, 0, 0, 1, 0], "label", 1, 1),
            (vec![0x34, 0, 2, 0], "predicate", 2, 2),
            (vec![0x29, 0, 0, 0, 0x01, 1, 0, 0, 0], "address", 1, 1),
            (vec![0x29, 0, 0, 0, 0x06, 0, 7, 0, 0], "surface", 7, 7),
            (vec![0x29, 0, 0, 0, 0x06, 1, 1, 0, 0], "sampler", 1, 1),
        ] {
            let error = code(format, rules, &bytes);
            let kind = E::IndexOutOfRange {
                table,
                index: wrong,
                end,
            };
            assert_eq!(error.kind(), kind, "{format:?}");
            assert!(error.kind().is_legality());
        }
    }
}

#[track_caller]
fn of_file(bytes: &[u8]) -> Error {
    let error = read(bytes).unwrap_err();
    assert!(!error.help().is_empty() && !error.to_string().is_empty());
    error
}

#[test]
fn files() {
    let found = *b"ELF!";
    assert_eq!(of_file(b"ELF!....").kind(), E::NotAnObject { found });
    assert_eq!(of_file(b"CI").kind(), E::UnexpectedEnd { needed: 2 });
    let error = of_file(b"CISA\x09\x00");
    assert_eq!(
        (error.kind(), error.offset()),
        (E::UnsupportedVersion(Version::new(9, 0)), 4)
    );
}

/// The number that the header states of a place, replaced.
fn restated(version: Version, routine: usize, number: u64, add: u32) -> (Vec<u8>, u64) {
    let mut bytes = visakit_encode::write(&object(version)).unwrap();
    let container = Container::parse(&bytes).unwrap();
    let at = container.extents()[routine].stated_at + 4 * number;
    let place = usize::try_from(at).unwrap();
    let old = u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap());
    let new = old.wrapping_add(add).to_le_bytes();
    bytes[place..place + 4].copy_from_slice(&new);
    (bytes, at)
}

#[test]
fn places_and_numbers() {
    for version in [Version::V3_3, Version::V4_1] {
        // Offset, size and place of the inputs of the kernel.
        let (bytes, at) = restated(version, 0, 0, 1 << 20);
        let lenient = ReadOptions {
            lenient: true,
            dialect: None,
        };
        let faults = read_with(&bytes, lenient).unwrap().errors;
        let uncovered = |error: &Error| matches!(error.kind(), E::Uncovered { .. });
        assert!(faults.iter().any(uncovered));
        // The wrong number comes before the bytes that it leaves uncovered.
        let error = of_file(&bytes);
        assert!(matches!(error.kind(), E::OutsideOfFile { .. }), "{error}");
        assert_eq!(error.offset(), at);
        let (bytes, at) = restated(version, 0, 2, 1);
        let error = of_file(&bytes);
        assert!(matches!(error.kind(), E::Inconsistent { .. }), "{error}");
        assert_eq!(
            (error.offset(), error.context().field),
            (at, Some("input_offset"))
        );
        // The content tells that a size is wrong, be it too small or too large.
        for add in [u32::MAX, 1, 1 << 20] {
            let (bytes, at) = restated(version, 0, 1, add);
            let error = of_file(&bytes);
            assert!(matches!(error.kind(), E::Inconsistent { .. }), "{error}");
            assert_eq!((error.offset(), error.context().field), (at, Some("size")));
        }
    }
}

#[test]
fn tables_name_what_they_point_at() {
    let mut wrong = object(Version::V4_1);
    wrong.kernels[0].body_mut().unwrap().labels[0].name.0 = 9;
    let error = of_file(&visakit_encode::write(&wrong).unwrap());
    let kind = E::IndexOutOfRange {
        table: "string",
        index: 9,
        end: 1,
    };
    assert_eq!(error.kind(), kind);
    assert_eq!(error.context().path, [("labels", Some(0))]);
    assert_eq!(error.context().routine.as_ref().unwrap().1, "k");
}

#[test]
fn a_routine_that_does_not_exist() {
    use visakit_isa::object::{RoutineId, RoutineKind};
    let bytes = visakit_encode::write(&object(Version::V4_1)).unwrap();
    let container = Container::parse(&bytes).unwrap();
    let id = RoutineId::new(RoutineKind::Function, 1);
    let error = container.routine(id).unwrap_err();
    let kind = E::IndexOutOfRange {
        table: "function",
        index: 1,
        end: 1,
    };
    assert_eq!(error.kind(), kind);
}
