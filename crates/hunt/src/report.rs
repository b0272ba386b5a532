//! The folder of a bug: the program, cases that can be replayed, and a report.

use crate::configuration::{Configuration, Made};
use crate::find::{Find, shape};
use crate::machine;
use crate::render::source;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use visakit_launch::{AddressPart, Argument, Compare, DumpedKernel, Element, Zebin};

/// Writes the folder, which appears as a whole.
pub(crate) fn write(find: &Find, place: &Path) -> io::Result<()> {
    let parent = place.parent().unwrap_or(place);
    let folder = visakit_files::TemporaryFolder::new(parent, "hunt")?;
    let at = folder.path();
    let file = |name: &str, bytes: &[u8]| visakit_files::scratch(&at.join(name), bytes);
    file("program.cl", source(&[&find.program], None).as_bytes())?;
    for (number, argument) in machine::arguments(&find.program).iter().enumerate() {
        if let Argument::Buffer(bytes) = argument {
            file(&format!("arg{number}.bin"), bytes)?;
        }
    }
    for (number, bytes) in find.expected.iter().enumerate() {
        file(&format!("expect{number}.bin"), bytes)?;
    }
    let mut names = BTreeSet::new();
    for (configuration, made) in &find.made {
        if let Some(kernel) = made.kernel() {
            let case = at.join(unused(slug(configuration), &mut names));
            std::fs::create_dir(&case)?;
            write_case(find, configuration, kernel, &case)?;
        }
    }
    file("report.md", report(find).as_bytes())?;
    folder.commit(place)
}

/// The name, with a number if it was used before: options that differ in other characters than letters have one slug.
fn unused(name: String, used: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let name = names.find(|name| !used.contains(name)).unwrap_or(name);
    used.insert(name.clone());
    name
}

/// A name for a folder.
fn slug(configuration: &Configuration) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let name = configuration.name();
    let words = name.split(|c| !plain(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn write_case(
    find: &Find,
    configuration: &Configuration,
    kernel: &DumpedKernel,
    folder: &Path,
) -> io::Result<()> {
    let file = |name: &str, bytes: &[u8]| visakit_files::scratch(&folder.join(name), bytes);
    let mut texts = Vec::new();
    for (number, text) in kernel.sources.iter().enumerate() {
        let name = match number {
            0 => "k.visaasm".to_owned(),
            _ => format!("f{}.visaasm", number - 1),
        };
        file(&name, &text.bytes)?;
        texts.push(name);
    }
    let zebin = kernel.metadata.as_ref().and_then(|m| m.zebin.as_ref());
    let none = Zebin::default();
    let zebin = zebin.unwrap_or(&none);
    file("k.zeinfo", zebin.zeinfo.as_bytes())?;
    let mut sections = Vec::new();
    let mut relocations = Vec::new();
    for (number, data) in zebin.data.iter().enumerate() {
        let name = format!("data{number}.bin");
        file(&name, &data.bytes)?;
        sections.push(json!({"section": data.name, "file": name, "address": data.address}));
        relocations.extend(data.relocations.iter().map(|r| {
            let kind = match r.part {
                AddressPart::Whole => "SYM_ADDR",
                AddressPart::Low => "SYM_ADDR_32",
                AddressPart::High => "SYM_ADDR_32_HI",
            };
            json!({
                "section": data.name, "offset": r.offset, "symbol": r.symbol, "addend": r.addend, "type": kind,
            })
        }));
    }
    let symbols = zebin.symbols.iter();
    let symbols =
        symbols.map(|s| json!({"name": s.name, "section": s.section, "offset": s.offset}));
    let program = &find.program;
    let case = json!({
        "name": find.signature(),
        "kernel": kernel.name,
        "device": configuration.device,
        "options": configuration.options,
        "grf_bytes": zebin.grf_bytes.unwrap_or(32),
        "work_dim": 1,
        "global_size": [program.groups * program.local],
        "local_size": [program.local],
        "args": arguments(find),
        "outputs": outputs(find),
        "visaasm": texts.first(),
        "function_visaasm": texts.iter().skip(1).collect::<Vec<_>>(),
        "zeinfo": "k.zeinfo",
        "data_sections": sections,
        "data_symbols": symbols.collect::<Vec<_>>(),
        "data_relocations": relocations,
    });
    file("case.json", format!("{case:#}\n").as_bytes())
}

fn arguments(find: &Find) -> Vec<Value> {
    let arguments = machine::arguments(&find.program);
    let described = arguments.iter().enumerate().map(|(index, argument)| {
        match argument {
            Argument::Value(bytes) => {
                let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
                json!({"index": index, "kind": "scalar", "bytes": hex})
            }
            Argument::Buffer(bytes) => {
                let uninitialized = index < find.program.outputs.len();
                json!({
                    "index": index, "kind": "buffer", "size": bytes.len(), "file": format!("../arg{index}.bin"),
                    "uninitialized": uninitialized,
                })
            }
            _ => json!({"index": index, "kind": "null"}),
        }
    });
    described.collect()
}

/// The type of the elements of a buffer that is compared.
fn element(find: &Find, number: usize) -> Element {
    let program = &find.program;
    let outputs = program.outputs.iter().map(|o| o.ty);
    let own = program.own.iter().map(|b| b.ty);
    let shared = program.shared.iter().map(|s| s.buffer.ty);
    let ty = outputs.chain(own).chain(shared).nth(number);
    Element::from(ty.map_or_else(String::new, |ty| ty.scalar.name().to_owned()))
}

fn outputs(find: &Find) -> Vec<Value> {
    let outputs = find.expected.iter().enumerate().map(|(number, bytes)| {
        let element = format!("{:?}", element(find, number)).to_lowercase();
        json!({
            "arg": number, "type": element, "size": bytes.len(), "file": format!("../expect{number}.bin"),
            "compare": "exact",
        })
    });
    outputs.collect()
}

/// What a configuration computes, in a few words.
fn result(find: &Find, made: &Made) -> String {
    match made {
        Made::Memory(memory, _) | Made::Second(memory) => {
            let pairs = find.expected.iter().zip(memory).enumerate();
            let mut differences = pairs.filter_map(|(number, (expected, got))| {
                let element = element(find, number);
                let difference = Compare::Exact.difference(element, expected, got)?;
                Some(format!("**wrong**: argument {number}, {difference}"))
            });
            differences.next().unwrap_or_else(|| "right".to_owned())
        }
        Made::Fault(fault, _) => format!("**wrong**: {fault}"),
        Made::Crash(said) => {
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            format!("**crash**: `{}`", last.unwrap_or_default().trim())
        }
        Made::Endless => "**does not end**".to_owned(),
        Made::Refused(_) => "refused".to_owned(),
        Made::Not(reason) => format!("not run: {reason}"),
    }
}

fn report(find: &Find) -> String {
    let mut out = String::new();
    let releases: std::collections::BTreeSet<_> =
        find.wrong().map(|(c, _)| c.release.clone()).collect();
    let releases = releases.into_iter().collect::<Vec<_>>().join(", ");
    let title = match find.kind.as_str() {
        "crash" => "The compiler crashes",
        "endless" => "The compiler does not end",
        "fault" => "Wrong code accesses memory out of bounds",
        _ => "Wrong code",
    };
    let _ = writeln!(out, "# {title}: {releases}\n");
    let words: Vec<_> = shape(&find.program).into_iter().take(12).collect();
    let _ = writeln!(
        out,
        "The program uses: {}. It was reduced from the generated program of seed {}.\n",
        if words.is_empty() {
            "nothing special".to_owned()
        } else {
            words.join(", ")
        },
        find.seed
    );
    let program = source(&[&find.program], None);
    let _ = writeln!(out, "```c\n{}\n```\n", program.trim_end());
    let _ = writeln!(
        out,
        "It runs with {} work-items in groups of {}; buffers are in `argN.bin`, expected results in `expectN.bin`.\n",
        find.program.groups * find.program.local,
        find.program.local
    );
    let _ = writeln!(out, "| compiler, device, options | result |\n|---|---|");
    for (configuration, made) in &find.made {
        let _ = writeln!(
            out,
            "| {} | {} |",
            configuration.name(),
            result(find, made).replace('|', "\\|").replace('\n', " ")
        );
    }
    if let (Some((wrong, _)), Some(instruction)) = (find.wrong().next(), &find.instruction) {
        let value = match instruction.value.as_str() {
            "" => String::new(),
            value => format!(" (gives {value})"),
        };
        let _ = writeln!(
            out,
            "\nThe first wrong value of {} is that of {instruction}{value}.",
            wrong.name()
        );
    }
    if let Some((wrong, _)) = find.wrong().next() {
        let avoided: Vec<_> = find.avoided.iter().map(|s| format!("`{s}`")).collect();
        let _ = match avoided.is_empty() {
            true => writeln!(out, "\nNone of the switches that were tried avoids it."),
            false => writeln!(
                out,
                "\nEach of these avoids it for {}: {}.",
                wrong.name(),
                avoided.join(", ")
            ),
        };
    }
    let right: Vec<_> = find.right().map(Configuration::name).collect();
    let expected = find.kind == "miscompile" || find.kind == "fault";
    if expected {
        let _ = writeln!(
            out,
            "\nThe expected result is that of an evaluation of the program's tree by the rules of OpenCL C, which no \
             compiler takes part in; {} of {} configurations compute the same. Nothing in the program is undefined: \
             divisors, shifts and indices are in range, signed overflow is avoided by unsigned types, and a build that \
             is right has no findings of `visakit check`.\n",
            right.len(),
            find.made.len()
        );
        let _ = writeln!(
            out,
            "To replay: `visakit run --case */`, in this folder. `k.visaasm` of a folder is what the compiler wrote; \
             `visakit diff --run` compares two of them.",
        );
    }
    out
}
