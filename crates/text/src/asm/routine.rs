//! A routine under construction: its names, its strings and its labels.

use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span, closest};
use super::pool::StatedPool;
use crate::language::operand::{self, Paired};
use crate::language::pool;
use crate::language::symbol::{Symbol, predefined};
use crate::lexer::{Word, shown};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;
use hashbrown::HashMap;
use visakit_isa::object::{Body, Label, LabelKind, Routine, RoutineKind};
use visakit_isa::{AddressId, DataType, Format, LabelId, VarId};

#[derive(Clone, Copy, Debug)]
struct Named {
    symbol: Symbol,
    span: Span,
    /// The number of scopes around the declaration, or [`UNDECLARED`].
    depth: usize,
}

/// Replaces the depth for a predefined name, recorded once it has been used.
const UNDECLARED: usize = usize::MAX;

/// A routine under construction.
#[derive(Debug)]
pub(super) struct Draft<'t> {
    pub(super) kind: RoutineKind,
    pub(super) name: Cow<'t, [u8]>,
    pub(super) body: Body<'t>,
    pub(super) format: Format,
    pub(super) grf_bytes: u32,
    /// The size of a register is assumed, not stated.
    pub(super) grf_assumed: bool,
    /// The first place whose meaning would differ if registers are larger than assumed.
    pub(super) undecided: Cell<Option<Span>>,
    pub(super) paired: Paired,
    /// The value of `.kernel_attr SimdSize`.
    pub(super) simd: Option<i64>,
    names: HashMap<&'t [u8], Named>,
    /// The names hidden by the open scopes.
    hidden: Vec<(&'t [u8], Option<Named>)>,
    /// How many names were hidden when each open scope began.
    scopes: Vec<usize>,
    /// Everything the routine has besides its body.
    pub(super) shell: Routine<'t>,
    /// The string pool that the text states.
    pub(super) pool: Option<StatedPool<'t>>,
    /// The code of the mask M1: versions up to 3.0 have two.
    pub(super) m1_code: u8,
    /// What the text says about the routine its native code was compiled from.
    pub(super) compiled: Option<Compiled>,
    /// Intel's assembler would add a target, which is not wanted here.
    pub(super) no_target: bool,
    declared: BTreeMap<Cow<'t, [u8]>, LabelId>,
    blocks: BTreeMap<Cow<'t, [u8]>, LabelId>,
    subroutines: BTreeMap<Cow<'t, [u8]>, LabelId>,
    uses: Vec<LabelUse>,
    /// How many names may still be compared for a suggestion.
    pub(super) suggestions: u32,
}

/// `//@ compiled 0x1234`: the checksum of the routine that native code was compiled from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compiled {
    pub(super) span: Span,
    /// It differs from the checksum of the routine as it is now.
    pub(super) differs: bool,
}

#[derive(Clone, Copy, Debug)]
struct LabelUse {
    first: Span,
    placed: Option<Span>,
    subroutine: bool,
    /// The text states that it is not placed anywhere.
    unplaced: bool,
}

impl<'t> Draft<'t> {
    pub(super) fn new(
        kind: RoutineKind,
        name: Cow<'t, [u8]>,
        format: Format,
        grf_bytes: u32,
        paired: Paired,
    ) -> Self {
        let mut draft = Self {
            kind,
            name: name.clone(),
            body: Body::default(),
            format,
            grf_bytes,
            grf_assumed: false,
            undecided: Cell::new(None),
            paired,
            simd: None,
            names: HashMap::new(),
            hidden: Vec::new(),
            scopes: Vec::new(),
            shell: Routine::default(),
            pool: None,
            m1_code: 0,
            compiled: None,
            no_target: false,
            declared: BTreeMap::new(),
            blocks: BTreeMap::new(),
            subroutines: BTreeMap::new(),
            uses: Vec::new(),
            suggestions: 20,
        };
        for text in pool::initial(name, format) {
            draft.string(text);
        }
        draft
    }

    /// An empty draft of the same format.
    pub(super) fn emptied(&self) -> Self {
        Self::new(
            self.kind,
            Cow::Borrowed(b""),
            self.format,
            self.grf_bytes,
            self.paired,
        )
    }

    /// Begins a scope.
    pub(super) fn open_scope(&mut self) {
        self.scopes.push(self.hidden.len());
    }

    /// Ends a scope; false where none is open.
    pub(super) fn close_scope(&mut self) -> bool {
        let Some(start) = self.scopes.pop() else {
            return false;
        };
        while self.hidden.len() > start {
            if let Some((name, before)) = self.hidden.pop() {
                match before {
                    Some(named) => self.names.insert(name, named),
                    None => self.names.remove(name),
                };
            }
        }
        true
    }

    /// Whether scopes are still open.
    pub(super) const fn in_scope(&self) -> bool {
        !self.scopes.is_empty()
    }

    /// Gives a name a meaning; an error if it already has one in this scope.
    pub(super) fn declare(&mut self, word: Word<'t>, symbol: Symbol) -> Parsed<()> {
        let depth = self.scopes.len();
        let named = Named {
            symbol,
            span: word.span,
            depth,
        };
        let before = self.names.insert(word.name, named);
        if let Some(before) = before
            && before.depth == depth
        {
            let message = alloc::format!("`{}` is declared twice", shown(word.name));
            let fault = Diagnostic::new(DiagnosticKind::DuplicateDeclaration, word.span, message);
            return Err(fault.related(before.span, "first declared here"));
        }
        if depth > 0 {
            self.hidden.push((word.name, before));
        }
        Ok(())
    }

    /// The meaning of a name.
    #[inline]
    pub(super) fn find(&mut self, name: &'t [u8]) -> Option<Symbol> {
        match self.names.get(name) {
            Some(named) => Some(named.symbol),
            None => self.find_undeclared(name),
        }
    }

    fn find_undeclared(&mut self, name: &'t [u8]) -> Option<Symbol> {
        let symbol = predefined(name, self.format)?;
        let named = Named {
            symbol,
            span: Span { start: 0, len: 0 },
            depth: UNDECLARED,
        };
        self.names.insert(name, named);
        Some(symbol)
    }

    /// The meaning of a name; an error with a suggestion if it is not declared.
    #[inline]
    pub(super) fn need(&mut self, word: Word<'t>) -> Parsed<Symbol> {
        match self.find(word.name) {
            Some(symbol) => Ok(symbol),
            None => Err(self.undeclared(word)),
        }
    }

    #[cold]
    fn undeclared(&mut self, word: Word<'t>) -> Fault {
        let message = alloc::format!("`{}` is not declared", shown(word.name));
        let fault = Diagnostic::new(DiagnosticKind::Undeclared, word.span, message);
        if self.suggestions == 0 {
            return fault;
        }
        self.suggestions -= 1;
        let declared = self.names.iter().filter(|(_, n)| n.depth != UNDECLARED);
        let declared = declared.map(|(name, _)| *name);
        // In the pool they keep their percent sign, and come first.
        let predefined = self.body.strings.iter().map(AsRef::as_ref).take(32);
        let predefined = predefined.filter(|s: &&[u8]| s.starts_with(b"%"));
        match closest(word.name, declared.chain(predefined)) {
            Some(name) => fault.hint(alloc::format!("did you mean `{}`?", shown(name))),
            None => fault,
        }
    }

    /// Type and size in bytes of a general variable.
    pub(super) fn general(&self, id: VarId) -> Option<(DataType, u32)> {
        operand::variable(&self.body, self.format, id)
    }

    /// Notes a place whose meaning depends on the size of a register, unless that size is known.
    pub(super) fn undecided_at(&self, span: Span) {
        if self.grf_assumed && self.undecided.get().is_none() {
            self.undecided.set(Some(span));
        }
    }

    /// The value of `%DispatchSimd` or `%sizeof`; its name is at `span`.
    pub(super) fn size_of(&self, name: &[u8], span: Span) -> Option<i64> {
        if name == b"%DispatchSimd" {
            return self.simd;
        }
        let named = self.names.get(name).map(|n| n.symbol);
        match named.or_else(|| predefined(name, self.format)) {
            Some(Symbol::General(id)) => self.general(id).map(|(_, size)| size.into()),
            Some(Symbol::Address(AddressId(id))) => {
                let declaration = self.body.addresses.get(usize::from(id))?;
                Some(i64::from(declaration.elements) * 2)
            }
            None if name == b"GRF" => {
                self.undecided_at(span);
                Some(self.grf_bytes.into())
            }
            _ => None,
        }
    }

    /// The label of that name, created if there is none.
    pub(super) fn label(
        &mut self,
        name: Cow<'t, [u8]>,
        kind: LabelKind,
        span: Span,
    ) -> Parsed<LabelId> {
        if let Some(id) = self.declared.get(&name) {
            return Ok(*id);
        }
        let block = kind == LabelKind::BLOCK;
        let known = if block {
            &self.blocks
        } else {
            &self.subroutines
        };
        if let Some(id) = known.get(&name) {
            return Ok(*id);
        }
        let id = self.new_label(name.clone(), kind, span)?;
        let known = if block {
            &mut self.blocks
        } else {
            &mut self.subroutines
        };
        known.insert(name, id);
        Ok(id)
    }

    /// Declares a label before its use.
    pub(super) fn declare_label(
        &mut self,
        name: Cow<'t, [u8]>,
        kind: LabelKind,
        unplaced: bool,
        span: Span,
    ) -> Parsed<LabelId> {
        let before = [&self.declared, &self.blocks, &self.subroutines];
        if let Some(before) = before.into_iter().find_map(|known| known.get(&name)) {
            let message = alloc::format!("label `{}` is declared twice", shown(&name));
            let fault = Diagnostic::new(DiagnosticKind::DuplicateDeclaration, span, message);
            let first = self.uses.get(usize::from(before.0)).map(|u| u.first);
            return Err(fault.related(first.unwrap_or_default(), "first declared here"));
        }
        let id = self.new_label(name.clone(), kind, span)?;
        if let Some(entry) = self.uses.get_mut(usize::from(id.0)) {
            entry.unplaced = unplaced;
        }
        self.declared.insert(name, id);
        Ok(id)
    }

    /// A label that was declared.
    pub(super) fn declared_label(&self, name: &[u8]) -> Option<LabelId> {
        self.declared.get(name).copied()
    }

    fn new_label(&mut self, name: Cow<'t, [u8]>, kind: LabelKind, span: Span) -> Parsed<LabelId> {
        let Ok(id) = u16::try_from(self.body.labels.len()) else {
            let message = "the routine has more than 65536 labels";
            return Err(Diagnostic::new(DiagnosticKind::NotEncodable, span, message));
        };
        let string = self.string(name);
        self.body.labels.push(Label {
            name: string,
            kind,
            attributes: Vec::new(),
        });
        self.uses.push(LabelUse {
            first: span,
            placed: None,
            subroutine: kind != LabelKind::BLOCK,
            unplaced: false,
        });
        Ok(LabelId(id))
    }

    /// Whether a subroutine of that name is known, placed or not.
    pub(super) fn subroutine(&self, name: &[u8]) -> Option<LabelId> {
        let declared = self.declared.get(name);
        declared.or_else(|| self.subroutines.get(name)).copied()
    }

    /// Notes where a label is placed; an error if it already is.
    pub(super) fn place(&mut self, id: LabelId, span: Span) -> Parsed<()> {
        let Some(entry) = self.uses.get_mut(usize::from(id.0)) else {
            return Ok(());
        };
        let Some(first) = entry.placed else {
            entry.placed = Some(span);
            return Ok(());
        };
        let message = "the label is placed twice";
        let fault = Diagnostic::new(DiagnosticKind::DuplicateLabel, span, message);
        Err(fault.related(first, "first placed here"))
    }

    /// A fault for each label that is used but not placed.
    pub(super) fn missing_labels(&mut self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (used, label) in self.uses.iter().zip(&self.body.labels) {
            if used.placed.is_some() || used.unplaced {
                continue;
            }
            let name = self.body.string(label.name).unwrap_or_default();
            let message = alloc::format!("label `{}` is never placed", shown(name));
            let fault = Diagnostic::new(DiagnosticKind::MissingLabel, used.first, message);
            let expected = if used.subroutine {
                alloc::format!("a line `.function \"{}\"`", shown(name))
            } else {
                alloc::format!("a line `{}:`", shown(name))
            };
            let mut fault = fault.expected(expected);
            let others = if used.subroutine {
                &self.subroutines
            } else {
                &self.blocks
            };
            let placed = |id: &LabelId| {
                let entry = self.uses.get(usize::from(id.0));
                entry.is_some_and(|u| u.placed.is_some())
            };
            if self.suggestions > 0 {
                self.suggestions -= 1;
                let others = others.iter().filter(|(_, id)| placed(id));
                if let Some(other) = closest(name, others.map(|(n, _)| n.as_ref())) {
                    fault = fault.hint(alloc::format!("did you mean `{}`?", shown(other)));
                }
            }
            faults.push(fault);
        }
        faults
    }
}
