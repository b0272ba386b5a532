//! Places boxes and vertical lines from left to right, and assembles the result.

use super::rows::Rows;
use super::{Layout, Link, Lists, Point, Rect, Route, Size, at, columns, lanes, ports, put, room};
use std::collections::BTreeMap;

/// How often things are moved towards what they are linked with, down and up.
const ROUNDS: usize = 12;

/// A box or the vertical line of a link.
#[derive(Clone, Copy, Default)]
struct Item {
    /// Half of its width.
    half: i64,
    line: bool,
    /// The rows it spans, first and last: row `r` has the number `2r+1`, the channel above it `2r`.
    first: usize,
    last: usize,
}

/// The course of the links, before anything has a height.
pub(crate) struct Plan<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) links: &'a [Link],
    /// The left sides and the sizes of the boxes.
    pub(crate) left: Vec<i64>,
    pub(crate) size: Vec<Size>,
    /// The vertical lines of the links.
    pub(crate) line: Vec<Option<i64>>,
}

impl Plan<'_> {
    pub(crate) fn center(&self, node: usize) -> i64 {
        at(&self.left, node) + at(&self.size, node).width / 2
    }

    /// The channels where a link leaves its box and where it reaches the other one; channel `r` is above row `r`.
    pub(crate) fn channels(&self, link: usize) -> (usize, usize) {
        let Link { from, to, .. } = at(self.links, link);
        (at(&self.rows.row, from) + 1, at(&self.rows.row, to))
    }
}

pub(crate) fn layout(boxes: &[Size], links: &[Link]) -> Layout {
    let total = links.len();
    let exists = |link: &Link| link.from < boxes.len() && link.to < boxes.len();
    let (known, links): (Vec<usize>, Vec<Link>) = (0..)
        .zip(links)
        .filter(|(_, link)| exists(link))
        .map(|(i, link)| {
            let label = bounded(link.label);
            (i, Link { label, ..*link })
        })
        .unzip();
    let rows = super::rows::rows(boxes.len(), &links);
    let size = ports::widths(boxes, &links);
    let (column, columns) = columns::boxes(&rows);
    let lines = columns::lines(&rows, &column, columns, &links);
    let x = across(&rows, &links, &size, &column, &lines);
    let count = boxes.len();
    let left = (0..count)
        .map(|b| at(&x, b) - at(&size, b).width / 2)
        .collect();
    let line = lines.iter().enumerate();
    let line = line
        .map(|(link, line)| line.map(|_| at(&x, count + link)))
        .collect();
    let plan = Plan {
        rows: &rows,
        links: &links,
        left,
        size,
        line,
    };
    let ports = ports::ports(&plan);
    finish(&plan, &ports, &known, total)
}

pub(crate) fn bounded(size: Size) -> Size {
    Size {
        width: size.width.clamp(0, room::MOST),
        height: size.height.clamp(0, room::MOST),
    }
}

/// The middle of every box, then that of the line of every link, from left to right.
fn across(
    rows: &Rows,
    links: &[Link],
    size: &[Size],
    column: &[i64],
    lines: &[Option<i64>],
) -> Vec<i64> {
    let boxes = size.len();
    let mut items = vec![Item::default(); boxes + links.len()];
    // The order from left to right, in every row the same.
    let mut order = Vec::new();
    for (node, size) in size.iter().enumerate() {
        let place = 2 * at(&rows.row, node) + 1;
        // Rounded up, so that a box of an odd width does not come too near on its right.
        let half = (size.width + 1) / 2;
        put(
            &mut items,
            node,
            Item {
                half,
                line: false,
                first: place,
                last: place,
            },
        );
        order.push(((at(column, node), 0, 0), node));
    }
    for (link, line) in lines.iter().enumerate() {
        let (Some(line), Some((first, end))) = (*line, columns::passed(rows, links, link)) else {
            continue;
        };
        let item = Item {
            half: 0,
            line: true,
            first: 2 * first,
            last: 2 * end,
        };
        put(&mut items, boxes + link, item);
        // Lines in one column: those of boxes on the left come first, the short ones inside of the long ones.
        let Link { from, to, .. } = at(links, link);
        let (from, to) = (at(column, from), at(column, to));
        let length = (end - first) as i64;
        let side = if from.max(to) < line {
            -1
        } else {
            i64::from(from.min(to) > line)
        };
        order.push(((line, side, -side * length), boxes + link));
    }
    order.sort_unstable();
    let order: Vec<usize> = order.into_iter().map(|(_, item)| item).collect();
    let apart = neighbours(&items, &order);
    let near = [
        Lists::of(items.len(), apart.iter().map(|(a, b)| (*b, *a))),
        Lists::of(items.len(), apart.iter().copied()),
    ];
    let gap = |a: usize, b: usize| {
        let (a, b) = (at(&items, a), at(&items, b));
        let room = match (a.line, b.line) {
            (true, true) => room::LINE,
            (false, false) => room::BOX,
            _ => room::SIDE,
        };
        a.half + room + b.half
    };
    let after = |x: &[i64], item: usize| {
        let list = near.first().map_or(&[][..], |n| n.get(item));
        list.iter().map(|n| at(x, *n) + gap(*n, item)).max()
    };
    let before = |x: &[i64], item: usize| {
        let list = near.get(1).map_or(&[][..], |n| n.get(item));
        list.iter().map(|n| at(x, *n) - gap(item, *n)).min()
    };
    // As far to the left as possible, as far to the right as possible, and in between: that keeps all distances, too.
    let mut least = vec![0; items.len()];
    for item in &order {
        let x = after(&least, *item).unwrap_or(0);
        put(&mut least, *item, x);
    }
    let width = least.iter().max().copied().unwrap_or(0);
    let mut most = vec![0; items.len()];
    for item in order.iter().rev() {
        let x = before(&most, *item).unwrap_or(width);
        put(&mut most, *item, x);
    }
    let mut x: Vec<i64> = least
        .iter()
        .zip(&most)
        .map(|(a, b)| (a + b).div_euclid(2))
        .collect();
    // The halves of two distances may be rounded to different sides.
    for item in &order {
        let moved = after(&x, *item).unwrap_or(i64::MIN).max(at(&x, *item));
        put(&mut x, *item, moved);
    }
    relax(&items, links, boxes, lines, &order, &mut x, &after, &before);
    x
}

/// Pairs of adjacent items in some row, the left one first.
fn neighbours(items: &[Item], order: &[usize]) -> Vec<(usize, usize)> {
    let places = items.iter().map(|i| i.last + 1).max().unwrap_or(0);
    let starts = Lists::of(
        places + 1,
        order
            .iter()
            .enumerate()
            .map(|(n, i)| (at(items, *i).first, n)),
    );
    let ends = Lists::of(
        places + 1,
        order
            .iter()
            .enumerate()
            .map(|(n, i)| (at(items, *i).last + 1, n)),
    );
    let mut here = BTreeMap::new();
    let mut pairs = Vec::new();
    for place in 0..places {
        for number in ends.get(place) {
            here.remove(number);
            let before = here.range(..number).next_back();
            let after = here.range(number..).next();
            if let (Some((_, left)), Some((_, right))) = (before, after) {
                pairs.push((*left, *right));
            }
        }
        for number in starts.get(place) {
            let item = at(order, *number);
            if let Some((_, left)) = here.range(..number).next_back() {
                pairs.push((*left, item));
            }
            if let Some((_, right)) = here.range(number..).next() {
                pairs.push((item, *right));
            }
            here.insert(*number, item);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Moves everything towards the middle of what it is linked with, as far as neighbours allow.
#[allow(clippy::too_many_arguments)] // one step of `across`
fn relax(
    items: &[Item],
    links: &[Link],
    boxes: usize,
    lines: &[Option<i64>],
    order: &[usize],
    x: &mut [i64],
    after: &dyn Fn(&[i64], usize) -> Option<i64>,
    before: &dyn Fn(&[i64], usize) -> Option<i64>,
) {
    // Who is linked with whom, the upper one first.
    let mut pairs = Vec::new();
    for (index, link) in links.iter().enumerate() {
        if link.from == link.to {
            continue;
        }
        if at(lines, index).is_none() {
            // Twice: a box goes after its neighbours rather than after lines.
            pairs.extend([(link.from, link.to); 2]);
        } else if at(items, link.from).first < at(items, link.to).first {
            pairs.extend([(link.from, boxes + index), (boxes + index, link.to)]);
        }
    }
    let above = Lists::of(items.len(), pairs.iter().map(|(a, b)| (*b, *a)));
    let below = Lists::of(items.len(), pairs.iter().copied());
    let mut downwards: Vec<usize> = order.to_vec();
    downwards.sort_by_key(|item| at(items, *item).first);
    let mut upwards: Vec<usize> = order.iter().rev().copied().collect();
    upwards.sort_by_key(|item| core::cmp::Reverse(at(items, *item).last));
    let mut wished: Vec<i64> = Vec::new();
    for round in 0..2 * ROUNDS + 2 {
        let down = round % 2 == 0;
        let both = round >= 2 * ROUNDS - 4;
        let pass = if down { &downwards } else { &upwards };
        // Once from left to right and once back, so that neighbours make room for each other.
        for item in pass
            .iter()
            .chain(pass.iter().rev().take(if both { pass.len() } else { 0 }))
        {
            wished.clear();
            if down || both {
                wished.extend(above.get(*item).iter().map(|n| at(x, *n)));
            }
            if !down || both {
                wished.extend(below.get(*item).iter().map(|n| at(x, *n)));
            }
            if wished.is_empty() {
                continue;
            }
            wished.sort_unstable();
            let middle = wished.len() / 2;
            let median = if wished.len() % 2 == 1 {
                at(&wished, middle)
            } else {
                (at(&wished, middle) + at(&wished, middle - 1)).div_euclid(2)
            };
            let low = after(x, *item).unwrap_or(i64::MIN);
            let high = before(x, *item).unwrap_or(i64::MAX);
            put(x, *item, median.min(high).max(low));
        }
    }
}

/// Heights, and the ways of the links.
fn finish(plan: &Plan<'_>, ports: &[(i64, i64)], known: &[usize], total: usize) -> Layout {
    let rows = plan.rows.count;
    let lanes = lanes::lanes(plan, ports);
    let mut height = vec![0; rows];
    let mut strip = vec![0; rows + 1];
    for (node, size) in plan.size.iter().enumerate() {
        let row = at(&plan.rows.row, node);
        let most = size.height.max(at(&height, row));
        put(&mut height, row, most);
    }
    for link in plan.links.iter().filter(|link| link.label.width > 0) {
        let channel = at(&plan.rows.row, link.from) + 1;
        let most = (link.label.height + room::LABEL).max(at(&strip, channel));
        put(&mut strip, channel, most);
    }
    let mut y = room::EDGE;
    let (mut tops, mut firsts) = (Vec::new(), Vec::new());
    for channel in 0..=rows {
        firsts.push(y + at(&strip, channel) + room::ABOVE);
        let lanes = at(&lanes.count, channel) as i64;
        let used = lanes > 0 || (channel > 0 && channel < rows);
        if used {
            y += at(&strip, channel) + room::ABOVE + lanes * room::LINE + room::BELOW;
        }
        tops.push(y);
        if channel < rows {
            y += at(&height, channel);
        }
    }
    let mut boxes: Vec<Rect> = Vec::with_capacity(plan.size.len());
    for (node, size) in plan.size.iter().enumerate() {
        boxes.push(Rect {
            x: at(&plan.left, node),
            y: at(&tops, at(&plan.rows.row, node)),
            width: size.width,
            height: size.height,
        });
    }
    let mut routes = vec![Route::default(); total];
    for (index, (link, name)) in plan.links.iter().zip(known).enumerate() {
        let (from, to) = (at(&boxes, link.from), at(&boxes, link.to));
        let (out, into) = at(ports, index);
        let (leave, reach) = plan.channels(index);
        let lane = |channel: usize, lane: usize| at(&firsts, channel) + lane as i64 * room::LINE;
        let (first, second) = at(&lanes.of, index);
        let mut points = vec![Point {
            x: out,
            y: from.bottom(),
        }];
        let mut turn = |y: i64, x: i64| {
            if points.last().is_some_and(|last| last.x != x) {
                points.extend(points.last().map(|last| Point { x: last.x, y }));
                points.push(Point { x, y });
            }
        };
        if let Some(line) = at(&plan.line, index) {
            turn(lane(leave, first), line);
            turn(lane(reach, second), into);
        } else {
            turn(lane(leave, first), into);
        }
        points.push(Point { x: into, y: to.y });
        let label = (link.label.width > 0).then(|| Rect {
            x: out + room::LABEL,
            y: from.bottom() + room::LABEL / 2,
            width: link.label.width,
            height: link.label.height,
        });
        put(&mut routes, *name, Route { points, label });
    }
    moved(boxes, routes, y + room::EDGE)
}

/// The picture, moved to the left side.
fn moved(mut boxes: Vec<Rect>, mut routes: Vec<Route>, height: i64) -> Layout {
    let points = routes.iter().flat_map(|r| &r.points).map(|p| p.x);
    let first = boxes.iter().map(|b| b.x).chain(points).min().unwrap_or(0);
    let shift = room::EDGE - first;
    let mut right = 0;
    let labels = routes.iter_mut().filter_map(|r| r.label.as_mut());
    for rect in boxes.iter_mut().chain(labels) {
        rect.x += shift;
        right = right.max(rect.right());
    }
    for point in routes.iter_mut().flat_map(|r| &mut r.points) {
        point.x += shift;
        right = right.max(point.x);
    }
    let size = Size {
        width: right + room::EDGE,
        height,
    };
    Layout {
        size,
        boxes,
        routes,
    }
}
