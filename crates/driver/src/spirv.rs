//! Specialization constants of SPIR-V.

use crate::error::{Code, Result, ensure};
use opencl_sys as cl;

/// A word of a module, little-endian.
type Word = [u8; 4];

/// Words before the first instruction.
const HEADER: usize = 5;

// Opcodes.
const TYPE_INT: u32 = 21;
const TYPE_FLOAT: u32 = 22;
const CONSTANT_TRUE: u32 = 48;
const CONSTANT_FALSE: u32 = 49;
const CONSTANT: u32 = 50;
const DECORATE: u32 = 71;

/// The decoration that gives a constant its number.
const SPEC_ID: Word = 1_u32.to_le_bytes();

/// The instructions of a module: where they begin, opcode, operands.
fn instructions(words: &[Word]) -> impl Iterator<Item = (usize, u32, &[Word])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let [low, high, count @ ..] = *words.get(at)?;
        let end = at + usize::from(u16::from_le_bytes(count));
        let operands = words.get(at + 1..end)?;
        let start = std::mem::replace(&mut at, end);
        Some((start, u16::from_le_bytes([low, high]).into(), operands))
    })
}

/// Bits of a type of numbers, and whether literals of it are sign-extended to a word.
fn number(words: &[Word], kind: Word) -> Option<(u32, bool)> {
    instructions(words).find_map(|(_, opcode, operands)| match *operands {
        [result, bits, sign] if opcode == TYPE_INT && result == kind => {
            Some((u32::from_le_bytes(bits), sign != [0; 4]))
        }
        [result, bits, ..] if opcode == TYPE_FLOAT && result == kind => {
            Some((u32::from_le_bytes(bits), false))
        }
        _ => None,
    })
}

/// Sets the value of a specialization constant, as its new default.
///
/// # Errors
/// `CL_INVALID_SPEC_ID` if there is no such constant, `CL_INVALID_VALUE` if the value has not its size.
pub(crate) fn specialize(module: &mut [u8], id: u32, value: &[u8]) -> Result<()> {
    let (words, _) = module.as_chunks_mut();
    for (at, word) in changes(words, id, value)? {
        if let Some(place) = words.get_mut(at) {
            *place = word;
        }
    }
    Ok(())
}

/// Bytes of the value of a specialization constant; `None` if there is no such constant.
pub(crate) fn constant_bytes(module: &[u8], id: u32) -> Option<usize> {
    let (words, _) = module.as_chunks();
    let targets = targets(words, id);
    let mut all = instructions(words);
    all.find_map(|(_, opcode, operands)| match (opcode, operands) {
        (CONSTANT_TRUE | CONSTANT_FALSE, [_, result, ..]) if targets.contains(result) => Some(1),
        (CONSTANT, [kind, result, ..]) if targets.contains(result) => {
            let (bits, _) = number(words, *kind)?;
            usize::try_from(bits / 8).ok()
        }
        _ => None,
    })
}

/// The constants that have a number.
fn targets(words: &[Word], id: u32) -> Vec<Word> {
    let id = id.to_le_bytes();
    let named = |(_, opcode, operands): (usize, u32, &[Word])| match *operands {
        [target, SPEC_ID, given] if opcode == DECORATE && given == id => Some(target),
        _ => None,
    };
    instructions(words).filter_map(named).collect()
}

/// The words that change, by their places.
fn changes(words: &[Word], id: u32, value: &[u8]) -> Result<Vec<(usize, Word)>> {
    let targets = targets(words, id);
    let mut changes = Vec::new();
    for (at, opcode, operands) in instructions(words) {
        let [kind, result, literal @ ..] = operands else {
            continue;
        };
        if !targets.contains(result) {
            continue;
        }
        match opcode {
            CONSTANT_TRUE | CONSTANT_FALSE => {
                ensure(value.len() == 1, cl::CL_INVALID_VALUE)?;
                let opcode = if value == [0] {
                    CONSTANT_FALSE
                } else {
                    CONSTANT_TRUE
                };
                changes.push((at, (3 << 16 | opcode).to_le_bytes()));
            }
            CONSTANT => {
                let (bits, signed) = number(words, *kind).ok_or(Code(cl::CL_INVALID_SPEC_ID))?;
                ensure(bits as usize == value.len() * 8, cl::CL_INVALID_VALUE)?;
                let negative = signed && value.last().is_some_and(|b| b.cast_signed() < 0);
                let mut bytes = value.to_vec();
                bytes.resize(literal.len() * 4, if negative { 0xff } else { 0 });
                let (new, _) = bytes.as_chunks();
                changes.extend(new.iter().enumerate().map(|(i, word)| (at + 3 + i, *word)));
            }
            _ => {}
        }
    }
    ensure(!changes.is_empty(), cl::CL_INVALID_SPEC_ID)?;
    Ok(changes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    /// Constants 1 to 4 of an int, a signed short, an unsigned long and a bool, with defaults; places of their values.
    fn module() -> (Vec<u8>, [usize; 4]) {
        let mut words = vec![0x0723_0203, 0x1_0000, 0, 100, 0];
        let mut places = [0; 4];
        for (result, id) in [(11, 1), (12, 2), (13, 3), (14, 4)] {
            words.extend([4 << 16 | DECORATE, result, 1, id]);
        }
        words.extend([4 << 16 | TYPE_INT, 1, 32, 0]);
        words.extend([4 << 16 | TYPE_INT, 2, 16, 1]);
        words.extend([4 << 16 | TYPE_INT, 3, 64, 0]);
        words.extend([2 << 16 | 20, 4]);
        for (place, constant) in places.iter_mut().zip([
            &[4 << 16 | CONSTANT, 1, 11, 7][..],
            &[4 << 16 | CONSTANT, 2, 12, 7],
            &[5 << 16 | CONSTANT, 3, 13, 7, 0],
            &[3 << 16 | CONSTANT_TRUE, 4, 14],
        ]) {
            *place = words.len();
            words.extend(constant);
        }
        let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
        (bytes, places)
    }

    fn word(module: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(module.as_chunks().0[at])
    }

    #[test]
    fn values_of_every_size() {
        let (mut code, [int, short, long, bool]) = module();
        let before = code.len();
        let sizes = [1, 2, 3, 4, 5].map(|id| constant_bytes(&code, id));
        assert_eq!(sizes, [Some(4), Some(2), Some(8), Some(1), None]);
        specialize(&mut code, 1, &0x8000_0001_u32.to_le_bytes()).unwrap();
        specialize(&mut code, 2, &(-2_i16).to_le_bytes()).unwrap();
        specialize(&mut code, 3, &(5_u64 << 32 | 6).to_le_bytes()).unwrap();
        specialize(&mut code, 4, &[0]).unwrap();
        assert_eq!(code.len(), before);
        assert_eq!(word(&code, int + 3), 0x8000_0001);
        assert_eq!(word(&code, short + 3), 0xffff_fffe);
        assert_eq!((word(&code, long + 3), word(&code, long + 4)), (6, 5));
        assert_eq!(word(&code, bool), 3 << 16 | CONSTANT_FALSE);
        specialize(&mut code, 2, &2_i16.to_le_bytes()).unwrap();
        specialize(&mut code, 4, &[9]).unwrap();
        assert_eq!(word(&code, short + 3), 2);
        assert_eq!(word(&code, bool), 3 << 16 | CONSTANT_TRUE);
    }

    #[test]
    fn what_is_refused() {
        let (code, _) = module();
        for (id, value, expected) in [
            (5, &[0; 4][..], cl::CL_INVALID_SPEC_ID),
            (1, &[0; 2], cl::CL_INVALID_VALUE),
            (3, &[0; 4], cl::CL_INVALID_VALUE),
            (4, &[0; 4], cl::CL_INVALID_VALUE),
        ] {
            let mut changed = code.clone();
            assert_eq!(specialize(&mut changed, id, value), Err(Code(expected)));
            assert_eq!(changed, code);
        }
        // Modules that end early, and what is none.
        for length in 0..code.len() {
            let _ = specialize(&mut code[..length].to_vec(), 4, &[0]);
        }
        assert!(specialize(&mut [0; 64], 0, &[0]).is_err());
    }
}
