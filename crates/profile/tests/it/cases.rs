use std::path::{Path, PathBuf};
use std::sync::Arc;
use visakit_exec::code::Action;
use visakit_exec::{Compiler, Options, Program};
use visakit_jit::Jit;
use visakit_launch::{Case, Compile, Config, Source, find_kernel};
use visakit_profile::{KernelCode, KernelProfile, Watched};
use visakit_testing::{cases, fixtures, shared};

/// The profile of a case, and the executor's own counters.
fn run(folder: &Path, compile: Option<Compile<'_>>, watched: Watched) -> (KernelProfile, [u64; 2]) {
    let case = Case::open(folder).unwrap();
    let config = visakit_profile::config(Config {
        compile,
        ..Config::default()
    });
    case.launch(
        false,
        &config,
        |object| object,
        |kernel, _, launch| {
            let code = KernelCode::new(kernel.object(), launch.program(), None);
            let steps = &launch.program().code().steps;
            // Of a systolic product the executor counts one lane.
            let systolic = steps
                .iter()
                .any(|s| matches!(s.action, Action::Systolic(_)));
            let (profile, outcome) = visakit_profile::run(&code, launch, &config, watched)?;
            let counters = outcome.counters;
            let of_steps = outcome.counts.unwrap();
            assert_eq!(
                of_steps.iter().map(|c| c.times).sum::<u64>(),
                counters.instructions,
                "{}",
                case.name()
            );
            if !systolic {
                let lanes: u64 = of_steps.iter().map(|c| c.lanes).sum();
                assert_eq!(lanes, counters.lane_operations, "{}", case.name());
            }
            Ok((profile, [counters.instructions, counters.lane_operations]))
        },
    )
    .unwrap()
}

/// The counts of the blocks are those of the executor, in the interpreter and in machine code, observed or not.
fn holds(folders: &[PathBuf]) {
    let compiler = Jit::host().map(|jit| Arc::new(jit) as Arc<dyn Compiler>);
    if compiler.is_none() {
        eprintln!("NOT RUN: profiles of machine code; the host has no AVX2");
    }
    for folder in folders {
        let (plain, counters) = run(folder, None, Watched::None);
        // Debug information is no code.
        assert!(plain.total.executions <= counters[0], "{folder:?}");
        let (watched, again) = run(folder, None, Watched::Groups(4));
        assert_eq!(counters, again, "{folder:?}");
        let numbers = |profile: &KernelProfile| -> Vec<_> {
            let all = profile.instructions.iter();
            all.map(|i| (i.counts.executions, i.counts.lanes, i.taken, i.parted))
                .collect()
        };
        assert_eq!(numbers(&plain), numbers(&watched), "{folder:?}");
        if let Some(compiler) = &compiler {
            let (compiled, _) = run(folder, Some(Compile::always(compiler)), Watched::None);
            assert_eq!(
                numbers(&plain),
                numbers(&compiled),
                "{folder:?}, machine code"
            );
        }
        let blocks: u64 = plain.blocks.iter().map(|b| b.counts.executions).sum();
        assert_eq!(blocks, plain.total.executions, "{folder:?}");
    }
    eprintln!("{} cases profiled", folders.len());
}

#[test]
fn committed() {
    let folders = cases(&fixtures().join("cases"));
    assert!(folders.len() >= 5);
    holds(&folders);
}

#[test]
fn reference() {
    for root in ["cases", "cases240"] {
        if let Some(root) = shared("profiles of cases", root) {
            // One device of each kernel in three.
            let folders: Vec<_> = cases(&root).into_iter().step_by(3).collect();
            holds(&folders);
        }
    }
}

/// Counting steps change nothing else: the same steps in the same order, code that passes verification, and machine
/// code.
#[test]
fn programs_that_count_are_the_same_programs() {
    let folders = ["kernels", "check", "programs", "profile"].map(|f| fixtures().join(f));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let texts = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "visaasm"));
    let mut programs = 0;
    for path in texts {
        let grf_bytes = if path.to_string_lossy().contains(".pvc.") {
            64
        } else {
            32
        };
        let source = Source::open(&path).unwrap();
        let Ok(object) = source.object(grf_bytes) else {
            continue;
        };
        let (kernel, _) = find_kernel(&object, None).unwrap();
        let program = |count| {
            let options = Options {
                grf_bytes,
                count,
                ..Options::default()
            };
            Program::new(&object, kernel, &options).unwrap()
        };
        let (plain, counts) = (program(false), program(true));
        counts.code().verify().unwrap();
        let origins = |program: &Program| -> Vec<_> {
            let steps = program.code().steps.iter();
            let others = steps.filter(|s| !matches!(s.action, Action::Count(_)));
            others.map(|s| (s.origin, s.lanes, s.predicate)).collect()
        };
        assert!(origins(&plain) == origins(&counts), "{path:?}");
        assert_eq!(plain.take_counts(), None);
        let blocks = |program: &Program| program.code().blocks().len();
        assert_eq!(blocks(&plain), blocks(&counts), "{path:?}");
        if let Some(jit) = Jit::host() {
            let calls = |program: &Program| jit.calls(program.code()).map(|calls| calls.len());
            assert_eq!(calls(&plain), calls(&counts), "{path:?}");
        }
        programs += 1;
    }
    assert!(programs >= 60, "{programs}");
}
