//! Speed of kernels: lane operations (instructions times their enabled lanes) a second.
//!
//! `cargo bench -p visakit-launch`. Items are lane operations. `SIMD32` are the kernels compiled for 64-byte registers,
//! the others those for 32-byte registers, where most instructions have 16 lanes. `tools/peers` runs the same source on
//! OpenCL implementations.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench")]

mod work;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::Path;
use visakit_launch::{Config, Kernel, Prepared, Source, ZeInfo};
use work::{KERNELS, bench_work};

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, kernel: &str, device: (&str, u32), threads: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernels");
    let zeinfo =
        std::fs::read_to_string(folder.join(format!("bench.{}.zeinfo", device.0))).unwrap();
    let source = Source::open(&folder.join(format!("{kernel}.{}.visaasm", device.0))).unwrap();
    let object = source.object(device.1).unwrap();
    let prepared = Kernel::new(&object, kernel, &ZeInfo::parse(&zeinfo).unwrap()).unwrap();
    let (range, arguments) = bench_work(kernel);
    let pool: ThreadPool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let config = Config::default();
    let launch = || pool.install(|| prepared.prepare(&range, &arguments, &config).unwrap());
    let run = |launch: Prepared| pool.install(|| launch.run(&config).unwrap().counters);
    bencher
        .counter(ItemsCount::new(run(launch()).lane_operations))
        .with_inputs(launch)
        .bench_local_values(|launch| black_box(run(launch)));
}

#[divan::bench(args = KERNELS, sample_count = 10, sample_size = 1)]
fn simd32_one_thread(bencher: Bencher<'_, '_>, kernel: &str) {
    run(bencher, kernel, ("pvc", 64), 1);
}

#[divan::bench(args = KERNELS, sample_count = 10, sample_size = 1)]
fn simd32_all_threads(bencher: Bencher<'_, '_>, kernel: &str) {
    run(bencher, kernel, ("pvc", 64), 0);
}

#[divan::bench(args = KERNELS, sample_count = 10, sample_size = 1)]
fn simd16_one_thread(bencher: Bencher<'_, '_>, kernel: &str) {
    run(bencher, kernel, ("acm-g10", 32), 1);
}

#[divan::bench(args = KERNELS, sample_count = 10, sample_size = 1)]
fn simd16_all_threads(bencher: Bencher<'_, '_>, kernel: &str) {
    run(bencher, kernel, ("acm-g10", 32), 0);
}

/// Translation alone; items are instructions.
#[divan::bench(args = KERNELS)]
fn translation(bencher: Bencher<'_, '_>, kernel: &str) {
    translate(bencher, kernel, visakit_exec::Options::default().passes);
}

/// Translation with all passes, as launches have it.
#[divan::bench(args = KERNELS)]
fn translation_with_all_passes(bencher: Bencher<'_, '_>, kernel: &str) {
    translate(bencher, kernel, visakit_exec::Pass::ALL.to_vec());
}

fn translate(bencher: Bencher<'_, '_>, kernel: &str, passes: Vec<visakit_exec::Pass>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernels");
    let source = Source::open(&folder.join(format!("{kernel}.pvc.visaasm"))).unwrap();
    let object = source.object(64).unwrap();
    let (id, _) = visakit_launch::find_kernel(&object, None).unwrap();
    let options = visakit_exec::Options {
        grf_bytes: 64,
        passes,
        ..visakit_exec::Options::default()
    };
    let program = || visakit_exec::Program::new(&object, id, &options).unwrap();
    bencher
        .counter(ItemsCount::new(program().instruction_count()))
        .bench_local(|| black_box(program()));
}
