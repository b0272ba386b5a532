//! SVG, laid out in layers.

use super::{Picture, Style};
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;
use rust_sugiyama::configure::Config;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

const CHAR: f64 = 6.1;
const LINE: f64 = 13.0;
const PAD: f64 = 8.0;
const GAP: f64 = 36.0;
/// Longer lines are cut.
const WIDEST: usize = 160;
/// Larger graphs are drawn as one column: the work of the layout grows faster than the graph.
const LARGEST: usize = 2000;

/// Position and size of a box.
#[derive(Clone, Copy, Default)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn bottom(&self) -> f64 {
        self.y + self.height
    }
    fn right(&self) -> f64 {
        self.x + self.width
    }
}

/// Writes graphs as one SVG image, one below the other.
///
/// # Errors
/// The output could not take the text.
pub fn svg(out: &mut impl Write, pictures: &[Picture]) -> fmt::Result {
    let mut top = GAP;
    let mut width: f64 = 0.0;
    let mut drawn = Vec::new();
    for picture in pictures {
        let mut frames = frames(picture);
        let left = frames.iter().map(|f| f.x).fold(f64::INFINITY, f64::min);
        let upper = frames.iter().map(|f| f.y).fold(f64::INFINITY, f64::min);
        for frame in &mut frames {
            frame.x += GAP - left;
            frame.y += top + GAP - upper;
        }
        let bottom = frames.iter().map(Frame::bottom).fold(top + GAP, f64::max);
        let right = frames.iter().map(Frame::right).fold(0.0, f64::max);
        // Arrows back to earlier blocks pass on the right.
        width = width.max(right + 4.0 * GAP);
        drawn.push((picture, top, frames));
        top = bottom + 2.0 * GAP;
    }
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" \
         viewBox=\"0 0 {width:.0} {top:.0}\">"
    )?;
    out.write_str(STYLE)?;
    for (picture, top, frames) in drawn {
        write!(out, "<text class=\"title\" x=\"{GAP}\" y=\"{top:.0}\">")?;
        escaped(out, &picture.title)?;
        writeln!(out, "</text>")?;
        arrows(out, picture, &frames)?;
        for (node, frame) in picture.graph.node_weights().zip(&frames) {
            let class = if node.outside {
                " class=\"outside\""
            } else {
                ""
            };
            let Frame {
                x,
                y,
                width,
                height,
            } = frame;
            writeln!(
                out,
                "<rect{class} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            )?;
            let (x, mut y) = (x + PAD, y + PAD);
            for line in &node.lines {
                y += LINE;
                write!(out, "<text x=\"{x:.1}\" y=\"{:.1}\">", y - 3.0)?;
                escaped(out, &cut(line))?;
                writeln!(out, "</text>")?;
            }
        }
    }
    writeln!(out, "</svg>")
}

const STYLE: &str = "<style>\
rect{fill:#fff;stroke:#444}rect.outside{stroke-dasharray:4}\
text{font:10px monospace;fill:#111;white-space:pre}text.title{font-size:14px;font-weight:bold}\
path{fill:none;stroke:#444;marker-end:url(#a)}\
path.divergent{stroke:#c22;stroke-dasharray:5 3}path.call{stroke:#26c;stroke-dasharray:1 3}\
text.edge{font-size:9px;fill:#555}</style>\n\
<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:#444;stroke:none;marker-end:none\"/></marker></defs>\n";

fn cut(line: &str) -> String {
    if line.chars().count() <= WIDEST {
        return line.to_owned();
    }
    line.chars().take(WIDEST - 1).chain(['…']).collect()
}

fn escaped(out: &mut impl Write, text: &str) -> fmt::Result {
    for c in text.chars() {
        match c {
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '&' => out.write_str("&amp;")?,
            '"' => out.write_str("&quot;")?,
            c if c.is_control() => out.write_char(' ')?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss)] // sizes of pictures
fn size(count: usize, unit: f64) -> f64 {
    count as f64 * unit + 2.0 * PAD
}

/// Where the boxes are, in order of the nodes.
fn frames(picture: &Picture) -> Vec<Frame> {
    let mut frames: Vec<Frame> = picture
        .graph
        .node_weights()
        .map(|node| {
            let longest = node
                .lines
                .iter()
                .map(|l| l.chars().count().min(WIDEST))
                .max();
            Frame {
                width: size(longest.unwrap_or(0), CHAR),
                height: size(node.lines.len().max(1), LINE),
                ..Frame::default()
            }
        })
        .collect();
    if frames.len() > LARGEST {
        let mut y = 0.0;
        for frame in &mut frames {
            frame.y = y;
            y = frame.bottom() + GAP;
        }
        return frames;
    }
    // Every edge points forwards in the order of the nodes: the layout takes graphs without
    // cycles and without copies of edges only.
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
    let parts = rust_sugiyama::from_graph(&graph, &|_, size| *size, &config);
    let mut left = 0.0;
    for (part, _, _) in parts {
        let mut begin = f64::INFINITY;
        let mut end = left;
        let bounds = |x: f64, frame: &Frame| (x - frame.width / 2.0, x + frame.width / 2.0);
        for (node, (x, _)) in &part {
            if let Some(frame) = frames.get(node.index()) {
                begin = begin.min(bounds(*x, frame).0);
            }
        }
        for (node, (x, y)) in part {
            if let Some(frame) = frames.get_mut(node.index()) {
                frame.x = bounds(x, frame).0 - begin + left;
                frame.y = y - frame.height / 2.0;
                end = frame.right().max(end);
            }
        }
        left = end + 2.0 * GAP;
    }
    frames
}

fn arrows(out: &mut impl Write, picture: &Picture, frames: &[Frame]) -> fmt::Result {
    for edge in picture.graph.edge_references() {
        let ends = (
            frames.get(edge.source().index()),
            frames.get(edge.target().index()),
        );
        let (Some(from), Some(to)) = ends else {
            continue;
        };
        let class = match edge.weight().style {
            Style::Uniform => "uniform",
            Style::Divergent => "divergent",
            Style::Call => "call",
        };
        let (x1, y1) = (from.x + from.width / 2.0, from.bottom());
        let (x2, y2) = (to.x + to.width / 2.0, to.y);
        let middle = if y2 > y1 {
            let bend = (y2 - y1) / 2.0;
            let (a, b) = (y1 + bend, y2 - bend);
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}C{x1:.1} {a:.1} {x2:.1} {b:.1} {x2:.1} {y2:.1}\"/>"
            )?;
            ((x1 + x2) / 2.0, (y1 + y2) / 2.0)
        } else {
            let (x1, y1) = (from.right(), from.y + from.height / 2.0);
            let (x2, y2) = (to.right(), to.y + to.height / 2.0);
            let side = x1.max(x2) + 2.0 * GAP;
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}C{side:.1} {y1:.1} {side:.1} {y2:.1} {x2:.1} {y2:.1}\"/>"
            )?;
            (side - GAP / 2.0, (y1 + y2) / 2.0)
        };
        if !edge.weight().text.is_empty() {
            let (x, y) = middle;
            write!(out, "<text class=\"edge\" x=\"{x:.1}\" y=\"{y:.1}\">")?;
            escaped(out, &edge.weight().text)?;
            writeln!(out, "</text>")?;
        }
    }
    Ok(())
}
