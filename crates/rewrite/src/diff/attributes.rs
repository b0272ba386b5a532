//! Attributes as text that is equal for equal meanings.

use visakit_isa::object::{Attribute, Body, Object, RoutineId};

/// As [`attributes`], of a routine: without a target it has the one that its text would state.
pub(super) fn of_routine(
    object: &Object<'_>,
    id: RoutineId,
    body: &Body<'_>,
) -> Vec<(usize, String)> {
    let mut all = attributes(body, &body.attributes);
    if body.attribute("Target").is_none() {
        let target = format!("Target={}", object.target_before(id));
        let at = all.partition_point(|(_, text)| *text < target);
        all.insert(at, (body.attributes.len(), target));
    }
    all
}

/// Index and text of each attribute, ordered by name: their order and the size of their numbers have no meaning.
pub(super) fn attributes(body: &Body<'_>, list: &[Attribute<'_>]) -> Vec<(usize, String)> {
    let mut named: Vec<_> = list
        .iter()
        .map(|a| String::from_utf8_lossy(body.string(a.name).unwrap_or_default()))
        .zip(list)
        .enumerate()
        .collect();
    named.sort_by(|(_, (a, _)), (_, (b, _))| a.cmp(b));
    named
        .into_iter()
        .map(|(index, (name, attribute))| {
            let value = value(&name, attribute);
            (index, name.into_owned() + &value)
        })
        .collect()
}

fn value(name: &str, attribute: &Attribute<'_>) -> String {
    let number = attribute.number();
    match number.filter(|_| !Attribute::PATHS.contains(&name)) {
        // A flag without bytes is set.
        Some(_) if attribute.value.is_empty() => "=1".to_owned(),
        Some(number) => format!("={number}"),
        None => format!("={:?}", String::from_utf8_lossy(&attribute.value)),
    }
}
