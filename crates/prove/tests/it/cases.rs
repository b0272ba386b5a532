//! The compiler's kernels, each against its own text, and against a version with an instruction changed.

use std::path::Path;
use visakit_isa::object::Object;
use visakit_launch::{Case, Config};
use visakit_prove::{Method, Options, Proof, Side, Verdict, prove, refute};

fn proof(
    path: &Path,
    from_text: bool,
    options: &Options,
    change: impl FnOnce(Object<'static>) -> Object<'static>,
) -> Proof {
    let (config, case) = (Config::default(), Case::open(path).unwrap());
    let proof = case.launch(
        false,
        &config,
        |o| o,
        |kernel, arguments, launch| {
            let old = Side {
                kernel,
                range: *launch.range(),
            };
            case.launch(from_text, &config, change, |kernel, _, launch| {
                let new = Side {
                    kernel,
                    range: *launch.range(),
                };
                let proof = prove(old, new, arguments, &config, options)?;
                if proof.verdict == Verdict::Proven {
                    assert_eq!(refute(old, new, arguments, &config, options)?, None);
                }
                Ok(proof)
            })
        },
    );
    proof.unwrap()
}

/// The object of the compiler and its text are the same program.
#[test]
fn texts_are_proven_equal() {
    let fixtures = visakit_testing::fixtures();
    for case in ["call_sub/dg2", "lreduce/acm-g10", "partial_groups/pvc"] {
        let path = fixtures.join("cases").join(case);
        let mut options = Options::default();
        assert!(
            proof(&path, true, &options, |object| object).method == Method::Steps,
            "{case}"
        );
        options.by_steps = false;
        let proof = proof(&path, true, &options, |object| object);
        assert_eq!(proof.verdict, Verdict::Proven, "{case}");
        assert!(proof.outputs.iter().any(|o| o.written > 0), "{case}");
    }
}
