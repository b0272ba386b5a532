//! Which objects are where in memory.

use crate::finding::{Space, Target};
use std::collections::BTreeMap;
use std::sync::Arc;
use visakit_exec::memory::Reachable;
use visakit_launch::{
    ArgInfo, KernelInfo, LocalObject, LocalVariable, Media, MemoryObject, ObjectKind, Prepared,
    Target as MediaTarget,
};

/// How the names of variables begin that the compiler's functions of work-groups share.
const OF_COMPILER: &str = "GenSLM.";

/// An object in flat memory with what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) object: MemoryObject,
    pub(crate) name: String,
    pub(crate) argument: Option<usize>,
    /// The program may not write it.
    pub(crate) constant: bool,
    /// Bytes of an element of the declared type; 1 if it is not known.
    pub(crate) element: u64,
    /// The declared type is a structure: it may have padding.
    pub(crate) structure: bool,
    /// The declared type is a vector of three, which occupies the space of four.
    pub(crate) three: bool,
    /// Its initial content is undefined.
    pub(crate) uninitialized: bool,
    /// It is no more.
    pub(crate) released: bool,
}

impl Known {
    pub(crate) const fn is_private(&self) -> bool {
        matches!(self.object.kind, ObjectKind::Private)
    }

    /// Whether four bytes at a place may be padding: the fourth element of a vector of three, or what compilers write
    /// along with three elements of a structure.
    pub(crate) const fn is_filler(&self, offset: u64) -> bool {
        (self.three && offset / self.element % 4 == 3) || (self.structure && offset % 16 >= 12)
    }

    pub(crate) const fn space(&self) -> Space {
        if self.constant {
            Space::Constant
        } else if self.is_private() {
            Space::Private
        } else {
            Space::Global
        }
    }
}

/// Private memory of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Private {
    /// Bytes from thread to thread.
    pub(crate) stride: u64,
    /// Bytes of a thread.
    pub(crate) thread: u64,
    /// Bytes of a work-item, if it is known.
    pub(crate) item: Option<u64>,
}

/// Scratch memory of a thread, as far as it is for private memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scratch {
    /// Bytes of a thread.
    pub(crate) bytes: u64,
    /// Bytes of a work-item, if it is known.
    pub(crate) item: Option<u64>,
}

/// All objects of a launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    flat: Vec<Known>,
    /// Objects by the numbers of their regions: 4 GiB of addresses.
    regions: BTreeMap<u64, usize>,
    /// Buffers that are no objects before they are accessed.
    others: Option<Arc<dyn Reachable>>,
    local: Vec<LocalObject>,
    /// The names of local memory: arguments, and variables of the program as far as they are known.
    local_names: Vec<(LocalObject, String)>,
    pub(crate) scratch: Scratch,
    pub(crate) private: Private,
}

impl Objects {
    pub(crate) fn new(
        launch: &Prepared,
        args_info: &[ArgInfo],
        variables: &[LocalVariable],
        spills: Option<u64>,
        uninitialized: &[usize],
    ) -> Self {
        let info = |index: usize| {
            args_info
                .iter()
                .find(|a| usize::try_from(a.index) == Ok(index))
        };
        let name = |index: usize| {
            info(index).map_or_else(|| format!("argument {index}"), |info| info.name.clone())
        };
        let mut objects = Self {
            private: private(launch.info(), launch.private_bytes()),
            scratch: scratch(launch.info(), spills),
            others: launch.memory().others().cloned(),
            ..Self::default()
        };
        for object in launch.objects() {
            let argument = match object.kind {
                ObjectKind::Argument(index) => Some(index),
                _ => None,
            };
            let type_of = argument.and_then(info);
            let of = type_of.map_or(Pointee::default(), |i| Pointee::of(&i.type_name));
            let known = Known {
                name: match &object.kind {
                    ObjectKind::Argument(index) => name(*index),
                    // Constants that are kept apart have sections of their own.
                    ObjectKind::Data(section) => section
                        .strip_prefix(".data.const.")
                        .unwrap_or(section)
                        .to_owned(),
                    ObjectKind::Printf => "the printf buffer".to_owned(),
                    ObjectKind::Private => "private memory".to_owned(),
                    ObjectKind::Other => "memory of the launch".to_owned(),
                },
                constant: match &object.kind {
                    ObjectKind::Data(section) => {
                        section.starts_with(".data.const") || section == ".bss.const"
                    }
                    ObjectKind::Argument(_) => {
                        type_of.is_some_and(|i| i.address_qualifier == "__constant")
                    }
                    _ => false,
                },
                element: of.element,
                structure: of.structure,
                three: of.three,
                uninitialized: argument.is_some_and(|a| uninitialized.contains(&a)),
                released: false,
                argument,
                object,
            };
            objects.add(known);
        }
        for local in launch.local_objects() {
            let (start, end) = (local.start, local.start.saturating_add(local.bytes));
            let inside =
                |v: &&LocalVariable| v.start >= start && v.start.saturating_add(v.bytes) <= end;
            let own = variables.iter().filter(|_| local.argument.is_none());
            let own = own.filter(inside).map(|variable| {
                let object = LocalObject {
                    start: variable.start,
                    bytes: variable.bytes,
                    argument: None,
                };
                (object, variable.name.clone())
            });
            let own: Vec<_> = own.collect();
            // Metadata have the size of all variables, rounded up.
            let end = own.iter().map(|(v, _)| v.start.saturating_add(v.bytes));
            let bytes = end.max().map_or(local.bytes, |end| end - start);
            if own.is_empty() {
                let name = local
                    .argument
                    .map_or_else(|| "local memory".to_owned(), name);
                objects.local_names.push((local, name));
            }
            objects.local_names.extend(own);
            objects.local.push(LocalObject { bytes, ..local });
        }
        objects
    }

    /// Surfaces of a media kernel, by the inputs they are bound to, and its own memory.
    pub(crate) fn media(media: &Media) -> Self {
        let mut objects = Self::own(media.local_bytes(), media.scratch_bytes());
        for (target, object) in media.objects() {
            let (name, argument) = match target {
                MediaTarget::Input(number) => (format!("input {number}"), Some(number)),
                MediaTarget::Entry(entry) => (format!("entry {entry}"), None),
            };
            objects.add(Known {
                object,
                name,
                argument,
                constant: false,
                element: 1,
                structure: false,
                three: false,
                uninitialized: false,
                released: false,
            });
        }
        objects
    }

    /// Local memory without variables, and scratch memory.
    pub(crate) fn own(local_bytes: usize, scratch_bytes: usize) -> Self {
        let local = LocalObject {
            start: 0,
            bytes: local_bytes as u64,
            argument: None,
        };
        Self {
            local: vec![local],
            local_names: vec![(local, "local memory".to_owned())],
            scratch: Scratch {
                bytes: scratch_bytes as u64,
                item: None,
            },
            ..Self::default()
        }
    }

    fn add(&mut self, known: Known) {
        let end = known.object.address.saturating_add(known.object.bytes);
        let regions = known.object.address >> 32..=end >> 32;
        // An argument may be the buffer of another one.
        if self.regions.contains_key(regions.start()) {
            return;
        }
        self.regions
            .extend(regions.map(|region| (region, self.flat.len())));
        self.flat.push(known);
    }

    /// Makes the buffer that has an address, or had it before it was released, an object, unless it is one.
    pub(crate) fn reach(&mut self, address: u64) {
        if self.find(address).is_some() {
            return;
        }
        let found = self.others.as_ref().and_then(|others| others.find(address));
        let Some(reached) = found else { return };
        let of = Pointee::default();
        self.add(Known {
            released: reached.storage.is_none(),
            object: MemoryObject {
                address: reached.address,
                bytes: reached.bytes,
                kind: ObjectKind::Other,
            },
            name: reached.name,
            argument: None,
            constant: false,
            element: of.element,
            structure: of.structure,
            three: of.three,
            uninitialized: false,
        });
    }

    /// The object that an address refers to, and the offset in it.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<(usize, i64)> {
        let index = *self.regions.get(&(address >> 32))?;
        let known = self.flat.get(index)?;
        let offset = address.wrapping_sub(known.object.address).cast_signed();
        Some((index, offset))
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Known> {
        self.flat.get(index)
    }

    /// Whether an access to local memory is inside of an object.
    pub(crate) fn has_local(&self, address: u64, bytes: u64) -> bool {
        let end = address.saturating_add(bytes);
        self.local.iter().any(|object| {
            address >= object.start && end <= object.start.saturating_add(object.bytes)
        })
    }

    /// Bytes from an address to the end of the local object that it is in; 0 outside of all.
    pub(crate) fn local_bytes(&self, address: u64) -> u64 {
        let mut rest = self.local.iter().filter_map(|object| {
            let at = address.checked_sub(object.start)?;
            object.bytes.checked_sub(at)
        });
        rest.find(|bytes| *bytes > 0).unwrap_or(0)
    }

    /// Whether an address is in a variable that the compiler's own functions share, as of `work_group_any`.
    pub(crate) fn is_the_compilers(&self, address: u64) -> bool {
        let mut names = self
            .local_names
            .iter()
            .filter(|(object, _)| address >= object.start && address - object.start < object.bytes);
        names.any(|(_, name)| name.starts_with(OF_COMPILER))
    }

    /// The local object that contains an address, or the nearest one.
    pub(crate) fn local_near(&self, address: u64) -> Option<Target> {
        let distance = |object: &LocalObject| {
            let end = object.start.saturating_add(object.bytes);
            if address < object.start {
                object.start - address
            } else {
                // The first byte past the end is outside.
                address.saturating_add(1).saturating_sub(end)
            }
        };
        let there = self.local_names.iter();
        let there = there.filter(|(object, _)| object.bytes > 0);
        let (object, name) = there.min_by_key(|(object, _)| distance(object))?;
        Some(Target {
            name: name.clone(),
            argument: object.argument,
            bytes: object.bytes,
            offset: address.wrapping_sub(object.start).cast_signed(),
        })
    }
}

fn private(info: &KernelInfo, thread: u64) -> Private {
    let simd = u64::from(info.execution_env.simd_size);
    let mut buffers = info
        .per_thread_memory_buffers
        .iter()
        .filter(|b| b.kind == "global");
    let item = buffers.find(|b| b.is_simt_thread);
    // With a stack the size of a frame is not meaningful.
    let stack = info.execution_env.has_stack_calls;
    let item = item.map(|b| u64::from(b.size)).filter(|_| !stack);
    Private {
        stride: thread,
        thread: item.map_or(thread, |item| item * simd),
        item,
    }
}

/// `spills` is the attribute `SpillMemOffset`: the private memory comes first, followed by space for registers.
fn scratch(info: &KernelInfo, spills: Option<u64>) -> Scratch {
    let bytes = info.scratch_bytes();
    // With a stack its depth is unknown.
    let private = spills.filter(|end| *end > 0 && *end <= bytes);
    let private = private.filter(|_| !info.execution_env.has_stack_calls);
    let simd = u64::from(info.execution_env.simd_size.max(1));
    Scratch {
        bytes: private.unwrap_or(bytes),
        item: private.map(|bytes| bytes / simd),
    }
}

/// What a parameter points to.
struct Pointee {
    /// Bytes of an element; 1 if it is not known.
    element: u64,
    structure: bool,
    three: bool,
}

impl Default for Pointee {
    fn default() -> Self {
        Self {
            element: 1,
            structure: false,
            three: false,
        }
    }
}

impl Pointee {
    /// By the type that the compiler wrote down, `float4*;8` for instance.
    fn of(type_name: &str) -> Self {
        let name = type_name.split(';').next().unwrap_or_default();
        let Some(name) = name.strip_suffix('*') else {
            return Self::default();
        };
        let name = name.trim_end_matches('*');
        let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let three = name.strip_prefix(scalar) == Some("3");
        let (element, structure) = match scalar {
            "char" | "uchar" | "bool" | "void" => (1, false),
            "short" | "ushort" | "half" => (2, false),
            "int" | "uint" | "float" => (4, false),
            "long" | "ulong" | "double" | "size_t" => (8, false),
            _ => (1, true),
        };
        Self {
            element,
            structure,
            three: three && !structure,
        }
    }
}
