//! What is debugged: a launch of a kernel, or a bare routine.

use visakit_exec::{BufferId, Group, Limits, Memory, Program};
use visakit_isa::DataType;
use visakit_launch::{Bare, Launch, LaunchError, value};

/// A kernel on its grid, or one thread of a routine, ready to run.
#[derive(Debug)]
pub struct Target {
    what: What,
    limits: Limits,
}

#[derive(Debug)]
enum What {
    Kernel(Box<Launch>),
    Bare(Box<Bare>),
}

/// Which work-item a lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkItem {
    /// Local id.
    pub local: [u32; 3],
    /// Global id.
    pub global: [u32; 3],
}

/// A buffer of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferView {
    /// Number of the argument.
    pub argument: usize,
    /// The argument's name, `arg0` where the compiler wrote down none.
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

impl Target {
    /// What the kernel has printed by now.
    #[must_use]
    pub fn printed(&self) -> Vec<u8> {
        match &self.what {
            What::Kernel(launch) => launch.printed(),
            _ => Vec::new(),
        }
    }

    /// A launch. Machine code is not used, whether the launch has it or not.
    #[must_use]
    pub fn kernel(launch: Launch, limits: Limits) -> Self {
        Self {
            what: What::Kernel(Box::new(launch)),
            limits,
        }
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
            What::Bare(bare) => bare.program(),
        }
    }

    /// Global memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        match &self.what {
            What::Kernel(launch) => launch.memory(),
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
            What::Bare(_) => 1,
        }
    }

    pub(crate) fn start(&self, number: u64) -> Result<Group, LaunchError> {
        match &self.what {
            What::Kernel(launch) => launch.start(number, &self.limits),
            What::Bare(bare) => bare.group(),
        }
    }

    /// Place of a group in the grid; `None` for a bare routine.
    #[must_use]
    pub fn group_at(&self, number: u64) -> Option<[u32; 3]> {
        match &self.what {
            What::Kernel(launch) => Some(launch.range().group(number)),
            What::Bare(_) => None,
        }
    }

    /// Lanes of a thread.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        match &self.what {
            What::Kernel(launch) => launch.simd(),
            What::Bare(bare) => bare.program().simd_size(),
        }
        .clamp(1, 32)
    }

    /// The work-item that a lane of a thread is; `None` for a bare routine.
    #[must_use]
    pub fn work_item(&self, group: u64, thread: usize, lane: u32) -> Option<WorkItem> {
        let What::Kernel(launch) = &self.what else {
            return None;
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

    /// The buffers and images of the arguments.
    #[must_use]
    pub fn buffers(&self) -> Vec<BufferView> {
        let What::Kernel(launch) = &self.what else {
            return Vec::new();
        };
        let memory = launch.memory();
        let all = launch.argument_buffers().iter().enumerate();
        all.filter_map(|(argument, buffer)| {
            let buffer = (*buffer)?;
            let mut infos = launch.args_info().iter();
            let info = infos.find(|info| usize::try_from(info.index) == Ok(argument));
            let named = info.map(|i| i.name.clone()).filter(|name| !name.is_empty());
            Some(BufferView {
                argument,
                name: named.unwrap_or_else(|| format!("arg{argument}")),
                buffer,
                address: memory.address(buffer),
                bytes: memory.len(buffer),
                data_type: info.and_then(|i| element(&i.type_name)),
            })
        })
        .collect()
    }
}

/// Type of the elements that a parameter points at, `float4*;8` for instance.
fn element(type_name: &str) -> Option<DataType> {
    let name = type_name.split(';').next()?.trim_end_matches('*');
    value::type_of(name.trim_end_matches(|c: char| c.is_ascii_digit()))
}
