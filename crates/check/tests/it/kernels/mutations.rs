//! Clean kernels with one change: a barrier removed, an index moved, a barrier split in two halves.

use super::{Spec, metadata, report, specs, texts};
use visakit_check::{Finding, Kind};
use visakit_launch::{Source, ZeInfo};

const PROGRAMS: [(&str, [(&str, u32); 2]); 2] = [
    ("pairs", [("dg2", 32), ("pvc", 64)]),
    ("more", [("dg2", 32), ("skl", 32)]),
];

/// A clean kernel on a device.
struct Clean<'a> {
    device: &'a str,
    grf_bytes: u32,
    zeinfo: &'a ZeInfo,
    spec: &'a Spec,
    lines: Vec<String>,
}

impl Clean<'_> {
    /// The findings with other lines.
    fn with(&self, lines: &[String]) -> Vec<Finding> {
        let source = Source {
            path: "mutant.visaasm".into(),
            bytes: lines.join("\n").into_bytes(),
        };
        let words = &self.spec.clean;
        report(&source, self.grf_bytes, self.zeinfo, self.spec, words, None).findings
    }
}

/// Visits each clean kernel of all programs and devices.
fn each(mut look: impl FnMut(&Clean<'_>)) {
    for (program, devices) in PROGRAMS {
        let specs = specs(program);
        for (device, grf_bytes) in devices {
            let texts = texts(program, device, "clean");
            let zeinfo = &metadata(program, device, "clean");
            for spec in &specs {
                let other = !spec.runs_on(device);
                let Some(source) = texts.get(&spec.name).filter(|_| !other) else {
                    continue;
                };
                let text = String::from_utf8_lossy(&source.bytes);
                look(&Clean {
                    device,
                    grf_bytes,
                    zeinfo,
                    spec,
                    lines: text.lines().map(str::to_owned).collect(),
                });
            }
        }
    }
}

fn is_fence(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("");
    word.starts_with("fence") || word.starts_with("lsc_fence")
}

fn is_race(finding: &Finding) -> bool {
    matches!(finding.kind, Kind::Race | Kind::RaceSameValue)
}

/// A kernel without one of its barriers, with the fences before it, has a race, or reads what is not written yet.
#[test]
fn barriers_that_are_missing() {
    let (mut removed, mut found, mut missed) = (0, 0, Vec::new());
    each(|clean| {
        for (at, line) in clean.lines.iter().enumerate() {
            if line.trim() != "barrier" {
                continue;
            }
            let before = clean.lines.iter().take(at).rev();
            let fences = before.take_while(|line| is_fence(line)).count();
            let mut lines = clean.lines.clone();
            lines.drain(at - fences..=at);
            removed += 1;
            if clean.with(&lines).is_empty() {
                missed.push(format!("{} {} line {at}", clean.spec.name, clean.device));
            } else {
                found += 1;
            }
        }
    });
    println!("{found} of {removed} missing barriers; not: {missed:#?}");
    assert!(removed > 150, "{removed}");
    assert!(
        found * 20 >= removed * 17,
        "{found} of {removed}: {missed:#?}"
    );
}

/// The variable that a line declares, its type and number of elements.
fn declared(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(".decl ")?;
    let (name, rest) = rest.split_once(' ')?;
    let ty = rest.split("type=").nth(2)?.split_whitespace().next()?;
    rest.starts_with("v_type=G").then_some((name, ty))
}

/// The variable that has the addresses of a message.
fn address(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let operation = words.first()?;
    let operand = if operation.starts_with("lsc_") {
        line.split_once('[')?.1
    } else if operation.starts_with("gather") || operation.starts_with("scatter") {
        // Operation, two words for lanes, surface, offset.
        words.get(5)?
    } else {
        return None;
    };
    let end = operand.find(|c: char| !c.is_ascii_alphanumeric());
    operand.get(..end.unwrap_or(operand.len()))
}

/// The variables that have addresses, and those whose storage they share.
fn addresses(lines: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = lines.iter().filter_map(|line| address(line)).collect();
    for line in lines.iter().filter(|line| line.starts_with(".decl ")) {
        let name = line.split(' ').nth(1).unwrap_or("");
        let shared = line.split_once("alias=<").map(|(_, rest)| rest);
        if names.contains(&name)
            && let Some((of, _)) = shared.and_then(|rest| rest.split_once(','))
        {
            names.push(of);
        }
    }
    names
}

/// Makes a sum of integers that is an address a megabyte larger: the words of the changed line.
fn larger(line: &str, lines: &[String], addresses: &[&str]) -> Option<String> {
    let rest = line.trim().strip_prefix("add (")?;
    let (lanes, rest) = rest.split_once(") ")?;
    let to = rest.split_once('<')?.0;
    let (name, _) = to.split_once('(')?;
    let mut declarations = lines.iter().filter_map(|line| declared(line));
    let (_, ty) = declarations.find(|(known, _)| *known == name)?;
    let region = if lanes.ends_with(" 1") {
        "<0;1,0>"
    } else {
        "<1;1,0>"
    };
    (addresses.contains(&name) && matches!(ty, "d" | "ud" | "q" | "uq"))
        .then(|| format!("    add ({lanes}) {to}<1> {to}{region} 0x100000:d"))
}

/// Whether the lines first mask a variable: then its magnitude does not matter.
fn is_masked(line: &str, following: &[String]) -> bool {
    let to = line
        .split_once(") ")
        .and_then(|(_, rest)| rest.split_once('('));
    let Some((name, _)) = to else { return false };
    let uses = |line: &&String| {
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| word == name)
    };
    let next = following.iter().find(uses);
    next.is_some_and(|line| line.trim().starts_with("and ("))
}

/// Addresses that are far too large are out of bounds, unless they are tested first.
#[test]
fn addresses_that_are_too_large() {
    let (mut moved, mut found, mut missed) = (0, 0, Vec::new());
    each(|clean| {
        let addresses = addresses(&clean.lines);
        for (at, line) in clean.lines.iter().enumerate() {
            let Some(more) = larger(line, &clean.lines, &addresses) else {
                continue;
            };
            if is_masked(line, clean.lines.get(at + 1..).unwrap_or(&[])) {
                continue;
            }
            let mut lines = clean.lines.clone();
            lines.insert(at + 1, more);
            moved += 1;
            if clean.with(&lines).is_empty() {
                missed.push(format!("{} {} {line}", clean.spec.name, clean.device));
            } else {
                found += 1;
            }
        }
    });
    println!("{found} of {moved} addresses; not: {missed:#?}");
    assert!(moved > 1000, "{moved}");
    assert!(found * 10 >= moved * 9, "{found} of {moved}");
}

/// A split barrier orders what comes before its signal, if that is fenced, and what comes after its wait.
#[test]
fn halves_of_barriers() {
    let (mut halved, mut unfenced, mut late) = (0, 0, 0);
    each(|clean| {
        if clean.spec.name != "transpose" {
            return;
        }
        let lines = &clean.lines;
        let at = lines
            .iter()
            .position(|line| line.trim() == "barrier")
            .unwrap();
        let store = lines.iter().take(at).rposition(|line| {
            let word = line.split_whitespace().next().unwrap_or("");
            word.starts_with("scatter") || word.starts_with("lsc_store")
        });
        let store = store.unwrap();
        let with = |signal: &[&str]| {
            let mut halves: Vec<String> = lines.clone();
            let new = signal.iter().map(|line| (*line).to_owned());
            halves.splice(at..=at, new);
            halves
        };
        let plain = with(&["sbarrier.signal", "sbarrier.wait"]);
        assert!(clean.with(&plain).is_empty());
        halved += 1;
        let mut without = plain.clone();
        without.retain(|line| !is_fence(line));
        if clean.with(&without).iter().any(is_race) {
            unfenced += 1;
        }
        // What is written between the halves is not ordered with what others read after them.
        let moved = lines[store].clone();
        let mut between = with(&["sbarrier.signal", &moved, "sbarrier.wait"]);
        between.remove(store);
        if clean.with(&between).iter().any(is_race) {
            late += 1;
        }
    });
    assert_eq!((halved, unfenced, late), (2, 2, 2));
}
