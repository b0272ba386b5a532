//! Source variables by the compiler's debug information: `fixtures/debug`, from compilers of two generations.

use proptest::prelude::*;
use visakit_debug::{Console, Listing, Session, Sources, Step, Stop, Symbols, Target};
use visakit_launch::{Argument, Config, DebugFiles, Dump, Kernel, NdRange, link};

/// Work-items, in two groups.
const ITEMS: usize = 64;
const GROUP: usize = 32;
/// The argument `n`.
const N: usize = 5;

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn input(item: usize) -> f32 {
    (item * item) as f32
}

fn float(item: impl IntoIterator<Item = f32>) -> Vec<u8> {
    item.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A session of the kernel for a device.
fn session(device: &str, change: impl FnOnce(DebugFiles) -> DebugFiles) -> Session {
    let folder = visakit_testing::fixtures().join("debug").join(device);
    let dumped = Dump::open(&folder).unwrap().kernel(None).unwrap();
    let zeinfo = dumped.metadata.unwrap().zeinfo;
    let options = visakit_launch::Reading {
        grf_bytes: zeinfo.grf_bytes(),
        ..Default::default()
    };
    let linked = link(&dumped.sources, &options).unwrap();
    let mut kernel = Kernel::new(&linked.object, &dumped.name, &zeinfo).unwrap();
    kernel.grf_bytes = linked.grf_bytes.unwrap();
    kernel.locals = dumped.locals;
    let (items, group) = (u32::try_from(ITEMS).unwrap(), u32::try_from(GROUP).unwrap());
    let range = NdRange::new(&[items], &[group], &[]).unwrap();
    let arguments = [
        Argument::Buffer(vec![0; ITEMS * 4]),
        Argument::Buffer(float((0..ITEMS).map(input))),
        Argument::Value(u32::try_from(N).unwrap().to_le_bytes().to_vec()),
    ];
    let config = Config::default();
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    let listing = Listing::new(kernel.object(), launch.program().code(), kernel.grf_bytes);
    let files = change(dumped.debug.unwrap());
    let symbols = Symbols::read(&files, &kernel.locals, kernel.grf_bytes).ok();
    let target = Target::kernel(launch, config.limits);
    Session::new(target, listing).unwrap().with_symbols(symbols)
}

/// The values that a variable of a work-item may have, by the source.
fn possible(name: &str, item: usize) -> Vec<String> {
    let local = item % GROUP;
    // The first and the last element of the tile are never set.
    let tile = |at: usize| {
        let inside = (1..=GROUP).contains(&at);
        if inside {
            input(item - local + at - 1)
        } else {
            0.0
        }
    };
    let partial = |count: usize| (0..count).fold(0.0, |sum, i| sum + tile(local + i));
    let twice = (N + item) * 2;
    let all: Vec<f32> = (0..=3).map(partial).collect();
    match name {
        "n" => vec![N.to_string()],
        "g" => vec![item.to_string()],
        "value" => vec![(N + item).to_string()],
        "doubled" => vec![twice.to_string()],
        "i" => (0..=3).map(|i: usize| i.to_string()).collect(),
        "sum" => all.iter().map(|sum| format!("{sum:?}")).collect(),
        "result.count" => vec![(twice + 1).to_string()],
        "result.sum" => vec![format!("{:?}", all[3])],
        other => panic!("{other}"),
    }
}

/// Whatever is shown of a variable at any instruction, for any lane of any thread, is right, and most of it is shown.
#[test]
fn every_value_that_is_shown_is_one_of_the_source() {
    for (device, wanted) in [
        ("dg2", &["n", "g", "sum", "i"][..]),
        ("bmg", &["n", "g", "sum", "i", "result.count"]),
    ] {
        let mut session = session(device, |files| files);
        let mut seen: Vec<String> = Vec::new();
        while !matches!(session.step(Step::Group).unwrap(), Stop::Ended) {
            if session.is_ended() {
                break;
            }
            let (thread, _) = session.focus();
            for lane in 0..session.target().lanes() {
                session.look_at(thread, lane).unwrap();
                let item = session
                    .target()
                    .work_item(session.time().group, thread, lane);
                let item = usize::try_from(item.unwrap().global[0]).unwrap();
                for name in [
                    "n",
                    "g",
                    "value",
                    "doubled",
                    "i",
                    "sum",
                    "result.count",
                    "result.sum",
                ] {
                    let view = session.source_view(name);
                    let Some(Ok(text)) = view.map(|view| view.text) else {
                        continue;
                    };
                    let place = session.place().unwrap();
                    let possible = possible(name, item);
                    assert!(
                        possible.contains(&text),
                        "{device}: {name} of {item} before instruction {} is {text}, not one of {possible:?}",
                        place.instruction
                    );
                    if !seen.iter().any(|known| known == name) {
                        seen.push(name.to_owned());
                    }
                }
            }
        }
        for name in wanted {
            assert!(
                seen.iter().any(|known| known == name),
                "{device}: {name} in {seen:?}"
            );
        }
    }
}

#[test]
fn a_session_with_names_of_the_source() {
    let sources = Sources::new(vec![visakit_testing::fixtures().join("debug")]);
    let mut console = Console::new(session("dg2", |files| files), sources);
    let commands = [
        "info locals",
        "break stencil.cl:18 if any(g == 3)",
        "continue",
        "lane 3",
        "info locals",
        "print g",
        "print tile[4]",
        "print tile[99]",
        "print tile[4] + g * n",
        "print in[g]",
        "set tile[4] = 0.5",
        "print tile",
        "print tile.x",
        "break stencil.cl:20",
        "continue",
        "print sum",
        "print nothing",
        "print result",
    ];
    insta::assert_snapshot!(crate::console::transcript(&mut console, &commands));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged debug information says less, and does nothing else.
    #[test]
    fn damaged_debug_information_is_survived(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), any::<bool>()), 1..8),
        cut in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        let damage = |mut files: DebugFiles| {
            for (at, value, table) in &changes {
                let bytes = if *table { &mut files.table } else { &mut files.dwarf };
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            if let Some(cut) = cut {
                let end = cut.index(files.dwarf.len());
                files.dwarf.truncate(end);
            }
            files
        };
        let mut session = session("bmg", damage);
        for _ in 0..6 {
            session.step(Step::Line).unwrap();
            let _ = session.locals();
        }
    }
}
