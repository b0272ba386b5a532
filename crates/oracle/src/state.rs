//! The state of a thread: variables by name of the object, never by place in a register file.

use crate::value::{Mode, Precision};
use std::collections::BTreeMap;
use visakit_isa::object::{Body, Object};
use visakit_isa::{AddressId, DataType, Format, PredicateId, VarId};

/// Why an evaluation stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The definitions do not say what happens.
    Undefined(&'static str),
    /// The evaluator does not know the instruction.
    Unknown(&'static str),
    /// More steps than asked for.
    Steps,
}

/// Shorthand for results of the evaluator.
pub type Result<T> = std::result::Result<T, Halt>;

/// The value of an address element: a place in a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The variable whose storage it is; never an alias.
    pub root: VarId,
    /// Offset in bytes, possibly out of bounds.
    pub offset: i64,
}

/// A part of a variable that another implementation need not meet to the bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loose {
    /// Size in bytes.
    pub size: usize,
    /// Type that it was written as.
    pub ty: DataType,
    /// The required precision.
    pub precision: Precision,
}

/// The bytes of a variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Storage {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// By offset: values that are not defined to the bit.
    pub loose: BTreeMap<usize, Loose>,
}

impl Storage {
    fn of_size(size: usize) -> Self {
        Self {
            bytes: vec![0; size],
            loose: BTreeMap::new(),
        }
    }

    /// Whether any byte of a range is not defined to the bit.
    #[must_use]
    pub fn is_loose(&self, offset: usize, size: usize) -> bool {
        !self.loose.is_empty()
            && self
                .loose
                .range(..offset + size)
                .next_back()
                .is_some_and(|(at, l)| at + l.size > offset)
    }

    fn forget(&mut self, offset: usize, size: usize) {
        if self.loose.is_empty() {
            return;
        }
        self.loose
            .retain(|at, l| *at >= offset + size || at + l.size <= offset);
    }
}

/// Variables of one activation of a routine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Locals {
    /// Declared general variables that are no aliases, by identifier.
    pub general: BTreeMap<VarId, Storage>,
    /// Elements of address variables.
    pub addresses: BTreeMap<AddressId, Vec<Option<Place>>>,
    /// Bits of predicate variables.
    pub predicates: BTreeMap<PredicateId, u32>,
    /// Elements of surface variables, predefined ones included.
    pub surfaces: BTreeMap<u16, Vec<u32>>,
    /// Elements of sampler variables.
    pub samplers: BTreeMap<u16, Vec<u32>>,
}

/// The places and types of a routine's variables.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Symbol tables.
    pub body: &'a Body<'a>,
    /// Layout of the object.
    pub format: Format,
    /// Bytes of a register.
    pub grf: usize,
}

impl<'a> Scope<'a> {
    /// The scope of a routine.
    #[must_use]
    pub fn new(object: &'a Object<'a>, body: &'a Body<'a>, grf: usize) -> Self {
        Self {
            body,
            format: object.format(),
            grf,
        }
    }

    fn predefined(&self) -> u32 {
        self.format.predefined_variable_count()
    }

    fn declared(&self, id: VarId) -> Option<&'a visakit_isa::object::Variable<'a>> {
        let index = id.0.checked_sub(self.predefined())?;
        self.body.variables.get(usize::try_from(index).ok()?)
    }

    /// Element type of a variable.
    ///
    /// # Errors
    /// There is no such variable.
    pub fn type_of(&self, id: VarId) -> Result<DataType> {
        if let Some(variable) = self.declared(id) {
            return Ok(variable.properties.data_type());
        }
        self.format
            .predefined_variable(id)
            .map(|v| v.data_type)
            .ok_or(Halt::Undefined("no such variable"))
    }

    /// Size of a variable in bytes.
    #[must_use]
    pub fn size_of(&self, id: VarId) -> usize {
        if let Some(variable) = self.declared(id) {
            return variable.size() as usize;
        }
        let Some(variable) = self.format.predefined_variable(id) else {
            return 0;
        };
        let bytes = usize::from(variable.elements) * usize::from(variable.data_type.size());
        // Those that are counted in registers grow with them.
        match variable.name {
            "r0" | "arg" | "retval" => bytes * self.grf / 32,
            _ => bytes,
        }
    }

    /// The variable that owns the storage, and the offset in it.
    ///
    /// # Errors
    /// Aliases in a circle.
    pub fn root(&self, mut id: VarId) -> Result<(VarId, usize)> {
        let mut offset = 0;
        for _ in 0..64 {
            match self.declared(id) {
                Some(variable) if variable.is_alias() => {
                    if variable.alias_scope != 0 {
                        return Err(Halt::Unknown("file-scope variable"));
                    }
                    offset += usize::from(variable.alias_offset);
                    id = variable.alias;
                }
                _ => return Ok((id, offset)),
            }
        }
        Err(Halt::Undefined("aliases in a circle"))
    }

    /// Whether every routine shares the variable with this identifier.
    #[must_use]
    pub fn is_shared(&self, root: VarId) -> bool {
        root.0 < self.predefined()
    }

    /// Fresh variables.
    #[must_use]
    pub fn locals(&self) -> Locals {
        let mut locals = Locals::default();
        for (index, variable) in (self.predefined()..).zip(&self.body.variables) {
            if !variable.is_alias() {
                locals
                    .general
                    .insert(VarId(index), Storage::of_size(variable.size() as usize));
            }
        }
        for (index, address) in (0..).zip(&self.body.addresses) {
            locals
                .addresses
                .insert(AddressId(index), vec![None; usize::from(address.elements)]);
        }
        for (index, _) in (1..).zip(&self.body.predicates) {
            locals.predicates.insert(PredicateId(index), 0);
        }
        let first = u16::from(self.format.predefined_surface_count());
        for index in 0..first {
            let id = visakit_isa::SurfaceId(index.to_le_bytes()[0]);
            let surface = self.format.predefined_surface(id);
            let value = surface.map_or(0, |s| u32::from(s.binding_table_index));
            locals.surfaces.insert(index, vec![value]);
        }
        for (index, surface) in (first..).zip(&self.body.surfaces) {
            locals
                .surfaces
                .insert(index, vec![0; usize::from(surface.elements)]);
        }
        for (index, sampler) in (0..).zip(&self.body.samplers) {
            locals
                .samplers
                .insert(index, vec![0; usize::from(sampler.elements)]);
        }
        locals
    }
}

/// Variables that all activations share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shared {
    /// Predefined variables.
    pub general: BTreeMap<VarId, Storage>,
}

impl Shared {
    /// Zeroes.
    #[must_use]
    pub fn new(scope: &Scope<'_>) -> Self {
        let known = scope.format.predefined_variables().len();
        let general = (0..u32::try_from(known).unwrap_or(0))
            .map(|id| (VarId(id), Storage::of_size(scope.size_of(VarId(id)))))
            .collect();
        Self { general }
    }
}

/// The variables that an instruction sees.
#[derive(Debug)]
pub struct View<'s, 'a> {
    /// Types and aliases.
    pub scope: Scope<'a>,
    /// Variables of the activation.
    pub locals: &'s mut Locals,
    /// Variables of the thread.
    pub shared: &'s mut Shared,
}

impl View<'_, '_> {
    fn storage(&self, root: VarId) -> Result<&Storage> {
        let table = if self.scope.is_shared(root) {
            &self.shared.general
        } else {
            &self.locals.general
        };
        table.get(&root).ok_or(Halt::Undefined("no such variable"))
    }

    fn storage_mut(&mut self, root: VarId) -> Result<&mut Storage> {
        let table = if self.scope.is_shared(root) {
            &mut self.shared.general
        } else {
            &mut self.locals.general
        };
        table
            .get_mut(&root)
            .ok_or(Halt::Undefined("no such variable"))
    }

    /// Bits at a place, and whether they are defined to the bit.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn read(&self, place: Place, size: usize) -> Result<(u64, bool)> {
        let storage = self.storage(place.root)?;
        let at = usize::try_from(place.offset).map_err(|_| Halt::Undefined("out of bounds"))?;
        let bytes = storage
            .bytes
            .get(at..at + size)
            .ok_or(Halt::Undefined("out of bounds"))?;
        let mut bits = [0; 8];
        for (to, from) in bits.iter_mut().zip(bytes) {
            *to = *from;
        }
        Ok((u64::from_le_bytes(bits), !storage.is_loose(at, size)))
    }

    /// Writes bits of a type at a place.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn write(
        &mut self,
        place: Place,
        bits: u64,
        ty: DataType,
        precision: Precision,
    ) -> Result<()> {
        self.write_sized(place, bits, usize::from(ty.size()), ty, precision)
    }

    /// Writes this many bytes of bits at a place.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn write_sized(
        &mut self,
        place: Place,
        bits: u64,
        size: usize,
        ty: DataType,
        precision: Precision,
    ) -> Result<()> {
        let at = usize::try_from(place.offset).map_err(|_| Halt::Undefined("out of bounds"))?;
        let storage = self.storage_mut(place.root)?;
        let bytes = storage
            .bytes
            .get_mut(at..at + size)
            .ok_or(Halt::Undefined("out of bounds"))?;
        for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()) {
            *to = from;
        }
        storage.forget(at, size);
        if precision != Precision::Exact {
            let loose = Loose {
                size,
                ty,
                precision,
            };
            storage.loose.insert(at, loose);
        }
        Ok(())
    }

    /// Value of a predefined variable of at most four bytes.
    #[must_use]
    pub fn named(&self, name: &str) -> u32 {
        let known = self.scope.format.predefined_variables();
        let Some(index) = known.iter().position(|v| v.name == name) else {
            return 0;
        };
        let root = VarId(u32::try_from(index).unwrap_or(0));
        self.read(Place { root, offset: 0 }, 4)
            .map_or(0, |(bits, _)| {
                u32::try_from(bits & 0xffff_ffff).unwrap_or(0)
            })
    }

    /// The floating-point mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        Mode::of_control(self.named("cr0"))
    }

    /// Elements of a predicate, at most 32; 1 if it is not declared.
    pub(crate) fn elements_of_predicate(&self, id: PredicateId) -> usize {
        let index = usize::from(id.0).checked_sub(1);
        let declared = index.and_then(|index| self.scope.body.predicates.get(index));
        declared.map_or(1, |predicate| usize::from(predicate.elements).clamp(1, 32))
    }

    /// Bits of a predicate.
    #[must_use]
    pub fn predicate(&self, id: PredicateId) -> u32 {
        self.locals.predicates.get(&id).copied().unwrap_or(0)
    }
}
