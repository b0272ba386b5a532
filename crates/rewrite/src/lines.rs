//! Instructions as text, one by one.

use visakit_isa::object::{Body, Object, Routine, RoutineId, RoutineKind};
use visakit_text::{Options, Printer};

/// The text of every instruction of a routine, on one line each, without indentation and offsets.
#[must_use]
pub fn all(object: &Object<'_>, id: RoutineId) -> Vec<String> {
    Printer::new(object, Options::default()).code(id)
}

/// The text of some instructions of a routine, with their indices in the code. Only these are printed.
#[must_use]
pub fn some(
    object: &Object<'_>,
    id: RoutineId,
    indices: impl Iterator<Item = usize>,
) -> Vec<(usize, String)> {
    let Some(body) = object.routine(id).and_then(Routine::body) else {
        return Vec::new();
    };
    let (indices, code): (Vec<_>, Vec<_>) = indices
        .filter_map(|index| Some((index, body.code.get(index)?.clone())))
        .unzip();
    if code.is_empty() {
        return Vec::new();
    }
    let body = Body {
        strings: body.strings.clone(),
        name: body.name,
        variables: body.variables.clone(),
        addresses: body.addresses.clone(),
        predicates: body.predicates.clone(),
        labels: body.labels.clone(),
        samplers: body.samplers.clone(),
        surfaces: body.surfaces.clone(),
        attributes: body.attributes.clone(),
        code,
        ..Body::default()
    };
    let mut short = Object::new(object.version, object.dialect);
    short.file_variables.clone_from(&object.file_variables);
    let routine = Routine::new(&b""[..], body);
    match id.kind {
        RoutineKind::Kernel => short.kernels.push(routine),
        RoutineKind::Function => short.functions.push(routine),
    }
    let id = RoutineId::new(id.kind, 0);
    indices.into_iter().zip(all(&short, id)).collect()
}
