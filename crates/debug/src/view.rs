//! Views of the state for display.

use crate::error::DebugError;
use crate::expression::{Expression, Scope, variable};
use crate::history::Edit;
use crate::listing::Place;
use crate::point::{PointKind, WatchedSpace};
use crate::session::Session;
use visakit_exec::{BufferId, DeclaredVariable, Thread, ThreadState, VariableClass, VariableSlot};
use visakit_isa::DataType;
use visakit_launch::value;

/// A variable with its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableView {
    /// Its name, `%` first for predefined ones.
    pub name: String,
    /// Its place, and its type.
    pub slot: VariableSlot,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Elements (lanes, for predicates) that changed since the run went on the last time.
    pub changed: Vec<usize>,
    /// The variable whose storage it shares, and the bytes after its start.
    pub alias: Option<(String, u32)>,
}

impl VariableView {
    /// Whether it has a bit for each lane.
    #[must_use]
    pub fn is_predicate(&self) -> bool {
        self.slot.class == VariableClass::Predicate
    }

    /// Its elements as text; of a predicate, `0` or `1` for each lane.
    #[must_use]
    pub fn elements(&self) -> Vec<String> {
        if self.is_predicate() {
            let lanes = usize::try_from(self.slot.elements).unwrap_or(1).max(1);
            let bits = self
                .bytes
                .iter()
                .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
            return bits.take(lanes.max(32)).map(|b| b.to_string()).collect();
        }
        value::show(&self.bytes, self.slot.data_type).collect()
    }
}

/// A variable of the source, for the selected thread and lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceView {
    /// Its name, or the expression that was asked for.
    pub name: String,
    /// Its type in the source.
    pub of: String,
    /// Its content, or why it has none.
    pub text: Result<String, String>,
    /// The content for each lane of the thread, of a number that each has its own of.
    pub lanes: Vec<String>,
}

/// A thread, in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadView {
    /// Its number in the group.
    pub thread: usize,
    /// Whether it can run.
    pub state: ThreadState,
    /// Its place.
    pub place: Option<Place>,
    /// Lanes that run.
    pub running: u32,
    /// Whether it is the one that runs next.
    pub next: bool,
}

/// A part of memory that can be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemorySpace {
    /// A buffer.
    Buffer(BufferId),
    /// Shared local memory of the group.
    Local,
    /// Scratch memory of a thread.
    Scratch(usize),
    /// The register file of a thread.
    Registers(usize),
}

/// A description of the state.
#[must_use]
pub fn state_name(state: ThreadState) -> String {
    match state {
        ThreadState::Ready => "ready".to_owned(),
        ThreadState::Barrier => "at the barrier".to_owned(),
        ThreadState::SplitBarrier => "at the split barrier".to_owned(),
        ThreadState::NamedBarrier(n) => format!("at the named barrier {n}"),
        ThreadState::Fused => "waits for its fused thread".to_owned(),
        ThreadState::Ended => "ended".to_owned(),
    }
}

impl Session {
    fn view(
        &self,
        name: String,
        slot: &VariableSlot,
        alias: Option<(String, u32)>,
    ) -> VariableView {
        let bytes = self.thread().map_or(&[][..], |t| t.read(slot));
        let before = self
            .earlier_registers()
            .and_then(|r| r.get(slot.offset..slot.offset + slot.bytes));
        let mut changed = Vec::new();
        if let Some(before) = before
            && before != bytes
        {
            let size = usize::from(slot.data_type.size()).max(1);
            if slot.class == VariableClass::Predicate {
                let bits = before.iter().zip(bytes).enumerate();
                for (byte, (old, new)) in bits {
                    changed.extend(
                        (0..8)
                            .filter(|b| (old ^ new) >> b & 1 != 0)
                            .map(|b| byte * 8 + b),
                    );
                }
            } else {
                let elements = before.chunks(size).zip(bytes.chunks(size)).enumerate();
                changed.extend(elements.filter(|(_, (a, b))| a != b).map(|(n, _)| n));
            }
        }
        VariableView {
            name,
            slot: slot.clone(),
            bytes: bytes.to_vec(),
            changed,
            alias,
        }
    }

    fn declared_view(&self, routine: usize, variable: &DeclaredVariable) -> VariableView {
        let aliases = self.listing().routines.get(routine).map(|r| &r.aliases);
        let alias = match variable.slot.class {
            VariableClass::General => aliases.and_then(|a| a.get(&variable.number)),
            _ => None,
        };
        let declared = self.target().program().declared(routine);
        let general = |v: &&DeclaredVariable| v.slot.class == VariableClass::General;
        let alias = alias.map(|(number, offset)| {
            let mut all = declared.iter().filter(general);
            let of = all.find(|v| v.number == *number);
            let name = of.map_or_else(|| format!("V{number}"), |of| self.name_of(of));
            (name, *offset)
        });
        self.view(self.name_of(variable), &variable.slot, alias)
    }

    /// The name of a variable. The first general ones are the predefined ones.
    fn name_of(&self, variable: &DeclaredVariable) -> String {
        let number = usize::try_from(variable.number).unwrap_or(usize::MAX);
        let mut predefined = self.target().program().predefined_variables();
        match predefined.nth(number) {
            Some((name, _)) if variable.slot.class == VariableClass::General => format!("%{name}"),
            _ => variable.display_name(),
        }
    }

    /// The variables that the selected routine declares.
    #[must_use]
    pub fn variables(&self) -> Vec<VariableView> {
        let routine = self.place().map_or(0, |place| place.routine);
        let program = self.target().program();
        let first = program.predefined_variables().count();
        let own = program.declared(routine).iter().filter(|v| {
            v.slot.class != VariableClass::General
                || usize::try_from(v.number).is_ok_and(|n| n >= first)
        });
        own.map(|v| self.declared_view(routine, v)).collect()
    }

    /// The variables that the next instruction names, those it writes first.
    #[must_use]
    pub fn operands(&self) -> Vec<VariableView> {
        let Some(place) = self.place() else {
            return Vec::new();
        };
        let place = self.listing().after_markers(place).unwrap_or(place);
        let Some(row) = self.listing().row(place) else {
            return Vec::new();
        };
        let declared = self.target().program().declared(place.routine);
        let names = row.variables.iter().filter_map(|(letter, number)| {
            declared
                .iter()
                .find(|v| v.slot.class.letter() == *letter && v.number == *number)
        });
        names
            .map(|v| self.declared_view(place.routine, v))
            .collect()
    }

    /// The predefined variables.
    #[must_use]
    pub fn predefined(&self) -> Vec<VariableView> {
        let all = self.target().program().predefined_variables();
        all.map(|(name, slot)| self.view(format!("%{name}"), slot, None))
            .collect()
    }

    /// A variable by name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<VariableView> {
        let routine = self.place().map_or(0, |place| place.routine);
        let slot = variable(self.target(), routine, name)?;
        let declared = self.target().program().declared(routine);
        let found = declared.iter().find(|v| v.slot == slot);
        Some(match found {
            Some(v) if !name.starts_with('%') => self.declared_view(routine, v),
            _ => self.view(name.to_owned(), &slot, None),
        })
    }

    /// The source variables in scope, outer ones first.
    #[must_use]
    pub fn locals(&self) -> Vec<SourceView> {
        let scope = self.scope();
        let names = self
            .symbols
            .as_ref()
            .map(|symbols| symbols.names(&scope.site()));
        let mut names = names.unwrap_or_default();
        for argument in self.target().local_arguments() {
            if !names.contains(&argument.name) {
                names.push(argument.name);
            }
        }
        names
            .iter()
            .filter_map(|name| self.source_view(name))
            .collect()
    }

    /// The source variable, or a part of one, that a text names; `None` if it names something else.
    #[must_use]
    pub fn source_view(&self, text: &str) -> Option<SourceView> {
        let expression = Expression::parse(text).ok()?;
        let scope = self.scope();
        let source = expression.source(&scope).ok()??;
        let lanes = self.target().lanes();
        let other = Scope {
            lane: (scope.lane + 1) % lanes,
            ..scope
        };
        let differs = lanes > 1
            && source.of.number().is_some()
            && expression
                .source(&other)
                .ok()
                .flatten()
                .is_some_and(|o| o.parts != source.parts);
        let of_lane = |lane: u32| {
            let scope = Scope { lane, ..scope };
            let found = expression.source(&scope).ok().flatten();
            let text = found.and_then(|source| scope.source_text(&source).ok());
            text.unwrap_or_else(|| "?".to_owned())
        };
        Some(SourceView {
            name: text.to_owned(),
            of: source.of.name(),
            text: scope
                .source_text(&source)
                .map_err(|error| error.to_string()),
            lanes: if differs {
                (0..lanes).map(of_lane).collect()
            } else {
                Vec::new()
            },
        })
    }

    /// The threads of the group.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadView> {
        let next = self.group().next_thread();
        let threads = self.group().threads().iter().enumerate();
        threads
            .map(|(thread, found)| {
                let position = self.position(thread);
                ThreadView {
                    thread,
                    state: found.state(),
                    place: position.map(|(place, _)| place),
                    running: position.map_or(0, |(_, p)| p.running),
                    next: next == Some(thread),
                }
            })
            .collect()
    }

    /// Bytes of memory, fewer than asked for at its end.
    #[must_use]
    pub fn read(&self, space: MemorySpace, at: u64, bytes: usize) -> Vec<u8> {
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        let part = |from: &[u8]| {
            let end = start.saturating_add(bytes).min(from.len());
            from.get(start..end).unwrap_or(&[]).to_vec()
        };
        match space {
            MemorySpace::Buffer(buffer) => {
                let memory = self.target().memory();
                let room = memory.len(buffer).saturating_sub(start);
                let mut out = vec![0; bytes.min(room)];
                memory.read_into(buffer, start, &mut out);
                out
            }
            MemorySpace::Local => part(self.group().slm()),
            MemorySpace::Scratch(thread) => {
                part(self.group().thread(thread).map_or(&[], Thread::scratch))
            }
            MemorySpace::Registers(thread) => {
                part(self.group().thread(thread).map_or(&[], Thread::registers))
            }
        }
    }

    /// Changes memory. The known future is discarded.
    ///
    /// # Errors
    /// Places that there are not, and a run that has ended.
    pub fn write(&mut self, space: MemorySpace, at: u64, bytes: &[u8]) -> Result<(), DebugError> {
        let small = usize::try_from(at).unwrap_or(usize::MAX);
        let edit = match space {
            MemorySpace::Buffer(buffer) => {
                let room = self.target().memory().len(buffer) as u64;
                if at.saturating_add(bytes.len() as u64) > room {
                    return Err(DebugError::Missing("such place".to_owned()));
                }
                Edit::Global(buffer, at, bytes.to_vec())
            }
            MemorySpace::Local => Edit::Slm(small, bytes.to_vec()),
            MemorySpace::Scratch(thread) => Edit::Scratch(thread, small, bytes.to_vec()),
            MemorySpace::Registers(thread) => Edit::Register(thread, small, bytes.to_vec()),
        };
        self.edit(edit)
    }

    /// The space, the place and the type of what an expression names in memory or registers.
    ///
    /// # Errors
    /// As [`Session::evaluate`].
    pub fn locate(
        &self,
        expression: &Expression,
    ) -> Result<(MemorySpace, u64, DataType), DebugError> {
        let (thread, _) = self.focus();
        let (spot, ty) = expression.spot(&self.scope())?;
        let (space, at) = match spot {
            crate::expression::Spot::Register(at) | crate::expression::Spot::Bit(at, _) => {
                (MemorySpace::Registers(thread), at as u64)
            }
            crate::expression::Spot::Slm(at) => (MemorySpace::Local, at as u64),
            crate::expression::Spot::Scratch(at) => (MemorySpace::Scratch(thread), at as u64),
            crate::expression::Spot::Global(buffer, at) => (MemorySpace::Buffer(buffer), at),
            crate::expression::Spot::Value(_) => {
                return Err(DebugError::NotAssignable(expression.text().to_owned()));
            }
        };
        Ok((space, at, ty))
    }

    /// The watchpoint for accesses to what an expression names. A variable is watched as a whole, in the selected
    /// thread, and only for changes.
    ///
    /// # Errors
    /// As [`Session::evaluate`]; reads of registers cannot be watched.
    pub fn watch(
        &self,
        expression: &Expression,
        read: bool,
        write: bool,
    ) -> Result<PointKind, DebugError> {
        let (thread, _) = self.focus();
        let routine = self.place().map_or(0, |place| place.routine);
        if let Some(slot) = variable(self.target(), routine, expression.text()) {
            return registers(read, routine, slot, thread);
        }
        let buffers = self.target().buffers();
        if let Some(whole) = buffers.iter().find(|b| b.name == expression.text()) {
            return Ok(PointKind::Memory {
                space: WatchedSpace::Buffer(whole.buffer),
                at: 0,
                bytes: whole.bytes as u64,
                read,
                write,
            });
        }
        let (space, at, ty) = self.locate(expression)?;
        let space = match space {
            MemorySpace::Buffer(buffer) => WatchedSpace::Buffer(buffer),
            MemorySpace::Local => WatchedSpace::Local,
            MemorySpace::Scratch(thread) => WatchedSpace::Scratch(Some(thread)),
            MemorySpace::Registers(_) => {
                let slot = VariableSlot {
                    class: VariableClass::General,
                    offset: usize::try_from(at).unwrap_or(0),
                    bytes: ty.size().into(),
                    data_type: ty,
                    elements: 1,
                };
                return registers(read, routine, slot, thread);
            }
        };
        Ok(PointKind::Memory {
            space,
            at,
            bytes: ty.size().into(),
            read,
            write,
        })
    }

    /// The places that a text names: `N` or `*N` (an instruction of the selected routine), `ROUTINE`,
    /// `ROUTINE:N`, a label, `FILE:LINE`, `:LINE`.
    ///
    /// # Errors
    /// [`DebugError::NoPlace`] and [`DebugError::NoCode`].
    pub fn places(&self, text: &str) -> Result<Vec<Place>, DebugError> {
        let text = text.trim();
        let here = self.place().map_or(0, |place| place.routine);
        let listing = self.listing();
        let none = || DebugError::NoPlace {
            text: text.to_owned(),
        };
        let instruction = |routine: usize, number: &str| {
            let instruction: usize = number.parse().map_err(|_| none())?;
            let place = Place {
                routine,
                instruction,
            };
            listing.row(place).ok_or_else(none)?;
            // Breakpoints are never at a label.
            Ok(vec![listing.after_markers(place).unwrap_or(place)])
        };
        let named = |name: &str| listing.routines.iter().position(|r| r.name == name);
        if let Some(number) = text.strip_prefix('*') {
            return instruction(here, number);
        }
        if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
            return instruction(here, text);
        }
        if let Some((name, number)) = text.rsplit_once(':') {
            if let Some(routine) = named(name) {
                return instruction(routine, number);
            }
            let current = || {
                let place = self.place()?;
                let rows = &listing.routines.get(place.routine)?.rows;
                let own = self.source(place).map(|s| s.file);
                own.or_else(|| rows.iter().find_map(|row| Some(row.source?.file)))
            };
            let file = if name.is_empty() {
                current()
            } else {
                listing.find_file(name)
            };
            let file = file.ok_or_else(none)?;
            let line: u32 = number.parse().map_err(|_| none())?;
            let (_, places) = listing.starts_of_line(file, line);
            if places.is_empty() {
                return Err(DebugError::NoCode {
                    file: listing.files.get(file).cloned().unwrap_or_default(),
                    line,
                });
            }
            return Ok(places);
        }
        if let Some(routine) = named(text) {
            return Ok(listing.start_of(routine).into_iter().collect());
        }
        let routines = listing.routines.iter().enumerate();
        let mut labels: Vec<_> = routines
            .flat_map(|(routine, r)| {
                let rows = r.rows.iter().enumerate();
                let rows = rows.filter(|(_, row)| row.label.as_deref() == Some(text));
                rows.map(move |(instruction, _)| Place {
                    routine,
                    instruction,
                })
            })
            .collect();
        // The own routine's first.
        labels.sort_by_key(|place| place.routine != here);
        let label = labels.first().ok_or_else(none)?;
        listing
            .after_markers(*label)
            .map(|p| vec![p])
            .ok_or_else(none)
    }
}

fn registers(
    read: bool,
    routine: usize,
    slot: VariableSlot,
    thread: usize,
) -> Result<PointKind, DebugError> {
    if read {
        return Err(DebugError::Usage(
            "reads of variables cannot be watched, only changes".to_owned(),
        ));
    }
    Ok(PointKind::Register {
        routine,
        slot,
        thread: Some(thread),
    })
}
