//! Hunts for miscompiles and crashes of Intel's OpenCL compiler.
#![forbid(unsafe_code)]

mod arithmetic;
pub mod ast;
mod campaign;
mod choices;
mod compiler;
mod configuration;
mod edit;
mod evaluate;
mod features;
mod find;
mod generate;
mod log;
mod machine;
mod reduce;
mod render;
mod report;
mod types;

pub use campaign::{Campaign, Progress, Settings};
pub use compiler::{Compiler, Limits};
pub use configuration::{Configuration, Need};

pub use evaluate::{Buffers, Undefined, evaluate};
pub use features::Feature;
pub use generate::{Options, generate};
pub use reduce::{Reduction, reduce};
pub use render::source;
pub use types::{Scalar, Type, Value};
