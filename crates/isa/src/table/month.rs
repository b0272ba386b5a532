//! The month in which an instruction was introduced.

use core::fmt;

/// A month of a year, for example `2021-06`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Month {
    /// The year.
    pub year: u16,
    /// 1 for January.
    pub month: u8,
}

impl Month {
    /// Parses the month of a row, in the form in which it is displayed.
    #[allow(clippy::panic)] // rows are constants: an error fails to compile
    pub(crate) const fn parse(text: &str) -> Self {
        const fn digit(digit: u8) -> u8 {
            assert!(digit.is_ascii_digit());
            digit - b'0'
        }
        let &[a, b, c, d, b'-', e, f] = text.as_bytes() else {
            panic!("a month is written as 2021-06");
        };
        let [high, low] = [digit(a) * 10 + digit(b), digit(c) * 10 + digit(d)];
        Self {
            year: high as u16 * 100 + low as u16,
            month: digit(e) * 10 + digit(f),
        }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}
