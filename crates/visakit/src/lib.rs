//! A toolkit for Intel's binary vISA objects (`.isa`, magic `CISA`): the virtual instruction set
//! that Intel's GPU compilers emit and a finalizer turns into machine code.
//!
//! Always included:
//!
//! | module | what |
//! |---|---|
//! | [`parse`] | zero-copy reader: the places in a file, lazy instructions, whole objects, damaged files |
//! | [`encode`] | writer: what was read is written again byte for byte |
//! | [`text`] | printer, assembler and formatter of vISA text |
//! | [`isa`] | the instruction table, and the types of operands, instructions and objects |
//! | [`build`] | a constructor for each instruction |
//! | [`verify`], [`dump`], [`stats`] | round trips, every byte with its meaning, what objects are made of |
//!
//! Behind a feature of the same name, to avoid compiling what is not used:
//!
//! | feature | what |
//! |---|---|
//! | `validate` | rules, and everything that is wrong with an object |
//! | `analysis` | live ranges, register pressure, static profiles |
//! | `rewrite` | editing, convert, strip, extract, merge, rename, reduce, diff, graphs |
//! | `smith` | a generator of valid objects, for fuzzing |
//! | `exec` | a machine that runs routines on the CPU |
//! | `launch` | starts OpenCL and media kernels on that machine |
//! | `jit` | machine code for that machine: x86-64 with AVX2 or AVX-512 |
//! | `compile` | kernels from OpenCL C and SPIR-V, by Intel's offline compiler |
//! | `check` | checkers for running kernels: memory, races, undefined values, barriers |
//! | `profile` | counts, costs and messages of running kernels |
//! | `debug` | sessions of a debugger: breakpoints, exact steps backwards |
//! | `prove` | whether two kernels compute the same for all contents of their buffers |
//! | `corpus` | questions over many objects: columns, patterns, fingerprints |
//! | `language` | what editors ask about a text |
//! | `snippets` | messages about texts with the lines that they are about |
//!
//! The examples below are short; the folder `examples` of this crate has whole programs: the instruction
//! mix of kernels, changing immediates, build, assemble and run, an OpenCL kernel, a comparison of two kernels, damaged
//! files, validation, a fuzz target.
//!
//! # Read
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects/subgroups_skl_v36.isa");
//! let file = std::fs::read(path)?;
//! let object = visakit::read(&file)?;
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
//! [`parse::Container`] examines instructions without building an object, and without allocating.
//! [`parse::read_with`] reads damaged files as far as possible.
//!
//! # Build and write
//!
//! ```
//! use visakit::isa::object::Body;
//! use visakit::isa::operand::GeneralOperand;
//! use visakit::{DataType, Dialect, Object, Routine, Version, build};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut object = Object::new(Version::V4_1, Dialect::default());
//! let format = object.format();
//! let mut body = Body::default();
//! body.name = body.add_string(&b"answer"[..]);
//! let v = body.add_variable("V", DataType::D, 8, format);
//! // mov (M1, 8) V(0,0)<1> 0x2a:d
//! let mov = build::mov(8, GeneralOperand::dst(v), 42).finish(format)?;
//! let ret = build::ret(1).finish(format)?;
//! body.code.extend([mov.into(), ret.into()]);
//! object.kernels.push(Routine::new(&b"answer"[..], body));
//!
//! let bytes = visakit::write(&object)?;
//! assert_eq!(visakit::read(&bytes)?, object);
//! # Ok(())
//! # }
//! ```
//!
//! # Print and assemble
//!
//! ```
//! use visakit::text::{Options, Printer, asm};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects/subgroups_skl_v36.isa");
//! let file = std::fs::read(path)?;
//! let mut text = Vec::new();
//! Printer::new(&visakit::read(&file)?, Options::default()).object(&mut text)?;
//! println!("{}", String::from_utf8_lossy(&text));
//!
//! let text = b".version 4.1
//! .kernel \"copy\"
//! .decl V32 v_type=G type=d num_elts=16 align=GRF
//!     mov (M1, 16) V32(0,0)<1> 0x2a:d
//!     ret (M1, 1)
//! ";
//! let object = asm::assemble(text, &asm::Options::default()).map_err(|faults| faults[0].to_string())?;
//! assert_eq!(object.kernels.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Run, check, profile, prove
//!
//! With the feature `launch` there is `Launch`: a kernel on slices and numbers. `check`, `profile` and `prove` give it methods
//! of those names; `compile` makes kernels of OpenCL C.
//!
#![cfg_attr(feature = "launch", doc = "```")]
#![cfg_attr(not(feature = "launch"), doc = "```ignore")]
//! use visakit::{Launch, launch::Kernel};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernels/");
//! # let (text, zebin) = (format!("{folder}lookup.pvc.visaasm"), format!("{folder}lookup.pvc.zebin"));
//! let kernel = Kernel::from_files(&[text.as_ref()], zebin.as_ref(), None)?;
//! let launch = Launch::new(&kernel).global(4).arg(&[0; 4]).arg(&[3, 3, 2, 2]).arg(1000);
//! assert_eq!(launch.run()?.array(0), Some(vec![1000, 1001, 1004, 1009]));
//! # Ok(())
//! # }
//! ```
//!
//! # Compatibility
//!
//! The oldest supported Rust is 1.88. The crates of [`isa`], [`parse`], [`encode`], [`text`] and
//! `validate` (`visakit-isa` and so on) work without the standard library.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod dump;
#[cfg(feature = "launch")]
mod launcher;
#[cfg(feature = "snippets")]
#[cfg_attr(docsrs, doc(cfg(feature = "snippets")))]
pub mod snippets;
pub mod stats;
pub mod verify;

#[cfg(feature = "launch")]
#[cfg_attr(docsrs, doc(cfg(feature = "launch")))]
pub use launcher::{Launch, Sizes};

#[cfg(feature = "analysis")]
#[cfg_attr(docsrs, doc(cfg(feature = "analysis")))]
#[doc(inline)]
pub use visakit_analysis as analysis;
#[cfg(feature = "check")]
#[cfg_attr(docsrs, doc(cfg(feature = "check")))]
#[doc(inline)]
pub use visakit_check as check;
#[cfg(feature = "compile")]
#[cfg_attr(docsrs, doc(cfg(feature = "compile")))]
#[doc(inline)]
pub use visakit_compile as compile;
#[cfg(feature = "corpus")]
#[cfg_attr(docsrs, doc(cfg(feature = "corpus")))]
#[doc(inline)]
pub use visakit_corpus as corpus;
#[cfg(feature = "debug")]
#[cfg_attr(docsrs, doc(cfg(feature = "debug")))]
#[doc(inline)]
pub use visakit_debug as debug;
#[doc(inline)]
pub use visakit_encode as encode;
#[cfg(feature = "exec")]
#[cfg_attr(docsrs, doc(cfg(feature = "exec")))]
#[doc(inline)]
pub use visakit_exec as exec;
#[doc(inline)]
pub use visakit_isa as isa;
#[cfg(feature = "jit")]
#[cfg_attr(docsrs, doc(cfg(feature = "jit")))]
#[doc(inline)]
pub use visakit_jit as jit;
#[cfg(feature = "language")]
#[cfg_attr(docsrs, doc(cfg(feature = "language")))]
#[doc(inline)]
pub use visakit_language as language;
#[cfg(feature = "launch")]
#[cfg_attr(docsrs, doc(cfg(feature = "launch")))]
#[doc(inline)]
pub use visakit_launch as launch;
#[doc(inline)]
pub use visakit_parse as parse;
#[cfg(feature = "profile")]
#[cfg_attr(docsrs, doc(cfg(feature = "profile")))]
#[doc(inline)]
pub use visakit_profile as profile;
#[cfg(feature = "prove")]
#[cfg_attr(docsrs, doc(cfg(feature = "prove")))]
#[doc(inline)]
pub use visakit_prove as prove;
#[cfg(feature = "rewrite")]
#[cfg_attr(docsrs, doc(cfg(feature = "rewrite")))]
#[doc(inline)]
pub use visakit_rewrite as rewrite;
#[cfg(feature = "smith")]
#[cfg_attr(docsrs, doc(cfg(feature = "smith")))]
#[doc(inline)]
pub use visakit_smith as smith;
#[doc(inline)]
pub use visakit_text as text;
#[cfg(feature = "validate")]
#[cfg_attr(docsrs, doc(cfg(feature = "validate")))]
#[doc(inline)]
pub use visakit_validate as validate;

// Names that nearly every program uses.
pub use visakit_encode::write;
pub use visakit_isa::object::{Object, Routine};
#[doc(inline)]
pub use visakit_isa::{
    DataType, Dialect, FieldName, Format, Instruction, Op, Value, Version, build,
};
pub use visakit_parse::{ReadOptions, read};
