//! Streams, signals and their threads in many orders of what happens at once. A wait that nobody ends is a deadlock, which
//! shuttle reports.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use super::*;
use crate::models::MODELS;
use shuttle::thread;
use std::sync::atomic::Ordering::SeqCst;

/// Orders that are tried of each test, at random and with few changes of threads at bad places.
const TIMES: usize = 1_000;
const CHANGES: usize = 3;

fn in_many_orders(test: fn()) {
    shuttle::check_random(test, TIMES);
    shuttle::check_pct(test, TIMES, CHANGES);
}

fn device() -> Arc<Device> {
    Arc::new(Device::of(&MODELS[0]).unwrap())
}

fn set(signal: &Signal, result: Result<()>) {
    let times = Times::default();
    signal.set(Ended { result, times });
}

/// A command that counts what ran.
fn counting(ran: &Arc<AtomicUsize>) -> Command {
    let ran = Arc::clone(ran);
    Command {
        action: Some(action(move || {
            ran.fetch_add(1, SeqCst);
            Ok(())
        })),
        ..Command::default()
    }
}

/// Commands of two streams that wait for the host and for each other all run, once, before who waits goes on.
#[test]
fn streams_wait_for_each_other() {
    in_many_orders(|| {
        let device = device();
        let streams =
            [true, false].map(|is_ordered| Stream::with(&device, Priority::default(), is_ordered));
        let ran = Arc::new(AtomicUsize::new(0));
        let [host, middle] = [0; 2].map(|_| Arc::new(Signal::default()));
        streams[0].push([Command {
            waits: vec![Arc::clone(&host)],
            sets: Some(Arc::clone(&middle)),
            ..counting(&ran)
        }]);
        streams[0].push([counting(&ran)]);
        streams[1].push([Command {
            waits: vec![Arc::clone(&middle), Arc::clone(&host)],
            ..counting(&ran)
        }]);
        let setting = Arc::clone(&host);
        let setter = thread::spawn(move || set(&setting, Ok(())));
        for stream in &streams {
            assert_eq!(stream.wait(None), Some(Ok(())));
            assert!(stream.is_idle());
        }
        assert_eq!(ran.load(SeqCst), 3);
        setter.join().unwrap();
    });
}

/// One signal makes commands of all priorities ready: the most urgent ones run first, in whatever order they were put in, and
/// none waits for ever for others.
#[test]
fn urgent_commands_go_first() {
    in_many_orders(|| {
        let device = device();
        let (log, host) = (Arc::new(Mutex::new(Vec::new())), Arc::default());
        let levels = [Priority::Low, Priority::High, Priority::Normal];
        let streams = levels.map(|level| {
            let stream = Stream::with(&device, level, true);
            let log = Arc::clone(&log);
            stream.push([Command {
                waits: vec![Arc::clone(&host)],
                action: Some(action(move || {
                    lock(&log).push(level);
                    Ok(())
                })),
                ..Command::default()
            }]);
            stream
        });
        set(&host, Ok(()));
        for stream in &streams {
            assert_eq!(stream.wait(None), Some(Ok(())));
        }
        let sorted = [Priority::High, Priority::Normal, Priority::Low];
        assert_eq!(*lock(&log), sorted);
    });
}

/// Of threads that push into one stream each finds its own commands ended when it has waited.
#[test]
fn threads_share_a_stream() {
    in_many_orders(|| {
        let stream = Arc::new(Stream::new(&device()));
        let all = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (stream, all) = (Arc::clone(&stream), Arc::clone(&all));
                thread::spawn(move || {
                    let own = Arc::new(AtomicUsize::new(0));
                    stream.push([counting(&own), counting(&all)]);
                    assert_eq!(stream.wait(None), Some(Ok(())));
                    assert_eq!(own.load(SeqCst), 1);
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(all.load(SeqCst), 2);
    });
}

/// A failure is told once; what waits for it does not run, and nobody waits for ever for a signal that nothing can set.
#[test]
fn failures_and_lost_signals_hold_nobody_up() {
    in_many_orders(|| {
        let device = device();
        let (failing, waiting) = (Stream::new(&device), Stream::new(&device));
        let ran = Arc::new(AtomicUsize::new(0));
        let [failed, lost] = [0; 2].map(|_| Arc::new(Signal::default()));
        waiting.push([
            Command {
                waits: vec![Arc::clone(&failed)],
                ..counting(&ran)
            },
            Command {
                waits: vec![Arc::clone(&lost)],
                ..counting(&ran)
            },
            counting(&ran),
        ]);
        let dropping = thread::spawn(move || drop(lost));
        failing.push([Command {
            action: Some(action(|| fail(-5))),
            sets: Some(failed),
            ..Command::default()
        }]);
        assert_eq!(failing.wait(None), Some(fail(-5)));
        assert_eq!(failing.wait(None), Some(Ok(())));
        assert_eq!(waiting.wait(None), Some(fail(-5)));
        assert_eq!(ran.load(SeqCst), 1);
        dropping.join().unwrap();
    });
}

/// A signal is set once by those who may be the first, and all who wait for it see the same.
#[test]
fn one_of_several_sets_a_signal() {
    in_many_orders(|| {
        let signal = Arc::new(Signal::default());
        let setters: Vec<_> = (1..3)
            .map(|number| {
                let signal = Arc::clone(&signal);
                thread::spawn(move || {
                    let times = Times {
                        started: number,
                        ended: number,
                    };
                    let result = Ok(());
                    signal.set_first(Ended { result, times })
                })
            })
            .collect();
        let seen = signal.wait(None).unwrap();
        let first: Vec<_> = setters.into_iter().map(|s| s.join().unwrap()).collect();
        assert_eq!(first.iter().filter(|first| **first).count(), 1);
        assert_eq!(signal.ended(), Some(seen));
        assert!(first[usize::try_from(seen.times.started).unwrap() - 1]);
    });
}

/// Jobs that are pushed by several threads all run, also where the last who has the worker leaves meanwhile.
#[test]
fn workers_lose_no_job() {
    in_many_orders(|| {
        let worker = Arc::new(Worker::default());
        let done = Arc::new(Signal::default());
        let left = Arc::new(AtomicUsize::new(2));
        for _ in 0..2 {
            let (worker, done, left) = (Arc::clone(&worker), Arc::clone(&done), Arc::clone(&left));
            thread::spawn(move || {
                worker.push(Box::new(move || {
                    if left.fetch_sub(1, SeqCst) == 1 {
                        set(&done, Ok(()));
                    }
                }));
            });
        }
        drop(worker);
        assert!(done.wait(None).is_some());
    });
}
