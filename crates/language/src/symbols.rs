//! Names: their declarations, meanings and uses.

use crate::Document;
use crate::line::What;
use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};
use std::hash::BuildHasher;
use std::ops::Range;
use visakit_isa::table::Part;
use visakit_text::vocabulary::rows_at;
use visakit_text::{Token, tokens_from};

/// The kind of entity a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SymbolKind {
    /// A kernel.
    Kernel,
    /// A function that other routines call with a stack.
    Function,
    /// A subroutine of a routine.
    Subroutine,
    /// A label.
    Label,
    /// A general variable.
    Variable,
    /// An address variable.
    Address,
    /// A predicate variable.
    Predicate,
    /// A sampler.
    Sampler,
    /// A surface.
    Surface,
    /// A variable of the file.
    FileVariable,
}

/// Names of one space do not meet those of another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Space {
    Variable,
    Label,
    Routine,
    File,
}

impl SymbolKind {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Function => "function",
            Self::Subroutine => "subroutine",
            Self::Label => "label",
            Self::Variable => "general variable",
            Self::Address => "address variable",
            Self::Predicate => "predicate variable",
            Self::Sampler => "sampler",
            Self::Surface => "surface",
            Self::FileVariable => "variable of the file",
        }
    }

    pub(crate) const fn space(self) -> Space {
        match self {
            Self::Kernel | Self::Function => Space::Routine,
            Self::Subroutine | Self::Label => Space::Label,
            Self::FileVariable => Space::File,
            _ => Space::Variable,
        }
    }
}

/// A name where it is declared or placed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Its kind.
    pub kind: SymbolKind,
    /// The name in the text, without quotes.
    pub name: Range<usize>,
    /// The line.
    pub line: usize,
    /// Where the name is visible: up to the end of the scope, the routine or the text.
    pub known: Range<usize>,
}

/// A name at a place of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// Its place.
    pub span: Range<usize>,
    /// The declaration it refers to. Predefined names have none.
    pub definition: Option<Definition>,
}

/// A routine with its declarations, for outlines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    /// The symbol.
    pub definition: Definition,
    /// The lines that belong to it.
    pub lines: Range<usize>,
    /// Its contents.
    pub children: Vec<Self>,
}

/// All definitions of a text.
#[derive(Debug)]
pub(crate) struct Symbols {
    /// In the order of the text.
    pub(crate) definitions: Vec<Definition>,
    /// The first definition of each name of a space.
    first: HashTable<usize>,
    /// The next definition of the same name in the same space.
    next: Vec<Option<usize>>,
    hasher: DefaultHashBuilder,
    /// First line and line after the last one, of each routine.
    pub(crate) routines: Vec<Range<usize>>,
}

impl Symbols {
    pub(crate) fn of(document: &Document) -> Self {
        let lines = document.lines();
        let end = document.text().len();
        let mut routines: Vec<Range<usize>> = Vec::new();
        let mut definitions: Vec<Definition> = Vec::new();
        // The definitions of the open scopes: where each scope's begin.
        let mut scopes: Vec<usize> = Vec::new();
        // Definitions whose scope has not ended.
        let mut open: Vec<usize> = Vec::new();
        // Labels are of the routine, in whatever scope they are.
        let mut labels: Vec<usize> = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let kind = match line.what {
                What::Kernel => Some(SymbolKind::Kernel),
                What::Function => Some(SymbolKind::Function),
                What::Declaration(b'G') => Some(SymbolKind::Variable),
                What::Declaration(b'A') => Some(SymbolKind::Address),
                What::Declaration(b'P') => Some(SymbolKind::Predicate),
                What::Declaration(b'S') => Some(SymbolKind::Sampler),
                What::Declaration(b'T') => Some(SymbolKind::Surface),
                What::Declaration(_) => Some(SymbolKind::Variable),
                What::FileDeclaration => Some(SymbolKind::FileVariable),
                What::LabelDeclaration | What::Label => Some(SymbolKind::Label),
                What::Subroutine => Some(SymbolKind::Subroutine),
                _ => None,
            };
            if matches!(line.what, What::Kernel | What::Function) {
                if let Some(last) = routines.last_mut() {
                    last.end = number;
                }
                for at in open.drain(..).chain(labels.drain(..)) {
                    ends(&mut definitions, at, line.start);
                }
                scopes.clear();
                routines.push(number..lines.len());
            }
            for _ in 0..line.opens {
                scopes.push(open.len());
            }
            if let (Some(kind), Some(name)) = (kind, line.name()) {
                let space = kind.space();
                let from = match space {
                    Space::Variable => name.start,
                    Space::Label => document.line_start(routines.last().map_or(0, |r| r.start)),
                    Space::Routine | Space::File => 0,
                };
                match space {
                    Space::Variable => open.push(definitions.len()),
                    Space::Label => labels.push(definitions.len()),
                    Space::Routine | Space::File => {}
                }
                definitions.push(Definition {
                    kind,
                    name,
                    line: number,
                    known: from..end,
                });
            }
            for _ in 0..line.closes {
                let Some(from) = scopes.pop() else {
                    break;
                };
                for at in open.drain(from.min(open.len())..) {
                    ends(&mut definitions, at, line.start + line.length);
                }
            }
        }
        let mut symbols = Self {
            first: HashTable::with_capacity(definitions.len()),
            next: vec![None; definitions.len()],
            hasher: DefaultHashBuilder::default(),
            definitions,
            routines,
        };
        symbols.link(document.text());
        symbols
    }

    /// Finds definitions of the same name, the last ones first, so that each list is in the order of the text.
    fn link(&mut self, text: &str) {
        let (definitions, hasher) = (&self.definitions, &self.hasher);
        let key = |at: usize| {
            let definition = definitions.get(at)?;
            Some((definition.kind.space(), text.get(definition.name.clone())?))
        };
        for (at, next) in self.next.iter_mut().enumerate().rev() {
            let own = key(at);
            let entry = self.first.entry(
                hasher.hash_one(own),
                |first| key(*first) == own,
                |first| hasher.hash_one(key(*first)),
            );
            match entry {
                Entry::Occupied(mut first) => {
                    *next = Some(*first.get());
                    *first.get_mut() = at;
                }
                Entry::Vacant(place) => {
                    place.insert(at);
                }
            }
        }
    }

    /// Updates the declarations after an edit inside a line, not the last one, that begins at `start` and declares the
    /// same as before: `gone` bytes were replaced by `come` ones. `name` is the new place of its name.
    pub(crate) fn shift(
        &mut self,
        line: usize,
        start: usize,
        (gone, come): (usize, usize),
        name: Option<&Range<usize>>,
    ) {
        // All places are begins of lines, but those on the line itself.
        let shift = |place: &mut usize| {
            if *place > start {
                *place = *place - gone + come;
            }
        };
        for definition in &mut self.definitions {
            if definition.line == line
                && let Some(name) = name
            {
                if definition.kind.space() == Space::Variable {
                    definition.known.start = name.start;
                }
                definition.name = name.clone();
            } else {
                shift(&mut definition.name.start);
                shift(&mut definition.name.end);
                shift(&mut definition.known.start);
            }
            shift(&mut definition.known.end);
        }
    }

    /// The meaning of a name at a place.
    pub(crate) fn find(
        &self,
        text: &str,
        space: Space,
        name: &str,
        at: usize,
    ) -> Option<&Definition> {
        let wanted = Some((space, name));
        let key = |at: usize| {
            let definition = self.definitions.get(at)?;
            Some((definition.kind.space(), text.get(definition.name.clone())?))
        };
        let hash = self.hasher.hash_one(wanted);
        let first = self
            .first
            .find(hash, |first| key(*first) == wanted)
            .copied();
        let same = std::iter::successors(first, |at| *self.next.get(*at)?);
        let same = same.filter_map(|at| self.definitions.get(at));
        let mut known = same.filter(|d| d.known.start <= at && at <= d.known.end);
        match space {
            // The innermost scope is the one that begins last.
            Space::Variable => known.last(),
            _ => known.next(),
        }
    }

    /// The lines of the routine that a line is in.
    pub(crate) fn routine(&self, line: usize) -> Option<&Range<usize>> {
        let after = self.routines.partition_point(|r| r.start <= line);
        let routine = self.routines.get(after.checked_sub(1)?)?;
        routine.contains(&line).then_some(routine)
    }
}

fn ends(definitions: &mut [Definition], at: usize, end: usize) {
    if let Some(definition) = definitions.get_mut(at) {
        definition.known.end = end;
    }
}

/// Characters of the names of labels.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '@' | '?' | '-' | '.')
}

/// Whether one of these parts names a label.
pub(crate) fn names_label(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Target(_) | Part::BareTarget(_) | Part::CallTarget(_) | Part::Targets(_) => true,
        Part::If(_, parts)
        | Part::NotIntel(parts)
        | Part::MayOmit(parts)
        | Part::InputOnly(parts) => names_label(parts),
        _ => false,
    })
}

/// Whether one of these parts names something outside the routine.
pub(crate) fn names_routine(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Name(_) | Part::Symbol(_) | Part::Quoted(_) => true,
        Part::If(_, parts)
        | Part::NotIntel(parts)
        | Part::MayOmit(parts)
        | Part::InputOnly(parts) => names_routine(parts),
        _ => false,
    })
}

impl Document {
    /// The tokens of a line, with their places in the text. A statement that is continued is seen line by line.
    pub(crate) fn line_tokens(
        &self,
        line: usize,
    ) -> impl Iterator<Item = (Token, Range<usize>)> + '_ {
        let known = self.lines().get(line);
        let (start, state) = known.map(|l| (l.start, l.state)).unwrap_or_default();
        let length = known.map_or(0, |l| l.length);
        let text = self.text().get(start..start + length).unwrap_or_default();
        tokens_from(text.as_bytes(), state)
            .map(move |(token, span)| (token, start + span.start..start + span.end()))
    }

    /// The names of variables, labels and routines on a line.
    pub(crate) fn names(&self, line: usize) -> Vec<Name> {
        let tokens: Vec<_> = self.line_tokens(line).collect();
        self.names_among(line, &tokens)
    }

    /// The names among the tokens of a line.
    pub(crate) fn names_among(&self, line: usize, tokens: &[(Token, Range<usize>)]) -> Vec<Name> {
        let text = self.text();
        let Some(known) = self.lines().get(line) else {
            return Vec::new();
        };
        let symbols = self.symbols();
        let own = known.name();
        let mut mnemonic = None;
        let mut found: Vec<Name> = Vec::new();
        let mut until = 0;
        for (token, span) in tokens {
            let (token, mut span) = (*token, span.clone());
            if span.start < until {
                continue;
            }
            let before = text.get(known.start..span.start).unwrap_or_default();
            match token {
                Token::Mnemonic => {
                    mnemonic = Some(span.start);
                    continue;
                }
                Token::Name | Token::Label | Token::Predefined => {}
                Token::String => {
                    let inner = text.get(span.clone()).unwrap_or_default();
                    let quotes = inner.len() > 1 && inner.ends_with('"');
                    span = span.start + 1..span.end - usize::from(quotes);
                }
                _ => continue,
            }
            // A modifier of what precedes it.
            if token == Token::Name && before.ends_with('.') && !known.what.is_directive() {
                continue;
            }
            let whole = text.get(span.start..).unwrap_or_default();
            let long = whole.find(|c| !is_name(c)).unwrap_or(whole.len());
            let long = span.start..span.start + long.max(span.len());
            let look = |space, span: &Range<usize>| {
                let name = text.get(span.clone())?;
                symbols.find(text, space, name, span.start)
            };
            if own.as_ref().is_some_and(|own| own.start == span.start) {
                let definition = symbols.at_line(line);
                until = own.as_ref().map_or(0, |own| own.end);
                // A label that a directive declares, or that follows the line of its subroutine.
                let first = definition.and_then(|d| match d.kind.space() {
                    Space::Label => look(Space::Label, &d.name),
                    _ => Some(d),
                });
                found.extend(definition.map(|d| Name {
                    span: d.name.clone(),
                    definition: first.or(Some(d)).cloned(),
                }));
                continue;
            }
            let definition = match known.what {
                What::Instruction => {
                    let variable = look(Space::Variable, &span).map(|d| (d, span.clone()));
                    let label = look(Space::Label, &long).map(|d| (d, long.clone()));
                    let routine = match (&variable, &label) {
                        (None, None) => look(Space::Routine, &long).map(|d| (d, long.clone())),
                        _ => None,
                    };
                    // The row is only consulted if there is a choice.
                    let rest = mnemonic.filter(|_| label.is_some() || routine.is_some());
                    let rest = rest.and_then(|at| text.get(at..known.start + known.length));
                    let row = rest.and_then(|rest| rows_at(rest.as_bytes()).next());
                    let parts = row.map_or(&[][..], |(_, parts)| parts);
                    label
                        .filter(|_| names_label(parts))
                        .or(variable)
                        .or(routine.filter(|_| names_routine(parts)))
                }
                What::Declaration(_) if before.ends_with('@') => {
                    let at = span.start - 1..span.end;
                    look(Space::File, &span)
                        .or_else(|| look(Space::File, &at))
                        .map(|d| (d, span.clone()))
                }
                What::Declaration(_) if !before.trim_end().ends_with('<') => None,
                What::Directive if token == Token::String => {
                    look(Space::Routine, &span).map(|d| (d, span.clone()))
                }
                What::Declaration(_) | What::Directive => {
                    look(Space::Variable, &span).map(|d| (d, span.clone()))
                }
                _ => None,
            };
            if let Some((definition, span)) = definition {
                until = span.end;
                found.push(Name {
                    span,
                    definition: Some(definition.clone()),
                });
            } else if token == Token::Predefined
                || token == Token::Name && known.what == What::Instruction
            {
                found.push(Name {
                    span,
                    definition: None,
                });
            }
        }
        found
    }

    /// The name at an offset, or ends there.
    #[must_use]
    pub fn name_at(&self, offset: usize) -> Option<Name> {
        let names = self.names(self.line_at(offset));
        let mut here = names
            .into_iter()
            .filter(|n| n.span.start <= offset && offset <= n.span.end);
        here.next()
    }

    /// The place where the name at an offset is declared or placed.
    #[must_use]
    pub fn definition(&self, offset: usize) -> Option<Definition> {
        self.name_at(offset)?.definition
    }

    /// Everywhere that the name at an offset occurs, its declaration included, in the order of the text.
    #[must_use]
    pub fn references(&self, offset: usize) -> Vec<Range<usize>> {
        self.definition(offset)
            .map(|d| self.uses(&d))
            .unwrap_or_default()
    }

    /// Everywhere that a symbol occurs, its declaration included.
    pub(crate) fn uses(&self, definition: &Definition) -> Vec<Range<usize>> {
        let Some(name) = self.text().get(definition.name.clone()) else {
            return Vec::new();
        };
        // A variable of the file may be named without its sign.
        let name = name.strip_prefix('@').unwrap_or(name);
        let lines = self.line_at(definition.known.start)..self.line_at(definition.known.end) + 1;
        let has = |line: &usize| {
            let start = self.line_start(*line);
            self.text()
                .get(start..self.line_start(line + 1))
                .is_some_and(|text| text.contains(name))
        };
        let mut found = Vec::new();
        for line in lines.filter(has) {
            let here = self.names(line).into_iter();
            let here = here.filter(|n| {
                n.definition
                    .as_ref()
                    .is_some_and(|d| d.name == definition.name)
            });
            found.extend(here.map(|n| n.span));
        }
        found
    }

    /// The routines with their declarations.
    #[must_use]
    pub fn outline(&self) -> Vec<Outline> {
        let symbols = self.symbols();
        let mut outline: Vec<Outline> = Vec::new();
        for definition in &symbols.definitions {
            let line = definition.line;
            let entry = |lines| Outline {
                definition: definition.clone(),
                lines,
                children: Vec::new(),
            };
            let space = definition.kind.space();
            match (space, symbols.routine(line)) {
                (Space::Routine, Some(lines)) => outline.push(entry(lines.clone())),
                (Space::Label | Space::Variable, Some(lines)) => {
                    let end = if space == Space::Label {
                        lines.end
                    } else {
                        line + 1
                    };
                    if let Some(routine) = outline.last_mut() {
                        routine.children.push(entry(line..end));
                    }
                }
                _ => outline.push(entry(line..line + 1)),
            }
        }
        for routine in &mut outline {
            labels_end(&mut routine.children);
        }
        outline
    }

    /// The text of a definition's name.
    #[must_use]
    pub fn name_of(&self, definition: &Definition) -> String {
        self.text()
            .get(definition.name.clone())
            .unwrap_or_default()
            .into()
    }
}

/// A label extends to the next one.
fn labels_end(entries: &mut [Outline]) {
    let mut next = usize::MAX;
    for entry in entries.iter_mut().rev() {
        if entry.definition.kind.space() == Space::Label {
            entry.lines.end = entry.lines.end.min(next).max(entry.lines.start + 1);
            next = entry.lines.start;
        }
    }
}

impl Symbols {
    /// The definition on a line.
    pub(crate) fn at_line(&self, line: usize) -> Option<&Definition> {
        let at = self.definitions.partition_point(|d| d.line < line);
        self.definitions.get(at).filter(|d| d.line == line)
    }
}

impl What {
    const fn is_directive(self) -> bool {
        !matches!(self, Self::Instruction | Self::Label)
    }
}
