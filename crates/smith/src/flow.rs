//! Branches, loops and calls. A statement opens or closes a block; blocks nest, so that no jump
//! passes a place where lanes wait.

use crate::choice::Choices;
use crate::config::Classes;
use crate::kernel::{Kernel, immediate};
use crate::rows::of_flow;
use visakit_isa::enums::relation;
use visakit_isa::object::LabelKind;
use visakit_isa::operand::{Modifier, PredicateCombine, PredicateOperand};
use visakit_isa::semantics::{Callee, Flow, Structure};
use visakit_isa::{
    DataType, FieldName, Instruction, LabelId, Op, Predicate, PredicateId, Value, VarId,
    VectorOperand,
};

/// Lanes decide for themselves.
const GOTO: Flow = Flow::Jump { by_lane: true };

/// All lanes, or none.
const JUMP: Flow = Flow::Jump { by_lane: false };

/// Deepest nesting of blocks.
const DEEPEST: usize = 3;

/// Most turns of a loop with all loops around it, so that programs end soon.
const MOST_TURNS: u8 = 64;

/// A block that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block {
    /// Lanes that do not take part wait at the label.
    If { end: LabelId, has_else: bool },
    /// A conditional without labels.
    Structured { has_else: bool },
    /// A counted loop without labels.
    While { counter: VarId },
    /// All lanes skip to the label, or none.
    Skip { end: LabelId },
    /// A counted loop.
    Loop {
        start: LabelId,
        counter: VarId,
        limit: u8,
        divergent: bool,
    },
}

impl Kernel<'_> {
    pub(crate) fn flow(&mut self, choices: &mut Choices<'_>) {
        let open = self.blocks.len() < DEEPEST;
        match choices.below(8) {
            0 | 1 if open => self.open_if(choices),
            2 if open => self.open_skip(choices),
            3 | 4 if open => self.open_loop(choices),
            5 => self.call(choices),
            6 => self.alternative(),
            _ if !self.blocks.is_empty() => self.close(),
            _ => self.open_if(choices),
        }
    }

    fn open_if(&mut self, choices: &mut Choices<'_>) {
        let condition = self.predicate_id(choices);
        // Lanes from one number on: some take part and some do not.
        let bound = u64::try_from(choices.below(usize::from(self.simd))).unwrap_or(0);
        let bound = immediate(DataType::Ud, bound);
        self.push(self.compared_lanes(condition, self.no_mask(self.simd), bound));
        if self.structures(choices) {
            let predicate = Predicate::new(condition, PredicateCombine::PerLane, false);
            let opens = self.bare(Structure::If).with(
                FieldName::Pred,
                Value::Predicate(predicate.unwrap_or_default()),
            );
            self.push(opens);
            self.blocks.push(Block::Structured { has_else: false });
            return;
        }
        let end = self.block_label();
        let inverted = choices.once_in(2);
        self.branch(GOTO, self.simd, Some((condition, inverted)), end);
        self.blocks.push(Block::If {
            end,
            has_else: false,
        });
    }

    /// Turns the block that is open, if it is a divergent one, to its other lanes.
    fn alternative(&mut self) {
        if let Some(Block::Structured { has_else: false }) = self.blocks.last() {
            self.blocks.pop();
            self.push(self.bare(Structure::Else));
            self.blocks.push(Block::Structured { has_else: true });
            return;
        }
        let Some(Block::If {
            end,
            has_else: false,
        }) = self.blocks.last().copied()
        else {
            return;
        };
        self.blocks.pop();
        let after = self.block_label();
        self.branch(GOTO, self.simd, None, after);
        self.place(end);
        self.blocks.push(Block::If {
            end: after,
            has_else: true,
        });
    }

    fn open_skip(&mut self, choices: &mut Choices<'_>) {
        let Some(variable) = self.of_type(DataType::Ud, choices) else {
            return;
        };
        let condition = self.predicate_id(choices);
        let value = self.element(variable, DataType::Ud, 0);
        let limit = immediate(DataType::Ud, choices.u64() & 0xffff_ffff);
        self.push(compared(
            relation::LT,
            condition,
            self.no_mask(1),
            value,
            limit,
        ));
        let end = self.block_label();
        self.branch(JUMP, 1, Some((condition, choices.once_in(2))), end);
        self.blocks.push(Block::Skip { end });
    }

    fn open_loop(&mut self, choices: &mut Choices<'_>) {
        let counter = self.variable(DataType::Ud, 1);
        let zero = self.moved(1, counter, DataType::Ud, 0, immediate(DataType::Ud, 0));
        self.push(zero);
        let most = self.turns_left();
        let by_lane = most >= self.simd;
        if by_lane && self.structures(choices) {
            self.push(self.bare(Structure::Do));
            self.blocks.push(Block::While { counter });
            return;
        }
        let start = self.block_label();
        self.place(start);
        self.blocks.push(Block::Loop {
            start,
            counter,
            limit: (1 + choices.u8() % 4).min(most),
            divergent: by_lane && choices.once_in(2),
        });
    }

    /// Turns that another loop may have in those that are open; at least one.
    fn turns_left(&self) -> u8 {
        self.blocks.iter().fold(MOST_TURNS, |left, block| {
            let turns = match block {
                Block::While { .. }
                | Block::Loop {
                    divergent: true, ..
                } => self.simd,
                Block::Loop { limit, .. } => *limit,
                _ => 1,
            };
            (left / turns.max(1)).max(1)
        })
    }

    fn call(&mut self, choices: &mut Choices<'_>) {
        let Some(label) = choices.of(&self.subroutines) else {
            return;
        };
        let predicate = self.predicate(false, choices);
        // A call of one lane's choice: any and all are for the whole thread.
        let call = Instruction::new(of_flow(Flow::Call(Callee::Label)))
            .with(FieldName::ExecSize, self.masked(self.simd))
            .with(FieldName::Pred, Value::Predicate(predicate))
            .with(FieldName::Label, Value::Label(label));
        self.push(call);
    }

    /// Closes the innermost block.
    pub(crate) fn close(&mut self) {
        let Some(block) = self.blocks.pop() else {
            return;
        };
        match block {
            Block::If { end, .. } | Block::Skip { end } => self.place(end),
            Block::Structured { .. } => self.push(self.bare(Structure::EndIf)),
            Block::While { counter } => {
                self.count_up(counter);
                let again = PredicateId(1);
                let count = self.element(counter, DataType::Ud, 0);
                self.push(self.compared_lanes(again, self.masked(self.simd), count));
                let predicate = Predicate::new(again, PredicateCombine::PerLane, false);
                let closes = self.bare(Structure::While).with(
                    FieldName::Pred,
                    Value::Predicate(predicate.unwrap_or_default()),
                );
                self.push(closes);
            }
            Block::Loop {
                start,
                counter,
                limit,
                divergent,
            } => {
                self.count_up(counter);
                let again = PredicateId(1);
                if divergent {
                    // Lane n goes round n times, or as often as the SIMD size has lanes.
                    let count = self.element(counter, DataType::Ud, 0);
                    self.push(self.compared_lanes(again, self.masked(self.simd), count));
                    self.branch(GOTO, self.simd, Some((again, false)), start);
                } else {
                    let count = self.element(counter, DataType::Ud, 0);
                    let limit = immediate(DataType::Ud, u64::from(limit));
                    self.push(compared(relation::LT, again, self.no_mask(1), count, limit));
                    self.branch(JUMP, 1, Some((again, false)), start);
                }
            }
        }
    }

    /// Whether to use the forms without labels, if the version has them.
    fn structures(&self, choices: &mut Choices<'_>) -> bool {
        self.config.classes.contains(Classes::STRUCTURED)
            && of_flow(Flow::Structured(Structure::While))
                .def()
                .exists_in(self.format)
            && choices.once_in(2)
    }

    /// An instruction for all lanes.
    fn bare(&self, part: Structure) -> Instruction {
        Instruction::new(of_flow(Flow::Structured(part)))
            .with(FieldName::ExecSize, self.masked(self.simd))
    }

    fn count_up(&mut self, counter: VarId) {
        let to = self.destination(counter, DataType::Ud, 0);
        let from = self.element(counter, DataType::Ud, 0);
        let one = immediate(DataType::Ud, 1);
        self.push(self.computed(Op::ADD, 1, to, from, one));
    }

    /// A jump to one of a few arms, each of one statement.
    pub(crate) fn switch(&mut self, choices: &mut Choices<'_>) {
        let Some(variable) = self.of_type(DataType::Ud, choices) else {
            return;
        };
        let arms: Vec<LabelId> = (0..2 + choices.below(3))
            .map(|_| self.block_label())
            .collect();
        let end = self.block_label();
        // The index is a byte: a number of an arm.
        let to = self.destination(self.places, DataType::Ud, 0);
        let from = self.element(variable, DataType::Ud, 0);
        let bit = immediate(DataType::Ud, 1);
        self.push(self.computed(Op::AND, 1, to, from, bit));
        let index = self.index;
        let narrowed = self.moved(
            1,
            index,
            DataType::Ub,
            0,
            self.element(self.places, DataType::Ud, 0),
        );
        self.push(narrowed);
        let mut jump = Instruction::new(of_flow(Flow::Switch))
            .with(FieldName::ExecSize, self.masked(1))
            .with(FieldName::Index, self.element(index, DataType::Ub, 0));
        for label in &arms {
            jump = jump.with(FieldName::Labels, Value::Label(*label));
        }
        self.push(jump);
        for label in arms {
            self.place(label);
            self.arithmetic(choices);
            self.branch(JUMP, 1, None, end);
        }
        self.place(end);
    }

    /// Whether the number of a lane is greater than something.
    fn compared_lanes(&self, into: PredicateId, size: Value, with: Value) -> Instruction {
        let lanes = self.packed(self.lanes, DataType::Ud, 0, self.simd);
        compared(relation::GT, into, size, lanes, with)
    }

    fn branch(&mut self, flow: Flow, lanes: u8, when: Option<(PredicateId, bool)>, to: LabelId) {
        let predicate = match when {
            Some((id, inverted)) => {
                Predicate::new(id, PredicateCombine::PerLane, inverted).unwrap_or_default()
            }
            None => Predicate::NONE,
        };
        let branch = Instruction::new(of_flow(flow))
            .with(FieldName::ExecSize, self.masked(lanes))
            .with(FieldName::Pred, Value::Predicate(predicate))
            .with(FieldName::Label, Value::Label(to));
        self.push(branch);
    }

    fn block_label(&mut self) -> LabelId {
        let name = format!("L{}", self.body.labels.len());
        self.label(&name, LabelKind::BLOCK)
    }

    fn place(&mut self, label: LabelId) {
        let op = of_flow(Flow::Label { subroutine: false });
        self.push(Instruction::new(op).with(FieldName::Label, Value::Label(label)));
    }
}

pub(crate) fn predicate_operand(id: PredicateId) -> Value {
    let predicate = Predicate::new(id, PredicateCombine::PerLane, false).unwrap_or_default();
    Value::Vector(VectorOperand::Predicate(PredicateOperand {
        modifier: Modifier::NONE,
        predicate,
    }))
}

/// A comparison. No column says which operation compares.
fn compared(
    relation: u8,
    into: PredicateId,
    size: Value,
    value: Value,
    with: Value,
) -> Instruction {
    Instruction::new(Op::CMP)
        .with(FieldName::ExecSize, size)
        .with(FieldName::RelOp, Value::U8(relation))
        .with(FieldName::Dst, predicate_operand(into))
        .with(FieldName::Src0, value)
        .with(FieldName::Src1, with)
}
