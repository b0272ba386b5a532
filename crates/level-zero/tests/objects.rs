//! Objects of Level Zero without a loader.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};
use std::time::Duration;
use visakit_driver::context::Context;
use visakit_driver::device::{Device, platform};
use visakit_driver::error::{Code, fail};
use visakit_driver::stream::Command;
use ze_visakit::error::Error;
use ze_visakit::objects::event::{Event, Pool, Scopes};
use ze_visakit::objects::list::{List, Order, Queue};
use ze_visakit::objects::module::options;

fn place() -> (Arc<Context>, Arc<Device>) {
    let devices = platform().devices.clone();
    let device = Arc::clone(devices.first().unwrap());
    (Context::new(devices, Vec::new(), None).unwrap(), device)
}

/// A command that notes its name.
fn noting(log: &Arc<Mutex<Vec<char>>>, name: char) -> Command {
    let log = Arc::clone(log);
    Command {
        action: Some(Arc::new(move || {
            log.lock().unwrap().push(name);
            (if name == '!' { fail(-5) } else { Ok(()) }, None)
        })),
        ..Command::default()
    }
}

#[test]
fn regular_lists_run_as_often_as_they_are_executed() {
    let (context, device) = place();
    let log = Arc::default();
    let list = List::regular(&context, &device, (0, 0), false);
    list.append(noting(&log, 'a'), false, None).unwrap();
    assert_eq!(list.commands().err(), Some(Error::INVALID_ARGUMENT));
    let longer = list.copy().unwrap();
    longer.append(noting(&log, 'b'), false, None).unwrap();
    for list in [&list, &longer] {
        list.close();
        list.close();
        list.append(noting(&log, 'c'), false, None).unwrap();
    }
    assert!(list.queue().is_err());
    let queue = Queue::new(&device, Order::default());
    for list in [&longer, &list, &longer] {
        queue.push(list.commands().unwrap()).unwrap();
    }
    queue.wait(None).unwrap();
    assert_eq!(
        *log.lock().unwrap(),
        ['a', 'b', 'c', 'a', 'c', 'a', 'b', 'c']
    );
    list.reset();
    list.close();
    assert!(list.commands().unwrap().is_empty());
}

#[test]
fn immediate_lists_tell_of_failures_once() {
    let (context, device) = place();
    let log = Arc::default();
    let synchronous = Order {
        mode: 1,
        ..Order::default()
    };
    let list = List::immediate(&context, &device, synchronous);
    assert_eq!(
        list.append(noting(&log, '!'), false, None),
        Err(Error::DEVICE_LOST)
    );
    assert_eq!(list.append(noting(&log, 'a'), false, None), Ok(()));
    list.close();
    list.reset();
    assert_eq!(list.append(noting(&log, 'b'), false, None), Ok(()));
    assert_eq!(*log.lock().unwrap(), ['!', 'a', 'b']);
    let list = List::immediate(&context, &device, Order::default());
    list.append(noting(&log, '!'), false, None).unwrap();
    assert_eq!(list.queue().unwrap().wait(None), Err(Error::DEVICE_LOST));
    assert_eq!(list.queue().unwrap().wait(None), Ok(()));
}

/// What waits for a counter-based event waits for the command that had it then.
#[test]
fn counter_based_events_stand_for_one_command_after_the_other() {
    let (context, device) = place();
    let pool = Pool::new(&context, 0, 2, Some(1)).unwrap();
    assert!(Event::new(&pool, 2, Scopes::default()).is_err());
    let event = Event::new(&pool, 0, Scopes::default()).unwrap();
    // No command has it: nobody waits.
    assert!(event.signal().ended().is_some());
    let first = event.for_command();
    assert!(event.signal().ended().is_none());
    let waiting = event.signal();
    let list = List::immediate(&context, &device, Order::default());
    let other = List::immediate(&context, &device, Order::default());
    let second = event.for_command();
    let command = |waits, sets| Command {
        waits,
        sets,
        ..Command::default()
    };
    // The second command waits for the first through another list: no circle.
    other
        .append(command(vec![waiting], Some(second)), true, None)
        .unwrap();
    list.append(command(Vec::new(), Some(first)), true, None)
        .unwrap();
    let ended = event.signal().wait(Some(Duration::from_secs(60)));
    assert!(ended.is_some_and(|ended| ended.result.is_ok()));
    // One that is not keeps its state.
    let pool = Pool::new(&context, 0, 1, None).unwrap();
    let event = Event::new(&pool, 0, Scopes::default()).unwrap();
    let signal = event.for_command();
    assert!(Arc::ptr_eq(&signal, &event.signal()) && signal.ended().is_none());
    event.set();
    assert!(signal.ended().is_some());
}

#[test]
fn options_have_the_names_of_opencl() {
    let given = "-ze-opt-disable  -ze-opt-level=2 -ze-intel-enable-auto-large-GRF-mode -g \
                 -ze-opt-greater-than-4GB-buffer-required -DX=1 -vc-codegen";
    let expected = "-cl-opt-disable -ze-opt-level=O2 -cl-intel-enable-auto-large-GRF-mode -g \
                    -cl-intel-greater-than-4GB-buffer-required -DX=1 -vc-codegen";
    assert_eq!(options(given), expected);
    assert_eq!(options(""), "");
}

/// Every error of the model becomes a result that is not success.
#[test]
fn codes_are_results() {
    for code in -1200..0 {
        assert!(Error::from(Code(code)).0 >= Error::DEVICE_LOST.0);
    }
}
