//! Walks over everything that an object is made of: [`Visitor`] looks, [`Rewriter`] changes.
//!
//! Both have one method for each construct. A method that is not overridden goes on to the parts
//! of the construct, with the `walk_*` function of the same name; one that is overridden calls
//! that function itself if it wants the parts. Which operand is what follows from the values of
//! the fields: there is no list of opcodes here.
//!
//! Every number into a symbol table ends at `reference`, whichever operand, declaration or input
//! it stands in. So an analysis of uses or a renumbering is one method.
//!
//! ```
//! use visakit_isa::object::{Object, RoutineId};
//! use visakit_rewrite::{Place, Reference, Table, visit::{self, Visitor}};
//!
//! /// Counts how often each variable is named.
//! #[derive(Default)]
//! struct Count(std::collections::BTreeMap<u32, usize>);
//! impl Visitor<'_> for Count {
//!     fn reference(&mut self, _: Place, reference: Reference) {
//!         if reference.table == Table::Variable {
//!             *self.0.entry(reference.id).or_default() += 1;
//!         }
//!     }
//! }
//! # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
//! # let object: Object<'_> = visakit_parse::read(file).unwrap();
//! let mut count = Count::default();
//! count.object(&object);
//! assert!(count.0.len() > 100);
//! ```

use crate::place::{Place, Reference, Table};
use std::borrow::Cow;
use visakit_isa::object::{
    Attribute, Body, Content, Declaration, FileVariable, Input, InputKind, Item, Label,
    NativeBinary, Object, RawItem, Relocation, Routine, RoutineId, Variable,
};
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, PredicateOperand,
    StateClass, StateOperand,
};
use visakit_isa::{
    ElementCount, ExecSize, Field, Instruction, Predicate, RawOperand, SamplerId, SamplerOp, Value,
    VectorOperand,
};

/// Which table the variable of a LIFETIME is in, by the properties.
const fn lifetime_table(properties: u16) -> Table {
    match properties >> 4 & 3 {
        1 => Table::Address,
        2 => Table::Predicate,
        _ => Table::Variable,
    }
}

/// The key that decides about other fields of an instruction, 0 where there is none.
pub(crate) fn key_of(instruction: &Instruction) -> u16 {
    let key = instruction.def().fields.iter().find(|f| f.is_key);
    key.and_then(|f| instruction.get(f.name))
        .map_or(0, Value::key)
}

/// The table that an input's index points into.
const fn input_table(kind: InputKind) -> Option<Table> {
    match kind.class() {
        InputKind::GENERAL => Some(Table::Variable),
        InputKind::SAMPLER => Some(Table::Sampler),
        InputKind::SURFACE => Some(Table::Surface),
        _ => None,
    }
}

/// Numbers that operands hold, 0 to 4294967295 whatever their width.
trait Index: Copy {
    fn get(self) -> u32;
    /// The same with another number, where it fits.
    fn with(self, id: u32) -> Option<Self>;
}

macro_rules! indices {
    ($($ty:ty),*) => {$(
        impl Index for $ty {
            fn get(self) -> u32 {
                self.into()
            }
            fn with(self, id: u32) -> Option<Self> {
                id.try_into().ok()
            }
        }
    )*};
}
indices!(u8, u16, u32);

impl Index for Predicate {
    fn get(self) -> u32 {
        self.id().0.into()
    }
    fn with(self, id: u32) -> Option<Self> {
        // 0 would mean no predicate.
        let id = u16::try_from(id)
            .ok()
            .filter(|id| (1..=0xfff).contains(id))?;
        Some(Self::from_bits(self.bits() & 0xf000 | id))
    }
}

macro_rules! look {
    ($walk:expr, $place:expr, $table:expr, $id:expr) => {
        $walk.reference($place, Reference::new($table, Index::get($id)))
    };
}

macro_rules! change {
    ($walk:expr, $place:expr, $table:expr, $id:expr) => {{
        let (place, before) = ($place, Reference::new($table, Index::get($id)));
        let mut after = before;
        $walk.reference(place, &mut after);
        if after.id != before.id {
            match Index::with($id, after.id) {
                Some(new) => $id = new,
                None => $walk.too_large(place, Reference::new(before.table, after.id)),
            }
        }
    }};
}

/// Makes the trait and its walks once with `&` and once with `&mut`.
macro_rules! traversal {
    (
        $(#[$meta:meta])*
        $module:ident, $Trait:ident, $reference:ty, $follow:ident $(, $mutable:tt)?
    ) => {
        $(#[$meta])*
        pub mod $module {
            #[allow(clippy::wildcard_imports)] // the same names in both modules
            use super::*;

            $(#[$meta])*
            #[allow(unused_variables)] // names are for the documentation
            pub trait $Trait<'a> {
                /// The whole object.
                fn object(&mut self, object: & $($mutable)? Object<'a>) {
                    object_parts(self, object);
                }
                /// A variable of the file.
                fn file_variable(&mut self, index: usize, variable: & $($mutable)? FileVariable<'a>) {}
                /// A routine.
                fn routine(&mut self, id: RoutineId, routine: & $($mutable)? Routine<'a>) {
                    routine_parts(self, id, routine);
                }
                /// A relocation of a variable of the file.
                fn variable_relocation(&mut self, relocation: & $($mutable)? Relocation) {}
                /// A relocation of a function.
                fn function_relocation(&mut self, relocation: & $($mutable)? Relocation) {}
                /// A native binary of a kernel.
                fn native_binary(&mut self, index: usize, binary: & $($mutable)? NativeBinary<'a>) {}
                /// The body of a routine.
                fn body(&mut self, body: & $($mutable)? Body<'a>) {
                    body_parts(self, body);
                }
                /// A string of the pool.
                #[allow(clippy::ptr_arg)] // the same method in both traits
                fn string(&mut self, index: usize, text: & $($mutable)? Cow<'a, [u8]>) {}
                /// A general variable.
                fn variable(&mut self, index: usize, variable: & $($mutable)? Variable<'a>) {
                    variable_parts(self, index, variable);
                }
                /// An address, predicate, sampler or surface variable.
                fn declaration(
                    &mut self,
                    table: Table,
                    index: usize,
                    declaration: & $($mutable)? Declaration<'a>,
                ) {
                    declaration_parts(self, table, index, declaration);
                }
                /// A label.
                fn label(&mut self, index: usize, label: & $($mutable)? Label<'a>) {
                    label_parts(self, index, label);
                }
                /// An input.
                fn input(&mut self, index: usize, input: & $($mutable)? Input) {
                    input_parts(self, index, input);
                }
                /// An attribute of the routine or of a symbol, which `place` tells.
                fn attribute(&mut self, place: Place, attribute: & $($mutable)? Attribute<'a>) {
                    attribute_parts(self, place, attribute);
                }
                /// An instruction.
                fn instruction(&mut self, index: usize, instruction: & $($mutable)? Instruction) {
                    instruction_parts(self, index, instruction);
                }
                /// Bytes among the code that could not be decoded.
                fn raw_item(&mut self, index: usize, item: & $($mutable)? RawItem<'a>) {}
                /// A field of an instruction.
                fn field(&mut self, place: Place, key: u16, field: & $($mutable)? Field) {
                    value_parts(self, place, key, & $($mutable)? field.value);
                }
                /// A vector operand.
                fn vector(&mut self, place: Place, operand: & $($mutable)? VectorOperand) {
                    vector_parts(self, place, operand);
                }
                /// A general operand.
                fn general(&mut self, place: Place, operand: & $($mutable)? GeneralOperand) {
                    $follow!(self, place, Table::Variable, operand.variable.0);
                }
                /// An address operand.
                fn address(&mut self, place: Place, operand: & $($mutable)? AddressOperand) {
                    $follow!(self, place, Table::Address, operand.address.0);
                }
                /// A predicate operand.
                fn predicate_operand(&mut self, place: Place, operand: & $($mutable)? PredicateOperand) {
                    self.predicate(place, & $($mutable)? operand.predicate);
                }
                /// An indirect operand.
                fn indirect(&mut self, place: Place, operand: & $($mutable)? IndirectOperand) {
                    $follow!(self, place, Table::Address, operand.address.0);
                }
                /// A constant.
                fn immediate(&mut self, place: Place, operand: & $($mutable)? ImmediateOperand) {}
                /// A surface or sampler operand.
                fn state(&mut self, place: Place, operand: & $($mutable)? StateOperand) {
                    state_parts(self, place, operand);
                }
                /// A raw operand.
                fn raw(&mut self, place: Place, operand: & $($mutable)? RawOperand) {
                    $follow!(self, place, Table::Variable, operand.variable.0);
                }
                /// Execution size and mask.
                fn exec_size(&mut self, place: Place, size: & $($mutable)? ExecSize) {}
                /// Element count and mask of the old gather and scatter messages.
                fn element_count(&mut self, place: Place, count: & $($mutable)? ElementCount) {}
                /// A predicate word, of predication or of an operand.
                fn predicate(&mut self, place: Place, word: & $($mutable)? Predicate) {
                    predicate_parts(self, place, word);
                }
                /// A sampler operation.
                fn sampler_op(&mut self, place: Place, op: & $($mutable)? SamplerOp) {}
                /// A field that is a plain number.
                fn number(&mut self, place: Place, value: & $($mutable)? Value) {}
                /// A number into a table: the end of every walk. Absent operands (no predicate,
                /// the bindless sampler, an alias of nothing) are no references; `V0` is one.
                fn reference(&mut self, place: Place, reference: $reference) {}
                /// A number that `reference` changed to one that its place cannot hold; it was
                /// left as it was.
                fn too_large(&mut self, place: Place, reference: Reference) {}
            }

            /// Goes on with the parts of an object.
            pub fn object_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                object: & $($mutable)? Object<'a>,
            ) {
                for (index, variable) in (0..).zip(& $($mutable)? object.file_variables) {
                    walk.file_variable(index, variable);
                }
                for (index, routine) in (0..).zip(& $($mutable)? object.kernels) {
                    walk.routine(RoutineId::new(visakit_isa::object::RoutineKind::Kernel, index), routine);
                }
                for (index, routine) in (0..).zip(& $($mutable)? object.functions) {
                    walk.routine(RoutineId::new(visakit_isa::object::RoutineKind::Function, index), routine);
                }
            }

            /// Goes on with the parts of a routine.
            pub fn routine_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                _: RoutineId,
                routine: & $($mutable)? Routine<'a>,
            ) {
                for relocation in & $($mutable)? routine.variable_relocations {
                    walk.variable_relocation(relocation);
                }
                for relocation in & $($mutable)? routine.function_relocations {
                    walk.function_relocation(relocation);
                }
                for (index, binary) in (0..).zip(& $($mutable)? routine.binaries) {
                    walk.native_binary(index, binary);
                }
                if let Content::Body(body) = & $($mutable)? routine.content {
                    walk.body(body);
                }
            }

            /// Goes on with the parts of a body.
            pub fn body_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                body: & $($mutable)? Body<'a>,
            ) {
                for (index, text) in (0..).zip(& $($mutable)? body.strings) {
                    walk.string(index, text);
                }
                $follow!(walk, Place::Name, Table::String, body.name.0);
                for (index, variable) in (0..).zip(& $($mutable)? body.variables) {
                    walk.variable(index, variable);
                }
                for (table, list) in [
                    (Table::Address, & $($mutable)? body.addresses),
                    (Table::Predicate, & $($mutable)? body.predicates),
                    (Table::Sampler, & $($mutable)? body.samplers),
                    (Table::Surface, & $($mutable)? body.surfaces),
                ] {
                    for (index, declaration) in (0..).zip(list) {
                        walk.declaration(table, index, declaration);
                    }
                }
                for (index, label) in (0..).zip(& $($mutable)? body.labels) {
                    walk.label(index, label);
                }
                for (index, input) in (0..).zip(& $($mutable)? body.inputs) {
                    walk.input(index, input);
                }
                for (index, attribute) in (0..).zip(& $($mutable)? body.attributes) {
                    walk.attribute(Place::Attribute(index), attribute);
                }
                for (index, item) in (0..).zip(& $($mutable)? body.code) {
                    match item {
                        Item::Instruction(instruction) => walk.instruction(index, instruction),
                        Item::Raw(raw) => walk.raw_item(index, raw),
                    }
                }
            }

            /// Goes on with the parts of a variable.
            pub fn variable_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                variable: & $($mutable)? Variable<'a>,
            ) {
                let place = Place::Entry(Table::Variable, index);
                $follow!(walk, place, Table::String, variable.name.0);
                if variable.alias_scope != 0 {
                    $follow!(walk, place, Table::FileVariable, variable.alias.0);
                } else if variable.alias.0 != 0 {
                    $follow!(walk, place, Table::Variable, variable.alias.0);
                }
                for attribute in & $($mutable)? variable.attributes {
                    walk.attribute(place, attribute);
                }
            }

            /// Goes on with the parts of a declaration.
            pub fn declaration_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                table: Table,
                index: usize,
                declaration: & $($mutable)? Declaration<'a>,
            ) {
                let place = Place::Entry(table, index);
                $follow!(walk, place, Table::String, declaration.name.0);
                for attribute in & $($mutable)? declaration.attributes {
                    walk.attribute(place, attribute);
                }
            }

            /// Goes on with the parts of a label.
            pub fn label_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                label: & $($mutable)? Label<'a>,
            ) {
                let place = Place::Entry(Table::Label, index);
                $follow!(walk, place, Table::String, label.name.0);
                for attribute in & $($mutable)? label.attributes {
                    walk.attribute(place, attribute);
                }
            }

            /// Goes on with the parts of an input.
            pub fn input_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                input: & $($mutable)? Input,
            ) {
                if let Some(table) = input_table(input.kind) {
                    $follow!(walk, Place::Input(index), table, input.index);
                }
            }

            /// Goes on with the parts of an attribute.
            pub fn attribute_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                place: Place,
                attribute: & $($mutable)? Attribute<'a>,
            ) {
                $follow!(walk, place, Table::String, attribute.name.0);
            }

            /// Goes on with the fields of an instruction.
            pub fn instruction_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                instruction: & $($mutable)? Instruction,
            ) {
                let (op, key) = (instruction.op, key_of(instruction));
                for field in & $($mutable)? instruction.fields {
                    let place = Place::Instruction { index, op, field: Some(field.name) };
                    walk.field(place, key, field);
                }
            }

            /// Goes on with the content of a field. The key is that of the instruction.
            pub fn value_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                place: Place,
                key: u16,
                value: & $($mutable)? Value,
            ) {
                match value {
                    Value::Vector(operand) => walk.vector(place, operand),
                    Value::Raw(operand) => walk.raw(place, operand),
                    Value::ExecSize(size) => walk.exec_size(place, size),
                    Value::ElementCount(count) => walk.element_count(place, count),
                    Value::Predicate(word) => walk.predicate(place, word),
                    Value::SamplerOp(op) => walk.sampler_op(place, op),
                    Value::Label(id) => $follow!(walk, place, Table::Label, id.0),
                    Value::String(id) => $follow!(walk, place, Table::String, id.0),
                    Value::Surface(id) => $follow!(walk, place, Table::Surface, id.0),
                    Value::Sampler(id) if *id == SamplerId::BINDLESS => {}
                    Value::Sampler(id) => $follow!(walk, place, Table::Sampler, id.0),
                    Value::Lifetime(id) => $follow!(walk, place, lifetime_table(key), id.0),
                    Value::U8(_) | Value::U16(_) | Value::U32(_) | Value::I32(_) => {
                        walk.number(place, value);
                    }
                }
            }

            /// Goes on with the class of a vector operand.
            pub fn vector_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                place: Place,
                operand: & $($mutable)? VectorOperand,
            ) {
                match operand {
                    VectorOperand::General(operand) => walk.general(place, operand),
                    VectorOperand::Address(operand) => walk.address(place, operand),
                    VectorOperand::Predicate(operand) => walk.predicate_operand(place, operand),
                    VectorOperand::Indirect(operand) => walk.indirect(place, operand),
                    VectorOperand::Immediate(operand) => walk.immediate(place, operand),
                    VectorOperand::State(operand) => walk.state(place, operand),
                }
            }

            /// Goes on with the entry that a state operand names.
            pub fn state_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                place: Place,
                operand: & $($mutable)? StateOperand,
            ) {
                let bindless = u16::from(SamplerId::BINDLESS.0);
                match operand.class {
                    StateClass::SURFACE => $follow!(walk, place, Table::Surface, operand.index),
                    StateClass::SAMPLER if operand.index != bindless => {
                        $follow!(walk, place, Table::Sampler, operand.index);
                    }
                    _ => {}
                }
            }

            /// Goes on with the variable of a predicate word.
            pub fn predicate_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                place: Place,
                word: & $($mutable)? Predicate,
            ) {
                if word.id().0 != 0 {
                    $follow!(walk, place, Table::Predicate, *word);
                }
            }
        }
    };
}

traversal! {
    /// Looking at everything of an object.
    visit, Visitor, Reference, look
}
traversal! {
    /// Changing anything of an object.
    rewrite, Rewriter, &mut Reference, change, mut
}
