//! Successors for data flow: blocks including returns from subroutines.

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use std::collections::BTreeSet;
use std::ops::Range;
use visakit_isa::object::{Body, Item};
use visakit_isa::semantics::Flow;
use visakit_rewrite::graph::{Cfg, EdgeKind};

/// The blocks of a routine in order of the code, with their successors. The last entries contain no code: they
/// represent the ends of subroutines, so that many calls and many returns need few edges.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) code: Vec<Range<usize>>,
    pub(crate) next: Vec<Vec<usize>>,
    pub(crate) before: Vec<Vec<usize>>,
}

impl Blocks {
    pub(crate) fn of(body: &Body<'_>) -> Self {
        let cfg = Cfg::of(body);
        let graph = &cfg.graph;
        let count = graph.node_count();
        let mut blocks = Self {
            code: graph
                .node_weights()
                .map(|block| block.code.clone())
                .collect(),
            next: vec![Vec::new(); count],
            before: Vec::new(),
        };
        // A subroutine, and the blocks that its calls come back to.
        let mut calls: BTreeSet<(NodeIndex, NodeIndex)> = BTreeSet::new();
        for node in graph.node_indices() {
            let followers = || graph.edges(node);
            let back = followers().find(|e| e.weight().kind == EdgeKind::Next);
            for edge in followers() {
                if let Some(next) = blocks.next.get_mut(node.index()) {
                    next.push(edge.target().index());
                }
                if let (EdgeKind::Call, Some(back)) = (edge.weight().kind, &back) {
                    calls.insert((edge.target(), back.target()));
                }
            }
        }
        let mut entry = None;
        let mut end = 0;
        let mut budget = BUDGET;
        for (called, back) in calls {
            if entry != Some(called) {
                entry = Some(called);
                end = blocks.next.len();
                blocks.next.push(Vec::new());
                blocks.code.push(0..0);
                for block in returns(&cfg, body, called, &mut budget) {
                    if let Some(next) = blocks.next.get_mut(block) {
                        next.push(end);
                    }
                }
            }
            if let Some(next) = blocks.next.get_mut(end) {
                next.push(back.index());
            }
        }
        blocks.before = vec![Vec::new(); blocks.next.len()];
        for (from, next) in blocks.next.iter().enumerate() {
            for to in next {
                if let Some(before) = blocks.before.get_mut(*to) {
                    before.push(from);
                }
            }
        }
        blocks
    }
}

/// Blocks that are examined for the ends of all subroutines together: real routines have hundreds.
const BUDGET: usize = 1 << 24;

/// The blocks in which a subroutine returns, as far as the budget reaches.
fn returns(cfg: &Cfg, body: &Body<'_>, entry: NodeIndex, budget: &mut usize) -> Vec<usize> {
    let mut seen = vec![false; cfg.graph.node_count()];
    let mut todo = vec![entry];
    let mut found = Vec::new();
    while let Some(node) = todo.pop() {
        match seen.get_mut(node.index()) {
            Some(seen) if !*seen && *budget > 0 => *seen = true,
            _ => continue,
        }
        *budget -= 1;
        let last = cfg
            .graph
            .node_weight(node)
            .and_then(|block| block.code.clone().last());
        if let Some(Item::Instruction(last)) = last.and_then(|last| body.code.get(last))
            && matches!(last.def().flow, Flow::Return { .. })
        {
            found.push(node.index());
        }
        let edges = cfg.graph.edges(node);
        todo.extend(
            edges
                .filter(|edge| edge.weight().kind != EdgeKind::Call)
                .map(|edge| edge.target()),
        );
    }
    found
}
