//! Source files, if they are available.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Longer files are not considered to be source.
const LARGEST: u64 = 64 << 20;

/// Longer names are no paths.
const LONGEST: usize = 4096;

/// Source files that programs name: below the folders of this list, under their whole path or its end. Names come from
/// whoever wrote the program, so no other file is opened, and neither are pipes and devices.
#[derive(Debug, Default)]
pub struct Sources {
    folders: Vec<PathBuf>,
    found: HashMap<String, Option<(PathBuf, Vec<String>)>>,
}

impl Sources {
    /// Looks for files below these folders, which the user has named.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            found: HashMap::new(),
        }
    }

    fn file(&mut self, name: &str) -> Option<&(PathBuf, Vec<String>)> {
        if !self.found.contains_key(name) {
            let found = self.find(name).map(|(path, text)| {
                let text = String::from_utf8_lossy(&text).replace('\t', "    ");
                (path, text.lines().map(ToOwned::to_owned).collect())
            });
            self.found.insert(name.to_owned(), found);
        }
        self.found.get(name)?.as_ref()
    }

    /// A file as it is named, or else one with the longest end of its path, folder by folder.
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        if name.len() > LONGEST {
            return None;
        }
        let path = Path::new(name);
        let parts: Vec<_> = path.components().collect();
        let ends = (0..parts.len()).map(|n| parts.iter().skip(n).collect::<PathBuf>());
        let ends: Vec<_> = ends.filter(|end| end.is_relative()).collect();
        let named = self.folders.iter().map(|folder| (folder, path.to_owned()));
        let below = self.folders.iter().flat_map(|folder| {
            let ends = ends.iter();
            ends.map(move |end| (folder, folder.join(end)))
        });
        named.chain(below).find_map(|(folder, path)| {
            // Nor does a symbolic link lead out of the folder.
            let real = visakit_files::within(folder, &std::path::absolute(&path).ok()?)?;
            Some((path, visakit_files::read(&real, LARGEST).ok()?))
        })
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
