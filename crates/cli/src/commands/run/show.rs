//! The results of a run, for people and for programs.

use super::Args;
use crate::output::{self, Failure, heading};
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;
use visakit::isa::DataType;
use visakit_exec::Counters;
use visakit_launch::value;

/// Buffers up to this size are printed by default.
const SMALL: usize = 4096;

/// Elements of a line.
const LINE: usize = 8;

/// A buffer or surface after the run.
pub(crate) struct Buffer<'b> {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) ty: Option<DataType>,
    pub(crate) bytes: &'b [u8],
    pub(crate) changed: bool,
}

/// Writes files, and prints buffers: the selected ones, or else small ones that changed.
pub(crate) fn buffers(
    args: &Args,
    out: &mut impl Write,
    buffers: &[Buffer<'_>],
) -> Result<(), Failure> {
    files(args, buffers)?;
    for buffer in buffers {
        let shown = args.show.iter().find(|s| s.number == buffer.number);
        let written = args.out.iter().any(|o| o.number == buffer.number);
        let small = args.show.is_empty() && !written && buffer.changed;
        let (Some(ty), true) = (
            shown.map(|s| s.ty).or(buffer.ty).or(Some(DataType::Ud)),
            shown.is_some() || small,
        ) else {
            continue;
        };
        writeln!(
            out,
            "{}",
            heading(&format!(
                "{} ({} bytes as {ty})",
                buffer.name,
                buffer.bytes.len()
            ))
        )?;
        let all = shown.is_some() || buffer.bytes.len() <= SMALL;
        let bytes = if all {
            buffer.bytes
        } else {
            buffer.bytes.get(..256).unwrap_or_default()
        };
        rows(out, bytes, ty)?;
        if !all {
            let option = format!(
                "--out {}:FILE writes all, --show {}:{ty} prints all",
                buffer.number, buffer.number
            );
            writeln!(out, "  … ({option})")?;
        }
    }
    Ok(())
}

/// Elements in lines, each with the number of its first element.
pub(crate) fn rows(out: &mut impl Write, bytes: &[u8], ty: DataType) -> Result<(), Failure> {
    let elements: Vec<_> = value::show(bytes, ty).collect();
    let wide = elements.iter().map(String::len).max().unwrap_or(0);
    let digits = elements.len().saturating_sub(1).to_string().len();
    for (line, row) in elements.chunks(LINE).enumerate() {
        write!(out, "  {:>digits$}:", line * LINE)?;
        for element in row {
            write!(out, " {element:>wide$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn files(args: &Args, buffers: &[Buffer<'_>]) -> Result<(), Failure> {
    for wanted in &args.out {
        let found = buffers.iter().find(|b| b.number == wanted.number);
        let buffer = found.ok_or_else(|| {
            Failure::Other(format!("--out {}: there is no such buffer", wanted.number))
        })?;
        output::file(&wanted.path, buffer.bytes)?;
    }
    for wanted in &args.show {
        if !buffers.iter().any(|b| b.number == wanted.number) {
            return Err(Failure::Other(format!(
                "--show {}: there is no such buffer",
                wanted.number
            )));
        }
    }
    Ok(())
}

/// Buffers as data: small and selected ones include their elements.
pub(crate) fn buffers_json(args: &Args, buffers: &[Buffer<'_>]) -> Result<Value, Failure> {
    files(args, buffers)?;
    let list = buffers.iter().map(|buffer| {
        let shown = args.show.iter().find(|s| s.number == buffer.number);
        let ty = shown.map(|s| s.ty).or(buffer.ty).unwrap_or(DataType::Ud);
        let listed = shown.is_some() || buffer.bytes.len() <= SMALL;
        let elements = listed.then(|| {
            value::show(buffer.bytes, ty)
                .map(|e| number(&e))
                .collect::<Vec<_>>()
        });
        json!({
            "number": buffer.number,
            "name": buffer.name,
            "bytes": buffer.bytes.len(),
            "changed": buffer.changed,
            "type": ty.name(),
            "elements": elements,
        })
    });
    Ok(list.collect())
}

/// Records that the run was stopped.
pub(crate) fn stopped(all: &mut Value, stopped: bool) {
    if let (true, Some(all)) = (stopped, all.as_object_mut()) {
        all.insert("stopped".to_owned(), true.into());
    }
}

/// A number where JSON has it; infinities and NaN are strings.
pub(crate) fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// What `--stats` prints.
pub(crate) struct Stats {
    pub(crate) counters: Counters,
    pub(crate) time: Duration,
    pub(crate) translation: Option<(usize, Duration)>,
    /// Whether machine code was generated; `None` if that is not reported.
    pub(crate) compiled: Option<bool>,
}

impl Stats {
    fn rate(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        let operations = self.counters.lane_operations as f64;
        operations / self.time.as_secs_f64().max(1e-9)
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        writeln!(out, "{}", heading("statistics"))?;
        writeln!(out, "  instructions     {}", self.counters.instructions)?;
        writeln!(out, "  lane operations  {}", self.counters.lane_operations)?;
        writeln!(out, "  seconds          {:.6}", self.time.as_secs_f64())?;
        writeln!(out, "  lane operations a second  {:.0}", self.rate())?;
        if let Some((instructions, time)) = self.translation {
            writeln!(
                out,
                "  translation      {instructions} instructions in {:.6} seconds",
                time.as_secs_f64()
            )?;
        }
        if let Some(compiled) = self.compiled {
            let how = if compiled {
                "machine code"
            } else {
                "interpreter"
            };
            writeln!(out, "  ran in           {how}")?;
        }
        Ok(())
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "instructions": self.counters.instructions,
            "lane_operations": self.counters.lane_operations,
            "seconds": self.time.as_secs_f64(),
            "lane_operations_a_second": self.rate(),
            "translated_instructions": self.translation.map(|t| t.0),
            "translation_seconds": self.translation.map(|t| t.1.as_secs_f64()),
            "machine_code": self.compiled,
        })
    }
}
