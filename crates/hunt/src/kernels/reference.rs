//! What a subject computes, and whether a variant computes that.

use crate::configuration::{Configuration, Made};
use crate::machine::Memory;
use std::collections::BTreeMap;

/// What a subject computes.
#[derive(Debug)]
pub(crate) enum Reference {
    /// The same in all configurations.
    All(Memory),
    /// Floats: by the names of configurations, each of which is compared with itself. The bits of NaN are open.
    Each(BTreeMap<String, Memory>),
}

impl Reference {
    /// What a configuration should compute, if that is known.
    pub(crate) fn of(&self, configuration: &Configuration) -> Option<&Memory> {
        match self {
            Self::All(memory) => Some(memory),
            Self::Each(all) => all.get(&configuration.name()),
        }
    }

    /// How a configuration is wrong.
    pub(crate) fn wrong(&self, configuration: &Configuration, made: &Made) -> Option<&'static str> {
        let expected = self.of(configuration)?;
        let kind = made.wrong(expected)?;
        let same = |memory: &Memory| match self {
            Self::All(_) => false,
            Self::Each(_) => is_same(expected, memory),
        };
        (!made.memory().is_some_and(same)).then_some(kind)
    }

    /// Whether a configuration is right.
    pub(crate) fn is_right(&self, configuration: &Configuration, made: &Made) -> bool {
        made.memory().is_some()
            && self.of(configuration).is_some()
            && self.wrong(configuration, made).is_none()
    }
}

/// Whether two memories are the same but for the bits of NaN, of whichever type.
fn is_same(a: &Memory, b: &Memory) -> bool {
    let all = |memory: &Memory| memory.iter().map(Vec::len).collect::<Vec<_>>();
    let words = a
        .iter()
        .zip(b)
        .flat_map(|(a, b)| a.chunks(4).zip(b.chunks(4)));
    all(a) == all(b) && words.into_iter().all(|(a, b)| is_same_word(a, b))
}

fn is_same_word(a: &[u8], b: &[u8]) -> bool {
    let nan = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).is_nan(),
        [a, b] => half::f16::from_le_bytes([a, b]).is_nan(),
        _ => false,
    };
    let same = |a: &[u8], b: &[u8]| a == b || nan(a) && nan(b);
    // Two halves, unless only one of the words is NaN.
    let halves = || a.chunks(2).zip(b.chunks(2)).all(|(a, b)| same(a, b));
    same(a, b) || nan(a) == nan(b) && a.len() == b.len() && halves()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_nan() {
        let of = |bits: &[u32]| vec![bits.iter().flat_map(|b| b.to_le_bytes()).collect()];
        let same = |a: &[u32], b: &[u32]| is_same(&of(a), &of(b));
        assert!(same(&[1, 0x7fc0_0000], &[1, 0xffc0_0001]));
        assert!(same(&[0x3c00_7e00], &[0x3c00_fe01]));
        // A double: NaN in its high word.
        assert!(same(&[0, 0x7ff8_0000], &[0, 0xfff8_0000]));
        assert!(!same(&[1], &[2]));
        assert!(!same(&[0], &[0x8000_0000]));
        assert!(!same(&[0x7fc0_0000], &[0x7f80_0000]));
        assert!(!same(&[1], &[1, 1]));
    }
}
