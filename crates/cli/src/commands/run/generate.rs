//! Arguments that were not given: generated from what the compiler recorded of the kernel, and the grid.

use super::fill::Fill;
use crate::output::printable;
use visakit::isa::DataType;
use visakit_launch::{
    ArgInfo, Argument, Image, ImageKind, NdRange, format, sampler, zeroes_within,
};

/// An argument, and what was assumed.
pub(super) struct Generated {
    pub(super) argument: Argument,
    /// `float* x: 1024 bytes, random`
    pub(super) assumed: String,
    /// Whether it is a buffer whose size was assumed.
    pub(super) sized: bool,
}

/// An argument for a parameter: buffers have `factor` elements for each work-item.
pub(super) fn generate(
    info: &ArgInfo,
    range: &NdRange,
    factor: Factor,
    limit: u64,
) -> Result<Generated, String> {
    let ty = info.type_in_source().to_owned();
    let what = format!(
        "{} {}",
        printable(ty.as_bytes()),
        printable(info.name.as_bytes())
    );
    let generated = |argument, content: String| Generated {
        argument,
        assumed: format!("{}: {content}", what.trim()),
        sized: false,
    };
    if let Some(kind) = ImageKind::by_name(ty.trim_end_matches("_t")) {
        let image = image(kind, range, limit)?;
        let size = format!("{}x{}x{}", image.width, image.height, image.depth);
        let content = format!("{size} pixels of RGBA, UNORM_INT8, random");
        return Ok(generated(Argument::Image(image), content));
    }
    if ty == "sampler_t" {
        let argument = Argument::Sampler(sampler(false, "CLAMP_TO_EDGE", "NEAREST")?);
        return Ok(generated(argument, "clamp to edge, nearest".to_owned()));
    }
    let element = Element::of(info);
    if info.address_qualifier == "__local" {
        let local = range.local.iter().map(|n| u64::from(*n)).product::<u64>();
        let bytes =
            usize::try_from(local.saturating_mul(element.bytes)).map_err(|e| e.to_string())?;
        return Ok(generated(Argument::Local(bytes), format!("{bytes} bytes")));
    }
    if info.is_pointer()
        || info.address_qualifier == "__global"
        || info.address_qualifier == "__constant"
    {
        let size = factor.of(work_items(range)).saturating_mul(element.bytes);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let mut bytes = zeroes_within("a buffer", size, limit).map_err(|e| e.to_string())?;
        let content = match element.ty {
            Some(ty) => {
                let seed = u64::from(info.index) + 1;
                Fill::Random.fill(&mut bytes, ty, seed, Some(work_items(range)));
                "random"
            }
            None => "zeroes",
        };
        let mut found = generated(Argument::Buffer(bytes), format!("{size} bytes, {content}"));
        found.sized = true;
        return Ok(found);
    }
    let (bytes, content) = value(info, &element, range)?;
    Ok(generated(Argument::Value(bytes), content))
}

/// How many elements a buffer has for each work-item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Factor {
    /// Halves of an element.
    pub(super) halves: u64,
}

impl Factor {
    /// One for each.
    pub(super) const ONE: Self = Self { halves: 2 };

    fn of(self, items: u64) -> u64 {
        items.saturating_mul(self.halves).div_ceil(2)
    }
}

fn work_items(range: &NdRange) -> u64 {
    range.global.iter().map(|n| u64::from(*n)).product()
}

/// The elements of a buffer, of local memory, or the value itself.
struct Element {
    /// The type of its numbers, if it consists of numbers.
    ty: Option<DataType>,
    bytes: u64,
}

impl Element {
    fn of(info: &ArgInfo) -> Self {
        /// Structures have an unknown size: this much is enough for most.
        const STRUCTURE: u64 = 64;
        let name = info.type_in_source().trim_end_matches('*');
        let ty = info.element();
        let width: u64 = name
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap_or(1);
        // Vectors of three have the size of four.
        let width = if width == 3 { 4 } else { width.clamp(1, 16) };
        let bytes = match ty {
            Some(ty) => u64::from(ty.size()) * width,
            // Compilers leave out what programs that are built without it do not ask for.
            None if name.is_empty() || name == "void" => 4,
            None => STRUCTURE,
        };
        Self { ty, bytes }
    }
}

/// A value: integers are sizes of the grid, or 0 if their name says that they are a place; floats are 1.
fn value(info: &ArgInfo, element: &Element, range: &NdRange) -> Result<(Vec<u8>, String), String> {
    let size = info
        .type_name
        .split(';')
        .nth(1)
        .and_then(|n| n.parse().ok());
    let zeroes = || {
        let size: usize = size.unwrap_or(4).min(1 << 16);
        (vec![0; size.max(1)], format!("{size} bytes of zeroes"))
    };
    let Some(ty) = element.ty else {
        return Ok(zeroes());
    };
    let text = if ty.is_float() {
        "1".to_owned()
    } else {
        integer(&info.name, range)
            .min(u64::MAX >> (65 - u32::from(ty.size()) * 8))
            .to_string()
    };
    let one = visakit_launch::value::parse(&text, ty)?;
    let count = element.bytes.checked_div(u64::from(ty.size())).unwrap_or(1);
    let bytes = one.repeat(usize::try_from(count).unwrap_or(1));
    Ok((bytes, text))
}

/// What an integer of this name is likely to be.
fn integer(name: &str, range: &NdRange) -> u64 {
    let name = name.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let size = |dimension: usize| range.global.get(dimension).copied().unwrap_or(1).into();
    if says(&[
        "offset", "start", "begin", "first", "shift", "base", "seed", "index",
    ]) {
        0
    } else if says(&["height", "rows"]) {
        size(1)
    } else if says(&["depth", "slices"]) {
        size(2)
    } else {
        size(0)
    }
}

fn image(kind: ImageKind, range: &NdRange, limit: u64) -> Result<Image, String> {
    let sizes = range.global.iter().copied().chain([1, 1, 1]);
    let sizes: Vec<u32> = sizes.take(kind.sizes()).collect();
    let format = format("RGBA", "UNORM_INT8")?;
    let mut image = Image::new(kind, &sizes, None, format, Vec::new())?;
    let size = usize::try_from(image.span()).unwrap_or(usize::MAX);
    image.bytes = zeroes_within("an image", size, limit).map_err(|e| e.to_string())?;
    Fill::Random.fill(&mut image.bytes, DataType::Ub, 1, None);
    Ok(image)
}
