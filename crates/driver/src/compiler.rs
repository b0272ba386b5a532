//! Programs by Intel's offline compiler.

use crate::binary::{self, Module, Pieces};
use crate::cache::Cache;
use crate::device::Device;
use crate::extensions;
use crate::includes;
use crate::ocloc::{self, Answer, Call, Ocloc};
use crate::watch::wants_lines;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use visakit_launch::local_variables;

/// The input of a program.
#[derive(Clone, Debug)]
pub enum Input {
    /// OpenCL C.
    Text(Vec<u8>),
    /// SPIR-V.
    Spirv(Vec<u8>),
}

/// A task for the compiler.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// A program for the device; calls of undefined functions are an error.
    Build(&'a Input),
    /// Source is made SPIR-V, with these headers by their names, for `#include`.
    Compile(&'a [u8], &'a [(String, Vec<u8>)]),
    /// A program for the device, of several parts.
    Link(&'a [Module]),
}

/// The result of a compilation.
#[derive(Debug)]
pub struct Compiled {
    /// The container, or the SPIR-V of [`Task::Compile`]; `None` if it failed.
    pub container: Option<Vec<u8>>,
    /// The compiler's messages.
    pub log: String,
}

/// What is compiled, and how.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The task.
    pub task: Task<'a>,
    /// Options as the host gave them.
    pub options: &'a str,
    /// For which device.
    pub device: &'a Device,
    /// Whether it may call functions that it does not have: it is linked later.
    pub may_import: bool,
}

/// Adds source lines to texts, without a change to the code.
const LINES: &str = " -gline-tables-only";

/// The compiler's complaint about declarations in its own header.
const NEEDS_IMAGES: &str = "requires __opencl_c_images support";

/// Folder of headers that the host gave by name.
const HEADERS: &str = "headers";
/// The file of linked parts.
const LINKED: &str = "linked.bc";

/// The advice if there is no compiler.
const MISSING: &str = "visakit needs Intel's offline compiler `ocloc` to build programs from source, and there is none on \
the path. Debian and Ubuntu: apt-get install intel-opencl-icd (newer releases: intel-ocloc). Or set VISAKIT_OCLOC to its \
path.";

/// Compiles, or returns the cached result.
pub fn compile(job: &Job<'_>) -> Compiled {
    let no = |log| Compiled {
        container: None,
        log,
    };
    let Some(ocloc) = ocloc::installed() else {
        return no(MISSING.to_owned());
    };
    let compiler = Session {
        ocloc,
        cache: Cache::open(),
        job,
    };
    compiler.run().unwrap_or_else(no)
}

/// A digest of the files that a job includes; `None` if they cannot be determined.
fn included(job: &Job<'_>) -> Option<Vec<u8>> {
    match job.task {
        Task::Build(Input::Text(text)) => includes::fingerprint(text, &[], job.options),
        Task::Compile(text, headers) => includes::fingerprint(text, headers, job.options),
        Task::Build(Input::Spirv(_)) | Task::Link(_) => Some(Vec::new()),
    }
}

/// The compiler's messages, without the ones it always prints.
fn log(answer: &Answer) -> String {
    let noise = |line: &&str| {
        !(line.starts_with("Build succeeded")
            || line.starts_with("Command was:")
            || line.starts_with("Compilation from IR")
            || line.starts_with("Linker execution has succeeded")
            || line.contains("Build failed with error code"))
    };
    let lines: Vec<_> = answer.said.lines().filter(noise).collect();
    lines.join("\n").trim().to_owned()
}

/// The first of these files.
fn made<'a>(answer: &'a Answer, names: &[&str]) -> Option<&'a [u8]> {
    let mut found = names.iter().map(|n| format!("{}/{n}", ocloc::OUT));
    found.find_map(|name| answer.file(&name))
}

/// Extensions that the compiler has to be told of, as its internal option.
fn offered(device: &Device, images: bool) -> String {
    // Older compilers ignore the first one of the list.
    let mut list = "-cl-ext=+cl_khr_fp16".to_owned();
    let doubles = ["cl_khr_fp64", "__opencl_c_fp64"];
    let images = images.then_some(["__opencl_c_images", "__opencl_c_read_write_images"]);
    let all = extensions::asked_for(device.family).into_iter();
    let all = all.chain(doubles.into_iter().filter(|_| device.emulates_doubles()));
    for name in all.chain(images.into_iter().flatten()) {
        let _ = write!(list, ",+{name}");
    }
    list
}

/// A job at the compiler.
struct Session<'a> {
    ocloc: &'a Ocloc,
    cache: Option<Cache>,
    job: &'a Job<'a>,
}

impl Session<'_> {
    fn call(
        &self,
        inputs: &[(String, &[u8])],
        arguments: &dyn Fn(&Path) -> Vec<OsString>,
    ) -> Result<Answer, String> {
        let call = Call {
            arguments,
            inputs,
            included: &|| included(self.job),
        };
        self.ocloc.call(&call, self.cache.as_ref())
    }

    /// Compiles the first of these files; the others are headers.
    fn compile(&self, inputs: &[(String, &[u8])], more: &[&str]) -> Result<Answer, String> {
        let answer = self.compile_with(inputs, more, false)?;
        // Headers of older compilers declare functions of images in OpenCL C 3.0, whether the device has images or not.
        if !answer.good && !self.job.device.has_images() && answer.said.contains(NEEDS_IMAGES) {
            return self.compile_with(inputs, more, true);
        }
        Ok(answer)
    }

    /// Compiles the first of these files; with `images` as if the device had them.
    fn compile_with(
        &self,
        inputs: &[(String, &[u8])],
        more: &[&str],
        images: bool,
    ) -> Result<Answer, String> {
        let mut words = self.job.options.split_whitespace();
        let is_library = words.any(|option| option == ocloc::LIBRARY);
        let mut options = self.job.options.trim().replace(ocloc::LIBRARY, "");
        if !options.contains("-cl-kernel-arg-info") {
            options.push_str(" -cl-kernel-arg-info");
        }
        if wants_lines() {
            options.push_str(LINES);
        }
        self.call(inputs, &|folder| {
            let mut options = options.trim_start().to_owned();
            if inputs.len() > 1 {
                let _ = write!(options, " -I {}", folder.join(HEADERS).display());
            }
            let file = inputs.first().map(|f| folder.join(&f.0));
            let mut arguments: Vec<OsString> = vec!["compile".into(), "-file".into()];
            arguments.extend(file.map(Into::into));
            let device = self.job.device;
            let fixed = ["-device", device.model.name, "-output", "program"];
            arguments.extend(fixed.map(Into::into));
            arguments.extend(["-output_no_suffix", "-out_dir"].map(Into::into));
            arguments.push(folder.join(ocloc::OUT).into());
            arguments.extend(["-options", options.as_str()].map(Into::into));
            let mut internal = offered(device, images);
            if is_library {
                let _ = write!(internal, " {}", ocloc::LIBRARY);
            }
            arguments.extend(["-internal_options".into(), internal.into()]);
            arguments.extend(more.iter().map(Into::into));
            arguments
        })
    }

    /// One module of several, in the compiler's own format.
    fn link(&self, modules: &[Module]) -> Result<Answer, String> {
        let parts = modules.iter().enumerate();
        let parts = parts.map(|(n, module)| (format!("part{n}.spv"), module.code.as_slice()));
        let parts: Vec<_> = parts.collect();
        self.call(&parts, &|folder| {
            let mut arguments: Vec<OsString> = vec!["link".into()];
            for (name, _) in &parts {
                arguments.extend(["-file".into(), folder.join(name).into()]);
            }
            let out = folder.join(ocloc::OUT).join(LINKED);
            arguments.extend(["-out".into(), out.into()]);
            arguments.extend(["-out_format", "LLVM_BC"].map(Into::into));
            arguments
        })
    }

    /// Runs the task.
    fn run(&self) -> Result<Compiled, String> {
        let job = self.job;
        let answer = match job.task {
            Task::Build(Input::Text(text)) => {
                self.compile(&[("program.cl".to_owned(), text)], &[])?
            }
            Task::Build(Input::Spirv(code)) => {
                self.compile(&[("program.spv".to_owned(), code)], &["-spirv_input"])?
            }
            Task::Compile(text, headers) => {
                let mut inputs = vec![("program.cl".to_owned(), text)];
                for (name, header) in headers {
                    // Names are those of the program; they stay inside of the folder.
                    let mut parts = Path::new(name).components();
                    if !parts.all(|c| matches!(c, std::path::Component::Normal(_))) {
                        return Err(format!("visakit: a header cannot be called `{name}`"));
                    }
                    inputs.push((format!("{HEADERS}/{name}"), header));
                }
                let answer = self.compile(&inputs, &["-spv_only"])?;
                let module = made(&answer, &["program.spv", "program"]);
                return Ok(Compiled {
                    container: module.filter(|_| answer.good).map(<[u8]>::to_vec),
                    log: log(&answer),
                });
            }
            Task::Link([only]) => {
                self.compile(&[("program.spv".to_owned(), &only.code)], &["-spirv_input"])?
            }
            Task::Link(modules) => {
                let answer = self.link(modules)?;
                let (true, Some(linked)) = (answer.good, made(&answer, &[LINKED])) else {
                    return Err(log(&answer));
                };
                self.compile(&[(LINKED.to_owned(), linked)], &["-llvm_input"])?
            }
        };
        self.container(&answer)
    }

    /// A container with the compiler's output.
    fn container(&self, answer: &Answer) -> Result<Compiled, String> {
        let (job, log) = (self.job, log(answer));
        let zebin = made(answer, &["program.bin", "program"]);
        let (true, Some(zebin)) = (answer.good, zebin) else {
            return Err(log);
        };
        let parsed = visakit_launch::Zebin::parse(zebin)
            .map_err(|error| format!("visakit: the compiler's output: {error}"))?;
        let undefined = parsed.undefined.iter();
        let undefined = undefined.filter(|n| !n.starts_with("__") && !job.may_import);
        let mut lines = undefined.map(|name| format!("error: undefined reference to `{name}`"));
        if let Some(first) = lines.next() {
            let lines: Vec<_> = [log, first].into_iter().chain(lines).collect();
            return Err(lines.join("\n").trim().to_owned());
        }
        let mut pieces: Pieces = vec![
            (binary::DEVICE.to_owned(), job.device.model.name.into()),
            (binary::OPTIONS.to_owned(), job.options.into()),
            (binary::ZEBIN.to_owned(), zebin.to_vec()),
        ];
        match job.task {
            Task::Build(Input::Text(text)) => {
                pieces.push((binary::SOURCE.to_owned(), text.clone()));
            }
            Task::Link(modules) => {
                // Its inputs, without the code.
                let parts = binary::pieces_of(modules).into_iter();
                pieces.extend(parts.filter(|p| p.0 != binary::MODULE));
            }
            Task::Build(Input::Spirv(_)) | Task::Compile(..) => {}
        }
        pieces.extend(texts(&parsed, answer)?);
        let representations = answer.representations();
        let locals =
            representations.flat_map(|text| local_variables(&String::from_utf8_lossy(text)));
        pieces.extend(locals.map(|local| binary::piece_of(&local)));
        Ok(Compiled {
            container: Some(binary::pack(&pieces)),
            log,
        })
    }
}

/// The texts of all kernels as pieces: of each the text with the lanes that the metadata name, and its functions.
fn texts(zebin: &visakit_launch::Zebin, answer: &Answer) -> Result<Pieces, String> {
    let zeinfo = visakit_launch::ZeInfo::parse(&zebin.zeinfo);
    let zeinfo = zeinfo.map_err(|e| format!("visakit: the compiler's metadata: {e}"))?;
    let texts: Vec<_> = answer.texts().collect();
    let mut pieces = Pieces::new();
    // `PREFIX_f0`, `PREFIX_f1`, … are functions of `PREFIX`.
    let functions = |of: &str| -> Vec<Vec<u8>> {
        let own = texts.iter().filter(|(stem, _)| {
            let rest = stem.strip_prefix(of).and_then(|r| r.strip_prefix("_f"));
            rest.is_some_and(|r| !r.is_empty() && r.bytes().all(|b| b.is_ascii_digit()))
        });
        own.map(|t| t.1.to_vec()).collect()
    };
    let kernel = |name: &str, simd: u32| {
        texts.iter().find(|(_, text)| {
            binary::kernel_name(text).is_some_and(|k| k == name)
                && (simd == 0 || binary::simd_size(text).is_none_or(|s| s == simd))
        })
    };
    let by_address = kernel(binary::SYMBOLS, 0).map_or_else(Vec::new, |(stem, _)| functions(stem));
    for info in zeinfo.kernels.iter().filter(|k| k.name != binary::SYMBOLS) {
        let found =
            kernel(&info.name, info.execution_env.simd_size).or_else(|| kernel(&info.name, 0));
        let Some((stem, text)) = found else {
            return Err(format!(
                "visakit: the compiler wrote no vISA text of kernel `{}`; IGC_ShaderDumpEnable may be off in this release",
                info.name
            ));
        };
        let name = format!("{}{}", binary::TEXT, info.name);
        pieces.push((name.clone(), text.to_vec()));
        for function in functions(stem)
            .into_iter()
            .chain(by_address.iter().cloned())
        {
            pieces.push((name.clone(), function));
        }
    }
    // For modules that are linked with this one.
    let name = format!("{}{}", binary::TEXT, binary::SYMBOLS);
    pieces.extend(by_address.into_iter().map(|text| (name.clone(), text)));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::models::MODELS;

    #[test]
    fn compilers_are_told_of_extensions() {
        let list = |name: &str, images| {
            let model = MODELS.iter().find(|m| m.name == name).unwrap();
            offered(&Device::of(model).unwrap(), images)
        };
        assert_eq!(
            list("tgllp", false),
            "-cl-ext=+cl_khr_fp16,+cl_intel_subgroup_local_block_io,+cl_intel_media_block_io"
        );
        assert_eq!(
            list("pvc", true),
            "-cl-ext=+cl_khr_fp16,+cl_intel_subgroup_local_block_io,+cl_intel_bfloat16_conversions,\
             +cl_intel_subgroup_matrix_multiply_accumulate,+__opencl_c_images,+__opencl_c_read_write_images"
        );
    }
}
