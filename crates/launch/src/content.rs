//! Determines what a file contains from its bytes: file names do not matter.

use std::fmt;
use std::io::Read;
use std::path::Path;
use visakit_parse::MAGIC;

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A binary vISA object.
    Object,
    /// vISA text, or text about which nothing else is known.
    Text,
    /// An ELF file with launch metadata: a compiled OpenCL program.
    Zebin,
    /// Any other ELF file.
    Elf,
    /// An archive of device binaries, one for each device.
    FatBinary,
    /// A module of SPIR-V.
    SpirV,
    /// SPIR-V as text.
    SpirVText,
    /// LLVM bitcode.
    Bitcode,
    /// LLVM as text.
    LlvmText,
    /// OpenCL C.
    OpenCl,
    /// Native code as text, as the compiler dumps it.
    NativeText,
    /// The device binary that is older than the zebin, with native code.
    PatchTokens,
    /// The launch metadata of a zebin, as text.
    ZeInfo,
    /// Packed by gzip.
    Gzip,
    /// An empty file.
    Empty,
    /// Something binary.
    Unknown,
}

/// Magic numbers of binary files.
const BEGINNINGS: [(&[u8], Content); 9] = [
    (&MAGIC, Content::Object),
    (b"\x1f\x8b", Content::Gzip),
    (b"\x7fELF", Content::Elf),
    (b"!<arch>\n", Content::FatBinary),
    (b"\x03\x02\x23\x07", Content::SpirV),
    (b"\x07\x23\x02\x03", Content::SpirV),
    (b"BC\xc0\xde", Content::Bitcode),
    (b"\xde\xc0\x17\x0b", Content::Bitcode),
    (b"CTNI", Content::PatchTokens),
];

/// This many bytes are examined: licences and helpers may precede what tells.
pub(crate) const TELLING: usize = 64 << 10;

/// Beginnings of lines of vISA text; one of them is sufficient.
const VISA: [&str; 6] = [
    ".version",
    ".kernel",
    ".function",
    ".global_function",
    ".decl",
    ".input",
];

/// Beginnings of lines of other texts.
const OTHERS: [(&str, Content); 9] = [
    ("; SPIR-V", Content::SpirVText),
    ("OpCapability ", Content::SpirVText),
    ("; ModuleID", Content::LlvmText),
    ("target triple", Content::LlvmText),
    ("target datalayout", Content::LlvmText),
    ("//.kernel", Content::NativeText),
    ("//.platform", Content::NativeText),
    ("kernels:", Content::ZeInfo),
    ("source_filename", Content::LlvmText),
];

impl Content {
    /// Classifies these bytes; the first few of a file are enough, except to distinguish a zebin from another
    /// ELF file.
    ///
    /// ```
    /// use visakit_launch::Content;
    ///
    /// assert_eq!(Content::of(b"\x03\x02\x23\x07\0\0\x01\0"), Content::SpirV);
    /// assert_eq!(Content::of(b".version 4.1\n.kernel \"k\"\n"), Content::Text);
    /// ```
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::Empty;
        }
        let begins = BEGINNINGS
            .iter()
            .find(|(start, _)| bytes.starts_with(start));
        match begins {
            Some((_, Self::Elf)) if memory(bytes, b".ze_info\0") => return Self::Zebin,
            Some((_, found)) => return *found,
            None => {}
        }
        let head = bytes.get(..TELLING).unwrap_or(bytes);
        if head.contains(&0) {
            return Self::Unknown;
        }
        let lines = head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        let code = without_comments(head);
        let bare = || code.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        let begins = |line: &[u8], start: &str| line.starts_with(start.as_bytes());
        let visa = |line: &[u8]| VISA.iter().any(|start| begins(line, start));
        // What is inside of comments tells of other texts, but only before the code of vISA or C begins.
        let other = |line: &[u8]| OTHERS.iter().find(|(start, _)| begins(line, start));
        let is_text = is_text(&code);
        let first = bare().position(|line| visa(line) || is_text && is_c(line));
        let found = lines
            .take(first.map_or(usize::MAX, |n| n + 1))
            .find_map(other);
        match first.and_then(|n| bare().nth(n)) {
            Some(line) if visa(line) => Self::Text,
            _ if found.is_some() => found.map_or(Self::Text, |(_, found)| *found),
            Some(_) => Self::OpenCl,
            None => Self::Text,
        }
    }

    /// Classifies a file by its beginning.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_file(path: &Path) -> std::io::Result<Self> {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path)?;
        file.take(TELLING as u64).read_to_end(&mut bytes)?;
        Ok(Self::of(&bytes))
    }

    /// Whether it may contain a program: an object, a text, or a file that contains them.
    #[must_use]
    pub const fn may_hold_visa(self) -> bool {
        matches!(
            self,
            Self::Object | Self::Text | Self::Zebin | Self::Elf | Self::FatBinary | Self::Gzip
        )
    }

    /// How to get from such a file to vISA, if that is not obvious.
    #[must_use]
    pub const fn advice(self) -> Option<&'static str> {
        match self {
            Self::SpirV | Self::OpenCl => {
                Some("`visakit compile FILE --device NAME` makes vISA of it with Intel's compiler")
            }
            Self::SpirVText => Some(
                "assemble it with spirv-as; `visakit compile` makes vISA of the module with Intel's compiler",
            ),
            Self::Bitcode | Self::LlvmText => Some(
                "make SPIR-V of it with llvm-spirv; `visakit compile` makes vISA of that with Intel's compiler",
            ),
            Self::Zebin | Self::Elf | Self::FatBinary | Self::PatchTokens | Self::NativeText => {
                Some(
                    "vISA is what the compiler makes native code of: compile the source with `visakit compile`, or set \
                 IGC_ShaderDumpEnable=1, IGC_EnableZEBinary=1 and IGC_DumpToCustomDir=DIR where the application runs and \
                 give DIR to visakit",
                )
            }
            Self::ZeInfo => Some("it belongs beside a program: give it with --zeinfo"),
            Self::Object | Self::Text | Self::Gzip => None,
            Self::Empty | Self::Unknown => {
                Some("objects begin with `CISA`, texts with a line such as `.version 4.1`")
            }
        }
    }
}

/// Whether it is UTF-8 without control characters, but for one that is cut at the end.
fn is_text(bytes: &[u8]) -> bool {
    let whole = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_some() => return false,
        Err(error) => bytes
            .get(..error.valid_up_to())
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default(),
    };
    !whole.contains(|c: char| c.is_control() && !c.is_whitespace())
}

/// Whether a line without comments is one of C, and of none of the languages that have no braces around statements:
/// directives of the preprocessor, statements and their ends, kernels. The only semicolons of vISA are inside of regions.
fn is_c(line: &[u8]) -> bool {
    let words = line.split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'%')));
    let ends = |pair: &[u8]| matches!(pair, [before, b';', after] if !before.is_ascii_whitespace() && after.is_ascii_whitespace());
    line.starts_with(b"#")
        || (line.len() > 1 && line.ends_with(b";"))
        || line.ends_with(b"{")
        || line.windows(3).any(ends)
        || words
            .into_iter()
            .any(|word| matches!(word, b"__kernel" | b"kernel"))
}

/// The text with blanks for its comments, in the same lines.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut code = text.to_vec();
    let (mut at, mut inside) = (0, None);
    while let Some(rest) = code.get_mut(at..).filter(|rest| !rest.is_empty()) {
        let ends: &[u8] = match (&inside, &*rest) {
            (None, [b'/', b'/', ..]) => b"//",
            (None, [b'/', b'*', ..]) => b"/*",
            (Some(b'*'), [b'*', b'/', ..]) => b"*/",
            (Some(b'/'), [b'\n', ..]) => b"\n",
            _ => &[],
        };
        let length = ends.len().max(1);
        let blank = inside.is_some() || !ends.is_empty();
        inside = match (ends, inside) {
            (b"//", _) => Some(b'/'),
            (b"/*", _) => Some(b'*'),
            ([], inside) => inside,
            _ => None,
        };
        for byte in rest.iter_mut().take(length) {
            if blank && *byte != b'\n' {
                *byte = b' ';
            }
        }
        at += length;
    }
    code
}

/// Whether the memory contains these bytes.
fn memory(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

impl fmt::Display for Content {
    /// With its article, as in "is ...".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "a vISA object",
            Self::Text => "vISA text",
            Self::Zebin => "a compiled OpenCL program (zebin)",
            Self::Elf => "an ELF file without the metadata of a zebin",
            Self::FatBinary => "an archive of device binaries",
            Self::SpirV => "a SPIR-V module",
            Self::SpirVText => "SPIR-V text",
            Self::Bitcode => "LLVM bitcode",
            Self::LlvmText => "LLVM text",
            Self::OpenCl => "OpenCL C",
            Self::NativeText => "native code as text",
            Self::PatchTokens => "a device binary with native code, in the format before the zebin",
            Self::ZeInfo => "launch metadata (zeinfo)",
            Self::Gzip => "packed by gzip",
            Self::Empty => "empty",
            Self::Unknown => "binary, and of no known kind",
        })
    }
}

/// The members of an archive in the format of `ar`, with their names. A truncated member ends the list.
pub(crate) fn members(archive: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    /// Name, dates and the like, size, two bytes that end the header.
    const HEADER: usize = 60;
    let mut rest = archive.get(8..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (header, after) = rest.split_at_checked(HEADER)?;
        let field = |range: std::ops::Range<usize>| {
            Some(
                std::str::from_utf8(header.get(range)?)
                    .ok()?
                    .trim()
                    .to_owned(),
            )
        };
        let name = field(0..16)?.trim_end_matches('/').to_owned();
        let size: usize = field(48..58)?.parse().ok()?;
        let bytes = after.get(..size)?;
        rest = after.get(size.next_multiple_of(2)..).unwrap_or_default();
        Some((name, bytes))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn kinds() {
        for (bytes, kind) in [
            (&b"CISA\x04\x01"[..], Content::Object),
            (b"\n  .version 4.2\n", Content::Text),
            (b"mov (M1, 1) V1 V2\n", Content::Text),
            (b"", Content::Empty),
            (b"\0\0\0", Content::Unknown),
            (b"\x7fELF\x02\x01\x01\0", Content::Elf),
            (b"\x7fELF\x02\x01\x01\0....\0.ze_info\0", Content::Zebin),
            (b"BC\xc0\xde5\x14", Content::Bitcode),
            (b"; ModuleID = 'k'\n", Content::LlvmText),
            (b"//.kernel add\n//.platform DG2\n", Content::NativeText),
            (b"int f();\n__kernel void k() {}\n", Content::OpenCl),
            (
                b"#define K __kernel\nK void k(global int *o) { *o = 1; }\n",
                Content::OpenCl,
            ),
            (
                b"__attribute__((x(16)))  kernel void k() {}",
                Content::OpenCl,
            ),
            (
                b"; ModuleID = 'k'\ndefine void @kernel() {\n  ret void ; end\n}\n",
                Content::LlvmText,
            ),
            // C is what begins as C, even with assembly inside.
            (
                b"int f() { return 1; }\n/* .version 4.1\n */ kernel void k() {}",
                Content::OpenCl,
            ),
            (
                b"/* int a; */ // b;\nmov (M1, 1) V1(0,0)<1> V2(0,0)<0;1,0>\n",
                Content::Text,
            ),
            (
                b"switchjmp (M1, 1) V1(0,0)<;,1> {L1, L2}\n.kernel_attr X=1\n",
                Content::Text,
            ),
            (
                b"/* \xfc */ int f();\nkernel void k() {}\n",
                Content::OpenCl,
            ),
            (b"\xfc\x01 {\n#\x07;\n", Content::Text),
            (b"---\nversion: '1.0'\nkernels:\n", Content::ZeInfo),
            // A remark of a text about its source does not make it source.
            (b"//.kernel k\n.version 4.1\n", Content::Text),
        ] {
            assert_eq!(Content::of(bytes), kind, "{bytes:?}");
            // A long licence does not hide what follows.
            if matches!(kind, Content::OpenCl | Content::Text) && !bytes.is_empty() {
                let licence = b"// *-1; {\n".repeat(4000);
                assert_eq!(Content::of(&[&licence, bytes].concat()), kind);
            }
        }
    }

    #[test]
    fn archives() {
        let mut archive = b"!<arch>\n".to_vec();
        for (name, bytes) in [("dg2", &b"abc"[..]), ("pvc", b"wxyz")] {
            archive.extend(format!("{:<48}{:<10}`\n", format!("{name}/"), bytes.len()).bytes());
            archive.extend(bytes);
            archive.resize(archive.len().next_multiple_of(2), b'\n');
        }
        let found: Vec<_> = members(&archive).collect();
        assert_eq!(
            found,
            [("dg2".into(), &b"abc"[..]), ("pvc".into(), b"wxyz")]
        );
        assert_eq!(members(b"!<arch>\nno header").count(), 0);
    }
}
