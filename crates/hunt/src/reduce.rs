//! The reducer: makes a program smaller while a test still says yes.

use crate::ast::Program;
use crate::edit;
use crate::evaluate::evaluate;

/// Programs that are tested at once.
const AT_ONCE: usize = 12;

/// The progress of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reduction {
    /// Programs that were tested.
    pub tests: usize,
    /// Programs that were smaller and passed.
    pub kept: usize,
}

/// The smallest program found for which the test says yes. It is given up to some programs at once, all of which have a
/// result, and answers with the number of the first one that passes. After `most` tests the smallest one so far is the
/// result.
pub fn reduce(
    program: &Program,
    most: usize,
    test: &mut dyn FnMut(&[Program]) -> Option<usize>,
) -> (Program, Reduction) {
    let mut reducer = Reducer {
        best: program.clone(),
        progress: Reduction::default(),
        most,
        test,
    };
    reducer.try_all(vec![edit::pruned(program)]);
    loop {
        let before = reducer.best.clone();
        reducer.pass(edit::fewer_outputs);
        for size in [16, 8, 4, 2, 1] {
            reducer.pass(|p| edit::fewer_statements(p, size));
        }
        reducer.pass(edit::flatter);
        reducer.pass(edit::narrower);
        reducer.pass(edit::simpler_expressions);
        reducer.pass(edit::simpler_data);
        if reducer.best == before || reducer.progress.tests >= most {
            return (reducer.best, reducer.progress);
        }
    }
}

struct Reducer<'t> {
    best: Program,
    progress: Reduction,
    most: usize,
    test: &'t mut dyn FnMut(&[Program]) -> Option<usize>,
}

impl Reducer<'_> {
    /// Applies changes of a kind as long as one of them passes.
    fn pass(&mut self, changes: impl Fn(&Program) -> Vec<Program>) {
        let mut skip = 0;
        loop {
            let all = changes(&self.best).into_iter().skip(skip).collect();
            match self.try_all(all) {
                // Those before were refused, and most of them would be again.
                Some(at) => skip += at,
                None if skip == 0 => return,
                None => skip = 0,
            }
            if self.progress.tests >= self.most {
                return;
            }
        }
    }

    /// Takes the first one that passes.
    fn try_all(&mut self, candidates: Vec<Program>) -> Option<usize> {
        let candidates = candidates.into_iter().enumerate();
        let mut candidates = candidates.filter_map(|(at, candidate)| {
            let candidate = edit::pruned(&candidate);
            let good = edit::is_well_formed(&candidate) && evaluate(&candidate).is_ok();
            (good && candidate != self.best).then_some((at, candidate))
        });
        loop {
            let some: Vec<_> = candidates.by_ref().take(AT_ONCE).collect();
            if some.is_empty() || self.progress.tests >= self.most {
                return None;
            }
            let (places, programs): (Vec<usize>, Vec<Program>) = some.into_iter().unzip();
            self.progress.tests += programs.len();
            if let Some(passed) = (self.test)(&programs)
                && let Some(program) = programs.get(passed)
            {
                self.progress.kept += 1;
                let program = program.clone();
                drop(candidates);
                self.best = program;
                return places.get(passed).copied();
            }
        }
    }
}
