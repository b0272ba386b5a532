//! A toolkit for Intel's binary vISA objects (`.isa`, magic `CISA`): the virtual instruction set
//! that Intel's GPU compilers emit and a finalizer turns into machine code.
//!
//! This crate puts the parts together:
//!
//! | module | what |
//! |---|---|
//! | [`isa`] | the instruction table, operands, instructions, objects: the types of everything |
//! | [`parse`] | zero-copy reader: containers, lazy instructions, whole objects, lenient mode |
//! | [`encode`] | writer |
//! | [`verify`] | read, write, compare |
//! | [`text`] | printer for vISA text |
//! | [`rewrite`] | editing, convert, strip, extract, merge, rename, diff, graphs |
//! | [`validate`] | rules, and everything that is wrong with an object |
//! | [`exec`] | a machine that runs kernels |
//! | [`dump`] | every byte of a file with the field it belongs to |
//!
//! # Decode a file and print its kernels
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects/subgroups_skl_v36.isa");
//! let file = std::fs::read(path)?;
//! let object = visakit::parse::read(&file)?;
//! for (id, routine) in object.routines() {
//!     println!("{} {}", id.kind.name(), routine.display_name());
//!     for instruction in routine.body().into_iter().flat_map(|body| body.instructions()) {
//!         print!("  {}", instruction.def().mnemonic());
//!         for field in &instruction.fields {
//!             print!(" {}={}", field.name, field.value);
//!         }
//!         println!();
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! To look at instructions without building an object, iterate lazily: see
//! [`parse::Container`].
//!
//! # Change an immediate and write the object
//!
//! ```
//! use visakit::isa::{VectorOperand, Value};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects/subgroups_skl_v36.isa");
//! let file = std::fs::read(path)?;
//! let mut object = visakit::parse::read(&file)?;
//! let body = object.kernels[0].body_mut().ok_or("a damaged kernel")?;
//! let immediate = body
//!     .code
//!     .iter_mut()
//!     .filter_map(|item| match item {
//!         visakit::isa::object::Item::Instruction(instruction) => Some(instruction),
//!         _ => None,
//!     })
//!     .flat_map(|instruction| &mut instruction.fields)
//!     .find_map(|field| match &mut field.value {
//!         Value::Vector(VectorOperand::Immediate(immediate)) => Some(immediate),
//!         _ => None,
//!     })
//!     .ok_or("no immediate")?;
//! immediate.set_bits(immediate.bits() ^ 1);
//!
//! let written = visakit::encode::write(&object)?;
//! let changed = file.iter().zip(&written).filter(|(a, b)| a != b).count();
//! assert_eq!((written.len(), changed), (file.len(), 1));
//! # Ok(())
//! # }
//! ```
//!
//! # Build an object from nothing
//!
//! ```
//! use visakit::isa::object::{Alignment, Body, Object, Routine, Variable, VariableProperties};
//! use visakit::isa::operand::{GeneralOperand, ImmediateOperand};
//! use visakit::isa::{
//!     DataType, Dialect, ExecMask, ExecSize, FieldName, Instruction, Op, Predicate, Region, Value,
//!     VarId, VectorOperand, Version,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut object = Object::new(Version::V4_1, Dialect::Writer2018);
//! let format = object.format();
//! let mut body = Body::default();
//! body.name = body.add_string(&b"answer"[..]);
//! let name = body.add_string(&b"V0032"[..]);
//! body.variables.push(Variable {
//!     name,
//!     properties: VariableProperties::new(DataType::D, Alignment(5)),
//!     elements: 8,
//!     ..Variable::default()
//! });
//! // mov (M1, 8) V0032(0,0)<1> 0x2a:d
//! let exec_size = ExecSize::new(8, ExecMask::M1, format).ok_or("no such size")?;
//! let destination = GeneralOperand {
//!     variable: VarId(format.predefined_variable_count()),
//!     region: Region::destination(1).ok_or("no such stride")?,
//!     ..GeneralOperand::default()
//! };
//! let source = ImmediateOperand::new(DataType::D.into(), 42);
//! let mov = Instruction::new(Op::MOV)
//!     .with(FieldName::ExecSize, Value::ExecSize(exec_size))
//!     .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
//!     .with(FieldName::Dst, Value::Vector(VectorOperand::General(destination)))
//!     .with(FieldName::Src0, Value::Vector(VectorOperand::Immediate(source)));
//! body.code.push(mov.into());
//! object.kernels.push(Routine::new(&b"answer"[..], body));
//!
//! let bytes = visakit::encode::write(&object)?;
//! assert_eq!(visakit::parse::read(&bytes)?, object);
//! # Ok(())
//! # }
//! ```

pub mod dump;
pub mod stats;
pub mod verify;

pub use visakit_encode as encode;
#[cfg(feature = "exec")]
pub use visakit_exec as exec;
pub use visakit_isa as isa;
#[cfg(feature = "launch")]
pub use visakit_launch as launch;
pub use visakit_parse as parse;
pub use visakit_parse::ReadOptions;
#[cfg(feature = "reduce")]
pub use visakit_reduce as reduce;
#[cfg(feature = "rewrite")]
pub use visakit_rewrite as rewrite;
#[cfg(feature = "smith")]
pub use visakit_smith as smith;
pub use visakit_text as text;
#[cfg(feature = "validate")]
pub use visakit_validate as validate;
