//! The assembler: from text to objects.
//!
//! [`assemble`] takes whole texts, as compilers dump them, as [`Printer`](crate::Printer) prints them
//! or handwritten: several routines, declarations, inputs, attributes and instructions. Instructions are parsed
//! according to the same descriptions that they are printed by ([`visakit_isa::table::Syntax`]).
//!
//! Faults do not stop it: parsing continues with the next line, and all [`Diagnostic`]s are returned at the end.
//! Running time is linear in the length of any text.
//!
//! ```
//! use visakit_text::asm::{Options, assemble};
//!
//! let text = b".version 4.1
//! .kernel \"copy\"
//! .decl V32 v_type=G type=d num_elts=16 align=GRF
//!     mov (M1, 16) V32(0,0)<1> 0x2a:d
//!     ret (M1, 1)
//! ";
//! let object = assemble(text, &Options::default()).unwrap();
//! assert_eq!(object.kernels[0].body().unwrap().code.len(), 2);
//!
//! let errors = assemble(b".version 4.1\n.kernel \"a\"\n    ret (M1, 3)\n", &Options::default());
//! assert_eq!(errors.unwrap_err()[0].message, "3 lanes are not a legal execution size");
//! ```

mod change;
mod comment;
mod declaration;
pub(crate) mod diagnostic;
mod dialect;
mod directive;
mod expression;
mod extension;
mod finish;
mod fragment;
mod immediate;
mod instruction;
mod operand;
mod optional;
mod parts;
pub(crate) mod pieces;
mod pool;
mod region;
mod routine;
mod source_map;
mod values;

pub(crate) use comment::DERIVED;
pub use diagnostic::{Diagnostic, DiagnosticKind, Errors, Span};
pub(crate) use dialect::record_in_any_dialect;
pub use dialect::{assemble_in_any_dialect, check};
pub(crate) use directive::DIRECTIVES;
pub use fragment::{Declarations, Fragment, Operand};
pub use source_map::{Assembled, Checked, RoutineSpans, SourceMap};

use crate::language::index::{Entry, Index};
use crate::lexer::{Cursor, Word, is_word, shown};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use diagnostic::{Fault, Parsed, closest};
use directive::outside;
use instruction::Scratch;
use pieces::StatementKind;
use routine::Draft;
use visakit_isa::object::{LabelKind, Object, RoutineId};
use visakit_isa::table::{FieldName, Status};
use visakit_isa::{Dialect, Features, Instruction, Platform, Predicate, Value, Version};

/// The target of routines that do not state theirs.
const TARGET_3D: u8 = 1;

/// Mnemonics of the language that are not instructions.
const EXPANDED: [&[u8]; 3] = [b"asin", b"acos", b"atan"];

/// Faults beyond this number are counted but not listed.
const MOST_FAULTS: usize = 1000;

/// Options of the assembler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Version of the object. If `None`: the one the text states; for 4.2, which has no binary form, 4.1 if that has
    /// everything the text uses.
    pub version: Option<Version>,
    /// Dialect of the object. If `None`: the one the text states, or else the first one.
    pub dialect: Option<Dialect>,
    /// Bytes of a register, 32 or 64, which the place of an address-of operand and `%sizeof(GRF)` depend on. If `None`:
    /// what the text says (`//Platform:` lines of compilers), or else 32; see [`Assembled::undecided`].
    pub grf_bytes: Option<u32>,
}

/// Assembles a text.
///
/// # Errors
/// Everything that is wrong with the text, in order of the places.
pub fn assemble<'t>(text: &'t [u8], options: &Options) -> Result<Object<'t>, Errors> {
    assemble_with_source_map(text, options).map(|assembled| assembled.object)
}

/// Assembles a text and records where each part of the object was written.
///
/// # Errors
/// Those of [`assemble`].
pub fn assemble_with_source_map<'t>(
    text: &'t [u8],
    options: &Options,
) -> Result<Assembled<'t>, Errors> {
    let mut assembler = Assembler::new(text, options);
    assembler.run();
    assembler.result()
}

/// The fault of a place that depends on the size of a register where that is not known.
fn undecided(span: Span) -> Fault {
    let message =
        "where registers have 64 bytes this means something else, and nothing states their size";
    let fault = Diagnostic::new(DiagnosticKind::RegisterSize, span, message);
    fault.hint(
        "name the platform: registers have 32 bytes up to DG2 and ARL, 64 on PVC and since XE2",
    )
}

/// What a line produced, which a directive after it can change. The entries are the last ones of their tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    None,
    Variable,
    Address,
    Predicate,
    Sampler,
    Surface,
    Label,
    Attribute,
    Item,
}

/// What bytes in comments belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Blob {
    None,
    Native,
    Raw,
    Filler,
}

/// A text that is being assembled.
#[derive(Debug)]
struct Assembler<'t> {
    cursor: Cursor<'t>,
    index: &'static Index,
    options: Options,
    object: Object<'t>,
    /// The version that the text states.
    stated: Option<Version>,
    /// The text states the dialect.
    states_dialect: bool,
    /// Features the text uses that the format lacks and another one has.
    needs: Features,
    grf_bytes: u32,
    /// The size of a register is assumed, not stated.
    grf_assumed: bool,
    /// The platform named by the first `//Platform:` line.
    platform: Option<Platform>,
    /// The first operand that depends on that size nevertheless.
    undecided: Option<Span>,
    draft: Option<Draft<'t>>,
    scratch: Scratch,
    /// Names of attributes that are not yet in the pool.
    pending: Vec<Cow<'t, [u8]>>,
    /// The target of the last kernel and of the last function that state one.
    targets: [Option<u8>; 2],
    /// What the last line produced.
    last: Last,
    /// What bytes in comments belong to.
    blob: Blob,
    /// The text states how the pieces of the file are arranged.
    arranged: bool,
    /// The text states that it has no routines.
    empty: bool,
    source_map: SourceMap,
    /// Source map of the routine under construction.
    here: RoutineSpans,
    /// Routines that were changed after native code was compiled from them, and where the text states this.
    edited: Vec<(RoutineId, Span)>,
    faults: Vec<Diagnostic>,
    /// What looks wrong but does not affect the object.
    warnings: Vec<Diagnostic>,
    /// The number of faults that are not listed.
    more: usize,
    suggestions: u32,
}

impl<'t> Assembler<'t> {
    fn new(text: &'t [u8], options: &Options) -> Self {
        let version = options.version.unwrap_or(Version::V4_1);
        Self {
            cursor: Cursor::new(text),
            index: Index::get(),
            options: *options,
            object: Object::new(version, options.dialect.unwrap_or_default()),
            stated: None,
            states_dialect: false,
            needs: Features::empty(),
            grf_bytes: options.grf_bytes.unwrap_or(32).max(1),
            grf_assumed: options.grf_bytes.is_none(),
            undecided: None,
            platform: None,
            draft: None,
            scratch: Scratch::default(),
            pending: Vec::new(),
            targets: [None; 2],
            last: Last::None,
            blob: Blob::None,
            arranged: false,
            empty: false,
            source_map: SourceMap::default(),
            here: RoutineSpans::default(),
            edited: Vec::new(),
            faults: Vec::new(),
            warnings: Vec::new(),
            more: 0,
            suggestions: 20,
        }
    }
}

impl<'t> Assembler<'t> {
    fn run(&mut self) {
        self.statements();
        self.finish_routine();
        self.discard_stale_native();
        if !self.arranged {
            self.object.arrangement = self.object.usual_arrangement();
        }
        if self.object.routines().next().is_none() && !self.empty {
            let span = Span {
                start: self.cursor.text.len(),
                len: 0,
            };
            if self.faults.is_empty() {
                let message = "the text has no routine";
                let fault = Diagnostic::new(DiagnosticKind::Misplaced, span, message);
                self.fault(fault.expected("`.kernel \"name\"`"));
            }
        }
    }

    /// All statements, up to the end of the text.
    fn statements(&mut self) {
        if self.cursor.rest().starts_with(b"\xef\xbb\xbf") {
            self.cursor.at += 3;
        }
        loop {
            self.cursor.directive = None;
            self.cursor.blanks();
            if self.cursor.directive.is_some() {
                self.own_directive();
                continue;
            }
            match self.cursor.peek() {
                None => {
                    // Compilers name the platform after everything else.
                    self.platform = self.platform.or(self.cursor.platform);
                    if let Some(fault) = self.cursor.unclosed() {
                        self.fault(fault);
                    }
                    break;
                }
                Some(b'\n') => {
                    self.cursor.at += 1;
                    continue;
                }
                _ => {}
            }
            self.last = Last::None;
            if let Some(platform) = self.cursor.platform.take() {
                self.of_platform(platform);
            }
            let start = self.cursor.at;
            match self.statement() {
                Ok(kind) => {
                    if self.cursor.directive.is_some() {
                        self.trailing_directive();
                    }
                    if let Some(record) = self.scratch.record.as_mut() {
                        record.end(kind, Span::between(start, self.cursor.at));
                    }
                }
                Err(fault) => {
                    self.fault(fault);
                    self.cursor.skip_line();
                }
            }
            if let Some(draft) = &self.draft {
                let statement = Span::between(start, self.cursor.at);
                self.here.note(&draft.body, statement);
            }
        }
    }

    /// A dump names the platform it was made for. The options and directives take precedence.
    fn of_platform(&mut self, platform: Platform) {
        if self.grf_assumed {
            self.grf_bytes = platform.grf_bytes();
            if let Some(draft) = &mut self.draft {
                draft.grf_bytes = self.grf_bytes;
                draft.grf_assumed = false;
            }
            self.grf_assumed = false;
        }
        self.platform.get_or_insert(platform);
    }

    fn result(self) -> Result<Assembled<'t>, Errors> {
        let text = self.cursor.text;
        let checked = self.checked();
        if checked.faults.is_empty() {
            Ok(checked.assembled)
        } else {
            Err(Errors::new(checked.faults, text))
        }
    }

    /// What was assembled, and all faults.
    fn checked(mut self) -> Checked<'t> {
        self.warnings.sort_by_key(|w| w.span.start);
        self.faults.sort_by_key(|f| f.span.start);
        if self.more > 0 {
            let message = alloc::format!("{} more faults", self.more);
            let span = self.faults.last().map(|f| f.span).unwrap_or_default();
            let fault = Diagnostic::new(DiagnosticKind::TooMany, span, message);
            self.faults.push(*fault);
        }
        Checked {
            assembled: Assembled {
                object: self.object,
                source_map: self.source_map,
                platform: self.platform,
                undecided: self.undecided.map(|span| *undecided(span)),
                warnings: self.warnings,
            },
            faults: self.faults,
        }
    }

    #[allow(clippy::boxed_local)] // that is how faults come here
    fn fault(&mut self, fault: Fault) {
        self.needs |= fault.needs;
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(*fault);
        } else {
            self.more += 1;
        }
    }

    #[allow(clippy::boxed_local)] // that is how faults come here
    fn warning(&mut self, warning: Fault) {
        if self.warnings.len() < MOST_FAULTS {
            self.warnings.push(*warning);
        }
    }

    /// One statement, up to the end of its line.
    fn statement(&mut self) -> Parsed<StatementKind> {
        match self.cursor.peek() {
            Some(b'.') => {
                let begins = |word: &str| {
                    let next = self.cursor.peek_at(word.len());
                    self.cursor.has(word) && !next.is_some_and(is_word)
                };
                if begins(".file") || begins(".loc") {
                    self.instruction()?;
                    return Ok(StatementKind::Instruction { pieces: 0 });
                }
                self.directive()?;
                Ok(StatementKind::Directive)
            }
            Some(brace @ (b'{' | b'}')) => {
                self.scope(brace)?;
                Ok(StatementKind::Scope {
                    opens: brace == b'{',
                })
            }
            _ => match self.label() {
                Some(label) => {
                    self.place(label)?;
                    Ok(StatementKind::Label)
                }
                None => {
                    self.instruction()?;
                    Ok(StatementKind::Instruction { pieces: 0 })
                }
            },
        }
    }

    /// A brace; more may follow on the same line.
    fn scope(&mut self, brace: u8) -> Parsed<()> {
        let span = self.cursor.piece();
        let Some(draft) = self.draft.as_mut() else {
            return Err(outside(span));
        };
        self.cursor.at += 1;
        if brace == b'{' {
            draft.open_scope();
        } else if !draft.close_scope() {
            let message = "no scope is open here";
            return Err(Diagnostic::new(DiagnosticKind::Misplaced, span, message));
        }
        Ok(())
    }

    /// The label placed here, if the line is one. The cursor is then after its colon.
    fn label(&mut self) -> Option<Word<'t>> {
        let mut ahead = self.cursor;
        let word = ahead.label()?;
        if word.name.first().is_some_and(u8::is_ascii_digit) || !ahead.eat(b':') {
            return None;
        }
        self.cursor = ahead;
        Some(word)
    }

    fn place(&mut self, word: Word<'t>) -> Parsed<()> {
        let Some(draft) = self.draft.as_mut() else {
            return Err(outside(word.span));
        };
        // Printers write the label of a subroutine after its directive.
        let declared = draft.declared_label(word.name);
        if declared.is_some() || draft.subroutine(word.name).is_none() {
            let id = draft.label(word.name.into(), LabelKind::BLOCK, word.span)?;
            draft.place(id, word.span)?;
            let placed =
                Instruction::new(self.index.label).with(FieldName::Label, Value::Label(id));
            draft.body.code.push(placed.into());
            self.last = Last::Item;
        }
        if self.cursor.ends() {
            Ok(())
        } else {
            Err(instruction::trailing(&self.cursor, "label"))
        }
    }

    fn instruction(&mut self) -> Parsed<()> {
        let predicate = self.predicate()?;
        self.cursor.blanks();
        let start = self.cursor.at;
        let index = self.index;
        let found = index.find(self.cursor);
        let Some(draft) = self.draft.as_mut() else {
            let span = self.cursor.piece();
            return Err(if found.clone().next().is_some() {
                outside(span)
            } else {
                self.unknown()
            });
        };
        let format = draft.format;
        let mut worst: Option<(usize, Fault)> = None;
        let mut lacking: Option<&Entry> = None;
        for entry in found {
            if !entry.def.exists_in(format) {
                lacking = lacking.or(Some(entry));
                continue;
            }
            self.cursor.at = start;
            let (cursor, scratch) = (&mut self.cursor, &mut self.scratch);
            match instruction::parse(cursor, draft, scratch, entry, predicate) {
                Ok(instruction) => {
                    draft.body.code.push(instruction.into());
                    self.last = Last::Item;
                    return Ok(());
                }
                Err(fault) => {
                    let place = fault.span.start;
                    if worst.as_ref().is_none_or(|(best, _)| place > *best) {
                        worst = Some((place, fault));
                    }
                }
            }
        }
        match (worst, lacking) {
            (Some((_, fault)), _) => Err(fault),
            (None, Some(entry)) => {
                self.cursor.at = start;
                Err(self.lacking(entry))
            }
            (None, None) => {
                self.cursor.at = start;
                Err(self.unknown())
            }
        }
    }

    /// `(P1)` before an instruction.
    fn predicate(&mut self) -> Parsed<Option<(Predicate, Span)>> {
        if self.cursor.peek() != Some(b'(') {
            return Ok(None);
        }
        let start = self.cursor.at;
        let piece = self.cursor.piece();
        let Some(draft) = self.draft.as_mut() else {
            return Err(outside(piece));
        };
        self.cursor.at += 1;
        let predicate = instruction::predicate(&mut self.cursor, draft, &mut self.scratch)?;
        Ok(Some((predicate, Span::between(start, self.cursor.at))))
    }

    #[cold]
    fn unknown(&mut self) -> Fault {
        let mut ahead = self.cursor;
        let Some(word) = ahead.word() else {
            return self
                .cursor
                .unexpected("an instruction, a label or a directive");
        };
        let message = alloc::format!("no instruction is called `{}`", shown(word.name));
        let fault = Diagnostic::new(DiagnosticKind::UnknownOpcode, word.span, message);
        if EXPANDED.contains(&word.name) {
            let name = shown(word.name);
            let message = alloc::format!("`{name}` has no binary form in any version");
            let fault = Diagnostic::new(DiagnosticKind::NotInVersion, word.span, message);
            return fault.hint("Intel's assembler makes a sequence of other instructions of it");
        }
        if self.suggestions == 0 {
            return fault;
        }
        self.suggestions -= 1;
        match closest(word.name, self.index.spellings()) {
            Some(like) => fault.hint(alloc::format!("did you mean `{}`?", shown(like))),
            None => fault,
        }
    }

    #[cold]
    fn lacking(&mut self, entry: &Entry) -> Fault {
        let span = self.cursor.piece();
        let (name, def) = (entry.def.mnemonic(), entry.def);
        let version = self.object.version;
        if def.status == Status::TextOnly {
            let message = alloc::format!("version {version} has no `{name}`");
            let fault = Diagnostic::new(DiagnosticKind::NotInVersion, span, message);
            return fault.hint(dialect::TEXT_ONLY).needs(Features::SINCE_4_2);
        }
        let message = alloc::format!("version {version} has no `{name}`");
        let fault = Diagnostic::new(DiagnosticKind::NotInVersion, span, message);
        fault.hint(alloc::format!("versions that have it: {}", def.when))
    }

    /// The version that the text states, which must be the same throughout.
    fn stated_version(&mut self, version: Version, span: Span) -> Parsed<()> {
        if let Some(before) = self.stated {
            if before == version {
                return Ok(());
            }
            let message = alloc::format!("the text is of version {before} above");
            return Err(Diagnostic::new(DiagnosticKind::Misplaced, span, message));
        }
        if self.draft.is_some() {
            let message = "the version must precede the first routine";
            return Err(Diagnostic::new(DiagnosticKind::Misplaced, span, message));
        }
        self.stated = Some(version);
        if self.options.version.is_some() {
            return Ok(());
        }
        // Version 4.2 exists only as text; what it can express is laid out as 4.1.
        let target = if version == Version::V4_2 {
            Version::V4_1
        } else {
            version
        };
        if !target.is_supported() {
            let message = alloc::format!("version {version} has no known binary layout");
            let fault = Diagnostic::new(DiagnosticKind::NotEncodable, span, message);
            return Err(fault.expected("a version from 3.0 to 4.2"));
        }
        self.object.version = target;
        Ok(())
    }
}
