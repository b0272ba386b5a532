//! Dumps as one JSON document.

use super::Stop;
use crate::output::printable;
use serde_json::{Map, Value as Json, json};
use std::ops::Range;
use visakit::dump::{Content, Visitor, meaning};
use visakit::isa::object::RoutineId;
use visakit::isa::{Dialect, Value};
use visakit::parse::{self, Container, Extent, InstructionRef};

/// One JSON document. Open parts are kept on a stack.
#[derive(Default)]
pub(super) struct Document {
    header: Vec<Json>,
    routines: Vec<Json>,
    binaries: Vec<Json>,
    faults: Vec<Json>,
    stack: Vec<Part>,
}

/// A part that is not yet complete.
struct Part {
    kind: PartKind,
    head: Map<String, Json>,
    fields: Vec<Json>,
    instructions: Vec<Json>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Plain,
    Routine,
    Code,
    Instruction,
}

impl Document {
    fn open(&mut self, kind: PartKind, head: Json) {
        let head = match head {
            Json::Object(map) => map,
            _ => Map::new(),
        };
        self.stack.push(Part {
            kind,
            head,
            fields: Vec::new(),
            instructions: Vec::new(),
        });
    }

    fn add(&mut self, json: Json) {
        match self.stack.last_mut() {
            Some(part) => part.fields.push(json),
            None => self.header.push(json),
        }
    }

    pub(super) fn faults(&self) -> usize {
        self.faults.len()
    }

    pub(super) fn finish(self, bytes: &[u8], options: visakit::ReadOptions) -> Json {
        let version = Container::parse(bytes).map(|c| c.version().to_string());
        json!({
            "version": version.ok(),
            "dialect": visakit::dump::dialect_of(bytes, options).map(Dialect::name),
            "size": bytes.len(),
            "header": self.header,
            "routines": self.routines,
            "binaries": self.binaries,
            "faults": self.faults,
        })
    }
}

fn value_json(value: &Value) -> Json {
    match value.as_number() {
        Some(number) => json!(number),
        None => match value {
            Value::Label(v) => json!(v.0),
            Value::String(v) => json!(v.0),
            Value::Surface(v) => json!(v.0),
            Value::Sampler(v) => json!(v.0),
            Value::Lifetime(v) => json!(v.0),
            other => json!(other.to_string()),
        },
    }
}

impl<'a> Visitor<'a> for Document {
    type Error = Stop;

    fn enter(&mut self, name: &str, index: Option<u32>, offset: u64) -> Result<(), Stop> {
        let kind = if name == "instructions" {
            PartKind::Code
        } else {
            PartKind::Plain
        };
        self.open(
            kind,
            json!({"name": name, "index": index, "offset": offset}),
        );
        Ok(())
    }

    fn leave(&mut self, _: u64) -> Result<(), Stop> {
        let Some(Part {
            kind,
            mut head,
            fields,
            mut instructions,
        }) = self.stack.pop()
        else {
            return Ok(());
        };
        match kind {
            PartKind::Plain => {
                if head.get("index") == Some(&Json::Null) {
                    head.remove("index");
                }
                head.insert("fields".into(), fields.into());
                self.add(head.into());
            }
            PartKind::Instruction => {
                head.insert("fields".into(), fields.into());
                if let Some(code) = self.stack.last_mut() {
                    code.instructions.push(head.into());
                }
            }
            PartKind::Code => {
                // Raw items are among the fields of the code.
                if let Some(routine) = self.stack.last_mut() {
                    routine.instructions.append(&mut instructions);
                    routine.fields.extend(fields);
                }
            }
            PartKind::Routine => {
                head.insert("fields".into(), fields.into());
                head.insert("instructions".into(), instructions.into());
                self.routines.push(head.into());
            }
        }
        Ok(())
    }

    fn field(&mut self, name: &str, range: Range<u64>, content: &Content<'a>) -> Result<(), Stop> {
        let mut json = json!({
            "name": name,
            "offset": range.start,
            "length": range.end - range.start,
        });
        let mut put = |key: &str, value: Json| {
            if let Json::Object(map) = &mut json {
                map.insert(key.into(), value);
            }
        };
        match content {
            Content::Number(number, meaning) => {
                put("value", json!(number));
                if let Some(meaning) = meaning {
                    put("meaning", json!(meaning));
                }
            }
            Content::Bytes(bytes) if name == "name" => {
                put("value", json!(String::from_utf8_lossy(bytes)));
            }
            Content::Bytes(_) if self.stack.is_empty() && name.starts_with("native") => {
                self.binaries.push(json);
                return Ok(());
            }
            // Opcode and sub-operation are properties of the instruction itself.
            Content::Opcode(_) | Content::SubOp(_) => return Ok(()),
            Content::Bytes(bytes) => put("value", json!(hex(bytes))),
            Content::Text(text) => put("value", json!(String::from_utf8_lossy(text))),
            Content::Field(def, value) => {
                put("kind", json!(def.kind.name()));
                put("value", value_json(value));
                if let Some(meaning) = meaning(def, value) {
                    put("meaning", json!(meaning));
                }
            }
            Content::Raw(bytes, reason) => {
                put("value", json!(hex(bytes)));
                put("reason", json!(reason));
            }
        }
        self.add(json);
        Ok(())
    }

    fn routine(&mut self, id: RoutineId, name: &[u8], place: &Extent) -> Result<(), Stop> {
        let head = json!({
            "name": printable(name),
            "kind": id.kind.name(),
            "offset": place.offset,
            "size": place.size,
        });
        self.open(PartKind::Routine, head);
        Ok(())
    }

    fn instruction(&mut self, _: u32, instruction: &InstructionRef<'a>) -> Result<(), Stop> {
        let def = instruction.def();
        let mut head = json!({
            "offset": instruction.offset(),
            "length": instruction.len(),
            "opcode": def.op.opcode(),
            "mnemonic": def.mnemonic(),
            "row": def.name,
        });
        if let (Some(sub_op), Json::Object(map)) = (def.sub_op, &mut head) {
            map.insert("sub_op".into(), json!(sub_op));
        }
        self.open(PartKind::Instruction, head);
        Ok(())
    }

    fn fault(&mut self, fault: &parse::Error) -> Result<(), Stop> {
        self.faults.push(json!({
            "offset": fault.offset(),
            "message": fault.to_string(),
        }));
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
