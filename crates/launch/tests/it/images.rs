//! Images of all kinds, read and written by a kernel as its compiler left it.

#![allow(missing_docs)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "tests"
)]

use std::path::{Path, PathBuf};
use visakit_launch::{
    Argument, Config, Image, ImageKind, Kernel, LaunchError, NdRange, Outcome, Source, ZeInfo,
    format,
};

const DEVICES: [&str; 2] = ["skl", "acm-g10"];

/// Names, first value and sizes of the images, whose values go up by one from texel to texel.
const IMAGES: [(&str, u32, &[u32]); 6] = [
    ("image1d", 1, &[4]),
    ("image1d_buffer", 101, &[4]),
    ("image1d_array", 201, &[4, 3]),
    ("image2d_array", 301, &[4, 4, 2]),
    ("image3d", 401, &[4, 4, 3]),
    ("image2d_array", 0, &[4, 4, 2]),
];

fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/kernels")
        .join(file)
}

fn image((name, first, sizes): (&str, u32, &[u32])) -> Image {
    let values = first..first + sizes.iter().product::<u32>();
    let bytes = values.flat_map(|v| (v as f32).to_le_bytes()).collect();
    let red = format("R", "FLOAT").unwrap();
    Image::new(ImageKind::by_name(name).unwrap(), sizes, None, red, bytes).unwrap()
}

fn arguments() -> Vec<Argument> {
    let images = IMAGES.map(|row| Argument::Image(image(row)));
    images
        .into_iter()
        .chain([Argument::Buffer(vec![0; 8 * 32 * 4])])
        .collect()
}

fn launch(device: &str, arguments: &[Argument]) -> Result<Outcome, LaunchError> {
    let zeinfo = std::fs::read_to_string(fixture(&format!("images.{device}.zeinfo"))).unwrap();
    let source = Source::open(&fixture(&format!("images.{device}.visaasm")))?;
    let object = source.object(32)?;
    let kernel = Kernel::new(&object, "images", &ZeInfo::parse(&zeinfo)?)?;
    let range = NdRange::new(&[32], &[32], &[]).unwrap();
    kernel.run(&range, arguments, &Config::default())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.as_chunks().0.iter();
    words.map(|b| f32::from_le_bytes(*b)).collect()
}

/// What the kernel writes at `i` of each of its eight parts, according to the definition of OpenCL.
fn expected(i: i32) -> [f32; 8] {
    let (x, y, z) = (i & 3, i >> 2 & 3, i >> 4);
    let line = |x: i32| if x < 0 { 0.0 } else { (1 + x) as f32 };
    let volume = |x: i32, z: i32| {
        if x < 0 || z < 0 {
            0.0
        } else {
            (401 + x + 4 * y + 16 * z) as f32
        }
    };
    [
        line((x - 1).max(0)),
        (101 + x) as f32,
        // The number of a line is rounded and stays inside of the array,
        (201 + x + 4 * (y - 1).max(0)) as f32,
        // that of a plane as well; 2.5 is past the last one.
        (301 + x + 4 * y + 16 * z) as f32,
        // The third dimension of a volume is rounded down like the others.
        volume(x, 2 * z),
        f32::midpoint(line(x - 1), line(x)),
        (volume(x - 1, z - 1) + volume(x, z - 1) + volume(x - 1, z) + volume(x, z)) / 4.0,
        (4 + 10 * 3 + 100 * 2 + 1000 * 3 + 10000 * 4) as f32,
    ]
}

#[test]
fn every_kind_is_read_and_written() {
    for device in DEVICES {
        let outcome = launch(device, &arguments()).unwrap();
        let out = floats(outcome.memory(6).unwrap());
        for i in 0..32_u8 {
            for (part, want) in expected(i.into()).into_iter().enumerate() {
                let got = out[part * 32 + usize::from(i)];
                assert_eq!(got, want, "{device}: part {part}, item {i}");
            }
        }
        // Each texel of the copy has the number of the item that wrote it.
        let copy = floats(outcome.memory(5).unwrap());
        for i in 0..32 {
            let (x, y, z) = (i & 3, i >> 2 & 3, i >> 4);
            assert_eq!(copy[(3 - x) + 4 * y + 16 * (1 - z)], i as f32, "{device}");
        }
    }
}

#[test]
fn images_that_do_not_fit_are_refused() {
    for (index, row) in [(4, &[4, 4, 4][..]), (3, &[4, 4, 9]), (2, &[4, 9])] {
        let mut arguments = arguments();
        let (name, first, sizes) = IMAGES[index];
        let mut wrong = image((name, first, row));
        wrong
            .bytes
            .truncate(image((name, first, sizes)).bytes.len());
        arguments[index] = Argument::Image(wrong);
        let error = launch("skl", &arguments).unwrap_err().to_string();
        assert!(error.contains("does not fit into"), "{name}: {error}");
    }
    let mut arguments = arguments();
    let mut slices = image(IMAGES[4]);
    slices.slice_pitch = 32;
    arguments[4] = Argument::Image(slices);
    let error = launch("skl", &arguments).unwrap_err().to_string();
    assert!(error.contains("slices at 32 bytes"), "{error}");
}
