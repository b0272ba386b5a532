//! Files are replaced as a whole.

use proptest::prelude::*;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use visakit_files::{Replacement, TemporaryFolder, write};

/// The names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What is said of a folder that is not there names the folder, and no name that nobody has chosen.
#[test]
fn folders_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let written = write(&missing.join("file"), "x").unwrap_err();
    let made = TemporaryFolder::new(&missing, "test").unwrap_err();
    for error in [written, made] {
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        let said = error.to_string();
        let wanted = format!("nothing can be written into {}: ", missing.display());
        assert!(said.starts_with(&wanted), "{said}");
        assert!(
            !said.contains(".visakit-") && !said.contains("test-"),
            "{said}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is written, in whatever parts: until the end the old content is there, then the new one.
    #[test]
    fn old_or_new(
        old in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..8),
        mode in prop::sample::select(vec![0o600, 0o640, 0o644, 0o666, 0o755]),
        commit: bool,
        links in 0_usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        let file = real.join("file");
        if let Some(old) = &old {
            fs::write(&file, old).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        }
        // The first link is relative to its own folder.
        let mut path = file.clone();
        let mut to = std::path::PathBuf::from("real/file");
        for number in 0..links {
            path = folder.path().join(number.to_string());
            symlink(&to, &path).unwrap();
            to = path.clone();
        }
        let mut new = Replacement::new(&path).unwrap();
        for part in &parts {
            new.write_all(part).unwrap();
            prop_assert_eq!(fs::read(&file).ok(), old.clone());
        }
        if commit {
            new.commit().unwrap();
            prop_assert_eq!(fs::read(&file).unwrap(), parts.concat());
            if old.is_some() {
                prop_assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
            }
        } else {
            drop(new);
            prop_assert_eq!(fs::read(&file).ok(), old.clone());
        }
        prop_assert_eq!(names(&real).len(), usize::from(commit || old.is_some()));
        prop_assert_eq!(fs::symlink_metadata(&path).unwrap_or_else(|_| fs::metadata(&real).unwrap()).is_symlink(), links > 0);
    }
}

#[test]
fn new_files_are_as_others() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    write(&ours, "a").unwrap();
    fs::write(&theirs, "a").unwrap();
    let mode = |path| fs::metadata(path).unwrap().mode();
    assert_eq!(mode(&ours), mode(&theirs));
}

#[test]
fn what_may_not_be_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/file");
    assert!(write(&missing, "").is_err());
    assert!(write(folder.path(), "").is_err());
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert!(write(&circle, "").is_err());
    assert_eq!(names(folder.path()), ["circle"]);
    // Root may write everything.
    let file = folder.path().join("file");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&file).is_err() {
        assert!(write(&file, "new").is_err());
        assert_eq!(fs::read(&file).unwrap(), b"old");
    }
}

#[test]
fn streams_and_devices_are_not_replaced() {
    write(Path::new("/dev/null"), "gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write(&pipe, "through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert_eq!(names(folder.path()), ["pipe"]);
    // An open file of a process is a stream, though it has a name elsewhere.
    let file = folder.path().join("file");
    let open = fs::File::create(&file).unwrap();
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&open);
    write(Path::new(&format!("/proc/self/fd/{descriptor}")), "stream").unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().ino(),
        open.metadata().unwrap().ino()
    );
    assert_eq!(fs::read(&file).unwrap(), b"stream");
}
