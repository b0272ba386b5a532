//! Destinations of printed text.

use crate::language::digest::Digest;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;

/// The kind of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind {
    /// Version, name and predefined variables.
    Header,
    /// A declaration, an input or an attribute.
    Declaration,
    /// The instruction with this index; its text may begin with a line end (labels do).
    Instruction(usize),
    /// Bytes that could not be decoded, with their index among the instructions.
    Undecoded(usize),
}

/// Receives text line by line.
///
/// Most lines include their line end; the last line before the first instruction does not, as the
/// text of labels begins with one.
pub trait Output {
    /// Why text could not be written.
    type Error;

    /// Writes a line.
    ///
    /// # Errors
    /// The text could not be written; printing stops.
    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Self::Error>;
}

impl Output for Vec<u8> {
    type Error = Infallible;

    #[inline]
    fn line(&mut self, _: LineKind, text: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(text);
        Ok(())
    }
}

impl<O: Output + ?Sized> Output for &mut O {
    type Error = O::Error;

    #[inline]
    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), O::Error> {
        (**self).line(kind, text)
    }
}

/// Passes text on, with a checksum of it if one is wanted.
#[derive(Debug)]
pub(super) struct Digested<O> {
    pub(super) out: O,
    pub(super) digest: Option<Digest>,
}

impl<O: Output> Output for Digested<O> {
    type Error = O::Error;

    #[inline]
    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), O::Error> {
        if let Some(digest) = &mut self.digest {
            digest.lines(text);
        }
        self.out.line(kind, text)
    }
}

/// Adapts a [`fmt::Write`]. Bytes that are not UTF-8, which occur in names of damaged objects,
/// become replacement characters.
#[derive(Debug, Default)]
pub struct Utf8<W>(pub W);

impl<W: fmt::Write> Output for Utf8<W> {
    type Error = fmt::Error;

    fn line(&mut self, _: LineKind, text: &[u8]) -> fmt::Result {
        match core::str::from_utf8(text) {
            Ok(text) => self.0.write_str(text),
            Err(_) => self.0.write_str(&String::from_utf8_lossy(text)),
        }
    }
}
