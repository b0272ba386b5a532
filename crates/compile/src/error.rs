//! Why there is no vISA, and what to do.

use crate::WIDTHS;
use crate::device::{compiler_name, like};
use std::path::PathBuf;
use visakit_isa::{Device, Platform};
use visakit_launch::{Content, LaunchError};

/// Where compilers come from.
const RELEASES: &str = "https://github.com/intel/compute-runtime";

/// Why a program was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The bytes are something else.
    #[error("{}: is {content}, expected OpenCL C or a SPIR-V module", .path.display())]
    NotSource {
        /// The file.
        path: PathBuf,
        /// Its content.
        content: Content,
    },
    /// A file or folder of the compilation could not be used.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no compiler.
    #[error("Intel's offline compiler {} was not found", .compiler.display())]
    NoCompiler {
        /// The program that was looked for.
        compiler: PathBuf,
    },
    /// There is no finalizer.
    #[error("Intel's finalizer {} was not found", .finalizer.display())]
    NoFinalizer {
        /// The program that was looked for.
        finalizer: PathBuf,
    },
    /// The compiler does not know the device.
    #[error("the compiler {} does not know the device {given}", .compiler.display())]
    UnknownDevice {
        /// The device as it was given.
        given: String,
        /// The compiler.
        compiler: PathBuf,
        /// The devices that it lists.
        known: Vec<String>,
    },
    /// No kernel has that SIMD width.
    #[error("there is no SIMD width {0}")]
    Width(u32),
    /// What the compiler wrote is no kernel that can be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The compiler refuses the source.
    #[error("the compiler says\n{said}")]
    Refused {
        /// Its messages.
        said: String,
    },
}

impl CompileError {
    /// What to do, if that is known.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Width(_) => Some(format!(
                "the widths are {}; a device may have only some of them",
                WIDTHS.map(|width| width.to_string()).join(", ")
            )),
            Self::NoCompiler { .. } => Some(format!(
                "install the package intel-opencl-icd (Debian 12, Ubuntu 22.04) or intel-ocloc (newer ones), or a release \
                 of {RELEASES}, or name the program in VISAKIT_OCLOC"
            )),
            Self::NoFinalizer { .. } => Some(
                "install the package libigc-tools of the compiler's release, or name the program in VISAKIT_GENX_IR"
                    .to_owned(),
            ),
            Self::UnknownDevice { given, known, .. } => Some(unknown(given, known)),
            Self::Refused { said } if said.contains("requires cl_khr_fp64") => Some(
                "the device has no 64-bit floats; others have them, such as the one of --device pvc"
                    .to_owned(),
            ),
            Self::Refused { said } if said.contains("library has failed") => Some(
                "the compiler's own libraries are missing: in Debian the packages libigc2 and libigdfcl2"
                    .to_owned(),
            ),
            Self::NotSource { .. }
            | Self::Io { .. }
            | Self::Launch(_)
            | Self::Refused { .. } => None,
        }
    }
}

/// The advice about a device that a compiler does not know.
fn unknown(given: &str, known: &[String]) -> String {
    let name = compiler_name(given);
    let Some(platform) = Platform::from_name(&name) else {
        let list = known.join(", ");
        return match like(given, known) {
            Some(like) => format!("is {like} meant? The compiler knows {list}"),
            None => format!("the compiler knows {list}"),
        };
    };
    // Each compiler knows a range of families, and loses old ones when it gets new ones.
    let families = known.iter().filter_map(|known| Platform::from_name(known));
    let is_new = families.max().is_none_or(|newest| platform > newest);
    let title = Device::from_name(&name).map_or(given, |device| device.title);
    if is_new {
        format!(
            "{title} is newer than this compiler: install intel-ocloc of a newer Debian or Ubuntu, or of {RELEASES}, and \
             name it in VISAKIT_OCLOC if it is not the first in the path"
        )
    } else {
        format!(
            "{title} is older than what this compiler supports: intel-opencl-icd of Debian 12 or Ubuntu 22.04 knows it, or \
             a release of {RELEASES} before 24.39; name its ocloc in VISAKIT_OCLOC if it is not the first in the path"
        )
    }
}
