//! The grid of work-items.

use crate::error::LaunchError;

/// Work-items of a group that no device exceeds; also bounds the threads that run at the same time.
const MOST_ITEMS: u64 = 4096;

/// A grid of work-items and how it is cut into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    /// Dimensions that the host asked for, 1 to 3.
    pub dimensions: u32,
    /// Work-items in each dimension, all of them.
    pub global: [u32; 3],
    /// Work-items of a full group in each dimension. The last group of a dimension may be smaller.
    pub local: [u32; 3],
    /// The offset added to global ids.
    pub offset: [u32; 3],
}

impl NdRange {
    /// Work-items of a group (`CL_DEVICE_MAX_WORK_GROUP_SIZE`) on the devices that start most; others start 256 or 512.
    pub const LARGEST_GROUP: u32 = 1024;

    /// A grid; missing dimensions are 1.
    ///
    /// # Errors
    /// [`LaunchError::Grid`] for 0 or more than 3 dimensions, empty groups and groups that no device can take.
    pub fn new(global: &[u32], local: &[u32], offset: &[u32]) -> Result<Self, LaunchError> {
        let dimensions = match u32::try_from(global.len()) {
            Ok(n @ 1..=3) => n,
            _ => return Err(grid(format!("1 to 3 dimensions, not {}", global.len()))),
        };
        if local.len() > 3 || offset.len() > 3 {
            return Err(grid("at most 3 dimensions".to_owned()));
        }
        let three = |values: &[u32], rest: u32| -> [u32; 3] {
            core::array::from_fn(|d| values.get(d).copied().unwrap_or(rest))
        };
        let range = Self {
            dimensions,
            global: three(global, 1),
            local: three(local, 1),
            offset: three(offset, 0),
        };
        range.check()?;
        Ok(range)
    }

    /// Checks that groups have a size that devices support: the fields may have been changed.
    pub(crate) fn check(&self) -> Result<(), LaunchError> {
        if self.local.contains(&0) {
            return Err(grid("a group without work-items".to_owned()));
        }
        let sizes = self.local.iter();
        let items = sizes.fold(1_u64, |n, &d| n.saturating_mul(d.into()));
        if items > MOST_ITEMS {
            return Err(grid(format!(
                "groups of {items} work-items; at most {MOST_ITEMS}, of real devices 256 to {}",
                Self::LARGEST_GROUP
            )));
        }
        Ok(())
    }

    /// A size of groups for a kernel that does not care: at most 256 work-items, cutting the grid evenly where
    /// a divisor of it allows that, preferring long rows.
    #[must_use]
    pub fn default_local(global: &[u32]) -> Vec<u32> {
        let mut left = 256;
        global
            .iter()
            .map(|&size| {
                let fits = (1..=left)
                    .rev()
                    .find(|&n| size.is_multiple_of(n) && size > 0);
                let fits = fits.unwrap_or(1);
                left /= fits;
                fits
            })
            .collect()
    }

    /// Groups in each dimension, a smaller last one included.
    #[must_use]
    pub fn groups(&self) -> [u32; 3] {
        core::array::from_fn(|d| match (self.global.get(d), self.local.get(d)) {
            (Some(global), Some(local)) => global.div_ceil((*local).max(1)),
            _ => 1,
        })
    }

    /// Number of groups.
    #[must_use]
    pub fn group_count(&self) -> u64 {
        // Three 32-bit factors may exceed 64 bits; such a grid would never finish anyway.
        let groups = self.groups().map(u64::from);
        groups.iter().fold(1, |n, &d| n.saturating_mul(d))
    }

    /// Coordinates of the group of that number; x runs fastest.
    #[must_use]
    pub fn group(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.groups().map(|n| u64::from(n.max(1)));
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        [
            small(number % x),
            small(number / x % y),
            small(number / x / y),
        ]
    }

    /// Every size that groups have: the usual one, and those at the ends of a grid that they do not divide.
    #[must_use]
    pub fn local_sizes(&self) -> Vec<[u32; 3]> {
        let groups = self.groups();
        let last = |d: usize| groups.get(d).map_or(0, |n| n.saturating_sub(1));
        let mut sizes = Vec::new();
        for corner in 0..8_u32 {
            let at = std::array::from_fn(|d| if corner >> d & 1 == 1 { last(d) } else { 0 });
            let size = self.local_of(at);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        sizes
    }

    /// Work-items in each dimension of the group at those coordinates.
    #[must_use]
    pub fn local_of(&self, group: [u32; 3]) -> [u32; 3] {
        let mut size = self.local;
        for ((size, at), all) in size.iter_mut().zip(group).zip(self.global) {
            let before = u64::from(at) * u64::from(*size);
            let left = u64::from(all).saturating_sub(before);
            *size = (*size).min(u32::try_from(left).unwrap_or(u32::MAX));
        }
        size
    }
}

const fn grid(message: String) -> LaunchError {
    LaunchError::Grid(message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn uneven_grids_have_smaller_last_groups() {
        let range = NdRange::new(&[10, 3], &[4, 2], &[]).unwrap();
        assert_eq!(range.groups(), [3, 2, 1]);
        assert_eq!(range.group_count(), 6);
        assert_eq!(range.group(5), [2, 1, 0]);
        assert_eq!(range.local_of([0, 0, 0]), [4, 2, 1]);
        assert_eq!(range.local_of([2, 1, 0]), [2, 1, 1]);
    }

    #[test]
    fn group_sizes_that_divide() {
        assert_eq!(NdRange::default_local(&[1024, 1024]), [256, 1]);
        assert_eq!(NdRange::default_local(&[10, 10]), [10, 10]);
        assert_eq!(NdRange::default_local(&[257]), [1]);
        assert_eq!(NdRange::default_local(&[0]), [1]);
    }

    #[test]
    fn what_cannot_be_started() {
        assert!(NdRange::new(&[], &[], &[]).is_err());
        assert!(NdRange::new(&[1, 1, 1, 1], &[], &[]).is_err());
        assert!(NdRange::new(&[1], &[0], &[]).is_err());
        assert!(NdRange::new(&[1 << 20], &[1 << 20], &[]).is_err());
        let whole = NdRange::new(&[u32::MAX; 3], &[], &[]).unwrap();
        assert_eq!(whole.group_count(), u64::MAX);
    }
}
