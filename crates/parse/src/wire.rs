//! The two sources that layouts are read from: plain bytes, and a cursor that tracks its offset.

use crate::error::{Context, Error, ErrorKind, NomError};
use crate::rules::Rules;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;
use nom::Needed;
use visakit_isa::operand::OperandRef;
use visakit_isa::wire::{Derived, Source, Undescribed, Width};
use visakit_isa::{Format, Value};

/// Result of the nom functions of this crate.
pub type PResult<'a, T> = nom::IResult<&'a [u8], T, NomError>;

/// How a source checks values and reports errors.
pub(crate) trait Policy {
    /// The type of errors.
    type Error;
    /// Whether it checks values; `None` if the rules decide.
    const VETS: Option<bool>;
    /// The input ends `needed` bytes too early.
    fn incomplete(needed: usize) -> Self::Error;
    /// Something is wrong `remaining` bytes before the end of the input.
    fn fault(kind: ErrorKind, remaining: usize) -> Self::Error;
}

/// Reports everything, as nom functions do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fully;

impl Policy for Fully {
    type Error = nom::Err<NomError>;
    const VETS: Option<bool> = None;

    #[cold]
    fn incomplete(needed: usize) -> Self::Error {
        nom::Err::Incomplete(Needed::new(needed))
    }

    #[cold]
    fn fault(kind: ErrorKind, remaining: usize) -> Self::Error {
        nom::Err::Failure(NomError { kind, remaining })
    }
}

/// Reports nothing, so that results stay in registers. Callers that need the error read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unexplained;

impl Policy for Unexplained {
    type Error = ();
    const VETS: Option<bool> = Some(true);

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn incomplete(_: usize) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fault(_: ErrorKind, _: usize) {}
}

/// Checks nothing: for bytes that were checked before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unchecked;

impl Policy for Unchecked {
    type Error = ();
    const VETS: Option<bool> = Some(false);

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn incomplete(_: usize) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fault(_: ErrorKind, _: usize) {}
}

/// Bytes as a source for the layouts of operands; the state of the nom functions.
///
/// `INDEX` is the number of bytes of an index, which must agree with the format; 0 queries the format each
/// time. Instructions are decoded by copies of the code specialised for it.
#[derive(Debug)]
pub(crate) struct Bytes<'a, 'r, X, const INDEX: u8 = 0> {
    pub(crate) rest: &'a [u8],
    pub(crate) format: Format,
    /// The rules that values are checked against.
    rules: &'r Rules,
    /// The value of the instruction's key field.
    pub(crate) key: u16,
    explain: PhantomData<X>,
}

impl<'a, 'r, X: Policy, const INDEX: u8> Bytes<'a, 'r, X, INDEX> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(rest: &'a [u8], format: Format, rules: &'r Rules) -> Self {
        Self {
            rest,
            format,
            rules,
            key: 0,
            explain: PhantomData,
        }
    }

    /// `N` bytes, the basis of every number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], X::Error> {
        match self.rest.split_first_chunk::<N>() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(X::incomplete(N - self.rest.len())),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn byte(&mut self) -> Result<u8, X::Error> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Stops at a fault; `back` bytes of the faulty value have been consumed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn fault(&self, kind: ErrorKind, back: usize) -> X::Error {
        X::fault(kind, self.rest.len() + back)
    }
}

impl<'a, X: Policy, const INDEX: u8> Source<'a> for Bytes<'a, '_, X, INDEX> {
    type Error = X::Error;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn format(&self) -> Format {
        self.format
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn number(&mut self, _: &'static str, width: Width) -> Result<u32, Self::Error> {
        if matches!(width, Width::I16) {
            let number = i16::from_le_bytes(self.array()?);
            return Ok(i32::from(number).cast_unsigned());
        }
        let bytes = match (width, INDEX) {
            (Width::Index, 1..) => INDEX,
            _ => width.bytes(self.format),
        };
        match bytes {
            0 => Ok(1),
            1 => Ok(self.byte()?.into()),
            2 => Ok(u16::from_le_bytes(self.array()?).into()),
            _ => Ok(u32::from_le_bytes(self.array()?)),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn index_bytes(&self) -> u8 {
        match INDEX {
            0 => Width::Index.bytes(self.format),
            known => known,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn expect(&mut self, bytes: usize) -> Result<(), Self::Error> {
        match bytes.checked_sub(self.rest.len()) {
            None | Some(0) => Ok(()),
            Some(needed) => Err(X::incomplete(needed)),
        }
    }

    fn bytes(&mut self, _: &'static str, length: u32) -> Result<&'a [u8], Self::Error> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match self.rest.split_at_checked(length) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(X::incomplete(length - self.rest.len())),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn text(&mut self, _: &'static str) -> Result<&'a [u8], Self::Error> {
        // Names are short, so that a search by machine words costs more to set up than it saves.
        let end = self.rest.iter().position(|byte| *byte == 0);
        match end.and_then(|end| self.rest.split_at_checked(end)) {
            Some((text, [_, rest @ ..])) => {
                self.rest = rest;
                Ok(text)
            }
            _ => Err(X::incomplete(1)),
        }
    }

    fn derived(&mut self, what: Derived) -> Result<(), Self::Error> {
        self.number(what.name(), Width::U32).map(|_| ())
    }

    fn zero(&mut self, name: &'static str, width: Width) -> Result<(), Self::Error> {
        match self.number(name, width)? {
            0 => Ok(()),
            found => {
                let back = width.bytes(self.format).into();
                Err(self.fault(ErrorKind::NotZero { found }, back))
            }
        }
    }

    fn mark_inputs(&mut self) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn vet_operand(&mut self, tag: u8, operand: OperandRef<'_>) -> Result<(), Self::Error> {
        if !X::VETS.unwrap_or(self.rules.strict) {
            return Ok(());
        }
        let checked = self.rules.check_operand(tag, operand);
        checked.map_err(|kind| self.fault(kind, 0))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn vet(&mut self, value: &Value) -> Result<(), Self::Error> {
        if !X::VETS.unwrap_or(self.rules.strict) {
            return Ok(());
        }
        match self.rules.check(value, self.key, self.format) {
            Ok(()) => Ok(()),
            Err(kind) => Err(self.fault(kind, 0)),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn invalid(&mut self, what: Undescribed) -> Self::Error {
        // The tag, or tag, type and value, have just been consumed.
        let back = match what {
            Undescribed::OperandClass(_) => 1,
            Undescribed::BoolImmediate => 6,
        };
        self.fault(what.into(), back)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn enter(&mut self, _: &'static str, _: Option<u32>) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(&mut self) {}
}

/// The content of a byte range of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf<'a> {
    /// A number.
    Number(u32),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Text with a NUL at its end.
    Text(&'a [u8]),
}

/// Notified of every byte range that is read, with its name and its place in the structure.
///
/// The ranges are offsets from the start of the file. Each method does nothing unless implemented.
pub trait Observer<'a> {
    /// A part begins.
    fn enter(&mut self, _name: &'static str, _index: Option<u32>, _offset: u64) {}
    /// The innermost part ends.
    fn leave(&mut self, _offset: u64) {}
    /// A field of the container.
    fn leaf(&mut self, _name: &'static str, _range: Range<u64>, _leaf: Leaf<'a>) {}
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer<'_> for Silent {}

/// A source that tracks its offset in the file, for the container and the tables.
#[derive(Debug)]
pub(crate) struct Cursor<'a, 'o, O> {
    bytes: Bytes<'a, 'static, Fully>,
    /// Offset of the end of `bytes` from the start of the file.
    end: u64,
    path: Vec<(&'static str, Option<u32>)>,
    observer: &'o mut O,
    /// The derived numbers so far: kind, value, offset.
    pub(crate) derived: Vec<(Derived, u32, u64)>,
    /// Offset of the input list.
    pub(crate) inputs: Option<u64>,
}

impl<'a, 'o, O: Observer<'a>> Cursor<'a, 'o, O> {
    /// `bytes` begin at offset `start` of the file.
    pub(crate) fn new(bytes: &'a [u8], start: u64, format: Format, observer: &'o mut O) -> Self {
        Self {
            bytes: Bytes::new(bytes, format, &Rules::LENIENT),
            end: start + bytes.len() as u64,
            path: Vec::new(),
            observer,
            derived: Vec::new(),
            inputs: None,
        }
    }

    /// Offset of the next byte from the start of the file.
    pub(crate) fn position(&self) -> u64 {
        self.end - self.bytes.rest.len() as u64
    }

    fn error(&self, error: &nom::Err<NomError>, field: &'static str) -> Error {
        let context = Context {
            path: self.path.clone(),
            field: Some(field),
            ..Context::default()
        };
        let (kind, offset) = locate(error, self.end);
        Error::new(kind, offset, context)
    }

    fn step<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Bytes<'a, 'static, Fully>) -> Result<T, nom::Err<NomError>>,
        leaf: impl FnOnce(&T) -> Leaf<'a>,
    ) -> Result<T, Error> {
        let start = self.position();
        match read(&mut self.bytes) {
            Ok(value) => {
                let end = self.position();
                self.observer.leaf(name, start..end, leaf(&value));
                Ok(value)
            }
            Err(error) => Err(self.error(&error, name)),
        }
    }
}

/// A source for the tables that tracks no path and reports no details: callers that need them read again with a
/// [`Cursor`]. `INDEX` is that of [`Bytes`].
#[derive(Debug)]
pub(crate) struct Quick<'a, const INDEX: u8> {
    pub(crate) bytes: Bytes<'a, 'static, Unexplained, INDEX>,
    /// Offset of the end of `bytes` from the start of the file.
    end: u64,
    /// The derived numbers so far: kind, value, offset.
    pub(crate) derived: Vec<(Derived, u32, u64)>,
    /// Offset of the input list.
    pub(crate) inputs: Option<u64>,
}

impl<'a, const INDEX: u8> Quick<'a, INDEX> {
    /// `bytes` begin at offset `start` of the file.
    pub(crate) fn new(bytes: &'a [u8], start: u64, format: Format) -> Self {
        Self {
            bytes: Bytes::new(bytes, format, &Rules::LENIENT),
            end: start + bytes.len() as u64,
            derived: Vec::new(),
            inputs: None,
        }
    }

    /// Offset of the next byte from the start of the file.
    pub(crate) fn position(&self) -> u64 {
        self.end - self.bytes.rest.len() as u64
    }
}

impl<'a, const INDEX: u8> Source<'a> for Quick<'a, INDEX> {
    type Error = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn format(&self) -> Format {
        self.bytes.format
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn trusted_entries(&self) -> usize {
        // Hardly any entry is shorter than eight bytes.
        64.max(self.bytes.rest.len() / 8)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn number(&mut self, name: &'static str, width: Width) -> Result<u32, ()> {
        self.bytes.number(name, width)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn bytes(&mut self, name: &'static str, length: u32) -> Result<&'a [u8], ()> {
        self.bytes.bytes(name, length)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn text(&mut self, name: &'static str) -> Result<&'a [u8], ()> {
        self.bytes.text(name)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derived(&mut self, what: Derived) -> Result<(), ()> {
        let offset = self.position();
        let number = self.number(what.name(), Width::U32)?;
        self.derived.push((what, number, offset));
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn zero(&mut self, name: &'static str, width: Width) -> Result<(), ()> {
        self.bytes.zero(name, width)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn mark_inputs(&mut self) {
        self.inputs = Some(self.position());
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn invalid(&mut self, what: Undescribed) {
        self.bytes.invalid(what);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn enter(&mut self, _: &'static str, _: Option<u32>) {}

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(&mut self) {}
}

/// Turns a nom error into a kind and an offset; `end` is the offset of the end of the input.
pub(crate) fn locate(error: &nom::Err<NomError>, end: u64) -> (ErrorKind, u64) {
    match error {
        nom::Err::Incomplete(needed) => {
            let needed = match needed {
                Needed::Unknown => 1,
                Needed::Size(n) => u32::try_from(n.get()).unwrap_or(u32::MAX),
            };
            (ErrorKind::UnexpectedEnd { needed }, end)
        }
        nom::Err::Error(fault) | nom::Err::Failure(fault) => {
            (fault.kind, end.saturating_sub(fault.remaining as u64))
        }
    }
}

impl<'a, O: Observer<'a>> Source<'a> for Cursor<'a, '_, O> {
    type Error = Error;

    fn format(&self) -> Format {
        self.bytes.format
    }

    fn number(&mut self, name: &'static str, width: Width) -> Result<u32, Error> {
        self.step(name, |b| b.number(name, width), |n| Leaf::Number(*n))
    }

    fn bytes(&mut self, name: &'static str, length: u32) -> Result<&'a [u8], Error> {
        self.step(name, |b| b.bytes(name, length), |b| Leaf::Bytes(b))
    }

    fn text(&mut self, name: &'static str) -> Result<&'a [u8], Error> {
        self.step(name, |b| b.text(name), |b| Leaf::Text(b))
    }

    fn derived(&mut self, what: Derived) -> Result<(), Error> {
        let offset = self.position();
        let number = self.number(what.name(), Width::U32)?;
        self.derived.push((what, number, offset));
        Ok(())
    }

    fn zero(&mut self, name: &'static str, width: Width) -> Result<(), Error> {
        self.step(name, |b| b.zero(name, width), |()| Leaf::Number(0))
    }

    fn mark_inputs(&mut self) {
        self.inputs = Some(self.position());
    }

    fn invalid(&mut self, what: Undescribed) -> Error {
        let error = self.bytes.invalid(what);
        self.error(&error, "operand")
    }

    fn enter(&mut self, name: &'static str, index: Option<u32>) {
        let offset = self.position();
        self.observer.enter(name, index, offset);
        match self.path.last_mut() {
            // An entry replaces its list in the path.
            Some((_, at)) if index.is_some() => *at = index,
            _ => self.path.push((name, index)),
        }
    }

    fn leave(&mut self) {
        let offset = self.position();
        self.observer.leave(offset);
        match self.path.last_mut() {
            Some((_, at @ Some(_))) => *at = None,
            _ => {
                self.path.pop();
            }
        }
    }
}
