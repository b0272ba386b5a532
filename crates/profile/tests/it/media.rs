//! Media kernels.

use visakit_launch::{
    Config, Dependency, Media, MediaSurface, Source, SurfaceShape, Target, find_kernel,
};
use visakit_profile::{KernelCode, Watched};

/// Every instruction ran once in each of 72 threads, and messages access what they request.
#[test]
fn threads_of_a_space() {
    let path = visakit_testing::fixtures().join("programs/prefix_sum_2d.visaasm");
    let source = Source::open(&path).unwrap();
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let mut media =
        Media::new(&object, id, 32, &visakit_profile::config(Config::default())).unwrap();
    let surface = MediaSurface {
        bytes: vec![0; 400],
        shape: Some(SurfaceShape {
            width: 40,
            height: 10,
            pitch: 40,
        }),
    };
    media.surface(Target::Input(0), &surface).unwrap();
    media.input(1, "0,1,1,1").unwrap();
    media.space = [8, 9];
    media.dependency = Dependency::Wavefront26;
    let code = KernelCode::new(&object, media.program(), None);
    let (profile, outcome) =
        visakit_profile::run_media(&code, &media, &Config::default(), Watched::All).unwrap();
    assert_eq!(
        (profile.groups, profile.watched_groups, outcome.threads),
        (72, 72, 72)
    );
    assert!(!profile.stopped);
    let executions: Vec<_> = profile
        .instructions
        .iter()
        .map(|i| i.counts.executions)
        .collect();
    assert_eq!(executions, vec![72; executions.len()]);
    assert_eq!(profile.total.executions, outcome.counters.instructions);
    let asked: Vec<_> = profile
        .instructions
        .iter()
        .filter_map(|i| i.seen)
        .map(|seen| seen.asked_bytes)
        .collect();
    assert_eq!(asked, [72 * 12, 72 * 4, 72 * 4]);
    // Some of the groups only: counts stay the same.
    let (some, _) =
        visakit_profile::run_media(&code, &media, &Config::default(), Watched::Groups(4)).unwrap();
    assert!(some.watched_groups <= 4);
    assert_eq!(some.total.executions, 72 * executions.len() as u64);
}
