//! Remembers where requests went: agents send nearly all of them to one path.

use std::collections::HashMap;

use http::Method;
use parking_lot::Mutex;

use super::ProviderRoute;

/// The routes of recent requests.
#[derive(Debug, Default)]
pub(super) struct RecentRoutes(Mutex<HashMap<String, Vec<RecentRoute>>>);

/// The route of requests to one path.
#[derive(Debug)]
struct RecentRoute {
    method: Method,
    versioned: bool,
    route: ProviderRoute,
}

impl RecentRoute {
    fn is_of(&self, method: &Method, versioned: bool) -> bool {
        self.method == *method && self.versioned == versioned
    }
}

impl RecentRoutes {
    pub(super) fn get(
        &self,
        method: &Method,
        path: &str,
        versioned: bool,
    ) -> Option<ProviderRoute> {
        let routes = self.0.lock();
        let found = routes.get(path)?.iter().find(|it| it.is_of(method, versioned));
        found.map(|it| it.route.clone())
    }

    pub(super) fn add(&self, method: &Method, path: &str, versioned: bool, route: &ProviderRoute) {
        if path.len() > MAX_PATH {
            return;
        }
        let mut routes = self.0.lock();
        if routes.len() >= MAX_PATHS && !routes.contains_key(path) {
            routes.clear();
        }
        let of_path = routes.entry(path.to_owned()).or_default();
        if of_path.len() >= MAX_OF_PATH {
            of_path.clear();
        }
        let (method, route) = (method.clone(), route.clone());
        of_path.push(RecentRoute { method, versioned, route });
    }
}

/// Paths with ids in them come and go. All are forgotten at this number, which bounds the memory.
const MAX_PATHS: usize = 64;
/// Each path has a few methods at most; clients can invent others.
const MAX_OF_PATH: usize = 8;
/// Longer paths are looked up each time.
const MAX_PATH: usize = 512;
