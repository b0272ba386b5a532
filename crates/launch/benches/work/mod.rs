//! What the kernels of the benches work on.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench"
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

fn value(bytes: impl AsRef<[u8]>) -> Argument {
    Argument::Value(bytes.as_ref().to_vec())
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
    let items = 1 << 16;
    match kernel {
        "mandelbrot" => (
            line(items),
            vec![
                buffer(4 << 16),
                word(256),
                word(256),
                float(-2.0),
                float(-1.25),
                float(0.01),
            ],
        ),
        "nbody" => (
            line(4096),
            vec![buffer(16 << 12), buffer(16 << 12), word(1024)],
        ),
        "sha256" => (line(8192), vec![buffer(4 << 13), buffer(256), word(2)]),
        "xorshift" => (line(items), vec![buffer(4 << 16), word(200)]),
        "matmul" => (
            NdRange::new(&[256, 256], &[16, 16], &[]).unwrap(),
            vec![buffer(4 << 16), buffer(4 << 16), buffer(4 << 16), word(256)],
        ),
        _ => (line(1 << 21), vec![buffer(4 << 21), buffer(4 << 21)]),
    }
}
