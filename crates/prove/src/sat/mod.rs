//! The solver inside: terms as circuits, decided by a solver of clauses.
//!
//! Functions of the executor have results of any value first. Where a choice of the solver is wrong (equal sources and
//! different results, or another result than the executor computes), what it has to keep is added, and it is asked again.
//! So it never says that terms are equal for a wrong reason, and what it finds to differ mostly does.

mod circuit;

use crate::lower::expanded;
use crate::solver::Answer;
use crate::term::{Function, Model, Node, Term, Terms};
use batsat::{Callbacks, Solver, SolverInterface, SolverOpts, lbool};
use circuit::{Circuit, Wire};
use hashbrown::{HashMap, HashSet};
use std::cell::Cell;
use std::time::Instant;

/// Bounds of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    deadline: Option<Instant>,
    /// Variables of the circuit; more take too much memory.
    variables: u32,
    /// Decisions of the solver.
    decisions: u64,
    /// Rounds in which results of functions are set right.
    rounds: usize,
}

impl Limits {
    /// Of a question that decides a proof.
    pub(crate) const fn new(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            decisions: u64::MAX,
            variables: 4_000_000,
            rounds: 200,
        }
    }

    /// Of one among many.
    pub(crate) const fn small(deadline: Instant) -> Self {
        Self {
            deadline: Some(deadline),
            decisions: u64::MAX,
            variables: 200_000,
            rounds: 12,
        }
    }

    /// With no more variables and decisions than that.
    pub(crate) fn within(self, effort: Option<u32>) -> Self {
        let Some(effort) = effort else {
            return self;
        };
        Self {
            variables: self.variables.min(effort),
            decisions: effort.into(),
            ..self
        }
    }
}

/// Results that are set right in a round.
const MOST_FIXES: usize = 400;

/// Stops a solver at the deadline, or after its decisions.
struct Clock {
    deadline: Option<Instant>,
    left: Cell<u64>,
}

impl Callbacks for Clock {
    fn stop(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 0 || self.deadline.is_some_and(|end| Instant::now() > end)
    }
}

/// Asks whether a pair of terms differs.
pub(crate) fn ask(terms: &mut Terms, pairs: &[(Term, Term)], limits: Limits) -> Answer {
    let expanded = expansions(terms, pairs);
    let terms = &*terms;
    let mut blast = Blast {
        terms,
        circuit: Circuit::new(),
        expanded,
        bits: HashMap::new(),
        symbols: Vec::new(),
        limits,
        bits_alone: false,
    };
    let mut differ = Vec::new();
    for (a, b) in pairs {
        let (Some(a), Some(b)) = (blast.of(*a), blast.of(*b)) else {
            return Answer::Nothing("the question is too large for the solver inside".to_owned());
        };
        differ.push(!blast.circuit.equal(&a, &b));
    }
    blast.circuit.clause(&differ);
    blast.decide()
}

/// Whether a bit is never set, as far as bits alone say: comparisons, functions and parts of numbers may be anything. Conditions
/// of lanes that part and meet are mostly decided by that, however large the numbers are that they compare.
pub(crate) fn is_never_of_bits(terms: &Terms, bit: Term, limits: Limits) -> bool {
    let mut blast = Blast {
        terms,
        circuit: Circuit::new(),
        expanded: HashMap::new(),
        bits: HashMap::new(),
        symbols: Vec::new(),
        limits,
        bits_alone: true,
    };
    let Some(wires) = blast.of(bit) else {
        return false;
    };
    blast.circuit.clause(&wires);
    // What is found to be set may not be: parts that may be anything here are not anything.
    blast.decide() == Answer::Never
}

/// What comparisons of floats are by their bits.
fn expansions(terms: &mut Terms, pairs: &[(Term, Term)]) -> HashMap<Term, Term> {
    let mut found = HashMap::new();
    let mut seen = HashSet::new();
    let mut todo: Vec<Term> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    while let Some(term) = todo.pop() {
        if !seen.insert(term) {
            continue;
        }
        terms.node(term).each(|part| todo.push(part));
        if let Node::Symbol(function, sources) = terms.node(term).clone()
            && let Some(made) = expanded(terms, &function, &sources)
        {
            found.insert(term, made);
        }
    }
    found
}

struct Blast<'t> {
    terms: &'t Terms,
    expanded: HashMap<Term, Term>,
    circuit: Circuit,
    bits: HashMap<Term, Vec<Wire>>,
    /// Results of functions, by what they compute.
    symbols: Vec<(Function, Term)>,
    limits: Limits,
    /// Whether only operations on bits are looked into.
    bits_alone: bool,
}

impl Blast<'_> {
    /// Whether a term may be anything here.
    fn is_free(&self, term: Term) -> bool {
        let of_bits = matches!(
            self.terms.node(term),
            Node::Constant(_) | Node::And(..) | Node::Or(..) | Node::Xor(..) | Node::Choice(..)
        );
        self.bits_alone && !of_bits
    }

    /// The bits of a term; `None` if there are too many gates.
    fn of(&mut self, term: Term) -> Option<Vec<Wire>> {
        let mut todo = vec![term];
        while let Some(next) = todo.last().copied() {
            if self.bits.contains_key(&next) {
                todo.pop();
                continue;
            }
            let late = || self.limits.deadline.is_some_and(|end| Instant::now() > end);
            if self.circuit.variables() > self.limits.variables || late() {
                return None;
            }
            if self.is_free(next) {
                let width = self.terms.width(next);
                let bits = (0..width).map(|_| self.circuit.input()).collect();
                self.bits.insert(next, bits);
                todo.pop();
                continue;
            }
            let before = todo.len();
            let mut part = |part: Term| {
                if !self.bits.contains_key(&part) {
                    todo.push(part);
                }
            };
            match self.expanded.get(&next) {
                Some(made) => part(*made),
                None => self.terms.node(next).each(part),
            }
            if todo.len() == before {
                let bits = match self.expanded.get(&next) {
                    Some(made) => self.get(*made),
                    None => self.one(next),
                };
                self.bits.insert(next, bits);
                todo.pop();
            }
        }
        self.bits.get(&term).cloned()
    }

    fn get(&self, term: Term) -> Vec<Wire> {
        self.bits.get(&term).cloned().unwrap_or_default()
    }

    /// The bits of a term whose parts have theirs.
    fn one(&mut self, term: Term) -> Vec<Wire> {
        let terms = self.terms;
        let width = terms.width(term);
        match terms.node(term) {
            Node::Constant(value) => Circuit::number(*value, width),
            Node::Variable(_) => (0..width).map(|_| self.circuit.input()).collect(),
            Node::Extract(of, low) => {
                let bits = self.get(*of);
                bits.into_iter()
                    .skip((*low).into())
                    .take(width.into())
                    .collect()
            }
            Node::Concat(parts) => parts.iter().flat_map(|part| self.get(*part)).collect(),
            Node::Sum(constant, parts) => {
                let mut sum = Circuit::number(*constant, width);
                for (times, part) in parts {
                    let part = self.get(*part);
                    let product = self.circuit.scale(&part, *times);
                    sum = self.circuit.add(&sum, &product, Wire::CLEAR);
                }
                sum
            }
            Node::Product(parts) => {
                let mut product = Circuit::number(1, width);
                for part in parts {
                    let part = self.get(*part);
                    product = self.circuit.multiply(&product, &part);
                }
                product
            }
            Node::And(constant, parts) => self.bitwise(*constant, parts, width, Circuit::and),
            Node::Or(constant, parts) => self.bitwise(*constant, parts, width, Circuit::or),
            Node::Xor(constant, parts) => self.bitwise(*constant, parts, width, Circuit::xor),
            Node::Choice(condition, yes, no) => {
                let condition = self.get(*condition).first().copied().unwrap_or(Wire::CLEAR);
                let (yes, no) = (self.get(*yes), self.get(*no));
                let pairs = yes.into_iter().zip(no);
                pairs
                    .map(|(yes, no)| self.circuit.choice(condition, yes, no))
                    .collect()
            }
            Node::Equal(a, b) => {
                let (a, b) = (self.get(*a), self.get(*b));
                vec![self.circuit.equal(&a, &b)]
            }
            Node::Less(a, b) => {
                let (a, b) = (self.get(*a), self.get(*b));
                vec![self.circuit.less(&a, &b)]
            }
            Node::LessSigned(a, b) => {
                let [a, b] = [a, b].map(|side| {
                    let mut bits = self.get(*side);
                    if let Some(sign) = bits.last_mut() {
                        *sign = !*sign;
                    }
                    bits
                });
                vec![self.circuit.less(&a, &b)]
            }
            Node::Left(a, count) => self.shifted(*a, *count, false, false),
            Node::Right(a, count) => self.shifted(*a, *count, true, false),
            Node::RightSigned(a, count) => self.shifted(*a, *count, true, true),
            Node::Symbol(function, _) => {
                self.symbols.push((*function, term));
                (0..width).map(|_| self.circuit.input()).collect()
            }
        }
    }

    fn bitwise(
        &mut self,
        constant: u64,
        parts: &[Term],
        width: u8,
        of: fn(&mut Circuit, Wire, Wire) -> Wire,
    ) -> Vec<Wire> {
        let mut all = Circuit::number(constant, width);
        for part in parts {
            let part = self.get(*part);
            let pairs = all.iter().zip(part);
            all = pairs.map(|(a, b)| of(&mut self.circuit, *a, b)).collect();
        }
        all
    }

    fn shifted(&mut self, a: Term, count: Term, right: bool, sign: bool) -> Vec<Wire> {
        let (a, count) = (self.get(a), self.get(count));
        let last = a.last().copied().unwrap_or(Wire::CLEAR);
        let fill = if sign { last } else { Wire::CLEAR };
        self.circuit.shift(&a, &count, right, fill)
    }

    /// Runs the solver until nothing is wrong with what it says.
    fn decide(mut self) -> Answer {
        let clock = Clock {
            deadline: self.limits.deadline,
            left: Cell::new(self.limits.decisions),
        };
        let mut solver = Solver::new(SolverOpts::default(), clock);
        let mut variables: Vec<batsat::Var> = Vec::new();
        for _ in 0..self.limits.rounds {
            let mut clause = Vec::new();
            let made = self.circuit.variables() as usize;
            variables.resize_with(made, || solver.new_var_default());
            for wire in self.circuit.take() {
                match wire {
                    Some(wire) => {
                        let variable = variables.get(wire.variable() as usize).copied();
                        clause.extend(variable.map(|v| batsat::Lit::new(v, !wire.is_complement())));
                    }
                    None => {
                        // The result is asked for below.
                        let _ = solver.add_clause_reuse(&mut clause);
                        clause.clear();
                    }
                }
            }
            let found = solver.solve_limited(&[]);
            if found == lbool::FALSE {
                return Answer::Never;
            }
            if found != lbool::TRUE {
                return Answer::Nothing("the solver inside needs more time".to_owned());
            }
            let chosen = |wire: Wire| {
                let variable = variables.get(wire.variable() as usize).copied();
                let set = variable.is_some_and(|v| solver.value_var(v) == lbool::TRUE);
                set != wire.is_complement()
            };
            if !self.set_right(&chosen) {
                return Answer::Sometimes(self.model(&chosen));
            }
        }
        Answer::Nothing("the solver inside cannot tell what float operations compute".to_owned())
    }

    /// The number that bits are.
    fn value(&self, term: Term, chosen: &impl Fn(Wire) -> bool) -> u64 {
        let bits = self.bits.get(&term).into_iter().flatten();
        let bits = (0..).zip(bits);
        bits.fold(0, |all, (place, wire)| {
            all | u64::from(chosen(*wire)) << place
        })
    }

    fn model(&self, chosen: &impl Fn(Wire) -> bool) -> Model {
        let mut model = Model::new();
        for term in self.bits.keys() {
            if let Node::Variable(variable) = self.terms.node(*term) {
                model.insert(*variable, self.value(*term, chosen));
            }
        }
        model
    }

    /// Demands what results of functions do not keep in this choice; false if they keep everything.
    fn set_right(&mut self, chosen: &impl Fn(Wire) -> bool) -> bool {
        let terms = self.terms;
        let mut known: HashMap<(Function, u8, Vec<u64>), (Term, u64)> = HashMap::new();
        let (mut apart, mut wrong) = (Vec::new(), Vec::new());
        for (function, term) in &self.symbols {
            let Node::Symbol(_, sources) = terms.node(*term) else {
                continue;
            };
            let width = terms.width(*term);
            let values: Vec<u64> = sources.iter().map(|s| self.value(*s, chosen)).collect();
            let result = self.value(*term, chosen);
            let right = function.evaluate(&values, width);
            if right.is_some_and(|right| right != result) {
                wrong.push((*term, values.clone(), right.unwrap_or(0)));
            }
            let first = known
                .entry((*function, width, values))
                .or_insert((*term, result));
            if first.1 != result {
                apart.push((first.0, *term));
            }
        }
        for (first, second) in apart.iter().take(MOST_FIXES) {
            self.same(*first, *second);
        }
        if apart.is_empty() {
            for (term, values, right) in wrong.iter().take(MOST_FIXES) {
                self.computed(*term, values, *right);
            }
        }
        !(apart.is_empty() && wrong.is_empty())
    }

    /// Equal sources have equal results.
    fn same(&mut self, first: Term, second: Term) {
        let terms = self.terms;
        let (Node::Symbol(_, a), Node::Symbol(_, b)) = (terms.node(first), terms.node(second))
        else {
            return;
        };
        let mut equal = Wire::SET;
        for (a, b) in a.iter().zip(b) {
            let (a, b) = (self.get(*a), self.get(*b));
            let both = self.circuit.equal(&a, &b);
            equal = self.circuit.and(equal, both);
        }
        for (a, b) in self.get(first).into_iter().zip(self.get(second)) {
            self.circuit.clause(&[!equal, !a, b]);
            self.circuit.clause(&[!equal, a, !b]);
        }
    }

    /// For these sources the result is this.
    fn computed(&mut self, term: Term, values: &[u64], result: u64) {
        let Node::Symbol(_, sources) = self.terms.node(term) else {
            return;
        };
        let mut equal = Wire::SET;
        for (source, value) in sources.iter().zip(values) {
            let (bits, number) = (
                self.get(*source),
                Circuit::number(*value, self.terms.width(*source)),
            );
            let both = self.circuit.equal(&bits, &number);
            equal = self.circuit.and(equal, both);
        }
        let wanted = Circuit::number(result, self.terms.width(term));
        for (bit, wanted) in self.get(term).into_iter().zip(wanted) {
            let bit = if wanted == Wire::SET { bit } else { !bit };
            self.circuit.clause(&[!equal, bit]);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
pub(crate) mod tests;
