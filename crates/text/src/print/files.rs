//! Names of the files that Intel's printer writes.

use alloc::vec::Vec;
use visakit_isa::object::{Attribute, Body, Object, RoutineId, RoutineKind};

const EXTENSION: &[u8] = b".visaasm";
const ASSEMBLY: &[u8] = b".asm";

/// The name of the file that Intel's printer writes for a routine: the value of the kernel's
/// attribute `AsmName` or `OutputAsmPath`, without folders, and with `_f` and a number for
/// functions.
///
/// `None` if the object does not give a name.
#[must_use]
pub fn file_name(object: &Object<'_>, id: RoutineId) -> Option<Vec<u8>> {
    let mut name = match id.kind {
        RoutineKind::Kernel => path(object.routine(id)?.body()?)?,
        RoutineKind::Function => {
            let mut name = path(object.kernels.last()?.body()?)?;
            name.extend_from_slice(b"_f");
            name.extend_from_slice(alloc::format!("{}", id.index).as_bytes());
            name
        }
    };
    name.extend_from_slice(EXTENSION);
    Some(name)
}

fn path(body: &Body<'_>) -> Option<Vec<u8>> {
    let attribute = Attribute::PATHS
        .into_iter()
        .find_map(|name| body.attribute(name))?;
    let path = attribute.value.split(|b| *b == 0).next()?;
    let separator = if path.contains(&b'\\') { b'\\' } else { b'/' };
    let file = path.rsplit(|b| *b == separator).next()?;
    let end = file
        .windows(ASSEMBLY.len())
        .position(|w| w == ASSEMBLY)
        .unwrap_or(file.len());
    let name: Vec<u8> = file
        .iter()
        .take(end)
        .map(|&c| match c {
            b'/' | b':' | ..=0x08 | 0x0e..=0x1f | 0x7f.. => b'_',
            _ => c,
        })
        .collect();
    (!name.is_empty()).then_some(name)
}
