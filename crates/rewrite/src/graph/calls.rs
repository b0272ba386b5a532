//! Who calls whom.

use super::{Arrow, Node, Picture, Style};
use crate::edit::placed;
use crate::strip::called;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;
use visakit_isa::object::{Body, Item, LabelKind, Object, RoutineId};
use visakit_isa::semantics::{Callee, Flow};
use visakit_isa::{FieldName, LabelId, Value};

/// Something that calls or is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallNode {
    /// A kernel or function.
    Routine(RoutineId),
    /// A subroutine of a routine.
    Subroutine(RoutineId, LabelId),
    /// A name that the object does not define.
    Outside(Vec<u8>),
    /// Whatever an address leads to.
    Unknown,
}

/// How often something is called, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallEdge {
    /// Calls.
    pub calls: usize,
    /// Times that the address is taken.
    pub addresses: usize,
}

/// The calls of an object.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// Routines in order, then their callees in order of the calls.
    pub graph: DiGraph<CallNode, CallEdge>,
}

impl CallGraph {
    /// The calls of an object: subroutines by label, functions by name, and indirect calls.
    #[must_use]
    pub fn of(object: &Object<'_>) -> Self {
        let mut calls = Self::default();
        let mut nodes = BTreeMap::new();
        let mut functions: BTreeMap<&[u8], RoutineId> = BTreeMap::new();
        for (id, routine) in object.routines() {
            calls.node(&mut nodes, CallNode::Routine(id));
            if id.kind == visakit_isa::object::RoutineKind::Function {
                functions.entry(&routine.name).or_insert(id);
            }
        }
        for (id, routine) in object.routines() {
            let Some(body) = routine.body() else { continue };
            let entry = entry(body);
            let mut caller = CallNode::Routine(id);
            for item in &body.code {
                let Item::Instruction(instruction) = item else {
                    continue;
                };
                if let Some(label) = placed(instruction).filter(|l| is_subroutine(body, *l)) {
                    if entry == Some(label) {
                        continue;
                    }
                    caller = CallNode::Subroutine(id, label);
                    calls.node(&mut nodes, caller.clone());
                    continue;
                }
                let flow = instruction.def().flow;
                let callee = match (called(body, item), flow) {
                    (Some((_, _, name)), _) => match functions.get(name.as_slice()) {
                        Some(id) => CallNode::Routine(*id),
                        None => CallNode::Outside(name),
                    },
                    (None, Flow::Call(Callee::Label)) => match instruction.get(FieldName::Label) {
                        Some(Value::Label(label)) if entry == Some(*label) => CallNode::Routine(id),
                        Some(Value::Label(label)) => CallNode::Subroutine(id, *label),
                        _ => continue,
                    },
                    (None, Flow::Call(Callee::Address)) => CallNode::Unknown,
                    _ => continue,
                };
                let from = calls.node(&mut nodes, caller.clone());
                let to = calls.node(&mut nodes, callee);
                let edge = match calls.graph.find_edge(from, to) {
                    Some(edge) => edge,
                    None => calls.graph.add_edge(from, to, CallEdge::default()),
                };
                if let Some(edge) = calls.graph.edge_weight_mut(edge) {
                    let call = matches!(flow, Flow::Call(_));
                    edge.calls += usize::from(call);
                    edge.addresses += usize::from(!call);
                }
            }
        }
        calls
    }

    fn node(&mut self, nodes: &mut BTreeMap<CallNode, NodeIndex>, node: CallNode) -> NodeIndex {
        *nodes
            .entry(node)
            .or_insert_with_key(|node| self.graph.add_node(node.clone()))
    }

    /// The graph with the names of its routines.
    #[must_use]
    pub fn picture(&self, object: &Object<'_>) -> Picture {
        let routine = |id: RoutineId| object.routine(id).map(|r| r.display_name().into_owned());
        let node = |_, node: &CallNode| match node {
            CallNode::Routine(id) => Node {
                lines: vec![format!(
                    "{} {}",
                    id.kind.name(),
                    routine(*id).unwrap_or_default()
                )],
                outside: false,
            },
            CallNode::Subroutine(id, label) => {
                let body = object.routine(*id).and_then(|r| r.body());
                let name = body.and_then(|b| {
                    let label = b.labels.get(usize::from(label.0))?;
                    b.string(label.name)
                });
                let name = name.map_or_else(
                    || label.to_string(),
                    |n| String::from_utf8_lossy(n).into_owned(),
                );
                Node {
                    lines: vec![
                        format!("subroutine {name}"),
                        format!("of {}", routine(*id).unwrap_or_default()),
                    ],
                    outside: false,
                }
            }
            CallNode::Outside(name) => Node {
                lines: vec![String::from_utf8_lossy(name).into_owned()],
                outside: true,
            },
            CallNode::Unknown => Node {
                lines: vec!["by address".to_owned()],
                outside: true,
            },
        };
        let arrow = |_, edge: &CallEdge| {
            let times = |count: usize, what: &str| match count {
                0 => None,
                1 => Some(what.to_owned()),
                _ => Some(format!("{what} x{count}")),
            };
            let texts = [times(edge.calls, "call"), times(edge.addresses, "address")];
            let texts: Vec<String> = texts.into_iter().flatten().collect();
            Arrow {
                text: texts.join(", "),
                style: if edge.calls > 0 {
                    Style::Uniform
                } else {
                    Style::Address
                },
            }
        };
        Picture {
            title: title(object),
            graph: self.graph.map(node, arrow),
        }
    }
}

/// Whose calls they are: of the only kernel, or of so many routines.
fn title(object: &Object<'_>) -> String {
    match (object.kernels.as_slice(), object.functions.len()) {
        ([kernel], _) => format!("calls of {}", kernel.display_name()),
        (kernels, functions) => {
            let count = |n: usize, what: &str| {
                let plural = if n == 1 { "" } else { "s" };
                format!("{n} {what}{plural}")
            };
            let (kernels, functions) =
                (count(kernels.len(), "kernel"), count(functions, "function"));
            format!("calls of {kernels} and {functions}")
        }
    }
}

/// The label of the routine itself: compilers begin some with a subroutine.
fn entry(body: &Body<'_>) -> Option<LabelId> {
    let marker = |item: &&Item<'_>| match item {
        Item::Instruction(i) => i.def().flow == Flow::Marker,
        Item::Raw(_) => false,
    };
    match body.code.iter().find(|item| !marker(item)) {
        Some(Item::Instruction(first)) => placed(first),
        _ => None,
    }
}

fn is_subroutine(body: &Body<'_>, label: LabelId) -> bool {
    let label = body.labels.get(usize::from(label.0));
    label.is_some_and(|l| l.kind != LabelKind::BLOCK)
}
