//! What users get, as a tree: `bin/visakit`, and in `lib/visakit` the drivers and the page of the explorer, where the
//! program looks for them (`crates/cli/src/installed.rs`).

use crate::{Done, call, cargo, web};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages of drivers and the libraries that they make. Those that are not in the workspace are left out.
const DRIVERS: [(&str, &str, &str); 2] = [
    (
        "visakit-internal-opencl",
        "crates/opencl",
        "libvisakit_opencl.so",
    ),
    (
        "visakit-internal-level-zero",
        "crates/level-zero",
        "libze_visakit.so",
    ),
];

/// What links for another target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linker {
    /// A compiler of C, of the packages gcc-aarch64-linux-gnu and gcc-mingw-w64-x86-64 of Debian.
    Gcc(&'static str),
    /// `cargo zigbuild`, which brings the interfaces of macOS: `pip install cargo-zigbuild ziglang`.
    Zig,
}

/// Targets that are built on another one.
const TARGETS: [(&str, Linker); 4] = [
    (
        "aarch64-unknown-linux-gnu",
        Linker::Gcc("aarch64-linux-gnu-gcc"),
    ),
    (
        "x86_64-pc-windows-gnu",
        Linker::Gcc("x86_64-w64-mingw32-gcc"),
    ),
    ("aarch64-apple-darwin", Linker::Zig),
    ("x86_64-apple-darwin", Linker::Zig),
];

/// The names of targets that are built on another one.
pub(crate) fn targets() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|(name, _)| *name)
}

/// How the program and the drivers are built.
#[derive(Clone, Copy)]
pub(crate) struct Build<'b> {
    /// A profile of cargo.
    pub(crate) profile: &'b str,
    /// Another target than this machine.
    pub(crate) target: Option<&'b str>,
}

impl Build<'_> {
    /// Whether it is for Linux, where there are drivers.
    fn is_linux(self) -> bool {
        self.target
            .map_or(cfg!(target_os = "linux"), |target| target.contains("linux"))
    }

    fn is_windows(self) -> bool {
        self.target
            .map_or(cfg!(windows), |target| target.contains("windows"))
    }

    /// What links for another target.
    fn linker(self) -> Option<Linker> {
        let own = TARGETS.iter().find(|known| Some(known.0) == self.target);
        own.map(|known| known.1)
    }

    /// The verb of cargo that builds.
    fn verb(self) -> &'static str {
        match self.linker() {
            Some(Linker::Zig) => "zigbuild",
            _ => "build",
        }
    }

    /// Arguments and variables for cargo, and for what calls it.
    pub(crate) fn tell(self, command: &mut Command) {
        command.args(["--locked", "--profile", self.profile]);
        if let Some(target) = self.target {
            command.args(["--target", target]);
            if let Some(Linker::Gcc(linker)) = self.linker() {
                let name = target.to_uppercase().replace('-', "_");
                command.env(format!("CARGO_TARGET_{name}_LINKER"), linker);
            }
        }
    }

    /// The program that takes out of a file what only debuggers need. That of GNU knows no files of macOS, which cargo strips.
    fn strip(self) -> Option<String> {
        match self.linker() {
            None => Some("strip".to_owned()),
            Some(Linker::Gcc(linker)) => Some(linker.replace("gcc", "strip")),
            Some(Linker::Zig) => None,
        }
    }
}

/// Builds, and puts the tree into a folder.
pub(crate) fn stage(root: &Path, how: Build<'_>) -> Done {
    let workspace = visakit_testing::root();
    let drivers: Vec<_> = DRIVERS
        .iter()
        .filter(|driver| how.is_linux() && workspace.join(driver.1).is_dir())
        .collect();
    let mut build = cargo();
    build.args([how.verb(), "-p", "visakit-cli"]);
    how.tell(&mut build);
    if how.target.is_some() && !how.is_linux() {
        // Without `visakit table`, as the static binary is: its compression is C.
        let features = "visakit-cli/debugger,visakit-cli/hunt,visakit-cli/lsp";
        build.args(["--no-default-features", "--features", features]);
    }
    for (package, ..) in &drivers {
        build.args(["-p", package]);
    }
    call(&mut build)?;
    let folder = if matches!(how.profile, "dev" | "test") {
        "debug"
    } else {
        how.profile
    };
    let built = target().join(how.target.unwrap_or_default()).join(folder);
    let program = if how.is_windows() {
        "visakit.exe"
    } else {
        "visakit"
    };
    place(&built.join(program), &root.join("bin"), how)?;
    for (.., library) in &drivers {
        place(&built.join(library), &root.join("lib/visakit"), how)?;
    }
    page(&root.join("lib/visakit/explorer"))
}

/// `cargo xtask install [--root DIR] [--profile NAME]`: by default to where cargo installs.
pub(crate) fn install(arguments: &[String]) -> Done {
    let root = option(arguments, "--root").map_or_else(default_root, |root| Ok(root.into()))?;
    let profile = option(arguments, "--profile").unwrap_or_else(|| "release".into());
    let how = Build {
        profile: &profile,
        target: None,
    };
    stage(&root, how)?;
    println!("{} is installed", root.join("bin/visakit").display());
    Ok(())
}

fn default_root() -> Result<PathBuf, Box<dyn Error>> {
    let named = ["CARGO_INSTALL_ROOT", "CARGO_HOME"].into_iter();
    let named = named.filter_map(std::env::var_os).next();
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    let root = named.map(PathBuf::from).or_else(home);
    root.ok_or_else(|| "name a folder with --root: HOME is not set".into())
}

/// The value of an option.
pub(crate) fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| visakit_testing::root().join("target"))
}

/// Copies a program or library into a folder, without what only debuggers need.
fn place(file: &Path, folder: &Path, how: Build<'_>) -> Done {
    std::fs::create_dir_all(folder)?;
    let to = folder.join(file.file_name().unwrap_or_default());
    // A running program is replaced, not written to.
    let _ = std::fs::remove_file(&to);
    std::fs::copy(file, &to).map_err(|error| format!("{}: {error}", file.display()))?;
    if let Some(strip) = how.strip() {
        // Without this program the file is only larger.
        let _ = Command::new(strip).arg("--strip-debug").arg(&to).status();
    }
    Ok(())
}

/// The page of the explorer: the one that `cargo xtask web` made, or it makes it, which needs npm.
fn page(to: &Path) -> Done {
    let made = visakit_testing::root().join("web/dist");
    if !made.join("index.html").is_file() {
        if Command::new("npm").arg("--version").output().is_err() {
            println!("without the page of `visakit explore`: making it needs npm");
            return Ok(());
        }
        web::run(&[])?;
    }
    copy(&made, to)
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Done {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
