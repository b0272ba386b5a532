//! Runs one group after the other.

use super::launch::Prepared;
use crate::effort::{After, Done, Effort};
use crate::error::{LaunchError, zeroes};
use crate::facts::Facts;
use crate::payload::Layout;
use crate::turns::{self, Pace, Team as _};
use std::cell::Cell;
use visakit_exec::{BufferId, Group, Limits, Observer, Program, ThreadStart};

/// The state of a worker kept from group to group: the threads' registers and payloads.
pub(crate) struct Team<'l> {
    launch: &'l Prepared,
    /// Number of the worker, which selects its piece of private memory.
    slot: u64,
    group: Group,
    starts: Vec<ThreadStart>,
    /// The size of groups that `starts` are for.
    local: Option<[u32; 3]>,
    /// Groups of the grid in each dimension.
    groups: [u32; 3],
    /// The last group, by number and coordinates.
    last: (u64, [u32; 3]),
    /// Private memory, while another group of the worker runs.
    aside: Vec<u8>,
}

impl<'l> Team<'l> {
    pub(crate) fn new(launch: &'l Prepared, slot: u64) -> Self {
        Self {
            launch,
            slot,
            group: Group::default(),
            starts: Vec::new(),
            local: None,
            groups: launch.range.groups(),
            last: (0, [0; 3]),
            aside: Vec::new(),
        }
    }

    /// The private memory of the worker's groups, which use it one after the other: its buffer, where it begins there, and
    /// its bytes.
    fn private(&self) -> Option<(BufferId, usize, usize)> {
        let (launch, bytes) = (self.launch, self.shared_bytes());
        let start = self.slot.saturating_mul(bytes);
        let (buffer, at) = launch.memory().find(launch.bound.private_base)?;
        let at = usize::try_from(at.saturating_add(start)).ok()?;
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0)?;
        Some((buffer, at, bytes))
    }

    /// The coordinates of a group: mostly it is the one after the last.
    fn find(&mut self, number: u64) -> [u32; 3] {
        let (last, [x, y, z]) = self.last;
        let at = match self.groups {
            [width, ..] if number == last + 1 && x + 1 < width => [x + 1, y, z],
            _ if number == last => [x, y, z],
            _ => self.launch.range.group(number),
        };
        self.last = (number, at);
        at
    }

    /// Gets the threads of a group ready. `watched` says that registers are read from outside.
    fn start(&mut self, at: [u32; 3], limits: &Limits, watched: bool) -> Result<(), LaunchError> {
        let launch = self.launch;
        let local = launch.range.local_of(at);
        let same = self.local == Some(local);
        if !same {
            self.local = None;
            self.fill(local)?;
            self.local = Some(local);
        }
        let implicit = launch.implicit_place(local);
        for (thread, start) in (0_u32..).zip(&mut self.starts) {
            let image = &mut start.image;
            launch.layout.write_header(image, at, thread, implicit);
            start.group_id = at;
        }
        let (program, slm) = (&*launch.program, launch.bound.slm_bytes);
        let group = &mut self.group;
        let started = if same && !watched {
            group.next(program, slm, &self.starts, limits)
        } else {
            group.reset(program, slm, &self.starts, limits)
        };
        if let Err(fault) = started {
            // The state of the threads is unknown.
            self.local = None;
            return Err(at_group(at, fault));
        }
        Ok(())
    }

    /// The group, ready to run.
    pub(crate) fn started(mut self, number: u64, limits: &Limits) -> Result<Group, LaunchError> {
        let at = self.find(number);
        self.start(at, limits, true)?;
        Ok(self.group)
    }

    /// Lays out the payloads of the threads of a group of that size.
    fn fill(&mut self, local: [u32; 3]) -> Result<(), LaunchError> {
        let launch = self.launch;
        let layout = &launch.layout;
        let facts = launch.facts(local);
        let bytes = usize::try_from(layout.bytes).unwrap_or(0);
        let payload = || zeroes("the payload of a thread", bytes);
        let mut shared = payload()?;
        layout.write_cross_thread(&mut shared, &launch.info, &facts)?;
        let most = u64::from(layout.threads(launch.range.local));
        let first = self.slot.saturating_mul(most);
        self.starts.clear();
        for thread in 0..layout.threads(local) {
            let mut image = payload()?;
            image.copy_from_slice(&shared);
            layout.write_local_ids(&mut image, local, launch.walk, thread);
            if launch.private > 0 {
                // Every thread believes to be the first of the machine, and has its own memory.
                let number = first.saturating_add(thread.into());
                let place = number.saturating_mul(launch.private);
                let facts = Facts {
                    private_base: launch.bound.private_base.saturating_add(place),
                    ..facts
                };
                layout.write_private_base(&mut image, &launch.info, &facts)?;
            }
            let mask = layout.live_lanes(local, thread);
            self.starts.push(ThreadStart {
                image,
                mask,
                sr0: [0, 0, mask, 0],
                local_size: local,
                group_count: launch.range.groups(),
                scratch_bytes: launch.scratch,
                ..ThreadStart::default()
            });
        }
        Ok(())
    }
}

impl turns::Team for Team<'_> {
    fn begin(
        &mut self,
        number: u64,
        effort: &Effort<'_>,
        observer: &mut impl Observer,
    ) -> Result<(), LaunchError> {
        let at = self.find(number);
        observer.group(at, self.launch.range.local_of(at));
        self.start(at, effort.limits(), watches(observer))
    }

    fn go_on(
        &mut self,
        fuel: u64,
        effort: &Effort<'_>,
        done: &mut Done,
        observer: &mut impl Observer,
        after: &mut After<'_>,
    ) -> Result<Pace, LaunchError> {
        let launch = self.launch;
        let (number, at) = self.last;
        let implicit = launch.implicit_place(launch.range.local_of(at));
        let ([items, ..], [all, ..]) = (launch.range.local, launch.range.global);
        // Groups in each row that are not cut off at its end.
        let whole = all / items.max(1);
        let last = Cell::new(self.last);
        let mut passed = 0;
        // Groups in a row differ in one dword of the header.
        let mut more = || {
            let (number, [x, y, z]) = last.get();
            let next = [x + 1, y, z];
            if x + 1 >= whole {
                return None;
            }
            last.set((after(number)?, next));
            passed += 1;
            effort.progress();
            Some(Layout::header(next, implicit))
        };
        let parts = (&mut self.group, &*launch.program, launch.memory());
        let fault = |fault| at_group(last.get().1, fault);
        let ran = effort.run((number, fuel), parts, observer, done, fault, &mut more);
        self.last = last.get();
        done.groups += passed;
        ran
    }

    fn number(&self) -> u64 {
        self.last.0
    }

    fn place(&self) -> [u32; 3] {
        self.last.1
    }

    fn threads(&self) -> (&Group, &Program) {
        (&self.group, &self.launch.program)
    }

    fn shared_bytes(&self) -> u64 {
        let threads = u64::from(self.launch.threads_of_group());
        self.launch.private.saturating_mul(threads)
    }

    fn put_aside(&mut self) {
        let Some((buffer, at, bytes)) = self.private() else {
            return;
        };
        self.aside.resize(bytes, 0);
        self.launch.memory().read_into(buffer, at, &mut self.aside);
    }

    fn take_up(&mut self) {
        if let Some((buffer, at, _)) = self.private() {
            self.launch.memory().write(buffer, at as u64, &self.aside);
        }
    }
}

/// Whether an observer examines registers that the program does not read.
fn watches<O: Observer>(_: &O) -> bool {
    O::ALL_REGISTERS
}

fn at_group(group: [u32; 3], fault: visakit_exec::Fault) -> LaunchError {
    LaunchError::Fault {
        group: Some(group),
        fault: Box::new(fault),
    }
}
