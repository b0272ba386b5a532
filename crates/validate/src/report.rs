//! Findings and reports.

use crate::rule::{Rule, Severity};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use visakit_isa::Op;
use visakit_isa::object::{RoutineId, RoutineKind};

/// A field: its name, and its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FieldLocation {
    /// Name, of a field of an instruction or of a record.
    pub name: &'static str,
    /// Index among the fields of the instruction; 0 in records.
    pub position: u32,
}

/// The part of a routine, or of the file, that a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// The whole of it.
    Whole,
    /// An entry of a table, which is named like the field that holds it: `variables`, `inputs`.
    Entry {
        /// The table.
        table: &'static str,
        /// The entry.
        index: u32,
    },
    /// An instruction, by its number in the routine.
    Instruction {
        /// The number; pieces that do not decode are not counted.
        number: u32,
        /// Its operation, where that is known.
        op: Option<Op>,
    },
}

/// The place of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Location {
    /// The routine; `None` for the file.
    pub routine: Option<RoutineId>,
    /// The part of it.
    pub scope: Scope,
    /// The field.
    pub field: Option<FieldLocation>,
}

impl Location {
    /// The file.
    pub const FILE: Self = Self {
        routine: None,
        scope: Scope::Whole,
        field: None,
    };

    pub(crate) const fn of_routine(id: RoutineId) -> Self {
        Self {
            routine: Some(id),
            scope: Scope::Whole,
            field: None,
        }
    }

    pub(crate) fn entry(self, table: &'static str, index: usize) -> Self {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        Self {
            scope: Scope::Entry { table, index },
            ..self
        }
    }

    pub(crate) const fn field(self, name: &'static str, position: u32) -> Self {
        Self {
            field: Some(FieldLocation { name, position }),
            ..self
        }
    }
}

impl fmt::Display for Location {
    /// `kernel 0, instruction 12 (mov), dst`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(id) = self.routine {
            let kind = match id.kind {
                RoutineKind::Kernel => "kernel",
                RoutineKind::Function => "function",
            };
            write!(f, "{kind} {}", id.index)?;
            separator = ", ";
        }
        match self.scope {
            Scope::Whole => {}
            Scope::Entry { table, index } => {
                write!(f, "{separator}{table}[{index}]")?;
                separator = ", ";
            }
            Scope::Instruction { number, op } => {
                write!(f, "{separator}instruction {number}")?;
                separator = ", ";
                if let Some(op) = op {
                    write!(f, " ({})", op.def().mnemonic())?;
                }
            }
        }
        match self.field {
            Some(field) => write!(f, "{separator}{}", field.name),
            None => Ok(()),
        }
    }
}

/// A rule that is broken, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Where it is broken.
    pub location: Location,
    /// Offset of the location from the start of the file, where the object was read from bytes.
    pub offset: Option<u64>,
    /// Bytes of the text, where the object was assembled and the caller has said where from.
    pub span: Option<Range<usize>>,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Its cause, if many findings have it in common.
    pub cause: Option<Cause>,
}

/// A common cause of findings of several rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The registers of the platform have 64 bytes; with registers of 32 bytes there would be no finding here. This
    /// happens with code compiled for older platforms: places in variables are given as a row of registers and a
    /// column.
    RegisterSize,
}

impl Cause {
    /// Its name in documents for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RegisterSize => "register-size",
        }
    }
}

impl fmt::Display for Cause {
    /// The text after "because".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RegisterSize => "registers have 64 bytes; with 32 nothing is wrong there",
        })
    }
}

impl fmt::Display for Finding {
    /// `error[V0222-region-exec-size] kernel 0, instruction 3 (mov), src0 @ 0x3f2: ...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}[{}] {}",
            self.rule.severity.name(),
            self.rule.id(),
            self.location
        )?;
        if let Some(offset) = self.offset {
            write!(f, " @ {offset:#x}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Everything that is wrong with an object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The findings, in the order of the object's parts; the first ones, if there are more than the
    /// limit.
    pub findings: Vec<Finding>,
    /// Number of errors, also of those that are not kept.
    pub errors: u64,
    /// Number of warnings, also of those that are not kept.
    pub warnings: u64,
    /// Number of routines that were checked.
    pub routines: u64,
}

impl Report {
    /// Whether there are no findings.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }

    /// Findings that were counted and not kept.
    #[must_use]
    pub fn more(&self) -> u64 {
        (self.errors + self.warnings).saturating_sub(self.findings.len() as u64)
    }

    /// Keeps only findings of selected rules, and counts them again. Findings dropped because of the limit are no
    /// longer counted.
    pub fn retain(&mut self, mut wanted: impl FnMut(&Rule) -> bool) {
        self.findings.retain(|finding| wanted(finding.rule));
        (self.errors, self.warnings) = (0, 0);
        for at in 0..self.findings.len() {
            if let Some(rule) = self.findings.get(at).map(|finding| finding.rule) {
                self.count(rule);
            }
        }
    }

    /// Sets the places of findings in a text.
    pub fn set_spans(&mut self, mut span: impl FnMut(&Location) -> Option<Range<usize>>) {
        for finding in &mut self.findings {
            finding.span = span(&finding.location);
        }
    }

    /// Adds a finding of one's own, such as a fault of a text that was not assembled.
    pub fn add(&mut self, finding: Finding, limit: usize) {
        self.count(finding.rule);
        if self.findings.len() < limit {
            self.findings.push(finding);
        }
    }

    const fn count(&mut self, rule: &Rule) {
        match rule.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }
}

/// Takes findings while an object is checked.
#[derive(Debug)]
pub(crate) struct Sink {
    pub(crate) report: Report,
    limit: usize,
}

impl Sink {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            report: Report::default(),
            limit,
        }
    }

    /// Counts a finding, and keeps it if there is room; only then is the message made.
    #[cold]
    pub(crate) fn add(
        &mut self,
        rule: &'static Rule,
        location: Location,
        message: impl FnOnce() -> String,
    ) {
        self.add_at(rule, location, None, message);
    }

    #[cold]
    pub(crate) fn add_at(
        &mut self,
        rule: &'static Rule,
        location: Location,
        offset: Option<u64>,
        message: impl FnOnce() -> String,
    ) {
        self.report.count(rule);
        if self.report.findings.len() < self.limit {
            self.report.findings.push(Finding {
                rule,
                location,
                offset,
                span: None,
                message: message(),
                cause: None,
            });
        }
    }

    /// An index that should be below the end of its table.
    #[inline]
    pub(crate) fn index(&mut self, location: Location, table: &str, index: u32, end: usize) {
        if usize::try_from(index).is_ok_and(|i| i >= end) {
            self.absent(location, table, index, end);
        }
    }

    /// An index of an entry that its table does not have.
    #[cold]
    pub(crate) fn absent(&mut self, location: Location, table: &str, index: u32, end: usize) {
        self.add(&crate::rules::INDEX, location, || {
            format!("{table} {index} does not exist, the table ends at {end}")
        });
    }
}
