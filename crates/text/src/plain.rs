//! The plain text of objects: what is said before the routines, and which instructions no ordinary
//! line makes.

use crate::asm;
use crate::line::Line;
use crate::notes::{LabelNote, Notes};
use crate::output::{LineKind as Kindof, Output};
use crate::printer::{Context, Printer, undecoded};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use visakit_isa::object::{
    Alignment, Arrangement, Body, Content, Item, LabelKind, Object, RoutineId,
};
use visakit_isa::operand::{ImmediateOperand, Modifier, PredicateCombine, RegionCode, StateClass};
use visakit_isa::table::{FieldDef, FieldKind, FieldName, Part};
use visakit_isa::{Instruction, LabelId, Op, Predicate, Region, Value, VectorOperand};

/// So often the assembler is asked which lines it does not take.
const ROUNDS: usize = 6;

/// Whether the assembler arranges the pieces of the file in this way by itself.
pub(crate) fn is_default_arrangement(object: &Object<'_>) -> bool {
    match &object.arrangement {
        Arrangement::Custom(_) => false,
        usual => *usual == object.usual_arrangement() || !object.order_matters(),
    }
}

/// Text that is kept, with the ends of its lines.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) text: Vec<u8>,
    pub(crate) ends: Vec<(Kindof, usize)>,
}

impl Output for Kept {
    type Error = core::convert::Infallible;

    fn line(&mut self, kind: Kindof, text: &[u8]) -> Result<(), Self::Error> {
        self.text.extend_from_slice(text);
        self.ends.push((kind, self.text.len()));
        Ok(())
    }
}

impl<'o, 'a> Printer<'o, 'a> {
    pub(crate) fn plain<O: Output>(&self, out: &mut O) -> Result<(), O::Error> {
        let mut line = Line::new();
        self.preamble(&mut line, out)?;
        for (id, _) in self.printed().routines() {
            out.line(Kindof::Header, b"\n")?;
            self.own_routine(id, None, &mut line, out)?;
        }
        Ok(())
    }

    /// Version, dialect and the variables that all routines share.
    pub(crate) fn preamble<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        self.format(line, out)?;
        self.file_variables(line, out)
    }

    /// Version and dialect.
    fn format<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        let object = self.printed();
        line.clear();
        line.text(".version ");
        line.number(object.version.major);
        line.byte(b'.');
        line.number(object.version.minor);
        line.byte(b'\n');
        if object.dialect != visakit_isa::Dialect::default() {
            line.text("//@ dialect ");
            line.text(object.dialect.name());
            line.byte(b'\n');
        }
        if self.says_grf_bytes() {
            line.text("//@ grf_bytes ");
            line.number(self.grf_bytes());
            line.byte(b'\n');
        }
        if object.routines().next().is_none() {
            line.text("//@ no_routines\n");
        }
        out.line(Kindof::Header, line.bytes())
    }

    fn file_variables<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        for variable in &self.printed().file_variables {
            line.clear();
            line.text(".file_decl ");
            line.quoted(variable.name.iter().copied());
            line.text(" type=");
            line.text(variable.properties.data_type().name());
            line.text(" num_elts=");
            line.number(variable.elements);
            match variable.properties.alignment() {
                Alignment(0) => {}
                alignment => {
                    line.text(" align=");
                    match alignment.name() {
                        Some(name) => line.text(name),
                        None => {
                            line.byte(b'#');
                            line.number(alignment.0);
                        }
                    }
                }
            }
            if variable.linkage.0 != 0 {
                line.text(" linkage=");
                line.number(variable.linkage.0);
            }
            for attribute in &variable.attributes {
                line.text(" attr=");
                line.number(attribute.name);
                line.byte(b':');
                line.quoted(attribute.value.iter().copied());
            }
            line.byte(b'\n');
            out.line(Kindof::Declaration, line.bytes())?;
        }
        Ok(())
    }

    /// A routine without what stands before all routines. Where there are no notes, they are made.
    pub(crate) fn own_routine<O: Output>(
        &self,
        id: RoutineId,
        notes: Option<Notes>,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        let object = self.printed();
        let Some(routine) = object.routine(id) else {
            return Ok(());
        };
        line.clear();
        let body = match &routine.content {
            Content::Body(body) => body,
            Content::Raw(raw) => return undecoded(line, out, &routine.name, &raw.reason),
            Content::Missing(reason) => return undecoded(line, out, &routine.name, reason),
        };
        let mut context = self.context(id, body);
        context.notes = match notes {
            Some(notes) => notes,
            None => self.notes(&mut context),
        };
        context.own_text(line, out)
    }

    /// Which instructions of a routine no ordinary line makes, and which labels need a declaration.
    pub(crate) fn notes(&self, context: &mut Context<'_>) -> Notes {
        let mut notes = Notes {
            forced: placed_again(context.body),
            ..Notes::default()
        };
        let doubtful: Vec<usize> = context
            .body
            .code
            .iter()
            .enumerate()
            .filter_map(|(i, item)| match item {
                Item::Instruction(instruction) if !context.is_ordinary(instruction) => Some(i),
                _ => None,
            })
            .filter(|i| !notes.forced.contains(i))
            .collect();
        notes.labels = label_notes(context.body, &notes.forced);
        if doubtful.is_empty() {
            return notes;
        }
        // The assembler tells what it makes of them.
        context.alone = true;
        for round in 0.. {
            if round == ROUNDS {
                notes.forced.extend(&doubtful);
            }
            notes.labels = label_notes(context.body, &notes.forced);
            context.notes = notes;
            let refused = self.refused(context, &doubtful);
            notes = core::mem::take(&mut context.notes);
            let before = notes.forced.len();
            notes.forced.extend(refused);
            if notes.forced.len() == before || round == ROUNDS {
                break;
            }
        }
        context.alone = false;
        notes.labels = label_notes(context.body, &notes.forced);
        notes
    }

    /// The doubtful instructions whose lines the assembler refuses or takes for others. It is shown
    /// what they depend on besides: the declarations and the labels.
    fn refused(&self, context: &Context<'_>, doubtful: &[usize]) -> Vec<usize> {
        let mut line = Line::new();
        let mut kept = Kept::default();
        let Ok(()) = self.format(&mut line, &mut kept);
        let Ok(()) = context.own_header(&mut line, &mut kept);
        let mut shown = Vec::new();
        let mut doubts = doubtful.iter().copied().peekable();
        for (index, item) in context.body.code.iter().enumerate() {
            let is_doubtful = doubts.next_if_eq(&index).is_some();
            let Item::Instruction(instruction) = item else {
                continue;
            };
            let places = matches!(instruction.op, Op::LABEL | Op::SUBROUTINE);
            if is_doubtful || places && !context.notes.forced.contains(&index) {
                line.clear();
                context.instruction(&mut line, index, instruction);
                let Ok(()) = kept.line(Kindof::Instruction(index), line.bytes());
                shown.push(index);
            }
        }
        let options = asm::Options {
            grf_bytes: Some(self.grf_bytes()),
            ..asm::Options::default()
        };
        let made = match asm::assemble(&kept.text, &options) {
            Ok(made) => made,
            Err(faults) => {
                let at = |fault: &asm::Diagnostic| {
                    let place = kept
                        .ends
                        .partition_point(|(_, end)| *end <= fault.span.start);
                    match kept.ends.get(place) {
                        Some((Kindof::Instruction(index), _)) => Some(*index),
                        _ => None,
                    }
                };
                return faults.iter().filter_map(at).collect();
            }
        };
        let Some(code) = body_of(&made).map(|body| &body.code) else {
            return Vec::new();
        };
        let is_other = |index: &usize| {
            let found = shown.binary_search(index).ok().and_then(|i| code.get(i));
            let (Some(Item::Instruction(wanted)), Some(Item::Instruction(found))) =
                (context.body.code.get(*index), found)
            else {
                return true;
            };
            wanted != found && !context.reads_same(wanted, found)
        };
        doubtful.iter().copied().filter(is_other).collect()
    }
}

fn body_of<'o>(object: &'o Object<'_>) -> Option<&'o Body<'o>> {
    let (_, routine) = object.routines().next()?;
    routine.body()
}

impl Context<'_> {
    /// Whether both instructions have the same line, names of labels and strings aside, which are
    /// numbered differently in another object.
    fn reads_same(&self, wanted: &Instruction, found: &Instruction) -> bool {
        if wanted.op != found.op || wanted.fields.len() != found.fields.len() {
            return false;
        }
        let mut found = found.clone();
        for (field, wanted) in found.fields.iter_mut().zip(&wanted.fields) {
            if field.name != wanted.name {
                return false;
            }
            if let Value::Label(_) | Value::String(_) = field.value {
                field.value = wanted.value;
            }
        }
        let (mut a, mut b) = (Line::new(), Line::new());
        self.own_line(&mut a, wanted);
        self.own_line(&mut b, &found);
        a.bytes() == b.bytes()
    }

    /// Whether the line of the instruction certainly means it: the description of its text is plain,
    /// and so are its operands. What is not ordinary is asked of the assembler.
    fn is_ordinary(&self, instruction: &Instruction) -> bool {
        let def = instruction.def();
        let plain = |part: &Part| match part {
            Part::Predicate
            | Part::Mnemonic
            | Part::Saturation
            | Part::Text(_)
            | Part::ExecSize
            | Part::Operands
            | Part::Operand(_)
            | Part::Placed(_)
            | Part::Quoted(_) => true,
            Part::Target(name) | Part::BareTarget(name) => {
                !matches!(instruction.get(*name), Some(Value::Label(id)) if !self.has_label(*id))
            }
            Part::Number(name) => matches!(
                instruction.get(*name),
                Some(Value::U8(_) | Value::U16(_) | Value::U32(_))
            ),
            _ => false,
        };
        def.syntax.parts.iter().all(plain)
            && instruction.fields.iter().all(|field| {
                let field_def = def.fields.iter().find(|f| f.name == field.name);
                field_def.is_some_and(|def| self.is_ordinary_value(def, &field.value))
            })
    }

    fn has_label(&self, id: LabelId) -> bool {
        usize::from(id.0) < self.body.labels.len()
    }

    fn is_ordinary_value(&self, def: &FieldDef, value: &Value) -> bool {
        match value {
            Value::Vector(operand) => is_ordinary_operand(def, operand),
            Value::Raw(operand) => !operand.is_null() || operand.offset == 0,
            Value::ExecSize(size) => size.lanes().is_some() && size.mask(self.format).is_some(),
            Value::Predicate(predicate) => is_ordinary_predicate(*predicate),
            Value::Label(id) => self.has_label(*id),
            Value::String(id) => self.body.string(*id).is_some(),
            Value::U8(_) | Value::U16(_) | Value::U32(_) | Value::I32(_) => true,
            _ => false,
        }
    }
}

fn is_ordinary_predicate(predicate: Predicate) -> bool {
    predicate.is_none()
        || predicate.bits() & 0x1000 == 0 && predicate.combine() != PredicateCombine::Reserved
}

fn is_ordinary_operand(def: &FieldDef, operand: &VectorOperand) -> bool {
    let destination = def.name.is_destination();
    if !def.classes.is_empty() && !def.classes.has(operand.class()) {
        return false;
    }
    match operand {
        VectorOperand::General(o) => is_ordinary_region(o.region, destination),
        VectorOperand::Address(o) => o.width <= 5,
        VectorOperand::Predicate(_) => true,
        VectorOperand::Indirect(o) => {
            (-512..=511).contains(&o.offset) && is_ordinary_region(o.region, destination)
        }
        VectorOperand::Immediate(o) => {
            let ty = o.data_type();
            let taken = def.types.is_empty() || ty.is_packed() || def.types.has(ty);
            let has_form = ImmediateOperand::wire_size(ty).is_some();
            taken && has_form && o.modifier == Modifier::NONE && !destination
        }
        VectorOperand::State(o) => {
            matches!(o.class, StateClass::SURFACE | StateClass::SAMPLER) && o.index <= 0xff
        }
    }
}

fn is_ordinary_region(region: Region, destination: bool) -> bool {
    let most = |code: RegionCode, elements: u8| code.elements().is_none_or(|n| n <= elements);
    let (v, w, h) = (
        region.vertical_stride(),
        region.width(),
        region.horizontal_stride(),
    );
    // One that means nothing is shown as -1, which is read as absent.
    let known = |code: RegionCode| code == RegionCode::ABSENT || code.elements().is_some();
    let rows = destination || v == RegionCode::ABSENT || most(w, 16);
    known(v)
        && known(w)
        && known(h)
        && rows
        && (w == RegionCode::ABSENT && !destination || most(h, 4))
}

/// The instructions that place a label which another one placed before.
fn placed_again(body: &Body<'_>) -> BTreeSet<usize> {
    let mut placed = alloc::vec![false; body.labels.len()];
    let mut again = BTreeSet::new();
    for (i, item) in body.code.iter().enumerate() {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        if !matches!(instruction.op, Op::LABEL | Op::SUBROUTINE) {
            continue;
        }
        let label = match instruction.get(FieldName::Label) {
            Some(Value::Label(id)) => placed.get_mut(usize::from(id.0)),
            _ => None,
        };
        match label {
            Some(placed) if !*placed => *placed = true,
            _ => {
                again.insert(i);
            }
        }
    }
    again
}

/// How labels are used: each bit says that there is such a use.
mod uses {
    /// Placed by LABEL.
    pub(super) const PLACED: u8 = 1;
    /// Placed by SUBROUTINE.
    pub(super) const BEGUN: u8 = 2;
    /// Named by a call.
    pub(super) const CALLED: u8 = 4;
    /// Named otherwise.
    pub(super) const NAMED: u8 = 8;
    /// Named by an instruction that is shown number by number.
    pub(super) const FORCED: u8 = 16;
}

/// Which labels have to be declared, as the assembler would take them for other ones.
pub(crate) fn label_notes(body: &Body<'_>, forced: &BTreeSet<usize>) -> Vec<LabelNote> {
    let mut seen = alloc::vec![0u8; body.labels.len()];
    for (i, item) in body.code.iter().enumerate() {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        let call = |part: &Part| matches!(part, Part::CallTarget(_));
        let bit = match instruction.op {
            _ if forced.contains(&i) => uses::FORCED,
            Op::LABEL => uses::PLACED,
            Op::SUBROUTINE => uses::BEGUN,
            _ if instruction.def().syntax.parts.iter().any(call) => uses::CALLED,
            _ => uses::NAMED,
        };
        for field in &instruction.fields {
            if let (Value::Label(id), FieldKind::Label | FieldKind::Labels) =
                (field.value, kind_of(instruction, field.name))
                && let Some(seen) = seen.get_mut(usize::from(id.0))
            {
                *seen |= bit;
            }
        }
    }
    let note = |(label, seen): (&visakit_isa::object::Label<'_>, u8)| {
        let expected = match label.kind {
            LabelKind::BLOCK => seen & !uses::NAMED == uses::PLACED,
            LabelKind::SUBROUTINE => seen & !uses::CALLED == uses::BEGUN,
            _ => false,
        };
        LabelNote {
            declared: seen != 0 && !expected,
            unplaced: seen & (uses::PLACED | uses::BEGUN) == 0,
        }
    };
    body.labels.iter().zip(seen).map(note).collect()
}

fn kind_of(instruction: &Instruction, name: FieldName) -> FieldKind {
    let field = instruction.def().fields.iter().find(|f| f.name == name);
    field.map_or(FieldKind::Label, |f| f.kind)
}
