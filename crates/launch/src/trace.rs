//! The text of executed instructions, and the values they write, for tracing a kernel.

use std::collections::BTreeMap;
use std::convert::Infallible;
use visakit_exec::{InstructionEvent, Program};
use visakit_isa::object::{Object, RoutineId, RoutineKind};
use visakit_isa::{DataType, ExecSize, FieldName, Value, VectorOperand};
use visakit_text::{Form, LineKind, Options, Output, Printer};

/// The instructions of an object as text, and the places in the register file where those of kernels write.
#[derive(Clone, Debug)]
pub struct Tracer {
    lines: BTreeMap<(RoutineId, usize), String>,
    written: BTreeMap<(RoutineId, usize), Written>,
}

/// The destination of an instruction.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// First byte in the register file.
    at: usize,
    /// Bytes from one lane's element to the next.
    stride: usize,
    ty: DataType,
    lanes: u8,
}

/// Takes the text of each instruction.
struct Lines<'l> {
    routine: RoutineId,
    lines: &'l mut BTreeMap<(RoutineId, usize), String>,
}

impl Output for Lines<'_> {
    type Error = Infallible;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Infallible> {
        if let LineKind::Instruction(number) = kind {
            let text = String::from_utf8_lossy(text);
            // The printer adds the number of an instruction in a comment.
            let text = text.split("///").next().unwrap_or_default().trim();
            self.lines.insert((self.routine, number), text.to_owned());
        }
        Ok(())
    }
}

impl Tracer {
    /// Creates it from an object and its translated program, for registers of this size.
    #[must_use]
    pub fn new(object: &Object<'_>, grf_bytes: u32, program: &Program) -> Self {
        let options = Options {
            form: Form::Intel,
            grf_bytes: Some(grf_bytes),
        };
        let printer = Printer::new(object, options);
        let mut lines = BTreeMap::new();
        for (routine, _) in object.routines() {
            let output = Lines {
                routine,
                lines: &mut lines,
            };
            let Ok(()) = printer.routine(routine, output);
        }
        Self {
            lines,
            written: written(object, grf_bytes, program),
        }
    }

    /// The text of an instruction by its place in a routine; empty if there is none.
    #[must_use]
    pub fn line(&self, routine: RoutineId, instruction: usize) -> &str {
        let line = self.lines.get(&(routine, instruction));
        line.map_or("", String::as_str)
    }

    /// The type of what an instruction of a kernel has written into a variable, and the bytes of each lane; `None` for
    /// lanes that were not enabled. To be called after the instruction has run.
    #[must_use]
    pub fn written<'e>(
        &self,
        event: &InstructionEvent<'e>,
    ) -> Option<(DataType, Vec<Option<&'e [u8]>>)> {
        let written = self.written.get(&(event.routine, event.instruction))?;
        let size = usize::from(written.ty.size());
        let lane = |lane: u8| {
            let at = written.at + usize::from(lane) * written.stride;
            let bytes = event.registers.get(at..at.saturating_add(size));
            bytes.filter(|_| event.mask >> lane & 1 != 0)
        };
        let lanes = (0..written.lanes.min(32)).map(lane).collect();
        Some((written.ty, lanes))
    }
}

/// Looks up where the instructions of kernels write.
fn written(
    object: &Object<'_>,
    grf_bytes: u32,
    program: &Program,
) -> BTreeMap<(RoutineId, usize), Written> {
    let mut all = BTreeMap::new();
    let first = object.format().predefined_variable_count();
    for (index, kernel) in object.kernels.iter().enumerate() {
        let id = RoutineId::new(RoutineKind::Kernel, index);
        let Some(body) = kernel.body() else { continue };
        for (number, instruction) in body.instructions().enumerate() {
            let lanes = instruction.exec_size().and_then(ExecSize::lanes);
            let (variable, row, column, stride) = match instruction.get(FieldName::Dst) {
                Some(Value::Vector(VectorOperand::General(g))) => (
                    g.variable,
                    u32::from(g.row) * grf_bytes,
                    g.column,
                    g.region.horizontal_stride().elements().unwrap_or(1),
                ),
                Some(Value::Raw(raw)) => (raw.variable, u32::from(raw.offset), 0, 1),
                _ => continue,
            };
            let name = variable.0.checked_sub(first).and_then(|n| {
                let declared = body.variables.get(usize::try_from(n).ok()?)?;
                Some(String::from_utf8_lossy(body.string(declared.name)?))
            });
            let Some(slot) = name.and_then(|name| program.variable(&name)) else {
                continue;
            };
            let size = usize::from(slot.data_type.size());
            let row = usize::try_from(row).unwrap_or(0);
            let written = Written {
                at: slot.offset + row + usize::from(column) * size,
                stride: usize::from(stride) * size,
                ty: slot.data_type,
                lanes: lanes.unwrap_or(1),
            };
            all.insert((id, number), written);
        }
    }
    all
}
