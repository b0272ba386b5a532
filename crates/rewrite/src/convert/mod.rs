//! From one version or dialect to another.

mod files;
mod implicit;
mod layout;
mod structured;

use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table};
use crate::rewrite::{self, Rewriter};
use std::collections::BTreeSet;
use visakit_isa::object::{Arrangement, Body, Content, Item, Object, RoutineId};
use visakit_isa::{ElementCount, ExecMask, ExecSize, Features, Format, Instruction, StringId};

/// At most this many obstacles of one object are reported.
const MOST: usize = 1000;

/// The target of a conversion. A [`Format`] alone is sufficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvertOptions {
    /// The format.
    pub to: Format,
    /// Whether kernels keep native code that expects inputs they no longer have.
    pub keep_native: bool,
}

impl From<Format> for ConvertOptions {
    fn from(to: Format) -> Self {
        Self {
            to,
            keep_native: false,
        }
    }
}

/// An object in another format.
///
/// Changes of the encoding that preserve the meaning are made: new numbers of predefined variables and
/// surfaces, codes of execution masks, fields that a layout has gained or lost, storage that routines
/// share. What the format cannot express is an error that names the instruction or declaration; all
/// such errors are reported, up to a limit.
///
/// The rules:
///
/// * Predefined variables are the same if they have the same name. `sp` and `fp` keep their name,
///   though their type grew to 64 bits at some time after 3.4.
/// * A field that only the new layout has gets its neutral value: no predicate, null operands, offset
///   0, mask 0. The function of a message, which 3.6 stores, is taken from the extended descriptor. A
///   field that the new layout lacks must hold its neutral value.
/// * Variables of the file, which no reader accepts since 3.3, become a variable of each kernel
///   (objects with functions, which would share them, are refused), under a name that allows the
///   reverse conversion.
/// * Local ids, local sizes and numbers of groups, which are predefined up to 3.3, become inputs of an
///   implicit kind, of two dimensions, in kernels that use them, and aliases of these under names that
///   allow the reverse conversion.
/// * Conditionals and loops without labels, which exist up to 3.7, become divergent jumps to labels
///   under names that allow the reverse conversion.
/// * Up to 3.0 there are five predefined surfaces, since 3.1 six. Later tools wrote objects marked 3.0
///   that count six; an object that uses the sixth is treated as one of these.
/// * The order of the pieces in the file is the one that writers of the version use.
/// * Native code is kept: what the instructions do has not changed. A kernel whose inputs change, as
///   above, loses it, as it would look for the old ones.
///
/// ```
/// use visakit_isa::{Dialect, Format, Version};
///
/// # let file = include_bytes!("../../../../fixtures/objects/subgroups_skl_v36.isa");
/// let object = visakit_parse::read(file).unwrap();
/// let old = Format::new(Version::V3_1, Dialect::Writer2018);
/// let old = visakit_rewrite::convert(object.clone(), old).unwrap();
/// assert_eq!(old.version, Version::V3_1);
/// assert_eq!(visakit_rewrite::convert(old, object.format()).unwrap().kernels, object.kernels);
/// ```
///
/// # Errors
/// What the format cannot express.
pub fn convert<'a>(
    mut object: Object<'a>,
    options: impl Into<ConvertOptions>,
) -> Result<Object<'a>, Vec<Error>> {
    let ConvertOptions { to, keep_native } = options.into();
    let from = object.format();
    if from == to {
        return Ok(object);
    }
    let mut errors = Vec::new();
    let since = |format: Format, feature| format.features().contains(feature);
    let shares = |format| !since(format, Features::SINCE_3_3);
    let from_files = shares(to) && since(to, Features::SINCE_3_0) && !shares(from);
    undecoded(&object, &mut errors);
    if !shares(to) && !object.file_variables.is_empty() {
        files::to_routines(&mut object, &mut errors);
    }
    if structured::has(from) && !structured::has(to) {
        structured::lower(&mut object);
    }
    let (provided, provides) = (implicit::predefines(from), implicit::predefines(to));
    let mut restarted = BTreeSet::new();
    if provided && !provides {
        restarted = implicit::declare(&mut object, &mut errors);
    }
    let mut work = Convert {
        from,
        to,
        moved: Moved::new(from, to, counts_six(&object)),
        declared: [0; 2],
        errors: Vec::new(),
    };
    for (id, routine) in object.routines_mut() {
        if let Content::Body(body) = &mut routine.content {
            work.declared = [Table::Variable, Table::Surface].map(|t| t.len(body));
            let rest = work.body(body);
            work.errors.extend(rest.err());
        }
        let found = work.errors.drain(..);
        errors.extend(found.map(|e| e.within(id, &routine.name)));
        if errors.len() > MOST {
            break;
        }
    }
    object.version = to.version();
    object.dialect = to.dialect();
    // In the other order, so that the newest names go first.
    if provides && !provided {
        restarted = implicit::restore(&mut object);
    }
    if structured::has(to) && !structured::has(from) {
        structured::raise(&mut object);
    }
    if from_files && object.functions.is_empty() {
        files::from_routines(&mut object);
    }
    if !keep_native {
        object.discard_native_of(|kernel| restarted.contains(&kernel));
    }
    if shares(from) != shares(to) && !matches!(object.arrangement, Arrangement::Custom(_)) {
        object.arrangement = object.usual_arrangement();
    }
    if errors.is_empty()
        && let Err(error) = visakit_encode::write(&object)
    {
        unwritable(&object, to, &mut errors);
        if errors.is_empty() {
            errors.push(error.into());
        }
    }
    errors.truncate(MOST);
    if errors.is_empty() {
        Ok(object)
    } else {
        Err(errors)
    }
}

/// Bytes that are not understood cannot be said in another way.
fn undecoded(object: &Object<'_>, errors: &mut Vec<Error>) {
    for (id, routine) in object.routines() {
        let Content::Body(body) = &routine.content else {
            errors.push(Error::from(ErrorKind::Undecoded).within(id, &routine.name));
            continue;
        };
        let raw = body.code.iter().position(|i| matches!(i, Item::Raw(_)));
        if let Some(index) = raw {
            let error = Error::at(ErrorKind::Undecoded, Location::Undecoded(index));
            errors.push(error.within(id, &routine.name));
        }
    }
}

/// Every instruction that cannot be written.
fn unwritable(object: &Object<'_>, to: Format, errors: &mut Vec<Error>) {
    for (id, routine) in object.routines() {
        let code = routine.body().map_or(&[][..], |b| &b.code);
        for (index, item) in code.iter().enumerate() {
            if let Item::Instruction(instruction) = item
                && let Err(error) = visakit_encode::instruction(instruction, to)
                && errors.len() < MOST
            {
                let location = Location::of(index, instruction);
                errors.push(Error::at(error, location).within(id, &routine.name));
            }
        }
    }
}

/// New numbers of predefined and declared entries.
struct Moved {
    /// By old number: the new one, `None` if there is no counterpart.
    variables: Vec<Option<u32>>,
    surfaces: Vec<Option<u32>>,
    first: [(u32, u32); 2],
}

impl Moved {
    fn new(from: Format, to: Format, same_surfaces: bool) -> Self {
        let (old, new) = (from.predefined_variables(), to.predefined_variables());
        let unchanged = old == new && Table::Variable.first(from) == Table::Variable.first(to);
        let variables = (0..Table::Variable.first(from)).map(|id| {
            if unchanged {
                return Some(id);
            }
            let variable = usize::try_from(id).ok().and_then(|i| old.get(i))?;
            let found = new.iter().position(|v| v.name == variable.name)?;
            u32::try_from(found).ok()
        });
        let known = Table::Surface.first(to);
        let reserved = if same_surfaces {
            known
        } else {
            Table::Surface.first(from)
        };
        let surfaces = (0..reserved).map(|id| (id < known).then_some(id));
        let first = |table: Table| match table {
            Table::Surface if same_surfaces => (table.first(to), table.first(to)),
            _ => (table.first(from), table.first(to)),
        };
        Self {
            variables: variables.collect(),
            surfaces: surfaces.collect(),
            first: [first(Table::Variable), first(Table::Surface)],
        }
    }

    /// Whether declared entries of the table are renumbered.
    fn moves(&self, table: Table) -> bool {
        let [variables, surfaces] = self.first;
        match table {
            Table::Variable => variables.0 != variables.1,
            Table::Surface => surfaces.0 != surfaces.1,
            _ => false,
        }
    }

    /// The number in the new format.
    fn number(&self, reference: Reference) -> Option<u32> {
        let (predefined, (old, new)) = match (reference.table, self.first) {
            (Table::Variable, [first, _]) => (&self.variables, first),
            (Table::Surface, [_, first]) => (&self.surfaces, first),
            _ => return Some(reference.id),
        };
        match reference.id.checked_sub(old) {
            Some(declared) => declared.checked_add(new),
            None => {
                let index = usize::try_from(reference.id).ok()?;
                predefined.get(index).copied().flatten()
            }
        }
    }
}

/// Whether an object of 3.0 uses a surface that it has only if six are predefined, as later tools
/// assume.
fn counts_six(object: &Object<'_>) -> bool {
    if object.format().features().contains(Features::SINCE_3_1) {
        return false;
    }
    let first = Table::Surface.first(object.format());
    object.routines().filter_map(|(_, r)| r.body()).any(|body| {
        let end = u32::try_from(body.surfaces.len())
            .unwrap_or(u32::MAX)
            .saturating_add(first);
        !crate::edit::uses(body, Reference::new(Table::Surface, end))
            .iter()
            .all(|used| matches!(used, Location::Input(_)))
    })
}

struct Convert {
    from: Format,
    to: Format,
    moved: Moved,
    /// Declared variables and surfaces of the routine.
    declared: [usize; 2],
    errors: Vec<Error>,
}

impl Convert {
    fn refuse(&mut self, location: Location, what: String) {
        if self.errors.len() < MOST {
            self.errors
                .push(Error::at(ErrorKind::Inexpressible(what), location));
        }
    }

    /// The code of a mask, where the two formats code it differently.
    fn mask(&mut self, location: Location, code: u8) -> u8 {
        if self.from.final_masks() == self.to.final_masks() {
            return code;
        }
        let mask = ExecMask::from_code(code, self.from);
        match mask.and_then(|m| m.code(self.to)) {
            Some(code) => code,
            None => {
                let name = mask.map_or_else(|| format!("code {code}"), |m| m.to_string());
                let to = self.to.version();
                self.refuse(
                    location,
                    format!("version {to} has no execution mask {name}"),
                );
                code
            }
        }
    }
}

impl Rewriter<'_> for Convert {
    fn instruction(&mut self, index: usize, instruction: &mut Instruction) -> Result<(), Error> {
        match layout::convert(instruction, self.from, self.to) {
            Ok(()) => rewrite::instruction_parts(self, index, instruction)?,
            Err(what) => self.refuse(Location::of(index, instruction), what),
        }
        Ok(())
    }

    fn exec_size(&mut self, location: Location, size: &mut ExecSize) -> Result<(), Error> {
        let code = self.mask(location, size.bits() >> 4);
        *size = ExecSize::from_bits(size.bits() & 0xf | code << 4);
        Ok(())
    }

    fn element_count(&mut self, location: Location, count: &mut ElementCount) -> Result<(), Error> {
        let code = self.mask(location, count.bits() >> 4);
        *count = ElementCount::from_bits(count.bits() & 0xf | code << 4);
        Ok(())
    }

    fn reference(&mut self, location: Location, reference: &mut Reference) -> Result<(), Error> {
        let [variables, surfaces] = self.declared;
        let end = if reference.table == Table::Surface {
            surfaces
        } else {
            variables
        };
        // Inputs may name surfaces that the kernel does not declare.
        if self.moved.moves(reference.table)
            && reference.declared(self.from).is_some_and(|i| i >= end)
            && !matches!(location, Location::Input(_))
        {
            self.errors
                .push(Error::at(ErrorKind::NotDeclared(*reference), location));
            return Ok(());
        }
        match self.moved.number(*reference) {
            Some(id) => reference.id = id,
            None => {
                let variables = self.from.predefined_variables();
                let index = usize::try_from(reference.id).unwrap_or(usize::MAX);
                let name = match reference.table {
                    Table::Variable => variables.get(index).map(|v| v.name),
                    _ => None,
                };
                let name = name.map_or_else(String::new, |n| format!(" (%{n})"));
                let to = self.to.version();
                let what = format!("version {to} has no counterpart of {reference}{name}");
                self.refuse(location, what);
            }
        }
        Ok(())
    }

    fn too_large(&mut self, location: Location, reference: Reference) -> Result<(), Error> {
        let to = self.to.version();
        self.refuse(
            location,
            format!("version {to} has no room for {reference} here"),
        );
        Ok(())
    }
}

/// A routine that has no name to be called by, in messages about all of them.
pub(crate) fn of_routine(id: RoutineId, name: &[u8], what: &str) -> Error {
    Error::from(ErrorKind::Inexpressible(what.to_owned())).within(id, name)
}

/// Drops strings that are the newest of the pool and not used any more; others stay as unused ones.
fn drop_newest(body: &mut Body<'_>, names: &[StringId]) {
    for name in names.iter().rev() {
        let last = body.strings.len().checked_sub(1);
        let string = Reference::new(Table::String, name.0);
        if last == usize::try_from(name.0).ok() && crate::edit::uses(body, string).is_empty() {
            body.strings.pop();
        }
    }
}
