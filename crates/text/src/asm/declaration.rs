//! Declarations of variables, samplers and surfaces.

use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use super::directive::{not_one, outside};
use super::expression::Extent;
use super::routine::Draft;
use super::{Assembler, Last};
use crate::language::symbol::{Symbol, symbolic};
use crate::lexer::{Word, shown};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{
    Alignment, Attribute, Declaration, FileAttribute, FileVariable, Linkage, Variable,
    VariableProperties,
};
use visakit_isa::{
    AddressId, DataType, Features, PredicateId, SamplerId, SurfaceId, VarId, Version, enums,
};

/// The storage that a variable shares.
#[derive(Clone, Copy, Debug)]
struct Alias {
    id: VarId,
    offset: u16,
    scope: u8,
    /// The variable is given by number, which is not checked.
    unchecked: bool,
    span: Span,
}

/// What a declaration says.
#[derive(Debug, Default)]
struct Decl<'t> {
    class: u8,
    ty: Option<DataType>,
    elements: Option<u16>,
    alignment: u8,
    alias: Option<Alias>,
    attributes: Vec<Attribute<'t>>,
    v_name: Option<&'t [u8]>,
}

/// The type of that name, in letters of either case.
pub(super) fn type_named(name: &[u8]) -> Option<DataType> {
    let is = |ty: &DataType| ty.name().as_bytes().eq_ignore_ascii_case(name);
    DataType::ALL.into_iter().find(is)
}

/// What the next declaration of a class is called; `None` if there is no such class, an error if the table is full.
fn next_symbol(draft: &Draft<'_>, class: u8) -> Result<Option<Symbol>, &'static str> {
    let body = &draft.body;
    Ok(Some(match class {
        b'G' => {
            let id = u32::try_from(body.variables.len()).ok();
            let id = id.and_then(|n| n.checked_add(draft.format.predefined_variable_count()));
            Symbol::General(VarId(id.ok_or("variables")?))
        }
        b'A' => {
            let id = u16::try_from(body.addresses.len());
            Symbol::Address(AddressId(id.map_err(|_| "address variables")?))
        }
        b'P' => {
            let id = u16::try_from(body.predicates.len() + 1);
            Symbol::Predicate(PredicateId(id.map_err(|_| "predicates")?))
        }
        b'S' => {
            let id = u8::try_from(body.samplers.len());
            Symbol::Sampler(SamplerId(id.map_err(|_| "samplers")?))
        }
        b'T' => {
            // The format counts 255 surfaces, but instructions cannot name the last one.
            if body.surfaces.len() >= 255 {
                return Err("surfaces");
            }
            let id = body.surfaces.len() + usize::from(draft.format.predefined_surface_count());
            Symbol::Surface(SurfaceId(u8::try_from(id).unwrap_or(u8::MAX)))
        }
        _ => return Ok(None),
    }))
}

/// The fault for a type that only variables can have.
#[cold]
pub(super) fn newer_type(word: Word<'_>) -> Option<Fault> {
    let is = |ty: &DataType| ty.name().as_bytes().eq_ignore_ascii_case(word.name);
    let ty = DataType::TEXT_ONLY.into_iter().find(is)?;
    let message = alloc::format!("only declared variables are of type `{ty}`");
    Some(Diagnostic::new(
        DiagnosticKind::NotEncodable,
        word.span,
        message,
    ))
}

impl<'t> Assembler<'t> {
    pub(super) fn declaration(&mut self, at: Span) -> Parsed<()> {
        self.draft(at)?;
        let word = self.word("the name of a variable")?;
        let mut decl = Decl::default();
        while !self.cursor.ends() {
            let key = self.word("`v_type=`, `type=`, `num_elts=` or another property")?;
            self.cursor.need(b'=', "`=`")?;
            match key.name {
                b"v_type" => {
                    let class = self.word("one of G, A, P, S and T")?;
                    decl.class = match class.name {
                        [c @ (b'G' | b'A' | b'P' | b'S' | b'T')] => *c,
                        _ => return Err(not_one(class, "no kind of variable", "G, A, P, S or T")),
                    };
                }
                b"type" => decl.ty = Some(self.data_type()?),
                b"num_elts" => {
                    let number = self.number("a number of elements", 0..=0xffff)?;
                    decl.elements = u16::try_from(number).ok();
                }
                b"align" => decl.alignment = self.alignment()?,
                b"alias" => decl.alias = Some(self.alias()?),
                b"attrs" => self.attributes(&mut decl.attributes)?,
                b"v_name" => decl.v_name = Some(self.word("a name")?.name),
                _ => {
                    let wanted = "v_type, type, num_elts, align, alias, attrs or v_name";
                    return Err(not_one(key, "no property of a declaration", wanted));
                }
            }
        }
        self.declare(word, decl)
    }

    fn declare(&mut self, word: Word<'t>, mut decl: Decl<'t>) -> Parsed<()> {
        let Some(draft) = self.draft.as_mut() else {
            return Err(outside(word.span));
        };
        let missing = |what: &str| {
            let message = alloc::format!("`{}` is declared without {what}", shown(word.name));
            Diagnostic::new(DiagnosticKind::Syntax, word.span, message).expected(what)
        };
        let Some(elements) = decl.elements else {
            return Err(missing("num_elts="));
        };
        let name = decl.v_name.unwrap_or(word.name);
        let symbol = next_symbol(draft, decl.class).map_err(|what| {
            let message = alloc::format!("too many {what}");
            Diagnostic::new(DiagnosticKind::NotEncodable, word.span, message)
        })?;
        let Some(symbol) = symbol else {
            return Err(missing("v_type="));
        };
        if decl.class == b'G' && decl.ty.is_none() {
            return Err(missing("type="));
        }
        if decl.class != b'G' && (decl.alias.is_some() || decl.alignment != 0) {
            let message = "only general variables are aligned or aliases";
            return Err(Diagnostic::new(DiagnosticKind::Syntax, word.span, message)
                .expected("a declaration without `align=` and `alias=`"));
        }
        draft.declare(word, symbol)?;
        let name = draft.string(Cow::Borrowed(name));
        let mut declaration = Declaration {
            name,
            elements,
            attributes: core::mem::take(&mut decl.attributes),
        };
        for attribute in &mut declaration.attributes {
            // Names are added to the pool after the name of their variable.
            let text = self.pending.get(attribute.name.0 as usize).cloned();
            attribute.name = draft.string(text.unwrap_or_default());
        }
        self.pending.clear();
        let body = &mut draft.body;
        match symbol {
            Symbol::Address(_) => body.addresses.push(declaration),
            Symbol::Predicate(_) => body.predicates.push(declaration),
            Symbol::Sampler(_) => body.samplers.push(declaration),
            Symbol::Surface(_) => body.surfaces.push(declaration),
            Symbol::General(_) => self.variable(&decl, declaration),
        }
        self.last = match symbol {
            Symbol::General(_) => Last::Variable,
            Symbol::Address(_) => Last::Address,
            Symbol::Predicate(_) => Last::Predicate,
            Symbol::Sampler(_) => Last::Sampler,
            Symbol::Surface(_) => Last::Surface,
        };
        Ok(())
    }

    /// Adds a general variable.
    fn variable(&mut self, decl: &Decl<'t>, declaration: Declaration<'t>) {
        let Some(draft) = self.draft.as_mut() else {
            return;
        };
        let alias = decl.alias;
        let alias_offset = alias.map_or(0, |a| a.offset);
        let ty = decl.ty.unwrap_or(DataType::Ud);
        let variable = Variable {
            name: declaration.name,
            properties: VariableProperties::new(ty, Alignment(decl.alignment)),
            elements: declaration.elements,
            alias: alias.map_or(VarId::NULL, |a| a.id),
            alias_offset,
            alias_scope: alias.map_or(0, |a| a.scope),
            attributes: declaration.attributes,
        };
        let end = u32::from(alias_offset) + variable.size();
        draft.body.variables.push(variable);
        if let Some(alias) = alias
            && !alias.unchecked
            && alias.id.0 >= draft.format.predefined_variable_count()
            && let Some((_, size)) = draft.general(alias.id)
            && end > size
        {
            let kind = DiagnosticKind::AliasBounds;
            let message =
                alloc::format!("the alias ends at byte {end} of a variable of {size} bytes");
            // Compiled objects contain such aliases.
            self.warning(Diagnostic::new(kind, alias.span, message));
        }
    }

    /// `<V32, 64>`, `<@name, 64>`
    fn alias(&mut self) -> Parsed<Alias> {
        self.cursor.need(b'<', "`<` and a variable")?;
        let start = self.cursor.at;
        let (id, scope, unchecked) = if self.cursor.eat(b'@') {
            (self.file_variable(start)?, 1, true)
        } else {
            let word = self.word("a variable")?;
            let Some(draft) = self.draft.as_mut() else {
                return Err(outside(word.span));
            };
            let Symbol::General(id) = draft.need(word)? else {
                let message = alloc::format!("`{}` is not a general variable", shown(word.name));
                let fault = Diagnostic::new(DiagnosticKind::OperandClass, word.span, message);
                return Err(fault.expected("a general variable"));
            };
            (id, 0, word.name.starts_with(b"#"))
        };
        let mut offset = 0;
        if self.cursor.eat(b',') {
            offset = self.number_to(Extent::NoComparison, "an offset in bytes", 0..=0xffff)?;
        }
        self.cursor.need(b'>', "`>`")?;
        let span = Span::between(start, self.cursor.at.saturating_sub(1));
        Ok(Alias {
            id,
            offset: u16::try_from(offset).unwrap_or(0),
            scope,
            unchecked,
            span,
        })
    }

    /// A variable of the file, after its `@`: by name or by number. Where the routine has a
    /// relocation for it, the number that represents it in the routine.
    fn file_variable(&mut self, start: usize) -> Parsed<VarId> {
        let number = match self.cursor.number()? {
            Some(number) => u32::try_from(number).unwrap_or(u32::MAX),
            None => {
                let word = self.word("the name of a variable of the file")?;
                let is = |v: &FileVariable<'_>| {
                    v.name.as_ref() == word.name || v.name.strip_prefix(b"@") == Some(word.name)
                };
                let span = Span::between(start, self.cursor.at);
                let Some(index) = self.object.file_variables.iter().position(is) else {
                    let name = shown(word.name);
                    let message = alloc::format!("`@{name}` is not a variable of the file");
                    let fault = Diagnostic::new(DiagnosticKind::Undeclared, span, message);
                    let hint = "`.file_decl \"@name\" type=ud num_elts=1` declares one";
                    return Err(fault.hint(hint));
                };
                u32::try_from(index).unwrap_or(u32::MAX)
            }
        };
        let relocations = self
            .draft
            .as_ref()
            .map_or(&[][..], |d| &d.shell.variable_relocations);
        Ok(symbolic(relocations, number))
    }

    /// `.file_decl "@name" type=ud num_elts=8 align=GRF linkage=1`: a variable shared by all
    /// routines. Intel's language has no equivalent.
    pub(super) fn file_declaration(&mut self, at: Span) -> Parsed<()> {
        if self.draft.is_some() {
            let message = "variables of the file precede the first routine";
            return Err(Diagnostic::new(DiagnosticKind::Misplaced, at, message));
        }
        let (name, span) = self.name("the name of a variable")?;
        let mut variable = FileVariable {
            name,
            ..FileVariable::default()
        };
        let (mut ty, mut alignment, mut elements) = (None, 0, None);
        while !self.cursor.ends() {
            let key = self.word("`type=`, `num_elts=` or another property")?;
            self.cursor.need(b'=', "`=`")?;
            match key.name {
                b"type" => ty = Some(self.data_type()?),
                b"num_elts" => elements = Some(self.number("a number of elements", 0..=0xffff)?),
                b"align" if self.cursor.eat(b'#') => {
                    alignment = self.number("an alignment", 0..=15)?;
                }
                b"align" => alignment = self.alignment()?.into(),
                b"linkage" => {
                    let linkage = self.number("a linkage", 0..=255)?;
                    variable.linkage = Linkage(u8::try_from(linkage).unwrap_or(0));
                }
                b"attr" => {
                    let number = self.number_to(Extent::Primary, "a number", 0..=0xffff)?;
                    self.cursor.need(b':', "`:` and a quoted string")?;
                    let Some((value, _)) = self.cursor.string()? else {
                        return Err(self.cursor.unexpected("a quoted string"));
                    };
                    variable.attributes.push(FileAttribute {
                        name: u16::try_from(number).unwrap_or(0),
                        value,
                    });
                }
                _ => {
                    let wanted = "type, num_elts, align, linkage or attr";
                    return Err(not_one(key, "no property of a declaration", wanted));
                }
            }
        }
        let (Some(ty), Some(elements)) = (ty, elements) else {
            let message = "the variable is declared without type= or num_elts=";
            return Err(Diagnostic::new(DiagnosticKind::Syntax, span, message));
        };
        let alignment = Alignment(u8::try_from(alignment).unwrap_or(0));
        variable.properties = VariableProperties::new(ty, alignment);
        variable.elements = u16::try_from(elements).unwrap_or(0);
        self.object.file_variables.push(variable);
        Ok(())
    }

    fn data_type(&mut self) -> Parsed<DataType> {
        let name = self.word("a type")?;
        let is = |t: &DataType| t.name().as_bytes().eq_ignore_ascii_case(name.name);
        let newer = DataType::TEXT_ONLY.into_iter().find(is);
        let version = self.object.version;
        match newer.or_else(|| type_named(name.name)) {
            Some(ty) if ty.is_text_only() && version != Version::V4_2 => {
                let message = alloc::format!("version {version} has no type `{ty}`");
                let fault = Diagnostic::new(DiagnosticKind::NotInVersion, name.span, message);
                let fault = fault.hint(super::dialect::TEXT_ONLY);
                Err(fault.needs(Features::SINCE_4_2))
            }
            Some(ty) => Ok(ty),
            None => Err(not_one(name, "no type", "a type such as `ud`, `f` or `uq`")),
        }
    }

    fn alignment(&mut self) -> Parsed<u8> {
        const OLD: [(&str, &str); 3] = [
            ("2GRF", "GRFx2"),
            ("32word", "wordx32"),
            ("64word", "wordx64"),
        ];
        self.cursor.blanks();
        for (old, name) in OLD {
            if self.cursor.has(old) {
                self.cursor.at += old.len();
                return Ok(enums::ALIGNMENT.code_named(name).unwrap_or(0));
            }
        }
        let mut ahead = self.cursor;
        if let Some(word) = ahead.word()
            && !word.name.starts_with(b"%")
        {
            self.cursor = ahead;
            let is = |(_, name): &&(u8, &str)| name.as_bytes().eq_ignore_ascii_case(word.name);
            let found = enums::ALIGNMENT.entries.iter().find(is);
            let wanted = "byte, word, dword, qword, oword, hword, GRF, GRFx2, wordx32 or wordx64";
            return match found {
                Some((code, _)) => Ok(*code),
                None => Err(not_one(word, "no alignment", wanted)),
            };
        }
        let start = self.cursor.at;
        let bytes = self.number("an alignment", i64::MIN..=i64::MAX)?;
        let sizes = [1, 2, 4, 8, 16, -1, -1, 32, 64, 128];
        match sizes.iter().position(|s| *s == bytes) {
            Some(code) if bytes > 0 => Ok(u8::try_from(code).unwrap_or(0)),
            _ => {
                let span = Span::between(start, self.cursor.at);
                let message = alloc::format!("no alignment is of {bytes} bytes");
                let fault = Diagnostic::new(DiagnosticKind::ImmediateRange, span, message);
                Err(fault.expected("a power of two from 1 to 128"))
            }
        }
    }
}
