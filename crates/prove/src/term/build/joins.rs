//! Bits that are set where one of several conditions holds: lanes that went different ways meet again.

use crate::term::{Node, Term, Terms};

/// Conditions that are looked at together.
const MOST: usize = 24;

/// How deep [`Terms::met`] may be in itself: what is made shorter may be an equal term that is known already, and longer.
const MOST_DEPTH: u8 = 6;

/// A condition: all of these bits are set; ascending.
type All = Vec<Term>;

impl Terms {
    /// The bits that are all set where a bit is.
    fn conjuncts(&self, term: Term) -> All {
        match self.node(term) {
            Node::And(1, parts) => parts.to_vec(),
            _ => vec![term],
        }
    }

    fn all_of(&mut self, bits: &[Term]) -> Term {
        let one = self.constant(1, 1);
        bits.iter().fold(one, |all, bit| self.and(all, *bit))
    }

    /// Where one of several bits is set; `None` if that has no shorter form. What all conditions have in common is said once,
    /// and what a bit has split is put together: `a & b | a & !b & c` is `a & (b | c)`.
    pub(super) fn met(&mut self, bits: &[Term]) -> Option<Term> {
        if !(2..=MOST).contains(&bits.len()) || self.meeting == MOST_DEPTH {
            return None;
        }
        self.meeting += 1;
        let found = self.met_once(bits);
        self.meeting -= 1;
        found
    }

    fn met_once(&mut self, bits: &[Term]) -> Option<Term> {
        let mut conditions: Vec<All> = bits.iter().map(|bit| self.conjuncts(*bit)).collect();
        let changed = self.shorten(&mut conditions);
        let (first, others) = conditions.split_first()?;
        let in_all = |bit: &&Term| others.iter().all(|all| all.binary_search(bit).is_ok());
        let common: All = first.iter().filter(in_all).copied().collect();
        if !changed && common.is_empty() {
            return None;
        }
        let mut any = self.constant(0, 1);
        for condition in &mut conditions {
            condition.retain(|bit| common.binary_search(bit).is_err());
            let all = self.all_of(condition);
            any = self.or(any, all);
        }
        let common = self.all_of(&common);
        Some(self.and(common, any))
    }

    /// Leaves out conditions that hold only where another one does, and bits that another condition leaves no choice of;
    /// whether there were any.
    fn shorten(&mut self, conditions: &mut Vec<All>) -> bool {
        let mut changed = false;
        while let Some((place, bit)) = self.superfluous(conditions) {
            changed = true;
            match bit {
                None => {
                    conditions.remove(place);
                }
                Some(bit) => {
                    if let Some(condition) = conditions.get_mut(place) {
                        condition.retain(|other| *other != bit);
                    }
                }
            }
        }
        changed
    }

    /// A condition that is not needed beside another one, or a bit of it.
    fn superfluous(&mut self, conditions: &[All]) -> Option<(usize, Option<Term>)> {
        for (place, condition) in conditions.iter().enumerate() {
            for (other_place, other) in conditions.iter().enumerate() {
                if place == other_place {
                    continue;
                }
                // What the other one asks for besides.
                let mut more = other
                    .iter()
                    .filter(|bit| condition.binary_search(bit).is_err());
                match (more.next().copied(), more.next()) {
                    (None, _) => return Some((place, None)),
                    (Some(bit), None) => {
                        let opposite = self.not(bit);
                        if condition.binary_search(&opposite).is_ok() {
                            return Some((place, Some(opposite)));
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }
}
