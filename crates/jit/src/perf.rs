//! Names of machine code for `perf`, which reads them from `/tmp/perf-PID.map`.

use crate::compiled::Compiled;
use crate::x64::Note;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{LazyLock, Mutex};

/// The file of this process, if the environment asks for it. It is made here: what others have put in its place is left
/// alone.
static MAP: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    std::env::var_os("VISAKIT_PERF_MAP")?;
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let file = OpenOptions::new().append(true).create_new(true).open(path);
    Some(Mutex::new(file.ok()?))
});

/// Writes the names of code that is at an address. Nothing depends on whether that succeeds.
pub(crate) fn tell(address: usize, compiled: &Compiled) {
    if let Some(map) = MAP.as_ref()
        && let Ok(mut file) = map.lock()
    {
        let _ = file.write_all(lines(address, &compiled.notes, compiled.bytes.len()).as_bytes());
    }
}

/// The parts of code that have names: where each begins, its bytes, its name.
pub(crate) fn parts(notes: &[(usize, Note)], bytes: usize) -> Vec<(usize, usize, String)> {
    let part = |note: Note| match note {
        Note::Entry => Some("entry".to_owned()),
        Note::Segment { start, full } => Some(name("segment", start, full)),
        Note::Loop { start, full } => Some(name("loop", start, full)),
        Note::Follower => Some("next thread".to_owned()),
        Note::Form(_) | Note::Step(_) | Note::End | Note::Detour(_) | Note::Exit(_) => None,
    };
    let parts = notes
        .iter()
        .filter_map(|(at, note)| Some((*at, part(*note)?)));
    let parts: Vec<_> = parts.collect();
    let mut ends: Vec<_> = parts.iter().skip(1).map(|(at, _)| *at).collect();
    ends.push(bytes);
    let parts = parts.into_iter().zip(ends);
    parts
        .map(|((at, name), end)| (at, end.saturating_sub(at), name))
        .collect()
}

/// A line for each part.
fn lines(address: usize, notes: &[(usize, Note)], bytes: usize) -> String {
    let mut text = String::new();
    for (at, size, name) in parts(notes, bytes) {
        let start = address.wrapping_add(at);
        let _ = writeln!(text, "{start:x} {size:x} visakit {name}");
    }
    text
}

fn name(what: &str, start: usize, full: bool) -> String {
    let lanes = if full { "all" } else { "some" };
    format!("{what} of step {start}, {lanes} lanes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_code() {
        let notes = [
            (0, Note::Entry),
            (
                16,
                Note::Segment {
                    start: 0,
                    full: true,
                },
            ),
            (20, Note::Step(0)),
            (
                48,
                Note::Loop {
                    start: 3,
                    full: false,
                },
            ),
        ];
        let expected = "1000 10 visakit entry\n\
                        1010 20 visakit segment of step 0, all lanes\n\
                        1030 34 visakit loop of step 3, some lanes\n";
        assert_eq!(lines(0x1000, &notes, 100), expected);
    }
}
