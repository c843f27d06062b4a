//! Tables for people: one line per row, never wider than the terminal.

use std::io::{self, IsTerminal};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::render::{Color, paint_word, printable};

/// Rows under a head.
///
/// On a terminal, cells that do not fit are truncated. Elsewhere, and with [`Fit::Whole`], every
/// cell is printed in full.
#[derive(Debug)]
pub(crate) struct Listing {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// The column that holds verdicts, which are coloured.
    painted: Option<usize>,
    fit: Fit,
}

/// Whether a table is squeezed into the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Rows are at most as wide as the terminal, if there is one.
    Terminal,
    /// Nothing is truncated: `--wide`.
    Whole,
}

impl Fit {
    /// What the flag `--wide` asks for.
    pub(crate) fn of(wide: bool) -> Self {
        if wide { Self::Whole } else { Self::Terminal }
    }

    /// The widest row that is printed; `None` if there is no limit.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            Self::Terminal => terminal_width(),
            Self::Whole => None,
        }
    }
}

#[derive(Debug)]
struct Column {
    head: String,
    /// It is not made narrower than this while another column can still give way.
    least: usize,
}

/// The space between two columns.
const GAP: usize = 2;

/// Short enough to squeeze, long enough to recognise a name by.
const LEAST: usize = 8;

impl Listing {
    pub(crate) fn new<const N: usize>(head: [&str; N]) -> Self {
        let column = |head: &str| Column { head: head.to_uppercase(), least: LEAST };
        Self {
            columns: head.into_iter().map(column).collect(),
            rows: Vec::new(),
            painted: None,
            fit: Fit::Terminal,
        }
    }

    /// A column that is truncated only if nothing else helps.
    pub(crate) fn whole(self, column: usize) -> Self {
        self.least(column, usize::MAX)
    }

    /// A column that keeps this width while others can give way.
    pub(crate) fn least(mut self, column: usize, width: usize) -> Self {
        if let Some(column) = self.columns.get_mut(column) {
            column.least = width;
        }
        self
    }

    /// A column of verdicts, coloured where the output has colours.
    pub(crate) fn painted(mut self, column: usize) -> Self {
        self.painted = Some(column);
        self
    }

    pub(crate) fn fit(mut self, fit: Fit) -> Self {
        self.fit = fit;
        self
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.iter().map(|text| printable(text)).collect());
    }

    /// The table: one line per row, without empty columns.
    pub(crate) fn text(&self) -> String {
        self.text_within(self.fit.width(), Color::of(&io::stdout()))
    }

    fn text_within(&self, limit: Option<usize>, color: Color) -> String {
        let widths = self.widths(limit);
        let heads: Vec<&str> = self.columns.iter().map(|column| column.head.as_str()).collect();
        let mut text = line(&heads, &widths, None, color);
        for row in &self.rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            text.push_str(&line(&cells, &widths, self.painted, color));
        }
        text
    }

    /// The width of each column; 0 for one in which every cell is empty.
    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let Some(limit) = limit else { return widths };
        let gaps = widths.iter().filter(|width| **width > 0).count().saturating_sub(1) * GAP;
        let limit = limit.saturating_sub(gaps);
        let least = |at: usize| self.columns.get(at).map_or(0, |column| column.least);
        squeeze(&mut widths, limit, least);
        squeeze(&mut widths, limit, |_| 1);
        widths
    }

    /// The width at which nothing of a column is truncated.
    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        match cells.map(|cell| cell.width()).max() {
            Some(0) => 0,
            widest => {
                let head = self.columns.get(at).map_or(0, |column| column.head.width());
                widest.unwrap_or_default().max(head)
            }
        }
    }
}

/// Takes width from the widest column that may give way until all of them fit.
fn squeeze(widths: &mut [usize], limit: usize, least: impl Fn(usize) -> usize) {
    let mut excess = widths.iter().sum::<usize>().saturating_sub(limit);
    while excess > 0 {
        let wide = widths.iter().enumerate().filter(|(at, width)| **width > least(*at));
        let Some((at, _)) = wide.max_by_key(|(_, width)| **width) else { return };
        // The next widest column, or the least width, whichever comes first.
        let next = widths.iter().enumerate().filter(|(other, _)| *other != at);
        let next = next.map(|(_, width)| *width).filter(|width| Some(width) < widths.get(at)).max();
        let Some(width) = widths.get_mut(at) else { return };
        let floor = next.unwrap_or(0).max(least(at)).min(width.saturating_sub(1));
        let taken = (*width - floor).min(excess);
        *width -= taken;
        excess -= taken;
    }
}

fn line(cells: &[&str], widths: &[usize], painted: Option<usize>, color: Color) -> String {
    let mut line = String::new();
    let mut pad = 0;
    for (at, (cell, width)) in cells.iter().zip(widths).enumerate().filter(|(_, (_, w))| **w > 0) {
        line.push_str(&" ".repeat(pad));
        let shown = truncated(cell, *width);
        pad = width.saturating_sub(shown.width()) + GAP;
        match painted == Some(at) {
            true => line.push_str(&paint_word(&shown, cell, color)),
            false => line.push_str(&shown),
        }
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

/// A text of at most this width, with `…` where something is missing.
pub(crate) fn truncated(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut shown, mut used) = (String::new(), 1);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        shown.push(c);
    }
    format!("{shown}…")
}

/// The width of the terminal on stdout; `None` if stdout is not a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    width_of(&io::stdout())
}

/// The width of the terminal that a stream is; `None` if it is not a terminal.
pub(crate) fn width_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let actual = rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    let width = stated.or(actual.filter(|width| *width > 0)).unwrap_or(USUAL_WIDTH);
    // Nobody can read a table that is narrower than this.
    Some(width.max(NARROWEST))
}

const USUAL_WIDTH: usize = 80;
const NARROWEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Listing {
        let mut table = Listing::new(["id", "user", "rule", "call"]).whole(0).least(3, 12);
        table.row(["1".into(), String::new(), "starter/no-force-push".into(), "x".repeat(300)]);
        table.row(["12".into(), String::new(), "-".into(), "größer".into()]);
        table
    }

    #[test]
    fn without_a_limit_nothing_is_truncated_and_lines_are_not_padded() {
        let text = table().text_within(None, Color::Off);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ID  RULE                   CALL", "an empty column is left out");
        assert_eq!(lines[1], format!("1   starter/no-force-push  {}", "x".repeat(300)));
        assert_eq!(lines[2], "12  -                      größer");
    }

    #[test]
    fn rows_fit_whatever_the_width_is() {
        for width in 10..120 {
            let text = table().text_within(Some(width), Color::Off);
            for line in text.lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
        let text = table().text_within(Some(60), Color::Off);
        let row = text.lines().nth(1).unwrap();
        assert_eq!(row.width(), 60, "the width is used: {row}");
        assert!(
            row.contains("starter/no-force-push  xxxxxxxx"),
            "the longest cell goes first: {row}"
        );
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(truncated("日本語", 6), "日本語");
        assert_eq!(truncated("日本語", 5), "日本…");
        assert_eq!(truncated("日本語", 4), "日…");
        assert_eq!(truncated("abc", 2), "a…");
    }

    #[test]
    fn a_table_without_rows_is_its_head() {
        assert_eq!(Listing::new(["a", "b"]).text_within(Some(80), Color::Off), "A  B\n");
    }
}
