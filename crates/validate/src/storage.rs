//! Where variables have their storage.

use alloc::vec::Vec;
use visakit_isa::object::Body;
use visakit_isa::{DataType, Format, VarId};

/// How aliases of a variable end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At a declared variable with storage of its own, by its place in the table.
    Declared(u32),
    /// At a predefined variable.
    Predefined(VarId),
    /// At a file-scope variable.
    File,
    /// At a variable that does not exist.
    Missing,
    /// Nowhere.
    Cycle,
}

/// The storage of a declared variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Storage {
    pub(crate) end: End,
    /// Offset from the start of that variable in bytes.
    pub(crate) offset: u32,
}

/// A general variable, as operands see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General {
    pub(crate) ty: DataType,
    /// Bytes; 0 for a predefined variable of unknown size.
    pub(crate) size: u32,
    /// `None` for predefined variables.
    pub(crate) declared: Option<(u32, Storage)>,
}

/// Follows the aliases of all variables of a routine, each link once.
pub(crate) fn storages(body: &Body<'_>, format: Format) -> Vec<Storage> {
    let first = format.predefined_variable_count();
    let mut found: Vec<Option<Storage>> = alloc::vec![None; body.variables.len()];
    // 0: not seen, else the number of the walk that has seen it.
    let mut seen = alloc::vec![0u32; body.variables.len()];
    let mut path: Vec<usize> = Vec::new();
    for start in 0..body.variables.len() {
        let walk = u32::try_from(start).unwrap_or(u32::MAX - 1) + 1;
        let mut at = start;
        let mut storage = loop {
            if let Some(Some(known)) = found.get(at) {
                break *known;
            }
            let (Some(variable), Some(mark)) = (body.variables.get(at), seen.get_mut(at)) else {
                break Storage {
                    end: End::Missing,
                    offset: 0,
                };
            };
            if *mark == walk {
                break Storage {
                    end: End::Cycle,
                    offset: 0,
                };
            }
            *mark = walk;
            path.push(at);
            if variable.alias_scope != 0 {
                break Storage {
                    end: End::File,
                    offset: 0,
                };
            }
            match variable.alias.0 {
                0 => {
                    path.pop();
                    let own = Storage {
                        end: End::Declared(u32::try_from(at).unwrap_or(u32::MAX)),
                        offset: 0,
                    };
                    if let Some(place) = found.get_mut(at) {
                        *place = Some(own);
                    }
                    break own;
                }
                id if id < first => {
                    break Storage {
                        end: End::Predefined(VarId(id)),
                        offset: 0,
                    };
                }
                id => at = usize::try_from(id - first).unwrap_or(usize::MAX),
            }
        };
        // Back along the links, adding up their offsets.
        while let Some(link) = path.pop() {
            let offset = body.variables.get(link).map_or(0, |v| v.alias_offset);
            storage.offset = storage.offset.saturating_add(offset.into());
            if let Some(place) = found.get_mut(link) {
                *place = Some(storage);
            }
        }
    }
    let missing = Storage {
        end: End::Missing,
        offset: 0,
    };
    found.into_iter().map(|s| s.unwrap_or(missing)).collect()
}
