//! Reads whole objects, strictly or leniently, and determines their dialect.

use crate::container::Container;
use crate::dialect::{self, Attempt};
use crate::error::Error;
use crate::extent::{Extent, ExtentId};
use crate::instructions::Instructions;
use crate::pieces::PartId;
use crate::routine::RoutineReader;
use crate::rules::Rules;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use visakit_isa::object::{Body, Content, Item, NativeCode, Object, RawItem, RoutineId};
use visakit_isa::wire::Derived;
use visakit_isa::{Dialect, Features, Format, Instruction};

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Continue after errors: what cannot be decoded becomes a raw item with its bytes, and
    /// meaningless numbers and codes are kept. The result still writes the same bytes.
    pub lenient: bool,
    /// Read in this dialect instead of finding it out.
    pub dialect: Option<Dialect>,
}

/// An object that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The object, borrowing its strings and native code from the input.
    pub object: Object<'a>,
    /// Every dialect that fits, in order of preference; the object is in the first. Empty if none
    /// fits, which only lenient reading allows. With a forced dialect no others are tried.
    pub candidates: Vec<Dialect>,
    /// The faults of the object; empty after strict reading. At most [`MAX_ERRORS`] are kept.
    pub errors: Vec<Error>,
}

/// At most this many faults of one object are kept.
pub const MAX_ERRORS: usize = 4096;

/// Reads an object, stopping at the first fault.
///
/// ```
/// # fn main() -> Result<(), visakit_parse::Error> {
/// # let file = include_bytes!("../../../fixtures/objects/subgroups_skl_v36.isa");
/// let object = visakit_parse::read(file)?;
/// assert_eq!(object.version.to_string(), "3.6");
/// let body = object.kernels[0].body().unwrap();
/// println!("{} instructions", body.instructions().count());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The first thing that is wrong.
pub fn read(bytes: &[u8]) -> Result<Object<'_>, Error> {
    read_with(bytes, ReadOptions::default()).map(|decoded| decoded.object)
}

/// Reads an object.
///
/// # Errors
/// In strict mode the first fault. In lenient mode only a fault that leaves nothing to read:
/// another kind of file, an unknown version, a header that ends early.
pub fn read_with(bytes: &[u8], options: ReadOptions) -> Result<Decoded<'_>, Error> {
    let container = Container::parse(bytes)?;
    if !options.lenient
        && let Some(fault) = container.faults.first()
    {
        return Err(fault.clone());
    }
    let mut reader = ObjectReader {
        lenient: options.lenient,
        errors: container.faults.clone(),
    };
    let mut routines = reader.tables(&container)?;
    let (dialect, candidates) = match options.dialect {
        Some(dialect) => (dialect, Vec::from([dialect])),
        None => {
            let (best, candidates) = dialect::search(container.version(), |attempt| {
                ObjectReader::attempt(attempt, &mut routines);
            });
            (candidates.first().copied().unwrap_or(best), candidates)
        }
    };
    let parts = container.parts();
    let (arrangement, padded) = container.arrangement(&parts);
    let missing: Vec<_> = container.extents().iter().filter(|e| !e.held).collect();
    let missing: Vec<_> = missing
        .into_iter()
        .map(|e| (*e, container.misplaced(e)))
        .collect();
    let codes: Vec<_> = parts
        .iter()
        .filter_map(|part| match part.id {
            PartId::Extent(extent) => match extent.id {
                ExtentId::Binary { kernel, index } => {
                    Some((kernel, index, container.range(&part.range)))
                }
                ExtentId::Routine(_) => None,
            },
            _ => None,
        })
        .collect();
    let mut object = container.into_header();
    object.dialect = dialect;
    object.arrangement = arrangement;
    object.padded = padded;
    for (kernel, index, bytes) in codes {
        if let Some(binary) = object
            .kernels
            .get_mut(kernel)
            .and_then(|k| k.binaries.get_mut(index))
        {
            binary.code = NativeCode::Bytes(Cow::Borrowed(bytes));
        }
    }
    for read in routines {
        let id = read.id;
        let (content, stored) = reader.content(read, dialect)?;
        if let Some(routine) = object.routine_mut(id) {
            routine.content = content;
            routine.stored = stored;
        }
    }
    for (place, error) in missing {
        if let ExtentId::Routine(id) = place.id
            && let Some(routine) = object.routine_mut(id)
        {
            routine.content = Content::Missing(error.to_string());
            routine.stored = stored_place(&place);
        }
    }
    reader.errors.sort_by_key(Error::offset);
    reader.errors.truncate(MAX_ERRORS);
    Ok(Decoded {
        object,
        candidates,
        errors: reader.errors,
    })
}

/// A routine whose tables were read, or could not be.
struct ReadRoutine<'a> {
    id: RoutineId,
    place: Extent,
    bytes: &'a [u8],
    reader: Result<RoutineReader<'a>, Error>,
    /// The instructions in the first dialect, where all are sound.
    code: Option<Vec<Item<'a>>>,
}

struct ObjectReader {
    lenient: bool,
    errors: Vec<Error>,
}

impl ObjectReader {
    /// Keeps a fault in lenient mode, returns it in strict mode.
    fn fault(&mut self, error: Error) -> Result<(), Error> {
        if !self.lenient {
            return Err(error);
        }
        if self.errors.len() < 2 * MAX_ERRORS {
            self.errors.push(error);
        }
        Ok(())
    }

    /// Reads the tables of all routines that have a place.
    fn tables<'a>(&mut self, container: &Container<'a>) -> Result<Vec<ReadRoutine<'a>>, Error> {
        let mut routines = Vec::new();
        for (id, place, bytes) in container.held() {
            let (id, place) = (id, *place);
            let reader = container.routine_in(id, &place, bytes);
            match &reader {
                Ok(reader) => {
                    // Declarations of removed code are removed as well.
                    let numbers = reader.check_numbers(&place);
                    if let Err(error) = numbers {
                        self.fault(error)?;
                    }
                    if !reader.lacks_code()
                        && let Err(error) = reader.check_tables()
                    {
                        self.fault(error)?;
                    }
                }
                Err(error) => self.fault(error.clone())?,
            }
            routines.push(ReadRoutine {
                id,
                place,
                bytes,
                reader,
                code: None,
            });
        }
        Ok(routines)
    }

    /// Decodes all routines in a dialect. Routines that are sound in the default one are kept.
    fn attempt(attempt: &mut Attempt, routines: &mut [ReadRoutine<'_>]) {
        for routine in routines {
            let Ok(reader) = &routine.reader else {
                continue;
            };
            if attempt.dialect() != Dialect::default() {
                attempt.decode(reader);
                continue;
            }
            routine.code = attempt.collect(reader);
        }
    }

    /// Decodes the instructions of a routine.
    fn content<'a>(
        &mut self,
        read: ReadRoutine<'a>,
        dialect: Dialect,
    ) -> Result<(Content<'a>, Vec<(Derived, u32)>), Error> {
        let reader = match read.reader {
            Ok(reader) => reader.with_dialect(dialect),
            Err(error) => {
                let raw = RawItem {
                    bytes: Cow::Borrowed(read.bytes),
                    reason: error.to_string(),
                };
                return Ok((Content::Raw(raw), stored_place(&read.place)));
            }
        };
        let mut stored = Vec::new();
        let mut between = None;
        let mut instructions = reader.instructions();
        // A routine that the end of the file cuts may be sound in itself.
        let cut = read.place.stated_size != read.place.size;
        if cut || reader.check_numbers(&read.place).is_err() {
            stored = reader.contradictions(&read.place);
            // The instructions begin at the entry of the routine, if that is after its tables.
            let entry = reader.offset() + u64::from(reader.code_entry.0);
            let gap = entry.checked_sub(reader.tables_end());
            let gap = gap.and_then(|g| usize::try_from(g).ok());
            if let Some((gap, rest)) = gap.and_then(|g| reader.code().split_at_checked(g))
                && !gap.is_empty()
            {
                between = Some(RawItem {
                    bytes: Cow::Borrowed(gap),
                    reason: "bytes between the tables and the first instruction".to_string(),
                });
                instructions = Instructions::new(rest, entry, reader.format(), reader.rules());
            }
        }
        let code = match (read.code, between) {
            (Some(code), None) if dialect == Dialect::default() => code,
            (_, between) => {
                let mut code = self.instructions(&reader, &mut instructions)?;
                if let Some(between) = between {
                    code.insert(0, between.into());
                }
                code
            }
        };
        let mut body = reader.into_tables();
        body.code = code;
        Ok((Content::Body(body), stored))
    }

    fn instructions<'a>(
        &mut self,
        reader: &RoutineReader<'a>,
        instructions: &mut Instructions<'a>,
    ) -> Result<Vec<Item<'a>>, Error> {
        let mut code = Vec::with_capacity(dialect::expected_count(instructions.rest()));
        let mut met = Features::empty();
        while let Some(error) = dialect::collect(instructions, &mut code, &mut met) {
            let error = error.in_routine(reader.id(), &String::from_utf8_lossy(reader.name()));
            let kind = error.kind();
            let reason = error.to_string();
            self.fault(error)?;
            // Only the meaning is wrong: the layout can hold these bytes.
            if kind.is_legality()
                && let Some(Ok(instruction)) = instructions.retry_unchecked()
            {
                code.push(instruction.to_instruction().into());
                continue;
            }
            let bytes = Cow::Borrowed(instructions.rest());
            code.push(RawItem { bytes, reason }.into());
            break;
        }
        Ok(dialect::fitted(code))
    }
}

/// The numbers of the header, for a routine whose content does not determine them.
fn stored_place(place: &Extent) -> Vec<(Derived, u32)> {
    let mut stored = Vec::from([
        (Derived::RoutineOffset, place.offset),
        (Derived::RoutineSize, place.stated_size),
    ]);
    if let Some(inputs) = place.input_offset {
        stored.push((Derived::InputOffset, inputs));
    }
    stored
}

/// Reads the instructions of a standalone code area.
///
/// # Errors
/// The first thing that is wrong.
pub fn read_code(code: &[u8], body: &Body<'_>, format: Format) -> Result<Vec<Instruction>, Error> {
    let mut items = Vec::with_capacity(dialect::expected_count(code));
    let mut instructions = Instructions::new(code, 0, format, Rules::of_body(body, format));
    match dialect::collect(&mut instructions, &mut items, &mut Features::empty()) {
        None => Ok(items
            .into_iter()
            .filter_map(Item::into_instruction)
            .collect()),
        Some(error) => Err(error),
    }
}
