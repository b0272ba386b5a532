//! Control flow and synchronisation.
//!
//! Structured control flow of old objects becomes the same jumps as `goto`.

use super::compute::Builder;
use super::fields;
use super::operand::Problem;
use super::{State, symbol};
use crate::code::{Action, Code, Lane, Lanes, Operation, Origin, Scalar, Source, Step};
use crate::fault::FaultKind;
use std::collections::{BTreeMap, BTreeSet};
use visakit_isa::object::Body;
use visakit_isa::semantics::{Callee, Flow, Structure};
use visakit_isa::table::{FieldName as F, Group};
use visakit_isa::{DataType, Instruction, LabelId, Value};

/// Labels and open blocks of a routine.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    places: BTreeMap<LabelId, usize>,
    /// Labels at which lanes may wait.
    joins: BTreeSet<LabelId>,
    /// Steps whose target is a label that may not be placed yet.
    pending: Vec<(usize, usize, LabelId)>,
    open: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    /// Steps that jump to what follows.
    If(Vec<usize>),
    Loop {
        start: usize,
        breaks: Vec<usize>,
        continues: Vec<usize>,
    },
}

impl Labels {
    pub(crate) fn new(body: &Body<'_>) -> Self {
        let mut labels = Self::default();
        let mut placed = BTreeSet::new();
        // Uniform jumps over lanes that wait leave lanes at their targets, too. Lanes wait where others that run are before
        // them, so that none waits where all jumps come from behind.
        let diverges = body
            .instructions()
            .any(|i| i.op.def().group == Group::SimdFlow);
        for instruction in body.instructions() {
            let joins = match instruction.def().flow {
                Flow::Label { .. } => {
                    placed.extend(fields::label(instruction));
                    false
                }
                Flow::Jump { by_lane } => by_lane || diverges,
                Flow::Switch => diverges,
                _ => false,
            };
            for field in instruction.fields.iter().filter(|_| joins) {
                if let Value::Label(label) = field.value
                    && !placed.contains(&label)
                {
                    labels.joins.insert(label);
                }
            }
        }
        labels
    }

    /// Fills in the targets.
    pub(crate) fn resolve(self, steps: &mut [Step]) {
        for (step, number, label) in self.pending {
            let Some(step) = steps.get_mut(step) else {
                continue;
            };
            match self.places.get(&label) {
                Some(place) => set_target(step, number, *place),
                None => {
                    step.action = Action::Fault(Box::new(FaultKind::UnknownLabel(label.0)));
                }
            }
        }
        for block in self.open {
            let unfinished = match block {
                Block::If(steps) => steps,
                Block::Loop {
                    mut breaks,
                    continues,
                    ..
                } => {
                    breaks.extend(continues);
                    breaks
                }
            };
            for step in unfinished {
                if let Some(step) = steps.get_mut(step) {
                    step.action = Action::Fault(Box::new(FaultKind::Unbalanced));
                }
            }
        }
    }
}

fn set_target(step: &mut Step, number: usize, place: usize) {
    match &mut step.action {
        Action::Jump { target, .. } | Action::Goto { target, .. } | Action::Call { target, .. } => {
            *target = place;
        }
        Action::Switch { targets, .. } => {
            if let Some(target) = targets.get_mut(number) {
                *target = place;
            }
        }
        _ => {}
    }
}

/// Resolves where steps jump.
pub(crate) struct Place<'a> {
    pub(crate) code: &'a mut Code,
    pub(crate) origin: Origin,
    pub(crate) function_calls: &'a mut Vec<(usize, usize)>,
}

impl Place<'_> {
    fn here(&self) -> usize {
        self.code.steps.len()
    }

    fn push(&mut self, step: Step) {
        self.code.push(step, self.origin);
    }

    fn plain(&mut self, action: Action) {
        self.push(Step::plain(action));
    }

    fn patch(&mut self, steps: &[usize], place: usize) {
        for step in steps {
            if let Some(step) = self.code.steps.get_mut(*step) {
                set_target(step, 0, place);
            }
        }
    }
}

/// Translates an instruction of a control-flow row.
pub(crate) fn translate(
    state: &State<'_, '_>,
    instruction: &Instruction,
    labels: &mut Labels,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    let cx = state.cx;
    let uniform = |lanes: Lanes| lanes.count == 1;
    match instruction.def().flow {
        Flow::Next | Flow::Marker => place.plain(Action::Nothing),
        Flow::Label { .. } => {
            let label = fields::label(instruction)?;
            labels.places.entry(label).or_insert_with(|| place.here());
            if labels.joins.contains(&label) {
                place.plain(Action::Join);
            }
        }
        Flow::Jump { by_lane } => {
            let label = fields::label(instruction)?;
            let backward = by_lane && labels.places.contains_key(&label);
            let step = branch(state, instruction, |lanes| {
                if by_lane {
                    goto(lanes, false)
                } else {
                    Action::Jump {
                        target: 0,
                        inverted: false,
                    }
                }
            })?;
            labels.pending.push((place.here(), 0, label));
            place.push(step);
            if backward {
                place.plain(Action::Join);
            }
        }
        Flow::Switch => {
            let index = cx.scalar(fields::vector(instruction, F::Index)?)?;
            let mut targets = Vec::new();
            for value in instruction.all(F::Labels) {
                if let Value::Label(label) = value {
                    labels.pending.push((place.here(), targets.len(), *label));
                    targets.push(0);
                }
            }
            place.plain(Action::Switch {
                index,
                targets: targets.into_boxed_slice(),
            });
        }
        Flow::Call(Callee::Label) => {
            let label = fields::label(instruction)?;
            let step = branch(state, instruction, |lanes| Action::Call {
                target: 0,
                function: None,
                uniform: uniform(lanes),
            })?;
            labels.pending.push((place.here(), 0, label));
            place.push(step);
        }
        Flow::Call(Callee::Name) => {
            let name = symbol(instruction, cx.body);
            let function = name.and_then(|name| state.functions.get(name)).copied();
            let Some(function) = function else {
                let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
                return Err(Problem::form(format!(
                    "function {name:?} is not in the object"
                )));
            };
            let step = branch(state, instruction, |lanes| Action::Call {
                target: 0,
                function: Some(function),
                uniform: uniform(lanes),
            })?;
            place.function_calls.push((place.here(), function));
            place.push(step);
        }
        Flow::Call(Callee::Address) => {
            let address = cx.scalar(fields::vector(instruction, F::FuncAddr)?)?;
            let step = branch(state, instruction, |lanes| Action::CallAddress {
                address,
                uniform: uniform(lanes),
            })?;
            place.push(step);
        }
        Flow::Return { .. } => {
            let step = branch(state, instruction, |lanes| Action::Return {
                uniform: uniform(lanes),
            })?;
            place.push(step);
        }
        Flow::Structured(part) => structured(state, instruction, part, labels, place)?,
    }
    Ok(())
}

pub(super) fn barrier(
    _: &State<'_, '_>,
    _: &Instruction,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    place.plain(Action::Barrier);
    Ok(())
}

pub(super) fn split_barrier(
    _: &State<'_, '_>,
    instruction: &Instruction,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    let signal = fields::number(instruction, F::Mode)? & 1 != 0;
    place.plain(if signal { Action::Signal } else { Action::Wait });
    Ok(())
}

fn goto(lanes: Lanes, inverted: bool) -> Action {
    if lanes.count == 1 {
        Action::Jump {
            target: 0,
            inverted,
        }
    } else {
        Action::Goto {
            target: 0,
            inverted,
        }
    }
}

/// A step with execution size, mask and predicate of the instruction.
fn branch(
    state: &State<'_, '_>,
    instruction: &Instruction,
    action: impl FnOnce(Lanes) -> Action,
) -> Result<Step, Problem> {
    let lanes = state.cx.lanes(instruction)?;
    Ok(Step {
        lanes,
        predicate: state.cx.predicate(instruction, lanes)?,
        action: action(lanes),
        origin: Origin::NONE,
        fused: false,
    })
}

/// The address of a data symbol or of a function.
pub(super) fn address(
    state: &State<'_, '_>,
    instruction: &Instruction,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    let cx = state.cx;
    let name = symbol(instruction, cx.body).unwrap_or_default();
    let text = String::from_utf8_lossy(name);
    let address = match state.options.symbols.get(text.as_ref()) {
        Some(address) => *address,
        None => match state.functions.get(name) {
            Some(function) => Code::function_address(*function),
            None => return Err(Problem::Fault(FaultKind::UnknownSymbol(text.into_owned()))),
        },
    };
    let mut b = Builder::without_destination(cx, instruction, &[])?;
    b.destination = cx.destination(fields::vector(instruction, F::Dst)?, 1)?;
    let constant = cx.constant(&address.to_le_bytes());
    b.sources = vec![Source::scalar(constant, DataType::Uq)];
    place.push(b.step(Operation::Copy, Lane::U64));
    Ok(())
}

pub(super) fn named_barrier(
    state: &State<'_, '_>,
    instruction: &Instruction,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    let cx = state.cx;
    let scalar = |name| {
        cx.scalar(fields::vector(instruction, name)?)
            .map_err(Problem::from)
    };
    let number = scalar(F::BarrierId)?;
    // Bit 0 is a signal of both kinds, bit 1 one that says its kind.
    if fields::number(instruction, F::Mode)? & 3 == 0 {
        place.plain(Action::NamedWait(number));
        return Ok(());
    }
    let operands = if instruction.get(F::NumThreads).is_some() {
        let threads = scalar(F::NumThreads)?;
        [number, Scalar::Constant(0), threads, threads]
    } else {
        [
            number,
            scalar(F::Type)?,
            scalar(F::NumProducers)?,
            scalar(F::NumConsumers)?,
        ]
    };
    place.plain(Action::NamedSignal(Box::new(operands)));
    Ok(())
}

fn structured(
    state: &State<'_, '_>,
    instruction: &Instruction,
    part: Structure,
    labels: &mut Labels,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    let unbalanced = || Problem::Fault(FaultKind::Unbalanced);
    match part {
        Structure::If => {
            // Lanes without the predicate jump to ELSE or ENDIF.
            let mut step = branch(state, instruction, |lanes| goto(lanes, true))?;
            if step.predicate.is_none() {
                step.action = Action::Nothing;
            }
            labels.open.push(Block::If(vec![place.here()]));
            place.push(step);
        }
        Structure::Else => {
            let step = branch(state, instruction, |lanes| goto(lanes, false))?;
            let Some(Block::If(steps)) = labels.open.last_mut() else {
                return Err(unbalanced());
            };
            let pending = std::mem::replace(steps, vec![place.here()]);
            place.push(step);
            place.patch(&pending, place.here());
            place.plain(Action::Join);
        }
        Structure::EndIf => {
            if !matches!(labels.open.last(), Some(Block::If(_))) {
                return Err(unbalanced());
            }
            if let Some(Block::If(pending)) = labels.open.pop() {
                place.patch(&pending, place.here());
            }
            place.plain(Action::Join);
            place.plain(Action::Nothing);
        }
        Structure::Do => {
            place.plain(Action::Nothing);
            labels.open.push(Block::Loop {
                start: place.here(),
                breaks: Vec::new(),
                continues: Vec::new(),
            });
        }
        Structure::While => {
            let mut step = branch(state, instruction, |lanes| goto(lanes, false))?;
            if !matches!(labels.open.last(), Some(Block::Loop { .. })) {
                return Err(unbalanced());
            }
            if let Some(Block::Loop {
                start,
                breaks,
                continues,
            }) = labels.open.pop()
            {
                place.patch(&continues, place.here());
                place.plain(Action::Join);
                set_target(&mut step, 0, start);
                place.push(step);
                place.patch(&breaks, place.here());
                place.plain(Action::Join);
            }
        }
        Structure::Break | Structure::Continue => {
            let step = branch(state, instruction, |lanes| goto(lanes, false))?;
            let here = place.here();
            let innermost = labels.open.iter_mut().rev().find_map(|block| match block {
                Block::Loop {
                    breaks, continues, ..
                } => Some((breaks, continues)),
                Block::If(_) => None,
            });
            let (breaks, continues) = innermost.ok_or_else(unbalanced)?;
            if part == Structure::Break {
                breaks.push(here);
            } else {
                continues.push(here);
            }
            place.push(step);
        }
    }
    Ok(())
}
