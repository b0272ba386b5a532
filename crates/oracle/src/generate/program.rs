//! Random programs with divergent control flow.

mod calls;

use super::Case;
use super::edges;
use super::pool::{immediate, predicate_operand};
use fastrand::Rng;
use visakit_isa::object::{
    Alignment, Body, Declaration, Item, Label, LabelKind, Object, Routine, Variable,
    VariableProperties,
};
use visakit_isa::operand::{GeneralOperand, PredicateCombine};
use visakit_isa::{
    DataType, Dialect, ExecMask, ExecSize, FieldName as F, Format, Instruction, LabelId, Op,
    Predicate, PredicateId, Region, Value, VarId, VectorOperand, Version, enums,
};

/// Vector variables that every lane computes with.
const VECTORS: usize = 6;
/// Predicates.
const PREDICATES: u16 = 4;

/// The contents of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// `goto`, `jmp`, `switchjmp` and labels in any order.
    Goto,
    /// Control flow with subroutines.
    Subroutines,
    /// Control flow with functions that may call themselves.
    Functions,
    /// `if`, `else`, `endif`, `do`, `while`, `break`, `cont` of the older versions.
    Structured,
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Goto,
        Self::Subroutines,
        Self::Functions,
        Self::Structured,
    ];
}

/// Writes a routine.
struct Writer<'r> {
    rng: &'r mut Rng,
    format: Format,
    lanes: u8,
    body: Body<'static>,
    sets: Vec<(String, Vec<u8>)>,
    /// Identifiers of predefined variables.
    arg: VarId,
    retval: VarId,
    /// Subroutines of the routine.
    subroutines: Vec<LabelId>,
    /// Functions of the object, by name, and whether this routine may call them freely.
    functions: Vec<String>,
    budget: usize,
}

/// A random program.
#[must_use]
pub fn program(seed: u64, style: Style) -> Case {
    let mut rng = Rng::with_seed(seed);
    let version = if style == Style::Structured {
        Version::V3_6
    } else {
        Version::V4_1
    };
    let format = Format::new(version, Dialect::Writer2018);
    let grf = if rng.bool() { 32 } else { 64 };
    let lanes = *rng.choice(&[8u8, 16, 32]).unwrap_or(&16);
    let all = u32::MAX >> (32 - u32::from(lanes));
    let mask = match rng.u8(..3) {
        0 => all,
        _ => (rng.u32(..) & all).max(1),
    };
    let functions: Vec<String> = if style == Style::Functions {
        (0..rng.usize(1..3)).map(|i| format!("f{i}")).collect()
    } else {
        Vec::new()
    };
    let mut object = Object::new(version, Dialect::Writer2018);
    let mut writer = Writer::new(&mut rng, format, lanes, "kernel");
    writer.functions.clone_from(&functions);
    writer.write_kernel(style);
    let (body, sets) = (writer.body, writer.sets);
    object.kernels.push(Routine::new(&b"kernel"[..], body));
    for (index, name) in functions.iter().enumerate() {
        let mut writer = Writer::new(&mut rng, format, lanes, name);
        writer.functions = functions.get(index..).unwrap_or_default().to_vec();
        writer.write_function();
        let body = writer.body;
        object
            .functions
            .push(Routine::new(name.clone().into_bytes(), body));
    }
    Case {
        object,
        grf,
        mask,
        cr0: 0x4c0,
        sets,
        buffers: Vec::new(),
        addresses: Vec::new(),
        local_bytes: 0,
        bindings: Vec::new(),
        images: Vec::new(),
        counters: Vec::new(),
    }
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng, format: Format, lanes: u8, name: &str) -> Self {
        let predefined = |wanted: &str| {
            let known = format.predefined_variables();
            let index = known.iter().position(|v| v.name == wanted).unwrap_or(0);
            VarId(u32::try_from(index).unwrap_or(0))
        };
        let (arg, retval) = (predefined("arg"), predefined("retval"));
        let mut body = Body::default();
        body.name = body.add_string(name.to_owned().into_bytes());
        let mut writer = Self {
            rng,
            format,
            lanes,
            body,
            sets: Vec::new(),
            arg,
            retval,
            subroutines: Vec::new(),
            functions: Vec::new(),
            budget: 0,
        };
        // The vectors, a counter for each lane, and a scalar counter.
        for _ in 0..VECTORS + 1 {
            writer.variable(usize::from(lanes));
        }
        writer.variable(1);
        for index in 1..=PREDICATES {
            let name = writer.body.add_string(format!("P{index}").into_bytes());
            writer.body.predicates.push(Declaration {
                name,
                elements: 32,
                attributes: Vec::new(),
            });
        }
        writer
    }

    fn variable(&mut self, elements: usize) {
        let index = self.body.variables.len();
        let name = format!("V{}", index + 32);
        let string = self.body.add_string(name.clone().into_bytes());
        self.body.variables.push(Variable {
            name: string,
            properties: VariableProperties::new(DataType::D, Alignment(5)),
            elements: u16::try_from(elements).unwrap_or(1),
            ..Variable::default()
        });
        if index < VECTORS {
            let bytes = edges::fill(self.rng, DataType::D, elements * 4);
            self.sets.push((name, bytes));
        }
    }

    fn id(&self, index: usize) -> VarId {
        VarId(self.format.predefined_variable_count() + u32::try_from(index).unwrap_or(0))
    }

    fn counter(&self) -> VarId {
        self.id(VECTORS)
    }

    fn scalar_counter(&self) -> VarId {
        self.id(VECTORS + 1)
    }

    fn label(&mut self, kind: LabelKind) -> LabelId {
        let index = self.body.labels.len();
        let name = self.body.add_string(format!("L{index}").into_bytes());
        self.body.labels.push(Label {
            name,
            kind,
            attributes: Vec::new(),
        });
        LabelId(u16::try_from(index).unwrap_or(0))
    }

    fn push(&mut self, instruction: Instruction) {
        self.body.code.push(Item::Instruction(instruction));
    }

    fn exec(&self, lanes: u8, first_lane: u8, no_mask: bool) -> Value {
        let mask = ExecMask {
            first_lane,
            no_mask,
        };
        Value::ExecSize(ExecSize::new(lanes, mask, self.format).unwrap_or_default())
    }

    fn all_lanes(&self) -> Value {
        self.exec(self.lanes, 0, false)
    }

    fn source(variable: VarId, scalar: bool) -> Value {
        let region = if scalar {
            Region::SCALAR
        } else {
            Region::source(1, 1, 0).unwrap_or(Region::SCALAR)
        };
        Value::Vector(
            GeneralOperand {
                variable,
                region,
                ..GeneralOperand::default()
            }
            .into(),
        )
    }

    fn destination(variable: VarId) -> Value {
        Value::Vector(
            GeneralOperand {
                variable,
                region: Region::destination(1).unwrap_or(Region::SCALAR),
                ..GeneralOperand::default()
            }
            .into(),
        )
    }

    fn predicate(&mut self) -> Predicate {
        let id = PredicateId(self.rng.u16(1..=PREDICATES));
        let combine = match self.rng.u8(..6) {
            0 => PredicateCombine::Any,
            1 => PredicateCombine::All,
            _ => PredicateCombine::PerLane,
        };
        Predicate::new(id, combine, self.rng.bool()).unwrap_or(Predicate::NONE)
    }

    fn maybe_predicate(&mut self) -> Value {
        Value::Predicate(if self.rng.u8(..3) == 0 {
            self.predicate()
        } else {
            Predicate::NONE
        })
    }

    fn binary(&mut self, op: Op, exec: Value, pred: Value, operands: [Value; 3]) {
        let [dst, a, b] = operands;
        self.push(
            Instruction::new(op)
                .with(F::ExecSize, exec)
                .with(F::Pred, pred)
                .with(F::Dst, dst)
                .with(F::Src0, a)
                .with(F::Src1, b),
        );
    }

    fn mov(&mut self, exec: Value, dst: Value, src: Value) {
        self.push(
            Instruction::new(Op::MOV)
                .with(F::ExecSize, exec)
                .with(F::Pred, Value::Predicate(Predicate::NONE))
                .with(F::Dst, dst)
                .with(F::Src0, src),
        );
    }

    fn compare(&mut self, exec: Value, relation: u8, id: PredicateId, a: Value, b: Value) {
        self.push(
            Instruction::new(Op::CMP)
                .with(F::ExecSize, exec)
                .with(F::RelOp, Value::U8(relation))
                .with(F::Dst, Value::Vector(predicate_operand(id)))
                .with(F::Src0, a)
                .with(F::Src1, b),
        );
    }

    fn any_vector(&mut self) -> VarId {
        let index = self.rng.usize(..VECTORS);
        self.id(index)
    }

    fn number(&mut self) -> Value {
        let bits = edges::bits(self.rng, DataType::D);
        Value::Vector(immediate(DataType::D, bits))
    }

    /// Computes something, often under the mask, sometimes a new predicate.
    fn compute(&mut self) {
        let op = *self
            .rng
            .choice(&[Op::ADD, Op::XOR, Op::AND, Op::MUL, Op::OR, Op::ADD])
            .unwrap_or(&Op::ADD);
        let (a, b, c) = (self.any_vector(), self.any_vector(), self.any_vector());
        match self.rng.u8(..8) {
            0 | 1 => {
                // The last one belongs to the loops of the structured forms.
                let id = PredicateId(self.rng.u16(1..PREDICATES));
                let relation = self.rng.u8(..6);
                let exec = if self.rng.u8(..4) == 0 {
                    self.exec(self.lanes, 0, true)
                } else {
                    self.all_lanes()
                };
                let small = Value::Vector(immediate(DataType::D, self.rng.u64(..4)));
                let other = if self.rng.bool() {
                    small
                } else {
                    Self::source(b, false)
                };
                self.compare(exec, relation, id, Self::source(a, false), other);
            }
            2 => {
                // A scalar that every pass changes, whatever the mask.
                let scalar = self.scalar_counter();
                let exec = self.exec(1, 0, true);
                let one = Value::Vector(immediate(DataType::D, 1));
                self.binary(
                    Op::ADD,
                    exec,
                    Value::Predicate(Predicate::NONE),
                    [Self::destination(scalar), Self::source(scalar, true), one],
                );
            }
            3 if self.lanes == 32 => {
                let exec = self.exec(16, 16, false);
                let half = |v| {
                    let Value::Vector(VectorOperand::General(o)) = Self::source(v, false) else {
                        return Self::source(v, false);
                    };
                    Value::Vector(GeneralOperand { row: 1, ..o }.into())
                };
                let Value::Vector(VectorOperand::General(dst)) = Self::destination(c) else {
                    return;
                };
                let dst = Value::Vector(GeneralOperand { row: 1, ..dst }.into());
                let pred = self.maybe_predicate();
                self.binary(op, exec, pred, [dst, half(a), half(b)]);
            }
            _ => {
                let (exec, pred) = (self.all_lanes(), self.maybe_predicate());
                let second = if self.rng.u8(..3) == 0 {
                    self.number()
                } else {
                    Self::source(b, false)
                };
                self.binary(
                    op,
                    exec,
                    pred,
                    [Self::destination(c), Self::source(a, false), second],
                );
            }
        }
    }

    /// Counts a pass and leaves a predicate that is set for lanes that have not passed too often.
    fn count(&mut self, id: PredicateId) {
        let counter = self.counter();
        let exec = self.all_lanes();
        let one = Value::Vector(immediate(DataType::D, 1));
        self.binary(
            Op::ADD,
            exec,
            Value::Predicate(Predicate::NONE),
            [
                Self::destination(counter),
                Self::source(counter, false),
                one,
            ],
        );
        let limit = Value::Vector(immediate(DataType::D, self.rng.u64(1..7)));
        self.compare(
            exec,
            enums::relation::LT,
            id,
            Self::source(counter, false),
            limit,
        );
    }

    /// Counts the scalar counter and all lanes together.
    fn count_scalar(&mut self, id: PredicateId) {
        let counter = self.scalar_counter();
        let exec = self.exec(1, 0, true);
        let one = Value::Vector(immediate(DataType::D, 1));
        self.binary(
            Op::ADD,
            exec,
            Value::Predicate(Predicate::NONE),
            [Self::destination(counter), Self::source(counter, true), one],
        );
        let limit = Value::Vector(immediate(DataType::D, self.rng.u64(1..9)));
        // One lane is enough for a branch of all of them.
        let lanes = if self.rng.bool() { 1 } else { self.lanes };
        let exec = self.exec(lanes, 0, true);
        self.compare(
            exec,
            enums::relation::LT,
            id,
            Self::source(counter, true),
            limit,
        );
    }

    /// Compares two numbers that all lanes share, of which one may be negative.
    fn decide(&mut self) -> Predicate {
        let id = PredicateId(self.rng.u16(1..PREDICATES));
        let exec = self.exec(1, 0, true);
        let counter = Self::source(self.scalar_counter(), true);
        let vector = self.any_vector();
        let other = match self.rng.u8(..3) {
            0 => self.number(),
            1 => Value::Vector(immediate(DataType::D, self.rng.u64(..4))),
            _ => Self::source(vector, true),
        };
        let relation = self.rng.u8(..6);
        let (a, b) = match self.rng.bool() {
            true => (counter, other),
            false => (other, counter),
        };
        self.compare(exec, relation, id, a, b);
        Predicate::new(id, PredicateCombine::PerLane, self.rng.bool()).unwrap_or(Predicate::NONE)
    }

    fn branch(&mut self, op: Op, exec: Value, pred: Predicate, label: LabelId) {
        self.push(
            Instruction::new(op)
                .with(F::ExecSize, exec)
                .with(F::Pred, Value::Predicate(pred))
                .with(F::Label, Value::Label(label)),
        );
    }

    fn leave(&mut self, op: Op, scalar: bool) {
        let exec = if scalar {
            self.exec(1, 0, false)
        } else {
            self.all_lanes()
        };
        self.push(
            Instruction::new(op)
                .with(F::ExecSize, exec)
                .with(F::Pred, Value::Predicate(Predicate::NONE)),
        );
    }

    fn begin(&mut self) {
        // Counters begin at zero in every lane.
        let zero = Value::Vector(immediate(DataType::D, 0));
        let wide = self.exec(self.lanes, 0, true);
        self.mov(wide, Self::destination(self.counter()), zero);
        let one = self.exec(1, 0, true);
        self.mov(one, Self::destination(self.scalar_counter()), zero);
        for index in 1..=PREDICATES {
            let bits = self.rng.u32(..);
            let exec = self.exec(32, 0, true);
            self.push(
                Instruction::new(Op::SETP)
                    .with(F::ExecSize, exec)
                    .with(F::Dst, Value::Vector(predicate_operand(PredicateId(index))))
                    .with(F::Src0, Value::Vector(immediate(DataType::Ud, bits.into()))),
            );
        }
    }

    fn write_kernel(&mut self, style: Style) {
        self.begin();
        self.budget = 60;
        match style {
            Style::Structured => self.block(3, false),
            _ => {
                if style == Style::Subroutines {
                    for _ in 0..self.rng.usize(1..4) {
                        let label = self.label(LabelKind::SUBROUTINE);
                        self.subroutines.push(label);
                    }
                }
                self.unstructured(10, Op::RET);
            }
        }
        self.leave(Op::RET, true);
        let all = self.subroutines.clone();
        for (index, label) in all.iter().enumerate() {
            // A subroutine calls those after it.
            self.subroutines = all.get(index + 1..).unwrap_or_default().to_vec();
            self.push(Instruction::new(Op::SUBROUTINE).with(F::Label, Value::Label(*label)));
            self.unstructured(4, Op::RET);
            self.leave(Op::RET, false);
        }
    }

    /// Blocks with labels, and branches between them. Lanes go back only as often as their counter
    /// allows.
    fn unstructured(&mut self, blocks: usize, leave: Op) {
        let labels: Vec<LabelId> = (0..blocks).map(|_| self.label(LabelKind::BLOCK)).collect();
        for (index, label) in labels.iter().enumerate() {
            self.push(Instruction::new(Op::LABEL).with(F::Label, Value::Label(*label)));
            for _ in 0..self.rng.usize(..4) {
                self.compute();
            }
            let ahead = labels.get(index + 1..).unwrap_or_default();
            let forward = self.rng.choice(ahead).copied();
            let backward = labels.get(self.rng.usize(..=index)).copied();
            let exec = self.all_lanes();
            match (self.rng.u8(..12), forward, backward) {
                (0..=4, Some(to), _) => {
                    let pred = self.predicate();
                    self.branch(Op::GOTO, exec, pred, to);
                }
                (5, Some(to), _) => self.branch(Op::GOTO, exec, Predicate::NONE, to),
                (6 | 7, _, Some(to)) => {
                    let id = PredicateId(self.rng.u16(1..=PREDICATES));
                    self.count(id);
                    self.branch(Op::GOTO, exec, Predicate::of(id), to);
                }
                (8, _, Some(to)) => {
                    let id = PredicateId(self.rng.u16(1..=PREDICATES));
                    self.count_scalar(id);
                    let op = if self.rng.bool() { Op::JMP } else { Op::GOTO };
                    let exec = self.exec(1, 0, false);
                    self.branch(op, exec, Predicate::of(id), to);
                }
                (9, Some(to), _) => {
                    let exec = self.exec(1, 0, false);
                    let pred = match self.rng.u8(..4) {
                        0 => self.predicate(),
                        1 => Predicate::NONE,
                        _ => self.decide(),
                    };
                    let op = if self.rng.bool() { Op::JMP } else { Op::GOTO };
                    self.branch(op, exec, pred, to);
                }
                (10, Some(_), _) if ahead.len() > 1 => self.switch(ahead),
                _ => {}
            }
            match self.rng.u8(..4) {
                0 => self.call(),
                1 if self.rng.u8(..3) == 0 && index > 1 => {
                    // Some lanes leave early.
                    let (exec, pred) = (self.all_lanes(), self.predicate());
                    self.push(
                        Instruction::new(leave)
                            .with(F::ExecSize, exec)
                            .with(F::Pred, Value::Predicate(pred)),
                    );
                }
                _ => {}
            }
        }
    }

    fn switch(&mut self, ahead: &[LabelId]) {
        let count = ahead.len().min(4);
        let exec = self.exec(1, 0, true);
        let index = Value::Vector(immediate(DataType::Ub, self.rng.u64(..count as u64)));
        let mut instruction = Instruction::new(Op::SWITCHJMP).with(F::ExecSize, exec);
        let def = Op::SWITCHJMP.def();
        if def.fields.iter().any(|f| f.name == F::NumLabels) {
            instruction =
                instruction.with(F::NumLabels, Value::U8(u8::try_from(count).unwrap_or(0)));
        }
        instruction = instruction.with(F::Index, index);
        for label in ahead.iter().take(count) {
            instruction = instruction.with(F::Labels, Value::Label(*label));
        }
        self.push(instruction);
    }

    /// Statements of the older structured forms.
    fn block(&mut self, depth: usize, in_loop: bool) {
        for _ in 0..self.rng.usize(1..5) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            let exec = self.all_lanes();
            let bare = |op| Instruction::new(op).with(F::ExecSize, exec);
            match self.rng.u8(..8) {
                0 | 1 if depth > 0 => {
                    let pred = self.predicate();
                    self.push(bare(Op::IF).with(F::Pred, Value::Predicate(pred)));
                    self.block(depth - 1, in_loop);
                    if self.rng.bool() {
                        self.push(bare(Op::ELSE));
                        self.block(depth - 1, in_loop);
                    }
                    self.push(bare(Op::ENDIF));
                }
                2 | 3 if depth > 0 => {
                    self.push(bare(Op::DO));
                    // Counted before anything can jump to the `while`.
                    let id = PredicateId(PREDICATES);
                    self.count(id);
                    self.block(depth - 1, true);
                    self.push(bare(Op::WHILE).with(F::Pred, Value::Predicate(Predicate::of(id))));
                }
                4 if in_loop => {
                    let pred = self.predicate();
                    let op = *self.rng.choice(&[Op::BREAK, Op::CONT]).unwrap_or(&Op::CONT);
                    self.push(bare(op).with(F::Pred, Value::Predicate(pred)));
                }
                _ => self.compute(),
            }
        }
    }
}
