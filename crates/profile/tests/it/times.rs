use crate::support::{addresses, profile, with_launches};
use visakit_profile::{Timer, Watched};

/// A load whose lanes are one line apart each: it transfers sixteen times what it requests.
fn scattered() -> String {
    let load = "lsc_load.ugm (M1, 16) B:d32 flat[PTR]:a64";
    format!("{}{load}", addresses(64))
}

fn times(grid: (u32, u32), launches: usize) -> Vec<f64> {
    with_launches(&scattered(), grid, true, |code, config, launch| {
        let timer = Timer::new(code);
        let time = |_| timer.run(launch(), config).unwrap().0.nanoseconds;
        (0..launches).map(time).collect()
    })
}

fn of_profile(grid: (u32, u32), watched: Watched) -> f64 {
    profile(&scattered(), grid, watched, true).nanoseconds
}

/// Times are those of profiles; the samples of the first launch apply to the following ones.
#[test]
fn times_are_those_of_profiles() {
    let many = (16 * 64, 16);
    let seen = of_profile(many, Watched::Groups(1));
    assert_eq!(times(many, 3), [seen; 3]);
    assert!(seen > of_profile(many, Watched::None));
}

/// With few groups none is sampled: it would be a large part of the launch.
#[test]
fn small_launches_are_not_looked_at() {
    let few = (16 * 4, 16);
    assert_eq!(times(few, 2), [of_profile(few, Watched::None); 2]);
}
