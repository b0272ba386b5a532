//! The output of commands.

use super::{Console, Reply, number, said};
use crate::error::DebugError;
use crate::expression::Expression;
use crate::listing::Place;
use crate::point::PointKind;
use crate::session::Stop;
use crate::view::{MemorySpace, SourceView, VariableView, state_name};
use std::fmt::Write as _;
use visakit_isa::DataType;
use visakit_launch::value;

/// Elements of a line.
const LINE: usize = 8;

/// Elements of a buffer that are printed.
const SOME: usize = 64;

impl Console {
    /// A description of a place: routine, instruction, source line.
    pub fn place_text(&self, place: Place) -> String {
        let listing = self.session.listing();
        let routine = listing.routines.get(place.routine);
        let name = routine.map_or("?", |r| r.name.as_str());
        let mut text = format!("{name}:{}", place.instruction);
        if let Some(source) = self.session.source(place) {
            let file = listing.files.get(source.file).map_or("?", String::as_str);
            let _ = write!(text, " ({file}:{})", source.line);
        }
        text
    }

    /// Why the run has stopped, in a line.
    #[must_use]
    pub fn stop_text(&self) -> String {
        let text = |bytes: &[u8], ty: DataType| {
            let mut shown: Vec<_> = value::show(bytes, ty).collect();
            if shown.len() > 16 {
                shown.truncate(16);
                shown.push("…".to_owned());
            }
            shown.join(" ")
        };
        let named = |id: u32| {
            let found = self.session.points().iter().find(|p| p.id == id);
            found.map_or("", |p| p.text.as_str())
        };
        match self.session.stop() {
            Stop::Start => "before the first instruction".to_owned(),
            Stop::Step => "stopped".to_owned(),
            Stop::Breakpoint(id) => {
                let found = self.session.points().iter().find(|p| p.id == *id);
                let found = found.and_then(|point| match &point.what {
                    PointKind::Findings(moments) => Some(moments),
                    _ => None,
                });
                let now = self.session.time();
                let here = found.and_then(|all| all.iter().find(|(at, _)| *at == now));
                let text = here.map_or_else(|| named(*id), |(_, text)| text.as_str());
                format!("breakpoint {id} ({text})")
            }
            Stop::Changed { point, old, new } => {
                let points = self.session.points().iter();
                let ty = points
                    .filter(|p| p.id == *point)
                    .find_map(|p| match &p.what {
                        PointKind::Register { slot, .. } => Some(slot.data_type),
                        _ => None,
                    });
                let ty = ty.unwrap_or(DataType::Ud);
                format!(
                    "watchpoint {point} ({}): was {}, is {}",
                    named(*point),
                    text(old, ty),
                    text(new, ty)
                )
            }
            Stop::Accessed { point, access } => format!(
                "watchpoint {point} ({}): {} of {} bytes at {:#x}{} by {}",
                named(*point),
                if access.write { "write" } else { "read" },
                access.bytes,
                access.address,
                access
                    .lane
                    .map_or_else(String::new, |l| format!(", lane {l},")),
                self.place_text(access.place)
            ),
            Stop::Condition { point, message } => {
                format!("breakpoint {point} ({}): {message}", named(*point))
            }
            Stop::Fault(fault) => format!("the next instruction is a fault: {fault}"),
            Stop::ThreadEnded => "the thread has ended".to_owned(),
            Stop::Ended => "all groups have ended".to_owned(),
            Stop::Beginning => "this is the beginning".to_owned(),
            Stop::Interrupted => "interrupted".to_owned(),
        }
    }

    pub(super) fn stopped(&mut self) -> Result<Reply, DebugError> {
        let mut text = self.stop_text();
        text.push('\n');
        if !self.session.is_ended() {
            text.push_str(&self.here()?.text);
        }
        Ok(Reply {
            text,
            moved: true,
            quit: false,
        })
    }

    /// The current place: group, thread, source line, instruction.
    pub(super) fn here(&mut self) -> Result<Reply, DebugError> {
        let session = &self.session;
        let (thread, lane) = session.focus();
        let time = session.time();
        let mut text = format!("group {}", time.group);
        if let Some([x, y, z]) = session.target().group_at(time.group) {
            let _ = write!(text, " ({x},{y},{z})");
        }
        let _ = write!(text, ", step {}, thread {thread}, lane {lane}", time.step);
        if let Some(item) = session.target().work_item(time.group, thread, lane) {
            let [x, y, z] = item.global;
            let _ = write!(text, ", work-item ({x},{y},{z})");
        }
        let state = session.thread().map(visakit_exec::Thread::state);
        match state {
            Some(visakit_exec::ThreadState::Ready) | None => {}
            Some(state) => {
                let _ = write!(text, ", {}", state_name(state));
            }
        }
        text.push('\n');
        let Some(place) = session.place() else {
            return Ok(said(text));
        };
        if let Some(source) = session.source(place) {
            let file = session.listing().files.get(source.file).cloned();
            let file = file.unwrap_or_default();
            let line = self.sources.line(&file, source.line).unwrap_or_default();
            let _ = writeln!(text, "{file}:{}  {}", source.line, line.trim_end());
        }
        text.push_str(&self.instruction_text(place, true));
        Ok(said(text))
    }

    fn instruction_text(&self, place: Place, current: bool) -> String {
        let listing = self.session.listing();
        let row = listing.row(place);
        let name = listing.routines.get(place.routine);
        let name = name.map_or("?", |r| r.name.as_str());
        format!(
            "{} {name}:{:<4} {}\n",
            if current { "=>" } else { "  " },
            place.instruction,
            row.map_or("", |row| row.text.as_str())
        )
    }

    pub(super) fn backtrace(&self) -> Result<Reply, DebugError> {
        let (thread, _) = self.session.focus();
        let frames = self.session.backtrace(thread);
        if frames.is_empty() {
            return Ok(said("the thread has ended\n"));
        }
        let mut text = String::new();
        for (number, place) in frames.iter().enumerate() {
            let mark = if number == self.session.frame() {
                '*'
            } else {
                ' '
            };
            let _ = writeln!(text, "{mark}#{number} {}", self.place_text(*place));
        }
        Ok(said(text))
    }

    pub(super) fn print(&self, text: &str) -> Result<Reply, DebugError> {
        if text.is_empty() {
            return Err(DebugError::Usage("print what?".to_owned()));
        }
        if let Some(variable) = self.session.variable(text) {
            return Ok(said(self.variable_text(&variable)));
        }
        let buffers = self.session.target().buffers();
        if let Some(buffer) = buffers.iter().find(|b| b.name == text) {
            let ty = buffer.data_type.unwrap_or(DataType::Ud);
            let count = SOME * usize::from(ty.size());
            let bytes = self
                .session
                .read(MemorySpace::Buffer(buffer.buffer), 0, count);
            let mut text = format!("{text}: {} bytes as {ty}\n", buffer.bytes);
            rows(
                &mut text,
                &value::show(&bytes, ty).collect::<Vec<_>>(),
                0,
                &[],
            );
            if buffer.bytes > count {
                text.push_str("  …\n");
            }
            return Ok(said(text));
        }
        let expression = Expression::parse(text)?;
        if let Some(view) = self.session.source_view(text) {
            return match &view.text {
                Ok(_) => Ok(said(source_text(&view))),
                Err(error) => Err(DebugError::NoMemory(error.clone())),
            };
        }
        let value = self.session.evaluate(&expression)?;
        let hex = match value {
            crate::Number::Int(n) if n > 9 => format!(" ({n:#x})"),
            _ => String::new(),
        };
        Ok(said(format!("{value}{hex}\n")))
    }

    fn variable_text(&self, variable: &VariableView) -> String {
        let mut text = variable_head(variable);
        text.push('\n');
        let elements = variable.elements();
        rows(&mut text, &elements, 0, &variable.changed);
        text
    }

    pub(super) fn examine(&self, text: &str) -> Result<Reply, DebugError> {
        let (count, what) = match text.strip_prefix('/') {
            Some(rest) => {
                let (count, what) = rest.split_once(' ').unwrap_or((rest, ""));
                (number::<usize>(count, "elements")?, what)
            }
            None => (SOME, text),
        };
        let (space, at, ty) = self.session.locate(&Expression::parse(what)?)?;
        let size = usize::from(ty.size()).max(1);
        let count = count.min(1 << 16);
        let bytes = self.session.read(space, at, count.saturating_mul(size));
        let elements: Vec<_> = value::show(&bytes, ty).collect();
        let first = usize::try_from(at).unwrap_or(0) / size;
        let mut text = String::new();
        rows(&mut text, &elements, first, &[]);
        Ok(said(text))
    }

    pub(super) fn set_list(&self, place: Place) -> String {
        let rows = self.session.listing().routines.get(place.routine);
        let count = rows.map_or(0, |r| r.rows.len());
        let here = self.session.place();
        let from = place.instruction.saturating_sub(5);
        (from..count.min(from + 11))
            .map(|instruction| {
                let place = Place {
                    instruction,
                    ..place
                };
                self.instruction_text(place, here == Some(place))
            })
            .collect()
    }

    pub(super) fn list(&self, text: &str) -> Result<Reply, DebugError> {
        let place = if text.is_empty() {
            self.session.place()
        } else {
            self.session.places(text)?.first().copied()
        };
        let none = || DebugError::Missing("place: the thread has ended".to_owned());
        Ok(said(self.set_list(place.ok_or_else(none)?)))
    }

    pub(super) fn source(&mut self, text: &str) -> Result<Reply, DebugError> {
        let around: u32 = if text.is_empty() {
            5
        } else {
            number(text, "lines")?
        };
        let place = self.session.place();
        let source = place.and_then(|place| self.session.source(place));
        let source = source.ok_or_else(|| DebugError::Missing("source line here".to_owned()))?;
        let file = self.session.listing().files.get(source.file).cloned();
        let file = file.unwrap_or_default();
        let mut text = String::new();
        let last = source.line.saturating_add(around);
        for number in source.line.saturating_sub(around).max(1)..=last {
            if let Some(line) = self.sources.line(&file, number) {
                let mark = if number == source.line { "=>" } else { "  " };
                let _ = writeln!(text, "{mark} {number:<4} {line}");
            }
        }
        if text.is_empty() {
            text = format!(
                "{file}:{} (the file is not at hand; --source DIR says where)\n",
                source.line
            );
        }
        Ok(said(text))
    }

    pub(super) fn info(&self, what: &str) -> Result<Reply, DebugError> {
        let session = &self.session;
        let lines = |lines: Vec<String>| lines.concat();
        Ok(said(match what {
            "breakpoints" | "b" => self.points_text(),
            "threads" => self.threads_text(),
            "lanes" => self.lanes_text(),
            "variables" | "v" => {
                let heads = session.variables();
                lines(heads.iter().map(|v| variable_head(v) + "\n").collect())
            }
            "locals" | "l" => match session.locals().as_slice() {
                [] => "no source variables are known here; sources are compiled with --options=-g for them\n"
                    .to_owned(),
                views => lines(views.iter().map(source_line).collect()),
            },
            "operands" | "o" => self.variables_text(&session.operands()),
            "predefined" => self.variables_text(&session.predefined()),
            "buffers" => self.buffers_text(),
            "files" => {
                let files = &session.listing().files;
                lines(files.iter().map(|file| format!("{file}\n")).collect())
            }
            "printf" => String::from_utf8_lossy(&session.target().printed()).into_owned(),
            "routines" => {
                let routines = session.listing().routines.iter();
                let line = |count: usize, name: &str| format!("{name}, {count} instructions\n");
                lines(routines.map(|r| line(r.rows.len(), &r.name)).collect())
            }
            "run" | "" => self.run_text(),
            _ => {
                return Err(DebugError::Usage(format!(
                    "info `{what}` is not known; `help` lists what there is"
                )));
            }
        }))
    }

    fn points_text(&self) -> String {
        let mut text = String::new();
        for point in self.session.points() {
            let off = if point.enabled { "" } else { " (off)" };
            let _ = write!(
                text,
                "{} {}{off}, {} hits",
                point.id, point.text, point.hits
            );
            if let PointKind::Code(places) = &point.what {
                let places: Vec<_> = places.iter().map(|p| self.place_text(*p)).collect();
                let _ = write!(text, ": {}", places.join(", "));
            }
            text.push('\n');
        }
        text
    }

    fn threads_text(&self) -> String {
        let mut text = String::new();
        let (focus, _) = self.session.focus();
        for view in self.session.threads() {
            let mark = if view.thread == focus { '*' } else { ' ' };
            let next = if view.next { ", next" } else { "" };
            let place = view.place.map_or_else(String::new, |p| self.place_text(p));
            let _ = writeln!(
                text,
                "{mark}{:<3} {}{next}  lanes {:08x}  {place}",
                view.thread,
                state_name(view.state),
                view.running
            );
        }
        text
    }

    fn lanes_text(&self) -> String {
        let session = &self.session;
        let mut text = String::new();
        let (thread, focus) = session.focus();
        let position = session.position(thread).map(|(_, p)| p);
        for lane in 0..session.target().lanes() {
            let mark = if lane == focus { '*' } else { ' ' };
            let on = position.is_some_and(|p| p.running >> lane & 1 != 0);
            let waits = session.thread().and_then(|t| {
                let mut waiting = t.waiting().iter();
                waiting.find(|(_, lanes)| lanes >> lane & 1 != 0)
            });
            let state = match (on, waits) {
                (true, _) => "runs".to_owned(),
                (_, Some((step, _))) => session.place_of(*step).map_or_else(
                    || "waits".to_owned(),
                    |place| format!("waits at {}", self.place_text(place)),
                ),
                _ => "off".to_owned(),
            };
            let group = session.time().group;
            let item = session.target().work_item(group, thread, lane);
            let item = item.map_or_else(String::new, |i| {
                format!("local {:?} global {:?} ", i.local, i.global)
            });
            let _ = writeln!(text, "{mark}{lane:<3} {item}{state}");
        }
        text
    }

    fn variables_text(&self, variables: &[VariableView]) -> String {
        variables.iter().map(|v| self.variable_text(v)).collect()
    }

    fn buffers_text(&self) -> String {
        let session = &self.session;
        let mut text = String::new();
        for buffer in session.target().buffers() {
            let ty = buffer.data_type.map_or("", |ty| ty.name());
            let argument = buffer.argument.map(|n| format!(" (argument {n})"));
            let argument = argument.unwrap_or_default();
            let _ = writeln!(
                text,
                "{}{argument} {ty} {:#x}, {} bytes",
                buffer.name, buffer.address, buffer.bytes
            );
        }
        let scratch = session.thread().map_or(0, |t| t.scratch().len());
        let _ = writeln!(text, "slm, {} bytes", session.group().slm().len());
        let _ = writeln!(text, "scratch of the thread, {scratch} bytes");
        text
    }

    fn run_text(&self) -> String {
        let session = &self.session;
        let time = session.time();
        format!(
            "{}:{} of {} groups, {} threads, {} lanes each: {}\n",
            time.group,
            time.step,
            session.target().groups(),
            session.group().threads().len(),
            session.target().lanes(),
            self.stop_text()
        )
    }
}

/// A source variable, in a line.
fn source_line(view: &SourceView) -> String {
    let value = view.text.as_deref().unwrap_or("(no value here)");
    format!("{} {} = {value}\n", view.of, view.name)
}

/// A source variable, with the content for each lane where lanes differ.
fn source_text(view: &SourceView) -> String {
    let mut text = source_line(view);
    rows(&mut text, &view.lanes, 0, &[]);
    text
}

/// Name, type, size, and the variable that it is a part of.
fn variable_head(variable: &VariableView) -> String {
    let slot = &variable.slot;
    let mut text = variable.name.clone();
    if variable.is_predicate() {
        text.push_str(" (lanes)");
    } else {
        let _ = write!(text, " {} x {}", slot.data_type, slot.elements);
    }
    if let Some((of, offset)) = &variable.alias {
        let _ = write!(text, ", {of} + {offset}");
    }
    if !variable.changed.is_empty() {
        text.push_str(", changed");
    }
    text
}

/// Elements in rows, each with the number of its first one; `*` marks changed ones.
fn rows(text: &mut String, elements: &[String], first: usize, changed: &[usize]) {
    let wide = elements.iter().map(String::len).max().unwrap_or(0);
    let last = (first + elements.len()).saturating_sub(1).to_string().len();
    for (line, row) in elements.chunks(LINE).enumerate() {
        let _ = write!(text, "  {:>last$}:", first + line * LINE);
        for (number, element) in row.iter().enumerate() {
            let mark = changed.contains(&(line * LINE + number));
            let _ = write!(text, "{}{element:>wide$}", if mark { '*' } else { ' ' });
        }
        text.push('\n');
    }
}
