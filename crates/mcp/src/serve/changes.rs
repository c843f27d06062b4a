//! Notifies listeners of changes.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How many changes may wait for a slow listener. A listener that missed some is notified that
/// everything changed, and reads again what it needs.
const MAX_WAITING: usize = 16;

/// Announces changed resources.
#[derive(Debug, Clone)]
pub struct Changes(broadcast::Sender<Announcement>);

/// Receives announcements.
#[derive(Debug)]
pub struct ChangeListener(broadcast::Receiver<Announcement>);

#[derive(Debug, Clone)]
enum Announcement {
    Changed(Vec<&'static str>),
    End,
}

/// What changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    These(Vec<&'static str>),
    /// Unknown, so it may be anything.
    Anything,
    /// The server stops.
    End,
}

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(MAX_WAITING).0)
    }
}

impl Changes {
    /// Announces that these resources have changed.
    pub fn notify(&self, uris: &[&'static str]) {
        // It is fine if there are no listeners.
        self.0.send(Announcement::Changed(uris.to_vec())).ok();
    }

    /// Announces that the server stops, so that listeners end.
    pub fn end(&self) {
        self.0.send(Announcement::End).ok();
    }

    /// Receives everything from now on.
    pub fn listen(&self) -> ChangeListener {
        ChangeListener(self.0.subscribe())
    }
}

impl ChangeListener {
    /// Waits for the next change; forever once there is no sender.
    pub(crate) async fn next(&mut self) -> Changed {
        match self.0.recv().await {
            Ok(Announcement::Changed(uris)) => Changed::These(uris),
            Ok(Announcement::End) => Changed::End,
            Err(RecvError::Lagged(_)) => Changed::Anything,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
