//! What killed processes leave is removed, and nothing else.

use crate::replace::names;
use std::fs;
use std::path::Path;
use std::process::Command;
use visakit_files::{TemporaryFolder, write};

/// Runs a test of this file in a process of its own, which is killed.
fn killed(test: &str, folder: &Path) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .env("VISAKIT_TEST_FOLDER", folder)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !folder.join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(folder.join("ready")).unwrap();
}

#[test]
#[ignore = "is killed by another test"]
fn waits_with_temporaries() {
    let folder = std::env::var_os("VISAKIT_TEST_FOLDER").unwrap();
    let folder = Path::new(&folder);
    let _file = visakit_files::Replacement::new(&folder.join("file")).unwrap();
    let shard = TemporaryFolder::new(folder, "tmp").unwrap();
    fs::write(shard.path().join("part"), "rows").unwrap();
    fs::write(folder.join("ready"), "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn leftovers_go_and_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in [".visakit-other.tmp", "tmp-12-3", ".tmpabc", "tmp-none-1"] {
        fs::write(folder.join(name), "mine").unwrap();
    }
    fs::create_dir(folder.join("tmp-17-ab-0")).unwrap();
    let before = names(folder);
    // Of a process that lives.
    let alive = TemporaryFolder::new(folder, "tmp").unwrap();
    let living = alive
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    killed("temporary::waits_with_temporaries", folder);
    assert_eq!(names(folder).len(), before.len() + 3, "{:?}", names(folder));
    // A process removes leftovers once, so this is done by another one.
    killed("temporary::waits_with_temporaries", folder);
    let left = names(folder);
    assert_eq!(left.len(), before.len() + 3, "one run's, not two: {left:?}");
    assert!(left.contains(&living));
    drop(alive);
    // The first file of this process here.
    write(&folder.join("file"), "new").unwrap();
    let left = names(folder);
    let files = left.iter().filter(|name| name.starts_with(".visakit-"));
    assert_eq!(files.collect::<Vec<_>>(), [".visakit-other.tmp"]);
    assert!(before.iter().all(|name| left.contains(name)), "{left:?}");
}

#[test]
#[ignore = "is run by another test"]
fn makes_a_folder() {
    let folder = std::env::var_os("VISAKIT_TEST_FOLDER").unwrap();
    drop(TemporaryFolder::new(Path::new(&folder), "tmp").unwrap());
}

/// Each process looks for leftovers while the others make folders, which are not locked at once.
#[test]
#[cfg(unix)]
fn processes_that_begin_together_have_folders() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let children = [(); 24].map(|()| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "temporary::makes_a_folder", "--ignored"])
                .env("VISAKIT_TEST_FOLDER", folder.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        });
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn folders_appear_whole() {
    let base = tempfile::tempdir().unwrap();
    let place = base.path().join("part");
    let folder = TemporaryFolder::new(base.path(), "tmp").unwrap();
    fs::write(folder.path().join("a"), "a").unwrap();
    assert!(!place.exists());
    folder.commit(&place).unwrap();
    assert_eq!(names(base.path()), ["part"]);
    assert_eq!(names(&place), ["a"]);
    // Never over another one.
    let again = TemporaryFolder::new(base.path(), "tmp").unwrap();
    assert!(again.commit(&place).is_err());
    drop(TemporaryFolder::new(base.path(), "tmp").unwrap());
    assert_eq!(names(base.path()), ["part"]);
}
