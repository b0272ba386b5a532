//! Short names for properties of instructions, used in columns and patterns.

use visakit_isa::object::Body;
use visakit_isa::operand::{Modifier, PredicateCombine};
use visakit_isa::semantics::{Action, AddressSpace, Callee, DataLayout, Flow, Resource, Structure};
use visakit_isa::table::Role;
use visakit_isa::{ExecMask, Format, StringId, Value, VectorOperand};

/// What is accessed, by the name that texts have: that of its declaration, or else its number.
#[must_use]
pub fn resource(resource: Resource, body: &Body<'_>, format: Format) -> String {
    let declared = |name: Option<StringId>, number: String| {
        let name = name.and_then(|name| body.string(name));
        let name = name.filter(|name| !name.is_empty());
        name.map_or(number, |name| String::from_utf8_lossy(name).into_owned())
    };
    let place = |number: u32, first: u32| usize::try_from(number.checked_sub(first)?).ok();
    match resource {
        Resource::General(id) => match format.predefined_variable(id) {
            Some(predefined) => format!("%{}", predefined.name),
            None => {
                let place = place(id.0, format.predefined_variable_count());
                let variable = place.and_then(|place| body.variables.get(place));
                declared(variable.map(|v| v.name), id.to_string())
            }
        },
        Resource::Address(id) => {
            let declaration = body.addresses.get(usize::from(id.0));
            declared(declaration.map(|d| d.name), id.to_string())
        }
        Resource::Predicate(id) => {
            let place = place(id.0.into(), 1);
            let declaration = place.and_then(|place| body.predicates.get(place));
            declared(declaration.map(|d| d.name), id.to_string())
        }
        Resource::Surface(id) => {
            let place = place(id.0.into(), format.predefined_surface_count().into());
            let declaration = place.and_then(|place| body.surfaces.get(place));
            declared(declaration.map(|d| d.name), id.to_string())
        }
        Resource::Sampler(id) => {
            let declaration = body.samplers.get(usize::from(id.0));
            declared(declaration.map(|d| d.name), id.to_string())
        }
        Resource::AnyGeneral => "any".to_owned(),
        Resource::Memory => "memory".to_owned(),
        Resource::ExecMask => "exec-mask".to_owned(),
        Resource::FloatMode => "float-mode".to_owned(),
        Resource::Arguments => "arguments".to_owned(),
        Resource::Result => "result".to_owned(),
    }
}

pub(crate) const fn flow(flow: Flow) -> &'static str {
    match flow {
        Flow::Next => "next",
        Flow::Marker => "marker",
        Flow::Label { subroutine: false } => "label",
        Flow::Label { subroutine: true } => "subroutine",
        Flow::Jump { by_lane: false } => "jump",
        Flow::Jump { by_lane: true } => "goto",
        Flow::Switch => "switch",
        Flow::Call(Callee::Label) => "call",
        Flow::Call(Callee::Name) => "call-name",
        Flow::Call(Callee::Address) => "call-address",
        Flow::Return { function: false } => "return",
        Flow::Return { function: true } => "return-function",
        Flow::Structured(Structure::If) => "if",
        Flow::Structured(Structure::Else) => "else",
        Flow::Structured(Structure::EndIf) => "endif",
        Flow::Structured(Structure::Do) => "do",
        Flow::Structured(Structure::While) => "while",
        Flow::Structured(Structure::Break) => "break",
        Flow::Structured(Structure::Continue) => "continue",
    }
}

pub(crate) const fn action(action: Action) -> &'static str {
    match action {
        Action::Load => "load",
        Action::Prefetch => "prefetch",
        Action::Store => "store",
        Action::Atomic(_) | Action::AtomicCode => "atomic",
        Action::Status => "status",
        Action::Query => "query",
        Action::CacheControl => "cache-control",
        Action::Compression => "compression",
        Action::Fence => "fence",
    }
}

pub(crate) const fn space(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Flat => "flat",
        AddressSpace::Slm => "slm",
        AddressSpace::Surface(_) | AddressSpace::AnySurface => "surface",
        AddressSpace::Arguments => "arguments",
        AddressSpace::RenderTarget => "render-target",
        AddressSpace::Urb => "urb",
        AddressSpace::All => "all",
        AddressSpace::Unknown => "unknown",
    }
}

pub(crate) const fn layout(layout: DataLayout) -> &'static str {
    match layout {
        DataLayout::PerLane => "per-lane",
        DataLayout::Channels => "channels",
        DataLayout::Strided => "strided",
        DataLayout::Block => "block",
        DataLayout::Rectangle => "rectangle",
        DataLayout::Texels => "texels",
        DataLayout::Sampled => "sampled",
        DataLayout::Counter => "counter",
        DataLayout::Nothing => "nothing",
    }
}

pub(crate) const fn role(role: Role) -> &'static str {
    match role {
        Role::Control => "control",
        Role::Destination => "destination",
        Role::Source => "source",
    }
}

pub(crate) const fn combine(combine: PredicateCombine) -> &'static str {
    match combine {
        PredicateCombine::PerLane => "lane",
        PredicateCombine::Any => "any",
        PredicateCombine::All => "all",
        PredicateCombine::Reserved => "reserved",
    }
}

pub(crate) const fn modifier(modifier: Modifier) -> Option<&'static str> {
    match modifier {
        Modifier::NONE => None,
        other => match other.name() {
            Some(name) => Some(name),
            None => Some("reserved"),
        },
    }
}

/// The class of a field's content.
pub(crate) const fn class(value: &Value) -> &'static str {
    match value {
        Value::Vector(VectorOperand::General(_)) => "general",
        Value::Vector(VectorOperand::Address(_)) => "address",
        Value::Vector(VectorOperand::Predicate(_)) | Value::Predicate(_) => "predicate",
        Value::Vector(VectorOperand::Indirect(_)) => "indirect",
        Value::Vector(VectorOperand::Immediate(_)) => "immediate",
        Value::Vector(VectorOperand::State(_)) => "state",
        Value::Raw(_) => "raw",
        Value::ExecSize(_) => "exec-size",
        Value::U8(_) | Value::U16(_) | Value::U32(_) | Value::I32(_) => "number",
        Value::Label(_) => "label",
        Value::String(_) => "string",
        Value::Surface(_) => "surface",
        Value::Sampler(_) => "sampler",
        Value::Lifetime(_) => "lifetime",
        Value::ElementCount(_) => "element-count",
        Value::SamplerOp(_) => "sampler-op",
    }
}

/// `M1` to `M8`, with `_NM` where masks are ignored.
pub(crate) const MASKS: [&str; 16] = [
    "M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M1_NM", "M2_NM", "M3_NM", "M4_NM", "M5_NM",
    "M6_NM", "M7_NM", "M8_NM",
];

/// The name of a mask, of [`MASKS`].
pub(crate) fn mask(mask: ExecMask) -> &'static str {
    let index = usize::from(mask.first_lane / 4) + if mask.no_mask { 8 } else { 0 };
    MASKS.get(index).copied().unwrap_or("M?")
}
