//! Inputs, attributes, native binaries and the name of a routine.

use super::Editor;
use super::tables::References;
use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table, is_kernel};
use std::borrow::Cow;
use visakit_isa::object::{Arrangement, Attribute, Body, Input, InputKind, NativeBinary, Piece};

/// The list of attributes of a routine or of a symbol.
fn list<'b, 'a>(body: &'b mut Body<'a>, owner: Location) -> Option<&'b mut Vec<Attribute<'a>>> {
    let Location::Entry(table, index) = owner else {
        return match owner {
            Location::Name | Location::Attribute(_) => Some(&mut body.attributes),
            _ => None,
        };
    };
    match table {
        Table::Variable => body.variables.get_mut(index).map(|v| &mut v.attributes),
        Table::Label => body.labels.get_mut(index).map(|l| &mut l.attributes),
        Table::Address => body.addresses.get_mut(index).map(|d| &mut d.attributes),
        Table::Predicate => body.predicates.get_mut(index).map(|d| &mut d.attributes),
        Table::Sampler => body.samplers.get_mut(index).map(|d| &mut d.attributes),
        Table::Surface => body.surfaces.get_mut(index).map(|d| &mut d.attributes),
        Table::String | Table::FileVariable => None,
    }
}

impl<'a> Editor<'_, 'a> {
    /// Adds an input, after the others.
    ///
    /// # Errors
    /// The routine is a function; the variable does not exist. Surfaces and samplers need not be
    /// declared: real kernels take some that are not.
    pub fn add_input(&mut self, input: Input) -> Result<usize, Error> {
        if !is_kernel(self.id.kind) {
            return Err(self.fail(ErrorKind::KernelsOnly("inputs")));
        }
        if input.kind.class() == InputKind::GENERAL {
            self.known(Reference::new(Table::Variable, input.index))?;
        }
        self.recompile();
        let inputs = &mut self.body_mut()?.inputs;
        inputs.push(input);
        Ok(inputs.len() - 1)
    }

    /// Removes an input.
    ///
    /// # Errors
    /// There is no input with that index.
    pub fn remove_input(&mut self, index: usize) -> Result<Input, Error> {
        if index >= self.body().inputs.len() {
            return Err(self.fail(ErrorKind::NoEntry("input", index)));
        }
        self.recompile();
        Ok(self.body_mut()?.inputs.remove(index))
    }

    /// Sets an attribute of the routine ([`Location::Name`]) or of a symbol ([`Location::Entry`]); an
    /// attribute of that name gets the new value.
    ///
    /// # Errors
    /// There is no such symbol; the value has more than 255 bytes; the string pool is full.
    pub fn set_attribute(
        &mut self,
        owner: Location,
        name: &str,
        value: impl Into<Cow<'a, [u8]>>,
    ) -> Result<(), Error> {
        let value = value.into();
        if value.len() > usize::from(u8::MAX) {
            let message = format!("an attribute has at most 255 bytes, not {}", value.len());
            return Err(self.fail(ErrorKind::Inexpressible(message)));
        }
        let none = || ErrorKind::NoEntry("symbol", 0);
        if list(self.body_mut()?, owner).is_none() {
            return Err(self.fail(Error::at(none(), owner)));
        }
        let same = |text: &[u8]| text == name.as_bytes();
        let named: Vec<bool> = self.body().strings.iter().map(|s| same(s)).collect();
        let is_named = |a: &&mut Attribute<'a>| {
            let index = usize::try_from(a.name.0).unwrap_or(usize::MAX);
            named.get(index).copied().unwrap_or(false)
        };
        let attributes = list(self.body_mut()?, owner).ok_or_else(none)?;
        if let Some(found) = attributes.iter_mut().find(is_named) {
            found.value = value;
            self.recompile();
            return Ok(());
        }
        let name = self.intern(name.as_bytes().to_vec())?;
        self.recompile();
        let attributes = list(self.body_mut()?, owner).ok_or_else(none)?;
        attributes.push(Attribute { name, value });
        Ok(())
    }

    /// Removes the attributes with that name from the routine or a symbol; returns how many.
    ///
    /// # Errors
    /// There is no such symbol.
    pub fn remove_attribute(&mut self, owner: Location, name: &str) -> Result<usize, Error> {
        let strings = self.body().strings.iter();
        let named: Vec<bool> = strings.map(|s| **s == *name.as_bytes()).collect();
        let Some(attributes) = list(self.body_mut()?, owner) else {
            let none = Error::at(ErrorKind::NoEntry("symbol", 0), owner);
            return Err(self.fail(none));
        };
        let before = attributes.len();
        attributes.retain(|a| {
            let index = usize::try_from(a.name.0).unwrap_or(usize::MAX);
            !named.get(index).copied().unwrap_or(false)
        });
        let removed = before - attributes.len();
        if removed > 0 {
            self.recompile();
        }
        Ok(removed)
    }

    /// Adds a native binary, after the others of the kernel.
    ///
    /// # Errors
    /// The routine is a function, or has 255 of them.
    pub fn add_binary(&mut self, binary: NativeBinary<'a>) -> Result<usize, Error> {
        if !is_kernel(self.id.kind) {
            return Err(self.fail(ErrorKind::KernelsOnly("native binaries")));
        }
        let binaries = &mut self.routine_mut()?.binaries;
        if binaries.len() >= usize::from(u8::MAX) {
            let message = "a kernel has at most 255 native binaries".to_owned();
            return Err(self.fail(ErrorKind::Inexpressible(message)));
        }
        binaries.push(binary);
        Ok(binaries.len() - 1)
    }

    /// Removes a native binary.
    ///
    /// # Errors
    /// There is no binary with that index.
    pub fn remove_binary(&mut self, index: usize) -> Result<NativeBinary<'a>, Error> {
        if index >= self.routine().binaries.len() {
            return Err(self.fail(ErrorKind::NoEntry("native binary", index)));
        }
        let binary = self.routine_mut()?.binaries.remove(index);
        let edited = self.id.index;
        if let Arrangement::Custom(pieces) = &mut self.object.arrangement {
            pieces.retain_mut(|piece| match piece {
                Piece::Binary { kernel, index: i } if *kernel == edited => {
                    let keep = *i != index;
                    *i -= usize::from(*i > index);
                    keep
                }
                _ => true,
            });
        }
        Ok(binary)
    }

    /// Renames the routine, in the header and in its string pool. Calls of it in other routines are
    /// not changed: [`crate::rename_routine`] does that.
    ///
    /// # Errors
    /// The string pool is full, or the name has a NUL.
    pub fn set_name(&mut self, name: &str) -> Result<(), Error> {
        let old = self.body().name;
        let new = self.new_name(old, name.as_bytes(), Location::Name)?;
        self.body_mut()?.name = new;
        self.routine_mut()?.name = Cow::Owned(name.as_bytes().to_vec());
        Ok(())
    }

    /// Everything that the routine refers to and that does not exist.
    #[must_use]
    pub fn dangling(&self) -> Vec<(Location, Reference)> {
        let mut used = References::of(self.body());
        used.retain(|(_, reference)| self.known(*reference).is_err());
        used
    }
}
