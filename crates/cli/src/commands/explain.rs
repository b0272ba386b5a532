//! `visakit explain`: a rule of the validator.

use crate::output::{self, Failure, heading, stdout};
use crate::table::{Align, Columns, paragraph};
use crate::{Status, names};
use serde_json::{Value, json};
use std::io::Write;
use visakit::validate::examples::{self, Example};
use visakit::validate::{Area, Rule, rules};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rules: V0226, 226, region-bounds or V0226-region-bounds. [default: a list of all]
    #[arg(value_name = "RULE", value_parser = names::rule(), hide_possible_values = true)]
    rules: Vec<&'static Rule>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let chosen = args.rules.clone();
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
        if let Some(example) = examples::of(rule) {
            write!(out, "{}", shown(example))?;
        }
    }
    out.flush()?;
    Ok(Status::Clean)
}

/// An example that breaks the rule, and one that does not.
fn shown(example: &Example) -> String {
    let form = |title: &str, platform: &str, (declarations, lines): (&str, &str)| {
        let on = match platform {
            "" => String::new(),
            platform => format!(" (on {})", platform.to_uppercase()),
        };
        let text = Example::shown(declarations, lines);
        let lines: Vec<_> = text.lines().map(|line| format!("  {line}\n")).collect();
        format!("\n{}\n{}", heading(&format!("{title}{on}")), lines.concat())
    };
    let wrong = form(
        "wrong",
        example.platform,
        (example.declarations, example.wrong),
    );
    let right = example.right.map(|right| {
        match right.1 == example.wrong && right.0 == example.declarations {
            true => format!(
                "\n{}\n  The same, on a platform that has it.\n",
                heading("right")
            ),
            false => form("right", example.platform, right),
        }
    });
    wrong + &right.unwrap_or_default()
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
    let example = examples::of(rule).map(|example| {
        json!({
            "platform": example.platform,
            "wrong": Example::shown(example.declarations, example.wrong),
            "right": example.right.map(|(declarations, lines)| Example::shown(declarations, lines)),
        })
    });
    json!({
        "example": example,
        "id": rule.id().to_string(),
        "name": rule.name,
        "severity": rule.severity.name(),
        "area": rule.area().name(),
        "what": rule.what,
        "action": rule.action,
        "source": rule.source,
    })
}
