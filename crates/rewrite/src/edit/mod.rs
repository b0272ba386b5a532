//! The editor of a routine.

mod attributes;
mod code;
mod tables;

pub(crate) use code::placed;
pub(crate) use tables::{References, retain};

use crate::error::{Error, ErrorKind, Uses};
use crate::location::{Location, Reference, Table};
use crate::rewrite::Rewriter;
use crate::visit::Visitor;
use visakit_isa::Format;
use visakit_isa::object::{Body, Content, Item, Object, Routine, RoutineId, RoutineKind};

/// Changes one routine of an object.
///
/// Every method checks before it changes anything: after an error the object is unchanged. Entries of
/// tables are identified by the numbers that operands use. When an entry is removed, the numbers of
/// the later ones and everything that refers to them are adjusted.
///
/// Edits of instructions, of inputs, of attributes and of types discard the native code that was
/// compiled from what they change (see [`Object::discard_native`]), unless [`Editor::keep_native`] was
/// called. Other edits do not change what the kernel does.
///
/// ```
/// use visakit_isa::DataType;
/// use visakit_isa::object::{RoutineId, RoutineKind};
/// use visakit_rewrite::{Editor, ErrorKind, Reference, Table};
///
/// # fn main() -> Result<(), visakit_rewrite::Error> {
/// # let file = include_bytes!("../../../../fixtures/objects/subgroups_skl_v36.isa");
/// # let mut object = visakit_parse::read(file).unwrap();
/// let mut editor = Editor::new(&mut object, RoutineId::new(RoutineKind::Kernel, 0))?;
/// let scratch = editor.new_variable("scratch", DataType::Ud, 16)?;
/// editor.rename(scratch, "spill")?;
/// editor.remove(scratch)?;
/// // An input: nothing may be left without it.
/// let input = editor.body().inputs[0].index;
/// let error = editor.remove(Reference::new(Table::Variable, input)).unwrap_err();
/// assert!(matches!(error.kind, ErrorKind::InUse(..)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Editor<'e, 'a> {
    object: &'e mut Object<'a>,
    id: RoutineId,
    format: Format,
    keeps_native: bool,
}

impl<'e, 'a> Editor<'e, 'a> {
    /// An editor of this routine. Numbers that a damaged file states and that its content
    /// contradicts are dropped: they would describe a routine that no longer exists.
    ///
    /// # Errors
    /// There is no such routine, or it could not be decoded.
    pub fn new(object: &'e mut Object<'a>, id: RoutineId) -> Result<Self, Error> {
        let format = object.format();
        let routine = object.routine_mut(id).ok_or(ErrorKind::NoRoutine(id))?;
        if routine.body().is_none() {
            return Err(Error::from(ErrorKind::Undecoded).within(id, &routine.name));
        }
        routine.stored.clear();
        Ok(Self {
            object,
            id,
            format,
            keeps_native: false,
        })
    }

    /// Keeps native code, whatever is edited: it will no longer match the instructions.
    #[must_use]
    pub fn keep_native(mut self) -> Self {
        self.keeps_native = true;
        self
    }

    /// Removes the native code that no longer belongs to the routine.
    fn recompile(&mut self) {
        if !self.keeps_native {
            self.object.discard_native(self.id);
        }
    }

    /// Version and dialect of the object.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Kernel or function.
    #[must_use]
    pub fn kind(&self) -> RoutineKind {
        self.id.kind
    }

    /// The routine.
    #[must_use]
    pub fn routine(&self) -> &Routine<'a> {
        static NONE: Routine<'static> = Routine {
            name: std::borrow::Cow::Borrowed(b""),
            linkage: visakit_isa::object::Linkage(0),
            variable_relocations: Vec::new(),
            function_relocations: Vec::new(),
            binaries: Vec::new(),
            content: Content::Missing(String::new()),
            stored: Vec::new(),
        };
        // `new` has checked that the routine exists, and nothing removes it while it is edited.
        self.object.routine(self.id).unwrap_or(&NONE)
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Body<'a> {
        static NONE: Body<'static> = Body {
            strings: Vec::new(),
            name: visakit_isa::StringId(0),
            variables: Vec::new(),
            addresses: Vec::new(),
            predicates: Vec::new(),
            labels: Vec::new(),
            samplers: Vec::new(),
            surfaces: Vec::new(),
            inputs: Vec::new(),
            input_size: 0,
            return_value_size: 0,
            attributes: Vec::new(),
            code: Vec::new(),
        };
        self.routine().body().unwrap_or(&NONE)
    }

    /// Everywhere an entry of a table is used.
    #[must_use]
    pub fn uses(&self, reference: Reference) -> Vec<Location> {
        uses(self.body(), reference)
    }

    fn routine_mut(&mut self) -> Result<&mut Routine<'a>, Error> {
        let missing = ErrorKind::NoRoutine(self.id);
        self.object
            .routine_mut(self.id)
            .ok_or_else(|| missing.into())
    }

    fn body_mut(&mut self) -> Result<&mut Body<'a>, Error> {
        let routine = self.routine_mut()?;
        routine
            .body_mut()
            .ok_or_else(|| ErrorKind::Undecoded.into())
    }

    /// An error of this routine.
    fn fail(&self, error: impl Into<Error>) -> Error {
        error.into().within(self.id, &self.routine().name)
    }

    /// That everything which refers to something is known.
    fn decoded(&self) -> Result<(), Error> {
        let mut code = self.body().code.iter();
        match code.position(|item| matches!(item, Item::Raw(_))) {
            None => Ok(()),
            Some(index) => {
                let location = Location::Undecoded(index);
                Err(self.fail(Error::at(ErrorKind::Undecoded, location)))
            }
        }
    }

    /// Checks that an entry is declared; returns its index in the table.
    fn declared(&self, reference: Reference) -> Result<usize, Error> {
        let index = reference.declared(self.format);
        match index.filter(|i| *i < reference.table.len(self.body())) {
            Some(index) => Ok(index),
            None if reference.id < reference.table.first(self.format) => {
                Err(self.fail(ErrorKind::Predefined(reference)))
            }
            None => Err(self.fail(ErrorKind::NotDeclared(reference))),
        }
    }

    /// That an entry is predefined or declared.
    fn known(&self, reference: Reference) -> Result<(), Error> {
        if reference.table == Table::FileVariable {
            let resolved = resolve(self.routine(), reference.id);
            let found = usize::try_from(resolved).ok();
            return match found.filter(|i| *i < self.object.file_variables.len()) {
                Some(_) => Ok(()),
                None => Err(self.fail(ErrorKind::NotDeclared(reference))),
            };
        }
        match self.declared(reference) {
            Err(error) if !matches!(error.kind, ErrorKind::Predefined(_)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Checks that nothing uses an entry.
    fn unused(&self, reference: Reference) -> Result<(), Error> {
        match summary(&self.uses(reference)) {
            None => Ok(()),
            Some(uses) => Err(self.fail(ErrorKind::InUse(reference, uses))),
        }
    }
}

/// The body of a routine, where it was decoded.
pub(crate) fn body_mut<'o, 'a>(
    object: &'o mut Object<'a>,
    id: RoutineId,
) -> Option<&'o mut Body<'a>> {
    object.routine_mut(id)?.body_mut()
}

/// The file's number of a file variable that a routine numbers `symbolic`.
pub(crate) fn resolve(routine: &Routine<'_>, symbolic: u32) -> u32 {
    let mut relocations = routine.variable_relocations.iter();
    let found = relocations.find(|r| u32::from(r.symbolic) == symbolic);
    found.map_or(symbolic, |r| r.resolved.into())
}

pub(crate) fn summary(uses: &[Location]) -> Option<Uses> {
    uses.first().map(|first| Uses {
        count: uses.len(),
        first: *first,
    })
}

/// Everywhere in a body an entry of a table is used.
#[must_use]
pub fn uses(body: &Body<'_>, reference: Reference) -> Vec<Location> {
    struct Find {
        wanted: Reference,
        found: Vec<Location>,
    }
    impl Visitor<'_> for Find {
        fn reference(&mut self, location: Location, reference: Reference) {
            if reference == self.wanted {
                self.found.push(location);
            }
        }
    }
    let mut find = Find {
        wanted: reference,
        found: Vec::new(),
    };
    find.body(body);
    find.found
}

struct Renumber<F>(Table, F);

impl<F: FnMut(u32) -> u32> Rewriter<'_> for Renumber<F> {
    fn reference(&mut self, _: Location, reference: &mut Reference) -> Result<(), Error> {
        if reference.table == self.0 {
            reference.id = (self.1)(reference.id);
        }
        Ok(())
    }
}

/// Renumbers everything that refers to a table.
///
/// # Errors
/// A number does not fit its field.
pub(crate) fn renumber(
    body: &mut Body<'_>,
    table: Table,
    number: impl FnMut(u32) -> u32,
) -> Result<(), Error> {
    Renumber(table, number).body(body)
}

/// Renumbers with numbers that do not grow, and so fit.
pub(crate) fn renumber_down(body: &mut Body<'_>, table: Table, number: impl FnMut(u32) -> u32) {
    let fits = renumber(body, table, number);
    debug_assert!(fits.is_ok(), "{fits:?}");
}
