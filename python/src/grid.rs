//! The grid that a kernel runs on, as callers specify it.

use crate::run::run_error;
use pyo3::prelude::*;
use visakit::launch::{Kernel, NdRange};

/// One to three sizes.
#[derive(FromPyObject)]
pub(crate) enum Sizes {
    One(u32),
    Many(Vec<u32>),
}

impl Sizes {
    fn list(self) -> Vec<u32> {
        match self {
            Self::One(size) => vec![size],
            Self::Many(sizes) => sizes,
        }
    }
}

/// The arguments of all methods that put a kernel on a grid.
pub(crate) struct Grid {
    pub(crate) global: Sizes,
    pub(crate) local: Option<Sizes>,
    pub(crate) offset: Option<Sizes>,
}

impl Grid {
    /// The grid of a kernel. The default local size is what the kernel requires, or else one that divides the global
    /// size.
    pub(crate) fn range(self, kernel: &Kernel<'_>) -> PyResult<NdRange> {
        let global = self.global.list();
        let local = match self.local {
            Some(local) => local.list(),
            None => kernel.local_size(&global),
        };
        let offset = self.offset.map(Sizes::list).unwrap_or_default();
        NdRange::new(&global, &local, &offset).map_err(|e| run_error(&e))
    }
}
