//! Places the boxes of a directed graph in rows and routes its links around them.
//!
//! It is made for control flow and calls: graphs that mostly go downwards, with loops. The result is data, in whole
//! units that the caller chooses (pixels, say): a rectangle for each box, a polyline of horizontal and vertical lines
//! for each link, and a place for its label. Nothing is drawn here.
//!
//! ```
//! use visakit_rewrite::graph::layout::{Link, Size, layout};
//! let boxes = [Size { width: 80, height: 20 }; 3];
//! let links = [Link::new(0, 1), Link::new(1, 1), Link::new(1, 2), Link::new(0, 2)];
//! let picture = layout(&boxes, &links);
//! assert_eq!(picture.boxes.len(), 3);
//! assert!(picture.routes.iter().all(|route| route.points.len() >= 2));
//! ```
//!
//! Guarantees for every graph:
//!
//! * Boxes do not overlap, and no link passes through or along a box. It touches the bottom of the box that it comes
//!   from and the top of the one that it goes to.
//! * Links that share neither their beginning nor their end only cross, without a common segment; but if more than some
//!   forty links without labels meet one side of a box there may not be room for that.
//! * Labels are inside the picture and overlap neither boxes nor each other.
//! * The same graph has the same picture on every machine: all numbers are integers.
//! * Time is O(n log n) and memory O(n) in the number of boxes and links; a link has at most six corners.
//!
//! # How
//!
//! Links that close a cycle are found by a depth-first search and drawn upwards. The longest path to a box is its row.
//! Each box but the first has a parent in the row above; these trees are placed side by side, which gives every box a
//! column. A link that passes rows has a vertical line there, in the nearest column that no box of these rows occupies.
//! Boxes and vertical lines are then moved as close to what they are linked with as their neighbours allow. Between
//! rows, horizontal lines that would touch get separate lanes.

mod columns;
mod lanes;
mod place;
mod ports;
mod rows;
mod search;

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Size {
    /// From left to right.
    pub width: i64,
    /// From top to bottom.
    pub height: i64,
}

/// A link between two boxes, which may be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link {
    /// Index of the box where it begins.
    pub from: usize,
    /// Index of the box where it ends.
    pub to: usize,
    /// Room for its label; a width of 0 means that it has none.
    pub label: Size,
}

impl Link {
    /// A link without a label.
    #[must_use]
    pub const fn new(from: usize, to: usize) -> Self {
        let label = Size {
            width: 0,
            height: 0,
        };
        Self { from, to, label }
    }
}

/// A place in the picture; `y` grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Point {
    /// From the left.
    pub x: i64,
    /// From the top.
    pub y: i64,
}

/// The rectangle of a box or label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rect {
    /// Its left side.
    pub x: i64,
    /// Its upper side.
    pub y: i64,
    /// From left to right.
    pub width: i64,
    /// From top to bottom.
    pub height: i64,
}

impl Rect {
    /// Its right side.
    #[must_use]
    pub const fn right(&self) -> i64 {
        self.x + self.width
    }

    /// Its lower side.
    #[must_use]
    pub const fn bottom(&self) -> i64 {
        self.y + self.height
    }
}

/// The way of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Route {
    /// Corners from beginning to end, horizontal and vertical in turns. Empty for a link of a box that does not exist.
    pub points: Vec<Point>,
    /// The rectangle of its label, beside the line and next to the box that it comes from.
    pub label: Option<Rect>,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Its size; everything is inside.
    pub size: Size,
    /// The boxes in their order: as high as asked for, and as wide or wider where its links and labels need the room.
    pub boxes: Vec<Rect>,
    /// The links in their order.
    pub routes: Vec<Route>,
}

/// The room that things keep, in the units of the sizes that are given.
mod room {
    /// Around everything.
    pub(crate) const EDGE: i64 = 12;
    /// Between boxes.
    pub(crate) const BOX: i64 = 24;
    /// Between a box and a line.
    pub(crate) const SIDE: i64 = 12;
    /// Between lines.
    pub(crate) const LINE: i64 = 8;
    /// Between a line and its label, and between that and the next line.
    pub(crate) const LABEL: i64 = 4;
    /// Above the first lane of a row.
    pub(crate) const ABOVE: i64 = 8;
    /// Below the last lane: arrow heads.
    pub(crate) const BELOW: i64 = 16;
    /// Boxes are not made wider than this because many links without labels meet there.
    pub(crate) const PORTS: i64 = 480;
    /// The largest size of anything.
    pub(crate) const MOST: i64 = 1 << 24;
}

/// Places the boxes and routes the links of a graph.
#[must_use]
pub fn layout(boxes: &[Size], links: &[Link]) -> Layout {
    place::layout(boxes, links)
}

/// The item at an index, or the default if there is none.
fn at<T: Copy + Default>(list: &[T], index: usize) -> T {
    list.get(index).copied().unwrap_or_default()
}

/// Sets the item at an index.
fn put<T>(list: &mut [T], index: usize, value: T) {
    if let Some(place) = list.get_mut(index) {
        *place = value;
    }
}

/// Lists of numbers, one for each of some things, all in one piece of memory.
struct Lists {
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl Lists {
    /// Each item of pairs (thing, item), in their order.
    fn of(count: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for (thing, _) in pairs.clone() {
            if let Some(n) = starts.get_mut(thing + 1) {
                *n += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut items = vec![0; sum];
        let mut next = starts.clone();
        for (thing, item) in pairs {
            if let Some(next) = next.get_mut(thing) {
                put(&mut items, *next, item);
                *next += 1;
            }
        }
        Self { starts, items }
    }

    fn get(&self, thing: usize) -> &[usize] {
        let range = at(&self.starts, thing)..at(&self.starts, thing + 1);
        self.items.get(range).unwrap_or_default()
    }
}
