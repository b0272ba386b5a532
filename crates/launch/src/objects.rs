//! The objects in memory while a kernel runs, for observers.

/// An object in flat memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryObject {
    /// Address of its first byte.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// The kind of object.
    pub kind: ObjectKind,
}

/// The kind of an object in flat memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// The buffer or image of an argument. Arguments that are the same buffer have an object each.
    Argument(usize),
    /// Program-scope variables: the name of their section.
    Data(String),
    /// The buffer of printf.
    Printf,
    /// Private memory of the threads, one piece after the other.
    Private,
    /// Created by the launch itself.
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
