//! The program's own output, which what kernels print goes to.

use std::ffi::{c_char, c_int};

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
