//! The document of all launches that were checked.

use super::Checked;
use crate::commands::run::why;
use serde_json::{Value, json};
use visakit_check::document::{finding, stopped};

pub(super) fn cases(checked: &[Checked]) -> Vec<Value> {
    let cases = checked.iter().map(|one| match &one.result {
        Ok(report) => {
            let findings: Vec<_> = report.findings.iter().map(finding).collect();
            let mut all = json!({ "case": one.case, "findings": findings });
            if let (Some(of), Some(all)) = (report.end.stopped(), all.as_object_mut()) {
                let why = stopped(of, &report.stays, &why(of));
                all.insert("stopped".to_owned(), why);
            }
            all
        }
        Err(error) => json!({ "case": one.case, "findings": [], "error": error }),
    });
    cases.collect()
}
