//! Structures of Level Zero, as the specification lays them out: those that are used here.

use std::ffi::{c_char, c_void};

macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub(super) struct $name {
            $(pub(super) $field: $type,)*
        }
    )*};
}

/// Structures that begin with their kind and the next of a chain.
macro_rules! chained {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {
        structures! {$(
            $(#[$doc])*
            $name {
                stype: u32,
                next: *const c_void,
                $($field: $type,)*
            }
        )*}
    };
}

/// A name in a structure.
pub(super) type Name = [c_char; 256];

/// A text in a structure of the management of systems.
pub(super) type Text = [c_char; 64];

/// A text in so many bytes, the last of which is 0; what does not fit is cut off.
pub(super) fn text_of<const N: usize>(text: &str) -> [c_char; N] {
    let mut to = [0; N];
    for (to, from) in to.iter_mut().take(N.saturating_sub(1)).zip(text.bytes()) {
        // Signed or not, as the processor has it.
        *to = c_char::from_ne_bytes([from]);
    }
    to
}

structures! {
    /// `ze_driver_extension_properties_t`
    Extension { name: Name, version: u32, }
    /// `ze_copy_region_t` and `ze_image_region_t`
    Region { origin: [u32; 3], size: [u32; 3], }
    /// `ze_group_count_t` and `ze_group_size_t`
    Groups { x: u32, y: u32, z: u32, }
    /// `ze_kernel_timestamp_result_t`: start and end by the clock of the device, then by that of the context
    Timestamps { global: [u64; 2], context: [u64; 2], }
    /// `zes_pci_speed_t`
    Speed { generation: i32, width: i32, bandwidth: i64, }
    /// `zes_uuid_t`
    Uuid { id: [u8; 16], }
    /// `ze_module_constants_t`
    Constants { count: u32, ids: *const u32, values: *const *const u8, }
}

chained! {
    /// What all begin with.
    Chained {}
    /// `ze_driver_properties_t`
    DriverProperties { uuid: [u8; 16], version: u32, }
    /// Structures with flags alone.
    Flags { flags: u32, }
    /// `ze_device_properties_t`
    DeviceProperties {
        kind: u32, vendor: u32, device: u32, flags: u32, subdevice: u32, clock: u32, max_allocation: u64,
        contexts: u32, priorities: u32, threads: u32, lanes: u32, engines: u32, subslices: u32, slices: u32,
        resolution: u64, bits: u32, kernel_bits: u32, uuid: [u8; 16], name: Name,
    }
    /// `ze_command_queue_group_properties_t`
    QueueGroup { flags: u32, pattern: usize, queues: u32, }
    /// `ze_device_memory_properties_t`
    MemoryProperties { flags: u32, clock: u32, width: u32, bytes: u64, name: Name, }
    /// `ze_device_memory_access_properties_t`
    AccessProperties { host: u32, device: u32, shared: u32, shared_by_devices: u32, system: u32, }
    /// `ze_device_cache_properties_t`
    CacheProperties { flags: u32, bytes: usize, }
    /// `ze_device_image_properties_t`
    ImageLimits {
        line: u32, plane: u32, volume: u32, buffer: u64, slices: u32, samplers: u32, read: u32, written: u32,
    }
    /// `ze_device_external_memory_properties_t`
    ExternalProperties { kinds: [u32; 4], }
    /// `ze_device_compute_properties_t`
    ComputeProperties {
        group: u32, sizes: [u32; 3], counts: [u32; 3], local: u32, subgroup_count: u32, subgroups: [u32; 8],
    }
    /// `ze_device_module_properties_t`
    ModuleProperties {
        spirv: u32, flags: u32, halves: u32, singles: u32, doubles: u32, arguments: u32, printf: u32, native: [u8; 16],
    }
    /// `ze_float_atomic_ext_properties_t`
    FloatAtomics { halves: u32, singles: u32, doubles: u32, }
    /// Structures with one number: of an IP version, of vector engines, a largest group, a preferred multiple
    Number { number: u32, }
    /// `ze_command_list_append_launch_kernel_param_cooperative_desc_t`
    Switch { is_on: u8, }
    /// Structures with one large number: usable memory, the size of cache lines
    Large { number: u64, }
    /// `ze_pci_ext_properties_t`
    PciProperties { address: [u32; 4], generation: i32, width: i32, bandwidth: i64, }
    /// `ze_device_vector_width_properties_ext_t`: char, short, int, long, float, double, half
    VectorWidths { size: u32, preferred: [u32; 7], native: [u32; 7], }
    /// `ze_command_queue_desc_t`
    QueueDescriptor { ordinal: u32, index: u32, flags: u32, mode: u32, priority: u32, }
    /// `ze_command_list_desc_t`
    ListDescriptor { ordinal: u32, flags: u32, }
    /// `ze_event_pool_desc_t`
    PoolDescriptor { flags: u32, count: u32, }
    /// `ze_event_desc_t`; of `ze_event_counter_based_desc_t` the first number is flags
    EventDescriptor { index: u32, signal: u32, wait: u32, }
    /// `ze_event_query_kernel_timestamps_results_ext_properties_t`
    TimestampResults { timestamps: *mut Timestamps, synchronized: *mut Timestamps, }
    /// `ze_image_desc_t`
    ImageDescriptor {
        flags: u32, kind: u32, layout: u32, channel: u32, swizzles: [u32; 4], width: u64, height: u32, depth: u32,
        entries: u32, levels: u32,
    }
    /// `ze_sampler_desc_t`
    SamplerDescriptor { addressing: u32, filter: u32, normalized: u8, }
    /// `ze_memory_allocation_properties_t`
    AllocationProperties { kind: u32, id: u64, page: u64, }
    /// `ze_external_memory_export_fd_t`
    ExportedFile { flags: u32, file: i32, }
    /// `ze_fabric_vertex_exp_properties_t`
    VertexProperties { uuid: [u8; 16], kind: u32, remote: u8, address: [u32; 4], }
    /// `ze_image_memory_properties_exp_t`
    ImageMemory { size: u64, row: u64, slice: u64, }
    /// `ze_physical_mem_desc_t`
    PhysicalDescriptor { flags: u32, size: usize, }
    /// `ze_physical_mem_properties_t`
    PhysicalProperties { id: u64, size: u64, }
    /// `ze_module_desc_t`
    ModuleDescriptor {
        format: u32, size: usize, code: *const u8, options: *const c_char, constants: *const Constants,
    }
    /// `ze_module_program_exp_desc_t`
    ProgramDescriptor {
        count: u32, sizes: *const usize, codes: *const *const u8, options: *const *const c_char,
        constants: *const *const Constants,
    }
    /// `ze_kernel_desc_t`
    KernelDescriptor { flags: u32, name: *const c_char, }
    /// `zes_device_properties_t`
    SystemProperties {
        core: DeviceProperties, parts: u32, serial: Text, board: Text, brand: Text, model: Text, vendor: Text, driver: Text,
    }
    /// `zes_device_ext_properties_t`
    ExtendedProperties { uuid: [u8; 16], kind: u32, flags: u32, }
    /// `zes_device_state_t`
    DeviceState { reset: u32, repaired: u32, }
    /// `zes_pci_properties_t`
    Pci { address: [u32; 4], speed: Speed, counters: [u8; 3], }
    /// `zes_pci_state_t`
    PciState { status: u32, issues: [u32; 2], speed: Speed, }
    /// `zes_mem_properties_t`
    MemoryModule {
        kind: u32, is_part: u8, part: u32, is_on_device: u32, bytes: u64, width: i32, channels: i32,
    }
    /// `zes_mem_state_t`
    MemoryState { health: u32, free: u64, size: u64, }
    /// `ze_mutable_command_list_exp_properties_t`
    MutableProperties { lists: u32, commands: u32, }
    /// `ze_mutable_kernel_argument_exp_desc_t`
    MutableArgument { command: u64, index: u32, size: usize, value: *const c_void, }
    /// `ze_mutable_group_count_exp_desc_t`
    MutableCount { command: u64, groups: *const Groups, }
    /// `ze_mutable_group_size_exp_desc_t` and `ze_mutable_global_offset_exp_desc_t`
    MutableSizes { command: u64, sizes: [u32; 3], }
    /// `ze_kernel_properties_t`
    KernelProperties {
        arguments: u32, required: [u32; 3], required_subgroups: u32, required_subgroup: u32, subgroup: u32, subgroups: u32,
        local: u32, private: u32, spilled: u32, kernel: [u8; 16], module: [u8; 16],
    }
}
