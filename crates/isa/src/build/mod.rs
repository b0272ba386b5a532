//! Building instructions: one function for each row of the table, and a [`Builder`] that knows the row.
//! The functions are named after the constants of [`Op`], in lower case. They take the execution size
//! and the operands in stream order; fields that only some formats or some messages have are set by
//! name. Plain numbers as operands are constants of the corresponding type: `i32` is `d`, `f32` is `f`.
//! [`Builder::finish`] puts the fields into stream order and reports missing ones.
//!
//! ```
//! use visakit_isa::operand::GeneralOperand as G;
//! use visakit_isa::{Dialect, Format, VarId, Version, build};
//!
//! # fn main() -> Result<(), build::Error> {
//! let format = Format::new(Version::V4_1, Dialect::Writer2018);
//! let (x, y) = (VarId(32), VarId(33));
//! // add (M1, 16) V33(0,0)<1> V32(0,0)<1;1,0> 0x2a:d
//! let add = build::add(16, G::dst(y), G::src(x), 42).finish(format)?;
//! assert_eq!(add.fields[2].value.to_string(), "V33(0,0)<;,1>");
//! # Ok(())
//! # }
//! ```
//!
//! Messages have more fields than a list of arguments can hold:
//!
//! ```
//! # use visakit_isa::{Dialect, Format, VarId, Version, build};
//! use visakit_isa::FieldName as F;
//!
//! # fn main() -> Result<(), build::Error> {
//! # let format = Format::new(Version::V4_1, Dialect::Writer2018);
//! // lsc_load.ugm (M1, 16) V34:d32 flat[V35]:a64
//! let load = build::lsc_load(16, 0u32, VarId(34), VarId(35))
//!     .set(F::Sfid, "ugm")
//!     .set(F::AddrType, "flat")
//!     .set(F::AddrSize, "a64")
//!     .set(F::DataSize, "d32")
//!     .set(F::DataElems, "1")
//!     .finish(format)?;
//! assert_eq!(load.fields.len(), 18);
//! # Ok(())
//! # }
//! ```

mod declare;
mod error;
#[macro_use]
mod rows;
mod setting;

pub use error::{Error, ErrorKind};
pub use setting::{Code, Lanes, Setting};

use crate::ids::{LabelId, SamplerId, StringId, SurfaceId, VarId};
use crate::instruction::{Field, Instruction};
use crate::operand::{Predicate, RawOperand, VectorOperand};
use crate::table::{FieldDef, FieldKind, FieldName, Op};
use crate::version::Format;
use alloc::vec::Vec;

/// An instruction under construction: an operation and the settings of its fields, in any order.
#[derive(Clone, PartialEq, Debug)]
#[must_use = "an instruction comes of `finish`"]
pub struct Builder {
    op: Op,
    settings: Vec<(FieldName, Setting)>,
}

impl Builder {
    /// An instruction without any settings.
    pub const fn new(op: Op) -> Self {
        Self {
            op,
            settings: Vec::new(),
        }
    }

    /// The operation.
    #[must_use]
    pub const fn op(&self) -> Op {
        self.op
    }

    /// Sets a field, replacing an earlier setting. The entries of a list are set one by one, in order.
    pub fn set(mut self, name: FieldName, setting: impl Into<Setting>) -> Self {
        let setting = setting.into();
        let is_list = |f: &FieldDef| f.name == name && f.kind.is_list();
        let old = self.settings.iter_mut().find(|(n, _)| *n == name);
        match old {
            Some((_, old)) if !self.op.def().fields.iter().any(is_list) => *old = setting,
            _ => self.settings.push((name, setting)),
        }
        self
    }

    /// Sets the entries of a list.
    pub fn set_all<S: Into<Setting>>(
        self,
        name: FieldName,
        entries: impl IntoIterator<Item = S>,
    ) -> Self {
        entries
            .into_iter()
            .fold(self, |builder, entry| builder.set(name, entry))
    }

    /// Sets the predicate. By default the instruction is not predicated.
    pub fn predicated(self, predicate: Predicate) -> Self {
        self.set(FieldName::Pred, predicate)
    }

    /// The instruction, its fields in the order of the stream.
    ///
    /// A field that was not set gets its neutral value, if there is one
    /// ([`InstructionDef::neutral`](crate::InstructionDef::neutral)). The element count and the channel
    /// mask of a load/store cache message are derived from each other.
    ///
    /// # Errors
    /// The format does not have the instruction or a field that was set, a field is missing, or a value
    /// does not fit its field.
    pub fn finish(self, format: Format) -> Result<Instruction, Error> {
        let (op, def) = (self.op, self.op.def());
        let error = |field, kind| Error { op, field, kind };
        if !def.exists_in(format) {
            return Err(error(None, ErrorKind::NoSuchInstruction(format)));
        }
        let mut instruction = Instruction::new(op);
        let (mut used, mut key) = (0, 0);
        for field in def.fields_in(format) {
            let name = field.name;
            if field.kind == FieldKind::Count || field.only_if.is_some_and(|t| !t.holds(key)) {
                continue;
            }
            let mut settings: Vec<_> = self.all(name).map(|s| (s, field)).collect();
            used += settings.len();
            if settings.is_empty() && !field.kind.is_list() {
                match self.unsaid(field, format) {
                    Some(setting) => settings.push(setting),
                    None => return Err(error(Some(name), ErrorKind::Missing)),
                }
            }
            for (setting, like) in settings {
                let value = setting.value(like, format);
                let value = value.map_err(|kind| error(Some(name), kind))?;
                if field.is_key {
                    key = value.key();
                }
                instruction.fields.push(Field { name, value });
            }
        }
        if used == self.settings.len() {
            return Ok(instruction);
        }
        // A field was set that is not present here.
        let present = |name: FieldName| instruction.fields.iter().any(|f| f.name == name);
        let mut extra = self.settings.iter().map(|(name, _)| *name);
        let extra = extra.find(|name| !present(*name));
        Err(error(extra, ErrorKind::NoSuchField))
    }

    fn all(&self, name: FieldName) -> impl Iterator<Item = Setting> {
        let named = self.settings.iter().filter(move |(n, _)| *n == name);
        named.map(|(_, setting)| *setting)
    }

    /// The value of a field that was not set, and the field that the value belongs to.
    fn unsaid(
        &self,
        field: &'static FieldDef,
        format: Format,
    ) -> Option<(Setting, &'static FieldDef)> {
        let def = self.op.def();
        let find = |name| def.fields.iter().find(|f| f.name == name);
        let other = match field.name {
            FieldName::ChMask if find(FieldName::Src0AddrPitch).is_some() => {
                return Some((Code::from(0).into(), field));
            }
            FieldName::ChMask => find(FieldName::DataElems),
            FieldName::DataElems => find(FieldName::ChMask),
            _ => None,
        };
        match other {
            Some(other) => Some((self.all(other.name).next()?, other)),
            None => Some((def.neutral(field, format)?.into(), field)),
        }
    }
}

macro_rules! constructors {
    ($(
        $(#[$doc:meta])*
        fn $name:ident = $op:ident(
            $($field:ident $parameter:ident: $ty:ident),*
            $(; $list:ident $entries:ident: [$entry:ident])?
        );
    )*) => {$(
        $(#[$doc])*
        pub fn $name(
            $($parameter: impl Into<$ty>,)*
            $($entries: impl IntoIterator<Item = impl Into<$entry>>,)?
        ) -> Builder {
            Builder::new(Op::$op)
                $(.set(FieldName::$field, Into::<$ty>::into($parameter)))*
                $(.set_all(FieldName::$list, $entries.into_iter().map(Into::<$entry>::into)))?
        }
    )*};
}

for_each_constructor!(constructors);
