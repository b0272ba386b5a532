//! `visakit explain`: a rule of the validator.

use crate::Status;
use crate::output::{self, Failure, heading, stdout};
use crate::table::{Align, Columns, paragraph};
use serde_json::{Value, json};
use std::io::Write;
use visakit::validate::{Area, Rule, rules};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rules: V0226, 226, region-bounds or V0226-region-bounds. [default: a list of all]
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut chosen = Vec::new();
    for text in &args.rules {
        let rule = Rule::find(text).ok_or_else(|| unknown(text))?;
        chosen.push(rule);
    }
    if args.json {
        let listed: Vec<&Rule> = if chosen.is_empty() {
            rules::all().collect()
        } else {
            chosen
        };
        let rules: Vec<_> = listed.into_iter().map(document).collect();
        output::json(&json!({ "rules": rules }))?;
        return Ok(Status::Clean);
    }
    let mut out = stdout();
    if chosen.is_empty() {
        list(&mut out)?;
    }
    for (n, rule) in chosen.iter().enumerate() {
        if n > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", heading(&rule.id().to_string()))?;
        writeln!(out, "{}", paragraph(rule.what, 0))?;
        let mut table = Columns::pairs();
        table.row(["severity", rule.severity.name()].map(str::to_owned));
        table.row(["about", rule.area().name()].map(str::to_owned));
        table.row(["what to do", rule.action].map(str::to_owned));
        table.row(["source", rule.source].map(str::to_owned));
        write!(out, "{table}")?;
    }
    out.flush()?;
    Ok(Status::Clean)
}

fn list(out: &mut impl Write) -> Result<(), Failure> {
    for (n, area) in Area::ALL.into_iter().enumerate() {
        if n > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", heading(area.name()))?;
        let mut table = Columns::new(&[
            ("rule", Align::Left),
            ("severity", Align::Left),
            ("what", Align::Left),
        ]);
        for rule in rules::all().filter(|r| r.area() == area) {
            table.row([
                rule.id().to_string(),
                rule.severity.name().to_owned(),
                rule.what.to_owned(),
            ]);
        }
        write!(out, "{table}")?;
    }
    Ok(())
}

fn document(rule: &Rule) -> Value {
    json!({
        "id": rule.id().to_string(),
        "name": rule.name,
        "severity": rule.severity.name(),
        "area": rule.area().name(),
        "what": rule.what,
        "action": rule.action,
        "source": rule.source,
    })
}

fn unknown(text: &str) -> Failure {
    let shown = output::printable(text.as_bytes());
    let like = rules::all()
        .map(|rule| (strsim::jaro_winkler(text, rule.name), rule))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.8);
    Failure::Other(match like {
        Some((_, rule)) => format!("no rule {shown}; did you mean {}?", rule.id()),
        None => format!("no rule {shown}; `visakit explain` lists all"),
    })
}
