//! The contents of the pieces of a kernel's payload.

use crate::argument::{Argument, addressing_number, order_number, snaps, type_number};
use crate::error::LaunchError;
use crate::handles::inline_handle;
use crate::ndrange::NdRange;
use crate::zeinfo::{AddrMode, AddrSpace, ArgType, PayloadArgument};
use visakit_exec::memory::Sampler;

/// An argument after binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundArgument {
    /// A buffer in global memory.
    Buffer {
        /// Its address.
        address: u64,
        /// Its size in bytes.
        size: u64,
        /// Bytes of its surface before the address.
        before: u32,
        /// Its handle for bindless access, if it has one.
        handle: Option<u32>,
    },
    /// An offset in local memory.
    Local(u32),
    /// A value or an image, of which everything is known without a place.
    Elsewhere {
        /// Handle for bindless access, if it has one.
        handle: Option<u32>,
    },
}

/// Everything needed to build the payload of a group.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The grid.
    pub range: &'a NdRange,
    /// Work-items of this group.
    pub local: [u32; 3],
    /// The arguments.
    pub arguments: &'a [Argument],
    /// The bound arguments; the same number.
    pub places: &'a [BoundArgument],
    /// Base of private memory.
    pub private_base: u64,
    /// Address of the buffer for printf.
    pub printf: u64,
    /// Address of the buffer for assertions.
    pub assert: u64,
    /// Address of the buffer through which groups wait for each other.
    pub sync: u64,
    /// The program's constants.
    pub constants: Section,
    /// The program's variables.
    pub globals: Section,
    /// Address of the implicit arguments.
    pub implicit: u64,
}

/// Program-scope data in global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its address; 0 if there is none.
    pub address: u64,
    /// Its handle for bindless access.
    pub handle: u32,
    /// Its size.
    pub bytes: u64,
}

impl Section {
    /// Its value in the payload: the handle if it is accessed by handle, otherwise the address.
    fn base(self, piece: &PayloadArgument) -> Vec<u8> {
        let bindless = piece.addrmode == Some(AddrMode::Bindless);
        let value = if bindless {
            self.handle.into()
        } else {
            self.address
        };
        value.to_le_bytes().to_vec()
    }
}

impl Facts<'_> {
    /// The bytes of one piece of the payload.
    ///
    /// # Errors
    /// [`LaunchError::Argument`] where the argument is of the wrong kind, [`LaunchError::Payload`] for pieces that are
    /// not known.
    pub fn bytes(&self, piece: &PayloadArgument) -> Result<Vec<u8>, LaunchError> {
        let three = |values: [u32; 3]| values.into_iter().flat_map(u32::to_le_bytes).collect();
        let word = |value: u32| value.to_le_bytes().to_vec();
        let long = |value: u64| value.to_le_bytes().to_vec();
        Ok(match piece.arg_type {
            ArgType::GlobalIdOffset => three(self.range.offset),
            ArgType::LocalSize => three(self.local),
            ArgType::EnqueuedLocalSize => three(self.range.local),
            ArgType::GroupCount => three(self.range.groups()),
            ArgType::GlobalSize => three(self.range.global),
            ArgType::WorkDimensions => word(self.range.dimensions),
            ArgType::PrivateBaseStateless => long(self.private_base),
            ArgType::PrintfBuffer => long(self.printf),
            ArgType::AssertBuffer => long(self.assert),
            ArgType::SyncBuffer => long(self.sync),
            ArgType::ConstBase => self.constants.base(piece),
            ArgType::GlobalBase => self.globals.base(piece),
            ArgType::ImplicitArgBuffer => long(self.implicit),
            // The finalizer's prologue loads the rest of the payload, and the registers for scratch, through them. Here
            // the register image is complete; a kernel that reads through them itself faults.
            ArgType::IndirectDataPointer | ArgType::ScratchPointer => long(0),
            ArgType::BufferOffset => word(match self.argument(piece)? {
                (_, _, BoundArgument::Buffer { before, .. }) => *before,
                _ => 0,
            }),
            ArgType::ArgByvalue => {
                let (index, argument, _) = self.argument(piece)?;
                let Argument::Value(value) = argument else {
                    return Err(wrong(index, argument, "a value"));
                };
                let from = usize::try_from(piece.source_offset.unwrap_or(0)).unwrap_or(usize::MAX);
                value.get(from..).unwrap_or_default().to_vec()
            }
            ArgType::ArgBypointer if piece.size == 0 => Vec::new(),
            ArgType::ArgBypointer | ArgType::BufferAddress => self.pointer(piece)?,
            ArgType::BufferSize => {
                let (index, argument, place) = self.argument(piece)?;
                match place {
                    BoundArgument::Buffer { size, .. } => long(*size),
                    _ => return Err(wrong(index, argument, "a buffer")),
                }
            }
            ArgType::ImageWidth
            | ArgType::ImageHeight
            | ArgType::ImageDepth
            | ArgType::ImageArraySize
            | ArgType::ImageNumMipLevels
            | ArgType::ImageNumSamples
            | ArgType::ImageChannelDataType
            | ArgType::ImageChannelOrder => word(self.image_fact(piece)?),
            ArgType::SamplerAddress => word(addressing_number(self.sampler(piece)?)),
            ArgType::SamplerNormalized => word(if self.sampler(piece)?.normalized {
                8
            } else {
                0
            }),
            ArgType::SamplerSnapWa => word(if snaps(self.sampler(piece)?) {
                u32::MAX
            } else {
                0
            }),
            ArgType::InlineSampler => {
                let number = piece.sampler_index.unwrap_or(0);
                if piece.addrmode == Some(AddrMode::Bindless) {
                    let handle = inline_handle(self.arguments.len(), number);
                    long(handle.unwrap_or(0).into())
                } else {
                    word(number)
                }
            }
            ArgType::PackedLocalIds
            | ArgType::LocalId
            | ArgType::RtGlobalBuffer
            | ArgType::RegionGroupSize
            | ArgType::RegionGroupDimension
            | ArgType::RegionGroupWgCount
            | ArgType::RegionGroupBarrierBuffer
            | ArgType::Unknown(_) => return Err(piece.arg_type.missing()),
        })
    }

    fn argument(
        &self,
        piece: &PayloadArgument,
    ) -> Result<(usize, &Argument, &BoundArgument), LaunchError> {
        let index = piece.arg_index.and_then(|i| usize::try_from(i).ok());
        let found = index.and_then(|i| Some((i, self.arguments.get(i)?, self.places.get(i)?)));
        found.ok_or_else(|| {
            let index = index.map_or_else(|| "none".to_owned(), |i| i.to_string());
            LaunchError::Mismatch(format!(
                "the payload speaks of argument {index}, which there is not"
            ))
        })
    }

    /// A pointer argument in the payload: an address, an offset in local memory or a handle.
    fn pointer(&self, piece: &PayloadArgument) -> Result<Vec<u8>, LaunchError> {
        let (index, argument, place) = self.argument(piece)?;
        let bindless = piece.addrmode == Some(AddrMode::Bindless);
        match place {
            BoundArgument::Buffer { handle, .. } if bindless => handle
                .map(|h| u64::from(h).to_le_bytes().to_vec())
                .ok_or_else(|| {
                    LaunchError::Payload("a handle for a buffer that has none".to_owned())
                }),
            BoundArgument::Buffer { address, .. } => Ok(address.to_le_bytes().to_vec()),
            BoundArgument::Local(offset) => Ok(u64::from(*offset).to_le_bytes().to_vec()),
            BoundArgument::Elsewhere {
                handle: Some(handle),
            } => Ok(u64::from(*handle).to_le_bytes().to_vec()),
            BoundArgument::Elsewhere { handle: None } => {
                let expected = match (&piece.addrmode, &piece.addrspace) {
                    (Some(AddrMode::Slm), _) => "a size of local memory",
                    (_, Some(AddrSpace::Image)) => "an image",
                    (_, Some(AddrSpace::Sampler)) => "a sampler",
                    _ => "a buffer",
                };
                Err(wrong(index, argument, expected))
            }
        }
    }

    fn image_fact(&self, piece: &PayloadArgument) -> Result<u32, LaunchError> {
        let (index, argument, _) = self.argument(piece)?;
        let Some(image) = argument.image() else {
            return Err(wrong(index, argument, "an image"));
        };
        Ok(match piece.arg_type {
            ArgType::ImageWidth => image.width,
            ArgType::ImageHeight => image.height,
            ArgType::ImageChannelDataType => type_number(image.format),
            ArgType::ImageChannelOrder => order_number(image.format),
            ArgType::ImageDepth => image.slices(),
            ArgType::ImageArraySize => image.entries(),
            // The only level; there is no number of samples without multisampling.
            ArgType::ImageNumMipLevels => 1,
            _ => 0,
        })
    }

    fn sampler(&self, piece: &PayloadArgument) -> Result<Sampler, LaunchError> {
        let (index, argument, _) = self.argument(piece)?;
        match argument {
            Argument::Sampler(sampler) => Ok(*sampler),
            _ => Err(wrong(index, argument, "a sampler")),
        }
    }
}

/// The error for an argument of the wrong kind.
pub(crate) fn wrong(index: usize, argument: &Argument, expected: &str) -> LaunchError {
    let kind = argument.kind();
    let article = if kind.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    LaunchError::Argument {
        index,
        message: format!("the kernel wants {expected}, not {article} {kind}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn pieces_of_arguments() {
        let range = NdRange::new(&[10, 4], &[4, 2], &[1, 2]).unwrap();
        let arguments = [
            Argument::Value((0..20).collect()),
            Argument::Local(8),
            Argument::Buffer(vec![0; 64]),
        ];
        let places = [
            BoundArgument::Elsewhere { handle: None },
            BoundArgument::Local(0x40),
            BoundArgument::Buffer {
                address: 0x1_0000_1000,
                size: 64,
                before: 24,
                handle: Some(192),
            },
        ];
        let facts = Facts {
            range: &range,
            local: [2, 2, 1],
            arguments: &arguments,
            places: &places,
            private_base: 0x5000,
            printf: 0x6000,
            assert: 0x7000,
            sync: 0x8000,
            constants: Section {
                address: 0x2_0000_0000,
                handle: 256,
                bytes: 0,
            },
            globals: Section::default(),
            implicit: 0,
        };
        let bytes = |kind: &str, index: u32, rest: &str| {
            let text =
                format!("{{arg_type: {kind}, offset: 0, size: 64, arg_index: {index}{rest}}}");
            facts.bytes(&serde_saphyr::from_str(&text).unwrap())
        };
        let words = |kind: &str| {
            let bytes = bytes(kind, 0, "").unwrap();
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|b| u32::from_le_bytes(*b))
                .collect::<Vec<_>>()
        };
        assert_eq!(words("global_id_offset"), [1, 2, 0]);
        assert_eq!(words("local_size"), [2, 2, 1]);
        assert_eq!(words("enqueued_local_size"), [4, 2, 1]);
        assert_eq!(words("group_count"), [3, 2, 1]);
        assert_eq!(words("global_size"), [10, 4, 1]);
        assert_eq!(words("work_dimensions"), [2]);
        assert_eq!(words("private_base_stateless"), [0x5000, 0]);
        assert_eq!(words("printf_buffer"), [0x6000, 0]);
        assert_eq!(words("assert_buffer"), [0x7000, 0]);
        assert_eq!(words("sync_buffer"), [0x8000, 0]);
        assert_eq!(
            bytes("arg_byvalue", 0, ", source_offset: 10").unwrap(),
            (10..20).collect::<Vec<u8>>()
        );
        assert_eq!(
            bytes("arg_bypointer", 1, ", addrmode: slm").unwrap(),
            0x40_u64.to_le_bytes()
        );
        assert_eq!(
            bytes("arg_bypointer", 2, "").unwrap(),
            0x1_0000_1000_u64.to_le_bytes()
        );
        assert_eq!(
            bytes("arg_bypointer", 2, ", addrmode: bindless").unwrap(),
            192_u64.to_le_bytes()
        );
        assert_eq!(bytes("buffer_size", 2, "").unwrap(), 64_u64.to_le_bytes());
        assert_eq!(
            bytes("const_base", 0, "").unwrap(),
            0x2_0000_0000_u64.to_le_bytes()
        );
        assert_eq!(
            bytes("const_base", 0, ", addrmode: bindless").unwrap(),
            256_u64.to_le_bytes()
        );
        assert_eq!(bytes("buffer_offset", 2, "").unwrap(), [24, 0, 0, 0]);
        assert!(bytes("arg_byvalue", 2, "").is_err());
        assert!(bytes("arg_bypointer", 0, "").is_err());
        assert!(bytes("arg_bypointer", 9, "").is_err());
        assert!(bytes("something_new", 0, "").is_err());
    }
}
