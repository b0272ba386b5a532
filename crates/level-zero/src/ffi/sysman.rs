//! The management of systems (`zes`): what the devices are, and how much of their memory is free. There are no sensors, engines,
//! fans and so on to ask for, and the rest is not supported.
//!
//! Drivers and devices have the handles that they have otherwise; the only memory of a device has that of the device.

use super::device::describe;
use super::driver::devices;
use super::types::{
    DeviceState, ExtendedProperties, Extension, MemoryModule, MemoryState, Pci, PciState, Speed,
    SystemProperties, Text, Uuid, text_of,
};
use super::{Handle, api, chain, change, driver, enumerate, get, pointer, put, take, text};
use crate::error::{Error, Result};
use opencl_sys as cl;
use std::ffi::c_char;
use std::sync::Arc;
use visakit_driver::context::allocated;
use visakit_driver::device::{Device, Platform, memory};
use visakit_driver::handle::Object;

/// `ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES`
const EXTENDED: u32 = 0x2d;
/// `ZES_DEVICE_TYPE_GPU`
const GPU: u32 = 1;
/// `ZES_DEVICE_PROPERTY_FLAG_INTEGRATED`
const INTEGRATED: u32 = 1;
/// `ZES_MEM_TYPE_DDR`
const DDR: u32 = 1;
/// `ZES_MEM_HEALTH_OK` and `ZES_PCI_LINK_STATUS_GOOD`
const GOOD: u32 = 1;
/// Neither generation nor width nor bandwidth of a link is known.
const UNKNOWN: Speed = Speed {
    generation: -1,
    width: -1,
    bandwidth: -1,
};

fn uuid(device: &Device) -> Result<[u8; 16]> {
    let bytes = device.info(cl::CL_DEVICE_UUID_KHR)?;
    Ok(bytes.first_chunk().copied().unwrap_or_default())
}

/// Lists that are empty.
macro_rules! none {
    ($($name:ident)*) => {
        api! {$(
            fn $name(device: Handle, count: *mut u32, to: *mut Handle) {
                get::<Device>(device)?;
                enumerate(count, to, std::iter::empty())
            }
        )*}
    };
}

none! {
    zesDeviceProcessesGetState zesDevicePciGetBars zesDeviceEnumDiagnosticTestSuites zesDeviceEnumEngineGroups
    zesDeviceEnumFabricPorts zesDeviceEnumFans zesDeviceEnumFirmwares zesDeviceEnumFrequencyDomains
    zesDeviceEnumLeds zesDeviceEnumPerformanceFactorDomains zesDeviceEnumPowerDomains zesDeviceEnumPsus
    zesDeviceEnumRasErrorSets zesDeviceEnumSchedulers zesDeviceEnumStandbyDomains
    zesDeviceEnumTemperatureSensors zesDeviceEnumOverclockDomains
}

api! {
    fn zesInit(flags: u32) {
        // As Intel's driver: monitors give what `zeInit` takes.
        driver::initialized(flags & !driver::GPU == 0)
    }

    fn zesDriverGet(count: *mut u32, to: *mut Handle) {
        enumerate(count, to, driver::drivers())
    }

    fn zesDriverGetExtensionProperties(driver: Handle, count: *mut u32, to: *mut Extension) {
        get::<Platform>(driver)?;
        enumerate(count, to, std::iter::empty())
    }

    fn zesDriverGetExtensionFunctionAddress(driver: Handle, wanted: *const c_char, to: *mut *const ()) {
        get::<Platform>(driver)?;
        let found = super::table::by_name(&text(wanted)?);
        put(to, found.ok_or(Error::INVALID_ARGUMENT)?)
    }

    fn zesDriverGetDeviceByUuidExp(
        driver: Handle, wanted: Uuid, to: *mut Handle, is_part: *mut u8, part: *mut u32,
    ) {
        get::<Platform>(driver)?;
        let found = devices().into_iter().find(|device| uuid(device) == Ok(wanted.id));
        let found: Arc<Device> = found.ok_or(Error::INVALID_ARGUMENT)?;
        put(to, pointer(found.handle().get()))?;
        put(is_part, 0)?;
        put(part, 0)
    }

    fn zesDeviceGet(driver: Handle, count: *mut u32, to: *mut Handle) {
        get::<Platform>(driver)?;
        enumerate(count, to, devices().iter().map(|d| pointer(d.handle().get())))
    }

    fn zesDeviceGetProperties(device: Handle, to: *mut SystemProperties) {
        let device = get::<Device>(device)?;
        let uuid = uuid(&device)?;
        let unknown: Text = text_of("unknown");
        change(to, |properties| {
            describe(&device, &uuid, &mut properties.core);
            properties.parts = 0;
            (properties.serial, properties.board) = (unknown, unknown);
            properties.brand = text_of("visakit");
            properties.model = text_of(device.model.title);
            properties.vendor = text_of("Intel(R) Corporation");
            properties.driver = text_of(env!("CARGO_PKG_VERSION"));
        })?;
        for (_, place) in chain(take(to)?.next).into_iter().filter(|(kind, _)| *kind == EXTENDED) {
            change(place.cast::<ExtendedProperties>(), |p| {
                let flags = if device.model.is_discrete() { 0 } else { INTEGRATED };
                (p.uuid, p.kind, p.flags) = (uuid, GPU, flags);
            })?;
        }
        Ok(())
    }

    fn zesDeviceGetState(device: Handle, to: *mut DeviceState) {
        get::<Device>(device)?;
        change(to, |state| (state.reset, state.repaired) = (0, 0))
    }

    fn zesDevicePciGetProperties(device: Handle, to: *mut Pci) {
        let device = get::<Device>(device)?;
        change(to, |properties| {
            properties.address = device.model.bus();
            properties.speed = UNKNOWN;
            properties.counters = [0; 3];
        })
    }

    fn zesDevicePciGetState(device: Handle, to: *mut PciState) {
        get::<Device>(device)?;
        change(to, |state| {
            (state.status, state.issues) = (GOOD, [0; 2]);
            state.speed = UNKNOWN;
        })
    }

    fn zesDeviceEnumMemoryModules(device: Handle, count: *mut u32, to: *mut Handle) {
        get::<Device>(device)?;
        enumerate(count, to, std::iter::once(device))
    }

    fn zesMemoryGetProperties(module: Handle, to: *mut MemoryModule) {
        let device = get::<Device>(module)?;
        change(to, |properties| {
            (properties.kind, properties.is_part, properties.part) = (DDR, 0, 0);
            properties.is_on_device = device.model.is_discrete().into();
            properties.bytes = memory();
            (properties.width, properties.channels) = (64, 1);
        })
    }

    fn zesMemoryGetState(module: Handle, to: *mut MemoryState) {
        get::<Device>(module)?;
        change(to, |state| {
            state.health = GOOD;
            state.size = memory();
            state.free = memory().saturating_sub(allocated());
        })
    }

    fn zesDeviceEccAvailable(device: Handle, to: *mut u8) {
        get::<Device>(device)?;
        put(to, 0)
    }

    fn zesDeviceEccConfigurable(device: Handle, to: *mut u8) {
        get::<Device>(device)?;
        put(to, 0)
    }
}
