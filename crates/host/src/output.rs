//! The program's own standard output, which receives the output of kernels, and an abnormal end that keeps it.

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

unsafe extern "C" {
    /// C's standard output: glibc and musl have it under this name.
    static stdout: *mut libc::FILE;
}

/// Ends the program abnormally, once C's standard output is written: `abort` alone loses what it holds.
pub fn abort() -> ! {
    // SAFETY: the stream of the C library, which nobody closes; of others, some may be waited for by who reads them.
    unsafe { libc::fflush(stdout) };
    std::process::abort()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    /// What was printed before an abnormal end arrives where the output is no terminal, too.
    #[test]
    fn output_survives_an_abnormal_end() {
        const SELF: &str = "VISAKIT_TEST_ABORTS";
        if std::env::var_os(SELF).is_some() {
            print(b"of a kernel\n\0and more");
            abort();
        }
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "output::tests::output_survives_an_abnormal_end"]);
        let done = again
            .args(["--nocapture", "--test-threads=1"])
            .env(SELF, "1")
            .output()
            .unwrap();
        assert_eq!(done.status.signal(), Some(libc::SIGABRT));
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(said.contains("of a kernel\n"), "{said}");
        assert!(said.ends_with("and more"), "{said}");
    }
}
