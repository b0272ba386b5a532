//! The result of compilation.

use crate::x64::Note;
use visakit_exec::Entry;

/// The result of compilation.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) bytes: Vec<u8>,
    pub(crate) constants: Vec<u8>,
    /// What the code is for, from where on.
    pub(crate) notes: Vec<(usize, Note)>,
    /// For each step: the requirements for entering the segment that begins there.
    pub(crate) entries: Vec<Entry>,
    /// For each step, places of the versions of the segment that begins there: for full masks, and for others.
    pub(crate) places: Vec<Option<[usize; 2]>>,
    /// Where code ends and the interpreter continues.
    pub(crate) end: usize,
    /// Bytes of the register file that the code reads and writes.
    pub(crate) file_bytes: usize,
    /// Lanes of the program.
    pub(crate) full: u32,
    /// Whether code says which ways it takes.
    pub(crate) traced: bool,
    /// Steps that call the interpreter.
    pub(crate) calls: Vec<usize>,
    /// The step at which threads begin that may run before their turn, and where the code for that begins.
    pub(crate) companion: Option<(usize, usize)>,
}
