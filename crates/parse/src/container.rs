//! The file header, which locates everything else. Nothing after it is read until requested.

use crate::dialect::{self, FoundDialect};
use crate::error::{Context, Error, ErrorKind, NomError};
use crate::extent::{self, Extent, ExtentId};
use crate::routine::RoutineReader;
use crate::wire::{Cursor, Leaf, Observer, Silent, locate};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use nom::Parser;
use nom::bytes::streaming::tag;
use nom::number::streaming::le_u8;
use visakit_isa::object::{NativeCode, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::{Dialect, Format, Version};

/// The first four bytes of every object.
pub const MAGIC: [u8; 4] = *b"CISA";

/// Bytes of magic and version.
const PREFIX: u64 = 6;

/// The extent of a routine, its name and its bytes.
type Place<'a, 'c> = (&'c Extent, Cow<'a, [u8]>, &'a [u8]);

/// An object of which only the header has been read.
///
/// ```
/// # fn main() -> Result<(), visakit_parse::Error> {
/// # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
/// let container = visakit_parse::Container::parse(file)?;
/// for (id, routine) in container.header().routines() {
///     let place = container.extent(id).unwrap();
///     println!("{} at {:#x}", routine.display_name(), place.offset);
///     for instruction in container.routine(id)?.instructions() {
///         let instruction = instruction?;
///         println!("{:#x} {}", instruction.offset(), instruction.def().mnemonic());
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Container<'a> {
    bytes: &'a [u8],
    header: Object<'a>,
    header_end: u64,
    pub(crate) extents: Vec<Extent>,
    /// The faults of the places, by their offsets.
    pub(crate) faults: Vec<Error>,
    /// Indices into `extents` of the kernels, then of the functions.
    routines: Vec<usize>,
    dialect: FoundDialect,
}

impl<'a> Container<'a> {
    /// Reads magic, version and header.
    ///
    /// # Errors
    /// The bytes are not an object, the version is unknown, or the header ends early.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::parse_with(bytes, &mut Silent)
    }

    /// Reads, telling an observer of every byte range.
    ///
    /// # Errors
    /// Those of [`Container::parse`].
    pub fn parse_with<O: Observer<'a>>(bytes: &'a [u8], observer: &mut O) -> Result<Self, Error> {
        let version = version(bytes)?;
        observer.leaf("magic", 0..4, Leaf::Text(&MAGIC));
        observer.leaf("major", 4..5, Leaf::Number(version.major.into()));
        observer.leaf("minor", 5..6, Leaf::Number(version.minor.into()));
        // The header is the same in all dialects.
        let mut header = Object::new(version, Dialect::default());
        let rest = bytes.get(6..).unwrap_or_default();
        let mut cursor = Cursor::new(rest, PREFIX, header.format(), observer);
        header.read_header(&mut cursor)?;
        let header_end = cursor.position();
        let extents = extent::stated(&header, &cursor.derived);
        for extent in &extents {
            // Those that turn out to hold code get it in the end.
            if let ExtentId::Binary { kernel, index } = extent.id
                && let Some(binary) = header
                    .kernels
                    .get_mut(kernel)
                    .and_then(|k| k.binaries.get_mut(index))
            {
                binary.code = NativeCode::Placeholder {
                    offset: extent.offset,
                    size: extent.stated_size,
                };
            }
        }
        let routines = extents
            .iter()
            .enumerate()
            .filter(|(_, p)| matches!(p.id, ExtentId::Routine(_)))
            .map(|(i, _)| i)
            .collect();
        let mut container = Self {
            bytes,
            header,
            header_end,
            extents,
            faults: Vec::new(),
            routines,
            dialect: FoundDialect::default(),
        };
        container.settle();
        Ok(container)
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The header. The bodies of its routines are empty, its binaries are placeholders, and its dialect is the default
    /// one: see [`Container::dialect`].
    #[must_use]
    pub fn header(&self) -> &Object<'a> {
        &self.header
    }

    /// The header, as the beginning of an owned object.
    #[must_use]
    pub(crate) fn into_header(self) -> Object<'a> {
        self.header
    }

    /// Offset of the first byte after the header.
    #[must_use]
    pub fn header_end(&self) -> u64 {
        self.header_end
    }

    /// Version of the object.
    #[must_use]
    pub fn version(&self) -> Version {
        self.header.version
    }

    /// The extents of the header's entries, in header order.
    #[must_use]
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The extent of a routine.
    #[must_use]
    pub fn extent(&self, id: RoutineId) -> Option<&Extent> {
        let number = match id.kind {
            RoutineKind::Kernel => id.index,
            RoutineKind::Function => id.index.checked_add(self.header.kernels.len())?,
        };
        let extent = self.extents.get(*self.routines.get(number)?)?;
        (extent.id == ExtentId::Routine(id)).then_some(extent)
    }

    /// Whether the entry of a native binary points to no place after the header: compilers write such entries if no
    /// code was generated.
    #[must_use]
    pub fn is_placeholder(&self, extent: &Extent) -> bool {
        matches!(extent.id, ExtentId::Binary { .. })
            && (extent.stated_size == 0 || u64::from(extent.offset) < self.header_end)
    }

    /// The header's entry of a routine.
    #[must_use]
    pub fn entry(&self, id: RoutineId) -> Option<&Routine<'a>> {
        self.header.routine(id)
    }

    /// The dialect of the object: the first one in which all instructions of all routines are sound, or else the one in
    /// which most of them are. [`read`](crate::read) determines the same.
    ///
    /// The first call decodes the instructions of the object, only once if none of them depends on the dialect. The
    /// result is cached.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect.get_or_find(|| {
            let readers: Vec<RoutineReader<'_>> = self
                .held()
                .filter_map(|(id, extent, bytes)| self.routine_in(id, extent, bytes).ok())
                .collect();
            let (best, candidates) = dialect::search(self.version(), |attempt| {
                readers.iter().for_each(|reader| attempt.decode(reader));
            });
            candidates.first().copied().unwrap_or(best)
        })
    }

    /// This container, whose routines are decoded in this dialect instead of the one that fits.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = FoundDialect::from(dialect);
        self
    }

    /// Reads the tables of a routine. Its instructions are decoded in [`Container::dialect`].
    ///
    /// # Errors
    /// There is no routine with this id, its place is outside the file, or its tables are damaged.
    pub fn routine(&self, id: RoutineId) -> Result<RoutineReader<'a>, Error> {
        let (extent, name, bytes) = self.place_of(id)?;
        RoutineReader::parse(id, name, extent, bytes, self.format())
    }

    /// Reads, telling an observer of every byte range.
    ///
    /// # Errors
    /// Those of [`Container::routine`].
    pub fn routine_with<O: Observer<'a>>(
        &self,
        id: RoutineId,
        observer: &mut O,
    ) -> Result<RoutineReader<'a>, Error> {
        let (extent, name, bytes) = self.place_of(id)?;
        RoutineReader::parse_with(id, name, extent, bytes, self.format(), observer)
    }

    fn place_of(&self, id: RoutineId) -> Result<Place<'a, '_>, Error> {
        let (Some(extent), Some(entry)) = (self.extent(id), self.entry(id)) else {
            let end = match id.kind {
                RoutineKind::Kernel => self.header.kernels.len(),
                RoutineKind::Function => self.header.functions.len(),
            };
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            return Err(Error::new(
                ErrorKind::IndexOutOfRange {
                    table: id.kind.name(),
                    index: number(id.index),
                    end: number(end),
                },
                PREFIX,
                Context::default(),
            ));
        };
        Ok((extent, entry.name.clone(), self.slice(extent)?))
    }

    /// Reads the tables of a routine from bytes that may have been cut, in the default dialect.
    pub(crate) fn routine_in(
        &self,
        id: RoutineId,
        extent: &Extent,
        bytes: &'a [u8],
    ) -> Result<RoutineReader<'a>, Error> {
        let name = self.entry(id).map(|e| e.name.clone()).unwrap_or_default();
        RoutineReader::parse(id, name, extent, bytes, self.header.format())
    }

    /// The tables of all routines, in the order of the header, if everything except their instructions satisfies strict
    /// reading: places, numbers and indices of tables. Instructions are decoded in the default dialect, which is the
    /// dialect of the object if all of them are sound in it.
    ///
    /// Callers that need one instruction at a time can use this instead of [`read`](crate::read), which keeps them all.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn sound_routines(&self) -> Result<Vec<RoutineReader<'a>>, Error> {
        if let Some(fault) = self.faults.first() {
            return Err(fault.clone());
        }
        let mut readers = Vec::with_capacity(self.routines.len());
        for (id, extent, bytes) in self.held() {
            let reader = self.routine_in(id, extent, bytes)?;
            reader.check(extent)?;
            readers.push(reader);
        }
        Ok(readers)
    }

    /// Version and [`Container::dialect`].
    #[must_use]
    pub fn format(&self) -> Format {
        Format::new(self.version(), self.dialect())
    }

    /// The bytes of an extent.
    ///
    /// # Errors
    /// The file has none for it: its stated place is outside, or taken.
    pub fn slice(&self, extent: &Extent) -> Result<&'a [u8], Error> {
        if extent.held {
            Ok(self.range(&(extent.offset.into()..extent.end())))
        } else {
            Err(self.misplaced(extent))
        }
    }

    /// The routines that have bytes, in header order.
    pub(crate) fn held(&self) -> impl Iterator<Item = (RoutineId, &Extent, &'a [u8])> {
        let routines = self.routines.iter().filter_map(|&i| self.extents.get(i));
        routines.filter(|extent| extent.held).filter_map(|extent| {
            let ExtentId::Routine(id) = extent.id else {
                return None;
            };
            Some((id, extent, self.slice(extent).ok()?))
        })
    }
}

/// Reads magic and version.
fn version(bytes: &[u8]) -> Result<Version, Error> {
    let fail = |kind, offset| Error::new(kind, offset, Context::default());
    let mut found = [0; 4];
    for (to, from) in found.iter_mut().zip(bytes) {
        *to = *from;
    }
    let magic = tag::<_, _, NomError>(&MAGIC[..]).parse(bytes);
    let (rest, _) = match magic {
        Ok(done) => done,
        Err(nom::Err::Incomplete(n)) => {
            let (kind, offset) = locate(&nom::Err::Incomplete(n), bytes.len() as u64);
            return Err(fail(kind, offset));
        }
        Err(_) => return Err(fail(ErrorKind::NotAnObject { found }, 0)),
    };
    let (_, (major, minor)) = (le_u8, le_u8).parse(rest).map_err(|error| {
        let (kind, offset) = locate(&error, bytes.len() as u64);
        fail(kind, offset)
    })?;
    let version = Version::new(major, minor);
    if version.is_supported() {
        Ok(version)
    } else {
        Err(fail(ErrorKind::UnsupportedVersion(version), 4))
    }
}
