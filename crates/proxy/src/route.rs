//! Decides by the path alone where a request goes and how its response is treated.

mod apis;
mod path;
mod recent;
mod table;

use std::sync::Arc;

use callgate_dialect::{Dialect, Signing};
use http::Method;
use url::form_urlencoded;

use crate::settings::{ProviderSettings, Settings};
use crate::upstream::{TargetError, UpstreamTarget};

use self::recent::RecentRoutes;
use apis::Api;
pub(crate) use apis::is_of;
pub(crate) use path::is_plain;
pub(crate) use table::{TextFormat, Treatment};

/// All routes.
#[derive(Debug)]
pub(crate) struct Routes {
    sites: Vec<Arc<ProviderSite>>,
    passthrough: Vec<String>,
    recent: RecentRoutes,
}

/// A provider, with what is derived from its address.
#[derive(Debug)]
pub(crate) struct ProviderSite {
    pub(crate) provider: ProviderSettings,
    pub(crate) target: UpstreamTarget,
    api: &'static Api,
    /// The path of the base URL, without a trailing slash.
    base: String,
}

/// Where a request goes.
#[derive(Debug)]
pub(crate) enum Route {
    /// To a provider.
    Provider(ProviderRoute),
    /// To the gateway itself.
    Gateway(OwnEndpoint),
    /// Nowhere. If the path belongs to a known API, the refusal has that API's format.
    Refused(NoRoute, Option<Dialect>),
}

/// A route to a provider.
#[derive(Debug, Clone)]
pub(crate) struct ProviderRoute {
    pub(crate) site: Arc<ProviderSite>,
    /// The path at the provider, without the query.
    pub(crate) path: String,
    pub(crate) treatment: Treatment,
    /// The dialect there: that of the treatment, otherwise the provider's own.
    pub(crate) dialect: Dialect,
}

/// The gateway's own endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnEndpoint {
    Health,
    Ready,
    Metrics,
    /// For example `HEAD /`, with which some agents check that the gateway is up.
    Hello,
}

/// Why a request goes nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// The path could mean different things to different servers.
    AmbiguousPath,
    /// No configured provider serves it.
    NoProvider,
    /// The provider has it, but callgate cannot read its responses.
    Unreadable(&'static str),
    /// The path is unknown.
    Unknown,
}

impl Route {
    /// The dialect of the response.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        match self {
            Self::Provider(route) => Some(route.dialect),
            Self::Refused(_, dialect) => *dialect,
            Self::Gateway(_) => None,
        }
    }
}

impl ProviderRoute {
    /// The model, if the path names it and responses do not: Amazon's.
    pub(crate) fn model(&self) -> Option<String> {
        let is_amazon = self.dialect.http().signing == Signing::Amazon;
        let (_, rest) = self.path.split_once("/model/").filter(|_| is_amazon)?;
        let id = rest.split('/').next()?;
        Some(path::with_colons(id).replace("%2F", "/").replace("%2f", "/"))
    }
}

impl Routes {
    pub(crate) fn new(settings: &Settings) -> Result<Self, (String, TargetError)> {
        let site = |provider: &ProviderSettings| {
            let target = UpstreamTarget::new(&provider.base_url)
                .map_err(|error| (provider.name.clone(), error))?;
            Ok(Arc::new(ProviderSite::new(provider.clone(), target)))
        };
        let sites = settings.providers.iter().map(site).collect::<Result<_, _>>()?;
        let passthrough = settings.passthrough.clone();
        Ok(Self { sites, passthrough, recent: RecentRoutes::default() })
    }

    /// The targets of all providers.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &UpstreamTarget> {
        self.sites.iter().map(|site| &site.target)
    }

    /// Where a request goes. `versioned` means that it has an `anthropic-version` header, which
    /// distinguishes the few paths that two APIs share and that never carry calls.
    pub(crate) fn find(&self, method: &Method, path: &str, versioned: bool) -> Route {
        if let Some(route) = self.recent.get(method, path, versioned) {
            return Route::Provider(route);
        }
        let route = self.look_up(method, path, versioned);
        if let Route::Provider(route) = &route {
            self.recent.add(method, path, versioned, route);
        }
        route
    }

    fn look_up(&self, method: &Method, path: &str, versioned: bool) -> Route {
        if !is_plain(path) {
            return Route::Refused(NoRoute::AmbiguousPath, None);
        }
        if let Some(own) = own_endpoint(method, path) {
            return Route::Gateway(own);
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        if let Some(site) = self.sites.iter().find(|site| site.provider.name == first) {
            let rest = path.get(first.len() + 1..).unwrap_or_default();
            return self.at(site, method, rest);
        }
        match apis::usual(&path::with_colons(path), versioned) {
            Some((api, name)) => match self.serving(api, name) {
                Some(site) => self.at(site, method, path),
                None => Route::Refused(NoRoute::NoProvider, api.dialect()),
            },
            None => self.passed_through(method, path, versioned),
        }
    }

    /// The provider for requests without a prefix: the one with the usual name, otherwise the first
    /// of that API.
    fn serving(&self, api: &Api, name: &str) -> Option<&Arc<ProviderSite>> {
        let mut serving = self.sites.iter().filter(|site| *site.api == *api);
        let first = serving.clone().next();
        serving.find(|site| site.provider.name == name).or(first)
    }

    fn at(&self, site: &Arc<ProviderSite>, method: &Method, path: &str) -> Route {
        let tail = path::below_base(&site.base, path);
        let spelled = path::with_colons(tail);
        let nowhere = |why| Route::Refused(why, Some(site.provider.dialect));
        let opened = self.is_opened_at(path, tail) && !table::is_inspected(site.api, &spelled);
        let treatment = match table::treatment(site.api, method, &spelled) {
            None | Some(Treatment::Refuse(_)) if opened => Treatment::Opened,
            None => return nowhere(NoRoute::Unknown),
            Some(Treatment::Refuse(why)) => return nowhere(NoRoute::Unreadable(why)),
            Some(treatment) => treatment,
        };
        let dialect = match treatment {
            Treatment::Inspect(dialect) | Treatment::PassRestored(dialect) => dialect,
            Treatment::PassText(_) | Treatment::Pass | Treatment::Opened | Treatment::Refuse(_) => {
                site.provider.dialect
            }
        };
        let path = format!("{}{tail}", site.base);
        Route::Provider(ProviderRoute { site: Arc::clone(site), path, treatment, dialect })
    }

    /// Why the response to a request is not forwarded because of its query, although its path is
    /// allowed. With `alt=media` Google sends the contents of a file, as `:download` does.
    pub(crate) fn unread(
        &self,
        route: &ProviderRoute,
        requested: &str,
        query: Option<&str>,
    ) -> Option<NoRoute> {
        let is_looked_up =
            *route.site.api == apis::google::API && route.treatment == Treatment::Pass;
        let mut pairs = form_urlencoded::parse(query?.as_bytes());
        let downloads = pairs.any(|(name, value)| {
            name.trim_start_matches('$').eq_ignore_ascii_case("alt")
                && value.eq_ignore_ascii_case("media")
        });
        let tail = path::below_base(&route.site.base, requested);
        let refused = is_looked_up && downloads && !self.is_opened_at(requested, tail);
        refused.then_some(NoRoute::Unreadable(apis::BATCH_RESULTS))
    }

    /// Routes a path that the operator opened to the provider of its kind.
    fn passed_through(&self, method: &Method, path: &str, versioned: bool) -> Route {
        let (api, name) = if versioned {
            (&apis::anthropic::API, "anthropic")
        } else {
            (&apis::openai::API, "openai")
        };
        match self.serving(api, name).or(self.sites.first()) {
            Some(site) if self.is_opened(path) => self.at(site, method, path),
            _ => Route::Refused(NoRoute::Unknown, None),
        }
    }

    /// A path may be opened as requested, as forwarded, or with the usual version.
    fn is_opened_at(&self, requested: &str, tail: &str) -> bool {
        let bare = tail.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(tail);
        self.is_opened(requested) || self.is_opened(tail) || self.is_opened(&format!("/v1{bare}"))
    }

    /// Whether the operator opened this path: the path itself, or a parent that ends with `/`.
    /// Paths that callgate can read stay inspected in any case.
    fn is_opened(&self, path: &str) -> bool {
        self.passthrough.iter().any(|opened| {
            path == opened || (opened.ends_with('/') && path.starts_with(opened.as_str()))
        })
    }
}

impl ProviderSettings {
    /// Whether the dialect belongs to the provider's own API.
    pub fn supports(&self, dialect: Dialect) -> bool {
        Api::of_dialect(self.dialect) == Api::of_dialect(dialect)
    }
}

impl ProviderSite {
    fn new(provider: ProviderSettings, target: UpstreamTarget) -> Self {
        let base = provider.base_url.path().trim_end_matches('/').to_owned();
        Self { api: Api::of(&provider), provider, target, base }
    }
}

fn own_endpoint(method: &Method, path: &str) -> Option<OwnEndpoint> {
    match path {
        "/healthz" => Some(OwnEndpoint::Health),
        "/readyz" => Some(OwnEndpoint::Ready),
        "/metrics" => Some(OwnEndpoint::Metrics),
        "/" | "/api/hello" if method == Method::HEAD || method == Method::GET => {
            Some(OwnEndpoint::Hello)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
