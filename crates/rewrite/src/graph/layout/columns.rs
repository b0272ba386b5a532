//! The column of every box, and a column for every line that goes past rows.
//!
//! Boxes are two columns wide and identified by the one in their middle, so that a box may be between two below it, and
//! a line between two boxes.

use super::rows::Rows;
use super::search::Nearest;
use super::{Link, Lists, at, put};

/// The outline of a tree: for each row, the last one first, the columns of its first and last box.
#[derive(Default)]
struct Outline {
    rows: Vec<(i64, i64)>,
    /// Is added to all columns.
    shift: i64,
    /// The column of the root.
    root: i64,
}

impl Outline {
    /// The columns at a depth below the root.
    fn below(&self, depth: usize) -> Option<(i64, i64)> {
        let index = self.rows.len().checked_sub(depth + 1)?;
        let (first, last) = self.rows.get(index)?;
        Some((first + self.shift, last + self.shift))
    }

    fn set(&mut self, depth: usize, (first, last): (i64, i64)) {
        let shift = self.shift;
        if let Some(index) = self.rows.len().checked_sub(depth + 1) {
            put(&mut self.rows, index, (first - shift, last - shift));
        }
    }

    /// Appends another tree to the right, and returns how far it was moved. The work is that of the shallower one.
    fn append(&mut self, mut other: Self) -> i64 {
        let depths = 0..self.rows.len().min(other.rows.len());
        let distances = depths.clone().filter_map(|depth| {
            let (left, right) = (self.below(depth)?, other.below(depth)?);
            Some(left.1 + 2 - right.0)
        });
        let moved = distances.max().unwrap_or(0);
        other.shift += moved;
        let deeper = other.rows.len() > self.rows.len();
        for depth in depths {
            if let (Some(left), Some(right)) = (self.below(depth), other.below(depth)) {
                let both = (left.0.min(right.0), left.1.max(right.1));
                if deeper {
                    other.set(depth, both);
                } else {
                    self.set(depth, both);
                }
            }
        }
        if deeper {
            *self = other;
        }
        moved
    }
}

/// The column in the middle of every box, and how many columns there are. Column 0 and the last are free.
pub(crate) fn boxes(rows: &Rows) -> (Vec<i64>, i64) {
    let count = rows.row.len();
    let pairs = rows.parent.iter().enumerate();
    let pairs = pairs.filter_map(|(child, parent)| Some(((*parent)?, child)));
    let children = Lists::of(count, pairs);
    let mut outlines: Vec<Outline> = Vec::new();
    outlines.resize_with(count, Outline::default);
    let mut column = vec![0_i64; count];
    let side_by_side = |list: &[usize], outlines: &mut [Outline], column: &mut [i64]| {
        let mut all = Outline::default();
        let mut ends = None;
        for child in list {
            let own = outlines.get_mut(*child).map(core::mem::take);
            let own = own.unwrap_or_default();
            let root = own.root;
            // Until everything is placed, the column of a box is that beside its parent.
            let at = root + all.append(own);
            put(column, *child, at);
            ends = Some((ends.map_or(at, |(first, _)| first), at));
        }
        (all, ends)
    };
    for node in rows.order.iter().rev() {
        let (mut all, ends) = side_by_side(children.get(*node), &mut outlines, &mut column);
        all.root = ends.map_or(0, |(first, last)| (first + last).div_euclid(2));
        for child in children.get(*node) {
            let beside = at(&column, *child) - all.root;
            put(&mut column, *child, beside);
        }
        all.rows.push((all.root - all.shift, all.root - all.shift));
        put(&mut outlines, *node, all);
    }
    let roots: Vec<usize> = (0..count)
        .filter(|b| at(&rows.parent, *b).is_none())
        .collect();
    side_by_side(&roots, &mut outlines, &mut column);
    for node in &rows.order {
        if let Some(parent) = at(&rows.parent, *node) {
            let absolute = at(&column, *node) + at(&column, parent);
            put(&mut column, *node, absolute);
        }
    }
    let first = column.iter().min().copied().unwrap_or(0);
    for column in &mut column {
        *column += 1 - first;
    }
    let last = column.iter().max().copied().unwrap_or(0);
    (column, last + 2)
}

/// The rows that a link goes past, the first and the one after the last, for one that is not between neighbours.
pub(crate) fn passed(rows: &Rows, links: &[Link], link: usize) -> Option<(usize, usize)> {
    let Link { from, to, .. } = at(links, link);
    let (from, to) = (at(&rows.row, from), at(&rows.row, to));
    let passed = if at(&rows.back, link) {
        (to, from + 1)
    } else {
        (from + 1, to)
    };
    (passed.0 < passed.1).then_some(passed)
}

/// The column of the vertical line of every link that has one.
pub(crate) fn lines(rows: &Rows, column: &[i64], columns: i64, links: &[Link]) -> Vec<Option<i64>> {
    let by_row = Lists::of(
        rows.count,
        rows.row.iter().enumerate().map(|(b, row)| (*row, b)),
    );
    let ends: Vec<Option<(usize, usize)>> = (0..links.len())
        .map(|link| passed(rows, links, link))
        .collect();
    let pairs = ends.iter().enumerate();
    let pairs = pairs.filter_map(|(link, passed)| Some(((*passed)?.1, link)));
    // By the row after the last one that they pass.
    let by_end = Lists::of(rows.count + 1, pairs);
    // For each column the number after the last row so far that has a box there.
    let mut free = Nearest::new(usize::try_from(columns).unwrap_or(0));
    let mut lines = vec![None; links.len()];
    for row in 0..=rows.count {
        for link in by_end.get(row) {
            let Link { from, to, .. } = at(links, *link);
            let (from, to) = (at(column, from), at(column, to));
            let first = at(&ends, *link).map_or(0, |(first, _)| first);
            let near = |column: i64| usize::try_from(column).unwrap_or(0);
            let found = [
                free.after(near(to), first),
                free.before(near(to), first),
                free.after(near(from), first),
                free.before(near(from), first),
            ];
            // Loops prefer the left, skipped parts are passed on the right.
            let back = at(&rows.back, *link);
            let found = found.into_iter().flatten().map(|c| c as i64);
            let best = found.min_by_key(|c| {
                let wrong = if back { *c > to } else { *c < to };
                ((c - from).abs() + (c - to).abs(), wrong, *c)
            });
            put(&mut lines, *link, Some(best.unwrap_or(0)));
        }
        for node in by_row.get(row) {
            free.set(usize::try_from(at(column, *node)).unwrap_or(0), row + 1);
        }
    }
    lines
}
