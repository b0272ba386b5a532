//! A routine in both machines, and in machine code.

mod fast;

use crate::float::{Format, Real};
use crate::generate::Case;
use crate::memory::Memory as SlowMemory;
use crate::run::Machine;
use crate::state::{Halt, Loose, Storage};
use crate::value::{Precision, format_of};
use fast::{Fast, Ran};
use std::fmt;
use visakit_exec::Examined;
use visakit_isa::object::Item;
use visakit_isa::{PredicateId, VarId};

/// A place where the two machines differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The variable or buffer.
    pub name: String,
    /// Offset in bytes.
    pub offset: usize,
    /// The value in the slow machine.
    pub expected: Vec<u8>,
    /// The value in the fast machine.
    pub got: Vec<u8>,
    /// How closely it is defined.
    pub precision: Precision,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |bytes: &[u8]| {
            let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
            format!("0x{digits}")
        };
        write!(
            f,
            "{} byte {}: expected {} ({:?}), got {}",
            self.name,
            self.offset,
            number(&self.expected),
            self.precision,
            number(&self.got)
        )
    }
}

/// The result of a case.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Both machines agree.
    Agree,
    /// They differ.
    Differ(Vec<Difference>),
    /// The fast machine refused or faulted.
    Fault(String),
    /// The definitions do not say what the routine does.
    Undefined(Halt),
}

/// Runs a case in the slow machine.
///
/// # Errors
/// What is undefined or unknown.
pub fn run_slow(case: &Case, limit: u64) -> Result<Machine<'_>, Halt> {
    let mut machine = prepare(case)?;
    machine.run(limit)?;
    Ok(machine)
}

fn prepare(case: &Case) -> Result<Machine<'_>, Halt> {
    let mask = case.start().map_or(0, |start| start.mask);
    let mut machine = Machine::new(&case.object, Case::KERNEL, case.grf, mask)?;
    let scope = machine.scope(Case::KERNEL)?;
    let predefined = case.object.format().predefined_variable_count();
    for (index, variable) in (predefined..).zip(&scope.body.variables) {
        let name = scope.body.string(variable.name).unwrap_or_default();
        if let (Some(bytes), Some(locals)) = (case.set(name), machine.activations.first_mut())
            && let Some(storage) = locals.general.get_mut(&VarId(index))
        {
            for (to, from) in storage.bytes.iter_mut().zip(bytes) {
                *to = *from;
            }
        }
    }
    for (id, predicate) in (1..).zip(&scope.body.predicates) {
        let name = scope.body.string(predicate.name).unwrap_or_default();
        let words = case.set(name).and_then(|bytes| bytes.first_chunk());
        if let (Some(bits), Some(locals)) = (words, machine.activations.first_mut()) {
            let bits = u32::from_le_bytes(*bits);
            locals.predicates.insert(PredicateId(id), bits);
        }
    }
    let known = case.object.format().predefined_variables();
    if let Some(index) = known.iter().position(|v| v.name == "cr0") {
        let id = VarId(u32::try_from(index).unwrap_or(0));
        if let Some(storage) = machine.shared.general.get_mut(&id) {
            storage.bytes = case.cr0.to_le_bytes().to_vec();
        }
    }
    machine.memory = SlowMemory::of(case);
    Ok(machine)
}

/// Takes out the instructions that the definitions leave open, one after the other.
///
/// Returns those that were taken out, with the reasons; instructions move up.
pub fn prune(case: &mut Case) -> Vec<(visakit_isa::Op, Halt)> {
    let mut removed = Vec::new();
    loop {
        let place = {
            let Ok(mut machine) = prepare(case) else {
                return removed;
            };
            match machine.run(STEPS) {
                Ok(()) => return removed,
                Err(halt) => (machine.place(), halt),
            }
        };
        let (Some(place), halt) = place else {
            return removed;
        };
        let Some(body) = case.object.kernels.first_mut().and_then(|k| k.body_mut()) else {
            return removed;
        };
        if place >= body.code.len() {
            return removed;
        }
        if let Item::Instruction(instruction) = body.code.remove(place) {
            removed.push((instruction.op, halt));
        }
    }
}

/// Number of instructions after which the slow machine gives up.
pub const STEPS: u64 = 20_000;

/// Runs a case in both machines.
#[must_use]
pub fn compare(case: &Case) -> Verdict {
    compare_changed(case, case)
}

/// Runs a case in the slow machine, and in the fast one the result of applying a pass to it: by name,
/// whatever the numbers are, everything must be the same. The fast machine runs in machine code, too.
#[must_use]
pub fn compare_changed(case: &Case, changed: &Case) -> Verdict {
    let slow = match case.start() {
        Some(_) => run_slow(case, STEPS),
        None => Err(Halt::Undefined("several threads")),
    };
    let first = case.object.format().predefined_variable_count();
    let compared = Fast::new(changed, None, Examined::Always).and_then(|fast| {
        let all = fast.all()?;
        let mut differences = fast.against_machine_code(&all)?;
        if let (Ok(slow), Some(ran)) = (&slow, all.first()) {
            if let Some(fault) = &ran.fault {
                return Err(fault.clone());
            }
            against(&fast, ran, slow, first, &mut differences)?;
        }
        Ok(differences)
    });
    match (compared, slow) {
        (Err(message), _) => Verdict::Fault(message),
        (Ok(differences), _) if !differences.is_empty() => Verdict::Differ(differences),
        (_, Err(halt)) => Verdict::Undefined(halt),
        (_, Ok(_)) => Verdict::Agree,
    }
}

/// The differences from the slow machine, whose first declared variable has the number `first`.
fn against(
    fast: &Fast<'_>,
    ran: &Ran,
    slow: &Machine<'_>,
    first: u32,
    differences: &mut Vec<Difference>,
) -> Result<(), String> {
    let thread = ran.group.thread(0).ok_or("no thread")?;
    let (Some(locals), Ok(scope)) = (slow.activations.first(), slow.scope(Case::KERNEL)) else {
        return Err("no variables".to_owned());
    };
    for (index, variable) in (first..).zip(&scope.body.variables) {
        let Some(storage) = locals.general.get(&VarId(index)) else {
            continue;
        };
        let name = scope.body.string(variable.name).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        differ(&name, storage, thread.read(&fast.slot(&name)?), differences);
    }
    let plain = |bytes: Vec<u8>| Storage {
        bytes,
        ..Storage::default()
    };
    for (index, predicate) in (1..).zip(&scope.body.predicates) {
        let name = scope.body.string(predicate.name).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        let bits = locals.predicates.get(&PredicateId(index));
        let storage = plain(bits.map_or([0; 4], |bits| bits.to_le_bytes()).to_vec());
        differ(
            &name,
            &storage,
            thread.read(&fast.slot(&name)?),
            differences,
        );
    }
    for (index, buffer) in ran.buffers.iter().enumerate() {
        let storage = plain(slow.memory.buffer(index).to_vec());
        let name = format!("buffer {index}");
        differ(&name, &storage, &ran.memory.read(*buffer), differences);
    }
    let storage = plain(slow.memory.local.clone());
    differ("local memory", &storage, ran.group.slm(), differences);
    Ok(())
}

fn differ(name: &str, storage: &Storage, got: &[u8], differences: &mut Vec<Difference>) {
    let mut note = |offset: usize, size: usize, precision: Precision| {
        let part = |bytes: &[u8]| bytes.get(offset..offset + size).unwrap_or(&[]).to_vec();
        differences.push(Difference {
            name: name.to_owned(),
            offset,
            expected: part(&storage.bytes),
            got: part(got),
            precision,
        });
    };
    if got.len() < storage.bytes.len() {
        note(0, storage.bytes.len(), Precision::Exact);
        return;
    }
    if storage.loose.is_empty() && got.starts_with(&storage.bytes) {
        return;
    }
    let mut at = 0;
    while at < storage.bytes.len() {
        if let Some(loose) = storage.loose.get(&at) {
            let part = |bytes: &[u8]| {
                let mut bits = [0; 8];
                for (to, from) in bits.iter_mut().zip(&bytes[at..at + loose.size]) {
                    *to = *from;
                }
                u64::from_le_bytes(bits)
            };
            if !meets(part(&storage.bytes), part(got), *loose) {
                note(at, loose.size, loose.precision);
            }
            at += loose.size;
            continue;
        }
        if storage.bytes[at] != got[at] {
            let start = at / 4 * 4;
            note(start, 4.min(storage.bytes.len() - start), Precision::Exact);
            at = start + 4;
            continue;
        }
        at += 1;
    }
}

/// Whether a value is as close as required.
fn meets(expected: u64, got: u64, loose: Loose) -> bool {
    let real = |format: Format, bits: u64| Real { format, bits };
    let format = match loose.precision {
        Precision::AnyNan(format) => format,
        _ => match format_of(loose.ty) {
            Some(format) => format,
            None => return expected == got || loose.precision == Precision::Undefined,
        },
    };
    let (a, b) = (real(format, expected), real(format, got));
    match loose.precision {
        Precision::Undefined => true,
        Precision::Exact => expected == got,
        Precision::AnyNan(_) => b.is_nan(),
        Precision::AnyZero => b.is_zero(),
        Precision::Ulps(n) => !b.is_nan() && (a.place() - b.place()).abs() <= i128::from(n),
        Precision::Absolute(slack) => (a.to_f64() - b.to_f64()).abs() <= f64::from_bits(slack),
    }
}
