//! The order in which groups of media kernels run: fronts of groups that do not wait for each other.

/// Which threads must have ended before a thread begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependency {
    /// None.
    #[default]
    Free,
    /// The one above.
    Vertical,
    /// The one to the left.
    Horizontal,
    /// Those to the left, above and between.
    Wavefront,
    /// Those to the left, above, and above to the left and to the right.
    Wavefront26,
}

impl Dependency {
    /// All of them with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Free, "none"),
        (Self::Vertical, "vertical"),
        (Self::Horizontal, "horizontal"),
        (Self::Wavefront, "wavefront"),
        (Self::Wavefront26, "wavefront26"),
    ];

    /// Whether one group has ended before another one begins, given their places.
    #[must_use]
    pub const fn orders(self, before: [u32; 2], after: [u32; 2]) -> bool {
        let ([x, y], [later_x, later_y]) = (before, after);
        match self {
            Self::Free => false,
            Self::Vertical => x == later_x && y < later_y,
            Self::Horizontal => y == later_y && x < later_x,
            Self::Wavefront => x <= later_x && y <= later_y && (x < later_x || y < later_y),
            // Each row up reaches one group further to the right.
            Self::Wavefront26 => {
                y < later_y && x.saturating_sub(later_x) <= later_y - y
                    || y == later_y && x < later_x
            }
        }
    }

    /// Number of fronts that a space of that size has. All groups of one front may run at the same time, when
    /// those before have ended.
    pub(crate) fn fronts(self, [width, height]: [u32; 2]) -> u64 {
        let (width, height) = (u64::from(width), u64::from(height));
        match self {
            Self::Free => 1,
            Self::Vertical => height,
            Self::Horizontal => width,
            Self::Wavefront => (width + height).saturating_sub(1),
            Self::Wavefront26 => (width + 2 * height).saturating_sub(2),
        }
    }
}

/// Groups that do not wait for each other.
#[derive(Clone, Copy)]
pub(crate) struct Front {
    pub(crate) dependency: Dependency,
    pub(crate) number: u64,
    /// Size of the space, in groups.
    pub(crate) size: [u32; 2],
}

impl Front {
    /// Rows of its first and its last group, the others lie between: of the diagonal fronts
    /// `x + step * y = number`.
    fn rows(&self, step: u64) -> (u64, u64) {
        let [width, height] = self.size.map(u64::from);
        let first = (self.number + 1).saturating_sub(width).div_ceil(step);
        (first, (self.number / step).min(height.saturating_sub(1)))
    }

    fn step(&self) -> Option<u64> {
        match self.dependency {
            Dependency::Wavefront => Some(1),
            Dependency::Wavefront26 => Some(2),
            _ => None,
        }
    }

    /// Number of groups.
    pub(crate) fn count(&self) -> u64 {
        let [width, height] = self.size.map(u64::from);
        match (self.dependency, self.step()) {
            (_, Some(step)) => {
                let (first, last) = self.rows(step);
                (last + 1).saturating_sub(first)
            }
            (Dependency::Vertical, _) => width,
            (Dependency::Horizontal, _) => height,
            _ => width * height,
        }
    }

    /// Place of one of its groups.
    pub(crate) fn group(&self, index: u64) -> [u32; 2] {
        let width = u64::from(self.size[0]).max(1);
        let place = match (self.dependency, self.step()) {
            (_, Some(step)) => {
                let y = self.rows(step).0 + index;
                [self.number.saturating_sub(step * y), y]
            }
            (Dependency::Vertical, _) => [index, self.number],
            (Dependency::Horizontal, _) => [self.number, index],
            _ => [index % width, index / width],
        };
        place.map(|n| u32::try_from(n).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group has ended before those that wait for it, for those that wait for these, and so on.
    #[test]
    fn order_of_groups() {
        let size = [4_u32, 5];
        let places = || (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
        for (dependency, _) in Dependency::ALL {
            let before: &[[i64; 2]] = match dependency {
                Dependency::Free => &[],
                Dependency::Vertical => &[[0, -1]],
                Dependency::Horizontal => &[[-1, 0]],
                Dependency::Wavefront => &[[-1, 0], [0, -1], [-1, -1]],
                Dependency::Wavefront26 => &[[-1, 0], [0, -1], [-1, -1], [1, -1]],
            };
            for after in places() {
                let mut ended = std::collections::BTreeSet::new();
                let mut open = vec![after];
                while let Some([x, y]) = open.pop() {
                    for [dx, dy] in before {
                        let x = u32::try_from(i64::from(x) + dx).unwrap_or(u32::MAX);
                        let y = u32::try_from(i64::from(y) + dy).unwrap_or(u32::MAX);
                        if x < size[0] && y < size[1] && ended.insert([x, y]) {
                            open.push([x, y]);
                        }
                    }
                }
                for place in places() {
                    let known = dependency.orders(place, after);
                    assert_eq!(
                        known,
                        ended.contains(&place),
                        "{dependency:?} {place:?} {after:?}"
                    );
                }
            }
        }
    }

    /// Each group is in one front, with those that it waits for in earlier ones.
    #[test]
    fn fronts() {
        for size in [[1, 1], [1, 5], [5, 1], [4, 3], [3, 7], [2, 2]] {
            for (dependency, _) in Dependency::ALL {
                let mut seen = std::collections::BTreeMap::new();
                for number in 0..dependency.fronts(size) {
                    let front = Front {
                        dependency,
                        number,
                        size,
                    };
                    assert!(front.count() > 0 || size[0] == 1, "{size:?} {dependency:?}");
                    for index in 0..front.count() {
                        assert_eq!(seen.insert(front.group(index), number), None);
                    }
                }
                assert_eq!(seen.len(), (size[0] * size[1]) as usize);
                for (place, number) in &seen {
                    let [x, y] = place.map(i64::from);
                    let before: &[[i64; 2]] = match dependency {
                        Dependency::Free => &[],
                        Dependency::Vertical => &[[0, -1]],
                        Dependency::Horizontal => &[[-1, 0]],
                        Dependency::Wavefront => &[[-1, 0], [0, -1], [-1, -1]],
                        Dependency::Wavefront26 => &[[-1, 0], [0, -1], [-1, -1], [1, -1]],
                    };
                    for [dx, dy] in before {
                        let place = [x + dx, y + dy].map(|n| u32::try_from(n).ok());
                        if let [Some(x), Some(y)] = place
                            && let Some(earlier) = seen.get(&[x, y])
                        {
                            assert!(earlier < number, "{size:?} {dependency:?} {place:?}");
                        }
                    }
                }
            }
        }
    }
}
