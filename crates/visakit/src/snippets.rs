//! Messages about texts for people: the line with the place marked, what was expected, what may help.
//!
//! ```
//! use visakit::{snippets, text::asm};
//!
//! let text = b".version 4.1\n.kernel \"k\"\n    mov (M1, 8) V32(0,0)<1> 0x2a:d\n";
//! let faults = asm::assemble(text, &asm::Options::default()).unwrap_err();
//! assert_eq!(snippets::faults("k.visaasm", text, &faults), "\
//! error: `V32` is not declared
//!  --> k.visaasm:3:17
//!   |
//! 3 |     mov (M1, 8) V32(0,0)<1> 0x2a:d
//!   |                 ^^^
//! ");
//! ```

use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use visakit_text::asm::{Diagnostic, Span};

/// How grave a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Severity {
    /// The text is wrong.
    #[default]
    Error,
    /// The text looks wrong.
    Warning,
}

/// A message about a place in a text.
#[derive(Clone, Debug, Default)]
pub struct Message<'t> {
    /// How grave it is.
    pub severity: Severity,
    /// The rule that is broken.
    pub id: Option<String>,
    /// What is wrong.
    pub title: &'t str,
    /// The place.
    pub span: Span,
    /// A remark at the place.
    pub label: Option<String>,
    /// Another place, with a remark.
    pub related: Option<(Span, &'t str)>,
    /// What may help.
    pub help: Option<&'t str>,
}

impl<'t> From<&'t Diagnostic> for Message<'t> {
    fn from(fault: &'t Diagnostic) -> Self {
        Self {
            title: &fault.message,
            span: fault.span,
            label: fault.expected.as_ref().map(|e| format!("expected {e}")),
            related: fault.related,
            help: fault.hint.as_deref(),
            ..Self::default()
        }
    }
}

impl Message<'_> {
    /// The message with the line that it is about. `name` is shown as the file's; the text is as [`one_byte_each`] makes it;
    /// `styled` adds the colours of terminals.
    #[must_use]
    pub fn render(self, name: &str, text: &str, styled: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut title = level.primary_title(printable(self.title.as_bytes()));
        if let Some(id) = self.id {
            title = title.id(id);
        }
        let marked = AnnotationKind::Primary;
        let mut group = title.element(snippet(name, text, self.span, marked, self.label));
        if let Some((span, remark)) = self.related {
            let label = Some(remark.to_owned());
            group = group.element(snippet(name, text, span, AnnotationKind::Context, label));
        }
        if let Some(help) = self.help {
            group = group.element(Level::HELP.message(printable(help.as_bytes())));
        }
        let renderer = if styled {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.render(&[group])
    }
}

/// Everything that is wrong with a text, such as [`Errors`](visakit_text::asm::Errors), one below the other, without colours.
#[must_use]
pub fn faults(name: &str, text: &[u8], faults: &[Diagnostic]) -> String {
    let text = one_byte_each(text);
    let mut shown = String::new();
    for fault in faults {
        shown.push_str(&Message::from(fault).render(name, &text, false));
        shown.push('\n');
    }
    shown
}

/// The text with every byte that is not UTF-8 replaced by one of equal length, so that places stay where they are.
#[must_use]
pub fn one_byte_each(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        shown.push_str(chunk.valid());
        shown.extend(chunk.invalid().iter().map(|_| '?'));
    }
    shown
}

/// Bytes as text that is safe for a terminal: characters that control it or change the direction of writing are
/// escaped, and replacement characters are used for what is not UTF-8.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters without a width that change how others look: of direction, of joining, ends of lines, tags.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The line of a place, with the place marked.
fn snippet<'t>(
    name: &str,
    text: &'t str,
    span: Span,
    kind: AnnotationKind,
    label: Option<String>,
) -> Snippet<'t, Annotation<'t>> {
    /// Longer lines are cut after the place.
    const AFTER: usize = 200;
    let bytes = text.as_bytes();
    let (line, _) = span.place(bytes);
    let at = span.start.min(bytes.len());
    let mut before = bytes.iter().take(at).rev();
    let start = at - before.position(|&b| b == b'\n').unwrap_or(at);
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find('\n').unwrap_or(rest.len());
    let cut = whole_character(rest, end.min(span.end().saturating_sub(start) + AFTER));
    let source = rest.get(..cut).unwrap_or(rest);
    let limit = |offset: usize| whole_character(source, offset.saturating_sub(start));
    Snippet::source(source)
        .line_start(line)
        .path(name.to_owned())
        .annotation(kind.span(limit(span.start)..limit(span.end())).label(label))
}

/// The place, or the end of the character that it is in.
fn whole_character(text: &str, at: usize) -> usize {
    let mut boundaries = at..text.len();
    boundaries
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len())
}
