//! The kernels of the benches on visakit and, in the same run, on the OpenCL implementations of the machine.
//!
//! `cargo run --release --manifest-path tools/peers/Cargo.toml`. Each time is the best of five. Lane operations are
//! counted by visakit and divided by each program's time, as the others do not count them. Programs that are not
//! installed are reported as NOT RUN. Names of kernels, `--alone` (no others), `--one` (one thread), `--interpreter`
//! (no machine code) and `--widest` (only the host's widest machine code) restrict the run; `--oclgrind` adds it, which
//! takes hours for all kernels. `--gemm` compares products of matrices with OpenBLAS's instead. Debian and Ubuntu have
//! `pocl-opencl-icd`, `oclgrind`, `ocl-icd-libopencl1` and `libopenblas0`.

mod gemm;
#[path = "../../../crates/launch/benches/work/mod.rs"]
mod work;

use cpu_time::ProcessTime;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use visakit_exec::memory::Storage;
use visakit_exec::{Compiler, Pass};
use visakit_jit::Jit;
use visakit_launch::{Argument, Compile, Config, Shared, Source, ZeInfo};
use work::{KERNELS, REAL, program, work};

const RUNS: usize = 5;

type Anything = Box<dyn std::error::Error>;

fn main() -> Result<(), Anything> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (options, wanted): (Vec<_>, Vec<_>) = words.into_iter().partition(|w| w.starts_with("--"));
    let kernels: Vec<&str> = KERNELS
        .into_iter()
        .chain(REAL)
        .filter(|kernel| wanted.is_empty() || wanted.iter().any(|w| w == kernel))
        .collect();
    let has = |name: &str| options.iter().any(|option| option == name);
    if has("--gemm") {
        return gemm::gemm();
    }
    if has("--opencl") {
        return opencl(&kernels);
    }
    let mut compilers: Vec<(String, Option<Arc<dyn Compiler>>)> =
        vec![("interpreter".into(), None)];
    let jits = if has("--interpreter") {
        [None, None]
    } else {
        [Jit::avx2(), Jit::host()]
    };
    for jit in jits.into_iter().flatten() {
        let name = format!("{:?}", jit.features());
        if compilers.iter().all(|c| c.0 != name) {
            compilers.push((name, Some(Arc::new(jit))));
        }
    }
    if has("--widest") {
        compilers.drain(..compilers.len() - 1);
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut operations = BTreeMap::new();
    let mut narrow = BTreeMap::new();
    for (device, grf_bytes, lanes) in [("pvc", 64, "SIMD32"), ("acm-g10", 32, "SIMD16")] {
        for (threads, compiler) in [1, 0]
            .into_iter()
            .flat_map(|threads| compilers.iter().map(move |c| (threads, c)))
        {
            let name = format!(
                "visakit {lanes}, {}, {}",
                compiler.0,
                if threads == 1 { "1 thread" } else { "all" }
            );
            let compile = compiler.1.as_ref().map(Compile::always);
            if has("--one") && threads != 1 {
                continue;
            }
            let mut times = BTreeMap::new();
            for &kernel in &kernels {
                let (seconds, lane_operations) =
                    visakit(kernel, device, grf_bytes, threads, compile)?;
                times.insert(kernel.to_owned(), lane_operations / seconds);
                if device == "pvc" {
                    operations.insert(kernel.to_owned(), lane_operations);
                } else if let Some(wide) = operations.get(kernel) {
                    narrow.insert(kernel.to_owned(), lane_operations / wide);
                }
            }
            columns.push((name, times));
        }
    }
    let me = std::env::current_exe()?;
    // Its wrapper script does not reach programs that load OpenCL themselves; its driver does.
    let grind = which("oclgrind").and_then(|file| {
        let library = file
            .parent()?
            .parent()?
            .join("lib/oclgrind/liboclgrind-rt-icd.so");
        library.is_file().then_some(library)
    });
    let peers: [(&str, Option<Command>); 3] = [
        ("pocl, 1 thread", Some(with_threads(&me, Some("1")))),
        ("pocl, all", Some(with_threads(&me, None))),
        (
            "oclgrind",
            grind.map(|library| {
                let mut command = Command::new(&me);
                command.env("OCL_ICD_VENDORS", library);
                command
            }),
        ),
    ];
    for (name, command) in peers {
        if has("--alone") || name == "oclgrind" && !has("--oclgrind") {
            continue;
        }
        let Some(mut command) = command else {
            println!("NOT RUN: {name} is not installed");
            continue;
        };
        let output = command.arg("--opencl").args(&kernels).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut times = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some("time"), Some(kernel), Some(seconds)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            if let (Some(operations), Ok(seconds)) =
                (operations.get(kernel), seconds.parse::<f64>())
            {
                times.insert(kernel.to_owned(), operations / seconds);
            }
        }
        if times.is_empty() {
            println!(
                "NOT RUN: {name}: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
            continue;
        }
        columns.push((name.to_owned(), times));
    }
    print(&kernels, &columns, &narrow);
    Ok(())
}

/// A program on a number of threads, and its lane operations a second by kernel.
type Column = (String, BTreeMap<String, f64>);

/// Prints a line and a table: the columns of one thread, and what they are beside each other. `narrow` has the lane
/// operations of the SIMD16 programs beside those of the SIMD32 ones.
fn print(kernels: &[&str], columns: &[Column], narrow: &BTreeMap<String, f64>) {
    const ONE: &str = ", 1 thread";
    let named = |beginning: &'static str, end: &'static str| {
        let all = columns.iter();
        all.filter(move |c| c.0.starts_with(beginning) && c.0.ends_with(end))
    };
    let best = |kernel: &str, beginning, end| {
        let rates = named(beginning, end).filter_map(|c| c.1.get(kernel));
        rates.copied().reduce(f64::max)
    };
    let one: Vec<_> = named("", ONE).collect();
    println!("million lane operations a second");
    let heads = one.iter().map(|c| c.0.trim_end_matches(ONE));
    let heads: Vec<_> = heads
        .map(|head| head.trim_start_matches("visakit "))
        .collect();
    println!(
        "| kernel | {} | best / pocl | SIMD16 / SIMD32 by operations | by time | all cores / one |",
        heads.join(" | ")
    );
    println!("|---|{}", "---|".repeat(heads.len() + 4));
    for kernel in kernels {
        let rates = one.iter().map(|(_, times)| match times.get(*kernel) {
            Some(rate) => format!("{:.0}", rate / 1e6),
            None => "failed".to_owned(),
        });
        let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
        let by_operations = ratio(
            best(kernel, "visakit SIMD16", ONE),
            best(kernel, "visakit SIMD32", ONE),
        );
        let ratios = [
            ratio(best(kernel, "visakit", ONE), best(kernel, "pocl", ONE)),
            by_operations,
            ratio(by_operations, narrow.get(*kernel).copied()),
            ratio(
                best(kernel, "visakit", ", all"),
                best(kernel, "visakit", ONE),
            ),
        ];
        let ratios = ratios.map(|r| r.map_or_else(String::new, |r| format!("{r:.2}")));
        let cells: Vec<_> = rates.chain(ratios).collect();
        println!("| {kernel} | {} |", cells.join(" | "));
    }
}

fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

fn with_threads(me: &Path, threads: Option<&str>) -> Command {
    let mut command = Command::new(me);
    if let Some(threads) = threads {
        command
            .env("POCL_MAX_PTHREAD_COUNT", threads)
            .env("POCL_CPU_MAX_CU_COUNT", threads);
    }
    command
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernels")
}

/// A running clock: for one thread the processor time spent on it, as others may use the machine, too.
struct Clock {
    started: Instant,
    spent: Option<ProcessTime>,
}

impl Clock {
    fn start(one: bool) -> Self {
        Self {
            started: Instant::now(),
            spent: one.then(ProcessTime::now),
        }
    }

    fn seconds(&self) -> f64 {
        let spent = self.spent.map(|spent| spent.elapsed());
        spent
            .unwrap_or_else(|| self.started.elapsed())
            .as_secs_f64()
    }
}

/// A buffer in storage that outlives launches.
fn resident(argument: Argument) -> Result<Argument, Anything> {
    let Argument::Buffer(bytes) = argument else {
        return Ok(argument);
    };
    Ok(Argument::Shared(Shared {
        storage: Storage::new(&bytes).ok_or("no room for a buffer")?,
        address: None,
        offset: 0,
        size: bytes.len() as u64,
        before: 0,
    }))
}

/// Best time and lane operations of one run.
fn visakit(
    kernel: &str,
    device: &str,
    grf_bytes: u32,
    threads: usize,
    compile: Option<Compile<'_>>,
) -> Result<(f64, f64), Anything> {
    let metadata = fixtures().join(format!("{}.{device}.zeinfo", program(kernel)));
    let zeinfo = std::fs::read_to_string(metadata)?;
    let source = Source::open(&fixtures().join(format!("{kernel}.{device}.visaasm")))?;
    let object = source.object(grf_bytes)?;
    let prepared = visakit_launch::Kernel::new(&object, kernel, &ZeInfo::parse(&zeinfo)?)?;
    let (range, arguments) = work(kernel);
    // As with the others, buffers exist before and after a run: neither creating nor copying them counts.
    let arguments = arguments.into_iter().map(resident);
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let mut best = (f64::INFINITY, 0.0);
    let config = Config {
        compile,
        passes: &Pass::ALL,
        ..Config::default()
    };
    for _ in 0..RUNS {
        let launch = pool.install(|| prepared.prepare(&range, &arguments, &config))?;
        let clock = Clock::start(threads == 1);
        let outcome = pool.install(|| launch.run(&config))?;
        let seconds = clock.seconds();
        if seconds < best.0 {
            best = (seconds, outcome.counters.lane_operations as f64);
        }
    }
    Ok(best)
}

/// Runs the kernels on the first device that OpenCL offers, and prints the best time of each.
fn opencl(kernels: &[&str]) -> Result<(), Anything> {
    let devices = get_all_devices(CL_DEVICE_TYPE_ALL)?;
    let device = Device::new(*devices.first().ok_or("no OpenCL device")?);
    eprintln!("{}", device.name()?);
    let context = Context::from_device(&device)?;
    let build = |name: &str| -> Result<_, Anything> {
        let source = std::fs::read_to_string(fixtures().join(format!("{name}.cl")))?;
        Ok(Program::create_and_build_from_source(
            &context,
            &source,
            "-cl-std=CL1.2",
        )?)
    };
    let programs = [("bench", build("bench")?), ("real", build("real")?)];
    #[allow(deprecated)]
    let queue = CommandQueue::create_default(&context, 0)?;
    let one = std::env::var("POCL_MAX_PTHREAD_COUNT").is_ok_and(|n| n == "1");
    for &name in kernels {
        let found = programs.iter().find(|p| p.0 == program(name));
        let kernel = Kernel::create(&found.ok_or("no such program")?.1, name)?;
        let (range, arguments) = work(name);
        let mut buffers = Vec::new();
        for argument in &arguments {
            if let Argument::Buffer(bytes) = argument {
                // SAFETY: the buffer has the size of the bytes, and the copy is waited for.
                let buffer = unsafe {
                    let mut buffer = Buffer::<u8>::create(
                        &context,
                        CL_MEM_READ_WRITE,
                        bytes.len(),
                        std::ptr::null_mut(),
                    )?;
                    queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, bytes, &[])?;
                    buffer
                };
                buffers.push(buffer);
            }
        }
        let mut best = f64::INFINITY;
        // The first run compiles.
        for _ in 0..=RUNS {
            let mut call = ExecuteKernel::new(&kernel);
            let mut buffers = buffers.iter();
            for argument in &arguments {
                // SAFETY: kinds and sizes are those of the kernel's parameters.
                unsafe {
                    match argument {
                        Argument::Buffer(_) => {
                            call.set_arg(buffers.next().ok_or("a buffer too few")?)
                        }
                        Argument::Value(bytes) => {
                            let word: [u8; 4] = bytes.as_slice().try_into()?;
                            call.set_arg(&u32::from_le_bytes(word))
                        }
                        other => return Err(format!("a {} is not passed on", other.kind()).into()),
                    };
                }
            }
            let sizes = |sizes: [u32; 3]| sizes.map(|n| n as usize);
            call.set_global_work_sizes(&sizes(range.global));
            call.set_local_work_sizes(&sizes(range.local));
            let clock = Clock::start(one);
            // SAFETY: the arguments are set, and buffers are as large as the kernels need.
            unsafe { call.enqueue_nd_range(&queue)? };
            queue.finish()?;
            best = best.min(clock.seconds());
        }
        println!("time {name} {best}");
    }
    Ok(())
}
