//! Graphviz.

use super::{Picture, Style};
use petgraph::visit::EdgeRef;
use std::fmt::{self, Write};

/// Text inside of quotes, each line ended so that it is aligned to the left.
fn quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            c if c.is_control() => out.write_char(' ')?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}

/// Writes graphs as one file in the language of Graphviz.
///
/// # Errors
/// The output could not take the text.
pub fn dot(out: &mut impl Write, pictures: &[Picture]) -> fmt::Result {
    writeln!(out, "digraph visa {{")?;
    writeln!(out, "  node [shape=box fontname=monospace fontsize=10];")?;
    writeln!(out, "  edge [fontname=monospace fontsize=9];")?;
    for (number, picture) in pictures.iter().enumerate() {
        writeln!(out, "  subgraph cluster_{number} {{")?;
        out.write_str("    label=\"")?;
        quoted(out, &picture.title)?;
        writeln!(out, "\";")?;
        for node in picture.graph.node_indices() {
            let Some(content) = picture.graph.node_weight(node) else {
                continue;
            };
            write!(out, "    n{number}_{} [label=\"", node.index())?;
            for line in &content.lines {
                quoted(out, line)?;
                out.write_str("\\l")?;
            }
            let style = if content.outside { " style=dashed" } else { "" };
            writeln!(out, "\"{style}];")?;
        }
        for edge in picture.graph.edge_references() {
            let (from, to) = (edge.source().index(), edge.target().index());
            write!(out, "    n{number}_{from} -> n{number}_{to}")?;
            let style = match edge.weight().style {
                Style::Uniform => "style=solid",
                Style::Divergent => "style=dashed color=red",
                Style::Call => "style=dashed color=blue",
                Style::Address => "style=dotted color=blue",
            };
            write!(out, " [{style}")?;
            if !edge.weight().text.is_empty() {
                out.write_str(" label=\"")?;
                quoted(out, &edge.weight().text)?;
                out.write_char('"')?;
            }
            writeln!(out, "];")?;
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}
