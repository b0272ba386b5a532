//! What is known where ways come together.

use super::super::assembler::Label;
use super::state::{Fact, Flags, Id, Later, REGISTERS, State, Stored, VECTORS};
use super::{Reason, Refused, Verifier, refused};

/// What is known of a value on some way that leads to a label, before registers have other values there.
const CARRIED: [Fact; 2] = [Fact::NotZero, Fact::Thread];

/// Code that comes to a label, and what is known there in addition.
struct Way<'a> {
    /// Where the label is.
    at: usize,
    /// Values that may be those of an earlier turn. There are none unless code after the label leads there.
    later: Later,
    state: &'a State,
    fact: Option<(Id, Fact)>,
}

impl Way<'_> {
    fn knows(&self, value: Id, fact: Fact) -> bool {
        self.state.knows(value, fact) || self.fact == Some((value, fact))
    }

    /// Whether a value is one of an earlier turn, and not the one of a register at the label that comes back.
    fn is_gone(&self, value: Id) -> bool {
        let is_own = |(at, register)| at == self.at && self.state.get(register) == value;
        self.later.has(value) && !value.label().is_some_and(is_own)
    }
}

impl Verifier<'_> {
    /// Code comes to a label, from a place.
    pub(super) fn join(
        &mut self,
        Label(label): Label,
        state: &State,
        fact: Option<(Id, Fact)>,
        from: usize,
    ) -> Result<(), Refused> {
        let error = |reason| Err(refused(from, reason));
        let Some(at) = self.place_of(label) else {
            return error(Reason::Target);
        };
        if state.owed.is_some() {
            return error(Reason::Agreement);
        }
        if self.is_entry.get(label) == Some(&true) {
            let expected = self.states.get(label).and_then(Option::as_ref);
            let is_agreed = expected.is_some_and(|expected| self.agrees(state, expected));
            return match is_agreed {
                true => Ok(()),
                false => error(Reason::Agreement),
            };
        }
        let is_loop = self.is_loop.get(label) == Some(&true);
        let later = match is_loop {
            true => Later::than(at),
            false => Some(Later::NEVER),
        };
        let Some(later) = later else {
            return error(Reason::Unknown);
        };
        let way = Way {
            at,
            later,
            state,
            fact,
        };
        let known = match self.states.get_mut(label).and_then(Option::take) {
            None => self.first(&way).map(|known| (known, true)),
            Some(old) if old.depth != state.depth => return error(Reason::Agreement),
            Some(mut old) => self.merged(&mut old, &way).map(|changed| (old, changed)),
        };
        let Some((known, changed)) = known else {
            return error(Reason::Unknown);
        };
        if let Some(to) = self.states.get_mut(label) {
            *to = Some(known);
        }
        if changed {
            self.change(label);
        }
        while let Some(value) = self.grown.pop() {
            self.is_other(value);
        }
        Ok(())
    }

    /// What is known at a label to which code comes for the first time.
    fn first(&mut self, way: &Way<'_>) -> Option<Box<State>> {
        let new = way.state;
        let mut state = Box::new(State {
            registers: new.registers,
            flags: weakened(new.flags),
            depth: new.depth,
            of_both: new.of_both,
            ..State::new()
        });
        let registers = new.registers;
        let facts = new.facts.len();
        state
            .facts
            .reserve(facts + usize::from(facts > 0 || way.fact.is_some()));
        let turns =
            (way.later != Later::NEVER).then(|| differing(&registers, &registers, way.later));
        for register in turns.into_iter().flatten() {
            let from = new.get(register);
            let own = Id::joined(way.at, register)?;
            if from == Id::UNDEFINED || from == own || !way.later.has(from) {
                continue;
            }
            state.set(register, own);
            self.widen(own, self.bits_of(from));
            for fact in CARRIED {
                if self.is_true(new, from, fact) || way.knows(from, fact) {
                    state.learn(own, fact);
                }
            }
        }
        let more = way.fact.filter(|(value, fact)| !new.knows(*value, *fact));
        let known = new.facts.iter().chain(&more);
        for (value, fact) in known {
            let is_old = way.is_gone(*value) || fact.region().is_some_and(|of| way.later.has(of));
            if !is_old && state.holds(*value) {
                match value.label().is_some() {
                    true => state.learn(*value, *fact),
                    false => state.facts.push((*value, *fact)),
                }
            }
        }
        let stored = new.stored.iter();
        let stored = stored.filter(|own| !way.is_gone(own.value));
        state.stored.extend(stored);
        Some(state)
    }

    /// Less is known at a label than before. Whether that is so.
    fn merged(&mut self, old: &mut State, way: &Way<'_>) -> Option<bool> {
        let new = way.state;
        let flags = match new.flags {
            Flags::Undefined => Flags::Undefined,
            _ => old.flags,
        };
        let of_both = old.of_both || new.of_both;
        let mut changed = (flags, of_both) != (old.flags, old.of_both);
        (old.flags, old.of_both) = (flags, of_both);
        // Registers that have another value than those that code comes with, and what is known of it.
        let mut renamed = 0_u64;
        let mut carried = Vec::new();
        let mut is_same = true;
        for register in differing(&old.registers, &new.registers, way.later) {
            let (before, from) = (old.get(register), new.get(register));
            if before == Id::UNDEFINED {
                continue;
            }
            if from == Id::UNDEFINED {
                old.set(register, Id::UNDEFINED);
                is_same = false;
                continue;
            }
            let own = Id::joined(way.at, register)?;
            if before == from && (from == own || !way.later.has(from)) {
                continue;
            }
            renamed |= 1 << register;
            for fact in CARRIED {
                let is = self.is_true(new, from, fact) || way.knows(from, fact);
                if is && self.is_true(old, before, fact) {
                    carried.push((own, fact));
                }
            }
            let bits = self.bits_of(from);
            if before == own {
                if self.widen(own, bits) {
                    self.grown.push(own);
                }
            } else {
                let bits = bits | self.bits_of(before);
                self.widen(own, bits);
                old.set(register, own);
                is_same = false;
            }
        }
        let mut facts = std::mem::take(&mut old.facts);
        let count = facts.len();
        // Mostly both ways know the same, in the same order.
        let mut others = new.facts.iter();
        facts.retain(|own @ (value, fact)| {
            let is_renamed = |(at, register)| at == way.at && renamed >> register & 1 != 0;
            if value.label().is_some_and(is_renamed) {
                return carried.contains(own);
            }
            let is_known = others.next() == Some(own) || way.knows(*value, *fact);
            is_known && !way.is_gone(*value) && (is_same || old.holds(*value))
        });
        changed |= !is_same || facts.len() != count;
        old.facts = facts;
        for (value, fact) in carried {
            old.learn(value, fact);
        }
        let count = old.stored.len();
        let both = |own: &Stored| new.stored.contains(own) && !way.is_gone(own.value);
        old.stored.retain(both);
        Some(changed || old.stored.len() != count)
    }

    /// Whether something is known of a value.
    fn is_true(&self, state: &State, value: Id, fact: Fact) -> bool {
        match fact {
            Fact::NotZero => self.is_not_zero(state, value),
            _ => state.knows(value, fact),
        }
    }

    /// A register of numbers may have these bits, too, where ways come together. Whether that is new.
    fn widen(&mut self, value: Id, bits: u64) -> bool {
        let Some((at, register)) = value.label().filter(|(_, own)| *own < VECTORS) else {
            return false;
        };
        let Some((number, _)) = self.values.get_mut(at) else {
            return false;
        };
        if *number == 0 {
            self.joined_bits.push([0; VECTORS]);
            *number = u32::try_from(self.joined_bits.len()).unwrap_or(u32::MAX);
        }
        let all = self.joined_bits.get_mut(*number as usize - 1);
        let Some(all) = all.and_then(|all| all.get_mut(register)) else {
            return false;
        };
        let is_new = bits & !*all != 0;
        *all |= bits;
        is_new
    }
}

/// What is known of flags where ways come together.
const fn weakened(flags: Flags) -> Flags {
    match flags {
        Flags::Undefined => Flags::Undefined,
        _ => Flags::Any,
    }
}

/// Registers that have different values in two states, or may have one of an earlier turn.
fn differing(
    a: &[Id; REGISTERS],
    b: &[Id; REGISTERS],
    later: Later,
) -> impl Iterator<Item = usize> + use<> {
    let mut found = 0_u64;
    for register in 0..REGISTERS {
        found |= u64::from(a.get(register) != b.get(register)) << register;
    }
    if later != Later::NEVER {
        for (register, value) in b.iter().enumerate() {
            found |= u64::from(later.has(*value)) << register;
        }
    }
    std::iter::from_fn(move || {
        let register = found.trailing_zeros() as usize;
        let rest = found.checked_sub(1)?;
        found &= rest;
        Some(register)
    })
}
