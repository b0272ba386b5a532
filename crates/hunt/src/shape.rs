//! The parts of the language that programs use.

use crate::ast::{Argument, Binary, Expr, Node, Place, Program, Statement, Together};
use crate::edit::{blocks_mut, expressions_mut};
use std::collections::BTreeSet;

/// The parts that a program uses, with the types of expressions.
pub(crate) fn shape(program: &Program) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    program.each_statement(&mut |statement| words.extend(of_statement(statement)));
    program.each_expression(&mut |expr| {
        words.extend(of_expression(expr).map(|word| format!("{word} {}", expr.ty)));
    });
    words
}

/// The parts that a program uses, whatever the numbers of lanes are.
pub(crate) fn parts(program: &Program) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    program.each_statement(&mut |statement| parts.extend(parts_of_statement(statement)));
    program.each_expression(&mut |expr| parts.extend(parts_of_expression(expr)));
    parts
}

/// The program with neither of these parts: zeros stand for expressions, and statements are left out.
pub(crate) fn without(program: &Program, parts: &BTreeSet<String>) -> Program {
    let mut program = program.clone();
    let has = |part: &String| parts.contains(part);
    blocks_mut(&mut program, &mut |block| {
        block.retain(|statement| !parts_of_statement(statement).iter().any(has));
    });
    expressions_mut(&mut program, &mut |expr| {
        let left_out = parts_of_expression(expr).iter().any(has);
        if left_out {
            *expr = Expr::zero(expr.ty);
        }
        !left_out
    });
    program
}

fn passes_structure(arguments: &[Argument]) -> bool {
    let mut arguments = arguments.iter();
    arguments.any(|argument| matches!(argument, Argument::Struct(_)))
}

fn parts_of_statement(statement: &Statement) -> Vec<String> {
    let mut parts: Vec<String> = of_statement(statement).into_iter().collect();
    if let Statement::Call(_, _, arguments) = statement
        && passes_structure(arguments)
    {
        parts.push("structure passed".to_owned());
    }
    if let Statement::Loop { body, .. } = statement
        && body.iter().any(shifts)
    {
        parts.push("shift in a loop".to_owned());
    }
    parts
}

fn parts_of_expression(expr: &Expr) -> Vec<String> {
    let scalar = expr.ty.scalar.name();
    let of = |word: String| format!("{word} {scalar}");
    let mut parts: Vec<String> = of_expression(expr).map(of).into_iter().collect();
    match &expr.node {
        Node::Function(_, arguments) if passes_structure(arguments) => {
            parts.push("structure passed".to_owned());
        }
        Node::Load(Place::Element(..)) => parts.push(format!("element {scalar}")),
        // Shifts that are joined are a rotation or a funnel, whose parts are in every program.
        Node::Binary(op, a, b) => {
            let words = [a, b].map(|e| joined_word(e));
            let mut words: Vec<&str> = words.into_iter().flatten().collect();
            words.sort_unstable();
            let many = if expr.ty.is_vector() { " vector" } else { "" };
            let op = format!("{op:?}").to_lowercase();
            let of = |words: &str| format!("{op} of {words} {scalar}{many}");
            parts.extend(words.iter().map(|word| of(word)));
            if words.len() == 2 {
                parts.push(of(&words.join(" and ")));
            }
        }
        Node::Call(_, arguments) => {
            let of = arguments.first().map(|a| a.ty.scalar);
            parts.extend(
                of.filter(|of| *of != expr.ty.scalar)
                    .zip(parts.first().cloned())
                    .map(|(of, part)| format!("{part} of {}", of.name())),
            );
        }
        // What a conversion is of is half of it.
        Node::Convert(_, of) | Node::As(of) => {
            parts.extend(
                parts
                    .first()
                    .map(|p| format!("{p} of {}", of.ty.scalar.name())),
            );
        }
        _ => {}
    }
    parts
}

/// The word of an operand that makes an operator an idiom.
fn joined_word(expr: &Expr) -> Option<&'static str> {
    match expr.node {
        Node::Binary(Binary::Shl, ..) => Some("shl"),
        Node::Binary(Binary::Shr, ..) => Some("shr"),
        Node::Binary(Binary::Mul, ..) => Some("mul"),
        _ => None,
    }
}

/// Whether a number is shifted there into what has the result.
fn shifts(statement: &Statement) -> bool {
    let of = |expr: &Expr| {
        let mut children = expr.children().into_iter();
        matches!(expr.node, Node::Binary(Binary::Shl | Binary::Shr, ..))
            || children.any(|child| joined_word(child).is_some_and(|word| word != "mul"))
    };
    match statement {
        Statement::Update(_, Binary::Shl | Binary::Shr, _) => true,
        Statement::Assign(_, value) | Statement::Update(_, _, value) => of(value),
        other => other.blocks().into_iter().flatten().any(shifts),
    }
}

fn of_statement(statement: &Statement) -> Option<String> {
    let word = match statement {
        Statement::Assign(..) => return None,
        Statement::Update(_, op, _) => return Some(format!("{op:?}=").to_lowercase()),
        Statement::If(..) => "if",
        Statement::Loop { .. } => "loop",
        Statement::Break(_) => "break",
        Statement::Continue(_) => "continue",
        Statement::Switch(..) => "switch",
        Statement::Copy(..) => "structure",
        Statement::Call(..) => "structure returned",
        Statement::Atomic(..) => "atomic",
        Statement::Draw(..) => "image written",
        Statement::Together(_, _, Together::Exchange(_)) => "barrier",
        Statement::Together(_, _, Together::Shuffle(_)) => "sub-group shuffle",
        Statement::Together(_, _, Together::Block(_)) => "sub-group block read",
        Statement::Together(_, _, Together::Block2(_)) => "sub-group 2D block read",
        Statement::Together(_, _, Together::Matrix(_)) => "product of matrices",
        Statement::Together(_, _, Together::Reduce(_)) => "work-group reduction",
    };
    Some(word.to_owned())
}

fn of_expression(expr: &Expr) -> Option<String> {
    let word = match &expr.node {
        Node::Constant(_) | Node::Load(_) | Node::Input(..) | Node::Scalar(_) | Node::Id(_) => {
            return None;
        }
        Node::Unary(op, _) => return Some(format!("{op:?}").to_lowercase()),
        Node::Binary(op, ..) => return Some(format!("{op:?}").to_lowercase()),
        Node::Call(builtin, _) => builtin.name(),
        Node::Table(..) => "table",
        Node::Byte(..) => "byte of an array",
        Node::Compare(..) => "comparison",
        Node::Choose(..) => "choice",
        Node::Convert(true, _) => "convert_sat",
        Node::Convert(false, _) => "convert",
        Node::As(_) => "as",
        Node::Swizzle(..) => "swizzle",
        Node::Build(_) => "vector of scalars",
        Node::Pixel(..) => "image read",
        Node::Extent(..) => "size of an image",
        Node::Function(..) => "function",
    };
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::evaluate;
    use crate::generate::{Options, generate};

    /// A part that is left out is not there, the program has still a result, and nothing else is new.
    #[test]
    fn parts_are_left_out() {
        for seed in 0..40 {
            let program = generate(seed, &Options::default());
            let all = parts(&program);
            for part in &all {
                let less = without(&program, &BTreeSet::from([part.clone()]));
                let left = parts(&less);
                assert!(!left.contains(part), "seed {seed}: {part}");
                assert!(left.is_subset(&all), "seed {seed}: {part}");
            }
            let none = without(&program, &all);
            assert!(parts(&none).is_empty(), "seed {seed}");
            assert!(evaluate(&none).is_ok(), "seed {seed}");
        }
    }
}
