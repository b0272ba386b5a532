//! Program-scope variables: launches of a program see the values left by earlier ones.

use crate::error::LaunchError;
use crate::facts::Section;
use crate::handles::handle_of;
use crate::zebin::{DataRelocation, DataSection, DataSymbol};
use std::collections::BTreeMap;
use visakit_exec::Memory;
use visakit_exec::memory::{Storage, Surface};

/// Addresses of symbols.
pub(crate) type Symbols = BTreeMap<String, u64>;

/// Symbols whose values are those of the machine: bytes of the state of a surface.
const RUNTIME: [(&str, u64); 1] = [("__INTEL_SURFACE_STATE_SIZE", 64)];

/// The program-scope variables of a program, with their contents.
///
/// Their addresses are the same in every memory that they are put into: those that the sections state, or else the
/// first ones.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    sections: Vec<(String, Storage, u64)>,
    pub(crate) symbols: Symbols,
    /// Places for addresses of what is no variable of the program, with the number of their section.
    foreign: Vec<(usize, DataRelocation)>,
}

impl Variables {
    /// Variables with their first contents. All sections get their places before addresses are put into them.
    ///
    /// # Errors
    /// [`LaunchError::Memory`] where there is no room.
    pub fn new(data: &[DataSection], symbols: &[DataSymbol]) -> Result<Self, LaunchError> {
        let mut variables = Self::default();
        let mut memory = Memory::default();
        for section in data {
            let storage = Storage::new(&section.bytes)
                .ok_or_else(|| LaunchError::Memory("no room for the variables".to_owned()))?;
            let id = memory.add_storage(&storage, section.address)?;
            let place = (section.name.clone(), storage, memory.address(id));
            variables.sections.push(place);
        }
        for symbol in symbols {
            let mut sections = variables.sections.iter();
            if let Some((_, _, base)) = sections.find(|s| s.0 == symbol.section) {
                let address = base.wrapping_add(symbol.offset);
                variables.symbols.insert(symbol.name.clone(), address);
            }
        }
        for (name, value) in RUNTIME {
            variables.symbols.entry(name.to_owned()).or_insert(value);
        }
        for (number, section) in data.iter().enumerate() {
            let all = section.relocations.iter();
            let foreign = all.filter(|r| !variables.symbols.contains_key(&r.symbol));
            let foreign = foreign.map(|relocation| (number, relocation.clone()));
            variables.foreign.extend(foreign);
        }
        for (section, (_, storage, _)) in data.iter().zip(&variables.sections) {
            if !section.relocations.is_empty() {
                let address = |name: &str| variables.symbols.get(name).copied();
                storage.write(0, &section.relocated(address));
            }
        }
        Ok(variables)
    }

    /// These variables, with symbols of others beside their own, whose addresses are written where they belong. Contents
    /// are shared.
    #[must_use]
    pub fn linked(&self, others: &BTreeMap<String, u64>) -> Self {
        let mut linked = self.clone();
        for (number, relocation) in &self.foreign {
            let place = self.sections.get(*number);
            let known = others.get(&relocation.symbol);
            let at = usize::try_from(relocation.offset);
            if let (Some((_, storage, _)), Some(address), Ok(at)) = (place, known, at) {
                let value = address.wrapping_add_signed(relocation.addend).to_le_bytes();
                storage.write(at, relocation.part.of(&value));
            }
        }
        for (name, address) in others {
            linked.symbols.entry(name.clone()).or_insert(*address);
        }
        linked
    }

    /// The address of a variable.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }

    /// The bytes at an address of a section, to its end.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Vec<u8>> {
        let inside = |s: &&(String, Storage, u64)| {
            let offset = address.checked_sub(s.2);
            offset.is_some_and(|o| o < s.1.bytes() as u64)
        };
        let (_, storage, base) = self.sections.iter().find(inside)?;
        let offset = usize::try_from(address - base).ok()?;
        let mut bytes = vec![0; storage.bytes().checked_sub(offset)?];
        storage.read_into(offset, &mut bytes);
        Some(bytes)
    }

    /// The bytes of a variable, and those after it in its section.
    #[must_use]
    pub fn of_name(&self, name: &str) -> Option<Vec<u8>> {
        self.at(*self.symbols.get(name)?)
    }

    /// Bytes of all variables together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sections.iter().map(|s| s.1.bytes()).sum()
    }

    /// Names, contents and addresses of the sections.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &Storage, u64)> {
        let all = self.sections.iter();
        all.map(|(name, storage, address)| (name.as_str(), storage, *address))
    }

    /// Puts the variables into an empty memory; their handles come after those of the arguments. Returns names, places
    /// and surfaces.
    pub(crate) fn put(
        &self,
        memory: &mut Memory,
        arguments: usize,
    ) -> Result<Vec<(String, Section, Surface)>, LaunchError> {
        let mut sections = Vec::new();
        for (index, (name, storage, address)) in self.sections.iter().enumerate() {
            let id = memory.add_storage(storage, Some(*address))?;
            let handle = handle_of(arguments + 1 + index).unwrap_or(0);
            let surface = Surface::whole(id);
            memory.bind_handle(handle, surface)?;
            let address = *address;
            let bytes = storage.bytes() as u64;
            let section = Section {
                address,
                handle,
                bytes,
            };
            sections.push((name.clone(), section, surface));
        }
        Ok(sections)
    }
}
