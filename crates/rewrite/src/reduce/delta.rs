//! Delta debugging of lists: pieces are taken away, large ones first.

/// A sublist that passes the test and from which no single entry can be taken away.
///
/// `items` itself is taken to pass. `first` is given up to `width` candidates and says which is the first one that
/// passes: how many are given at once makes no difference to the result. It is not asked about lists that were refused
/// in the same round of the same size.
pub fn minimise<T: Clone>(
    items: Vec<T>,
    width: usize,
    first: &mut dyn FnMut(&[Vec<T>]) -> Option<usize>,
) -> Vec<T> {
    let mut items = items;
    if items.is_empty() || first(&[Vec::new()]).is_some() {
        return Vec::new();
    }
    let mut size = items.len().div_ceil(2);
    loop {
        let mut start = 0;
        let mut shrunk = false;
        while start < items.len() && items.len() > 1 {
            let starts: Vec<usize> = (start..items.len())
                .step_by(size)
                .take(width.max(1))
                .collect();
            let without = |start: &usize| {
                let end = start.saturating_add(size).min(items.len());
                let mut candidate = items.clone();
                candidate.drain(*start..end);
                candidate
            };
            let mut candidates: Vec<_> = starts.iter().map(without).collect();
            // The empty list was refused.
            candidates.retain(|candidate| !candidate.is_empty());
            let found = if candidates.is_empty() {
                None
            } else {
                first(&candidates)
            };
            let passed = found.filter(|at| *at < candidates.len());
            match passed.and_then(|at| starts.get(at)) {
                Some(at) => {
                    start = *at;
                    shrunk = true;
                    items = candidates.swap_remove(passed.unwrap_or(0));
                }
                None => {
                    start = starts
                        .last()
                        .map_or(items.len(), |last| last.saturating_add(size));
                }
            }
        }
        // What was removed may have been what kept an earlier piece, so the last size is tried again.
        match (size, shrunk) {
            (1, true) => {}
            (1, false) => return items,
            _ => size = size.div_ceil(2),
        }
    }
}
