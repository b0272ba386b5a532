//! Variables, inputs, labels.

use crate::checker::Checker;
use crate::report::Location;
use crate::rules;
use crate::storage::End;
use crate::structure::attributes;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use visakit_isa::object::{Attribute, Declaration, Input, InputKind, RoutineKind, Variable};
use visakit_isa::{DataType, SamplerId, StringId, VarId};

/// Implicit kind of inputs that the program itself fills.
const PSEUDO: u8 = visakit_isa::enums::implicit_input::PSEUDO_INPUT;
/// Labels of instructions have 16 bits, predicates 12, surfaces and samplers 8.
const MOST_PREDICATES: usize = 4095;
const MOST_ADDRESSES: usize = 4096;
const MOST_SURFACES: usize = 256;
const MOST_SAMPLERS: usize = 32;

pub(crate) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    let location = Location::of_routine(checker.id);
    for (index, variable) in body.variables.iter().enumerate() {
        self::variable(checker, index, variable);
    }
    for (table, list) in [
        ("addresses", &body.addresses),
        ("predicates", &body.predicates),
        ("samplers", &body.samplers),
        ("surfaces", &body.surfaces),
    ] {
        for (index, declared) in list.iter().enumerate() {
            declaration(checker, table, index, declared);
        }
    }
    let surfaces = usize::from(checker.format.predefined_surface_count());
    for (table, length, most) in [
        ("addresses", body.addresses.len(), MOST_ADDRESSES),
        ("predicates", body.predicates.len(), MOST_PREDICATES),
        ("samplers", body.samplers.len(), MOST_SAMPLERS),
        ("surfaces", body.surfaces.len(), MOST_SURFACES - surfaces),
    ] {
        if length > most {
            checker
                .sink
                .add(&rules::TABLE_FULL, location.field(table, 0), || {
                    format!("{length} {table}, instructions can name {most}")
                });
        }
    }
    for (index, label) in body.labels.iter().enumerate() {
        let location = location.entry("labels", index);
        name(checker, location, label.name);
        attributes(
            location,
            &label.attributes,
            body.strings.len(),
            checker.sink,
        );
        if label.kind.name().is_none() {
            checker
                .sink
                .add(&rules::LABEL_KIND, location.field("kind", 0), || {
                    format!("kind {} has no name", label.kind.0)
                });
        }
    }
    inputs(checker);
    routine_attributes(checker);
}

/// The name of an entry exists.
fn name(checker: &mut Checker<'_, '_>, location: Location, id: StringId) {
    let strings = checker.body.strings.len();
    checker
        .sink
        .index(location.field("name", 0), "string", id.0, strings);
}

fn variable(checker: &mut Checker<'_, '_>, index: usize, variable: &Variable<'_>) {
    let location = Location::of_routine(checker.id).entry("variables", index);
    let strings = checker.body.strings.len();
    name(checker, location, variable.name);
    attributes(location, &variable.attributes, strings, checker.sink);
    let ty = variable.properties.data_type();
    if ty.is_packed() || ty == DataType::Bool {
        checker.sink.add(
            &rules::VARIABLE_TYPE,
            location.field("properties", 0),
            || format!("a variable of type {ty}"),
        );
        return;
    }
    if variable.properties.alignment().bytes(32).is_none() {
        let code = variable.properties.alignment().0;
        checker
            .sink
            .add(&rules::ALIGNMENT, location.field("properties", 0), || {
                format!("alignment code {code}")
            });
    }
    let most = checker.registers.most * 256;
    if variable.elements == 0 || u32::from(variable.elements) > most {
        let elements = variable.elements;
        checker.sink.add(
            &rules::VARIABLE_ELEMENTS,
            location.field("elements", 0),
            || format!("{elements} elements, expected 1 to {most}"),
        );
    }
    alias(checker, location, index, variable);
}

fn alias(checker: &mut Checker<'_, '_>, location: Location, index: usize, variable: &Variable<'_>) {
    let body = checker.body;
    let first = checker.format.predefined_variable_count();
    let start = usize::try_from(first).unwrap_or(0);
    let Some(found) = checker.variables.get(start + index) else {
        return;
    };
    let (at_alias, at_offset) = (
        location.field("alias", 0),
        location.field("alias_offset", 0),
    );
    match variable.alias_scope {
        0 => {}
        1 => {
            let (id, end) = (variable.alias.0, checker.object.file_variables.len());
            if usize::try_from(id).is_ok_and(|i| i >= end) {
                let message =
                    || format!("file-scope variable {id} does not exist, the table ends at {end}");
                checker.sink.add(&rules::ALIAS_SCOPE, at_alias, message);
            }
            return;
        }
        scope => {
            let location = location.field("alias_scope", 0);
            checker.sink.add(&rules::ALIAS_SCOPE, location, || {
                format!("scope {scope}, expected 0 or 1")
            });
            return;
        }
    }
    if variable.alias == VarId::NULL {
        if variable.alias_offset != 0 {
            let offset = variable.alias_offset;
            checker
                .sink
                .add(&rules::OFFSET_WITHOUT_ALIAS, at_offset, || {
                    format!("offset {offset} into nothing")
                });
        }
        return;
    }
    let Some(parent) = variable.alias.0.checked_sub(first) else {
        let known = checker.format.predefined_variable(variable.alias);
        let name = known.map_or("", |v| v.name);
        let may = matches!(
            name,
            "r0" | "arg" | "retval" | "sp" | "fp" | "impl_arg_buf_ptr" | "local_id_buf_ptr"
        );
        if !may {
            let id = variable.alias;
            checker.sink.add(&rules::ALIAS_PREDEFINED, at_alias, || {
                format!("an alias of {id} ({name})")
            });
        }
        return;
    };
    let parent = usize::try_from(parent).unwrap_or(usize::MAX);
    let Some(shared) = body.variables.get(parent) else {
        let end = checker.variables.len();
        let id = variable.alias.0;
        checker.sink.index(at_alias, "variable", id, end);
        return;
    };
    if found.end == End::Cycle {
        checker.sink.add(&rules::ALIAS_CYCLE, at_alias, || {
            "following its aliases comes back".to_string()
        });
        return;
    }
    if parent >= index {
        checker.sink.add(&rules::ALIAS_FORWARD, at_alias, || {
            format!("an alias of {}, which is declared later", variable.alias)
        });
    }
    let root = found.end.root(body).map(|root| (root, found.offset));
    storage(checker, (at_alias, at_offset), variable, (shared, root));
}

/// Checks where an alias is in the variable that it shares, and in the variable that all of them share, in which it begins
/// at that byte.
fn storage(
    checker: &mut Checker<'_, '_>,
    (at_alias, at_offset): (Location, Location),
    variable: &Variable<'_>,
    (shared, root): (&Variable<'_>, Option<(&Variable<'_>, u32)>),
) {
    let ty = variable.properties.data_type();
    let (offset, own) = (u32::from(variable.alias_offset), variable.size());
    if let Some((root, begins)) = root {
        if begins >= root.size() {
            let size = root.size();
            checker.sink.add(&rules::ALIAS_OFFSET, at_offset, || {
                format!("begins at byte {begins} of {size}")
            });
            return;
        }
        let aligned = root.properties.alignment().bytes(32).unwrap_or(1);
        let aligned = aligned.max(root.properties.data_type().size().into());
        // A variable that fills a register starts at one.
        let register = checker.registers.most;
        let aligned = if root.size() >= register {
            register
        } else {
            aligned
        };
        if aligned < u32::from(ty.size()) {
            checker.sink.add(&rules::ALIAS_ALIGNMENT, at_alias, || {
                format!("of type {ty} in storage that is aligned to {aligned} bytes")
            });
        }
    }
    if offset.saturating_add(own) > shared.size() {
        let size = shared.size();
        checker.sink.add(&rules::ALIAS_OVERRUN, at_offset, || {
            format!("bytes {offset} to {} of {size}", offset + own - 1)
        });
    }
    if offset % u32::from(ty.size()) != 0 {
        checker
            .sink
            .add(&rules::ALIAS_OFFSET_ALIGNMENT, at_offset, || {
                format!("type {ty} at byte {offset}")
            });
    }
}

fn declaration(
    checker: &mut Checker<'_, '_>,
    table: &'static str,
    index: usize,
    declared: &Declaration<'_>,
) {
    let location = Location::of_routine(checker.id).entry(table, index);
    let strings = checker.body.strings.len();
    name(checker, location, declared.name);
    attributes(location, &declared.attributes, strings, checker.sink);
    let elements = declared.elements;
    let rule = match table {
        "predicates" => {
            let sound = elements.is_power_of_two() && elements <= 32;
            (!sound).then_some(&rules::PREDICATE_ELEMENTS)
        }
        _ if elements == 0 => Some(&rules::EMPTY_DECLARATION),
        "addresses" => {
            let most = checker.registers.addresses;
            (u32::from(elements) > most).then_some(&rules::ADDRESS_ELEMENTS)
        }
        "samplers" => (elements > 128).then_some(&rules::STATE_ELEMENTS),
        _ => None,
    };
    if let Some(rule) = rule {
        checker.sink.add(rule, location.field("elements", 0), || {
            format!("{elements} elements")
        });
    }
}

fn inputs(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    let mut ranges: Vec<(u32, u32, usize)> = Vec::new();
    for (index, input) in body.inputs.iter().enumerate() {
        if self::input(checker, index, input) {
            let start = u32::from(input.offset.unsigned_abs());
            ranges.push((start, start + u32::from(input.size), index));
        }
    }
    ranges.sort_unstable();
    let mut last: Option<(u32, usize)> = None;
    for (start, end, index) in ranges {
        if let Some((reach, other)) = last
            && start < reach
        {
            let location = Location::of_routine(checker.id)
                .entry("inputs", index)
                .field("offset", 0);
            checker.sink.add(&rules::INPUT_OVERLAP, location, || {
                format!(
                    "bytes {start} to {} are those of input {other}, too",
                    end.min(reach) - 1
                )
            });
        }
        if last.is_none_or(|(reach, _)| end > reach) {
            last = Some((end, index));
        }
    }
}

/// Checks an input, and returns whether it takes part in the comparison of places.
fn input(checker: &mut Checker<'_, '_>, index: usize, input: &Input) -> bool {
    let location = Location::of_routine(checker.id).entry("inputs", index);
    if input.kind.implicit_name().is_none() {
        let kind = input.kind.implicit_kind();
        checker
            .sink
            .add(&rules::INPUT_KIND, location.field("kind", 0), || {
                format!("implicit kind {kind} has no name")
            });
    }
    match input.kind.class() {
        InputKind::GENERAL => general_input(checker, location, input),
        InputKind::SAMPLER => state_input(checker, location, input),
        InputKind::SURFACE => state_input(checker, location, input),
        InputKind(class) => {
            checker
                .sink
                .add(&rules::INPUT_CLASS, location.field("kind", 0), || {
                    format!("class {class}, expected 0, 1 or 2")
                });
        }
    }
    if input.kind.implicit_kind() == PSEUDO {
        return false;
    }
    let most = checker.registers.most * 255;
    let end = i64::from(input.offset) + i64::from(input.size);
    if input.offset < 0 || end > i64::from(most) {
        let offset = input.offset;
        checker
            .sink
            .add(&rules::INPUT_OUTSIDE, location.field("offset", 0), || {
                format!("bytes {offset} to {end} of {most}")
            });
        return false;
    }
    input.size > 0
}

fn general_input(checker: &mut Checker<'_, '_>, location: Location, input: &Input) {
    let first = checker.format.predefined_variable_count();
    let at_index = location.field("index", 0);
    let Some(declared) = input.index.checked_sub(first) else {
        checker.sink.add(&rules::INPUT_VARIABLE, at_index, || {
            format!("names the predefined variable V{}", input.index)
        });
        return;
    };
    let variables = &checker.body.variables;
    let Some(variable) = variables.get(usize::try_from(declared).unwrap_or(usize::MAX)) else {
        let end = checker.variables.len();
        checker.sink.index(at_index, "variable", input.index, end);
        return;
    };
    let (stated, size) = (u32::from(input.size), variable.size());
    if stated != size {
        checker
            .sink
            .add(&rules::INPUT_SIZE, location.field("size", 0), || {
                format!("{stated} bytes, its variable has {size}")
            });
    }
    let Ok(offset) = u32::try_from(input.offset) else {
        return;
    };
    let (least, most) = (checker.registers.least, checker.registers.most);
    if stated > 0 && stated < least && offset / most != (offset + stated - 1) / most {
        checker
            .sink
            .add(&rules::INPUT_STRADDLES, location.field("offset", 0), || {
                format!(
                    "bytes {offset} to {} lie in two registers",
                    offset + stated - 1
                )
            });
    }
    let ty = variable.properties.data_type();
    if offset % u32::from(ty.size()) != 0 {
        checker
            .sink
            .add(&rules::INPUT_ALIGNMENT, location.field("offset", 0), || {
                format!("type {ty} at byte {offset}")
            });
    }
}

fn state_input(checker: &mut Checker<'_, '_>, location: Location, input: &Input) {
    let body = checker.body;
    let (what, list, first) = if input.kind.class() == InputKind::SAMPLER {
        ("sampler", &body.samplers, 0)
    } else {
        let first = checker.format.predefined_surface_count();
        ("surface", &body.surfaces, u32::from(first))
    };
    let declared = input.index.checked_sub(first);
    let declared = declared.and_then(|i| list.get(usize::try_from(i).ok()?));
    let bindless = what == "sampler" && input.index == u32::from(SamplerId::BINDLESS.0);
    match declared {
        None if bindless => {}
        None => checker
            .sink
            .add(&rules::INPUT_UNDECLARED, location.field("index", 0), || {
                format!("{what} {} is not declared", input.index)
            }),
        Some(surface) if what == "surface" => {
            let wanted = u32::from(surface.elements) * 4;
            if u32::from(input.size) != wanted {
                let size = input.size;
                checker
                    .sink
                    .add(&rules::INPUT_SIZE, location.field("size", 0), || {
                        format!("{size} bytes, its surface has {wanted}")
                    });
            }
        }
        Some(_) => {}
    }
}

fn routine_attributes(checker: &mut Checker<'_, '_>) {
    /// Attributes that are numbers.
    const NUMBERS: [&[u8]; 6] = [
        b"SLMSize",
        b"Target",
        b"SimdSize",
        b"ArgSize",
        b"RetValSize",
        b"NBarrierCnt",
    ];
    let body = checker.body;
    let location = Location::of_routine(checker.id);
    let strings = body.strings.len();
    let mut once = [false; 2];
    for (index, attribute) in body.attributes.iter().enumerate() {
        let location = location.entry("attributes", index);
        let Some(name) = body.string(attribute.name) else {
            attributes(
                location,
                core::slice::from_ref(attribute),
                strings,
                checker.sink,
            );
            continue;
        };
        let shown = String::from_utf8_lossy(name);
        if NUMBERS.contains(&name) && attribute.value.len() > 4 {
            let message = || format!("{shown} is a number of {} bytes", attribute.value.len());
            let location = location.field("value", 0);
            checker.sink.add(&rules::ATTRIBUTE_SIZE, location, message);
        }
        let known = [b"SLMSize".as_slice(), b"NBarrierCnt"];
        let Some(number) = known.iter().position(|n| *n == name) else {
            continue;
        };
        if let Some(seen) = once.get_mut(number)
            && core::mem::replace(seen, true)
        {
            let message = || format!("a second {shown}");
            let location = location.field("name", 0);
            checker
                .sink
                .add(&rules::ATTRIBUTE_REPEATED, location, message);
        }
    }
    if checker.id.kind == RoutineKind::Function {
        signature(checker);
    }
}

fn signature(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (name, field, stored, most) in [
        ("ArgSize", "input_size", body.input_size, 32u64),
        (
            "RetValSize",
            "return_value_size",
            body.return_value_size,
            12,
        ),
    ] {
        let stated = body.attribute(name).and_then(Attribute::number);
        let size = stated.unwrap_or(0).max(stored.into());
        if size > most {
            let location = Location::of_routine(checker.id).field(field, 0);
            checker.sink.add(&rules::SIGNATURE, location, || {
                format!("{size} registers, {most} can be passed")
            });
        }
    }
}
