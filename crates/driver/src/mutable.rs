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

/// What a launch does in the runs that follow.
#[derive(Clone, Debug)]
pub(crate) struct Now {
    /// A copy of the host's kernel with the arguments of the command.
    kernel: Arc<Kernel>,
    grid: Grid,
}

/// A launch that was recorded.
#[derive(Debug)]
pub struct Command {
    handle: Handle,
    buffer: Weak<CommandBuffer>,
    /// Its place among the actions.
    pub(crate) place: usize,
    /// The host's kernel.
    kernel: Arc<Kernel>,
    now: Mutex<Now>,
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

/// What the host changes of the grid of a launch; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Work-items in each dimension.
    pub global: Option<Vec<usize>>,
    /// Work-items of a group.
    pub local: Option<Vec<usize>>,
    /// The offset added to global ids.
    pub offset: Option<Vec<usize>>,
}

/// A launch as it is to become.
#[derive(Debug)]
pub struct Draft {
    pub(crate) command: Arc<Command>,
    now: Now,
}

impl Draft {
    /// The kernel whose arguments are those of the command, if these may be changed.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` where one of the fields may not.
    pub fn kernel_for(&self, fields: u64) -> Result<&Kernel> {
        ensure(fields & !self.command.fields == 0, cl::CL_INVALID_OPERATION)?;
        Ok(&self.now.kernel)
    }

    /// Changes the grid.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` where something may not be changed.
    pub fn change(&mut self, change: Change) -> Result<()> {
        let Change {
            global,
            local,
            offset,
        } = change;
        let fields = [
            (offset.is_some(), cl::CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR),
            (global.is_some(), cl::CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR),
            (local.is_some(), cl::CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR),
        ];
        for (_, field) in fields.iter().filter(|(is_changed, _)| *is_changed) {
            self.kernel_for(*field)?;
        }
        let grid = &mut self.now.grid;
        if let Some(global) = global {
            grid.global = global;
        }
        if let Some(offset) = offset {
            grid.offset = offset;
        }
        grid.local = local.or(grid.local.take());
        Ok(())
    }

    /// The action of the command as it is to become.
    ///
    /// # Errors
    /// Commands of other command buffers, and those of a launch.
    pub(crate) fn action(&self, buffer: &CommandBuffer) -> Result<Action> {
        let owner = self.command.buffer.as_ptr();
        ensure(std::ptr::eq(owner, buffer), Command::INVALID.0)?;
        command(&buffer.queue, &self.now.kernel, &self.now.grid)
    }

    /// Makes the command so.
    pub(crate) fn commit(self) {
        *lock(&self.command.now) = self.now;
    }
}

/// Launches that are changed at once: all of them, or none.
#[derive(Debug, Default)]
pub struct Drafts(pub(crate) Vec<Draft>);

impl Drafts {
    /// A launch as it is to become by what was changed so far.
    pub fn of(&mut self, command: &Arc<Command>) -> &mut Draft {
        let drafts = &mut self.0;
        let known = drafts.iter().position(|d| Arc::ptr_eq(&d.command, command));
        let place = known.unwrap_or(drafts.len());
        if known.is_none() {
            let Now { kernel, grid } = lock(&command.now).clone();
            drafts.push(Draft {
                command: Arc::clone(command),
                now: Now {
                    kernel: kernel.copy(),
                    grid,
                },
            });
        }
        #[expect(clippy::indexing_slicing, reason = "found, or pushed just now")]
        &mut drafts[place]
    }
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
            kernel: Arc::clone(kernel),
            now: Mutex::new(Now {
                kernel: kernel.copy(),
                grid: grid.clone(),
            }),
            list,
            fields,
        })
    }

    /// How many dimensions its grid has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        lock(&self.now).grid.global.len()
    }

    /// `clGetMutableCommandInfoKHR`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        let buffer = self.buffer.upgrade().ok_or(Self::INVALID)?;
        let grid = &lock(&self.now).grid;
        let or_zeroes = |sizes: &[usize]| match sizes {
            [] => vec![0; grid.global.len()],
            sizes => sizes.to_vec(),
        };
        Ok(match name {
            cl::CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => buffer.queue.handle().get().answer(),
            cl::CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => buffer.handle().get().answer(),
            cl::CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => cl::CL_COMMAND_NDRANGE_KERNEL.answer(),
            cl::CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => self.list.clone().answer(),
            cl::CL_MUTABLE_DISPATCH_KERNEL_KHR => self.kernel.handle().get().answer(),
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
