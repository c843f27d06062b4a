//! One text.

use std::ops::Range;

use super::class::{Class, Severity};
use super::finding::{Finding, Findings, excerpt};
use super::fold::Folded;
use super::known::is_distinctive;
use super::{Context, encoded, hidden, rules};

/// Encodings inside of encodings that are undone. Attacks use one or two; each layer costs a pass.
const MAX_LAYERS: usize = 3;

/// What is odd about a text that a server sends, in the order of the text.
pub fn inspect_text(text: &str, context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Findings::default();
    inspect(text, context, MAX_LAYERS, &mut findings);
    findings.weigh(context.place.is_told());
    findings.into_vec()
}

/// Looks through a text and through what it encodes, `layers` deep.
pub(super) fn inspect(text: &str, context: &Context<'_>, layers: usize, findings: &mut Findings) {
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

/// Phrases and paths. A second reading of the same text (digits as letters) reports only what
/// crosses a place where it differs from the first.
fn phrases(
    text: &str,
    read: &Folded,
    first: &Folded,
    context: &Context<'_>,
    findings: &mut Findings,
) {
    let is_new = |span: &Range<usize>| {
        std::ptr::eq(read, first) || read.text.get(span.clone()) != first.text.get(span.clone())
    };
    let told = context.place.is_told();
    // What says nothing by itself in a text that is handed on: a request to send something.
    let mut beside = Findings::default();
    rules::each(&read.text, &mut |hit| {
        if !is_new(&hit.span) {
            return;
        }
        let severity = if told { hit.rule.told } else { hit.rule.data };
        let Some(mut severity) = severity else {
            if hit.rule.class == Class::Exfiltration {
                let span = read.span(text, &hit.span);
                beside.add(hit.rule.class, Severity::Medium, span, hit.rule.what.into());
            }
            return;
        };
        if !told && is_quoted(&read.text, &hit.span) {
            severity = severity.min(Severity::Medium);
        }
        let span = read.span(text, &hit.span);
        let seen = excerpt(text.get(span.clone()).unwrap_or(""));
        findings.add(hit.rule.class, severity, span, format!("{}: `{seen}`", hit.rule.what));
    });
    rules::handling(&read.text, &mut |found| {
        // In what is handed on, a file of settings is told of everywhere: only beside an order
        // does it mean something.
        let ordered = findings.has(|it| matches!(it.class, Class::Directive | Class::Exfiltration));
        if !is_new(&found.span) || (!told && !ordered && found.severity < Severity::High) {
            return;
        }
        let severity = if told { found.severity } else { found.severity.min(Severity::Medium) };
        let span = read.span(text, &found.span);
        let seen = excerpt(text.get(span.clone()).unwrap_or(""));
        let what = format!("a file of keys or settings is to be read or handed over: `{seen}`");
        findings.add(Class::SensitivePath, severity, span, what);
    });
    if findings.has(|it| it.class == Class::SensitivePath) {
        beside.drain().into_iter().for_each(|finding| findings.keep(finding));
    }
}

/// So far around a quotation one is told that it is one.
const AROUND: usize = 120;

/// Words by which a text speaks about attacks.
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

/// Whether a phrase stands in quotes in a text about attacks. Only texts that servers hand on are
/// read so mildly: in a definition nobody quotes.
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

/// Words that steer the use of a tool, and how far from its name they stand.
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

/// Names of other servers' tools, in what a server says about its own.
fn references(text: &str, folded: &Folded, context: &Context<'_>, findings: &mut Findings) {
    if !context.place.is_told() {
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
            // One software may serve as two servers, and speaks of its tools in both.
            _ if context.known.is_own(name) => Severity::Low,
            true => Severity::High,
            false => Severity::Medium,
        };
        let what = format!("speaks of `{}`, a tool of another server", excerpt(name));
        findings.add(Class::CrossReference, severity, span, what);
    }
}

/// Whether a plain word is meant as the name of a tool: in quotes, or with the word beside it.
fn is_called_tool(folded: &str, place: &Range<usize>) -> bool {
    let before = folded.get(..place.start).unwrap_or("");
    let behind = folded.get(place.end..).unwrap_or("");
    let quoted = before.ends_with(['`', '\'', '"']) && behind.starts_with(['`', '\'', '"']);
    let word = |text: &str| ["tool", "function"].iter().any(|word| text.starts_with(word));
    quoted && word(behind.trim_start_matches(['`', '\'', '"', ' '])) || word(behind.trim_start())
}

/// What an encoded or hidden text says once it is read.
fn payload(
    inside: &str,
    how: &str,
    span: Range<usize>,
    context: &Context<'_>,
    layers: usize,
    findings: &mut Findings,
) {
    let mut found = Findings::default();
    inspect(inside, context, layers, &mut found);
    found.weigh(context.place.is_told());
    let Some(worst) = found.worst() else { return };
    if worst.severity < Severity::Medium {
        return;
    }
    let detail = match worst.class {
        // Layers in layers: the innermost is what matters.
        Class::EncodedPayload => format!("{how}, in it {}", worst.detail),
        _ => format!("{how} that hides: {}", worst.detail),
    };
    findings.add(Class::EncodedPayload, worst.severity.raised(), span, detail);
}
