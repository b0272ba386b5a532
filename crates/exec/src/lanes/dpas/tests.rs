//! Systolic products by hand.

use super::*;
use crate::lanes::simd::Plain;
use proptest::prelude::*;
use visakit_isa::enums::precision as p;

#[test]
fn signed_bytes() {
    // One row, one step: D = C + A x B with four products.
    let plan = Plan::new(p::S8, p::U8, 1, 1, 8).unwrap();
    let plan = plan.with_types(DataType::D, Some(DataType::D)).unwrap();
    assert_eq!(plan.sizes().weights, 32);
    assert_eq!(plan.sizes().activations, 4);
    let mut file = vec![0u8; 128];
    for lane in 0..8 {
        file[lane * 4] = lane as u8;
        file[32 + lane * 4..][..4].copy_from_slice(&[0xff, 2, 3, lane as u8]);
    }
    let places = Places {
        result: 64,
        accumulator: Some(0),
        weights: 32,
        weight_scales: None,
        activation_scales: None,
    };
    plan.run(Simd::default(), &mut file, &[10, 20, 30, 255], places, 0x7f);
    let result: Vec<i32> = file[64..96]
        .chunks(4)
        .map(|c| i32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let want = |lane: i32| lane - 10 + 40 + 90 + 255 * lane;
    assert_eq!(result[..7], (0..7).map(want).collect::<Vec<_>>());
    assert_eq!(result[7], 0, "disabled lane");
}
#[test]
fn blocks_of_four_bit_floats_have_scales_of_their_own() {
    let plan = Plan::new(p::E2M1, p::E2M1, 8, 8, 16).unwrap();
    let plan = plan.with_types(DataType::F, None).unwrap();
    let sizes = plan.sizes();
    assert_eq!((sizes.weights, sizes.activations), (512, 256));
    assert_eq!((sizes.weight_scales, sizes.activation_scales), (48, 40));
    // Weights are 1, activations 0.5 (two elements a byte); the register file holds weights, scales, result.
    let mut file = vec![0x22u8; 512];
    file.resize(512 + 64 + 64 + 512, 0);
    let (weight_scales, activation_scales, result) = (512, 576, 640);
    for lane in 0..16 {
        file[weight_scales + lane] = 127 + lane as u8 % 8;
        file[weight_scales + 32 + lane] = 127;
    }
    for row in 0..8 {
        file[activation_scales + row] = 127;
        file[activation_scales + 32 + row] = 127 - row as u8;
    }
    let places = Places {
        result,
        accumulator: None,
        weights: 0,
        weight_scales: Some(weight_scales),
        activation_scales: Some(activation_scales),
    };
    plan.run(Simd::default(), &mut file, &[0x11; 256], places, 0xffff);
    for row in 0..8 {
        for lane in 0..16 {
            let at = result + (row * 16 + lane) * 4;
            let bytes = [file[at], file[at + 1], file[at + 2], file[at + 3]];
            let want = 16.0 * 2f32.powi(lane as i32 % 8) + 16.0 * 2f32.powi(-(row as i32));
            assert_eq!(f32::from_le_bytes(bytes), want, "row {row} lane {lane}");
        }
    }
    assert!(e8m0(0xff).is_nan());
    assert_eq!(e8m0(0), 2f64.powi(-127));
}

/// Element n of this many bits, of all in `bytes`.
fn element(bytes: &[u8], n: usize, width: u32) -> u32 {
    let bit = n * width as usize;
    let word = u32::from_le_bytes(bytes[bit / 32 * 4..][..4].try_into().unwrap());
    word >> (bit % 32) & (u32::MAX >> (32 - width))
}

/// The results, product by product.
fn slowly(plan: Plan, file: &[u8], activations: &[u8], places: Places) -> Vec<u32> {
    let (operations, depth) = (plan.operations, plan.depth);
    let wide = |ty, n| match ty {
        DataType::Bf => bf16::from_bits(n as u16).to_f32(),
        DataType::Hf => f16::from_bits(n as u16).to_f32(),
        _ => f32::from_bits(n),
    };
    let scale = |place: Option<usize>, block, n| {
        place.map_or(1.0, |place| e8m0(file[place + block * BLOCK_SCALES + n]))
    };
    let mut results = Vec::new();
    for (row, lane) in (0..plan.repeat).flat_map(|row| (0..plan.lanes).map(move |l| (row, l))) {
        let n = row * plan.lanes + lane;
        let width = 8 * plan.accumulator_bytes() as u32;
        let start = places
            .accumulator
            .map_or(0, |a| element(&file[a..], n, width));
        let (mut integer, mut float) = (start, wide(plan.accumulator, start));
        for step in 0..depth {
            let mut exact = f64::from(float);
            for k in step * operations..(step + 1) * operations {
                let width = plan.weights.bits();
                let per_word = 32 / width as usize;
                let place = places.weights + (k / per_word * plan.lanes + lane) * 4;
                let w = element(&file[place..], k % per_word, width);
                let n = row * depth * operations + k;
                let a = element(activations, n, plan.activations.bits());
                if plan.weights.is_integer() {
                    let ([w], [a]) = (plan.weights.integers([w]), plan.activations.integers([a]));
                    integer = integer.wrapping_add((w as i32 * a as i32) as u32);
                } else {
                    let ([w], [a]) = (plan.weights.floats([w]), plan.activations.floats([a]));
                    let scale = scale(places.weight_scales, k / BLOCK, lane)
                        * scale(places.activation_scales, k / BLOCK, row);
                    exact += w * a * scale;
                }
            }
            float = exact as f32;
        }
        let float = if float.is_nan() { f32::NAN } else { float };
        results.push(match plan.result {
            DataType::Bf => bf16::from_f32(float).to_bits().into(),
            DataType::Hf => f16::from_f32(float).to_bits().into(),
            DataType::F => float.to_bits(),
            _ => integer,
        });
    }
    results
}

proptest! {
    /// Both forms of the code, and one product after the other, are the same to the bit, NaNs included.
    #[test]
    #[cfg_attr(miri, ignore)] // takes minutes there
    fn forms_agree(
        bytes in prop::collection::vec(any::<u8>(), 3072),
        (weights, activations) in prop::sample::select(vec![
            (p::U1, p::U1), (p::S2, p::U4), (p::U2, p::S8), (p::S4, p::S4), (p::U4, p::S8), (p::S8, p::U8),
            (p::BF, p::BF), (p::HF, p::HF), (p::TF32, p::TF32), (p::BF8, p::HF8), (p::E2M1, p::E2M1),
        ]),
        depth in prop::sample::select(vec![1, 2, 4, 8u8]),
        repeat in 1..=8u8,
        lanes in prop::sample::select(vec![8, 16usize]),
        narrow in prop::sample::select(vec![DataType::F, DataType::Bf, DataType::Hf]),
        (added, scaled) in any::<(bool, bool)>(),
        mask in any::<u32>(),
    ) {
        let plan = Plan::new(weights, activations, depth, repeat, lanes).unwrap();
        let ty = if plan.weights.is_integer() { DataType::D } else { narrow };
        let plan = plan.with_types(ty, None).unwrap();
        let scaled = scaled && !plan.weights.is_integer();
        let (activations, file) = bytes.split_at(512);
        let places = Places {
            accumulator: added.then_some(512),
            weights: 0,
            weight_scales: scaled.then_some(1024),
            activation_scales: scaled.then_some(1100),
            result: 1536,
        };
        let want = slowly(plan, file, activations, places);
        let mut fast = file.to_vec();
        plan.run(Simd::default(), &mut fast, activations, places, mask);
        let mut plain = file.to_vec();
        let product = Product { plan, file: &mut plain, activations, places, mask };
        match lanes {
            8 => Plain.call(Lanes::<8>(product)),
            _ => Plain.call(Lanes::<16>(product)),
        }
        prop_assert_eq!(&fast, &plain);
        let width = 8 * plan.result_bytes() as u32;
        for (n, want) in want.into_iter().enumerate() {
            let found = element(&fast[places.result..], n, width);
            let before = element(&file[places.result..], n, width);
            let enabled = mask >> (n % lanes) & 1 != 0;
            prop_assert_eq!(found, if enabled { want } else { before }, "element {}", n);
        }
    }
}
