//! `visakit check --symbolic` on suites of kernels that say what is wrong with them: GPUVerify's and Oclgrind's.
//!
//! A suite is a folder of its repository, fetched by whoever runs this; nothing of it is kept. What its files say of a
//! kernel (launch, arguments, verdict) is read, the command is asked the same, and both answers are put side by side.

mod gpuverify;
mod oclgrind;

use crate::Done;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use visakit_testing::root;

/// A kernel of a suite, and how it is asked about.
struct Asked {
    /// Its name in the suite.
    name: String,
    /// The file that is compiled.
    file: PathBuf,
    /// Arguments of the command.
    words: Vec<String>,
    /// What the suite says of it.
    theirs: Theirs,
}

/// The verdict of the suite.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Theirs {
    /// Nothing is wrong.
    Right,
    /// Something is.
    Wrong(String),
    /// It is about something else, for that reason, and not asked.
    Other(&'static str),
}

/// The verdict of the command.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Ours {
    Clean,
    /// Kinds of findings.
    Findings(String),
    Unknown(String),
    /// The compiler refuses it, or it cannot be launched.
    Unusable(String),
}

pub(crate) fn run(arguments: &[String]) -> Done {
    let mut folders = Vec::new();
    let (mut visakit, mut seconds) = (root().join("target/release/visakit"), 10_u64);
    let (mut device, mut only) = ("pvc".to_owned(), String::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} takes a value"));
        match word.as_str() {
            "--visakit" => visakit = PathBuf::from(value()?),
            "--time" => seconds = value()?.parse()?,
            "--device" => device = value()?.clone(),
            "--only" => only = value()?.clone(),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    if folders.is_empty() {
        return Err("name a folder of gpuverify/testsuite/OpenCL or Oclgrind/tests/kernels".into());
    }
    let made = std::env::temp_dir().join(format!("visakit-suites-{}", std::process::id()));
    fs::create_dir_all(&made)?;
    let mut all = Vec::new();
    for folder in &folders {
        all.extend(gpuverify::found(folder, &made)?);
        all.extend(oclgrind::found(folder)?);
    }
    all.retain(|asked| asked.name.contains(&only));
    let mut pairs = Vec::new();
    for asked in &all {
        if let Theirs::Other(_) = asked.theirs {
            pairs.push((asked, None));
            continue;
        }
        let ours = ask(&visakit, asked, &device, seconds)?;
        println!("{}: {} / {}", asked.name, asked.theirs.text(), ours.text());
        pairs.push((asked, Some(ours)));
    }
    fs::remove_dir_all(&made)?;
    table(&pairs);
    Ok(())
}

/// Asks the command.
fn ask(
    visakit: &Path,
    asked: &Asked,
    device: &str,
    seconds: u64,
) -> Result<Ours, Box<dyn std::error::Error>> {
    let output = Command::new(visakit)
        .arg("check")
        .arg(&asked.file)
        .args(["--symbolic", "--json", "--no-jit", "--device", device])
        .args(["--time", &seconds.to_string()])
        .args(&asked.words)
        .output()?;
    let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) else {
        return Ok(Ours::Unusable(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    };
    let case = &document["cases"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(match case["symbolic"]["verdict"].as_str() {
        Some("clean") => Ours::Clean,
        Some("unknown") => Ours::Unknown(text(&case["symbolic"]["reason"])),
        Some(_) => {
            let findings = case["findings"].as_array().cloned().unwrap_or_default();
            let mut kinds: Vec<_> = findings.iter().map(|f| text(&f["kind"])).collect();
            if let Some(reason) = case["stopped"]["reason"].as_str() {
                kinds.push(reason.to_owned());
            }
            kinds.sort();
            kinds.dedup();
            Ours::Findings(kinds.join(", "))
        }
        None => Ours::Unusable(text(&document["problems"][0]["message"])),
    })
}

impl Theirs {
    fn text(&self) -> String {
        match self {
            Self::Right => "right".to_owned(),
            Self::Wrong(why) => format!("wrong: {why}"),
            Self::Other(why) => format!("not asked: {why}"),
        }
    }
}

impl Ours {
    fn text(&self) -> String {
        match self {
            Self::Clean => "clean".to_owned(),
            Self::Findings(kinds) => format!("findings: {kinds}"),
            Self::Unknown(why) => format!("unknown: {why}"),
            Self::Unusable(why) => format!("unusable: {}", why.lines().next().unwrap_or_default()),
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings(_) => "findings",
            Self::Unknown(_) => "unknown",
            Self::Unusable(_) => "not compiled",
        }
    }
}

/// Both verdicts, and each disagreement.
fn table(pairs: &[(&Asked, Option<Ours>)]) {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (asked, ours) in pairs {
        let theirs = match (&asked.theirs, ours) {
            (Theirs::Other(why), _) => {
                *others.entry(why).or_default() += 1;
                continue;
            }
            (Theirs::Right, _) => "right",
            (Theirs::Wrong(_), _) => "wrong",
        };
        let Some(ours) = ours else { continue };
        let row = counts.entry(theirs).or_default();
        *row.entry(ours.kind()).or_default() += 1;
        let agreed = matches!(
            (theirs, ours),
            ("right", Ours::Clean) | ("wrong", Ours::Findings(_))
        );
        if !agreed {
            let text: String = ours
                .text()
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .collect();
            let text = text.split(" (").next().unwrap_or_default().to_owned();
            *reasons.entry(format!("{theirs}, {text}")).or_default() += 1;
        }
    }
    let kinds = ["clean", "findings", "unknown", "not compiled"];
    println!("\n| the suite says | {} |", kinds.join(" | "));
    println!("|---|{}", "---|".repeat(kinds.len()));
    for (theirs, row) in &counts {
        let cells = kinds.map(|kind| row.get(kind).copied().unwrap_or(0).to_string());
        println!("| {theirs} | {} |", cells.join(" | "));
    }
    for (why, count) in others {
        println!("not asked: {count} {why}");
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in reasons {
        println!("{count:>5}  {reason}");
    }
}

/// Files of a name or with an extension, in their order.
fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                todo.push(path);
            } else if wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
