//! Delta debugging of lists.

use visakit_rewrite::minimise;

/// The result is the same, however many are asked about at once.
#[allow(clippy::needless_pass_by_value, reason = "tests are shorter")]
fn minimised(items: Vec<u32>, test: impl Fn(&[u32]) -> bool) -> (Vec<u32>, usize) {
    let mut asked = 0;
    let mut with = |width| {
        minimise(items.clone(), width, &mut |candidates| {
            asked += 1;
            candidates.iter().position(|c| test(c))
        })
    };
    let left = with(1);
    assert_eq!((with(3), with(8)), (left.clone(), left.clone()));
    let mut alone = 0;
    minimise(items.clone(), 1, &mut |candidates| {
        alone += 1;
        candidates.iter().position(|c| test(c))
    });
    (left, alone)
}

#[test]
fn finds_the_entries_that_matter() {
    let (left, tests) = minimised((0..1000).collect(), |items| {
        items.contains(&17) && items.contains(&801)
    });
    assert_eq!(left, [17, 801]);
    assert!(tests < 120, "{tests}");
}

#[test]
fn keeps_nothing_where_nothing_matters() {
    assert!(minimised(vec![1, 2, 3], |_| true).0.is_empty());
    assert!(minimised(Vec::new(), |_| false).0.is_empty());
}

#[test]
fn an_entry_that_another_one_needs_goes_after_it() {
    // 5 may go only when 9 has gone.
    let (left, _) = minimised((0..10).collect(), |items| {
        items.contains(&3) && (items.contains(&5) || !items.contains(&9))
    });
    assert_eq!(left, [3]);
}
