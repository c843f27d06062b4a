//! Other doors behind the same address. They share the listener and its checks of who may come in,
//! and nothing else: the proxy does not know what they speak.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use callgate_call::Who;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;

/// The body of an answer of a mounted door.
pub type MountBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// A door below a path. Requests come with the whole path, and without what is callgate's own in
/// their heads.
pub trait Mount: Send + Sync {
    /// Answers a request, whatever it is.
    fn answer(
        &self,
        visitor: Visitor,
        request: Request<Incoming>,
    ) -> Pin<Box<dyn Future<Output = Response<MountBody>> + Send>>;

    /// The JSON by which whoever is not let in is told so, in the form that clients of this door read.
    fn refusal(&self, text: &str) -> String;
}

/// Who asks, as far as it is known.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Whose key it is.
    pub who: Who,
    /// What the client says of its agent: a claim.
    pub agent: Option<String>,
    /// What the client says of its session: a claim.
    pub session: Option<String>,
    /// The id of the request, as the answer's head will name it.
    pub request: String,
}

/// The doors that are mounted, and where.
#[derive(Clone, Default)]
pub struct Mounts(Vec<(&'static str, Arc<dyn Mount>)>);

impl Mounts {
    /// With one more, at a path that begins with `/` and its paths below.
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
