//! Native code, which is tied to the code it was compiled from.

use super::{Arrangement, Object, Piece, RoutineId, RoutineKind};
use crate::version::Features;

impl Object<'_> {
    /// Removes the native code that an edit of this routine makes stale: that of the kernel, or
    /// that of every kernel if the routine is a function, as functions are linked into the native
    /// code of the kernels. Returns how many binaries were removed.
    pub fn discard_native(&mut self, edited: RoutineId) -> usize {
        self.discard_native_of(|kernel| {
            edited.kind == RoutineKind::Function || edited.index == kernel
        })
    }

    /// Removes the native code of the kernels with these indices. Returns how many binaries were
    /// removed.
    pub fn discard_native_of(&mut self, stale: impl Fn(usize) -> bool) -> usize {
        // 2.4 has exactly one binary for each kernel, so a placeholder has to remain.
        let may_lack = self.format().features().contains(Features::SINCE_3_0);
        let mut count = 0;
        for (index, kernel) in self.kernels.iter_mut().enumerate() {
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
        if let Arrangement::Custom(pieces) = &mut self.arrangement {
            pieces.retain(|p| !matches!(p, Piece::Binary { kernel, .. } if stale(*kernel)));
        }
        count
    }

    /// Whether a kernel carries native code.
    #[must_use]
    pub fn has_native(&self) -> bool {
        self.kernels.iter().any(super::Routine::has_native)
    }
}
