//! Expressions outlined: an operation becomes a function of its operands.

use crate::ast::{Argument, Expr, Function, Kind, Node, Place, Program, Returned, Variable};
use crate::choices::Choices;
use crate::edit::expressions_mut;

pub(super) fn apply(program: &mut Program, choices: &mut Choices) -> bool {
    let functions = std::mem::take(&mut program.functions);
    let number = functions.len();
    let mut places = 0;
    expressions_mut(program, &mut |expr| {
        places += usize::from(fits(expr));
        true
    });
    let chosen = choices.below(places);
    let noinline = choices.percent(60);
    let mut made = None;
    let mut at = 0;
    expressions_mut(program, &mut |expr| {
        let here = fits(expr) && at == chosen && made.is_none();
        at += usize::from(fits(expr));
        if here {
            let (function, call) = outlined(expr, number, noinline);
            made = Some(function);
            *expr = call;
        }
        !here
    });
    program.functions = functions;
    program.functions.extend(made);
    places > 0
}

/// Whether a parameter in place of each operand changes nothing: what a function replaces in what is read as it is may be less.
fn is_open(expr: &Expr) -> bool {
    let Node::Call(builtin, arguments) = &expr.node else {
        return true;
    };
    let mut arguments = arguments.iter().enumerate();
    arguments.all(|(number, argument)| {
        let parameter = Expr {
            ty: argument.ty,
            node: Node::Load(Place::Variable(0)),
        };
        matches!(argument.node, Node::Constant(_))
            || builtin.guard(number, argument) == builtin.guard(number, &parameter)
    })
}

fn fits(expr: &Expr) -> bool {
    is_open(expr)
        && matches!(
            expr.node,
            Node::Unary(..)
                | Node::Binary(..)
                | Node::Compare(..)
                | Node::Choose(..)
                | Node::Convert(..)
                | Node::As(_)
                | Node::Call(..)
                | Node::Swizzle(..)
                | Node::Build(_)
        )
}

/// The function, and the call of it. Constants stay where they are: what a division does depends on them.
fn outlined(expr: &Expr, number: usize, noinline: bool) -> (Function, Expr) {
    let mut body = expr.clone();
    let mut variables = Vec::new();
    let mut arguments = Vec::new();
    for child in body.children_mut() {
        if matches!(child.node, Node::Constant(_)) {
            continue;
        }
        let parameter = Expr {
            ty: child.ty,
            node: Node::Load(Place::Variable(variables.len())),
        };
        variables.push(Variable {
            kind: Kind::Plain(child.ty),
            initial: Vec::new(),
        });
        arguments.push(Argument::Plain(std::mem::replace(child, parameter)));
    }
    let call = Expr {
        ty: expr.ty,
        node: Node::Function(number, arguments),
    };
    let function = Function {
        noinline,
        parameters: variables.len(),
        variables,
        body: Vec::new(),
        result: Returned::Plain(body),
    };
    (function, call)
}
