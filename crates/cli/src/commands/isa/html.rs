//! The reference as one page for browsers.

use super::report::{Field, Names, Row};
use std::fmt::Write as _;

/// Light and dark, as the reader has it.
const STYLE: &str = "
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
code, td.n { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-size: 90%; }
td, th { text-align: left; vertical-align: top; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid #8884; }
nav { columns: 14rem; font-family: ui-monospace, monospace; font-size: 85%; }
nav h3 { margin: .6rem 0 .2rem; font-family: system-ui, sans-serif; }
nav a { display: block; text-decoration: none; }
article { border-top: 2px solid #8886; margin-top: 2rem; }
";

/// All rows, with a table of contents by group.
pub(super) fn page(rows: &[Row]) -> String {
    let mut page = String::new();
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>vISA instructions</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>vISA instructions</h1>\n<p>{} of visakit {}: fields in stream \
         order, versions and platforms.</p>\n<nav>\n",
        crate::output::count(rows.len(), "instruction"),
        env!("CARGO_PKG_VERSION")
    );
    let mut groups: Vec<&str> = Vec::new();
    for row in rows {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    for group in groups {
        let _ = writeln!(page, "<h3>{}</h3>", escaped(group));
        for row in rows.iter().filter(|row| row.group == group) {
            let _ = writeln!(page, "<a href=\"#{0}\">{0}</a>", escaped(row.name));
        }
    }
    page.push_str("</nav>\n");
    for row in rows {
        article(&mut page, row);
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn article(page: &mut String, row: &Row) {
    let name = escaped(row.name);
    let _ = writeln!(
        page,
        "<article id=\"{name}\">\n<h2><code>{name}</code></h2>\n<p>{}</p>\n<table>",
        escaped(row.summary)
    );
    super::text::facts(row, |name, value| {
        let _ = writeln!(
            page,
            "<tr><th>{}</th><td>{}</td></tr>",
            escaped(name),
            escaped(&value)
        );
    });
    page.push_str("</table>\n");
    if !row.fields.is_empty() {
        fields(page, &row.fields);
    }
    for names in &row.enumerations {
        enumeration(page, names);
    }
    if let Some(note) = row.note {
        let _ = writeln!(page, "<p>{}</p>", escaped(note));
    }
    page.push_str("</article>\n");
}

fn fields(page: &mut String, fields: &[Field]) {
    page.push_str("<table>\n<tr>");
    for (head, _) in super::text::FIELDS {
        let _ = write!(page, "<th>{head}</th>");
    }
    page.push_str("</tr>\n");
    for (number, field) in fields.iter().enumerate() {
        page.push_str("<tr>");
        for cell in super::text::cells(number, field) {
            let _ = write!(page, "<td class=\"n\">{}</td>", escaped(&cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

fn enumeration(page: &mut String, names: &Names) {
    let values = names.values.iter();
    let values: Vec<_> = values
        .map(|v| format!("{}&nbsp;=&nbsp;{}", v.code, escaped(v.name)))
        .collect();
    let _ = writeln!(
        page,
        "<p><code>{}</code> {}<br>{}</p>",
        escaped(names.name),
        escaped(names.summary),
        values.join(", ")
    );
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
