//! Expressions rewritten by laws that hold for all values: of integers modulo their size, of floats bit for bit.

use crate::ast::{Binary, Expr, Node, Program, Relation, Unary};
use crate::choices::Choices;
use crate::edit::expressions_mut;
use crate::types::{Type, Value};

/// Places that are rewritten at most.
const MOST: usize = 6;

pub(super) fn apply(program: &mut Program, choices: &mut Choices) -> bool {
    let mut places = 0;
    expressions_mut(program, &mut |expr| {
        places += usize::from(!rewritten(expr).is_empty());
        true
    });
    let mut left = MOST;
    let mut changes = false;
    expressions_mut(program, &mut |expr| {
        let all = rewritten(expr);
        if all.is_empty() || left == 0 || choices.below(places.div_ceil(MOST)) > 0 {
            return true;
        }
        let chosen = choices.below(all.len());
        if let Some(node) = all.into_iter().nth(chosen) {
            changes |= expr.node != node;
            expr.node = node;
            left -= 1;
        }
        false
    });
    changes
}

/// What computes the same.
fn rewritten(expr: &Expr) -> Vec<Node> {
    let ty = expr.ty;
    let of = |node| Box::new(Expr { ty, node });
    let integer = !ty.scalar.is_float();
    let mut all = Vec::new();
    match &expr.node {
        Node::Binary(op, a, b) => {
            let commutes = matches!(op, Binary::Add | Binary::Mul)
                || matches!(
                    op,
                    Binary::And | Binary::Or | Binary::Xor | Binary::Highs | Binary::Halves
                );
            let with =
                |op, a: &Expr, b: &Expr| Node::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
            if commutes && a != b {
                all.push(with(*op, b, a));
            }
            if integer {
                let both = of(with(Binary::And, a, b));
                let either = of(with(Binary::Or, a, b));
                match op {
                    // a + b = (a | b) + (a & b)
                    Binary::Add => all.push(Node::Binary(Binary::Add, either, both)),
                    // a ^ b = (a | b) - (a & b)
                    Binary::Xor => all.push(Node::Binary(Binary::Sub, either, both)),
                    // a - b = ~(~a + b)
                    Binary::Sub => {
                        let not = of(Node::Unary(Unary::Not, a.clone()));
                        let sum = of(Node::Binary(Binary::Add, not, b.clone()));
                        all.push(Node::Unary(Unary::Not, sum));
                    }
                    // a & b = ~(~a | ~b), a | b = ~(~a & ~b)
                    Binary::And | Binary::Or => {
                        let other = if *op == Binary::And {
                            Binary::Or
                        } else {
                            Binary::And
                        };
                        let not = |e: &Expr| of(Node::Unary(Unary::Not, Box::new(e.clone())));
                        let inner = of(Node::Binary(other, not(a), not(b)));
                        all.push(Node::Unary(Unary::Not, inner));
                    }
                    _ => {}
                }
            }
        }
        Node::Unary(Unary::Negate, a) if integer => {
            // -a = ~a + 1
            let not = of(Node::Unary(Unary::Not, a.clone()));
            let one = Box::new(Expr::constant(Value::splat(ty, 1)));
            all.push(Node::Binary(Binary::Add, not, one));
        }
        Node::Unary(Unary::Not, a) => {
            // ~a = -a - 1
            let negated = of(Node::Unary(Unary::Negate, a.clone()));
            let one = Box::new(Expr::constant(Value::splat(ty, 1)));
            all.push(Node::Binary(Binary::Sub, negated, one));
        }
        Node::Compare(relation, a, b) => {
            let turned = match relation {
                Relation::Less => Relation::Greater,
                Relation::LessEqual => Relation::GreaterEqual,
                Relation::Greater => Relation::Less,
                Relation::GreaterEqual => Relation::LessEqual,
                same => *same,
            };
            if turned != *relation || a != b {
                all.push(Node::Compare(turned, b.clone(), a.clone()));
            }
        }
        Node::Choose(condition, yes, no) if yes != no => {
            let zero = Box::new(Expr::zero(Type::INT));
            let node = Node::Compare(Relation::Equal, condition.clone(), zero);
            let not = Box::new(Expr {
                ty: Type::INT,
                node,
            });
            all.push(Node::Choose(not, no.clone(), yes.clone()));
        }
        _ => {}
    }
    all
}
