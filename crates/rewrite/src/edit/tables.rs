//! Declarations.

use super::{Editor, renumber_down, summary};
use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table};
use crate::rewrite::Rewriter;
use crate::visit::Visitor;
use std::borrow::Cow;
use visakit_isa::object::{
    Alignment, Body, Declaration, Label, LabelKind, Variable, VariableProperties,
};
use visakit_isa::operand::GeneralOperand;
use visakit_isa::{DataType, StringId, VarId};

impl<'a> Editor<'_, 'a> {
    /// Declares a variable that is aligned to its elements and shares no storage.
    ///
    /// # Errors
    /// There are no elements, the table is full, or something undeclared would refer to the new variable.
    pub fn new_variable(
        &mut self,
        name: &str,
        ty: DataType,
        elements: u16,
    ) -> Result<Reference, Error> {
        let code = match ty.size() {
            1 => 0,
            2 => 1,
            4 => 2,
            _ => 3,
        };
        if elements == 0 {
            return Err(self.fail(ErrorKind::NoElements));
        }
        self.room(Table::Variable)?;
        let name = self.intern(name.as_bytes().to_vec())?;
        self.add_variable(Variable {
            name,
            properties: VariableProperties::new(ty, Alignment(code)),
            elements,
            ..Variable::default()
        })
    }

    /// Declares a variable, after the others.
    ///
    /// # Errors
    /// The table is full; the name or the aliased variable does not exist; something undeclared
    /// would refer to the new variable.
    pub fn add_variable(&mut self, variable: Variable<'a>) -> Result<Reference, Error> {
        let reference = self.room(Table::Variable)?;
        let mut used = References::default();
        used.variable(0, &variable);
        self.all_known(&used)?;
        self.body_mut()?.variables.push(variable);
        Ok(reference)
    }

    /// Declares an address, predicate, sampler or surface variable, after the others.
    ///
    /// # Errors
    /// The table is full or of another kind; the name does not exist; something undeclared would
    /// refer to the new entry.
    pub fn add_declaration(
        &mut self,
        table: Table,
        declaration: Declaration<'a>,
    ) -> Result<Reference, Error> {
        let reference = self.room(table)?;
        let mut used = References::default();
        used.declaration(table, 0, &declaration);
        self.all_known(&used)?;
        match declarations(self.body_mut()?, table) {
            Some(list) => list.push(declaration),
            None => return Err(self.fail(ErrorKind::NoEntry(table.name(), 0))),
        }
        Ok(reference)
    }

    /// Declares a label. It still has to be placed.
    ///
    /// # Errors
    /// As [`Editor::new_variable`].
    pub fn new_label(&mut self, name: &str, kind: LabelKind) -> Result<Reference, Error> {
        self.room(Table::Label)?;
        let name = self.intern(name.as_bytes().to_vec())?;
        self.add_label(Label {
            name,
            kind,
            ..Label::default()
        })
    }

    /// Declares a label, after the others.
    ///
    /// # Errors
    /// As [`Editor::add_variable`].
    pub fn add_label(&mut self, label: Label<'a>) -> Result<Reference, Error> {
        let reference = self.room(Table::Label)?;
        let mut used = References::default();
        used.label(0, &label);
        self.all_known(&used)?;
        self.body_mut()?.labels.push(label);
        Ok(reference)
    }

    /// The string of the pool with this content, added if necessary.
    ///
    /// # Errors
    /// The pool is full, or the text has a NUL.
    pub fn intern(&mut self, text: impl Into<Cow<'a, [u8]>>) -> Result<StringId, Error> {
        let text = text.into();
        let found = self.body().strings.iter().position(|s| *s == text);
        match found.and_then(|i| u32::try_from(i).ok()) {
            Some(id) => Ok(StringId(id)),
            None => self.add_string(text),
        }
    }

    /// Adds a string to the pool; equal ones may exist.
    ///
    /// # Errors
    /// The pool is full, or the text has a NUL.
    pub fn add_string(&mut self, text: impl Into<Cow<'a, [u8]>>) -> Result<StringId, Error> {
        let text = text.into();
        if text.contains(&0) {
            let message = "a string of the pool cannot hold a NUL".to_owned();
            return Err(self.fail(ErrorKind::Inexpressible(message)));
        }
        self.room(Table::String)?;
        Ok(self.body_mut()?.add_string(text))
    }

    /// Removes an entry of any table. Later entries move up, and references to them are adjusted.
    ///
    /// # Errors
    /// The entry is predefined, does not exist or is in use; the code has undecoded bytes.
    pub fn remove(&mut self, reference: Reference) -> Result<(), Error> {
        self.decoded()?;
        let index = self.declared(reference)?;
        self.unused(reference)?;
        let body = self.body_mut()?;
        remove_entry(body, reference.table, index);
        // Numbers without an entry are left alone, and still have none.
        let number = |id| if id > reference.id { id - 1 } else { id };
        renumber_down(body, reference.table, number);
        Ok(())
    }

    /// Removes every string that nothing uses; returns how many.
    ///
    /// # Errors
    /// The code has undecoded bytes.
    pub fn remove_unused_strings(&mut self) -> Result<usize, Error> {
        self.decoded()?;
        let body = self.body_mut()?;
        let mut used = vec![false; body.strings.len()];
        for (_, reference) in References::of(body) {
            let index = usize::try_from(reference.id).unwrap_or(usize::MAX);
            if reference.table == Table::String
                && let Some(used) = used.get_mut(index)
            {
                *used = true;
            }
        }
        Ok(retain(body, Table::String, 0, &used))
    }

    /// Renames an entry. Entries that share the string keep theirs.
    ///
    /// # Errors
    /// The entry is predefined, does not exist or has no name; the pool is full.
    pub fn rename(&mut self, reference: Reference, name: &str) -> Result<(), Error> {
        let index = self.declared(reference)?;
        let location = Location::Entry(reference.table, index);
        let missing = || ErrorKind::NoEntry(reference.table.name(), index);
        if reference.table == Table::String {
            return Err(self.fail(missing()));
        }
        let body = self.body_mut()?;
        let old = match reference.table {
            Table::Variable => body.variables.get(index).map(|v| v.name),
            Table::Label => body.labels.get(index).map(|l| l.name),
            table => declarations(body, table)
                .and_then(|d| d.get(index))
                .map(|d| d.name),
        };
        let old = old.ok_or_else(missing)?;
        let new = self.new_name(old, name.as_bytes(), location)?;
        let body = self.body_mut()?;
        let entry = match reference.table {
            Table::Variable => body.variables.get_mut(index).map(|v| &mut v.name),
            Table::Label => body.labels.get_mut(index).map(|l| &mut l.name),
            table => declarations(body, table)
                .and_then(|d| d.get_mut(index))
                .map(|d| &mut d.name),
        };
        if let Some(entry) = entry {
            *entry = new;
        }
        Ok(())
    }

    /// The string to call something by that is called `old` so far: the same one with another
    /// content, or a new one where others use it too.
    pub(super) fn new_name(
        &mut self,
        old: StringId,
        name: &[u8],
        location: Location,
    ) -> Result<StringId, Error> {
        let shared = self
            .uses(Reference::new(Table::String, old.0))
            .iter()
            .any(|used| *used != location);
        let index = usize::try_from(old.0).unwrap_or(usize::MAX);
        if shared || name.contains(&0) || index >= self.body().strings.len() {
            return self.add_string(name.to_vec());
        }
        if let Some(text) = self.body_mut()?.strings.get_mut(index) {
            *text = Cow::Owned(name.to_vec());
        }
        Ok(old)
    }

    /// Changes the element type of a variable. Its size stays the same, and operands continue to
    /// refer to the same bytes; regions, which count elements, are not changed.
    ///
    /// # Errors
    /// The variable is predefined or does not exist; its size, or the offset of an operand, is no
    /// whole number of elements of the new type.
    pub fn retype(&mut self, variable: Reference, ty: DataType) -> Result<(), Error> {
        self.decoded()?;
        let index = self.declared(variable)?;
        if variable.table != Table::Variable {
            return Err(self.fail(ErrorKind::NotDeclared(variable)));
        }
        let Some(entry) = self.body().variables.get(index) else {
            return Err(self.fail(ErrorKind::NotDeclared(variable)));
        };
        let (old, bytes) = (entry.properties.data_type(), entry.size());
        let elements = whole(bytes, ty)
            .and_then(|n| u16::try_from(n).ok())
            .ok_or_else(|| self.fail(ErrorKind::NotWhole { bytes, ty }))?;
        let mut columns = Columns {
            variable: VarId(variable.id),
            old,
            new: ty,
        };
        // On a copy first: nothing is changed if one does not fit.
        let mut code = self.body().code.clone();
        for (index, item) in code.iter_mut().enumerate() {
            if let visakit_isa::object::Item::Instruction(instruction) = item {
                let changed = columns.instruction(index, instruction);
                changed.map_err(|error| self.fail(error))?;
            }
        }
        self.recompile();
        let body = self.body_mut()?;
        body.code = code;
        if let Some(entry) = body.variables.get_mut(index) {
            entry.properties = VariableProperties::new(ty, entry.properties.alignment());
            entry.elements = elements;
        }
        Ok(())
    }

    /// Checks that a table has room, and that nothing dangling would refer to its next entry.
    fn room(&self, table: Table) -> Result<Reference, Error> {
        let (length, limit) = (table.len(self.body()), table.limit(self.format));
        if length >= limit {
            return Err(self.fail(ErrorKind::Full(table, limit)));
        }
        let id = u32::try_from(length).unwrap_or(u32::MAX);
        let reference = Reference::new(table, id.saturating_add(table.first(self.format)));
        match summary(&self.uses(reference)) {
            None => Ok(reference),
            Some(uses) => Err(self.fail(ErrorKind::Captured(reference, uses))),
        }
    }

    /// That everything which was found exists.
    pub(super) fn all_known(&self, used: &References) -> Result<(), Error> {
        for (location, reference) in &used.0 {
            self.known(*reference).map_err(|error| match location {
                Location::Instruction { .. } => error.or_at(*location),
                _ => error,
            })?;
        }
        Ok(())
    }
}

/// Everything that something refers to.
#[derive(Default)]
pub(crate) struct References(pub(crate) Vec<(Location, Reference)>);

impl References {
    /// Those of a body.
    pub(crate) fn of(body: &Body<'_>) -> Vec<(Location, Reference)> {
        let mut all = Self::default();
        all.body(body);
        all.0
    }
}

impl Visitor<'_> for References {
    fn reference(&mut self, location: Location, reference: Reference) {
        self.0.push((location, reference));
    }
}

/// Adjusts the columns of a variable's operands to another element type.
struct Columns {
    variable: VarId,
    old: DataType,
    new: DataType,
}

impl Rewriter<'_> for Columns {
    fn general(&mut self, location: Location, operand: &mut GeneralOperand) -> Result<(), Error> {
        if operand.variable != self.variable {
            return Ok(());
        }
        let (bytes, ty) = (
            u32::from(operand.column) * u32::from(self.old.size()),
            self.new,
        );
        let column = whole(bytes, ty).and_then(|n| u8::try_from(n).ok());
        let refused = || Error::at(ErrorKind::NotWhole { bytes, ty }, location);
        operand.column = column.ok_or_else(refused)?;
        Ok(())
    }
}

/// The number of elements of a type in this many bytes, if it is whole.
fn whole(bytes: u32, ty: DataType) -> Option<u32> {
    let size = u32::from(ty.size());
    bytes.is_multiple_of(size).then_some(bytes / size)
}

/// The table of declarations without a type.
fn declarations<'b, 'a>(
    body: &'b mut Body<'a>,
    table: Table,
) -> Option<&'b mut Vec<Declaration<'a>>> {
    match table {
        Table::Address => Some(&mut body.addresses),
        Table::Predicate => Some(&mut body.predicates),
        Table::Sampler => Some(&mut body.samplers),
        Table::Surface => Some(&mut body.surfaces),
        _ => None,
    }
}

fn remove_entry(body: &mut Body<'_>, table: Table, index: usize) {
    match table {
        Table::Variable => drop(body.variables.remove(index)),
        Table::Label => drop(body.labels.remove(index)),
        Table::String => drop(body.strings.remove(index)),
        table => {
            if let Some(list) = declarations(body, table) {
                list.remove(index);
            }
        }
    }
}

/// Keeps the marked declared entries of a table; references to the others must already be gone.
/// Returns how many were removed.
pub(crate) fn retain(body: &mut Body<'_>, table: Table, first: u32, keep: &[bool]) -> usize {
    let before = table.len(body);
    let mut next = first;
    let numbers: Vec<u32> = keep
        .iter()
        .map(|keep| {
            let number = next;
            next += u32::from(*keep);
            number
        })
        .collect();
    fn kept<T>(list: &mut Vec<T>, keep: &[bool]) {
        let mut marks = keep.iter();
        list.retain(|_| marks.next().copied().unwrap_or(true));
    }
    match table {
        Table::Variable => kept(&mut body.variables, keep),
        Table::Label => kept(&mut body.labels, keep),
        Table::String => kept(&mut body.strings, keep),
        table => {
            if let Some(list) = declarations(body, table) {
                kept(list, keep);
            }
        }
    }
    let removed = before - table.len(body);
    if removed > 0 {
        renumber_down(body, table, |id| {
            let declared = id.checked_sub(first).and_then(|i| usize::try_from(i).ok());
            declared.and_then(|i| numbers.get(i)).copied().unwrap_or(id)
        });
    }
    removed
}
