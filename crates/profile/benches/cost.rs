//! The cost of counting: kernels without it, with it, and as `visakit profile` runs them, in the interpreter and in
//! machine code, on one thread.
//!
//! `cargo bench -p visakit-internal-profile`. Compare the medians of a kernel: `counts` should be at most 1.3 times `plain`.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench")]

#[path = "../../launch/benches/work/mod.rs"]
mod work;

use divan::{Bencher, black_box};
use rayon::ThreadPoolBuilder;
use std::path::Path;
use std::sync::Arc;
use visakit_exec::Compiler;
use visakit_jit::Jit;
use visakit_launch::{Compile, Config, Kernel, Prepared, Source, ZeInfo};
use visakit_profile::{KernelCode, Watched};
use work::{KERNELS, bench_work};

fn main() {
    divan::main();
}

#[derive(Clone, Copy)]
enum How {
    Plain,
    Counts,
    Profile,
}

fn run(bencher: Bencher<'_, '_>, kernel: &str, jit: bool, how: How) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernels");
    let zeinfo = std::fs::read_to_string(folder.join("bench.pvc.zeinfo")).unwrap();
    let source = Source::open(&folder.join(format!("{kernel}.pvc.visaasm"))).unwrap();
    let object = source.object(64).unwrap();
    let prepared = Kernel::new(&object, kernel, &ZeInfo::parse(&zeinfo).unwrap()).unwrap();
    let (range, arguments) = bench_work(kernel);
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let compiler: Option<Arc<dyn Compiler>> = Jit::host().map(|jit| Arc::new(jit) as _);
    let config = Config {
        compile: compiler.as_ref().filter(|_| jit).map(Compile::always),
        count: !matches!(how, How::Plain),
        ..Config::default()
    };
    let launch = || pool.install(|| prepared.prepare(&range, &arguments, &config).unwrap());
    let code = KernelCode::new(&object, launch().program(), None);
    let run = |launch: Prepared| {
        pool.install(|| match how {
            How::Plain | How::Counts => launch.run(&config).unwrap(),
            How::Profile => {
                let watched = Watched::default();
                visakit_profile::run(&code, launch, &config, watched)
                    .unwrap()
                    .1
            }
        })
    };
    bencher
        .with_inputs(launch)
        .bench_local_values(|launch| black_box(run(launch)));
}

macro_rules! benches {
    ($($name:ident $jit:literal $how:expr;)*) => {
        $(
            #[divan::bench(args = KERNELS, sample_count = 10, sample_size = 1)]
            fn $name(bencher: Bencher<'_, '_>, kernel: &str) {
                run(bencher, kernel, $jit, $how);
            }
        )*
    };
}

benches! {
    interpreter_plain false How::Plain;
    interpreter_counts false How::Counts;
    machine_code_plain true How::Plain;
    machine_code_counts true How::Counts;
    machine_code_profile true How::Profile;
}
