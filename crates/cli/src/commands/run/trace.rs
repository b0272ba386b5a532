//! `--trace`: every instruction that runs, with the values it wrote.

use crate::output::{Failure, listing, printable};
use std::io::{self, Write};
use std::ops::ControlFlow;
use visakit_exec::{InstructionEvent, Observer};
use visakit_launch::{Tracer, value};

/// Prints what runs to standard output.
pub(super) struct Trace {
    tracer: Tracer,
    out: Box<dyn Write>,
    failed: Option<io::Error>,
    /// The group whose turn it is, until it has ended.
    group: Option<[u32; 3]>,
}

impl Trace {
    pub(super) fn new(tracer: Tracer) -> Self {
        Self {
            tracer,
            out: Box::new(listing()),
            failed: None,
            group: None,
        }
    }

    /// Another group has its turn, while one has not ended.
    fn switch(&mut self, [x, y, z]: [u32; 3]) {
        if self.failed.is_none()
            && let Err(error) = writeln!(self.out, "group ({x}, {y}, {z})")
        {
            self.failed = Some(error);
        }
    }

    fn print(&mut self, event: &InstructionEvent<'_>) -> io::Result<()> {
        write!(
            self.out,
            "t{} {}{}:{} {:08x}  {}",
            event.thread,
            event.routine.kind.name().chars().next().unwrap_or('?'),
            event.routine.index,
            event.instruction,
            event.mask,
            printable(
                self.tracer
                    .line(event.routine, event.instruction)
                    .as_bytes()
            )
        )?;
        if let Some((ty, lanes)) = self.tracer.written(event) {
            write!(self.out, "  =>")?;
            for lane in lanes {
                match lane {
                    Some(bytes) => {
                        for element in value::show(bytes, ty) {
                            write!(self.out, " {element}")?;
                        }
                    }
                    None => write!(self.out, " _")?,
                }
            }
        }
        writeln!(self.out)
    }

    /// Writes the rest; returns the first error that a write encountered.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        Ok(self.out.flush()?)
    }
}

impl Observer for Trace {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn before(&mut self, _: &InstructionEvent<'_>) -> ControlFlow<()> {
        if self.failed.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn group(&mut self, place: [u32; 3], _: [u32; 3]) {
        if self.group.replace(place).is_some() {
            self.switch(place);
        }
    }

    fn turn(&mut self, place: [u32; 3]) {
        if self.group.replace(place) != Some(place) {
            self.switch(place);
        }
    }

    fn ended(&mut self) {
        self.group = None;
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        if self.failed.is_none()
            && let Err(error) = self.print(event)
        {
            self.failed = Some(error);
        }
    }
}
