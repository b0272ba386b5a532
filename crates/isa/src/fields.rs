//! The fields of owned instructions, and how the instructions of a routine share their storage.

use crate::instruction::{Field, Instruction};
use crate::table::Op;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

/// The fields of an instruction, in stream order: a slice that can grow.
///
/// Instructions that were read together are ranges of a few large allocations. The first change gives
/// an instruction a list of its own; nothing else tells the two kinds apart.
#[derive(Clone)]
pub struct Fields(Storage);

#[derive(Clone)]
enum Storage {
    Own(Vec<Field>),
    Shared {
        all: Arc<Vec<Field>>,
        start: u32,
        len: u32,
    },
}

impl Fields {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Storage::Own(Vec::new()))
    }

    /// The fields.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Field] {
        match &self.0 {
            Storage::Own(own) => own,
            Storage::Shared { all, start, len } => {
                let start = *start as usize;
                all.get(start..start + *len as usize).unwrap_or_default()
            }
        }
    }

    /// The list to be changed. Fields that are shared are copied first.
    pub fn to_mut(&mut self) -> &mut Vec<Field> {
        if let Storage::Shared { .. } = self.0 {
            self.0 = Storage::Own(self.as_slice().to_vec());
        }
        match &mut self.0 {
            Storage::Own(own) => own,
            Storage::Shared { .. } => unreachable!(),
        }
    }

    /// Appends a field.
    pub fn push(&mut self, field: Field) {
        self.to_mut().push(field);
    }

    /// Puts a field at `index`, or at the end if there are fewer fields.
    pub fn insert(&mut self, index: usize, field: Field) {
        let own = self.to_mut();
        own.insert(index.min(own.len()), field);
    }

    /// Keeps the first `len` fields.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.0 {
            Storage::Own(own) => own.truncate(len),
            Storage::Shared { len: all, .. } => {
                *all = u32::try_from(len).map_or(*all, |len| len.min(*all));
            }
        }
    }

    /// Keeps the fields that `keep` accepts.
    pub fn retain(&mut self, keep: impl FnMut(&Field) -> bool) {
        self.to_mut().retain(keep);
    }

    /// Makes room for `additional` more fields.
    pub fn reserve_exact(&mut self, additional: usize) {
        self.to_mut().reserve_exact(additional);
    }
}

impl Default for Fields {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Fields {
    type Target = [Field];

    #[inline]
    fn deref(&self) -> &[Field] {
        self.as_slice()
    }
}

impl DerefMut for Fields {
    fn deref_mut(&mut self) -> &mut [Field] {
        self.to_mut()
    }
}

impl From<Vec<Field>> for Fields {
    fn from(fields: Vec<Field>) -> Self {
        Self(Storage::Own(fields))
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        Vec::from_iter(fields).into()
    }
}

impl Extend<Field> for Fields {
    fn extend<I: IntoIterator<Item = Field>>(&mut self, fields: I) {
        self.to_mut().extend(fields);
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a Field;
    type IntoIter = core::slice::Iter<'a, Field>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl<'a> IntoIterator for &'a mut Fields {
    type Item = &'a mut Field;
    type IntoIter = core::slice::IterMut<'a, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.to_mut().iter_mut()
    }
}

impl IntoIterator for Fields {
    type Item = Field;
    type IntoIter = alloc::vec::IntoIter<Field>;

    fn into_iter(mut self) -> Self::IntoIter {
        core::mem::take(self.to_mut()).into_iter()
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Fields {}

impl Hash for Fields {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Fields of one allocation. Small enough for the processor's cache, and no list grows beyond it,
/// so that what is reserved in vain is small, too.
const CHUNK: usize = 2048;
/// A chunk is closed when an instruction with as many fields as there can be might not fit.
const LONGEST: usize = 320;

/// Collects instructions whose fields share storage: a few allocations for a whole routine.
///
/// ```
/// use visakit_isa::{Field, FieldName, InstructionList, LabelId, Op, Value};
///
/// let mut list = InstructionList::new();
/// list.field(Field { name: FieldName::Label, value: Value::Label(LabelId(3)) });
/// list.finish(Op::JMP);
/// let jump = list.take(|instruction| instruction).pop().unwrap();
/// assert_eq!(jump.get(FieldName::Label), Some(&Value::Label(LabelId(3))));
/// ```
#[derive(Debug, Default)]
pub struct InstructionList {
    /// Operations and numbers of fields of all instructions.
    heads: Vec<(Op, u16)>,
    /// Full chunks, and how many instructions have their fields there.
    full: Vec<(Arc<Vec<Field>>, usize)>,
    chunk: Vec<Field>,
    /// Fields of the chunk that belong to finished instructions.
    done: usize,
    /// Instructions whose fields are in full chunks.
    in_full: usize,
}

impl InstructionList {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a field to the instruction that is being collected.
    #[inline]
    pub fn field(&mut self, field: Field) {
        self.chunk.push(field);
    }

    /// Drops the fields of the instruction that is being collected.
    pub fn discard(&mut self) {
        self.chunk.truncate(self.done);
    }

    /// Ends an instruction.
    #[inline]
    pub fn finish(&mut self, op: Op) {
        // No row has more fields than a `u16` can count.
        self.chunk.truncate(self.done + usize::from(u16::MAX));
        let count = self.chunk.len() - self.done;
        self.heads
            .push((op, u16::try_from(count).unwrap_or(u16::MAX)));
        self.done = self.chunk.len();
        if self.done + LONGEST > CHUNK {
            self.close();
        }
    }

    /// Number of instructions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there is no instruction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    #[cold]
    fn close(&mut self) {
        let instructions = self.heads.len() - self.in_full;
        self.in_full = self.heads.len();
        self.done = 0;
        // The next chunk will be as large: there was enough for this one.
        let chunk = core::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        self.full.push((Arc::new(chunk), instructions));
    }

    /// Takes the instructions, each turned into an entry of a list. The list can be filled anew.
    pub fn take<T>(&mut self, mut entry: impl FnMut(Instruction) -> T) -> Vec<T> {
        self.discard();
        let rest = self.heads.len() - self.in_full;
        let mut last = core::mem::take(&mut self.chunk);
        if rest > 0 {
            last.shrink_to_fit();
            self.full.push((Arc::new(last), rest));
        }
        let mut entries = Vec::with_capacity(self.heads.len());
        let mut heads = self.heads.drain(..);
        for (all, instructions) in self.full.drain(..) {
            let mut start = 0;
            entries.extend(heads.by_ref().take(instructions).map(|(op, count)| {
                let len = u32::from(count);
                let fields = if len == 0 {
                    Fields::new()
                } else {
                    let all = Arc::clone(&all);
                    Fields(Storage::Shared { all, start, len })
                };
                start += len;
                entry(Instruction { op, fields })
            }));
        }
        drop(heads);
        self.done = 0;
        self.in_full = 0;
        entries
    }
}
