//! `VISAKIT_COMPARE`: each launch also runs on another OpenCL driver, with the same source and arguments, and the
//! resulting memory is compared. The program continues with the results of the device here.

use crate::binary::{Binary, Part};
use crate::context::lock;
use crate::dump::{self, Dump};
use crate::kernel::Arg;
use crate::memory::Mem;
use crate::watch::{Ending, Launching, Watcher};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Mutex;
use visakit_host::foreign::{Bytes, Foreign, Given, Image, Program};
use visakit_launch::{Argument, Compare, Difference, Element, Shared};

/// Differences that are reported and kept as cases; more are only counted.
const MOST: u64 = 10;

#[derive(Debug, Default)]
struct State {
    launches: u64,
    compared: u64,
    different: u64,
    first: Option<Value>,
    /// Why launches were not compared, and how many.
    reasons: BTreeMap<String, u64>,
    /// Programs there by the address of those here, which they keep alive by their source's hash alone.
    programs: HashMap<(Vec<Part>, String), Result<Program, String>>,
}

/// Compares launches with another driver.
#[derive(Debug)]
pub(crate) struct Comparison {
    other: Foreign,
    /// Relative tolerance of 32-bit floats; the other widths have theirs in proportion.
    tolerance: f64,
    cases: PathBuf,
    report: Option<PathBuf>,
    state: Mutex<State>,
}

/// How elements of a type may differ: floats by a relative part, and by a part of the largest magnitude in the buffer,
/// as sums that cancel have errors of that size.
fn rule(element: Element, tolerance: f64, wanted: &[u8]) -> Compare {
    let (rel, abs) = match element {
        Element::Float => (1.0, 1e-2),
        Element::Half => (1e2, 1e1),
        Element::Double => (1e-5, 1e-7),
        _ => return Compare::Exact,
    };
    let largest = wanted
        .chunks_exact(element.bytes())
        .map(|e| element.value(e).abs());
    let largest = largest.filter(|v| v.is_finite()).fold(0.0, f64::max);
    Compare::Close {
        abs: tolerance * abs * largest,
        rel: tolerance * rel,
    }
}

/// The type that a pointer argument points at, without qualifiers.
fn pointee(name: &str) -> &str {
    let name = name.split(';').next().unwrap_or_default();
    name.trim_end_matches('*')
}

/// The type that `typedef` gives this name in the sources of a program; the name itself if there is none, or several
/// that differ.
fn named<'n>(parts: &'n [Part], name: &'n str) -> &'n str {
    let sources = parts.iter().filter_map(|part| part.source.as_ref());
    let headers = parts.iter().flat_map(|part| &part.headers);
    let texts = sources.chain(headers.map(|header| &header.1));
    let texts: Vec<&str> = texts.filter_map(|t| std::str::from_utf8(t).ok()).collect();
    let mut name = name;
    // Of a type that has such a name, too; never in a circle.
    for _ in 0..8 {
        let mut types = texts.iter().flat_map(|text| {
            let definitions = text.split("typedef").skip(1);
            definitions.filter_map(|rest| {
                let definition = rest.split(';').next()?.trim();
                let (of, new) = definition.rsplit_once(char::is_whitespace)?;
                (new == name && !of.contains('{')).then(|| of.trim())
            })
        });
        match types.next() {
            Some(of) if types.all(|other| other == of) => name = of,
            _ => break,
        }
    }
    name
}

/// Whether elements of an unknown type differ only in what may be floats: words, or pairs of words, that as floats or
/// doubles have usual magnitudes and are close.
fn close_words(wanted: &[u8], got: &[u8], tolerance: f64) -> bool {
    let close = |element: Element, w: &[u8], g: &[u8], tolerance: f64| {
        let (a, b) = (element.value(w), element.value(g));
        let usual = |v: f64| v == 0.0 || (1e-12..1e12).contains(&v.abs());
        w == g || usual(a) && usual(b) && (a - b).abs() <= tolerance * a.abs().max(1e-3)
    };
    let singles = |w: &[u8], g: &[u8]| {
        let mut words = w.chunks_exact(4).zip(g.chunks_exact(4));
        words.all(|(w, g)| close(Element::Float, w, g, tolerance))
    };
    // Doubles are at multiples of their size.
    let mut pairs = wanted.chunks(8).zip(got.chunks(8));
    wanted.len() == got.len()
        && wanted.len().is_multiple_of(4)
        && pairs.all(|(w, g)| {
            w.len() == 8 && close(Element::Double, w, g, tolerance * 1e-5) || singles(w, g)
        })
}

impl Comparison {
    /// As the environment asks for it: the library of the other driver.
    pub(crate) fn asked() -> Option<Self> {
        let library = std::env::var("VISAKIT_COMPARE")
            .ok()
            .filter(|l| !l.is_empty())?;
        let other = match Foreign::open(&library) {
            Ok(other) => other,
            Err(message) => {
                crate::say(&format!("VISAKIT_COMPARE: {message}; nothing is compared"));
                return None;
            }
        };
        let path = |name: &str| {
            std::env::var_os(name)
                .filter(|p| !p.is_empty())
                .map(PathBuf::from)
        };
        let tolerance = std::env::var("VISAKIT_TOLERANCE").ok();
        Some(Self {
            other,
            tolerance: tolerance.and_then(|t| t.parse().ok()).unwrap_or(1e-4),
            cases: path("VISAKIT_COMPARE_CASES").unwrap_or_else(|| "visakit-differences".into()),
            report: path("VISAKIT_COMPARE_REPORT"),
            state: Mutex::default(),
        })
    }

    fn program(&self, binary: &Binary) -> Result<Program, String> {
        let known = |p: &Part| p.source.is_some();
        if binary.parts.is_empty() || !binary.parts.iter().all(known) {
            return Err("its source in OpenCL C is not known".to_owned());
        }
        let key = (binary.parts.clone(), binary.options.clone());
        if let Some(known) = lock(&self.state).programs.get(&key) {
            return known.clone();
        }
        // Options of Intel's compiler alone.
        let own = ["-cl-intel-", "-ze-", "-cl-ext"];
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut parts = Vec::new();
        for (number, part) in binary.parts.iter().enumerate() {
            let options = part.options.split_whitespace();
            let mut options: Vec<_> = options
                .filter(|o| !own.iter().any(|p| o.starts_with(p)))
                .map(str::to_owned)
                .collect();
            let headers = folder.path().join(number.to_string());
            for (name, text) in &part.headers {
                let path = headers.join(name);
                let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
                made.and_then(|()| visakit_files::scratch(&path, text))
                    .map_err(|e| e.to_string())?;
            }
            if !part.headers.is_empty() {
                options.push(format!("-I {}", headers.display()));
            }
            let source = part.source.as_deref().unwrap_or_default();
            parts.push((source, options.join(" ")));
        }
        let made = self.other.program(&parts);
        lock(&self.state).programs.insert(key, made.clone());
        made
    }

    /// The launch as passed to the other driver: the content of memory, and the arguments.
    fn given(launching: &Launching<'_>) -> Result<(Vec<Bytes>, Vec<Given>), String> {
        let mut memory = Vec::new();
        let mut parts: Vec<Shared> = Vec::new();
        let mut given = Vec::new();
        for (argument, arg) in launching.arguments.iter().zip(launching.args) {
            let (part, image) = match argument {
                Argument::Shared(part) => (part, None),
                Argument::SharedImage(_, part) => match arg {
                    Arg::Mem(Some(mem)) => (part, Some(image(mem)?)),
                    _ => return Err("an image is not known".to_owned()),
                },
                Argument::Null => {
                    given.push(Given::Memory(None));
                    continue;
                }
                Argument::Local(bytes) => {
                    given.push(Given::Local(*bytes));
                    continue;
                }
                Argument::Value(bytes) => {
                    given.push(Given::Value(bytes.clone()));
                    continue;
                }
                Argument::Sampler(_) => match arg {
                    Arg::Sampler(sampler) => {
                        let (normalized, addressing, filter) = sampler.modes();
                        given.push(Given::Sampler(normalized, addressing, filter));
                        continue;
                    }
                    _ => return Err("a sampler is not known".to_owned()),
                },
                _ => return Err("an argument is a pointer to unknown memory".to_owned()),
            };
            let place = |p: &Shared| (p.storage.host_address(), p.offset, p.size);
            let same = parts.iter().position(|p| place(p) == place(part));
            let overlaps = |p: &Shared| {
                p.storage.host_address() == part.storage.host_address()
                    && p.offset < part.offset.saturating_add(part.size)
                    && part.offset < p.offset.saturating_add(p.size)
            };
            let at = match same {
                Some(at) => at,
                None if parts.iter().any(overlaps) => {
                    return Err("arguments overlap".to_owned());
                }
                None => {
                    parts.push(part.clone());
                    memory.push(Bytes {
                        bytes: dump::bytes(part),
                        image,
                    });
                    parts.len() - 1
                }
            };
            given.push(Given::Memory(Some(at)));
        }
        Ok((memory, given))
    }

    /// Runs the launch there; returns its results.
    fn there(&self, launching: &Launching<'_>) -> Result<(Vec<Bytes>, Vec<Given>), String> {
        let kernel = launching.kernel;
        if kernel.reaches_more() && kernel.program.context.addresses.has_shared() {
            return Err("the kernel reaches memory by pointers in memory".to_owned());
        }
        let program = self.program(launching.binary)?;
        let (mut memory, given) = Self::given(launching)?;
        let name = &launching.kernel.name;
        self.other
            .run(program, name, &mut memory, &given, launching.range)?;
        Ok((memory, given))
    }

    /// Compares both results; returns the first argument that differs.
    fn compare(
        &self,
        launching: &Launching<'_>,
        memory: &[Bytes],
        given: &[Given],
    ) -> Option<(usize, Element, Compare, Difference)> {
        let infos = launching.binary.zeinfo.args_info(&launching.kernel.name);
        let mut seen = Vec::new();
        for (index, (argument, given)) in launching.arguments.iter().zip(given).enumerate() {
            let (Argument::Shared(part) | Argument::SharedImage(_, part)) = argument else {
                continue;
            };
            let Given::Memory(Some(at)) = given else {
                continue;
            };
            if seen.contains(at) {
                continue;
            }
            seen.push(*at);
            let Some(theirs) = memory.get(*at) else {
                continue;
            };
            let wanted = &theirs.bytes;
            let got = dump::bytes(part);
            let name = infos.get(index).map_or("", |i| pointee(&i.type_name));
            let name = named(&launching.binary.parts, name);
            let element = match &theirs.image {
                Some(image) => element_of(image),
                None => Element::from(name.to_owned()),
            };
            let rule = rule(element, self.tolerance, wanted);
            let bytes = element == Element::Uchar && !name.starts_with("uchar");
            if bytes && theirs.image.is_none() && close_words(wanted, &got, self.tolerance) {
                continue;
            }
            if let Some(difference) = rule.difference(element, wanted, &got) {
                return Some((index, element, rule, difference));
            }
        }
        None
    }

    fn told(
        &self,
        launching: &Launching<'_>,
        number: u64,
        (index, element, rule, difference): &(usize, Element, Compare, Difference),
        dump: Option<&Dump>,
    ) {
        let kernel = &launching.kernel.name;
        let infos = launching.binary.zeinfo.args_info(kernel);
        let argument = infos.get(*index).map_or("", |i| i.name.as_str());
        let folder = dump.map(|d| d.folder().display().to_string());
        let how = match rule {
            Compare::Close { abs, rel } => format!("more than {rel:.2e} of itself and {abs:.2e}"),
            _ => "not the same bits".to_owned(),
        };
        let place = folder.as_ref().map_or_else(String::new, |f| {
            format!("\n  case, with what {} computes: {f}", self.other.name)
        });
        crate::say(&format!(
            "kernel `{kernel}`, launch {number}: argument {index} `{argument}` differs from {}: {difference}; {how}{place}",
            self.other.name
        ));
        let mut state = lock(&self.state);
        if state.first.is_none() {
            state.first = Some(json!({
                "kernel": kernel, "launch": number, "argument": index, "name": argument,
                "type": format!("{element:?}").to_lowercase(), "element": difference.element,
                "expected": difference.expected, "got": difference.got, "wrong": difference.count, "case": folder,
            }));
        }
    }
}

/// An image as the other driver makes it.
fn image(mem: &Mem) -> Result<Image, String> {
    let shape = mem.shape.as_ref().ok_or("an image is not known")?;
    if shape.source.is_some() {
        return Err("an image shows a buffer".to_owned());
    }
    Ok(Image {
        kind: mem.kind(),
        format: shape.numbers,
        sizes: shape.sizes,
        pitches: shape.pitches,
        region: shape.region(),
    })
}

/// The elements by which images of a format are compared.
const fn element_of(image: &Image) -> Element {
    match image.format.1 {
        opencl_sys::CL_FLOAT => Element::Float,
        opencl_sys::CL_HALF_FLOAT => Element::Half,
        _ => Element::Uchar,
    }
}

impl Watcher for Comparison {
    fn launch(&self, launching: &Launching<'_>, go_on: &mut dyn FnMut() -> Ending) -> Ending {
        let (number, keeps) = {
            let mut state = lock(&self.state);
            state.launches += 1;
            (state.launches, state.different < MOST)
        };
        let there = self.there(launching);
        let dump = if keeps && there.is_ok() {
            Dump::open(&self.cases, launching)
        } else {
            None
        };
        let ending = go_on();
        let (memory, given) = match (there, &ending) {
            (Ok(there), Ok(_)) => there,
            (other, _) => {
                let reason = other.err().unwrap_or_else(|| "it failed here".to_owned());
                *lock(&self.state).reasons.entry(reason).or_default() += 1;
                if let Some(dump) = dump {
                    dump.remove();
                }
                return ending;
            }
        };
        lock(&self.state).compared += 1;
        let difference = self.compare(launching, &memory, &given);
        let Some(found) = difference else {
            if let Some(dump) = dump {
                dump.remove();
            }
            return ending;
        };
        lock(&self.state).different += 1;
        if keeps {
            if let (Some(dump), Some(Given::Memory(Some(at)))) = (&dump, given.get(found.0)) {
                let wanted = memory.get(*at).map_or(&[][..], |m| &m.bytes);
                dump.expect_one(found.0, found.1, found.2, wanted);
            }
            self.told(launching, number, &found, dump.as_ref());
        }
        ending
    }

    fn end(&self) {
        let state = lock(&self.state);
        let report = json!({
            "with": self.other.name, "launches": state.launches, "compared": state.compared,
            "different": state.different, "first": state.first, "not_compared": state.reasons,
        });
        let Some(path) = &self.report else {
            crate::say(&format!("compared: {report}"));
            return;
        };
        if let Err(error) = visakit_files::append(path.as_ref(), &report.to_string()) {
            crate::say(&format!("{}: {error}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn floats_may_differ_a_little() {
        let wanted = floats(&[1.0, 1000.0, 0.0]);
        let rule = rule(Element::Float, 1e-4, &wanted);
        let differs = |got: &[f32]| {
            rule.difference(Element::Float, &wanted, &floats(got))
                .is_some()
        };
        assert!(!differs(&[1.00005, 1000.05, 0.0005]));
        assert!(differs(&[1.0, 1000.0, 0.01]));
        assert!(differs(&[1.01, 1000.0, 0.0]));
        assert!(differs(&[f32::NAN, 1000.0, 0.0]));
        let other = super::rule(Element::Int, 1e-4, &wanted);
        assert_eq!(other, Compare::Exact);
    }

    #[test]
    fn words_of_structures() {
        let close = |a: &[u8], b: &[u8]| close_words(a, b, 1e-4);
        assert!(close(&floats(&[1.0, 2.0]), &floats(&[1.00001, 2.0])));
        assert!(!close(&floats(&[1.0]), &floats(&[1.1])));
        // Small whole numbers are no floats.
        assert!(!close(&3_u32.to_le_bytes(), &4_u32.to_le_bytes()));
        assert!(!close(&[1], &[2]));
        let doubles =
            |values: &[f64]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
        assert!(close(
            &doubles(&[1.0 / 3.0, 2e3]),
            &doubles(&[0.333_333_333_3, 2e3])
        ));
        assert!(!close(&doubles(&[1.0 / 3.0]), &doubles(&[0.333_333])));
        assert!(!close(&3_u64.to_le_bytes(), &4_u64.to_le_bytes()));
        // A double, and a float after it.
        let both = |double: f64, single: f32| [doubles(&[double]), floats(&[single])].concat();
        assert!(close(&both(7.0, 1.0), &both(7.000_000_000_1, 1.000_01)));
        assert!(!close(&both(7.0, 1.0), &both(7.000_000_000_1, 1.001)));
        assert_eq!(pointee("struct node*;8"), "struct node");
    }

    #[test]
    fn types_by_other_names() {
        let part = |source: &str| Part {
            options: String::new(),
            source: Some(source.into()),
            headers: Vec::new(),
        };
        let parts = [
            part(
                "typedef float\tDATA_TYPE;\ntypedef DATA_TYPE number;\ntypedef struct { int a; } node;",
            ),
            part("typedef int index; typedef  uint index;\ntypedef circle circle;"),
        ];
        assert_eq!(named(&parts, "number"), "float");
        assert_eq!(named(&parts, "float"), "float");
        assert_eq!(named(&parts, "index"), "index");
        assert_eq!(named(&parts, "node"), "node");
        assert_eq!(named(&parts, "circle"), "circle");
    }
}
