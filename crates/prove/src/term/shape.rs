//! Questions that are the same but for the names of variables: most lanes and work-items ask one another's.

use super::{Function, Node, Term, Terms};
use hashbrown::HashMap;

/// Shapes of pairs of terms.
#[derive(Debug, Default)]
pub struct Shapes {
    functions: HashMap<Function, u64>,
}

/// A pair of terms without the names of its variables: pairs of one shape are equal for all values, or none of them is.
pub type Shape = Box<[u64]>;

impl Shapes {
    /// The shape of a pair.
    pub fn of(&mut self, terms: &Terms, (a, b): (Term, Term)) -> Shape {
        let mut numbers: HashMap<Term, u64> = HashMap::new();
        let mut shape = Vec::new();
        let mut todo = vec![b, a];
        while let Some(next) = todo.last().copied() {
            if numbers.contains_key(&next) {
                todo.pop();
                continue;
            }
            let before = todo.len();
            let mut parts = Vec::new();
            terms.node(next).each(|part| parts.push(part));
            todo.extend(parts.into_iter().rev().filter(|p| !numbers.contains_key(p)));
            if todo.len() == before {
                self.write(terms, next, &numbers, &mut shape);
                numbers.insert(next, numbers.len() as u64);
                todo.pop();
            }
        }
        shape.extend([a, b].iter().filter_map(|term| numbers.get(term)));
        shape.into()
    }

    fn write(
        &mut self,
        terms: &Terms,
        term: Term,
        numbers: &HashMap<Term, u64>,
        shape: &mut Vec<u64>,
    ) {
        let node = terms.node(term);
        let functions = self.functions.len() as u64;
        let (kind, own) = match node {
            Node::Constant(value) => (0, *value),
            // Variables are told apart by their numbers, as all terms are.
            Node::Variable(_) => (1, 0),
            Node::Extract(_, low) => (2, u64::from(*low)),
            Node::Concat(_) => (3, 0),
            Node::Sum(constant, _) => (4, *constant),
            Node::Product(_) => (5, 0),
            Node::And(constant, _) => (6, *constant),
            Node::Or(constant, _) => (7, *constant),
            Node::Xor(constant, _) => (8, *constant),
            Node::Choice(..) => (9, 0),
            Node::Equal(..) => (10, 0),
            Node::Less(..) => (11, 0),
            Node::LessSigned(..) => (12, 0),
            Node::Left(..) => (13, 0),
            Node::Right(..) => (14, 0),
            Node::RightSigned(..) => (15, 0),
            Node::Symbol(function, _) => {
                (16, *self.functions.entry(*function).or_insert(functions))
            }
        };
        shape.extend([kind << 8 | u64::from(terms.width(term)), own]);
        if let Node::Sum(_, parts) = node {
            shape.extend(parts.iter().map(|(times, _)| *times));
        }
        let first = shape.len();
        node.each(|part| shape.extend(numbers.get(&part)));
        shape.push((shape.len() - first) as u64);
    }
}
