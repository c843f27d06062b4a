//! The effects of a call for people: as a list, and drawn under the text they were read from.

use callgate_policy::{ArgumentEffects, EffectReport, ReportedEffect};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::render::printable;

/// The width of the drawing, in columns.
const WIDTH: usize = 80;
/// The indentation of each line.
const INDENT: &str = "  ";
/// The most effects that a list shows.
const LISTED: usize = 8;

/// Each effect on a line, then each part that could not be analysed. Empty if
/// there are neither.
pub(crate) fn list(report: &EffectReport) -> String {
    let is_opaque = |(_, effect): &(&ArgumentEffects, &ReportedEffect)| effect.is_opaque();
    let mut text = String::new();
    let mut lines: Vec<String> = Vec::new();
    for (_, effect) in report.all().filter(|it| !is_opaque(it)) {
        let line = label(effect);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    section(&mut text, "effects", &lines);
    let unread: Vec<String> = report.all().filter(is_opaque).map(unread).collect();
    section(&mut text, "could not be analysed", &unread);
    text
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("{title}:\n"));
    for line in lines.iter().take(LISTED) {
        text.push_str(&format!("{INDENT}{}\n", cut(line, WIDTH - INDENT.len())));
    }
    if let Some(more @ 1..) = lines.len().checked_sub(LISTED) {
        text.push_str(&format!("{INDENT}and {more} more\n"));
    }
}

fn unread((argument, effect): (&ArgumentEffects, &ReportedEffect)) -> String {
    let part = argument.text.get(effect.span.clone()).unwrap_or_default();
    let (from, to) = (effect.span.start, effect.span.end);
    let part = cut(&printable(part.trim()), 30);
    format!("`{part}` ({}, bytes {from} to {to}): {}", argument.argument, effect.what)
}

/// What an effect does, in a few words.
fn label(effect: &ReportedEffect) -> String {
    let mut what = printable(&effect.what);
    if let Some(extent) = &effect.extent {
        what.push_str(&format!(" ({})", extent.text));
    }
    match (effect.is_opaque(), effect.marks.as_slice()) {
        (true, _) => format!("could not be analysed: {what}"),
        (false, []) => what,
        (false, marks) => format!("{what} [{}]", marks.join(", ")),
    }
}

/// Every argument with effects: its text, and under each piece of it what that piece does.
pub(crate) fn drawn(report: &EffectReport) -> String {
    let mut text = String::new();
    for argument in report.arguments.iter().filter(|it| !it.effects.is_empty()) {
        text.push_str(&format!("{}:\n", printable(&argument.argument)));
        for row in rows(&argument.text) {
            draw(&mut text, &row, argument);
        }
        text.push('\n');
    }
    text
}

/// A piece of a text that fits on a line.
struct TextRow {
    shown: String,
    /// The bytes of the text, and the column where the character at each of them begins.
    columns: Vec<(usize, usize)>,
    /// One past the last byte.
    end: usize,
}

impl TextRow {
    fn new(start: usize) -> Self {
        Self { shown: String::new(), columns: Vec::new(), end: start }
    }

    fn starts(&self, effect: &ReportedEffect) -> bool {
        let first = self.columns.first().map_or(self.end, |(at, _)| *at);
        (first..self.end.max(first + 1)).contains(&effect.span.start)
    }

    /// The column of a byte; the end of the row for one after it.
    fn column(&self, byte: usize) -> usize {
        let found = self.columns.iter().find(|(at, _)| *at >= byte);
        found.map_or_else(|| self.shown.width(), |(_, column)| *column)
    }
}

fn rows(text: &str) -> Vec<TextRow> {
    let mut rows = vec![TextRow::new(0)];
    for (at, character) in text.char_indices() {
        let next = at + character.len_utf8();
        let shown = printable(&character.to_string());
        let wraps =
            rows.last().is_some_and(|row| row.shown.width() + shown.width() > WIDTH - INDENT.len());
        if wraps {
            rows.push(TextRow::new(at));
        }
        if let Some(row) = rows.last_mut() {
            row.columns.push((at, row.shown.width()));
            row.end = next;
            if character != '\n' {
                row.shown.push_str(&shown);
            }
        }
        if character == '\n' {
            rows.push(TextRow::new(next));
        }
    }
    rows.retain(|row| !row.columns.is_empty() || text.is_empty());
    rows
}

fn draw(text: &mut String, row: &TextRow, argument: &ArgumentEffects) {
    text.push_str(format!("{INDENT}{}", row.shown).trim_end());
    text.push('\n');
    let mut last = None;
    for effect in argument.effects.iter().filter(|effect| row.starts(effect)) {
        let from = row.column(effect.span.start);
        let width = row.column(effect.span.end).saturating_sub(from).max(1);
        let carets = match last.replace(effect.span.clone()) == Some(effect.span.clone()) {
            true => " ".repeat(width),
            false => "^".repeat(width),
        };
        caret_line(text, from, &carets, &label(effect));
    }
}

/// The label follows the carets if there is room for enough of it, else it is on a line of its own.
fn caret_line(text: &mut String, from: usize, carets: &str, label: &str) {
    let before = format!("{INDENT}{}{carets} ", " ".repeat(from));
    let room = WIDTH.saturating_sub(before.len());
    if label.width() <= room {
        text.push_str(&format!("{before}{label}\n"));
        return;
    }
    if carets.contains('^') {
        text.push_str(&format!("{}\n", before.trim_end()));
    }
    let room = WIDTH - INDENT.len();
    let label = cut(label, room);
    let indent = (room - label.width()).min(from);
    text.push_str(&format!("{INDENT}{}{label}\n", " ".repeat(indent)));
}

/// The beginning of a text that is too wide.
fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let (mut shown, mut width) = (String::new(), 1);
    for character in text.chars() {
        width += character.width().unwrap_or(0);
        if width > most {
            break;
        }
        shown.push(character);
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(kind: &'static str, what: &str, span: std::ops::Range<usize>) -> ReportedEffect {
        let (marks, could) = (Vec::new(), Vec::new());
        ReportedEffect { kind, what: what.into(), span, marks, could, extent: None }
    }

    fn report(text: &str, effects: Vec<ReportedEffect>) -> EffectReport {
        let (argument, text) = ("command".to_owned(), text.to_owned());
        EffectReport { arguments: vec![ArgumentEffects { argument, text, effects }] }
    }

    #[test]
    fn effects_are_drawn_under_the_text() {
        let report = report(
            "sudo rm -rf /srv\ncat \"$F\"",
            vec![
                effect("runs", "runs rm -rf /srv", 5..16),
                effect("deletes", "deletes-tree /srv", 12..16),
                effect("runs", "runs cat", 17..25),
                effect("opaque", "value", 21..25),
            ],
        );
        let expected = "\
command:
  sudo rm -rf /srv
       ^^^^^^^^^^^ runs rm -rf /srv
              ^^^^ deletes-tree /srv
  cat \"$F\"
  ^^^^^^^^ runs cat
      ^^^^ could not be analysed: value

";
        assert_eq!(drawn(&report), expected);
        let listed = "\
effects:
  runs rm -rf /srv
  deletes-tree /srv
  runs cat
could not be analysed:
  `\"$F\"` (command, bytes 21 to 25): value
";
        assert_eq!(list(&report), listed);
    }

    #[test]
    fn nothing_is_wider_than_a_terminal() {
        let long = "x".repeat(200);
        let text = format!("cat {long} é \u{1b}[2J日本語 {long}");
        let effects = vec![
            effect("runs", &format!("runs cat {long}"), 0..text.len()),
            effect("reads", &format!("reads {long}"), 4..204),
            effect("reads", "reads 日本語", 209..218),
            effect("reads", &long, text.len() - 3..text.len()),
        ];
        let report = report(&text, effects);
        for shown in [drawn(&report), list(&report)] {
            assert!(!shown.contains('\u{1b}'), "{shown}");
            for line in shown.lines() {
                assert!(line.width() <= WIDTH, "{line}");
            }
        }
    }
}
