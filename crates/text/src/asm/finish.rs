//! Finishing a routine.

use super::diagnostic::{Diagnostic, DiagnosticKind, Span};
use super::routine::Draft;
use super::{Assembler, Blob, TARGET_3D};
use alloc::vec::Vec;
use visakit_isa::object::{Attribute, Content, NativeBinary, RoutineId, RoutineKind};
use visakit_isa::wire::Width;

impl<'t> Assembler<'t> {
    /// Gives a routine without a target that of a routine before it: of the last function, or else
    /// of the last kernel.
    fn target(&mut self, draft: &mut Draft<'t>) {
        if !draft.no_target && draft.body.attribute("Target").is_none() {
            let [kernels, functions] = self.targets;
            let target = functions.or(kernels).unwrap_or(TARGET_3D);
            let name = draft.string(crate::language::attribute::TARGET.into());
            draft.body.attributes.push(Attribute {
                name,
                value: Vec::from([target]).into(),
            });
        }
        let own = draft.body.attribute("Target");
        if let Some(target) = own.and_then(|a| a.value.first().copied()) {
            let [kernels, functions] = &mut self.targets;
            match draft.kind {
                RoutineKind::Kernel => *kernels = Some(target),
                RoutineKind::Function => *functions = Some(target),
            }
        }
    }

    /// Reports counts that no object can hold.
    fn limits(&mut self, draft: &Draft<'t>) {
        let body = &draft.body;
        let span = self.here.routine;
        let not_encodable = |message| Diagnostic::new(DiagnosticKind::NotEncodable, span, message);
        if !draft.format.wide_indices() && body.strings.len() > 0x1_0000 {
            let fault = not_encodable("more than 65536 strings, names among them");
            self.fault(fault.hint("versions since 3.4 have room for more"));
        }
        if body.attributes.len() > 0xffff {
            self.fault(not_encodable("more than 65535 attributes"));
        }
    }

    /// Drops native code that no longer belongs to its routine.
    pub(super) fn discard_stale_native(&mut self) {
        for (edited, span) in core::mem::take(&mut self.edited) {
            if self.object.discard_native(edited) > 0 {
                let message =
                    "the native code is left out: the routine was changed after it was compiled";
                let warning = Diagnostic::new(DiagnosticKind::StaleNative, span, message);
                self.warning(warning.hint("without this line it is kept"));
            }
        }
    }

    /// Puts the routine that is under construction into the object.
    pub(super) fn finish_routine(&mut self) {
        let Some(mut draft) = self.draft.take() else {
            return;
        };
        self.undecided = self.undecided.or(draft.undecided.get());
        for fault in draft.missing_labels() {
            self.fault(fault);
        }
        if draft.in_scope() {
            let span = Span {
                start: self.cursor.at,
                len: 0,
            };
            let message = "a scope is open at the end of the routine";
            let fault = Diagnostic::new(DiagnosticKind::Misplaced, span, message);
            self.fault(fault.expected("`}`"));
        }
        self.target(&mut draft);
        draft.drop_unused_strings();
        draft.put_narrow_strings_first();
        self.limits(&draft);
        let mut routine = draft.shell;
        routine.name = draft.name;
        if draft.kind == RoutineKind::Kernel
            && routine.binaries.is_empty()
            && Width::BinaryCount.bytes(draft.format) == 0
        {
            // Formats that do not count native binaries have one for each kernel.
            routine.binaries.push(NativeBinary::default());
        }
        if let Content::Body(body) = &mut routine.content {
            *body = draft.body;
        }
        self.blob = Blob::None;
        let places = core::mem::take(&mut self.here);
        if let Some(compiled) = draft.compiled.filter(|c| c.differs) {
            let index = match draft.kind {
                RoutineKind::Kernel => self.object.kernels.len(),
                RoutineKind::Function => self.object.functions.len(),
            };
            let id = RoutineId::new(draft.kind, index);
            self.edited.push((id, compiled.span));
        }
        match draft.kind {
            RoutineKind::Kernel => {
                self.object.kernels.push(routine);
                self.source_map.kernels.push(places);
            }
            RoutineKind::Function => {
                self.object.functions.push(routine);
                self.source_map.functions.push(places);
            }
        }
    }
}
