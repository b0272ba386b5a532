//! DWARF expressions with the operations that Intel's compilers add: a place for each lane, in pieces of registers.
//!
//! Operations of the standard are those of DWARF 4, section 2.5. Those of Intel take the lane, a register by number and
//! bit, or a piece of one; their numbers are the public compiler's.

/// Numbers of registers before the general ones.
const FIRST_GENERAL: u64 = 16;
/// Operations that are carried out before an expression is given up.
const MOST_STEPS: usize = 4096;
/// Most pieces, and bits of one.
const MOST_PIECES: usize = 4096;

/// A part of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its size, if the expression states it.
    pub(super) bits: Option<u64>,
    pub(super) place: PiecePlace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PiecePlace {
    /// A bit in the native registers, counted from the first one.
    Register(u64),
    /// An address in memory.
    Memory(u64),
    /// A value that is nowhere.
    Value(Vec<u8>),
    /// Optimised away.
    Nowhere,
}

/// What an expression is evaluated for.
pub(super) struct Context<'c> {
    pub(super) lane: u32,
    /// Bits of a register.
    pub(super) register_bits: u64,
    /// Reads bits of the native registers, 64 at most.
    pub(super) read: &'c dyn Fn(u64, u64) -> Option<u64>,
}

/// An entry of the stack.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Number(u64),
    /// The content of bits of a register, which is read only where it is computed with.
    Bits {
        at: u64,
        count: u64,
    },
}

/// The pieces of a variable; `None` if there is an operation that is not known, or nothing.
pub(super) fn pieces(expression: &[u8], context: &Context<'_>) -> Option<Vec<Piece>> {
    let mut machine = Machine {
        code: expression,
        at: 0,
        stack: Vec::new(),
        place: None,
        pieces: Vec::new(),
        context,
    };
    for _ in 0..MOST_STEPS {
        if machine.at >= expression.len() {
            return machine.end();
        }
        machine.step()?;
    }
    None
}

struct Machine<'c> {
    code: &'c [u8],
    at: usize,
    stack: Vec<Entry>,
    /// The place that the operations since the last piece name.
    place: Option<Piece>,
    pieces: Vec<Piece>,
    context: &'c Context<'c>,
}

impl Machine<'_> {
    fn step(&mut self) -> Option<()> {
        let operation = self.bytes::<1>()?[0];
        match operation {
            0x08..=0x11 => {
                let number = self.constant(operation)?;
                self.push_number(number);
            }
            0x12 => self.stack.push(*self.stack.last()?),
            0x13 => drop(self.stack.pop()?),
            0x14 => self.stack.push(*self.stack.iter().nth_back(1)?),
            0x16 => {
                let (a, b) = (self.stack.pop()?, self.stack.pop()?);
                self.stack.extend([a, b]);
            }
            0x1f => {
                let number = self.pop()?.wrapping_neg();
                self.push_number(number);
            }
            0x20 => {
                let number = !self.pop()?;
                self.push_number(number);
            }
            0x1a..=0x1e | 0x21 | 0x22 | 0x24..=0x27 | 0x29..=0x2e => self.binary(operation)?,
            0x23 => {
                let number = self.pop()?.wrapping_add(self.unsigned()?);
                self.push_number(number);
            }
            0x28 => {
                let to = i16::from_le_bytes(self.bytes()?);
                if self.pop()? != 0 {
                    self.jump(to)?;
                }
            }
            0x2f => {
                let to = i16::from_le_bytes(self.bytes()?);
                self.jump(to)?;
            }
            0x30..=0x4f => self.push_number(u64::from(operation - 0x30)),
            0x50..=0x6f => self.register(u64::from(operation - 0x50))?,
            0x90 => {
                let register = self.unsigned()?;
                self.register(register)?;
            }
            0x93 => {
                let bits = self.unsigned()?.checked_mul(8)?;
                self.piece(bits, 0)?;
            }
            0x96 => {}
            0x9d => {
                let (bits, offset) = (self.unsigned()?, self.unsigned()?);
                // A gap is written as 0x93. Some compilers write an empty one after the place of a member, without a word of
                // which one it is.
                if self.place.is_none() && self.stack.is_empty() {
                    return None;
                }
                self.piece(bits, offset)?;
            }
            0x9e => {
                let count = usize::try_from(self.unsigned()?).ok()?;
                let end = self.at.checked_add(count)?;
                let value = self.code.get(self.at..end)?.to_vec();
                self.at = end;
                self.place = Some(whole(PiecePlace::Value(value)));
            }
            0x9f => {
                let place = match self.stack.pop()? {
                    Entry::Number(number) => PiecePlace::Value(number.to_le_bytes().to_vec()),
                    Entry::Bits { at, .. } => PiecePlace::Register(at),
                };
                self.place = Some(whole(place));
            }
            // Intel: the number below is one of a register.
            0xeb => {}
            // Intel: a register's number, a bit in it, and the count of bits.
            0xec => {
                let (count, bit) = (self.pop()?, self.pop()?);
                self.bits(bit, count)?;
            }
            // Intel: the lane.
            0xed => self.push_number(self.context.lane.into()),
            // Intel: a register's number and a bit in it, for so many bits.
            0xfe => {
                let count = u64::from(self.bytes::<1>()?[0]);
                let bit = self.pop()?;
                self.bits(bit, count)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// A constant, with its sign.
    fn constant(&mut self, operation: u8) -> Option<u64> {
        Some(match operation {
            0x08 => u8::from_le_bytes(self.bytes()?).into(),
            0x09 => i64::from(i8::from_le_bytes(self.bytes()?)).cast_unsigned(),
            0x0a => u16::from_le_bytes(self.bytes()?).into(),
            0x0b => i64::from(i16::from_le_bytes(self.bytes()?)).cast_unsigned(),
            0x0c => u32::from_le_bytes(self.bytes()?).into(),
            0x0d => i64::from(i32::from_le_bytes(self.bytes()?)).cast_unsigned(),
            0x0e | 0x0f => u64::from_le_bytes(self.bytes()?),
            0x10 => self.unsigned()?,
            _ => self.signed()?.cast_unsigned(),
        })
    }

    /// The pieces, or the only place.
    fn end(mut self) -> Option<Vec<Piece>> {
        if self.pieces.is_empty() {
            // What is left on the stack is an address.
            let only = match (self.place.take(), self.stack.last()) {
                (Some(place), _) => place,
                (None, Some(_)) => {
                    let address = self.pop()?;
                    whole(PiecePlace::Memory(address))
                }
                (None, None) => return None,
            };
            self.pieces.push(only);
        }
        Some(self.pieces)
    }

    /// Ends a piece of the variable.
    fn piece(&mut self, bits: u64, offset: u64) -> Option<()> {
        if self.pieces.len() >= MOST_PIECES {
            return None;
        }
        let place = match self.place.take().map(|piece| piece.place) {
            Some(PiecePlace::Register(at)) => PiecePlace::Register(at.checked_add(offset)?),
            Some(other) if offset == 0 => other,
            None if self.stack.is_empty() => PiecePlace::Nowhere,
            None => PiecePlace::Memory(self.pop()?),
            Some(_) => return None,
        };
        self.stack.clear();
        self.pieces.push(Piece {
            bits: Some(bits),
            place,
        });
        Some(())
    }

    fn register(&mut self, number: u64) -> Option<()> {
        let at = self.bit_of(number, 0)?;
        self.place = Some(whole(PiecePlace::Register(at)));
        Some(())
    }

    fn bits(&mut self, bit: u64, count: u64) -> Option<()> {
        let register = self.pop()?;
        let at = self.bit_of(register, bit)?;
        self.stack.push(Entry::Bits { at, count });
        Some(())
    }

    fn bit_of(&self, register: u64, bit: u64) -> Option<u64> {
        let register = register.checked_sub(FIRST_GENERAL)?;
        let start = register.checked_mul(self.context.register_bits)?;
        start.checked_add(bit)
    }

    fn binary(&mut self, operation: u8) -> Option<()> {
        let (b, a) = (self.pop()?, self.pop()?);
        let (s, t) = (a.cast_signed(), b.cast_signed());
        let shift = u32::try_from(b).unwrap_or(u32::MAX);
        let result = match operation {
            0x1a => a & b,
            0x1b => s.checked_div(t)?.cast_unsigned(),
            0x1c => a.wrapping_sub(b),
            0x1d => a.checked_rem(b)?,
            0x1e => a.wrapping_mul(b),
            0x21 => a | b,
            0x22 => a.wrapping_add(b),
            0x24 => a.checked_shl(shift).unwrap_or(0),
            0x25 => a.checked_shr(shift).unwrap_or(0),
            0x26 => s.checked_shr(shift).unwrap_or(s >> 63).cast_unsigned(),
            0x27 => a ^ b,
            0x29 => (s == t).into(),
            0x2a => (s >= t).into(),
            0x2b => (s > t).into(),
            0x2c => (s <= t).into(),
            0x2d => (s < t).into(),
            _ => (s != t).into(),
        };
        self.push_number(result);
        Some(())
    }

    fn push_number(&mut self, number: u64) {
        self.stack.push(Entry::Number(number));
    }

    fn pop(&mut self) -> Option<u64> {
        match self.stack.pop()? {
            Entry::Number(number) => Some(number),
            Entry::Bits { at, count } => (self.context.read)(at, count),
        }
    }

    fn jump(&mut self, by: i16) -> Option<()> {
        self.at = self.at.checked_add_signed(by.into())?;
        (self.at <= self.code.len()).then_some(())
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.code.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(*taken)
    }

    fn unsigned(&mut self) -> Option<u64> {
        Some(self.leb()?.0)
    }

    fn signed(&mut self) -> Option<i64> {
        let (number, bits, negative) = self.leb()?;
        let sign = if negative && bits < 64 {
            u64::MAX << bits
        } else {
            0
        };
        Some((number | sign).cast_signed())
    }

    /// A number of seven bits a byte: its bits, how many, and the last one that was written.
    fn leb(&mut self) -> Option<(u64, u32, bool)> {
        let mut number = 0_u64;
        for place in 0..10 {
            let byte = self.bytes::<1>()?[0];
            number |= u64::from(byte & 0x7f).checked_shl(place * 7)?;
            if byte & 0x80 == 0 {
                return Some((number, (place + 1) * 7, byte & 0x40 != 0));
            }
        }
        None
    }
}

const fn whole(place: PiecePlace) -> Piece {
    Piece { bits: None, place }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn places(expression: &[u8], lane: u32) -> Option<Vec<Piece>> {
        let read = |at: u64, _| Some(0x1000 + at);
        pieces(
            expression,
            &Context {
                lane,
                register_bits: 256,
                read: &read,
            },
        )
    }

    /// The forms that compilers of two generations write, for lanes in two registers each.
    #[test]
    fn a_register_for_each_lane() {
        let old = [
            0xed, 0x40, 0x2a, 0x28, 19, 0, 0xed, 0x33, 0x25, 0x23, 0x15, 0xeb, 0xed, 0x37, 0x1a,
            0x08, 0x20, 0x1e, 0x08, 0x20, 0xec, 0x9f, 0x2f, 0x12, 0, 0xed, 0x40, 0x1c, 0x33, 0x25,
            0x23, 0x1a, 0xeb, 0xed, 0x37, 0x1a, 0x08, 0x20, 0x1e, 0x08, 0x20, 0xec, 0x9f,
        ];
        let at = |lane| match places(&old, lane).unwrap().as_slice() {
            [only] => only.place.clone(),
            other => panic!("{other:?}"),
        };
        for lane in 0..32_u64 {
            let first = if lane < 16 { 5 } else { 10 };
            let bit = first * 256 + lane % 16 * 32;
            assert_eq!(
                at(u32::try_from(lane).unwrap()),
                PiecePlace::Register(bit),
                "{lane}"
            );
        }
        let new = [
            0xed, 0x33, 0x25, 0x23, 0x19, 0xed, 0x37, 0x1a, 0x08, 0x20, 0x1e, 0xfe, 0x20, 0x9f,
        ];
        let found = places(&new, 9).unwrap();
        assert_eq!(found, [whole(PiecePlace::Register((9 + 1) * 256 + 32))]);
    }

    #[test]
    fn memory_values_and_pieces() {
        // An address in a register, without and with a sum.
        let held = [0x44, 0x08, 0x80, 0xfe, 0x40];
        let address = 0x1000 + 4 * 256 + 128;
        assert_eq!(
            places(&held, 0).unwrap(),
            [whole(PiecePlace::Memory(address))]
        );
        let sum = [0x44, 0x08, 0x80, 0xfe, 0x40, 0x23, 0x80, 0x03];
        assert_eq!(
            places(&sum, 0).unwrap(),
            [whole(PiecePlace::Memory(address + 0x180))]
        );
        let value = [0x9e, 2, 7, 1];
        assert_eq!(
            places(&value, 0).unwrap(),
            [whole(PiecePlace::Value(vec![7, 1]))]
        );
        // Nothing, and 32 bits of general register 8 from bit 128 on.
        let parts = [0x93, 4, 0x68, 0x9d, 0x20, 0x80, 0x01];
        let found = places(&parts, 0).unwrap();
        let expected = [PiecePlace::Nowhere, PiecePlace::Register(8 * 256 + 128)];
        let found: Vec<_> = found.into_iter().map(|piece| piece.place).collect();
        assert_eq!(found, expected);
        let lost = [0x69, 0x9d, 0x20, 0xc0, 0x01, 0x9d, 0x20, 0];
        assert_eq!(places(&lost, 0), None);
    }

    /// No expression, however damaged, does anything but end.
    #[test]
    fn every_expression_ends() {
        assert_eq!(places(&[], 0), None);
        // Jumps to itself.
        assert_eq!(places(&[0x2f, 0xfd, 0xff], 0), None);
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        for _ in 0..20_000 {
            let expression: Vec<u8> = (0..24).map(|_| next()).collect();
            let _ = places(&expression, 31);
        }
    }
}
