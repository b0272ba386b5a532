//! Columns that grow by one value at a time.
//!
//! They are plain vectors in the layout of Arrow's arrays, so that converting them copies nothing.

use hashbrown::HashMap;

/// The type of a column's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A signed number of 32 bits.
    Int,
    /// A signed number of 64 bits.
    Long,
    /// A floating-point number of 64 bits.
    Double,
    /// True or false.
    Flag,
    /// One of few strings, stored as numbers into a list of them.
    Name,
    /// A string.
    Text,
    /// A list of signed numbers of 32 bits.
    Ints,
}

impl Type {
    /// Name used in references.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int => "int32",
            Self::Long => "int64",
            Self::Double => "float64",
            Self::Flag => "bool",
            Self::Name => "dictionary<int16, utf8>",
            Self::Text => "utf8",
            Self::Ints => "list<int32>",
        }
    }
}

/// The description of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnDef {
    /// Name.
    pub name: &'static str,
    /// Type of the values.
    pub ty: Type,
    /// Whether a value may be absent.
    pub nullable: bool,
    /// What the values mean.
    pub doc: &'static str,
}

/// Bits, the first in the lowest bit of the first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    /// Appends a bit.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        let place = self.len % 8;
        if place == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << place;
        }
        self.len += 1;
    }

    /// Number of bits.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bit at `index`; false past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> bool {
        self.bytes
            .get(index / 8)
            .is_some_and(|byte| byte >> (index % 8) & 1 == 1)
    }

    /// Keeps the first `len` bits.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            self.bytes.truncate(len.div_ceil(8));
            // Bits are set by adding to zeros.
            if let (Some(last), 1..) = (self.bytes.last_mut(), len % 8) {
                *last &= (1 << (len % 8)) - 1;
            }
        }
    }

    /// The bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A finished column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// [`Type::Int`]
    Int(Vec<i32>, Option<Bits>),
    /// [`Type::Long`]
    Long(Vec<i64>, Option<Bits>),
    /// [`Type::Double`]
    Double(Vec<f64>, Option<Bits>),
    /// [`Type::Flag`]
    Flag(Bits, Option<Bits>),
    /// [`Type::Name`]: numbers into the list of names, and that list.
    Name(Vec<i16>, Vec<&'static str>, Option<Bits>),
    /// [`Type::Text`]: where each string ends, after a 0, and all bytes, which are UTF-8.
    Text(Vec<i32>, Vec<u8>, Option<Bits>),
    /// [`Type::Ints`]: where each list ends, after a 0, and all numbers.
    Ints(Vec<i32>, Vec<i32>, Option<Bits>),
}

/// One of a few static strings, distinguished by address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name(pub &'static str);

/// A value of a row.
pub trait Cell: Sized {
    /// The collection of such values.
    type Column: Default + Clone + std::fmt::Debug;
    /// Type of the column.
    const TYPE: Type;
    /// Whether a value may be absent.
    const NULLABLE: bool = false;
    /// Appends the value.
    fn push(self, column: &mut Self::Column);
    /// Moves the column out, leaving it empty.
    fn take(column: &mut Self::Column) -> Data;
    /// Approximate number of bytes of the column.
    fn size(column: &Self::Column) -> usize;
    /// Keeps the first `len` values.
    fn truncate(column: &mut Self::Column, len: usize);
}

macro_rules! numbers {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl Cell for $ty {
            type Column = Vec<$ty>;
            const TYPE: Type = Type::$variant;
            #[inline]
            fn push(self, column: &mut Vec<$ty>) {
                column.push(self);
            }
            fn take(column: &mut Vec<$ty>) -> Data {
                Data::$variant(std::mem::take(column), None)
            }
            fn size(column: &Vec<$ty>) -> usize {
                column.len() * size_of::<$ty>()
            }
            fn truncate(column: &mut Vec<$ty>, len: usize) {
                column.truncate(len);
            }
        }
    )*};
}

numbers! { i32, Int; i64, Long; f64, Double; }

impl Cell for bool {
    type Column = Bits;
    const TYPE: Type = Type::Flag;
    #[inline]
    fn push(self, column: &mut Bits) {
        column.push(self);
    }
    fn take(column: &mut Bits) -> Data {
        Data::Flag(std::mem::take(column), None)
    }
    fn size(column: &Bits) -> usize {
        column.len() / 8
    }
    fn truncate(column: &mut Bits, len: usize) {
        column.truncate(len);
    }
}

/// This many names are found without hashing their text.
const KNOWN: usize = 256;

/// A column of [`Name`]s.
#[derive(Clone, Debug, Default)]
pub struct Names {
    keys: Vec<i16>,
    names: Vec<&'static str>,
    by_text: HashMap<&'static str, i16>,
    /// Names with their keys, by their address.
    known: Vec<(&'static str, i16)>,
}

impl Names {
    #[inline]
    fn key(&mut self, name: &'static str) -> i16 {
        let address = name.as_ptr().addr();
        let slot = (address ^ address >> 8) % KNOWN;
        match self.known.get(slot) {
            Some((known, key)) if std::ptr::eq(*known, name) => *key,
            _ => self.learn(name, slot),
        }
    }

    #[cold]
    fn learn(&mut self, name: &'static str, slot: usize) -> i16 {
        let next = i16::try_from(self.names.len()).unwrap_or(i16::MAX);
        let key = *self.by_text.entry(name).or_insert(next);
        if key == next {
            self.names.push(name);
        }
        self.known.resize(KNOWN, ("", 0));
        // An empty name equals the filler of the table.
        if let Some(known) = self.known.get_mut(slot).filter(|_| !name.is_empty()) {
            *known = (name, key);
        }
        key
    }
}

impl Cell for Name {
    type Column = Names;
    const TYPE: Type = Type::Name;
    #[inline]
    fn push(self, column: &mut Names) {
        let key = column.key(self.0);
        column.keys.push(key);
    }
    fn take(column: &mut Names) -> Data {
        let column = std::mem::take(column);
        Data::Name(column.keys, column.names, None)
    }
    fn size(column: &Names) -> usize {
        column.keys.len() * 2
    }
    fn truncate(column: &mut Names, len: usize) {
        column.keys.truncate(len);
    }
}

/// A column of lists, or of strings, which are lists of bytes.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    ends: Vec<i32>,
    values: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            ends: Vec::from([0]),
            values: Vec::new(),
        }
    }
}

impl<T: Copy> Lists<T> {
    fn push(&mut self, values: &[T]) {
        // Tables are emptied long before two billions; a value that does not fit is left out.
        match i32::try_from(self.values.len() + values.len()) {
            Ok(end) => {
                self.values.extend_from_slice(values);
                self.ends.push(end);
            }
            Err(_) => self.ends.push(self.ends.last().copied().unwrap_or(0)),
        }
    }

    fn truncate(&mut self, len: usize) {
        self.ends.truncate(len + 1);
        let end = self.ends.last().and_then(|end| usize::try_from(*end).ok());
        self.values.truncate(end.unwrap_or(0));
    }
}

impl Cell for &str {
    type Column = Lists<u8>;
    const TYPE: Type = Type::Text;
    fn push(self, column: &mut Lists<u8>) {
        column.push(self.as_bytes());
    }
    fn take(column: &mut Lists<u8>) -> Data {
        let column = std::mem::take(column);
        Data::Text(column.ends, column.values, None)
    }
    fn size(column: &Lists<u8>) -> usize {
        column.ends.len() * 4 + column.values.len()
    }
    fn truncate(column: &mut Lists<u8>, len: usize) {
        column.truncate(len);
    }
}

impl Cell for &[i32] {
    type Column = Lists<i32>;
    const TYPE: Type = Type::Ints;
    fn push(self, column: &mut Lists<i32>) {
        column.push(self);
    }
    fn take(column: &mut Lists<i32>) -> Data {
        let column = std::mem::take(column);
        Data::Ints(column.ends, column.values, None)
    }
    fn size(column: &Lists<i32>) -> usize {
        (column.ends.len() + column.values.len()) * 4
    }
    fn truncate(column: &mut Lists<i32>, len: usize) {
        column.truncate(len);
    }
}

/// A column with absent values, which hold [`Filler::FILLER`].
#[derive(Clone, Debug, Default)]
pub struct Nullable<C> {
    column: C,
    present: Bits,
}

/// The placeholder for an absent value.
pub trait Filler: Cell {
    /// The value.
    const FILLER: Self;
}

macro_rules! fillers {
    ($($ty:ty = $filler:expr;)*) => {$(
        impl Filler for $ty {
            const FILLER: Self = $filler;
        }
    )*};
}

fillers! { i32 = 0; i64 = 0; f64 = 0.0; bool = false; Name = Name("none"); &str = ""; &[i32] = &[]; }

impl<T: Filler> Cell for Option<T> {
    type Column = Nullable<T::Column>;
    const TYPE: Type = T::TYPE;
    const NULLABLE: bool = true;
    #[inline]
    fn push(self, column: &mut Self::Column) {
        column.present.push(self.is_some());
        self.unwrap_or(T::FILLER).push(&mut column.column);
    }
    fn take(column: &mut Self::Column) -> Data {
        let present = Some(std::mem::take(&mut column.present));
        match T::take(&mut column.column) {
            Data::Int(values, _) => Data::Int(values, present),
            Data::Long(values, _) => Data::Long(values, present),
            Data::Double(values, _) => Data::Double(values, present),
            Data::Flag(values, _) => Data::Flag(values, present),
            Data::Name(keys, names, _) => Data::Name(keys, names, present),
            Data::Text(ends, bytes, _) => Data::Text(ends, bytes, present),
            Data::Ints(ends, values, _) => Data::Ints(ends, values, present),
        }
    }
    fn size(column: &Self::Column) -> usize {
        T::size(&column.column) + column.present.len() / 8
    }
    fn truncate(column: &mut Self::Column, len: usize) {
        column.present.truncate(len);
        T::truncate(&mut column.column, len);
    }
}
