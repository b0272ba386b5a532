//! Delta debugging of lists: pieces are taken away, large ones first.

/// A sublist that passes the test and from which no single entry can be taken away.
///
/// `items` itself is taken to pass. The test is not asked about lists that were refused in the same
/// round of the same size.
pub(crate) fn minimise<T: Clone>(items: Vec<T>, test: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut items = items;
    if items.is_empty() || test(&[]) {
        return Vec::new();
    }
    let mut size = items.len().div_ceil(2);
    loop {
        let mut start = 0;
        let mut shrunk = false;
        while start < items.len() && items.len() > 1 {
            let end = (start + size).min(items.len());
            let mut candidate = items.clone();
            candidate.drain(start..end);
            if !candidate.is_empty() && test(&candidate) {
                items = candidate;
                shrunk = true;
            } else {
                start = end;
            }
        }
        // What went may have been what kept an earlier piece, so the last size has another try.
        match (size, shrunk) {
            (1, true) => {}
            (1, false) => return items,
            _ => size = size.div_ceil(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn finds_the_entries_that_matter() {
        let all: Vec<u32> = (0..1000).collect();
        let mut tests = 0;
        let left = minimise(all, &mut |items| {
            tests += 1;
            items.contains(&17) && items.contains(&801)
        });
        assert_eq!(left, [17, 801]);
        assert!(tests < 120, "{tests}");
    }

    #[test]
    fn keeps_nothing_where_nothing_matters() {
        assert!(minimise(vec![1, 2, 3], &mut |_| true).is_empty());
        assert!(minimise(Vec::<u8>::new(), &mut |_| false).is_empty());
    }

    #[test]
    fn an_entry_that_another_one_needs_goes_after_it() {
        // 5 may go only when 9 has gone.
        let left = minimise((0..10).collect(), &mut |items: &[u8]| {
            items.contains(&3) && (items.contains(&5) || !items.contains(&9))
        });
        assert_eq!(left, [3]);
    }
}
