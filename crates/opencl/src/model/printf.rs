//! What kernels print: the compiler's buffer made text.
//!
//! A record is the address of the format string, and for each argument a number for its type and its value, in multiples
//! of four bytes; vectors have a count and then their elements.

use crate::ffi::stdio;
use visakit_launch::Variables;

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int { value: i64, bytes: usize },
    Float(f64),
    Text(u64),
}

/// Numbers of types, as the compiler has them: of a scalar.
const BYTE: u32 = 1;
const SHORT: u32 = 2;
const INT: u32 = 3;
const FLOAT: u32 = 4;
const STRING: u32 = 5;
const LONG: u32 = 6;
const POINTER: u32 = 7;
const DOUBLE: u32 = 8;
/// Of a vector: bytes, shorts, ints, longs, floats, doubles.
const VECTORS: [(u32, u32); 6] = [
    (9, BYTE),
    (10, SHORT),
    (11, INT),
    (12, LONG),
    (13, FLOAT),
    (14, DOUBLE),
];

/// Reads little-endian values one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*value)
    }

    /// A value of a type; small ones take their own size here.
    fn value(&mut self, kind: u32) -> Option<Value> {
        let int = |value, bytes| Some(Value::Int { value, bytes });
        match kind {
            BYTE => int(i8::from_le_bytes(self.bytes()?).into(), 1),
            SHORT => int(i16::from_le_bytes(self.bytes()?).into(), 2),
            INT => int(i32::from_le_bytes(self.bytes()?).into(), 4),
            LONG | POINTER => int(i64::from_le_bytes(self.bytes()?), 8),
            FLOAT => Some(Value::Float(f32::from_le_bytes(self.bytes()?).into())),
            DOUBLE => Some(Value::Float(f64::from_le_bytes(self.bytes()?))),
            STRING => Some(Value::Text(u64::from_le_bytes(self.bytes()?))),
            _ => None,
        }
    }

    /// An argument: one value, or the elements of a vector.
    fn argument(&mut self) -> Option<Vec<Value>> {
        let kind = u32::from_le_bytes(self.bytes()?);
        let vector = VECTORS.iter().find(|v| v.0 == kind);
        let (kind, count) = match vector {
            Some((_, element)) => (*element, u32::from_le_bytes(self.bytes()?)),
            None => (kind, 1),
        };
        let values: Option<Vec<_>> = (0..count.min(16)).map(|_| self.value(kind)).collect();
        // Each element has room for four bytes at least.
        let size = match kind {
            BYTE => 1,
            SHORT => 2,
            _ => 4,
        };
        let padding = (4 - size) * usize::try_from(count).ok()?;
        self.0 = self.0.get(padding..)?;
        values
    }
}

/// A conversion of a format string.
#[derive(Debug, Default)]
struct Conversion {
    /// Flags, width and precision as they stand.
    prefix: String,
    /// The length modifier.
    length: String,
    vector: usize,
    letter: char,
}

/// Text of a C string at an address.
fn string(variables: &Variables, address: u64) -> Option<Vec<u8>> {
    let mut bytes = variables.at(address)?;
    let end = bytes.iter().position(|b| *b == 0)?;
    bytes.truncate(end);
    Some(bytes)
}

/// All that was printed.
pub(crate) fn text(buffer: &[u8], variables: &Variables) -> Vec<u8> {
    let mut out = Vec::new();
    let mut reader = Reader(buffer);
    while let Some(address) = reader.bytes() {
        let Some(format) = string(variables, u64::from_le_bytes(address)) else {
            // What did not fit is marked; what follows cannot be told.
            break;
        };
        if record(&format, &mut reader, variables, &mut out).is_none() {
            break;
        }
    }
    out
}

fn record(
    format: &[u8],
    reader: &mut Reader<'_>,
    variables: &Variables,
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let (conversion, after) = conversion(rest)?;
        rest = after;
        if conversion.letter == '%' {
            out.push(b'%');
            continue;
        }
        let values = reader.argument()?;
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            show(&conversion, value, variables, out);
        }
    }
    Some(())
}

fn conversion(text: &[u8]) -> Option<(Conversion, &[u8])> {
    let mut conversion = Conversion::default();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        let letter = char::from(*byte);
        match letter {
            '-' | '+' | ' ' | '#' | '.' | '0'..='9' => conversion.prefix.push(letter),
            'v' => {
                let digits = text.get(at..)?.iter().take_while(|b| b.is_ascii_digit());
                let digits = digits.count();
                let count = std::str::from_utf8(text.get(at..at + digits)?).ok()?;
                conversion.vector = count.parse().ok()?;
                at += digits;
            }
            'h' | 'l' | 'j' | 'z' | 't' => conversion.length.push(letter),
            _ => {
                conversion.letter = letter;
                return Some((conversion, text.get(at..)?));
            }
        }
    }
    None
}

/// A value as the conversion has it.
fn show(conversion: &Conversion, value: &Value, variables: &Variables, out: &mut Vec<u8>) {
    let Conversion {
        prefix,
        length,
        letter,
        ..
    } = conversion;
    let narrow = match length.as_str() {
        "hh" => 1,
        "h" => 2,
        _ => 8,
    };
    match (letter, value) {
        ('d' | 'i', Value::Int { value, bytes }) => {
            let shift = 64 - 8 * narrow.min(*bytes);
            out.extend(stdio::integer(
                &format!("%{prefix}ll{letter}"),
                value << shift >> shift,
            ));
        }
        ('u' | 'o' | 'x' | 'X', Value::Int { value, bytes }) => {
            let shift = 64 - 8 * narrow.min(*bytes);
            let value = (value.cast_unsigned() << shift >> shift).cast_signed();
            out.extend(stdio::integer(&format!("%{prefix}ll{letter}"), value));
        }
        ('c', Value::Int { value, .. }) => {
            out.extend(stdio::character(&format!("%{prefix}c"), *value));
        }
        ('p', Value::Int { value, .. }) => {
            let text = format!("0x{:x}", value.cast_unsigned());
            out.extend(stdio::string(&format!("%{prefix}s"), text.as_bytes()));
        }
        ('s', Value::Text(address)) => {
            let text = string(variables, *address).unwrap_or_default();
            out.extend(stdio::string(&format!("%{prefix}s"), &text));
        }
        ('a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G', Value::Float(value)) => {
            out.extend(stdio::float(&format!("%{prefix}{letter}"), *value));
        }
        // A value of another kind than the conversion says: the closest thing.
        (_, Value::Float(value)) => out.extend(stdio::float("%f", *value)),
        (_, Value::Int { value, .. }) => out.extend(stdio::integer("%lld", *value)),
        (_, Value::Text(address)) => out.extend(string(variables, *address).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use visakit_launch::{DataSection, DataSymbol};

    fn variables(texts: &[&str]) -> (Variables, Vec<u64>) {
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for text in texts {
            places.push(0x1_0001_0000 + bytes.len() as u64);
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        let section = DataSection {
            name: ".data.const.string".to_owned(),
            bytes,
            relocations: Vec::new(),
        };
        (
            Variables::new(&[section], &[] as &[DataSymbol]).unwrap(),
            places,
        )
    }

    #[test]
    fn records() {
        let (variables, places) = variables(&["%d|%5.2f|%s|%%|%x|%hhu\n", "text", "%v4hhd %#lx\n"]);
        let mut buffer = places[0].to_le_bytes().to_vec();
        let mut add = |kind: u32, value: &[u8]| {
            buffer.extend(kind.to_le_bytes());
            buffer.extend(value);
        };
        add(INT, &(-7_i32).to_le_bytes());
        add(FLOAT, &1.5_f32.to_le_bytes());
        add(STRING, &places[1].to_le_bytes());
        add(INT, &(-1_i32).to_le_bytes());
        add(INT, &(-1_i32).to_le_bytes());
        buffer.extend(places[2].to_le_bytes());
        let mut add = |kind: u32, value: &[u8]| {
            buffer.extend(kind.to_le_bytes());
            buffer.extend(value);
        };
        add(9, &4_u32.to_le_bytes());
        buffer.extend([1, 2, 0xff, 4]);
        buffer.extend([0; 12]);
        buffer.extend(LONG.to_le_bytes());
        buffer.extend(0x1234_5678_9abc_i64.to_le_bytes());
        let text = text(&buffer, &variables);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "-7| 1.50|text|%|ffffffff|255\n1,2,-1,4 0x123456789abc\n"
        );
    }

    #[test]
    fn cut_off() {
        let (variables, places) = variables(&["a%db%d\n"]);
        let mut buffer = places[0].to_le_bytes().to_vec();
        buffer.extend(INT.to_le_bytes());
        buffer.extend(7_i32.to_le_bytes());
        assert_eq!(text(&buffer, &variables), b"a7b");
        assert_eq!(text(&[0; 64], &variables), b"");
        assert_eq!(text(&[1; 3], &variables), b"");
    }
}
