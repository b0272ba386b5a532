//! Edits leave an object intact: whatever is done to it, it can be written and read strictly, and a
//! refused edit changes nothing.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic
)]

use proptest::prelude::*;
use visakit_isa::object::{
    Declaration, Input, InputKind, Item, LabelKind, NativeBinary, NativeCode, NativePlatform,
    Object, RoutineId,
};
use visakit_isa::{
    DataType, ExecSize, FieldName, Instruction, LabelId, Op, Predicate, Value, VarId,
};
use visakit_rewrite::{Editor, ErrorKind, Location, Reference, Table, diff};

/// A few numbers decide about an edit.
type Choice = (u8, u8, u16, u16);

fn ids(object: &Object<'_>) -> Vec<RoutineId> {
    object.routines().map(|(id, _)| id).collect()
}

/// One edit; whether it was taken.
fn edit(object: &mut Object<'_>, (what, which, a, b): Choice) -> bool {
    let ids = ids(object);
    let mut editor = Editor::new(object, ids[usize::from(which) % ids.len()]).unwrap();
    let format = editor.format();
    let table = Table::ALL[usize::from(b) % Table::ALL.len()];
    let declared = table.len(editor.body()) + 2;
    let id =
        table.first(format).saturating_sub(1) + u32::from(a) % u32::try_from(declared).unwrap();
    let reference = Reference::new(table, id);
    let code = editor.body().code.len();
    let at = usize::from(a) % (code + 2);
    let ty = DataType::from_code(u8::try_from(b % 16).unwrap());
    let copy = |editor: &Editor<'_, '_>, at: usize| match editor.body().code.get(at) {
        Some(Item::Instruction(instruction)) => instruction.clone(),
        _ => Instruction::new(Op::FENCE).with(FieldName::Mask, Value::U8(0)),
    };
    match what % 16 {
        0 => editor
            .new_variable(&format!("v{a}"), ty, b % 64 + 1)
            .is_ok(),
        1 => editor.remove(reference).is_ok(),
        2 => editor.rename(reference, &format!("n{b}")).is_ok(),
        3 => editor
            .retype(Reference::new(Table::Variable, id), ty)
            .is_ok(),
        4 => {
            let name = editor.intern(&b"extra"[..]).unwrap();
            let declaration = Declaration {
                name,
                elements: 1,
                attributes: Vec::new(),
            };
            editor.add_declaration(table, declaration).is_ok()
        }
        5 => editor.new_label(&format!("l{a}"), LabelKind::BLOCK).is_ok(),
        6 => {
            let instruction = copy(&editor, usize::from(b) % code.max(1));
            editor.insert(at, instruction).is_ok()
        }
        7 => editor.take(at).is_ok(),
        8 => {
            let instruction = copy(&editor, usize::from(b) % code.max(1));
            editor.replace(at, instruction).is_ok()
        }
        9 => {
            let kind = InputKind([0, 1, 2, 8][usize::from(b % 4)]);
            let input = Input {
                kind,
                index: id,
                offset: 64,
                size: 4,
            };
            editor.add_input(input).is_ok()
        }
        10 => editor.remove_input(usize::from(a) % 20).is_ok(),
        11 => {
            let owner = match b % 2 {
                0 => Location::Name,
                _ => Location::Entry(table, usize::from(a) % declared),
            };
            editor
                .set_attribute(owner, "Note", vec![1; usize::from(a) % 300])
                .is_ok()
        }
        12 => editor.remove_attribute(Location::Name, "Target").is_ok(),
        13 => {
            let code = NativeCode::Bytes(vec![0; 16].into());
            let platform = NativePlatform(5);
            editor.add_binary(NativeBinary { platform, code }).is_ok()
        }
        14 => editor.remove_binary(usize::from(a) % 3).is_ok(),
        _ => match b % 2 {
            0 => editor.remove_unused_strings().is_ok(),
            _ => editor.set_name(&format!("r{which}_{a}")).is_ok(),
        },
    }
}

fn fixtures() -> Vec<Vec<u8>> {
    let folder = visakit_testing::root().join("fixtures/objects");
    visakit_testing::objects(&folder)
        .iter()
        .map(|p| std::fs::read(p).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_objects_stay_whole(
        file in 0usize..6,
        edits in prop::collection::vec(any::<Choice>(), 1..60),
    ) {
        let files = fixtures();
        let mut object = visakit_parse::read(&files[file]).unwrap();
        for choice in edits {
            let before = object.clone();
            let taken = edit(&mut object, choice);
            if !taken && choice.0 % 16 != 4 {
                prop_assert_eq!(&before, &object, "refused, but changed: {:?}", choice);
            }
            for id in ids(&object) {
                let editor = Editor::new(&mut object, id).unwrap();
                let dangling = editor.dangling();
                let inputs = |p: &Location| matches!(p, Location::Input(_));
                prop_assert!(dangling.iter().all(|(p, _)| inputs(p)), "{:?}: {:?}", choice, dangling);
            }
        }
        let bytes = visakit_encode::write(&object).unwrap();
        let again = visakit_parse::read(&bytes).unwrap();
        prop_assert!(diff(&object, &again).is_empty());
        prop_assert_eq!(again.kernels, object.kernels);
    }
}

fn first(object: &Object<'_>) -> RoutineId {
    object.routines().next().unwrap().0
}

#[test]
fn numbers_follow_a_removed_variable() {
    let files = fixtures();
    let mut object = visakit_parse::read(&files[2]).unwrap();
    let id = first(&object);
    let mut editor = Editor::new(&mut object, id).unwrap();
    let start = Table::Variable.first(editor.format());
    let end = start + u32::try_from(editor.body().variables.len()).unwrap();
    let unused = (start..end).find(|v| editor.uses(Reference::new(Table::Variable, *v)).is_empty());
    let unused = unused.unwrap();
    let text = |editor: &Editor<'_, '_>, v: u32| {
        let index = usize::try_from(v - start).unwrap();
        let variable = &editor.body().variables[index];
        (
            variable.name,
            variable.elements,
            editor.uses(Reference::new(Table::Variable, v)).len(),
        )
    };
    let later: Vec<_> = (unused + 1..end).map(|v| text(&editor, v)).collect();
    editor
        .remove(Reference::new(Table::Variable, unused))
        .unwrap();
    let moved: Vec<_> = (unused..end - 1).map(|v| text(&editor, v)).collect();
    assert_eq!(later, moved);
}

#[test]
fn what_would_dangle_is_refused() {
    let files = fixtures();
    let mut object = visakit_parse::read(&files[2]).unwrap();
    let id = first(&object);
    let mut editor = Editor::new(&mut object, id).unwrap();
    let label = editor.new_label("nowhere", LabelKind::BLOCK).unwrap();
    let number = LabelId(u16::try_from(label.id).unwrap());
    let jump = |label| {
        Instruction::new(Op::JMP)
            .with(FieldName::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .with(FieldName::Label, Value::Label(label))
    };
    editor.insert(0, jump(number)).unwrap();
    let error = editor.remove(label).unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::InUse(_, uses) if uses.count == 1),
        "{error}"
    );
    let error = editor.insert(0, jump(LabelId(number.0 + 1))).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::NotDeclared(_)), "{error}");
    let place = Instruction::new(Op::LABEL).with(FieldName::Label, Value::Label(number));
    editor.insert(1, place.clone()).unwrap();
    let error = editor.insert(1, place).unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::PlacedTwice(_, 1)),
        "{error}"
    );
    let error = editor.take(1).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::InUse(..)), "{error}");
    editor.take(0).unwrap();
    editor.take(0).unwrap();
    editor.remove(label).unwrap();
    let error = editor
        .remove(Reference::new(Table::Variable, 0))
        .unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Predefined(_)), "{error}");
    let wrong = Instruction::new(Op::MOV);
    let error = editor.insert(0, wrong).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Encode(_)), "{error}");
}

#[test]
fn operands_keep_their_bytes_when_a_variable_is_retyped() {
    use visakit_isa::VectorOperand;
    let files = fixtures();
    let mut object = visakit_parse::read(&files[2]).unwrap();
    let id = first(&object);
    let bytes = |object: &Object<'_>, size: u8, variable: VarId| -> Vec<u32> {
        let body = object.routine(id).unwrap().body().unwrap();
        let values = body.instructions().flat_map(|i| &i.fields);
        values
            .filter_map(|f| match f.value {
                Value::Vector(VectorOperand::General(o)) if o.variable == variable => {
                    Some(u32::from(o.row) * 32 + u32::from(o.column) * u32::from(size))
                }
                _ => None,
            })
            .collect()
    };
    let body = object.routine(id).unwrap().body().unwrap();
    let wide = (32..)
        .zip(&body.variables)
        .filter(|(_, v)| v.properties.data_type().size() == 4);
    // One with an element that no 8-byte element begins at.
    let odd = |v: &u32| bytes(&object, 4, VarId(*v)).iter().any(|b| b % 8 == 4);
    let variable = VarId(wide.map(|(v, _)| v).find(odd).unwrap());
    let index = usize::try_from(variable.0 - 32).unwrap();
    let elements = body.variables[index].elements;
    let before = bytes(&object, 4, variable);
    let mut editor = Editor::new(&mut object, id).unwrap();
    let reference = Reference::new(Table::Variable, variable.0);
    let error = editor.retype(reference, DataType::Q).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::NotWhole { .. }), "{error}");
    let error = editor.new_variable("none", DataType::D, 0).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::NoElements), "{error}");
    editor.retype(reference, DataType::Uw).unwrap();
    assert_eq!(editor.body().variables[index].elements, 2 * elements);
    assert_eq!(bytes(&object, 2, variable), before);
}
