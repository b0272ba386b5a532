//! The observer that checks.

mod bounds;
mod branches;
mod conflicts;
mod flow;
mod group;
mod messages;
mod named;
mod observe;
mod origins;
mod overflow;
mod registers;
mod report;
mod steps;

use crate::finding::{Access, Checks, Finding, Item, Kind, Place, Stay};
pub(crate) use crate::found::{Cause, Found, NONE};
use crate::listing::Listing;
use crate::objects::Objects;
use crate::race::{Cells, Conflict, Now, Order};
use crate::shadow::{Pages, Shadow};
use conflicts::exchanges;
use group::{Group, OfLane};
use hashbrown::{HashMap, HashSet};
use messages::Settled;
pub(crate) use named::Barriers;
use origins::{Area, Origins};
use std::ops::Range;
use steps::{StepInfo, Widths, ever_read, role};
use visakit_exec::code::Code;
use visakit_exec::unwatched_runs;
use visakit_isa::object::RoutineId;
use visakit_launch::Stopped;

/// What is known about a thread.
#[derive(Debug)]
struct Thread {
    live: u32,
    shadow: Shadow,
    scratch: Pages,
    /// For elements of address variables: the variable that they point into, by its number.
    points_at: HashMap<usize, usize>,
    /// Number of barriers it has reached, and of those it has left.
    signals: u64,
    waits: u64,
    /// The barrier that it waits at, and the step of the wait.
    pending: Option<(u64, u32)>,
    time: u32,
}

/// Elements by which compilers interleave the private memory of lanes, in bytes.
const INTERLEAVED: [i64; 6] = [1, 2, 4, 8, 16, 32];

/// Watches a launch and collects findings.
#[derive(Debug)]
pub(crate) struct Checker {
    checks: Checks,
    code: Code,
    steps: Vec<StepInfo>,
    /// For each step whether it computes an address of 32 bits, and whether its sign is extended.
    sums: Vec<Option<bool>>,
    names: Vec<(RoutineId, String)>,
    listing: Listing,
    objects: Objects,
    template: Shadow,
    /// Variables whose address is taken: their places with exact sizes, and names.
    addressed: Vec<(Range<usize>, String)>,
    variables: Vec<(Range<usize>, String)>,
    ids: Ids,
    /// The group whose turn it is, others that have begun, and what remains of those that have ended.
    group: Group,
    aside: HashMap<[u32; 3], Group>,
    spare: Vec<Group>,
    /// Groups that have begun.
    begun: u32,
    flat: Pages,
    flat_cells: Cells,
    order: Order,
    barriers: Barriers,
    origins: Origins,
    /// Whether the private memory of the lanes is contiguous; `None` until it is known.
    contiguous: Option<bool>,
    /// Lanes of the current message in private memory that are where such a layout would place them, and others.
    votes: (u32, u32),
    /// Sizes of elements by which lanes may be interleaved in scratch memory, judging by what the current message
    /// accessed.
    interleaved: Vec<i64>,
    /// The lane and object that the current message reached last.
    reached: Option<(Option<u8>, Area)>,
    /// An address of the current message depends on undefined bits: what it then conflicts with means nothing.
    astray: bool,
    /// Which checks of the current message are already done.
    settled: Option<Settled>,
    /// The value that the current access writes.
    stored: Option<u64>,
    /// Whether undefined bits are tracked: always for memory that nobody has written, and for bytes past the end of an
    /// object from the first one that was read.
    tracks: bool,
    /// Steps that can be ignored as long as definedness is not tracked.
    unwatched: Vec<u16>,
    /// Steps whose registers are known to be numbers of a buffer.
    moved: HashSet<u32>,
    /// Number of the source line of each step.
    keys: Vec<u32>,
    sub_groups: bool,
    /// Whether some sampler may define what is outside of an image.
    bordered: bool,
    /// Lanes of the thread that run.
    running: u32,
    /// Bytes of the register file that some step reads.
    ever_read: Vec<bool>,
    /// The width of the elements that the program keeps in the register file.
    widths: Widths,
    /// Findings that are valid only if the program uses these registers as one number of this many bytes.
    unconfirmed: HashMap<Cause, (Range<usize>, u32)>,
    /// Groups in each dimension.
    groups: [u32; 3],
    current: (u32, usize),
    /// What the current access does.
    accessing: Option<Access>,
    /// Whether the program compares and exchanges.
    exchanges: bool,
    /// Plain reads of the current message, and where in the register file their values will be.
    reading: Vec<(OfLane, Range<usize>)>,
    /// Conflicts of the current access.
    conflicts: Vec<(Conflict, Now)>,
    found: Found,
}

/// How lanes are work-items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    pub(crate) simd: u32,
    pub(crate) walk: [usize; 3],
    pub(crate) local: [u32; 3],
    pub(crate) offset: [u32; 3],
    /// Lanes are work-items; else a thread is one program.
    pub(crate) of_lanes: bool,
}

impl Ids {
    fn local_id(&self, size: [u32; 3], thread: u32, lane: u32) -> [u32; 3] {
        let number = thread.saturating_mul(self.simd).saturating_add(lane);
        visakit_launch::local_id(number, size, self.walk)
    }
}

/// What a checker needs to know before the launch.
pub(crate) struct Setting {
    pub(crate) checks: Checks,
    pub(crate) code: Code,
    pub(crate) listing: Listing,
    pub(crate) objects: Objects,
    pub(crate) defined: Vec<Range<usize>>,
    pub(crate) addressed: Vec<Range<usize>>,
    pub(crate) variables: Vec<(Range<usize>, String)>,
    pub(crate) ids: Ids,
    pub(crate) groups: [u32; 3],
    /// Some sampler may define what is outside of an image.
    pub(crate) bordered: bool,
    /// The program relies on sub-groups: the order given by lockstep is intended.
    pub(crate) sub_groups: bool,
    pub(crate) order: Order,
    pub(crate) barriers: Barriers,
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE)
}

impl Checker {
    pub(crate) fn new(setting: Setting) -> Self {
        let code = &setting.code;
        let steps = code.steps.iter().map(|step| StepInfo {
            role: role(step),
            lanes: usize::from(step.lanes.count),
            first: step.lanes.first,
            no_mask: step.lanes.no_mask,
        });
        let steps = steps.collect();
        let names = code.routines.iter().map(|r| (r.id, r.name.clone()));
        let names = names.collect();
        let mut template = Shadow::of_registers(code.register_bytes, setting.checks.uninitialized);
        // There is nothing below the first variable, and wide reads may extend into what follows the last one.
        for range in &setting.defined {
            template.define(range.start, range.len());
        }
        let addressed = setting.addressed.iter().map(|range| {
            let exact = setting
                .variables
                .iter()
                .filter(|(of, _)| of.start == range.start)
                .max_by_key(|(of, _)| of.len());
            exact.map_or_else(
                || (range.clone(), "a variable".to_owned()),
                |(of, name)| (of.clone(), name.clone()),
            )
        });
        let sums = match setting.checks.arithmetic {
            true => overflow::sums_of_addresses(code),
            false => Vec::new(),
        };
        Self {
            checks: setting.checks,
            steps,
            sums,
            names,
            listing: setting.listing,
            objects: setting.objects,
            template,
            addressed: addressed.collect(),
            variables: setting.variables,
            ids: setting.ids,
            group: Group::default(),
            aside: HashMap::new(),
            spare: Vec::new(),
            begun: 0,
            flat: Pages::default(),
            flat_cells: Cells::default(),
            order: setting.order,
            barriers: setting.barriers,
            origins: Origins::default(),
            contiguous: None,
            votes: (0, 0),
            interleaved: Vec::new(),
            reached: None,
            sub_groups: setting.sub_groups,
            bordered: setting.bordered,
            running: 0,
            ever_read: ever_read(code, &setting.addressed),
            widths: Widths::new(code),
            unconfirmed: HashMap::new(),
            groups: setting.groups,
            astray: false,
            settled: None,
            stored: None,
            tracks: setting.checks.uninitialized,
            unwatched: Vec::new(),
            moved: HashSet::new(),
            keys: Vec::new(),
            current: (NONE, 0),
            accessing: None,
            exchanges: exchanges(code),
            reading: Vec::new(),
            conflicts: Vec::new(),
            found: Found::default(),
            code: setting.code,
        }
        .number_lines()
        .leave_out()
    }

    /// Determines the steps that need not be watched.
    fn leave_out(mut self) -> Self {
        if !self.checks.arithmetic {
            let watched = steps::watched(&self.code, &self.steps, self.checks);
            self.unwatched = unwatched_runs(watched.into_iter());
        }
        self
    }

    /// Assigns every step the number of its source line.
    fn number_lines(mut self) -> Self {
        let mut lines = HashMap::new();
        let keys = (0..small(self.code.steps.len())).map(|step| {
            let place = self.place(step);
            match place.line {
                Some(line) => *lines.entry((place.file, line)).or_insert(step),
                None => step,
            }
        });
        self.keys = keys.collect();
        self
    }

    /// The findings, without consequences of others: a read that saw a value before the write that it races with.
    pub(crate) fn findings(self) -> Vec<Finding> {
        let Self {
            found,
            unconfirmed,
            widths,
            ..
        } = self;
        let mut found = found.sorted();
        found.retain(|(cause, _)| {
            let of = unconfirmed.get(cause);
            of.is_none_or(|(range, element)| widths.is_number(range, *element))
        });
        let is_race = |kind| matches!(kind, Kind::Race | Kind::RaceSameValue);
        let races = found.iter().filter(|(cause, _)| is_race(cause.kind));
        let races: Vec<_> = races
            .flat_map(|(cause, f)| {
                let other = f.other.as_ref().and_then(|o| o.place.clone());
                let places = std::iter::once(f.place.clone()).chain(other);
                places.map(|place| (cause.object, place))
            })
            .collect();
        let same = |a: &Place, b: &Place| {
            a.routine == b.routine
                && (a.instruction == b.instruction || a.line.is_some() && a.line == b.line)
        };
        found.retain(|(cause, finding)| {
            let from = finding.other.as_ref().and_then(|o| o.place.as_ref());
            let follows = finding.kind == Kind::Uninitialized
                && from.is_some_and(|from| {
                    let of = |race: &(usize, Place)| race.0 == cause.object && same(&race.1, from);
                    races.iter().any(of)
                });
            !follows
        });
        found.into_iter().map(|(_, finding)| finding).collect()
    }

    /// Where threads were when the launch was stopped.
    pub(crate) fn stays(&self, stopped: &Stopped) -> Vec<Stay> {
        let mut stays: Vec<Stay> = Vec::new();
        for thread in &stopped.threads {
            let name = self.names.iter().find(|(id, _)| *id == thread.routine);
            let Some(name) = name else { continue };
            let place = self
                .listing
                .place((name.0, name.1.as_str()), thread.instruction);
            match stays
                .iter_mut()
                .find(|s| s.waits == thread.waits && s.place == place)
            {
                Some(stay) => stay.threads += 1,
                None => stays.push(Stay {
                    place,
                    threads: 1,
                    waits: thread.waits,
                    item: Item {
                        group: thread.group,
                        global: None,
                        local: None,
                        thread: small(thread.thread),
                        lane: None,
                    },
                }),
            }
        }
        stays.sort_by_key(|stay| std::cmp::Reverse(stay.threads));
        stays
    }

    fn thread(&mut self, number: usize, live: u32) -> &mut Thread {
        let threads = &mut self.group.threads;
        if threads.len() <= number {
            threads.resize_with(number + 1, || None);
        }
        let template = &self.template;
        let place = threads.get_mut(number);
        #[expect(clippy::unwrap_used, reason = "the list was made long enough")]
        place.unwrap().get_or_insert_with(|| Thread {
            live,
            shadow: template.clone(),
            scratch: Pages::default(),
            points_at: HashMap::new(),
            signals: 0,
            waits: 0,
            pending: None,
            time: 0,
        })
    }

    fn place(&self, step: u32) -> Place {
        let origin = self.code.steps.get(step as usize).map(|s| s.origin);
        let Some(origin) = origin else {
            return Place::default();
        };
        match self.names.get(origin.routine as usize) {
            Some((id, name)) => self.listing.place((*id, name), origin.instruction as usize),
            None => Place::default(),
        }
    }

    fn item(&self, thread: usize, lane: Option<u8>) -> Item {
        let (group, size) = (self.group.place, self.group.size);
        let thread = small(thread);
        let lanes = lane.filter(|_| self.ids.of_lanes);
        let local = lanes.map(|lane| self.ids.local_id(size, thread, lane.into()));
        let global = local.map(|local| {
            std::array::from_fn(|d| {
                let of = |a: &[u32; 3]| a.get(d).copied().unwrap_or(0);
                of(&group)
                    .wrapping_mul(of(&self.ids.local))
                    .wrapping_add(of(&local))
                    .wrapping_add(of(&self.ids.offset))
            })
        });
        Item {
            group,
            global,
            local,
            thread,
            lane,
        }
    }

    /// A work-item of the group of that number.
    fn item_of_group(&self, number: u32, thread: usize, lane: Option<u8>) -> Item {
        let [x, y, _] = self.groups.map(|n| n.max(1));
        let linear = [number % x, number / x % y, number / x / y];
        let group = self.order.place(number).unwrap_or(linear);
        let mut item = self.item(thread, lane);
        item.group = group;
        if let Some(local) = item.local {
            item.global = Some(std::array::from_fn(|d| {
                let of = |a: &[u32; 3]| a.get(d).copied().unwrap_or(0);
                of(&group)
                    .wrapping_mul(of(&self.ids.local))
                    .wrapping_add(of(&local))
                    .wrapping_add(of(&self.ids.offset))
            }));
        }
        item
    }

    /// The lane of the thread that a lane of the current step is.
    fn thread_lane(&self, lane: Option<u8>) -> Option<u8> {
        let info = self.steps.get(self.current.0 as usize)?;
        // Instructions that ignore the mask work for all work-items together; if only one of them runs, for that one.
        if info.lanes == 1 || info.no_mask {
            let only = self.running.is_power_of_two();
            return u8::try_from(self.running.trailing_zeros())
                .ok()
                .filter(|_| only);
        }
        lane.map(|lane| lane.saturating_add(info.first))
    }
}
