//! Outputs are whole or untouched, limits hold before memory is touched, and names in inputs open nothing else.

use super::{file, text};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const CHECK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/check");
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/cases");

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = file(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn visakit(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    command
        .current_dir(folder)
        .args(line.split(' '))
        .output()
        .unwrap()
}

/// What a shell makes of a line with `$V` for the tool.
fn shell(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("sh");
    command
        .env("V", env!("CARGO_BIN_EXE_visakit"))
        .current_dir(folder);
    command.args(["-c", line]).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| text(e.unwrap().file_name().as_encoded_bytes()))
        .collect();
    names.sort();
    names
}

/// A text that `fmt` changes, of so many lines.
fn ugly(lines: usize) -> String {
    let mut all =
        ".version 4.1\n.kernel \"k\"\n.decl V32 v_type=G type=d num_elts=8 align=GRF\n".to_owned();
    for number in 0..lines {
        all.push_str(&format!(
            "add   (M1, 8)   V32(0,0)<1>   V32(0,0)<1;1,0>    0x{number:x}:d\n"
        ));
    }
    all.push_str("ret (M1, 1)\n");
    all
}

/// 60 processes are killed while they rewrite a text of half a megabyte.
#[test]
fn killed_writers_leave_the_old_file_or_the_new_one() {
    let folder = folder("killed");
    let path = folder.join("k.visaasm");
    let old = ugly(10_000);
    assert!(old.len() > 500_000);
    fs::write(&path, &old).unwrap();
    let begun = Instant::now();
    assert!(visakit(&folder, "fmt --write k.visaasm").status.success());
    let whole = begun.elapsed();
    let new = fs::read(&path).unwrap();
    assert_ne!(new, old.as_bytes());
    let mut ends = [0, 0];
    for number in 0..60_u32 {
        fs::write(&path, &old).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_visakit"))
            .args(["fmt", "--write", "k.visaasm"])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Most of them around the end, where it writes.
        let part = if number % 4 == 0 {
            number
        } else {
            48 + number / 5
        };
        std::thread::sleep(whole * part / 60);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = fs::read(&path).unwrap();
        let is_new = now == new;
        assert!(
            is_new || now == old.as_bytes(),
            "{} bytes after kill {number}",
            now.len()
        );
        ends[usize::from(is_new)] += 1;
    }
    // What the last ones left goes with the next file that is written here.
    fs::write(&path, &old).unwrap();
    assert!(visakit(&folder, "fmt --write k.visaasm").status.success());
    assert_eq!(names(&folder), ["k.visaasm"], "{ends:?}");
}

/// A disk that is full: the limit of a process stands for it.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder("full");
    let old = ugly(2000);
    let object = folder.join("k.isa");
    fs::write(folder.join("k.visaasm"), &old).unwrap();
    assert!(visakit(&folder, "asm k.visaasm -o k.isa").status.success());
    let before = fs::read(&object).unwrap();
    fs::write(folder.join("zeros.bin"), [0; 4096]).unwrap();
    let run = format!(
        "run --kernel race_in_loop {CHECK}/race_in_loop.dg2.visaasm --zeinfo {CHECK}/faults.dg2.zeinfo --global 64 --local 64 --arg zeros:1m --arg zeros:4096 --out 0:out.bin"
    );
    let writers = [
        ("fmt --write k.visaasm", "k.visaasm"),
        ("asm k.visaasm -o k.isa", "k.isa"),
        ("strip k.isa -o k.isa", "k.isa"),
        ("convert k.isa --to 4.1 -o k.isa", "k.isa"),
        ("dis k.isa -o k.visaasm", "k.visaasm"),
        (run.as_str(), "out.bin"),
    ];
    for (line, written) in writers {
        fs::write(folder.join("k.visaasm"), &old).unwrap();
        fs::write(&object, &before).unwrap();
        fs::write(folder.join("out.bin"), "old").unwrap();
        let kept = fs::read(folder.join(written)).unwrap();
        // Blocks of 512 bytes; the signal is ignored, as shells of services do.
        let done = shell(
            &folder,
            &format!("trap '' XFSZ; ulimit -f 8; exec \"$V\" {line}"),
        );
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains("large"), "{line}: {said}");
        assert!(fs::read(folder.join(written)).unwrap() == kept, "{line}");
        assert_eq!(
            names(&folder),
            ["k.isa", "k.visaasm", "out.bin", "zeros.bin"],
            "{line}"
        );
    }
}

#[test]
fn outputs_keep_what_belongs_to_the_file() {
    let folder = folder("kept");
    fs::create_dir(folder.join("real")).unwrap();
    let real = folder.join("real/k.visaasm");
    fs::write(&real, ugly(3)).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/k.visaasm", folder.join("link.visaasm")).unwrap();
    assert!(
        visakit(&folder, "fmt --write link.visaasm")
            .status
            .success()
    );
    assert!(folder.join("link.visaasm").is_symlink());
    assert_ne!(fs::read_to_string(&real).unwrap(), ugly(3));
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    // Streams are no files, whatever stands for them.
    for place in ["/dev/stdout", "/dev/fd/1", "-"] {
        let done = shell(
            &folder,
            &format!("\"$V\" asm link.visaasm -o {place} >made.isa; echo more >>made.isa"),
        );
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert!(
            fs::read(folder.join("made.isa"))
                .unwrap()
                .starts_with(b"CISA"),
            "{place}"
        );
    }
    let done = shell(
        &folder,
        "\"$V\" asm link.visaasm -o /dev/stdout | head -c 4",
    );
    assert_eq!(text(&done.stdout), "CISA");
    assert_eq!(
        visakit(&folder, "asm link.visaasm -o /dev/null")
            .status
            .code(),
        Some(0)
    );
    let done = visakit(&folder, "asm link.visaasm -o /dev/full");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(names(&folder), ["link.visaasm", "made.isa", "real"]);
}

/// Exit codes are those of the result, whether or not it can be told.
#[test]
fn exit_codes_do_not_depend_on_standard_error() {
    let folder = folder("mute");
    fs::write(folder.join("k.visaasm"), ugly(3)).unwrap();
    fs::write(
        folder.join("bad.visaasm"),
        ".version 4.1\n.kernel \"k\"\nadd (M1, 8) V1 V2\n",
    )
    .unwrap();
    assert!(visakit(&folder, "asm k.visaasm -o k.isa").status.success());
    let lines = [
        ("dis nonexist", 2),
        ("frobnicate", 2),
        ("asm bad.visaasm -o never.isa", 1),
        ("merge -o /dev/null k.isa k.isa", 1),
        ("cfg --output-dir pics k.isa", 0),
        ("fmt --check k.visaasm", 1),
        ("validate bad.visaasm", 1),
        ("convert k.isa --to 9.9 -o never.isa", 2),
        ("run k.isa --bare --max-steps 1", 1),
        ("--help", 0),
    ];
    for (line, code) in lines {
        for stream in ["2>/dev/full", "2>&-", "2>/dev/null"] {
            let done = shell(&folder, &format!("exec \"$V\" {line} {stream}"));
            assert_eq!(done.status.code(), Some(code), "{line} {stream}: {done:?}");
        }
    }
}

/// The arguments of a kernel that finds a fault in its first group.
fn launch(kernel: &str, sizes: &str) -> String {
    format!(
        "{CHECK}/{kernel}.dg2.visaasm --zeinfo {CHECK}/faults.dg2.zeinfo --global 64 --local 64 {sizes}"
    )
}

/// The most memory that a child of this process has had so far.
fn most_resident() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let kib = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    u64::try_from(kib).unwrap() << 10
}

/// Buffers count once, and what is refused is never touched.
#[test]
fn memory_is_what_the_limits_say() {
    // Other tests have children, too, so that this one runs in a process of its own.
    if std::env::var_os("VISAKIT_ALONE").is_none() {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "files::memory_is_what_the_limits_say"])
            .env("VISAKIT_ALONE", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", text(&done.stdout));
        return;
    }
    let folder = folder("memory");
    let huge = launch(
        "race_in_loop",
        "--arg zeros:4g --arg zeros:4096 --max-memory 1000000",
    );
    for verb in ["run", "check", "profile"] {
        let done = visakit(&folder, &format!("{verb} {huge}"));
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(
            said.contains("takes 4294967296 bytes, the limit is 1000000"),
            "{said}"
        );
    }
    let endless = launch(
        "race_in_loop",
        "--arg buffer:/dev/zero --arg zeros:4096 --max-memory 1000000",
    );
    let done = visakit(&folder, &format!("run {endless}"));
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).contains("is a device, expected a file"),
        "{done:?}"
    );
    copy(&Path::new(CASES).join("call_sub"), &folder.join("case"));
    let path = folder.join("case/dg2/case.json");
    let case = fs::read_to_string(&path).unwrap();
    let (before, after) = case.split_once("\"size\": ").unwrap();
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    fs::write(&path, format!("{before}\"size\": 4294967296{rest}")).unwrap();
    let done = visakit(&folder, "run --max-memory 1000000 --case case/dg2");
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stdout).contains("the limit is 1000000"),
        "{done:?}"
    );
    assert!(most_resident() < 300 << 20, "{}", most_resident());
    // One copy of a buffer that the kernel hardly touches, if any.
    let large = launch(
        "race_in_loop",
        "--arg zeros:1g --arg zeros:4096 --max-memory 1200000000",
    );
    for verb in ["run", "profile"] {
        let done = visakit(&folder, &format!("{verb} {large} --no-jit"));
        assert!(done.status.code() == Some(0), "{}", text(&done.stderr));
    }
    assert!(most_resident() < 1300 << 20, "{}", most_resident());
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// A file that grows a thousandfold is not unpacked.
#[test]
fn packed_files_are_bounded_by_their_size() {
    let folder = folder("packed");
    let done = shell(
        &folder,
        "head -c 100000000 /dev/zero | tr '\\0' ' ' | gzip -9 >bomb.visaasm.gz",
    );
    assert!(done.status.success());
    let done = visakit(&folder, "info bomb.visaasm.gz");
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).contains("unpacks to more than"),
        "{done:?}"
    );
}

/// A pattern of many steps in a long routine, within half a gigabyte of addresses.
#[test]
fn long_searches_hold_little() {
    let folder = folder("search");
    fs::write(folder.join("k.visaasm"), ugly(20_000)).unwrap();
    assert!(visakit(&folder, "asm k.visaasm -o k.isa").status.success());
    let pattern = vec!["add"; 3000].join(" ->any ");
    fs::write(folder.join("pattern"), format!("{pattern} ->any mul")).unwrap();
    let done = shell(
        &folder,
        "ulimit -v 500000; RAYON_NUM_THREADS=1 exec \"$V\" search \"$(cat pattern)\" k.isa",
    );
    let said = text(&done.stderr) + &text(&done.stdout);
    assert!(
        matches!(done.status.code(), Some(0 | 1)),
        "{:?} {said}",
        done.status
    );
    assert!(said.contains("too much work"), "{said}");
}

/// Files that cases name: in the folder and beside it, nothing else, by whatever path.
#[test]
fn cases_open_their_own_files() {
    let folder = folder("cases");
    copy(&Path::new(CASES).join("call_sub"), &folder.join("case"));
    let path = folder.join("case/dg2/case.json");
    let case = fs::read_to_string(&path).unwrap();
    assert_eq!(
        visakit(&folder, "run --case case/dg2").status.code(),
        Some(0)
    );
    let pipe = folder.join("case/pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    fs::copy(folder.join("case/arg0.bin"), folder.join("outside.bin")).unwrap();
    symlink("../outside.bin", folder.join("case/link.bin")).unwrap();
    symlink("../arg0.bin", folder.join("case/dg2/inner.bin")).unwrap();
    fs::copy(
        folder.join("case/arg0.bin"),
        folder.join("case/dg2/own.bin"),
    )
    .unwrap();
    let outside = folder.join("outside.bin");
    let outside = outside.to_str().unwrap();
    for (name, code, said) in [
        ("own.bin", 0, ""),
        ("./../dg2/own.bin", 0, ""),
        ("inner.bin", 0, ""),
        ("/dev/zero", 2, "neither in its folder nor beside it"),
        ("/etc/passwd", 2, "neither in its folder nor beside it"),
        ("../pipe", 2, "a pipe or a device"),
        ("../link.bin", 2, "neither in its folder nor beside it"),
        (
            "../../outside.bin",
            2,
            "neither in its folder nor beside it",
        ),
        (outside, 2, "neither in its folder nor beside it"),
        ("missing.bin", 2, "No such file"),
    ] {
        fs::write(&path, case.replacen("../arg0.bin", name, 1)).unwrap();
        for verb in ["run", "check", "profile"] {
            let begun = Instant::now();
            let done = visakit(&folder, &format!("{verb} --case case/dg2"));
            let all = text(&done.stdout) + &text(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{verb} {name}: {all}");
            assert!(all.contains(said), "{verb} {name}: {all}");
            assert!(begun.elapsed() < Duration::from_secs(30));
        }
    }
    fs::write(&path, case.replacen("../arg0.bin", outside, 1)).unwrap();
    let done = visakit(&folder, "run --allow-outside --case case/dg2");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}

/// Files that a kernel names: in the folder of the program and in those that are named, nothing else.
#[test]
fn sources_are_shown_from_named_folders() {
    let folder = folder("sources");
    fs::create_dir_all(folder.join("in/deep")).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    let line = |place: &str| format!("line one of {place}\n");
    for place in ["in/k.cl", "in/deep/k.cl", "out/o.cl"] {
        fs::write(folder.join(place), line(place)).unwrap();
    }
    symlink("../out/o.cl", folder.join("in/link.cl")).unwrap();
    symlink("/dev/zero", folder.join("in/zero.cl")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(folder.join("in/pipe.cl"))
            .status()
            .unwrap()
            .success()
    );
    let absolute = folder.join("out/o.cl").to_str().unwrap().to_owned();
    for (name, alone, named) in [
        ("k.cl", "in/k.cl", "in/k.cl"),
        ("/elsewhere/deep/k.cl", "in/deep/k.cl", "in/deep/k.cl"),
        (absolute.as_str(), "", "out/o.cl"),
        ("../out/o.cl", "", "out/o.cl"),
        ("link.cl", "", ""),
        ("zero.cl", "", ""),
        ("/dev/zero", "", ""),
        ("pipe.cl", "", ""),
        ("/etc/passwd", "", ""),
        ("../../../../../../../../etc/passwd", "", ""),
    ] {
        let kernel = format!(
            ".version 4.1\n.kernel \"k\"\n.decl V32 v_type=G type=d num_elts=8 align=GRF\nFILE \"{name}\"\nLOC 1\n\
             mov (M1, 8) V32(0,0)<1> 0x1:d\nret (M1, 1)\n"
        );
        fs::write(folder.join("in/k.visaasm"), kernel).unwrap();
        assert!(
            visakit(&folder, "asm in/k.visaasm -o in/k.isa")
                .status
                .success()
        );
        for (line, seen) in [
            ("profile --bare in/k.visaasm", alone),
            ("profile --bare in/k.visaasm --source out", named),
            ("dis --source in/k.isa", alone),
            ("dis --source=out in/k.isa", named),
            ("debug --bare in/k.visaasm -ex stepi -ex where", alone),
        ] {
            let begun = Instant::now();
            let done = visakit(&folder, line);
            let all = text(&done.stdout) + &text(&done.stderr);
            assert_eq!(done.status.code(), Some(0), "{line} {name}: {all}");
            assert!(!all.contains("root:"), "{line} {name}: {all}");
            assert!(begun.elapsed() < Duration::from_secs(30));
            if line.starts_with("debug") {
                continue;
            }
            let shown = match seen {
                "" => !all.contains("line one of"),
                seen => all.contains(&format!("line one of {seen}")),
            };
            assert!(shown, "{line} {name}: {all}");
        }
    }
}
