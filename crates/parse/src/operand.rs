//! nom functions for operands.

use crate::rules::Rules;
use crate::wire::{Bytes, Fully, PResult};
use visakit_isa::table::FieldKind;
use visakit_isa::wire::Record;
use visakit_isa::{Format, RawOperand, Value, VectorOperand};

/// nom function for a vector operand: a tag byte, then the layout of its class.
///
/// ```
/// use visakit_isa::{Dialect, Format, VectorOperand, Version};
/// use visakit_parse::vector_operand;
///
/// let format = Format::new(Version::V3_3, Dialect::Writer2018);
/// let bytes = [0x10, 0x27, 0x00, 0x02, 0x04, 0x21, 0x01];
/// let (rest, operand) = vector_operand(format)(&bytes).unwrap();
/// assert!(rest.is_empty());
/// assert_eq!(operand.to_string(), "(-)V39(2,4)<0;1,0>");
/// ```
pub fn vector_operand<'a>(format: Format) -> impl Fn(&'a [u8]) -> PResult<'a, VectorOperand> {
    move |input| {
        let mut bytes = Bytes::<Fully>::new(input, format, &Rules::LENIENT);
        let operand = VectorOperand::read(&mut bytes)?;
        Ok((bytes.rest, operand))
    }
}

/// nom function for a raw operand: variable and byte offset.
pub fn raw_operand<'a>(format: Format) -> impl Fn(&'a [u8]) -> PResult<'a, RawOperand> {
    move |input| {
        let mut bytes = Bytes::<Fully>::new(input, format, &Rules::LENIENT);
        let mut operand = RawOperand::default();
        operand.read(&mut bytes)?;
        Ok((bytes.rest, operand))
    }
}

/// nom function for the value of a field of any kind.
pub fn value<'a>(kind: FieldKind, format: Format) -> impl Fn(&'a [u8]) -> PResult<'a, Value> {
    move |input| {
        let mut bytes = Bytes::<Fully>::new(input, format, &Rules::LENIENT);
        let value = Value::read(kind, &mut bytes)?;
        Ok((bytes.rest, value))
    }
}
