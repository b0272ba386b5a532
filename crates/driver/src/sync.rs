//! What threads of the driver wait for each other with: std's, or shuttle's, which tries their orders.
//!
//! Built with `--cfg visakit_shuttle`, streams, signals and their threads run in tests (`stream/orders.rs`) with every
//! change of threads that shuttle chooses. Time does not pass there: waits do not end by their limits.

#[cfg(visakit_shuttle)]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, atomic::AtomicUsize},
    thread::Builder,
};
#[cfg(not(visakit_shuttle))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, atomic::AtomicUsize},
    thread::Builder,
};

use std::sync::PoisonError;

/// [`crate::context::lock`] of these.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
