//! Replaces the selected hits in a JSON document: the arguments of a call.

use std::sync::Arc;

use callgate_json::{Error, Span, each_spelling};

use crate::json::{Cleaner, FIELD, FieldSecrecy, edits, splice};
use crate::replace::write;
use crate::set::{CompiledSet, Hit, Set};

/// The result of cleaning a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The document with everything that was found replaced, and every other byte unchanged; `None`
    /// if nothing was found.
    pub text: Option<String>,
    /// The hits; a span is that of the whole string or number.
    pub hits: Vec<Hit>,
}

/// How many documents may be nested in strings: no program reads deeper than this.
const MAX_INSIDE: usize = 4;

impl Set {
    /// Replaces everything that was selected in the strings, keys and numbers of a JSON document;
    /// the result is a document too. A string that contains a document is searched as one. If
    /// secrets are selected, the value of a field with a telling name counts as one
    /// (`secret_field`). A number with a hit becomes a string.
    ///
    /// An error means that the text is not one JSON document.
    pub fn clean_json(&self, json: &str) -> Result<Cleaned, Error> {
        self.clean_inside(json, 0)
    }

    fn clean_inside(&self, json: &str, depth: usize) -> Result<Cleaned, Error> {
        let mut searcher = Searcher { set: self, fields: self.0.fields(), hits: Vec::new(), depth };
        let edits = edits(json, &mut searcher)?;
        let text = (!edits.is_empty()).then(|| splice(json, &edits));
        Ok(Cleaned { text, hits: searcher.hits })
    }
}

impl CompiledSet {
    /// The sources that selected values after telling names.
    fn fields(&self) -> &[usize] {
        let selected = self.selected.iter().find(|(name, _)| **name == *"secret_assignment");
        selected.map_or(&[], |(_, sources)| sources)
    }
}

struct Searcher<'s> {
    set: &'s Set,
    fields: &'s [usize],
    hits: Vec<Hit>,
    depth: usize,
}

impl Cleaner for Searcher<'_> {
    fn string(&mut self, text: &str, field: FieldSecrecy, span: Span) -> Option<String> {
        if let Some(source) = self.fields.first().filter(|_| field.hides(text)) {
            let sources = self.fields.iter();
            let hit = |source: &usize| Hit {
                source: *source,
                kind: Arc::from(FIELD),
                rank: 0,
                span: span.start..span.end,
            };
            self.hits.extend(sources.map(hit));
            let mut out = String::new();
            write(self.set.0.replace_of(*source), FIELD, text, &mut out);
            return Some(out);
        }
        self.document(text, span).or_else(|| self.found(text, span))
    }

    /// A number is searched in every form in which a program may print it.
    fn number(&mut self, text: &str, span: Span) -> Option<String> {
        let mut found = None;
        each_spelling(text, &mut |spelling| {
            if found.is_none() {
                found = self.found(spelling, span);
            }
        });
        found
    }
}

impl Searcher<'_> {
    /// Searches a document in a string, so that its escapes hide nothing.
    fn document(&mut self, text: &str, span: Span) -> Option<String> {
        let opens = text.trim_start().starts_with(['{', '[', '"']);
        if !opens || self.depth >= MAX_INSIDE {
            return None;
        }
        let inside = self.set.clean_inside(text, self.depth + 1).ok()?;
        let hits = inside.hits.into_iter();
        self.hits.extend(hits.map(|hit| Hit { span: span.start..span.end, ..hit }));
        inside.text
    }

    fn found(&mut self, text: &str, span: Span) -> Option<String> {
        let hits = self.set.find(text);
        if hits.is_empty() {
            return None;
        }
        let out = self.set.replace(text, &hits);
        let hits = hits.into_iter();
        self.hits.extend(hits.map(|hit| Hit { span: span.start..span.end, ..hit }));
        Some(out)
    }
}

#[cfg(test)]
mod tests;
