//! Basic blocks.

use super::{Arrow, Node, Picture, Style};
use crate::edit::placed;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use visakit_isa::object::{Body, Item, Object, RoutineId};
use visakit_isa::semantics::{Callee, Flow, Structure};
use visakit_isa::{AnyInstruction, FieldName, Instruction, LabelId, Value};

/// Instructions that are entered at the first and left at the last only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its instructions, by index in the code. Empty for a label that is not placed.
    pub code: Range<usize>,
    /// The label that is not placed.
    pub missing: Option<LabelId>,
}

/// Why a block follows another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// It comes after it.
    Next,
    /// A jump.
    Jump,
    /// An entry of a SWITCHJMP.
    Case(usize),
    /// A call of a subroutine, which comes back to the next block.
    Call,
}

/// An edge from one block to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Why.
    pub kind: EdgeKind,
    /// Whether some lanes of a thread may take it while others take another one.
    pub divergent: bool,
}

/// The control flow of a routine. Subroutines are part of it.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    /// Blocks in order of the code, then labels that are not placed.
    pub graph: DiGraph<Block, Edge>,
}

/// How a block ends.
#[derive(Default)]
struct Exit {
    /// Instructions to continue with.
    targets: Vec<(Target, EdgeKind)>,
    /// Whether the next instruction follows as well.
    next: bool,
    divergent: bool,
}

#[derive(Clone, Copy)]
enum Target {
    Label(LabelId),
    Item(usize),
}

impl Cfg {
    /// The blocks of a routine. A jump to a label that is not placed leads to a block without code;
    /// an `else` without `if`, and the like, has no successor.
    #[must_use]
    pub fn of(body: &Body<'_>) -> Self {
        let partners = partners(body);
        let mut leaders = BTreeSet::from([0]);
        let mut labels: BTreeMap<LabelId, usize> = BTreeMap::new();
        let mut exits: BTreeMap<usize, Exit> = BTreeMap::new();
        for (index, item) in body.code.iter().enumerate() {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            if let Some(label) = placed(instruction) {
                leaders.insert(index);
                labels.entry(label).or_insert(index);
            }
            if let Flow::Structured(Structure::EndIf | Structure::Do | Structure::While) =
                instruction.def().flow
            {
                leaders.insert(index);
            }
            if let Some(exit) = exit(instruction, index, &partners) {
                leaders.insert(index + 1);
                exits.insert(index, exit);
            }
        }
        leaders.retain(|leader| *leader < body.code.len());
        let ends = leaders.iter().skip(1).copied().chain([body.code.len()]);
        let ranges: Vec<_> = leaders
            .iter()
            .zip(ends)
            .map(|(start, end)| *start..end)
            .collect();
        let mut graph = DiGraph::new();
        let mut nodes: BTreeMap<usize, NodeIndex> = BTreeMap::new();
        for code in &ranges {
            let block = Block {
                code: code.clone(),
                missing: None,
            };
            nodes.insert(code.start, graph.add_node(block));
        }
        let mut missing: BTreeMap<LabelId, NodeIndex> = BTreeMap::new();
        for code in ranges {
            let Some(from) = nodes.get(&code.start).copied() else {
                continue;
            };
            let exit = code.end.checked_sub(1).and_then(|last| exits.remove(&last));
            let exit = exit.unwrap_or(Exit {
                next: true,
                ..Exit::default()
            });
            let divergent = exit.divergent;
            for (target, kind) in exit.targets {
                let to = match target {
                    Target::Item(index) => nodes.get(&index).copied(),
                    Target::Label(label) => match labels.get(&label) {
                        Some(index) => nodes.get(index).copied(),
                        None => Some(*missing.entry(label).or_insert_with(|| {
                            let code = body.code.len()..body.code.len();
                            graph.add_node(Block {
                                code,
                                missing: Some(label),
                            })
                        })),
                    },
                };
                if let Some(to) = to {
                    graph.add_edge(from, to, Edge { kind, divergent });
                }
            }
            if exit.next
                && let Some(to) = nodes.get(&code.end).copied()
            {
                graph.add_edge(
                    from,
                    to,
                    Edge {
                        kind: EdgeKind::Next,
                        divergent,
                    },
                );
            }
        }
        Self { graph }
    }

    /// The graph with the text of its instructions.
    #[must_use]
    pub fn picture(&self, object: &Object<'_>, id: RoutineId) -> Picture {
        let text = crate::lines::all(object, id);
        let node = |_, block: &Block| Node {
            lines: match block.missing {
                Some(label) => vec![format!("{label}: placed nowhere")],
                None => text.get(block.code.clone()).unwrap_or_default().to_vec(),
            },
            outside: block.missing.is_some(),
        };
        let ends = |edge| self.graph.edge_endpoints(edge);
        // Whether another edge of this kind leaves the same block.
        let also = |edge, other: fn(EdgeKind) -> bool| {
            ends(edge)
                .is_some_and(|(from, _)| self.graph.edges(from).any(|e| other(e.weight().kind)))
        };
        let arrow = |index, edge: &Edge| Arrow {
            text: match edge.kind {
                EdgeKind::Jump if also(index, |k| k == EdgeKind::Next) => "taken".to_owned(),
                EdgeKind::Next if also(index, |k| k == EdgeKind::Jump) => "not taken".to_owned(),
                EdgeKind::Next if also(index, |k| k == EdgeKind::Call) => "returns".to_owned(),
                EdgeKind::Next | EdgeKind::Jump => String::new(),
                EdgeKind::Call => "call".to_owned(),
                EdgeKind::Case(number) => format!("case {number}"),
            },
            style: match edge {
                Edge {
                    kind: EdgeKind::Call,
                    ..
                } => Style::Call,
                Edge {
                    divergent: true, ..
                } => Style::Divergent,
                _ => Style::Uniform,
            },
        };
        let name = object.routine(id).map(|r| r.display_name().into_owned());
        Picture {
            title: format!("{} {}", id.kind.name(), name.unwrap_or_default()),
            graph: self.graph.map(node, arrow),
        }
        .merged()
    }
}

/// The exit of an instruction that ends a block; `None` for others.
fn exit(instruction: &Instruction, index: usize, partners: &Partners) -> Option<Exit> {
    let control = instruction.flow();
    let labels = |name, kind: fn(usize) -> EdgeKind| {
        let labels = instruction.all(name).filter_map(|value| match value {
            Value::Label(id) => Some(Target::Label(*id)),
            _ => None,
        });
        let targets = labels.enumerate().map(|(i, target)| (target, kind(i)));
        targets.collect()
    };
    let targets = match control.flow {
        Flow::Jump { .. } => labels(FieldName::Label, |_| EdgeKind::Jump),
        Flow::Call(Callee::Label) => labels(FieldName::Label, |_| EdgeKind::Call),
        Flow::Switch => labels(FieldName::Labels, EdgeKind::Case),
        Flow::Return { .. } => Vec::new(),
        Flow::Structured(part) if !matches!(part, Structure::EndIf | Structure::Do) => {
            let partner = partners.get(&index).map(|i| Target::Item(*i));
            partner
                .map(|target| (target, EdgeKind::Jump))
                .into_iter()
                .collect()
        }
        _ if control.falls_through => return None,
        _ => Vec::new(),
    };
    Some(Exit {
        targets,
        next: control.falls_through,
        divergent: control.diverges,
    })
}

/// Where parts of structures continue: `if` after its `else` or at its `endif`, `else` at its
/// `endif`, `while` at its `do`, `break` after its `while`, and `cont` at its `while`.
type Partners = BTreeMap<usize, usize>;

fn partners(body: &Body<'_>) -> Partners {
    let mut partners = Partners::new();
    let mut open: Vec<(Structure, usize)> = Vec::new();
    let mut loops: Vec<Vec<(Structure, usize)>> = Vec::new();
    for (index, item) in body.code.iter().enumerate() {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        let Flow::Structured(part) = instruction.def().flow else {
            continue;
        };
        let last = open.last().copied();
        match (part, last) {
            (Structure::If, _) => open.push((part, index)),
            (Structure::Do, _) => {
                open.push((part, index));
                loops.push(Vec::new());
            }
            (Structure::Else, Some((Structure::If, start))) => {
                open.pop();
                partners.insert(start, index + 1);
                open.push((part, index));
            }
            (Structure::EndIf, Some((Structure::If | Structure::Else, start))) => {
                open.pop();
                partners.insert(start, index);
            }
            (Structure::Break | Structure::Continue, _) => {
                if let Some(inner) = loops.last_mut() {
                    inner.push((part, index));
                }
            }
            (Structure::While, Some((Structure::Do, start))) => {
                open.pop();
                partners.insert(index, start);
                for (part, inner) in loops.pop().unwrap_or_default() {
                    partners.insert(inner, index + usize::from(part == Structure::Break));
                }
            }
            _ => {}
        }
    }
    partners
}
