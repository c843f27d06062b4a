//! A text that comes in pieces.

mod swallow;

use std::ops::Range;
use std::sync::Arc;

use crate::find::WINDOW;
use crate::replace::{Replace, replacements, write};
use crate::set::{Begin, Hit, Inner, Seen, is_whole_word};
use swallow::Swallow;

/// A text in pieces, and what of it may pass now.
///
/// What passes, put together, is the whole text as [`Set::clean`](crate::Set::clean) gives it,
/// however it was cut. Held back is only what may still become a match: the beginning of a keyword,
/// a match that reaches the end of what has come, a word that could be the first part of an e-mail
/// address. Never more than [`Flow::MAX_HELD`] bytes are: what is still not decided then is
/// replaced as if it were a match, and so is what follows as long as it could belong to it. Of a
/// private key, and of a token that goes on and on, the replacement leaves as soon as it is
/// certain, and the rest is dropped as it comes.
#[derive(Debug)]
pub struct Flow {
    set: Arc<Inner>,
    /// What has passed or was replaced, as far as a detector looks back, and what is held back.
    text: String,
    /// Where the search goes on.
    from: usize,
    /// Where what is held back begins: all before it has passed or was replaced. Further on than
    /// `from` while something is dropped as it comes.
    done: usize,
    /// How many bytes were cut off before `text`.
    gone: usize,
    swallow: Option<Swallow>,
    /// A hit said that nothing more leaves.
    stopped: bool,
}

/// What became of a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flowed {
    /// What may leave now; `None` if that is the very piece.
    pub text: Option<String>,
    /// What was found. Spans count from the beginning of the flow.
    pub hits: Vec<Hit>,
}

/// What was decided of the text so far. Places count from the beginning of the flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// From where to where the text was decided now. What stands behind is held back.
    pub span: Range<usize>,
    /// What leaves otherwise than it came, in order.
    pub changes: Vec<Change>,
    /// What was found.
    pub hits: Vec<Hit>,
}

/// A part of the text that leaves otherwise than it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The part.
    pub span: Range<usize>,
    /// What stands in its place.
    pub text: String,
}

/// How far back a detector looks from where a match begins.
const CONTEXT: usize = 256;

impl Flow {
    /// The most bytes that are held back.
    pub const MAX_HELD: usize = 4096;

    pub(crate) fn new(set: Arc<Inner>) -> Self {
        let (text, swallow) = (String::new(), None);
        Self { set, text, from: 0, done: 0, gone: 0, swallow, stopped: false }
    }

    /// The next piece.
    pub fn push(&mut self, piece: &str) -> Flowed {
        self.append(piece);
        let start = self.gone + self.text.len() - piece.len();
        let end = self.gone + self.text.len();
        let settled = self.settle();
        if settled.changes.is_empty() && settled.span == (start..end) {
            return Flowed { text: None, hits: settled.hits };
        }
        Flowed { text: Some(self.leaving(&settled)), hits: settled.hits }
    }

    /// The text is over: what was held back leaves.
    pub fn finish(&mut self) -> Flowed {
        let settled = self.decide(true);
        Flowed { text: Some(self.leaving(&settled)), hits: settled.hits }
    }

    /// Takes in a piece of which nothing is to be known yet.
    pub fn append(&mut self, piece: &str) {
        self.forget();
        self.text.push_str(piece);
    }

    /// Decides what may leave of all that was taken in.
    pub fn settle(&mut self) -> Settled {
        self.decide(false)
    }

    /// The same, where nothing follows: nothing is held back.
    pub fn settle_all(&mut self) -> Settled {
        self.decide(true)
    }

    /// The text of a place, as it came: of what was decided last, and of what is held back.
    pub fn text(&self, span: Range<usize>) -> &str {
        let at = |place: usize| place.saturating_sub(self.gone);
        self.text.get(at(span.start)..at(span.end)).unwrap_or("")
    }

    /// What leaves of what was decided.
    fn leaving(&self, settled: &Settled) -> String {
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

    fn decide(&mut self, last: bool) -> Settled {
        let start = self.done;
        let mut out = Out::default();
        self.step(&mut out, last);
        let end = out.stop.unwrap_or(self.done);
        let absolute = |span: Range<usize>| self.gone + span.start..self.gone + span.end;
        let changes = out.changes.into_iter().filter(|(span, _)| span.start < end);
        Settled {
            changes: changes.map(|(span, text)| Change { span: absolute(span), text }).collect(),
            span: absolute(start..end),
            hits: out.hits,
        }
    }

    fn step(&mut self, out: &mut Out, last: bool) {
        loop {
            if self.stopped {
                out.stop.get_or_insert(self.done);
                self.drop_until(self.text.len(), out);
                self.from = self.text.len();
                return;
            }
            if let Some(swallow) = &mut self.swallow {
                match swallow.end(self.text.get(self.from..).unwrap_or("")) {
                    swallow::End::Here(length) => {
                        self.from += length;
                        self.drop_until(self.from, out);
                        self.swallow = None;
                    }
                    swallow::End::Beyond { keep_from } => {
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
            // What is swallowed from here on may have ended in this very piece.
            if self.swallow.is_none() || last {
                return;
            }
        }
    }

    /// What is held back up to `end` does not leave.
    fn drop_until(&mut self, end: usize, out: &mut Out) {
        if self.done < end {
            out.changes.push((self.done..end, String::new()));
            self.done = end;
        }
    }

    /// How far the text is decided, whatever follows.
    fn settled(&self, seen: &Seen) -> usize {
        let mut end = self.text.len();
        if let Some(waiting) = &seen.waiting {
            end = end.min(waiting.start);
        }
        end = end.min(self.begun(seen).map_or(end, |(at, _)| at));
        // From the last to the first: none of them may be divided.
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

    /// The first place whose rest may still become a match, and what of.
    fn begun(&self, seen: &Seen) -> Option<(usize, Option<usize>)> {
        let bytes = self.text.as_bytes();
        let Some(ahead) = self.set.ahead() else { return Some((self.from, None)) };
        let near = bytes.len().saturating_sub(WINDOW);
        let mut first = None;
        let told = ahead.each(bytes, self.from, &mut |at, pattern| {
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
        // Too much to tell: then it may be anywhere.
        if told.is_err() { Some((self.from, None)) } else { first }
    }

    /// Lets the text up to `end` leave, with what was found in it replaced.
    fn release(&mut self, end: usize, seen: &Seen, out: &mut Out) {
        let count = seen.hits.iter().take_while(|hit| hit.span.start < end).count();
        let hits = seen.hits.get(..count).unwrap_or(&[]);
        if !hits.is_empty() {
            let changes = &mut out.changes;
            let mut change = |span, text| changes.push((span, text));
            let stop = replacements(&self.text, hits, &self.set, &mut change);
            self.stopped = stop.is_some();
            out.stop = out.stop.or(stop);
            out.hits.extend(hits.iter().map(|hit| self.told(hit)));
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

    /// Held back for too long: replaced, and what follows is dropped as long as it belongs to it.
    fn overflow(&mut self, seen: &Seen, out: &mut Out) {
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
        out.hits.push(self.told(&hit));
        let start = begun.map_or(self.from, |(at, _)| at);
        let held = self.text.get(start..).unwrap_or("");
        self.swallow = Some(Swallow::rest_of(&self.set, begin, held));
        self.from = self.text.len();
        self.done = self.from;
    }

    /// The hit, with a span that counts from the beginning of the flow.
    fn told(&self, hit: &Hit) -> Hit {
        let span = self.gone + hit.span.start..self.gone + hit.span.end;
        Hit { span, ..hit.clone() }
    }

    /// Drops what no detector looks back at.
    fn forget(&mut self) {
        // Not at every piece: moving the rest to the front costs something.
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

/// What leaves otherwise than it came. Places count from the beginning of the text that is kept.
#[derive(Debug, Default)]
struct Out {
    changes: Vec<(Range<usize>, String)>,
    hits: Vec<Hit>,
    /// Where a hit says that nothing more leaves.
    stop: Option<usize>,
}

#[cfg(test)]
mod tests;
