//! Lanes that run, and lanes that wait for them.

/// Where a lane is: its place in the code, and lanes that are there.
pub(super) type At = (usize, u32);

/// Waiting lanes of all frames, descending by place within a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(pub(super) Vec<At>);

impl Waiting {
    /// The smallest place at which lanes of the frame wait whose list begins at `base`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn first(&self, base: usize) -> Option<At> {
        if self.0.len() > base {
            self.0.last().copied()
        } else {
            None
        }
    }

    /// Parks lanes.
    pub(super) fn park(&mut self, base: usize, place: usize, mask: u32) {
        if mask == 0 {
            return;
        }
        let lanes = self.0.get(base..).unwrap_or(&[]);
        let after = base + lanes.partition_point(|(p, _)| *p > place);
        match self.0.get_mut(after) {
            Some((p, lanes)) if *p == place => *lanes |= mask,
            _ => self.0.insert(after, (place, mask)),
        }
    }

    /// Where to continue with these lanes at this place, or with lanes that wait before it. No lanes
    /// if none of the frame is left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn settle(&mut self, base: usize, (place, mask): At) -> At {
        match self.first(base) {
            Some((first, lanes)) if mask == 0 || first <= place => {
                self.0.pop();
                if mask != 0 && first == place {
                    return (first, lanes | mask);
                }
                self.park(base, place, mask);
                (first, lanes)
            }
            _ => (place, mask),
        }
    }

    /// Where to continue when some of the running lanes jump.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn branch(
        &mut self,
        base: usize,
        (pc, running): At,
        target: usize,
        taken: u32,
    ) -> At {
        let rest = running & !taken;
        let next = pc + 1;
        if taken == 0 {
            (next, running)
        } else if rest == 0 {
            self.settle(base, (target, taken))
        } else if target <= pc {
            self.park(base, next, rest);
            self.settle(base, (target, taken))
        } else {
            self.park(base, target, taken);
            self.settle(base, (next, rest))
        }
    }

    /// The lanes that run on when lanes that wait at this place join them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn join(&mut self, base: usize, (pc, running): At) -> u32 {
        match self.first(base) {
            Some((place, lanes)) if place == pc => {
                self.0.pop();
                running | lanes
            }
            _ => running,
        }
    }
}
