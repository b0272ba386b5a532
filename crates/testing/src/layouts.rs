//! The objects of one instruction each under `fixtures/layouts`, for the tests and for the command that writes them.

#![allow(missing_docs, clippy::missing_panics_doc, clippy::must_use_candidate)]

use crate::{fixtures, root};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::path::PathBuf;
use visakit_isa::object::{Body, Object};
use visakit_isa::table::{self, FieldDef, FieldKind, KeyTest};
use visakit_isa::wire::Width;
use visakit_isa::{
    Dialect, Features, FieldName, Format, Instruction, InstructionDef, Op, Value, Version,
};
use visakit_parse::{self as parse, ReadOptions};

/// A line of a file under `fixtures/layouts`: `ROW VERSION DIALECT VARIANT HEX`.
#[derive(Clone, Debug)]
pub struct Case {
    /// File and line.
    pub place: String,
    pub def: &'static InstructionDef,
    pub format: Format,
    /// For generated cases their particularity, for the others the name of the object.
    pub variant: String,
    pub bytes: Vec<u8>,
    /// Accepted by readers that are not ours.
    pub independent: bool,
}

impl Case {
    pub fn line(&self) -> String {
        let Self {
            def,
            format,
            variant,
            bytes,
            ..
        } = self;
        format!(
            "{} {} {} {variant} {}\n",
            def.name,
            format.version(),
            format.dialect(),
            to_hex(bytes)
        )
    }

    pub fn parse(place: String, line: &str, independent: bool) -> Self {
        let columns: Vec<&str> = line.split(' ').collect();
        let [row, version, dialect, variant, hex] = columns[..] else {
            panic!("{place}: five columns")
        };
        let (major, minor) = version.split_once('.').unwrap();
        let version = Version::new(major.parse().unwrap(), minor.parse().unwrap());
        let dialect = Dialect::from_name(dialect).unwrap_or_else(|| panic!("{place}: {dialect}"));
        Self {
            def: table::rows()
                .find(|def| def.name == row)
                .unwrap_or_else(|| panic!("{place}: no row {row}")),
            format: Format::new(version, dialect),
            variant: variant.to_owned(),
            bytes: from_hex(hex),
            independent,
            place,
        }
    }

    /// Reads the object strictly, in the dialect of the case.
    pub fn read(&self) -> Object<'_> {
        match parse::read_with(&self.bytes, self.options()) {
            Ok(decoded) => decoded.object,
            Err(error) => panic!("{} {}: {error}", self.place, self.def.name),
        }
    }

    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            dialect: Some(self.format.dialect()),
            ..ReadOptions::default()
        }
    }

    /// The instruction that the case is about.
    pub fn subject(&self, object: &Object<'_>) -> Instruction {
        subject(object.kernels[0].body().unwrap(), Some(self.def.op)).unwrap()
    }
}

/// The instruction that an object of one instruction is about: beside it there may be a label
/// before and a `ret` after.
pub fn subject(body: &Body<'_>, op: Option<Op>) -> Option<Instruction> {
    let frame = [Op::LABEL, Op::RET, Op::SUBROUTINE];
    let mut found = body.instructions().filter(|i| match op {
        Some(op) => i.op == op,
        None => !frame.contains(&i.op),
    });
    let first = found.next().cloned();
    match op {
        None if found.next().is_some() => None,
        _ => first,
    }
}

/// Every case, or `None` for the independent ones.
pub fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(fixtures().join("layouts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if !line.starts_with('#') {
                let place = format!("{name}:{}", number + 1);
                cases.push(Case::parse(place, line, name == "intel.txt"));
            }
        }
    }
    cases
}

/// The whole objects, by name.
pub fn objects() -> Vec<(String, Vec<u8>)> {
    let mut objects: Vec<(String, Vec<u8>)> = std::fs::read_dir(fixtures().join("objects"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "isa"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    objects.sort();
    objects
}

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub fn from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "odd number of digits");
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
        .collect()
}

/// Every version in every dialect that was ever written in, or read in.
pub fn formats() -> impl Iterator<Item = Format> {
    Dialect::ALL.into_iter().flat_map(|dialect| {
        Version::SUPPORTED
            .into_iter()
            .filter(move |version| dialect.applies_to(*version))
            .map(move |version| Format::new(version, dialect))
    })
}

/// What determines the bytes of an instruction besides its values: fields with their widths.
pub type Layout = Vec<(FieldName, FieldKind, u8)>;

/// The layout of a row in a format for a key value, or with all fields that some key value has.
pub fn layout(def: &InstructionDef, format: Format, key: Option<u16>) -> Option<Layout> {
    let present = |field: &&FieldDef| match (field.only_if, key) {
        (Some(test), Some(key)) => test.holds(key),
        _ => true,
    };
    let width = |kind| match kind {
        FieldKind::Vector
        | FieldKind::Raw
        | FieldKind::Raws
        | FieldKind::StringIndex
        | FieldKind::Lifetime => Width::Index.bytes(format),
        FieldKind::SamplerOp => 1 + u8::from(format.features().contains(Features::SINCE_4_0)),
        _ => 0,
    };
    def.exists_in(format).then(|| {
        def.fields_in(format)
            .filter(present)
            .map(|f| (f.name, f.kind, width(f.kind)))
            .collect()
    })
}

/// Key values that distinguish all tests of a row, 0 for a row without a key.
pub fn keys(def: &InstructionDef) -> Vec<u16> {
    if def.op == Op::LIFETIME {
        // No field depends on it; it chooses the table of the variable.
        return vec![0x00, 0x01, 0x10, 0x20];
    }
    let mut keys = Vec::new();
    let mut all_bits = 0;
    for test in def.fields.iter().filter_map(|f| f.only_if) {
        match test {
            KeyTest::Equals(value) => keys.extend([value, value + 1]),
            KeyTest::Bit(bit) => {
                keys.push(1 << bit);
                all_bits |= 1 << bit;
            }
        }
    }
    if all_bits != 0 || keys.is_empty() {
        keys.push(all_bits);
        keys.push(0);
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The value of the key field, 0 if there is none.
pub fn key_of(instruction: &Instruction) -> u16 {
    let key = instruction.def().fields.iter().find(|f| f.is_key);
    key.and_then(|f| instruction.get(f.name))
        .map_or(0, Value::key)
}

/// The list at the end of a row.
pub fn list_of(def: &InstructionDef) -> Option<&'static FieldDef> {
    def.fields.last().filter(|f| f.kind.is_list())
}

/// The tests are the same each time.
#[derive(Debug)]
pub struct Random(SplitMix64);

impl Random {
    pub fn of_seed(seed: u64) -> Self {
        Self(SplitMix64::from_seed(seed.to_le_bytes()))
    }

    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.word() % end as u64).unwrap()
    }
}

/// Texts: those of the fixtures, and each line that tests of the assembler know, in a small routine.
pub fn texts() -> Vec<(String, Vec<u8>)> {
    const HEAD: &str = ".version 4.1\n.kernel \"k\"\n.decl U v_type=G type=ud num_elts=256 \
        align=GRF\n.decl F v_type=G type=f num_elts=256\n.decl Q v_type=G type=uq num_elts=64\n\
        .decl A0 v_type=A num_elts=16\n.decl P1 v_type=P num_elts=16\n.decl S0 v_type=S \
        num_elts=1\n.decl T6 v_type=T num_elts=1\n.kernel_attr SimdSize=16\n";
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(fixtures().join("texts")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        texts.push((name, std::fs::read(path).unwrap()));
    }
    let grammar = root().join("crates/text/tests/it/grammar");
    for name in ["accepted", "refused"] {
        let lines = std::fs::read_to_string(grammar.join(format!("{name}.txt"))).unwrap();
        for (number, line) in lines.lines().enumerate() {
            let line = line.split(" => ").next().unwrap_or_default();
            let line = line.rsplit('|').next().unwrap_or_default();
            let text = format!("{HEAD}    {}\nL1:\n", line.replace("\\n", "\n"));
            texts.push((format!("{name}-{number:03}"), text.into_bytes()));
        }
    }
    texts
}
