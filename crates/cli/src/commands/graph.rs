//! `visakit cfg` and `visakit callgraph`: graphs for Graphviz, or as SVG.

use super::picture::Look;
use crate::output::{self, Failure};
use crate::reading::{Reading, routine};
use crate::{Status, input, render};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::PathBuf;
use visakit::isa::object::Object;
use visakit::rewrite::extract;
use visakit::rewrite::graph::{CallGraph, Cfg, Picture};

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
            Some(name) => Some(routine(&args.drawing.file, object, name)?),
            None => None,
        };
        let routines = object
            .routines()
            .filter(|(id, _)| one.is_none_or(|one| one == *id));
        let bodies = routines.filter_map(|(id, r)| r.body().map(|body| (id, body)));
        let drawn = bodies.map(|(id, body)| {
            let flow = Cfg::of(body);
            let blocks = flow.graph.node_weights().map(|block| block.code.clone());
            (flow.picture(object, id), blocks.collect())
        });
        Ok(drawn.collect())
    })
}

pub(crate) fn calls(args: &Calls) -> Result<Status, Failure> {
    draw(&args.drawing, |object| {
        let mut object = object.clone();
        if let Some(name) = &args.routine {
            let file = &args.drawing.file;
            let root = routine(file, &object, name)?;
            extract(&mut object, &[root])
                .map_err(|e| Failure::Other(format!("{}: {e}", input::name(file))))?;
        }
        Ok(vec![(CallGraph::of(&object).picture(&object), Vec::new())])
    })
}

/// A graph as data.
fn data(picture: &Picture, blocks: &[Range<usize>]) -> Value {
    let graph = &picture.graph;
    let nodes = graph.node_weights().enumerate().map(|(number, node)| {
        let mut value = json!({ "lines": node.lines });
        if let (Some(code), Some(members)) = (blocks.get(number), value.as_object_mut()) {
            members.insert("first".to_owned(), code.start.into());
            members.insert("end".to_owned(), code.end.into());
        }
        value
    });
    let edges = graph.edge_indices().filter_map(|edge| {
        let (from, to) = graph.edge_endpoints(edge)?;
        let arrow = graph.edge_weight(edge)?;
        let (from, to) = (from.index(), to.index());
        Some(json!({ "from": from, "to": to, "text": arrow.text, "style": arrow.style.name() }))
    });
    json!({
        "title": picture.title,
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

/// A picture, and the instructions of its boxes if they are blocks.
type Drawn = (Picture, Vec<Range<usize>>);

fn draw(
    args: &Drawing,
    drawn: impl FnOnce(&Object<'_>) -> Result<Vec<Drawn>, Failure>,
) -> Result<Status, Failure> {
    args.look.check(args.output.as_deref())?;
    let input = args.reading.open(&args.file)?;
    let object = args.reading.object(&input)?.object;
    let drawn = drawn(&object)?;
    let graphs: Vec<_> = drawn
        .iter()
        .map(|(picture, code)| data(picture, code))
        .collect();
    let pictures = args
        .look
        .of(drawn.into_iter().map(|(picture, _)| picture).collect());
    if let Some(done) = args.look.folder(&pictures) {
        return done;
    }
    let text = args.look.text(args.output.as_deref(), &pictures);
    if output::is_json() && output::is_stdout(args.output.as_deref()) {
        output::json(&json!({ "text": text, "graphs": graphs }))?;
    } else {
        output::text(args.output.as_deref(), text.as_bytes())?;
    }
    if pictures.is_empty() {
        render::note("nothing could be decoded");
        return Ok(Status::Findings);
    }
    Ok(Status::Clean)
}
