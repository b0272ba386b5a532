//! Bodies of the fuzz targets: what each does with its input. `cargo test` replays them over all fixtures, and `fuzz/`
//! runs them under libFuzzer.

mod bytes;
mod launch;
mod made;
pub mod proofs;
mod run;

pub use bytes::{assembled, decode, printed, texts, texts_in, validate, written};
pub use launch::launched;
pub use made::{made_decode, made_exec, made_roundtrip, made_text, made_validate};
pub use run::executed;
pub use visakit_oracle::generated::agree;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name in `FUZZER`.
    pub name: &'static str,
    /// The kind of its inputs.
    pub input: Input,
    /// Its body, which panics where a law is broken.
    pub run: fn(&[u8]),
}

/// The interpretation of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// An object as it is.
    Object,
    /// A text as it is.
    Text,
    /// What the generator makes of any bytes.
    Shape,
}

/// Every target; `fuzz/README.md` has their laws.
pub const TARGETS: [Target; 15] = [
    Target::new("decode", Input::Object, decode),
    Target::new("roundtrip", Input::Object, written),
    Target::new("validate", Input::Object, validate),
    Target::new("exec", Input::Object, executed),
    Target::new("print", Input::Object, printed),
    Target::new("texts", Input::Object, texts),
    Target::new("parse", Input::Text, assembled),
    Target::new("made_decode", Input::Shape, made_decode),
    Target::new("made_roundtrip", Input::Shape, made_roundtrip),
    Target::new("made_text", Input::Shape, made_text),
    Target::new("made_validate", Input::Shape, made_validate),
    Target::new("made_exec", Input::Shape, made_exec),
    Target::new("launch", Input::Shape, launched),
    Target::new("differential", Input::Shape, agree),
    Target::new("proofs", Input::Shape, proofs::proven),
];

impl Target {
    const fn new(name: &'static str, input: Input, run: fn(&[u8])) -> Self {
        Self { name, input, run }
    }

    /// The target of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }
}
