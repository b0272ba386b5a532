//! Two objects side by side.

use crate::file::File;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use visakit::isa::object::{Object, RoutineId};
use visakit::rewrite::{Change, RoutineDiff, diff, lines};

/// The differences of two files: of the objects, and routine by routine with aligned instructions.
pub(crate) fn compare(old: &File, new: &File) -> Json {
    let found = diff(&old.object, &new.object);
    let named = |file: &File, kind: &str, name: &str| {
        let mut all = file.object.routines();
        let found = all.find(|(id, r)| id.kind.name() == kind && r.display_name() == name);
        found.map(|(id, _)| id)
    };
    let routines = found.routines.iter().map(|routine| {
        let old = named(old, routine.kind, &routine.name).map(|id| (id, &old.object));
        let new = named(new, routine.kind, &routine.name).map(|id| (id, &new.object));
        rows(routine, old, new)
    });
    json!({
        "object": found.object.iter().map(change).collect::<Vec<_>>(),
        "routines": routines.collect::<Vec<_>>(),
        "same": found.same,
    })
}

fn change(change: &Change) -> Json {
    let side = |side: &Option<(usize, String)>| side.as_ref().map(|(_, text)| text.clone());
    json!({ "what": change.what, "old": side(&change.old), "new": side(&change.new) })
}

type Side<'o> = Option<(RoutineId, &'o Object<'static>)>;

/// A routine: its other changes, and rows of corresponding instructions.
fn rows(routine: &RoutineDiff, old: Side<'_>, new: Side<'_>) -> Json {
    let text = |side: Side<'_>, wanted: bool| match side {
        Some((id, object)) if wanted => lines::all(object, id),
        _ => Vec::new(),
    };
    let olds = text(old, routine.only_in_new != Some(true));
    let news = text(new, routine.only_in_new != Some(false));
    let mut rows: Vec<Json> = Vec::new();
    let (mut a, mut b) = (0, 0);
    let is_code = |c: &&Change| c.what == "instruction";
    let mut row = |kind: &str, a: Option<usize>, b: Option<usize>| {
        let old = a.and_then(|n| Some((n, olds.get(n)?)));
        let new = b.and_then(|n| Some((n, news.get(n)?)));
        rows.push(json!([kind, old, new]));
    };
    if routine.only_in_new.is_none() {
        for change in routine.changes.iter().filter(is_code) {
            let old = change.old.as_ref().map(|o| o.0);
            let new = change.new.as_ref().map(|n| n.0);
            while old.is_none_or(|old| a < old) && new.is_none_or(|new| b < new) {
                row("same", Some(a), Some(b));
                (a, b) = (a + 1, b + 1);
            }
            let kind = match (old, new) {
                (Some(_), Some(_)) => "changed",
                (Some(_), None) => "removed",
                _ => "added",
            };
            row(kind, old, new);
            a = old.map_or(a, |n| n + 1);
            b = new.map_or(b, |n| n + 1);
        }
        while a < olds.len() && b < news.len() {
            row("same", Some(a), Some(b));
            (a, b) = (a + 1, b + 1);
        }
    } else {
        (0..olds.len()).for_each(|n| row("removed", Some(n), None));
        (0..news.len()).for_each(|n| row("added", None, Some(n)));
    }
    let others = routine.changes.iter().filter(|c| !is_code(c)).map(change);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &routine.changes {
        *counts.entry(change.what).or_default() += 1;
    }
    json!({
        "kind": routine.kind,
        "name": routine.name,
        "only": routine.only_in_new.map(|new| if new { "new" } else { "old" }),
        "same": routine.same,
        "counts": counts,
        "changes": others.collect::<Vec<_>>(),
        "rows": rows,
    })
}
