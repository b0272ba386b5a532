//! Where vectors of numbers come from: which argument of the thread a vector is a sum of numbers with.
//!
//! This is a guess, by looking at the steps that write the vectors and not at the ways to them. It decides which code is
//! worth being written; that code looks at the vectors themselves.

use crate::linear::whole;
use std::ops::Range;
use visakit_exec::code::{Action, Code, Operation, Region};

/// Who writes a dword of the register file: nobody, several steps, or (one more than its number) one step.
const NOBODY: u32 = 0;
const SEVERAL: u32 = u32::MAX;

/// Most steps between an argument and a vector, and most steps that are looked at for each.
const MOST_STEPS: usize = 8;
const MOST_BEFORE: usize = 64;

/// The steps that write each part of the register file.
#[derive(Debug)]
pub(crate) struct Origins {
    /// For each dword. Empty if it is not known what some step writes.
    writers: Vec<u32>,
}

impl Origins {
    pub(crate) fn new(code: &Code) -> Self {
        let mut writers = vec![NOBODY; code.register_bytes.div_ceil(4)];
        for (number, step) in (1..).zip(&code.steps) {
            let Some(written) = step.written() else {
                return Self {
                    writers: Vec::new(),
                };
            };
            for bytes in written {
                let dwords = writers.get_mut(bytes.start / 4..bytes.end.div_ceil(4));
                for writer in dwords.into_iter().flatten() {
                    *writer = match *writer {
                        NOBODY => number,
                        _ => SEVERAL,
                    };
                }
            }
        }
        Self { writers }
    }

    /// The place of the vector that no step writes, of which a vector at the start of a step is a copy, or a sum with
    /// numbers.
    pub(crate) fn of(&self, code: &Code, step: usize, bytes: Range<usize>) -> Option<usize> {
        let (mut before, mut bytes) = (step, bytes);
        for _ in 0..MOST_STEPS {
            let writer = match self.writer(code, before, &bytes)? {
                Some(writer) => writer,
                None => return Some(bytes.start),
            };
            let step = code.steps.get(writer)?;
            let Action::Compute(compute) = &step.action else {
                return None;
            };
            if whole(step)? != bytes
                || !matches!(
                    compute.operation,
                    Operation::Copy | Operation::Add | Operation::Add3
                )
            {
                return None;
            }
            let sources = compute.sources.iter().take(compute.operation.sources());
            let mut vectors = sources.filter(|source| source.region != Region::Scalar);
            let (Some(vector), None) = (vectors.next(), vectors.next()) else {
                return None;
            };
            if vector.region != Region::Packed {
                return None;
            }
            let size = usize::from(step.lanes.count) * usize::from(vector.data_type.size());
            (before, bytes) = (writer, vector.offset..vector.offset + size);
        }
        None
    }

    /// The step that has written bytes before another one: the only one that does, or else the last one in the same run
    /// of straight steps. The inner `None` is nobody.
    fn writer(&self, code: &Code, before: usize, bytes: &Range<usize>) -> Option<Option<usize>> {
        let dwords = self.writers.get(bytes.start / 4..bytes.end.div_ceil(4))?;
        let (first, rest) = dwords.split_first()?;
        if *first != SEVERAL && rest.iter().all(|writer| writer == first) {
            return Some(match *first {
                NOBODY => None,
                number => Some(usize::try_from(number - 1).ok()?),
            });
        }
        let steps = code.steps.get(before.saturating_sub(MOST_BEFORE)..before)?;
        let straight = steps
            .iter()
            .rev()
            .take_while(|step| matches!(step.action, Action::Compute(_) | Action::Message(_)));
        let meets = |written: Range<usize>| written.start < bytes.end && bytes.start < written.end;
        for (back, step) in (1..).zip(straight) {
            if step.written()?.any(meets) {
                return Some(Some(before - back));
            }
        }
        None
    }
}
