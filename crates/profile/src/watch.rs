//! The observer of sampled groups: what messages access, and how long threads wait at barriers.

use crate::code::{KernelCode, Kind};
use crate::cost::{BANKS, LINE_BYTES};
use crate::data::{Messages, Reach, Waits};
use hashbrown::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};
use visakit_exec::{InstructionEvent, MemoryAccess, Observer, Space};

/// Maximum number of remembered loads of a thread, to limit memory.
const REMEMBERED: usize = 1 << 18;

/// The observations of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) messages: Messages,
    /// Executions, and cycles that threads waited, of a barrier.
    pub(crate) arrivals: u64,
    pub(crate) waited: u64,
}

impl Seen {
    /// Of a barrier: how long threads waited.
    pub(crate) const fn waits(&self) -> Waits {
        Waits {
            arrivals: self.arrivals,
            cycles: self.waited,
        }
    }
}

/// An access of the message that runs.
#[derive(Clone, Copy)]
struct Access {
    space: Reach,
    address: u64,
    bytes: u64,
    read: bool,
    write: bool,
    atomic: bool,
}

/// What is known about a thread.
#[derive(Debug, Default)]
struct Thread {
    /// Cycles since the group began.
    clock: u64,
    /// When it came to the barrier where it waits, and which instruction that is.
    arrived: Option<(u64, usize)>,
    /// Dwords that it has loaded since it last met others.
    loaded: HashSet<(Reach, u64)>,
}

/// What is known about a group.
#[derive(Debug, Default)]
struct Group {
    threads: HashMap<usize, Thread>,
    /// Lines that it has touched.
    lines: HashSet<(Reach, u64)>,
}

/// Watches groups of one worker.
pub(crate) struct Watch<'c> {
    code: &'c KernelCode,
    /// Private memory in flat memory.
    private: Range<u64>,
    seen: HashMap<usize, Seen>,
    /// The group whose turn it is, its place until it has ended, and others that have begun.
    group: Group,
    place: Option<[u32; 3]>,
    aside: HashMap<[u32; 3], Group>,
    accesses: Vec<Access>,
    scratch: Vec<(Reach, u64)>,
    groups: u64,
}

impl<'c> Watch<'c> {
    pub(crate) fn new(code: &'c KernelCode, private: Range<u64>) -> Self {
        Self {
            code,
            private,
            seen: HashMap::new(),
            group: Group::default(),
            place: None,
            aside: HashMap::new(),
            accesses: Vec::new(),
            scratch: Vec::new(),
            groups: 0,
        }
    }

    /// The observations of each instruction, and the number of groups.
    pub(crate) fn finish(self) -> (HashMap<usize, Seen>, u64) {
        (self.seen, self.groups)
    }

    fn put_aside(&mut self) {
        if let Some(place) = self.place {
            self.aside.insert(place, std::mem::take(&mut self.group));
        }
    }

    fn thread(&mut self, number: usize) -> &mut Thread {
        self.group.threads.entry(number).or_default()
    }

    /// A thread waiting at a barrier continues: so do all, at the time when the last one arrived.
    fn released(&mut self) {
        let arrived = self.group.threads.values().filter_map(|t| t.arrived);
        let last = arrived.map(|(clock, _)| clock).max().unwrap_or(0);
        for thread in self.group.threads.values_mut() {
            if let Some((clock, place)) = thread.arrived.take() {
                let seen = self.seen.entry(place).or_default();
                seen.arrivals += 1;
                seen.waited += last - clock;
                thread.clock = last;
                // Others may have written what it loads again.
                thread.loaded.clear();
            }
        }
    }

    /// The message has made all its accesses.
    fn message(&mut self, thread: usize, place: usize) {
        let mut accesses = std::mem::take(&mut self.accesses);
        let mut found = Messages {
            executions: 1,
            ..Messages::default()
        };
        let mut dwords = std::mem::take(&mut self.scratch);
        dwords.clear();
        let mut new = 0;
        for access in &accesses {
            found.asked_bytes += access.bytes;
            if matches!(access.space, Reach::Private | Reach::Scratch) {
                found.spill_bytes += access.bytes;
            }
            let last = access.address.saturating_add(access.bytes.max(1) - 1);
            dwords.extend((access.address / 4..=last / 4).map(|d| (access.space, d)));
        }
        found.reach = accesses.first().map(|access| access.space);
        let local = found.reach == Some(Reach::Local);
        let read_only = accesses.iter().all(|a| a.read && !a.write);
        let atomic = accesses.iter().any(|a| a.atomic);
        if local {
            found.bank_ideal = (dwords.len() as u64).div_ceil(BANKS as u64);
            if read_only {
                // Lanes that read the same word share it; writers do not.
                dwords.sort_unstable();
                dwords.dedup();
                found.bank_ideal = (dwords.len() as u64).div_ceil(BANKS as u64);
            }
            let mut banks = [0u64; BANKS];
            for (_, dword) in &dwords {
                let bank = usize::try_from(dword % BANKS as u64).unwrap_or(0);
                if let Some(bank) = banks.get_mut(bank) {
                    *bank += 1;
                }
            }
            found.bank_cycles = banks.iter().copied().max().unwrap_or(0);
        }
        if !dwords.is_empty() {
            dwords.sort_unstable();
            dwords.dedup();
            // Lines of distinct words.
            let line = |dword: &(Reach, u64)| (dword.0, dword.1 / (LINE_BYTES / 4));
            let mut before = None;
            for dword in &dwords {
                let line = line(dword);
                if before != Some(line) {
                    before = Some(line);
                    found.lines += 1;
                    if !local && self.group.lines.insert(line) {
                        new += 1;
                    }
                }
            }
            let known = self.thread(thread);
            if known.loaded.len() > REMEMBERED {
                known.loaded.clear();
            }
            if atomic {
                known.loaded.clear();
            } else if read_only {
                let again = dwords.iter().filter(|d| !known.loaded.insert(**d)).count();
                found.redundant_bytes = 4 * again as u64;
                found.loaded_bytes = 4 * dwords.len() as u64;
            } else {
                for dword in &dwords {
                    known.loaded.remove(dword);
                }
            }
        }
        found.fetched_lines = new;
        let line_cycles = u64::from(self.code.device.line_cycles);
        let passes = if local {
            found.bank_cycles
        } else {
            found.lines
        };
        found.cycles = passes * line_cycles;
        self.thread(thread).clock += found.cycles;
        self.seen.entry(place).or_default().messages += found;
        accesses.clear();
        self.accesses = accesses;
        self.scratch = dwords;
    }
}

impl Observer for Watch<'_> {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = true;

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        let thread = self.thread(event.thread);
        if thread.arrived.is_some() {
            self.released();
        }
        self.accesses.clear();
        ControlFlow::Continue(())
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        let code = self.code;
        let Some(place) = code.steps.get(event.step).copied().flatten() else {
            return;
        };
        let Some(instruction) = code.instructions.get(place) else {
            return;
        };
        let cost = u64::from(instruction.issue) + u64::from(instruction.latency);
        let thread = self.thread(event.thread);
        thread.clock += cost;
        match instruction.kind {
            Kind::Barrier => thread.arrived = Some((thread.clock, place)),
            Kind::Message { .. } => self.message(event.thread, place),
            _ => {}
        }
    }

    fn memory(&mut self, access: &MemoryAccess, _registers: &[u8]) {
        let (space, address) = match (access.space, access.extent) {
            (Space::Local, _) => (Reach::Local, access.address),
            (Space::Scratch, _) => (Reach::Scratch, access.address),
            (Space::Global, _) if self.private.contains(&access.address) => {
                (Reach::Private, access.address)
            }
            (Space::Global, _) => (Reach::Global, access.address),
            (Space::Surface(_), _) if access.texel => (Reach::Image, access.address),
            // A surface of a buffer is a part of flat memory.
            (Space::Surface(_), Some(extent)) => {
                (Reach::Global, extent.base.wrapping_add(access.address))
            }
            (Space::Surface(number), None) => {
                (Reach::Global, u64::from(number) << 48 | access.address)
            }
        };
        self.accesses.push(Access {
            space,
            address,
            // Bounded, whatever a message says.
            bytes: u64::from(access.bytes).min(1 << 16),
            read: access.read,
            write: access.write,
            atomic: access.atomic,
        });
    }

    fn group(&mut self, place: [u32; 3], _size: [u32; 3]) {
        self.put_aside();
        self.place = Some(place);
        self.groups += 1;
    }

    fn turn(&mut self, place: [u32; 3]) {
        if let Some(group) = self.aside.remove(&place) {
            self.put_aside();
            (self.group, self.place) = (group, Some(place));
        }
    }

    fn ended(&mut self) {
        self.group.threads.clear();
        self.group.lines.clear();
        self.place = None;
    }
}
