//! The output of kernels: formats the buffer that `printf` fills as text.
//!
//! A record is the address of the format string (eight bytes), and for each argument a number for its type (four bytes)
//! and its value, in multiples of four bytes; vectors have a count (four bytes) before their elements. Intel's OpenCL
//! compilers write this format and their runtime reads it. A format that is no constant is itself in the record: a number
//! with the highest bit set and its size, then its bytes.

mod format;

use format::{Conversion, Value};

/// Limit of the text produced from a buffer.
const MOST: usize = 1 << 26;

/// Most bytes of a string.
const LONGEST: usize = 1 << 16;

/// Numbers of types, as the compiler has them: of a scalar.
const BYTE: u32 = 1;
const SHORT: u32 = 2;
const INT: u32 = 3;
const FLOAT: u32 = 4;
const STRING: u32 = 5;
const LONG: u32 = 6;
const POINTER: u32 = 7;
const DOUBLE: u32 = 8;
/// Of vectors, and of their elements.
const VECTORS: [(u32, u32); 6] = [
    (9, BYTE),
    (10, SHORT),
    (11, INT),
    (12, LONG),
    (13, FLOAT),
    (14, DOUBLE),
];

/// The bit of a record's first number which says that the other bits are the size of a format string, with its NUL, that
/// follows.
const INLINE: u64 = 1 << 63;

/// Memory that strings are in.
pub(crate) trait Strings {
    /// Bytes at an address; fewer than requested at the end of the memory.
    fn read(&self, address: u64, out: &mut [u8]) -> usize;
}

/// Reads little-endian values one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*value)
    }

    fn value(&mut self, kind: u32) -> Option<Value> {
        let integer = |value, bytes| Some(Value::Integer { value, bytes });
        match kind {
            BYTE => integer(i8::from_le_bytes(self.bytes()?).into(), 1),
            SHORT => integer(i16::from_le_bytes(self.bytes()?).into(), 2),
            INT => integer(i32::from_le_bytes(self.bytes()?).into(), 4),
            LONG | POINTER => integer(i64::from_le_bytes(self.bytes()?), 8),
            FLOAT => Some(Value::Float(f32::from_le_bytes(self.bytes()?).into())),
            DOUBLE => Some(Value::Float(f64::from_le_bytes(self.bytes()?))),
            STRING => Some(Value::Text(u64::from_le_bytes(self.bytes()?))),
            _ => None,
        }
    }

    /// The format string of a record.
    fn format(&mut self, memory: &impl Strings) -> Option<Vec<u8>> {
        let number = u64::from_le_bytes(self.bytes()?);
        if number & INLINE == 0 {
            return string(memory, number);
        }
        let size = usize::try_from(number & !INLINE).ok()?;
        let size = Some(size).filter(|size| *size <= LONGEST)?;
        let (text, _) = self.0.split_at_checked(size)?;
        // The last string may lack its padding.
        self.0 = self.0.get(size.next_multiple_of(4)..).unwrap_or_default();
        text.split(|byte| *byte == 0).next().map(<[u8]>::to_vec)
    }

    /// An argument: one value, or the elements of a vector.
    fn argument(&mut self) -> Option<Vec<Value>> {
        let kind = u32::from_le_bytes(self.bytes()?);
        let vector = VECTORS.iter().find(|(vector, _)| *vector == kind);
        let (kind, count) = match vector {
            Some((_, element)) => (*element, u32::from_le_bytes(self.bytes()?)),
            None => (kind, 1),
        };
        let count = usize::try_from(count).ok().filter(|n| *n <= 16)?;
        let values: Option<Vec<_>> = (0..count).map(|_| self.value(kind)).collect();
        // An element takes four bytes at least; those of small ones are packed.
        let unused = match kind {
            BYTE => 3,
            SHORT => 2,
            _ => 0,
        };
        // The last value may lack its padding.
        self.0 = self.0.get(unused * count..).unwrap_or_default();
        values
    }
}

/// A C string, without its terminator. Without one it is not a string.
fn string(memory: &impl Strings, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < LONGEST {
        let mut piece = [0; 256];
        let count = memory.read(address.checked_add(text.len() as u64)?, &mut piece);
        let piece = piece.get(..count).filter(|piece| !piece.is_empty())?;
        match piece.iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend(piece.iter().take(end));
                return Some(text);
            }
            None => text.extend(piece),
        }
    }
    None
}

/// The whole output. An unreadable record ends the text: nothing shows where the next record begins.
pub(crate) fn text(buffer: &[u8], memory: &impl Strings) -> Vec<u8> {
    let mut out = Vec::new();
    let mut reader = Reader(buffer);
    while out.len() < MOST
        && let Some(format) = reader.format(memory)
        && record(&format, &mut reader, memory, &mut out).is_some()
    {}
    out.truncate(MOST);
    out
}

fn record(
    format: &[u8],
    reader: &mut Reader<'_>,
    memory: &impl Strings,
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        if let Some(after) = rest.strip_prefix(b"%") {
            out.push(b'%');
            rest = after;
            continue;
        }
        let (conversion, after) = Conversion::parse(rest)?;
        rest = after;
        for (index, value) in reader.argument()?.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            // A string that the compiler does not take for a literal, such as "", is a plain pointer.
            let value = match value {
                Value::Integer { value, bytes: 8 } if conversion.wants_string() => {
                    Value::Text(value.cast_unsigned())
                }
                value => value,
            };
            match value {
                Value::Text(address) => {
                    let text = string(memory, address).unwrap_or_else(|| b"(null)".to_vec());
                    conversion.string(&text, out);
                }
                Value::Integer { value, bytes } => conversion.integer(value, bytes, out),
                Value::Float(value) => conversion.float(value, out),
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    struct Texts(Vec<u8>);

    impl Strings for Texts {
        fn read(&self, address: u64, out: &mut [u8]) -> usize {
            let at = usize::try_from(address).unwrap_or(usize::MAX);
            let from = self.0.get(at..).unwrap_or_default();
            let count = from.len().min(out.len());
            out[..count].copy_from_slice(&from[..count]);
            count
        }
    }

    /// The output of one record with this format and these arguments (type and bytes).
    fn printed(format: &str, arguments: &[(u32, Vec<u8>)]) -> String {
        let mut memory = b"text\0".to_vec();
        memory.extend(format.as_bytes());
        memory.push(0);
        let mut buffer = 5_u64.to_le_bytes().to_vec();
        for (kind, value) in arguments {
            buffer.extend(kind.to_le_bytes());
            buffer.extend(value);
        }
        String::from_utf8(text(&buffer, &Texts(memory))).unwrap()
    }

    fn int(value: i32) -> (u32, Vec<u8>) {
        (INT, value.to_le_bytes().to_vec())
    }

    fn double(value: f64) -> (u32, Vec<u8>) {
        (DOUBLE, value.to_le_bytes().to_vec())
    }

    #[test]
    fn formats_inside_of_records() {
        for length in 0..9 {
            let format = "%d".to_owned() + &"x".repeat(length);
            let mut buffer = Vec::new();
            for value in [7, 8] {
                let size = format.len() as u64 + 1;
                buffer.extend((INLINE | size).to_le_bytes());
                buffer.extend(format.as_bytes());
                buffer.push(0);
                buffer.resize(buffer.len().next_multiple_of(4), 0xee);
                buffer.extend(INT.to_le_bytes());
                buffer.extend(i32::to_le_bytes(value));
            }
            let printed = text(&buffer, &Texts(Vec::new()));
            let expected = format.replace("%d", "7") + &format.replace("%d", "8");
            assert_eq!(String::from_utf8(printed).unwrap(), expected);
            // A size that lies ends the output.
            let mut lying = buffer;
            lying[..8].copy_from_slice(&u64::MAX.to_le_bytes());
            assert_eq!(text(&lying, &Texts(Vec::new())), b"");
        }
    }

    /// The right column is the output of C.
    #[test]
    fn as_c_prints_it() {
        for (format, argument, expected) in [
            ("%d", int(-7), "-7"),
            ("%5d|", int(-7), "   -7|"),
            ("%-5d|", int(7), "7    |"),
            ("%+d", int(7), "+7"),
            ("% d", int(7), " 7"),
            ("%05d", int(-7), "-0007"),
            ("%5.3d", int(-7), " -007"),
            ("%.0d", int(0), ""),
            ("%u", int(-1), "4294967295"),
            ("%hu", int(-1), "65535"),
            ("%hhd", int(511), "-1"),
            ("%x", int(255), "ff"),
            ("%#X", int(255), "0XFF"),
            ("%#o", int(8), "010"),
            ("%#x", int(0), "0"),
            ("%c", int(65), "A"),
            ("%3c|", int(65), "  A|"),
            ("%f", double(1.5), "1.500000"),
            ("%.0f", double(2.5), "2"),
            ("%#.0f", double(2.5), "2."),
            ("%8.2f|", double(-3.5), "   -3.50|"),
            ("%-8.2f|", double(3.5), "3.50    |"),
            ("%+08.2f", double(3.5), "+0003.50"),
            ("%e", double(12345.678), "1.234568e+04"),
            ("%.2E", double(0.00012), "1.20E-04"),
            ("%e", double(0.0), "0.000000e+00"),
            ("%g", double(100_000.0), "100000"),
            ("%g", double(1_000_000.0), "1e+06"),
            ("%g", double(0.0001), "0.0001"),
            ("%g", double(0.00001), "1e-05"),
            ("%#g", double(1.0), "1.00000"),
            ("%G", double(1e300), "1E+300"),
            ("%.3g", double(999.9), "1e+03"),
            ("%a", double(1.0), "0x1p+0"),
            ("%a", double(0.1), "0x1.999999999999ap-4"),
            ("%.2a", double(0.1), "0x1.9ap-4"),
            ("%.0a", double(1.5), "0x2p+0"),
            ("%A", double(-255.5), "-0X1.FFP+7"),
            ("%a", double(0.0), "0x0p+0"),
            ("%a", double(5e-324), "0x0.0000000000001p-1022"),
            ("%f", double(f64::NEG_INFINITY), "-inf"),
            ("%05F", double(f64::INFINITY), "  INF"),
            ("%G", double(f64::NAN), "NAN"),
            ("%s|", (STRING, 0_u64.to_le_bytes().to_vec()), "text|"),
            ("%6.2s|", (STRING, 0_u64.to_le_bytes().to_vec()), "    te|"),
            ("%s|", (POINTER, 0_u64.to_le_bytes().to_vec()), "text|"),
            ("%s|", (POINTER, 4_u64.to_le_bytes().to_vec()), "|"),
            ("%p", (POINTER, 0xabc_u64.to_le_bytes().to_vec()), "0xabc"),
            (
                "%ld",
                (LONG, i64::MIN.to_le_bytes().to_vec()),
                "-9223372036854775808",
            ),
            ("%f", (FLOAT, 0.1_f32.to_le_bytes().to_vec()), "0.100000"),
        ] {
            assert_eq!(printed(format, &[argument]), expected, "{format}");
        }
    }

    #[test]
    fn vectors() {
        assert_eq!(printed("100%%", &[]), "100%");
        let mut bytes = 4_u32.to_le_bytes().to_vec();
        bytes.extend([1, 2, 0xff, 4]);
        bytes.extend([0; 12]);
        let long = (LONG, 3_i64.to_le_bytes().to_vec());
        assert_eq!(printed("%v4hhd|%ld\n", &[(9, bytes), long]), "1,2,-1,4|3\n");
        let mut floats = 3_u32.to_le_bytes().to_vec();
        floats.extend([0.5_f32, 1.0, -2.25].into_iter().flat_map(f32::to_le_bytes));
        assert_eq!(printed("%5.1v3hlf", &[(13, floats)]), "  0.5,  1.0, -2.2");
    }

    #[test]
    fn what_does_not_fit_ends_the_text() {
        assert_eq!(printed("a%db%d\n", &[int(7)]), "a7b");
        assert_eq!(printed("%d %", &[int(7)]), "7 ");
        assert_eq!(text(&[0; 64], &Texts(Vec::new())), b"");
        assert_eq!(text(&[1; 3], &Texts(vec![0])), b"");
        // Vectors of more elements than there are, unknown types, widths without end.
        assert_eq!(printed("%v4d", &[(11, vec![0xff; 64])]), "");
        assert_eq!(printed("%d", &[(77, vec![0; 64])]), "");
        assert!(printed("%99999999999999999999d", &[int(7)]).len() < 1 << 20);
        assert!(printed("%.99999999999999999999f", &[double(7.0)]).len() < 1 << 20);
    }

    #[test]
    fn any_buffer() {
        let mut state = 1_u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24).to_le_bytes()[0]
        };
        for _ in 0..2000 {
            let letters = b"%vdhl0123456789.-+# sfegaxc\0";
            let memory: Vec<u8> = (0..64)
                .map(|_| letters[usize::from(next()) % letters.len()])
                .collect();
            let buffer: Vec<u8> = (0..96)
                .map(|i| {
                    if i % 4 == 0 {
                        next() % 16
                    } else {
                        next() & next() & next() & next()
                    }
                })
                .collect();
            let mut head = vec![next() % 32];
            head.extend([0; 7]);
            head.extend(buffer);
            let _ = text(&head, &Texts(memory));
        }
    }
}
