//! Metadata, grids and code of somebody who means harm: an error or a stop, never an abort or a hang.

#![allow(missing_docs)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::time::Duration;
use visakit_exec::{FaultKind, Interrupt, Limits};
use visakit_isa::object::{Object, RoutineId, RoutineKind};
use visakit_launch::{
    Argument, Bare, Config, Dependency, Kernel, LaunchError, Media, NdRange, Outcome, ZeInfo,
};
use visakit_text::asm;

/// The first group loops forever, the second one reads from an invalid address, others end.
const SPIN_OR_FAULT: &str = "\
cmp.eq (M1, 8) P1 %r0(0,1)<0;1,0> 0x0:ud
spin:
(P1.any) jmp (M1, 1) spin
cmp.eq (M1, 8) P1 %r0(0,1)<0;1,0> 0x1:ud
(!P1.any) jmp (M1, 1) out
lsc_load.ugm (M1, 8) D:d32 flat[BIG]:a64
out:
ret (M1, 1)";

const SPIN: &str = "spin:\njmp (M1, 1) spin\nret (M1, 1)";

const NOTHING: &str = "ret (M1, 1)";

fn object(lines: &str) -> Object<'static> {
    let text = format!(
        ".version 4.1
.kernel \"k\"
.decl D v_type=G type=d num_elts=8 align=GRF
.decl BIG v_type=G type=uq num_elts=8 align=GRF
.decl P1 v_type=P num_elts=8
.kernel_attr SimdSize=8
{lines}
"
    );
    asm::assemble(text.as_bytes(), &asm::Options::default())
        .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].message))
        .into_owned()
}

/// Runs with metadata that have these lines besides the name.
fn run(
    lines: &str,
    metadata: &str,
    range: &NdRange,
    arguments: &[Argument],
    config: &Config<'_>,
) -> Result<Outcome, LaunchError> {
    let object = object(lines);
    let zeinfo = ZeInfo::parse(&format!("kernels:\n  - name: k\n{metadata}")).unwrap();
    Kernel::new(&object, "k", &zeinfo)?.run(range, arguments, config)
}

const PLAIN: &str = "    execution_env:\n      simd_size: 8\n";

fn items(global: u32, local: u32) -> NdRange {
    NdRange::new(&[global], &[local], &[]).unwrap()
}

/// A flag that rises after a while.
fn soon() -> Interrupt {
    let interrupt = Interrupt::new();
    let other = interrupt.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        other.raise();
    });
    interrupt
}

#[test]
fn metadata_that_ask_for_everything() {
    let memory = "    per_thread_memory_buffers:\n      - ";
    let payload = "    payload_arguments:\n      - ";
    let private = format!("{payload}{{arg_type: private_base_stateless, offset: 0, size: 8}}\n");
    let cases = [
        // Scratch of 4 GiB, and of more than a thread has addresses for.
        format!("{PLAIN}{memory}{{type: scratch, usage: spill_fill_space, size: 4294967295}}\n"),
        format!(
            "{PLAIN}{}",
            memory.to_owned()
                + &"{type: scratch, usage: x, size: 4294967295}\n      - ".repeat(9)
                + "{type: scratch, usage: x, size: 1}\n"
        ),
        format!(
            "{PLAIN}{private}{memory}{{type: global, usage: private_space, size: 4294967295, is_simt_thread: true}}\n"
        ),
        format!("{PLAIN}{payload}{{arg_type: local_size, offset: 4294967290, size: 4294967290}}\n"),
        format!("{PLAIN}      slm_size: 4294967295\n"),
        "    execution_env:\n      simd_size: 4294967295\n".to_owned(),
        "    execution_env:\n      simd_size: 0\n".to_owned(),
        // A MiB for each of 4096 threads.
        format!(
            "    execution_env:\n      simd_size: 1\n{payload}{{arg_type: local_size, offset: 1000000, size: 12}}\n"
        ),
    ];
    for metadata in &cases {
        let error = run(
            NOTHING,
            metadata,
            &items(4096, 4096),
            &[],
            &Config::default(),
        );
        let error = error.err().unwrap_or_else(|| panic!("{metadata}"));
        let expected = match &error {
            LaunchError::Fault { fault, .. } => matches!(fault.kind, FaultKind::MemoryLimit(_)),
            LaunchError::TooLarge { .. } | LaunchError::Mismatch(_) => true,
            _ => false,
        };
        assert!(expected, "{metadata}: {error}");
    }
    // More inline data than there is payload takes no memory.
    let metadata = format!("{PLAIN}      inline_data_payload_size: 4294967295\n");
    run(NOTHING, &metadata, &items(8, 8), &[], &Config::default()).unwrap();
    // A limit of global memory holds for arguments as well.
    let config = Config {
        max_memory: 1000,
        ..Config::default()
    };
    let arguments = [Argument::Buffer(vec![0; 1001])];
    let metadata =
        format!("{PLAIN}{payload}{{arg_type: arg_byvalue, offset: 0, size: 0, arg_index: 0}}\n");
    let error = run(NOTHING, &metadata, &items(8, 8), &arguments, &config);
    assert!(error.is_err());
    // Sizes of local memory that together exceed 64 bits.
    let arguments = [Argument::Local(usize::MAX), Argument::Local(usize::MAX)];
    let error = run(NOTHING, PLAIN, &items(8, 8), &arguments, &Config::default());
    assert!(matches!(error, Err(LaunchError::TooLarge { .. })));
}

#[test]
fn groups_that_no_device_has() {
    for local in [[1 << 31, 1, 1], [u32::MAX; 3], [0, 1, 1], [4097, 1, 1]] {
        let range = NdRange {
            local,
            ..items(8, 8)
        };
        let error = run(NOTHING, PLAIN, &range, &[], &Config::default());
        assert!(matches!(error, Err(LaunchError::Grid(_))), "{local:?}");
    }
    assert!(NdRange::new(&[1], &[1 << 31], &[]).is_err());
}

#[test]
fn a_billion_groups_can_be_stopped() {
    for groups in [1_000_000_000, 1] {
        let interrupt = soon();
        let config = Config {
            interrupt: Some(&interrupt),
            ..Config::default()
        };
        let outcome = run(SPIN, PLAIN, &items(groups, 1), &[], &config).unwrap();
        assert!(!outcome.end.is_complete());
        assert_eq!(outcome.groups, 0);
    }
    let whole = NdRange::new(&[u32::MAX; 3], &[], &[]).unwrap();
    for range in [items(1_000_000_000, 1), whole] {
        let interrupt = Interrupt::new();
        let raise = |_| interrupt.raise();
        let config = Config {
            interrupt: Some(&interrupt),
            progress: Some(&raise),
            ..Config::default()
        };
        let outcome = run(NOTHING, PLAIN, &range, &[], &config).unwrap();
        assert!(!outcome.end.is_complete());
        assert!((1..1000).contains(&outcome.groups), "{}", outcome.groups);
        assert_eq!(outcome.counters.instructions, outcome.groups);
    }
}

#[test]
fn media_spaces_can_be_stopped() {
    for (dependency, _) in Dependency::ALL {
        let object = object(NOTHING);
        let id = RoutineId::new(RoutineKind::Kernel, 0);
        let mut media = Media::new(&object, id, 32, &Config::default()).unwrap();
        media.space = [1 << 16, 1 << 16];
        media.dependency = dependency;
        let interrupt = Interrupt::new();
        let raise = |_| interrupt.raise();
        let config = Config {
            interrupt: Some(&interrupt),
            progress: Some(&raise),
            ..Config::default()
        };
        let outcome = media.run(&config).unwrap();
        assert!(!outcome.end.is_complete());
        assert!((1..1000).contains(&outcome.threads));
        let outcome = media.run_observed(&config, &mut ()).unwrap();
        assert!(!outcome.end.is_complete());
        assert_eq!(outcome.threads, 0, "it is still raised");
        let config = Config {
            max_steps: 1000,
            ..Config::default()
        };
        assert!(matches!(media.run(&config), Err(LaunchError::Steps(1000))));
    }
}

#[test]
fn a_bare_thread_can_be_stopped() {
    let object = object(&format!("mov (M1, 8) D(0,0)<1> 0x7:d\n{SPIN}"));
    let id = RoutineId::new(RoutineKind::Kernel, 0);
    let mut bare = Bare::new(&object, id, 32, &Config::default()).unwrap();
    bare.interrupt = Some(soon());
    let outcome = bare.run(&mut ()).unwrap();
    assert!(!outcome.end.is_complete());
    assert_eq!(outcome.variable("D").unwrap().bytes[0], 7, "so far");
}

/// A fault of one group ends the run although another one would run forever, whichever came first.
#[test]
fn a_fault_stops_all_groups() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let error = pool.unwrap().install(|| {
        run(
            SPIN_OR_FAULT,
            PLAIN,
            &items(1000, 1),
            &[],
            &Config::default(),
        )
    });
    match error {
        Err(LaunchError::Fault { group, fault }) => {
            assert_eq!(group, Some([1, 0, 0]));
            assert!(matches!(fault.kind, FaultKind::MemoryOutOfBounds { .. }));
        }
        other => panic!("{other:?}"),
    }
}

/// A launch that takes as many steps as it may ends, with any number of workers; one more is too many.
#[test]
fn the_budget_of_a_launch() {
    for workers in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
        pool.build().unwrap().install(|| {
            let with = |max_steps| {
                let config = Config {
                    max_steps,
                    ..Config::default()
                };
                let lines = "mov (M1, 8) D(0,0)<1> 0x7:d\nret (M1, 1)";
                run(lines, PLAIN, &items(500, 1), &[], &config)
            };
            let outcome = with(1000).unwrap();
            assert!(outcome.end.is_complete());
            assert_eq!((outcome.groups, outcome.counters.instructions), (500, 1000));
            assert!(matches!(with(999), Err(LaunchError::Steps(999))));
            assert!(matches!(with(0), Err(LaunchError::Steps(0))));
        });
    }
    let config = Config {
        limits: Limits {
            max_steps: 5000,
            ..Limits::default()
        },
        ..Config::default()
    };
    match run(SPIN, PLAIN, &items(2, 1), &[], &config) {
        Err(LaunchError::Fault { fault, .. }) => {
            assert_eq!(fault.kind, FaultKind::StepLimit(5000));
        }
        other => panic!("{other:?}"),
    }
}

/// Metadata of a program with very many kernels are read; aliases that stand for more than there is are not.
#[test]
fn metadata_of_many_kernels() {
    let arguments: String = (0..24)
        .map(|n| format!("      - arg_type: arg_bypointer\n        offset: {}\n        size: 8\n        arg_index: {n}\n", n * 8))
        .collect();
    let mut text = String::from("version: '1.25'\nkernels:\n");
    for number in 0..4000 {
        text.push_str(&format!(
            "  - name: kernel_{number}\n{PLAIN}    payload_arguments:\n{arguments}"
        ));
    }
    assert_eq!(ZeInfo::parse(&text).unwrap().kernels.len(), 4000);
    let mut bomb = String::from("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    for level in 1..9 {
        let ten = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{ten}]\n"));
    }
    // One line says what is wrong: there is no frame around it that terminals would need.
    for wrong in [
        bomb.as_str(),
        "kernels:\n  - name: [\n",
        "kernels:\n  - execution_env: 7\n",
    ] {
        let error = ZeInfo::parse(wrong).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
    }
}
