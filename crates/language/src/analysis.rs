//! The results of assembler and validator for a text.

use crate::{Document, Edit};
use std::cell::OnceCell;
use std::ops::Range;
use visakit_isa::object::{Body, Item, Object, RoutineId};
use visakit_isa::{Instruction, Platform};
use visakit_text::asm::{self, Checked, Diagnostic, DiagnosticKind, SourceMap, Span};
use visakit_validate::{Finding, Location, Scope};

/// The severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// The text does not assemble, or its object does not run.
    Error,
    /// A rule that texts of compilers break, too.
    Warning,
}

/// A change that would help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// A description of the fix.
    pub title: String,
    /// The change.
    pub edit: Edit,
}

/// Something that is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Its place in the text.
    pub span: Range<usize>,
    /// Its severity.
    pub severity: Severity,
    /// The rule of the validator that is broken (`V0223-destination-stride`); `None` for faults of the text.
    pub rule: Option<String>,
    /// What is wrong, in one clause.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Another place that belongs to it, with a remark.
    pub related: Option<(Range<usize>, &'static str)>,
    /// A change that would help.
    pub fix: Option<Fix>,
}

/// An instruction as it is encoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    /// The place of the statement.
    pub span: Range<usize>,
    /// Offset from the start of the routine's instructions.
    pub offset: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The results of assembler and validator for a text.
#[derive(Debug)]
pub struct Analysis {
    problems: Vec<Problem>,
    platform: Option<Platform>,
    object: Object<'static>,
    source_map: SourceMap,
    faulty: bool,
    /// The places of instructions in the text.
    places: Vec<(Range<usize>, RoutineId, usize)>,
    encoded: OnceCell<Vec<Encoded>>,
}

/// At most this many findings of the validator are shown.
const MOST: usize = 500;

impl Analysis {
    pub(crate) fn of(document: &Document) -> Self {
        let text = document.text();
        let mut options = asm::Options::default();
        let mut checked = asm::check(text.as_bytes(), &options);
        let platform = checked.assembled.platform.or(document.settings().platform);
        // The size of a register that the text needs, and states after that or not at all.
        if let (Some(platform), Some(_)) = (platform, &checked.assembled.undecided) {
            options.grf_bytes = Some(platform.grf_bytes());
            checked = asm::check(text.as_bytes(), &options);
        }
        let Checked { assembled, faults } = checked;
        let faulty = !faults.is_empty();
        let mut problems: Vec<Problem> = Vec::new();
        problems.extend(faults.iter().map(|f| fault(text, f, Severity::Error)));
        // Aliases have their own rules, which are checked for every object.
        let warnings = assembled.warnings.iter().chain(&assembled.undecided);
        let warnings = warnings.filter(|w| faulty || w.kind != DiagnosticKind::AliasBounds);
        problems.extend(warnings.map(|w| fault(text, w, Severity::Warning)));
        // An object with lines missing would have faults that the text has not.
        if !faulty {
            let options = visakit_validate::Options {
                platform,
                limit: MOST,
            };
            let report = visakit_validate::object(&assembled.object, &options);
            let findings = report.findings.iter();
            problems.extend(findings.map(|f| finding(text, &assembled.source_map, f)));
        }
        problems.sort_by_key(|p| p.span.start);
        let places = places(&assembled.object, &assembled.source_map);
        Self {
            problems,
            platform,
            object: assembled.object.into_owned(),
            source_map: assembled.source_map,
            faulty,
            places,
            encoded: OnceCell::new(),
        }
    }

    /// Everything that is wrong, in the order of the text.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The platform that the text names, else that of the settings.
    #[must_use]
    pub const fn platform(&self) -> Option<Platform> {
        self.platform
    }

    /// The object that the text assembles to. If it has faults, what its other lines produce, which corresponds to no
    /// text.
    #[must_use]
    pub const fn object(&self) -> &Object<'static> {
        &self.object
    }

    /// Whether the text assembles.
    #[must_use]
    pub const fn assembles(&self) -> bool {
        !self.faulty
    }

    /// Where in the text the parts of the object were written.
    #[must_use]
    pub const fn source_map(&self) -> &SourceMap {
        &self.source_map
    }

    /// The instruction that a place of the text made, with its routine and its number there.
    #[must_use]
    pub fn instruction_at(&self, offset: usize) -> Option<(RoutineId, usize, &Instruction)> {
        let after = self
            .places
            .partition_point(|(span, ..)| span.start <= offset);
        let (span, id, number) = self.places.get(after.checked_sub(1)?)?;
        if offset > span.end {
            return None;
        }
        match self.body(*id)?.code.get(*number)? {
            Item::Instruction(instruction) => Some((*id, *number, instruction)),
            Item::Raw(_) => None,
        }
    }

    /// The place in the text of an instruction of a routine.
    #[must_use]
    pub fn place_of(&self, id: RoutineId, number: usize) -> Option<Range<usize>> {
        let span = self.source_map.routine(id)?.instruction(number)?;
        Some(range(span))
    }

    pub(crate) fn body(&self, id: RoutineId) -> Option<&Body<'static>> {
        self.object.routine(id)?.body()
    }

    /// The instructions as they are encoded, in the order of the text. Empty where the text does not assemble:
    /// offsets would be wrong.
    #[must_use]
    pub fn encoded(&self) -> &[Encoded] {
        self.encoded.get_or_init(|| {
            let mut encoded = Vec::new();
            if self.faulty {
                return encoded;
            }
            let format = self.object.format();
            for (id, routine) in self.object.routines() {
                let mut offset = 0;
                let code = routine.body().map_or(&[][..], |body| &body.code);
                for (number, item) in code.iter().enumerate() {
                    let bytes = match item {
                        Item::Instruction(i) => visakit_encode::instruction(i, format),
                        Item::Raw(raw) => Ok(raw.bytes.to_vec()),
                    };
                    // What a version cannot express has no offsets after it.
                    let Ok(bytes) = bytes else { break };
                    let length = bytes.len();
                    if let Some(span) = self.place_of(id, number) {
                        encoded.push(Encoded {
                            span,
                            offset,
                            bytes,
                        });
                    }
                    offset += length;
                }
            }
            encoded.sort_by_key(|e| e.span.start);
            encoded
        })
    }
}

impl Document {
    /// Everything that is wrong with the text, in its order.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        self.analysis().problems()
    }
}

pub(crate) const fn range(span: Span) -> Range<usize> {
    span.start..span.end()
}

fn places(object: &Object<'_>, map: &SourceMap) -> Vec<(Range<usize>, RoutineId, usize)> {
    let mut places = Vec::new();
    for (id, routine) in object.routines() {
        let (Some(spans), Some(body)) = (map.routine(id), routine.body()) else {
            continue;
        };
        let numbers = 0..body.code.len();
        places.extend(numbers.filter_map(|n| Some((range(spans.instruction(n)?), id, n))));
    }
    places.sort_by_key(|(span, ..)| span.start);
    places
}

/// The part of a place that is worth underlining: no blanks and no comments at its ends, and not more than a line.
fn shown(text: &str, span: Range<usize>) -> Range<usize> {
    let end = span.end.min(text.len());
    let start = span.start.min(end);
    let said = text.get(start..end).unwrap_or_default();
    let mut shown = start..start;
    for (token, span) in visakit_text::tokens(said.as_bytes()) {
        let (from, to) = (start + span.start, start + span.end());
        if token == visakit_text::Token::Comment {
            continue;
        }
        if shown.is_empty() {
            shown = from..to;
        } else if said
            .get(..span.start)
            .is_some_and(|before| before.contains('\n'))
        {
            break;
        }
        shown.end = to;
    }
    shown
}

fn fault(text: &str, fault: &Diagnostic, severity: Severity) -> Problem {
    let mut span = shown(text, range(fault.span));
    if span.is_empty() {
        span = range(fault.span);
    }
    let message = match &fault.expected {
        Some(expected) => format!("{}, expected {expected}", fault.message),
        None => fault.message.clone(),
    };
    let fix = fault.replacement().map(|name| {
        let quoted = text
            .get(span.clone())
            .is_some_and(|said| said.starts_with('"'));
        let new = if quoted {
            format!("\"{name}\"")
        } else {
            name.to_string()
        };
        Fix {
            title: format!("Replace with `{name}`"),
            edit: Edit {
                range: span.clone(),
                text: new,
            },
        }
    });
    Problem {
        span,
        severity,
        rule: None,
        message,
        help: fault.hint.clone(),
        related: fault.related.map(|(span, remark)| (range(span), remark)),
        fix,
    }
}

fn finding(text: &str, map: &SourceMap, finding: &Finding) -> Problem {
    let span = place(map, &finding.location).unwrap_or(0..0);
    Problem {
        span: shown(text, span),
        severity: match finding.rule.severity {
            visakit_validate::Severity::Error => Severity::Error,
            visakit_validate::Severity::Warning => Severity::Warning,
        },
        rule: Some(finding.rule.id().to_string()),
        message: match finding.location.field {
            Some(field) => format!("{}: {}", field.name, finding.message),
            None => finding.message.clone(),
        },
        help: Some(finding.rule.action.into()),
        related: None,
        fix: None,
    }
}

/// The place in the text that a finding is about.
fn place(map: &SourceMap, location: &Location) -> Option<Range<usize>> {
    let routine = map.routine(location.routine?)?;
    let span = match location.scope {
        Scope::Whole => routine.routine,
        Scope::Entry { table, index } => routine.entry(table, usize::try_from(index).ok()?)?,
        Scope::Instruction { number, .. } => routine.instruction(usize::try_from(number).ok()?)?,
    };
    Some(range(span))
}
