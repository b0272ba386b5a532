//! Variables through memory: one becomes an element of an array, at an index that is an argument.

use super::opaque;
use crate::ast::{Kind, Node, Place, Program, Statement};
use crate::choices::Choices;
use crate::edit::{blocks_mut, expressions_mut};
use std::collections::BTreeSet;

pub(super) fn apply(program: &mut Program, choices: &mut Choices) -> bool {
    let mut bound = BTreeSet::new();
    program.each_expression(&mut |expr| {
        if let Node::Load(Place::Lane(variable, _)) = expr.node {
            bound.insert(variable);
        }
    });
    program.each_statement(&mut |statement| match statement {
        Statement::Assign(Place::Lane(variable, _), _)
        | Statement::Update(Place::Lane(variable, _), ..)
        | Statement::Together(variable, ..) => {
            bound.insert(*variable);
        }
        _ => {}
    });
    let variables = program.variables.iter().enumerate();
    let free = variables.filter_map(|(number, variable)| match variable.kind {
        Kind::Plain(ty) if !bound.contains(&number) => Some((number, ty)),
        _ => None,
    });
    let free: Vec<_> = free.collect();
    let Some((variable, ty)) = choices.of(&free) else {
        return false;
    };
    let index = opaque(program, choices.bits() >> 32);
    if let Some(declared) = program.variables.get_mut(variable) {
        let first = declared.initial.first().copied();
        declared.initial.extend(first);
        declared.kind = Kind::Array(ty, 2);
    }
    let element = Place::Element(variable, Box::new(index));
    let through = |place: &mut Place| {
        if *place == Place::Variable(variable) {
            *place = element.clone();
        }
    };
    // Functions have variables of their own.
    let functions = std::mem::take(&mut program.functions);
    blocks_mut(program, &mut |block| {
        for statement in block {
            if let Statement::Assign(place, _) | Statement::Update(place, ..) = statement {
                through(place);
            }
        }
    });
    expressions_mut(program, &mut |expr| {
        if let Node::Load(place) = &mut expr.node {
            through(place);
        }
        true
    });
    program.functions = functions;
    true
}
