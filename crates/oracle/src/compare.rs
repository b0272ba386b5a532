//! A routine in both machines.

use crate::float::{Format, Real};
use crate::generate::Case;
use crate::memory::{Binding, Memory as SlowMemory};
use crate::run::Machine;
use crate::state::{Halt, Loose, Storage};
use crate::value::{Precision, format_of};
use std::fmt;
use std::sync::{Arc, LazyLock};
use visakit_exec::memory::{ChannelOrder, ChannelType, Format as Texels, Image, Surface};
use visakit_exec::{
    BufferId, Counters, Examined, Group, Limits, Memory, Options, Pass, Program, ThreadStart,
    VariableSlot,
};
use visakit_isa::object::Item;
use visakit_isa::{PredicateId, VarId};
use visakit_jit::Jit;

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
    let mut machine = Machine::new(&case.object, Case::KERNEL, case.grf, case.mask)?;
    let scope = machine.scope(Case::KERNEL)?;
    let predefined = case.object.format().predefined_variable_count();
    for (index, variable) in (predefined..).zip(&scope.body.variables) {
        let name = scope.body.string(variable.name).unwrap_or_default();
        let set = case.sets.iter().find(|(n, _)| n.as_bytes() == name);
        if let (Some((_, bytes)), Some(locals)) = (set, machine.activations.first_mut())
            && let Some(storage) = locals.general.get_mut(&VarId(index))
        {
            for (to, from) in storage.bytes.iter_mut().zip(bytes) {
                *to = *from;
            }
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
/// whatever the numbers are, everything must be the same.
#[must_use]
pub fn compare_changed(case: &Case, changed: &Case) -> Verdict {
    let slow = match run_slow(case, STEPS) {
        Ok(machine) => machine,
        Err(halt) => return Verdict::Undefined(halt),
    };
    let first = case.object.format().predefined_variable_count();
    let compared = Fast::run(changed, None, Examined::Always).and_then(|fast| {
        let mut differences = fast.against(&slow, first)?;
        for jit in compilers() {
            // Registers that are examined at the end alone are stored less often, others perhaps never.
            for examined in [Examined::Always, Examined::AtEnd, Examined::Never] {
                differences.extend(fast.against_machine_code(changed, *jit, examined));
            }
        }
        Ok(differences)
    });
    match compared {
        Ok(differences) if differences.is_empty() => Verdict::Agree,
        Ok(differences) => Verdict::Differ(differences),
        Err(message) => Verdict::Fault(message),
    }
}

/// The compilers of this host.
fn compilers() -> &'static [Jit] {
    static COMPILERS: LazyLock<Vec<Jit>> = LazyLock::new(|| {
        let mut all: Vec<Jit> = [Jit::avx2(), Jit::host()].into_iter().flatten().collect();
        all.dedup();
        all
    });
    &COMPILERS
}

/// The fast machine after a run.
struct Fast {
    program: Program,
    memory: Memory,
    buffers: Vec<BufferId>,
    group: Group,
    counters: Counters,
}

impl Fast {
    /// Runs a case, in machine code if a compiler is given.
    fn run(case: &Case, compiler: Option<Jit>, examined: Examined) -> Result<Self, String> {
        let options = Options {
            grf_bytes: u32::try_from(case.grf).unwrap_or(32),
            strict: true,
            passes: Pass::IN_PLACE.to_vec(),
            ..Options::default()
        };
        let mut program =
            Program::new(&case.object, Case::KERNEL, &options).map_err(|e| e.to_string())?;
        if let Some(jit) = compiler {
            program.examine_registers(examined);
            program.compile_with(Arc::new(jit), 0);
        }
        let mut memory = Memory::new(1 << 30);
        let mut buffers = Vec::new();
        for bytes in &case.buffers {
            buffers.push(memory.add_buffer(bytes).map_err(|e| e.to_string())?);
        }
        for (binding, index) in &case.bindings {
            let buffer = *buffers.get(*index).ok_or("no such buffer")?;
            let whole = Surface::whole(buffer);
            let result = match binding {
                Binding::Table(at) => {
                    let row = u32::try_from(SlowMemory::ROW).unwrap_or(0);
                    let rows = case.buffers.get(*index).map_or(0, Vec::len) / SlowMemory::ROW;
                    let rows = u32::try_from(rows).unwrap_or(0);
                    let texels = Texels {
                        order: ChannelOrder::Rgba,
                        channel: ChannelType::Uint32,
                    };
                    let (width, format) = match case.images.iter().find(|(image, _)| image == at) {
                        Some((_, 1)) => (row, Some(Texels::R8_UINT)),
                        Some((_, size)) => (row / u32::try_from(*size).unwrap_or(1), Some(texels)),
                        None => (0, None),
                    };
                    let surface = format.map_or(whole, |format| {
                        Surface::Image2d(Image::new_2d(buffer, width, rows, row, format))
                    });
                    memory.bind(u8::try_from(*at).unwrap_or(0), surface)
                }
                Binding::Handle(handle) => memory.bind_handle(*handle, whole),
                Binding::State(offset) => memory.bind_state(*offset, whole),
            };
            result.map_err(|e| e.to_string())?;
        }
        for (index, (buffer, offset)) in &case.counters {
            let buffer = *buffers.get(*buffer).ok_or("no such buffer")?;
            memory.bind_counter(u8::try_from(*index).unwrap_or(0), buffer, *offset);
        }
        let slot = |name: &str| -> Result<VariableSlot, String> {
            program
                .variable(name)
                .ok_or_else(|| format!("no variable {name}"))
        };
        let mut sets = Vec::new();
        for (name, bytes) in &case.sets {
            sets.push((slot(name)?, bytes.clone()));
        }
        let start = ThreadStart {
            mask: case.mask,
            cr0: case.cr0,
            sets,
            ..ThreadStart::default()
        };
        let limits = Limits {
            max_steps: 2_000_000,
            ..Limits::default()
        };
        let starts = [start];
        let new =
            || Group::new(&program, case.local_bytes, &starts, &limits).map_err(|e| e.to_string());
        let mut group = new()?;
        let counters = group
            .run(&program, &memory, &limits, &mut ())
            .map_err(|e| e.to_string())?;
        // What a thread leaves behind is no different from new for the next one.
        let mut again = group.clone();
        again
            .reset(&program, case.local_bytes, &starts, &limits)
            .map_err(|e| e.to_string())?;
        let registers = |group: &Group| group.thread(0).map(|t| t.registers().to_vec());
        if registers(&again) != registers(&new()?) {
            return Err("a thread does not start with the registers of a new one".to_owned());
        }
        Ok(Self {
            program,
            memory,
            buffers,
            group,
            counters,
        })
    }

    /// The differences from the slow machine, whose first declared variable has the number `first`.
    fn against(&self, slow: &Machine<'_>, first: u32) -> Result<Vec<Difference>, String> {
        let Self {
            program,
            memory,
            buffers,
            group,
            ..
        } = self;
        let slot = |name: &str| -> Result<VariableSlot, String> {
            program
                .variable(name)
                .ok_or_else(|| format!("no variable {name}"))
        };
        let thread = group.thread(0).ok_or("no thread")?;
        let mut differences = Vec::new();
        let (Some(locals), Ok(scope)) = (slow.activations.first(), slow.scope(Case::KERNEL)) else {
            return Err("no variables".to_owned());
        };
        for (index, variable) in (first..).zip(&scope.body.variables) {
            let Some(storage) = locals.general.get(&VarId(index)) else {
                continue;
            };
            let name = scope.body.string(variable.name).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            let got = thread.read(&slot(&name)?);
            differ(&name, storage, got, &mut differences);
        }
        for (index, predicate) in (1..).zip(&scope.body.predicates) {
            let name = scope.body.string(predicate.name).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            let bytes = locals
                .predicates
                .get(&PredicateId(index))
                .map_or([0; 4], |p| p.to_le_bytes());
            let storage = Storage {
                bytes: bytes.to_vec(),
                ..Storage::default()
            };
            differ(
                &name,
                &storage,
                thread.read(&slot(&name)?),
                &mut differences,
            );
        }
        for (index, buffer) in buffers.iter().enumerate() {
            let storage = Storage {
                bytes: slow.memory.buffer(index).to_vec(),
                ..Storage::default()
            };
            let name = format!("buffer {index}");
            differ(&name, &storage, &memory.read(*buffer), &mut differences);
        }
        let storage = Storage {
            bytes: slow.memory.local.clone(),
            ..Storage::default()
        };
        differ("local memory", &storage, group.slm(), &mut differences);
        Ok(differences)
    }

    /// The differences between machine code and the interpreter: every byte that is examined is compared.
    fn against_machine_code(&self, case: &Case, jit: Jit, examined: Examined) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut note = |what: &str, offset: usize, expected: &[u8], got: &[u8]| {
            differences.push(Difference {
                name: format!("machine code ({:?}, {examined:?}), {what}", jit.features()),
                offset,
                expected: expected.to_vec(),
                got: got.to_vec(),
                precision: Precision::Exact,
            });
        };
        let native = match Self::run(case, Some(jit), examined) {
            Ok(native) => native,
            Err(fault) => {
                note(&fault, 0, &[], &[]);
                return differences;
            }
        };
        let mut steps = self.program.code().steps.iter();
        if !native.program.is_compiled() && steps.any(|step| step.action.is_straight()) {
            note("nothing was compiled", 0, &[], &[]);
            return differences;
        }
        let mut compare = |what: &str, expected: &[u8], got: &[u8]| {
            if expected.len() != got.len() {
                note(what, 0, &[], &[]);
            }
            let pairs = expected.chunks(4).zip(got.chunks(4)).enumerate();
            for (word, (expected, got)) in pairs.filter(|(_, (a, b))| a != b).take(4) {
                note(what, 4 * word, expected, got);
            }
        };
        let registers = |fast: &Self| fast.group.thread(0).map(|t| t.registers().to_vec());
        if examined != Examined::Never {
            compare(
                "registers",
                &registers(self).unwrap_or_default(),
                &registers(&native).unwrap_or_default(),
            );
        }
        compare("local memory", self.group.slm(), native.group.slm());
        for (one, other) in self.buffers.iter().zip(&native.buffers) {
            let (one, other) = (self.memory.read(*one), native.memory.read(*other));
            compare("a buffer", &one, &other);
        }
        let counts = |c: Counters| [c.instructions, c.lane_operations].map(u64::to_le_bytes);
        let (one, other) = (counts(self.counters), counts(native.counters));
        compare("counters", one.as_flattened(), other.as_flattened());
        differences
    }
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
