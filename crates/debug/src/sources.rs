//! Source files, if they are available.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Source files, looked for as they are named and by the ends of their paths below some folders.
#[derive(Debug, Default)]
pub struct Sources {
    folders: Vec<PathBuf>,
    found: HashMap<String, Option<(PathBuf, Vec<String>)>>,
}

impl Sources {
    /// Looks for files in these folders, too.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            found: HashMap::new(),
        }
    }

    fn file(&mut self, name: &str) -> Option<&(PathBuf, Vec<String>)> {
        if !self.found.contains_key(name) {
            let path = Path::new(name);
            let parts: Vec<_> = path.components().collect();
            // The longest end of the path first.
            let ends = (0..parts.len()).map(|n| parts.iter().skip(n).collect::<PathBuf>());
            let ends: Vec<_> = ends.filter(|end| end.is_relative()).collect();
            let below = self
                .folders
                .iter()
                .flat_map(|folder| ends.iter().map(move |end| folder.join(end)));
            let mut candidates = std::iter::once(path.to_owned()).chain(below);
            let found = candidates.find_map(|path| {
                let text = std::fs::read(&path).ok()?;
                let text = String::from_utf8_lossy(&text).replace('\t', "    ");
                Some((path, text.lines().map(ToOwned::to_owned).collect()))
            });
            self.found.insert(name.to_owned(), found);
        }
        self.found.get(name)?.as_ref()
    }

    /// A line of a file, counted from 1.
    pub fn line(&mut self, name: &str, line: u32) -> Option<&str> {
        let number = usize::try_from(line).ok()?.checked_sub(1)?;
        self.file(name)?.1.get(number).map(String::as_str)
    }

    /// All lines of a file.
    pub fn lines(&mut self, name: &str) -> Option<&[String]> {
        self.file(name).map(|(_, lines)| lines.as_slice())
    }

    /// The path of a file.
    pub fn path(&mut self, name: &str) -> Option<&Path> {
        self.file(name).map(|(path, _)| path.as_path())
    }
}
