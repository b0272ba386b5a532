//! Instructions: the walk along the fields of a row, lazy views, and the iterator over them.

use crate::error::{ErrorKind, NomError};
use crate::rules::Rules;
use crate::wire::{Bytes, Fully, PResult, Policy, Unchecked, Unexplained};
use core::ops::Range;
use visakit_isa::table::{self, FieldDef, FieldKind, FieldName, FieldPattern, Lookup};
use visakit_isa::{AnyInstruction, Format, Instruction, InstructionDef, Op, Value};

/// Steps along the fields of a row, in stream order. The only place that knows how conditions, counts and lists control
/// the reading.
#[derive(Debug)]
struct Walk<'a, 'r, X, const INDEX: u8> {
    bytes: Bytes<'a, 'r, X, INDEX>,
    fields: core::slice::Iter<'static, FieldDef>,
    /// Entries of the final list that are still to be read.
    count: u8,
    list: Option<&'static FieldDef>,
}

impl<'a, 'r, X: Policy, const INDEX: u8> Walk<'a, 'r, X, INDEX> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(def: &'static InstructionDef, bytes: Bytes<'a, 'r, X, INDEX>) -> Self {
        Self {
            bytes,
            fields: def.fields.iter(),
            count: 0,
            list: None,
        }
    }

    /// The next field that is present, without its value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next_def(&mut self) -> Option<&'static FieldDef> {
        loop {
            if let Some(list) = self.list {
                if self.count > 0 {
                    self.count -= 1;
                    return Some(list);
                }
                self.list = None;
            }
            let def = self.fields.next()?;
            if !def.when.holds(self.bytes.format) {
                continue;
            }
            if let Some(test) = def.only_if
                && !test.holds(self.bytes.key)
            {
                continue;
            }
            if def.kind.is_list() {
                self.list = Some(def);
                continue;
            }
            return Some(def);
        }
    }

    /// Reads the value of the field.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill(&mut self, def: &'static FieldDef, value: &mut Value) -> Result<(), X::Error> {
        value.fill(def.kind, &mut self.bytes)?;
        if def.is_key {
            self.bytes.key = value.key();
        }
        if let (FieldKind::Count, Value::U8(count)) = (def.kind, value) {
            self.count = *count;
        }
        Ok(())
    }
}

/// Visits the fields of an instruction while it is walked.
pub(crate) trait FieldVisitor {
    /// A field. `fill` writes the value to a slot and returns the bytes of the instruction that it was read from;
    /// `None` if the field is rejected.
    fn visit(
        &mut self,
        def: &'static FieldDef,
        fill: impl FnOnce(&mut Value) -> Option<Range<usize>>,
    ) -> Option<()>;
}

/// A visitor for callers that need no values.
struct Nobody;

impl FieldVisitor for Nobody {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn visit(
        &mut self,
        _: &'static FieldDef,
        fill: impl FnOnce(&mut Value) -> Option<Range<usize>>,
    ) -> Option<()> {
        fill(&mut Value::ZERO.clone()).map(|_| ())
    }
}

/// Calls a function with each field.
pub(crate) struct Each<F>(pub(crate) F);

impl<F: FnMut(&FieldRef)> FieldVisitor for Each<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn visit(
        &mut self,
        def: &'static FieldDef,
        fill: impl FnOnce(&mut Value) -> Option<Range<usize>>,
    ) -> Option<()> {
        let mut value = Value::ZERO;
        let Range { start, end } = fill(&mut value)?;
        (self.0)(&FieldRef {
            def,
            value,
            start,
            end,
        });
        Some(())
    }
}

/// Consumes opcode and sub-operation.
#[cfg_attr(not(debug_assertions), inline(always))]
fn head<X: Policy, const INDEX: u8>(
    bytes: &mut Bytes<'_, '_, X, INDEX>,
) -> Result<&'static InstructionDef, X::Error> {
    let opcode = bytes.byte()?;
    match table::lookup(opcode, bytes.format) {
        Lookup::Instruction(def) => Ok(def),
        Lookup::SubOps(subs) => {
            let sub_op = bytes.byte()?;
            match subs.get(sub_op) {
                Some(def) => Ok(def),
                None => Err(bytes.fault(ErrorKind::UnknownSubOp { opcode, sub_op }, 1)),
            }
        }
        Lookup::Unknown(other) => {
            let elsewhere = other.map(InstructionDef::mnemonic);
            Err(bytes.fault(ErrorKind::UnknownOpcode { opcode, elsewhere }, 1))
        }
    }
}

/// Walks one instruction, checking every value; returns its row and its number of bytes.
///
/// Four rows in five consist of an execution size, possibly a predicate, and vector operands; those are read without
/// examining the kind and condition of each field. All paths read the same [`FieldDef`]s with the same [`Value::fill`].
/// An error is diagnosed afterwards by [`explain`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn walk(
    input: &[u8],
    format: Format,
    rules: &Rules,
    visitor: &mut impl FieldVisitor,
) -> Option<(&'static InstructionDef, usize)> {
    if !rules.strict {
        return walk_unchecked(input, format, visitor);
    }
    if format.wide_indices() {
        walk_indices::<4>(input, format, rules, visitor)
    } else {
        walk_indices::<2>(input, format, rules, visitor)
    }
}

/// The walk for callers that need no values. Compiled once, here: it is too much code to copy into every loop over
/// instructions.
#[inline(never)]
pub(crate) fn walk_lazily(
    input: &[u8],
    format: Format,
    rules: &Rules,
) -> Option<(&'static InstructionDef, usize)> {
    walk(input, format, rules, &mut Nobody)
}

/// The walk of lenient reading, which only needs layouts.
#[cold]
#[inline(never)]
fn walk_unchecked(
    input: &[u8],
    format: Format,
    visitor: &mut impl FieldVisitor,
) -> Option<(&'static InstructionDef, usize)> {
    let mut bytes = Bytes::<Unchecked>::new(input, format, &Rules::LENIENT);
    let def = head(&mut bytes).ok()?;
    let steps = Steps {
        total: input.len(),
        walk: Walk::new(def, bytes),
        visitor,
    };
    let steps = steps.take_conditional()?;
    Some((def, steps.taken()))
}

/// The walk for indices of a known number of bytes.
#[cfg_attr(not(debug_assertions), inline(always))]
fn walk_indices<const INDEX: u8>(
    input: &[u8],
    format: Format,
    rules: &Rules,
    visitor: &mut impl FieldVisitor,
) -> Option<(&'static InstructionDef, usize)> {
    let mut bytes = Bytes::<Unexplained, INDEX>::new(input, format, rules);
    let def = head(&mut bytes).ok()?;
    let mut steps = Steps {
        total: input.len(),
        walk: Walk::new(def, bytes),
        visitor,
    };
    match def.pattern {
        FieldPattern::Predicated | FieldPattern::Unpredicated => {
            steps.take(FieldKind::ExecSize)?;
            if def.pattern == FieldPattern::Predicated {
                steps.take(FieldKind::Predicate)?;
            }
            steps.take_all_vectors()?;
        }
        FieldPattern::Fixed => steps.take_fixed()?,
        FieldPattern::Conditional => steps = steps.take_conditional()?,
    }
    Some((def, steps.taken()))
}

/// A walk and its visitor.
struct Steps<'a, 'r, 't, T, X, const INDEX: u8> {
    total: usize,
    walk: Walk<'a, 'r, X, INDEX>,
    visitor: &'t mut T,
}

impl<T: FieldVisitor, X: Policy, const INDEX: u8> Steps<'_, '_, '_, T, X, INDEX> {
    /// Bytes so far.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn taken(&self) -> usize {
        self.total - self.walk.bytes.rest.len()
    }

    /// Reads a field whose kind the caller knows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn field(&mut self, def: &'static FieldDef, kind: FieldKind) -> Option<()> {
        let (total, bytes) = (self.total, &mut self.walk.bytes);
        let start = total - bytes.rest.len();
        self.visitor.visit(
            def,
            #[cfg_attr(not(debug_assertions), inline(always))]
            |value| {
                value.fill(kind, bytes).ok()?;
                Some(start..total - bytes.rest.len())
            },
        )
    }

    /// Reads the next field, which is of this kind.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&mut self, kind: FieldKind) -> Option<()> {
        let def = self.walk.fields.next()?;
        self.field(def, kind)
    }

    /// All fields that remain, vector operands without conditions.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_all_vectors(&mut self) -> Option<()> {
        while let Some(def) = self.walk.fields.next() {
            self.field(def, FieldKind::Vector)?;
        }
        Some(())
    }

    /// All fields, none of which has a condition.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_fixed(&mut self) -> Option<()> {
        while let Some(def) = self.walk.fields.next() {
            self.field(def, def.kind)?;
        }
        Some(())
    }

    /// Reads all fields, including conditions and lists. Called by value and not inlined, so that the state of the
    /// common paths stays in registers.
    #[inline(never)]
    fn take_conditional(mut self) -> Option<Self> {
        while let Some(def) = self.walk.next_def() {
            let (total, walk) = (self.total, &mut self.walk);
            let start = total - walk.bytes.rest.len();
            self.visitor.visit(
                def,
                #[cfg_attr(not(debug_assertions), inline(always))]
                |value| {
                    walk.fill(def, value).ok()?;
                    Some(start..total - walk.bytes.rest.len())
                },
            )?;
        }
        Some(self)
    }
}

/// The error found while walking, and where in the row.
#[derive(Debug)]
pub(crate) struct Misstep {
    pub(crate) error: nom::Err<NomError>,
    pub(crate) def: Option<&'static InstructionDef>,
    pub(crate) field: Option<FieldName>,
}

/// Walks an instruction that the quick walk rejected, to determine why.
#[cold]
#[inline(never)]
pub(crate) fn explain(input: &[u8], format: Format, rules: &Rules) -> Misstep {
    let mut misstep = Misstep {
        error: nom::Err::Incomplete(nom::Needed::Unknown),
        def: None,
        field: None,
    };
    let mut bytes = Bytes::<Fully>::new(input, format, rules);
    let def = match head(&mut bytes) {
        Ok(def) => def,
        Err(error) => return Misstep { error, ..misstep },
    };
    misstep.def = Some(def);
    let mut walk = Walk::new(def, bytes);
    let mut value = Value::ZERO;
    while let Some(field) = walk.next_def() {
        let before = walk.bytes.rest.len();
        let Err(mut error) = walk.fill(field, &mut value) else {
            continue;
        };
        // A fault of meaning is one of the whole field.
        if let nom::Err::Failure(fault) = &mut error
            && fault.kind.is_legality()
        {
            fault.remaining = before;
        }
        misstep.error = error;
        misstep.field = Some(field.name);
        break;
    }
    misstep
}

/// nom function for one instruction outside of a routine: codes are checked, indices are not.
///
/// ```
/// use visakit_isa::{Dialect, Format, Op, Version};
/// use visakit_parse::instruction;
///
/// let format = Format::new(Version::V4_1, Dialect::Writer2018);
/// // jmp (M1, 1) L1, then the begin of another instruction
/// let (rest, jump) = instruction(format)(&[0x32, 0x00, 0x00, 0x00, 0x01, 0x00, 0x31]).unwrap();
/// assert_eq!((jump.op(), jump.len(), rest), (Op::JMP, 6, &[0x31][..]));
/// ```
pub fn instruction<'a>(format: Format) -> impl Fn(&'a [u8]) -> PResult<'a, InstructionRef<'a>> {
    move |input| {
        let walked = walk_lazily(input, format, &Rules::CODES_ONLY);
        match walked.and_then(|(def, length)| Some((def, input.split_at_checked(length)?))) {
            Some((def, (bytes, rest))) => {
                let offset = 0;
                Ok((
                    rest,
                    InstructionRef {
                        def,
                        bytes,
                        offset,
                        format,
                    },
                ))
            }
            None => Err(explain(input, format, &Rules::CODES_ONLY).error),
        }
    }
}

/// A decoded instruction that borrows its bytes. Every field has been checked; values are decoded again when accessed.
#[derive(Clone, Copy, Debug)]
pub struct InstructionRef<'a> {
    pub(crate) def: &'static InstructionDef,
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: u64,
    pub(crate) format: Format,
}

/// A field of an instruction and its place.
#[derive(Clone, Copy, Debug)]
pub struct FieldRef {
    /// The field.
    pub def: &'static FieldDef,
    /// Its content.
    pub value: Value,
    /// Offset of the first byte, from the start of the instruction.
    pub start: usize,
    /// Offset past the last byte.
    pub end: usize,
}

impl<'a> InstructionRef<'a> {
    /// The operation.
    #[must_use]
    pub fn op(&self) -> Op {
        self.def.op
    }

    /// The row of the table.
    #[must_use]
    pub fn def(&self) -> &'static InstructionDef {
        self.def
    }

    /// The bytes of the instruction.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty)] // never empty
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Offset from the start of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The format that the instruction was read in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The fields in stream order, including counts of lists, entries of lists one by one.
    pub fn fields(&self) -> impl Iterator<Item = FieldRef> + use<'a> {
        let mut bytes = Bytes::<Unchecked>::new(self.bytes, self.format, &Rules::LENIENT);
        let total = self.bytes.len();
        let mut steps = head(&mut bytes).ok().map(|def| Walk::new(def, bytes));
        core::iter::from_fn(move || {
            let walk = steps.as_mut()?;
            let def = walk.next_def()?;
            let start = total - walk.bytes.rest.len();
            let mut value = Value::ZERO;
            walk.fill(def, &mut value).ok()?;
            Some(FieldRef {
                def,
                value,
                start,
                end: total - walk.bytes.rest.len(),
            })
        })
    }

    /// The value of the first field of that name.
    #[must_use]
    pub fn get(&self, name: FieldName) -> Option<Value> {
        self.fields().find(|f| f.def.name == name).map(|f| f.value)
    }

    /// Converts to an owned instruction.
    #[must_use]
    pub fn to_instruction(&self) -> Instruction {
        AnyInstruction::to_instruction(self)
    }
}

impl AnyInstruction for InstructionRef<'_> {
    fn op(&self) -> Op {
        self.def.op
    }

    fn def(&self) -> &'static InstructionDef {
        self.def
    }

    fn operands(&self) -> impl Iterator<Item = (&'static FieldDef, Value)> {
        self.fields()
            .filter(|f| f.def.kind != FieldKind::Count)
            .map(|f| (f.def, f.value))
    }
}
