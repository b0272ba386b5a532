//! The evaluator: what a program computes, by its tree alone, without a compiler.
//!
//! Work-items of a group run one after the other from meeting to meeting: they share nothing between meetings but what
//! atomic operations change, whose order does not matter.

mod image;

use crate::arithmetic;
use crate::ast::{
    Argument, Atomic, Count, Expr, Function, Id, Kind, Node, OWN, Place, Program, ROW, Reduction,
    Returned, Statement, Together, Variable,
};
use crate::types::{Type, Value};
use std::fmt;

/// Steps that a program may take: expressions and statements of all work-items.
const FUEL: u64 = 16_000_000;

/// Why a program has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// It takes too many steps.
    Long,
    /// Not all work-items of a group reach a meeting.
    Divergent,
    /// A statement is where it cannot be, or names what there is not.
    Malformed,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Long => "runs too long",
            Self::Divergent => "work-items of a group part before they meet",
            Self::Malformed => "the tree is malformed",
        })
    }
}

/// The buffers of a program: arguments of the kernel in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Buffers {
    /// Results of work-items, one for each output.
    pub outputs: Vec<Vec<Value>>,
    /// [`Program::own`].
    pub own: Vec<Vec<Value>>,
    /// [`Program::shared`].
    pub shared: Vec<Vec<Value>>,
    /// [`Program::drawn`].
    pub drawn: Vec<Vec<Value>>,
}

/// What a variable contains.
#[derive(Clone, Debug)]
enum Slot {
    One(Value),
    Many(Vec<Value>),
}

type Frame = Vec<Slot>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

type Result<T> = std::result::Result<T, Undefined>;

/// Computes the buffers after a run.
///
/// # Errors
/// Programs that have no result.
pub fn evaluate(program: &Program) -> Result<Buffers> {
    let data = |b: &crate::ast::Buffer| b.data.clone();
    let mut machine = Machine {
        program,
        fuel: FUEL,
        item: [0; 3],
        own: program.own.iter().map(data).collect(),
        shared: program.shared.iter().map(|s| data(&s.buffer)).collect(),
        drawn: program.drawn.iter().map(|i| i.data.clone()).collect(),
    };
    let mut outputs = vec![Vec::new(); program.outputs.len()];
    for group in 0..program.groups {
        let new = || frame(&program.variables, Vec::new());
        let mut frames: Vec<Frame> = (0..program.local).map(|_| new()).collect();
        machine.group(group, &mut frames, &program.body)?;
        for (local, frame) in (0..).zip(&mut frames) {
            machine.enter(group, local);
            for (output, expr) in outputs.iter_mut().zip(&program.outputs) {
                output.push(arithmetic::number(machine.value(frame, expr)?));
            }
        }
    }
    Ok(Buffers {
        outputs,
        own: machine.own,
        shared: machine.shared,
        drawn: machine.drawn,
    })
}

/// New variables; the first ones are parameters.
fn frame(variables: &[Variable], parameters: Vec<Slot>) -> Frame {
    let mut frame = parameters;
    for variable in variables.iter().skip(frame.len()) {
        let first = || variable.initial.first().copied();
        frame.push(match variable.kind {
            Kind::Plain(ty) => Slot::One(first().unwrap_or(Value::splat(ty, 0))),
            Kind::Counter => Slot::One(Value::splat(Type::UINT, 0)),
            Kind::Array(..) | Kind::Struct(_) => Slot::Many(variable.initial.clone()),
        });
    }
    frame
}

struct Machine<'p> {
    program: &'p Program,
    fuel: u64,
    /// Global, local and group id.
    item: [u32; 3],
    own: Vec<Vec<Value>>,
    shared: Vec<Vec<Value>>,
    drawn: Vec<Vec<Value>>,
}

/// An index modulo a length that is a power of two.
fn index(value: Value, length: usize) -> usize {
    usize::try_from(value.lane(0) & (length.max(1) as u64 - 1)).unwrap_or(0)
}

fn is_true(value: Value) -> bool {
    value.lane(0) != 0
}

impl Machine<'_> {
    fn step(&mut self) -> Result<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Undefined::Long)?;
        Ok(())
    }

    fn enter(&mut self, group: u32, local: u32) {
        self.item = [group * self.program.local + local, local, group];
    }

    /// Runs statements for all work-items of a group.
    fn group(&mut self, group: u32, frames: &mut [Frame], block: &[Statement]) -> Result<()> {
        for statement in block {
            if !statement.meets() {
                for (local, frame) in (0..).zip(frames.iter_mut()) {
                    self.enter(group, local);
                    if self.statement(frame, statement)? != Flow::Next {
                        return Err(Undefined::Malformed);
                    }
                }
                continue;
            }
            match statement {
                Statement::Together(to, value, together) => {
                    self.together(group, frames, *to, value, together)?;
                }
                Statement::If(condition, yes, no) => {
                    let taken = self.agreed(group, frames, condition)?;
                    self.group(group, frames, if taken { yes } else { no })?;
                }
                Statement::Loop {
                    counter,
                    count: Count::Fixed(count),
                    last,
                    body,
                } => {
                    let count = u64::from((*count).max(u8::from(*last)));
                    for number in 0..=count {
                        for frame in frames.iter_mut() {
                            self.step()?;
                            let count = Value::splat(Type::UINT, number);
                            *slot(frame, *counter)? = Slot::One(count);
                        }
                        if number < count {
                            self.group(group, frames, body)?;
                        }
                    }
                }
                _ => return Err(Undefined::Divergent),
            }
        }
        Ok(())
    }

    /// A condition that all work-items agree on.
    fn agreed(&mut self, group: u32, frames: &mut [Frame], condition: &Expr) -> Result<bool> {
        let mut all = Vec::new();
        for (local, frame) in (0..).zip(frames) {
            self.enter(group, local);
            all.push(is_true(self.value(frame, condition)?));
        }
        let first = all.first().copied().unwrap_or(false);
        match all.iter().all(|a| *a == first) {
            true => Ok(first),
            false => Err(Undefined::Divergent),
        }
    }

    fn together(
        &mut self,
        group: u32,
        frames: &mut [Frame],
        to: usize,
        value: &Expr,
        together: &Together,
    ) -> Result<()> {
        let mut values = Vec::new();
        for (local, frame) in (0..).zip(frames.iter_mut()) {
            self.enter(group, local);
            values.push(self.value(frame, value)?);
        }
        let of = |at: usize| values.get(at).copied().ok_or(Undefined::Malformed);
        let mut running: Option<Value> = None;
        for (local, frame) in frames.iter_mut().enumerate() {
            let result = match together {
                Together::Exchange(from) => {
                    self.enter(group, u32::try_from(local).unwrap_or(0));
                    let from = self.value(frame, from)?;
                    of(index(from, values.len()))?
                }
                Together::Matrix(matrix) => {
                    self.enter(group, u32::try_from(local).unwrap_or(0));
                    let column = self.value(frame, &matrix.column)?;
                    let row = self.program.inputs.get(matrix.input);
                    let row = &row.ok_or(Undefined::Malformed)?.data;
                    let value = of(local)?;
                    if value.ty != Type::INT {
                        return Err(Undefined::Malformed);
                    }
                    arithmetic::product(matrix, row, column, value).ok_or(Undefined::Malformed)?
                }
                Together::Block(input) | Together::Block2(input) => {
                    let input = self.program.inputs.get(*input);
                    let data = &input.ok_or(Undefined::Malformed)?.data;
                    let read = *data.get(local).ok_or(Undefined::Malformed)?;
                    let value = of(local)?;
                    if read.ty != value.ty || value.ty.is_vector() {
                        return Err(Undefined::Malformed);
                    }
                    Value::splat(value.ty, read.lane(0) ^ value.lane(0))
                }
                Together::Shuffle(bits) => of(local ^ usize::from(bits & 7))?,
                Together::Reduce(reduction) => {
                    let before = running;
                    running = Some(match running {
                        Some(sum) => reduced(*reduction, sum, of(local)?),
                        None => of(local)?,
                    });
                    match reduction {
                        Reduction::InclusiveAdd => running,
                        Reduction::ExclusiveAdd => {
                            Some(before.unwrap_or(Value::splat(value.ty, 0)))
                        }
                        _ => values
                            .iter()
                            .copied()
                            .reduce(|a, b| reduced(*reduction, a, b)),
                    }
                    .ok_or(Undefined::Malformed)?
                }
            };
            *slot(frame, to)? = Slot::One(result);
        }
        Ok(())
    }

    fn block(&mut self, frame: &mut Frame, block: &[Statement]) -> Result<Flow> {
        for statement in block {
            let flow = self.statement(frame, statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, frame: &mut Frame, statement: &Statement) -> Result<Flow> {
        self.step()?;
        match statement {
            Statement::Assign(place, value) => {
                let value = self.value(frame, value)?;
                self.store(frame, place, value)?;
            }
            Statement::Update(place, op, value) => {
                let old = self.load(frame, place)?;
                let guarded = op.guarded(value);
                let value = self.value(frame, value)?;
                let new = arithmetic::binary(*op, guarded, old, value);
                self.store(frame, place, new)?;
            }
            Statement::If(condition, yes, no) => {
                let taken = is_true(self.value(frame, condition)?);
                return self.block(frame, if taken { yes } else { no });
            }
            Statement::Loop {
                counter,
                count,
                last,
                body,
            } => return self.repeat(frame, *counter, count, *last, body),
            Statement::Break(condition) => {
                if is_true(self.value(frame, condition)?) {
                    return Ok(Flow::Break);
                }
            }
            Statement::Continue(condition) => {
                if is_true(self.value(frame, condition)?) {
                    return Ok(Flow::Continue);
                }
            }
            Statement::Switch(on, branches) => {
                let on = self.value(frame, on)?.number(0);
                let is = |b: &&crate::ast::Branch| b.value.is_none_or(|v| i128::from(v) == on);
                let from = branches.iter().position(|b| is(&b));
                for branch in branches.iter().skip(from.unwrap_or(branches.len())) {
                    match self.block(frame, &branch.body)? {
                        Flow::Next if branch.falls => {}
                        Flow::Next | Flow::Break => break,
                        Flow::Continue => return Ok(Flow::Continue),
                    }
                }
            }
            Statement::Copy(to, from) => {
                let value = slot(frame, *from)?.clone();
                *slot(frame, *to)? = value;
            }
            Statement::Call(to, function, arguments) => {
                let value = self.call(frame, *function, arguments)?;
                *slot(frame, *to)? = value;
            }
            Statement::Atomic(shared, at, value) => {
                let at = self.value(frame, at)?;
                let value = self.value(frame, value)?.lane(0);
                let declared = self.program.shared.get(*shared);
                let op: Atomic = declared.ok_or(Undefined::Malformed)?.atomic;
                let elements = self.shared.get_mut(*shared).ok_or(Undefined::Malformed)?;
                let at = index(at, elements.len());
                let element = elements.get_mut(at).ok_or(Undefined::Malformed)?;
                let new = arithmetic::atomic(op, element.ty.scalar, element.lane(0), value);
                element.set(0, new);
            }
            Statement::Draw(image, value) => {
                let value = self.value(frame, value)?;
                self.draw(*image, value)?;
            }
            Statement::Together(..) => return Err(Undefined::Divergent),
        }
        Ok(Flow::Next)
    }

    fn repeat(
        &mut self,
        frame: &mut Frame,
        counter: usize,
        count: &Count,
        last: bool,
        body: &[Statement],
    ) -> Result<Flow> {
        *slot(frame, counter)? = Slot::One(Value::splat(Type::UINT, 0));
        let mut number = 0_u64;
        loop {
            self.step()?;
            let tested = number > 0 || !last;
            if tested {
                let count = match count {
                    Count::Fixed(count) => u64::from(*count),
                    Count::Modulo8(count) => self.value(frame, count)?.lane(0) & 7,
                };
                if number >= count {
                    return Ok(Flow::Next);
                }
            }
            if self.block(frame, body)? == Flow::Break {
                return Ok(Flow::Next);
            }
            number += 1;
            *slot(frame, counter)? = Slot::One(Value::splat(Type::UINT, number));
        }
    }

    fn call(&mut self, frame: &mut Frame, function: usize, given: &[Argument]) -> Result<Slot> {
        let functions = &self.program.functions;
        let callee: &Function = functions.get(function).ok_or(Undefined::Malformed)?;
        let mut parameters = Vec::new();
        for argument in given {
            parameters.push(match argument {
                Argument::Plain(value) => Slot::One(self.value(frame, value)?),
                Argument::Struct(variable) => slot(frame, *variable)?.clone(),
            });
        }
        let mut inner = self::frame(&callee.variables, parameters);
        if self.block(&mut inner, &callee.body)? != Flow::Next {
            return Err(Undefined::Malformed);
        }
        match &callee.result {
            Returned::Plain(value) => Ok(Slot::One(self.value(&mut inner, value)?)),
            Returned::Struct(variable) => Ok(slot(&mut inner, *variable)?.clone()),
        }
    }

    fn load(&mut self, frame: &mut Frame, place: &Place) -> Result<Value> {
        match place {
            Place::Variable(variable) => one(frame, *variable),
            Place::Lane(variable, lane) => {
                let value = one(frame, *variable)?;
                let bits = value.lane(usize::from(*lane));
                Ok(Value::splat(value.ty.element(), bits))
            }
            Place::Element(variable, at) => {
                let at = self.value(frame, at)?;
                let all = many(frame, *variable)?;
                let at = index(at, all.len());
                all.get(at).copied().ok_or(Undefined::Malformed)
            }
            Place::Field(variable, field) => {
                let all = many(frame, *variable)?;
                let field = all.get(usize::from(*field));
                field.copied().ok_or(Undefined::Malformed)
            }
            Place::Own(buffer, at) => {
                let at = self.value(frame, at)?;
                Ok(*self.own_element(*buffer, at)?)
            }
        }
    }

    fn own_element(&mut self, buffer: usize, at: Value) -> Result<&mut Value> {
        let [global, ..] = self.item;
        let first = usize::try_from(global).unwrap_or(0) * OWN;
        let buffer = self.own.get_mut(buffer).ok_or(Undefined::Malformed)?;
        let element = buffer.get_mut(first + index(at, OWN));
        element.ok_or(Undefined::Malformed)
    }

    fn store(&mut self, frame: &mut Frame, place: &Place, value: Value) -> Result<()> {
        match place {
            Place::Variable(variable) => *slot(frame, *variable)? = Slot::One(value),
            Place::Lane(variable, lane) => {
                let mut whole = one(frame, *variable)?;
                whole.set(usize::from(*lane), value.lane(0));
                *slot(frame, *variable)? = Slot::One(whole);
            }
            Place::Element(variable, at) => {
                let at = self.value(frame, at)?;
                let all = many(frame, *variable)?;
                let at = index(at, all.len());
                *all.get_mut(at).ok_or(Undefined::Malformed)? = value;
            }
            Place::Field(variable, field) => {
                let all = many(frame, *variable)?;
                let field = all.get_mut(usize::from(*field));
                *field.ok_or(Undefined::Malformed)? = value;
            }
            Place::Own(buffer, at) => {
                let at = self.value(frame, at)?;
                *self.own_element(*buffer, at)? = arithmetic::number(value);
            }
        }
        Ok(())
    }

    fn value(&mut self, frame: &mut Frame, expr: &Expr) -> Result<Value> {
        self.step()?;
        let program = self.program;
        Ok(match &expr.node {
            Node::Constant(value) => *value,
            Node::Load(place) => self.load(frame, place)?,
            Node::Input(buffer, at) | Node::Table(buffer, at) => {
                let at = self.value(frame, at)?;
                let from = match &expr.node {
                    Node::Input(..) => &program.inputs,
                    _ => &program.tables,
                };
                let data = &from.get(*buffer).ok_or(Undefined::Malformed)?.data;
                let element = data.get(index(at, data.len())).copied();
                element.ok_or(Undefined::Malformed)?
            }
            Node::Scalar(number) => {
                let scalar = program.scalars.get(*number).copied();
                scalar.ok_or(Undefined::Malformed)?
            }
            Node::Id(id) => {
                let [global, local, group] = self.item;
                let id = match id {
                    Id::Global => global,
                    Id::Local => local,
                    Id::Group => group,
                };
                Value::splat(Type::UINT, id.into())
            }
            Node::Byte(variable, at) => {
                let at = self.value(frame, at)?;
                let all = many(frame, *variable)?;
                let bytes: Vec<u8> = all.iter().flat_map(Value::to_bytes).collect();
                let byte = bytes.get(index(at, bytes.len())).copied().unwrap_or(0);
                Value::splat(expr.ty, byte.into())
            }
            Node::Unary(op, a) => arithmetic::unary(*op, self.value(frame, a)?),
            Node::Binary(op, a, b) => {
                let guarded = op.guarded(b);
                let (a, b) = (self.value(frame, a)?, self.value(frame, b)?);
                arithmetic::binary(*op, guarded, a, b)
            }
            Node::Compare(relation, a, b) => {
                let (a, b) = (self.value(frame, a)?, self.value(frame, b)?);
                arithmetic::compare(*relation, a, b)
            }
            Node::Choose(condition, yes, no) => {
                let taken = is_true(self.value(frame, condition)?);
                self.value(frame, if taken { yes } else { no })?
            }
            Node::Convert(saturate, a) => {
                arithmetic::convert(expr.ty, *saturate, self.value(frame, a)?)
            }
            Node::As(a) => arithmetic::reinterpret(expr.ty, self.value(frame, a)?),
            Node::Call(builtin, arguments) => {
                let mut values = self.values(frame, arguments)?;
                for (number, (value, of)) in values.iter_mut().zip(arguments).enumerate() {
                    *value = arithmetic::guarded(builtin.guard(number, of), *value);
                }
                arithmetic::call(*builtin, expr.ty, &values)
            }
            Node::Swizzle(a, lanes) => {
                let a = self.value(frame, a)?;
                let lane = |l: usize| lanes.get(l).map_or(0, |from| a.lane(usize::from(*from)));
                Value::from_fn(expr.ty, lane)
            }
            Node::Build(parts) => {
                let parts = self.values(frame, parts)?;
                let splat = parts.len() == 1;
                let lane = |l: usize| {
                    let part = parts.get(if splat { 0 } else { l });
                    part.map_or(0, |part| part.lane(0))
                };
                Value::from_fn(expr.ty, lane)
            }
            Node::Pixel(pixel, x, y) => {
                let value = self.pixel(frame, *pixel, [x, y])?;
                if value.ty != expr.ty {
                    return Err(Undefined::Malformed);
                }
                value
            }
            Node::Extent(image, rows) => {
                let image = program.images.get(*image).ok_or(Undefined::Malformed)?;
                let size = if *rows { image.rows() } else { ROW };
                Value::splat(Type::INT, size as u64)
            }
            Node::Function(function, arguments) => match self.call(frame, *function, arguments)? {
                Slot::One(value) => value,
                Slot::Many(_) => return Err(Undefined::Malformed),
            },
        })
    }

    fn values(&mut self, frame: &mut Frame, all: &[Expr]) -> Result<Vec<Value>> {
        all.iter().map(|expr| self.value(frame, expr)).collect()
    }
}

fn reduced(reduction: Reduction, a: Value, b: Value) -> Value {
    let (x, y) = (a.number(0), b.number(0));
    let result = match reduction {
        Reduction::Min => x.min(y),
        Reduction::Max => x.max(y),
        _ => x + y,
    };
    Value::splat(a.ty, a.ty.scalar.wrap(result))
}

fn slot(frame: &mut Frame, variable: usize) -> Result<&mut Slot> {
    frame.get_mut(variable).ok_or(Undefined::Malformed)
}

fn one(frame: &mut Frame, variable: usize) -> Result<Value> {
    match slot(frame, variable)? {
        Slot::One(value) => Ok(*value),
        Slot::Many(_) => Err(Undefined::Malformed),
    }
}

fn many(frame: &mut Frame, variable: usize) -> Result<&mut Vec<Value>> {
    match slot(frame, variable)? {
        Slot::Many(all) => Ok(all),
        Slot::One(_) => Err(Undefined::Malformed),
    }
}
