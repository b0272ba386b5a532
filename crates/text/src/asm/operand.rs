//! Operands.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::expression::{Extent, ranged};
use super::instruction::LineParser;
use crate::language::operand;
use crate::language::symbol::Symbol;
use crate::lexer::{Word, shown};
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, IndirectOperand, Modifier, PredicateCombine, PredicateOperand,
    PropertyByte, StateClass, StateOperand,
};
use visakit_isa::table::{FieldDef, FieldName, Role};
use visakit_isa::{AddressId, Predicate, RawOperand, SamplerId, SurfaceId, VarId, VectorOperand};

/// Words that begin an expression.
const BUILT_IN: [&[u8]; 2] = [b"%sizeof", b"%DispatchSimd"];

impl<'t> LineParser<'_, 't> {
    /// An expression, which is required and must be in this range.
    pub(super) fn expression(
        &mut self,
        extent: Extent,
        what: &str,
        range: core::ops::RangeInclusive<i64>,
    ) -> Parsed<i64> {
        let draft = &*self.draft;
        ranged(
            self.cursor,
            extent,
            &|name, span| draft.size_of(name, span),
            what,
            range,
        )
    }

    /// A byte in an operand, such as a row.
    pub(super) fn byte(&mut self, what: &str) -> Parsed<u8> {
        let value = self.expression(Extent::Full, what, 0..=255)?;
        Ok(u8::try_from(value).unwrap_or(0))
    }

    /// The name of a variable, surface or sampler.
    pub(super) fn named(&mut self, what: &str) -> Parsed<(Word<'t>, Symbol)> {
        match self.cursor.word() {
            Some(word) => Ok((word, self.draft.need(word)?)),
            None => Err(self.cursor.unexpected(what)),
        }
    }

    #[cold]
    pub(super) fn wrong_class<T>(&self, word: Word<'t>, symbol: Symbol, wanted: &str) -> Parsed<T> {
        let message = alloc::format!("`{}` is {}", shown(word.name), symbol.what());
        let fault = Diagnostic::new(DiagnosticKind::OperandClass, word.span, message);
        Err(fault.expected(wanted))
    }

    /// A surface by its name.
    pub(super) fn surface(&mut self) -> Parsed<SurfaceId> {
        match self.named("a surface")? {
            (_, Symbol::Surface(id)) => Ok(id),
            (word, other) => self.wrong_class(word, other, "a surface"),
        }
    }

    /// A sampler by its name.
    pub(super) fn sampler(&mut self) -> Parsed<SamplerId> {
        match self.named("a sampler")? {
            (_, Symbol::Sampler(id)) => Ok(id),
            (word, other) => self.wrong_class(word, other, "a sampler"),
        }
    }

    /// A general variable by its name.
    pub(super) fn variable(&mut self, what: &str) -> Parsed<VarId> {
        match self.named(what)? {
            (_, Symbol::General(id)) => Ok(id),
            (word, other) => self.wrong_class(word, other, what),
        }
    }

    /// `(P1)`, `(!P1.any)`; the parenthesis has already been consumed.
    pub(super) fn predicate(&mut self) -> Parsed<Predicate> {
        let inverted = self.cursor.eat(b'!');
        let (word, symbol) = self.named("a predicate variable")?;
        let Symbol::Predicate(id) = symbol else {
            return self.wrong_class(word, symbol, "a predicate variable");
        };
        let combine = if self.cursor.eat_text(".any") {
            PredicateCombine::Any
        } else if self.cursor.eat_text(".all") {
            PredicateCombine::All
        } else {
            PredicateCombine::PerLane
        };
        self.cursor.need(b')', "`)`")?;
        // There is no text for the reserved combination, the only one that has no word.
        Ok(Predicate::new(id, combine, inverted).unwrap_or(Predicate::NONE))
    }

    /// A raw operand. The offset may be omitted if `bare`.
    pub(super) fn raw(&mut self, bare: bool) -> Parsed<RawOperand> {
        const WHAT: &str = "a raw operand such as `V32.0`";
        let variable = self.variable(WHAT)?;
        let mut offset = 0;
        if self.cursor.eat(b'.') {
            let extent = Extent::Primary;
            let range = operand::raw_offsets(variable);
            offset = self.expression(extent, "an offset in bytes", range)?;
        } else if !bare {
            self.cursor.blanks();
            if matches!(self.cursor.peek(), Some(b'(' | b'<')) {
                let span = self.cursor.piece();
                let message = "a region or row where a message takes plain bytes";
                let fault = Diagnostic::new(DiagnosticKind::OperandClass, span, message);
                return Err(fault.expected(WHAT));
            }
            return Err(self.cursor.unexpected("`.` and an offset in bytes"));
        }
        Ok(RawOperand {
            variable,
            offset: u16::try_from(offset).unwrap_or(0),
        })
    }

    /// A vector operand of a class that the field accepts.
    pub(super) fn vector(&mut self, field: &FieldDef) -> Parsed<VectorOperand> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let operand = self.vector_of_any_class(field)?;
        let classes = operand::classes(self.def, field);
        if classes.is_empty() || classes.has(operand.class()) {
            return Ok(operand);
        }
        let span = Span::between(start, self.cursor.at);
        let class = operand.class().name();
        let message = alloc::format!("{} cannot be of class {class}", field.name);
        let fault = Diagnostic::new(DiagnosticKind::OperandClass, span, message);
        let mut wanted = alloc::string::String::from("class ");
        for (i, class) in classes.classes().enumerate() {
            wanted.push_str(if i == 0 { "" } else { " or " });
            wanted.push_str(class.name());
        }
        Err(fault.expected(wanted))
    }

    pub(super) fn vector_of_any_class(&mut self, field: &FieldDef) -> Parsed<VectorOperand> {
        let destination = field.role == Role::Destination;
        let mut modifier = Modifier::NONE;
        if destination {
            if self.saturate {
                modifier = Modifier::SAT;
            }
        } else if self.cursor.peek() == Some(b'(') {
            let start = self.cursor.at;
            let mut end = start;
            for (text, value) in operand::MODIFIERS {
                if self.cursor.has(text) {
                    end += text.len();
                    self.cursor.at = end;
                    self.cursor.blanks();
                    modifier = value;
                    break;
                }
            }
            if modifier != Modifier::NONE
                && (self.is_constant() || self.cursor.peek() == Some(b'&'))
            {
                let span = Span::between(start, end);
                let message = "constants and addresses take no source modifier";
                let fault = Diagnostic::new(DiagnosticKind::OperandClass, span, message);
                return Err(fault.expected("the value itself, such as `-2:d`"));
            }
        }
        match self.cursor.peek() {
            Some(b'r' | b'R') if self.cursor.peek_at(1) == Some(b'[') => {
                return self.indirect(modifier, destination);
            }
            Some(b'&') => return self.address_of(),
            _ if self.is_constant() => return self.immediate(field),
            _ => {}
        }
        let (word, symbol) = self.named("an operand")?;
        match symbol {
            Symbol::General(variable) => self.general(word, variable, modifier, destination),
            Symbol::Address(address) => self.address(address, modifier),
            Symbol::Predicate(id) => {
                let predicate = Predicate::of(id);
                Ok(PredicateOperand {
                    modifier,
                    predicate,
                }
                .into())
            }
            Symbol::Surface(SurfaceId(id)) => self.state(StateClass::SURFACE, id, modifier),
            Symbol::Sampler(SamplerId(id)) => self.state(StateClass::SAMPLER, id, modifier),
        }
    }

    /// Whether a number or an expression comes next.
    #[inline]
    fn is_constant(&self) -> bool {
        match self.cursor.peek() {
            Some(b'0'..=b'9' | b'-' | b'~' | b'!' | b'(') => true,
            Some(b'%') => self.cursor.has("%sizeof") || self.cursor.has("%DispatchSimd"),
            _ => false,
        }
    }

    /// Row and column, in parentheses.
    pub(super) fn place(&mut self) -> Parsed<(u8, u8)> {
        self.cursor.need(b'(', "`(`")?;
        let row = self.byte("a row")?;
        self.cursor.need(b',', "`,`")?;
        let column = self.byte("a column")?;
        self.cursor.need(b')', "`)`")?;
        Ok((row, column))
    }

    #[inline]
    pub(super) fn general(
        &mut self,
        word: Word<'t>,
        variable: VarId,
        modifier: Modifier,
        destination: bool,
    ) -> Parsed<VectorOperand> {
        self.cursor.blanks();
        let (row, column) = match self.cursor.peek() {
            Some(b'(') => self.place()?,
            Some(b'.') => {
                let span = Span::between(word.span.start, self.cursor.at + 1);
                let message = "a raw operand where one with a region is taken";
                let fault = Diagnostic::new(DiagnosticKind::OperandClass, span, message);
                return Err(fault.expected("an operand such as `V32(0,0)<1;1,0>`"));
            }
            _ => (0, 0),
        };
        self.cursor.blanks();
        if self.cursor.peek() != Some(b'<') {
            let span = Span::between(word.span.start, self.cursor.at);
            let message = "the operand has no region";
            let fault = Diagnostic::new(DiagnosticKind::MissingRegion, span, message);
            return Err(if destination {
                fault.expected("a region such as `<1>`")
            } else {
                fault.expected("a region such as `<1;1,0>`, or `<0;1,0>` for one element")
            });
        }
        let region = self.region(destination)?;
        Ok(GeneralOperand {
            modifier,
            variable,
            row,
            column,
            region,
        }
        .into())
    }

    /// After the name of an address variable.
    pub(super) fn address(
        &mut self,
        address: AddressId,
        modifier: Modifier,
    ) -> Parsed<VectorOperand> {
        self.cursor.need(b'(', "`(` and an element")?;
        let offset = self.byte("an element")?;
        self.cursor.need(b')', "`)`")?;
        self.cursor.blanks();
        if self.cursor.peek() != Some(b'<') {
            let span = self.cursor.piece();
            let message = "the operand has no width";
            let fault = Diagnostic::new(DiagnosticKind::MissingRegion, span, message);
            return Err(fault.expected("a width such as `<1>`"));
        }
        self.cursor.at += 1;
        let start = self.cursor.at;
        let range = 0..=255;
        let value = self.expression(Extent::NoComparison, "a number of elements", range)?;
        let elements = u8::try_from(value).unwrap_or(0);
        let Some(width) = operand::address_width(elements) else {
            let span = Span::between(start, self.cursor.at);
            let message = alloc::format!("no operand has {value} elements");
            let fault = Diagnostic::new(DiagnosticKind::RegionValue, span, message);
            return Err(fault.expected("1, 2, 4, 8, 16 or 32"));
        };
        self.cursor.need(b'>', "`>`")?;
        Ok(AddressOperand {
            modifier,
            address,
            offset,
            width,
        }
        .into())
    }

    /// After the name of a surface or sampler.
    pub(super) fn state(
        &mut self,
        class: StateClass,
        id: u8,
        modifier: Modifier,
    ) -> Parsed<VectorOperand> {
        self.cursor.need(b'(', "`(` and an element")?;
        let offset = self.byte("an element")?;
        self.cursor.need(b')', "`)`")?;
        Ok(StateOperand {
            modifier,
            class,
            index: id.into(),
            offset,
        }
        .into())
    }

    /// `r[A0(0),16]<8;8,1>:d`
    pub(super) fn indirect(
        &mut self,
        modifier: Modifier,
        destination: bool,
    ) -> Parsed<VectorOperand> {
        self.cursor.at += 2;
        let (word, symbol) = self.named("an address variable")?;
        let Symbol::Address(address) = symbol else {
            return self.wrong_class(word, symbol, "an address variable");
        };
        self.cursor.need(b'(', "`(` and an element")?;
        let address_offset = self.byte("an element")?;
        self.cursor.need(b')', "`)`")?;
        let mut offset = 0;
        if self.cursor.eat(b',') {
            offset = self.expression(
                Extent::Full,
                "an offset in bytes",
                operand::INDIRECT_OFFSETS,
            )?;
        }
        self.cursor.need(b']', "`]`")?;
        self.cursor.blanks();
        if self.cursor.peek() != Some(b'<') {
            let span = self.cursor.piece();
            let message = "the operand has no region";
            let fault = Diagnostic::new(DiagnosticKind::MissingRegion, span, message);
            return Err(fault.expected("a region such as `<1>`"));
        }
        let region = self.region(destination)?;
        let ty = self.data_type()?;
        Ok(IndirectOperand {
            modifier,
            address,
            address_offset,
            offset: i16::try_from(offset).unwrap_or(0),
            property: PropertyByte::from(ty),
            region,
        }
        .into())
    }

    /// `&V32`, `&V32[4]`, `&T7[1]`; texts of the printer of 2020 have `&V32+4`
    pub(super) fn address_of(&mut self) -> Parsed<VectorOperand> {
        self.cursor.need(b'&', "`&`")?;
        let (word, symbol) = self.named("a variable or surface")?;
        if let Symbol::General(variable) = symbol
            && self.cursor.peek() == Some(b'(')
        {
            // Row and column, which mean the same whatever the size of a register.
            let (row, column) = self.place()?;
            return Ok(operand::one_element(variable, row, column).into());
        }
        let mut offset = 0;
        if self.cursor.eat(b'[') {
            let range = operand::address_offsets(matches!(symbol, Symbol::General(_)));
            offset = self.expression(Extent::Full, "an offset", range)?;
            self.cursor.need(b']', "`]`")?;
        } else if self.cursor.eat(b'+') {
            let range = operand::address_offsets(matches!(symbol, Symbol::General(_)));
            offset = self.expression(Extent::Unary, "an offset", range)?;
        }
        let offset = u32::try_from(offset).unwrap_or(0);
        let state = |class, id: u8| {
            VectorOperand::State(StateOperand {
                modifier: Modifier::NONE,
                class,
                index: id.into(),
                offset: u8::try_from(offset).unwrap_or(0),
            })
        };
        match symbol {
            Symbol::Surface(SurfaceId(id)) => Ok(state(StateClass::SURFACE, id)),
            Symbol::Sampler(SamplerId(id)) => Ok(state(StateClass::SAMPLER, id)),
            Symbol::General(variable) => {
                let size = operand::element_size(&self.draft.body, self.draft.format, variable);
                if offset >= self.draft.grf_bytes {
                    self.draft.undecided_at(word.span);
                }
                let (row, bytes) = (offset / self.draft.grf_bytes, offset % self.draft.grf_bytes);
                match u8::try_from(row) {
                    Ok(row) if bytes.is_multiple_of(size) => {
                        let column = u8::try_from(bytes / size).unwrap_or(0);
                        Ok(operand::one_element(variable, row, column).into())
                    }
                    _ => {
                        let message = alloc::format!("{offset} is not the offset of an element");
                        let kind = DiagnosticKind::ImmediateRange;
                        let fault = Diagnostic::new(kind, word.span, message);
                        Err(fault.expected(alloc::format!("a multiple of {size}")))
                    }
                }
            }
            _ => self.wrong_class(word, symbol, "a general variable, a surface or a sampler"),
        }
    }

    /// A vector operand of a load/store message: a constant, or a variable without a region.
    pub(super) fn bare_vector(&mut self, name: FieldName) -> Parsed<VectorOperand> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let word = self.cursor.word();
        let word = word.filter(|w| !BUILT_IN.iter().any(|b| b.eq_ignore_ascii_case(w.name)));
        let Some(word) = word else {
            self.cursor.at = start;
            let model = self.slot(FieldName::AddrType).bits;
            let (ty, range) = operand::bare_constant(name, model);
            let value = self.expression(Extent::Full, "a variable or a number", range)?;
            return Ok(operand::bare_constant_operand(ty, value).into());
        };
        let symbol = self.draft.need(word)?;
        match symbol {
            Symbol::General(variable) => {
                let (row, column) = if self.cursor.peek() == Some(b'(') {
                    self.place()?
                } else if self.cursor.eat(b'.') {
                    (0, self.byte("a column")?)
                } else {
                    (0, 0)
                };
                Ok(operand::one_element(variable, row, column).into())
            }
            Symbol::Surface(SurfaceId(id)) => self.state(StateClass::SURFACE, id, Modifier::NONE),
            Symbol::Sampler(SamplerId(id)) => self.state(StateClass::SAMPLER, id, Modifier::NONE),
            Symbol::Address(address) => self.address(address, Modifier::NONE),
            Symbol::Predicate(_) => self.wrong_class(word, symbol, "a variable or a number"),
        }
    }

    /// A variable with row and column and no region.
    pub(super) fn no_region(&mut self, field: &FieldDef) -> Parsed<VectorOperand> {
        let mut ahead = *self.cursor;
        let word = ahead.word();
        let symbol = word.and_then(|w| self.draft.find(w.name));
        let Some(Symbol::General(variable)) = symbol else {
            return self.vector(field);
        };
        *self.cursor = ahead;
        let (row, column) = self.place()?;
        Ok(operand::all_elements(variable, row, column).into())
    }
}
