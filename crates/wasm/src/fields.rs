//! The fields of an object: the structure tree, and what the bytes of a window belong to.

use crate::Answer;
use crate::file::File;
use serde_json::{Value as Json, json};
use std::ops::Range;
use visakit::dump::{self, Content, Visitor, meaning};
use visakit::isa::object::RoutineId;
use visakit::isa::table::Role;
use visakit::parse::{Container, Error, Extent, ExtentId, InstructionRef};

/// What a field is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Not a field: it has fields.
    Group,
    Opcode,
    Control,
    Destination,
    Source,
    Number,
    Text,
    Bytes,
    Fault,
}

impl Class {
    const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Opcode => "opcode",
            Self::Control => "control",
            Self::Destination => "destination",
            Self::Source => "source",
            Self::Number => "number",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Fault => "fault",
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    label: String,
    value: String,
    class: Class,
    parent: Option<usize>,
    range: Range<u64>,
    children: Vec<usize>,
}

/// The fields of the header or of a routine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    nodes: Vec<Node>,
    /// The fields in the order of their places.
    leaves: Vec<usize>,
    open: Vec<usize>,
}

/// Longer values are cut.
const LONGEST: usize = 120;

/// A window of bytes has at most so many.
const WINDOW: usize = 16 << 10;

/// Wider fields are not edited as one number.
const WIDEST: u64 = 8;

impl Part {
    pub(crate) fn header(bytes: &[u8]) -> Self {
        let mut part = Self::default();
        // What comes before a fault is shown.
        drop(dump::walk_header(bytes, &mut part));
        part.finish()
    }

    pub(crate) fn routine(container: &Container<'_>, id: RoutineId) -> Self {
        let mut part = Self::default();
        drop(dump::walk_routine(container, id, &mut part));
        part.finish()
    }

    fn finish(mut self) -> Self {
        let nodes = &self.nodes;
        self.leaves
            .sort_by_key(|leaf| nodes.get(*leaf).map_or(0, |n| n.range.start));
        self
    }

    fn add(&mut self, label: String, value: String, class: Class, range: Range<u64>) -> usize {
        let number = self.nodes.len();
        let parent = self.open.last().copied();
        if let Some(parent) = parent.and_then(|p| self.nodes.get_mut(p)) {
            parent.children.push(number);
        }
        self.nodes.push(Node {
            label,
            value,
            class,
            parent,
            range,
            children: Vec::new(),
        });
        number
    }

    fn begin(&mut self, label: String, value: String, offset: u64) {
        let number = self.add(label, value, Class::Group, offset..offset);
        self.open.push(number);
    }

    fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    fn row(&self, number: usize) -> Option<Json> {
        let node = self.node(number)?;
        Some(json!({
            "node": number,
            "label": node.label,
            "value": node.value,
            "class": node.class.name(),
            "from": node.range.start,
            "to": node.range.end,
            "children": node.children.len(),
            "editable": node.class != Class::Group && node.class != Class::Fault
                && (1..=WIDEST).contains(&(node.range.end - node.range.start)),
        }))
    }

    /// The names from the outermost part to a node.
    fn path(&self, mut number: usize) -> String {
        let mut names = Vec::new();
        while let Some(node) = self.node(number) {
            names.push(node.label.as_str());
            match node.parent {
                Some(parent) => number = parent,
                None => break,
            }
        }
        names.reverse();
        names.join(" › ")
    }

    /// The field at an offset.
    fn leaf_at(&self, offset: u64) -> Option<usize> {
        let start = |leaf: &usize| self.node(*leaf).map_or(0, |n| n.range.start);
        let after = self.leaves.partition_point(|leaf| start(leaf) <= offset);
        let mut before = self.leaves.get(..after)?.iter().rev().take(8);
        let covers = |leaf: &&usize| self.node(**leaf).is_some_and(|n| n.range.contains(&offset));
        before.find(covers).copied()
    }
}

impl<'a> Visitor<'a> for Part {
    type Error = Error;

    fn enter(&mut self, name: &str, index: Option<u32>, offset: u64) -> Result<(), Error> {
        let label = match index {
            Some(index) => format!("{name}[{index}]"),
            None => name.to_owned(),
        };
        self.begin(label, String::new(), offset);
        Ok(())
    }

    fn leave(&mut self, offset: u64) -> Result<(), Error> {
        if let Some(node) = self.open.pop().and_then(|n| self.nodes.get_mut(n)) {
            node.range.end = offset.max(node.range.start);
        }
        Ok(())
    }

    fn field(&mut self, name: &str, range: Range<u64>, content: &Content<'a>) -> Result<(), Error> {
        let text = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
        let (value, class) = match content {
            Content::Number(number, None) => (number.to_string(), Class::Number),
            Content::Number(number, Some(meaning)) => {
                (format!("{number} {meaning}"), Class::Number)
            }
            Content::Bytes(bytes) if name == "name" => (text(bytes), Class::Text),
            Content::Bytes(bytes) => (format!("{} bytes", bytes.len()), Class::Bytes),
            Content::Text(bytes) => (text(bytes), Class::Text),
            Content::Opcode(def) | Content::SubOp(def) => {
                (format!("{} {}", def.name, def.mnemonic()), Class::Opcode)
            }
            Content::Field(def, value) => {
                let class = match def.role {
                    Role::Destination => Class::Destination,
                    Role::Source => Class::Source,
                    Role::Control => Class::Control,
                };
                let value = match meaning(def, value) {
                    Some(meaning) => format!("{value} {meaning}"),
                    None => value.to_string(),
                };
                (value, class)
            }
            Content::Raw(_, reason) => (reason.clone(), Class::Fault),
        };
        let value = value.chars().take(LONGEST).collect();
        let leaf = self.add(name.to_owned(), value, class, range.clone());
        if !range.is_empty() {
            self.leaves.push(leaf);
        }
        Ok(())
    }

    fn routine(&mut self, id: RoutineId, name: &[u8], place: &Extent) -> Result<(), Error> {
        let label = format!("{} {}", id.kind.name(), id.index);
        let name = String::from_utf8_lossy(name).into_owned();
        self.begin(label, name, place.offset.into());
        Ok(())
    }

    fn instruction(&mut self, number: u32, instruction: &InstructionRef<'a>) -> Result<(), Error> {
        let name = instruction.def().mnemonic();
        let label = format!("instruction {number}");
        self.begin(label, name.to_owned(), instruction.offset());
        Ok(())
    }

    fn fault(&mut self, _: &Error) -> Result<(), Error> {
        Ok(())
    }
}

impl File {
    /// The entries below a node of a part; without a node those of the part itself.
    pub(crate) fn tree(&self, part: usize, node: Option<usize>) -> Answer {
        let fields = self.part(part);
        let rows: Vec<Json> = match node {
            Some(node) => {
                let node = fields.node(node).ok_or("there is no such entry")?;
                node.children
                    .iter()
                    .filter_map(|n| fields.row(*n))
                    .collect()
            }
            None => {
                let roots = 0..fields.nodes.len();
                let roots = roots.filter(|n| fields.node(*n).is_some_and(|n| n.parent.is_none()));
                roots.filter_map(|n| fields.row(n)).collect()
            }
        };
        Ok(Json::Array(rows))
    }

    /// The part that an offset is in: the header, a routine, or neither.
    fn part_at(&self, offset: u64) -> Option<(usize, u64)> {
        let container = self.container()?;
        if offset < container.header_end() {
            return Some((0, container.header_end()));
        }
        let inside = |place: &&Extent| {
            let start = u64::from(place.offset);
            (start..start + u64::from(place.size)).contains(&offset)
        };
        let place = container.extents().iter().find(inside)?;
        let end = u64::from(place.offset) + u64::from(place.size);
        match place.id {
            ExtentId::Routine(id) => Some((self.number_of(id) + 1, end)),
            ExtentId::Binary { .. } => None,
        }
    }

    /// The entries of the tree from a part to the field at an offset.
    pub(crate) fn tree_path(&self, offset: usize) -> Answer {
        let offset = offset as u64;
        let Some((part, _)) = self.part_at(offset) else {
            return Ok(Json::Null);
        };
        let fields = self.part(part);
        let Some(leaf) = fields.leaf_at(offset) else {
            return Ok(Json::Null);
        };
        let mut nodes = vec![leaf];
        while let Some(parent) = nodes
            .last()
            .and_then(|n| fields.node(*n))
            .and_then(|n| n.parent)
        {
            nodes.push(parent);
        }
        nodes.reverse();
        let range = fields
            .node(leaf)
            .map(|n| n.range.clone())
            .unwrap_or_default();
        Ok(
            json!({ "part": part, "nodes": nodes, "path": fields.path(leaf), "from": range.start, "to": range.end }),
        )
    }

    /// The fields in a window of bytes: from, to, class, path and value.
    pub(crate) fn fields(&self, window: Range<usize>) -> Answer {
        let end = window
            .end
            .min(window.start.saturating_add(WINDOW))
            .min(self.bytes.len());
        let (mut at, end) = (window.start as u64, end as u64);
        let mut found = Vec::new();
        while at < end {
            let Some((part, part_end)) = self.part_at(at) else {
                // Native code, and bytes of nobody.
                let container = self.container();
                let places = container.iter().flat_map(Container::extents);
                let native = places.clone().find(|p| {
                    let start = u64::from(p.offset);
                    (start..start + u64::from(p.size)).contains(&at)
                });
                let starts = places
                    .map(|p| u64::from(p.offset))
                    .filter(|start| *start > at);
                let next = match native {
                    Some(place) => u64::from(place.offset) + u64::from(place.size),
                    None => starts.min().unwrap_or(end),
                };
                let label = if native.is_some() {
                    "native code"
                } else {
                    "filler"
                };
                let next = next.max(at + 1);
                found.push(json!([at, next, "bytes", label, ""]));
                at = next;
                continue;
            };
            let fields = self.part(part);
            let stop = end.min(part_end);
            let start = |leaf: &usize| fields.node(*leaf).map_or(0, |n| n.range.end);
            let first = fields.leaves.partition_point(|leaf| start(leaf) <= at);
            for leaf in fields.leaves.get(first..).unwrap_or_default() {
                let Some(node) = fields.node(*leaf) else {
                    continue;
                };
                if node.range.start >= stop {
                    break;
                }
                let class = node.class.name();
                let path = fields.path(*leaf);
                found.push(json!([
                    node.range.start,
                    node.range.end,
                    class,
                    path,
                    node.value
                ]));
            }
            at = part_end;
        }
        Ok(Json::Array(found))
    }
}
