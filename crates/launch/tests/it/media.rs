//! Kernels that media libraries ship, run on surfaces of our making and compared with direct computation.

#![allow(missing_docs)]
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_pass_by_value,
    reason = "tests"
)]

use std::path::Path;
use visakit_launch::{
    Config, Dependency, Media, MediaOutcome, MediaSurface, Source, SurfaceShape, Target,
    find_kernel,
};

/// Bytes that look random.
fn noise(count: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// A shipped object, or `None` if there are none.
fn shipped(file: &str) -> Option<Source> {
    let folder = visakit_testing::shared("a test of media kernels", "corpus/isa")?;
    Some(Source::open(&folder.join(file)).unwrap())
}

/// The inputs of a kernel.
struct Run<'r> {
    kernel: Option<&'r str>,
    space: [u32; 2],
    group: Option<[u32; 2]>,
    surfaces: Vec<(Vec<u8>, Option<SurfaceShape>)>,
    values: &'r [(usize, &'r str)],
}

/// Surfaces are the first inputs.
fn run(source: &Source, what: Run<'_>) -> MediaOutcome {
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, what.kernel).unwrap();
    let mut media = Media::new(&object, id, 32, &Config::default()).unwrap();
    for (number, (bytes, shape)) in what.surfaces.into_iter().enumerate() {
        media
            .surface(Target::Input(number), &MediaSurface { bytes, shape })
            .unwrap();
    }
    for (number, value) in what.values {
        media.input(*number, value).unwrap();
    }
    media.space = what.space;
    media.group = what.group;
    let outcome = media.run(&Config::default()).unwrap();
    assert!(outcome.counters.instructions > 0);
    outcome
}

const fn shape(width: u32, height: u32, pitch: u32) -> Option<SurfaceShape> {
    Some(SurfaceShape {
        width,
        height,
        pitch,
    })
}

#[test]
fn scaling_by_two() {
    let Some(source) = shipped("genx_hevce_down_sample_mb_skl-634913da.isa") else {
        return;
    };
    let (width, height, pitch) = (64_usize, 48_usize, 80_usize);
    let from = noise(pitch * height, 1);
    let surfaces = vec![
        (from.clone(), shape(64, 48, 80)),
        (vec![0; 32 * 24], shape(32, 24, 32)),
    ];
    let run = run(
        &source,
        Run {
            kernel: None,
            space: [4, 3],
            group: None,
            surfaces,
            values: &[],
        },
    );
    let got = run.surface(Target::Input(1)).unwrap();
    for y in 0..height / 2 {
        for x in 0..width / 2 {
            let at = |dx: usize, dy: usize| u32::from(from[(2 * y + dy) * pitch + 2 * x + dx]);
            let want = (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) >> 2;
            assert_eq!(u32::from(got[y * 32 + x]), want, "at {x}, {y}");
        }
    }
}

#[test]
fn scaling_by_two_and_four() {
    let Some(source) = shipped("genx_hevce_down_sample_mb_2tiers_skl-ea60b0a5.isa") else {
        return;
    };
    let from = noise(64 * 32, 2);
    let surfaces = vec![
        (from.clone(), shape(64, 32, 64)),
        (vec![0; 32 * 16], shape(32, 16, 32)),
        (vec![0; 16 * 8], shape(16, 8, 16)),
    ];
    let run = run(
        &source,
        Run {
            kernel: None,
            space: [2, 2],
            group: None,
            surfaces,
            values: &[],
        },
    );
    let half = |from: &[u8], width: usize| -> Vec<u8> {
        let rows = from.len() / width;
        let place = (0..rows / 2).flat_map(|y| (0..width / 2).map(move |x| (x, y)));
        place
            .map(|(x, y)| {
                let at = |dx, dy| u32::from(from[(2 * y + dy) * width + 2 * x + dx]);
                ((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) >> 2) as u8
            })
            .collect()
    };
    let first = half(&from, 64);
    assert_eq!(run.surface(Target::Input(1)).unwrap(), first);
    assert_eq!(run.surface(Target::Input(2)).unwrap(), half(&first, 32));
}

#[test]
fn point_sampling() {
    let Some(source) = shipped("asc_gen11lp_isa-34f477cd.isa") else {
        return;
    };
    for (width, height) in [(192_usize, 40_usize), (64, 24)] {
        let from = noise(width * height, 3);
        let (w, h) = (width as u32, height as u32);
        let surfaces = vec![
            (from.clone(), shape(w, h, w)),
            (vec![0; 64 * 8], shape(64, 8, 64)),
        ];
        let sizes = [w.to_string(), h.to_string()];
        let values = [
            (2, sizes[0].as_str()),
            (3, sizes[1].as_str()),
            (4, "64"),
            (5, "8"),
        ];
        let kernel = Some("SubSamplePoint_p");
        let run = run(
            &source,
            Run {
                kernel,
                space: [4, 8],
                group: None,
                surfaces,
                values: &values,
            },
        );
        let got = run.surface(Target::Input(1)).unwrap();
        let (step_x, step_y) = (width / 64, height / 8);
        for y in 0..8 {
            // Even steps alternate between the fields.
            let row = step_y * y + if step_y % 2 == 0 { y % 2 } else { 0 };
            for x in 0..64 {
                assert_eq!(
                    got[y * 64 + x],
                    from[row * width + step_x * x],
                    "at {x}, {y}"
                );
            }
        }
    }
}

#[test]
fn copying() {
    let Some(source) = shipped("asc_gen11lp_isa-34f477cd.isa") else {
        return;
    };
    let from = noise(128 * 32, 4);
    let surfaces = vec![
        (from.clone(), shape(128, 32, 128)),
        (vec![0; 128 * 32], shape(128, 32, 128)),
    ];
    let kernel = Some("surfaceCopy_Y");
    let run = run(
        &source,
        Run {
            kernel,
            space: [4, 4],
            group: None,
            surfaces,
            values: &[],
        },
    );
    assert_eq!(run.surface(Target::Input(1)).unwrap(), from);
}

/// Fields of an NV12 picture: from the rows of one parity into those of another, or between a frame and two fields.
#[test]
fn copying_fields() {
    for file in [
        "genx_fcopy_gen8-83609af3.isa",
        "genx_fcopy_gen11-58b50d46.isa",
        "genx_fcopy_cmcode-0db8f9bf.isa",
    ] {
        let Some(source) = shipped(file) else { return };
        let (width, height) = (32_usize, 64_usize);
        let whole = width * height * 3 / 2;
        for mode in 0..8_usize {
            // Modes 4 and 5 weave a picture of half the height in, 6 and 7 take a field out.
            let (from_height, to_height) = match mode {
                0..=3 => (height, height),
                4 | 5 => (height / 2, height),
                _ => (height, height / 2),
            };
            let from = noise(width * from_height * 3 / 2, 5);
            let before = noise(width * to_height * 3 / 2, 6);
            assert!(from.len() <= whole && before.len() <= whole);
            let surfaces = vec![
                (from.clone(), shape(32, from_height as u32, 32)),
                (before.clone(), shape(32, to_height as u32, 32)),
            ];
            let rows = if mode < 4 { height } else { height / 2 };
            let text = mode.to_string();
            let run = run(
                &source,
                Run {
                    kernel: None,
                    space: [(width / 16) as u32, (rows / 16) as u32],
                    group: None,
                    surfaces,
                    values: &[(2, &text)],
                },
            );
            let got = run.surface(Target::Input(1)).unwrap();
            let mut want = before;
            // Luma, then chroma: first row and number of rows in both pictures.
            let planes = [
                (0, from_height, 0, to_height),
                (from_height, from_height / 2, to_height, to_height / 2),
            ];
            for (from_first, from_rows, to_first, to_rows) in planes {
                let pairs: Vec<(usize, usize)> = match mode {
                    0..=3 => {
                        let (to, from) = [(0, 0), (1, 0), (0, 1), (1, 1)][mode];
                        (0..to_rows / 2)
                            .map(|y| (2 * y + from, 2 * y + to))
                            .collect()
                    }
                    4 | 5 => (0..from_rows).map(|y| (y, 2 * y + mode - 4)).collect(),
                    _ => (0..to_rows).map(|y| (2 * y + mode - 6, y)).collect(),
                };
                for (a, b) in pairs {
                    let (a, b) = ((from_first + a) * width, (to_first + b) * width);
                    want[b..b + width].copy_from_slice(&from[a..a + width]);
                }
            }
            let first = got.iter().zip(&want).position(|(a, b)| a != b);
            assert_eq!(first, None, "{file}, mode {mode}: first wrong byte");
        }
    }
}

/// Groups that share local memory, meet at barriers and add up their counts with atomics.
#[test]
fn histogram() {
    for file in [
        "genx_cnl_histogram-1186aba3.isa",
        "genx_icl_histogram-6a1e75d8.isa",
    ] {
        let Some(source) = shipped(file) else { return };
        let (width, height) = (160_usize, 64_usize);
        let from = noise(width * height, 7);
        let mut want = [0_u32; 256];
        for pixel in &from {
            want[usize::from(*pixel)] += 1;
        }
        for (space, group) in [([1, 1], [1, 1]), ([8, 2], [4, 2]), ([4, 4], [2, 1])] {
            let surfaces = vec![(from.clone(), shape(160, 64, 160)), (vec![0; 1024], None)];
            let run = run(
                &source,
                Run {
                    kernel: Some("HistogramSLMFrame"),
                    space,
                    group: Some(group),
                    surfaces,
                    // Blocks of 32 x 8 in each direction, and the first of them.
                    values: &[(2, "5"), (3, "8"), (4, "0"), (5, "0")],
                },
            );
            let got = run.surface(Target::Input(1)).unwrap();
            let got: Vec<u32> = got
                .as_chunks()
                .0
                .iter()
                .map(|b| u32::from_le_bytes(*b))
                .collect();
            assert_eq!(
                got, want,
                "{file}, {space:?} threads in groups of {group:?}"
            );
        }
    }
}

/// The sum a thread computes from what others left at places.
type Terms = fn(&dyn Fn(usize, usize) -> u32, usize, usize) -> u32;

/// Each thread adds what its neighbours left before: only the right order yields the right sums.
#[test]
fn threads_wait_for_those_that_they_depend_on() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs/prefix_sum_2d.visaasm");
    let source = Source::open(&path).unwrap();
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let (width, height) = (12_usize, 9_usize);
    let sums = |dependency, terms: Terms| {
        let mut media = Media::new(&object, id, 32, &Config::default()).unwrap();
        // A border of one row and of one column on each side stays zero.
        let bytes = vec![0; (width + 2) * 4 * (height + 1)];
        let row = ((width + 2) * 4) as u32;
        let surface = MediaSurface {
            bytes,
            shape: shape(row, height as u32 + 1, row),
        };
        media.surface(Target::Input(0), &surface).unwrap();
        media.space = [width as u32, height as u32];
        media.dependency = dependency;
        let mut weights = [0_u32; 4];
        for (weight, probe) in weights.iter_mut().zip([(0, 1), (0, 0), (1, 0), (2, 0)]) {
            *weight = terms(&|x, y| u32::from((x, y) == probe), 1, 1);
        }
        media
            .input(1, &weights.map(|w| w.to_string()).join(","))
            .unwrap();
        let outcome = media.run(&Config::default()).unwrap();
        let got = outcome.surface(Target::Input(0)).unwrap();
        let got: Vec<u32> = got
            .as_chunks()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect();
        let mut want = vec![0_u32; (width + 2) * (height + 1)];
        for y in 1..=height {
            for x in 1..=width {
                let sum = terms(&|x, y| want[y * (width + 2) + x], x, y);
                want[y * (width + 2) + x] = sum.wrapping_add(1);
            }
        }
        assert_eq!(got, want, "{dependency:?}");
    };
    sums(Dependency::Vertical, |at, x, y| at(x, y - 1));
    sums(Dependency::Horizontal, |at, x, y| at(x - 1, y));
    sums(Dependency::Wavefront, |at, x, y| {
        at(x - 1, y)
            .wrapping_add(at(x - 1, y - 1))
            .wrapping_add(at(x, y - 1))
    });
    sums(Dependency::Wavefront26, |at, x, y| {
        let left = at(x - 1, y).wrapping_add(at(x - 1, y - 1));
        left.wrapping_add(at(x, y - 1))
            .wrapping_add(at(x + 1, y - 1))
    });
}
