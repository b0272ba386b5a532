//! Every byte of an object with the name and the value of the field it belongs to.
//!
//! [`walk`] goes through a file from its first byte to its last and notifies a [`Visitor`] of every part and every
//! field. The `visakit dump` command prints these events, as lines or as JSON.

use crate::isa::object::{RoutineId, RoutineKind};
use crate::isa::table::{FieldDef, FieldKind};
use crate::isa::{Dialect, Format, InstructionDef, Value, enums};
use crate::parse::{
    Container, Error, Extent, ExtentId, FieldRef, InstructionRef, Instructions, Leaf, Observer,
    PartId, ReadOptions, Rules, read_with,
};
use std::ops::Range;

/// The content of a field.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// A number, and its meaning if known.
    Number(u32, Option<String>),
    /// Bytes without a structure.
    Bytes(&'a [u8]),
    /// Text; a NUL at its end is not part of it.
    Text(&'a [u8]),
    /// The first byte of an instruction.
    Opcode(&'static InstructionDef),
    /// The second byte of an instruction whose layout depends on it.
    SubOp(&'static InstructionDef),
    /// A field of an instruction.
    Field(&'static FieldDef, Value),
    /// Bytes that could not be decoded, and why.
    Raw(&'a [u8], String),
}

/// Notified of every part and every field of a file, in the order of their offsets.
pub trait Visitor<'a> {
    /// The error of the visitor.
    type Error: From<Error>;

    /// A part begins; entries of a list have an index.
    ///
    /// # Errors
    /// Ends the walk.
    fn enter(&mut self, name: &str, index: Option<u32>, offset: u64) -> Result<(), Self::Error>;

    /// The innermost part ends.
    ///
    /// # Errors
    /// Ends the walk.
    fn leave(&mut self, offset: u64) -> Result<(), Self::Error>;

    /// A field.
    ///
    /// # Errors
    /// Ends the walk.
    fn field(
        &mut self,
        name: &str,
        range: Range<u64>,
        content: &Content<'a>,
    ) -> Result<(), Self::Error>;

    /// A routine begins. Its parts follow, then [`Visitor::leave`].
    ///
    /// # Errors
    /// Ends the walk.
    fn routine(&mut self, id: RoutineId, name: &[u8], place: &Extent) -> Result<(), Self::Error>;

    /// An instruction begins. Its fields follow, then [`Visitor::leave`].
    ///
    /// # Errors
    /// Ends the walk.
    fn instruction(
        &mut self,
        number: u32,
        instruction: &InstructionRef<'a>,
    ) -> Result<(), Self::Error>;

    /// A fault; the walk continues, as lenient reading does.
    ///
    /// # Errors
    /// Ends the walk.
    fn fault(&mut self, fault: &Error) -> Result<(), Self::Error>;
}

/// The part of a file to walk through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Everything.
    #[default]
    All,
    /// One routine.
    Routine(RoutineId),
}

/// Walks through a file.
///
/// # Errors
/// Those of the visitor; in strict mode the first thing that is wrong, after all that comes before
/// it has been visited.
pub fn walk<'a, V: Visitor<'a>>(
    bytes: &'a [u8],
    options: ReadOptions,
    selection: &Selection,
    visitor: &mut V,
) -> Result<(), V::Error> {
    let mut header = Relay::new(visitor, *selection == Selection::All);
    let container = Container::parse_with(bytes, &mut header);
    header.end()?;
    let container = container?;
    // Even a damaged object has a dialect in which most of it makes sense.
    let lenient = ReadOptions {
        lenient: true,
        ..options
    };
    let decoded = read_with(bytes, lenient)?;
    let mut walker = Walker {
        container: &container,
        format: Format::new(container.version(), decoded.object.dialect),
        lenient: options.lenient,
        visitor,
    };
    for part in container.parts() {
        let wanted = match (selection, part.id) {
            (Selection::All, _) => true,
            (Selection::Routine(id), PartId::Extent(extent)) => extent.id == ExtentId::Routine(*id),
            (Selection::Routine(_), _) => false,
        };
        if !wanted {
            continue;
        }
        match part.id {
            PartId::Extent(extent) => match extent.id {
                ExtentId::Routine(id) => walker.routine(id, &extent, part.range, true)?,
                ExtentId::Binary { kernel, index } => walker.binary(kernel, index, part.range)?,
            },
            PartId::Filler => walker.filler(part.range)?,
            PartId::Padding => walker.padding(part.range)?,
        }
    }
    for fault in &decoded.errors {
        if !options.lenient {
            return Err(fault.clone().into());
        }
        visitor.fault(fault)?;
    }
    Ok(())
}

/// Walks through one routine of a container, in the container's dialect and as lenient reading does. The rest of the
/// file is ignored.
///
/// # Errors
/// Those of the visitor.
pub fn walk_routine<'a, V: Visitor<'a>>(
    container: &Container<'a>,
    id: RoutineId,
    visitor: &mut V,
) -> Result<(), V::Error> {
    routine(container, id, visitor, true)
}

/// As [`walk_routine`], without the instructions: their group is entered and left, and [`walk_instructions`] shows
/// them, some at a time.
///
/// # Errors
/// Those of the visitor.
pub fn walk_tables<'a, V: Visitor<'a>>(
    container: &Container<'a>,
    id: RoutineId,
    visitor: &mut V,
) -> Result<(), V::Error> {
    routine(container, id, visitor, false)
}

fn routine<'a, V: Visitor<'a>>(
    container: &Container<'a>,
    id: RoutineId,
    visitor: &mut V,
    instructions: bool,
) -> Result<(), V::Error> {
    let Some(place) = container.extent(id) else {
        return Ok(());
    };
    let range = u64::from(place.offset)..place.end();
    let mut walker = Walker {
        container,
        format: container.format(),
        lenient: true,
        visitor,
    };
    walker.routine(id, place, range, instructions)
}

/// Walks through instructions, at most `limit`; undecoded bytes after them are a field `raw`.
///
/// # Errors
/// Those of the visitor.
pub fn walk_instructions<'a, V: Visitor<'a>>(
    mut all: Instructions<'a>,
    count: usize,
    visitor: &mut V,
) -> Result<(), V::Error> {
    for _ in 0..count {
        let number = all.number();
        match all.next() {
            None => break,
            Some(Ok(instruction)) => fields(number, &instruction, visitor)?,
            Some(Err(error)) => {
                let range = all.offset()..all.offset() + all.rest().len() as u64;
                let content = Content::Raw(all.rest(), error.to_string());
                return visitor.field("raw", range, &content);
            }
        }
    }
    Ok(())
}

fn fields<'a, V: Visitor<'a>>(
    number: u32,
    instruction: &InstructionRef<'a>,
    visitor: &mut V,
) -> Result<(), V::Error> {
    let (start, def) = (instruction.offset(), instruction.def());
    visitor.instruction(number, instruction)?;
    visitor.field("opcode", start..start + 1, &Content::Opcode(def))?;
    if def.sub_op.is_some() {
        visitor.field("sub_op", start + 1..start + 2, &Content::SubOp(def))?;
    }
    for field in instruction.fields() {
        let FieldRef {
            def,
            value,
            start,
            end,
            ..
        } = field;
        let base = instruction.offset();
        let range = base + start as u64..base + end as u64;
        let content = Content::Field(def, value);
        visitor.field(def.name.as_str(), range, &content)?;
    }
    visitor.leave(start + instruction.len() as u64)
}

/// Walks through the header of a file.
///
/// # Errors
/// Those of the visitor, and a header that cannot be read, after everything before the fault has been visited.
pub fn walk_header<'a, V: Visitor<'a>>(bytes: &'a [u8], visitor: &mut V) -> Result<(), V::Error> {
    let mut header = Relay::new(visitor, true);
    let container = Container::parse_with(bytes, &mut header);
    header.end()?;
    container.map(|_| ()).map_err(V::Error::from)
}

/// The dialect that [`walk`] decodes instructions in.
#[must_use]
pub fn dialect_of(bytes: &[u8], options: ReadOptions) -> Option<Dialect> {
    let found = || Some(Container::parse(bytes).ok()?.dialect());
    options.dialect.or_else(found)
}

struct Walker<'c, 'a, V> {
    container: &'c Container<'a>,
    format: Format,
    lenient: bool,
    visitor: &'c mut V,
}

impl<'a, V: Visitor<'a>> Walker<'_, 'a, V> {
    fn slice(&self, range: &Range<u64>) -> &'a [u8] {
        let start = usize::try_from(range.start).ok();
        let end = usize::try_from(range.end).ok();
        let bytes = self.container.bytes();
        start
            .zip(end)
            .and_then(|(start, end)| bytes.get(start..end))
            .unwrap_or_default()
    }

    fn filler(&mut self, range: Range<u64>) -> Result<(), V::Error> {
        let content = Content::Raw(
            self.slice(&range),
            "bytes that belong to no part of the object".to_owned(),
        );
        self.visitor.field("filler", range, &content)
    }

    fn padding(&mut self, range: Range<u64>) -> Result<(), V::Error> {
        let content = Content::Bytes(self.slice(&range));
        self.visitor.field("padding", range, &content)
    }

    fn binary(&mut self, kernel: usize, index: usize, range: Range<u64>) -> Result<(), V::Error> {
        let name = format!("native code {index} of kernel {kernel}");
        let content = Content::Bytes(self.slice(&range));
        self.visitor.field(&name, range, &content)
    }

    fn routine(
        &mut self,
        id: RoutineId,
        place: &Extent,
        range: Range<u64>,
        whole: bool,
    ) -> Result<(), V::Error> {
        let name = self.container.entry(id).map(|e| e.name.to_vec());
        self.visitor.routine(id, &name.unwrap_or_default(), place)?;
        // What breaks off is not shown in part.
        match self.container.routine(id) {
            Ok(reader) => {
                let mut relay = Relay::new(self.visitor, true);
                let shown = self.container.routine_with(id, &mut relay);
                relay.end()?;
                shown?;
                let (code, start) = (reader.code(), reader.tables_end());
                // The walk shows the content; faults are reported at the end.
                let rules = Rules::LENIENT;
                let all = Instructions::new(code, start, self.format, rules);
                self.visitor.enter("instructions", None, start)?;
                if whole {
                    walk_instructions(all, usize::MAX, self.visitor)?;
                }
                self.visitor.leave(start + code.len() as u64)?;
            }
            Err(error) if self.lenient => {
                let content = Content::Raw(self.slice(&range), error.to_string());
                self.visitor.field("raw", range.clone(), &content)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.visitor.leave(range.end)
    }
}

/// The meaning of a value, if its field defines one.
#[must_use]
pub fn meaning(def: &FieldDef, value: &Value) -> Option<&'static str> {
    match (def.kind, value) {
        (FieldKind::SamplerOp, Value::SamplerOp(op)) => enums::SAMPLER_OP.name_of(op.code()),
        (_, Value::U8(byte)) => def.enumeration?.name_of(*byte),
        _ => None,
    }
}

/// Passes what the reader finds on to a visitor, adding the meaning of numbers.
struct Relay<'v, 'a, V: Visitor<'a>> {
    visitor: &'v mut V,
    error: Option<V::Error>,
    passes: bool,
    path: Vec<&'static str>,
    strings: Vec<&'a [u8]>,
}

impl<'v, 'a, V: Visitor<'a>> Relay<'v, 'a, V> {
    fn new(visitor: &'v mut V, passes: bool) -> Self {
        Self {
            visitor,
            error: None,
            passes,
            path: Vec::new(),
            strings: Vec::new(),
        }
    }

    /// The error of the visitor, if it had one; the reader cannot pass it through.
    fn end(self) -> Result<(), V::Error> {
        self.error.map_or(Ok(()), Err)
    }

    fn pass(&mut self, tell: impl FnOnce(&mut V) -> Result<(), V::Error>) {
        if self.passes
            && self.error.is_none()
            && let Err(error) = tell(self.visitor)
        {
            self.error = Some(error);
        }
    }

    fn meaning(&self, name: &str, number: u32) -> Option<String> {
        use crate::isa::object::{
            InputKind, LabelKind, Linkage, NativePlatform, VariableProperties,
        };
        let byte = u8::try_from(number).ok();
        let list = self.path.last().copied();
        match (name, list) {
            ("name", _) => {
                let text = self.strings.get(usize::try_from(number).ok()?)?;
                Some(format!("{:?}", String::from_utf8_lossy(text)))
            }
            ("properties", _) => {
                let properties = VariableProperties(byte?.into());
                let align = properties.alignment().name().unwrap_or("unknown alignment");
                Some(format!("{}, aligned to {align}", properties.data_type()))
            }
            ("kind", Some("inputs")) => {
                let kind = InputKind(byte?);
                let implicit = kind.implicit_name().unwrap_or("unknown");
                Some(format!("{}, {implicit}", kind.name().unwrap_or("unknown")))
            }
            ("kind", Some("labels")) => LabelKind(byte?).name().map(str::to_owned),
            ("linkage", _) => Linkage(byte?).name().map(str::to_owned),
            ("platform", _) => NativePlatform(byte?).name().map(str::to_owned),
            _ => None,
        }
    }
}

impl<'a, V: Visitor<'a>> Observer<'a> for Relay<'_, 'a, V> {
    fn enter(&mut self, name: &'static str, index: Option<u32>, offset: u64) {
        self.path.push(name);
        self.pass(|v| v.enter(name, index, offset));
    }

    fn leave(&mut self, offset: u64) {
        self.path.pop();
        self.pass(|v| v.leave(offset));
    }

    fn leaf(&mut self, name: &'static str, range: Range<u64>, leaf: Leaf<'a>) {
        let content = match leaf {
            Leaf::Number(number) => Content::Number(number, self.meaning(name, number)),
            Leaf::Bytes(bytes) => Content::Bytes(bytes),
            Leaf::Text(text) => {
                self.strings.push(text);
                Content::Text(text)
            }
        };
        self.pass(|v| v.field(name, range, &content));
    }
}

/// The routine of a name or of a number: kernels are counted first, then functions.
#[must_use]
pub fn find_routine(container: &Container<'_>, wanted: &str) -> Option<RoutineId> {
    let named = container
        .header()
        .routines()
        .find(|(_, routine)| *routine.name == *wanted.as_bytes());
    if let Some((id, _)) = named {
        return Some(id);
    }
    let number: usize = wanted.parse().ok()?;
    let kernels = container.header().kernels.len();
    let id = match number.checked_sub(kernels) {
        None => RoutineId::new(RoutineKind::Kernel, number),
        Some(index) => RoutineId::new(RoutineKind::Function, index),
    };
    container.entry(id).map(|_| id)
}
