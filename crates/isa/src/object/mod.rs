//! Objects that own (or borrow) their content and can be edited.
//!
//! Nothing here stores an offset, a size or a count of the file: the writer computes them. Strings,
//! names and native code are [`Cow`]s, so that the same types serve both an object that borrows from
//! the bytes it was read from and one that owns its content ([`Object::into_owned`]).

mod layout;
mod lines;
mod native;
mod owned;
mod symbols;

pub use lines::{SourceFiles, SourceLine};
pub use symbols::{
    Alignment, Attribute, Declaration, FileAttribute, FileVariable, Input, InputKind, Label,
    LabelKind, Linkage, NativeBinary, NativeCode, NativePlatform, Relocation, Variable,
    VariableProperties,
};

use crate::ids::StringId;
use crate::instruction::Instruction;
use crate::version::{Dialect, Features, Format, Version};
use crate::wire::Derived;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A vISA object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object<'a> {
    /// Version of the layout.
    pub version: Version,
    /// Dialect of the layout.
    pub dialect: Dialect,
    /// Routines started by the host.
    pub kernels: Vec<Routine<'a>>,
    /// Variables that all routines share (3.0 to 3.2).
    pub file_variables: Vec<FileVariable<'a>>,
    /// Routines called by kernels and functions.
    pub functions: Vec<Routine<'a>>,
    /// Order of routines and native binaries in the file.
    pub arrangement: Arrangement<'a>,
    /// Whether zero bytes after the last piece make the length of the file a multiple of four, as in an array of dwords.
    pub padded: bool,
}

impl<'a> Object<'a> {
    /// An empty object.
    #[must_use]
    pub const fn new(version: Version, dialect: Dialect) -> Self {
        Self {
            version,
            dialect,
            kernels: Vec::new(),
            file_variables: Vec::new(),
            functions: Vec::new(),
            arrangement: Arrangement::Interleaved,
            padded: false,
        }
    }

    /// Version and dialect.
    #[must_use]
    pub const fn format(&self) -> Format {
        Format::new(self.version, self.dialect)
    }

    /// Kernels, then functions.
    pub fn routines(&self) -> impl Iterator<Item = (RoutineId, &Routine<'a>)> {
        let kernels = self.kernels.iter().enumerate();
        let functions = self.functions.iter().enumerate();
        kernels
            .map(|(i, r)| (RoutineId::new(RoutineKind::Kernel, i), r))
            .chain(functions.map(|(i, r)| (RoutineId::new(RoutineKind::Function, i), r)))
    }

    /// Kernels, then functions, mutably.
    pub fn routines_mut(&mut self) -> impl Iterator<Item = (RoutineId, &mut Routine<'a>)> {
        let kernels = self.kernels.iter_mut().enumerate();
        let functions = self.functions.iter_mut().enumerate();
        kernels
            .map(|(i, r)| (RoutineId::new(RoutineKind::Kernel, i), r))
            .chain(functions.map(|(i, r)| (RoutineId::new(RoutineKind::Function, i), r)))
    }

    /// The order in which writers of the version put routines and native code, named as readers name
    /// it: a file whose order is both interleaved and grouped counts as interleaved.
    #[must_use]
    pub fn usual_arrangement(&self) -> Arrangement<'static> {
        let grouped = !self.format().features().contains(Features::SINCE_3_3);
        if grouped && self.order_matters() {
            Arrangement::Grouped
        } else {
            Arrangement::Interleaved
        }
    }

    /// Whether [`Arrangement::Interleaved`] and [`Arrangement::Grouped`] are different orders:
    /// whether a kernel with native code is followed by another routine.
    #[must_use]
    pub fn order_matters(&self) -> bool {
        let has_code = |kernel: &Routine<'_>| {
            let mut codes = kernel.binaries.iter().map(|binary| &binary.code);
            codes.any(|code| matches!(code, NativeCode::Bytes(bytes) if !bytes.is_empty()))
        };
        let followed = if self.functions.is_empty() {
            self.kernels.len().saturating_sub(1)
        } else {
            self.kernels.len()
        };
        self.kernels.iter().take(followed).any(has_code)
    }

    /// The value of the attribute `Target` that a routine has without stating it: that of the last routine before which
    /// does, or else 3D, as in Intel's printer.
    #[must_use]
    pub fn target_before(&self, id: RoutineId) -> u64 {
        const TARGET_3D: u64 = 1;
        let before = self.routines().take_while(|(other, _)| *other != id);
        let stated = before.filter_map(|(_, routine)| routine.body()?.attribute("Target"));
        let numbers = stated.filter_map(|attribute| match attribute.value.len() {
            0 => Some(1),
            _ => attribute.number(),
        });
        numbers.last().unwrap_or(TARGET_3D)
    }

    /// The routine with that id.
    #[must_use]
    pub fn routine(&self, id: RoutineId) -> Option<&Routine<'a>> {
        match id.kind {
            RoutineKind::Kernel => self.kernels.get(id.index),
            RoutineKind::Function => self.functions.get(id.index),
        }
    }

    /// The routine with that id, mutably.
    pub fn routine_mut(&mut self, id: RoutineId) -> Option<&mut Routine<'a>> {
        match id.kind {
            RoutineKind::Kernel => self.kernels.get_mut(id.index),
            RoutineKind::Function => self.functions.get_mut(id.index),
        }
    }
}

/// The kind of a routine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RoutineKind {
    /// Started by the host.
    Kernel,
    /// Called by kernels and functions.
    Function,
}

impl RoutineKind {
    /// Name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Function => "function",
        }
    }
}

/// Identifies a routine of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RoutineId {
    /// Which table.
    pub kind: RoutineKind,
    /// Place in that table.
    pub index: usize,
}

impl RoutineId {
    /// The routine at `index` of the table of `kind`.
    #[must_use]
    pub const fn new(kind: RoutineKind, index: usize) -> Self {
        Self { kind, index }
    }
}

/// Order of routines and native binaries in the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Arrangement<'a> {
    /// Each kernel followed by its binaries, then the functions (3.3 and later).
    #[default]
    Interleaved,
    /// All kernels, then all functions, then all binaries (up to 3.2).
    Grouped,
    /// The pieces in this order; pieces that are not listed follow in interleaved order.
    Custom(Vec<Piece<'a>>),
}

/// A piece of the file after its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// A routine.
    Routine(RoutineId),
    /// A native binary of a kernel.
    Binary {
        /// Place of the kernel in its table.
        kernel: usize,
        /// Place of the binary in the kernel's list.
        index: usize,
    },
    /// Bytes that belong to no piece. Found in damaged files, and as zero bytes at an end that is not a multiple of four.
    Filler(Cow<'a, [u8]>),
}

/// A kernel or a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routine<'a> {
    /// Name in the file header.
    pub name: Cow<'a, [u8]>,
    /// Linkage; functions only.
    pub linkage: Linkage,
    /// Relocations of file-scope variables, as (symbolic, resolved) pairs.
    pub variable_relocations: Vec<Relocation>,
    /// Relocations of functions.
    pub function_relocations: Vec<Relocation>,
    /// Native code that was compiled from the kernel; kernels only.
    pub binaries: Vec<NativeBinary<'a>>,
    /// What the routine contains.
    pub content: Content<'a>,
    /// Derived numbers that a damaged file states differently; the writer uses them in place of its
    /// own. Empty after strict reading.
    pub stored: Vec<(Derived, u32)>,
}

impl<'a> Routine<'a> {
    /// A routine with this body.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, [u8]>>, body: Body<'a>) -> Self {
        Self {
            name: name.into(),
            content: Content::Body(body),
            ..Self::default()
        }
    }

    /// Whether it carries native code. A binary may also be an entry without code.
    #[must_use]
    pub fn has_native(&self) -> bool {
        let mut codes = self.binaries.iter().map(|binary| &binary.code);
        codes.any(|code| matches!(code, NativeCode::Bytes(_)))
    }

    /// Whether its instructions were removed: there are none, and the numbers of the file that locate them do not say so.
    /// Intel's tools do that to objects whose native code is all that is used.
    #[must_use]
    pub fn lacks_code(&self) -> bool {
        let mut numbers = self.stored.iter().map(|(number, _)| *number);
        self.body().is_some_and(|body| body.code.is_empty())
            && numbers.any(|number| matches!(number, Derived::CodeSize | Derived::CodeEntry))
    }

    /// The body, if it could be decoded.
    #[must_use]
    pub const fn body(&self) -> Option<&Body<'a>> {
        match &self.content {
            Content::Body(body) => Some(body),
            _ => None,
        }
    }

    /// The body, mutably.
    pub const fn body_mut(&mut self) -> Option<&mut Body<'a>> {
        match &mut self.content {
            Content::Body(body) => Some(body),
            _ => None,
        }
    }

    /// The name as text, with replacement characters where it is not UTF-8.
    #[must_use]
    pub fn display_name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }
}

/// What a routine contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content<'a> {
    /// A decoded routine.
    Body(Body<'a>),
    /// Bytes that could not be decoded. Found in damaged files only.
    Raw(RawItem<'a>),
    /// Nothing: its place is outside the file or taken by another piece. The reason says which. Found
    /// in damaged files only.
    Missing(String),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Body(Body::default())
    }
}

/// Symbol tables and instructions of a routine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body<'a> {
    /// The string pool; entries may repeat and need not be used.
    pub strings: Vec<Cow<'a, [u8]>>,
    /// The routine's name in the pool.
    pub name: StringId,
    /// General variables, without the predefined ones.
    pub variables: Vec<Variable<'a>>,
    /// Address variables.
    pub addresses: Vec<Declaration<'a>>,
    /// Predicate variables, the first is P1.
    pub predicates: Vec<Declaration<'a>>,
    /// Labels.
    pub labels: Vec<Label<'a>>,
    /// Samplers.
    pub samplers: Vec<Declaration<'a>>,
    /// Surfaces, without the predefined ones.
    pub surfaces: Vec<Declaration<'a>>,
    /// Inputs; kernels only.
    pub inputs: Vec<Input>,
    /// Size of the arguments in GRFs; functions only. Compilers leave it 0 and use an attribute.
    pub input_size: u8,
    /// Size of the return value in GRFs; functions only. Compilers leave it 0.
    pub return_value_size: u8,
    /// Attributes of the routine.
    pub attributes: Vec<Attribute<'a>>,
    /// The instructions.
    pub code: Vec<Item<'a>>,
}

impl<'a> Body<'a> {
    /// A string of the pool.
    #[must_use]
    pub fn string(&self, id: StringId) -> Option<&[u8]> {
        let index = usize::try_from(id.0).ok()?;
        self.strings.get(index).map(AsRef::as_ref)
    }

    /// Appends a string to the pool.
    pub fn add_string(&mut self, text: impl Into<Cow<'a, [u8]>>) -> StringId {
        let id = u32::try_from(self.strings.len()).unwrap_or(u32::MAX);
        self.strings.push(text.into());
        StringId(id)
    }

    /// The decoded instructions, mutably.
    pub fn instructions_mut(&mut self) -> impl Iterator<Item = &mut Instruction> {
        self.code.iter_mut().filter_map(|item| match item {
            Item::Instruction(instruction) => Some(instruction),
            Item::Raw(_) => None,
        })
    }

    /// The decoded instructions.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.code.iter().filter_map(|item| match item {
            Item::Instruction(instruction) => Some(instruction),
            Item::Raw(_) => None,
        })
    }

    /// The attribute of that name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes
            .iter()
            .find(|a| self.string(a.name) == Some(name.as_bytes()))
    }
}

/// An entry of the instruction area.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item<'a> {
    /// An instruction.
    Instruction(Instruction),
    /// Bytes that could not be decoded. Found in damaged files only.
    Raw(Box<RawItem<'a>>),
}

impl Item<'_> {
    /// The instruction, if it is one.
    #[must_use]
    pub fn into_instruction(self) -> Option<Instruction> {
        match self {
            Self::Instruction(instruction) => Some(instruction),
            Self::Raw(_) => None,
        }
    }
}

impl From<Instruction> for Item<'_> {
    #[inline]
    fn from(instruction: Instruction) -> Self {
        Self::Instruction(instruction)
    }
}

impl<'a> From<RawItem<'a>> for Item<'a> {
    fn from(raw: RawItem<'a>) -> Self {
        Self::Raw(Box::new(raw))
    }
}

/// Bytes that could not be decoded, kept verbatim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawItem<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Why they could not be decoded.
    pub reason: String,
}
