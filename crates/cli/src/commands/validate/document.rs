//! Findings for programs.

use super::Checked;
use crate::input;
use crate::output::printable;
use serde_json::{Map, Value, json};
use visakit::validate::{Finding, Scope};

/// All findings as one JSON document.
pub(super) fn document(checked: &[Checked], unusable: &[String]) -> Value {
    let files: Vec<Value> = checked.iter().map(file).collect();
    let sum = |n: fn(&Checked) -> u64| -> u64 { checked.iter().map(n).sum() };
    json!({
        "objects": checked.len(),
        "routines": sum(|c| c.report.routines),
        "errors": sum(|c| c.report.errors),
        "warnings": sum(|c| c.report.warnings),
        "files": files,
        "unusable": unusable,
    })
}

fn file(one: &Checked) -> Value {
    let findings = one.report.findings.iter().zip(&one.lines);
    let findings: Vec<Value> = findings.map(|(f, line)| finding(one, f, *line)).collect();
    json!({
        "file": input::name(&one.path),
        "version": one.version,
        "routines": one.report.routines,
        "errors": one.report.errors,
        "warnings": one.report.warnings,
        "findings": findings,
        "more": one.report.more(),
    })
}

fn finding(one: &Checked, finding: &Finding, line: Option<(usize, usize)>) -> Value {
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
    if let Some((line, column)) = line {
        put("line", line.into());
        put("column", column.into());
    }
    put("message", printable(finding.message.as_bytes()).into());
    put("help", finding.rule.action.into());
    Value::Object(out)
}
