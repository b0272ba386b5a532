//! Lanes for the horizontal lines between rows.

use super::place::Plan;
use super::search::Highest;
use super::{Lists, at, put, room};

/// The lanes of all channels.
pub(crate) struct Lanes {
    /// The number of lanes of each channel.
    pub(crate) count: Vec<usize>,
    /// For each link the lane where it leaves, and the one where it arrives if that is another line.
    pub(crate) of: Vec<(usize, usize)>,
}

/// Where the two ends of a horizontal line continue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Both upwards.
    Up,
    /// From above to below.
    Through,
    /// Both downwards.
    Down,
}

struct Line {
    link: usize,
    first: bool,
    turn: Turn,
    /// From here to there.
    from: i64,
    to: i64,
}

pub(crate) fn lanes(plan: &Plan<'_>, ports: &[(i64, i64)]) -> Lanes {
    let mut lines = Vec::new();
    let mut channels = Vec::new();
    for link in 0..plan.links.len() {
        let (out, into) = at(ports, link);
        let (leave, reach) = plan.channels(link);
        let back = at(&plan.rows.back, link);
        let mut add = |channel, first, turn, from, to| {
            if from != to {
                channels.push((channel, lines.len()));
                lines.push(Line {
                    link,
                    first,
                    turn,
                    from,
                    to,
                });
            }
        };
        match at(&plan.line, link) {
            None => add(leave, true, Turn::Through, out, into),
            Some(line) if back => {
                add(leave, true, Turn::Up, out, line);
                add(reach, false, Turn::Down, line, into);
            }
            Some(line) => {
                add(leave, true, Turn::Through, out, line);
                add(reach, false, Turn::Through, line, into);
            }
        }
    }
    let by_channel = Lists::of(plan.rows.count + 1, channels.iter().copied());
    let mut count = Vec::with_capacity(plan.rows.count + 1);
    let mut of = vec![(0, 0); plan.links.len()];
    for channel in 0..=plan.rows.count {
        let mut here: Vec<&Line> = by_channel
            .get(channel)
            .iter()
            .filter_map(|i| lines.get(*i))
            .collect();
        // From the upper lanes to the lower ones, so that few lines cross.
        here.sort_by_key(|line| {
            let length = (line.to - line.from).abs();
            let right = line.to > line.from;
            let key = match line.turn {
                Turn::Up => length,
                Turn::Down => -length,
                Turn::Through if right => -line.from,
                Turn::Through => line.from,
            };
            (
                line.turn,
                line.turn == Turn::Through && right,
                key,
                line.link,
            )
        });
        count.push(assign(&here, &mut of));
    }
    Lanes { count, of }
}

/// Each line gets the first lane below all earlier ones that it would touch. Returns the number of lanes.
fn assign(lines: &[&Line], of: &mut [(usize, usize)]) -> usize {
    let ends = |line: &Line| {
        (
            line.from.min(line.to) - room::LINE / 2,
            line.from.max(line.to) + room::LINE / 2,
        )
    };
    let mut places: Vec<i64> = lines
        .iter()
        .flat_map(|line| [ends(line).0, ends(line).1])
        .collect();
    places.sort_unstable();
    places.dedup();
    let place = |x: i64| places.binary_search(&x).unwrap_or(0);
    let mut used = Highest::new(places.len());
    let mut count = 0;
    for line in lines {
        let (first, last) = ends(line);
        let (first, last) = (place(first), place(last));
        let lane = used.of(first, last);
        used.raise(first, last, lane + 1);
        count = count.max(lane + 1);
        let (leave, arrive) = at(of, line.link);
        let lanes = if line.first {
            (lane, arrive)
        } else {
            (leave, lane)
        };
        put(of, line.link, lanes);
    }
    count
}
