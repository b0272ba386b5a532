//! The fields of owned instructions.

use crate::instruction::{Field, Value};
use crate::table::FieldName;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

/// Number of fields stored inline. Nineteen instructions in twenty have no more, so that a list of
/// instructions is a single allocation.
const INLINE: usize = 5;

/// The fields of an instruction, in stream order: a slice that can grow.
///
/// A few are stored inline, longer lists in a separate allocation; the two behave the same.
#[derive(Clone)]
pub struct Fields(Storage);

#[derive(Clone)]
enum Storage {
    Inline { len: u8, fields: [Field; INLINE] },
    Heap(Vec<Field>),
}

/// The placeholder for an absent field.
const VACANT: Field = Field {
    name: FieldName::ExecSize,
    value: Value::ZERO,
};

impl Fields {
    /// No fields.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(Storage::Inline {
            len: 0,
            fields: [VACANT; INLINE],
        })
    }

    /// The fields.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Field] {
        match &self.0 {
            Storage::Inline { len, fields } => fields.get(..usize::from(*len)).unwrap_or(fields),
            Storage::Heap(fields) => fields,
        }
    }

    /// The fields, mutably.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [Field] {
        match &mut self.0 {
            Storage::Inline { len, fields } => {
                let len = usize::from(*len).min(INLINE);
                fields.split_at_mut(len).0
            }
            Storage::Heap(fields) => fields,
        }
    }

    /// Appends a field.
    #[inline]
    pub fn push(&mut self, field: Field) {
        if let Some(value) = self.push_name(field.name) {
            *value = field.value;
        }
    }

    /// Appends a field and returns the slot for its value, which is yet to be written. There always
    /// is one.
    #[inline]
    pub fn push_name(&mut self, name: FieldName) -> Option<&mut Value> {
        if matches!(&self.0, Storage::Inline { len, .. } if usize::from(*len) == INLINE) {
            self.move_out();
        }
        let field = match &mut self.0 {
            Storage::Inline { len, fields } => {
                let vacant = fields.get_mut(usize::from(*len))?;
                *len += 1;
                vacant.name = name;
                vacant
            }
            Storage::Heap(fields) => {
                fields.push(Field { name, ..VACANT });
                fields.last_mut()?
            }
        };
        Some(&mut field.value)
    }

    /// Moves the fields to an allocation with spare capacity.
    #[cold]
    fn move_out(&mut self) {
        let mut fields = Vec::with_capacity(INLINE + 3);
        fields.extend_from_slice(self);
        self.0 = Storage::Heap(fields);
    }

    /// Inserts a field at `index`, or at the end if there are fewer fields.
    pub fn insert(&mut self, index: usize, field: Field) {
        let index = index.min(self.len());
        self.push(field);
        if let Some(moved) = self.get_mut(index..) {
            moved.rotate_right(1);
        }
    }

    /// Keeps the first `len` fields.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.0 {
            Storage::Inline { len: all, .. } => {
                *all = u8::try_from(len).map_or(*all, |len| len.min(*all));
            }
            Storage::Heap(fields) => fields.truncate(len),
        }
    }

    /// Keeps the fields that `keep` accepts.
    pub fn retain(&mut self, mut keep: impl FnMut(&Field) -> bool) {
        *self = self.iter().filter(|field| keep(field)).copied().collect();
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
    #[inline]
    fn deref_mut(&mut self) -> &mut [Field] {
        self.as_mut_slice()
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        let mut collected = Self::new();
        collected.extend(fields);
        collected
    }
}

impl Extend<Field> for Fields {
    fn extend<I: IntoIterator<Item = Field>>(&mut self, fields: I) {
        for field in fields {
            self.push(field);
        }
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
        self.as_mut_slice().iter_mut()
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
