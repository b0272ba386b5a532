//! Control flow and synchronisation.
//!
//! Structured control flow of old objects becomes the same jumps as `goto`.

use super::build::Builder;
use super::code::{Kind, Step};
use super::context::{Lanes, Scalar};
use super::fields;
use super::operand::Problem;
use super::translate::{Code, Origin, State, function_address, symbol};
use crate::fault::{FaultKind, Unsupported};
use crate::lanes::int;
use crate::run::registers::full;
use std::collections::{BTreeMap, BTreeSet};
use visakit_isa::object::Body;
use visakit_isa::table::{FieldName as F, Group};
use visakit_isa::{DataType, Instruction, LabelId, Op, Value};

/// Labels and open blocks of a routine.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    labels: BTreeMap<LabelId, usize>,
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

impl Flow {
    pub(crate) fn new(body: &Body<'_>) -> Self {
        let mut flow = Self::default();
        // Uniform jumps over lanes that wait leave lanes at their targets, too.
        let diverges = body
            .instructions()
            .any(|i| i.op.def().group == Group::SimdFlow);
        for instruction in body.instructions() {
            match instruction.op {
                Op::GOTO => {}
                Op::JMP | Op::SWITCHJMP if diverges => {}
                _ => continue,
            }
            for field in &instruction.fields {
                if let Value::Label(label) = field.value {
                    flow.joins.insert(label);
                }
            }
        }
        flow
    }

    /// Fills in the targets.
    pub(crate) fn resolve(self, steps: &mut [Step]) {
        for (step, number, label) in self.pending {
            let Some(step) = steps.get_mut(step) else {
                continue;
            };
            match self.labels.get(&label) {
                Some(place) => set_target(step, number, *place),
                None => {
                    step.kind = Kind::Fault(Box::new(FaultKind::UnknownLabel(label.0)));
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
                    step.kind = Kind::Fault(Box::new(FaultKind::Unbalanced));
                }
            }
        }
    }
}

fn set_target(step: &mut Step, number: usize, place: usize) {
    match &mut step.kind {
        Kind::Jump { target, .. } | Kind::Goto { target, .. } | Kind::Call { target, .. } => {
            *target = place;
        }
        Kind::Switch { targets, .. } => {
            if let Some(target) = targets.get_mut(number) {
                *target = place;
            }
        }
        _ => {}
    }
}

/// Where steps go.
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

    fn plain(&mut self, kind: Kind) {
        self.push(Step::plain(kind));
    }

    fn patch(&mut self, steps: &[usize], place: usize) {
        for step in steps {
            if let Some(step) = self.code.steps.get_mut(*step) {
                set_target(step, 0, place);
            }
        }
    }
}

/// Translates an instruction of control flow or synchronisation; false if it is none.
pub(crate) fn translate(
    state: &State<'_, '_>,
    instruction: &Instruction,
    flow: &mut Flow,
    place: &mut Place<'_>,
) -> Result<bool, Problem> {
    let cx = state.cx;
    match instruction.op {
        Op::LABEL | Op::SUBROUTINE => {
            let label = fields::label(instruction)?;
            flow.labels.entry(label).or_insert_with(|| place.here());
            if flow.joins.contains(&label) {
                place.plain(Kind::Join);
            }
        }
        Op::JMP => {
            let label = fields::label(instruction)?;
            let step = branch(state, instruction, |_| Kind::Jump {
                target: 0,
                inverted: false,
            })?;
            flow.pending.push((place.here(), 0, label));
            place.push(step);
        }
        Op::GOTO => {
            let label = fields::label(instruction)?;
            let backward = flow.labels.contains_key(&label);
            let step = branch(state, instruction, |lanes| goto(lanes, false))?;
            flow.pending.push((place.here(), 0, label));
            place.push(step);
            if backward {
                place.plain(Kind::Join);
            }
        }
        Op::SWITCHJMP => {
            let index = cx.scalar(fields::vector(instruction, F::Index)?)?;
            let mut targets = Vec::new();
            for value in instruction.all(F::Labels) {
                if let Value::Label(label) = value {
                    flow.pending.push((place.here(), targets.len(), *label));
                    targets.push(0);
                }
            }
            place.plain(Kind::Switch {
                index,
                targets: targets.into_boxed_slice(),
            });
        }
        Op::CALL => {
            let label = fields::label(instruction)?;
            let step = branch(state, instruction, |lanes| Kind::Call {
                target: 0,
                function: None,
                uniform: lanes.count == 1,
            })?;
            flow.pending.push((place.here(), 0, label));
            place.push(step);
        }
        Op::FCALL => {
            let name = symbol(instruction, cx.body);
            let function = name.and_then(|name| state.functions.get(name)).copied();
            let Some(function) = function else {
                let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
                let why = format!("function {name:?} is not in the object");
                return Err(Unsupported::new("fcall", why).into());
            };
            let step = branch(state, instruction, |lanes| Kind::Call {
                target: 0,
                function: Some(function),
                uniform: lanes.count == 1,
            })?;
            place.function_calls.push((place.here(), function));
            place.push(step);
        }
        Op::IFCALL => {
            let address = cx.scalar(fields::vector(instruction, F::FuncAddr)?)?;
            let step = branch(state, instruction, |lanes| Kind::CallAddress {
                address,
                uniform: lanes.count == 1,
            })?;
            place.push(step);
        }
        Op::RET | Op::FRET => {
            let step = branch(state, instruction, |lanes| Kind::Return {
                uniform: lanes.count == 1,
            })?;
            place.push(step);
        }
        Op::FADDR => faddr(state, instruction, place)?,
        Op::IF | Op::ELSE | Op::ENDIF | Op::DO | Op::WHILE | Op::BREAK | Op::CONT => {
            structured(state, instruction, flow, place)?;
        }
        Op::BARRIER => place.plain(Kind::Barrier),
        Op::SBARRIER => {
            let signal = fields::number(instruction, F::Mode)? & 1 != 0;
            place.plain(if signal { Kind::Signal } else { Kind::Wait });
        }
        Op::NBARRIER => named_barrier(state, instruction, place)?,
        Op::FENCE
        | Op::SAMPLER_CACHE_FLUSH
        | Op::WAIT
        | Op::YIELD
        | Op::LIFETIME
        | Op::FILE
        | Op::LOC
        | Op::BREAKPOINT => place.plain(Kind::Nothing),
        _ => return Ok(false),
    }
    Ok(true)
}

fn goto(lanes: Lanes, inverted: bool) -> Kind {
    if lanes.count == 1 {
        Kind::Jump {
            target: 0,
            inverted,
        }
    } else {
        Kind::Goto {
            target: 0,
            inverted,
        }
    }
}

/// A step with execution size, mask and predicate of the instruction.
fn branch(
    state: &State<'_, '_>,
    instruction: &Instruction,
    kind: impl FnOnce(Lanes) -> Kind,
) -> Result<Step, Problem> {
    let lanes = state.cx.lanes(instruction)?;
    let predicate = match instruction.predicate() {
        Some(word) => state.cx.flag(word, lanes)?,
        None => None,
    };
    Ok(Step {
        first: lanes.first,
        no_mask: lanes.no_mask,
        window: full(usize::from(lanes.count)),
        predicate,
        kind: kind(lanes),
    })
}

/// The address of a data symbol or of a function.
fn faddr(
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
            Some(function) => function_address(*function),
            None => return Err(Problem::Fault(FaultKind::UnknownSymbol(text.into_owned()))),
        },
    };
    let mut b = Builder::without_destination(cx, instruction, &[])?;
    b.destination = cx.destination(fields::vector(instruction, F::Dst)?, 1)?;
    let mut source = super::build::unused();
    source.offset = cx.constant(&address.to_le_bytes());
    source.data_type = DataType::Uq;
    b.sources = vec![source];
    place.push(b.unary_fixed::<int::Copy, u64>());
    Ok(())
}

fn named_barrier(
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
    if fields::number(instruction, F::Mode)? & 1 == 0 {
        place.plain(Kind::NamedWait(number));
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
    place.plain(Kind::NamedSignal(Box::new(operands)));
    Ok(())
}

fn structured(
    state: &State<'_, '_>,
    instruction: &Instruction,
    flow: &mut Flow,
    place: &mut Place<'_>,
) -> Result<(), Problem> {
    let unbalanced = || Problem::Fault(FaultKind::Unbalanced);
    match instruction.op {
        Op::IF => {
            // Lanes without the predicate jump to ELSE or ENDIF.
            let mut step = branch(state, instruction, |lanes| goto(lanes, true))?;
            if step.predicate.is_none() {
                step.kind = Kind::Nothing;
            }
            flow.open.push(Block::If(vec![place.here()]));
            place.push(step);
        }
        Op::ELSE => {
            let step = branch(state, instruction, |lanes| goto(lanes, false))?;
            let Some(Block::If(steps)) = flow.open.last_mut() else {
                return Err(unbalanced());
            };
            let pending = std::mem::replace(steps, vec![place.here()]);
            place.push(step);
            place.patch(&pending, place.here());
            place.plain(Kind::Join);
        }
        Op::ENDIF => {
            if !matches!(flow.open.last(), Some(Block::If(_))) {
                return Err(unbalanced());
            }
            if let Some(Block::If(pending)) = flow.open.pop() {
                place.patch(&pending, place.here());
            }
            place.plain(Kind::Join);
            place.plain(Kind::Nothing);
        }
        Op::DO => {
            place.plain(Kind::Nothing);
            flow.open.push(Block::Loop {
                start: place.here(),
                breaks: Vec::new(),
                continues: Vec::new(),
            });
        }
        Op::WHILE => {
            let mut step = branch(state, instruction, |lanes| goto(lanes, false))?;
            if !matches!(flow.open.last(), Some(Block::Loop { .. })) {
                return Err(unbalanced());
            }
            if let Some(Block::Loop {
                start,
                breaks,
                continues,
            }) = flow.open.pop()
            {
                place.patch(&continues, place.here());
                place.plain(Kind::Join);
                set_target(&mut step, 0, start);
                place.push(step);
                place.patch(&breaks, place.here());
                place.plain(Kind::Join);
            }
        }
        _ => {
            let step = branch(state, instruction, |lanes| goto(lanes, false))?;
            let here = place.here();
            let innermost = flow.open.iter_mut().rev().find_map(|block| match block {
                Block::Loop {
                    breaks, continues, ..
                } => Some((breaks, continues)),
                Block::If(_) => None,
            });
            let (breaks, continues) = innermost.ok_or_else(unbalanced)?;
            if instruction.op == Op::BREAK {
                breaks.push(here);
            } else {
                continues.push(here);
            }
            place.push(step);
        }
    }
    Ok(())
}
