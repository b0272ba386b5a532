//! Media kernels: every pixel, and the number of instructions, as in the interpreter.

use super::{Random, compilers};
use std::path::Path;
use std::sync::Arc;
use visakit_exec::Compiler;
use visakit_launch::{
    Compile, Config, Dependency, Media, MediaSurface, Source, SurfaceShape, Target, find_kernel,
};

/// Runs a kernel in the interpreter and by each compiler, on surfaces of random bytes.
fn agree(file: &Path, space: [u32; 2], dependency: Dependency, sides: &[(u32, u32)], input: &str) {
    let source = Source::open(file).unwrap();
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let run = |compile: Option<Compile<'_>>| {
        let mut random = Random(3);
        let mut media = Media::new(&object, id, 32, &Config::default()).unwrap();
        for (number, &(width, height)) in sides.iter().enumerate() {
            let bytes = (0..width * height)
                .map(|_| random.next().to_le_bytes()[3])
                .collect();
            let shape = Some(SurfaceShape {
                width,
                height,
                pitch: width,
            });
            media
                .surface(Target::Input(number), &MediaSurface { bytes, shape })
                .unwrap();
        }
        if !input.is_empty() {
            media.input(sides.len(), input).unwrap();
        }
        media.space = space;
        media.dependency = dependency;
        if let Some(compile) = compile {
            media.compile(&compile);
        }
        media.run(&Config::default()).unwrap()
    };
    let expected = run(None);
    assert!(!expected.compiled);
    for jit in compilers() {
        let compiler: Arc<dyn Compiler> = Arc::new(jit);
        let outcome = run(Some(Compile::always(&compiler)));
        assert!(outcome.compiled);
        assert_eq!(outcome.counters, expected.counters);
        assert_eq!(outcome.threads, expected.threads);
        assert!(
            outcome.surfaces().eq(expected.surfaces()),
            "{file:?} with {:?}",
            jit.features()
        );
    }
}

#[test]
fn threads_that_wait_for_others() {
    let file = visakit_testing::fixtures().join("programs/prefix_sum_2d.visaasm");
    for (dependency, space) in [
        (Dependency::Vertical, [1, 9]),
        (Dependency::Horizontal, [12, 1]),
        (Dependency::Wavefront26, [12, 9]),
    ] {
        agree(&file, space, dependency, &[(56, 10)], "1,2,3,4");
    }
}

#[test]
fn shipped_kernels() {
    let Some(root) = visakit_testing::shared("machine code of media kernels", "corpus/isa") else {
        return;
    };
    let two = root.join("genx_hevce_down_sample_mb_skl-634913da.isa");
    agree(&two, [4, 3], Dependency::Free, &[(64, 48), (32, 24)], "");
    let four = root.join("genx_hevce_down_sample_mb_2tiers_skl-ea60b0a5.isa");
    agree(
        &four,
        [2, 2],
        Dependency::Free,
        &[(64, 32), (32, 16), (16, 8)],
        "",
    );
}
