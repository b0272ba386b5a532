//! The table of supported instructions in the documentation.

#![allow(missing_docs)]

use std::fmt::Write;
use visakit_exec::{Options, Program, support};
use visakit_isa::object::{RoutineId, RoutineKind};
use visakit_testing::layouts::Case;

const BEGIN: &str = "<!-- support -->\n";
const END: &str = "<!-- /support -->\n";

#[test]
fn the_page_has_the_table() {
    let path = visakit_testing::root().join("docs/execution.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let mut table = String::from("| instruction | mnemonic | runs |\n|---|---|---|\n");
    for row in support::table() {
        let def = row.op.def();
        let mnemonic = def.mnemonics.first().copied().unwrap_or("");
        let runs = row
            .reason
            .map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
        writeln!(table, "| {} | `{mnemonic}` | {runs} |", def.name).unwrap();
    }
    visakit_testing::page::holds(&path, &format!("{head}{BEGIN}{table}{END}{tail}"));
}

/// Of every row that the page says runs, some instruction is translated.
#[test]
fn what_runs_is_translated() {
    let cases = visakit_testing::layouts::cases();
    let mut refused = Vec::new();
    for row in support::table().filter(|row| row.reason.is_none()) {
        let kernel = RoutineId::new(RoutineKind::Kernel, 0);
        let mut reasons = Vec::new();
        let of_row = cases.iter().filter(|case| case.def.op == row.op);
        let translated = of_row.map(Case::read).any(|object| {
            let options = Options {
                strict: true,
                ..Options::default()
            };
            match Program::new(&object, kernel, &options) {
                Ok(_) => true,
                Err(error) => {
                    reasons.push(error.to_string());
                    false
                }
            }
        });
        if !translated {
            reasons.dedup();
            refused.push(format!("{:?}: {reasons:?}", row.op));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
