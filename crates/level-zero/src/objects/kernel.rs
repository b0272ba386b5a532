//! Kernels.

use super::module::Module;
use crate::error::{Error, Result, ensure};
use opencl_sys as cl;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use visakit_driver::handle::Handle;
use visakit_driver::kernel::{Arg, Kernel as Model, Takes};
use visakit_driver::launch::{Grid, Launch, most_groups, suggested_local};
use visakit_launch::KernelInfo;

/// What the host sets before it appends a launch.
#[derive(Clone, Copy, Debug)]
struct Setting {
    group: [u32; 3],
    offset: [u32; 3],
    indirect: u32,
}

/// A kernel.
#[derive(Debug)]
pub struct Kernel {
    pub(super) handle: Handle,
    /// Its module.
    pub module: Arc<Module>,
    /// Its arguments.
    pub model: Arc<Model>,
    setting: Mutex<Setting>,
}

/// What is known of a kernel.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Facts {
    /// How many arguments it has.
    pub arguments: u32,
    /// The size of groups that its source asks for; zeroes if it does not.
    pub required_group: [u32; 3],
    /// The size of subgroups that its source asks for, or 0.
    pub required_subgroup: u32,
    /// Work-items of a subgroup.
    pub subgroup: u32,
    /// Most subgroups of a group.
    pub subgroups: u32,
    /// Most work-items of a group.
    pub group: u32,
    /// Bytes of local, private and spilled memory.
    pub memory: [u32; 3],
}

/// A number that an answer holds, as OpenCL gives it.
fn number(answer: &[u8]) -> u32 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(answer) {
        *to = *from;
    }
    u32::try_from(u64::from_le_bytes(bytes)).unwrap_or(u32::MAX)
}

fn wide(sizes: [u32; 3]) -> [usize; 3] {
    sizes.map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

impl Kernel {
    /// The kernel of that name.
    ///
    /// # Errors
    /// [`Error::INVALID_KERNEL_NAME`], and [`Error::INVALID_MODULE_UNLINKED`] where functions are missing.
    pub fn new(module: &Arc<Module>, name: &str) -> Result<Arc<Self>> {
        let is_whole = module.binary()?.imports.is_empty();
        ensure(is_whole, Error::INVALID_MODULE_UNLINKED)?;
        let model = Model::new(&module.program, name)?;
        let group = Model::required_group(model.metadata(model.binary(&module.device)?)?);
        Ok(Arc::new(Self {
            handle: Handle::default(),
            module: Arc::clone(module),
            model,
            setting: Mutex::new(Setting {
                group: group.unwrap_or([1; 3]).map(narrow),
                offset: [0; 3],
                indirect: 0,
            }),
        }))
    }

    fn setting(&self) -> MutexGuard<'_, Setting> {
        self.setting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn info(&self) -> Result<&KernelInfo> {
        Ok(self
            .model
            .metadata(self.model.binary(&self.module.device)?)?)
    }

    /// What is known of it.
    ///
    /// # Errors
    /// Kernels without metadata.
    pub fn facts(&self) -> Result<Facts> {
        let info = self.info()?;
        let device = &self.module.device;
        let memory = |name| {
            self.model
                .group_info(Some(device), name)
                .map(|a| number(&a))
        };
        let subgroup = info.execution_env.simd_size.max(1);
        let group = narrow(Model::max_group(device, info));
        let required = info.user_attributes.intel_reqd_sub_group_size;
        Ok(Facts {
            arguments: narrow(self.model.count()),
            required_group: Model::required_group(info).map_or([0; 3], |size| size.map(narrow)),
            required_subgroup: required,
            subgroup,
            subgroups: group.div_ceil(subgroup),
            group,
            memory: [
                info.execution_env.slm_size,
                memory(cl::CL_KERNEL_PRIVATE_MEM_SIZE)?,
                memory(cl::CL_KERNEL_SPILL_MEM_SIZE_INTEL)?,
            ],
        })
    }

    /// Sets the size of groups.
    ///
    /// # Errors
    /// Sizes that the kernel, or its device, does not have.
    pub fn set_group(&self, group: [u32; 3]) -> Result<()> {
        let facts = self.facts()?;
        let items = group
            .iter()
            .fold(1_u64, |n, d| n.saturating_mul((*d).into()));
        let free = facts.required_group == [0; 3];
        ensure(
            (1..=u64::from(facts.group)).contains(&items)
                && (free || group == facts.required_group),
            Error::INVALID_GROUP_SIZE_DIMENSION,
        )?;
        self.setting().group = group;
        Ok(())
    }

    /// Sets what is added to global ids.
    pub fn set_offset(&self, offset: [u32; 3]) {
        self.setting().offset = offset;
    }

    /// `ZE_KERNEL_INDIRECT_ACCESS_FLAG_…`
    pub fn indirect(&self) -> u32 {
        self.setting().indirect
    }

    /// Notes which memory it reaches besides its arguments.
    pub fn set_indirect(&self, flags: u32) {
        self.setting().indirect |= flags;
        self.model.reach_more(self.indirect() != 0);
    }

    /// A suitable size of groups for so many work-items.
    ///
    /// # Errors
    /// Numbers of work-items that cannot be.
    pub fn suggested_group(&self, global: [u32; 3]) -> Result<[u32; 3]> {
        ensure(!global.contains(&0), Error::INVALID_GLOBAL_WIDTH_DIMENSION)?;
        let suggested = suggested_local(self.info()?, &wide(global))?;
        let mut sizes = suggested.into_iter().map(narrow);
        let mut next = || sizes.next().unwrap_or(1);
        Ok([next(), next(), next()])
    }

    /// The kind of argument a parameter takes.
    ///
    /// # Errors
    /// [`Error::INVALID_KERNEL_ARGUMENT_INDEX`].
    pub fn takes(&self, index: u32) -> Result<Takes> {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        Ok(self.model.takes(index)?)
    }

    /// Sets an argument.
    ///
    /// # Errors
    /// Arguments of another kind.
    pub fn set(&self, index: u32, arg: Arg) -> Result<()> {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        Ok(self.model.set(index, arg)?)
    }

    /// How many groups of its size can wait for each other.
    ///
    /// # Errors
    /// Kernels that cannot be translated.
    pub fn most_groups(&self) -> Result<u32> {
        let args = self.model.arguments_or_zeroes().unwrap_or_default();
        let local = self.setting().group;
        let most = most_groups(&self.module.device, &self.model, &args, local)?;
        Ok(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// A launch of so many groups, which wait for each other if it `is_cooperative`, with the arguments as they are now.
    ///
    /// # Errors
    /// Arguments that were not set, sizes that cannot be, more groups than can wait for each other.
    pub fn launch(&self, groups: [u32; 3], is_timed: bool, is_cooperative: bool) -> Result<Launch> {
        let Setting { group, offset, .. } = *self.setting();
        let counts = wide(groups).into_iter().zip(wide(group));
        let global = counts.map(|(count, size)| count.saturating_mul(size));
        let grid = Grid {
            global: global.collect(),
            local: Some(wide(group).to_vec()),
            offset: wide(offset).to_vec(),
        };
        let place = (&self.module.context, &self.module.device);
        let args = self.model.arguments_or_zeroes()?;
        let launch = Launch::new(place, &self.model, args, &grid, is_timed)?;
        if is_cooperative {
            return Ok(launch.together()?);
        }
        Ok(launch)
    }

    /// A copy with the arguments and sizes as they are now.
    #[must_use]
    pub fn copy(&self) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            module: Arc::clone(&self.module),
            model: self.model.copy(),
            setting: Mutex::new(*self.setting()),
        })
    }
}
