//! The table of supported instructions in the documentation.

#![allow(missing_docs)]

use std::fmt::Write;
use visakit_exec::support;

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
