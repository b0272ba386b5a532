//! Where variables are in use whose address is taken.
//!
//! The addresses of variables have 16 bits. When all these variables together are larger, those that are never in use at
//! once share places, as they share registers on the hardware.

use super::layout::Root;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use visakit_isa::object::Body;
use visakit_isa::semantics::{Callee, Flow};
use visakit_isa::table::FieldName;
use visakit_isa::{AddressId, Format, Instruction, LabelId, Op, Value, VarId, VectorOperand};

/// A run of instructions of a routine.
pub(super) type Life = RangeInclusive<usize>;

#[derive(Default)]
struct Uses {
    variables: BTreeMap<usize, Life>,
    addresses: BTreeMap<AddressId, Life>,
    /// The variables that an address variable may point at.
    points: BTreeMap<AddressId, BTreeSet<usize>>,
    /// Address variables, and those that get their values.
    flows: Vec<(AddressId, AddressId)>,
    loops: Vec<Life>,
    placed: BTreeMap<LabelId, usize>,
}

fn extend<K: Ord>(lives: &mut BTreeMap<K, Life>, key: K, by: &Life) {
    let life = lives.entry(key).or_insert_with(|| by.clone());
    *life = *life.start().min(by.start())..=*life.end().max(by.end());
}

/// From the first to the last instruction that may access a variable, by the numbers of variables. What is in use in a
/// part of a loop is in use in all of it. `None` if that cannot be told.
pub(super) fn lives(
    body: &Body<'_>,
    format: Format,
    roots: &[Option<(Root, usize)>],
) -> Option<BTreeMap<usize, Life>> {
    let predefined = format.predefined_variable_count();
    let own = |id: VarId| {
        let index = usize::try_from(id.0.checked_sub(predefined)?).ok()?;
        match roots.get(index).copied().flatten()? {
            (Root::Own(root), _) => Some(root),
            _ => None,
        }
    };
    let mut uses = Uses::default();
    for input in &body.inputs {
        if let Some(root) = own(VarId(input.index)) {
            extend(&mut uses.variables, root, &(0..=0));
        }
    }
    for (at, instruction) in body.instructions().enumerate() {
        uses.control(instruction, at)?;
        uses.points(instruction, &own)?;
        for field in &instruction.fields {
            match &field.value {
                Value::Vector(VectorOperand::General(operand)) => {
                    uses.general(own(operand.variable), at);
                }
                Value::Raw(operand) => uses.general(own(operand.variable), at),
                Value::Vector(VectorOperand::Address(operand)) => {
                    extend(&mut uses.addresses, operand.address, &(at..=at));
                }
                Value::Vector(VectorOperand::Indirect(operand)) => {
                    extend(&mut uses.addresses, operand.address, &(at..=at));
                }
                _ => {}
            }
        }
    }
    Some(uses.all())
}

impl Uses {
    fn general(&mut self, root: Option<usize>, at: usize) {
        if let Some(root) = root {
            extend(&mut self.variables, root, &(at..=at));
        }
    }

    /// Notes loops: jumps to labels before them.
    fn control(&mut self, instruction: &Instruction, at: usize) -> Option<()> {
        let flow = instruction.def().flow;
        let labels = instruction.fields.iter().filter_map(|f| match f.value {
            Value::Label(label) => Some(label),
            _ => None,
        });
        match flow {
            Flow::Label { subroutine: true } | Flow::Structured(_) | Flow::Call(Callee::Label) => {
                return None;
            }
            Flow::Label { .. } => self.placed.extend(labels.map(|label| (label, at))),
            Flow::Jump { .. } | Flow::Switch => {
                let placed = labels.filter_map(|label| self.placed.get(&label));
                self.loops.extend(placed.map(|start| *start..=at));
            }
            _ => {}
        }
        Some(())
    }

    /// Notes what addresses point at. They must come from variables or other addresses, and go nowhere else.
    fn points(
        &mut self,
        instruction: &Instruction,
        own: impl Fn(VarId) -> Option<usize>,
    ) -> Option<()> {
        let operand = |name| match instruction.get(name) {
            Some(Value::Vector(operand)) => Some(operand),
            _ => None,
        };
        let to = operand(FieldName::Dst);
        let Some(VectorOperand::Address(to)) = to else {
            // An address as a number may come back from anywhere.
            let escapes = instruction
                .fields
                .iter()
                .any(|field| matches!(field.value, Value::Vector(VectorOperand::Address(_))));
            return (!escapes).then_some(());
        };
        match operand(FieldName::Src0)? {
            VectorOperand::General(from) if instruction.op == Op::ADDR_ADD => {
                let points = self.points.entry(to.address).or_default();
                points.extend(own(from.variable));
            }
            VectorOperand::Address(from) => self.flows.push((from.address, to.address)),
            VectorOperand::State(_) if instruction.op == Op::ADDR_ADD => {}
            _ => return None,
        }
        Some(())
    }

    fn all(mut self) -> BTreeMap<usize, Life> {
        // Each round passes addresses on by at least one variable, or is the last.
        for _ in 0..=self.flows.len() {
            let mut changed = false;
            for (from, to) in &self.flows {
                let passed = self.points.get(from).cloned().unwrap_or_default();
                let points = self.points.entry(*to).or_default();
                let before = points.len();
                points.extend(passed);
                changed |= points.len() != before;
            }
            if !changed {
                break;
            }
        }
        for (address, points) in &self.points {
            if let Some(life) = self.addresses.get(address) {
                for variable in points {
                    extend(&mut self.variables, *variable, life);
                }
            }
        }
        for life in self.variables.values_mut() {
            for _ in 0..=self.loops.len() {
                let before = life.clone();
                for turn in &self.loops {
                    if life.start() <= turn.end() && turn.start() <= life.end() {
                        *life = *life.start().min(turn.start())..=*life.end().max(turn.end());
                    }
                }
                if *life == before {
                    break;
                }
            }
        }
        self.variables
    }
}
