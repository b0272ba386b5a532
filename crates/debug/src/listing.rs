//! The program as text, and which source line each instruction is of.

use std::collections::BTreeMap;
use visakit_exec::code::Code;
use visakit_isa::object::{Body, Item, Object, RoutineId, SourceFiles};
use visakit_isa::semantics::{Flow, Resource};
use visakit_isa::{AnyInstruction, Format};
use visakit_text::{Form, Options, Printer};

/// A place in the program: a routine of the code and an instruction of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    /// Place of the routine in [`Code::routines`].
    pub routine: usize,
    /// Place of the instruction in the routine's code.
    pub instruction: usize,
}

/// A line of a source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceLine {
    /// Place of the file in [`Listing::files`].
    pub file: usize,
    /// Line number, from 1.
    pub line: u32,
}

/// An instruction of the listing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// Its text, without a line end.
    pub text: String,
    /// The source line that it is of.
    pub source: Option<SourceLine>,
    /// Whether it has no effect: a label, a file or a line.
    pub marker: bool,
    /// The name of a label.
    pub label: Option<String>,
    /// The lane of the thread that is its first.
    pub first_lane: u32,
    /// General variables and predicates that it names, as (letter, number); those it writes come first.
    pub variables: Vec<(char, u32)>,
    /// How many of them it writes.
    pub written: usize,
}

impl Row {
    /// Adds the variables among what an instruction accesses.
    fn name(&mut self, accessed: impl Iterator<Item = Resource>) {
        for resource in accessed {
            let variable = match resource {
                Resource::General(id) => ('V', id.0),
                Resource::Predicate(id) => ('P', u32::from(id.0)),
                Resource::Address(id) => ('A', u32::from(id.0)),
                _ => continue,
            };
            if !self.variables.contains(&variable) {
                self.variables.push(variable);
            }
        }
    }
}

/// A routine of the listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoutineListing {
    /// Its id in the object.
    pub id: RoutineId,
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub rows: Vec<Row>,
    /// Variables that share storage: number of the variable, number of the one that it is a part of, bytes after its
    /// start.
    pub aliases: BTreeMap<u32, (u32, u32)>,
}

/// The text of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The routines, as [`Code::routines`] has them.
    pub routines: Vec<RoutineListing>,
    /// Source files that the routines name.
    pub files: Vec<String>,
}

impl Listing {
    /// The listing of a program's routines.
    #[must_use]
    pub fn new(object: &Object<'_>, code: &Code, grf_bytes: u32) -> Self {
        let options = Options {
            form: Form::Intel,
            grf_bytes: Some(grf_bytes),
        };
        let printer = Printer::new(object, options);
        let mut listing = Self::default();
        let mut files = SourceFiles::default();
        for routine in &code.routines {
            let body = object.routine(routine.id).and_then(|r| r.body());
            let format = object.format();
            let mut rows = body.map_or_else(Vec::new, |body| Self::rows(body, format, &mut files));
            for (row, text) in rows.iter_mut().zip(printer.code(routine.id)) {
                row.text = text;
            }
            for row in rows.iter_mut().filter(|row| row.marker) {
                let label = row.text.strip_suffix(':');
                let name = label.and_then(|label| label.split_whitespace().next_back());
                row.label = name.map(ToOwned::to_owned);
            }
            let first = object.format().predefined_variable_count();
            listing.routines.push(RoutineListing {
                id: routine.id,
                name: routine.name.clone(),
                rows,
                aliases: body.map_or_else(BTreeMap::new, |body| aliases(body, first)),
            });
        }
        listing.files = files.names().to_vec();
        listing
    }

    fn rows(body: &Body<'_>, format: Format, files: &mut SourceFiles) -> Vec<Row> {
        let lines = files.lines(body);
        let mut rows = Vec::with_capacity(body.code.len());
        for (item, line) in body.code.iter().zip(lines) {
            let mut row = Row::default();
            if let Item::Instruction(instruction) = item {
                row.marker = matches!(instruction.def().flow, Flow::Marker | Flow::Label { .. });
                let mask = instruction.exec_size().and_then(|size| size.mask(format));
                row.first_lane = mask.map_or(0, |mask| mask.first_lane.into());
                row.name(instruction.writes().map(|access| access.resource));
                row.written = row.variables.len();
                row.name(instruction.reads().map(|access| access.resource));
            }
            row.source = line.and_then(|of| {
                let (file, line) = (of.file?, of.line);
                Some(SourceLine { file, line })
            });
            rows.push(row);
        }
        rows
    }

    /// The instruction at a place.
    #[must_use]
    pub fn row(&self, place: Place) -> Option<&Row> {
        self.routines
            .get(place.routine)?
            .rows
            .get(place.instruction)
    }

    /// The place of a routine of the object in [`Self::routines`].
    #[must_use]
    pub fn routine_of(&self, id: RoutineId) -> usize {
        let found = self.routines.iter().position(|r| r.id == id);
        found.unwrap_or(0)
    }

    /// Where a source line's code begins: each instruction of the line that follows one of another line. If the line
    /// has none, those of the next line that has.
    #[must_use]
    pub fn starts_of_line(&self, file: usize, line: u32) -> (u32, Vec<Place>) {
        let mut starts: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
        for (routine, listing) in self.routines.iter().enumerate() {
            let mut before = None;
            for (instruction, row) in listing.rows.iter().enumerate() {
                if row.marker {
                    continue;
                }
                let Some(source) = row.source else { continue };
                if before != Some(source) && source.file == file && source.line >= line {
                    let place = Place {
                        routine,
                        instruction,
                    };
                    starts.entry(source.line).or_default().push(place);
                }
                before = Some(source);
            }
        }
        starts.pop_first().unwrap_or_default()
    }

    /// The first instruction of a routine that does something.
    #[must_use]
    pub fn start_of(&self, routine: usize) -> Option<Place> {
        self.after_markers(Place {
            routine,
            instruction: 0,
        })
    }

    /// The first instruction from a place on that does something.
    #[must_use]
    pub fn after_markers(&self, place: Place) -> Option<Place> {
        let rows = &self.routines.get(place.routine)?.rows;
        let mut rows = rows.iter().enumerate().skip(place.instruction);
        let found = rows.find(|(_, row)| !row.marker);
        found.map(|(instruction, _)| Place {
            instruction,
            ..place
        })
    }

    /// A file by its path or the end of it.
    #[must_use]
    pub fn find_file(&self, name: &str) -> Option<usize> {
        let slashed = format!("/{name}");
        let exact = self.files.iter().position(|f| f == name);
        exact.or_else(|| self.files.iter().position(|f| f.ends_with(&slashed)))
    }
}

fn aliases(body: &Body<'_>, first: u32) -> BTreeMap<u32, (u32, u32)> {
    let variables = (first..).zip(&body.variables);
    let shared = variables.filter(|(_, v)| v.alias_scope == 0 && v.alias.0 != 0);
    shared
        .map(|(number, v)| (number, (v.alias.0, v.alias_offset.into())))
        .collect()
}
