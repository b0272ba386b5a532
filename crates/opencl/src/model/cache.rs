//! Cached results of the compiler.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

/// Files in a folder, named by their keys. They appear whole, by renaming, so that processes need no locks.
pub(super) struct Cache {
    folder: PathBuf,
    limit: u64,
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

    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(key);
        let bytes = fs::read(&path).ok()?;
        // The least recently used entry is removed first.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(bytes)
    }

    pub(super) fn put(&self, key: &str, bytes: &[u8]) {
        let Ok(mut file) = tempfile::NamedTempFile::new_in(&self.folder) else {
            return;
        };
        if std::io::Write::write_all(&mut file, bytes).is_ok()
            && file.persist(self.folder.join(key)).is_ok()
        {
            self.shrink();
        }
    }

    /// Throws the oldest away until the rest fits.
    fn shrink(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter_map(|e| {
                let facts = e.metadata().ok()?;
                Some((facts.modified().ok()?, facts.len(), e.path()))
            })
            .collect();
        let mut sum: u64 = all.iter().map(|f| f.1).sum();
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
