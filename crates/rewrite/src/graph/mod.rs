//! Control flow and calls as graphs, placed as data, and written as Graphviz dot or as SVG.

mod calls;
mod compact;
mod dot;
mod flow;
pub mod layout;
mod svg;

pub use calls::{CallEdge, CallGraph, CallNode};
pub use dot::dot;
pub use flow::{Block, Cfg, Edge, EdgeKind};
pub use svg::{LINE, PAD, Placed, Theme, svg};

use petgraph::graph::DiGraph;

/// A graph ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Boxes and arrows.
    pub graph: DiGraph<Node, Arrow>,
}

/// A box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its text.
    pub lines: Vec<String>,
    /// Whether it represents something outside the graph.
    pub outside: bool,
}

/// An arrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrow {
    /// Its text, empty for none.
    pub text: String,
    /// How it is drawn.
    pub style: Style,
}

/// How an arrow is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    /// All lanes take it: solid.
    #[default]
    Uniform,
    /// Some lanes may take it and others not: red and dashed.
    Divergent,
    /// A call: blue and dashed.
    Call,
    /// An address that is taken, so that it may be called: blue and dotted.
    Address,
}

impl Style {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Divergent => "divergent",
            Self::Call => "call",
            Self::Address => "address",
        }
    }
}
