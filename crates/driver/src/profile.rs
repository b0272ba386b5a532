//! `VISAKIT_PROFILE`: launches are counted, and the profile of all of them is written when the program ends.

use crate::binary::{self, compiler, when};
use crate::context::lock;
use crate::watch::{Ending, Launching, Watcher, is_program};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use visakit_isa::Platform;
use visakit_launch::{Config, Source};
use visakit_profile::{KernelCode, KernelProfile, Profile, Watched, html};

/// The variable that asks for it.
pub(crate) const VARIABLE: &str = "VISAKIT_PROFILE";

/// Longer files are not considered to be source.
const MOST_SOURCE: u64 = 64 << 20;

#[derive(Debug, Default)]
struct State {
    profile: Profile,
    launches: u64,
    /// The sources of programs; in the profile, their files have the number here.
    sources: Vec<String>,
}

/// Profiles launches.
#[derive(Debug)]
pub(crate) struct Profiler {
    /// A page, or JSON if that is its extension.
    file: PathBuf,
    state: Mutex<State>,
}

impl Profiler {
    /// As the environment asks for it: the file to write.
    pub(crate) fn asked() -> Option<Self> {
        let file = std::env::var_os(VARIABLE).filter(|f| !f.is_empty())?;
        Some(Self {
            file: file.into(),
            state: Mutex::default(),
        })
    }
}

impl Watcher for Profiler {
    fn launch(&self, launching: &Launching<'_>, _go_on: &mut dyn FnMut() -> Ending) -> Ending {
        let (binary, name) = (launching.binary, &launching.kernel.name);
        let object = Source::link(binary.texts(name), binary.grf_bytes)?;
        let mut kernel = visakit_launch::Kernel::new(&object, name, &binary.zeinfo)?;
        kernel.grf_bytes = binary.grf_bytes;
        let compiler = compiler();
        let config = visakit_profile::config(Config {
            compile: compiler.as_ref().map(when),
            turn: launching.turn,
            ..binary::config()
        });
        let prepared = kernel.load(&binary.variables, &config)?.launch(
            launching.range,
            launching.arguments,
            Some(launching.others),
            &config,
        )?;
        let platform = Platform::from_name(launching.device.model.name);
        let code = KernelCode::new(&object, prepared.program(), platform);
        let watched = Watched::default();
        let (mut profile, outcome) = visakit_profile::run(&code, prepared, &config, watched)?;
        let _ = launching.nanoseconds.set(profile.nanoseconds);
        let mut state = lock(&self.state);
        if let Some(source) = binary.source() {
            state.name(&mut profile, &source);
        }
        state.profile.add(profile);
        state.launches += 1;
        Ok(outcome)
    }

    fn end(&self) {
        let state = lock(&self.state);
        let profile = &state.profile;
        let is_json = self.file.extension().is_some_and(|e| e == "json");
        let text = if is_json {
            json!({ "schema": 1, "command": "profile", "problems": [], "kernels": profile.kernels })
                .to_string()
        } else {
            let program = std::env::args_os().next().unwrap_or_default();
            let title = Path::new(&program).file_name().unwrap_or_default();
            html::page(profile, &title.to_string_lossy(), |file| state.source(file))
        };
        let shown = self.file.display();
        crate::say(&match visakit_files::write(&self.file, text) {
            Ok(()) => format!(
                "{} of {} profiled, {:.1} µs of simulated time: {shown}",
                crate::count(state.launches, "launch", "launches"),
                crate::count(profile.kernels.len() as u64, "kernel", "kernels"),
                profile.nanoseconds() / 1000.0
            ),
            Err(error) => format!("the profile cannot be written: {shown}: {error}"),
        });
    }
}

impl State {
    /// The compiler calls all programs the same: their files get numbers.
    fn name(&mut self, profile: &mut KernelProfile, source: &str) {
        let known = self.sources.iter().position(|s| s == source);
        let number = known.unwrap_or_else(|| {
            self.sources.push(source.to_owned());
            self.sources.len() - 1
        });
        let name = format!("program {}", number + 1);
        let files = profile.instructions.iter_mut().map(|i| &mut i.file);
        for file in files.chain(profile.lines.iter_mut().map(|l| &mut l.file)) {
            if file.as_deref().is_some_and(is_program) {
                *file = Some(name.clone());
            }
        }
    }

    /// The text of a file.
    fn source(&self, file: &str) -> Option<String> {
        if let Some(number) = file.strip_prefix("program ") {
            let number: usize = number.parse().ok()?;
            return self.sources.get(number.checked_sub(1)?).cloned();
        }
        let text = visakit_files::read(Path::new(file), MOST_SOURCE).ok()?;
        String::from_utf8(text).ok()
    }
}
