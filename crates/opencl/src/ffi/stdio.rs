//! The host's `printf`: what kernels print is formatted as C does it, and goes where the program's own output goes.

use std::ffi::{CString, c_char, c_int};

/// Calls `snprintf` until there is room.
fn formatted(call: impl Fn(*mut c_char, usize) -> c_int) -> Vec<u8> {
    let length = usize::try_from(call(std::ptr::null_mut(), 0)).unwrap_or(0);
    // A width of millions is no text.
    let length = length.min(1 << 20);
    let mut bytes = vec![0_u8; length + 1];
    call(bytes.as_mut_ptr().cast(), bytes.len());
    bytes.truncate(length);
    bytes
}

/// `%lld` and its like: the one conversion of `format` takes a `long long`.
pub(crate) fn integer(format: &str, value: i64) -> Vec<u8> {
    let format = CString::new(format).unwrap_or_default();
    // SAFETY: the buffer has that size, and the only conversion is of this type.
    formatted(|to, size| unsafe { libc::snprintf(to, size, format.as_ptr(), value) })
}

/// `%c`.
pub(crate) fn character(format: &str, value: i64) -> Vec<u8> {
    let format = CString::new(format).unwrap_or_default();
    let value = c_int::from(value.to_le_bytes()[0]);
    // SAFETY: as above.
    formatted(|to, size| unsafe { libc::snprintf(to, size, format.as_ptr(), value) })
}

/// `%f` and its like.
pub(crate) fn float(format: &str, value: f64) -> Vec<u8> {
    let format = CString::new(format).unwrap_or_default();
    // SAFETY: as above.
    formatted(|to, size| unsafe { libc::snprintf(to, size, format.as_ptr(), value) })
}

/// `%s`.
pub(crate) fn string(format: &str, value: &[u8]) -> Vec<u8> {
    let format = CString::new(format).unwrap_or_default();
    let value = CString::new(value).unwrap_or_default();
    // SAFETY: as above; the value ends with a zero.
    formatted(|to, size| unsafe { libc::snprintf(to, size, format.as_ptr(), value.as_ptr()) })
}

/// Writes to C's standard output.
pub(crate) fn print(text: &[u8]) {
    let Ok(length) = c_int::try_from(text.len()) else {
        return;
    };
    // Characters that are zero end what `%.*s` prints.
    for piece in text.split_inclusive(|b| *b == 0) {
        let length = c_int::try_from(piece.len()).unwrap_or(length);
        // SAFETY: the text has so many bytes.
        unsafe { libc::printf(c"%.*s".as_ptr(), length, piece.as_ptr().cast::<c_char>()) };
    }
}
