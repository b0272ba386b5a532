//! Terms as SMT-LIB, for solvers of bit-vectors with functions that nobody looks into (`QF_UFBV`).

use super::{Function, Node, Term, Terms, Variable, ones};
use hashbrown::HashMap;
use std::fmt::Write;

/// Whether terms differ, as a script: satisfiable if they do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// The script.
    pub text: String,
    /// The variables by their names in it.
    pub variables: Vec<(String, Variable)>,
}

/// Values of variables.
pub type Model = HashMap<Variable, u64>;

impl Terms {
    /// Asks whether a pair of terms differs.
    #[must_use]
    pub fn question(&self, pairs: &[(Term, Term)]) -> Question {
        let mut script = Script {
            terms: self,
            done: HashMap::new(),
            functions: HashMap::new(),
            question: Question::default(),
        };
        script
            .question
            .text
            .push_str("(set-option :produce-models true)\n(set-logic QF_UFBV)\n");
        for (a, b) in pairs {
            script.define(*a);
            script.define(*b);
        }
        let differ: Vec<String> = pairs
            .iter()
            .map(|(a, b)| format!("(distinct t{} t{})", a.number(), b.number()))
            .collect();
        let text = &mut script.question.text;
        let _ = writeln!(
            text,
            "(assert (or {} false))\n(check-sat)",
            differ.join(" ")
        );
        let names: Vec<&str> = script
            .question
            .variables
            .iter()
            .map(|(n, _)| n.as_str())
            .collect();
        if !names.is_empty() {
            let _ = writeln!(text, "(get-value ({}))", names.join(" "));
        }
        script.question
    }
}

struct Script<'t> {
    terms: &'t Terms,
    done: HashMap<Term, ()>,
    /// By what they compute, and the widths of their sources and result.
    functions: HashMap<(Function, Vec<u8>, u8), usize>,
    question: Question,
}

impl Script<'_> {
    fn define(&mut self, term: Term) {
        let mut todo = vec![term];
        while let Some(next) = (self.terms).ready(&mut todo, |part| self.done.contains_key(&part)) {
            self.one(next);
            self.done.insert(next, ());
        }
    }

    fn one(&mut self, term: Term) {
        let (width, name) = (self.terms.width(term), term.number());
        if let Node::Variable(variable) = self.terms.node(term) {
            let _ = writeln!(
                self.question.text,
                "(declare-const t{name} (_ BitVec {width})) ; {variable}"
            );
            self.question
                .variables
                .push((format!("t{name}"), *variable));
            return;
        }
        let body = self.body(term);
        let _ = writeln!(
            self.question.text,
            "(define-fun t{name} () (_ BitVec {width}) {body})"
        );
    }

    fn body(&mut self, term: Term) -> String {
        let terms = self.terms;
        let width = terms.width(term);
        let of = |term: &Term| format!("t{}", term.number());
        let all = |list: &[Term]| list.iter().map(of).collect::<Vec<_>>().join(" ");
        let number = |value: u64, width: u8| format!("(_ bv{} {width})", value & ones(width));
        let bit = |test: String| format!("(ite {test} #b1 #b0)");
        // Functions of two are applied from left to right.
        let fold = |name: &str, first: String, rest: &[String]| {
            rest.iter()
                .fold(first, |sum, next| format!("({name} {sum} {next})"))
        };
        let list = |name: &str, constant: u64, parts: &[Term]| {
            let parts: Vec<String> = parts.iter().map(of).collect();
            fold(name, number(constant, width), &parts)
        };
        match terms.node(term) {
            Node::Constant(value) => number(*value, width),
            Node::Variable(_) => String::new(),
            Node::Extract(part, low) => {
                format!("((_ extract {} {low}) {})", low + width - 1, of(part))
            }
            Node::Concat(parts) => {
                let reversed: Vec<Term> = parts.iter().rev().copied().collect();
                let names: Vec<String> = reversed.iter().map(of).collect();
                match names.split_first() {
                    Some((first, rest)) => fold("concat", first.clone(), rest),
                    None => number(0, width),
                }
            }
            Node::Sum(constant, parts) => {
                let products: Vec<String> = parts
                    .iter()
                    .map(|(times, part)| format!("(bvmul {} {})", number(*times, width), of(part)))
                    .collect();
                fold("bvadd", number(*constant, width), &products)
            }
            Node::Product(parts) => list("bvmul", 1, parts),
            Node::And(constant, parts) => list("bvand", *constant, parts),
            Node::Or(constant, parts) => list("bvor", *constant, parts),
            Node::Xor(constant, parts) => list("bvxor", *constant, parts),
            Node::Choice(condition, yes, no) => {
                format!("(ite (= {} #b1) {} {})", of(condition), of(yes), of(no))
            }
            Node::Equal(a, b) => bit(format!("(= {} {})", of(a), of(b))),
            Node::Less(a, b) => bit(format!("(bvult {} {})", of(a), of(b))),
            Node::LessSigned(a, b) => bit(format!("(bvslt {} {})", of(a), of(b))),
            Node::Left(a, b) => format!("(bvshl {} {})", of(a), of(b)),
            Node::Right(a, b) => format!("(bvlshr {} {})", of(a), of(b)),
            Node::RightSigned(a, b) => format!("(bvashr {} {})", of(a), of(b)),
            Node::Symbol(function, sources) => {
                let widths: Vec<u8> = sources.iter().map(|s| terms.width(*s)).collect();
                let name = self.function(*function, widths, width);
                match sources.is_empty() {
                    true => name,
                    false => format!("({name} {})", all(sources)),
                }
            }
        }
    }

    /// The name of a function; declared where it is used first.
    fn function(&mut self, function: Function, widths: Vec<u8>, width: u8) -> String {
        let next = self.functions.len();
        let key = (function, widths, width);
        if let Some(number) = self.functions.get(&key) {
            return format!("f{number}");
        }
        let sorts: Vec<String> = key.1.iter().map(|w| format!("(_ BitVec {w})")).collect();
        let _ = writeln!(
            self.question.text,
            "(declare-fun f{next} ({}) (_ BitVec {width})) ; {}",
            sorts.join(" "),
            key.0
        );
        self.functions.insert(key, next);
        format!("f{next}")
    }
}

impl Question {
    /// The values that a solver gives variables, from its answer to `get-value`.
    #[must_use]
    pub fn model(&self, answer: &str) -> Model {
        let mut found = Model::new();
        let words: Vec<&str> = answer
            .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
            .filter(|word| !word.is_empty())
            .collect();
        for (name, value) in words.iter().zip(words.iter().skip(1)) {
            let number = match value.split_at_checked(2) {
                Some(("#x", digits)) => u64::from_str_radix(digits, 16).ok(),
                Some(("#b", digits)) => u64::from_str_radix(digits, 2).ok(),
                _ => None,
            };
            let variable = self.variables.iter().find(|(own, _)| own == name);
            if let (Some(number), Some((_, variable))) = (number, variable) {
                found.insert(*variable, number);
            }
        }
        found
    }
}
