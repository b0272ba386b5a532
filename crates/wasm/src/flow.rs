//! Control flow as boxes and lines.

use crate::Answer;
use crate::file::File;
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;
use rust_sugiyama::configure::Config;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use visakit::rewrite::graph::{Cfg, EdgeKind, Picture, Style};

const CHARACTER: f64 = 6.1;
const LINE: f64 = 13.0;
const PAD: f64 = 8.0;
const GAP: f64 = 36.0;
/// Longer lines are cut.
const WIDEST: usize = 100;
/// A box that is folded shows so many lines.
const FOLDED: usize = 2;
/// Larger graphs are drawn as one column: the work of the layout grows faster than the graph.
const LARGEST: usize = 1500;

#[derive(Clone, Copy, Default)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// The blocks of a routine, laid out. Those of `folded`, by number, show their first lines only.
pub(crate) fn flow(file: &File, routine: usize, folded: &BTreeSet<usize>) -> Answer {
    let id = file.id(routine)?;
    let body = file.object.routine(id).and_then(|r| r.body());
    let Some(body) = body else {
        return Err("the routine could not be decoded".to_owned());
    };
    let cfg = Cfg::of(body);
    let mut picture = cfg.picture(&file.object, id);
    for (number, node) in picture.graph.node_weights_mut().enumerate() {
        let all = node.lines.len();
        if folded.contains(&number) && all > FOLDED + 1 {
            node.lines.truncate(FOLDED);
            node.lines.push(format!("… {} more", all - FOLDED));
        }
        for line in &mut node.lines {
            if line.chars().count() > WIDEST {
                *line = line.chars().take(WIDEST - 1).chain(['…']).collect();
            }
        }
    }
    let frames = layout(&picture);
    let blocks = cfg.graph.node_weights().zip(picture.graph.node_weights());
    let blocks = blocks.zip(&frames).enumerate();
    let blocks = blocks.map(|(number, ((block, node), frame))| {
        json!({
            "x": frame.x, "y": frame.y, "width": frame.width, "height": frame.height,
            "lines": node.lines,
            "from": block.code.start, "to": block.code.end,
            "folded": folded.contains(&number),
            "missing": block.missing.is_some(),
        })
    });
    let blocks: Vec<Json> = blocks.collect();
    let edges = picture.graph.edge_references().filter_map(|edge| {
        let (from, to) = (edge.source().index(), edge.target().index());
        let points = route(frames.get(from)?, frames.get(to)?);
        let kind = cfg.graph.edge_weight(edge.id()).map(|e| match e.kind {
            EdgeKind::Next => "next",
            EdgeKind::Jump => "jump",
            EdgeKind::Case(_) => "case",
            EdgeKind::Call => "call",
        });
        Some(json!({
            "from": from, "to": to, "points": points, "kind": kind,
            "text": edge.weight().text,
            "style": match edge.weight().style {
                Style::Uniform => "uniform",
                Style::Divergent => "divergent",
                Style::Call | Style::Address => "call",
            },
        }))
    });
    let edges: Vec<Json> = edges.collect();
    let right = frames.iter().map(|f| f.x + f.width).fold(0.0, f64::max);
    let bottom = frames.iter().map(|f| f.y + f.height).fold(0.0, f64::max);
    Ok(json!({
        "blocks": blocks, "edges": edges,
        "width": right + 3.0 * GAP, "height": bottom + GAP,
        "line": LINE, "pad": PAD,
    }))
}

/// The corners of the curve of an edge: from the bottom of a box to the top of a later one, or around the right side.
fn route(from: &Frame, to: &Frame) -> Vec<[f64; 2]> {
    let (x1, y1) = (from.x + from.width / 2.0, from.y + from.height);
    let (x2, y2) = (to.x + to.width / 2.0, to.y);
    if y2 > y1 {
        let middle = f64::midpoint(y1, y2);
        return vec![[x1, y1], [x1, middle], [x2, middle], [x2, y2]];
    }
    let (x1, y1) = (from.x + from.width, from.y + from.height / 2.0);
    let (x2, y2) = (to.x + to.width, to.y + to.height / 2.0);
    let side = x1.max(x2) + 2.0 * GAP;
    vec![[x1, y1], [side, y1], [side, y2], [x2, y2]]
}

#[allow(clippy::cast_precision_loss, reason = "sizes of pictures")]
fn size(count: usize, unit: f64) -> f64 {
    count as f64 * unit + 2.0 * PAD
}

/// Where the boxes of a picture are, in the order of its nodes, beginning at `GAP`.
fn layout(picture: &Picture) -> Vec<Frame> {
    let frame = |node: &visakit::rewrite::graph::Node| {
        let longest = node.lines.iter().map(|l| l.chars().count()).max();
        Frame {
            width: size(longest.unwrap_or(0), CHARACTER),
            height: size(node.lines.len().max(1), LINE),
            ..Frame::default()
        }
    };
    let mut frames: Vec<Frame> = picture.graph.node_weights().map(frame).collect();
    if frames.len() > LARGEST {
        let mut y = GAP;
        for frame in &mut frames {
            (frame.x, frame.y) = (GAP, y);
            y += frame.height + GAP;
        }
        return frames;
    }
    // The layout takes graphs without cycles and without copies of edges only: every edge points forwards.
    let mut graph = StableDiGraph::<(f64, f64), ()>::new();
    for frame in &frames {
        graph.add_node((frame.width, frame.height));
    }
    let mut seen = BTreeSet::new();
    for edge in picture.graph.edge_references() {
        let (from, to) = (edge.source().index(), edge.target().index());
        let pair = (from.min(to), from.max(to));
        if from != to && seen.insert(pair) {
            graph.add_edge(NodeIndex::new(pair.0), NodeIndex::new(pair.1), ());
        }
    }
    let config = Config {
        vertex_spacing: GAP,
        ..Config::default()
    };
    let mut left = GAP;
    for (part, _, _) in rust_sugiyama::from_graph(&graph, &|_, size| *size, &config) {
        let mut begin = (f64::INFINITY, f64::INFINITY);
        for (node, (x, y)) in &part {
            if let Some(frame) = frames.get(node.index()) {
                begin.0 = begin.0.min(x - frame.width / 2.0);
                begin.1 = begin.1.min(y - frame.height / 2.0);
            }
        }
        let mut end = left;
        for (node, (x, y)) in part {
            if let Some(frame) = frames.get_mut(node.index()) {
                frame.x = x - frame.width / 2.0 - begin.0 + left;
                frame.y = y - frame.height / 2.0 - begin.1 + GAP;
                end = end.max(frame.x + frame.width);
            }
        }
        left = end + 2.0 * GAP;
    }
    frames
}
