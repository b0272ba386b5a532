//! What an input names is a regular file of bounded size, in a folder.

use proptest::prelude::*;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use visakit_files::{read, read_any, within};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_more_than_the_limit_is_read(size in 0_usize..3000, limit in 0_u64..3000) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; size]).unwrap();
        match read(&path, limit) {
            Ok(bytes) => prop_assert!(bytes.len() == size && size as u64 <= limit),
            Err(error) => {
                prop_assert!(size as u64 > limit);
                prop_assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
            }
        }
    }

    /// Of names made of steps up and down, exactly those that end in the folder are found.
    #[test]
    fn names_stay_in_the_folder(
        steps in prop::collection::vec(prop::sample::select(vec!["..", ".", "a", "out", "in", "up", "here"]), 1..8),
        absolute: bool,
    ) {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let root = base.join("in");
        fs::create_dir_all(root.join("a")).unwrap();
        for place in ["out", "in/out", "in/a/out"] {
            fs::write(base.join(place), "").unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&base, root.join("up")).unwrap();
            std::os::unix::fs::symlink(&root, root.join("here")).unwrap();
        }
        let mut name: std::path::PathBuf = steps.iter().collect();
        if absolute {
            name = base.join(name);
        }
        let real = root.join(&name).canonicalize().ok();
        let inside = real.filter(|path| path.starts_with(&root));
        prop_assert_eq!(within(&root, &name), inside);
    }
}

#[test]
#[cfg(unix)]
fn pipes_devices_and_folders_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for path in [&pipe, Path::new("/dev/zero"), &link, folder.path()] {
        let error = read(path, 100).unwrap_err();
        assert!(error.to_string().ends_with("expected a file"), "{error}");
    }
    for path in [Path::new("/dev/zero"), &link, folder.path()] {
        let error = read_any(path, 100).unwrap_err();
        assert!(error.to_string().ends_with("expected a file"), "{error}");
    }
    assert!(read_any(Path::new("/dev/null"), 0).unwrap().is_empty());
    // A person may name a pipe, of which too much is not read.
    for (limit, is_enough) in [(3, false), (4, true)] {
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                fs::File::options()
                    .write(true)
                    .open(pipe)?
                    .write_all(b"four")
            }
        });
        assert_eq!(read_any(&pipe, limit).is_ok(), is_enough);
        writer.join().unwrap().unwrap();
    }
    // A file of the kernel says that it is empty, and is not.
    assert!(
        !read(Path::new("/proc/self/maps"), 1 << 20)
            .unwrap()
            .is_empty()
    );
    assert!(read(Path::new("/proc/self/maps"), 10).is_err());
}
