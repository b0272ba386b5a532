//! Pages that hold machine code, and the way into it.
//!
//! All unsafe code of the crate is here: the call of machine code, the call back from it, and the list that debuggers read.

#![allow(unsafe_code, reason = "see the safety comments at each block")]

mod ahead;
mod frame;
#[cfg(feature = "gdb")]
mod gdb;
pub(crate) mod place;

pub(crate) use frame::frame;

use crate::compiled::Compiled;
use crate::mode::control;
use crate::path::{self, PATHS};
use crate::perf;
use ahead::{Follower, Pair, give_up, split};
use memmap2::{Mmap, MmapMut};
use std::mem::{MaybeUninit, offset_of};
use visakit_exec::memory::Region;
use visakit_exec::{Flushed, Host, NativeFault, NativeLanes, NativeMode, NativeStop, NativeThread};

/// As machine code has it.
const NOT_ALONE: u64 = (place::NOT_ALONE as i64).cast_unsigned();

/// No content of `%cr0`.
const UNWRITTEN: u64 = u64::MAX;

/// The data that machine code works on. Its address is in a register while machine code runs.
#[repr(C)]
pub(crate) struct Context<'a> {
    /// The register file of the thread.
    file: *mut u8,
    /// Constants of the code.
    constants: *const u8,
    /// Lanes that run.
    pub(crate) running: u64,
    /// Where machine code is entered.
    target: *const u8,
    // What machine code and the state of a thread share is not adjacent here: the compiler would copy two words at once,
    // for which the host waits until the stores of single words before it are done.
    /// Instructions that may still run.
    pub(crate) left: u64,
    /// Calls the interpreter for a step.
    step: extern "sysv64" fn(&mut Context<'_>, u64, u64) -> u64,
    /// Enabled lanes so far.
    pub(crate) lane_operations: u64,
    /// Splits lanes, or joins them, and returns where machine code continues.
    branch: extern "sysv64" fn(&mut Context<'_>, u64, u64, u64, u64) -> *const u8,
    /// Out: whether a step that the interpreter ran had a fault.
    pub(crate) fault: u64,
    /// Out: the step to continue with.
    pub(crate) place: u64,
    /// Shared local memory of the group, and its bytes.
    local: *mut u8,
    local_bytes: u64,
    /// Storage of global memory by the lowest bits of regions' numbers, and which bits these are.
    storage: *const Region,
    storage_mask: u64,
    /// Storage of surfaces by binding-table index, and how many there are.
    surfaces: *const Region,
    surface_count: u64,
    state: State,
    own: Own,
    /// The places in memory of the lanes of an access that makes one lane after the other: as they were compared with the
    /// bounds, whatever the access writes to the register file in the meantime.
    lanes: [MaybeUninit<u64>; place::MOST_LANES],
    pair: Pair,
    /// Two threads part; returns where machine code goes on with the first of them.
    split: extern "sysv64" fn(&mut Context<'_>) -> *const u8,
    /// The next thread does not come to the loop: it waits where it is, and the other one goes on.
    give_up: extern "sysv64" fn(&mut Context<'_>),
    /// Magnitudes below which floats and doubles are treated as zero in a flushing mode, for every lane.
    flushed_f: [u32; 16],
    flushed_df: [u64; 8],
    /// What [`Self::left`] was when machine code came to the thread.
    granted: u64,
    /// The thread after the one that runs, and the end of them, as offsets from the first one.
    follower: u64,
    followers_end: u64,
    /// How many of these have been written.
    written: u64,
    /// The thread that runs, those before it, and those that follow.
    followers: [MaybeUninit<Follower>; FOLLOWERS],
    /// The thread after the one that the host knows to run.
    known_follower: u64,
    /// Whether all threads of a group are followers, and the host may start them again for another group; and the function
    /// that asks it to.
    pub(crate) repeats: u64,
    again: extern "sysv64" fn(&mut Context<'_>) -> u64,
    host: &'a mut dyn Host,
    pages: &'a Pages,
    /// Which ways traced code has taken.
    paths: [u8; PATHS],
    /// Factors of systolic products, as their sums have them.
    products: Products,
}

/// Where each line of the host's cache has a whole vector.
#[repr(C, align(64))]
struct Products([MaybeUninit<u64>; place::PRODUCTS_BYTES / 8]);

/// What machine code takes from a thread at once.
#[repr(C)]
#[derive(Clone, Copy)]
struct State {
    /// The smallest place where lanes wait.
    waiting: u64,
    /// The float mode: [`place::USUAL`], [`place::FLUSHING`], [`place::DIRECTED`], or 0 for another one. Set by machine
    /// code.
    mode: u64,
    /// The host's control word for vector instructions in a mode that rounds to one side.
    control: u64,
    /// The bits of `%cr0` that choose the mode, as machine code wrote them; [`UNWRITTEN`] if it did not.
    cr0: u64,
}

/// What the host does not know of a thread. Machine code takes it from a thread at once, too.
#[repr(C)]
#[derive(Clone, Copy)]
struct Own {
    /// Lanes that machine code has let wait at [`State::waiting`].
    parked: u64,
    /// If these are all that wait there: the smallest place after it where lanes wait, as in [`State::waiting`]; otherwise
    /// [`place::NOT_ALONE`].
    behind: u64,
    /// The value of [`State::cr0`] that the interpreter has.
    known_cr0: u64,
    /// Machine code that brings the next thread to the loop that it may run side by side with this one; null if it may not.
    companion: *const u8,
}

/// A vector register each: `follow.rs` moves them as such.
const _: () = assert!(size_of::<State>() == 32 && size_of::<Own>() == 32);

impl Own {
    /// That of a thread which the host knows.
    const NEW: Self = Self {
        parked: 0,
        behind: NOT_ALONE,
        known_cr0: UNWRITTEN,
        companion: std::ptr::null(),
    };
}

impl State {
    /// That of lanes, of which the first wait at a place, in a float mode.
    fn new(waiting: usize, mode: NativeMode) -> Self {
        let (mode, control) = named(mode);
        Self {
            waiting: waiting as u64,
            mode,
            control,
            cr0: UNWRITTEN,
        }
    }
}

/// The place of a thread that has ended.
const ENDED: u64 = u64::MAX;

/// Most threads at a time.
const FOLLOWERS: usize = 32;

impl Context<'_> {
    /// Takes the places of all memory from the host.
    fn borrow(&mut self) {
        let memory = self.host.memory();
        self.local_bytes = memory.local.len().min(place::MOST_BYTES as usize) as u64;
        self.local = memory.local.as_mut_ptr();
        let (storage, surfaces) = (memory.storage, memory.surfaces);
        // There are as many as a power of two, thus at least one.
        (self.storage, self.storage_mask) = (storage.as_ptr(), storage.len() as u64 - 1);
        (self.surfaces, self.surface_count) = (surfaces.as_ptr(), surfaces.len() as u64);
        self.file = self.pages.place(self.host.registers());
    }

    /// Prepares for a thread. False if there is no code for it.
    fn start(&mut self, thread: &NativeThread) -> bool {
        let Some(target) = self.pages.target(thread.place, thread.running) else {
            return false;
        };
        if self.file.is_null() {
            return false;
        }
        self.running = thread.running.into();
        self.left = thread.left;
        self.granted = thread.granted;
        self.lane_operations = thread.lane_operations;
        self.place = thread.place as u64;
        self.target = target;
        self.state = State::new(thread.waiting, thread.mode);
        self.own.known_cr0 = UNWRITTEN;
        if let NativeMode::Flushing(flushed) = thread.mode {
            self.flush(flushed);
        }
        true
    }

    /// Takes the threads that may follow from the host.
    fn follow(&mut self, thread: &NativeThread) {
        let pages = self.pages;
        let full = pages.compiled.full;
        let mut count = 1;
        let followers = &mut self.followers;
        // Mostly all threads are at the same place.
        let mut last = (usize::MAX, false, NativeMode::Other);
        let mut target = std::ptr::null();
        let mut companions = [std::ptr::null(); FOLLOWERS];
        self.host.followers(&mut |registers, lanes, of_thread| {
            let now = (lanes.place, lanes.running == full, of_thread);
            if now != last || lanes.running & !full != 0 {
                // There is one set of magnitudes below which numbers are zero.
                let suits = match (thread.mode, of_thread) {
                    (NativeMode::Flushing(own), NativeMode::Flushing(theirs)) => own == theirs,
                    (_, NativeMode::Flushing(_)) => false,
                    _ => true,
                };
                let Some(found) = pages.target(lanes.place, lanes.running).filter(|_| suits) else {
                    return false;
                };
                (last, target) = (now, found);
            }
            let file = pages.place(registers);
            let Some(follower) = followers.get_mut(count).filter(|_| !file.is_null()) else {
                return false;
            };
            let state = State::new(lanes.waiting, of_thread);
            follower.write(Follower::new(file, lanes.running, target, state));
            // The one before it may run side by side with it.
            let companion = match lanes.running == full && lanes.waiting == usize::MAX {
                true => pages.companion(lanes.place),
                false => std::ptr::null(),
            };
            if let Some(before) = companions.get_mut(count - 1) {
                *before = companion;
            }
            count += 1;
            true
        });
        let may = self.host.may_run_ahead();
        for (place, companion) in companions.into_iter().enumerate() {
            let companion = if may { companion } else { std::ptr::null() };
            match place {
                0 => self.own.companion = companion,
                _ if place < count => {
                    if let Some(follower) = self.followers.get_mut(place) {
                        // SAFETY: all below the count were written just now.
                        unsafe {
                            (&raw mut (*follower.as_mut_ptr()).own.companion).write(companion);
                        };
                    }
                }
                _ => break,
            }
        }
        // Machine code is not entered for a thread without a target: the first one is whole wherever it runs.
        if let Some(first) = self.followers.first_mut()
            && let Some(target) = pages.target(thread.place, thread.running)
        {
            let state = State::new(thread.waiting, thread.mode);
            let mut own = Follower::new(self.file, thread.running, target, state);
            own.own.companion = self.own.companion;
            first.write(own);
            self.repeats = self.host.repeats(count).into();
        }
        self.follower = size_of::<Follower>() as u64;
        self.known_follower = self.follower;
        self.written = count as u64;
        self.followers_end = (count * size_of::<Follower>()) as u64;
    }

    /// The host has gone on to the next thread itself.
    fn skip_follower(&mut self, thread: &NativeThread) {
        self.repeats = 0;
        if self.follower == self.followers_end {
            return self.follow(thread);
        }
        // Those that are left run one after the other.
        self.own.companion = std::ptr::null();
        self.follower += size_of::<Follower>() as u64;
        self.known_follower = self.follower;
    }

    /// The follower at an offset, if it is one of those that are known.
    fn at(&mut self, offset: u64) -> Option<&mut Follower> {
        let number = offset / size_of::<Follower>() as u64;
        let known = (1..self.written).contains(&number);
        let number = usize::try_from(number).ok().filter(|_| known)?;
        let follower = self.followers.get_mut(number)?;
        // SAFETY: all from the second one on below the end were written when they were taken from the host.
        Some(unsafe { follower.assume_init_mut() })
    }

    /// Tells the host which thread runs.
    fn tell_thread(&mut self) {
        while self.known_follower != self.follower {
            let number = self.known_follower / size_of::<Follower>() as u64;
            let passed = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
            self.known_follower += size_of::<Follower>() as u64;
            let Some(passed) = passed.and_then(|passed| self.followers.get(passed)) else {
                continue;
            };
            let passed = passed.as_ptr();
            // SAFETY: machine code has written the place when it went on from this thread to the next one.
            let stop = match unsafe { (&raw const (*passed).place).read() } {
                ENDED => NativeStop::Ended,
                place => {
                    // SAFETY: the same for these fields, as the thread has not ended.
                    let (running, cr0) = unsafe {
                        (
                            (&raw const (*passed).running).read(),
                            (&raw const (*passed).state.cr0).read(),
                        )
                    };
                    NativeStop::Barrier {
                        place: usize::try_from(place).unwrap_or(usize::MAX),
                        running: u32::try_from(running).unwrap_or(0),
                        cr0: u32::try_from(cr0).ok(),
                    }
                }
            };
            self.host.pass(stop);
        }
    }

    /// Sets the magnitudes below which numbers are treated as zero. Machine code only reads them.
    fn flush(&mut self, flushed: Flushed) {
        let (single, double) = match flushed {
            Flushed::Neither => (0.0, 0.0),
            Flushed::Singles => (f32::MIN_POSITIVE, 0.0),
            Flushed::Doubles => (0.0, f64::MIN_POSITIVE),
            Flushed::Both => (f32::MIN_POSITIVE, f64::MIN_POSITIVE),
        };
        let (single, double) = (single.to_bits(), double.to_bits());
        let ([of_single, ..], [of_double, ..]) = (self.flushed_f, self.flushed_df);
        if (of_single, of_double) != (single, double) {
            self.flushed_f = [single; 16];
            self.flushed_df = [double; 8];
        }
    }

    /// Gives the thread the state that machine code has left.
    fn end(&mut self, thread: &mut NativeThread) {
        self.tell_thread();
        self.tell_parked();
        self.tell_ahead();
        thread.cr0 = match self.state.cr0 == self.own.known_cr0 {
            true => None,
            false => u32::try_from(self.state.cr0).ok(),
        };
        thread.place = usize::try_from(self.place).unwrap_or(usize::MAX);
        thread.running = u32::try_from(self.running).unwrap_or(0);
        thread.left = self.left;
        thread.granted = self.granted;
        thread.lane_operations = self.lane_operations;
    }

    /// Tells the host which lanes of the thread wait.
    fn tell_parked(&mut self) {
        if self.own.parked != 0 {
            let place = usize::try_from(self.state.waiting).unwrap_or(usize::MAX);
            let lanes = u32::try_from(self.own.parked).unwrap_or(0);
            self.host.park(place, lanes);
            (self.own.parked, self.own.behind) = (0, NOT_ALONE);
        }
    }

    /// Passes the float mode to the interpreter.
    fn tell_mode(&mut self) {
        let cr0 = self.state.cr0;
        if cr0 != self.own.known_cr0 {
            self.host.float_mode(u32::try_from(cr0).unwrap_or(0));
            self.own.known_cr0 = cr0;
        }
    }
}

/// The number of a float mode, and its control word.
fn named(mode: NativeMode) -> (u64, u64) {
    let (number, rounding) = match mode {
        NativeMode::Usual => (place::USUAL, 0),
        NativeMode::Flushing(_) => (place::FLUSHING, 0),
        NativeMode::Directed(rounding) => (place::DIRECTED, rounding),
        NativeMode::Other => (0, 0),
    };
    (number.into(), control(rounding).into())
}

/// Runs a step in the interpreter. Returns 0, or 1 for a fault.
extern "sysv64" fn step(context: &mut Context<'_>, place: u64, mask: u64) -> u64 {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    let mask = u32::try_from(mask).unwrap_or(u32::MAX);
    context.tell_thread();
    context.tell_mode();
    let outcome = context.host.step(place, mask);
    // What was borrowed from the host before is no longer used; it is requested again.
    context.borrow();
    u64::from(outcome.is_err() || context.file.is_null())
}

/// Asks the host for another group, of which the first thread is next. Returns 0 if there is none.
extern "sysv64" fn again(context: &mut Context<'_>) -> u64 {
    if context.repeats == 0 {
        return 0;
    }
    // Without the step that ends the last thread; machine code compared it with zero.
    let left = context.left.saturating_sub(1);
    if context.pages.compiled.companion.is_some() && !context.host.may_run_ahead() {
        return 0;
    }
    let Some(writes) = context.host.again(left) else {
        return 0;
    };
    let count = context.followers_end / size_of::<Follower>() as u64;
    let count = usize::try_from(count).unwrap_or(0);
    let room = context.pages.compiled.file_bytes;
    for &(place, value) in writes.iter().filter(|(place, _)| place + 4 <= room) {
        for follower in context.followers.iter().take(count) {
            // SAFETY: all followers below the end were written when machine code was entered, with register files of at
            // least as many bytes as `room`, which stay where they are and which nobody else accesses now.
            unsafe {
                let file = (&raw const (*follower.as_ptr()).file).read();
                file.add(place).cast::<u32>().write_unaligned(value);
            }
        }
    }
    // The first one is not known to all functions as a follower, but it begins again, too.
    let first = context.followers.first();
    // SAFETY: groups only repeat if the first one was written.
    let first = first.map(|first| unsafe { first.assume_init_ref().own.companion });
    context.own.companion = first.unwrap_or(std::ptr::null());
    for number in 1..context.written {
        if let Some(follower) = context.at(number * size_of::<Follower>() as u64) {
            follower.restart();
        }
    }
    context.pair.waits = 0;
    context.follower = size_of::<Follower>() as u64;
    context.known_follower = context.follower;
    1
}

/// Some of the running lanes jump from a step to a target, or, if there is none, lanes waiting there join. Returns
/// where machine code continues: in the segment that follows, or at its end.
extern "sysv64" fn branch(
    context: &mut Context<'_>,
    at: u64,
    taken: u64,
    running: u64,
    target: u64,
) -> *const u8 {
    let lanes = NativeLanes {
        place: usize::try_from(at).unwrap_or(usize::MAX),
        running: u32::try_from(running).unwrap_or(0),
        waiting: 0,
    };
    context.tell_thread();
    context.tell_parked();
    let lanes = if target == u64::from(place::NO_TARGET) {
        context.host.join(lanes)
    } else {
        let target = usize::try_from(target).unwrap_or(usize::MAX);
        let taken = u32::try_from(taken).unwrap_or(0);
        context.host.branch(lanes, target, taken)
    };
    context.running = lanes.running.into();
    context.state.waiting = lanes.waiting as u64;
    context.place = lanes.place as u64;
    let pages = context.pages;
    let entry = pages.entry(lanes.place, lanes.running);
    let entry = entry.unwrap_or(pages.compiled.end);
    // An offset of the code: it was checked against its length when the pages were created.
    pages.code.as_ptr().wrapping_add(entry)
}

/// Machine code in memory: pages that are executable and never writable again.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Before the code, as it is dropped before it.
    #[cfg(feature = "gdb")]
    _names: Option<gdb::Names>,
    code: Mmap,
    compiled: Compiled,
}

impl Pages {
    /// Copies code into pages. Its first instruction receives the address of a [`Context`] according to the C calling
    /// convention of System V, jumps to the target found there, and eventually returns. It accesses only its constants and the
    /// register files of the thread and its followers below `file_bytes`, and memory that the host lends: this was proven of the
    /// code before it was encoded (`x64/verify`).
    pub(crate) fn new(compiled: Compiled) -> Option<Self> {
        let code = &compiled.bytes;
        let mut pages = MmapMut::map_anon(code.len().max(1)).ok()?;
        pages.get_mut(..code.len())?.copy_from_slice(code);
        let places = compiled.places.iter().flatten().flatten();
        if places
            .chain([&compiled.end])
            .any(|place| *place >= code.len())
        {
            return None;
        }
        let code = pages.make_exec().ok()?;
        perf::tell(code.as_ptr().addr(), &compiled);
        Some(Self {
            #[cfg(feature = "gdb")]
            _names: gdb::Names::new(code.as_ptr().addr(), &compiled),
            code,
            compiled,
        })
    }

    /// What was compiled.
    pub(crate) const fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The place of a register file: null if it is too small.
    fn place(&self, registers: &mut [u8]) -> *mut u8 {
        match registers.len() < self.compiled.file_bytes {
            true => std::ptr::null_mut(),
            false => registers.as_mut_ptr(),
        }
    }

    /// Where the code for lanes that run at a step begins. Lanes that the program has no instruction for, and steps
    /// that are in the middle of segments, have none.
    fn entry(&self, place: usize, running: u32) -> Option<usize> {
        let full = self.compiled.full;
        let [all, some] = self.compiled.places.get(place)?.as_ref()?;
        if running & !full != 0 {
            None
        } else if running == full {
            Some(*all)
        } else {
            Some(*some)
        }
    }

    /// Where code begins that brings a thread to a loop that it may run side by side with another one; null if there is
    /// none.
    fn companion(&self, place: usize) -> *const u8 {
        let found = self.compiled.companion.filter(|(start, _)| *start == place);
        let code = found.and_then(|(_, at)| self.code.get(at..));
        code.map_or(std::ptr::null(), <[u8]>::as_ptr)
    }

    /// The address of the code that begins at a place.
    fn target(&self, place: usize, running: u32) -> Option<*const u8> {
        let target = self.code.get(self.entry(place, running)?..);
        target.map(<[u8]>::as_ptr)
    }

    /// Runs the code from the place of the thread on, if there is any, and of the threads that follow it.
    pub(crate) fn run(
        &self,
        thread: &mut NativeThread,
        host: &mut dyn Host,
    ) -> Result<(), NativeFault> {
        let mut context = Context {
            file: std::ptr::null_mut(),
            left: 0,
            local: std::ptr::null_mut(),
            local_bytes: 0,
            storage: std::ptr::null(),
            storage_mask: 0,
            surfaces: std::ptr::null(),
            surface_count: 0,
            constants: self.compiled.constants.as_ptr(),
            running: 0,
            lane_operations: 0,
            place: 0,
            target: std::ptr::null(),
            step,
            branch,
            fault: 0,
            state: State::new(usize::MAX, NativeMode::Other),
            own: Own::NEW,
            lanes: [const { MaybeUninit::uninit() }; place::MOST_LANES],
            pair: Pair {
                file: std::ptr::null_mut(),
                running: 0,
                left: 0,
                lane_operations: 0,
                state: State::new(usize::MAX, NativeMode::Other),
                known_cr0: UNWRITTEN,
                other_state: State::new(usize::MAX, NativeMode::Other),
                other_used: 0,
                other_lane_operations: 0,
                started: 0,
                waits: 0,
            },
            split,
            give_up,
            flushed_f: [0; 16],
            flushed_df: [0; 8],
            granted: 0,
            follower: 0,
            followers_end: 0,
            written: 0,
            followers: [const { MaybeUninit::uninit() }; FOLLOWERS],
            known_follower: 0,
            repeats: 0,
            again,
            host,
            pages: self,
            paths: [0; PATHS],
            products: Products([const { MaybeUninit::uninit() }; place::PRODUCTS_BYTES / 8]),
        };
        context.borrow();
        context.follow(thread);
        while context.start(thread) {
            // SAFETY: the pages hold a function of this type at their start: it was emitted by this crate's compiler,
            // saves the registers required by the convention, and returns.
            let enter: extern "sysv64" fn(&mut Context<'_>) =
                unsafe { std::mem::transmute(self.code.as_ptr()) };
            // The code jumps to `target`, also that of a follower, and to what `branch` returns, which are its own labels, and accesses nothing
            // but the context, the constants, its stack, the register file, whose size was compared with the one it was
            // compiled for just now and after each call back, those of followers, of which the same is true when they are
            // taken from the host, and shared local and global memory, whose bounds it
            // compares before each access with those in the context and in the storage that a memory lends. Global
            // memory consists of atomic words: elements are read and written like relaxed accesses to them, and
            // exchanged by instructions with a lock. What it knows of files and memory stays valid, as only the interpreter
            // implements `Host`.
            enter(&mut context);
            if self.compiled.traced {
                path::count(&std::mem::replace(&mut context.paths, [0; PATHS]));
            }
            context.end(thread);
            if context.fault != 0 {
                return Err(NativeFault);
            }
            // The next thread has its own registers; the rest of the memory is that of the group.
            let Some(registers) = context.host.next(thread) else {
                break;
            };
            context.file = self.place(registers);
            context.skip_follower(thread);
        }
        Ok(())
    }
}
