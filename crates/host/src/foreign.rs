//! Another OpenCL driver in the same process: `visakit opencl compare` repeats launches on it.

use opencl_sys as cl;
use opencl_sys::cl_icd::cl_icd_dispatch;
use std::ffi::{CStr, CString, c_char, c_void};
use visakit_launch::NdRange;

/// A handle or a pointer of that driver.
type Pointer = *mut c_void;

/// What could be run there, or why not.
pub type Outcome<T> = Result<T, String>;

/// The first device of another driver.
#[derive(Debug)]
pub struct Foreign {
    table: &'static cl_icd_dispatch,
    context: Pointer,
    queue: Pointer,
    device: Pointer,
    /// The name of the device.
    pub name: String,
}

// SAFETY: OpenCL's objects may be used from any thread; of kernels, whose arguments may not, each launch has its own.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

/// A program there.
#[derive(Clone, Copy, Debug)]
pub struct Program(Pointer);

// SAFETY: as above.
unsafe impl Send for Program {}

/// The description of an image.
#[derive(Clone, Debug)]
pub struct Image {
    /// `CL_MEM_OBJECT_IMAGE…`
    pub kind: u32,
    /// `cl_image_format`.
    pub format: (u32, u32),
    /// Width, height, depth, entries.
    pub sizes: [usize; 4],
    /// Bytes from a row to the next, and from a slice to the next.
    pub pitches: [usize; 2],
    /// As copies count them.
    pub region: [usize; 3],
}

/// An argument.
#[derive(Debug)]
pub enum Given {
    /// A buffer, by its number in the list, or a null pointer.
    Memory(Option<usize>),
    /// Bytes of local memory.
    Local(usize),
    /// A value.
    Value(Vec<u8>),
    /// Normalized, addressing, filter.
    Sampler(bool, u32, u32),
}

/// Bytes in memory: before the launch, then after it.
#[derive(Debug)]
pub struct Bytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Its description if it is an image.
    pub image: Option<Image>,
}

/// Calls a function of the table; a failure is reported by name.
macro_rules! call {
    ($table:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match $table.$name {
            // SAFETY: handles are those that the driver gave; arrays and their sizes are of this module.
            Some(function) => match unsafe { function($($arg),*) } {
                cl::CL_SUCCESS => Ok(()),
                code => Err(format!("{} gives {code}", stringify!($name))),
            },
            None => Err(format!("there is no {}", stringify!($name))),
        }
    };
}

/// Calls a function that makes an object.
macro_rules! make {
    ($table:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match $table.$name {
            Some(function) => {
                let mut code = 0;
                // SAFETY: as above.
                let made = unsafe { function($($arg,)* &raw mut code) };
                if code == cl::CL_SUCCESS { Ok(made) } else { Err(format!("{} gives {code}", stringify!($name))) }
            }
            None => Err(format!("there is no {}", stringify!($name))),
        }
    };
}

/// Releases objects when it ends.
struct Held<'f> {
    table: &'f cl_icd_dispatch,
    kernel: Option<Pointer>,
    mems: Vec<Pointer>,
    samplers: Vec<Pointer>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(kernel) = self.kernel {
            let _ = call!(self.table, clReleaseKernel(kernel));
        }
        for mem in &self.mems {
            let _ = call!(self.table, clReleaseMemObject(*mem));
        }
        for sampler in &self.samplers {
            let _ = call!(self.table, clReleaseSampler(*sampler));
        }
    }
}

fn loaded(library: &str) -> Outcome<Pointer> {
    let path = CString::new(library).map_err(|e| e.to_string())?;
    // SAFETY: a C string; what a library does on loading is its own responsibility.
    let opened = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if opened.is_null() {
        // SAFETY: the last error, or null.
        let message = unsafe { libc::dlerror() };
        // SAFETY: as above.
        let message = (!message.is_null()).then(|| unsafe { CStr::from_ptr(message) });
        let message = message.map_or_else(String::new, |m| m.to_string_lossy().into_owned());
        return Err(format!("cannot load `{library}`: {message}"));
    }
    Ok(opened)
}

impl Foreign {
    /// The first device of the first platform of a driver's library.
    pub fn open(library: &str) -> Outcome<Self> {
        type Platforms = unsafe extern "C" fn(u32, *mut Pointer, *mut u32) -> i32;
        let opened = loaded(library)?;
        let find = |name: &CStr| {
            // SAFETY: a handle of dlopen and a C string.
            let found = unsafe { libc::dlsym(opened, name.as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        let found = match find(c"clIcdGetPlatformIDsKHR") {
            Some(found) => found,
            // Drivers that only provide it by name.
            None => {
                let by_name = find(c"clGetExtensionFunctionAddress")
                    .ok_or("the library is no OpenCL driver (ICD)")?;
                // SAFETY: the function of that name has this signature.
                let by_name: unsafe extern "C" fn(*const c_char) -> Pointer =
                    unsafe { std::mem::transmute(by_name) };
                // SAFETY: a C string.
                let found = unsafe { by_name(c"clIcdGetPlatformIDsKHR".as_ptr()) };
                Some(found)
                    .filter(|f| !f.is_null())
                    .ok_or("the library is no OpenCL driver (ICD)")?
            }
        };
        // SAFETY: the function of that name has this signature.
        let platforms: Platforms = unsafe { std::mem::transmute(found) };
        let mut platform = std::ptr::null_mut();
        // SAFETY: room for one platform.
        let code = unsafe { platforms(1, &raw mut platform, std::ptr::null_mut()) };
        if code != cl::CL_SUCCESS || platform.is_null() {
            return Err(format!("the driver has no platform: {code}"));
        }
        // SAFETY: the target of a driver's handle begins with a pointer to its table, which stays valid.
        let table = unsafe { *platform.cast::<&'static cl_icd_dispatch>() };
        let mut device = std::ptr::null_mut();
        let all = cl::CL_DEVICE_TYPE_ALL;
        call!(
            table,
            clGetDeviceIDs(platform, all, 1, &raw mut device, std::ptr::null_mut())
        )?;
        let list = [device];
        let (none, null) = (std::ptr::null(), std::ptr::null_mut());
        let context = make!(table, clCreateContext(none, 1, list.as_ptr(), None, null))?;
        let queue = make!(table, clCreateCommandQueue(context, device, 0))?;
        let mut name = vec![0_u8; 256];
        call!(
            table,
            clGetDeviceInfo(
                device,
                cl::CL_DEVICE_NAME,
                name.len(),
                name.as_mut_ptr().cast(),
                null.cast(),
            )
        )?;
        let name = name.split(|b| *b == 0).next().unwrap_or_default();
        Ok(Self {
            table,
            context,
            queue,
            device,
            name: String::from_utf8_lossy(name).into_owned(),
        })
    }

    /// Builds a program of its parts, each with its own options.
    pub fn program(&self, parts: &[(&[u8], String)]) -> Outcome<Program> {
        let list = [self.device];
        let null = std::ptr::null_mut();
        let create = |source: &[u8]| {
            let mut text = source.as_ptr().cast::<c_char>();
            let length = source.len();
            make!(
                self.table,
                clCreateProgramWithSource(self.context, 1, &raw mut text, &raw const length)
            )
        };
        let c_string = |text: &str| CString::new(text).map_err(|e| e.to_string());
        if let [(source, options)] = parts {
            let made = create(source)?;
            let options = c_string(options)?;
            let built = call!(
                self.table,
                clBuildProgram(made, 1, list.as_ptr(), options.as_ptr(), None, null)
            );
            return built
                .map(|()| Program(made))
                .map_err(|code| self.why(made, &code));
        }
        let mut objects = Vec::new();
        for (source, options) in parts {
            let made = create(source)?;
            let options = c_string(options)?;
            let compiled = call!(
                self.table,
                clCompileProgram(
                    made,
                    1,
                    list.as_ptr(),
                    options.as_ptr(),
                    0,
                    std::ptr::null(),
                    std::ptr::null_mut(),
                    None,
                    null,
                )
            );
            compiled.map_err(|code| self.why(made, &code))?;
            objects.push(made);
        }
        let count = u32::try_from(objects.len()).map_err(|e| e.to_string())?;
        let linked = make!(
            self.table,
            clLinkProgram(
                self.context,
                1,
                list.as_ptr(),
                c"".as_ptr(),
                count,
                objects.as_ptr(),
                None,
                null,
            )
        );
        linked
            .map(Program)
            .map_err(|code| format!("it does not link there: {code}"))
    }

    /// Why a program was not built there: the first error of its log.
    fn why(&self, program: Pointer, code: &str) -> String {
        let mut log = vec![0_u8; 4096];
        let told = call!(
            self.table,
            clGetProgramBuildInfo(
                program,
                self.device,
                cl::CL_PROGRAM_BUILD_LOG,
                log.len(),
                log.as_mut_ptr().cast(),
                std::ptr::null_mut(),
            )
        );
        let log = log.split(|b| *b == 0).next().unwrap_or_default();
        let log = String::from_utf8_lossy(log);
        let first = log.lines().find(|l| l.contains("error")).unwrap_or(&log);
        match told {
            Ok(()) if !first.is_empty() => format!("it does not build there: {first}"),
            _ => format!("it does not build there: {code}"),
        }
    }

    fn memory(&self, memory: &mut Bytes) -> Outcome<Pointer> {
        let flags = cl::CL_MEM_READ_WRITE | cl::CL_MEM_COPY_HOST_PTR;
        let bytes = memory.bytes.as_mut_ptr().cast();
        let Some(image) = &memory.image else {
            return make!(
                self.table,
                clCreateBuffer(self.context, flags, memory.bytes.len(), bytes)
            );
        };
        let format = cl::cl_image_format {
            image_channel_order: image.format.0,
            image_channel_data_type: image.format.1,
        };
        let [image_width, image_height, image_depth, image_array_size] = image.sizes;
        let desc = cl::cl_image_desc {
            image_type: image.kind,
            image_width,
            image_height,
            image_depth,
            image_array_size,
            image_row_pitch: image.pitches[0],
            image_slice_pitch: image.pitches[1],
            num_mip_levels: 0,
            num_samples: 0,
            buffer: std::ptr::null_mut(),
        };
        make!(
            self.table,
            clCreateImage(
                self.context,
                flags,
                &raw const format,
                &raw const desc,
                bytes
            )
        )
    }

    /// Runs a kernel; memory then has its results.
    pub fn run(
        &self,
        program: Program,
        kernel: &str,
        memory: &mut [Bytes],
        given: &[Given],
        range: &NdRange,
    ) -> Outcome<()> {
        let table = self.table;
        let name = CString::new(kernel).map_err(|e| e.to_string())?;
        let kernel = make!(table, clCreateKernel(program.0, name.as_ptr()))?;
        let mut held = Held {
            table,
            kernel: Some(kernel),
            mems: Vec::new(),
            samplers: Vec::new(),
        };
        for one in memory.iter_mut() {
            held.mems.push(self.memory(one)?);
        }
        for (index, given) in (0_u32..).zip(given) {
            let handle = match given {
                Given::Memory(None) => std::ptr::null_mut(),
                Given::Memory(Some(at)) => *held.mems.get(*at).ok_or("no such memory")?,
                Given::Sampler(normalized, addressing, filter) => {
                    let normalized = u32::from(*normalized);
                    let made = make!(
                        table,
                        clCreateSampler(self.context, normalized, *addressing, *filter)
                    )?;
                    held.samplers.push(made);
                    made
                }
                Given::Local(bytes) => {
                    call!(
                        table,
                        clSetKernelArg(kernel, index, *bytes, std::ptr::null())
                    )?;
                    continue;
                }
                Given::Value(bytes) => {
                    let from = bytes.as_ptr().cast();
                    call!(table, clSetKernelArg(kernel, index, bytes.len(), from))?;
                    continue;
                }
            };
            let from = (&raw const handle).cast();
            call!(
                table,
                clSetKernelArg(kernel, index, size_of::<Pointer>(), from)
            )?;
        }
        let wide = |list: [u32; 3]| list.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let (offset, global, local) = (wide(range.offset), wide(range.global), wide(range.local));
        let (none, no) = (std::ptr::null(), std::ptr::null_mut());
        call!(
            table,
            clEnqueueNDRangeKernel(
                self.queue,
                kernel,
                range.dimensions,
                offset.as_ptr(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                none,
                no,
            )
        )?;
        call!(table, clFinish(self.queue))?;
        for (one, mem) in memory.iter_mut().zip(&held.mems) {
            let to = one.bytes.as_mut_ptr().cast();
            match &one.image {
                None => call!(
                    table,
                    clEnqueueReadBuffer(self.queue, *mem, 1, 0, one.bytes.len(), to, 0, none, no)
                )?,
                Some(image) => {
                    let origin = [0_usize; 3];
                    let (region, [row, slice]) = (image.region.as_ptr(), image.pitches);
                    let slice =
                        if image.region[2] > 1 || image.kind == cl::CL_MEM_OBJECT_IMAGE1D_ARRAY {
                            slice
                        } else {
                            0
                        };
                    call!(
                        table,
                        clEnqueueReadImage(
                            self.queue,
                            *mem,
                            1,
                            origin.as_ptr(),
                            region,
                            row,
                            slice,
                            to,
                            0,
                            none,
                            no,
                        )
                    )?;
                }
            }
        }
        Ok(())
    }
}
