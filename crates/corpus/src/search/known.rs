//! What patterns may contain: a name or a word that nothing can match is a mistake, not a search without matches.

use super::pattern::fits;
use crate::names;
use visakit_isa::semantics::{Action, AddressSpace, Flow};
use visakit_isa::table::{self, FieldDef};
use visakit_isa::{DataType, FieldName};

/// All that a row is called, in lower case: its name, its mnemonics, and these with a shared function.
fn called(row: &table::InstructionDef) -> Vec<String> {
    let functions = row.fields.iter().find(|f| f.name == FieldName::Sfid);
    let functions = functions.and_then(|field| field.enumeration);
    let functions = functions
        .into_iter()
        .flat_map(|e| e.entries)
        .map(|(_, name)| *name);
    let with = functions.map(|function| format!("{}.{function}", row.mnemonic()));
    let names = row.mnemonics.iter().chain([&row.name]);
    let names = names.map(|name| name.to_ascii_lowercase());
    names.chain(with).collect()
}

/// Checks that some instruction's name matches; otherwise returns the error.
pub(super) fn mnemonic(glob: &str) -> Result<(), String> {
    let mut label = false;
    for row in table::rows() {
        if called(row).iter().any(|name| fits(name, glob)) {
            if !matches!(row.flow, Flow::Marker | Flow::Label { .. }) {
                return Ok(());
            }
            label = true;
        }
    }
    if label {
        return Err(format!(
            "`{glob}` is nothing that a thread runs: labels and debug information do not count"
        ));
    }
    let help = if glob.contains(['|', ',', '[', '{']) {
        "a step has one name, in which `*` stands for any letters and `?` for one"
    } else if glob.contains('.') {
        "behind the name a shared function may stand (lsc_load.ugm), the rest are keys: data_size=d64, cache_l1=ca"
    } else {
        "`*` stands for any letters, and `visakit isa` prints all names"
    };
    Err(format!("no instruction is called `{glob}`: {help}"))
}

/// Checks that one of the words a key can have matches; otherwise lists them. Keys whose values are names of variables
/// accept anything.
pub(super) fn value(key: &str, glob: &str) -> Result<(), String> {
    let words = match key {
        "exec" | "bytes" | "elements" | "address" | "imm" => {
            if glob.contains(['*', '?']) {
                return Ok(());
            }
            return Err(format!("`{key}` is a number, found `{glob}`"));
        }
        "group" => of_rows(|row| Some(row.group.name())),
        "flow" => of_rows(|row| Some(names::flow(row.flow))),
        "memory" => {
            let mut words = of_rows(|row| row.memory.map(|m| names::action(m.action)));
            // A load without a destination.
            words.push(names::action(Action::Prefetch));
            words
        }
        "layout" => of_rows(|row| row.memory.map(|m| names::layout(m.layout))),
        "space" => SPACES.map(names::space).to_vec(),
        "mask" => names::MASKS.to_vec(),
        "type" => DataType::ALL.iter().map(|ty| ty.name()).collect(),
        field => match FieldName::from_name(field).and_then(of_field) {
            Some(words) => words,
            None => return Ok(()),
        },
    };
    if words
        .iter()
        .any(|word| fits(&word.to_ascii_lowercase(), glob))
    {
        return Ok(());
    }
    let mut words = words;
    words.sort_unstable();
    words.dedup();
    Err(format!("`{key}` is never `{glob}`: {}", words.join(", ")))
}

const SPACES: [AddressSpace; 7] = [
    AddressSpace::Flat,
    AddressSpace::Slm,
    AddressSpace::AnySurface,
    AddressSpace::Arguments,
    AddressSpace::RenderTarget,
    AddressSpace::Urb,
    AddressSpace::All,
];

fn of_rows(word: impl Fn(&table::InstructionDef) -> Option<&'static str>) -> Vec<&'static str> {
    table::rows().filter_map(word).collect()
}

/// The names of the codes of a field, where all rows that have the field have names for its codes.
fn of_field(name: FieldName) -> Option<Vec<&'static str>> {
    let fields = || {
        let fields = table::rows().flat_map(|row| row.fields);
        fields.filter(move |field: &&FieldDef| field.name == name)
    };
    if fields().any(|field| field.enumeration.is_none()) {
        return None;
    }
    let enumerations = fields().filter_map(|field| field.enumeration);
    Some(
        enumerations
            .flat_map(|e| e.entries)
            .map(|(_, name)| *name)
            .collect(),
    )
}
