//! Cases: a kernel, its arguments and the expected results, described by a `case.json` in a folder.

use crate::argument::{Argument, Image, ImageKind, format, sampler};
use crate::compare::{Compare, Difference, Element};
use crate::config::Config;
use crate::error::{LaunchError, zeroes_within};
use crate::input::LARGEST;
use crate::kernel::{Kernel, Outcome, Prepared};
use crate::ndrange::NdRange;
use crate::source::Source;
use crate::zebin::{AddressPart, DataRelocation, DataSection, DataSymbol};
use crate::zeinfo::ZeInfo;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use visakit_files::within;
use visakit_isa::object::Object;

/// A `case.json`.
#[derive(Clone, Debug, Deserialize)]
struct Description {
    name: String,
    kernel: String,
    #[serde(default)]
    device: String,
    grf_bytes: u32,
    work_dim: usize,
    global_size: Vec<u32>,
    local_size: Vec<u32>,
    #[serde(default)]
    global_offset: Vec<u32>,
    args: Vec<Arg>,
    outputs: Vec<Output>,
    /// Cases of compilers that write no binary have none: they run from their text.
    isa: Option<PathBuf>,
    #[serde(default)]
    visaasm: PathBuf,
    #[serde(default)]
    function_visaasm: Vec<PathBuf>,
    zeinfo: PathBuf,
    /// The expected output. Lines may come in any order, unless `printf_in_order` is set.
    printf: Option<String>,
    #[serde(default)]
    printf_in_order: bool,
    /// [`Config::exact_ends`].
    #[serde(default)]
    exact_ends: bool,
    /// [`Config::drops_outside`], for plain runs.
    #[serde(default)]
    drops_outside: bool,
    #[serde(default)]
    data_sections: Vec<Data>,
    #[serde(default)]
    data_symbols: Vec<Symbol>,
    #[serde(default)]
    data_relocations: Vec<Relocation>,
}

#[derive(Clone, Debug, Deserialize)]
struct Arg {
    index: usize,
    #[serde(flatten)]
    kind: ArgKind,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ArgKind {
    Buffer {
        size: usize,
        file: PathBuf,
        /// Its content before the kernel runs is undefined.
        #[serde(default)]
        uninitialized: bool,
    },
    Scalar {
        bytes: String,
    },
    Local {
        size: usize,
    },
    /// The buffer of an earlier argument.
    Same {
        arg: usize,
    },
    Null,
    Image1d(CaseImage),
    #[serde(rename = "image1d_buffer")]
    Image1dBuffer(CaseImage),
    #[serde(rename = "image1d_array")]
    Image1dArray(CaseImage),
    Image2d(CaseImage),
    #[serde(rename = "image2d_array")]
    Image2dArray(CaseImage),
    Image3d(CaseImage),
    Sampler {
        normalized: bool,
        addressing: String,
        filter: String,
    },
}

/// Fields that do not apply to a kind of image may be omitted.
#[derive(Clone, Debug, Deserialize)]
struct CaseImage {
    width: u32,
    height: Option<u32>,
    depth: Option<u32>,
    array_size: Option<u32>,
    row_pitch: Option<u32>,
    slice_pitch: Option<u64>,
    channel_order: String,
    channel_type: String,
    file: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
struct Output {
    arg: usize,
    #[serde(rename = "type")]
    element: Element,
    file: PathBuf,
    compare: Compare,
}

#[derive(Clone, Debug, Deserialize)]
struct Data {
    section: String,
    file: PathBuf,
    address: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Symbol {
    name: String,
    section: String,
    offset: u64,
}

/// An address in a section of data.
#[derive(Clone, Debug, Deserialize)]
struct Relocation {
    section: String,
    offset: u64,
    symbol: String,
    #[serde(default)]
    addend: i64,
    /// The name of the type in the zebin specification: `SYM_ADDR`, `SYM_ADDR_32` (the lower half) or
    /// `SYM_ADDR_32_HI`.
    #[serde(rename = "type", default)]
    kind: String,
}

impl Relocation {
    fn part(&self) -> Option<AddressPart> {
        match self.kind.as_str() {
            "" | "SYM_ADDR" => Some(AddressPart::Whole),
            "SYM_ADDR_32" => Some(AddressPart::Low),
            "SYM_ADDR_32_HI" => Some(AddressPart::High),
            _ => None,
        }
    }
}

/// A case, ready to run.
#[derive(Clone, Debug)]
pub struct Case {
    folder: PathBuf,
    /// Whether its files may be anywhere.
    outside: bool,
    description: Description,
}

/// The result of a case.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The outcome of the launch.
    pub outcome: Outcome,
    /// The first difference, and the argument that it is in.
    pub difference: Option<(usize, Difference)>,
    /// The first difference in the output: a missing line, and an unexpected one.
    pub printed: Option<(String, String)>,
}

impl Verdict {
    /// A description of the first failure.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let difference = self.difference.as_ref();
        let difference = difference.map(|(argument, d)| format!("argument {argument}, {d}"));
        difference.or_else(|| {
            let (missing, extra) = self.printed.as_ref()?;
            Some(format!(
                "printf: line {missing:?} is missing, {extra:?} is printed"
            ))
        })
    }
}

/// The first line in which two outputs of `printf` differ, of each of them. Threads print in any order: unless the order of
/// lines counts, only what one of them has and the other one lacks is a difference.
#[must_use]
pub fn lines_apart(expected: &[u8], printed: &[u8], in_order: bool) -> Option<(String, String)> {
    let lines = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        if !in_order {
            lines.sort();
        }
        lines
    };
    let (expected, printed) = (lines(expected), lines(printed));
    let none = String::new;
    let at =
        (0..expected.len().max(printed.len())).find(|i| expected.get(*i) != printed.get(*i))?;
    let line = |of: &[String]| of.get(at).cloned().unwrap_or_else(none);
    Some((line(&expected), line(&printed)))
}

impl Case {
    /// Reads the description in a folder, or the given `case.json`.
    ///
    /// # Errors
    /// [`LaunchError::Read`] and [`LaunchError::Case`].
    pub fn open(path: &Path) -> Result<Self, LaunchError> {
        let path = if path.is_dir() {
            path.join("case.json")
        } else {
            path.to_owned()
        };
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let text = read(&path, LARGEST)?;
        let description = serde_json::from_slice(&text).map_err(|error| LaunchError::Case {
            path,
            message: format!("is no description of a case: {error}"),
        })?;
        Ok(Self {
            folder,
            outside: false,
            description,
        })
    }

    /// Takes the files that the description names from anywhere. By default they are in its folder or below, or in the
    /// folder above, where cases of several devices share their inputs.
    #[must_use]
    pub fn allow_outside(mut self, outside: bool) -> Self {
        self.outside = outside;
        self
    }

    /// A file that the description names.
    fn file(&self, name: &Path) -> Result<PathBuf, LaunchError> {
        let path = self.folder.join(name);
        if self.outside {
            return Ok(path);
        }
        let above = || {
            let above = self.folder.canonicalize().ok()?.parent()?.to_owned();
            let path = path.canonicalize().ok()?;
            (path.parent()? == above).then_some(path)
        };
        // What does not exist is reported by who reads it.
        if path.exists() && within(&self.folder, name).or_else(above).is_none() {
            let name = name.display();
            return Err(self.fault(format!(
                "names the file {name}, which is neither in its folder nor beside it; --allow-outside takes files from \
                 anywhere"
            )));
        }
        Ok(path)
    }

    /// The bytes of a file that the description names.
    fn bytes(&self, name: &Path, limit: u64) -> Result<Vec<u8>, LaunchError> {
        read(&self.file(name)?, limit)
    }

    /// Kernel and device.
    #[must_use]
    pub fn name(&self) -> String {
        let Description { name, device, .. } = &self.description;
        if device.is_empty() {
            name.clone()
        } else {
            format!("{name}/{device}")
        }
    }

    /// The device that it was compiled for; empty if that is not known.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.description.device
    }

    /// Arguments that are buffers with undefined initial content.
    #[must_use]
    pub fn uninitialized(&self) -> Vec<usize> {
        let arguments = self.description.args.iter();
        let declared = |kind: &ArgKind| {
            matches!(
                kind,
                ArgKind::Buffer {
                    uninitialized: true,
                    ..
                }
            )
        };
        let declared = arguments.filter(|arg| declared(&arg.kind));
        declared.map(|arg| arg.index).collect()
    }

    /// Arguments whose final content is expected.
    #[must_use]
    pub fn outputs(&self) -> Vec<usize> {
        self.description.outputs.iter().map(|o| o.arg).collect()
    }

    /// Runs the kernel and compares the results. `from_text` uses the compiler's text instead of its object.
    ///
    /// # Errors
    /// Everything that keeps the kernel from running to its end.
    pub fn run(&self, from_text: bool, config: &Config) -> Result<Verdict, LaunchError> {
        self.run_changed(from_text, config, |object| object)
    }

    /// [`Self::run`] with a modified object, to test that a transformation preserves the results.
    ///
    /// # Errors
    /// Everything that keeps the kernel from running to its end.
    pub fn run_changed(
        &self,
        from_text: bool,
        config: &Config,
        change: impl FnOnce(Object<'static>) -> Object<'static>,
    ) -> Result<Verdict, LaunchError> {
        self.run_launch(from_text, config, change, |launch| launch.run(config))
    }

    /// Prepares the kernel and passes it on with its object and its arguments, to be run in another way.
    ///
    /// # Errors
    /// Everything that prevents the kernel from being prepared, and the errors of `run`.
    pub fn launch<R>(
        &self,
        from_text: bool,
        config: &Config,
        change: impl FnOnce(Object<'static>) -> Object<'static>,
        run: impl FnOnce(&Kernel<'_>, &[Argument], Prepared) -> Result<R, LaunchError>,
    ) -> Result<R, LaunchError> {
        let case = &self.description;
        let config = &Config {
            exact_ends: config.exact_ends || case.exact_ends,
            ..*config
        };
        let sources = match &case.isa {
            Some(isa) if !from_text => vec![isa],
            _ => std::iter::once(&case.visaasm)
                .chain(&case.function_visaasm)
                .collect(),
        };
        let sources = sources
            .into_iter()
            .map(|path| Source::open(&self.file(path)?));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let object = change(Source::link(&sources, case.grf_bytes)?.into_owned());
        let zeinfo = self.bytes(&case.zeinfo, LARGEST)?;
        let zeinfo = ZeInfo::parse(&String::from_utf8_lossy(&zeinfo))?;
        let mut kernel = Kernel::new(&object, &case.kernel, &zeinfo)?;
        kernel.grf_bytes = case.grf_bytes;
        for data in &case.data_sections {
            let bytes = self.bytes(&data.file, config.max_memory)?;
            kernel.data.push(DataSection {
                name: data.section.clone(),
                relocations: self.relocations(&data.section, &bytes)?,
                bytes,
                address: data.address,
            });
        }
        kernel
            .symbols
            .extend(case.data_symbols.iter().map(|symbol| DataSymbol {
                name: symbol.name.clone(),
                section: symbol.section.clone(),
                offset: symbol.offset,
                bytes: 0,
            }));
        let global = case
            .global_size
            .get(..case.work_dim)
            .unwrap_or(&case.global_size);
        let range = NdRange::new(global, &case.local_size, &case.global_offset)?;
        let arguments = self.arguments(config.max_memory)?;
        let launch = kernel.prepare(&range, &arguments, config)?;
        run(&kernel, &arguments, launch)
    }

    pub(crate) fn run_launch(
        &self,
        from_text: bool,
        config: &Config,
        change: impl FnOnce(Object<'static>) -> Object<'static>,
        run: impl FnOnce(Prepared) -> Result<Outcome, LaunchError>,
    ) -> Result<Verdict, LaunchError> {
        let config = Config {
            drops_outside: config.drops_outside || self.description.drops_outside,
            ..*config
        };
        self.launch(from_text, &config, change, |_, arguments, launch| {
            let outcome = run(launch)?;
            if !outcome.end.is_complete() {
                return Err(LaunchError::Stopped);
            }
            let difference = self.difference(arguments, &outcome, config.max_memory)?;
            let expected = self.description.printf.as_ref();
            let in_order = self.description.printf_in_order;
            let printed =
                expected.and_then(|text| lines_apart(text.as_bytes(), &outcome.printed, in_order));
            Ok(Verdict {
                outcome,
                difference,
                printed,
            })
        })
    }

    fn relocations(&self, section: &str, bytes: &[u8]) -> Result<Vec<DataRelocation>, LaunchError> {
        let all = self.description.data_relocations.iter();
        all.filter(|r| r.section == section)
            .map(|r| {
                let part = r.part().ok_or_else(|| {
                    self.fault(format!(
                        "relocation type `{}` is not known; known are SYM_ADDR, SYM_ADDR_32 and SYM_ADDR_32_HI",
                        r.kind
                    ))
                })?;
                Ok(DataRelocation {
                    offset: r.offset,
                    symbol: r.symbol.clone(),
                    addend: match r.addend {
                        // Compilers leave it in the place that is relocated.
                        0 => part.stored(bytes, r.offset).unwrap_or(0),
                        stated => stated,
                    },
                    part,
                })
            })
            .collect()
    }

    fn arguments(&self, limit: u64) -> Result<Vec<Argument>, LaunchError> {
        let mut arguments = Vec::new();
        let mut args: Vec<_> = self.description.args.iter().collect();
        args.sort_by_key(|arg| arg.index);
        for (place, arg) in args.into_iter().enumerate() {
            if arg.index != place {
                return Err(self.fault(format!("argument {place} is missing or there twice")));
            }
            arguments.push(self.argument(&arg.kind, limit)?);
        }
        Ok(arguments)
    }

    fn argument(&self, kind: &ArgKind, limit: u64) -> Result<Argument, LaunchError> {
        let image = |kind, image| self.image(kind, image, limit);
        Ok(match kind {
            ArgKind::Buffer { size, file, .. } => {
                let mut bytes = zeroes_within("a buffer", *size, limit)?;
                let from = self.bytes(file, limit)?;
                for (to, from) in bytes.iter_mut().zip(from) {
                    *to = from;
                }
                Argument::Buffer(bytes)
            }
            ArgKind::Scalar { bytes } => {
                Argument::Value(hex(bytes).ok_or_else(|| {
                    self.fault(format!("`{bytes}` is not a string of bytes in hex"))
                })?)
            }
            ArgKind::Local { size } => Argument::Local(*size),
            ArgKind::Same { arg } => Argument::SameAs(*arg),
            ArgKind::Null => Argument::Null,
            ArgKind::Image1d(from) => image(ImageKind::Image1d, from)?,
            ArgKind::Image1dBuffer(from) => image(ImageKind::Image1dBuffer, from)?,
            ArgKind::Image1dArray(from) => image(ImageKind::Image1dArray, from)?,
            ArgKind::Image2d(from) => image(ImageKind::Image2d, from)?,
            ArgKind::Image2dArray(from) => image(ImageKind::Image2dArray, from)?,
            ArgKind::Image3d(from) => image(ImageKind::Image3d, from)?,
            ArgKind::Sampler {
                normalized,
                addressing,
                filter,
            } => Argument::Sampler(
                sampler(*normalized, addressing, filter).map_err(|m| self.fault(m))?,
            ),
        })
    }

    fn image(
        &self,
        kind: ImageKind,
        from: &CaseImage,
        limit: u64,
    ) -> Result<Argument, LaunchError> {
        let sizes = [from.height, from.depth, from.array_size];
        let sizes: Vec<_> = [Some(from.width)]
            .into_iter()
            .chain(sizes)
            .flatten()
            .take(kind.sizes())
            .collect();
        let format = format(&from.channel_order, &from.channel_type).map_err(|m| self.fault(m))?;
        let bytes = self.bytes(&from.file, limit)?;
        let mut image =
            Image::new(kind, &sizes, from.row_pitch, format, bytes).map_err(|m| self.fault(m))?;
        if let (Some(pitch), 3) = (from.slice_pitch, kind.sizes()) {
            image.slice_pitch = pitch;
        }
        Ok(Argument::Image(image))
    }

    /// The first difference: in outputs, and in buffers that must not change.
    fn difference(
        &self,
        arguments: &[Argument],
        outcome: &Outcome,
        limit: u64,
    ) -> Result<Option<(usize, Difference)>, LaunchError> {
        for (index, argument) in arguments.iter().enumerate() {
            // The first argument that has a buffer speaks for it.
            if matches!(argument, Argument::SameAs(_)) {
                continue;
            }
            let Some(got) = outcome.memory(index) else {
                continue;
            };
            let outputs = &self.description.outputs;
            let difference = match outputs.iter().find(|o| o.arg == index) {
                Some(output) => {
                    let expected = self.bytes(&output.file, limit)?;
                    output.compare.difference(output.element, &expected, got)
                }
                None => match argument {
                    Argument::Buffer(bytes) | Argument::Image(Image { bytes, .. }) => {
                        Compare::Exact.difference(Element::Uchar, bytes, got)
                    }
                    _ => None,
                },
            };
            if let Some(difference) = difference {
                return Ok(Some((index, difference)));
            }
        }
        Ok(None)
    }

    fn fault(&self, message: String) -> LaunchError {
        LaunchError::Case {
            path: self.folder.join("case.json"),
            message,
        }
    }
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, LaunchError> {
    visakit_files::read(path, limit).map_err(|source| LaunchError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Bytes written in hex without anything between.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| {
        char::from(c)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}
