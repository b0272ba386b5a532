//! The names that symbols have in text.

use crate::language::pool::string;
use crate::language::symbol::predefined;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use visakit_isa::object::{Body, Declaration};
use visakit_isa::table::{self, InstructionDef, Status};
use visakit_isa::{Format, StringId};

/// Names of a routine's symbols, in order of their tables.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    pub(crate) variables: Vec<Cow<'a, [u8]>>,
    /// Empty in the form of Intel's printer, which names them by number.
    pub(crate) addresses: Vec<Cow<'a, [u8]>>,
    /// Likewise.
    pub(crate) predicates: Vec<Cow<'a, [u8]>>,
    pub(crate) samplers: Vec<Cow<'a, [u8]>>,
    pub(crate) surfaces: Vec<Cow<'a, [u8]>>,
    /// Empty in the form of Intel's printer, which puts numbers after them.
    pub(crate) labels: Vec<Cow<'a, [u8]>>,
}

impl<'a> Names<'a> {
    /// Names as Intel's printer writes them: illegal characters replaced, and a number after names
    /// that are taken.
    pub(crate) fn of(body: &'a Body<'_>, first_variable: u32) -> Self {
        let stored = || {
            let variables = body.variables.iter().map(|v| v.name);
            let tables = [
                &body.addresses,
                &body.predicates,
                &body.samplers,
                &body.surfaces,
            ];
            let others = tables.into_iter().flatten().map(|d| d.name);
            variables.chain(others)
        };
        let mut names: Vec<_> = stored().map(|id| usable(string(body, id))).collect();
        if has_copies(&names) {
            let mut taken = Taken::default();
            for name in names.iter_mut().filter(|n| !n.is_empty()) {
                *name = taken.distinct(core::mem::take(name));
            }
        }
        let mut rest = names.into_iter();
        let mut table = |count: usize, letter, width, first| -> Vec<_> {
            // Only nameless ones are counted.
            let mut numbers = first..;
            let named = rest.by_ref().take(count);
            named
                .map(|name| match name.is_empty() {
                    true => {
                        let number = numbers.next().unwrap_or(u32::MAX);
                        Cow::Owned(anonymous(letter, width, number))
                    }
                    false => name,
                })
                .collect()
        };
        let variables = table(body.variables.len(), b'V', 4, first_variable);
        table(body.addresses.len(), b'A', 2, 0);
        table(body.predicates.len(), b'P', 2, 1);
        Self {
            variables,
            samplers: table(body.samplers.len(), b'S', 2, 0),
            surfaces: table(body.surfaces.len(), b'T', 3, 6),
            ..Self::default()
        }
    }

    /// The names that the object stores, in a form that the assembler accepts: illegal characters
    /// replaced, a number after names that are taken or mean something else, and names made of
    /// their numbers for symbols without one. Labels have a namespace of their own.
    pub(crate) fn stored(body: &'a Body<'_>, format: Format) -> Self {
        let named =
            |letter: u8, width: usize, first: u32, ids: &mut dyn Iterator<Item = StringId>| {
                let numbered = (first..).zip(ids);
                numbered
                    .map(|(number, id)| match usable(string(body, id)) {
                        name if name.is_empty() => Cow::Owned(anonymous(letter, width, number)),
                        name => name,
                    })
                    .collect::<Vec<_>>()
            };
        let declared = |letter, first, list: &[Declaration<'_>]| {
            named(letter, 1, first, &mut list.iter().map(|d| d.name))
        };
        let first = format.predefined_variable_count();
        let variables = &mut body.variables.iter().map(|v| v.name);
        let mut symbols = [
            named(b'V', 4, first, variables),
            declared(b'A', 0, &body.addresses),
            declared(b'P', 1, &body.predicates),
            declared(b'S', 0, &body.samplers),
            declared(
                b'T',
                format.predefined_surface_count().into(),
                &body.surfaces,
            ),
        ];
        let taken = |name: &[u8]| is_predefined(name, format);
        make_distinct(symbols.iter_mut().flatten(), &taken);
        let mut labels = named(b'L', 1, 0, &mut body.labels.iter().map(|l| l.name));
        make_distinct(labels.iter_mut(), &|_| false);
        let [variables, addresses, predicates, samplers, surfaces] = symbols;
        Self {
            variables,
            addresses,
            predicates,
            samplers,
            surfaces,
            labels,
        }
    }
}

/// The length of the longest predefined name.
const LONGEST_PREDEFINED: usize = 4;

/// Whether a predefined symbol has this name.
fn is_predefined(name: &[u8], format: Format) -> bool {
    let may_be = matches!(name.first(), Some(b'V' | b'T' | b'S'));
    may_be && name.len() <= LONGEST_PREDEFINED && predefined(name, format).is_some()
}

/// Puts numbers after names that already occurred or are taken.
fn make_distinct<'n, 'a: 'n>(
    names: impl Iterator<Item = &'n mut Cow<'a, [u8]>>,
    taken: &dyn Fn(&[u8]) -> bool,
) {
    let mut names: Vec<_> = names.collect();
    let free = |n: &&mut Cow<'_, [u8]>| !taken(n);
    let list: Vec<&[u8]> = names.iter().map(AsRef::as_ref).collect();
    if !copies(list) && names.iter().all(free) {
        return;
    }
    let mut known = Taken::default();
    for name in &mut names {
        while taken(name) {
            name.to_mut().push(b'_');
        }
        **name = known.distinct(core::mem::take(*name));
    }
}

/// Whether a name occurs twice. Compilers number their names upwards; ordered by length first, such
/// a list is already sorted.
fn has_copies(names: &[Cow<'_, [u8]>]) -> bool {
    copies(names.iter().map(AsRef::as_ref).collect())
}

fn copies(mut sorted: Vec<&[u8]>) -> bool {
    sorted.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut pairs = sorted.iter().zip(sorted.iter().skip(1));
    pairs.any(|(a, b)| a == b && !a.is_empty())
}

/// The names that are taken, each with the number for the next copy.
#[derive(Debug, Default)]
struct Taken<'a> {
    next: BTreeMap<Cow<'a, [u8]>, u32>,
}

impl<'a> Taken<'a> {
    /// The name, with a number after it where it is taken.
    fn distinct(&mut self, name: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        let Some(next) = self.next.get(&name) else {
            self.next.insert(name.clone(), 0);
            return name;
        };
        let mut number = *next;
        let copy = loop {
            let copy = numbered(&name, number);
            number += 1;
            if !self.next.contains_key(&copy) {
                break copy;
            }
        };
        self.next.insert(name, number);
        self.next.insert(copy.clone(), 0);
        copy
    }
}

/// The name in a form that is legal for variables.
fn usable(name: &[u8]) -> Cow<'_, [u8]> {
    let mut name = legal(name);
    while is_reserved(&name) {
        name.to_mut().push(b'_');
    }
    name
}

fn numbered(name: &[u8], number: u32) -> Cow<'static, [u8]> {
    let mut copy = Vec::with_capacity(name.len() + 5);
    copy.extend_from_slice(name);
    copy.push(b'_');
    copy.extend_from_slice(decimal(number, 1).as_slice());
    Cow::Owned(copy)
}

fn anonymous(letter: u8, width: usize, id: u32) -> Vec<u8> {
    let mut name = Vec::from([letter]);
    name.extend_from_slice(&decimal(id, width));
    name
}

/// Decimal digits, at least `width` of them.
fn decimal(number: u32, width: usize) -> Vec<u8> {
    let digits = alloc::format!("{number:0width$}");
    digits.into_bytes()
}

/// The name with everything but letters and digits replaced, and not beginning with a digit.
fn legal(name: &[u8]) -> Cow<'_, [u8]> {
    let digit_first = name.first().is_some_and(u8::is_ascii_digit);
    if !digit_first && name.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_') {
        return Cow::Borrowed(name);
    }
    let underscore = digit_first.then_some(b'_');
    let letters = name
        .iter()
        .map(|&c| if c.is_ascii_alphanumeric() { c } else { b'_' });
    Cow::Owned(underscore.into_iter().chain(letters).collect())
}

/// Words besides mnemonics that Intel's printer does not use as names of variables.
const WORDS: [&str; 20] = [
    "FILE",
    "LOC",
    "RESERVED_0",
    "arg",
    "bss",
    "bti",
    "file",
    "flat",
    "fminmax",
    "lifetime",
    "loc",
    "lsc_read_state_info",
    "lsc_typed",
    "lsc_untyped",
    "nbarrier",
    "samplr_cache_flush",
    "sbarrier",
    "ss",
    "svm",
    "va",
];

/// Mnemonics that it knows only under other names.
const FREE: [&str; 8] = [
    "min",
    "sample_3d",
    "load_3d",
    "sample4_3d",
    "info_3d",
    "rt_write_3d",
    "urb_write_3d",
    "sampler_cache_flush",
];

/// Intel's printer does not know anything newer than this year.
const LAST_YEAR: u16 = 2022;

/// Longer than any of these words.
const LONGEST: usize = 24;

/// Whether the name means something else in text.
fn is_reserved(name: &[u8]) -> bool {
    if name.len() > LONGEST {
        return false;
    }
    let is_name = |word: &str| word.as_bytes() == name;
    let mnemonic = |row: &InstructionDef| {
        let known = row.since.is_none_or(|month| month.year <= LAST_YEAR);
        row.status == Status::Active && known && is_name(row.mnemonic())
    };
    WORDS.into_iter().any(is_name)
        || name.first().is_some_and(u8::is_ascii_lowercase)
            && !FREE.into_iter().any(is_name)
            && table::rows().any(mnemonic)
}

#[cfg(test)]
mod tests {
    use super::{Names, usable};
    use alloc::borrow::Cow;
    use alloc::string::String;
    use alloc::vec::Vec;
    use visakit_isa::object::{Body, Variable};

    /// The names printed for variables with these names.
    fn names(given: &[&'static str]) -> Vec<String> {
        let mut body = Body::default();
        for name in given {
            let name = body.add_string(name.as_bytes());
            body.variables.push(Variable {
                name,
                ..Variable::default()
            });
        }
        let names = Names::of(&body, 40).variables;
        let text = |n: Cow<'_, [u8]>| String::from_utf8(n.into_owned()).unwrap();
        names.into_iter().map(text).collect()
    }

    #[test]
    fn names_are_made_distinct() {
        assert_eq!(names(&["a", "a", "a", "a_1"]), ["a", "a_0", "a_1", "a_1_0"]);
        assert_eq!(names(&["a_0", "a", "a"]), ["a_0", "a", "a_1"]);
    }

    #[test]
    fn names_are_made_legal() {
        assert_eq!(names(&["0", "x.y$"]), ["_0", "x_y_"]);
        assert_eq!(
            names(&["mul", "mul_", "max", "if"]),
            ["mul_", "mul__0", "max", "if"]
        );
        assert_eq!(names(&["a", "", "b", ""]), ["a", "V0040", "b", "V0041"]);
    }

    #[test]
    fn good_names_are_not_copied() {
        assert!(matches!(usable(b"good_1"), Cow::Borrowed(_)));
    }
}
