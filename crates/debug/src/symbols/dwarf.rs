//! Functions and variables of DWARF, made independent of the file.

use super::types::SourceType;
use gimli::{
    Attribute, AttributeValue, DwAte, EndianSlice, EntriesTreeNode, LittleEndian, UnitOffset,
    constants,
};
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget,
};
use std::borrow::Cow;
use std::cell::Cell;
use visakit_isa::DataType;

type Slice<'d> = EndianSlice<'d, LittleEndian>;
type Dwarf<'d> = gimli::Dwarf<Slice<'d>>;
type Unit<'d> = gimli::Unit<Slice<'d>>;
type Entry<'a, 'd> = gimli::DebuggingInformationEntry<'a, 'a, Slice<'d>>;

/// Scopes in scopes, and types in types.
const DEPTH: usize = 32;
/// Pointers that are followed where a type is described.
const POINTERS: usize = 2;
/// Most variables of a file.
const MOST: usize = 1 << 14;

/// A function with code.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    /// Offsets of its native code, without the last.
    pub(super) code: (u64, u64),
    pub(super) variables: Vec<Variable>,
}

/// A variable or parameter.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) of: SourceType,
    /// How deep its scope is in others.
    pub(super) depth: usize,
    /// Where its scope is; empty if that is the function.
    pub(super) scope: Vec<(u64, u64)>,
    /// Expressions for its place, and the native code for which each holds.
    pub(super) places: Vec<(u64, u64, Vec<u8>)>,
}

/// The functions of a file; what cannot be read is left out.
///
/// # Errors
/// A description of what is damaged as a whole.
pub(super) fn functions(file: &[u8]) -> Result<Vec<Function>, String> {
    let file = object::File::parse(file).map_err(|error| error.to_string())?;
    let load = |id: gimli::SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
        Ok(section(&file, id.name()))
    };
    let sections = gimli::DwarfSections::load(load).map_err(|error| error.to_string())?;
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, LittleEndian));
    let mut walk = Walk {
        dwarf: &dwarf,
        functions: Vec::new(),
        count: 0,
        types: Cell::new(MOST),
    };
    walk.units().map_err(|error| error.to_string())?;
    Ok(walk.functions)
}

/// A section with its relocations carried out.
fn section<'f>(file: &object::File<'f>, name: &str) -> Cow<'f, [u8]> {
    let Some(section) = file.section_by_name(name) else {
        return Cow::Borrowed(&[]);
    };
    let mut bytes = Cow::Borrowed(section.data().unwrap_or_default());
    for (offset, relocation) in section.relocations() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else {
            continue;
        };
        let RelocationTarget::Symbol(index) = relocation.target() else {
            continue;
        };
        // Addresses of 64 bits, and of 32, of zebins and of x86.
        let size = match r_type {
            1 => 8,
            2 | 10 => 4,
            _ => continue,
        };
        let base = file.symbol_by_index(index).map_or(0, |s| s.address());
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let Some(place) = bytes.to_mut().get_mut(start..start.saturating_add(size)) else {
            continue;
        };
        let stored = place.iter().rev().fold(0, |n, b| n << 8 | i64::from(*b));
        let addend = if relocation.has_implicit_addend() {
            stored
        } else {
            relocation.addend()
        };
        let value = base.wrapping_add_signed(addend).to_le_bytes();
        for (to, from) in place.iter_mut().zip(value) {
            *to = from;
        }
    }
    bytes
}

struct Walk<'w, 'd> {
    dwarf: &'w Dwarf<'d>,
    functions: Vec<Function>,
    count: usize,
    /// Types that may still be described: damaged ones can be parts of themselves.
    types: Cell<usize>,
}

impl<'d> Walk<'_, 'd> {
    fn units(&mut self) -> gimli::Result<()> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = self.dwarf.unit(header)?;
            let mut tree = unit.entries_tree(None)?;
            let mut children = tree.root()?.children();
            while let Some(child) = children.next()? {
                self.function(&unit, child)?;
            }
        }
        Ok(())
    }

    /// A function that has code.
    fn function(
        &mut self,
        unit: &Unit<'d>,
        node: EntriesTreeNode<'_, '_, '_, Slice<'d>>,
    ) -> gimli::Result<()> {
        let entry = node.entry();
        if entry.tag() != constants::DW_TAG_subprogram {
            return Ok(());
        }
        let ranges = self.ranges(unit, entry)?;
        let Some(code) = ranges.first().copied() else {
            return Ok(());
        };
        self.functions.push(Function {
            code,
            variables: Vec::new(),
        });
        let origin = unit_ref(entry.attr(constants::DW_AT_abstract_origin)?);
        self.scope(unit, node, 0, &[])?;
        // Variables that are in no register, such as those in local memory, are named by the abstract one alone.
        if let Some(origin) = origin {
            let mut tree = unit.entries_tree(Some(origin))?;
            let mut children = tree.root()?.children();
            while let Some(child) = children.next()? {
                self.variable(unit, child.entry(), 0, &[])?;
            }
        }
        Ok(())
    }

    fn scope(
        &mut self,
        unit: &Unit<'d>,
        node: EntriesTreeNode<'_, '_, '_, Slice<'d>>,
        depth: usize,
        scope: &[(u64, u64)],
    ) -> gimli::Result<()> {
        if depth > DEPTH {
            return Ok(());
        }
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            match entry.tag() {
                constants::DW_TAG_formal_parameter | constants::DW_TAG_variable => {
                    self.variable(unit, entry, depth, scope)?;
                }
                constants::DW_TAG_lexical_block | constants::DW_TAG_inlined_subroutine => {
                    let own = self.ranges(unit, entry)?;
                    let own = if own.is_empty() { scope } else { &own };
                    self.scope(unit, child, depth + 1, own)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn variable(
        &mut self,
        unit: &Unit<'d>,
        entry: &Entry<'_, 'd>,
        depth: usize,
        scope: &[(u64, u64)],
    ) -> gimli::Result<()> {
        let is_variable = matches!(
            entry.tag(),
            constants::DW_TAG_formal_parameter | constants::DW_TAG_variable
        );
        let named = self.attribute(unit, entry, constants::DW_AT_name)?;
        let of = unit_ref(self.attribute(unit, entry, constants::DW_AT_type)?);
        let (Some(name), Some(of), true) = (named, of, is_variable && self.count < MOST) else {
            return Ok(());
        };
        let name = self.dwarf.attr_string(unit, name.value())?;
        let variable = Variable {
            name: name.to_string_lossy().into_owned(),
            of: self.source_type(unit, of, DEPTH, POINTERS)?,
            depth,
            scope: scope.to_vec(),
            places: self.places(unit, entry)?,
        };
        let Some(function) = self.functions.last_mut() else {
            return Ok(());
        };
        let known = |v: &Variable| v.name == variable.name && v.depth == depth;
        if !variable.places.is_empty() || !function.variables.iter().any(known) {
            self.count += 1;
            function.variables.push(variable);
        }
        Ok(())
    }

    fn places(
        &self,
        unit: &Unit<'d>,
        entry: &Entry<'_, 'd>,
    ) -> gimli::Result<Vec<(u64, u64, Vec<u8>)>> {
        let mut places = Vec::new();
        match entry.attr_value(constants::DW_AT_location)? {
            Some(AttributeValue::Exprloc(expression)) => {
                places.push((0, u64::MAX, expression.0.to_vec()));
            }
            Some(value) => {
                let Some(mut list) = self.dwarf.attr_locations(unit, value)? else {
                    return Ok(places);
                };
                while let Some(entry) = list.next()? {
                    let (from, to) = (entry.range.begin, entry.range.end);
                    places.push((from, to, entry.data.0.to_vec()));
                }
            }
            None => {}
        }
        Ok(places)
    }

    fn ranges(&self, unit: &Unit<'d>, entry: &Entry<'_, 'd>) -> gimli::Result<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        let mut ranges = self.dwarf.die_ranges(unit, entry)?;
        while let Some(range) = ranges.next()? {
            found.push((range.begin, range.end));
        }
        Ok(found)
    }

    /// An attribute of an entry, or of the abstract one that it is an instance of.
    fn attribute(
        &self,
        unit: &Unit<'d>,
        entry: &Entry<'_, 'd>,
        name: gimli::DwAt,
    ) -> gimli::Result<Option<Attribute<Slice<'d>>>> {
        if let Some(own) = entry.attr(name)? {
            return Ok(Some(own));
        }
        let Some(origin) = unit_ref(entry.attr(constants::DW_AT_abstract_origin)?) else {
            return Ok(None);
        };
        unit.entry(origin)?.attr(name)
    }

    /// A type, so deep in others, with so many pointers followed.
    fn source_type(
        &self,
        unit: &Unit<'d>,
        at: UnitOffset,
        depth: usize,
        pointers: usize,
    ) -> gimli::Result<SourceType> {
        let entry = unit.entry(at)?;
        let name = match entry.attr_value(constants::DW_AT_name)? {
            Some(name) => Some(
                self.dwarf
                    .attr_string(unit, name)?
                    .to_string_lossy()
                    .into_owned(),
            ),
            None => None,
        };
        let number = |attribute: gimli::DwAt| -> gimli::Result<Option<u64>> {
            Ok(entry.attr(attribute)?.and_then(|a| a.udata_value()))
        };
        let bytes = number(constants::DW_AT_byte_size)?.unwrap_or(0);
        let other = || SourceType::Other {
            name: name.clone().unwrap_or_else(|| "?".to_owned()),
            bytes,
        };
        let (Some(depth), Some(left)) = (depth.checked_sub(1), self.types.get().checked_sub(1))
        else {
            return Ok(other());
        };
        self.types.set(left);
        let inner = |pointers: usize| match unit_ref(entry.attr(constants::DW_AT_type)?) {
            Some(at) => self.source_type(unit, at, depth, pointers),
            None => Ok(SourceType::Other {
                name: "void".to_owned(),
                bytes: 0,
            }),
        };
        Ok(match entry.tag() {
            constants::DW_TAG_base_type => {
                let encoding = match entry.attr_value(constants::DW_AT_encoding)? {
                    Some(AttributeValue::Encoding(encoding)) => encoding,
                    _ => return Ok(other()),
                };
                match data_type(encoding, bytes) {
                    Some(data_type) => SourceType::Number {
                        name: name.unwrap_or_default(),
                        data_type,
                    },
                    None => other(),
                }
            }
            constants::DW_TAG_pointer_type => SourceType::Pointer {
                bytes: if bytes == 0 { 8 } else { bytes },
                to: Box::new(match pointers.checked_sub(1) {
                    Some(pointers) => inner(pointers)?,
                    None => SourceType::Other {
                        name: "…".to_owned(),
                        bytes: 0,
                    },
                }),
            },
            constants::DW_TAG_array_type => self.array(unit, at, inner(pointers)?)?,
            constants::DW_TAG_structure_type | constants::DW_TAG_union_type => SourceType::Record {
                members: self.members(unit, at, depth, pointers)?,
                name: name.unwrap_or_else(|| "struct".to_owned()),
                bytes,
            },
            constants::DW_TAG_typedef => match inner(pointers)? {
                SourceType::Number {
                    data_type,
                    name: of,
                } => SourceType::Number {
                    data_type,
                    name: name.unwrap_or(of),
                },
                SourceType::Record {
                    bytes,
                    members,
                    name: of,
                } => SourceType::Record {
                    bytes,
                    members,
                    name: name.unwrap_or(of),
                },
                of => of,
            },
            constants::DW_TAG_const_type
            | constants::DW_TAG_volatile_type
            | constants::DW_TAG_restrict_type
            | constants::DW_TAG_atomic_type => inner(pointers)?,
            constants::DW_TAG_enumeration_type => {
                match data_type(constants::DW_ATE_signed, bytes) {
                    Some(data_type) => SourceType::Number {
                        name: name.unwrap_or_else(|| "enum".to_owned()),
                        data_type,
                    },
                    None => other(),
                }
            }
            _ => other(),
        })
    }

    /// An array; each of its dimensions is an array of the next ones.
    fn array(
        &self,
        unit: &Unit<'d>,
        at: UnitOffset,
        element: SourceType,
    ) -> gimli::Result<SourceType> {
        let mut tree = unit.entries_tree(Some(at))?;
        let mut children = tree.root()?.children();
        let mut counts = Vec::new();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let value = |name: gimli::DwAt| -> gimli::Result<Option<u64>> {
                Ok(entry.attr(name)?.and_then(|a| a.udata_value()))
            };
            let last = value(constants::DW_AT_upper_bound)?.map(|last| last.saturating_add(1));
            counts.push(value(constants::DW_AT_count)?.or(last).unwrap_or(0));
        }
        let nest = |of: SourceType, count: &u64| SourceType::Array {
            element: Box::new(of),
            count: *count,
        };
        Ok(counts.iter().rev().fold(element, nest))
    }

    fn members(
        &self,
        unit: &Unit<'d>,
        at: UnitOffset,
        depth: usize,
        pointers: usize,
    ) -> gimli::Result<Vec<(String, u64, SourceType)>> {
        let mut tree = unit.entries_tree(Some(at))?;
        let mut children = tree.root()?.children();
        let mut members = Vec::new();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let name = entry.attr_value(constants::DW_AT_name)?;
            let of = unit_ref(entry.attr(constants::DW_AT_type)?);
            let (Some(name), Some(of)) = (name, of) else {
                continue;
            };
            let start = entry.attr(constants::DW_AT_data_member_location)?;
            let name = self.dwarf.attr_string(unit, name)?;
            members.push((
                name.to_string_lossy().into_owned(),
                start.and_then(|a| a.udata_value()).unwrap_or(0),
                self.source_type(unit, of, depth, pointers)?,
            ));
        }
        Ok(members)
    }
}

fn unit_ref(attribute: Option<Attribute<Slice<'_>>>) -> Option<UnitOffset> {
    match attribute?.value() {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

fn data_type(encoding: DwAte, bytes: u64) -> Option<DataType> {
    let signed = matches!(
        encoding,
        constants::DW_ATE_signed | constants::DW_ATE_signed_char
    );
    let unsigned = matches!(
        encoding,
        constants::DW_ATE_unsigned
            | constants::DW_ATE_unsigned_char
            | constants::DW_ATE_boolean
            | constants::DW_ATE_UTF
    );
    Some(match (bytes, signed, unsigned) {
        (1, true, _) => DataType::B,
        (2, true, _) => DataType::W,
        (4, true, _) => DataType::D,
        (8, true, _) => DataType::Q,
        (1, _, true) => DataType::Ub,
        (2, _, true) => DataType::Uw,
        (4, _, true) => DataType::Ud,
        (8, _, true) => DataType::Uq,
        (2, ..) if encoding == constants::DW_ATE_float => DataType::Hf,
        (4, ..) if encoding == constants::DW_ATE_float => DataType::F,
        (8, ..) if encoding == constants::DW_ATE_float => DataType::Df,
        _ => return None,
    })
}
