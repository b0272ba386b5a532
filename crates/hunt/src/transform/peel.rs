//! Loops peeled: the first iteration stands before the others.

use super::{at_some_place, leaves};
use crate::ast::{Binary, Count, Expr, Node, Place, Program, Statement};
use crate::choices::Choices;
use crate::edit::expressions_of_mut;
use crate::types::{Type, Value};

fn uint(value: u8) -> Expr {
    Expr::constant(Value::splat(Type::UINT, value.into()))
}

pub(super) fn apply(program: &mut Program, choices: &mut Choices) -> bool {
    let fits = |statement: &Statement| match statement {
        Statement::Loop {
            count: Count::Fixed(1..),
            body,
            ..
        } => !body.iter().any(leaves),
        _ => false,
    };
    at_some_place(program, choices, fits, |statement| match statement {
        Statement::Loop {
            counter,
            count: Count::Fixed(count),
            body,
            ..
        } => {
            let times = |count: u8, body: Vec<Statement>| Statement::Loop {
                counter,
                count: Count::Fixed(count),
                last: false,
                body,
            };
            let mut rest = body.clone();
            expressions_of_mut(&mut rest, &mut |expr| {
                let counts = expr.node == Node::Load(Place::Variable(counter));
                if counts {
                    let old = Box::new(expr.clone());
                    expr.node = Node::Binary(Binary::Add, old, Box::new(uint(1)));
                }
                !counts
            });
            // The counter keeps its last value.
            let last = Statement::Assign(Place::Variable(counter), uint(count));
            vec![times(1, body), times(count - 1, rest), last]
        }
        other => vec![other],
    })
}
