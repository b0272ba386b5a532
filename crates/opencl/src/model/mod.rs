//! The objects of OpenCL and their behaviour.

pub mod addresses;
pub mod binary;
mod cache;
pub(crate) mod check;
pub(crate) mod compare;
pub mod compiler;
pub mod context;
pub mod device;
pub(crate) mod dump;
pub mod event;
pub(crate) mod extensions;
pub mod format;
mod includes;
pub mod kernel;
pub mod launch;
pub mod memory;
pub mod models;
mod ocloc;
pub(crate) mod profile;
pub mod program;
pub mod queue;
pub mod sampler;
pub(crate) mod spirv;
pub(crate) mod watch;
