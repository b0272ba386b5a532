//! `visakit run --bare`.

use super::show::{self, Stats};
use super::trace::Trace;
use super::{Args, stop};
use crate::Status;
use crate::output::{self, Failure, heading, stdout};
use serde_json::{Map, json};
use std::io::Write;
use std::time::Instant;
use visakit::isa::object::Object;
use visakit_check::{Checks, Report};
use visakit_launch::{Bare, BareOutcome, Config, LaunchError, Shown, Tracer, find_kernel, value};
use visakit_profile::{KernelCode, KernelProfile};

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    prepare(args, false, |object, bare, grf_bytes| {
        start(args, object, bare, grf_bytes)
    })?
}

/// Runs the routine under checks.
pub(super) fn check(args: &Args, checks: Checks) -> Result<Report<Vec<u8>>, Failure> {
    let report = prepare(args, false, |object, bare, _| {
        visakit_check::check_bare(object, bare, checks)
    })??;
    Ok(report.map(|_| Vec::new()))
}

/// Runs the routine and counts what its instructions do.
pub(super) fn profile(args: &Args) -> Result<KernelProfile, Failure> {
    let profile = prepare(args, true, |object, bare, _| {
        let code = KernelCode::new(object, bare.program(), args.platform());
        visakit_profile::run_bare(&code, &bare)
    })?;
    Ok(profile?)
}

/// Passes on the routine that the arguments name, with its variables set. `counting`: translated with counters.
pub(super) fn prepare<R>(
    args: &Args,
    counting: bool,
    run: impl FnOnce(&Object<'_>, Bare, u32) -> R,
) -> Result<R, Failure> {
    let sources = args.sources()?;
    let (object, grf_bytes) = args.object(&sources, None)?;
    let (id, _) = find_kernel(&object, args.routine.as_deref())?;
    let config = Config {
        count: counting,
        ..args.config()
    };
    let mut bare = Bare::new(&object, id, grf_bytes, &config)?;
    bare.set_lenient(args.drop_outside);
    for set in &args.set {
        bare.set(&set.name, &set.text)?;
    }
    Ok(run(&object, bare, grf_bytes))
}

fn start(
    args: &Args,
    object: &Object<'_>,
    mut bare: Bare,
    grf_bytes: u32,
) -> Result<Status, Failure> {
    if let Some(compile) = args.config().compile.filter(|_| !args.trace) {
        bare.compile(&compile);
    }
    let started = Instant::now();
    let outcome = if args.trace {
        let tracer = Tracer::new(object, grf_bytes, bare.program());
        let mut trace = Trace::new(tracer);
        let outcome = bare.run(&mut trace);
        trace.end()?;
        outcome?
    } else {
        bare.run(&mut ())?
    };
    let stats = Stats {
        counters: outcome.counters,
        time: started.elapsed(),
        translation: None,
        compiled: Some(outcome.is_compiled()),
    };
    let shown = chosen(args, &outcome)?;
    let complete = outcome.end.is_complete();
    if !complete {
        stop::tell("the thread had not ended");
    }
    print(args, &shown, &stats, !complete)?;
    Ok(Status::of_run(complete, false))
}

fn chosen(args: &Args, outcome: &BareOutcome) -> Result<Vec<Shown>, LaunchError> {
    if args.print.is_empty() {
        let all = outcome.variables();
        return Ok(all.filter(|v| v.bytes.iter().any(|b| *b != 0)).collect());
    }
    args.print
        .iter()
        .map(|name| outcome.variable(name))
        .collect()
}

fn print(args: &Args, shown: &[Shown], stats: &Stats, stopped: bool) -> Result<(), Failure> {
    if args.reading.json {
        let mut variables = Map::new();
        for variable in shown {
            let elements: Vec<_> = value::show(&variable.bytes, variable.data_type)
                .map(|e| show::number(&e))
                .collect();
            let entry = json!({ "type": variable.data_type.name(), "elements": elements });
            variables.insert(variable.name.clone(), entry);
        }
        let mut all = json!({ "variables": variables });
        show::stopped(&mut all, stopped);
        if args.stats
            && let Some(all) = all.as_object_mut()
        {
            all.insert("statistics".to_owned(), stats.json());
        }
        return output::json(&all);
    }
    let mut out = stdout();
    for variable in shown {
        let name = output::printable(variable.name.as_bytes());
        if variable.predicate {
            let bits = value::show(&variable.bytes, variable.data_type).next();
            let bits: u32 = bits.and_then(|b| b.parse().ok()).unwrap_or(0);
            writeln!(out, "{} {bits:#010x}", heading(&format!("{name} (lanes)")))?;
            continue;
        }
        writeln!(
            out,
            "{}",
            heading(&format!("{name} ({})", variable.data_type))
        )?;
        show::rows(&mut out, &variable.bytes, variable.data_type)?;
    }
    if args.stats {
        stats.print(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
