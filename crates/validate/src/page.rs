//! The rules as a page.

use crate::rule::Area;
use crate::rules;
use alloc::string::String;
use core::fmt::Write as _;

/// All rules as a Markdown page, `docs/rules.md` of the repository.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Rules of the validator\n\n\
         This page is written by `visakit_validate::page`, from the declarations that `visakit explain`\n\
         shows; a test keeps it in step. Errors are what the verifier of the reference implementation\n\
         refuses, and what no reader could make sense of. Warnings are rules of the specification that\n\
         real objects break. `docs/validation.md` tells which ones they break, and how far the errors agree with\n\
         Intel's own verifier.\n",
    );
    for area in Area::ALL {
        // Writing to a string does not fail.
        let _ = write!(page, "\n## {}\n", title(area));
        for rule in rules::all().filter(|r| r.area() == area) {
            let _ = write!(
                page,
                "\n### {}\n\n{}: {}\n\nWhat to do: {}\n\nSource: {}.\n",
                rule.id(),
                match rule.severity {
                    crate::Severity::Error => "Error",
                    crate::Severity::Warning => "Warning",
                },
                rule.what,
                rule.action,
                rule.source,
            );
        }
    }
    page.push_str("\n## Retired\n\nThese numbers are not given a second time.\n\n");
    for (number, name, rule) in rules::RETIRED {
        let _ = writeln!(page, "- V{number:04}-{name}: now {}", rule.id());
    }
    page
}

fn title(area: Area) -> String {
    let mut letters = area.name().chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
