//! Inspects every string of a JSON document.

use std::borrow::Cow;
use std::ops::Range;

use callgate_json::{Error, Kind, Reader, Text, decode_into};

use super::class::{FindingClass, Severity};
use super::finding::{Finding, FindingList};
use super::text::inspect;
use super::{InspectionContext, pieces};

/// How many findings of one document are kept: those with the highest severity. More would add
/// nothing new.
pub(super) const MAX_FINDINGS: usize = 64;

/// How many layers of encodings are decoded in a string, as in a plain text.
const LAYERS: usize = 3;

/// The findings in the strings of a JSON document, including keys, each with its path.
///
/// A document that cannot be parsed strictly gives one finding for that, in addition to the
/// findings in its plain text. A duplicate key is read both times.
pub fn inspect_json(json: &str, context: &InspectionContext<'_>) -> Vec<Finding> {
    let mut walk = DocumentWalk::new(json, context);
    if let Err(error) = walk.document(&mut |_, _| {}) {
        return unreadable(json, &error, context);
    }
    worst_of(walk.found)
}

/// Inspects an invalid document as a text.
pub(super) fn unreadable(
    json: &str,
    error: &Error,
    context: &InspectionContext<'_>,
) -> Vec<Finding> {
    let at = (error.at as usize).min(json.len());
    let mut found = super::inspect_text(json, context);
    found.push(Finding {
        class: FindingClass::Unreadable,
        severity: Severity::High,
        detail: error.to_string(),
        span: json.floor_char_boundary(at)..json.len(),
        path: String::new(),
    });
    found
}

/// The findings with the highest severity, in the order of the document.
pub(super) fn worst_of(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found.truncate(MAX_FINDINGS);
    found.sort_by_key(|finding| (finding.span.start, finding.class));
    found
}

/// A value met while walking through a document.
#[derive(Debug)]
pub(super) enum Visited<'v> {
    /// A key of an object, decoded.
    Key(&'v str),
    /// A string, decoded.
    String(&'v str),
    /// The start of an object or array.
    Begin,
    /// The end of an object or array.
    End,
    /// A number, `true`, `false` or `null`.
    Other,
}

/// Called for each value, with its path.
pub(super) type Visitor<'w> = dyn FnMut(&Visited<'_>, &ValueSpan<'_>) + 'w;

/// The path and the span of a value.
pub(super) struct ValueSpan<'p> {
    pub(super) path: &'p [String],
    pub(super) span: Range<usize>,
}

pub(super) struct DocumentWalk<'w> {
    json: &'w str,
    context: &'w InspectionContext<'w>,
    path: Vec<String>,
    pub(super) found: Vec<Finding>,
    /// The strings of the arrays that are being read: an instruction may be split into the values
    /// of a list.
    joined: Vec<String>,
}

/// The protocol's own words. Nearly every message contains them, and they never give findings, so
/// they are skipped.
const OF_PROTOCOL: [&str; 20] = [
    "_meta",
    "annotations",
    "complete",
    "content",
    "data",
    "description",
    "image",
    "inputSchema",
    "isError",
    "mimeType",
    "name",
    "object",
    "properties",
    "resource",
    "resultType",
    "string",
    "structuredContent",
    "text",
    "type",
    "uri",
];

fn is_of_protocol(text: &str) -> bool {
    OF_PROTOCOL.contains(&text)
}

/// How much of the strings of one list is read as one text.
const MAX_JOINED: usize = 16 * 1024;

impl<'w> DocumentWalk<'w> {
    pub(super) fn new(json: &'w str, context: &'w InspectionContext<'w>) -> Self {
        Self { json, context, path: Vec::new(), found: Vec::new(), joined: Vec::new() }
    }

    pub(super) fn document(&mut self, watch: &mut Visitor<'_>) -> Result<(), Error> {
        let mut reader = Reader::new(self.json);
        self.value(&mut reader, watch)?;
        reader.end()
    }

    /// The reader limits the depth, and so the recursion.
    fn value(&mut self, reader: &mut Reader<'_>, watch: &mut Visitor<'_>) -> Result<(), Error> {
        match reader.kind()? {
            Kind::String => {
                let string = reader.string()?;
                let text = decoded(&string);
                self.see(&Visited::String(&text), string_inside(&string), watch);
                self.string(&string, &text);
                if let Some(joined) = self.joined.last_mut().filter(|it| it.len() < MAX_JOINED) {
                    joined.push_str(&text);
                    joined.push(' ');
                }
            }
            Kind::Array => self.array(reader, watch)?,
            Kind::Object => self.object(reader, watch)?,
            Kind::Number | Kind::Bool | Kind::Null => {
                let span = reader.skip()?;
                self.see(&Visited::Other, span.start..span.end, watch);
            }
        }
        Ok(())
    }

    fn array(&mut self, reader: &mut Reader<'_>, watch: &mut Visitor<'_>) -> Result<(), Error> {
        let start = reader.position();
        self.see(&Visited::Begin, start..start, watch);
        self.joined.push(String::new());
        let mut elements = reader.array()?;
        let mut number = 0;
        while elements.next(reader)? {
            self.path.push(format!("[{number}]"));
            self.value(reader, watch)?;
            self.path.pop();
            number += 1;
        }
        let span = start..reader.position();
        self.see(&Visited::End, span.clone(), watch);
        if let Some(joined) = self.joined.pop().filter(|_| number > 1) {
            self.list(&joined, span);
        }
        Ok(())
    }

    fn object(&mut self, reader: &mut Reader<'_>, watch: &mut Visitor<'_>) -> Result<(), Error> {
        let start = reader.position();
        self.see(&Visited::Begin, start..start, watch);
        let mut members = reader.object()?;
        while let Some(key) = members.next(reader)? {
            let name = decoded(&key).into_owned();
            self.path.push(name.clone());
            self.see(&Visited::Key(&name), string_inside(&key), watch);
            self.key(&key, &name);
            // Strings of an object in a list are not parts of one sentence, except for the texts of
            // a result's content, which a model reads one after the other.
            let kept = std::mem::take(&mut self.joined);
            let is_text = name == "text" && kept.len() == 1;
            if is_text {
                self.joined = kept;
                self.value(reader, watch)?;
            } else {
                self.value(reader, watch)?;
                self.joined = kept;
            }
            self.path.pop();
        }
        self.see(&Visited::End, start..reader.position(), watch);
        Ok(())
    }

    fn see(&self, seen: &Visited<'_>, span: Range<usize>, watch: &mut Visitor<'_>) {
        watch(seen, &ValueSpan { path: &self.path, span });
    }

    fn string(&mut self, string: &Text<'_>, text: &str) {
        if is_of_protocol(text) {
            return;
        }
        let mut findings = FindingList::default();
        inspect(text, self.context, LAYERS, &mut findings);
        findings.raise_combined(self.context.place.is_own_text());
        self.take(findings, string, text);
    }

    /// Keys are words joined by punctuation: `ignore_previous_instructions`.
    fn key(&mut self, key: &Text<'_>, name: &str) {
        if is_of_protocol(name) {
            return;
        }
        let mut findings = FindingList::default();
        inspect(name, self.context, 0, &mut findings);
        self.take(findings, key, name);
    }

    fn take(&mut self, mut findings: FindingList, string: &Text<'_>, text: &str) {
        for mut finding in findings.drain() {
            finding.span = raw_span(string, text, &finding.span);
            finding.path = shown(&self.path);
            self.found.push(finding);
        }
        self.bound();
    }

    /// Inspects the strings of a list as one text. Findings in a single string are already known.
    fn list(&mut self, joined: &str, span: Range<usize>) {
        let mut findings = FindingList::default();
        inspect(joined, self.context, 0, &mut findings);
        findings.raise_combined(self.context.place.is_own_text());
        let known = |class: FindingClass| {
            self.found.iter().any(|it| it.class == class && it.span.start >= span.start)
        };
        let mut new = findings.drain();
        new.retain(|finding| {
            matches!(
                finding.class,
                FindingClass::Directive | FindingClass::Exfiltration | FindingClass::SensitivePath
            ) && !known(finding.class)
        });
        for finding in new {
            let path = shown(&self.path);
            self.found.push(Finding { span: span.clone(), path, ..finding });
        }
    }

    /// Limits the number of findings while reading, too.
    fn bound(&mut self) {
        if self.found.len() > 4 * MAX_FINDINGS {
            self.found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
            self.found.truncate(MAX_FINDINGS);
        }
    }
}

/// A path as people write it. The middle of a very long one is omitted.
pub(super) fn shown(path: &[String]) -> String {
    let mut text = String::new();
    for (number, part) in path.iter().enumerate() {
        let joins = part.starts_with('[') || number == 0;
        text.push_str(if joins { "" } else { "." });
        text.push_str(&super::finding::excerpt(part));
    }
    text
}

/// The bytes between the quotes.
fn string_inside(string: &Text<'_>) -> Range<usize> {
    string.span().start + 1..string.span().end.saturating_sub(1)
}

/// The decoded text of a string. Half a surrogate pair is omitted: it must not keep the rest from
/// being read.
fn decoded<'a>(string: &Text<'a>) -> Cow<'a, str> {
    string.decode().unwrap_or_else(|_| {
        let mut text = String::new();
        decode_into(string.raw(), &mut None, &mut text);
        Cow::Owned(text)
    })
}

/// The span in the document of a span of the decoded text.
fn raw_span(string: &Text<'_>, text: &str, span: &Range<usize>) -> Range<usize> {
    let inside = string_inside(string);
    if !string.is_escaped() {
        return inside.start + span.start..inside.start + span.end;
    }
    let (mut at, mut start, mut end) = (0, inside.start, inside.end);
    for piece in pieces::escaped(string.raw(), inside.start) {
        if at <= span.start {
            start = piece.span.start;
        }
        at += piece.sign.char().map_or(0, char::len_utf8);
        if at >= span.end.min(text.len()) {
            end = piece.span.end;
            break;
        }
    }
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::{OtherTools, TextSource, inspect_text};

    #[test]
    fn nothing_is_found_in_the_words_of_the_protocol() {
        let known = OtherTools::default();
        for place in [TextSource::Definition, TextSource::Result] {
            let context = InspectionContext { place, known: &known };
            for word in OF_PROTOCOL {
                assert_eq!(inspect_text(word, &context), [], "{word}");
            }
        }
    }
}
