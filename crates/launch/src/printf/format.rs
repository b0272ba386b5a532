//! Conversions of `printf`, as C has them, with OpenCL's vectors.

/// Widths and precisions are taken for so much at most.
const WIDEST: usize = 1 << 12;

/// A value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer {
        value: i64,
        bytes: u32,
    },
    Float(f64),
    /// The address of a string.
    Text(u64),
}

/// The effect of the length modifier on an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Length {
    #[default]
    Plain,
    Byte,
    Short,
}

/// A conversion of a format string.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    length: Length,
    letter: u8,
}

impl Conversion {
    /// The conversion after a `%`, and the rest of the text.
    pub(super) fn parse(text: &[u8]) -> Option<(Self, &[u8])> {
        let mut to = Self::default();
        let mut rest = text;
        let mut number = None;
        let mut in_vector = false;
        loop {
            let (byte, after) = rest.split_first()?;
            rest = after;
            match byte {
                b'0' if number.is_none() && to.precision.is_none() && !in_vector => to.zero = true,
                b'0'..=b'9' if in_vector => {}
                b'0'..=b'9' => {
                    let value: usize = number.unwrap_or(0);
                    let value = value * 10 + usize::from(byte - b'0');
                    number = Some(value.min(WIDEST));
                    match &mut to.precision {
                        Some(precision) => *precision = value.min(WIDEST),
                        None => to.width = value.min(WIDEST),
                    }
                }
                b'.' => (to.precision, number) = (Some(0), None),
                b'-' => to.left = true,
                b'+' => to.plus = true,
                b' ' => to.space = true,
                b'#' => to.alternate = true,
                // The record says how many elements there are.
                b'v' => in_vector = true,
                b'h' => {
                    in_vector = false;
                    to.length = match to.length {
                        Length::Short => Length::Byte,
                        _ => Length::Short,
                    };
                }
                b'l' | b'j' | b'z' | b't' | b'L' => {
                    in_vector = false;
                    to.length = Length::Plain;
                }
                letter => {
                    to.letter = *letter;
                    return Some((to, rest));
                }
            }
        }
    }

    /// Sign or prefix, and the rest, at their places in the width.
    fn pad(&self, prefix: &str, text: &str, zero: bool, out: &mut Vec<u8>) {
        let length = prefix.len() + text.len();
        let missing = self.width.saturating_sub(length);
        let fill = |out: &mut Vec<u8>, with| out.extend(std::iter::repeat_n(with, missing));
        if !self.left && !zero {
            fill(out, b' ');
        }
        out.extend(prefix.bytes());
        if !self.left && zero {
            fill(out, b'0');
        }
        out.extend(text.bytes());
        if self.left {
            fill(out, b' ');
        }
    }

    const fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Whether it prints a string.
    pub(super) const fn wants_string(&self) -> bool {
        self.letter == b's'
    }

    /// A string, cut to the precision.
    pub(super) fn string(&self, text: &[u8], out: &mut Vec<u8>) {
        let cut = self.precision.unwrap_or(text.len()).min(text.len());
        let text = text.get(..cut).unwrap_or(text);
        let missing = self.width.saturating_sub(text.len());
        let fill = std::iter::repeat_n(b' ', missing);
        if self.left {
            out.extend(text);
            out.extend(fill);
        } else {
            out.extend(fill);
            out.extend(text);
        }
    }

    /// An integer of this size.
    pub(super) fn integer(&self, value: i64, bytes: u32, out: &mut Vec<u8>) {
        let bytes = match self.length {
            Length::Plain => bytes,
            Length::Byte => 1,
            Length::Short => bytes.min(2),
        };
        let unused = 64 - 8 * bytes.clamp(1, 8);
        let unsigned = value.cast_unsigned() << unused >> unused;
        let signed = (value << unused) >> unused;
        let (prefix, digits) = match self.letter {
            b'c' => {
                let [byte, ..] = value.to_le_bytes();
                return self.string(&[byte], out);
            }
            b'p' => ("0x", format!("{unsigned:x}")),
            b'x' if self.alternate && unsigned != 0 => ("0x", format!("{unsigned:x}")),
            b'X' if self.alternate && unsigned != 0 => ("0X", format!("{unsigned:X}")),
            b'x' => ("", format!("{unsigned:x}")),
            b'X' => ("", format!("{unsigned:X}")),
            b'o' => {
                let digits = format!("{unsigned:o}");
                let zero = self.alternate && !digits.starts_with('0');
                ("", if zero { format!("0{digits}") } else { digits })
            }
            b'u' => ("", unsigned.to_string()),
            b'd' | b'i' => (self.sign(signed < 0), signed.unsigned_abs().to_string()),
            // The program gave another type than it said.
            _ => ("", value.to_string()),
        };
        let digits = match self.precision {
            Some(0) if unsigned == 0 && self.letter != b'p' => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits,
        };
        self.pad(prefix, &digits, self.zero && self.precision.is_none(), out);
    }

    /// A float.
    pub(super) fn float(&self, value: f64, out: &mut Vec<u8>) {
        let sign = self.sign(value.is_sign_negative());
        let upper = self.letter.is_ascii_uppercase();
        let case = |text: String| if upper { text.to_uppercase() } else { text };
        if !value.is_finite() {
            let text = if value.is_nan() { "nan" } else { "inf" };
            return self.pad(sign, &case(text.to_owned()), false, out);
        }
        let value = value.abs();
        let precision = self.precision.unwrap_or(6);
        let (prefix, text) = match self.letter.to_ascii_lowercase() {
            b'e' => ("", self.exponential(value, precision)),
            b'g' => ("", self.shortest(value, precision.max(1))),
            b'a' => ("0x", self.hexadecimal(value)),
            _ => ("", self.fixed(value, precision)),
        };
        self.pad(
            &case(format!("{sign}{prefix}")),
            &case(text),
            self.zero,
            out,
        );
    }

    fn fixed(&self, value: f64, precision: usize) -> String {
        let point = if self.alternate && precision == 0 {
            "."
        } else {
            ""
        };
        format!("{value:.precision$}{point}")
    }

    fn exponential(&self, value: f64, precision: usize) -> String {
        let text = format!("{value:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if self.alternate && precision == 0 {
            "."
        } else {
            ""
        };
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}{point}e{sign}{:02}", exponent.unsigned_abs())
    }

    fn shortest(&self, value: f64, precision: usize) -> String {
        let rounded = format!("{value:.*e}", precision - 1);
        let exponent = rounded.split_once('e').map_or("0", |(_, e)| e);
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let most = i64::try_from(precision).unwrap_or(i64::MAX);
        let strip = |text: &str| {
            if self.alternate || !text.contains('.') {
                return text.to_owned();
            }
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        if (-4..most).contains(&exponent) {
            let decimals = usize::try_from(most - 1 - exponent).unwrap_or(0);
            return strip(&self.fixed(value, decimals));
        }
        let text = self.exponential(value, precision - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{exponent}", strip(digits))
    }

    /// Digits and exponent of a hexadecimal float, without its prefix.
    fn hexadecimal(&self, value: f64) -> String {
        let bits = value.to_bits();
        let mut mantissa = bits & ((1 << 52) - 1);
        let stored = bits >> 52 & 0x7ff;
        if stored != 0 {
            mantissa |= 1 << 52;
        }
        let exponent = match (stored, mantissa) {
            (0, 0) => 0,
            (0, _) => -1022,
            _ => i64::try_from(stored).unwrap_or(0) - 1023,
        };
        let digits = match self.precision {
            Some(precision) if precision < 13 => {
                let cut = 52 - 4 * u32::try_from(precision).unwrap_or(0);
                let (kept, rest) = (mantissa >> cut, mantissa & ((1 << cut) - 1));
                let half = 1 << (cut - 1);
                let up = rest > half || rest == half && kept & 1 != 0;
                mantissa = (kept + u64::from(up)) << cut;
                Some(precision)
            }
            precision => precision,
        };
        let fraction = format!("{:013x}", mantissa & ((1 << 52) - 1));
        let fraction = match digits {
            Some(precision) => {
                let fraction = fraction.get(..precision.min(13)).unwrap_or(&fraction);
                format!("{fraction:0<precision$}")
            }
            None => fraction.trim_end_matches('0').to_owned(),
        };
        let point = if fraction.is_empty() && !self.alternate {
            ""
        } else {
            "."
        };
        format!("{}{point}{fraction}p{exponent:+}", mantissa >> 52)
    }
}
