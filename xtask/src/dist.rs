//! `cargo xtask dist`: the files of a release.

use crate::stage::{Build, option, stage, target, targets};
use crate::{Done, call, cargo};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name and function of a part.
type Part = (&'static str, fn(&Release) -> Done);

/// What a release consists of.
const PARTS: [Part; 5] = [
    ("archive", archive),
    ("wheel", wheel),
    ("vsix", vsix),
    ("sbom", sbom),
    // Of files that other machines made.
    ("sums", |_| Ok(())),
];

/// The list of checksums, as `sha256sum --check` reads it.
const SUMS: &str = "SHA256SUMS";

struct Release {
    out: PathBuf,
    profile: String,
    /// Another target than this machine.
    target: Option<String>,
    version: String,
    metadata: Value,
}

impl Release {
    fn build(&self) -> Build<'_> {
        Build {
            profile: &self.profile,
            target: self.target.as_deref(),
        }
    }

    /// The triple of what is made.
    fn triple(&self) -> Result<String, Box<dyn Error>> {
        self.target.clone().map_or_else(host, Ok)
    }
}

/// `dist [--out DIR] [--profile NAME] [--target TRIPLE] [PART...]`
pub(crate) fn run(arguments: &[String]) -> Done {
    let metadata = metadata()?;
    let out = option(arguments, "--out").map_or_else(|| target().join("dist"), PathBuf::from);
    let release = Release {
        out: std::path::absolute(out)?,
        profile: option(arguments, "--profile").unwrap_or_else(|| "release".into()),
        target: option(arguments, "--target"),
        version: own(&metadata, "version")?,
        metadata,
    };
    if let Some(target) = &release.target
        && !targets().any(|known| known == target)
    {
        let known = targets().collect::<Vec<_>>().join(", ");
        return Err(format!("no files are made for `{target}` here; there are {known}").into());
    }
    let options = ["--out", "--profile", "--target"];
    let is_value = |n: usize| n > 0 && options.contains(&arguments[n - 1].as_str());
    let wanted = arguments.iter().enumerate();
    let wanted: Vec<_> = wanted
        .filter(|(n, word)| !options.contains(&word.as_str()) && !is_value(*n))
        .map(|(_, word)| word.as_str())
        .collect();
    if let Some(unknown) = wanted
        .iter()
        .find(|w| !PARTS.iter().any(|part| part.0 == **w))
    {
        let known = PARTS.map(|part| part.0).join(", ");
        return Err(format!("there is no part `{unknown}`; there are {known}").into());
    }
    fs::create_dir_all(&release.out)?;
    for (name, make) in PARTS {
        if wanted.is_empty() || wanted.contains(&name) {
            make(&release)?;
        }
    }
    sums(&release.out)
}

/// The program, drivers, page, manual pages and completions.
fn archive(release: &Release) -> Done {
    let name = format!("visakit-{}-{}", release.version, release.triple()?);
    let folder = target().join("dist-tree").join(&name);
    let _ = fs::remove_dir_all(&folder);
    stage(&folder, release.build())?;
    // Pages are the same for every target. Cargo would build for other features what is built already.
    let tool = || {
        if release.target.is_none() {
            return Command::new(folder.join("bin/visakit"));
        }
        let mut tool = cargo();
        tool.args(["run", "--quiet", "--locked", "--profile", &release.profile]);
        tool.args(["-p", "visakit-cli", "--"]);
        tool.current_dir(visakit_testing::root());
        tool
    };
    call(tool().arg("man").arg(folder.join("share/man/man1")))?;
    for (shell, file) in [
        ("bash", "share/bash-completion/completions/visakit"),
        ("zsh", "share/zsh/site-functions/_visakit"),
        ("fish", "share/fish/vendor_completions.d/visakit.fish"),
    ] {
        let printed = tool().args(["completions", shell]).output()?;
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(file, printed.stdout)?;
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(visakit_testing::root().join(file), folder.join(file))?;
    }
    let repository = own(&release.metadata, "repository")?;
    let base = format!("{repository}/blob/v{}/", release.version);
    for file in ["README.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(visakit_testing::root().join(file))?;
        fs::write(folder.join(file), absolute(&text, &base))?;
    }
    pack(release, &name)
}

/// A text whose links to files of the repository lead there from anywhere.
fn absolute(text: &str, base: &str) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("](");
        if !part.starts_with("http") && !part.starts_with('#') {
            out.push_str(base);
        }
        out.push_str(part);
    }
    out
}

/// Packs the folder of that name: what each system opens by itself.
fn pack(release: &Release, name: &str) -> Done {
    let trees = target().join("dist-tree");
    if name.contains("windows") {
        let file = release.out.join(format!("{name}.zip"));
        let mut zip = Command::new("python3");
        zip.args(["-m", "zipfile", "-c"]).arg(file);
        return call(zip.arg(trees.join(name)));
    }
    let mut tar = Command::new("tar");
    if cfg!(target_os = "linux") {
        // Equal trees make equal archives, by options of GNU's program.
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    }
    tar.arg("-cJf");
    tar.arg(release.out.join(format!("{name}.tar.xz")));
    call(tar.arg("-C").arg(trees).arg(name))
}

/// The Python package with the command, the drivers and the page, as maturin's folder of data: `scripts` goes to `bin`,
/// `data` to the environment itself.
fn wheel(release: &Release) -> Done {
    let package = visakit_testing::root().join("python");
    let data = package.join("wheel");
    let own = [data.join("scripts"), data.join("data/lib")];
    let clear = || {
        for folder in &own {
            let _ = fs::remove_dir_all(folder);
        }
    };
    clear();
    stage(&data.join("data"), release.build())?;
    fs::rename(data.join("data/bin"), &own[0])?;
    let mut maturin = Command::new("maturin");
    maturin.arg("build");
    release.build().tell(&mut maturin);
    maturin
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"));
    maturin.arg("--out").arg(&release.out);
    maturin.env("CARGO_TARGET_DIR", target());
    let made = call(&mut maturin);
    // A package that is built by hand has no command of another version.
    clear();
    made.map_err(|error| format!("{error} (`pip install maturin` installs maturin)").into())
}

/// The extension for VS Code.
fn vsix(release: &Release) -> Done {
    let folder = visakit_testing::root().join("editors/vscode");
    if !folder.join("node_modules").is_dir() {
        call(npm(&folder).args(["ci", "--no-audit", "--no-fund"]))?;
    }
    call(npm(&folder).args(["run", "package"]))?;
    let name = format!("visakit-{}.vsix", release.version);
    fs::copy(folder.join("visakit.vsix"), release.out.join(name))?;
    Ok(())
}

fn npm(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.arg("--prefix").arg(folder);
    npm
}

/// The crates that the program and the drivers are built of, as CycloneDX 1.5.
fn sbom(release: &Release) -> Done {
    let packages = release.metadata["packages"].as_array();
    let mut components: Vec<_> = packages.into_iter().flatten().map(component).collect();
    components.sort_by_key(|component| component["purl"].to_string());
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": { "type": "application", "name": "visakit", "version": release.version },
        },
        "components": components,
    });
    let name = format!("visakit-{}.cdx.json", release.version);
    fs::write(
        release.out.join(name),
        serde_json::to_string_pretty(&document)?,
    )?;
    Ok(())
}

fn component(package: &Value) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
    });
    if let Some(license) = package["license"].as_str() {
        // Old manifests separate alternatives by a slash.
        let expression = license.replace('/', " OR ").replace("  ", " ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    component
}

/// What is locked for this host.
fn metadata() -> Result<Value, Box<dyn Error>> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--locked"]);
    command.args(["--filter-platform", &host()?]);
    let output = command.current_dir(visakit_testing::root()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What the manifest of the command says.
fn own(metadata: &Value, key: &str) -> Result<String, Box<dyn Error>> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut own = packages.filter(|package| package["name"] == "visakit-cli");
    let own = own.next().and_then(|package| package[key].as_str());
    Ok(own.ok_or("no package visakit-cli")?.to_owned())
}

/// The triple of this host.
fn host() -> Result<String, Box<dyn Error>> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.ok_or("rustc names no host")?.to_owned())
}

/// Writes the checksums of all files of a folder.
fn sums(folder: &Path) -> Done {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && name != SUMS {
            let sum = Sha256::digest(fs::read(&path)?);
            let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            lines.push(format!("{sum}  {name}\n"));
        }
    }
    lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
    print!("{}", lines.concat());
    fs::write(folder.join(SUMS), lines.concat())?;
    Ok(())
}
