//! Pages of commands are run, and print what they show: the README, and for each verb a page of `pages/`.
//!
//! In blocks marked `console` a line that begins with `$ ` is a command for the shell, `? N` the exit code if it is not
//! 0, and `...` matches any lines. A block that is marked with a language and a name, such as `visaasm k.visaasm`, is a
//! file that the commands after it find in their folder; `fixtures` is available there as well. `cargo xtask bless`
//! writes the current output into the pages.
#![cfg(unix)] // the examples are for a Unix shell
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use snapbox::assert::Action;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder to work in, with the fixtures in it.
fn folder(page: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("pages")
        .join(page);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(visakit_testing::fixtures(), folder.join("fixtures")).unwrap();
    folder
}

/// The output of a shell, both streams interleaved, and the exit code if it is not 0.
fn printed(command: &str, folder: &Path) -> String {
    let tools = Path::new(env!("CARGO_BIN_EXE_visakit")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1; {command}"));
    let done = shell
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    let mut text = String::from_utf8(done.stdout).unwrap();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match done.status.code() {
        Some(0) => text,
        Some(code) => format!("? {code}\n{text}"),
        None => panic!("{command} was killed"),
    }
}

/// The page with the current output of its commands, and their number.
fn replay(page: &str, folder: &Path) -> (String, usize) {
    let mut actual = String::new();
    let mut commands = 0;
    // The marker of the block that contains the line.
    let mut block = None;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let fence = line.strip_prefix("```");
        if let Some(mark) = fence {
            block = block.is_none().then_some(mark);
        }
        if fence.is_none()
            && let Some((_, name)) = block.and_then(|mark| mark.split_once(' '))
        {
            let path = folder.join(name);
            let before = fs::read_to_string(&path).unwrap_or_default();
            fs::write(path, format!("{before}{line}\n")).unwrap();
        }
        let in_console = block == Some("console") && fence.is_none();
        let command = line.strip_prefix("$ ").filter(|_| in_console);
        // Anything else in a block is output, except for an empty line before the next command.
        let parts = line.is_empty()
            && !actual.ends_with("\n\n")
            && lines.peek().is_some_and(|next| next.starts_with("$ "));
        if !in_console || command.is_some() || parts {
            actual.push_str(line);
            actual.push('\n');
        }
        if let Some(command) = command {
            actual.push_str(&printed(command, folder));
            commands += 1;
        }
    }
    (actual, commands)
}

/// Runs a page and compares it with the output. Returns the number of its commands.
fn matches_page(name: &str, path: &Path, least: usize) -> usize {
    let page = fs::read_to_string(path).unwrap();
    if page.contains("--show-machine-code") && !cfg!(target_arch = "x86_64") {
        let name = path.display();
        visakit_testing::say(&format!("NOT RUN: {name}, which shows machine code"));
        return least;
    }
    let (actual, commands) = replay(&page, &folder(name));
    assert!(commands >= least, "only {commands} commands found");
    let action = if visakit_testing::page::blesses() {
        Action::Overwrite
    } else {
        Action::Verify
    };
    // What looks like a path is not one.
    let compare = snapbox::Assert::new().action(action).normalize_paths(false);
    compare.eq(actual, snapbox::Data::read_from(path, None));
    commands
}

fn pages() -> PathBuf {
    visakit_testing::root().join("crates/cli/tests/it/pages")
}

/// A test for each page, and all their names.
macro_rules! pages {
    ($($verb:ident)*) => {
        const VERBS: &[&str] = &[$(stringify!($verb)),*];
        $(
            #[test]
            fn $verb() {
                let verb = stringify!($verb).replace('_', "-");
                matches_page(&verb, &pages().join(&verb).with_extension("md"), 2);
            }
        )*
    };
}

pages! {
    asm callgraph cfg check compare_compilers compile completions convert dap debug diff dis dump explain
    explore extract fmt hunt info inject isa lsp man merge opencl platforms pressure profile prove reduce rename roundtrip run search
    similar smith stats strip table validate
}

#[test]
fn readme() {
    matches_page("README", &visakit_testing::root().join("README.md"), 8);
}

/// The guide: every page is in its table of contents, and shows the output of its commands.
#[test]
fn guide() {
    let docs = visakit_testing::root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let names = |text: &str| -> BTreeSet<String> {
        let links = text.split("](").skip(1);
        links
            .map(|l| l.split(')').next().unwrap().to_owned())
            .collect()
    };
    let listed = names(&summary);
    let files = fs::read_dir(&docs).unwrap().map(|e| e.unwrap().path());
    let pages: BTreeSet<String> = files
        .filter(|path| path.extension() == Some("md".as_ref()))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    assert_eq!(listed, pages, "docs/SUMMARY.md and the pages of docs/");
    let mut commands = 0;
    for name in pages {
        let path = docs.join(&name);
        let page = fs::read_to_string(&path).unwrap();
        for link in names(&page) {
            let file = link.split('#').next().unwrap();
            let elsewhere = link.contains("://") || link.contains(' ') || file.is_empty();
            assert!(
                elsewhere || docs.join(file).exists(),
                "{name}: there is no {link}"
            );
        }
        if page.contains("```console") {
            commands += matches_page(&format!("docs-{name}"), &path, 1);
        }
    }
    assert!(commands >= 35, "only {commands} commands found");
}

/// The pictures of the guide are what the tool currently draws.
#[test]
fn pictures() {
    let docs = visakit_testing::root().join("docs/pictures");
    let folder = folder("pictures");
    for (name, command) in [
        (
            "mandelbrot.svg",
            "visakit cfg fixtures/kernels/mandelbrot.pvc.visaasm --compact --svg",
        ),
        (
            "calls.svg",
            "visakit callgraph fixtures/objects/call_stack_pvc_v41.isa --svg",
        ),
    ] {
        visakit_testing::page::holds(&docs.join(name), &printed(command, &folder));
    }
}

#[test]
fn debugging() {
    matches_page(
        "debugging",
        &visakit_testing::root().join("docs/debugging.md"),
        3,
    );
}

/// Every verb has a page, with a success and a failure of it, and every page is run.
#[test]
fn every_verb_has_a_page() {
    let help = printed("visakit help", &folder("help"));
    let commands = help.split("Look:").nth(1).unwrap();
    let commands = commands.split("Options:").next().unwrap();
    let verbs: BTreeSet<_> = commands
        .lines()
        // Deeper indentation continues the previous line.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    let paged: Vec<_> = VERBS.iter().map(|verb| verb.replace('_', "-")).collect();
    assert_eq!(verbs, paged.iter().map(String::as_str).collect());
    let files = fs::read_dir(pages()).unwrap();
    assert_eq!(files.count(), VERBS.len());
    for verb in verbs {
        let page = fs::read_to_string(pages().join(format!("{verb}.md"))).unwrap();
        assert!(page.contains(&format!("$ visakit {verb}")), "{verb}");
        assert!(page.contains("\n? "), "{verb}: no failure");
    }
}
