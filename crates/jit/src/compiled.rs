//! The result of compilation.

#[cfg(feature = "listing")]
use crate::Verdict;
use crate::flow::Compiler;
use crate::pages::frame;
#[cfg(any(test, feature = "listing"))]
use crate::vector::Writer;
use crate::x64::{Finished, Frame, Label, Note};
use visakit_exec::Entry;

/// The result of compilation.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) bytes: Vec<u8>,
    pub(crate) constants: Vec<u8>,
    /// What the code is for, from where on.
    pub(crate) notes: Vec<(usize, Note)>,
    /// For each step: the requirements for entering the segment that begins there.
    pub(crate) entries: Vec<Entry>,
    /// For each step, places of the versions of the segment that begins there: for full masks, and for others.
    pub(crate) places: Vec<Option<[usize; 2]>>,
    /// Where code ends and the interpreter continues.
    pub(crate) end: usize,
    /// Bytes of the register file that the code reads and writes.
    pub(crate) file_bytes: usize,
    /// Lanes of the program.
    pub(crate) full: u32,
    /// Whether code says which ways it takes.
    pub(crate) traced: bool,
    /// Steps that call the interpreter.
    pub(crate) calls: Vec<usize>,
    /// The step at which threads begin that may run before their turn, and where the code for that begins.
    pub(crate) companion: Option<(usize, usize)>,
}

impl Compiler<'_> {
    /// Where the host may enter the code: at both versions of each segment, at the end, and where a thread begins that
    /// runs before its turn, if there is one.
    fn entries(&self) -> (Vec<Label>, Option<usize>) {
        let pair = self.pair.as_ref();
        let companion = pair.and_then(|pair| Some((pair.start, pair.companion()?)));
        let segments = self.segments.values();
        let labels = segments.flat_map(|segment| [0, 1].map(|version| segment.label(version)));
        let labels = labels
            .chain([self.end])
            .chain(companion.map(|(_, label)| label));
        (labels.collect(), companion.map(|(start, _)| start))
    }

    /// What the code may access.
    fn frame(&self) -> Frame {
        frame(self.code.register_bytes, self.writer.full)
    }

    /// What becomes of the code.
    #[cfg(feature = "listing")]
    pub(crate) fn verdict(self) -> Verdict {
        let (labels, _) = self.entries();
        let (frame, entries) = (self.frame(), (&labels[..], self.end));
        let Writer { asm, constants, .. } = self.writer;
        match asm.proof(entries, &frame, &constants.bytes) {
            None => Verdict::NoCode,
            Some(Ok(())) => Verdict::Proven,
            Some(Err(reason)) => Verdict::Refused(reason),
        }
    }

    /// See [`Assembler::relied_on`].
    #[cfg(test)]
    pub(crate) fn relied_on(&mut self, step: usize, full: bool) -> Vec<(String, bool)> {
        let (labels, _) = self.entries();
        let (frame, entries) = (self.frame(), (&labels[..], self.end));
        let Writer { asm, constants, .. } = &mut self.writer;
        asm.relied_on(entries, &frame, &constants.bytes, (step, full))
    }

    /// Machine code. `None` if it is not known to stay inside of what it may access.
    pub(crate) fn complete(self) -> Option<Compiled> {
        let (labels, companion) = self.entries();
        let frame = self.frame();
        let steps = self.code.steps.len();
        let Self {
            writer,
            calls,
            segments,
            end,
            ..
        } = self;
        let constants = writer.constants.bytes;
        let finished = writer.asm.finish((&labels, end), &frame, &constants)?;
        let Finished {
            bytes,
            labels,
            notes,
        } = finished;
        let (offsets, ends) = labels.split_at_checked(2 * segments.len())?;
        let (pairs, _) = offsets.as_chunks::<2>();
        let mut places = vec![None; steps];
        let mut entries = vec![Entry::default(); steps];
        for (segment, pair) in segments.values().zip(pairs) {
            *places.get_mut(segment.steps.start)? = Some(*pair);
            *entries.get_mut(segment.steps.start)? = Entry {
                cost: segment.cost,
                mode: segment.usual_mode,
            };
        }
        Some(Compiled {
            bytes,
            constants,
            notes,
            entries,
            places,
            end: *ends.first()?,
            companion: companion.zip(ends.get(1).copied()),
            file_bytes: frame.file_bytes,
            full: writer.full,
            traced: writer.traced,
            calls: calls.into_iter().collect(),
        })
    }
}
