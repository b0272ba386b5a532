//! Compiled programs: the container that they are stored in, and its content.
//!
//! The container is a list of named pieces: the compiler's zebin, and the vISA texts of each kernel, the kernel first.

use crate::addresses::{Addresses, Held, What};
use crate::error::{Code, Result};
use crate::watch;
use opencl_sys as cl;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use visakit_exec::{Compiler, Pass};
use visakit_isa::Platform;
use visakit_isa::object::Object;
use visakit_launch::{
    Compile, Config, Kernel, Loaded, LocalVariable, Source, Variables, ZeInfo, Zebin,
};
use visakit_profile::{KernelCode, Timer};

/// Containers begin with this; the digit is the version.
const MAGIC: &[u8] = b"visakit program 1\n";

/// The compiler's program.
pub(crate) const ZEBIN: &str = "zebin";
/// The device, by its name.
pub(crate) const DEVICE: &str = "device";
/// Options that it was built with.
pub(crate) const OPTIONS: &str = "options";
/// SPIR-V of a part that is not linked yet.
pub(crate) const MODULE: &str = "module";
/// Begins a part of a linked program: options that it was compiled with.
pub(crate) const PART_OPTIONS: &str = "part options";
/// The program, or the part that began last, as the host gave it.
pub(crate) const SOURCE: &str = "source";
/// Before the name of a header of that part: its text.
pub(crate) const HEADER: &str = "header/";
/// Before the name of a kernel: its texts.
pub(crate) const TEXT: &str = "text/";

/// Before the name of a kernel: a variable that it has in local memory, as its place, its bytes and its name.
const LOCAL: &str = "local/";

/// Named pieces, in order; names may repeat.
pub(crate) type Pieces = Vec<(String, Vec<u8>)>;

/// Puts pieces into a container.
pub(crate) fn pack(pieces: &Pieces) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for (name, bytes) in pieces {
        for part in [name.as_bytes(), bytes] {
            out.extend((part.len() as u64).to_le_bytes());
            out.extend(part);
        }
    }
    out
}

/// Unpacks them; `None` if it is not a container.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Pieces> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut pieces = Pieces::new();
    let mut take = || -> Option<Option<&[u8]>> {
        if rest.is_empty() {
            return Some(None);
        }
        let (length, after) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (part, after) = after.split_at_checked(length)?;
        rest = after;
        Some(Some(part))
    };
    while let Some(name) = take()? {
        let name = String::from_utf8(name.to_vec()).ok()?;
        pieces.push((name, take()??.to_vec()));
    }
    Some(pieces)
}

/// A variable in local memory as a piece of a container.
pub(crate) fn piece_of(local: &LocalVariable) -> (String, Vec<u8>) {
    let LocalVariable {
        kernel,
        name,
        start,
        bytes,
    } = local;
    let text = format!("{start} {bytes} {name}");
    (format!("{LOCAL}{kernel}"), text.into_bytes())
}

/// The variable in local memory that a piece is.
fn local_of((name, bytes): &(String, Vec<u8>)) -> Option<LocalVariable> {
    let kernel = name.strip_prefix(LOCAL)?;
    let mut parts = std::str::from_utf8(bytes).ok()?.splitn(3, ' ');
    Some(LocalVariable {
        kernel: kernel.to_owned(),
        start: parts.next()?.parse().ok()?,
        bytes: parts.next()?.parse().ok()?,
        name: parts.next()?.to_owned(),
    })
}

/// An input that the host gave to be compiled separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Part {
    /// Options that it was compiled with.
    pub options: String,
    /// OpenCL C, if it was that.
    pub source: Option<Vec<u8>>,
    /// Headers that the host gave with it, by their names.
    pub headers: Vec<(String, Vec<u8>)>,
}

/// A part of a program, compiled and not linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// SPIR-V.
    pub code: Vec<u8>,
    /// The input it was compiled from.
    pub part: Part,
}

/// Modules as pieces of a container.
pub(crate) fn pieces_of(modules: &[Module]) -> Pieces {
    let mut pieces = Pieces::new();
    for Module { code, part } in modules {
        pieces.push((PART_OPTIONS.to_owned(), part.options.clone().into_bytes()));
        pieces.push((MODULE.to_owned(), code.clone()));
        let source = part.source.iter();
        pieces.extend(source.map(|s| (SOURCE.to_owned(), s.clone())));
        let headers = part.headers.iter();
        pieces.extend(headers.map(|(n, h)| (format!("{HEADER}{n}"), h.clone())));
    }
    pieces
}

/// The modules that pieces hold. Code is empty where a program is linked.
pub(crate) fn modules_of(pieces: &Pieces) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    let new = |options: String| Module {
        code: Vec::new(),
        part: Part {
            options,
            ..Part::default()
        },
    };
    for (name, bytes) in pieces {
        let header = name.strip_prefix(HEADER);
        if name == PART_OPTIONS {
            modules.push(new(String::from_utf8_lossy(bytes).into_owned()));
        } else if name == SOURCE && modules.is_empty() {
            // Of a program that was built at once.
            let options = pieces.iter().find(|p| p.0 == OPTIONS);
            let options = options.map_or_else(Default::default, |p| String::from_utf8_lossy(&p.1));
            modules.push(new(options.into_owned()));
        }
        let Some(last) = modules.last_mut() else {
            continue;
        };
        if name == MODULE {
            last.code.clone_from(bytes);
        } else if name == SOURCE {
            last.part.source = Some(bytes.clone());
        } else if let Some(header) = header {
            last.part.headers.push((header.to_owned(), bytes.clone()));
        }
    }
    modules
}

/// A kernel of a program.
#[derive(Debug)]
pub struct Routine {
    /// Its text, and those of the functions that it calls.
    pub texts: Vec<Source>,
    loaded: OnceLock<std::result::Result<Loaded, String>>,
    timed: OnceLock<std::result::Result<(Loaded, Timer), String>>,
}

impl Routine {
    pub(crate) const fn new(texts: Vec<Source>) -> Self {
        Self {
            texts,
            loaded: OnceLock::new(),
            timed: OnceLock::new(),
        }
    }
}

/// A program for one device.
#[derive(Debug)]
pub struct Binary {
    /// The container.
    pub bytes: Vec<u8>,
    /// The compiler's metadata of the kernels.
    pub zeinfo: ZeInfo,
    /// The metadata as text.
    pub zeinfo_text: String,
    /// Variables and constants.
    pub variables: Arc<Variables>,
    /// Keep their addresses.
    pub(crate) held: Arc<Vec<Held>>,
    /// Those whose functions and variables it uses.
    pub(crate) _linked: Vec<Arc<Self>>,
    /// Variables of kernels in local memory, as far as the compiler told of them.
    pub locals: Vec<LocalVariable>,
    /// Places of variables.
    pub symbols: Vec<visakit_launch::DataSymbol>,
    /// Bytes of a register.
    pub grf_bytes: u32,
    /// Options that it was built with.
    pub options: String,
    /// The parts it was linked from, as far as that is known.
    pub parts: Vec<Part>,
    pub(crate) kernels: BTreeMap<String, Routine>,
    /// Its functions by their names, for programs that are linked with it.
    pub(crate) functions: BTreeMap<String, Source>,
    /// Functions and variables that it uses and does not have.
    pub imports: Vec<String>,
}

/// A kernel that only carries symbols.
pub(crate) const SYMBOLS: &str = "Intel_Symbol_Table_Void_Program";

impl Binary {
    /// Reads a container, or a zebin that carries vISA texts.
    ///
    /// # Errors
    /// The error in it.
    pub(crate) fn read(
        bytes: &[u8],
        grf_bytes: u32,
        addresses: &Arc<Addresses>,
    ) -> std::result::Result<Self, String> {
        let pieces = match unpack(bytes) {
            Some(pieces) => pieces,
            None => vec![(ZEBIN.to_owned(), bytes.to_vec())],
        };
        let piece = |wanted: &str| {
            pieces
                .iter()
                .find(|p| p.0 == wanted)
                .map(|p| p.1.as_slice())
        };
        let zebin = piece(ZEBIN).ok_or("there is no zebin in it")?;
        let mut zebin = Zebin::parse(zebin).map_err(|e| e.to_string())?;
        let zeinfo = ZeInfo::parse(&zebin.zeinfo).map_err(|e| e.to_string())?;
        let source = |name: &str, bytes: &[u8]| Source {
            path: PathBuf::from(name),
            bytes: bytes.to_vec(),
        };
        let mut kernels = BTreeMap::new();
        for info in zeinfo.kernels.iter().filter(|k| k.name != SYMBOLS) {
            let own = format!("{TEXT}{}", info.name);
            let texts = pieces.iter().filter(|p| p.0 == own);
            let mut texts: Vec<_> = texts.map(|p| source(&info.name, &p.1)).collect();
            if texts.is_empty() {
                let inside = zebin.texts.iter();
                let mut inside: Vec<_> = inside
                    .map(|(name, text)| (kernel_name(text), source(name, text)))
                    .collect();
                inside.retain(|(kernel, _)| kernel.as_ref().is_none_or(|k| *k == info.name));
                inside.sort_by_key(|(kernel, _)| kernel.is_none());
                texts = inside.into_iter().map(|(_, text)| text).collect();
            }
            if texts.is_empty() {
                return Err(format!(
                    "kernel `{}` has no vISA text in this binary",
                    info.name
                ));
            }
            kernels.insert(info.name.clone(), Routine::new(texts));
        }
        let all = pieces.iter().filter(|p| p.0.starts_with(TEXT));
        let all = all.map(|p| (p.0.as_str(), p.1.as_slice()));
        let inside = zebin.texts.iter();
        let all = all.chain(inside.map(|(name, text)| (name.as_str(), text.as_slice())));
        let functions: BTreeMap<_, _> = all
            .filter_map(|(name, text)| Some((function_name(text)?, source(name, text))))
            .collect();
        let undefined = zebin.undefined.iter();
        let undefined = undefined.filter(|n| !n.starts_with("__") && !functions.contains_key(*n));
        let imports = undefined.cloned().collect();
        for section in &mut zebin.data {
            section.address = Addresses::reserve(section.bytes.len());
        }
        let variables = Variables::new(&zebin.data, &zebin.symbols).map_err(|e| e.to_string())?;
        let held = variables.sections().map(|(name, storage, address)| {
            addresses.hold(address, storage, What::Variables(name.to_owned()))
        });
        let held = held.collect();
        let options =
            piece(OPTIONS).map_or_else(String::new, |o| String::from_utf8_lossy(o).into_owned());
        Ok(Self {
            parts: modules_of(&pieces).into_iter().map(|m| m.part).collect(),
            bytes: bytes.to_vec(),
            zeinfo,
            zeinfo_text: zebin.zeinfo,
            variables: Arc::new(variables),
            held: Arc::new(held),
            _linked: Vec::new(),
            locals: pieces.iter().filter_map(local_of).collect(),
            symbols: zebin.symbols,
            grf_bytes: zebin.grf_bytes.unwrap_or(grf_bytes),
            options,
            kernels,
            functions,
            imports,
        })
    }

    /// The source in OpenCL C, where it is known and has one part.
    #[must_use]
    pub fn source(&self) -> Option<Cow<'_, str>> {
        let [part] = self.parts.as_slice() else {
            return None;
        };
        part.source.as_deref().map(String::from_utf8_lossy)
    }

    /// Names of the kernels, in the order of the source.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let all = self.zeinfo.kernels.iter().map(|k| k.name.as_str());
        all.filter(|name| *name != SYMBOLS).collect()
    }

    /// The texts of a kernel.
    #[must_use]
    pub fn texts(&self, kernel: &str) -> &[Source] {
        self.kernels.get(kernel).map_or(&[], |k| &k.texts)
    }

    /// A kernel, translated. That is done once, when it is first asked for.
    ///
    /// # Errors
    /// The reason why it cannot be translated.
    pub fn load(&self, kernel: &str) -> Result<std::result::Result<&Loaded, &str>> {
        let code = self.routine(kernel)?;
        let loaded = code
            .loaded
            .get_or_init(|| self.translate(code, kernel, false, |_, loaded| loaded));
        Ok(loaded.as_ref().map_err(String::as_str))
    }

    /// A kernel, translated, with what is needed to estimate the time of launches on a device.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn timed(
        &self,
        kernel: &str,
        platform: Option<Platform>,
    ) -> Result<std::result::Result<(&Loaded, &Timer), &str>> {
        let code = self.routine(kernel)?;
        let timed = code.timed.get_or_init(|| {
            self.translate(code, kernel, true, |object, loaded| {
                let code = KernelCode::new(object, loaded.program(), platform);
                (loaded, Timer::new(code))
            })
        });
        let timed = timed.as_ref().map_err(String::as_str);
        Ok(timed.map(|(loaded, timer)| (loaded, timer)))
    }

    fn routine(&self, kernel: &str) -> Result<&Routine> {
        let code = self.kernels.get(kernel);
        code.ok_or(Code(cl::CL_INVALID_KERNEL_NAME))
    }

    fn translate<T>(
        &self,
        code: &Routine,
        kernel: &str,
        count: bool,
        then: impl FnOnce(&Object<'_>, Loaded) -> T,
    ) -> std::result::Result<T, String> {
        let make = || {
            let object = Source::link(&code.texts, self.grf_bytes)?;
            let mut made = Kernel::new(&object, kernel, &self.zeinfo)?;
            made.grf_bytes = self.grf_bytes;
            let compiler = compiler();
            let config = Config {
                compile: compiler.as_ref().map(when),
                count,
                passes: &Pass::ALL,
                ..config()
            };
            Ok(then(&object, made.load(&self.variables, &config)?))
        };
        make().map_err(|e: visakit_launch::LaunchError| e.to_string())
    }
}

/// How kernels of this device run.
pub(crate) fn config<'a>() -> Config<'a> {
    Config {
        drops_outside: drops_outside(),
        interrupt: Some(watch::interrupt()),
        ..Config::default()
    }
}

/// The variable that says what becomes of accesses outside of every buffer: `fault`, or `ignore`.
pub(crate) const OUTSIDE: &str = "VISAKIT_OUTSIDE";

fn drops_outside() -> bool {
    static DROPS: OnceLock<bool> = OnceLock::new();
    *DROPS.get_or_init(|| match std::env::var(OUTSIDE).as_deref() {
        Ok("ignore") => true,
        Ok("fault" | "") | Err(_) => false,
        Ok(other) => {
            crate::say(&format!(
                "{OUTSIDE}: `{other}` is neither `fault` nor `ignore`"
            ));
            false
        }
    })
}

/// The variable that says when machine code is made: `always` before the first instruction, `never`, or (anything else)
/// once it pays off.
const JIT: &str = "VISAKIT_JIT";

/// Who makes machine code; nobody if it is never to be made.
pub(crate) fn compiler() -> Option<Arc<dyn Compiler>> {
    if std::env::var_os(JIT).is_some_and(|v| v == "never") {
        return None;
    }
    let jit = visakit_jit::Jit::host()?;
    Some(Arc::new(jit))
}

/// When a compiler is asked.
pub(crate) fn when(compiler: &Arc<dyn Compiler>) -> Compile<'_> {
    if std::env::var_os(JIT).is_some_and(|v| v == "always") {
        Compile::always(compiler)
    } else {
        Compile::when_it_pays(compiler)
    }
}

/// The name that a text's `.kernel` line has; functions have none.
pub(crate) fn kernel_name(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let line = text
        .lines()
        .find_map(|l| l.trim_start().strip_prefix(".kernel "))?;
    Some(line.trim().trim_matches('"').to_owned())
}

/// The name of a function that others can call.
pub(crate) fn function_name(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim_start);
    let line = lines.find_map(|l| l.strip_prefix(".global_function "))?;
    Some(line.trim().trim_matches('"').to_owned())
}

/// The number of lanes that a text says it has.
pub(crate) fn simd_size(text: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    let value = lines.find_map(|l| l.trim_start().strip_prefix(".kernel_attr SimdSize="))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers() {
        let pieces = vec![
            ("a".to_owned(), vec![1, 2, 3]),
            (String::new(), Vec::new()),
            ("a".to_owned(), vec![0; 300]),
        ];
        let packed = pack(&pieces);
        assert_eq!(unpack(&packed), Some(pieces));
        assert_eq!(unpack(b"\x7fELF"), None);
        for end in MAGIC.len() + 1..packed.len() {
            // Cut off between pieces it is a shorter list.
            let cut = unpack(packed.get(..end).unwrap_or_default());
            assert!(cut.is_none_or(|p| p.len() < 3), "{end}");
        }
    }

    #[test]
    fn parts() {
        let module = |n: u8| Module {
            code: vec![n; 4],
            part: Part {
                options: format!("-DN={n}"),
                source: (n > 0).then(|| vec![b'a'; 3]),
                headers: vec![("h".to_owned(), vec![n])],
            },
        };
        let modules = vec![module(0), module(1), module(2)];
        assert_eq!(modules_of(&pieces_of(&modules)), modules);
        let built = vec![
            (OPTIONS.to_owned(), b"-w".to_vec()),
            (SOURCE.to_owned(), b"s".to_vec()),
        ];
        let part = Part {
            options: "-w".to_owned(),
            source: Some(b"s".to_vec()),
            headers: Vec::new(),
        };
        let modules = modules_of(&built);
        assert_eq!(
            modules.into_iter().map(|m| m.part).collect::<Vec<_>>(),
            [part]
        );
    }

    #[test]
    fn what_texts_say() {
        let text = b".version 4.1\n.kernel \"add\"\n.kernel_attr SimdSize=16\n";
        assert_eq!(kernel_name(text).as_deref(), Some("add"));
        assert_eq!(simd_size(text), Some(16));
        assert_eq!(kernel_name(b".function f"), None);
        let function = b".version 4.1\n.global_function \"f\"\n";
        assert_eq!(function_name(function).as_deref(), Some("f"));
        assert_eq!(function_name(text), None);
    }
}
