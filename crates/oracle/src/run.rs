//! Whole routines: control flow by the rule "the enabled lanes with the smallest place run".

use crate::memory::Memory;
use crate::operand::{Lanes, vector};
use crate::rows::{Execution, execution};
use crate::state::{Halt, Locals, Result, Scope, Shared, View};
use crate::value::Precision;
use std::collections::BTreeMap;
use visakit_isa::object::{Item, Object, RoutineId, RoutineKind};
use visakit_isa::semantics::{Callee, Flow, Structure};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, LabelId, Op, StringId, Value as Field};

/// First of the values that `faddr` returns for functions.
const FUNCTIONS: u64 = 0x7000_0000_0000;

/// A call that has not returned.
#[derive(Clone, Debug)]
struct Frame {
    routine: RoutineId,
    /// Place of every lane; `None` for those that have returned or never entered.
    places: [Option<usize>; 32],
    /// The set of variables.
    activation: usize,
}

/// A thread that runs one instruction after the other.
#[derive(Debug)]
pub struct Machine<'a> {
    object: &'a Object<'a>,
    grf: usize,
    frames: Vec<Frame>,
    /// Variables of the activations, the kernel's first.
    pub activations: Vec<Locals>,
    /// Predefined variables.
    pub shared: Shared,
    /// Memory.
    pub memory: Memory,
    /// Instructions run so far, by operation.
    pub counts: BTreeMap<Op, u64>,
    steps: u64,
}

impl<'a> Machine<'a> {
    /// A thread at the first instruction of a kernel.
    ///
    /// # Errors
    /// No such kernel, or not decoded.
    pub fn new(object: &'a Object<'a>, kernel: RoutineId, grf: usize, mask: u32) -> Result<Self> {
        let mut places = [None; 32];
        for (lane, place) in places.iter_mut().enumerate() {
            if mask >> lane & 1 != 0 {
                *place = Some(0);
            }
        }
        let mut machine = Self {
            object,
            grf,
            frames: vec![Frame {
                routine: kernel,
                places,
                activation: 0,
            }],
            activations: Vec::new(),
            shared: Shared::default(),
            memory: Memory::default(),
            counts: BTreeMap::new(),
            steps: 0,
        };
        let scope = machine.scope(kernel)?;
        machine.activations.push(scope.locals());
        machine.shared = Shared::new(&scope);
        Ok(machine)
    }

    /// Types and aliases of a routine.
    ///
    /// # Errors
    /// No such routine, or not decoded.
    pub fn scope(&self, routine: RoutineId) -> Result<Scope<'a>> {
        let body = self.object.routine(routine).and_then(|r| r.body());
        let body = body.ok_or(Halt::Undefined("no such routine"))?;
        Ok(Scope::new(self.object, body, self.grf))
    }

    fn instruction(&self, routine: RoutineId, place: usize) -> Option<&'a Instruction> {
        match self.object.routine(routine)?.body()?.code.get(place)? {
            Item::Instruction(instruction) => Some(instruction),
            Item::Raw(_) => None,
        }
    }

    fn label(&self, routine: RoutineId, label: LabelId) -> Result<usize> {
        let code = &self.scope(routine)?.body.code;
        let is_it = |item: &Item<'_>| match item {
            Item::Instruction(i) => {
                matches!(i.def().flow, Flow::Label { .. })
                    && i.get(F::Label) == Some(&Field::Label(label))
            }
            Item::Raw(_) => false,
        };
        code.iter()
            .position(is_it)
            .ok_or(Halt::Undefined("label that is not defined"))
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// What is undefined or unknown, or more than `limit` steps.
    pub fn run(&mut self, limit: u64) -> Result<()> {
        while let Some(frame) = self.frames.last() {
            let Some(place) = frame.places.iter().copied().flatten().min() else {
                let done = self.frames.pop();
                let called = self.frames.last().map(|f| f.activation);
                if let (Some(done), Some(called)) = (done, called)
                    && done.activation != called
                {
                    self.activations.truncate(done.activation);
                }
                continue;
            };
            let mut running = 0;
            for (lane, at) in frame.places.iter().enumerate() {
                if *at == Some(place) {
                    running |= 1 << lane;
                }
            }
            let routine = frame.routine;
            self.steps += 1;
            if self.steps > limit {
                return Err(Halt::Steps);
            }
            let instruction = self
                .instruction(routine, place)
                .ok_or(Halt::Undefined("end of the routine without return"))?;
            *self.counts.entry(instruction.op).or_default() += 1;
            self.execute(instruction, place, running)?;
        }
        Ok(())
    }

    /// Place of the instruction that runs or has stopped the run.
    #[must_use]
    pub fn place(&self) -> Option<usize> {
        self.frames.last()?.places.iter().copied().flatten().min()
    }

    fn view(&mut self) -> Result<View<'_, 'a>> {
        let frame = self.frames.last().ok_or(Halt::Unknown("no frame"))?;
        let (routine, activation) = (frame.routine, frame.activation);
        let scope = self.scope(routine)?;
        let locals = self
            .activations
            .get_mut(activation)
            .ok_or(Halt::Unknown("no activation"))?;
        Ok(View {
            scope,
            locals,
            shared: &mut self.shared,
        })
    }

    /// Sends lanes to a place; `None` ends them.
    fn send(&mut self, lanes: u32, place: Option<usize>) {
        if let Some(frame) = self.frames.last_mut() {
            for (lane, at) in frame.places.iter_mut().enumerate() {
                if lanes >> lane & 1 != 0 {
                    *at = place;
                }
            }
        }
    }

    /// The running lanes for which a branch is taken.
    fn taken(&mut self, instruction: &Instruction, running: u32) -> Result<u32> {
        let view = self.view()?;
        let lanes = view.lanes(instruction, running)?;
        let bits = view.predication(instruction, lanes)?;
        if lanes.count == 1 {
            return Ok(if bits & 1 != 0 { running } else { 0 });
        }
        Ok((lanes.mask & bits) << lanes.first & running)
    }

    fn execute(&mut self, instruction: &'a Instruction, place: usize, running: u32) -> Result<()> {
        let frame = self.frames.last().ok_or(Halt::Unknown("no frame"))?;
        let (routine, activation) = (frame.routine, frame.activation);
        let next = Some(place + 1);
        match instruction.def().flow {
            Flow::Jump { .. } => {
                let target = self.label_of(instruction, routine)?;
                let taken = self.taken(instruction, running)?;
                self.send(running & !taken, next);
                self.send(taken, Some(target));
            }
            Flow::Switch => {
                let operand = vector(instruction, F::Index)?;
                let index = self.view()?.scalar_integer(&operand)?;
                let label = usize::try_from(index)
                    .ok()
                    .and_then(|i| instruction.all(F::Labels).nth(i));
                let Some(Field::Label(label)) = label else {
                    return Err(Halt::Undefined("index of switchjmp"));
                };
                let target = self.label(routine, *label)?;
                self.send(running, Some(target));
            }
            Flow::Call(Callee::Label) => {
                let target = self.label_of(instruction, routine)?;
                let entering = self.taken(instruction, running)?;
                self.send(running, next);
                self.enter(routine, target, entering, activation);
            }
            Flow::Call(Callee::Name) => {
                let called = self.function(instruction)?;
                self.call(called, instruction, running, next)?;
            }
            Flow::Call(Callee::Address) => {
                let operand = vector(instruction, F::FuncAddr)?;
                let element = self.view()?.scalar(&operand)?;
                let index = element.bits.checked_sub(FUNCTIONS);
                let index = index.and_then(|i| usize::try_from(i / 16).ok());
                let index = index.ok_or(Halt::Undefined("call of no function"))?;
                let called = RoutineId::new(RoutineKind::Function, index);
                self.call(called, instruction, running, next)?;
            }
            Flow::Return { .. } => {
                let leaving = self.taken(instruction, running)?;
                self.send(running & !leaving, next);
                self.send(leaving, None);
            }
            Flow::Next | Flow::Marker | Flow::Label { .. } => {
                if let Execution::Flow = execution(instruction.op) {
                    let Some(Field::String(name)) = instruction.get(F::Symbol) else {
                        return Err(Halt::Unknown("symbol"));
                    };
                    let called = self.named(*name)?;
                    let address = FUNCTIONS + called.index as u64 * 16;
                    let dst = vector(instruction, F::Dst)?;
                    let mut view = self.view()?;
                    let (at, ty) = view.destination_place(&dst, 0)?;
                    view.write(at, address, ty, Precision::Undefined)?;
                } else {
                    self.compute(instruction, running)?;
                }
                self.send(running, next);
            }
            Flow::Structured(part) => {
                self.structured(instruction, part, place, running)?;
            }
        }
        Ok(())
    }

    fn label_of(&self, instruction: &Instruction, routine: RoutineId) -> Result<usize> {
        match instruction.get(F::Label) {
            Some(Field::Label(label)) => self.label(routine, *label),
            _ => Err(Halt::Unknown("label")),
        }
    }

    fn named(&self, name: StringId) -> Result<RoutineId> {
        let frame = self.frames.last().ok_or(Halt::Unknown("no frame"))?;
        let scope = self.scope(frame.routine)?;
        let name = scope.body.string(name).ok_or(Halt::Undefined("name"))?;
        self.object
            .functions
            .iter()
            .position(|f| *f.name == *name)
            .map(|index| RoutineId::new(RoutineKind::Function, index))
            .ok_or(Halt::Undefined("no function of that name"))
    }

    fn function(&self, instruction: &Instruction) -> Result<RoutineId> {
        match instruction.get(F::FuncName) {
            Some(Field::String(name)) => self.named(*name),
            _ => Err(Halt::Unknown("name of the function")),
        }
    }

    fn call(
        &mut self,
        called: RoutineId,
        instruction: &Instruction,
        running: u32,
        next: Option<usize>,
    ) -> Result<()> {
        let entering = self.taken(instruction, running)?;
        self.send(running, next);
        if entering != 0 {
            let locals = self.scope(called)?.locals();
            self.activations.push(locals);
            let activation = self.activations.len() - 1;
            self.enter(called, 0, entering, activation);
        }
        Ok(())
    }

    fn enter(&mut self, routine: RoutineId, place: usize, entering: u32, activation: usize) {
        let mut places = [None; 32];
        for (lane, at) in places.iter_mut().enumerate() {
            if entering >> lane & 1 != 0 {
                *at = Some(place);
            }
        }
        self.frames.push(Frame {
            routine,
            places,
            activation,
        });
    }

    /// Everything except control flow.
    fn compute(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let mut memory = std::mem::take(&mut self.memory);
        let result = self
            .view()
            .and_then(|mut view| match execution(instruction.op) {
                Execution::Message(function) => {
                    function(&mut memory, &mut view, instruction, running)
                }
                _ => view.step(instruction, running),
            });
        self.memory = memory;
        result
    }

    /// The retired structured forms: every part knows its partners by counting.
    fn structured(
        &mut self,
        instruction: &Instruction,
        part: Structure,
        place: usize,
        running: u32,
    ) -> Result<()> {
        let routine = self.frames.last().ok_or(Halt::Unknown("no frame"))?.routine;
        let next = Some(place + 1);
        match part {
            Structure::If => {
                let taken = self.taken(instruction, running)?;
                let other = self.forward(routine, place, &[Structure::Else, Structure::EndIf])?;
                self.send(taken, next);
                self.send(running & !taken, Some(other + 1));
            }
            Structure::Else => {
                let end = self.forward(routine, place, &[Structure::EndIf])?;
                self.send(running, Some(end));
            }
            Structure::While => {
                let taken = self.taken(instruction, running)?;
                let mut depth = 0usize;
                let mut at = place;
                let start = loop {
                    at = at
                        .checked_sub(1)
                        .ok_or(Halt::Undefined("while without do"))?;
                    match self.part(routine, at) {
                        Some(Structure::While) => depth += 1,
                        Some(Structure::Do) if depth == 0 => break at,
                        Some(Structure::Do) => depth -= 1,
                        _ => {}
                    }
                };
                self.send(running & !taken, next);
                self.send(taken, Some(start));
            }
            Structure::Break | Structure::Continue => {
                let taken = self.taken(instruction, running)?;
                let end = self.forward(routine, place, &[Structure::While])?;
                let leaves = part == Structure::Break;
                self.send(running & !taken, next);
                self.send(taken, Some(if leaves { end + 1 } else { end }));
            }
            Structure::EndIf | Structure::Do => self.send(running, next),
        }
        Ok(())
    }

    fn part(&self, routine: RoutineId, place: usize) -> Option<Structure> {
        match self.instruction(routine, place)?.def().flow {
            Flow::Structured(part) => Some(part),
            _ => None,
        }
    }

    /// The next of these parts of the same block.
    fn forward(&self, routine: RoutineId, place: usize, wanted: &[Structure]) -> Result<usize> {
        let unbalanced = Halt::Undefined("unbalanced structured control flow");
        let (opens, closes) = if wanted.contains(&Structure::While) {
            (Structure::Do, Structure::While)
        } else {
            (Structure::If, Structure::EndIf)
        };
        let mut depth = 0usize;
        let mut at = place;
        loop {
            at += 1;
            self.instruction(routine, at).ok_or(unbalanced.clone())?;
            let Some(part) = self.part(routine, at) else {
                continue;
            };
            if depth == 0 && wanted.contains(&part) {
                return Ok(at);
            }
            if part == opens {
                depth += 1;
            } else if part == closes {
                depth = depth.checked_sub(1).ok_or(unbalanced.clone())?;
            }
        }
    }
}

/// Enabled lanes of a message: execution mask and predicate.
///
/// # Errors
/// Codes without meaning.
pub fn message_lanes(
    view: &View<'_, '_>,
    instruction: &Instruction,
    running: u32,
) -> Result<Lanes> {
    let mut lanes = view.lanes(instruction, running)?;
    lanes.mask &= view.predication(instruction, lanes)?;
    Ok(lanes)
}
