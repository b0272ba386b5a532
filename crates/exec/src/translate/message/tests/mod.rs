//! Every kind of message, translated from text and run on small memories. The expected values are
//! worked out by hand from the definitions.

mod blocks;
mod groups;
mod listings;
mod lsc;
mod pages;
mod scattered;
mod textures;

use super::{Message, translate};
use crate::fault::{FaultKind, Trap, Unsupported};
use crate::machine::Registers;
use crate::memory::{BufferId, Local, Memory};
use crate::observe::{LanesAccess, MemoryAccess, Observer, Space};
use crate::translate::layout::Layout;
use crate::translate::{Context, Options};
use std::cell::RefCell;
use visakit_isa::Instruction;
use visakit_isa::object::{RoutineId, RoutineKind};

/// Data sizes of LSC messages: the name, bytes in memory, bytes in a register.
const SIZES: [(&str, u64, usize); 7] = [
    ("d8", 1, 1),
    ("d16", 2, 2),
    ("d32", 4, 4),
    ("d64", 8, 8),
    ("d8c32", 1, 4),
    ("d16c32", 2, 4),
    ("d16c32h", 2, 4),
];

const HEADER: &str = "
.kernel \"test\"
.decl D v_type=G type=d num_elts=256 align=GRF
.decl D2 v_type=G type=d num_elts=256 align=GRF
.decl D3 v_type=G type=d num_elts=256 align=GRF
.decl U v_type=G type=ud num_elts=64 align=GRF
.decl U2 v_type=G type=ud num_elts=64 align=GRF
.decl U3 v_type=G type=ud num_elts=64 align=GRF
.decl UW v_type=G type=uw num_elts=64 align=GRF
.decl UQ v_type=G type=uq num_elts=64 align=GRF
.decl Q v_type=G type=q num_elts=64 align=GRF
.decl F v_type=G type=f num_elts=128 align=GRF
.decl F2 v_type=G type=f num_elts=128 align=GRF
.decl H v_type=G type=hf num_elts=128 align=GRF
.decl S v_type=G type=d num_elts=1 align=dword
.decl SM v_type=S num_elts=1 v_name=SM
.decl T6 v_type=T num_elts=1 v_name=T006
.kernel_attr SimdSize=32
";

/// Registers, memory and the code of one instruction.
pub(super) struct Machine {
    layout: Layout,
    names: Vec<&'static str>,
    registers: Registers,
    pub(super) memory: Memory,
    pub(super) slm: Vec<u8>,
    pub(super) scratch: Vec<u8>,
    message: Message,
    events: Vec<MemoryAccess>,
}

#[derive(Default)]
struct Events {
    lanes: Vec<MemoryAccess>,
    together: Option<LanesAccess>,
}

impl Events {
    /// The report for all lanes together is consistent with the reports for each.
    fn agree(&self) {
        let Some(all) = &self.together else { return };
        let first = self.lanes.iter().map(|a| a.address).min();
        let end = self
            .lanes
            .iter()
            .map(|a| a.address + u64::from(a.bytes))
            .max();
        assert_eq!(first, Some(all.address));
        assert_eq!(end, Some(all.address + all.bytes));
        let low = |a: &MemoryAccess| a.address & (u64::from(a.element) - 1);
        assert_eq!(
            self.lanes.iter().fold(0, |bits, a| bits | low(a)),
            all.low_bits
        );
        assert_eq!(self.lanes.iter().any(|a| a.misaligned), all.misaligned);
        let mut bytes = 0;
        for one in &self.lanes {
            assert_eq!(
                (one.space, one.element, one.write),
                (all.space, all.element, all.write)
            );
            assert_eq!(
                (one.read, one.atomic, one.extent),
                (!all.write, false, all.extent)
            );
            if let (Some(data), Some((at, of_all))) = (one.data, all.data) {
                let end = data.whole + data.whole_bytes;
                assert!(data.whole >= at && end <= at + of_all);
                bytes += data.whole_bytes;
            }
        }
        assert!(!all.whole || all.data.is_none_or(|(_, of_all)| of_all == bytes));
    }
}

impl Events {
    /// Data reported as loaded from global memory is where the report says.
    fn loaded(&self, memory: &Memory, registers: &[u8]) {
        let loads = self
            .lanes
            .iter()
            .filter(|a| a.space == Space::Global && !a.write);
        for (access, data) in loads.filter_map(|a| Some((a, a.data?))) {
            let bytes = access.bytes as usize;
            let buffer = memory.buffers().find_map(|buffer| {
                let at = access.address.checked_sub(memory.address(buffer))?;
                let at = usize::try_from(at).ok()?;
                memory.read(buffer).get(at..at + bytes).map(<[u8]>::to_vec)
            });
            // Outside is nothing.
            if let Some(buffer) = buffer {
                assert_eq!(registers[data.offset..data.offset + bytes], buffer);
            }
        }
    }
}

impl Observer for Events {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = true;
    fn memory(&mut self, access: &MemoryAccess, _: &[u8]) {
        self.lanes.push(*access);
    }
    fn lanes(&mut self, access: &LanesAccess, _: &[u8]) -> bool {
        // A run of bytes is reported as such first.
        assert!(self.together.is_none_or(|before| before == *access));
        self.together = Some(*access);
        false
    }
}

fn build(version: &str, text: &str, grf_bytes: u32) -> Result<Machine, Unsupported> {
    build_edited(version, text, grf_bytes, |_| ())
}

fn build_edited(
    version: &str,
    text: &str,
    grf_bytes: u32,
    edit: impl Fn(&mut Instruction),
) -> Result<Machine, Unsupported> {
    let text = format!(".version {version}{HEADER}    {text}\n    ret (M1, 1)\n");
    let object = visakit_text::asm::assemble_in_any_dialect(text.as_bytes(), &Default::default())
        .unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message))
        .object;
    let id = RoutineId::new(RoutineKind::Kernel, 0);
    let body = object.kernels[0].body().unwrap();
    let options = Options {
        grf_bytes,
        ..Options::default()
    };
    let layout = RefCell::new(Layout::new(&object, &[(id, body)], &options).unwrap());
    let routine = layout.borrow().routines[0].clone();
    let message = {
        let cx = Context {
            grf_bytes,
            format: object.format(),
            body,
            routine: &routine,
            layout: &layout,
        };
        let visakit_isa::object::Item::Instruction(instruction) = &body.code[0] else {
            panic!("undecoded");
        };
        let mut instruction = instruction.clone();
        edit(&mut instruction);
        translate(&instruction, &cx)?
    };
    let mut layout = layout.into_inner();
    layout.finish();
    let mut registers = Registers {
        file: vec![0; layout.size].as_slice().into(),
        ..Registers::default()
    };
    let mut put = |place: usize, bytes: &[u8]| {
        registers.file[place..place + bytes.len()].copy_from_slice(bytes);
    };
    layout.contents.iter().for_each(|(at, b)| put(*at, b));
    layout.constants.iter().for_each(|(at, b)| put(*at, b));
    // Accesses outside are to be detected at once.
    let mut memory = Memory::new(1 << 20);
    memory.set_exact(true);
    Ok(Machine {
        layout,
        names: vec![
            "D", "D2", "D3", "U", "U2", "U3", "UW", "UQ", "Q", "F", "F2", "H", "S",
        ],
        registers,
        memory,
        slm: vec![0; 256],
        scratch: vec![0; 256],
        message,
        events: Vec::new(),
    })
}

fn collect<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    bytes
        .chunks_exact(size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
        .collect()
}

impl Machine {
    /// A machine for one instruction, on a target with registers of 32 bytes.
    pub(super) fn new(text: &str) -> Self {
        Self::with_grf(text, 32)
    }

    /// A machine for an instruction of an old object.
    pub(super) fn old(version: &str, text: &str) -> Self {
        Self::edited(version, text, |_| ())
    }

    /// A machine for an instruction of an old object, changed after it was assembled.
    pub(super) fn edited(version: &str, text: &str, edit: impl Fn(&mut Instruction)) -> Self {
        build_edited(version, text, 32, edit).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    pub(super) fn with_grf(text: &str, grf_bytes: u32) -> Self {
        build("4.1", text, grf_bytes).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    fn place(&self, name: &str) -> usize {
        let routine = &self.layout.routines[0];
        match name {
            "T6" => routine.surfaces[6].offset,
            "%bss" => routine.surfaces[4].offset,
            "SM" => routine.samplers[0].offset,
            "S31" => routine.sampler(31).unwrap().offset,
            "%r0" => routine.variables[7].unwrap().offset,
            "%scratchloc" => routine.variables[21].unwrap().offset,
            _ => {
                let index = self.names.iter().position(|n| *n == name).unwrap();
                routine.variables[32 + index].unwrap().offset
            }
        }
    }

    /// Sets the first elements of a variable.
    pub(super) fn set<T: bytemuck::Pod>(&mut self, name: &str, values: &[T]) -> &mut Self {
        let at = self.place(name);
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.registers.file[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// The first elements of a variable.
    pub(super) fn get<T: bytemuck::Pod>(&self, name: &str, count: usize) -> Vec<T> {
        self.get_at(name, 0, count)
    }

    /// Elements of a variable from a byte offset on.
    pub(super) fn get_at<T: bytemuck::Pod>(
        &self,
        name: &str,
        offset: usize,
        count: usize,
    ) -> Vec<T> {
        let at = self.place(name) + offset;
        let bytes = &self.registers.file[at..at + count * size_of::<T>()];
        collect(bytes)
    }

    /// Adds a buffer and binds it to an index, which the surface variable gets.
    pub(super) fn surface<T: bytemuck::Pod>(&mut self, values: &[T]) -> BufferId {
        let buffer = self
            .memory
            .add_buffer(bytemuck::cast_slice(values))
            .unwrap();
        self.memory
            .bind(3, crate::memory::Surface::whole(buffer))
            .unwrap();
        self.set("T6", &[3u32]);
        buffer
    }

    /// Adds a buffer and returns its address.
    pub(super) fn buffer<T: bytemuck::Pod>(&mut self, values: &[T]) -> (BufferId, u64) {
        let buffer = self
            .memory
            .add_buffer(bytemuck::cast_slice(values))
            .unwrap();
        (buffer, self.memory.address(buffer))
    }

    pub(super) fn read<T: bytemuck::Pod>(&self, buffer: BufferId) -> Vec<T> {
        collect(&self.memory.read(buffer))
    }

    pub(super) fn try_run(&mut self, mask: u32) -> Result<(), Box<Trap>> {
        let mut local = Local {
            slm: &mut self.slm,
            scratch: &mut self.scratch,
        };
        // The observed run goes first, on copies: observing changes nothing.
        let mut copy = self.registers.clone();
        let memory = self.memory.copy();
        let (mut slm, mut scratch) = (local.slm.to_vec(), local.scratch.to_vec());
        let mut watched_local = Local {
            slm: &mut slm,
            scratch: &mut scratch,
        };
        let mut events = Events::default();
        let watched = self
            .message
            .run(&mut copy, &mut watched_local, &memory, mask, &mut events);
        events.agree();
        if watched.is_ok() {
            events.loaded(&memory, &copy.file);
        }
        self.events = events.lanes;
        let outcome =
            self.message
                .run(&mut self.registers, &mut local, &self.memory, mask, &mut ());
        assert_eq!(watched, outcome);
        assert!(outcome.is_err() || copy.file == self.registers.file);
        assert!(outcome.is_err() || slm == self.slm);
        for buffer in memory.buffers().filter(|_| outcome.is_ok()) {
            assert_eq!(memory.read(buffer), self.memory.read(buffer));
        }
        outcome
    }

    pub(super) fn run(&mut self, mask: u32) -> &mut Self {
        self.try_run(mask).unwrap_or_else(|trap| panic!("{trap:?}"));
        self
    }

    /// Runs and expects a fault.
    pub(super) fn fault(&mut self, mask: u32) -> (FaultKind, Option<u8>, Option<u64>) {
        let trap = self.try_run(mask).unwrap_err();
        (trap.kind, trap.lane, trap.address)
    }

    pub(super) fn events(&self) -> &[MemoryAccess] {
        &self.events
    }
}

#[test]
fn what_cannot_run_says_why() {
    let text = "sample_c.RGBA (M1, 8) 0x0:uw SM T6 F.0 F2.0 F2.32 F2.64";
    match build("4.1", text, 32) {
        Err(error) => assert!(error.to_string().contains("depth comparison"), "{error}"),
        Ok(_) => panic!("{text} translates"),
    }
}

/// A data operand that leaves its variable is a fault when the message runs.
#[test]
fn registers_outside() {
    let mut m = Machine::new("gather4_scaled.RGBA (M1, 16) T6 0x0:ud U.0 S.0");
    m.surface(&[0u32; 64]);
    assert_eq!(m.fault(0xffff).0, FaultKind::RegisterOutOfBounds);
    // Nothing happens without lanes.
    m.run(0);
}

#[test]
fn fences_are_nothing_to_see() {
    Machine::new("lsc_fence.ugm.evict.gpu").run(1);
    Machine::new("fence_global.E").run(1);
}

#[test]
fn fences_within_a_group_order_nothing_for_others() {
    let orders = |line| match Machine::new(line).message {
        Message::Fence { beyond_group, .. } => beyond_group,
        other => panic!("{line} is {other:?}"),
    };
    for line in [
        "lsc_fence.ugm.none.gpu",
        "lsc_fence.ugm.none.tile",
        "lsc_fence.tgm.evict.local",
        "fence_global.E",
    ] {
        assert!(orders(line), "{line}");
    }
    for line in [
        "lsc_fence.slm.none.gpu",
        "lsc_fence.ugm.none.group",
        "fence_local.E",
        "fence_sw",
    ] {
        assert!(!orders(line), "{line}");
    }
}
