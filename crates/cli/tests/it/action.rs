//! The action for GitHub: its steps, run as a runner runs them, with a stand-in for what pip installs.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes an environment whose pip installs the tool of this build, and a file in the place of the driver.
const PYTHON: &str = r#"#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 1
mkdir -p "$3/bin" "$3/lib/visakit"
cat > "$3/bin/pip" <<'END'
#!/bin/sh
here=$(dirname "$0")
echo "$@" > "$here/asked"
cp "$VISAKIT" "$here/visakit"
touch "$here/../lib/visakit/libvisakit_opencl.so"
END
chmod +x "$3/bin/pip"
"#;

/// A runner's folders and files.
struct Runner {
    folder: PathBuf,
    inputs: BTreeMap<String, String>,
}

impl Runner {
    fn new(name: &str, action: &Value, inputs: &[(&str, &str)]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("bin")).unwrap();
        let python = folder.join("bin/python3");
        fs::write(&python, PYTHON).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        let declared = action["inputs"].as_object().unwrap();
        let mut all: BTreeMap<_, _> = declared
            .iter()
            .map(|(name, input)| (name.clone(), input["default"].as_str().unwrap().to_owned()))
            .collect();
        for (name, value) in inputs {
            assert!(
                all.insert((*name).to_owned(), (*value).to_owned())
                    .is_some()
            );
        }
        Self {
            folder,
            inputs: all,
        }
    }

    /// Expressions such as `${{ inputs.device }}`.
    fn expand(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (name, value) in &self.inputs {
            out = out.replace(&format!("${{{{ inputs.{name} }}}}"), value);
        }
        assert!(!out.contains("${{"), "{out}");
        out
    }

    fn step(&self, step: &Value) {
        assert_eq!(step["shell"], "bash", "{step}");
        let mut command = Command::new("bash");
        let script = self.expand(step["run"].as_str().unwrap());
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]);
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, self.expand(value.as_str().unwrap()));
        }
        for name in ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH"] {
            command.env(name, self.folder.join(name));
        }
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.folder.join("bin").display());
        command.env("PATH", path);
        command.env("RUNNER_TEMP", self.folder.join("temp"));
        command.env("VISAKIT", env!("CARGO_BIN_EXE_visakit"));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{step}: {done:?}");
    }

    /// A file of `NAME=value` lines that steps wrote.
    fn variables(&self, file: &str) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.folder.join(file)).unwrap();
        let lines = text.lines().map(|line| line.split_once('=').unwrap());
        lines.map(|(n, v)| (n.to_owned(), v.to_owned())).collect()
    }
}

fn action() -> Value {
    let text = fs::read_to_string(visakit_testing::root().join("action.yml")).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

fn ran(name: &str, inputs: &[(&str, &str)]) -> Runner {
    let action = action();
    let runner = Runner::new(name, &action, inputs);
    let steps = action.pointer("/runs/steps").unwrap();
    let steps = steps.as_array().unwrap();
    // What a condition leaves out changes the system.
    steps
        .iter()
        .filter(|step| step.get("if").is_none())
        .for_each(|step| runner.step(step));
    runner
}

#[test]
fn later_steps_see_the_device() {
    let runner = ran("action", &[("device", "b580"), ("check", "memory,race")]);
    let variables = runner.variables("GITHUB_ENV");
    assert_eq!(variables["VISAKIT_DEVICE"], "b580");
    assert_eq!(variables["VISAKIT_CHECK"], "memory,race");
    let outputs = runner.variables("GITHUB_OUTPUT");
    assert_eq!(outputs["report"], variables["VISAKIT_CHECK_REPORT"]);
    let vendors = Path::new(&variables["OCL_ICD_VENDORS"]);
    let named = fs::read_to_string(vendors.join("visakit.icd")).unwrap();
    assert_eq!(named.trim(), outputs["library"]);
    assert!(Path::new(named.trim()).is_file());
    let path = fs::read_to_string(runner.folder.join("GITHUB_PATH")).unwrap();
    let tool = Path::new(path.trim()).join("visakit");
    let version = Command::new(tool).arg("--version").output().unwrap();
    assert!(version.status.success());
    let declared = action();
    for output in declared["outputs"].as_object().unwrap().keys() {
        assert!(outputs.contains_key(output), "{output}");
    }
}

#[test]
fn checks_are_off_by_default() {
    let runner = ran("action-plain", &[("install", "visakit==0.1.0")]);
    let variables = runner.variables("GITHUB_ENV");
    assert_eq!(variables["VISAKIT_DEVICE"], "dg2");
    assert!(!variables.contains_key("VISAKIT_CHECK"));
    let asked = fs::read_to_string(runner.folder.join("temp/visakit/bin/asked")).unwrap();
    assert!(asked.trim().ends_with("visakit==0.1.0"), "{asked}");
}
