//! `visakit run` of OpenCL kernels.

use super::show::{self, Buffer, Stats};
use super::trace::Trace;
use super::{Args, report, stop};
use crate::Status;
use crate::commands::roundtrip::progress;
use crate::output::{self, Failure, heading, stdout};
use serde_json::json;
use std::io::Write;
use visakit::isa::DataType;
use visakit_launch::{
    Argument, Config, Kernel, LaunchError, NdRange, Outcome, Source, ZeInfo, Zebin, find_kernel,
    value,
};

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let arguments = args.args.iter().map(super::spec::ArgSpec::argument);
    let arguments = arguments
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::Other)?;
    let mut sources = Vec::new();
    match launch(args, &arguments, &mut sources) {
        Ok(done) => done,
        Err(error) => Ok(report(&error, &sources)),
    }
}

/// Two ways to fail: the launch, and the output.
type Done = Result<Result<Status, Failure>, LaunchError>;

fn launch(args: &Args, arguments: &[Argument], kept: &mut Vec<Source>) -> Done {
    let read = |path: &std::path::Path| {
        std::fs::read(path).map_err(|source| LaunchError::Read {
            path: path.to_owned(),
            source,
        })
    };
    let zebin = match &args.zebin {
        Some(path) => Some(Zebin::parse(&read(path)?)?),
        None => None,
    };
    let zeinfo = match (&zebin, &args.zeinfo) {
        (Some(zebin), _) => ZeInfo::parse(&zebin.zeinfo)?,
        (None, Some(path)) => ZeInfo::parse(&String::from_utf8_lossy(&read(path)?))?,
        (None, None) => {
            return Err(LaunchError::Mismatch(
                "launching needs metadata: give --zeinfo or --zebin, or run with --media or --bare"
                    .to_owned(),
            ));
        }
    };
    *kept = args.sources()?;
    if let (true, Some(zebin)) = (kept.is_empty(), &zebin) {
        *kept = embedded(args, zebin)?;
    }
    let known = zebin.as_ref().and_then(|z| z.grf_bytes);
    let (object, grf_bytes) = args.object(kept, known)?;
    let (_, routine) = find_kernel(&object, args.kernel.as_deref())?;
    let name = routine.display_name();
    let mut kernel = Kernel::new(&object, &name, &zeinfo)?;
    kernel.grf_bytes = grf_bytes;
    if let Some(zebin) = zebin {
        kernel.data = zebin.data;
        kernel.symbols = zebin.symbols;
    }
    if args.global.is_empty() {
        return Err(LaunchError::Grid(
            "--global is missing: how many work-items?".to_owned(),
        ));
    }
    let range = NdRange::new(&args.global, &local(args, &kernel), &args.offset)?;
    let config = args.config();
    let outcome = if args.trace {
        let mut trace = Trace::new(&object, grf_bytes);
        let launch = kernel.prepare(&range, arguments, &config)?;
        trace.know(launch.program());
        let outcome = launch.run_observed(&config, &mut trace);
        if let Err(failure) = trace.end() {
            return Ok(Err(failure));
        }
        outcome?
    } else {
        let bar = progress(usize::try_from(range.group_count()).unwrap_or(usize::MAX));
        let count = |groups| bar.inc(groups);
        let config = Config {
            progress: Some(&count),
            ..config
        };
        let outcome = kernel.run(&range, arguments, &config);
        bar.finish_and_clear();
        outcome?
    };
    let mut status = Status::Clean;
    if outcome.stopped {
        let (ended, all) = (outcome.groups, range.group_count());
        stop::tell(&format!("{ended} of {all} groups had ended"));
        status = Status::Findings;
    }
    Ok(print(args, &kernel, arguments, &outcome).map(|()| status))
}

/// The vISA text in a zebin, if it was built to carry it.
fn embedded(args: &Args, zebin: &Zebin) -> Result<Vec<Source>, LaunchError> {
    let path = args.zebin.clone().unwrap_or_default();
    if zebin.texts.is_empty() {
        return Err(LaunchError::Zebin(
            "it holds native code only, no vISA text; give the .isa or .visaasm of the same compilation as well \
             (docs/running.md tells how to get it)"
                .to_owned(),
        ));
    }
    let texts = zebin.texts.iter();
    let wanted = texts.filter(|(module, _)| {
        args.kernel
            .as_ref()
            .is_none_or(|k| module == k || module.is_empty())
    });
    let sources: Vec<_> = wanted
        .map(|(_, text)| Source {
            path: path.clone(),
            bytes: text.clone(),
        })
        .collect();
    Ok(sources)
}

/// The size of groups: as told, as the kernel requires, or one that does.
fn local(args: &Args, kernel: &Kernel<'_>) -> Vec<u32> {
    if !args.local.is_empty() {
        return args.local.clone();
    }
    let required = &kernel.info().execution_env.required_work_group_size;
    if required.iter().any(|&n| n > 0) {
        return required.clone();
    }
    NdRange::default_local(&args.global)
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
                ty: info.and_then(|a| element(&a.type_name)),
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
    if args.json {
        let mut all =
            json!({ "groups": outcome.groups, "buffers": show::buffers_json(args, &list)? });
        show::stopped(&mut all, outcome.stopped);
        if args.stats
            && let Some(all) = all.as_object_mut()
        {
            all.insert("statistics".to_owned(), stats.json());
        }
        return output::json(&all);
    }
    let mut out = stdout();
    if !outcome.printf.is_empty() {
        writeln!(
            out,
            "{} ({} bytes, undecoded)",
            heading("printf"),
            outcome.printf.len()
        )?;
    }
    show::buffers(args, &mut out, &list)?;
    if args.stats {
        stats.print(&mut out)?;
    }
    out.flush()?;
    Ok(())
}

/// Type of the elements that a parameter points at, `float4*;8` for instance.
fn element(type_name: &str) -> Option<DataType> {
    let name = type_name.split(';').next()?.trim_end_matches('*');
    value::type_of(name.trim_end_matches(|c: char| c.is_ascii_digit()))
}
