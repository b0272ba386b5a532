//! Conversion from borrowed to owned content.

use super::{
    Arrangement, Attribute, Body, Content, Declaration, FileAttribute, FileVariable, Item, Label,
    NativeBinary, NativeCode, Object, Piece, RawItem, Routine, Variable,
};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A value that can do without borrowed parts.
trait Owned {
    type Owned;
    fn owned(self) -> Self::Owned;
}

impl<T: Owned> Owned for Vec<T> {
    type Owned = Vec<T::Owned>;
    fn owned(self) -> Vec<T::Owned> {
        self.into_iter().map(T::owned).collect()
    }
}

impl Owned for Cow<'_, [u8]> {
    type Owned = Cow<'static, [u8]>;
    fn owned(self) -> Cow<'static, [u8]> {
        Cow::Owned(self.into_owned())
    }
}

macro_rules! owned {
    ($($ty:ident { $($borrowed:ident),* $(; $($plain:ident),*)? })*) => {$(
        impl Owned for $ty<'_> {
            type Owned = $ty<'static>;
            fn owned(self) -> $ty<'static> {
                $ty {
                    $($borrowed: self.$borrowed.owned(),)*
                    $($($plain: self.$plain,)*)?
                }
            }
        }
    )*};
}

owned! {
    Attribute { value; name }
    FileAttribute { value; name }
    Variable { attributes; name, properties, elements, alias, alias_offset, alias_scope }
    Declaration { attributes; name, elements }
    Label { attributes; name, kind }
    FileVariable { name, attributes; linkage, properties, elements }
    NativeBinary { code; platform }
    RawItem { bytes; reason }
    Body {
        strings, variables, addresses, predicates, labels, samplers, surfaces, attributes, code;
        name, inputs, input_size, return_value_size
    }
    Routine {
        name, binaries, content; linkage, variable_relocations, function_relocations, stored
    }
    Object { kernels, file_variables, functions, arrangement; version, dialect, padded }
}

impl Owned for NativeCode<'_> {
    type Owned = NativeCode<'static>;
    fn owned(self) -> NativeCode<'static> {
        match self {
            NativeCode::Bytes(bytes) => NativeCode::Bytes(bytes.owned()),
            NativeCode::Placeholder { offset, size } => NativeCode::Placeholder { offset, size },
        }
    }
}

impl Owned for Item<'_> {
    type Owned = Item<'static>;
    fn owned(self) -> Item<'static> {
        match self {
            Item::Instruction(instruction) => Item::Instruction(instruction),
            Item::Raw(raw) => (*raw).owned().into(),
        }
    }
}

impl Owned for Content<'_> {
    type Owned = Content<'static>;
    fn owned(self) -> Content<'static> {
        match self {
            Content::Body(body) => Content::Body(body.owned()),
            Content::Raw(raw) => Content::Raw(raw.owned()),
            Content::Missing(reason) => Content::Missing(reason),
        }
    }
}

impl Owned for Piece<'_> {
    type Owned = Piece<'static>;
    fn owned(self) -> Piece<'static> {
        match self {
            Piece::Routine(id) => Piece::Routine(id),
            Piece::Binary { kernel, index } => Piece::Binary { kernel, index },
            Piece::Filler(bytes) => Piece::Filler(bytes.owned()),
        }
    }
}

impl Owned for Arrangement<'_> {
    type Owned = Arrangement<'static>;
    fn owned(self) -> Arrangement<'static> {
        match self {
            Arrangement::Interleaved => Arrangement::Interleaved,
            Arrangement::Grouped => Arrangement::Grouped,
            Arrangement::Custom(pieces) => Arrangement::Custom(pieces.owned()),
        }
    }
}

impl Object<'_> {
    /// This object without borrowed parts.
    #[must_use]
    pub fn into_owned(self) -> Object<'static> {
        self.owned()
    }
}

impl Routine<'_> {
    /// This routine without borrowed parts.
    #[must_use]
    pub fn into_owned(self) -> Routine<'static> {
        self.owned()
    }
}
