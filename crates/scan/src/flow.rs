//! A text that comes in pieces.

mod swallow;

use std::ops::Range;
use std::sync::Arc;

use crate::find::WINDOW;
use crate::replace::{Replace, replacements, write};
use crate::set::{Begin, CompiledSet, Hit, SearchResult, is_whole_word};
use swallow::Swallow;

/// Cleans a text that comes in pieces.
///
/// The concatenated output equals [`Set::clean`](crate::Set::clean) of the whole text, however it
/// was split. Only text that may still become a match is held back: the beginning of a keyword, a
/// match that reaches the end of the text so far, a word that could be the first part of an e-mail
/// address. At most [`Flow::MAX_HELD`] bytes are held back: what is still undecided then is
/// replaced like a match, and so is the following text as long as it could belong to it. For a
/// private key, and for a very long token, the replacement leaves as soon as it is certain, and the
/// rest is dropped while it comes.
#[derive(Debug)]
pub struct Flow {
    set: Arc<CompiledSet>,
    /// The last text that has passed or was replaced, as far as a detector looks back, and the text
    /// that is held back.
    text: String,
    /// Where the search continues.
    from: usize,
    /// Where the held back text begins: everything before it has passed or was replaced. After
    /// `from` while text is dropped.
    done: usize,
    /// How many bytes were removed before `text`.
    gone: usize,
    swallow: Option<Swallow>,
    /// A hit with `Stop` was found: nothing more leaves.
    stopped: bool,
}

/// The result for a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowOutput {
    /// What may leave now; `None` if that is exactly the piece.
    pub text: Option<String>,
    /// The hits. Spans count from the beginning of the flow.
    pub hits: Vec<Hit>,
}

/// What was decided about the text so far. Spans count from the beginning of the flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowDecision {
    /// The part of the text that was decided now. The text after it is held back.
    pub span: Range<usize>,
    /// The replacements, in order.
    pub changes: Vec<TextChange>,
    /// The hits.
    pub hits: Vec<Hit>,
}

/// A replaced part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// The part.
    pub span: Range<usize>,
    /// Its replacement.
    pub text: String,
}

/// How far back a detector looks from where a match begins.
const CONTEXT: usize = 256;

impl Flow {
    /// The most bytes that are held back.
    pub const MAX_HELD: usize = 4096;

    pub(crate) fn new(set: Arc<CompiledSet>) -> Self {
        let (text, swallow) = (String::new(), None);
        Self { set, text, from: 0, done: 0, gone: 0, swallow, stopped: false }
    }

    /// Adds the next piece.
    pub fn push(&mut self, piece: &str) -> FlowOutput {
        self.append(piece);
        let start = self.gone + self.text.len() - piece.len();
        let end = self.gone + self.text.len();
        let settled = self.settle();
        if settled.changes.is_empty() && settled.span == (start..end) {
            return FlowOutput { text: None, hits: settled.hits };
        }
        FlowOutput { text: Some(self.leaving(&settled)), hits: settled.hits }
    }

    /// Ends the text: releases what was held back.
    pub fn finish(&mut self) -> FlowOutput {
        let settled = self.decide(true);
        FlowOutput { text: Some(self.leaving(&settled)), hits: settled.hits }
    }

    /// Adds a piece without deciding anything yet.
    pub fn append(&mut self, piece: &str) {
        self.forget();
        self.text.push_str(piece);
    }

    /// Decides what may leave of everything that was added.
    pub fn settle(&mut self) -> FlowDecision {
        self.decide(false)
    }

    /// The same at the end of the text: nothing is held back.
    pub fn settle_all(&mut self) -> FlowDecision {
        self.decide(true)
    }

    /// The original text of a span: of what was decided last, or of what is held back.
    pub fn text(&self, span: Range<usize>) -> &str {
        let at = |place: usize| place.saturating_sub(self.gone);
        self.text.get(at(span.start)..at(span.end)).unwrap_or("")
    }

    /// The output for what was decided.
    fn leaving(&self, settled: &FlowDecision) -> String {
        let mut out = String::new();
        let mut at = settled.span.start;
        for change in &settled.changes {
            out.push_str(self.text(at..change.span.start));
            out.push_str(&change.text);
            at = change.span.end;
        }
        out.push_str(self.text(at..settled.span.end.max(at)));
        out
    }

    fn decide(&mut self, last: bool) -> FlowDecision {
        let start = self.done;
        let mut out = FlowChanges::default();
        self.step(&mut out, last);
        let end = out.stop.unwrap_or(self.done);
        let absolute = |span: Range<usize>| self.gone + span.start..self.gone + span.end;
        let changes = out.changes.into_iter().filter(|(span, _)| span.start < end);
        FlowDecision {
            changes: changes
                .map(|(span, text)| TextChange { span: absolute(span), text })
                .collect(),
            span: absolute(start..end),
            hits: out.hits,
        }
    }

    fn step(&mut self, out: &mut FlowChanges, last: bool) {
        loop {
            if self.stopped {
                out.stop.get_or_insert(self.done);
                self.drop_until(self.text.len(), out);
                self.from = self.text.len();
                return;
            }
            if let Some(swallow) = &mut self.swallow {
                match swallow.end(self.text.get(self.from..).unwrap_or("")) {
                    swallow::SwallowEnd::Here(length) => {
                        self.from += length;
                        self.drop_until(self.from, out);
                        self.swallow = None;
                    }
                    swallow::SwallowEnd::Beyond { keep_from } => {
                        self.from += keep_from;
                        self.drop_until(self.text.len(), out);
                        return;
                    }
                }
            }
            let seen = self.set.search(&self.text, self.from);
            let end = if last { self.text.len() } else { self.settled(&seen) };
            self.release(end, &seen, out);
            let held = self.text.len() - self.from;
            if held > Self::MAX_HELD && !last && !self.stopped && self.swallow.is_none() {
                self.overflow(&seen, out);
            }
            // What is dropped from here on may end in this same piece.
            if self.swallow.is_none() || last {
                return;
            }
        }
    }

    /// Drops the held back text up to `end`.
    fn drop_until(&mut self, end: usize, out: &mut FlowChanges) {
        if self.done < end {
            out.changes.push((self.done..end, String::new()));
            self.done = end;
        }
    }

    /// How far the text is decided, whatever follows.
    fn settled(&self, seen: &SearchResult) -> usize {
        let mut end = self.text.len();
        if let Some(waiting) = &seen.waiting {
            end = end.min(waiting.start);
        }
        end = end.min(self.begun(seen).map_or(end, |(at, _)| at));
        // From the last to the first: none of them may be split.
        let hits = seen.hits.iter().map(|hit| &hit.span);
        let mut whole: Vec<_> = seen.whole.iter().chain(hits).collect();
        whole.sort_unstable_by_key(|span| std::cmp::Reverse(span.start));
        for span in whole {
            if span.start < end && end < span.end {
                end = span.start;
            }
        }
        self.text.floor_char_boundary(end.max(self.from))
    }

    /// The first place from which the text may still become a match, and of which pattern.
    fn begun(&self, seen: &SearchResult) -> Option<(usize, Option<usize>)> {
        let bytes = self.text.as_bytes();
        let Some(partial) = self.set.partial() else { return Some((self.from, None)) };
        let near = bytes.len().saturating_sub(WINDOW);
        let mut first = None;
        let searched = partial.each(bytes, self.from, &mut |at, pattern| {
            let may = match self.set.begin.get(pattern) {
                // Its patterns look no further than that.
                Some(Begin::Detector { edge, .. }) => {
                    at >= near && edge.allows_before(&self.text, at)
                }
                Some(Begin::Pattern(_)) => true,
                Some(Begin::Word(_)) => {
                    self.text.is_char_boundary(at)
                        && is_whole_word(&self.text, &(at..self.text.len()))
                }
                None => false,
            };
            if may && !seen.blocks.hide(at) {
                first = Some((at, Some(pattern)));
            }
        });
        // Too many to check: then it may be anywhere.
        if searched.is_err() { Some((self.from, None)) } else { first }
    }

    /// Releases the text up to `end`, with the hits in it replaced.
    fn release(&mut self, end: usize, seen: &SearchResult, out: &mut FlowChanges) {
        let count = seen.hits.iter().take_while(|hit| hit.span.start < end).count();
        let hits = seen.hits.get(..count).unwrap_or(&[]);
        if !hits.is_empty() {
            let changes = &mut out.changes;
            let mut change = |span, text| changes.push((span, text));
            let stop = replacements(&self.text, hits, &self.set, &mut change);
            self.stopped = stop.is_some();
            out.stop = out.stop.or(stop);
            out.hits.extend(hits.iter().map(|hit| self.in_flow(hit)));
        }
        self.done = self.done.max(end);
        if end == self.text.len()
            && let Some(inside) = &seen.inside
        {
            self.swallow = Some(Swallow::of(inside));
            // The last line of a key may have begun already.
            self.from = if inside.armour { inside.start } else { end };
        } else {
            self.from = end;
        }
    }

    /// Too much is held back: replaces it, and drops the following text as long as it belongs to
    /// it.
    fn overflow(&mut self, seen: &SearchResult, out: &mut FlowChanges) {
        let begun = self.begun(seen).filter(|_| seen.waiting.is_none());
        let begin = begun.and_then(|(_, pattern)| Some((pattern?, *self.set.begin.get(pattern?)?)));
        let (source, kind) = self.set.name_of(begin.map(|(_, begin)| begin), seen);
        let hit = Hit { source, kind, span: self.from..self.text.len(), rank: 0 };
        let held = self.text.get(self.from..).unwrap_or("");
        let how = self.set.replace_of(source);
        let mut new = String::new();
        write(how, &hit.kind, held, &mut new);
        self.stopped = how == Replace::Stop;
        if self.stopped {
            out.stop.get_or_insert(self.from);
        }
        out.changes.push((hit.span.clone(), new));
        out.hits.push(self.in_flow(&hit));
        let start = begun.map_or(self.from, |(at, _)| at);
        let held = self.text.get(start..).unwrap_or("");
        self.swallow = Some(Swallow::rest_of(&self.set, begin, held));
        self.from = self.text.len();
        self.done = self.from;
    }

    /// The hit, with a span that counts from the beginning of the flow.
    fn in_flow(&self, hit: &Hit) -> Hit {
        let span = self.gone + hit.span.start..self.gone + hit.span.end;
        Hit { span, ..hit.clone() }
    }

    /// Drops text that no detector looks back at.
    fn forget(&mut self) {
        // Not for every piece, because moving the rest to the front takes time.
        if self.from >= 2 * CONTEXT {
            let needless = self.text.floor_char_boundary(self.from - CONTEXT);
            self.text.drain(..needless);
            self.from -= needless;
            self.done -= needless;
            self.gone += needless;
            self.text.shrink_to(2 * Self::MAX_HELD);
        }
    }
}

/// The replacements. Spans count from the beginning of the stored text.
#[derive(Debug, Default)]
struct FlowChanges {
    changes: Vec<(Range<usize>, String)>,
    hits: Vec<Hit>,
    /// Where a hit with `Stop` ends the output.
    stop: Option<usize>,
}

#[cfg(test)]
mod tests;
