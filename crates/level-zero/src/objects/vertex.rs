//! Vertices of the fabric.

use std::sync::{Arc, Mutex, PoisonError};
use visakit_driver::device::Device;
use visakit_driver::handle::Handle;

/// The vertex of a device.
#[derive(Debug)]
pub struct Vertex {
    pub(super) handle: Handle,
    /// Its device.
    pub device: Arc<Device>,
}

impl Vertex {
    /// The one vertex of a device, which stays.
    #[must_use]
    pub fn of(device: &Arc<Device>) -> Arc<Self> {
        static ALL: Mutex<Vec<Arc<Vertex>>> = Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all
            .iter()
            .find(|vertex| Arc::ptr_eq(&vertex.device, device));
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let made = Arc::new(Self {
            handle: Handle::default(),
            device: Arc::clone(device),
        });
        all.push(Arc::clone(&made));
        made
    }
}
