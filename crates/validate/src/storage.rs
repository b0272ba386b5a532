//! The storage of variables, and where operands begin in it.

use crate::checker::{Site, Slot};
use alloc::vec::Vec;
use visakit_isa::object::{Body, InputKind, Variable};
use visakit_isa::operand::{GeneralOperand, Modifier, RawOperand, VectorOperand};
use visakit_isa::{DataType, Format, Value, VarId};

/// How aliases of a variable end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At a declared variable with its own storage, by its index in the table.
    Declared(u32),
    /// At a predefined variable.
    Predefined,
    /// At a file-scope variable.
    File,
    /// At a variable that does not exist.
    Missing,
    /// Nowhere.
    Cycle,
}

impl End {
    /// The index of the declared variable with the storage.
    fn index(self) -> Option<usize> {
        match self {
            Self::Declared(index) => usize::try_from(index).ok(),
            _ => None,
        }
    }

    /// The declared variable with the storage.
    pub(crate) fn root<'b, 'a>(self, body: &'b Body<'a>) -> Option<&'b Variable<'a>> {
        body.variables.get(self.index()?)
    }
}

/// The storage of a declared variable.
#[derive(Clone, Copy)]
struct Storage {
    end: End,
    /// Offset from the start of that variable in bytes.
    offset: u32,
}

impl Storage {
    const fn at(end: End) -> Self {
        Self { end, offset: 0 }
    }
}

/// A general variable, as operands see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General {
    pub(crate) ty: DataType,
    /// Whether the routine declares it.
    pub(crate) declared: bool,
    /// Bytes; 0 for predefined variables.
    pub(crate) size: u32,
    /// How its aliases end.
    pub(crate) end: End,
    /// Offset from the start of the variable with the storage in bytes.
    pub(crate) offset: u32,
    /// Bytes of that variable, where it is declared here.
    pub(crate) root_size: Option<u32>,
    /// Where the host puts that variable, if it is an input: bytes from the first register.
    pub(crate) input: Option<u32>,
}

/// The general variables by number, predefined ones first.
pub(crate) fn generals(body: &Body<'_>, format: Format) -> Vec<General> {
    let predefined = (0..format.predefined_variable_count()).map(|number| {
        let known = format.predefined_variable(VarId(number));
        General {
            ty: known.map_or(DataType::Ud, |v| v.data_type),
            declared: false,
            size: 0,
            end: End::Predefined,
            offset: 0,
            root_size: None,
            input: None,
        }
    });
    let storages = storages(body, format);
    let inputs = inputs(body, format, &storages);
    let declared = body.variables.iter().zip(storages);
    let declared = declared.map(|(variable, storage)| General {
        ty: variable.properties.data_type(),
        declared: true,
        size: variable.size(),
        end: storage.end,
        offset: storage.offset,
        root_size: storage.end.root(body).map(Variable::size),
        input: storage.end.index().and_then(|root| *inputs.get(root)?),
    });
    predefined.chain(declared).collect()
}

/// Where inputs are, by the index of the variable with the storage.
fn inputs(body: &Body<'_>, format: Format, storages: &[Storage]) -> Vec<Option<u32>> {
    let mut found = alloc::vec![None; storages.len()];
    let first = format.predefined_variable_count();
    for input in &body.inputs {
        if input.kind.class() != InputKind::GENERAL {
            continue;
        }
        let index = input.index.checked_sub(first);
        let storage = index.and_then(|i| storages.get(usize::try_from(i).ok()?));
        let Some(storage) = storage.filter(|storage| storage.offset == 0) else {
            continue;
        };
        let place = storage.end.index().and_then(|root| found.get_mut(root));
        if let Some(place) = place {
            *place = Some(input.offset.unsigned_abs().into());
        }
    }
    found
}

/// Follows the aliases of all variables of a routine, each link once.
fn storages(body: &Body<'_>, format: Format) -> Vec<Storage> {
    let first = format.predefined_variable_count();
    // Variables with their own storage; the others are filled in below.
    let own = |(index, variable): (u32, &Variable<'_>)| {
        (!variable.is_alias()).then_some(Storage::at(End::Declared(index)))
    };
    let mut found: Vec<Option<Storage>> = (0..).zip(&body.variables).map(own).collect();
    // 0: not seen, else the number of the walk that has seen it.
    let mut seen = alloc::vec![0u32; body.variables.len()];
    let mut path: Vec<usize> = Vec::new();
    for (start, variable) in body.variables.iter().enumerate() {
        if !variable.is_alias() {
            continue;
        }
        let walk = u32::try_from(start).unwrap_or(u32::MAX - 1) + 1;
        let mut at = start;
        let mut storage = loop {
            if let Some(Some(known)) = found.get(at) {
                break *known;
            }
            let (Some(variable), Some(mark)) = (body.variables.get(at), seen.get_mut(at)) else {
                break Storage::at(End::Missing);
            };
            if *mark == walk {
                break Storage::at(End::Cycle);
            }
            *mark = walk;
            path.push(at);
            if variable.alias_scope != 0 {
                break Storage::at(End::File);
            }
            match variable.alias.0 {
                id if id < first => break Storage::at(End::Predefined),
                id => at = usize::try_from(id - first).unwrap_or(usize::MAX),
            }
        };
        // Back along the links, adding up their offsets.
        while let Some(link) = path.pop() {
            let offset = body.variables.get(link).map_or(0, |v| v.alias_offset);
            storage.offset = storage.offset.saturating_add(offset.into());
            if let Some(entry) = found.get_mut(link) {
                *entry = Some(storage);
            }
        }
    }
    let missing = Storage::at(End::Missing);
    found.into_iter().map(|s| s.unwrap_or(missing)).collect()
}

/// An operand that names a variable and a place in it.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Raw(RawOperand),
    General(GeneralOperand),
}

impl Place {
    pub(crate) const fn variable(self) -> VarId {
        match self {
            Self::Raw(operand) => operand.variable,
            Self::General(operand) => operand.variable,
        }
    }

    pub(crate) const fn modifier(self) -> Modifier {
        match self {
            Self::Raw(_) => Modifier::NONE,
            Self::General(operand) => operand.modifier,
        }
    }

    /// The first byte in its variable, whose elements have `size` bytes, where registers have `grf`.
    pub(crate) fn offset(self, size: u32, grf: u32) -> u32 {
        match self {
            Self::Raw(operand) => operand.offset.into(),
            Self::General(operand) => {
                u32::from(operand.row) * grf + u32::from(operand.column) * size
            }
        }
    }
}

/// The operands that name a variable.
pub(crate) fn places<'s>(site: &'s Site<'_>) -> impl Iterator<Item = (Slot<'s>, Place)> + use<'s> {
    site.slots().filter_map(|slot| {
        let place = match slot.value {
            Value::Raw(operand) => Place::Raw(*operand),
            Value::Vector(VectorOperand::General(operand)) => Place::General(*operand),
            _ => return None,
        };
        (place.variable() != VarId::NULL).then_some((slot, place))
    })
}
