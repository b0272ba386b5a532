//! What has to be known about a routine before its first line is written: how its labels are shown, and
//! which strings its names will take.

use super::Context;
use super::code::InstructionLines;
use super::exact::Strings;
use super::line::Line;
use super::reading::Mention;
use crate::language::pool::{initial, string};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{Attribute, Item, Label, LabelKind, Routine};
use visakit_isa::table::{FieldKind, InstructionDef, Part};
use visakit_isa::{Instruction, LabelId, StringId, Value};

/// How a label is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LabelNote {
    /// It has its own line before the instructions.
    pub(crate) declared: bool,
    /// No line places it.
    pub(crate) unplaced: bool,
}

/// What a routine's lines depend on.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Instructions that name labels or strings and have to be written number by number, ascending.
    forced: Vec<usize>,
    /// One for each label.
    pub(crate) labels: Vec<LabelNote>,
    /// The labels and strings that the instructions name, in text order.
    mentions: Vec<Mention>,
}

/// How labels are used, one bit for each kind of use.
mod uses {
    /// Placed as a label.
    pub(super) const PLACED: u8 = 1;
    /// Placed as a subroutine.
    pub(super) const BEGUN: u8 = 2;
    /// Named by a call.
    pub(super) const CALLED: u8 = 4;
    /// Named otherwise.
    pub(super) const NAMED: u8 = 8;
    /// Named by an instruction that is shown number by number.
    pub(super) const FORCED: u8 = 16;
}

/// What an instruction of this row does with the labels that it names.
fn label_use(def: &InstructionDef) -> u8 {
    let of = |part: &Part| match part {
        Part::Placed(_) => Some(uses::PLACED),
        Part::Subroutine(_) => Some(uses::BEGUN),
        Part::CallTarget(_) => Some(uses::CALLED),
        _ => None,
    };
    def.syntax.parts.iter().find_map(of).unwrap_or(uses::NAMED)
}

fn names_something(def: &InstructionDef) -> bool {
    let kind = |kind: FieldKind| {
        matches!(
            kind,
            FieldKind::Label
                | FieldKind::Labels
                | FieldKind::StringIndex
                | FieldKind::StringIndex16
        )
    };
    def.fields.iter().any(|f| kind(f.kind))
}

fn labels(instruction: &Instruction) -> impl Iterator<Item = LabelId> + '_ {
    instruction.fields.iter().filter_map(|f| match f.value {
        Value::Label(id) => Some(id),
        _ => None,
    })
}

impl Plan {
    pub(super) fn of(context: &Context<'_>, lines: &mut InstructionLines) -> Self {
        let count = context.body.labels.len();
        let mut plan = Self::default();
        let mut placed = alloc::vec![false; count];
        let mut seen = alloc::vec![0u8; count];
        let mut line = Line::default();
        for (i, item) in context.body.code.iter().enumerate() {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            let def = instruction.def();
            if !names_something(def) {
                continue;
            }
            let usual = label_use(def);
            // A label can be placed only once.
            let again = usual & (uses::PLACED | uses::BEGUN) != 0
                && !labels(instruction).next().is_some_and(|id| {
                    let placed = placed.get_mut(usize::from(id.0));
                    placed.is_some_and(|placed| !core::mem::replace(placed, true))
                });
            line.clear();
            let is_forced = again || lines.write(context, &mut line, instruction).is_none();
            if is_forced {
                plan.forced.push(i);
                plan.mentions
                    .extend(numbered_mentions(context, instruction));
            } else {
                plan.mentions.extend(&lines.reading.mentions);
            }
            let bit = if is_forced { uses::FORCED } else { usual };
            for id in labels(instruction) {
                if let Some(seen) = seen.get_mut(usize::from(id.0)) {
                    *seen |= bit;
                }
            }
        }
        let notes = context.body.labels.iter().zip(seen);
        plan.labels = notes.map(|(label, seen)| note(label, seen)).collect();
        plan
    }

    /// Whether an instruction that names something is written number by number.
    pub(super) fn is_forced(&self, index: usize) -> bool {
        !self.forced.is_empty() && self.forced.binary_search(&index).is_ok()
    }

    /// The strings that the names of a routine take. If the labels or strings would not come out as in the
    /// object, all labels are declared, and the string pool is stated.
    pub(super) fn strings<'o>(
        &self,
        context: &mut Context<'o>,
        routine: &'o Routine<'o>,
    ) -> Strings<'o> {
        let names = Names {
            routine,
            mentions: &self.mentions,
        };
        if !names.labels_come_in_order(context) {
            declare_all(&mut context.labels);
        }
        if names.fill_the_usual_pool(context) {
            return Strings::usual();
        }
        let mut strings = Strings::stated(&context.body.strings);
        let mut labels = context.labels.iter();
        if !self.mentions.iter().any(|m| matches!(m, Mention::Label(_)))
            || labels.all(|note| note.declared)
        {
            return strings;
        }
        // The name of a label without its own line cannot be changed.
        let fit = names.each(context, &mut |text, wanted, has_line| {
            strings.take(text, wanted) == wanted || has_line
        });
        strings.restart();
        if !fit {
            declare_all(&mut context.labels);
        }
        strings
    }
}

/// Which labels have to be declared, as the assembler would otherwise confuse them with others.
fn note(label: &Label<'_>, seen: u8) -> LabelNote {
    let expected = match label.kind {
        LabelKind::BLOCK => seen & !uses::NAMED == uses::PLACED,
        LabelKind::SUBROUTINE => seen & !uses::CALLED == uses::BEGUN,
        _ => false,
    };
    LabelNote {
        declared: seen != 0 && !expected,
        unplaced: seen & (uses::PLACED | uses::BEGUN) == 0,
    }
}

fn declare_all(labels: &mut [LabelNote]) {
    for label in labels {
        label.declared = true;
    }
}

/// The strings named by an instruction that is written number by number. Its labels are declared.
pub(super) fn numbered_mentions<'i>(
    context: &Context<'_>,
    instruction: &'i Instruction,
) -> impl Iterator<Item = Mention> + use<'i> {
    let count = context.body.strings.len();
    let known = move |id: &StringId| usize::try_from(id.0).is_ok_and(|id| id < count);
    let strings = instruction.fields.iter().filter_map(|f| match f.value {
        Value::String(id) => Some(id),
        _ => None,
    });
    strings.filter(known).map(Mention::String)
}

/// The names of a routine, in text order.
struct Names<'n, 'o> {
    routine: &'o Routine<'o>,
    mentions: &'n [Mention],
}

impl<'o> Names<'_, 'o> {
    /// Whether the assembler would create the labels in this order.
    fn labels_come_in_order(&self, context: &Context<'o>) -> bool {
        let body = context.body;
        let mut known: Vec<bool> = context.labels.iter().map(|note| note.declared).collect();
        let declared = known.iter().enumerate().filter(|(_, declared)| **declared);
        let mut next = 0;
        for (i, _) in declared {
            if i != next {
                return false;
            }
            next += 1;
        }
        for mention in self.mentions {
            let Mention::Label(id) = mention else {
                continue;
            };
            let index = usize::from(id.0);
            let (Some(known), Some(label)) = (known.get_mut(index), body.labels.get(index)) else {
                continue;
            };
            if core::mem::replace(known, true) {
                continue;
            }
            let name = context.names.labels.get(index).map(AsRef::as_ref);
            let as_stored = name == Some(string(body, label.name)) && label.attributes.is_empty();
            if index != next || !as_stored {
                return false;
            }
            next += 1;
        }
        next == body.labels.len()
    }

    /// Whether assemblers would build this pool from these names.
    fn fill_the_usual_pool(&self, context: &Context<'o>) -> bool {
        let stored = &context.body.strings;
        let mut next = 0usize;
        for text in initial(Cow::Borrowed(&self.routine.name), context.format) {
            if stored.get(next) != Some(&text) {
                return false;
            }
            next += 1;
        }
        // The first of them is the name of the routine.
        let mut is_first = true;
        let complete = self.each(context, &mut |text, wanted, _| {
            if core::mem::take(&mut is_first) {
                return wanted == StringId(0);
            }
            let index = u32::try_from(next);
            let same = index == Ok(wanted.0) && stored.get(next) == Some(&text);
            next += 1;
            same
        });
        complete && next == stored.len()
    }

    /// Visits every name with its string, and whether it has a line that a change can be attached to,
    /// until `see` returns false.
    fn each(
        &self,
        context: &Context<'o>,
        see: &mut dyn FnMut(Cow<'o, [u8]>, StringId, bool) -> bool,
    ) -> bool {
        let body = context.body;
        let name = Cow::Borrowed(self.routine.name.as_ref());
        let name = crate::language::pool::in_pool(name);
        let names = &context.names;
        let attributes = |list: &'o [Attribute<'o>], see: &mut dyn FnMut(_, _, _) -> bool| {
            list.iter()
                .all(|a| see(Cow::Borrowed(string(body, a.name)), a.name, true))
        };
        let variables = body.variables.iter().zip(&names.variables);
        let tables = [
            (&body.addresses, &names.addresses),
            (&body.predicates, &names.predicates),
            (&body.samplers, &names.samplers),
            (&body.surfaces, &names.surfaces),
        ];
        let mut declarations = tables
            .into_iter()
            .flat_map(|(list, names)| list.iter().zip(names));
        let labels = body.labels.iter().zip(&names.labels).zip(&context.labels);
        let mut declared = labels.filter(|(_, note)| note.declared);
        see(name, body.name, true)
            && variables
                .into_iter()
                .all(|(v, name)| see(name.clone(), v.name, true) && attributes(&v.attributes, see))
            && declarations
                .all(|(d, name)| see(name.clone(), d.name, true) && attributes(&d.attributes, see))
            && declared.all(|((l, name), _)| {
                see(name.clone(), l.name, true) && attributes(&l.attributes, see)
            })
            && attributes(&body.attributes, see)
            && self.mentioned(context, see)
    }

    /// The names in instructions.
    fn mentioned(
        &self,
        context: &Context<'o>,
        see: &mut dyn FnMut(Cow<'o, [u8]>, StringId, bool) -> bool,
    ) -> bool {
        let body = context.body;
        let mut known: Vec<bool> = context.labels.iter().map(|note| note.declared).collect();
        self.mentions.iter().all(|mention| match mention {
            Mention::String(id) => see(Cow::Borrowed(string(body, *id)), *id, true),
            Mention::Label(id) => {
                let index = usize::from(id.0);
                let is_known = known
                    .get_mut(index)
                    .map(|known| core::mem::replace(known, true));
                match (
                    is_known,
                    body.labels.get(index),
                    context.names.labels.get(index),
                ) {
                    (Some(false), Some(label), Some(name)) => see(name.clone(), label.name, false),
                    _ => true,
                }
            }
        })
    }
}
