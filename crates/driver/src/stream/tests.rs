//! Tests of streams.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use super::*;
use crate::models::MODELS;
use proptest::prelude::*;
use std::sync::atomic::Ordering::SeqCst;

/// A command: its stream, what it waits for (signals of the host, commands before it), whether it fails.
#[derive(Clone, Debug)]
struct Plan {
    stream: usize,
    hosts: Vec<usize>,
    before: Vec<prop::sample::Index>,
    after: Vec<prop::sample::Index>,
    fails: bool,
}

/// Streams with an order, and then as many without.
const ORDERED: usize = 2;
const STREAMS: usize = 2 * ORDERED;
const HOSTS: usize = 2;
const LEVELS: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];
const REFUSED: Code = Code(-14);

impl Plan {
    /// The commands that some of its numbers mean, of those before the one with a number.
    fn earlier(those: &[prop::sample::Index], number: usize) -> Vec<usize> {
        let those = those.iter().filter(|_| number > 0);
        those.map(|index| index.index(number)).collect()
    }

    /// Streams with odd numbers refuse with a code of their own.
    fn refused(&self) -> Option<Code> {
        (self.stream % 2 == 1).then_some(REFUSED)
    }
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let some = || prop::collection::vec(any::<prop::sample::Index>(), 0..3);
    let hosts = prop::collection::vec(0..HOSTS, 0..2);
    let plan = (0..STREAMS, hosts, some(), some(), prop::bool::weighted(0.2));
    let plan = plan.prop_map(|(stream, hosts, before, after, fails)| Plan {
        stream,
        hosts,
        before,
        after,
        fails,
    });
    prop::collection::vec(plan, 1..16)
}

fn device() -> Arc<Device> {
    Arc::new(Device::of(&MODELS[0]).unwrap())
}

fn set(signal: &Signal, result: Result<()>) {
    let times = Times::default();
    signal.set(Ended { result, times });
}

/// What depends on signals of the host.
fn blocked(plans: &[Plan]) -> Vec<bool> {
    let mut blocked: Vec<bool> = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        let mut same = plans
            .iter()
            .zip(&blocked)
            .filter(|(other, _)| other.stream == plan.stream);
        let in_order = plan.stream < ORDERED && same.any(|(_, blocked)| *blocked);
        let all = [&plan.before, &plan.after].map(|those| Plan::earlier(those, number));
        let waits = all.iter().flatten().any(|n| blocked[*n]);
        blocked.push(in_order || waits || !plan.hosts.is_empty());
    }
    blocked
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Commands run after what they wait for, in the order of their stream if that has one, once; and not at all where
    /// what they wait for failed.
    #[test]
    fn commands_run_in_order(plans in plans(), bad: [bool; HOSTS], turned: bool, levels: [u8; STREAMS]) {
        let device = device();
        let streams: Vec<_> = (0..STREAMS)
            .map(|n| Stream::with(&device, LEVELS[usize::from(levels[n]) % 3], n < ORDERED))
            .collect();
        let hosts: Vec<Arc<Signal>> = (0..HOSTS).map(|_| Arc::default()).collect();
        let ends: Vec<Arc<Signal>> = plans.iter().map(|_| Arc::default()).collect();
        let log = Arc::new(Mutex::new(Vec::new()));
        for (number, plan) in plans.iter().enumerate() {
            let (ours, fails) = (Arc::clone(&log), plan.fails);
            let ends_of = |those| Plan::earlier(those, number).into_iter().map(|n| Arc::clone(&ends[n]));
            let of_host = plan.hosts.iter().map(|n| Arc::clone(&hosts[*n]));
            streams[plan.stream].push([Command {
                waits: of_host.chain(ends_of(&plan.before)).collect(),
                after: ends_of(&plan.after).collect(),
                refused: plan.refused(),
                action: Some(action(move || {
                    lock(&ours).push(number);
                    if fails { fail(1) } else { Ok(()) }
                })),
                sets: Some(Arc::clone(&ends[number])),
            }]);
        }
        for (end, blocked) in ends.iter().zip(blocked(&plans)) {
            if blocked {
                prop_assert!(end.ended().is_none());
            } else {
                prop_assert!(end.wait(None).is_some());
            }
        }
        let result = |host: usize| if bad[host] { fail(2) } else { Ok(()) };
        for host in 0..HOSTS {
            let host = if turned { HOSTS - 1 - host } else { host };
            set(&hosts[host], result(host));
        }
        let (mut good, mut ran) = (Vec::new(), Vec::new());
        for (number, plan) in plans.iter().enumerate() {
            let before = Plan::earlier(&plan.before, number);
            ran.push(before.iter().all(|n| good[*n]) && plan.hosts.iter().all(|host| !bad[*host]));
            good.push(ran[number] && !plan.fails);
            let ended = ends[number].wait(None).unwrap();
            prop_assert_eq!(ended.result.is_ok(), good[number]);
            if plan.refused().is_some() {
                prop_assert_eq!(ended.result == Err(REFUSED), !ran[number]);
            }
            prop_assert!(ended.times.ended >= ended.times.started);
        }
        for (which, stream) in streams.iter().enumerate() {
            let all = || plans.iter().enumerate().filter(move |(_, plan)| plan.stream == which);
            let fails = all().any(|(n, plan)| !good[n] && (ran[n] || plan.refused().is_none()));
            prop_assert_eq!(stream.wait(None).unwrap().is_err(), fails);
            prop_assert!(stream.is_idle());
            // It was told.
            prop_assert!(stream.wait(None).unwrap().is_ok());
            let wanted: Vec<_> = all().map(|(number, _)| number).filter(|n| ran[*n]).collect();
            let log = lock(&log).clone();
            let mut seen: Vec<_> = log.into_iter().filter(|n| plans[*n].stream == which).collect();
            if which >= ORDERED {
                seen.sort_unstable();
            }
            prop_assert_eq!(seen, wanted);
        }
        let log = lock(&log).clone();
        for (place, number) in log.iter().enumerate() {
            for those in [&plans[*number].before, &plans[*number].after] {
                for wait in Plan::earlier(those, *number) {
                    prop_assert!(!ran[wait] || log[..place].contains(&wait));
                }
            }
        }
    }
}

#[test]
fn limits_end_waiting() {
    let signal = Arc::new(Signal::default());
    let stream = Stream::new(&device());
    stream.push([Command {
        waits: vec![Arc::clone(&signal)],
        ..Command::default()
    }]);
    let short = Some(Duration::from_millis(5));
    assert_eq!(stream.wait(short), None);
    assert_eq!(signal.wait(short), None);
    assert!(!stream.is_idle());
    // It lasts as long as something may still run, and no longer.
    let shared = Arc::downgrade(&stream.0);
    drop(stream);
    assert_eq!(shared.strong_count(), 1);
    drop(signal);
    // The command, which nothing can make ready any more, fails first.
    let end = Instant::now() + Duration::from_secs(60);
    while shared.strong_count() > 0 {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Who catches up waits for what runs, however many commands that are, and not for ever for what waits for the caller.
#[test]
fn catching_up() {
    let stream = Stream::new(&device());
    let slow = |of: u64| Command {
        action: Some(action(move || {
            std::thread::sleep(Duration::from_millis(of));
            Ok(())
        })),
        ..Command::default()
    };
    stream.push((0..8).map(|_| slow(5)));
    stream.catch_up(Duration::from_secs(60));
    assert!(stream.is_idle());
    // One that the host sets.
    let go = Arc::new(Signal::default());
    let waits = vec![Arc::clone(&go)];
    stream.push([
        slow(1),
        Command {
            waits,
            ..Command::default()
        },
    ]);
    stream.catch_up(Duration::from_secs(3600));
    assert!(!stream.is_idle());
    set(&go, Ok(()));
    assert_eq!(stream.wait(None), Some(Ok(())));
    // What waits for another stream, and then runs for longer than one waits for signals.
    let go = Arc::new(Signal::default());
    let waits = vec![Arc::clone(&go)];
    stream.push([Command {
        waits,
        ..slow(1_500)
    }]);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            set(&go, Ok(()));
        });
        stream.catch_up(Duration::from_secs(60));
        assert!(stream.is_idle());
    });
    // One that runs until the host does something, and fails: that is told to who waits for it.
    let last = Arc::new(Signal::default());
    let host = Arc::clone(&last);
    stream.push([Command {
        action: Some(action(move || {
            host.wait(None).map_or(fail(3), |ended| ended.result)
        })),
        ..Command::default()
    }]);
    stream.catch_up(Duration::from_millis(20));
    assert!(!stream.is_idle());
    set(&last, fail(4));
    stream.catch_up(Duration::from_secs(60));
    assert_eq!(stream.wait(None), Some(fail(4)));
}

/// Who puts in commands without an end is held up; but not forever by one that waits for just that.
#[test]
fn streams_are_not_filled_without_limit() {
    let (stream, count) = (Stream::new(&device()), Arc::new(AtomicUsize::new(0)));
    let go = Arc::new(Signal::default());
    let slow = |of: Duration| {
        let count = Arc::clone(&count);
        Command {
            action: Some(action(move || {
                std::thread::sleep(of);
                count.fetch_add(1, AcqRel);
                Ok(())
            })),
            ..Command::default()
        }
    };
    for _ in 0..3 * AHEAD {
        stream.push([slow(Duration::from_micros(1))]);
        assert!(lock(&stream.0.state).open <= AHEAD + 1);
    }
    assert_eq!(stream.wait(None), Some(Ok(())));
    assert_eq!(count.load(SeqCst), 3 * AHEAD);
    // Commands that wait for the host do not hold it up.
    stream.push([Command {
        waits: vec![Arc::clone(&go)],
        ..Command::default()
    }]);
    (0..2 * AHEAD).for_each(|_| stream.push([slow(Duration::ZERO)]));
    assert_eq!(count.load(SeqCst), 3 * AHEAD);
    set(&go, Ok(()));
    assert_eq!(stream.wait(None), Some(Ok(())));
    assert_eq!(count.load(SeqCst), 5 * AHEAD);
    // Nor does one that runs until more commands are there.
    let last = Arc::new(Signal::default());
    let waits = Arc::clone(&last);
    stream.push([Command {
        action: Some(action(move || {
            waits.wait(None).map_or(fail(3), |ended| ended.result)
        })),
        ..Command::default()
    }]);
    (0..=AHEAD).for_each(|_| stream.push([slow(Duration::ZERO)]));
    set(&last, Ok(()));
    assert_eq!(stream.wait(None), Some(Ok(())));
}

/// Commands that wait for nothing are settled; what waits for the host is not waited for.
#[test]
fn settling() {
    let (go, stop) = (Arc::new(Signal::default()), Arc::new(Signal::default()));
    let streams = [
        Stream::new(&device()),
        Stream::with(&device(), Priority::Normal, false),
    ];
    for (place, stream) in streams.iter().enumerate() {
        let stops = Arc::clone(&stop);
        stream.push([Command {
            action: (place == 0).then(|| {
                action(move || {
                    stops.wait(None);
                    Ok(())
                })
            }),
            ..Command::default()
        }]);
        stream.push([Command {
            waits: vec![Arc::clone(&go)],
            ..Command::default()
        }]);
    }
    assert!(!settle(Duration::from_millis(20)));
    assert_eq!(lock(&streams[0].0.state).open, 2);
    set(&stop, Ok(()));
    // Other tests have streams, too, which come to an end.
    while lock(&streams[0].0.state).active > 0 {
        settle(Duration::from_secs(60));
    }
    assert_eq!(lock(&streams[0].0.state).open, 1);
    set(&go, Ok(()));
    assert!(
        streams
            .iter()
            .all(|stream| stream.wait(None) == Some(Ok(())))
    );
}

/// Where one signal makes commands of many streams ready, the most urgent ones run first, whenever they were put in.
#[test]
fn urgent_commands_go_first() {
    for turned in [false, true] {
        let (device, go) = (device(), Arc::new(Signal::default()));
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut levels = [LEVELS, LEVELS, LEVELS].concat();
        if turned {
            levels.reverse();
        }
        let streams: Vec<_> = levels
            .into_iter()
            .map(|level| {
                let stream = Stream::with(&device, level, true);
                let log = Arc::clone(&log);
                stream.push([Command {
                    waits: vec![Arc::clone(&go)],
                    action: Some(action(move || {
                        lock(&log).push(level);
                        Ok(())
                    })),
                    ..Command::default()
                }]);
                stream
            })
            .collect();
        set(&go, Ok(()));
        for stream in &streams {
            assert_eq!(stream.wait(None), Some(Ok(())));
        }
        let log = lock(&log);
        assert!(log.is_sorted_by(|a, b| a >= b), "{log:?}");
    }
}

/// An urgent command may wait in its kernel for what many others do, one after the other and in streams of their own: nobody
/// is held up more than once.
#[test]
fn urgent_commands_may_wait_for_others() {
    let (device, done) = (device(), Arc::new(Signal::default()));
    let urgent = Stream::with(&device, Priority::High, true);
    let waits = Arc::clone(&done);
    urgent.push([Command {
        action: Some(action(move || {
            waits.wait(None).map_or(fail(3), |ended| ended.result)
        })),
        ..Command::default()
    }]);
    let began = Instant::now();
    for number in 0..40 {
        let other = Stream::with(&device, LEVELS[number % 2], true);
        other.push([Command::default(), Command::default()]);
        assert_eq!(other.wait(None), Some(Ok(())));
    }
    assert!(began.elapsed() < 20 * STALL);
    set(&done, Ok(()));
    assert_eq!(urgent.wait(None), Some(Ok(())));
}

/// What waits for idle streams is called after their commands, and does not hold who asks unless it is told to.
#[test]
fn idle_streams_are_waited_for() {
    let (go, stream) = (Arc::new(Signal::default()), Stream::new(&device()));
    let log = Arc::new(Mutex::new(Vec::new()));
    let noted = |what: &'static str| {
        let log = Arc::clone(&log);
        move || lock(&log).push(what)
    };
    let command = noted("command");
    stream.push([Command {
        waits: vec![Arc::clone(&go)],
        action: Some(Arc::new(move || {
            command();
            (Ok(()), None)
        })),
        ..Command::default()
    }]);
    let called = Arc::new(Signal::default());
    let (later, theirs) = (noted("later"), Arc::clone(&called));
    let ended = Ended {
        result: Ok(()),
        times: Times::default(),
    };
    when_idle(false, move || {
        later();
        theirs.set(ended);
    });
    assert_eq!(*lock(&log), [""; 0]);
    go.set(ended);
    when_idle(true, noted("blocking"));
    assert!(called.wait(Some(Duration::from_secs(60))).is_some());
    let log = lock(&log).clone();
    assert_eq!((log.len(), log[0]), (3, "command"));
}

/// A command that waits for what nobody can set any more fails, and those after it run.
#[test]
fn nothing_waits_for_what_is_gone() {
    let (stream, done) = (Stream::new(&device()), Arc::new(Signal::default()));
    let gone = Command {
        waits: vec![Arc::default()],
        ..Command::default()
    };
    let next = Command {
        sets: Some(Arc::clone(&done)),
        ..Command::default()
    };
    stream.push([gone, next]);
    let limit = Some(Duration::from_secs(60));
    assert!(done.wait(limit).is_some_and(|ended| ended.result.is_ok()));
    assert_eq!(stream.wait(limit), Some(Err(Code(cl::CL_OUT_OF_RESOURCES))));
}

/// What is only to have ended, whatever became of it, may be gone.
#[test]
fn what_is_gone_has_ended() {
    let (stream, other) = (Stream::new(&device()), Arc::new(Signal::default()));
    let done = Arc::new(Signal::default());
    stream.push([Command {
        waits: vec![Arc::clone(&other)],
        after: vec![Arc::default()],
        sets: Some(Arc::clone(&done)),
        ..Command::default()
    }]);
    assert!(done.wait(Some(Duration::from_millis(5))).is_none());
    set(&other, Ok(()));
    let limit = Some(Duration::from_secs(60));
    assert!(done.wait(limit).is_some_and(|ended| ended.result.is_ok()));
    assert_eq!(stream.wait(limit), Some(Ok(())));
}

/// All streams of a device are waited for, those of others are not; a failure is told once.
#[test]
fn devices_are_waited_for() {
    let (one, other) = (device(), device());
    let streams = [&one, &one, &other].map(Stream::new);
    let go = Arc::new(Signal::default());
    let never = Arc::new(Signal::default());
    for (stream, (signal, code)) in streams.iter().zip([(&go, 0), (&go, -5), (&never, 0)]) {
        stream.push([Command {
            waits: vec![Arc::clone(signal)],
            action: Some(action(move || crate::error::ensure(code == 0, code))),
            ..Command::default()
        }]);
    }
    let host = Arc::clone(&go);
    let setting = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        set(&host, Ok(()));
    });
    assert_eq!(wait_for_device(&one), Err(Code(-5)));
    assert!(streams[0].is_idle() && streams[1].is_idle() && !streams[2].is_idle());
    assert_eq!(wait_for_device(&one), Ok(()));
    assert_eq!(streams[1].wait(None), Some(Ok(())));
    setting.join().unwrap();
    set(&never, Ok(()));
    assert_eq!(wait_for_device(&other), Ok(()));
}

/// A defect of an action is an error of its command, not of those after it.
#[test]
fn panics_are_errors() {
    let stream = Stream::new(&device());
    let (first, second) = (Arc::new(Signal::default()), Arc::new(Signal::default()));
    stream.push([
        Command {
            action: Some(Arc::new(|| {
                let none: [u8; 0] = [];
                (Ok(()), Some(f64::from(none[std::hint::black_box(1)])))
            })),
            sets: Some(Arc::clone(&first)),
            ..Command::default()
        },
        Command {
            sets: Some(Arc::clone(&second)),
            ..Command::default()
        },
    ]);
    assert!(first.wait(None).unwrap().result.is_err());
    assert!(second.wait(None).unwrap().result.is_ok());
    assert!(stream.wait(None).unwrap().is_err());
}
