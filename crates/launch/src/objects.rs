//! What is in memory while a kernel runs, for who watches it.

/// An object in flat memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryObject {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// What it is.
    pub kind: ObjectKind,
}

/// What an object in flat memory is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// The buffer or image of an argument. Arguments that are the same buffer have an object each.
    Argument(usize),
    /// Program-scope variables: the name of their section.
    Data(String),
    /// What printf writes into.
    Printf,
    /// Private memory of the threads, one piece after the other.
    Private,
    /// What the launch itself put there.
    Other,
}

/// A part of local memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalObject {
    /// First byte.
    pub start: u64,
    /// Its size.
    pub bytes: u64,
    /// The argument; `None` for the program's own variables.
    pub argument: Option<usize>,
}
