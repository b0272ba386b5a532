//! Findings for programs.

use super::Checked;
use crate::input;
use crate::output::printable;
use serde_json::{Map, Value, json};
use visakit::validate::{Finding, Rule, Scope};

/// All findings as one JSON document, or how often each rule was broken.
pub(super) fn document(checked: &[Checked], statistics: bool) -> Value {
    let sum = |n: fn(&Checked) -> u64| -> u64 { checked.iter().map(n).sum() };
    let mut document = json!({
        "objects": checked.len(),
        "routines": sum(|c| c.report.routines),
        "errors": sum(|c| c.report.errors),
        "warnings": sum(|c| c.report.warnings),
    });
    let (key, list): (_, Vec<Value>) = if statistics {
        let rules = super::text::by_rule(checked).into_iter();
        let rule = |(rule, n, files): (&Rule, u64, u64)| {
            json!({
                "rule": rule.id().to_string(),
                "severity": rule.severity.name(),
                "count": n,
                "files": files,
            })
        };
        ("rules", rules.map(rule).collect())
    } else {
        ("files", checked.iter().map(file).collect())
    };
    if let Some(document) = document.as_object_mut() {
        document.insert(key.to_owned(), list.into());
    }
    document
}

fn file(one: &Checked) -> Value {
    let findings: Vec<Value> = one.findings().map(|(n, f)| finding(one, n, f)).collect();
    json!({
        "file": input::name(&one.path),
        "version": one.version,
        "routines": one.report.routines,
        "errors": one.report.errors,
        "warnings": one.report.warnings,
        "findings": findings,
        "more": one.more(),
    })
}

fn finding(one: &Checked, number: usize, finding: &Finding) -> Value {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("rule", finding.rule.id().to_string().into());
    put("severity", finding.rule.severity.name().into());
    if let Some(id) = finding.location.routine {
        let routine = json!({
            "kind": id.kind.name(),
            "index": id.index,
            "name": one.names.get(id),
        });
        put("routine", routine);
    }
    match finding.location.scope {
        Scope::Whole => {}
        Scope::Entry { table, index } => {
            put("table", table.into());
            put("entry", index.into());
        }
        Scope::Instruction { number, op } => {
            put("instruction", number.into());
            put("mnemonic", op.map(|op| op.def().mnemonic()).into());
        }
    }
    if let Some(field) = finding.location.field {
        put("field", field.name.into());
    }
    if let Some(offset) = finding.offset {
        put("offset", offset.into());
    }
    if let Some(text) = one.instructions.get(number).cloned().flatten() {
        put("text", text.into());
    }
    if let Some((line, column)) = one.lines.get(number).copied().flatten() {
        put("line", line.into());
        put("column", column.into());
    }
    if let Some(cause) = finding.cause {
        put("cause", cause.name().into());
    }
    put("message", printable(finding.message.as_bytes()).into());
    put("help", finding.rule.action.into());
    Value::Object(out)
}
