//! Labels, jumps and calls.

use crate::checker::Checker;
use crate::report::{Part, Place};
use crate::rule::Rule;
use crate::rules;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use visakit_isa::object::{Item, LabelKind, RoutineKind};
use visakit_isa::{ExecSize, FieldName, Instruction, LabelId, Op, StringId, Value};

/// Where a label is placed.
#[derive(Clone, Copy)]
struct Placed {
    /// The subroutine that it begins or lies in; 0 is the part before the first one.
    part: usize,
    /// Whether it begins a subroutine.
    begins: bool,
}

/// A use of a label.
struct Use {
    place: Place,
    op: Op,
    label: LabelId,
    /// The part that the instruction lies in.
    part: usize,
}

/// What was met on the way through the code.
struct Walk {
    /// Labels that something refers to.
    used: Vec<bool>,
    labels: Vec<Option<Placed>>,
    uses: Vec<Use>,
    /// Structured constructs that are open: IF, ELSE or DO.
    open: Vec<(Op, Place)>,
    part: usize,
    /// The label of each part; the first part has none.
    parts: Vec<Option<LabelId>>,
    /// The last instruction that does something, and whether control goes on behind it.
    last: Option<(Place, bool)>,
    /// Whether something of the code did not decode.
    cut: bool,
}

pub(crate) fn check(checker: &mut Checker<'_, '_>) {
    let mut walk = Walk {
        used: used_labels(checker),
        labels: alloc::vec![None; checker.body.labels.len()],
        uses: Vec::new(),
        open: Vec::new(),
        part: 0,
        parts: Vec::from([None]),
        last: None,
        cut: false,
    };
    let names = names(checker);
    let mut number = 0;
    for item in &checker.body.code {
        match item {
            Item::Raw(_) => walk.cut = true,
            Item::Instruction(instruction) => {
                let place = Place {
                    part: Part::Instruction {
                        number,
                        op: Some(instruction.op),
                    },
                    ..Place::of_routine(checker.id)
                };
                number += 1;
                step(checker, &mut walk, instruction, place, &names);
            }
        }
    }
    for (op, place) in core::mem::take(&mut walk.open) {
        let name = op.def().mnemonic();
        nesting(checker, place, || alloc::format!("{name} is never closed"));
    }
    if let Some((place, true)) = walk.last
        && !walk.cut
    {
        checker.sink.add(&rules::NO_RETURN, place, || {
            "the last instruction goes on behind the end".to_string()
        });
    }
    targets(checker, &walk);
    recursion(checker, &walk);
}

fn used_labels(checker: &Checker<'_, '_>) -> Vec<bool> {
    let mut used = alloc::vec![false; checker.body.labels.len()];
    for instruction in checker.body.instructions() {
        if matches!(instruction.op, Op::LABEL | Op::SUBROUTINE) {
            continue;
        }
        for field in &instruction.fields {
            if let Value::Label(id) = field.value
                && let Some(slot) = used.get_mut(usize::from(id.0))
            {
                *slot = true;
            }
        }
    }
    used
}

/// Names of the functions of the object.
fn names<'c>(checker: &Checker<'c, '_>) -> BTreeSet<&'c [u8]> {
    let functions = &checker.object.functions;
    functions.iter().map(|f| f.name.as_ref()).collect()
}

fn label_of(instruction: &Instruction) -> Option<LabelId> {
    match instruction.get(FieldName::Label) {
        Some(Value::Label(id)) => Some(*id),
        _ => None,
    }
}

fn nesting(checker: &mut Checker<'_, '_>, place: Place, message: impl FnOnce() -> String) {
    checker.sink.add(&rules::NESTING, place, message);
}

fn step(
    checker: &mut Checker<'_, '_>,
    walk: &mut Walk,
    instruction: &Instruction,
    place: Place,
    names: &BTreeSet<&[u8]>,
) {
    let op = instruction.op;
    let predicated = instruction.predicate().is_some_and(|p| !p.is_none());
    let lanes = instruction
        .exec_size()
        .and_then(ExecSize::lanes)
        .unwrap_or(1);
    let goes_on = match op {
        Op::LABEL | Op::SUBROUTINE => {
            place_label(checker, walk, instruction, place);
            // What falls into a label goes on there.
            return;
        }
        Op::FILE | Op::LOC | Op::LIFETIME => return,
        // A return of some lanes lets the others go on, but compilers end with one all the same.
        Op::RET | Op::FRET | Op::JMP => predicated,
        Op::GOTO => predicated || lanes > 1,
        Op::SWITCHJMP => false,
        Op::RAW_SENDS => !ends_thread(instruction),
        Op::RAW_SEND => false,
        Op::RT_WRITE_3D | Op::RAW_SENDG | Op::URB_WRITE_3D => false,
        _ => true,
    };
    walk.last = Some((place, goes_on));
    match op {
        Op::JMP | Op::GOTO | Op::CALL => {
            if let Some(label) = label_of(instruction) {
                walk.use_of(place.field("label", 2), op, label);
            }
        }
        Op::SWITCHJMP => {
            let mut count = 0;
            for (position, field) in instruction.fields.iter().enumerate() {
                if let Value::Label(label) = field.value {
                    count += 1;
                    let position = u32::try_from(position).unwrap_or(u32::MAX);
                    walk.use_of(place.field("labels", position), op, label);
                }
            }
            if count == 0 || count > 32 || lanes != 1 {
                checker.sink.add(&rules::SWITCH_LANES, place, || {
                    alloc::format!("{count} labels, execution size {lanes}")
                });
            }
        }
        Op::FRET if checker.id.kind == RoutineKind::Kernel => {
            checker.sink.add(&rules::FUNCTION_RETURN, place, || {
                "a kernel has no caller to return to".to_string()
            });
        }
        Op::FCALL => callee(checker, instruction, place, names),
        Op::IF | Op::DO => walk.open.push((op, place)),
        Op::ELSE | Op::ENDIF | Op::WHILE | Op::BREAK | Op::CONT => {
            structured(checker, walk, op, place);
        }
        _ => {}
    }
}

/// Bit 1 of the modifier of RAW_SENDS: the message ends the thread.
fn ends_thread(instruction: &Instruction) -> bool {
    let modifier = instruction.get(FieldName::Modifier);
    modifier
        .and_then(Value::as_number)
        .is_some_and(|m| m & 2 != 0)
}

fn callee(
    checker: &mut Checker<'_, '_>,
    instruction: &Instruction,
    place: Place,
    names: &BTreeSet<&[u8]>,
) {
    let Some(Value::String(StringId(id))) = instruction.get(FieldName::FuncName) else {
        return;
    };
    let Some(name) = checker.body.string(StringId(*id)) else {
        return;
    };
    if !names.contains(name) {
        checker
            .sink
            .add(&rules::CALLEE, place.field("func_name", 2), || {
                let name = String::from_utf8_lossy(name);
                alloc::format!("calls {name:?}, which is not in the object")
            });
    }
}

fn structured(checker: &mut Checker<'_, '_>, walk: &mut Walk, op: Op, place: Place) {
    let name = op.def().mnemonic();
    let sound = match op {
        Op::ELSE => match walk.open.pop() {
            Some((Op::IF, _)) => {
                walk.open.push((op, place));
                true
            }
            Some(other) => {
                walk.open.push(other);
                false
            }
            None => false,
        },
        Op::ENDIF => matches!(walk.open.pop(), Some((Op::IF | Op::ELSE, _))),
        Op::WHILE => matches!(walk.open.pop(), Some((Op::DO, _))),
        _ => walk.open.iter().any(|(open, _)| *open == Op::DO),
    };
    if !sound {
        nesting(checker, place, || {
            alloc::format!("{name} stands where nothing is open for it")
        });
    }
}

fn place_label(
    checker: &mut Checker<'_, '_>,
    walk: &mut Walk,
    instruction: &Instruction,
    place: Place,
) {
    let Some(label) = label_of(instruction) else {
        return;
    };
    let declared = checker.body.labels.get(usize::from(label.0));
    let kind = declared.map(|l| l.kind);
    let begins = instruction.op == Op::SUBROUTINE || kind == Some(LabelKind::SUBROUTINE);
    let place = place.field("label", 0);
    if let Some(kind) = kind
        && (instruction.op == Op::SUBROUTINE) != (kind == LabelKind::SUBROUTINE)
        && kind != LabelKind::FAST_COMPOSITE
    {
        let name = instruction.def().mnemonic();
        checker.sink.add(&rules::LABEL_PLACE, place, || {
            let kind = kind.name().unwrap_or("?");
            alloc::format!("{name} places a label of the kind {kind}")
        });
    }
    if begins {
        if let Some((last, true)) = walk.last
            && !walk.cut
        {
            checker.sink.add(&rules::NO_RETURN, last, || {
                "control runs into the subroutine that follows".to_string()
            });
        }
        walk.last = None;
        walk.part += 1;
        walk.parts.push(Some(label));
    } else if walk.used.get(usize::from(label.0)) == Some(&true) {
        // It can be reached from elsewhere: something must follow.
        walk.last = Some((place, true));
    }
    let Some(slot) = walk.labels.get_mut(usize::from(label.0)) else {
        return;
    };
    let placed = Placed {
        part: walk.part,
        begins,
    };
    if slot.replace(placed).is_some() {
        checker.sink.add(&rules::LABEL_REPEATED, place, || {
            alloc::format!("{label} is placed a second time")
        });
    }
}

impl Walk {
    fn use_of(&mut self, place: Place, op: Op, label: LabelId) {
        self.uses.push(Use {
            place,
            op,
            label,
            part: self.part,
        });
    }

    fn placed(&self, label: LabelId) -> Option<Placed> {
        self.labels.get(usize::from(label.0)).copied().flatten()
    }
}

fn targets(checker: &mut Checker<'_, '_>, walk: &Walk) {
    for used in &walk.uses {
        let declared = checker.body.labels.get(usize::from(used.label.0));
        let Some(kind) = declared.map(|l| l.kind) else {
            continue;
        };
        let calls = used.op == Op::CALL;
        let composite = kind == LabelKind::FAST_COMPOSITE;
        let label = used.label;
        let mut add = |rule: &'static Rule, message: &str| {
            checker
                .sink
                .add(rule, used.place, || alloc::format!("{label} {message}"));
        };
        match walk.placed(label) {
            // Fast composites lie outside of the routine; what did not decode may place it.
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
fn recursion(checker: &mut Checker<'_, '_>, walk: &Walk) {
    let mut calls: Vec<Vec<(usize, Place)>> = alloc::vec![Vec::new(); walk.parts.len()];
    for used in walk.uses.iter().filter(|u| u.op == Op::CALL) {
        if let Some(placed) = walk.placed(used.label).filter(|p| p.begins)
            && let Some(from) = calls.get_mut(used.part)
        {
            from.push((placed.part, used.place));
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
            let Some((callee, place)) = call else {
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
                Some(State::OnTheWay) => checker.sink.add(&rules::RECURSION, place, || {
                    "the call leads back to the subroutine it is in".to_string()
                }),
                _ => {}
            }
        }
    }
}
