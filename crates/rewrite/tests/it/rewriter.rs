//! Rewriters whose edits fail, native code removed with the code it was compiled from, control flow
//! according to the table, and differences.

use visakit_isa::object::{
    Content, Item, NativeBinary, NativeCode, NativePlatform, Object, RoutineId, RoutineKind,
};
use visakit_isa::operand::ImmediateOperand;
use visakit_isa::{Dialect, FieldName, Format, Instruction, Op, Value, VectorOperand, Version};
use visakit_rewrite::graph::Cfg;
use visakit_rewrite::rewrite::Rewriter;
use visakit_rewrite::{
    ConvertOptions, Editor, Error, ErrorKind, Location, Reference, Strip, Table, convert, diff,
    rename_routine, strip,
};
use visakit_text::{Options, Printer, asm};

const KERNEL: RoutineId = RoutineId::new(RoutineKind::Kernel, 0);

fn assembled(text: &str, version: Version) -> Object<'static> {
    let options = asm::Options {
        version: Some(version),
        ..Default::default()
    };
    asm::assemble(text.as_bytes(), &options)
        .unwrap()
        .into_owned()
}

const TEXT: &str = "
.kernel \"k\"
.decl V v_type=G type=d num_elts=16
.decl P1 v_type=P num_elts=16
    (P1) mov (M1, 16) V(0,0)<1> 0x1:d
    ret (M1, 1)
";

/// An object of two kernels with native code.
fn compiled(text: &str, version: Version) -> Object<'static> {
    let mut object = assembled(text, version);
    let mut second = object.kernels[0].clone();
    second.name = b"second"[..].into();
    object.kernels.push(second);
    for kernel in &mut object.kernels {
        kernel.binaries = vec![NativeBinary {
            platform: NativePlatform(5),
            code: NativeCode::Bytes(vec![0x5a; 32].into()),
        }];
    }
    object
}

fn native(object: &Object<'_>) -> Vec<usize> {
    object.kernels.iter().map(|k| k.binaries.len()).collect()
}

/// Asks for a number that no predicate has.
struct Far;

impl Rewriter<'_> for Far {
    fn reference(&mut self, _: Location, reference: &mut Reference) -> Result<(), Error> {
        if reference.table == Table::Predicate {
            reference.id = 5000;
        }
        Ok(())
    }
}

#[test]
fn a_number_that_does_not_fit_is_an_error() {
    let mut object = assembled(TEXT, Version::V4_1);
    let before = object.clone();
    let error = Far.object(&mut object).unwrap_err();
    let number = Reference::new(Table::Predicate, 5000);
    assert_eq!(error.kind, ErrorKind::TooLarge(number));
    let text = error.to_string();
    assert_eq!(
        text,
        "kernel 0 \"k\", instruction 0 (mov), field pred: there is no room for P5000 here"
    );
    assert_eq!(object, before);
}

#[test]
fn what_a_rewriter_refuses_has_a_location() {
    struct No;
    impl Rewriter<'_> for No {
        fn immediate(&mut self, _: Location, _: &mut ImmediateOperand) -> Result<(), Error> {
            Err(Error::refused("constants stay"))
        }
        fn string(
            &mut self,
            index: usize,
            _: &mut std::borrow::Cow<'_, [u8]>,
        ) -> Result<(), Error> {
            assert!(index < 100);
            Ok(())
        }
    }
    let mut object = assembled(TEXT, Version::V4_1);
    let error = No.object(&mut object).unwrap_err();
    let text = error.to_string();
    assert_eq!(
        text,
        "kernel 0 \"k\", instruction 0 (mov), field src0: constants stay"
    );
}

/// Makes every constant another one.
struct Constants {
    keeps: bool,
}

impl Rewriter<'_> for Constants {
    fn immediate(&mut self, _: Location, operand: &mut ImmediateOperand) -> Result<(), Error> {
        operand.set_bits(7);
        Ok(())
    }
    fn keeps_native(&self) -> bool {
        self.keeps
    }
}

#[test]
fn native_code_goes_where_a_rewriter_changed_the_kernel() {
    let mut object = compiled(TEXT, Version::V4_1);
    let mut kept = object.clone();
    Constants { keeps: true }.object(&mut kept).unwrap();
    assert_eq!(native(&kept), [1, 1]);
    // Only the first kernel has a constant that changes.
    for item in &mut object.kernels[1].body_mut().unwrap().code {
        if let Item::Instruction(instruction) = item {
            for field in &mut instruction.fields {
                if let Value::Vector(VectorOperand::Immediate(o)) = &mut field.value {
                    o.set_bits(7);
                }
            }
        }
    }
    Constants { keeps: false }.object(&mut object).unwrap();
    assert_eq!(native(&object), [0, 1]);
    Constants { keeps: false }.object(&mut object).unwrap();
    assert_eq!(native(&object), [0, 1]);
}

#[test]
fn native_code_goes_with_an_edit_that_counts() {
    let fence = || Instruction::new(Op::FENCE).with(FieldName::Mask, Value::U8(0));
    let object = compiled(TEXT, Version::V4_1);
    let mut edited = object.clone();
    let mut editor = Editor::new(&mut edited, KERNEL).unwrap();
    // Names and declarations do not affect what the kernel does.
    let variable = editor
        .new_variable("w", visakit_isa::DataType::D, 4)
        .unwrap();
    editor.rename(variable, "x").unwrap();
    editor.remove(variable).unwrap();
    editor.remove_unused_strings().unwrap();
    // Neither do edits that are refused.
    editor.take(99).unwrap_err();
    editor.insert(0, Instruction::new(Op::MOV)).unwrap_err();
    assert_eq!(native(&edited), [1, 1]);
    rename_routine(&mut edited, KERNEL, "other").unwrap();
    assert_eq!(native(&edited), [1, 1]);
    let mut editor = Editor::new(&mut edited, KERNEL).unwrap();
    editor.insert(0, fence()).unwrap();
    assert_eq!(native(&edited), [0, 1]);
    let mut kept = object.clone();
    let mut editor = Editor::new(&mut kept, KERNEL).unwrap().keep_native();
    editor.insert(0, fence()).unwrap();
    editor.take(0).unwrap();
    assert_eq!(native(&kept), [1, 1]);
    // Functions are linked into the native code of the kernels.
    let mut linked = object.clone();
    let mut function = object.kernels[0].clone();
    function.binaries.clear();
    linked.functions.push(function);
    let id = RoutineId::new(RoutineKind::Function, 0);
    let mut copy = linked.clone();
    assert_eq!(copy.discard_native(id), 2);
    Editor::new(&mut linked, id).unwrap().take(0).unwrap();
    assert_eq!(native(&linked), [0, 0]);
}

#[test]
fn native_code_stays_where_the_meaning_does() {
    let object = compiled(TEXT, Version::V3_2);
    let away = Format::new(Version::V4_1, Dialect::default());
    assert_eq!(native(&convert(object.clone(), away).unwrap()), [1, 1]);
    let mut stripped = object.clone();
    let all_else = Strip {
        binaries: false,
        ..Strip::ALL
    };
    strip(&mut stripped, all_else);
    assert_eq!(native(&stripped), [1, 1]);
    strip(&mut stripped, Strip::ALL);
    assert_eq!(native(&stripped), [0, 0]);
    // The host passes local ids in another way there.
    let mut started = object;
    let text = TEXT.replace("0x1:d", "%local_id_x(0,0)<0;1,0>");
    started.kernels[1].content = assembled(&text, Version::V3_2).kernels[0].content.clone();
    assert!(matches!(started.kernels[1].content, Content::Body(_)));
    let moved = convert(started.clone(), away).unwrap();
    assert_eq!(native(&moved), [1, 0]);
    let keep_native = true;
    let kept = convert(
        started,
        ConvertOptions {
            to: away,
            keep_native,
        },
    )
    .unwrap();
    assert_eq!(native(&kept), [1, 1]);
}

#[test]
fn lanes_part_where_each_looks_at_its_own_predicate() {
    let divergent = |text: &str, version| {
        let object = assembled(text, version);
        let cfg = Cfg::of(object.kernels[0].body().unwrap());
        cfg.graph.edge_weights().any(|edge| edge.divergent)
    };
    let text = |jump: &str| {
        format!(
            ".kernel \"k\"\n.decl P1 v_type=P num_elts=16\n{jump} END\n\
             END:\nret (M1, 1)\n"
        )
    };
    let jump = |predicate: &str| text(&format!("({predicate}) goto (M1, 16)"));
    assert!(divergent(&jump("P1"), Version::V4_1));
    assert!(divergent(&jump("!P1"), Version::V4_1));
    assert!(!divergent(&jump("P1.any"), Version::V4_1));
    assert!(!divergent(&text("(P1) goto (M1, 1)"), Version::V4_1));
    assert!(!divergent(&text("(P1) jmp (M1, 1)"), Version::V4_1));
}

/// Every instruction is the same, or shown with its text.
#[test]
fn differences_tell_of_every_instruction() {
    let path = visakit_testing::root().join("fixtures/objects/subgroups_skl_v36.isa");
    let bytes = std::fs::read(path).unwrap();
    let mut old = visakit_parse::read(&bytes).unwrap();
    old.kernels.truncate(1);
    let mut new = old.clone();
    let code = &mut new.kernels[0].body_mut().unwrap().code;
    let mut random = visakit_testing::layouts::Random::of_seed(0);
    for _ in 0..40 {
        let at = random.below(code.len() - 20);
        match random.below(3) {
            0 => drop(code.remove(at)),
            1 => code.swap(at, at + 11),
            _ => code.insert(at, code[at + 7].clone()),
        }
    }
    let found = diff(&old, &new);
    assert_eq!(found, diff(&old, &new));
    let [routine] = found.routines.as_slice() else {
        panic!("one routine differs");
    };
    let text = |object: &Object<'_>| {
        let mut text = Vec::new();
        let Ok(()) = Printer::new(object, Options::default()).routine(KERNEL, &mut text);
        String::from_utf8(text).unwrap()
    };
    let sides = [
        (
            &old,
            routine
                .changes
                .iter()
                .map(|c| c.old.as_ref())
                .collect::<Vec<_>>(),
        ),
        (
            &new,
            routine.changes.iter().map(|c| c.new.as_ref()).collect(),
        ),
    ];
    for (object, changes) in sides {
        let text = text(object);
        let mut last = None;
        for (index, line) in changes.iter().flatten() {
            assert!(last < Some(*index), "in order");
            last = Some(*index);
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
        let shown = changes.iter().flatten().count();
        let count = object.kernels[0].body().unwrap().code.len();
        assert_eq!(routine.same + shown, count);
    }
}
