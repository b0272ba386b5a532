//! Result codes.

use opencl_sys as cl;
use visakit_driver::error::Code;

macro_rules! codes {
    ($(#[doc = $doc:literal] $name:ident = $value:literal;)*) => {
        impl Error {
            $(#[doc = $doc] pub const $name: Self = Self($value);)*

            /// What it means.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $doc,)*
                    _ => "",
                }
            }
        }
    };
}

/// A `ze_result_t` other than success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error(pub u32);

/// The result of calls.
pub type Result<T> = std::result::Result<T, Error>;

codes! {
    /// Something has not ended yet.
    NOT_READY = 1;
    /// A command failed.
    DEVICE_LOST = 0x7000_0001;
    /// No memory of the host is left, or a defect of the driver.
    OUT_OF_HOST_MEMORY = 0x7000_0002;
    /// The device has not so much memory.
    OUT_OF_DEVICE_MEMORY = 0x7000_0003;
    /// The log says why.
    MODULE_BUILD_FAILURE = 0x7000_0004;
    /// The log says why.
    MODULE_LINK_FAILURE = 0x7000_0005;
    /// There is no device.
    UNINITIALIZED = 0x7800_0001;
    /// A version that is not known.
    UNSUPPORTED_VERSION = 0x7800_0002;
    /// The driver or the device does not have it.
    UNSUPPORTED_FEATURE = 0x7800_0003;
    /// A value that cannot be, or a handle of nothing.
    INVALID_ARGUMENT = 0x7800_0004;
    /// A null handle.
    INVALID_NULL_HANDLE = 0x7800_0005;
    /// A null pointer.
    INVALID_NULL_POINTER = 0x7800_0007;
    /// A size that cannot be.
    INVALID_SIZE = 0x7800_0008;
    /// A size that the device does not have.
    UNSUPPORTED_SIZE = 0x7800_0009;
    /// An alignment that the device does not have.
    UNSUPPORTED_ALIGNMENT = 0x7800_000a;
    /// An event or a fence that cannot be used so.
    INVALID_SYNCHRONIZATION_OBJECT = 0x7800_000b;
    /// A number that names nothing.
    INVALID_ENUMERATION = 0x7800_000c;
    /// A number that names something that is not supported.
    UNSUPPORTED_ENUMERATION = 0x7800_000d;
    /// A format that images do not have.
    UNSUPPORTED_IMAGE_FORMAT = 0x7800_000e;
    /// A binary without vISA, or none.
    INVALID_NATIVE_BINARY = 0x7800_000f;
    /// There is no such variable.
    INVALID_GLOBAL_NAME = 0x7800_0010;
    /// There is no such kernel.
    INVALID_KERNEL_NAME = 0x7800_0011;
    /// There is no such function.
    INVALID_FUNCTION_NAME = 0x7800_0012;
    /// A size of groups that the device, or the kernel, does not have.
    INVALID_GROUP_SIZE_DIMENSION = 0x7800_0013;
    /// A number of work-items that the device does not have.
    INVALID_GLOBAL_WIDTH_DIMENSION = 0x7800_0014;
    /// The kernel has fewer arguments.
    INVALID_KERNEL_ARGUMENT_INDEX = 0x7800_0015;
    /// The argument has another size.
    INVALID_KERNEL_ARGUMENT_SIZE = 0x7800_0016;
    /// The module calls functions that it was not linked with.
    INVALID_MODULE_UNLINKED = 0x7800_0018;
    /// Another kind of list is needed.
    INVALID_COMMAND_LIST_TYPE = 0x7800_0019;
    /// A copy of memory onto itself.
    OVERLAPPING_REGIONS = 0x7800_001a;
    /// There is no allocation.
    ADDRESS_NOT_FOUND = 0x7800_0021;
}

/// The error, if a condition does not hold.
///
/// # Errors
/// That one.
pub fn ensure(holds: bool, error: Error) -> Result<()> {
    if holds { Ok(()) } else { Err(error) }
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        match code.0 {
            cl::CL_OUT_OF_RESOURCES | cl::CL_MEM_OBJECT_ALLOCATION_FAILURE => {
                Self::OUT_OF_DEVICE_MEMORY
            }
            cl::CL_OUT_OF_HOST_MEMORY => Self::OUT_OF_HOST_MEMORY,
            cl::CL_BUILD_PROGRAM_FAILURE | cl::CL_COMPILE_PROGRAM_FAILURE => {
                Self::MODULE_BUILD_FAILURE
            }
            cl::CL_LINK_PROGRAM_FAILURE => Self::MODULE_LINK_FAILURE,
            cl::CL_INVALID_BINARY => Self::INVALID_NATIVE_BINARY,
            cl::CL_INVALID_OPERATION => Self::UNSUPPORTED_FEATURE,
            cl::CL_INVALID_KERNEL_NAME => Self::INVALID_KERNEL_NAME,
            cl::CL_INVALID_ARG_INDEX => Self::INVALID_KERNEL_ARGUMENT_INDEX,
            cl::CL_INVALID_ARG_SIZE => Self::INVALID_KERNEL_ARGUMENT_SIZE,
            cl::CL_INVALID_BUFFER_SIZE | cl::CL_INVALID_IMAGE_SIZE => Self::UNSUPPORTED_SIZE,
            cl::CL_IMAGE_FORMAT_NOT_SUPPORTED => Self::UNSUPPORTED_IMAGE_FORMAT,
            cl::CL_INVALID_WORK_GROUP_SIZE | cl::CL_INVALID_WORK_ITEM_SIZE => {
                Self::INVALID_GROUP_SIZE_DIMENSION
            }
            cl::CL_INVALID_GLOBAL_WORK_SIZE => Self::INVALID_GLOBAL_WIDTH_DIMENSION,
            _ => Self::INVALID_ARGUMENT,
        }
    }
}

/// What those learn who wait for commands of which one failed.
///
/// # Errors
/// [`Error::DEVICE_LOST`], as on hardware.
pub fn waited(result: visakit_driver::error::Result<()>) -> Result<()> {
    result.map_err(|_| Error::DEVICE_LOST)
}
