//! `--trace`: every instruction that runs, with what it wrote.

use crate::output::{Failure, printable, stdout};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, Write};
use std::ops::ControlFlow;
use visakit::isa::object::{Object, RoutineId};
use visakit::isa::{DataType, FieldName, Value, VectorOperand};
use visakit::text::{Form, LineKind, Options, Output, Printer};
use visakit_exec::{InstructionEvent, Observer, Program};
use visakit_launch::value;

/// Where an instruction writes.
#[derive(Clone, Copy)]
struct Written {
    /// First byte in the register file.
    at: usize,
    /// Bytes from one lane's element to the next.
    stride: usize,
    ty: DataType,
    lanes: u8,
}

/// Prints what runs, to standard output.
pub(super) struct Trace<'o> {
    object: &'o Object<'o>,
    grf_bytes: u32,
    lines: BTreeMap<(RoutineId, usize), String>,
    written: BTreeMap<(RoutineId, usize), Written>,
    out: Box<dyn Write>,
    failed: Option<io::Error>,
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
            // The printer numbers instructions in a comment of its own.
            let text = text.split("///").next().unwrap_or_default().trim();
            self.lines
                .insert((self.routine, number), printable(text.as_bytes()));
        }
        Ok(())
    }
}

impl<'o> Trace<'o> {
    pub(super) fn new(object: &'o Object<'o>, grf_bytes: u32) -> Self {
        let printer = Printer::new(
            object,
            Options {
                form: Form::Intel,
                grf_bytes: Some(grf_bytes),
            },
        );
        let mut lines = BTreeMap::new();
        for (routine, _) in object.routines() {
            let Ok(()) = printer.routine(
                routine,
                Lines {
                    routine,
                    lines: &mut lines,
                },
            );
        }
        Self {
            object,
            grf_bytes,
            lines,
            written: BTreeMap::new(),
            out: Box::new(stdout()),
            failed: None,
        }
    }

    /// Looks up where the instructions of the program's kernel write.
    pub(super) fn know(&mut self, program: &Program) {
        let kernels = self.object.kernels.iter().enumerate();
        for (index, kernel) in kernels {
            let id = RoutineId::new(visakit::isa::object::RoutineKind::Kernel, index);
            let Some(body) = kernel.body() else { continue };
            let first = self.object.format().predefined_variable_count();
            for (number, instruction) in body.instructions().enumerate() {
                let lanes = instruction
                    .exec_size()
                    .and_then(visakit::isa::ExecSize::lanes)
                    .unwrap_or(1);
                let (variable, row, column, stride) = match instruction.get(FieldName::Dst) {
                    Some(Value::Vector(VectorOperand::General(g))) => (
                        g.variable,
                        u32::from(g.row) * self.grf_bytes,
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
                let written = Written {
                    at: slot.offset
                        + usize::try_from(row).unwrap_or(0)
                        + usize::from(column) * size,
                    stride: usize::from(stride) * size,
                    ty: slot.data_type,
                    lanes,
                };
                self.written.insert((id, number), written);
            }
        }
    }

    fn print(&mut self, event: &InstructionEvent<'_>) -> io::Result<()> {
        let place = (event.routine, event.instruction);
        let text = self.lines.get(&place).map_or("", String::as_str);
        write!(
            self.out,
            "t{} {}{}:{} {:08x}  {text}",
            event.thread,
            event.routine.kind.name().chars().next().unwrap_or('?'),
            event.routine.index,
            event.instruction,
            event.mask,
        )?;
        if let Some(written) = self.written.get(&place) {
            write!(self.out, "  =>")?;
            for lane in 0..written.lanes.min(32) {
                let at = written.at + usize::from(lane) * written.stride;
                let size = usize::from(written.ty.size());
                match event.registers.get(at..at.saturating_add(size)) {
                    Some(bytes) if event.mask >> lane & 1 != 0 => {
                        for element in value::show(bytes, written.ty) {
                            write!(self.out, " {element}")?;
                        }
                    }
                    _ => write!(self.out, " _")?,
                }
            }
        }
        writeln!(self.out)
    }

    /// Writes what is left, and tells if something could not be written.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        Ok(self.out.flush()?)
    }
}

impl Observer for Trace<'_> {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn before(&mut self, _: &InstructionEvent<'_>) -> ControlFlow<()> {
        if self.failed.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        if self.failed.is_none()
            && let Err(error) = self.print(event)
        {
            self.failed = Some(error);
        }
    }
}
