//! Mistakes that are planted in the compiler's kernels: none is proven that a run tells apart.

use crate::pairs::{both, grf_bytes, number, object, pair, setting, text};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use visakit_isa::object::Object;
use visakit_launch::{Argument, Case, Config};
use visakit_prove::{Options, Side, Verdict, prove, refute};
use visakit_testing::layouts::Random;

/// What is changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Immediate,
    Condition,
    Operand,
    Modifier,
    Type,
    Offset,
    Mask,
    Barrier,
}

const KINDS: [Kind; 8] = [
    Kind::Immediate,
    Kind::Condition,
    Kind::Operand,
    Kind::Modifier,
    Kind::Type,
    Kind::Offset,
    Kind::Mask,
    Kind::Barrier,
];

/// A number in hexadecimal digits after a place.
fn digits(line: &str, from: usize) -> Option<(usize, usize)> {
    let first = from + line.get(from..)?.find("0x")? + 2;
    let rest = line.get(first..)?;
    let count = rest
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(rest.len());
    Some((first, first + count))
}

/// The line with a mistake of that kind; `None` if it has no place for one.
fn planted(random: &mut Random, kind: Kind, line: &str) -> Option<String> {
    if kind == Kind::Barrier {
        return (line.trim() == "barrier").then(String::new);
    }
    let operands = line.find(')')?;
    let swap = |pairs: &[(&str, &str)], turn: usize| {
        let fit: Vec<_> = pairs
            .iter()
            .filter(|(from, _)| line.contains(from))
            .collect();
        let (from, to) = fit.get(turn % fit.len().max(1))?;
        Some(line.replacen(from, to, 1))
    };
    let turn = random.below(64);
    match kind {
        Kind::Immediate => {
            let (first, last) = digits(line, operands)?;
            let value = u64::from_str_radix(&line[first..last], 16).ok()?;
            let other = match turn % 3 {
                0 => value ^ 1,
                1 => value.wrapping_add(1) & 0xffff_ffff,
                _ => value ^ 1 << (turn % 5),
            };
            Some(format!("{}{other:x}{}", &line[..first], &line[last..]))
        }
        Kind::Condition => swap(
            &[
                (".lt ", ".le "),
                (".le ", ".lt "),
                (".gt ", ".ge "),
                (".ge ", ".gt "),
                (".eq ", ".ne "),
                (".ne ", ".eq "),
                (".eq ", ".le "),
            ],
            turn,
        ),
        Kind::Operand => {
            // Another register of the line, or the sources exchanged.
            let words: Vec<&str> = line.split(' ').collect();
            let registers: Vec<usize> = (0..words.len())
                .filter(|n| words[*n].contains(";") && words[*n].starts_with(['V', '(']))
                .collect();
            let [first, .., last] = registers[..] else {
                return None;
            };
            let mut other = words.clone();
            match turn % 3 {
                0 => other[first] = words[last],
                1 => other[last] = words[first],
                _ => other.swap(first, last),
            }
            Some(other.join(" "))
        }
        Kind::Modifier => swap(
            &[
                ("(-)", ""),
                ("(abs)", ""),
                (".sat", ""),
                (" V", " (-)V"),
                ("(~)", ""),
            ],
            turn,
        )
        .filter(|made| !made.contains("> (-)V") || made.matches("(-)V").count() > 0),
        Kind::Type => swap(
            &[
                (":d", ":w"),
                (":ud", ":uw"),
                (":w", ":uw"),
                (":f", ":d"),
                ("type=d ", "type=ud "),
                ("type=ud ", "type=d "),
                ("type=w ", "type=uw "),
                ("type=f ", "type=d "),
                ("asr ", "shr "),
            ],
            turn,
        ),
        Kind::Offset => swap(
            &[
                ("(0,0)<0;1,0>", "(0,1)<0;1,0>"),
                ("(0,1)<", "(0,0)<"),
                ("(0,0)<1;1,0>", "(0,1)<1;1,0>"),
                ("(1,0)<", "(0,0)<"),
                (" 0x0:ud V", " 0x4:ud V"),
                ("(0,0)<1;1,0>", "(0,0)<0;1,0>"),
                ("(0,0)<2;1,0>", "(0,1)<2;1,0>"),
            ],
            turn,
        ),
        Kind::Mask => swap(
            &[
                ("(M1, 16)", "(M1, 8)"),
                ("(M5, 16)", "(M1, 16)"),
                ("(M1, 32)", "(M1, 16)"),
                ("(M1, 8)", "(M1, 4)"),
                ("(!P", "(P"),
                ("(P", "(!P"),
                ("(M1, 16)", "(M1_NM, 16)"),
                ("(M1, 32)", "(M1_NM, 32)"),
            ],
            turn,
        ),
        Kind::Barrier => None,
    }
}

/// The text with a mistake, and what it is.
fn mistaken(random: &mut Random, kind: Kind, text: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let fit: Vec<usize> = (0..lines.len())
        .filter(|n| {
            let line = lines[*n];
            let code =
                line.starts_with("    ") || kind == Kind::Type && line.starts_with(".decl V");
            code && !line.contains("%cr0") && !line.contains("_NM, 1) T")
        })
        .collect();
    for _ in 0..60 {
        let at = *fit.get(random.below(fit.len().max(1)))?;
        if let Some(made) = planted(random, kind, lines[at])
            && made != lines[at]
        {
            let what = format!("{} -> {}", lines[at].trim(), made.trim());
            let mut all: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
            all[at] = made;
            return Some((all.join("\n") + "\n", what));
        }
    }
    None
}

/// What became of mistakes of a kind.
#[derive(Default)]
struct Count {
    proven: u32,
    refuted: u32,
    unknown: u32,
}

/// Runs that look for a difference.
const RUNS: u64 = 120;

/// Whether a mistake is asked about: `VISAKIT_PROVE_LINES=FILE` has those of a run before, a line each.
fn is_wanted(line: &str) -> bool {
    let wanted = setting("VISAKIT_PROVE_LINES").map(|file| std::fs::read_to_string(file).unwrap());
    wanted.is_none_or(|all| all.lines().any(|wanted| wanted == line))
}

/// A mistake in a case, and what a proof says. `None` if there is no place for one.
fn judged(case: &Case, kind: Kind, seed: u64, options: &Options) -> Option<(String, Verdict)> {
    let grf = grf_bytes(case);
    let what = RefCell::new(None);
    let plant = |from: Object<'static>| {
        let mut random = Random::of_seed(seed << 8);
        let found = mistaken(&mut random, kind, &text(&from, grf));
        let Some((object, line)) = found.and_then(|(text, line)| Some((object(&text, grf)?, line)))
        else {
            return from;
        };
        what.replace(Some(line).filter(|line| is_wanted(line)));
        object
    };
    let judge = |[old, new]: [Side<'_>; 2], arguments: &[Argument], config: &Config<'_>| {
        if what.borrow().is_none() {
            return Ok((Verdict::Proven, None));
        }
        // The proof alone is asked first: runs would leave it but few of the mistakes.
        let alone = Options {
            trials: 0,
            ..options.clone()
        };
        let proof = prove(old, new, arguments, config, &alone)?;
        Ok(match proof.verdict {
            Verdict::Proven => {
                let differs = refute(old, new, arguments, config, options)?;
                (Verdict::Proven, differs)
            }
            Verdict::Refuted(found) => (Verdict::Refuted(found), None),
            Verdict::Unknown(_) => {
                let proof = prove(old, new, arguments, config, options)?;
                (proof.verdict, None)
            }
        })
    };
    let found = both(case, case, plant, judge);
    let (line, Ok((verdict, differs))) = (what.into_inner()?, found) else {
        return None;
    };
    assert_eq!(differs, None, "{}: proven: {line}", case.name());
    Some((line, verdict))
}

/// Mistakes in kernels of both compilers: `VISAKIT_PROVE_PLANTS=500` plants that many in all cases of the reference data.
#[test]
fn no_mistake_is_proven() {
    let many = setting("VISAKIT_PROVE_PLANTS").is_some();
    let wanted = number("VISAKIT_PROVE_PLANTS", 16);
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in ["cases", "cases240"] {
        let root = match many {
            true => visakit_testing::shared("planted mistakes", root),
            false => (root == "cases").then(|| visakit_testing::fixtures().join(root)),
        };
        let found = root.map(|root| visakit_testing::cases(&root));
        let devices = ["dg2", "pvc", "acm-g10"];
        let found = found.into_iter().flatten();
        paths.extend(found.filter(|p| devices.iter().any(|device| p.ends_with(device))));
    }
    if paths.is_empty() {
        return;
    }
    let mut counts: BTreeMap<Kind, Count> = BTreeMap::new();
    let (mut made, mut seed) = (0, number("VISAKIT_PROVE_FIRST", 0));
    let options = Options {
        trials: RUNS,
        by_terms: setting("VISAKIT_PROVE_INDUCTION").is_none(),
        time: Duration::from_secs(number("VISAKIT_PROVE_TIME", 20)),
        ..Options::default()
    };
    let last = seed + 40 * wanted;
    while made < wanted && seed < last {
        let mut random = Random::of_seed(seed);
        let kind = KINDS[usize::try_from(seed).unwrap() % KINDS.len()];
        seed += 1;
        // Few kernels have a barrier.
        let tries = if kind == Kind::Barrier { 20 } else { 1 };
        let mut cases = (0..tries).map(|_| Case::open(&paths[random.below(paths.len())]).unwrap());
        let found = cases.find_map(|case| Some((judged(&case, kind, seed, &options)?, case)));
        let Some(((line, verdict), case)) = found else {
            continue;
        };
        made += 1;
        let name = case.name();
        let count = counts.entry(kind).or_default();
        match verdict {
            Verdict::Refuted(_) => count.refuted += 1,
            Verdict::Proven => {
                count.proven += 1;
                visakit_testing::say(&format!(
                    "{name} {kind:?}, seed {}: proven equal: {line}",
                    seed - 1
                ));
            }
            Verdict::Unknown(why) => {
                count.unknown += 1;
                visakit_testing::say(&format!(
                    "{name} {kind:?}, seed {}: unknown: {line}: {why}",
                    seed - 1
                ));
            }
        }
    }
    let (mut refuted, mut apart) = (0, 0);
    for (kind, count) in &counts {
        let Count {
            proven,
            refuted: r,
            unknown,
        } = count;
        visakit_testing::say(&format!(
            "{kind:?}: {r} refuted, {proven} proven equal, {unknown} unknown"
        ));
        refuted += r;
        apart += r + unknown;
    }
    visakit_testing::say(&format!(
        "{made} planted: {refuted} of {apart} that are not proven equal are refuted"
    ));
    assert!(
        made == wanted && refuted * 2 > apart,
        "{made} planted, {refuted} of {apart} refuted"
    );
}

/// Mistakes in a kernel that samples an image and stores texels: none is proven that a run tells apart.
#[test]
fn no_mistake_about_texels_is_proven() {
    let path = visakit_testing::fixtures().join("cases/img_copy_ui/tgllp");
    let case = Case::open(&path).unwrap();
    let options = Options {
        by_steps: false,
        trials: RUNS,
        time: Duration::from_secs(3),
        ..Options::default()
    };
    let (mut refuted, mut proven) = (0, 0);
    for seed in 0..48 {
        let kind = KINDS[usize::try_from(seed).unwrap() % KINDS.len()];
        match judged(&case, kind, seed, &options) {
            Some((_, Verdict::Refuted(_))) => refuted += 1,
            Some((_, Verdict::Proven)) => proven += 1,
            _ => {}
        }
    }
    assert!(refuted > 10 && proven > 3, "{refuted} {proven}");
}

/// Without barriers the threads of a group race.
#[test]
fn a_missing_barrier_is_refuted() {
    let path = visakit_testing::fixtures().join("cases/lreduce/acm-g10");
    let case = Case::open(&path).unwrap();
    let grf = grf_bytes(&case);
    let change = |from: Object<'static>| {
        let text = text(&from, grf);
        let lines = text.lines().filter(|line| line.trim() != "barrier");
        object(&(lines.collect::<Vec<_>>().join("\n") + "\n"), grf).unwrap()
    };
    let proof = pair(&case, &case, &Options::default(), change).unwrap();
    assert!(matches!(proof.verdict, Verdict::Refuted(_)));
}
