//! Links between the pages of the project lead somewhere, and the guide has all of its pages.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use visakit_testing::root;

/// Pages of the guide and of the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in [
        "",
        "docs",
        "docs/hunt",
        "fuzz",
        "editors/vscode",
        "python",
        "web",
    ] {
        let Ok(entries) = fs::read_dir(root().join(folder)) else {
            continue;
        };
        let files = entries.map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    pages.sort();
    pages
}

/// The lines of a page outside of blocks of code, without code in the lines.
fn prose(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            lines.push(line.split('`').step_by(2).collect());
        }
    }
    lines
}

/// What a heading is called in addresses, by the rule of GitHub and of mdBook.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

fn anchors(page: &str) -> HashSet<String> {
    let mut inside = false;
    let mut found = HashSet::new();
    for line in page.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside && line.starts_with('#') {
            found.insert(anchor(line.trim_start_matches('#')));
        }
        for name in line.split("id=\"").skip(1) {
            found.extend(name.split('"').next().map(str::to_owned));
        }
    }
    found
}

/// The targets of the links of a page.
fn links(page: &str) -> Vec<String> {
    let text = prose(page).join("\n");
    let starts = text.split("](").skip(1);
    let targets = starts.filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

fn check(page: &Path, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() {
        page.to_owned()
    } else {
        page.parent().unwrap().join(path)
    };
    if !file.exists() {
        return Err(format!("there is no {path}"));
    }
    if fragment.is_empty() || file.extension().is_none_or(|e| e != "md") {
        return Ok(());
    }
    let text = fs::read_to_string(&file).map_err(|e| e.to_string())?;
    match anchors(&text).contains(fragment) {
        true => Ok(()),
        false => Err(format!("{path} has no heading #{fragment}")),
    }
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            count += 1;
            if let Err(error) = check(&page, &target) {
                wrong.push(format!("{}: {target}: {error}", page.display()));
            }
        }
    }
    assert!(count > 100, "links are not found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What follows the end of a block of code on its line would be code of a block that never ends.
#[test]
fn blocks_of_code_end() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let mut begun = None;
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            match (line.strip_prefix("```"), begun) {
                (Some(_), None) => begun = Some(number),
                (Some(rest), Some(_)) => {
                    assert!(rest.is_empty(), "{}:{number}: {line}", page.display());
                    begun = None;
                }
                (None, _) => {}
            }
        }
        assert_eq!(begun, None, "{}: not ended", page.display());
    }
}

#[test]
fn the_guide_has_all_of_its_pages() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: HashSet<String> = links(&summary).into_iter().collect();
    for page in pages()
        .iter()
        .filter(|page| page.parent() == Some(&root().join("docs")))
    {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || listed.contains(name),
            "docs/SUMMARY.md does not list {name}"
        );
    }
}

#[test]
fn anchors_are_those_of_renderers() {
    assert_eq!(
        anchor(" Bits, bytes & `dis -c`: 2D_blocks"),
        "bits-bytes--dis--c-2d_blocks"
    );
    let page = "# A b\n```\n# no\n```\n<a id=\"x\"></a> [t](#a-b) `[no](y)`\n";
    assert_eq!(
        anchors(page),
        HashSet::from(["a-b".to_owned(), "x".to_owned()])
    );
    assert_eq!(links(page), ["#a-b"]);
}
