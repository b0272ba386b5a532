//! Programs, written as text: control flow, and what machine code has ways of its own for.
//!
//! The text of a program, and the launches in which it is tried, follow from a seed.

mod addresses;
mod blocks;
mod joins;
mod loops;
mod predicates;
mod products;
mod threads;

use super::{Case, Start, Style};
use fastrand::Rng;
use visakit_isa::object::Object;

/// A random program.
#[must_use]
pub fn program(seed: u64, style: Style) -> Case {
    let rng = &mut Rng::with_seed(seed);
    match style {
        Style::Goto | Style::Subroutines | Style::Functions | Style::Structured => {
            blocks::program(rng, style)
        }
        Style::Joins => joins::program(rng),
        Style::Loops => loops::program(rng),
        Style::Predicates => predicates::program(rng),
        Style::Products => products::program(rng),
        Style::Addresses => addresses::program(rng),
        Style::Threads => threads::program(rng),
    }
}

/// The object of a text.
///
/// # Panics
/// If the text is none: a fault of its generator.
#[must_use]
pub fn object(text: &str) -> Object<'static> {
    match visakit_text::asm::assemble(text.as_bytes(), &visakit_text::asm::Options::default()) {
        Ok(object) => object.into_owned(),
        Err(faults) => unreachable!("{faults}\n{text}"),
    }
}

/// A text under construction.
struct Writer<'r> {
    rng: &'r mut Rng,
    /// Lanes of most instructions.
    lanes: u32,
    text: String,
    labels: u32,
}

impl<'r> Writer<'r> {
    /// A kernel of so many lanes with these declarations.
    fn new(rng: &'r mut Rng, lanes: u32, declarations: &[&str]) -> Self {
        let mut writer = Self::of_version(rng, lanes, "4.1");
        for declaration in declarations {
            writer.line(declaration);
        }
        writer
    }

    /// A kernel of another version.
    fn of_version(rng: &'r mut Rng, lanes: u32, version: &str) -> Self {
        Self {
            rng,
            lanes,
            text: format!(".version {version}\n.kernel \"k\"\n"),
            labels: 0,
        }
    }

    /// Declares general variables of 32 elements.
    fn vectors(&mut self, ty: &str, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.line(&format!(
                ".decl {name} v_type=G type={ty} num_elts=32 align=GRF"
            ));
        }
    }

    /// Declares predicates.
    fn predicates(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.line(&format!(".decl {name} v_type=P num_elts=32"));
        }
    }

    /// Ends the declarations.
    fn begin(&mut self) {
        let lanes = self.lanes;
        self.line(&format!(".kernel_attr SimdSize={lanes}"));
    }

    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn below(&mut self, end: u32) -> u32 {
        self.rng.u32(..end)
    }

    fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    fn pick(&mut self, all: &[&'static str]) -> &'static str {
        self.rng.choice(all).copied().unwrap_or_default()
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// Stores a vector of each of these names into local memory, and ends.
    fn store(mut self, first: u32, names: impl IntoIterator<Item = String>) -> String {
        let lanes = self.lanes;
        for (at, name) in (first..).step_by(0x100).zip(names) {
            self.line(&format!(
                "lsc_store.slm (M1, {lanes}) flat[A+{at:#x}]:a32 {name}:d32"
            ));
        }
        self.end()
    }

    fn end(mut self) -> String {
        self.line("ret (M1, 1)");
        self.text
    }
}

/// Names of variables that differ in their number.
fn named(letter: &str, numbers: impl IntoIterator<Item = u32>) -> impl Iterator<Item = String> {
    numbers.into_iter().map(move |n| format!("{letter}{n}"))
}

/// The bytes of dwords.
fn bytes(dwords: impl IntoIterator<Item = u32>) -> Vec<u8> {
    dwords.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The addresses of a dword for each lane.
fn each_lane() -> (String, Vec<u8>) {
    ("A".into(), bytes((0..32).map(|n| 4 * n)))
}

/// All lanes, and others now and then.
fn some_lanes(rng: &mut Rng, lanes: u32) -> u32 {
    let full = u32::MAX >> (32 - lanes);
    match rng.u8(..3) {
        0 => full,
        _ => rng.u32(..) & full | 1,
    }
}

/// A case of a text with local memory of so many bytes, and launches of a thread each.
fn case(text: &str, local_bytes: usize, starts: Vec<Start>) -> Case {
    Case {
        launches: starts.into_iter().map(|start| vec![start]).collect(),
        local_bytes,
        ..Case::of(object(text))
    }
}
