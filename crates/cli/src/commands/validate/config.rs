//! What to check: options, with `visakit.toml` for those not given.

use super::group::{self, Group};
use super::{Args, Deny, LIMIT};
use crate::input;
use crate::output::{Failure, printable};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use visakit::isa::{Dialect, Platform};
use visakit::validate::{Finding, Report, Rule};

/// The name of the configuration file.
const FILE: &str = "visakit.toml";

/// A larger file is none of these.
const LARGEST: u64 = 1 << 20;

/// A `visakit.toml`. Unknown keys are errors: a misspelled name would have no effect.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    validate: Section,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Section {
    platform: Option<String>,
    dialect: Option<String>,
    select: Vec<String>,
    ignore: Vec<String>,
    deny: Option<Deny>,
    limit: Option<usize>,
}

/// What to check.
pub(super) struct Config {
    /// The platform of the command line.
    pub(super) named: Option<Platform>,
    /// The platform of the configuration file.
    usual: Option<Platform>,
    pub(super) dialect: Option<Dialect>,
    pub(super) deny: Option<Deny>,
    pub(super) limit: usize,
    /// Whether more findings than shown are examined, to be counted or reported together.
    pub(super) collects: bool,
    /// Whether many findings of one kind are reported once.
    grouped: bool,
    select: Vec<&'static Rule>,
    ignore: Vec<&'static Rule>,
}

impl Config {
    /// The options, completed by a file in this folder or above.
    pub(super) fn find(args: &Args, grouped: bool) -> Result<Self, Failure> {
        let path = args.config.clone().or_else(nearest);
        let section = match &path {
            Some(path) => read(path)?,
            None => Section::default(),
        };
        let wrong = |what: &str, name: &str| {
            let file = path.as_deref().map_or_else(String::new, input::name);
            let name = printable(name.as_bytes());
            Failure::Other(format!("{file}: no {what} is called {name:?}"))
        };
        let rules = |names: &[String]| {
            let found = names
                .iter()
                .map(|name| Rule::find(name).ok_or_else(|| wrong("rule", name)));
            found.collect::<Result<Vec<_>, _>>()
        };
        let named = |name: &str| Platform::from_name(name).ok_or_else(|| wrong("platform", name));
        let platform = section.platform.as_deref().map(named).transpose()?;
        let named = |name: &str| Dialect::from_name(name).ok_or_else(|| wrong("dialect", name));
        let dialect = section.dialect.as_deref().map(named).transpose()?;
        let or = |given: &Vec<&'static Rule>, names: &[String]| match given.is_empty() {
            true => rules(names),
            false => Ok(given.clone()),
        };
        Ok(Self {
            named: args.reading.platform,
            usual: platform,
            dialect: args.reading.dialect.or(dialect),
            deny: args.deny.or(section.deny),
            limit: args.limit.or(section.limit).unwrap_or(LIMIT),
            collects: args.statistics || grouped,
            grouped,
            select: or(&args.select, &section.select)?,
            ignore: or(&args.ignore, &section.ignore)?,
        })
    }

    /// The platform of what states this one itself, as dumps of compilers do.
    pub(super) fn platform(&self, stated: Option<Platform>) -> Option<Platform> {
        self.named.or(stated).or(self.usual)
    }

    /// Whether findings of some rules are left out.
    pub(super) fn chooses(&self) -> bool {
        !self.select.is_empty() || !self.ignore.is_empty()
    }

    /// The findings that are shown, up to the limit.
    pub(super) fn groups(&self, findings: &[Finding]) -> Vec<Group> {
        if self.grouped {
            group::groups(findings, self.limit)
        } else {
            let each = (0..findings.len().min(self.limit)).map(Group::of);
            each.collect()
        }
    }

    /// Keeps the selected findings.
    pub(super) fn choose(&self, report: &mut Report) {
        if self.chooses() {
            let selected = |rule: &Rule| self.select.is_empty() || self.select.contains(&rule);
            report.retain(|rule| selected(rule) && !self.ignore.contains(&rule));
        }
    }
}

/// The file in this folder, or in the nearest one above it.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut folders = here.ancestors().map(|folder| folder.join(FILE));
    let found = folders.find(|path| path.is_file())?;
    Some(
        found
            .strip_prefix(&here)
            .map_or(found.clone(), Path::to_owned),
    )
}

fn read(path: &Path) -> Result<Section, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        let error = error.to_string();
        let lines: Vec<_> = error.lines().map(|l| printable(l.as_bytes())).collect();
        Failure::Other(format!("{}: {}", input::name(path), lines.join("\n")))
    };
    let bytes = visakit_files::read(path, LARGEST).map_err(|e| failed(&e))?;
    let text = String::from_utf8(bytes).map_err(|e| failed(&e))?;
    let document: Document = toml::from_str(&text).map_err(|e| failed(&e))?;
    Ok(document.validate)
}
