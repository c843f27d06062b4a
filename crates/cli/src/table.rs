//! Tables for people: as wide as the terminal, one line a row.

use std::io::{self, IsTerminal};

use comfy_table::{Cell, ColumnConstraint, ContentArrangement, Row, Table};

use crate::render::{Color, paint_word, printable};

/// Rows under a head. On a terminal, what does not fit is cut; elsewhere nothing is.
#[derive(Debug)]
pub(crate) struct Listing {
    table: Table,
    /// The column that is painted, and what stands there in each row.
    painted: Option<usize>,
    words: Vec<String>,
    /// The columns in which something stands.
    filled: Vec<bool>,
}

impl Listing {
    pub(crate) fn new<const N: usize>(head: [&str; N]) -> Self {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let mut titles = Row::from(head.map(str::to_uppercase));
        titles.max_height(1);
        table.set_header(titles);
        table.set_truncation_indicator("…");
        match terminal_width() {
            Some(width) => {
                table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        Self { table, painted: None, words: Vec::new(), filled: vec![false; N] }
    }

    /// A column that is never cut.
    pub(crate) fn whole(mut self, column: usize) -> Self {
        if let Some(column) = self.table.column_mut(column) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        self
    }

    /// A column of verdicts, painted where there are colours. What is left of it must not hold
    /// such words.
    pub(crate) fn painted(mut self, column: usize) -> Self {
        self.painted = Some(column);
        self
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        let word = self.painted.and_then(|column| cells.get(column).cloned());
        self.words.push(word.unwrap_or_default());
        let mut row = Row::new();
        for (text, filled) in cells.iter().zip(&mut self.filled) {
            *filled |= !text.is_empty();
            row.add_cell(Cell::new(printable(text)));
        }
        row.max_height(1);
        self.table.add_row(row);
    }

    /// The table, one line a row, without padding at either side and without empty columns.
    pub(crate) fn text(mut self) -> String {
        for (column, filled) in self.table.column_iter_mut().zip(&self.filled) {
            if !filled {
                column.set_constraint(ColumnConstraint::Hidden);
            }
        }
        let color = Color::of(&io::stdout());
        let head = String::new();
        let words = std::iter::once(&head).chain(&self.words);
        let mut text = String::new();
        for (line, word) in self.table.lines().zip(words) {
            let line = line.strip_prefix(' ').unwrap_or(&line).trim_end();
            if word.is_empty() {
                text.push_str(line);
            } else {
                text.push_str(&line.replacen(word.as_str(), &paint_word(word, word, color), 1));
            }
            text.push('\n');
        }
        text
    }
}

/// The width of the terminal; `None` if stdout is none.
fn terminal_width() -> Option<u16> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let known = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| size.ws_col);
    // Narrower than this there is no table that helps.
    said.or(known.filter(|width| *width > 0)).or(Some(100)).map(|width: u16| width.max(40))
}
