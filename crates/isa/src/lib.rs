//! The instruction set of Intel's binary vISA objects (`.isa`, magic `CISA`) as data.
//!
//! * [`table`]: every opcode and sub-operation with its fields in stream order, the versions,
//!   dialects and platforms that have it, and the operand classes and types it allows. The reader,
//!   the writer and everything else that needs to know about instructions use this table.
//! * [`semantics`]: what instructions do, as columns of that table and as methods of instructions.
//! * [`Platform`]: the families of GPUs and their features; [`Device`]: products, by the names they are sold under.
//! * [`operand`] and [`Value`]: the typed contents of fields.
//! * [`Instruction`] and [`object`]: the components of an object, ready to be edited.
//! * [`build`]: one function for each instruction, and a builder that knows its fields.
//! * [`wire`]: the layouts of the container, defined once and used in both directions.
//! * [`enums`]: the named codes.
//!
//! The crate performs no input or output and works without the standard library.
//!
//! ```
//! use visakit_isa::{table, Dialect, Format, Version};
//!
//! let format = Format::new(Version::V3_6, Dialect::Writer2018);
//! let table::Lookup::Instruction(row) = table::lookup(0x0c, format) else { panic!() };
//! assert_eq!(row.name, "MAD");
//! assert_eq!(row.fields_in(format).count(), 6);
//! ```

#![no_std]

extern crate alloc;

mod any;
pub mod build;
mod device;
pub mod enums;
mod fields;
mod ids;
mod instruction;
pub mod object;
pub mod operand;
mod platform;
mod predefined;
pub mod semantics;
pub mod table;
mod types;
mod version;
pub mod wire;

pub use any::AnyInstruction;
pub use device::Device;
pub use fields::Fields;
pub use ids::{AddressId, LabelId, PredicateId, SamplerId, StringId, SurfaceId, VarId};
pub use instruction::{Field, Instruction, Value};
pub use operand::{
    ElementCount, ExecMask, ExecSize, Predicate, RawOperand, Region, SamplerOp, VectorOperand,
};
pub use platform::{Platform, Platforms, UnknownPlatform};
pub use predefined::{PredefinedSurface, PredefinedVariable};
pub use table::{FieldName, InstructionDef, Op};
pub use types::{DataType, TypeSet};
pub use version::{Condition, Dialect, Features, Format, Version};
