//! Cached results of the compiler.

use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files in a folder, named by their keys. They appear whole, by renaming, so that processes need no locks.
///
/// An entry begins with a magic number, which has the version of this layout, and a checksum of its key and its content.
/// What does not match is not there: it is made again. Other files of the folder are neither read nor removed.
pub(super) struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// The beginning of an entry; the last byte is the version.
const MAGIC: [u8; 8] = *b"visakit\x01";

/// The extension of entries.
const EXTENSION: &str = "visakit";

/// Digits of a key.
const DIGITS: usize = 64;

/// No result of the compiler is larger.
const LARGEST: u64 = 1 << 30;

/// Whether a file of this name is an entry.
fn is_entry(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    path.extension().is_some_and(|end| end == EXTENSION)
        && stem.is_some_and(|stem| stem.len() == DIGITS && stem.bytes().all(digit))
}

/// Bytes of [`header`].
const HEADER: usize = MAGIC.len() + 32;

/// What stands before the content of an entry.
fn header(key: &str, content: &[u8]) -> Vec<u8> {
    let sum = Sha256::new_with_prefix(key)
        .chain_update(content)
        .finalize();
    [MAGIC.as_slice(), &sum].concat()
}

/// The content of an entry; `None` if it is damaged, that of another key, or of another version.
fn content<'e>(key: &str, entry: &'e [u8]) -> Option<&'e [u8]> {
    let (head, content) = entry.split_at_checked(HEADER)?;
    (head == header(key, content)).then_some(content)
}

impl Cache {
    /// `VISAKIT_CACHE` names the folder; empty for none. `VISAKIT_CACHE_MB` bounds its size.
    pub(super) fn open() -> Option<Self> {
        let folder = match std::env::var_os("VISAKIT_CACHE") {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => {
                let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
                let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
                base.or_else(home)?.join("visakit").join("opencl")
            }
        };
        let limit = std::env::var("VISAKIT_CACHE_MB")
            .ok()
            .and_then(|n| n.parse::<u64>().ok());
        Self::at(folder, limit.unwrap_or(512).saturating_mul(1 << 20))
    }

    /// A folder that may hold this many bytes; `None` if there is none and it cannot be created.
    pub(super) fn at(folder: PathBuf, limit: u64) -> Option<Self> {
        fs::create_dir_all(&folder).ok()?;
        Some(Self { folder, limit })
    }

    fn place(&self, key: &str) -> PathBuf {
        self.folder.join(key).with_extension(EXTENSION)
    }

    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.place(key);
        let entry = visakit_files::read(&path, LARGEST).ok()?;
        let content = content(key, &entry)?.to_vec();
        // The least recently used entry is removed first.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(content)
    }

    pub(super) fn put(&self, key: &str, content: &[u8]) {
        let entry = [header(key, content).as_slice(), content].concat();
        if visakit_files::write(&self.place(key), entry).is_ok() {
            self.shrink();
        }
    }

    /// Removes the oldest entries until the others fit.
    fn shrink(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter_map(|e| {
                let path = Some(e.path()).filter(|path| is_entry(path))?;
                let facts = e.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((facts.modified().ok()?, facts.len(), path))
            })
            .collect();
        let mut sum: u64 = all.iter().fold(0, |sum, f| sum.saturating_add(f.1));
        all.sort();
        for (_, bytes, path) in all {
            if sum <= self.limit {
                break;
            }
            if fs::remove_file(path).is_ok() {
                sum = sum.saturating_sub(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        entries
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    fn key(number: u64) -> String {
        format!("{number:064x}")
    }

    /// Names of all kinds: those of other programs' caches, nearly those of entries, temporary files.
    fn foreign() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-zA-Z0-9._-]{1,20}",
            "[0-9a-f]{64}",
            "[0-9a-f]{63}\\.visakit",
            "[0-9A-F]{64}\\.visakit",
            "[0-9a-f]{64}\\.visakit\\.bak",
            "\\.tmp[a-zA-Z0-9]{6}",
            "thesis\\.(doc|visakit)",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn other_files_stay_and_entries_are_bounded(
            others in prop::collection::btree_map(foreign(), prop::collection::vec(any::<u8>(), 0..4000), 0..8),
            entries in prop::collection::vec((0_u64..20, 0_usize..4000), 1..30),
            limit in 0_u64..8000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut before = BTreeMap::new();
            for (name, bytes) in others {
                let path = folder.path().join(name);
                // Digits alone may happen to be in upper case as well.
                if !is_entry(&path) && !path.is_dir() {
                    fs::write(&path, &bytes).unwrap();
                    before.insert(path, bytes);
                }
            }
            let cache = Cache::at(folder.path().to_owned(), limit).unwrap();
            for (number, size) in entries {
                cache.put(&key(number), &vec![7; size]);
            }
            let mut after = files(folder.path());
            after.retain(|path, _| !is_entry(path));
            prop_assert_eq!(after, before);
            let sizes = files(folder.path()).into_iter().filter(|(path, _)| is_entry(path));
            prop_assert!(sizes.map(|(_, bytes)| bytes.len() as u64).sum::<u64>() <= limit);
        }

        #[test]
        fn entries_are_read_as_they_were_written(
            content in prop::collection::vec(any::<u8>(), 0..100),
            number: u64,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(folder.path().to_owned(), 1 << 20).unwrap();
            let key = key(number);
            cache.put(&key, &content);
            prop_assert_eq!(cache.get(&key), Some(content));
            let entry = fs::read(cache.place(&key)).unwrap();
            prop_assert_eq!(super::content(&self::key(!number), &entry), None);
            // Every bit, every end.
            for bit in 0..entry.len() * 8 {
                let mut changed = entry.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                prop_assert_eq!(super::content(&key, &changed), None, "bit {}", bit);
            }
            for end in 0..entry.len() {
                prop_assert_eq!(super::content(&key, &entry[..end]), None);
            }
            let longer = [entry.as_slice(), b"!"].concat();
            prop_assert_eq!(super::content(&key, &longer), None);
        }
    }
}
