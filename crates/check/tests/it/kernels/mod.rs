//! Kernels in two forms, as described in their sources.

mod mutations;
mod pairs;
mod sets;
mod turns;

use std::collections::BTreeMap;
use std::path::PathBuf;
use visakit_check::{Checks, Finding, Report, Verdict, check, config};
use visakit_launch::{
    Argument, Config, Image, ImageKind, Kernel, NdRange, Source, Turn, ZeInfo, sampler,
};

/// How a kernel is launched, and where its fault may be reported: kind and line.
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) only: Option<String>,
    pub(crate) global: Vec<u32>,
    pub(crate) local: Vec<u32>,
    pub(crate) clean: Vec<String>,
    pub(crate) fault: Vec<String>,
    pub(crate) wanted: Vec<(String, u32)>,
    /// Bytes of its variable in local memory in both forms, if they matter.
    pub(crate) variable: Option<[u64; 2]>,
}

impl Spec {
    /// Whether there is such a kernel for a device: some need what others do not have.
    pub(crate) fn runs_on(&self, device: &str) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.split(',').any(|one| one == device))
    }
}

impl Spec {
    /// Whether a form has the findings that it should have: the faulty one at lines that are named, of a race either of
    /// the two, the clean one none. Some have no fault in either form: they only look so.
    pub(crate) fn is_right(&self, form: &str, report: &Report) -> bool {
        let found = &report.findings;
        if form == "clean" || self.wanted.is_empty() {
            return report.verdict(|_| true) == Verdict::Clean;
        }
        let fits = |f: &Finding| {
            let other = f.other.as_ref().and_then(|o| o.place.as_ref());
            let sides = [Some(&f.place), other.filter(|_| f.between.is_some())];
            sides.into_iter().flatten().any(|place| {
                let line = place.line.unwrap_or(0);
                self.wanted.contains(&(f.kind.name().to_owned(), line))
            })
        };
        !found.is_empty() && found.iter().all(fits)
    }
}

pub(crate) fn folder() -> PathBuf {
    visakit_testing::fixtures().join("check")
}

pub(crate) fn specs(program: &str) -> Vec<Spec> {
    let source = std::fs::read_to_string(folder().join(format!("{program}.cl"))).unwrap();
    let mut specs: Vec<Spec> = Vec::new();
    for (line, text) in (1..).zip(source.lines()) {
        if let Some(rest) = text.strip_prefix("//@") {
            let (only, rest) = rest.split_once(' ').unwrap();
            let (rest, variable) = rest.split_once(" # ").unwrap_or((rest, ""));
            let variable = variable
                .split_once(' ')
                .map(|(clean, fault)| [clean, fault].map(|n| n.parse().unwrap()));
            let (clean, last) = rest.split_once('|').unwrap_or((rest, ""));
            let words: Vec<String> = clean.split_whitespace().map(str::to_owned).collect();
            let last: Vec<String> = last.split_whitespace().map(str::to_owned).collect();
            let size = |word: &String| word.split(',').map(|n| n.parse().unwrap()).collect();
            let arguments = words[3..].to_vec();
            // What follows the bar replaces the last arguments.
            let mut fault = arguments.clone();
            fault.truncate(arguments.len() - last.len());
            fault.extend(last);
            specs.push(Spec {
                name: words[0].clone(),
                only: (!only.is_empty()).then(|| only.to_owned()),
                global: size(&words[1]),
                local: size(&words[2]),
                clean: arguments,
                fault,
                wanted: Vec::new(),
                variable,
            });
        }
        if let Some((_, kinds)) = text.split_once("//!") {
            let wanted = kinds.split_whitespace().map(|kind| (kind.to_owned(), line));
            specs.last_mut().unwrap().wanted.extend(wanted);
        }
    }
    specs
}

pub(crate) fn argument(word: &str) -> Argument {
    let (kind, value) = word.split_once(':').unwrap_or((word, ""));
    let number = || value.parse::<usize>().unwrap();
    let counted = |step: i32| {
        let numbers = (0..i32::try_from(number() / 4).unwrap()).map(|i| i * step);
        Argument::Buffer(numbers.flat_map(i32::to_le_bytes).collect())
    };
    match kind {
        "zeros" | "uninitialized" => Argument::Buffer(vec![0; number()]),
        "iota" => counted(1),
        "rows" => counted(3),
        "local" => Argument::Local(number()),
        "null" => Argument::Null,
        "i32" => Argument::Value(value.parse::<i32>().unwrap().to_le_bytes().to_vec()),
        "f32" => Argument::Value(value.parse::<f32>().unwrap().to_le_bytes().to_vec()),
        "wimage" | "rimage" => image("image2d", &format!("{value}:RGBA:UNSIGNED_INT8")),
        "sampler" => {
            let (addressing, filter) = value.split_once(',').unwrap();
            Argument::Sampler(sampler(false, addressing, filter).unwrap())
        }
        kind => image(kind, value),
    }
}

/// An image of pixels whose bytes are 7, of four bytes each: `kind:SIZES:ORDER:TYPE`, or `kind:SIZES` of numbers (R, FLOAT).
fn image(kind: &str, value: &str) -> Argument {
    let parts: Vec<&str> = value.split(':').collect();
    let sizes: Vec<u32> = parts[0].split('x').map(|n| n.parse().unwrap()).collect();
    let (order, channel) = match parts[1..] {
        [order, channel] => (order, channel),
        _ => ("R", "FLOAT"),
    };
    let format = visakit_launch::format(order, channel).unwrap();
    let bytes = vec![7; format.bytes() * sizes.iter().product::<u32>() as usize];
    let kind = ImageKind::by_name(kind).unwrap();
    Argument::Image(Image::new(kind, &sizes, None, format, bytes).unwrap())
}

/// The metadata of all kernels of a device and a form.
pub(crate) fn metadata(program: &str, device: &str, form: &str) -> ZeInfo {
    let path = folder().join(format!("{program}.{device}.{form}.zeinfo.gz"));
    let text = String::from_utf8(Source::open(&path).unwrap().bytes).unwrap();
    ZeInfo::parse(&text).unwrap()
}

/// The texts of all kernels of a device and a form, by their names.
pub(crate) fn texts(program: &str, device: &str, form: &str) -> BTreeMap<String, Source> {
    let path = folder().join(format!("{program}.{device}.{form}.visaasm.gz"));
    let all = String::from_utf8(Source::open(&path).unwrap().bytes).unwrap();
    let one = |text: &str| {
        let name = text.split("\n.kernel \"").nth(1).unwrap();
        let name = name.split('"').next().unwrap().to_owned();
        let source = Source {
            path: path.clone(),
            bytes: format!(".version{text}").into_bytes(),
        };
        (name, source)
    };
    all.split(".version").skip(1).map(one).collect()
}

/// The report of a launch of a kernel, of a limited number of steps.
pub(crate) fn report(
    source: &Source,
    grf_bytes: u32,
    zeinfo: &ZeInfo,
    spec: &Spec,
    words: &[String],
    turn: Option<Turn>,
) -> Report {
    let object = Source::link(std::slice::from_ref(source), grf_bytes).unwrap();
    let mut kernel = Kernel::new(&object, &spec.name, zeinfo).unwrap();
    kernel.grf_bytes = grf_bytes;
    let range = NdRange::new(&spec.global, &spec.local, &[]).unwrap();
    let arguments: Vec<_> = words.iter().map(|word| argument(word)).collect();
    let unset = |(index, word): (usize, &String)| word.starts_with("uninit").then_some(index);
    let unset: Vec<usize> = words.iter().enumerate().filter_map(unset).collect();
    let config = config(Config {
        max_steps: 500_000,
        // Groups that wait for others do so for a shorter time.
        turn: turn.or(Some(Turn {
            patience: 1 << 14,
            steps: 1 << 10,
        })),
        ..Config::default()
    });
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    check(&kernel, launch, &config, Checks::ALL, &unset).unwrap()
}
