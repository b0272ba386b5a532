//! Comparing results with expected ones, by the rule of a case.

use half::f16;
use serde::Deserialize;
use std::fmt;

/// Type of the elements of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
#[allow(missing_docs, reason = "the names are those of OpenCL")]
pub enum Element {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Float,
    Double,
}

impl From<String> for Element {
    /// By the name in OpenCL. Vectors are compared by their elements, structures and other types by their bytes.
    fn from(name: String) -> Self {
        match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "char" => Self::Char,
            "short" => Self::Short,
            "ushort" => Self::Ushort,
            "int" => Self::Int,
            "uint" => Self::Uint,
            "long" => Self::Long,
            "ulong" => Self::Ulong,
            "half" => Self::Half,
            "float" => Self::Float,
            "double" => Self::Double,
            _ => Self::Uchar,
        }
    }
}

impl Element {
    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Char | Self::Uchar => 1,
            Self::Short | Self::Ushort | Self::Half => 2,
            Self::Int | Self::Uint | Self::Float => 4,
            Self::Long | Self::Ulong | Self::Double => 8,
        }
    }

    const fn is_float(self) -> bool {
        matches!(self, Self::Half | Self::Float | Self::Double)
    }

    /// The element as its bits, zero-extended.
    fn bits(bytes: &[u8]) -> u64 {
        let mut wide = [0; 8];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        u64::from_le_bytes(wide)
    }

    /// The element as a number.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "bits of a narrower element"
    )]
    #[allow(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    fn number(self, bits: u64) -> f64 {
        match self {
            Self::Char => f64::from(bits as i8),
            Self::Uchar => f64::from(bits as u8),
            Self::Short => f64::from(bits as i16),
            Self::Ushort => f64::from(bits as u16),
            Self::Int => f64::from(bits as i32),
            Self::Uint => f64::from(bits as u32),
            Self::Long => bits.cast_signed() as f64,
            Self::Ulong => bits as f64,
            Self::Half => f16::from_bits(bits as u16).to_f64(),
            Self::Float => f64::from(f32::from_bits(bits as u32)),
            Self::Double => f64::from_bits(bits),
        }
    }

    /// The element as a number, rounded where a double has not its bits.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> f64 {
        self.number(Self::bits(bytes))
    }

    /// The element as text.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "bits of a narrower element"
    )]
    pub fn show(self, bytes: &[u8]) -> String {
        let bits = Self::bits(bytes);
        match self {
            Self::Char => (bits as i8).to_string(),
            Self::Short => (bits as i16).to_string(),
            Self::Int => (bits as i32).to_string(),
            Self::Long => bits.cast_signed().to_string(),
            Self::Uchar | Self::Ushort | Self::Uint | Self::Ulong => bits.to_string(),
            Self::Half => f16::from_bits(bits as u16).to_string(),
            Self::Float => f32::from_bits(bits as u32).to_string(),
            Self::Double => f64::from_bits(bits).to_string(),
        }
    }

    /// Distance in units of the last place; both zeroes are the same place.
    fn distance(self, a: u64, b: u64) -> u64 {
        let sign = 1_u64 << (self.bytes() * 8 - 1);
        let place = |bits: u64| {
            let magnitude = i128::from(bits & (sign - 1));
            if bits & sign == 0 {
                magnitude
            } else {
                -magnitude
            }
        };
        u64::try_from(place(a).abs_diff(place(b))).unwrap_or(u64::MAX)
    }
}

/// When a result is right.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// Bytes are equal.
    Exact,
    /// Bits are equal, or both are NaN.
    ExactNan,
    /// At most this many units in the last place apart, or both NaN.
    #[serde(untagged)]
    Ulp {
        /// The distance.
        ulp: u64,
    },
    /// `|got - want| <= abs + rel * |want|`, or both NaN, or equal infinities.
    #[serde(untagged)]
    Close {
        /// Absolute part.
        abs: f64,
        /// Relative part.
        rel: f64,
    },
}

/// The first element that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the element; none if the sizes differ.
    pub element: Option<usize>,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub got: String,
    /// Number of elements that are wrong.
    pub count: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.element {
            Some(element) => write!(
                f,
                "element {element}: expected {}, got {} ({} wrong)",
                self.expected, self.got, self.count
            ),
            None => write!(f, "expected {} bytes, got {}", self.expected, self.got),
        }
    }
}

impl Compare {
    /// Compares; `None` if all is right.
    #[must_use]
    pub fn difference(self, element: Element, expected: &[u8], got: &[u8]) -> Option<Difference> {
        if expected.len() != got.len() {
            return Some(Difference {
                element: None,
                expected: expected.len().to_string(),
                got: got.len().to_string(),
                count: 0,
            });
        }
        if expected == got {
            return None;
        }
        let size = element.bytes();
        let pairs = expected.chunks(size).zip(got.chunks(size)).enumerate();
        let mut wrong = pairs.filter(|(_, (want, got))| !self.agrees(element, want, got));
        let (at, (want, is)) = wrong.next()?;
        Some(Difference {
            element: Some(at),
            expected: shown(element, want),
            got: shown(element, is),
            count: 1 + wrong.count(),
        })
    }

    fn agrees(self, element: Element, want: &[u8], got: &[u8]) -> bool {
        if want == got {
            return true;
        }
        let (want, got) = (Element::bits(want), Element::bits(got));
        let (a, b) = (element.number(want), element.number(got));
        let both_nan = element.is_float() && a.is_nan() && b.is_nan();
        match self {
            Self::Exact => false,
            Self::ExactNan => both_nan,
            Self::Ulp { ulp } if element.is_float() => {
                both_nan || (!a.is_nan() && !b.is_nan() && element.distance(want, got) <= ulp)
            }
            Self::Ulp { ulp } => (a - b).abs() <= f64::from(u32::try_from(ulp).unwrap_or(u32::MAX)),
            Self::Close { abs, rel } => {
                both_nan || (a.is_finite() && b.is_finite() && (b - a).abs() <= abs + rel * a.abs())
            }
        }
    }
}

/// The element as a number and, where that may hide the difference, as its bits.
fn shown(element: Element, bytes: &[u8]) -> String {
    if element.is_float() {
        let digits = element.bytes() * 2;
        format!(
            "{} ({:#0w$x})",
            element.show(bytes),
            Element::bits(bytes),
            w = digits + 2
        )
    } else {
        element.show(bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn rules() {
        let rules: Vec<Compare> =
            serde_json::from_str(r#"["exact", "exact_nan", {"ulp": 2}, {"abs": 0.5, "rel": 0.0}]"#)
                .unwrap();
        let want = floats(&[1.0, f32::NAN, 0.0, f32::INFINITY]);
        let mut other_nan = floats(&[1.0, -f32::NAN, 0.0, f32::INFINITY]);
        let wrong = |rule: &Compare, got: &[u8]| rule.difference(Element::Float, &want, got);
        assert!(rules.iter().all(|r| wrong(r, &want).is_none()));
        assert!(wrong(&rules[0], &other_nan).is_some());
        assert!(rules[1..].iter().all(|r| wrong(r, &other_nan).is_none()));
        other_nan[8..12].copy_from_slice(&(-0.0_f32).to_le_bytes());
        assert_eq!(wrong(&rules[1], &other_nan).unwrap().element, Some(2));
        assert!(wrong(&rules[2], &other_nan).is_none());
        other_nan[12..].copy_from_slice(&f32::MAX.to_le_bytes());
        assert_eq!(wrong(&rules[3], &other_nan).unwrap().element, Some(3));
        let short = wrong(&rules[3], &[0]).unwrap();
        assert_eq!(short.to_string(), "expected 16 bytes, got 1");
    }

    #[test]
    fn names_of_types() {
        let read = |name: &str| serde_json::from_str::<Element>(&format!("\"{name}\"")).unwrap();
        assert_eq!(read("float4"), Element::Float);
        assert_eq!(read("ulong"), Element::Ulong);
        assert_eq!(read("struct node"), Element::Uchar);
    }

    #[test]
    fn places_apart() {
        let f = |v: f32| u64::from(v.to_bits());
        assert_eq!(Element::Float.distance(f(0.0), f(-0.0)), 0);
        let tiny = f32::from_bits(1);
        assert_eq!(Element::Float.distance(f(tiny), f(-tiny)), 2);
        assert_eq!(
            Element::Double.distance(1.0_f64.to_bits(), 1.0_f64.to_bits() + 3),
            3
        );
    }

    #[test]
    fn a_difference_names_the_first_element() {
        let difference =
            Compare::Exact.difference(Element::Short, &[1, 0, 2, 0], &[1, 0, 0xff, 0xff]);
        assert_eq!(
            difference.unwrap().to_string(),
            "element 1: expected 2, got -1 (1 wrong)"
        );
    }
}
