//! Finds what a request is for, by its method, path and query.

use callgate_audit::Filter;
use http::Method;

use crate::problem::HintedError;
use crate::query;
use crate::refusal::{ApiRefusal, RefusalKind};

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ApiRequest {
    Health,
    Evaluate,
    Explain,
    Records(Filter),
    Feed(Filter),
}

pub(crate) const HEALTH: &str = "/api/v1/health";
const EVALUATE: &str = "/api/v1/evaluate";
const EXPLAIN: &str = "/api/v1/explain";
const RECORDS: &str = "/api/v1/records";
pub(crate) const FEED: &str = "/api/v1/feed";

const PATHS: [&str; 5] = [HEALTH, EVALUATE, EXPLAIN, RECORDS, FEED];

pub(crate) fn route(
    method: &Method,
    path: &str,
    query: Option<&str>,
) -> Result<ApiRequest, ApiRefusal> {
    let request = match path {
        HEALTH | RECORDS | FEED => Method::GET,
        EVALUATE | EXPLAIN => Method::POST,
        _ => {
            let problem = HintedError::hinted(
                "there is no such path",
                format!("there are {}", PATHS.join(", ")),
            );
            return Err(ApiRefusal::new(RefusalKind::NotFound, problem));
        }
    };
    if *method != request {
        let allowed = if request == Method::GET { "GET" } else { "POST" };
        let problem = HintedError::new(format!("use {allowed} for this path"));
        return Err(ApiRefusal::new(RefusalKind::Method(allowed), problem));
    }
    let query = query.unwrap_or_default();
    match path {
        RECORDS => Ok(ApiRequest::Records(query::parse(query)?)),
        FEED => feed(query::parse(query)?),
        _ if !query.is_empty() => Err(HintedError::new("this path takes no parameters").into()),
        HEALTH => Ok(ApiRequest::Health),
        EVALUATE => Ok(ApiRequest::Evaluate),
        _ => Ok(ApiRequest::Explain),
    }
}

/// A feed has no limit and no end.
fn feed(filter: Filter) -> Result<ApiRequest, ApiRefusal> {
    match filter {
        Filter { limit: Some(_), .. } => Err(HintedError::hinted(
            "a feed takes no `limit`",
            "ask for /api/v1/records, or stop reading",
        )
        .into()),
        filter => Ok(ApiRequest::Feed(filter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: Method, path: &str, query: Option<&str>) -> u16 {
        route(&method, path, query).map_or_else(|refusal| refusal.status().as_u16(), |_| 200)
    }

    #[test]
    fn every_path_has_its_method() {
        for path in PATHS {
            let (right, wrong) = match path {
                EVALUATE | EXPLAIN => (Method::POST, Method::GET),
                _ => (Method::GET, Method::POST),
            };
            assert_eq!(status(right, path, None), 200, "{path}");
            assert_eq!(status(wrong, path, None), 405, "{path}");
        }
        assert_eq!(status(Method::GET, "/api/v1/nothing", None), 404);
        assert_eq!(status(Method::GET, "/", None), 404);
        assert_eq!(status(Method::GET, HEALTH, Some("x=1")), 400);
        assert_eq!(status(Method::GET, RECORDS, Some("after=3&limit=2")), 200);
        assert_eq!(status(Method::GET, FEED, Some("limit=2")), 400);
        assert_eq!(status(Method::GET, FEED, Some("aftr=2")), 400);
    }
}
