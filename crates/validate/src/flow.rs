//! Labels, jumps and calls.

use crate::checker::{Checker, Code, Turn};
use crate::report::{Location, Scope};
use crate::rule::Rule;
use crate::rules;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use visakit_isa::object::{LabelKind, RoutineKind};
use visakit_isa::semantics::{Callee, Flow, Structure};
use visakit_isa::{
    AnyInstruction, ExecSize, FieldName, Instruction, InstructionDef, LabelId, Value,
};

/// The place of a label.
#[derive(Clone, Copy)]
struct Placed {
    /// The subroutine that it begins or lies in; 0 is the part before the first one.
    part: usize,
    /// Whether it begins a subroutine.
    begins: bool,
}

/// A use of a label.
struct Use {
    location: Location,
    /// Whether it is called; otherwise it is jumped to.
    called: bool,
    label: LabelId,
    /// The part that the instruction lies in.
    part: usize,
}

/// A construct of structured control flow that is open.
type Open = (Structure, &'static InstructionDef, Location);

/// State of the walk through the code.
struct Walk<'c> {
    /// Labels that something refers to.
    used: Vec<bool>,
    labels: Vec<Option<Placed>>,
    uses: Vec<Use>,
    open: Vec<Open>,
    /// How many of them are loops.
    loops: usize,
    part: usize,
    /// The label of each part; the first part has none.
    parts: Vec<Option<LabelId>>,
    /// The last instruction with an effect, and whether control continues after it.
    last: Option<(Location, bool)>,
    /// Whether some of the code did not decode.
    cut: bool,
    /// Names of the functions of the object, once something calls by name.
    names: Option<BTreeSet<&'c [u8]>>,
}

pub(crate) fn check(checker: &mut Checker<'_, '_>) {
    let turns = core::mem::take(&mut checker.turns);
    let mut walk = Walk {
        used: used_labels(checker, &turns),
        labels: alloc::vec![None; checker.body.labels.len()],
        uses: Vec::new(),
        open: Vec::new(),
        loops: 0,
        part: 0,
        parts: Vec::from([None]),
        last: None,
        cut: false,
        names: None,
    };
    let whole = Location::of_routine(checker.id);
    let instruction_at = |number, op| Location {
        scope: Scope::Instruction {
            number,
            op: Some(op),
        },
        ..whole
    };
    for turn in &turns {
        if let (Some(op), Some(number)) = (turn.before, turn.number.checked_sub(1)) {
            walk.last = Some((instruction_at(number, op), true));
        }
        match turn.what {
            Code::Instruction(instruction) => {
                let location = instruction_at(turn.number, instruction.op);
                step(checker, &mut walk, instruction, location);
            }
            Code::Raw => walk.cut = true,
            Code::End => {}
        }
    }
    for (_, def, location) in core::mem::take(&mut walk.open) {
        let name = def.mnemonic();
        let message = || format!("{name} is never closed");
        checker.sink.add(&rules::NESTING, location, message);
    }
    no_return(checker, &walk, "the last instruction goes on after the end");
    targets(checker, &walk);
    recursion(checker, &walk);
}

/// The last instruction of a routine or subroutine does not continue.
fn no_return(checker: &mut Checker<'_, '_>, walk: &Walk<'_>, message: &str) {
    if let Some((last, true)) = walk.last
        && !walk.cut
    {
        let message = || message.to_string();
        checker.sink.add(&rules::NO_RETURN, last, message);
    }
}

fn used_labels(checker: &Checker<'_, '_>, turns: &[Turn<'_>]) -> Vec<bool> {
    let mut used = alloc::vec![false; checker.body.labels.len()];
    for turn in turns {
        let Code::Instruction(instruction) = turn.what else {
            continue;
        };
        if matches!(instruction.def().flow, Flow::Label { .. }) {
            continue;
        }
        for field in &instruction.fields {
            if let Value::Label(id) = field.value
                && let Some(entry) = used.get_mut(usize::from(id.0))
            {
                *entry = true;
            }
        }
    }
    used
}

fn label_of(instruction: &Instruction) -> Option<LabelId> {
    match instruction.get(FieldName::Label) {
        Some(Value::Label(id)) => Some(*id),
        _ => None,
    }
}

fn step<'c>(
    checker: &mut Checker<'c, '_>,
    walk: &mut Walk<'c>,
    instruction: &'c Instruction,
    location: Location,
) {
    let flow = instruction.flow();
    match flow.flow {
        // Code that falls into a label continues there.
        Flow::Label { subroutine } => {
            return place_label(checker, walk, instruction, subroutine, location);
        }
        Flow::Marker => return,
        _ => {}
    }
    // What follows a part of structured control flow can be reached from other parts, too.
    let structured = matches!(flow.flow, Flow::Structured(_));
    walk.last = Some((location, structured || !flow.may_end));
    match flow.flow {
        Flow::Jump { .. } | Flow::Call(Callee::Label) => {
            if let Some(label) = label_of(instruction) {
                let called = flow.flow == Flow::Call(Callee::Label);
                walk.use_of(location.field("label", 2), called, label);
            }
        }
        Flow::Switch => {
            let mut count = 0;
            for (position, field) in (0..).zip(&instruction.fields) {
                if let Value::Label(label) = field.value {
                    count += 1;
                    walk.use_of(location.field("labels", position), false, label);
                }
            }
            let lanes = instruction.exec_size().and_then(ExecSize::lanes);
            let lanes = lanes.unwrap_or(1);
            if count == 0 || count > 32 || lanes != 1 {
                let message = || format!("{count} labels, execution size {lanes}");
                checker.sink.add(&rules::SWITCH_LANES, location, message);
            }
        }
        Flow::Return { function: true } if checker.id.kind == RoutineKind::Kernel => {
            let message = || "a kernel has no caller to return to".to_string();
            checker.sink.add(&rules::FUNCTION_RETURN, location, message);
        }
        Flow::Call(Callee::Name) => callee(checker, walk, instruction, location),
        Flow::Structured(part) => {
            nest(checker, walk, part, instruction.def(), location);
        }
        _ => {}
    }
}

fn callee<'c>(
    checker: &mut Checker<'c, '_>,
    walk: &mut Walk<'c>,
    instruction: &Instruction,
    location: Location,
) {
    let Some(Value::String(id)) = instruction.get(FieldName::FuncName) else {
        return;
    };
    let Some(name) = checker.body.string(*id) else {
        return;
    };
    let functions = &checker.object.functions;
    let names = walk
        .names
        .get_or_insert_with(|| functions.iter().map(|f| f.name.as_ref()).collect());
    if !names.contains(name) {
        let name = String::from_utf8_lossy(name);
        checker
            .sink
            .add(&rules::CALLEE, location.field("func_name", 2), || {
                format!("calls {name:?}, which is not in the object")
            });
    }
}

fn nest(
    checker: &mut Checker<'_, '_>,
    walk: &mut Walk<'_>,
    part: Structure,
    def: &'static InstructionDef,
    location: Location,
) {
    let innermost = walk.open.last().map(|(part, ..)| *part);
    let sound = match part {
        Structure::If | Structure::Do => true,
        Structure::Else => innermost == Some(Structure::If),
        Structure::EndIf => matches!(innermost, Some(Structure::If | Structure::Else)),
        Structure::While => innermost == Some(Structure::Do),
        Structure::Break | Structure::Continue => walk.loops > 0,
    };
    match part {
        Structure::If | Structure::Do => {
            walk.loops += usize::from(part == Structure::Do);
            walk.open.push((part, def, location));
        }
        Structure::Else if sound => {
            walk.open.pop();
            walk.open.push((part, def, location));
        }
        Structure::EndIf | Structure::While => {
            let closed = walk.open.pop();
            let closes_loop = matches!(closed, Some((Structure::Do, ..)));
            walk.loops -= usize::from(closes_loop);
        }
        _ => {}
    }
    if !sound {
        let name = def.mnemonic();
        let message = || format!("{name} is where nothing is open for it");
        checker.sink.add(&rules::NESTING, location, message);
    }
}

fn place_label(
    checker: &mut Checker<'_, '_>,
    walk: &mut Walk<'_>,
    instruction: &Instruction,
    subroutine: bool,
    location: Location,
) {
    let Some(label) = label_of(instruction) else {
        return;
    };
    let declared = checker.body.labels.get(usize::from(label.0));
    let kind = declared.map(|l| l.kind);
    let begins = subroutine || kind == Some(LabelKind::SUBROUTINE);
    let location = location.field("label", 0);
    if let Some(kind) = kind
        && subroutine != (kind == LabelKind::SUBROUTINE)
        && kind != LabelKind::FAST_COMPOSITE
    {
        let (name, kind) = (instruction.def().mnemonic(), kind.name().unwrap_or("?"));
        let message = || format!("{name} places a label of the kind {kind}");
        checker.sink.add(&rules::LABEL_PLACE, location, message);
    }
    if begins {
        no_return(
            checker,
            walk,
            "control runs into the subroutine that follows",
        );
        walk.last = None;
        walk.part += 1;
        walk.parts.push(Some(label));
    } else if walk.used.get(usize::from(label.0)) == Some(&true) {
        // It can be reached from elsewhere: something must follow.
        walk.last = Some((location, true));
    }
    let Some(entry) = walk.labels.get_mut(usize::from(label.0)) else {
        return;
    };
    let placed = Placed {
        part: walk.part,
        begins,
    };
    if entry.replace(placed).is_some() {
        let message = || format!("{label} is placed a second time");
        checker.sink.add(&rules::LABEL_REPEATED, location, message);
    }
}

impl Walk<'_> {
    fn use_of(&mut self, location: Location, called: bool, label: LabelId) {
        self.uses.push(Use {
            location,
            called,
            label,
            part: self.part,
        });
    }

    fn placed(&self, label: LabelId) -> Option<Placed> {
        self.labels.get(usize::from(label.0)).copied().flatten()
    }
}

fn targets(checker: &mut Checker<'_, '_>, walk: &Walk<'_>) {
    for used in &walk.uses {
        let declared = checker.body.labels.get(usize::from(used.label.0));
        let Some(kind) = declared.map(|l| l.kind) else {
            continue;
        };
        let composite = kind == LabelKind::FAST_COMPOSITE;
        let (calls, label) = (used.called, used.label);
        let mut add = |rule: &'static Rule, message: &str| {
            let message = || format!("{label} {message}");
            checker.sink.add(rule, used.location, message);
        };
        match walk.placed(label) {
            // Fast composites are outside the routine; undecoded code may place it.
            None if composite || walk.cut => {}
            None => add(&rules::LABEL_MISSING, "is not placed anywhere"),
            Some(_) if calls && kind != LabelKind::SUBROUTINE && !composite => {
                add(&rules::CALL_TARGET, "is called and no subroutine");
            }
            Some(placed) if !calls && placed.begins => {
                add(&rules::JUMP_TARGET, "is jumped to and a subroutine");
            }
            Some(placed) if !calls && placed.part != used.part => {
                add(&rules::JUMP_OUT, "is in another subroutine");
            }
            Some(_) => {}
        }
    }
}

/// Finds subroutines that can reach themselves by calls.
fn recursion(checker: &mut Checker<'_, '_>, walk: &Walk<'_>) {
    let mut calls: Vec<Vec<(usize, Location)>> = alloc::vec![Vec::new(); walk.parts.len()];
    for used in walk.uses.iter().filter(|u| u.called) {
        if let Some(placed) = walk.placed(used.label).filter(|p| p.begins)
            && let Some(from) = calls.get_mut(used.part)
        {
            from.push((placed.part, used.location));
        }
    }
    // Depth first; a part that is on the way closes a circle.
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnTheWay,
        Done,
    }
    let mut states = alloc::vec![State::New; calls.len()];
    for start in 0..calls.len() {
        if states.get(start) != Some(&State::New) {
            continue;
        }
        let mut stack = Vec::from([(start, 0usize)]);
        if let Some(state) = states.get_mut(start) {
            *state = State::OnTheWay;
        }
        while let Some((part, next)) = stack.pop() {
            let call = calls.get(part).and_then(|c| c.get(next)).copied();
            let Some((callee, location)) = call else {
                if let Some(state) = states.get_mut(part) {
                    *state = State::Done;
                }
                continue;
            };
            stack.push((part, next + 1));
            match states.get_mut(callee) {
                Some(state) if *state == State::New => {
                    *state = State::OnTheWay;
                    stack.push((callee, 0));
                }
                Some(State::OnTheWay) => checker.sink.add(&rules::RECURSION, location, || {
                    "the call leads back to the subroutine it is in".to_string()
                }),
                _ => {}
            }
        }
    }
}
