//! Debugging changes nothing, and going back restores the exact state.

use crate::{bare, blur, case, cases};
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

/// A run to the end has the same result as one without a debugger.
#[test]
fn control_changes_nothing() {
    for path in cases() {
        let alone = Case::open(&path).unwrap();
        let alone = alone.run(false, &Config::default()).unwrap();
        assert!(alone.difference.is_none());
        let mut session = case(&path);
        assert_eq!(*session.go_on().unwrap(), Stop::Ended, "{}", path.display());
        for buffer in session.target().buffers() {
            let argument = buffer.argument.unwrap();
            let all = session.read(MemorySpace::Buffer(buffer.buffer), 0, buffer.bytes);
            let same = alone.outcome.memory(argument) == Some(all.as_slice());
            assert!(same, "{} argument {}", path.display(), argument);
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

/// Going back finds the last hit that running forward found.
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

/// A change is part of history, and of what follows.
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

/// Along the whole run, across the ends of groups and the waits of threads: every instruction is one step, its effects
/// are reported, and going back leads through the same states.
#[test]
fn one_line_of_instructions() {
    for path in cases() {
        let mut session = case(&path);
        session.go_on().unwrap();
        let all = session.ran();
        // The ends of groups, and some moments between.
        let mut near = vec![1, 2, 3, all - 1, all];
        let mut sum = 0;
        let mut walk = case(&path);
        for group in 1..session.target().groups().min(4) {
            walk.go_to(Time { group, step: 0 }).unwrap();
            sum = walk.ran();
            near.extend([sum - 1, sum, sum + 1]);
        }
        assert!(sum < all);
        near.extend((1..8).map(|n| all * n / 8));
        near.retain(|n| (1..=all).contains(n));
        near.sort_unstable();
        near.dedup();
        let look = |session: &mut Session, at: u64| {
            let deed = session.seek(at).unwrap().unwrap();
            assert_eq!(session.ran(), at, "{}", path.display());
            let told = (deed.thread, deed.place, deed.lanes, deed.accesses.len());
            assert_eq!(session.focus().0, deed.thread);
            (told, state(session), session.variables())
        };
        let mut forward = case(&path);
        let seen: Vec<_> = near.iter().map(|at| look(&mut forward, *at)).collect();
        assert_eq!(*forward.stop(), Stop::Ended);
        assert!(forward.seek(all + 7).unwrap().is_none());
        assert_eq!((forward.ran(), forward.stop()), (all, &Stop::Ended));
        for (at, seen) in near.iter().zip(&seen).rev() {
            assert_eq!(look(&mut forward, *at), *seen, "{} {at}", path.display());
        }
        // The effects of each instruction are the same however it was reached.
        for (at, seen) in near.iter().zip(&seen) {
            assert_eq!(look(&mut session, *at), *seen, "{} {at}", path.display());
        }
        assert!(session.seek(0).unwrap().is_none());
        assert_eq!(
            (session.time(), session.stop()),
            (Time::default(), &Stop::Start)
        );
    }
}

/// A run to a place goes through it, and on to its next time.
#[test]
fn through_a_place() {
    let mut console = bare(LOOP, &[]);
    let session = &mut console.session;
    let place = session.places("3").unwrap()[0];
    let mut times = Vec::new();
    while let Some(deed) = session.run_through(place, 1000).unwrap() {
        assert_eq!(deed.place, place);
        times.push(session.ran());
    }
    assert_eq!(*session.stop(), Stop::Ended);
    assert_eq!(times.len(), 5, "{times:?}");
    let whole = session.ran();
    session.seek(0).unwrap();
    assert!(session.run_through(place, 1).unwrap().is_none());
    assert!(session.ran() < whole);
}

/// A fault is stood before, as often as it is come to.
#[test]
fn a_fault_is_no_step() {
    let text = LOOP.replace(
        "ret (M1, 1)",
        "raw_sends.15.1.0.0 (M1, 1) 0x0:ud 0x0:ud %null.0 %null.0 %null.0\n    ret (M1, 1)",
    );
    let mut console = bare(&text, &[]);
    let session = &mut console.session;
    session.go_on().unwrap();
    assert!(
        matches!(session.stop(), Stop::Fault(_)),
        "{:?}",
        session.stop()
    );
    let (at, before) = (session.ran(), state(session));
    assert!(session.seek(at + 1).unwrap().is_none());
    assert!(matches!(session.stop(), Stop::Fault(_)));
    assert_eq!((session.ran(), state(session)), (at, before));
    assert!(session.seek(at - 1).unwrap().is_some());
    assert!(session.seek(at).unwrap().is_some());
    assert_eq!((session.ran(), state(session)), (at, before));
}

const LOOP: &str = r#".version 4.1
.kernel "k"
.decl N v_type=G type=d num_elts=1
.decl GO v_type=P num_elts=1
    mov (M1, 1) N(0,0)<1> 0x0:d
    mov (M1, 1) N(0,0)<1> 0x0:d
L:
    add (M1, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:d
    cmp.lt (M1, 1) GO N(0,0)<0;1,0> 0x5:d
    (GO) jmp (M1, 1) L
    ret (M1, 1)
"#;
