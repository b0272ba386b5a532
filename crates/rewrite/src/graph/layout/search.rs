//! Trees over rows of numbers that answer in O(log n).

use super::{at, put};

/// Finds the nearest of many numbers that is not above a bound.
pub(crate) struct Nearest {
    /// A binary tree of minima; its leaves begin in the middle.
    least: Vec<usize>,
    leaves: usize,
}

impl Nearest {
    /// `count` zeroes.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.max(1).next_power_of_two();
        let mut tree = Self {
            least: vec![0; 2 * leaves],
            leaves,
        };
        // Unused leaves are never found.
        for extra in count..leaves {
            tree.set(extra, usize::MAX);
        }
        tree
    }

    pub(crate) fn set(&mut self, index: usize, value: usize) {
        let mut node = index + self.leaves;
        put(&mut self.least, node, value);
        while node > 1 {
            node /= 2;
            let value = at(&self.least, 2 * node).min(at(&self.least, 2 * node + 1));
            put(&mut self.least, node, value);
        }
    }

    /// The first index from this one on.
    pub(crate) fn after(&self, index: usize, bound: usize) -> Option<usize> {
        self.find(index, bound, 1)
    }

    /// The last index up to this one.
    pub(crate) fn before(&self, index: usize, bound: usize) -> Option<usize> {
        self.find(index, bound, 0)
    }

    /// Up from a leaf until the subtree on the chosen side (0: left, 1: right) has it, then down.
    fn find(&self, index: usize, bound: usize, side: usize) -> Option<usize> {
        let mut node = index.min(self.leaves - 1) + self.leaves;
        if at(&self.least, node) <= bound {
            return Some(node - self.leaves);
        }
        loop {
            if node <= 1 {
                return None;
            }
            let sibling = node ^ 1;
            if sibling % 2 == side && at(&self.least, sibling) <= bound {
                node = sibling;
                break;
            }
            node /= 2;
        }
        while node < self.leaves {
            let near = 2 * node + (1 - side);
            node = if at(&self.least, near) <= bound {
                near
            } else {
                near ^ 1
            };
        }
        Some(node - self.leaves)
    }
}

/// Raises ranges of numbers, and returns the largest of a range.
pub(crate) struct Highest {
    /// For each node the largest number of its subtree, and the value set for all of it.
    nodes: Vec<(usize, usize)>,
    leaves: usize,
}

impl Highest {
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.max(1).next_power_of_two();
        Self {
            nodes: vec![(0, 0); 2 * leaves],
            leaves,
        }
    }

    /// The largest number from the first to the last index.
    pub(crate) fn of(&self, first: usize, last: usize) -> usize {
        let (mut low, mut high) = (first + self.leaves, last + self.leaves);
        let mut most = at(&self.nodes, low).0.max(at(&self.nodes, high).0);
        while low >= 1 && high >= 1 {
            // A value set for a whole node applies to everything below it.
            most = most
                .max(at(&self.nodes, low).1)
                .max(at(&self.nodes, high).1);
            if low / 2 != high / 2 {
                if low % 2 == 0 {
                    most = most.max(at(&self.nodes, low + 1).0);
                }
                if high % 2 == 1 {
                    most = most.max(at(&self.nodes, high - 1).0);
                }
            }
            low /= 2;
            high /= 2;
        }
        most
    }

    /// All numbers from the first to the last index become at least this.
    pub(crate) fn raise(&mut self, first: usize, last: usize, value: usize) {
        let (mut low, mut high) = (first + self.leaves, last + self.leaves);
        self.all(low, value);
        self.all(high, value);
        while low > 1 && high > 1 {
            if low / 2 != high / 2 {
                if low % 2 == 0 {
                    self.all(low + 1, value);
                }
                if high % 2 == 1 {
                    self.all(high - 1, value);
                }
            }
            low /= 2;
            high /= 2;
            self.some(low, value);
            self.some(high, value);
        }
    }

    fn all(&mut self, node: usize, value: usize) {
        if let Some((most, all)) = self.nodes.get_mut(node) {
            *most = value.max(*most);
            *all = value.max(*all);
        }
    }

    fn some(&mut self, node: usize, value: usize) {
        if let Some((most, _)) = self.nodes.get_mut(node) {
            *most = value.max(*most);
        }
    }
}
