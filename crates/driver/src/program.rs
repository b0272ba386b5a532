//! Programs.

use crate::binary::{self, Binary, Module, Part};
use crate::compiler::{Input, Job, Task, compile};
use crate::context::{Context, Later, lock};
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::spirv;
use opencl_sys as cl;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The input a program was created from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Source or SPIR-V.
    Input(Input),
    /// Binaries, one for each device.
    Binaries,
    /// Other programs.
    Linked,
}

/// The build of a program for one device.
#[derive(Clone, Debug)]
struct Build {
    device: Arc<Device>,
    status: i32,
    kind: u32,
    options: String,
    log: String,
    /// The compiled but not yet linked object.
    object: Option<Vec<Module>>,
    /// Bytes that were given, not examined yet.
    given: Option<Vec<u8>>,
    binary: Option<Arc<Binary>>,
}

/// A program.
pub struct Program {
    handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    origin: Origin,
    /// Its SPIR-V with the specialization constants that were set.
    specialized: Mutex<Option<Vec<u8>>>,
    builds: Mutex<Vec<Build>>,
    /// Number of its kernels: while there are any, it cannot be rebuilt.
    pub(crate) kernels: AtomicUsize,
    destructors: Mutex<Vec<Later>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

impl Object for Program {
    const INVALID: Code = Code(cl::CL_INVALID_PROGRAM);
    const NAME: &'static str = "program";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let last = std::mem::take(&mut *lock(&self.destructors));
        last.into_iter().rev().for_each(|later| later());
    }
}

/// In the container of a compiled program that is not linked: `CL_PROGRAM_BINARY_TYPE_…`, as a decimal number.
const OBJECT: &str = "object";

impl Program {
    fn new(context: &Arc<Context>, origin: Origin, devices: &[Arc<Device>]) -> Self {
        let build = |device: &Arc<Device>| Build {
            device: Arc::clone(device),
            status: cl::CL_BUILD_NONE,
            kind: cl::CL_PROGRAM_BINARY_TYPE_NONE,
            options: String::new(),
            log: String::new(),
            object: None,
            given: None,
            binary: None,
        };
        Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            origin,
            specialized: Mutex::default(),
            builds: Mutex::new(devices.iter().map(build).collect()),
            kernels: AtomicUsize::new(0),
            destructors: Mutex::default(),
        }
    }

    /// A program of source or SPIR-V.
    #[must_use]
    pub fn from_input(context: &Arc<Context>, input: Input) -> Arc<Self> {
        Arc::new(Self::new(context, Origin::Input(input), &context.devices))
    }

    /// A program of binaries; which of them are none is reported for each.
    #[must_use]
    pub fn from_binaries(
        context: &Arc<Context>,
        all: Vec<(Arc<Device>, Vec<u8>)>,
    ) -> (Arc<Self>, Vec<bool>) {
        let devices: Vec<_> = all.iter().map(|a| Arc::clone(&a.0)).collect();
        let program = Self::new(context, Origin::Binaries, &devices);
        let mut good = Vec::new();
        for (build, (device, bytes)) in lock(&program.builds).iter_mut().zip(all) {
            if let Some((kind, modules)) = object(&bytes) {
                build.object = Some(modules);
                build.kind = kind;
                good.push(true);
                continue;
            }
            match Binary::read(&bytes, device.family.grf_bytes(), &context.addresses) {
                Ok(_) => {
                    build.kind = cl::CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
                    build.given = Some(bytes);
                    good.push(true);
                }
                Err(message) => {
                    build.log = message;
                    good.push(false);
                }
            }
        }
        (Arc::new(program), good)
    }

    fn devices(&self, given: &[Arc<Device>]) -> Result<Vec<Arc<Device>>> {
        let known: Vec<_> = lock(&self.builds)
            .iter()
            .map(|b| Arc::clone(&b.device))
            .collect();
        let known_one = |d: &Arc<Device>| known.iter().any(|k| Arc::ptr_eq(k, d));
        ensure(given.iter().all(known_one), cl::CL_INVALID_DEVICE)?;
        Ok(if given.is_empty() {
            known
        } else {
            given.to_vec()
        })
    }

    fn change(&self, device: &Arc<Device>, change: impl FnOnce(&mut Build)) {
        let mut builds = lock(&self.builds);
        if let Some(build) = builds.iter_mut().find(|b| Arc::ptr_eq(&b.device, device)) {
            change(build);
        }
    }

    fn build_of(&self, device: &Arc<Device>) -> Result<Build> {
        let builds = lock(&self.builds);
        let found = builds.iter().find(|b| Arc::ptr_eq(&b.device, device));
        found.cloned().ok_or(Code(cl::CL_INVALID_DEVICE))
    }

    /// `clSetProgramSpecializationConstant`: a value for all builds from now on.
    ///
    /// # Errors
    /// Programs not of SPIR-V, constants that it does not have, values of other sizes than theirs.
    pub fn specialize(&self, id: u32, value: &[u8]) -> Result<()> {
        let Origin::Input(Input::Spirv(code)) = &self.origin else {
            return fail(cl::CL_INVALID_PROGRAM);
        };
        let mut specialized = lock(&self.specialized);
        spirv::specialize(specialized.get_or_insert_with(|| code.clone()), id, value)
    }

    /// Bytes of the value of a specialization constant; `None` if the program has no such constant.
    #[must_use]
    pub fn constant_bytes(&self, id: u32) -> Option<usize> {
        match &self.origin {
            Origin::Input(Input::Spirv(code)) => spirv::constant_bytes(code, id),
            _ => None,
        }
    }

    /// What is compiled, if it was created from source or SPIR-V.
    fn input(&self) -> Option<Input> {
        match (&self.origin, &*lock(&self.specialized)) {
            (Origin::Input(_), Some(code)) => Some(Input::Spirv(code.clone())),
            (Origin::Input(input), None) => Some(input.clone()),
            _ => None,
        }
    }

    /// `clBuildProgram`.
    ///
    /// # Errors
    /// `CL_BUILD_PROGRAM_FAILURE`; the log says why.
    pub fn build(&self, devices: &[Arc<Device>], options: &str) -> Result<()> {
        self.build_with(devices, options, false)
    }

    /// Builds a program that may call functions of others, and is linked with them later.
    ///
    /// # Errors
    /// As of [`Self::build`].
    pub fn build_open(&self, devices: &[Arc<Device>], options: &str) -> Result<()> {
        self.build_with(devices, options, true)
    }

    fn build_with(&self, devices: &[Arc<Device>], options: &str, may_import: bool) -> Result<()> {
        let devices = self.devices(devices)?;
        ensure(self.kernels.load(Relaxed) == 0, cl::CL_INVALID_OPERATION)?;
        let input = self.input();
        let mut failed = false;
        for device in devices {
            let build = self.build_of(&device)?;
            self.change(&device, |b| {
                b.status = cl::CL_BUILD_IN_PROGRESS;
                b.options = options.to_owned();
            });
            let (container, log) = match (&input, build.given, build.object) {
                (Some(input), ..) => {
                    let compiled = compile(&Job {
                        task: Task::Build(input),
                        options,
                        device: &device,
                        may_import,
                    });
                    (compiled.container, compiled.log)
                }
                (_, Some(given), _) => (Some(given), String::new()),
                (_, None, Some(modules)) => link(&device, &modules, options),
                _ => return fail(cl::CL_INVALID_BINARY),
            };
            failed |= !self.accept(
                &device,
                container,
                log,
                cl::CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            );
        }
        ensure(!failed, cl::CL_BUILD_PROGRAM_FAILURE)
    }

    /// Takes a container over; whether it was one.
    fn accept(
        &self,
        device: &Arc<Device>,
        container: Option<Vec<u8>>,
        mut log: String,
        kind: u32,
    ) -> bool {
        let read = container
            .map(|bytes| Binary::read(&bytes, device.family.grf_bytes(), &self.context.addresses));
        let binary = match read {
            Some(Ok(binary)) => Some(Arc::new(binary)),
            Some(Err(message)) => {
                log = format!("{log}\nvisakit: {message}");
                None
            }
            None => None,
        };
        let good = binary.is_some();
        self.change(device, |build| {
            build.binary = binary;
            build.log = log;
            build.kind = if good {
                kind
            } else {
                cl::CL_PROGRAM_BINARY_TYPE_NONE
            };
            build.status = if good {
                cl::CL_BUILD_SUCCESS
            } else {
                cl::CL_BUILD_ERROR
            };
        });
        good
    }

    /// `clCompileProgram`: makes SPIR-V of source, with its headers, for linking.
    ///
    /// # Errors
    /// `CL_COMPILE_PROGRAM_FAILURE`; the log says why.
    pub fn compile(
        &self,
        devices: &[Arc<Device>],
        options: &str,
        headers: &[(String, Arc<Self>)],
    ) -> Result<()> {
        let devices = self.devices(devices)?;
        ensure(self.kernels.load(Relaxed) == 0, cl::CL_INVALID_OPERATION)?;
        let input = self.input().ok_or(Code(cl::CL_INVALID_OPERATION))?;
        let mut texts = Vec::new();
        for (name, header) in headers {
            let Origin::Input(Input::Text(text)) = &header.origin else {
                return fail(cl::CL_INVALID_PROGRAM);
            };
            texts.push((name.clone(), text.clone()));
        }
        let mut failed = false;
        for device in devices {
            let (code, log, source) = match &input {
                Input::Spirv(code) => (Some(code.clone()), String::new(), None),
                Input::Text(text) => {
                    let compiled = compile(&Job {
                        task: Task::Compile(text, &texts),
                        options,
                        device: &device,
                        may_import: false,
                    });
                    (compiled.container, compiled.log, Some(text.clone()))
                }
            };
            failed |= code.is_none();
            let module = code.map(|code| Module {
                code,
                part: Part {
                    options: options.to_owned(),
                    source,
                    headers: texts.clone(),
                },
            });
            self.change(&device, |build| {
                build.options = options.to_owned();
                build.log = log;
                (build.status, build.kind) = if module.is_some() {
                    let kind = cl::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
                    (cl::CL_BUILD_SUCCESS, kind)
                } else {
                    (cl::CL_BUILD_ERROR, cl::CL_PROGRAM_BINARY_TYPE_NONE)
                };
                build.object = module.map(|m| vec![m]);
                build.binary = None;
            });
        }
        ensure(!failed, cl::CL_COMPILE_PROGRAM_FAILURE)
    }

    /// `clLinkProgram`: a program of several compiled ones.
    ///
    /// # Errors
    /// Programs that were not compiled; whether linking failed is returned beside the program.
    pub fn link(
        context: &Arc<Context>,
        devices: &[Arc<Device>],
        options: &str,
        parts: &[Arc<Self>],
    ) -> Result<(Arc<Self>, bool)> {
        ensure(!parts.is_empty(), cl::CL_INVALID_VALUE)?;
        let devices = if devices.is_empty() {
            &context.devices
        } else {
            devices
        };
        ensure(
            devices.iter().all(|d| context.has(d)),
            cl::CL_INVALID_DEVICE,
        )?;
        let linked = Arc::new(Self::new(context, Origin::Linked, devices));
        let library = options.split_whitespace().any(|o| o == "-create-library");
        let mut failed = false;
        for device in devices {
            let mut modules = Vec::new();
            for part in parts {
                let object = part.build_of(device)?.object;
                modules.extend(object.ok_or(Code(cl::CL_INVALID_OPERATION))?);
            }
            if library {
                linked.change(device, |build| {
                    build.object = Some(modules);
                    build.status = cl::CL_BUILD_SUCCESS;
                    build.kind = cl::CL_PROGRAM_BINARY_TYPE_LIBRARY;
                });
            } else {
                let (container, log) = link(device, &modules, options);
                let kind = cl::CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
                failed |= !linked.accept(device, container, log, kind);
            }
            linked.change(device, |build| build.options = options.to_owned());
        }
        Ok((linked, failed))
    }

    /// Takes over its program for a device with what it was linked with, for kernels that are created from now on.
    pub fn relink(&self, device: &Arc<Device>, linked: Binary) {
        self.change(device, |build| build.binary = Some(Arc::new(linked)));
    }

    /// Its binary for a device, if it was built for it.
    #[must_use]
    pub fn binary(&self, device: &Arc<Device>) -> Option<Arc<Binary>> {
        self.build_of(device).ok()?.binary
    }

    /// Its binary for any device.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE` where it was not built.
    pub fn any_binary(&self) -> Result<Arc<Binary>> {
        let builds = lock(&self.builds);
        let found = builds.iter().find_map(|b| b.binary.clone());
        found.ok_or(Code(cl::CL_INVALID_PROGRAM_EXECUTABLE))
    }

    /// Calls something when the program ends.
    pub fn at_end(&self, later: Later) {
        lock(&self.destructors).push(later);
    }

    /// The binary of each device; empty if there is none.
    #[must_use]
    pub fn binaries(&self) -> Vec<Vec<u8>> {
        let bytes = |b: &Build| match (&b.binary, &b.given, &b.object) {
            (Some(binary), ..) => binary.bytes.clone(),
            (None, Some(given), _) => given.clone(),
            (None, None, Some(modules)) => {
                let mut pieces = vec![(OBJECT.to_owned(), b.kind.to_string().into_bytes())];
                pieces.extend(binary::pieces_of(modules));
                binary::pack(&pieces)
            }
            _ => Vec::new(),
        };
        lock(&self.builds).iter().map(bytes).collect()
    }

    /// `clGetProgramInfo`, except for the binaries.
    ///
    /// # Errors
    /// Programs that were not built, and `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        let builds = lock(&self.builds).clone();
        Ok(match name {
            cl::CL_PROGRAM_REFERENCE_COUNT => references(self).answer(),
            cl::CL_PROGRAM_CONTEXT => self.context.handle().get().answer(),
            cl::CL_PROGRAM_NUM_DEVICES => u32::try_from(builds.len()).unwrap_or(0).answer(),
            cl::CL_PROGRAM_DEVICES => {
                let devices = builds.iter().map(|b| b.device.handle().get());
                devices.collect::<Vec<_>>().answer()
            }
            cl::CL_PROGRAM_SOURCE => match &self.origin {
                Origin::Input(Input::Text(text)) => {
                    let mut text = text.clone();
                    text.push(0);
                    text
                }
                _ => "".answer(),
            },
            cl::CL_PROGRAM_IL => match &self.origin {
                Origin::Input(Input::Spirv(code)) => code.clone(),
                _ => Vec::new(),
            },
            cl::CL_PROGRAM_BINARY_SIZES => {
                let sizes = self.binaries().into_iter().map(|b| b.len());
                sizes.collect::<Vec<_>>().answer()
            }
            cl::CL_PROGRAM_NUM_KERNELS => self.any_binary()?.names().len().answer(),
            cl::CL_PROGRAM_KERNEL_NAMES => self.any_binary()?.names().join(";").as_str().answer(),
            cl::CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT
            | cl::CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => false.answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// `clGetProgramBuildInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn build_info(&self, device: &Arc<Device>, name: u32) -> Result<Vec<u8>> {
        let build = self.build_of(device)?;
        Ok(match name {
            cl::CL_PROGRAM_BUILD_STATUS => build.status.answer(),
            cl::CL_PROGRAM_BUILD_OPTIONS => build.options.as_str().answer(),
            cl::CL_PROGRAM_BUILD_LOG => build.log.as_str().answer(),
            cl::CL_PROGRAM_BINARY_TYPE => build.kind.answer(),
            cl::CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
                build.binary.map_or(0, |b| b.variables.bytes()).answer()
            }
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}

/// The content of the container of a program that is not linked: its kind and its modules.
fn object(bytes: &[u8]) -> Option<(u32, Vec<Module>)> {
    let pieces = binary::unpack(bytes)?;
    let (_, kind) = pieces.iter().find(|p| p.0 == OBJECT)?;
    let kind = std::str::from_utf8(kind).ok()?.parse().ok()?;
    let known = [
        cl::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
        cl::CL_PROGRAM_BINARY_TYPE_LIBRARY,
    ];
    known
        .contains(&kind)
        .then(|| (kind, binary::modules_of(&pieces)))
}

/// Links modules: the container, and the log. The code is made with the options of all parts and those of the link.
fn link(device: &Device, modules: &[Module], options: &str) -> (Option<Vec<u8>>, String) {
    let mut all: Vec<&str> = Vec::new();
    let of_parts = modules.iter().map(|m| m.part.options.as_str());
    for option in of_parts.chain([options]).flat_map(str::split_whitespace) {
        // Options of the preprocessor have been handled, and may contain blanks.
        let here = option.starts_with("-cl-") || option.starts_with("-ze-") || option == "-g";
        if here && !all.contains(&option) {
            all.push(option);
        }
    }
    let compiled = compile(&Job {
        task: Task::Link(modules),
        options: &all.join(" "),
        device,
        may_import: false,
    });
    (compiled.container, compiled.log)
}
