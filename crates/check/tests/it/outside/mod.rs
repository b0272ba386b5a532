//! Generated programs that read past the end of a buffer by each form of message, and let what they read get to an
//! output, or not.
//!
//! What is right is known without a checker: the same program runs with a larger buffer, several times with different
//! content past the end. If an output differs, the read must be found. Programs that only move bits are followed
//! exactly: if no output differs, nothing may be found.

mod program;

use program::{Program, Rng};
use visakit_check::{Checks, Finding, Kind, check, config};
use visakit_launch::{Argument, Config, Kernel, NdRange, Source, ZeInfo};

/// Bytes of the larger buffer.
const ROOM: usize = 4096;
/// Contents past the end that are tried: a bit that gets to an output is the same in all of them once in 65536 times.
const TRIALS: usize = 16;

const ZEINFO: &str = "---
version: '1.20'
kernels:
  - name: outside
    execution_env:
      grf_count: 128
      simd_size: 16
      slm_size: 1024
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless, addrspace: global, access_type: readonly}
      - {arg_type: arg_bypointer, offset: 8, size: 8, arg_index: 1, addrmode: stateless, addrspace: global, access_type: readwrite}
    binding_table_indices:
      - {bti_value: 0, arg_index: 0}
      - {bti_value: 1, arg_index: 1}
kernels_misc_info:
  - name: outside
    args_info:
      - {index: 0, name: in, address_qualifier: __global, type_name: 'void*;8'}
      - {index: 1, name: out, address_qualifier: __global, type_name: 'void*;8'}
...
";

/// Whether the outputs depend on what is past the end, and whether that is found.
fn verdict(program: &Program, rng: &mut Rng) -> (bool, Option<Finding>) {
    let text = program.text();
    let source = Source {
        path: "outside.visaasm".into(),
        bytes: text.clone().into_bytes(),
    };
    let object = source
        .object(64)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let zeinfo = ZeInfo::parse(ZEINFO).unwrap();
    let mut kernel = Kernel::new(&object, "outside", &zeinfo).unwrap();
    kernel.grf_bytes = 64;
    let range = NdRange::new(&[16], &[16], &[]).unwrap();
    let limits = config(Config::default());
    let inside: Vec<u8> = (0..program.size).map(|_| rng.byte()).collect();
    let out = || Argument::Buffer(vec![0; 64]);
    let result = |content: Vec<u8>| {
        let arguments = [Argument::Buffer(content), out()];
        let launch = kernel.prepare(&range, &arguments, &limits);
        let launch = launch.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let outcome = launch.run(&limits);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{text}"));
        outcome.memory(1).unwrap().to_vec()
    };
    let mut results = (0..TRIALS).map(|_| {
        let outside = (program.size..ROOM).map(|_| rng.byte());
        result(inside.iter().copied().chain(outside).collect())
    });
    let first = results.next().unwrap();
    let differs = results.any(|other| other != first);
    let arguments = [Argument::Buffer(inside.clone()), out()];
    let launch = kernel.prepare(&range, &arguments, &limits).unwrap();
    let report = check(&kernel, launch, &limits, Checks::ALL, &[]).unwrap();
    let of_input = |f: &Finding| {
        f.kind == Kind::OutOfBounds && f.target.as_ref().is_some_and(|t| t.argument == Some(0))
    };
    (differs, report.findings.into_iter().find(of_input))
}

fn number_of_programs() -> u64 {
    let wanted = std::env::var("VISAKIT_OUTSIDE").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(24)
}

#[test]
fn what_gets_to_an_output_is_found() {
    let (mut used, mut unused) = (0, 0);
    for form in program::FORMS {
        for seed in 0..number_of_programs() {
            let mut rng = Rng::new(seed);
            let exact = seed % 2 == 0;
            let program = Program::new(form, exact, &mut rng);
            let (differs, found) = verdict(&program, &mut rng);
            let text = || format!("seed {seed}, {} bytes\n{}", program.size, program.text());
            assert!(found.is_some() || !differs, "missed: {}", text());
            if let Some(found) = found
                && exact
            {
                assert!(differs, "false alarm: {}{found:#?}", text());
            }
            if differs {
                used += 1;
            } else {
                unused += 1;
            }
        }
    }
    assert!(used > unused / 8 && unused > used / 8, "{used} {unused}");
}
