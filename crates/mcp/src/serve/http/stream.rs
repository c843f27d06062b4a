//! A subscription over HTTP: server-sent events, until either side ends it.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use super::super::changes::{ChangeListener, Changed};
use super::super::subscription::Subscription;

/// How often a comment keeps a quiet connection open: most proxies close one after a minute.
const ALIVE: Duration = Duration::from_secs(15);

/// Sends a client its notifications. If it reads slowly, changes wait, and those that it misses are
/// combined into one.
pub(super) async fn send_notifications(
    subscription: Subscription,
    mut change_listener: ChangeListener,
    all: Vec<&'static str>,
    events: Sender<Bytes>,
) {
    let mut messages = vec![subscription.acknowledged()];
    loop {
        for message in messages {
            if events.send(event(&message)).await.is_err() {
                return;
            }
        }
        messages = tokio::select! {
            changed = change_listener.next() => match changed {
                Changed::These(uris) => subscription.changed(&uris),
                Changed::Anything => subscription.changed(&all),
                Changed::End => break,
            },
            () = tokio::time::sleep(ALIVE) => {
                if events.send(Bytes::from_static(b":\n\n")).await.is_err() {
                    return;
                }
                Vec::new()
            }
            () = events.closed() => return,
        };
    }
    events.send(event(&subscription.ended())).await.ok();
}

/// A message has no line ends, so it fits into one data line.
fn event(message: &str) -> Bytes {
    format!("event: message\ndata: {message}\n\n").into()
}
