//! `visakit pressure`: how many registers are in use, instruction by instruction.

use crate::output::{self, Failure, heading, printable, stdout};
use crate::reading::{Reading, routine};
use crate::table::{Align, Columns};
use crate::{Status, render};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use visakit::analysis::{LiveRange, Liveness, Pressure};
use visakit::isa::object::{Body, Object, RoutineId};
use visakit::rewrite::lines;

/// Registers of a thread, in the usual and in the large mode.
const LIMITS: [usize; 2] = [128, 256];

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit pressure kernel.visaasm
      the most registers in use, where, and by what
  visakit pressure kernel.visaasm --lines      beside each instruction
  visakit pressure kernel.visaasm -o plot.svg  as a picture

Variables count from the instruction that writes them to the last that may read them; those below a register are
packed. What the finalizer adds is not counted: real demand is higher.")]
pub(crate) struct Args {
    /// The object or text, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only this routine, by name or number (kernels first, then functions).
    #[arg(long, value_name = "NAME|INDEX")]
    routine: Option<String>,
    /// Print every instruction with the registers in use.
    #[arg(long, conflicts_with = "output")]
    lines: bool,
    /// Draw the plot as SVG into this file.
    #[arg(short, long, value_name = "OUT", conflicts_with = "json")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// A routine and its live ranges.
struct Measured<'o> {
    title: String,
    name: String,
    object: &'o Object<'o>,
    id: RoutineId,
    body: &'o Body<'o>,
    liveness: Liveness,
    pressure: Pressure,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let input = args.reading.open(&args.file)?;
    let linked = args.reading.object(&input)?;
    let object = &linked.object;
    let one = match &args.routine {
        None => None,
        Some(name) => Some(routine(&args.file, object, name)?),
    };
    let grf_bytes = linked.grf_bytes.unwrap_or(32);
    let measured: Vec<Measured<'_>> = object
        .routines()
        .filter(|(id, _)| one.is_none_or(|one| one == *id))
        .filter_map(|(id, routine)| {
            let body = routine.body()?;
            let liveness = Liveness::of(object, body, grf_bytes);
            let pressure = Pressure::of(&liveness, grf_bytes);
            let name = printable(routine.display_name().as_bytes());
            Some(Measured {
                title: format!("{} {name}", id.kind.name()),
                name,
                object,
                id,
                body,
                liveness,
                pressure,
            })
        })
        .collect();
    if args.reading.json {
        let all: Vec<Value> = measured.iter().map(|m| m.document(grf_bytes)).collect();
        output::json(&json!({ "grf_bytes": grf_bytes, "routines": all }))?;
    } else if let Some(path) = &args.output {
        output::text(Some(path), svg(&measured, grf_bytes).as_bytes())?;
    } else {
        let mut out = stdout();
        for (n, one) in measured.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            if args.lines {
                one.lines(&mut out)?;
            } else {
                one.text(&mut out, grf_bytes)?;
            }
        }
        out.flush()?;
    }
    if measured.is_empty() {
        render::note("nothing could be decoded");
        return Ok(Status::Findings);
    }
    Ok(Status::Clean)
}

impl Measured<'_> {
    fn peak(&self) -> (usize, usize) {
        let peak = self.pressure.peak();
        peak.map_or((0, 0), |(at, point)| (at, point.registers))
    }

    fn instruction(&self, at: usize) -> String {
        let text = lines::some(self.object, self.id, std::iter::once(at));
        let text = text.into_iter().next();
        text.map_or_else(String::new, |(_, text)| printable(text.as_bytes()))
    }

    /// What is live at the peak, the largest first.
    fn largest(&self) -> Vec<&LiveRange> {
        let mut live: Vec<&LiveRange> = self.liveness.at(self.peak().0).collect();
        live.sort_by_key(|range| std::cmp::Reverse(range.bytes));
        live
    }

    fn range_name(&self, range: &LiveRange) -> String {
        printable(range.root.name(self.object, self.body).as_bytes())
    }

    fn document(&self, grf_bytes: u32) -> Value {
        let (at, registers) = self.peak();
        let points = self.pressure.points.iter().map(|point| point.registers);
        let ranges = self.liveness.ranges.iter().map(|range| {
            json!({
                "variable": self.range_name(range),
                "bytes": range.bytes,
                "live": range.code.iter().map(|r| [r.start, r.end]).collect::<Vec<_>>(),
            })
        });
        json!({
            "kind": self.id.kind.name(),
            "name": self.name,
            "grf_bytes": grf_bytes,
            "peak": { "registers": registers, "instruction": at, "text": self.instruction(at) },
            "registers": points.collect::<Vec<_>>(),
            "variables": ranges.collect::<Vec<_>>(),
        })
    }

    fn text(&self, out: &mut impl Write, grf_bytes: u32) -> Result<(), Failure> {
        let (at, registers) = self.peak();
        writeln!(out, "{}", heading(&self.title))?;
        let mut table = Columns::pairs();
        table.row([
            "most in use".to_owned(),
            format!(
                "{} of {grf_bytes} bytes ({})",
                output::count(registers, "register"),
                limit(registers)
            ),
        ]);
        table.row([
            "at instruction".to_owned(),
            format!("{at}: {}", self.instruction(at)),
        ]);
        write!(out, "{table}")?;
        for line in bars(&self.pressure, 72, 8) {
            writeln!(out, "  {line}")?;
        }
        let live = self.largest();
        writeln!(out, "live there")?;
        let mut table = Columns::new(&[
            ("bytes", Align::Right),
            ("instructions", Align::Left),
            ("variable", Align::Left),
        ]);
        for range in live.iter().take(10) {
            let around = range.code.iter().find(|r| r.contains(&at));
            table.row([
                range.bytes.to_string(),
                around.map_or_else(String::new, |r| format!("{} to {}", r.start, r.end - 1)),
                self.range_name(range),
            ]);
        }
        write!(out, "{table}")?;
        if live.len() > 10 {
            writeln!(out, "  and {} more", live.len() - 10)?;
        }
        Ok(())
    }

    fn lines(&self, out: &mut impl Write) -> Result<(), Failure> {
        writeln!(out, "{}", heading(&self.title))?;
        let texts = lines::all(self.object, self.id);
        let most = self.peak().1.max(1);
        for (point, text) in self.pressure.points.iter().zip(texts) {
            let bar = "#".repeat((point.registers * 12).div_ceil(most));
            let text = printable(text.as_bytes());
            writeln!(out, "{:>5} {bar:<12} {text}", point.registers)?;
        }
        Ok(())
    }
}

/// The meaning of the number of registers.
fn limit(registers: usize) -> String {
    let [usual, large] = LIMITS;
    match registers {
        n if n <= usual => format!("{} % of {usual}", n * 100 / usual),
        n if n <= large => {
            format!("more than {usual}: the large mode has {large}, or values are spilled")
        }
        _ => format!("more than {large}: values are spilled"),
    }
}

/// The most registers of each of at most `width` pieces of the code.
fn columns(pressure: &Pressure, width: usize) -> Vec<usize> {
    let points = &pressure.points;
    let piece = points.len().div_ceil(width).max(1);
    let most = |piece: &[visakit::analysis::Point]| piece.iter().map(|p| p.registers).max();
    points.chunks(piece).filter_map(most).collect()
}

/// A plot of block characters, the highest line first.
fn bars(pressure: &Pressure, width: usize, height: usize) -> Vec<String> {
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = columns(pressure, width);
    let most = columns.iter().copied().max().unwrap_or(0).max(1);
    (0..height)
        .rev()
        .map(|line| {
            let cell = |n: &usize| {
                let eighths = (n * height * 8).div_ceil(most);
                let here = eighths.saturating_sub(line * 8).min(8);
                EIGHTHS.get(here).copied().unwrap_or(' ')
            };
            let text: String = columns.iter().map(cell).collect();
            text.trim_end().to_owned()
        })
        .collect()
}

/// One plot below the other.
fn svg(measured: &[Measured<'_>], grf_bytes: u32) -> String {
    const WIDTH: usize = 960;
    const HEIGHT: usize = 200;
    const LEFT: usize = 48;
    const TOP: usize = 44;
    const STEP: usize = HEIGHT + TOP + 36;
    let mut out = String::new();
    let (width, height) = (LEFT + WIDTH + 24, STEP * measured.len() + 8);
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n<style>.paper{{fill:#fff}}text{{fill:#24292f}}.area{{fill:#0969da;fill-opacity:.25;stroke:#0969da}}.axis{{stroke:#57606a}}.limit{{stroke:#cf222e;stroke-dasharray:4 3}}.peak{{fill:#cf222e}}@media (prefers-color-scheme:dark){{.paper{{fill:#0d1117}}text{{fill:#e6edf3}}.area{{fill:#58a6ff;stroke:#58a6ff}}.axis{{stroke:#8b949e}}}}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
    );
    for (n, one) in measured.iter().enumerate() {
        let (at, most) = one.peak();
        let (top, bottom) = (n * STEP + TOP, n * STEP + TOP + HEIGHT);
        let columns = columns(&one.pressure, WIDTH);
        let count = columns.len().max(1);
        let instructions = one.pressure.points.len().max(1);
        let scale = most.max(1);
        let x = |column: usize| LEFT + column * WIDTH / count;
        let y = |registers: usize| bottom - registers * HEIGHT / scale;
        let _ = write!(
            out,
            "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{}</text>\n<text x=\"{LEFT}\" y=\"{}\">most: {most} registers of {grf_bytes} bytes at instruction {at}</text>\n",
            top - 24,
            escaped(&one.title),
            top - 9
        );
        let _ = write!(out, "<path class=\"area\" d=\"M{LEFT} {bottom}");
        for (column, registers) in columns.iter().enumerate() {
            let _ = write!(out, "V{}H{}", y(*registers), x(column + 1));
        }
        let _ = writeln!(out, "V{bottom}Z\"/>");
        for limit in LIMITS.into_iter().filter(|limit| *limit < most) {
            let _ = write!(
                out,
                "<path class=\"limit\" d=\"M{LEFT} {0}H{1}\"/>\n<text x=\"{2}\" y=\"{3}\" text-anchor=\"end\">{limit}</text>\n",
                y(limit),
                LEFT + WIDTH,
                LEFT - 6,
                y(limit) + 4
            );
        }
        let right = LEFT + WIDTH;
        let peak = LEFT + at * WIDTH / instructions;
        let _ = write!(
            out,
            "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {top}V{bottom}H{right}\"/>\n<circle class=\"peak\" cx=\"{peak}\" cy=\"{top}\" r=\"3\"/>\n<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{most}</text>\n<text x=\"{0}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\n<text x=\"{right}\" y=\"{2}\" text-anchor=\"end\">instruction {instructions}</text>\n",
            LEFT - 6,
            top + 4,
            bottom + 16
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
