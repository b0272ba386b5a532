//! Translation of the routines of an object into code.

mod arith;
mod compute;
mod context;
mod control;
mod dispatch;
mod fields;
pub(crate) mod layout;
mod lives;
mod logic;
mod message;
mod moves;
mod operand;
mod special;
mod types;

pub(crate) use context::Context;

use crate::code::{Action, Code, Message, Origin, Routine as RoutineCode, Step};
use crate::fault::{FaultKind, TranslateError, Unsupported};
use crate::passes::Pass;
use control::{Labels, Place};
use dispatch::{Translation, translation};
use layout::Layout;
use operand::Problem;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use visakit_isa::object::{Body, Content, Item, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::semantics::{Callee, Flow};
use visakit_isa::table::FieldName;
use visakit_isa::{Instruction, Op, Value, VectorOperand};

/// How a program is translated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Bytes of a register of the target: 32 or 64.
    pub grf_bytes: u32,
    /// Whether an unsupported instruction is an error of translation. Otherwise it is a fault when
    /// it is reached.
    pub strict: bool,
    /// Addresses of data symbols, which `faddr` returns to the program. Functions of the object
    /// need none.
    pub symbols: BTreeMap<String, u64>,
    /// Largest register file of a thread in bytes.
    pub max_register_bytes: usize,
    /// Whether reads of registers by an address outside every variable return 0 instead of a fault. Hardware returns what is
    /// in that register: a source that requests something undefined (a shuffle from a nonexistent lane) continues.
    pub stray_reads: bool,
    /// Whether the program counts what runs; see [`crate::Program::take_counts`].
    pub count: bool,
    /// The passes applied to the code before it runs.
    pub passes: Vec<Pass>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grf_bytes: 32,
            strict: false,
            symbols: BTreeMap::new(),
            max_register_bytes: 16 << 20,
            stray_reads: false,
            count: false,
            passes: Pass::UNNOTICED.to_vec(),
        }
    }
}

/// Bodies of the kernel and of every function that it may reach.
pub(crate) fn reachable<'a, 'o>(
    object: &'o Object<'a>,
    kernel: RoutineId,
) -> Result<Vec<(RoutineId, &'o Routine<'a>, &'o Body<'a>)>, TranslateError> {
    let body = |id: RoutineId| {
        let routine = object.routine(id).ok_or(TranslateError::NoRoutine(id))?;
        match &routine.content {
            Content::Body(body) => Ok((id, routine, body)),
            Content::Raw(raw) => Err(TranslateError::NotDecoded {
                routine: id,
                reason: raw.reason.clone(),
            }),
            Content::Missing(reason) => Err(TranslateError::NotDecoded {
                routine: id,
                reason: reason.clone(),
            }),
        }
    };
    let mut names: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for (index, function) in object.functions.iter().enumerate() {
        names.entry(function.name.to_vec()).or_insert(index);
        // The header truncates or mangles long names; the body knows the real one.
        if let Some(body) = function.body()
            && let Some(name) = body.string(body.name)
        {
            names.entry(name.to_vec()).or_insert(index);
        }
    }
    let mut wanted = vec![false; object.functions.len()];
    let mut routines = vec![body(kernel)?];
    let mut next = 0;
    while let Some((_, _, current)) = routines.get(next).copied() {
        next += 1;
        let mut add = Vec::new();
        for instruction in current.instructions() {
            let flow = instruction.def().flow;
            if flow == Flow::Call(Callee::Address) {
                // The address may come from anywhere.
                add.extend(0..object.functions.len());
            } else if (flow == Flow::Call(Callee::Name) || instruction.op == Op::FADDR)
                && let Some(index) = symbol(instruction, current).and_then(|n| names.get(n))
            {
                add.push(*index);
            }
        }
        for index in add {
            let id = RoutineId::new(RoutineKind::Function, index);
            if id != kernel
                && let Some(wanted) = wanted.get_mut(index).filter(|w| !**w)
            {
                *wanted = true;
                routines.push(body(id)?);
            }
        }
    }
    Ok(routines)
}

/// The name that FCALL or FADDR carries.
pub(crate) fn symbol<'a>(instruction: &Instruction, body: &'a Body<'_>) -> Option<&'a [u8]> {
    instruction
        .fields
        .iter()
        .find_map(|field| match field.value {
            Value::String(id) => body.string(id),
            _ => None,
        })
}

/// Places of the predefined variables that the machine itself reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    pub(crate) cr0: Option<Range<usize>>,
    pub(crate) ce0: Option<Range<usize>>,
    pub(crate) tsc: Option<Range<usize>>,
}

/// Translates routines.
pub(crate) fn routines(
    object: &Object<'_>,
    bodies: &[(RoutineId, &Routine<'_>, &Body<'_>)],
    layout: &RefCell<Layout>,
    watched: &Watched,
    options: &Options,
) -> Result<Code, TranslateError> {
    let mut code = Code::default();
    let mut function_calls: Vec<(usize, usize)> = Vec::new();
    let mut functions: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for (place, (_, routine, body)) in bodies.iter().enumerate().skip(1) {
        functions.entry(routine.name.to_vec()).or_insert(place);
        if let Some(name) = body.string(body.name) {
            functions.entry(name.to_vec()).or_insert(place);
        }
    }
    for (number, (id, routine, body)) in bodies.iter().enumerate() {
        let routine_layout = layout
            .borrow()
            .routines
            .get(number)
            .cloned()
            .unwrap_or_default();
        let cx = Context {
            grf_bytes: options.grf_bytes,
            format: object.format(),
            body,
            routine: &routine_layout,
            layout,
        };
        let entry = code.steps.len();
        let mut labels = Labels::new(body);
        for (index, item) in body.code.iter().enumerate() {
            let instruction = match item {
                Item::Instruction(instruction) => Ok(instruction),
                Item::Raw(raw) => Err(Unsupported::new("undecoded bytes", raw.reason.clone())),
            };
            let op = instruction.as_ref().ok().map(|i| i.op);
            let origin = Origin {
                routine: u32::try_from(number).unwrap_or(u32::MAX),
                instruction: u32::try_from(index).unwrap_or(u32::MAX),
                op,
            };
            let outcome = match instruction {
                Ok(instruction) => {
                    code.instructions += 1;
                    if let Some(lanes) = instruction
                        .exec_size()
                        .and_then(visakit_isa::ExecSize::lanes)
                    {
                        use visakit_isa::table::Group;
                        let flows =
                            matches!(instruction.def().group, Group::Flow | Group::SimdFlow);
                        if flows {
                            code.largest = code.largest.max(lanes.into());
                        }
                    }
                    let state = State {
                        cx: &cx,
                        watched,
                        options,
                        functions: &functions,
                    };
                    one(
                        &state,
                        instruction,
                        &mut code,
                        &mut labels,
                        origin,
                        &mut function_calls,
                    )
                }
                Err(unsupported) => Err(Problem::Unsupported(unsupported)),
            };
            if let Err(problem) = outcome {
                let kind = match problem {
                    Problem::Unsupported(unsupported) if options.strict => {
                        return Err(TranslateError::Unsupported {
                            routine: *id,
                            instruction: index,
                            unsupported: named(unsupported, op),
                        });
                    }
                    Problem::Unsupported(unsupported) => {
                        FaultKind::Unsupported(named(unsupported, op))
                    }
                    Problem::Fault(kind) => kind,
                };
                code.push(Step::plain(Action::Fault(Box::new(kind))), origin);
            }
        }
        let end = Origin {
            routine: u32::try_from(number).unwrap_or(u32::MAX),
            instruction: u32::try_from(body.code.len()).unwrap_or(u32::MAX),
            op: None,
        };
        code.push(
            Step::plain(Action::Fault(Box::new(FaultKind::FellOffTheEnd))),
            end,
        );
        labels.resolve(&mut code.steps);
        code.routines.push(RoutineCode {
            id: *id,
            name: routine.display_name().into_owned(),
            entry,
            own: routine_layout.own.clone(),
        });
    }
    for (step, routine) in function_calls {
        let entry = code.routines.get(routine).map_or(0, |r| r.entry);
        if let Some(Step {
            action: Action::Call { target, .. },
            ..
        }) = code.steps.get_mut(step)
        {
            *target = entry;
        }
    }
    Ok(code)
}

/// Names the instruction where the problem does not.
fn named(unsupported: Unsupported, op: Option<Op>) -> Unsupported {
    let mnemonic = op.map_or("", |op| op.def().mnemonic());
    if unsupported.mnemonic == "this form of operand" {
        return Unsupported::new(mnemonic, unsupported.why);
    }
    unsupported
}

impl Code {
    fn push(&mut self, step: Step, origin: Origin) {
        self.steps.push(Step { origin, ..step });
    }
}

pub(crate) struct State<'a, 'b> {
    pub(crate) cx: &'a Context<'b>,
    pub(crate) watched: &'a Watched,
    pub(crate) options: &'a Options,
    pub(crate) functions: &'a BTreeMap<Vec<u8>, usize>,
}

fn one(
    state: &State<'_, '_>,
    instruction: &Instruction,
    code: &mut Code,
    labels: &mut Labels,
    origin: Origin,
    function_calls: &mut Vec<(usize, usize)>,
) -> Result<(), Problem> {
    let cx = state.cx;
    let translation = translation(instruction.op);
    if let Translation::Unsupported = translation {
        return Err(Problem::form(instruction.def().unsupported));
    }
    let reads = |range: &Option<Range<usize>>| touches(cx, instruction, range.as_ref(), false);
    if let Some(range) = state
        .watched
        .ce0
        .as_ref()
        .filter(|_| reads(&state.watched.ce0))
    {
        code.push(Step::plain(Action::ExecutionMask(range.start)), origin);
    }
    if let Some(range) = state
        .watched
        .tsc
        .as_ref()
        .filter(|_| reads(&state.watched.tsc))
    {
        code.push(Step::plain(Action::Clock(range.start)), origin);
    }
    let mut place = Place {
        code,
        origin,
        function_calls,
    };
    let step = match translation {
        Translation::Flow => return control::translate(state, instruction, labels, &mut place),
        Translation::Steps(translate) => return translate(state, instruction, &mut place),
        Translation::Nothing | Translation::Unsupported => {
            code.push(Step::plain(Action::Nothing), origin);
            return Ok(());
        }
        Translation::Step(translate) => {
            if instruction.op != Op::MOV {
                cx.refuse_small_floats(instruction)?;
            }
            translate(cx, instruction)?
        }
        Translation::Message => {
            cx.refuse_small_floats(instruction)?;
            let message = message::translate(instruction, cx)?;
            let lanes = cx.lanes(instruction)?;
            Step {
                lanes,
                predicate: cx.predicate(instruction, lanes)?,
                action: Action::Message(Arc::new(Message(message))),
                origin,
                fused: false,
            }
        }
    };
    code.push(step, origin);
    if let Some(range) = &state.watched.cr0
        && touches(cx, instruction, Some(range), true)
    {
        code.push(Step::plain(Action::UpdateMode(range.start)), origin);
    }
    Ok(())
}

/// Whether an operand of the instruction lies in that part of the register file.
fn touches(
    cx: &Context<'_>,
    instruction: &Instruction,
    range: Option<&Range<usize>>,
    destinations: bool,
) -> bool {
    let Some(range) = range else { return false };
    instruction.fields.iter().any(|field| {
        if field.name.is_destination() != destinations || field.name == FieldName::ExecSize {
            return false;
        }
        let variable = match field.value {
            Value::Vector(VectorOperand::General(operand)) => operand.variable,
            Value::Raw(operand) => operand.variable,
            _ => return false,
        };
        cx.variable(variable).is_ok_and(|place| {
            place.offset < range.end && range.start < place.offset + place.available
        })
    })
}
