//! Names that have a meaning without a declaration.

use visakit_isa::object::Relocation;
use visakit_isa::{AddressId, Format, PredicateId, SamplerId, SurfaceId, VarId};

/// The meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    General(VarId),
    Address(AddressId),
    Predicate(PredicateId),
    Sampler(SamplerId),
    Surface(SurfaceId),
}

impl Symbol {
    /// What it is called in messages.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::General(_) => "a general variable",
            Self::Address(_) => "an address variable",
            Self::Predicate(_) => "a predicate variable",
            Self::Sampler(_) => "a sampler",
            Self::Surface(_) => "a surface",
        }
    }
}

/// The name of the undeclared sampler.
pub(crate) const BINDLESS_SAMPLER: &str = "S31";

/// The meaning of a name that is not declared anywhere.
pub(crate) fn predefined(name: &[u8], format: Format) -> Option<Symbol> {
    let (first, rest) = name.split_first()?;
    match first {
        b'#' => return numbered(name),
        b'%' => {
            let mut known = format.predefined_variables().iter();
            if let Some(id) = known.position(|v| v.name.as_bytes() == rest) {
                return Some(Symbol::General(VarId(u32::try_from(id).ok()?)));
            }
        }
        _ => {}
    }
    for id in (0..format.predefined_surface_count()).map(SurfaceId) {
        let surface = format.predefined_surface(id)?;
        if surface.name.as_bytes() == name || surface.old_name.as_bytes() == name {
            return Some(Symbol::Surface(id));
        }
    }
    if name == BINDLESS_SAMPLER.as_bytes() {
        return Some(Symbol::Sampler(SamplerId::BINDLESS));
    }
    // Printers name reserved variables after their number.
    let number: u32 = core::str::from_utf8(name.strip_prefix(b"V")?)
        .ok()?
        .parse()
        .ok()?;
    (number < format.predefined_variable_count()).then_some(Symbol::General(VarId(number)))
}

/// `#T7`: a symbol identified by its number, declared or not.
pub(crate) fn numbered(name: &[u8]) -> Option<Symbol> {
    let (letter, number) = letter_and_number(name)?;
    let narrow = u16::try_from(number).ok();
    let byte = u8::try_from(number).ok();
    match letter {
        b'V' => Some(Symbol::General(VarId(number))),
        b'A' => narrow.map(|n| Symbol::Address(AddressId(n))),
        b'P' => narrow.map(|n| Symbol::Predicate(PredicateId(n))),
        b'S' => byte.map(|n| Symbol::Sampler(SamplerId(n))),
        b'T' => byte.map(|n| Symbol::Surface(SurfaceId(n))),
        _ => None,
    }
}

/// Letter and number of `#T7`.
pub(crate) fn letter_and_number(name: &[u8]) -> Option<(u8, u32)> {
    let (letter, digits) = name.strip_prefix(b"#")?.split_first()?;
    let digits = core::str::from_utf8(digits).ok()?;
    Some((*letter, digits.parse().ok()?))
}

/// The file-wide number of a file variable, given the relocations of the routine that names it.
pub(crate) fn resolved(relocations: &[Relocation], id: VarId) -> u32 {
    let found = relocations.iter().find(|r| u32::from(r.symbolic) == id.0);
    found.map_or(id.0, |r| r.resolved.into())
}

/// The number of a file variable within a routine: the inverse of `resolved`.
pub(crate) fn symbolic(relocations: &[Relocation], number: u32) -> VarId {
    let found = relocations.iter().find(|r| u32::from(r.resolved) == number);
    VarId(found.map_or(number, |r| r.symbolic.into()))
}
