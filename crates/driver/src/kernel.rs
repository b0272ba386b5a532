//! Kernels and their arguments.

use crate::binary::Binary;
use crate::context::lock;
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::launch::local_bytes;
use crate::memory::Mem;
use crate::program::Program;
use crate::sampler::Sampler;
use opencl_sys as cl;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use visakit_launch::{ArgInfo, Argument, KernelInfo};

/// An argument as it was set.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A buffer or an image, or none.
    Mem(Option<Arc<Mem>>),
    /// A sampler.
    Sampler(Arc<Sampler>),
    /// Bytes of local memory.
    Local(usize),
    /// A value.
    Value(Vec<u8>),
    /// An address that host and device share.
    Pointer(usize),
}

/// An argument as a kernel keeps it: kernels hold no references to objects, so that those end when the host releases
/// them.
#[derive(Clone, Debug)]
enum Kept {
    Mem(Weak<Mem>),
    Sampler(Weak<Sampler>),
    Plain(Arg),
}

impl Kept {
    fn new(arg: Arg) -> Self {
        match arg {
            Arg::Mem(Some(mem)) => Self::Mem(Arc::downgrade(&mem)),
            Arg::Sampler(sampler) => Self::Sampler(Arc::downgrade(&sampler)),
            plain => Self::Plain(plain),
        }
    }

    /// The argument, if the object it names still exists.
    fn now(&self) -> Option<Arg> {
        Some(match self {
            Self::Mem(mem) => Arg::Mem(Some(mem.upgrade()?)),
            Self::Sampler(sampler) => Arg::Sampler(sampler.upgrade()?),
            Self::Plain(plain) => plain.clone(),
        })
    }
}

/// The kind of argument a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// A buffer.
    Buffer,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
    /// A size of local memory.
    Local,
    /// A value of this size; 0 if that is not known.
    Value(usize),
}

/// A kernel.
#[derive(Debug)]
pub struct Kernel {
    handle: Handle,
    /// Its program.
    pub program: Arc<Program>,
    /// Its name.
    pub name: String,
    /// The programs of the devices that have it.
    binaries: Vec<(Arc<Device>, Arc<Binary>)>,
    /// Its parameters, and whether the compiler wrote down their names and types.
    parameters: (Arc<[ArgInfo]>, bool),
    args: Mutex<Vec<Option<Kept>>>,
    /// Whether the host stated that it accesses memory besides its arguments.
    more: AtomicBool,
    /// Whether the host stated that its groups wait for each other.
    together: AtomicBool,
}

impl Object for Kernel {
    const INVALID: Code = Code(cl::CL_INVALID_KERNEL);
    const NAME: &'static str = "kernel";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Relaxed);
    }
}

fn takes(info: &ArgInfo) -> Takes {
    let (kind, size) = info
        .type_name
        .rsplit_once(';')
        .unwrap_or((&info.type_name, "0"));
    match info.address_qualifier.as_str() {
        "__local" => Takes::Local,
        _ if kind.starts_with("image") && kind.contains("_t") && !kind.contains('*') => {
            Takes::Image
        }
        _ if kind == "sampler_t" => Takes::Sampler,
        "__global" | "__constant" => Takes::Buffer,
        _ => Takes::Value(size.parse().unwrap_or(0)),
    }
}

/// A value of a parameter's size. As Intel's driver does it, too many bytes are cut off, and those that are missing stay
/// as they were; libraries pass 8 bytes for 32-bit numbers.
fn of_size(mut bytes: Vec<u8>, before: &[u8], size: usize) -> Vec<u8> {
    bytes.truncate(size);
    bytes.extend(before.get(bytes.len()..).unwrap_or_default());
    bytes.resize(size, 0);
    bytes
}

impl Kernel {
    /// The kernel of that name.
    ///
    /// # Errors
    /// Programs that were not built, names that there are not.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
        program.any_binary()?;
        let mut binaries = Vec::new();
        for device in &program.context.devices {
            if let Some(binary) = program.binary(device)
                && binary.names().contains(&name)
            {
                binaries.push((Arc::clone(device), binary));
            }
        }
        ensure(!binaries.is_empty(), cl::CL_INVALID_KERNEL_NAME)?;
        program.kernels.fetch_add(1, Relaxed);
        let zeinfo = binaries.first().map(|first| &first.1.zeinfo);
        let parameters = zeinfo.map_or_else(Vec::new, |zeinfo| zeinfo.parameters(name));
        let named = zeinfo.is_some_and(|zeinfo| !zeinfo.args_info(name).is_empty());
        let kernel = Self {
            handle: Handle::default(),
            program: Arc::clone(program),
            name: name.to_owned(),
            binaries,
            args: Mutex::new(vec![None; parameters.len()]),
            parameters: (parameters.into(), named),
            more: AtomicBool::new(false),
            together: AtomicBool::new(false),
        };
        Ok(Arc::new(kernel))
    }

    /// A copy of the kernel with its arguments.
    #[must_use]
    pub fn copy(&self) -> Arc<Self> {
        self.program.kernels.fetch_add(1, Relaxed);
        Arc::new(Self {
            handle: Handle::default(),
            program: Arc::clone(&self.program),
            name: self.name.clone(),
            binaries: self.binaries.clone(),
            parameters: self.parameters.clone(),
            args: Mutex::new(self.kept()),
            more: AtomicBool::new(self.reaches_more()),
            together: AtomicBool::new(self.is_together()),
        })
    }

    /// Notes whether its groups wait for each other.
    pub fn set_together(&self, together: bool) {
        self.together.store(together, Relaxed);
    }

    /// Whether the host stated that its groups wait for each other.
    pub fn is_together(&self) -> bool {
        self.together.load(Relaxed)
    }

    /// Notes whether it reaches memory besides its arguments.
    pub fn reach_more(&self, more: bool) {
        self.more.store(more, Relaxed);
    }

    /// Whether the host stated that it accesses memory besides its arguments.
    pub fn reaches_more(&self) -> bool {
        self.more.load(Relaxed)
    }

    /// How many arguments it has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.arg_infos().len()
    }

    fn first(&self) -> Option<&Binary> {
        self.binaries.first().map(|b| &*b.1)
    }

    fn arg_infos(&self) -> &[ArgInfo] {
        &self.parameters.0
    }

    /// The program of a device.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE` where it was not built for it.
    pub fn binary(&self, device: &Arc<Device>) -> Result<&Arc<Binary>> {
        let found = self.binaries.iter().find(|b| Arc::ptr_eq(&b.0, device));
        found
            .map(|b| &b.1)
            .ok_or(Code(cl::CL_INVALID_PROGRAM_EXECUTABLE))
    }

    /// The only device, or the one that is named.
    ///
    /// # Errors
    /// `CL_INVALID_DEVICE` if it does not belong to the program, or there are several.
    pub fn device(&self, named: Option<&Arc<Device>>) -> Result<(Arc<Device>, &Binary)> {
        let mut all = self.binaries.iter();
        let found = match named {
            Some(device) => all.find(|b| Arc::ptr_eq(&b.0, device)),
            None => all.next().filter(|_| self.binaries.len() == 1),
        };
        let (device, binary) = found.ok_or(Code(cl::CL_INVALID_DEVICE))?;
        Ok((Arc::clone(device), binary))
    }

    /// The metadata for a device.
    ///
    /// # Errors
    /// Kernels that they do not have.
    pub fn metadata<'b>(&self, binary: &'b Binary) -> Result<&'b KernelInfo> {
        let found = binary.zeinfo.kernel(&self.name);
        found.map_err(|_| Code(cl::CL_INVALID_KERNEL))
    }

    /// The kind of argument a parameter takes.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`.
    pub fn takes(&self, index: usize) -> Result<Takes> {
        let info = self.arg_infos().get(index);
        info.map(takes).ok_or(Code(cl::CL_INVALID_ARG_INDEX))
    }

    /// Sets an argument.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, and arguments of the wrong kind.
    pub fn set(&self, index: usize, arg: Arg) -> Result<()> {
        let image = |mem: &Mem| mem.shape.is_some();
        let takes = self.takes(index)?;
        match (takes, &arg) {
            (Takes::Buffer, Arg::Mem(None) | Arg::Pointer(_))
            | (Takes::Local, Arg::Local(_))
            | (Takes::Sampler, Arg::Sampler(_)) => {}
            (Takes::Buffer, Arg::Mem(Some(mem))) => ensure(!image(mem), cl::CL_INVALID_MEM_OBJECT)?,
            (Takes::Image, Arg::Mem(Some(mem))) => {
                ensure(image(mem), cl::CL_INVALID_MEM_OBJECT)?;
                let access = self.arg_infos().get(index).map(|i| &*i.access_qualifier);
                let barred = match access.unwrap_or_default().trim_start_matches("__") {
                    "read_only" => cl::CL_MEM_WRITE_ONLY,
                    "write_only" => cl::CL_MEM_READ_ONLY,
                    "read_write" => cl::CL_MEM_WRITE_ONLY | cl::CL_MEM_READ_ONLY,
                    _ => 0,
                };
                ensure(mem.flags & barred == 0, cl::CL_INVALID_ARG_VALUE)?;
            }
            (Takes::Value(_), Arg::Value(_)) => {}
            _ => return fail(cl::CL_INVALID_ARG_VALUE),
        }
        let mut args = lock(&self.args);
        let place = args.get_mut(index).ok_or(Code(cl::CL_INVALID_ARG_INDEX))?;
        let arg = match (takes, arg) {
            (Takes::Value(size), Arg::Value(bytes)) if size > 0 => {
                let before = match place {
                    Some(Kept::Plain(Arg::Value(before))) => before.as_slice(),
                    _ => &[],
                };
                Arg::Value(of_size(bytes, before, size))
            }
            (_, arg) => arg,
        };
        *place = Some(Kept::new(arg));
        Ok(())
    }

    /// What was set. The lock is not held while objects are looked up: one that is released meanwhile ends here, and its
    /// callbacks may set arguments of this kernel.
    fn kept(&self) -> Vec<Option<Kept>> {
        lock(&self.args).clone()
    }

    /// The arguments as they are now.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` if one is missing, or was released.
    pub fn arguments(&self) -> Result<Vec<Arg>> {
        let args = self.kept();
        let all: Option<Vec<_>> = args.iter().map(|a| a.as_ref()?.now()).collect();
        all.ok_or(Code(cl::CL_INVALID_KERNEL_ARGS))
    }

    /// The arguments as they are now; null pointers and zeroes where none was set.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` where an image or a sampler was not set, or was released.
    pub fn arguments_or_zeroes(&self) -> Result<Vec<Arg>> {
        let args = self.kept();
        let one = |(index, arg): (usize, &Option<Kept>)| match arg {
            Some(kept) => kept.now().ok_or(Code(cl::CL_INVALID_KERNEL_ARGS)),
            None => match self.takes(index)? {
                Takes::Buffer => Ok(Arg::Mem(None)),
                Takes::Local => Ok(Arg::Local(0)),
                Takes::Value(size) => Ok(Arg::Value(vec![0; size])),
                Takes::Image | Takes::Sampler => fail(cl::CL_INVALID_KERNEL_ARGS),
            },
        };
        args.iter().enumerate().map(one).collect()
    }

    /// An argument as launches want it.
    ///
    /// # Errors
    /// Images that cannot be.
    pub fn argument(&self, arg: &Arg) -> Result<Argument> {
        Ok(match arg {
            Arg::Mem(None) | Arg::Pointer(0) => Argument::Null,
            Arg::Mem(Some(mem)) if mem.shape.is_some() => {
                Argument::SharedImage(mem.launch_image()?, mem.shared())
            }
            Arg::Mem(Some(mem)) => Argument::Shared(mem.shared()),
            Arg::Sampler(sampler) => Argument::Sampler(sampler.state),
            Arg::Local(bytes) => Argument::Local(*bytes),
            Arg::Value(bytes) => Argument::Value(bytes.clone()),
            Arg::Pointer(address) => match self.program.context.allocation(*address) {
                Some(svm) => {
                    let offset = (address - svm.address) as u64;
                    Argument::Shared(visakit_launch::Shared {
                        // Surfaces of allocations are whole pages.
                        size: svm.storage.room() as u64 - offset,
                        storage: svm.storage,
                        address: Some(svm.address as u64),
                        offset,
                        before: offset,
                    })
                }
                None => Argument::Pointer(*address as u64),
            },
        })
    }

    /// The size of groups that the source asks for.
    #[must_use]
    pub fn required_group(info: &KernelInfo) -> Option<[usize; 3]> {
        let stated = [
            &info.execution_env.required_work_group_size,
            &info.user_attributes.reqd_work_group_size,
        ];
        let found = stated.into_iter().find(|s| s.iter().any(|n| *n > 0))?;
        let size = |d: usize| {
            found
                .get(d)
                .and_then(|n| usize::try_from(*n).ok())
                .unwrap_or(1)
        };
        Some([size(0), size(1), size(2)])
    }

    /// `clGetKernelInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_KERNEL_FUNCTION_NAME => self.name.as_str().answer(),
            cl::CL_KERNEL_NUM_ARGS => u32::try_from(self.count()).unwrap_or(0).answer(),
            cl::CL_KERNEL_REFERENCE_COUNT => references(self).answer(),
            cl::CL_KERNEL_CONTEXT => self.program.context.handle().get().answer(),
            cl::CL_KERNEL_PROGRAM => self.program.handle().get().answer(),
            cl::CL_KERNEL_ATTRIBUTES => self.attributes()?.as_str().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    fn attributes(&self) -> Result<String> {
        let binary = self.first().ok_or(Code(cl::CL_INVALID_KERNEL))?;
        let info = self.metadata(binary)?;
        let mut all = Vec::new();
        if let Some([x, y, z]) = Self::required_group(info) {
            all.push(format!("reqd_work_group_size({x},{y},{z})"));
        }
        let user = &info.user_attributes;
        if let [x, y, z] = user.work_group_size_hint.as_slice() {
            all.push(format!("work_group_size_hint({x},{y},{z})"));
        }
        if user.intel_reqd_sub_group_size > 0 {
            all.push(format!(
                "intel_reqd_sub_group_size({})",
                user.intel_reqd_sub_group_size
            ));
        }
        if !user.vec_type_hint.is_empty() {
            all.push(format!("vec_type_hint({})", user.vec_type_hint));
        }
        Ok(all.join(" "))
    }

    /// `clGetKernelArgInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`, and `CL_INVALID_VALUE` for an unknown query.
    pub fn arg_info(&self, index: usize, name: u32) -> Result<Vec<u8>> {
        let info = self
            .arg_infos()
            .get(index)
            .ok_or(Code(cl::CL_INVALID_ARG_INDEX))?;
        ensure(self.parameters.1, cl::CL_KERNEL_ARG_INFO_NOT_AVAILABLE)?;
        Ok(match name {
            cl::CL_KERNEL_ARG_ADDRESS_QUALIFIER => match info.address_qualifier.as_str() {
                "__global" => cl::CL_KERNEL_ARG_ADDRESS_GLOBAL,
                "__local" => cl::CL_KERNEL_ARG_ADDRESS_LOCAL,
                "__constant" => cl::CL_KERNEL_ARG_ADDRESS_CONSTANT,
                _ => cl::CL_KERNEL_ARG_ADDRESS_PRIVATE,
            }
            .answer(),
            cl::CL_KERNEL_ARG_ACCESS_QUALIFIER => {
                match info.access_qualifier.trim_start_matches("__") {
                    "read_only" => cl::CL_KERNEL_ARG_ACCESS_READ_ONLY,
                    "write_only" => cl::CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
                    "read_write" => cl::CL_KERNEL_ARG_ACCESS_READ_WRITE,
                    _ => cl::CL_KERNEL_ARG_ACCESS_NONE,
                }
                .answer()
            }
            cl::CL_KERNEL_ARG_TYPE_NAME => {
                let name = info
                    .type_name
                    .rsplit_once(';')
                    .map_or(info.type_name.as_str(), |n| n.0);
                name.answer()
            }
            cl::CL_KERNEL_ARG_TYPE_QUALIFIER => {
                let has = |word: &str, bit: u32| {
                    if info.type_qualifiers.split_whitespace().any(|w| w == word) {
                        bit
                    } else {
                        0
                    }
                };
                u64::from(
                    has("const", cl::CL_KERNEL_ARG_TYPE_CONST)
                        | has("restrict", cl::CL_KERNEL_ARG_TYPE_RESTRICT)
                        | has("volatile", cl::CL_KERNEL_ARG_TYPE_VOLATILE)
                        | has("pipe", cl::CL_KERNEL_ARG_TYPE_PIPE),
                )
                .answer()
            }
            cl::CL_KERNEL_ARG_NAME => info.name.as_str().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// `clGetKernelWorkGroupInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn group_info(&self, named: Option<&Arc<Device>>, name: u32) -> Result<Vec<u8>> {
        let (device, binary) = self.device(named)?;
        let info = self.metadata(binary)?;
        let env = &info.execution_env;
        Ok(match name {
            cl::CL_KERNEL_WORK_GROUP_SIZE => Self::max_group(&device, info).answer(),
            cl::CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
                Self::required_group(info).unwrap_or_default().answer()
            }
            cl::CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                usize::try_from(env.simd_size).unwrap_or(1).answer()
            }
            cl::CL_KERNEL_LOCAL_MEM_SIZE => {
                let args = lock(&self.args);
                let sizes = args.iter().filter_map(|arg| match arg {
                    Some(Kept::Plain(Arg::Local(bytes))) => Some(*bytes),
                    _ => None,
                });
                local_bytes(info, sizes).answer()
            }
            cl::CL_KERNEL_PRIVATE_MEM_SIZE => {
                let buffers = info.per_thread_memory_buffers.iter();
                let private = buffers
                    .filter(|b| b.usage.starts_with("private"))
                    .map(|b| u64::from(b.size));
                private.sum::<u64>().max(env.private_size.into()).answer()
            }
            cl::CL_KERNEL_SPILL_MEM_SIZE_INTEL => info.spill_bytes().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// Maximum number of work-items of a group: 64 threads, or the limit of the device.
    #[must_use]
    pub fn max_group(device: &Device, info: &KernelInfo) -> usize {
        let lanes = usize::try_from(info.execution_env.simd_size)
            .unwrap_or(1)
            .max(1);
        let threads = if info.execution_env.grf_count > 128 {
            32
        } else {
            64
        };
        device.max_group().min(lanes.max(8) * threads)
    }

    /// `clGetKernelSubGroupInfo`; `input` is the subject of the query.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn subgroup_info(
        &self,
        named: Option<&Arc<Device>>,
        name: u32,
        input: &[usize],
        room: usize,
    ) -> Result<Vec<u8>> {
        let (device, binary) = self.device(named)?;
        let info = self.metadata(binary)?;
        let lanes = usize::try_from(info.execution_env.simd_size)
            .unwrap_or(1)
            .max(1);
        let given = || {
            ensure((1..=3).contains(&input.len()), cl::CL_INVALID_VALUE)?;
            Ok(input.iter().fold(1_usize, |n, d| n.saturating_mul(*d)))
        };
        let most = Self::max_group(&device, info);
        Ok(match name {
            cl::CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
                given()?;
                lanes.answer()
            }
            cl::CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => given()?.div_ceil(lanes).answer(),
            cl::CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
                ensure(input.len() == 1, cl::CL_INVALID_VALUE)?;
                let items = given()?.saturating_mul(lanes);
                let items = if items <= most { items } else { 0 };
                let dimensions = (room / size_of::<usize>()).clamp(1, 3);
                let mut size = vec![usize::from(items > 0); dimensions];
                if let Some(first) = size.first_mut() {
                    *first = items;
                }
                size.answer()
            }
            cl::CL_KERNEL_MAX_NUM_SUB_GROUPS => most.div_ceil(lanes).answer(),
            cl::CL_KERNEL_COMPILE_NUM_SUB_GROUPS => 0_usize.answer(),
            cl::CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
                let stated = info.user_attributes.intel_reqd_sub_group_size;
                usize::try_from(stated).unwrap_or(0).answer()
            }
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}
