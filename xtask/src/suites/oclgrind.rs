//! Oclgrind's kernels: a `.sim` file has the launch and the arguments, a `.ref` file what the simulator says.

use super::{Asked, Theirs, files};
use std::error::Error;
use std::fs;
use std::path::Path;

pub(super) fn found(folder: &Path) -> Result<Vec<Asked>, Box<dyn Error>> {
    let simulated = files(folder, &|path| path.extension().is_some_and(|e| e == "sim"))?;
    let mut all = Vec::new();
    for sim in simulated {
        let text = fs::read_to_string(&sim)?;
        let options = text
            .lines()
            .find_map(|line| line.strip_prefix("# ARGS: --build-options "));
        let mut lines = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let mut line = || lines.next().unwrap_or_default().trim().to_owned();
        let (file, kernel) = (sim.with_file_name(line()), line());
        let (global, local) = (line().replace(' ', ","), line().replace(' ', ","));
        let source = fs::read_to_string(&file).unwrap_or_default();
        let parameters = parameters(&source, &kernel);
        let rest: Vec<&str> = lines.collect();
        let told = fs::read_to_string(sim.with_extension("ref")).unwrap_or_default();
        let mut errors: Vec<_> = told
            .lines()
            .filter_map(|line| line.strip_prefix("ERROR "))
            .map(|line| line.split(" at ").next().unwrap_or(line).to_owned())
            .collect();
        errors.sort();
        errors.dedup();
        let mut words = vec!["--kernel".to_owned(), kernel];
        words.extend(["--global".to_owned(), global, "--local".to_owned(), local]);
        words.extend(options.map(|options| format!("--options={}", options.trim())));
        let mut theirs = match errors.is_empty() {
            true => Theirs::Right,
            false => Theirs::Wrong(errors.join(", ")),
        };
        let specs: Option<Vec<String>> = arguments(&rest)
            .iter()
            .zip(parameters.iter().map(Some).chain(std::iter::repeat(None)))
            .map(|((spec, values), parameter)| word(spec, values, parameter?))
            .collect();
        match specs {
            Some(specs) => {
                for spec in specs {
                    words.extend(["--arg".to_owned(), spec]);
                }
            }
            None => theirs = Theirs::Other("with arguments of other kinds"),
        }
        let name = sim.strip_prefix(folder)?.display().to_string();
        all.push(Asked {
            name,
            file,
            words,
            theirs,
        });
    }
    Ok(all)
}

/// The parameters of a kernel, as its source has them.
fn parameters(source: &str, kernel: &str) -> Vec<String> {
    let declared = source.match_indices(kernel).find_map(|(at, _)| {
        let rest = source.get(at + kernel.len()..)?.trim_start();
        let inner = rest.strip_prefix('(')?;
        inner.get(..inner.find(')')?)
    });
    let declared = declared.unwrap_or_default();
    declared.split(',').map(|p| p.trim().to_owned()).collect()
}

/// Each `<size=16 fill=0>`, and the numbers after it.
fn arguments<'t>(lines: &[&'t str]) -> Vec<(&'t str, Vec<&'t str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        if let Some(spec) = line.trim().strip_prefix('<') {
            all.push((spec.trim_end_matches('>'), Vec::new()));
        } else if let Some((_, values)) = all.last_mut() {
            values.extend(line.split_whitespace());
        }
    }
    all
}

/// A specification for the command.
fn word(spec: &str, values: &[&str], parameter: &str) -> Option<String> {
    let words: Vec<&str> = spec.split_whitespace().collect();
    if words.contains(&"null") {
        return Some("null".to_owned());
    }
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
    let size: usize = value("size=")?.parse().ok()?;
    let has = |word: &str| {
        let mut all = parameter.split(|c: char| !c.is_alphanumeric() && c != '_');
        all.any(|part| part.trim_start_matches('_') == word)
    };
    if parameter.contains('*') || parameter.contains('[') {
        return Some(match (has("local"), words.contains(&"noinit")) {
            (true, _) => format!("local:{size}"),
            (_, true) => format!("uninitialized:{size}"),
            _ => format!("zeros:{size}"),
        });
    }
    let numbers: Vec<&str> = value("fill=").map_or_else(|| values.to_vec(), |v| vec![v]);
    let element = size / numbers.len().max(1);
    let mut hex = String::new();
    for number in numbers {
        let bits = match has("float") {
            true => number.parse::<f32>().ok()?.to_bits().into(),
            false => number.parse::<i64>().ok()?.cast_unsigned(),
        };
        for byte in bits.to_le_bytes().iter().take(element) {
            hex += &format!("{byte:02x}");
        }
    }
    Some(format!("bytes:{hex}"))
}
