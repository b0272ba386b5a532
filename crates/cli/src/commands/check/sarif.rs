//! Findings as a log of the Static Analysis Results Interchange Format, version 2.1.0.

use super::Checked;
use crate::commands::run::why;
use crate::commands::validate::sarif::{SCHEMA, uri};
use crate::output::printable;
use serde_json::{Value, json};
use std::path::Path;
use visakit_check::{Access, Between, Finding, Kind, Place};

/// The log.
pub(super) fn log(checked: &[Checked]) -> Value {
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for one in checked {
        let mut notify = |message: String, locations: Vec<Value>| {
            let text = format!("{}: {message}", one.case);
            notifications.push(json!({
                "level": "error",
                "message": { "text": text },
                "locations": locations,
            }));
        };
        match &one.result {
            Ok(report) => {
                results.extend(report.findings.iter().map(|f| result(&one.case, f)));
                if let Some(stopped) = report.end.stopped() {
                    let places = report.stays.iter().map(|stay| location(&stay.place));
                    notify(why(stopped), places.collect());
                }
            }
            Err(error) => notify(error.clone(), Vec::new()),
        }
    }
    let rules = Kind::ALL.iter().map(|kind| {
        json!({
            "id": kind.name(),
            "shortDescription": { "text": kind.meaning().trim() },
            "defaultConfiguration": { "level": kind.level().name() },
        })
    });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "visakit",
                    "version": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules.collect::<Vec<_>>(),
                }
            },
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }]
    })
}

fn location(place: &Place) -> Value {
    let mut location = json!({
        "logicalLocations": [{
            "fullyQualifiedName": format!("{} instruction {}", place.routine, place.instruction),
        }],
    });
    if let (Some(file), Some(line), Value::Object(location)) =
        (&place.file, place.line, &mut location)
    {
        let physical = json!({
            "artifactLocation": { "uri": uri(Path::new(file)) },
            "region": { "startLine": line },
        });
        location.insert("physicalLocation".to_owned(), physical);
    }
    location
}

fn result(case: &str, finding: &Finding) -> Value {
    let other = finding.other.as_ref();
    let related = other.and_then(|other| {
        let mut at = location(other.place.as_ref()?);
        if let Value::Object(at) = &mut at {
            let text = printable(other.what.as_bytes());
            at.insert("message".to_owned(), json!({ "text": text }));
        }
        Some(at)
    });
    json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": Kind::ALL.iter().position(|kind| *kind == finding.kind),
        "level": finding.kind.level().name(),
        "message": { "text": printable(finding.message.as_bytes()) },
        "locations": [location(&finding.place)],
        "relatedLocations": related.into_iter().collect::<Vec<_>>(),
        "occurrenceCount": finding.count,
        "properties": {
            "case": case,
            "access": finding.access.map(Access::name),
            "between": finding.between.map(Between::name),
        },
    })
}
