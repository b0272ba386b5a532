//! Watching a program run.

use crate::fault::Fault;
use std::ops::ControlFlow;
use visakit_isa::Op;
use visakit_isa::object::RoutineId;

/// An instruction that is about to run or has run.
#[derive(Clone, Copy, Debug)]
pub struct InstructionEvent<'a> {
    /// Place of the thread in its group.
    pub thread: usize,
    /// The routine.
    pub routine: RoutineId,
    /// Place of the instruction in the routine's code.
    pub instruction: usize,
    /// Place of the step in the translated code.
    pub step: usize,
    /// Instructions of the group that began before it, watched or not.
    pub begun: u64,
    /// The operation.
    pub op: Op,
    /// Enabled lanes of the instruction when it began (bit 0 is its first lane, whatever its mask offset).
    pub mask: u32,
    /// Lanes of the thread that run, whatever the instruction's mask (bit 0 is the first lane of the thread).
    pub running: u32,
    /// Calls of the thread that have not returned.
    pub calls: usize,
    /// The register file; see [`crate::Program::variable`] for places in it.
    pub registers: &'a [u8],
}

/// Which memory an access goes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// Flat (virtual) addresses.
    Global,
    /// A surface, by binding table index or handle; the address is the offset in it.
    Surface(u32),
    /// Shared local memory of the group.
    Local,
    /// Scratch memory of the thread.
    Scratch,
}

/// Bytes of a buffer that a surface is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extent {
    /// Address of its first byte in flat memory.
    pub base: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Where an element of a message is in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InRegister {
    /// First byte of the part that memory has.
    pub offset: usize,
    /// First byte of the whole element, which a load sets to zero if memory has nothing for it.
    pub whole: usize,
    /// Bytes of the whole element.
    pub whole_bytes: usize,
}

/// An access to memory by one lane, or by a whole block message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// Which memory.
    pub space: Space,
    /// First byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// Bytes of an element of the message; 1 for blocks, which have none.
    pub element: u32,
    /// The lane, `None` for a block message.
    pub lane: Option<u8>,
    /// Whether it reads.
    pub read: bool,
    /// Whether it writes. Atomics do both.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The extent of the surface, for [`Space::Surface`] of a buffer or an image.
    pub extent: Option<Extent>,
    /// The data: loaded into or stored from these registers; the result of an atomic. `None` if they are not a run of
    /// bytes, or if nothing is returned.
    pub data: Option<InRegister>,
    /// What goes into memory if `data` does not state it, or comes from there: operands of an atomic, or the channels of
    /// a texel. Their first bytes in the register file.
    pub operands: [Option<usize>; 4],
    /// Whether an atomic replaces the previous value unconditionally.
    pub overwrites: bool,
    /// Whether an atomic may leave the previous value: a compare and exchange.
    pub conditional: bool,
    /// Whether a compare and exchange is about to fail: it then only reads.
    pub fails: bool,
    /// Whether the message requires another alignment of its address.
    pub misaligned: bool,
    /// Whether it accesses texels of an image, where accesses outside are not a fault.
    pub texel: bool,
}

/// An access to a texel that an image does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissedTexel {
    /// The part of flat memory that the image is.
    pub extent: Option<Extent>,
    /// The lane.
    pub lane: u8,
    /// Its coordinates, counted in texels, rows and slices.
    pub at: [i64; 3],
    /// Texels of a row, rows and slices of the image.
    pub size: [u32; 3],
    /// Whether it writes, or changes the texel atomically; otherwise it reads.
    pub write: bool,
    /// Whether a sampler of the source may give what is read a value: compilers for OpenCL C read integers by the same
    /// message with a sampler that clamps to a border as without a sampler.
    pub bordered: bool,
}

/// A message that accesses the same number of bytes for each of its enabled lanes: all of them together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LanesAccess {
    /// Which memory.
    pub space: Space,
    /// First byte that any lane accesses.
    pub address: u64,
    /// Number of bytes from there to the end of the last one that any lane accesses. Not all of them need be accessed.
    pub bytes: u64,
    /// Bits below the size of an element that are set in some element's address: 0 if each is at a multiple of its
    /// size.
    pub low_bits: u64,
    /// Bytes of an element.
    pub element: u32,
    /// Whether it writes; otherwise it reads. It is not an atomic operation.
    pub write: bool,
    /// The extent of the surface, for [`Space::Surface`] of a buffer or an image.
    pub extent: Option<Extent>,
    /// First byte and number of bytes of the data in the register file, of all lanes, enabled or not. `None` if that
    /// is not known.
    pub data: Option<(usize, usize)>,
    /// Whether all lanes are enabled, and every byte of `data` belongs to one.
    pub whole: bool,
    /// Whether the message requires another alignment of some address.
    pub misaligned: bool,
}

impl MemoryAccess {
    /// An access that is not atomic and has no data operand.
    pub(crate) const fn plain(space: Space, address: u64, bytes: u32, write: bool) -> Self {
        Self {
            space,
            address,
            bytes,
            element: 1,
            lane: None,
            read: !write,
            write,
            atomic: false,
            extent: None,
            data: None,
            operands: [None; 4],
            overwrites: false,
            conditional: false,
            fails: false,
            misaligned: false,
            texel: false,
        }
    }
}

/// Observes what a program does. `()` observes nothing and costs nothing.
///
/// All instructions are observed except those that [`Observer::unwatched`] excludes, which run as fast as without an
/// observer. Each [`Observer::before`] that lets the program continue is followed by one [`Observer::after`] of the
/// same instruction, thread and mask, unless the instruction is a fault: that ends the run, and the error names the
/// place. For an instruction at which a thread waits for others, `after` is called when the wait begins; only the fused
/// systolic product is completed, and its `after` called, when the other thread has arrived, too.
pub trait Observer {
    /// Whether [`Observer::before`] and [`Observer::after`] are called.
    const INSTRUCTIONS: bool;
    /// Whether [`Observer::memory`] is called.
    const MEMORY: bool;
    /// Whether it examines registers that the program does not read; they are reset for each group, which takes time.
    const ALL_REGISTERS: bool = Self::INSTRUCTIONS || Self::MEMORY;

    /// An instruction is about to run. Break to stop the program with [`crate::FaultKind::Stopped`]: the group then
    /// is before the instruction, and can continue.
    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        let _ = event;
        ControlFlow::Continue(())
    }

    /// For each step of the translated code: the number of consecutive steps from there on, itself included, that need
    /// not be observed, including their accesses to memory. All steps past the end of the list are observed; it may
    /// change while the program runs. See [`unwatched_runs`].
    fn unwatched(&self) -> &[u16] {
        &[]
    }

    /// An instruction has run: its results are in the registers.
    fn after(&mut self, event: &InstructionEvent<'_>) {
        let _ = event;
    }

    /// Memory is about to be accessed. An access outside of its storage is reported, too.
    fn memory(&mut self, access: &MemoryAccess, registers: &[u8]) {
        let _ = (access, registers);
    }

    /// Memory is about to be accessed by all enabled lanes of a message. If this returns false, [`Observer::memory`] is
    /// called for each of them; if it returns true, nothing more needs to be reported.
    fn lanes(&mut self, access: &LanesAccess, registers: &[u8]) -> bool {
        let _ = (access, registers);
        false
    }

    /// A message addresses a part of a block surface that does not exist: memory is not accessed. The address is
    /// meaningless.
    fn dropped(&mut self, access: &MemoryAccess) {
        let _ = access;
    }

    /// A lane addresses a texel that an image does not have: memory is not accessed, and what is read is the colour of
    /// the border. Not called for samplers that define what is outside.
    fn missed(&mut self, texel: &MissedTexel) {
        let _ = texel;
    }

    /// A group is about to start: its place in the grid, and the number of its work-items in each dimension. What follows
    /// is of this group, until another one starts or has its turn.
    fn group(&mut self, place: [u32; 3], size: [u32; 3]) {
        let _ = (place, size);
    }

    /// The group at that place goes on: groups that take long take turns.
    fn turn(&mut self, place: [u32; 3]) {
        let _ = place;
    }

    /// The group whose turn it is has ended.
    fn ended(&mut self) {}

    /// The group whose turn it is cannot continue. Break to end the launch with the fault; otherwise it continues with
    /// the other groups.
    fn fault(&mut self, fault: &Fault) -> ControlFlow<()> {
        let _ = fault;
        ControlFlow::Break(())
    }
}

/// The list for [`Observer::unwatched`], from whether each step is observed.
#[must_use]
pub fn unwatched_runs(
    watched: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator,
) -> Vec<u16> {
    let mut runs = vec![0; watched.len()];
    let mut run: u16 = 0;
    for (watched, of) in watched.zip(&mut runs).rev() {
        run = if watched { 0 } else { run.saturating_add(1) };
        *of = run;
    }
    runs
}

/// The part of an observer that messages tell what they access.
pub(crate) trait Accesses {
    /// [`Observer::memory`].
    fn memory(&mut self, access: &MemoryAccess, registers: &[u8]);
    /// [`Observer::lanes`].
    fn lanes(&mut self, access: &LanesAccess, registers: &[u8]) -> bool;
    /// [`Observer::dropped`].
    fn dropped(&mut self, access: &MemoryAccess);
    /// [`Observer::missed`].
    fn missed(&mut self, texel: &MissedTexel);
}

impl<O: Observer> Accesses for O {
    fn memory(&mut self, access: &MemoryAccess, registers: &[u8]) {
        Observer::memory(self, access, registers);
    }

    fn lanes(&mut self, access: &LanesAccess, registers: &[u8]) -> bool {
        Observer::lanes(self, access, registers)
    }

    fn dropped(&mut self, access: &MemoryAccess) {
        Observer::dropped(self, access);
    }

    fn missed(&mut self, texel: &MissedTexel) {
        Observer::missed(self, texel);
    }
}

/// Any observer of messages: the code of messages exists twice, with it and without one, instead of once for each
/// observer in the crates that have one.
pub(crate) struct Told<'a>(pub(crate) &'a mut dyn Accesses);

impl Observer for Told<'_> {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = true;

    fn memory(&mut self, access: &MemoryAccess, registers: &[u8]) {
        self.0.memory(access, registers);
    }

    fn lanes(&mut self, access: &LanesAccess, registers: &[u8]) -> bool {
        self.0.lanes(access, registers)
    }

    fn dropped(&mut self, access: &MemoryAccess) {
        self.0.dropped(access);
    }

    fn missed(&mut self, texel: &MissedTexel) {
        self.0.missed(texel);
    }
}

impl Observer for () {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = false;
}
