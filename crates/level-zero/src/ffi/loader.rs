//! What programs with the loader inside ask the loader's library for.
//!
//! The runtime of SYCL has Level Zero's static loader, which opens `libze_loader.so.1` in the folder `ZEL_LIBRARY_PATH` and
//! takes all functions from there by their names. This library is enough for it, under that name: with one driver there
//! is nothing to choose, and handles are the driver's own. Layers for tracing and validation are the loader's. The library
//! has that name inside as well (`build.rs`), by which UMF, the runtime's allocator, looks for a loader that is loaded.

use super::{Handle, api, put, take};
use crate::error::{Error, Result};
use std::ffi::c_void;

/// The version of the specification whose tables are here, and the release of the loader that has the same.
const SPECIFICATION: u32 = 1 << 16 | 17;
const RELEASE: [i32; 3] = [1, 32, 0];

/// `zel_component_version_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Component {
    name: [u8; 64],
    specification: u32,
    release: [i32; 3],
}

fn loader() -> Component {
    let mut name = [0; 64];
    for (to, from) in name.iter_mut().zip(b"loader") {
        *to = *from;
    }
    Component {
        name,
        specification: SPECIFICATION,
        release: RELEASE,
    }
}

/// `zeLoaderGetTracingHandle`: there is no library for tracing.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "Level Zero's name")]
extern "C" fn zeLoaderGetTracingHandle() -> *mut c_void {
    std::ptr::null_mut()
}

api! {
    fn zeLoaderInit() {
        Ok(())
    }

    // Loaders of 2025 ask whether a driver is usable, with other arguments in each release: newer ones do not.
    fn zelLoaderDriverCheck() {
        Ok(())
    }

    fn zelLoaderGetVersion(to: *mut Component) {
        put(to, loader())
    }

    fn zelLoaderGetVersionsInternal(count: *mut usize, to: *mut Component) {
        let room = take(count)?;
        put(count, 1)?;
        if to.is_null() || room == 0 {
            return Ok(());
        }
        put(to, loader())
    }

    fn zelLoaderTranslateHandleInternal(_kind: u32, handle: Handle, to: *mut Handle) {
        put(to, handle)
    }

    // The table of the layer for tracing stays empty.
    fn zelGetTracerApiProcAddrTable(_version: u32, _to: *mut c_void) {
        Ok(())
    }

    fn zelGetTracingLayerState(to: *mut bool) {
        put(to, false)
    }

    fn zelEnableTracingLayer() {
        no_tracing()
    }

    fn zelDisableTracingLayer() {
        no_tracing()
    }
}

fn no_tracing() -> Result<()> {
    Err(Error::UNSUPPORTED_FEATURE)
}
