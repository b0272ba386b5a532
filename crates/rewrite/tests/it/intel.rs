//! Intel's own printer reads converted objects and prints what we print.

#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use visakit_isa::object::Object;
use visakit_isa::{Format, Version};
use visakit_rewrite::convert;
use visakit_text::{Options, Printer};

const TOOL: &str = "GenX_IR";

/// Platforms of the tool, by the platform in the file name.
const PLATFORMS: [(&str, &str, u32); 9] = [
    ("skl", "SKL", 32),
    ("bdw", "BDW", 32),
    ("icl", "ICLLP", 32),
    ("icllp", "ICLLP", 32),
    ("tgl", "TGLLP", 32),
    ("tgllp", "TGLLP", 32),
    ("xehp", "XEHP_SDV", 32),
    ("dg2", "DG2", 32),
    ("pvc", "PVC", 64),
];

#[derive(Default, Debug)]
struct Totals {
    objects: usize,
    refused: usize,
    /// The tool made no text of them.
    unread: usize,
    routines: usize,
    same: usize,
    /// Lines that differ for a reason that `docs/text-differences.md` lists.
    known: usize,
    different: Vec<String>,
}

#[test]
fn intels_printer_reads_what_was_converted() {
    if Command::new(TOOL)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        let _ = writeln!(std::io::stderr(), "NOT RUN: {TOOL} is not installed");
        return;
    }
    let folder = std::env::temp_dir().join(format!("visakit-intel-{}", std::process::id()));
    for version in [Version::V3_6, Version::V4_1] {
        let mut totals = Totals::default();
        let mut found = visakit_testing::objects(&visakit_testing::root().join("fixtures/objects"));
        for corpus in ["corpus/isa", "corpus/ocl", "corpus/asm"] {
            let corpus = visakit_testing::shared("intels_printer_reads_what_was_converted", corpus);
            found.extend(corpus.iter().flat_map(|c| visakit_testing::objects(c)));
        }
        for path in found {
            if !path.to_string_lossy().contains("broken") {
                compare(&path, version, &folder, &mut totals);
            }
        }
        println!(
            "{version}: {} objects converted, {} refused, {} not printed by the tool; \
             {} routines: {} the same text, {} with known differences, {} different",
            totals.objects,
            totals.refused,
            totals.unread,
            totals.routines,
            totals.same,
            totals.known,
            totals.different.len()
        );
        for different in &totals.different {
            println!("  DIFFERENT {different}");
        }
        assert!(totals.different.is_empty());
        assert!(totals.same > 0);
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn compare(path: &Path, version: Version, folder: &Path, totals: &mut Totals) {
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    let suffix = stem.rsplit('_').next().unwrap_or_default();
    let platform = PLATFORMS.iter().find(|(name, ..)| *name == suffix);
    let (_, platform, grf) = platform.copied().unwrap_or(("", "SKL", 32));
    let bytes = std::fs::read(path).unwrap();
    let Ok(object) = visakit_parse::read(&bytes) else {
        return;
    };
    if object.version == version {
        return;
    }
    let Ok(object) = convert(object.clone(), Format::new(version, object.dialect)) else {
        totals.refused += 1;
        return;
    };
    totals.objects += 1;
    std::fs::create_dir_all(folder).unwrap();
    for old in std::fs::read_dir(folder).unwrap() {
        std::fs::remove_file(old.unwrap().path()).unwrap();
    }
    std::fs::write(
        folder.join("object.isa"),
        visakit_encode::write(&object).unwrap(),
    )
    .unwrap();
    let mut tool = Command::new(TOOL);
    tool.args([
        "object.isa",
        "-platform",
        platform,
        "-dumpcommonisa",
        "-noverifyCISA",
    ]);
    tool.current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = tool.status().unwrap();
    let texts = ours(&object, grf);
    let mut any = false;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".visaasm") {
            continue;
        }
        let expected = std::fs::read(path).unwrap();
        any = true;
        totals.routines += 1;
        match texts
            .iter()
            .find(|text| name_line(text) == name_line(&expected))
        {
            Some(printed) => judge(&stem, &expected, printed, totals),
            None => totals
                .different
                .push(format!("{stem}: a routine of another name")),
        }
    }
    totals.unread += usize::from(!any);
}

/// The text of each routine.
fn ours(object: &Object<'_>, grf: u32) -> Vec<Vec<u8>> {
    let printer = Printer::new(
        object,
        Options {
            form: visakit_text::Form::Intel,
            grf_bytes: Some(grf),
        },
    );
    let text = |id| {
        let mut text = Vec::new();
        let Ok(()) = printer.routine(id, &mut text);
        text
    };
    object.routines().map(|(id, _)| text(id)).collect()
}

/// The line that names the routine: files may share a name, the last one stays.
fn name_line(text: &[u8]) -> Option<&[u8]> {
    text.split(|b| *b == b'\n').nth(1)
}

fn judge(stem: &str, expected: &[u8], printed: &[u8], totals: &mut Totals) {
    if expected == printed {
        totals.same += 1;
        return;
    }
    let lines = |text: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(text)
            .lines()
            .map(str::to_owned)
            .collect()
    };
    let (expected, printed) = (lines(expected), lines(printed));
    let known = |a: &str, b: &str| {
        let words = |line: &str| {
            line.split(' ')
                .filter(|w| !w.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let predicate = b.contains("4_typed.")
            && b.split_once(") ")
                .is_some_and(|(_, rest)| words(rest) == words(a));
        let state = a.contains("addr_add") && a.contains("&T") && words(a).len() == words(b).len();
        predicate || state || words(&b.replace("pixel_null_mask.", "")) == words(a)
    };
    let differ: Vec<_> = expected
        .iter()
        .zip(&printed)
        .filter(|(a, b)| a != b)
        .collect();
    if expected.len() == printed.len() && differ.iter().all(|(a, b)| known(a, b)) {
        totals.known += 1;
        return;
    }
    let (a, b) = differ
        .first()
        .map_or(("", ""), |(a, b)| (a.as_str(), b.as_str()));
    totals
        .different
        .push(format!("{stem}:\n    expected {a}\n    printed  {b}"));
}
