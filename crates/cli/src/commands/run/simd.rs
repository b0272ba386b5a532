//! A kernel compiled for several SIMD widths: whether its results depend on them.

use super::kernel::with_kernel;
use super::{Args, stop};
use crate::output::{self, Failure, count, stdout};
use crate::{Status, render};
use serde_json::{Value, json};
use std::io::Write;
use visakit::isa::DataType;
use visakit_exec::Pass;
use visakit_launch::{ArgInfo, Config, value};

/// What a width left in the buffers.
struct Ran {
    /// The width that was asked for, and the one that the compiler made.
    asked: u32,
    made: u32,
    buffers: Vec<Buffer>,
}

struct Buffer {
    number: usize,
    name: String,
    ty: DataType,
    bytes: Vec<u8>,
}

impl Args {
    /// The widths that are asked for.
    pub(crate) fn widths(&self) -> &[u32] {
        &self.simd
    }

    /// The arguments for a width, and the name of what runs.
    pub(crate) fn of_width(&self, width: u32) -> (String, Self) {
        let mut args = self.clone();
        args.simd = Vec::new();
        args.reading.building.simd = Some(width);
        (format!("{}, SIMD{width}", self.name()), args)
    }
}

/// `run --simd`.
pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let (ran, differences) = compared(args)?;
    if args.json() {
        let widths = ran
            .iter()
            .map(|r| json!({ "asked": r.asked, "simd": r.made }));
        output::json(&json!({ "widths": widths.collect::<Vec<_>>(), "differences": differences }))?;
    } else if differences.is_empty() {
        let made: Vec<_> = ran.iter().map(|r| format!("SIMD{}", r.made)).collect();
        let buffers = ran.first().map_or(0, |r| r.buffers.len());
        let mut out = stdout();
        writeln!(
            out,
            "{}: the same contents of {}",
            made.join(", "),
            count(buffers, "buffer")
        )?;
        out.flush()?;
    }
    Ok(Status::of_run(true, !differences.is_empty()))
}

/// Runs the kernel in each width, and warns of results that depend on it.
pub(crate) fn compare(args: &Args) -> Result<Status, Failure> {
    let (_, differences) = compared(args)?;
    Ok(Status::of_run(true, !differences.is_empty()))
}

fn compared(args: &Args) -> Result<(Vec<Ran>, Vec<Value>), Failure> {
    let mut ran: Vec<Ran> = Vec::new();
    let mut differences = Vec::new();
    for width in &args.simd {
        let one = of(args, *width)?;
        if one.made != one.asked {
            render::note(&format!(
                "SIMD{} was asked for, and the compiler made SIMD{}: the kernel requires it, or needs too many registers",
                one.asked, one.made
            ));
        }
        if let Some(first) = ran.first() {
            for (was, is) in first.buffers.iter().zip(&one.buffers) {
                differences.extend(difference((first.made, was), (one.made, is)));
            }
        }
        ran.push(one);
    }
    Ok((ran, differences))
}

/// Runs the kernel in a width.
fn of(args: &Args, width: u32) -> Result<Ran, Failure> {
    let (_, args) = args.of_width(width);
    with_kernel(&args, |kernel, range, arguments| {
        let config = Config {
            passes: &Pass::ALL,
            ..args.config()
        };
        let arguments = arguments.all()?;
        let outcome = kernel.run(range, &arguments, &config)?;
        if !outcome.end.is_complete() {
            stop::tell(&format!("SIMD{width} did not come to its end"));
            return Err(Failure::Told(Status::Findings));
        }
        let buffers = (0..arguments.len()).filter_map(|number| {
            let mut known = kernel.args_info().iter();
            let info = known.find(|info| usize::try_from(info.index) == Ok(number));
            Some(Buffer {
                number,
                name: info.map_or_else(String::new, |info| info.name.clone()),
                ty: info.and_then(ArgInfo::element).unwrap_or(DataType::Ud),
                bytes: outcome.memory(number)?.to_vec(),
            })
        });
        Ok(Ran {
            asked: width,
            made: kernel.info().execution_env.simd_size,
            buffers: buffers.collect(),
        })
    })
}

/// Warns of a buffer that differs, and describes it.
fn difference((of_old, old): (u32, &Buffer), (of_new, new): (u32, &Buffer)) -> Option<Value> {
    let size = usize::from(old.ty.size()).max(1);
    let pairs = || old.bytes.chunks(size).zip(new.bytes.chunks(size));
    let first = pairs().position(|(was, is)| was != is)?;
    let elements = pairs().filter(|(was, is)| was != is).count();
    let shown = |bytes: &[u8]| value::show(bytes, old.ty).nth(first).unwrap_or_default();
    let (was, is) = (shown(&old.bytes), shown(&new.bytes));
    let Buffer { number, name, .. } = old;
    render::warning(&format!(
        "argument {number} {name} depends on the SIMD width: {} of {} differ, the first is [{first}]: {was} with SIMD{of_old}, {is} with SIMD{of_new}",
        count(elements, "element"),
        pairs().count()
    ));
    Some(json!({
        "argument": number,
        "name": name,
        "elements": elements,
        "first": first,
        "values": [{ "simd": of_old, "value": was }, { "simd": of_new, "value": is }],
    }))
}
