//! Launches of many short groups, which machine code runs one after the other without being left: memory, counts and
//! faults are those of the interpreter.

use super::compilers;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use visakit_exec::{Compiler, Limits};
use visakit_launch::{Argument, Compile, Config, Kernel, NdRange, Source, ZeInfo};
use visakit_testing::fixtures;

/// What a launch leaves: the buffers, counts, or the fault.
type Left = Result<(Vec<Option<Vec<u8>>>, u64, u64, u64), String>;

/// The kernel that copies a buffer, for a device.
fn with_copy(device: &str, grf_bytes: u32, test: impl FnOnce(&Kernel<'_>)) {
    let folder = fixtures().join("kernels");
    let info = std::fs::read_to_string(folder.join(format!("bench.{device}.zeinfo"))).unwrap();
    let source = Source::open(&folder.join(format!("copy.{device}.visaasm"))).unwrap();
    let object = source.object(grf_bytes).unwrap();
    test(&Kernel::new(&object, "copy", &ZeInfo::parse(&info).unwrap()).unwrap());
}

fn run(
    kernel: &Kernel<'_>,
    range: &NdRange,
    arguments: &[Argument],
    compiler: Option<&Arc<dyn Compiler>>,
    max_steps: u64,
) -> Left {
    let ended = AtomicU64::new(0);
    let count = |groups| {
        ended.fetch_add(groups, Relaxed);
    };
    let config = Config {
        compile: compiler.map(Compile::always),
        progress: Some(&count),
        exact_ends: true,
        limits: Limits {
            max_steps,
            ..Limits::default()
        },
        ..Config::default()
    };
    let outcome = kernel
        .run(range, arguments, &config)
        .map_err(|e| e.to_string())?;
    assert_eq!(ended.load(Relaxed), outcome.groups);
    let memory = (0..arguments.len()).map(|n| outcome.memory(n).map(<[u8]>::to_vec));
    Ok((
        memory.collect(),
        outcome.groups,
        outcome.counters.instructions,
        outcome.counters.lane_operations,
    ))
}

/// Runs a launch in the interpreter and by each compiler, on one core and on several.
fn agree(kernel: &Kernel<'_>, range: &NdRange, arguments: &[Argument], max_steps: u64) -> Left {
    let pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    };
    let one = pool(1);
    let expected = one.install(|| run(kernel, range, arguments, None, max_steps));
    for jit in compilers() {
        let compiler: Arc<dyn Compiler> = Arc::new(jit);
        for threads in [1, 3] {
            let ran =
                pool(threads).install(|| run(kernel, range, arguments, Some(&compiler), max_steps));
            assert!(
                ran == expected,
                "{:?}, {threads} threads: {ran:?}",
                jit.features()
            );
        }
    }
    expected
}

fn words(count: u32) -> Argument {
    Argument::Buffer((0..count).flat_map(u32::to_le_bytes).collect())
}

#[test]
fn short_groups() {
    for (device, grf_bytes) in [("pvc", 64), ("acm-g10", 32)] {
        // A smaller last group, several rows, groups of one thread and of more threads than machine code knows of.
        let grids: [(&[u32], &[u32]); 5] = [
            (&[10_000], &[256]),
            (&[1000, 3, 2], &[64]),
            (&[999], &[1]),
            (&[4096], &[1024]),
            (&[100], &[512]),
        ];
        with_copy(device, grf_bytes, |copy| {
            for (global, local) in grids {
                let range = NdRange::new(global, local, &[]).unwrap();
                let (memory, groups, ..) =
                    agree(copy, &range, &[words(1 << 14), words(1 << 14)], u64::MAX).unwrap();
                assert_eq!(groups, range.group_count());
                assert!(memory.iter().all(Option::is_some));
            }
        });
    }
}

/// The group that has a fault is named, wherever it is, and so is the one that runs too long.
#[test]
fn faults_of_short_groups() {
    with_copy("pvc", 64, |copy| {
        let range = NdRange::new(&[1 << 14], &[256], &[]).unwrap();
        for group in [0, 1, 5, 40, 63] {
            let short = words(group * 256 + 100);
            let fault = agree(copy, &range, &[short, words(1 << 14)], u64::MAX).unwrap_err();
            assert!(fault.contains(&format!("({group}, 0, 0)")), "{fault}");
        }
        let whole = [words(1 << 14), words(1 << 14)];
        let (_, groups, instructions, _) = agree(copy, &range, &whole, u64::MAX).unwrap();
        let each = instructions / groups;
        assert!(agree(copy, &range, &whole, each).is_ok());
        assert!(agree(copy, &range, &whole, each - 1).is_err());
    });
}
