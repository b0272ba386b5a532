//! Variables that share storage.

use std::collections::BTreeSet;
use visakit_isa::object::{Body, InputKind, Item, Object};
use visakit_isa::semantics::Resource;
use visakit_isa::table::Group;
use visakit_isa::{AnyInstruction, Value, VarId, VectorOperand};

/// A general variable that has its own storage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Root {
    /// A predefined variable, by its number.
    Predefined(u32),
    /// A variable of the file, by its place in the file's table.
    File(usize),
    /// A variable of the routine, by its place in the routine's table.
    Own(usize),
}

impl Root {
    /// The variable's name; its number where it has none.
    #[must_use]
    pub fn name(self, object: &Object<'_>, body: &Body<'_>) -> String {
        let bytes = match self {
            Self::Predefined(index) => {
                let known = object.format().predefined_variables().get(index as usize);
                return known.map_or_else(|| format!("V{index}"), |v| format!("%{}", v.name));
            }
            Self::File(index) => {
                let variable = object.file_variables.get(index);
                return variable.map_or_else(
                    || format!("file variable {index}"),
                    |v| String::from_utf8_lossy(&v.name).into_owned(),
                );
            }
            Self::Own(index) => body
                .variables
                .get(index)
                .and_then(|v| body.string(v.name))
                .unwrap_or_default(),
        };
        match (self, bytes) {
            (Self::Own(index), []) => {
                format!(
                    "V{}",
                    index + object.format().predefined_variable_count() as usize
                )
            }
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// A variable as a part of its root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) root: Root,
    /// Byte of the root where it begins.
    pub(crate) offset: usize,
    /// Its own size in bytes.
    pub(crate) bytes: usize,
    /// Size of an element in bytes.
    pub(crate) element: usize,
}

/// All variables of a routine.
pub(crate) struct Storage<'a> {
    object: &'a Object<'a>,
    predefined: usize,
    /// The place of each variable of the routine; `None` for aliases without a target.
    parts: Vec<Option<Part>>,
}

impl<'a> Storage<'a> {
    pub(crate) fn of(object: &'a Object<'a>, body: &Body<'_>) -> Self {
        let predefined = object.format().predefined_variable_count() as usize;
        let mut storage = Self {
            object,
            predefined,
            parts: Vec::with_capacity(body.variables.len()),
        };
        for variable in &body.variables {
            let part = Part {
                root: Root::Own(storage.parts.len()),
                offset: 0,
                bytes: variable.size() as usize,
                element: usize::from(variable.properties.data_type().size()),
            };
            let part = if variable.is_alias() {
                let target = variable.alias.0 as usize;
                let root = if variable.alias_scope != 0 {
                    (target < object.file_variables.len()).then_some((Root::File(target), 0))
                } else if target < predefined {
                    Some((Root::Predefined(variable.alias.0), 0))
                } else {
                    // Aliases name earlier variables: those are resolved.
                    let earlier = storage.parts.get(target - predefined).copied().flatten();
                    earlier.map(|e| (e.root, e.offset))
                };
                root.map(|(root, offset)| Part {
                    root,
                    offset: offset + usize::from(variable.alias_offset),
                    ..part
                })
            } else {
                Some(part)
            };
            storage.parts.push(part);
        }
        storage
    }

    /// The place of a variable.
    pub(crate) fn part(&self, variable: VarId) -> Option<Part> {
        let index = variable.0 as usize;
        match index.checked_sub(self.predefined) {
            Some(own) => self.parts.get(own).copied().flatten(),
            None => Some(Part {
                root: Root::Predefined(variable.0),
                offset: 0,
                bytes: self.bytes(Root::Predefined(variable.0), &[]),
                element: self
                    .object
                    .format()
                    .predefined_variables()
                    .get(index)
                    .map_or(4, |v| usize::from(v.data_type.size())),
            }),
        }
    }

    /// Size of a root in bytes.
    fn bytes(&self, root: Root, own: &[visakit_isa::object::Variable<'_>]) -> usize {
        match root {
            Root::Own(index) => own.get(index).map_or(0, |v| v.size() as usize),
            Root::File(index) => self.object.file_variables.get(index).map_or(0, |v| {
                usize::from(v.elements) * usize::from(v.properties.data_type().size())
            }),
            Root::Predefined(index) => self
                .object
                .format()
                .predefined_variables()
                .get(index as usize)
                .map_or(0, |v| {
                    usize::from(v.elements) * usize::from(v.data_type.size())
                }),
        }
    }

    /// Size of a root of this routine in bytes.
    pub(crate) fn size(&self, root: Root, body: &Body<'_>) -> usize {
        self.bytes(root, &body.variables)
    }

    /// Roots whose address is taken: accesses through an address may affect any of them.
    pub(crate) fn taken(&self, body: &Body<'_>) -> BTreeSet<Root> {
        let mut taken = BTreeSet::new();
        for item in &body.code {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            if instruction.def().group != Group::Address {
                continue;
            }
            for (_, value) in instruction.operands() {
                if let Value::Vector(VectorOperand::General(operand)) = value
                    && let Some(part) = self.part(operand.variable)
                {
                    taken.insert(part.root);
                }
            }
        }
        taken
    }

    /// Roots that hold something when the routine begins.
    pub(crate) fn inputs(&self, body: &Body<'_>) -> BTreeSet<Root> {
        let inputs = body.inputs.iter();
        let general = inputs.filter(|input| input.kind.class() == InputKind::GENERAL.class());
        general
            .filter_map(|input| Some(self.part(VarId(input.index))?.root))
            .collect()
    }
}

/// Whether something is a general variable, and which.
pub(crate) fn general(resource: Resource) -> Option<VarId> {
    match resource {
        Resource::General(variable) => Some(variable),
        _ => None,
    }
}
