//! Kernels in two forms, of which `fixtures/check/pairs.cl` tells how they are launched (`//@`) and where the second one
//! has its fault (`//!`): what is found in each, and that nothing is found in the clean one.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use visakit_check::{Checks, Finding, check, config};
use visakit_launch::{Argument, Config, Image, ImageKind, Kernel, NdRange, Source, ZeInfo, format};

/// How a kernel is launched, and where its fault may be told of: kind and line.
struct Spec {
    name: String,
    only: Option<String>,
    global: Vec<u32>,
    local: Vec<u32>,
    clean: Vec<String>,
    fault: Vec<String>,
    wanted: Vec<(String, u32)>,
}

fn folder() -> PathBuf {
    visakit_testing::fixtures().join("check")
}

fn specs() -> Vec<Spec> {
    let source = std::fs::read_to_string(folder().join("pairs.cl")).unwrap();
    let mut specs: Vec<Spec> = Vec::new();
    for (line, text) in (1..).zip(source.lines()) {
        if let Some(rest) = text.strip_prefix("//@") {
            let (only, rest) = rest.split_once(' ').unwrap();
            let (clean, last) = rest.split_once('|').unwrap_or((rest, ""));
            let words: Vec<String> = clean.split_whitespace().map(str::to_owned).collect();
            let last: Vec<String> = last.split_whitespace().map(str::to_owned).collect();
            let size = |word: &String| word.split(',').map(|n| n.parse().unwrap()).collect();
            let arguments = words[3..].to_vec();
            // What stands after the bar replaces the last arguments.
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
            });
        }
        if let Some((_, kinds)) = text.split_once("//!") {
            let wanted = kinds.split_whitespace().map(|kind| (kind.to_owned(), line));
            specs.last_mut().unwrap().wanted.extend(wanted);
        }
    }
    specs
}

fn argument(word: &str) -> Argument {
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
        "wimage" | "rimage" => {
            let (x, y) = value.split_once('x').unwrap();
            let sizes = [x.parse().unwrap(), y.parse().unwrap()];
            let bytes = vec![7; 4 * sizes.iter().product::<u32>() as usize];
            let format = format("RGBA", "UNSIGNED_INT8").unwrap();
            let kind = ImageKind::Image2d;
            Argument::Image(Image::new(kind, &sizes, None, format, bytes).unwrap())
        }
        _ => panic!("{word}"),
    }
}

/// The texts of all kernels of a device and a form, by their names.
fn texts(device: &str, form: &str) -> BTreeMap<String, Source> {
    let path = folder().join(format!("pairs.{device}.{form}.visaasm.gz"));
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

#[test]
fn every_fault_and_no_false_alarm() {
    let specs = specs();
    let mut runs = 0;
    let mut wrong = Vec::new();
    for (device, grf_bytes) in [("dg2", 32), ("pvc", 64)] {
        for form in ["clean", "fault"] {
            let texts = texts(device, form);
            let zeinfo = folder().join(format!("pairs.{device}.{form}.zeinfo.gz"));
            let zeinfo = String::from_utf8(Source::open(&zeinfo).unwrap().bytes).unwrap();
            let zeinfo = ZeInfo::parse(&zeinfo).unwrap();
            for spec in &specs {
                let other = spec.only.as_ref().is_some_and(|only| only != device);
                // Constants and functions of a program are in files of their own: the tests of launches have them.
                let Some(source) = texts.get(&spec.name).filter(|_| !other) else {
                    continue;
                };
                let words = if form == "clean" {
                    &spec.clean
                } else {
                    &spec.fault
                };
                let found = findings(source, grf_bytes, &zeinfo, spec, words);
                runs += 1;
                let fits = |f: &Finding| {
                    let line = f.place.line.unwrap_or(0);
                    spec.wanted.contains(&(f.kind.name().to_owned(), line))
                };
                let right = match form {
                    "clean" => found.is_empty(),
                    _ => !found.is_empty() && found.iter().all(fits),
                };
                if !right {
                    wrong.push(format!("{} {device} {form}: {found:#?}", spec.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(runs > 200, "{runs}");
}

fn findings(
    source: &Source,
    grf_bytes: u32,
    zeinfo: &ZeInfo,
    spec: &Spec,
    words: &[String],
) -> Vec<Finding> {
    let object = Source::link(std::slice::from_ref(source), grf_bytes).unwrap();
    let mut kernel = Kernel::new(&object, &spec.name, zeinfo).unwrap();
    kernel.grf_bytes = grf_bytes;
    let range = NdRange::new(&spec.global, &spec.local, &[]).unwrap();
    let arguments: Vec<_> = words.iter().map(|word| argument(word)).collect();
    let unset = |(index, word): (usize, &String)| word.starts_with("uninit").then_some(index);
    let unset: Vec<usize> = words.iter().enumerate().filter_map(unset).collect();
    let config = config(Config::default());
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    let report = check(&kernel, launch, &config, Checks::ALL, &unset);
    report.unwrap().findings
}
