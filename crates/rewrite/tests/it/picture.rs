//! Checks the geometry of a picture.

use std::collections::BTreeMap;
use visakit_rewrite::graph::layout::{Layout, Link, Point, Rect, Size};

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

fn around(a: Point, b: Point) -> Rect {
    Rect {
        x: a.x.min(b.x),
        y: a.y.min(b.y),
        width: (a.x - b.x).abs(),
        height: (a.y - b.y).abs(),
    }
}

/// A piece of a line: from, to, and the link that it belongs to.
type Piece = (i64, i64, usize);

/// Whether a line touches a rectangle, its sides included.
fn touches(line: &Rect, rect: &Rect) -> bool {
    line.x <= rect.right()
        && rect.x <= line.right()
        && line.y <= rect.bottom()
        && rect.y <= line.bottom()
}

/// Everything that a picture must not have: boxes that overlap or are too small, links through or along boxes, links
/// that begin or end elsewhere, that run along each other without one box being an end of both, labels on boxes or on
/// each other, anything outside.
pub(crate) fn faults(layout: &Layout, boxes: &[Size], links: &[Link]) -> Vec<String> {
    let mut faults = Vec::new();
    let rects = &layout.boxes;
    for (number, (rect, size)) in rects.iter().zip(boxes).enumerate() {
        if rect.width < size.width || rect.height != size.height {
            faults.push(format!("box {number} is {rect:?} instead of {size:?}"));
        }
    }
    let whole = Rect {
        x: 0,
        y: 0,
        width: layout.size.width,
        height: layout.size.height,
    };
    let within = |r: &Rect| {
        r.x >= whole.x
            && r.y >= whole.y
            && r.right() <= whole.right()
            && r.bottom() <= whole.bottom()
    };
    // Everything in a band of 64, so that only nearby things are compared.
    let mut bands: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (number, rect) in rects.iter().enumerate() {
        for band in rect.y / 64..=rect.bottom() / 64 {
            bands.entry(band).or_default().push(number);
        }
        if !within(rect) {
            faults.push(format!("box {number} is outside: {rect:?}"));
        }
    }
    let near = |rect: &Rect| {
        let mut near: Vec<usize> = bands
            .range(rect.y / 64..=rect.bottom() / 64)
            .flat_map(|(_, n)| n.iter().copied())
            .collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    for (number, rect) in rects.iter().enumerate() {
        for other in near(rect).into_iter().filter(|other| *other > number) {
            if overlap(rect, &rects[other]) {
                faults.push(format!("boxes {number} and {other} overlap"));
            }
        }
    }
    let mut labels: Vec<(usize, Rect)> = Vec::new();
    // Horizontal and vertical pieces by the line that they lie on, with their link.
    let mut pieces: BTreeMap<(bool, i64), Vec<Piece>> = BTreeMap::new();
    for (number, (route, link)) in layout.routes.iter().zip(links).enumerate() {
        let (from, to) = (&rects[link.from], &rects[link.to]);
        let (Some(first), Some(last)) = (route.points.first(), route.points.last()) else {
            faults.push(format!("link {number} is not drawn"));
            continue;
        };
        if first.y != from.bottom() || first.x < from.x || first.x > from.right() {
            faults.push(format!("link {number} does not begin at its box"));
        }
        if last.y != to.y || last.x < to.x || last.x > to.right() {
            faults.push(format!("link {number} does not end at its box"));
        }
        for (index, ends) in route.points.windows(2).enumerate() {
            let piece = around(ends[0], ends[1]);
            if piece.width > 0 && piece.height > 0 || !within(&piece) {
                faults.push(format!("link {number} is slanted or outside: {piece:?}"));
            }
            let key = if piece.width > 0 {
                (false, piece.y)
            } else {
                (true, piece.x)
            };
            let range = if piece.width > 0 {
                (piece.x, piece.right())
            } else {
                (piece.y, piece.bottom())
            };
            pieces
                .entry(key)
                .or_default()
                .push((range.0, range.1, number));
            for node in near(&piece) {
                let own = index == 0 && node == link.from
                    || index + 2 == route.points.len() && node == link.to;
                if !own && touches(&piece, &rects[node]) {
                    faults.push(format!(
                        "link {number} ({} to {}) touches box {node}",
                        link.from, link.to
                    ));
                }
            }
        }
        match route.label {
            None if link.label.width > 0 => {
                faults.push(format!("link {number} has lost its label"));
            }
            None => {}
            Some(label) => {
                if !within(&label)
                    || near(&label)
                        .iter()
                        .any(|node| overlap(&label, &rects[*node]))
                {
                    faults.push(format!("the label of link {number} is on a box or outside"));
                }
                labels.push((number, label));
            }
        }
    }
    labels.sort_by_key(|(_, label)| label.y);
    for (index, (number, label)) in labels.iter().enumerate() {
        for (other, next) in labels[index + 1..]
            .iter()
            .take_while(|(_, next)| next.y < label.bottom())
        {
            if overlap(label, next) {
                faults.push(format!("labels {number} and {other} overlap"));
            }
        }
    }
    for ((vertical, line), mut pieces) in pieces {
        pieces.sort_unstable();
        let mut end: Option<(i64, usize)> = None;
        for (from, to, link) in pieces {
            if let Some((reach, other)) = end
                && from < reach
                && other != link
                && links[other].from != links[link].from
                && links[other].to != links[link].to
            {
                faults.push(format!(
                    "links {other} and {link} run along each other at {line} (vertical: {vertical})"
                ));
            }
            if end.is_none_or(|(reach, _)| to > reach) {
                end = Some((to, link));
            }
        }
    }
    faults
}
