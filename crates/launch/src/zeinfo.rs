//! The `.ze_info` metadata of a zebin: how a kernel expects its arguments.
//!
//! The layout is that of the zebin specification, version 1.73, in the public compiler repository. Keys that launching
//! does not need are skipped; [`ZeInfo::unknown_keys`] names those that are newer.

mod keys;
mod pieces;

pub use pieces::{AddrMode, AddrSpace, ArgType, Provided};

use crate::error::LaunchError;
use crate::{structure, value};
use serde::Deserialize;
use std::collections::BTreeSet;
use visakit_isa::DataType;

/// Every metadata may have this many nodes of YAML.
const LEAST_NODES: usize = 250_000;

/// Every metadata may have this many events of a parser of YAML.
const LEAST_EVENTS: usize = 1_000_000;

/// What a reader of YAML may do for a text: compilers write a dozen bytes for each node.
fn bounds(text: &str) -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: LEAST_NODES.max(text.len() / 4),
            max_events: LEAST_EVENTS.max(text.len()),
        },
        with_snippet: false,
    }
}

/// Metadata of all kernels of a program.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct ZeInfo {
    /// Version of the metadata, `major.minor`.
    pub version: String,
    /// How the program's loads and stores use the cache of a core by default (since 1.69): `wb`, `wt`, `wbp`; empty if not
    /// stated.
    pub l1_cache_policy: String,
    /// The kernels, in no particular order.
    #[serde(deserialize_with = "list")]
    pub kernels: Vec<KernelInfo>,
    /// Names and types that are not needed to launch.
    #[serde(deserialize_with = "list")]
    pub kernels_misc_info: Vec<MiscInfo>,
    /// Variables that the host has another name for.
    #[serde(deserialize_with = "list")]
    pub global_host_access_table: Vec<HostAccess>,
}

/// A variable of the program.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct HostAccess {
    /// Its symbol.
    pub device_name: String,
    /// Its name in calls of the host.
    pub host_name: String,
}

/// The metadata of one kernel.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct KernelInfo {
    /// Name of the kernel in the source.
    pub name: String,
    /// The kernel's requirements on the machine.
    #[serde(deserialize_with = "value")]
    pub execution_env: ExecutionEnv,
    /// Cross-thread data: the same for every thread of a group.
    #[serde(deserialize_with = "list")]
    pub payload_arguments: Vec<PayloadArgument>,
    /// Data that each thread gets its own of: local ids.
    #[serde(deserialize_with = "list")]
    pub per_thread_payload_arguments: Vec<PayloadArgument>,
    /// Surfaces of stateful arguments.
    #[serde(deserialize_with = "list")]
    pub binding_table_indices: Vec<BindingTableIndex>,
    /// Scratch and private memory.
    #[serde(deserialize_with = "list")]
    pub per_thread_memory_buffers: Vec<MemoryBuffer>,
    /// Samplers that the program declares itself.
    #[serde(deserialize_with = "list")]
    pub inline_samplers: Vec<InlineSampler>,
    /// The requirements stated in the source, as newer compilers write them.
    #[serde(deserialize_with = "value")]
    pub user_attributes: UserAttributes,
}

/// The requirements stated in the source, as newer compilers write them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct UserAttributes {
    /// The only size of groups that the kernel may be started with; empty or zeroes for any.
    pub reqd_work_group_size: Vec<u32>,
    /// The size of groups that the source hints at.
    pub work_group_size_hint: Vec<u32>,
    /// The type that the source hints at.
    pub vec_type_hint: String,
    /// The size of sub-groups that the source demands; 0 for any.
    pub intel_reqd_sub_group_size: u32,
    /// Why the compiler could not make a kernel of the source; empty if it could.
    pub invalid_kernel: String,
}

/// A kernel's requirements on the machine.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct ExecutionEnv {
    /// Work-items of a thread.
    pub simd_size: u32,
    /// Registers of a thread.
    pub grf_count: u32,
    /// Barriers that the kernel uses.
    pub barrier_count: u32,
    /// Bytes of local memory that the program's own variables take.
    pub slm_size: u32,
    /// Who adds that size to the offsets of arguments in local memory: 0 the kernel, 1 who starts it.
    pub slm_alloc_mode: u32,
    /// The kernel calls functions that use a stack.
    pub has_stack_calls: bool,
    /// The only size of groups that the kernel may be started with; empty or zeroes for any.
    pub required_work_group_size: Vec<u32>,
    /// Order in which local ids run through the dimensions; empty for x, y, z.
    pub work_group_walk_order_dimensions: Vec<u32>,
    /// Bytes of cross-thread data that are passed when a thread starts. The data after them begin in the next register.
    pub inline_data_payload_size: u32,
    /// Where the native code begins if hardware has loaded the local ids: the code before loads them.
    pub offset_to_skip_per_thread_data_load: u32,
    /// Where it begins on a machine of one front end, after setting something of that.
    pub offset_to_skip_set_ffid_gp: u32,
    /// The kernel needs the buffer of implicit arguments.
    pub require_iab: bool,
    /// Bytes that each thread spills from registers to memory.
    pub spill_size: u32,
    /// The kernel reads bindless images.
    pub has_bindless_image_read: bool,
    /// Bytes of private memory, where `per_thread_memory_buffers` leave them out.
    pub private_size: u32,
}

/// A piece of the payload.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct PayloadArgument {
    /// The value to write.
    pub arg_type: ArgType,
    /// Position in the cross-thread (or per-thread) data, bytes.
    pub offset: u32,
    /// Size in bytes; 0 if nothing is written.
    pub size: u32,
    /// The argument of the kernel, if it concerns one.
    pub arg_index: Option<u32>,
    /// How a pointer is used.
    pub addrmode: Option<AddrMode>,
    /// The address space that a pointer points to.
    pub addrspace: Option<AddrSpace>,
    /// Number of the sampler state.
    pub sampler_index: Option<u32>,
    /// First byte of the argument that this piece holds.
    pub source_offset: Option<u32>,
    /// Alignment of an argument in local memory.
    pub slm_alignment: Option<u32>,
    /// Surface of constants that were moved to the binding table.
    pub bti_value: Option<i64>,
}

/// The entry of the binding table that an argument has.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct BindingTableIndex {
    /// Entry of the binding table.
    pub bti_value: i64,
    /// Argument of the kernel.
    pub arg_index: i64,
}

/// Memory that each thread has for itself.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct MemoryBuffer {
    /// `scratch`, `global` or `slm`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `private_space`, `spill_fill_space` or `single_space`.
    pub usage: String,
    /// Bytes.
    pub size: u32,
    /// Which scratch buffer.
    pub slot: u32,
    /// The size is that of one work-item.
    pub is_simt_thread: bool,
}

/// A sampler that the program declares itself.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct InlineSampler {
    /// Number of the sampler state.
    pub sampler_index: u32,
    /// `none`, `clamp_border`, `clamp_edge`, `repeat` or `mirror`.
    pub addrmode: String,
    /// `nearest` or `linear`.
    pub filtermode: String,
    /// Coordinates are from 0 to 1.
    pub normalized: bool,
}

/// What the source states about a kernel's arguments.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct MiscInfo {
    /// The kernel.
    pub name: String,
    /// Its arguments.
    #[serde(deserialize_with = "list")]
    pub args_info: Vec<ArgInfo>,
}

/// What the source states about an argument.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct ArgInfo {
    /// Position in the parameter list.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// `__global`, `__local`, `__constant` or `__private`.
    pub address_qualifier: String,
    /// `read_only`, `write_only`, `read_write` or `NONE`.
    pub access_qualifier: String,
    /// `const`, `restrict`, `volatile` and `pipe`, separated by blanks, or `NONE`.
    pub type_qualifiers: String,
    /// Type and its size, `float*;8`.
    pub type_name: String,
}

impl ArgInfo {
    /// The type without its size, `float4*` of `float4*;8`. Where the compiler wrote none, what is known of it, such as
    /// `void*` or `a value of 4 bytes`.
    #[must_use]
    pub fn type_in_source(&self) -> &str {
        let (name, size) = self
            .type_name
            .split_once(';')
            .unwrap_or((&self.type_name, ""));
        match (name, &*self.address_qualifier, size) {
            ("", "__private", "1") => "a value of 1 byte",
            ("", "__private", "2") => "a value of 2 bytes",
            ("", "__private", "4") => "a value of 4 bytes",
            ("", "__private", "8") => "a value of 8 bytes",
            ("", "__private", "16") => "a value of 16 bytes",
            ("", "__private", _) => "a value",
            ("", "__global" | "__constant" | "__local", "8") => "void*",
            _ => name,
        }
    }

    /// Whether the argument is a pointer.
    #[must_use]
    pub fn is_pointer(&self) -> bool {
        self.type_in_source().ends_with('*')
    }

    /// Type of the numbers that the argument consists of or points at: `f` for `float4*`; `None` for structures.
    #[must_use]
    pub fn element(&self) -> Option<DataType> {
        let name = self.type_in_source().trim_end_matches('*');
        value::type_of(name.trim_end_matches(|c: char| c.is_ascii_digit()))
    }
}

/// Most arguments of a kernel: drivers allow 2,048 bytes of them.
const MOST_PARAMETERS: u32 = 2048;

impl ZeInfo {
    /// Bytes of a register of the machine that the program was compiled for, where the metadata say so: each local id
    /// of 8 or 16 lanes takes one register.
    #[must_use]
    pub fn grf_bytes(&self) -> Option<u32> {
        let kernels = self.kernels.iter();
        let mut sizes = kernels.filter_map(|kernel| {
            let narrow = (1..=16).contains(&kernel.execution_env.simd_size);
            let mut ids = kernel.per_thread_payload_arguments.iter();
            let ids = ids.find(|a| narrow && a.arg_type == ArgType::LocalId)?;
            match ids.size {
                32 | 96 => Some(32),
                192 => Some(64),
                _ => None,
            }
        });
        sizes.next()
    }

    /// Reads the text of a `.ze_info` section; an empty one has no kernels.
    ///
    /// # Errors
    /// [`LaunchError::ZeInfo`] where it is no YAML or of other types than the specification says. Aliases that
    /// grow without bound are refused: nodes are at most 250,000, or a quarter of the bytes.
    pub fn parse(text: &str) -> Result<Self, LaunchError> {
        // The section may be padded with zero bytes.
        let text = text.trim_end_matches('\0');
        if text.is_empty() {
            return Ok(Self::default());
        }
        serde_saphyr::from_str_with_options(text, bounds(text))
            .map_err(|error| LaunchError::ZeInfo(error.to_string()))
    }

    /// Keys that the specification does not have, with the keys they are in, as in `kernels.execution_env.new`. Each is
    /// named once; text that [`Self::parse`] refuses has none.
    #[must_use]
    pub fn unknown_keys(text: &str) -> Vec<String> {
        let text = text.trim_end_matches('\0');
        let mut found = BTreeSet::new();
        let value = serde_saphyr::from_str_with_options::<serde_json::Value>(text, bounds(text));
        if let Ok(value) = value {
            keys::unknown(&value, "", "", &mut found);
        }
        found.into_iter().collect()
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`LaunchError::NoSuchKernel`] names those that there are.
    pub fn kernel(&self, name: &str) -> Result<&KernelInfo, LaunchError> {
        self.kernels.iter().find(|k| k.name == name).ok_or_else(|| {
            let known: Vec<_> = self.kernels.iter().map(|k| k.name.as_str()).collect();
            LaunchError::NoSuchKernel {
                name: name.to_owned(),
                place: "the metadata",
                known: known.join(", "),
            }
        })
    }

    /// What the source states about the arguments of a kernel, if the compiler recorded it.
    #[must_use]
    pub fn args_info(&self, kernel: &str) -> &[ArgInfo] {
        let found = self.kernels_misc_info.iter().find(|k| k.name == kernel);
        found.map_or(&[], |k| &k.args_info)
    }

    /// Kinds and sizes of a kernel's arguments: as they were written down, with names and types, or else as far as the
    /// payload says. Arguments that a kernel does not use are values of an unknown size, 0, then; those at the end are missing.
    #[must_use]
    pub fn parameters(&self, kernel: &str) -> Vec<ArgInfo> {
        let stated = self.args_info(kernel);
        match self.kernel(kernel) {
            Ok(info) if stated.is_empty() => (0..info.argument_count().min(MOST_PARAMETERS))
                .map(|index| parameter(info, index))
                .collect(),
            _ => stated.to_vec(),
        }
    }
}

/// What the pieces of the payload say of an argument: its kind, and the size of a value.
fn parameter(kernel: &KernelInfo, index: u32) -> ArgInfo {
    let pieces = kernel.payload_arguments.iter();
    let pieces = pieces.filter(|piece| piece.arg_index == Some(index));
    let (mut qualifier, mut name, mut size) = ("__private", "", 0);
    let structure = structure::size(kernel, index);
    for piece in pieces {
        match (&piece.arg_type, &piece.addrspace, &piece.addrmode) {
            (ArgType::ArgByvalue, ..) if structure.is_some() => size = structure.unwrap_or(0),
            (ArgType::ArgByvalue, ..) => {
                let end = piece.source_offset.unwrap_or(0).saturating_add(piece.size);
                size = size.max(end);
            }
            (ArgType::ArgBypointer, Some(AddrSpace::Image), _) => {
                (qualifier, name, size) = ("__global", "image_t", 8);
            }
            (ArgType::ArgBypointer, Some(AddrSpace::Sampler), _) => {
                (name, size) = ("sampler_t", 8);
            }
            (ArgType::ArgBypointer, _, Some(AddrMode::Slm)) => {
                (qualifier, size) = ("__local", 8);
            }
            (ArgType::ArgBypointer, ..) => (qualifier, size) = ("__global", 8),
            _ => {}
        }
    }
    ArgInfo {
        index,
        address_qualifier: qualifier.to_owned(),
        type_name: format!("{name};{size}"),
        ..ArgInfo::default()
    }
}

impl KernelInfo {
    /// Number of arguments, as far as the payload says.
    #[must_use]
    pub fn argument_count(&self) -> u32 {
        let indices = self.payload_arguments.iter().filter_map(|a| a.arg_index);
        indices.map(|i| i.saturating_add(1)).max().unwrap_or(0)
    }

    /// Bytes of scratch memory of a thread.
    #[must_use]
    pub fn scratch_bytes(&self) -> u64 {
        let buffers = self.per_thread_memory_buffers.iter();
        let scratch = buffers.filter(|b| b.kind == "scratch");
        scratch.map(|b| u64::from(b.size)).sum()
    }

    /// Bytes of private memory of a thread.
    #[must_use]
    pub fn private_bytes(&self) -> u64 {
        let buffers = self.per_thread_memory_buffers.iter();
        let private = buffers.filter(|b| b.usage == "private_space");
        let each = private.map(|b| match b.is_simt_thread {
            true => u64::from(b.size) * u64::from(self.execution_env.simd_size),
            false => u64::from(b.size),
        });
        each.sum::<u64>()
            .max(self.execution_env.private_size.into())
    }

    /// Bytes that a thread spills from registers to memory, as new and old compilers state them.
    #[must_use]
    pub fn spill_bytes(&self) -> u64 {
        let buffers = self.per_thread_memory_buffers.iter();
        let spilled = buffers.filter(|b| b.usage == "spill_fill_space");
        let spilled: u64 = spilled.map(|b| u64::from(b.size)).sum();
        spilled.max(self.execution_env.spill_size.into())
    }

    /// Bytes of the registers that the per-thread data takes.
    pub(crate) fn per_thread_registers(&self, grf_bytes: u32) -> u32 {
        let bytes = self.per_thread_bytes();
        let whole = bytes.checked_next_multiple_of(grf_bytes.max(1));
        whole.unwrap_or(bytes)
    }

    /// Bytes of per-thread data before the cross-thread data.
    #[must_use]
    pub fn per_thread_bytes(&self) -> u32 {
        let args = self.per_thread_payload_arguments.iter();
        let ends = args.map(|a| a.offset.saturating_add(a.size));
        ends.max().unwrap_or(0)
    }
}

/// A list; a key without a value counts as an empty one.
fn list<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Vec<T>>::deserialize(from)?.unwrap_or_default())
}

/// A value; a key without one counts as the default.
fn value<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}
