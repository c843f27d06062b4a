//! Which request goes where, and what is done with its answer. The path alone decides.

mod path;
mod table;

use std::sync::Arc;

use callgate_dialect::Dialect;
use http::Method;

use crate::settings::{Provider, Settings};
use crate::upstream::{Target, TargetError};

pub(crate) use path::is_plain;
pub(crate) use table::Treatment;

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
    /// Nowhere.
    Nowhere(Nowhere),
}

/// A way to a provider.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) site: Arc<Site>,
    /// The path there, without the query.
    pub(crate) path: String,
    pub(crate) treatment: Treatment,
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

impl Routes {
    pub(crate) fn new(settings: &Settings) -> Result<Self, (String, TargetError)> {
        let site = |provider: &Provider| {
            let target =
                Target::new(&provider.base_url).map_err(|error| (provider.name.clone(), error))?;
            let base = provider.base_url.path().trim_end_matches('/').to_owned();
            Ok(Arc::new(Site { provider: provider.clone(), target, base }))
        };
        let sites = settings.providers.iter().map(site).collect::<Result<_, _>>()?;
        Ok(Self { sites, passthrough: settings.passthrough.clone() })
    }

    /// Where a request goes. `versioned` says that it carries `anthropic-version`: it tells apart
    /// the few paths that two APIs share and that never carry calls.
    pub(crate) fn find(&self, method: &Method, path: &str, versioned: bool) -> Route {
        if !is_plain(path) {
            return Route::Nowhere(Nowhere::Crooked);
        }
        if let Some(own) = own(method, path) {
            return Route::Own(own);
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        if let Some(site) = self.sites.iter().find(|site| site.provider.name == first) {
            let rest = path.get(first.len() + 1..).unwrap_or_default();
            return self.at(site, method, rest);
        }
        match table::dialect_of(path, versioned) {
            Some(dialect) => match self.serving(dialect) {
                Some(site) => self.at(site, method, path),
                None => Route::Nowhere(Nowhere::NoProvider),
            },
            None => self.passed_through(method, path, versioned),
        }
    }

    /// The provider that requests without a prefix go to: the one that is named like its API, else
    /// the first.
    fn serving(&self, dialect: Dialect) -> Option<&Arc<Site>> {
        let usual = table::usual_name(dialect);
        let mut speaking = self.sites.iter().filter(|site| site.provider.dialect == dialect);
        let first = speaking.clone().next();
        speaking.find(|site| site.provider.name == usual).or(first)
    }

    fn at(&self, site: &Arc<Site>, method: &Method, path: &str) -> Route {
        // Bases end with the version for some SDKs and not for others; a path never has it twice.
        let bare = path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path);
        let path = if site.base.ends_with("/v1") { bare } else { path };
        let dialect = site.provider.dialect;
        // However the version itself is spelled, an inspected path stays one.
        let lower = bare.to_ascii_lowercase();
        let plain = lower.strip_prefix("/v1/").map_or(lower.clone(), |rest| format!("/{rest}"));
        let versioned = format!("/v1{bare}");
        let opened = (self.is_opened(&versioned) || self.is_opened(path))
            && !table::is_inspected(dialect, &format!("/v1{plain}"));
        let treatment = match table::treatment(dialect, method, &versioned) {
            None | Some(Treatment::Refuse(_)) if opened => Treatment::Opened,
            None => return Route::Nowhere(Nowhere::Unknown),
            Some(Treatment::Refuse(why)) => return Route::Nowhere(Nowhere::Unread(why)),
            Some(treatment) => treatment,
        };
        let path = format!("{}{path}", site.base);
        Route::Up(Way { site: Arc::clone(site), path, treatment })
    }

    /// Paths the operator opened go to the provider of their kind.
    fn passed_through(&self, method: &Method, path: &str, versioned: bool) -> Route {
        let dialect = if versioned { Dialect::Anthropic } else { Dialect::OpenAiChat };
        match self.serving(dialect).or(self.sites.first()) {
            Some(site) if self.is_opened(path) => self.at(site, method, path),
            _ => Route::Nowhere(Nowhere::Unknown),
        }
    }

    /// Whether the operator said that this path may pass unread: itself, or below one that ends
    /// with `/`. What callgate reads stays inspected, whatever is opened around it.
    fn is_opened(&self, path: &str) -> bool {
        self.passthrough.iter().any(|opened| {
            path == opened || (opened.ends_with('/') && path.starts_with(opened.as_str()))
        })
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
