//! Numbers as people write them, into bytes and back.

use half::{bf16, f16};
use visakit_isa::DataType;

/// Reads numbers of a type, separated by commas: decimal, `0x` hex, and for floats also `inf`, `nan` or the bits in
/// hex.
///
/// # Errors
/// Text that is not a number of that type.
pub fn parse(text: &str, ty: DataType) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for word in text.split(',') {
        bytes.extend(number(word.trim(), ty)?);
    }
    Ok(bytes)
}

fn number(word: &str, ty: DataType) -> Result<Vec<u8>, String> {
    let fault = || format!("`{word}` is no number of type {ty}");
    let size = usize::from(ty.size());
    let bits = match hex(word) {
        Some(bits) => i128::from(bits),
        None if ty.is_float() => {
            let value: f64 = word.parse().map_err(|_| fault())?;
            // The shortest way to the nearest value: single floats are not rounded twice.
            let single = || word.parse::<f32>().map_err(|_| fault());
            i128::from(match ty {
                DataType::Df => value.to_bits(),
                DataType::F => single()?.to_bits().into(),
                DataType::Hf => f16::from_f64(value).to_bits().into(),
                _ => bf16::from_f64(value).to_bits().into(),
            })
        }
        None => word.parse::<i128>().map_err(|_| fault())?,
    };
    let width = u32::try_from(size * 8).unwrap_or(64);
    let least = if ty.is_signed() {
        -(1_i128 << (width - 1))
    } else {
        0
    };
    // Hex gives the bits, whatever the sign.
    let most = if ty.is_signed() && hex(word).is_none() {
        (1_i128 << (width - 1)) - 1
    } else {
        (1_i128 << width) - 1
    };
    if !(least..=most).contains(&bits) {
        return Err(format!(
            "`{word}` does not fit into {width} bits of type {ty}"
        ));
    }
    let all = bits.to_le_bytes();
    Ok(all.get(..size).unwrap_or_default().to_vec())
}

fn hex(word: &str) -> Option<u64> {
    let digits = word
        .strip_prefix("0x")
        .or_else(|| word.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok()
}

/// A type by its name in vISA text or by the names that programmers use: `u32`, `i8`, `f32`, `f16` …
#[must_use]
pub fn type_of(name: &str) -> Option<DataType> {
    let own = DataType::ALL.into_iter();
    let mut own = own.filter(|t| !t.is_packed() && *t != DataType::Bool);
    if let Some(found) = own.find(|t| t.name() == name) {
        return Some(found);
    }
    Some(match name {
        "u8" | "uchar" => DataType::Ub,
        "i8" | "char" => DataType::B,
        "u16" | "ushort" => DataType::Uw,
        "i16" | "short" => DataType::W,
        "u32" | "uint" => DataType::Ud,
        "i32" | "int" => DataType::D,
        "u64" | "ulong" => DataType::Uq,
        "i64" | "long" => DataType::Q,
        "f16" | "half" => DataType::Hf,
        "bf16" => DataType::Bf,
        "f32" | "float" => DataType::F,
        "f64" | "double" => DataType::Df,
        _ => return None,
    })
}

/// The elements of a type as text.
pub fn show(bytes: &[u8], ty: DataType) -> impl Iterator<Item = String> + '_ {
    bytes
        .chunks(usize::from(ty.size()).max(1))
        .map(move |element| one(element, ty))
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "bits of a narrower element"
)]
fn one(element: &[u8], ty: DataType) -> String {
    let mut wide = [0; 8];
    for (to, from) in wide.iter_mut().zip(element) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(wide);
    match ty {
        DataType::B => (bits as i8).to_string(),
        DataType::W => (bits as i16).to_string(),
        DataType::D => (bits as i32).to_string(),
        DataType::Q => bits.cast_signed().to_string(),
        DataType::Df => float(f64::from_bits(bits)),
        DataType::F => float(f32::from_bits(bits as u32)),
        DataType::Hf => float(f16::from_bits(bits as u16).to_f32()),
        DataType::Bf => float(bf16::from_bits(bits as u16).to_f32()),
        _ => bits.to_string(),
    }
}

/// Large and tiny numbers with an exponent.
fn float(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn there_and_back(text: &str, ty: DataType) -> String {
        let bytes = parse(text, ty).unwrap();
        show(&bytes, ty).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn numbers() {
        assert_eq!(there_and_back("1,-2, 0xffffffff", DataType::D), "1,-2,-1");
        assert_eq!(there_and_back("255,0x10", DataType::Ub), "255,16");
        assert_eq!(
            there_and_back("1.5,-0,inf,0x3f800000", DataType::F),
            "1.5,-0.0,inf,1.0"
        );
        assert_eq!(there_and_back("0.1", DataType::F), "0.1");
        assert_eq!(there_and_back("0.5", DataType::Hf), "0.5");
        assert_eq!(
            there_and_back("18446744073709551615", DataType::Uq),
            "18446744073709551615"
        );
        assert!(parse("256", DataType::Ub).is_err());
        assert!(parse("-1", DataType::Ud).is_err());
        assert!(parse("128", DataType::B).is_err());
        assert!(parse("x", DataType::F).is_err());
        assert!(parse("", DataType::D).is_err());
    }

    #[test]
    fn names_of_types() {
        assert_eq!(type_of("u32"), Some(DataType::Ud));
        assert_eq!(type_of("hf"), Some(DataType::Hf));
        assert_eq!(type_of("v"), None);
        assert_eq!(type_of("bool"), None);
    }
}
