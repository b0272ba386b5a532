//! Where variables are in use whose address is taken.
//!
//! The addresses of variables have 16 bits. When all these variables together are larger, those that are never in use at
//! once share places, as they share registers on the hardware.

use super::layout::Root;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};
use visakit_isa::object::{Body, Variable};
use visakit_isa::operand::GeneralOperand;
use visakit_isa::semantics::{Callee, Flow};
use visakit_isa::table::FieldName;
use visakit_isa::{
    AddressId, Format, Instruction, LabelId, Op, Predicate, Region, Value, VarId, VectorOperand,
};

/// A run of instructions of a routine.
pub(super) type Life = RangeInclusive<usize>;

/// What an instruction does to a variable.
#[derive(Clone, Debug)]
enum Mention {
    /// It takes its address, or moves it.
    Address,
    /// It reads some of its bytes, or may leave those unwritten that it writes.
    Access { no_mask: bool },
    /// It writes these bytes, those of lanes that are not enabled left out.
    Write { bytes: Range<usize>, no_mask: bool },
}

type Mentions = Vec<(usize, Mention)>;

struct Uses<'b> {
    body: &'b Body<'b>,
    format: Format,
    roots: &'b [Option<(Root, usize)>],
    grf: usize,
    variables: BTreeMap<usize, Mentions>,
    addresses: BTreeMap<AddressId, Mentions>,
    /// The variables that an address variable may point at.
    points: BTreeMap<AddressId, BTreeSet<usize>>,
    /// Address variables, and those that get their values.
    flows: Vec<(AddressId, AddressId)>,
    loops: Vec<Life>,
    /// Calls of subroutines.
    calls: BTreeSet<usize>,
    /// From where on the order of instructions says nothing about when they run: subroutines, structured control flow.
    unordered: Option<usize>,
    placed: BTreeMap<LabelId, usize>,
    /// First instructions of blocks, which run from beginning to end with the same lanes.
    blocks: BTreeSet<usize>,
}

/// From the first to the last instruction that may access a variable, by the numbers of variables. What is in use in a
/// part of a loop is in use in all of it, unless each turn writes all of it first; and in use everywhere if it is at a call of
/// a subroutine, or in one. `None` if that cannot be told.
pub(super) fn lives(
    body: &Body<'_>,
    format: Format,
    roots: &[Option<(Root, usize)>],
    grf: usize,
) -> Option<BTreeMap<usize, Life>> {
    let mut uses = Uses {
        body,
        format,
        roots,
        grf,
        variables: BTreeMap::new(),
        addresses: BTreeMap::new(),
        points: BTreeMap::new(),
        flows: Vec::new(),
        loops: Vec::new(),
        calls: BTreeSet::new(),
        unordered: None,
        placed: BTreeMap::new(),
        blocks: BTreeSet::new(),
    };
    for input in &body.inputs {
        uses.general(VarId(input.index), 0, Mention::Access { no_mask: true });
    }
    for (at, instruction) in body.instructions().enumerate() {
        uses.control(instruction, at);
        uses.points(instruction)?;
        uses.mentions(instruction, at);
    }
    Some(uses.all())
}

impl Uses<'_> {
    /// The variable with storage that another one is in, and where.
    fn root(&self, id: VarId) -> Option<(usize, usize)> {
        match self.roots.get(self.index(id)?).copied().flatten()? {
            (Root::Own(root), offset) => Some((root, offset)),
            _ => None,
        }
    }

    fn index(&self, id: VarId) -> Option<usize> {
        usize::try_from(id.0.checked_sub(self.format.predefined_variable_count())?).ok()
    }

    fn general(&mut self, id: VarId, at: usize, mention: Mention) {
        if let Some((root, _)) = self.root(id) {
            self.variables.entry(root).or_default().push((at, mention));
        }
    }

    /// Notes loops, jumps to labels before them, calls, and blocks.
    fn control(&mut self, instruction: &Instruction, at: usize) {
        let flow = instruction.def().flow;
        let labels = instruction.fields.iter().filter_map(|f| match f.value {
            Value::Label(label) => Some(label),
            _ => None,
        });
        match flow {
            Flow::Label { subroutine } => {
                // The label of the routine itself comes first.
                if subroutine && at > 0 {
                    self.unordered.get_or_insert(at);
                }
                self.placed.extend(labels.map(|label| (label, at)));
            }
            Flow::Structured(_) => self.unordered = Some(0),
            Flow::Call(Callee::Label) => {
                self.calls.insert(at);
            }
            Flow::Jump { .. } | Flow::Switch => {
                let placed = labels.filter_map(|label| self.placed.get(&label));
                self.loops.extend(placed.map(|start| *start..=at));
            }
            Flow::Next | Flow::Marker => return,
            _ => {}
        }
        self.blocks.extend([at, at + 1]);
    }

    /// Notes what addresses point at. They must come from variables or other addresses, and go nowhere else.
    fn points(&mut self, instruction: &Instruction) -> Option<()> {
        let operand = |name| match instruction.get(name) {
            Some(Value::Vector(operand)) => Some(operand),
            _ => None,
        };
        let Some(VectorOperand::Address(to)) = operand(FieldName::Dst) else {
            // An address as a number may come back from anywhere.
            let escapes = instruction
                .fields
                .iter()
                .any(|field| matches!(field.value, Value::Vector(VectorOperand::Address(_))));
            return (!escapes).then_some(());
        };
        match operand(FieldName::Src0)? {
            VectorOperand::General(from) if instruction.op == Op::ADDR_ADD => {
                let root = self.root(from.variable);
                let points = self.points.entry(to.address).or_default();
                points.extend(root.map(|root| root.0));
            }
            VectorOperand::Address(from) => self.flows.push((from.address, to.address)),
            VectorOperand::State(_) if instruction.op == Op::ADDR_ADD => {}
            _ => return None,
        }
        Some(())
    }

    fn mentions(&mut self, instruction: &Instruction, at: usize) {
        let mask = instruction.exec_size().and_then(|s| s.mask(self.format));
        let no_mask = mask.is_none_or(|mask| mask.no_mask);
        let access = Mention::Access { no_mask };
        for field in &instruction.fields {
            match &field.value {
                Value::Vector(VectorOperand::General(operand)) => {
                    let mention = match field.name {
                        FieldName::Dst => self.written(instruction, operand, no_mask),
                        FieldName::Src0 if instruction.op == Op::ADDR_ADD => Some(Mention::Address),
                        _ => None,
                    };
                    self.general(operand.variable, at, mention.unwrap_or(access.clone()));
                }
                Value::Raw(operand) => self.general(operand.variable, at, access.clone()),
                Value::Vector(VectorOperand::Address(operand)) => {
                    let mentions = self.addresses.entry(operand.address).or_default();
                    mentions.push((at, Mention::Address));
                }
                Value::Vector(VectorOperand::Indirect(operand)) => {
                    let mentions = self.addresses.entry(operand.address).or_default();
                    mentions.push((at, access.clone()));
                }
                _ => {}
            }
        }
    }

    /// The bytes that a destination covers, if it has no gaps and no predicate.
    fn written(
        &self,
        instruction: &Instruction,
        to: &GeneralOperand,
        no_mask: bool,
    ) -> Option<Mention> {
        let predicated = instruction
            .fields
            .iter()
            .any(|f| matches!(f.value, Value::Predicate(p) if p != Predicate::NONE));
        let lanes = usize::from(instruction.exec_size()?.lanes()?);
        if predicated || to.region != Region::PACKED_DESTINATION {
            return None;
        }
        let variable = self.body.variables.get(self.index(to.variable)?)?;
        let size = usize::from(variable.properties.data_type().size());
        let (_, offset) = self.root(to.variable)?;
        let start = offset + usize::from(to.row) * self.grf + usize::from(to.column) * size;
        let bytes = start..start + lanes * size;
        Some(Mention::Write { bytes, no_mask })
    }

    /// Whether all mentions are in one block, which writes the whole variable before it reads any of it.
    fn is_local(&self, variable: usize, mentions: &Mentions) -> bool {
        let block = |at: &usize| self.blocks.range(..=*at).next_back();
        let mut blocks = mentions.iter().map(|(at, _)| block(at));
        let first = blocks.next();
        if blocks.any(|other| Some(other) != first) {
            return false;
        }
        let size = self.body.variables.get(variable).map_or(0, Variable::size);
        let mut missing = BTreeSet::from_iter(0..size as usize);
        let mut masked = false;
        for (_, mention) in mentions {
            match mention {
                Mention::Address => {}
                Mention::Write { bytes, no_mask } => {
                    missing.retain(|byte| !bytes.contains(byte));
                    masked |= !no_mask;
                }
                Mention::Access { no_mask } => {
                    if !missing.is_empty() || *no_mask && masked {
                        return false;
                    }
                }
            }
        }
        true
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
            let through = self.addresses.get(address).map_or(&[][..], Vec::as_slice);
            for variable in points {
                let mentions = self.variables.entry(*variable).or_default();
                mentions.extend_from_slice(through);
            }
        }
        let mut variables = std::mem::take(&mut self.variables);
        let lives = variables.iter_mut().filter_map(|(variable, mentions)| {
            // An instruction reads before it writes.
            mentions.sort_by_key(|(at, mention)| (*at, matches!(mention, Mention::Write { .. })));
            let life = mentions.first()?.0..=mentions.last()?.0;
            let local = self.is_local(*variable, mentions);
            Some((*variable, if local { life } else { self.extended(life) }))
        });
        lives.collect()
    }

    /// Extends a life by the loops that it is in a part of; to all instructions if subroutines run in the middle of it.
    fn extended(&self, mut life: Life) -> Life {
        for _ in 0..=self.loops.len() {
            let before = life.clone();
            for turn in &self.loops {
                if life.start() <= turn.end() && turn.start() <= life.end() {
                    life = *life.start().min(turn.start())..=*life.end().max(turn.end());
                }
            }
            if life == before {
                break;
            }
        }
        let calls = self.calls.range(life.clone()).next().is_some();
        if calls || self.unordered.is_some_and(|from| from <= *life.end()) {
            0..=usize::MAX
        } else {
            life
        }
    }
}
