//! The fast machine: the interpreter, and machine code.

use super::Difference;
use crate::generate::{Case, Start};
use crate::memory::{Binding, Memory as SlowMemory};
use crate::value::Precision;
use fastrand::Rng;
use std::sync::{Arc, LazyLock};
use visakit_exec::memory::{ChannelOrder, ChannelType, Format as Texels, Image, Surface};
use visakit_exec::{
    BufferId, Examined, Group, Limits, Memory, Options, Pass, Program, Progress, ThreadStart,
    VariableSlot,
};
use visakit_jit::Jit;

/// The compilers of this host.
fn compilers() -> &'static [Jit] {
    static COMPILERS: LazyLock<Vec<Jit>> = LazyLock::new(|| {
        let mut all: Vec<Jit> = [Jit::avx2(), Jit::host()].into_iter().flatten().collect();
        all.dedup();
        all
    });
    &COMPILERS
}

/// Instructions of a launch.
const MOST_STEPS: u64 = 2_000_000;

/// Most instructions after which machine code is stopped, in every other run.
const MOST_FUEL: u64 = 100;

/// A case that is translated, and perhaps compiled.
pub(super) struct Fast<'c> {
    case: &'c Case,
    program: Program,
}

/// The fast machine after a launch.
pub(super) struct Ran {
    pub(super) memory: Memory,
    pub(super) buffers: Vec<BufferId>,
    pub(super) group: Group,
    /// Why it did not run to its end.
    pub(super) fault: Option<String>,
}

impl<'c> Fast<'c> {
    pub(super) fn new(
        case: &'c Case,
        compiler: Option<Jit>,
        examined: Examined,
    ) -> Result<Self, String> {
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
        Ok(Self { case, program })
    }

    /// The place of a variable.
    pub(super) fn slot(&self, name: &str) -> Result<VariableSlot, String> {
        let slot = self.program.variable(name);
        slot.ok_or_else(|| format!("no variable {name}"))
    }

    fn memory(&self) -> Result<(Memory, Vec<BufferId>), String> {
        let case = self.case;
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
        Ok((memory, buffers))
    }

    fn thread(&self, start: &Start) -> Result<ThreadStart, String> {
        let mut sets = Vec::new();
        for (name, bytes) in &start.sets {
            sets.push((self.slot(name)?, bytes.clone()));
        }
        Ok(ThreadStart {
            mask: start.mask,
            cr0: self.case.cr0,
            sets,
            ..ThreadStart::default()
        })
    }

    /// Runs a launch, so many instructions at a time.
    fn run(&self, launch: &[Start], fuel: u64) -> Result<Ran, String> {
        let (memory, buffers) = self.memory()?;
        let starts = launch.iter().map(|start| self.thread(start));
        let starts: Vec<ThreadStart> = starts.collect::<Result<_, String>>()?;
        let limits = Limits {
            max_steps: MOST_STEPS,
            ..Limits::default()
        };
        let bytes = self.case.local_bytes;
        let new = || Group::new(&self.program, bytes, &starts, &limits).map_err(|e| e.to_string());
        let mut group = new()?;
        let fault = loop {
            match group.advance(&self.program, &memory, &limits, fuel, None, &mut ()) {
                Ok(Progress::Ended) => break None,
                Ok(_) => {}
                Err(fault) => break Some(fault.to_string()),
            }
        };
        // What a group leaves behind is no different from new for the next one.
        let mut again = group.clone();
        again
            .reset(&self.program, bytes, &starts, &limits)
            .map_err(|e| e.to_string())?;
        if registers(&again) != registers(&new()?) {
            return Err("a thread does not start with the registers of a new one".to_owned());
        }
        Ok(Ran {
            memory,
            buffers,
            group,
            fault,
        })
    }

    /// Runs all launches.
    pub(super) fn all(&self) -> Result<Vec<Ran>, String> {
        let launches = self.case.launches.iter();
        launches.map(|launch| self.run(launch, u64::MAX)).collect()
    }

    /// The differences between machine code and the interpreter, which has run all launches, in one go and stopped now and then: every byte that is
    /// examined is compared.
    pub(super) fn against_machine_code(&self, expected: &[Ran]) -> Result<Vec<Difference>, String> {
        let mut differences = Vec::new();
        let launches = &self.case.launches;
        let mut steps = self.program.code().steps.iter();
        let is_straight = steps.any(|step| step.action.is_straight());
        let mut rng = Rng::with_seed(self.program.code().steps.len() as u64);
        for jit in compilers() {
            // Registers that are examined at the end alone are stored less often, others perhaps never.
            for examined in [Examined::Always, Examined::AtEnd, Examined::Never] {
                let native = Self::new(self.case, Some(*jit), examined)?;
                let mut compared = Compared {
                    name: format!("machine code ({:?}, {examined:?})", jit.features()),
                    differences: &mut differences,
                };
                if !native.program.is_compiled() && is_straight {
                    compared.note("nothing was compiled", 0, &[], &[]);
                    continue;
                }
                for (launch, expected) in launches.iter().zip(expected) {
                    for fuel in [u64::MAX, rng.u64(1..MOST_FUEL)] {
                        let found = native.run(launch, fuel)?;
                        let at_end = expected.fault.is_none() && examined != Examined::Never;
                        let with_registers = self.case.registers && at_end;
                        compared.runs(expected, &found, with_registers);
                    }
                }
            }
        }
        Ok(differences)
    }
}

fn registers(group: &Group) -> Vec<u8> {
    let all = (0..).map_while(|n| group.thread(n));
    all.flat_map(visakit_exec::Thread::registers)
        .copied()
        .collect()
}

/// Differences of machine code from the interpreter.
struct Compared<'d> {
    /// Which code it is.
    name: String,
    differences: &'d mut Vec<Difference>,
}

impl Compared<'_> {
    fn note(&mut self, what: &str, offset: usize, expected: &[u8], got: &[u8]) {
        self.differences.push(Difference {
            name: format!("{}, {what}", self.name),
            offset,
            expected: expected.to_vec(),
            got: got.to_vec(),
            precision: Precision::Exact,
        });
    }

    fn bytes(&mut self, what: &str, expected: &[u8], got: &[u8]) {
        if expected.len() != got.len() {
            self.note(what, 0, &[], &[]);
        }
        let pairs = expected.chunks(4).zip(got.chunks(4)).enumerate();
        for (word, (expected, got)) in pairs.filter(|(_, (a, b))| a != b).take(4) {
            self.note(what, 4 * word, expected, got);
        }
    }

    fn runs(&mut self, expected: &Ran, found: &Ran, with_registers: bool) {
        if expected.fault != found.fault {
            let what = |ran: &Ran| ran.fault.clone().unwrap_or_default().into_bytes();
            self.note("the fault", 0, &what(expected), &what(found));
        }
        if with_registers {
            let [one, other] = [expected, found].map(|ran| registers(&ran.group));
            self.bytes("registers", &one, &other);
        }
        self.bytes("local memory", expected.group.slm(), found.group.slm());
        for (one, other) in expected.buffers.iter().zip(&found.buffers) {
            let (one, other) = (expected.memory.read(*one), found.memory.read(*other));
            self.bytes("a buffer", &one, &other);
        }
        let [one, other] = [expected, found].map(|ran| {
            let counters = ran.group.counters();
            [counters.instructions, counters.lane_operations].map(u64::to_le_bytes)
        });
        self.bytes("counters", one.as_flattened(), other.as_flattened());
    }
}
