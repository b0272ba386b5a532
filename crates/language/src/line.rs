//! The properties of a line, as far as the lexer knows them.

use crate::highlight::Piece;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use visakit_text::{LexState, Token, tokens_from};

/// The kind of statement on a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// Empty, a comment, or the rest of a statement.
    Blank,
    Version,
    /// `.kernel`
    Kernel,
    /// `.global_function`
    Function,
    /// `.decl`, with the letter of the kind of variable; 0 if there is none yet.
    Declaration(u8),
    /// `.file_decl`
    FileDeclaration,
    /// `.label`
    LabelDeclaration,
    /// `.function`
    Subroutine,
    /// Another directive.
    Directive,
    /// `NAME:`
    Label,
    Instruction,
}

/// A line, and the statement that begins on it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Offset in the text.
    pub(crate) start: usize,
    /// Bytes up to the next line.
    pub(crate) length: usize,
    /// The lexer state at its start.
    pub(crate) state: LexState,
    /// The lexer state at its end.
    pub(crate) leaves: LexState,
    pub(crate) what: What,
    /// The name that the statement declares or places, without quotes: bytes from the start of the line.
    name: (u32, u32),
    /// Scopes that the line begins.
    pub(crate) opens: u16,
    /// Scopes that the line ends.
    pub(crate) closes: u16,
    /// Names the line while the text is edited: one that takes its place has the same.
    pub(crate) id: u64,
    /// The pieces that have a colour, once they were asked for.
    pub(crate) pieces: RefCell<Option<Arc<[Piece]>>>,
}

/// The bytes of the line at the beginning of a text, its end included.
fn line_length(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |end| end + 1)
}

/// The bytes of the statement at the beginning of a text: as many lines as backslashes join.
fn statement_length(text: &str, line: usize) -> usize {
    let mut length = line;
    loop {
        let so_far = text.get(..length).unwrap_or(text);
        let ended = so_far
            .strip_suffix('\n')
            .map(|l| l.strip_suffix('\r').unwrap_or(l));
        if !ended.is_some_and(|line| line.ends_with('\\')) {
            return length;
        }
        match text.get(length..).map(line_length) {
            None | Some(0) => return length,
            Some(more) => length += more,
        }
    }
}

impl Line {
    /// Lexes the line at the beginning of a text.
    pub(crate) fn lex(text: &str, start: usize, state: LexState) -> Self {
        let length = line_length(text);
        let mut line = Self {
            start,
            length,
            state,
            leaves: state,
            what: What::Blank,
            name: (0, 0),
            opens: 0,
            closes: 0,
            id: 0,
            pieces: RefCell::default(),
        };
        let whole = statement_length(text, length);
        let statement = text.get(..whole).unwrap_or_default();
        line.statement(statement);
        if whole > length {
            let mut lexer = tokens_from(text.get(..length).unwrap_or_default().as_bytes(), state);
            lexer.by_ref().for_each(drop);
            line.leaves = lexer.state();
        }
        line
    }

    fn statement(&mut self, text: &str) {
        let begins = self.state == LexState::default();
        let mut lexer = tokens_from(text.as_bytes(), self.state);
        // The property of a declaration whose value comes next.
        let mut key = "";
        for (token, span) in lexer.by_ref() {
            let said = text.get(span.start..span.end()).unwrap_or_default();
            match token {
                Token::Comment => {}
                Token::Directive if begins => self.what = directive(said),
                Token::Label if begins => {
                    self.what = What::Label;
                    self.names(span.start, said);
                }
                Token::Mnemonic if begins => self.what = What::Instruction,
                Token::Punctuation if said == "{" && self.what == What::Blank => self.opens += 1,
                Token::Punctuation
                    if said == "}" && matches!(self.what, What::Blank | What::Instruction) =>
                {
                    self.closes += 1;
                }
                // A brace before an instruction keeps the lexer from seeing where it begins.
                Token::Name if begins && self.what == What::Blank && self.opens > 0 => {
                    self.what = What::Instruction;
                }
                Token::Name | Token::String | Token::Predefined => match self.what {
                    What::Declaration(kind) => {
                        if self.name.1 == 0 {
                            self.names(span.start, said);
                        } else if key == "v_type" && kind == 0 {
                            self.what = What::Declaration(said.bytes().next().unwrap_or(0));
                        }
                        key = said;
                    }
                    What::Kernel
                    | What::Function
                    | What::Subroutine
                    | What::FileDeclaration
                    | What::LabelDeclaration
                        if self.name.1 == 0 =>
                    {
                        self.names(span.start, said);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        self.leaves = lexer.state();
    }

    fn names(&mut self, start: usize, said: &str) {
        let inner = said.strip_prefix('"');
        let start = start + usize::from(inner.is_some());
        let name = inner.map_or(said, |inner| inner.strip_suffix('"').unwrap_or(inner));
        let narrow = |n: usize| u32::try_from(n).unwrap_or(0);
        self.name = (narrow(start), narrow(name.len()));
    }

    /// What other lines use of it besides its name, and its lexer state at the end.
    pub(crate) const fn role(&self) -> (What, u16, u16, LexState) {
        (self.what, self.opens, self.closes, self.leaves)
    }

    /// The place of the name that the statement declares or places.
    pub(crate) fn name(&self) -> Option<Range<usize>> {
        let (start, length) = self.name;
        let start = self.start + usize::try_from(start).ok()?;
        let length = usize::try_from(length).ok()?;
        (length > 0).then(|| start..start + length)
    }
}

fn directive(word: &str) -> What {
    match word {
        ".version" => What::Version,
        ".kernel" => What::Kernel,
        ".global_function" => What::Function,
        ".decl" => What::Declaration(0),
        ".file_decl" => What::FileDeclaration,
        ".label" => What::LabelDeclaration,
        ".function" => What::Subroutine,
        // Debug locations are instructions.
        ".file" | ".loc" => What::Instruction,
        _ => What::Directive,
    }
}
