//! Completion: what can be written at a place.

use crate::hover::directive;
use crate::line::What;
use crate::symbols::Space;
use crate::{Document, SymbolKind};
use std::collections::BTreeMap;
use std::ops::Range;
use visakit_isa::table::{FieldName, InstructionDef, Part};
use visakit_isa::{DataType, enums};
use visakit_text::Token;
use visakit_text::vocabulary::{attributes, directives, mnemonics, rows_at};

/// The kind of a proposal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompletionKind {
    /// The mnemonic of an instruction.
    Mnemonic,
    /// A part of a mnemonic after a full stop.
    Modifier,
    /// A declared name.
    Name(SymbolKind),
    /// A name that every routine has.
    Predefined,
    /// A directive.
    Directive,
    /// A property of a declaration or an attribute.
    Property,
    /// A type.
    Type,
    /// An execution mask.
    Mask,
}

/// A proposal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The text that would be inserted.
    pub label: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// A short description.
    pub detail: String,
}

/// Proposals and the piece of text that they take the place of.
#[derive(Debug)]
struct Proposals {
    list: Vec<Completion>,
    word: String,
}

impl Proposals {
    fn add(&mut self, label: &str, kind: CompletionKind, detail: impl Into<String>) {
        let begins = label.get(..self.word.len());
        if begins.is_some_and(|b| b.eq_ignore_ascii_case(&self.word)) {
            self.list.push(Completion {
                label: label.into(),
                kind,
                detail: detail.into(),
            });
        }
    }
}

impl Document {
    /// Proposals for an offset, and the range they would replace: the beginning of a word before the offset.
    #[must_use]
    pub fn complete(&self, offset: usize) -> (Range<usize>, Vec<Completion>) {
        let line = self.line_at(offset);
        let start = self.line_start(line);
        let before = self.text().get(start..offset).unwrap_or_default();
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '#');
        let from = start + before.trim_end_matches(word).len();
        let lead = self.text().get(start..from).unwrap_or_default();
        let mut proposals = Proposals {
            list: Vec::new(),
            word: self.text().get(from..offset).unwrap_or_default().into(),
        };
        let inside = |t: &(Token, Range<usize>)| t.1.start < offset && offset <= t.1.end;
        let token = self.line_tokens(line).find(inside).map(|(token, _)| token);
        if matches!(token, Some(Token::Comment | Token::String)) {
            return (offset..offset, Vec::new());
        }
        let what = self.lines().get(line).map_or(What::Blank, |l| l.what);
        let trimmed = lead.trim_start();
        let from = if trimmed == "." {
            let range = from - 1..offset;
            proposals.word.insert(0, '.');
            for name in directives() {
                proposals.add(
                    name,
                    CompletionKind::Directive,
                    directive(name).unwrap_or_default(),
                );
            }
            return (range, proposals.list);
        } else {
            from
        };
        match what {
            What::Declaration(_) | What::FileDeclaration => {
                self.declaration(lead, from, &mut proposals);
            }
            What::Directive => self.directive_words(lead, from, &mut proposals),
            What::Instruction if self.mnemonic_before(line, from).is_some() => {
                self.operand_words(line, lead, from, &mut proposals);
            }
            What::Blank | What::Instruction | What::Label => {
                if lead.trim_start().starts_with('(') && !lead.contains(')') {
                    if lead.ends_with('.') {
                        proposals.add("any", CompletionKind::Modifier, "if one lane is set");
                        proposals.add("all", CompletionKind::Modifier, "if all lanes are set");
                    } else {
                        self.names_of(from, &mut proposals, |kind| kind == SymbolKind::Predicate);
                    }
                } else {
                    beginnings(&mut proposals);
                }
            }
            _ => {}
        }
        (from..offset, proposals.list)
    }

    /// The end of the mnemonic, where it ends before an offset.
    fn mnemonic_before(&self, line: usize, offset: usize) -> Option<Range<usize>> {
        let mut tokens = self.line_tokens(line);
        let (_, span) = tokens.find(|(token, _)| *token == Token::Mnemonic)?;
        (span.start < offset).then_some(span)
    }

    fn declaration(&self, lead: &str, from: usize, proposals: &mut Proposals) {
        let lead = lead.trim_end();
        let value = lead.strip_suffix('=').map(|lead| {
            let key = lead.trim_end();
            let start = key.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            key.get(start.map_or(0, |s| s + 1)..).unwrap_or_default()
        });
        match value {
            Some("v_type") => {
                let kinds = [
                    ("G", SymbolKind::Variable),
                    ("A", SymbolKind::Address),
                    ("P", SymbolKind::Predicate),
                    ("S", SymbolKind::Sampler),
                    ("T", SymbolKind::Surface),
                ];
                for (letter, kind) in kinds {
                    proposals.add(letter, CompletionKind::Property, kind.name());
                }
            }
            Some("type") => types(proposals),
            Some("align") => {
                for (_, name) in enums::ALIGNMENT.entries {
                    proposals.add(name, CompletionKind::Property, "alignment");
                }
            }
            None if lead.ends_with('<') => {
                self.names_of(from, proposals, |k| k == SymbolKind::Variable);
            }
            None if lead.ends_with(['{', ',']) => attribute_names(proposals),
            None => {
                for key in [
                    "v_type=",
                    "type=",
                    "num_elts=",
                    "align=",
                    "alias=",
                    "attrs=",
                    "v_name=",
                ] {
                    proposals.add(key, CompletionKind::Property, "");
                }
            }
            Some(_) => {}
        }
    }

    fn directive_words(&self, lead: &str, from: usize, proposals: &mut Proposals) {
        let mut words = lead.split_whitespace();
        match (words.next(), words.next()) {
            (Some(".kernel_attr"), None) => attribute_names(proposals),
            (Some(".input" | ".parameter"), None) => self.names_of(from, proposals, |kind| {
                matches!(
                    kind,
                    SymbolKind::Variable | SymbolKind::Sampler | SymbolKind::Surface
                )
            }),
            (Some(".input" | ".parameter"), Some(_)) => {
                proposals.add(
                    "offset=",
                    CompletionKind::Property,
                    "offset of the input in bytes",
                );
                proposals.add(
                    "size=",
                    CompletionKind::Property,
                    "size of the input in bytes",
                );
            }
            (Some(first), None) if first.starts_with(".implicit_") => {
                self.names_of(from, proposals, |kind| kind == SymbolKind::Variable);
            }
            _ => {}
        }
    }

    fn operand_words(&self, line: usize, lead: &str, from: usize, proposals: &mut Proposals) {
        let Some(mnemonic) = self.mnemonic_before(line, from) else {
            return;
        };
        let text = self.text().get(mnemonic.start..self.line_start(line + 1));
        let rows: Vec<_> = rows_at(text.unwrap_or_default().as_bytes()).collect();
        let after = self.text().get(mnemonic.start..from).unwrap_or_default();
        let inside = !after.contains([' ', '\t', '(']);
        if inside && lead.ends_with('.') {
            let mut found = BTreeMap::new();
            for (row, parts) in &rows {
                modifiers(row, parts, &mut found);
            }
            // Longer mnemonics that continue here.
            let begun = after.trim_end_matches('.');
            for (spelling, row) in mnemonics() {
                let rest = spelling
                    .strip_prefix(begun)
                    .and_then(|rest| rest.strip_prefix('.'));
                if let Some(next) = rest.and_then(|rest| rest.split('.').next()) {
                    found.entry(next).or_insert(row.summary);
                }
            }
            for (name, detail) in found {
                proposals.add(name, CompletionKind::Modifier, detail);
            }
            return;
        }
        if lead.ends_with(':') {
            types(proposals);
            return;
        }
        if lead.ends_with('.') {
            return;
        }
        let open = after
            .rfind('(')
            .filter(|at| !after.get(*at..).unwrap_or_default().contains([')', ',']));
        let first = after.matches('(').count() == 1;
        if open.is_some() && first {
            for group in 1..=8u8 {
                let lane = (group - 1) * 4;
                let detail = format!("lanes from {lane} on that are enabled");
                proposals.add(&format!("M{group}"), CompletionKind::Mask, detail);
                let detail = format!("all lanes from {lane} on");
                proposals.add(&format!("M{group}_NM"), CompletionKind::Mask, detail);
            }
            return;
        }
        let labels = rows
            .iter()
            .any(|(_, parts)| crate::symbols::names_label(parts));
        let routines = rows
            .iter()
            .any(|(_, parts)| crate::symbols::names_routine(parts));
        self.names_of(from, proposals, |kind| match kind.space() {
            Space::Label => labels,
            Space::Routine => routines,
            Space::Variable => true,
            Space::File => false,
        });
        let format = self.layout();
        for variable in format.predefined_variables() {
            let detail = format!("{} elements of {}", variable.elements, variable.data_type);
            proposals.add(
                &format!("%{}", variable.name),
                CompletionKind::Predefined,
                detail,
            );
        }
        for id in 0..format.predefined_surface_count() {
            if let Some(surface) = format.predefined_surface(visakit_isa::SurfaceId(id)) {
                proposals.add(surface.name, CompletionKind::Predefined, surface.summary);
            }
        }
    }

    /// The names of some kinds that are known at a place.
    fn names_of(&self, at: usize, proposals: &mut Proposals, wanted: impl Fn(SymbolKind) -> bool) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for definition in &self.symbols().definitions {
            if !wanted(definition.kind) || at < definition.known.start || definition.known.end < at
            {
                continue;
            }
            let name = self.text().get(definition.name.clone()).unwrap_or_default();
            let line = self.line_text(definition.line).trim();
            // A name of an inner scope hides that of an outer one.
            if let Some(before) = seen.get(name) {
                if let Some(listed) = proposals.list.get_mut(*before) {
                    listed.detail = line.into();
                    listed.kind = CompletionKind::Name(definition.kind);
                }
                continue;
            }
            let count = proposals.list.len();
            proposals.add(name, CompletionKind::Name(definition.kind), line);
            if proposals.list.len() > count {
                seen.insert(name, count);
            }
        }
    }
}

/// Proposals for the beginning of a statement.
fn beginnings(proposals: &mut Proposals) {
    let mut words: BTreeMap<&str, &str> = BTreeMap::new();
    for (spelling, row) in mnemonics() {
        words.entry(spelling).or_insert(row.summary);
    }
    for (word, summary) in words {
        proposals.add(word, CompletionKind::Mnemonic, summary);
    }
}

fn types(proposals: &mut Proposals) {
    for ty in DataType::ALL {
        proposals.add(
            ty.name(),
            CompletionKind::Type,
            format!("{} bytes", ty.size()),
        );
    }
}

fn attribute_names(proposals: &mut Proposals) {
    for name in attributes() {
        proposals.add(name, CompletionKind::Property, "attribute");
    }
}

type Words = BTreeMap<&'static str, &'static str>;

/// The words that may follow the mnemonic of a row, each after a full stop, with the field that they set. Returns
/// whether the operands have begun.
fn modifiers(row: &InstructionDef, parts: &'static [Part], found: &mut Words) -> bool {
    let names = |name: FieldName| {
        let names = row.field(name).and_then(|field| field.enumeration);
        names.map_or(&[][..], |names| names.entries).iter()
    };
    for part in parts {
        match *part {
            Part::Text(text) if text.starts_with(' ') => return true,
            Part::ExecSize | Part::FixedLanes(_) | Part::Lanes(_) | Part::Operands => return true,
            Part::Text(text) if text.starts_with('.') => words(text, "", found),
            Part::Saturation => words("sat", "saturates the result", found),
            Part::Named(name) | Part::Operation(name, _) => {
                names(name).for_each(|(_, text)| words(text, name.as_str(), found));
            }
            Part::Flags(name, flags) => {
                flags
                    .iter()
                    .for_each(|(_, text)| words(text, name.as_str(), found));
            }
            Part::Choice(choice) => {
                let cases = choice.cases.iter().map(|(_, text)| *text);
                let cases = cases.chain([choice.otherwise]);
                for text in cases.filter(|text| text.starts_with('.')) {
                    words(text, choice.field.as_str(), found);
                }
            }
            Part::Caching => {
                for name in Part::CACHING {
                    names(name).for_each(|(_, text)| words(text, name.as_str(), found));
                }
            }
            Part::If(_, inner)
            | Part::NotIntel(inner)
            | Part::MayOmit(inner)
            | Part::InputOnly(inner)
                if modifiers(row, inner, found) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

fn words(text: &'static str, what: &'static str, found: &mut Words) {
    let words = text.split('.').map(str::trim);
    for word in words.filter(|word| !word.is_empty()) {
        found.entry(word).or_insert(what);
    }
}
