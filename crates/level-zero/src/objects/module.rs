//! Modules and their logs.

use crate::error::{Error, Result};
use opencl_sys as cl;
use std::ffi::{CStr, CString};
use std::sync::{Arc, OnceLock};
use visakit_driver::binary::Binary;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::handle::Handle;
use visakit_driver::program::Program;

/// A log of the compiler.
#[derive(Debug)]
pub struct BuildLog {
    pub(super) handle: Handle,
    /// Its text.
    pub text: String,
}

impl BuildLog {
    /// A log with this text.
    #[must_use]
    pub fn new(text: String) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            text,
        })
    }
}

/// Sets the specialization constants of a program: `value` reads so many bytes of the value of the constant with a place in
/// the list.
///
/// # Errors
/// Values that the constants cannot have.
pub fn specialize(
    program: &Program,
    constants: &[u32],
    value: &dyn Fn(usize, usize) -> Vec<u8>,
) -> Result<()> {
    for (place, id) in constants.iter().enumerate() {
        // Constants that the module does not have change nothing.
        if let Some(bytes) = program.constant_bytes(*id) {
            program.specialize(*id, &value(place, bytes))?;
        }
    }
    Ok(())
}

/// What the compiler takes for no optimization, and hosts look for in binaries.
const LEVEL_0: &str = "-cl-opt-disable -ze-opt-level=O0";

/// Options as the compiler takes them for OpenCL: Level Zero has other names for some.
#[must_use]
pub fn options(given: &str) -> String {
    let translated = given.split_whitespace().map(|option| {
        let same = [
            ("-ze-opt-disable", "-cl-opt-disable"),
            ("-ze-opt-level=O0", LEVEL_0),
            ("-ze-opt-level=0", LEVEL_0),
            ("-ze-opt-level=1", "-ze-opt-level=O1"),
            ("-ze-opt-level=2", "-ze-opt-level=O2"),
            ("-ze-take-global-address", "-cl-take-global-address"),
            ("-ze-library-compilation", "-library-compilation"),
        ];
        if let Some((_, other)) = same.iter().find(|(name, _)| *name == option) {
            return (*other).to_owned();
        }
        for (prefix, other) in [
            ("-ze-intel-", "-cl-intel-"),
            ("-ze-opt-greater-than-4GB-", "-cl-intel-greater-than-4GB-"),
            (
                "-ze-opt-has-buffer-offset-arg",
                "-cl-intel-has-buffer-offset-arg",
            ),
            (
                "-ze-opt-large-register-file",
                "-cl-intel-256-GRF-per-thread",
            ),
        ] {
            if let Some(rest) = option.strip_prefix(prefix) {
                return format!("{other}{rest}");
            }
        }
        option.to_owned()
    });
    translated.collect::<Vec<_>>().join(" ")
}

/// What is asked of the linkage of modules.
#[derive(Clone, Copy, Debug)]
pub struct Linkage {
    /// Functions that they call and do not have.
    pub imports: bool,
    /// Those of them that none of the modules has.
    pub missing: bool,
    /// Functions that others can call.
    pub exports: bool,
}

/// A module.
#[derive(Debug)]
pub struct Module {
    pub(super) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// Its program, built for the device.
    pub program: Arc<Program>,
    names: OnceLock<Vec<CString>>,
}

impl Module {
    /// A module of programs that are not built yet, with the options of each; the log, too, if they cannot be built.
    ///
    /// # Errors
    /// [`Error::MODULE_BUILD_FAILURE`].
    pub fn build(
        (context, device): (&Arc<Context>, &Arc<Device>),
        parts: &[(Arc<Program>, String)],
    ) -> (Result<Arc<Self>>, String) {
        let devices = [Arc::clone(device)];
        let log = |program: &Program| {
            let log = program.build_info(device, cl::CL_PROGRAM_BUILD_LOG);
            let log = log.unwrap_or_default();
            let text = log.strip_suffix(&[0]).unwrap_or(&log);
            String::from_utf8_lossy(text).into_owned()
        };
        let failed = Err(Error::MODULE_BUILD_FAILURE);
        let program = if let [(program, options)] = parts {
            if program.build_open(&devices, options).is_err() {
                return (failed, log(program));
            }
            Arc::clone(program)
        } else {
            for (program, options) in parts {
                if program.compile(&devices, options, &[]).is_err() {
                    return (failed, log(program));
                }
            }
            let parts: Vec<_> = parts.iter().map(|p| Arc::clone(&p.0)).collect();
            match Program::link(context, &devices, "", &parts) {
                Ok((program, false)) => program,
                Ok((program, true)) => return (failed, log(&program)),
                Err(_) => return (failed, String::new()),
            }
        };
        let text = log(&program);
        (Ok(Self::with((context, device), program)), text)
    }

    /// A module of a binary.
    ///
    /// # Errors
    /// [`Error::INVALID_NATIVE_BINARY`] where there is no vISA in it; the log says what is missing.
    pub fn native(
        (context, device): (&Arc<Context>, &Arc<Device>),
        bytes: Vec<u8>,
    ) -> (Result<Arc<Self>>, String) {
        let (program, good) = Program::from_binaries(context, vec![(Arc::clone(device), bytes)]);
        let (module, log) = Self::build((context, device), &[(program, String::new())]);
        if good.contains(&false) {
            return (Err(Error::INVALID_NATIVE_BINARY), log);
        }
        (module, log)
    }

    fn with((context, device): (&Arc<Context>, &Arc<Device>), program: Arc<Program>) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            device: Arc::clone(device),
            program,
            names: OnceLock::new(),
        })
    }

    /// Its program for its device.
    ///
    /// # Errors
    /// Modules without one.
    pub fn binary(&self) -> Result<Arc<Binary>> {
        let binary = self.program.binary(&self.device);
        binary.ok_or(Error::INVALID_ARGUMENT)
    }

    /// Links modules, each with the functions and variables of the others that it uses: all of them, or none. The log says what is missing.
    ///
    /// # Errors
    /// [`Error::MODULE_LINK_FAILURE`].
    pub fn link(modules: &[Arc<Self>]) -> (Result<()>, String) {
        let linked = || {
            let mut all = Vec::new();
            for module in modules {
                all.push(module.binary()?);
            }
            let mut log = String::new();
            let mut done = Vec::new();
            for (module, binary) in modules.iter().zip(&all) {
                if binary.imports.is_empty() {
                    continue;
                }
                match binary.linked(&all) {
                    Ok(linked) => done.push((module, linked)),
                    Err(missing) => {
                        let line = |name| format!("undefined reference to `{name}`\n");
                        log.extend(missing.iter().map(line));
                    }
                }
            }
            if log.is_empty() {
                for (module, linked) in done {
                    module.program.relink(&module.device, linked);
                }
            }
            Ok(log)
        };
        match linked() {
            Ok(log) if log.is_empty() => (Ok(()), log),
            Ok(log) => (Err(Error::MODULE_LINK_FAILURE), log),
            Err(error) => (Err(error), String::new()),
        }
    }

    /// What modules import and export, in lines.
    ///
    /// # Errors
    /// Modules without a program.
    pub fn linkage(modules: &[Arc<Self>], wanted: Linkage) -> Result<String> {
        let mut all = Vec::new();
        for module in modules {
            all.push(module.binary()?);
        }
        let has = |name: &str| all.iter().any(|b| b.exports().any(|export| export == name));
        let mut log = String::new();
        let mut say = |number: usize, what: &str, name: &str| {
            log.push_str(&format!("module {number}: {what} {name}\n"));
        };
        for (number, binary) in all.iter().enumerate() {
            for name in &binary.imports {
                if wanted.imports {
                    say(number, "imports", name);
                }
                if wanted.missing && !has(name) {
                    say(number, "cannot resolve", name);
                }
            }
            if wanted.exports {
                binary
                    .exports()
                    .for_each(|name| say(number, "exports", name));
            }
        }
        Ok(log)
    }

    /// Names of its kernels, for the host: they stay where they are as long as the module.
    ///
    /// # Errors
    /// Modules without a program.
    pub fn names(&self) -> Result<impl Iterator<Item = &CStr>> {
        let binary = self.program.any_binary()?;
        let names = self.names.get_or_init(|| {
            let names = binary.names().into_iter();
            names.filter_map(|name| CString::new(name).ok()).collect()
        });
        Ok(names.iter().map(CString::as_c_str))
    }

    /// Address and size of a variable.
    ///
    /// # Errors
    /// [`Error::INVALID_GLOBAL_NAME`].
    pub fn global(&self, name: &str) -> Result<(u64, u64)> {
        let variable = self.program.any_binary()?.variable(name);
        variable.ok_or(Error::INVALID_GLOBAL_NAME)
    }

    /// The address by which its kernels call a function.
    ///
    /// # Errors
    /// [`Error::INVALID_FUNCTION_NAME`] if no kernel can call it, and [`Error::UNSUPPORTED_FEATURE`] if it has not the same
    /// address for all of them.
    pub fn function(&self, name: &str) -> Result<u64> {
        let function = self.program.any_binary()?.function(name)?;
        function.ok_or(Error::INVALID_FUNCTION_NAME)
    }
}
