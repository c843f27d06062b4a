//! A feed: records as server-sent events, each under its number, as long as somebody listens.
//!
//! A feed keeps no records. It reads the journal a page at a time and hands each page to a channel with
//! room for two, so what waits for one reader is bounded, and the rest waits where it is. A reader that
//! takes nothing for a while is told after which number to go on, and loses its place.

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

use crate::journal::{Journal, Page, PageError, PageLimits};

/// How much of the journal is read at once.
const PAGE: PageLimits = PageLimits { records: 500, bytes: 256 << 10 };

/// Why a feed ends whose reader takes nothing.
pub(crate) const SLOW: &str = "slow";

/// Pages that may wait for a reader.
const WAITING: usize = 2;

/// The waits of a feed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// How often the journal is looked at: other processes write to it, and do not tell.
    pub(crate) look: Duration,
    /// How long a reader may take nothing.
    pub(crate) stall: Duration,
    /// How long such a reader has to read where to go on, before its connection is cut.
    pub(crate) grace: Duration,
    /// How long nothing is said: a reader that is gone shows by writing to it.
    pub(crate) silence: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            look: Duration::from_millis(100),
            stall: Duration::from_secs(30),
            grace: Duration::from_secs(30),
            silence: Duration::from_secs(15),
        }
    }
}

/// What a feed reads, and for whom.
pub(crate) struct Feed {
    /// Absent while another thread reads it.
    journal: Option<Box<dyn Journal>>,
    filter: Filter,
    /// The last number that was looked at and told.
    after: u64,
    /// When something was last said.
    spoke: Instant,
    to: mpsc::Sender<Bytes>,
    last: Last,
    pace: Pace,
}

/// The last event of a feed, once there is one.
type Last = Arc<Mutex<Option<Bytes>>>;

/// Why a feed ends.
#[derive(Debug)]
enum End {
    /// Nobody listens any more.
    Gone,
    /// The reader takes nothing.
    Slow,
    /// The gateway stops.
    Stopping,
    /// The journal cannot be read.
    Unreadable(String),
}

impl Feed {
    /// A feed of what comes behind `after`, and the body it becomes.
    pub(crate) fn new(
        journal: Box<dyn Journal>,
        filter: Filter,
        after: u64,
        pace: Pace,
        open: OwnedSemaphorePermit,
    ) -> (Self, FeedBody) {
        let (to, pages) = mpsc::channel(WAITING);
        let last = Last::default();
        let body = FeedBody { pages, last: Arc::clone(&last), _open: open };
        let (journal, spoke) = (Some(journal), Instant::now());
        (Self { journal, filter, after, spoke, to, last, pace }, body)
    }

    /// Follows the journal until the reader leaves, stalls, or the gateway stops. A reader that stalls has
    /// its connection `cut` in the end.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>, cut: Arc<Notify>) {
        let why = loop {
            match self.next(&mut stopping).await {
                Ok(()) => {}
                Err(End::Gone) => return,
                Err(End::Slow) => break SLOW.to_owned(),
                Err(End::Stopping) => break "stopping".to_owned(),
                Err(End::Unreadable(why)) => break why,
            }
        };
        let told = json!({ "after": self.after, "why": why });
        *self.last.lock() = Some(format!("event: resume\ndata: {told}\n\n").into());
        let Self { to, last, pace, .. } = self;
        drop(to);
        sleep(pace.grace).await;
        // Whoever has read it all has let go of the body.
        if Arc::strong_count(&last) > 1 {
            cut.notify_one();
        }
    }

    /// Tells the next page, then waits until it is time to look again.
    async fn next(&mut self, stopping: &mut watch::Receiver<bool>) -> Result<(), End> {
        if *stopping.borrow() {
            return Err(End::Stopping);
        }
        let page = self.read().await?;
        if !page.records.is_empty() {
            self.send(events(&page)).await?;
        } else if self.spoke.elapsed() >= self.pace.silence {
            self.send(": nothing new\n\n".to_owned()).await?;
        }
        self.after = page.upto;
        if page.more {
            return Ok(());
        }
        tokio::select! {
            () = sleep(self.pace.look) => Ok(()),
            _ = stopping.wait_for(|stopping| *stopping) => Err(End::Stopping),
            () = self.to.closed() => Err(End::Gone),
        }
    }

    /// The next page. The store may take a while, and others wait for this thread.
    async fn read(&mut self) -> Result<Page, End> {
        let gone = || End::Unreadable("the reader of the records is gone".to_owned());
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
                End::Unreadable(problem.to_string())
            }
        })
    }

    async fn send(&mut self, text: String) -> Result<(), End> {
        self.spoke = Instant::now();
        match timeout(self.pace.stall, self.to.send(text.into())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => Err(End::Slow),
        }
    }
}

fn events(page: &Page) -> String {
    let event = |(number, line): &(u64, String)| format!("id: {number}\ndata: {line}\n\n");
    page.records.iter().map(event).collect()
}

/// The body of a feed.
pub(crate) struct FeedBody {
    pages: mpsc::Receiver<Bytes>,
    last: Last,
    /// Counts it among the open ones.
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
    use crate::problem::Problem;

    /// A journal that has no end.
    struct Endless;

    impl Journal for Endless {
        fn page(&self, after: u64, _: &Filter, limits: PageLimits) -> Result<Page, PageError> {
            let line = "x".repeat(limits.bytes);
            Ok(Page { records: vec![(after + 1, line)], upto: after + 1, more: true })
        }
    }

    struct Broken;

    impl Journal for Broken {
        fn page(&self, _: u64, _: &Filter, _: PageLimits) -> Result<Page, PageError> {
            Err(PageError::Store(Problem::new("the disk is gone")))
        }
    }

    struct Quiet;

    impl Journal for Quiet {
        fn page(&self, after: u64, _: &Filter, _: PageLimits) -> Result<Page, PageError> {
            Ok(Page { upto: after, ..Page::default() })
        }
    }

    /// A feed with no patience, under way.
    fn begin(journal: impl Journal + 'static) -> (FeedBody, watch::Sender<bool>, Arc<Notify>) {
        let none = Duration::ZERO;
        let pace = Pace { look: none, stall: none, grace: none, silence: none };
        let open = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let (feed, body) = Feed::new(Box::new(journal), Filter::default(), 0, pace, open);
        let (stop, stopping) = watch::channel(false);
        let cut = Arc::new(Notify::new());
        tokio::spawn(feed.run(stopping, Arc::clone(&cut)));
        (body, stop, cut)
    }

    async fn text(body: FeedBody) -> String {
        String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_slow_reader_is_told_where_to_go_on() {
        let (body, _stop, cut) = begin(Endless);
        // Nobody reads, so the feed gives up: then its reader finds what fitted, and where to go on.
        cut.notified().await;
        let text = text(body).await;
        assert!(text.len() < (WAITING + 1) * (PAGE.bytes + 100), "{}", text.len());
        assert!(text.starts_with("id: 1\ndata: x") && text.contains("id: 2\n"));
        let end = "event: resume\ndata: {\"after\":2,\"why\":\"slow\"}\n\n";
        assert!(text.ends_with(end) && !text.contains("id: 3\n"));
    }

    #[tokio::test]
    async fn a_feed_without_news_says_so() {
        let (mut body, _stop, _) = begin(Quiet);
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), ": nothing new\n\n");
    }

    #[tokio::test]
    async fn the_end_is_told() {
        let (body, _stop, _) = begin(Broken);
        let told = text(body).await;
        assert_eq!(told, "event: resume\ndata: {\"after\":0,\"why\":\"the disk is gone\"}\n\n");
        let (body, stop, _) = begin(Endless);
        stop.send_replace(true);
        assert!(text(body).await.ends_with("\"why\":\"stopping\"}\n\n"));
    }
}
