//! `visakit run --media`.

use super::show::{self, Buffer, Stats};
use super::trace::Trace;
use super::{Args, stop, with_bar};
use crate::Status;
use crate::output::{self, Failure, stdout};
use serde_json::json;
use std::io::Write;
use visakit::isa::object::Object;
use visakit_check::{Checks, Report};
use visakit_launch::{Config, Media, MediaOutcome, MediaSurface, Target, Tracer, find_kernel};
use visakit_profile::{KernelCode, KernelProfile, Watched};

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    prepare(args, false, |object, mut media, grf_bytes, surfaces| {
        if let Some(compile) = args.config().compile.filter(|_| !args.trace) {
            media.compile(&compile);
        }
        start(args, object, &media, grf_bytes, surfaces)
    })
}

/// Runs the kernel under checks.
pub(super) fn check(args: &Args, checks: Checks) -> Result<Report<Vec<u8>>, Failure> {
    prepare(args, false, |object, mut media, _, _| {
        let report = with_bar(media.group_count()?, args.config(), |config| {
            visakit_check::check_media(object, &mut media, config, checks)
        })?;
        Ok(report.map(|_| Vec::new()))
    })
}

/// Runs the kernel and counts what its instructions do.
pub(super) fn profile(args: &Args, watched: Watched) -> Result<KernelProfile, Failure> {
    prepare(args, true, |object, media, _, _| {
        let code = KernelCode::new(object, media.program(), args.platform());
        let (profile, _) = with_bar(media.group_count()?, args.config(), |config| {
            visakit_profile::run_media(&code, &media, config, watched)
        })?;
        Ok(profile)
    })
}

/// Passes on the kernel that the arguments name, with its surfaces and inputs, and the surfaces as given. `counting`:
/// translated with counters.
pub(super) fn prepare<R>(
    args: &Args,
    counting: bool,
    run: impl FnOnce(&Object<'_>, Media, u32, &[(Target, MediaSurface)]) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let limit = args.config().max_memory;
    let surfaces = args
        .surface
        .iter()
        .map(|s| Ok((s.target, s.surface(limit)?)));
    let surfaces = surfaces
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::Other)?;
    let sources = args.sources()?;
    let (object, grf_bytes) = args.object(&sources, None)?;
    let (id, _) = find_kernel(&object, args.routine.as_deref())?;
    let config = Config {
        count: counting,
        ..args.config()
    };
    let mut media = Media::new(&object, id, grf_bytes, &config)?;
    for (target, surface) in &surfaces {
        media.surface(*target, surface)?;
    }
    for input in &args.input {
        media.input(input.number, &input.text)?;
    }
    media.space = args.media.unwrap_or([1, 1]);
    media.group = args.group;
    media.set_exact(args.exact_ends);
    media.set_lenient(args.drop_outside);
    media.dependency = args.dependency.unwrap_or_default();
    run(&object, media, grf_bytes, &surfaces)
}

fn start(
    args: &Args,
    object: &Object<'_>,
    media: &Media,
    grf_bytes: u32,
    surfaces: &[(Target, MediaSurface)],
) -> Result<Status, Failure> {
    let config = args.config();
    let outcome = if args.trace {
        let tracer = Tracer::new(object, grf_bytes, media.program());
        let mut trace = Trace::new(tracer);
        let outcome = media.run_observed(&config, &mut trace);
        trace.end()?;
        outcome?
    } else {
        with_bar(media.group_count()?, config, |config| media.run(config))?
    };
    let complete = outcome.end.is_complete();
    if !complete {
        let [width, height] = media.space.map(u64::from);
        let (ended, all) = (outcome.threads, width * height);
        stop::tell(&format!("{ended} of {all} threads had ended"));
    }
    print(args, surfaces, &outcome)?;
    Ok(Status::of_run(complete, false))
}

fn print(
    args: &Args,
    surfaces: &[(Target, MediaSurface)],
    outcome: &MediaOutcome,
) -> Result<(), Failure> {
    let list: Vec<_> = outcome
        .surfaces()
        .zip(surfaces)
        .map(|((target, bytes), (_, before))| {
            let (number, name) = match target {
                Target::Input(number) => (number, format!("input {number}")),
                Target::Entry(entry) => (entry.into(), format!("entry {entry}")),
            };
            Buffer {
                number,
                name,
                ty: Some(visakit::isa::DataType::Ub),
                bytes,
                changed: bytes != before.bytes,
            }
        })
        .collect();
    let stats = Stats {
        counters: outcome.counters,
        time: outcome.time,
        translation: None,
        compiled: Some(outcome.compiled),
    };
    if args.reading.json {
        let mut all =
            json!({ "threads": outcome.threads, "surfaces": show::buffers_json(args, &list)? });
        show::stopped(&mut all, !outcome.end.is_complete());
        if args.stats
            && let Some(all) = all.as_object_mut()
        {
            all.insert("statistics".to_owned(), stats.json());
        }
        return output::json(&all);
    }
    let mut out = stdout();
    show::buffers(args, &mut out, &list)?;
    if args.stats {
        stats.print(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
