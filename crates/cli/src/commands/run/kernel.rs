//! `visakit run` of OpenCL kernels.

use super::show::{self, Buffer, Stats};
use super::spec::ArgSpec;
use super::trace::Trace;
use super::{Args, stop, with_bar};
use crate::commands::compile;
use crate::output::{self, Failure, heading, stdout};
use crate::reading::open;
use crate::{Status, input};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use visakit_check::{Checks, Report};
use visakit_exec::Pass;
use visakit_launch::{
    ArgInfo, Argument, Config, Dump, Kernel, LocalVariable, Metadata, NdRange, Outcome, Source,
    Tracer, ZeInfo, Zebin, find_kernel,
};
use visakit_profile::{KernelCode, KernelProfile, Watched};

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let arguments = arguments(args)?;
    with_kernel(args, |kernel, range| {
        run_kernel(args, &arguments, kernel, range)
    })
}

/// Runs the kernel under checks.
pub(crate) fn check(args: &Args, checks: Checks) -> Result<Report<Vec<u8>>, Failure> {
    let arguments = arguments(args)?;
    let unset = args.args.iter().enumerate();
    let unset = unset.filter(|(_, spec)| spec.is_uninitialized());
    let unset: Vec<_> = unset.map(|(index, _)| index).collect();
    let config = visakit_check::config(args.config());
    with_kernel(args, |kernel, range| {
        let launch = kernel.prepare(range, &arguments, &config)?;
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
    let arguments = arguments(args)?;
    let config = visakit_profile::config(args.config());
    with_kernel(args, |kernel, range| {
        let launch = kernel.prepare(range, &arguments, &config)?;
        let code = KernelCode::new(kernel.object(), launch.program(), args.platform());
        let (profile, outcome) = with_bar(range.group_count(), config, |config| {
            visakit_profile::run(&code, launch, config, watched)
        })?;
        Ok((profile, outcome.printed))
    })
}

pub(crate) fn arguments(args: &Args) -> Result<Vec<Argument>, Failure> {
    let limit = args.config().max_memory;
    let arguments = args.args.iter().map(|spec| spec.argument(limit));
    arguments.collect::<Result<_, _>>().map_err(Failure::Other)
}

/// Reads the kernel and how it is to be launched.
pub(crate) fn with_kernel<R>(
    args: &Args,
    run: impl FnOnce(&Kernel<'_>, &NdRange) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let Program {
        sources,
        zeinfo,
        zebin,
        locals,
    } = program(args)?;
    let grf_bytes = zebin.as_ref().and_then(|z| z.grf_bytes);
    let (object, grf_bytes) = args.object(&sources, grf_bytes.or_else(|| zeinfo.grf_bytes()))?;
    let (_, routine) = find_kernel(&object, args.routine.as_deref())?;
    let name = routine.display_name();
    let mut kernel = Kernel::new(&object, &name, &zeinfo)?;
    kernel.grf_bytes = grf_bytes;
    kernel.locals = locals;
    if let Some(zebin) = zebin {
        kernel.data = zebin.data;
        kernel.symbols = zebin.symbols;
    }
    for (index, spec) in args.args.iter().enumerate() {
        if let ArgSpec::Typed(ty, _) = spec {
            kernel.check_type(index, *ty)?;
        }
    }
    if args.global.is_empty() {
        return Err(Failure::Other(
            "--global is missing: how many work-items?".to_owned(),
        ));
    }
    let local = match args.local.is_empty() {
        true => kernel.local_size(&args.global),
        false => args.local.clone(),
    };
    let range = NdRange::new(&args.global, &local, &args.offset)?;
    run(&kernel, &range)
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
        with_bar(range.group_count(), config, |config| {
            kernel.run(range, arguments, config)
        })?
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
}

/// The program of the files that are named: texts and objects with their metadata, a zebin that carries text, a folder
/// of dumps, or a source that is compiled first.
fn program(args: &Args) -> Result<Program, Failure> {
    let given = args.zebin.as_ref().or(args.zeinfo.as_ref());
    let mut metadata = given.map(|path| metadata(path)).transpose()?;
    let mut sources = Vec::new();
    let mut locals = Vec::new();
    for path in &args.files {
        if path.is_dir() {
            locals.extend(dumped(args, path, &mut sources, &mut metadata)?);
        } else if compile::is_source(path) {
            let folder =
                compile::to_temporary(path, args.device.as_deref(), args.options.as_deref())?;
            locals.extend(dumped(args, folder.path(), &mut sources, &mut metadata)?);
        } else {
            let input = open(path)?;
            if let (Some(zebin), None) = (input.zebin, &metadata) {
                metadata = Some(Metadata {
                    path: path.clone(),
                    zeinfo: ZeInfo::parse(&zebin.zeinfo)?,
                    zebin: Some(zebin),
                });
            }
            sources.extend(input.sources);
        }
    }
    if let (true, Some(path)) = (args.files.is_empty(), &args.zebin) {
        sources = open(path)?.sources;
    }
    // A zebin has a text for each kernel.
    if let (Some(name), true) = (&args.routine, sources.len() > 1) {
        let module = format!("({name})");
        let of_name = |s: &Source| s.path.to_string_lossy().ends_with(&module);
        if sources.iter().any(of_name) {
            sources.retain(of_name);
        }
    }
    let Some(metadata) = metadata else {
        return Err(Failure::Other(
            "launching needs metadata: give --zeinfo or --zebin, or run with --media or --bare"
                .to_owned(),
        ));
    };
    Ok(Program {
        sources,
        zeinfo: metadata.zeinfo,
        zebin: metadata.zebin,
        locals,
    })
}

/// The text of the metadata that the arguments name.
pub(crate) fn zeinfo_text(args: &Args) -> Result<String, Failure> {
    let given = args.zebin.as_ref().or(args.zeinfo.as_ref());
    let given = given.map(|path| metadata(path)).transpose()?;
    let found = match (given, args.files.first()) {
        (Some(given), _) => Some(given),
        (None, Some(path)) if path.is_dir() => {
            Dump::open(path)?.kernel(args.routine.as_deref())?.metadata
        }
        (None, Some(path)) => match open(path)?.zebin {
            Some(zebin) => return Ok(zebin.zeinfo),
            None => None,
        },
        (None, None) => None,
    };
    match found {
        Some(Metadata {
            zebin: Some(zebin), ..
        }) => Ok(zebin.zeinfo),
        Some(Metadata { path, .. }) => {
            let text = visakit_files::read(&path, u64::MAX)?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        },
        None => Err(Failure::Other(
            "the metadata of a source that is compiled are not kept: compile it with `visakit compile` first".to_owned(),
        )),
    }
}

fn metadata(path: &Path) -> Result<Metadata, Failure> {
    Ok(Metadata::open(path)?)
}

/// The kernel in a folder of dumps; returns its variables in local memory.
fn dumped(
    args: &Args,
    folder: &Path,
    sources: &mut Vec<Source>,
    metadata: &mut Option<Metadata>,
) -> Result<Vec<LocalVariable>, Failure> {
    let kernel = Dump::open(folder)?.kernel(args.routine.as_deref())?;
    sources.extend(kernel.sources);
    if metadata.is_none() {
        let name = input::name(folder);
        *metadata = Some(kernel.metadata.ok_or_else(|| {
            Failure::Other(format!(
                "{name}: no metadata of kernel {} in this folder: neither a zebin nor a zeinfo; give --zebin or --zeinfo",
                output::printable(kernel.name.as_bytes())
            ))
        })?);
    }
    Ok(kernel.locals)
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
    if args.stats {
        stats.print(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
