//! Makes an object smaller while it keeps a property.
//!
//! [`reduce`] takes the bytes of a file and a test. It removes routines, native code, attributes, instructions and
//! declarations, simplifies the rest, and keeps each change after which the test still succeeds. Nothing it tries is
//! invalid in itself: indices are adjusted when a declaration is removed. A file that cannot be read as an object loses
//! bytes instead.
//!
//! ```
//! use visakit_smith::{Config, from_seed};
//!
//! let bytes = visakit_encode::write(&from_seed(3, &Config::default()))?;
//! // Still interesting: more than one instruction.
//! let mut test = |candidate: &[u8]| {
//!     let object = visakit_parse::read(candidate).ok();
//!     let kernel = object.as_ref().and_then(|o| o.kernels.first()?.body());
//!     kernel.is_some_and(|body| body.code.len() > 1)
//! };
//! let small = visakit_rewrite::reduce(&bytes, &mut test, &mut |_| {}).unwrap();
//! let object = visakit_parse::read(&small).unwrap();
//! assert_eq!(object.kernels[0].body().unwrap().code.len(), 2);
//! # Ok::<(), visakit_encode::Error>(())
//! ```

mod delta;
mod simpler;

use crate::{Editor, Reference, Table};
pub use delta::minimise;
use std::fmt;
use visakit_isa::object::{Arrangement, Body, Item, Object, RoutineId};
use visakit_parse::ReadOptions;

/// The progress of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Tests that were run.
    pub tests: u64,
    /// Tests that said yes.
    pub kept: u64,
    /// Bytes of the smallest file so far.
    pub bytes: usize,
    /// The current step.
    pub step: &'static str,
}

/// The input itself does not pass the test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotInteresting;

impl fmt::Display for NotInteresting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the test says no to the input itself, so there is nothing to keep")
    }
}

impl std::error::Error for NotInteresting {}

/// The smallest file found for which `test` succeeds. `progress` is notified of every test.
///
/// The number of tests grows with the number of instructions times its logarithm if the test accepts removals, and with
/// its square at worst.
///
/// # Errors
/// The test says no to `bytes`.
pub fn reduce(
    bytes: &[u8],
    test: &mut dyn FnMut(&[u8]) -> bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<u8>, NotInteresting> {
    let mut first = |candidates: &[Vec<u8>]| Answer::of(candidates.iter().position(|c| test(c)));
    reduce_at_once(bytes, 1, &mut first, progress)
}

/// The answer for some candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// This one is the first that passes.
    First(usize),
    /// None of them passes.
    None,
    /// Enough: the smallest file so far is the result.
    Stop,
}

impl Answer {
    /// The first one that passes, if any does.
    #[must_use]
    pub const fn of(first: Option<usize>) -> Self {
        match first {
            Some(first) => Self::First(first),
            None => Self::None,
        }
    }
}

/// A reduction with up to `width` candidates at once, which may be tested in parallel. The result does not depend on the
/// width as long as `first` names the first candidate that passes.
///
/// # Errors
/// The test says no to `bytes`.
pub fn reduce_at_once(
    bytes: &[u8],
    width: usize,
    first: &mut dyn FnMut(&[Vec<u8>]) -> Answer,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<u8>, NotInteresting> {
    let mut trial = Trial {
        ask: first,
        width: width.max(1),
        over: false,
        progress,
        best: bytes.to_vec(),
        state: Progress {
            bytes: bytes.len(),
            step: "input",
            ..Progress::default()
        },
    };
    if trial.first(vec![bytes.to_vec()]).is_none() {
        return Err(NotInteresting);
    }
    let options = ReadOptions {
        lenient: true,
        ..ReadOptions::default()
    };
    let object = visakit_parse::read_with(bytes, options)
        .ok()
        .map(|decoded| decoded.object.into_owned())
        .filter(|object| trial.passes(object));
    match object {
        Some(object) => trial.object(object),
        None => trial.plain_bytes(bytes),
    }
    Ok(trial.best)
}

struct Trial<'t> {
    ask: &'t mut dyn FnMut(&[Vec<u8>]) -> Answer,
    width: usize,
    /// No more tests are run.
    over: bool,
    progress: &'t mut dyn FnMut(Progress),
    best: Vec<u8>,
    state: Progress,
}

impl Trial<'_> {
    /// The first candidate that passes.
    fn first(&mut self, mut candidates: Vec<Vec<u8>>) -> Option<usize> {
        if self.over || candidates.is_empty() {
            return None;
        }
        self.state.tests += candidates.len() as u64;
        (self.progress)(self.state);
        let answer = (self.ask)(&candidates);
        match answer {
            Answer::First(at) if at < candidates.len() => {
                self.best = candidates.swap_remove(at);
                self.state.kept += 1;
                self.state.bytes = self.best.len();
                Some(at)
            }
            Answer::Stop => {
                self.over = true;
                None
            }
            _ => None,
        }
    }

    /// The first candidate that passes of objects, of which some may have no binary form.
    fn first_object(&mut self, candidates: impl Iterator<Item = Object<'static>>) -> Option<usize> {
        if self.over {
            return None;
        }
        let (mut numbers, mut files) = (Vec::new(), Vec::new());
        for (number, object) in candidates.enumerate() {
            if let Ok(bytes) = visakit_encode::write(&object) {
                numbers.push(number);
                files.push(bytes);
            }
        }
        let found = self.first(files)?;
        numbers.get(found).copied()
    }

    fn passes(&mut self, object: &Object<'_>) -> bool {
        !self.over
            && visakit_encode::write(object).is_ok_and(|bytes| self.first(vec![bytes]).is_some())
    }

    /// Keeps the change if it changes something and the test still says yes.
    fn keep<'a>(&mut self, object: &mut Object<'a>, changed: Object<'a>) -> bool {
        let better = changed != *object && self.passes(&changed);
        if better {
            *object = changed;
        }
        better
    }

    /// Rounds of all steps until none of them helps.
    fn object(&mut self, mut object: Object<'static>) {
        loop {
            let before = self.state.kept;
            self.routines(&mut object);
            self.baggage(&mut object);
            for id in ids(&object) {
                self.code(&mut object, id);
                self.declarations(&mut object, id);
            }
            for id in ids(&object) {
                self.simplify(&mut object, id);
            }
            if self.state.kept == before {
                return;
            }
        }
    }

    /// Whole routines. The pieces of the file go back to the usual order.
    fn routines(&mut self, object: &mut Object<'static>) {
        self.state.step = "routines";
        let mut plain = object.clone();
        plain.arrangement = match plain.arrangement {
            Arrangement::Custom(_) => Arrangement::Interleaved,
            other => other,
        };
        plain.routines_mut().for_each(|(_, r)| r.stored.clear());
        self.keep(object, plain);
        let functions = object.functions.clone();
        object.functions = minimise(functions, self.width, &mut |lists| {
            let with = |list: &Vec<_>| Object {
                functions: list.clone(),
                ..object.clone()
            };
            self.first_object(lists.iter().map(with))
        });
        let kernels = object.kernels.clone();
        object.kernels = minimise(kernels, self.width, &mut |lists| {
            let with = |list: &Vec<_>| Object {
                kernels: list.clone(),
                ..object.clone()
            };
            self.first_object(lists.iter().map(with))
        });
        let variables = object.file_variables.clone();
        object.file_variables = minimise(variables, self.width, &mut |lists| {
            let with = |list: &Vec<_>| Object {
                file_variables: list.clone(),
                ..object.clone()
            };
            self.first_object(lists.iter().map(with))
        });
    }

    /// What routines contain besides code and declarations.
    fn baggage(&mut self, object: &mut Object<'static>) {
        self.state.step = "native code and attributes";
        for id in ids(object) {
            let mut changed = object.clone();
            if let Some(routine) = changed.routine_mut(id) {
                routine.binaries.clear();
                routine.variable_relocations.clear();
                routine.function_relocations.clear();
            }
            self.keep(object, changed);
            self.list(object, id, |body| &mut body.attributes);
            self.list(object, id, |body| &mut body.inputs);
            let mut changed = object.clone();
            if let Some(body) = body_mut(&mut changed, id) {
                body.variables.iter_mut().for_each(|v| v.attributes.clear());
                body.labels.iter_mut().for_each(|l| l.attributes.clear());
                let (addresses, predicates) = (&mut body.addresses, &mut body.predicates);
                for table in [
                    addresses,
                    predicates,
                    &mut body.samplers,
                    &mut body.surfaces,
                ] {
                    table.iter_mut().for_each(|d| d.attributes.clear());
                }
            }
            self.keep(object, changed);
        }
    }

    fn code(&mut self, object: &mut Object<'static>, id: RoutineId) {
        self.state.step = "instructions";
        self.list::<Item<'static>>(object, id, |body| &mut body.code);
    }

    /// Makes a list of a routine as short as the test allows.
    fn list<T: Clone>(
        &mut self,
        object: &mut Object<'static>,
        id: RoutineId,
        list: impl for<'b> Fn(&'b mut Body<'static>) -> &'b mut Vec<T>,
    ) {
        let Some(items) = body_mut(object, id).map(|body| list(body).clone()) else {
            return;
        };
        let items = minimise(items, self.width, &mut |lists: &[Vec<T>]| {
            let with = |items: &Vec<T>| {
                let mut changed = object.clone();
                if let Some(body) = body_mut(&mut changed, id) {
                    list(body).clone_from(items);
                }
                changed
            };
            self.first_object(lists.iter().map(with))
        });
        if let Some(body) = body_mut(object, id) {
            *list(body) = items;
        }
    }

    /// Declarations that nothing refers to.
    fn declarations(&mut self, object: &mut Object<'static>, id: RoutineId) {
        self.state.step = "declarations";
        let mut changed = object.clone();
        remove_unused(&mut changed, id);
        self.keep(object, changed);
    }

    /// Simpler instructions in place of those that must stay.
    fn simplify(&mut self, object: &mut Object<'static>, id: RoutineId) {
        self.state.step = "operands";
        let format = object.format();
        let count = body_mut(object, id).map_or(0, |body| body.code.len());
        let count = if self.over { 0 } else { count };
        for index in 0..count {
            for change in simpler::CHANGES {
                let mut changed = object.clone();
                let item = body_mut(&mut changed, id).and_then(|b| b.code.get_mut(index));
                if let Some(Item::Instruction(instruction)) = item {
                    change(instruction, format);
                }
                self.keep(object, changed);
            }
        }
    }

    fn plain_bytes(&mut self, bytes: &[u8]) {
        self.state.step = "bytes";
        minimise(bytes.to_vec(), self.width, &mut |lists| {
            self.first(lists.to_vec())
        });
    }
}

/// Removes the declarations and strings that nothing refers to.
fn remove_unused(object: &mut Object<'_>, id: RoutineId) {
    let Ok(mut editor) = Editor::new(object, id) else {
        return;
    };
    for table in Table::ALL {
        let first = table.first(editor.format());
        let count = u32::try_from(table.len(editor.body())).unwrap_or(0);
        for id in (first..first.saturating_add(count)).rev() {
            // Refused where something refers to the entry.
            let _ = editor.remove(Reference::new(table, id));
        }
    }
}

fn ids(object: &Object<'_>) -> Vec<RoutineId> {
    object.routines().map(|(id, _)| id).collect()
}

fn body_mut<'o, 'a>(object: &'o mut Object<'a>, id: RoutineId) -> Option<&'o mut Body<'a>> {
    object.routine_mut(id)?.body_mut()
}
