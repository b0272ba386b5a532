//! The reference page of the schema.

use crate::schema::{Tables, VERSION};
use std::fmt::Write;

/// The tables and their columns in Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = format!("Version {VERSION} of the schema.\n");
    for table in Tables::DEFS {
        let _ = write!(
            page,
            "\n### `{}`\n\n{}\n\n| column | type | may be absent | what |\n|---|---|---|---|\n",
            table.name,
            table.doc.trim()
        );
        for column in table.columns {
            let nullable = if column.nullable { "yes" } else { "" };
            let (name, ty, doc) = (column.name, column.ty.name(), column.doc.trim());
            let _ = writeln!(page, "| `{name}` | `{ty}` | {nullable} | {doc} |");
        }
    }
    page
}
