//! Two hundred kernels in two forms, by the kind of their faults, for two or three devices. Their sources state how they are
//! launched (`//@`) and where the second form has its fault (`//!`); a set of a device and a form is one container with
//! texts, metadata and program-scope variables.

use super::{Spec, argument, folder, specs};
use rayon::prelude::*;
use visakit_check::{Checks, Finding, check, config};
use visakit_launch::{Config, Dump, Kernel, LocalVariable, NdRange, Source, Zebin};

/// The sets, and the devices that each is compiled for.
const SETS: [(&str, &[&str]); 5] = [
    ("bounds", &["dg2", "pvc", "skl"]),
    ("spaces", &["dg2", "pvc", "skl"]),
    ("unset", &["dg2", "pvc", "skl"]),
    ("order", &["dg2", "pvc", "skl"]),
    ("blocks", &["pvc", "bmg"]),
];

/// What a launch that does not end is called in the sources.
const ENDLESS: &str = "did-not-end";

/// Faults that are not found, and clean forms in which something is found: kernel, form, devices, reason.
const KNOWN: &[(&str, &str, &[&str], &str)] = &[(
    "wide_from_words",
    "fault",
    &["dg2", "skl"],
    "a number of eight bytes is loaded as two, as are two numbers that the program puts together",
)];

/// The kernels of a set on a device in one form.
struct Built {
    dump: Dump,
    zebin: Zebin,
    faulty: bool,
}

impl Built {
    fn open(set: &str, device: &str, form: &str) -> Self {
        let path = folder().join(format!("{set}.{device}.{form}.zebin.gz"));
        let bytes = Source::open(&path).unwrap().bytes;
        let zebin = Zebin::parse(&bytes).unwrap();
        let text = |(name, bytes): &(String, Vec<u8>)| Source {
            path: format!("{name}.visaasm").into(),
            bytes: bytes.clone(),
        };
        let mut files: Vec<Source> = zebin.texts.iter().map(text).collect();
        files.push(Source { path, bytes });
        let dump = Dump::of(files).unwrap();
        Self {
            dump,
            zebin,
            faulty: form == "fault",
        }
    }

    /// What is found in a launch: kinds, lines, messages.
    fn run(&self, spec: &Spec) -> Vec<(String, u32, String)> {
        let words = if self.faulty {
            &spec.fault
        } else {
            &spec.clean
        };
        let dumped = self.dump.kernel(Some(&spec.name)).unwrap();
        let grf_bytes = self.zebin.grf_bytes.unwrap();
        let object = Source::link(&dumped.sources, grf_bytes).unwrap();
        let zeinfo = &dumped.metadata.unwrap().zeinfo;
        let mut kernel = Kernel::new(&object, &spec.name, zeinfo).unwrap();
        kernel.grf_bytes = grf_bytes;
        kernel.data.clone_from(&self.zebin.data);
        kernel.symbols.clone_from(&self.zebin.symbols);
        let bytes = spec
            .variable
            .map(|[clean, fault]| if self.faulty { fault } else { clean });
        kernel.locals.extend(bytes.map(|bytes| LocalVariable {
            kernel: spec.name.clone(),
            name: "the variable".to_owned(),
            start: 0,
            bytes,
        }));
        let range = NdRange::new(&spec.global, &spec.local, &[]).unwrap();
        let arguments: Vec<_> = words.iter().map(|word| argument(word)).collect();
        let unset = (0..)
            .zip(words)
            .filter(|(_, word)| word.starts_with("uninit"));
        let unset: Vec<usize> = unset.map(|(index, _)| index).collect();
        let config = config(Config {
            max_steps: 1_000_000,
            ..Config::default()
        });
        let launch = kernel.prepare(&range, &arguments, &config).unwrap();
        let report = check(&kernel, launch, &config, Checks::ALL, &unset).unwrap();
        let mut found: Vec<_> = report.findings.iter().map(told).collect();
        // What a group cannot continue for is a finding.
        let stopped = report.end.stopped().filter(|s| s.reason.name() == "steps");
        if let Some(stopped) = stopped {
            let stay = report.stays.first().and_then(|stay| stay.place.line);
            let reason = stopped.reason.to_string();
            found.push((ENDLESS.to_owned(), stay.unwrap_or(0), reason));
        }
        found
    }
}

fn told(finding: &Finding) -> (String, u32, String) {
    let place = &finding.place;
    let message = format!("{} ({})", finding.message, place.text);
    (
        finding.kind.name().to_owned(),
        place.line.unwrap_or(0),
        message,
    )
}

/// Every fault is found with its kind and line, and nothing in clean forms, but for those that are known.
#[test]
fn two_hundred_kernels() {
    let mut launches = 0;
    let mut wrong: Vec<(String, String)> = Vec::new();
    for (set, devices) in SETS {
        let specs = specs(set);
        for &device in devices {
            for form in ["clean", "fault"] {
                let built = Built::open(set, device, form);
                let here = specs.iter().filter(|spec| spec.runs_on(device));
                let here: Vec<&Spec> = here.collect();
                launches += here.len();
                wrong.par_extend(here.par_iter().filter_map(|spec| {
                    let found = built.run(spec);
                    let fits = |(kind, line, _): &(String, u32, String)| {
                        let wanted = spec.wanted.iter().filter(|w| w.0 == *kind);
                        let lines: Vec<u32> = wanted.map(|w| w.1).collect();
                        // Code that belongs to no line has the number 0.
                        lines.contains(line) || kind == ENDLESS && *line == 0 && !lines.is_empty()
                    };
                    let right = match form {
                        "clean" => found.is_empty(),
                        _ => !found.is_empty() && found.iter().all(fits),
                    };
                    let lines = found.iter().map(|(kind, line, message)| {
                        format!("\n    {kind} in line {line}: {message}")
                    });
                    let name = format!("{} {device} {form}", spec.name);
                    (!right).then(|| (name, lines.collect()))
                }));
            }
        }
    }
    let mut known: Vec<String> = Vec::new();
    for (name, form, devices, _) in KNOWN {
        known.extend(
            devices
                .iter()
                .map(|device| format!("{name} {device} {form}")),
        );
    }
    let new = wrong.iter().filter(|(name, _)| !known.contains(name));
    let mut told: Vec<String> = new.map(|(name, lines)| format!("{name}:{lines}")).collect();
    known.retain(|name| !wrong.iter().any(|(other, _)| other == name));
    told.extend(known.iter().map(|name| format!("{name}: is right now")));
    assert!(
        told.is_empty(),
        "{} of {launches}\n{}",
        told.len(),
        told.join("\n")
    );
    assert!(launches > 1150, "{launches}");
}
