//! A segment: what a program does from a cutpoint to the next ones, on terms.

use super::cuts::effective;
use super::events::{Event, Events, Loads};
use super::solve::One;
use crate::machine::Machine;
use crate::term::{Term, Terms};
use crate::thread::{Mask, Pause, Thread};
use crate::unknown::Unknown;
use hashbrown::HashSet;
use std::collections::BTreeMap;
use visakit_exec::code::{Action, Step};

/// What a segment leaves.
pub(super) struct Segment {
    /// The cells of registers.
    pub(super) cells: Vec<Term>,
    pub(super) events: Vec<Event>,
    /// Numbers of what was loaded, and under which condition.
    pub(super) loaded: HashSet<(u32, Term)>,
    /// Lanes that come to each cutpoint, where some may.
    pub(super) lanes: BTreeMap<usize, Mask>,
}

/// Runs a thread from a cutpoint to the next ones. Lanes that wait at others have no part in it.
pub(super) fn run(
    machine: &mut Machine<'_>,
    one: &One<'_>,
    mut thread: Thread,
    loads: &mut Loads,
) -> Result<Segment, Unknown> {
    let (cuts, layout) = (one.cuts(), &one.layout);
    let code = machine.program().code();
    let mut events = Events::new(loads);
    let mut is_first = true;
    while thread.pause == Pause::None {
        let here = effective(code, thread.place);
        if !is_first && cuts.at(here).is_some() {
            let running = thread.running;
            thread.park(machine.terms, here, &running);
            break;
        }
        is_first = false;
        let Some(step) = code.steps.get(thread.place) else {
            return Err(Unknown::new("the code has no end"));
        };
        machine.count()?;
        machine.meet(&mut thread);
        act(machine, &mut thread, step, &mut events).map_err(|unknown| {
            let routine = code.routines.get(step.origin.routine as usize);
            let name = routine.map_or("", |routine| &routine.name);
            unknown.at(name, step.origin.instruction)
        })?;
    }
    if !thread.frames.is_empty() {
        return Err(Unknown::new("a loop in a function that is called"));
    }
    let mut lanes: BTreeMap<usize, Mask> = BTreeMap::new();
    for (place, mask) in &thread.waiting {
        let Some(cut) = cuts.at(effective(code, *place)) else {
            return Err(Unknown::new(
                "lanes wait at a place that the other kernel does not have",
            ));
        };
        let all = lanes.get(&cut).copied();
        let all = all.map_or(*mask, |all| {
            Thread::zip(machine.terms, &all, mask, Terms::or)
        });
        lanes.insert(cut, all);
    }
    Ok(Segment {
        cells: layout.cells(machine.terms, thread.file, thread.mode),
        events: events.all,
        loaded: events.loaded,
        lanes,
    })
}

/// Runs a step.
fn act(
    machine: &mut Machine<'_>,
    thread: &mut Thread,
    step: &Step,
    events: &mut Events<'_>,
) -> Result<(), Unknown> {
    let message = match &step.action {
        Action::Message(message) => Some(&**message),
        Action::Barrier | Action::Signal | Action::Wait => None,
        _ => return machine.step(thread, step),
    };
    events.step(machine, thread, step, message)?;
    thread.place += 1;
    Ok(())
}
