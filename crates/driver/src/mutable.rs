//! Launches in command buffers that can be changed (`cl_khr_command_buffer_mutable_dispatch`).

use crate::commands::CommandBuffer;
use crate::context::lock;
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, release};
use crate::info::Answer;
use crate::kernel::Kernel;
use crate::launch::{Grid, command};
use crate::stream::Action;
use opencl_sys as cl;
use std::sync::{Arc, Mutex, Weak};

/// What may be changed of every command: offset, sizes, arguments, and memory that is reached through pointers.
pub const FIELDS: u64 = cl::CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
    | cl::CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
    | cl::CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
    | cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
    | cl::CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

/// A launch that was recorded.
#[derive(Debug)]
pub struct Command {
    handle: Handle,
    buffer: Weak<CommandBuffer>,
    /// Its place among the actions.
    place: usize,
    /// The host's kernel, and a copy with the arguments of the command.
    kernel: (Arc<Kernel>, Arc<Kernel>),
    grid: Mutex<Grid>,
    /// The list that it was recorded with.
    list: Vec<u64>,
    fields: u64,
}

impl Object for Command {
    const INVALID: Code = Code(cl::CL_INVALID_MUTABLE_COMMAND_KHR);
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// The handles of a command buffer's commands: they end with it.
#[derive(Debug, Default)]
pub(crate) struct Commands(Vec<Arc<Command>>);

impl Commands {
    pub(crate) fn push(&mut self, command: Arc<Command>) {
        self.0.push(command);
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        for command in &self.0 {
            let _ = release::<Command>(command.handle.get());
        }
    }
}

/// What the host changes of a launch; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Work-items in each dimension.
    pub global: Option<Vec<usize>>,
    /// Work-items of a group.
    pub local: Option<Vec<usize>>,
    /// The offset added to global ids.
    pub offset: Option<Vec<usize>>,
}

/// What may be changed of a command that is recorded with these names and values of properties, with a zero at the end of
/// the list, or none.
///
/// # Errors
/// `CL_INVALID_VALUE` for properties that are not known.
pub(crate) fn fields(list: &[u64]) -> Result<u64> {
    let mut fields = FIELDS;
    for pair in list.chunks(2) {
        match pair {
            [0, ..] => break,
            [name, value] if *name == cl::CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR => {
                fields = *value;
            }
            _ => return fail(cl::CL_INVALID_VALUE),
        }
    }
    ensure(fields & !FIELDS == 0, cl::CL_INVALID_VALUE)?;
    Ok(fields)
}

impl Command {
    /// A launch with the arguments that the kernel has now, the properties that it is recorded with, and what may be changed
    /// of it.
    pub(crate) fn new(
        (buffer, place): (&Arc<CommandBuffer>, usize),
        (kernel, grid): (&Arc<Kernel>, &Grid),
        (list, fields): (Vec<u64>, u64),
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            buffer: Arc::downgrade(buffer),
            place,
            kernel: (Arc::clone(kernel), kernel.copy()),
            grid: Mutex::new(grid.clone()),
            list,
            fields,
        })
    }

    /// The kernel whose arguments are those of the command, if these may be changed.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` where one of the fields may not.
    pub fn kernel_for(&self, fields: u64) -> Result<&Kernel> {
        ensure(fields & !self.fields == 0, cl::CL_INVALID_OPERATION)?;
        Ok(&self.kernel.1)
    }

    /// How many dimensions its grid has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        lock(&self.grid).global.len()
    }

    /// Changes the grid, and makes the action of the command anew, with the arguments of its kernel. Returns it with its place.
    ///
    /// # Errors
    /// Fields that may not be changed, and those of a launch.
    pub(crate) fn change(
        &self,
        buffer: &CommandBuffer,
        change: &Change,
    ) -> Result<(usize, Action)> {
        let owner = self.buffer.as_ptr();
        ensure(
            std::ptr::eq(owner, buffer),
            cl::CL_INVALID_MUTABLE_COMMAND_KHR,
        )?;
        let mut fields = 0;
        for (is_changed, field) in [
            (
                change.offset.is_some(),
                cl::CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
            ),
            (
                change.global.is_some(),
                cl::CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR,
            ),
            (
                change.local.is_some(),
                cl::CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
            ),
        ] {
            fields |= if is_changed { field } else { 0 };
        }
        ensure(fields & !self.fields == 0, cl::CL_INVALID_OPERATION)?;
        let mut grid = lock(&self.grid);
        let mut changed = grid.clone();
        if let Some(global) = &change.global {
            changed.global.clone_from(global);
        }
        if let Some(offset) = &change.offset {
            changed.offset.clone_from(offset);
        }
        if change.local.is_some() {
            changed.local.clone_from(&change.local);
        }
        let action = command(&buffer.queue, &self.kernel.1, &changed)?;
        *grid = changed;
        Ok((self.place, action))
    }

    /// `clGetMutableCommandInfoKHR`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        let buffer = self.buffer.upgrade().ok_or(Self::INVALID)?;
        let grid = lock(&self.grid);
        let or_zeroes = |sizes: &[usize]| match sizes {
            [] => vec![0; grid.global.len()],
            sizes => sizes.to_vec(),
        };
        Ok(match name {
            cl::CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => buffer.queue.handle().get().answer(),
            cl::CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => buffer.handle().get().answer(),
            cl::CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => cl::CL_COMMAND_NDRANGE_KERNEL.answer(),
            cl::CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => self.list.clone().answer(),
            cl::CL_MUTABLE_DISPATCH_KERNEL_KHR => self.kernel.0.handle().get().answer(),
            cl::CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => {
                u32::try_from(grid.global.len()).unwrap_or(0).answer()
            }
            cl::CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => or_zeroes(&grid.offset).answer(),
            cl::CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => grid.global.clone().answer(),
            cl::CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => {
                or_zeroes(grid.local.as_deref().unwrap_or_default()).answer()
            }
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}
