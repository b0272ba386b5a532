//! Plain tables: columns kept apart by spaces, the same on a terminal and in a pipe.

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};
use std::fmt;

/// Where the text of a column begins.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table under construction.
pub(crate) struct Columns {
    table: Table,
    /// Lines at the top that are not shown.
    hidden: usize,
}

impl Columns {
    /// A table with these column heads. The last column should be the one of unbounded width.
    /// Columns in which all cells are empty are left out.
    pub(crate) fn new(heads: &[(&str, Align)]) -> Self {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(heads.iter().map(|(head, _)| *head));
        for (column, (_, align)) in table.column_iter_mut().zip(heads) {
            column.set_padding((0, 2));
            column.set_constraint(ColumnConstraint::Hidden);
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Self { table, hidden: 0 }
    }

    /// A table of names and what they stand for, without heads.
    pub(crate) fn pairs() -> Self {
        Self {
            hidden: 1,
            ..Self::new(&[("", Align::Left), ("", Align::Left)])
        }
    }

    /// Appends a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        for (column, cell) in self.table.column_iter_mut().zip(&cells) {
            if !cell.is_empty() {
                column.remove_constraint();
            }
        }
        self.table.add_row(cells);
    }
}

impl fmt::Display for Columns {
    /// Every line indented by two spaces and ended by a line feed, nothing past the last column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.table.lines().skip(self.hidden) {
            writeln!(f, "  {}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_are_left_out() {
        let heads = [
            ("n", Align::Right),
            ("none", Align::Left),
            ("name", Align::Left),
        ];
        let mut table = Columns::new(&heads);
        table.row(["1".to_owned(), String::new(), "one".to_owned()]);
        table.row(["10".to_owned(), String::new(), "ten".to_owned()]);
        assert_eq!(table.to_string(), "   n  name\n   1  one\n  10  ten\n");
    }

    #[test]
    fn pairs_have_no_heads() {
        let mut table = Columns::pairs();
        table.row(["a".to_owned(), "b".to_owned()]);
        assert_eq!(table.to_string(), "  a  b\n");
    }
}
