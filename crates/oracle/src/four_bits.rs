//! Tables that four bits choose from, and numbers of four bits.

use crate::float::{Format, Real};
use crate::operand::{number, vector};
use crate::state::{Halt, Result, View};
use crate::value::Precision;
use visakit_isa::operand::Modifier;
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Instruction, enums};

/// Byte n (or word n) of a result is that of the dword which the four bits n of the second source choose.
pub(crate) fn shuffle(
    view: &mut View<'_, '_>,
    instruction: &Instruction,
    running: u32,
) -> Result<()> {
    let mut lanes = view.lanes(instruction, running)?;
    lanes.mask &= view.predication(instruction, lanes)?;
    let [table, indices] = [F::Src0, F::Src1].map(|name| vector(instruction, name));
    let (table, indices) = (table?, indices?);
    if table.modifier() != Modifier::NONE || indices.modifier() != Modifier::NONE {
        return Err(Halt::Undefined("modifiers of a shuffle"));
    }
    let mut dwords = Vec::new();
    for n in 0..16 {
        let element = view.source(&table, n)?;
        if element.ty != DataType::Ud || !element.defined {
            return Err(Halt::Undefined("a table that is not 16 dwords"));
        }
        dwords.push(element.bits.to_le_bytes());
    }
    let mut results = Vec::new();
    for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
        let element = view.source(&indices, lane)?;
        let chosen = |n: usize| {
            let index = usize::try_from(element.bits >> (4 * n) & 0xf).unwrap_or(0);
            dwords.get(index).copied().unwrap_or_default()
        };
        let bytes = match element.ty {
            _ if !element.defined => return Err(Halt::Undefined("indices")),
            DataType::Uw => [chosen(0)[0], chosen(1)[1], chosen(2)[2], chosen(3)[3]],
            DataType::Ub => [chosen(0)[0], chosen(0)[1], chosen(1)[2], chosen(1)[3]],
            _ => return Err(Halt::Undefined("types of a shuffle")),
        };
        results.push((lane, u32::from_le_bytes(bytes)));
    }
    store(view, instruction, results)
}

/// Two pairs of floats to four numbers of four bits, in eight places of a dword.
pub(crate) fn scale_down(
    view: &mut View<'_, '_>,
    instruction: &Instruction,
    running: u32,
) -> Result<()> {
    use enums::{dnscl_convert_type as convert, dnscl_mode as mode, dnscl_round_mode as round};
    let mut lanes = view.lanes(instruction, running)?;
    lanes.mask &= view.predication(instruction, lanes)?;
    let number = |name| Ok(u8::try_from(number(instruction, name)?).unwrap_or(u8::MAX));
    if number(F::RoundMode)? != round::RNE {
        return Err(Halt::Undefined("rounding by random bits"));
    }
    let (format, float) = match number(F::ConvertType)? {
        convert::BFTOE2M1 => (Format::Brain, true),
        convert::BFTOINT4 => (Format::Brain, false),
        convert::HFTOE2M1 => (Format::Half, true),
        convert::HFTOINT4 => (Format::Half, false),
        _ => return Err(Halt::Undefined("conversion")),
    };
    // Which word goes into each four bits of the result, from the lowest: 0 and 1 are those of the first source.
    let packing: [Option<usize>; 8] = match number(F::Mode)? {
        mode::MODE0 => [Some(0), Some(1), None, None, Some(2), Some(3), None, None],
        mode::MODE1 => [Some(0), Some(2), None, None, Some(1), Some(3), None, None],
        mode::MODE2 => [None, None, Some(0), Some(1), None, None, Some(2), Some(3)],
        mode::MODE3 => [None, None, Some(0), Some(2), None, None, Some(1), Some(3)],
        _ => return Err(Halt::Undefined("packing")),
    };
    let mut results = Vec::new();
    for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
        let mut words = Vec::new();
        for name in [F::Src0, F::Src1] {
            let (operand, _) = view.raw_operand(instruction, name)?;
            for half in 0..2 {
                let place = view.raw_place(operand, lane * 4 + half * 2)?;
                let (bits, defined) = view.read(place, 2)?;
                let value = Real { format, bits };
                if !defined || value.is_nan() {
                    return Err(Halt::Undefined("what NaN becomes in four bits"));
                }
                words.push(four_bits(value, float));
            }
        }
        let bits = packing.iter().enumerate().fold(0, |bits, (n, word)| {
            let code = word.and_then(|w| words.get(w)).copied().unwrap_or(0);
            bits | u32::from(code) << (4 * n)
        });
        results.push((lane, bits));
    }
    store(view, instruction, results)
}

/// The nearest of the sixteen numbers, of two the one whose code is even.
fn four_bits(value: Real, float: bool) -> u8 {
    let exact = value.to_f64();
    let distance = |code: u8| {
        let number = if float {
            let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][usize::from(code & 7)];
            if code & 8 == 0 { magnitude } else { -magnitude }
        } else {
            f64::from(code) - if code < 8 { 0.0 } else { 16.0 }
        };
        (number - exact.clamp(-8.0, 8.0)).abs()
    };
    // Zero keeps its sign.
    let negative = u8::from(value.is_negative()) * 8;
    let codes = (0..8).map(|n| n ^ if float { negative } else { 0 });
    let rest = (8..16).map(|n| n ^ if float { negative } else { 0 });
    let nearer = |best: u8, code: u8| {
        let (a, b) = (distance(best), distance(code));
        let even = best & 1 != 0 && code & 1 == 0;
        if b < a || b == a && even { code } else { best }
    };
    codes.chain(rest).reduce(nearer).unwrap_or(0)
}

fn store(
    view: &mut View<'_, '_>,
    instruction: &Instruction,
    results: Vec<(usize, u32)>,
) -> Result<()> {
    let (dst, ty) = view.raw_operand(instruction, F::Dst)?;
    for (lane, bits) in results {
        let place = view.raw_place(dst, lane * 4)?;
        view.write(place, bits.into(), ty, Precision::Exact)?;
    }
    Ok(())
}
