//! Runs: kernels on a grid or a bare routine, step by step, on the engine of the debugger.

mod form;
mod whole;

pub(crate) use form::form;

use crate::Answer;
use crate::file::File;
use form::{Source, told};
use serde_json::{Value as Json, json};
use visakit::exec::{MemoryAccess, Space};
use visakit::isa::DataType;
use visakit::isa::object::{RoutineId, RoutineKind};
use visakit::launch::value;
use visakit_debug::{
    DebugError, Deed, Listing, MemorySpace, Place, Session, Stop, Target, ThreadView, Time,
    VariableView, state_name,
};

/// Default limit of a run's steps.
const MOST_STEPS: u64 = 50_000_000;
/// Memory of a run.
const MOST_BYTES: u64 = 256 << 20;
/// Elements of a variable that are shown.
const MOST_ELEMENTS: usize = 512;
/// Bytes of memory that are shown at a time.
const WINDOW: usize = 4096;

/// A run, somewhere between its start and its end.
#[derive(Debug)]
pub(crate) struct Run {
    source: Source,
    session: Session,
    /// The effect of the last step.
    last: Option<Deed>,
    /// Of the whole run, once it was asked for.
    heat: Option<visakit_profile::KernelProfile>,
}

impl Run {
    pub(crate) fn start(file: &File, routine: usize, form: &Json) -> Result<Self, String> {
        let source = Source::of(file, routine, form)?;
        let target = if source.is_bare() {
            Target::bare(source.bare(false)?)
        } else {
            let launch = source.launch(&source.kernel()?, &source.config())?;
            Target::kernel(launch, source.limits())
        };
        let listing = Listing::new(&source.object, target.program().code(), source.grf_bytes);
        let session = Session::new(target, listing).map_err(failed)?;
        Ok(Self {
            source,
            session,
            last: None,
            heat: None,
        })
    }

    /// Goes to a step, counted from the start.
    pub(crate) fn seek(&mut self, to: u64) -> Answer {
        let most = self.source.limits().max_steps;
        self.last = self.session.seek(to.min(most)).map_err(failed)?;
        if to > most && self.session.ran() >= most && !self.is_over() {
            return Err(format!("the limit of {most} steps is reached"));
        }
        Ok(self.state())
    }

    pub(crate) fn step(&mut self, by: i64) -> Answer {
        self.seek(self.session.ran().saturating_add_signed(by))
    }

    pub(crate) fn finish(&mut self) -> Answer {
        self.seek(u64::MAX)
    }

    /// Continues until an instruction has run.
    pub(crate) fn until(&mut self, routine: usize, instruction: usize) -> Answer {
        let routines = self.session.listing().routines.iter();
        let mut ids = routines.map(|r| r.id);
        let routine = ids.position(|id| self.number_of(id) == routine);
        let place = Place {
            routine: routine.ok_or("this run does not come to that routine")?,
            instruction,
        };
        let most = self.source.limits().max_steps;
        let left = most.saturating_sub(self.session.ran());
        self.last = self.session.run_through(place, left).map_err(failed)?;
        if self.last.is_none() && self.session.ran() >= most && !self.is_over() {
            return Err(format!("the limit of {most} steps is reached"));
        }
        Ok(self.state())
    }

    /// Goes to an instruction of a group, given by the number of instructions before it.
    pub(crate) fn moment(&mut self, group: u64, step: u64) -> Answer {
        self.session.go_to(Time { group, step }).map_err(failed)?;
        if self.is_over() {
            self.last = None;
            return Ok(self.state());
        }
        self.step(1)
    }

    fn is_over(&self) -> bool {
        matches!(self.session.stop(), Stop::Ended | Stop::Fault(_))
    }

    /// The explorer's number of a routine.
    fn number_of(&self, id: RoutineId) -> usize {
        number_of(self.source.object.kernels.len(), id)
    }

    fn routine(&self, place: Place) -> Option<usize> {
        let routine = self.session.listing().routines.get(place.routine)?;
        Some(self.number_of(routine.id))
    }

    /// The current state of the run.
    pub(crate) fn state(&self) -> Json {
        let session = &self.session;
        let last = self.last.as_ref().map(|deed| {
            json!({
                "thread": deed.thread,
                "routine": self.routine(deed.place),
                "instruction": deed.place.instruction,
                "mask": deed.lanes,
            })
        });
        let accesses = self.last.iter().flat_map(|deed| deed.accesses.iter());
        let fault = match session.stop() {
            Stop::Fault(fault) => Some(json!({
                "message": fault.to_string(),
                "routine": self.number_of(fault.routine),
                "instruction": fault.instruction,
                "thread": fault.thread,
            })),
            _ => None,
        };
        let threads = session.threads().into_iter().map(|t| self.thread(&t));
        let group = session.group();
        json!({
            "step": session.ran(),
            "routine": self.source.routine,
            "group": session.time().group,
            "groups": session.target().groups(),
            "threads": threads.collect::<Vec<_>>(),
            "lanes": session.target().lanes(),
            "ended": session.is_ended(),
            "fault": fault,
            "last": last,
            "accesses": accesses.map(access).collect::<Vec<_>>(),
            "local": group.slm().len(),
            "scratch": group.thread(0).map_or(0, |t| t.scratch().len()),
            "printed": String::from_utf8_lossy(&session.target().printed()),
        })
    }

    fn thread(&self, thread: &ThreadView) -> Json {
        json!({
            "state": state_name(thread.state),
            "routine": thread.place.and_then(|place| self.routine(place)),
            "instruction": thread.place.map(|place| place.instruction),
            "mask": thread.running,
            "next": thread.next,
        })
    }

    /// The variables of a thread: those of the routine that it is in, and the predefined ones.
    pub(crate) fn values(&mut self, thread: usize) -> Json {
        if self.session.look_at(thread, 0).is_err() {
            return json!([]);
        }
        let own = self.session.variables().into_iter();
        let all = own.chain(self.session.predefined());
        Json::Array(all.map(|v| row(&v)).collect())
    }

    /// Elements of memory: of the buffer or image that an argument is, of shared local memory, or of a thread's
    /// scratch.
    pub(crate) fn memory(&self, space: &str, number: usize, offset: usize, ty: &str) -> Answer {
        let session = &self.session;
        let (space, bytes) = match space {
            "argument" => {
                let buffers = session.target().buffers();
                let mut found = buffers.iter().filter(|b| b.argument == Some(number));
                let found = found
                    .next()
                    .ok_or_else(|| format!("argument {number} is no buffer"))?;
                (MemorySpace::Buffer(found.buffer), found.bytes)
            }
            "local" => (MemorySpace::Local, session.group().slm().len()),
            "scratch" => {
                let thread = session.group().thread(number);
                let bytes = thread.map_or(0, |t| t.scratch().len());
                (MemorySpace::Scratch(number), bytes)
            }
            other => return Err(format!("there is no memory `{other}`")),
        };
        let ty = value::type_of(ty).ok_or_else(|| format!("there is no type `{ty}`"))?;
        let window = session.read(space, offset as u64, WINDOW);
        let elements: Vec<String> = value::show(&window, ty).collect();
        Ok(json!({ "bytes": bytes, "offset": offset, "size": ty.size(), "elements": elements }))
    }
}

/// Kernels come first.
const fn number_of(kernels: usize, id: RoutineId) -> usize {
    match id.kind {
        RoutineKind::Kernel => id.index,
        RoutineKind::Function => kernels + id.index,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err gives it")]
fn failed(error: DebugError) -> String {
    error.to_string()
}

fn access(access: &MemoryAccess) -> Json {
    json!({
        "space": match access.space {
            Space::Global => "global".to_owned(),
            Space::Surface(index) => format!("surface {index}"),
            Space::Local => "local".to_owned(),
            Space::Scratch => "scratch".to_owned(),
        },
        "address": format!("{:#x}", access.address),
        "bytes": access.bytes,
        "lane": access.lane,
        "kind": if access.atomic { "atomic" } else if access.write { "write" } else { "read" },
    })
}

fn row(variable: &VariableView) -> Json {
    let mut elements = variable.elements();
    elements.truncate(MOST_ELEMENTS);
    let ty = match variable.is_predicate() {
        true => DataType::Ud,
        false => variable.slot.data_type,
    };
    let alias = variable.alias.as_ref();
    json!({
        "name": variable.name,
        "class": format!("{:?}", variable.slot.class).to_lowercase(),
        "type": ty.name(),
        "elements": elements,
        "alias": alias.map(|(name, offset)| match offset {
            0 => name.clone(),
            offset => format!("{name} + {offset}"),
        }),
        "zero": variable.bytes.iter().all(|b| *b == 0),
        "changed": variable.changed,
    })
}
