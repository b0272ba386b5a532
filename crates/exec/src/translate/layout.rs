//! Assigns every variable its place in the register file.
//!
//! One byte array holds everything that a thread can name: general, address, predicate, surface
//! and sampler variables of the kernel and all functions it may call. Order: a guard register
//! (address 0 is no variable), then all variables whose address is taken, so that 16-bit addresses
//! reach them, then the predefined and file-scope variables, then one region for each routine, then
//! constants, and a tail that reads of fixed width may run into.

use super::Options;
use super::lives::{Life, lives};
use crate::code::{TAIL, alignment, place_of};
use crate::fault::TranslateError;
use crate::passes::Moves;
use crate::variables::{VariableClass, VariableSlot};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use visakit_isa::object::{Body, Object, RoutineId, Variable};
use visakit_isa::table::FieldName;
use visakit_isa::{DataType, Format, Op, SurfaceId, Value, VarId, VectorOperand};

/// A variable in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// First byte.
    pub(crate) offset: usize,
    /// Declared size in bytes.
    pub(crate) bytes: usize,
    /// Bytes to the end of the storage it lives in, rounded up to a register.
    pub(crate) available: usize,
    /// Element type.
    pub(crate) data_type: DataType,
    /// Number of elements.
    pub(crate) elements: u32,
}

impl Place {
    pub(crate) fn slot(&self, class: VariableClass) -> VariableSlot {
        VariableSlot {
            class,
            offset: self.offset,
            bytes: self.bytes,
            data_type: self.data_type,
            elements: self.elements,
        }
    }
}

/// The variables of a routine, class by class. Predefined general variables and surfaces included.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoutineLayout {
    pub(crate) variables: Vec<Option<Place>>,
    pub(crate) addresses: Vec<Place>,
    /// The first is `P1`.
    pub(crate) predicates: Vec<Place>,
    pub(crate) surfaces: Vec<Place>,
    pub(crate) samplers: Vec<Place>,
    /// The predefined sampler, which holds a handle.
    pub(crate) bindless_sampler: Option<Place>,
    /// Parts of the register file that belong to the routine alone; a recursive call saves them.
    pub(crate) own: [Range<usize>; 2],
}

impl RoutineLayout {
    /// Number of the predefined sampler.
    pub(crate) const BINDLESS_SAMPLER: usize = 31;

    /// How many places there are, the predefined sampler left out.
    pub(crate) fn places(&self) -> usize {
        let others = [
            &self.addresses,
            &self.predicates,
            &self.surfaces,
            &self.samplers,
        ];
        self.variables.len() + others.map(Vec::len).iter().sum::<usize>()
    }

    /// A sampler of the routine, or the predefined one.
    pub(crate) fn sampler(&self, index: usize) -> Option<&Place> {
        let predefined = self.bindless_sampler.as_ref();
        let predefined = predefined.filter(|_| index == Self::BINDLESS_SAMPLER);
        self.samplers.get(index).or(predefined)
    }
}

/// The whole register file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Bytes used so far; in the end the size of the file.
    pub(crate) size: usize,
    /// First contents of variables: place and bytes.
    pub(crate) contents: Vec<(usize, [u8; 4])>,
    /// Constants: place and bytes.
    pub(crate) constants: Vec<(usize, Vec<u8>)>,
    /// Variables whose address is taken, in ascending order, without overlap.
    pub(crate) taken: Vec<Range<usize>>,
    /// Place of each predefined variable.
    pub(crate) predefined: Vec<Place>,
    pub(crate) routines: Vec<RoutineLayout>,
    /// General variables with their own storage that are neither inputs nor accessed by address, ascending.
    pub(crate) own: Vec<Range<usize>>,
    limit: usize,
    grf: usize,
}

/// The bytes that addresses reach.
const ADDRESSED: usize = 1 << 16;

/// A general variable that has its own storage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Root {
    Predefined(usize),
    File(usize),
    Own(usize),
}

impl Layout {
    /// Lays out these routines of an object.
    pub(crate) fn new(
        object: &Object<'_>,
        routines: &[(RoutineId, &Body<'_>)],
        options: &Options,
    ) -> Result<Self, TranslateError> {
        let grf = usize::try_from(options.grf_bytes).unwrap_or(32);
        let mut layout = Self {
            size: grf.max(64),
            limit: options.max_register_bytes,
            grf,
            ..Self::default()
        };
        let format = object.format();
        let mut roots: Vec<Vec<Option<(Root, usize)>>> = Vec::new();
        let mut taken: Vec<Taken> = Vec::new();
        for (id, body) in routines {
            let resolved: Vec<_> = (0..body.variables.len())
                .map(|index| root(object, body, format, index))
                .collect();
            taken.push(Taken::find(body, format, &resolved));
            roots.push(resolved);
            let _ = id;
        }
        let predefined_sizes = predefined_sizes(format, grf);
        let file_sizes: Vec<usize> = object
            .file_variables
            .iter()
            .map(|v| usize::from(v.elements) * usize::from(v.properties.data_type().size()))
            .collect();
        let first = routines.first().map_or_else(
            || RoutineId::new(visakit_isa::object::RoutineKind::Kernel, 0),
            |(id, _)| *id,
        );

        // Variables whose address is taken come first.
        let mut shared = Vec::with_capacity(predefined_sizes.len() + file_sizes.len());
        let mut shared_taken = BTreeSet::new();
        for taken in &taken {
            shared_taken.extend(taken.shared.iter().copied());
        }
        let size_of_shared = |root: Root| match root {
            Root::Predefined(index) => predefined_sizes.get(index).copied().unwrap_or(0),
            Root::File(index) => file_sizes.get(index).copied().unwrap_or(0),
            Root::Own(_) => 0,
        };
        for root in &shared_taken {
            let place = layout.allocate(first, size_of_shared(*root), true)?;
            shared.push((*root, place));
        }
        let mut own_taken: Vec<Vec<(usize, Place)>> = Vec::new();
        let mut taken_ranges = Vec::new();
        let mut surface_places: Vec<Vec<(usize, Place)>> = Vec::new();
        let sizes: Vec<_> = routines
            .iter()
            .zip(&taken)
            .map(|((_, body), taken)| taken.sizes(body))
            .collect();
        let all = sizes.iter().flatten().map(|(_, size)| *size);
        let all = all.fold(layout.size, |sum, size| {
            sum.saturating_add(size.max(1)).next_multiple_of(64)
        });
        for (((id, body), taken), (sizes, roots)) in
            routines.iter().zip(&taken).zip(sizes.iter().zip(&roots))
        {
            let start = layout.size;
            let lives = if all > ADDRESSED {
                lives(body, format, roots, grf)
            } else {
                None
            };
            let places = layout.allocate_taken(*id, sizes, &lives.unwrap_or_default())?;
            let mut surfaces = Vec::new();
            for index in &taken.surfaces {
                let elements = surface_elements(body, format, *index);
                let mut place = layout.allocate(*id, elements * 4, true)?;
                place.data_type = DataType::Ud;
                place.elements = u32::try_from(elements).unwrap_or(u32::MAX);
                surfaces.push((*index, place));
            }
            own_taken.push(places);
            surface_places.push(surfaces);
            taken_ranges.push(start..layout.size);
        }
        // Everything else.
        for root in (0..predefined_sizes.len())
            .map(Root::Predefined)
            .chain((0..file_sizes.len()).map(Root::File))
        {
            if !shared_taken.contains(&root) {
                let place = layout.allocate(first, size_of_shared(root), false)?;
                shared.push((root, place));
            }
        }
        shared.sort_by_key(|(root, _)| *root);
        let shared_place = |root: Root| {
            shared
                .binary_search_by_key(&root, |(r, _)| *r)
                .ok()
                .and_then(|i| shared.get(i))
                .map(|(_, place)| *place)
        };
        for (index, variable) in format.predefined_variables().iter().enumerate() {
            let mut place = shared_place(Root::Predefined(index)).unwrap_or(EMPTY);
            place.data_type = variable.data_type;
            place.elements =
                u32::try_from(place.bytes / usize::from(variable.data_type.size())).unwrap_or(0);
            layout.predefined.push(place);
        }

        for (number, (id, body)) in routines.iter().enumerate() {
            let start = layout.size;
            let mut routine = RoutineLayout::default();
            let predefined = format.predefined_variable_count() as usize;
            let variables = &mut routine.variables;
            variables.reserve_exact(predefined + body.variables.len());
            variables.extend((0..predefined).map(|index| layout.predefined.get(index).copied()));
            let mut own: Vec<Option<Place>> = vec![None; body.variables.len()];
            for (index, place) in own_taken.get(number).into_iter().flatten() {
                if let Some(slot) = own.get_mut(*index) {
                    *slot = Some(*place);
                }
            }
            let resolved = roots.get(number).map_or(&[][..], Vec::as_slice);
            let inputs: BTreeSet<Root> = body
                .inputs
                .iter()
                .filter_map(|input| (input.index as usize).checked_sub(predefined))
                .filter_map(|index| resolved.get(index).copied().flatten())
                .map(|(root, _)| root)
                .collect();
            for (index, variable) in body.variables.iter().enumerate() {
                let is_root =
                    matches!(resolved.get(index), Some(Some((Root::Own(i), 0))) if *i == index);
                if is_root && own.get(index).is_some_and(Option::is_none) {
                    let place = layout.allocate(*id, variable.size() as usize, false)?;
                    if !inputs.contains(&Root::Own(index)) {
                        layout
                            .own
                            .push(place.offset..place.offset + place.available);
                    }
                    if let Some(slot) = own.get_mut(index) {
                        *slot = Some(place);
                    }
                }
            }
            for (index, variable) in body.variables.iter().enumerate() {
                let place = resolved
                    .get(index)
                    .copied()
                    .flatten()
                    .and_then(|(root, offset)| {
                        let root = match root {
                            Root::Own(i) => own.get(i).copied().flatten()?,
                            shared => shared_place(shared)?,
                        };
                        Some(alias(variable, root, offset))
                    });
                routine.variables.push(place);
            }
            for address in &body.addresses {
                let elements = usize::from(address.elements);
                let place = layout.plain(*id, elements, DataType::Uw)?;
                routine.addresses.push(place);
            }
            for predicate in &body.predicates {
                let mut place = layout.plain(*id, 1, DataType::Ud)?;
                place.elements = u32::from(predicate.elements);
                routine.predicates.push(place);
            }
            let surface_taken = surface_places.get(number).map_or(&[][..], Vec::as_slice);
            let count = usize::from(format.predefined_surface_count()) + body.surfaces.len();
            for index in 0..count {
                let taken = surface_taken.iter().find(|(i, _)| *i == index);
                let place = match taken {
                    Some((_, place)) => *place,
                    None => {
                        let elements = surface_elements(body, format, index);
                        layout.plain(*id, elements, DataType::Ud)?
                    }
                };
                if let Some(surface) = u8::try_from(index)
                    .ok()
                    .and_then(|i| format.predefined_surface(SurfaceId(i)))
                {
                    let first = u32::from(surface.binding_table_index);
                    layout.contents.push((place.offset, first.to_le_bytes()));
                }
                routine.surfaces.push(place);
            }
            for sampler in &body.samplers {
                let place = layout.plain(*id, usize::from(sampler.elements), DataType::Ud)?;
                routine.samplers.push(place);
            }
            routine.bindless_sampler = Some(layout.plain(*id, 1, DataType::Ud)?);
            routine.own = [
                taken_ranges.get(number).cloned().unwrap_or(0..0),
                start..layout.size,
            ];
            layout.routines.push(routine);
        }
        layout.taken.sort_by_key(|range| range.start);
        Ok(layout)
    }

    /// Storage of `size` bytes, rounded up to registers and aligned for them and for the host's vectors.
    fn allocate(
        &mut self,
        routine: RoutineId,
        size: usize,
        taken: bool,
    ) -> Result<Place, TranslateError> {
        let available = size.max(1).next_multiple_of(self.grf);
        let offset = self.size.next_multiple_of(alignment(available));
        let end = offset.saturating_add(available);
        if end > self.limit {
            return Err(TranslateError::Declaration {
                routine,
                reason: format!("variables take more than {} bytes of registers", self.limit),
            });
        }
        if taken {
            if end > ADDRESSED {
                return Err(TranslateError::Declaration {
                    routine,
                    reason: "variables whose address is taken are larger than 64 KiB".into(),
                });
            }
            self.taken.push(offset..end);
        }
        self.size = end;
        Ok(Place {
            offset,
            bytes: size,
            available,
            data_type: DataType::Ud,
            elements: u32::try_from(size / 4).unwrap_or(u32::MAX),
        })
    }

    /// Storage of variables whose address is taken, by number and size. Those whose lives do not overlap share it.
    fn allocate_taken(
        &mut self,
        routine: RoutineId,
        sizes: &[(usize, usize)],
        lives: &BTreeMap<usize, Life>,
    ) -> Result<Vec<(usize, Place)>, TranslateError> {
        let life = |index: &usize| lives.get(index).cloned().unwrap_or(0..=usize::MAX);
        let mut sorted: Vec<_> = sizes.iter().map(|(i, size)| (life(i), *i, *size)).collect();
        sorted.sort_by_key(|(life, index, _)| (*life.start(), *index));
        // Places, and the last instruction that needs them.
        let mut used: Vec<(Place, usize)> = Vec::new();
        let mut places = Vec::new();
        for (life, index, size) in sorted {
            let mut free = used
                .iter_mut()
                .filter(|(place, last)| *last < *life.start() && size <= place.available);
            let place = match free.next() {
                Some((place, last)) => {
                    *last = *life.end();
                    Place {
                        bytes: size,
                        elements: u32::try_from(size / 4).unwrap_or(u32::MAX),
                        ..*place
                    }
                }
                None => {
                    let place = self.allocate(routine, size, true)?;
                    used.push((place, *life.end()));
                    place
                }
            };
            places.push((index, place));
        }
        Ok(places)
    }

    /// An array that is no general variable.
    fn plain(
        &mut self,
        routine: RoutineId,
        elements: usize,
        data_type: DataType,
    ) -> Result<Place, TranslateError> {
        let size = elements * usize::from(data_type.size());
        let offset = self.size;
        self.size = offset.saturating_add(size.next_multiple_of(8));
        if self.size > self.limit {
            return Err(TranslateError::Declaration {
                routine,
                reason: format!("variables take more than {} bytes of registers", self.limit),
            });
        }
        Ok(Place {
            offset,
            bytes: size,
            available: size,
            data_type,
            elements: u32::try_from(elements).unwrap_or(u32::MAX),
        })
    }

    /// The place of a constant; equal constants share one.
    pub(crate) fn constant(&mut self, bytes: &[u8]) -> usize {
        if let Some(place) = place_of(&self.constants, bytes) {
            return place;
        }
        self.size = self.size.next_multiple_of(8);
        let place = self.size;
        self.size += bytes.len();
        self.constants.push((place, bytes.to_vec()));
        place
    }

    /// Everything is where the moves say; variables that share a place with others are no longer there.
    pub(crate) fn relocate(&mut self, moves: &Moves) {
        let moved = |place: &mut Place| {
            let to = moves.own(place.offset);
            place.offset = to.unwrap_or(place.offset);
            to.is_some()
        };
        for (place, _) in &mut self.contents {
            *place = moves.own(*place).unwrap_or(*place);
        }
        for routine in &mut self.routines {
            for variable in &mut routine.variables {
                variable.take_if(|place| !moved(place));
            }
            let lists = [
                &mut routine.addresses,
                &mut routine.predicates,
                &mut routine.surfaces,
                &mut routine.samplers,
            ];
            for place in lists.into_iter().flatten() {
                moved(place);
            }
            routine.bindless_sampler.as_mut().map(moved);
        }
    }

    /// Appends the tail; nothing may be added afterwards.
    pub(crate) fn finish(&mut self) {
        self.size = self.size.next_multiple_of(64) + TAIL;
    }
}

const EMPTY: Place = Place {
    offset: 0,
    bytes: 0,
    available: 0,
    data_type: DataType::Ud,
    elements: 0,
};

/// A variable inside of the storage of its root.
fn alias(variable: &Variable<'_>, root: Place, offset: usize) -> Place {
    Place {
        offset: root.offset + offset,
        bytes: variable.size() as usize,
        available: root.available.saturating_sub(offset),
        data_type: variable.properties.data_type(),
        elements: u32::from(variable.elements),
    }
}

/// Follows aliases to the variable that has storage, and the byte offset in it.
fn root(
    object: &Object<'_>,
    body: &Body<'_>,
    format: Format,
    index: usize,
) -> Option<(Root, usize)> {
    let predefined = format.predefined_variable_count() as usize;
    let mut index = index;
    let mut offset = 0usize;
    // A chain that is longer than the table goes round in circles.
    for _ in 0..=body.variables.len() {
        let variable = body.variables.get(index)?;
        if !variable.is_alias() {
            return Some((Root::Own(index), offset));
        }
        offset += usize::from(variable.alias_offset);
        let target = variable.alias.0 as usize;
        if variable.alias_scope != 0 {
            return (target < object.file_variables.len()).then_some((Root::File(target), offset));
        }
        if target < predefined {
            return Some((Root::Predefined(target), offset));
        }
        index = target - predefined;
    }
    None
}

/// Sizes of the predefined variables; those that are counted in registers grow with them.
fn predefined_sizes(format: Format, grf: usize) -> Vec<usize> {
    format
        .predefined_variables()
        .iter()
        .map(|variable| {
            let size = usize::from(variable.elements) * usize::from(variable.data_type.size());
            if size >= 32 { size / 32 * grf } else { size }
        })
        .collect()
}

fn surface_elements(body: &Body<'_>, format: Format, index: usize) -> usize {
    let predefined = usize::from(format.predefined_surface_count());
    match index.checked_sub(predefined) {
        None => 1,
        Some(own) => body
            .surfaces
            .get(own)
            .map_or(0, |s| usize::from(s.elements)),
    }
}

/// Variables of a routine whose address is taken.
#[derive(Default)]
struct Taken {
    own: BTreeSet<usize>,
    shared: BTreeSet<Root>,
    surfaces: BTreeSet<usize>,
}

impl Taken {
    /// Numbers and sizes of the routine's own variables.
    fn sizes(&self, body: &Body<'_>) -> Vec<(usize, usize)> {
        let size = |index: &usize| body.variables.get(*index).map_or(0, |v| v.size() as usize);
        self.own.iter().map(|index| (*index, size(index))).collect()
    }

    fn find(body: &Body<'_>, format: Format, roots: &[Option<(Root, usize)>]) -> Self {
        let mut taken = Self::default();
        let predefined = format.predefined_variable_count();
        let mut general = |id: VarId| match id.0.checked_sub(predefined) {
            None => {
                taken.shared.insert(Root::Predefined(id.0 as usize));
            }
            Some(index) => match roots.get(index as usize).copied().flatten() {
                Some((Root::Own(index), _)) => {
                    taken.own.insert(index);
                }
                Some((shared, _)) => {
                    taken.shared.insert(shared);
                }
                None => {}
            },
        };
        for instruction in body.instructions() {
            if instruction.op != Op::ADDR_ADD {
                continue;
            }
            match instruction.get(FieldName::Src0) {
                Some(Value::Vector(VectorOperand::General(operand))) => general(operand.variable),
                Some(Value::Vector(VectorOperand::State(operand))) if operand.class.0 == 0 => {
                    taken.surfaces.insert(usize::from(operand.index));
                }
                _ => {}
            }
        }
        taken
    }
}
