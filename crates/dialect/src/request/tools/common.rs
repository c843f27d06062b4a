//! Common names for tools that several providers run under different names.

/// The provider tools, without punctuation and capital letters, and their common name.
const COMMON: [(&[&str], &str); 3] = [
    (
        &[
            "websearch",
            "googlesearch",
            "enterprisewebsearch",
            "livesearch",
            "xsearch",
            "browsersearch",
            "pluginwebsearch",
            "novagrounding",
            "parallelaisearch",
            "exaaisearch",
        ],
        WEB_SEARCH,
    ),
    (
        &[
            "codeexecution",
            "codeinterpreter",
            "novacodeinterpreter",
            // OpenAI, in a container, and code that calls the other tools.
            "shell",
            "programmatictoolcalling",
        ],
        CODE_EXECUTION,
    ),
    (&["webfetch", "urlcontext", "visitwebsite", "browserautomation", "webextractor"], WEB_FETCH),
];

pub(super) const WEB_SEARCH: &str = "web_search";
pub(super) const CODE_EXECUTION: &str = "code_execution";
pub(super) const WEB_FETCH: &str = "web_fetch";

/// The common name of a tool that a provider runs. Names may contain versions
/// (`web_search_20250305`) and the provider (`openrouter:web_search`).
pub(super) fn common(name: &str) -> Option<&'static str> {
    let own = name.rsplit([':', '.', '/']).next().unwrap_or(name);
    let plain: String =
        own.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let begins = |names: &[&str]| names.iter().any(|known| plain.starts_with(known));
    COMMON.iter().find(|(names, _)| begins(names)).map(|(_, common)| *common)
}

/// Tools that a model uses whatever a request lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltIn {
    /// It searches the web.
    Search,
    /// One of Groq's systems. A request may select which of their tools are on.
    Compound,
}

impl BuiltIn {
    /// The common names of the tools.
    pub(super) fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Search => &[WEB_SEARCH],
            Self::Compound => &[WEB_SEARCH, CODE_EXECUTION, WEB_FETCH],
        }
    }

    /// The built-in tools of the model with this name.
    pub(super) fn of(model: &str) -> Option<Self> {
        let model = model.trim().to_lowercase();
        let mut path = model.rsplit('/');
        let (last, vendor) = (path.next().unwrap_or_default(), path.next());
        let mut parts = last.split(':');
        let name = parts.next().unwrap_or_default();
        let is_or_begins = |word: &str| {
            name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        // Any provider may call a model compound.
        let is_compound = match vendor {
            Some(vendor) => vendor.trim_start_matches('@') == "groq" && is_or_begins("compound"),
            None => COMPOUND.contains(&name),
        };
        if is_compound {
            return Some(Self::Compound);
        }
        let searches = parts.any(|variant| variant == "online" || is_switched_on(variant))
            || is_or_begins("sonar")
            || SEARCHING.iter().any(|part| name.contains(part));
        searches.then_some(Self::Search)
    }
}

/// Groq's systems, by their names without the vendor.
const COMPOUND: [&str; 4] = ["compound", "compound-mini", "compound-beta", "compound-beta-mini"];

/// Whether the settings after the name of a model at Venice switch it on.
fn is_switched_on(variant: &str) -> bool {
    let mut settings = variant.split('&').filter_map(|setting| setting.split_once('='));
    settings.any(|(key, value)| {
        matches!(key, "enable_web_search" | "enable_x_search" | "enable_web_scraping")
            && !matches!(value, "off" | "false")
    })
}

/// Parts of the names of models that always search.
const SEARCHING: [&str; 3] = ["-search-preview", "-search-api", "deep-research"];
