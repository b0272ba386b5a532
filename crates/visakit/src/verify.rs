//! The law of reader and writer: reading and writing again yields the same bytes.

use crate::{ReadOptions, isa, parse};

/// Outcome of reading an object and writing it again.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The bytes are the same.
    Identical(Counts),
    /// The bytes differ.
    Different {
        /// The content of the object.
        counts: Counts,
        /// Offset of the first byte that differs, or the shorter of the two lengths.
        offset: u64,
        /// Length of the output.
        written: u64,
    },
    /// The object could not be read.
    Rejected(parse::Error),
    /// The object was read and could not be written.
    Unwritable(crate::encode::Error),
}

/// The content of an object in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels and functions.
    pub routines: u64,
    /// Decoded instructions.
    pub instructions: u64,
    /// Raw items, which only lenient reading makes.
    pub raw_items: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

impl core::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.routines += other.routines;
        self.instructions += other.instructions;
        self.raw_items += other.raw_items;
        self.bytes += other.bytes;
    }
}

impl Counts {
    /// Counts the content of an object of `bytes` bytes.
    #[must_use]
    pub fn of(object: &isa::object::Object<'_>, bytes: u64) -> Self {
        let mut counts = Self {
            bytes,
            ..Self::default()
        };
        for (_, routine) in object.routines() {
            counts.routines += 1;
            match &routine.content {
                isa::object::Content::Body(body) => {
                    for item in &body.code {
                        match item {
                            isa::object::Item::Instruction(_) => counts.instructions += 1,
                            isa::object::Item::Raw(_) => counts.raw_items += 1,
                        }
                    }
                }
                _ => counts.raw_items += 1,
            }
        }
        counts
    }
}

/// Reads an object into typed values that own their content, drops the input, writes the object from the values, and
/// compares.
///
/// ```
/// use visakit::verify::{roundtrip, Outcome};
///
/// let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
/// assert!(matches!(
///     roundtrip(file.to_vec(), Default::default()),
///     Outcome::Identical(counts) if counts.routines == 1
/// ));
/// ```
#[must_use]
pub fn roundtrip(bytes: Vec<u8>, options: ReadOptions) -> Outcome {
    let object = match parse::read_with(&bytes, options) {
        Ok(decoded) => decoded.object.into_owned(),
        Err(error) => return Outcome::Rejected(error),
    };
    // The input is gone while the object is written: nothing of it can slip through.
    let expected = Fingerprint::of(bytes);
    let counts = Counts::of(&object, expected.bytes.len() as u64);
    match crate::encode::write(&object) {
        Err(error) => Outcome::Unwritable(error),
        Ok(written) => match expected.first_difference(&written) {
            None => Outcome::Identical(counts),
            Some(offset) => Outcome::Different {
                counts,
                offset,
                written: written.len() as u64,
            },
        },
    }
}

/// Prints an object with everything that plain text leaves out, assembles that, and compares. That is the law of text:
/// an object that came from text goes through it unchanged. `grf_bytes` is the size of a register, where it is known.
#[must_use]
pub fn roundtrip_text(object: &isa::object::Object<'_>, grf_bytes: Option<u32>) -> Outcome {
    use crate::text::asm::{Options, assemble};
    let form = crate::text::Form::Exact;
    let options = crate::text::Options { form, grf_bytes };
    let mut printed = Vec::new();
    // Writing to a list of bytes does not fail.
    let _ = crate::text::Printer::new(object, options).object(&mut printed);
    let counts = Counts::of(object, printed.len() as u64);
    let again = assemble(
        &printed,
        &Options {
            version: Some(object.version),
            dialect: Some(object.dialect),
            grf_bytes,
        },
    );
    match again {
        Ok(again) if again == *object => Outcome::Identical(counts),
        _ => Outcome::Different {
            counts,
            offset: 0,
            written: printed.len() as u64,
        },
    }
}

/// The input, put away until the comparison. A separate type so that the object, whose lifetime is
/// `'static` by then, can be seen not to borrow from it.
struct Fingerprint {
    bytes: Vec<u8>,
}

impl Fingerprint {
    fn of(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    fn first_difference(&self, written: &[u8]) -> Option<u64> {
        if self.bytes == written {
            return None;
        }
        let same = self.bytes.iter().zip(written).take_while(|(a, b)| a == b);
        Some(same.count() as u64)
    }
}
