//! Sessions on real kernels: a controlled run behaves like a free one, and going back is exact.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod blur;
mod console;
mod exact;
mod media;
mod screen;
mod symbols;

pub(crate) use blur::blur;
use std::path::{Path, PathBuf};
use visakit_debug::{Console, Listing, Session, Sources, Target};
use visakit_launch::{Bare, Case, Config, Source, find_kernel};

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

/// A session of a bare routine.
pub(crate) fn bare(text: &str, sets: &[(&str, &str)]) -> Console {
    let source = Source {
        path: PathBuf::from("bare.visaasm"),
        bytes: text.as_bytes().to_vec(),
    };
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let mut bare = Bare::new(&object, id, 32, &Config::default()).unwrap();
    for (name, value) in sets {
        bare.set(name, value).unwrap();
    }
    let listing = Listing::new(&object, bare.program().code(), 32);
    let session = Session::new(Target::bare(bare), listing).unwrap();
    Console::new(session, Sources::default())
}
