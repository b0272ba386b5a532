//! Source variables: where the compiler put them, by its debug information, in variables of vISA.
//!
//! DWARF names registers of the native code, for offsets of the native code. The finalizer's table turns both into what
//! runs here: instructions and variables of vISA. What was optimised away has no place, as on the device.

mod dwarf;
mod location;
mod table;
mod types;

pub use types::SourceType;

use crate::listing::{Listing, Place, Row};
use dwarf::{Function, Variable};
use location::{Context, PiecePlace, pieces};
use table::{RoutineTable, Table};
use visakit_exec::{Program, VariableClass, VariableSlot};
use visakit_launch::{DebugFiles, LocalVariable};

/// What is known of a kernel's source variables.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    functions: Vec<Function>,
    table: Table,
    locals: Vec<LocalVariable>,
    register_bytes: u64,
}

/// Where a source variable is, at a place of the program and for a lane.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) of: SourceType,
    pub(crate) parts: Vec<Part>,
}

impl Found {
    /// Whether it is a pointer that is nowhere: compilers tell no place of an argument in local memory.
    pub(crate) fn is_pointer_without_place(&self) -> bool {
        let nowhere = |part: &Part| part.place == PartPlace::Nowhere;
        matches!(self.of, SourceType::Pointer { .. }) && self.parts.iter().all(nowhere)
    }
}

/// A part of a source variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its size in bytes.
    pub(crate) bytes: u64,
    pub(crate) place: PartPlace,
}

/// Where a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartPlace {
    /// In the storage of vISA variables.
    Register(usize),
    /// At an address.
    Memory(u64),
    /// In local memory.
    Local(u64),
    /// Nowhere; this is its value.
    Value(Vec<u8>),
    /// Optimised away.
    Nowhere,
}

/// Where a run is, to ask for variables.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) listing: &'a Listing,
    pub(crate) program: &'a Program,
    pub(crate) place: Place,
    pub(crate) lane: u32,
    pub(crate) registers: &'a [u8],
}

impl Symbols {
    /// Reads what the compiler wrote for a kernel with these variables in local memory, for a device whose registers have
    /// so many bytes.
    ///
    /// # Errors
    /// A description of what is damaged.
    pub fn read(
        files: &DebugFiles,
        locals: &[LocalVariable],
        grf_bytes: u32,
    ) -> Result<Self, String> {
        let table = Table::read(&files.table);
        Ok(Self {
            functions: dwarf::functions(&files.dwarf)?,
            table: table.ok_or("the finalizer's table is damaged")?,
            locals: locals.to_vec(),
            register_bytes: grf_bytes.into(),
        })
    }

    /// The table of the routine of a site, and the number of the instruction that runs next there.
    fn at(&self, site: &Site<'_>) -> Option<(&RoutineTable, u32)> {
        let routine = site.listing.routines.get(site.place.routine)?;
        let mut named = self.table.routines.iter();
        let of_name = named.find(|table| table.name == routine.name);
        let table = of_name.or(match self.table.routines.as_slice() {
            [only] if site.place.routine == 0 => Some(only),
            _ => None,
        })?;
        let place = site.listing.after_markers(site.place).unwrap_or(site.place);
        Some((table, u32::try_from(place.instruction).ok()?))
    }

    /// The variables of the function at a site whose scope it is in, inner ones first, in the order of the source.
    fn visible(&self, site: &Site<'_>) -> Vec<&Variable> {
        let Some((table, instruction)) = self.at(site) else {
            return Vec::new();
        };
        let offset = table.offset(instruction);
        let inside = |(from, to): &(u64, u64)| (*from..*to).contains(&offset);
        let mut functions = self.functions.iter();
        let own = functions.find(|function| inside(&function.code));
        let variables = own.map_or(&[][..], |function| &function.variables).iter();
        let mut seen: Vec<_> = variables
            .filter(|v| v.scope.is_empty() || v.scope.iter().any(inside))
            .collect();
        seen.sort_by_key(|v| std::cmp::Reverse(v.depth));
        seen
    }

    /// The names of the variables that can be asked for, outer ones first.
    pub(crate) fn names(&self, site: &Site<'_>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut visible = self.visible(site);
        visible.sort_by_key(|v| v.depth);
        for variable in visible {
            if !names.contains(&variable.name) {
                names.push(variable.name.clone());
            }
        }
        names
    }

    /// A variable by name; `None` if the source has none of it here.
    pub(crate) fn find(&self, name: &str, site: &Site<'_>) -> Option<Found> {
        let visible = self.visible(site);
        let mut named = visible.iter().filter(|v| v.name == name).peekable();
        let innermost = *named.peek()?;
        let (of, bytes) = (innermost.of.clone(), innermost.of.bytes());
        let mut locals = self.locals.iter();
        let local = locals.find(|local| local.name == name && local.bytes >= bytes);
        for variable in named {
            let Some(parts) = self.parts(variable, site) else {
                continue;
            };
            // Addresses of local memory are the compiler's own.
            if parts
                .iter()
                .all(|part| !matches!(part.place, PartPlace::Memory(_)))
                || local.is_none()
            {
                let of = variable.of.clone();
                return Some(Found { of, parts });
            }
        }
        let place = local.map_or(PartPlace::Nowhere, |local| PartPlace::Local(local.start));
        let parts = vec![Part { bytes, place }];
        Some(Found { of, parts })
    }

    /// The parts of a variable, where one of its expressions holds.
    fn parts(&self, variable: &Variable, site: &Site<'_>) -> Option<Vec<Part>> {
        let (table, instruction) = self.at(site)?;
        let offset = table.offset(instruction);
        let read = |bit: u64, count: u64| {
            let (_, slot, at) = self.slot(table, instruction, bit, site)?;
            let bytes = usize::try_from(count.div_ceil(8)).ok()?.min(8);
            (at + bytes <= slot.offset + slot.bytes).then_some(())?;
            let bytes = site.registers.get(at..at + bytes)?;
            let number = bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
            Some(number)
        };
        let context = |lane: u32| Context {
            lane,
            register_bits: self.register_bytes * 8,
            read: &read,
        };
        let holds = |(from, to, _): &&(u64, u64, Vec<u8>)| (*from..*to).contains(&offset);
        let (from, _, expression) = variable.places.iter().find(holds)?;
        let first = table.instruction(*from);
        let found = pieces(expression, &context(site.lane))?;
        let whole = variable.of.bytes();
        // Some compilers leave gaps before members out: what is not the whole may be any part of it.
        let covered = found
            .iter()
            .map(|piece| piece.bits.unwrap_or(whole.saturating_mul(8)));
        let covered = covered.fold(0_u64, u64::saturating_add);
        if covered < whole.saturating_mul(8)
            && found.first().map(|p| &p.place) != Some(&PiecePlace::Nowhere)
        {
            return None;
        }
        if let [only] = found.as_slice()
            && matches!(only.place, PiecePlace::Memory(_))
            && variable.of.number().is_none()
            && pieces(expression, &context(site.lane ^ 1))? != found
        {
            // Lanes take turns in private memory, or not; debug information does not say which.
            return None;
        }
        let part = |piece: &location::Piece| {
            let bytes = piece.bits.map_or(whole, |bits| bits / 8);
            let place = match &piece.place {
                PiecePlace::Register(bit) => {
                    let (number, slot, at) = self.slot(table, instruction, *bit, site)?;
                    let inside =
                        usize::try_from(bytes).ok()?.checked_add(at)? <= slot.offset + slot.bytes;
                    let written = is_written(site, number, first, instruction);
                    (inside && written).then_some(PartPlace::Register(at))?
                }
                PiecePlace::Memory(address) => PartPlace::Memory(*address),
                PiecePlace::Value(value) => PartPlace::Value(value.clone()),
                PiecePlace::Nowhere => PartPlace::Nowhere,
            };
            Some(Part { bytes, place })
        };
        found.iter().map(part).collect()
    }

    /// The variable of vISA that a bit of the native registers is in: its number, its storage, and the place of the bit
    /// there. Variables that share storage are one; if others may be meant, none is.
    fn slot(
        &self,
        table: &RoutineTable,
        instruction: u32,
        bit: u64,
        site: &Site<'_>,
    ) -> Option<(u32, VariableSlot, usize)> {
        let byte = bit / 8;
        let mut found: Option<(u32, VariableSlot, usize)> = None;
        for place in &table.places {
            let start = u64::from(place.register) * self.register_bytes + u64::from(place.byte);
            if !(place.first..=place.last).contains(&instruction) || start > byte {
                continue;
            }
            let declared = site.program.declared(site.place.routine).iter();
            let general = |class| class == VariableClass::General;
            let mut of_number =
                declared.filter(|v| general(v.slot.class) && v.number == place.variable);
            let Some(variable) = of_number.next() else {
                continue;
            };
            let inner = usize::try_from(byte - start).ok()?;
            if inner >= variable.slot.bytes {
                continue;
            }
            let at = variable.slot.offset + inner;
            match &found {
                Some((.., known)) if *known != at => return None,
                Some((_, slot, _)) if slot.bytes >= variable.slot.bytes => {}
                _ => found = Some((place.variable, variable.slot.clone(), at)),
            }
        }
        found
    }
}

/// Whether a variable whose place holds from an instruction on has been written at another. Debug information is early:
/// code of the line that it begins in, and of lines after that, may still write it.
fn is_written(site: &Site<'_>, variable: u32, first: u32, now: u32) -> bool {
    let Some(routine) = site.listing.routines.get(site.place.routine) else {
        return true;
    };
    let (Ok(first), Ok(now)) = (usize::try_from(first), usize::try_from(now)) else {
        return true;
    };
    let storage = |number: u32| routine.aliases.get(&number).map_or(number, |(of, _)| *of);
    let writes = |row: &Row| {
        let mut written = row.variables.iter().take(row.written);
        written.any(|(letter, number)| *letter == 'V' && storage(*number) == storage(variable))
    };
    // What nothing writes is an input.
    if routine
        .rows
        .iter()
        .position(writes)
        .is_some_and(|at| at >= now)
    {
        return false;
    }
    let from = routine.rows.get(first..).unwrap_or(&[]);
    let line = from
        .iter()
        .find(|row| !row.marker)
        .and_then(|row| row.source);
    let of_line = |row: &&Row| row.label.is_none() && (row.marker || row.source == line);
    let last = from.iter().take_while(of_line).enumerate();
    let last = last.filter(|(_, row)| writes(row)).last();
    last.is_none_or(|(at, _)| now > first + at)
}
