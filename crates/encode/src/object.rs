//! Whole objects: bodies first, then the header, then all numbers that follow from them.

use crate::error::{Context, Error, ErrorKind};
use crate::instruction::Writer;
use crate::sink::Buffer;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use visakit_isa::object::{
    Arrangement, Body, Content, Item, NativeCode, Object, Piece, Routine, RoutineId, RoutineKind,
};
use visakit_isa::wire::{Derived, Sink, Width};
use visakit_isa::{Features, Field, Format};

/// Writes an object. Offsets, sizes and counts are computed from its content.
///
/// ```
/// use visakit_isa::object::{Body, Object, Routine};
/// use visakit_isa::{Dialect, ExecSize, FieldName, Instruction, Op, Predicate, Value, Version};
///
/// let mut body = Body::default();
/// body.name = body.add_string(&b"empty"[..]);
/// let ret = Instruction::new(Op::RET)
///     .with(FieldName::ExecSize, Value::ExecSize(ExecSize::from_bits(0)))
///     .with(FieldName::Pred, Value::Predicate(Predicate::NONE));
/// body.code.push(ret.into());
///
/// let mut object = Object::new(Version::V4_1, Dialect::Writer2018);
/// object.kernels.push(Routine::new(&b"empty"[..], body));
/// let bytes = visakit_encode::write(&object)?;
/// assert_eq!(&bytes[..6], b"CISA\x04\x01");
/// assert_eq!(&bytes[bytes.len() - 4..], [0x34, 0x00, 0x00, 0x00]);
/// # Ok::<(), visakit_encode::Error>(())
/// ```
///
/// # Errors
/// The object holds something that its version and dialect cannot express.
pub fn write(object: &Object<'_>) -> Result<Vec<u8>, Error> {
    let format = object.format();
    let fail = |kind| Error::new(kind, format, Context::default());
    if !object.version.is_supported() {
        if let Some(error) = text_only(object) {
            return Err(error);
        }
        return Err(fail(ErrorKind::UnsupportedVersion(object.version)));
    }
    let mut out = Buffer::new(format);
    out.bytes.reserve(expected_size(object));
    out.bytes("magic", b"CISA")?;
    out.number("major", Width::U8, object.version.major.into())?;
    out.number("minor", Width::U8, object.version.minor.into())?;
    for (id, routine) in object.routines() {
        check_kind(id, routine, format)?;
    }
    object.write_header(&mut out)?;

    let mut numbers = Numbers::default();
    for piece in order(object).map_err(fail)? {
        let start = out.bytes.len();
        match &*piece {
            Piece::Routine(id) => {
                let Some(routine) = object.routine(*id) else {
                    continue;
                };
                let inputs = write_routine(*id, routine, &mut out)?;
                let size = out.bytes.len() - start;
                numbers.routines.push((*id, [start, size, inputs]));
            }
            Piece::Binary { kernel, index } => {
                if let Some(bytes) = code_of(object, *kernel, *index) {
                    out.bytes("code", bytes)?;
                    let size = out.bytes.len() - start;
                    numbers.binaries.push(((*kernel, *index), [start, size]));
                }
            }
            Piece::Filler(bytes) => out.bytes("filler", bytes)?,
        }
    }
    if object.padded {
        let padding = out.bytes.len().next_multiple_of(4) - out.bytes.len();
        out.bytes("padding", [0; 3].get(..padding).unwrap_or_default())?;
    }
    if u32::try_from(out.bytes.len()).is_err() {
        return Err(fail(ErrorKind::ObjectTooLarge));
    }
    numbers.fill_in(object, &mut out);
    Ok(out.bytes)
}

/// What has no binary form in an object of version 4.2: the first instruction that only 4.2 has, or that uses something
/// only 4.2 can express.
#[cold]
fn text_only(object: &Object<'_>) -> Option<Error> {
    let format = object.format();
    object.routines().find_map(|(id, routine)| {
        let body = routine.body()?;
        for (number, variable) in (0u32..).zip(&body.variables) {
            let ty = variable.properties.data_type();
            if ty.is_text_only() {
                let context = Context {
                    path: Vec::from([("variables", Some(number))]),
                    ..Context::default()
                };
                let error = Error::new(ErrorKind::TextOnlyType(ty), format, context);
                return Some(error.in_routine(id, &routine.display_name()));
            }
        }
        let mut code = body.code.iter().enumerate();
        code.find_map(|(number, item)| {
            let Item::Instruction(instruction) = item else {
                return None;
            };
            let (op, def) = (instruction.op, instruction.def());
            let says = |field: &Field| {
                let def_of = def.field(field.name)?;
                let newer = def_of.when.required().contains(Features::SINCE_4_2);
                let neutral = def.neutral(def_of, format);
                (newer && neutral != Some(field.value)).then_some(Some(field.name))
            };
            let field = if def.has_layout() {
                instruction.fields.iter().find_map(says)?
            } else {
                None
            };
            let kind = ErrorKind::TextOnly { op, field };
            let error = Error::new(kind, format, Context::default());
            Some(
                error
                    .in_instruction(number, op)
                    .in_routine(id, &routine.display_name()),
            )
        })
    })
}

/// Approximate size of the written object: native code, and the usual size of instructions and symbols.
fn expected_size(object: &Object<'_>) -> usize {
    let size = |routine: &Routine<'_>| {
        let codes = routine.binaries.iter().map(|binary| match &binary.code {
            NativeCode::Bytes(bytes) => bytes.len(),
            NativeCode::Placeholder { .. } => 0,
        });
        let body = routine.body().map_or(0, |body| {
            let strings: usize = body.strings.iter().map(|s| s.len() + 1).sum();
            strings + 24 * (body.code.len() + body.variables.len())
        });
        codes.sum::<usize>() + body
    };
    object.routines().map(|(_, routine)| size(routine)).sum()
}

/// Kernels have no function parts and functions no kernel parts.
fn check_kind(id: RoutineId, routine: &Routine<'_>, format: Format) -> Result<(), Error> {
    let body = routine.body();
    let misplaced = match id.kind {
        RoutineKind::Kernel => {
            let input_size = body.is_some_and(|b| b.input_size != 0);
            let return_value_size = body.is_some_and(|b| b.return_value_size != 0);
            [
                (routine.linkage.0 != 0, "linkage"),
                (input_size, "input_size"),
                (return_value_size, "return_value_size"),
            ]
        }
        RoutineKind::Function => [
            (!routine.binaries.is_empty(), "binaries"),
            (body.is_some_and(|b| !b.inputs.is_empty()), "inputs"),
            (false, ""),
        ],
    };
    match misplaced.into_iter().find(|(wrong, _)| *wrong) {
        None => Ok(()),
        Some((_, field)) => {
            let context = Context {
                field: Some(field),
                ..Context::default()
            };
            let kind = ErrorKind::WrongRoutineKind(id.kind.name());
            Err(Error::new(kind, format, context).in_routine(id, &routine.display_name()))
        }
    }
}

/// All pieces in the order in which they are written.
fn order<'o, 'a>(object: &'o Object<'a>) -> Result<Vec<Cow<'o, Piece<'a>>>, ErrorKind> {
    let mut order: Vec<Cow<'o, Piece<'a>>> = Vec::new();
    let mut named = BTreeSet::new();
    if let Arrangement::Custom(pieces) = &object.arrangement {
        for piece in pieces {
            let fresh = match piece {
                Piece::Routine(id) => object.routine(*id).is_some() && named.insert((*id, None)),
                Piece::Binary { kernel, index } => {
                    let id = RoutineId::new(RoutineKind::Kernel, *kernel);
                    code_of(object, *kernel, *index).is_some() && named.insert((id, Some(*index)))
                }
                Piece::Filler(_) => true,
            };
            if !fresh {
                return Err(ErrorKind::BadArrangement);
            }
            order.push(Cow::Borrowed(piece));
        }
    }
    let grouped = object.arrangement == Arrangement::Grouped;
    let mut binaries = Vec::new();
    for (id, routine) in object.routines() {
        if named.insert((id, None)) {
            order.push(Cow::Owned(Piece::Routine(id)));
        }
        if id.kind == RoutineKind::Function {
            continue;
        }
        for index in 0..routine.binaries.len() {
            if named.insert((id, Some(index))) {
                let piece = Piece::Binary {
                    kernel: id.index,
                    index,
                };
                if grouped {
                    binaries.push(Cow::Owned(piece));
                } else {
                    order.push(Cow::Owned(piece));
                }
            }
        }
    }
    order.append(&mut binaries);
    Ok(order)
}

fn code_of<'o>(object: &'o Object<'_>, kernel: usize, index: usize) -> Option<&'o [u8]> {
    match &object.kernels.get(kernel)?.binaries.get(index)?.code {
        NativeCode::Bytes(bytes) => Some(bytes),
        NativeCode::Placeholder { .. } => None,
    }
}

/// Writes the content of a routine; returns the position of the input list.
fn write_routine(id: RoutineId, routine: &Routine<'_>, out: &mut Buffer) -> Result<usize, Error> {
    match &routine.content {
        Content::Body(body) => write_body(id.kind, body, routine, out)
            .map_err(|error| error.in_routine(id, &routine.display_name())),
        Content::Raw(raw) => out.bytes("raw", &raw.bytes).map(|()| 0),
        Content::Missing(_) => Ok(0),
    }
}

fn write_body(
    kind: RoutineKind,
    body: &Body<'_>,
    routine: &Routine<'_>,
    out: &mut Buffer,
) -> Result<usize, Error> {
    let start = out.bytes.len();
    let header_numbers = out.derived.len();
    out.inputs = None;
    body.write_tables(out)?;
    match kind {
        RoutineKind::Kernel => body.write_kernel_tail(out)?,
        RoutineKind::Function => body.write_function_tail(out)?,
    }
    let entry = out.bytes.len();
    let mut writer = Writer::new(out);
    for (number, item) in body.code.iter().enumerate() {
        match item {
            Item::Instruction(i) => {
                let written = writer.instruction(i);
                written.map_err(|e| e.in_instruction(number, i.op))?;
            }
            Item::Raw(raw) => writer.raw(&raw.bytes)?,
        }
    }
    writer.flush();
    let size = out.bytes.len() - entry;
    for (what, at) in out.derived.split_off(header_numbers) {
        let number = match what {
            Derived::CodeSize => size,
            _ => entry - start,
        };
        out.patch(at, stored(routine, what, number));
    }
    Ok(out.inputs.unwrap_or(start))
}

/// The number that a damaged file states, or else the one that follows from the content. Sizes
/// beyond 32 bits are refused once the whole file is written.
fn stored(routine: &Routine<'_>, what: Derived, number: usize) -> u32 {
    let found = routine.stored.iter().find(|(d, _)| *d == what);
    found.map_or_else(|| u32::try_from(number).unwrap_or(u32::MAX), |(_, n)| *n)
}

/// Where everything ended up.
#[derive(Default)]
struct Numbers {
    /// Offset, size, offset of the inputs.
    routines: Vec<(RoutineId, [usize; 3])>,
    /// Offset, size.
    binaries: Vec<((usize, usize), [usize; 2])>,
}

impl Numbers {
    /// Fills in the numbers of the header, in the order in which its layout left room for them.
    fn fill_in(mut self, object: &Object<'_>, out: &mut Buffer) {
        self.routines.sort_unstable_by_key(|(id, _)| *id);
        self.binaries.sort_unstable_by_key(|(id, _)| *id);
        let mut places = core::mem::take(&mut out.derived).into_iter().peekable();
        for (id, routine) in object.routines() {
            let found = self.routines.binary_search_by_key(&id, |(id, _)| *id);
            let [start, size, inputs] = found
                .ok()
                .and_then(|i| self.routines.get(i))
                .map_or([0; 3], |(_, numbers)| *numbers);
            for (what, number) in [
                (Derived::RoutineOffset, start),
                (Derived::RoutineSize, size),
                (Derived::InputOffset, inputs),
            ] {
                if let Some((_, at)) = places.next_if(|(d, _)| *d == what) {
                    out.patch(at, stored(routine, what, number));
                }
            }
            for (index, binary) in routine.binaries.iter().enumerate() {
                let numbers = match binary.code {
                    NativeCode::Placeholder { offset, size } => [offset, size],
                    NativeCode::Bytes(_) => {
                        let place = (id.index, index);
                        let found = self.binaries.binary_search_by_key(&place, |(id, _)| *id);
                        let found = found.ok().and_then(|i| self.binaries.get(i));
                        found.map_or([0; 2], |(_, numbers)| {
                            numbers.map(|n| u32::try_from(n).unwrap_or(u32::MAX))
                        })
                    }
                };
                for (what, number) in [Derived::BinaryOffset, Derived::BinarySize]
                    .into_iter()
                    .zip(numbers)
                {
                    if let Some((_, at)) = places.next_if(|(d, _)| *d == what) {
                        out.patch(at, number);
                    }
                }
            }
        }
    }
}
