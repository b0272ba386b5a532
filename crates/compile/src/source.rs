//! What the compiler is given of a source: its text, its name, its options.

use std::path::Path;
use visakit_launch::Content;

/// Name of a path that is standard input.
const STDIN: &str = "-";

/// Options for a source: the user's, and before them all debug information, or a table of lines, which leaves the code as
/// it is; after them the folder of the source, for files that it includes.
pub(crate) fn options(file: &Path, given: &str, debug: bool) -> String {
    let folder = file.parent().filter(|_| file.as_os_str() != STDIN);
    let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
    // The compiler splits its options at blanks.
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\'' | '\\');
    let folder = folder.as_deref().and_then(Path::to_str);
    let folder = folder.filter(|folder| !folder.is_empty() && folder.chars().all(plain));
    let folder = folder.map_or_else(String::new, |folder| format!(" -I {folder}"));
    // Of both, compilers obey the one for lines.
    let asked = given.split_whitespace().any(|word| word == "-g");
    let information = match (asked, debug) {
        (true, _) => "",
        (_, true) => "-g ",
        _ => "-gline-tables-only ",
    };
    format!("{information}{given}{folder}")
}

/// The text, after a line that makes debug information refer to the user's file instead of a copy.
pub(crate) fn text(file: &Path, bytes: &[u8], content: Content) -> Vec<u8> {
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    let path = file.to_str().filter(|path| path.chars().all(plain));
    let path = path.filter(|path| content != Content::SpirV && *path != STDIN);
    let mut text = path.map_or_else(Vec::new, |path| {
        format!("#line 1 \"{path}\"\n").into_bytes()
    });
    text.extend_from_slice(bytes);
    text
}

/// The name of the copy: the file's own, which debug information has as well, if the compiler accepts such a name.
pub(crate) fn file_name(file: &Path, content: Content) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let own = || {
        let name = file.file_name()?.to_str()?;
        (name.ends_with(".cl") && !name.starts_with('-') && name.chars().all(plain)).then_some(name)
    };
    match content {
        Content::SpirV => "input.spv",
        _ => own().unwrap_or("input.cl"),
    }
}
