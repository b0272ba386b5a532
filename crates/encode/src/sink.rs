//! The sinks that layouts are written to: a growing buffer that tracks its offset, and a window of
//! fixed size that reports only success or failure.

use crate::error::{Context, Error, ErrorKind};
use alloc::vec::Vec;
use byteorder::{ByteOrder, LittleEndian};
use visakit_isa::Format;
use visakit_isa::table::FieldName;
use visakit_isa::wire::{Derived, Sink, Width};

/// A sink for whole instructions.
pub(crate) trait Output: Sink {
    /// The error for a fault of an instruction.
    fn refuse(&self, kind: ErrorKind, field: &'static str) -> Self::Error;
    /// The error is one of this field.
    fn in_operand(error: Self::Error, name: FieldName) -> Self::Error;
}

/// A buffer with the places of the numbers that are filled in later.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    format: Format,
    path: Vec<(&'static str, Option<u32>)>,
    /// Derived numbers and their offsets.
    pub(crate) derived: Vec<(Derived, usize)>,
    /// Place of the input list.
    pub(crate) inputs: Option<usize>,
}

impl Buffer {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            bytes: Vec::new(),
            format,
            path: Vec::new(),
            derived: Vec::new(),
            inputs: None,
        }
    }

    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind, field: &'static str) -> Error {
        let context = Context {
            path: self.path.clone(),
            field: Some(field),
            ..Context::default()
        };
        Error::new(kind, self.format, context)
    }

    /// Fills in a derived number.
    pub(crate) fn patch(&mut self, at: usize, number: u32) {
        if let Some(place) = self.bytes.get_mut(at..).and_then(|b| b.get_mut(..4)) {
            LittleEndian::write_u32(place, number);
        }
    }

    #[cold]
    fn too_large(&self, value: u64, bytes: u8, field: &'static str) -> Error {
        let bits = bytes * 8;
        self.error(ErrorKind::TooLarge { value, bits }, field)
    }
}

impl Sink for Buffer {
    type Error = Error;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn format(&self) -> Format {
        self.format
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[allow(clippy::cast_possible_truncation)] // checked before
    fn number(&mut self, name: &'static str, width: Width, value: u32) -> Result<(), Error> {
        if matches!(width, Width::I16) {
            let signed = value.cast_signed();
            let Ok(signed) = i16::try_from(signed) else {
                return Err(self.too_large(value.into(), 2, name));
            };
            let mut bytes = [0; 2];
            LittleEndian::write_i16(&mut bytes, signed);
            self.bytes.extend_from_slice(&bytes);
            return Ok(());
        }
        match width.bytes(self.format) {
            1 if value <= u8::MAX.into() => self.bytes.push(value as u8),
            2 if value <= u16::MAX.into() => {
                let mut bytes = [0; 2];
                LittleEndian::write_u16(&mut bytes, value as u16);
                self.bytes.extend_from_slice(&bytes);
            }
            4 => {
                let mut bytes = [0; 4];
                LittleEndian::write_u32(&mut bytes, value);
                self.bytes.extend_from_slice(&bytes);
            }
            bytes => return Err(self.too_large(value.into(), bytes, name)),
        }
        Ok(())
    }

    fn bytes(&mut self, _: &'static str, bytes: &[u8]) -> Result<(), Error> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn text(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), Error> {
        if bytes.contains(&0) {
            return Err(self.error(ErrorKind::NulInString, name));
        }
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(0);
        Ok(())
    }

    fn derived(&mut self, what: Derived) -> Result<(), Error> {
        self.derived.push((what, self.bytes.len()));
        self.number(what.name(), Width::U32, 0)
    }

    fn count(&mut self, name: &'static str, width: Width, count: usize) -> Result<(), Error> {
        let bytes = width.bytes(self.format);
        match (bytes, u32::try_from(count)) {
            (0, Ok(1)) => Ok(()),
            (0, _) => Err(self.error(
                ErrorKind::ExactCount {
                    found: count,
                    expected: 1,
                },
                name,
            )),
            (_, Ok(number)) => self.number(name, width, number),
            (_, Err(_)) => Err(self.too_large(count as u64, bytes, name)),
        }
    }

    fn mark_inputs(&mut self) {
        self.inputs = Some(self.bytes.len());
    }

    fn enter(&mut self, name: &'static str, index: Option<u32>) {
        match self.path.last_mut() {
            // An entry replaces its list in the path.
            Some((_, at)) if index.is_some() => *at = index,
            _ => self.path.push((name, index)),
        }
    }

    fn leave(&mut self) {
        match self.path.last_mut() {
            Some((_, at @ Some(_))) => *at = None,
            _ => {
                self.path.pop();
            }
        }
    }

    #[cold]
    fn absent(&mut self, name: &'static str) -> Result<(), Error> {
        Err(self.error(ErrorKind::NoPlace, name))
    }
}

impl Output for Buffer {
    #[cold]
    fn refuse(&self, kind: ErrorKind, field: &'static str) -> Error {
        self.error(kind, field)
    }

    #[cold]
    fn in_operand(error: Error, name: FieldName) -> Error {
        error.in_operand(name)
    }
}

/// A buffer of fixed size. Callers that need the error write again, to a [`Buffer`].
///
/// `INDEX` is the number of bytes of an index, which must agree with the format.
#[derive(Debug)]
pub(crate) struct Window<'w, const INDEX: u8> {
    pub(crate) bytes: &'w mut [u8],
    /// Bytes that are written.
    pub(crate) at: usize,
    format: Format,
}

impl<'w, const INDEX: u8> Window<'w, INDEX> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(bytes: &'w mut [u8], format: Format) -> Self {
        Self {
            bytes,
            at: 0,
            format,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn array<const N: usize>(&mut self, number: [u8; N]) -> Result<(), ()> {
        let rest = self.bytes.get_mut(self.at..).ok_or(())?;
        *rest.first_chunk_mut().ok_or(())? = number;
        self.at += N;
        Ok(())
    }
}

impl<const INDEX: u8> Sink for Window<'_, INDEX> {
    type Error = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn format(&self) -> Format {
        self.format
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn number(&mut self, _: &'static str, width: Width, value: u32) -> Result<(), ()> {
        if matches!(width, Width::I16) {
            let signed = i16::try_from(value.cast_signed()).map_err(|_| ())?;
            return self.array(signed.to_le_bytes());
        }
        let bytes = match width {
            Width::Index => INDEX,
            _ => width.bytes(self.format),
        };
        match bytes {
            1 => self.array(u8::try_from(value).map_err(|_| ())?.to_le_bytes()),
            2 => self.array(u16::try_from(value).map_err(|_| ())?.to_le_bytes()),
            4 => self.array(value.to_le_bytes()),
            _ => Err(()),
        }
    }

    fn bytes(&mut self, _: &'static str, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn text(&mut self, _: &'static str, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn derived(&mut self, _: Derived) -> Result<(), ()> {
        Err(())
    }

    fn count(&mut self, name: &'static str, width: Width, count: usize) -> Result<(), ()> {
        self.number(name, width, u32::try_from(count).map_err(|_| ())?)
    }

    fn mark_inputs(&mut self) {}

    fn enter(&mut self, _: &'static str, _: Option<u32>) {}

    fn leave(&mut self) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn absent(&mut self, _: &'static str) -> Result<(), ()> {
        Err(())
    }
}

impl<const INDEX: u8> Output for Window<'_, INDEX> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn refuse(&self, _: ErrorKind, _: &'static str) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn in_operand((): (), _: FieldName) {}
}
