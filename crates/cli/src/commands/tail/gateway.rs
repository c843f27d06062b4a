//! The feed of a gateway, if a trustworthy one is running.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use callgate_audit::Filter;
use callgate_control::{ApiClient, ExpectedGateway, FeedEnd, FeedEvents, Listen, store_file};
use callgate_store::Location;

/// The gateway whose records are followed, which may come and go.
pub(super) struct FollowedGateway {
    path: Option<PathBuf>,
    store: Location,
    /// Not asked before.
    ask: Instant,
}

impl FollowedGateway {
    pub(super) fn new(listen: &Listen, store: &Location) -> Self {
        let path = listen.path().map(Path::to_owned);
        Self { path, store: store.clone(), ask: Instant::now() }
    }

    /// The feed of a gateway that uses the same store. `None` if there is no gateway that can be
    /// trusted: then the caller reads the store, and this is tried again after a while.
    pub(super) async fn feed(&mut self, filter: &Filter, after: u64) -> Option<FeedEvents> {
        let path = self.path.as_ref().filter(|_| Instant::now() >= self.ask)?;
        self.ask = Instant::now() + AGAIN;
        let expected =
            ExpectedGateway { store: Some(store_file(&self.store)?), ..ExpectedGateway::default() };
        let client = ApiClient::connect(path, &expected).await.ok()?;
        client.feed(filter, after).await.ok()
    }

    /// A feed has ended. One that may be resumed is asked for soon.
    pub(super) fn ended(&mut self, end: &FeedEnd) {
        self.ask = match end {
            FeedEnd::Resume(_) => Instant::now(),
            FeedEnd::Lost(_) => Instant::now() + AGAIN,
        };
    }
}

/// How long to do without a gateway before asking again.
const AGAIN: Duration = Duration::from_secs(5);
