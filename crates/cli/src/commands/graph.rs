//! `visakit cfg` and `visakit callgraph`: graphs for Graphviz, or as SVG.

use super::{Reading, change};
use crate::output::{Failure, stdout};
use crate::{Status, input, render};
use std::io::Write;
use std::path::PathBuf;
use visakit::isa::object::Object;
use visakit::rewrite::find_routine;
use visakit::rewrite::graph::{CallGraph, Cfg, Picture, dot, svg};

#[derive(clap::Args)]
pub(crate) struct Drawing {
    /// The object, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write an SVG image instead of Graphviz text.
    #[arg(long)]
    svg: bool,
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

pub(crate) fn calls(args: &Drawing) -> Result<Status, Failure> {
    draw(args, |object| {
        Ok(vec![CallGraph::of(object).picture(object)])
    })
}

fn draw(
    args: &Drawing,
    pictures: impl FnOnce(&Object<'_>) -> Result<Vec<Picture>, String>,
) -> Result<Status, Failure> {
    let bytes = input::read(&args.file).map_err(Failure::Other)?;
    let Some(object) = change::decode(&args.file, &bytes, args.reading) else {
        return Ok(Status::Unusable);
    };
    let pictures = pictures(&object)
        .map_err(|error| Failure::Other(format!("{}: {error}", input::name(&args.file))))?;
    let image = args.svg
        || args
            .output
            .as_ref()
            .is_some_and(|o| o.extension() == Some("svg".as_ref()));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match image {
        true => svg(&mut text, &pictures),
        false => dot(&mut text, &pictures),
    };
    match &args.output {
        Some(path) if path.as_os_str() != "-" => std::fs::write(path, text)
            .map_err(|error| Failure::Other(format!("{}: {error}", input::name(path))))?,
        _ => {
            let mut out = stdout();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    if pictures.is_empty() {
        render::note("nothing could be decoded");
        return Ok(Status::Findings);
    }
    Ok(Status::Clean)
}
