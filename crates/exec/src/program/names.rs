//! Names and places of a routine's declarations.

use crate::translate::layout::{Place, RoutineLayout};
use crate::variables::{DeclaredVariable, VariableClass};
use visakit_isa::object::{Body, Declaration};
use visakit_isa::{Format, StringId};

/// The variables of a routine, class by class.
pub(super) fn declared(
    format: Format,
    routine: &RoutineLayout,
    body: &Body<'_>,
) -> Vec<DeclaredVariable> {
    let mut all = Vec::with_capacity(routine.places());
    let mut add = |class, number: usize, name: Option<StringId>, place: &Place| {
        let name = name
            .and_then(|id| body.string(id))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .filter(|name| !name.is_empty());
        all.push(DeclaredVariable {
            name,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            slot: place.slot(class),
        });
    };
    let first = format.predefined_variable_count() as usize;
    for (number, place) in routine.variables.iter().enumerate() {
        let name = number
            .checked_sub(first)
            .and_then(|i| body.variables.get(i));
        if let Some(place) = place {
            add(VariableClass::General, number, name.map(|v| v.name), place);
        }
    }
    let named = |table: &[Declaration<'_>], index: usize| table.get(index).map(|d| d.name);
    for (number, place) in routine.addresses.iter().enumerate() {
        let name = named(&body.addresses, number);
        add(VariableClass::Address, number, name, place);
    }
    for (number, place) in routine.predicates.iter().enumerate() {
        let name = named(&body.predicates, number);
        add(VariableClass::Predicate, number + 1, name, place);
    }
    let first = usize::from(format.predefined_surface_count());
    for (number, place) in routine.surfaces.iter().enumerate() {
        let name = number
            .checked_sub(first)
            .and_then(|i| named(&body.surfaces, i));
        add(VariableClass::Surface, number, name, place);
    }
    for (number, place) in routine.samplers.iter().enumerate() {
        let name = named(&body.samplers, number);
        add(VariableClass::Sampler, number, name, place);
    }
    all
}
