//! Basic blocks.

use super::{Arrow, Picture, Shape, Style};
use crate::edit::placed;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use visakit_isa::object::{Body, Item, Object, RoutineId};
use visakit_isa::operand::PredicateCombine;
use visakit_isa::{FieldName, Instruction, LabelId, Op, Value};

/// A run of instructions that is entered at its begin only and left at its end only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its instructions, by their place in the code. Empty for a label that is placed nowhere.
    pub code: Range<usize>,
    /// The label that is placed nowhere.
    pub missing: Option<LabelId>,
}

/// Why a block follows another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// It stands behind it.
    Next,
    /// A jump.
    Jump,
    /// An entry of a SWITCHJMP.
    Case(usize),
    /// A call of a subroutine, which comes back to the next block.
    Call,
}

/// How control comes from a block to another one.
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
    /// Blocks in order of the code, then labels that are placed nowhere.
    pub graph: DiGraph<Block, Edge>,
}

/// What the end of a block does.
#[derive(Default)]
struct Exit {
    /// Instructions to go on with.
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
    /// The blocks of a routine. Odd code gives odd graphs: a jump to a label that is placed nowhere
    /// leads to a block without code, an `else` without `if` leads nowhere.
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
            if matches!(instruction.op, Op::ENDIF | Op::DO | Op::WHILE) {
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
        let shape = |_, block: &Block| Shape {
            lines: match block.missing {
                Some(label) => vec![format!("{label}: placed nowhere")],
                None => text.get(block.code.clone()).unwrap_or_default().to_vec(),
            },
            outside: block.missing.is_some(),
        };
        let arrow = |_, edge: &Edge| Arrow {
            text: match edge.kind {
                EdgeKind::Next => String::new(),
                EdgeKind::Jump => "jump".to_owned(),
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
            graph: self.graph.map(shape, arrow),
        }
    }
}

/// Whether lanes may decide differently: more than one, and each looks at its own bit.
fn divergent(instruction: &Instruction) -> bool {
    let predicate = instruction.predicate().filter(|p| p.id().0 != 0);
    let lanes = instruction
        .exec_size()
        .and_then(visakit_isa::ExecSize::lanes);
    lanes != Some(1) && predicate.is_some_and(|p| p.combine() == PredicateCombine::PerLane)
}

/// What an instruction that ends a block does; `None` for the others.
fn exit(instruction: &Instruction, index: usize, partners: &Partners) -> Option<Exit> {
    let predicated = instruction.predicate().is_some_and(|p| p.id().0 != 0);
    let divergent = divergent(instruction);
    let labels = |name: FieldName| {
        let labels = instruction.all(name).filter_map(|value| match value {
            Value::Label(id) => Some(Target::Label(*id)),
            _ => None,
        });
        labels.collect::<Vec<_>>()
    };
    let jump = |kind| {
        labels(FieldName::Label)
            .into_iter()
            .map(move |t| (t, kind))
            .collect()
    };
    let partner = |index: Option<&usize>, behind: usize| {
        index
            .map(|i| (Target::Item(i + behind), EdgeKind::Jump))
            .into_iter()
            .collect()
    };
    let bit = |name, bit: u8| {
        let flags = instruction.get(name).and_then(Value::as_number);
        flags.is_some_and(|flags| flags >> bit & 1 == 1)
    };
    Some(match instruction.op {
        // One jump for the whole thread.
        Op::JMP => Exit {
            targets: jump(EdgeKind::Jump),
            next: predicated,
            divergent: false,
        },
        Op::GOTO => Exit {
            targets: jump(EdgeKind::Jump),
            next: predicated,
            divergent,
        },
        Op::CALL => Exit {
            targets: jump(EdgeKind::Call),
            next: true,
            divergent: false,
        },
        Op::RET | Op::FRET => Exit {
            targets: Vec::new(),
            next: predicated,
            divergent,
        },
        Op::SWITCHJMP => {
            let cases = labels(FieldName::Labels).into_iter().enumerate();
            let targets = cases.map(|(i, t)| (t, EdgeKind::Case(i))).collect();
            Exit {
                targets,
                ..Exit::default()
            }
        }
        Op::IF => Exit {
            targets: partner(partners.get(&index), 0),
            next: true,
            divergent,
        },
        Op::ELSE => Exit {
            targets: partner(partners.get(&index), 0),
            ..Exit::default()
        },
        Op::WHILE => Exit {
            targets: partner(partners.get(&index), 0),
            next: predicated,
            divergent,
        },
        Op::BREAK => Exit {
            targets: partner(partners.get(&index), 1),
            next: predicated,
            divergent,
        },
        Op::CONT => Exit {
            targets: partner(partners.get(&index), 0),
            next: predicated,
            divergent,
        },
        // The end of the thread, or a call that does not come back.
        Op::RAW_SENDS | Op::RAW_SENDG if bit(FieldName::Modifier, 1) => Exit::default(),
        Op::IFCALL if bit(FieldName::Flags, 1) => Exit::default(),
        _ => return None,
    })
}

/// Where structured control flow goes on: from IF the place behind ELSE or that of ENDIF, from
/// ELSE that of ENDIF, from WHILE that of DO, from BREAK and CONT that of WHILE.
type Partners = BTreeMap<usize, usize>;

fn partners(body: &Body<'_>) -> Partners {
    let mut partners = Partners::new();
    let mut open: Vec<(Op, usize)> = Vec::new();
    let mut loops: Vec<Vec<usize>> = Vec::new();
    for (index, item) in body.code.iter().enumerate() {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        match instruction.op {
            op @ Op::IF => open.push((op, index)),
            op @ Op::DO => {
                open.push((op, index));
                loops.push(Vec::new());
            }
            op @ Op::ELSE => {
                if let Some((Op::IF, start)) = open.last().copied() {
                    open.pop();
                    partners.insert(start, index + 1);
                    open.push((op, index));
                }
            }
            Op::ENDIF => {
                if let Some((Op::IF | Op::ELSE, start)) = open.last().copied() {
                    open.pop();
                    partners.insert(start, index);
                }
            }
            Op::BREAK | Op::CONT => {
                if let Some(inner) = loops.last_mut() {
                    inner.push(index);
                }
            }
            Op::WHILE => {
                if let Some((Op::DO, start)) = open.last().copied() {
                    open.pop();
                    partners.insert(index, start);
                    let inner = loops.pop().unwrap_or_default();
                    partners.extend(inner.into_iter().map(|i| (i, index)));
                }
            }
            _ => {}
        }
    }
    partners
}
