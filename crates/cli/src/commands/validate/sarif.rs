//! Findings as a SARIF log.

use super::Checked;
use crate::output::printable;
use crate::sarif::{self, uri};
use serde_json::{Value, json};
use visakit::validate::{Finding, Rule, Severity, rules};

/// The log.
pub(super) fn log(checked: &[Checked], unusable: &[String]) -> Value {
    let mut results = Vec::new();
    for one in checked {
        for (n, finding) in one.findings() {
            let line = one.lines.get(n).copied().flatten();
            results.push(result(one, finding, line));
        }
    }
    let notifications: Vec<Value> = unusable
        .iter()
        .map(|error| json!({ "level": "error", "message": { "text": error } }))
        .collect();
    let rules: Vec<Value> = rules::all().map(rule).collect();
    sarif::log(&rules, &results, &notifications)
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn rule(rule: &'static Rule) -> Value {
    json!({
        "id": rule.id().to_string(),
        "name": rule.name,
        "shortDescription": { "text": rule.what },
        "help": { "text": rule.action },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "area": rule.area().name(), "source": rule.source },
    })
}

fn result(one: &Checked, finding: &Finding, line: Option<(usize, usize)>) -> Value {
    let index = rules::all().position(|r| r == finding.rule);
    let mut physical = json!({ "artifactLocation": { "uri": uri(&one.path) } });
    let region = match (line, finding.offset) {
        (Some((line, column)), _) => Some(json!({ "startLine": line, "startColumn": column })),
        (None, Some(offset)) => Some(json!({ "byteOffset": offset })),
        (None, None) => None,
    };
    if let (Some(region), Value::Object(location)) = (region, &mut physical) {
        location.insert("region".to_owned(), region);
    }
    let mut logical = finding.location.to_string();
    if let Some(name) = finding.location.routine.and_then(|id| one.names.get(id)) {
        logical = format!("{logical} of {name}");
    }
    json!({
        "ruleId": finding.rule.id().to_string(),
        "ruleIndex": index,
        "level": level(finding.rule.severity),
        "message": { "text": printable(finding.message.as_bytes()) },
        "locations": [{
            "physicalLocation": physical,
            "logicalLocations": [{ "fullyQualifiedName": logical }],
        }],
    })
}
