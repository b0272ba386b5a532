//! `visakit cfg` and `visakit callgraph`: graphs for Graphviz, or as SVG.

use super::picture::Look;
use crate::output::{self, Failure};
use crate::reading::Reading;
use crate::{Status, input, render};
use std::path::PathBuf;
use visakit::isa::object::Object;
use visakit::rewrite::graph::{CallGraph, Cfg, Picture};
use visakit::rewrite::{extract, find_routine};

#[derive(clap::Args)]
pub(crate) struct Drawing {
    /// The object or text, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    look: Look,
    /// Where the graph goes to; a name that ends with .svg asks for an image. [default: standard
    /// output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(clap::Args)]
pub(crate) struct Flow {
    #[command(flatten)]
    drawing: Drawing,
    /// Only this routine, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Calls {
    #[command(flatten)]
    drawing: Drawing,
    /// Only this routine and what it calls, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
}

pub(crate) fn flow(args: &Flow) -> Result<Status, Failure> {
    draw(&args.drawing, |object| {
        let one = match &args.routine {
            Some(name) => Some(find_routine(object, name).map_err(|e| e.to_string())?),
            None => None,
        };
        let routines = object
            .routines()
            .filter(|(id, _)| one.is_none_or(|one| one == *id));
        let bodies = routines.filter_map(|(id, r)| r.body().map(|body| (id, body)));
        Ok(bodies
            .map(|(id, body)| Cfg::of(body).picture(object, id))
            .collect())
    })
}

pub(crate) fn calls(args: &Calls) -> Result<Status, Failure> {
    draw(&args.drawing, |object| {
        let mut object = object.clone();
        if let Some(name) = &args.routine {
            let root = find_routine(&object, name).map_err(|e| e.to_string())?;
            extract(&mut object, &[root]).map_err(|e| e.to_string())?;
        }
        Ok(vec![CallGraph::of(&object).picture(&object)])
    })
}

fn draw(
    args: &Drawing,
    pictures: impl FnOnce(&Object<'_>) -> Result<Vec<Picture>, String>,
) -> Result<Status, Failure> {
    args.look.check(args.output.as_deref())?;
    let input = args.reading.open(&args.file)?;
    let object = args.reading.object(&input)?.object;
    let pictures = pictures(&object)
        .map_err(|error| Failure::Other(format!("{}: {error}", input::name(&args.file))))?;
    let pictures = args.look.of(pictures);
    if let Some(done) = args.look.folder(&pictures) {
        return done;
    }
    let text = args.look.text(args.output.as_deref(), &pictures);
    output::text(args.output.as_deref(), text.as_bytes())?;
    if pictures.is_empty() {
        render::note("nothing could be decoded");
        return Ok(Status::Findings);
    }
    Ok(Status::Clean)
}
