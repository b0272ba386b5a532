//! Conditionals and loops that name no labels.
//!
//! Versions up to 3.7 have them. Later ones say the same with divergent jumps: lanes that a jump
//! takes along wait at its label for the others. The labels have names that let the structure come
//! back.
//!
//! | structure | jumps and labels |
//! |---|---|
//! | `if (P)` | `(!P) goto else`, or to `endif` where there is no `else` |
//! | `else` | `goto endif`, label `else` |
//! | `endif` | label `endif` |
//! | `do` | label `do` |
//! | `break`, `cont` | `goto end`, `goto while` |
//! | `while (P)` | label `while`, `(P) goto do`, label `end` |

use super::drop_newest;
use crate::edit::{References, placed, retain};
use crate::location::{Reference, Table};
use std::collections::{BTreeMap, BTreeSet};
use visakit_isa::object::{Body, Item, Label, LabelKind, Object};
use visakit_isa::operand::PredicateCombine;
use visakit_isa::semantics::{Flow, Structure};
use visakit_isa::{
    ExecMask, ExecSize, FieldName, Format, Instruction, LabelId, Op, Predicate, StringId, Value,
};

/// The mark at the beginning of the names of the labels.
const MARK: &str = "@";

/// A label that jumps go to, in the structure of some number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Target {
    Else,
    Endif,
    Do,
    While,
    End,
}

const TARGETS: [(Target, &str); 5] = [
    (Target::Else, "else"),
    (Target::Endif, "endif"),
    (Target::Do, "do"),
    (Target::While, "while"),
    (Target::End, "end"),
];

/// Whether the format has structures.
pub(super) fn has(format: Format) -> bool {
    Op::IF.def().exists_in(format)
}

/// The part of a structure that an instruction is.
fn structure(instruction: &Instruction) -> Option<Structure> {
    match instruction.def().flow {
        Flow::Structured(part) => Some(part),
        _ => None,
    }
}

fn jumps_by_lane(instruction: &Instruction) -> bool {
    instruction.def().flow == Flow::Jump { by_lane: true }
}

fn size(instruction: &Instruction) -> ExecSize {
    match instruction.get(FieldName::ExecSize) {
        Some(Value::ExecSize(size)) => *size,
        _ => ExecSize::from_bits(0),
    }
}

fn predicate(instruction: &Instruction) -> Predicate {
    match instruction.get(FieldName::Pred) {
        Some(Value::Predicate(predicate)) => *predicate,
        _ => Predicate::NONE,
    }
}

/// Lanes and mask, for which there may be several codes.
fn meaning(size: ExecSize, format: Format) -> (Option<u8>, Option<ExecMask>) {
    (size.lanes(), size.mask(format))
}

/// The predicate of the other lanes. That of a combination is left alone: no object has one here.
fn inverted(predicate: Predicate) -> Option<Predicate> {
    let plain = !predicate.is_none() && predicate.combine() == PredicateCombine::PerLane;
    plain.then_some(())?;
    Predicate::new(
        predicate.id(),
        PredicateCombine::PerLane,
        !predicate.is_inverted(),
    )
}

fn made(
    op: Op,
    size: ExecSize,
    predicate: Option<Predicate>,
    label: Option<LabelId>,
) -> Item<'static> {
    let mut made = Instruction::new(op).with(FieldName::ExecSize, Value::ExecSize(size));
    if let Some(predicate) = predicate {
        made = made.with(FieldName::Pred, Value::Predicate(predicate));
    }
    if let Some(label) = label {
        made = made.with(FieldName::Label, Value::Label(label));
    }
    made.into()
}

fn goto(size: ExecSize, predicate: Predicate, label: LabelId) -> Item<'static> {
    made(Op::GOTO, size, Some(predicate), Some(label))
}

fn label(id: LabelId) -> Item<'static> {
    let label = Instruction::new(Op::LABEL).with(FieldName::Label, Value::Label(id));
    label.into()
}

/// A structure that is open.
#[derive(Clone, Copy)]
struct Open {
    number: u32,
    /// The index of the instruction that begins it.
    at: usize,
    size: ExecSize,
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    If,
    /// After the `else`.
    Else,
    Loop,
}

/// The innermost structure, which must be one of these.
fn closed(open: &mut Vec<Open>, parts: &[Part]) -> Option<Open> {
    open.pop().filter(|o| parts.contains(&o.part))
}

/// The number of the innermost loop.
fn innermost(open: &[Open]) -> Option<u32> {
    let loops = open.iter().rev().find(|o| o.part == Part::Loop);
    loops.map(|o| o.number)
}

/// Replaces structures by jumps. A routine whose structures are not nested, or cannot be expressed by
/// jumps, is left unchanged.
pub(super) fn lower(object: &mut Object<'_>) {
    let format = object.format();
    for (_, routine) in object.routines_mut() {
        if let Some(body) = routine.body_mut()
            && let Some(lowered) = lowered(body, format)
        {
            *body = lowered;
        }
    }
}

fn lowered<'a>(body: &Body<'a>, format: Format) -> Option<Body<'a>> {
    let is_structure = |i: &Instruction| structure(i).is_some();
    body.instructions().any(is_structure).then_some(())?;
    let mut new = Body {
        code: Vec::new(),
        ..body.clone()
    };
    let mut work = Lowering {
        labels: BTreeMap::new(),
        open: Vec::new(),
        count: 0,
    };
    for item in &body.code {
        match item {
            Item::Instruction(instruction) => work.item(&mut new, instruction, format)?,
            Item::Raw(_) => return None,
        }
    }
    work.open.is_empty().then_some(new)
}

struct Lowering {
    labels: BTreeMap<(u32, Target), LabelId>,
    open: Vec<Open>,
    count: u32,
}

impl Lowering {
    fn label(&mut self, body: &mut Body<'_>, number: u32, target: Target) -> Option<LabelId> {
        if let Some(id) = self.labels.get(&(number, target)) {
            return Some(*id);
        }
        let (_, word) = TARGETS.iter().find(|(t, _)| *t == target)?;
        let id = LabelId(u16::try_from(body.labels.len()).ok()?);
        let name = body.add_string(format!("{MARK}{word}.{number}").into_bytes());
        let kind = LabelKind::BLOCK;
        body.labels.push(Label {
            name,
            kind,
            ..Label::default()
        });
        self.labels.insert((number, target), id);
        Some(id)
    }

    /// Adds the replacement of an instruction.
    fn item(&mut self, body: &mut Body<'_>, item: &Instruction, format: Format) -> Option<()> {
        let size = size(item);
        let same = |open: Open| meaning(size, format) == meaning(open.size, format);
        match structure(item) {
            Some(Structure::If) => {
                self.open(body.code.len(), size, Part::If);
                // The label is known at the `else`, or at the end.
                let others = inverted(predicate(item))?;
                body.code.push(goto(size, others, LabelId(0)));
            }
            Some(Structure::Else) => {
                let open = closed(&mut self.open, &[Part::If])?;
                let end = self.label(body, open.number, Target::Endif)?;
                let other = self.label(body, open.number, Target::Else)?;
                body.code.push(goto(size, Predicate::NONE, end));
                body.code.push(label(other));
                jump_to(body, open.at, other)?;
                let part = Part::Else;
                self.open.push(Open { part, ..open });
            }
            Some(Structure::EndIf) => {
                let open = closed(&mut self.open, &[Part::If, Part::Else]).filter(|o| same(*o))?;
                let end = self.label(body, open.number, Target::Endif)?;
                if open.part == Part::If {
                    jump_to(body, open.at, end)?;
                }
                body.code.push(label(end));
            }
            Some(Structure::Do) => {
                let number = self.open(body.code.len(), size, Part::Loop);
                let start = self.label(body, number, Target::Do)?;
                body.code.push(label(start));
            }
            Some(Structure::While) => {
                let open = closed(&mut self.open, &[Part::Loop]).filter(|o| same(*o))?;
                let start = self.label(body, open.number, Target::Do)?;
                let next = self.label(body, open.number, Target::While)?;
                let end = self.label(body, open.number, Target::End)?;
                body.code.push(label(next));
                body.code.push(goto(size, predicate(item), start));
                body.code.push(label(end));
            }
            Some(part @ (Structure::Break | Structure::Continue)) => {
                let target = match part {
                    Structure::Break => Target::End,
                    _ => Target::While,
                };
                let number = innermost(&self.open)?;
                let target = self.label(body, number, target)?;
                body.code.push(goto(size, predicate(item), target));
            }
            None => body.code.push(item.clone().into()),
        }
        Some(())
    }

    fn open(&mut self, at: usize, size: ExecSize, part: Part) -> u32 {
        let number = self.count;
        self.count += 1;
        self.open.push(Open {
            number,
            at,
            size,
            part,
        });
        number
    }
}

/// Sets the label of the jump at an index.
fn jump_to(body: &mut Body<'_>, at: usize, label: LabelId) -> Option<()> {
    let Some(Item::Instruction(jump)) = body.code.get_mut(at) else {
        return None;
    };
    *jump.get_mut(FieldName::Label)? = Value::Label(label);
    Some(())
}

/// Restores the structures that [`lower`] replaced, unless the jumps were changed otherwise.
pub(super) fn raise(object: &mut Object<'_>) {
    for (_, routine) in object.routines_mut() {
        if let Some(body) = routine.body_mut()
            && let Some(raised) = raised(body)
        {
            *body = raised;
        }
    }
}

/// The parts of a marked name.
fn told(name: &[u8]) -> Option<(u32, Target)> {
    let rest = std::str::from_utf8(name).ok()?.strip_prefix(MARK)?;
    let (word, number) = rest.split_once('.')?;
    let (target, _) = TARGETS.iter().find(|(_, w)| *w == word)?;
    Some((number.parse().ok()?, *target))
}

fn raised<'a>(body: &Body<'a>) -> Option<Body<'a>> {
    let marked = |id: LabelId| {
        let label = body.labels.get(usize::from(id.0))?;
        told(body.string(label.name)?)
    };
    let ids = || (0..=u16::MAX).take(body.labels.len()).map(LabelId);
    let marks: Vec<_> = ids().filter_map(marked).collect();
    let distinct: BTreeSet<_> = marks.iter().collect();
    (!marks.is_empty() && distinct.len() == marks.len()).then_some(())?;
    let mut code: Vec<Item<'a>> = Vec::with_capacity(body.code.len());
    let mut open: Vec<Open> = Vec::new();
    let mut items = body.instructions();
    while let Some(item) = items.next() {
        let jump = match item.get(FieldName::Label) {
            Some(Value::Label(id)) if jumps_by_lane(item) => Some(*id),
            _ => None,
        };
        let Some((number, target)) = placed(item).or(jump).and_then(marked) else {
            code.push(item.clone().into());
            continue;
        };
        let (size, test, at) = (size(item), predicate(item), code.len());
        let begun = |part| Open {
            number,
            at,
            size,
            part,
        };
        let ours = |o: &Open| o.number == number;
        match (jump.is_some(), target) {
            (true, Target::Else | Target::Endif) if !open.iter().any(ours) => {
                let part = match target {
                    Target::Else => Part::If,
                    _ => Part::Else,
                };
                open.push(begun(part));
                code.push(made(Op::IF, size, Some(inverted(test)?), None));
            }
            (true, Target::Endif) => {
                // The jump before the label `else`.
                let next = items.next().and_then(placed).and_then(marked);
                (next == Some((number, Target::Else)) && test.is_none()).then_some(())?;
                let begun = closed(&mut open, &[Part::If]).filter(ours)?;
                let part = Part::Else;
                open.push(Open { part, ..begun });
                code.push(made(Op::ELSE, size, None, None));
            }
            (false, Target::Endif) => {
                let begun = closed(&mut open, &[Part::Else]).filter(ours)?;
                code.push(made(Op::ENDIF, begun.size, None, None));
            }
            (false, Target::Do) => {
                open.push(begun(Part::Loop));
                code.push(made(Op::DO, size, None, None));
            }
            (true, Target::End | Target::While) => {
                (innermost(&open) == Some(number)).then_some(())?;
                let op = match target {
                    Target::End => Op::BREAK,
                    _ => Op::CONT,
                };
                code.push(made(op, size, Some(test), None));
            }
            (false, Target::While) => {
                let begun = closed(&mut open, &[Part::Loop]).filter(ours)?;
                let jump = items.next().filter(|i| jumps_by_lane(i))?;
                let to = match jump.get(FieldName::Label) {
                    Some(Value::Label(id)) => marked(*id),
                    _ => None,
                };
                let end = items.next().and_then(placed).and_then(marked);
                let both = [to, end] == [Target::Do, Target::End].map(|t| Some((number, t)));
                both.then_some(())?;
                let size = self::size(jump);
                *code.get_mut(begun.at)? = made(Op::DO, size, None, None);
                let test = Some(predicate(jump));
                code.push(made(Op::WHILE, size, test, None));
            }
            _ => return None,
        }
    }
    open.is_empty().then_some(())?;
    let mut new = Body {
        code,
        ..body.clone()
    };
    // A label that something else names, such as a jump that was added, has to stay, and all of it with it.
    let names_marked = |r: &Reference| {
        let id = u16::try_from(r.id).map(LabelId);
        r.table == Table::Label && id.is_ok_and(|id| marked(id).is_some())
    };
    let left = References::of(&new);
    (!left.iter().any(|(_, r)| names_marked(r))).then_some(())?;
    let keep: Vec<bool> = ids().map(|id| marked(id).is_none()).collect();
    let of_marked = ids()
        .zip(&body.labels)
        .filter(|(id, _)| marked(*id).is_some());
    let names: Vec<StringId> = of_marked.map(|(_, label)| label.name).collect();
    retain(&mut new, Table::Label, 0, &keep);
    drop_newest(&mut new, &names);
    Some(new)
}
