//! A feed: records as server-sent events, each with its sequence number, as long as the client
//! reads.
//!
//! A feed stores no records. It reads the journal page by page and sends each page to a channel
//! with room for two, so the buffer of one reader is bounded and the rest stays in the journal. A
//! reader that reads nothing for a while gets the sequence number to resume from, and its feed
//! ends.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use callgate_audit::Filter;
use http_body::{Body, Frame};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::journal::{PageError, PageLimits, RecordPage, RecordPages};

/// How much of the journal is read at once.
const PAGE: PageLimits = PageLimits { records: 500, bytes: 256 << 10 };

/// Why a feed ended whose reader reads nothing.
pub(crate) const SLOW: &str = "slow";

/// How many pages may wait for a reader.
const MAX_WAITING_PAGES: usize = 2;

/// The intervals and timeouts of a feed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeedTiming {
    /// How often the journal is polled: other processes write to it without notice.
    pub(crate) poll_interval: Duration,
    /// How long a reader may read nothing.
    pub(crate) stall: Duration,
    /// How long a reader has to read the last event before its connection is closed.
    pub(crate) grace: Duration,
    /// The interval of keep-alives: a disconnected reader is only noticed when writing to it.
    pub(crate) keep_alive: Duration,
}

impl Default for FeedTiming {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_millis(100),
            stall: Duration::from_secs(30),
            grace: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// The state of a feed.
pub(crate) struct Feed {
    /// `None` while another thread reads it.
    journal: Option<Box<dyn RecordPages>>,
    filter: Filter,
    /// All records up to this sequence number were read, and sent if they match.
    after: u64,
    /// When something was last sent.
    last_sent: Instant,
    to: mpsc::Sender<Bytes>,
    last: Last,
    timing: FeedTiming,
}

/// The last event of a feed, once it is known.
type Last = Arc<Mutex<Option<Bytes>>>;

/// Why a feed ends.
#[derive(Debug)]
enum EndReason {
    /// The reader has disconnected.
    Gone,
    /// The reader reads nothing.
    Slow,
    /// The gateway stops.
    Stopping,
    /// The journal cannot be read.
    Unreadable(String),
}

impl Feed {
    /// A feed of the records after `after`, and the response body for it.
    pub(crate) fn new(
        journal: Box<dyn RecordPages>,
        filter: Filter,
        after: u64,
        timing: FeedTiming,
        open: OwnedSemaphorePermit,
    ) -> (Self, FeedBody) {
        let (to, pages) = mpsc::channel(MAX_WAITING_PAGES);
        let last = Last::default();
        let body = FeedBody { pages, last: Arc::clone(&last), _open: open };
        let (journal, last_sent) = (Some(journal), Instant::now());
        (Self { journal, filter, after, last_sent, to, last, timing }, body)
    }

    /// Follows the journal until the reader disconnects or stalls, or the gateway stops. The
    /// connection of a stalled reader is finally closed through `cut`.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>, cut: Arc<Notify>) {
        let why = loop {
            match self.next(&mut stopping).await {
                Ok(()) => {}
                Err(EndReason::Gone) => return,
                Err(EndReason::Slow) => break SLOW.to_owned(),
                Err(EndReason::Stopping) => break "stopping".to_owned(),
                Err(EndReason::Unreadable(why)) => break why,
            }
        };
        let resume = json!({ "after": self.after, "why": why });
        *self.last.lock() = Some(format!("event: resume\ndata: {resume}\n\n").into());
        let Self { to, last, timing, .. } = self;
        drop(to);
        sleep(timing.grace).await;
        // A reader that has read everything has dropped the body.
        if Arc::strong_count(&last) > 1 {
            cut.notify_one();
        }
    }

    /// Sends the next page, then waits until the next poll.
    async fn next(&mut self, stopping: &mut watch::Receiver<bool>) -> Result<(), EndReason> {
        if *stopping.borrow() {
            return Err(EndReason::Stopping);
        }
        let page = self.read().await?;
        if !page.records.is_empty() {
            self.send(events(&page)).await?;
        } else if self.last_sent.elapsed() >= self.timing.keep_alive {
            self.send(": nothing new\n\n".to_owned()).await?;
        }
        self.after = page.examined_up_to;
        if page.more {
            return Ok(());
        }
        tokio::select! {
            () = sleep(self.timing.poll_interval) => Ok(()),
            _ = stopping.wait_for(|stopping| *stopping) => Err(EndReason::Stopping),
            () = self.to.closed() => Err(EndReason::Gone),
        }
    }

    /// Reads the next page on a blocking thread, because the store may take a while.
    async fn read(&mut self) -> Result<RecordPage, EndReason> {
        let gone = || EndReason::Unreadable("the reader of the records is gone".to_owned());
        let journal = self.journal.take().ok_or_else(gone)?;
        let (filter, after) = (self.filter.clone(), self.after);
        let read = tokio::task::spawn_blocking(move || {
            let page = journal.page(after, &filter, PAGE);
            (journal, page)
        });
        let (journal, page) = read.await.map_err(|_| gone())?;
        self.journal = Some(journal);
        page.map_err(|error| match error {
            PageError::Filter(problem) | PageError::Store(problem) => {
                EndReason::Unreadable(problem.to_string())
            }
        })
    }

    async fn send(&mut self, text: String) -> Result<(), EndReason> {
        self.last_sent = Instant::now();
        match timeout(self.timing.stall, self.to.send(text.into())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(EndReason::Gone),
            Err(_) => Err(EndReason::Slow),
        }
    }
}

fn events(page: &RecordPage) -> String {
    let event = |(number, line): &(u64, String)| format!("id: {number}\ndata: {line}\n\n");
    page.records.iter().map(event).collect()
}

/// The body of a feed.
pub(crate) struct FeedBody {
    pages: mpsc::Receiver<Bytes>,
    last: Last,
    /// Counts this feed among the open ones.
    _open: OwnedSemaphorePermit,
}

impl Body for FeedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.pages.poll_recv(cx).map(|page| {
            let bytes = page.or_else(|| self.last.lock().take())?;
            Some(Ok(Frame::data(bytes)))
        })
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::problem::HintedError;

    /// A journal that has no end.
    struct Endless;

    impl RecordPages for Endless {
        fn page(
            &self,
            after: u64,
            _: &Filter,
            limits: PageLimits,
        ) -> Result<RecordPage, PageError> {
            let line = "x".repeat(limits.bytes);
            Ok(RecordPage {
                records: vec![(after + 1, line)],
                examined_up_to: after + 1,
                more: true,
            })
        }
    }

    struct Broken;

    impl RecordPages for Broken {
        fn page(&self, _: u64, _: &Filter, _: PageLimits) -> Result<RecordPage, PageError> {
            Err(PageError::Store(HintedError::new("the disk is gone")))
        }
    }

    struct Quiet;

    impl RecordPages for Quiet {
        fn page(&self, after: u64, _: &Filter, _: PageLimits) -> Result<RecordPage, PageError> {
            Ok(RecordPage { examined_up_to: after, ..RecordPage::default() })
        }
    }

    /// A running feed with short timeouts.
    fn begin(journal: impl RecordPages + 'static) -> (FeedBody, watch::Sender<bool>, Arc<Notify>) {
        let none = Duration::ZERO;
        let timing = FeedTiming { poll_interval: none, stall: none, grace: none, keep_alive: none };
        let open = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let (feed, body) = Feed::new(Box::new(journal), Filter::default(), 0, timing, open);
        let (stop, stopping) = watch::channel(false);
        let cut = Arc::new(Notify::new());
        tokio::spawn(feed.run(stopping, Arc::clone(&cut)));
        (body, stop, cut)
    }

    async fn text(body: FeedBody) -> String {
        String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_slow_reader_learns_where_to_resume() {
        let (body, _stop, cut) = begin(Endless);
        // Without a reader, the feed gives up. The reader then finds what fitted into the buffer,
        // and where to resume.
        cut.notified().await;
        let text = text(body).await;
        assert!(text.len() < (MAX_WAITING_PAGES + 1) * (PAGE.bytes + 100), "{}", text.len());
        assert!(text.starts_with("id: 1\ndata: x") && text.contains("id: 2\n"));
        let end = "event: resume\ndata: {\"after\":2,\"why\":\"slow\"}\n\n";
        assert!(text.ends_with(end) && !text.contains("id: 3\n"));
    }

    #[tokio::test]
    async fn a_feed_without_news_sends_keep_alives() {
        let (mut body, _stop, _) = begin(Quiet);
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), ": nothing new\n\n");
    }

    #[tokio::test]
    async fn the_end_is_reported() {
        let (body, _stop, _) = begin(Broken);
        let resume = text(body).await;
        assert_eq!(resume, "event: resume\ndata: {\"after\":0,\"why\":\"the disk is gone\"}\n\n");
        let (body, stop, _) = begin(Endless);
        stop.send_replace(true);
        assert!(text(body).await.ends_with("\"why\":\"stopping\"}\n\n"));
    }
}
