//! Determines which links go upwards, and the row of every box.

use super::{Link, Lists, at, put};

pub(crate) struct Rows {
    /// The row of each box, from the top.
    pub(crate) row: Vec<usize>,
    /// For each link whether it closes a cycle.
    pub(crate) back: Vec<bool>,
    /// The boxes so that links which are not back go forwards.
    pub(crate) order: Vec<usize>,
    /// The box in the row above that each hangs on.
    pub(crate) parent: Vec<Option<usize>>,
    /// The number of rows.
    pub(crate) count: usize,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Seen {
    #[default]
    Never,
    Open,
    Done,
}

pub(crate) fn rows(boxes: usize, links: &[Link]) -> Rows {
    let outs = Lists::of(boxes, links.iter().enumerate().map(|(i, l)| (l.from, i)));
    let mut entered = vec![false; boxes];
    for link in links {
        if link.from != link.to {
            put(&mut entered, link.to, true);
        }
    }
    let mut back = vec![false; links.len()];
    let mut seen = vec![Seen::Never; boxes];
    let mut order = Vec::with_capacity(boxes);
    // The first box is where control enters; then boxes without predecessors, then the rest.
    let roots = (0..boxes).filter(|b| !at(&entered, *b));
    let starts: Vec<usize> = (0..boxes.min(1)).chain(roots).chain(0..boxes).collect();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in starts {
        if at(&seen, start) != Seen::Never {
            continue;
        }
        put(&mut seen, start, Seen::Open);
        stack.push((start, 0));
        while let Some((node, next)) = stack.last_mut() {
            let Some(link) = outs.get(*node).get(*next).copied() else {
                put(&mut seen, *node, Seen::Done);
                order.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            let to = at(links, link).to;
            match at(&seen, to) {
                Seen::Never => {
                    put(&mut seen, to, Seen::Open);
                    stack.push((to, 0));
                }
                Seen::Open => put(&mut back, link, true),
                Seen::Done => {}
            }
        }
    }
    order.reverse();
    let mut row = vec![0; boxes];
    let mut parent = vec![None; boxes];
    for node in &order {
        for link in outs.get(*node) {
            let to = at(links, *link).to;
            let below = at(&row, *node) + 1;
            if !at(&back, *link) && below > at(&row, to) {
                put(&mut row, to, below);
                put(&mut parent, to, Some(*node));
            }
        }
    }
    let count = row.iter().max().map_or(0, |last| last + 1);
    Rows {
        row,
        back,
        order,
        parent,
        count,
    }
}
