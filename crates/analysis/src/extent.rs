//! Which bytes of variables an instruction reads and writes.

use crate::storage::{Part, Root, Storage, general};
use std::ops::Range;
use visakit_isa::operand::{GeneralOperand, RegionCode};
use visakit_isa::semantics::{MemoryAccess, Traits};
use visakit_isa::{AnyInstruction, ExecSize, FieldName, Instruction, Value, VectorOperand};

/// Bytes of a root that are read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) root: Root,
    pub(crate) bytes: Range<usize>,
    /// For writes: whether all of these bytes are written, in all running lanes.
    pub(crate) whole: bool,
}

/// The variables of a routine and the registers of a platform.
pub(crate) struct Extents<'s, 'a> {
    pub(crate) storage: &'s Storage<'a>,
    pub(crate) grf: usize,
}

impl Extents<'_, '_> {
    /// The variables that an instruction reads by name.
    pub(crate) fn reads(&self, instruction: &Instruction) -> Vec<Extent> {
        self.all(instruction, false)
    }

    /// The variables that an instruction writes by name.
    pub(crate) fn writes(&self, instruction: &Instruction) -> Vec<Extent> {
        self.all(instruction, true)
    }

    fn all(&self, instruction: &Instruction, written: bool) -> Vec<Extent> {
        let mut extents = Vec::new();
        let predicated = instruction.predicate().is_some_and(|p| !p.is_none());
        let memory = instruction.memory();
        let mut see = |field: Option<FieldName>, resource| {
            let Some(variable) = general(resource) else {
                return;
            };
            let Some(part) = self.storage.part(variable) else {
                return;
            };
            let Some(field) = field else {
                return;
            };
            for value in instruction.values(field) {
                let found = match value {
                    Value::Raw(raw) if raw.variable == variable => Some((
                        usize::from(raw.offset),
                        raw_bytes(field, memory.as_ref(), self.grf),
                    )),
                    Value::Vector(VectorOperand::General(o)) if o.variable == variable => {
                        Some(self.vector(&o, &part, instruction, written))
                    }
                    _ => None,
                };
                if let Some((at, bytes)) = found {
                    extents.push(extent(&part, at, bytes, written && !predicated));
                }
            }
        };
        if written {
            instruction.writes().for_each(|a| see(a.field, a.resource));
        } else {
            instruction.reads().for_each(|a| see(a.field, a.resource));
        }
        extents
    }

    /// First byte of a vector operand in its variable, and its bytes if they can be determined. Written bytes must all
    /// be written; read ones may be fewer.
    fn vector(
        &self,
        operand: &GeneralOperand,
        part: &Part,
        instruction: &Instruction,
        written: bool,
    ) -> (usize, Option<usize>) {
        let at = usize::from(operand.row) * self.grf + usize::from(operand.column) * part.element;
        let unusual = Traits::REGIONS_IGNORED | Traits::ACROSS_LANES | Traits::SYSTOLIC;
        let lanes = instruction.exec_size().and_then(ExecSize::lanes);
        let Some(lanes) = lanes.map(usize::from) else {
            return (at, None);
        };
        if instruction.def().traits.intersects(unusual) {
            return (at, None);
        }
        let region = operand.region;
        let code = |code: RegionCode| code.elements().map(usize::from);
        let horizontal = code(region.horizontal_stride());
        let elements = if written {
            (horizontal == Some(1)).then_some(lanes)
        } else {
            let (vertical, width) = (code(region.vertical_stride()), code(region.width()));
            match (vertical, width, horizontal) {
                (Some(v), Some(w @ 1..), Some(h)) => {
                    let (rows, row) = (lanes.div_ceil(w), w.min(lanes));
                    Some((rows - 1) * v + (row - 1) * h + 1)
                }
                _ => None,
            }
        };
        (at, elements.map(|n| n * part.element))
    }
}

/// Bytes in registers of a raw operand, where the instruction states it.
fn raw_bytes(field: FieldName, memory: Option<&MemoryAccess>, grf: usize) -> Option<usize> {
    let memory = memory?;
    if memory.data != Some(field) {
        return None;
    }
    let bytes = memory.bytes()? as usize;
    // Elements below a dword may or may not take one each: in doubt the message fills the whole variable.
    (memory.element_bytes? >= 4).then(|| bytes.next_multiple_of(grf))
}

/// A run of bytes of a variable as one of its root. Without a number of bytes it ends where the variable does.
fn extent(part: &Part, at: usize, bytes: Option<usize>, whole: bool) -> Extent {
    let end = match bytes {
        Some(bytes) => at.saturating_add(bytes),
        None => part.bytes.max(at + 1),
    };
    Extent {
        root: part.root,
        bytes: part.offset.saturating_add(at)..part.offset.saturating_add(end),
        // A destination whose bytes cannot be determined is written completely: compilers declare what messages fill.
        whole,
    }
}
