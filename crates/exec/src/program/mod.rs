//! A translated kernel: its code, its register file, and the names of its contents.

mod image;
mod load;
mod names;
mod start;

pub(crate) use image::Image;
pub(crate) use load::{Loaded, Masking, Work};
pub use start::ThreadStart;
pub(crate) use start::{Again, Set};

use crate::code::{Code, Liveness, StepCounts, Tallies};
use crate::fault::TranslateError;
use crate::lanes::mode::FloatMode;
use crate::native::{Compiler, Native, USUAL_MODE};
use crate::passes;
use crate::translate::layout::Layout;
use crate::translate::{self, Options, Watched};
use crate::variables::{DeclaredVariable, InputClass, InputSlot, VariableClass, VariableSlot};
use load::Steps;
use names::declared;
use start::Entry;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use visakit_isa::object::{Body, InputKind, Object, RoutineId};

/// When the registers of threads are examined from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Examined {
    /// Whenever a thread stops.
    #[default]
    Always,
    /// When it has ended without a fault.
    AtEnd,
    /// Never: only memory is.
    Never,
}

/// A translated kernel with the functions of its object.
#[derive(Debug)]
pub struct Program {
    code: Code,
    /// The code, bound to its implementation.
    steps: Steps,
    /// Machine code.
    native: OnceLock<Option<Box<dyn Native>>>,
    /// Who makes it, and after how many instructions.
    compiler: Option<(Arc<dyn Compiler>, u64)>,
    examined: Examined,
    /// Instructions that ran so far, while there may be machine code some time.
    ran: AtomicU64,
    /// What was counted, if the program counts.
    counting: Option<Counting>,
    pub(crate) image: Arc<Image>,
    pub(crate) taken: Arc<[Range<usize>]>,
    /// See [`Options::stray_reads`].
    pub(crate) stray_reads: bool,
    /// The initial contents of variables.
    contents: Vec<Range<usize>>,
    inputs: Vec<InputSlot>,
    /// Bytes of a payload that fills all inputs.
    pub(crate) payload_bytes: usize,
    predefined: Vec<(&'static str, VariableSlot)>,
    /// Variables of each routine of the code.
    declared: Vec<Vec<DeclaredVariable>>,
    /// What the start of a thread sets.
    pub(crate) entry: Entry,
    again: OnceLock<Again>,
    simd_size: u32,
    grf_bytes: u32,
}

/// Counters of all threads that ran.
#[derive(Debug)]
struct Counting {
    tallies: Tallies,
    totals: Box<[AtomicU64]>,
}

impl Program {
    /// Translates a kernel (or, for tests, a function) of an object.
    ///
    /// # Errors
    /// No such routine, a routine that was not decoded, contradicting declarations, and in strict
    /// mode the first unsupported instruction.
    pub fn new(
        object: &Object<'_>,
        kernel: RoutineId,
        options: &Options,
    ) -> Result<Self, TranslateError> {
        if !matches!(options.grf_bytes, 32 | 64) {
            return Err(TranslateError::Declaration {
                routine: kernel,
                reason: format!(
                    "registers of {} bytes; there are 32 and 64",
                    options.grf_bytes
                ),
            });
        }
        let bodies = translate::reachable(object, kernel)?;
        let tables: Vec<_> = bodies.iter().map(|(id, _, body)| (*id, *body)).collect();
        let layout = Layout::new(object, &tables, options)?;
        let format = object.format();
        let range = |name: &str| {
            let index = format
                .predefined_variables()
                .iter()
                .position(|v| v.name == name)?;
            let place = layout.predefined.get(index)?;
            Some(place.offset..place.offset + place.available)
        };
        let watched = Watched {
            cr0: range("cr0"),
            ce0: range("ce0"),
            tsc: range("tsc"),
        };
        let layout = RefCell::new(layout);
        let mut code = translate::routines(object, &bodies, &layout, &watched, options)?;
        let mut layout = layout.into_inner();
        layout.finish();
        code.constants = std::mem::take(&mut layout.constants);
        code.register_bytes = layout.size;
        debug_assert_eq!(code.verify(), Ok(()));
        let moves = passes::run(&mut code, &options.passes, &layout.own);
        layout.relocate(&moves);
        let counting = options.count.then(|| {
            let tallies = code.count();
            let totals = tallies.counters.clone().step_by(8);
            let totals = totals.map(|_| AtomicU64::new(0)).collect();
            Counting { tallies, totals }
        });
        debug_assert_eq!(code.verify(), Ok(()));
        let mut program = Self {
            simd_size: 1,
            image: Arc::default(),
            taken: std::mem::take(&mut layout.taken).into(),
            stray_reads: options.stray_reads,
            contents: layout
                .contents
                .iter()
                .map(|(at, b)| *at..at + b.len())
                .collect(),
            inputs: Vec::new(),
            payload_bytes: 0,
            predefined: Vec::new(),
            declared: Vec::new(),
            entry: Entry::default(),
            again: OnceLock::new(),
            grf_bytes: options.grf_bytes,
            steps: Steps::new(&code),
            native: OnceLock::new(),
            compiler: None,
            examined: Examined::Always,
            ran: AtomicU64::new(0),
            counting,
            code,
        };
        let mut image = vec![0; program.code.register_bytes];
        let mut put = |place: usize, bytes: &[u8]| {
            if let Some(to) = image.get_mut(place..place + bytes.len()) {
                to.copy_from_slice(bytes);
            }
        };
        layout.contents.iter().for_each(|(at, b)| put(*at, b));
        let constants = &program.code.constants;
        constants.iter().for_each(|(at, b)| put(*at, b));
        let predefined = format.predefined_variables().iter().zip(&layout.predefined);
        program.predefined = predefined
            .map(|(variable, place)| (variable.name, place.slot(VariableClass::General)))
            .collect();
        program.entry = Entry::new(|name| program.predefined(name).cloned());
        let routines = layout.routines.iter().zip(&tables);
        program.declared = routines
            .map(|(routine, (_, body))| declared(format, routine, body))
            .collect();
        if let Some((_, body)) = tables.first() {
            program.collect_inputs(body);
            let attribute = body
                .attribute("SimdSize")
                .and_then(visakit_isa::object::Attribute::number);
            program.simd_size = attribute
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| (1..=32).contains(n))
                .unwrap_or_else(|| program.code.largest.max(1));
        }
        let ends = program.inputs.iter().map(|i| i.image_offset + i.size);
        let header = program
            .entry
            .r0
            .as_ref()
            .map(|_| options.grf_bytes as usize);
        program.payload_bytes = ends.chain(header).max().unwrap_or(0);
        program.image = Arc::new(program.image_of(image));
        Ok(program)
    }

    /// The initial content of registers, with the parts that threads change.
    fn image_of(&self, bytes: Vec<u8>) -> Image {
        let facts = self.entry.facts.iter().map(start::Set::range);
        let set = self.entry.header(self.grf_bytes).into_iter().chain(facts);
        let set = set.chain(self.inputs.iter().map(InputSlot::range));
        Image::new(bytes, &self.code, &self.taken, set)
    }

    /// What the next start of the same thread has to set. Computed when threads are first reused.
    pub(crate) fn again(&self) -> &Again {
        self.again.get_or_init(|| self.plan_again())
    }

    fn plan_again(&self) -> Again {
        let exposed = crate::code::exposed(&self.code, &self.taken);
        let exposed = exposed.as_deref();
        let is_read = |part: &Range<usize>| {
            let bytes = exposed.map(|exposed| exposed.get(part.clone()).unwrap_or(&[]));
            bytes.is_none_or(|bytes| bytes.contains(&true))
        };
        let header = self.entry.header(self.grf_bytes).unwrap_or_default();
        let facts = &self.entry.facts;
        let of_group = |part: &Range<usize>| {
            let overlaps = |other: &Range<usize>| other.start < part.end && part.start < other.end;
            let mut facts = facts.iter().filter(|set| set.fact.of_group());
            overlaps(&header) || facts.any(|set| overlaps(&set.range()))
        };
        let differs =
            |part: &Range<usize>| is_read(part) && (of_group(part) || self.image.may_change(part));
        let differing = facts.iter().enumerate();
        let differing = differing.filter(|(_, set)| differs(&set.range()));
        let (cr0, facts): (Vec<_>, Vec<_>) =
            differing.partition(|(_, set)| set.fact.is_cr0() && set.slot.bytes == 4);
        let inputs = self.inputs.iter().enumerate();
        let of_header = |input: &InputSlot| {
            input.image_offset < self.grf_bytes as usize && is_read(&input.range())
        };
        Again {
            lanes: crate::code::lanes(&self.code),
            parts: self.image.of_changed(exposed),
            header: (0..header.len())
                .step_by(4)
                .filter(|at| is_read(&(header.start + at..header.start + at + 4)))
                .collect(),
            cr0: cr0.first().map(|(_, set)| set.slot.offset),
            facts: facts.into_iter().map(|(number, _)| number).collect(),
            inputs: inputs
                .filter(|(_, input)| of_header(input) || differs(&input.range()))
                .map(|(number, _)| number)
                .collect(),
        }
    }

    fn collect_inputs(&mut self, body: &Body<'_>) {
        for input in &body.inputs {
            let (class, variable) = match input.kind.class() {
                InputKind::SAMPLER => (InputClass::Sampler, VariableClass::Sampler),
                InputKind::SURFACE => (InputClass::Surface, VariableClass::Surface),
                _ => (InputClass::General, VariableClass::General),
            };
            let Some(declared) = self.numbered(variable, input.index) else {
                continue;
            };
            let (name, place) = (declared.display_name(), declared.slot.offset);
            self.inputs.push(InputSlot {
                name,
                class,
                kind: input.kind,
                index: input.index,
                // Offsets are 16 bits wide; kernels with large payloads use all of them.
                image_offset: usize::from(input.offset.cast_unsigned()),
                size: usize::from(input.size),
                place,
            });
        }
    }

    /// The inputs of the kernel, in their order in the object.
    #[must_use]
    pub fn inputs(&self) -> &[InputSlot] {
        &self.inputs
    }

    /// The variable with that name: the kernel's own (its name in the table, or `V32`, `A0`, `P1`, `T6`, `S0` by
    /// number) or a predefined one (`%r0`, `%thread_x`). The first of equal names.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<VariableSlot> {
        if let Some(name) = name.strip_prefix('%') {
            let found = self.predefined.iter().find(|(n, _)| *n == name);
            return found.map(|(_, slot)| slot.clone());
        }
        if let Some((_, slot)) = self.variables().find(|(n, _)| *n == name) {
            return Some(slot.clone());
        }
        let (letter, number) = name.split_at_checked(1)?;
        let class = match letter {
            "V" => VariableClass::General,
            "A" => VariableClass::Address,
            "P" => VariableClass::Predicate,
            "T" => VariableClass::Surface,
            "S" => VariableClass::Sampler,
            _ => return None,
        };
        let variable = self.numbered(class, number.parse().ok()?)?;
        Some(variable.slot.clone())
    }

    /// The variables that the kernel declares with a name, in table order, class by class.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &VariableSlot)> {
        let all = self.declared(0).iter();
        all.filter_map(|variable| Some((variable.name.as_deref()?, &variable.slot)))
    }

    /// The kernel's variable with this number.
    fn numbered(&self, class: VariableClass, number: u32) -> Option<&DeclaredVariable> {
        let all = self.declared(0);
        let place = all.binary_search_by_key(&(class, number), |v| (v.slot.class, v.number));
        all.get(place.ok()?)
    }

    /// The variables of a routine, by its place in [`Code::routines`]: class by class, in table order.
    #[must_use]
    pub fn declared(&self, routine: usize) -> &[DeclaredVariable] {
        self.declared.get(routine).map_or(&[], Vec::as_slice)
    }

    /// The predefined variables, by their names without `%`.
    pub fn predefined_variables(&self) -> impl Iterator<Item = (&'static str, &VariableSlot)> {
        self.predefined.iter().map(|(name, slot)| (*name, slot))
    }

    /// The kernel's attribute `SimdSize`, else the largest execution size of its control flow (at
    /// most 32).
    #[must_use]
    pub fn simd_size(&self) -> u32 {
        self.simd_size
    }

    /// Bytes of a register of the target.
    #[must_use]
    pub fn grf_bytes(&self) -> u32 {
        self.grf_bytes
    }

    /// Bytes of a thread's register file.
    #[must_use]
    pub fn register_bytes(&self) -> usize {
        self.image.bytes.len()
    }

    /// The address that `faddr` returns for a function of the object, for tables of functions in data. `None` for
    /// functions that the kernel cannot call.
    #[must_use]
    pub fn function_address(&self, name: &str) -> Option<u64> {
        let place = self
            .code
            .routines
            .iter()
            .skip(1)
            .position(|r| r.name == name)?;
        Some(Code::function_address(place + 1))
    }

    /// Parts of the register file that hold something when a thread starts: constants, predefined variables and inputs.
    #[must_use]
    pub fn defined(&self) -> Vec<Range<usize>> {
        let constants = self.code.constants.iter().map(|(at, b)| *at..at + b.len());
        let contents = self.contents.iter().cloned();
        // Callers and callees may write what they pass.
        let predefined = self
            .predefined
            .iter()
            .filter(|(name, _)| !matches!(*name, "arg" | "retval"));
        let predefined = predefined.map(|(_, slot)| slot.offset..slot.offset + slot.bytes);
        let inputs = self
            .inputs
            .iter()
            .map(|input| input.place..input.place + input.size);
        let all = constants.chain(contents).chain(predefined).chain(inputs);
        all.collect()
    }

    /// Parts of the register file that addresses may point at, ascending: a variable each, rounded up to registers.
    #[must_use]
    pub fn addressed(&self) -> &[Range<usize>] {
        &self.taken
    }

    /// The translated code.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The code, bound to its implementation in a float mode.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn steps(&self, mode: FloatMode) -> &[Loaded] {
        self.steps.in_mode(&self.code, mode)
    }

    /// Which lanes a step of the code works on.
    pub(crate) fn masking(&self, step: usize) -> Option<&Masking> {
        let steps = self.steps(FloatMode::from_cr0(USUAL_MODE));
        steps.get(step).map(|step| &step.masking)
    }

    /// Compiles the code when this many instructions have run (0: at once). Threads continue in machine code at their
    /// next turn.
    pub fn compile_with(&mut self, compiler: Arc<dyn Compiler>, after: u64) {
        self.compiler = Some((compiler, after));
        if after == 0 {
            self.compile();
        }
    }

    /// Says when registers are examined. Machine code that is made after this leaves in them, at other times, only what
    /// the program reads again.
    pub const fn examine_registers(&mut self, when: Examined) {
        self.examined = when;
    }

    fn compile(&self) {
        let Some((compiler, _)) = &self.compiler else {
            return;
        };
        self.native.get_or_init(|| {
            let ends = match self.examined {
                Examined::Always => None,
                Examined::AtEnd => Some(true),
                Examined::Never => Some(false),
            };
            let live = ends.and_then(|ends| Liveness::new(&self.code, &self.taken, ends));
            compiler.compile(&self.code, live.as_ref())
        });
    }

    /// Counts instructions that ran, and compiles when they are enough.
    pub(crate) fn count(&self, instructions: u64) {
        let Some((_, after)) = &self.compiler else {
            return;
        };
        if self.native.get().is_none()
            && self
                .ran
                .fetch_add(instructions, Relaxed)
                .saturating_add(instructions)
                >= *after
        {
            self.compile();
        }
    }

    /// Collects what the counters of a register file have counted, and resets them.
    pub(crate) fn collect(&self, file: &mut [u8]) {
        let Some(Counting { tallies, totals }) = &self.counting else {
            return;
        };
        let counters = file.get_mut(tallies.counters.clone()).unwrap_or_default();
        let (counters, _) = counters.as_chunks_mut::<8>();
        for (counter, total) in counters.iter_mut().zip(totals) {
            let more = u64::from_le_bytes(std::mem::take(counter));
            if more != 0 {
                total.fetch_add(more, Relaxed);
            }
        }
    }

    /// Whether the program counts what runs.
    #[must_use]
    pub const fn counts(&self) -> bool {
        self.counting.is_some()
    }

    /// The counts of each step of [`Self::code`], in all runs since the last call. `None` if the program was not
    /// translated with [`Options::count`].
    ///
    /// A block is counted when it is entered: of threads that were stopped or faulted, the steps of the block that were
    /// not reached are counted as well.
    #[must_use]
    pub fn take_counts(&self) -> Option<Vec<StepCounts>> {
        let Counting { tallies, totals } = self.counting.as_ref()?;
        let totals: Vec<_> = totals.iter().map(|total| total.swap(0, Relaxed)).collect();
        Some(tallies.expand(&totals))
    }

    /// Whether there is machine code.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.native().is_some()
    }

    pub(crate) fn native(&self) -> Option<&dyn Native> {
        self.native.get()?.as_deref()
    }

    /// Number of instructions of the kernel and the functions it can reach.
    #[must_use]
    pub fn instruction_count(&self) -> usize {
        self.code.instructions
    }

    /// Place of a predefined variable, by its name without `%`.
    pub(crate) fn predefined(&self, name: &str) -> Option<&VariableSlot> {
        self.predefined
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, slot)| slot)
    }
}
