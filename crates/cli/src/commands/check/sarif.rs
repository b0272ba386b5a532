//! Findings as a SARIF log.

use super::told::{Told, told};
use crate::output::{printable, relative};
use crate::sarif::{self, uri};
use serde_json::{Value, json};
use std::path::Path;
use visakit_check::Kind;

/// The log of launches, which are documents of `visakit_check::document`.
pub(crate) fn log(cases: &[Value]) -> Value {
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for case in cases {
        let name = case["case"].as_str().unwrap_or_default();
        let findings = case["findings"].as_array().into_iter().flatten();
        results.extend(findings.map(|finding| result(name, finding)));
        if let Some(Told { message, places }) = told(case) {
            notifications.push(json!({
                "level": "error",
                "message": { "text": format!("{name}: {message}") },
                "locations": places.into_iter().map(location).collect::<Vec<_>>(),
            }));
        }
    }
    let rules = Kind::ALL.iter().map(|kind| {
        json!({
            "id": kind.name(),
            "shortDescription": { "text": kind.meaning().trim() },
            "defaultConfiguration": { "level": kind.level().name() },
        })
    });
    let rules: Vec<Value> = rules.collect();
    sarif::log(&rules, &results, &notifications)
}

fn location(place: &Value) -> Value {
    let name = place["routine"].as_str().unwrap_or_default();
    let name = format!("{name} instruction {}", place["instruction"]);
    let logical = json!([{ "fullyQualifiedName": name }]);
    match (place["file"].as_str(), place["line"].as_u64()) {
        (Some(file), Some(line)) => json!({
            "logicalLocations": logical,
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&relative(Path::new(file))) },
                "region": { "startLine": line },
            },
        }),
        _ => json!({ "logicalLocations": logical }),
    }
}

fn result(case: &str, finding: &Value) -> Value {
    let text = |of: &Value| printable(of.as_str().unwrap_or_default().as_bytes());
    let other = &finding["other"];
    let related = other.get("routine").map(|_| {
        let mut at = location(other);
        if let Value::Object(at) = &mut at {
            at.insert(
                "message".to_owned(),
                json!({ "text": text(&other["what"]) }),
            );
        }
        at
    });
    let kind = finding["kind"].as_str().unwrap_or_default();
    json!({
        "ruleId": kind,
        "ruleIndex": Kind::ALL.iter().position(|known| known.name() == kind),
        "level": finding["level"],
        "message": { "text": text(&finding["message"]) },
        "locations": [location(finding)],
        "relatedLocations": related.into_iter().collect::<Vec<_>>(),
        "occurrenceCount": finding["count"],
        "properties": {
            "case": case,
            "access": finding["access"],
            "between": finding["between"],
        },
    })
}
