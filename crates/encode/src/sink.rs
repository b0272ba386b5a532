//! The sink that layouts are written to: a growing buffer that knows its place.

use crate::error::{Context, Error, ErrorKind};
use alloc::vec::Vec;
use byteorder::{ByteOrder, LittleEndian};
use visakit_isa::Format;
use visakit_isa::wire::{Derived, Sink, Width};

/// A buffer with the places of the numbers that are filled in later.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    format: Format,
    path: Vec<(&'static str, Option<u32>)>,
    /// Derived numbers and where they go.
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

    #[inline(always)]
    fn format(&self) -> Format {
        self.format
    }

    #[inline(always)]
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
        match (self.path.last_mut(), index) {
            (Some((list, at @ None)), Some(index)) if *list == name => *at = Some(index),
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
