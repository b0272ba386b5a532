//! A routine: its tables, and the bytes of its instructions.

use crate::error::{Context, Error, ErrorKind};
use crate::extent::Extent;
use crate::instructions::Instructions;
use crate::rules::Rules;
use crate::wire::{Cursor, Observer, Quick, Silent};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::object::{Body, RoutineId, RoutineKind};
use visakit_isa::wire::{Derived, Source};
use visakit_isa::{Dialect, Format};

/// A routine whose tables have been read and whose instructions have not.
#[derive(Clone, Debug)]
pub struct RoutineReader<'a> {
    id: RoutineId,
    name: Cow<'a, [u8]>,
    format: Format,
    /// Offset of the routine from the start of the file.
    offset: u64,
    bytes: &'a [u8],
    body: Body<'a>,
    /// Bytes before the instructions, which follow at once in an undamaged routine.
    tables_size: usize,
    /// Size and entry of the code with the places that state them.
    pub(crate) code_size: (u32, u64),
    pub(crate) code_entry: (u32, u64),
    /// Offset of the input list from the start of the file.
    pub(crate) inputs: Option<u64>,
}

/// The tables of a routine, and what was noted while reading them.
struct Tables<'a> {
    body: Body<'a>,
    /// Offset of the first byte after them from the start of the file.
    end: u64,
    derived: Vec<(Derived, u32, u64)>,
    inputs: Option<u64>,
}

/// Reads the tables of a routine; the only place that lists them.
#[cfg_attr(not(debug_assertions), inline(always))]
fn read<'a, S: Source<'a>>(
    body: &mut Body<'a>,
    kind: RoutineKind,
    source: &mut S,
) -> Result<(), S::Error> {
    body.read_tables(source)?;
    match kind {
        RoutineKind::Kernel => body.read_kernel_tail(source),
        RoutineKind::Function => body.read_function_tail(source),
    }
}

impl<'a> Tables<'a> {
    /// `None` if anything is wrong.
    fn quickly<const INDEX: u8>(
        kind: RoutineKind,
        place: &Extent,
        bytes: &'a [u8],
        format: Format,
    ) -> Option<Self> {
        let mut source = Quick::<INDEX>::new(bytes, place.offset.into(), format);
        let mut body = Body::default();
        read(&mut body, kind, &mut source).ok()?;
        Some(Self {
            body,
            end: source.position(),
            derived: source.derived,
            inputs: source.inputs,
        })
    }
}

impl<'a> RoutineReader<'a> {
    /// Reads the tables.
    pub(crate) fn parse(
        id: RoutineId,
        name: Cow<'a, [u8]>,
        place: &Extent,
        bytes: &'a [u8],
        format: Format,
    ) -> Result<Self, Error> {
        let quick = if format.wide_indices() {
            Tables::quickly::<4>(id.kind, place, bytes, format)
        } else {
            Tables::quickly::<2>(id.kind, place, bytes, format)
        };
        match quick {
            Some(tables) => Ok(Self::of(id, name, place, bytes, format, tables)),
            // Reads again with a cursor, which reports what is wrong and where.
            None => Self::parse_with(id, name, place, bytes, format, &mut Silent),
        }
    }

    /// Reads the tables, telling an observer of every byte range.
    pub(crate) fn parse_with<O: Observer<'a>>(
        id: RoutineId,
        name: Cow<'a, [u8]>,
        place: &Extent,
        bytes: &'a [u8],
        format: Format,
        observer: &mut O,
    ) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes, place.offset.into(), format, observer);
        let mut body = Body::default();
        if let Err(error) = read(&mut body, id.kind, &mut cursor) {
            let error = error.map_end(|needed| ErrorKind::UnexpectedEndOfRoutine { needed });
            return Err(error.in_routine(id, &String::from_utf8_lossy(&name)));
        }
        let tables = Tables {
            end: cursor.position(),
            inputs: cursor.inputs,
            derived: cursor.derived,
            body,
        };
        Ok(Self::of(id, name, place, bytes, format, tables))
    }

    fn of(
        id: RoutineId,
        name: Cow<'a, [u8]>,
        place: &Extent,
        bytes: &'a [u8],
        format: Format,
        tables: Tables<'a>,
    ) -> Self {
        let offset = u64::from(place.offset);
        let stated = |what| {
            let found = tables.derived.iter().find(|(d, _, _)| *d == what);
            found.map_or((0, offset), |(_, number, at)| (*number, *at))
        };
        let (code_size, code_entry) = (stated(Derived::CodeSize), stated(Derived::CodeEntry));
        Self {
            id,
            name,
            format,
            offset,
            bytes,
            tables_size: usize::try_from(tables.end - offset).unwrap_or(usize::MAX),
            code_size,
            code_entry,
            inputs: tables.inputs,
            body: tables.body,
        }
    }

    /// Which routine.
    #[must_use]
    pub fn id(&self) -> RoutineId {
        self.id
    }

    /// Name in the file header.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Offset of the routine from the start of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// All bytes of the routine.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The tables. The list of instructions is empty.
    #[must_use]
    pub fn tables(&self) -> &Body<'a> {
        &self.body
    }

    /// The tables, as the beginning of an owned body.
    #[must_use]
    pub fn into_tables(self) -> Body<'a> {
        self.body
    }

    /// The format that the instructions are decoded in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// This routine with its instructions in another dialect.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.format = Format::new(self.format.version(), dialect);
        self
    }

    /// The rules that strict reading checks the instructions by.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules::of_body(&self.body, self.format)
    }

    /// Offset of the first byte after the tables, from the start of the file.
    #[must_use]
    pub fn tables_end(&self) -> u64 {
        self.offset + self.tables_size as u64
    }

    /// The bytes after the tables.
    #[must_use]
    pub fn code(&self) -> &'a [u8] {
        self.bytes.get(self.tables_size..).unwrap_or_default()
    }

    /// The instructions, decoded one by one, every code and index checked.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.code(), self.tables_end(), self.format, self.rules())
    }

    /// Checks the indices of the tables.
    ///
    /// # Errors
    /// The first index that points past its table. The offset is that of the routine: the tables do
    /// not remember the offsets of their entries.
    pub fn check_tables(&self) -> Result<(), Error> {
        self.rules()
            .check_tables(&self.body)
            .map_err(|(table, index, kind)| {
                let context = Context {
                    path: Vec::from([(table, index.and_then(|i| u32::try_from(i).ok()))]),
                    ..Context::default()
                };
                self.error(kind, self.offset, context)
            })
    }

    /// Checks everything except the instructions.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn check(&self, place: &Extent) -> Result<(), Error> {
        self.check_numbers(place)?;
        self.check_tables()
    }

    /// Whether the file lacks the instructions that the routine states. Intel's tools remove them, with declarations,
    /// from objects whose native code is all that is used.
    pub(crate) fn lacks_code(&self) -> bool {
        self.code().is_empty() && (self.code_size.0 != 0 || self.code_entry.0 == 0)
    }

    /// The stated numbers that do not follow from the content.
    pub(crate) fn contradictions(&self, place: &Extent) -> Vec<(Derived, u32)> {
        let fits = |stated: u32, actual: u64| u64::from(stated) == actual;
        let code = self.code().len() as u64;
        let size = fits(place.stated_size, place.size.into());
        let entry = fits(self.code_entry.0, self.tables_size as u64);
        let inputs = place.input_offset.zip(self.inputs);
        let inputs = inputs.filter(|(stated, actual)| !fits(*stated, *actual));
        [
            (!size).then_some((Derived::RoutineSize, place.stated_size)),
            inputs.map(|(stated, _)| (Derived::InputOffset, stated)),
            (!fits(self.code_size.0, code)).then_some((Derived::CodeSize, self.code_size.0)),
            (!entry).then_some((Derived::CodeEntry, self.code_entry.0)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Checks that the numbers of header and routine agree with the content.
    ///
    /// # Errors
    /// The first one that does not, at its place.
    pub(crate) fn check_numbers(&self, place: &Extent) -> Result<(), Error> {
        let inconsistent = |stated, expected: u64, at, field| {
            let expected = u32::try_from(expected).unwrap_or(u32::MAX);
            if stated == expected {
                return Ok(());
            }
            let context = Context {
                field: Some(field),
                ..Context::default()
            };
            Err(self.error(ErrorKind::Inconsistent { stated, expected }, at, context))
        };
        if self.lacks_code() {
            let (stated, at) = self.code_size;
            let kind = ErrorKind::CodeRemoved { stated };
            return Err(self.error(kind, at, Context::default()));
        }
        let (entry, at) = self.code_entry;
        inconsistent(entry, self.tables_size as u64, at, "entry")?;
        let (size, at) = self.code_size;
        inconsistent(size, self.code().len() as u64, at, "size")?;
        if let (Some(stated), Some(inputs)) = (place.input_offset, self.inputs) {
            // Offset, size and input offset are adjacent in the header.
            inconsistent(stated, inputs, place.stated_at + 8, "input_offset")?;
        }
        Ok(())
    }

    pub(crate) fn error(&self, kind: ErrorKind, offset: u64, context: Context) -> Error {
        Error::new(kind, offset, context).in_routine(self.id, &String::from_utf8_lossy(&self.name))
    }
}
