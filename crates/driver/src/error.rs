//! Errors, by the numbers of OpenCL, the older of the interfaces; others translate them.

/// An error code of OpenCL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code(pub i32);

/// The result of calls.
pub type Result<T> = std::result::Result<T, Code>;

/// The error of that number, if a condition does not hold.
///
/// # Errors
/// That one.
pub fn ensure(holds: bool, code: i32) -> Result<()> {
    if holds { Ok(()) } else { Err(Code(code)) }
}

/// The error of that number.
///
/// # Errors
/// Always.
pub fn fail<T>(code: i32) -> Result<T> {
    Err(Code(code))
}
