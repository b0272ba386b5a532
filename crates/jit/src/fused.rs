//! Comparisons that run as one with the branch after them.
//!
//! If the only steps that read a predicate variable are branches right after a comparison that sets it, the variable need
//! not exist: a branch goes by the outcome of its comparison, which is in a register, or in the flags of the host.

use crate::load::is_extended;
use crate::path::Path;
use crate::vector::{Done, NoTemplate, Writer};
use crate::x64::{Condition, EAX, Operand};
use std::collections::{HashMap, HashSet};
use visakit_exec::code::{
    Action, Code, Combine, Compute, Lane, Liveness, Modify, Region, Relation, Source, Step,
};

/// The branch after a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Branch {
    /// All running lanes jump, or none.
    Jump,
    /// Lanes jump.
    Goto,
}

/// Where a branch finds the outcome of the comparison before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// A bit for each lane in [`TAKEN`](crate::exits::TAKEN). There may be others above.
    Bits,
    /// The host has compared two numbers.
    Numbers { relation: Relation, signed: bool },
}

/// Comparisons whose predicate nobody needs besides the branch after them, by their steps.
pub(crate) fn fused(code: &Code, live: Option<&Liveness>) -> HashMap<usize, Branch> {
    let mut found = HashMap::new();
    if live.is_none_or(Liveness::includes_end) {
        return found;
    }
    let starts: HashSet<usize> = code.blocks().iter().map(|b| b.steps.start).collect();
    for (place, pair) in code.steps.windows(2).enumerate() {
        if let [step, next] = pair
            && !starts.contains(&(place + 1))
            && let Some(branch) = branch(step, next)
        {
            found.insert(place, branch);
        }
    }
    // Words that anybody else reads.
    let mut read: HashSet<u32> = HashSet::new();
    for (place, step) in code.steps.iter().enumerate() {
        let is_branch = place.checked_sub(1).is_some_and(|p| found.contains_key(&p));
        read.extend(
            step.predicate
                .filter(|_| !is_branch)
                .map(|flag| flag.offset),
        );
        if let Action::Compute(compute) = &step.action {
            let flags = compute.flags.iter().take(compute.operation.flags());
            read.extend(flags.map(|flag| flag.offset));
        }
    }
    found.retain(|place, _| {
        let sets = match code.steps.get(*place).map(|step| &step.action) {
            Some(Action::Compute(compute)) => compute.sets,
            _ => None,
        };
        sets.is_some_and(|flag| !read.contains(&flag.offset))
    });
    found
}

/// The branch after a comparison that sets all that it reads.
fn branch(step: &Step, next: &Step) -> Option<Branch> {
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let (sets, reads) = (compute.sets?, next.predicate?);
    let same =
        (sets.first, sets.window, Combine::PerLane) == (reads.first, reads.window, reads.combine);
    if !step.fused || step.predicate.is_some() || !same {
        return None;
    }
    match next.action {
        // The first lane counts, whether it runs or not.
        Action::Jump { .. } if step.lanes.no_mask => Some(Branch::Jump),
        // The code for a single lane is left out where it does not run.
        Action::Goto { .. } if step.lanes.no_mask || step.lanes.count > 1 => Some(Branch::Goto),
        _ => None,
    }
}

/// The jump of the host after a comparison, if the relation holds, or else if it does not.
pub(crate) const fn jump_if(relation: Relation, signed: bool, holds: bool) -> Condition {
    match (relation, signed, holds) {
        (Relation::Equal, _, true) | (Relation::NotEqual, _, false) => Condition::Equal,
        (Relation::Equal, _, false) | (Relation::NotEqual, _, true) => Condition::NotEqual,
        (Relation::Less, false, true) => Condition::Below,
        (Relation::Less, false, false) => Condition::AboveOrEqual,
        (Relation::Less, true, true) => Condition::Less,
        (Relation::Less, true, false) => Condition::GreaterOrEqual,
        (Relation::LessEqual, false, true) => Condition::BelowOrEqual,
        (Relation::LessEqual, false, false) => Condition::Above,
        (Relation::LessEqual, true, true) => Condition::LessOrEqual,
        (Relation::LessEqual, true, false) => Condition::Greater,
    }
}

impl Writer {
    /// Compares two numbers of 32 bits for the jump after the step.
    pub(crate) fn compare_numbers(&mut self, compute: &Compute, relation: Relation) -> Done {
        let signed = match compute.lane {
            Lane::U32 => false,
            Lane::I32 => true,
            _ => return Err(NoTemplate),
        };
        let [a, b, ..] = &compute.sources;
        match self.low(a) {
            Some(low) => self.asm.mov(EAX, low),
            None => {
                let a = self.dword(a)?;
                self.asm.mov(EAX, a);
            }
        }
        match self.low(b) {
            Some(low) => self.asm.cmp(EAX, low),
            None => {
                let b = self.dword(b)?;
                self.asm.cmp(EAX, b);
            }
        }
        self.takes(Path::FusedNumbers);
        self.outcome = Some(Outcome::Numbers { relation, signed });
        Ok(())
    }

    /// A number of 32 bits that is part of the program.
    fn low(&self, source: &Source) -> Option<u32> {
        let ty = source.data_type;
        let fits = !ty.is_float() && (ty.size() == 4 || is_extended(source));
        let bits = self.literal(source).filter(|_| fits)?;
        u32::try_from(bits & u64::from(u32::MAX)).ok()
    }

    /// A number of 32 bits in the register file: in `ecx`, or its place.
    fn dword(&mut self, source: &Source) -> Result<Operand, NoTemplate> {
        let ty = source.data_type;
        let is_plain = source.region == Region::Scalar && source.modify == Modify::None;
        if !is_plain || ty.size() != 4 || ty.is_float() {
            return Err(NoTemplate);
        }
        self.number(source.offset, 4)
    }
}
