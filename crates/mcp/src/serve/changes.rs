//! Word of what changed, to whoever listens.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Changes that may wait for a slow listener. Whoever missed some is told that everything changed:
/// it reads again what it wants to know.
const MAX_WAITING: usize = 16;

/// Tells of changed resources.
#[derive(Debug, Clone)]
pub struct Changes(broadcast::Sender<Told>);

/// Hears of them.
#[derive(Debug)]
pub struct Changing(broadcast::Receiver<Told>);

#[derive(Debug, Clone)]
enum Told {
    Changed(Vec<&'static str>),
    End,
}

/// What changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    These(Vec<&'static str>),
    /// Nobody knows what.
    Anything,
    /// The server ends.
    End,
}

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(MAX_WAITING).0)
    }
}

impl Changes {
    /// These resources have changed.
    pub fn tell(&self, uris: &[&'static str]) {
        // Nobody who listens is no fault.
        self.0.send(Told::Changed(uris.to_vec())).ok();
    }

    /// The server ends: whoever listens is told so, and let go.
    pub fn end(&self) {
        self.0.send(Told::End).ok();
    }

    /// Hears of everything from now on.
    pub fn listen(&self) -> Changing {
        Changing(self.0.subscribe())
    }
}

impl Changing {
    /// Waits for the next change; for ever once nobody tells any more.
    pub(crate) async fn next(&mut self) -> Changed {
        match self.0.recv().await {
            Ok(Told::Changed(uris)) => Changed::These(uris),
            Ok(Told::End) => Changed::End,
            Err(RecvError::Lagged(_)) => Changed::Anything,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
