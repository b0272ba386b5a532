//! Smaller panes: source lines, statistics, findings.

use crate::Answer;
use crate::file::File;
use serde_json::{Value as Json, json};
use visakit::isa::object::SourceFiles;
use visakit::stats::{Sizes, Stats};
use visakit::validate;

/// The lines of the source that the instructions of a routine come from, as FILE and LOC say: file names, and for each
/// instruction the number of its file and its line.
pub(crate) fn source_lines(file: &File, routine: usize) -> Answer {
    let id = file.id(routine)?;
    let body = file.object.routine(id).and_then(|r| r.body());
    let Some(body) = body else {
        return Err("the routine could not be decoded".to_owned());
    };
    let mut files = SourceFiles::default();
    let lines = files.lines(body).into_iter();
    let places = lines.map(|of| match of.and_then(|of| Some((of.file?, of.line))) {
        Some((file, line)) => json!([file, line]),
        None => Json::Null,
    });
    let places: Vec<_> = places.collect();
    Ok(json!({ "files": files.names(), "places": places }))
}

/// Statistics of the object.
pub(crate) fn statistics(file: &File) -> Json {
    let sizes = file.container().map(|c| Sizes::of(&c)).unwrap_or_default();
    let stats = Stats::of(&file.object, sizes);
    let rows = |rows: Vec<(String, u64)>| Json::Array(rows.into_iter().map(|r| json!(r)).collect());
    let named = |counts: &mut dyn Iterator<Item = (&'static str, u64)>| {
        rows(
            counts
                .map(|(name, n)| (name.to_owned(), n))
                .filter(|r| r.1 > 0)
                .collect(),
        )
    };
    let operations = stats.by_count().into_iter();
    let groups = stats.groups().into_iter();
    let lanes = stats.exec_sizes.iter();
    json!({
        "instructions": stats.instructions(),
        "predicated": stats.predicated,
        "undecoded": stats.raw_items,
        "operations": rows(operations.map(|(op, n)| (op.def().mnemonic().to_owned(), n)).collect()),
        "groups": rows(groups.map(|(group, n)| (group.name().to_owned(), n)).collect()),
        "lanes": rows(lanes.map(|(lanes, n)| {
            (lanes.map_or_else(|| "reserved".to_owned(), |l| l.to_string()), *n)
        }).collect()),
        "destinations": named(&mut stats.destinations.iter()),
        "sources": named(&mut stats.sources.iter()),
        "bytes": named(&mut stats.sizes.iter()),
    })
}

/// The validator's findings in a read-only file; texts have their problems.
pub(crate) fn findings(file: &File) -> Json {
    if file.document.is_some() {
        return file.problems();
    }
    let options = validate::Options {
        limit: 500,
        ..validate::Options::default()
    };
    let report = match validate::bytes(&file.bytes, Some(file.object.dialect), &options) {
        Ok(report) => report,
        Err(error) => return json!([{ "severity": "error", "message": error.to_string() }]),
    };
    let findings = report.findings.iter().map(|finding| {
        json!({
            "severity": finding.rule.severity.name(),
            "rule": finding.rule.id().to_string(),
            "message": format!("{}: {}", finding.location, finding.message),
            "help": finding.rule.action,
            "offset": finding.offset,
        })
    });
    Json::Array(findings.collect())
}
