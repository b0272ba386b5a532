//! Control flow as boxes and lines, placed by the libraries.

use crate::Answer;
use crate::file::File;
use petgraph::visit::EdgeRef;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use visakit::rewrite::graph::{Cfg, LINE, PAD, Style};

/// The lines of a folded box: what it begins with, without operands, and how much there is.
fn fold(lines: &mut Vec<String>) {
    let all = lines.len();
    let Some(first) = lines.first_mut().filter(|_| all > 2) else {
        return;
    };
    // Execution sizes and operands follow a bracket.
    if let Some(end) = first.find(" (").filter(|end| *end > 0) {
        first.truncate(end);
    }
    lines.truncate(1);
    lines.push(format!("… {} more", all - 1));
}

/// The blocks of a routine, laid out. Those of `folded`, by number, show what they begin with.
pub(crate) fn flow(file: &File, routine: usize, folded: &BTreeSet<usize>) -> Answer {
    let id = file.id(routine)?;
    let body = file.object.routine(id).and_then(|r| r.body());
    let Some(body) = body else {
        return Err("the routine could not be decoded".to_owned());
    };
    let cfg = Cfg::of(body);
    let mut picture = cfg.picture(&file.object, id);
    for (number, node) in picture.graph.node_weights_mut().enumerate() {
        if folded.contains(&number) {
            fold(&mut node.lines);
        }
    }
    let layout = picture.place().layout;
    let blocks = cfg.graph.node_weights().zip(picture.graph.node_weights());
    let blocks = blocks.zip(&layout.boxes).enumerate();
    let blocks = blocks.map(|(number, ((block, node), at))| {
        json!({
            "x": at.x, "y": at.y, "width": at.width, "height": at.height,
            "lines": node.shown().collect::<Vec<_>>(),
            "from": block.code.start, "to": block.code.end,
            "folded": folded.contains(&number),
            "missing": block.missing.is_some(),
        })
    });
    let blocks: Vec<Json> = blocks.collect();
    let edges = picture.graph.edge_references().zip(&layout.routes);
    let edges = edges.map(|(edge, route)| {
        let points: Vec<[i64; 2]> = route.points.iter().map(|p| [p.x, p.y]).collect();
        json!({
            "from": edge.source().index(), "to": edge.target().index(), "points": points,
            "text": edge.weight().text,
            "label": route.label.map(|at| [at.x, at.bottom()]),
            "style": match edge.weight().style {
                Style::Uniform => "uniform",
                Style::Divergent => "divergent",
                Style::Call | Style::Address => "call",
            },
        })
    });
    let edges: Vec<Json> = edges.collect();
    Ok(json!({
        "blocks": blocks, "edges": edges,
        "width": layout.size.width, "height": layout.size.height,
        "line": LINE, "pad": PAD,
    }))
}
