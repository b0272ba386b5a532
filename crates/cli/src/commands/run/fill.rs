//! Contents of buffers: random numbers, counting ones, arrays of NumPy.

use visakit::isa::DataType;

/// What a buffer begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fill {
    /// Floats from 0 to 1; integers from 0 to below a bound, by default all that the type has without its sign.
    Random,
    /// 0, 1, 2 …, from the start again where the type ends.
    Iota,
}

impl Fill {
    /// The fill of that name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "random" => Some(Self::Random),
            "iota" => Some(Self::Iota),
            _ => None,
        }
    }

    /// Fills bytes with elements of a type; the same numbers for the same seed. Random integers are below the bound.
    pub(crate) fn fill(self, bytes: &mut [u8], ty: DataType, seed: u64, bound: Option<u64>) {
        let mut state = seed;
        for (index, element) in bytes.chunks_mut(usize::from(ty.size()).max(1)).enumerate() {
            let index = u64::try_from(index).unwrap_or(u64::MAX);
            let bits = match self {
                Self::Iota => count(index, ty),
                Self::Random => random(next(&mut state), ty, bound),
            };
            for (to, from) in element.iter_mut().zip(bits.to_le_bytes()) {
                *to = from;
            }
        }
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The bits of a number as an element of a type: exact as long as the type has it.
fn count(index: u64, ty: DataType) -> u64 {
    // The largest integer that halves and brain floats reach in steps of one.
    let exact = match ty {
        DataType::Hf => 1 << 11,
        DataType::Bf => 1 << 8,
        DataType::F => 1 << 24,
        _ => u64::MAX,
    };
    let number = index % exact;
    let text = || number.to_string();
    match ty.is_float() {
        true => bits(&visakit_launch::value::parse(&text(), ty).unwrap_or_default()),
        false => index,
    }
}

fn bits(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide.iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(wide)
}

/// The bits of a random element.
fn random(number: u64, ty: DataType, bound: Option<u64>) -> u64 {
    // Random mantissas under the exponent of [1, 2), less 1, but for short floats, which have [0.5, 1).
    #[allow(clippy::cast_possible_truncation, reason = "f32 has 24 of the bits")]
    match ty {
        DataType::F => (f32::from_bits(0x3f80_0000 | (number >> 41) as u32) - 1.0)
            .to_bits()
            .into(),
        DataType::Df => (f64::from_bits(0x3ff0_0000_0000_0000 | (number >> 12)) - 1.0).to_bits(),
        DataType::Hf => 0x3800 | (number >> 54),
        DataType::Bf => 0x3f00 | (number >> 57),
        _ => {
            let width = u32::from(ty.size()) * 8 - u32::from(ty.is_signed());
            let most = u64::MAX >> (64 - width.clamp(1, 64));
            let bound = bound.unwrap_or(u64::MAX).max(1);
            (number >> 1) % bound.min(most.saturating_add(1))
        }
    }
}

/// An array of NumPy's file format, versions 1 to 3 (numpy.lib.format): the type of its elements and its bytes in C order.
pub(crate) fn numpy(file: &[u8]) -> Result<(DataType, &[u8]), String> {
    let wrong = || "is no array of NumPy".to_owned();
    let rest = file.strip_prefix(MAGIC).ok_or_else(wrong)?;
    let (version, rest) = rest.split_at_checked(2).ok_or_else(wrong)?;
    // The length of the header has two bytes in version 1, four later.
    let wide = if version.first() == Some(&1) { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(wide).ok_or_else(wrong)?;
    let length = usize::try_from(bits(length)).map_err(|_| wrong())?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(wrong)?;
    let header = std::str::from_utf8(header).map_err(|_| wrong())?;
    let value = |key: &str| {
        let (_, rest) = header.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let descr = value("descr").and_then(|v| v.strip_prefix('\'')?.split('\'').next());
    let descr = descr.ok_or("has fields: arrays of one type are taken")?;
    if value("fortran_order").is_some_and(|v| v.starts_with("True")) {
        return Err("is in Fortran order: save np.ascontiguousarray(array)".to_owned());
    }
    let ty = match descr.trim_start_matches(['<', '|', '=']) {
        "u1" | "b1" => DataType::Ub,
        "i1" => DataType::B,
        "u2" => DataType::Uw,
        "i2" => DataType::W,
        "u4" => DataType::Ud,
        "i4" => DataType::D,
        "u8" => DataType::Uq,
        "i8" => DataType::Q,
        "f2" => DataType::Hf,
        "f4" => DataType::F,
        "f8" => DataType::Df,
        _ => {
            return Err(format!(
                "has elements of type {descr}, which no kernel takes"
            ));
        }
    };
    Ok((ty, data))
}

/// The first bytes of NumPy's files.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Whether a file begins as an array of NumPy.
pub(crate) fn is_numpy(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use visakit_launch::value::show;

    const TYPES: [DataType; 12] = [
        DataType::Ub,
        DataType::B,
        DataType::Uw,
        DataType::W,
        DataType::Ud,
        DataType::D,
        DataType::Uq,
        DataType::Q,
        DataType::Hf,
        DataType::Bf,
        DataType::F,
        DataType::Df,
    ];

    #[test]
    fn random_numbers_are_in_their_range() {
        for ty in TYPES {
            for bound in [None, Some(1), Some(7), Some(1 << 40)] {
                let mut bytes = vec![0; 1000 * usize::from(ty.size())];
                Fill::Random.fill(&mut bytes, ty, 1, bound);
                let numbers: Vec<f64> = show(&bytes, ty).map(|e| e.parse().unwrap()).collect();
                let most = bound.filter(|_| !ty.is_float()).unwrap_or(u64::MAX);
                for number in &numbers {
                    assert!(*number >= 0.0, "{ty} {number}");
                    assert!(if ty.is_float() {
                        *number <= 1.0
                    } else {
                        *number < most as f64
                    });
                }
                let mut again = vec![0; bytes.len()];
                Fill::Random.fill(&mut again, ty, 1, bound);
                assert_eq!(again, bytes);
            }
        }
    }

    #[test]
    fn counting_begins_at_zero() {
        for ty in TYPES {
            let mut bytes = vec![0xff; 9 * usize::from(ty.size())];
            Fill::Iota.fill(&mut bytes, ty, 1, None);
            let numbers: Vec<f64> = show(&bytes, ty).map(|e| e.parse().unwrap()).collect();
            assert_eq!(numbers, [0., 1., 2., 3., 4., 5., 6., 7., 8.], "{ty}");
        }
    }

    #[test]
    fn arrays() {
        let file = |header: &str, data: &[u8]| {
            let length = u16::try_from(header.len()).unwrap().to_le_bytes();
            [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), data].concat()
        };
        let plain = file(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
            &[1; 8],
        );
        assert_eq!(numpy(&plain).unwrap(), (DataType::F, &[1; 8][..]));
        for cut in 0..plain.len() - 8 {
            assert!(numpy(plain.get(..cut).unwrap()).is_err());
        }
        for header in [
            "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }",
            "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }",
            "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
        ] {
            assert!(numpy(&file(header, &[])).is_err(), "{header}");
        }
    }
}
