//! Arguments into global memory, surfaces and samplers.

use crate::argument::{Argument, Shared, sampler};
use crate::config::Config;
use crate::error::{LaunchError, zeroes};
use crate::facts::{BoundArgument, Section, wrong};
use crate::handles::{handle_of, inline_handle};
use crate::objects::{MemoryObject, ObjectKind};
use crate::payload::MOST_ALIGNED;
use crate::slm;
use crate::variables::Variables;
use crate::zeinfo::{AddrMode, AddrSpace, ArgType, KernelInfo};
use std::sync::Arc;
use visakit_exec::memory::{Content, Image, Reachable, Storage, Surface};
use visakit_exec::{BufferId, Memory};

/// Sections of constants.
pub(crate) const CONSTANTS: [&str; 2] = [".data.const", ".bss.const"];
/// Sections of variables.
pub(crate) const GLOBALS: [&str; 2] = [".data.global", ".bss.global"];

/// Buffers that a kernel reaches through pointers in memory.
#[derive(Clone, Debug)]
pub struct Others {
    /// Finds them.
    pub known: Arc<dyn Reachable>,
    /// How many of them are likely to be accessed.
    pub expected: usize,
}

/// Arguments and program-scope variables after binding.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) memory: Memory,
    /// One for each argument.
    pub(crate) places: Vec<BoundArgument>,
    pub(crate) slm_bytes: usize,
    pub(crate) private_base: u64,
    pub(crate) buffers: Vec<Option<BufferId>>,
    /// Storage that arguments share with the host, and the buffers that it has become.
    shared: Vec<(usize, BufferId)>,
    sections: Vec<(String, Section, Surface)>,
    pub(crate) printf: Option<BufferId>,
    pub(crate) assert: Option<BufferId>,
    /// Address of the buffer through which groups wait for each other; 0 if there is none.
    pub(crate) sync: u64,
    /// Arguments in local memory: number, place after the program's own variables, size.
    pub(crate) locals: Vec<(usize, u64, u64)>,
}

/// Lays everything out for a device with registers of that size.
pub(crate) fn bind(
    (info, grf_bytes): (&KernelInfo, u32),
    arguments: &[Argument],
    variables: &Variables,
    others: Option<&Others>,
    config: &Config<'_>,
) -> Result<Bound, LaunchError> {
    let mut bound = Bound {
        memory: Memory::new(config.max_memory),
        places: Vec::new(),
        slm_bytes: 0,
        private_base: 0,
        buffers: Vec::new(),
        shared: Vec::new(),
        sections: Vec::new(),
        printf: None,
        assert: None,
        sync: 0,
        locals: Vec::new(),
    };
    bound.memory.set_exact(config.exact_ends);
    bound.sections = variables.put(&mut bound.memory, arguments.len())?;
    // Arguments in local memory lie after the program's own variables. By default the kernel adds the size of those
    // itself.
    let own = u64::from(info.execution_env.slm_size);
    let start = if info.execution_env.slm_alloc_mode == 1 {
        own
    } else {
        0
    };
    let mut local = start;
    for (index, argument) in arguments.iter().enumerate() {
        // The first one is where compilers expect it without asking.
        if matches!(argument, Argument::Local(_)) && !bound.locals.is_empty() {
            local = local.saturating_add(if config.lenient { slm::GUARD } else { 0 });
        }
        bound.add(info, index, argument, &mut local)?;
        if let (Argument::Local(bytes), Some(BoundArgument::Local(at))) =
            (argument, bound.places.last())
        {
            let at = u64::from(*at) - start + own;
            bound.locals.push((index, at, *bytes as u64));
        }
    }
    let local = local.saturating_add(own - start);
    if local > slm::MOST {
        return Err(LaunchError::TooLarge {
            what: "local memory",
            bytes: local,
            limit: slm::MOST,
        });
    }
    let allotted = if config.exact_ends {
        local
    } else {
        slm::allotted(local, grf_bytes)
    };
    bound.slm_bytes = usize::try_from(allotted).unwrap_or(usize::MAX);
    if let Some(others) = others {
        bound
            .memory
            .reach(Arc::clone(&others.known), others.expected);
    }
    bound.bind_surfaces(info, arguments)?;
    bound.bind_samplers(info, arguments)?;
    Ok(bound)
}

/// Whether an image fits into this many bytes.
fn fits(index: usize, image: &crate::argument::Image, bytes: u64) -> Result<(), LaunchError> {
    let row = u64::from(image.width) * image.format.bytes() as u64;
    let rows = u64::from(image.row_pitch) * u64::from(image.height);
    // The last row may end where its pixels do.
    let most = bytes.saturating_add(u64::from(image.row_pitch));
    if row > image.row_pitch.into()
        || (image.depth > 1 && rows > image.slice_pitch)
        || image.span() > most
    {
        return Err(LaunchError::Argument {
            index,
            message: format!(
                "an image of {} rows at {} bytes, {} slices at {} bytes, does not fit into {} bytes, or rows \
                 of {row} bytes overlap",
                image.height, image.row_pitch, image.depth, image.slice_pitch, bytes
            ),
        });
    }
    Ok(())
}

/// The kernel's argument of that number, as an index.
fn is_argument(stated: Option<u32>, index: usize) -> bool {
    stated.is_some_and(|i| usize::try_from(i) == Ok(index))
}

/// Bytes of a pointer's allocation before it that its surface has, too: all of them if the kernel adds them to
/// offsets, as Intel's driver does it.
fn before(info: &KernelInfo, index: usize, part: &Shared) -> u32 {
    let mut pieces = info.payload_arguments.iter();
    let adds =
        pieces.any(|a| a.arg_type == ArgType::BufferOffset && is_argument(a.arg_index, index));
    let before = part.before.min(part.offset);
    u32::try_from(before).ok().filter(|_| adds).unwrap_or(0)
}

impl Bound {
    fn add(
        &mut self,
        info: &KernelInfo,
        index: usize,
        argument: &Argument,
        local: &mut u64,
    ) -> Result<(), LaunchError> {
        let handle = handle_of(index + 1);
        let mut buffer = None;
        let place = match argument {
            Argument::Buffer(bytes) => {
                let id = self.memory.add_buffer(bytes)?;
                buffer = Some(id);
                BoundArgument::Buffer {
                    address: self.memory.address(id),
                    size: bytes.len() as u64,
                    before: 0,
                    handle,
                }
            }
            Argument::SameAs(other) => match self.places.get(*other) {
                Some(place @ BoundArgument::Buffer { .. }) => {
                    buffer = self.buffers.get(*other).copied().flatten();
                    place.clone()
                }
                _ => {
                    return Err(LaunchError::Argument {
                        index,
                        message: format!("argument {other} is no earlier buffer"),
                    });
                }
            },
            Argument::Null => BoundArgument::Buffer {
                address: 0,
                size: 0,
                before: 0,
                handle: Some(0),
            },
            Argument::Shared(part) => {
                let id = self.lend(&part.storage, part.address)?;
                buffer = Some(id);
                BoundArgument::Buffer {
                    address: self.memory.address(id).wrapping_add(part.offset),
                    size: part.size,
                    before: before(info, index, part),
                    handle,
                }
            }
            Argument::Pointer(address) => BoundArgument::Buffer {
                address: *address,
                size: 0,
                before: 0,
                handle: Some(0),
            },
            Argument::SharedImage(image, part) => {
                let bytes = part.size;
                fits(index, image, bytes)?;
                buffer = Some(self.lend(&part.storage, part.address)?);
                BoundArgument::Elsewhere { handle }
            }
            Argument::Value(_) => BoundArgument::Elsewhere { handle: None },
            Argument::Local(bytes) => {
                let pieces = info.payload_arguments.iter();
                let alignment = pieces
                    .filter(|a| is_argument(a.arg_index, index))
                    .find_map(|a| a.slm_alignment)
                    .unwrap_or(MOST_ALIGNED)
                    .max(1);
                let at = local.checked_next_multiple_of(alignment.into());
                let at = at.unwrap_or(u64::MAX);
                *local = at.saturating_add(*bytes as u64);
                BoundArgument::Local(u32::try_from(at).unwrap_or(u32::MAX))
            }
            Argument::Image(image) => {
                fits(index, image, image.bytes.len() as u64)?;
                buffer = Some(self.memory.add_buffer(&image.bytes)?);
                BoundArgument::Elsewhere { handle }
            }
            Argument::Sampler(_) => BoundArgument::Elsewhere {
                handle: Self::sampler_place(info, index),
            },
        };
        check_kind(info, index, argument)?;
        self.places.push(place);
        self.buffers.push(buffer);
        Ok(())
    }

    /// The surface of an argument.
    fn surface(&self, index: usize, argument: &Argument) -> Option<Surface> {
        if let Argument::Pointer(address) = argument {
            // What is there was not made for the device: memory of the host.
            let (buffer, offset) = self.memory.find(*address)?;
            let size = u64::MAX;
            return Some(Surface::Buffer {
                buffer,
                offset,
                size,
            });
        }
        let buffer = self.buffers.get(index).copied().flatten()?;
        let part = match argument {
            Argument::Shared(part) | Argument::SharedImage(_, part) => Some(part),
            _ => None,
        };
        let before = match self.places.get(index) {
            Some(BoundArgument::Buffer { before, .. }) => u64::from(*before),
            _ => 0,
        };
        let offset = part.map_or(0, |part| part.offset).saturating_sub(before);
        Some(match argument.image() {
            Some(image) => Surface::Image2d(Image {
                offset,
                depth: image.depth.max(1),
                slice_pitch: image.slice_pitch,
                shape: image.kind.shape(),
                ..Image::new_2d(
                    buffer,
                    image.width,
                    image.height,
                    image.row_pitch,
                    image.format,
                )
            }),
            None => Surface::Buffer {
                buffer,
                offset,
                size: part.map_or(u64::MAX, |part| part.size.saturating_add(before)),
            },
        })
    }

    /// The buffer of storage that outlives the launch.
    fn lend(&mut self, storage: &Storage, address: Option<u64>) -> Result<BufferId, LaunchError> {
        let key = storage.host_address();
        if let Some((_, id)) = self.shared.iter().find(|known| known.0 == key) {
            return Ok(*id);
        }
        let id = self.memory.add_storage(storage, address);
        let id = id?;
        self.shared.push((key, id));
        Ok(id)
    }

    fn bind_surfaces(
        &mut self,
        info: &KernelInfo,
        arguments: &[Argument],
    ) -> Result<(), LaunchError> {
        for entry in &info.binding_table_indices {
            let found = usize::try_from(entry.arg_index).ok();
            let argument = found.and_then(|index| Some((index, arguments.get(index)?)));
            let (Some((index, argument)), Ok(bti)) = (argument, u8::try_from(entry.bti_value))
            else {
                continue;
            };
            if let Some(surface) = self.surface(index, argument) {
                self.memory.bind(bti, surface)?;
            }
        }
        // Program-scope variables may have entries, too: their bases name them.
        for piece in &info.payload_arguments {
            let names = match piece.arg_type {
                ArgType::ConstBase => &CONSTANTS,
                ArgType::GlobalBase => &GLOBALS,
                _ => continue,
            };
            let bti = piece.bti_value.and_then(|bti| u8::try_from(bti).ok());
            if let (Some(bti), Some((_, _, surface))) = (bti, self.found(names)) {
                self.memory.bind(bti, *surface)?;
            }
        }
        for (index, argument) in arguments.iter().enumerate() {
            if let (Argument::Pointer(address), Some(BoundArgument::Buffer { handle, .. })) =
                (argument, self.places.get_mut(index))
                && self.memory.find(*address).is_some()
            {
                *handle = handle_of(index + 1);
            }
            let handle = match self.places.get(index) {
                Some(
                    BoundArgument::Buffer { handle, .. } | BoundArgument::Elsewhere { handle },
                ) => *handle,
                _ => None,
            };
            if let (Some(handle), Some(surface)) = (handle, self.surface(index, argument)) {
                self.memory.bind_handle(handle, surface)?;
            }
        }
        Ok(())
    }

    /// The payload value of a sampler: its number, or a handle if the kernel accesses it that way.
    fn sampler_place(info: &KernelInfo, index: usize) -> Option<u32> {
        let mut pieces = info.payload_arguments.iter();
        let piece =
            pieces.find(|a| is_argument(a.arg_index, index) && a.sampler_index.is_some())?;
        if piece.addrmode == Some(AddrMode::Bindless) {
            handle_of(index + 1)
        } else {
            piece.sampler_index
        }
    }

    fn bind_samplers(
        &mut self,
        info: &KernelInfo,
        arguments: &[Argument],
    ) -> Result<(), LaunchError> {
        for inline in &info.inline_samplers {
            let state = sampler(inline.normalized, &inline.addrmode, &inline.filtermode)
                .map_err(LaunchError::ZeInfo)?;
            if let Ok(index) = u8::try_from(inline.sampler_index) {
                self.memory.bind_sampler(index, state);
            }
            if let Some(handle) = inline_handle(arguments.len(), inline.sampler_index) {
                self.memory.bind_sampler_handle(handle, state);
            }
        }
        for (index, argument) in arguments.iter().enumerate() {
            let Argument::Sampler(state) = argument else {
                continue;
            };
            let number = sampler_index(info, index).and_then(|n| u8::try_from(n).ok());
            if let Some(number) = number {
                self.memory.bind_sampler(number, *state);
            }
            if let Some(handle) = handle_of(index + 1) {
                self.memory.bind_sampler_handle(handle, *state);
            }
        }
        Ok(())
    }

    /// A buffer of zeroes; its address.
    pub(crate) fn add_zeroes(&mut self, bytes: u64) -> Result<u64, LaunchError> {
        let id = self.memory.add_zeroed(bytes)?;
        Ok(self.memory.address(id))
    }

    /// A buffer with these contents: its address, and itself.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Result<(u64, BufferId), LaunchError> {
        let id = self.memory.add_buffer(bytes)?;
        Ok((self.memory.address(id), id))
    }

    /// Everything in flat memory by now.
    pub(crate) fn objects(&self) -> Vec<MemoryObject> {
        let object = |id, kind| MemoryObject {
            address: self.memory.address(id),
            bytes: self.memory.len(id) as u64,
            kind,
        };
        let buffers = self.buffers.iter().enumerate();
        let mut objects: Vec<_> = buffers
            .filter_map(|(index, id)| Some(object((*id)?, ObjectKind::Argument(index))))
            .collect();
        for (name, section, _) in &self.sections {
            objects.push(MemoryObject {
                address: section.address,
                bytes: section.bytes,
                kind: ObjectKind::Data(name.clone()),
            });
        }
        if let Some(id) = self.printf {
            objects.push(object(id, ObjectKind::Printf));
        }
        let others = self
            .memory
            .buffers()
            .map(|id| object(id, ObjectKind::Other));
        let is_new = |o: &MemoryObject| objects.iter().all(|known| known.address != o.address);
        let others: Vec<_> = others.filter(is_new).collect();
        objects.extend(others);
        objects
    }

    /// The first of these sections that exists; zeroes if there is none.
    pub(crate) fn section(&self, names: &[&str]) -> Section {
        self.found(names).map_or(Section::default(), |s| s.1)
    }

    fn found(&self, names: &[&str]) -> Option<&(String, Section, Surface)> {
        let mut names = names.iter();
        names.find_map(|name| self.sections.iter().find(|s| s.0 == *name))
    }

    /// Moves out the contents of the buffers and images, one for each argument.
    pub(crate) fn into_contents(self) -> Vec<Option<Arc<Content>>> {
        // Shared storage is visible to the host anyway.
        let contents = self.memory.into_contents().into_iter();
        let contents: Vec<_> = contents.map(|content| content.map(Arc::new)).collect();
        let buffers = self.buffers.iter();
        let content = |id: &BufferId| contents.get(usize::try_from(id.0).ok()?)?.clone();
        buffers.map(|b| content(b.as_ref()?)).collect()
    }

    /// Contents of the buffers and images, one for each argument.
    pub(crate) fn contents(&self) -> Result<Vec<Option<Vec<u8>>>, LaunchError> {
        // Shared storage is visible to the host anyway.
        let own = |id: &BufferId| !self.shared.iter().any(|known| known.1 == *id);
        let content = |id| content(&self.memory, id);
        let buffers = self.buffers.iter();
        let buffers = buffers.map(|b| b.filter(own));
        buffers.map(|b| b.map(content).transpose()).collect()
    }
}

/// The content of a buffer.
pub(crate) fn content(memory: &Memory, id: BufferId) -> Result<Vec<u8>, LaunchError> {
    let mut bytes = zeroes("the content of a buffer", memory.len(id))?;
    memory.read_into(id, 0, &mut bytes);
    Ok(bytes)
}

fn sampler_index(info: &KernelInfo, index: usize) -> Option<u32> {
    let pieces = info.payload_arguments.iter();
    pieces
        .filter(|a| is_argument(a.arg_index, index))
        .find_map(|a| a.sampler_index)
}

/// An argument of the wrong kind is better reported here than through what the kernel does with it.
fn check_kind(info: &KernelInfo, index: usize, argument: &Argument) -> Result<(), LaunchError> {
    let pieces = info.payload_arguments.iter();
    for piece in pieces.filter(|a| is_argument(a.arg_index, index)) {
        if let (ArgType::ArgByvalue, Argument::Value(bytes)) = (&piece.arg_type, argument) {
            value_size(info, index, bytes.len())?;
        }
        let (fits, expected) = match (&piece.arg_type, &piece.addrspace, &piece.addrmode) {
            (ArgType::ArgByvalue, ..) => (matches!(argument, Argument::Value(_)), "a value"),
            (ArgType::ArgBypointer, Some(AddrSpace::Image), _) => {
                (argument.image().is_some(), "an image")
            }
            (ArgType::ArgBypointer, Some(AddrSpace::Sampler), _) => {
                (matches!(argument, Argument::Sampler(_)), "a sampler")
            }
            (ArgType::ArgBypointer, _, Some(AddrMode::Slm)) => (
                matches!(argument, Argument::Local(_)),
                "a size of local memory",
            ),
            (ArgType::ArgBypointer, ..) => (
                matches!(
                    argument,
                    Argument::Buffer(_)
                        | Argument::SameAs(_)
                        | Argument::Null
                        | Argument::Shared(_)
                        | Argument::Pointer(_)
                ),
                "a buffer",
            ),
            _ => continue,
        };
        if !fits {
            return Err(wrong(index, argument, expected));
        }
    }
    Ok(())
}

/// Checks that a value has the size that, according to the metadata, the kernel reads.
fn value_size(info: &KernelInfo, index: usize, given: usize) -> Result<(), LaunchError> {
    let pieces = info.payload_arguments.iter();
    let pieces =
        pieces.filter(|a| a.arg_type == ArgType::ArgByvalue && is_argument(a.arg_index, index));
    let pieces = pieces.map(|a| (a.source_offset, u64::from(a.size)));
    let is_structure = pieces.clone().any(|(from, _)| from.is_some());
    let ends = pieces.map(|(from, size)| u64::from(from.unwrap_or(0)) + size);
    let wanted = ends.max().unwrap_or(0);
    let given = given as u64;
    let fits = if is_structure {
        // The pieces of structures are whole dwords: the last one may extend up to three bytes past the end. Padding at
        // the end is not in any piece; it is less than what comes before it, and less than the 128 bytes of the type
        // with the largest alignment.
        given > wanted.saturating_sub(4) && given < wanted + wanted.min(128)
    } else {
        // Small values are extended to four bytes, and of three elements the fourth may be omitted.
        given == wanted || wanted == 4 && (1..4).contains(&given) || given * 4 == wanted * 3
    };
    if fits || wanted == 0 {
        return Ok(());
    }
    Err(LaunchError::Argument {
        index,
        message: format!("the kernel wants a value of {wanted} bytes, not of {given}"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Whether a value of this size may be an argument with these pieces, given as offsets and sizes.
    fn accepts(pieces: &[(Option<u32>, u32)], given: usize) -> bool {
        let pieces = pieces.iter().map(|(from, size)| {
            let from = from.map_or_else(String::new, |from| format!(", source_offset: {from}"));
            format!("{{arg_type: arg_byvalue, offset: 0, size: {size}, arg_index: 0{from}}}")
        });
        let pieces: Vec<_> = pieces.collect();
        let text = format!("{{name: k, payload_arguments: [{}]}}", pieces.join(", "));
        let info: KernelInfo = serde_saphyr::from_str(&text).unwrap();
        value_size(&info, 0, given).is_ok()
    }

    /// Pieces as the compiler makes them of values and of structures with padding.
    #[test]
    fn sizes_of_values() {
        let sizes = |pieces: &[(Option<u32>, u32)]| -> Vec<usize> {
            (1..40).filter(|n| accepts(pieces, *n)).collect()
        };
        assert_eq!(sizes(&[(None, 4)]), [1, 2, 3, 4]);
        assert_eq!(sizes(&[(None, 8)]), [6, 8]);
        assert_eq!(sizes(&[(None, 16)]), [12, 16]);
        // struct { long a; char b; }, of 16 bytes
        assert!(accepts(&[(Some(0), 12)], 16));
        assert!(!accepts(&[(Some(0), 12)], 8));
        assert!(!accepts(&[(Some(0), 12)], 24));
        // struct { uchar a, b, c; }
        let bytes = [(Some(0), 4), (Some(1), 4), (Some(2), 4)];
        assert!(accepts(&bytes, 3));
        assert!(!accepts(&bytes, 2));
        // A packed structure of char, int and short.
        assert!(accepts(&[(Some(0), 4), (Some(1), 8)], 7));
        // struct { int3 a; int b; }: each byte of the padding is a piece.
        let mut padded = vec![(Some(0), 12), (Some(16), 8)];
        padded.extend((21..32).map(|from| (Some(from), 4)));
        assert!(accepts(&padded, 32));
        assert!(!accepts(&padded, 31));
    }
}
