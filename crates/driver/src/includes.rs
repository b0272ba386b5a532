//! Which files a source includes: the inputs of a compilation besides the source.
//!
//! The answer is only used to detect that nothing has changed, so it may contain more than the compiler reads (files of
//! branches that are not taken), but never less: if a line could include something that cannot be determined from the
//! text, there is no answer.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Files of one program; more are ignored.
const MOST_FILES: usize = 1000;

/// Bytes of all files of a program; more are ignored.
const MOST_BYTES: u64 = 64 << 20;

/// Where the compiler searches besides its working folder and those of its options.
const SYSTEM: [&str; 2] = ["/usr/local/include", "/usr/include"];

/// Words in directives that read files. `__has_include` and `include_next` contain them.
const WORDS: [&[u8]; 3] = [b"include", b"import", b"embed"];

/// Macros that differ from one compilation to the next.
const CLOCKS: [&[u8]; 3] = [b"__DATE__", b"__TIME__", b"__TIMESTAMP__"];

/// A folder to search.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Folder {
    /// Headers that the host gave by name.
    Given,
    /// A folder.
    At(PathBuf),
}

/// Searches for files; what it finds is hashed.
struct Search<'a> {
    headers: &'a [(String, Vec<u8>)],
    folders: Vec<Folder>,
    seen: BTreeSet<(Folder, PathBuf)>,
    hash: Sha256,
    bytes: u64,
}

/// A hash over the names and contents of all files that a source may include, as they are now. `None` where that cannot
/// be known: names made by macros, folders that options name in ways that are not understood, files that are not found.
#[must_use]
pub(super) fn fingerprint(
    source: &[u8],
    headers: &[(String, Vec<u8>)],
    options: &str,
) -> Option<Vec<u8>> {
    if options.split_whitespace().any(includes_itself) {
        return None;
    }
    // A word may be split by a line continuation.
    if !has_word(source) && !has_word(&spliced(source)) {
        return is_timeless(source).then(Vec::new);
    }
    // The compiler runs where the host is, and looks there first.
    let mut folders = vec![Folder::At(PathBuf::from("."))];
    folders.extend(option_folders(options)?.into_iter().map(Folder::At));
    if !headers.is_empty() {
        folders.push(Folder::Given);
    }
    folders.extend(SYSTEM.iter().map(|f| Folder::At(PathBuf::from(f))));
    let mut search = Search {
        headers,
        folders,
        seen: BTreeSet::new(),
        hash: Sha256::new(),
        bytes: 0,
    };
    search.text(source)?;
    search
        .hash
        .update(std::env::current_dir().ok()?.as_os_str().as_bytes());
    Some(search.hash.finalize().to_vec())
}

fn has_word(text: &[u8]) -> bool {
    WORDS
        .iter()
        .any(|w| text.windows(w.len()).any(|part| part == *w))
}

fn is_timeless(text: &[u8]) -> bool {
    !CLOCKS
        .iter()
        .any(|w| text.windows(w.len()).any(|part| part == *w))
}

/// Lines that end with a backslash put together with those that follow, as compilers do first of all.
fn spliced(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'\\' {
            let blanks = after.iter().take_while(|b| is_blank(**b)).count();
            let end = after.get(blanks..).unwrap_or_default();
            if let Some(next) = [&b"\r\n"[..], b"\n", b"\r"]
                .iter()
                .find_map(|n| end.strip_prefix(*n))
            {
                rest = next;
                continue;
            }
        }
        out.push(first);
    }
    out
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

fn trimmed(line: &[u8]) -> &[u8] {
    let blanks = line.iter().take_while(|b| is_blank(**b)).count();
    line.get(blanks..).unwrap_or_default()
}

/// What a line of a source includes.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Nothing,
    /// The name; whether the folder of the including file comes first.
    File(&'a [u8], bool),
    /// It cannot be known.
    Unclear,
}

/// Examines a line with its continuations joined.
fn line(text: &[u8]) -> Line<'_> {
    if !has_word(text) {
        return Line::Nothing;
    }
    // A directive comes first in its line, except for comments.
    let comment = text.windows(2).position(|part| part == b"*/");
    if comment.is_some_and(|end| has_word(text.get(end..).unwrap_or_default())) {
        return Line::Unclear;
    }
    let text = trimmed(text);
    let Some(directive) = text.strip_prefix(b"#") else {
        // Its sign has other forms.
        return if text.starts_with(b"%:") || text.starts_with(b"??=") {
            Line::Unclear
        } else {
            Line::Nothing
        };
    };
    let directive = trimmed(directive);
    let letters = directive
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
    let (word, rest) = directive.split_at(letters.count());
    match word {
        b"include" => {
            let rest = trimmed(rest);
            let (close, own) = match rest.first() {
                Some(b'"') => (b'"', true),
                Some(b'<') => (b'>', false),
                _ => return Line::Unclear,
            };
            let name = rest.get(1..).unwrap_or_default();
            match name.iter().position(|b| *b == close) {
                Some(end) => Line::File(name.get(..end).unwrap_or_default(), own),
                None => Line::Unclear,
            }
        }
        // `#if __has_include(…)` tests whether a file exists; it may come from a macro.
        b"define" | b"undef" | b"ifdef" | b"ifndef" | b"else" | b"endif" | b"error"
        | b"warning" | b"pragma" | b"line"
            if !rest.windows(6).any(|part| part == b"__has_") =>
        {
            Line::Nothing
        }
        _ => Line::Unclear,
    }
}

impl Search<'_> {
    /// Follows the includes of a program.
    fn text(&mut self, program: &[u8]) -> Option<()> {
        // With a list, not by calling itself: the depth is the input's. The program itself is in no folder.
        let mut open = vec![(program.to_vec(), None)];
        while let Some((text, folder)) = open.pop() {
            if !is_timeless(&text) {
                return None;
            }
            for one in spliced(&text).split(|b| matches!(b, b'\n' | b'\r')) {
                match line(one) {
                    Line::Nothing => {}
                    Line::Unclear => return None,
                    Line::File(name, own) => {
                        let first = folder.as_ref().filter(|_| own);
                        if let Some((text, folder)) = self.file(name, first)? {
                            open.push((text, Some(folder)));
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// Finds a file and adds it to the hash: its text and its folder, or nothing if it was seen before.
    fn file(&mut self, name: &[u8], first: Option<&Folder>) -> Option<Option<(Vec<u8>, Folder)>> {
        let name = Path::new(OsStr::from_bytes(name));
        let folders: Vec<_> = first.into_iter().chain(&self.folders).cloned().collect();
        for folder in folders {
            let (path, text, inside) = match &folder {
                Folder::At(place) => {
                    let path = place.join(name);
                    let Some(text) = self.read(&path) else {
                        // There is something that could not be read, or not whole.
                        if path.exists() {
                            return None;
                        }
                        continue;
                    };
                    // Ways through `..` have no end of names for one file. A link counts where its name is.
                    let parent = path.parent().unwrap_or(place);
                    let inside = fs::canonicalize(parent).ok()?;
                    let path = inside.join(path.file_name()?);
                    (path, text, Folder::At(inside))
                }
                Folder::Given => {
                    let header = self.headers.iter().find(|h| Path::new(&h.0) == name);
                    let Some((_, text)) = header else {
                        continue;
                    };
                    // Names in a header that has a folder itself are left to the compiler.
                    if name.components().count() > 1 {
                        return None;
                    }
                    (name.to_owned(), text.clone(), Folder::Given)
                }
            };
            for part in [path.as_os_str().as_bytes(), &text] {
                self.hash.update((part.len() as u64).to_le_bytes());
                self.hash.update(part);
            }
            let new = self.seen.insert((inside.clone(), path));
            let few = self.seen.len() <= MOST_FILES;
            return few.then(|| new.then_some((text, inside)));
        }
        None
    }

    /// The content of a file, within the bounds for all of them.
    fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        let room = MOST_BYTES.saturating_sub(self.bytes);
        match visakit_files::read(path, room) {
            Ok(text) => {
                self.bytes = self.bytes.saturating_add(text.len() as u64);
                Some(text)
            }
            Err(error) => {
                if error.kind() == std::io::ErrorKind::FileTooLarge {
                    self.bytes = MOST_BYTES.saturating_add(1);
                }
                None
            }
        }
    }
}

/// Whether an option reads files or includes them in its own way.
fn includes_itself(option: &str) -> bool {
    ["-i", "--i", "@"].iter().any(|s| option.starts_with(s)) || option.contains("__has_")
}

/// The folders that options name for headers, in order. `None` where the options may be read in more than one way.
fn option_folders(options: &str) -> Option<Vec<PathBuf>> {
    let mut folders = Vec::new();
    let mut tokens = options.split_whitespace();
    while let Some(token) = tokens.next() {
        // Quotes that go over blanks, and escapes, are read in different ways by different releases.
        let even = token.matches('"').count().is_multiple_of(2);
        if !even || token.contains(['\'', '\\']) {
            return None;
        }
        if let Some(folder) = token.strip_prefix("-I") {
            let folder = if folder.is_empty() {
                tokens.next()?
            } else {
                folder
            };
            let bare = folder
                .strip_prefix('"')
                .and_then(|f| f.strip_suffix('"'))
                .unwrap_or(folder);
            if bare.contains(['"', '\'', '\\']) {
                return None;
            }
            folders.push(PathBuf::from(bare));
        }
    }
    Some(folders)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn of(text: &str, options: &str) -> Option<Vec<u8>> {
        fingerprint(text.as_bytes(), &[], options)
    }

    #[test]
    fn lines() {
        let file = |name: &'static str, own| Line::File(name.as_bytes(), own);
        for (text, found) in [
            ("#include \"a.h\"", file("a.h", true)),
            (" \t# include <b/c.h> // more", file("b/c.h", false)),
            ("#include NAME", Line::Unclear),
            ("#include_next <a.h>", Line::Unclear),
            ("#include /* */ \"a.h\"", Line::Unclear),
            ("# /* */ include \"a.h\"", Line::Unclear),
            ("/* */ #include \"a.h\"", Line::Unclear),
            ("of a comment */ #include \"a.h\"", Line::Unclear),
            ("%:include \"a.h\"", Line::Unclear),
            ("??=include \"a.h\"", Line::Unclear),
            ("# endif in a comment */ #include \"a.h\"", Line::Unclear),
            ("#include \"b.h\" */ #include \"a.h\"", Line::Unclear),
            ("#endif /* include_h */", Line::Nothing),
            ("/* what to include: */", Line::Nothing),
            ("#if __has_include(\"a.h\")", Line::Unclear),
            ("#define HAS __has_include(\"a.h\")", Line::Unclear),
            ("#import \"a.h\"", Line::Unclear),
            ("#include \"a.h", Line::Unclear),
            ("#ifndef includes_h", Line::Nothing),
            ("int included = 1; // #include", Line::Nothing),
            ("// #include \"a.h\"", Line::Nothing),
        ] {
            assert_eq!(line(text.as_bytes()), found, "{text}");
        }
    }

    #[test]
    fn contents_decide() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        let options = format!("-I{} -DA=\"x\"", folder.path().display());
        let program =
            "#include \"visakit_one.h\"\n#incl\\\nude <visakit_two.h>\nkernel void f() {}";
        // A file that is not found here may be found by the compiler.
        assert_eq!(of(program, &options), None);
        fs::create_dir(inside("deep")).unwrap();
        fs::write(inside("visakit_one.h"), "#include \"deep/three.h\"\n").unwrap();
        fs::write(inside("visakit_two.h"), "#pragma once\n").unwrap();
        fs::write(inside("deep/three.h"), "#include \"four.h\"\n").unwrap();
        fs::write(inside("deep/four.h"), "int a;\n").unwrap();
        let first = of(program, &options).unwrap();
        assert_eq!(of(program, &options), Some(first.clone()));
        // Any of them, however it is reached.
        fs::write(inside("deep/four.h"), "int b;\n").unwrap();
        let second = of(program, &options).unwrap();
        assert_ne!(first, second);
        fs::write(inside("deep/four.h"), "int a;\n").unwrap();
        assert_eq!(of(program, &options), Some(first.clone()));
        // A file that is found before another, even with the same content.
        let before = format!("-I {} {options}", inside("before").display());
        let third = of(program, &before).unwrap();
        fs::create_dir(inside("before")).unwrap();
        fs::write(inside("before/visakit_two.h"), "#pragma once\n").unwrap();
        assert_ne!(of(program, &before), Some(third));
        // A circle ends.
        fs::write(inside("deep/four.h"), "#include \"../visakit_one.h\"\n").unwrap();
        assert!(of(program, &options).is_some());
    }

    #[test]
    fn what_cannot_be_told() {
        assert_eq!(of("kernel void f() {}", ""), Some(Vec::new()));
        assert_eq!(of("kernel void f() {} // __TIME__", ""), None);
        assert_eq!(of("int a;", "-include /etc/hostname"), None);
        assert_eq!(of("int a;", "-DHAS=__has_include"), None);
        assert_eq!(
            of("int a;", "-cl-intel-greater-than-4GB-buffer-required"),
            Some(Vec::new())
        );
        assert_eq!(of("#include \"/etc/hostname\"", "-I 'a b'"), None);
        assert_eq!(of("#include \"/etc/hostname\"", "-I \"a b\""), None);
        let headers = [
            ("own.h".to_owned(), b"#include \"other.h\"".to_vec()),
            ("other.h".to_owned(), b"int a;".to_vec()),
        ];
        let program = b"#include \"own.h\"";
        assert!(fingerprint(program, &headers, "").is_some());
        assert_eq!(fingerprint(program, &headers[..1], ""), None);
        // Depth is that of a list.
        let headers: Vec<_> = (0..2000)
            .map(|n| {
                let text = format!("#include \"h{}.h\"", n + 1);
                (format!("h{n}.h"), text.into_bytes())
            })
            .collect();
        assert_eq!(fingerprint(b"#include \"h0.h\"", &headers, ""), None);
    }
}
