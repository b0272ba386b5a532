//! The ELF container of compiled OpenCL programs.
//!
//! Section names and types are those of the zebin specification in the public compiler repository. Native code,
//! most of the container, is ignored: kernels run from their vISA.

use crate::error::{LaunchError, zeroes};
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{ElfFile, ElfSection as SectionOf, FileHeader, SectionHeader};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, SymbolIndex};
use std::borrow::Cow;

/// Types of sections that only a zebin has.
const SHT_SPIRV: u32 = 0xff00_0009;
const SHT_ZEINFO: u32 = 0xff00_0011;
const SHT_GTPIN: u32 = 0xff00_0012;
const SHT_VISAASM: u32 = 0xff00_0013;
const SHT_MISC: u32 = 0xff00_0014;
/// Code as PISA (since 1.71).
const SHT_PISA: u32 = 0xff00_0015;
/// Note: product family.
const NOTE_PRODUCT: u32 = 1;
/// Note: core family.
const NOTE_CORE: u32 = 2;
/// Note: version of the device, as `architecture << 22 | release << 14`.
const NOTE_PRODUCT_CONFIG: u32 = 6;
/// First product whose registers have 64 bytes.
const PRODUCT_PVC: u32 = 1271;
/// Products in between that have 32 bytes all the same: Meteor Lake, Arrow Lake.
const PRODUCTS_NARROW: [u32; 2] = [1272, 1273];
/// First core whose registers have 64 bytes.
const CORE_XE_HPC: u32 = 0x0c08;
/// Relocation: 64-bit address.
const R_SYM_ADDR: u32 = 1;
/// Relocation: low half of an address.
const R_SYM_ADDR_32: u32 = 2;
/// Relocation: high half of an address.
const R_SYM_ADDR_32_HI: u32 = 3;

/// Beginning of the names of sections in the container that is older than the zebin.
const OLDER: &str = "Intel(R) OpenCL Device";

/// Data sections that require more than this are rejected.
const MOST_DATA: u64 = 1 << 30;

/// The parts of a zebin that launching needs.
#[derive(Clone, Debug, Default)]
pub struct Zebin {
    /// Text of `.ze_info`.
    pub zeinfo: String,
    /// vISA texts and the names of their modules, if the program was built to carry them.
    pub texts: Vec<(String, Vec<u8>)>,
    /// Sections of program-scope variables.
    pub data: Vec<DataSection>,
    /// Variables in them.
    pub symbols: Vec<DataSymbol>,
    /// Bytes of a register, if the notes name the device.
    pub grf_bytes: Option<u32>,
    /// Names whose addresses code or variables hold, and which are not defined: functions and variables of other
    /// programs, and those of the compiler's runtime, which begin with two underscores.
    pub undefined: Vec<String>,
    /// The sections of the file, in order.
    pub sections: Vec<ElfSection>,
}

/// A section of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElfSection {
    /// Its name.
    pub name: String,
    /// Its type, `sh_type`.
    pub kind: u32,
    /// Bytes in the file, or in memory if it is zeroed there.
    pub bytes: u64,
}

impl ElfSection {
    /// The content, by the type and for types of every ELF file by the name; `None` if neither is known.
    #[must_use]
    pub fn content(&self) -> Option<&'static str> {
        Some(match self.kind {
            SHT_SPIRV => "SPIR-V",
            SHT_ZEINFO => "launch metadata",
            SHT_GTPIN => "instrumentation data",
            SHT_VISAASM => "vISA text",
            SHT_MISC => "build options and the like",
            SHT_PISA => "PISA",
            elf::SHT_SYMTAB => "symbols",
            elf::SHT_STRTAB => "names",
            elf::SHT_REL | elf::SHT_RELA => "relocations",
            elf::SHT_NOTE => "compatibility notes",
            elf::SHT_NULL => "nothing",
            elf::SHT_NOBITS => "zeroed variables",
            elf::SHT_PROGBITS if self.name.starts_with(".text") => "native code",
            elf::SHT_PROGBITS if self.name.starts_with(".data") => "variables",
            elf::SHT_PROGBITS if self.name.starts_with(".debug") => "debug information",
            _ => return None,
        })
    }
}

/// Program-scope variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSection {
    /// Name: `.data.const` or `.data.global`, or `.bss.const` or `.bss.global` where all are zero.
    pub name: String,
    /// Initial contents.
    pub bytes: Vec<u8>,
    /// Addresses to be put in.
    pub relocations: Vec<DataRelocation>,
    /// Its address, if that is fixed; see [`Memory::add_storage`](visakit_exec::Memory::add_storage).
    pub address: Option<u64>,
}

/// A place in a section that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRelocation {
    /// Position in the section.
    pub offset: u64,
    /// Whose address.
    pub symbol: String,
    /// The addend.
    pub addend: i64,
    /// Which part of the address is written.
    pub part: AddressPart,
}

/// Which part of an address a relocation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPart {
    /// All 64 bits.
    Whole,
    /// The low 32 bits.
    Low,
    /// The high 32 bits.
    High,
}

/// The section of constants.
const CONSTANT: &str = ".data.const";

/// The section of constants that are arrays of bytes.
const STRINGS: &str = ".data.const.string";

/// Where an ELF file has its version: in its identification, and in its little-endian header.
const VERSIONS: [usize; 2] = [6, 20];

/// Sections that a memory may have when constants are kept apart.
const MOST_SECTIONS: usize = 64;

/// A program-scope variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSymbol {
    /// Its name.
    pub name: String,
    /// The section that it is in.
    pub section: String,
    /// Its place there.
    pub offset: u64,
    /// Its size in bytes; 0 if that is not known.
    pub bytes: u64,
}

impl DataSymbol {
    /// Where it ends in its section.
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether another one has bytes of it.
    fn overlaps(&self, other: &Self) -> bool {
        self.section == other.section
            && self.name != other.name
            && self.offset < other.end().max(other.offset.saturating_add(1))
            && other.offset < self.end()
    }
}

impl Zebin {
    /// Reads a zebin.
    ///
    /// # Errors
    /// [`LaunchError::Zebin`] where it is no ELF file, or has neither `.ze_info` nor the note of a zebin: a program
    /// without kernels has no metadata.
    pub fn parse(bytes: &[u8]) -> Result<Self, LaunchError> {
        // Compilers of 2020 leave the version of ELF out, in the identification and in the header.
        let unversioned = bytes.starts_with(b"\x7fELF") && bytes.get(VERSIONS[0]) == Some(&0);
        let mut bytes = std::borrow::Cow::Borrowed(bytes);
        if unversioned {
            for at in VERSIONS {
                if let Some(version) = bytes.to_mut().get_mut(at) {
                    *version = 1;
                }
            }
        }
        match bytes.get(4) {
            Some(1) => read::<FileHeader32<object::Endianness>>(&bytes),
            _ => read::<FileHeader64<object::Endianness>>(&bytes),
        }
    }
}

impl Zebin {
    /// A description of the content: which kernels have native code, and what its compiler produced before.
    #[must_use]
    pub fn holds(&self) -> String {
        let names = self
            .sections
            .iter()
            .filter_map(|section| section.name.strip_prefix(".text."));
        let kernels: Vec<_> = names.filter(|name| !name.starts_with("Intel_")).collect();
        let mut held = vec![match kernels.as_slice() {
            [] => "metadata".to_owned(),
            kernels => format!("native code of {}", kernels.join(", ")),
        }];
        if self
            .sections
            .iter()
            .any(|section| section.kind == SHT_SPIRV || section.name.starts_with(".spv"))
        {
            held.push("the SPIR-V that it was compiled from".to_owned());
        }
        held.join(" and ")
    }

    /// Drops the symbols of constants where they cannot be told from those of arrays of bytes: release 1.0.5353 puts such
    /// arrays into a section of their own, and writes into their symbols the section of the other constants, or none. Each
    /// of two would have the place of the other.
    fn drop_misplaced(&mut self) {
        let of = |section: &'static str| self.symbols.iter().filter(move |s| s.section == section);
        let holds = |section: &str| {
            self.data
                .iter()
                .any(|d| d.name == section && !d.bytes.is_empty())
        };
        if !holds(STRINGS) || of(STRINGS).next().is_some() {
            return;
        }
        let section = self.data.iter().find(|d| d.name == CONSTANT);
        let bytes = section.map_or(0, |d| d.bytes.len() as u64);
        let zeroed = self.data.iter().any(|d| d.name == ".bss.const");
        let sized = of(CONSTANT).filter(|symbol| symbol.bytes > 0);
        let mut places: Vec<_> = sized
            .map(|symbol| (symbol.offset, symbol.end(), &symbol.name))
            .collect();
        places.sort_unstable();
        places.dedup();
        let is_outside = !zeroed && places.iter().any(|(_, end, _)| *end > bytes);
        // Where two overlap, two neighbours do.
        let mut pairs = places.windows(2);
        let overlap = pairs.any(|pair| matches!(pair, [one, next] if next.0 < one.1));
        if is_outside || overlap {
            self.symbols.retain(|s| s.section != CONSTANT);
        }
    }

    /// Appends zeroed variables (`.bss.…`) to the initialised ones of their kind. Both are one allocation, and code may
    /// address all of its variables from the start of it; places of symbols of `.data.…` may be past its end.
    ///
    /// # Errors
    /// More memory than can be had.
    fn join_zeroes(&mut self) -> Result<(), LaunchError> {
        for kind in ["const", "global"] {
            let (data, bss) = (format!(".data.{kind}"), format!(".bss.{kind}"));
            let place = |name: &str| self.data.iter().position(|d| d.name == name);
            let (Some(first), Some(second)) = (place(&data), place(&bss)) else {
                continue;
            };
            let zeroed = self.data.get(second).map_or(0, |d| d.bytes.len());
            let Some(section) = self.data.get_mut(first) else {
                continue;
            };
            let start = section.bytes.len();
            let mut both = zeroes("program-scope variables", start.saturating_add(zeroed))?;
            if let Some(data) = both.get_mut(..start) {
                data.copy_from_slice(&section.bytes);
            }
            section.bytes = both;
            for symbol in self.symbols.iter_mut().filter(|s| s.section == bss) {
                symbol.section.clone_from(&data);
                symbol.offset = symbol.offset.wrapping_add(start as u64);
            }
            self.data.remove(second);
        }
        Ok(())
    }
}

fn fault(error: &object::read::Error) -> LaunchError {
    LaunchError::Zebin(format!(
        "{error}; a zebin is what the compiler writes with IGC_EnableZEBinary=1, or by default since 2022"
    ))
}

fn read<H: FileHeader<Endian = object::Endianness>>(bytes: &[u8]) -> Result<Zebin, LaunchError> {
    let file = ElfFile::<H>::parse(bytes).map_err(|e| fault(&e))?;
    let mut zebin = Zebin::default();
    let mut found = false;
    for section in file.sections() {
        let name = section.name().unwrap_or_default().to_owned();
        let kind = section.elf_section_header().sh_type(file.endian());
        if name.starts_with(".text.") || name.starts_with(".data.") {
            for (_, relocation) in section.relocations() {
                if let Some(name) = undefined(&file, &relocation)
                    && !zebin.undefined.contains(&name)
                {
                    zebin.undefined.push(name);
                }
            }
        }
        found |= zebin.take(&file, &section, &name)?;
        let bytes = section.size();
        zebin.sections.push(ElfSection { name, kind, bytes });
    }
    if !found {
        let names: Vec<_> = zebin.sections.iter().map(|s| s.name.as_str()).collect();
        // The container of older compilers is an ELF file as well.
        let advice = match names.iter().any(|name| name.starts_with(OLDER)) {
            true => {
                "; with IGC_EnableZEBinary=1 a compiler of 2022 or later writes a zebin, an older one only where it dumps \
                 (IGC_ShaderDumpEnable=1), as for `visakit compile`"
            }
            false => "",
        };
        return Err(LaunchError::Zebin(format!(
            "it has no section .ze_info; it has: {}{advice}",
            names.join(", ")
        )));
    }
    for symbol in file.symbols() {
        let (Ok(name), Some(index)) = (symbol.name(), symbol.section_index()) else {
            continue;
        };
        let Ok(section) = file.section_by_index(index) else {
            continue;
        };
        let section = section.name().unwrap_or_default();
        if !name.is_empty() && zebin.data.iter().any(|d| d.name == section) {
            zebin.symbols.push(DataSymbol {
                name: name.to_owned(),
                section: section.to_owned(),
                offset: symbol.address(),
                bytes: symbol.size(),
            });
        }
    }
    zebin.drop_misplaced();
    zebin.join_zeroes()?;
    Ok(zebin)
}

impl Zebin {
    /// Takes over what a section holds; whether it is one that makes the file a zebin.
    fn take<'d, H: FileHeader<Endian = object::Endianness>>(
        &mut self,
        file: &ElfFile<'d, H>,
        section: &SectionOf<'d, '_, H>,
        name: &str,
    ) -> Result<bool, LaunchError> {
        let data = section.data().unwrap_or_default();
        let kind = section.elf_section_header().sh_type(file.endian());
        match name {
            ".ze_info" => {
                self.zeinfo = String::from_utf8_lossy(data).into_owned();
                return Ok(true);
            }
            ".note.intelgt.compat" => {
                self.grf_bytes = grf_bytes(data);
                return Ok(true);
            }
            CONSTANT | ".data.global" | STRINGS => {
                let relocations = section
                    .relocations()
                    .filter_map(|(offset, relocation)| {
                        let object::RelocationTarget::Symbol(index) = relocation.target() else {
                            return None;
                        };
                        relocation_of(file, offset, index, &relocation, data)
                    })
                    .collect();
                self.data.push(DataSection {
                    name: name.to_owned(),
                    bytes: data.to_vec(),
                    relocations,
                    address: None,
                });
            }
            ".bss.const" | ".bss.global" => {
                if section.size() > MOST_DATA {
                    return Err(LaunchError::TooLarge {
                        what: "a section of program-scope variables",
                        bytes: section.size(),
                        limit: MOST_DATA,
                    });
                }
                let size = usize::try_from(section.size()).unwrap_or(0);
                self.data.push(DataSection {
                    name: name.to_owned(),
                    bytes: zeroes("a section of program-scope variables", size)?,
                    relocations: Vec::new(),
                    address: None,
                });
            }
            _ if name.starts_with(".visaasm") || kind == SHT_VISAASM => {
                let module = name.strip_prefix(".visaasm").unwrap_or(name);
                let module = module.trim_start_matches('.').to_owned();
                self.texts.push((module, data.to_vec()));
            }
            _ => {}
        }
        Ok(false)
    }
}

/// The name that a relocation needs, if it takes an address and nothing in the file defines it.
fn undefined<H: FileHeader>(
    file: &ElfFile<'_, H>,
    relocation: &object::Relocation,
) -> Option<String> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else {
        return None;
    };
    let object::RelocationTarget::Symbol(index) = relocation.target() else {
        return None;
    };
    let symbol = file.symbol_by_index(index).ok()?;
    let takes_address = [R_SYM_ADDR, R_SYM_ADDR_32, R_SYM_ADDR_32_HI].contains(&r_type);
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    (takes_address && symbol.is_undefined()).then(|| name.to_owned())
}

fn relocation_of<H: FileHeader>(
    file: &ElfFile<'_, H>,
    offset: u64,
    index: SymbolIndex,
    relocation: &object::Relocation,
    data: &[u8],
) -> Option<DataRelocation> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else {
        return None;
    };
    let part = match r_type {
        R_SYM_ADDR => AddressPart::Whole,
        R_SYM_ADDR_32 => AddressPart::Low,
        R_SYM_ADDR_32_HI => AddressPart::High,
        _ => return None,
    };
    let symbol = file.symbol_by_index(index).ok()?;
    let addend = if relocation.has_implicit_addend() {
        part.stored(data, offset)?
    } else {
        relocation.addend()
    };
    Some(DataRelocation {
        offset,
        symbol: symbol.name().ok()?.to_owned(),
        addend,
        part,
    })
}

/// Bytes of a register of the device that the notes name.
fn grf_bytes(notes: &[u8]) -> Option<u32> {
    let word = |at: usize| {
        let bytes = notes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let padded = |size: u32| usize::try_from(size).ok()?.checked_next_multiple_of(4);
    let mut at = 0_usize;
    let mut best = None;
    while let (Some(name), Some(size), Some(kind)) = (
        word(at),
        word(at.saturating_add(4)),
        word(at.saturating_add(8)),
    ) {
        let start = at.checked_add(12)?.checked_add(padded(name)?)?;
        // Some compilers write a core family of 0.
        if let Some(value) = word(start).filter(|value| size >= 4 && *value != 0) {
            let wide = match kind {
                NOTE_PRODUCT => Some(value >= PRODUCT_PVC && !PRODUCTS_NARROW.contains(&value)),
                NOTE_CORE => Some(value >= CORE_XE_HPC),
                // Architecture 12.60 is the first one with wide registers, 12.70 to 12.74 are not.
                NOTE_PRODUCT_CONFIG => {
                    let (architecture, release) = (value >> 22, (value >> 14) & 0xff);
                    Some(architecture > 12 || (architecture == 12 && (60..70).contains(&release)))
                }
                _ => None,
            };
            best = best.or(wide.map(|wide| if wide { 64 } else { 32 }));
        }
        at = start.checked_add(padded(size)?)?;
    }
    best
}

impl AddressPart {
    /// This part of an address.
    pub(crate) const fn of(self, address: &[u8; 8]) -> &[u8] {
        let (low, high) = address.split_at(4);
        match self {
            Self::Whole => address,
            Self::Low => low,
            Self::High => high,
        }
    }

    /// The number at the place of a relocation of this kind; `None` past the end.
    pub(crate) fn stored(self, bytes: &[u8], offset: u64) -> Option<i64> {
        let width = match self {
            Self::Whole => 8,
            Self::Low | Self::High => 4,
        };
        let at = usize::try_from(offset).ok()?;
        let bytes = bytes.get(at..at.checked_add(width)?)?;
        let mut wide = [0; 8];
        wide.get_mut(..width)?.copy_from_slice(bytes);
        Some(i64::from_le_bytes(wide))
    }
}

impl DataSection {
    /// A part of it as a section of its own, which is named after the symbol. `None` if it is not inside.
    fn part(&self, symbol: &DataSymbol) -> Option<Self> {
        let end = symbol.offset.checked_add(symbol.bytes)?;
        let range = usize::try_from(symbol.offset).ok()?..usize::try_from(end).ok()?;
        let inside = |r: &&DataRelocation| (symbol.offset..end).contains(&r.offset);
        let relocations = self.relocations.iter().filter(inside);
        Some(Self {
            name: format!("{}.{}", self.name, symbol.name),
            bytes: self.bytes.get(range)?.to_vec(),
            relocations: relocations
                .map(|r| DataRelocation {
                    offset: r.offset - symbol.offset,
                    ..r.clone()
                })
                .collect(),
            address: None,
        })
    }

    /// Sections and symbols in which constants whose sizes are known are in sections of their own, so that nothing
    /// follows them: `.data.const.NAME`. The sections they come from stay, for programs that know only their starts.
    pub(crate) fn apart(data: &[Self], symbols: &[DataSymbol]) -> (Vec<Self>, Vec<DataSymbol>) {
        let (mut data, mut symbols) = (data.to_vec(), symbols.to_vec());
        let all = symbols.clone();
        for symbol in &mut symbols {
            let known = symbol.section == CONSTANT && symbol.bytes > 0;
            let section = data.iter().find(|s| s.name == symbol.section);
            let section = section.filter(|s| known && s.address.is_none());
            let alone = || all.iter().all(|other| !symbol.overlaps(other));
            let part = section.filter(|_| alone() && data.len() < MOST_SECTIONS);
            if let Some(part) = part.and_then(|section| section.part(symbol)) {
                symbol.section.clone_from(&part.name);
                symbol.offset = 0;
                data.push(part);
            }
        }
        (data, symbols)
    }

    /// The contents with addresses filled in; `address` returns those of symbols.
    #[must_use]
    pub fn relocated(&self, address: impl Fn(&str) -> Option<u64>) -> Cow<'_, [u8]> {
        if self.relocations.is_empty() {
            return Cow::Borrowed(&self.bytes);
        }
        let mut bytes = self.bytes.clone();
        for relocation in &self.relocations {
            let Some(address) = address(&relocation.symbol) else {
                continue;
            };
            let value = address.wrapping_add_signed(relocation.addend).to_le_bytes();
            let value = relocation.part.of(&value);
            let place = usize::try_from(relocation.offset).ok();
            let place = place.and_then(|at| bytes.get_mut(at..at.checked_add(value.len())?));
            if let Some(place) = place {
                place.copy_from_slice(value);
            }
        }
        Cow::Owned(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Constants of a program of 1.0.5353: symbols at their places, and the sizes of both sections.
    fn placed(symbols: &[(&str, u64, u64)], constants: usize, strings: usize) -> Vec<DataSymbol> {
        let section = |(name, bytes): (&str, usize)| DataSection {
            name: name.to_owned(),
            bytes: vec![0; bytes],
            ..DataSection::default()
        };
        let symbol = |&(name, offset, bytes): &(&str, u64, u64)| DataSymbol {
            name: name.to_owned(),
            section: CONSTANT.to_owned(),
            offset,
            bytes,
        };
        let mut zebin = Zebin {
            data: [(CONSTANT, constants), (STRINGS, strings)]
                .map(section)
                .into(),
            symbols: symbols.iter().map(symbol).collect(),
            ..Zebin::default()
        };
        zebin.drop_misplaced();
        zebin.symbols
    }

    #[test]
    fn constants_at_one_place_have_none() {
        // As the release wrote them: an array of integers and two of bytes; then one that would be outside.
        assert_eq!(
            placed(&[("t1", 0, 16), ("v0", 4, 8), ("t0", 0, 4)], 16, 12),
            []
        );
        assert_eq!(placed(&[("t1", 0, 4), ("v0", 4, 8)], 4, 12), []);
        // Strings without symbols, and no strings.
        assert_eq!(placed(&[("t1", 0, 4), ("v0", 4, 8)], 12, 12).len(), 2);
        assert_eq!(placed(&[("t1", 0, 4), ("alias", 0, 4)], 4, 0).len(), 2);
    }
}
