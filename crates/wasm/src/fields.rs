//! The fields of an object: the structure tree, and the owners of the bytes in a window.

use crate::Answer;
use crate::code::{CHUNK, Code};
use crate::file::File;
use serde_json::{Value as Json, json};
use std::ops::Range;
use std::rc::Rc;
use visakit::dump::{self, Content, Visitor, meaning};
use visakit::isa::object::RoutineId;
use visakit::isa::table::Role;
use visakit::parse::{
    Container, Error, Extent, ExtentId, InstructionRef, Instructions, PartId, Rules,
};

/// The class of a field, for its colour.
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

/// The fields of the header, of what a routine has before its instructions, or of some of its instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    nodes: Vec<Node>,
    /// Number of the first instruction.
    first: usize,
    /// The path that contains the fields.
    within: String,
    /// The entry whose children are the instructions.
    instructions: Option<usize>,
    /// The fields in the order of their places.
    leaves: Vec<usize>,
    open: Vec<usize>,
}

/// Longer values are cut.
const LONGEST: usize = 120;

/// Maximum size of a window of bytes.
const WINDOW: usize = 16 << 10;

/// Wider fields are not edited as one number.
const WIDEST: u64 = 8;

impl Part {
    fn header(bytes: &[u8]) -> Self {
        let mut part = Self::default();
        // Everything before a fault is shown.
        drop(dump::walk_header(bytes, &mut part));
        part.finish()
    }

    fn tables(container: &Container<'_>, id: RoutineId) -> Self {
        let mut part = Self::default();
        drop(dump::walk_tables(container, id, &mut part));
        let last = part.nodes.iter().rposition(|n| n.label == "instructions");
        part.instructions = last.filter(|n| part.node(*n).is_some_and(|n| n.children.is_empty()));
        part.finish()
    }

    /// The instructions of a routine from that one on, as many as are listed together.
    fn instructions(container: &Container<'_>, id: RoutineId, code: &Code, chunk: usize) -> Self {
        let first = chunk.saturating_mul(CHUNK);
        let mut part = Self {
            first,
            within: format!("{} {} › instructions", id.kind.name(), id.index),
            ..Self::default()
        };
        let Ok(reader) = container.routine(id) else {
            return part;
        };
        let before = first.checked_sub(1).and_then(|n| code.places.get(n));
        let offset = before.map_or(code.start, |(offset, length)| offset + length);
        let bytes = reader.code().get(offset - code.start..).unwrap_or_default();
        let format = container.format();
        let all = Instructions::new(bytes, offset as u64, format, Rules::LENIENT);
        drop(dump::walk_instructions(all, CHUNK, &mut part));
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

    /// The entries that are in no other.
    fn roots(&self) -> Vec<usize> {
        let all = self.nodes.iter().enumerate();
        all.filter(|(_, node)| node.parent.is_none())
            .map(|(number, _)| number)
            .collect()
    }

    /// The entries from the outermost one to an entry.
    fn line(&self, number: usize) -> Vec<usize> {
        let mut line = vec![number];
        while let Some(parent) = line.last().and_then(|n| self.node(*n)?.parent) {
            line.push(parent);
        }
        line.reverse();
        line
    }

    /// The names from the outermost part to a node.
    fn path(&self, number: usize) -> String {
        let names = self.line(number).into_iter();
        let names = names.filter_map(|n| Some(self.node(n)?.label.as_str()));
        let within = Some(self.within.as_str()).filter(|within| !within.is_empty());
        let names: Vec<_> = within.into_iter().chain(names).collect();
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
        let label = format!("instruction {}", self.first + number as usize);
        self.begin(label, name.to_owned(), instruction.offset());
        Ok(())
    }

    fn fault(&mut self, _: &Error) -> Result<(), Error> {
        Ok(())
    }
}

impl File {
    /// The fields of a part: 0 is the header, 1 what the first routine has before its instructions, and so on; for a
    /// chunk those of some instructions.
    fn part(&self, part: usize, chunk: Option<usize>) -> Rc<Part> {
        self.kept.parts.get((part, chunk), || {
            let Some(routine) = part.checked_sub(1) else {
                return Part::header(&self.bytes);
            };
            match (self.container(), self.id(routine), chunk) {
                (Some(container), Ok(id), None) => Part::tables(&container, id),
                (Some(container), Ok(id), Some(chunk)) => {
                    Part::instructions(&container, id, &self.code(routine), chunk)
                }
                _ => Part::default(),
            }
        })
    }

    /// The entries below an entry of a part; without an entry those of the part itself. Instructions are entries of
    /// chunks, which are entries themselves where there are several.
    pub(crate) fn tree(&self, part: usize, chunk: Option<usize>, node: Option<usize>) -> Answer {
        let fields = self.part(part, chunk);
        let of = |fields: &Part, chunk: Option<usize>, numbers: &[usize]| {
            let rows = numbers.iter().filter_map(|number| {
                let mut row = fields.row(*number)?;
                let entries = row.as_object_mut()?;
                entries.insert("chunk".to_owned(), json!(chunk));
                // The number of instructions is known without decoding them.
                if chunk.is_none() && fields.instructions == Some(*number) {
                    entries.insert("children".to_owned(), json!(self.listed(part)));
                }
                Some(row)
            });
            rows.collect::<Vec<_>>()
        };
        let rows = match node {
            Some(node) if chunk.is_none() && fields.instructions == Some(node) => {
                match self.chunks(part) {
                    0 | 1 => {
                        let only = self.part(part, Some(0));
                        of(&only, Some(0), &only.roots())
                    }
                    chunks => (0..chunks)
                        .map(|chunk| self.chunk_row(part, chunk))
                        .collect(),
                }
            }
            Some(node) => {
                let found = fields.node(node).ok_or("there is no such entry")?;
                of(&fields, chunk, &found.children)
            }
            None => of(&fields, chunk, &fields.roots()),
        };
        Ok(Json::Array(rows))
    }

    fn chunks(&self, part: usize) -> usize {
        part.checked_sub(1)
            .map_or(0, |routine| self.code(routine).chunks())
    }

    /// Entries below that of the instructions.
    fn listed(&self, part: usize) -> usize {
        let code = part.checked_sub(1).map(|routine| self.code(routine));
        code.map_or(0, |code| match code.chunks() {
            0 | 1 => code.places.len() + usize::from(code.has_rest),
            chunks => chunks,
        })
    }

    fn chunk_row(&self, part: usize, chunk: usize) -> Json {
        let code = self.code(part.saturating_sub(1));
        let first = chunk * CHUNK;
        let own = code.places.get(first..).unwrap_or_default();
        let own = own.get(..CHUNK).unwrap_or(own);
        let from = own.first().map_or(0, |(offset, _)| *offset);
        // Undecoded bytes follow the last of them.
        let rest = usize::from(code.has_rest && chunk + 1 == code.chunks());
        let to = own.last().map_or(from, |(offset, length)| offset + length);
        json!({
            "node": null,
            "chunk": chunk,
            "label": format!("instructions {first} to {}", first + own.len().max(1) - 1),
            "value": "",
            "class": Class::Group.name(),
            "from": from,
            "to": to,
            "children": own.len() + rest,
            "editable": false,
        })
    }

    /// The part that an offset is in: the header, a routine, or neither.
    fn part_at(&self, offset: u64) -> Option<(usize, u64)> {
        let container = self.container()?;
        if offset < container.header_end() {
            return Some((0, container.header_end()));
        }
        let parts = container.parts();
        let part = parts.iter().find(|part| part.range.contains(&offset))?;
        match part.id {
            PartId::Extent(extent) => match extent.id {
                ExtentId::Routine(id) => Some((self.number_of(id) + 1, part.range.end)),
                ExtentId::Binary { .. } => None,
            },
            _ => None,
        }
    }

    /// The chunk of a part that an offset is in.
    fn chunk_at(&self, part: usize, offset: u64) -> Option<usize> {
        let code = self.code(part.checked_sub(1)?);
        code.chunk_at(usize::try_from(offset).ok()?)
    }

    /// The entries of the tree from a part to the field at an offset: chunk and number of each.
    pub(crate) fn tree_path(&self, offset: usize) -> Answer {
        let offset = offset as u64;
        let Some((part, _)) = self.part_at(offset) else {
            return Ok(Json::Null);
        };
        let chunk = self.chunk_at(part, offset);
        let fields = self.part(part, chunk);
        let Some(leaf) = fields.leaf_at(offset) else {
            return Ok(Json::Null);
        };
        let mut steps: Vec<(Option<usize>, Option<usize>)> = Vec::new();
        if let Some(chunk) = chunk {
            let tables = self.part(part, None);
            let instructions = tables.instructions.into_iter();
            steps.extend(
                instructions
                    .flat_map(|n| tables.line(n))
                    .map(|n| (None, Some(n))),
            );
            if self.chunks(part) > 1 {
                steps.push((Some(chunk), None));
            }
        }
        let line = fields.line(leaf).into_iter();
        steps.extend(line.map(|n| (chunk, Some(n))));
        let range = fields.node(leaf).map(|n| n.range.clone());
        let range = range.unwrap_or_default();
        Ok(json!({
            "part": part, "steps": steps, "path": fields.path(leaf), "from": range.start, "to": range.end,
        }))
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
                // Native code, and bytes that belong to no piece.
                let parts = self.container().map(|c| c.parts()).unwrap_or_default();
                let part = parts.into_iter().find(|part| part.range.contains(&at));
                let next = part.as_ref().map_or(end, |part| part.range.end);
                let label = match part.map(|part| part.id) {
                    Some(PartId::Extent(_)) => "native code",
                    Some(PartId::Padding) => "padding",
                    _ => "filler",
                };
                let next = next.max(at + 1);
                found.push(json!([at, next, "bytes", label, ""]));
                at = next;
                continue;
            };
            let (fields, part_end) = match self.chunk_at(part, at) {
                None => {
                    let code = part.checked_sub(1).map(|routine| self.code(routine));
                    let tables_end = code.filter(|c| c.chunks() > 0).map(|c| c.start as u64);
                    (self.part(part, None), tables_end.unwrap_or(part_end))
                }
                Some(chunk) => {
                    let fields = self.part(part, Some(chunk));
                    let last = chunk + 1 >= self.chunks(part);
                    let end = fields.leaves.last().and_then(|leaf| fields.node(*leaf));
                    let end = end.filter(|_| !last).map(|n| n.range.end);
                    (fields, end.unwrap_or(part_end))
                }
            };
            let stop = end.min(part_end);
            let ends = |leaf: &usize| fields.node(*leaf).map_or(0, |n| n.range.end);
            let first = fields.leaves.partition_point(|leaf| ends(leaf) <= at);
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
            at = part_end.max(at + 1);
        }
        Ok(Json::Array(found))
    }
}
