//! Static facts about a kernel's code: instructions with their text, source lines, blocks and costs.

use crate::cost::{Device, LINE_BYTES};
use crate::data::Reach;
use crate::watch::Seen;
use std::collections::BTreeMap;
use visakit_exec::Program;
use visakit_exec::code::{Action, LaneSpace, Step};
use visakit_isa::Platform;
use visakit_isa::object::{Object, RoutineId, SourceFiles, SourceLine};
use visakit_isa::semantics::Flow;
use visakit_text::{Form, Options, Printer};

/// The code of a kernel and its callees, ready for profiles of its launches.
#[derive(Clone, Debug)]
pub struct KernelCode {
    pub(crate) device: Device,
    pub(crate) routines: Vec<String>,
    pub(crate) files: SourceFiles,
    pub(crate) instructions: Vec<Instruction>,
    /// For each step of the code, the index of its instruction in `instructions`; `None` if it is not an instruction.
    pub(crate) steps: Vec<Option<usize>>,
    pub(crate) simd: u32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) routine: usize,
    pub(crate) number: usize,
    pub(crate) block: usize,
    pub(crate) mnemonic: String,
    pub(crate) text: String,
    pub(crate) source: Option<SourceLine>,
    pub(crate) width: u32,
    pub(crate) issue: u32,
    pub(crate) latency: u32,
    pub(crate) kind: Kind,
}

impl Instruction {
    /// Cycles until its result is available. Which memory a surface is in, is only known at run time.
    pub(crate) fn latency_of(&self, device: &Device, seen: Option<&Seen>) -> u32 {
        match (seen.and_then(|seen| seen.messages.reach), &self.kind) {
            (Some(Reach::Local), Kind::Message { what, .. }) => {
                device.latency(what, true, self.width)
            }
            _ => self.latency,
        }
    }

    /// Cache lines that it transfers if it was not sampled.
    pub(crate) const fn likely_lines(&self) -> u64 {
        match self.kind {
            Kind::Message { lines, .. } => lines,
            _ => 0,
        }
    }

    pub(crate) const fn is_message(&self) -> bool {
        matches!(self.kind, Kind::Message { .. })
    }
}

/// The kind of an instruction in a profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Other,
    /// A message: what it does, and how many lines it transfers if it was not sampled.
    Message {
        what: &'static str,
        lines: u64,
    },
    Barrier,
    /// Lanes may part here.
    Branch,
    /// A call of the function with that place among the routines.
    Call(Option<usize>),
}

/// Text and source line of an instruction.
#[derive(Clone, Default)]
struct Line {
    text: String,
    source: Option<SourceLine>,
}

impl KernelCode {
    /// Takes text and source lines of a program's instructions from its object, and computes their costs. The program
    /// must count (`visakit_exec::Options::count`).
    #[must_use]
    pub fn new(object: &Object<'_>, program: &Program, platform: Option<Platform>) -> Self {
        let platform = platform.unwrap_or(if program.grf_bytes() == 64 {
            Platform::Pvc
        } else {
            Platform::Dg2
        });
        let code = program.code();
        let mut made = Self {
            device: Device::of(platform),
            routines: code.routines.iter().map(|r| r.name.clone()).collect(),
            files: SourceFiles::default(),
            instructions: Vec::new(),
            steps: vec![None; code.steps.len()],
            simd: program.simd_size(),
        };
        let printer = Printer::new(
            object,
            Options {
                form: Form::Intel,
                grf_bytes: Some(program.grf_bytes()),
            },
        );
        let routines = code.routines.iter().map(|r| r.id);
        let listings: Vec<_> = routines
            .map(|id| made.listing(object, &printer, id))
            .collect();
        let mut places = BTreeMap::new();
        for (number, block) in code.blocks().iter().enumerate() {
            for place in block.steps.clone() {
                let Some(step) = code.steps.get(place) else {
                    continue;
                };
                if !step.action.is_instruction() || !is_code(step) {
                    continue;
                }
                let origin = step.origin;
                let (routine, instruction) = (origin.routine as usize, origin.instruction as usize);
                let next = made.instructions.len();
                let at = *places.entry((routine, instruction)).or_insert(next);
                if let Some(slot) = made.steps.get_mut(place) {
                    *slot = Some(at);
                }
                if at < next {
                    // One instruction in several steps.
                    continue;
                }
                let line = listings.get(routine).and_then(|l| l.get(instruction));
                let line = line.cloned().unwrap_or_default();
                made.instructions.push(Instruction {
                    routine,
                    number: instruction,
                    block: number,
                    mnemonic: mnemonic(&line.text)
                        .or(origin.op.map(|op| op.def().mnemonic()))
                        .unwrap_or_default()
                        .to_owned(),
                    text: line.text,
                    source: line.source,
                    width: width(step),
                    issue: made.device.issue(step),
                    latency: latency(&made.device, step),
                    kind: kind(step),
                });
            }
        }
        made
    }

    /// The device whose costs count.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// The instructions of a routine, by their numbers.
    fn listing(
        &mut self,
        object: &Object<'_>,
        printer: &Printer<'_, '_>,
        id: RoutineId,
    ) -> Vec<Line> {
        let Some(body) = object.routine(id).and_then(|routine| routine.body()) else {
            return Vec::new();
        };
        let lines = self.files.lines(body);
        let of = |(text, source): (String, _)| {
            // Intel's text sets some operands off with more blanks than one.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Line { text, source }
        };
        printer.code(id).into_iter().zip(lines).map(of).collect()
    }
}

/// The first word of a line, past its predicate: `cmp.lt`, `lsc_load.slm`.
fn mnemonic(text: &str) -> Option<&str> {
    text.split_whitespace().find(|word| !word.starts_with('('))
}

/// Whether it is an instruction of the hardware: not a label, debug information, or the end of a routine.
fn is_code(step: &Step) -> bool {
    let flow = step.origin.op.map(|op| op.def().flow);
    !matches!(flow, None | Some(Flow::Marker | Flow::Label { .. }))
}

/// Lanes of a step that does something for each lane, else 1.
fn width(step: &Step) -> u32 {
    match step.action {
        Action::Compute(_) | Action::Message(_) | Action::Systolic(_) | Action::Goto { .. } => {
            step.lanes.count.into()
        }
        _ => 1,
    }
}

fn latency(device: &Device, step: &Step) -> u32 {
    match &step.action {
        Action::Message(message) => {
            let local = message
                .lanes()
                .is_some_and(|lanes| lanes.space == LaneSpace::Local);
            device.latency(message.name(), local, step.lanes.count.into())
        }
        Action::Barrier | Action::Wait | Action::NamedWait(_) => device.barrier(),
        _ => 0,
    }
}

fn kind(step: &Step) -> Kind {
    match &step.action {
        Action::Message(message) if !matches!(message.name(), "nothing" | "fence") => {
            let operands = message.operands();
            let data = operands.loaded.or(operands.stored);
            let bytes = data.map_or(0, |range| range.len()) as u64;
            Kind::Message {
                what: message.name(),
                lines: bytes.div_ceil(LINE_BYTES).max(1),
            }
        }
        Action::Barrier | Action::Wait | Action::NamedWait(_) => Kind::Barrier,
        Action::Goto { .. } | Action::Jump { .. } | Action::Switch { .. } => Kind::Branch,
        Action::Call { function, .. } => Kind::Call(*function),
        Action::CallAddress { .. } => Kind::Call(None),
        Action::Return { .. } => match step.origin.op.map(|op| op.def().flow) {
            Some(Flow::Return { .. }) => Kind::Branch,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}
