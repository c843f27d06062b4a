//! A text that comes in pieces.

mod swallow;

use std::sync::Arc;

use crate::find::WINDOW;
use crate::replace::{Replace, Replaced, replace, write};
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
    /// Where what is held back begins.
    from: usize,
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

/// How far back a detector looks from where a match begins.
const CONTEXT: usize = 256;

impl Flow {
    /// The most bytes that are held back.
    pub const MAX_HELD: usize = 4096;

    pub(crate) fn new(set: Arc<Inner>) -> Self {
        Self { set, text: String::new(), from: 0, gone: 0, swallow: None, stopped: false }
    }

    /// The next piece.
    pub fn push(&mut self, piece: &str) -> Flowed {
        let nothing_held = self.from == self.text.len() && self.swallow.is_none() && !self.stopped;
        self.text.push_str(piece);
        let mut out = Out { text: String::new(), hits: Vec::new(), untouched: nothing_held };
        self.step(&mut out, false);
        self.forget();
        match out.untouched {
            true => Flowed { text: None, hits: out.hits },
            false => Flowed { text: Some(out.text), hits: out.hits },
        }
    }

    /// The text is over: what was held back leaves.
    pub fn finish(&mut self) -> Flowed {
        let mut out = Out { text: String::new(), hits: Vec::new(), untouched: false };
        self.step(&mut out, true);
        Flowed { text: Some(out.text), hits: out.hits }
    }

    fn step(&mut self, out: &mut Out, last: bool) {
        loop {
            if self.stopped {
                self.from = self.text.len();
                return;
            }
            if let Some(swallow) = &mut self.swallow {
                match swallow.end(self.text.get(self.from..).unwrap_or("")) {
                    swallow::End::Here(length) => {
                        self.from += length;
                        self.swallow = None;
                    }
                    swallow::End::Beyond { keep_from } => {
                        self.from += keep_from;
                        return;
                    }
                }
            }
            let seen = self.set.search(&self.text, self.from);
            let end = if last { self.text.len() } else { self.settled(&seen) };
            self.release(end, &seen, out);
            let held = self.text.len() - self.from;
            if held > Self::MAX_HELD && !last && !self.stopped {
                self.overflow(&seen, out);
            }
            // What is swallowed from here on may have ended in this very piece.
            if self.swallow.is_none() || last {
                return;
            }
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
        out.untouched &= hits.is_empty() && end == self.text.len();
        if !out.untouched {
            let range = self.from..end;
            let replaced = replace(&self.text, range, hits, &self.set, &mut out.text);
            self.stopped = replaced == Replaced::Stopped;
            out.hits.extend(hits.iter().map(|hit| self.told(hit)));
        }
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
        out.untouched = false;
        let held = self.text.get(self.from..).unwrap_or("");
        let how = self.set.replace_of(source);
        write(how, &hit.kind, held, &mut out.text);
        self.stopped = how == Replace::Stop;
        out.hits.push(self.told(&hit));
        let start = begun.map_or(self.from, |(at, _)| at);
        let held = self.text.get(start..).unwrap_or("");
        self.swallow = Some(Swallow::rest_of(&self.set, begin, held));
        self.from = self.text.len();
    }

    /// The hit, with a span that counts from the beginning of the flow.
    fn told(&self, hit: &Hit) -> Hit {
        let span = self.gone + hit.span.start..self.gone + hit.span.end;
        Hit { span, ..hit.clone() }
    }

    /// Drops what no detector looks back at.
    fn forget(&mut self) {
        let needless = self.text.floor_char_boundary(self.from.saturating_sub(CONTEXT));
        // Not at every piece: moving the rest to the front costs something.
        if needless >= CONTEXT {
            self.text.drain(..needless);
            self.from -= needless;
            self.gone += needless;
            self.text.shrink_to(2 * Self::MAX_HELD);
        }
    }
}

/// What leaves.
#[derive(Debug)]
struct Out {
    text: String,
    hits: Vec<Hit>,
    /// The piece leaves as it came, so nothing was written.
    untouched: bool,
}

#[cfg(test)]
mod tests;
