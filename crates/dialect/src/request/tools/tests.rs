use super::*;
use serde_json::Value;

fn names(dialect: Dialect, request: &str) -> Vec<(String, Host)> {
    let found = advertised(dialect, request, None).unwrap();
    found.tools().iter().map(|tool| (tool.name.clone(), tool.host)).collect()
}

/// Removes the tools with these names.
fn without(dialect: Dialect, request: &str, gone: &[&str]) -> String {
    let left = try_without(dialect, request, gone).unwrap();
    let _: Value = serde_json::from_str(&left).unwrap_or_else(|error| panic!("{error}: {left}"));
    left
}

fn try_without(dialect: Dialect, request: &str, gone: &[&str]) -> Result<String, CannotRemove> {
    let found = advertised(dialect, request, None).unwrap();
    let places: Vec<usize> = (0..found.tools().len())
        .filter(|place| gone.contains(&found.tools()[*place].name.as_str()))
        .collect();
    assert!(!places.is_empty(), "{gone:?} is not advertised in {request}");
    found.without(request, &places)
}

const CLIENT: Host = Host::Client;
const PROVIDER: Host = Host::Provider;

#[test]
fn finds_tools_in_the_words_of_each_api() {
    for (dialect, request, want) in [
        (
            Dialect::Anthropic,
            r#"{"tools":[{"name":"a"},{"type":"bash_20250124","name":"bash"},
                {"type":"web_search_20250305","name":"web_search"},{"type":"mcp_toolset","mcp_server_name":"s"}],
                "mcp_servers":[{"type":"url","url":"https://x","name":"s"}],
                "messages":[{"role":"user","content":[{"type":"tool_addition","tools":[{"name":"late"}]}]}]}"#,
            vec![
                ("a", CLIENT),
                ("bash", CLIENT),
                ("bash_20250124", CLIENT),
                ("web_search", PROVIDER),
                ("web_search_20250305", PROVIDER),
                ("mcp__s__*", PROVIDER),
                ("late", CLIENT),
            ],
        ),
        (
            Dialect::OpenAiChat,
            r#"{"tools":[{"type":"function","function":{"na\u006de":"a"}},{"type":"custom","custom":{"name":"c"}}],
                "functions":[{"name":"old"}],"web_search_options":{},"plugins":[{"id":"web"}]}"#,
            vec![
                ("a", CLIENT),
                ("c", CLIENT),
                ("old", CLIENT),
                ("web_search_options", PROVIDER),
                ("plugins.web", PROVIDER),
            ],
        ),
        (
            Dialect::Responses,
            r#"{"tools":[{"type":"function","name":"a"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"b"}]},
                {"type":"mcp","server_label":"m","allowed_tools":["x","y"]},{"type":"local_shell"},{"type":"web_search"}],
                "input":[{"type":"message"},{"type":"additional_tools","tools":[{"type":"function","name":"late"}]}]}"#,
            vec![
                ("a", CLIENT),
                ("n.b", CLIENT),
                ("mcp__m__x", PROVIDER),
                ("mcp__m__y", PROVIDER),
                ("local_shell", CLIENT),
                ("web_search", PROVIDER),
                ("late", CLIENT),
            ],
        ),
        (
            Dialect::Gemini,
            r#"{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}],"google_search":{}},{"codeExecution":{}}]}"#,
            vec![
                ("a", CLIENT),
                ("b", CLIENT),
                ("googleSearch", PROVIDER),
                ("codeExecution", PROVIDER),
            ],
        ),
        (
            Dialect::Gemini,
            r#"{"project":"p","request":{"tools":[{"function_declarations":[{"name":"a"}]}]}}"#,
            vec![("a", CLIENT)],
        ),
        (
            Dialect::Converse,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"a"}},{"systemTool":{"name":"nova_grounding"}}]}}"#,
            vec![("a", CLIENT), ("nova_grounding", PROVIDER)],
        ),
        (
            Dialect::Cohere,
            r#"{"tools":[{"type":"function","function":{"name":"a"}}]}"#,
            vec![("a", CLIENT)],
        ),
        (
            Dialect::Ollama,
            r#"{"tools":[{"type":"function","function":{"name":"a"}}]}"#,
            vec![("a", CLIENT)],
        ),
        (Dialect::OpenAiChat, r#"{"messages":[]}"#, vec![]),
        (Dialect::OpenAiChat, r#"{"tools":null}"#, vec![]),
        (Dialect::OpenAiChat, "[]", vec![]),
    ] {
        let want: Vec<(String, Host)> =
            want.into_iter().map(|(name, host)| (name.to_owned(), host)).collect();
        assert_eq!(names(dialect, request), want, "{request}");
    }
}

/// Programs differ in where they look for a name, and some accept a single element instead of a
/// list.
#[test]
fn every_place_of_a_name_counts() {
    for (dialect, request) in [
        (
            Dialect::Responses,
            r#"{"tools":[{"type":"function","name":"x","function":{"name":"fine"}}]}"#,
        ),
        (Dialect::Anthropic, r#"{"tools":[{"name":"x","function":{"name":"fine"}}]}"#),
        (Dialect::OpenAiChat, r#"{"tools":[{"type":"x","name":"fine"}]}"#),
        (Dialect::OpenAiChat, r#"{"tools":{"type":"function","function":{"name":"x"}}}"#),
        (
            Dialect::Responses,
            r#"{"tools":[{"type":"namespace","name":"n","tools":[],"function":{"name":"x"}}]}"#,
        ),
        (
            Dialect::Responses,
            r#"{"tools":[{"type":"mcp","server_label":"m","function":{"name":"x"}}]}"#,
        ),
        (
            Dialect::Responses,
            r#"{"items":[{"type":"additional_tools","tools":[{"type":"function","name":"x"}]}]}"#,
        ),
        (Dialect::Gemini, r#"{"tools":{"functionDeclarations":[{"name":"x"}]}}"#),
        (Dialect::Gemini, r#"{"tools":[{"functionDeclarations":{"name":"x"}}]}"#),
        (Dialect::Gemini, r#"{"request":{},"tools":[{"functionDeclarations":[{"name":"x"}]}]}"#),
        (Dialect::Invoke, r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"x"}}]}}"#),
        (Dialect::Invoke, r#"{"functions":[{"name":"x"}]}"#),
        (Dialect::Converse, r#"{"additionalModelRequestFields":{"tools":[{"name":"x"}]}}"#),
    ] {
        let found = names(dialect, request);
        assert!(found.iter().any(|(name, _)| name == "x"), "{request}: {found:?}");
    }
}

#[test]
fn an_ambiguous_request_is_an_error() {
    for request in [
        r#"{"tools":[],"tools":[{"name":"a"}]}"#,
        r#"{"tools":[],"t\u006fols":[]}"#,
        r#"{"tools":[{"name":"a","name":"b"}]}"#,
        r#"{"Tools":[{"name":"a"}]}"#,
        r#"{"tool\u017f":[{"name":"a"}]}"#,
        r#"{"tools":[{"Name":"a"}]}"#,
        r#"{"tools":[[{"name":"a"}]]}"#,
        r#"{"tools":[{"description":"no name"}]}"#,
        r#"{"tools":"a"}"#,
        r#"{"messages":[],"messages":[]}"#,
        "{",
        "",
    ] {
        assert!(advertised(Dialect::Anthropic, request, None).is_err(), "{request}");
    }
}

#[test]
fn the_rest_stays_byte_for_byte() {
    let request = r#"{ "a" : 1.0, "tools": [ {"name":"x"} , {"name":"y"} ], "z": "\u0041" }"#;
    assert_eq!(
        without(Dialect::Anthropic, request, &["x"]),
        r#"{ "a" : 1.0, "tools": [ {"name":"y"} ], "z": "\u0041" }"#
    );
}

#[test]
fn a_choice_is_removed_with_its_tool() {
    let chat = |choice: &str| {
        format!(
            r#"{{"tools":[{{"type":"function","function":{{"name":"x"}}}},{{"type":"function","function":{{"name":"y"}}}}],"tool_choice":{choice},"n":1}}"#
        )
    };
    let named = r#"{"type":"function","function":{"name":"x"}}"#;
    let left = without(Dialect::OpenAiChat, &chat(named), &["x"]);
    assert!(!left.contains("tool_choice") && left.ends_with(r#","n":1}"#), "{left}");
    for other in [r#""auto""#, r#""required""#, r#"{"type":"function","function":{"name":"y"}}"#] {
        let left = without(Dialect::OpenAiChat, &chat(other), &["x"]);
        assert!(left.contains(other), "{left}");
    }
    let allowed = r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"x"}},{"type":"function","function":{"name":"y"}}]}}"#;
    let left = without(Dialect::OpenAiChat, &chat(allowed), &["x"]);
    assert!(left.contains(r#""tools":[{"type":"function","function":{"name":"y"}}]}}"#), "{left}");
}

#[test]
fn nothing_chooses_among_no_tools() {
    for (dialect, request, want) in [
        (
            Dialect::OpenAiChat,
            r#"{"model":"m","tools":[{"type":"function","function":{"name":"x"}}],"tool_choice":"required","parallel_tool_calls":false}"#,
            r#"{"model":"m"}"#,
        ),
        (
            Dialect::Anthropic,
            r#"{"tools":[{"name":"x"}],"tool_choice":{"type":"any"},"model":"m"}"#,
            r#"{"model":"m"}"#,
        ),
        (
            Dialect::Converse,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"x"}}],"toolChoice":{"any":{}}},"m":1}"#,
            r#"{"m":1}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"tools":[{"functionDeclarations":[{"name":"x"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["x"]}},"contents":[]}"#,
            r#"{"contents":[]}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"tools":[{"functionDeclarations":[{"name":"x"}],"googleSearch":{}}]}"#,
            r#"{"tools":[{"googleSearch":{}}]}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"tools":[{"functionDeclarations":[{"name":"x"},{"name":"y"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["x","y"]}}}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"y"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["y"]}}}"#,
        ),
        (
            Dialect::Responses,
            r#"{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"x"}]}],"input":"hi"}"#,
            r#"{"input":"hi"}"#,
        ),
    ] {
        let name = if request.contains("namespace") { "n.x" } else { "x" };
        assert_eq!(without(dialect, request, &[name]), want, "{request}");
    }
}

/// What is removed with a tool, so that the provider accepts the rest.
#[test]
fn dependent_items_are_removed_with_a_tool() {
    for (dialect, gone, request, want) in [
        // A server has entries in several places.
        (
            Dialect::Anthropic,
            "mcp__s__*",
            r#"{"tools":[{"name":"a"},{"type":"mcp_toolset","mcp_server_name":"s"}],"mcp_servers":[{"type":"url","url":"https://x","name":"s"}],"m":1}"#,
            r#"{"tools":[{"name":"a"}],"m":1}"#,
        ),
        (
            Dialect::Anthropic,
            "mcp__s__x",
            r#"{"tools":[{"name":"a"},{"type":"mcp_toolset","mcp_server_name":"s","default_config":{"enabled":false},"configs":{"x":{"enabled":true}}}],"mcp_servers":[{"type":"url","name":"t"},{"type":"url","name":"s"}]}"#,
            r#"{"tools":[{"name":"a"}],"mcp_servers":[{"type":"url","name":"t"}]}"#,
        ),
        (
            Dialect::Anthropic,
            "a",
            r#"{"tools":[{"name":"a"},{"name":"b"}],"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_removal","tool":{"type":"tool_reference","name":"a"}}]}]}"#,
            r#"{"tools":[{"name":"b"}],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}"#,
        ),
        // A choice of a server, whichever of its tools are listed.
        (
            Dialect::Responses,
            "mcp__m__x",
            r#"{"tools":[{"type":"function","name":"a"},{"type":"mcp","server_label":"m","allowed_tools":["x","y"]}],"tool_choice":{"type":"mcp","server_label":"m"},"input":"hi"}"#,
            r#"{"tools":[{"type":"function","name":"a"}],"input":"hi"}"#,
        ),
        (
            Dialect::Responses,
            "mcp__m__*",
            r#"{"tools":[{"type":"function","name":"a"},{"type":"mcp","server_label":"m"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp","server_label":"m"},{"type":"function","name":"a"}]}}"#,
            r#"{"tools":[{"type":"function","name":"a"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"a"}]}}"#,
        ),
        // A cache mark needs a tool before it.
        (
            Dialect::Converse,
            "a",
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"a"}},{"cachePoint":{"type":"default"}}]},"m":1}"#,
            r#"{"m":1}"#,
        ),
        (
            Dialect::Converse,
            "a",
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"b"}},{"cachePoint":{"type":"default"}},{"toolSpec":{"name":"a"}},{"cachePoint":{"type":"default"}}]}}"#,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"b"}},{"cachePoint":{"type":"default"}}]}}"#,
        ),
        // A choice among functions is rejected if only other tools are left.
        (
            Dialect::Gemini,
            "a",
            r#"{"tools":[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"retrievalConfig":{}}}"#,
            r#"{"tools":[{"googleSearch":{}}],"toolConfig":{"retrievalConfig":{}}}"#,
        ),
        (
            Dialect::OpenAiChat,
            "a",
            r#"{"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":"auto","web_search_options":{}}"#,
            r#"{"web_search_options":{}}"#,
        ),
        (
            Dialect::Interactions,
            "a",
            r#"{"tools":[{"type":"function","name":"a"}],"generation_config":{"tool_choice":"any","temperature":1}}"#,
            r#"{"generation_config":{"temperature":1}}"#,
        ),
        (
            Dialect::Interactions,
            "a",
            r#"{"tools":[{"type":"function","name":"a"},{"type":"function","name":"b"}],"generation_config":{"tool_choice":{"allowed_tools":{"mode":"any","tools":["a","b"]}}}}"#,
            r#"{"tools":[{"type":"function","name":"b"}],"generation_config":{"tool_choice":{"allowed_tools":{"mode":"any","tools":["b"]}}}}"#,
        ),
        (
            Dialect::Cohere,
            "a",
            r#"{"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":"REQUIRED","strict_tools":true,"m":1}"#,
            r#"{"m":1}"#,
        ),
        (
            Dialect::Ollama,
            "a",
            r#"{"tools":[{"type":"function","function":{"name":"a"}}],"think":true}"#,
            r#"{"think":true}"#,
        ),
    ] {
        assert_eq!(without(dialect, request, &[gone]), want, "{request}");
    }
}

#[test]
fn a_tool_that_cannot_be_removed_has_a_reason() {
    for (dialect, gone, request, why) in [
        (
            Dialect::Anthropic,
            "a",
            r#"{"messages":[{"role":"user","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a"}}}]}]}"#,
            CannotRemove::Empty,
        ),
        (
            Dialect::Responses,
            "a",
            r#"{"input":[{"type":"additional_tools","tools":[{"type":"function","name":"a"}]}]}"#,
            CannotRemove::Empty,
        ),
        (
            Dialect::OpenAiChat,
            "a",
            r#"{"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"a"}}]}}}"#,
            CannotRemove::Choice,
        ),
        (
            Dialect::Gemini,
            "a",
            r#"{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a"]}}}"#,
            CannotRemove::Choice,
        ),
        (
            Dialect::Anthropic,
            "a",
            r#"{"tools":[{"name":"a"}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":{}}]}]}"#,
            CannotRemove::Calls,
        ),
        (
            Dialect::Converse,
            "a",
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"a"}}]},"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"t"}}]}]}"#,
            CannotRemove::Calls,
        ),
        (
            Dialect::Anthropic,
            "a",
            r#"{"tools":[{"name":"a","defer_loading":true},{"name":"b"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"a"}]}]}]}"#,
            CannotRemove::Referenced,
        ),
        (
            Dialect::Anthropic,
            "code_execution",
            r#"{"tools":[{"type":"code_execution_20250825","name":"code_execution"},{"name":"b","allowed_callers":["code_execution_20250825"]}]}"#,
            CannotRemove::Caller,
        ),
        (
            Dialect::Anthropic,
            "code_execution",
            r#"{"tools":[{"type":"code_execution_20250825","name":"code_execution"}],"container":{"id":"c"}}"#,
            CannotRemove::Container,
        ),
        (
            Dialect::Anthropic,
            "b",
            r#"{"tools":[{"name":"a","defer_loading":true},{"name":"b"}]}"#,
            CannotRemove::Deferred,
        ),
    ] {
        assert_eq!(try_without(dialect, request, &[gone]), Err(why), "{request}");
    }
}

/// What a toolset, or a list in its place, lets the model use.
#[test]
fn the_tools_of_a_server_that_are_on() {
    let toolset = |rest: &str| {
        format!(
            r#"{{"tools":[{{"type":"mcp_toolset","mcp_server_name":"s"{rest}}}],"mcp_servers":[{{"type":"url","name":"s"}}]}}"#
        )
    };
    let all = "mcp__s__*";
    for (rest, want, except) in [
        ("", vec![all], vec![]),
        (r#","configs":{"x":{"enabled":false},"y":{"defer_loading":true}}"#, vec![all], vec!["x"]),
        (
            r#","default_config":{"enabled":false},"configs":{"x":{"enabled":true},"y":{}}"#,
            vec!["mcp__s__x"],
            vec![],
        ),
        (r#","default_config":{"enabled":false}"#, vec![], vec![]),
        (
            r#","tools":[{"name":"x"},{"name":"y"}],"configs":{"x":{"enabled":false}}"#,
            vec!["mcp__s__y"],
            vec![],
        ),
    ] {
        let request = toolset(rest);
        let found = advertised(Dialect::Anthropic, &request, None).unwrap();
        let names: Vec<&str> = found.tools().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, want, "{request}");
        let left_out = found.tools().iter().flat_map(|tool| &tool.except);
        assert_eq!(left_out.collect::<Vec<_>>(), except, "{request}");
    }
    let odd = toolset(r#","default_config":{"enabled":"no"}"#);
    assert!(advertised(Dialect::Anthropic, &odd, None).is_err());
    for (allowed, want) in [
        (r#"["x"]"#, vec!["mcp__s__x"]),
        (r#"{"tool_names":["x","y"]}"#, vec!["mcp__s__x", "mcp__s__y"]),
        (r#"{"read_only":true}"#, vec![all]),
        (r#"[{"mode":"auto","tools":["x"]}]"#, vec!["mcp__s__x"]),
        (r#"["x",{"other":1}]"#, vec![all]),
        ("[]", vec![all]),
        ("null", vec![all]),
    ] {
        let request = format!(
            r#"{{"tools":[{{"type":"mcp","server_label":"s","allowed_tools":{allowed}}}]}}"#
        );
        let found = names(Dialect::Responses, &request);
        let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, want, "{request}");
    }
}

/// With work for each pair, this many would take far longer than this test waits.
#[test]
fn many_names_are_taken_out_in_one_pass() {
    let many = 100_000;
    let list = |text: &dyn Fn(usize) -> String| (0..many).map(text).collect::<Vec<_>>().join(",");
    let allowed = list(&|n| format!("\"t{n}\""));
    let tools = list(&|n| format!(r#"{{"type":"function","name":"f{n}"}}"#));
    let request = format!(
        r#"{{"tools":[{{"type":"mcp","server_label":"m","allowed_tools":[{allowed}]}},{tools}],"tool_choice":{{"type":"allowed_tools","tools":[{tools}]}}}}"#
    );
    let found = advertised(Dialect::Responses, &request, None).unwrap();
    let count = found.tools().len();
    assert_eq!(count, 2 * many);
    let places: Vec<usize> = (0..count - 1).collect();
    let left = found.without(&request, &places).unwrap();
    let last = format!(r#"[{{"type":"function","name":"f{}"}}]"#, many - 1);
    let want =
        format!(r#"{{"tools":{last},"tool_choice":{{"type":"allowed_tools","tools":{last}}}}}"#);
    assert_eq!(left, want);
}

#[test]
fn models_that_use_tools_by_themselves() {
    use common::BuiltIn;
    for (model, want) in [
        ("openai/gpt-4o:online", Some(BuiltIn::Search)),
        (" X/Y:FREE:Online ", Some(BuiltIn::Search)),
        ("gpt-4o-mini-search-preview-2025-03-11", Some(BuiltIn::Search)),
        ("gpt-5-search-api", Some(BuiltIn::Search)),
        ("perplexity/sonar", Some(BuiltIn::Search)),
        ("sonar-reasoning-pro", Some(BuiltIn::Search)),
        ("openai/o3-deep-research", Some(BuiltIn::Search)),
        ("groq/compound", Some(BuiltIn::Compound)),
        ("compound-beta-mini", Some(BuiltIn::Compound)),
        ("online", None),
        ("vendor:online/model", None),
        ("my-online-model:7b", None),
        ("model:online-7b", None),
        ("sonarqube", None),
        ("compounds", None),
        ("compound-7b", None),
        ("acme/compound", None),
        ("compound-mini", Some(BuiltIn::Compound)),
        ("x/groq/compound-next", Some(BuiltIn::Compound)),
        ("m:enable_web_search=auto", Some(BuiltIn::Search)),
        ("m:enable_web_search=off", None),
        ("gpt-4o", None),
        ("", None),
    ] {
        assert_eq!(BuiltIn::of(model), want, "{model}");
    }
}

#[test]
fn provider_tools_have_common_names() {
    for (name, want) in [
        ("web_search_20250305", Some("web_search")),
        ("openrouter:web_search", Some("web_search")),
        ("$web_search", Some("web_search")),
        ("googleSearchRetrieval", Some("web_search")),
        ("nova_grounding", Some("web_search")),
        ("url_context", Some("web_fetch")),
        ("codeExecution", Some("code_execution")),
        ("code_interpreter", Some("code_execution")),
        ("file_search", None),
        ("tool_search_tool_regex_20251119", None),
        ("research", None),
    ] {
        assert_eq!(common(name), want, "{name}");
    }
}
