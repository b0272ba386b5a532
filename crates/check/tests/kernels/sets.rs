//! Two hundred kernels in two forms, by the kind of their faults, for three devices. Their sources state how they are
//! launched (`//@`) and where the second form has its fault (`//!`); a set of a device and a form is one container with
//! texts, metadata and program-scope variables.

use crate::{Spec, argument, folder, specs};
use rayon::prelude::*;
use visakit_check::{Checks, Finding, check, config};
use visakit_launch::{Config, Dump, Kernel, LaunchError, LocalVariable, NdRange, Source, Zebin};

const SETS: [&str; 4] = ["bounds", "spaces", "unset", "order"];
const DEVICES: [&str; 3] = ["dg2", "pvc", "skl"];

/// What a launch that does not end is called in the sources.
const ENDLESS: &str = "did-not-end";

/// Faults that are not found, and clean forms in which something is found: kernel, form, devices, reason.
const KNOWN: &[(&str, &str, &[&str], &str)] = &[
    (
        "differences",
        "fault",
        &DEVICES,
        "a neighbour beside what a message loads first",
    ),
    (
        "shifted_quads",
        "fault",
        &DEVICES,
        "a neighbour beside what a message loads first",
    ),
    (
        "longs_ahead",
        "fault",
        &DEVICES,
        "a neighbour beside what a message loads first",
    ),
    (
        "lengths_of_rows",
        "fault",
        &DEVICES,
        "a neighbour beside what a message loads first",
    ),
    (
        "heap_children",
        "fault",
        &DEVICES,
        "a neighbour beside what a message loads first",
    ),
    (
        "between_samples",
        "fault",
        &DEVICES,
        "a neighbour beside what a message loads first",
    ),
    (
        "doubles_ahead",
        "fault",
        &["pvc", "skl"],
        "a neighbour beside what a message loads first",
    ),
    (
        "gauss_rows",
        "fault",
        &DEVICES,
        "the next table follows at once in the section of constants",
    ),
    (
        "rules_by_number",
        "fault",
        &DEVICES,
        "the next table follows at once in the section of constants",
    ),
    (
        "sine_quadrants",
        "fault",
        &DEVICES,
        "the next table follows at once in the section of constants",
    ),
    (
        "odd_ushort",
        "fault",
        &DEVICES,
        "messages of two bytes are not examined: two bytes may be two numbers",
    ),
    (
        "local_words",
        "fault",
        &DEVICES,
        "messages of two bytes are not examined: two bytes may be two numbers",
    ),
    (
        "wide_from_words",
        "fault",
        &["dg2", "skl"],
        "a number of eight bytes is loaded as two",
    ),
    (
        "columns_of_image",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "none_and_edge",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "last_row_of_image",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "left_of_image",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "none_and_clamp",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "sampler_of_host",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "line_of_pixels",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "buffer_of_pixels",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "layers_of_planes",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "layers_of_lines",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "depth_of_volume",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "width_inclusive",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "sides_swapped",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "window_of_image",
        "fault",
        &["dg2", "skl"],
        "reads outside of images are not examined",
    ),
    (
        "one_of_four",
        "clean",
        &DEVICES,
        "what is stored where it was loaded from counts as an output",
    ),
    (
        "two_of_bytes",
        "clean",
        &DEVICES,
        "what is stored where it was loaded from counts as an output",
    ),
    (
        "counters_not_cleared",
        "fault",
        &DEVICES,
        "atomic operations on what was never written, without a result",
    ),
    (
        "output_index_not_set",
        "fault",
        &DEVICES,
        "left out as the consequence of a race in the same line, which is of another buffer",
    ),
    (
        "all_groups_arrive",
        "clean",
        &DEVICES,
        "groups run one after the other",
    ),
    (
        "later_group_answers",
        "clean",
        &DEVICES,
        "groups run one after the other",
    ),
    (
        "sums_by_exchange",
        "fault",
        &DEVICES,
        "reads of what is compared and exchanged are no race",
    ),
];

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
            max_steps: 200_000,
            ..Config::default()
        });
        let launch = kernel.prepare(&range, &arguments, &config).unwrap();
        match check(&kernel, launch, &config, Checks::ALL, &unset) {
            Ok(report) => report.findings.iter().map(told).collect(),
            Err(error @ LaunchError::Fault { .. }) => panic!("{}: {error}", spec.name),
            Err(error) => vec![(ENDLESS.to_owned(), 0, error.to_string())],
        }
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
    for set in SETS {
        let specs = specs(set);
        for device in DEVICES {
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
                        lines.contains(line) || kind == ENDLESS && !lines.is_empty()
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
