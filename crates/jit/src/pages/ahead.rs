//! Threads that run before their turn, and two that run side by side: what machine code leaves to functions.

use super::{Context, ENDED, NOT_ALONE, Own, State};
use visakit_exec::{NativeAhead, NativeLanes};

/// A thread that machine code can go on with, or has left behind.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Follower {
    /// Its register file.
    pub(super) file: *mut u8,
    /// Lanes that run.
    pub(super) running: u64,
    /// Where it goes on.
    pub(super) target: *const u8,
    /// Out: the step at which it waits, after a barrier or before its turn, or [`ENDED`].
    pub(super) place: u64,
    /// Out: the content of `%cr0`, if it waits.
    pub(super) state: State,
    pub(super) own: Own,
    /// Instructions that it has run before its turn, and their enabled lanes.
    pub(super) ahead: u64,
    pub(super) lane_operations: u64,
    /// How it began: [`Self::running`], [`Self::target`] and [`Self::state`].
    pub(super) began: (u64, *const u8, State),
}

impl Follower {
    /// A thread that begins with these lanes.
    pub(super) const fn new(file: *mut u8, running: u32, target: *const u8, state: State) -> Self {
        Self {
            file,
            running: running as u64,
            target,
            place: ENDED,
            state,
            own: Own::NEW,
            ahead: 0,
            lane_operations: 0,
            began: (running as u64, target, state),
        }
    }

    /// It begins again.
    pub(super) const fn restart(&mut self) {
        (self.running, self.target, self.state) = self.began;
        (self.own.parked, self.own.behind) = (0, NOT_ALONE);
        (self.ahead, self.lane_operations) = (0, 0);
    }
}

/// Two threads that run side by side in a loop, or are about to: the one whose turn it is, and the next one.
#[repr(C)]
pub(super) struct Pair {
    /// The first one, while the next one comes to the loop.
    pub(super) file: *mut u8,
    pub(super) running: u64,
    pub(super) left: u64,
    pub(super) lane_operations: u64,
    pub(super) state: State,
    pub(super) known_cr0: u64,
    /// The state of the second one.
    pub(super) other_state: State,
    /// Instructions that it ran until it came to the loop, and its enabled lanes so far.
    pub(super) other_used: u64,
    pub(super) other_lane_operations: u64,
    /// [`Context::left`] when both began.
    pub(super) started: u64,
    /// The offset of the thread that has run before its turn, or 0.
    pub(super) waits: u64,
}

impl Context<'_> {
    /// Tells the host of the next thread, if it has run before its turn.
    pub(super) fn tell_ahead(&mut self) {
        let waits = std::mem::take(&mut self.pair.waits);
        if waits == 0 || waits != self.follower {
            return;
        }
        let Some(next) = self.at(waits) else {
            return;
        };
        let thread = NativeAhead {
            lanes: NativeLanes {
                place: usize::try_from(next.place).unwrap_or(usize::MAX),
                running: u32::try_from(next.running).unwrap_or(0),
                waiting: usize::try_from(next.state.waiting).unwrap_or(usize::MAX),
            },
            parked: u32::try_from(next.own.parked).unwrap_or(0),
            instructions: next.ahead,
            lane_operations: next.lane_operations,
            cr0: u32::try_from(next.state.cr0).ok(),
        };
        self.host.ahead(&thread);
        // The host knows better how the others go on.
        self.followers_end = self.follower;
    }

    /// The next thread waits, at a step, until it has its turn.
    fn let_wait(
        &mut self,
        (place, running, parked): (u64, u64, u64),
        state: State,
        ahead: [u64; 2],
    ) {
        let pages = self.pages;
        let lanes = u32::try_from(running).unwrap_or(0);
        let target = usize::try_from(place).ok();
        let target = target.and_then(|place| pages.target(place, lanes));
        self.pair.waits = self.follower;
        let Some(next) = self.at(self.follower) else {
            return;
        };
        (next.place, next.running, next.state) = (place, running, state);
        (next.own.parked, next.own.behind) = waiting(&mut next.state, parked);
        [next.ahead, next.lane_operations] = ahead;
        if let Some(target) = target {
            next.target = target;
        } else {
            // The interpreter has to go on with it.
            self.followers_end = self.follower;
            self.repeats = 0;
        }
    }
}

/// Lets lanes wait in a state, or none: what [`Own::parked`] and [`Own::behind`] are then.
fn waiting(state: &mut State, parked: u64) -> (u64, u64) {
    if parked == 0 {
        state.waiting = usize::MAX as u64;
        (0, NOT_ALONE)
    } else {
        (parked, usize::MAX as u64)
    }
}

/// See [`Context::split`]. Running lanes go on at [`Context::place`]; of a thread of which none run, those that wait go on
/// where they wait.
pub(super) extern "sysv64" fn split(context: &mut Context<'_>) -> *const u8 {
    let pages = context.pages;
    let full = u64::from(pages.compiled.full);
    let half = full.count_ones();
    let (place, waits_at) = (context.place, context.state.waiting);
    let part = |running: u64, parked: u64| match running & full {
        0 => (waits_at, parked & full, 0),
        running => (place, running, parked & full),
    };
    let own = part(context.running, context.own.parked);
    let other = part(context.running >> half, context.own.parked >> half);
    let mut other_state = context.pair.other_state;
    other_state.waiting = waits_at;
    let used = context.pair.other_used + (context.pair.started - context.left);
    let lane_operations = context.pair.other_lane_operations;
    context.let_wait(other, other_state, [used, lane_operations]);
    let mut state = context.pair.state;
    state.waiting = waits_at;
    (context.place, context.running) = (own.0, own.1);
    (context.own.parked, context.own.behind) = waiting(&mut state, own.2);
    context.state = state;
    context.own.known_cr0 = context.pair.known_cr0;
    context.file = context.pair.file;
    let lanes = u32::try_from(own.1).unwrap_or(0);
    let place = usize::try_from(own.0).unwrap_or(usize::MAX);
    let entry = pages.entry(place, lanes).unwrap_or(pages.compiled.end);
    // As in `branch`.
    pages.code.as_ptr().wrapping_add(entry)
}

/// See [`Context::give_up`]. The next thread is at [`Context::place`].
pub(super) extern "sysv64" fn give_up(context: &mut Context<'_>) {
    let lanes = (context.place, context.running, 0);
    let used = context.pair.left - context.left;
    let ahead = [used, context.lane_operations];
    context.let_wait(lanes, context.state, ahead);
    let pair = &context.pair;
    (context.file, context.running) = (pair.file, pair.running);
    (context.left, context.lane_operations) = (pair.left, pair.lane_operations);
    (context.state, context.own.known_cr0) = (pair.state, pair.known_cr0);
}
