//! `VISAKIT_CHECK`: launches run under checkers, and their findings are reported when the program
//! ends.

use crate::context::lock;
use crate::kernel::Arg;
use crate::watch::{Ending, Launching, Watcher, interrupt, is_program};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use visakit_check::{Checks, Finding, Place, Stay, document};
use visakit_launch::{Config, Source, Stopped};

/// The variable that names a file to which a line of JSON with the findings is added when the program ends.
const REPORT: &str = "VISAKIT_CHECK_REPORT";

/// Kinds of findings that are kept; more are only counted.
const MOST: usize = 1000;

/// The variable that asks for it.
pub(crate) const VARIABLE: &str = "VISAKIT_CHECK";

#[derive(Debug)]
struct Found {
    kernel: String,
    /// Number of the first launch that had it.
    launch: u64,
    launches: u64,
    /// The source of the program, where it has one.
    source: Option<Arc<str>>,
    /// The lines of the source that it is about.
    lines: [Option<String>; 2],
    finding: Finding,
}

#[derive(Debug, Default)]
struct State {
    launches: u64,
    found: Vec<Found>,
    /// Findings past [`MOST`].
    more: u64,
    /// Launches that could not be checked.
    unchecked: u64,
    /// Launches of which groups did not run to their ends, and what became of the first of them.
    unfinished: u64,
    stopped: Vec<String>,
}

/// Runs launches under checkers.
#[derive(Debug)]
pub(crate) struct Check {
    checks: Checks,
    state: Mutex<State>,
}

impl Check {
    /// As the environment asks for it: names of checks with commas between them.
    pub(crate) fn asked() -> Option<Self> {
        let names = std::env::var(VARIABLE).ok().filter(|n| !n.is_empty())?;
        let mut checks = Checks::NONE;
        for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match checks.with(name) {
                Some(more) => checks = more,
                None => crate::say(&format!(
                    "{VARIABLE}: there is no check `{name}`; there are {}",
                    Checks::NAMES.join(", ")
                )),
            }
        }
        (checks != Checks::NONE).then(|| Self {
            checks,
            state: Mutex::default(),
        })
    }
}

impl Watcher for Check {
    fn launch(&self, launching: &Launching<'_>, _go_on: &mut dyn FnMut() -> Ending) -> Ending {
        let binary = launching.binary;
        let name = &launching.kernel.name;
        let number = {
            let mut state = lock(&self.state);
            state.launches += 1;
            state.launches
        };
        let object = Source::link(binary.texts(name), binary.grf_bytes)?;
        let mut kernel = visakit_launch::Kernel::new(&object, name, &binary.zeinfo)?;
        kernel.grf_bytes = binary.grf_bytes;
        let locals = binary.locals.iter().filter(|local| local.kernel == *name);
        kernel.locals.extend(locals.cloned());
        let config = visakit_check::config(Config {
            interrupt: Some(interrupt()),
            turn: launching.turn,
            ..Config::default()
        });
        let prepared = kernel.load(&binary.variables, &config)?.launch(
            launching.range,
            launching.arguments,
            Some(launching.others),
            &config,
        )?;
        let fresh = |(index, arg): (usize, &Arg)| match arg {
            Arg::Mem(Some(mem)) if !mem.is_written() => Some(index),
            _ => None,
        };
        let fresh: Vec<_> = launching
            .args
            .iter()
            .enumerate()
            .filter_map(fresh)
            .collect();
        let report = visakit_check::check(&kernel, prepared, &config, self.checks, &fresh);
        let mut state = lock(&self.state);
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                state.unchecked += 1;
                return Err(error);
            }
        };
        if let Some(stopped) = report.end.stopped() {
            state.unfinished += 1;
            if state.stopped.len() < MOST {
                state
                    .stopped
                    .push(told(name, number, stopped, &report.stays));
            }
        }
        for finding in report.findings {
            state.add(name, number, finding, binary.source().as_deref());
        }
        Ok(report.outcome)
    }

    fn end(&self) {
        let mut state = lock(&self.state);
        state.found.sort_by_key(|found| found.finding.severity());
        for found in &state.found {
            crate::say(&found.text());
        }
        for stopped in &state.stopped {
            crate::say(stopped);
        }
        let mut last = format!(
            "{} checked, {}",
            crate::count(state.launches, "launch", "launches"),
            crate::count(state.found.len() as u64, "finding", "findings")
        );
        if state.more > 0 {
            let _ = write!(last, " and {} more", state.more);
        }
        if state.unchecked > 0 {
            let unchecked = crate::count(state.unchecked, "launch", "launches");
            let _ = write!(last, "; {unchecked} could not be run");
        }
        if state.unfinished > 0 {
            let unfinished = crate::count(state.unfinished, "launch", "launches");
            let _ = write!(last, "; {unfinished} did not run to the end");
        }
        crate::say(&last);
        let unreleased = crate::handle::unreleased();
        if !unreleased.is_empty() {
            let counts = unreleased
                .iter()
                .map(|(name, n)| crate::count(*n, name, &format!("{name}s")));
            let counts: Vec<_> = counts.collect();
            crate::say(&format!("never released: {}", counts.join(", ")));
        }
        if let Some(path) = std::env::var_os(REPORT).filter(|path| !path.is_empty()) {
            let line = state.document().to_string();
            if let Err(error) = visakit_files::append(path.as_ref(), &line) {
                crate::say(&format!("{}: {error}", path.display()));
            }
        }
    }
}

impl State {
    /// All that was found: a case for each finding, with the source that its lines speak of.
    fn document(&self) -> Value {
        let found = self.found.iter().map(|found| {
            let mut finding = document::finding(&found.finding);
            without_own_name(&mut finding);
            finding.get_mut("other").map(without_own_name);
            json!({
                "case": format!("kernel {}, launch {}", found.kernel, found.launch),
                "findings": [finding],
                "source": found.source.as_deref(),
            })
        });
        let stopped = self.stopped.iter().map(|stopped| {
            let message = json!({ "message": stopped });
            json!({ "case": "launch", "findings": [], "stopped": message })
        });
        json!({
            "launches": self.launches,
            "unchecked": self.unchecked,
            "unfinished": self.unfinished,
            "cases": found.chain(stopped).collect::<Vec<_>>(),
        })
    }

    /// Adds a finding; the same one of another launch is counted.
    fn add(&mut self, kernel: &str, launch: u64, finding: Finding, source: Option<&str>) {
        let mut found = self.found.iter_mut();
        let same = found.find(|f| f.kernel == kernel && f.finding.is_like(&finding));
        if let Some(same) = same {
            same.launches += 1;
            same.finding.count += finding.count;
        } else if self.found.len() < MOST {
            let line = |place: &Place| {
                let number = usize::try_from(place.line?).ok()?.checked_sub(1)?;
                let line = source.filter(|_| is_main(place))?.lines().nth(number)?;
                Some(line.trim().to_owned())
            };
            let other = finding.other.as_ref().and_then(|o| o.place.as_ref());
            self.found.push(Found {
                kernel: kernel.to_owned(),
                launch,
                launches: 1,
                source: source.map(Arc::from),
                lines: [line(&finding.place), other.and_then(line)],
                finding,
            });
        } else {
            self.more += 1;
        }
    }
}

/// Why groups of a launch did not run to their ends, and where most of their threads were.
fn told(kernel: &str, launch: u64, stopped: &Stopped, stays: &[Stay]) -> String {
    let mut text = format!(
        "not ended[{}]: {}; {} of {} groups had ended\n  in kernel `{kernel}`, launch {launch}",
        stopped.reason.name(),
        stopped.reason,
        stopped.ended,
        stopped.groups
    );
    if let Some(stay) = stays.first() {
        let threads = crate::count(stay.threads, "thread", "threads");
        let _ = write!(text, ", with {threads} here");
        text.push_str(&shown(&stay.place, None));
    }
    text
}

/// Leaves out the compiler's name of the program itself, which means nothing elsewhere.
fn without_own_name(place: &mut Value) {
    if let Some(file) = place.get_mut("file")
        && file.as_str().is_some_and(is_program)
    {
        *file = Value::Null;
    }
}

/// Whether a place is in the program itself.
fn is_main(place: &Place) -> bool {
    place.file.as_deref().is_none_or(is_program)
}

fn shown(place: &Place, line: Option<&String>) -> String {
    let mut text = String::new();
    if let Some(number) = place.line {
        let file = if is_main(place) {
            "the program"
        } else {
            place.file.as_deref().unwrap_or_default()
        };
        let _ = write!(text, "\n  --> line {number} of {file}");
        if let Some(line) = line {
            let _ = write!(text, ": {line}");
        }
    }
    let _ = write!(
        text,
        "\n  --> {}, instruction {}: {}",
        place.routine, place.instruction, place.text
    );
    text
}

impl Found {
    fn text(&self) -> String {
        let finding = &self.finding;
        let mut text = format!(
            "{}[{}]: {}\n  in kernel `{}`, launch {}",
            finding.kind.level().name(),
            finding.kind.name(),
            finding.message,
            self.kernel,
            self.launch
        );
        if let Some(item) = &finding.item {
            let _ = write!(text, ", by {item}");
        }
        let _ = match (finding.count, self.launches) {
            (1, 1) => Ok(()),
            (times, 1) => write!(text, "; {times} times"),
            (times, launches) => write!(text, "; {times} times in {launches} launches"),
        };
        text.push_str(&shown(&finding.place, self.lines[0].as_ref()));
        if let Some(other) = &finding.other {
            let _ = write!(text, "\n  {}", other.what);
            if let Some(item) = &other.item {
                let _ = write!(text, ", {item}");
            }
            if let Some(place) = &other.place {
                text.push_str(&shown(place, self.lines[1].as_ref()));
            }
        }
        text
    }
}
