//! `visakit run` of OpenCL kernels.

use super::arguments::Arguments;
use super::fault::Launched;
use super::show::{self, Buffer, Stats};
use super::spec::ArgSpec;
use super::trace::Trace;
use super::{Args, stop, with_bar};
use crate::output::{self, Failure, heading, stdout};
use crate::sources::{self, Opened};
use crate::{Status, input, render};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use visakit_check::{Checks, Report};
use visakit_exec::Pass;
use visakit_launch::{
    ArgInfo, Argument, Config, DebugFiles, Kernel, LocalVariable, Metadata, NdRange, Outcome,
    Source, Tracer, ZeInfo, Zebin, find_kernel, texts_of_kernel,
};
use visakit_profile::{KernelCode, KernelProfile, Watched};

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    with_kernel(args, |kernel, range, arguments| {
        run_kernel(args, &arguments.all()?, kernel, range)
    })
}

/// Runs the kernel under checks.
pub(crate) fn check(args: &Args, checks: Checks) -> Result<Report<Vec<u8>>, Failure> {
    let unset = args.uninitialized();
    let config = visakit_check::config(args.config());
    with_kernel(args, |kernel, range, arguments| {
        let launch = kernel.prepare(range, &arguments.all()?, &config)?;
        let report = with_bar(range.group_count(), config, |config| {
            visakit_check::check(kernel, launch, config, checks, &unset)
        })?;
        Ok(report.map(|outcome| outcome.printed))
    })
}

/// Runs the kernel and counts what runs; returns its output, too.
pub(crate) fn profile(args: &Args, watched: Watched) -> Result<(KernelProfile, Vec<u8>), Failure> {
    if args.bare {
        return Ok((super::bare::profile(args)?, Vec::new()));
    }
    if args.media.is_some() {
        return Ok((super::media::profile(args, watched)?, Vec::new()));
    }
    let config = visakit_profile::config(args.config());
    with_kernel(args, |kernel, range, arguments| {
        let launch = kernel.prepare(range, &arguments.all()?, &config)?;
        let code = KernelCode::new(kernel.object(), launch.program(), args.platform());
        let (profile, outcome) = with_bar(range.group_count(), config, |config| {
            visakit_profile::run(&code, launch, config, watched)
        })?;
        Ok((profile, outcome.printed))
    })
}

/// Reads the kernel and how it is to be launched.
pub(crate) fn with_kernel<R>(
    args: &Args,
    run: impl FnOnce(&Kernel<'_>, &NdRange, &Arguments<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let Program {
        sources,
        zeinfo,
        zebin,
        locals,
        debug,
    } = program(args)?;
    let grf_bytes = zebin.as_ref().and_then(|z| z.grf_bytes);
    let (object, grf_bytes) = args.object(&sources, grf_bytes.or_else(|| zeinfo.grf_bytes()))?;
    let (_, routine) = find_kernel(&object, args.routine.as_deref())?;
    let name = routine.display_name();
    let mut kernel = Kernel::new(&object, &name, &zeinfo)?;
    kernel.grf_bytes = grf_bytes;
    kernel.locals = locals;
    kernel.debug = debug;
    if let Some(zebin) = zebin {
        kernel.data = zebin.data;
        kernel.symbols = zebin.symbols;
    }
    for (index, spec) in args.launching.args.iter().enumerate() {
        if let ArgSpec::Typed(ty, _) = spec {
            kernel.check_type(index, *ty)?;
        }
    }
    if args.launching.global.is_empty() {
        return Err(Failure::Other(
            "--global is missing: how many work-items?".to_owned(),
        ));
    }
    let local = match args.launching.local.is_empty() {
        true => kernel.local_size(&args.launching.global),
        false => args.launching.local.clone(),
    };
    let range = NdRange::new(&args.launching.global, &local, &args.launching.offset)?;
    let group: u64 = local.iter().map(|n| u64::from(*n)).product();
    let most = NdRange::LARGEST_GROUP;
    if group > u64::from(most) {
        render::note(&format!(
            "groups of {group} work-items: no device starts more than {most}"
        ));
    }
    let parameters = zeinfo.parameters(&name);
    let arguments = Arguments::new(args, &kernel, parameters, &range);
    run(&kernel, &range, &arguments)
}

fn run_kernel(
    args: &Args,
    arguments: &[Argument],
    kernel: &Kernel<'_>,
    range: &NdRange,
) -> Result<Status, Failure> {
    let config = args.config();
    let outcome = if args.trace {
        let launch = kernel.prepare(range, arguments, &config)?;
        let tracer = Tracer::new(kernel.object(), kernel.grf_bytes, launch.program());
        let mut trace = Trace::new(tracer);
        let outcome = launch.run_observed(&config, &mut trace);
        trace.end()?;
        outcome?
    } else {
        let config = Config {
            passes: &Pass::ALL,
            ..config
        };
        let launch = kernel.prepare(range, arguments, &config)?;
        let launched = Launched::new(kernel, launch.objects(), launch.program());
        let ran = with_bar(range.group_count(), config, |config| launch.run(config));
        ran.map_err(|error| launched.failed(error))?
    };
    let complete = outcome.end.is_complete();
    if !complete {
        let (ended, all) = (outcome.groups, range.group_count());
        stop::tell(&format!("{ended} of {all} groups had ended"));
    }
    print(args, kernel, arguments, &outcome)?;
    Ok(Status::of_run(complete, false))
}

/// Everything a launch needs.
struct Program {
    sources: Vec<Source>,
    zeinfo: ZeInfo,
    zebin: Option<Zebin>,
    locals: Vec<LocalVariable>,
    debug: Option<DebugFiles>,
}

/// The program of the files that are named, with its metadata.
fn program(args: &Args) -> Result<Program, Failure> {
    let given = args
        .launching
        .zebin
        .as_ref()
        .or(args.launching.zeinfo.as_ref());
    let mut metadata = given.map(|path| metadata(path)).transpose()?;
    let mut sources = Vec::new();
    let mut locals = Vec::new();
    let mut debug = None;
    for path in &args.files {
        match sources::open(path, args.reading)? {
            Opened::Dump(dumped) => {
                let kernel = dumped.dump.kernel(args.routine.as_deref())?;
                sources.extend(kernel.sources);
                locals.extend(kernel.locals);
                debug = debug.or(kernel.debug);
                if metadata.is_none() {
                    let found = kernel.metadata;
                    metadata = Some(found.ok_or_else(|| no_metadata(path, &kernel.name))?);
                }
            }
            Opened::Program(input) => {
                if let (Some(zebin), None) = (input.zebin, &metadata) {
                    metadata = Some(Metadata::of(path.clone(), zebin)?);
                }
                sources.extend(input.sources);
            }
        }
    }
    if let (true, Some(path)) = (args.files.is_empty(), &args.launching.zebin) {
        sources = args.reading.open(path)?.sources;
    }
    // A zebin has a text for each kernel.
    let sources = texts_of_kernel(&sources, args.routine.as_deref()).to_vec();
    if let (None, Some(file)) = (&metadata, args.files.first()) {
        metadata = beside(file)?;
    }
    let Some(metadata) = metadata else {
        // What is no program has a fault of another kind.
        args.object(&sources, None)?;
        return Err(Failure::Other(
            "launching needs metadata: give --zeinfo or --zebin; media kernels (--media) and bare routines (--bare) need none"
                .to_owned(),
        ));
    };
    Ok(Program {
        sources,
        zeinfo: metadata.zeinfo,
        zebin: metadata.zebin,
        locals,
        debug,
    })
}

/// The metadata beside a text or an object, as compilers name them: `k.zeinfo` or `k.zebin` of `k.visaasm`.
fn beside(file: &Path) -> Result<Option<Metadata>, Failure> {
    let paths = ["zeinfo", "zebin"].map(|extension| file.with_extension(extension));
    let mut found = paths.iter().filter(|path| *path != file && path.is_file());
    let Some(path) = found.next() else {
        return Ok(None);
    };
    render::note(&format!("{}: taken as its metadata", input::name(path)));
    metadata(path).map(Some)
}

/// The text of the metadata that the arguments name.
pub(crate) fn zeinfo_text(args: &Args) -> Result<String, Failure> {
    let given = args
        .launching
        .zebin
        .as_ref()
        .or(args.launching.zeinfo.as_ref());
    if let Some(given) = given {
        return text_of(metadata(given)?);
    }
    let missing = || Failure::Other("there is no metadata: give --zeinfo or --zebin".to_owned());
    let path = args.files.first().ok_or_else(missing)?;
    match sources::open(path, args.reading)? {
        Opened::Dump(dumped) => {
            let kernel = dumped.dump.kernel(args.routine.as_deref())?;
            text_of(kernel.metadata.ok_or_else(missing)?)
        }
        Opened::Program(input) => Ok(input.zebin.ok_or_else(missing)?.zeinfo),
    }
}

fn text_of(metadata: Metadata) -> Result<String, Failure> {
    Ok(match metadata.zebin {
        Some(zebin) => zebin.zeinfo,
        None => {
            let text = visakit_files::read(&metadata.path, u64::MAX)?;
            String::from_utf8_lossy(&text).into_owned()
        }
    })
}

fn metadata(path: &Path) -> Result<Metadata, Failure> {
    Ok(Metadata::open(path)?)
}

/// What a folder of dumps lacks to launch its kernels.
fn no_metadata(folder: &Path, kernel: &str) -> Failure {
    let (name, kernel) = (input::name(folder), output::printable(kernel.as_bytes()));
    render::failure_with_help(
        &format!(
            "{name}: no metadata of kernel {kernel} in this folder: neither a zebin nor a zeinfo"
        ),
        "older compilers write a zebin if IGC_EnableZEBinary=1 is set as well where they dump; or give --zebin or --zeinfo",
    );
    Failure::Told(Status::Unusable)
}

fn print(
    args: &Args,
    kernel: &Kernel<'_>,
    arguments: &[Argument],
    outcome: &Outcome,
) -> Result<(), Failure> {
    let list: Vec<_> = arguments
        .iter()
        .enumerate()
        .filter_map(|(number, argument)| {
            let bytes = outcome.memory(number)?;
            let before = match argument {
                Argument::Buffer(bytes) => bytes,
                Argument::Image(image) => &image.bytes,
                _ => return None,
            };
            let info = kernel
                .args_info()
                .iter()
                .find(|a| usize::try_from(a.index) == Ok(number));
            let name = info.map_or_else(String::new, |a| format!(" {}", a.name));
            Some(Buffer {
                number,
                name: format!("argument {number}{name}"),
                ty: info.and_then(ArgInfo::element),
                bytes,
                changed: bytes != before,
            })
        })
        .collect();
    let stats = Stats {
        counters: outcome.counters,
        time: outcome.time,
        translation: Some((outcome.translated, outcome.translation)),
        compiled: Some(outcome.compiled),
    };
    if args.reading.json {
        let mut all =
            json!({ "groups": outcome.groups, "buffers": show::buffers_json(args, &list)? });
        if !outcome.printf.is_empty()
            && let Some(all) = all.as_object_mut()
        {
            let text = String::from_utf8_lossy(&outcome.printed);
            all.insert("printf".to_owned(), text.into());
        }
        show::stopped(&mut all, !outcome.end.is_complete());
        if args.stats
            && let Some(all) = all.as_object_mut()
        {
            all.insert("statistics".to_owned(), stats.json());
        }
        return output::json(&all);
    }
    let mut out = stdout();
    if args.printf {
        out.write_all(&outcome.printed)?;
        return Ok(out.flush()?);
    }
    if !outcome.printf.is_empty() {
        writeln!(out, "{}", heading("printf"))?;
        for line in outcome.printed.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            writeln!(out, "{}", output::printable(line))?;
        }
    }
    show::buffers(args, &mut out, &list)?;
    let is_silent = args.show.is_empty() && args.out.is_empty() && outcome.printf.is_empty();
    if is_silent && !list.is_empty() && !list.iter().any(|buffer| buffer.changed) {
        render::note(
            "no buffer changed; --show N:TYPE prints one, `visakit check` looks for what is wrong",
        );
    }
    if args.stats {
        stats.print(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
