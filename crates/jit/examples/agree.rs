//! Do the interpreter and machine code agree on kernels of others?
//!
//! ```console
//! cargo run --release -p visakit-internal-jit --example agree -- FOLDER...
//! ```
//!
//! Each folder has the output of `visakit compile` of any OpenCL C. Every kernel runs with generated arguments, over a
//! line and over a plane of work-items, in the interpreter, without any pass over its code, and in machine code for AVX2 and
//! AVX-512, after all passes. Memory, counts and faults are compared, to the bit. Differences and kernels that could not be
//! run are printed; the exit code shows whether there was a difference.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool that prints; numbers are made of random bits"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use visakit_exec::memory::{Addressing, ChannelOrder, ChannelType, Filter, Format, Sampler};
use visakit_exec::{Compiler, Limits, Pass};
use visakit_jit::Jit;
use visakit_launch::{
    ArgInfo, Argument, Compare, Compile, Config, Dump, Element, Image, ImageKind, Kernel, NdRange,
};

type Anything = Box<dyn std::error::Error>;

/// Bytes of a buffer, and pixels of an image in each direction.
const BUFFER: usize = 1 << 16;
const SIDE: u32 = 32;

/// The types of OpenCL C that numbers are made for. Kernels with others (names that the program defines, structures) run
/// twice: once with whole numbers in these, once with floats.
const KNOWN: [&str; 11] = [
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double",
];

/// A type without the number of elements of a vector.
fn base(ty: &str) -> &str {
    ty.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// The type of a value, or that of the elements of a buffer.
fn own_type(info: &ArgInfo) -> &str {
    let name = info.type_name.split(['*', ';']).next();
    name.unwrap_or_default().trim()
}

fn is_unknown(info: &ArgInfo) -> bool {
    let name = own_type(info);
    !KNOWN.contains(&base(name)) && !name.starts_with("image") && name != "sampler_t"
}

/// Numbers that look random, the same each time.
struct Random {
    state: u64,
    /// What unknown types are taken for.
    unknown: &'static str,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let n = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ n >> 31
    }

    /// A number of a type given by its name in OpenCL C: small, so that indices stay in bounds and loops end; some
    /// floats are special.
    fn number(&mut self, ty: &str) -> Vec<u8> {
        let n = self.next();
        let special = n.is_multiple_of(64);
        let unit = (n >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
        let known = Some(base(ty)).filter(|ty| KNOWN.contains(ty));
        match known.unwrap_or(self.unknown) {
            "float" if special => f32::from_bits((n >> 8) as u32).to_le_bytes().to_vec(),
            "float" => unit.to_le_bytes().to_vec(),
            "double" => f64::from(unit).to_le_bytes().to_vec(),
            "half" => (0x3000 + (n >> 20) as u16 % 0x1000).to_le_bytes().to_vec(),
            "char" | "uchar" => vec![n as u8],
            "short" | "ushort" => ((n >> 8) as u16 % 64).to_le_bytes().to_vec(),
            "long" | "ulong" => ((n >> 8) % 64).to_le_bytes().to_vec(),
            _ => ((n >> 8) as u32 % 64).to_le_bytes().to_vec(),
        }
    }

    fn bytes(&mut self, ty: &str, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend(self.number(ty));
        }
        bytes.truncate(count);
        bytes
    }

    fn argument(&mut self, info: &ArgInfo) -> Result<Argument, Anything> {
        let (ty, size) = info
            .type_name
            .split_once(';')
            .unwrap_or((&info.type_name, "4"));
        let size: usize = size.parse().unwrap_or(4);
        let pixels = |kind, sizes: &[u32], random: &mut Self| -> Result<_, Anything> {
            let format = Format {
                order: ChannelOrder::Rgba,
                channel: ChannelType::Float32,
            };
            let count = sizes.iter().map(|n| *n as usize).product::<usize>() * 16;
            let bytes = random.bytes("float", count);
            Ok(Argument::Image(Image::new(
                kind, sizes, None, format, bytes,
            )?))
        };
        Ok(match (ty, ty.strip_suffix('*')) {
            (_, Some(_)) if info.address_qualifier == "__local" => Argument::Local(8192),
            (_, Some(element)) => Argument::Buffer(self.bytes(element.trim(), BUFFER)),
            ("image1d_t", _) => pixels(ImageKind::Image1d, &[SIDE], self)?,
            ("image2d_t", _) => pixels(ImageKind::Image2d, &[SIDE, SIDE], self)?,
            ("image3d_t", _) => pixels(ImageKind::Image3d, &[SIDE, SIDE, SIDE], self)?,
            ("sampler_t", _) => Argument::Sampler(Sampler {
                normalized: false,
                addressing: Addressing::ClampToEdge,
                filter: Filter::Nearest,
            }),
            _ => Argument::Value(self.bytes(ty, size)),
        })
    }
}

/// The result of a run: memory of the arguments, and counts; or a fault.
type Outcome = Result<(Vec<Option<Vec<u8>>>, u64, u64), String>;

/// Numbers of kernels by result.
#[derive(Default)]
struct Totals {
    kernels: usize,
    /// Kernels of which a launch ran to its end.
    ran: usize,
    launches: usize,
    ended: usize,
    differences: usize,
    /// Why launches did not run to their ends.
    faults: BTreeMap<String, usize>,
}

fn main() -> Result<ExitCode, Anything> {
    let mut compilers: Vec<Arc<dyn Compiler>> = Vec::new();
    for jit in [Jit::avx2(), Jit::host()].into_iter().flatten() {
        compilers.push(Arc::new(jit));
    }
    let mut totals = Totals::default();
    for folder in std::env::args_os().skip(1) {
        if let Err(error) = folder_of_kernels(folder.as_ref(), &compilers, &mut totals) {
            println!("{}: {error}", Path::new(&folder).display());
        }
    }
    for (fault, count) in &totals.faults {
        println!("{count} launches: {fault}");
    }
    println!(
        "{} kernels, {} ran to an end; {} launches, {} to an end, {} differences",
        totals.kernels, totals.ran, totals.launches, totals.ended, totals.differences
    );
    Ok(ExitCode::from(u8::from(totals.differences != 0)))
}

fn folder_of_kernels(
    folder: &Path,
    compilers: &[Arc<dyn Compiler>],
    totals: &mut Totals,
) -> Result<(), Anything> {
    let dump = Dump::open(folder)?;
    for name in dump.kernels() {
        totals.kernels += 1;
        let before = totals.ended;
        if let Err(error) = kernel(&dump, &name, compilers, totals) {
            println!("{}, {name}: {error}", folder.display());
        }
        totals.ran += usize::from(totals.ended != before);
    }
    Ok(())
}

fn kernel(
    dump: &Dump,
    name: &str,
    compilers: &[Arc<dyn Compiler>],
    totals: &mut Totals,
) -> Result<(), Anything> {
    let kernel = Kernel::from_dump(&dump.kernel(Some(name))?)?;
    let kinds = match kernel.args_info().iter().any(is_unknown) {
        true => &["uint", "float"][..],
        false => &["uint"],
    };
    for unknown in kinds {
        let mut random = Random { state: 1, unknown };
        for (global, local) in [
            ([256, 1, 1], [64, 1, 1]),
            ([32, 8, 1], [16, 4, 1]),
            ([24, 6, 2], [12, 2, 2]),
        ] {
            launch(&kernel, name, global, local, &mut random, compilers, totals)?;
        }
    }
    Ok(())
}

/// Runs a kernel in the interpreter and in machine code.
fn launch(
    kernel: &Kernel<'_>,
    name: &str,
    global: [u32; 3],
    local: [u32; 3],
    random: &mut Random,
    compilers: &[Arc<dyn Compiler>],
    totals: &mut Totals,
) -> Result<(), Anything> {
    let required = &kernel.info().execution_env.required_work_group_size;
    let local = match required.as_slice() {
        &[x, y, z] if x * y * z > 0 => [x, y, z],
        _ => local,
    };
    let global: [u32; 3] = std::array::from_fn(|n| global[n].div_ceil(local[n]) * local[n]);
    let range = NdRange::new(&global, &local, &[])?;
    let arguments = kernel.args_info().iter().map(|info| random.argument(info));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    // Threads that share memory take turns in a fixed order.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let run = |compile: Option<Compile<'_>>| -> Outcome {
        let config = Config {
            // As it was translated, and as launches have it.
            passes: match &compile {
                None => &[],
                Some(_) => &Pass::ALL,
            },
            compile,
            lenient: true,
            stray_reads: true,
            limits: Limits {
                max_steps: 300_000,
                ..Limits::default()
            },
            ..Config::default()
        };
        let outcome = pool.install(|| kernel.run(&range, &arguments, &config));
        let outcome = outcome.map_err(|error| error.to_string())?;
        let memory = (0..arguments.len()).map(|n| outcome.memory(n).map(<[u8]>::to_vec));
        let counters = outcome.counters;
        Ok((
            memory.collect(),
            counters.instructions,
            counters.lane_operations,
        ))
    };
    let expected = run(None);
    totals.launches += 1;
    match &expected {
        Ok(_) => totals.ended += 1,
        Err(fault) => {
            let kind: String = fault.chars().filter(|c| !c.is_ascii_digit()).collect();
            let kind = kind.rsplit(": ").next().unwrap_or_default().to_owned();
            *totals.faults.entry(kind).or_default() += 1;
        }
    }
    for compiler in compilers {
        let found = run(Some(Compile::always(compiler)));
        if let Some(difference) = difference(kernel.args_info(), &expected, &found) {
            totals.differences += 1;
            println!("DIFFERENT: {name}, {global:?} by {local:?}, {compiler:?}: {difference}");
        }
    }
    Ok(())
}

/// What memory is compared as: the element of a buffer; floats, if its type is a structure or an image.
fn element(info: &ArgInfo) -> Element {
    let name = own_type(info);
    match Element::from(name.to_owned()) {
        Element::Uchar if !name.starts_with("uchar") => Element::Float,
        element => element,
    }
}

/// A description of the first difference.
fn difference(infos: &[ArgInfo], expected: &Outcome, found: &Outcome) -> Option<String> {
    let ((a, steps, lanes), (b, other_steps, other_lanes)) = match (expected, found) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) if a == b => return None,
        (a, b) => {
            let fault = |outcome: &Outcome| outcome.as_ref().err().cloned();
            return Some(format!("{:?} and {:?}", fault(a), fault(b)));
        }
    };
    for (number, (a, b)) in a.iter().zip(b).enumerate() {
        let (a, b) = (a.as_deref().unwrap_or(&[]), b.as_deref().unwrap_or(&[]));
        let element = infos.get(number).map_or(Element::Uchar, element);
        if let Some(difference) = Compare::Exact.difference(element, a, b) {
            return Some(format!("argument {number}, {element:?}: {difference}"));
        }
    }
    let counts = (steps, lanes) != (other_steps, other_lanes);
    counts
        .then(|| format!("{steps} and {other_steps} instructions, {lanes} and {other_lanes} lanes"))
}
