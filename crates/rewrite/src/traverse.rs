//! Walks over all parts of an object: [`Visitor`] reads, [`Rewriter`] changes.
//!
//! Both have one method for each construct. A method that is not overridden continues with the
//! parts of the construct, through the function `*_parts` of the same name; an overridden one calls
//! that function itself if it needs the parts. The meaning of operands is derived from the values
//! of the fields: there is no list of opcodes here.
//!
//! Every number into a symbol table ends at `reference`, whichever operand, declaration or input
//! contains it. So an analysis of uses or a renumbering is one method. Methods of a [`Rewriter`]
//! return a `Result`: what cannot be done is reported, with its place, and never dropped.
//!
//! ```
//! use visakit_isa::object::{Object, RoutineId};
//! use visakit_rewrite::{Location, Reference, Table, visit::{self, Visitor}};
//!
//! /// Counts how often each variable is named.
//! #[derive(Default)]
//! struct Count(std::collections::BTreeMap<u32, usize>);
//! impl Visitor<'_> for Count {
//!     fn reference(&mut self, _: Location, reference: Reference) {
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
//!
//! ```
//! use visakit_isa::operand::ImmediateOperand;
//! use visakit_rewrite::{Error, Location, rewrite::Rewriter};
//!
//! /// Makes every integer constant 1 a 2.
//! struct OneToTwo;
//! impl Rewriter<'_> for OneToTwo {
//!     fn immediate(&mut self, _: Location, operand: &mut ImmediateOperand) -> Result<(), Error> {
//!         let ty = operand.data_type();
//!         // Bits above those of the type do not count.
//!         let unused = 64 - 8 * u32::from(ty.size());
//!         if !ty.is_float() && operand.bits() << unused >> unused == 1 {
//!             operand.set_bits(2);
//!         }
//!         Ok(())
//!     }
//! }
//! # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
//! let mut object = visakit_parse::read(file).unwrap();
//! OneToTwo.object(&mut object)?;
//! let changed = visakit_encode::write(&object).unwrap();
//! assert_ne!(changed, file);
//! # Ok::<(), Error>(())
//! ```

use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table};
use crate::native::Compiled;
use std::borrow::Cow;
use visakit_isa::object::{
    Attribute, Body, Content, Declaration, FileVariable, Input, InputKind, Item, Label,
    NativeBinary, Object, RawItem, Relocation, Routine, RoutineId, RoutineKind, Variable,
};
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, OperandClass,
    PredicateOperand, StateClass, StateOperand,
};
use visakit_isa::{
    ElementCount, ExecSize, Field, Instruction, Predicate, RawOperand, SamplerId, SamplerOp, Value,
    VectorOperand,
};

/// The table of the variable of a LIFETIME, according to the properties.
const fn lifetime_table(properties: u16) -> Table {
    match OperandClass::of_lifetime(properties) {
        Some(OperandClass::Address) => Table::Address,
        Some(OperandClass::Predicate) => Table::Predicate,
        _ => Table::Variable,
    }
}

/// The key that determines the other fields of an instruction, 0 if there is none.
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
    /// This reference with another number, where it fits.
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
        // 0 would mean no predicate; files have no more than twelve bits.
        let id = u16::try_from(id)
            .ok()
            .filter(|id| (1..=0xfff).contains(id))?;
        Some(self.with_id(visakit_isa::PredicateId(id)))
    }
}

macro_rules! look {
    ($walk:expr, $location:expr, $table:expr, $id:expr) => {
        $walk.reference($location, Reference::new($table, Index::get($id)))
    };
    ($walk:expr, $object:expr) => {
        object_parts($walk, $object)
    };
}

macro_rules! change {
    ($walk:expr, $location:expr, $table:expr, $id:expr) => {{
        let (location, before) = ($location, Reference::new($table, Index::get($id)));
        let mut after = before;
        $walk.reference(location, &mut after)?;
        match Index::with($id, after.id) {
            _ if after.id == before.id => Ok(()),
            Some(new) => {
                $id = new;
                Ok(())
            }
            None => $walk.too_large(location, Reference::new(before.table, after.id)),
        }
    }};
    ($walk:expr, $object:expr) => {{
        let compiled = Compiled::of($object);
        let result = object_parts($walk, $object);
        if !$walk.keeps_native() {
            compiled.discard_stale($object);
        }
        result
    }};
}

/// Makes the trait and its walks once with `&` and once with `&mut`.
macro_rules! traversal {
    (
        $(#[$meta:meta])*
        $module:ident, $Trait:ident, $reference:ty, $follow:ident
        $(, $mutable:tt, $Out:ty, $done:expr, $q:tt, { $($methods:item)* })?
    ) => {
        $(#[$meta])*
        pub mod $module {
            #[allow(clippy::wildcard_imports)] // the same names in both modules
            use super::*;

            $(#[$meta])*
            #[allow(unused_variables)] // names are for the documentation
            pub trait $Trait<'a> {
                /// The whole object.
                fn object(&mut self, object: & $($mutable)? Object<'a>) $(-> $Out)? {
                    $follow!(self, object)
                }
                /// A variable of the file.
                fn file_variable(&mut self, index: usize, variable: & $($mutable)? FileVariable<'a>) $(-> $Out)? { $($done)? }
                /// A routine.
                fn routine(&mut self, id: RoutineId, routine: & $($mutable)? Routine<'a>) $(-> $Out)? {
                    routine_parts(self, id, routine)
                }
                /// A relocation of a variable of the file.
                fn variable_relocation(&mut self, relocation: & $($mutable)? Relocation) $(-> $Out)? { $($done)? }
                /// A relocation of a function.
                fn function_relocation(&mut self, relocation: & $($mutable)? Relocation) $(-> $Out)? { $($done)? }
                /// A native binary of a kernel.
                fn native_binary(&mut self, index: usize, binary: & $($mutable)? NativeBinary<'a>) $(-> $Out)? { $($done)? }
                /// The body of a routine.
                fn body(&mut self, body: & $($mutable)? Body<'a>) $(-> $Out)? {
                    body_parts(self, body)
                }
                /// A string of the pool.
                #[allow(clippy::ptr_arg)] // the same method in both traits
                fn string(&mut self, index: usize, text: & $($mutable)? Cow<'a, [u8]>) $(-> $Out)? { $($done)? }
                /// A general variable.
                fn variable(&mut self, index: usize, variable: & $($mutable)? Variable<'a>) $(-> $Out)? {
                    variable_parts(self, index, variable)
                }
                /// An address, predicate, sampler or surface variable.
                fn declaration(
                    &mut self,
                    table: Table,
                    index: usize,
                    declaration: & $($mutable)? Declaration<'a>,
                ) $(-> $Out)? {
                    declaration_parts(self, table, index, declaration)
                }
                /// A label.
                fn label(&mut self, index: usize, label: & $($mutable)? Label<'a>) $(-> $Out)? {
                    label_parts(self, index, label)
                }
                /// An input.
                fn input(&mut self, index: usize, input: & $($mutable)? Input) $(-> $Out)? {
                    input_parts(self, index, input)
                }
                /// An attribute of the routine or of a symbol, which `location` names.
                fn attribute(&mut self, location: Location, attribute: & $($mutable)? Attribute<'a>) $(-> $Out)? {
                    attribute_parts(self, location, attribute)
                }
                /// An instruction.
                fn instruction(&mut self, index: usize, instruction: & $($mutable)? Instruction) $(-> $Out)? {
                    instruction_parts(self, index, instruction)
                }
                /// Bytes among the code that could not be decoded.
                fn raw_item(&mut self, index: usize, item: & $($mutable)? RawItem<'a>) $(-> $Out)? { $($done)? }
                /// A field of an instruction.
                fn field(&mut self, location: Location, key: u16, field: & $($mutable)? Field) $(-> $Out)? {
                    value_parts(self, location, key, & $($mutable)? field.value)
                }
                /// A vector operand.
                fn vector(&mut self, location: Location, operand: & $($mutable)? VectorOperand) $(-> $Out)? {
                    vector_parts(self, location, operand)
                }
                /// A general operand.
                fn general(&mut self, location: Location, operand: & $($mutable)? GeneralOperand) $(-> $Out)? {
                    $follow!(self, location, Table::Variable, operand.variable.0)
                }
                /// An address operand.
                fn address(&mut self, location: Location, operand: & $($mutable)? AddressOperand) $(-> $Out)? {
                    $follow!(self, location, Table::Address, operand.address.0)
                }
                /// A predicate operand.
                fn predicate_operand(&mut self, location: Location, operand: & $($mutable)? PredicateOperand) $(-> $Out)? {
                    self.predicate(location, & $($mutable)? operand.predicate)
                }
                /// An indirect operand.
                fn indirect(&mut self, location: Location, operand: & $($mutable)? IndirectOperand) $(-> $Out)? {
                    $follow!(self, location, Table::Address, operand.address.0)
                }
                /// A constant.
                fn immediate(&mut self, location: Location, operand: & $($mutable)? ImmediateOperand) $(-> $Out)? { $($done)? }
                /// A surface or sampler operand.
                fn state(&mut self, location: Location, operand: & $($mutable)? StateOperand) $(-> $Out)? {
                    state_parts(self, location, operand)
                }
                /// A raw operand.
                fn raw(&mut self, location: Location, operand: & $($mutable)? RawOperand) $(-> $Out)? {
                    $follow!(self, location, Table::Variable, operand.variable.0)
                }
                /// Execution size and mask.
                fn exec_size(&mut self, location: Location, size: & $($mutable)? ExecSize) $(-> $Out)? { $($done)? }
                /// Element count and mask of the old gather and scatter messages.
                fn element_count(&mut self, location: Location, count: & $($mutable)? ElementCount) $(-> $Out)? { $($done)? }
                /// A predicate word, of predication or of an operand.
                fn predicate(&mut self, location: Location, word: & $($mutable)? Predicate) $(-> $Out)? {
                    predicate_parts(self, location, word)
                }
                /// A sampler operation.
                fn sampler_op(&mut self, location: Location, op: & $($mutable)? SamplerOp) $(-> $Out)? { $($done)? }
                /// A field that is a plain number.
                fn number(&mut self, location: Location, value: & $($mutable)? Value) $(-> $Out)? { $($done)? }
                /// A number into a table: the end of every walk. Absent operands (no predicate, the
                /// bindless sampler, no alias) are not references; `V0` is one.
                fn reference(&mut self, location: Location, reference: $reference) $(-> $Out)? { $($done)? }
                $($($methods)*)?
            }

            /// Continues with the parts of an object.
            pub fn object_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                object: & $($mutable)? Object<'a>,
            ) $(-> $Out)? {
                for (index, variable) in (0..).zip(& $($mutable)? object.file_variables) {
                    walk.file_variable(index, variable) $($q)?;
                }
                for (index, routine) in (0..).zip(& $($mutable)? object.kernels) {
                    let id = RoutineId::new(RoutineKind::Kernel, index);
                    walk.routine(id, routine) $(.map_err(|e| e.within(id, &routine.name)) $q)?;
                }
                for (index, routine) in (0..).zip(& $($mutable)? object.functions) {
                    let id = RoutineId::new(RoutineKind::Function, index);
                    walk.routine(id, routine) $(.map_err(|e| e.within(id, &routine.name)) $q)?;
                }
                $($done)?
            }

            /// Continues with the parts of a routine.
            pub fn routine_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                _: RoutineId,
                routine: & $($mutable)? Routine<'a>,
            ) $(-> $Out)? {
                for relocation in & $($mutable)? routine.variable_relocations {
                    walk.variable_relocation(relocation) $($q)?;
                }
                for relocation in & $($mutable)? routine.function_relocations {
                    walk.function_relocation(relocation) $($q)?;
                }
                for (index, binary) in (0..).zip(& $($mutable)? routine.binaries) {
                    walk.native_binary(index, binary) $($q)?;
                }
                if let Content::Body(body) = & $($mutable)? routine.content {
                    walk.body(body) $($q)?;
                }
                $($done)?
            }

            /// Continues with the parts of a body.
            pub fn body_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                body: & $($mutable)? Body<'a>,
            ) $(-> $Out)? {
                for (index, text) in (0..).zip(& $($mutable)? body.strings) {
                    walk.string(index, text)
                        $(.map_err(|e| e.or_at(Location::Entry(Table::String, index))) $q)?;
                }
                $follow!(walk, Location::Name, Table::String, body.name.0) $($q)?;
                for (index, variable) in (0..).zip(& $($mutable)? body.variables) {
                    walk.variable(index, variable)
                        $(.map_err(|e| e.or_at(Location::Entry(Table::Variable, index))) $q)?;
                }
                for (table, list) in [
                    (Table::Address, & $($mutable)? body.addresses),
                    (Table::Predicate, & $($mutable)? body.predicates),
                    (Table::Sampler, & $($mutable)? body.samplers),
                    (Table::Surface, & $($mutable)? body.surfaces),
                ] {
                    for (index, declaration) in (0..).zip(list) {
                        walk.declaration(table, index, declaration)
                        $(.map_err(|e| e.or_at(Location::Entry(table, index))) $q)?;
                    }
                }
                for (index, label) in (0..).zip(& $($mutable)? body.labels) {
                    walk.label(index, label)
                        $(.map_err(|e| e.or_at(Location::Entry(Table::Label, index))) $q)?;
                }
                for (index, input) in (0..).zip(& $($mutable)? body.inputs) {
                    walk.input(index, input)
                        $(.map_err(|e| e.or_at(Location::Input(index))) $q)?;
                }
                for (index, attribute) in (0..).zip(& $($mutable)? body.attributes) {
                    walk.attribute(Location::Attribute(index), attribute)
                        $(.map_err(|e| e.or_at(Location::Attribute(index))) $q)?;
                }
                for (index, item) in (0..).zip(& $($mutable)? body.code) {
                    match item {
                        Item::Instruction(instruction) => {
                            walk.instruction(index, instruction)
                                $(.map_err(|e| e.or_at(Location::of(index, instruction))) $q)?;
                        }
                        Item::Raw(raw) => walk.raw_item(index, raw)
                            $(.map_err(|e| e.or_at(Location::Undecoded(index))) $q)?,
                    }
                }
                $($done)?
            }

            /// Continues with the parts of a variable.
            pub fn variable_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                variable: & $($mutable)? Variable<'a>,
            ) $(-> $Out)? {
                let location = Location::Entry(Table::Variable, index);
                $follow!(walk, location, Table::String, variable.name.0) $($q)?;
                if variable.alias_scope != 0 {
                    $follow!(walk, location, Table::FileVariable, variable.alias.0) $($q)?;
                } else if variable.alias.0 != 0 {
                    $follow!(walk, location, Table::Variable, variable.alias.0) $($q)?;
                }
                for attribute in & $($mutable)? variable.attributes {
                    walk.attribute(location, attribute) $($q)?;
                }
                $($done)?
            }

            /// Continues with the parts of a declaration.
            pub fn declaration_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                table: Table,
                index: usize,
                declaration: & $($mutable)? Declaration<'a>,
            ) $(-> $Out)? {
                let location = Location::Entry(table, index);
                $follow!(walk, location, Table::String, declaration.name.0) $($q)?;
                for attribute in & $($mutable)? declaration.attributes {
                    walk.attribute(location, attribute) $($q)?;
                }
                $($done)?
            }

            /// Continues with the parts of a label.
            pub fn label_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                label: & $($mutable)? Label<'a>,
            ) $(-> $Out)? {
                let location = Location::Entry(Table::Label, index);
                $follow!(walk, location, Table::String, label.name.0) $($q)?;
                for attribute in & $($mutable)? label.attributes {
                    walk.attribute(location, attribute) $($q)?;
                }
                $($done)?
            }

            /// Continues with the parts of an input.
            pub fn input_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                input: & $($mutable)? Input,
            ) $(-> $Out)? {
                if let Some(table) = input_table(input.kind) {
                    $follow!(walk, Location::Input(index), table, input.index) $($q)?;
                }
                $($done)?
            }

            /// Continues with the parts of an attribute.
            pub fn attribute_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                location: Location,
                attribute: & $($mutable)? Attribute<'a>,
            ) $(-> $Out)? {
                $follow!(walk, location, Table::String, attribute.name.0)
            }

            /// Continues with the fields of an instruction.
            pub fn instruction_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                index: usize,
                instruction: & $($mutable)? Instruction,
            ) $(-> $Out)? {
                let (op, key) = (instruction.op, key_of(instruction));
                for field in & $($mutable)? instruction.fields {
                    let location = Location::Instruction { index, op, field: Some(field.name) };
                    walk.field(location, key, field) $(.map_err(|e| e.or_at(location)) $q)?;
                }
                $($done)?
            }

            /// Continues with the content of a field. The key is that of the instruction.
            pub fn value_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                location: Location,
                key: u16,
                value: & $($mutable)? Value,
            ) $(-> $Out)? {
                match value {
                    Value::Vector(operand) => walk.vector(location, operand),
                    Value::Raw(operand) => walk.raw(location, operand),
                    Value::ExecSize(size) => walk.exec_size(location, size),
                    Value::ElementCount(count) => walk.element_count(location, count),
                    Value::Predicate(word) => walk.predicate(location, word),
                    Value::SamplerOp(op) => walk.sampler_op(location, op),
                    Value::Label(id) => $follow!(walk, location, Table::Label, id.0),
                    Value::String(id) => $follow!(walk, location, Table::String, id.0),
                    Value::Surface(id) => $follow!(walk, location, Table::Surface, id.0),
                    Value::Sampler(id) if *id == SamplerId::BINDLESS => { $($done)? }
                    Value::Sampler(id) => $follow!(walk, location, Table::Sampler, id.0),
                    Value::Lifetime(id) => $follow!(walk, location, lifetime_table(key), id.0),
                    Value::U8(_) | Value::U16(_) | Value::U32(_) | Value::I32(_) => {
                        walk.number(location, value)
                    }
                }
            }

            /// Continues with the class of a vector operand.
            pub fn vector_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                location: Location,
                operand: & $($mutable)? VectorOperand,
            ) $(-> $Out)? {
                match operand {
                    VectorOperand::General(operand) => walk.general(location, operand),
                    VectorOperand::Address(operand) => walk.address(location, operand),
                    VectorOperand::Predicate(operand) => walk.predicate_operand(location, operand),
                    VectorOperand::Indirect(operand) => walk.indirect(location, operand),
                    VectorOperand::Immediate(operand) => walk.immediate(location, operand),
                    VectorOperand::State(operand) => walk.state(location, operand),
                }
            }

            /// Continues with the entry that a state operand names.
            pub fn state_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                location: Location,
                operand: & $($mutable)? StateOperand,
            ) $(-> $Out)? {
                let bindless = u16::from(SamplerId::BINDLESS.0);
                match operand.class {
                    StateClass::SURFACE => $follow!(walk, location, Table::Surface, operand.index),
                    StateClass::SAMPLER if operand.index != bindless => {
                        $follow!(walk, location, Table::Sampler, operand.index)
                    }
                    _ => { $($done)? }
                }
            }

            /// Continues with the variable of a predicate word.
            pub fn predicate_parts<'a, W: $Trait<'a> + ?Sized>(
                walk: &mut W,
                location: Location,
                word: & $($mutable)? Predicate,
            ) $(-> $Out)? {
                if word.id().0 != 0 {
                    $follow!(walk, location, Table::Predicate, *word) $($q)?;
                }
                $($done)?
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
    ///
    /// The first error ends the walk. Changes made before it remain: callers that need the original
    /// object keep a copy. Errors without a place get the location that the walk has reached, and
    /// the routine.
    ///
    /// Native code belongs to the code that it was compiled from: `object` discards that of kernels
    /// that the walk has changed, see [`Object::discard_native`]. Walks that begin
    /// at a part of the object cannot.
    rewrite, Rewriter, &mut Reference, change, mut, Result<(), Error>, Ok(()), ?,
    {
        /// A number that `reference` asked for and that its location cannot hold. It is left as it
        /// was. An override may collect such errors and continue.
        fn too_large(&mut self, location: Location, reference: Reference) -> Result<(), Error> {
            Err(Error::at(ErrorKind::TooLarge(reference), location))
        }
        /// Whether kernels keep their native code, whatever the walk has changed.
        fn keeps_native(&self) -> bool {
            false
        }
    }
}
