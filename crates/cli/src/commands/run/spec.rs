//! The values of `--arg`, `--surface` and similar options.

use super::fill::{self, Fill};
use crate::input::read_within;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use visakit::isa::DataType;
use visakit_exec::memory::ChannelType;
use visakit_launch::{
    ArgInfo, Argument, Dependency, Image, ImageKind, MediaSurface, SurfaceShape, Target, format,
    sampler, value, zeroes_within,
};

/// An argument, before its file is read.
#[derive(Clone)]
pub(crate) enum ArgSpec {
    Buffer(PathBuf),
    Zeros(usize),
    /// A buffer whose initial content is undefined.
    Uninitialized(usize),
    Image {
        path: PathBuf,
        kind: ImageKind,
        sizes: Vec<u32>,
        format: visakit_exec::memory::Format,
        pitch: Option<u32>,
    },
    /// A buffer of numbers, of the kernel's type by default.
    Filled(Fill, usize, Option<DataType>),
    /// Generated from the kernel's parameter and the grid.
    Auto,
    /// A value of a type.
    Typed(DataType, Vec<u8>),
    /// A number, or several, of the type that the parameter has.
    Number(String),
    Ready(Argument),
}

/// Largest buffer that a number on the command line can create.
const MOST_ZEROS: u64 = 64 << 30;

impl FromStr for ArgSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        Ok(match kind {
            "buffer" => Self::Buffer(rest.into()),
            _ if rest.is_empty() && text.ends_with(".npy") => Self::Buffer(text.into()),
            "auto" if rest.is_empty() => Self::Auto,
            "zeros" => Self::Zeros(size(rest)?),
            "random" | "iota" => filled(kind, rest)?,
            "uninitialized" => Self::Uninitialized(size(rest)?),
            "null" if rest.is_empty() => Self::Ready(Argument::Null),
            "same" => Self::Ready(Argument::SameAs(number(rest)?)),
            "local" => Self::Ready(Argument::Local(size(rest)?)),
            "bytes" => Self::Ready(Argument::Value(bytes(rest)?)),
            "sampler" => {
                let words: Vec<_> = rest.split(',').collect();
                let (normalized, rest) = match words.as_slice() {
                    ["normalized", rest @ ..] => (true, rest),
                    rest => (false, rest),
                };
                let [addressing, filter] = rest else {
                    return Err("expected sampler:[normalized,]ADDRESSING,FILTER".to_owned());
                };
                Self::Ready(Argument::Sampler(sampler(normalized, addressing, filter)?))
            }
            _ => match (ImageKind::by_name(kind), value::type_of(kind)) {
                (Some(kind), _) => image(kind, rest)?,
                (None, Some(ty)) => Self::Typed(ty, value::parse(rest, ty)?),
                (None, None) if is_number(text) => Self::Number(text.to_owned()),
                (None, None) => {
                    return Err(format!(
                        "`{kind}` is no kind of argument; known are buffer, FILE.npy, zeros, random, iota, auto, uninitialized, same, null, local, bytes, image1d, \
                         image1d_buffer, image1d_array, image2d, image2d_array, image3d, sampler, numbers, and types such as u32 and f32"
                    ));
                }
            },
        })
    }
}

impl ArgSpec {
    /// Whether the buffer's initial content is undefined.
    pub(crate) const fn is_uninitialized(&self) -> bool {
        matches!(self, Self::Uninitialized(_))
    }

    /// The argument for a parameter of the kernel, with its file read; zeroes only within the limit.
    pub(crate) fn argument(
        &self,
        limit: u64,
        index: usize,
        info: Option<&ArgInfo>,
    ) -> Result<Argument, String> {
        let wanted = info.and_then(ArgInfo::element);
        Ok(match self {
            Self::Auto => return Err("the kernel has no parameter of this number".to_owned()),
            Self::Filled(fill, size, ty) => {
                let mut bytes = zeros("a buffer", *size, limit)?;
                let ty = ty.or(wanted).unwrap_or(DataType::Ud);
                let seed = u64::try_from(index).unwrap_or(0) + 1;
                fill.fill(&mut bytes, ty, seed, None);
                Argument::Buffer(bytes)
            }
            Self::Buffer(path) => Argument::Buffer(array(path, read_within(path, limit)?, info)?),
            Self::Zeros(size) | Self::Uninitialized(size) => {
                Argument::Buffer(zeros("a buffer", *size, limit)?)
            }
            Self::Image {
                path,
                kind,
                sizes,
                format,
                pitch,
            } => {
                let mut image = Image::new(*kind, sizes, *pitch, *format, Vec::new())?;
                let fill = path.to_str().and_then(Fill::by_name);
                image.bytes = if fill.is_some() || path.as_os_str() == "zeros" {
                    let size = usize::try_from(image.span()).unwrap_or(usize::MAX);
                    zeros("an image", size, limit)?
                } else {
                    read_within(path, limit)?
                };
                if let Some(fill) = fill {
                    let seed = u64::try_from(index).unwrap_or(0) + 1;
                    fill.fill(&mut image.bytes, element(format.channel), seed, None);
                }
                Argument::Image(image)
            }
            Self::Number(text) => {
                let info = info.ok_or_else(|| {
                    format!("nothing says which type `{text}` has: i32:{text}, or f32:{text}?")
                })?;
                match info.element() {
                    Some(ty) if !info.is_pointer() => Argument::Value(value::parse(text, ty)?),
                    _ => {
                        let wanted = info.type_in_source();
                        return Err(format!(
                            "`{text}` is a number, and the kernel wants {wanted}"
                        ));
                    }
                }
            }
            Self::Typed(_, bytes) => Argument::Value(bytes.clone()),
            Self::Ready(argument) => argument.clone(),
        })
    }
}

/// Whether it is a number, or several separated by commas.
fn is_number(text: &str) -> bool {
    [DataType::Df, DataType::Uq, DataType::Q]
        .iter()
        .any(|ty| value::parse(text, *ty).is_ok())
}

/// The type of the numbers that an image consists of.
const fn element(channel: ChannelType) -> DataType {
    match channel {
        ChannelType::Float16 => DataType::Hf,
        ChannelType::Float32 => DataType::F,
        ChannelType::Uint16 | ChannelType::Sint16 => DataType::Uw,
        ChannelType::Uint32 | ChannelType::Sint32 => DataType::Ud,
        _ => DataType::Ub,
    }
}

/// `BYTES[:TYPE]`
fn filled(kind: &str, text: &str) -> Result<ArgSpec, String> {
    let fill = Fill::by_name(kind).ok_or("expected random or iota")?;
    let (bytes, ty) = text
        .split_once(':')
        .map_or((text, None), |(bytes, ty)| (bytes, Some(ty)));
    let ty = ty.map(|ty| {
        value::type_of(ty).ok_or_else(|| format!("`{ty}` is not a type; try u32, i8 or f32"))
    });
    Ok(ArgSpec::Filled(fill, size(bytes)?, ty.transpose()?))
}

/// The content of a file: of an array of NumPy its elements, which must be of the type that the kernel has.
fn array(path: &Path, bytes: Vec<u8>, info: Option<&ArgInfo>) -> Result<Vec<u8>, String> {
    if !fill::is_numpy(&bytes) {
        return Ok(bytes);
    }
    let name = crate::input::name(path);
    let (ty, data) = fill::numpy(&bytes).map_err(|error| format!("{name} {error}"))?;
    if let Some(info) = info
        && let Some(wanted) = info.element()
        && (wanted.size() != ty.size() || wanted.is_float() != ty.is_float())
    {
        return Err(format!(
            "{name} has elements of type {ty}, and the kernel wants {}",
            info.type_in_source()
        ));
    }
    Ok(data.to_vec())
}

/// `FILE:WxH[:ORDER:TYPE[:PITCH]]`, with one to three sizes.
fn image(kind: ImageKind, text: &str) -> Result<ArgSpec, String> {
    let words: Vec<_> = text.split(':').collect();
    let (path, sizes, order, channel, pitch) = match words.as_slice() {
        [path, sizes] => (path, sizes, "RGBA", "UNORM_INT8", None),
        [path, sizes, order, channel] => (path, sizes, *order, *channel, None),
        [path, sizes, order, channel, pitch] => {
            (path, sizes, *order, *channel, Some(number(pitch)?))
        }
        _ => {
            return Err(
                "expected the kind of image, then FILE:SIZES[:ORDER:TYPE[:PITCH]], sizes such as 64x32; FILE may be zeros, random or iota"
                    .to_owned(),
            );
        }
    };
    let sizes: Vec<_> = sizes.split('x').map(number).collect::<Result<_, _>>()?;
    let format = format(order, channel)?;
    // Wrong numbers of sizes are reported at once.
    Image::new(kind, &sizes, pitch, format, Vec::new())?;
    Ok(ArgSpec::Image {
        path: path.into(),
        kind,
        sizes,
        format,
        pitch,
    })
}

/// Where a buffer goes after the run.
#[derive(Clone)]
pub(crate) struct OutSpec {
    pub(crate) number: usize,
    pub(crate) path: PathBuf,
}

impl FromStr for OutSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number_text, path) = text.split_once(':').ok_or("expected N:FILE")?;
        Ok(Self {
            number: number(number_text)?,
            path: path.into(),
        })
    }
}

/// How a buffer is printed.
#[derive(Clone)]
pub(crate) struct ShowSpec {
    pub(crate) number: usize,
    pub(crate) ty: DataType,
}

impl FromStr for ShowSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number_text, ty) = text.split_once(':').ok_or("expected N:TYPE")?;
        let ty = value::type_of(ty)
            .ok_or_else(|| format!("`{ty}` is not a type; try u32, i8 or f32"))?;
        Ok(Self {
            number: number(number_text)?,
            ty,
        })
    }
}

/// A surface for media mode.
#[derive(Clone)]
pub(crate) struct SurfaceSpec {
    pub(crate) target: Target,
    path: PathBuf,
    shape: Option<SurfaceShape>,
    /// Bytes of a linear surface of zeroes.
    zeroes: usize,
}

impl FromStr for SurfaceSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<_> = text.split(':').collect();
        let (target, path, shape) = match words.as_slice() {
            [target, path] => (target, path, None),
            [target, "zeros", bytes] if !bytes.contains('x') => {
                let target = target_of(target)?;
                return Ok(Self {
                    target,
                    path: "zeros".into(),
                    shape: None,
                    zeroes: size(bytes)?,
                });
            }
            [target, path, size] => (target, path, Some((two(size)?, None))),
            [target, path, size, pitch] => (target, path, Some((two(size)?, Some(number(pitch)?)))),
            _ => return Err("expected N:FILE[:WIDTHxHEIGHT[:PITCH]]".to_owned()),
        };
        let target = target_of(target)?;
        let shape = shape.map(|([width, height], pitch)| SurfaceShape {
            width,
            height,
            pitch: pitch.unwrap_or(width),
        });
        Ok(Self {
            target,
            path: path.into(),
            shape,
            zeroes: 0,
        })
    }
}

impl SurfaceSpec {
    /// The surface, with its file read; with `zeros` as its file, one of zeroes, as large as its shape.
    pub(crate) fn surface(&self, limit: u64) -> Result<MediaSurface, String> {
        let zeroes = self.shape.filter(|_| self.path.as_os_str() == "zeros");
        let bytes = match zeroes {
            Some(shape) => {
                let size = u64::from(shape.pitch) * u64::from(shape.height);
                zeros(
                    "a surface",
                    usize::try_from(size).unwrap_or(usize::MAX),
                    limit,
                )?
            }
            None if self.zeroes > 0 => zeros("a surface", self.zeroes, limit)?,
            None => read_within(&self.path, limit)?,
        };
        Ok(MediaSurface {
            bytes,
            shape: self.shape,
        })
    }
}

/// An input by its number, or an entry of the binding table.
fn target_of(text: &str) -> Result<Target, String> {
    Ok(match text.strip_prefix("bti") {
        Some(entry) => Target::Entry(number(entry)?),
        None => Target::Input(number(text)?),
    })
}

/// A value for an input.
#[derive(Clone)]
pub(crate) struct InputSpec {
    pub(crate) number: usize,
    pub(crate) text: String,
}

impl FromStr for InputSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number_text, value) = text.split_once(':').ok_or("expected N:VALUE")?;
        Ok(Self {
            number: number(number_text)?,
            text: value.to_owned(),
        })
    }
}

/// A variable's first content.
#[derive(Clone)]
pub(crate) struct SetSpec {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl FromStr for SetSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        Ok(Self {
            name: name.to_owned(),
            text: value.to_owned(),
        })
    }
}

/// `WxH`
pub(crate) fn two(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text
        .split_once('x')
        .ok_or("expected WIDTHxHEIGHT, such as 64x32")?;
    Ok([number(width)?, number(height)?])
}

pub(crate) fn dependency(text: &str) -> Result<Dependency, String> {
    let found = Dependency::ALL.iter().find(|(_, name)| *name == text);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let names: Vec<_> = Dependency::ALL.iter().map(|(_, name)| *name).collect();
        format!("known patterns: {}", names.join(", "))
    })
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number, or too large"))
}

/// A size in bytes; `k`, `m` and `g` multiply by 1024.
fn size(text: &str) -> Result<usize, String> {
    let lower = text.to_ascii_lowercase();
    let units = [('k', 10), ('m', 20), ('g', 30)];
    let unit = units.iter().find(|(c, _)| lower.ends_with(*c));
    let digits = unit.map_or(lower.as_str(), |(c, _)| lower.trim_end_matches(*c));
    let count: u64 = number(digits)?;
    let bytes = count.saturating_mul(1 << unit.map_or(0, |(_, shift)| *shift));
    if bytes > MOST_ZEROS {
        return Err(format!("`{text}` is more than 64 GiB"));
    }
    usize::try_from(bytes).map_err(|_| format!("`{text}` is too large for this machine"))
}

fn zeros(what: &'static str, size: usize, limit: u64) -> Result<Vec<u8>, String> {
    zeroes_within(what, size, limit).map_err(|error| error.to_string())
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let fault = || format!("`{text}` is not a string of bytes in hex");
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return Err(fault());
    }
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).map_err(|_| fault())?;
            u8::from_str_radix(pair, 16).map_err(|_| fault())
        })
        .collect()
}
