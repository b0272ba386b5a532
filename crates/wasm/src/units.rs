//! Places in texts: bytes here, units of UTF-16 in JavaScript.

/// Converts places of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    /// Ends of characters that have more bytes than units: in bytes, and in units.
    ends: Vec<(usize, usize)>,
}

impl Units {
    pub(crate) fn of(text: &str) -> Self {
        let mut ends = Vec::new();
        if text.is_ascii() {
            return Self { ends };
        }
        let mut units = 0;
        for (at, character) in text.char_indices() {
            units += character.len_utf16();
            if character.len_utf8() != character.len_utf16() {
                ends.push((at + character.len_utf8(), units));
            }
        }
        Self { ends }
    }

    /// The place in units.
    pub(crate) fn units(&self, bytes: usize) -> usize {
        let before = self.ends.partition_point(|(end, _)| *end <= bytes);
        match before.checked_sub(1).and_then(|last| self.ends.get(last)) {
            Some((at, units)) => units + (bytes - at),
            None => bytes,
        }
    }

    /// The place in bytes.
    pub(crate) fn bytes(&self, units: usize) -> usize {
        let before = self.ends.partition_point(|(_, end)| *end <= units);
        match before.checked_sub(1).and_then(|last| self.ends.get(last)) {
            Some((at, end)) => at + (units - end),
            None => units,
        }
    }
}

/// The lengths of the common prefix and, after it, suffix of two texts, cut at characters.
pub(crate) fn common(old: &str, new: &str) -> (usize, usize) {
    let same = |(a, b): &(u8, u8)| a == b;
    let mut front = old.bytes().zip(new.bytes()).take_while(same).count();
    while !old.is_char_boundary(front) || !new.is_char_boundary(front) {
        front -= 1;
    }
    let rest = (old.len() - front).min(new.len() - front);
    let ends = old.bytes().rev().zip(new.bytes().rev()).take(rest);
    let mut back = ends.take_while(same).count();
    while !old.is_char_boundary(old.len() - back) || !new.is_char_boundary(new.len() - back) {
        back -= 1;
    }
    (front, back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let text = "aä€😀b";
        let units = Units::of(text);
        let mut counted = 0;
        for (at, character) in text.char_indices() {
            assert_eq!(units.units(at), counted, "{at}");
            assert_eq!(units.bytes(counted), at, "{at}");
            counted += character.len_utf16();
        }
        assert_eq!(units.units(text.len()), counted);
    }

    #[test]
    fn what_is_common_is_cut_at_characters() {
        assert_eq!(common("aäb", "aöb"), (1, 1));
        assert_eq!(common("abc", "abc"), (3, 0));
        assert_eq!(common("aa", "aaa"), (2, 0));
        assert_eq!(common("", "x"), (0, 0));
    }
}
