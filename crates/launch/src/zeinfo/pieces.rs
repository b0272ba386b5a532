//! The kinds of pieces that a payload has, and what a launch does with each.

use super::KernelInfo;
use crate::error::LaunchError;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// An enumeration of names in the metadata, each with its older spellings. A name that it does not have is kept, for the
/// error where it matters.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$kind_doc:meta])* $kind:ident = $text:literal $(| $old:literal)*,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$kind_doc])* $kind,)*
            /// One that the specification does not have.
            Unknown(Box<str>),
        }

        impl $name {
            /// The name in the metadata.
            #[must_use]
            pub const fn name(&self) -> &str {
                match self {
                    $(Self::$kind => $text,)*
                    Self::Unknown(name) => name,
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = Cow::<str>::deserialize(from)?;
                Ok(match &*name {
                    $($text $(| $old)* => Self::$kind,)*
                    _ => Self::Unknown(name.into()),
                })
            }
        }
    };
}

/// What a launch does with the pieces of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provided {
    /// They are written to the data that the threads of a group have in common.
    ToGroups,
    /// They are written to the data of each thread.
    ToThreads,
    /// They are refused, for this reason.
    Not(&'static str),
}

/// Why pieces are refused.
const RAYS: Provided = Provided::Not("there is no ray tracing");
const REGIONS: Provided = Provided::Not("groups do not run in regions");
const UNKNOWN: Provided = Provided::Not("nothing is known about it");

use Provided::{ToGroups, ToThreads};

/// The table of kinds: the name in the metadata, and what becomes of the pieces.
macro_rules! kinds {
    ($($kind:ident = $text:literal: $provided:expr,)*) => {
        names! {
            /// The kind of a piece of the payload.
            #[allow(
                missing_docs,
                reason = "the names are those of the specification, which explains them"
            )]
            ArgType { $($kind = $text,)* }
        }

        impl ArgType {
            /// All kinds of the specification.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// What a launch does with pieces of this kind.
            #[must_use]
            pub const fn provided(&self) -> Provided {
                match self {
                    $(Self::$kind => $provided,)*
                    Self::Unknown(_) => UNKNOWN,
                }
            }
        }
    };
}

kinds! {
    PackedLocalIds = "packed_local_ids": ToThreads,
    LocalId = "local_id": ToThreads,
    LocalSize = "local_size": ToGroups,
    GroupCount = "group_count": ToGroups,
    WorkDimensions = "work_dimensions": ToGroups,
    GlobalSize = "global_size": ToGroups,
    EnqueuedLocalSize = "enqueued_local_size": ToGroups,
    GlobalIdOffset = "global_id_offset": ToGroups,
    PrivateBaseStateless = "private_base_stateless": ToGroups,
    BufferAddress = "buffer_address": ToGroups,
    BufferOffset = "buffer_offset": ToGroups,
    BufferSize = "buffer_size": ToGroups,
    PrintfBuffer = "printf_buffer": ToGroups,
    ImplicitArgBuffer = "implicit_arg_buffer": ToGroups,
    SyncBuffer = "sync_buffer": ToGroups,
    AssertBuffer = "assert_buffer": ToGroups,
    ArgByvalue = "arg_byvalue": ToGroups,
    ArgBypointer = "arg_bypointer": ToGroups,
    ImageHeight = "image_height": ToGroups,
    ImageWidth = "image_width": ToGroups,
    ImageDepth = "image_depth": ToGroups,
    ImageNumMipLevels = "image_num_mip_levels": ToGroups,
    ImageChannelDataType = "image_channel_data_type": ToGroups,
    ImageChannelOrder = "image_channel_order": ToGroups,
    ImageArraySize = "image_array_size": ToGroups,
    ImageNumSamples = "image_num_samples": ToGroups,
    SamplerAddress = "sampler_address": ToGroups,
    SamplerNormalized = "sampler_normalized": ToGroups,
    SamplerSnapWa = "sampler_snap_wa": ToGroups,
    InlineSampler = "inline_sampler": ToGroups,
    ConstBase = "const_base": ToGroups,
    GlobalBase = "global_base": ToGroups,
    ScratchPointer = "scratch_pointer": ToGroups,
    IndirectDataPointer = "indirect_data_pointer": ToGroups,
    RtGlobalBuffer = "rt_global_buffer": RAYS,
    RegionGroupSize = "region_group_size": REGIONS,
    RegionGroupDimension = "region_group_dimension": REGIONS,
    RegionGroupWgCount = "region_group_wg_count": REGIONS,
    RegionGroupBarrierBuffer = "region_group_barrier_buffer": REGIONS,
}

impl Default for ArgType {
    fn default() -> Self {
        Self::Unknown("".into())
    }
}

names! {
    /// How a pointer argument is used.
    AddrMode {
        /// By its 64-bit address.
        Stateless = "stateless",
        /// By an entry of the binding table.
        Stateful = "stateful",
        /// By a handle in the payload.
        Bindless = "bindless",
        /// By an offset in local memory. Metadata before version 1.0 spell it out.
        Slm = "slm" | "shared_local_memory",
    }
}

names! {
    /// The address space that a pointer argument points to.
    AddrSpace {
        /// Global memory.
        Global = "global",
        /// Local memory.
        Local = "local",
        /// Global memory that is only read.
        Constant = "constant",
        /// An image.
        Image = "image",
        /// A sampler.
        Sampler = "sampler",
    }
}

impl ArgType {
    /// The error for a piece of this kind in data that it is not provided to.
    pub(crate) fn missing(&self) -> LaunchError {
        let reason = match self.provided() {
            Provided::Not(reason) => reason,
            ToGroups => "it is no data of threads",
            ToThreads => "it is no data of groups",
        };
        LaunchError::Payload(format!("`{}` in its payload, but {reason}", self.name()))
    }
}

impl KernelInfo {
    /// Whether all that the kernel wants of a launch is provided. What is unknown and has no bytes, or changes nothing but
    /// speed, does not matter.
    pub(crate) fn is_provided(&self) -> Result<(), LaunchError> {
        let wants = |what: String| Err(LaunchError::Payload(what));
        let reason = &self.user_attributes.invalid_kernel;
        if !reason.is_empty() {
            return Err(LaunchError::Invalid(reason.clone()));
        }
        let mode = self.execution_env.slm_alloc_mode;
        if mode > 1 {
            return wants(format!(
                "`slm_alloc_mode: {mode}`, of which nothing is known"
            ));
        }
        let pieces = self.payload_arguments.iter().map(|piece| (piece, ToGroups));
        let of_threads = self.per_thread_payload_arguments.iter();
        let pieces = pieces.chain(of_threads.map(|piece| (piece, ToThreads)));
        for (piece, to) in pieces.filter(|(piece, _)| piece.size > 0) {
            if piece.arg_type.provided() != to {
                return Err(piece.arg_type.missing());
            }
            let names = [
                piece
                    .addrmode
                    .as_ref()
                    .map(|mode| (matches!(mode, AddrMode::Unknown(_)), mode.name())),
                piece
                    .addrspace
                    .as_ref()
                    .map(|space| (matches!(space, AddrSpace::Unknown(_)), space.name())),
            ];
            if let Some((_, name)) = names
                .into_iter()
                .flatten()
                .find(|(is_unknown, _)| *is_unknown)
            {
                let kind = piece.arg_type.name();
                return wants(format!("`{kind}` as `{name}`, of which nothing is known"));
            }
        }
        let mut buffers = self.per_thread_memory_buffers.iter().filter(|b| b.size > 0);
        match buffers.find(|b| !matches!(b.kind.as_str(), "scratch" | "global")) {
            Some(buffer) => wants(format!(
                "memory of each thread in `{}`, where none is provided",
                buffer.kind
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Whether all is provided that a kernel with this in its metadata wants.
    fn judge(text: &str) -> Result<(), String> {
        let info: KernelInfo = serde_saphyr::from_str(text).unwrap();
        info.is_provided().map_err(|error| error.to_string())
    }

    /// Each kind is provided to groups, to threads, or refused by its name and with a reason.
    #[test]
    fn every_kind() {
        for kind in ArgType::ALL {
            let name = kind.name();
            let piece =
                |size: u32| format!("{{arg_type: {name}, offset: 0, size: {size}, arg_index: 0}}");
            let (group, thread) = (
                |size| judge(&format!("payload_arguments: [{}]", piece(size))),
                |size| judge(&format!("per_thread_payload_arguments: [{}]", piece(size))),
            );
            let refused = |reason: &str| {
                Err(format!(
                    "the kernel wants `{name}` in its payload, but {reason}"
                ))
            };
            let (to_groups, to_threads) = match kind.provided() {
                ToGroups => (Ok(()), refused("it is no data of threads")),
                ToThreads => (refused("it is no data of groups"), Ok(())),
                Provided::Not(reason) => (refused(reason), refused(reason)),
            };
            assert_eq!((group(8), thread(8)), (to_groups, to_threads));
            assert_eq!((group(0), thread(0)), (Ok(()), Ok(())), "{name}");
        }
    }

    /// The names of version 1.73 of the specification.
    #[test]
    fn names_of_the_specification() {
        let names: Vec<_> = ArgType::ALL.iter().map(ArgType::name).collect();
        insta::assert_snapshot!(names.join(" "));
        for kind in ArgType::ALL {
            assert_eq!(
                serde_saphyr::from_str::<ArgType>(kind.name()).unwrap(),
                *kind
            );
        }
    }

    /// Releases before version 1.0 of the metadata spell local memory out.
    #[test]
    fn older_spellings() {
        for name in ["slm", "shared_local_memory"] {
            let mode: AddrMode = serde_saphyr::from_str(name).unwrap();
            assert_eq!((mode.name(), &mode), ("slm", &AddrMode::Slm));
        }
        let piece =
            "{arg_type: arg_bypointer, size: 8, addrmode: shared_local_memory, addrspace: local}";
        assert_eq!(judge(&format!("payload_arguments: [{piece}]")), Ok(()));
    }

    /// What is unknown is named where it matters, and skipped where it does not.
    #[test]
    fn what_is_unknown() {
        let piece = |rest: &str| judge(&format!("payload_arguments: [{{arg_type: {rest}}}]"));
        assert_eq!(
            piece("moon_phase, offset: 0, size: 4"),
            Err(
                "the kernel wants `moon_phase` in its payload, but nothing is known about it"
                    .to_owned()
            )
        );
        assert_eq!(piece("moon_phase, offset: 0, size: 0"), Ok(()));
        assert_eq!(
            piece("arg_bypointer, size: 8, addrmode: sideways"),
            Err(
                "the kernel wants `arg_bypointer` as `sideways`, of which nothing is known"
                    .to_owned()
            )
        );
        assert_eq!(
            piece("arg_bypointer, size: 8, addrmode: stateless, addrspace: outer"),
            Err(
                "the kernel wants `arg_bypointer` as `outer`, of which nothing is known".to_owned()
            )
        );
        assert_eq!(piece("arg_bypointer, size: 0, addrmode: sideways"), Ok(()));
        assert_eq!(
            judge("execution_env: {slm_alloc_mode: 2}"),
            Err("the kernel wants `slm_alloc_mode: 2`, of which nothing is known".to_owned())
        );
        let buffers = |kind: &str, size: u32| {
            judge(&format!(
                "per_thread_memory_buffers: [{{type: {kind}, size: {size}}}]"
            ))
        };
        assert_eq!(
            buffers("slm", 64),
            Err(
                "the kernel wants memory of each thread in `slm`, where none is provided"
                    .to_owned()
            )
        );
        assert_eq!(
            (
                buffers("slm", 0),
                buffers("scratch", 64),
                buffers("global", 64)
            ),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!(
            judge("user_attributes: {invalid_kernel: too much recursion}"),
            Err("the compiler made no kernel: too much recursion".to_owned())
        );
        // What decides on speed alone.
        assert_eq!(
            judge(
                "execution_env: {thread_scheduling_mode: by_mood, quantum_size: 7, has_bindless_image_read: true}"
            ),
            Ok(())
        );
    }
}
