//! Runs what `visakit run` would run, under the control of a debugger.

use super::{Args, bare, kernel, media};
use crate::output::Failure;
use crate::render;
use std::path::{Path, PathBuf};
use visakit_debug::{DebugError, Listing, Session, Symbols, Target};
use visakit_launch::{Config, Kernel, Prepared};

impl Args {
    /// Compiles sources so that their variables are known.
    pub(crate) const fn for_debugger(&mut self) {
        self.reading.building.debug = true;
    }

    /// Folders of the inputs: sources may be beside them.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let files = self.files.iter().chain(&self.launching.zebin);
        let mut folders: Vec<_> = files
            .filter_map(|file| file.parent().map(Path::to_owned))
            .collect();
        for case in &self.case {
            folders.push(case.clone());
            // Devices of a kernel share its source.
            folders.extend(case.parent().map(Path::to_owned));
        }
        folders.extend(self.checking.source.clone());
        folders
    }
}

impl From<DebugError> for Failure {
    fn from(error: DebugError) -> Self {
        match error {
            DebugError::Launch(error) => error.into(),
            error => Self::Other(error.to_string()),
        }
    }
}

/// A session before the first instruction.
pub(crate) fn session(args: &Args) -> Result<Session, Failure> {
    // The debugger has its own interrupt, and observes every instruction.
    let config = Config {
        interrupt: None,
        compile: None,
        ..args.config()
    };
    let made = |kernel: &Kernel<'_>, launch: Prepared| {
        let code = launch.program().code();
        let listing = Listing::new(kernel.object(), code, kernel.grf_bytes);
        let symbols = kernel.debug.as_ref();
        let symbols = symbols.map(|f| Symbols::read(f, &kernel.locals, kernel.grf_bytes));
        let symbols = symbols.transpose().unwrap_or_else(|error| {
            render::note(&format!("no variables of the source are known: {error}"));
            None
        });
        (Target::kernel(launch, config.limits), listing, symbols)
    };
    let (target, listing, symbols) = if let [case] = args.case.as_slice() {
        let case = args.open_case(case)?;
        case.launch(
            args.from_text,
            &config,
            |object| object,
            |kernel, _, launch| Ok(made(kernel, launch)),
        )?
    } else if !args.case.is_empty() {
        return Err(Failure::Other("one case at a time".to_owned()));
    } else if args.files.is_empty() && args.launching.zebin.is_none() {
        return Err(Failure::Other(
            "no program: name an object or a text, or a case with --case".to_owned(),
        ));
    } else if args.media.is_some() {
        media::prepare(args, false, |object, media, grf_bytes, _| {
            let listing = Listing::new(object, media.program().code(), grf_bytes);
            Ok((Target::media(media, config.limits)?, listing, None))
        })?
    } else if args.bare {
        let (bare, listing) = bare::prepare(args, false, |object, bare, grf_bytes| {
            let listing = Listing::new(object, bare.program().code(), grf_bytes);
            (bare, listing)
        })?;
        (Target::bare(bare), listing, None)
    } else {
        kernel::with_kernel(args, |kernel, range, arguments| {
            let launch = kernel.prepare(range, &arguments.all()?, &config)?;
            Ok(made(kernel, launch))
        })?
    };
    Ok(Session::new(target, listing)?.with_symbols(symbols))
}
