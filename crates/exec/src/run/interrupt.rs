//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A flag that any thread may raise to stop the groups that run with it; clones are the same flag.
///
/// A group checks it every few ten thousand steps, and after each step that may take long. It then
/// is between two steps and can continue ([`crate::Group::advance`]).
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops everything that runs with it, and everything started with it from now on.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }

    /// Allows runs again.
    pub fn lower(&self) {
        self.0.store(false, Relaxed);
    }

    /// Whether it is raised.
    #[inline]
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}
