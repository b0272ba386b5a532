//! The register file before a thread sets its own variables.

use crate::code::Code;
use std::ops::Range;

/// Changed parts that are closer than this are restored as one.
const GAP: usize = 32;

/// The register file before a thread sets its own variables, and which parts of it threads change.
#[derive(Debug, Default)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    /// The parts that may differ from `bytes` after a thread has run, except what the start of the next one writes:
    /// ascending.
    changed: Vec<Range<usize>>,
    /// The parts that programs may write: ascending, not adjacent.
    written: Vec<Range<usize>>,
}

impl Image {
    /// The code may write to `addressed` where addresses decide the place. The start of a thread writes `set`.
    pub(crate) fn new(
        bytes: Vec<u8>,
        code: &Code,
        addressed: &[Range<usize>],
        set: impl Iterator<Item = Range<usize>>,
    ) -> Self {
        let mut all: Vec<Range<usize>> = Vec::new();
        let mut indirect = false;
        for step in &code.steps {
            match step.written() {
                Some(written) => all.extend(written),
                None => indirect = true,
            }
        }
        if indirect {
            all.extend_from_slice(addressed);
        }
        let written = joined(all, 0);
        let changed = without(&written, &joined(set.collect(), 0));
        Self {
            changed: joined(changed, GAP),
            written,
            bytes,
        }
    }

    /// Whether a part may have changed after a thread has run and the file was restored.
    pub(crate) fn may_change(&self, part: &Range<usize>) -> bool {
        // Restoring goes over small gaps.
        [&self.written, &self.changed].into_iter().any(|parts| {
            let next = parts.get(parts.partition_point(|p| p.end <= part.start));
            next.is_some_and(|p| p.start < part.end)
        })
    }

    /// Restores a new register file from one left by a thread of the same program.
    pub(crate) fn restore(&self, file: &mut [u8]) {
        for part in &self.changed {
            self.restore_part(file, part.clone());
        }
    }

    /// The changed bytes for which `wanted` is set.
    pub(super) fn of_changed(&self, wanted: Option<&[bool]>) -> Vec<Range<usize>> {
        let Some(wanted) = wanted else {
            return self.changed.clone();
        };
        let mut parts: Vec<Range<usize>> = Vec::new();
        for place in self.changed.iter().cloned().flatten() {
            if wanted.get(place) == Some(&false) {
                continue;
            }
            match parts.last_mut() {
                Some(last) if last.end == place => last.end += 1,
                _ => parts.push(place..place + 1),
            }
        }
        joined(parts, GAP)
    }

    /// Restores one part, as far as there are registers.
    pub(crate) fn restore_part(&self, file: &mut [u8], part: Range<usize>) {
        let part = part.start..part.end.min(self.bytes.len());
        if let (Some(to), Some(from)) = (file.get_mut(part.clone()), self.bytes.get(part)) {
            to.copy_from_slice(from);
        }
    }
}

/// The bytes of ascending parts as fewer parts, merging those less than `gap` bytes apart.
fn joined(mut parts: Vec<Range<usize>>, gap: usize) -> Vec<Range<usize>> {
    parts.retain(|part| !part.is_empty());
    parts.sort_unstable_by_key(|part| part.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match all.last_mut() {
            Some(last) if part.start <= last.end.saturating_add(gap) => {
                last.end = last.end.max(part.end);
            }
            _ => all.push(part),
        }
    }
    all
}

/// What is left of parts outside of holes; both are ascending and do not overlap.
fn without(parts: &[Range<usize>], mut holes: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let over = holes.partition_point(|hole| hole.end <= part.start);
        holes = holes.get(over..).unwrap_or_default();
        let mut start = part.start;
        for hole in holes.iter().take_while(|hole| hole.start < part.end) {
            if start < hole.start {
                all.push(start..hole.start);
            }
            start = hole.end;
        }
        if start < part.end {
            all.push(start..part.end);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::single_range_in_vec_init,
        reason = "lists of parts, some of one"
    )]
    fn parts() {
        assert_eq!(
            joined(vec![8..12, 0..4, 3..5, 7..7, 40..41], 2),
            [0..5, 8..12, 40..41]
        );
        assert_eq!(joined(vec![8..12, 0..4], 4), [0..12]);
        assert_eq!(without(&[0..10], &[3..5]), [0..3, 5..10]);
        assert_eq!(without(&[0..10], &[0..10]), []);
        assert_eq!(without(&[4..10], &[0..6]), [6..10]);
        assert_eq!(without(&[4..10], &[20..30]), [4..10]);
        assert_eq!(without(&[4..10], &[0..2]), [4..10]);
        let parts = [0..10, 12..20, 30..40, 50..60];
        let holes = [2..3, 5..6, 8..14, 18..35, 36..70];
        assert_eq!(without(&parts, &holes), [0..2, 3..5, 6..8, 14..18, 35..36]);
    }
}
