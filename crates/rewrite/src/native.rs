//! Native code, which belongs to the code that it was compiled from.
//!
//! A kernel may carry what a compiler has made of it for some platforms, and a driver starts that
//! without a look at the instructions. So an edit of the instructions, or of what a kernel is
//! started with, has to take the native code away, or the edit would do nothing. Functions are
//! linked into the native code of the kernels.
//!
//! What does not change the meaning keeps native code: names, source lines, declarations that
//! nothing uses, the version of the layout, other routines in the same object.

use visakit_isa::object::{Content, Object, Routine, RoutineId, RoutineKind};

/// Routines as they were when the native code was known to belong to them.
pub(crate) struct Compiled<'a>(Vec<(RoutineId, Content<'a>)>);

impl<'a> Compiled<'a> {
    /// The kernels with native code, and the functions if there are such kernels.
    pub(crate) fn of(object: &Object<'a>) -> Self {
        if !object.has_native() {
            return Self(Vec::new());
        }
        let matter = |(id, r): &(RoutineId, &Routine<'a>)| {
            id.kind == RoutineKind::Function || r.has_native()
        };
        let routines = object.routines().filter(matter);
        Self(routines.map(|(id, r)| (id, r.content.clone())).collect())
    }

    /// Takes away the native code of what is different now.
    pub(crate) fn discard_stale(self, object: &mut Object<'a>) {
        for (id, before) in self.0 {
            if object.routine(id).is_none_or(|r| r.content != before) {
                object.discard_native(id);
            }
        }
    }
}
