//! A routine: its tables, and the bytes of its instructions.

use crate::error::{Context, Error, ErrorKind};
use crate::extent::Extent;
use crate::instruction::Instructions;
use crate::rules::Rules;
use crate::wire::{Cursor, Observer};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::object::{Body, RoutineId, RoutineKind};
use visakit_isa::wire::Derived;
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

impl<'a> RoutineReader<'a> {
    pub(crate) fn parse<O: Observer<'a>>(
        id: RoutineId,
        name: Cow<'a, [u8]>,
        place: &Extent,
        bytes: &'a [u8],
        format: Format,
        observer: &mut O,
    ) -> Result<Self, Error> {
        let offset = u64::from(place.offset);
        let mut cursor = Cursor::new(bytes, offset, format, observer);
        let mut body = Body::default();
        let read = body.read_tables(&mut cursor).and_then(|()| match id.kind {
            RoutineKind::Kernel => body.read_kernel_tail(&mut cursor),
            RoutineKind::Function => body.read_function_tail(&mut cursor),
        });
        if let Err(error) = read {
            let error = error.map_end(|needed| ErrorKind::UnexpectedEndOfRoutine { needed });
            return Err(error.in_routine(id, &String::from_utf8_lossy(&name)));
        }
        let stated = |what| {
            let found = cursor.derived.iter().find(|(d, _, _)| *d == what);
            found.map_or((0, offset), |(_, number, at)| (*number, *at))
        };
        let (code_size, code_entry) = (stated(Derived::CodeSize), stated(Derived::CodeEntry));
        Ok(Self {
            id,
            name,
            format,
            offset,
            bytes,
            tables_size: usize::try_from(cursor.position() - offset).unwrap_or(usize::MAX),
            code_size,
            code_entry,
            inputs: cursor.inputs,
            body,
        })
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

    /// The tables, as the begin of an owned body.
    #[must_use]
    pub fn into_tables(self) -> Body<'a> {
        self.body
    }

    /// The format that the instructions are decoded in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The same routine with its instructions in another dialect.
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
    /// The first one that points beyond its table. The offset is that of the routine: the tables
    /// do not remember where their entries stood.
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

    /// Checks that the numbers of header and routine agree with what is there.
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
        let (entry, at) = self.code_entry;
        inconsistent(entry, self.tables_size as u64, at, "entry")?;
        let (size, at) = self.code_size;
        inconsistent(size, self.code().len() as u64, at, "size")?;
        if let (Some(stated), Some(inputs)) = (place.input_offset, self.inputs) {
            // Offset, size and input offset stand next to each other in the header.
            inconsistent(stated, inputs, place.stated_at + 8, "input_offset")?;
        }
        Ok(())
    }

    pub(crate) fn error(&self, kind: ErrorKind, offset: u64, context: Context) -> Error {
        Error::new(kind, offset, context).in_routine(self.id, &String::from_utf8_lossy(&self.name))
    }
}
