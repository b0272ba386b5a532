//! Products of matrices by systolic products (`fixtures/kernels/gemm.cl`), beside OpenBLAS's product of singles.
//!
//! One thread; the results are compared with those of OpenBLAS, of the same numbers.

use crate::{Anything, Clock, RUNS, fixtures, resident};
use libloading::{Library, Symbol};
use std::sync::Arc;
use visakit_exec::memory::Storage;
use visakit_exec::{Compiler, Pass};
use visakit_jit::Jit;
use visakit_launch::{Argument, Compile, Config, NdRange, Shared, Source, ZeInfo};

/// Rows, columns and depth.
const SIZE: usize = 512;

/// `cblas_sgemm`: order, what is transposed, sizes, factors, matrices with their pitches.
type Sgemm = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    f32,
    *const f32,
    i32,
    *const f32,
    i32,
    f32,
    *mut f32,
    i32,
);

/// Numbers of which a format has some bits.
struct Format {
    kernel: &'static str,
    /// Of a word.
    elements: usize,
    /// From small integers.
    encode: fn(f32) -> u32,
}

const FORMATS: [Format; 3] = [
    Format {
        kernel: "gemm_bf16",
        elements: 2,
        encode: |x| x.to_bits() >> 16,
    },
    // Of numbers that are zero or normal.
    Format {
        kernel: "gemm_half",
        elements: 2,
        encode: |x| match x.to_bits() {
            bits if bits << 1 == 0 => 0,
            bits => (bits >> 16 & 0x8000) | ((bits & 0x7fff_ffff) - (112 << 23)) >> 13,
        },
    },
    Format {
        kernel: "gemm_s8",
        elements: 4,
        encode: |x| (x as i32 & 0xff) as u32,
    },
];

/// Small integers that look random.
fn matrix(mut state: u32) -> Vec<f32> {
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state % 15) as f32 - 7.0
    };
    (0..SIZE * SIZE).map(|_| next()).collect()
}

/// Elements in their order, in words.
fn packed(format: &Format, elements: impl Iterator<Item = f32>) -> Vec<u8> {
    let bytes = 4 / format.elements;
    elements
        .flat_map(|x| (format.encode)(x).to_le_bytes().into_iter().take(bytes))
        .collect()
}

/// The tiles of both matrices.
fn tiles(format: &Format, a: &[f32], b: &[f32]) -> [Vec<u8>; 2] {
    let depth = 8 * format.elements;
    let of_a = (0..SIZE).step_by(8).flat_map(|row| {
        let tile = move |k| {
            (row..row + 8).flat_map(move |row| (k..k + depth).map(move |k| a[row * SIZE + k]))
        };
        (0..SIZE).step_by(depth).flat_map(tile)
    });
    let elements = format.elements;
    let of_b = (0..SIZE).step_by(16).flat_map(|column| {
        let words = move |k| {
            (column..column + 16)
                .flat_map(move |column| (k..k + elements).map(move |k| b[k * SIZE + column]))
        };
        (0..SIZE).step_by(elements).flat_map(words)
    });
    [packed(format, of_a), packed(format, of_b)]
}

/// Best time of a kernel, and what it leaves.
fn run(
    format: &Format,
    jit: Option<Jit>,
    a: &[f32],
    b: &[f32],
) -> Result<(f64, Vec<f32>), Anything> {
    let compiler = jit.map(|jit| -> Arc<dyn Compiler> { Arc::new(jit) });
    let config = Config {
        compile: compiler.as_ref().map(Compile::always),
        passes: &Pass::ALL,
        ..Config::default()
    };
    let folder = fixtures();
    let zeinfo = std::fs::read_to_string(folder.join("gemm.pvc.zeinfo"))?;
    let source = Source::open(&folder.join(format!("{}.pvc.visaasm", format.kernel)))?;
    let object = source.object(64)?;
    let kernel = visakit_launch::Kernel::new(&object, format.kernel, &ZeInfo::parse(&zeinfo)?)?;
    let storage = Storage::new(&vec![0; 4 * SIZE * SIZE]).ok_or("no room for a matrix")?;
    let result = Shared {
        storage,
        address: None,
        offset: 0,
        size: 4 * (SIZE * SIZE) as u64,
        before: 0,
    };
    let [of_a, of_b] = tiles(format, a, b);
    let word = |n: usize| Argument::Value((n as u32).to_le_bytes().to_vec());
    let arguments = [
        Argument::Shared(result.clone()),
        resident(Argument::Buffer(of_a))?,
        resident(Argument::Buffer(of_b))?,
        word(SIZE),
        word(SIZE / (8 * format.elements)),
    ];
    let range = NdRange::new(&[SIZE as u32 / 2, SIZE as u32 / 32], &[16, 1], &[])?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let launch = pool.install(|| kernel.prepare(&range, &arguments, &config))?;
        let clock = Clock::start(true);
        pool.install(|| launch.run(&config))?;
        best = best.min(clock.seconds());
    }
    let bytes = result.storage.read();
    let value = |bytes: &[u8; 4]| match format.elements {
        4 => i32::from_le_bytes(*bytes) as f32,
        _ => f32::from_le_bytes(*bytes),
    };
    Ok((best, bytes.as_chunks().0.iter().map(value).collect()))
}

/// Best time of OpenBLAS on one thread, and its result.
fn openblas(a: &[f32], b: &[f32]) -> Result<(f64, Vec<f32>), Anything> {
    // SAFETY: the library's initialisers have no requirements.
    let library = unsafe { Library::new("libopenblas.so.0")? };
    // SAFETY: the functions have these types.
    let (sgemm, set_threads): (Symbol<'_, Sgemm>, Symbol<'_, unsafe extern "C" fn(i32)>) = unsafe {
        (
            library.get(b"cblas_sgemm")?,
            library.get(b"openblas_set_num_threads")?,
        )
    };
    // SAFETY: any number is right.
    unsafe { set_threads(1) };
    let mut c = vec![0.0; SIZE * SIZE];
    let (row_major, no_transpose, size) = (101, 111, SIZE as i32);
    let mut best = f64::INFINITY;
    for _ in 0..4 * RUNS {
        let clock = Clock::start(true);
        // SAFETY: all matrices have as many elements as their sizes say.
        unsafe {
            sgemm(
                row_major,
                no_transpose,
                no_transpose,
                size,
                size,
                size,
                1.0,
                a.as_ptr(),
                size,
                b.as_ptr(),
                size,
                0.0,
                c.as_mut_ptr(),
                size,
            );
        }
        best = best.min(clock.seconds());
    }
    Ok((best, c))
}

/// Prints multiply-adds a nanosecond.
pub fn gemm() -> Result<(), Anything> {
    let (a, b) = (matrix(1), matrix(7));
    let operations = (SIZE * SIZE * SIZE) as f64;
    let rate = |seconds: f64| operations / seconds / 1e9;
    let peer = openblas(&a, &b);
    let mut names = vec!["interpreter".to_owned()];
    let mut jits = vec![None];
    for jit in [Jit::avx2(), Jit::host()].into_iter().flatten() {
        let name = format!("{:?}", jit.features());
        if !names.contains(&name) {
            names.push(name);
            jits.push(Some(jit));
        }
    }
    println!("multiply-adds a nanosecond, one thread, matrices of {SIZE} rows and columns");
    match &peer {
        Ok((seconds, _)) => println!("OpenBLAS sgemm: {:.1}", rate(*seconds)),
        Err(error) => println!("NOT RUN: OpenBLAS: {error}"),
    }
    println!("| product | {} | best / OpenBLAS |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len() + 1));
    for format in &FORMATS {
        let mut cells = String::new();
        let mut best = 0.0_f64;
        for jit in &jits {
            let (seconds, found) = run(format, *jit, &a, &b)?;
            if let Ok((_, expected)) = &peer
                && found != *expected
            {
                return Err(format!("{}: another product than OpenBLAS's", format.kernel).into());
            }
            cells += &format!("{:.1} | ", rate(seconds));
            best = best.max(rate(seconds));
        }
        let ratio = peer
            .as_ref()
            .map_or(f64::NAN, |(seconds, _)| best / rate(*seconds));
        println!("| {} | {cells}{ratio:.2} |", format.kernel);
    }
    Ok(())
}
