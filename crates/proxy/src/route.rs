//! Which request goes where, and what is done with its answer. The path alone decides.

mod apis;
mod path;
mod table;

use std::sync::Arc;

use callgate_dialect::Dialect;
use http::Method;
use url::form_urlencoded;

use crate::settings::{Provider, Settings};
use crate::upstream::{Target, TargetError};

use apis::Api;
pub(crate) use apis::is_of;
pub(crate) use path::is_plain;
pub(crate) use table::{Said, Treatment};

/// Every way a request can go.
#[derive(Debug)]
pub(crate) struct Routes {
    sites: Vec<Arc<Site>>,
    passthrough: Vec<String>,
}

/// A provider, with what is derived from its address.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) provider: Provider,
    pub(crate) target: Target,
    api: Api,
    /// The path of the base URL, without a slash at its end.
    base: String,
}

/// Where one request goes.
#[derive(Debug)]
pub(crate) enum Route {
    /// To a provider.
    Up(Way),
    /// To the gateway itself.
    Own(Own),
    /// Nowhere. Where it is known whose path it is, the client is told in that API's own words.
    Nowhere(Nowhere, Option<Dialect>),
}

/// A way to a provider.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) site: Arc<Site>,
    /// The path there, without the query.
    pub(crate) path: String,
    pub(crate) treatment: Treatment,
    /// What is spoken there: that of the treatment, else the provider's own.
    pub(crate) dialect: Dialect,
}

/// What the gateway answers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Health,
    Ready,
    Metrics,
    /// `HEAD /` and the like: some agents look whether anybody is there.
    Hello,
}

/// Why a request goes nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nowhere {
    /// A path that could mean different things to different servers.
    Crooked,
    /// No provider of the settings serves it.
    NoProvider,
    /// The provider has it, but callgate does not read it.
    Unread(&'static str),
    /// Nobody knows it.
    Unknown,
}

impl Route {
    /// In whose words the client is answered.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        match self {
            Self::Up(way) => Some(way.dialect),
            Self::Nowhere(_, dialect) => *dialect,
            Self::Own(_) => None,
        }
    }
}

impl Way {
    /// The model, where the path names it and answers do not: Amazon's.
    pub(crate) fn model(&self) -> Option<String> {
        let is_amazon = matches!(self.dialect, Dialect::Converse | Dialect::Invoke);
        let (_, rest) = self.path.split_once("/model/").filter(|_| is_amazon)?;
        let id = rest.split('/').next()?;
        Some(path::with_colons(id).replace("%2F", "/").replace("%2f", "/"))
    }
}

impl Routes {
    pub(crate) fn new(settings: &Settings) -> Result<Self, (String, TargetError)> {
        let site = |provider: &Provider| {
            let target =
                Target::new(&provider.base_url).map_err(|error| (provider.name.clone(), error))?;
            Ok(Arc::new(Site::new(provider.clone(), target)))
        };
        let sites = settings.providers.iter().map(site).collect::<Result<_, _>>()?;
        Ok(Self { sites, passthrough: settings.passthrough.clone() })
    }

    /// Where the providers are.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.sites.iter().map(|site| &site.target)
    }

    /// Where a request goes. `versioned` says that it carries `anthropic-version`: it tells apart
    /// the few paths that two APIs share and that never carry calls.
    pub(crate) fn find(&self, method: &Method, path: &str, versioned: bool) -> Route {
        if !is_plain(path) {
            return Route::Nowhere(Nowhere::Crooked, None);
        }
        if let Some(own) = own(method, path) {
            return Route::Own(own);
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        if let Some(site) = self.sites.iter().find(|site| site.provider.name == first) {
            let rest = path.get(first.len() + 1..).unwrap_or_default();
            return self.at(site, method, rest);
        }
        match apis::usual(&path::with_colons(path), versioned) {
            Some((api, name)) => match self.serving(api, name) {
                Some(site) => self.at(site, method, path),
                None => Route::Nowhere(Nowhere::NoProvider, Some(api.dialect())),
            },
            None => self.passed_through(method, path, versioned),
        }
    }

    /// The provider that requests without a prefix go to: the one that is named so, else the first
    /// of that API.
    fn serving(&self, api: Api, name: &str) -> Option<&Arc<Site>> {
        let mut serving = self.sites.iter().filter(|site| site.api == api);
        let first = serving.clone().next();
        serving.find(|site| site.provider.name == name).or(first)
    }

    fn at(&self, site: &Arc<Site>, method: &Method, path: &str) -> Route {
        let tail = path::behind(&site.base, path);
        let spelled = path::with_colons(tail);
        let nowhere = |why| Route::Nowhere(why, Some(site.provider.dialect));
        let opened = self.is_opened_at(path, tail) && !table::is_inspected(site.api, &spelled);
        let treatment = match table::treatment(site.api, method, &spelled) {
            None | Some(Treatment::Refuse(_)) if opened => Treatment::Opened,
            None => return nowhere(Nowhere::Unknown),
            Some(Treatment::Refuse(why)) => return nowhere(Nowhere::Unread(why)),
            Some(treatment) => treatment,
        };
        let dialect = match treatment {
            Treatment::Inspect(dialect) | Treatment::PassRestored(dialect) => dialect,
            Treatment::PassSaid(_) | Treatment::Pass | Treatment::Opened | Treatment::Refuse(_) => {
                site.provider.dialect
            }
        };
        let path = format!("{}{tail}", site.base);
        Route::Up(Way { site: Arc::clone(site), path, treatment, dialect })
    }

    /// Why the answer to a request is not handed on although its path is, because of the query. With
    /// `alt=media` Google sends the contents of a file, as `:download` does.
    pub(crate) fn unread(&self, way: &Way, asked: &str, query: Option<&str>) -> Option<Nowhere> {
        let is_looked_up = way.site.api == Api::Google && way.treatment == Treatment::Pass;
        let mut pairs = form_urlencoded::parse(query?.as_bytes());
        let downloads = pairs.any(|(name, value)| {
            name.trim_start_matches('$').eq_ignore_ascii_case("alt")
                && value.eq_ignore_ascii_case("media")
        });
        let tail = path::behind(&way.site.base, asked);
        let refused = is_looked_up && downloads && !self.is_opened_at(asked, tail);
        refused.then_some(Nowhere::Unread(apis::BATCH_RESULTS))
    }

    /// Paths the operator opened go to the provider of their kind.
    fn passed_through(&self, method: &Method, path: &str, versioned: bool) -> Route {
        let (api, name) =
            if versioned { (Api::Anthropic, "anthropic") } else { (Api::OpenAi, "openai") };
        match self.serving(api, name).or(self.sites.first()) {
            Some(site) if self.is_opened(path) => self.at(site, method, path),
            _ => Route::Nowhere(Nowhere::Unknown, None),
        }
    }

    /// A path may be opened as it was asked for, as it goes up, and with the usual version.
    fn is_opened_at(&self, asked: &str, tail: &str) -> bool {
        let bare = tail.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(tail);
        self.is_opened(asked) || self.is_opened(tail) || self.is_opened(&format!("/v1{bare}"))
    }

    /// Whether the operator said that this path may pass unread: itself, or below one that ends
    /// with `/`. What callgate reads stays inspected, whatever is opened around it.
    fn is_opened(&self, path: &str) -> bool {
        self.passthrough.iter().any(|opened| {
            path == opened || (opened.ends_with('/') && path.starts_with(opened.as_str()))
        })
    }
}

impl Provider {
    /// Whether a dialect is one of those of the provider's own API.
    pub fn speaks(&self, dialect: Dialect) -> bool {
        Api::of_dialect(self.dialect) == Api::of_dialect(dialect)
    }
}

impl Site {
    fn new(provider: Provider, target: Target) -> Self {
        let base = provider.base_url.path().trim_end_matches('/').to_owned();
        Self { api: Api::of(&provider), provider, target, base }
    }
}

fn own(method: &Method, path: &str) -> Option<Own> {
    match path {
        "/healthz" => Some(Own::Health),
        "/readyz" => Some(Own::Ready),
        "/metrics" => Some(Own::Metrics),
        "/" | "/api/hello" if method == Method::HEAD || method == Method::GET => Some(Own::Hello),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
