//! Objects of Level Zero without a loader.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use opencl_sys::CL_MEM_TYPE_SHARED_INTEL;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use visakit_driver::compiler::Input;
use visakit_driver::context::Context;
use visakit_driver::device::{Device, platform};
use visakit_driver::error::{Code, fail};
use visakit_driver::kernel::Arg;
use visakit_driver::program::Program;
use visakit_driver::signal::{Ended, Signal, Times};
use visakit_driver::stream::Command;
use visakit_host::{Pages, duplicate};
use visakit_testing::{driver::has_ocloc, say};
use ze_visakit::error::Error;
use ze_visakit::objects::event::{Event, Pool, Scopes};
use ze_visakit::objects::kernel::Kernel;
use ze_visakit::objects::list::{Launched, List, Order, Queue, Sets};
use ze_visakit::objects::module::{Linkage, Module, options};
use ze_visakit::objects::shared::{Place, Watched};

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
        // Behind the end.
        list.append(noting(&log, 'c'), false, None).unwrap();
    }
    assert!(list.queue().is_err());
    let queue = Queue::new(&device, Order::default());
    for list in [&longer, &list, &longer] {
        queue.push(list.commands().unwrap()).unwrap();
    }
    queue.wait(None).unwrap();
    assert_eq!(*log.lock().unwrap(), ['a', 'b', 'a', 'a', 'b']);
    list.reset();
    list.close();
    assert!(list.commands().unwrap().is_empty());
}

/// What a null event in a changeable list becomes.
#[test]
fn a_passed_event_takes_the_place_of_one_that_never_is_set() {
    let (context, device) = place();
    let log = Arc::default();
    let list = List::regular(&context, &device, (0, 0), true);
    let number = list.number_next().unwrap();
    let waiting = Command {
        waits: vec![Arc::<Signal>::default()],
        ..noting(&log, 'a')
    };
    list.append(waiting, false, None).unwrap();
    let passed = || vec![Event::passed()];
    list.change(|draft| draft.set_waits(number, passed()))
        .unwrap();
    // As many as before.
    let none = list.change(|draft| draft.set_waits(number, Vec::new()));
    assert_eq!(none.err(), Some(Error::INVALID_SIZE));
    list.change(|draft| draft.set_waits(number, passed()))
        .unwrap();
    list.close();
    let queue = Queue::new(&device, Order::default());
    queue.push(list.commands().unwrap()).unwrap();
    queue.wait(None).unwrap();
    assert_eq!(*log.lock().unwrap(), ['a']);
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
    let first = event.for_command().unwrap();
    assert!(event.signal().ended().is_none());
    let waiting = event.signal();
    let list = List::immediate(&context, &device, Order::default());
    let other = List::immediate(&context, &device, Order::default());
    let second = event.for_command().unwrap();
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
    let signal = event.for_command().unwrap();
    assert!(Arc::ptr_eq(&signal, &event.signal()) && signal.ended().is_none());
    event.set();
    assert!(signal.ended().is_some());
}

fn set(signal: &Signal) {
    let times = Times::default();
    signal.set(Ended {
        result: Ok(()),
        times,
    });
}

/// `ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE` and `…_IPC`.
const COUNTER: u32 = 1 | 1 << 3;

fn counter_based(flags: u32) -> Arc<Event> {
    Event::with(None, Some(flags), false, Scopes::default())
}

/// What another process has of a handle.
fn opened(place: &Place) -> Result<Arc<Event>, Error> {
    let file = place.shared.pages_to_read().unwrap().as_fd().as_raw_fd();
    let pages = Pages::of(duplicate(file).unwrap()).unwrap();
    let (index, generation) = place.numbers();
    let there = Watched::open(pages)?.generation(index, generation)?;
    Ok(Event::open(there))
}

/// Another process waits for the command that an event stood for when it was shared, whatever it stands for later.
#[test]
fn shared_events_have_generations() {
    let event = counter_based(COUNTER);
    assert_eq!(event.shared().err(), Some(Error::INVALID_ARGUMENT));
    let first = event.for_command().unwrap();
    let of_first = event.shared().unwrap();
    assert_eq!(event.shared().unwrap().numbers(), of_first.numbers());
    let waits_for_first = opened(&of_first).unwrap();
    let second = event.for_command().unwrap();
    let waits_for_second = opened(&event.shared().unwrap()).unwrap();
    let is_set = |event: &Event| event.signal().ended().is_some();
    assert!(!is_set(&waits_for_first) && !is_set(&waits_for_second));
    set(&second);
    assert!(!is_set(&waits_for_first) && is_set(&waits_for_second));
    let third = event.for_command().unwrap();
    assert!(is_set(&waits_for_second) && !is_set(&event));
    set(&first);
    assert!(is_set(&waits_for_first) && !is_set(&event));
    set(&third);
    // It is one of another process, which decides what it stands for.
    let refused = waits_for_first.for_command().err();
    assert_eq!(refused, Some(Error::INVALID_SYNCHRONIZATION_OBJECT));
    assert!(waits_for_first.shared().is_err());
    for flags in [1, COUNTER | 1 << 4] {
        let timed = flags & (1 << 4) != 0;
        let other = Event::with(None, Some(flags), timed, Scopes::default());
        other.for_command().unwrap();
        assert_eq!(other.shared().err(), Some(Error::INVALID_ARGUMENT));
    }
}

/// There is no limit to how often an event is shared, but one to how many of its commands have not ended.
#[test]
fn generations_make_room() {
    let event = counter_based(COUNTER);
    let slow = event.for_command().unwrap();
    let waits_for_slow = opened(&event.shared().unwrap()).unwrap();
    let mut handles = Vec::new();
    for _ in 0..1000 {
        let signal = event.for_command().unwrap();
        handles.push(event.shared().unwrap());
        set(&signal);
    }
    for handle in &handles {
        // Also where the slot has become another one's.
        assert!(opened(handle).unwrap().signal().ended().is_some());
    }
    assert!(waits_for_slow.signal().ended().is_none());
    let mut open = Vec::new();
    let full = loop {
        let signal = event.for_command().unwrap();
        match event.shared() {
            Ok(place) => open.push((signal, place)),
            Err(error) => break error,
        }
    };
    assert_eq!((full, open.len()), (Error::OUT_OF_HOST_MEMORY, 255));
    set(&slow);
    assert!(waits_for_slow.signal().ended().is_some());
    for (signal, place) in &open {
        let there = opened(place).unwrap();
        assert!(there.signal().ended().is_none());
        set(signal);
        assert!(there.signal().ended().is_some());
    }
    // Generations that were never shared.
    let shared = &open.first().unwrap().1.shared;
    for (index, generation) in [(0, 0), (0, u64::MAX), (4096, 1), (u64::MAX, 1)] {
        let none = shared.generation(index, generation);
        assert_eq!(none.err(), Some(Error::INVALID_ARGUMENT));
    }
    let (context, _) = place();
    assert!(Pool::new(&context, 2, 1, Some(COUNTER)).is_err());
}

/// Who waits for an event may look at it, and give it to another command.
#[test]
fn followers_may_use_the_event() {
    let (context, device) = place();
    let pool = Pool::new(&context, 2, 1, None).unwrap();
    let event = Event::new(&pool, 0, Scopes::default()).unwrap();
    let shared = Arc::clone(pool.shared.as_ref().unwrap());
    let file = shared.pages().unwrap().as_fd().as_raw_fd();
    let pages = Pages::of(duplicate(file).unwrap()).unwrap();
    let there = Pool::open(&context, Watched::open(pages).unwrap());
    let theirs = Event::new(&there, 0, Scopes::default()).unwrap();
    let list = List::immediate(&context, &device, Order::default());
    let seen = Arc::new(Mutex::new(None));
    let (ours, log) = (Arc::clone(&event), Arc::clone(&seen));
    let looks = Command {
        waits: vec![event.signal()],
        action: Some(Arc::new(move || {
            *log.lock().unwrap() = Some(ours.signal().ended().is_some());
            (Ok(()), None)
        })),
        ..Command::default()
    };
    list.append(looks, false, None).unwrap();
    theirs.set();
    list.queue().unwrap().wait(None).unwrap();
    assert_eq!(*seen.lock().unwrap(), Some(true));
}

const SOURCE: &str = "kernel void put(global int *x, int v) { x[get_global_id(0)] = v; }";

/// A kernel that writes 1, and where it writes; none without a compiler.
fn kernel(context: &Arc<Context>, device: &Arc<Device>) -> Option<(Arc<Kernel>, usize)> {
    if !has_ocloc() {
        say("NOT RUN: launches of Level Zero need ocloc");
        return None;
    }
    let program = Program::from_input(context, Input::Text(SOURCE.into()));
    let (module, log) = Module::build((context, device), &[(program, String::new())]);
    let kernel = Kernel::new(&module.expect(&log), "put").unwrap();
    let what = (CL_MEM_TYPE_SHARED_INTEL, 0, 0);
    let at = context.allocate(4 * 4, 0, what).unwrap();
    kernel.set(0, Arg::Pointer(at)).unwrap();
    kernel.set(1, Arg::Value(vec![1, 0, 0, 0])).unwrap();
    Some((kernel, at))
}

/// A list of one launch, which has a number.
fn launching(list: &List, kernel: &Arc<Kernel>, sets: Option<Arc<Signal>>) -> u64 {
    let launch = Launched {
        kernel: Arc::clone(kernel),
        groups: [1, 1, 1],
        is_timed: false,
        is_cooperative: false,
    };
    let number = list.number_next().unwrap();
    let command = Command {
        action: Some(launch.action().unwrap()),
        sets,
        ..Command::default()
    };
    list.append(command, false, Some(&launch)).unwrap();
    list.close();
    number
}

/// What a list leaves in memory that is all zero before.
fn written(context: &Context, device: &Arc<Device>, list: &List, at: usize) -> [u8; 4] {
    let span = context.span(at, 16).unwrap().unwrap();
    span.fill(0, 16, &[0]).unwrap();
    let queue = Queue::new(device, Order::default());
    queue.push(list.commands().unwrap()).unwrap();
    queue.wait(None).unwrap();
    [0, 4, 8, 12].map(|place| span.read::<1>(place).unwrap()[0])
}

#[test]
fn lists_have_kernels_of_their_own() {
    let (context, device) = place();
    let Some((kernel, at)) = kernel(&context, &device) else {
        return;
    };
    let list = List::regular(&context, &device, (0, 0), true);
    let number = launching(&list, &kernel, None);
    let other = list.copy().unwrap();
    let five = Arg::Value(vec![5, 0, 0, 0]);
    list.change(|draft| draft.launch(number)?.kernel.set(1, five))
        .unwrap();
    other
        .change(|draft| {
            draft.launch(number)?.groups = [3, 1, 1];
            Ok(())
        })
        .unwrap();
    assert_eq!(written(&context, &device, &list, at), [5, 0, 0, 0]);
    assert_eq!(written(&context, &device, &other, at), [1, 1, 1, 0]);
}

#[test]
fn changes_count_together() {
    let (context, device) = place();
    let Some((kernel, at)) = kernel(&context, &device) else {
        return;
    };
    let list = List::regular(&context, &device, (0, 0), true);
    let number = launching(&list, &kernel, None);
    let value = |value| Arg::Value(vec![value, 0, 0, 0]);
    // One of the changes is none.
    let wrong = list.change(|draft| {
        let launch = draft.launch(number)?;
        launch.groups = [4, 1, 1];
        launch.kernel.set(1, value(7))?;
        draft.launch(number + 1).map(drop)
    });
    assert_eq!(wrong, Err(Error::INVALID_ARGUMENT));
    // All are possible, but not the launch.
    let beyond = list.change(|draft| {
        let launch = draft.launch(number)?;
        launch.kernel.set(1, value(7))?;
        launch.kernel.set_group([2, 1, 1])?;
        launch.groups = [u32::MAX, 1, 1];
        Ok(())
    });
    assert!(beyond.is_err());
    list.change(|draft| draft.launch(number).map(drop)).unwrap();
    assert_eq!(written(&context, &device, &list, at), [1, 0, 0, 0]);
    // Each alone is possible only after the other.
    list.change(|draft| {
        let launch = draft.launch(number)?;
        launch.groups = [u32::MAX, 1, 1];
        launch.kernel.set_group([2, 1, 1])?;
        launch.groups = [2, 1, 1];
        launch.kernel.set(1, value(9))
    })
    .unwrap();
    assert_eq!(written(&context, &device, &list, at), [9, 9, 9, 9]);
}

/// A command with another event sets that one, anew with each execution if it is counter-based.
#[test]
fn other_events_are_set() {
    let (context, device) = place();
    let Some((kernel, at)) = kernel(&context, &device) else {
        return;
    };
    let (before, after) = (counter_based(2), counter_based(2));
    let list = List::regular(&context, &device, (0, 0), true);
    let number = launching(&list, &kernel, Some(before.for_command().unwrap()));
    let none = list.change(|draft| draft.set_signal(number + 1, || panic!("no such command")));
    assert_eq!(none, Err(Error::INVALID_ARGUMENT));
    list.change(|draft| {
        let sets = || {
            Ok(Sets {
                signal: Some(after.for_command()?),
                is_renewed: true,
                is_timed: true,
            })
        };
        draft.set_signal(number, sets)?;
        assert!(draft.launch(number)?.is_timed);
        Ok(())
    })
    .unwrap();
    for _ in 0..2 {
        written(&context, &device, &list, at);
        assert!(after.signal().ended().is_some());
    }
    assert!(before.signal().ended().is_none());
    drop(list.commands().unwrap());
    assert!(after.signal().ended().is_none());
    list.change(|draft| draft.set_signal(number, || Ok(Sets::default())))
        .unwrap();
    written(&context, &device, &list, at);
    assert!(after.signal().ended().is_none());
}

/// A module of OpenCL C.
fn module(place: (&Arc<Context>, &Arc<Device>), source: &str, given: &str) -> Arc<Module> {
    let program = Program::from_input(place.0, Input::Text(source.into()));
    let (module, log) = Module::build(place, &[(program, options(given))]);
    module.expect(&log)
}

/// Modules call functions of others that they are linked with, which call functions in their turn.
#[test]
fn modules_are_linked() {
    let (context, device) = place();
    let place = (&context, &device);
    if !has_ocloc() {
        return say("NOT RUN: linking modules needs ocloc");
    }
    let kernels =
        "int twice(int); kernel void put(global int *x, int v) { x[get_global_id(0)] = twice(v); }";
    let library = "-ze-library-compilation";
    let caller = module(place, kernels, "");
    let middle = module(
        place,
        "int once(int); int twice(int a) { return 2 * once(a); }",
        library,
    );
    let last = module(place, "int once(int a) { return a * 3 + 1; }", library);
    let no_kernel = Kernel::new(&caller, "put").err();
    assert_eq!(no_kernel, Some(Error::INVALID_MODULE_UNLINKED));
    let everything = Linkage {
        imports: true,
        missing: true,
        exports: true,
    };
    let said = Module::linkage(&[Arc::clone(&caller), Arc::clone(&middle)], everything).unwrap();
    let wanted = "module 0: imports twice\nmodule 1: imports once\nmodule 1: cannot resolve once\nmodule 1: exports twice\n";
    assert_eq!(said, wanted);
    // None is linked if one cannot be.
    let (result, log) = Module::link(&[Arc::clone(&caller), Arc::clone(&middle)]);
    assert_eq!(result, Err(Error::MODULE_LINK_FAILURE));
    assert!(log.contains("undefined reference to `once`"), "{log}");
    assert!(Kernel::new(&caller, "put").is_err());
    let all = [&caller, &middle, &last].map(Arc::clone);
    assert_eq!(Module::link(&all), (Ok(()), String::new()));
    assert_eq!(Module::link(&all), (Ok(()), String::new()));
    // A binary of it has what it was built from, and is to be linked again.
    let bytes = caller.binary().unwrap().bytes.clone();
    let (again, log) = Module::native(place, bytes);
    let again = again.expect(&log);
    assert!(Kernel::new(&again, "put").is_err());
    let modules = [&again, &middle, &last].map(Arc::clone);
    assert_eq!(Module::link(&modules), (Ok(()), String::new()));
    for module in [caller, again] {
        assert_eq!(put(place, &module), [44, 0, 0, 0]);
    }
}

/// What a kernel of a module writes that is given 7, as four numbers.
fn put((context, device): (&Arc<Context>, &Arc<Device>), module: &Arc<Module>) -> [u8; 4] {
    let kernel = Kernel::new(module, "put").unwrap();
    let what = (CL_MEM_TYPE_SHARED_INTEL, 0, 0);
    let at = context.allocate(16, 0, what).unwrap();
    kernel.set(0, Arg::Pointer(at)).unwrap();
    kernel.set(1, Arg::Value(vec![7, 0, 0, 0])).unwrap();
    let list = List::regular(context, device, (0, 0), true);
    launching(&list, &kernel, None);
    written(context, device, &list, at)
}

/// Functions use the variables of their module, kernels those of others, and variables point to those of others. Each
/// module has its own where several have one of the same name.
#[test]
fn linked_modules_share_variables() {
    let (context, device) = place();
    let place = (&context, &device);
    if !has_ocloc() {
        return say("NOT RUN: linking modules needs ocloc");
    }
    let library = "-cl-std=CL3.0 -ze-library-compilation";
    let counting = module(
        place,
        "global int counter = 5; constant int table[8] = {0, 0, 0, 0, 0, 0, 0, 30};
         int scaled(int a) { return 2 * a; }
         int bump(int a) { counter += a; return table[a] + scaled(a); }",
        library,
    );
    let using = module(
        place,
        "extern global int counter; global int *global where = &counter; constant int table[8] = {0, 0, 0, 0, 0, 0, 0, 1};
         int bump(int); int scaled(int a) { return a; }
         kernel void put(global int *x, int v) { x[0] = bump(v); x[1] = counter; x[2] = table[v]; x[3] = *where; }",
        "-cl-std=CL3.0",
    );
    assert_eq!(
        Kernel::new(&using, "put").err(),
        Some(Error::INVALID_MODULE_UNLINKED)
    );
    let (address, bytes) = counting.global("counter").unwrap();
    let table = using.global("where").unwrap();
    let modules = [&using, &counting].map(Arc::clone);
    assert_eq!(Module::link(&modules), (Ok(()), String::new()));
    // Both modules have kept their variables.
    assert_eq!(counting.global("counter"), Ok((address, bytes)));
    assert_eq!(using.global("where"), Ok(table));
    assert_eq!(put(place, &using), [44, 12, 1, 12]);
    assert_eq!(put(place, &using), [44, 19, 1, 19]);
    // No code names it, but a variable.
    let pointing = module(
        place,
        "extern global int counter; global int *global where = &counter;
         kernel void put(global int *x, int v) { x[0] = *where; }",
        "-cl-std=CL3.0",
    );
    assert!(Kernel::new(&pointing, "put").is_err());
    let modules = [&counting, &pointing].map(Arc::clone);
    assert_eq!(Module::link(&modules), (Ok(()), String::new()));
    assert_eq!(put(place, &pointing), [19, 0, 0, 0]);
    // The kernels keep what they use.
    drop((counting, pointing, modules));
    assert_eq!(put(place, &using), [44, 26, 1, 26]);
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
