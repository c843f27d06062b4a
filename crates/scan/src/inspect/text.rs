//! Inspects one text.

use std::ops::Range;

use super::class::{FindingClass, Severity};
use super::finding::{Finding, FindingList, excerpt};
use super::fold::Folded;
use super::known::is_distinctive;
use super::{InspectionContext, encoded, hidden, rules};

/// How many nested encodings are decoded. Attacks use one or two; each layer costs a pass.
const MAX_LAYERS: usize = 3;

/// The findings in a text that a server sends, in the order of the text.
pub fn inspect_text(text: &str, context: &InspectionContext<'_>) -> Vec<Finding> {
    let mut findings = FindingList::default();
    inspect(text, context, MAX_LAYERS, &mut findings);
    findings.raise_combined(context.place.is_own_text());
    findings.into_vec()
}

/// Inspects a text and the texts encoded in it, `layers` deep.
pub(super) fn inspect(
    text: &str,
    context: &InspectionContext<'_>,
    layers: usize,
    findings: &mut FindingList,
) {
    let spelled = hidden::look(text, context, findings);
    let folded = Folded::new(text);
    phrases(text, &folded, &folded, context, findings);
    for one in [b'i', b'l'] {
        if let Some(plain) = folded.unleeted(one) {
            phrases(text, &plain, &folded, context, findings);
        }
    }
    references(text, &folded, context, findings);
    let Some(layers) = layers.checked_sub(1) else { return };
    for hidden::Spelled { span, text, how } in spelled {
        payload(&text, how, span, context, layers, findings);
    }
    encoded::each(text, &mut |found| {
        payload(&found.text, found.how, found.span, context, layers, findings);
    });
}

/// Finds phrases and paths. A second reading of the same text (digits as letters) reports only
/// matches across a place where it differs from the first.
fn phrases(
    text: &str,
    read: &Folded,
    first: &Folded,
    context: &InspectionContext<'_>,
    findings: &mut FindingList,
) {
    let is_new = |span: &Range<usize>| {
        std::ptr::eq(read, first) || read.text.get(span.clone()) != first.text.get(span.clone())
    };
    let own_text = context.place.is_own_text();
    // Matches that mean nothing on their own in a text that is passed on: a request to send
    // something.
    let mut ambiguous = FindingList::default();
    rules::each(&read.text, &mut |hit| {
        if !is_new(&hit.span) {
            return;
        }
        let severity = if own_text { hit.rule.own_text } else { hit.rule.data };
        let Some(mut severity) = severity else {
            if hit.rule.class == FindingClass::Exfiltration {
                let span = read.span(text, &hit.span);
                ambiguous.add(hit.rule.class, Severity::Medium, span, hit.rule.what.clone());
            }
            return;
        };
        if !own_text && is_quoted(&read.text, &hit.span) {
            severity = severity.min(Severity::Medium);
        }
        let span = read.span(text, &hit.span);
        let seen = excerpt(text.get(span.clone()).unwrap_or(""));
        findings.add(hit.rule.class, severity, span, format!("{}: `{seen}`", hit.rule.what));
    });
    rules::handling(&read.text, &mut |found| {
        // Passed on texts often mention files with settings: they only count together with an
        // instruction.
        let ordered = findings
            .has(|it| matches!(it.class, FindingClass::Directive | FindingClass::Exfiltration));
        if !is_new(&found.span) || (!own_text && !ordered && found.severity < Severity::High) {
            return;
        }
        let severity = if own_text { found.severity } else { found.severity.min(Severity::Medium) };
        let span = read.span(text, &found.span);
        let seen = excerpt(text.get(span.clone()).unwrap_or(""));
        let what = format!("asks to read or send a file with keys or settings: `{seen}`");
        findings.add(FindingClass::SensitivePath, severity, span, what);
    });
    if findings.has(|it| it.class == FindingClass::SensitivePath) {
        ambiguous.drain().into_iter().for_each(|finding| findings.keep(finding));
    }
}

/// How far around a quotation to look for words about attacks.
const AROUND: usize = 120;

/// Words of texts about attacks.
const ABOUT: [&str; 8] = [
    "injection",
    "jailbreak",
    "attacker",
    "attack",
    "adversarial",
    "red team",
    "phrases like",
    "such as",
];

/// Whether a phrase is quoted in a text about attacks. Only applies to texts that servers pass on:
/// a definition has no reason to quote.
fn is_quoted(text: &str, span: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(span.start.saturating_sub(AROUND));
    let to = text.ceil_char_boundary((span.end + AROUND).min(text.len()));
    let before = text.get(from..span.start).unwrap_or("");
    let behind = text.get(span.end..to).unwrap_or("");
    let quotes = ['"', '\'', '`', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];
    let opens = before.trim_end().ends_with(quotes);
    let closes = behind.split(['.', '\n']).next().is_some_and(|rest| rest.contains(quotes))
        || behind.get(..2).is_some_and(|rest| rest.contains(quotes));
    opens && closes && ABOUT.iter().any(|word| before.contains(word) || behind.contains(word))
}

/// Words that direct the use of a tool.
const STEERS: [&str; 24] = [
    "instead of",
    "rather than",
    "before",
    "must",
    "always",
    "never",
    "when using",
    "when you use",
    "whenever",
    "do not use",
    "don't use",
    "replace",
    "deprecated",
    "broken",
    "prior to",
    "every",
    "after calling",
    "when calling",
    "parameter",
    "argument",
    "recipient",
    "also call",
    "then call",
    "first call",
];
const NEAR: usize = 160;

/// Finds names of other servers' tools in the texts of a server about its own.
fn references(
    text: &str,
    folded: &Folded,
    context: &InspectionContext<'_>,
    findings: &mut FindingList,
) {
    if !context.place.is_own_text() {
        return;
    }
    for (name, place) in context.known.find(&folded.text) {
        let from = folded.text.floor_char_boundary(place.start.saturating_sub(NEAR));
        let to = folded.text.ceil_char_boundary((place.end + NEAR).min(folded.text.len()));
        let near = folded.text.get(from..to).unwrap_or("");
        let marked = is_distinctive(name) || is_called_tool(&folded.text, &place);
        let steered = STEERS.iter().any(|word| near.contains(word));
        if !marked {
            continue;
        }
        let span = folded.span(text, &place);
        let severity = match steered {
            // One program may run as two servers, and mentions its tools in both.
            _ if context.known.is_own(name) => Severity::Low,
            true => Severity::High,
            false => Severity::Medium,
        };
        let what = format!("mentions `{}`, a tool of another server", excerpt(name));
        findings.add(FindingClass::CrossReference, severity, span, what);
    }
}

/// Whether an ordinary word is meant as the name of a tool: in quotes, or next to the word "tool".
fn is_called_tool(folded: &str, place: &Range<usize>) -> bool {
    let before = folded.get(..place.start).unwrap_or("");
    let behind = folded.get(place.end..).unwrap_or("");
    let quoted = before.ends_with(['`', '\'', '"']) && behind.starts_with(['`', '\'', '"']);
    let word = |text: &str| ["tool", "function"].iter().any(|word| text.starts_with(word));
    quoted && word(behind.trim_start_matches(['`', '\'', '"', ' '])) || word(behind.trim_start())
}

/// Inspects an encoded or hidden text after decoding it.
fn payload(
    inside: &str,
    how: &str,
    span: Range<usize>,
    context: &InspectionContext<'_>,
    layers: usize,
    findings: &mut FindingList,
) {
    let mut found = FindingList::default();
    inspect(inside, context, layers, &mut found);
    found.raise_combined(context.place.is_own_text());
    let Some(worst) = found.worst() else { return };
    if worst.severity < Severity::Medium {
        return;
    }
    let detail = match worst.class {
        // Nested layers: the innermost matters.
        FindingClass::EncodedPayload => format!("{how}, which contains {}", worst.detail),
        _ => format!("{how}, which hides: {}", worst.detail),
    };
    findings.add(FindingClass::EncodedPayload, worst.severity.raised(), span, detail);
}
