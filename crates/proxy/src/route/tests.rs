use callgate_gate::{GateLimits, Malformed, OnDeny};

use super::*;
use crate::settings::{ContinueSettings, Inbound, InspectionMode, Timeouts};

mod apis;

const CHAT: Treatment = Treatment::Inspect(Dialect::OpenAiChat);
const MESSAGES: Treatment = Treatment::Inspect(Dialect::Anthropic);

fn provider(name: &str, base_url: &str, dialect: Dialect) -> ProviderSettings {
    ProviderSettings {
        name: name.into(),
        base_url: base_url.parse().unwrap(),
        dialect,
        api_key: None,
    }
}

fn routes(passthrough: &[&str]) -> Routes {
    let providers = vec![
        provider("anthropic", "https://api.anthropic.example", Dialect::Anthropic),
        provider("local", "http://127.0.0.1:9/api/v1/", Dialect::OpenAiChat),
        provider("openai", "https://api.openai.example/v1", Dialect::OpenAiChat),
    ];
    routes_of(providers, passthrough)
}

fn routes_of(providers: Vec<ProviderSettings>, passthrough: &[&str]) -> Routes {
    Routes::new(&Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        providers,
        mode: InspectionMode::Full,
        inbound: Inbound::Reject,
        on_deny: OnDeny::Explain,
        continuing: ContinueSettings::default(),
        malformed: Malformed::Withhold,
        limits: GateLimits::default(),
        request_body: 1,
        passthrough: passthrough.iter().map(|&path| path.to_owned()).collect(),
        workers: 1,
        timeouts: Timeouts::default(),
        max_connections: 1,
    })
    .unwrap()
}

/// The provider, path and treatment of a request, or why it goes nowhere.
fn goes(method: &str, path: &str) -> Result<(String, String, Treatment), NoRoute> {
    goes_with(&routes(&[]), method, path, false)
}

fn goes_with(
    routes: &Routes,
    method: &str,
    path: &str,
    versioned: bool,
) -> Result<(String, String, Treatment), NoRoute> {
    match routes.find(&method.parse().unwrap(), path, versioned) {
        Route::Provider(route) => {
            Ok((route.site.provider.name.clone(), route.path, route.treatment))
        }
        Route::Refused(why, _) => Err(why),
        Route::Gateway(own) => panic!("{own:?}"),
    }
}

fn up(
    name: &str,
    path: &str,
    treatment: Treatment,
) -> Result<(String, String, Treatment), NoRoute> {
    Ok((name.to_owned(), path.to_owned(), treatment))
}

#[test]
fn sdks_reach_their_provider_by_path_or_by_prefix() {
    let chat = up("openai", "/v1/chat/completions", CHAT);
    for path in ["/v1/chat/completions", "/openai/chat/completions", "/openai/v1/chat/completions"]
    {
        assert_eq!(goes("POST", path), chat, "{path}");
    }
    let messages = up("anthropic", "/v1/messages", MESSAGES);
    for path in ["/v1/messages", "/anthropic/v1/messages"] {
        assert_eq!(goes("POST", path), messages, "{path}");
    }
    let local = up("local", "/api/v1/chat/completions", CHAT);
    assert_eq!(goes("POST", "/local/chat/completions"), local);
    assert_eq!(goes("POST", "/local/v1/chat/completions"), local);
}

#[test]
fn shared_paths_go_where_their_header_points() {
    let routes = routes(&[]);
    let openai = up("openai", "/v1/models", Treatment::Pass);
    let anthropic = up("anthropic", "/v1/models", Treatment::Pass);
    assert_eq!(goes_with(&routes, "GET", "/v1/models", false), openai);
    assert_eq!(goes_with(&routes, "GET", "/v1/models", true), anthropic);
    // No header turns a path with calls into a path of another API.
    let messages = up("anthropic", "/v1/messages", MESSAGES);
    assert_eq!(goes_with(&routes, "POST", "/v1/messages", false), messages);
    let chat = up("openai", "/v1/chat/completions", CHAT);
    assert_eq!(goes_with(&routes, "POST", "/v1/chat/completions", true), chat);
}

#[test]
fn stored_completions_are_inspected() {
    let stored = up("openai", "/v1/chat/completions/chatcmpl-1", CHAT);
    assert_eq!(goes("GET", "/v1/chat/completions/chatcmpl-1"), stored);
    let gone = up("openai", "/v1/chat/completions/chatcmpl-1", Treatment::Pass);
    assert_eq!(goes("DELETE", "/v1/chat/completions/chatcmpl-1"), gone);
}

#[test]
fn paths_with_unreadable_calls_are_refused() {
    for path in [
        "/v1/messages/batches/msgbatch_1/results",
        "/v1/messages/batches/msgbatch_1",
        "/v1/responses/resp_1/anything",
        "/v1/files/file-1/content",
        "/v1/chat/completions/chatcmpl-1/messages",
        "/v1/threads/t/runs",
        "/v1/realtime",
    ] {
        assert!(matches!(goes("GET", path), Err(NoRoute::Unreadable(_))), "{path}");
    }
}

#[test]
fn unknown_paths_go_nowhere_unless_they_are_opened() {
    for path in ["/v1/chat/completions/", "/v1/Messages", "/v1", "/openai", "/x"] {
        assert_eq!(goes("POST", path), Err(NoRoute::Unknown), "{path}");
    }
    let opened = routes(&["/v1/completions", "/v1/beta/", "/v1/realtime", "/v1/messages"]);
    let unread = up("openai", "/v1/realtime", Treatment::Opened);
    assert_eq!(goes_with(&opened, "POST", "/v1/realtime", false), unread);
    let inspected = up("anthropic", "/v1/messages", MESSAGES);
    assert_eq!(goes_with(&opened, "POST", "/v1/messages", false), inspected);
    let passed = up("openai", "/v1/completions", Treatment::Opened);
    assert_eq!(goes_with(&opened, "POST", "/v1/completions", false), passed);
    assert_eq!(goes_with(&opened, "POST", "/openai/completions", false), passed);
    let below = up("openai", "/v1/beta/x", Treatment::Opened);
    assert_eq!(goes_with(&opened, "POST", "/v1/beta/x", false), below);
    assert_eq!(goes_with(&opened, "POST", "/v1/completionsx", false), Err(NoRoute::Unknown));
}

#[test]
fn ambiguous_paths_go_nowhere() {
    for path in [
        "/v1/files/../messages",
        "/v1/files/%2e%2e/messages",
        "/v1/files/..%2fmessages",
        "/v1//messages",
        "//v1/messages",
        "/v1/models/a%5cb",
        "/v1/models/a\\b",
        "/v1/./messages",
        "/v1/mess%61ges",
        "/v1/models/a;b",
        "/v1/models/%00",
        "/v1/models/%zz",
        "/v1/models/é",
        "",
        "v1/messages",
    ] {
        assert_eq!(goes("GET", path), Err(NoRoute::AmbiguousPath), "{path}");
    }
    assert!(goes("GET", "/v1/models/ft:gpt-4o%3Aacme").is_ok());
}

#[test]
fn models_are_looked_up_and_not_run() {
    for path in ["/v1/models/ft%3Agpt", "/openai/models/gemini-pro:generateContent", "/v1/models"] {
        assert!(matches!(goes("POST", path), Err(NoRoute::Unreadable(_))), "{path}");
        assert!(goes("GET", path).is_ok(), "{path}");
    }
}

#[test]
fn nothing_opens_what_is_inspected() {
    let mut settings = routes(&["/"]);
    assert!(goes_with(&settings, "POST", "/x", false).is_ok());
    assert!(!matches!(
        goes_with(&settings, "PUT", "/v1/messages", true),
        Ok((_, _, Treatment::Opened))
    ));
    // A base that includes the version.
    let site = settings.sites.remove(0);
    let provider = provider("anthropic", "https://a.example/v1", site.provider.dialect);
    let target = UpstreamTarget::new(&provider.base_url).unwrap();
    settings.sites.insert(0, Arc::new(ProviderSite::new(provider, target)));
    for method in ["POST", "GET", "PUT"] {
        for path in [
            "/messages",
            "/v1/messages",
            "/anthropic/messages",
            "/v1/messages/",
            "/v1/Messages",
            "/V1/messages",
            "/anthropic/V1/messages/",
            "/anthropic/elsewhere/v1/messages",
            "/anthropic/proxy/openai/v1/chat/completions",
        ] {
            let went = goes_with(&settings, method, path, true);
            assert!(!matches!(went, Ok((_, _, Treatment::Opened))), "{method} {path}: {went:?}");
        }
    }
}
