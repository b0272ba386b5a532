//! Loops that run once, which an argument decides, around statements.

use super::{at_some_place, leaves, opaque};
use crate::ast::{Count, Kind, Program, Statement, Variable};
use crate::choices::Choices;

pub(super) fn apply(program: &mut Program, choices: &mut Choices) -> bool {
    let once = opaque(program, 1 | choices.bits() >> 32 & !7);
    let counter = program.variables.len();
    program.variables.push(Variable {
        kind: Kind::Counter,
        initial: Vec::new(),
    });
    let fits = |statement: &Statement| !leaves(statement) && !statement.meets();
    let changes = at_some_place(program, choices, fits, |statement| {
        vec![Statement::Loop {
            counter,
            count: Count::Modulo8(once.clone()),
            last: false,
            body: vec![statement],
        }]
    });
    if !changes {
        program.variables.pop();
        program.scalars.pop();
    }
    changes
}
