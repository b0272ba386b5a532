//! Devices.

use super::driver::{devices, lends};
use super::mutable::CHANGES;
use super::types::{
    AccessProperties, CacheProperties, ComputeProperties, DeviceProperties, ExternalProperties,
    Flags, FloatAtomics, ImageLimits, Large, MemoryProperties, ModuleProperties, MutableProperties,
    Number, PciProperties, QueueGroup, VectorWidths, text_of,
};
use super::{Handle, api, chain, change, enumerate, enumerate_with, get, pointer, put, take};
use crate::error::{Error, Result, ensure, waited};
use opencl_sys as cl;
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::device::{Device, Platform, memory};
use visakit_driver::event::now;
use visakit_driver::handle::Object;
use visakit_driver::stream::wait_for_device;

// Kinds of structures in chains.
const EU_COUNT: u32 = 0x1_0005;
const FLOAT_ATOMICS: u32 = 0x1_0003;
const IP_VERSION: u32 = 0x1_000f;
const USABLE_MEMORY: u32 = 0x2_0041;
const CACHE_LINE: u32 = 0x2_0028;
const MUTABLE_PROPERTIES: u32 = 0x2_0015;
/// `ze_device_properties_t` with a resolution in cycles per second.
const PROPERTIES_1_2: u32 = 0x2_0006;

/// Nanoseconds in 2^56 of them: clocks do not wrap.
const CLOCK_BITS: u32 = 56;

/// `ZE_MEMORY_ACCESS_CAP_FLAG_…`: reads and writes, atomics, both at once with the host.
const ALL_ACCESS: u32 = 0xf;

/// `ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE`.
pub(super) const COMPUTES: u32 = 1;

/// The groups of queues: their flags, and how many queues each has. The queues of the first compute, copy, and have
/// cooperative launches; that of the second one copies only.
pub(super) const QUEUE_GROUPS: [(u32, u32); 2] = [(COMPUTES | 2 | 4, 4), (2, 1)];

/// Longest pattern of fills.
pub(super) const PATTERN: usize = 128;

/// An answer of the model that is a list of 32-bit numbers, or the low halves of one number.
fn number(device: &Device, query: u32) -> Result<u32> {
    let bytes = device.info(query)?;
    let first = bytes.first_chunk::<4>().copied().unwrap_or_default();
    Ok(u32::from_le_bytes(first))
}

fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn ip(device: &Device) -> u32 {
    let (architecture, release, revision) = device.model.ip;
    architecture << 22 | release << 14 | revision
}

/// Structures with one number each that follow in a chain.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn numbers(first: *const c_void, known: &[(u32, u32)]) -> Result<()> {
    // SAFETY: the caller's promise: a chain, whose structures are of their kinds.
    unsafe {
        for (kind, place) in chain(first) {
            if let Some((_, value)) = known.iter().find(|known| known.0 == kind) {
                change(place.cast::<Number>(), |p| p.number = *value)?;
            }
        }
    }
    Ok(())
}

/// Structures with one number of 64 bits in a chain.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn larger(first: *const c_void, wanted: u32, value: u64) -> Result<()> {
    // SAFETY: as above.
    unsafe {
        for (_, place) in chain(first).into_iter().filter(|(kind, _)| *kind == wanted) {
            change(place.cast::<Large>(), |p| p.number = value)?;
        }
    }
    Ok(())
}

/// Completes the properties of a device.
pub(super) fn describe(device: &Arc<Device>, uuid: &[u8], to: &mut DeviceProperties) {
    let model = device.model;
    to.kind = 1;
    to.vendor = 0x8086;
    to.device = model.pci;
    to.flags = u32::from(!model.is_discrete());
    to.subdevice = 0;
    to.clock = model.clock;
    to.max_allocation = device.max_allocation();
    to.contexts = 1 << 16;
    to.priorities = 0;
    to.threads = model.threads();
    to.lanes = model.subgroups.first().copied().unwrap_or(8);
    (to.slices, to.subslices, to.engines) = model.engines;
    to.resolution = if to.stype == PROPERTIES_1_2 {
        1_000_000_000
    } else {
        1
    };
    to.bits = CLOCK_BITS;
    to.kernel_bits = CLOCK_BITS;
    to.name = text_of(model.title);
    for (to, from) in to.uuid.iter_mut().zip(uuid) {
        *to = *from;
    }
}

api! {
    fn zeDeviceGet(driver: Handle, count: *mut u32, to: *mut Handle) {
        get::<Platform>(driver)?;
        let all = devices();
        let mut devices: Vec<_> = all.iter().collect();
        if std::env::var_os("ZE_ENABLE_PCI_ID_DEVICE_ORDER").is_some_and(|set| set == "1") {
            devices.sort_by_key(|d| d.model.bus());
        }
        enumerate(count, to, devices.iter().map(|d| pointer(d.handle().get())))
    }

    fn zeDeviceGetSubDevices(device: Handle, count: *mut u32, to: *mut Handle) {
        get::<Device>(device)?;
        enumerate(count, to, std::iter::empty())
    }

    fn zeDeviceGetRootDevice(device: Handle, to: *mut Handle) {
        get::<Device>(device)?;
        put(to, std::ptr::null_mut())
    }

    fn zeDeviceGetProperties(device: Handle, to: *mut DeviceProperties) {
        let device = get::<Device>(device)?;
        let uuid = device.info(cl::CL_DEVICE_UUID_KHR)?;
        change(to, |properties| describe(&device, &uuid, properties))?;
        let next = take(to)?.next;
        numbers(next, &[(IP_VERSION, ip(&device)), (EU_COUNT, device.model.units())])?;
        for (_, place) in chain(next).into_iter().filter(|(kind, _)| *kind == MUTABLE_PROPERTIES) {
            change(place.cast::<MutableProperties>(), |p| (p.lists, p.commands) = (0, CHANGES))?;
        }
        larger(next, USABLE_MEMORY, memory())
    }

    fn zeDeviceGetComputeProperties(device: Handle, to: *mut ComputeProperties) {
        let device = get::<Device>(device)?;
        change(to, |properties| {
            let most = narrow(device.max_group());
            properties.group = most;
            properties.sizes = [most; 3];
            properties.counts = [u32::MAX; 3];
            properties.local = u32::try_from(device.local_memory()).unwrap_or(u32::MAX);
            properties.subgroup_count = narrow(device.model.subgroups.len());
            for (to, from) in properties.subgroups.iter_mut().zip(device.model.subgroups) {
                *to = *from;
            }
        })
    }

    fn zeDeviceGetModuleProperties(device: Handle, to: *mut ModuleProperties) {
        let device = get::<Device>(device)?;
        // `ZE_DEVICE_FP_FLAG_…` has the order of `CL_FP_…`, but for denormals, infinities and so on at bit 0.
        let all = 0x3f;
        let soft = u32::from(device.emulates_doubles()) << 7;
        let dots = u32::from(device.info(cl::CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR).is_ok()) << 3;
        change(to, |properties| {
            properties.spirv = 1 << 16 | 4;
            properties.flags = 1 | u32::from(device.has_doubles()) << 1 | 1 << 2 | dots;
            properties.halves = all;
            properties.singles = all | 1 << 6;
            properties.doubles = if device.has_doubles() { all | soft } else { 0 };
            properties.arguments = 2048;
            properties.printf = 4 << 20;
            properties.native = *b"visakit program\0";
        })?;
        for (_, place) in chain(take(to)?.next).into_iter().filter(|(kind, _)| *kind == FLOAT_ATOMICS) {
            // The bits are those of `cl_ext_float_atomics`.
            let [halves, singles, doubles] = [0x4233, 0x4231, 0x4232].map(|query| number(&device, query).unwrap_or(0));
            change(place.cast::<FloatAtomics>(), |p| {
                (p.halves, p.singles, p.doubles) = (halves, singles, doubles);
            })?;
        }
        Ok(())
    }

    fn zeDeviceGetCommandQueueGroupProperties(device: Handle, count: *mut u32, to: *mut QueueGroup) {
        get::<Device>(device)?;
        let describe = |(flags, queues): (u32, u32)| move |group: &mut QueueGroup| {
            (group.flags, group.pattern, group.queues) = (flags, PATTERN, queues);
        };
        let [all, copies] = QUEUE_GROUPS.map(describe);
        enumerate_with(count, to, &[&all, &copies])
    }

    fn zeDeviceGetMemoryProperties(device: Handle, count: *mut u32, to: *mut MemoryProperties) {
        let device = get::<Device>(device)?;
        enumerate_with(count, to, &[&|properties: &mut MemoryProperties| {
            properties.flags = 0;
            properties.clock = device.model.clock;
            properties.width = 64;
            properties.bytes = memory();
            properties.name = text_of("DDR");
        }])
    }

    fn zeDeviceGetMemoryAccessProperties(device: Handle, to: *mut AccessProperties) {
        get::<Device>(device)?;
        change(to, |properties| {
            properties.host = ALL_ACCESS;
            properties.device = ALL_ACCESS;
            properties.shared = ALL_ACCESS;
            properties.shared_by_devices = ALL_ACCESS;
            properties.system = if lends() { ALL_ACCESS } else { 0 };
        })
    }

    fn zeDeviceGetCacheProperties(device: Handle, count: *mut u32, to: *mut CacheProperties) {
        let device = get::<Device>(device)?;
        let size = number(&device, cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)?;
        enumerate_with(count, to, &[&|properties: &mut CacheProperties| {
            properties.flags = 0;
            properties.bytes = usize::try_from(size).unwrap_or(0);
        }])?;
        if !to.is_null() {
            larger(take(to)?.next, CACHE_LINE, 64)?;
        }
        Ok(())
    }

    fn zeDeviceGetImageProperties(device: Handle, to: *mut ImageLimits) {
        let device = get::<Device>(device)?;
        let limit = |query| number(&device, query);
        let (plane, volume) = (limit(cl::CL_DEVICE_IMAGE2D_MAX_WIDTH)?, limit(cl::CL_DEVICE_IMAGE3D_MAX_DEPTH)?);
        let (buffer, slices) = (limit(cl::CL_DEVICE_IMAGE_MAX_BUFFER_SIZE)?, limit(cl::CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)?);
        let (samplers, images) = (limit(cl::CL_DEVICE_MAX_SAMPLERS)?, limit(cl::CL_DEVICE_MAX_READ_IMAGE_ARGS)?);
        change(to, |limits| {
            (limits.line, limits.plane, limits.volume) = (plane, plane, volume);
            (limits.buffer, limits.slices) = (buffer.into(), slices);
            (limits.samplers, limits.read, limits.written) = (samplers, images, images);
        })
    }

    fn zeDeviceGetExternalMemoryProperties(device: Handle, to: *mut ExternalProperties) {
        get::<Device>(device)?;
        change(to, |properties| properties.kinds = [0; 4])
    }

    fn zeDeviceGetP2PProperties(device: Handle, peer: Handle, to: *mut Flags) {
        get::<Device>(device)?;
        get::<Device>(peer)?;
        // Reads and writes, atomics: all have the host's memory.
        change(to, |properties| properties.flags = 3)
    }

    fn zeDeviceCanAccessPeer(device: Handle, peer: Handle, to: *mut u8) {
        get::<Device>(device)?;
        get::<Device>(peer)?;
        put(to, 1)
    }

    fn zeDeviceGetStatus(device: Handle) {
        get::<Device>(device).map(drop)
    }

    fn zeDeviceSynchronize(device: Handle) {
        waited(wait_for_device(&get::<Device>(device)?))
    }

    fn zeDeviceGetGlobalTimestamps(device: Handle, host: *mut u64, on_device: *mut u64) {
        let device = get::<Device>(device)?;
        ensure(!host.is_null() && !on_device.is_null(), Error::INVALID_NULL_POINTER)?;
        put(host, now())?;
        put(on_device, device.clock())
    }

    fn zeDevicePciGetPropertiesExt(device: Handle, to: *mut PciProperties) {
        let device = get::<Device>(device)?;
        change(to, |properties| {
            properties.address = device.model.bus();
            (properties.generation, properties.width, properties.bandwidth) = (-1, -1, -1);
        })
    }

    fn zeDeviceGetVectorWidthPropertiesExt(device: Handle, count: *mut u32, to: *mut VectorWidths) {
        let device = get::<Device>(device)?;
        enumerate_with(count, to, &[&|widths: &mut VectorWidths| {
            let doubles = u32::from(device.has_doubles());
            widths.size = 16;
            widths.preferred = [16, 8, 4, 1, 1, doubles, 8];
            widths.native = widths.preferred;
        }])
    }
}
