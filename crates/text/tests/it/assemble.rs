//! Compares with what Intel's assemblers made of the same texts, for the shared corpus.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of a test that reports

use std::fs;
use std::path::{Path, PathBuf};
use visakit_isa::object::{Body, Declaration, Object, Routine};
use visakit_isa::{Dialect, Format, Instruction, StringId, Value, Version};
use visakit_testing::corpus::unpacked;
use visakit_testing::shared;
use visakit_text::asm::{Options, assemble};

/// Folders of objects, each with the folder of its texts, the version and the dialect.
const FOLDERS: [(&str, &str, Version, Dialect); 7] = [
    ("asm", "asm", Version::V4_1, Dialect::Writer2018),
    ("asm/v36", "asm", Version::V3_6, Dialect::Writer2018),
    ("asm/v37", "asm", Version::V3_7, Dialect::Writer2018),
    ("asm/v38", "asm", Version::V3_8, Dialect::Writer2018),
    ("asm/v40", "asm", Version::V4_0, Dialect::Writer2018),
    (
        "asm/v41_2023_07",
        "asm",
        Version::V4_1,
        Dialect::Writer2023_07,
    ),
    (
        "ocl/igc12504",
        "ocl/igc12504",
        Version::V4_1,
        Dialect::Writer2018,
    ),
];

/// Differences caused by faults of Intel's writers: text, number of the instruction, reason.
const FAULTS: [(&str, usize, &str); 8] = [
    (
        "dataport_skl",
        2,
        "`oword_ld.mod`: the writers drop the bit",
    ),
    (
        "logic_skl",
        21,
        "`mov` of a predicate: the writers put (M1_NM, 1) whatever the text says",
    ),
    (
        "rtwrite_skl",
        5,
        "`rt_write_3d.<SI>`: the writers drop the bit and the operand",
    ),
    ("sample3d_skl", 3, "`.divS`: the writers drop the bit"),
    (
        "svm_block_aligned_skl",
        0,
        "`svm_block_ld`: a bit that the writer of 2023-07 leaves as it is",
    ),
    ("svm_block_aligned_skl", 1, "`svm_block_st`: likewise"),
    ("svm_skl", 1, "`svm_block_st`: likewise"),
    (
        "svm_skl",
        0,
        "`svm_block_ld`: a bit that the writer of 2023-07 leaves as it is",
    ),
];

/// Differences of the symbol tables caused by faults of Intel's writers: object, line, reason.
const TABLE_FAULTS: [(&str, &str, &str); 2] = [
    (
        "asm/v41_2023_07/flow_skl.isa",
        "label L3",
        "the kind of a label that the writer leaves as it is",
    ),
    (
        "asm/v41_2023_07/switchjmp_skl.isa",
        "label L1",
        "the kind of a label that the writer leaves as it is",
    ),
];

#[derive(Default)]
struct Totals {
    texts: usize,
    identical: usize,
    whole: usize,
    different: Vec<String>,
}

#[test]
fn objects_are_those_of_intels_assemblers() {
    let Some(root) = shared("the assembler", "corpus") else {
        return;
    };
    let mut totals = Totals::default();
    for (objects, texts, version, dialect) in FOLDERS {
        let folder = root.join(objects);
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "isa"))
            .collect();
        files.sort();
        for file in files {
            let text = root.join(texts).join(file.file_stem().unwrap());
            compare(
                &file,
                &text.with_extension("visaasm"),
                version,
                dialect,
                &mut totals,
            );
        }
    }
    println!(
        "{} texts: {} instruction areas identical, {} files wholly identical (native code aside)",
        totals.texts, totals.identical, totals.whole
    );
    assert!(
        totals.different.is_empty(),
        "{} different",
        totals.different.len()
    );
}

/// The texts of a compiler, kernel and functions one by one, and what a repaired writer made of
/// them.
#[test]
fn objects_are_those_of_the_executors_cases() {
    let Some(cases) = shared("the assembler", "cases") else {
        return;
    };
    let (mut count, mut identical) = (0, 0);
    for kernel in folders(&cases) {
        for case in folders(&kernel) {
            let Ok(bytes) = fs::read(case.join("k.isa")) else {
                continue;
            };
            count += 1;
            let expected = visakit_parse::read(&bytes).unwrap();
            let mut text = unpacked(&case.join("k.visaasm.gz")).unwrap();
            for i in 0.. {
                let Some(function) = unpacked(&case.join(format!("f{i}.visaasm.gz"))) else {
                    break;
                };
                text.push(b'\n');
                text.extend_from_slice(&function);
            }
            let name = visakit_testing::name(case.strip_prefix(&cases).unwrap());
            let options = Options {
                grf_bytes: Some(if case.ends_with("pvc") { 64 } else { 32 }),
                ..Options::default()
            };
            let found = match assemble(&text, &options) {
                Ok(found) => found,
                Err(faults) => {
                    println!("{name}: {}", faults[0]);
                    continue;
                }
            };
            let routines = expected.routines().zip(found.routines());
            let difference = routines
                .filter_map(|((_, a), (_, b))| instructions(&name, &expected, a, b))
                .next();
            match difference {
                None if expected.routines().count() == found.routines().count() => identical += 1,
                None => println!("{name}: the number of routines differs"),
                Some(difference) => println!("{name}: {difference}"),
            }
        }
    }
    println!("{count} cases: {identical} with identical instruction areas");
    assert_eq!(count, identical);
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

fn options(file: &Path, version: Version, dialect: Dialect) -> Options {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let wide = stem.contains("pvc");
    Options {
        version: Some(version),
        dialect: Some(dialect),
        grf_bytes: Some(if wide { 64 } else { 32 }),
    }
}

fn compare(file: &Path, text: &Path, version: Version, dialect: Dialect, totals: &mut Totals) {
    let corpus = visakit_testing::reference().join("corpus");
    let name = visakit_testing::name(file.strip_prefix(corpus).unwrap());
    totals.texts += 1;
    let bytes = fs::read(file).unwrap();
    let read = visakit_parse::ReadOptions {
        lenient: false,
        dialect: Some(dialect),
    };
    let mut expected = visakit_parse::read_with(&bytes, read).unwrap().object;
    // Intel's assemblers compile what they assemble.
    for kernel in &mut expected.kernels {
        kernel.binaries.clear();
    }
    let bytes = visakit_encode::write(&expected).unwrap();
    let text = fs::read(text).unwrap();
    let found = match assemble(&text, &options(file, version, dialect)) {
        Ok(object) => object,
        Err(faults) => {
            for fault in faults.iter().take(5) {
                let (line, column) = fault.span.place(&text);
                println!("{name}: {line}:{column}: {fault}");
            }
            totals.different.push(name);
            return;
        }
    };
    let mut differences = Vec::new();
    let pairs = |a: usize, b: usize| (a != b).then(|| format!("{a} routines, {b} here"));
    differences.extend(pairs(expected.kernels.len(), found.kernels.len()));
    differences.extend(pairs(expected.functions.len(), found.functions.len()));
    let mut code = true;
    let routines = expected.routines().zip(found.routines());
    for ((_, a), (_, b)) in routines {
        let given = text.windows(7).any(|w| w == b"v_name=");
        differences.extend(tables(&name, a, b, given).into_iter().take(4));
        if let Some(difference) = pool(a.body().unwrap(), b.body().unwrap()) {
            println!("{name}: {difference}");
        }
        if let Some(difference) = instructions(&name, &expected, a, b) {
            code = false;
            differences.push(difference);
        }
    }
    totals.identical += usize::from(code);
    match visakit_encode::write(&found) {
        Ok(written) => totals.whole += usize::from(written == bytes),
        Err(error) => differences.push(error.to_string()),
    }
    for difference in &differences {
        println!("{name}: {difference}");
    }
    if !differences.is_empty() {
        totals.different.push(name);
    }
}

fn text(body: &Body<'_>, id: StringId) -> String {
    String::from_utf8_lossy(body.string(id).unwrap_or(b"?")).into_owned()
}

fn attributes(body: &Body<'_>, list: &[visakit_isa::object::Attribute<'_>]) -> Vec<String> {
    list.iter()
        .map(|a| format!("{}={:02x?}", text(body, a.name), a.value))
        .collect()
}

/// Everything except the instructions, with strings in place of their indices. Intel's assemblers
/// drop the names that `v_name=` gives to samplers and surfaces; they are kept here.
fn table(body: &Body<'_>, given: bool) -> Vec<String> {
    let mut lines = vec![format!("name {}", text(body, body.name))];
    for v in &body.variables {
        lines.push(format!(
            "variable {} {:?} {} {:?}+{} {} {:?}",
            text(body, v.name),
            v.properties,
            v.elements,
            v.alias,
            v.alias_offset,
            v.alias_scope,
            attributes(body, &v.attributes)
        ));
    }
    let mut declarations = |kind: &str, list: &[Declaration<'_>]| {
        for d in list {
            lines.push(format!(
                "{kind} {} {} {:?}",
                if given {
                    String::new()
                } else {
                    text(body, d.name)
                },
                d.elements,
                attributes(body, &d.attributes)
            ));
        }
    };
    declarations("address", &body.addresses);
    declarations("predicate", &body.predicates);
    declarations("sampler", &body.samplers);
    declarations("surface", &body.surfaces);
    for l in &body.labels {
        lines.push(format!("label {} {:?}", text(body, l.name), l.kind));
    }
    for input in &body.inputs {
        lines.push(format!("{input:?}"));
    }
    for attribute in attributes(body, &body.attributes) {
        lines.push(format!("attribute {attribute}"));
    }
    lines
}

fn tables(name: &str, a: &Routine<'_>, b: &Routine<'_>, given: bool) -> Vec<String> {
    let mut differences = Vec::new();
    if a.name != b.name {
        differences.push("the names differ".to_owned());
    }
    let (a, b) = (
        table(a.body().unwrap(), given),
        table(b.body().unwrap(), given),
    );
    for i in 0..a.len().max(b.len()) {
        let listed = |(n, line, _): &(&str, &str, &str)| {
            *n == name && a.get(i).is_some_and(|l| l.starts_with(line))
        };
        if a.get(i) != b.get(i) && !TABLE_FAULTS.iter().any(listed) {
            differences.push(format!(
                "table\n  expected {:?}\n  found    {:?}",
                a.get(i),
                b.get(i)
            ));
        }
    }
    differences
}

/// The first string that has a different place in the pool.
fn pool(a: &Body<'_>, b: &Body<'_>) -> Option<String> {
    let show =
        |s: Option<&std::borrow::Cow<'_, [u8]>>| s.map(|s| String::from_utf8_lossy(s).into_owned());
    let differs = |i: &usize| a.strings.get(*i) != b.strings.get(*i);
    let i = (0..a.strings.len().max(b.strings.len())).find(differs)?;
    Some(format!(
        "string {i}: expected {:?}, found {:?}",
        show(a.strings.get(i)),
        show(b.strings.get(i))
    ))
}

/// The instruction with the strings that it names.
fn bytes_of(body: &Body<'_>, instruction: &Instruction, format: Format) -> (Vec<u8>, Vec<String>) {
    let mut instruction = instruction.clone();
    let mut strings = Vec::new();
    for field in &mut instruction.fields {
        if let Value::String(id) = &mut field.value {
            strings.push(text(body, *id));
            *id = StringId(0);
        }
    }
    let bytes = visakit_encode::instruction(&instruction, format);
    (
        bytes.unwrap_or_else(|e| e.to_string().into_bytes()),
        strings,
    )
}

fn instructions(
    name: &str,
    object: &Object<'_>,
    a: &Routine<'_>,
    b: &Routine<'_>,
) -> Option<String> {
    let (a, b) = (a.body().unwrap(), b.body().unwrap());
    let format = object.format();
    let (left, right): (Vec<_>, Vec<_>) = (a.instructions().collect(), b.instructions().collect());
    for i in 0..left.len().max(right.len()) {
        let x = left.get(i).map(|x| bytes_of(a, x, format));
        let y = right.get(i).map(|y| bytes_of(b, y, format));
        let stem = Path::new(name).file_stem().unwrap().to_str().unwrap();
        let listed = |(n, at, _): &(&str, usize, &str)| *n == stem && *at == i;
        if x != y && !FAULTS.iter().any(listed) {
            let shown = |x: &Option<(Vec<u8>, Vec<String>)>| {
                x.as_ref().map(|(b, s)| format!("{b:02x?} {s:?}"))
            };
            let op = left.get(i).map(|x| x.op);
            return Some(format!(
                "instruction {i} {op:?}\n  expected {:?}\n  found    {:?}",
                shown(&x),
                shown(&y)
            ));
        }
    }
    None
}

/// Some instructions name strings by 16 bits: in a larger pool those strings come first.
#[test]
fn many_strings_before_a_name_of_16_bits() {
    use std::fmt::Write as _;
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
    for number in 0..66_000 {
        writeln!(
            text,
            ".decl N{number} v_type=G type=uq num_elts=1 align=qword"
        )
        .unwrap();
    }
    text.push_str("    faddr callee N0(0,0)<1>\n    faddr other N1(0,0)<1>\n    ret (M1, 1)\n");
    let object = assemble(text.as_bytes(), &Options::default()).unwrap();
    let bytes = visakit_encode::write(&object).unwrap();
    let read = visakit_parse::read(&bytes).unwrap();
    assert_eq!(read, object);
    let body = object.kernels[0].body().unwrap();
    let place = |name: &str| {
        body.strings
            .iter()
            .position(|s| s.as_ref() == name.as_bytes())
    };
    let [callee, other] = ["callee", "other"].map(|name| place(name).unwrap());
    assert_eq!((other, place("N0").unwrap()), (callee + 1, callee + 2));
    let mut printed = Vec::new();
    let options = visakit_text::Options::default();
    let Ok(()) = visakit_text::Printer::new(&object, options).object(&mut printed);
    let again = assemble(&printed, &Options::default()).unwrap();
    assert_eq!(again, object);
}
