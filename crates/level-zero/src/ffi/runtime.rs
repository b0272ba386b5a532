//! The functions of the runtime (`zer`), which name no driver: they are about the only one.
//!
//! Some return a value instead of a result, so that they are no entry points of [`api`]: a wrong call returns null or the
//! largest number.

use super::driver::{default_context, devices};
use super::{Handle, api, get, last_error, pointer, put};
use crate::error::{Error, Result};
use std::ffi::c_char;
use std::ptr::null_mut;
use std::sync::Arc;
use visakit_driver::device::Device;
use visakit_driver::handle::Object as _;

api! {
    fn zerGetLastErrorDescription(to: *mut *const c_char) {
        put(to, last_error())
    }
}

/// What a function finds, or what it returns where it fails.
fn found<T>(name: &str, otherwise: T, find: impl FnOnce() -> Result<T>) -> T {
    let mut found = otherwise;
    super::call(name, || {
        found = find()?;
        Ok(())
    });
    found
}

/// Functions that return a value. Each is exported under its name as well, as those of [`api`] are.
macro_rules! values {
    ($(fn $name:ident($($arg:ident: $ty:ty)?) -> $result:ty, $otherwise:expr, $body:block)*) => {$(
        #[allow(non_snake_case, unused_unsafe, clippy::missing_safety_doc, reason = "Level Zero's name")]
        pub(super) unsafe extern "C" fn $name($($arg: $ty)?) -> $result {
            // SAFETY: what the specification requires of the caller; see the module above.
            found(stringify!($name), $otherwise, || unsafe { $body })
        }

        const _: () = {
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::missing_safety_doc, reason = "Level Zero's name")]
            unsafe extern "C" fn $name($($arg: $ty)?) -> $result {
                // SAFETY: the caller's promise.
                unsafe { self::$name($($arg)?) }
            }
        };
    )*};
}

values! {
    // The place of a device among those that the host is shown.
    fn zerTranslateDeviceHandleToIdentifier(device: Handle) -> u32, u32::MAX, {
        let device = get::<Device>(device)?;
        let place = devices().iter().position(|shown| Arc::ptr_eq(shown, &device));
        let place = place.and_then(|place| u32::try_from(place).ok());
        place.ok_or(Error::INVALID_ARGUMENT)
    }

    fn zerTranslateIdentifierToDeviceHandle(identifier: u32) -> Handle, null_mut(), {
        let shown = devices();
        let place = usize::try_from(identifier).ok();
        let device = place.and_then(|place| shown.get(place)).ok_or(Error::INVALID_ARGUMENT)?;
        Ok(pointer(device.handle().get()))
    }

    fn zerGetDefaultContext() -> Handle, null_mut(), {
        default_context()
    }
}
