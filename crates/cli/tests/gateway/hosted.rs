//! What a request makes the provider run without listing it as a tool: searches that are switched on,
//! models that search by themselves, agents and prompts that the provider keeps.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::Upstream;

use crate::support::{CHAT, MESSAGES, gateway, whole_turns};

const RESPONSES: &str = "/v1/responses";
const GEMINI: &str = "/v1beta/models/m:generateContent";
const INTERACTIONS: &str = "/v1beta/interactions";
const COHERE: &str = "/v2/chat";
const CONVERSE: &str = "/model/m/converse";

/// What is left of a request in which a feature is denied.
#[derive(Debug, Clone, Copy)]
enum Left {
    /// This goes up.
    Body(&'static str),
    /// Nothing does, for this reason.
    Nothing(&'static str),
}

/// A request, the provider's own name of what it switches on, and what is left without that.
struct Feature(&'static str, &'static str, &'static str, Left);

const BUILT_IN: Left = Left::Nothing("uses the tool on its own");
const KEPT: Left = Left::Nothing("its tools cannot be seen");

/// Each of these is a search, a look at a page, or code.
const FEATURES: [Feature; 50] = [
    Feature(
        RESPONSES,
        r#"{"tools":[{"type":"shell","environment":{"type":"container_auto"}}],"input":"hi"}"#,
        "shell",
        Left::Body(r#"{"input":"hi"}"#),
    ),
    Feature(
        RESPONSES,
        r#"{"tools":[{"type":"programmatic_tool_calling"},{"type":"function","name":"look"}]}"#,
        "programmatic_tool_calling",
        Left::Body(r#"{"tools":[{"type":"function","name":"look"}]}"#),
    ),
    Feature(
        GEMINI,
        r#"{"tools":[{"parallelAiSearch":{}}],"contents":[]}"#,
        "parallelAiSearch",
        Left::Body(r#"{"contents":[]}"#),
    ),
    Feature(
        GEMINI,
        r#"{"tools":[{"exa_ai_search":{}}],"contents":[]}"#,
        "exaAiSearch",
        Left::Body(r#"{"contents":[]}"#),
    ),
    Feature(
        CHAT,
        r#"{"venice_parameters":{"enable_web_search":"auto","strip_thinking_response":true}}"#,
        "venice_parameters.enable_web_search",
        Left::Body(r#"{"venice_parameters":{"strip_thinking_response":true}}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"m","venice_parameters":{"enable_web_scraping":true}}"#,
        "venice_parameters.enable_web_scraping",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(CHAT, r#"{"model":"m:enable_web_search=on"}"#, "*:enable_web_search=on", BUILT_IN),
    Feature(
        CHAT,
        r#"{"enable_enhancement":true,"messages":[]}"#,
        "enable_enhancement",
        Left::Body(r#"{"messages":[]}"#),
    ),
    Feature(CHAT, r#"{"model":"m","fallbacks":["a","b:online"]}"#, "*:online", BUILT_IN),
    Feature(CHAT, r#"{"fallbacks":[{"m":["b:online"]}]}"#, "*:online", BUILT_IN),
    Feature(CHAT, r#"{"fallbacks":[{"model":"b:online"}]}"#, "*:online", BUILT_IN),
    Feature(
        CHAT,
        r#"{"fallbacks":[{"model":"b","web_search_options":{}}]}"#,
        "web_search_options",
        Left::Body(r#"{"fallbacks":[{"model":"b"}]}"#),
    ),
    Feature(CHAT, r#"{"models":[{"model":"b:online"}]}"#, "*:online", BUILT_IN),
    Feature(
        CHAT,
        r#"{"tools":["browser_search","look"],"messages":[]}"#,
        "browser_search",
        Left::Body(r#"{"tools":["look"],"messages":[]}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"m", "plugins" : [ {"id":"web","max_results":3} ] ,"messages":[]}"#,
        "plugins.web",
        Left::Body(r#"{"model":"m", "messages":[]}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"m","plugins":[{"id":"file-parser"},{"id":"web"}]}"#,
        "plugins.web",
        Left::Body(r#"{"model":"m","plugins":[{"id":"file-parser"}]}"#),
    ),
    Feature(
        RESPONSES,
        r#"{"plugins":[{"id":"web"}],"input":"hi"}"#,
        "plugins.web",
        Left::Body(r#"{"input":"hi"}"#),
    ),
    Feature(
        MESSAGES,
        r#"{"plugins":[{"id":"web"}],"messages":[]}"#,
        "plugins.web",
        Left::Body(r#"{"messages":[]}"#),
    ),
    Feature(
        CHAT,
        r#"{"plugins":["plugin_web_search"]}"#,
        "plugins.plugin_web_search",
        Left::Body("{}"),
    ),
    Feature(CHAT, r#"{"model":"openai/gpt-4o:online"}"#, "*:online", BUILT_IN),
    Feature(CHAT, r#"{"model":"openai/gpt-4o:free:Online"}"#, "*:online", BUILT_IN),
    Feature(RESPONSES, r#"{"model":"openai/gpt-4o:online","input":"hi"}"#, "*:online", BUILT_IN),
    Feature(MESSAGES, r#"{"model":"x/y:online","messages":[]}"#, "*:online", BUILT_IN),
    Feature(CHAT, r#"{"model":"m","models":["a","b:online"]}"#, "*:online", BUILT_IN),
    Feature(
        CHAT,
        r#"{"tools":[{"type":"openrouter:web_search"}],"messages":[]}"#,
        "openrouter:web_search",
        Left::Body(r#"{"messages":[]}"#),
    ),
    Feature(
        RESPONSES,
        r#"{"tools":[{"type":"openrouter:web_search"},{"type":"function","name":"look"}]}"#,
        "openrouter:web_search",
        Left::Body(r#"{"tools":[{"type":"function","name":"look"}]}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"groq/compound","compound_custom":{"tools":{"enabled_tools":["wolfram_alpha","web_search"]}}}"#,
        "compound_custom.web_search",
        Left::Body(
            r#"{"model":"groq/compound","compound_custom":{"tools":{"enabled_tools":["wolfram_alpha"]}}}"#,
        ),
    ),
    Feature(
        CHAT,
        r#"{"model":"groq/compound","compound_custom":{"tools":{"enabled_tools":["web_search"]}}}"#,
        "compound_custom.web_search",
        Left::Nothing("every tool of the model would be on"),
    ),
    Feature(CHAT, r#"{"model":"groq/compound-mini"}"#, "model:groq/compound-mini", BUILT_IN),
    Feature(CHAT, r#"{"model":"compound-beta"}"#, "compound-beta", BUILT_IN),
    Feature(
        CHAT,
        r#"{"tools":[{"type":"browser_search"}],"model":"m"}"#,
        "browser_search",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(
        CHAT,
        r#"{"enable_search":true,"search_options":{"forced_search":true},"model":"m"}"#,
        "enable_search",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"m","extra_body":{"enable_search":true,"top_k":1}}"#,
        "enable_search",
        Left::Body(r#"{"model":"m","extra_body":{"top_k":1}}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"m","parameters":{"enable_search":"yes","top_k":1}}"#,
        "enable_search",
        Left::Body(r#"{"model":"m","parameters":{"top_k":1}}"#),
    ),
    Feature(
        CHAT,
        r#"{"model":"m","enable_code_interpreter":true}"#,
        "enable_code_interpreter",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(CHAT, r#"{"model":"gpt-4o-search-preview"}"#, "gpt-4o-search-preview", BUILT_IN),
    Feature(CHAT, r#"{"model":"gpt-5-search-api"}"#, "model:gpt-5-search-api", BUILT_IN),
    Feature(CHAT, r#"{"model":"perplexity/sonar-pro"}"#, "*sonar*", BUILT_IN),
    Feature(
        CHAT,
        r#"{"model":"m","web_search_options":{}}"#,
        "web_search_options",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(
        CHAT,
        r#"{"search_parameters":{"mode":"auto"},"model":"m"}"#,
        "search_parameters",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(CHAT, r#"{"search_parameters":{}}"#, "search_parameters", Left::Body("{}")),
    Feature(
        COHERE,
        r#"{"model":"m","connectors":[{"id":"web-search"}]}"#,
        "connectors.web-search",
        Left::Body(r#"{"model":"m"}"#),
    ),
    Feature(
        MESSAGES,
        r#"{"container":{"skills":[{"type":"anthropic","skill_id":"pptx","version":"latest"}]},"messages":[]}"#,
        "skills.pptx",
        Left::Body(r#"{"messages":[]}"#),
    ),
    Feature(
        RESPONSES,
        r#"{"input":[{"type":"tool_search_output","call_id":"c","tools":[{"type":"web_search"},{"type":"function","name":"look"}]}]}"#,
        "web_search",
        Left::Body(
            r#"{"input":[{"type":"tool_search_output","call_id":"c","tools":[{"type":"function","name":"look"}]}]}"#,
        ),
    ),
    Feature(
        RESPONSES,
        r#"{"input":["hi",{"type":"tool_search_output","call_id":"c","tools":[{"type":"web_search"}]}]}"#,
        "web_search",
        Left::Nothing("would lose its result"),
    ),
    Feature(
        GEMINI,
        r#"{"tools":[{"google_search_retrieval":{}},{"functionDeclarations":[{"name":"look"}]}]}"#,
        "google_search_retrieval",
        Left::Body(r#"{"tools":[{"functionDeclarations":[{"name":"look"}]}]}"#),
    ),
    Feature(GEMINI, r#"{"tools":[{"url_context":{}}]}"#, "url_context", Left::Body("{}")),
    Feature(GEMINI, r#"{"tools":[{"codeExecution":{}}]}"#, "codeExecution", Left::Body("{}")),
    Feature(
        INTERACTIONS,
        r#"{"input":"hi","tools":[{"type":"google_search"}]}"#,
        "google_search",
        Left::Body(r#"{"input":"hi"}"#),
    ),
    Feature(
        CONVERSE,
        r#"{"messages":[],"toolConfig":{"tools":[{"systemTool":{"name":"nova_grounding"}}]}}"#,
        "nova_grounding",
        Left::Body(r#"{"messages":[]}"#),
    ),
];

/// What the provider keeps may bring any tool along.
const STORED: [(&str, &str, &str); 7] = [
    (CHAT, r#"{"agent_id":"ag:1","messages":[]}"#, "the agent `ag:1`"),
    ("/v1/agents/completions", r#"{"agent_id":"ag_2","messages":[]}"#, "the agent `ag_2`"),
    (RESPONSES, r#"{"prompt":{"id":"pmpt_1","version":"2"}}"#, "the prompt `pmpt_1`"),
    (INTERACTIONS, r#"{"agent":"deep-research","input":"hi"}"#, "the agent `deep-research`"),
    (CHAT, r#"{"preset":"mine","messages":[]}"#, "the preset `mine`"),
    (CHAT, r#"{"model":"@preset/mine","messages":[]}"#, "the preset `mine`"),
    (
        "/model/arn:aws:bedrock:us-east-1:1:prompt%2FABC/converse",
        r#"{"promptVariables":{}}"#,
        "the prompt `ABC`",
    ),
];

const COMMON: &str = "policy: hosted
rules:
  - { id: closed, surface: inbound, tool: [web_search, web_fetch, code_execution], verdict: deny, reason: Closed. }
";

fn upstream() -> Upstream {
    let [_, chat] = whole_turns("look", "{}");
    Upstream::always(chat.1)
}

fn send(gateway: &Gateway, path: &str, body: &str) -> (u16, String) {
    let ask = Ask::post(path, body.to_owned()).header("authorization", "Bearer none");
    let reply = ask.send(gateway.address());
    (reply.status, reply.text())
}

fn sent_up(upstream: &Upstream) -> Option<String> {
    let last = upstream.requests().pop()?;
    Some(String::from_utf8(last.body.to_vec()).unwrap())
}

#[test]
fn what_a_provider_runs_is_refused_by_its_common_name() {
    let upstream = upstream();
    let gateway = gateway(&upstream, COMMON, "");
    for Feature(path, body, ..) in FEATURES {
        let (status, text) = send(&gateway, path, body);
        assert_eq!(status, 400, "{body}: {text}");
        assert!(text.contains("closed") && text.contains("Closed."), "{body}: {text}");
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

#[test]
fn what_a_provider_runs_is_refused_by_its_own_name() {
    let upstream = upstream();
    for Feature(path, body, name, _) in FEATURES {
        let rule = format!(
            "policy: own\nrules:\n  - {{ id: own, surface: inbound, tool: '{name}', verdict: deny, reason: Closed. }}\n"
        );
        let gateway = gateway(&upstream, &rule, "");
        let (status, text) = send(&gateway, path, body);
        assert_eq!(status, 400, "{body}: {text}");
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

#[test]
fn what_a_provider_runs_is_taken_out_or_the_request_is_refused() {
    let upstream = upstream();
    let gateway = gateway(&upstream, COMMON, "inbound: strip");
    for Feature(path, body, _, left) in FEATURES {
        let before = upstream.requests().len();
        let (status, text) = send(&gateway, path, body);
        match left {
            Left::Body(left) => assert_eq!(sent_up(&upstream).as_deref(), Some(left), "{text}"),
            Left::Nothing(why) => {
                assert_eq!(status, 400, "{body}: {text}");
                assert!(text.contains(why), "{body}: {text}");
                assert_eq!(upstream.requests().len(), before, "{body}");
            }
        }
    }
}

/// A list of what is allowed means names: a program of the client's may be called `web_search` too.
#[test]
fn a_list_of_allowed_tools_names_what_the_provider_runs() {
    let upstream = upstream();
    let listed = |tools: &str| {
        format!(
            "policy: listed\ndefaults: {{ inbound: deny }}\nrules:\n  - {{ id: fine, surface: inbound, tool: [{tools}], verdict: allow, reason: Fine. }}\n"
        )
    };
    let common = gateway(&upstream, &listed("web_search, web_fetch, code_execution, look"), "");
    for Feature(path, body, name, _) in FEATURES {
        if name != "web_search" {
            let (status, text) = send(&common, path, body);
            assert_eq!(status, 400, "{body}: {text}");
        }
    }
    for (path, body, _) in STORED {
        assert_eq!(send(&common, path, body).0, 400, "{body}");
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
    let own = gateway(&upstream, &listed("'plugins.web', look"), "");
    let body = r#"{"model":"m","plugins":[{"id":"web"}],"messages":[]}"#;
    assert_eq!(send(&own, CHAT, body).0, 200);
    assert_eq!(sent_up(&upstream).as_deref(), Some(body));
}

/// Rules that come first decide, whichever name they know something by.
#[test]
fn a_rule_with_a_lower_number_opens_one_feature() {
    let upstream = upstream();
    let policy = format!(
        "{COMMON}  - {{ id: open, surface: inbound, tool: plugins.web, verdict: allow, reason: Ours., priority: 10 }}
  - {{ id: ours, surface: inbound, server: 'agent:ours-*', verdict: allow, reason: Ours., priority: 10 }}
"
    );
    let gateway = gateway(&upstream, &policy, "");
    for (body, status) in [
        (r#"{"model":"m","plugins":[{"id":"web"}],"messages":[]}"#, 200),
        (r#"{"model":"m","enable_search":true,"messages":[]}"#, 400),
        (r#"{"agent_id":"ours-1","messages":[]}"#, 200),
        (r#"{"agent_id":"theirs","messages":[]}"#, 400),
    ] {
        let (found, text) = send(&gateway, CHAT, body);
        assert_eq!(found, status, "{body}: {text}");
    }
}

#[test]
fn what_the_provider_keeps_may_bring_any_tool() {
    let upstream = upstream();
    for rule in ["tool: web_search", "server: github", "tool: Bash"] {
        let policy = format!(
            "policy: kept\nrules:\n  - {{ id: closed, surface: inbound, {rule}, verdict: deny, reason: Closed. }}\n"
        );
        for settings in ["", "inbound: strip"] {
            let gateway = gateway(&upstream, &policy, settings);
            for (path, body, what) in STORED {
                let (status, text) = send(&gateway, path, body);
                assert_eq!(status, 400, "{body}: {text}");
                assert!(text.contains(what), "{body}: {text}");
                if let (Left::Nothing(why), "inbound: strip") = (KEPT, settings) {
                    assert!(text.contains(why), "{body}: {text}");
                }
            }
        }
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

/// Lists that other APIs have, under the names of what they hold.
#[test]
fn lists_of_other_apis_are_read_too() {
    let upstream = upstream();
    let policy = |rule: &str| {
        format!(
            "policy: lists\nrules:\n  - {{ id: closed, surface: inbound, {rule}, verdict: deny, reason: Closed. }}\n"
        )
    };
    let tools = policy("tool: [Bash, 'data_sources.*']");
    let servers = policy("server: [github, 'https://github*']");
    let github = r#"{"mcp_servers":[{"name":"github","url":"https://x"}]}"#;
    let map = r#"{"mcp_servers":{"github":{"url":"https://x"},"other":{"url":"https://y"}}}"#;
    let typed = r#"{"mcp_servers":[{"type":"url","name":"github","url":"https://x"}]}"#;
    let unnamed = r#"{"mcp_servers":[{"url":"https://github.example"}]}"#;
    let functions = r#"{"functions":[{"name":"Bash"}],"function_call":"auto"}"#;
    let cases = [
        (CHAT, github, "{}"),
        (RESPONSES, github, "{}"),
        (CHAT, typed, "{}"),
        (CHAT, unnamed, "{}"),
        (CHAT, map, r#"{"mcp_servers":{"other":{"url":"https://y"}}}"#),
        (RESPONSES, map, r#"{"mcp_servers":{"other":{"url":"https://y"}}}"#),
        (MESSAGES, functions, "{}"),
        (RESPONSES, functions, "{}"),
        (CHAT, r#"{"data_sources":[{"type":"azure_search","parameters":{}}]}"#, "{}"),
        (
            CHAT,
            r#"{"fallbacks":[{"model":"b","tools":["Bash"]}]}"#,
            r#"{"fallbacks":[{"model":"b"}]}"#,
        ),
    ];
    let gateways = [&tools, &servers].map(|policy| {
        (gateway(&upstream, policy, ""), gateway(&upstream, policy, "inbound: strip"))
    });
    for (path, body, left) in cases {
        let (refuses, strips) = &gateways[usize::from(body.contains("mcp_servers"))];
        let (status, text) = send(refuses, path, body);
        assert_eq!(status, 400, "{path} {body}: {text}");
        send(strips, path, body);
        assert_eq!(sent_up(&upstream).as_deref(), Some(left), "{path} {body}");
    }
    for (path, body) in [
        (CHAT, r#"{"mcp_servers":{"other":{"url":"https://y"}}}"#),
        (RESPONSES, r#"{"mcp_servers":[{"name":"other","url":"https://y"}]}"#),
        (MESSAGES, r#"{"functions":[{"name":"look"}]}"#),
    ] {
        send(&gateways[1].0, path, body);
        assert_eq!(sent_up(&upstream).as_deref(), Some(body), "{path}");
    }
}

#[test]
fn features_in_two_spellings_are_refused() {
    let upstream = upstream();
    let gateway = gateway(&upstream, COMMON, "inbound: strip");
    for body in [
        r#"{"Enable_Search":true}"#,
        r#"{"enable_search":false,"enable_search":true}"#,
        r#"{"enable_search":false,"enable\u005fsearch":true}"#,
        r#"{"Plugins":[{"id":"web"}]}"#,
        r#"{"plugins":[{"id":"file-parser","id":"web"}]}"#,
        r#"{"plugins":[{"Id":"web"}]}"#,
        r#"{"plugins":[{"id":"web","enabled":true,"Enabled":false}]}"#,
        r#"{"plugins":"web"}"#,
        r#"{"model":"a","model":"b:online"}"#,
        r#"{"model":"a","Model":"b:online"}"#,
        r#"{"model":5}"#,
        r#"{"Extra_Body":{"enable_search":true}}"#,
        r#"{"search_parameters":{"mode":"off","Mode":"on"}}"#,
        r#"{"Agent_Id":"a"}"#,
    ] {
        let (status, text) = send(&gateway, CHAT, body);
        assert_eq!(status, 400, "{body}: {text}");
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

/// A model that a path names, and a request without a body.
#[test]
fn models_in_paths_are_read_too() {
    let upstream = upstream();
    let gateway = gateway(&upstream, COMMON, "inbound: strip");
    let azure = "/openai/openai/deployments/gpt-4o-search-preview/chat/completions";
    let (status, text) = send(&gateway, azure, r#"{"messages":[]}"#);
    assert_eq!(status, 400, "{text}");
    let kept = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt%2FABC/converse";
    let (status, text) = send(&gateway, kept, "");
    assert_eq!(status, 400, "{text}");
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

#[test]
fn requests_that_switch_nothing_on_stay_as_they_are() {
    let upstream = upstream();
    for settings in ["", "inbound: strip"] {
        let gateway = gateway(&upstream, COMMON, settings);
        for (path, body) in [
            (CHAT, r#"{ "plugins" : [],"model":"m" }"#),
            (CHAT, r#"{"plugins":[{"id":"file-parser"},{"id":"web","enabled":false}]}"#),
            (CHAT, r#"{"plugins":null,"connectors":null,"agent_id":null,"models":null}"#),
            (CHAT, r#"{"enable_search": false,"search_options":{"forced_search":true}}"#),
            (CHAT, r#"{"extra_body":{"enable_search":false},"parameters":{}}"#),
            (CHAT, r#"{"search_parameters":{"mode":"off"},"web_search_options":null}"#),
            (CHAT, r#"{"model":"my-online-model"}"#),
            (CHAT, r#"{"model":"vendor/online"}"#),
            (CHAT, r#"{"model":"vendor/m:online-7b","models":["a:nitro","research-1"]}"#),
            (CHAT, r#"{"model":"compounder","user":"sonar"}"#),
            // Nothing that a provider could find.
            (CHAT, r#"{"plugins":[{"name":"x"}],"preset":{},"agent_id":""}"#),
            (CHAT, r#"{"plugins":[{}],"models":[{"model":"a"},{"id":"b","tags":[1,"c"]}]}"#),
            (CHAT, r#"{"model":"compound-7b","fallbacks":["acme/compound","compound-v2"]}"#),
            (CHAT, r#"{"model":"m:enable_web_search=off&strip=true"}"#),
            (CHAT, r#"{"venice_parameters":{"enable_web_search":"off","enable_x_search":false}}"#),
            (CHAT, r#"{"enable_enhancement":false,"fallbacks":null,"data_sources":[]}"#),
            (CHAT, r#"{"mcp_servers":[],"functions":null}"#),
            (RESPONSES, r#"{"tools":[{"type":"shell"}],"input":"hi"}"#),
            (RESPONSES, r#"{"tools":[{"type":"shell","environment":{"type":"local"}}]}"#),
            (
                CHAT,
                r#"{"model":"groq/compound","compound_custom":{"tools":{"enabled_tools":["wolfram_alpha"]}}}"#,
            ),
            (CHAT, r#"{"tools":[{"type":"function","function":{"name":"google_search"}}]}"#),
            (MESSAGES, r#"{"container":"c_1","messages":[]}"#),
            (MESSAGES, r#"{"container":{"id":"c_1","skills":[]},"messages":[]}"#),
            (RESPONSES, r#"{"prompt":null,"input":"plugins: web"}"#),
            ("/api/generate", r#"{"model":"qwen:online","prompt":"hi"}"#),
            ("/api/chat", r#"{"model":"sonar","messages":[]}"#),
        ] {
            send(&gateway, path, body);
            assert_eq!(sent_up(&upstream).as_deref(), Some(body), "{settings}");
        }
    }
}
