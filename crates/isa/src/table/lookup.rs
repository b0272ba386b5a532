//! Maps the first bytes of an instruction to its row.

use super::{InstructionDef, Op, PARTS};
use crate::version::Format;

/// The meaning of a first byte in a format.
#[derive(Clone, Copy, Debug)]
pub enum Lookup {
    /// This instruction.
    Instruction(&'static InstructionDef),
    /// The second byte decides.
    SubOps(SubOps),
    /// The number is not used in this format; with the row that uses it in another one, if any.
    Unknown(Option<&'static InstructionDef>),
}

/// The instructions that share an opcode and differ by their second byte.
#[derive(Clone, Copy, Debug)]
pub struct SubOps {
    table: u8,
}

impl SubOps {
    /// The instruction with this second byte.
    #[inline]
    #[must_use]
    pub fn get(self, sub_op: u8) -> Option<&'static InstructionDef> {
        INDEX
            .subs
            .get(usize::from(self.table))?
            .get(usize::from(sub_op))
            .copied()?
    }
}

/// What an opcode is assigned to.
#[derive(Clone, Copy)]
enum Assignment {
    Reserved,
    /// One row, in every version.
    Always(&'static InstructionDef),
    /// One row, in some versions or in none.
    Plain(&'static InstructionDef),
    /// Two rows that share the number over time.
    Reused(&'static InstructionDef, &'static InstructionDef),
    /// Index into the table of sub-operations.
    Sub(u8),
}

/// Sub-operation codes are below this.
const SUB_OPS: usize = 64;
/// Opcodes with sub-operations.
const SUB_TABLES: usize = 5;

struct Index {
    opcodes: [Assignment; 256],
    subs: [[Option<&'static InstructionDef>; SUB_OPS]; SUB_TABLES],
}

// Built by the compiler from the rows; a number used twice or a code out of range does not compile.
#[allow(clippy::indexing_slicing, clippy::panic)]
const fn build() -> Index {
    let mut index = Index {
        opcodes: [Assignment::Reserved; 256],
        subs: [[None; SUB_OPS]; SUB_TABLES],
    };
    let mut tables = 0;
    let mut part = 0;
    while part < PARTS.len() {
        let mut row = 0;
        while row < PARTS[part].len() {
            let def = &PARTS[part][row];
            let opcode = def.op.opcode() as usize;
            match (def.sub_op, index.opcodes[opcode]) {
                (None, Assignment::Reserved) if def.has_layout() && def.when.is_always() => {
                    index.opcodes[opcode] = Assignment::Always(def);
                }
                (None, Assignment::Reserved) => index.opcodes[opcode] = Assignment::Plain(def),
                (None, Assignment::Plain(other)) => {
                    index.opcodes[opcode] = Assignment::Reused(other, def);
                }
                (Some(sub), Assignment::Reserved) => {
                    index.opcodes[opcode] = Assignment::Sub(tables);
                    index.subs[tables as usize][sub as usize] = Some(def);
                    tables += 1;
                }
                (Some(sub), Assignment::Sub(table)) => {
                    let place = &mut index.subs[table as usize][sub as usize];
                    assert!(place.is_none(), "sub-operation used twice");
                    *place = Some(def);
                }
                _ => panic!("opcode used too often"),
            }
            row += 1;
        }
        part += 1;
    }
    index
}

static INDEX: Index = build();

#[inline]
fn assignment_of(opcode: u8) -> Assignment {
    #[allow(clippy::indexing_slicing)] // 256 entries
    INDEX.opcodes[usize::from(opcode)]
}

/// What the first byte of an instruction means in `format`.
#[inline]
#[must_use]
pub fn lookup(opcode: u8, format: Format) -> Lookup {
    match assignment_of(opcode) {
        Assignment::Always(row) => Lookup::Instruction(row),
        Assignment::Sub(table) => Lookup::SubOps(SubOps { table }),
        assignment => lookup_by_format(assignment, format),
    }
}

/// The rare numbers whose meaning depends on the format.
#[inline(never)]
fn lookup_by_format(assignment: Assignment, format: Format) -> Lookup {
    let rows = match assignment {
        Assignment::Always(row) | Assignment::Plain(row) => [Some(row), None],
        Assignment::Reused(first, second) => [Some(first), Some(second)],
        Assignment::Sub(_) | Assignment::Reserved => [None, None],
    };
    let found = rows.into_iter().flatten().find(|row| row.exists_in(format));
    match (found, rows) {
        (Some(row), _) => Lookup::Instruction(row),
        (None, [first, _]) => Lookup::Unknown(first),
    }
}

/// The row of an operation. The variants of `Op` are generated from rows, so there always is one.
#[inline]
pub(super) fn by_op(op: Op) -> &'static InstructionDef {
    match assignment_of(op.opcode()) {
        Assignment::Always(row) | Assignment::Plain(row) => row,
        Assignment::Reused(first, second) => {
            if first.op == op {
                first
            } else {
                second
            }
        }
        Assignment::Sub(table) => SubOps { table }
            .get((op as u16 & 0xff) as u8)
            .unwrap_or(&FALLBACK),
        Assignment::Reserved => &FALLBACK,
    }
}

/// Never returned: every operation has a row.
static FALLBACK: InstructionDef =
    InstructionDef::plain(Op::ADD, super::Group::Miscellaneous, &["reserved"]);
