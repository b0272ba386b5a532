//! Kernels of a folder with their arguments.

use super::change::{self, Change};
use super::exact::open_result;
use super::parsed::{Parsed, declarator, of_kind};
use crate::choices::Choices;
use crate::machine::{Launching, buffers};
use crate::types::{Scalar, Type};
use std::io;
use std::path::{Path, PathBuf};
use visakit_launch::{Argument, Case, NdRange};

/// Bytes of a source.
const LARGEST: u64 = 1 << 20;

/// Work-items of a kernel without a case.
const ITEMS: u32 = 64;

/// Elements of a buffer for each work-item, where there is no case.
const FACTOR: usize = 16;

/// A kernel with its arguments.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The file and the kernel.
    pub(crate) name: String,
    pub(crate) kernel: String,
    pub(crate) launching: Launching,
    /// Whether it computes with floats.
    pub(crate) floats: bool,
    parsed: Parsed,
}

impl Subject {
    pub(crate) fn new(
        name: String,
        source: &str,
        kernel: &str,
        launching: Launching,
    ) -> Option<Self> {
        Some(Self {
            name,
            kernel: kernel.to_owned(),
            launching,
            floats: has_floats(source),
            parsed: Parsed::new(source)?,
        })
    }

    /// The source as it is.
    pub(crate) fn source(&self) -> &str {
        self.parsed.source()
    }

    /// All changes of each kind.
    #[cfg(test)]
    pub(crate) fn all_changes(&self) -> Vec<Vec<Change>> {
        change::all(&self.parsed, &self.kernel)
    }

    /// The changes of a variant.
    pub(crate) fn changes(&self, seed: u64, most: usize) -> Vec<Change> {
        let mut choices = Choices::new(seed);
        change::chosen(&self.parsed, &self.kernel, most, &mut choices, self.floats)
    }

    /// The source with changes.
    pub(crate) fn variant(&self, changes: &[Change]) -> Option<String> {
        change::variant(&self.parsed, &self.kernel, changes)
    }

    /// The launch of a variant: with the argument that changes refer to.
    pub(crate) fn launching_of_variant(&self) -> Launching {
        let mut launching = self.launching.clone();
        let one = Argument::Value(1_u32.to_le_bytes().into());
        launching.arguments.push(one);
        launching
    }
}

/// Files, and why they are left out.
pub(crate) type LeftOut = Vec<(String, String)>;

/// The kernels below a folder, and why others are left out.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn subjects(folder: &Path) -> io::Result<(Vec<Subject>, LeftOut)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "cl") {
                files.push(path);
            }
        }
    }
    files.sort();
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for file in files {
        let short = file.strip_prefix(folder).unwrap_or(&file);
        let short = short.display().to_string();
        match of_file(&file, &short) {
            Ok(subjects) => found.extend(subjects),
            Err(reason) => left_out.push((short, reason)),
        }
    }
    Ok((found, left_out))
}

fn has_floats(source: &str) -> bool {
    let mut types = ["float", "double", "half"].into_iter();
    types.any(|ty| source.contains(ty))
}

fn of_file(file: &Path, short: &str) -> Result<Vec<Subject>, String> {
    let bytes = visakit_files::read(file, LARGEST).map_err(|e| e.to_string())?;
    let source = String::from_utf8(bytes).map_err(|e| e.to_string())?;
    // Without the pragma, products and sums may be rounded once or twice.
    let source = match has_floats(&source) {
        true => format!("#pragma OPENCL FP_CONTRACT OFF\n{source}"),
        false => source,
    };
    let parsed = Parsed::new(&source).ok_or("it cannot be parsed")?;
    if has_floats(&source)
        && let Some(open) = open_result(&parsed)
    {
        return Err(format!("its results with floats are open: `{open}`"));
    }
    let all = parsed.functions().into_iter().map(str::to_owned);
    let kernels: Vec<String> = all.filter(|name| is_kernel(&parsed, name)).collect();
    let case = case_beside(file);
    let mut subjects = Vec::new();
    for kernel in kernels {
        let launching = match &case {
            Some(case) => Case::open(case)
                .and_then(|case| Launching::of_case(&case))
                .map_err(|e| e.to_string())?,
            None => generated(&parsed, &kernel)?,
        };
        let name = format!("{short}: {kernel}");
        subjects.extend(Subject::new(name, &source, &kernel, launching));
        if case.is_some() {
            break;
        }
    }
    match subjects.is_empty() {
        true => Err("there is no kernel that is understood".to_owned()),
        false => Ok(subjects),
    }
}

/// Whether the word stands between what is before a function and its name.
fn is_kernel(parsed: &Parsed, name: &str) -> bool {
    let Some(function) = parsed.function(name) else {
        return false;
    };
    let before = function.prev_named_sibling().map_or(0, |n| n.end_byte());
    let end = function
        .child_by_field_name("body")
        .map_or(before, |b| b.start_byte());
    let mut words = parsed
        .at(before..end)
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| word == "__kernel" || word == "kernel")
}

/// The first case in the folder of a source or in the folders there.
fn case_beside(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let mut folders = vec![folder.to_owned()];
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path());
    folders.extend(entries.filter(|path| path.is_dir()));
    folders.sort();
    folders
        .into_iter()
        .find(|folder| folder.join("case.json").is_file())
}

/// Arguments by their types: buffers of small numbers, which may be indices, and the number of work-items.
fn generated(parsed: &Parsed, kernel: &str) -> Result<Launching, String> {
    let function = parsed.function(kernel).ok_or("it is not understood")?;
    let list = declarator(function).and_then(|d| d.child_by_field_name("parameters"));
    let list = list.ok_or("its parameters are not understood")?;
    let mut arguments = Vec::new();
    let mut start = list.start_byte();
    for parameter in of_kind(list, "parameter_declaration") {
        let whole = parsed.at(start..parameter.end_byte());
        start = parameter.end_byte();
        let ty = parameter
            .child_by_field_name("type")
            .map_or("", |ty| parsed.text(ty));
        let ty = named(ty).ok_or_else(|| format!("arguments of type `{ty}` are not generated"))?;
        let items = usize::try_from(ITEMS).unwrap_or(1);
        let is_word = |word: &str| {
            let mut words = whole.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.any(|w| w.trim_start_matches("__") == word)
        };
        arguments.push(match (whole.contains('*'), is_word("local")) {
            (true, true) => Argument::Local(ty.bytes() * items),
            (true, false) => {
                let mut choices = Choices::new(u64::try_from(arguments.len()).unwrap_or(0));
                let elements = (0..FACTOR * items * ty.count()).flat_map(|_| {
                    let number = choices.bits() >> 40 & 63;
                    number.to_le_bytes().into_iter().take(ty.scalar.bytes())
                });
                Argument::Buffer(elements.collect())
            }
            (false, _) => {
                let number = u64::from(ITEMS).to_le_bytes();
                let lane = number.into_iter().take(ty.scalar.bytes());
                Argument::Value(lane.cycle().take(ty.bytes()).collect())
            }
        });
    }
    let range = NdRange::new(&[ITEMS], &[ITEMS / 2], &[]).map_err(|e| e.to_string())?;
    Ok(Launching {
        range,
        compared: buffers(&arguments),
        arguments,
        uninitialized: Vec::new(),
    })
}

/// A type by its name in OpenCL C.
fn named(text: &str) -> Option<Type> {
    let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "const").collect();
    let text = match words.as_slice() {
        ["unsigned"] | ["unsigned", "int"] => "uint",
        ["unsigned", "char"] => "uchar",
        ["unsigned", "short"] => "ushort",
        ["unsigned", "long"] => "ulong",
        [one] => one,
        _ => return None,
    };
    let scalar = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = text.get(scalar.len()..)?;
    let lanes = match lanes {
        "" => 1,
        lanes => lanes.parse().ok().filter(|n| [2, 4, 8, 16].contains(n))?,
    };
    let scalar = Scalar::INTEGERS.into_iter().find(|s| s.name() == scalar)?;
    Some(Type { scalar, lanes })
}
