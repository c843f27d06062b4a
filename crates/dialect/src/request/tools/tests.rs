use super::*;
use serde_json::Value;

fn names(dialect: Dialect, request: &str) -> Vec<(String, Host)> {
    let found = advertised(dialect, request).unwrap();
    found.tools().iter().map(|tool| (tool.name.clone(), tool.host)).collect()
}

/// Takes the tools of this name out.
fn without(dialect: Dialect, request: &str, gone: &[&str]) -> String {
    let found = advertised(dialect, request).unwrap();
    let places: Vec<usize> = (0..found.tools().len())
        .filter(|place| gone.contains(&found.tools()[*place].name.as_str()))
        .collect();
    assert!(!places.is_empty(), "{gone:?} is not advertised in {request}");
    let left = found.without(request, &places);
    let _: Value = serde_json::from_str(&left).unwrap_or_else(|error| panic!("{error}: {left}"));
    left
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
                ("web", PROVIDER),
                ("web_search", PROVIDER),
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

/// Programs differ in where they look for a name, and some take one thing for a list of it.
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
fn what_cannot_be_told_is_an_error() {
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
        assert!(advertised(Dialect::Anthropic, request).is_err(), "{request}");
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
fn a_choice_goes_with_what_it_names() {
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
