//! Findings as JSON, as `visakit check --json` prints them and drivers report them.

use crate::{Access, Between, Finding, Item, Other, Place, Stay};
use serde_json::{Value, json};
use visakit_launch::Stopped;

/// Why a launch did not run to its end, in a sentence and in numbers, and where its threads were.
#[must_use]
pub fn stopped(stopped: &Stopped, stays: &[Stay], message: &str) -> Value {
    let stays = stays.iter().map(|stay| {
        let mut all = json!({
            "threads": stay.threads,
            "waits": stay.waits,
            "item": item(&stay.item),
        });
        if let (Value::Object(all), Value::Object(place)) = (&mut all, place(&stay.place)) {
            all.extend(place);
        }
        all
    });
    json!({
        "reason": stopped.reason.name(),
        "message": message,
        "groups": stopped.groups,
        "groups_ended": stopped.ended,
        "places": stays.collect::<Vec<_>>(),
    })
}

/// A finding.
#[must_use]
pub fn finding(finding: &Finding) -> Value {
    let mut all = json!({
        "kind": finding.kind.name(),
        "level": finding.kind.level().name(),
        "space": finding.space.name(),
        "access": finding.access.map(Access::name),
        "between": finding.between.map(Between::name),
    });
    let target = finding.target.as_ref();
    let rest = json!({
        "argument": target.filter(|t| t.argument.is_some()).map(|t| t.name.clone()),
        "argument_index": target.and_then(|t| t.argument),
        "object": target.map(|t| t.name.clone()),
        "object_bytes": target.map(|t| t.bytes),
        "offset": target.map(|t| t.offset),
        "message": finding.message,
        "item": finding.item.as_ref().map(item),
        "address": finding.address,
        "bytes": finding.bytes,
        "value": finding.value,
        "other": finding.other.as_ref().map(other),
        "count": finding.count,
    });
    if let (Value::Object(all), Value::Object(place), Value::Object(rest)) =
        (&mut all, place(&finding.place), rest)
    {
        all.extend(place);
        all.extend(rest);
    }
    all
}

fn place(place: &Place) -> Value {
    json!({
        "routine": place.routine,
        "instruction": place.instruction,
        "text": place.text,
        "file": place.file,
        "line": place.line,
    })
}

fn item(item: &Item) -> Value {
    json!({
        "group": item.group,
        "global": item.global,
        "local": item.local,
        "thread": item.thread,
        "lane": item.lane,
    })
}

fn other(other: &Other) -> Value {
    let mut all = json!({ "what": other.what, "access": other.access.map(Access::name) });
    if let Value::Object(all) = &mut all {
        if let Some(Value::Object(place)) = other.place.as_ref().map(place) {
            all.extend(place);
        }
        all.insert("item".to_owned(), other.item.as_ref().map(item).into());
    }
    all
}
