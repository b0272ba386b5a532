//! Native code, which belongs to the code that it was compiled from.
//!
//! A kernel may carry what a compiler has made of it for some platforms, and a driver starts that
//! without a look at the instructions. So an edit of the instructions, or of what a kernel is
//! started with, has to take the native code away, or the edit would do nothing. Functions are
//! linked into the native code of the kernels.
//!
//! What does not change the meaning keeps native code: names, source lines, declarations that
//! nothing uses, the version of the layout, other routines in the same object.

use visakit_isa::Features;
use visakit_isa::object::{
    Arrangement, Content, NativeCode, Object, Piece, Routine, RoutineId, RoutineKind,
};

/// Takes away the native code that an edit of this routine makes stale: that of the kernel, or of
/// every kernel if the routine is a function. Gives how many binaries went.
///
/// [`Editor`](crate::Editor) and [`Rewriter::object`](crate::rewrite::Rewriter::object) do so by
/// themselves. This is for those who change a body directly.
pub fn discard_native(object: &mut Object<'_>, edited: RoutineId) -> usize {
    discard(object, |kernel| {
        edited.kind == RoutineKind::Function || edited.index == kernel
    })
}

/// Takes away the native code of some kernels.
pub(crate) fn discard(object: &mut Object<'_>, stale: impl Fn(usize) -> bool) -> usize {
    // 2.4 has exactly one binary for each kernel; a place that holds none is the least.
    let may_lack = object.format().features().contains(Features::SINCE_3_0);
    let mut count = 0;
    for (index, kernel) in object.kernels.iter_mut().enumerate() {
        if !stale(index) {
            continue;
        }
        count += kernel.binaries.len();
        if may_lack {
            kernel.binaries.clear();
        } else {
            kernel.binaries.fill_with(Default::default);
        }
    }
    if let Arrangement::Custom(pieces) = &mut object.arrangement {
        pieces.retain(|p| !matches!(p, Piece::Binary { kernel, .. } if stale(*kernel)));
    }
    count
}

/// Routines as they were when the native code was known to belong to them.
pub(crate) struct Compiled<'a>(Vec<(RoutineId, Content<'a>)>);

impl<'a> Compiled<'a> {
    /// The kernels with native code, and the functions if there are such kernels.
    pub(crate) fn of(object: &Object<'a>) -> Self {
        let has_code = |routine: &Routine<'_>| {
            let mut codes = routine.binaries.iter().map(|binary| &binary.code);
            codes.any(|code| matches!(code, NativeCode::Bytes(_)))
        };
        if !object.kernels.iter().any(has_code) {
            return Self(Vec::new());
        }
        let matter =
            |(id, r): &(RoutineId, &Routine<'a>)| id.kind == RoutineKind::Function || has_code(r);
        let routines = object.routines().filter(matter);
        Self(routines.map(|(id, r)| (id, r.content.clone())).collect())
    }

    /// Takes away the native code of what is different now.
    pub(crate) fn discard_stale(self, object: &mut Object<'a>) {
        for (id, before) in self.0 {
            if object.routine(id).is_none_or(|r| r.content != before) {
                discard_native(object, id);
            }
        }
    }
}
