//! Problems in a rule file, with their places.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::Source;

/// A place in a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceSpan {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One problem that rejects a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file's name, as given in [`Source`].
    pub source: String,
    /// Where.
    pub span: SourceSpan,
    /// What is wrong, in one line.
    pub message: String,
    /// What is wrong with the marked text; may be empty.
    pub label: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Something that is valid in a rule file but probably a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub Diagnostic);

/// Formats a problem: file, line and column, the text with a caret, and a `hint:` line.
pub fn render(diagnostic: &Diagnostic, source: &Source, color: bool) -> String {
    render_as(Level::ERROR, diagnostic, source, color)
}

impl Warning {
    /// Formats the warning as [`render`] formats a problem.
    pub fn render(&self, source: &Source, color: bool) -> String {
        render_as(Level::WARNING, &self.0, source, color)
    }
}

fn render_as(level: Level<'_>, diagnostic: &Diagnostic, source: &Source, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut mark = AnnotationKind::Primary.span(clamp(diagnostic.span, &source.text));
    if !diagnostic.label.is_empty() {
        mark = mark.label(diagnostic.label.as_str());
    }
    let snippet =
        Snippet::source(source.text.as_str()).path(diagnostic.source.as_str()).annotation(mark);
    let mut group = level.primary_title(diagnostic.message.as_str()).element(snippet);
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.with_name("hint").message(hint.as_str()));
    }
    renderer.render(&[group])
}

/// The span, limited to the text and moved to character boundaries.
fn clamp(span: SourceSpan, text: &str) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start);
    start..floor(span.end).max(start)
}

/// The problems of one file, collected while it is read.
#[derive(Debug)]
pub struct Problems<'s> {
    source: &'s Source,
    list: Vec<Diagnostic>,
    of_builtin: bool,
}

impl<'s> Problems<'s> {
    /// No problems yet.
    pub fn new(source: &'s Source) -> Self {
        Self { source, list: Vec::new(), of_builtin: false }
    }

    /// The same for a file of callgate's own, unchanged.
    pub fn of_builtin(source: &'s Source) -> Self {
        Self { source, list: Vec::new(), of_builtin: true }
    }

    /// Whether the file is callgate's own: its patterns are tested and need not be compiled to be
    /// checked.
    pub fn are_of_builtin(&self) -> bool {
        self.of_builtin
    }

    /// Adds a problem; label and hint may follow.
    pub fn add(&mut self, span: SourceSpan, message: impl Into<String>) -> AddedProblem<'_> {
        let diagnostic = Diagnostic {
            source: self.source.name.clone(),
            span,
            message: message.into(),
            label: String::new(),
            hint: None,
        };
        self.list.push(diagnostic);
        AddedProblem(self.list.last_mut())
    }

    /// The first place of a text at or after the start of a value; `None` if the file does not
    /// contain it in this spelling. Starts from the value and not inside it, because the span of a
    /// value of several lines ends with its first line.
    pub fn find_from(&self, value: SourceSpan, text: &str) -> Option<SourceSpan> {
        let written = self.source.text.get(value.start..)?;
        let start = value.start + written.find(text)?;
        let before = self.source.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some(SourceSpan {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..)?.chars().count() + 1,
            start,
            end: start + text.len(),
        })
    }

    /// The number of problems so far.
    #[expect(clippy::len_without_is_empty, reason = "only whether it has grown matters")]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Every problem, in the order of the file.
    pub fn into_list(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.span.start);
        self.list
    }
}

/// A problem that was just added.
#[derive(Debug)]
pub struct AddedProblem<'p>(Option<&'p mut Diagnostic>);

impl AddedProblem<'_> {
    /// Adds what is wrong with the marked text.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.label = label.into();
        }
        self
    }

    /// Adds what to do about it.
    pub fn hint(self, hint: impl Into<String>) {
        self.maybe_hint(Some(hint.into()));
    }

    /// Adds what to do about it, if anything.
    pub fn maybe_hint(self, hint: Option<String>) {
        if let Some(diagnostic) = self.0 {
            diagnostic.hint = hint;
        }
    }
}

/// Suggests the known word that was probably meant.
pub fn did_you_mean<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let meant = |(other, ours): &&(&str, &str)| *other == word && known.contains(ours);
    if let Some((_, ours)) = OTHER_WORDS.iter().find(meant) {
        return Some(format!("did you mean `{ours}`?"));
    }
    let near = known.into_iter().map(|candidate| (distance(word, candidate), candidate));
    let (steps, candidate) = near.min_by_key(|(steps, _)| *steps)?;
    // In a short word only one letter may differ: with two, nearly every other short word would be
    // near.
    let near_enough = if word.len() <= 3 { 1 } else { 2.max(word.len() / 3) };
    (steps <= near_enough).then(|| format!("did you mean `{candidate}`?"))
}

/// Words that other tools use, and ours for the same thing.
const OTHER_WORDS: [(&str, &str); 19] = [
    ("block", "deny"),
    ("blocked", "deny"),
    ("forbid", "deny"),
    ("refuse", "deny"),
    ("reject", "deny"),
    ("drop", "deny"),
    ("permit", "allow"),
    ("pass", "allow"),
    ("accept", "allow"),
    ("log", "audit"),
    ("warn", "audit"),
    ("action", "verdict"),
    ("effect", "verdict"),
    ("decision", "verdict"),
    ("name", "id"),
    ("message", "reason"),
    ("regex", "matches"),
    ("condition", "when"),
    ("api_key", "api_key_env"),
];

/// The edit distance (Levenshtein), one row of the table at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, pair) in b.iter().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (left + 1).min(above + 1).min(diagonal + usize::from(x != *y));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
