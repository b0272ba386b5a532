//! Inputs of the benchmark kernels.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench; each takes what it needs"
)]

use visakit_launch::{Argument, NdRange};

/// The kernels of `fixtures/kernels/bench.cl`.
pub const KERNELS: [&str; 6] = [
    "mandelbrot",
    "nbody",
    "sha256",
    "xorshift",
    "matmul",
    "copy",
];

/// The kernels of `fixtures/kernels/real.cl`.
pub const REAL: [&str; 8] = [
    "stencil",
    "reduction",
    "histogram",
    "fft",
    "sort",
    "aes",
    "blackscholes",
    "spmv",
];

/// Name of the source and of the metadata of a kernel.
pub fn program(kernel: &str) -> &'static str {
    if REAL.contains(&kernel) {
        "real"
    } else {
        "bench"
    }
}

fn value(bytes: impl AsRef<[u8]>) -> Argument {
    Argument::Value(bytes.as_ref().to_vec())
}

/// Numbers that look random, the same each time.
fn generator() -> impl FnMut() -> u32 {
    let mut state = 1u32;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.wrapping_mul(0x9e37_79b1)
    }
}

/// Random words.
fn random(words: usize) -> Argument {
    let mut next = generator();
    Argument::Buffer((0..words).flat_map(|_| next().to_le_bytes()).collect())
}

/// Random floats in a range.
fn floats(count: usize, low: f32, high: f32) -> Argument {
    let mut next = generator();
    let mut float = || low + (high - low) * (next() >> 8) as f32 / (1 << 24) as f32;
    Argument::Buffer((0..count).flat_map(|_| float().to_le_bytes()).collect())
}

/// The input of a bench: all of [`work`] when measuring, and one group of it when `cargo test` only checks that the
/// bench runs.
pub fn bench_work(kernel: &str) -> (NdRange, Vec<Argument>) {
    let (mut range, arguments) = work(kernel);
    if !measured() {
        range.global = range.local;
    }
    (range, arguments)
}

/// Whether this runs under `cargo bench`, which passes an argument to the binary.
pub fn measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Grid and arguments of a kernel, large enough that starting it does not matter.
pub fn work(kernel: &str) -> (NdRange, Vec<Argument>) {
    let buffer = |bytes: usize| {
        let words = (0..bytes / 4).map(|i| (i % 1000) as f32 * 0.001);
        Argument::Buffer(words.flat_map(f32::to_le_bytes).collect())
    };
    let word = |n: u32| value(n.to_le_bytes());
    let float = |n: f32| value(n.to_le_bytes());
    let line = |items: u32| NdRange::new(&[items], &[256], &[]).unwrap();
    let items = 1 << 18;
    match kernel {
        "mandelbrot" => (
            line(items),
            vec![
                buffer(4 << 18),
                word(512),
                word(256),
                float(-2.0),
                float(-1.25),
                float(0.005),
            ],
        ),
        "nbody" => (
            line(4096),
            vec![buffer(16 << 12), buffer(16 << 12), word(1024)],
        ),
        "sha256" => (line(1 << 16), vec![buffer(4 << 16), buffer(256), word(2)]),
        "xorshift" => (line(items), vec![buffer(4 << 18), word(200)]),
        "matmul" => (
            NdRange::new(&[256, 256], &[16, 16], &[]).unwrap(),
            vec![buffer(4 << 16), buffer(4 << 16), buffer(4 << 16), word(256)],
        ),
        "stencil" => (
            NdRange::new(&[1024, 1024], &[64, 4], &[]).unwrap(),
            vec![buffer(4 << 20), buffer(4 << 20), word(1024), word(1024)],
        ),
        "reduction" => (
            line(1 << 14),
            vec![buffer(4 << 21), buffer(256), word(1 << 21)],
        ),
        "histogram" => (
            line(1 << 14),
            vec![random(1 << 20), buffer(1024), word(1 << 20)],
        ),
        "fft" => {
            let turn = |i: u32| (i as f32 * -std::f32::consts::TAU / 256.0).sin_cos();
            let twiddles = (0..128).flat_map(|i| [turn(i).1, turn(i).0]);
            let twiddles = twiddles.flat_map(f32::to_le_bytes).collect();
            (
                NdRange::new(&[1 << 16], &[128], &[]).unwrap(),
                vec![buffer(16 << 16), Argument::Buffer(twiddles)],
            )
        }
        "sort" => (line(1 << 16), vec![random(1 << 17)]),
        "aes" => (
            line(1 << 17),
            vec![buffer(16 << 17), random(256), random(44)],
        ),
        "blackscholes" => (
            line(1 << 18),
            vec![
                floats(1 << 18, 10.0, 100.0),
                floats(1 << 18, 10.0, 100.0),
                floats(1 << 18, 0.25, 5.0),
                buffer(4 << 18),
                buffer(4 << 18),
            ],
        ),
        "spmv" => {
            // Rows of 0 to 31 entries, anywhere in the vector.
            let mut next = generator();
            let lengths = (0..1 << 15).map(|_| next() % 32);
            let mut rows = vec![0];
            rows.extend(lengths.scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            }));
            let count = rows.last().copied().unwrap_or(0);
            let columns = (0..count).flat_map(|_| (next() % (1 << 15)).to_le_bytes());
            let columns = columns.collect();
            let rows = rows.iter().flat_map(|n| n.to_le_bytes()).collect();
            (
                line(1 << 15),
                vec![
                    Argument::Buffer(rows),
                    Argument::Buffer(columns),
                    buffer(4 * count as usize),
                    buffer(4 << 15),
                    buffer(4 << 15),
                ],
            )
        }
        _ => (line(1 << 21), vec![buffer(4 << 21), buffer(4 << 21)]),
    }
}
