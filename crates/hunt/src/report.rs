//! The folder of a bug: the program, cases that can be replayed, and a report.

use crate::configuration::{Bench, Configuration, Made};
use crate::find::Find;
use crate::machine::{Launching, Memory};
use crate::replay::Replay;
use crate::shape::shape;
use crate::smaller::Bug;
use crate::switches::Switch;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use visakit_launch::{Compare, Element};

/// Writes the folder, which appears as a whole.
pub(crate) fn write(find: &Find, place: &Path, bench: &Bench) -> io::Result<()> {
    let parent = place.parent().unwrap_or(place);
    let folder = visakit_files::TemporaryFolder::new(parent, "hunt")?;
    let at = folder.path();
    let text = find.source();
    visakit_files::scratch(&at.join("program.cl"), text.as_bytes())?;
    let launching = Launching::of(&find.program).map_err(|e| io::Error::other(e.to_string()))?;
    let elements = elements(find);
    let replay = Replay {
        name: find.signature(),
        launching: &launching,
        expected: &find.expected,
        elements: &elements,
    };
    let cases = replay.write(&find.made, at)?;
    let mut report = report(find);
    if let Some((wrong, _)) = find.wrong().next() {
        let bug = Bug {
            kernel: "k0",
            source: &text,
            launching: &launching,
            elements: &elements,
            made: &find.made,
            cases: &cases,
            wrong,
            is_right: &|_, made| find.is_right(made),
        };
        bug.write(bench, at, &mut report)?;
    }
    visakit_files::scratch(&at.join("report.md"), report.as_bytes())?;
    folder.commit(place)
}

/// The types of the elements of the buffers that are compared.
fn elements(find: &Find) -> Vec<Element> {
    let program = &find.program;
    let outputs = program.outputs.iter().map(|o| o.ty);
    let own = program.own.iter().map(|b| b.ty);
    let shared = program.shared.iter().map(|s| s.buffer.ty);
    let drawn = program.drawn.iter().map(crate::ast::Image::stored);
    let types = outputs.chain(own).chain(shared).chain(drawn);
    types
        .map(|ty| Element::from(ty.scalar.name().to_owned()))
        .collect()
}

/// What a configuration computes, in a few words.
fn result(expected: &Memory, elements: &[Element], made: &Made) -> String {
    match made {
        Made::Memory(memory, _) | Made::Second(memory) => {
            let pairs = expected.iter().zip(memory).enumerate();
            let mut differences = pairs.filter_map(|(number, (expected, got))| {
                let element = *elements.get(number)?;
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

/// A table of what configurations compute.
pub(crate) fn table<'m>(
    out: &mut String,
    made: &[(Configuration, Made)],
    expected: &dyn Fn(&Configuration) -> &'m Memory,
    elements: &[Element],
) {
    let _ = writeln!(out, "| compiler, device, options | result |\n|---|---|");
    for (configuration, made) in made {
        let result = result(expected(configuration), elements, made);
        let result = result.replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(out, "| {} | {result} |", configuration.name());
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
    let program = find.source();
    let _ = writeln!(out, "```c\n{}\n```\n", program.trim_end());
    let _ = writeln!(
        out,
        "It runs with {} work-items in groups of {}; buffers are in `argN.bin`, expected results in `expectN.bin`.\n",
        find.program.groups * find.program.local,
        find.program.local
    );
    let elements = elements(find);
    table(&mut out, &find.made, &|_| &find.expected, &elements);
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
    let wrong = find.wrong().next().filter(|_| find.tries_switches());
    if let Some((wrong, _)) = wrong {
        let _ = writeln!(out, "\n{}", avoided(wrong, &find.avoided));
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

/// The switches that avoid a bug, as a sentence.
pub(crate) fn avoided(wrong: &Configuration, switches: &[Switch]) -> String {
    let all: Vec<_> = switches.iter().map(|s| format!("`{s}`")).collect();
    match all.is_empty() {
        true => "None of the switches that were tried avoids it.".to_owned(),
        false => format!(
            "Each of these avoids it for {}: {}.",
            wrong.name(),
            all.join(", ")
        ),
    }
}
