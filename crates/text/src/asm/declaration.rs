//! Declarations of variables, samplers and surfaces.

use super::Assembler;
use super::cursor::{Word, shown};
use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::directive::{not_one, outside};
use super::expression::Extent;
use super::routine::Symbol;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{Alignment, Attribute, Declaration, Variable, VariableProperties};
use visakit_isa::{AddressId, DataType, PredicateId, SamplerId, SurfaceId, VarId, enums};

/// What a declaration says.
#[derive(Debug, Default)]
struct Decl<'t> {
    class: u8,
    ty: Option<DataType>,
    elements: Option<u16>,
    alignment: u8,
    alias: Option<(VarId, u16, Span)>,
    attributes: Vec<Attribute<'t>>,
    v_name: Option<&'t [u8]>,
}

impl<'t> Assembler<'t, '_> {
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
                b"type" => {
                    let name = self.word("a type")?;
                    let is = |t: &DataType| t.name().as_bytes().eq_ignore_ascii_case(name.name);
                    let found = DataType::ALL.into_iter().find(is);
                    let wanted = "a type such as `ud`, `f` or `uq`";
                    decl.ty = Some(found.ok_or_else(|| not_one(name, "no type", wanted))?);
                }
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

    fn declare(&mut self, word: Word<'t>, decl: Decl<'t>) -> Parsed<()> {
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
        let first_variable = draft.format.predefined_variable_count();
        let first_surface = draft.format.predefined_surface_count();
        let body = &draft.body;
        let full = |what: &str| {
            let message = alloc::format!("too many {what}");
            Diagnostic::new(DiagnosticKind::NotEncodable, word.span, message)
        };
        let symbol = match decl.class {
            b'G' => {
                let id = u32::try_from(body.variables.len()).ok();
                let id = id.and_then(|n| n.checked_add(first_variable));
                Symbol::General(VarId(id.ok_or_else(|| full("variables"))?))
            }
            b'A' => {
                let id = u16::try_from(body.addresses.len());
                Symbol::Address(AddressId(id.map_err(|_| full("address variables"))?))
            }
            b'P' => {
                let id = u16::try_from(body.predicates.len() + 1);
                Symbol::Predicate(PredicateId(id.map_err(|_| full("predicates"))?))
            }
            b'S' => {
                let id = u8::try_from(body.samplers.len());
                Symbol::Sampler(SamplerId(id.map_err(|_| full("samplers"))?))
            }
            b'T' => {
                let id = u8::try_from(body.surfaces.len() + usize::from(first_surface));
                Symbol::Surface(SurfaceId(id.map_err(|_| full("surfaces"))?))
            }
            _ => return Err(missing("v_type=")),
        };
        if decl.class == b'G' && decl.ty.is_none() {
            return Err(missing("type="));
        }
        draft.declare(word, symbol)?;
        let name = draft.string(Cow::Borrowed(name));
        let mut declaration = Declaration {
            name,
            elements,
            attributes: decl.attributes,
        };
        for attribute in &mut declaration.attributes {
            // Names come into the pool after the name of their variable.
            let text = self.pending.get(attribute.name.0 as usize).copied();
            attribute.name = draft.string(Cow::Borrowed(text.unwrap_or_default()));
        }
        self.pending.clear();
        let body = &mut draft.body;
        match symbol {
            Symbol::Address(_) => body.addresses.push(declaration),
            Symbol::Predicate(_) => body.predicates.push(declaration),
            Symbol::Sampler(_) => body.samplers.push(declaration),
            Symbol::Surface(_) => body.surfaces.push(declaration),
            Symbol::General(_) => {
                let ty = decl.ty.unwrap_or(DataType::Ud);
                let (alias, alias_offset) = match decl.alias {
                    Some((id, offset, _)) => (id, offset),
                    None => (VarId::NULL, 0),
                };
                let variable = Variable {
                    name: declaration.name,
                    properties: VariableProperties::new(ty, Alignment(decl.alignment)),
                    elements,
                    alias,
                    alias_offset,
                    alias_scope: 0,
                    attributes: declaration.attributes,
                };
                let end = u32::from(alias_offset) + variable.size();
                body.variables.push(variable);
                if let Some((id, _, span)) = decl.alias
                    && id.0 >= first_variable
                    && let Some((_, size)) = draft.general(id)
                    && end > size
                {
                    let kind = DiagnosticKind::AliasBounds;
                    let message = alloc::format!(
                        "the alias ends at byte {end} of a variable of {size} bytes"
                    );
                    return Err(Diagnostic::new(kind, span, message));
                }
            }
        }
        Ok(())
    }

    /// `<V32, 64>`
    fn alias(&mut self) -> Parsed<(VarId, u16, Span)> {
        self.cursor.need(b'<', "`<` and a variable")?;
        let start = self.cursor.at;
        if self.cursor.eat(b'@') {
            let span = Span::between(start, self.cursor.at);
            let message = "text cannot declare variables of the file, only name them";
            return Err(Diagnostic::new(DiagnosticKind::NotEncodable, span, message));
        }
        let word = self.word("a variable")?;
        let Some(draft) = self.draft.as_mut() else {
            return Err(outside(word.span));
        };
        let Symbol::General(id) = draft.need(word)? else {
            let message = alloc::format!("`{}` is no general variable", shown(word.name));
            let fault = Diagnostic::new(DiagnosticKind::OperandClass, word.span, message);
            return Err(fault.expected("a general variable"));
        };
        let mut offset = 0;
        if self.cursor.eat(b',') {
            offset = self.number_to(Extent::NoComparison, "an offset in bytes", 0..=0xffff)?;
        }
        self.cursor.need(b'>', "`>`")?;
        let span = Span::between(start, self.cursor.at.saturating_sub(1));
        Ok((id, u16::try_from(offset).unwrap_or(0), span))
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
