//! Smaller pictures of the same graph.

use super::{Arrow, Node, Picture, Style};
use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;

/// Longer boxes are shortened in the middle.
const LONGEST: usize = 9;

impl Picture {
    /// This graph with one arrow for those that lead from one box to the same other one in the same style; their texts
    /// are listed.
    #[must_use]
    pub(super) fn merged(mut self) -> Self {
        let mut found: BTreeMap<_, usize> = BTreeMap::new();
        let mut arrows: Vec<(NodeIndex, NodeIndex, Arrow)> = Vec::new();
        for edge in self.graph.edge_references() {
            let style = edge.weight().style;
            let key = (edge.source(), edge.target(), style);
            match found.get(&key).and_then(|index| arrows.get_mut(*index)) {
                Some((_, _, arrow)) => {
                    let text = &edge.weight().text;
                    if !text.is_empty() && !arrow.text.is_empty() {
                        arrow.text.push_str(", ");
                    }
                    arrow.text.push_str(text);
                }
                None => {
                    found.insert(key, arrows.len());
                    arrows.push((edge.source(), edge.target(), edge.weight().clone()));
                }
            }
        }
        self.graph.clear_edges();
        for (from, to, arrow) in arrows {
            self.graph.add_edge(from, to, arrow);
        }
        self
    }

    /// This graph with boxes that only follow each other put into one, and without the middle of long boxes.
    #[must_use]
    pub fn compact(self) -> Self {
        let graph = self.graph;
        let alone = |node, direction| graph.edges_directed(node, direction).count() == 1;
        // For each box the one that it is appended to.
        let behind = |node: NodeIndex| {
            let edge = graph.edges_directed(node, Incoming).next()?;
            let (from, arrow) = (edge.source(), edge.weight());
            let plain = arrow.style == Style::Uniform && arrow.text.is_empty();
            let known = graph.node_weight(node).is_some_and(|n| !n.outside);
            let follows = plain && known && from != node && from < node;
            (follows && alone(node, Incoming) && alone(from, Outgoing)).then_some(from)
        };
        let mut head: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
        let mut made: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
        let mut small = DiGraph::<Node, Arrow>::new();
        for node in graph.node_indices() {
            let Some(content) = graph.node_weight(node) else {
                continue;
            };
            let first = behind(node).and_then(|from| head.get(&from).copied());
            let first = first.unwrap_or(node);
            head.insert(node, first);
            match made.get(&first).and_then(|m| small.node_weight_mut(*m)) {
                Some(chain) => chain.lines.extend(content.lines.iter().cloned()),
                None => {
                    made.insert(first, small.add_node(content.clone()));
                }
            }
        }
        for edge in graph.edge_references() {
            let place = |node| head.get(&node).and_then(|first| made.get(first)).copied();
            if behind(edge.target()) == Some(edge.source()) {
                continue;
            }
            if let (Some(from), Some(to)) = (place(edge.source()), place(edge.target())) {
                small.add_edge(from, to, edge.weight().clone());
            }
        }
        for node in small.node_weights_mut() {
            let lines = node.lines.len();
            if lines > LONGEST {
                let tail = node.lines.split_off(lines - LONGEST / 2);
                node.lines.truncate(LONGEST / 2);
                let left_out = lines - tail.len() - node.lines.len();
                node.lines.push(format!("… {left_out} more lines"));
                node.lines.extend(tail);
            }
        }
        Self {
            title: self.title,
            graph: small,
        }
    }
}
