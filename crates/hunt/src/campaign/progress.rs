//! How far a campaign is.

use crate::log::{Batch, Log};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Where a campaign is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Batches that are done.
    pub batches: u64,
    /// Programs that were compared, and objects that were finalized.
    pub programs: u64,
    /// Kernels that were run.
    pub launches: u64,
    /// Programs whose results differ, and objects at which a finalizer fails.
    pub differences: u64,
    /// Folders of bugs.
    pub bugs: u64,
    /// Programs that do not count, by their reasons.
    pub dropped: BTreeMap<String, u64>,
    /// Seconds of compiling and running, checking, reducing.
    pub seconds: [f64; 3],
    /// Seconds of processor time, with that of compilers and second opinions; 0 where the system does not tell.
    pub processor: f64,
}

impl Progress {
    /// Where the campaigns of a folder are, all shares together.
    ///
    /// # Errors
    /// The folder cannot be read, or has no log.
    pub fn of_all_shares(folder: &Path) -> io::Result<Self> {
        let batches = Log::of_all_shares(folder)?;
        if batches.is_empty() {
            let folder = folder.display();
            return Err(io::Error::other(format!("{folder}: there is no campaign")));
        }
        let mut progress = Self::default();
        let mut bugs = BTreeSet::new();
        for batch in &batches {
            bugs.extend(batch.differences.iter().filter_map(|d| d.bug.as_ref()));
            progress.add(batch, bugs.len());
        }
        Ok(progress)
    }

    pub(super) fn add(&mut self, batch: &Batch, bugs: usize) {
        self.batches += 1;
        self.programs += batch.programs;
        self.launches += batch.launches;
        self.differences += batch.differences.len() as u64;
        self.bugs = bugs as u64;
        for (reason, count) in &batch.dropped {
            *self.dropped.entry(general(reason)).or_default() += count;
        }
        for (sum, seconds) in self.seconds.iter_mut().zip(batch.seconds) {
            *sum += seconds;
        }
        self.processor += batch.processor;
    }
}

/// A reason without names and numbers of single programs, which the log has: `"k1"` is `…`, 372 is `N`.
fn general(reason: &str) -> String {
    let mut out = String::new();
    let mut rest = reason;
    while let Some(first) = rest.chars().next() {
        let quoted = rest.get(1..).and_then(|after| after.find(first));
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && !".-_".contains(c));
        let word = word.unwrap_or(rest.len());
        let end = match (first, quoted) {
            ('"' | '`', Some(end)) => {
                out.push('…');
                end + 2
            }
            _ if word > 0 => {
                let text = rest.get(..word).unwrap_or_default();
                // Releases are names with digits.
                match text.chars().all(|c| c.is_ascii_digit()) {
                    true => out.push('N'),
                    false => out.push_str(text),
                }
                word
            }
            _ => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = rest.get(end..).unwrap_or_default();
    }
    // What there is instead, and all but the first of several places, are the program's as well.
    let said = out.split(';').next().unwrap_or_default();
    said.replace(", bytes N to N", "")
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn reasons_are_general() {
        for (reason, expected) in [
            (
                "not run by 1.0.5353: the program has no kernel `k1`; it has: k0",
                "not run by 1.0.5353: the program has no kernel …",
            ),
            (
                "not run by 1.0.5353: the address of symbol \"p4_t0\" is not known",
                "not run by 1.0.5353: the address of symbol … is not known",
            ),
            (
                "an input at bytes 300 to 304 of the payload, of",
                "an input at bytes N to N of the payload, of",
            ),
            (
                "the kernel wants bytes 0 to 4, bytes 8 to 12, bytes 16 to 20 of its payload, and",
                "the kernel wants bytes N to N of its payload, and",
            ),
            (
                "refused by GenX-12504: near line 7",
                "refused by GenX-12504: near line N",
            ),
            ("one `only é\" 7", "one `only é\" N"),
            ("", ""),
        ] {
            assert_eq!(general(reason), expected);
        }
    }
}
