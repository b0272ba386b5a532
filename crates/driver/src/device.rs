//! The platform and its devices.

use crate::context::lock;
use crate::error::{Code, Result, fail};
use crate::event::now;
use crate::extensions::{self, EVERYWHERE};
use crate::gate::Gate;
use crate::handle::{Handle, Object, export};
use crate::info::Answer;
use crate::models::{MODELS, Model};
use crate::mutable::FIELDS;
use opencl_sys as cl;
use std::sync::{Arc, Mutex, OnceLock};
use visakit_isa::{DataType, Platform as Family};
use visakit_launch::NdRange;

/// Name and version of an extension, a feature, or something else that has both.
type NameVersion = (&'static str, u32);

const fn version(major: u32, minor: u32, patch: u32) -> u32 {
    major << 22 | minor << 12 | patch
}

/// The version of OpenCL.
const NUMERIC: u32 = version(3, 0, 0);

const VERSION: &str = "OpenCL 3.0 visakit";

const VENDOR: &str = "Intel(R) Corporation";

/// Versions of SPIR-V: 1.0 to 1.4.
const SPIRV: [u32; 5] = [0, 1, 2, 3, 4];

// Queries of `cl_ext_float_atomics`, and the bits of their answers, in global and in local memory.
const SINGLE_FP_ATOMICS: u32 = 0x4231;
const DOUBLE_FP_ATOMICS: u32 = 0x4232;
const HALF_FP_ATOMICS: u32 = 0x4233;
const FP_LOAD_STORE: u64 = 1 | 1 << 16;
const FP_ADD: u64 = 1 << 1 | 1 << 17;
const FP_MIN_MAX: u64 = 1 << 2 | 1 << 18;

// Queries of `cl_khr_command_buffer`; kernels in command buffers may print, and command buffers run more than once at a time.
const COMMAND_BUFFER_CAPABILITIES: u32 = 0x12a9;
const COMMAND_BUFFER_QUEUE_PROPERTIES: u32 = 0x129a;
const COMMAND_BUFFER_REQUIRED_PROPERTIES: u32 = 0x12aa;
const COMMAND_BUFFERS_PRINT_AND_OVERLAP: u64 = 1 | 1 << 2;

/// The platform.
#[derive(Debug)]
pub struct Platform {
    handle: Handle,
    /// Its devices, the default first.
    pub devices: Vec<Arc<Device>>,
}

impl Object for Platform {
    const INVALID: Code = Code(cl::CL_INVALID_PLATFORM);
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// A device.
#[derive(Debug)]
pub struct Device {
    handle: Handle,
    /// Its model.
    pub model: &'static Model,
    /// Its family.
    pub family: Family,
    /// When it has finished its work, in simulated time: see [`Self::occupy`].
    busy: Mutex<u64>,
    /// Where its commands wait for more urgent ones.
    pub(crate) gate: Gate,
}

impl Object for Device {
    const INVALID: Code = Code(cl::CL_INVALID_DEVICE);
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// The platform, with the devices that `VISAKIT_DEVICE` names: a list, or `all`.
pub fn platform() -> &'static Arc<Platform> {
    static PLATFORM: OnceLock<Arc<Platform>> = OnceLock::new();
    PLATFORM.get_or_init(|| {
        let wanted = std::env::var("VISAKIT_DEVICE").unwrap_or_default();
        let mut devices = Vec::new();
        let mut add = |model: &'static Model| {
            let Some(device) = Device::of(model).map(Arc::new) else {
                return;
            };
            export(&device);
            devices.push(device);
        };
        for name in wanted.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            if name.eq_ignore_ascii_case("all") {
                MODELS.iter().for_each(&mut add);
                continue;
            }
            let family = Family::from_name(name);
            let exact = MODELS.iter().find(|m| m.name.eq_ignore_ascii_case(name));
            let like = MODELS
                .iter()
                .find(|m| family.is_some() && Family::from_name(m.name) == family);
            let sold = visakit_isa::Device::from_name;
            let product = sold(name);
            let named = MODELS
                .iter()
                .find(|m| product.is_some() && sold(m.name) == product);
            match exact.or(named).or(like) {
                Some(model) => add(model),
                None => {
                    let known: Vec<_> = MODELS.iter().map(|m| m.name).collect();
                    crate::say(&format!(
                        "VISAKIT_DEVICE: there is no device `{name}`; known are {} and all",
                        known.join(", ")
                    ));
                }
            }
        }
        if wanted.trim().is_empty() {
            MODELS.iter().take(1).for_each(&mut add);
        }
        let platform = Arc::new(Platform {
            handle: Handle::default(),
            devices,
        });
        export(&platform);
        platform
    })
}

/// The version of an extension.
fn with_version(extension: &'static str) -> NameVersion {
    let version = match extension {
        // Since 2.0 the device states what it accelerates.
        "cl_khr_integer_dot_product" => version(2, 0, 0),
        // The last one before 1.0: commands have properties.
        "cl_khr_command_buffer" => version(0, 9, 7),
        "cl_khr_command_buffer_mutable_dispatch" => version(0, 9, 4),
        _ => version(1, 0, 0),
    };
    (extension, version)
}

fn names_and_versions(list: &[NameVersion]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, version) in list {
        bytes.extend(version.answer());
        let mut field = name.as_bytes().to_vec();
        field.resize(64, 0);
        bytes.extend(field);
    }
    bytes
}

impl Platform {
    /// `clGetPlatformInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_PLATFORM_PROFILE => "FULL_PROFILE".answer(),
            cl::CL_PLATFORM_VERSION => VERSION.answer(),
            // Programs look for the words of Intel's driver, some for the whole name.
            cl::CL_PLATFORM_NAME => "Intel(R) OpenCL Graphics".answer(),
            cl::CL_PLATFORM_VENDOR => VENDOR.answer(),
            cl::CL_PLATFORM_EXTENSIONS => EVERYWHERE.join(" ").as_str().answer(),
            cl::CL_PLATFORM_HOST_TIMER_RESOLUTION => 1_u64.answer(),
            cl::CL_PLATFORM_NUMERIC_VERSION => NUMERIC.answer(),
            cl::CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                names_and_versions(&EVERYWHERE.map(with_version))
            }
            // The loader finds extension functions by the end of their names.
            cl::CL_PLATFORM_ICD_SUFFIX_KHR => "INTEL".answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}

/// Whether hosts are told of matrix engines: libraries that are bring machine code for them, which does not run here, and
/// some give up if it does not.
fn shows_dpas() -> bool {
    std::env::var("VISAKIT_DPAS").is_ok_and(|wanted| wanted == "1")
}

/// Bytes of global memory that devices claim: half of the host's, at most 16 GiB.
#[must_use]
pub fn memory() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"));
        let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
        (kib.unwrap_or(4 << 20) * 512).clamp(1 << 30, 16 << 30) & !0xfff_ffff
    })
}

impl Device {
    /// A device of a kind; `None` if its family is not known.
    pub(crate) fn of(model: &'static Model) -> Option<Self> {
        Some(Self {
            handle: Handle::default(),
            model,
            family: Family::from_name(model.name)?,
            busy: Mutex::default(),
            gate: Gate::default(),
        })
    }

    /// The time of its clock: nanoseconds of the host, or when it has finished its work, if that is later.
    #[must_use]
    pub fn clock(&self) -> u64 {
        now().max(*lock(&self.busy))
    }

    /// Occupies it for this many nanoseconds, from a time on or as soon as it is free. Returns the start and the end.
    pub(crate) fn occupy(&self, from: u64, nanoseconds: u64) -> (u64, u64) {
        let mut busy = lock(&self.busy);
        let start = from.max(*busy);
        *busy = start.saturating_add(nanoseconds);
        (start, *busy)
    }

    /// Whether it has images.
    #[must_use]
    pub fn has_images(&self) -> bool {
        self.family.has_samplers()
    }

    /// Whether it has 64-bit floats, natively or emulated by the compiler with integers.
    #[must_use]
    pub fn has_doubles(&self) -> bool {
        self.family.has_type(DataType::Df) || self.emulates_doubles()
    }

    /// Whether the compiler has to emulate 64-bit floats with integers. The keys are those of Intel's driver.
    #[must_use]
    pub fn emulates_doubles(&self) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
        !self.family.has_type(DataType::Df)
            && set("OverrideDefaultFP64Settings")
            && set("IGC_EnableDPEmulation")
    }

    /// Most work-items of a group.
    #[must_use]
    pub const fn max_group(&self) -> usize {
        match self.model.subgroups {
            [8, ..] if self.model.ip.0 < 12 => 256,
            [8, ..] if self.model.ip.1 < 50 => 512,
            _ => NdRange::LARGEST_GROUP as usize,
        }
    }

    /// Bytes of local memory of a group.
    #[must_use]
    pub const fn local_memory(&self) -> u64 {
        self.model.local_memory() << 10
    }

    /// Most bytes of a buffer.
    #[must_use]
    pub fn max_allocation(&self) -> u64 {
        memory() / 2
    }

    /// Its extensions.
    #[must_use]
    pub fn extensions(&self) -> Vec<&'static str> {
        extensions::extensions(self.family, self.has_doubles())
    }

    /// The features of OpenCL C that it has.
    #[must_use]
    pub fn features(&self) -> Vec<&'static str> {
        extensions::features(self.family, self.has_doubles())
    }

    /// `clGetDeviceInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        if let Some(bytes) = self.limits(name) {
            return Ok(bytes);
        }
        let doubles = self.has_doubles();
        let recent = extensions::is_recent(self.family);
        let fp = cl::CL_FP_DENORM
            | cl::CL_FP_INF_NAN
            | cl::CL_FP_ROUND_TO_NEAREST
            | cl::CL_FP_ROUND_TO_ZERO
            | cl::CL_FP_ROUND_TO_INF
            | cl::CL_FP_FMA;
        Ok(match name {
            cl::CL_DEVICE_TYPE => (cl::CL_DEVICE_TYPE_GPU).answer(),
            cl::CL_DEVICE_VENDOR_ID => 0x8086_u32.answer(),
            cl::CL_DEVICE_NAME => self.model.title.answer(),
            cl::CL_DEVICE_VENDOR => VENDOR.answer(),
            cl::CL_DRIVER_VERSION => env!("CARGO_PKG_VERSION").answer(),
            cl::CL_DEVICE_PROFILE => "FULL_PROFILE".answer(),
            cl::CL_DEVICE_VERSION => VERSION.answer(),
            cl::CL_DEVICE_NUMERIC_VERSION => NUMERIC.answer(),
            cl::CL_DEVICE_OPENCL_C_VERSION => "OpenCL C 1.2 ".answer(),
            cl::CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => version(1, 2, 0).answer(),
            cl::CL_DEVICE_OPENCL_C_ALL_VERSIONS => names_and_versions(
                &[
                    version(1, 0, 0),
                    version(1, 1, 0),
                    version(1, 2, 0),
                    NUMERIC,
                ]
                .map(|v| ("OpenCL C", v)),
            ),
            cl::CL_DEVICE_OPENCL_C_FEATURES => {
                let list = self.features();
                names_and_versions(&list.into_iter().map(|f| (f, NUMERIC)).collect::<Vec<_>>())
            }
            cl::CL_DEVICE_EXTENSIONS => self.extensions().join(" ").as_str().answer(),
            cl::CL_DEVICE_EXTENSIONS_WITH_VERSION => {
                let list = self.extensions().into_iter();
                names_and_versions(&list.map(with_version).collect::<Vec<_>>())
            }
            cl::CL_DEVICE_PLATFORM => platform().handle.get().answer(),
            cl::CL_DEVICE_SINGLE_FP_CONFIG => {
                (fp | cl::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT).answer()
            }
            cl::CL_DEVICE_DOUBLE_FP_CONFIG => if doubles { fp } else { 0 }.answer(),
            cl::CL_DEVICE_HALF_FP_CONFIG => fp.answer(),
            cl::CL_DEVICE_EXECUTION_CAPABILITIES => cl::CL_EXEC_KERNEL.answer(),
            COMMAND_BUFFER_CAPABILITIES => COMMAND_BUFFERS_PRINT_AND_OVERLAP.answer(),
            COMMAND_BUFFER_REQUIRED_PROPERTIES => 0_u64.answer(),
            cl::CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR => FIELDS.answer(),
            COMMAND_BUFFER_QUEUE_PROPERTIES | cl::CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
                (cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | cl::CL_QUEUE_PROFILING_ENABLE)
                    .answer()
            }
            cl::CL_DEVICE_SVM_CAPABILITIES => (cl::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
                | cl::CL_DEVICE_SVM_FINE_GRAIN_BUFFER
                | cl::CL_DEVICE_SVM_ATOMICS)
                .answer(),
            cl::CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => (cl::CL_DEVICE_ATOMIC_ORDER_RELAXED
                | cl::CL_DEVICE_ATOMIC_ORDER_ACQ_REL
                | cl::CL_DEVICE_ATOMIC_ORDER_SEQ_CST
                | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
                | cl::CL_DEVICE_ATOMIC_SCOPE_DEVICE
                | cl::CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES)
                .answer(),
            cl::CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => (cl::CL_DEVICE_ATOMIC_ORDER_RELAXED
                | cl::CL_DEVICE_ATOMIC_ORDER_ACQ_REL
                | cl::CL_DEVICE_ATOMIC_ORDER_SEQ_CST
                | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
                | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
                | cl::CL_DEVICE_ATOMIC_SCOPE_DEVICE
                | cl::CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES)
                .answer(),
            cl::CL_DEVICE_BUILT_IN_KERNELS => "".answer(),
            // It passed none; the form is fixed.
            cl::CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => "v0000-01-01-00".answer(),
            cl::CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => Vec::new(),
            cl::CL_DEVICE_IL_VERSION => {
                let all = SPIRV.map(|minor| format!("SPIR-V_1.{minor}"));
                all.join(" ").as_str().answer()
            }
            cl::CL_DEVICE_ILS_WITH_VERSION => {
                names_and_versions(&SPIRV.map(|minor| ("SPIR-V", version(1, minor, 0))))
            }
            cl::CL_DEVICE_SPIR_VERSIONS => "1.2".answer(),
            cl::CL_DEVICE_PARENT_DEVICE => 0_usize.answer(),
            cl::CL_DEVICE_PARTITION_PROPERTIES | cl::CL_DEVICE_PARTITION_TYPE => 0_usize.answer(),
            cl::CL_DEVICE_REFERENCE_COUNT => 1_u32.answer(),
            cl::CL_DEVICE_UUID_KHR | cl::CL_DRIVER_UUID_KHR => {
                let mut uuid = *b"visakit\0\0\0\0\0\0\0\0\0";
                for (to, from) in uuid.iter_mut().skip(8).zip(self.model.pci.to_le_bytes()) {
                    *to = from;
                }
                uuid.to_vec()
            }
            cl::CL_DEVICE_LUID_VALID_KHR => false.answer(),
            cl::CL_DEVICE_LUID_KHR => vec![0; 8],
            cl::CL_DEVICE_NODE_MASK_KHR => 0_u32.answer(),
            // Intel's attribute query.
            cl::CL_DEVICE_IP_VERSION_INTEL => {
                let (architecture, release, revision) = self.model.ip;
                (architecture << 22 | release << 14 | revision).answer()
            }
            cl::CL_DEVICE_PCI_BUS_INFO_KHR => self.model.bus().answer(),
            cl::CL_DEVICE_ID_INTEL => self.model.pci.answer(),
            cl::CL_DEVICE_NUM_SLICES_INTEL => self.model.engines.0.answer(),
            cl::CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL => self.model.engines.1.answer(),
            cl::CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL => self.model.engines.2.answer(),
            cl::CL_DEVICE_NUM_THREADS_PER_EU_INTEL => self.model.threads().answer(),
            cl::CL_DEVICE_FEATURE_CAPABILITIES_INTEL => {
                (u64::from(self.family.has_dpas() && shows_dpas()) << 1 | 1).answer()
            }
            cl::CL_DEVICE_SUB_GROUP_SIZES_INTEL => {
                let sizes = self.model.subgroups.iter();
                sizes
                    .filter_map(|s| usize::try_from(*s).ok())
                    .collect::<Vec<_>>()
                    .answer()
            }
            cl::CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
            | cl::CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
            | cl::CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
            | cl::CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL => {
                (cl::CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
                    | cl::CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
                    | cl::CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
                    | cl::CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL)
                    .answer()
            }
            cl::CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => 0_u64.answer(),
            cl::CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR if recent => {
                (cl::CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR
                    | cl::CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR)
                    .answer()
            }
            // Whether signed, unsigned and mixed products, and those that saturate, are faster than in parts.
            cl::CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR
            | cl::CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR
                if recent =>
            {
                [1_u32; 6].answer()
            }
            SINGLE_FP_ATOMICS => (FP_LOAD_STORE | FP_ADD | FP_MIN_MAX).answer(),
            HALF_FP_ATOMICS => (FP_LOAD_STORE | FP_MIN_MAX).answer(),
            DOUBLE_FP_ATOMICS if doubles => (FP_LOAD_STORE | FP_ADD | FP_MIN_MAX).answer(),
            DOUBLE_FP_ATOMICS => 0_u64.answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// Sizes, and which features exist.
    fn limits(&self, name: u32) -> Option<Vec<u8>> {
        let images = self.has_images();
        let image = |n: usize| if images { n } else { 0 }.answer();
        let image32 = |n: u32| if images { n } else { 0 }.answer();
        let doubles = u32::from(self.has_doubles());
        Some(match name {
            cl::CL_DEVICE_MAX_COMPUTE_UNITS => self.model.units().answer(),
            cl::CL_DEVICE_MAX_CLOCK_FREQUENCY => self.model.clock.answer(),
            cl::CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => 3_u32.answer(),
            cl::CL_DEVICE_MAX_WORK_GROUP_SIZE => self.max_group().answer(),
            cl::CL_DEVICE_MAX_WORK_ITEM_SIZES => [self.max_group(); 3].answer(),
            cl::CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => 32_usize.answer(),
            cl::CL_DEVICE_MAX_NUM_SUB_GROUPS => {
                let least = self.model.subgroups.first().map_or(8, |s| *s);
                u32::try_from(self.max_group())
                    .unwrap_or(256)
                    .div_ceil(least)
                    .answer()
            }
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR => {
                16_u32.answer()
            }
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
            | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => 8_u32.answer(),
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_INT => {
                4_u32.answer()
            }
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
            | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => 1_u32.answer(),
            cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE
            | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => doubles.answer(),
            cl::CL_DEVICE_ADDRESS_BITS => 64_u32.answer(),
            cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE => self.max_allocation().answer(),
            cl::CL_DEVICE_GLOBAL_MEM_SIZE => memory().answer(),
            cl::CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => cl::CL_READ_WRITE_CACHE.answer(),
            cl::CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => 64_u32.answer(),
            cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => (16_u64 << 20).answer(),
            cl::CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => self.max_allocation().answer(),
            cl::CL_DEVICE_MAX_CONSTANT_ARGS => 8_u32.answer(),
            cl::CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => (64_usize << 10).answer(),
            cl::CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => (64_usize << 20).answer(),
            cl::CL_DEVICE_LOCAL_MEM_TYPE => cl::CL_LOCAL.answer(),
            cl::CL_DEVICE_LOCAL_MEM_SIZE => self.local_memory().answer(),
            cl::CL_DEVICE_MAX_PARAMETER_SIZE => 2048_usize.answer(),
            cl::CL_DEVICE_MEM_BASE_ADDR_ALIGN => 1024_u32.answer(),
            cl::CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => 128_u32.answer(),
            cl::CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
            | cl::CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
            | cl::CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => 64_u32.answer(),
            cl::CL_DEVICE_PRINTF_BUFFER_SIZE => (4_usize << 20).answer(),
            cl::CL_DEVICE_PROFILING_TIMER_RESOLUTION => 1_usize.answer(),
            cl::CL_DEVICE_IMAGE_SUPPORT => images.answer(),
            cl::CL_DEVICE_MAX_READ_IMAGE_ARGS
            | cl::CL_DEVICE_MAX_WRITE_IMAGE_ARGS
            | cl::CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => image32(128),
            cl::CL_DEVICE_MAX_SAMPLERS => image32(16),
            cl::CL_DEVICE_IMAGE2D_MAX_WIDTH | cl::CL_DEVICE_IMAGE2D_MAX_HEIGHT => image(16384),
            cl::CL_DEVICE_IMAGE3D_MAX_WIDTH | cl::CL_DEVICE_IMAGE3D_MAX_HEIGHT => image(16384),
            cl::CL_DEVICE_IMAGE3D_MAX_DEPTH | cl::CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => image(2048),
            cl::CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => image(1 << 27),
            cl::CL_DEVICE_IMAGE_PITCH_ALIGNMENT | cl::CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => {
                image32(4)
            }
            cl::CL_DEVICE_ERROR_CORRECTION_SUPPORT | cl::CL_DEVICE_PIPE_SUPPORT => false.answer(),
            cl::CL_DEVICE_HOST_UNIFIED_MEMORY => (!self.model.is_discrete()).answer(),
            cl::CL_DEVICE_ENDIAN_LITTLE
            | cl::CL_DEVICE_AVAILABLE
            | cl::CL_DEVICE_COMPILER_AVAILABLE
            | cl::CL_DEVICE_LINKER_AVAILABLE
            // Threads of a group take turns.
            | cl::CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS
            | cl::CL_DEVICE_PREFERRED_INTEROP_USER_SYNC
            | cl::CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
            | cl::CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
            | cl::CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => true.answer(),
            cl::CL_DEVICE_PARTITION_MAX_SUB_DEVICES
            | cl::CL_DEVICE_MAX_PIPE_ARGS
            | cl::CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS
            | cl::CL_DEVICE_PIPE_MAX_PACKET_SIZE
            | cl::CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
            | cl::CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
            | cl::CL_DEVICE_MAX_ON_DEVICE_QUEUES
            | cl::CL_DEVICE_MAX_ON_DEVICE_EVENTS => 0_u32.answer(),
            cl::CL_DEVICE_PARTITION_AFFINITY_DOMAIN
            | cl::CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES
            | cl::CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => 0_u64.answer(),
            _ => return None,
        })
    }
}
