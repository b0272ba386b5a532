//! The objects of Level Zero that the model of the drivers does not have.

pub mod event;
pub mod kernel;
pub mod list;
pub mod module;
pub mod physical;
pub mod shared;
pub mod vertex;

use opencl_sys as cl;
use visakit_driver::error::Code;
use visakit_driver::handle::{Handle, Object};

/// What the boundary translates to [`crate::error::Error::INVALID_ARGUMENT`].
const INVALID: Code = Code(cl::CL_INVALID_VALUE);

macro_rules! objects {
    ($($type:ty),*) => {$(
        impl Object for $type {
            const INVALID: Code = INVALID;
            fn handle(&self) -> &Handle {
                &self.handle
            }
        }
    )*};
}

objects!(
    event::Pool,
    event::Event,
    event::Fence,
    list::Queue,
    list::List,
    module::Module,
    module::BuildLog,
    kernel::Kernel,
    physical::Physical,
    vertex::Vertex
);
