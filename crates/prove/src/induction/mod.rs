//! Kernels with loops of which nobody knows how often they run, and with addresses that nobody knows: equal by induction.
//!
//! Both programs are cut where loops begin and where lanes may wait for them ([`cuts`]). Some runs show which cutpoints
//! correspond, and which cells of registers are equal there ([`seen`]), or computed from others ([`affine`]). That is only guessed ([`guess`]). It is assumed where a
//! segment begins, one thread that stands for all runs the segment of both programs on terms ([`segment`]), and where it ends
//! all that was guessed has to hold again: what does not is not assumed any more ([`partition`]), and the segments that began
//! with it are run again, until nothing is left that does not hold ([`solve`]). Threads begin with registers that are
//! compared one by one. This is how equivalent registers of circuits are found (van Eijk, "Sequential equivalence checking
//! based on structural similarities", 2000), for programs whose lanes part and wait.
//!
//! Then, whatever is in memory, both programs come to corresponding cutpoints with the same lanes one after the other, if the
//! events of each segment ([`events`]) are the same, in order ([`effects`]): they change memory alike and end alike, or run for ever alike.
//! That work-items of the old program do not race, and that it accesses nothing outside of its buffers, is assumed.

mod affine;
mod cuts;
mod effects;
mod events;
mod guess;
mod layout;
mod owners;
mod partition;
mod seen;
mod segment;
mod solve;

use crate::decide::Decisions;
use crate::machine::{Budget, Failed};
use crate::side::Side;
use crate::term::{Term, Terms};
use crate::unknown::Unknown;
use cuts::Cuts;
use layout::Layout;
use seen::{Seen, Watch};
use solve::{Induction, One};
use visakit_exec::Limits;
use visakit_launch::{LaunchError, MemoryObject, ObjectKind, Prepared};

/// Whether all pairs of terms are equal.
pub(crate) type Ask<'a> = dyn Fn(&mut Terms, Vec<(Term, Term)>) -> Result<bool, LaunchError> + 'a;

/// Whether two programs do the same, and at how many corresponding cutpoints they were compared. Both launches of each pair are
/// of the same two programs: with the arguments as they are given first, then with scalars of any value as zeros and by
/// numbers, if there are some. `runs` are pairs with generated contents.
pub(crate) fn equal(
    launches: &[[Prepared; 2]],
    runs: &[[Prepared; 2]],
    (terms, decisions): (Terms, Decisions),
    (budget, ask): (Budget, &Ask<'_>),
) -> Result<usize, Failed> {
    let Some([old, new]) = launches.first() else {
        return Err(Unknown::new("no launch").into());
    };
    let storage = [old, new].map(|launch| Side::new(launch.program(), true));
    comparable(launches, &storage)?;
    let cuts = [old, new].map(|launch| Cuts::of(launch.program().code()));
    let layouts = [old, new].map(|launch| Layout::of(launch.program()));
    let seen = watch(runs, &cuts, &layouts)?;
    let pairs = matched(&seen);
    let [first, second] = cuts;
    let [a, b] = layouts;
    let sides = [
        One::new(old, first.only(pairs.iter().map(|[own, _]| *own)), a),
        One::new(new, second.only(pairs.iter().map(|[_, own]| *own)), b),
    ];
    let [a, b] = &seen;
    let seen: Vec<[&Seen; 2]> = pairs
        .iter()
        .filter_map(|[first, second]| Some([a.get(*first)?, b.get(*second)?]))
        .collect();
    let partitions = guess::partitions(launches, &seen, &sides, budget.deadline)?;
    let mut relations = vec![Vec::new()];
    for (cut, (seen, partition)) in seen.iter().zip(&partitions).enumerate().skip(1) {
        let ([a, b], [first, second]) = (&sides, &storage);
        let live = [a.live(cut, first), b.live(cut, second)];
        relations.push(affine::relations(seen, (&sides, &live), partition));
    }
    let mut induction = Induction::new(
        (sides, partitions, relations),
        (terms, decisions),
        (budget, ask),
        names_alike(launches)?,
    );
    induction.choose(&storage);
    induction.solve()?;
    Ok(pairs.len())
}

/// The objects of a launch that threads do not have by themselves, and where the others are.
fn objects(launch: &Prepared) -> (Vec<MemoryObject>, Vec<u64>) {
    let private = |object: &MemoryObject| object.kind == ObjectKind::Private;
    let (private, shared): (Vec<_>, Vec<_>) = launch.objects().into_iter().partition(private);
    (
        shared,
        private.iter().map(|object| object.address).collect(),
    )
}

/// Whether launches find the same memory, and no order of threads makes a difference.
fn comparable(launches: &[[Prepared; 2]], sides: &[Side<'_>; 2]) -> Result<(), Failed> {
    let limits = Limits::default();
    for [old, new] in launches {
        let ((first, own), (second, others)) = (objects(old), objects(new));
        let alike = first == second
            && old.memory().has_buffers_of(new.memory(), [&own, &others])
            && old.group_count() == new.group_count();
        let (a, b) = (old.start(0, &limits)?, new.start(0, &limits)?);
        if !alike || a.slm() != b.slm() {
            return Err(Unknown::new("the kernels find memory in other places").into());
        }
        let alone = old.group_count() <= 1 && a.threads().len() <= 1;
        if !alone && sides.iter().any(Side::has_ordered_atomics) {
            return Err(Unknown::new("atomic operations in the order of threads").into());
        }
    }
    Ok(())
}

/// Whether surfaces have the same names for both programs, and threads the same scratch memory.
fn names_alike(launches: &[[Prepared; 2]]) -> Result<bool, LaunchError> {
    let scratch = |launch: &Prepared| -> Result<Vec<usize>, LaunchError> {
        let group = launch.start(0, &Limits::default())?;
        let threads = group.threads().iter();
        Ok(threads.map(|thread| thread.scratch().len()).collect())
    };
    let mut alike = true;
    for [old, new] in launches {
        alike &= old.memory().is_like(new.memory()) && scratch(old)? == scratch(new)?;
    }
    Ok(alike)
}

/// Runs both programs.
fn watch(
    runs: &[[Prepared; 2]],
    [first, second]: &[Cuts; 2],
    [a, b]: &[Layout; 2],
) -> Result<[Vec<Seen>; 2], LaunchError> {
    let Some([old, new]) = runs.first() else {
        return Ok([Vec::new(), Vec::new()]);
    };
    let mut watches = [Watch::new(old, first, a), Watch::new(new, second, b)];
    for (number, run) in (0..).zip(runs) {
        for (watch, launch) in watches.iter_mut().zip(run) {
            watch.run(number, launch)?;
        }
    }
    Ok(watches.map(|watch| watch.seen))
}

/// Corresponding cutpoints: the most that runs come to at the same times with the same lanes, in order.
fn matched([old, new]: &[Vec<Seen>; 2]) -> Vec<[usize; 2]> {
    let alike = |a: usize, b: usize| {
        let visits = |seen: Option<&Seen>| seen.map(|seen| seen.visits);
        visits(old.get(a)) == visits(new.get(b))
    };
    // The longest common subsequence, of which the first cutpoint of both is a part in any case.
    let (rows, columns) = (old.len(), new.len());
    let mut lengths = vec![vec![0_usize; columns + 1]; rows + 1];
    let at = |lengths: &[Vec<usize>], a: usize, b: usize| {
        let row = lengths.get(a);
        row.and_then(|row| row.get(b)).copied().unwrap_or(0)
    };
    for a in (1..rows).rev() {
        for b in (1..columns).rev() {
            let best = match alike(a, b) {
                true => 1 + at(&lengths, a + 1, b + 1),
                false => at(&lengths, a + 1, b).max(at(&lengths, a, b + 1)),
            };
            if let Some(to) = lengths.get_mut(a).and_then(|row| row.get_mut(b)) {
                *to = best;
            }
        }
    }
    let mut pairs = vec![[0, 0]];
    let (mut a, mut b) = (1, 1);
    while a < rows && b < columns {
        if alike(a, b) {
            pairs.push([a, b]);
            (a, b) = (a + 1, b + 1);
        } else if at(&lengths, a + 1, b) >= at(&lengths, a, b + 1) {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}
