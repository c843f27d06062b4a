//! Reads the events of a feed.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use crate::feed::SLOW;

/// A record of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRecord {
    /// Its sequence number.
    pub seq: u64,
    /// The record, as one line of JSON.
    pub json: String,
}

/// Why a feed has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedEnd {
    /// The gateway did not wait for this slow reader. It can resume after this sequence number.
    Resume(u64),
    /// The gateway has stopped, is stopping, or sent something that no gateway sends.
    Lost(String),
}

/// The events of a feed.
#[derive(Debug)]
pub struct FeedEvents {
    body: Incoming,
    reader: EventReader,
    /// When the last bytes arrived.
    last_received: Instant,
    /// The longest silence before the connection counts as lost.
    max_silence: Duration,
    /// Keeps the connection open.
    _sender: SendRequest<Empty<Bytes>>,
}

impl FeedEvents {
    pub(super) fn new(body: Incoming, sender: SendRequest<Empty<Bytes>>) -> Self {
        let (reader, last_received) = (EventReader::default(), Instant::now());
        Self { body, reader, last_received, max_silence: MAX_SILENCE, _sender: sender }
    }

    /// The next record. Cancelling the wait loses nothing.
    pub async fn next(&mut self) -> Result<FeedRecord, FeedEnd> {
        loop {
            if let Some(event) = self.reader.events.pop_front() {
                return event;
            }
            // A feed without news sends keep-alives, so complete silence means that the server
            // hangs.
            let Ok(frame) =
                timeout_at(self.last_received + self.max_silence, self.body.frame()).await
            else {
                return Err(FeedEnd::Lost("the gateway stopped responding".to_owned()));
            };
            self.last_received = Instant::now();
            match frame {
                None => return Err(FeedEnd::Lost("the connection was closed".to_owned())),
                Some(Err(error)) => return Err(FeedEnd::Lost(error.to_string())),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.reader.push(&data);
                    }
                }
            }
        }
    }

    /// Changes the longest silence.
    #[cfg(test)]
    pub(crate) fn with_max_silence(self, max_silence: Duration) -> Self {
        Self { max_silence, ..self }
    }

    /// The records that have already arrived.
    pub fn ready(&mut self) -> Vec<FeedRecord> {
        let mut ready = Vec::new();
        while let Some(Ok(_)) = self.reader.events.front() {
            ready.extend(self.reader.events.pop_front().and_then(Result::ok));
        }
        ready
    }
}

/// Three times the interval of keep-alives.
const MAX_SILENCE: Duration = Duration::from_secs(45);

/// Parses events in the format of the feed: one line each for `id` and `data`, then an empty line.
#[derive(Debug, Default)]
struct EventReader {
    text: Vec<u8>,
    events: VecDeque<Result<FeedRecord, FeedEnd>>,
}

impl EventReader {
    fn push(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        let mut begin = 0;
        while let Some(end) = self.text.get(begin..).and_then(end_of_event) {
            let event = self.text.get(begin..begin + end).unwrap_or_default();
            self.events.extend(read(event));
            begin += end + END.len();
        }
        self.text.drain(..begin);
        if self.text.len() > MAX_EVENT {
            self.text.clear();
            self.events.push_back(Err(FeedEnd::Lost("an event is too large".to_owned())));
        }
    }
}

/// The end of an event.
const END: &[u8] = b"\n\n";

/// Far above the largest record, which contains its input twice.
const MAX_EVENT: usize = 8 << 20;

fn end_of_event(text: &[u8]) -> Option<usize> {
    text.windows(END.len()).position(|part| part == END)
}

/// Parses an event; `None` for an empty one.
fn read(event: &[u8]) -> Option<Result<FeedRecord, FeedEnd>> {
    let lost = |what: &str| Some(Err(FeedEnd::Lost(what.to_owned())));
    let Ok(event) = std::str::from_utf8(event) else { return lost("an event is not UTF-8") };
    let field = |name: &str| {
        let prefix = format!("{name}: ");
        event.lines().find_map(|line| line.strip_prefix(prefix.as_str()).map(str::to_owned))
    };
    let (kind, id, data) = (field("event"), field("id"), field("data"));
    match (kind.as_deref(), id.and_then(|id| id.parse().ok()), data) {
        (None, _, None) => None,
        (None, Some(seq), Some(json)) => Some(Ok(FeedRecord { seq, json })),
        (Some("resume"), _, Some(data)) => match serde_json::from_str::<Resume>(&data) {
            Ok(Resume { after, why }) if why == SLOW => Some(Err(FeedEnd::Resume(after))),
            Ok(Resume { why, .. }) => lost(&why),
            Err(_) => lost("an event cannot be read"),
        },
        _ => lost("an event has an unknown type"),
    }
}

#[derive(Debug, Deserialize)]
struct Resume {
    after: u64,
    why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_at_every_cut() {
        let text = ": hello\n\nid: 3\ndata: {\"a\":\"ö\"}\n\nid: 4\ndata: {}\n\n\
                    event: resume\ndata: {\"after\":4,\"why\":\"slow\"}\n\n";
        let expected = [
            Ok(FeedRecord { seq: 3, json: "{\"a\":\"ö\"}".to_owned() }),
            Ok(FeedRecord { seq: 4, json: "{}".to_owned() }),
            Err(FeedEnd::Resume(4)),
        ];
        for cut in 0..=text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            let mut reader = EventReader::default();
            reader.push(one);
            reader.push(two);
            assert_eq!(reader.events, expected, "{cut}");
            assert!(reader.text.is_empty());
        }
    }

    #[test]
    fn events_that_no_gateway_sends_end_the_feed() {
        for text in ["id: x\ndata: {}\n\n", "event: other\ndata: {}\n\n", "data: {}\n\n"] {
            let mut reader = EventReader::default();
            reader.push(text.as_bytes());
            assert!(matches!(reader.events.pop_front(), Some(Err(FeedEnd::Lost(_)))), "{text}");
        }
        let mut reader = EventReader::default();
        reader.push(&vec![b'x'; MAX_EVENT + 1]);
        assert!(matches!(reader.events.pop_front(), Some(Err(FeedEnd::Lost(_)))));
        assert!(reader.text.is_empty());
    }
}
