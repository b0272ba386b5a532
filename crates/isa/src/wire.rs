//! Layout of the container's records, defined once and used in both directions.
//!
//! The `layout!` macro turns a list of fields into a function that reads them through a
//! [`Source`] and one that writes them through a [`Sink`]. The reader crate implements the former,
//! the writer crate the latter; neither knows the order or the width of any field.

use crate::instruction::Value;
use crate::operand::OperandRef;
use crate::version::{Features, Format};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// Width of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// 32 bits.
    U32,
    /// 16 bits, signed.
    I16,
    /// 16 bits before 3.4, 32 since.
    Index,
    /// Length of a routine's name: 8 bits before 3.7, 16 since.
    NameLength,
    /// Count of inputs: 8 bits before 3.5, 32 since.
    InputCount,
    /// Count of native binaries: no bytes before 3.0, where there is exactly one; 8 bits since.
    BinaryCount,
}

impl Width {
    /// Bytes of a number whose width does not depend on the format, or of an index of this width.
    pub(crate) const fn least(self, index: u8) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 => 4,
            Self::Index => index as usize,
            _ => 0,
        }
    }

    const fn grown(format: Format, since: Features, before: u8, after: u8) -> u8 {
        if format.features().contains(since) {
            after
        } else {
            before
        }
    }

    /// Number of bytes in a format; 0 for a count that is always one.
    #[must_use]
    pub const fn bytes(self, format: Format) -> u8 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 => 4,
            Self::Index => Self::grown(format, Features::SINCE_3_4, 2, 4),
            Self::NameLength => Self::grown(format, Features::SINCE_3_7, 1, 2),
            Self::InputCount => Self::grown(format, Features::SINCE_3_5, 1, 4),
            Self::BinaryCount => Self::grown(format, Features::SINCE_3_0, 0, 1),
        }
    }
}

/// A number derived from the rest of the object. It is not part of the typed records: the reader checks or remembers
/// it, the writer computes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Derived {
    /// Start of a routine, from the start of the file.
    RoutineOffset,
    /// Bytes of a routine, instructions included, native code excluded.
    RoutineSize,
    /// Position of the input count of a routine, from the start of the file.
    InputOffset,
    /// Start of a native binary, from the start of the file.
    BinaryOffset,
    /// Bytes of a native binary.
    BinarySize,
    /// Bytes of the instructions of a routine.
    CodeSize,
    /// First instruction, from the start of the routine.
    CodeEntry,
}

impl Derived {
    /// Name used in dumps and errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoutineOffset | Self::BinaryOffset => "offset",
            Self::RoutineSize | Self::BinarySize | Self::CodeSize => "size",
            Self::InputOffset => "input_offset",
            Self::CodeEntry => "entry",
        }
    }
}

/// Bytes without a defined layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Undescribed {
    /// A vector operand of class 4 or 7; the tag byte.
    OperandClass(u8),
    /// An immediate of type `bool`.
    BoolImmediate,
}

/// The source that a layout is read from.
pub trait Source<'a> {
    /// The type of errors.
    type Error;

    /// The format that decides widths and conditions.
    fn format(&self) -> Format;

    /// A number, zero-extended (sign-extended to 32 bits for [`Width::I16`]).
    ///
    /// # Errors
    /// The input ends.
    fn number(&mut self, name: &'static str, width: Width) -> Result<u32, Self::Error>;

    /// `length` bytes.
    ///
    /// # Errors
    /// The input ends.
    fn bytes(&mut self, name: &'static str, length: u32) -> Result<&'a [u8], Self::Error>;

    /// Number of bytes of an index.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn index_bytes(&self) -> u8 {
        Width::Index.bytes(self.format())
    }

    /// The number of list entries for which memory may be reserved before they are read. Counts are not trusted: the
    /// reservation must be bounded by the bytes that are left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn trusted_entries(&self) -> usize {
        64
    }

    /// A hint that a record of this many bytes follows, so that their presence can be checked once.
    ///
    /// # Errors
    /// The input ends before that.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn expect(&mut self, _bytes: usize) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Bytes up to a NUL, which is consumed but not returned.
    ///
    /// # Errors
    /// The input ends before a NUL.
    fn text(&mut self, name: &'static str) -> Result<&'a [u8], Self::Error>;

    /// A derived number, 32 bits.
    ///
    /// # Errors
    /// The input ends.
    fn derived(&mut self, what: Derived) -> Result<(), Self::Error>;

    /// A number that must be zero because it is unknown what it would count.
    ///
    /// # Errors
    /// The input ends, or the number is not zero.
    fn zero(&mut self, name: &'static str, width: Width) -> Result<(), Self::Error>;

    /// Marks the position that [`Derived::InputOffset`] refers to.
    fn mark_inputs(&mut self);

    /// Called with every vector operand after it is read, with its tag byte.
    ///
    /// # Errors
    /// The source does not accept the operand.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn vet_operand(&mut self, _tag: u8, _operand: OperandRef<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Called with every other value of a field after it is read.
    ///
    /// # Errors
    /// The source does not accept the value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn vet(&mut self, _value: &Value) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The error for bytes without a defined layout.
    fn invalid(&mut self, what: Undescribed) -> Self::Error;

    /// Enters a part: what follows belongs to it until [`Source::leave`]; with an index, to that entry of the list that
    /// was entered last.
    fn enter(&mut self, name: &'static str, index: Option<u32>);

    /// Leaves the part entered by [`Source::enter`]. Not called when an error is returned.
    fn leave(&mut self);
}

/// The sink that a layout is written to.
pub trait Sink {
    /// The type of errors.
    type Error;

    /// The format that decides widths and conditions.
    fn format(&self) -> Format;

    /// A number.
    ///
    /// # Errors
    /// It does not fit the width.
    fn number(&mut self, name: &'static str, width: Width, value: u32) -> Result<(), Self::Error>;

    /// Bytes without a length or an end.
    ///
    /// # Errors
    /// The output cannot take them.
    fn bytes(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Bytes and a terminating NUL.
    ///
    /// # Errors
    /// The bytes contain a NUL.
    fn text(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), Self::Error>;

    /// A derived number, 32 bits; filled in later.
    ///
    /// # Errors
    /// The output cannot take it.
    fn derived(&mut self, what: Derived) -> Result<(), Self::Error>;

    /// A number of entries.
    ///
    /// # Errors
    /// It does not fit the width.
    fn count(&mut self, name: &'static str, width: Width, count: usize) -> Result<(), Self::Error>;

    /// Marks the position that [`Derived::InputOffset`] refers to.
    fn mark_inputs(&mut self);

    /// Announces what the next number is.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn meaning(&mut self, _: Meaning) {}

    /// Enters a part: what follows belongs to it until [`Sink::leave`]; with an index, to that entry of the list that
    /// was entered last.
    fn enter(&mut self, name: &'static str, index: Option<u32>);

    /// Leaves the part entered by [`Sink::enter`]. Not called when an error is returned.
    fn leave(&mut self);

    /// The field has content that the format cannot hold.
    ///
    /// # Errors
    /// Always.
    fn absent(&mut self, name: &'static str) -> Result<(), Self::Error>;
}

/// What a number of a record is, for code that shows or changes single ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Meaning {
    /// Bits, or a plain number.
    #[default]
    Bits,
    /// The index of an entry of a table.
    Index,
    /// The index of a string.
    Text,
}

/// Announces to a sink what the next number is.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn announce<K: Sink, N: Number>(sink: &mut K, _: N) {
    sink.meaning(N::MEANING);
}

/// A number of the wire with its own type.
pub trait Number: Copy {
    /// What it is.
    const MEANING: Meaning = Meaning::Bits;
    /// From the zero- or sign-extended number.
    fn from_wire(number: u32) -> Self;
    /// Converts to a number; one that the width cannot hold is rejected by the writer.
    fn to_wire(self) -> u32;
    /// Whether nothing is lost in a format without the field.
    fn is_default(self) -> bool {
        self.to_wire() == 0
    }
}

macro_rules! numbers {
    ($($ty:ty),* ; $($id:ident($inner:ty) is $meaning:ident),* ; $($bits:ident($of:ty)),*) => {
        $(impl Number for $ty {
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
            fn from_wire(number: u32) -> Self {
                number as Self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless, trivial_numeric_casts)]
            fn to_wire(self) -> u32 {
                self as u32
            }
        })*
        $(impl Number for crate::ids::$id {
            const MEANING: Meaning = Meaning::$meaning;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn from_wire(number: u32) -> Self {
                Self(<$inner>::from_wire(number))
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn to_wire(self) -> u32 {
                self.0.to_wire()
            }
        })*
        $(impl Number for crate::operand::$bits {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn from_wire(number: u32) -> Self {
                Self::from_bits(<$of>::from_wire(number))
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn to_wire(self) -> u32 {
                self.bits().to_wire()
            }
        })*
    };
}

numbers! {
    u8, u16, u32, i16, i32;
    VarId(u32) is Index, StringId(u32) is Text, AddressId(u16) is Index, LabelId(u16) is Index,
    SurfaceId(u8) is Index, SamplerId(u8) is Index;
    ExecSize(u8), ElementCount(u8), Predicate(u16), Region(u16), PropertyByte(u8)
}

/// An entry of a list of the container.
pub trait Record<'a>: Default {
    /// Minimum number of bytes of an entry, if an index has `index` bytes.
    fn least_bytes(index: u8) -> usize;

    /// Fills the fields from a source.
    ///
    /// # Errors
    /// Those of the source.
    fn read<S: Source<'a>>(&mut self, source: &mut S) -> Result<(), S::Error>;

    /// Writes the fields to a sink.
    ///
    /// # Errors
    /// Those of the sink.
    fn write<K: Sink>(&self, sink: &mut K) -> Result<(), K::Error>;
}

/// A string of the pool.
impl<'a> Record<'a> for Cow<'a, [u8]> {
    fn least_bytes(_: u8) -> usize {
        1
    }

    fn read<S: Source<'a>>(&mut self, source: &mut S) -> Result<(), S::Error> {
        *self = Cow::Borrowed(source.text("text")?);
        Ok(())
    }

    fn write<K: Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
        sink.text("text", self)
    }
}

/// Reads a count and that many entries.
///
/// # Errors
/// Those of the source.
pub fn read_list<'a, S: Source<'a>, T: Record<'a>>(
    list: &mut Vec<T>,
    source: &mut S,
    name: &'static str,
    width: Width,
) -> Result<(), S::Error> {
    read_list_with(list, source, name, width, T::read)
}

/// Reads a count and that many entries, each by `read`.
///
/// # Errors
/// Those of the source.
pub fn read_list_with<'a, S: Source<'a>, T: Default>(
    list: &mut Vec<T>,
    source: &mut S,
    name: &'static str,
    width: Width,
    read: impl Fn(&mut T, &mut S) -> Result<(), S::Error>,
) -> Result<(), S::Error> {
    source.enter(name, None);
    let count = match width.bytes(source.format()) {
        0 => 1,
        _ => source.number("count", width)?,
    };
    // The count is not trusted: a long list grows with what is actually present.
    let trusted = source.trusted_entries();
    list.reserve_exact(usize::try_from(count).map_or(trusted, |count| count.min(trusted)));
    for index in 0..count {
        source.enter(name, Some(index));
        // Created and filled in place: copying what was just written would stall.
        list.push(T::default());
        if let Some(entry) = list.last_mut() {
            read(entry, source)?;
        }
        source.leave();
    }
    source.leave();
    Ok(())
}

/// Writes a count and that many entries.
///
/// # Errors
/// Those of the sink.
pub fn write_list<'a, K: Sink, T: Record<'a>>(
    sink: &mut K,
    name: &'static str,
    width: Width,
    list: &[T],
) -> Result<(), K::Error> {
    write_list_with(sink, name, width, list, T::write)
}

/// Writes a count and that many entries, each by `write`.
///
/// # Errors
/// Those of the sink.
pub fn write_list_with<K: Sink, T>(
    sink: &mut K,
    name: &'static str,
    width: Width,
    list: &[T],
    write: impl Fn(&T, &mut K) -> Result<(), K::Error>,
) -> Result<(), K::Error> {
    sink.enter(name, None);
    sink.count("count", width, list.len())?;
    for (index, entry) in list.iter().enumerate() {
        sink.enter(name, u32::try_from(index).ok());
        write(entry, sink)?;
        sink.leave();
    }
    sink.leave();
    Ok(())
}

/// Defines a layout and generates a reading and a writing function from it.
///
/// Lines: `number FIELD: WIDTH`, `counted FIELD: WIDTH` (a length and bytes), `list FIELD: WIDTH`, `derived WHAT`,
/// `zero NAME: WIDTH`, `inputs` (the place of the input list); a list of entries with several layouts names the
/// functions: `list FIELD: WIDTH => TYPE READ WRITE`. Each line may end with `if CONDITION`, a function of the format.
macro_rules! layout {
    (record $ty:ident $(<$lt:lifetime>)? { $($body:tt)* }) => {
        impl<'a> $crate::wire::Record<'a> for $ty $(<$lt>)? {
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(unused_variables)]
            fn least_bytes(index: u8) -> usize {
                layout!(@least index (0) { $($body)* })
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn read<S: $crate::wire::Source<'a>>(&mut self, source: &mut S) -> Result<(), S::Error> {
                #[allow(unused_variables)]
                let format = source.format();
                layout!(@read self source format { $($body)* });
                Ok(())
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn write<K: $crate::wire::Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
                #[allow(unused_variables)]
                let format = sink.format();
                layout!(@write self sink format { $($body)* });
                Ok(())
            }
        }
    };
    ($(#[$meta:meta])* part $read:ident $write:ident $ty:ident { $($body:tt)* }) => {
        impl<'a> $ty<'a> {
            $(#[$meta])*
            ///
            /// # Errors
            /// Those of the source.
            pub fn $read<S: $crate::wire::Source<'a>>(&mut self, source: &mut S) -> Result<(), S::Error> {
                #[allow(unused_variables)]
                let format = source.format();
                layout!(@read self source format { $($body)* });
                Ok(())
            }

            $(#[$meta])*
            ///
            /// # Errors
            /// Those of the sink.
            pub fn $write<K: $crate::wire::Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
                #[allow(unused_variables)]
                let format = sink.format();
                layout!(@write self sink format { $($body)* });
                Ok(())
            }
        }
    };

    (@least $index:ident ($sum:expr) { number $field:ident : $width:expr; $($rest:tt)* }) => {
        layout!(@least $index ($sum + $width.least($index)) { $($rest)* })
    };
    (@least $index:ident ($sum:expr) { $($rest:tt)* }) => { $sum };

    (@read $self:ident $s:ident $f:ident {}) => {};
    (@read $self:ident $s:ident $f:ident { number $field:ident : $width:expr $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $self.$field = $crate::wire::Number::from_wire($s.number(stringify!($field), $width)?);
        }
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { number $field:ident : $width:expr, where $cond:ident; $($rest:tt)* }) => {
        if $self.$cond() {
            $self.$field = $crate::wire::Number::from_wire($s.number(stringify!($field), $width)?);
        }
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { counted $field:ident : $width:expr $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            let length = $s.number(concat!(stringify!($field), "_length"), $width)?;
            $self.$field = ::alloc::borrow::Cow::Borrowed($s.bytes(stringify!($field), length)?);
        }
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { list $field:ident : $width:expr $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $crate::wire::read_list(&mut $self.$field, $s, stringify!($field), $width)?;
        }
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { list $field:ident : $width:expr => $entry:ident $read:ident $write:ident $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $crate::wire::read_list_with(&mut $self.$field, $s, stringify!($field), $width, $entry::$read)?;
        }
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { derived $what:ident $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $s.derived($crate::wire::Derived::$what)?;
        }
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { zero $name:ident : $width:expr; $($rest:tt)* }) => {
        $s.zero(stringify!($name), $width)?;
        layout!(@read $self $s $f { $($rest)* });
    };
    (@read $self:ident $s:ident $f:ident { inputs; $($rest:tt)* }) => {
        $s.mark_inputs();
        layout!(@read $self $s $f { $($rest)* });
    };

    (@write $self:ident $k:ident $f:ident {}) => {};
    (@write $self:ident $k:ident $f:ident { number $field:ident : $width:expr $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $crate::wire::announce($k, $self.$field);
            $k.number(stringify!($field), $width, $crate::wire::Number::to_wire($self.$field))?;
        } else if !$crate::wire::Number::is_default($self.$field) {
            $k.absent(stringify!($field))?;
        }
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { number $field:ident : $width:expr, where $cond:ident; $($rest:tt)* }) => {
        if $self.$cond() {
            $crate::wire::announce($k, $self.$field);
            $k.number(stringify!($field), $width, $crate::wire::Number::to_wire($self.$field))?;
        } else if !$crate::wire::Number::is_default($self.$field) {
            $k.absent(stringify!($field))?;
        }
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { counted $field:ident : $width:expr $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $k.count(concat!(stringify!($field), "_length"), $width, $self.$field.len())?;
            $k.bytes(stringify!($field), &$self.$field)?;
        } else if !$self.$field.is_empty() {
            $k.absent(stringify!($field))?;
        }
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { list $field:ident : $width:expr $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $crate::wire::write_list($k, stringify!($field), $width, &$self.$field)?;
        } else if !$self.$field.is_empty() {
            $k.absent(stringify!($field))?;
        }
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { list $field:ident : $width:expr => $entry:ident $read:ident $write:ident $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $crate::wire::write_list_with($k, stringify!($field), $width, &$self.$field, $entry::$write)?;
        } else if !$self.$field.is_empty() {
            $k.absent(stringify!($field))?;
        }
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { derived $what:ident $(, if $cond:expr)?; $($rest:tt)* }) => {
        if true $(&& $cond($f))? {
            $k.derived($crate::wire::Derived::$what)?;
        }
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { zero $name:ident : $width:expr; $($rest:tt)* }) => {
        $k.number(stringify!($name), $width, 0)?;
        layout!(@write $self $k $f { $($rest)* });
    };
    (@write $self:ident $k:ident $f:ident { inputs; $($rest:tt)* }) => {
        $k.mark_inputs();
        layout!(@write $self $k $f { $($rest)* });
    };
}

pub(crate) use layout;
