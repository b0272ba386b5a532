//! Truncated files, wrong counts, and how lenient reading handles them.

use crate::object;
use visakit_isa::object::{Content, Item, RoutineId};
use visakit_isa::{Instruction, Op, Version};
use visakit_parse::{Container, Error, ErrorKind, ReadOptions, read, read_with};

const LENIENT: ReadOptions = ReadOptions {
    lenient: true,
    dialect: None,
};

/// Fewer versions if each takes seconds.
fn versions() -> &'static [Version] {
    if cfg!(miri) {
        &[Version::V3_3]
    } else {
        &[Version::V3_0, Version::V3_3, Version::V3_6, Version::V4_1]
    }
}

/// The code of all routines, read one instruction after the other into the same one.
fn streamed(bytes: &[u8]) -> Result<Vec<(RoutineId, Vec<Instruction>)>, Error> {
    let container = Container::parse(bytes)?;
    let mut instruction = Instruction::new(Op::LABEL);
    let mut routines = Vec::new();
    for reader in container.sound_routines()? {
        let mut code = Vec::new();
        let mut instructions = reader.instructions();
        while let Some(next) = instructions.next_into(&mut instruction) {
            assert_eq!(next?.op(), instruction.op);
            code.push(instruction.clone());
        }
        routines.push((reader.id(), code));
    }
    Ok(routines)
}

/// Lenient reading loses nothing, and strict reading accepts only objects without faults.
#[track_caller]
fn keeps(bytes: &[u8]) -> bool {
    let strict = read(bytes);
    let default = ReadOptions {
        lenient: false,
        dialect: Container::parse(bytes).ok().map(|c| c.dialect()),
    };
    let in_default = read_with(bytes, default);
    match (streamed(bytes), &in_default) {
        (Ok(streamed), Ok(decoded)) => {
            let routines = decoded.object.routines().map(|(id, routine)| {
                let body = routine.body().unwrap();
                (id, body.instructions().cloned().collect())
            });
            assert_eq!(streamed, routines.collect::<Vec<_>>());
        }
        (streamed, decoded) => assert_eq!(streamed.is_ok(), decoded.is_ok()),
    }
    let Ok(lenient) = read_with(bytes, LENIENT) else {
        assert!(strict.is_err());
        return false;
    };
    assert_eq!(strict.is_ok(), lenient.errors.is_empty(), "{strict:?}");
    assert_eq!(visakit_encode::write(&lenient.object).unwrap(), bytes);
    if let Ok(object) = strict {
        assert_eq!(object, lenient.object);
        return true;
    }
    false
}

#[test]
fn sound_objects() {
    for version in versions() {
        let object = object(*version);
        let bytes = visakit_encode::write(&object).unwrap();
        assert!(keeps(&bytes));
        assert_eq!(read(&bytes).unwrap(), object);
    }
}

#[test]
fn cut_at_every_byte() {
    for version in versions() {
        let bytes = visakit_encode::write(&object(*version)).unwrap();
        let step = if cfg!(miri) { 7 } else { 1 };
        for end in (0..bytes.len()).step_by(step) {
            assert!(!keeps(&bytes[..end]), "{version} cut at {end}");
        }
    }
}

#[test]
fn counts_that_lie() {
    for version in versions() {
        let bytes = visakit_encode::write(&object(*version)).unwrap();
        let step = if cfg!(miri) { 31 } else { 1 };
        for width in [1, 2, 4] {
            for at in (6..=bytes.len() - width).step_by(step) {
                for fill in [0x00, 0x01, 0xff] {
                    let mut bytes = bytes.clone();
                    bytes[at..at + width].fill(fill);
                    keeps(&bytes);
                }
            }
        }
    }
}

#[test]
fn undecodable_code_is_kept() {
    let mut bytes = visakit_encode::write(&object(Version::V4_1)).unwrap();
    // The jump, whose label can be recognised by its opcode.
    let jump = bytes.windows(4).position(|w| w == [0x32, 0, 0, 0]).unwrap();
    bytes[jump] = 0xff;
    let decoded = read_with(&bytes, LENIENT).unwrap();
    let code = &decoded.object.kernels[0].body().unwrap().code;
    assert!(matches!(&code[0], Item::Instruction(_)));
    let Item::Raw(raw) = &code[1] else {
        panic!("{:?}", code[1])
    };
    assert_eq!(raw.bytes[0], 0xff);
    assert_eq!(code.len(), 2);
    let kind = decoded.errors[0].kind();
    assert!(matches!(
        kind,
        ErrorKind::UnknownOpcode { opcode: 0xff, .. }
    ));
    assert!(!kind.is_legality());
    assert!(!keeps(&bytes));
}

#[test]
fn meaningless_codes_are_kept_as_values() {
    let mut bytes = visakit_encode::write(&object(Version::V4_1)).unwrap();
    let jump = bytes.windows(4).position(|w| w == [0x32, 0, 0, 0]).unwrap();
    bytes[jump + 1] = 0x0f;
    let decoded = read_with(&bytes, LENIENT).unwrap();
    let body = decoded.object.kernels[0].body().unwrap();
    assert_eq!(body.instructions().count(), 3);
    let jump = body.instructions().nth(1).unwrap();
    assert_eq!(jump.exec_size().unwrap().bits(), 0x0f);
    assert_eq!(decoded.errors.len(), 1);
    assert!(!keeps(&bytes));
}

#[test]
fn undecodable_tables_are_kept() {
    let mut bytes = visakit_encode::write(&object(Version::V4_1)).unwrap();
    let container = visakit_parse::Container::parse(&bytes).unwrap();
    let start = usize::try_from(container.extents()[0].offset).unwrap();
    // The number of strings.
    bytes[start..start + 4].fill(0xff);
    let decoded = read_with(&bytes, LENIENT).unwrap();
    assert!(matches!(decoded.object.kernels[0].content, Content::Raw(_)));
    assert!(decoded.object.functions[0].body().is_some());
    assert!(!keeps(&bytes));
}
