//! Kernels with one fault each, and their correct counterparts: their findings, and at which line.

use std::path::Path;
use visakit_check::{Checks, Finding, check, config};
use visakit_launch::{Argument, Config, Kernel, NdRange, Source, ZeInfo};

/// Work-items, four groups of 64.
const ITEMS: i32 = 256;

fn buffer(value: impl Fn(i32) -> i32) -> Argument {
    Argument::Buffer((0..ITEMS).flat_map(|i| value(i).to_le_bytes()).collect())
}

fn number(n: i32) -> Argument {
    Argument::Value(n.to_le_bytes().to_vec())
}

fn findings(
    device: (&str, u32),
    name: &str,
    arguments: &[Argument],
    uninitialized: &[usize],
) -> Vec<Finding> {
    let folder = visakit_testing::fixtures().join("check");
    let file = |path: String| folder.join(path);
    let (device, grf_bytes) = device;
    let source = Source::open(Path::new(&file(format!("{name}.{device}.visaasm")))).unwrap();
    let object = Source::link(std::slice::from_ref(&source), grf_bytes).unwrap();
    let zeinfo = std::fs::read_to_string(file(format!("faults.{device}.zeinfo"))).unwrap();
    let zeinfo = ZeInfo::parse(&zeinfo).unwrap();
    let mut kernel = Kernel::new(&object, name, &zeinfo).unwrap();
    kernel.grf_bytes = grf_bytes;
    let range = NdRange::new(&[256], &[64], &[]).unwrap();
    let config = config(Config::default());
    let launch = kernel.prepare(&range, arguments, &config).unwrap();
    let report = check(&kernel, launch, &config, Checks::ALL, uninitialized);
    report.unwrap().findings
}

#[test]
fn each_fault_with_its_line() {
    use Argument::{Local, Null};
    let zeros = || buffer(|_| 0);
    let iota = || buffer(|i| i);
    let small = || buffer(|i| i % 16);
    let wide = || Argument::Buffer(vec![0; 2048]);
    let word = || Argument::Buffer(vec![0; 4]);
    // Kernel, arguments, those without initial content, findings: kind, space and line.
    type Row = (
        &'static str,
        Vec<Argument>,
        &'static [usize],
        &'static [(&'static str, &'static str, u32)],
    );
    let rows: Vec<Row> = vec![
        (
            "read_past",
            vec![zeros(), iota()],
            &[],
            &[("out-of-bounds", "global", 4)],
        ),
        (
            "read_inside",
            vec![zeros(), iota(), number(ITEMS)],
            &[],
            &[],
        ),
        (
            "write_before",
            vec![zeros()],
            &[],
            &[("out-of-bounds", "global", 12)],
        ),
        (
            "through_null",
            vec![zeros(), Null],
            &[],
            &[("null", "global", 16)],
        ),
        (
            "past_local",
            vec![zeros(), Local(256), Local(256)],
            &[],
            &[
                ("out-of-bounds", "local", 20),
                ("out-of-bounds", "local", 23),
            ],
        ),
        (
            "inside_local",
            vec![zeros(), Local(256), Local(256)],
            &[],
            &[],
        ),
        (
            "past_private",
            vec![zeros(), small()],
            &[],
            &[("out-of-bounds", "private", 36)],
        ),
        ("inside_private", vec![zeros(), small()], &[], &[]),
        (
            "odd_address",
            vec![zeros(), wide()],
            &[],
            &[("misaligned", "global", 48)],
        ),
        (
            "unset_local",
            vec![zeros()],
            &[],
            &[("uninitialized", "local", 55)],
        ),
        ("set_local", vec![zeros()], &[], &[]),
        (
            "unset_private",
            vec![zeros(), small(), number(16)],
            &[],
            &[("uninitialized", "register", 68)],
        ),
        (
            "unset_branch",
            vec![wide(), zeros()],
            &[1],
            &[("uninitialized", "global", 72)],
        ),
        (
            "race_local",
            vec![zeros(), iota()],
            &[],
            &[("race", "local", 78)],
        ),
        (
            "race_in_loop",
            vec![zeros(), iota()],
            &[],
            &[("race", "local", 87)],
        ),
        ("reduce", vec![zeros(), iota()], &[], &[]),
        (
            "race_groups",
            vec![zeros()],
            &[],
            &[("race", "global", 104)],
        ),
        (
            "race_same",
            vec![zeros()],
            &[],
            &[("race-same-value", "global", 108)],
        ),
        (
            "race_atomic",
            vec![zeros(), word()],
            &[],
            &[("race", "global", 112)],
        ),
        ("last_group", vec![zeros(), word(), zeros()], &[], &[]),
        (
            "wrong_fence",
            vec![zeros(), zeros()],
            &[],
            &[("race", "global", 134)],
        ),
        ("right_fence", vec![zeros(), zeros()], &[], &[]),
        (
            "diverging",
            vec![zeros()],
            &[],
            &[("barrier-divergence", "local", 146)],
        ),
        (
            "early_return",
            vec![zeros(), number(230)],
            &[],
            &[("barrier-divergence", "local", 154)],
        ),
    ];
    for (name, arguments, uninitialized, expected) in rows {
        for device in [("dg2", 32), ("pvc", 64)] {
            let found = findings(device, name, &arguments, uninitialized);
            let mut got: Vec<_> = found
                .iter()
                .map(|f| (f.kind.name(), f.space.name(), f.place.line.unwrap_or(0)))
                .collect();
            // Between groups, threads, lanes.
            got.dedup();
            assert_eq!(got, expected, "{name} for {}: {found:#?}", device.0);
        }
    }
}

/// A race names both work-items and both lines, an access the object that it misses and by how much.
#[test]
fn what_a_finding_tells() {
    let iota = || buffer(|i| i);
    let found = findings(("pvc", 64), "read_past", &[buffer(|_| 0), iota()], &[]);
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        finding.message,
        "read of 4 bytes just past the end of `in` (1024 bytes)"
    );
    assert_eq!(finding.item.unwrap().global, Some([255, 0, 0]));
    assert_eq!(finding.target.as_ref().unwrap().argument, Some(1));
    assert_eq!(finding.count, 1);

    let found = findings(("pvc", 64), "race_local", &[buffer(|_| 0), iota()], &[]);
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    let other = finding.other.as_ref().unwrap();
    assert_eq!(other.place.as_ref().unwrap().line, Some(79));
    let (this, that) = (finding.item.unwrap(), other.item.unwrap());
    assert_eq!(this.local.unwrap()[0] + that.local.unwrap()[0], 63);
}
