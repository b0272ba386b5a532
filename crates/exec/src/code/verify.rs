//! Checks the invariants of all translated code.

use super::blocks::targets;
use super::{Action, Code, Compute, Destination, Flag, Lane, Operation, Source, Step};
use std::fmt;

/// A step that breaks a rule of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Its place in [`Code::steps`].
    pub step: usize,
    /// The rule.
    pub rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.rule)
    }
}

impl std::error::Error for Violation {}

impl Code {
    /// Checks the rules that the interpreter and compilers rely on: sizes and places of operands,
    /// targets of jumps, operations in types that they have, routines that end.
    ///
    /// # Errors
    /// The first step that breaks one.
    pub fn verify(&self) -> Result<(), Violation> {
        for (place, step) in self.steps.iter().enumerate() {
            self.step(step)
                .map_err(|rule| Violation { step: place, rule })?;
            let next = self.steps.get(place + 1);
            if step.fused && !next.is_some_and(|next| step.is_tested_by(next)) {
                return Err(Violation {
                    step: place,
                    rule: "fused with a step that is no branch on its outcome".into(),
                });
            }
        }
        for routine in &self.routines {
            let whole = self
                .routines
                .iter()
                .map(|r| r.entry)
                .filter(|entry| *entry > routine.entry)
                .min()
                .unwrap_or(self.steps.len());
            let last = whole.checked_sub(1).and_then(|end| self.steps.get(end));
            if !last.is_some_and(|step| matches!(step.action, Action::Fault(_))) {
                return Err(Violation {
                    step: routine.entry,
                    rule: format!("routine {:?} does not end in a fault", routine.name),
                });
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step) -> Result<(), String> {
        let lanes = step.lanes;
        if !(1..=32).contains(&lanes.count) || lanes.first > 31 {
            return Err(format!("{} lanes from lane {}", lanes.count, lanes.first));
        }
        if let Some(flag) = &step.predicate {
            self.flag(flag, step)?;
        }
        for target in targets(&step.action) {
            let there = self.steps.get(*target);
            let same_routine = there.is_some_and(|t| t.origin.routine == step.origin.routine);
            let call = matches!(
                step.action,
                Action::Call {
                    function: Some(_),
                    ..
                }
            );
            if there.is_none() || !call && !same_routine {
                return Err(format!("a target that is no step of the routine: {target}"));
            }
            if call && !self.routines.iter().any(|r| r.entry == *target) {
                return Err(format!("a call of step {target}, which is no entry"));
            }
        }
        match &step.action {
            Action::Compute(compute) => self.compute(compute, step),
            Action::Count(count) => {
                let mut places = [count.times, count.lanes, count.parts]
                    .into_iter()
                    .flatten();
                places.try_for_each(|place| self.inside(place, 8))
            }
            _ => Ok(()),
        }
    }

    fn compute(&self, compute: &Compute, step: &Step) -> Result<(), String> {
        let lanes = usize::from(step.lanes.count);
        let used = compute.operation.sources();
        for source in compute.sources.iter().take(used) {
            self.source(source, lanes)?;
        }
        if compute
            .sources
            .iter()
            .skip(used)
            .any(|s| *s != Source::default())
        {
            return Err("a source that the operation does not have".into());
        }
        for destination in std::iter::once(&compute.destination).chain(&compute.second) {
            self.destination(destination, lanes)?;
        }
        for flag in compute
            .flags
            .iter()
            .take(compute.operation.flags())
            .chain(&compute.sets)
        {
            self.flag(flag, step)?;
        }
        let float = matches!(compute.lane, Lane::F32 | Lane::F64);
        let fits = match compute.operation {
            Operation::Exp
            | Operation::Log
            | Operation::Sin
            | Operation::Cos
            | Operation::Tanh
            | Operation::Sigmoid
            | Operation::Inv
            | Operation::Sqrt
            | Operation::Rsqrt
            | Operation::Frc
            | Operation::Rndd
            | Operation::Rndu
            | Operation::Rnde
            | Operation::Rndz
            | Operation::Pow
            | Operation::Lrp => float,
            Operation::Copy
            | Operation::IntegerToFloat
            | Operation::Not
            | Operation::CountBits
            | Operation::And
            | Operation::Or
            | Operation::Xor
            | Operation::Shl
            | Operation::Shr
            | Operation::Rol
            | Operation::Ror
            | Operation::Mod
            | Operation::Avg
            | Operation::Boolean(_)
            | Operation::Add3 => !float,
            _ => true,
        };
        if fits {
            Ok(())
        } else {
            Err(format!(
                "{} in lanes of {:?}",
                compute.operation.name(),
                compute.lane
            ))
        }
    }

    fn inside(&self, offset: usize, bytes: usize) -> Result<(), String> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.register_bytes => Ok(()),
            _ => Err(format!(
                "{bytes} bytes at {offset} of a register file of {}",
                self.register_bytes
            )),
        }
    }

    fn source(&self, source: &Source, lanes: usize) -> Result<(), String> {
        let extent = source.extent(lanes);
        self.inside(extent.start, extent.len())
    }

    fn destination(&self, destination: &Destination, lanes: usize) -> Result<(), String> {
        let extent = destination.extent(lanes);
        self.inside(extent.start, extent.len())
    }

    fn flag(&self, flag: &Flag, step: &Step) -> Result<(), String> {
        if flag.window != step.lanes.window() || flag.first != step.lanes.first {
            return Err("a predicate of other lanes".into());
        }
        self.inside(flag.offset as usize, 4)
    }
}
