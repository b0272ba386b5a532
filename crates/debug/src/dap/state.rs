//! The state as the protocol has it: threads, frames, scopes, variables, memory, sources.

use super::protocol::Place as Wanted;
use crate::{Console, Expression, MemorySpace, Place, SourceView, VariableView, state_name};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// Each thread has its own range of frame numbers.
const FRAMES: i64 = 1 << 12;

/// Elements of a buffer that are shown as variables; `readMemory` reads them all.
const ELEMENTS: usize = 1024;

/// Most bytes that a request gets.
const MOST: usize = 1 << 20;

/// Most instructions that a request gets.
const MOST_ROWS: usize = 1 << 12;

/// The target of a reference to variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Handle {
    /// A scope of a frame.
    Scope(i64, Scope),
    /// Elements of a variable, a buffer or a memory, by its name, in a frame.
    Elements(i64, String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    Locals,
    Operands,
    Variables,
    Predicates,
    Predefined,
    WorkItems,
    Memory,
}

const SCOPES: [(Scope, &str); 7] = [
    (Scope::Locals, "Locals"),
    (Scope::Operands, "Operands"),
    (Scope::Variables, "Variables"),
    (Scope::Predicates, "Predicates and addresses"),
    (Scope::Predefined, "Predefined"),
    (Scope::WorkItems, "Work-items"),
    (Scope::Memory, "Memory"),
];

fn number(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn add(handles: &mut Vec<Handle>, handle: Handle) -> i64 {
    handles.push(handle);
    number(handles.len())
}

fn handle(handles: &[Handle], reference: i64) -> Result<Handle, String> {
    let index = usize::try_from(reference - 1).ok();
    let found = index.and_then(|index| handles.get(index)).cloned();
    found.ok_or_else(|| format!("there are no variables {reference}"))
}

/// Selects the thread and call of a frame.
pub(crate) fn look_at(console: &mut Console, frame: i64) -> Result<(), String> {
    let (_, lane) = console.session.focus();
    let thread = usize::try_from(frame / FRAMES).unwrap_or(usize::MAX);
    let call = usize::try_from(frame % FRAMES).unwrap_or(0);
    let looked = console.session.look_at(thread, lane);
    looked.map_err(|e| e.to_string())?;
    if call > 0 {
        let looked = console.session.look_at_frame(call);
        looked.map_err(|e| e.to_string())?;
    }
    Ok(())
}

pub(crate) fn threads(console: &Console) -> Value {
    let session = &console.session;
    let group = session.time().group;
    let at = session.target().group_at(group);
    let at = at.map_or_else(String::new, |[x, y, z]| format!(" ({x},{y},{z})"));
    let threads = session.threads().into_iter().map(|view| {
        json!({
            "id": view.thread + 1,
            "name": format!("group {group}{at} thread {}: {}", view.thread, state_name(view.state)),
        })
    });
    json!({ "threads": threads.collect::<Vec<_>>() })
}

pub(crate) fn stack(console: &mut Console, wanted: &Wanted) -> Result<Value, String> {
    let thread = usize::try_from(wanted.thread_id - 1)
        .map_err(|_| format!("there is no thread {}", wanted.thread_id))?;
    let frames = console.session.backtrace(thread);
    let total = frames.len();
    let levels = if wanted.levels == 0 {
        usize::MAX
    } else {
        wanted.levels
    };
    let mut shown = Vec::new();
    let wanted_frames = frames.into_iter().enumerate();
    for (call, place) in wanted_frames.skip(wanted.start_frame).take(levels) {
        let routine = console.session.listing().routines.get(place.routine);
        let name = routine.map_or_else(String::new, |r| r.name.clone());
        let (source, line) = source_of(console, place);
        shown.push(json!({
            "id": number(thread) * FRAMES + number(call),
            "name": format!("{name}:{}", place.instruction),
            "source": source,
            "line": line,
            "column": 1,
            "instructionPointerReference": address(place),
        }));
    }
    Ok(json!({ "stackFrames": shown, "totalFrames": total }))
}

/// The source file of a place if it is available, otherwise the listing of the routine.
fn source_of(console: &mut Console, place: Place) -> (Value, u32) {
    if let Some(source) = console.session.source(place) {
        let file = console.session.listing().files.get(source.file).cloned();
        if let Some(file) = file
            && let Some(path) = console.sources.path(&file)
        {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            return (
                json!({ "name": name, "path": path.to_string_lossy() }),
                source.line,
            );
        }
    }
    let line = u32::try_from(place.instruction).unwrap_or(u32::MAX);
    (
        listing_source(console, place.routine),
        line.saturating_add(1),
    )
}

fn listing_source(console: &Console, routine: usize) -> Value {
    let routines = &console.session.listing().routines;
    let name = routines.get(routine).map_or("?", |r| r.name.as_str());
    json!({ "name": format!("{name}.visaasm"), "sourceReference": routine + 1 })
}

pub(crate) fn loaded_sources(console: &Console) -> Value {
    let count = console.session.listing().routines.len();
    let all: Vec<_> = (0..count).map(|r| listing_source(console, r)).collect();
    json!({ "sources": all })
}

pub(crate) fn source(console: &Console, wanted: &Wanted) -> Result<Value, String> {
    let routine = usize::try_from(wanted.source_reference - 1).ok();
    let routines = &console.session.listing().routines;
    let routine = routine.and_then(|r| routines.get(r));
    let routine =
        routine.ok_or_else(|| format!("there is no source {}", wanted.source_reference))?;
    let lines: Vec<_> = routine.rows.iter().map(|row| row.text.as_str()).collect();
    Ok(json!({ "content": lines.join("\n"), "mimeType": "text/x-visaasm" }))
}

/// The instruction of a line of a listing.
pub(crate) fn listed(console: &Console, reference: i64, line: u32) -> Option<Place> {
    let place = Place {
        routine: usize::try_from(reference - 1).ok()?,
        instruction: usize::try_from(line).ok()?.checked_sub(1)?,
    };
    console.session.listing().after_markers(place)
}

/// The program's name of a file that an editor has.
pub(crate) fn file_of(console: &mut Console, path: &str) -> Option<String> {
    let files = console.session.listing().files.clone();
    let wanted = std::path::Path::new(path);
    let same = |console: &mut Console, file: &String| {
        let found = console.sources.path(file)?;
        let found = found.canonicalize().ok()?;
        (Some(found) == wanted.canonicalize().ok()).then_some(())
    };
    let by_path = files.iter().find(|f| same(console, f).is_some());
    let name = wanted.file_name()?.to_string_lossy();
    let by_name = || {
        files.iter().find(|f| {
            let known = std::path::Path::new(f.as_str()).file_name();
            known.is_some_and(|k| k.to_string_lossy() == name)
        })
    };
    by_path.or_else(by_name).cloned()
}

/// Editors take addresses of instructions for numbers.
fn address(place: Place) -> String {
    format!("{:#x}", (place.routine + 1) << 32 | place.instruction)
}

/// The place that such an address, and instructions after it, is.
pub(crate) fn place(console: &Console, reference: &str, offset: i64) -> Option<Place> {
    let address = u64::from_str_radix(reference.strip_prefix("0x")?, 16).ok()?;
    let address = address.checked_add_signed(offset)?;
    let place = Place {
        routine: usize::try_from(address >> 32).ok()?.checked_sub(1)?,
        instruction: usize::try_from(address & 0xffff_ffff).ok()?,
    };
    console.session.listing().row(place).map(|_| place)
}

pub(crate) fn disassemble(console: &mut Console, wanted: &Wanted) -> Result<Value, String> {
    let start = place(console, &wanted.memory_reference, 0);
    let start = start.ok_or_else(|| format!("no code at {}", wanted.memory_reference))?;
    let first = number(start.instruction)
        .saturating_add(wanted.offset)
        .saturating_add(wanted.instruction_offset);
    let count = i64::try_from(wanted.instruction_count.min(MOST_ROWS)).unwrap_or(0);
    let mut rows = Vec::new();
    for instruction in first..first.saturating_add(count) {
        let place = usize::try_from(instruction).ok().map(|instruction| Place {
            instruction,
            ..start
        });
        let row = place.and_then(|place| Some((place, console.session.listing().row(place)?)));
        rows.push(match row {
            Some((place, row)) => {
                let text = row.text.clone();
                let label = row.label.clone();
                let (location, line) = source_of(console, place);
                json!({
                    "address": address(place),
                    "instruction": text,
                    "symbol": label,
                    "location": location,
                    "line": line,
                })
            }
            // As many as were asked for must come.
            None => json!({
                "address": format!("{:#x}", (i64::try_from(start.routine + 1).unwrap_or(0) << 32).wrapping_add(instruction)),
                "instruction": "",
                "presentationHint": "invalid",
            }),
        });
    }
    Ok(json!({ "instructions": rows }))
}

pub(crate) fn scopes(
    console: &mut Console,
    handles: &mut Vec<Handle>,
    frame: i64,
) -> Result<Value, String> {
    look_at(console, frame)?;
    let scopes: Vec<_> = SCOPES
        .iter()
        .map(|(scope, name)| {
            json!({
                "name": name,
                "variablesReference": add(handles, Handle::Scope(frame, *scope)),
                "expensive": !matches!(scope, Scope::Locals | Scope::Operands),
            })
        })
        .collect();
    Ok(json!({ "scopes": scopes }))
}

/// Type and storage of a variable.
pub(crate) fn type_text(variable: &VariableView) -> String {
    let mut text = if variable.is_predicate() {
        "predicate".to_owned()
    } else {
        format!("{} x {}", variable.slot.data_type, variable.slot.elements)
    };
    if let Some((of, offset)) = &variable.alias {
        text.push_str(&format!(", {of} + {offset}"));
    }
    text
}

fn variable(handles: &mut Vec<Handle>, frame: i64, view: &VariableView) -> Value {
    let elements = view.elements();
    let single = elements.len() <= 1;
    let thread = frame / FRAMES;
    json!({
        "name": view.name,
        "value": elements.join(" "),
        "type": type_text(view),
        "evaluateName": view.name,
        "variablesReference": if single { 0 } else { add(handles, Handle::Elements(frame, view.name.clone())) },
        "indexedVariables": if single { 0 } else { elements.len() },
        "memoryReference": format!("reg:{thread}:{:#x}", view.slot.offset),
    })
}

pub(crate) fn variables(
    console: &mut Console,
    handles: &mut Vec<Handle>,
    wanted: &Wanted,
) -> Result<Value, String> {
    let list = match handle(handles, wanted.variables_reference)? {
        Handle::Scope(frame, scope) => {
            look_at(console, frame)?;
            in_scope(console, handles, frame, scope)
        }
        Handle::Elements(frame, name) => {
            look_at(console, frame)?;
            let count = if wanted.count == 0 {
                ELEMENTS
            } else {
                wanted.count.min(MOST)
            };
            let elements = elements(console, &name)?;
            let some = elements.into_iter().enumerate();
            some.skip(wanted.start)
                .take(count)
                .map(|(index, value)| {
                    json!({
                        "name": format!("[{index}]"),
                        "value": value,
                        "evaluateName": format!("{name}[{index}]"),
                        "variablesReference": 0,
                    })
                })
                .collect()
        }
    };
    Ok(json!({ "variables": list }))
}

/// The elements of a variable, a buffer or a memory.
fn elements(console: &Console, name: &str) -> Result<Vec<String>, String> {
    let session = &console.session;
    if let Some(view) = session.variable(name) {
        return Ok(view.elements());
    }
    let first = Expression::parse(&format!("{name}[0]")).map_err(|e| e.to_string())?;
    let (space, at, ty) = session.locate(&first).map_err(|e| e.to_string())?;
    let bytes = session.read(space, at, ELEMENTS * usize::from(ty.size()));
    Ok(crate::show(&bytes, ty))
}

/// A variable of the source; with its content for each lane where lanes differ, or that it has none.
pub(crate) fn local_text(view: &SourceView) -> String {
    let text = view.text.as_deref().unwrap_or("(no value here)");
    match view.lanes.as_slice() {
        [] => text.to_owned(),
        lanes => format!("{text}   (lanes: {})", lanes.join(" ")),
    }
}

fn local(view: &SourceView) -> Value {
    json!({
        "name": view.name,
        "value": local_text(view),
        "type": view.of,
        "evaluateName": view.name,
        "variablesReference": 0,
    })
}

fn in_scope(console: &Console, handles: &mut Vec<Handle>, frame: i64, scope: Scope) -> Vec<Value> {
    let session = &console.session;
    let views = match scope {
        Scope::Locals => return session.locals().iter().map(local).collect(),
        Scope::Operands => session.operands(),
        Scope::Predefined => session.predefined(),
        Scope::Variables | Scope::Predicates => {
            let own = session.variables().into_iter();
            let general =
                |view: &VariableView| view.slot.class == visakit_exec::VariableClass::General;
            own.filter(|view| general(view) == (scope == Scope::Variables))
                .collect()
        }
        Scope::WorkItems => {
            let (thread, _) = session.focus();
            let running = session.position(thread).map_or(0, |(_, p)| p.running);
            let lanes = 0..session.target().lanes();
            return lanes
                .map(|lane| {
                    let item = session
                        .target()
                        .work_item(session.time().group, thread, lane);
                    let on = if running >> lane & 1 != 0 {
                        "runs"
                    } else {
                        "off"
                    };
                    let ids = item.map_or_else(String::new, |item| {
                        format!(", local {:?}, global {:?}", item.local, item.global)
                    });
                    json!({
                        "name": format!("lane {lane}"),
                        "value": format!("{on}{ids}"),
                        "variablesReference": 0,
                    })
                })
                .collect();
        }
        Scope::Memory => {
            let mut list = Vec::new();
            for buffer in session.target().buffers() {
                list.push(json!({
                    "name": buffer.name,
                    "value": format!("{} bytes at {:#x}", buffer.bytes, buffer.address),
                    "type": buffer.data_type.map_or("", |ty| ty.name()),
                    "variablesReference": add(handles, Handle::Elements(frame, buffer.name.clone())),
                    "memoryReference": format!("{:#x}", buffer.address),
                }));
            }
            let thread = frame / FRAMES;
            let scratch = session.thread().map_or(0, |t| t.scratch().len());
            let own = [
                ("slm", session.group().slm().len(), "slm:0x0".to_owned()),
                ("scratch", scratch, format!("scratch:{thread}:0x0")),
            ];
            for (name, bytes, reference) in own.into_iter().filter(|(_, bytes, _)| *bytes > 0) {
                list.push(json!({
                    "name": name,
                    "value": format!("{bytes} bytes"),
                    "variablesReference": add(handles, Handle::Elements(frame, name.to_owned())),
                    "memoryReference": reference,
                }));
            }
            return list;
        }
    };
    views
        .iter()
        .map(|view| variable(handles, frame, view))
        .collect()
}

/// The name that expressions have for a variable of a list.
pub(crate) fn full_name(handles: &[Handle], reference: i64, name: &str) -> String {
    match handle(handles, reference) {
        Ok(Handle::Elements(_, of)) => format!("{of}{name}"),
        _ => name.to_owned(),
    }
}

pub(crate) fn set_variable(
    console: &mut Console,
    handles: &[Handle],
    wanted: &Wanted,
) -> Result<Value, String> {
    let (Handle::Scope(frame, _) | Handle::Elements(frame, _)) =
        handle(handles, wanted.variables_reference)?;
    look_at(console, frame)?;
    let name = full_name(handles, wanted.variables_reference, &wanted.name);
    assign(console, &name, &wanted.value)
}

pub(crate) fn assign(console: &mut Console, what: &str, value: &str) -> Result<Value, String> {
    let set = || -> Result<_, crate::DebugError> {
        let (what, value) = (Expression::parse(what)?, Expression::parse(value)?);
        console.session.set(&what, &value)?;
        console.session.evaluate(&what)
    };
    let mut set = set;
    let now = set().map_err(|error| error.to_string())?;
    Ok(json!({ "value": now.to_string() }))
}

/// The memory that a reference names.
fn memory(console: &Console, reference: &str, offset: i64) -> Result<(MemorySpace, u64), String> {
    let fault = || format!("`{reference}` is no place in memory");
    let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let thread = |text: &str| text.parse::<usize>().ok();
    let mut parts = reference.split(':');
    let found = match (parts.next(), parts.next(), parts.next()) {
        (Some("slm"), Some(at), None) => hex(at).map(|at| (MemorySpace::Local, at)),
        (Some("scratch"), Some(t), Some(at)) => thread(t)
            .zip(hex(at))
            .map(|(t, at)| (MemorySpace::Scratch(t), at)),
        (Some("reg"), Some(t), Some(at)) => thread(t)
            .zip(hex(at))
            .map(|(t, at)| (MemorySpace::Registers(t), at)),
        (Some(address), None, None) => {
            let address = hex(address).ok_or_else(fault)?;
            let address = address.checked_add_signed(offset).ok_or_else(fault)?;
            let found = console.session.target().memory().find(address);
            let (buffer, at) = found.ok_or_else(|| format!("no buffer is at {address:#x}"))?;
            return Ok((MemorySpace::Buffer(buffer), at));
        }
        _ => None,
    };
    let (space, at) = found.ok_or_else(fault)?;
    Ok((space, at.checked_add_signed(offset).ok_or_else(fault)?))
}

pub(crate) fn read_memory(console: &Console, wanted: &Wanted) -> Result<Value, String> {
    let (space, at) = memory(console, &wanted.memory_reference, wanted.offset)?;
    let bytes = console.session.read(space, at, wanted.count.min(MOST));
    let start = match space {
        MemorySpace::Buffer(buffer) => console.session.target().memory().address(buffer),
        _ => 0,
    };
    Ok(json!({
        "address": format!("{:#x}", start.wrapping_add(at)),
        "data": BASE64.encode(&bytes),
        "unreadableBytes": wanted.count - bytes.len().min(wanted.count),
    }))
}

pub(crate) fn write_memory(console: &mut Console, wanted: &Wanted) -> Result<Value, String> {
    let (space, at) = memory(console, &wanted.memory_reference, wanted.offset)?;
    let bytes = BASE64.decode(&wanted.data).map_err(|e| e.to_string())?;
    let written = console.session.write(space, at, &bytes);
    written.map_err(|error| error.to_string())?;
    Ok(json!({ "bytesWritten": bytes.len() }))
}
