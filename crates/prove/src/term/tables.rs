//! Bits that are functions of few others, as tables: equal functions are one term, however lanes have parted and met.

use super::{Node, Term, Terms};
use hashbrown::HashMap;

/// Bits that a table is about; more make a bit of its own.
const MOST: usize = 8;

/// Words of a table.
const WORDS: usize = (1 << MOST) / 64;

/// For each choice of the bits, the first of which is the lowest of the place, whether the function is set.
type Rows = [u64; WORDS];

/// A function of bits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Table {
    /// The bits, ascending, on each of which it depends.
    atoms: Vec<Term>,
    rows: Rows,
}

/// What is known of bits.
#[derive(Debug, Default)]
pub(super) struct Tables {
    of: HashMap<Term, Table>,
    terms: HashMap<Table, Term>,
}

impl Tables {
    /// How many functions are kept.
    pub(super) fn count(&self) -> usize {
        self.of.len()
    }
}

/// A bit as it is in the rows of all choices of so many.
fn column(place: usize) -> Rows {
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    std::array::from_fn(|word| match LOW.get(place) {
        Some(low) => *low,
        None if word >> (place - LOW.len()) & 1 != 0 => u64::MAX,
        None => 0,
    })
}

fn each(a: &Rows, b: &Rows, of: impl Fn(u64, u64) -> u64) -> Rows {
    let mut rows = *a;
    for (to, other) in rows.iter_mut().zip(b) {
        *to = of(*to, *other);
    }
    rows
}

impl Table {
    /// Rows, one atom being set or clear everywhere.
    fn with(rows: &Rows, place: usize, set: bool) -> Rows {
        let column = column(place);
        let (step, words) = (1_u32 << place.min(6), (1_usize << place) / 64);
        std::array::from_fn(|word| {
            let mask = column.get(word).copied().unwrap_or(0);
            if words == 0 {
                let own = rows.get(word).copied().unwrap_or(0);
                let kept = if set { own & mask } else { own & !mask };
                return if set {
                    kept | kept >> step
                } else {
                    kept | kept << step
                };
            }
            let from = if set { word | words } else { word & !words };
            rows.get(from).copied().unwrap_or(0)
        })
    }

    /// A function of these bits, without those that make no difference.
    fn reduced(atoms: &[Term], rows: Rows) -> Self {
        let used: Vec<(usize, Term)> = atoms
            .iter()
            .copied()
            .enumerate()
            .filter(|(place, _)| {
                Self::with(&rows, *place, false) != Self::with(&rows, *place, true)
            })
            .collect();
        if used.len() == atoms.len() {
            return Self {
                atoms: atoms.to_vec(),
                rows,
            };
        }
        let from = Self {
            atoms: atoms.to_vec(),
            rows,
        };
        let atoms: Vec<Term> = used.iter().map(|(_, atom)| *atom).collect();
        let rows = from.over(&atoms);
        Self { atoms, rows }
    }

    /// The rows for other bits; those that are not among them are clear.
    fn over(&self, atoms: &[Term]) -> Rows {
        // The function as choices by its bits, from the last to the first.
        let columns: Vec<Rows> = self
            .atoms
            .iter()
            .map(|atom| match atoms.binary_search(atom) {
                Ok(place) => column(place),
                Err(_) => [0; WORDS],
            })
            .collect();
        self.chosen(&columns, columns.len(), 0)
    }

    /// The rows where the bits from `left` on have the values in `row`.
    fn chosen(&self, columns: &[Rows], left: usize, row: usize) -> Rows {
        let Some((place, column)) = left
            .checked_sub(1)
            .and_then(|place| Some((place, columns.get(place)?)))
        else {
            let word = self.rows.get(row / 64).copied().unwrap_or(0);
            return [if word >> (row % 64) & 1 != 0 {
                u64::MAX
            } else {
                0
            }; WORDS];
        };
        let set = self.chosen(columns, place, row | 1 << place);
        let clear = self.chosen(columns, place, row);
        let mut rows = [0; WORDS];
        for (to, ((column, set), clear)) in rows.iter_mut().zip(column.iter().zip(set).zip(clear)) {
            *to = column & set | !column & clear;
        }
        rows
    }
}

impl Terms {
    /// A bit as a function of others, or of itself.
    fn table(&self, bit: Term) -> Table {
        if let Some(table) = self.tables.of.get(&bit) {
            return table.clone();
        }
        match self.number(bit) {
            Some(number) => Table {
                atoms: Vec::new(),
                rows: [if number & 1 != 0 { u64::MAX } else { 0 }; WORDS],
            },
            None => Table {
                atoms: vec![bit],
                rows: column(0),
            },
        }
    }

    /// The bits that several are functions of, and the rows of each; `None` if they are too many.
    fn together(&self, bits: &[Term]) -> Option<(Vec<Term>, Vec<Rows>)> {
        let tables: Vec<Table> = bits.iter().map(|bit| self.table(*bit)).collect();
        let mut atoms: Vec<Term> = Vec::new();
        for table in &tables {
            atoms.extend_from_slice(&table.atoms);
            atoms.sort_unstable();
            atoms.dedup();
            if atoms.len() > MOST {
                return None;
            }
        }
        let rows = tables.iter().map(|table| table.over(&atoms)).collect();
        Some((atoms, rows))
    }

    /// The bit that is this; an older one if that is the same function.
    pub(super) fn bit(&mut self, node: Node) -> Term {
        let entry = (node, 1);
        if let Some(term) = self.known.get(&entry) {
            return *term;
        }
        let (node, _) = &entry;
        let Some(table) = self.made(node) else {
            return self.intern(entry.0, 1);
        };
        let found = match (&table.atoms[..], table.rows[0]) {
            ([], rows) => Some(self.constant(rows & 1, 1)),
            ([only], rows) if rows == column(0)[0] => Some(*only),
            _ => self.tables.terms.get(&table).copied(),
        };
        match found {
            Some(term) => {
                self.known.insert(entry, term);
                term
            }
            None => {
                let term = self.intern(entry.0, 1);
                self.tables.of.insert(term, table.clone());
                self.tables.terms.insert(table, term);
                term
            }
        }
    }

    /// The function that a node is.
    fn made(&self, node: &Node) -> Option<Table> {
        let and = |a: u64, b: u64| a & b;
        let or = |a: u64, b: u64| a | b;
        let xor = |a: u64, b: u64| a ^ b;
        match node {
            Node::And(own, parts) => self.folded(*own, parts, and),
            Node::Or(own, parts) => self.folded(*own, parts, or),
            Node::Xor(own, parts) => self.folded(*own, parts, xor),
            Node::Choice(condition, yes, no) => {
                let (atoms, rows) = self.together(&[*condition, *yes, *no])?;
                let [condition, yes, no] = &rows[..] else {
                    return None;
                };
                let yes = each(condition, yes, |condition, yes| condition & yes);
                let no = each(condition, no, |condition, no| !condition & no);
                Some(Table::reduced(&atoms, each(&yes, &no, or)))
            }
            _ => None,
        }
    }

    fn folded(&self, start: u64, parts: &[Term], of: impl Fn(u64, u64) -> u64) -> Option<Table> {
        let (atoms, rows) = self.together(parts)?;
        let start = [if start & 1 != 0 { u64::MAX } else { 0 }; WORDS];
        let all = rows.iter().fold(start, |all, rows| each(&all, rows, &of));
        Some(Table::reduced(&atoms, all))
    }

    /// Whether a bit is set wherever another one is, as far as the bits say of which both are functions.
    pub(super) fn always(&self, condition: Term, bit: Term) -> bool {
        self.together(&[condition, bit])
            .is_some_and(|(_, rows)| match &rows[..] {
                [condition, bit] => condition.iter().zip(bit).all(|(a, b)| a & !b == 0),
                _ => false,
            })
    }
}
