//! Dead code: a statement is copied to where it never runs, which an argument decides.

use super::{at_some_place, leaves, opaque};
use crate::ast::{Expr, Node, Program, Relation, Statement};
use crate::choices::Choices;
use crate::types::{Type, Value};

pub(super) fn apply(program: &mut Program, choices: &mut Choices) -> bool {
    let mut all = Vec::new();
    let body = std::mem::take(&mut program.body);
    collect(&body, &mut all);
    let dead = choices.of(&all).cloned();
    program.body = body;
    let Some(dead) = dead else { return false };
    let value = choices.bits() >> 33;
    let known = opaque(program, value);
    let other = Value::splat(Type::UINT, value ^ (1 << choices.below(31)));
    let never = Node::Compare(
        Relation::Equal,
        Box::new(known),
        Box::new(Expr::constant(other)),
    );
    let never = Expr {
        ty: Type::INT,
        node: never,
    };
    let changes = at_some_place(
        program,
        choices,
        |_| true,
        |statement| {
            let dead = Statement::If(never.clone(), vec![dead.clone()], Vec::new());
            vec![dead, statement]
        },
    );
    if !changes {
        program.scalars.pop();
    }
    changes
}

/// The statements that may stand anywhere.
fn collect<'s>(block: &'s [Statement], all: &mut Vec<&'s Statement>) {
    for statement in block {
        if !leaves(statement) && !statement.meets() {
            all.push(statement);
        }
        for inner in statement.blocks() {
            collect(inner, all);
        }
    }
}
