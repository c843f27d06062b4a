//! Other doors at the same address. They share only the listener and its access control: the proxy
//! does not know their protocols.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use callgate_call::ClientInfo;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;

/// The body of a mounted door's response.
pub type MountBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// A door below a path. Requests keep the full path, and callgate's own headers are removed.
pub trait Mount: Send + Sync {
    /// Answers any request.
    fn answer(
        &self,
        client: ClientInfo,
        request: Request<Incoming>,
    ) -> Pin<Box<dyn Future<Output = Response<MountBody>> + Send>>;

    /// The JSON body of an access refusal, in the form that clients of this door expect.
    fn refusal(&self, text: &str) -> String;
}

/// The mounted doors with their paths.
#[derive(Clone, Default)]
pub struct Mounts(Vec<(&'static str, Arc<dyn Mount>)>);

impl Mounts {
    /// Adds a door at a path, which starts with `/`, and everything below it.
    #[must_use]
    pub fn at(mut self, path: &'static str, mount: Arc<dyn Mount>) -> Self {
        self.0.push((path, mount));
        self
    }

    pub(crate) fn find(&self, path: &str) -> Option<Arc<dyn Mount>> {
        let leads = |at: &str| {
            path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().find(|(at, _)| leads(at)).map(|(_, mount)| Arc::clone(mount))
    }
}
