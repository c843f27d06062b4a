//! The metadata of a response: its tokens, and its stop reason.
//!
//! Records use the numbers, and so does the limit on the tokens of a turn that goes on after a
//! denial; restoring uses the ids. A field that is not a count is treated as missing, and is never a
//! reason to refuse a frame.

use callgate_json::{Span, Text};

use crate::json::members;

/// The metadata of a response so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Input tokens without those from a cache, or all of them if the dialect does not distinguish.
    pub input: Option<u64>,
    /// Input tokens that were written to a cache, if they are not in `input`.
    pub cache_written: Option<u64>,
    /// Input tokens that were read from a cache, if they are not in `input`.
    pub cache_read: Option<u64>,
    /// Input tokens that were read from a cache, if they are in `input` as well.
    pub cached: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Output tokens that the model spent on reasoning.
    pub reasoning: Option<u64>,
    /// Why the response stopped, in the upstream's own word.
    pub stop_reason: Option<String>,
    /// The id under which the provider stores the response, if a later request may name it.
    pub response: Option<String>,
    /// The id of its conversation, for the same reason.
    pub conversation: Option<String>,
}

impl Tally {
    /// Adds the metadata of a later frame. Counts are for the whole response so far, so the last
    /// one counts; of several reasons the first counts, because some providers send another one
    /// after it.
    pub fn add(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.cache_written = later.cache_written.or(self.cache_written);
        self.cache_read = later.cache_read.or(self.cache_read);
        self.cached = later.cached.or(self.cached);
        self.output = later.output.or(self.output);
        self.reasoning = later.reasoning.or(self.reasoning);
        if self.stop_reason.is_none() {
            self.stop_reason = later.stop_reason;
        }
        self.response = later.response.or(self.response.take());
        self.conversation = later.conversation.or(self.conversation.take());
    }

    /// All input tokens, including those from and to a cache.
    pub fn whole_input(&self) -> Option<u64> {
        let parts = [self.input, self.cache_written, self.cache_read];
        parts.into_iter().flatten().reduce(u64::saturating_add)
    }

    /// Input tokens that were read from a cache, however the dialect counts them.
    pub fn from_cache(&self) -> Option<u64> {
        self.cache_read.or(self.cached)
    }

    /// The tally in a box, unless it is empty.
    pub(crate) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    /// Sets the reason, if there is one.
    pub(crate) fn stopped(&mut self, reason: Option<Text<'_>>) {
        let reason = reason.and_then(|text| text.decode().ok()).filter(|text| !text.is_empty());
        if let (None, Some(reason)) = (&self.stop_reason, reason) {
            self.stop_reason = Some(reason.into_owned());
        }
    }
}

/// The counts at `keys` in the object at `object`. Of two equal keys the last counts, as in
/// clients.
pub(crate) fn counts<const N: usize>(
    data: &str,
    object: Span,
    keys: [&str; N],
) -> [Option<u64>; N] {
    counts_within(data, object, keys, []).0
}

/// Like [`counts`], and one count each of nested objects: the object's key, then the count's.
pub(crate) fn counts_within<const N: usize, const M: usize>(
    data: &str,
    object: Span,
    keys: [&str; N],
    within: [(&str, &str); M],
) -> ([Option<u64>; N], [Option<u64>; M]) {
    let (mut found, mut inner) = ([None; N], [None; M]);
    for member in members(data, object) {
        for (count, key) in found.iter_mut().zip(keys) {
            if member.key.is(key) {
                *count = whole(member.value.of(data));
            }
        }
        for (count, (of, key)) in inner.iter_mut().zip(within) {
            if member.key.is(of) {
                [*count] = counts(data, member.value, [key]);
            }
        }
    }
    (found, inner)
}

/// A count: digits, or a number without a fraction (`12.0`).
fn whole(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        // Below this every integer is exact.
        (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::document;

    #[test]
    fn counts_are_whole_numbers_and_nothing_else() {
        for (text, want) in [
            ("12", Some(12)),
            ("12.0", Some(12)),
            ("1e2", Some(100)),
            ("0", Some(0)),
            ("-1", None),
            ("1.5", None),
            ("\"12\"", None),
            ("null", None),
            ("[12]", None),
            ("1e300", None),
        ] {
            let data = format!(r#"{{"a":7,"n":{text}}}"#);
            assert_eq!(counts(&data, document(&data), ["n", "b"]), [want, None], "{text}");
        }
        assert_eq!(counts("[1]", document("[1]"), ["n"]), [None]);
        let twice = r#"{"n":1,"\u006e":2}"#;
        assert_eq!(counts(twice, document(twice), ["n"]), [Some(2)]);
    }

    #[test]
    fn the_last_count_and_the_first_reason_stand() {
        let mut tally = Tally { input: Some(5), output: Some(1), ..Tally::default() };
        tally.add(Tally {
            output: Some(9),
            cache_read: Some(3),
            stop_reason: Some("stop".into()),
            ..Tally::default()
        });
        tally.add(Tally { stop_reason: Some("tool_calls".into()), ..Tally::default() });
        assert_eq!((tally.whole_input(), tally.output), (Some(8), Some(9)));
        assert_eq!(tally.stop_reason.as_deref(), Some("stop"));
        assert_eq!(Tally::default().whole_input(), None);
    }
}
