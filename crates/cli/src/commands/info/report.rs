//! The report about an object, as data. All text in it is safe to print.

use crate::output::printable;
use serde::Serialize;
use visakit::isa::object::{
    Attribute, Body, Content, Input, InputKind, NativeCode, Object, Routine, RoutineId, RoutineKind,
};
use visakit::isa::{Dialect, Features, Format, StringId, SurfaceId, VarId};
use visakit::parse::{Container, Error, Extent, ExtentId, PartId};

/// A file.
#[derive(Serialize)]
pub(super) struct File {
    pub(super) file: String,
    /// Bytes of the text, if it is one.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) text: usize,
    /// Bytes of the object; 0 if the version has no binary form.
    pub(super) size: u64,
    pub(super) version: String,
    pub(super) dialect: &'static str,
    /// Whether the object is sound in that dialect; if not, it is in none.
    pub(super) dialect_fits: bool,
    /// The other dialects that fit.
    pub(super) other_dialects: Vec<&'static str>,
    pub(super) header_size: u64,
    /// Zero bytes after the object that make its length a multiple of four.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) padding: usize,
    pub(super) routines: Vec<RoutineInfo>,
    pub(super) file_variables: Vec<FileVariableInfo>,
    pub(super) faults: Vec<FaultInfo>,
}

/// A kernel or a function.
#[derive(Serialize)]
pub(super) struct RoutineInfo {
    pub(super) kind: &'static str,
    pub(super) index: usize,
    pub(super) name: String,
    /// Linkage; functions only.
    pub(super) linkage: Option<String>,
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) relocations: usize,
    /// The content of the body; `None` if it could not be decoded.
    #[serde(flatten)]
    pub(super) body: Option<BodyInfo>,
    /// Whether the instructions were removed from the object.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) code_removed: bool,
    /// Why the body could not be decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undecoded: Option<String>,
    pub(super) binaries: Vec<BinaryInfo>,
}

/// The content of a body.
#[derive(Serialize)]
pub(super) struct BodyInfo {
    pub(super) instructions: usize,
    /// Pieces of code that could not be decoded.
    pub(super) raw_items: usize,
    pub(super) strings: usize,
    pub(super) variables: usize,
    pub(super) addresses: usize,
    pub(super) predicates: usize,
    pub(super) labels: usize,
    pub(super) samplers: usize,
    pub(super) surfaces: usize,
    pub(super) input_size: u8,
    pub(super) return_value_size: u8,
    pub(super) inputs: Vec<InputInfo>,
    pub(super) attributes: Vec<AttributeInfo>,
}

/// An input of a kernel.
#[derive(Serialize)]
pub(super) struct InputInfo {
    pub(super) kind: String,
    pub(super) index: u32,
    pub(super) name: Option<String>,
    pub(super) offset: i16,
    pub(super) size: u16,
    /// The implicit kind, if the host supplies the value; `None` for an argument.
    pub(super) implicit: Option<String>,
}

/// An attribute of a routine.
#[derive(Serialize)]
pub(super) struct AttributeInfo {
    pub(super) name: String,
    pub(super) value: AttributeValue,
}

/// The meaning of an attribute's bytes, judging by its name and their number.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum AttributeValue {
    /// No bytes: a flag that is present.
    Set(bool),
    Number(u64),
    /// Text, or the bytes in hex if they are neither text nor a number.
    Text(String),
}

/// Native code of a kernel.
#[derive(Serialize)]
pub(super) struct BinaryInfo {
    /// `None` where the version does not store it.
    pub(super) platform: Option<String>,
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) content: BinaryContent,
}

/// What is at the place claimed by the entry of a native binary.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BinaryContent {
    Code,
    /// The entry claims no place, or one inside of the header: no code was generated.
    Placeholder,
    /// The place is outside the file, or occupied by something else.
    Missing,
}

/// A variable that all routines share.
#[derive(Serialize)]
pub(super) struct FileVariableInfo {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) data_type: &'static str,
    pub(super) elements: u16,
    pub(super) alignment: String,
    pub(super) linkage: String,
}

/// A fault that lenient reading ignored.
#[derive(Serialize)]
pub(super) struct FaultInfo {
    pub(super) offset: u64,
    pub(super) error: String,
}

impl File {
    pub(super) fn new(
        file: String,
        object: &Object<'_>,
        container: Option<&Container<'_>>,
        candidates: &[Dialect],
        faults: &[Error],
    ) -> Self {
        let others = candidates.iter().filter(|d| **d != object.dialect);
        Self {
            file,
            text: 0,
            size: container.map_or(0, |c| c.bytes().len() as u64),
            version: object.version.to_string(),
            dialect: object.dialect.name(),
            dialect_fits: !candidates.is_empty(),
            other_dialects: others.map(|d| d.name()).collect(),
            header_size: container.map_or(0, Container::header_end),
            padding: container.map_or(0, padding),
            routines: object
                .routines()
                .map(|(id, routine)| routine_info(container, object, id, routine))
                .collect(),
            file_variables: object
                .file_variables
                .iter()
                .map(|variable| FileVariableInfo {
                    name: printable(&variable.name),
                    data_type: variable.properties.data_type().name(),
                    elements: variable.elements,
                    alignment: named(
                        variable.properties.alignment().name(),
                        variable.properties.alignment().0,
                    ),
                    linkage: named(variable.linkage.name(), variable.linkage.0),
                })
                .collect(),
            faults: faults
                .iter()
                .map(|fault| FaultInfo {
                    offset: fault.offset(),
                    error: printable(fault.to_string().as_bytes()),
                })
                .collect(),
        }
    }
}

fn routine_info(
    container: Option<&Container<'_>>,
    object: &Object<'_>,
    id: RoutineId,
    routine: &Routine<'_>,
) -> RoutineInfo {
    let place = container.and_then(|c| c.extent(id));
    let undecoded = match &routine.content {
        Content::Body(_) => None,
        Content::Raw(raw) => Some(&raw.reason),
        Content::Missing(reason) => Some(reason),
    };
    let linkage = || named(routine.linkage.name(), routine.linkage.0);
    RoutineInfo {
        kind: id.kind.name(),
        index: id.index,
        name: printable(&routine.name),
        linkage: (id.kind == RoutineKind::Function).then(linkage),
        offset: place.map_or(0, |p| p.offset),
        size: place.map_or(0, |p| p.size),
        relocations: routine.variable_relocations.len() + routine.function_relocations.len(),
        body: routine.body().map(|body| body_info(body, object.format())),
        code_removed: routine.lacks_code(),
        undecoded: undecoded.map(|reason| printable(reason.as_bytes())),
        binaries: binaries(container, object.format(), id, routine),
    }
}

fn body_info(body: &Body<'_>, format: Format) -> BodyInfo {
    let instructions = body.instructions().count();
    BodyInfo {
        instructions,
        raw_items: body.code.len() - instructions,
        strings: body.strings.len(),
        variables: body.variables.len(),
        addresses: body.addresses.len(),
        predicates: body.predicates.len(),
        labels: body.labels.len(),
        samplers: body.samplers.len(),
        surfaces: body.surfaces.len(),
        input_size: body.input_size,
        return_value_size: body.return_value_size,
        inputs: body
            .inputs
            .iter()
            .map(|input| input_info(body, format, input))
            .collect(),
        attributes: body
            .attributes
            .iter()
            .map(|attribute| attribute_info(body, attribute))
            .collect(),
    }
}

fn input_info(body: &Body<'_>, format: Format, input: &Input) -> InputInfo {
    let implicit = input.kind.implicit_kind();
    let implicit = (implicit != 0).then(|| named(input.kind.implicit_name(), implicit));
    InputInfo {
        kind: named(input.kind.class().name(), input.kind.class().0),
        index: input.index,
        name: input_name(body, format, input),
        offset: input.offset,
        size: input.size,
        implicit,
    }
}

/// Name of the variable, surface or sampler that an input fills.
fn input_name(body: &Body<'_>, format: Format, input: &Input) -> Option<String> {
    // Predefined entries come first in the numbering but are not in the tables.
    let declared = |predefined: u32| usize::try_from(input.index.checked_sub(predefined)?).ok();
    let name = match input.kind.class() {
        InputKind::GENERAL => match declared(format.predefined_variable_count()) {
            Some(index) => body.variables.get(index)?.name,
            None => {
                let variable = format.predefined_variable(VarId(input.index))?;
                return Some(variable.name.to_owned());
            }
        },
        InputKind::SAMPLER => body.samplers.get(declared(0)?)?.name,
        InputKind::SURFACE => match declared(format.predefined_surface_count().into()) {
            Some(index) => body.surfaces.get(index)?.name,
            None => {
                let id = SurfaceId(u8::try_from(input.index).ok()?);
                return Some(format.predefined_surface(id)?.name.to_owned());
            }
        },
        _ => return None,
    };
    body.string(name).map(printable)
}

fn attribute_info(body: &Body<'_>, attribute: &Attribute<'_>) -> AttributeInfo {
    let StringId(index) = attribute.name;
    let name = body
        .string(attribute.name)
        .map_or_else(|| format!("string {index}"), printable);
    let value = if Attribute::PATHS.contains(&name.as_str()) {
        AttributeValue::Text(printable(&attribute.value))
    } else if attribute.value.is_empty() {
        AttributeValue::Set(true)
    } else if let Some(number) = attribute.number() {
        AttributeValue::Number(number)
    } else {
        let hex: Vec<String> = attribute.value.iter().map(|b| format!("{b:02x}")).collect();
        AttributeValue::Text(hex.join(" "))
    };
    AttributeInfo { name, value }
}

fn binaries(
    container: Option<&Container<'_>>,
    format: Format,
    id: RoutineId,
    routine: &Routine<'_>,
) -> Vec<BinaryInfo> {
    let stored = format.features().contains(Features::SINCE_3_0);
    // The native code of a function is in its callers, only kernels have entries.
    let place = |index| {
        let id = ExtentId::Binary {
            kernel: id.index,
            index,
        };
        container?.extents().iter().find(|place| place.id == id)
    };
    let info = |(index, binary): (usize, &visakit::isa::object::NativeBinary<'_>)| {
        let place: Option<&Extent> = place(index);
        let content = match binary.code {
            NativeCode::Bytes(_) => BinaryContent::Code,
            NativeCode::Placeholder { offset, size } => {
                if size == 0 || u64::from(offset) < container.map_or(0, Container::header_end) {
                    BinaryContent::Placeholder
                } else {
                    BinaryContent::Missing
                }
            }
        };
        BinaryInfo {
            platform: stored.then(|| named(binary.platform.name(), binary.platform.0)),
            offset: place.map_or(0, |p| p.offset),
            size: place.map_or(0, |p| p.stated_size),
            content,
        }
    };
    routine.binaries.iter().enumerate().map(info).collect()
}

/// The name of a code, or its number if it has none.
fn named(name: Option<&'static str>, code: u8) -> String {
    name.map_or_else(|| code.to_string(), str::to_owned)
}

fn padding(container: &Container<'_>) -> usize {
    let parts = container.parts();
    let padding = parts.last().filter(|part| part.id == PartId::Padding);
    padding.map_or(0, |part| {
        usize::try_from(part.range.end - part.range.start).unwrap_or(0)
    })
}

/// For the size of a text that there is not.
#[allow(clippy::trivially_copy_pass_by_ref)] // that is how serde asks
const fn is_zero(size: &usize) -> bool {
    *size == 0
}
