//! From the core's types to the protocol's.

use gen_lsp_types as lsp;
use std::ops::Range;
use visakit_language::{
    CompletionKind, Document, Edit, Encoding, FoldKind, Highlight, Outline, Position, Problem,
    Severity, SymbolKind,
};

pub(crate) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(crate) fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A document with the column encoding of its client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'d> {
    pub(crate) document: &'d Document,
    pub(crate) encoding: Encoding,
}

impl View<'_> {
    pub(crate) fn position(self, offset: usize) -> lsp::Position {
        let Position { line, column } = self.document.position(offset, self.encoding);
        lsp::Position {
            line: narrow(line),
            character: narrow(column),
        }
    }

    pub(crate) fn range(self, range: &Range<usize>) -> lsp::Range {
        lsp::Range {
            start: self.position(range.start),
            end: self.position(range.end),
        }
    }

    pub(crate) fn offset(self, position: lsp::Position) -> usize {
        offset(self.document, position, self.encoding)
    }

    pub(crate) fn offsets(self, range: &lsp::Range) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    pub(crate) fn edit(self, edit: &Edit) -> lsp::TextEdit {
        lsp::TextEdit {
            range: self.range(&edit.range),
            new_text: edit.text.clone(),
        }
    }

    pub(crate) fn problem(self, uri: &lsp::Uri, problem: &Problem) -> lsp::Diagnostic {
        let mut message = problem.message.clone();
        if let Some(help) = &problem.help {
            message.push_str("\nhelp: ");
            message.push_str(help);
        }
        let related = problem.related.as_ref().map(|(span, remark)| {
            vec![lsp::DiagnosticRelatedInformation {
                location: lsp::Location {
                    uri: uri.clone(),
                    range: self.range(span),
                },
                message: (*remark).to_owned(),
            }]
        });
        lsp::Diagnostic {
            range: self.range(&problem.span),
            severity: Some(match problem.severity {
                Severity::Error => lsp::DiagnosticSeverity::Error,
                Severity::Warning => lsp::DiagnosticSeverity::Warning,
            }),
            code: problem.rule.clone().map(lsp::Code::String),
            code_description: None,
            source: Some("visakit".to_owned()),
            message: message.into(),
            tags: None,
            related_information: related,
            data: None,
        }
    }

    #[allow(deprecated)] // a field of the type
    pub(crate) fn symbol(self, outline: &Outline) -> lsp::DocumentSymbol {
        let document = self.document;
        let name = document.name_of(&outline.definition);
        let start = document.line_start(outline.lines.start);
        let last = outline.lines.end.saturating_sub(1).max(outline.lines.start);
        let end = document.line_start(last) + document.line_text(last).len();
        let children: Vec<_> = outline.children.iter().map(|c| self.symbol(c)).collect();
        lsp::DocumentSymbol {
            name: if name.is_empty() {
                "?".to_owned()
            } else {
                name
            },
            detail: Some(outline.definition.kind.name().to_owned()),
            kind: symbol_kind(outline.definition.kind),
            tags: None,
            deprecated: None,
            range: self.range(&(start..end.max(outline.definition.name.end))),
            selection_range: self.range(&outline.definition.name),
            children: (!children.is_empty()).then_some(children),
        }
    }
}

pub(crate) fn offset(document: &Document, at: lsp::Position, encoding: Encoding) -> usize {
    let position = Position {
        line: wide(at.line),
        column: wide(at.character),
    };
    document.offset(position, encoding)
}

/// Types of tokens by their numbers, as all clients know them.
pub(crate) const TOKEN_TYPES: [&str; 12] = [
    "comment",
    "macro",
    "keyword",
    "label",
    "function",
    "variable",
    "parameter",
    "namespace",
    "property",
    "number",
    "type",
    "string",
];

/// Modifiers by their bits.
pub(crate) const TOKEN_MODIFIERS: [&str; 1] = ["defaultLibrary"];

pub(crate) const fn token_type(class: Highlight) -> u32 {
    match class {
        Highlight::Comment => 0,
        Highlight::Directive => 1,
        Highlight::Mnemonic => 2,
        Highlight::Label => 3,
        Highlight::Function => 4,
        Highlight::Variable | Highlight::Predefined => 5,
        Highlight::Predicate => 6,
        Highlight::Resource => 7,
        Highlight::Property => 8,
        Highlight::Number => 9,
        Highlight::Type => 10,
        Highlight::String => 11,
    }
}

pub(crate) const fn symbol_kind(kind: SymbolKind) -> lsp::SymbolKind {
    match kind {
        SymbolKind::Kernel | SymbolKind::Function => lsp::SymbolKind::Function,
        SymbolKind::Subroutine => lsp::SymbolKind::Method,
        SymbolKind::Label => lsp::SymbolKind::Key,
        SymbolKind::Variable | SymbolKind::FileVariable => lsp::SymbolKind::Variable,
        SymbolKind::Address => lsp::SymbolKind::Field,
        SymbolKind::Predicate => lsp::SymbolKind::Boolean,
        SymbolKind::Sampler | SymbolKind::Surface => lsp::SymbolKind::Object,
    }
}

pub(crate) const fn completion_kind(kind: CompletionKind) -> lsp::CompletionItemKind {
    match kind {
        CompletionKind::Mnemonic | CompletionKind::Directive => lsp::CompletionItemKind::Keyword,
        CompletionKind::Modifier => lsp::CompletionItemKind::EnumMember,
        CompletionKind::Name(
            SymbolKind::Kernel | SymbolKind::Function | SymbolKind::Subroutine,
        ) => lsp::CompletionItemKind::Function,
        CompletionKind::Name(SymbolKind::Label) => lsp::CompletionItemKind::Reference,
        CompletionKind::Name(_) => lsp::CompletionItemKind::Variable,
        CompletionKind::Predefined => lsp::CompletionItemKind::Constant,
        CompletionKind::Property => lsp::CompletionItemKind::Property,
        CompletionKind::Type => lsp::CompletionItemKind::Class,
        CompletionKind::Mask => lsp::CompletionItemKind::Value,
    }
}

pub(crate) fn fold_kind(kind: FoldKind) -> Option<lsp::FoldingRangeKind> {
    match kind {
        FoldKind::Comment => Some(lsp::FoldingRangeKind::Comment),
        FoldKind::Routine | FoldKind::Declarations | FoldKind::Scope => None,
    }
}
