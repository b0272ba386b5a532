//! Bindless handles of surfaces and samplers, in the order of the arguments.

/// Handles are multiples of this, as surface states in a heap would be.
const HANDLE: u32 = 64;

/// The handle of the surface of that number.
pub(crate) fn handle_of(number: usize) -> Option<u32> {
    u32::try_from(number).ok()?.checked_mul(HANDLE)
}

/// The handle of a sampler of the program itself, after those of the arguments.
pub(crate) fn inline_handle(arguments: usize, number: u32) -> Option<u32> {
    let number = usize::try_from(number).ok()?;
    handle_of(arguments.checked_add(number)?.checked_add(1)?)
}
