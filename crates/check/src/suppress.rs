//! Known findings that are not to be reported.

use crate::finding::{Finding, Kind, Place};

/// Rules that describe known findings.
///
/// One rule per line: words `key=value`, all of which must match. Keys are `kind`, `routine`, `file` (the end of the
/// name), `line`, `argument` (the name of the object) and `case`; `*` in a value matches anything. Empty lines and text
/// after `#` are ignored.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    /// Lines, from 1, with their conditions.
    rules: Vec<(usize, Vec<(Key, String)>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Key {
    Kind,
    Routine,
    File,
    Line,
    Argument,
    Case,
}

/// A line that is not a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuppressionsError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl std::fmt::Display for SuppressionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SuppressionsError {}

impl Suppressions {
    /// Reads rules.
    ///
    /// # Errors
    /// The first line that is not a rule.
    pub fn parse(text: &str) -> Result<Self, SuppressionsError> {
        let mut rules = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let error = |message| SuppressionsError {
                line: number + 1,
                message,
            };
            let mut rule = Vec::new();
            for word in line.split_whitespace() {
                let (key, value) = word
                    .split_once('=')
                    .ok_or_else(|| error(format!("`{word}` is no key=value")))?;
                let key = match key {
                    "kind" => Key::Kind,
                    "routine" => Key::Routine,
                    "file" => Key::File,
                    "line" => Key::Line,
                    "argument" => Key::Argument,
                    "case" => Key::Case,
                    _ => {
                        return Err(error(format!(
                            "`{key}` is not known; known are kind, routine, file, line, argument and case"
                        )));
                    }
                };
                if key == Key::Kind
                    && !value.contains('*')
                    && Kind::ALL.iter().all(|k| k.name() != value)
                {
                    return Err(error(format!("there is no kind `{value}`")));
                }
                let number = value.contains('*') || value.parse::<u32>().is_ok();
                if value.is_empty() || key == Key::Line && !number {
                    return Err(error(format!("`{word}` has no value that fits")));
                }
                rule.push((key, value.to_owned()));
            }
            rules.push((number + 1, rule));
        }
        Ok(Self { rules })
    }

    /// The lines with rules, from 1.
    pub fn lines(&self) -> impl Iterator<Item = usize> + '_ {
        self.rules.iter().map(|(line, _)| *line)
    }

    /// Whether a finding is known.
    #[must_use]
    pub fn covers(&self, case: &str, finding: &Finding) -> bool {
        self.covering(case, finding).next().is_some()
    }

    /// The lines of the rules that fit a finding.
    pub fn covering<'s>(
        &'s self,
        case: &'s str,
        finding: &'s Finding,
    ) -> impl Iterator<Item = usize> + 's {
        let fits = move |(key, value): &(Key, String), place: &Place| {
            let text = match key {
                Key::Kind => finding.kind.name().to_owned(),
                Key::Routine => place.routine.clone(),
                Key::File => {
                    let file = place.file.as_deref().unwrap_or_default();
                    return matches(&format!("*{value}"), file);
                }
                Key::Line => place.line.map_or_else(String::new, |l| l.to_string()),
                Key::Argument => finding
                    .target
                    .as_ref()
                    .map_or_else(String::new, |t| t.name.clone()),
                Key::Case => case.to_owned(),
            };
            matches(value, &text)
        };
        // Which side of a race was seen last is a matter of chance.
        let other = finding
            .other
            .as_ref()
            .and_then(|other| other.place.as_ref());
        let places = [
            Some(&finding.place),
            other.filter(|_| finding.between.is_some()),
        ];
        let found = self.rules.iter().filter(move |(_, rule)| {
            let mut places = places.into_iter().flatten();
            places.any(|place| rule.iter().all(|word| fits(word, place)))
        });
        found.map(|(line, _)| *line)
    }
}

/// Whether a text matches a pattern in which `*` matches anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<_> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = rest.get(at + piece.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}
