//! Control changes nothing, and going back gives the very state that there was.

use crate::{blur, case, cases};
use std::hash::{DefaultHasher, Hash, Hasher};
use visakit_debug::{Expression, MemorySpace, Session, Step, Stop, Time};
use visakit_launch::{Case, Config};

/// Everything that a program can see: registers, places, local memory, scratch, buffers.
fn state(session: &Session) -> u64 {
    let mut hash = DefaultHasher::new();
    session.time().hash(&mut hash);
    for (number, thread) in session.group().threads().iter().enumerate() {
        thread.registers().hash(&mut hash);
        thread.scratch().hash(&mut hash);
        thread.calls().len().hash(&mut hash);
        let position = session.position(number);
        format!("{:?}{position:?}", thread.state()).hash(&mut hash);
    }
    session.group().slm().hash(&mut hash);
    let memory = session.target().memory();
    for buffer in memory.buffers() {
        memory.read(buffer).hash(&mut hash);
    }
    hash.finish()
}

/// A run to the end leaves what a run without a debugger leaves.
#[test]
fn control_changes_nothing() {
    for path in cases() {
        let alone = Case::open(&path).unwrap();
        let alone = alone.run(false, &Config::default()).unwrap();
        assert!(alone.difference.is_none());
        let mut session = case(&path);
        assert_eq!(*session.go_on().unwrap(), Stop::Ended, "{}", path.display());
        for buffer in session.target().buffers() {
            let all = session.read(MemorySpace::Buffer(buffer.buffer), 0, buffer.bytes);
            let same = alone.outcome.memory(buffer.argument) == Some(all.as_slice());
            assert!(same, "{} argument {}", path.display(), buffer.argument);
        }
        // And again, from the beginning.
        let end = state(&session);
        session.go_to(Time::default()).unwrap();
        session.go_on().unwrap();
        assert_eq!(state(&session), end, "{}", path.display());
    }
}

/// The state at a moment is the same whichever way it is come to.
#[test]
fn moments_are_exact() {
    for path in cases() {
        let mut session = case(&path);
        session.go_on().unwrap();
        let end = session.time();
        let moments: Vec<_> = (0..12_u64)
            .map(|n| Time {
                group: end.group * n / 11,
                step: (end.step * ((n * 7) % 11) / 11).min(end.step.saturating_sub(1)),
            })
            .collect();
        let mut forward: Vec<_> = moments.clone();
        forward.sort();
        let mut fresh = case(&path);
        let mut seen = std::collections::HashMap::new();
        for moment in forward {
            fresh.go_to(moment).unwrap();
            assert!(fresh.time() <= moment);
            seen.insert(moment, state(&fresh));
        }
        for moment in moments {
            session.go_to(moment).unwrap();
            assert_eq!(
                state(&session),
                seen[&moment],
                "{} {moment:?}",
                path.display()
            );
        }
    }
}

/// Steps back undo steps.
#[test]
fn steps_back_undo_steps() {
    for path in cases() {
        let mut session = case(&path);
        let mut seen = Vec::new();
        for _ in 0..200 {
            seen.push((session.time(), state(&session)));
            if *session.step(Step::Instruction).unwrap() != Stop::Step {
                break;
            }
        }
        // Steps of one thread, which may have ended.
        session.look_at(0, 0).unwrap();
        while let Some((time, before)) = seen.pop() {
            session.step_back(Step::Instruction).unwrap();
            session.look_at(0, 0).unwrap();
            if session.time() == time {
                assert_eq!(state(&session), before, "{} {time:?}", path.display());
            } else {
                // Labels before the first instruction.
                assert!(seen.is_empty(), "{} {time:?}", path.display());
            }
        }
    }
}

/// Lines are stepped back to as they were stepped through, whatever threads do between.
#[test]
fn lines_back_and_forth() {
    let mut session = blur().session;
    let mut seen = Vec::new();
    while let Stop::Step = session.step(Step::OverLine).unwrap() {
        seen.push((session.time(), state(&session)));
    }
    assert!(seen.len() >= 8, "{}", seen.len());
    let (last, _) = seen.pop().unwrap();
    session.go_to(last).unwrap();
    session.look_at(0, 0).unwrap();
    for (time, before) in seen.into_iter().rev() {
        assert_eq!(*session.step_back(Step::OverLine).unwrap(), Stop::Step);
        assert_eq!(session.time(), time);
        assert_eq!(state(&session), before);
    }
}

/// Going back finds the last of what going on found.
#[test]
fn breakpoints_backwards() {
    let mut console = blur();
    console.run("break :15").unwrap();
    console.run("awatch out[70]").unwrap();
    let mut stops = Vec::new();
    loop {
        let stop = console.session.go_on().unwrap().clone();
        if stop == Stop::Ended {
            break;
        }
        stops.push((console.session.time(), stop, state(&console.session)));
    }
    assert_eq!(stops.len(), 5);
    for (time, stop, before) in stops.into_iter().rev() {
        assert_eq!(*console.session.go_back().unwrap(), stop);
        assert_eq!(console.session.time(), time);
        assert_eq!(state(&console.session), before);
    }
    assert_eq!(*console.session.go_back().unwrap(), Stop::Beginning);
}

/// A change is a part of history, and of what follows.
#[test]
fn changes_last() {
    let mut console = blur();
    let at = |console: &mut visakit_debug::Console, text: &str| {
        let value = console.session.evaluate(&Expression::parse(text).unwrap());
        value.unwrap().to_string()
    };
    console.run("until 103").unwrap();
    console.run("set slm.f[1] = 100").unwrap();
    let changed = console.session.time();
    console.run("continue").unwrap();
    // 0.25 * 0 + 0.5 * 100 + 0.25 * 1
    assert_eq!(at(&mut console, "out[0]"), "50.25");
    console.run("restart").unwrap();
    assert_eq!(at(&mut console, "slm.f[1]"), "0");
    console.run("continue").unwrap();
    assert_eq!(at(&mut console, "out[0]"), "50.25");
    // A change before it makes another future.
    console
        .session
        .go_to(Time {
            step: changed.step - 20,
            ..changed
        })
        .unwrap();
    console.run("set out[5] = 7").unwrap();
    console.run("continue").unwrap();
    assert_eq!(at(&mut console, "out[0]"), "0.25");
}
