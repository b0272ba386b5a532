//! A field of the container is where the observer reports it, and nowhere else: changing it changes
//! those bytes, and if its length changes, only the numbers derived from it.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use core::ops::Range;
use std::borrow::Cow;
use visakit::isa::object::{
    Arrangement, Attribute, Body, Declaration, FileAttribute, FileVariable, Input, InputKind,
    Label, LabelKind, Linkage, NativeBinary, NativeCode, NativePlatform, Object, Relocation,
    Routine, Variable, VariableProperties,
};
use visakit::isa::{
    Dialect, ExecSize, FieldName, Instruction, Op, Predicate, StringId, Value, VarId, Version,
};
use visakit::parse::{Container, Leaf, Observer};
use visakit::{encode, parse};

/// A leaf with its path, such as `kernels[0].name`.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    path: String,
    range: Range<usize>,
}

#[derive(Default)]
struct Leaves {
    prefix: String,
    stack: Vec<String>,
    found: Vec<Found>,
}

impl<'a> Observer<'a> for Leaves {
    fn enter(&mut self, name: &'static str, index: Option<u32>, _: u64) {
        self.stack.push(match index {
            Some(index) => format!("[{index}]"),
            None => format!(".{name}"),
        });
    }

    fn leave(&mut self, _: u64) {
        self.stack.pop().unwrap();
    }

    fn leaf(&mut self, name: &'static str, range: Range<u64>, leaf: Leaf<'a>) {
        let length = range.end - range.start;
        match leaf {
            Leaf::Number(_) => assert!(length <= 4),
            Leaf::Bytes(bytes) => assert_eq!(bytes.len() as u64, length),
            // The magic has no NUL at its end, strings of the pool do.
            Leaf::Text(text) => assert!(length - text.len() as u64 <= 1),
        }
        self.found.push(Found {
            path: format!("{}{}.{name}", self.prefix, self.stack.concat()),
            range: usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap(),
        });
    }
}

/// All leaves of an object in file order. They cover header and tables without gaps.
fn leaves(bytes: &[u8]) -> Vec<Found> {
    let mut observer = Leaves::default();
    let container = Container::parse_with(bytes, &mut observer).unwrap();
    assert_eq!(
        observer.found.last().unwrap().range.end as u64,
        container.header_end()
    );
    let mut at = 0;
    for leaf in &observer.found {
        assert_eq!(leaf.range.start, at, "{}", leaf.path);
        at = leaf.range.end;
    }
    for (id, _) in container.header().routines() {
        let before = observer.found.len();
        observer.prefix = format!("{}{}", id.kind.name(), id.index);
        let reader = container.routine_with(id, &mut observer).unwrap();
        let mut at = usize::try_from(reader.offset()).unwrap();
        for leaf in &observer.found[before..] {
            assert_eq!(leaf.range.start, at, "{}", leaf.path);
            at = leaf.range.end;
        }
        assert_eq!(at as u64, reader.tables_end());
    }
    observer.found
}

/// Whether the leaf is derived from the rest of the object.
fn is_derived(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap();
    ["offset", "size", "input_offset", "entry"].contains(&last) && !path.contains("inputs[")
}

type Change = Box<dyn Fn(&mut Object<'static>)>;

/// Writes both objects and compares them leaf by leaf: the named ones must differ, and those
/// derived from lengths may.
fn check(object: &Object<'static>, expected: &[&str], change: &Change) {
    let mut other = object.clone();
    change(&mut other);
    assert_ne!(*object, other, "{expected:?}");
    let at = || format!("{expected:?} in {}", object.version);
    let before = encode::write(object).unwrap();
    let after = encode::write(&other).unwrap_or_else(|e| panic!("{}: {e}", at()));
    let (old, new) = (leaves(&before), leaves(&after));
    assert_eq!(old.len(), new.len(), "{}", at());
    let same_length = before.len() == after.len();
    let mut seen = 0;
    for (o, n) in old.iter().zip(&new) {
        assert_eq!(o.path, n.path, "{}", at());
        let differs = before[o.range.clone()] != after[n.range.clone()];
        if expected.contains(&o.path.as_str()) {
            assert!(differs, "{} stays the same, {}", o.path, at());
            seen += 1;
        } else if differs {
            assert!(!same_length && is_derived(&o.path), "{}, {}", o.path, at());
        }
        if same_length {
            assert_eq!(o.range, n.range, "{}", at());
        }
    }
    assert_eq!(seen, expected.len(), "{}", at());
    if same_length {
        // Nothing but the named leaves, including bytes outside any leaf.
        let of = |path: &&str| old.iter().find(|l| l.path == **path).unwrap();
        let ranges: Vec<_> = expected.iter().map(|p| of(p).range.clone()).collect();
        for i in (0..before.len()).filter(|i| before[*i] != after[*i]) {
            assert!(ranges.iter().any(|r| r.contains(&i)), "{i:#x}, {}", at());
        }
    }
    // Reading agrees with the change.
    let mut reread = parse::read(&after)
        .unwrap_or_else(|e| panic!("{}: {e}", at()))
        .into_owned();
    if other.arrangement != reread.arrangement {
        assert_eq!(other.arrangement, Arrangement::Interleaved);
        reread.arrangement = Arrangement::Interleaved;
    }
    assert_eq!(other, reread, "{}", at());
}

fn attribute() -> Attribute<'static> {
    Attribute {
        name: StringId(0),
        value: Cow::Borrowed(b"ab"),
    }
}

fn body(kernel: bool) -> Body<'static> {
    let mut body = Body::default();
    body.add_string(&b"first"[..]);
    body.add_string(&b"second"[..]);
    let declaration = || Declaration {
        elements: 4,
        attributes: vec![attribute()],
        ..Declaration::default()
    };
    body.variables.push(Variable {
        properties: VariableProperties(0x50),
        elements: 8,
        attributes: vec![attribute()],
        ..Variable::default()
    });
    body.addresses.push(declaration());
    body.predicates.push(declaration());
    body.samplers.push(declaration());
    body.surfaces.push(declaration());
    body.labels.push(Label {
        attributes: vec![attribute()],
        ..Label::default()
    });
    body.attributes.push(attribute());
    if kernel {
        body.inputs.push(Input {
            kind: InputKind::GENERAL,
            index: 2,
            offset: 32,
            size: 4,
        });
    }
    body.code.push(
        Instruction::new(Op::RET)
            .with(FieldName::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .into(),
    );
    body
}

/// Something in every place that the version has.
fn object(version: Version) -> Object<'static> {
    let mut object = Object::new(version, Dialect::Writer2018);
    let old = version == Version::V2_4;
    let mut kernel = Routine::new(&b"kernel"[..], body(true));
    kernel.binaries.push(NativeBinary {
        platform: NativePlatform(if old { 0 } else { 5 }),
        code: NativeCode::Bytes(Cow::Borrowed(b"native code")),
    });
    if !old {
        let pair = Relocation {
            symbolic: 1,
            resolved: 2,
        };
        kernel.variable_relocations.push(pair);
        kernel.function_relocations.push(pair);
        let mut function = Routine::new(&b"function"[..], body(false));
        function.variable_relocations.push(pair);
        function.function_relocations.push(pair);
        object.functions.push(function);
        object.file_variables.push(FileVariable {
            linkage: Linkage(2),
            name: Cow::Borrowed(b"shared"),
            properties: VariableProperties(0x50),
            elements: 3,
            attributes: vec![FileAttribute {
                name: 7,
                value: Cow::Borrowed(b"xy"),
            }],
        });
    }
    object.kernels.push(kernel);
    object
}

type Changes = Vec<(Vec<&'static str>, Change)>;

fn body_changes() -> Changes {
    let mut all: Changes = Vec::new();
    macro_rules! change {
        ($($path:literal),+ => |$body:ident| $change:expr) => {
            all.push((vec![$($path),+], Box::new(|o: &mut Object<'static>| {
                let $body = o.kernels[0].body_mut().unwrap();
                $change;
            })));
        };
    }
    change!("kernel0.strings[1].text" => |b| b.strings[1] = Cow::Borrowed(b"SECOND"));
    change!("kernel0.strings[1].text" => |b| b.strings[1] = Cow::Borrowed(b"longer string"));
    change!("kernel0.strings[0].text" => |b| b.strings[0] = Cow::Borrowed(b""));
    change!("kernel0.name" => |b| b.name = StringId(1));
    change!("kernel0.variables[0].name" => |b| b.variables[0].name = StringId(1));
    change!("kernel0.variables[0].properties"
        => |b| b.variables[0].properties = VariableProperties(0xaf));
    change!("kernel0.variables[0].elements" => |b| b.variables[0].elements = 0xffff);
    change!("kernel0.variables[0].alias" => |b| b.variables[0].alias = VarId(1));
    change!("kernel0.variables[0].alias_offset" => |b| b.variables[0].alias_offset = 0x1234);
    change!("kernel0.variables[0].attributes[0].name"
        => |b| b.variables[0].attributes[0].name = StringId(1));
    change!("kernel0.variables[0].attributes[0].value"
        => |b| b.variables[0].attributes[0].value = Cow::Borrowed(b"cd"));
    change!("kernel0.variables[0].attributes[0].value",
        "kernel0.variables[0].attributes[0].value_length"
        => |b| b.variables[0].attributes[0].value = Cow::Owned(vec![b'x'; 255]));
    macro_rules! declarations {
        ($($list:ident $text:literal),+) => {$(
            all.push((vec![concat!("kernel0.", $text, "[0].name")], Box::new(|o| {
                o.kernels[0].body_mut().unwrap().$list[0].name = StringId(1);
            })));
            all.push((vec![concat!("kernel0.", $text, "[0].elements")], Box::new(|o| {
                o.kernels[0].body_mut().unwrap().$list[0].elements = 0x8001;
            })));
            all.push((vec![concat!("kernel0.", $text, "[0].attributes[0].name")], Box::new(|o| {
                let body = o.kernels[0].body_mut().unwrap();
                body.$list[0].attributes[0].name = StringId(1);
            })));
        )+};
    }
    declarations!(addresses "addresses", predicates "predicates", samplers "samplers",
        surfaces "surfaces");
    change!("kernel0.labels[0].name" => |b| b.labels[0].name = StringId(1));
    change!("kernel0.labels[0].kind" => |b| b.labels[0].kind = LabelKind::SUBROUTINE);
    change!("kernel0.inputs[0].kind" => |b| b.inputs[0].kind = InputKind(0x18));
    change!("kernel0.inputs[0].index" => |b| b.inputs[0].index = 3);
    change!("kernel0.inputs[0].offset" => |b| b.inputs[0].offset = -2);
    change!("kernel0.inputs[0].size" => |b| b.inputs[0].size = 0xfffe);
    change!("kernel0.attributes[0].name" => |b| b.attributes[0].name = StringId(1));
    change!("kernel0.attributes[0].value" => |b| b.attributes[0].value = Cow::Borrowed(b"\0\xff"));
    change!("kernel0.attributes[0].value_length", "kernel0.attributes[0].value"
        => |b| b.attributes[0].value = Cow::Borrowed(b""));
    all
}

#[test]
fn fields_of_routines() {
    for version in Version::SUPPORTED {
        let object = object(version);
        for (path, change) in body_changes() {
            check(&object, &path, &change);
        }
    }
}

#[test]
fn fields_of_the_header() {
    for version in Version::SUPPORTED {
        let object = object(version);
        let name = |name: &'static [u8]| -> Change {
            Box::new(move |o| o.kernels[0].name = Cow::Borrowed(name))
        };
        check(&object, &[".kernels[0].name"], &name(b"KERNEL"));
        let longer = [".kernels[0].name", ".kernels[0].name_length"];
        check(&object, &longer, &name(b"a longer name"));
        let code: Change = Box::new(|o| {
            o.kernels[0].binaries[0].code = NativeCode::Bytes(Cow::Borrowed(b"more native code"));
        });
        // Sizes and offsets are derived: nothing else in header or tables depends on the code.
        check(&object, &[], &code);
    }
}

#[test]
fn fields_that_came_with_3_0() {
    for version in Version::SUPPORTED
        .into_iter()
        .filter(|v| *v != Version::V2_4)
    {
        let object = object(version);
        let mut all: Changes = Vec::new();
        macro_rules! change {
            ($($path:literal),+ => |$o:ident| $change:expr) => {
                all.push((vec![$($path),+], Box::new(|$o: &mut Object<'static>| $change)));
            };
        }
        change!(".kernels[0].variable_relocations[0].symbolic"
            => |o| o.kernels[0].variable_relocations[0].symbolic = 0xfefe);
        change!(".kernels[0].variable_relocations[0].resolved"
            => |o| o.kernels[0].variable_relocations[0].resolved = 0xfefe);
        change!(".kernels[0].function_relocations[0].symbolic"
            => |o| o.kernels[0].function_relocations[0].symbolic = 0xfefe);
        change!(".kernels[0].binaries[0].platform"
            => |o| o.kernels[0].binaries[0].platform = NativePlatform(14));
        change!(".functions[0].linkage" => |o| o.functions[0].linkage = Linkage(1));
        change!(".functions[0].name" => |o| o.functions[0].name = Cow::Borrowed(b"FUNCTION"));
        change!(".functions[0].name", ".functions[0].name_length"
            => |o| o.functions[0].name = Cow::Borrowed(b""));
        change!(".functions[0].variable_relocations[0].resolved"
            => |o| o.functions[0].variable_relocations[0].resolved = 9);
        change!(".functions[0].function_relocations[0].resolved"
            => |o| o.functions[0].function_relocations[0].resolved = 9);
        change!(".file_variables[0].linkage" => |o| o.file_variables[0].linkage = Linkage(1));
        change!(".file_variables[0].name"
            => |o| o.file_variables[0].name = Cow::Borrowed(b"SHARED"));
        change!(".file_variables[0].name", ".file_variables[0].name_length"
            => |o| o.file_variables[0].name = Cow::Owned(vec![b'n'; 300]));
        change!(".file_variables[0].properties"
            => |o| o.file_variables[0].properties = VariableProperties(0x97));
        change!(".file_variables[0].elements" => |o| o.file_variables[0].elements = 0xabcd);
        change!(".file_variables[0].attributes[0].name"
            => |o| o.file_variables[0].attributes[0].name = 0xffff);
        change!(".file_variables[0].attributes[0].value"
            => |o| o.file_variables[0].attributes[0].value = Cow::Borrowed(b"zz"));
        change!("kernel0.variables[0].alias_scope"
            => |o| o.kernels[0].body_mut().unwrap().variables[0].alias_scope = 1);
        change!("function0.input_size"
            => |o| o.functions[0].body_mut().unwrap().input_size = 0xfe);
        change!("function0.return_value_size"
            => |o| o.functions[0].body_mut().unwrap().return_value_size = 3);
        change!("function0.strings[0].text"
            => |o| o.functions[0].body_mut().unwrap().strings[0] = Cow::Borrowed(b"FIRST"));
        for (path, change) in all {
            check(&object, &path, &change);
        }
    }
}

/// One entry more in a list changes its count and adds the bytes of an entry.
#[test]
fn entries_change_counts() {
    for version in Version::SUPPORTED {
        let object = object(version);
        let before = encode::write(&object).unwrap();
        macro_rules! grow {
            ($($list:ident),+) => {$(
                let mut other = object.clone();
                let body = other.kernels[0].body_mut().unwrap();
                let entry = body.$list[0].clone();
                body.$list.push(entry);
                let after = encode::write(&other).unwrap();
                let number = |bytes: &[u8]| {
                    let path = concat!("kernel0.", stringify!($list), ".count");
                    let leaf = leaves(bytes).into_iter().find(|l| l.path == path).unwrap();
                    bytes[leaf.range.start]
                };
                assert_eq!(number(&after), number(&before) + 1, stringify!($list));
                let prefix = concat!("kernel0.", stringify!($list), "[1].");
                let added: usize = leaves(&after)
                    .iter()
                    .filter(|l| l.path.starts_with(prefix))
                    .map(|l| l.range.len())
                    .sum();
                let expected = if prefix.contains("strings") { "first".len() + 1 } else { added };
                assert_eq!(after.len() - before.len(), expected, stringify!($list));
                assert_eq!(parse::read(&after).unwrap(), other);
            )+};
        }
        grow!(
            strings, variables, addresses, predicates, labels, samplers, surfaces, inputs,
            attributes
        );
    }
}
