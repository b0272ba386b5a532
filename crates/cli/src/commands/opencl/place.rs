//! Where the source of a program stands in the files of a project: OpenCL programs are strings, whose origin no driver
//! knows.

use std::collections::HashMap;
use walkdir::WalkDir;

/// Files that may contain sources of programs, by their extensions.
const EXTENSIONS: [&str; 14] = [
    "cl", "clh", "ocl", "py", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "jl", "rs", "nim",
];

/// Files that are examined at most, and the bytes of one.
const MOST_FILES: usize = 20_000;
const LARGEST: u64 = 4 << 20;

/// Lines that a library adds at most behind a program's source.
const MOST_ADDED: usize = 3;

/// The files of the project: those below the current folder.
#[derive(Default)]
pub(super) struct Sources {
    files: Option<Vec<(String, String)>>,
    known: HashMap<String, Option<(String, u64)>>,
}

impl Sources {
    /// The file that contains this source, and the number of lines before it. The first one in the order of names.
    pub(super) fn find(&mut self, source: &str) -> Option<(String, u64)> {
        if let Some(known) = self.known.get(source) {
            return known.clone();
        }
        let files = self.files.get_or_insert_with(files);
        let mut lines = source.trim_end();
        let mut found = None;
        // What is left must tell enough.
        let written = lines.lines().filter(|line| !line.trim().is_empty());
        let most = MOST_ADDED.min(written.count().saturating_sub(1) / 2);
        for _ in 0..=most {
            found = within(files, lines);
            let Some((before, _)) = lines.rsplit_once('\n').filter(|_| found.is_none()) else {
                break;
            };
            lines = before.trim_end();
        }
        self.known.insert(source.to_owned(), found.clone());
        found
    }
}

/// The first file that contains these lines, and the number of lines before them.
fn within(files: &[(String, String)], lines: &str) -> Option<(String, u64)> {
    if lines.trim().is_empty() {
        return None;
    }
    files.iter().find_map(|(name, text)| {
        let before = text.get(..text.find(lines)?)?.matches('\n').count();
        Some((name.clone(), u64::try_from(before).ok()?))
    })
}

fn files() -> Vec<(String, String)> {
    let visible = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !name.starts_with('.') && name != "node_modules" && name != "target"
    };
    let entries = WalkDir::new(".").sort_by_file_name().into_iter();
    let entries = entries.filter_entry(visible).flatten();
    let of_kind = entries.filter(|entry| {
        let extension = entry.path().extension().and_then(|e| e.to_str());
        entry.file_type().is_file() && extension.is_some_and(|e| EXTENSIONS.contains(&e))
    });
    of_kind
        .take(MOST_FILES)
        .filter_map(|entry| {
            let bytes = visakit_files::read(entry.path(), LARGEST).ok()?;
            let name = entry.path().strip_prefix(".").ok()?.to_str()?.to_owned();
            Some((name, String::from_utf8(bytes).ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_libraries_add_are_left_out() {
        let kernel = "\nkernel void k(global int *x) {\n  x[0] = 1;\n}\n";
        let file = |name: &str, text: String| (name.to_owned(), text);
        let files = vec![
            file("a.py", "other = \"kernel void\"\n".to_owned()),
            file("b.py", format!("import x\nsource = \"\"\"{kernel}\"\"\"\n")),
        ];
        let mut sources = Sources {
            files: Some(files),
            known: HashMap::new(),
        };
        let found = Some(("b.py".to_owned(), 1));
        assert_eq!(sources.find(kernel), found);
        assert_eq!(
            sources.find(&format!("{kernel}\n\nconstant int c = 0;")),
            found
        );
        assert_eq!(sources.find("kernel void\n\nconstant int c = 0;"), None);
        assert_eq!(sources.find("  \n"), None);
    }
}
