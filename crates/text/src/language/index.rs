//! Maps the first word of a line to the rows of the instruction table that begin with it.

use crate::lexer::{Cursor, is_word};
use alloc::vec::Vec;
use spin::Once;
use visakit_isa::enums::Enumeration;
use visakit_isa::table::{FieldName, InstructionDef, LineKind, Op, Part, rows};

/// One way a line may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The letters, digits and underscores it begins with.
    key: &'static str,
    /// The whole spelling.
    spelling: &'static str,
    /// The row.
    pub(crate) def: &'static InstructionDef,
    /// The form of the row.
    pub(crate) parts: &'static [Part],
}

/// Lists of entries, by the hash of their keys.
const LISTS: usize = 512;

/// All beginnings.
#[derive(Debug)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    /// The first entry of each list, plus one.
    first: [u16; LISTS],
    /// The next entry of the same list, plus one.
    next: Vec<u16>,
    /// Rows whose lines can begin like those of other rows.
    shared: Vec<Op>,
    /// Their opcodes.
    shared_opcodes: [bool; 256],
    /// The operation that places a label.
    pub(crate) label: Op,
    /// The operation that begins a subroutine.
    pub(crate) subroutine: Op,
}

impl Entry {
    /// Everything the line begins with.
    pub(crate) const fn spelling(&self) -> &'static str {
        self.spelling
    }
}

impl Index {
    /// The index, built on first use.
    pub(crate) fn get() -> &'static Self {
        static INDEX: Once<Index> = Once::new();
        INDEX.call_once(Self::new)
    }

    fn new() -> Self {
        let mut entries = Vec::with_capacity(LISTS);
        for def in rows().filter(|def| def.syntax.line != LineKind::Label) {
            let first = core::iter::once(&def.syntax.parts);
            for parts in first.chain(def.syntax.also) {
                beginnings(def, parts, &mut entries);
            }
        }
        let mut first = [0; LISTS];
        let mut next = alloc::vec![0; entries.len()];
        // Backwards, so that each list is in the order of the table.
        for (i, entry) in entries.iter().enumerate().rev() {
            if let Some(head) = first.get_mut(hash(entry.key.as_bytes()))
                && let Some(link) = next.get_mut(i)
            {
                *link = *head;
                *head = u16::try_from(i + 1).unwrap_or(0);
            }
        }
        let shared = shared(&entries);
        let mut shared_opcodes = [false; 256];
        for op in &shared {
            if let Some(is_shared) = shared_opcodes.get_mut(usize::from(op.opcode())) {
                *is_shared = true;
            }
        }
        Self {
            entries,
            first,
            next,
            shared,
            shared_opcodes,
            label: placing(|part| matches!(part, Part::Placed(_))),
            subroutine: placing(|part| matches!(part, Part::Subroutine(_))),
        }
    }

    /// Whether a line written for this row is read as this row: the longest matching beginning
    /// decides, and the first row that has it.
    pub(crate) fn is_first(&self, def: &InstructionDef, line: &[u8]) -> bool {
        let opcode = usize::from(def.op.opcode());
        let may_be = self.shared_opcodes.get(opcode).copied().unwrap_or(true);
        if !may_be || !self.shared.contains(&def.op) {
            return true;
        }
        let mut cursor = Cursor::new(line);
        if cursor.eat(b'(') {
            // Skip the predicate.
            let end = line.iter().position(|c| *c == b')');
            cursor.at = end.map_or(line.len(), |end| end + 1);
        }
        cursor.blanks();
        let first = self.find(cursor).next();
        first.is_some_and(|entry| entry.def.op == def.op)
    }

    /// The entries of a list.
    fn list(&self, hash: usize) -> impl Iterator<Item = &Entry> + Clone {
        let mut at = self.first.get(hash).copied().unwrap_or(0);
        core::iter::from_fn(move || {
            let index = usize::from(at.checked_sub(1)?);
            at = self.next.get(index).copied().unwrap_or(0);
            self.entries.get(index)
        })
    }

    /// The entries with the longest spelling that matches at the cursor.
    #[inline]
    pub(crate) fn find<'i, 't>(
        &'i self,
        cursor: Cursor<'t>,
    ) -> impl Iterator<Item = &'i Entry> + Clone + use<'i, 't> {
        let rest = cursor.rest();
        let dot = usize::from(rest.first() == Some(&b'.'));
        let len = rest.iter().skip(dot).take_while(|c| is_word(**c)).count();
        let key = rest.get(..dot + len).unwrap_or_default();
        let list = self.list(hash(key));
        let stands = move |e: &Entry| {
            let text = e.spelling;
            e.key.as_bytes().eq_ignore_ascii_case(key)
                && (text.len() == key.len() || cursor.has(text))
                && !rest.get(text.len()).is_some_and(|c| is_word(*c))
        };
        let standing = list.clone().filter(|e| stands(e));
        let longest = standing.map(|e| e.spelling.len()).max();
        list.filter(move |e| Some(e.spelling.len()) == longest && stands(e))
    }

    /// Every way a line may begin.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Every spelling.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static [u8]> {
        self.entries.iter().map(|e| e.spelling.as_bytes())
    }
}

/// The operation whose line consists of this part.
fn placing(is: fn(&Part) -> bool) -> Op {
    let row = rows().find(|row| row.syntax.parts.iter().any(is));
    row.map_or(Op::LABEL, |row| row.op)
}

/// The rows whose beginnings other rows continue.
fn shared(entries: &[Entry]) -> Vec<Op> {
    let goes_on = |a: &&Entry| {
        entries.iter().any(|b| {
            let rest = b.spelling.strip_prefix(a.spelling);
            a.def.op != b.def.op
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let mut shared: Vec<Op> = entries.iter().filter(goes_on).map(|e| e.def.op).collect();
    shared.dedup();
    shared
}

/// A cheap hash, the same for letters of either case.
#[inline]
fn hash(key: &[u8]) -> usize {
    let mut hash = key.len();
    for c in key {
        hash = hash.wrapping_mul(31).wrapping_add(usize::from(*c | 0x20));
    }
    hash % LISTS
}

/// The names of a field's values.
pub(crate) fn enumeration(def: &InstructionDef, name: FieldName) -> Option<&'static Enumeration> {
    def.fields.iter().find(|f| f.name == name)?.enumeration
}

fn beginnings(def: &'static InstructionDef, parts: &'static [Part], entries: &mut Vec<Entry>) {
    let mut add = |text: &'static str| {
        let spelling = text.trim_end_matches([' ', '.']).trim_start();
        let dot = usize::from(spelling.starts_with('.'));
        let tail = spelling.as_bytes().iter().skip(dot);
        let len = dot + tail.take_while(|c| is_word(**c)).count();
        if let Some(key) = spelling.get(..len)
            && key.len() > dot
        {
            entries.push(Entry {
                key,
                spelling,
                def,
                parts,
            });
        }
    };
    def.spellings(parts).into_iter().for_each(&mut add);
}
