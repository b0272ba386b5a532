//! Directives: statements that begin with a full stop.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span, closest};
use super::expression::{Extent, ranged};
use super::instruction::trailing;
use super::routine::Draft;
use super::{Assembler, Last};
use crate::language::attribute::{self, ValueKind};
use crate::language::operand::Paired;
use crate::language::symbol::{Symbol, letter_and_number};
use crate::lexer::{Word, pooled, shown};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{Attribute, Input, InputKind, LabelKind, RoutineKind};
use visakit_isa::table::FieldName;
use visakit_isa::{Features, Instruction, SamplerId, SurfaceId, Value, VarId, Version, enums};

/// The directives known by a single name.
pub(crate) const DIRECTIVES: [&[u8]; 16] = [
    b".file_decl",
    b".label",
    b".op",
    b".bytes",
    b".version",
    b".kernel",
    b".global_function",
    b".function",
    b".funcdecl",
    b".decl",
    b".input",
    b".parameter",
    b".kernel_attr",
    b".file",
    b".loc",
    b".implicit_LOCAL_ID",
];

/// An attribute.
type NameAndValue<'t> = (Cow<'t, [u8]>, Cow<'t, [u8]>);

impl<'t> Assembler<'t> {
    /// A directive; the cursor is at its full stop.
    pub(super) fn directive(&mut self) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let word = self.cursor.word();
        let span = Span::between(start, self.cursor.at);
        let name = word.map_or(&b""[..], |w| w.name);
        match name {
            b"version" => self.version(),
            b"kernel" => self.routine(RoutineKind::Kernel),
            b"global_function" => self.routine(RoutineKind::Function),
            b"funcdecl" => self.name("the name of a function").map(|_| ()),
            b"decl" => self.declaration(span),
            b"file_decl" => self.file_declaration(span),
            b"label" => self.label_declaration(span),
            b"op" => self.numbers(span),
            b"bytes" => self.undecoded(span),
            b"input" | b"parameter" => self.input(span, 0),
            b"kernel_attr" => self.kernel_attribute(span),
            b"function" => self.subroutine(span),
            _ => match name.strip_prefix(b"implicit_") {
                Some(kind) => {
                    let kind = implicit_kind(kind, span)?;
                    self.input(span, kind)
                }
                None => {
                    let whole = self.cursor.text.get(start..span.end()).unwrap_or_default();
                    let message = alloc::format!("no directive is called `{}`", shown(whole));
                    let fault = Diagnostic::new(DiagnosticKind::Syntax, span, message);
                    Err(match closest(whole, DIRECTIVES.into_iter()) {
                        Some(like) => fault.hint(alloc::format!("did you mean `{}`?", shown(like))),
                        None => fault,
                    })
                }
            },
        }?;
        if self.cursor.ends() {
            return Ok(());
        }
        // Intel's printer puts the first instruction after the last attribute.
        let joined =
            self.cursor.peek() == Some(b'(') || self.index.find(self.cursor).next().is_some();
        if name == b"kernel_attr" && joined {
            return Ok(());
        }
        let mut what = alloc::string::String::from(".");
        what.push_str(&shown(name));
        Err(trailing(&self.cursor, &what))
    }

    pub(super) fn number(
        &mut self,
        what: &str,
        range: core::ops::RangeInclusive<i64>,
    ) -> Parsed<i64> {
        self.number_to(Extent::Full, what, range)
    }

    pub(super) fn number_to(
        &mut self,
        extent: Extent,
        what: &str,
        range: core::ops::RangeInclusive<i64>,
    ) -> Parsed<i64> {
        let draft = self.draft.as_ref();
        let names = |name: &[u8], span| draft.and_then(|d| d.size_of(name, span));
        ranged(&mut self.cursor, extent, &names, what, range)
    }

    /// A quoted string or plain name of what the object names directly (routines, variables of the
    /// file): unlike strings of the pool it may contain any bytes.
    pub(super) fn name(&mut self, what: &str) -> Parsed<(Cow<'t, [u8]>, Span)> {
        if let Some(found) = self.cursor.string()? {
            return Ok(found);
        }
        match self.cursor.label() {
            Some(word) => Ok((Cow::Borrowed(word.name), word.span)),
            None => Err(self.cursor.unexpected(what)),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<Word<'t>> {
        self.cursor
            .word()
            .ok_or_else(|| self.cursor.unexpected(what))
    }

    pub(super) fn version(&mut self) -> Parsed<()> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let major = self.number_to(Extent::Primary, "a major version", 0..=255)?;
        self.cursor.need(b'.', "`.` and a minor version")?;
        let minor = self.number_to(Extent::Primary, "a minor version", 0..=255)?;
        let byte = |n| u8::try_from(n).unwrap_or(0);
        let version = Version::new(byte(major), byte(minor));
        let span = Span::between(start, self.cursor.at);
        self.stated_version(version, span)
    }

    pub(super) fn routine(&mut self, kind: RoutineKind) -> Parsed<()> {
        let (name, span) = self.name("the name of a routine")?;
        self.finish_routine();
        self.here.routine = span;
        let format = self.object.format();
        self.last = Last::None;
        let long = format.features().contains(Features::SINCE_3_7);
        most(
            name.len(),
            if long { 0xffff } else { 0xff },
            "bytes in a name",
            span,
        )?;
        let routines = match kind {
            RoutineKind::Kernel => self.object.kernels.len(),
            RoutineKind::Function => self.object.functions.len(),
        };
        most(routines + 1, 0xffff, "routines", span)?;
        let paired = Paired::of(self.stated);
        let mut draft = Draft::new(kind, name, format, self.grf_bytes, paired);
        draft.grf_assumed = self.grf_assumed;
        self.draft = Some(draft);
        Ok(())
    }

    pub(super) fn draft(&mut self, span: Span) -> Parsed<&mut Draft<'t>> {
        self.draft.as_mut().ok_or_else(|| outside(span))
    }

    /// `{Output, SurfaceUsage=2}`. Until the variable's name is in the pool, attribute names are
    /// indices into the pending names.
    pub(super) fn attributes(&mut self, attributes: &mut Vec<Attribute<'t>>) -> Parsed<()> {
        self.pending.clear();
        self.cursor.need(b'{', "`{`")?;
        while !self.cursor.eat(b'}') {
            let span = self.cursor.piece();
            let (name, value) = self.attribute("the name of an attribute, or `}`", true)?;
            most(attributes.len() + 1, 0xff, "attributes", span)?;
            let number = u32::try_from(self.pending.len()).unwrap_or(0);
            self.pending.push(name);
            attributes.push(Attribute {
                name: visakit_isa::StringId(number),
                value,
            });
            if !self.cursor.eat(b',') {
                self.cursor.need(b'}', "`,` or `}`")?;
                break;
            }
        }
        Ok(())
    }

    /// The name and value of an attribute. A quoted name may be any string.
    fn attribute(&mut self, what: &str, symbol: bool) -> Parsed<NameAndValue<'t>> {
        let Some((name, _)) = self.cursor.pooled()? else {
            let word = self.word(what)?;
            let value = self.attribute_value(word, symbol)?;
            return Ok((Cow::Borrowed(word.name), value));
        };
        if !self.cursor.eat(b'=') {
            return Ok((name, Cow::Borrowed(&[])));
        }
        if let Some((value, span)) = self.cursor.string()? {
            most(value.len(), 0xff, "bytes in a value", span)?;
            return Ok((name, value));
        }
        let range = i64::from(i32::MIN)..=i64::from(u32::MAX);
        let number = self.number_to(Extent::NoComparison, "a number or a quoted string", range)?;
        Ok((name, Cow::Owned(attribute::number_bytes(number))))
    }

    /// What follows the name of an attribute. Flags of symbols have no value.
    pub(super) fn attribute_value(
        &mut self,
        word: Word<'t>,
        symbol: bool,
    ) -> Parsed<Cow<'t, [u8]>> {
        let kind = attribute::any_kind(word.name);
        if kind == ValueKind::Unknown {
            let message = alloc::format!("no attribute is called `{}`", shown(word.name));
            let fault = Diagnostic::new(DiagnosticKind::UnknownAttribute, word.span, message);
            return Err(match closest(word.name, attribute::known()) {
                Some(like) => fault.hint(alloc::format!("did you mean `{}`?", shown(like))),
                None => fault,
            });
        }
        let absent = Cow::Owned(attribute::absent_value(kind, symbol));
        if !self.cursor.eat(b'=') || self.cursor.ends() {
            return Ok(absent);
        }
        if let Some((text, span)) = self.cursor.string()? {
            most(text.len(), 0xff, "bytes in a value", span)?;
            if kind != ValueKind::Target {
                return Ok(text);
            }
            return match attribute::target_named(&text) {
                Some(target) => Ok(Cow::Owned(Vec::from([target]))),
                None => {
                    let message = "no such target";
                    let fault = Diagnostic::new(DiagnosticKind::Syntax, span, message);
                    Err(fault.expected("\"cm\" or \"3d\""))
                }
            };
        }
        let range = i64::from(i32::MIN)..=i64::from(u32::MAX);
        let number = self.number_to(Extent::NoComparison, "a number or a quoted string", range)?;
        if symbol && kind == ValueKind::Flag {
            return Ok(Cow::Borrowed(&[]));
        }
        if let Some(draft) = self.draft.as_mut()
            && word.name == b"SimdSize"
        {
            draft.simd = Some(number);
        }
        Ok(Cow::Owned(attribute::number_bytes(number)))
    }

    pub(super) fn kernel_attribute(&mut self, at: Span) -> Parsed<()> {
        self.draft(at)?;
        let span = self.cursor.piece();
        let (name, value) = self.attribute("the name of an attribute", false)?;
        let draft = self.draft(at)?;
        most(draft.body.attributes.len() + 1, 0xffff, "attributes", span)?;
        let name = draft.string(name);
        draft.body.attributes.push(Attribute { name, value });
        self.last = Last::Attribute;
        Ok(())
    }

    pub(super) fn input(&mut self, at: Span, implicit: u8) -> Parsed<()> {
        let draft = self.draft(at)?;
        if draft.kind == RoutineKind::Function {
            let message = "functions have no inputs";
            return Err(Diagnostic::new(DiagnosticKind::Misplaced, at, message));
        }
        let word = self.word("the name of a variable")?;
        let draft = self.draft(at)?;
        let (class, index, size_of) = match numbered_input(word.name) {
            Some((class, index)) => (class, index, None),
            None => input_symbol(draft, word)?,
        };
        let (mut offset, mut size) = (0, None);
        while !self.cursor.ends() {
            let key = self.word("`offset=` or `size=`")?;
            match key.name {
                b"offset" => {
                    self.cursor.need(b'=', "`=`")?;
                    offset = self.number("an offset", i64::from(i16::MIN)..=0xffff)?;
                }
                b"size" => {
                    self.cursor.need(b'=', "`=`")?;
                    size = Some(self.number("a size", 0..=0xffff)?);
                }
                b"attrs" => {
                    self.cursor.need(b'=', "`=`")?;
                    self.attributes(&mut Vec::new())?;
                }
                _ => return Err(not_one(key, "no property of an input", "offset or size")),
            }
        }
        let size = size.or(size_of).unwrap_or(4);
        let Ok(size) = u16::try_from(size) else {
            let message = "the variable is too large for an input";
            return Err(Diagnostic::new(
                DiagnosticKind::NotEncodable,
                word.span,
                message,
            ));
        };
        #[allow(clippy::cast_possible_truncation)] // 16 bits, with or without a sign
        let offset = offset as i16;
        let input = Input {
            kind: InputKind(class.0 | implicit << 3),
            index,
            offset,
            size,
        };
        let draft = self.draft(at)?;
        let wide = draft.format.features().contains(Features::SINCE_3_5);
        if !wide {
            most(draft.body.inputs.len() + 1, 0xff, "inputs", word.span)?;
        }
        draft.body.inputs.push(input);
        Ok(())
    }

    /// `.function "NAME"`
    pub(super) fn subroutine(&mut self, at: Span) -> Parsed<()> {
        self.draft(at)?;
        let (name, span) = pooled(self.name("the name of a subroutine")?)?;
        let draft = self.draft(at)?;
        let id = draft.label(name, LabelKind::SUBROUTINE, span)?;
        draft.place(id, span)?;
        let op = self.index.subroutine;
        let draft = self.draft(at)?;
        let placed = Instruction::new(op).with(FieldName::Label, Value::Label(id));
        draft.body.code.push(placed.into());
        self.last = Last::Item;
        Ok(())
    }
}

/// Class and index of an input identified by number: `#V40`, `#S1`, `#T7`, or `#C3_5` for entry 5 of
/// a class without a name.
fn numbered_input(name: &[u8]) -> Option<(InputKind, u32)> {
    if let Some(rest) = name.strip_prefix(b"#C") {
        let rest = core::str::from_utf8(rest).ok()?;
        let (class, index) = rest.split_once('_')?;
        let class = class.parse().ok().filter(|c| *c < 8)?;
        return Some((InputKind(class), index.parse().ok()?));
    }
    let (letter, index) = letter_and_number(name)?;
    let class = match letter {
        b'V' => InputKind::GENERAL,
        b'S' => InputKind::SAMPLER,
        b'T' => InputKind::SURFACE,
        _ => return None,
    };
    Some((class, index))
}

/// Class, index and size of an input identified by name.
fn input_symbol<'t>(
    draft: &mut Draft<'t>,
    word: Word<'t>,
) -> Parsed<(InputKind, u32, Option<i64>)> {
    let size = draft.size_of(word.name, word.span);
    match draft.need(word)? {
        Symbol::General(VarId(id)) => Ok((InputKind::GENERAL, id, size)),
        Symbol::Sampler(SamplerId(id)) => Ok((InputKind::SAMPLER, id.into(), size)),
        Symbol::Surface(SurfaceId(id)) => Ok((InputKind::SURFACE, id.into(), size)),
        other => {
            let message = alloc::format!("{} cannot be an input", other.what());
            let fault = Diagnostic::new(DiagnosticKind::OperandClass, word.span, message);
            Err(fault.expected("a general variable, a sampler or a surface"))
        }
    }
}

/// An error if there are more than fit.
pub(super) fn most(count: usize, most: usize, what: &str, span: Span) -> Parsed<()> {
    if count <= most {
        return Ok(());
    }
    let message = alloc::format!("more than {most} {what}");
    Err(Diagnostic::new(DiagnosticKind::NotEncodable, span, message))
}

/// A directive or instruction that belongs to a routine appears before the first routine.
#[cold]
pub(super) fn outside(span: Span) -> super::diagnostic::Fault {
    let message = "this is outside of a routine";
    let fault = Diagnostic::new(DiagnosticKind::Misplaced, span, message);
    fault.expected("`.kernel \"name\"` or `.global_function \"name\"` before it")
}

#[cold]
pub(super) fn not_one(word: Word<'_>, what: &str, wanted: &str) -> super::diagnostic::Fault {
    let message = alloc::format!("`{}` is {what}", shown(word.name));
    Diagnostic::new(DiagnosticKind::Syntax, word.span, message).expected(wanted)
}

/// The code of an implicit input.
fn implicit_kind(name: &[u8], span: Span) -> Parsed<u8> {
    let named = enums::IMPLICIT_INPUT
        .entries
        .iter()
        .find(|(_, n)| n.as_bytes().eq_ignore_ascii_case(name));
    if let Some((code, _)) = named {
        return Ok(*code);
    }
    let number = name.strip_prefix(b"UNDEFINED_");
    let number = number.and_then(|n| core::str::from_utf8(n).ok()?.parse().ok());
    number.filter(|n| *n < 32).ok_or_else(|| {
        let message = alloc::format!("no implicit input is called `{}`", shown(name));
        let fault = Diagnostic::new(DiagnosticKind::Syntax, span, message);
        fault.expected("LOCAL_SIZE, GROUP_COUNT, LOCAL_ID or another one")
    })
}
