//! A subscription over HTTP: server-sent events, until one of both sides ends it.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use super::super::changes::{Changed, Changing};
use super::super::listening::Listening;

/// How often a comment keeps a quiet connection open: proxies close those after a minute, most often.
const ALIVE: Duration = Duration::from_secs(15);

/// Tells a client what it listens for. If it reads slowly, changes wait; what it misses of them it is told
/// at once.
pub(super) async fn tell(
    listening: Listening,
    mut changing: Changing,
    all: Vec<&'static str>,
    events: Sender<Bytes>,
) {
    let mut told = vec![listening.acknowledged()];
    loop {
        for message in told {
            if events.send(event(&message)).await.is_err() {
                return;
            }
        }
        told = tokio::select! {
            changed = changing.next() => match changed {
                Changed::These(uris) => listening.changed(&uris),
                Changed::Anything => listening.changed(&all),
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
    events.send(event(&listening.ended())).await.ok();
}

/// A message is one line, so it is one line of data.
fn event(message: &str) -> Bytes {
    format!("event: message\ndata: {message}\n\n").into()
}
