//! What editors show beside the text: offsets and bytes, and actions for routines.

use crate::{Document, SymbolKind};
use std::ops::Range;

/// Something to show after a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// Offset in the text after which it is shown.
    pub at: usize,
    /// The text to show.
    pub label: String,
    /// More of it.
    pub detail: String,
}

/// A routine with which something can be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The line of the routine's directive.
    pub line: usize,
    /// The name of the routine.
    pub name: String,
    /// Whether it is a kernel, which can be run on its own.
    pub kernel: bool,
}

/// At most this many bytes are shown beside an instruction.
const SHOWN: usize = 8;

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    digits.join(" ")
}

impl Document {
    /// Offset and bytes of the instructions in a range, where the text assembles.
    #[must_use]
    pub fn hints(&self, range: Range<usize>) -> Vec<Hint> {
        let encoded = self.analysis().encoded();
        let from = encoded.partition_point(|e| e.span.end < range.start);
        let here = encoded.get(from..).unwrap_or_default().iter();
        let here = here.take_while(|e| e.span.start < range.end);
        here.map(|e| {
            let shown = e.bytes.get(..SHOWN).unwrap_or(&e.bytes);
            let more = if e.bytes.len() > SHOWN { " …" } else { "" };
            let end = e.span.start + self.said(&e.span).trim_end().len();
            Hint {
                at: end,
                label: format!("{:#06x}: {}{more}", e.offset, hexadecimal(shown)),
                detail: format!(
                    "offset {:#x} in the routine's instructions, {} bytes: {}",
                    e.offset,
                    e.bytes.len(),
                    hexadecimal(&e.bytes)
                ),
            }
        })
        .collect()
    }

    /// The routines, to be run and drawn.
    #[must_use]
    pub fn lenses(&self) -> Vec<Lens> {
        let definitions = self.symbols().definitions.iter();
        let routines =
            definitions.filter(|d| matches!(d.kind, SymbolKind::Kernel | SymbolKind::Function));
        routines
            .map(|d| Lens {
                line: d.line,
                name: self.name_of(d),
                kernel: d.kind == SymbolKind::Kernel,
            })
            .collect()
    }
}
