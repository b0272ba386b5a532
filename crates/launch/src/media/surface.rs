//! Surfaces of media kernels, and the results of a run.

use crate::end::End;
use visakit_exec::Counters;
use visakit_exec::code::StepCounts;
use web_time::Duration;

/// A surface that a media kernel works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaSurface {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its shape; none for a linear buffer.
    pub shape: Option<SurfaceShape>,
}

/// Shape of a 2D surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceShape {
    /// Bytes of a row that belong to the surface.
    pub width: u32,
    /// Rows. A surface with more bytes has the rows of its second plane (as NV12 has) after them.
    pub height: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
}

/// The destination of a surface or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The input of that number.
    Input(usize),
    /// That entry of the binding table, for kernels that name it themselves.
    Entry(u8),
}

/// The result of a media run.
#[derive(Clone, Debug, Default)]
pub struct MediaOutcome {
    /// The counters of all threads together.
    pub counters: Counters,
    /// Groups that ran to their ends.
    pub groups: u64,
    /// Threads that ran to their ends.
    pub threads: u64,
    /// The counts of each step, if the program counts.
    pub counts: Option<Vec<StepCounts>>,
    /// How the run ended.
    pub end: End,
    /// Whether machine code was made of the program.
    pub compiled: bool,
    /// Time to run.
    pub time: Duration,
    pub(super) surfaces: Vec<(Target, Vec<u8>)>,
}

impl MediaOutcome {
    /// Content of a surface.
    #[must_use]
    pub fn surface(&self, target: Target) -> Option<&[u8]> {
        let found = self.surfaces.iter().find(|s| s.0 == target);
        found.map(|s| s.1.as_slice())
    }

    /// All surfaces, in the order that they were given.
    pub fn surfaces(&self) -> impl Iterator<Item = (Target, &[u8])> {
        self.surfaces
            .iter()
            .map(|(target, bytes)| (*target, bytes.as_slice()))
    }
}
