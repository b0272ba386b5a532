//! Folded stacks: a line for each place with its cycles, as tools that draw flame graphs read them.

use crate::cost::as_float;
use crate::data::{KernelProfile, Profile};
use std::fmt::Write;

/// Ways from a kernel to a routine that are distinguished; the rest of a program is left out of the stacks then.
const MOST_PATHS: usize = 10_000;

/// Stacks of kernel, called functions, source line and instruction, with the cycles of the cost model:
/// `kernel;function;file.cl:12;#40 lsc_load.slm 1234`.
///
/// Cycles of a function that is called at several places are divided among them by the number of calls.
#[must_use]
pub fn folded(profile: &Profile) -> String {
    let mut out = String::new();
    for kernel in &profile.kernels {
        for (routine, path, part) in paths(kernel) {
            for instruction in kernel.instructions.iter().filter(|i| i.routine == routine) {
                let cycles = as_float(instruction.counts.cycles) * part;
                if cycles < 0.5 {
                    continue;
                }
                out.push_str(&path);
                if let Some(line) = instruction.line {
                    let file = instruction.file.as_deref().unwrap_or("?");
                    let _ = write!(out, ";{}:{line}", frame(file));
                }
                let (number, mnemonic) = (instruction.instruction, frame(&instruction.mnemonic));
                let _ = writeln!(out, ";#{number} {mnemonic} {cycles:.0}");
            }
        }
    }
    out
}

/// A name as a frame: the characters that part frames and lines are replaced.
fn frame(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            ';' => ',',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

/// Routines with the ways to them, and which part of their cycles belongs to each way.
fn paths(kernel: &KernelProfile) -> Vec<(usize, String, f64)> {
    let mut found = Vec::new();
    let mut open = vec![(0, vec![0], 1.0)];
    let name = |routine: usize| {
        let routine = kernel.routines.get(routine);
        frame(routine.map_or("?", |r| r.name.as_str()))
    };
    // Calls of each routine that are known by place; of the others only the number is known.
    let mut known = vec![0u64; kernel.routines.len()];
    for instruction in &kernel.instructions {
        if let Some(calls) = instruction.calls.and_then(|routine| known.get_mut(routine)) {
            *calls += instruction.counts.executions;
        }
    }
    for (routine, known) in known.iter().enumerate().skip(1) {
        let calls = kernel.routines.get(routine).map_or(0, |r| r.calls);
        if calls > *known {
            let rest = as_float(calls - known) / as_float(calls);
            open.push((routine, vec![0, routine], rest));
        }
    }
    while let Some((routine, path, part)) = open.pop() {
        if found.len() >= MOST_PATHS {
            break;
        }
        let names: Vec<_> = path.iter().map(|routine| name(*routine)).collect();
        found.push((routine, names.join(";"), part));
        for callee in 1..kernel.routines.len() {
            // Recursion stays where it began.
            if path.contains(&callee) {
                continue;
            }
            let calls = kernel.routines.get(callee).map_or(0, |r| r.calls);
            let here = kernel.instructions.iter();
            let here = here.filter(|i| i.routine == routine && i.calls == Some(callee));
            let here: u64 = here.map(|i| i.counts.executions).sum();
            if here > 0 && calls > 0 {
                let mut path = path.clone();
                path.push(callee);
                open.push((callee, path, part * as_float(here) / as_float(calls)));
            }
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}
