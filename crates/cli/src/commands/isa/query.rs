//! Maps the user's query to rows of the table.

use crate::output::printable;
use visakit::isa::table::{InstructionDef, rows};

type Def = &'static InstructionDef;

/// The result of a query, ordered by number.
#[derive(Debug)]
pub(super) struct Matches {
    /// The rows that match exactly.
    pub(super) exact: Vec<Def>,
    /// Rows whose names continue the query, if it is a whole name.
    pub(super) related: Vec<Def>,
}

impl Matches {
    /// Every row.
    pub(super) fn all() -> Self {
        Self::exactly(|_| true)
    }

    fn exactly(matches: impl Fn(Def) -> bool) -> Self {
        Self {
            exact: select(matches),
            related: Vec::new(),
        }
    }
}

fn select(matches: impl Fn(Def) -> bool) -> Vec<Def> {
    let mut found: Vec<Def> = rows().filter(|def| matches(def)).collect();
    found.sort_by_key(|def| def.op);
    found
}

/// The rows that a query means; an error suggests what could have been meant.
pub(super) fn find(query: &str) -> Result<Matches, String> {
    match number(query) {
        Some(Ok((opcode, sub_op))) => by_number(opcode, sub_op),
        Some(Err(error)) => Err(error),
        None => by_name(&query.to_lowercase()),
    }
}

/// An opcode with an optional sub-operation in the same base; `None` if it does not look like one.
fn number(query: &str) -> Option<Result<(u8, Option<u8>), String>> {
    let (digits, radix) = match query.strip_prefix("0x").or(query.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (query, 10),
    };
    let (opcode, sub_op) = match digits.split_once('.') {
        Some((opcode, sub_op)) => (opcode, Some(sub_op)),
        None => (digits, None),
    };
    let is_number = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_digit(radix));
    if radix == 10 && !(is_number(opcode) && sub_op.is_none_or(is_number)) {
        return None;
    }
    let byte = |s: &str| {
        u8::from_str_radix(s, radix).map_err(|_| {
            format!(
                "\"{}\" is not an opcode: a byte is expected, and a second one after a point for a \
                 sub-operation, as in 0x89.03",
                printable(query.as_bytes())
            )
        })
    };
    Some(byte(opcode).and_then(|opcode| Ok((opcode, sub_op.map(byte).transpose()?))))
}

fn by_number(opcode: u8, sub_op: Option<u8>) -> Result<Matches, String> {
    let of_opcode = select(|def| def.op.opcode() == opcode);
    if of_opcode.is_empty() {
        return Err(format!(
            "opcode {opcode:#04x} is reserved: no version has an instruction of that number"
        ));
    }
    let Some(sub_op) = sub_op else {
        return Ok(Matches::exactly(|def| def.op.opcode() == opcode));
    };
    let matches = Matches::exactly(|def| def.op.opcode() == opcode && def.sub_op == Some(sub_op));
    if !matches.exact.is_empty() {
        return Ok(matches);
    }
    Err(if of_opcode.iter().any(|def| def.sub_op.is_some()) {
        format!(
            "sub-operation {sub_op:#04x} of opcode {opcode:#04x} is reserved: no version has an \
             instruction of that number"
        )
    } else {
        format!("opcode {opcode:#04x} has no sub-operations")
    })
}

/// The spellings of a row in lower case: its name, its mnemonics, and other beginnings of its lines.
fn spellings(def: Def) -> impl Iterator<Item = String> {
    let forms = std::iter::once(&def.syntax.parts).chain(def.syntax.also);
    let begins = forms.flat_map(move |parts| def.spellings(parts));
    std::iter::once(def.name)
        .chain(def.mnemonics.iter().copied())
        .chain(begins)
        .map(|spelling| spelling.trim_matches([' ', '.']).to_lowercase())
        .filter(|spelling| !spelling.is_empty() && !spelling.contains('<'))
}

fn by_name(query: &str) -> Result<Matches, String> {
    if query.is_empty() {
        return Err("an empty name means no instruction".to_owned());
    }
    let exact = select(|def| spellings(def).any(|s| s == query));
    if !exact.is_empty() {
        // Only whole words are continuations: `lsc_load` is continued by `lsc_load_quad`, but `add`
        // not by `addc`.
        let goes_on = |s: String| {
            s.strip_prefix(query)
                .is_some_and(|rest| rest.starts_with(['_', '.']))
        };
        let related = select(|def| !exact.contains(&def) && spellings(def).any(goes_on));
        return Ok(Matches { exact, related });
    }
    let begins = select(|def| spellings(def).any(|s| s.starts_with(query)));
    if !begins.is_empty() {
        return Ok(Matches {
            exact: begins,
            related: Vec::new(),
        });
    }
    Err(unknown(query))
}

/// At most this many similar names are suggested.
const SUGGESTIONS: usize = 3;
/// Names that are less similar than this are not suggested.
const SIMILAR: f64 = 0.75;

fn unknown(query: &str) -> String {
    let mut similar: Vec<(f64, String)> = rows()
        .flat_map(spellings)
        .map(|name| {
            let contained = if name.contains(query) { 1.0 } else { 0.0 };
            (strsim::jaro_winkler(query, &name).max(contained), name)
        })
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .collect();
    similar.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    similar.dedup_by(|a, b| a.1 == b.1);
    let names: Vec<String> = similar
        .into_iter()
        .take(SUGGESTIONS)
        .map(|(_, name)| name)
        .collect();
    let hint = if names.is_empty() {
        "`visakit isa` lists all".to_owned()
    } else {
        format!("did you mean {}?", names.join(", "))
    };
    format!(
        "no instruction is called \"{}\"; {hint}",
        printable(query.as_bytes())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str) -> Vec<&'static str> {
        let matches = find(query).unwrap();
        matches.exact.iter().map(|def| def.name).collect()
    }

    #[test]
    fn numbers() {
        assert_eq!(names("0x47"), ["BFI"]);
        assert_eq!(names("71"), ["BFI"]);
        assert_eq!(names("0x89.03"), ["LSC_LOAD_BLOCK2D"]);
        assert_eq!(names("137.3"), ["LSC_LOAD_BLOCK2D"]);
        assert_eq!(names("0x89").len(), 40);
        assert_eq!(names("0x60").len(), 2);
        assert!(find("0xff").unwrap_err().contains("reserved"));
        assert!(find("0x89.3f").unwrap_err().contains("reserved"));
        assert!(find("0x47.00").unwrap_err().contains("no sub-operations"));
        for query in ["0x", "0x100", "256", "0x89.", "0xzz", "0x89.1ff", "1.256"] {
            assert!(
                find(query).unwrap_err().contains("is not an opcode"),
                "{query}"
            );
        }
    }

    #[test]
    fn names_of_operations() {
        assert_eq!(names("sample_mlod"), ["SAMPLE_3D"]);
        assert_eq!(names("sample_po_lz"), ["SAMPLE_3D"]);
        assert_eq!(names("load_l"), ["LOAD_3D"]);
        assert_eq!(names("sample4_po_i_c"), ["GATHER4_3D"]);
        assert_eq!(names("resinfo"), ["INFO_3D"]);
        assert_eq!(names("fccall"), ["CALL"]);
    }

    #[test]
    fn names_and_their_beginnings() {
        assert_eq!(names("Bfi"), ["BFI"]);
        let load = find("lsc_load").unwrap();
        assert_eq!(load.exact.len(), 1);
        assert!(load.related.iter().any(|d| d.name == "LSC_LOAD_BLOCK2D"));
        assert!(names("lsc_atomic").len() > 10);
        assert!(find("add").unwrap().related.is_empty());
        assert!(find("bfx").unwrap_err().contains("did you mean bfe, bfi"));
        assert!(find("block2d").unwrap_err().contains("lsc_load_block2d"));
        assert!(find("").is_err());
        assert!(find("1.").is_err());
        // A digit first, and still no number.
        assert!(find("3d").unwrap_err().contains("_3d"));
    }

    #[test]
    fn every_row_is_found_by_its_number_and_by_its_name() {
        for def in rows() {
            let number = crate::commands::number(def.op);
            assert!(find(&number).unwrap().exact.contains(&def), "{number}");
            assert!(find(def.name).unwrap().exact.contains(&def), "{number}");
        }
    }
}
