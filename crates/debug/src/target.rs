//! The target of a session: a launch of a kernel, a media kernel, or a bare routine.

use visakit_exec::{BufferId, Group, Limits, Memory, Program};
use visakit_isa::DataType;
use visakit_launch::{ArgInfo, Bare, LaunchError, Media, Prepared, Target as MediaTarget};

/// A kernel on its grid, the threads of a media kernel, or one thread of a routine, ready to run.
#[derive(Debug)]
pub struct Target {
    what: What,
    limits: Limits,
}

#[derive(Debug)]
enum What {
    Kernel(Box<Prepared>),
    Media(Box<Media>),
    Bare(Box<Bare>),
}

/// The work-item of a lane. The lanes of a media kernel's thread are one program: its place, for each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkItem {
    /// Local id.
    pub local: [u32; 3],
    /// Global id.
    pub global: [u32; 3],
}

/// A buffer of an argument, or a surface of a media kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferView {
    /// Number of the argument; `None` for surfaces of media kernels.
    pub argument: Option<usize>,
    /// The argument's name, `arg0` where the compiler wrote down none; `input0` or `entry0` for surfaces of media
    /// kernels.
    pub name: String,
    /// The buffer.
    pub buffer: BufferId,
    /// Address of its first byte.
    pub address: u64,
    /// Size in bytes.
    pub bytes: usize,
    /// Type of its elements, as far as it is known.
    pub data_type: Option<DataType>,
}

/// An argument in local memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LocalArgument {
    /// Its name, `arg0` where the compiler wrote down none.
    pub(crate) name: String,
    /// The pointer's type in the source.
    pub(crate) type_name: String,
    /// Its first byte in local memory.
    pub(crate) start: u64,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Type of its numbers, as far as it is known.
    pub(crate) data_type: Option<DataType>,
}

/// What the metadata say of an argument.
fn info(launch: &Prepared, argument: usize) -> Option<&ArgInfo> {
    let mut infos = launch.args_info().iter();
    infos.find(|info| usize::try_from(info.index) == Ok(argument))
}

fn name(info: Option<&ArgInfo>, argument: usize) -> String {
    let named = info.map(|info| info.name.clone());
    let named = named.filter(|name| !name.is_empty());
    named.unwrap_or_else(|| format!("arg{argument}"))
}

impl Target {
    /// The kernel's output so far.
    #[must_use]
    pub fn printed(&self) -> Vec<u8> {
        match &self.what {
            What::Kernel(launch) => launch.printed(),
            _ => Vec::new(),
        }
    }

    /// A launch. Machine code is not used, whether the launch has it or not.
    #[must_use]
    pub fn kernel(launch: Prepared, limits: Limits) -> Self {
        Self {
            what: What::Kernel(Box::new(launch)),
            limits,
        }
    }

    /// A media kernel.
    ///
    /// # Errors
    /// [`LaunchError::Grid`] for spaces that cannot be.
    pub fn media(media: Media, limits: Limits) -> Result<Self, LaunchError> {
        media.group_count()?;
        Ok(Self {
            what: What::Media(Box::new(media)),
            limits,
        })
    }

    /// A bare routine.
    #[must_use]
    pub fn bare(bare: Bare) -> Self {
        Self {
            limits: bare.limits,
            what: What::Bare(Box::new(bare)),
        }
    }

    /// The translated program.
    #[must_use]
    pub fn program(&self) -> &Program {
        match &self.what {
            What::Kernel(launch) => launch.program(),
            What::Media(media) => media.program(),
            What::Bare(bare) => bare.program(),
        }
    }

    /// Global memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        match &self.what {
            What::Kernel(launch) => launch.memory(),
            What::Media(media) => media.memory(),
            What::Bare(bare) => bare.memory(),
        }
    }

    /// Bounds of each group.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Number of groups.
    #[must_use]
    pub fn groups(&self) -> u64 {
        match &self.what {
            What::Kernel(launch) => launch.range().group_count(),
            // It was checked when it was made.
            What::Media(media) => media.group_count().unwrap_or(0),
            What::Bare(_) => 1,
        }
    }

    pub(crate) fn start(&self, number: u64) -> Result<Group, LaunchError> {
        match &self.what {
            What::Kernel(launch) => launch.start(number, &self.limits),
            What::Media(media) => media.start(number, &self.limits),
            What::Bare(bare) => bare.group(),
        }
    }

    /// Place of a group in the grid; `None` for a bare routine.
    #[must_use]
    pub fn group_at(&self, number: u64) -> Option<[u32; 3]> {
        match &self.what {
            What::Kernel(launch) => Some(launch.range().group(number)),
            What::Media(media) => media.group_at(number).map(|[x, y]| [x, y, 0]),
            What::Bare(_) => None,
        }
    }

    /// Lanes of a thread.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        match &self.what {
            What::Kernel(launch) => launch.simd(),
            What::Media(media) => media.program().simd_size(),
            What::Bare(bare) => bare.program().simd_size(),
        }
        .clamp(1, 32)
    }

    /// The work-item that a lane of a thread is; `None` for a bare routine.
    #[must_use]
    pub fn work_item(&self, group: u64, thread: usize, lane: u32) -> Option<WorkItem> {
        let launch = match &self.what {
            What::Kernel(launch) => launch,
            What::Media(media) => return media_item(media, group, thread),
            What::Bare(_) => return None,
        };
        let range = launch.range();
        let at = range.group(group);
        let thread = u32::try_from(thread).ok()?;
        let local = launch.local_id(range.local_of(at), thread, lane);
        let mut global = [0; 3];
        for (dimension, id) in global.iter_mut().enumerate() {
            let of = |from: [u32; 3]| from.get(dimension).copied().unwrap_or(0);
            *id = of(at)
                .wrapping_mul(of(range.local))
                .wrapping_add(of(local))
                .wrapping_add(of(range.offset));
        }
        Some(WorkItem { local, global })
    }

    /// The buffers and images of the arguments, and the surfaces of a media kernel.
    #[must_use]
    pub fn buffers(&self) -> Vec<BufferView> {
        let launch = match &self.what {
            What::Kernel(launch) => launch,
            What::Media(media) => return surfaces(media),
            What::Bare(_) => return Vec::new(),
        };
        let memory = launch.memory();
        let all = launch.argument_buffers().iter().enumerate();
        all.filter_map(|(argument, buffer)| {
            let buffer = (*buffer)?;
            let info = info(launch, argument);
            Some(BufferView {
                argument: Some(argument),
                name: name(info, argument),
                buffer,
                address: memory.address(buffer),
                bytes: memory.len(buffer),
                data_type: info.and_then(ArgInfo::element),
            })
        })
        .collect()
    }

    /// The arguments in local memory.
    pub(crate) fn local_arguments(&self) -> Vec<LocalArgument> {
        let What::Kernel(launch) = &self.what else {
            return Vec::new();
        };
        let all = launch.local_objects().into_iter();
        all.filter_map(|object| {
            let argument = object.argument?;
            let info = info(launch, argument);
            Some(LocalArgument {
                name: name(info, argument),
                type_name: info.map_or("", ArgInfo::type_in_source).to_owned(),
                start: object.start,
                bytes: object.bytes,
                data_type: info.and_then(ArgInfo::element),
            })
        })
        .collect()
    }
}

/// The place of a thread, counted along the rows of its group.
fn media_item(media: &Media, group: u64, thread: usize) -> Option<WorkItem> {
    let [x, y] = media.group_at(group)?;
    let [columns, rows, _] = media.group_size();
    let thread = u32::try_from(thread).ok()?;
    let (across, down) = (thread.checked_rem(columns)?, thread.checked_div(columns)?);
    Some(WorkItem {
        local: [across, down, 0],
        global: [x * columns + across, y * rows + down, 0],
    })
}

fn surfaces(media: &Media) -> Vec<BufferView> {
    let memory = media.memory();
    let all = media.buffers().map(|(target, buffer)| BufferView {
        argument: None,
        name: match target {
            MediaTarget::Input(number) => format!("input{number}"),
            MediaTarget::Entry(number) => format!("entry{number}"),
        },
        buffer,
        address: memory.address(buffer),
        bytes: memory.len(buffer),
        data_type: Some(DataType::Ub),
    });
    all.collect()
}
