//! Native code, which belongs to the code that it was compiled from.
//!
//! A kernel may carry native code compiled for some platforms, and a driver starts that without
//! looking at the instructions. So an edit of the instructions, or of a kernel's inputs, has to
//! remove the native code, or the edit would have no effect. Functions are linked into the native
//! code of the kernels.
//!
//! Changes that preserve the meaning keep native code: names, source lines, unused declarations,
//! the version of the layout, other routines in the same object.

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

    /// Removes the native code of everything that has changed.
    pub(crate) fn discard_stale(self, object: &mut Object<'a>) {
        for (id, before) in self.0 {
            if object.routine(id).is_none_or(|r| r.content != before) {
                object.discard_native(id);
            }
        }
    }
}
