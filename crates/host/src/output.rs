//! The program's own standard output, which receives the output of kernels.

use std::ffi::{c_char, c_int};

/// Writes to C's standard output.
pub fn print(text: &[u8]) {
    let Ok(length) = c_int::try_from(text.len()) else {
        return;
    };
    // Zero characters end the output of `%.*s`.
    for piece in text.split_inclusive(|b| *b == 0) {
        let length = c_int::try_from(piece.len()).unwrap_or(length);
        // SAFETY: the text has this many bytes.
        unsafe { libc::printf(c"%.*s".as_ptr(), length, piece.as_ptr().cast::<c_char>()) };
    }
}
