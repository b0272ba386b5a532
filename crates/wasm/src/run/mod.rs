//! Runs: kernels on a grid or a bare routine, step by step.
//!
//! A run is the same each time it is done, so a step back is the run from its start with one step less.

use crate::Answer;
use crate::file::File;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use visakit::exec::{
    Fault, Group, InstructionEvent, Limits, Memory, MemoryAccess, Observer, Program, Progress,
    Space, VariableClass,
};
use visakit::isa::DataType;
use visakit::isa::object::{Object, RoutineId};
use visakit::launch::{
    Argument, Bare, Config, Image, ImageKind, Kernel, Launch, LaunchError, NdRange, format,
    sampler, value,
};

/// Most steps of a run where the form says nothing.
const MOST_STEPS: u64 = 50_000_000;
/// Memory of a run.
const MOST_BYTES: u64 = 256 << 20;
/// So many steps are told of in a state.
const RECENT: usize = 40;
/// Elements of a variable that are shown.
const MOST_ELEMENTS: usize = 512;
/// Bytes of memory that are shown at a time.
const WINDOW: usize = 4096;

/// A step that was done.
#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    routine: RoutineId,
    instruction: usize,
    mask: u32,
}

/// Watches a run.
#[derive(Debug, Default)]
struct Watch {
    last: Option<Event>,
    recent: Vec<Event>,
    /// How often an instruction ran.
    heat: BTreeMap<(RoutineId, usize), u64>,
    accesses: Vec<MemoryAccess>,
    /// Stop when an instruction of this number has run.
    until: Option<usize>,
    reached: bool,
}

impl Observer for Watch {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = true;

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        let event = Event {
            thread: event.thread,
            routine: event.routine,
            instruction: event.instruction,
            mask: event.mask,
        };
        self.last = Some(event);
        self.accesses.clear();
        if self.recent.len() >= 2 * RECENT {
            self.recent.drain(..RECENT);
        }
        self.recent.push(event);
        *self
            .heat
            .entry((event.routine, event.instruction))
            .or_default() += 1;
        self.reached |= self.until == Some(event.instruction);
        ControlFlow::Continue(())
    }

    fn memory(&mut self, access: &MemoryAccess, _: &[u8]) {
        if self.accesses.len() < 64 {
            self.accesses.push(*access);
        }
    }
}

/// What runs.
#[derive(Debug)]
enum Started {
    Kernel(Box<Launch>),
    Bare(Box<Bare>),
}

impl Started {
    fn new(source: &Source, form: &Json) -> Result<Self, String> {
        let told = |error: LaunchError| error.to_string();
        let (object, id, grf) = (&source.object, source.id, source.grf_bytes);
        if form.get("mode").and_then(Json::as_str) == Some("bare") {
            let mut bare = Bare::new(object, id, grf, false).map_err(told)?;
            for (name, set) in form
                .get("sets")
                .and_then(Json::as_object)
                .into_iter()
                .flatten()
            {
                let text = set.as_str().unwrap_or_default();
                if !text.trim().is_empty() {
                    bare.set(name, text).map_err(told)?;
                }
            }
            bare.limits = limits(form);
            return Ok(Self::Bare(Box::new(bare)));
        }
        let zeinfo = source.zeinfo.as_ref().ok_or(
            "launching a kernel needs its metadata (.zeinfo); open it beside the object, or run the routine bare",
        )?;
        let name = object.routine(id).map(|r| r.display_name().into_owned());
        let mut kernel = Kernel::new(object, &name.unwrap_or_default(), zeinfo).map_err(told)?;
        kernel.grf_bytes = grf;
        kernel.data.clone_from(&source.data);
        kernel.symbols.clone_from(&source.symbols);
        let sizes = |name: &str| -> Vec<u32> {
            let list = form.get(name).and_then(Json::as_array);
            let list = list.into_iter().flatten().filter_map(Json::as_u64);
            list.filter_map(|n| u32::try_from(n).ok()).collect()
        };
        let global = sizes("global");
        let mut local = sizes("local");
        if local.is_empty() {
            local = NdRange::default_local(&global);
        }
        let range = NdRange::new(&global, &local, &[]).map_err(told)?;
        let arguments = form.get("arguments").and_then(Json::as_array);
        let arguments = arguments
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(number, form)| {
                argument(form).map_err(|error| format!("argument {number}: {error}"))
            });
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let config = Config {
            limits: limits(form),
            max_memory: MOST_BYTES,
            ..Config::default()
        };
        let launch = kernel.prepare(&range, &arguments, &config).map_err(told)?;
        Ok(Self::Kernel(Box::new(launch)))
    }

    fn program(&self) -> &Program {
        match self {
            Self::Kernel(launch) => launch.program(),
            Self::Bare(bare) => bare.program(),
        }
    }

    fn memory(&self) -> &Memory {
        match self {
            Self::Kernel(launch) => launch.memory(),
            Self::Bare(bare) => bare.memory(),
        }
    }

    fn groups(&self) -> u64 {
        match self {
            Self::Kernel(launch) => launch.group_count(),
            Self::Bare(_) => 1,
        }
    }

    fn group(&self, number: u64, limits: &Limits) -> Result<Group, String> {
        match self {
            Self::Kernel(launch) => launch.start(number, limits),
            Self::Bare(bare) => bare.group(),
        }
        .map_err(|e| e.to_string())
    }
}

fn limits(form: &Json) -> Limits {
    Limits {
        max_steps: form
            .get("steps")
            .and_then(Json::as_u64)
            .unwrap_or(MOST_STEPS),
        max_bytes: MOST_BYTES,
        ..Limits::default()
    }
}

/// An argument as the form gives it.
fn argument(form: &Json) -> Result<Argument, String> {
    let text = |name: &str| form.get(name).and_then(Json::as_str).unwrap_or_default();
    let size = |name: &str| form.get(name).and_then(Json::as_u64).unwrap_or(0);
    let data_type = || {
        let name = text("type");
        let known = visakit::launch::value::type_of(name);
        known.ok_or_else(|| {
            format!("there is no type `{name}`; known are u8 to u64, i8 to i64, f16, f32, f64")
        })
    };
    let bytes = || -> Result<Vec<u8>, String> {
        if let Some(hex) = form.get("hex").and_then(Json::as_str) {
            return from_hex(hex).ok_or_else(|| "no bytes in hex".to_owned());
        }
        let ty = data_type()?;
        let count = usize::try_from(size("count")).unwrap_or(0);
        let length = count.saturating_mul(usize::from(ty.size()));
        if length as u64 > MOST_BYTES {
            return Err(format!("{length} bytes are more than a run may have"));
        }
        let values = match text("values").trim() {
            "" => Vec::new(),
            "iota" => {
                let numbers: Vec<String> = (0..count).map(|n| n.to_string()).collect();
                value::parse(&numbers.join(","), ty)?
            }
            values => value::parse(values, ty)?,
        };
        let mut bytes = values;
        bytes.resize(length.max(bytes.len()), 0);
        Ok(bytes)
    };
    match text("kind") {
        "buffer" => Ok(Argument::Buffer(bytes()?)),
        "value" => Ok(Argument::Value(bytes()?)),
        "null" => Ok(Argument::Null),
        "local" => Ok(Argument::Local(usize::try_from(size("count")).unwrap_or(0))),
        "sampler" => {
            let normalized = form
                .get("normalized")
                .and_then(Json::as_bool)
                .unwrap_or(false);
            Ok(Argument::Sampler(sampler(
                normalized,
                text("addressing"),
                text("filter"),
            )?))
        }
        "image" => {
            let kind = ImageKind::by_name(text("image")).ok_or("there is no such kind of image")?;
            let sizes = form
                .get("sizes")
                .and_then(Json::as_array)
                .into_iter()
                .flatten();
            let sizes: Vec<u32> = sizes
                .filter_map(|n| u32::try_from(n.as_u64()?).ok())
                .collect();
            let format = format(text("order"), text("channel"))?;
            let mut bytes = bytes()?;
            let mut image = Image::new(kind, &sizes, None, format, Vec::new())?;
            let span = image.span();
            if span > MOST_BYTES {
                return Err(format!("{span} bytes are more than a run may have"));
            }
            bytes.resize(usize::try_from(span).unwrap_or(0).max(bytes.len()), 0);
            image.bytes = bytes;
            Ok(Argument::Image(image))
        }
        kind => Err(format!("there is no kind of argument `{kind}`")),
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: &u8| u8::try_from(char::from(*c).to_digit(16)?).ok();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = pairs
        .iter()
        .map(|[high, low]| Some(digit(high)? << 4 | digit(low)?));
    rest.is_empty().then(|| bytes.by_ref().collect())?
}

/// What can be filled in before a run of a routine.
pub(crate) fn form(file: &File, routine: usize) -> Answer {
    let id = file.id(routine)?;
    let found = file.object.routine(id);
    let name = found
        .map(|r| r.display_name().into_owned())
        .unwrap_or_default();
    let info = file
        .zeinfo
        .as_ref()
        .and_then(|z| Some((z, z.kernel(&name).ok()?)));
    let arguments = info.map(|(zeinfo, info)| {
        let named = zeinfo.args_info(&name);
        let count = usize::try_from(info.argument_count())
            .unwrap_or(0)
            .max(named.len());
        let rows = (0..count).map(|index| {
            let arg = named.get(index);
            let payload = info.payload_arguments.iter();
            let mut payload = payload
                .filter(|p| p.arg_index.and_then(|i| usize::try_from(i).ok()) == Some(index));
            let first = payload.next();
            let kind = arg.map_or_else(String::new, |a| a.type_name.clone());
            let space = first.and_then(|p| p.addrspace);
            json!({
                "name": arg.map_or_else(|| format!("argument {index}"), |a| a.name.clone()),
                "type": kind.split(';').next().unwrap_or_default(),
                "pointer": first.is_some_and(|p| p.addrmode.is_some()) || kind.contains('*'),
                "space": space.map(|s| format!("{s:?}").to_lowercase()),
                "bytes": first.map_or(0, |p| p.size),
            })
        });
        rows.collect::<Vec<_>>()
    });
    let program =
        Bare::new(&file.object, id, file.grf_bytes(), false).map_err(|e| e.to_string())?;
    let inputs = program.program().inputs().iter().map(|input| {
        let slot = program.program().variable(&input.name);
        json!({
            "name": input.name,
            "type": slot.as_ref().map_or("ud", |s| s.data_type.name()),
            "elements": slot.as_ref().map_or(0, |s| s.elements),
            "implicit": input.kind.implicit_name(),
        })
    });
    Ok(json!({
        "arguments": arguments,
        "inputs": inputs.collect::<Vec<_>>(),
        "lanes": program.program().simd_size(),
        "required": info.map(|(_, i)| i.execution_env.required_work_group_size.clone()),
    }))
}

/// A run, somewhere between its start and its end.
#[derive(Debug)]
pub(crate) struct Run {
    // What is needed to start again.
    form: Json,
    source: Source,
    started: Started,
    limits: Limits,
    kernels: usize,
    group: Group,
    number: u64,
    steps: u64,
    ended: bool,
    fault: Option<Fault>,
    watch: Watch,
    /// The registers of the thread that stepped last as they were before it.
    before: Vec<u8>,
}

/// The file as it was when the run began: it may be edited since.
#[derive(Debug)]
struct Source {
    object: Object<'static>,
    id: RoutineId,
    routine: usize,
    zeinfo: Option<visakit::launch::ZeInfo>,
    data: Vec<visakit::launch::DataSection>,
    symbols: Vec<visakit::launch::DataSymbol>,
    grf_bytes: u32,
}

impl Run {
    pub(crate) fn start(file: &File, routine: usize, form: &Json) -> Result<Self, String> {
        let source = Source {
            object: file.object.clone(),
            id: file.id(routine)?,
            routine,
            zeinfo: file.zeinfo.clone(),
            data: file.data.clone(),
            symbols: file.symbols.clone(),
            grf_bytes: file.grf_bytes(),
        };
        let started = Started::new(&source, form)?;
        let limits = limits(form);
        let group = started.group(0, &limits)?;
        Ok(Self {
            form: form.clone(),
            source,
            kernels: file.object.kernels.len(),
            started,
            limits,
            group,
            number: 0,
            steps: 0,
            ended: false,
            fault: None,
            watch: Watch::default(),
            before: Vec::new(),
        })
    }

    /// Goes on for at most so many steps, or until the instruction that is watched for.
    fn advance(&mut self, mut steps: u64) -> Result<(), String> {
        while steps > 0 && !self.ended && self.fault.is_none() && !self.watch.reached {
            // One by one where something is watched for.
            let fuel = if self.watch.until.is_some() { 1 } else { steps };
            let before = self.group.counters().instructions;
            let left = self.limits.max_steps.saturating_sub(self.steps);
            if left == 0 {
                return Err(format!(
                    "the limit of {} steps is reached",
                    self.limits.max_steps
                ));
            }
            let (program, memory) = (self.started.program(), self.started.memory());
            let watch = &mut self.watch;
            let progress =
                self.group
                    .advance(program, memory, &self.limits, fuel.min(left), None, watch);
            let used = self.group.counters().instructions - before;
            self.steps += used;
            steps = steps.saturating_sub(used);
            match progress {
                Ok(Progress::Ended) => {
                    let next = self.number + 1;
                    if next < self.started.groups() {
                        self.group = self.started.group(next, &self.limits)?;
                        self.number = next;
                    } else {
                        self.ended = true;
                    }
                }
                Ok(_) => {}
                Err(fault) => self.fault = Some(fault),
            }
        }
        Ok(())
    }

    /// Keeps the registers of a thread, to tell later what has changed.
    fn remember(&mut self) {
        let thread = self.watch.last.map_or(0, |e| e.thread);
        let registers = self.group.thread(thread).map(|t| t.registers().to_vec());
        self.before = registers.unwrap_or_default();
    }

    pub(crate) fn step(&mut self, by: i64) -> Answer {
        if let Ok(forward) = u64::try_from(by) {
            if forward > 1 {
                self.advance(forward - 1)?;
            }
            self.remember();
            self.advance(forward.min(1))?;
            return Ok(self.state());
        }
        self.seek(self.steps.saturating_sub(by.unsigned_abs()))
    }

    /// Goes to a step, counted from the start.
    pub(crate) fn seek(&mut self, to: u64) -> Answer {
        if to < self.steps {
            self.again()?;
        }
        let left = to - self.steps.min(to);
        self.advance(left.saturating_sub(1))?;
        self.remember();
        self.advance(left.min(1))?;
        Ok(self.state())
    }

    fn again(&mut self) -> Result<(), String> {
        self.started = Started::new(&self.source, &self.form)?;
        self.group = self.started.group(0, &self.limits)?;
        (self.number, self.steps, self.ended, self.fault) = (0, 0, false, None);
        self.watch = Watch::default();
        self.before.clear();
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Answer {
        // What a single step changed is told, not what a whole run did.
        self.before.clear();
        self.advance(u64::MAX)?;
        Ok(self.state())
    }

    /// Goes on until the kernel's instruction of that number has run.
    pub(crate) fn until(&mut self, instruction: usize) -> Answer {
        self.before.clear();
        self.watch.until = Some(instruction);
        let done = self.advance(u64::MAX);
        self.watch.until = None;
        self.watch.reached = false;
        done?;
        Ok(self.state())
    }

    fn routine_number(&self, id: RoutineId) -> usize {
        match id.kind {
            visakit::isa::object::RoutineKind::Kernel => id.index,
            visakit::isa::object::RoutineKind::Function => self.kernels + id.index,
        }
    }

    /// Where the run is.
    pub(crate) fn state(&self) -> Json {
        let event = |event: &Event| {
            json!({
                "thread": event.thread,
                "routine": self.routine_number(event.routine),
                "instruction": event.instruction,
                "mask": event.mask,
            })
        };
        let recent = self.watch.recent.iter().rev().take(RECENT).map(event);
        let accesses = self.watch.accesses.iter().map(|a| {
            json!({
                "space": match a.space {
                    Space::Global => "global".to_owned(),
                    Space::Surface(index) => format!("surface {index}"),
                    Space::Local => "local".to_owned(),
                    Space::Scratch => "scratch".to_owned(),
                },
                "address": format!("{:#x}", a.address),
                "bytes": a.bytes,
                "lane": a.lane,
                "kind": if a.atomic { "atomic" } else if a.write { "write" } else { "read" },
            })
        });
        let mut threads = 0;
        while self.group.thread(threads).is_some() {
            threads += 1;
        }
        let fault = self.fault.as_ref().map(|f| {
            json!({ "message": f.to_string(), "routine": self.routine_number(f.routine), "instruction": f.instruction })
        });
        json!({
            "step": self.steps,
            "routine": self.source.routine,
            "group": self.number,
            "groups": self.started.groups(),
            "threads": threads,
            "lanes": self.started.program().simd_size(),
            "ended": self.ended,
            "fault": fault,
            "last": self.watch.last.as_ref().map(event),
            "recent": recent.collect::<Vec<_>>(),
            "accesses": accesses.collect::<Vec<_>>(),
        })
    }

    /// The declared variables of a thread.
    pub(crate) fn values(&self, thread: usize) -> Json {
        let program = self.started.program();
        let Some(state) = self.group.thread(thread) else {
            return json!([]);
        };
        let same_thread = self.watch.last.is_some_and(|e| e.thread == thread);
        let variables = program.variables().map(|(name, slot)| {
            let bytes = state.read(slot);
            let old = self
                .before
                .get(slot.offset..slot.offset.saturating_add(slot.bytes));
            let size = usize::from(slot.data_type.size()).max(1);
            let shown = bytes
                .get(..bytes.len().min(MOST_ELEMENTS * size))
                .unwrap_or_default();
            let old_shown = old.and_then(|old| old.get(..shown.len()));
            let changed = match old_shown {
                Some(old) if same_thread => {
                    let pairs = shown.chunks(size).zip(old.chunks(size)).enumerate();
                    pairs.filter(|(_, (a, b))| a != b).map(|(n, _)| n).collect()
                }
                _ => Vec::new(),
            };
            let ty = match slot.class {
                VariableClass::Predicate => DataType::Ud,
                _ => slot.data_type,
            };
            let elements: Vec<String> = value::show(shown, ty).collect();
            let mut row = Map::new();
            row.insert("name".to_owned(), json!(name));
            row.insert(
                "class".to_owned(),
                json!(format!("{:?}", slot.class).to_lowercase()),
            );
            row.insert("type".to_owned(), json!(ty.name()));
            row.insert("elements".to_owned(), json!(elements));
            row.insert("zero".to_owned(), json!(bytes.iter().all(|b| *b == 0)));
            row.insert("changed".to_owned(), json!(changed));
            Json::Object(row)
        });
        Json::Array(variables.collect())
    }

    /// Elements of the buffer that an argument is; without an argument of shared local memory.
    pub(crate) fn memory(&self, argument: Option<usize>, offset: usize, ty: &str) -> Answer {
        let bytes = match (argument, &self.started) {
            (None, _) => self.group.slm().to_vec(),
            (Some(argument), Started::Kernel(launch)) => {
                let all = launch.contents().map_err(|e| e.to_string())?;
                let found = all.into_iter().nth(argument).flatten();
                found.ok_or_else(|| format!("argument {argument} is no buffer"))?
            }
            (Some(_), Started::Bare(_)) => return Err("a bare run has no arguments".to_owned()),
        };
        let ty = value::type_of(ty).ok_or_else(|| format!("there is no type `{ty}`"))?;
        let end = offset.saturating_add(WINDOW).min(bytes.len());
        let window = bytes.get(offset.min(end)..end).unwrap_or_default();
        let elements: Vec<String> = value::show(window, ty).collect();
        Ok(
            json!({ "bytes": bytes.len(), "offset": offset, "size": ty.size(), "elements": elements }),
        )
    }

    /// How often each instruction of a routine ran.
    pub(crate) fn heat(&self, routine: usize) -> Json {
        let all = self.watch.heat.iter();
        let own = all.filter(|((id, _), _)| self.routine_number(*id) == routine);
        Json::Array(own.map(|((_, n), count)| json!([n, count])).collect())
    }
}
