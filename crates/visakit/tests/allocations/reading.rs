//! Heap usage of reading: nothing for single instructions, and never more than a small multiple of
//! the input, whatever the input claims.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use allocation_counter::{AllocationInfo, measure};
use visakit::isa::Dialect;
use visakit::isa::Version;
use visakit::isa::table::FieldKind;
use visakit::parse::{self, Container, MAX_ERRORS, ReadOptions};
use visakit_testing::layouts::{cases, objects};

/// Peak heap usage per byte of the input, and a constant for any input.
const PER_BYTE: u64 = 128;
const FIXED: u64 = 64 * 1024;

/// Measures once more after the first time, which may fill tables of the standard library.
fn measured(mut run: impl FnMut()) -> AllocationInfo {
    run();
    measure(run)
}

fn every_way(bytes: &[u8]) -> [(&'static str, AllocationInfo); 3] {
    let read = |lenient| {
        measured(|| {
            let options = ReadOptions {
                lenient,
                ..ReadOptions::default()
            };
            let _ = parse::read_with(bytes, options);
        })
    };
    let container = measured(|| {
        let _ = Container::parse(bytes);
    });
    [
        ("container", container),
        ("strict", read(false)),
        ("lenient", read(true)),
    ]
}

/// The largest excess of peak over the fixed part, for each byte.
fn bounded(what: &str, bytes: &[u8]) -> u64 {
    let length = bytes.len() as u64;
    let mut worst = 0;
    for (way, info) in every_way(bytes) {
        let bound = PER_BYTE * length + FIXED;
        assert!(
            info.bytes_max <= bound,
            "{what}, {way}: {} bytes at once for {length} bytes of input",
            info.bytes_max
        );
        worst = worst.max(info.bytes_max.saturating_sub(FIXED) / length.max(1));
    }
    worst
}

#[test]
fn instructions_one_by_one_allocate_nothing() {
    let mut instructions = 0;
    let mut values = 0;
    for (name, bytes) in objects() {
        let container = Container::parse(&bytes).unwrap();
        for (id, _) in container.header().routines() {
            let reader = container.routine(id).unwrap();
            let info = measured(|| {
                for instruction in reader.instructions() {
                    let instruction = instruction.unwrap();
                    instructions += 1;
                    for field in instruction.fields() {
                        values += usize::from(field.def.kind != FieldKind::Count);
                    }
                }
                let mut again = reader.instructions();
                while let Some(instruction) = again.next_with(|field| values += field.end) {
                    assert!(instruction.is_ok());
                }
            });
            assert_eq!(info.count_total, 0, "{name}: {info:?}");
        }
    }
    for case in cases() {
        let container = Container::parse(&case.bytes).unwrap();
        let id = container.header().routines().next().unwrap().0;
        let reader = container.routine(id).unwrap();
        let reader = reader.with_dialect(case.format.dialect());
        let info = measured(|| {
            for instruction in reader.instructions() {
                values += instruction.unwrap().fields().count();
            }
        });
        assert_eq!(info.count_total, 0, "{}: {info:?}", case.place);
    }
    assert!(instructions > 1000 && values > instructions);
}

#[test]
fn sound_objects_take_little() {
    for (name, bytes) in objects() {
        bounded(&name, &bytes);
    }
    for case in cases().iter().step_by(7) {
        bounded(&case.place, &case.bytes);
    }
}

#[test]
fn truncated_objects_take_little() {
    for (name, bytes) in objects() {
        for end in (0..bytes.len()).step_by(509) {
            bounded(&name, &bytes[..end]);
        }
    }
}

#[test]
fn counts_that_nothing_stands_behind_take_little() {
    for case in cases().iter().step_by(100) {
        for width in [1, 2, 4] {
            for at in 6..=case.bytes.len() - width {
                let mut bytes = case.bytes.clone();
                bytes[at..at + width].fill(0xff);
                bounded(&case.place, &bytes);
            }
        }
    }
}

fn head(version: Version) -> Vec<u8> {
    vec![b'C', b'I', b'S', b'A', version.major, version.minor]
}

/// A header of as many kernels as there can be, all at one place.
fn crowd(version: Version, offset: impl Fn(u32) -> u32, size: u32, tail: &[u8]) -> Vec<u8> {
    let mut bytes = head(version);
    bytes.extend(0xffff_u16.to_le_bytes());
    for kernel in 0..0xffff {
        // No name.
        bytes.extend(match version.at_least(Version::V3_7) {
            true => &[0, 0][..],
            false => &[0][..],
        });
        bytes.extend(offset(kernel).to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        // No relocations, no binaries.
        bytes.extend([0; 5]);
    }
    // No variables, no functions.
    bytes.extend([0; 4]);
    bytes.extend(tail);
    bytes
}

#[test]
fn crowds_of_kernels_take_little() {
    let body = vec![0x59; 4096];
    for version in [Version::V3_2, Version::V3_6, Version::V4_1] {
        let header = u32::try_from(crowd(version, |_| 0, 0, &[]).len()).unwrap();
        let end = header + u32::try_from(body.len()).unwrap();
        let mut worst = 0;
        for (offset, size) in [
            (0, 0),
            (header, 0),
            (header, 4096),
            (header, u32::MAX),
            (end, 0),
            (u32::MAX, u32::MAX),
        ] {
            let bytes = crowd(version, |_| offset, size, &body);
            worst = worst.max(bounded(
                &format!("{version}, {offset:#x}, {size:#x}"),
                &bytes,
            ));
        }
        // Places that follow each other, one byte each: as many routines that cannot be read.
        let bytes = crowd(version, |k| header + k / 16, 1, &body);
        worst = worst.max(bounded("one byte each", &bytes));
        println!("{version}: {worst} bytes for each byte of the input");
    }
}

#[test]
fn zeros_take_little() {
    for version in Version::SUPPORTED {
        for fill in [0, 0xff] {
            let mut bytes = head(version);
            bytes.resize(200_000, fill);
            bounded("filled", &bytes);
        }
    }
}

/// Tables and code of bytes that are as dense as can be.
#[test]
fn dense_bodies_take_little() {
    use visakit::isa::object::{Body, Declaration, Input, Label, Object, Routine, Variable};
    use visakit::isa::{Instruction, Op};
    let mut fills: Vec<(&str, Body<'static>)> = Vec::new();
    let mut fill = |what, change: &dyn Fn(&mut Body<'static>)| {
        let mut body = Body::default();
        body.add_string(&b"k"[..]);
        change(&mut body);
        fills.push((what, body));
    };
    fill("strings", &|b| b.strings = vec![Default::default(); 60_000]);
    fill("variables", &|b| {
        b.variables = vec![Variable::default(); 60_000];
    });
    fill("labels", &|b| b.labels = vec![Label::default(); 60_000]);
    fill("addresses", &|b| {
        b.addresses = vec![Declaration::default(); 60_000];
    });
    fill("inputs", &|b| b.inputs = vec![Input::default(); 255]);
    fill("barriers", &|b| {
        b.code = vec![Instruction::new(Op::BARRIER).into(); 100_000];
    });
    let mut loc = Instruction::new(Op::ELSE);
    loc = loc.with(
        visakit::isa::FieldName::ExecSize,
        visakit::isa::Value::ExecSize(Default::default()),
    );
    fill("one field", &|b| b.code = vec![loc.clone().into(); 100_000]);
    for (what, body) in fills {
        for version in [Version::V3_3, Version::V3_6] {
            let mut object = Object::new(version, Dialect::Writer2018);
            object.kernels.push(Routine::new(&b"k"[..], body.clone()));
            let bytes = visakit::encode::write(&object).unwrap();
            let worst = bounded(what, &bytes);
            println!("{what}, {version}: {worst} bytes for each byte of the input");
        }
    }
}

/// Thousands of faults, each of which names a routine with the longest name there can be.
#[test]
fn faults_under_a_long_name_take_little() {
    use visakit::isa::object::{Body, NativeBinary, NativeCode, Object, RawItem, Routine};
    let name = vec![b'n'; 0xffff];
    let mut body = Body::default();
    body.add_string(&b"k"[..]);
    let mut code = Vec::new();
    for _ in 0..MAX_ERRORS * 3 {
        // ret with a reserved bit in its predicate
        code.extend([0x34, 0x00, 0x00, 0x10]);
    }
    let raw = RawItem {
        bytes: code.into(),
        reason: String::new(),
    };
    body.code.push(raw.into());
    let mut object = Object::new(Version::V4_1, Dialect::Writer2018);
    object.kernels.push(Routine::new(name, body));
    let bytes = visakit::encode::write(&object).unwrap();
    let decoded = parse::read_with(
        &bytes,
        ReadOptions {
            lenient: true,
            dialect: None,
        },
    );
    assert_eq!(decoded.unwrap().errors.len(), MAX_ERRORS);
    let worst = bounded("code", &bytes);
    println!("faults in code: {worst} bytes for each byte of the input");

    let outside = NativeBinary {
        code: NativeCode::Placeholder {
            offset: u32::MAX,
            size: 1,
        },
        ..NativeBinary::default()
    };
    object.kernels[0].binaries = vec![outside; 255];
    object.kernels[0].body_mut().unwrap().code.clear();
    let bytes = visakit::encode::write(&object).unwrap();
    let worst = bounded("binaries", &bytes);
    println!("faults in places: {worst} bytes for each byte of the input");
}
