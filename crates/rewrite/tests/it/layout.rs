//! The guarantees of the crate, on random graphs.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use super::picture;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_rewrite::graph::layout::{Link, Size, layout};

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.next_u64() % bound as u64).unwrap()
    }

    fn size(&mut self, width: usize, height: usize) -> Size {
        let (width, height) = (self.below(width), self.below(height));
        Size {
            width: i64::try_from(width).unwrap(),
            height: i64::try_from(height).unwrap(),
        }
    }
}

#[test]
fn graphs_of_chance() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(12));
    for _ in 0..3000 {
        let count = 1 + random.below(24);
        let boxes: Vec<Size> = (0..count).map(|_| random.size(200, 90)).collect();
        let many = random.below(3 * count);
        let near = random.below(2) == 0;
        let links: Vec<Link> = (0..many)
            .map(|_| {
                let from = random.below(count);
                let to = if near {
                    (from + random.below(5)).saturating_sub(1) % count
                } else {
                    random.below(count)
                };
                let label = match random.below(3) {
                    0 => random.size(60, 14),
                    _ => Size::default(),
                };
                Link { from, to, label }
            })
            .collect();
        let placed = layout(&boxes, &links);
        let faults = picture::faults(&placed, &boxes, &links);
        assert!(faults.is_empty(), "{boxes:?} {links:?}: {faults:#?}");
        assert_eq!(placed, layout(&boxes, &links));
    }
}

#[test]
fn extremes() {
    let none = layout(&[], &[Link::new(0, 0), Link::new(3, 1)]);
    assert_eq!((none.boxes.len(), none.routes.len()), (0, 2));
    assert!(none.routes.iter().all(|r| r.points.is_empty()));
    let huge = Size {
        width: i64::MAX,
        height: i64::MIN,
    };
    let links = [Link {
        from: 0,
        to: 0,
        label: huge,
    }];
    let placed = layout(&[huge], &links);
    assert!(placed.size.width > 0 && placed.size.height > 0);
    // A link of a box that does not exist keeps its place in the list.
    let placed = layout(&[Size::default(); 2], &[Link::new(5, 0), Link::new(0, 1)]);
    assert!(placed.routes[0].points.is_empty() && !placed.routes[1].points.is_empty());
}

/// A ladder in which every block skips to the last one, and one in which every block goes back to the first one.
#[test]
fn long_links_take_no_more_than_short_ones() {
    let count = 20_000;
    let boxes = vec![
        Size {
            width: 40,
            height: 20
        };
        count
    ];
    let next = (1..count).map(|to| Link::new(to - 1, to));
    let ends = (0..count).flat_map(|from| [Link::new(from, count - 1), Link::new(from, 0)]);
    let links: Vec<Link> = next.chain(ends).collect();
    let placed = layout(&boxes, &links);
    assert!(placed.routes.iter().all(|route| route.points.len() <= 6));
    let all = (0..30).flat_map(|from| (0..30).map(move |to| Link::new(from, to)));
    let all: Vec<Link> = all.collect();
    let placed = layout(&boxes[..30], &all);
    let faults = picture::faults(&placed, &boxes[..30], &all);
    assert!(faults.is_empty(), "{faults:#?}");
}
