//! Routines without any launch contract: variables are set by name, one thread runs, variables are examined.

use crate::config::{Compile, Config};
use crate::end::{End, Reason, standing};
use crate::error::LaunchError;
use visakit_exec::{
    Counters, Group, Interrupt, Limits, Memory, Observer, Program, Progress, ThreadStart,
    VariableClass, VariableSlot,
};
use visakit_isa::DataType;
use visakit_isa::object::{Object, RoutineId};

/// Shared local memory and scratch that a bare thread has, bytes each.
const OWN_BYTES: usize = 64 << 10;

/// A routine and the variables to start it with.
#[derive(Debug)]
pub struct Bare {
    program: Program,
    sets: Vec<(VariableSlot, Vec<u8>)>,
    /// Lanes that are live; bit n is lane n.
    pub mask: u32,
    /// Initial content of `%cr0`.
    pub cr0: u32,
    /// Bounds of the run.
    pub limits: Limits,
    /// Stops the run when it is raised.
    pub interrupt: Option<Interrupt>,
    memory: Memory,
}

/// The result of a bare run.
#[derive(Debug)]
pub struct BareOutcome {
    /// The thread's counters.
    pub counters: Counters,
    /// How the run ended.
    pub end: End,
    program: Program,
    group: Group,
}

/// A variable after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub data_type: DataType,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// It is a predicate: bit n of the bytes is that of lane n.
    pub predicate: bool,
}

impl Bare {
    /// Translates a routine, as the configuration wants it: [`Config::strict`], [`Config::count`], [`Config::passes`].
    ///
    /// # Errors
    /// [`LaunchError::Translate`].
    pub fn new(
        object: &Object<'_>,
        routine: RoutineId,
        grf_bytes: u32,
        config: &Config<'_>,
    ) -> Result<Self, LaunchError> {
        let program = Program::new(object, routine, &config.options(grf_bytes))?;
        let lanes = program.simd_size().clamp(1, 32);
        Ok(Self {
            program,
            sets: Vec::new(),
            mask: u32::MAX.checked_shr(32 - lanes).unwrap_or(u32::MAX),
            cr0: 0,
            limits: config.limits,
            interrupt: config.interrupt.cloned(),
            memory: Memory::new(64 << 30),
        })
    }

    /// Makes machine code of the program when it has run for long enough. It gives the same results.
    pub fn compile(&mut self, compile: &Compile<'_>) {
        compile.apply(&mut self.program);
    }

    /// The translated program.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Sets a variable before the run, by text: elements separated by commas, fewer than it has leave the rest zero.
    ///
    /// # Errors
    /// [`LaunchError::NoSuchVariable`], and [`LaunchError::Variable`] if the value does not fit.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), LaunchError> {
        let slot = self.slot(name)?;
        let fault = |message| LaunchError::Variable {
            name: name.to_owned(),
            message,
        };
        let bytes = crate::value::parse(text, slot.data_type).map_err(fault)?;
        self.fill(name, slot, bytes)
    }

    /// Sets a variable before the run, by its bytes.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn set_bytes(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), LaunchError> {
        let slot = self.slot(name)?;
        self.fill(name, slot, bytes)
    }

    fn fill(&mut self, name: &str, slot: VariableSlot, bytes: Vec<u8>) -> Result<(), LaunchError> {
        if bytes.len() > slot.bytes {
            return Err(LaunchError::Variable {
                name: name.to_owned(),
                message: format!("takes {} bytes, not {}", slot.bytes, bytes.len()),
            });
        }
        self.sets.push((slot, bytes));
        Ok(())
    }

    fn slot(&self, name: &str) -> Result<VariableSlot, LaunchError> {
        find(&self.program, name)
    }

    /// Global memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether invalid accesses are dropped instead of being a fault. Bare threads have no buffers.
    pub const fn set_lenient(&mut self, lenient: bool) {
        self.memory.set_lenient(lenient);
    }

    /// Shared local memory, and scratch memory: bytes of each.
    #[must_use]
    pub const fn own_bytes(&self) -> usize {
        OWN_BYTES
    }

    /// The registers that were set.
    pub fn sets(&self) -> impl Iterator<Item = &VariableSlot> {
        self.sets.iter().map(|(slot, _)| slot)
    }

    /// The thread before its first step, as a group, for callers that run it themselves.
    ///
    /// # Errors
    /// [`LaunchError::Fault`].
    pub fn group(&self) -> Result<Group, LaunchError> {
        let start = ThreadStart {
            mask: self.mask,
            sr0: [0, 0, self.mask, 0],
            cr0: self.cr0,
            scratch_bytes: OWN_BYTES,
            image: vec![0; image_bytes(&self.program)],
            sets: self.sets.clone(),
            ..ThreadStart::default()
        };
        Group::new(&self.program, OWN_BYTES, &[start], &self.limits).map_err(fault)
    }

    /// Runs the thread. A fault ends it, whatever the observer says to it.
    ///
    /// # Errors
    /// [`LaunchError::Fault`].
    pub fn run(self, observer: &mut impl Observer) -> Result<BareOutcome, LaunchError> {
        let mut group = self.group()?;
        let (program, limits) = (&self.program, &self.limits);
        let interrupt = self.interrupt.as_ref();
        let mut progress = Progress::OutOfFuel;
        while progress == Progress::OutOfFuel {
            let advanced =
                group.advance(program, &self.memory, limits, u64::MAX, interrupt, observer);
            progress = advanced.map_err(|found| {
                // There is no group after it.
                let _ = observer.fault(&found);
                fault(found)
            })?;
        }
        if progress == Progress::Ended {
            observer.ended();
        }
        let mut threads = Vec::new();
        standing(&mut threads, [0; 3], &group, program);
        let reason = (progress == Progress::Interrupted).then_some(Reason::Interrupted);
        Ok(BareOutcome {
            counters: group.counters(),
            end: End::new(reason, (0, 1), threads),
            program: self.program,
            group,
        })
    }
}

fn fault(fault: visakit_exec::Fault) -> LaunchError {
    LaunchError::Fault {
        group: None,
        fault: Box::new(fault),
    }
}

/// Bytes of a register image that covers the inputs.
pub(crate) fn image_bytes(program: &Program) -> usize {
    let ends = program
        .inputs()
        .iter()
        .map(|i| i.image_offset.saturating_add(i.size));
    ends.max().unwrap_or(0).max(64)
}

/// The variable of that name.
pub(crate) fn find(program: &Program, name: &str) -> Result<VariableSlot, LaunchError> {
    program.variable(name).ok_or_else(|| {
        let known: Vec<_> = program.variables().map(|(name, _)| name).take(8).collect();
        LaunchError::NoSuchVariable {
            name: name.to_owned(),
            hint: if known.is_empty() {
                String::new()
            } else {
                format!("; it has {} …", known.join(", "))
            },
        }
    })
}

impl BareOutcome {
    /// Whether machine code was made of the program.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.program.is_compiled()
    }

    /// A variable after the run.
    ///
    /// # Errors
    /// [`LaunchError::NoSuchVariable`].
    pub fn variable(&self, name: &str) -> Result<Shown, LaunchError> {
        let slot = find(&self.program, name)?;
        Ok(self.shown(name, &slot))
    }

    /// All general variables and predicates that the routine declares, in their order.
    pub fn variables(&self) -> impl Iterator<Item = Shown> + '_ {
        let wanted = |class| matches!(class, VariableClass::General | VariableClass::Predicate);
        let all = self
            .program
            .variables()
            .filter(move |(_, slot)| wanted(slot.class));
        all.map(|(name, slot)| self.shown(name, slot))
    }

    fn shown(&self, name: &str, slot: &VariableSlot) -> Shown {
        let thread = self.group.thread(0);
        Shown {
            name: name.to_owned(),
            data_type: slot.data_type,
            bytes: thread.map(|t| t.read(slot).to_vec()).unwrap_or_default(),
            predicate: slot.class == VariableClass::Predicate,
        }
    }
}
