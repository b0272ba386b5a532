//! The points where links touch their boxes.

use super::place::{Plan, bounded};
use super::{Link, Lists, Size, at, put, room};
use std::collections::BTreeMap;

/// Minimum distance of a link from the side of its box.
const CORNER: i64 = 6;
/// Minimum distance a link can be moved without meeting another one.
const SLACK: i64 = 4;
/// Number of places tried for a link.
const TRIES: usize = 256;

/// The space a link needs to its right along the lower side of its box.
fn step(link: &Link) -> i64 {
    match link.label.width {
        0 => room::LINE,
        width => room::LABEL + width + room::LABEL,
    }
}

/// The sizes of the boxes, made wide enough for their links.
pub(crate) fn widths(boxes: &[Size], links: &[Link]) -> Vec<Size> {
    let mut outs = vec![(0_i64, 0_i64); boxes.len()];
    let mut ins = vec![0_i64; boxes.len()];
    for link in links {
        let (bare, labels) = at(&outs, link.from);
        let more = match link.label.width {
            0 => (bare + room::LINE + SLACK, labels),
            _ => (bare, labels + step(link) + SLACK),
        };
        put(&mut outs, link.from, more);
        let more = at(&ins, link.to) + room::LINE + SLACK;
        put(&mut ins, link.to, more);
    }
    let sizes = boxes.iter().zip(outs).zip(ins);
    let sizes = sizes.map(|((size, (bare, labels)), ins)| {
        let size = bounded(*size);
        let least = (bare.min(room::PORTS) + labels).max(ins.min(room::PORTS)) + 2 * CORNER;
        Size {
            width: size.width.max(least),
            ..size
        }
    });
    sizes.collect()
}

/// For each link where it leaves its box and where it reaches the other one, from left to right.
///
/// In a channel no two vertical pieces of different links are at one place, wherever there is room.
pub(crate) fn ports(plan: &Plan<'_>) -> Vec<(i64, i64)> {
    let links = plan.links;
    let boxes = plan.size.len();
    let outs = Lists::of(boxes, links.iter().enumerate().map(|(i, l)| (l.from, i)));
    let ins = Lists::of(boxes, links.iter().enumerate().map(|(i, l)| (l.to, i)));
    let in_row = Lists::of(
        plan.rows.count,
        plan.rows.row.iter().enumerate().map(|(b, r)| (*r, b)),
    );
    // The channels where vertical lines end, with their links.
    let ends = (0..links.len()).filter(|link| at(&plan.line, *link).is_some());
    let ends = ends.flat_map(|link| {
        let (leave, reach) = plan.channels(link);
        [(leave, link), (reach, link)]
    });
    let ends = Lists::of(plan.rows.count + 1, ends);
    let mut ports = vec![(0, 0); links.len()];
    for channel in 0..=plan.rows.count {
        let mut taken: BTreeMap<i64, usize> = BTreeMap::new();
        for link in ends.get(channel) {
            if let Some(line) = at(&plan.line, *link) {
                taken.insert(line, *link);
            }
        }
        let above = channel
            .checked_sub(1)
            .map_or(&[][..], |row| in_row.get(row));
        for node in above {
            let wish = |link: usize| {
                at(&plan.line, link).unwrap_or_else(|| plan.center(at(links, link).to))
            };
            for (link, x) in side(
                plan,
                *node,
                outs.get(*node),
                &wish,
                &|l| step(&at(links, l)),
                &taken,
            ) {
                taken.insert(x, link);
                let into = at(&ports, link).1;
                put(&mut ports, link, (x, into));
            }
        }
        for node in in_row.get(channel) {
            let wish = |link: usize| at(&plan.line, link).unwrap_or(at(&ports, link).0);
            for (link, x) in side(plan, *node, ins.get(*node), &wish, &|_| room::LINE, &taken) {
                taken.insert(x, link);
                let out = at(&ports, link).0;
                put(&mut ports, link, (out, x));
            }
        }
    }
    ports
}

/// Places the links of one side of a box as near to where they go as their order and distance allow.
fn side(
    plan: &Plan<'_>,
    node: usize,
    links: &[usize],
    wish: &dyn Fn(usize) -> i64,
    step: &dyn Fn(usize) -> i64,
    taken: &BTreeMap<i64, usize>,
) -> Vec<(usize, i64)> {
    let left = at(&plan.left, node);
    let width = at(&plan.size, node).width;
    let (first, last) = (left + CORNER, left + width - CORNER);
    let mut order: Vec<(i64, usize)> = links.iter().map(|link| (wish(*link), *link)).collect();
    order.sort_unstable();
    let total: i64 = order.iter().map(|(_, link)| step(*link)).sum();
    let room = width - 2 * CORNER;
    let slack = SLACK.min((room - total) / (order.len() as i64).max(1));
    if total > room {
        // More than there is space for: they are packed in order.
        let count = order.len() as i64;
        let even = (1..)
            .zip(&order)
            .map(|(n, (_, link))| (*link, left + width * n / (count + 1)));
        return even.collect();
    }
    // From the right: how far each may go at most.
    let mut most = Vec::with_capacity(order.len());
    let mut end = last;
    for (after, (_, link)) in order.iter().rev().enumerate() {
        // A label is to the right of its line; other lines need no space after the last one.
        end -= slack
            + match step(*link) {
                room::LINE if after == 0 => 0,
                step => step,
            };
        most.push(end);
    }
    most.reverse();
    let free = |x: i64, link: usize, apart: i64| {
        let mut near = taken.range(x + 1 - apart..x + apart);
        near.all(|(_, other)| *other == link)
    };
    let mut from = first;
    let mut placed = Vec::with_capacity(order.len());
    for ((wish, link), most) in order.into_iter().zip(most) {
        let middle = wish.min(most).max(from);
        let tries = (0..=width)
            .flat_map(|d| [middle + d, middle - d])
            .take(TRIES);
        let mut tries = tries.filter(|x| (from..=most + slack).contains(x));
        let found = tries.clone().find(|x| free(*x, link, room::LINE / 2));
        let found = found.or_else(|| tries.find(|x| free(*x, link, 1)));
        let x = found.unwrap_or(middle);
        placed.push((link, x));
        from = x + step(link);
    }
    placed
}
