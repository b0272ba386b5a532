//! The contents of objects in numbers: the instruction mix, operands, execution sizes, bytes.
//!
//! ```
//! use visakit::stats::{Sizes, Stats};
//! use visakit::{isa::Op, parse};
//!
//! # fn main() -> Result<(), parse::Error> {
//! # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
//! let mut total = Stats::default();
//! let sizes = Sizes::of(&parse::Container::parse(file)?);
//! total += Stats::of(&parse::read(file)?, sizes);
//! assert_eq!(total.kernels, 1);
//! assert!(total.ops[&Op::MOV] > 0);
//! assert_eq!(total.sizes.file, file.len() as u64);
//! # Ok(())
//! # }
//! ```

use crate::isa::object::{Body, Content, Item, Object, RoutineKind};
use crate::isa::operand::OperandClass;
use crate::isa::table::{FieldDef, Group, Role};
use crate::isa::{Dialect, Instruction, Op, Value, Version};
use crate::parse::{Container, ExtentId};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Numbers about one object, or about many of them added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Objects.
    pub objects: u64,
    /// Objects by version.
    pub versions: BTreeMap<Version, u64>,
    /// Objects by the dialect that they were read in.
    pub dialects: BTreeMap<Dialect, u64>,
    /// Kernels.
    pub kernels: u64,
    /// Functions.
    pub functions: u64,
    /// Decoded instructions by operation.
    pub ops: BTreeMap<Op, u64>,
    /// Pieces of code, or whole routines, that could not be decoded; only lenient reading has them.
    pub raw_items: u64,
    /// Instructions with a predicate.
    pub predicated: u64,
    /// Instructions by the number of lanes, where they have an execution size. `None`: a code that
    /// means nothing, which only lenient reading lets pass.
    pub exec_sizes: BTreeMap<Option<u8>, u64>,
    /// Operands that are written.
    pub destinations: Operands,
    /// Operands that are read.
    pub sources: Operands,
    /// Bytes.
    pub sizes: Sizes,
}

impl Stats {
    /// Counts the content of an object; `sizes` are those of the file that it was read from.
    #[must_use]
    pub fn of(object: &Object<'_>, sizes: Sizes) -> Self {
        let mut stats = Self {
            objects: 1,
            sizes,
            ..Self::default()
        };
        stats.versions.insert(object.version, 1);
        stats.dialects.insert(object.dialect, 1);
        for (id, routine) in object.routines() {
            match id.kind {
                RoutineKind::Kernel => stats.kernels += 1,
                RoutineKind::Function => stats.functions += 1,
            }
            match &routine.content {
                Content::Body(body) => stats.body(body),
                Content::Raw(_) | Content::Missing(_) => stats.raw_items += 1,
            }
        }
        stats
    }

    fn body(&mut self, body: &Body<'_>) {
        for item in &body.code {
            match item {
                Item::Instruction(instruction) => self.instruction(instruction),
                Item::Raw(_) => self.raw_items += 1,
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        *self.ops.entry(instruction.op).or_default() += 1;
        let def = instruction.def();
        for field in &instruction.fields {
            match field.value {
                Value::ExecSize(size) => *self.exec_sizes.entry(size.lanes()).or_default() += 1,
                Value::Predicate(predicate) => self.predicated += u64::from(!predicate.is_none()),
                Value::Vector(_) | Value::Raw(_) => {
                    let place = def.fields.iter().find(|f| f.name == field.name);
                    self.operand(place, &field.value);
                }
                _ => {}
            }
        }
    }

    fn operand(&mut self, place: Option<&FieldDef>, value: &Value) {
        match place.map(|f| f.role) {
            Some(Role::Destination) => self.destinations.count(value),
            Some(Role::Source) => self.sources.count(value),
            Some(Role::Control) | None => {}
        }
    }

    /// Decoded instructions.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.ops.values().sum()
    }

    /// Operations with their numbers of instructions, most frequent first.
    #[must_use]
    pub fn by_count(&self) -> Vec<(Op, u64)> {
        let mut ops: Vec<(Op, u64)> = self.ops.iter().map(|(op, n)| (*op, *n)).collect();
        ops.sort_by_key(|(op, n)| (std::cmp::Reverse(*n), *op));
        ops
    }

    /// Groups of operations with their numbers of instructions, most frequent first.
    #[must_use]
    pub fn groups(&self) -> Vec<(Group, u64)> {
        let mut groups: Vec<(Group, u64)> = Vec::new();
        for (op, n) in &self.ops {
            let group = op.def().group;
            match groups.iter_mut().find(|(g, _)| *g == group) {
                Some((_, count)) => *count += n,
                None => groups.push((group, *n)),
            }
        }
        groups.sort_by_key(|(group, n)| (std::cmp::Reverse(*n), group.name()));
        groups
    }
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.objects += other.objects;
        add(&mut self.versions, other.versions);
        add(&mut self.dialects, other.dialects);
        self.kernels += other.kernels;
        self.functions += other.functions;
        add(&mut self.ops, other.ops);
        self.raw_items += other.raw_items;
        self.predicated += other.predicated;
        add(&mut self.exec_sizes, other.exec_sizes);
        self.destinations += other.destinations;
        self.sources += other.sources;
        self.sizes += other.sizes;
    }
}

fn add<K: Ord>(to: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
    for (key, n) in from {
        *to.entry(key).or_default() += n;
    }
}

/// Declares a struct of counters that can be added up and listed by name.
macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $( $(#[$doc:meta])* $field:ident, )* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$doc])* pub $field: u64, )*
        }

        impl $name {
            /// Names and numbers, in order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field)),*].into_iter()
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $( self.$field += other.$field; )*
            }
        }
    };
}

counters! {
    /// Operands by class.
    Operands {
        /// General variables with a region.
        general,
        /// Address variables.
        address,
        /// Predicate variables as data.
        predicate,
        /// Accesses through an address variable.
        indirect,
        /// Constants.
        immediate,
        /// Surfaces and samplers as data.
        state,
        /// Raw operands, without the null ones.
        raw,
        /// Raw operands that name the null variable: nothing is read or written.
        raw_null,
    }
}

impl Operands {
    fn count(&mut self, value: &Value) {
        let counter = match value {
            Value::Vector(operand) => match operand.class() {
                OperandClass::General => &mut self.general,
                OperandClass::Address => &mut self.address,
                OperandClass::Predicate => &mut self.predicate,
                OperandClass::Indirect => &mut self.indirect,
                OperandClass::Immediate => &mut self.immediate,
                OperandClass::State => &mut self.state,
            },
            Value::Raw(operand) if operand.is_null() => &mut self.raw_null,
            Value::Raw(_) => &mut self.raw,
            _ => return,
        };
        *counter += 1;
    }

    /// All operands.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, n)| n).sum()
    }
}

counters! {
    /// Bytes of a file, by what they are for.
    Sizes {
        /// All of them.
        file,
        /// The file header.
        header,
        /// Symbol tables, inputs and attributes of routines.
        tables,
        /// Instructions.
        code,
        /// Native code.
        native,
    }
}

impl Sizes {
    /// Sizes in a file. Places that are outside of the file and routines whose tables cannot be
    /// read are not counted.
    #[must_use]
    pub fn of(container: &Container<'_>) -> Self {
        let mut sizes = Self {
            file: container.bytes().len() as u64,
            header: container.header_end(),
            ..Self::default()
        };
        for place in container.extents() {
            match place.id {
                ExtentId::Routine(id) => {
                    if let Ok(routine) = container.routine(id) {
                        sizes.tables += routine.tables_end() - routine.offset();
                        sizes.code += routine.code().len() as u64;
                    }
                }
                ExtentId::Binary { .. } => {
                    sizes.native += container.slice(place).map_or(0, |b| b.len() as u64);
                }
            }
        }
        sizes
    }

    /// Bytes that are in none of the parts: fillers, and what could not be read.
    #[must_use]
    pub fn other(&self) -> u64 {
        let known = self.header + self.tables + self.code + self.native;
        self.file.saturating_sub(known)
    }
}
