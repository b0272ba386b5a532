//! Pairs of cases: what two compilers made of a kernel, and a kernel against its own text after edits that change nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use visakit_exec::Compiler;
use visakit_isa::object::Object;
use visakit_jit::Jit;
use visakit_launch::{Argument, Case, Compile, Config, LaunchError};
use visakit_prove::{Options, Proof, Side, Verdict, prove};
use visakit_text::Printer;
use visakit_text::asm;

/// The words of an environment variable.
pub(crate) fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// A number that an environment variable gives, for longer runs than usual.
pub(crate) fn number(name: &str, usual: u64) -> u64 {
    setting(name).and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Proves two cases equal, the second with a changed object, on the arguments of the first.
pub(crate) fn pair(
    old: &Case,
    new: &Case,
    options: &Options,
    change: impl FnOnce(Object<'static>) -> Object<'static>,
) -> Result<Proof, LaunchError> {
    let asked = |sides: [Side<'_>; 2], arguments: &[Argument], config: &Config<'_>| {
        let [old, new] = sides;
        prove(old, new, arguments, config, options)
    };
    both(old, new, change, asked)
}

/// Does something with two cases, the second with a changed object, and the arguments of the first. Runs that are long are
/// runs of machine code.
pub(crate) fn both<T>(
    old: &Case,
    new: &Case,
    change: impl FnOnce(Object<'static>) -> Object<'static>,
    work: impl FnOnce([Side<'_>; 2], &[Argument], &Config<'_>) -> Result<T, LaunchError>,
) -> Result<T, LaunchError> {
    let compiler = Jit::host().map(|jit| Arc::new(jit) as Arc<dyn Compiler>);
    let config = Config {
        compile: compiler.as_ref().map(Compile::when_it_pays),
        ..Config::default()
    };
    old.launch(
        true,
        &config,
        |o| o,
        |kernel, arguments, launch| {
            let first = Side {
                kernel,
                range: *launch.range(),
            };
            new.launch(true, &config, change, |kernel, _, launch| {
                let second = Side {
                    kernel,
                    range: *launch.range(),
                };
                work([first, second], arguments, &config)
            })
        },
    )
}

/// The text of an object.
pub(crate) fn text(object: &Object<'_>, grf_bytes: u32) -> String {
    let options = visakit_text::Options {
        grf_bytes: Some(grf_bytes),
        ..visakit_text::Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    String::from_utf8(text).unwrap()
}

/// The object of a text, if it is one.
pub(crate) fn object(text: &str, grf_bytes: u32) -> Option<Object<'static>> {
    let options = asm::Options {
        grf_bytes: Some(grf_bytes),
        ..asm::Options::default()
    };
    let object = asm::assemble(text.as_bytes(), &options).ok()?;
    Some(object.into_owned())
}

/// Bytes of a register of a device.
pub(crate) fn grf_bytes(case: &Case) -> u32 {
    if case.device() == "pvc" { 64 } else { 32 }
}

/// A kernel after edits without effect: printed, with numbers moved to registers that nobody else uses, formatted,
/// assembled, and written as an object that is read again.
fn edited(from: &Object<'static>, grf_bytes: u32) -> Object<'static> {
    let mut lines: Vec<String> = Vec::new();
    let mut number = 0;
    for line in text(from, grf_bytes).lines() {
        lines.push(line.to_owned());
        if line.starts_with(".kernel ") || line.starts_with(".global_function") {
            lines
                .push(".decl UNUSED_BY_OTHERS v_type=G type=ud num_elts=16 align=hword".to_owned());
        }
        let is_code = line.starts_with("    ") && line.contains("(M");
        number += usize::from(is_code);
        if is_code && number.is_multiple_of(5) && !line.contains("ret ") && !line.contains("goto") {
            lines.push(format!(
                "    add (M1, 8) UNUSED_BY_OTHERS(0,0)<1> UNUSED_BY_OTHERS(0,0)<1;1,0> {number:#x}:ud"
            ));
        }
    }
    let options = asm::Options {
        grf_bytes: Some(grf_bytes),
        ..asm::Options::default()
    };
    let text = visakit_text::format((lines.join("\n") + "\n").as_bytes(), &options).unwrap();
    let text = String::from_utf8(text).unwrap();
    let object = object(&text, grf_bytes).unwrap_or_else(|| panic!("no text: {text}"));
    let bytes = visakit_encode::write(&object).unwrap();
    visakit_parse::read(&bytes).unwrap().into_owned()
}

/// What came of a group of pairs.
#[derive(Default)]
struct Group {
    proven: Vec<String>,
    refuted: Vec<String>,
    unknown: Vec<String>,
    /// Pairs that were asked about.
    asked: usize,
    /// Those that could not be asked about.
    failed: Vec<String>,
    times: Vec<Duration>,
    reasons: BTreeMap<String, Vec<String>>,
}

impl Group {
    fn add(&mut self, name: String, found: &Result<Proof, LaunchError>, time: Duration) {
        let reason = match found {
            Err(error) => {
                visakit_testing::say(&format!("{name}: {error}"));
                return self.failed.push(name);
            }
            Ok(proof) => match &proof.verdict {
                Verdict::Proven => {
                    visakit_testing::say(&format!("{name}: proven, {time:.1?}"));
                    self.times.push(time);
                    return self.proven.push(name);
                }
                Verdict::Refuted(found) => {
                    visakit_testing::say(&format!(
                        "{name}: refuted, {time:.1?}: {:?}",
                        found.difference
                    ));
                    return self.refuted.push(name);
                }
                Verdict::Unknown(unknown) => unknown.to_string(),
            },
        };
        visakit_testing::say(&format!("{name}: unknown, {time:.1?}: {reason}"));
        let kind = reason.split(" (").next().unwrap_or(&reason).to_owned();
        self.reasons.entry(kind).or_default().push(name.clone());
        self.unknown.push(name);
    }

    /// The median and the longest of the times of proofs.
    fn times(&mut self) -> [Duration; 2] {
        self.times.sort_unstable();
        let median = self.times.get(self.times.len() / 2).copied();
        let longest = self.times.last().copied();
        [median, longest].map(Option::unwrap_or_default)
    }

    /// A row of a table.
    fn row(&mut self, group: &str) -> String {
        let [median, longest] = self.times();
        let counts = [&self.proven, &self.refuted, &self.unknown].map(Vec::len);
        let [proven, refuted, unknown] = counts;
        format!("| {group} | {proven} | {refuted} | {unknown} | {median:.1?} | {longest:.1?} |")
    }

    /// Checks that all pairs were asked about, and that none is refuted besides those that are known to differ.
    fn verify(&self) {
        assert_eq!(self.failed, Vec::<String>::new());
        let all = [&self.proven, &self.refuted, &self.unknown].map(Vec::len);
        assert_eq!(all.iter().sum::<usize>(), self.asked);
        let wrong = |name: &&String| !DIFFERENT.contains(&name.as_str());
        assert_eq!(self.refuted.iter().find(wrong), None);
    }

    fn tell(&mut self, group: &str) {
        let [median, largest] = self.times();
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        let reasons: Vec<String> = reasons
            .iter()
            .map(|(why, names)| format!("{:4} {why}: {}", names.len(), names.join(" ")))
            .collect();
        visakit_testing::say(&format!(
            "{group}: {} proven, {} refuted, {} unknown; proofs take {median:.1?} in the median, {largest:.1?} at most\n{}",
            self.proven.len(),
            self.refuted.len(),
            self.unknown.len(),
            reasons.join("\n"),
        ));
    }
}

fn options(seconds: u64) -> Options {
    Options {
        time: Duration::from_secs(number("VISAKIT_PROVE_TIME", seconds)),
        solver: setting("VISAKIT_PROVE_SOLVER"),
        by_terms: setting("VISAKIT_PROVE_INDUCTION").is_none(),
        ..Options::default()
    }
}

/// Cases below a folder for one device.
fn cases(root: &Path, device: &str) -> Vec<PathBuf> {
    let mut all = visakit_testing::cases(root);
    all.retain(|path| path.ends_with(device));
    if let Some(wanted) = setting("VISAKIT_PROVE_KERNELS") {
        let wanted: Vec<&str> = wanted.split(',').collect();
        all.retain(|path| {
            wanted
                .iter()
                .any(|name| path.components().any(|c| c.as_os_str() == *name))
        });
    }
    all
}

/// Proves each case of one folder equal to that of the other, if its name and source are wanted.
fn between([old, new]: [&Path; 2], device: &str, wanted: impl Fn(&str, &str) -> bool) -> Group {
    let mut group = Group::default();
    for path in cases(old, device) {
        let kernel = path.parent().and_then(Path::file_name).unwrap();
        let name = kernel.to_string_lossy().into_owned();
        let other = new.join(kernel).join(device);
        let (Ok(old), Ok(new)) = (Case::open(&path), Case::open(&other)) else {
            continue;
        };
        let source = std::fs::read_to_string(path.join("../kernel.cl")).unwrap_or_default();
        if !wanted(&name, &source) {
            continue;
        }
        group.asked += 1;
        let started = Instant::now();
        let found = pair(&old, &new, &options(40), |object| object);
        group.add(name, &found, started.elapsed());
    }
    group
}

/// Proves each case of a folder equal to its own text after edits without effect.
fn edits(root: &Path, device: &str) -> Group {
    let mut group = Group::default();
    for path in cases(root, device) {
        let case = Case::open(&path).unwrap();
        group.asked += 1;
        let started = Instant::now();
        let found = pair(&case, &case, &options(40), |object| {
            edited(&object, grf_bytes(&case))
        });
        group.add(case.name(), &found, started.elapsed());
    }
    group
}

/// Proves each case of one folder equal to that of the other; `VISAKIT_PROVE_PAIRS=OLD:NEW:DEVICE` for other folders than
/// those of the reference data.
#[test]
fn two_compilers_made_the_same() {
    let given = setting("VISAKIT_PROVE_PAIRS");
    let (old, new, device): (PathBuf, PathBuf, _) =
        match given.as_deref().map(|g| g.split(':').collect::<Vec<_>>()) {
            Some(words) => (words[0].into(), words[1].into(), words[2].to_owned()),
            None => match reference() {
                Some([old, new]) => (old, new, "dg2".to_owned()),
                None => return,
            },
        };
    let all = given.is_some();
    let mut group = between([&old, &new], &device, |name, _| {
        all || SOON_PROVEN.contains(&name)
    });
    group.tell("between compilers");
    assert_eq!(group.failed, Vec::<String>::new());
    // What is refuted of other folders is told, and to be read.
    if !all {
        group.verify();
        assert_eq!(group.asked, SOON_PROVEN.len());
        assert_eq!(group.unknown, Vec::<String>::new());
        assert_eq!(group.refuted, Vec::<String>::new());
    }
}

/// The cases of two compilers.
fn reference() -> Option<[PathBuf; 2]> {
    let folders = ["cases", "cases240"];
    let found = folders.map(|path| visakit_testing::shared("proofs between two compilers", path));
    match found {
        [Some(old), Some(new)] => Some([old, new]),
        _ => None,
    }
}

/// Kernels of which the compilers make code that computes something else: docs/proving.md says why.
const DIFFERENT: [&str; 4] = ["sat_long", "f32div_fast", "math_atrig", "blackscholes"];

/// Kernels of which both compilers make code that is soon proven equal.
const SOON_PROVEN: [&str; 4] = ["bitops", "vecadd_f32", "cmpsel", "i64arith"];

/// Every kernel is proven equal to itself after edits without effect; `VISAKIT_PROVE_EDITED=ROOT:DEVICE` for all of a
/// folder.
#[test]
fn edits_without_effect_are_proven() {
    let given = setting("VISAKIT_PROVE_EDITED");
    let (root, device) = match given.as_deref().and_then(|g| g.rsplit_once(':')) {
        Some((root, device)) => (root.into(), device.to_owned()),
        None => (visakit_testing::fixtures().join("cases"), "dg2".to_owned()),
    };
    let mut group = edits(&root, &device);
    group.tell("edited without effect");
    all_are_proven(&group);
}

fn all_are_proven(group: &Group) {
    group.verify();
    assert!(group.asked > 0);
    assert_eq!(group.refuted, Vec::<String>::new());
    assert_eq!(group.unknown, Vec::<String>::new());
}

/// The table of docs/proving.md: with `VISAKIT_PROVE_TABLE=1` of all kernels, else of two.
#[test]
fn table() {
    let Some([old, new]) = reference() else {
        return;
    };
    let all = setting("VISAKIT_PROVE_TABLE").is_some();
    let few = |name: &str| all || ["bitops", "iarith"].contains(&name);
    let floats = ["float", "double", "half"];
    let integers = |source: &str| !floats.iter().any(|ty| source.contains(ty));
    let mut rows = Vec::new();
    for device in ["dg2", "pvc"] {
        let mut group = between([&old, &new], device, |name, source| {
            few(name) && integers(source)
        });
        rows.push(group.row(&format!("{device}, between compilers, integers alone")));
        group.verify();
        // What the aim of the comparison is, of all kernels and of the few.
        let proven = group.proven.len();
        assert!(
            proven > 0 && proven * 10 >= group.asked * 6,
            "{:?}",
            group.unknown
        );
        let mut floats = between([&old, &new], device, |name, source| {
            few(name) && !integers(source)
        });
        rows.push(floats.row(&format!("{device}, between compilers, with floats")));
        floats.verify();
        if all {
            assert!((proven + floats.proven.len()) * 10 >= (group.asked + floats.asked) * 4);
            let mut edited = edits(&old, device);
            rows.push(edited.row(&format!("{device}, edited without effect")));
            all_are_proven(&edited);
        }
    }
    visakit_testing::say(&rows.join("\n"));
}
