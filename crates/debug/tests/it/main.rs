//! Sessions on real kernels: what runs under control does what it does alone, and going back is exact.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod console;
mod exact;

use std::path::{Path, PathBuf};
use visakit_debug::{Console, Listing, Session, Sources, Target};
use visakit_launch::{Argument, Bare, Case, Config, Kernel, NdRange, Source, ZeInfo, find_kernel};

/// A session of a case.
pub(crate) fn case(path: &Path) -> Session {
    let config = Config::default();
    let case = Case::open(path).unwrap();
    let made = case.launch(
        false,
        &config,
        |object| object,
        |kernel, _, launch| {
            let code = launch.program().code();
            let listing = Listing::new(kernel.object(), code, kernel.grf_bytes);
            Ok((Target::kernel(launch, config.limits), listing))
        },
    );
    let (target, listing) = made.unwrap();
    Session::new(target, listing).unwrap()
}

/// The cases of the fixtures.
pub(crate) fn cases() -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut all: Vec<_> = entries.map(|entry| entry.path()).collect();
        all.sort();
        all
    };
    let kernels = inside(&visakit_testing::fixtures().join("cases"));
    let all = kernels.iter().flat_map(|kernel| inside(kernel));
    all.filter(|path| path.join("case.json").exists()).collect()
}

/// A session of `blur`, which has source lines: two groups of two threads of 32 lanes.
pub(crate) fn blur() -> Console {
    let folder = visakit_testing::fixtures().join("kernels");
    let source = Source::open(&folder.join("blur.dg2.visaasm")).unwrap();
    let object = source.object(32).unwrap();
    let zeinfo = std::fs::read_to_string(folder.join("blur.dg2.zeinfo")).unwrap();
    let zeinfo = ZeInfo::parse(&zeinfo).unwrap();
    let kernel = Kernel::new(&object, "blur", &zeinfo).unwrap();
    let numbers = (0..128_u8).flat_map(|n| f32::from(n).to_le_bytes());
    let arguments = [
        Argument::Buffer(numbers.collect()),
        Argument::Buffer(vec![0; 512]),
        Argument::Local(66 * 4),
        Argument::Value(128_i32.to_le_bytes().to_vec()),
    ];
    let range = NdRange::new(&[128], &[64], &[]).unwrap();
    let config = Config::default();
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    let listing = Listing::new(&object, launch.program().code(), 32);
    let target = Target::kernel(launch, config.limits);
    let session = Session::new(target, listing).unwrap();
    Console::new(session, Sources::new(vec![folder]))
}

/// A session of a bare routine.
pub(crate) fn bare(text: &str, sets: &[(&str, &str)]) -> Console {
    let source = Source {
        path: PathBuf::from("bare.visaasm"),
        bytes: text.as_bytes().to_vec(),
    };
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let mut bare = Bare::new(&object, id, 32, false).unwrap();
    for (name, value) in sets {
        bare.set(name, value).unwrap();
    }
    let listing = Listing::new(&object, bare.program().code(), 32);
    let session = Session::new(Target::bare(bare), listing).unwrap();
    Console::new(session, Sources::default())
}
