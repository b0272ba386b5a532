//! Determines which dialect an object is written in, by decoding its instructions.

use crate::error::Error;
use crate::instruction::FieldVisitor;
use crate::instructions::Instructions;
use crate::routine::RoutineReader;
use crate::rules::Rules;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU8, Ordering};
use visakit_isa::object::Item;
use visakit_isa::table::{FieldDef, FieldKind};
use visakit_isa::{
    Dialect, Features, Fields, Format, Instruction, InstructionDef, Op, Value, Version,
};

/// How far the routines of an object can be decoded in one dialect.
#[derive(Debug)]
pub(crate) struct Attempt {
    dialect: Dialect,
    /// Whether every instruction of every routine is sound.
    sound: bool,
    /// Bytes of sound instructions.
    bytes: u64,
    /// Unmarked features that any instruction depends on.
    met: Features,
}

impl Attempt {
    fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            sound: true,
            bytes: 0,
            met: Features::empty(),
        }
    }

    /// The dialect.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn instructions<'a>(&self, reader: &RoutineReader<'a>) -> Instructions<'a> {
        let format = Format::new(reader.format().version(), self.dialect);
        let rules = Rules::of_body(reader.tables(), format);
        Instructions::new(reader.code(), reader.tables_end(), format, rules)
    }

    fn meet(&mut self, def: &InstructionDef) {
        self.met = self.met.union(def.unmarked);
    }

    fn end(&mut self, code: &[u8], instructions: &Instructions<'_>, error: Option<&Error>) -> bool {
        // The fault may be one of the layout of this very instruction.
        if let Some(def) = error.and_then(|error| error.context().def) {
            self.meet(def);
        }
        let left = instructions.rest().len();
        self.sound &= left == 0;
        self.bytes += (code.len() - left) as u64;
        left == 0
    }

    /// Decodes a routine.
    pub(crate) fn decode(&mut self, reader: &RoutineReader<'_>) {
        let mut instructions = self.instructions(reader);
        let mut error = None;
        for next in instructions.by_ref() {
            match next {
                Ok(instruction) => self.meet(instruction.def()),
                Err(found) => error = Some(found),
            }
        }
        self.end(reader.code(), &instructions, error.as_ref());
    }

    /// Decodes a routine and collects its instructions; `None` unless all are sound.
    pub(crate) fn collect<'a>(&mut self, reader: &RoutineReader<'a>) -> Option<Vec<Item<'a>>> {
        let mut instructions = self.instructions(reader);
        let mut code = Vec::with_capacity(expected_count(reader.code()));
        let error = collect(&mut instructions, &mut code, &mut self.met);
        let sound = self.end(reader.code(), &instructions, error.as_ref());
        sound.then(|| fitted(code))
    }
}

/// The list without room that it does not need.
pub(crate) fn fitted<T>(mut list: Vec<T>) -> Vec<T> {
    // Where little is gained, it is not worth an allocator that may copy.
    if list.capacity() - list.len() > list.len() / 8 {
        list.shrink_to_fit();
    }
    list
}

/// Approximate number of instructions in code of this size.
pub(crate) fn expected_count(code: &[u8]) -> usize {
    code.len() / 16
}

/// Collects instructions up to the first faulty one, and returns the error of that one. Notes the
/// unmarked features that they depend on.
///
/// The only place that decodes into owned instructions: a second copy of that much code would cost
/// more than the call.
#[inline(never)]
pub(crate) fn collect(
    instructions: &mut Instructions<'_>,
    code: &mut Vec<Item<'_>>,
    met: &mut Features,
) -> Option<Error> {
    loop {
        if code.len() == code.capacity() {
            // More than expected. Counting them costs less than memory for twice as many.
            code.reserve(instructions.clone().count() + 1);
        }
        // Created and filled in place.
        code.resize_with(code.len() + 1, || Instruction::new(Op::LABEL).into());
        let Some(Item::Instruction(entry)) = code.last_mut() else {
            return None;
        };
        match instructions.next_to(&mut entry.fields) {
            Some(Ok(instruction)) => {
                *met = met.union(instruction.def().unmarked);
                entry.op = instruction.op();
            }
            end => {
                code.pop();
                return end.and_then(Result::err);
            }
        }
    }
}

impl FieldVisitor for Fields {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn visit(
        &mut self,
        def: &'static FieldDef,
        fill: impl FnOnce(&mut Value) -> Option<Range<usize>>,
    ) -> Option<()> {
        // Counts are derived from the lists.
        let taken = match def.kind {
            FieldKind::Count => fill(&mut Value::ZERO.clone()),
            _ => fill(self.push_name(def.name)?),
        };
        taken.map(|_| ())
    }
}

/// Every dialect in which all instructions of all routines are sound, in order of preference,
/// preceded by the dialect in which most bytes are sound, as a fallback.
///
/// `attempt` decodes all routines in a dialect, the default one first.
pub(crate) fn search(
    version: Version,
    mut attempt: impl FnMut(&mut Attempt),
) -> (Dialect, Vec<Dialect>) {
    let mut candidates = Vec::new();
    let mut best = (Dialect::default(), 0);
    let all = || Dialect::ALL.into_iter().filter(|d| d.applies_to(version));
    for dialect in all() {
        let mut found = Attempt::new(dialect);
        attempt(&mut found);
        // What was met in the first dialect shows whether the others can differ at all.
        if dialect == Dialect::default() && found.met.is_empty() {
            if found.sound {
                candidates = all().collect();
            }
            break;
        }
        if found.sound {
            candidates.push(dialect);
        }
        if found.bytes > best.1 {
            best = (dialect, found.bytes);
        }
    }
    (best.0, candidates)
}

/// A dialect that is determined when it is first requested.
#[derive(Debug)]
pub(crate) struct FoundDialect(AtomicU8);

impl FoundDialect {
    const UNKNOWN: u8 = u8::MAX;

    /// The dialect; `find` determines it on the first call.
    pub(crate) fn get_or_find(&self, find: impl FnOnce() -> Dialect) -> Dialect {
        let known = usize::from(self.0.load(Ordering::Relaxed));
        if let Some(dialect) = Dialect::ALL.get(known) {
            return *dialect;
        }
        let dialect = find();
        self.0.store(Self::code(dialect), Ordering::Relaxed);
        dialect
    }

    fn code(dialect: Dialect) -> u8 {
        let place = Dialect::ALL.iter().position(|d| *d == dialect);
        place
            .and_then(|place| u8::try_from(place).ok())
            .unwrap_or(Self::UNKNOWN)
    }
}

impl Default for FoundDialect {
    fn default() -> Self {
        Self(AtomicU8::new(Self::UNKNOWN))
    }
}

impl From<Dialect> for FoundDialect {
    fn from(dialect: Dialect) -> Self {
        Self(AtomicU8::new(Self::code(dialect)))
    }
}

impl Clone for FoundDialect {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}
